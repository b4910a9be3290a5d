#include "api/graphexec/device_graph.h"

#include "api/copy/copy.h"
#include "api/memory/heap.h"

#include <stdlib.h>

/* The work of a node. */
struct step {
    bool is_kernel;
    struct ptxi_work kernel;
    struct ptxi_rows rows; /* of copies and fills */
};

struct ptxi_device_graph {
    _Atomic unsigned refs;
    struct ptxi_graph_pending *pending; /* a reference */
    unsigned count;
    struct step steps[];
};

static _Atomic unsigned graphs;

bool ptxi_device_graphs_exist(void)
{
    return atomic_load(&graphs);
}

void ptxi_device_graph_ref(struct ptxi_device_graph *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void ptxi_device_graph_unref(struct ptxi_device_graph *g)
{
    if (!g || atomic_fetch_sub(&g->refs, 1) != 1)
        return;
    for (unsigned i = 0; i < g->count; i++)
        if (g->steps[i].is_kernel)
            ptxi_work_free_simple(&g->steps[i].kernel);
    if (g->pending)
        ptxi_graph_pending_unref(g->pending);
    atomic_fetch_sub(&graphs, 1);
    free(g);
}

/* ---- what kernels may launch */

static bool is_known(const void *p)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    return ptxi_heap_find((uintptr_t)p, &b, &region);
}

/* Only copies of memory that devices can access, without arrays. */
static bool resolve_copy(const PTXI_MEMCPY3D *copy, struct ptxi_rows *rows)
{
    enum ptxi_copy_side dst, src;

    if (!copy->WidthInBytes || !copy->Height || !copy->Depth || ptxi_copy_resolve_box(copy, rows, &dst, &src) ||
        dst == PTXI_COPY_ARRAY || src == PTXI_COPY_ARRAY || !is_known(rows->dst) || !is_known(rows->src))
        return false;
    rows->dst_known = rows->src_known = true;
    return true;
}

static bool resolve_fill(const PTXI_MEMSET_NODE_PARAMS *set, struct ptxi_rows *rows)
{
    if (!set->width || !set->height || ptxi_copy_resolve_fill(set, rows))
        return false;
    rows->dst_known = rows->src_known = true;
    return true;
}

/* Sets the rows of a copy or a fill. False: kernels cannot launch such work. */
static bool resolve(const struct ptxi_work *w, struct ptxi_rows *rows)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return true;
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return resolve_copy(&w->copy, rows);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return resolve_fill(&w->set, rows);
    default: return false;
    }
}

ptxiResult ptxi_device_graph_check(ptxiGraphNode const *steps, unsigned count, ptxiGraphNode *at)
{
    struct ptxi_rows rows;

    *at = NULL;
    for (unsigned i = 0; i < count; i++)
        if (!resolve(&steps[i]->work, &rows)) {
            *at = steps[i];
            return PTXI_ERROR_INVALID_VALUE;
        }
    return count ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* ---- copies */

/* Copies the work of a node to the end of the graph. */
static ptxiResult add_step(struct ptxi_device_graph *g, const struct ptxi_work *w)
{
    struct step *s = &g->steps[g->count];

    s->is_kernel = w->type == PTXI_GRAPH_NODE_TYPE_KERNEL;
    if (!resolve(w, &s->rows))
        return PTXI_ERROR_INVALID_VALUE;
    if (s->is_kernel && !ptxi_work_duplicate_simple(&s->kernel, w))
        return PTXI_ERROR_OUT_OF_MEMORY;
    g->count++;
    return PTXI_SUCCESS;
}

static ptxiResult add_steps(struct ptxi_device_graph *g, ptxiGraphNode const *steps, unsigned count)
{
    ptxiResult r = g->pending ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;

    for (unsigned i = 0; i < count && !r; i++)
        if (!steps[i]->off)
            r = add_step(g, &steps[i]->work);
    return r;
}

ptxiResult ptxi_device_graph_create(struct ptxi_device_graph **graph, ptxiGraphNode const *steps, unsigned count)
{
    struct ptxi_device_graph *g = calloc(1, sizeof *g + count * sizeof g->steps[0]);

    if (!g)
        return PTXI_ERROR_OUT_OF_MEMORY;
    atomic_fetch_add(&graphs, 1);
    g->refs = 1;
    g->pending = ptxi_graph_pending_create();
    ptxiResult r = add_steps(g, steps, count);

    if (r)
        ptxi_device_graph_unref(g);
    else
        *graph = g;
    return r;
}

/* ---- launches */

/* The work of one launch, which is being made. */
struct building {
    const struct ptxi_call_site *site;
    struct ptxi_graph_run *run;
    struct ptxi_pending_list list;
};

static ptxiResult append(struct building *b, struct ptxi_pending_work work)
{
    work.site = *b->site;
    return ptxi_pending_append(b->run->ctx, &b->list, work) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

static ptxiResult append_mark(struct building *b, bool begins)
{
    ptxiResult r = append(b, (struct ptxi_pending_work){ .run = ptxi_graph_run_ref(b->run), .begins = begins });

    if (r)
        ptxi_graph_run_unref(b->run);
    return r;
}

static ptxiResult append_kernel(struct building *b, struct ptxi_work *w)
{
    void *extra[PTXI_WORK_EXTRA];
    struct ptxi_launch_description d = ptxi_work_description(w, extra);
    struct ptxi_pending_work work = { .item = NULL };
    ptxiResult r = ptxi_handle_use(d.function, PTXI_HANDLE_FUNCTION); /* its module may have been unloaded */

    d.graph = b->run->graph;
    d.run = b->run;
    if (r || (r = ptxi_launch_make(b->run->ctx, &d, &work.item)))
        return r;
    if ((r = append(b, work)))
        ptxi_item_discard(work.item);
    return r;
}

static ptxiResult append_graph(struct building *b, struct ptxi_device_graph *g)
{
    ptxiResult r = append_mark(b, true);

    for (unsigned i = 0; i < g->count && !r; i++)
        r = g->steps[i].is_kernel ? append_kernel(b, &g->steps[i].kernel)
            : append(b, (struct ptxi_pending_work){ .rows = g->steps[i].rows });
    return r ? r : append_mark(b, false);
}

/* Makes the work of a launch and passes it on. */
static ptxiResult launch_graph(struct ptxi_launch *by, const struct ptxi_call_site *site, struct ptxi_device_graph *g,
                               uint64_t handle, bool tail)
{
    struct building b = { .site = site, .run = ptxi_graph_run_create(by->ctx, handle, g->pending) };

    b.list.last = &b.list.first;
    ptxiResult r = b.run ? append_graph(&b, g) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r)
        ptxi_pending_discard(by->ctx, b.list.first);
    else if (tail)
        ptxi_pending_add_tails(by->run, &b.list);
    else
        ptxi_pending_add_list(by, &b.list);
    ptxi_graph_run_unref(b.run);
    return r;
}

ptxiResult ptxi_device_graph_launch(struct ptxi_launch *by, const struct ptxi_call_site *site,
                                    struct ptxi_device_graph *g, uint64_t handle, bool tail)
{
    if ((!tail && by->run->graph == handle) || atomic_exchange(&g->pending->is, true))
        return PTXI_ERROR_INVALID_VALUE;
    ptxiResult r = launch_graph(by, site, g, handle, tail);

    if (r)
        atomic_store(&g->pending->is, false);
    return r;
}
