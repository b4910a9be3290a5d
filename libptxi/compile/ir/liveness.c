/* Where virtual registers are live, for one thread: lanes are independent, since each owns its element of every slot.
 *
 * Each register is followed backward from its uses. The cost is proportional to the size of the result. Most registers
 * are live in only one block and need no search. */
#include "compile/ir/ir.h"

#include <assert.h>
#include <stdlib.h>

/* An access to a register is encoded as 4 * (index in the layout) + kind. Accesses are in ascending order; at one
 * instruction reads come first. */
enum { READ, WRITE_EARLY, WRITE };

struct live {
    struct ptxi_ir *ir;
    struct ptxi_liveness *out;
    uint32_t *block_first; /* per position in the order: the block's first instruction in the layout */
    uint32_t *position_of; /* instruction in the layout -> position of its block in the order */
    uint32_t *accesses, *access_first; /* per register */
    /* for the current register, per position: equal to `stamp` if the property holds */
    uint32_t *live_in, *live_out, *defined, *passes, *listed;
    uint32_t *stack;
    uint32_t *through; /* positions of the blocks where it is live or accessed */
    uint32_t stamp, through_count;
    uint32_t range_cap, range_count;
    uint64_t work;
};

/* After this number of steps every further register counts as live everywhere. Only a hostile text reaches the
 * limit. */
enum { WORK_LIMIT = 100000000 };

static bool is_tracked(const struct ptxi_vreg *v)
{
    return v->kind == PTXI_VR_PLAIN || v->kind == PTXI_VR_WORD;
}

typedef void access_visitor(struct live *l, uint32_t vreg, uint32_t at);

/* k: index in the layout. */
static void visit_inst(struct live *l, const struct ptxi_ir_inst *i, uint32_t k, access_visitor *visit)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(l->ir, i), w = ptxi_ir_writes(l->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        if (is_tracked(&l->ir->vregs[v]))
            visit(l, v, k * 4 + READ);
    while (ptxi_ir_next(&w, &v))
        if (is_tracked(&l->ir->vregs[v]))
            visit(l, v, k * 4 + (i->flags & PTXI_IF_EARLY ? WRITE_EARLY : WRITE));
}

/* Calls visit() for every access in the order of the layout, which begins with the setup code. */
static void visit_accesses(struct live *l, access_visitor *visit)
{
    const struct ptxi_ir *ir = l->ir;
    uint32_t k = ir->setup_count;

    for (uint32_t n = 0; n < ir->setup_count; n++)
        visit_inst(l, &ir->insts[ir->setup[n]], n, visit);
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++, k++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                visit_inst(l, &ir->insts[n], k, visit);
    }
}

static void count_access(struct live *l, uint32_t vreg, uint32_t at)
{
    (void)at;
    l->access_first[vreg + 2]++;
}

static void store_access(struct live *l, uint32_t vreg, uint32_t at)
{
    l->accesses[l->access_first[vreg + 1]++] = at;
}

/* Sorts the accesses by register. */
static bool collect_accesses(struct live *l)
{
    struct ptxi_ir *ir = l->ir;
    uint32_t k = ir->setup_count;

    l->block_first = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    l->position_of = ARENA_NEW(ir->arena, uint32_t, ir->setup_count + ir->count);
    l->access_first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count + 2);
    if (!l->block_first || !l->position_of || !l->access_first)
        return false;
    for (uint32_t n = 0; n < ir->setup_count; n++)
        l->position_of[n] = ir->order_count; /* a block without successors */
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        l->block_first[p] = k;
        for (uint32_t n = block->first; n < block->end; n++)
            l->position_of[k++] = p;
    }
    l->block_first[ir->order_count] = k;
    visit_accesses(l, count_access);
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        l->access_first[v + 2] += l->access_first[v + 1];
    l->accesses = ARENA_NEW(ir->arena, uint32_t, l->access_first[ir->vreg_count + 1]);
    if (!l->accesses)
        return false;
    visit_accesses(l, store_access);
    return true;
}

/* The position (struct ptxi_live_range) of an access. */
static uint32_t access_position(uint32_t at)
{
    return at / 4 * 2 + (at % 4 == WRITE);
}

/* Adds a range of the current register, in ascending order. Adjacent ranges are joined. */
static bool add_range(struct live *l, uint32_t first, uint32_t start, uint32_t end)
{
    struct ptxi_live_range *r;

    assert(start < end && (l->range_count == first || l->out->ranges[l->range_count - 1].start <= start));
    if (l->range_count > first && l->out->ranges[l->range_count - 1].end >= start) {
        l->out->ranges[l->range_count - 1].end = end;
        return true;
    }
    r = ptxi_ir_grow(l->ir, l->out->ranges, &l->range_cap, l->range_count + 1, sizeof *r);
    if (!r)
        return false;
    l->out->ranges = r;
    r[l->range_count++] = (struct ptxi_live_range){ start, end };
    return true;
}

/* Marks the blocks where the register is live, backward from one block that reads it before it writes it. */
static void mark_live_from(struct live *l, uint32_t position)
{
    const struct ptxi_ir *ir = l->ir;
    uint32_t depth = 0;

    if (l->live_in[position] == l->stamp)
        return;
    l->live_in[position] = l->stamp;
    l->stack[depth++] = position;
    while (depth) {
        const struct ptxi_block *block = &ir->blocks[ir->order[l->stack[--depth]]];

        for (uint32_t e = 0; e < block->pred_count; e++) {
            uint32_t from = ir->blocks[ir->pred_edges[block->pred + e]].order;

            l->work++;
            if (from == PTXI_NONE || l->live_out[from] == l->stamp)
                continue;
            l->live_out[from] = l->stamp;
            if (l->defined[from] == l->stamp || l->live_in[from] == l->stamp)
                continue;
            l->live_in[from] = l->stamp;
            l->stack[depth++] = from;
            if (l->passes[from] != l->stamp)
                l->through[l->through_count++] = from;
            l->passes[from] = l->stamp;
        }
    }
}

/* Marks all blocks where the current register is live. */
static void find_live_blocks(struct live *l, const uint32_t *a, uint32_t count)
{
    l->stamp++;
    l->through_count = 0;
    for (uint32_t k = 0; k < count; k++)
        if (a[k] % 4 != READ)
            l->defined[l->position_of[a[k] / 4]] = l->stamp;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t position = l->position_of[a[k] / 4];

        if (a[k] % 4 == READ && (!k || l->position_of[a[k - 1] / 4] != position))
            mark_live_from(l, position);
    }
}

/* Adds the ranges inside one block, which has accesses a[0 .. count). first: the register's first range. */
static bool add_block_ranges(struct live *l, uint32_t first, uint32_t position, const uint32_t *a, uint32_t count)
{
    uint32_t start = PTXI_NONE, last = 0;
    bool out = l->live_out[position] == l->stamp;

    if (l->live_in[position] == l->stamp)
        start = last = l->block_first[position] * 2;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t p = access_position(a[k]);

        /* a write ends the old value, unless the instruction also reads it (then the read comes before) */
        if (a[k] % 4 != READ && start != PTXI_NONE && last < p) {
            bool merges = k && a[k - 1] / 4 == a[k] / 4;

            if (!merges && !add_range(l, first, start, last + 1))
                return false;
            if (!merges)
                start = p;
        }
        if (start == PTXI_NONE)
            start = p;
        last = p;
    }
    if (start == PTXI_NONE)
        return true;
    return add_range(l, first, start, out ? l->block_first[position + 1] * 2 : last + 1);
}

static int compare_ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Sorts l->through. If the positions are dense, it reads them from the stamps between the lowest and the highest. */
static void sort_positions(struct live *l, uint32_t count)
{
    uint32_t low = PTXI_NONE, high = 0, n = 0;

    for (uint32_t k = 0; k < count; k++) {
        low = l->through[k] < low ? l->through[k] : low;
        high = l->through[k] > high ? l->through[k] : high;
    }
    if (high - low > 16 * count) {
        qsort(l->through, count, sizeof *l->through, compare_ascending);
        return;
    }
    for (uint32_t k = 0; k < count; k++)
        l->listed[l->through[k]] = l->stamp;
    for (uint32_t p = low; count && p <= high; p++)
        if (l->listed[p] == l->stamp)
            l->through[n++] = p;
}

/* Adds the positions of the accesses to l->through, each once, and sorts them. Returns their number. */
static uint32_t collect_positions(struct live *l, const uint32_t *a, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t position = l->position_of[a[k] / 4];

        if (l->passes[position] != l->stamp)
            l->through[l->through_count++] = position;
        l->passes[position] = l->stamp;
    }
    sort_positions(l, l->through_count);
    return l->through_count;
}

static bool add_register_ranges(struct live *l, uint32_t v)
{
    const uint32_t *a = l->accesses + l->access_first[v], *end = l->accesses + l->access_first[v + 1];
    uint32_t positions;

    l->out->first[v] = l->range_count;
    if (a == end)
        return true;
    if (l->work > WORK_LIMIT) {
        l->out->at_entry[v] = true;
        return add_range(l, l->range_count, 0, l->out->positions);
    }
    find_live_blocks(l, a, (uint32_t)(end - a));
    l->out->at_entry[v] = l->live_in[0] == l->stamp;
    l->work += (uint64_t)(end - a) + l->through_count;
    positions = collect_positions(l, a, (uint32_t)(end - a));
    for (uint32_t k = 0; k < positions; k++) {
        uint32_t n = 0;

        /* accesses ascend by position, like the layout; only the setup code comes first, although its position is the
         * last */
        while (a + n < end && l->position_of[a[n] / 4] == l->through[k])
            n++;
        if (!add_block_ranges(l, l->out->first[v], l->through[k], a, n))
            return false;
        a += n;
    }
    return true;
}

bool ptxi_liveness(struct ptxi_ir *ir, struct ptxi_liveness *out)
{
    struct live l = { .ir = ir, .out = out };
    uint32_t positions = ir->order_count + 1; /* the setup code is the last */

    *out = (struct ptxi_liveness){ .first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count),
                                   .count = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count),
                                   .at_entry = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count) };
    l.live_in = ARENA_NEW(ir->arena, uint32_t, positions);
    l.live_out = ARENA_NEW(ir->arena, uint32_t, positions);
    l.defined = ARENA_NEW(ir->arena, uint32_t, positions);
    l.stack = ARENA_NEW(ir->arena, uint32_t, positions);
    l.through = ARENA_NEW(ir->arena, uint32_t, positions);
    l.passes = ARENA_NEW(ir->arena, uint32_t, positions);
    l.listed = ARENA_NEW(ir->arena, uint32_t, positions);
    if (!out->first || !out->count || !out->at_entry || !l.live_in || !l.live_out || !l.defined || !l.stack ||
        !l.through ||
        !l.passes || !l.listed || !collect_accesses(&l))
        return !(ir->oom = true);
    out->block_first = l.block_first;
    out->positions = l.block_first[ir->order_count] * 2;
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        if (!add_register_ranges(&l, v))
            return !(ir->oom = true);
        out->count[v] = l.range_count - out->first[v];
    }
    return true;
}
