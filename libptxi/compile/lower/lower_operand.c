/* Operands of the instruction that is being lowered: their values, destinations, vectors and addresses. */
#include "compile/lower/lower_state.h"

#include <assert.h>

/* Index of the operand of that name, or -1 if it is not written. */
static int operand_index(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name)
{
    const struct ptxi_row *row = l->inst->match->row;

    for (unsigned i = 0; i < row->spec_count && i < l->inst->operand_count; i++)
        if (row->specs[i].id == name && l->inst->operands[i].form != PTXI_OPD_NONE)
            return (int)i;
    return -1;
}

const struct ptxi_operand *ptxi_lower_operand(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name)
{
    int i = operand_index(l, name);

    return i < 0 ? NULL : &l->inst->operands[i];
}

enum ptxi_type ptxi_lower_operand_type(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name)
{
    int i = operand_index(l, name);

    return i < 0 ? PTXI_T_NONE : ptxi_isa_operand_type(l->inst->match, &l->inst->match->row->specs[i]);
}

/* --- special registers --- */

/* Whether no instruction can see the register change during a launch. */
static bool is_fixed_sreg(uint32_t id)
{
    return ptxi_sreg_scope(id) != PTXI_SCOPE_ANY;
}

/* sreg: the register's id, and its component in the bits above. */
static uint32_t read_sreg(struct ptxi_lower *l, uint32_t sreg, enum ptxi_class class)
{
    static const uint8_t types[] = {
#define SREG(id, spelling, type, vector, ptx, sm, scope) PTXI_T_##type,
#include "isa/sreg.def"
#undef SREG
    };
    static const uint16_t ops[PTXI_RC_COUNT] = { [PTXI_RC_PRED] = PTXI_OP_sreg_pred, [PTXI_RC_32] = PTXI_OP_sreg_32,
                                                 [PTXI_RC_64] = PTXI_OP_sreg_64 };
    enum ptxi_class natural = ptxi_ir_class_of(types[sreg & 0xff]);
    uint32_t d = ptxi_lower_temp(l, natural);
    struct ptxi_ir_inst *i;

    assert((sreg & 0xff) < PTXI_SREG_COUNT && ops[natural]);
    i = ptxi_lower_op(l, ops[natural], d, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->imm = (int32_t)sreg;
    i->flags |= PTXI_IF_NOT_SHARED;
    if (is_fixed_sreg(sreg & 0xff))
        i->flags |= PTXI_IF_PURE;
    return ptxi_lower_fit(l, d, class);
}

/* --- values and destinations --- */

uint32_t ptxi_lower_use_predicate(struct ptxi_lower *l, const struct ptxi_operand *o, uint16_t *mods)
{
    if (o->form == PTXI_OPD_IMM)
        return ptxi_lower_const(l, PTXI_RC_PRED, (o->imm != 0) != o->negated);
    if (o->negated)
        *mods |= PTXI_MOD_NOT_C;
    return o->form == PTXI_OPD_REG ? o->reg : ptxi_lower_use(l, o, PTXI_RC_PRED);
}

static uint32_t use_register(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class)
{
    uint32_t d;

    if (!o->negated || class != PTXI_RC_PRED)
        return ptxi_lower_fit(l, o->reg, class);
    d = ptxi_lower_temp(l, PTXI_RC_PRED);
    ptxi_lower_pure_op(l, PTXI_OP_not_pred, d, o->reg, PTXI_NONE, PTXI_NONE);
    return d;
}

static uint32_t use_sum(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class)
{
    static const uint16_t ops[PTXI_RC_COUNT] = { [PTXI_RC_16] = PTXI_OP_add_i16, [PTXI_RC_32] = PTXI_OP_add_i32,
                                                 [PTXI_RC_64] = PTXI_OP_add_i64 };
    enum ptxi_class own = ptxi_lower_class(l, o->base);
    uint32_t d = ptxi_lower_temp(l, own);

    assert(ops[own]);
    ptxi_lower_pure_op(l, ops[own], d, o->base, ptxi_lower_const(l, own, (uint64_t)o->addend), PTXI_NONE);
    return ptxi_lower_fit(l, d, class);
}

static uint32_t use_constant(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class)
{
    if (class == PTXI_RC_PRED)
        return ptxi_lower_const(l, class, (o->imm != 0) != o->negated);
    return ptxi_lower_fit(l, ptxi_lower_const(l, class == PTXI_RC_128 ? PTXI_RC_64 : class, o->imm), class);
}

uint32_t ptxi_lower_use(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class)
{
    switch (o->form) {
    case PTXI_OPD_REG: return use_register(l, o, class);
    case PTXI_OPD_SUM: return use_sum(l, o, class);
    case PTXI_OPD_IMM: return use_constant(l, o, class);
    case PTXI_OPD_SREG: return read_sreg(l, o->sreg, class);
    case PTXI_OPD_VAR: return ptxi_lower_variable_address(l, o->var, o->offset, class);
    case PTXI_OPD_FUNC: return ptxi_lower_const(l, class, l->options->function_address(l->options->ctx, o->func));
    default:
        ptxi_lower_unsupported(l, "operand");
        return ptxi_lower_temp(l, class);
    }
}

uint32_t ptxi_lower_def(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class)
{
    if (o->form == PTXI_OPD_REG && ptxi_lower_class(l, o->reg) == class)
        return o->reg;
    return ptxi_lower_temp(l, class);
}

void ptxi_lower_end_def(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t written, enum ptxi_type type)
{
    if (o->form == PTXI_OPD_REG && written != o->reg)
        ptxi_lower_resize(l, o->reg, written, ptxi_types[type].bits, ptxi_types[type].class == 'S');
}

/* --- vectors in one register --- */

/* How a register is composed of elements of one width. */
struct element_ops {
    enum ptxi_class class;
    uint16_t pack_2, pack_4, unpack;
    enum ptxi_type unsigned_type, signed_type;
};

static const struct element_ops *element_ops(unsigned bits)
{
    static const struct element_ops of_8 = { PTXI_RC_16, PTXI_OP_pack_2x8, PTXI_OP_pack_4x8, PTXI_OP_unpack_8,
                                             PTXI_T_b8, PTXI_T_s8 };
    static const struct element_ops of_16 = { PTXI_RC_16, PTXI_OP_pack_2x16, PTXI_OP_pack_4x16, PTXI_OP_unpack_16,
                                              PTXI_T_b16, PTXI_T_s16 };
    static const struct element_ops of_32 = { PTXI_RC_32, PTXI_OP_pack_2x32, PTXI_OP_pack_4x32, PTXI_OP_unpack_32,
                                              PTXI_T_b32, PTXI_T_s32 };
    static const struct element_ops of_64 = { PTXI_RC_64, PTXI_OP_pack_2x64, PTXI_OP_pack_2x64, PTXI_OP_unpack_64,
                                              PTXI_T_b64, PTXI_T_b64 };

    switch (bits) {
    case 8: return &of_8;
    case 16: return &of_16;
    case 32: return &of_32;
    default: return &of_64;
    }
}

static unsigned register_bits(const struct ptxi_lower *l, uint32_t v)
{
    return ptxi_class_units[ptxi_lower_class(l, v)] * 16u;
}

static void pack_halves(struct ptxi_lower *l, uint32_t d, const struct ptxi_operand *o)
{
    struct ptxi_operand half = *o;
    uint32_t v[2];

    half.count /= 2;
    for (unsigned h = 0; h < 2; h++, half.elements += half.count) {
        v[h] = ptxi_lower_temp(l, ptxi_lower_class(l, d) - 1);
        ptxi_lower_pack(l, v[h], &half);
    }
    ptxi_lower_pure_op(l, element_ops(register_bits(l, v[0]))->pack_2, d, v[0], v[1], PTXI_NONE);
}

void ptxi_lower_pack(struct ptxi_lower *l, uint32_t d, const struct ptxi_operand *o)
{
    unsigned bits = register_bits(l, d) / o->count;
    const struct element_ops *ops = element_ops(bits);
    uint32_t v[4] = { PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE };
    struct ptxi_ir_inst *i;

    if (bits < 8 || o->count % 2) {
        ptxi_lower_unsupported(l, "number of elements");
        return;
    }
    if (o->count > 4) {
        pack_halves(l, d, o);
        return;
    }
    for (unsigned e = 0; e < o->count; e++)
        v[e] = ptxi_lower_use(l, &o->elements[e], ops->class);
    i = ptxi_lower_pure_op(l, o->count == 4 ? ops->pack_4 : ops->pack_2, d, v[0], v[1], v[2]);
    ptxi_ir_set_read(i, PTXI_F_IMM, v[3]);
}

void ptxi_lower_unpack(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t a, bool is_signed)
{
    unsigned bytes = register_bits(l, a) / 8;
    const struct element_ops *ops = element_ops(bytes * 8 / o->count);
    enum ptxi_type type = is_signed ? ops->signed_type : ops->unsigned_type;

    for (unsigned e = 0; e < o->count; e++) {
        struct ptxi_ir_inst *i;

        if (o->elements[e].form != PTXI_OPD_REG)
            continue;
        i = ptxi_lower_pure_op(l, ops->unpack, ptxi_lower_def(l, &o->elements[e], ops->class), a, PTXI_NONE, PTXI_NONE);
        i->mods = (uint16_t)bytes;
        i->imm = (int32_t)e;
        ptxi_lower_end_def(l, &o->elements[e], i->v[PTXI_F_D], type);
    }
}

/* --- addresses --- */

enum ptxi_space ptxi_lower_space(const struct ptxi_match *m)
{
    for (unsigned s = 0; s < m->row->slot_count; s++) {
        switch (m->words[s]) {
        case PTXI_Q_const: return PTXI_SPACE_CONST;
        case PTXI_Q_global: return PTXI_SPACE_GLOBAL;
        case PTXI_Q_local: return PTXI_SPACE_LOCAL;
        case PTXI_Q_param: case PTXI_Q_param__entry: case PTXI_Q_param__func: return PTXI_SPACE_PARAM;
        case PTXI_Q_shared: case PTXI_Q_shared__cta: return PTXI_SPACE_SHARED;
        case PTXI_Q_shared__cluster: return PTXI_SPACE_CLUSTER;
        default: break;
        }
    }
    return PTXI_SPACE_GENERIC;
}

bool ptxi_lower_memory_operand(struct ptxi_lower *l, const struct ptxi_operand *o, bool global,
                               struct ptxi_lower_mem *mem)
{
    if (!ptxi_lower_address(l, o->address, ptxi_lower_space(l->inst->match), mem))
        return false;
    if (mem->base != PTXI_NONE && (mem->space == PTXI_SPACE_SHARED || mem->space == PTXI_SPACE_GENERIC ||
                                   (global && mem->space == PTXI_SPACE_GLOBAL)))
        return true;
    ptxi_lower_unsupported(l, "state space");
    return false;
}

uint32_t ptxi_lower_address_in_space(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, enum ptxi_space space)
{
    struct ptxi_lower_mem mem;

    if (!ptxi_lower_address(l, ptxi_lower_operand(l, name)->address, space, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || mem.space != space) {
        ptxi_lower_unsupported(l, "state space");
        return PTXI_NONE;
    }
    return mem.offset ? ptxi_lower_add_offset(l, mem.base, mem.offset) : mem.base;
}

uint32_t ptxi_lower_generic_address(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, enum ptxi_space space)
{
    struct ptxi_lower_mem mem;

    if (!ptxi_lower_address(l, ptxi_lower_operand(l, name)->address, space, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC &&
                                  mem.space != PTXI_SPACE_GLOBAL)) {
        ptxi_lower_unsupported(l, "state space");
        return PTXI_NONE;
    }
    if (mem.space == PTXI_SPACE_SHARED)
        mem.base = ptxi_lower_shared_to_generic(l, mem.base);
    return mem.offset ? ptxi_lower_add_offset(l, mem.base, mem.offset) : mem.base;
}
