/* Directives that precede or accompany a definition: .attribute, .pragma, and linking directives. */
#include "parse/expr.h"
#include "parse/statement.h"

/* ---- .pragma ---- */

/* PTX ISA, "Pragma Strings": the pragmas of function bodies. A value follows the name after one character. */
static const struct { const char *name; uint16_t ptx; bool number, kernels_only; } pragmas[] = {
    { "used_bytes_mask", 83, true, false },
    { "enable_smem_spilling", 87, false, true },
    { "frequency", 90, true, false },
};

/* Why the pragma in the current token is not accepted, or NULL. Unknown pragmas are ignored in functions only. */
static const char *find_pragma_error(const struct parser *p, enum ptxi_pragma_place place)
{
    const struct ptxi_token *t = &p->tok;

    for (unsigned i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
        size_t n = strlen(pragmas[i].name);

        if (t->n < n || memcmp(t->s, pragmas[i].name, n))
            continue;
        if (place != PTXI_PRAGMA_BODY)
            return "is only accepted in the body of a function";
        if (p->version < pragmas[i].ptx)
            return "requires a later PTX version";
        if (pragmas[i].kernels_only && !p->fn->is_entry)
            return "is only accepted in kernels";
        if (pragmas[i].number && (t->n < n + 2 || t->s[n + 1] < '0' || t->s[n + 1] > '9'))
            return "requires a number";
        return NULL;
    }
    return place == PTXI_PRAGMA_MODULE && (t->n != 8 || memcmp(t->s, "nounroll", 8)) ? "is unknown" : NULL;
}

/* Reads a pragma of include/ptxi_annotate.h. Others do nothing. */
static void note_annotation(struct parser *p)
{
    static const char begin[] = "ptxi.intended_race.begin", end[] = "ptxi.intended_race.end";
    const struct ptxi_token *t = &p->tok;

    if (t->n == sizeof begin - 1 && !memcmp(t->s, begin, t->n))
        p->intends_race = true;
    else if (t->n == sizeof end - 1 && !memcmp(t->s, end, t->n))
        p->intends_race = false;
}

bool ptxi_pragma_parse(struct parser *p, enum ptxi_pragma_place place)
{
    assert(place != PTXI_PRAGMA_BODY || p->fn);
    ptxi_parse_next(p);
    do {
        const char *why = p->tok.kind == PTXI_TOK_STRING ? find_pragma_error(p, place) : NULL;

        if (why)
            ptxi_parse_error(p, ptxi_parse_loc(p), "pragma \"%.*s\" %s", (int)p->tok.n, p->tok.s, why);
        if (place == PTXI_PRAGMA_BODY && p->tok.kind == PTXI_TOK_STRING)
            note_annotation(p);
        if (!ptxi_parse_expect(p, PTXI_TOK_STRING))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, ';');
}

/* ---- .attribute ---- */

/* The identifiers of .unified(1, 2), which have no meaning here. */
static bool parse_unified_ids(struct parser *p)
{
    static const char what[] = "an identifier of '.unified'";
    uint64_t id;

    return ptxi_parse_expect(p, '(') && ptxi_expr_uint(p, 0, UINT64_MAX, what, &id) && ptxi_parse_expect(p, ',') &&
           ptxi_expr_uint(p, 0, UINT64_MAX, what, &id) && ptxi_parse_expect(p, ')');
}

bool ptxi_attribute_parse(struct parser *p, uint8_t *attributes)
{
    ptxi_parse_next(p);
    if (!ptxi_parse_expect(p, '('))
        return false;
    do {
        bool unified = ptxi_parse_is_word(p, "unified");

        if (!unified && !ptxi_parse_is_word(p, "managed"))
            return ptxi_parse_error_expected(p, "'.managed' or '.unified'");
        if (unified && !ptxi_parse_require_for_token(p, 80, 90))
            return false;
        *attributes |= unified ? PTXI_ATTRIBUTE_UNIFIED : PTXI_ATTRIBUTE_MANAGED;
        ptxi_parse_next(p);
        if (unified && !parse_unified_ids(p))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, ')');
}

/* ---- linking directives ---- */

/* The enum ptxi_linkage of a directive, or -1. */
static int linkage_of(enum ptxi_directive d)
{
    switch (d) {
    case PTXI_D_extern: return PTXI_LINK_EXTERN;
    case PTXI_D_visible: return PTXI_LINK_VISIBLE;
    case PTXI_D_weak: return PTXI_LINK_WEAK;
    case PTXI_D_common: return PTXI_LINK_COMMON;
    default: return -1;
    }
}

bool ptxi_linkage_parse(struct parser *p, uint8_t *linkage)
{
    int found = linkage_of(ptxi_parse_directive(&p->tok));

    *linkage = found < 0 ? PTXI_LINK_STATIC : (uint8_t)found;
    if (found < 0)
        return true;
    ptxi_parse_next(p);
    if (linkage_of(ptxi_parse_directive(&p->tok)) < 0)
        return true;
    ptxi_parse_error(p, ptxi_parse_loc(p), "more than one linking directive");
    return false;
}
