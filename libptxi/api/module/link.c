/* Links PTX texts into one image, from which modules can be loaded. */
#include "api/module/binary.h"
#include "api/module/image.h"
#include "api/module/load.h"
#include "api/module/symbols.h"

#include <stdlib.h>
#include <string.h>

struct ptxiLinkState_st {
    struct ptxi_handle handle;
    pthread_mutex_t lock; /* protects the members below */
    struct ptxi_load_options options;
    struct ptxi_arena arena; /* names, texts and messages */
    struct ptxi_text *parts;
    uint32_t count, cap;
    struct ptxi_str image;
    bool complete;
};

static ptxiResult enter_state(ptxiLinkState state)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = ptxi_handle_use(state, PTXI_HANDLE_LINK_STATE);
    if (!r)
        ptxi_call_lock(&state->lock);
    return r;
}

static void free_state(void *p)
{
    struct ptxiLinkState_st *s = p;

    ptxi_str_free(&s->image);
    free(s->parts);
    ptxi_arena_free(&s->arena);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

ptxiResult ptxiLinkCreate(unsigned numOptions, ptxiJitOption *options, void **optionValues, ptxiLinkState *stateOut)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!stateOut)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxiLinkState_st *s = calloc(1, sizeof *s);

    if (!s)
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = ptxi_load_options(&s->options, numOptions, options, optionValues);
    if (r) {
        free(s);
        return r;
    }
    s->options.module.dialect |= ctx->dialect;
    ptxi_arena_init(&s->arena, NULL);
    ptxi_str_init(&s->image, NULL);
    pthread_mutex_init(&s->lock, NULL);
    if (!ptxi_handle_add(&s->handle, PTXI_HANDLE_LINK_STATE, NULL, free_state)) {
        free_state(s);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *stateOut = s;
    return PTXI_SUCCESS;
}

ptxiResult ptxiLinkDestroy(ptxiLinkState state)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = ptxi_handle_retire(state, PTXI_HANDLE_LINK_STATE);
    if (!r)
        ptxi_handle_unref(&state->handle);
    return r;
}

/* Parses and checks texts, and reports messages. `resolved`: undefined symbols are errors. */
static ptxiResult check_texts(ptxiLinkState s, const struct ptxi_texts *texts, bool resolved)
{
    struct ptxi_parse_options options = { .file = "<link>", .parts = texts, .dialect = s->options.module.dialect };
    ptxiResult r = PTXI_SUCCESS;
    struct ptxi_arena arena;
    struct ptxi_diag diags;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    struct ptxi_module_ast *tree = ptxi_parse(NULL, 0, &options, &arena, &diags);

    if (!tree)
        r = arena.oom || diags.oom || !diags.errors ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_PTX;
    else if (resolved)
        r = ptxi_symbols_check(tree, &diags);
    if (r != PTXI_ERROR_OUT_OF_MEMORY)
        ptxi_load_report(&s->options, &diags, texts);
    ptxi_arena_free(&arena);
    return r;
}

static bool store_part(ptxiLinkState s, const struct ptxi_text *t)
{
    if (s->count == s->cap) {
        struct ptxi_text *more = realloc(s->parts, (s->cap ? 2 * s->cap : 4) * sizeof *more);

        if (!more)
            return false;
        s->parts = more;
        s->cap = s->cap ? 2 * s->cap : 4;
    }
    struct ptxi_text *to = &s->parts[s->count];

    *to = *t;
    to->s = ptxi_arena_strndup(&s->arena, t->s, t->size);
    to->name = ptxi_arena_strndup(&s->arena, t->name, strcspn(t->name, "\n"));
    to->first_line = s->count ? to[-1].first_line + ptxi_image_lines(&to[-1]) : 1;
    s->count += to->s && to->name;
    return to->s && to->name;
}

static ptxiResult refuse_input(ptxiLinkState s, const char *name, const char *why)
{
    struct ptxi_text one = { name, "", 0, 1 };
    struct ptxi_arena arena;
    struct ptxi_diag diags;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    ptxi_diag_add(&diags, PTXI_DIAG_ERROR, PTXI_LOC_NONE, "%s: %s", name, why);
    ptxi_load_report(&s->options, &diags, &(struct ptxi_texts){ &one, 1 });
    ptxi_arena_free(&arena);
    return PTXI_ERROR_INVALID_IMAGE;
}

/* Adds a text that has a NUL after its `size` bytes. */
static ptxiResult add_text(ptxiLinkState s, const char *text, size_t size, const char *name)
{
    struct ptxi_texts texts;

    if (!ptxi_image_is_linked(text, size) && !ptxi_load_is_ptx(text))
        return refuse_input(s, name, "not PTX: only PTX and linked images can be linked");
    if (!ptxi_image_read(text, size, name, &s->arena, &texts))
        return s->arena.oom ? PTXI_ERROR_OUT_OF_MEMORY : refuse_input(s, name, "the linked image is damaged");
    if (!s->options.module.max_registers)
        s->options.module.max_registers = ptxi_image_max_registers(text, size);
    ptxiResult r = check_texts(s, &texts, false);

    for (uint32_t i = 0; !r && i < texts.count; i++)
        if (!store_part(s, &texts.at[i]))
            r = PTXI_ERROR_OUT_OF_MEMORY;
    return r;
}

static bool is_binary_type(ptxiJitInputType type)
{
    return type == PTXI_JIT_INPUT_FATBINARY || type == PTXI_JIT_INPUT_OBJECT || type == PTXI_JIT_INPUT_LIBRARY;
}

/* Replaces an image with fat binaries by the texts in it. Frees `data` on failure. */
static ptxiResult convert(ptxiLinkState s, unsigned sm, char *data, size_t size, const char *name, char **text)
{
    struct ptxi_load_options o = s->options;

    o.module.name = name;
    ptxiResult r = ptxi_binary_convert(data, size, sm, &o, text, &size);

    s->options.info.used = o.info.used;
    s->options.error.used = o.error.used;
    return r;
}

/* Adds data that has a NUL after its `size` bytes, and frees it. Text ends with the first NUL. */
static ptxiResult add_copy(ptxiLinkState s, unsigned sm, ptxiJitInputType type, char *data, size_t size,
                           const char *name)
{
    ptxiResult r = PTXI_SUCCESS;
    char *text = data;

    if (is_binary_type(type) && !ptxi_load_is_ptx(data))
        r = convert(s, sm, data, size, name, &text);
    else if (type != PTXI_JIT_INPUT_PTX && !(type == PTXI_JIT_INPUT_CUBIN && ptxi_image_is_linked(data, size)))
        r = refuse_input(s, name, "only PTX can be linked, not GPU code or NVVM");
    if (!r)
        r = add_text(s, text, strlen(text), name);
    free(text);
    return r;
}

static ptxiResult enter_add(ptxiLinkState state, ptxiJitInputType type, unsigned numOptions, ptxiJitOption *options,
                            void **optionValues, unsigned *sm)
{
    struct ptxi_load_options ignored = { .wall_time = NULL }; /* options of one input have no effect */
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = enter_state(state);

    if (r)
        return r;
    *sm = ctx->profile->sm;
    if (state->complete)
        return PTXI_ERROR_ILLEGAL_STATE;
    if ((unsigned)type > PTXI_JIT_INPUT_NVVM)
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_load_options(&ignored, numOptions, options, optionValues);
}

ptxiResult ptxiLinkAddData(ptxiLinkState state, ptxiJitInputType type, void *data, size_t size, const char *name,
                           unsigned numOptions,
                           ptxiJitOption *options, void **optionValues)
{
    API_CALL;
    unsigned sm;
    ptxiResult r = enter_add(state, type, numOptions, options, optionValues, &sm);

    if (r)
        return r;
    if (!data || !size)
        return PTXI_ERROR_INVALID_VALUE;
    if (!is_binary_type(type))
        size = strnlen(data, size); /* more may not be readable */
    char *text = malloc(size + 1);

    if (!text)
        return PTXI_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    text[size] = 0;
    return add_copy(state, sm, type, text, size, name ? name : "<ptx>");
}

ptxiResult ptxiLinkAddFile(ptxiLinkState state, ptxiJitInputType type, const char *path, unsigned numOptions,
                           ptxiJitOption *options,
                           void **optionValues)
{
    API_CALL;
    unsigned sm;
    ptxiResult r = enter_add(state, type, numOptions, options, optionValues, &sm);
    char *text;
    size_t size;

    if (r)
        return r;
    if (!path)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_load_read_file(path, &text, &size);
    return r ? r : add_copy(state, sm, type, text, size, path);
}

ptxiResult ptxiLinkComplete(ptxiLinkState state, void **cubinOut, size_t *sizeOut)
{
    API_CALL;
    ptxiResult r = enter_state(state);
    struct ptxi_texts texts;
    double start = ptxi_load_clock();

    if (r)
        return r;
    if (!cubinOut)
        return PTXI_ERROR_INVALID_VALUE;
    if (state->complete)
        return PTXI_ERROR_ILLEGAL_STATE;
    texts = (struct ptxi_texts){ state->parts, state->count };
    r = state->count ? check_texts(state, &texts, state->options.module.resolved) : PTXI_SUCCESS;
    if (r)
        return r == PTXI_ERROR_INVALID_PTX ? PTXI_ERROR_INVALID_SOURCE : r; /* each part was valid when it was added */
    ptxi_image_write(state->count ? &texts : &ptxi_image_empty, state->options.module.max_registers, &state->image);
    if (state->image.oom)
        return PTXI_ERROR_OUT_OF_MEMORY;
    state->complete = true;
    *cubinOut = (void *)(uintptr_t)ptxi_str_text(&state->image);
    if (sizeOut)
        *sizeOut = state->image.len;
    ptxi_load_store_time(&state->options, start);
    return PTXI_SUCCESS;
}
