/* Writes graphs as text for Graphviz. */
#include "api/graph/graph.h"

#include "api/module/module.h"

#include <stdio.h>

struct dot {
    FILE *file;
    unsigned flags;
    unsigned graphs; /* number of clusters so far */
};

static bool shows(const struct dot *d, unsigned flag)
{
    return d->flags & (PTXI_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | flag);
}

/* ---- parameters of nodes: lines of a label */

static void put_kernel(const struct dot *d, const struct ptxi_work *w)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    const struct ptxi_node_attributes *a = &w->attributes;

    bool gone = ptxi_handle_use(k->func, PTXI_HANDLE_FUNCTION);

    fprintf(d->file, "\\n%s", gone ? "(unloaded)" : k->func->func->name->s);
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        fprintf(d->file, "\\ngrid %u,%u,%u block %u,%u,%u shared %u", k->gridDimX, k->gridDimY, k->gridDimZ,
                k->blockDimX, k->blockDimY, k->blockDimZ, k->sharedMemBytes);
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
        fprintf(d->file, "\\ncluster %u,%u,%u cooperative %d", a->cluster[0], a->cluster[1], a->cluster[2],
                a->cooperative);
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(d->file, "\\nfunction %p", (void *)k->func);
}

static void put_copy(const struct dot *d, const PTXI_MEMCPY3D *c)
{
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(d->file, "\\nfrom %p to %p, %zu x %zu x %zu bytes",
                c->srcMemoryType == PTXI_MEMORYTYPE_HOST ? c->srcHost : (void *)(uintptr_t)c->srcDevice,
                c->dstMemoryType == PTXI_MEMORYTYPE_HOST ? c->dstHost : (void *)(uintptr_t)c->dstDevice,
                c->WidthInBytes, c->Height, c->Depth);
}

static void put_fill(const struct dot *d, const PTXI_MEMSET_NODE_PARAMS *s)
{
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(d->file, "\\n%#llx value %#x, %zu x %zu elements of %u bytes, pitch %zu", s->dst, s->value, s->width,
                s->height, s->elementSize, s->pitch);
}

static void put_memory(const struct dot *d, const struct ptxi_work *w)
{
    const PTXI_MEM_ALLOC_NODE_PARAMS *p = ptxi_graph_memory_params(w->memory);
    unsigned flag = w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC ? PTXI_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS
                    : PTXI_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS;

    if (shows(d, flag))
        fprintf(d->file, "\\n%#llx, %zu bytes", p->dptr, p->bytesize);
}

static void put_operations(const struct dot *d, const PTXI_BATCH_MEM_OP_NODE_PARAMS *p)
{
    for (unsigned i = 0; shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS) && i < p->count; i++)
        fprintf(d->file, "\\noperation %d at %#llx value %#llx", (int)p->paramArray[i].operation,
                p->paramArray[i].address, (unsigned long long)p->paramArray[i].value64);
}

static void put_params(const struct dot *d, const struct ptxi_work *w)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: put_kernel(d, w); break;
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: put_copy(d, &w->copy); break;
    case PTXI_GRAPH_NODE_TYPE_MEMSET: put_fill(d, &w->set); break;
    case PTXI_GRAPH_NODE_TYPE_HOST:
        if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
            fprintf(d->file, "\\nfunction %#llx data %p", (unsigned long long)(uintptr_t)w->host.fn, w->host.userData);
        break;
    case PTXI_GRAPH_NODE_TYPE_WAIT_EVENT:
    case PTXI_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
            fprintf(d->file, "\\nevent %p", (void *)w->event);
        break;
    case PTXI_GRAPH_NODE_TYPE_MEM_ALLOC:
    case PTXI_GRAPH_NODE_TYPE_MEM_FREE: put_memory(d, w); break;
    case PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP: put_operations(d, &w->operations); break;
    case PTXI_GRAPH_NODE_TYPE_CONDITIONAL:
        if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS))
            fprintf(d->file, "\\ncondition %llu type %d bodies %u", w->branches.handle, (int)w->branches.kind,
                    w->branches.count);
        break;
    default: break;
    }
}

/* ---- nodes and graphs */

static const char *type_name(ptxiGraphNodeType type)
{
    static const char *const names[] = {
        [PTXI_GRAPH_NODE_TYPE_KERNEL] = "KERNEL", [PTXI_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
        [PTXI_GRAPH_NODE_TYPE_MEMSET] = "MEMSET", [PTXI_GRAPH_NODE_TYPE_HOST] = "HOST",
        [PTXI_GRAPH_NODE_TYPE_GRAPH] = "GRAPH", [PTXI_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
        [PTXI_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT", [PTXI_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
        [PTXI_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC", [PTXI_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
        [PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP", [PTXI_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
    };

    return names[type];
}

static void put_node(const struct dot *d, unsigned graph, const struct ptxiGraphNode_st *n)
{
    fprintf(d->file, "\"graph_%u_node_%u\"[style=\"solid\" shape=\"rectangle\" label=\"%u\\n%s", graph, n->index,
            n->index, type_name(n->work.type));
    put_params(d, &n->work);
    if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(d->file, "\\nnode %p", (const void *)n);
    fputs("\"];\n", d->file);
}

static void put_edges(const struct dot *d, unsigned graph, const struct ptxiGraphNode_st *n)
{
    for (unsigned i = 0; i < n->need_count; i++) {
        fprintf(d->file, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"", graph, n->needs[i]->index, graph, n->index);
        if (shows(d, PTXI_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
            fprintf(d->file, "[label=\"type %u ports %u,%u\"]", n->edges[i].type, n->edges[i].from_port,
                    n->edges[i].to_port);
        fputs(";\n", d->file);
    }
}

static void put_graph(struct dot *d, const struct ptxiGraph_st *g)
{
    unsigned number = ++d->graphs;

    fprintf(d->file, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", number, number);
    for (unsigned i = 0; i < g->count; i++)
        put_node(d, number, g->nodes[i]);
    for (unsigned i = 0; i < g->count; i++)
        put_edges(d, number, g->nodes[i]);
    for (unsigned i = 0; i < g->count; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            put_graph(d, w->child);
        for (unsigned k = 0; w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count; k++)
            put_graph(d, w->branches.bodies[k]);
    }
    fputs("}\n", d->file);
}

ptxiResult ptxiGraphDebugDotPrint(ptxiGraph hGraph, const char *path, unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (!path)
        return PTXI_ERROR_INVALID_VALUE;
    struct dot d = { .file = fopen(path, "w"), .flags = flags };

    if (!d.file)
        return PTXI_ERROR_OPERATING_SYSTEM;
    fputs("digraph dot {\n", d.file);
    put_graph(&d, hGraph);
    fputs("}\n", d.file);
    bool written = !ferror(d.file);

    return !fclose(d.file) && written ? PTXI_SUCCESS : PTXI_ERROR_OPERATING_SYSTEM;
}
