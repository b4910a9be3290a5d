/* Variables: declarations and parameters (PTX ISA, "Variables"). */

#include "parse/expr.h"
#include "parse/statement.h"

enum { MAX_ALIGN = 1 << 27 };
#define MAX_SIZE ((uint64_t)1 << 42) /* bytes of one variable */

/* ---- the part before the names ---- */

/* [.align] [.attribute] [.vN] .type */
struct decl {
    uint8_t space, type, vector, linkage, ptr_space;
    uint8_t opaque;     /* 0, or 't', 's', 'f' as in struct ptxi_var */
    bool is_reg, has_align;
    uint8_t attributes; /* PTXI_ATTRIBUTE_... */
    uint32_t align;
};

/* The type that the current token names, or PTXI_T_NONE. */
static enum ptxi_type token_type(const struct parser *p)
{
    uint16_t w = p->tok.kind == PTXI_TOK_WORD ? ptxi_isa_word(p->tok.s, p->tok.n) : PTXI_NO_WORD;

    return w < PTXI_TYPE_COUNT && ptxi_parse_is_register_type(w) ? w : PTXI_T_NONE;
}

static bool at_type(const struct parser *p)
{
    return token_type(p) != PTXI_T_NONE || ptxi_parse_is_word(p, "v2") || ptxi_parse_is_word(p, "v4");
}

/* Parses a type. A .texref, .samplerref or .surfref gives PTXI_T_NONE and a value of `opaque`. */
static bool parse_type(struct parser *p, struct decl *d)
{
    static const struct { const char *word; char opaque; } references[] = {
        { "texref", 't' }, { "samplerref", 's' }, { "surfref", 'f' },
    };

    for (unsigned i = 0; i < sizeof references / sizeof *references; i++)
        if (ptxi_parse_is_word(p, references[i].word))
            d->opaque = (uint8_t)references[i].opaque;
    d->type = (uint8_t)token_type(p);
    if (!d->opaque && d->type == PTXI_T_NONE)
        return ptxi_parse_error_expected(p, "a type such as .b32");
    ptxi_parse_next(p);
    return true;
}

static bool parse_align(struct parser *p, uint32_t *align)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t v;

    if (!ptxi_expr_uint(p, 1, MAX_ALIGN, "an alignment", &v))
        return false;
    if (v & (v - 1)) {
        ptxi_parse_error(p, loc, "invalid alignment: it must be a power of two");
        return false;
    }
    *align = (uint32_t)v;
    return true;
}

/* .ptr[.space][.align n] or .ptr.texref, the state space that a kernel parameter points to. */
static bool parse_ptr(struct parser *p, struct decl *d)
{
    uint32_t align;
    int space;

    ptxi_parse_next(p);
    space = p->tok.kind == PTXI_TOK_WORD ? ptxi_parse_space(p->tok.s, p->tok.n) : -1;
    if (ptxi_parse_is_word(p, "texref") || ptxi_parse_is_word(p, "samplerref") || ptxi_parse_is_word(p, "surfref"))
        ptxi_parse_next(p); /* the parameter is a handle, as without this word */
    else if (space == PTXI_SPACE_CONST || space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_LOCAL ||
        ptxi_parse_is_word(p, "shared")) {
        d->ptr_space = (uint8_t)space;
        ptxi_parse_next(p);
    }
    if (!ptxi_parse_is_word(p, "align"))
        return true;
    ptxi_parse_next(p);
    return parse_align(p, &align);
}

static bool parse_vector(struct parser *p, struct decl *d)
{
    bool two = ptxi_parse_is_word(p, "v2");

    if (!two && !ptxi_parse_is_word(p, "v4"))
        return true;
    d->vector = two ? 2 : 4;
    ptxi_parse_next(p);
    return true;
}

/* True if texture, sampler and surface references may be declared in this space. */
static bool may_hold_references(uint8_t space)
{
    return space == PTXI_SPACE_GLOBAL || space == PTXI_SPACE_PARAM || space == PTXI_SPACE_TEX;
}

static bool check_decl_type(struct parser *p, const struct decl *d, struct ptxi_loc loc)
{
    const struct ptxi_type_info *t = d->opaque ? NULL : &ptxi_types[d->type];

    if (d->opaque) {
        if (d->is_reg || !may_hold_references(d->space) || d->vector > 1) {
            ptxi_parse_error(p, loc,
                             "texture, sampler and surface references must be scalars in .global space or parameters");
            return false;
        }
        return true;
    }
    if (d->type == PTXI_T_pred && (!d->is_reg || d->vector > 1)) {
        ptxi_parse_error(p, loc, d->is_reg ? "invalid vector of .pred, use scalar registers"
                                           : "a .pred variable must be a register");
        return false;
    }
    if (d->type == PTXI_T_b128 && !ptxi_parse_require(p, loc, ".b128", 5, 83, 70))
        return false;
    if (d->type == PTXI_T_f16x2 && d->space == PTXI_SPACE_PARAM && !d->is_reg) {
        ptxi_parse_error(p, loc, "invalid parameter of type .f16x2, use .b32");
        return false;
    }
    if (d->vector > 1 && d->space == PTXI_SPACE_PARAM && !d->is_reg) {
        ptxi_parse_error(p, loc, "invalid vector in .param space, use a .b8 array");
        return false;
    }
    if (d->vector > 1 && d->vector * t->bits > 128) {
        ptxi_parse_error(p, loc, "vector .v%u .%s is wider than 128 bits", d->vector, t->name);
        return false;
    }
    return true;
}

static bool parse_specifiers(struct parser *p, struct decl *d)
{
    for (;;) {
        if (ptxi_parse_is_word(p, "align")) {
            ptxi_parse_next(p);
            if (!parse_align(p, &d->align))
                return false;
            d->has_align = true;
        } else if (!ptxi_parse_is_word(p, "attribute")) {
            return true;
        } else if (!ptxi_attribute_parse(p, &d->attributes)) {
            return false;
        }
    }
}

static bool parse_decl(struct parser *p, struct decl *d, bool entry_param)
{
    struct ptxi_loc loc;

    d->vector = 1;
    if (!parse_specifiers(p, d))
        return false;
    loc = ptxi_parse_loc(p);
    if (!parse_vector(p, d) || !parse_type(p, d) || !check_decl_type(p, d, loc))
        return false;
    if (d->space == PTXI_SPACE_PARAM && ptxi_parse_is_word(p, "align")) { /* parameters may have it here too */
        ptxi_parse_next(p);
        if (!parse_align(p, &d->align))
            return false;
        d->has_align = true;
    }
    return !entry_param || !ptxi_parse_is_word(p, "ptr") || parse_ptr(p, d);
}

/* ---- names ---- */

/* Parses [n][m]... As in ptxas, [0] means []. */
static bool parse_dimensions(struct parser *p, struct ptxi_initializer *in)
{
    while (p->tok.kind == '[') {
        struct ptxi_loc loc = ptxi_parse_loc(p);
        uint64_t n = 0;

        ptxi_parse_next(p);
        if (in->dim_count == PTXI_MAX_DIMENSIONS) {
            ptxi_parse_error(p, loc, "too many dimensions: at most %d are accepted", PTXI_MAX_DIMENSIONS);
            return false;
        }
        if (p->tok.kind == ']' && in->dim_count > 0) {
            ptxi_parse_error(p, loc, "missing array size: only the first dimension may omit it");
            return false;
        }
        if (p->tok.kind != ']' && !ptxi_expr_uint(p, in->dim_count > 0, MAX_SIZE, "an array size", &n))
            return false;
        in->dims[in->dim_count++] = n;
        if (!ptxi_parse_expect(p, ']'))
            return false;
    }
    return true;
}

/* Sets the size of one element of each dimension, v->element and v->size. */
static bool set_sizes(struct parser *p, struct ptxi_initializer *in, struct ptxi_var *v, struct ptxi_loc loc)
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
        if (__builtin_mul_overflow(size, in->dims[d] ? in->dims[d] : 1, &size) || size > MAX_SIZE) {
            ptxi_parse_error(p, loc, "'%s' is too large: at most %llu bytes are accepted", v->name ? v->name->s : "_",
                             (unsigned long long)MAX_SIZE);
            return false;
        }
    }
    v->array = in->dim_count > 0;
    v->unsized = v->array && !in->dims[0];
    v->size = v->unsized ? 0 : size;
    if (v->vector > 1)
        in->dim_count++;
    return true;
}

static struct ptxi_var *new_var(struct parser *p, const struct decl *d, const struct ptxi_token *name)
{
    struct ptxi_var *v = ARENA_NEW(p->arena, struct ptxi_var, 1);

    if (!v || (name->kind == PTXI_TOK_NAME && !(v->name = ptxi_intern(p->ast->names, name->s, name->n))))
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

static void set_align(struct ptxi_var *v, const struct decl *d)
{
    v->align = d->has_align ? d->align : (uint32_t)v->element;
    if (!v->align)
        v->align = 1;
    assert(!(v->align & (v->align - 1)));
}

/* ptxas checks the texture mode for single references, not for arrays of them. */
static bool is_misplaced_sampler(const struct parser *p, const struct ptxi_var *v)
{
    return v->opaque == 's' && !v->array && !p->ast->texmode_independent;
}

static const char sampler_mode[] = "a sampler reference requires .target texmode_independent";

static bool check_placement(struct parser *p, const struct decl *d, const struct ptxi_var *v)
{
    bool module = v->module_scope;
    const char *why = NULL;

    if (module && v->space == PTXI_SPACE_PARAM)
        why = "a .param variable must be declared in a function";
    else if (module && v->space == PTXI_SPACE_LOCAL)
        why = "a .local variable must be declared in a function";
    else if (v->unsized && !(v->linkage == PTXI_LINK_EXTERN && module))
        why = "an array without a size must be .extern or have an initializer";
    else if (v->linkage == PTXI_LINK_COMMON && v->space != PTXI_SPACE_GLOBAL)
        why = "'.common' is only accepted for .global variables";
    else if (is_misplaced_sampler(p, v))
        why = sampler_mode;
    else if (!module && v->opaque)
        why = "texture, sampler and surface references must be declared outside of functions";
    else if (d->attributes && v->space != PTXI_SPACE_GLOBAL)
        why = v->managed ? "'.managed' is only accepted for .global variables"
                         : "'.unified' is only accepted for .global variables and functions";
    if (why)
        ptxi_parse_error(p, v->loc, "%s", why);
    return !why;
}

static bool declare_var(struct parser *p, const struct decl *d, const struct ptxi_token *name)
{
    struct ptxi_initializer in = { .p = p };
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
    return check_placement(p, d, v) && ptxi_var_declare(p, v, name);
}

/* Declares n variables for name<n>. */
static bool declare_vars(struct parser *p, const struct decl *d, const struct ptxi_token *name, uint32_t n)
{
    if (n > PTXI_MAX_NAME_RANGE) {
        ptxi_parse_error(p, ptxi_token_loc(name), "too many variables: at most %d are accepted", PTXI_MAX_NAME_RANGE);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct ptxi_initializer in = { .p = p };
        struct ptxi_numbered_name one;
        struct ptxi_var *v;

        if (!ptxi_parse_numbered_name(p, name, i, &one) || !(v = new_var(p, d, &one.tok)) ||
            !set_sizes(p, &in, v, v->loc))
            return false;
        set_align(v, d);
        if (!check_placement(p, d, v) || !ptxi_var_declare(p, v, &one.tok))
            return false;
    }
    return true;
}

static bool declare_regs(struct parser *p, const struct decl *d, const struct ptxi_token *name, bool numbered,
                         uint32_t n)
{
    struct ptxi_loc loc = ptxi_token_loc(name);
    struct ptxi_sym *sym;

    if (p->tok.kind == '[' || p->tok.kind == '=') {
        ptxi_parse_error(p, ptxi_parse_loc(p), p->tok.kind == '[' ? "a register cannot be an array, use %%r<n>"
                                                                  : "a register cannot have an initializer");
        return false;
    }
    sym = ptxi_scope_add(p, PTXI_SYM_REG, numbered ? PTXI_CHAIN_RANGE : PTXI_CHAIN_EXACT, name->s, name->n, loc, n);
    if (!sym)
        return false;
    sym->type = d->type;
    sym->vector = d->vector;
    sym->first = ptxi_registers_add(p, sym->entry->name, d->type, d->vector, n, numbered, loc);
    return sym->first != PTXI_NO_REG;
}

static bool declare_name(struct parser *p, const struct decl *d)
{
    struct ptxi_token name = p->tok;
    uint64_t n = 1;
    bool numbered;

    if (name.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a name");
    if (ptxi_expr_can_start(p) || (p->names.depth == 0 && ptxi_operand_is_sreg(name.s, name.n))) {
        ptxi_parse_error(p, ptxi_token_loc(&name), "cannot declare '%.*s': it is a name of the PTX language",
                         (int)name.n, name.s);
        return false;
    }
    ptxi_parse_next(p);
    numbered = ptxi_parse_accept(p, '<');
    if (numbered && (!ptxi_expr_uint(p, 0, INT32_MAX, "the number of names", &n) || !ptxi_parse_expect(p, '>')))
        return false;
    if (d->is_reg)
        return declare_regs(p, d, &name, numbered, (uint32_t)n);
    return numbered ? declare_vars(p, d, &name, (uint32_t)n) : declare_var(p, d, &name);
}

bool ptxi_var_can_start(const struct parser *p)
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

static bool parse_space(struct parser *p, struct decl *d)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    int space = p->tok.kind == PTXI_TOK_WORD ? ptxi_parse_space(p->tok.s, p->tok.n) : -1;

    d->is_reg = ptxi_parse_is_word(p, "reg");
    if (!d->is_reg && (space < 0 || !ptxi_var_can_start(p)))
        return ptxi_parse_error_expected(p, "a state space such as .global");
    if (d->is_reg && p->names.depth == 0) {
        ptxi_parse_error(p, loc, "a register must be declared in a function");
        return false;
    }
    if (d->linkage != PTXI_LINK_STATIC && p->names.depth) {
        ptxi_parse_error(p, loc, "linking directives are only accepted outside of functions");
        return false;
    }
    if (space == PTXI_SPACE_TEX && p->version >= 30) {
        ptxi_parse_error(p, loc, "'.tex' was removed in PTX 3.0, use a .texref variable in .global space");
        return false;
    }
    d->space = d->is_reg ? 0 : (uint8_t)space;
    ptxi_parse_next(p);
    return true;
}

/* ptxas also accepts a type without a state space and names, which declares nothing. */
bool ptxi_var_parse(struct parser *p, uint8_t linkage)
{
    struct decl d = { .linkage = linkage, .is_reg = true };
    bool bare = at_type(p);

    if (!parse_specifiers(p, &d) || (!bare && !parse_space(p, &d)) || !parse_decl(p, &d, false))
        return false;
    if (bare && p->tok.kind != ';')
        return ptxi_parse_error_expected(p, "a state space such as .global before the type, or ';'");
    if (ptxi_parse_accept(p, ';'))
        return true;
    do {
        if (!declare_name(p, &d))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, ';');
}

/* ---- parameters ---- */

bool ptxi_var_declare_reg_param(struct parser *p, struct ptxi_var *v)
{
    struct ptxi_sym *sym = ptxi_scope_add(p, PTXI_SYM_REG, PTXI_CHAIN_EXACT, v->name->s, v->name->len, v->loc, 1);

    if (!sym)
        return false;
    sym->type = v->type;
    sym->vector = v->vector;
    sym->first = v->reg = ptxi_registers_add(p, v->name, v->type, v->vector, 1, false, v->loc);
    return v->reg != PTXI_NO_REG;
}

struct ptxi_var *ptxi_var_parse_param(struct parser *p, bool entry, bool prototype)
{
    struct decl d = { .space = PTXI_SPACE_PARAM };
    struct ptxi_initializer in = { .p = p };
    struct ptxi_token name;
    struct ptxi_var *v;

    d.is_reg = ptxi_parse_is_word(p, "reg");
    if (d.is_reg ? entry : !ptxi_parse_is_word(p, "param")) {
        ptxi_parse_error_expected(p, entry ? "'.param'" : "'.param' or '.reg'");
        return NULL;
    }
    ptxi_parse_next(p);
    if (!parse_decl(p, &d, entry))
        return NULL;
    name = p->tok;
    if (name.kind != PTXI_TOK_NAME && !(prototype && name.kind == '_')) {
        ptxi_parse_error_expected(p, "a name");
        return NULL;
    }
    ptxi_parse_next(p);
    if (!(v = new_var(p, &d, &name)) || !parse_dimensions(p, &in) || !set_sizes(p, &in, v, v->loc))
        return NULL;
    v->module_scope = false;
    set_align(v, &d);
    if (d.attributes || is_misplaced_sampler(p, v)) {
        ptxi_parse_error(p, v->loc, d.attributes ? "'.attribute' is not accepted for parameters" : sampler_mode);
        return NULL;
    }
    if (d.is_reg && in.dim_count > (v->vector > 1)) {
        ptxi_parse_error(p, v->loc, "invalid array of registers: a .reg parameter must be a scalar or vector");
        return NULL;
    }
    return v;
}
