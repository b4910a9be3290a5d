/* PTX ISA, "Debugging Directives". Files and lines are kept. The syntax of DWARF data is checked, and the data is
 * dropped, except for the names of inlined functions in .debug_str, and the places of variables. */
#include "parse/debug_variables.h"
#include "parse/expr.h"
#include "parse/inlined.h"
#include "parse/statement.h"

#include <stdio.h>

enum { MAX_FILES = 1 << 20 }; /* files with a higher number have no name */

/* Stores the name in the current token as the name of file `index`. */
static bool add_file(struct parser *p, uint64_t index)
{
    const char **slot;

    if (p->text == p->part_text && index + p->part_files < p->files.count &&
        ((const char **)p->files.data)[index + p->part_files]) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "redefinition of file %llu", (unsigned long long)index);
        return false;
    }
    index += p->part_files;
    while (p->files.count <= index) {
        if (!(slot = ptxi_vec_push(p, &p->files, sizeof *slot)))
            return false;
    }
    assert(index < p->files.count);
    slot = (const char **)p->files.data + index;
    return (*slot = ptxi_arena_strndup(p->arena, p->tok.s, p->tok.n)) != NULL;
}

bool ptxi_debug_parse_file(struct parser *p)
{
    uint64_t index, ignored;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 0, UINT32_MAX, "the number of a file", &index))
        return false;
    if (p->tok.kind != PTXI_TOK_STRING)
        return ptxi_parse_error_expected(p, "a file name");
    if (index <= MAX_FILES && !add_file(p, index))
        return false;
    ptxi_parse_next(p);
    for (int i = 0; i < 2 && p->tok.kind == ','; i++) {
        ptxi_parse_next(p);
        if (!ptxi_expr_uint(p, 0, UINT64_MAX, i ? "a file size" : "a time stamp", &ignored))
            return false;
    }
    return true;
}

/* Parses file, line and column. */
static bool parse_location(struct parser *p, struct ptxi_source_line *place)
{
    uint32_t *const numbers[] = { &place->file, &place->line, &place->column };

    for (int i = 0; i < 3; i++) {
        if (p->tok.kind != PTXI_TOK_INT)
            return ptxi_parse_error_expected(p, "a file, a line and a column number");
        if (p->tok.number > UINT32_MAX && !(p->tok.number >> 63)) { /* negative numbers: see ptxi_expr_uint() */
            ptxi_parse_error(p, ptxi_parse_loc(p), "file, line and column numbers must fit in 32 bits");
            return false;
        }
        *numbers[i] = (uint32_t)p->tok.number;
        ptxi_parse_next(p);
    }
    place->file += p->part_files;
    return true;
}

/* Checks that the module has this PTX version, which `what` requires. */
static bool require_version(struct parser *p, unsigned version, const char *what)
{
    if (p->version >= version)
        return true;
    ptxi_parse_error(p, ptxi_parse_loc(p), "%s in debug data requires PTX %u.%u or later", what, version / 10,
                     version % 10);
    return false;
}

/* The name of a section. Words that have another meaning in PTX are no names. */
static bool at_section_name(const struct parser *p)
{
    return p->tok.kind == PTXI_TOK_WORD && ptxi_parse_directive(&p->tok) == PTXI_D_NONE &&
           ptxi_isa_word(p->tok.s, p->tok.n) == PTXI_NO_WORD && !ptxi_parse_is_word(p, "managed");
}

/* A label in a section or the name of a section, optionally + a constant. */
static bool parse_label_offset(struct parser *p, struct ptxi_inlined_label *label)
{
    if (p->tok.kind != PTXI_TOK_NAME && !at_section_name(p))
        return ptxi_parse_error_expected(p, "a label or the name of a section");
    if (label && !(label->entry = ptxi_scope_entry(p, p->tok.s, p->tok.n)))
        return false;
    ptxi_parse_next(p);
    if (!ptxi_parse_accept(p, '+'))
        return true;
    if (label)
        label->offset = p->tok.number;
    return ptxi_parse_expect(p, PTXI_TOK_INT);
}

/* The same, or label - label. */
static bool parse_label_value(struct parser *p, struct ptxi_inlined_label *value)
{
    bool label = p->tok.kind == PTXI_TOK_NAME;

    if (!parse_label_offset(p, value))
        return false;
    return !label || p->tok.kind != '-' || (require_version(p, 75, "a difference of labels") &&
                                            ptxi_parse_accept(p, '-') && ptxi_parse_expect(p, PTXI_TOK_NAME));
}

/* Passes over this keyword. */
static bool expect_keyword(struct parser *p, const char *name)
{
    char quoted[32];

    if (p->tok.kind != PTXI_TOK_NAME || p->tok.n != strlen(name) || memcmp(p->tok.s, name, p->tok.n)) {
        snprintf(quoted, sizeof quoted, "'%s'", name);
        return ptxi_parse_error_expected(p, quoted);
    }
    ptxi_parse_next(p);
    return true;
}

bool ptxi_debug_parse_loc(struct parser *p)
{
    struct ptxi_source_line place = { 0 }, call = { 0 };
    struct ptxi_inlined_label name = { 0 };
    bool inlined;

    ptxi_parse_next(p);
    if (!parse_location(p, &place))
        return false;
    inlined = ptxi_parse_accept(p, ',');
    if (inlined && (!require_version(p, 70, "an inlined function") || !expect_keyword(p, "function_name") ||
                    !parse_label_offset(p, &name) || !ptxi_parse_expect(p, ',') || !expect_keyword(p, "inlined_at") ||
                    !parse_location(p, &call)))
        return false;
    p->mark = (struct ptxi_line_mark){ 0, place };
    p->mark_pending = p->fn != NULL;
    return ptxi_inlined_note(p, inlined ? &call : NULL, &name);
}

/* PTX ISA, "Debugging Directives: .loc_intermediate". The place in the intermediate language is dropped. */
bool ptxi_debug_parse_intermediate_loc(struct parser *p)
{
    struct ptxi_source_line place;

    if (!ptxi_parse_require_for_token(p, 94, 10))
        return false;
    ptxi_parse_next(p);
    return parse_location(p, &place);
}

/* Passes over .name and a colon that follows it at once. */
static bool expect_field(struct parser *p, const char *name)
{
    const char *after = p->tok.s + p->tok.n;
    char quoted[32];

    if (!ptxi_parse_is_word(p, name) || after >= p->lx.end || *after != ':') {
        snprintf(quoted, sizeof quoted, "'.%s:'", name);
        return ptxi_parse_error_expected(p, quoted);
    }
    ptxi_parse_next(p);
    return ptxi_parse_expect(p, ':');
}

static bool expect_known_file(struct parser *p)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t index = p->part_files;

    if (p->tok.kind != PTXI_TOK_INT)
        return ptxi_parse_error_expected(p, "the number of a file");
    index += p->tok.number <= MAX_FILES ? p->tok.number : MAX_FILES + 1;
    if (index >= p->files.count || !((const char **)p->files.data)[index]) {
        ptxi_parse_error(p, loc, "undefined file %llu", (unsigned long long)p->tok.number);
        return false;
    }
    ptxi_parse_next(p);
    return true;
}

/* A text in an intermediate language, which is any text up to a line with .source_end. */
static bool parse_code_block(struct parser *p)
{
    if (!ptxi_parse_expect(p, '{') || !expect_field(p, "ir_name") || !ptxi_parse_expect(p, PTXI_TOK_STRING) ||
        !expect_field(p, "sourceFileName") || !expect_known_file(p))
        return false;
    if (!ptxi_parse_is_word(p, "source_begin"))
        return ptxi_parse_error_expected(p, "'.source_begin'");
    if (!ptxi_lex_skip_text(&p->lx, ".source_end")) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.source_begin' must end its line, and a line with only '.source_end' "
                         "must follow");
        return false;
    }
    ptxi_parse_next(p);
    return ptxi_parse_expect(p, '}');
}

/* PTX ISA, "Debugging Directives: .nv_intermediate_source_section". The texts are dropped. */
bool ptxi_debug_parse_sources(struct parser *p)
{
    if (!ptxi_parse_require_for_token(p, 94, 10))
        return false;
    ptxi_parse_next(p);
    if (!ptxi_parse_expect(p, '{'))
        return false;
    while (ptxi_parse_is_word(p, "code_block")) {
        ptxi_parse_next(p);
        if (!parse_code_block(p))
            return false;
    }
    return ptxi_parse_expect(p, '}');
}

/* The number of a domain of metadata. 1 is that of trace.mark, and there is no other. */
static bool parse_metadata_domain(struct parser *p)
{
    static const struct ptxi_target family = { 107, 'f' };
    const struct ptxi_row row = { .targets = &family, .target_count = 1 };

    if (!ptxi_parse_require_for_token(p, 95, 90))
        return false;
    if (!ptxi_isa_target_ok(&row, p->target)) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.metadata_domain' requires .target sm_107f");
        return false;
    }
    ptxi_parse_next(p);
    if (p->tok.kind == PTXI_TOK_INT && p->tok.number != 1) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "the domain of metadata must be 1");
        return false;
    }
    return ptxi_parse_expect(p, PTXI_TOK_INT);
}

/* .metadata_section, of which there is no text but that of ptxas. Other content than a domain is not known. */
bool ptxi_debug_parse_metadata(struct parser *p)
{
    if (p->have_metadata) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "redefinition of '.metadata_section'");
        return false;
    }
    p->have_metadata = true;
    ptxi_parse_next(p);
    return ptxi_parse_expect(p, '{') &&
           (!ptxi_parse_is_word(p, "metadata_domain") || parse_metadata_domain(p)) && ptxi_parse_expect(p, '}');
}

/* A label with an offset, or a difference of labels. */
static bool parse_name(struct parser *p, unsigned bits, enum ptxi_debug_section section)
{
    struct ptxi_inlined_label label = { 0 };
    const bool is_place = ptxi_debug_expects_place(p, section, bits) && p->tok.kind == PTXI_TOK_NAME;

    return parse_label_value(p, is_place ? &label : NULL) &&
           (!is_place || ptxi_debug_add_place(p, label.entry->name)) &&
           ptxi_debug_add_number(p, section, label.offset, bits);
}

/* One value: a number with this many bits, or a name. */
static bool parse_value(struct parser *p, unsigned bits, enum ptxi_debug_section section)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    bool negative = p->tok.kind == '-';

    if (negative && !require_version(p, 75, "a negative number"))
        return false;
    ptxi_parse_accept(p, '-');
    if (p->tok.kind != PTXI_TOK_INT && bits < 32) {
        ptxi_parse_error(p, loc, "invalid width for a label: it requires .b32 or .b64");
        return false;
    }
    if (p->tok.kind != PTXI_TOK_INT)
        return negative ? ptxi_parse_error_expected(p, "a number") : parse_name(p, bits, section);
    if (bits < 64 && (negative ? p->tok.number > UINT64_C(1) << (bits - 1) : p->tok.number >> bits)) {
        ptxi_parse_error(p, loc, "value does not fit in .b%u", bits);
        return false;
    }
    if (!ptxi_debug_add_number(p, section, negative ? -p->tok.number : p->tok.number, bits))
        return false;
    ptxi_parse_next(p);
    return true;
}

/* A label and its colon. All sections of a module share their labels. */
static bool parse_label(struct parser *p, enum ptxi_debug_section section)
{
    struct ptxi_entry *e = ptxi_scope_entry(p, p->tok.s, p->tok.n);

    if (!e || !require_version(p, 70, "a label"))
        return false;
    if (e->section_text == p->text + 1u) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "redefinition of label '%s'", e->name->s);
        return false;
    }
    e->section_text = p->text + 1u;
    e->in_debug_str = section == PTXI_SECTION_STR;
    e->string_offset = (uint32_t)p->debug_str.count;
    ptxi_parse_next(p);
    return ptxi_parse_expect(p, ':');
}

/* The width of .b8, .b16, .b32 or .b64, or 0. */
static unsigned data_width(const struct parser *p)
{
    switch (p->tok.kind == PTXI_TOK_WORD ? ptxi_isa_word(p->tok.s, p->tok.n) : PTXI_NO_WORD) {
    case PTXI_T_b8: return 8;
    case PTXI_T_b16: return 16;
    case PTXI_T_b32: return 32;
    case PTXI_T_b64: return 64;
    default: return 0;
    }
}

/* The section that the current token names. */
static enum ptxi_debug_section find_section(const struct parser *p)
{
    static const struct {
        const char *name;
        enum ptxi_debug_section section;
    } kept[] = { { "debug_str", PTXI_SECTION_STR }, /* names of functions, for .loc */
                 { "debug_info", PTXI_SECTION_INFO },
                 { "debug_abbrev", PTXI_SECTION_ABBREV } };

    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (p->tok.n == strlen(kept[k].name) && !memcmp(p->tok.s, kept[k].name, p->tok.n))
            return kept[k].section;
    return PTXI_SECTION_OTHER;
}

bool ptxi_debug_parse_section(struct parser *p)
{
    p->have_dwarf = true;
    ptxi_parse_next(p);
    if (!at_section_name(p))
        return ptxi_parse_error_expected(p, "the name of a section");
    const enum ptxi_debug_section section = find_section(p);

    ptxi_parse_next(p);
    if (!ptxi_parse_expect(p, '{'))
        return false;
    while (p->tok.kind != '}') {
        unsigned bits = data_width(p);

        if (p->tok.kind == PTXI_TOK_NAME) {
            if (!parse_label(p, section))
                return false;
            continue;
        }
        if (!bits)
            return ptxi_parse_error_expected(p, "a label, '.b8', '.b16', '.b32', '.b64' or '}'");
        ptxi_parse_next(p);
        do
            if (!parse_value(p, bits, section))
                return false;
        while (ptxi_parse_accept(p, ','));
    }
    ptxi_parse_next(p);
    return true;
}

/* @@DWARF, the syntax of old PTX versions: the rest of the line is debug data. */
bool ptxi_debug_parse_dwarf(struct parser *p)
{
    uint32_t line = p->tok.line;

    p->have_dwarf = true;
    do
        ptxi_parse_next(p);
    while (p->tok.line == line && p->tok.kind != PTXI_TOK_END);
    return true;
}
