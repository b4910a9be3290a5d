/* Which accesses happen before others, and the events that change it. */
#ifndef PTXI_EXEC_CHECK_ORDER_H
#define PTXI_EXEC_CHECK_ORDER_H

#include "exec/check/state.h"

/* Whether accesses of the record happen before the thread's next one. `strong`: it is a strong one. */
bool ptxi_order_is_before(const struct ptxi_check_thread *t, const struct ptxi_record *r, uint32_t lanes, bool strong);
/* Whether an initialisation of an mbarrier does, by a fence.mbarrier_init of its thread. */
bool ptxi_order_has_init(const struct ptxi_check_thread *t, const struct ptxi_record *init);
/* Whether accesses of these scopes by both are morally strong, if they are strong. */
bool ptxi_order_scopes_match(const struct ptxi_check_thread *t, unsigned scope, const struct ptxi_record *r);
/* Whether a read has ended before the latest cluster barrier of the thread, even if arrivals were .relaxed: a barrier
 * of its CTA came in between. After that barrier the value has been transmitted from memory (PTX ISA, "barrier"), so a
 * later write cannot change it. Writes are another matter: they need not be visible outside of the CTA. */
bool ptxi_order_read_has_ended(const struct ptxi_check_thread *t, const struct ptxi_record *r);
/* Whether the record is of a CTA of the thread's cluster. */
bool ptxi_order_in_cluster(const struct ptxi_cta *c, uint32_t agent);

/* Adds what lanes know and have done. */
void ptxi_order_tell(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_knowledge *to);
/* Lanes get to know it. */
void ptxi_order_learn(struct ptxi_warp *w, ptxi_lanes lanes, const struct ptxi_knowledge *what);

/* All accesses of a cluster happen before its later ones. */
void ptxi_order_all(struct ptxi_cta *lead);

/* The number of what tells the end of bulk operations: an mbarrier of the CTA. ptxi_order_bulk_of_warp() is another. */
unsigned ptxi_order_bulk_of_mbarrier(uint32_t index);
/* The same of the wgmma groups of the warpgroup that has the warp. */
unsigned ptxi_order_bulk_of_warpgroup(unsigned warp);

/* The operands that tcgen05 instructions of a warp have read so far. */
struct ptxi_vclock_entry ptxi_order_operands_of_warp(struct ptxi_cta *c, unsigned warp);

/* Whether all lanes of a warp know that an asynchronous copy has ended. */
bool ptxi_order_async_has_ended(const struct ptxi_check_cta *k, unsigned warp, const struct ptxi_record *r);

/* Whether an agent belongs to another launch. */
static inline bool ptxi_order_is_other(const struct ptxi_check_cta *k, uint32_t agent)
{
    return agent - k->check->first_agent >= k->check->agent_count;
}

/* Notes accesses of lanes. */
static inline void ptxi_order_touch(struct ptxi_check_warp *w, uint32_t lanes)
{
    for (unsigned l = 0; l < PTXI_LEVELS; l++)
        w->touched[l] |= w->unfenced[l] & lanes;
}

/* Whether the clocks alone say that accesses of the record happen before those of all lanes of a warp. */
static inline bool ptxi_order_is_before_warp(const struct ptxi_cta *c, unsigned warp, const struct ptxi_record *r)
{
    struct ptxi_check_cta *k = c->check;

    if (ptxi_record_is_async(r) && !ptxi_order_is_other(k, r->agent))
        return ptxi_order_async_has_ended(k, warp, r);
    if (r->agent == k->agent)
        return r->clock < k->cta_clock || (ptxi_record_warp(r) == warp && r->clock < k->warps[warp].clock);
    if (r->clock < k->cluster_clock && ptxi_order_in_cluster(c, r->agent))
        return true;
    return ptxi_order_is_other(k, r->agent) && ptxi_concurrent_is_before(k->check, &k->other, r->agent);
}

#endif
