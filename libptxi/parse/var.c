/* Variables: declarations and parameters (PTX ISA, "Variables"). */
#include "parse/var.h"

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
    v->unified = d->attributes & PTXI_ATTRIBUTE_UNIFIED;
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
        if (!ptxi_init_parse(&in, v, loc))
            return false;
        if (v->unsized) {
            v->unsized = false;
            v->size = in.dims[0] * in.stride[0];
        }
    }
    return check_placement(p, d, v) && ptxi_var_keep(p, v, name);
}

/* name<n> for a variable: n variables. */
static bool declare_vars(struct parser *p, const struct ptxi_decl *d, const struct ptxi_token *name, uint32_t n)
{
    if (n > PTXI_MAX_NAME_RANGE) {
        ptxi_parse_error(p, ptxi_token_loc(name), "too many variables");
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct init in = { .p = p };
        struct ptxi_numbered one;
        struct ptxi_var *v;

        if (!ptxi_parse_numbered(p, name, i, &one) || !(v = new_var(p, d, &one.tok)) || !set_sizes(p, &in, v, v->loc))
            return false;
        set_align(v, d);
        if (!check_placement(p, d, v) || !ptxi_var_keep(p, v, &one.tok))
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
    if (ptxi_expr_starts(p) || (p->names.depth == 0 && ptxi_operand_is_sreg(name.s, name.n))) {
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
