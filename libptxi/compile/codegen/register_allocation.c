/* Register allocation: gives every virtual register its slot in the frame.
 *
 *     parameter and return words of this function | 32 | 64 | 16 | pred | 128 bit pools | setup values | constants
 *
 * This is a linear scan: registers are allocated in the order in which their values begin to live. Each takes the first
 * slot that is free in its live ranges; gaps between the ranges of other registers count as free. Parameter areas of
 * calls are runs of slots in the 32-bit pool. */
#include "compile/codegen/codegen.h"

#include <assert.h>
#include <stdlib.h>

/* One slot of a pool, and the ranges in which it is taken, in ascending order. */
struct slot {
    struct ptxi_live_range *ranges;
    uint32_t count, cap;
};

enum { GROUP = 256 }; /* slots */

struct pool {
    struct slot *slots;
    uint32_t *last_end;  /* per slot: the end of its last range */
    uint32_t *first_end; /* per group of slots: the least last_end */
    uint32_t count, cap, ends_cap, groups_cap;
};

/* A register, or the run of registers of an area. */
struct item {
    uint32_t start;        /* of its first live range */
    uint32_t first, count; /* registers */
    uint8_t class;
};

struct allocator {
    struct ptxi_ir *ir;
    struct ptxi_liveness live;
    struct pool pools[PTXI_RC_COUNT];
    struct item *items;
    uint32_t item_count;
    uint8_t *used;  /* per register: an instruction names it */
    /* per register: a register that is moved to or from it and should have the same slot, or PTXI_NONE */
    uint32_t *hint;
};

static int compare_starts(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void note_used(struct allocator *al, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(al->ir, i), w = ptxi_ir_writes(al->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        al->used[v] = 1;
    while (ptxi_ir_next(&w, &v))
        al->used[v] = 1;
    if (i->op == PTXI_OP_mov_16 || i->op == PTXI_OP_mov_32 || i->op == PTXI_OP_mov_64 || i->op == PTXI_OP_mov_pred) {
        al->hint[i->v[PTXI_F_D]] = i->v[PTXI_F_A];
        al->hint[i->v[PTXI_F_A]] = i->v[PTXI_F_D];
    }
}

static void find_used(struct allocator *al)
{
    const struct ptxi_ir *ir = al->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                note_used(al, &ir->insts[n]);
    }
    for (uint32_t k = 0; k < ir->setup_count; k++)
        note_used(al, &ir->insts[ir->setup[k]]);
}

static uint32_t start_of(const struct allocator *al, uint32_t first, uint32_t count)
{
    uint32_t start = PTXI_NONE;

    for (uint32_t v = first; v < first + count; v++)
        if (al->live.count[v] && al->live.ranges[al->live.first[v]].start < start)
            start = al->live.ranges[al->live.first[v]].start;
    return start;
}

static bool collect_items(struct allocator *al)
{
    struct ptxi_ir *ir = al->ir;

    al->items = ARENA_NEW(ir->arena, struct item, ir->vreg_count + ir->area_count);
    if (!al->items)
        return false;
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        if (ir->vregs[v].kind == PTXI_VR_PLAIN && al->live.count[v])
            al->items[al->item_count++] = (struct item){ start_of(al, v, 1), v, 1, ir->vregs[v].class };
    for (uint32_t a = 0; a < ir->area_count; a++) {
        const struct ptxi_area *area = &ir->areas[a];
        uint32_t start = start_of(al, area->first, area->count);

        if (area->fixed == PTXI_NONE && start != PTXI_NONE)
            al->items[al->item_count++] = (struct item){ start, area->first, area->count, PTXI_RC_32 };
    }
    qsort(al->items, al->item_count, sizeof *al->items, compare_starts);
    return true;
}

/* The first range of the slot that ends after `at`. */
static uint32_t find_range(const struct slot *s, uint32_t at)
{
    uint32_t lo = 0, hi = s->count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (s->ranges[mid].end > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Number of slots that are searched for a gap. After that, only a slot without later ranges is taken. */
enum { MAX_GAP_SEARCHES = 200 };

/* Whether the slot is free in all live ranges of the register. */
static bool is_free(const struct allocator *al, const struct pool *pool, uint32_t slot, uint32_t vreg, uint32_t *tries)
{
    const struct ptxi_live_range *r = al->live.ranges + al->live.first[vreg];
    uint32_t count = al->live.count[vreg], k, s;
    const struct slot *taken;

    if (!count || slot >= pool->count || pool->last_end[slot] <= r[0].start)
        return true;
    if (++*tries > MAX_GAP_SEARCHES)
        return false;
    taken = &pool->slots[slot];
    s = find_range(taken, r[0].start);
    for (k = 0; k < count && s < taken->count;) {
        if (r[k].end <= taken->ranges[s].start)
            k++;
        else if (taken->ranges[s].end <= r[k].start)
            s++;
        else
            return false;
    }
    return true;
}

/* The first slot from `at` on that has no range after `start`. */
static uint32_t find_unused(const struct pool *pool, uint32_t at, uint32_t start)
{
    while (at < pool->count && pool->last_end[at] > start)
        at += at % GROUP || pool->first_end[at / GROUP] <= start ? 1 : GROUP;
    return at < pool->count ? at : pool->count;
}

static void note_end(struct pool *pool, uint32_t slot, uint32_t end)
{
    uint32_t group = slot / GROUP, first = group * GROUP, old = pool->last_end[slot];

    pool->last_end[slot] = end;
    if (old != pool->first_end[group])
        return;
    pool->first_end[group] = end;
    for (uint32_t k = first; k < first + GROUP && k < pool->count; k++)
        if (pool->last_end[k] < pool->first_end[group])
            pool->first_end[group] = pool->last_end[k];
}

#ifndef NDEBUG
static bool has_no_overlaps(const struct slot *s)
{
    for (uint32_t k = 1; k < s->count; k++)
        if (s->ranges[k - 1].end > s->ranges[k].start)
            return false;
    return true;
}
#endif

/* Adds the live ranges of the register to those of the slot. */
static bool take_slot(struct allocator *al, struct pool *pool, uint32_t slot, uint32_t vreg)
{
    const struct ptxi_live_range *r = al->live.ranges + al->live.first[vreg];
    uint32_t count = al->live.count[vreg];
    struct slot *s = &pool->slots[slot];
    struct ptxi_live_range *p;
    uint32_t at, n;

    if (!count)
        return true;
    p = ptxi_ir_grow(al->ir, s->ranges, &s->cap, s->count + count, sizeof *p);
    if (!p)
        return false;
    s->ranges = p;
    /* merge from the back */
    at = s->count + count;
    n = s->count;
    for (uint32_t k = count; k--;) {
        while (n && p[n - 1].start > r[k].start)
            p[--at] = p[--n];
        p[--at] = r[k];
    }
    s->count += count;
    assert(has_no_overlaps(s));
    note_end(pool, slot, s->ranges[s->count - 1].end);
    return true;
}

static bool extend_pool(struct allocator *al, struct pool *pool, uint32_t count)
{
    void *slots, *ends, *groups;

    if (count <= pool->count)
        return true;
    slots = ptxi_ir_grow(al->ir, pool->slots, &pool->cap, count, sizeof *pool->slots);
    ends = ptxi_ir_grow(al->ir, pool->last_end, &pool->ends_cap, count, sizeof *pool->last_end);
    groups = ptxi_ir_grow(al->ir, pool->first_end, &pool->groups_cap, (count - 1) / GROUP + 1, sizeof *pool->first_end);
    if (!slots || !ends || !groups)
        return false;
    pool->slots = slots;
    pool->last_end = ends;
    pool->first_end = groups;
    for (uint32_t g = pool->count / GROUP; g <= (count - 1) / GROUP; g++)
        pool->first_end[g] = 0; /* as a new slot's */
    pool->count = count;
    return true;
}

/* The slot that makes a move of this register unnecessary, if it is free; else PTXI_NONE. */
static uint32_t hinted_slot(const struct allocator *al, const struct item *item)
{
    uint32_t hint = al->hint[item->first], tries = 0;
    const struct ptxi_vreg *h = hint == PTXI_NONE ? NULL : &al->ir->vregs[hint];

    if (!h || item->count != 1 || h->slot == PTXI_NONE || h->kind != PTXI_VR_PLAIN ||
        !is_free(al, &al->pools[item->class], h->slot, item->first, &tries))
        return PTXI_NONE;
    return h->slot;
}

/* False if there is no memory, or if there are more slots than operands can name. A search in more slots would
 * be slow. */
static bool allocate_item(struct allocator *al, const struct item *item)
{
    struct pool *pool = &al->pools[item->class];
    uint32_t at = hinted_slot(al, item), k = at == PTXI_NONE ? 0 : item->count, tries = 0;

    if (at == PTXI_NONE)
        at = 0;
    while (k < item->count) {
        for (k = 0; k < item->count && is_free(al, pool, at + k, item->first + k, &tries); k++)
            ;
        if (k < item->count)
            at += k + 1;
        if (tries > MAX_GAP_SEARCHES)
            at = find_unused(pool, at, start_of(al, item->first, 1));
    }
    if ((at + item->count) * ptxi_class_units[item->class] > PTXI_NO_SLOT || !extend_pool(al, pool, at + item->count))
        return false;
    for (k = 0; k < item->count; k++) {
        if (!take_slot(al, pool, at + k, item->first + k))
            return false;
        al->ir->vregs[item->first + k].slot = at + k; /* in units once lay_out() knows where the pool begins */
    }
    return true;
}

/* The function's parameter and return words are at the front of the frame, where a caller puts them. */
static void allocate_fixed(struct ptxi_ir *ir)
{
    for (uint32_t a = 0; a < ir->area_count; a++)
        for (uint32_t k = 0; ir->areas[a].fixed != PTXI_NONE && k < ir->areas[a].count; k++)
            ir->vregs[ir->areas[a].first + k].slot = ir->areas[a].fixed + k * ptxi_class_units[PTXI_RC_32];
}

static bool is_fixed(const struct ptxi_ir *ir, const struct ptxi_vreg *v)
{
    return v->kind == PTXI_VR_WORD && ir->areas[v->value].fixed != PTXI_NONE;
}

/* Converts slots of pools to units of the frame. Values that live throughout follow the pools. Returns the size of the
 * frame. */
static uint64_t lay_out(struct allocator *al)
{
    static const uint8_t order[] = { PTXI_RC_32, PTXI_RC_64, PTXI_RC_INDEX, PTXI_RC_ADDRESS, PTXI_RC_16, PTXI_RC_PRED,
                                     PTXI_RC_128 };
    struct ptxi_ir *ir = al->ir;
    uint64_t at = (uint64_t)(ir->arg_words + ir->ret_words) * ptxi_class_units[PTXI_RC_32], base[PTXI_RC_COUNT];

    for (unsigned k = 0; k < PTXI_RC_COUNT; k++) {
        base[order[k]] = at;
        at += (uint64_t)al->pools[order[k]].count * ptxi_class_units[order[k]];
    }
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        struct ptxi_vreg *r = &ir->vregs[v];

        if (r->kind == PTXI_VR_CONST || r->kind == PTXI_VR_SETUP) {
            r->slot = al->used[v] ? (uint32_t)at : PTXI_NONE;
            at += al->used[v] ? ptxi_class_units[r->class] : 0;
        } else if (r->slot != PTXI_NONE && !is_fixed(ir, r)) {
            r->slot = (uint32_t)(base[r->class] + (uint64_t)r->slot * ptxi_class_units[r->class]);
        }
    }
    return at;
}

static bool init_allocator(struct allocator *al)
{
    struct ptxi_ir *ir = al->ir;

    al->used = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    al->hint = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (!al->used || !al->hint)
        return false;
    memset(al->hint, 0xff, ir->vreg_count * sizeof *al->hint);
    if (!ptxi_liveness(ir, &al->live) || !ptxi_keep_guarded(ir, &al->live))
        return false;
    find_used(al);
    return collect_items(al);
}

bool ptxi_allocate_registers(struct ptxi_ir *ir)
{
    struct allocator al = { .ir = ir };
    uint64_t units;

    if (!init_allocator(&al))
        return !(ir->oom = true);
    for (uint32_t k = 0; k < al.item_count; k++)
        if (!allocate_item(&al, &al.items[k]))
            return false;
    allocate_fixed(ir);
    units = lay_out(&al);
    ir->frame_units = (uint32_t)units;
    return units <= PTXI_NO_SLOT && ptxi_list_unwritten(ir, &al.live) && ptxi_find_live_heads(ir, &al.live);
}
