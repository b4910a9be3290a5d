/* Lists and extracts the contents of files with fat binaries. */
#include "api/inspect/inspect.h"

#include "api/module/binary.h"
#include "fatbin/file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ptxi_inspect_is_binary(const void *data, size_t size)
{
    return ptxi_fatbin_file_kind(data, size) != PTXI_FILE_OTHER;
}

/* ---- lists */

static const char *compression_name(enum ptxi_fatbin_compression c)
{
    switch (c) {
    case PTXI_FATBIN_LZ4: return "LZ4";
    case PTXI_FATBIN_ZSTD: return "zstd";
    default: return "none";
    }
}

/* Memory of a list. */
struct listing {
    struct ptxi_arena arena;
    struct ptxi_fatbin_list list;
};

/* PTX that is not compressed has padding. */
static size_t size_of(const struct ptxi_fatbin_entry *e)
{
    bool padded = e->kind == PTXI_FATBIN_PTX && e->compression == PTXI_FATBIN_PLAIN;

    return padded ? strnlen((const char *)e->data, e->size) : e->size;
}

static bool list_entry(struct listing *l, struct ptxi_binary *b, const struct ptxi_fatbin_entry *e, const char *member)
{
    struct ptxi_binary_entry *to = &b->entries[b->count++];
    struct ptxi_fatbin_entry *copy = ARENA_NEW(&l->arena, struct ptxi_fatbin_entry, 1);

    if (!copy)
        return false;
    *copy = *e;
    *to = (struct ptxi_binary_entry){
        .number = b->count, .is_ptx = e->kind == PTXI_FATBIN_PTX, .kind = ptxi_fatbin_kind_name(e->kind),
        .compression = compression_name(e->compression), .stored = e->stored, .size = size_of(e), .member = member,
        .source = e->name_size ? ptxi_arena_strndup(&l->arena, e->name, e->name_size) : NULL, .entry = copy,
    };
    snprintf(to->target, sizeof to->target, "sm_%u%.1s", e->target.sm, &e->target.suffix);
    return !e->name_size || to->source;
}

static enum ptxi_fatbin_result list_fatbin(struct listing *l, struct ptxi_binary *b,
                                           const struct ptxi_fatbin_found *found)
{
    struct ptxi_fatbin_entry e;
    struct ptxi_fatbin f;
    enum ptxi_fatbin_result r = ptxi_fatbin_open(&f, found->data, found->size);

    while (!r && !(r = ptxi_fatbin_next(&f, &e))) {
        if (!list_entry(l, b, &e, found->member))
            r = PTXI_FATBIN_NO_MEMORY;
        else
            b->entries[b->count - 1].program = found->program;
    }
    return r == PTXI_FATBIN_END ? PTXI_FATBIN_OK : r;
}

/* A cubin is listed as a fat binary with this one entry. */
static enum ptxi_fatbin_result list_all(struct listing *l, struct ptxi_binary *b, const void *data, size_t size)
{
    struct ptxi_fatbin_entry cubin = { .kind = PTXI_FATBIN_ELF, .data = data, .stored = size, .size = size };
    bool is_cubin = ptxi_fatbin_file_kind(data, size) == PTXI_FILE_CUBIN && ptxi_fatbin_is_cubin(data, &cubin.target);
    enum ptxi_fatbin_result r = ptxi_fatbin_find(data, size, &l->arena, &l->list);

    if (r)
        return r;
    b->programs = ptxi_fatbin_group(&l->list);
    b->entries = ARENA_NEW(&l->arena, struct ptxi_binary_entry, l->list.entries + is_cubin);
    if (!b->entries || (is_cubin && !list_entry(l, b, &cubin, NULL)))
        return PTXI_FATBIN_NO_MEMORY;
    for (uint32_t i = 0; i < l->list.count && !r; i++)
        r = list_fatbin(l, b, &l->list.at[i]);
    return r;
}

const char *ptxi_inspect_open_binary(struct ptxi_binary *b, const void *data, size_t size)
{
    struct listing *l = calloc(1, sizeof *l);

    *b = (struct ptxi_binary){ .memory = l };
    if (!l)
        return ptxi_fatbin_message(PTXI_FATBIN_NO_MEMORY);
    ptxi_arena_init(&l->arena, NULL);
    enum ptxi_fatbin_result r = list_all(l, b, data, size);

    if (r)
        ptxi_inspect_close_binary(b);
    return r ? ptxi_fatbin_message(r) : NULL;
}

void ptxi_inspect_close_binary(struct ptxi_binary *b)
{
    struct listing *l = b->memory;

    ptxi_arena_free(&l->arena);
    free(l);
}

/* ---- contents */

const char *ptxi_inspect_extract(const struct ptxi_binary_entry *e, char **data, size_t *size)
{
    enum ptxi_fatbin_result r = ptxi_fatbin_extract(e->entry, data, size);

    return r ? ptxi_fatbin_message(r) : NULL;
}

static bool list_ptx_kernels(const char *text, size_t size, void (*found)(void *ctx, const char *name), void *ctx)
{
    struct ptxi_parse_options options = { .file = "<ptx>" };
    struct ptxi_arena arena;
    struct ptxi_diag diags;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    const struct ptxi_module_ast *tree = ptxi_parse(text, size, &options, &arena, &diags);

    for (uint32_t i = 0; tree && i < tree->func_count; i++)
        if (tree->funcs[i]->is_entry && tree->funcs[i]->has_body)
            found(ctx, tree->funcs[i]->name->s);
    ptxi_arena_free(&arena);
    return tree;
}

bool ptxi_inspect_kernels(const struct ptxi_binary_entry *e, void (*found)(void *ctx, const char *name), void *ctx)
{
    uint32_t section = 0;
    bool ok = true;
    size_t size;
    char *data;

    if (e->entry->kind != PTXI_FATBIN_PTX && e->entry->kind != PTXI_FATBIN_ELF)
        return false;
    if (ptxi_fatbin_extract(e->entry, &data, &size))
        return false;
    if (e->is_ptx)
        ok = list_ptx_kernels(data, size, found, ctx);
    else
        for (const char *name; (name = ptxi_fatbin_next_kernel(data, size, &section));)
            found(ctx, name);
    free(data);
    return ok;
}

ptxiResult ptxi_inspect_program(const void *data, size_t size, unsigned program, const char *name, bool strict,
                                char **text)
{
    API_CALL;
    struct ptxi_load_options o = { .module = { .name = name, .strict = strict } };
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    size_t text_size;

    assert(program);
    return r ? r : ptxi_binary_take_program(data, size, program, ctx->profile->sm, &o, text, &text_size);
}
