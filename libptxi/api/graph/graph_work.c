/* What nodes of graphs do. */
#include "api/graph/graph.h"

#include <stdlib.h>
#include <string.h>

static bool is_event(const struct ptxi_work *w)
{
    return w->type == PTXI_GRAPH_NODE_TYPE_WAIT_EVENT || w->type == PTXI_GRAPH_NODE_TYPE_EVENT_RECORD;
}

static void free_params(struct ptxi_work *w)
{
    free(w->params);
    free(w->pointers);
}

/* Room for the parameters of a kernel; false: no memory. */
static bool make_params(struct ptxi_work *w)
{
    w->params = calloc(1, w->bytes + 1);
    w->pointers = calloc(w->count + 1, sizeof *w->pointers);
    if (w->params && w->pointers)
        return true;
    free_params(w);
    return false;
}

void ptxi_work_free(struct ptxi_work *w)
{
    if (w->type == PTXI_GRAPH_NODE_TYPE_KERNEL)
        free_params(w);
    if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        ptxi_graph_free(w->child);
    if (w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        ptxi_condition_free(&w->branches);
    if (is_event(w))
        ptxi_event_let_go(w->event);
}

bool ptxi_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from)
{
    *to = *from;
    if (from->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return (to->child = ptxi_graph_copy(from->child)) != NULL;
    if (from->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        return ptxi_condition_duplicate(&to->branches, &from->branches);
    if (is_event(from))
        ptxi_event_hold(from->event);
    if (from->type != PTXI_GRAPH_NODE_TYPE_KERNEL)
        return true;
    if (!make_params(to))
        return false;
    memcpy(to->params, from->params, from->bytes);
    for (unsigned i = 0; i < from->count; i++)
        to->pointers[i] = to->params + ((unsigned char *)from->pointers[i] - from->params);
    return true;
}

ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p)
{
    const struct ptxi_code *code;
    ptxiFunction f = !p ? NULL : p->func ? p->func : (ptxiFunction)(void *)p->kern;
    ptxiResult r = !p ? PTXI_ERROR_INVALID_VALUE : p->func ? ptxi_api_function(f) : ptxi_api_to_launch(&f);

    if (r)
        return r;
    code = ptxi_module_code(f->module, f->func->index, false);
    struct ptxi_launch_shape shape = { { p->gridDimX, p->gridDimY, p->gridDimZ }, { p->blockDimX, p->blockDimY, p->blockDimZ }, p->sharedMemBytes, { 0 }, false, { 0 } };

    if (code && ptxi_launch_check_shape(f, code, &shape))
        return PTXI_ERROR_INVALID_VALUE;
    memset(w, 0, sizeof *w);
    w->kernel = *p;
    w->kernel.func = f;
    w->kernel.ctx = NULL;
    w->type = PTXI_GRAPH_NODE_TYPE_KERNEL;
    w->bytes = ptxi_module_param_bytes(f);
    w->count = f->func->signature.param_count;
    if (!make_params(w))
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < w->count; i++)
        w->pointers[i] = w->params + ptxi_layout_param(f->func, i);
    r = ptxi_launch_params(f, p->kernelParams, p->extra, w->params, w->bytes);

    w->kernel.kernelParams = w->kernel.extra = NULL;
    if (r)
        ptxi_work_free(w);
    return r;
}

ptxiResult ptxi_work_copy(struct ptxi_work *w, const PTXI_MEMCPY3D *p)
{
    if (!p || !p->WidthInBytes || !p->Height || !p->Depth)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_MEMCPY, .copy = *p };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_set(struct ptxi_work *w, const PTXI_MEMSET_NODE_PARAMS *p)
{
    if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->width || !p->height)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_MEMSET, .set = *p };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_host(struct ptxi_work *w, const PTXI_HOST_NODE_PARAMS *p)
{
    if (!p || !p->fn)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_HOST, .host = *p };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_event(struct ptxi_work *w, ptxiGraphNodeType type, ptxiEvent e)
{
    if (!e)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r)
        return r;
    ptxi_event_hold(e);
    *w = (struct ptxi_work){ .type = type, .event = e };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_child(struct ptxi_work *w, ptxiGraph child)
{
    ptxiResult r = ptxi_graph_enter(child);

    if (r)
        return r;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_GRAPH, .child = ptxi_graph_copy(child) };
    if (w->child && ptxi_graph_publish(w->child))
        return PTXI_SUCCESS;
    ptxi_graph_free(w->child);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxi_work_make(struct ptxi_work *w, ptxiContext ctx, ptxiGraphNodeParams *params)
{
    ptxiGraphNodeParamsValue *p = &params->value;

    switch ((int)params->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return ptxi_work_kernel(w, &p->kernel);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return ptxi_work_copy(w, &p->memcpy.copyParams);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return ptxi_work_set(w, &p->memset);
    case PTXI_GRAPH_NODE_TYPE_HOST: return ptxi_work_host(w, &p->host);
    case PTXI_GRAPH_NODE_TYPE_GRAPH: return ptxi_work_child(w, p->graph.graph);
    case PTXI_GRAPH_NODE_TYPE_WAIT_EVENT: return ptxi_work_event(w, params->type, p->eventWait.event);
    case PTXI_GRAPH_NODE_TYPE_EVENT_RECORD: return ptxi_work_event(w, params->type, p->eventRecord.event);
    case PTXI_GRAPH_NODE_TYPE_CONDITIONAL: return ptxi_work_condition(w, ctx, &p->conditional);
    case PTXI_GRAPH_NODE_TYPE_EMPTY: *w = (struct ptxi_work){ .type = params->type }; return PTXI_SUCCESS;
    default: return PTXI_ERROR_NOT_SUPPORTED;
    }
}

static ptxiResult submit_kernel(struct ptxi_work *w, ptxiStream s)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    const unsigned *cluster = w->attributes.cluster;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, w->params, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &w->bytes, PTXI_LAUNCH_PARAM_END };

    ptxiLaunchAttribute a[2] = { { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = w->attributes.cooperative },
                                 { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { cluster[0], cluster[1], cluster[2] } } };
    ptxiLaunchConfig c = { k->gridDimX, k->gridDimY, k->gridDimZ, k->blockDimX, k->blockDimY, k->blockDimZ, k->sharedMemBytes, s, a,
                           cluster[0] ? 2 : 1 };

    return ptxiLaunchKernelEx(&c, k->func, NULL, w->bytes ? extra : NULL);
}

static ptxiResult submit_set(const PTXI_MEMSET_NODE_PARAMS *m, ptxiStream s)
{
    switch (m->elementSize) {
    case 1: return ptxiMemsetD2D8Async(m->dst, m->pitch, (unsigned char)m->value, m->width, m->height, s);
    case 2: return ptxiMemsetD2D16Async(m->dst, m->pitch, (unsigned short)m->value, m->width, m->height, s);
    default: return ptxiMemsetD2D32Async(m->dst, m->pitch, m->value, m->width, m->height, s);
    }
}

/* To a stream under capture as a node. */
static ptxiResult submit_event(const struct ptxi_work *w, ptxiStream s)
{
    ptxiStreamCaptureStatus status;
    ptxiResult r = ptxiStreamIsCapturing(s, &status);
    unsigned external = !r && status != PTXI_STREAM_CAPTURE_STATUS_NONE;

    if (r)
        return r;
    return w->type == PTXI_GRAPH_NODE_TYPE_EVENT_RECORD ? ptxiEventRecordWithFlags(w->event, s, external) : ptxiStreamWaitEvent(s, w->event, external);
}

ptxiResult ptxi_work_submit(struct ptxi_work *w, ptxiStream s)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return submit_kernel(w, s);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return ptxiMemcpy3DAsync(&w->copy, s);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return submit_set(&w->set, s);
    case PTXI_GRAPH_NODE_TYPE_HOST: return ptxiLaunchHostFunc(s, w->host.fn, w->host.userData);
    case PTXI_GRAPH_NODE_TYPE_WAIT_EVENT:
    case PTXI_GRAPH_NODE_TYPE_EVENT_RECORD: return submit_event(w, s);
    default: return PTXI_SUCCESS;
    }
}

ptxiResult ptxi_work_replace(struct ptxi_work *old, struct ptxi_work *w)
{
    if (old->type != w->type) {
        ptxi_work_free(w);
        return PTXI_ERROR_INVALID_VALUE;
    }
    ptxi_work_free(old);
    *old = *w;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_change(struct ptxi_work *old, struct ptxi_work *w)
{
    if (old->type == PTXI_GRAPH_NODE_TYPE_KERNEL && w->type == old->type)
        w->attributes = old->attributes;
    return ptxi_work_replace(old, w);
}
