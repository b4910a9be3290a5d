/* Launch graphs: nodes in an order that their dependencies allow, given to a stream at once. */
#include "api/module.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPH_MAGIC = 0x47525048, NODE_MAGIC = 0x4e4f4445, EXEC_MAGIC = 0x45584543 };

/* What a node does. */
struct work {
    ptxiGraphNodeType type;
    union {
        struct {
            PTXI_KERNEL_NODE_PARAMS kernel; /* kernelParams and extra NULL: */
            unsigned char *params;          /* `bytes` of them, malloc'ed */
            size_t bytes;
        };
        PTXI_MEMCPY3D copy;
        PTXI_MEMSET_NODE_PARAMS set;
        PTXI_HOST_NODE_PARAMS host;
    };
};

struct ptxiGraphNode_st {
    uint32_t magic;
    struct ptxiGraph_st *graph;
    uint64_t id, cloned_from; /* never used again; 0: of no clone */
    unsigned index;           /* in the graph */
    struct work work;
    struct ptxiGraphNode_st **needs; /* nodes that end before */
    unsigned need_count;
};

struct ptxiGraph_st {
    uint32_t magic;
    ptxiContext ctx;
    struct ptxiGraphNode_st **nodes;
    unsigned count;
};

struct ptxiGraphExec_st {
    uint32_t magic;
    ptxiContext ctx;
    unsigned count;
    struct step {
        uint64_t node; /* id */
        struct work work;
    } steps[];
};

static _Atomic uint64_t node_ids;

/* ---- work */

static void free_work(struct work *w)
{
    if (w->type == PTXI_GRAPH_NODE_TYPE_KERNEL)
        free(w->params);
}

static bool copy_work(struct work *to, const struct work *from)
{
    *to = *from;
    if (from->type != PTXI_GRAPH_NODE_TYPE_KERNEL)
        return true;
    to->params = malloc(from->bytes + 1);
    if (to->params)
        memcpy(to->params, from->params, from->bytes);
    return to->params;
}

static ptxiResult kernel_work(struct work *w, const PTXI_KERNEL_NODE_PARAMS *p)
{
    if (!p || !p->func)
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_function_valid(p->func))
        return PTXI_ERROR_INVALID_HANDLE;
    /* what lies behind `extra` is not looked at: the driver's first version of the structure ends there */
    memset(w, 0, sizeof *w);
    memcpy(&w->kernel, p, offsetof(PTXI_KERNEL_NODE_PARAMS, kern));
    w->type = PTXI_GRAPH_NODE_TYPE_KERNEL;
    w->bytes = ptxi_module_param_bytes(p->func);
    w->params = calloc(1, w->bytes + 1);
    if (!w->params)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = ptxi_launch_params(p->func, p->kernelParams, p->extra, w->params, w->bytes);

    w->kernel.kernelParams = w->kernel.extra = NULL;
    if (r)
        free_work(w);
    return r;
}

static ptxiResult copy_node_work(struct work *w, const PTXI_MEMCPY3D *p)
{
    if (!p || !p->WidthInBytes || !p->Height || !p->Depth)
        return PTXI_ERROR_INVALID_VALUE;
    if (p->srcMemoryType == PTXI_MEMORYTYPE_ARRAY || p->dstMemoryType == PTXI_MEMORYTYPE_ARRAY)
        return PTXI_ERROR_NOT_SUPPORTED;
    *w = (struct work){ .type = PTXI_GRAPH_NODE_TYPE_MEMCPY, .copy = *p };
    return PTXI_SUCCESS;
}

static ptxiResult set_work(struct work *w, const PTXI_MEMSET_NODE_PARAMS *p)
{
    if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->width || !p->height)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct work){ .type = PTXI_GRAPH_NODE_TYPE_MEMSET, .set = *p };
    return PTXI_SUCCESS;
}

static ptxiResult host_work(struct work *w, const PTXI_HOST_NODE_PARAMS *p)
{
    if (!p || !p->fn)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct work){ .type = PTXI_GRAPH_NODE_TYPE_HOST, .host = *p };
    return PTXI_SUCCESS;
}

static ptxiResult submit_kernel(struct work *w, ptxiStream s)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, w->params, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &w->bytes, PTXI_LAUNCH_PARAM_END };

    return ptxiLaunchKernel(k->func, k->gridDimX, k->gridDimY, k->gridDimZ, k->blockDimX, k->blockDimY, k->blockDimZ, k->sharedMemBytes, s, NULL,
                            w->bytes ? extra : NULL);
}

/* Slice by slice. */
static ptxiResult submit_copy(const PTXI_MEMCPY3D *c, ptxiStream s)
{
    size_t src_rows = c->srcHeight ? c->srcHeight : c->Height, dst_rows = c->dstHeight ? c->dstHeight : c->Height;
    ptxiResult r = PTXI_SUCCESS;

    for (size_t z = 0; z < c->Depth && !r; z++) {
        PTXI_MEMCPY2D d = {
            .srcXInBytes = c->srcXInBytes, .srcY = c->srcY + (c->srcZ + z) * src_rows, .srcMemoryType = c->srcMemoryType, .srcHost = c->srcHost,
            .srcDevice = c->srcDevice, .srcPitch = c->srcPitch, .dstXInBytes = c->dstXInBytes, .dstY = c->dstY + (c->dstZ + z) * dst_rows,
            .dstMemoryType = c->dstMemoryType, .dstHost = c->dstHost, .dstDevice = c->dstDevice, .dstPitch = c->dstPitch,
            .WidthInBytes = c->WidthInBytes, .Height = c->Height,
        };

        r = ptxiMemcpy2DAsync(&d, s);
    }
    return r;
}

static ptxiResult submit_set(const PTXI_MEMSET_NODE_PARAMS *m, ptxiStream s)
{
    switch (m->elementSize) {
    case 1: return ptxiMemsetD2D8Async(m->dst, m->pitch, (unsigned char)m->value, m->width, m->height, s);
    case 2: return ptxiMemsetD2D16Async(m->dst, m->pitch, (unsigned short)m->value, m->width, m->height, s);
    default: return ptxiMemsetD2D32Async(m->dst, m->pitch, m->value, m->width, m->height, s);
    }
}

static ptxiResult submit(struct work *w, ptxiStream s)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return submit_kernel(w, s);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return submit_copy(&w->copy, s);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return submit_set(&w->set, s);
    case PTXI_GRAPH_NODE_TYPE_HOST: return ptxiLaunchHostFunc(s, w->host.fn, w->host.userData);
    default: return PTXI_SUCCESS;
    }
}

/* ---- graphs */

static bool node_valid(const struct ptxiGraphNode_st *n)
{
    return n && n->magic == NODE_MAGIC;
}

static ptxiResult enter(ptxiGraph g)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : g && g->magic == GRAPH_MAGIC ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult ptxiGraphCreate(ptxiGraph *phGraph, unsigned flags)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!phGraph || flags)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxiGraph_st *g = calloc(1, sizeof *g);

    if (!g)
        return PTXI_ERROR_OUT_OF_MEMORY;
    g->magic = GRAPH_MAGIC;
    g->ctx = ctx;
    *phGraph = g;
    return PTXI_SUCCESS;
}

static void free_node(struct ptxiGraphNode_st *n)
{
    n->magic = 0;
    free_work(&n->work);
    free(n->needs);
    free(n);
}

static void free_graph(struct ptxiGraph_st *g)
{
    for (unsigned i = 0; i < g->count; i++)
        free_node(g->nodes[i]);
    g->magic = 0;
    free(g->nodes);
    free(g);
}

ptxiResult ptxiGraphDestroy(ptxiGraph hGraph)
{
    ptxiResult r = enter(hGraph);

    if (r)
        return r;
    free_graph(hGraph);
    return PTXI_SUCCESS;
}

/* Append `count` nodes to what n needs. */
static bool add_needs(struct ptxiGraphNode_st *n, const ptxiGraphNode *nodes, size_t count)
{
    struct ptxiGraphNode_st **more = realloc(n->needs, (n->need_count + count + 1) * sizeof *more);

    if (!more)
        return false;
    n->needs = more;
    for (size_t i = 0; i < count; i++)
        more[n->need_count++] = nodes[i];
    return true;
}

static bool append(struct ptxiGraph_st *g, struct ptxiGraphNode_st *n)
{
    struct ptxiGraphNode_st **more = realloc(g->nodes, (g->count + 1) * sizeof *more);

    if (!more)
        return false;
    g->nodes = more;
    n->graph = g;
    n->index = g->count;
    more[g->count++] = n;
    return true;
}

/* Takes the work over, also where it fails. */
static ptxiResult add_node(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, size_t count, struct work *w)
{
    ptxiResult r = out && (!count || needs) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;

    for (size_t i = 0; !r && i < count; i++)
        r = node_valid(needs[i]) && needs[i]->graph == g ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    struct ptxiGraphNode_st *n = r ? NULL : calloc(1, sizeof *n);

    if (!n) {
        free_work(w);
        return r ? r : PTXI_ERROR_OUT_OF_MEMORY;
    }
    n->magic = NODE_MAGIC;
    n->id = atomic_fetch_add(&node_ids, 1) + 1;
    n->work = *w;
    if (!add_needs(n, needs, count) || !append(g, n)) {
        free_node(n);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *out = n;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphAddKernelNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                  const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    struct work w;
    ptxiResult r = enter(hGraph);

    if (r || (r = kernel_work(&w, nodeParams)))
        return r;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemcpyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                  const PTXI_MEMCPY3D *copyParams, ptxiContext ctx)
{
    struct work w;
    ptxiResult r = enter(hGraph);

    (void)ctx;
    if (r || (r = copy_node_work(&w, copyParams)))
        return r;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemsetNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                  const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx)
{
    struct work w;
    ptxiResult r = enter(hGraph);

    (void)ctx;
    if (r || (r = set_work(&w, memsetParams)))
        return r;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &w);
}

ptxiResult ptxiGraphAddHostNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    struct work w;
    ptxiResult r = enter(hGraph);

    if (r || (r = host_work(&w, nodeParams)))
        return r;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &w);
}

ptxiResult ptxiGraphAddEmptyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies)
{
    struct work w = { .type = PTXI_GRAPH_NODE_TYPE_EMPTY };
    ptxiResult r = enter(hGraph);

    return r ? r : add_node(phGraphNode, hGraph, dependencies, numDependencies, &w);
}

ptxiResult ptxiGraphAddDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to, const void *edgeData, size_t numDependencies)
{
    ptxiResult r = enter(hGraph);

    if (r)
        return r;
    if (numDependencies && (!from || !to || edgeData))
        return edgeData ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; i++)
        if (!node_valid(from[i]) || !node_valid(to[i]) || from[i]->graph != hGraph || to[i]->graph != hGraph || from[i] == to[i])
            return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; i++)
        if (!add_needs(to[i], &from[i], 1))
            return PTXI_ERROR_OUT_OF_MEMORY;
    return PTXI_SUCCESS;
}

static ptxiResult enter_node(ptxiGraphNode n)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : node_valid(n) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult ptxiGraphNodeGetType(ptxiGraphNode hNode, ptxiGraphNodeType *type)
{
    ptxiResult r = enter_node(hNode);

    if (r)
        return r;
    if (!type)
        return PTXI_ERROR_INVALID_VALUE;
    *type = hNode->work.type;
    return PTXI_SUCCESS;
}

/* As the driver has it: without an array the number alone; places beyond the number become NULL. */
static ptxiResult list(struct ptxiGraphNode_st *const *from, unsigned count, ptxiGraphNode *nodes, size_t *room)
{
    if (!room)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; nodes && i < *room; i++)
        nodes[i] = i < count ? from[i] : NULL;
    if (!nodes || *room > count)
        *room = count;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphGetNodes(ptxiGraph hGraph, ptxiGraphNode *nodes, size_t *numNodes)
{
    ptxiResult r = enter(hGraph);

    return r ? r : list(hGraph->nodes, hGraph->count, nodes, numNodes);
}

/* The same work with other parameters; takes `w` over. */
static ptxiResult replace(struct work *old, struct work *w)
{
    if (old->type != w->type) {
        free_work(w);
        return PTXI_ERROR_INVALID_VALUE;
    }
    free_work(old);
    *old = *w;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeSetParams(ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    struct work w;
    ptxiResult r = enter_node(hNode);

    if (r || (r = kernel_work(&w, nodeParams)))
        return r;
    return replace(&hNode->work, &w);
}

static bool clone_node(struct ptxiGraph_st *g, const struct ptxiGraphNode_st *from)
{
    struct ptxiGraphNode_st *n = calloc(1, sizeof *n);

    if (!n)
        return false;
    n->magic = NODE_MAGIC;
    n->id = atomic_fetch_add(&node_ids, 1) + 1;
    n->cloned_from = from->id;
    if (!copy_work(&n->work, &from->work) || !append(g, n)) {
        free_node(n);
        return false;
    }
    return true;
}

ptxiResult ptxiGraphClone(ptxiGraph *phGraphClone, ptxiGraph originalGraph)
{
    ptxiResult r = enter(originalGraph);
    ptxiGraph g;

    if (r)
        return r;
    if (!phGraphClone)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxiGraphCreate(&g, 0);
    if (r)
        return r;
    bool ok = true;

    for (unsigned i = 0; ok && i < originalGraph->count; i++)
        ok = clone_node(g, originalGraph->nodes[i]);
    for (unsigned i = 0; ok && i < originalGraph->count; i++)
        for (unsigned k = 0; ok && k < originalGraph->nodes[i]->need_count; k++)
            ok = add_needs(g->nodes[i], &g->nodes[originalGraph->nodes[i]->needs[k]->index], 1);
    if (!ok) {
        free_graph(g);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *phGraphClone = g;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphNodeFindInClone(ptxiGraphNode *phNode, ptxiGraphNode hOriginalNode, ptxiGraph hClonedGraph)
{
    ptxiResult r = enter(hClonedGraph);

    if (r || (r = enter_node(hOriginalNode)))
        return r;
    if (!phNode)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < hClonedGraph->count; i++)
        if (hClonedGraph->nodes[i]->cloned_from == hOriginalNode->id) {
            *phNode = hClonedGraph->nodes[i];
            return PTXI_SUCCESS;
        }
    return PTXI_ERROR_INVALID_VALUE;
}

/* ---- instances */

/* Puts nodes into `to`, each behind those that it needs, else in the order in which they were added. A cycle leaves some out. */
static bool order(const struct ptxiGraph_st *g, unsigned *to, unsigned *count)
{
    bool *placed = calloc(g->count + 1, sizeof *placed), ok = placed, more = ok;

    *count = 0;
    while (more) {
        more = false;
        for (unsigned i = 0; i < g->count; i++) {
            const struct ptxiGraphNode_st *n = g->nodes[i];
            unsigned k = 0;

            while (!placed[i] && k < n->need_count && placed[n->needs[k]->index])
                k++;
            if (placed[i] || k < n->need_count)
                continue;
            placed[i] = true;
            to[(*count)++] = i;
            more = true;
        }
    }
    free(placed);
    return ok;
}

static void free_exec(struct ptxiGraphExec_st *x)
{
    for (unsigned i = 0; i < x->count; i++)
        free_work(&x->steps[i].work);
    x->magic = 0;
    free(x);
}

ptxiResult ptxiGraphInstantiate(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    ptxiResult r = enter(hGraph);
    unsigned count;

    if (r)
        return r;
    if (!phGraphExec || flags & ~(unsigned long long)(PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                                      PTXI_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
        return PTXI_ERROR_INVALID_VALUE;
    unsigned *turn = malloc((hGraph->count + 1) * sizeof *turn);
    struct ptxiGraphExec_st *x = calloc(1, sizeof *x + hGraph->count * sizeof x->steps[0]);
    bool ok = turn && x && order(hGraph, turn, &count);

    r = !ok ? PTXI_ERROR_OUT_OF_MEMORY : count < hGraph->count ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
    for (unsigned i = 0; !r && i < hGraph->count; i++) {
        const struct ptxiGraphNode_st *n = hGraph->nodes[turn[i]];

        x->steps[i].node = n->id;
        if (!copy_work(&x->steps[i].work, &n->work))
            r = PTXI_ERROR_OUT_OF_MEMORY;
        x->count += !r;
    }
    free(turn);
    if (r) {
        if (x)
            free_exec(x);
        return r;
    }
    x->magic = EXEC_MAGIC;
    x->ctx = hGraph->ctx;
    *phGraphExec = x;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphInstantiateWithFlags(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    return ptxiGraphInstantiate(phGraphExec, hGraph, flags);
}

static ptxiResult enter_exec(ptxiGraphExec x)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : x && x->magic == EXEC_MAGIC ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult ptxiGraphExecDestroy(ptxiGraphExec hGraphExec)
{
    ptxiResult r = enter_exec(hGraphExec);

    if (r)
        return r;
    free_exec(hGraphExec);
    return PTXI_SUCCESS;
}

/* The step that was made of the node. */
static ptxiResult find_step(ptxiGraphExec x, ptxiGraphNode n, struct work **work)
{
    ptxiResult r = enter_exec(x);

    if (r || (r = enter_node(n)))
        return r;
    for (unsigned i = 0; i < x->count; i++)
        if (x->steps[i].node == n->id) {
            *work = &x->steps[i].work;
            return PTXI_SUCCESS;
        }
    return PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiGraphExecKernelNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    struct work w, *old;
    ptxiResult r = find_step(hGraphExec, hNode, &old);

    if (r || (r = kernel_work(&w, nodeParams)))
        return r;
    return replace(old, &w);
}

ptxiResult ptxiGraphExecMemcpyNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_MEMCPY3D *copyParams, ptxiContext ctx)
{
    struct work w, *old;
    ptxiResult r = find_step(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = copy_node_work(&w, copyParams)))
        return r;
    return replace(old, &w);
}

ptxiResult ptxiGraphExecMemsetNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_MEMSET_NODE_PARAMS *memsetParams,
                                            ptxiContext ctx)
{
    struct work w, *old;
    ptxiResult r = find_step(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = set_work(&w, memsetParams)))
        return r;
    return replace(old, &w);
}

ptxiResult ptxiGraphExecHostNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    struct work w, *old;
    ptxiResult r = find_step(hGraphExec, hNode, &old);

    if (r || (r = host_work(&w, nodeParams)))
        return r;
    return replace(old, &w);
}

ptxiResult ptxiGraphUpload(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    (void)hStream;
    return enter_exec(hGraphExec);
}

ptxiResult ptxiGraphLaunch(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    ptxiResult r = enter_exec(hGraphExec);

    for (unsigned i = 0; !r && i < hGraphExec->count; i++)
        r = submit(&hGraphExec->steps[i].work, hStream);
    return r;
}
