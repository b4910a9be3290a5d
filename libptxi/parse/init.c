/* Initializers of variables: lists of values and addresses, and the properties of samplers (PTX ISA,
 * "Initializers"). */
#include "parse/statement.h"

#include "parse/expr.h"

#include "isa/bytecode.h"

/* Grows the initial value to at least this size, with zeros. */
static bool grow_init(struct ptxi_initializer *in, uint64_t size)
{
    struct ptxi_vec *b = &in->p->init;

    if (size > in->limit) {
        ptxi_parse_error(in->p, ptxi_parse_loc(in->p), "initializer is too large: at most %llu bytes are accepted",
                         (unsigned long long)in->limit);
        return false;
    }
    if (size > b->cap) {
        uint64_t cap = b->cap * 2 > size ? b->cap * 2 : size + 64;
        char *data = ptxi_alloc_resize(in->p->arena->alloc, b->data, cap);

        if (!data) {
            in->p->arena->oom = true;
            return false;
        }
        b->data = data;
        b->cap = cap;
    }
    if (size > b->count) {
        memset(b->data + b->count, 0, size - b->count);
        b->count = size;
    }
    return true;
}

static bool store_scalar(struct ptxi_initializer *in, uint64_t offset, uint64_t bits)
{
    if (!grow_init(in, offset + in->scalar))
        return false;
    assert(in->scalar && offset + in->scalar <= in->p->init.count);
    memcpy(in->p->init.data + offset, &bits, in->scalar < 8 ? in->scalar : 8); /* little-endian, as PTX is */
    return true;
}

/* Resolves the name in the current token to a variable or function. */
static bool resolve_symbol(struct parser *p, struct ptxi_reloc *r)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    struct ptxi_found f;

    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f)) {
        ptxi_parse_error(p, loc, "use of undeclared name '%.*s'", (int)p->tok.n, p->tok.s);
        return false;
    }
    if (f.sym->kind == PTXI_SYM_FUNC && !r->generic) {
        r->func = f.sym->func;
        return true;
    }
    if (f.sym->kind != PTXI_SYM_VAR || f.sym->var->opaque ||
        (f.sym->var->space != PTXI_SPACE_GLOBAL && f.sym->var->space != PTXI_SPACE_CONST)) {
        ptxi_parse_error(p, loc, "invalid address '%.*s': it must be a .global or .const variable%s", (int)p->tok.n,
                         p->tok.s, r->generic ? "" : ", or a function");
        return false;
    }
    r->var = f.sym->var;
    return true;
}

/* A name or generic(name), optionally followed by + offset. */
static bool parse_symbol(struct ptxi_initializer *in, struct ptxi_reloc *r)
{
    struct parser *p = in->p;
    bool parens = p->tok.n == 7 && !memcmp(p->tok.s, "generic", 7) && ptxi_lex_at_paren(&p->lx);

    if (parens) {
        ptxi_parse_next(p);
        ptxi_parse_next(p);
        r->generic = true;
    }
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a variable or function");
    if (!resolve_symbol(p, r))
        return false;
    ptxi_parse_next(p);
    if (parens && !ptxi_parse_expect(p, ')'))
        return false;
    if (r->func && p->tok.kind == '+')
        return ptxi_parse_error_expected(p, "',' or ';' after the address of a function");
    return !ptxi_parse_accept(p, '+') || ptxi_expr_offset(p, &r->addend);
}

static bool parse_address(struct ptxi_initializer *in, uint64_t offset, unsigned shift, bool masked)
{
    struct parser *p = in->p;
    struct ptxi_reloc r = { .shift = (uint8_t)shift, .offset = offset, .bytes = (uint8_t)(masked ? 1 : in->scalar) };
    struct ptxi_reloc *slot;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    const struct ptxi_type_info *t = &ptxi_types[in->v->type];

    if (t->class != 'U' || t->bits == 16 || (t->bits < 32 && !masked)) {
        ptxi_parse_error(p, loc, "a variable of type .%s cannot hold an address: it must be of type %s", t->name,
                         masked ? ".u8, .u32 or .u64" : ".u32 or .u64");
        return false;
    }
    if (!parse_symbol(in, &r) || !(slot = ptxi_vec_push(p, &p->relocs, sizeof r)))
        return false;
    *slot = r;
    return store_scalar(in, offset, 0);
}

/* 0xFF00(expression): one byte of an address or of a constant */
static bool parse_mask(struct ptxi_initializer *in, uint64_t offset)
{
    struct parser *p = in->p;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t mask = p->tok.number;
    unsigned shift = 0;
    struct ptxi_value v;

    if (p->version < 71) {
        ptxi_parse_error(p, loc, "a mask operator requires PTX 7.1 or later");
        return false;
    }
    while (shift < 56 && mask != UINT64_C(0xff) << shift)
        shift += 8;
    if (mask != UINT64_C(0xff) << shift) {
        ptxi_parse_error(p, loc, "invalid mask: it must be 0xFF, 0xFF00, ... or 0xFF00000000000000");
        return false;
    }
    ptxi_parse_next(p);
    ptxi_parse_next(p);
    if (ptxi_parse_at_name(p))
        return parse_address(in, offset, shift, true) && ptxi_parse_expect(p, ')');
    if (!ptxi_expr_can_start(p))
        return ptxi_parse_error_expected(p, "a constant or a variable");
    if (!ptxi_expr_parse(p, &v) || !ptxi_parse_expect(p, ')'))
        return false;
    if (v.kind != PTXI_VAL_INT) {
        ptxi_parse_error(p, v.loc, "invalid operand of a mask operator: it must be an integer or an address");
        return false;
    }
    return store_scalar(in, offset, v.bits >> shift & 0xff);
}

static bool parse_scalar(struct ptxi_initializer *in, uint64_t offset)
{
    struct parser *p = in->p;
    struct ptxi_value v;
    uint64_t bits;

    if (p->tok.kind == PTXI_TOK_INT && ptxi_lex_at_paren(&p->lx))
        return parse_mask(in, offset);
    if (ptxi_parse_at_name(p))
        return parse_address(in, offset, 0, false);
    if (!ptxi_expr_can_start(p))
        return ptxi_parse_error_expected(p, "a constant");
    if (!ptxi_expr_parse(p, &v))
        return false;
    if (!ptxi_expr_convert(&v, in->v->type, true, &bits)) {
        ptxi_parse_error(p, v.loc, "cannot initialize a variable of type .%s with %s constant",
                         ptxi_types[in->v->type].name, v.kind == PTXI_VAL_INT ? "an integer" : "a floating-point");
        return false;
    }
    return store_scalar(in, offset, bits);
}

/* Parses the list of dimension d. Its first element is at this offset. */
static bool parse_list(struct ptxi_initializer *in, unsigned d, uint64_t offset)
{
    struct parser *p = in->p;
    uint64_t n = 0;

    assert(d <= in->dim_count && in->dim_count <= PTXI_MAX_DIMENSIONS + 1);
    if (d == in->dim_count)
        return parse_scalar(in, offset);
    if (p->tok.kind != '{')
        return ptxi_parse_error_expected(p, "'{'");
    ptxi_parse_next(p);
    if (p->tok.kind == '}' && in->dims[d]) { /* {}: all elements are zero */
        ptxi_parse_next(p);
        return true;
    }
    do {
        if (in->dims[d] && n == in->dims[d]) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "too many values: this dimension has %llu elements",
                             (unsigned long long)n);
            return false;
        }
        if (!parse_list(in, d + 1, offset + n * in->stride[d]))
            return false;
        n++;
    } while (ptxi_parse_accept(p, ','));
    if (!in->dims[d])
        in->dims[d] = n;
    if (in->v->vector > 1 && d + 1 == in->dim_count && n != in->v->vector) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "a vector of %u elements requires %u values", in->v->vector,
                         in->v->vector);
        return false;
    }
    return ptxi_parse_expect(p, '}');
}

static bool finish_init(struct parser *p, struct ptxi_var *v)
{
    v->init_size = p->init.count;
    v->init = ptxi_vec_move_to_arena(p, &p->init, 1);
    v->reloc_count = (uint32_t)p->relocs.count;
    if (v->reloc_count)
        v->relocs = ptxi_vec_move_to_arena(p, &p->relocs, sizeof *v->relocs);
    return v->init && (!v->reloc_count || v->relocs);
}

static bool token_is(const struct ptxi_token *t, const char *text)
{
    return t->n == strlen(text) && !memcmp(t->s, text, t->n);
}

/* True if this kind of reference (`opaque` of struct ptxi_var) has the property. */
static bool has_property(uint8_t opaque, const struct ptxi_token *name)
{
    static const struct { const char *name, *of; } properties[] = {
        { "width", "tf" },       { "height", "tf" },       { "depth", "tf" },       { "channel_data_type", "tf" },
        { "channel_order", "tf" }, { "array_size", "tf" }, { "memory_layout", "f" }, { "normalized_coords", "t" },
        { "num_mipmap_levels", "t" }, { "num_samples", "t" }, { "filter_mode", "ts" }, { "addr_mode_0", "ts" },
        { "addr_mode_1", "ts" }, { "addr_mode_2", "ts" },  { "force_unnormalized_coords", "s" },
    };

    for (unsigned i = 0; i < sizeof properties / sizeof *properties; i++)
        if (token_is(name, properties[i].name))
            return strchr(properties[i].of, opaque);
    return false;
}

/* The bits of a sampler's modes that one property sets (PTXI_SAMPLER_... in bytecode.h). */
static unsigned property_mode(const struct ptxi_token *name, const struct ptxi_token *value)
{
    static const char *const modes[] = { "wrap", "clamp_to_edge", "mirror", "clamp_to_border" };
    static const char *const dimensions[] = { "addr_mode_0", "addr_mode_1", "addr_mode_2" };

    for (unsigned d = 0; d < 3; d++)
        for (unsigned m = 0; m < 4; m++)
            if (token_is(name, dimensions[d]) &&
                (token_is(value, modes[m]) || (m == 1 && token_is(value, "clamp_ogl"))))
                return m << (PTXI_SAMPLER_MODES * d);
    if (token_is(name, "filter_mode") && token_is(value, "linear"))
        return PTXI_SAMPLER_LINEAR;
    if (token_is(name, "force_unnormalized_coords") &&
        (value->kind == PTXI_TOK_INT ? value->number != 0 : token_is(value, "true")))
        return PTXI_SAMPLER_UNNORMALIZED;
    return 0;
}

/* Parses the constant or mode after '='. */
static bool parse_property_value(struct parser *p)
{
    static const char *const words[] = {
        "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", "nearest", "linear", "true", "false",
    };
    struct ptxi_value ignored;
    unsigned i = 0;

    if (ptxi_expr_can_start(p))
        return ptxi_expr_parse(p, &ignored);
    while (i < sizeof words / sizeof *words && !(p->tok.kind == PTXI_TOK_NAME && token_is(&p->tok, words[i])))
        i++;
    if (i == sizeof words / sizeof *words)
        return ptxi_parse_error_expected(p, "a constant or a mode such as linear or wrap");
    ptxi_parse_next(p);
    return true;
}

/* PTX ISA, "Texture, Sampler and Surface Types": the initial value of a sampler is its modes. */
static bool parse_properties(struct parser *p, struct ptxi_var *v)
{
    uint8_t *modes = ARENA_NEW(p->arena, uint8_t, 1);

    if (!modes || !ptxi_parse_expect(p, '{'))
        return false;
    while (p->tok.kind != '}') {
        struct ptxi_token name = p->tok;

        if (!ptxi_parse_expect(p, PTXI_TOK_NAME))
            return false;
        if (!has_property(v->opaque, &name)) {
            ptxi_parse_error(p, ptxi_token_loc(&name), "unknown property '%.*s'", (int)name.n, name.s);
            return false;
        }
        if (!ptxi_parse_expect(p, '='))
            return false;
        if (v->opaque == 's')
            *modes |= (uint8_t)property_mode(&name, &p->tok);
        if (!parse_property_value(p))
            return false;
        if (!ptxi_parse_accept(p, ','))
            break;
    }
    v->init = modes;
    v->init_size = 1;
    return ptxi_parse_expect(p, '}');
}

/* ptxas takes braces after a scalar .f16x2 variable for the properties of a texture, whatever their names are. The
 * value is the first constant among them, or 0. */
static bool parse_packed(struct ptxi_initializer *in)
{
    struct parser *p = in->p;
    bool have = false;

    if (!store_scalar(in, 0, 0) || !ptxi_parse_expect(p, '{'))
        return false;
    if (ptxi_parse_accept(p, '}'))
        return true;
    do {
        struct ptxi_value v;
        uint64_t bits;

        if (!ptxi_expr_can_start(p)) {
            if (!ptxi_parse_expect(p, PTXI_TOK_NAME) || !ptxi_parse_expect(p, '=') || !parse_property_value(p))
                return false;
            continue;
        }
        if (!ptxi_expr_parse(p, &v))
            return false;
        if (!have && ptxi_expr_convert(&v, v.kind == PTXI_VAL_INT ? PTXI_T_b32 : PTXI_T_f32, true, &bits))
            have = store_scalar(in, 0, bits);
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, '}');
}

static bool is_packed(const struct ptxi_initializer *in, const struct ptxi_var *v)
{
    return v->type == PTXI_T_f16x2 && !in->dim_count && in->p->tok.kind == '{';
}

/* Checks that a variable may have an initializer. */
static bool check_initializable(const struct ptxi_initializer *in, const struct ptxi_var *v, struct ptxi_loc loc)
{
    const char *why = NULL;

    if (v->space != PTXI_SPACE_GLOBAL && v->space != PTXI_SPACE_CONST)
        why = "invalid initializer: the variable must be in .global or .const space";
    else if (v->linkage == PTXI_LINK_EXTERN)
        why = "invalid initializer of an .extern variable";
    else if (v->type == PTXI_T_f16 || (v->type == PTXI_T_f16x2 && !is_packed(in, v)))
        why = "invalid initializer of a variable of type .f16 or .f16x2, use .b16 or .b32";
    if (why)
        ptxi_parse_error(in->p, loc, "%s", why);
    return !why;
}

bool ptxi_init_parse(struct ptxi_initializer *in, struct ptxi_var *v, struct ptxi_loc loc)
{
    struct parser *p = in->p;

    if (!check_initializable(in, v, loc))
        return false;
    if (v->opaque)
        return parse_properties(p, v);
    p->init.count = p->relocs.count = 0;
    in->v = v;
    in->limit = (uint64_t)(1 << 24) + 16 * (uint64_t)(p->lx.end - p->lx.p);
    return (is_packed(in, v) ? parse_packed(in) : parse_list(in, 0, 0)) && finish_init(p, v);
}
