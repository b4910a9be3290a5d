/* Gives a context the memory and the state that a snapshot has. */
#include "api/memory/heap.h"
#include "api/module/restored.h"
#include "api/snapshot/format.h"

#include "exec/init/init_shadow.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot that is being restored. */
struct restorer {
    ptxiContext ctx;
    struct ptxi_snapshot *s;
    struct ptxi_heap_place *places;  /* of the context, before */
    size_t count;
    struct ptxi_heap_block **made;   /* for each block of the snapshot: a new one, or NULL */
    struct ptxi_restored **entries;  /* for each module: a new entry, or NULL: the context has it */
    struct ptxi_str why;             /* it cannot be restored */
};

static ptxiResult refuse(struct restorer *r)
{
    return r->why.oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_VALUE;
}

/* ---- modules */

static bool has_addresses(const struct restorer *r, const struct ptxi_snapshot_module *m, uint64_t constants,
                          uint64_t functions, const uint64_t *globals, uint64_t count)
{
    return m->constants == constants && m->functions == functions && m->count == count &&
           !memcmp(r->s->addresses + m->first, globals, count * sizeof *globals);
}

static bool is_loaded_there(const struct restorer *r, const struct ptxi_snapshot_module *m,
                            const struct ptxiModule_st *loaded)
{
    return has_addresses(r, m, loaded->constants ? loaded->constants->base : 0, (uintptr_t)loaded->function_addresses,
                         loaded->globals, loaded->layout->global_count);
}

/* Whether a module has variables or functions whose addresses matter. */
static bool has_places(const struct ptxi_snapshot_module *m)
{
    return m->constants || m->count;
}

static ptxiResult make_entry(struct restorer *r, uint64_t number)
{
    const struct ptxi_snapshot_module *m = &r->s->modules[number];
    struct ptxi_restored *e = malloc(sizeof *e + m->count * sizeof *e->globals);

    if (!e)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *e = (struct ptxi_restored){ .hash = m->hash, .functions = m->functions, .constants = m->constants,
                                 .count = (uint32_t)m->count };
    memcpy(e->globals, r->s->addresses + m->first, m->count * sizeof *e->globals);
    r->entries[number] = e;
    return PTXI_SUCCESS;
}

/* Under the context's lock. */
static ptxiResult match_module(struct restorer *r, uint64_t number)
{
    const struct ptxi_snapshot_module *m = &r->s->modules[number];
    bool elsewhere = false;

    for (const struct ptxiModule_st *loaded = r->ctx->modules; loaded; loaded = loaded->next) {
        if (ptxi_module_hash(loaded) != m->hash)
            continue;
        if (is_loaded_there(r, m, loaded))
            return PTXI_SUCCESS;
        elsewhere = has_places(m);
    }
    if (elsewhere) {
        ptxi_str_printf(&r->why, "module %s has its variables at other addresses; load it after the snapshot has been "
                        "restored", r->s->text + m->name);
        return refuse(r);
    }
    for (const struct ptxi_restored *e = r->ctx->restored; e; e = e->next)
        if (e->hash == m->hash && has_addresses(r, m, e->constants, e->functions, e->globals, e->count))
            return PTXI_SUCCESS;
    return make_entry(r, number);
}

static ptxiResult match_modules(struct restorer *r)
{
    ptxiResult e = PTXI_SUCCESS;

    r->entries = calloc(r->s->header->module_count + 1, sizeof(struct ptxi_restored *));
    if (!r->entries)
        return PTXI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&r->ctx->lock);
    for (uint64_t k = 0; k < r->s->header->module_count && !e; k++)
        e = match_module(r, k);
    pthread_mutex_unlock(&r->ctx->lock);
    return e;
}

/* ---- memory */

static int compare_place(const void *address, const void *place)
{
    uint64_t a = *(const uint64_t *)address, b = ((const struct ptxi_heap_place *)place)->base;

    return (a > b) - (a < b);
}

/* The context's block at that address, or NULL. */
static const struct ptxi_heap_place *place_of(const struct restorer *r, uint64_t address)
{
    return r->count ? bsearch(&address, r->places, r->count, sizeof *r->places, compare_place) : NULL;
}

static bool is_same(const struct ptxi_heap_place *p, const struct ptxi_snapshot_block *b)
{
    return p->size == b->size && p->kind == b->kind && p->mem_flags == b->mem_flags && !p->special;
}

static ptxiResult make_block(struct restorer *r, uint64_t number)
{
    const struct ptxi_snapshot_block *b = &r->s->blocks[number];
    const struct ptxi_heap_place *there = place_of(r, b->base);
    struct ptxi_heap_place place = { .base = b->base, .size = b->size, .range_base = b->range_base,
                                     .range_size = b->range_size, .kind = b->kind, .mem_flags = b->mem_flags,
                                     .host_flags = b->host_flags };

    if (there && is_same(there, b))
        return PTXI_SUCCESS;
    ptxiResult e = there ? PTXI_ERROR_INVALID_VALUE : ptxi_heap_alloc_at(r->ctx, &place, &r->made[number]);

    if (e == PTXI_ERROR_INVALID_VALUE)
        ptxi_str_printf(&r->why, "the snapshot cannot be restored: its addresses from 0x%" PRIx64 " on are in use",
                        b->base);
    return e;
}

static ptxiResult make_blocks(struct restorer *r)
{
    ptxiResult e = PTXI_SUCCESS;

    r->made = calloc(r->s->header->block_count + 1, sizeof(struct ptxi_heap_block *));
    if (!r->made || !ptxi_heap_list(r->ctx, &r->places, &r->count))
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (uint64_t k = 0; k < r->s->header->block_count && !e; k++)
        e = make_block(r, k);
    return e;
}

/* Frees what the program and kernels have allocated since. */
static void free_others(struct restorer *r)
{
    uint64_t k = 0;

    for (size_t n = 0; n < r->count; n++) {
        const struct ptxi_heap_place *p = &r->places[n];

        while (k < r->s->header->block_count && r->s->blocks[k].base < p->base)
            k++;
        if (p->special || p->kind == PTXI_HEAP_MODULE || !ptxi_snapshot_has_kind(p->kind) ||
            (k < r->s->header->block_count && r->s->blocks[k].base == p->base))
            continue;
        struct ptxi_heap_block *b = ptxi_heap_claim(p->base, p->kind, r->ctx);

        if (b)
            ptxi_heap_free(b);
    }
}

static void fill_block(const struct restorer *r, const struct ptxi_snapshot_block *b)
{
    uint64_t span = ptxi_snapshot_span(b);

    for (uint64_t n = 0; n * PTXI_SNAPSHOT_PAGE < span; n++) {
        unsigned char *at = (unsigned char *)(uintptr_t)b->base + n * PTXI_SNAPSHOT_PAGE;
        const void *content = ptxi_snapshot_find_page(r->s, b, n);
        uint64_t bytes = ptxi_snapshot_page_bytes(b, n);

        if (content)
            memcpy(at, content, bytes);
        else if (at[0] || memcmp(at, at + 1, bytes - 1)) /* writing would take memory */
            memset(at, 0, bytes);
    }
    ptxi_init_define(b->base, b->size);
}

/* ---- the state */

static ptxiResult check_profile(struct restorer *r)
{
    const char *name = r->s->text + r->s->header->profile;

    if (!strcmp(name, r->ctx->profile->name))
        return PTXI_SUCCESS;
    ptxi_str_printf(&r->why, "the snapshot is of device %s, and the context of %s", name, r->ctx->profile->name);
    return refuse(r);
}

/* Under the context's lock. */
static void restore_settings(ptxiContext c, const struct ptxi_snapshot_header *h)
{
    ptxiCounters *n = &c->counters;

    for (int k = 0; k < PTXI_LIMITS; k++)
        c->limits[k] = h->limits[k];
    c->instruction_limit = h->instruction_limit;
    c->millisecond_limit = h->millisecond_limit;
    c->schedule = h->schedule;
    c->kernel_heap = h->kernel_heap;
    c->dialect = h->dialect;
    c->on_fault = h->on_fault == PTXI_ON_FAULT_REPORT ? PTXI_ON_FAULT_REPORT : PTXI_ON_FAULT_FAIL;
    c->unchecked = h->unchecked;
    c->counting = h->counting;
    c->checkpoint = h->progress;
    n->launches = h->counters[0];
    n->blocks = h->counters[1];
    n->threads = h->counters[2];
    n->warpInstructions = h->counters[3];
    n->threadInstructions = h->counters[4];
    n->sharedRequests = h->counters[5];
    n->sharedWavefronts = h->counters[6];
}

/* ---- the call */

/* Nothing can fail from here on. */
static void commit(struct restorer *r)
{
    free_others(r);
    for (uint64_t k = 0; k < r->s->header->block_count; k++)
        fill_block(r, &r->s->blocks[k]);
    pthread_mutex_lock(&r->ctx->lock);
    restore_settings(r->ctx, r->s->header);
    for (uint64_t k = 0; k < r->s->header->module_count; k++) {
        struct ptxi_restored *e = r->entries[k];

        if (!e)
            continue;
        e->next = r->ctx->restored;
        r->ctx->restored = e;
        r->entries[k] = NULL;
    }
    pthread_mutex_unlock(&r->ctx->lock);
}

static void roll_back(struct restorer *r)
{
    for (uint64_t k = 0; r->made && k < r->s->header->block_count; k++)
        if (r->made[k])
            ptxi_heap_free(r->made[k]);
}

static void free_restorer(struct restorer *r)
{
    for (uint64_t k = 0; r->entries && k < r->s->header->module_count; k++)
        free(r->entries[k]);
    free(r->entries);
    free(r->made);
    free(r->places);
    ptxi_snapshot_close(r->s);
}

static ptxiResult restore(struct restorer *r, const char *file, void **note, size_t *note_bytes)
{
    ptxiResult e = ptxi_snapshot_open(file, &r->s, &r->why);
    void *copy = NULL;

    if (!e)
        e = check_profile(r);
    if (!e && note && !(copy = malloc(r->s->header->note_bytes + 1)))
        e = PTXI_ERROR_OUT_OF_MEMORY;
    if (!e)
        e = match_modules(r);
    if (!e)
        e = make_blocks(r);
    if (e) {
        roll_back(r);
        free(copy);
        return e;
    }
    if (note) {
        memcpy(copy, r->s->note, r->s->header->note_bytes);
        *note = copy;
    }
    if (note_bytes)
        *note_bytes = r->s->header->note_bytes;
    commit(r);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxRestore(ptxiContext named, const char *path, void **note, size_t *numBytes)
{
    API_CALL;
    struct restorer r = { .s = NULL };
    ptxiResult e = ptxi_api_named_context(named, &r.ctx);

    if (e || (e = ptxi_api_drain(r.ctx)))
        return e;
    if (!path || !*path || (note && !numBytes))
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_str_init(&r.why, NULL);
    e = restore(&r, path, note, numBytes);
    free_restorer(&r);
    if (e && r.why.len)
        return ptxi_snapshot_fail(r.ctx, e, &r.why);
    ptxi_str_free(&r.why);
    return e;
}
