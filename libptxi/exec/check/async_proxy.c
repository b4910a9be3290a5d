#include "exec/check/async_proxy.h"

#include "exec/engine/address_space.h"
#include "exec/engine/grid.h"
#include "exec/finding/finding.h"
#include "exec/memory/address_register.h"

void ptxi_proxy_fence(struct ptxi_warp *w, ptxi_lanes lanes)
{
    struct ptxi_check_cta *k = w->cta->check;
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);

        k->warps[w->index * PTXI_WARP32S + l / 32].proxy_fences[l % 32] = clock;
    }
    k->proxy_fence = clock;
    k->proxy_fence_cta = k->cta_clock;
}

void ptxi_proxy_note_write(const struct ptxi_check_thread *t, struct ptxi_cta *owner, uint32_t offset, uint32_t size,
                           uint32_t meta)
{
    struct ptxi_check_cta *k = owner->check;
    struct ptxi_record r = { t->cta->check->agent, *ptxi_order_clock(t->cta), UINT32_C(1) << t->lane,
                             (meta & PTXI_PLACE_UNKNOWN) | t->warp << PTXI_META_WARP };

    if (!k->generic_writes || size > owner->shared_bytes || offset > owner->shared_bytes - size)
        return;
    for (uint32_t n = offset / PTXI_PROXY_BYTES; n <= (offset + size - 1) / PTXI_PROXY_BYTES; n++)
        k->generic_writes[n] = r;
}

void ptxi_proxy_note_writes(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t meta)
{
    const void *a = PTXI_SLOT(w, i->a);
    _Alignas(64) uint64_t row[PTXI_LANES];
    const uint64_t *generic = NULL;

    if (!(i->mods & PTXI_CHECK_SHARED))
        generic = i->mods & PTXI_CHECK_ROW ? ptxi_address_lanes(a, row) : a;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = generic ? generic[l] + (uint64_t)(int64_t)i->imm - PTXI_SHARED_WINDOW :
                                     ((const uint32_t *)a)[l] + (uint32_t)i->imm;
        struct ptxi_check_thread t = { w->cta, w->index * PTXI_WARP32S + l / 32, l % 32 };
        struct ptxi_cta *owner = address < PTXI_WINDOW_SIZE ? ptxi_cta_of_shared(w->cta, &address) : NULL;

        if (owner)
            ptxi_proxy_note_write(&t, owner, (uint32_t)address, i->mods & PTXI_CHECK_BYTES, meta);
    }
}

/* Whether a thread of the CTA has fenced after the write, and what it has done until then happens before the next
 * operation of the thread. */
static bool knows_fence(const struct ptxi_check_thread *t, const struct ptxi_record *r)
{
    const struct ptxi_check_cta *k = t->cta->check;

    if (k->warps[t->warp].proxy_fences[t->lane] > r->clock)
        return true;
    for (uint32_t n = 0; n < t->cta->warp_count * PTXI_WARP32S; n++)
        for (unsigned l = 0; l < 32; l++) {
            struct ptxi_record f = { k->agent, k->warps[n].proxy_fences[l], UINT32_C(1) << l, n << PTXI_META_WARP };

            if (f.clock > r->clock && ptxi_order_is_before(t, &f, f.lanes, false))
                return true;
        }
    return false;
}

/* Whether there may be a fence between a write and the next operation of the thread. Of writes that barriers of the
 * CTA order before it, it is known: one of the writer, or one of any thread after a barrier. */
static bool is_fenced(const struct ptxi_check_thread *t, const struct ptxi_record *r)
{
    const struct ptxi_check_cta *k = t->cta->check;
    const struct ptxi_check_warp *w = &k->warps[ptxi_record_warp(r)];

    if (r->agent != k->agent)
        return k->proxy_fence > r->clock;
    if (r->clock >= k->cta_clock)
        return k->proxy_fence > r->clock && knows_fence(t, r);
    if (r->clock < k->proxy_fence_cta)
        return true;
    for (unsigned l = 0; l < 32; l++) /* lanes that have met the writer, too */
        if (w->proxy_fences[l] > r->clock && (r->lanes >> l & 1 || w->clock > r->clock))
            return true;
    return false;
}

static void report(const struct ptxi_check_thread *t, const struct ptxi_record *r, enum ptxi_access access,
                   uint32_t place, uint32_t offset)
{
    const struct ptxi_check *check = t->cta->check->check;
    struct ptxi_record now = { .agent = t->cta->check->agent, .meta = place };
    struct ptxi_finding f = { .kind = PTXI_FINDING_PROXY, .severity = PTXI_FINDING_ERROR, .site_count = 2,
                              .space = PTXI_FINDING_SHARED, .address = offset, .size = PTXI_PROXY_BYTES,
                              .detail = "the earlier write is by the generic proxy, the later access by the async "
                                        "proxy" };

    f.sites[0] = ptxi_check_site(check, &now, t->warp * 32 + t->lane, access);
    f.sites[1] = ptxi_check_site(check, r, ptxi_record_thread(r), PTXI_AK_STORE);
    ptxi_findings_add(check->grid->findings, &f, check->grid->code->name, check->launch);
}

void ptxi_proxy_check(const struct ptxi_check_thread *t, struct ptxi_cta *owner, uint32_t offset, uint32_t size,
                      enum ptxi_access access, uint32_t place, bool after_copies)
{
    struct ptxi_record *r = owner->check->generic_writes;
    uint32_t agent = t->cta->check->check->first_agent, count = t->cta->check->check->agent_count;

    for (uint32_t n = offset / PTXI_PROXY_BYTES; r && n <= (offset + size - 1) / PTXI_PROXY_BYTES; n++) {
        if (r[n].agent - agent < count && ptxi_order_in_cluster(t->cta, r[n].agent) && !is_fenced(t, &r[n]) &&
            (after_copies || !ptxi_record_is_async(&r[n])))
            report(t, &r[n], access, place, n * PTXI_PROXY_BYTES);
        r[n].agent = 0;
    }
}
