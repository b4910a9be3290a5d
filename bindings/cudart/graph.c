/* Nodes of graphs with other parameters than those of the driver API: kernels and copies. */
#include "runtime.h"

/* ---- kernels */

static int to_driver_kernel(const struct kernel_node_params *p, PTXI_KERNEL_NODE_PARAMS *d)
{
    ptxiFunction kernel;
    int error;

    if (!p)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxi_runtime_find_kernel(p->func, &kernel);
    *d = (PTXI_KERNEL_NODE_PARAMS){
        .gridDimX = p->gridDim.x,
        .gridDimY = p->gridDim.y,
        .gridDimZ = p->gridDim.z,
        .blockDimX = p->blockDim.x,
        .blockDimY = p->blockDim.y,
        .blockDimZ = p->blockDim.z,
        .sharedMemBytes = p->sharedMemBytes,
        .kernelParams = p->kernelParams,
        .extra = p->extra,
    };
    if (!error && ptxiKernelGetFunction(&d->func, (ptxiKernel)kernel))
        d->func = kernel;
    return error;
}

static struct kernel_node_params from_driver_kernel(const PTXI_KERNEL_NODE_PARAMS *d)
{
    return (struct kernel_node_params){
        .func = ptxi_runtime_find_host_function(d->func, d->kern),
        .gridDim = { d->gridDimX, d->gridDimY, d->gridDimZ },
        .blockDim = { d->blockDimX, d->blockDimY, d->blockDimZ },
        .sharedMemBytes = d->sharedMemBytes,
        .kernelParams = d->kernelParams,
        .extra = d->extra,
    };
}

int ptxi_runtime_add_kernel_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                                 size_t count, const struct kernel_node_params *params)
{
    PTXI_KERNEL_NODE_PARAMS d;
    int error = to_driver_kernel(params, &d);

    return error ? error : (int)ptxiGraphAddKernelNode(node, graph, dependencies, count, &d);
}

int ptxi_runtime_get_kernel_node(ptxiGraphNode node, struct kernel_node_params *params)
{
    PTXI_KERNEL_NODE_PARAMS d;
    int error;

    if (!params)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiGraphKernelNodeGetParams(node, &d);
    if (!error)
        *params = from_driver_kernel(&d);
    return error;
}

int ptxi_runtime_set_kernel_node(ptxiGraphNode node, const struct kernel_node_params *params)
{
    PTXI_KERNEL_NODE_PARAMS d;
    int error = to_driver_kernel(params, &d);

    return error ? error : (int)ptxiGraphKernelNodeSetParams(node, &d);
}

int ptxi_runtime_set_exec_kernel_node(ptxiGraphExec exec, ptxiGraphNode node, const struct kernel_node_params *params)
{
    PTXI_KERNEL_NODE_PARAMS d;
    int error = to_driver_kernel(params, &d);

    return error ? error : (int)ptxiGraphExecKernelNodeSetParams(exec, node, &d);
}

/* ---- copies */

int ptxi_runtime_add_copy_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies, size_t count,
                               const struct copy3d_params *params)
{
    PTXI_MEMCPY3D copy;
    int error = ptxi_runtime_to_driver_copy(params, &copy);

    return error ? error : (int)ptxiGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL);
}

int ptxi_runtime_get_copy_node(ptxiGraphNode node, struct copy3d_params *params)
{
    PTXI_MEMCPY3D copy;
    int error;

    if (!params)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiGraphMemcpyNodeGetParams(node, &copy);
    return error ? error : ptxi_runtime_from_driver_copy(&copy, params);
}

int ptxi_runtime_set_copy_node(ptxiGraphNode node, const struct copy3d_params *params)
{
    PTXI_MEMCPY3D copy;
    int error = ptxi_runtime_to_driver_copy(params, &copy);

    return error ? error : (int)ptxiGraphMemcpyNodeSetParams(node, &copy);
}

int ptxi_runtime_set_exec_copy_node(ptxiGraphExec exec, ptxiGraphNode node, const struct copy3d_params *params)
{
    PTXI_MEMCPY3D copy;
    int error = ptxi_runtime_to_driver_copy(params, &copy);

    return error ? error : (int)ptxiGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL);
}

/* A linear copy is a box of one row. */
static int describe_linear_copy(const struct linear_copy *c, PTXI_MEMCPY3D *copy)
{
    struct copy3d_params p = {
        .srcPtr = { (void *)(uintptr_t)c->src, c->bytes, c->bytes, 1 },
        .dstPtr = { (void *)(uintptr_t)c->dst, c->bytes, c->bytes, 1 },
        .extent = { c->bytes, 1, 1 },
        .kind = (enum copy_kind)c->kind,
    };
    ptxiDevicePtr address;
    int error;

    if (c->symbol) {
        const bool to_symbol = !c->dst;

        if (!c->dst && !c->src)
            return PTXI_ERROR_INVALID_VALUE;
        error = ptxi_runtime_symbol_range(c->symbol, c->bytes, c->offset, c->kind, to_symbol, &address);
        if (error)
            return error;
        *(to_symbol ? &p.dstPtr.ptr : &p.srcPtr.ptr) = (void *)address;
    }
    return ptxi_runtime_to_driver_copy(&p, copy);
}

int ptxi_runtime_add_linear_copy_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                                      size_t count, struct linear_copy c)
{
    PTXI_MEMCPY3D copy;
    int error = describe_linear_copy(&c, &copy);

    return error ? error : (int)ptxiGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL);
}

int ptxi_runtime_set_linear_copy_node(ptxiGraphNode node, struct linear_copy c)
{
    PTXI_MEMCPY3D copy;
    int error = describe_linear_copy(&c, &copy);

    return error ? error : (int)ptxiGraphMemcpyNodeSetParams(node, &copy);
}

int ptxi_runtime_set_exec_linear_copy_node(ptxiGraphExec exec, ptxiGraphNode node, struct linear_copy c)
{
    PTXI_MEMCPY3D copy;
    int error = describe_linear_copy(&c, &copy);

    return error ? error : (int)ptxiGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL);
}

/* ---- nodes of any type */

static int to_driver_node(const struct graph_node_params *p, ptxiGraphNodeParams *d)
{
    if (!p || (unsigned)p->type > PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        return PTXI_ERROR_INVALID_VALUE;
    *d = (ptxiGraphNodeParams){ .type = p->type };
    switch (p->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL:
        return to_driver_kernel(&p->value.kernel, &d->value.kernel);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY:
        return ptxi_runtime_to_driver_copy(&p->value.copy.copyParams, &d->value.memcpy.copyParams);
    default:
        d->value = p->value.other;
        return 0;
    }
}

int ptxi_runtime_add_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                          const ptxiGraphEdgeData *data, size_t count, struct graph_node_params *params)
{
    ptxiGraphNodeParams d;
    int error = to_driver_node(params, &d);

    if (!error)
        error = ptxiGraphAddNode(node, graph, dependencies, data, count, &d);
    /* The bodies of conditional nodes, and the addresses of allocations, are results. */
    if (!error && params->type != PTXI_GRAPH_NODE_TYPE_KERNEL && params->type != PTXI_GRAPH_NODE_TYPE_MEMCPY)
        params->value.other = d.value;
    return error;
}

int ptxi_runtime_set_node(ptxiGraphNode node, struct graph_node_params *params)
{
    ptxiGraphNodeParams d;
    int error = to_driver_node(params, &d);

    return error ? error : (int)ptxiGraphNodeSetParams(node, &d);
}

int ptxi_runtime_set_exec_node(ptxiGraphExec exec, ptxiGraphNode node, struct graph_node_params *params)
{
    ptxiGraphNodeParams d;
    int error = to_driver_node(params, &d);

    return error ? error : (int)ptxiGraphExecNodeSetParams(exec, node, &d);
}

/* ---- executable graphs */

int ptxi_runtime_instantiate(ptxiGraphExec *exec, ptxiGraph graph, PTXI_GRAPH_INSTANTIATE_PARAMS *params,
                             bool per_thread_streams)
{
    PTXI_GRAPH_INSTANTIATE_PARAMS p;
    int error;

    if (!params)
        return PTXI_ERROR_INVALID_VALUE;
    p = *params;
    if (per_thread_streams)
        p.hUploadStream = per_thread(p.hUploadStream);
    error = ptxiGraphInstantiateWithParams(exec, graph, &p);
    p.hUploadStream = params->hUploadStream;
    *params = p;
    return error;
}

int ptxi_runtime_update_exec(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info)
{
    ptxiGraphExecUpdateResultInfo unused;

    return ptxiGraphExecUpdate(exec, graph, info ? info : &unused);
}
