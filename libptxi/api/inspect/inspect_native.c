/* The machine code of functions, for `ptxi dump`. */
#include "api/inspect/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/module/module.h"
#include "compile/compile.h"
#include "exec/sched/cpu_level.h"
#include "native/native.h"

struct pieces {
    const char **title;
    unsigned *at, count;
    bool oom;
};

static void add_piece(struct pieces *p, unsigned at, struct ptxi_str *title)
{
    p->title[p->count] = strdup(ptxi_str_text(title));
    p->oom |= !p->title[p->count];
    p->at[p->count++] = at;
    ptxi_str_free(title);
}

static void add_named(struct pieces *p, unsigned at, const char *name)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_str_puts(&s, name);
    add_piece(p, at, &s);
}

static void add_pieces(struct pieces *p, const struct ptxi_code *code, const struct ptxi_native_listing *l)
{
    add_named(p, l->enter, "enter, leave");
    for (uint32_t k = 0; k < code->count; k++) {
        struct ptxi_str s;

        if (!l->begin[k]) /* a guarded operation */
            continue;
        ptxi_str_init(&s, NULL);
        ptxi_dump_insn(code, k, &s);
        p->oom |= s.oom;
        add_piece(p, l->begin[k], &s);
    }
    for (uint32_t k = 0; k < l->rare_count; k++) {
        char text[64];

        snprintf(text, sizeof text, "rare case of %" PRIu32, l->rare[k].insn);
        add_named(p, l->rare[k].at, text);
    }
}

static void free_pieces(struct pieces *p)
{
    for (unsigned k = 0; k < p->count; k++)
        free((void *)p->title[k]);
    free(p->title);
    free(p->at);
}

static ptxiResult show_function(const struct ptxi_code *code,
                                void (*show)(void *ctx, const struct ptxi_native_info *info), void *ctx)
{
    struct ptxi_native_listing l;
    struct pieces p = { .count = 0 };
    size_t most;

    if (!ptxi_native_list(code, ptxi_exec_level()->table, &l))
        return PTXI_ERROR_NOT_SUPPORTED;
    most = (size_t)code->count + l.rare_count + 1;
    p.title = calloc(most, sizeof *p.title);
    p.at = calloc(most, sizeof *p.at);
    p.oom = !p.title || !p.at;
    if (!p.oom)
        add_pieces(&p, code, &l);
    if (!p.oom)
        show(ctx, &(struct ptxi_native_info){ code->name, l.bytes, l.size, l.enter, p.count, p.title, p.at });
    ptxi_native_listing_free(&l);
    free_pieces(&p);
    return p.oom ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_SUCCESS;
}

ptxiResult ptxi_inspect_native(ptxiModule module, const char *function,
                               void (*show)(void *ctx, const struct ptxi_native_info *info), void *ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_module(module);
    bool found = false;

    for (uint32_t i = 0; !r && i < module->tree->func_count; i++) {
        const struct ptxi_func *f = module->tree->funcs[i];
        const struct ptxi_code *code;

        if (!f->has_body || (function && strcmp(f->name->s, function)))
            continue;
        code = ptxi_module_code(module, i, false);
        found = true;
        r = code ? show_function(code, show, ctx) : PTXI_ERROR_OUT_OF_MEMORY;
    }
    return r || found || !function ? r : PTXI_ERROR_NOT_FOUND;
}
