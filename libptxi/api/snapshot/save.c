/* Writes the memory and the state of a context to a file. */
#include "api/memory/heap.h"
#include "api/module/restored.h"
#include "api/snapshot/format.h"
#include "api/snapshot/snapshot.h"

#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A snapshot that is being made. */
struct saver {
    ptxiContext ctx;
    struct ptxi_snapshot_header h;
    struct ptxi_heap_place *places;
    struct ptxi_snapshot_block *blocks;
    struct ptxi_snapshot_module *modules;
    const void **owners;            /* of each module: struct ptxiModule_st or struct ptxi_restored */
    struct ptxi_str addresses, pages, text;
    struct ptxi_snapshot *base;     /* NULL: none */
    const void *note;
    struct ptxi_str why;            /* not to save it, or it could not be written */
    FILE *f;
};

static ptxiResult refuse(struct saver *s, const char *why)
{
    ptxi_str_printf(&s->why, "the context cannot be saved: %s", why);
    return PTXI_ERROR_NOT_SUPPORTED;
}

/* Returns the offset. */
static uint64_t add_text(struct saver *s, const char *text)
{
    uint64_t at = s->text.len;

    ptxi_str_put(&s->text, text, strlen(text) + 1);
    return at;
}

static void add_address(struct saver *s, uint64_t address)
{
    ptxi_str_put(&s->addresses, (const char *)&address, sizeof address);
}

/* ---- objects */

static ptxiResult check_objects(struct saver *s)
{
    const struct ptxiContext_st *ctx = s->ctx;

    if (ctx->arrays || ctx->mipmaps)
        return refuse(s, "it has arrays");
    if (ctx->objects || ctx->references)
        return refuse(s, "it has textures or surfaces");
    if (ctx->captures)
        return refuse(s, "a stream is under capture");
    for (const struct ptxiModule_st *m = ctx->modules; m; m = m->next)
        if (m->references)
            return refuse(s, "a module has texture or surface references");
    return PTXI_SUCCESS;
}

static const char *why_not_place(const struct ptxi_heap_place *p)
{
    switch (p->kind) {
    case PTXI_HEAP_REGISTERED: return "memory of the program is registered";
    case PTXI_HEAP_IMPORTED: return "memory of another process is open";
    case PTXI_HEAP_ARRAY: return "it has arrays";
    case PTXI_HEAP_GRAPH: return "a graph has memory";
    default: break;
    }
    if (p->special)
        return "it has memory of a pool, or memory that other processes may open";
    return ptxi_snapshot_has_kind(p->kind) ? NULL : "it has memory of an unknown kind";
}

/* ---- modules */

static void add_module(struct saver *s, const void *owner, const struct ptxi_snapshot_module *m, const char *name)
{
    s->owners[s->h.module_count] = owner;
    s->modules[s->h.module_count] = *m;
    s->modules[s->h.module_count++].name = add_text(s, name);
}

static void add_loaded(struct saver *s, const struct ptxiModule_st *m)
{
    struct ptxi_snapshot_module entry = {
        .hash = ptxi_module_hash(m), .functions = (uintptr_t)m->function_addresses,
        .constants = m->constants ? m->constants->base : 0, .first = s->addresses.len / sizeof(uint64_t),
        .count = m->layout->global_count,
    };

    for (uint32_t k = 0; k < m->layout->global_count; k++)
        add_address(s, m->globals[k]);
    add_module(s, m, &entry, m->name);
}

static void add_restored(struct saver *s, const struct ptxi_restored *r)
{
    struct ptxi_snapshot_module entry = {
        .hash = r->hash, .functions = r->functions, .constants = r->constants,
        .first = s->addresses.len / sizeof(uint64_t), .count = r->count,
    };

    for (uint32_t k = 0; k < r->count; k++)
        add_address(s, r->globals[k]);
    add_module(s, r, &entry, "(not loaded yet)");
}

/* Under the context's lock. */
static bool list_modules(struct saver *s)
{
    size_t count = 1;

    for (const struct ptxiModule_st *m = s->ctx->modules; m; m = m->next)
        count++;
    for (const struct ptxi_restored *r = s->ctx->restored; r; r = r->next)
        count++;
    s->modules = calloc(count, sizeof *s->modules);
    s->owners = calloc(count, sizeof *s->owners);
    if (!s->modules || !s->owners)
        return false;
    for (const struct ptxiModule_st *m = s->ctx->modules; m; m = m->next)
        add_loaded(s, m);
    for (const struct ptxi_restored *r = s->ctx->restored; r; r = r->next)
        add_restored(s, r);
    s->h.address_count = s->addresses.len / sizeof(uint64_t);
    return true;
}

static bool has_variable(const struct saver *s, const struct ptxi_snapshot_module *m, const struct ptxi_heap_place *p)
{
    const uint64_t *addresses = (const void *)ptxi_str_text(&s->addresses);

    if (m->constants == p->base)
        return true;
    for (uint64_t k = 0; k < m->count; k++)
        if (addresses[m->first + k] - p->base < p->size)
            return true;
    return false;
}

static uint32_t module_of(const struct saver *s, const struct ptxi_heap_place *p)
{
    for (uint32_t k = 0; k < s->h.module_count; k++)
        if (p->module ? s->owners[k] == p->module : has_variable(s, &s->modules[k], p))
            return k;
    return PTXI_SNAPSHOT_NONE;
}

/* ---- memory */

static ptxiResult list_blocks(struct saver *s)
{
    size_t count;

    if (ptxi_heap_has_mappings(s->ctx->device))
        return refuse(s, "its device has mappings of ptxiMemMap");
    if (!ptxi_heap_list(s->ctx, &s->places, &count))
        return PTXI_ERROR_OUT_OF_MEMORY;
    s->blocks = calloc(count + 1, sizeof *s->blocks);
    if (!s->blocks)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (size_t k = 0; k < count; k++) {
        const struct ptxi_heap_place *p = &s->places[k];
        const char *why = why_not_place(p);

        if (p->kind == PTXI_HEAP_MODULE && !(p->mem_flags & PTXI_MEM_MODULE))
            continue; /* of a launch */
        if (why)
            return refuse(s, why);
        s->blocks[s->h.block_count++] = (struct ptxi_snapshot_block){
            .base = p->base, .size = p->size, .range_base = p->range_base, .range_size = p->range_size,
            .kind = p->kind, .mem_flags = p->mem_flags, .host_flags = p->host_flags,
            .module = p->kind == PTXI_HEAP_MODULE ? module_of(s, p) : PTXI_SNAPSHOT_NONE,
        };
    }
    return PTXI_SUCCESS;
}

static bool is_zero(const unsigned char *p, uint64_t bytes)
{
    return !p[0] && !memcmp(p, p + 1, bytes - 1);
}

/* Adds the page if it differs from that of the base. */
static void add_page(struct saver *s, uint32_t block, uint64_t number)
{
    const struct ptxi_snapshot_block *b = &s->blocks[block];
    const unsigned char *now = (const unsigned char *)(uintptr_t)b->base + number * PTXI_SNAPSHOT_PAGE;
    const void *before = ptxi_snapshot_find_page(s->base, b, number);
    uint64_t bytes = ptxi_snapshot_page_bytes(b, number);
    bool zero = is_zero(now, bytes);
    struct ptxi_snapshot_page page = { block, (uint32_t)number, zero ? PTXI_SNAPSHOT_ZEROS : s->h.content_bytes };

    if (before ? !memcmp(before, now, bytes) : zero)
        return;
    ptxi_str_put(&s->pages, (const char *)&page, sizeof page);
    s->h.page_count++;
    s->h.content_bytes += zero ? 0 : bytes;
}

static void list_pages(struct saver *s)
{
    for (uint32_t k = 0; k < s->h.block_count; k++) {
        uint64_t span = ptxi_snapshot_span(&s->blocks[k]);

        for (uint64_t n = 0; n * PTXI_SNAPSHOT_PAGE < span; n++)
            add_page(s, k, n);
    }
}

/* ---- the state; under the context's lock */

static void save_settings(struct saver *s)
{
    const struct ptxiContext_st *c = s->ctx;
    const ptxiCounters *n = &c->counters;
    const uint64_t counters[] = { n->launches, n->blocks, n->threads, n->warpInstructions, n->threadInstructions,
                                  n->sharedRequests, n->sharedWavefronts };
    struct ptxi_snapshot_header *h = &s->h;

    _Static_assert(sizeof counters == sizeof h->counters, "the same counters");
    memcpy(h->counters, counters, sizeof counters);
    for (int k = 0; k < PTXI_LIMITS; k++)
        h->limits[k] = c->limits[k];
    h->instruction_limit = c->instruction_limit;
    h->millisecond_limit = c->millisecond_limit;
    h->schedule = c->schedule;
    h->kernel_heap = c->kernel_heap;
    h->dialect = c->dialect;
    h->on_fault = (uint32_t)c->on_fault;
    h->unchecked = c->unchecked;
    h->counting = c->counting;
    h->progress = c->checkpoint;
    h->profile = add_text(s, c->profile->name);
}

/* ---- the file */

static void write_part(struct saver *s, const void *data, uint64_t bytes)
{
    uint64_t words = bytes & ~UINT64_C(7), rest = bytes - words, last = 0;

    s->h.hash = ptxi_hash_stable(s->h.hash, data, words);
    fwrite(data, 1, words, s->f);
    if (!rest)
        return;
    memcpy(&last, (const char *)data + words, rest);
    s->h.hash = ptxi_hash_stable(s->h.hash, &last, sizeof last);
    fwrite(&last, sizeof last, 1, s->f);
}

static void write_pages(struct saver *s)
{
    const struct ptxi_snapshot_page *pages = (const void *)ptxi_str_text(&s->pages);

    for (uint64_t k = 0; k < s->h.page_count; k++) {
        const struct ptxi_snapshot_block *b = &s->blocks[pages[k].block];
        uint64_t at = b->base + (uint64_t)pages[k].number * PTXI_SNAPSHOT_PAGE;

        if (pages[k].content != PTXI_SNAPSHOT_ZEROS)
            write_part(s, (const void *)(uintptr_t)at, ptxi_snapshot_page_bytes(b, pages[k].number));
    }
}

/* The hash of everything after it is known at the end. */
static void write_file(struct saver *s)
{
    struct ptxi_snapshot_header *h = &s->h;

    h->size = sizeof *h + h->block_count * sizeof *s->blocks + h->module_count * sizeof *s->modules +
              h->address_count * sizeof(uint64_t) + s->pages.len + ptxi_snapshot_pad(h->text_bytes) +
              ptxi_snapshot_pad(h->note_bytes) + h->content_bytes;
    fwrite(h, offsetof(struct ptxi_snapshot_header, version), 1, s->f);
    write_part(s, &h->version, sizeof *h - offsetof(struct ptxi_snapshot_header, version));
    write_part(s, s->blocks, h->block_count * sizeof *s->blocks);
    write_part(s, s->modules, h->module_count * sizeof *s->modules);
    write_part(s, ptxi_str_text(&s->addresses), s->addresses.len);
    write_part(s, ptxi_str_text(&s->pages), s->pages.len);
    write_part(s, ptxi_str_text(&s->text), s->text.len);
    write_part(s, s->note ? s->note : "", h->note_bytes);
    write_pages(s);
    fseek(s->f, 0, SEEK_SET);
    fwrite(h, offsetof(struct ptxi_snapshot_header, version), 1, s->f);
    fflush(s->f);
    fsync(fileno(s->f));
}

static ptxiResult fail_to_write(struct saver *s, const char *name)
{
    ptxiResult r = errno == ENOMEM ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_OPERATING_SYSTEM;

    ptxi_str_printf(&s->why, "the snapshot %s cannot be written: %s", name, strerror(errno));
    return r;
}

/* A file with another name becomes the snapshot when it is complete. */
static ptxiResult replace_file(struct saver *s, const char *name)
{
    struct ptxi_str other;
    bool ok;

    ptxi_str_init(&other, NULL);
    ptxi_str_printf(&other, "%s.%ld.tmp", name, (long)getpid());
    if (!ptxi_snapshot_may_be(name))
        errno = EINVAL;
    else if (other.oom)
        errno = ENOMEM;
    else
        s->f = fopen(ptxi_str_text(&other), "wb");
    ok = s->f;
    if (ok) {
        write_file(s);
        ok = !ferror(s->f);
        ok = !fclose(s->f) && ok;
        ok = ok && !rename(ptxi_str_text(&other), name);
    }
    ptxiResult r = ok ? PTXI_SUCCESS : fail_to_write(s, name);

    if (s->f && !ok)
        remove(ptxi_str_text(&other));
    ptxi_str_free(&other);
    return r;
}

/* ---- the base */

/* The file name after the directory, which must be that of the new file. */
static const char *base_name(const char *file, const char *base)
{
    const char *slash = strrchr(file, '/');
    size_t directory = slash ? (size_t)(slash + 1 - file) : 0;

    return !strncmp(file, base, directory) && !strchr(base + directory, '/') ? base + directory : NULL;
}

static ptxiResult use_base(struct saver *s, const char *file, const char *base)
{
    const char *name = base ? base_name(file, base) : "";

    if (!name || (base && !strcmp(file, base))) {
        ptxi_str_puts(&s->why, "a snapshot and its base must be different files in one directory");
        return PTXI_ERROR_INVALID_VALUE;
    }
    s->h.base_name = add_text(s, name);
    ptxiResult r = base ? ptxi_snapshot_open(base, &s->base, &s->why) : PTXI_SUCCESS;

    if (!r && s->base)
        s->h.base_hash = s->base->header->hash;
    return r;
}

/* ---- the call */

/* Saves the settings and lists the modules and blocks. The content of the memory comes later. */
static ptxiResult list_objects(struct saver *s)
{
    pthread_mutex_lock(&s->ctx->lock);
    ptxiResult r = check_objects(s);

    save_settings(s);
    if (!r && !list_modules(s))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&s->ctx->lock);
    return r ? r : list_blocks(s);
}

static ptxiResult collect(struct saver *s)
{
    ptxiResult r = list_objects(s);

    if (r)
        return r;
    list_pages(s);
    s->h.text_bytes = s->text.len;
    return s->addresses.oom || s->pages.oom || s->text.oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_SUCCESS;
}

static void begin(struct saver *s)
{
    ptxi_str_init(&s->addresses, NULL);
    ptxi_str_init(&s->pages, NULL);
    ptxi_str_init(&s->text, NULL);
    ptxi_str_init(&s->why, NULL);
}

/* Frees everything, and returns the result with its reason. */
static ptxiResult end(struct saver *s, ptxiResult r)
{
    ptxi_snapshot_close(s->base);
    free(s->places);
    free(s->blocks);
    free(s->modules);
    free(s->owners);
    ptxi_str_free(&s->addresses);
    ptxi_str_free(&s->pages);
    ptxi_str_free(&s->text);
    if (r && s->why.len)
        return ptxi_snapshot_fail(s->ctx, r, &s->why);
    ptxi_str_free(&s->why);
    return r;
}

ptxiResult ptxi_snapshot_check(ptxiContext ctx)
{
    struct saver s = { .ctx = ctx };

    begin(&s);
    return end(&s, list_objects(&s));
}

ptxiResult ptxi_snapshot_save(ptxiContext ctx, const char *path, const char *base, const void *note, size_t bytes)
{
    struct saver s = {
        .ctx = ctx, .note = note,
        .h = { .magic = PTXI_SNAPSHOT_MAGIC, .version = PTXI_SNAPSHOT_VERSION, .settings_size = sizeof s.h,
               .note_bytes = bytes },
    };

    begin(&s);
    ptxiResult r = use_base(&s, path, base);

    if (!r)
        r = collect(&s);
    return end(&s, r ? r : replace_file(&s, path));
}

bool ptxi_snapshot_may_write(const char *path, const void *note, size_t bytes)
{
    return path && *path && (note || !bytes) && bytes <= INT64_MAX;
}

ptxiResult ptxiCtxSave(ptxiContext named, const char *path, const char *base, const void *note, size_t numBytes)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r || (r = ptxi_api_drain(ctx)))
        return r;
    if (!ptxi_snapshot_may_write(path, note, numBytes))
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_snapshot_save(ctx, path, base, note, numBytes);
}
