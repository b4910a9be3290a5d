/* Handlers of the operations that check. */
#include "exec/check/async_proxy.h"
#include "exec/check/check.h"
#include "exec/check/checker.h"
#include "exec/check/fence.h"
#include "exec/check/order.h"
#include "exec/check/race.h"
#include "exec/check/shared_words_inl.h"
#include "exec/check/sync.h"
#include "exec/engine/address_space.h"
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"
#include "exec/memory/address_register.h"

/* The lanes with generic addresses in shared memory, which become addresses in its window, and, in *outside, those
 * with addresses of memory that threads do not share. */
static ptxi_lanes find_shared_lanes(uint64_t *addresses, ptxi_lanes *outside)
{
    ptxi_lanes shared = 0;

    *outside = 0;
    for (unsigned l = 0; l < PTXI_LANES; l++) {
        uint64_t in_window = addresses[l] - PTXI_SHARED_WINDOW;

        if (in_window < PTXI_WINDOW_SIZE) {
            shared |= (ptxi_lanes)1 << l;
            addresses[l] = in_window;
        } else if (in_window < 2 * PTXI_WINDOW_SIZE) {
            *outside |= (ptxi_lanes)1 << l;
        }
    }
    return shared;
}

/* An access to shared memory that the states of its words explain. False: the race checker has to look at it. */
static bool is_harmless(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    unsigned strength = i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3;
    uint32_t meta = ptxi_race_meta(i);

    if (w->cta->check->has_async)
        return false;
    if (strength == PTXI_CHECK_WEAK)
        return i->mods & PTXI_CHECK_WRITE ? check_words(w, i, WORD_WRITE, meta) : check_words(w, i, WORD_READ, meta);
    /* without fences and locks, atomic operations order nothing */
    return strength == PTXI_CHECK_ATOMIC && !w->cta->check->any_lanes && !ptxi_race_may_lock(i) &&
           check_words(w, i, WORD_ATOMIC, meta);
}

/* Checks an access of neighbouring lanes to a row of global memory. False: it is no row. */
static bool check_global_row(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t size = i->mods & PTXI_CHECK_BYTES;
    uint64_t stride, address;

    if (!ptxi_find_row(w, i, i->mods & PTXI_CHECK_ROW, &address, &stride))
        return false;
    return (!stride || stride == size) && address < PTXI_SHARED_WINDOW &&
           ptxi_race_check_row(w, i, address, !stride, w->active);
}

/* Checks an access that is_harmless() and check_global_row() do not explain. */
static void check_each_lane(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    LANE_ARRAY(uint64_t, addresses);
    ptxi_lanes shared = 0, outside = 0;
    const void *a = PTXI_SLOT(w, i->a);

    if (i->mods & PTXI_CHECK_SHARED) {
        FOR_LANES addresses[l] = (uint32_t)(((const uint32_t *)a)[l] + (uint32_t)i->imm);
        shared = PTXI_ALL_LANES;
    } else {
        const uint64_t *from = i->mods & PTXI_CHECK_ROW ? ptxi_address_lanes(a, addresses) : a;

        FOR_LANES addresses[l] = from[l] + (uint64_t)(int64_t)i->imm;
    }
    if (i->mods & PTXI_CHECK_GENERIC)
        shared = find_shared_lanes(addresses, &outside);
    ptxi_race_check(w, i, addresses, shared, w->active & ~outside);
}

/* Whether other workers may perform strong writes to the same words at the same time. */
static bool has_rivals(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return !w->only_worker && i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3 && i->mods & PTXI_CHECK_WRITE &&
           !(i->mods & PTXI_CHECK_SHARED);
}

/* Checks and executes a strong write while no other worker does. So the records of a word have the order of its writes:
 * an atomic operation observes the writes before it. */
static const struct ptxi_insn *write_in_turn(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_checker *x = w->cta->check->check->checker;
    const struct ptxi_insn *next;

    pthread_mutex_lock(&x->strong_writes);
    check_each_lane(w, i);
    next = w->table[i[1].op](i + 1, w);
    pthread_mutex_unlock(&x->strong_writes);
    return next;
}

OP( check_access )
{
    if (__builtin_expect(!w->cta->check, 0))
        NEXT;
    if (__builtin_expect(w->cta->check->generic_writes && i->mods & PTXI_CHECK_WRITE, 0))
        ptxi_proxy_note_writes(w, i, ptxi_race_meta(i));
    if (i->mods & PTXI_CHECK_SHARED && is_harmless(w, i)) {
        w->cta->check->accesses++;
        NEXT;
    }
    if (has_rivals(w, i))
        return write_in_turn(w, i);
    if (!(i->mods & PTXI_CHECK_SHARED) && check_global_row(w, i))
        NEXT;
    check_each_lane(w, i);
    NEXT;
}

OP( check_acquire )
{
    const struct ptxi_check_cta *k = w->cta->check;

    if (k && (k->any_lanes || !k->words.states || !(i->mods & PTXI_CHECK_SHARED)))
        ptxi_race_acquire(w, i, w->active);
    NEXT;
}

OP( check_fence )
{
    if (w->cta->check && i->mods & PTXI_CHECK_FENCE_PROXY) /* it neither releases nor acquires */
        ptxi_proxy_fence(w, w->active);
    else if (w->cta->check)
        ptxi_order_fence(w, w->active, i->mods);
    NEXT;
}

OP( check_passed )
{
    if (w->cta->check)
        ptxi_sync_note_passed(w, i);
    NEXT;
}

OP( check_wgmma )
{
    static const char *const details[] = {
        [PTXI_WGMMA_NO_FENCE] = "no wgmma.fence comes after the last write to its registers",
        [PTXI_WGMMA_NOT_COMMITTED] = "it accesses registers of a wgmma that no wgmma.commit_group has committed",
        [PTXI_WGMMA_NOT_WAITED] = "it accesses registers of a wgmma before a wgmma.wait_group has waited for it",
    };

    ptxi_sync_report(w, w->frame->code, i, w->active, PTXI_FINDING_WGMMA, PTXI_FINDING_ERROR, details[i->imm]);
    NEXT;
}

/* The lanes of a warp of 32 that have the mask of lane l. */
static ptxi_lanes lanes_of_mask(const uint32_t *mask, unsigned l, ptxi_lanes lanes)
{
    ptxi_lanes same = 0;

    for (ptxi_lanes left = lanes & ptxi_warp32_lanes(l / 32); left; left &= left - 1)
        same |= (ptxi_lanes)(mask[ptxi_first_lane(left)] == mask[l]) << ptxi_first_lane(left);
    return same;
}

/* Whether all active lanes have one mask, which names them. True in nearly all programs. */
static bool has_same_mask(const struct ptxi_warp *w, const uint32_t *mask)
{
    uint32_t first = mask[ptxi_first_lane(w->active)], differences = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1)
        differences |= mask[ptxi_first_lane(left)] ^ first;
    return !differences && !(w->active & ~((ptxi_lanes)first * (ptxi_lanes)UINT64_C(0x100000001)));
}

/* If lanes are missing, the .sync operation itself calls ptxi_check_lanes_meet() when they have come. */
OP( check_lanes )
{
    const uint32_t *mask = PTXI_SLOT(w, i->a);

    if (!w->cta->check)
        NEXT;
    if (i->a == PTXI_NO_SLOT) {
        if (!ptxi_absent_lanes(w))
            ptxi_check_lanes_meet(w, w->active);
        NEXT;
    }
    if (!has_same_mask(w, mask))
        ptxi_sync_check_masks(w, i, mask);
    for (ptxi_lanes left = w->active; left;) {
        unsigned l = ptxi_first_lane(left);
        ptxi_lanes group = lanes_of_mask(mask, l, left), named = (ptxi_lanes)mask[l] << (l / 32 * 32);

        left &= ~group;
        if (named & w->live & ~w->active)
            continue;
        ptxi_check_lanes_meet(w, group & named);
        if (named & ~w->live)
            ptxi_sync_check_missing(w, w->frame, i, group, named & ~w->live);
    }
    NEXT;
}
