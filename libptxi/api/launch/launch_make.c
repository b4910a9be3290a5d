/* Makes launches from their descriptions. */
#include "api/launch/launch.h"

#include "api/memory/heap.h"
#include "api/module/symbols.h"

#include "exec/memmap/memmap.h"
#include "exec/track/track.h"

#include <string.h>

enum { WORKSPACE = 64, CTA_MEMORY_UNIT = 1024 };

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
    if (l->cta_memory)
        ptxi_heap_free(l->cta_memory);
    if (l->exec)
        ptxi_exec_unref(l->exec);
    ptxi_bindings_unref(l->bindings);
    ptxi_handle_unref(&l->module->handle);
    ptxi_tracker_unref(l->tracker);
    ptxi_close_ranges(&l->open);
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

/* PTX ISA, "Special Registers: %perctamemorysize": the size of a slice is a multiple of 1024. A CTA always has memory,
 * even if the kernel requires none. */
static ptxiResult make_cta_memory(struct ptxi_launch *l, const struct ptxi_func *f, const struct ptxi_launch_shape *s)
{
    uint64_t pitch = ((uint64_t)f->minperctamemory + CTA_MEMORY_UNIT - 1) / CTA_MEMORY_UNIT * CTA_MEMORY_UNIT, bytes;
    ptxiResult r;

    pitch = pitch ? pitch : CTA_MEMORY_UNIT;
    if (pitch > UINT32_MAX ||
        __builtin_mul_overflow((uint64_t)s->grid[0] * s->grid[1], pitch, &bytes) ||
        __builtin_mul_overflow(bytes, s->grid[2], &bytes) || bytes > SIZE_MAX)
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = ptxi_heap_alloc(l->ctx, (size_t)bytes, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &l->cta_memory);
    if (r)
        return r;
    l->grid.cta_memory = l->cta_memory->base;
    l->grid.cta_memory_pitch = (uint32_t)pitch;
    return PTXI_SUCCESS;
}

static ptxiResult prepare_launch(struct ptxi_launch *l, const struct ptxi_launch_description *d,
                                 const struct ptxi_code *code, unsigned variant, size_t bytes)
{
    ptxiResult r;

    memset(l->params, 0, bytes);
    l->grid.params = l->params;
    r = ptxi_launch_params(d->function, d->params, d->extra, l->params, bytes);

    if (r || (r = ptxi_context_workers(l->ctx, &l->exec)))
        return r;
    if (d->shape.cooperative && (r = make_workspace(l)))
        return r;
    if (d->function->func->has_cta_memory && (r = make_cta_memory(l, d->function->func, &d->shape)))
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

/* How the context wants launches to run now. */
struct observers {
    bool counting, tracking;
    unsigned check;   /* PTXI_VARIANT_CHECK... */
    unsigned variant; /* all of them, as variant of the bytecode */
};

static struct observers observers_of(ptxiContext ctx)
{
    struct observers o;

    pthread_mutex_lock(&ctx->lock);
    o.counting = ctx->counting;
    o.tracking = ctx->tracker;
    o.check = ptxi_launch_check_variant(ctx->sanitizer);
    o.variant = o.check;
    if (o.counting)
        o.variant |= PTXI_VARIANT_COUNTING;
    if (o.tracking)
        o.variant |= PTXI_VARIANT_TRACK;
    if (o.tracking && ptxi_tracker_reads(ctx->tracker))
        o.variant |= PTXI_VARIANT_TRACK_READS;
    pthread_mutex_unlock(&ctx->lock);
    return o;
}

static ptxiResult check_launch(ptxiFunction f, const struct ptxi_code *code, struct ptxi_launch_shape *s,
                               const struct observers *o)
{
    ptxiResult r;

    if (f->module->tree->address_size == 32 || (o->tracking && o->check))
        return PTXI_ERROR_NOT_SUPPORTED;
    if ((r = ptxi_launch_cluster(f, s, ptxi_launch_max_cluster(f))) || (r = ptxi_launch_check_shape(f, code, s)))
        return r;
    return s->window.count || o->tracking ? ptxi_launch_check_window(f, s, o->variant) : PTXI_SUCCESS;
}

/* Makes an item with a launch that has room for parameters. Takes over `bindings`, also on errors. */
static ptxiResult make_item(ptxiContext ctx, ptxiFunction f, struct ptxi_bindings *bindings, size_t param_bytes,
                            struct ptxi_item **item)
{
    ptxiResult r = ptxi_symbols_check_kernel(f, bindings);
    struct ptxi_item *it = NULL;

    if (!r && !(it = ptxi_item_create(sizeof(struct ptxi_launch) + param_bytes, run_launch, release_launch)))
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
    *item = it;
    return PTXI_SUCCESS;
}

static void set_observers(struct ptxi_launch *l, const struct observers *o)
{
    l->grid.counting = o->counting;
    l->checked = o->check != 0;
    pthread_mutex_lock(&l->ctx->lock); /* it may have changed, but then so has what the caller wants */
    l->tracker = o->tracking && l->ctx->tracker ? ptxi_tracker_ref(l->ctx->tracker) : NULL;
    pthread_mutex_unlock(&l->ctx->lock);
    l->grid.tracker = l->tracker;
}

ptxiResult ptxi_launch_make(ptxiContext ctx, struct ptxi_launch_description *d, struct ptxi_item **item)
{
    struct observers o = observers_of(ctx);
    ptxiFunction f = d->function;
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, o.variant);
    struct ptxi_bindings *bindings;
    ptxiResult r;

    if (!code)
        return ptxi_launch_no_code(f, o.variant);
    r = check_launch(f, code, &d->shape, &o);
    if (r)
        return r;
    bindings = ptxi_bindings_of(f->module);
    if (!bindings)
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = make_item(ctx, f, bindings, code->param_bytes, item);
    if (r)
        return r;
    struct ptxi_launch *l = ptxi_item_payload(*item);

    set_observers(l, &o);
    l->grid.graph = d->graph;
    l->run = d->run ? ptxi_graph_run_ref(d->run) : NULL;
    r = prepare_launch(l, d, code, o.variant, code->param_bytes);
    if (r) {
        ptxi_item_discard(*item);
        *item = NULL;
    }
    return r;
}
