/* Modules: the directives of the outermost level, the parts of a linked module, and ptxi_parse(). */
#include "parse/debug_variables.h"
#include "parse/inlined.h"
#include "parse/statement.h"

/* A variable, kernel or function. */
static bool parse_definition(struct parser *p)
{
    uint8_t linkage;

    if (!ptxi_linkage_parse(p, &linkage))
        return false;
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_entry:
        return ptxi_func_parse(p, linkage, true);
    case PTXI_D_func:
        return ptxi_func_parse(p, linkage, false);
    default:
        if (ptxi_var_can_start(p))
            return ptxi_var_parse(p, linkage);
        return ptxi_parse_error_expected(p, "a directive of a module");
    }
}

static bool report_misplaced(struct parser *p)
{
    ptxi_parse_error(p, ptxi_parse_loc(p),
                     "misplaced '.%.*s': a module must begin with .version, .target, .address_size", (int)p->tok.n,
                     p->tok.s);
    return false;
}

static bool parse_item(struct parser *p)
{
    assert(p->names.depth == 0 && !p->fn);
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_version: return ptxi_target_parse_module_head(p);
    case PTXI_D_target: return report_misplaced(p);
    case PTXI_D_address_size: return report_misplaced(p);
    case PTXI_D_file: return ptxi_debug_parse_file(p);
    case PTXI_D_section: return ptxi_debug_parse_section(p);
    case PTXI_D_nv_intermediate_source_section: return ptxi_debug_parse_sources(p);
    case PTXI_D_metadata_section: return ptxi_debug_parse_metadata(p);
    case PTXI_D_pragma: return ptxi_pragma_parse(p, PTXI_PRAGMA_MODULE);
    case PTXI_D_alias: return ptxi_func_parse_alias(p);
    default:
        return p->tok.kind == PTXI_TOK_DWARF ? ptxi_debug_parse_dwarf(p) : parse_definition(p);
    }
}

/* After an error outside of functions: skips to the next ';' or block, and passes over it. */
static void recover(struct parser *p)
{
    unsigned depth = 0;

    for (;; ptxi_parse_next(p)) {
        if (p->tok.kind == PTXI_TOK_END)
            return;
        depth += p->tok.kind == '{';
        if (p->tok.kind == '}' && depth > 0)
            depth--;
        else if (p->tok.kind != '}' && p->tok.kind != ';')
            continue;
        if (depth == 0) {
            ptxi_parse_accept(p, '}'); /* of an initializer, which ';' follows */
            ptxi_parse_accept(p, ';');
            return;
        }
    }
}

static void parse_module(struct parser *p)
{
    p->debug = p->have_dwarf = false;
    ptxi_parse_next(p);
    if (!ptxi_target_parse_module_head(p))
        return;
    while (p->tok.kind != PTXI_TOK_END && !p->arena->oom && !ptxi_diag_full(p->diags))
        if (!parse_item(p))
            recover(p);
    ptxi_inlined_end_text(p);
    ptxi_debug_end_text(p);
    if (p->debug && !p->have_dwarf)
        ptxi_parse_error(p, PTXI_LOC_NONE, "'.target debug' requires debug data in a .section");
}

static void parse_parts(struct parser *p, const struct ptxi_texts *parts)
{
    for (uint32_t i = 0; i < parts->count && !p->arena->oom && !ptxi_diag_full(p->diags); i++) {
        const struct ptxi_text *t = &parts->at[i];

        if (i) {
            ptxi_scope_end_part(p);
            p->part_text = p->text + 1;
            p->part_files = (uint32_t)p->files.count;
        }
        ptxi_lex_init(&p->lx, t->s, t->size, p->diags);
        p->lx.line = t->first_line;
        parse_module(p);
    }
}

static struct ptxi_module_ast *finish(struct parser *p)
{
    struct ptxi_module_ast *m = p->ast;

    /* As ptxas does: modules before PTX 2.3 do not say which size they have. */
    if (!p->narrow_addresses)
        m->address_size = 64;
    m->func_count = (uint32_t)p->funcs.count;
    m->var_count = (uint32_t)p->vars.count;
    m->file_count = (uint32_t)p->files.count;
    m->funcs = ptxi_vec_move_to_arena(p, &p->funcs, sizeof *m->funcs);
    m->vars = ptxi_vec_move_to_arena(p, &p->vars, sizeof *m->vars);
    m->files = ptxi_vec_move_to_arena(p, &p->files, sizeof *m->files);
    return p->arena->oom || p->diags->oom || p->diags->errors ? NULL : m;
}

static void free_parser(struct parser *p)
{
    struct ptxi_vec *all[] = { &p->funcs, &p->vars, &p->files, &p->bodies, &p->debug_str, &p->debug_info,
                               &p->debug_abbrev, &p->debug_places, &p->insts, &p->regs, &p->fn_vars, &p->labels,
                               &p->marks, &p->init, &p->relocs };

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        ptxi_alloc_put(p->arena->alloc, all[i]->data);
    ptxi_alloc_put(p->arena->alloc, p);
}

struct ptxi_module_ast *ptxi_parse(const char *text, size_t size, const struct ptxi_parse_options *options,
                                   struct ptxi_arena *arena, struct ptxi_diag *diags)
{
    struct parser *p = ptxi_alloc_get(arena->alloc, sizeof *p);
    struct ptxi_module_ast *m;

    if (!p)
        return NULL;
    memset(p, 0, offsetof(struct parser, raw));
    p->options = options;
    p->arena = arena;
    p->diags = diags;
    m = p->ast = ARENA_NEW(arena, struct ptxi_module_ast, 1);
    if (m) {
        struct ptxi_text whole = { options->file, text, size, 1 };

        m->arena = arena;
        m->names = ptxi_names_new(arena);
        m->address_size = 32;
        if (m->names)
            parse_parts(p, options->parts ? options->parts : &(struct ptxi_texts){ &whole, 1 });
        m = finish(p);
    }
    free_parser(p);
    return m;
}
