/* Initialisers of variables: lists of values and addresses, properties of samplers (PTX ISA, "Initializers"). */
#include "parse/var.h"

#include "isa/bytecode.h"

static bool init_to(struct init *in, uint64_t size)
{
    struct ptxi_vec *b = &in->p->init;

    if (size > in->limit) {
        ptxi_parse_error(in->p, ptxi_parse_loc(in->p), "initialiser is too large");
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

static bool init_store(struct init *in, uint64_t offset, uint64_t bits)
{
    if (!init_to(in, offset + in->scalar))
        return false;
    memcpy(in->p->init.data + offset, &bits, in->scalar < 8 ? in->scalar : 8); /* little-endian, as PTX is */
    return true;
}

static bool not_address(struct parser *p, struct ptxi_loc loc, const char *s, size_t n, bool found)
{
    ptxi_parse_error(p, loc, found ? "'%.*s' is not a .global or .const variable, or a function" : "'%.*s' is not declared before", (int)n, s);
    return false;
}

static bool resolve(struct parser *p, struct ptxi_reloc *r)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    struct ptxi_found f;

    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f))
        return not_address(p, loc, p->tok.s, p->tok.n, false);
    if (f.sym->kind == PTXI_SYM_FUNC && !r->generic) {
        r->func = f.sym->func;
        return true;
    }
    if (f.sym->kind != PTXI_SYM_VAR || f.sym->var->opaque ||
        (f.sym->var->space != PTXI_SPACE_GLOBAL && f.sym->var->space != PTXI_SPACE_CONST))
        return not_address(p, loc, p->tok.s, p->tok.n, true);
    r->var = f.sym->var;
    return true;
}

/* A name, or generic(name), then maybe + offset. */
static bool parse_symbol(struct init *in, struct ptxi_reloc *r)
{
    struct parser *p = in->p;
    bool parens = p->tok.n == 7 && !memcmp(p->tok.s, "generic", 7) && ptxi_lex_at_paren(&p->lx);

    if (parens) {
        ptxi_parse_next(p);
        ptxi_parse_next(p);
        r->generic = true;
    }
    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a variable or function");
    if (!resolve(p, r))
        return false;
    ptxi_parse_next(p);
    if (parens && !ptxi_parse_want(p, ')'))
        return false;
    if (r->func && p->tok.kind == '+')
        return ptxi_parse_expected(p, "the end of a function's address");
    return !ptxi_parse_accept(p, '+') || ptxi_expr_offset(p, &r->addend);
}

static bool parse_address(struct init *in, uint64_t offset, unsigned shift, bool masked)
{
    struct parser *p = in->p;
    struct ptxi_reloc r = { .shift = (uint8_t)shift, .offset = offset, .bytes = (uint8_t)(masked ? 1 : in->scalar) }, *slot;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    const struct ptxi_type_info *t = &ptxi_types[in->v->type];

    if (t->class != 'U' || t->bits == 16 || (t->bits < 32 && !masked)) {
        ptxi_parse_error(p, loc, "an address needs a variable of type .u32 or .u64%s, not .%s", masked ? ", a byte of it also .u8" : "", t->name);
        return false;
    }
    if (!parse_symbol(in, &r) || !(slot = ptxi_vec_push(p, &p->relocs, sizeof r)))
        return false;
    *slot = r;
    return init_store(in, offset, 0);
}

/* 0xFF00(expression): one byte of an address or of a constant */
static bool parse_mask(struct init *in, uint64_t offset)
{
    struct parser *p = in->p;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t mask = p->tok.number;
    unsigned shift = 0;
    struct ptxi_value v;

    if (p->version < 71) {
        ptxi_parse_error(p, loc, "the mask operator requires PTX 7.1 or later");
        return false;
    }
    while (shift < 56 && mask != UINT64_C(0xff) << shift)
        shift += 8;
    if (mask != UINT64_C(0xff) << shift) {
        ptxi_parse_error(p, loc, "the mask must be 0xFF, 0xFF00, ... or 0xFF00000000000000");
        return false;
    }
    ptxi_parse_next(p);
    ptxi_parse_next(p);
    if (ptxi_parse_at_name(p))
        return parse_address(in, offset, shift, true) && ptxi_parse_want(p, ')');
    if (!ptxi_expr_starts(p))
        return ptxi_parse_expected(p, "a constant or variable");
    if (!ptxi_expr_parse(p, &v) || !ptxi_parse_want(p, ')'))
        return false;
    if (v.kind != PTXI_VAL_INT) {
        ptxi_parse_error(p, v.loc, "the mask operator takes an integer or an address");
        return false;
    }
    return init_store(in, offset, v.bits >> shift & 0xff);
}

static bool parse_scalar(struct init *in, uint64_t offset)
{
    struct parser *p = in->p;
    struct ptxi_value v;
    uint64_t bits;

    if (p->tok.kind == PTXI_TOK_INT && ptxi_lex_at_paren(&p->lx))
        return parse_mask(in, offset);
    if (ptxi_parse_at_name(p))
        return parse_address(in, offset, 0, false);
    if (!ptxi_expr_starts(p))
        return ptxi_parse_expected(p, "a constant");
    if (!ptxi_expr_parse(p, &v))
        return false;
    if (!ptxi_expr_convert(&v, in->v->type, true, &bits)) {
        ptxi_parse_error(p, v.loc, "a variable of type .%s cannot begin as %s constant", ptxi_types[in->v->type].name,
                         v.kind == PTXI_VAL_INT ? "an integer" : "a floating-point");
        return false;
    }
    return init_store(in, offset, bits);
}

/* The list of dimension d, whose first element has this offset. */
static bool parse_list(struct init *in, unsigned d, uint64_t offset)
{
    struct parser *p = in->p;
    uint64_t n = 0;

    if (d == in->dim_count)
        return parse_scalar(in, offset);
    if (p->tok.kind != '{')
        return ptxi_parse_expected(p, "'{'");
    ptxi_parse_next(p);
    if (p->tok.kind == '}' && in->dims[d]) { /* all of it zero */
        ptxi_parse_next(p);
        return true;
    }
    do {
        if (in->dims[d] && n == in->dims[d]) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "too many values: this dimension has %llu", (unsigned long long)n);
            return false;
        }
        if (!parse_list(in, d + 1, offset + n * in->stride[d]))
            return false;
        n++;
    } while (ptxi_parse_accept(p, ','));
    if (!in->dims[d])
        in->dims[d] = n;
    if (in->v->vector > 1 && d + 1 == in->dim_count && n != in->v->vector) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "a vector of %u takes as many values", in->v->vector);
        return false;
    }
    return ptxi_parse_want(p, '}');
}

static bool keep_init(struct parser *p, struct ptxi_var *v)
{
    v->init_size = p->init.count;
    v->init = ptxi_vec_take(p, &p->init, 1);
    v->reloc_count = (uint32_t)p->relocs.count;
    if (v->reloc_count)
        v->relocs = ptxi_vec_take(p, &p->relocs, sizeof *v->relocs);
    return v->init && (!v->reloc_count || v->relocs);
}

#define IS(token, text) ((token)->n == strlen(text) && !memcmp((token)->s, text, (token)->n))

/* Which kinds of references, as struct ptxi_var names them, have a property. */
static bool has_property(uint8_t opaque, const struct ptxi_token *name)
{
    static const struct { const char *name, *of; } properties[] = {
        { "width", "tf" }, { "height", "tf" }, { "depth", "tf" }, { "channel_data_type", "tf" }, { "channel_order", "tf" },
        { "array_size", "tf" }, { "memory_layout", "f" }, { "normalized_coords", "t" }, { "num_mipmap_levels", "t" }, { "num_samples", "t" },
        { "filter_mode", "ts" }, { "addr_mode_0", "ts" }, { "addr_mode_1", "ts" }, { "addr_mode_2", "ts" }, { "force_unnormalized_coords", "s" },
    };

    for (unsigned i = 0; i < sizeof properties / sizeof *properties; i++)
        if (IS(name, properties[i].name))
            return strchr(properties[i].of, opaque);
    return false;
}

/* One property's share of a sampler's modes; those of textures, which the driver sets, have none. */
static unsigned property_mode(const struct ptxi_token *name, const struct ptxi_token *value)
{
    static const char *const modes[] = { "wrap", "clamp_to_edge", "mirror", "clamp_to_border" };
    static const char *const dimensions[] = { "addr_mode_0", "addr_mode_1", "addr_mode_2" };

    for (unsigned d = 0; d < 3; d++)
        for (unsigned m = 0; m < 4; m++)
            if (IS(name, dimensions[d]) && (IS(value, modes[m]) || (m == 1 && IS(value, "clamp_ogl"))))
                return m << (PTXI_SAMPLER_MODES * d);
    if (IS(name, "filter_mode") && IS(value, "linear"))
        return PTXI_SAMPLER_LINEAR;
    if (IS(name, "force_unnormalized_coords") && (value->kind == PTXI_TOK_INT ? value->number != 0 : IS(value, "true")))
        return PTXI_SAMPLER_UNNORMALIZED;
    return 0;
}

/* The word or constant behind '='. */
static bool parse_property_value(struct parser *p)
{
    static const char *const words[] = { "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", "nearest", "linear", "true", "false" };
    struct ptxi_value ignored;
    unsigned i = 0;

    if (ptxi_expr_starts(p))
        return ptxi_expr_parse(p, &ignored);
    while (i < sizeof words / sizeof *words && !(p->tok.kind == PTXI_TOK_NAME && IS(&p->tok, words[i])))
        i++;
    if (i == sizeof words / sizeof *words)
        return ptxi_parse_expected(p, "a constant, or a mode such as linear or wrap,");
    ptxi_parse_next(p);
    return true;
}

#undef IS

/* Sampler and texture properties: PTX ISA, "Texture, Sampler and Surface Types". A sampler's modes become its initial value. */
static bool parse_properties(struct parser *p, struct ptxi_var *v)
{
    uint8_t *modes = ARENA_NEW(p->arena, uint8_t, 1);

    if (!modes || !ptxi_parse_want(p, '{'))
        return false;
    while (p->tok.kind != '}') {
        struct ptxi_token name = p->tok;

        if (!ptxi_parse_want(p, PTXI_TOK_NAME))
            return false;
        if (!has_property(v->opaque, &name)) {
            ptxi_parse_error(p, ptxi_token_loc(&name), "there is no property '%.*s'", (int)name.n, name.s);
            return false;
        }
        if (!ptxi_parse_want(p, '='))
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
    return ptxi_parse_want(p, '}');
}

static bool can_initialise(struct parser *p, const struct ptxi_var *v, struct ptxi_loc loc)
{
    const char *why = v->space != PTXI_SPACE_GLOBAL && v->space != PTXI_SPACE_CONST ? "only .global and .const variables have initial values"
                      : v->linkage == PTXI_LINK_EXTERN                              ? "an .extern variable has no initial value here"
                      : v->type == PTXI_T_f16 || v->type == PTXI_T_f16x2            ? "variables of type .f16 and .f16x2 cannot be initialised"
                                                                                    : NULL;

    if (why)
        ptxi_parse_error(p, loc, "%s", why);
    return !why;
}

bool ptxi_init_parse(struct init *in, struct ptxi_var *v, struct ptxi_loc loc)
{
    struct parser *p = in->p;

    if (!can_initialise(p, v, loc))
        return false;
    if (v->opaque)
        return parse_properties(p, v);
    p->init.count = p->relocs.count = 0;
    in->v = v;
    in->limit = (uint64_t)(1 << 24) + 16 * (uint64_t)(p->lx.end - p->lx.p);
    return parse_list(in, 0, 0) && keep_init(p, v);
}
