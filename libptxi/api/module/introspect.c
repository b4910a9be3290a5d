/* Texts about a module for tools: unsupported instructions, and the bytecode. */
#include "api/module/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ptxiResult ptxi_api_give_text(struct ptxi_str *s, char **text)
{
    char *copy = s->oom ? NULL : strdup(ptxi_str_text(s));

    ptxi_str_free(s);
    if (!copy)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *text = copy;
    return PTXI_SUCCESS;
}

static void list_line(const struct ptxiModule_st *m, uint32_t line, uint32_t column, const char *function,
                      const char *what, struct ptxi_str *s)
{
    struct ptxi_loc loc = { line, column, 1 };
    const struct ptxi_text *t = ptxi_text_at(&m->texts, &loc);

    ptxi_str_printf(s, "%s:%u:%u: %s: %s\n", t->name, loc.line, loc.col, function, what);
}

/* Lists a function that is too large. False if it has no code for lack of memory. */
static bool list_too_large(const struct ptxiModule_st *m, uint32_t function, struct ptxi_str *s)
{
    const struct ptxi_func *f = m->tree->funcs[function];
    const struct ptxi_callee *callees = m->variants[false].program.functions;
    const char *why = callees ? atomic_load(&callees[function].too_large) : NULL;

    if (why)
        list_line(m, f->loc.line, f->loc.col, f->name->s, why, s);
    return why;
}

/* Lists a kernel that launches refuse. */
static void list_local(const struct ptxiModule_st *m, const struct ptxi_func *f, uint32_t bytes, struct ptxi_str *s)
{
    char why[80];

    snprintf(why, sizeof why, "%u bytes of .local variables, a thread has %d", bytes, PTXI_MAX_LOCAL_VARIABLES);
    list_line(m, f->loc.line, f->loc.col, f->name->s, why, s);
}

static void list_unsupported(const struct ptxiModule_st *m, const struct ptxi_code *code, struct ptxi_str *s)
{
    for (uint32_t i = 0; i < code->count; i++)
        if (code->insns[i].op == PTXI_OP_unsupported)
            list_line(m, code->locs[i].line, code->locs[i].column, code->name, code->unsupported[code->insns[i].imm],
                      s);
}

ptxiResult ptxiModuleGetUnsupported(ptxiModule mod, char **text)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(mod);
    struct ptxi_str s;

    if (r)
        return r;
    if (!text)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_str_init(&s, NULL);
    for (uint32_t i = 0; i < mod->tree->func_count; i++) {
        const struct ptxi_func *f = mod->tree->funcs[i];
        const struct ptxi_code *code = f->has_body ? ptxi_module_code(mod, i, false) : NULL;

        if (f->has_body && !code && !list_too_large(mod, i, &s))
            s.oom = true;
        if (code && code->local_bytes > PTXI_MAX_LOCAL_VARIABLES)
            list_local(mod, f, code->local_bytes, &s);
        if (code && code->unsupported_count)
            list_unsupported(mod, code, &s);
    }
    return ptxi_api_give_text(&s, text);
}

ptxiResult ptxiModuleDump(ptxiModule mod, const char *function, char **text)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(mod);
    struct ptxi_str s;
    bool found = !function;

    if (r)
        return r;
    if (!text)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_str_init(&s, NULL);
    for (uint32_t i = 0; i < mod->tree->func_count; i++) {
        const struct ptxi_func *f = mod->tree->funcs[i];

        if (!f->has_body || (function && strcmp(f->name->s, function)))
            continue;
        const struct ptxi_code *code = ptxi_module_code(mod, i, false);

        found = true;
        if (code)
            ptxi_dump(code, &s);
        else if (!list_too_large(mod, i, &s))
            s.oom = true;
    }
    if (!found) {
        ptxi_str_free(&s);
        return PTXI_ERROR_NOT_FOUND;
    }
    return ptxi_api_give_text(&s, text);
}
