#include "exec/tcgen05/tmem_check.h"

#include <stdlib.h>

#include "exec/check/order.h"
#include "exec/check/race.h"

/* Whether the access of the record happens before one of the thread. Operations of a warp happen in their order, but
 * for loads and stores after an asynchronous one. Two asynchronous operations happen in the order in which they are
 * issued. */
static bool is_ordered(const struct ptxi_check_thread *t, const struct ptxi_record *r, bool async)
{
    unsigned thread = ptxi_record_thread(r);
    struct ptxi_record issue = { r->agent, r->clock, UINT32_C(1) << thread % 32, thread / 32 << PTXI_META_WARP };
    bool same_warp = r->agent == t->cta->check->agent && thread / 32 == t->warp;

    if (!r->agent || !ptxi_order_in_cluster(t->cta, r->agent))
        return true;
    if (same_warp && (async || !ptxi_record_is_bulk(r)))
        return true;
    if (ptxi_order_is_before(t, r, ptxi_record_is_bulk(r) ? 1 : r->lanes, false))
        return true;
    return async && ptxi_record_is_bulk(r) && ptxi_order_is_before(t, &issue, issue.lanes, false);
}

static void report(const struct ptxi_tmem_touch *x, const struct ptxi_check_thread *t, const struct ptxi_record *now,
                   const struct ptxi_record *r, bool r_writes, uint32_t address)
{
    const struct ptxi_check *check = t->cta->check->check;
    struct ptxi_finding f = { .kind = !r_writes  ? PTXI_FINDING_RACE_WAR
                                      : x->write ? PTXI_FINDING_RACE_WAW
                                                 : PTXI_FINDING_RACE_RAW,
                              .severity = PTXI_FINDING_ERROR,
                              .site_count = 2,
                              .space = PTXI_FINDING_TENSOR,
                              .address = address,
                              .size = 4 };

    if (ptxi_record_is_bulk(r))
        f.detail = r_writes ? "the earlier write is asynchronous, and nothing has waited for it"
                            : "the earlier read is asynchronous, and nothing has waited for it";
    f.sites[0] = ptxi_check_site(check, now, t->warp * 32 + t->lane, x->write ? PTXI_AK_STORE : PTXI_AK_LOAD);
    f.sites[1] = ptxi_check_site(check, r, ptxi_record_thread(r), r_writes ? PTXI_AK_STORE : PTXI_AK_LOAD);
    ptxi_findings_add(check->grid->findings, &f, check->grid->code->name, check->launch);
}

/* The earlier access of a cell that races with the access, or NULL. */
static const struct ptxi_record *find_race(const struct ptxi_check_thread *t, const struct ptxi_tmem_touch *x,
                                           const struct ptxi_tmem_record *c)
{
    if (!is_ordered(t, &c->write, x->async))
        return &c->write;
    if (x->write && !is_ordered(t, &c->read, x->async))
        return &c->read;
    return x->write && !is_ordered(t, &c->async_read, x->async) ? &c->async_read : NULL;
}

static void record(const struct ptxi_tmem_touch *x, struct ptxi_tmem_record *c, const struct ptxi_record *now)
{
    if (x->write)
        *c = (struct ptxi_tmem_record){ .write = *now };
    else if (x->async)
        c->async_read = *now;
    else
        c->read = *now;
}

void ptxi_tmem_touch(const struct ptxi_tmem_touch *x)
{
    struct ptxi_check_cta *k = x->w->cta->check;
    struct ptxi_check_thread t = { x->w->cta, x->w->index * PTXI_WARP32S + x->lane / 32, x->lane % 32 };
    struct ptxi_record now = { k->agent, *ptxi_order_clock(t.cta), ptxi_order_live_lanes(t.cta, t.warp),
                               ptxi_race_place(x->w, x->i) | t.warp << PTXI_META_WARP };
    bool reported = false;

    if (!(x->w->cta->grid->tools >> PTXI_TOOL_RACE & 1))
        return;
    if (!x->t->records)
        x->t->records = calloc((size_t)PTXI_TMEM_COLUMNS * PTXI_TMEM_QUARTERS, sizeof *x->t->records);
    if (!x->t->records) {
        k->unchecked++;
        return;
    }
    if (x->async) {
        now.lanes = t.warp * 32 + t.lane;
        now.meta =
            ptxi_race_place(x->w, x->i) | PTXI_META_BULK | ptxi_order_bulk_of_warp(t.warp, false) << PTXI_META_WARP;
    }
    for (uint32_t n = 0; n < x->count * PTXI_TMEM_QUARTERS; n++) {
        uint32_t column = x->first + n / PTXI_TMEM_QUARTERS, quarter = n % PTXI_TMEM_QUARTERS;
        struct ptxi_tmem_record *c = &x->t->records[column * PTXI_TMEM_QUARTERS + quarter];
        const struct ptxi_record *r;

        if (!(x->quarters >> quarter & 1))
            continue;
        if (!reported && (r = find_race(&t, x, c))) {
            report(x, &t, &now, r, r == &c->write, quarter * 32 << 16 | column);
            reported = true;
        }
        record(x, c, &now);
    }
    k->accesses++;
}
