/* ptxiAsm: modules of templates, kept for the next time, and their launches. */
#include "api/asm/asm.h"

#include "api/memory/heap.h"
#include "api/module/module.h"
#include "exec/memmap/memmap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One block as long as it can be, so that its threads may work together; beyond, blocks for all workers. */
enum { BLOCK = 256, KEPT = 64, ALIGN = 16 };

static const char file[] = "<asm>";

/* ---- modules that were made */

struct ptxi_asm_entry {
    struct ptxi_asm_entry *next;
    char *text, *module_text;
    unsigned dialect;
    ptxiModule module;
    unsigned users; /* calls that are under way; under the context's lock, as the list */
};

static void free_entry(struct ptxi_asm_entry *e)
{
    free(e->text);
    free(e->module_text);
    free(e);
}

void ptxi_api_free_asms(ptxiContext ctx)
{
    while (ctx->asms) {
        struct ptxi_asm_entry *e = ctx->asms;

        ctx->asms = e->next;
        free_entry(e);
    }
}

/* The entry, moved to the front of the list and in use, or NULL. */
static struct ptxi_asm_entry *find(ptxiContext ctx, const struct ptxi_asm *a)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_asm_entry **p = &ctx->asms, *e;

    while (*p && ((*p)->dialect != ctx->dialect || strcmp((*p)->text, a->text) || strcmp((*p)->module_text, a->module.s)))
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

/* Take the last entry that nobody uses off a list that has become too long. */
static struct ptxi_asm_entry *surplus(ptxiContext ctx)
{
    struct ptxi_asm_entry **last = NULL, *e = NULL;
    unsigned n = 0;

    for (struct ptxi_asm_entry **p = &ctx->asms; *p; p = &(*p)->next, n++)
        if (!(*p)->users)
            last = p;
    if (n > KEPT && last) {
        e = *last;
        *last = e->next;
    }
    return e;
}

static void keep(ptxiContext ctx, struct ptxi_asm_entry *e)
{
    pthread_mutex_lock(&ctx->lock);
    e->next = ctx->asms;
    ctx->asms = e;
    struct ptxi_asm_entry *old = surplus(ctx);
    pthread_mutex_unlock(&ctx->lock);
    if (old) {
        ptxi_module_free(old->module);
        free_entry(old);
    }
}

static void release(ptxiContext ctx, struct ptxi_asm_entry *e)
{
    pthread_mutex_lock(&ctx->lock);
    e->users--;
    pthread_mutex_unlock(&ctx->lock);
}

/* Reports and messages are about the template: whatever says a place says one of the template, and quotes it. */
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

static ptxiResult load(ptxiContext ctx, const struct ptxi_asm *a, struct ptxi_diag *diags, ptxiModule *module)
{
    char *text = strdup(a->module.s);
    struct ptxi_text one = { file, text, a->module.len, 1 };
    ptxiResult r = text ? ptxi_module_create(ctx, text, &(struct ptxi_texts){ &one, 1 }, &(struct ptxi_module_options){ .name = file }, diags, module)
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

static ptxiResult make(ptxiContext ctx, const struct ptxi_asm *a, struct ptxi_diag *diags, struct ptxi_asm_entry **entry)
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
        r = load(ctx, a, diags, &e->module);
    if (r && e)
        free_entry(e);
    if (r)
        return r;
    keep(ctx, e);
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
    uint64_t at[PTXI_ASM_OPERANDS + 1]; /* addresses of the operands in device memory, one behind the other */
    uint64_t first;                     /* thread of a launch */
    void *params[PTXI_ASM_OPERANDS + 1];
    struct ptxi_heap_block *memory;
};

static bool lay_out(struct call *c, size_t *bytes)
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

static ptxiResult bring(ptxiContext ctx, struct call *c)
{
    size_t bytes;
    unsigned n = 1;

    if (!lay_out(c, &bytes))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = ptxi_heap_alloc(ctx, bytes ? bytes : 1, PTXI_HEAP_DEVICE, PTXI_MEM_RWA, 0, &c->memory);

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

static void fetch(const struct call *c)
{
    for (unsigned i = 0; i < c->a->count; i++)
        if (c->a->operands[i].writes)
            memcpy(c->values[i], (const void *)(uintptr_t)c->at[i], c->threads * c->a->operands[i].size);
}

static ptxiResult launch(struct call *c, ptxiFunction f, ptxiStream stream)
{
    size_t block = c->threads <= PTXI_MAX_CTA_THREADS ? c->threads : BLOCK, rest = c->threads % block;
    ptxiResult r = PTXI_SUCCESS;

    for (c->first = 0; c->threads - c->first >= block && !r;) {
        size_t blocks = (c->threads - c->first) / block;

        blocks = blocks < 0x7fffffff ? blocks : 0x7fffffff;
        r = ptxiLaunchKernel(f, (unsigned)blocks, 1, 1, (unsigned)block, 1, 1, 0, stream, c->params, NULL);
        c->first += blocks * block;
    }
    if (rest && !r)
        r = ptxiLaunchKernel(f, 1, 1, 1, (unsigned)rest, 1, 1, 0, stream, c->params, NULL);
    return r;
}

/* In a stream of its own, so that the failures of other work stay with those who wait for it. */
static ptxiResult run(ptxiContext ctx, struct call *c, ptxiModule m)
{
    ptxiStream stream;
    ptxiResult r = bring(ctx, c), waited;

    if (r)
        return r;
    r = ptxiStreamCreate(&stream, PTXI_STREAM_NON_BLOCKING);
    if (!r) {
        r = launch(c, &m->kernels[0], stream);
        while ((waited = ptxiStreamSynchronize(stream)) == PTXI_ERROR_OUT_OF_MEMORY && ptxiStreamQuery(stream) == PTXI_ERROR_NOT_READY)
            ; /* memory is short for the moment, and the kernel is still running */
        r = r ? r : waited;
        ptxiStreamDestroy(stream);
    }
    if (!r)
        fetch(c);
    ptxi_heap_free(c->memory);
    return r;
}

static bool complete(const struct ptxi_asm *a, void *const *values)
{
    for (unsigned i = 0; i < a->count; i++)
        if (!values || !values[i])
            return false;
    return true;
}

static ptxiResult evaluate(ptxiContext ctx, struct ptxi_asm *a, size_t threads, void *const *values, struct ptxi_diag *diags)
{
    struct call c = { .a = a, .values = values, .threads = threads };
    struct ptxi_asm_entry *e;
    ptxiResult r = PTXI_SUCCESS;

    if (!complete(a, values))
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_asm_expand(a, values, ctx->profile->sm, diags))
        return diags->errors ? PTXI_ERROR_INVALID_PTX : PTXI_ERROR_OUT_OF_MEMORY;
    e = find(ctx, a);
    if (!e)
        r = make(ctx, a, diags, &e);
    if (r)
        return r;
    if (threads)
        r = run(ctx, &c, e->module);
    release(ctx, e);
    return r;
}

/* Constraints first, since how many operands there are depends on them. */
static ptxiResult begin(const char *text, const char *constraints, ptxiContext *ctx, struct ptxi_asm *a, struct ptxi_diag *diags)
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

static ptxiResult finish(ptxiContext ctx, struct ptxi_asm *a, size_t threads, void *const *values, struct ptxi_diag *diags)
{
    ptxiResult r = evaluate(ctx, a, threads, values, diags);

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
    ptxiResult r = begin(text, constraints, &ctx, &a, &diags);

    if (!r)
        r = finish(ctx, &a, threads, operands, &diags);
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
    ptxiResult r = begin(text, constraints, &ctx, &a, &diags);

    if (!r) {
        va_start(ap, constraints);
        for (unsigned i = 0; i < a.count; i++)
            operands[i] = va_arg(ap, void *);
        va_end(ap);
        r = finish(ctx, &a, 1, operands, &diags);
    }
    ptxi_arena_free(&arena);
    return r;
}
