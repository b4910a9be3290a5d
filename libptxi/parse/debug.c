/* PTX ISA, "Debugging Directives". Files and lines are kept; DWARF data is checked for its form only. */
#include "parse/parser.h"

/* The current token is the name of this file. */
static bool keep_file(struct parser *p, uint64_t index)
{
    const char **slot;

    if (p->text == p->part_text && index + p->part_files < p->files.count && ((const char **)p->files.data)[index + p->part_files]) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "file %llu is already given", (unsigned long long)index);
        return false;
    }
    index += p->part_files;
    while (p->files.count <= index) {
        if (!(slot = ptxi_vec_push(p, &p->files, sizeof *slot)))
            return false;
    }
    slot = (const char **)p->files.data + index;
    return (*slot = ptxi_arena_strndup(p->arena, p->tok.s, p->tok.n)) != NULL;
}

/* Files of absurd numbers have no names here. */
bool ptxi_debug_file(struct parser *p)
{
    uint64_t index, ignored;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 0, UINT32_MAX, "a file's number", &index))
        return false;
    if (p->tok.kind != PTXI_TOK_STRING)
        return ptxi_parse_expected(p, "a file name");
    if (index <= PTXI_MAX_FILES && !keep_file(p, index))
        return false;
    ptxi_parse_next(p);
    for (int i = 0; i < 2 && p->tok.kind == ','; i++) {
        ptxi_parse_next(p);
        if (!ptxi_expr_uint(p, 0, UINT64_MAX, i ? "a file size" : "a time stamp", &ignored))
            return false;
    }
    return true;
}

static bool parse_place(struct parser *p, uint32_t place[3])
{
    for (int i = 0; i < 3; i++) {
        if (p->tok.kind != PTXI_TOK_INT)
            return ptxi_parse_expected(p, "file, line and column");
        if (p->tok.number > UINT32_MAX && !(p->tok.number >> 63)) { /* as in ptxi_expr_uint */
            ptxi_parse_error(p, ptxi_parse_loc(p), "file, line and column have 32 bits");
            return false;
        }
        place[i] = (uint32_t)p->tok.number;
        ptxi_parse_next(p);
    }
    return true;
}

static bool want_version(struct parser *p, unsigned version, const char *what)
{
    if (p->version >= version)
        return true;
    ptxi_parse_error(p, ptxi_parse_loc(p), "%s in debug data requires PTX %u.%u or later", what, version / 10, version % 10);
    return false;
}

/* What PTX has another meaning for names no section. */
static bool at_section_name(const struct parser *p)
{
    return p->tok.kind == PTXI_TOK_WORD && ptxi_parse_directive(&p->tok) == PTXI_D_NONE && ptxi_isa_word(p->tok.s, p->tok.n) == PTXI_NO_WORD &&
           !ptxi_parse_is_word(p, "managed");
}

/* A label of .section data or the name of such a section, maybe + a constant. */
static bool parse_label_sum(struct parser *p)
{
    if (p->tok.kind != PTXI_TOK_NAME && !at_section_name(p))
        return ptxi_parse_expected(p, "a label or the name of a section");
    ptxi_parse_next(p);
    return !ptxi_parse_accept(p, '+') || ptxi_parse_want(p, PTXI_TOK_INT);
}

/* The same, or label - label. */
static bool parse_label_datum(struct parser *p)
{
    bool label = p->tok.kind == PTXI_TOK_NAME;

    if (!parse_label_sum(p))
        return false;
    return !label || p->tok.kind != '-' || (want_version(p, 75, "a difference of labels") && ptxi_parse_accept(p, '-') && ptxi_parse_want(p, PTXI_TOK_NAME));
}

static bool want_name(struct parser *p, const char *name)
{
    if (p->tok.kind != PTXI_TOK_NAME || p->tok.n != strlen(name) || memcmp(p->tok.s, name, p->tok.n))
        return ptxi_parse_expected(p, name);
    ptxi_parse_next(p);
    return true;
}

bool ptxi_debug_loc(struct parser *p)
{
    uint32_t place[3], inlined[3];

    ptxi_parse_next(p);
    if (!parse_place(p, place))
        return false;
    if (ptxi_parse_accept(p, ',')) {
        if (!want_version(p, 70, "an inlined function") || !want_name(p, "function_name") || !parse_label_sum(p) || !ptxi_parse_want(p, ',') ||
            !want_name(p, "inlined_at") || !parse_place(p, inlined))
            return false;
    }
    p->mark = (struct ptxi_line_mark){ 0, p->part_files + place[0], place[1], place[2] };
    p->mark_pending = p->fn != NULL;
    return true;
}

/* One value: a number of so many bits, or a label with an offset, or a difference of labels. */
static bool parse_datum(struct parser *p, unsigned bits)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    bool negative = p->tok.kind == '-';

    if (negative && !want_version(p, 75, "a negative number"))
        return false;
    ptxi_parse_accept(p, '-');
    if (p->tok.kind != PTXI_TOK_INT && bits < 32) {
        ptxi_parse_error(p, loc, "a label takes .b32 or .b64");
        return false;
    }
    if (p->tok.kind != PTXI_TOK_INT)
        return negative ? ptxi_parse_expected(p, "a number") : parse_label_datum(p);
    if (bits < 64 && (negative ? p->tok.number > UINT64_C(1) << (bits - 1) : p->tok.number >> bits)) {
        ptxi_parse_error(p, loc, "value does not fit .b%u", bits);
        return false;
    }
    ptxi_parse_next(p);
    return true;
}

/* label: ; the names are those of all sections of a module together. */
static bool parse_label(struct parser *p)
{
    struct ptxi_entry *e = ptxi_scope_entry(p, p->tok.s, p->tok.n);

    if (!e || !want_version(p, 70, "a label"))
        return false;
    if (e->section_text == p->text + 1u) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "label '%s' is already defined", e->name->s);
        return false;
    }
    e->section_text = p->text + 1u;
    ptxi_parse_next(p);
    return ptxi_parse_want(p, ':');
}

static unsigned data_width(const struct parser *p)
{
    return ptxi_parse_is_word(p, "b8") ? 8 : ptxi_parse_is_word(p, "b16") ? 16 : ptxi_parse_is_word(p, "b32") ? 32 : ptxi_parse_is_word(p, "b64") ? 64 : 0;
}

bool ptxi_debug_section(struct parser *p)
{
    p->have_dwarf = true;
    ptxi_parse_next(p);
    if (!at_section_name(p))
        return ptxi_parse_expected(p, "a section's name");
    ptxi_parse_next(p);
    if (!ptxi_parse_want(p, '{'))
        return false;
    while (p->tok.kind != '}') {
        unsigned bits = data_width(p);

        if (p->tok.kind == PTXI_TOK_NAME) {
            if (!parse_label(p))
                return false;
            continue;
        }
        if (!bits)
            return ptxi_parse_expected(p, "a label, '.b8', '.b16', '.b32', '.b64' or '}'");
        ptxi_parse_next(p);
        do
            if (!parse_datum(p, bits))
                return false;
        while (ptxi_parse_accept(p, ','));
    }
    ptxi_parse_next(p);
    return true;
}

/* @@DWARF: the form of old, a line each. */
bool ptxi_debug_dwarf(struct parser *p)
{
    uint32_t line = p->tok.line;

    p->have_dwarf = true;
    do
        ptxi_parse_next(p);
    while (p->tok.line == line && p->tok.kind != PTXI_TOK_END);
    return true;
}
