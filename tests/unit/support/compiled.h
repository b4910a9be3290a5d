/* Parses and compiles PTX text, so that a test can inspect the bytecode. */
#ifndef PTXI_TESTS_COMPILED_H
#define PTXI_TESTS_COMPILED_H

#include "unit/support/bits.h"

#include "compile/compile.h"

#include <string.h>

struct module {
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_module_ast *tree;
    struct ptxi_layout *layout;
};

static inline uint64_t global_address(void *ctx, const struct ptxi_var *var)
{
    const struct module *m = ctx;

    return 0x10000000 + UINT64_C(0x1000) * ptxi_layout_global(m->layout, var);
}

enum { SHARED_BASE = 1024 };

static inline uint64_t function_address(void *ctx, const struct ptxi_func *func)
{
    (void)ctx;
    return 0x20000000 + func->index;
}

static inline bool load(struct module *m, const char *text, const struct ptxi_alloc *alloc)
{
    struct ptxi_parse_options options = { .file = "test.ptx" };

    ptxi_arena_init(&m->arena, alloc);
    ptxi_diag_init(&m->diags, &m->arena);
    m->layout = NULL;
    m->tree = ptxi_parse(text, strlen(text), &options, &m->arena, &m->diags);
    if (m->tree)
        m->layout = ptxi_layout_module(m->tree, SHARED_BASE, &m->arena);
    return m->layout;
}

static inline void show_errors(struct module *m, const char *text)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_diag_render(&m->diags, text, strlen(text), "test.ptx", &s);
    fputs(ptxi_str_text(&s), stderr);
    ptxi_str_free(&s);
}

static inline const struct ptxi_func *find_func(const struct module *m, const char *name)
{
    for (uint32_t i = 0; i < m->tree->func_count; i++)
        if (!strcmp(m->tree->funcs[i]->name->s, name))
            return m->tree->funcs[i];
    return NULL;
}

static inline struct ptxi_compile_options default_options(struct module *m)
{
    return (struct ptxi_compile_options){ m, global_address, function_address, .sm = 90, .contract = true,
                                          .verify = true };
}

/* Returns the code of a function of a valid module. */
static inline struct ptxi_code *code_of(struct module *m, const char *text, const char *name,
                                        const struct ptxi_compile_options *options)
{
    struct ptxi_compile_options o = default_options(m);
    struct ptxi_code *code = NULL;

    if (load(m, text, NULL)) {
        if (options)
            o = *options;
        o.ctx = m;
        code = ptxi_compile(m->layout, find_func(m, name), &o, &m->arena, &m->diags);
    }
    if (!code)
        show_errors(m, text);
    ck_assert_msg(code != NULL, "no code for %s of\n%s", name, text);
    return code;
}

static inline void unload(struct module *m)
{
    ptxi_arena_free(&m->arena);
}

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL_FOR(head, params, body) head ".visible .entry k(" params ")\n{\n" body "\nret;\n}\n"
#define KERNEL(params, body) KERNEL_FOR(HEAD, params, body)

/* Returns the number of operations with names that begin with the prefix. */
static inline unsigned count_ops(const struct ptxi_code *c, const char *prefix)
{
    unsigned n = 0;

    for (uint32_t k = 0; k < c->count; k++)
        n += !strncmp(ptxi_op_names[c->insns[k].op], prefix, strlen(prefix));
    return n;
}

static inline const struct ptxi_insn *find_among(const struct ptxi_insn *insns, uint32_t count, uint16_t op)
{
    for (uint32_t k = 0; k < count; k++)
        if (insns[k].op == op)
            return &insns[k];
    return NULL;
}

static inline const struct ptxi_insn *find_op(const struct ptxi_code *c, uint16_t op)
{
    return find_among(c->insns, c->count, op);
}

static inline const struct ptxi_insn *find_setup_op(const struct ptxi_code *c, uint16_t op)
{
    return find_among(c->setup, c->setup_count, op);
}

static inline uint64_t constant(const struct ptxi_code *c, uint16_t slot)
{
    for (uint32_t k = 0; k < c->const_count; k++)
        if (c->consts[k].slot == slot)
            return c->consts[k].value;
    ck_abort_msg("slot %u is not a constant", slot);
}

#endif
