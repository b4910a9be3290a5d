/* Makes launches from their descriptions. */
#include "api/launch/launch.h"

#include "api/memory/heap.h"
#include "api/module/symbols.h"

#include "exec/memmap/memmap.h"
#include "exec/track/track.h"

#include <string.h>

enum { WORKSPACE = 64 };

static ptxiResult run_launch(void *payload, struct ptxi_failure **failure)
{
    struct ptxi_launch *l = payload;
    ptxiResult r = ptxi_launch_run_grid(l, failure);

    r = r ? r : ptxi_pending_run(l, failure);
    if (r)
        ptxi_observe_failure(&(struct ptxi_failed_launch){
            .kernel = l->kernel, .grid = l->grid.grid, .block = l->grid.block, .shared = l->grid.dynamic_shared,
            .result = r, .report = *failure ? ptxi_failure_report(*failure) : NULL, .stack = l->stack,
        });
    return r;
}

static void release_launch(void *payload)
{
    struct ptxi_launch *l = payload;

    ptxi_pending_free(l);
    ptxi_graph_run_unref(l->run);
    if (l->workspace)
        ptxi_heap_free(l->workspace);
    if (l->exec)
        ptxi_exec_unref(l->exec);
    ptxi_bindings_unref(l->bindings);
    ptxi_handle_unref(&l->module->handle);
    ptxi_tracker_unref(l->tracker);
    ptxi_host_stack_free(l->stack);
}

/* ---- parameters */

static ptxiResult copy_params(const struct ptxi_func *f, void **params, unsigned char *to)
{
    for (uint32_t i = 0; i < f->signature.param_count; i++) {
        if (!params[i])
            return PTXI_ERROR_INVALID_VALUE;
        memcpy(to + ptxi_layout_param(f, i), params[i], f->signature.params[i]->size);
    }
    return PTXI_SUCCESS;
}

/* The `extra` form: key, value, key, value, end. */
static ptxiResult copy_extra(void **extra, unsigned char *to, size_t bytes)
{
    const void *buffer = NULL;
    const size_t *size = NULL;

    for (; *extra != PTXI_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == PTXI_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == PTXI_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return PTXI_ERROR_INVALID_VALUE;
    }
    if (!size || !*size || !buffer)
        return PTXI_ERROR_INVALID_VALUE;
    if (*size > bytes)
        return PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES;
    memcpy(to, buffer, *size);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_launch_params(ptxiFunction f, void **params, void **extra, unsigned char *to, size_t bytes)
{
    if (params && extra)
        return PTXI_ERROR_INVALID_VALUE;
    if (f->func->signature.param_count == 0)
        return PTXI_SUCCESS;
    if (params)
        return copy_params(f->func, params, to);
    return extra ? copy_extra(extra, to, bytes) : PTXI_ERROR_INVALID_VALUE;
}

/* ---- the launch */

/* The grid barrier of cooperative groups keeps its state in memory that %envreg1 and %envreg2 point to: its size, and
 * a counter that starts at 0. */
static ptxiResult make_workspace(struct ptxi_launch *l)
{
    ptxiResult r = ptxi_heap_alloc(l->ctx, WORKSPACE, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &l->workspace);

    if (r)
        return r;
    *(uint32_t *)(uintptr_t)l->workspace->base = WORKSPACE;
    return PTXI_SUCCESS;
}

static ptxiResult prepare_launch(struct ptxi_launch *l, const struct ptxi_launch_description *d,
                                 const struct ptxi_code *code,
                          unsigned variant, size_t bytes)
{
    ptxiResult r;

    memset(l->params, 0, bytes);
    l->grid.params = l->params;
    r = ptxi_launch_params(d->function, d->params, d->extra, l->params, bytes);

    if (r || (r = ptxi_context_workers(l->ctx, &l->exec)))
        return r;
    if (d->shape.cooperative && (r = make_workspace(l)))
        return r;
    l->grid.program = ptxi_module_program(d->function->module, variant);
    if (!l->grid.program)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (atomic_load(&l->ctx->on_fault) == PTXI_ON_FAULT_REPORT &&
        !(l->grid.fault_log = ptxi_module_fault_log(l->module)))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_launch_fill_grid(l, code, &d->shape);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_launch_make(ptxiContext ctx, struct ptxi_launch_description *d, struct ptxi_item **item)
{
    ptxiFunction f = d->function;
    struct ptxi_launch_shape *s = &d->shape;
    ptxiResult r;

    pthread_mutex_lock(&ctx->lock);
    bool counting = ctx->counting;
    unsigned check = ptxi_launch_check_variant(ctx->sanitizer);
    bool tracking = ctx->tracker, reading = tracking && ptxi_tracker_reads(ctx->tracker);
    pthread_mutex_unlock(&ctx->lock);
    unsigned variant = (counting ? PTXI_VARIANT_COUNTING : 0) | check | (tracking ? PTXI_VARIANT_TRACK : 0) |
                       (reading ? PTXI_VARIANT_TRACK_READS : 0);
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, variant);

    if (!code)
        return ptxi_launch_no_code(f, variant);
    if (f->module->tree->address_size == 32 || (tracking && check))
        return PTXI_ERROR_NOT_SUPPORTED;
    if ((r = ptxi_launch_cluster(f, s, ptxi_launch_max_cluster(f))) || (r = ptxi_launch_check_shape(f, code, s)))
        return r;
    if ((s->window.count || tracking) && (r = ptxi_launch_check_window(f, s, variant)))
        return r;
    struct ptxi_bindings *bindings = ptxi_bindings_of(f->module);

    if (!bindings)
        return PTXI_ERROR_OUT_OF_MEMORY;
    size_t bytes = code->param_bytes;
    struct ptxi_item *it = NULL;

    r = ptxi_symbols_check_kernel(f, bindings);
    if (!r && !(it = ptxi_item_create(sizeof(struct ptxi_launch) + bytes, run_launch, release_launch)))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    if (r) {
        ptxi_bindings_unref(bindings);
        return r;
    }
    struct ptxi_launch *l = ptxi_item_payload(it);

    memset(l, 0, sizeof *l);
    ptxi_pending_init(l);
    l->ctx = ctx;
    l->module = f->module;
    l->bindings = bindings;
    ptxi_handle_ref(&l->module->handle);
    l->kernel = f->func->name->s;
    l->grid.counting = counting;
    l->checked = check != 0;
    pthread_mutex_lock(&ctx->lock); /* it may have changed, but then so has what the caller wants */
    l->tracker = tracking && ctx->tracker ? ptxi_tracker_ref(ctx->tracker) : NULL;
    pthread_mutex_unlock(&ctx->lock);
    l->grid.tracker = l->tracker;
    l->grid.graph = d->graph;
    l->run = d->run ? ptxi_graph_run_ref(d->run) : NULL;
    r = prepare_launch(l, d, code, variant, bytes);
    if (r) {
        ptxi_item_discard(it);
        return r;
    }
    *item = it;
    return PTXI_SUCCESS;
}
