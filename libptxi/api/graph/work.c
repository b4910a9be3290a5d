#include "api/graph/work.h"

#include "api/memory/stream_memory.h"
#include "api/module/library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_event(const struct ptxi_work *w)
{
    return w->type == PTXI_GRAPH_NODE_TYPE_WAIT_EVENT || w->type == PTXI_GRAPH_NODE_TYPE_EVENT_RECORD;
}

bool ptxi_work_is_memory(const struct ptxi_work *w)
{
    return w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC || w->type == PTXI_GRAPH_NODE_TYPE_MEM_FREE;
}

static void free_params(struct ptxi_work *w)
{
    free(w->params);
    free(w->pointers);
}

/* Allocates the parameters of a kernel. False: no memory. */
static bool make_params(struct ptxi_work *w)
{
    w->params = calloc(1, w->bytes + 1);
    w->pointers = calloc(w->count + 1, sizeof *w->pointers);
    if (w->params && w->pointers)
        return true;
    free_params(w);
    return false;
}

void ptxi_work_free_simple(struct ptxi_work *w)
{
    assert(w->type != PTXI_GRAPH_NODE_TYPE_GRAPH && w->type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL);
    if (w->type == PTXI_GRAPH_NODE_TYPE_KERNEL)
        free_params(w);
    if (is_event(w))
        ptxi_event_unref(w->event);
    if (ptxi_work_is_memory(w))
        ptxi_graph_memory_unref(w->memory);
    if (w->type == PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        free(w->operations.paramArray);
}

static bool duplicate_operations(struct ptxi_work *w)
{
    ptxiStreamBatchMemOpParams *from = w->operations.paramArray;
    size_t bytes = w->operations.count * sizeof *from;

    w->operations.paramArray = malloc(bytes + 1);
    if (w->operations.paramArray && bytes)
        memcpy(w->operations.paramArray, from, bytes);
    return w->operations.paramArray;
}

bool ptxi_work_duplicate_simple(struct ptxi_work *to, const struct ptxi_work *from)
{
    assert(from->type != PTXI_GRAPH_NODE_TYPE_GRAPH && from->type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL);
    *to = *from;
    if (is_event(from))
        ptxi_event_ref(from->event);
    if (ptxi_work_is_memory(from))
        ptxi_graph_memory_ref(from->memory);
    if (from->type == PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return duplicate_operations(to);
    if (from->type != PTXI_GRAPH_NODE_TYPE_KERNEL)
        return true;
    if (!make_params(to))
        return false;
    memcpy(to->params, from->params, from->bytes);
    for (unsigned i = 0; i < from->count; i++)
        to->pointers[i] = to->params + ((unsigned char *)from->pointers[i] - from->params);
    return true;
}

/* ---- from parameters of nodes */

static ptxiResult resolve_kernel(const PTXI_KERNEL_NODE_PARAMS *p, ptxiFunction *f)
{
    if (p->func) {
        *f = p->func;
        return ptxi_api_function(*f);
    }
    *f = (ptxiFunction)(void *)p->kern;
    return ptxi_resolve_function(f);
}

ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p)
{
    const struct ptxi_code *code;
    ptxiFunction f;
    ptxiResult r = p ? resolve_kernel(p, &f) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    code = ptxi_module_code(f->module, f->func->index, false);
    struct ptxi_launch_shape shape = { .grid = { p->gridDimX, p->gridDimY, p->gridDimZ },
                                       .block = { p->blockDimX, p->blockDimY, p->blockDimZ },
                                       .shared = p->sharedMemBytes };

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
        free_params(w);
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
    ptxi_event_ref(e);
    *w = (struct ptxi_work){ .type = type, .event = e };
    return PTXI_SUCCESS;
}

ptxiResult ptxi_work_allocate(struct ptxi_work *w, ptxiContext ctx, PTXI_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_MEM_ALLOC };
    ptxiResult r = ptxi_graph_memory_create(ctx, p, &w->memory);

    if (!r)
        p->dptr = ptxi_graph_memory_params(w->memory)->dptr;
    return r;
}

ptxiResult ptxi_work_free_memory(struct ptxi_work *w, ptxiDevicePtr dptr)
{
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_MEM_FREE, .memory = ptxi_graph_memory_find(dptr) };
    return w->memory ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static ptxiResult check_operation(const ptxiStreamBatchMemOpParams *p)
{
    bool wide = p->operation == PTXI_STREAM_MEM_OP_WAIT_VALUE_64 || p->operation == PTXI_STREAM_MEM_OP_WRITE_VALUE_64;

    if (p->operation == PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
        return PTXI_ERROR_NOT_SUPPORTED;
    if (p->operation == PTXI_STREAM_MEM_OP_BARRIER)
        return PTXI_SUCCESS;
    return p->operation >= PTXI_STREAM_MEM_OP_WAIT_VALUE_32 && p->operation < PTXI_STREAM_MEM_OP_BARRIER &&
           p->address % (wide ? 8 : 4) == 0 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxi_work_operations(struct ptxi_work *w, const PTXI_BATCH_MEM_OP_NODE_PARAMS *p)
{
    ptxiResult r = PTXI_SUCCESS;

    if (!p || p->count > PTXI_MAX_MEMORY_OPERATIONS || (p->count && !p->paramArray) || p->flags)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < p->count && !r; i++)
        r = check_operation(&p->paramArray[i]);
    if (r)
        return r;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP, .operations = *p };
    return duplicate_operations(w) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

/* ---- descriptions of launches */

ptxiResult ptxi_work_launch(struct ptxi_work *w, const struct ptxi_launch_description *d)
{
    const struct ptxi_launch_shape *s = &d->shape;
    ptxiResult r = ptxi_work_kernel(w,
                                    &(PTXI_KERNEL_NODE_PARAMS){ d->function, s->grid[0], s->grid[1], s->grid[2],
                                                                s->block[0], s->block[1],
                                                                   s->block[2], s->shared, d->params, d->extra, NULL,
                                                                   NULL });

    if (r)
        return r;
    memcpy(w->attributes.cluster, s->cluster, sizeof w->attributes.cluster);
    w->attributes.cooperative = s->cooperative;
    return PTXI_SUCCESS;
}

struct ptxi_launch_description ptxi_work_description(struct ptxi_work *w, void *extra[PTXI_WORK_EXTRA])
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    const unsigned *cluster = w->attributes.cluster;
    struct ptxi_launch_description d = {
        .function = k->func, .extra = w->bytes ? extra : NULL,
        .shape = { .grid = { k->gridDimX, k->gridDimY, k->gridDimZ },
                   .block = { k->blockDimX, k->blockDimY, k->blockDimZ },
                   .shared = k->sharedMemBytes, .cooperative = w->attributes.cooperative },
    };

    assert(w->type == PTXI_GRAPH_NODE_TYPE_KERNEL);
    if (cluster[0])
        memcpy(d.shape.cluster, cluster, sizeof d.shape.cluster);
    extra[0] = PTXI_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = w->params;
    extra[2] = PTXI_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = &w->bytes;
    extra[4] = PTXI_LAUNCH_PARAM_END;
    return d;
}
