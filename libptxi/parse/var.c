/* Variables: declarations, initialisers, parameters (PTX ISA, "Variables"). */
#include "parse/parser.h"

#include "isa/bytecode.h"

#include <stdio.h>

/* ---- the part in front of the names ---- */

static bool at_type(const struct parser *p)
{
    uint16_t w = p->tok.kind == PTXI_TOK_WORD ? ptxi_isa_word(p->tok.s, p->tok.n) : PTXI_NO_WORD;

    return (w < PTXI_TYPE_COUNT && ptxi_parse_is_register_type(w)) || ptxi_parse_is_word(p, "v2") || ptxi_parse_is_word(p, "v4");
}

/* A type's word as a type id; .texref and its like give PTXI_T_NONE and *opaque. */
static bool parse_type(struct parser *p, struct ptxi_decl *d)
{
    uint16_t w = p->tok.kind == PTXI_TOK_WORD ? ptxi_isa_word(p->tok.s, p->tok.n) : PTXI_NO_WORD;

    if (ptxi_parse_is_word(p, "texref") || ptxi_parse_is_word(p, "samplerref") || ptxi_parse_is_word(p, "surfref")) {
        d->opaque = p->tok.s[0] == 't' ? 't' : p->tok.s[1] == 'a' ? 's' : 'f';
        d->type = PTXI_T_NONE;
    } else if (w < PTXI_TYPE_COUNT && ptxi_parse_is_register_type(w)) {
        d->type = (uint8_t)w;
    } else {
        return ptxi_parse_expected(p, "a type such as .b32");
    }
    ptxi_parse_next(p);
    return true;
}

static bool parse_align(struct parser *p, uint32_t *align)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t v;

    if (!ptxi_expr_uint(p, 1, PTXI_MAX_ALIGN, "an alignment", &v))
        return false;
    if (v & (v - 1)) {
        ptxi_parse_error(p, loc, "an alignment must be a power of two");
        return false;
    }
    *align = (uint32_t)v;
    return true;
}

/* .ptr[.space][.align n]: what a kernel parameter points to. */
static bool parse_ptr(struct parser *p, struct ptxi_decl *d)
{
    uint32_t align;
    int space;

    ptxi_parse_next(p);
    space = p->tok.kind == PTXI_TOK_WORD ? ptxi_parse_space(p->tok.s, p->tok.n) : -1;
    if (space == PTXI_SPACE_CONST || space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_LOCAL || ptxi_parse_is_word(p, "shared")) {
        d->ptr_space = (uint8_t)space;
        ptxi_parse_next(p);
    }
    if (!ptxi_parse_is_word(p, "align"))
        return true;
    ptxi_parse_next(p);
    return parse_align(p, &align);
}

static bool parse_vector(struct parser *p, struct ptxi_decl *d)
{
    bool two = ptxi_parse_is_word(p, "v2");

    if (!two && !ptxi_parse_is_word(p, "v4"))
        return true;
    d->vector = two ? 2 : 4;
    ptxi_parse_next(p);
    return true;
}

static bool check_decl_type(struct parser *p, const struct ptxi_decl *d, struct ptxi_loc loc)
{
    const struct ptxi_type_info *t = d->opaque ? NULL : &ptxi_types[d->type];

    if (d->opaque) {
        if (d->is_reg || (d->space != PTXI_SPACE_GLOBAL && d->space != PTXI_SPACE_PARAM && d->space != PTXI_SPACE_TEX) || d->vector > 1) {
            ptxi_parse_error(p, loc, "texture, sampler and surface references stand in .global space or are kernel parameters");
            return false;
        }
        return true;
    }
    if (d->type == PTXI_T_pred && (!d->is_reg || d->vector > 1)) {
        ptxi_parse_error(p, loc, d->is_reg ? "there are no vectors of predicates" : "predicates are registers only");
        return false;
    }
    if (d->type == PTXI_T_b128 && (p->version < 83 || p->target.sm < 70)) {
        ptxi_parse_error(p, loc, p->version < 83 ? ".b128 requires PTX 8.3 or later" : ".b128 requires .target sm_70 or higher");
        return false;
    }
    if (d->type == PTXI_T_f16x2 && d->space == PTXI_SPACE_PARAM && !d->is_reg) {
        ptxi_parse_error(p, loc, "there are no parameters of type .f16x2: .b32 takes its place");
        return false;
    }
    if (d->vector > 1 && d->space == PTXI_SPACE_PARAM && !d->is_reg) {
        ptxi_parse_error(p, loc, "there are no vectors in .param space: a .b8 array takes their place");
        return false;
    }
    if (d->vector > 1 && d->vector * t->bits > 128) {
        ptxi_parse_error(p, loc, ".v%u .%s exceeds 128 bits", d->vector, t->name);
        return false;
    }
    return true;
}

static bool parse_specifiers(struct parser *p, struct ptxi_decl *d)
{
    for (;;) {
        if (ptxi_parse_is_word(p, "align")) {
            ptxi_parse_next(p);
            if (!parse_align(p, &d->align))
                return false;
            d->has_align = true;
        } else if (!ptxi_parse_is_word(p, "attribute")) {
            return true;
        } else if (!ptxi_module_attribute(p, &d->attributes)) {
            return false;
        }
    }
}

static bool parse_decl(struct parser *p, struct ptxi_decl *d, bool entry_param)
{
    struct ptxi_loc loc;

    d->vector = 1;
    if (!parse_specifiers(p, d))
        return false;
    loc = ptxi_parse_loc(p);
    if (!parse_vector(p, d) || !parse_type(p, d) || !check_decl_type(p, d, loc))
        return false;
    if (d->space == PTXI_SPACE_PARAM && ptxi_parse_is_word(p, "align")) { /* parameters have it here, too */
        ptxi_parse_next(p);
        if (!parse_align(p, &d->align))
            return false;
        d->has_align = true;
    }
    return !entry_param || !ptxi_parse_is_word(p, "ptr") || parse_ptr(p, d);
}

/* ---- initialisers ---- */

struct init {
    struct parser *p;
    const struct ptxi_var *v;
    uint64_t dims[PTXI_MAX_DIMENSIONS + 1]; /* extents, the vector's last; 0 where the initialiser decides */
    uint64_t stride[PTXI_MAX_DIMENSIONS + 1]; /* bytes of one element of that dimension */
    unsigned dim_count;
    unsigned scalar; /* bytes */
    uint64_t limit;  /* bytes that an initialiser may come to */
};

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
    if (ptxi_parse_accept(p, '+')) {
        struct ptxi_value v;

        if (!ptxi_expr_starts(p))
            return ptxi_parse_expected(p, "a constant");
        if (!ptxi_expr_parse(p, &v))
            return false;
        if (v.kind != PTXI_VAL_INT) {
            ptxi_parse_error(p, v.loc, "an offset must be an integer");
            return false;
        }
        r->addend = (int64_t)v.bits;
    }
    return true;
}

static bool at_symbol(const struct parser *p)
{
    return p->tok.kind == PTXI_TOK_NAME && !ptxi_expr_starts(p);
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

    while (shift < 56 && mask != UINT64_C(0xff) << shift)
        shift += 8;
    if (mask != UINT64_C(0xff) << shift) {
        ptxi_parse_error(p, loc, "the mask must be 0xFF, 0xFF00, ... or 0xFF00000000000000");
        return false;
    }
    ptxi_parse_next(p);
    ptxi_parse_next(p);
    if (at_symbol(p))
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
    if (at_symbol(p))
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

static bool parse_init(struct init *in, struct ptxi_var *v, struct ptxi_loc loc)
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

/* ---- names ---- */

/* [0] is what [] is, as ptxas has it. */
static bool parse_dimensions(struct parser *p, struct init *in)
{
    while (p->tok.kind == '[') {
        struct ptxi_loc loc = ptxi_parse_loc(p);
        uint64_t n = 0;

        ptxi_parse_next(p);
        if (in->dim_count == PTXI_MAX_DIMENSIONS) {
            ptxi_parse_error(p, loc, "too many dimensions");
            return false;
        }
        if (p->tok.kind == ']' ? in->dim_count > 0 : !ptxi_expr_uint(p, in->dim_count > 0, PTXI_MAX_SIZE, "an array's size", &n)) {
            if (p->tok.kind == ']')
                ptxi_parse_error(p, loc, "only the first dimension may be left open");
            return false;
        }
        in->dims[in->dim_count++] = n;
        if (!ptxi_parse_want(p, ']'))
            return false;
    }
    return true;
}

/* Bytes of one element of each dimension; v->element and v->size. */
static bool set_sizes(struct parser *p, struct init *in, struct ptxi_var *v, struct ptxi_loc loc)
{
    uint64_t size = v->opaque ? 8 : ptxi_types[v->type].bits / 8;

    in->scalar = (unsigned)size;
    if (v->vector > 1) {
        in->dims[in->dim_count] = v->vector;
        in->stride[in->dim_count] = size;
        size *= v->vector;
    }
    v->element = size;
    for (unsigned d = in->dim_count; d-- > 0;) {
        in->stride[d] = size;
        if (__builtin_mul_overflow(size, in->dims[d] ? in->dims[d] : 1, &size) || size > PTXI_MAX_SIZE) {
            ptxi_parse_error(p, loc, "'%s' is larger than %llu bytes", v->name ? v->name->s : "_", (unsigned long long)PTXI_MAX_SIZE);
            return false;
        }
    }
    v->unsized = in->dim_count && !in->dims[0];
    v->size = v->unsized ? 0 : size;
    if (v->vector > 1)
        in->dim_count++;
    return true;
}

static struct ptxi_var *new_var(struct parser *p, const struct ptxi_decl *d, const struct ptxi_token *name)
{
    struct ptxi_var *v = ARENA_NEW(p->arena, struct ptxi_var, 1);

    if (!v || (name->kind == PTXI_TOK_NAME && !(v->name = ptxi_intern(p->tree->names, name->s, name->n))))
        return NULL;
    v->loc = ptxi_token_loc(name);
    v->space = d->space;
    v->type = d->type;
    v->vector = d->vector;
    v->opaque = d->opaque;
    v->linkage = d->linkage;
    v->ptr_space = d->ptr_space;
    v->managed = d->attributes & PTXI_ATTRIBUTE_MANAGED;
    v->is_reg = d->is_reg;
    v->module_scope = p->names.depth == 0;
    v->reg = PTXI_NO_REG;
    return v;
}

static void set_align(struct ptxi_var *v, const struct ptxi_decl *d)
{
    uint32_t natural = (uint32_t)v->element;

    v->align = d->has_align ? d->align : natural ? natural : 1;
}

static bool same_bytes(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->init_size == b->init_size && (!a->init_size || !memcmp(a->init, b->init, a->init_size)) && a->reloc_count == b->reloc_count;
}

static bool same_shape(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->space == b->space && a->type == b->type && a->vector == b->vector && a->opaque == b->opaque && (a->size == b->size || a->unsized || b->unsized);
}

/* A module-scope name declared again: a declaration and its definition, or the same definition in each of several modules
 * in one text. The variable that names refer to stays the first. */
static bool merge(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool declared = old && old->linkage != PTXI_LINK_STATIC && v->linkage != PTXI_LINK_STATIC &&
                    (old->linkage == PTXI_LINK_EXTERN || v->linkage == PTXI_LINK_EXTERN);
    bool copy = old && sym->text != p->text && old->size == v->size && same_bytes(old, v);
    uint32_t align;

    if (!old || !same_shape(old, v) || (!declared && !copy)) {
        ptxi_parse_error(p, v->loc, "'%s' is already defined", v->name->s);
        ptxi_parse_note(p, sym->loc, "first defined here");
        return false;
    }
    align = old->align > v->align ? old->align : v->align;
    if (!copy && v->linkage != PTXI_LINK_EXTERN) {
        v->index = old->index;
        *old = *v;
    }
    old->align = align;
    return true;
}

/* PTX ISA, "Constant State Space": 64 KB for all of the module's variables together. */
static bool add_const(struct parser *p, const struct ptxi_var *v)
{
    uint64_t at = (p->const_size + v->align - 1) & ~(uint64_t)(v->align - 1);

    p->const_size = at + v->size;
    if (at + v->size <= PTXI_MAX_CONST)
        return true;
    ptxi_parse_error(p, v->loc, ".const variables exceed %d bytes with '%s'", PTXI_MAX_CONST, v->name->s);
    p->const_size = 0;
    return false;
}

/* How much a declaration in one part of a linked module counts against those of others. */
static int strength(const struct ptxi_var *v)
{
    switch (v->linkage) {
    case PTXI_LINK_EXTERN: return 0;
    case PTXI_LINK_WEAK: return 1;
    case PTXI_LINK_COMMON: return 2;
    default: return 3;
    }
}

static bool differs(struct parser *p, const struct ptxi_var *v, const struct ptxi_var *old, const char *what)
{
    ptxi_parse_error(p, v->loc, "%s of '%s' differs from that in another module", what, v->name->s);
    ptxi_parse_note(p, old->loc, old->linkage == PTXI_LINK_EXTERN ? "declared here" : "defined here");
    return false;
}

/* A name that another part of a linked module has declared. What a type is called does not matter to the linker. */
static bool link_var(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool common = old && old->linkage == PTXI_LINK_COMMON && v->linkage == PTXI_LINK_COMMON;
    uint32_t align;

    if (!old || (strength(old) == 3 && strength(v) == 3)) {
        ptxi_parse_error(p, v->loc, "'%s' is already defined in another module", v->name->s);
        ptxi_parse_note(p, old ? old->loc : sym->loc, "first defined here");
        return false;
    }
    if (old->space != v->space || old->opaque != v->opaque)
        return differs(p, v, old, "state space");
    if (old->size != v->size && !old->unsized && !v->unsized && !common)
        return differs(p, v, old, "size");
    if (old->type != v->type || old->vector != v->vector) {
        ptxi_parse_warn(p, v->loc, "'%s' has type .%s, and .%s in another module", v->name->s, ptxi_types[v->type].name,
                        ptxi_types[old->type].name);
        ptxi_parse_note(p, old->loc, "declared here");
    }
    align = old->align > v->align ? old->align : v->align;
    if (strength(v) > strength(old) || (common && v->size > old->size) || (old->unsized && !v->unsized)) {
        bool defined = strength(old) == 0 && strength(v) > 0;

        v->index = old->index;
        *old = *v;
        if (v->space == PTXI_SPACE_CONST && defined && !add_const(p, v))
            return false;
    }
    old->align = align;
    return true;
}

static bool keep_var(struct parser *p, struct ptxi_var *v, const struct ptxi_token *name)
{
    struct ptxi_vec *list = v->module_scope ? &p->vars : &p->fn_vars;
    struct ptxi_entry *e = ptxi_scope_entry(p, name->s, name->n);
    struct ptxi_sym *sym;
    struct ptxi_var **slot;

    if (!e)
        return false;
    sym = v->module_scope ? e->meaning[PTXI_CHAIN_EXACT] : NULL;
    if (v->module_scope && !sym && v->linkage != PTXI_LINK_STATIC)
        sym = ptxi_scope_take_up(p, e);
    if (sym)
        return ptxi_parse_linked(p, sym->text) ? link_var(p, sym, v) : merge(p, sym, v);
    if (!(sym = ptxi_scope_add(p, PTXI_SYM_VAR, PTXI_CHAIN_EXACT, name->s, name->n, v->loc, 0)))
        return false;
    sym->var = v;
    if (v->space == PTXI_SPACE_CONST && v->linkage != PTXI_LINK_EXTERN && !add_const(p, v))
        return false;
    v->index = (uint32_t)list->count;
    if (!(slot = ptxi_vec_push(p, list, sizeof *slot)))
        return false;
    *slot = v;
    return true;
}

static bool check_placement(struct parser *p, const struct ptxi_decl *d, const struct ptxi_var *v)
{
    bool module = v->module_scope;
    const char *why = NULL;

    if (module && v->space == PTXI_SPACE_PARAM)
        why = ".param variables belong to functions";
    else if (module && v->space == PTXI_SPACE_LOCAL)
        why = ".local variables belong to functions";
    else if (v->unsized && !(v->linkage == PTXI_LINK_EXTERN && module))
        why = "an array without a size must be .extern, or be initialised";
    else if (v->linkage == PTXI_LINK_COMMON && v->space != PTXI_SPACE_GLOBAL)
        why = ".common is for .global variables";
    else if (v->opaque == 's' && !p->tree->texmode_independent)
        why = "samplers need .target texmode_independent";
    else if (!module && v->opaque)
        why = "texture, sampler and surface references stand outside of functions";
    else if (d->attributes && v->space != PTXI_SPACE_GLOBAL)
        why = v->managed ? ".managed is for .global variables" : ".unified is for .global variables and functions";
    if (why)
        ptxi_parse_error(p, v->loc, "%s", why);
    return !why;
}

static bool declare_var(struct parser *p, const struct ptxi_decl *d, const struct ptxi_token *name)
{
    struct init in = { .p = p };
    struct ptxi_var *v = new_var(p, d, name);
    struct ptxi_loc loc;

    if (!v || !parse_dimensions(p, &in) || !set_sizes(p, &in, v, v->loc))
        return false;
    set_align(v, d);
    loc = ptxi_parse_loc(p);
    if (ptxi_parse_accept(p, '=')) {
        if (!parse_init(&in, v, loc))
            return false;
        if (v->unsized) {
            v->unsized = false;
            v->size = in.dims[0] * in.stride[0];
        }
    }
    return check_placement(p, d, v) && keep_var(p, v, name);
}

/* name<n> for a variable: n variables. */
static bool declare_vars(struct parser *p, const struct ptxi_decl *d, const struct ptxi_token *name, uint32_t n)
{
    char buf[1100];

    if (n > PTXI_MAX_NAME_RANGE || name->n > sizeof buf - 16) {
        ptxi_parse_error(p, ptxi_token_loc(name), "too many variables");
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct ptxi_token t = *name;
        struct init in = { .p = p };
        struct ptxi_var *v;

        t.n = (uint32_t)snprintf(buf, sizeof buf, "%.*s%u", (int)name->n, name->s, i);
        t.s = buf;
        v = new_var(p, d, &t);
        if (!v || !set_sizes(p, &in, v, v->loc))
            return false;
        set_align(v, d);
        if (!check_placement(p, d, v) || !keep_var(p, v, &t))
            return false;
    }
    return true;
}

static bool declare_regs(struct parser *p, const struct ptxi_decl *d, const struct ptxi_token *name, bool numbered, uint32_t n)
{
    struct ptxi_loc loc = ptxi_token_loc(name);
    struct ptxi_sym *sym;

    if (p->tok.kind == '[' || p->tok.kind == '=') {
        ptxi_parse_error(p, ptxi_parse_loc(p), "a register cannot be an array or have an initial value");
        return false;
    }
    sym = ptxi_scope_add(p, PTXI_SYM_REG, numbered ? PTXI_CHAIN_RANGE : PTXI_CHAIN_EXACT, name->s, name->n, loc, n);
    if (!sym)
        return false;
    sym->type = d->type;
    sym->vector = d->vector;
    sym->first = ptxi_func_new_regs(p, sym->entry->name, d->type, d->vector, n, numbered, loc);
    return sym->first != PTXI_NO_REG;
}

static bool declare_name(struct parser *p, const struct ptxi_decl *d)
{
    struct ptxi_token name = p->tok;
    uint64_t n = 1;
    bool numbered;

    if (name.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a name");
    if (ptxi_expr_starts(p) || (p->names.depth == 0 && ptxi_inst_is_sreg(name.s, name.n))) {
        ptxi_parse_error(p, ptxi_token_loc(&name), "'%.*s' has a meaning of its own and cannot be declared", (int)name.n, name.s);
        return false;
    }
    ptxi_parse_next(p);
    numbered = ptxi_parse_accept(p, '<');
    if (numbered && (!ptxi_expr_uint(p, 0, INT32_MAX, "the number of names", &n) || !ptxi_parse_want(p, '>')))
        return false;
    if (d->is_reg)
        return declare_regs(p, d, &name, numbered, (uint32_t)n);
    return numbered ? declare_vars(p, d, &name, (uint32_t)n) : declare_var(p, d, &name);
}

bool ptxi_var_starts(const struct parser *p)
{
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_align:
    case PTXI_D_attribute:
    case PTXI_D_const:
    case PTXI_D_global:
    case PTXI_D_local:
    case PTXI_D_param:
    case PTXI_D_reg:
    case PTXI_D_shared:
    case PTXI_D_tex:
        return true;
    default:
        return at_type(p);
    }
}

static bool parse_space(struct parser *p, struct ptxi_decl *d)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    int space = p->tok.kind == PTXI_TOK_WORD ? ptxi_parse_space(p->tok.s, p->tok.n) : -1;

    d->is_reg = ptxi_parse_is_word(p, "reg");
    if (!d->is_reg && (space < 0 || !ptxi_var_starts(p)))
        return ptxi_parse_expected(p, "a state space such as .global");
    if (d->is_reg && p->names.depth == 0) {
        ptxi_parse_error(p, loc, "registers belong to functions");
        return false;
    }
    if (d->linkage != PTXI_LINK_STATIC && p->names.depth) {
        ptxi_parse_error(p, loc, "linking directives are for names of the module");
        return false;
    }
    if (space == PTXI_SPACE_TEX && p->version >= 30) {
        ptxi_parse_error(p, loc, ".tex was replaced by .texref variables in .global space");
        return false;
    }
    d->space = d->is_reg ? 0 : (uint8_t)space;
    ptxi_parse_next(p);
    return true;
}

/* ptxas takes types without a name, and without a space then, which declare nothing. */
bool ptxi_var_declaration(struct parser *p, uint8_t linkage)
{
    struct ptxi_decl d = { .linkage = linkage, .is_reg = true };
    bool bare = at_type(p);

    if (!parse_specifiers(p, &d) || (!bare && !parse_space(p, &d)) || !parse_decl(p, &d, false))
        return false;
    if (bare && p->tok.kind != ';')
        return ptxi_parse_expected(p, "a state space such as .global in front of the type, or ';',");
    if (ptxi_parse_accept(p, ';'))
        return true;
    do {
        if (!declare_name(p, &d))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_want(p, ';');
}

/* ---- parameters ---- */

bool ptxi_var_declare_reg(struct parser *p, struct ptxi_var *v)
{
    struct ptxi_sym *sym = ptxi_scope_add(p, PTXI_SYM_REG, PTXI_CHAIN_EXACT, v->name->s, v->name->len, v->loc, 1);

    if (!sym)
        return false;
    sym->type = v->type;
    sym->vector = v->vector;
    sym->first = v->reg = ptxi_func_new_regs(p, v->name, v->type, v->vector, 1, false, v->loc);
    return v->reg != PTXI_NO_REG;
}

struct ptxi_var *ptxi_var_param(struct parser *p, bool entry, bool prototype)
{
    struct ptxi_decl d = { .space = PTXI_SPACE_PARAM };
    struct init in = { .p = p };
    struct ptxi_token name;
    struct ptxi_var *v;

    d.is_reg = ptxi_parse_is_word(p, "reg");
    if (d.is_reg ? entry : !ptxi_parse_is_word(p, "param")) {
        ptxi_parse_expected(p, entry ? "'.param'" : "'.param' or '.reg'");
        return NULL;
    }
    ptxi_parse_next(p);
    if (!parse_decl(p, &d, entry))
        return NULL;
    name = p->tok;
    if (name.kind != PTXI_TOK_NAME && !(prototype && name.kind == '_')) {
        ptxi_parse_expected(p, "a name");
        return NULL;
    }
    ptxi_parse_next(p);
    if (!(v = new_var(p, &d, &name)) || !parse_dimensions(p, &in) || !set_sizes(p, &in, v, v->loc))
        return NULL;
    v->module_scope = false;
    set_align(v, &d);
    if (d.attributes || (v->opaque == 's' && !p->tree->texmode_independent)) {
        ptxi_parse_error(p, v->loc, d.attributes ? "a parameter has no attributes" : "samplers need .target texmode_independent");
        return NULL;
    }
    if (d.is_reg && in.dim_count > (v->vector > 1)) {
        ptxi_parse_error(p, v->loc, "a register parameter cannot be an array");
        return NULL;
    }
    return v;
}
