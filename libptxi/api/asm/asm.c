/* ptxiAsm(): the cache of modules of templates, and their launches. */
#include "api/asm/asm_template.h"

#include "api/launch/launch.h"
#include "api/memory/heap.h"
#include "api/stream/stream.h"
#include "exec/memmap/memmap.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A launch has one block if the threads fit, so that they can cooperate. Otherwise it has blocks of BLOCK threads for
 * all workers. */
enum { BLOCK = 256, MAX_CACHED = 64, ALIGN = 16 };

static const char file[] = "<asm>";

/* ---- the cache */

struct ptxi_asm_entry {
    struct ptxi_asm_entry *next;
    char *text, *module_text;
    unsigned dialect;
    ptxiModule module;
    unsigned users; /* number of calls that use it; under the context's lock, like the list */
};

static void free_entry(struct ptxi_asm_entry *e)
{
    free(e->text);
    free(e->module_text);
    free(e);
}

void ptxi_asms_free_all(ptxiContext ctx)
{
    while (ctx->asms) {
        struct ptxi_asm_entry *e = ctx->asms;

        ctx->asms = e->next;
        free_entry(e);
    }
}

static bool is_entry_of(const struct ptxi_asm_entry *e, ptxiContext ctx, const struct ptxi_asm *a)
{
    return e->dialect == ctx->dialect && !strcmp(e->text, a->text) && !strcmp(e->module_text, a->module.s);
}

/* Finds the entry, marks it as used, and moves it to the front of the list. NULL if there is none. */
static struct ptxi_asm_entry *find_entry(ptxiContext ctx, const struct ptxi_asm *a)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_asm_entry **p = &ctx->asms, *e;

    while (*p && !is_entry_of(*p, ctx, a))
        p = &(*p)->next;
    e = *p;
    if (e) {
        *p = e->next;
        e->next = ctx->asms;
        ctx->asms = e;
        e->users++;
    }
    pthread_mutex_unlock(&ctx->lock);
    return e;
}

/* If the list is too long, removes the last entry that no call uses. */
static struct ptxi_asm_entry *evict_entry(ptxiContext ctx)
{
    struct ptxi_asm_entry **last = NULL, *e = NULL;
    unsigned n = 0;

    for (struct ptxi_asm_entry **p = &ctx->asms; *p; p = &(*p)->next, n++)
        if (!(*p)->users)
            last = p;
    if (n > MAX_CACHED && last) {
        e = *last;
        *last = e->next;
    }
    return e;
}

static void add_entry(ptxiContext ctx, struct ptxi_asm_entry *e)
{
    pthread_mutex_lock(&ctx->lock);
    e->next = ctx->asms;
    ctx->asms = e;
    struct ptxi_asm_entry *old = evict_entry(ctx);
    pthread_mutex_unlock(&ctx->lock);
    if (old) {
        ptxi_module_free(old->module);
        free_entry(old);
    }
}

static void release_entry(ptxiContext ctx, struct ptxi_asm_entry *e)
{
    pthread_mutex_lock(&ctx->lock);
    assert(e->users);
    e->users--;
    pthread_mutex_unlock(&ctx->lock);
}

/* Makes reports and messages refer to the template and quote it. */
static ptxiResult point_to_template(const struct ptxi_asm *a, ptxiModule m)
{
    char *text = strdup(a->text);
    struct ptxi_text *t = ARENA_NEW(&m->arena, struct ptxi_text, 1);

    if (!text || !t) {
        free(text);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < m->tree->func_count; i++) {
        struct ptxi_func *f = m->tree->funcs[i];

        f->loc = ptxi_asm_origin(a, f->loc);
        for (uint32_t k = 0; k < f->inst_count; k++) {
            struct ptxi_loc loc = ptxi_asm_origin(a, (struct ptxi_loc){ f->insts[k].line, f->insts[k].column, 1 });

            f->insts[k].line = loc.line;
            f->insts[k].column = (uint16_t)loc.col;
        }
    }
    free(m->text);
    m->text = text;
    *t = (struct ptxi_text){ m->name, text, strlen(text), 1 };
    m->texts = (struct ptxi_texts){ t, 1 };
    return PTXI_SUCCESS;
}

static ptxiResult load_module(ptxiContext ctx, const struct ptxi_asm *a, struct ptxi_diag *diags, ptxiModule *module)
{
    char *text = strdup(a->module.s);
    struct ptxi_text one = { file, text, a->module.len, 1 };
    ptxiResult r = text ? ptxi_module_create(ctx, text, &(struct ptxi_texts){ &one, 1 },
                                             &(struct ptxi_module_options){ .name = file }, diags, module)
                        : PTXI_ERROR_OUT_OF_MEMORY;

    if (r) {
        free(text);
        ptxi_asm_point(a, diags);
        return r;
    }
    r = point_to_template(a, *module);
    if (r)
        ptxi_module_free(*module);
    return r;
}

static ptxiResult make_entry(ptxiContext ctx, const struct ptxi_asm *a, struct ptxi_diag *diags,
                             struct ptxi_asm_entry **entry)
{
    struct ptxi_asm_entry *e = calloc(1, sizeof *e);
    ptxiResult r = PTXI_ERROR_OUT_OF_MEMORY;

    if (e) {
        e->text = strdup(a->text);
        e->module_text = strdup(a->module.s);
        e->dialect = ctx->dialect;
        e->users = 1;
    }
    if (e && e->text && e->module_text)
        r = load_module(ctx, a, diags, &e->module);
    if (r && e)
        free_entry(e);
    if (r)
        return r;
    add_entry(ctx, e);
    *entry = e;
    return PTXI_SUCCESS;
}

/* ---- a call */

static void store_diags(const struct ptxi_diag *diags, const char *text, const char *name)
{
    struct ptxi_text one = { name, text, strlen(text), 1 };

    ptxi_api_store_diags(diags, &(struct ptxi_texts){ &one, 1 });
}

struct call {
    const struct ptxi_asm *a;
    void *const *values;
    size_t threads;
    uint64_t at[PTXI_ASM_OPERANDS + 1]; /* addresses of the operands in device memory, in order */
    uint64_t first;                     /* first thread of a launch */
    void *params[PTXI_ASM_OPERANDS + 1];
    struct ptxi_heap_block *memory;
};

static bool layout_operands(struct call *c, size_t *bytes)
{
    *bytes = 0;
    for (unsigned i = 0; i < c->a->count; i++) {
        size_t n;

        c->at[i] = *bytes;
        if (__builtin_mul_overflow(c->threads, (size_t)c->a->operands[i].size, &n) || n > SIZE_MAX / 2 - ALIGN ||
            __builtin_add_overflow(*bytes, (n + ALIGN - 1) / ALIGN * ALIGN, bytes))
            return false;
    }
    return true;
}

static ptxiResult copy_in(ptxiContext ctx, struct call *c)
{
    size_t bytes;
    unsigned n = 1;

    if (!layout_operands(c, &bytes))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = ptxi_heap_alloc(ctx, bytes ? bytes : 1, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &c->memory);

    if (r)
        return r;
    c->params[0] = &c->first;
    for (unsigned i = 0; i < c->a->count; i++) {
        const struct ptxi_asm_operand *o = &c->a->operands[i];

        c->at[i] += c->memory->base;
        if (o->size)
            c->params[n++] = &c->at[i];
        if (o->size && o->reads)
            memcpy((void *)(uintptr_t)c->at[i], c->values[i], c->threads * o->size);
    }
    return PTXI_SUCCESS;
}

static void copy_out(const struct call *c)
{
    for (unsigned i = 0; i < c->a->count; i++)
        if (c->a->operands[i].writes)
            memcpy(c->values[i], (const void *)(uintptr_t)c->at[i], c->threads * c->a->operands[i].size);
}

static ptxiResult submit_launch(struct call *c, ptxiFunction f, struct ptxiStream_st *stream, size_t blocks,
                                size_t block)
{
    struct ptxi_launch_description d = {
        .function = f, .params = c->params,
        .shape = { .grid = { (unsigned)blocks, 1, 1 }, .block = { (unsigned)block, 1, 1 } },
    };
    struct ptxi_item *it;
    ptxiResult r = ptxi_launch_make(stream->ctx, &d, &it);

    return r ? r : ptxi_queue_submit(stream, it, PTXI_SUBMIT_ASYNC, NULL);
}

static ptxiResult launch_all(struct call *c, ptxiFunction f, struct ptxiStream_st *stream)
{
    size_t block = c->threads <= PTXI_MAX_CTA_THREADS ? c->threads : BLOCK, rest = c->threads % block;
    ptxiResult r = PTXI_SUCCESS;

    for (c->first = 0; c->threads - c->first >= block && !r;) {
        size_t blocks = (c->threads - c->first) / block;

        blocks = blocks < 0x7fffffff ? blocks : 0x7fffffff;
        r = submit_launch(c, f, stream, blocks, block);
        c->first += blocks * block;
    }
    if (rest && !r)
        r = submit_launch(c, f, stream, 1, rest);
    return r;
}

/* Runs in a stream of its own, so that it does not take the failures of other work. */
static ptxiResult run_module(ptxiContext ctx, struct call *c, ptxiModule m)
{
    struct ptxiStream_st *stream;
    ptxiResult r = copy_in(ctx, c), waited;

    if (r)
        return r;
    r = ptxi_stream_create(&ctx->streams, PTXI_STREAM_NON_BLOCKING, PTXI_LEAST_PRIORITY, &stream);
    if (!r) {
        r = launch_all(c, &m->kernels[0], stream);
        waited = ptxi_stream_wait(ctx, stream);
        r = r ? r : waited;
        ptxi_stream_disown(stream);
    }
    if (!r)
        copy_out(c);
    ptxi_heap_free(c->memory);
    return r;
}

static bool has_all_operands(const struct ptxi_asm *a, void *const *values)
{
    for (unsigned i = 0; i < a->count; i++)
        if (!values || !values[i])
            return false;
    return true;
}

static ptxiResult evaluate_template(ptxiContext ctx, struct ptxi_asm *a, size_t threads, void *const *values,
                           struct ptxi_diag *diags)
{
    struct call c = { .a = a, .values = values, .threads = threads };
    struct ptxi_asm_entry *e;
    ptxiResult r = PTXI_SUCCESS;

    if (!has_all_operands(a, values))
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_asm_expand(a, values, ctx->profile->sm, diags))
        return diags->errors ? PTXI_ERROR_INVALID_PTX : PTXI_ERROR_OUT_OF_MEMORY;
    e = find_entry(ctx, a);
    if (!e)
        r = make_entry(ctx, a, diags, &e);
    if (r)
        return r;
    if (threads)
        r = run_module(ctx, &c, e->module);
    release_entry(ctx, e);
    return r;
}

/* Reads the constraints first, because the number of operands depends on them. */
static ptxiResult begin_call(const char *text, const char *constraints, ptxiContext *ctx, struct ptxi_asm *a,
                        struct ptxi_diag *diags)
{
    ptxiResult r = ptxi_api_context(ctx);

    if (r)
        return r;
    if (!text || !constraints || strlen(text) > INT32_MAX)
        return PTXI_ERROR_INVALID_VALUE;
    *a = (struct ptxi_asm){ .text = text };
    ptxi_str_init(&a->module, NULL);
    ptxi_str_init(&a->origin, NULL);
    bool ok = ptxi_asm_constraints(a, constraints, diags);

    store_diags(diags, constraints, "<constraints>");
    return ok ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static ptxiResult finish_call(ptxiContext ctx, struct ptxi_asm *a, size_t threads, void *const *values,
                         struct ptxi_diag *diags)
{
    ptxiResult r = evaluate_template(ctx, a, threads, values, diags);

    store_diags(diags, a->text, file);
    ptxi_asm_free(a);
    return r;
}

ptxiResult ptxiAsmArrays(const char *text, const char *constraints, size_t threads, void *const *operands)
{
    API_CALL;
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_asm a;
    ptxiContext ctx;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    ptxiResult r = begin_call(text, constraints, &ctx, &a, &diags);

    if (!r)
        r = finish_call(ctx, &a, threads, operands, &diags);
    ptxi_arena_free(&arena);
    return r;
}

ptxiResult ptxiAsm(const char *text, const char *constraints, ...)
{
    API_CALL;
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_asm a;
    ptxiContext ctx;
    void *operands[PTXI_ASM_OPERANDS];
    va_list ap;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    ptxiResult r = begin_call(text, constraints, &ctx, &a, &diags);

    if (!r) {
        va_start(ap, constraints);
        for (unsigned i = 0; i < a.count; i++)
            operands[i] = va_arg(ap, void *);
        va_end(ap);
        r = finish_call(ctx, &a, 1, operands, &diags);
    }
    ptxi_arena_free(&arena);
    return r;
}
