/* Divides the list of instructions into blocks, and orders the blocks.
 *
 * The engine runs the lanes with the lowest pc first, and lanes that wait at a pc reconverge with those that arrive
 * there. So a block should come after all blocks that lead to it (loops excepted). The blocks of a loop should be
 * adjacent, and the code after the loop should follow them. The order is computed level by level: the strongly
 * connected components of the graph are its outermost loops, and a loop without the edges to its head is a graph with
 * fewer loops. On each level, blocks and loops are in topological order. Where several orders are possible, the order
 * of the text decides. */
#include "compile/ir/ir.h"

#include <assert.h>

/* --- blocks --- */

static bool ends_block(const struct ptxi_ir_inst *i)
{
    return ptxi_ir_is_branch(i) || ptxi_ir_ends(i);
}

static void mark_leaders(const struct ptxi_ir *ir, uint8_t *leader)
{
    leader[0] = 1;
    for (uint32_t k = 0; k < ir->count; k++) {
        const struct ptxi_ir_inst *i = &ir->insts[k];

        if (ends_block(i))
            leader[k + 1] = 1;
        if (ptxi_ir_is_branch(i))
            leader[ir->labels[i->aux]] = 1;
        for (uint32_t t = 0; i->op == PTXI_OP_brx && t < ir->tables[i->aux].count; t++)
            leader[ir->labels[ir->tables[i->aux].labels[t]]] = 1;
    }
}

static uint32_t edge_limit(const struct ptxi_ir *ir)
{
    uint32_t n = 2 * ir->block_count;

    for (uint32_t t = 0; t < ir->table_count; t++)
        n += ir->tables[t].count;
    return n;
}

/* Finds the successors of each block. A target that occurs twice in a table is one edge. */
/* block_at: instruction -> block; seen: per block, 1 + the last block that ends with a table that leads there. */
static void find_edges(struct ptxi_ir *ir, const uint32_t *block_at, uint32_t *seen)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < ir->block_count; b++) {
        struct ptxi_block *block = &ir->blocks[b];
        const struct ptxi_ir_inst *i = &ir->insts[block->end - 1];

        block->succ = n;
        if (ptxi_ir_is_branch(i))
            ir->edges[n++] = block_at[ir->labels[i->aux]];
        for (uint32_t t = 0; i->op == PTXI_OP_brx && t < ir->tables[i->aux].count; t++) {
            uint32_t to = block_at[ir->labels[ir->tables[i->aux].labels[t]]];

            if (seen[to] != b + 1)
                ir->edges[n++] = to;
            seen[to] = b + 1;
        }
        if (!ptxi_ir_ends(i) && b + 1 < ir->block_count && (n == block->succ || ir->edges[block->succ] != b + 1))
            ir->edges[n++] = b + 1;
        block->succ_count = n - block->succ;
    }
    assert(n <= edge_limit(ir));
}

static void find_predecessors(struct ptxi_ir *ir)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < ir->block_count; b++)
        for (uint32_t s = 0; s < ir->blocks[b].succ_count; s++)
            ir->blocks[ir->edges[ir->blocks[b].succ + s]].pred_count++;
    for (uint32_t b = 0; b < ir->block_count; b++) {
        ir->blocks[b].pred = n;
        n += ir->blocks[b].pred_count;
        ir->blocks[b].pred_count = 0;
    }
    for (uint32_t b = 0; b < ir->block_count; b++)
        for (uint32_t s = 0; s < ir->blocks[b].succ_count; s++) {
            struct ptxi_block *to = &ir->blocks[ir->edges[ir->blocks[b].succ + s]];

            ir->pred_edges[to->pred + to->pred_count++] = b;
        }
}

bool ptxi_cfg_find_blocks(struct ptxi_ir *ir)
{
    uint8_t *leader = ARENA_NEW(ir->arena, uint8_t, ir->count + 1);
    uint32_t *block_at = ARENA_NEW(ir->arena, uint32_t, ir->count + 1), *seen;

    if (!leader || !block_at)
        return !(ir->oom = true);
    mark_leaders(ir, leader);
    for (uint32_t k = 0; k < ir->count; k++)
        ir->block_count += leader[k];
    ir->blocks = ARENA_NEW(ir->arena, struct ptxi_block, ir->block_count);
    seen = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    ir->edges = ARENA_NEW(ir->arena, uint32_t, edge_limit(ir));
    ir->pred_edges = ARENA_NEW(ir->arena, uint32_t, edge_limit(ir));
    ir->order = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    if (!ir->blocks || !seen || !ir->edges || !ir->pred_edges || !ir->order)
        return !(ir->oom = true);
    for (uint32_t k = 0, b = UINT32_MAX; k < ir->count; k++) {
        if (leader[k]) {
            ir->blocks[++b] = (struct ptxi_block){ .first = k, .order = PTXI_NONE };
        }
        block_at[k] = b;
        ir->blocks[b].end = k + 1;
        ir->blocks[b].ptx_count += (ir->insts[k].flags & PTXI_IF_FIRST) != 0;
    }
    find_edges(ir, block_at, seen);
    find_predecessors(ir);
    return true;
}

/* --- order --- */

/* Limit on visits of blocks. The remaining inner loops are not ordered: their code is slower, but compile time stays
 * bounded. Only a hostile text reaches the limit. */
enum { WORK_LIMIT = 1 << 22 };

/* A part of the order that is a graph of its own: the function, or a loop without its head. */
struct region {
    uint32_t start, count; /* of order[] */
    uint32_t id;
};

struct sorter {
    struct ptxi_ir *ir;
    uint32_t *order;
    uint32_t *region;    /* block -> id of its innermost region */
    uint32_t *component; /* block -> component in that region */
    uint32_t *index, *low, *stack, *path, *next_edge; /* of Tarjan's algorithm, per block */
    /* per component: its first member in members[], their number, its first block in the text, number of edges that
     * lead to it from components that are not ordered yet, members found so far */
    uint32_t *comp_first, *comp_size, *comp_key, *comp_waits, *placed;
    uint32_t *heap;      /* components to which no such edges lead, by comp_key */
    uint32_t *members;   /* blocks by component */
    struct region *tasks;
    uint32_t task_count, next_id, component_count;
};

static bool new_sorter(struct sorter *s, struct ptxi_ir *ir)
{
    uint32_t **arrays[] = { &s->order, &s->region, &s->component, &s->index, &s->low, &s->stack, &s->path,
                            &s->next_edge, &s->comp_first, &s->comp_size, &s->comp_key, &s->comp_waits, &s->heap,
                            &s->members, &s->placed };
    uint32_t n = ir->block_count + 1;

    s->ir = ir;
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = ARENA_NEW(ir->arena, uint32_t, n)))
            return !(ir->oom = true);
    s->tasks = ARENA_NEW(ir->arena, struct region, n);
    return s->tasks || !(ir->oom = true);
}

/* One step of the depth-first search from the block at the end of the path; true if the block is finished. */
static bool search_step(struct sorter *s, uint32_t b, uint32_t id, uint32_t *depth, uint32_t *counter, uint32_t *top)
{
    const struct ptxi_block *block = &s->ir->blocks[b];

    while (s->next_edge[b] < block->succ_count) {
        uint32_t to = s->ir->edges[block->succ + s->next_edge[b]];

        if (s->region[to] != id || s->component[to] != PTXI_NONE) {
            s->next_edge[b]++;
            continue;
        }
        if (!s->index[to]) {
            s->index[to] = s->low[to] = ++*counter;
            s->stack[(*top)++] = to;
            s->path[(*depth)++] = to;
            return false;
        }
        if (s->low[to] < s->low[b])
            s->low[b] = s->low[to];
        s->next_edge[b]++;
    }
    return true;
}

/* Finds the strongly connected components among the blocks of a region: Tarjan's algorithm without recursion. */
static void find_components(struct sorter *s, const struct region *r)
{
    uint32_t counter = 0, top = 0;

    s->component_count = 0;
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t b = s->order[r->start + k];

        s->index[b] = s->next_edge[b] = 0;
        s->component[b] = PTXI_NONE;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t root = s->order[r->start + k], depth = 0;

        if (s->index[root])
            continue;
        s->index[root] = s->low[root] = ++counter;
        s->stack[top++] = root;
        s->path[depth++] = root;
        while (depth) {
            uint32_t b = s->path[depth - 1];

            if (!search_step(s, b, r->id, &depth, &counter, &top))
                continue;
            depth--;
            if (depth && s->low[b] < s->low[s->path[depth - 1]])
                s->low[s->path[depth - 1]] = s->low[b];
            if (s->low[b] != s->index[b])
                continue;
            for (uint32_t member = PTXI_NONE; member != b;) {
                member = s->stack[--top];
                s->component[member] = s->component_count;
            }
            s->component_count++;
        }
    }
}

static void heap_push(struct sorter *s, uint32_t *count, uint32_t c)
{
    uint32_t k = (*count)++;

    while (k && s->comp_key[s->heap[(k - 1) / 2]] > s->comp_key[c]) {
        s->heap[k] = s->heap[(k - 1) / 2];
        k = (k - 1) / 2;
    }
    s->heap[k] = c;
}

static uint32_t heap_pop(struct sorter *s, uint32_t *count)
{
    uint32_t best = s->heap[0], last = s->heap[--*count], k = 0;

    for (;;) {
        uint32_t child = 2 * k + 1;

        if (child >= *count)
            break;
        if (child + 1 < *count && s->comp_key[s->heap[child + 1]] < s->comp_key[s->heap[child]])
            child++;
        if (s->comp_key[s->heap[child]] >= s->comp_key[last])
            break;
        s->heap[k] = s->heap[child];
        k = child;
    }
    s->heap[k] = last;
    return best;
}

/* Finds the members of each component, its first block in the text, and the number of edges that lead to it. */
static void measure_components(struct sorter *s, const struct region *r)
{
    uint32_t at = 0;

    for (uint32_t c = 0; c < s->component_count; c++) {
        s->comp_size[c] = s->comp_waits[c] = 0;
        s->comp_key[c] = PTXI_NONE;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t b = s->order[r->start + k], c = s->component[b];
        const struct ptxi_block *block = &s->ir->blocks[b];

        s->comp_size[c]++;
        if (b < s->comp_key[c])
            s->comp_key[c] = b;
        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t to = s->ir->edges[block->succ + e];

            if (s->region[to] == r->id && s->component[to] != c)
                s->comp_waits[s->component[to]]++;
        }
    }
    for (uint32_t c = 0; c < s->component_count; c++) {
        s->comp_first[c] = at;
        at += s->comp_size[c];
        s->placed[c] = 0;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t b = s->order[r->start + k], c = s->component[b];

        s->members[s->comp_first[c] + s->placed[c]++] = b;
    }
}

/* The head of a loop: the block through which it is entered. If there are several, the first in the text. */
static uint32_t find_head(const struct sorter *s, uint32_t c, uint32_t id)
{
    const uint32_t *m = s->members + s->comp_first[c];
    uint32_t head = PTXI_NONE, lowest = m[0];

    for (uint32_t k = 0; k < s->comp_size[c]; k++) {
        const struct ptxi_block *block = &s->ir->blocks[m[k]];
        bool entered = m[k] == 0;

        for (uint32_t p = 0; p < block->pred_count && !entered; p++) {
            uint32_t from = s->ir->pred_edges[block->pred + p];

            entered = s->region[from] != PTXI_NONE && (s->region[from] != id || s->component[from] != c);
        }
        if (entered && m[k] < head)
            head = m[k];
        if (m[k] < lowest)
            lowest = m[k];
    }
    return head == PTXI_NONE ? lowest : head;
}

static bool is_own_successor(const struct ptxi_ir *ir, uint32_t b)
{
    for (uint32_t e = 0; e < ir->blocks[b].succ_count; e++)
        if (ir->edges[ir->blocks[b].succ + e] == b)
            return true;
    return false;
}

/* Writes component c to order[at]. The blocks of a loop except its head become a region of their own. */
static void write_component(struct sorter *s, const struct region *r, uint32_t c, uint32_t at)
{
    const uint32_t *m = s->members + s->comp_first[c];
    uint32_t size = s->comp_size[c], head = size > 1 ? find_head(s, c, r->id) : m[0], n = 0;

    s->order[at + n++] = head;
    for (uint32_t k = 0; k < size; k++)
        if (m[k] != head)
            s->order[at + n++] = m[k];
    if (size > 1 || is_own_successor(s->ir, head))
        for (uint32_t k = 0; k < size; k++)
            s->ir->blocks[m[k]].depth++;
    if (size > 1)
        s->tasks[s->task_count++] = (struct region){ at + 1, size - 1, 0 };
}

static void order_region(struct sorter *s, struct region r)
{
    uint32_t heap_count = 0, at = r.start, first_task = s->task_count;

    find_components(s, &r);
    measure_components(s, &r);
    for (uint32_t c = 0; c < s->component_count; c++)
        if (!s->comp_waits[c])
            heap_push(s, &heap_count, c);
    while (heap_count) {
        uint32_t c = heap_pop(s, &heap_count);

        write_component(s, &r, c, at);
        at += s->comp_size[c];
        for (uint32_t k = 0; k < s->comp_size[c]; k++) {
            const struct ptxi_block *block = &s->ir->blocks[s->members[s->comp_first[c] + k]];

            for (uint32_t e = 0; e < block->succ_count; e++) {
                uint32_t to = s->ir->edges[block->succ + e];

                if (s->region[to] == r.id && s->component[to] != c && !--s->comp_waits[s->component[to]])
                    heap_push(s, &heap_count, s->component[to]);
            }
        }
    }
    for (uint32_t t = first_task; t < s->task_count; t++) {
        s->tasks[t].id = s->next_id++;
        for (uint32_t k = 0; k < s->tasks[t].count; k++)
            s->region[s->order[s->tasks[t].start + k]] = s->tasks[t].id;
    }
}

/* Finds the blocks that control can reach, in the order of the text. */
static void find_reachable(struct sorter *s)
{
    struct ptxi_ir *ir = s->ir;
    uint32_t top = 0;

    memset(s->region, 0xff, ir->block_count * sizeof *s->region);
    s->region[0] = 0;
    s->stack[top++] = 0;
    while (top) {
        const struct ptxi_block *block = &ir->blocks[s->stack[--top]];

        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t to = ir->edges[block->succ + e];

            if (s->region[to] == PTXI_NONE) {
                s->region[to] = 0;
                s->stack[top++] = to;
            }
        }
    }
    for (uint32_t b = 0; b < ir->block_count; b++)
        if (s->region[b] == 0)
            s->order[ir->order_count++] = b;
}

bool ptxi_cfg_order_blocks(struct ptxi_ir *ir)
{
    struct sorter s = { .next_id = 1 };

    if (!new_sorter(&s, ir))
        return false;
    find_reachable(&s);
    order_region(&s, (struct region){ 0, ir->order_count, 0 });
    for (uint32_t work = 0; s.task_count && work < WORK_LIMIT;) {
        struct region r = s.tasks[--s.task_count];

        order_region(&s, r);
        work += r.count;
    }
    for (uint32_t k = 0; k < ir->order_count; k++) {
        ir->order[k] = s.order[k];
        ir->blocks[s.order[k]].order = k;
    }
    return true;
}
