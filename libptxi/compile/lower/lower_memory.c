/* ld and st of all state spaces, tensormap.query, alloca, cache policies. */
#include "compile/lower/lower_state.h"

#include <assert.h>

/* --- operations --- */

/* The loads of one space. The elements of an array are by the width of the register: 16, 32, 64 bits; those of v_...:
 * v2 and v4. */
struct loads {
    uint16_t u8[3], s8[3], b16, u16[2], s16[2], b32, u32_64, s32_64, b64, b128;
    uint16_t v_u8[2], v_s8[2], v_16[2], v_32[2], v2_64;
};

#define LOADS(s) \
    { { PTXI_OP_ld_##s##_u8_16, PTXI_OP_ld_##s##_u8_32, PTXI_OP_ld_##s##_u8_64 }, \
      { PTXI_OP_ld_##s##_s8_16, PTXI_OP_ld_##s##_s8_32, PTXI_OP_ld_##s##_s8_64 }, \
      PTXI_OP_ld_##s##_16, \
      { PTXI_OP_ld_##s##_u16_32, PTXI_OP_ld_##s##_u16_64 }, \
      { PTXI_OP_ld_##s##_s16_32, PTXI_OP_ld_##s##_s16_64 }, \
      PTXI_OP_ld_##s##_32, \
      PTXI_OP_ld_##s##_u32_64, \
      PTXI_OP_ld_##s##_s32_64, \
      PTXI_OP_ld_##s##_64, \
      PTXI_OP_ld_##s##_128, \
      { PTXI_OP_ld_##s##_v2_u8_16, PTXI_OP_ld_##s##_v4_u8_16 }, \
      { PTXI_OP_ld_##s##_v2_s8_16, PTXI_OP_ld_##s##_v4_s8_16 }, \
      { PTXI_OP_ld_##s##_v2_16, PTXI_OP_ld_##s##_v4_16 }, \
      { PTXI_OP_ld_##s##_v2_32, PTXI_OP_ld_##s##_v4_32 }, \
      PTXI_OP_ld_##s##_v2_64 }

static const struct loads loads[] = {
    [PTXI_SPACE_GENERIC] = LOADS(generic), [PTXI_SPACE_CONST] = LOADS(const), [PTXI_SPACE_GLOBAL] = LOADS(global),
    [PTXI_SPACE_LOCAL] = LOADS(local),     [PTXI_SPACE_PARAM] = LOADS(param), [PTXI_SPACE_SHARED] = LOADS(shared),
};

/* The stores of one space: scalar, v2, v4. */
struct stores {
    uint16_t b8[3], b16[3], b32[3], b64[3], b128[3];
};

#define STORES(s) \
    { { PTXI_OP_st_##s##_8, PTXI_OP_st_##s##_v2_8, PTXI_OP_st_##s##_v4_8 }, \
      { PTXI_OP_st_##s##_16, PTXI_OP_st_##s##_v2_16, PTXI_OP_st_##s##_v4_16 }, \
      { PTXI_OP_st_##s##_32, PTXI_OP_st_##s##_v2_32, PTXI_OP_st_##s##_v4_32 }, \
      { PTXI_OP_st_##s##_64, PTXI_OP_st_##s##_v2_64 }, \
      { PTXI_OP_st_##s##_128 } }

static const struct stores stores[] = {
    [PTXI_SPACE_GENERIC] = STORES(generic),
    [PTXI_SPACE_GLOBAL] = STORES(global),
    [PTXI_SPACE_LOCAL] = STORES(local),
    [PTXI_SPACE_SHARED] = STORES(shared),
};

/* --- accesses --- */

/* The parts of an instruction that all its elements share. */
struct access {
    struct ptxi_lower_mem mem;
    enum ptxi_type type;
    unsigned bits;
    bool is_signed, strong;
    const struct ptxi_operand *elements;
    unsigned count;
};

static bool is_strong(const struct ptxi_match *m)
{
    return ptxi_isa_has_word(m, PTXI_Q_volatile) || ptxi_isa_has_word(m, PTXI_Q_relaxed) ||
           ptxi_isa_has_word(m, PTXI_Q_acquire) || ptxi_isa_has_word(m, PTXI_Q_release);
}

/* value, address: indices of the operand that holds the elements, and of the address. */
static bool read_access(struct ptxi_lower *l, const struct ptxi_inst *inst, unsigned value, unsigned address,
                        struct access *a)
{
    const struct ptxi_operand *o = &inst->operands[value];
    enum ptxi_space space = ptxi_lower_space(inst->match);

    a->type = ptxi_isa_operand_type(inst->match, &inst->match->row->specs[value]);
    a->bits = ptxi_types[a->type].bits;
    a->is_signed = ptxi_types[a->type].class == 'S';
    a->strong = is_strong(inst->match);
    a->elements = o->form == PTXI_OPD_VECTOR ? o->elements : o;
    a->count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    /* in a function, the address of one of its parameters is an address in .local */
    if (space == PTXI_SPACE_PARAM && !l->func->is_entry && !inst->operands[address].address->var &&
        !ptxi_isa_has_word(inst->match, PTXI_Q_param__entry))
        space = PTXI_SPACE_LOCAL;
    return ptxi_lower_address(l, inst->operands[address].address, space, &a->mem);
}

/* Number of elements that one operation accesses, at most 16 bytes of 64-bit elements. */
static unsigned elements_per_op(const struct access *a)
{
    unsigned most = a->bits == 64 ? 2 : 4;

    return a->count < most ? a->count : most;
}

/* Strong accesses to vectors of 8 or 16 bytes. In the memory model each element is an access of its own, but the GPU
 * performs them as one, and programs rely on that. */
static bool is_single_access(const struct access *a)
{
    return a->strong && a->count > 1 && a->mem.base != PTXI_NONE &&
           (a->bits * a->count == 64 || a->bits * a->count == 128) &&
           (a->mem.space == PTXI_SPACE_GENERIC || a->mem.space == PTXI_SPACE_GLOBAL ||
            a->mem.space == PTXI_SPACE_SHARED);
}

/* The class of a register that holds the whole vector. */
static enum ptxi_class vector_class(const struct access *a)
{
    return a->bits * a->count == 64 ? PTXI_RC_64 : PTXI_RC_128;
}

/* --- loads --- */

static uint16_t load_op(const struct access *a, enum ptxi_class to)
{
    static const uint8_t columns[PTXI_RC_COUNT] = { [PTXI_RC_16] = 0, [PTXI_RC_32] = 1, [PTXI_RC_64] = 2,
                                                    [PTXI_RC_128] = 2 };
    const struct loads *ops = &loads[a->mem.space];
    unsigned column = columns[to];

    switch (a->bits) {
    case 8: return a->is_signed ? ops->s8[column] : ops->u8[column];
    case 16:
        if (column == 0)
            return ops->b16;
        return a->is_signed ? ops->s16[column - 1] : ops->u16[column - 1];
    case 32:
        if (column == 1)
            return ops->b32;
        return a->is_signed ? ops->s32_64 : ops->u32_64;
    case 64: return ops->b64;
    default: return ops->b128;
    }
}

static uint16_t vector_load_op(const struct access *a, bool four)
{
    const struct loads *ops = &loads[a->mem.space];

    switch (a->bits) {
    case 8: return a->is_signed ? ops->v_s8[four] : ops->v_u8[four];
    case 16: return ops->v_16[four];
    case 32: return ops->v_32[four];
    default: return ops->v2_64;
    }
}

static void mark_load(const struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct access *a, unsigned element,
                      unsigned count)
{
    i->imm = (int32_t)(a->mem.offset + element * (a->bits / 8));
    ptxi_lower_note_access(l, i, &a->mem, count * a->bits / 8, 0);
    if (a->mem.space != PTXI_SPACE_PARAM && a->mem.space != PTXI_SPACE_CONST && a->mem.space != PTXI_SPACE_LOCAL)
        i->flags |= a->strong ? PTXI_IF_READS | PTXI_IF_POLLS : PTXI_IF_READS;
}

/* A kernel's parameters and the module's constants are the same in all lanes and for the whole launch. A load from a
 * constant offset inside them cannot fault. */
static bool is_fixed(const struct ptxi_lower *l, const struct access *a, unsigned element, unsigned bytes)
{
    const struct ptxi_vreg *base = &l->ir->vregs[a->mem.base];
    const bool is_constant = a->mem.space == PTXI_SPACE_CONST;
    uint64_t at = base->value + (uint64_t)(int64_t)a->mem.offset + element * (a->bits / 8);
    uint64_t size = is_constant ? l->layout->const_bytes : l->param_bytes;

    return (is_constant || a->mem.space == PTXI_SPACE_PARAM) && base->kind == PTXI_VR_CONST && !a->strong &&
           at <= size && bytes <= size - at && at % bytes == 0;
}

static void load_scalar(struct ptxi_lower *l, const struct access *a, unsigned element, const struct ptxi_operand *o)
{
    enum ptxi_class class = o->form == PTXI_OPD_REG ? ptxi_lower_class(l, o->reg) : ptxi_ir_class_of(a->type);
    enum ptxi_class to = class == PTXI_RC_128 && a->bits < 128 ? ptxi_ir_class_of(a->type) : class;
    uint32_t d = ptxi_lower_def(l, o, to);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, load_op(a, to), d, a->mem.base, PTXI_NONE, PTXI_NONE);

    i->mods = a->strong ? PTXI_LD_STRONG : 0;
    mark_load(l, i, a, element, 1);
    if (is_fixed(l, a, element, a->bits / 8))
        i->flags |= PTXI_IF_PURE;
    ptxi_lower_end_def(l, o, d, a->type);
}

static void load_words(struct ptxi_lower *l, const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++) {
        uint32_t d = ptxi_lower_def(l, &a->elements[e], ptxi_ir_class_of(a->type));

        ptxi_lower_load_words(l, a->mem.area, a->mem.offset + e * (a->bits / 8), d, a->bits, a->is_signed);
        ptxi_lower_end_def(l, &a->elements[e], d, a->type);
    }
}

/* Loads two or four elements from `first` on with one operation. */
static void load_vector(struct ptxi_lower *l, const struct access *a, unsigned first, unsigned count)
{
    static const uint8_t fields[2][4] = { { PTXI_F_D, PTXI_F_C }, { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS } };
    const struct ptxi_operand *elements = a->elements + first;
    bool four = count == 4;
    uint32_t d[4];
    struct ptxi_ir_inst *i;

    assert(count == 2 || count == 4);
    for (unsigned e = 0; e < count; e++) {
        d[e] = PTXI_NONE;
        if (elements[e].form != PTXI_OPD_SINK)
            d[e] = ptxi_lower_def(l, &elements[e], ptxi_ir_class_of(a->type));
    }
    i = ptxi_lower_op(l, vector_load_op(a, four), PTXI_NONE, a->mem.base, PTXI_NONE, PTXI_NONE);
    if (four)
        i->mods = PTXI_NO_SLOT; /* for a fourth element that is dropped */
    for (unsigned e = 0; e < count; e++)
        ptxi_ir_set_write(i, fields[four][e], d[e]);
    mark_load(l, i, a, first, count);
    if (is_fixed(l, a, first, count * a->bits / 8))
        i->flags |= PTXI_IF_PURE;
    for (unsigned e = 0; e < count; e++)
        if (d[e] != PTXI_NONE)
            ptxi_lower_end_def(l, &elements[e], d[e], a->type);
}

/* If an access needs several operations, the first must not overwrite the address of the next. */
static void keep_base(struct ptxi_lower *l, struct access *a)
{
    for (unsigned e = 0; e < a->count; e++) {
        uint32_t copy;

        if (a->elements[e].form != PTXI_OPD_REG || a->elements[e].reg != a->mem.base)
            continue;
        copy = ptxi_lower_temp(l, ptxi_lower_class(l, a->mem.base));
        ptxi_lower_move(l, copy, a->mem.base);
        a->mem.base = copy;
        return;
    }
}

static void load_single(struct ptxi_lower *l, const struct access *a, const struct ptxi_operand *o)
{
    const struct loads *ops = &loads[a->mem.space];
    uint16_t op = vector_class(a) == PTXI_RC_64 ? ops->b64 : ops->b128;
    uint32_t d = ptxi_lower_temp(l, vector_class(a));

    mark_load(l, ptxi_lower_op(l, op, d, a->mem.base, PTXI_NONE, PTXI_NONE), a, 0, a->count);
    ptxi_lower_unpack(l, o, d, a->is_signed);
}

static void load_elements(struct ptxi_lower *l, struct access *a)
{
    unsigned step = elements_per_op(a);

    if (step < a->count)
        keep_base(l, a);
    for (unsigned e = 0; e < a->count; e += step)
        load_vector(l, a, e, step);
}

void ptxi_lower_rule_ld(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct access a;

    if (!read_access(l, inst, 0, 1, &a))
        return;
    if (a.mem.area != PTXI_NONE) {
        load_words(l, &a);
        return;
    }
    if (a.count == 1)
        load_scalar(l, &a, 0, a.elements);
    else if (is_single_access(&a))
        load_single(l, &a, &inst->operands[0]);
    else
        load_elements(l, &a);
    if (ptxi_isa_has_word(inst->match, PTXI_Q_acquire))
        ptxi_lower_fence(l, inst->match, PTXI_CHECK_FENCE_ACQUIRE | ptxi_lower_fence_of(a.count));
}

/* ptxas 13.5 makes of it a load of a word of the map, and a test of one bit, so it accepts any 128 bytes. */
void ptxi_lower_rule_tensormap_query(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum { WORD = PTXI_TENSOR_LARGE_BIT / 32 * 4, LARGE = 1 << PTXI_TENSOR_LARGE_BIT % 32 };
    struct access a = { .type = PTXI_T_b32, .bits = 32, .count = 1 };
    uint32_t word = ptxi_lower_temp(l, PTXI_RC_32), bit = ptxi_lower_temp(l, PTXI_RC_32);

    if (!ptxi_lower_address(l, inst->operands[1].address, ptxi_lower_space(inst->match), &a.mem))
        return;
    a.mem.offset += WORD;
    if (a.mem.area != PTXI_NONE)
        ptxi_lower_load_words(l, a.mem.area, a.mem.offset, word, a.bits, false);
    else
        mark_load(l, ptxi_lower_op(l, load_op(&a, PTXI_RC_32), word, a.mem.base, PTXI_NONE, PTXI_NONE), &a, 0, 1);
    ptxi_lower_pure_op(l, PTXI_OP_and_b32, bit, word, ptxi_lower_const(l, PTXI_RC_32, LARGE), PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_setp_ne_i32, ptxi_lower_def(l, &inst->operands[0], PTXI_RC_PRED), bit,
                       ptxi_lower_const(l, PTXI_RC_32, 0), PTXI_NONE)->imm = PTXI_NO_SLOT;
}

/* --- stores --- */

static uint32_t store_value(struct ptxi_lower *l, const struct access *a, unsigned element)
{
    return ptxi_lower_use(l, &a->elements[element], ptxi_ir_class_of(a->type));
}

static void store_words(struct ptxi_lower *l, const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++)
        ptxi_lower_store_words(l, a->mem.area, a->mem.offset + e * (a->bits / 8), store_value(l, a, e), a->bits);
}

static uint16_t store_op(const struct access *a, unsigned count)
{
    const struct stores *ops = &stores[a->mem.space];
    unsigned column = count / 2;

    assert(count == 1 || count == 2 || count == 4);
    switch (a->bits) {
    case 8: return ops->b8[column];
    case 16: return ops->b16[column];
    case 32: return ops->b32[column];
    case 64: return ops->b64[column];
    default: return ops->b128[column];
    }
}

static void store_vector(struct ptxi_lower *l, const struct access *a, unsigned first, unsigned count)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };
    uint16_t op = store_op(a, count);
    uint32_t v[4];
    struct ptxi_ir_inst *i;

    assert(op);
    for (unsigned e = 0; e < count; e++)
        v[e] = store_value(l, a, first + e);
    i = ptxi_lower_op(l, op, PTXI_NONE, a->mem.base, PTXI_NONE, PTXI_NONE);
    for (unsigned e = 0; e < count; e++)
        ptxi_ir_set_read(i, fields[e], v[e]);
    i->imm = (int32_t)(a->mem.offset + first * (a->bits / 8));
    ptxi_lower_note_access(l, i, &a->mem, count * a->bits / 8, 0);
}

/* Whether an element of a store of 256 bits is '_', so that its memory keeps its value. */
static bool has_sink(const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++)
        if (a->elements[e].form == PTXI_OPD_SINK)
            return true;
    return false;
}

static void store_single(struct ptxi_lower *l, const struct access *a, const struct ptxi_operand *o)
{
    const struct stores *ops = &stores[a->mem.space];
    uint32_t v = ptxi_lower_temp(l, vector_class(a));
    struct ptxi_ir_inst *i;

    ptxi_lower_pack(l, v, o);
    i = ptxi_lower_op(l, vector_class(a) == PTXI_RC_64 ? ops->b64[0] : ops->b128[0], PTXI_NONE, a->mem.base, v,
                      PTXI_NONE);
    i->imm = (int32_t)a->mem.offset;
    ptxi_lower_note_access(l, i, &a->mem, a->count * a->bits / 8, 0);
}

void ptxi_lower_rule_st(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct access a;
    unsigned step;

    if (!read_access(l, inst, 1, 0, &a))
        return;
    if (a.mem.area != PTXI_NONE) {
        store_words(l, &a);
        return;
    }
    if (a.mem.space == PTXI_SPACE_PARAM || a.mem.space == PTXI_SPACE_CONST) {
        ptxi_lower_unsupported(l, "read-only space");
        return;
    }
    if (ptxi_isa_has_word(inst->match, PTXI_Q_release))
        ptxi_lower_fence(l, inst->match, PTXI_CHECK_FENCE_RELEASE | ptxi_lower_fence_of(a.count));
    if (is_single_access(&a)) {
        store_single(l, &a, &inst->operands[1]);
        return;
    }
    step = has_sink(&a) ? 1 : elements_per_op(&a);
    for (unsigned e = 0; e < a.count; e += step)
        if (a.elements[e].form != PTXI_OPD_SINK)
            store_vector(l, &a, e, step);
}

/* prefetch.valid_addr, which checks its address. */
void ptxi_lower_rule_prefetch(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct ptxi_lower_mem mem;
    struct ptxi_ir_inst *i;

    if (!ptxi_lower_address(l, inst->operands[0].address, PTXI_SPACE_GLOBAL, &mem))
        return;
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, mem.base, PTXI_NONE, PTXI_NONE);
    i->imm = (int32_t)mem.offset;
    ptxi_lower_note_access(l, i, &mem, 1, 0);
}

/* --- alloca --- */

enum { ALLOCA_ALIGN = 8 };

/* PTX ISA, "Stack Manipulation Instructions: alloca": 8 is the least alignment. */
void ptxi_lower_rule_alloca(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_ptr));
    const struct ptxi_operand *align = ptxi_lower_operand(l, PTXI_OPERAND_align);
    uint32_t size = ptxi_lower_use(l, &inst->operands[1], class), d = ptxi_lower_def(l, &inst->operands[0], class);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, size, PTXI_NONE, PTXI_NONE);

    i->imm = align && align->imm > ALLOCA_ALIGN ? (int32_t)align->imm : ALLOCA_ALIGN;
}

/* --- createpolicy --- */

/* A cache policy has no effect here, but programs can see the value, which is the GPU's.
 * A fractional policy holds for a part of the accesses, in 16ths: 15.99 times the fraction, truncated. */
static void fractional_policy(struct ptxi_lower *l, uint32_t d, uint32_t fraction, uint32_t high)
{
    enum { F32_15_99 = 0x417fd70a, PART_MASK = 15, PART_SHIFT = 20 };
    uint32_t t[5];

    for (int k = 0; k < 5; k++)
        t[k] = ptxi_lower_temp(l, PTXI_RC_32);
    ptxi_lower_pure_op(l, PTXI_OP_mul_f32, t[0], fraction, ptxi_lower_const(l, PTXI_RC_32, F32_15_99), PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_cvt_u32_f32, t[1], t[0], PTXI_NONE, PTXI_NONE)->mods = PTXI_RZ << PTXI_MOD_RND_SHIFT;
    ptxi_lower_pure_op(l, PTXI_OP_and_b32, t[2], t[1], ptxi_lower_const(l, PTXI_RC_32, PART_MASK), PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_or_b32, t[3], t[2], ptxi_lower_const(l, PTXI_RC_32, high), PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_shl_b32, t[4], t[3], ptxi_lower_const(l, PTXI_RC_32, PART_SHIFT), PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_pack_2x32, d, ptxi_lower_const(l, PTXI_RC_32, 0), t[4], PTXI_NONE);
}

/* The upper bits of the policy, which encode its kind and priorities. */
static uint32_t policy_bits(const struct ptxi_match *m)
{
    static const uint16_t priorities[] = { PTXI_Q_L2__evict_unchanged, PTXI_Q_L2__evict_first, PTXI_Q_L2__evict_last,
                                           PTXI_Q_L2__evict_normal };
    uint32_t bits = ptxi_isa_has_word(m, PTXI_Q_range) ? 0x180 : 0x100;

    for (uint32_t k = 0; k < 4; k++)
        if (ptxi_isa_slot_word(m, PTXI_SLOT_primary) == priorities[k])
            bits |= k << 5;
    if (ptxi_isa_slot_word(m, PTXI_SLOT_secondary) == PTXI_Q_L2__evict_first)
        bits |= 1 << 4;
    return bits;
}

void ptxi_lower_rule_policy(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *property = ptxi_lower_operand(l, PTXI_OPERAND_property);
    const struct ptxi_operand *fraction = ptxi_lower_operand(l, PTXI_OPERAND_fraction);
    uint32_t d = ptxi_lower_def(l, &inst->operands[0], PTXI_RC_64), high = policy_bits(inst->match);

    if (property) {
        ptxi_lower_move(l, d, ptxi_lower_use(l, property, PTXI_RC_64));
    } else if (ptxi_isa_has_word(inst->match, PTXI_Q_range)) {
        ptxi_lower_pure_op(l, PTXI_OP_policy_range, d, ptxi_lower_generic_address(l, PTXI_OPERAND_a, PTXI_SPACE_GLOBAL),
                           ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_primary_size), PTXI_RC_32),
                           ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_total_size),
                                          PTXI_RC_32))->imm = (int32_t)high;
    } else if (fraction) {
        fractional_policy(l, d, ptxi_lower_use(l, fraction, PTXI_RC_32), high);
    } else {
        ptxi_lower_move(l, d, ptxi_lower_const(l, PTXI_RC_64, (uint64_t)(high | 15) << 52));
    }
}
