/* What nodes of graphs do. */
#include "api/graph.h"

#include <stdlib.h>
#include <string.h>

void ptxi_work_free(struct ptxi_work *w)
{
    if (w->type == PTXI_GRAPH_NODE_TYPE_KERNEL)
        free(w->params);
    if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        ptxi_graph_free(w->child);
    if (w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        ptxi_condition_free(&w->branches);
}

bool ptxi_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from)
{
    *to = *from;
    if (from->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return (to->child = ptxi_graph_copy(from->child)) != NULL;
    if (from->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        return ptxi_condition_duplicate(&to->branches, &from->branches);
    if (from->type != PTXI_GRAPH_NODE_TYPE_KERNEL)
        return true;
    to->params = malloc(from->bytes + 1);
    if (to->params)
        memcpy(to->params, from->params, from->bytes);
    return to->params;
}

ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p)
{
    const struct ptxi_code *code;

    if (!p)
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_function_valid(p->func))
        return PTXI_ERROR_INVALID_HANDLE;
    code = ptxi_module_code(p->func->module, p->func->func->index, false);
    struct ptxi_launch_shape shape = { { p->gridDimX, p->gridDimY, p->gridDimZ }, { p->blockDimX, p->blockDimY, p->blockDimZ }, p->sharedMemBytes, { 0 }, false, { 0 } };

    if (code && ptxi_launch_check_shape(p->func, code, &shape))
        return PTXI_ERROR_INVALID_VALUE;
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

static ptxiResult submit_kernel(struct ptxi_work *w, ptxiStream s)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, w->params, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &w->bytes, PTXI_LAUNCH_PARAM_END };

    ptxiLaunchAttribute a[2] = { { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = w->cooperative },
                                 { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { w->cluster[0], w->cluster[1], w->cluster[2] } } };
    ptxiLaunchConfig c = { k->gridDimX, k->gridDimY, k->gridDimZ, k->blockDimX, k->blockDimY, k->blockDimZ, k->sharedMemBytes, s, a,
                           w->cluster[0] ? 2 : 1 };

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

ptxiResult ptxi_work_submit(struct ptxi_work *w, ptxiStream s)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return submit_kernel(w, s);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return ptxiMemcpy3DAsync(&w->copy, s);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return submit_set(&w->set, s);
    case PTXI_GRAPH_NODE_TYPE_HOST: return ptxiLaunchHostFunc(s, w->host.fn, w->host.userData);
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
