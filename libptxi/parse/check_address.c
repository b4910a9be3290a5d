/* Operands that are addresses: state spaces, bases, references to textures. */
#include "parse/check.h"

#include "isa/op.gen.h"

/* The state space that the instruction names for this address. A barrier behind the others is where the destination is. */
enum ptxi_space ptxi_check_space(const struct ptxi_candidate *c, unsigned nth)
{
    return c->space_count == 0 ? PTXI_SPACE_GENERIC : c->spaces[nth < c->space_count ? nth : 0];
}

/* PTX ISA, "Device Function Parameters": inputs are read, results are written, and neither under a guard. */
static bool check_param(struct check *k, const struct ptxi_raw *r, bool store)
{
    const struct ptxi_var *v = r->var;

    if (v->is_param && store)
        return ptxi_check_fail(k, r->loc, "parameter '%s' cannot be written", v->name->s);
    if (v->is_ret && !store)
        return ptxi_check_fail(k, r->loc, "return parameter '%s' cannot be read", v->name->s);
    if (!v->is_param && !v->is_ret && k->in->guard != PTXI_NO_REG)
        return ptxi_check_fail(k, r->loc, "an access to the argument or result '%s' of a call cannot be predicated", v->name->s);
    return true;
}

/* What a variable without a space in the instruction's name may be in, where not all will do. */
static bool may_name(const struct ptxi_row *row, enum ptxi_space space)
{
    static const struct { uint16_t family; uint8_t space; } only[] = { { PTXI_M_mbarrier, PTXI_SPACE_SHARED }, { PTXI_M_prefetchu, PTXI_SPACE_GLOBAL } };

    for (unsigned i = 0; i < sizeof only / sizeof *only; i++)
        if (row->family == only[i].family)
            return space == only[i].space || space == PTXI_SPACE_CONST || space == PTXI_SPACE_PARAM;
    return true;
}

static bool check_space(struct check *k, const struct ptxi_raw *r, enum ptxi_space space, bool store)
{
    const struct ptxi_var *v = r->var;

    if (!v)
        return true;
    if (v->opaque)
        return ptxi_check_fail(k, r->loc, "'%s' is a texture, sampler or surface reference", v->name->s);
    if (space == PTXI_SPACE_GENERIC && !may_name(k->c->match->row, v->space))
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s, where '%s' does not go", v->name->s, ptxi_check_space_names[v->space], k->c->match->row->mnemonic);
    if (space == PTXI_SPACE_GENERIC && (v->space == PTXI_SPACE_CONST || v->space == PTXI_SPACE_PARAM))
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s, the instruction names no state space", v->name->s, ptxi_check_space_names[v->space]);
    if (space != PTXI_SPACE_GENERIC && v->space != space)
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s, the instruction accesses .%s", v->name->s, ptxi_check_space_names[v->space], ptxi_check_space_names[space]);
    return space != PTXI_SPACE_PARAM || check_param(k, r, store);
}

/* PTX ISA, "ld": the address of a variable with that attribute, in a register or by name, of what gives a value. */
static bool may_be_unified(const struct check *k, const struct ptxi_raw *r, unsigned i, enum ptxi_space space)
{
    return i && k->c->match->row->specs[0].flags & PTXI_OPF_WRITE && k->c->match->row->specs[0].kind == PTXI_OPK_VALUE &&
           (space == PTXI_SPACE_GENERIC || space == PTXI_SPACE_GLOBAL) && (!r->var || r->var->unified);
}

/* The register that holds an address. ptxas takes 32 bits for a sign of a 32-bit program, which it does not translate; narrower
 * ones it extends, and where it moves the address before it uses it, those of 32 bits, too. */
static bool check_base(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_space space)
{
    unsigned bits = ptxi_types[r->type].bits;
    unsigned at = (unsigned)(s - k->c->match->row->specs) + 1, most = at < k->c->spec_count && s[1].flags & PTXI_OPF_COORDS ? 128 : 64;
    bool moved = s->flags & PTXI_OPF_UNCHECKED, narrow = s->flags & PTXI_OPF_WIDER && (!moved || s->flags & PTXI_OPF_EACH || space != PTXI_SPACE_GENERIC);

    if (k->c->expansion == PTXI_EXPANDED)
        narrow = false;

    if (!r->based)
        return true;
    if (s->flags & PTXI_OPF_ANY_REGISTER && bits <= most && k->c->expansion != PTXI_EXPANDED && !(s->flags & PTXI_OPF_EACH && r->type == PTXI_T_pred))
        return true;
    if (!ptxi_is_bits(ptxi_types[r->type].class) || bits > 64 || (bits < 32 && !narrow))
        return ptxi_check_fail(k, r->loc, "'%.*s' cannot be an address: a 32-bit or 64-bit integer register is needed", (int)r->loc.len, r->s);
    if (bits == 32 && !moved && !r->var && ptxi_is_far(space) && k->p->tree->address_size == 64)
        return ptxi_check_fail(k, r->loc, "'%.*s' has 32 bits; an address in %s space takes a 64-bit register", (int)r->loc.len, r->s, ptxi_check_space_names[space]);
    return true;
}

/* Whether a query is about what a sampler has, if there are samplers. */
static bool asks_sampler(const struct ptxi_match *m)
{
    static const char *const words[] = { "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2" };

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (ptxi_isa_has(m, words[i]))
            return true;
    return false;
}

/* PTX ISA, "Texture, Sampler and Surface Types": which of them an address is, as struct ptxi_var names them. */
static char reference_kind(const struct check *k)
{
    const struct ptxi_row *row = k->c->match->row;

    if (row->mnemonic[0] == 's') /* suld and its like */
        return 'f';
    return row->family == PTXI_M_txq && (ptxi_isa_has(k->c->match, "force_unnormalized_coords") || (k->p->tree->texmode_independent && asks_sampler(k->c->match))) ? 's' : 't';
}

/* A texture, sampler or surface. */
static bool check_reference(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    char kind = reference_kind(k);

    if (!r->offset && (r->var ? r->var->opaque == kind && !r->based : r->based && ptxi_check_fits(PTXI_T_u64, r->type, false)))
        return true;
    return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be a .%s or a 64-bit integer register", s->name, (int)k->sp->n, k->sp->s,
                kind == 's' ? "samplerref" : kind == 'f' ? "surfref" : "texref");
}

/* Tensor memory: by registers of integers and packed halves; where ptxas puts other instructions in the place, of bits alone. */
static bool is_tensor_address(const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type only)
{
    if (!r->based || r->var || ptxi_types[r->type].bits != ptxi_types[only].bits)
        return false;
    return ptxi_types[r->type].class == 'B' || (!(s->flags & PTXI_OPF_EACH) && (ptxi_is_bits(ptxi_types[r->type].class) || r->type == PTXI_T_f16x2));
}

bool ptxi_check_address(struct check *k, const struct ptxi_raw *r, unsigned i, unsigned nth, struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->c->match->row->specs[i];
    enum ptxi_type only = k->c->types[i]; /* an address that is a register of this type */
    enum ptxi_space space = ptxi_check_space(k->c, nth);
    struct ptxi_address *a;

    if (r->kind != PTXI_RAW_ADDRESS && !(r->kind == PTXI_RAW_VAR && r->bare))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be an address in brackets", s->name, (int)k->sp->n, k->sp->s);
    if (only == PTXI_T_u64 && !check_reference(k, r, s))
        return false;
    if (only != PTXI_T_NONE && only != PTXI_T_u64 && !is_tensor_address(r, s, only))
        return ptxi_check_fail(k, r->loc, "operand %s of '%.*s' must be an address in a .%s register", s->name, (int)k->sp->n, k->sp->s, ptxi_types[only].name);
    if (only == PTXI_T_NONE && !check_base(k, r, s, space))
        return false;
    if (!r->var && !r->based && space != PTXI_SPACE_LOCAL)
        return ptxi_check_fail(k, r->loc, "only a .local address can be a constant");
    if (only == PTXI_T_NONE && !check_space(k, r, space, i == 0 && k->c->match->row->spec_count > 1))
        return false;
    if (r->unified && !may_be_unified(k, r, i, space))
        return ptxi_check_fail(k, r->loc, "'.unified' is for loads from variables with this attribute, of which '%.*s' is none", (int)k->sp->n, k->sp->s);
    if (r->offset && i + 1 < k->c->spec_count && k->c->match->row->specs[i + 1].flags & PTXI_OPF_COORDS)
        return ptxi_check_fail(k, r->loc, "an address with coordinates takes no offset");
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = r->based ? r->reg : PTXI_NO_REG, .type = r->based ? r->type : PTXI_T_NONE,
                                .scale = r->based ? r->scale : 1, .offset = r->offset };
    o->form = PTXI_OPD_ADDRESS;
    o->type = r->based ? r->type : PTXI_T_NONE;
    o->column = r->loc.col;
    o->address = a;
    return true;
}
