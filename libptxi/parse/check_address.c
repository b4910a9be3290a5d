/* Operands that are addresses: state spaces, base registers, references to textures, tensor memory. */
#include "parse/check_state.h"

#include "isa/op.gen.h"
#include "parse/expr.h"

/* An instruction may name fewer spaces than it has addresses. The mbarrier after the other addresses is in the space
 * of the destination. */
enum ptxi_space ptxi_check_address_space(const struct ptxi_candidate *c, unsigned nth)
{
    if (c->space_count == 0)
        return PTXI_SPACE_GENERIC;
    return c->spaces[nth < c->space_count ? nth : 0];
}

/* ---- variables ---- */

/* PTX ISA, "Device Function Parameters": inputs are read, results are written, and neither with a guard. */
static bool check_param(struct check *k, const struct ptxi_raw *r, bool store)
{
    const struct ptxi_var *v = r->var;

    if (v->is_param && store)
        return ptxi_check_fail(k, r->loc, "cannot write to parameter '%s'", v->name->s);
    if (v->is_ret && !store)
        return ptxi_check_fail(k, r->loc, "cannot read return parameter '%s'", v->name->s);
    if (!v->is_param && !v->is_ret && k->in->guard != PTXI_NO_REG)
        return ptxi_check_fail(k, r->loc, "an access to '%s', an argument or result of a call, cannot have a guard",
                               v->name->s);
    return true;
}

/* True if an instruction that names no state space may access a variable in this space. ptxas does not check that the
 * object of mbarrier.check_layout is in shared memory. */
static bool may_access_space(const struct ptxi_match *m, enum ptxi_space space)
{
    static const struct { uint16_t family; uint8_t space; } only[] = {
        { PTXI_M_mbarrier, PTXI_SPACE_SHARED }, { PTXI_M_prefetchu, PTXI_SPACE_GLOBAL },
    };

    for (unsigned i = 0; i < sizeof only / sizeof *only && !ptxi_isa_has(m, "check_layout"); i++)
        if (m->row->family == only[i].family)
            return space == only[i].space || space == PTXI_SPACE_CONST || space == PTXI_SPACE_PARAM;
    return true;
}

/* PTX ISA, "Parameter State Space": .param::func is for parameters of functions and for arguments of calls. */
static bool is_function_parameter(const struct check *k, const struct ptxi_var *v)
{
    return v && !(v->is_param && k->p->fn->is_entry);
}

static bool check_space(struct check *k, const struct ptxi_raw *r, enum ptxi_space space, bool store)
{
    const struct ptxi_var *v = r->var;
    const char *have;

    if (space == PTXI_SPACE_PARAM && ptxi_isa_has(k->candidate->match, "param::func") && !is_function_parameter(k, v))
        return ptxi_check_fail(k, r->loc, "an address in .param::func space must be a parameter of a function");
    if (!v)
        return true;
    have = ptxi_check_space_names[v->space];
    if (v->opaque && !v->array) /* ptxas takes an array of references for memory, not for references */
        return ptxi_check_fail(k, r->loc, "invalid address '%s': it is a texture, sampler or surface reference",
                               v->name->s);
    if (space == PTXI_SPACE_GENERIC && !may_access_space(k->candidate->match, v->space))
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s space, which '%s' cannot access", v->name->s, have,
                               k->row->mnemonic);
    if (space == PTXI_SPACE_GENERIC && (v->space == PTXI_SPACE_CONST || v->space == PTXI_SPACE_PARAM))
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s space, but the instruction does not name a state space",
                               v->name->s, have);
    if (space != PTXI_SPACE_GENERIC && v->space != space)
        return ptxi_check_fail(k, r->loc, "'%s' is in .%s space, but the instruction accesses .%s space", v->name->s,
                               have, ptxi_check_space_names[space]);
    return space != PTXI_SPACE_PARAM || check_param(k, r, store);
}

/* PTX ISA, "ld": [address].unified is for loads. A variable that is named must have the attribute .unified. */
static bool may_be_unified(const struct check *k, const struct ptxi_raw *r, unsigned i, enum ptxi_space space)
{
    const struct ptxi_opspec *destination = &k->row->specs[0];

    return i && destination->flags & PTXI_OPF_WRITE && destination->kind == PTXI_OPK_VALUE &&
           (space == PTXI_SPACE_GENERIC || space == PTXI_SPACE_GLOBAL) && (!r->var || r->var->unified);
}

/* ---- base registers ---- */

/* True if the base register of this operand may be narrower than 32 bits. */
static bool may_be_narrow(const struct check *k, const struct ptxi_opspec *s, enum ptxi_space space)
{
    if (k->candidate->expansion == PTXI_EXPANDED || !(s->flags & PTXI_OPF_WIDER))
        return false;
    return !(s->flags & PTXI_OPF_UNCHECKED) || s->flags & PTXI_OPF_EACH || space != PTXI_SPACE_GENERIC;
}

/* True if any register of up to 64 bits is accepted, or up to 128 where coordinates follow. */
static bool accepts_any_register(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    unsigned next = (unsigned)(s - k->row->specs) + 1;
    unsigned max = next < k->candidate->spec_count && s[1].flags & PTXI_OPF_COORDS ? 128 : 64;

    return s->flags & PTXI_OPF_ANY_REGISTER && ptxi_types[r->type].bits <= max &&
           k->candidate->expansion != PTXI_EXPANDED && !(s->flags & PTXI_OPF_EACH && r->type == PTXI_T_pred);
}

/* True if ptxas replaces the instruction by others that extend no address. */
static bool is_replaced(const struct ptxi_opspec *s)
{
    return s->flags & PTXI_OPF_EACH && !(s->flags & PTXI_OPF_WIDER);
}

/* True if ptxas takes other values of this operand, the last one, for one that another form has. */
static bool may_be_confused(const struct check *k, const struct ptxi_opspec *s)
{
    return s->flags & PTXI_OPF_CONFUSED && s + 1 == k->row->specs + k->candidate->spec_count;
}

/* The same, and another form has a mask. */
static bool may_be_mask(const struct check *k, const struct ptxi_opspec *s)
{
    return may_be_confused(k, s) && !(s->flags & PTXI_OPF_EACH);
}

/* The register that holds an address. In a 64-bit program ptxas rejects a 32-bit register. It extends narrower ones,
 * and also 32-bit ones where it moves the address to another register first. */
static bool check_base(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_space space)
{
    unsigned bits = ptxi_types[r->type].bits;

    if (!r->based || accepts_any_register(k, r, s))
        return true;
    if (!ptxi_is_bits_class(ptxi_types[r->type].class) || bits > 64 || (bits < 32 && !may_be_narrow(k, s, space)))
        return ptxi_check_fail(k, r->loc, "invalid address '%.*s': it must be a 32-bit or 64-bit integer register",
                               (int)r->loc.len, r->s);
    if (bits == 16 && may_be_mask(k, s))
        return ptxi_check_fail_operand(k, r->loc, s, "cannot be in a register of 16 bits");
    if (bits == 32 && !(s->flags & PTXI_OPF_UNCHECKED) && !r->var &&
        (ptxi_is_wide_space(space) || is_replaced(s)) && k->p->ast->address_size == 64)
        return ptxi_check_fail(k, r->loc,
                               "'%.*s' is a 32-bit register, but an address in %s space must be a 64-bit register",
                               (int)r->loc.len, r->s, ptxi_check_space_names[space]);
    return true;
}

/* ---- textures, samplers, surfaces ---- */

/* True if a txq reads a property of the sampler, in a program with separate samplers. */
static bool queries_sampler(const struct ptxi_match *m)
{
    static const char *const words[] = { "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2" };

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (ptxi_isa_has(m, words[i]))
            return true;
    return false;
}

/* The kind of reference that the instruction requires, as `opaque` in struct ptxi_var (PTX ISA, "Texture, Sampler
 * and Surface Types"). */
static char reference_kind(const struct check *k)
{
    const struct ptxi_match *m = k->candidate->match;

    switch (k->row->family) {
    case PTXI_M_suld:
    case PTXI_M_sust:
    case PTXI_M_sured:
    case PTXI_M_suq:
        return 'f';
    case PTXI_M_txq:
        if (ptxi_isa_has(m, "force_unnormalized_coords") || (k->p->ast->texmode_independent && queries_sampler(m)))
            return 's';
        return 't';
    default:
        return 't';
    }
}

static const char *reference_name(char kind)
{
    switch (kind) {
    case 's': return ".samplerref";
    case 'f': return ".surfref";
    default: return ".texref";
    }
}

static bool check_reference(struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    char kind = reference_kind(k);
    bool named = r->var && r->var->opaque == kind && !r->var->array && !r->based;
    bool in_register = !r->var && r->based && ptxi_check_reg_fits(PTXI_T_u64, r->type, false);

    if (!r->offset && (named || in_register))
        return true;
    return ptxi_check_fail_operand(k, r->loc, s, "must be a %s variable or a 64-bit integer register",
                                   reference_name(kind));
}

/* ---- tensor memory ---- */

/* An address of tensor memory is in an integer or .f16x2 register of this width. Where ptxas replaces the
 * instruction, only in a .bN register. A number, which is of type .uN, is not in an .f16x2 register.
 * A register of 64 bits may be a float. */
static bool is_tensor_address(const struct ptxi_raw *r, const struct ptxi_opspec *s, enum ptxi_type only)
{
    char class = ptxi_types[r->type].class;

    if (!r->based || r->var || ptxi_types[r->type].bits != ptxi_types[only].bits)
        return false;
    if (class == 'B' || (class == 'F' && ptxi_types[only].bits == 64))
        return true;
    return !(s->flags & PTXI_OPF_EACH) && (ptxi_is_bits_class(class) ||
                                           (r->type == PTXI_T_f16x2 && ptxi_types[only].class == 'B'));
}

/* ---- all addresses ---- */

/* Checks what the address refers to. `only`: the type of the register if the operand is a reference or in tensor
 * memory. */
static bool check_target(struct check *k, const struct ptxi_raw *r, unsigned i, enum ptxi_type only,
                         enum ptxi_space space)
{
    const struct ptxi_opspec *s = &k->row->specs[i];

    if (only == PTXI_T_u64 && !check_reference(k, r, s))
        return false;
    if (only != PTXI_T_NONE && only != PTXI_T_u64 && !is_tensor_address(r, s, only))
        return ptxi_check_fail_operand(k, r->loc, s, "must be an address in a .%s register", ptxi_types[only].name);
    if (only == PTXI_T_NONE && r->kind == PTXI_RAW_ADDRESS && !check_base(k, r, s, space))
        return false;
    if (!r->var && !r->based && space != PTXI_SPACE_LOCAL && r->kind == PTXI_RAW_ADDRESS)
        return ptxi_check_fail(k, r->loc, "invalid address: only an address in .local space can be a constant");
    return only != PTXI_T_NONE || check_space(k, r, space, i == 0 && k->row->spec_count > 1);
}

/* True if this register holds an address without brackets around it. Of these ptxas checks the width at most. */
static bool is_bare_base(const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    unsigned bits = ptxi_types[r->type].bits;

    if (r->vector || r->selector || r->negated || r->minus || r->sum || r->type == PTXI_T_pred)
        return false;
    return s->flags & PTXI_OPF_WIDER || bits == 64 || (bits == 32 && ptxi_is_integer(r->type)) || r->type == PTXI_T_b32;
}

/* Makes an address of an operand without brackets, if this is accepted. ptxas treats bits of a float as an address
 * where it extends narrow registers. False if it is not an address. */
static bool add_brackets(const struct ptxi_raw *r, const struct ptxi_opspec *s, struct ptxi_raw *address)
{
    *address = *r;
    switch (r->kind) {
    case PTXI_RAW_ADDRESS:
        return true;
    case PTXI_RAW_VAR:
        return r->bare || s->flags & PTXI_OPF_SYMBOL;
    case PTXI_RAW_REG:
        ptxi_raw_add_brackets(address);
        return s->flags & PTXI_OPF_SYMBOL && is_bare_base(r, s);
    case PTXI_RAW_CONST:
        address->offset = (int64_t)r->bits;
        address->var = NULL;
        return s->flags & PTXI_OPF_SYMBOL && s->flags & PTXI_OPF_WIDER && r->value_kind != PTXI_VAL_INT;
    default:
        return false;
    }
}

/* True if ptxas takes the operand for the mask or the cache policy that another form has, and does not miss the
 * mbarrier. */
static bool is_mask_or_policy(const struct check *k, const struct ptxi_raw *r, const struct ptxi_opspec *s)
{
    const struct ptxi_type_info *t = &ptxi_types[r->type];

    if (!may_be_confused(k, s))
        return false;
    if (r->kind == PTXI_RAW_CONST)
        return r->value_kind == PTXI_VAL_INT;
    if (r->kind != PTXI_RAW_REG || r->vector || r->selector || r->negated || r->minus || r->sum)
        return false;
    return ptxi_is_bits_class(t->class) && (t->bits == 64 || (t->bits == 16 && may_be_mask(k, s)));
}

bool ptxi_check_address(struct check *k, const struct ptxi_raw *written, unsigned i, unsigned nth,
                        struct ptxi_operand *o)
{
    const struct ptxi_opspec *s = &k->row->specs[i];
    enum ptxi_space space = ptxi_check_address_space(k->candidate, nth);
    struct ptxi_raw address, *r = &address;
    struct ptxi_address *a;

    if (is_mask_or_policy(k, written, s)) {
        k->meaningless = PTXI_NO_MBARRIER;
        o->form = PTXI_OPD_SINK;
        o->type = PTXI_T_NONE;
        o->column = written->loc.col;
        return true;
    }
    if (!add_brackets(written, s, r))
        return ptxi_check_fail_operand(k, r->loc, s, "must be an address in brackets");
    if (!check_target(k, r, i, k->candidate->types[i], space))
        return false;
    if (r->unified && !may_be_unified(k, r, i, space))
        return ptxi_check_fail(k, r->loc,
                               "'%.*s' does not accept '.unified', which requires a load from such a variable",
                               (int)k->opcode->n, k->opcode->s);
    if (r->offset && i + 1 < k->candidate->spec_count && s[1].flags & PTXI_OPF_COORDS)
        return ptxi_check_fail(k, r->loc, "an address with coordinates cannot have an offset");
    if (!(a = ARENA_NEW(k->p->arena, struct ptxi_address, 1)))
        return false;
    *a = (struct ptxi_address){ .var = r->var, .reg = PTXI_NO_REG, .type = PTXI_T_NONE, .scale = 1,
                               .offset = r->offset };
    if (r->based) {
        a->reg = r->reg;
        a->type = r->type;
        a->scale = r->scale;
    }
    o->form = PTXI_OPD_ADDRESS;
    o->type = a->type;
    o->column = r->loc.col;
    o->address = a;
    return true;
}
