/* ld and st of all state spaces, alloca, cache policies. */
#include "compile/lower/lower.h"


/* The operations of one space. Columns of `load`: slot of 16, 32, 64 bits. */
struct loads {
    uint16_t u8[3], s8[3], b16, u16[2], s16[2], b32, u32_64, s32_64, b64, b128;
    uint16_t v_u8[2], v_s8[2], v_16[2], v_32[2], v2_64; /* v2, v4 */
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

struct stores {
    uint16_t b8[3], b16[3], b32[3], b64[2], b128; /* scalar, v2, v4 */
};

#define STORES(s) \
    { { PTXI_OP_st_##s##_8, PTXI_OP_st_##s##_v2_8, PTXI_OP_st_##s##_v4_8 }, \
      { PTXI_OP_st_##s##_16, PTXI_OP_st_##s##_v2_16, PTXI_OP_st_##s##_v4_16 }, \
      { PTXI_OP_st_##s##_32, PTXI_OP_st_##s##_v2_32, PTXI_OP_st_##s##_v4_32 }, \
      { PTXI_OP_st_##s##_64, PTXI_OP_st_##s##_v2_64 }, \
      PTXI_OP_st_##s##_128 }

static const struct stores stores[] = {
    [PTXI_SPACE_GENERIC] = STORES(generic),
    [PTXI_SPACE_GLOBAL] = STORES(global),
    [PTXI_SPACE_LOCAL] = STORES(local),
    [PTXI_SPACE_SHARED] = STORES(shared),
};

/* The access: what its instruction says once, for all elements. */
struct access {
    struct ptxi_mem mem;
    enum ptxi_type type;
    unsigned bits;
    bool is_signed, strong;
    const struct ptxi_operand *elements;
    unsigned count;
};

/* The operand that holds the elements, and the address, stand at those places of the row. */
static bool read_access(struct ptxi_build *b, const struct ptxi_inst *inst, unsigned value, unsigned address, struct access *a)
{
    const struct ptxi_operand *o = &inst->operands[value];
    enum ptxi_space space = ptxi_build_space(inst->match);

    a->type = ptxi_isa_operand_type(inst->match, &inst->match->row->specs[value]);
    a->bits = ptxi_types[a->type].bits;
    a->is_signed = ptxi_types[a->type].class == 'S';
    a->strong = ptxi_build_has(inst->match, PTXI_Q_volatile) || ptxi_build_has(inst->match, PTXI_Q_relaxed) || ptxi_build_has(inst->match, PTXI_Q_acquire) ||
                ptxi_build_has(inst->match, PTXI_Q_release);
    a->elements = o->form == PTXI_OPD_VECTOR ? o->elements : o;
    a->count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    /* A function knows the address of its own parameter as one in .local. */
    if (space == PTXI_SPACE_PARAM && !b->func->is_entry && !inst->operands[address].address->var &&
        !ptxi_build_has(inst->match, PTXI_Q_param__entry))
        space = PTXI_SPACE_LOCAL;
    return ptxi_build_address(b, inst->operands[address].address, space, &a->mem);
}

/* --- loads --- */

static unsigned column(enum ptxi_class class)
{
    return class == PTXI_RC_16 ? 0 : class == PTXI_RC_32 ? 1 : 2;
}

static uint16_t load_op(const struct access *a, enum ptxi_class to)
{
    const struct loads *l = &loads[a->mem.space];
    unsigned c = column(to);

    switch (a->bits) {
    case 8: return a->is_signed ? l->s8[c] : l->u8[c];
    case 16: return c == 0 ? l->b16 : a->is_signed ? l->s16[c - 1] : l->u16[c - 1];
    case 32: return c == 1 ? l->b32 : a->is_signed ? l->s32_64 : l->u32_64;
    case 64: return l->b64;
    default: return l->b128;
    }
}

static void mark_load(struct ptxi_ir_inst *i, const struct access *a, unsigned element, unsigned count)
{
    i->imm = (int32_t)(a->mem.offset + element * (a->bits / 8));
    ptxi_build_accesses(i, &a->mem, count * a->bits / 8, 0);
    if (a->mem.space != PTXI_SPACE_PARAM && a->mem.space != PTXI_SPACE_CONST && a->mem.space != PTXI_SPACE_LOCAL)
        i->flags |= a->strong ? PTXI_IF_READS | PTXI_IF_POLLS : PTXI_IF_READS;
}

/* A kernel's parameters are the same in all lanes and for the whole launch; at a constant place inside they cannot fault. */
static bool is_fixed_param(const struct ptxi_build *b, const struct access *a, unsigned bytes)
{
    const struct ptxi_vreg *base = &b->ir->vregs[a->mem.base];
    uint64_t at = base->value + (uint64_t)(int64_t)a->mem.offset, size = b->param_bytes;

    return a->mem.space == PTXI_SPACE_PARAM && base->kind == PTXI_VR_CONST && at <= size && bytes <= size - at && at % bytes == 0;
}

static void load_scalar(struct ptxi_build *b, const struct access *a, unsigned element, const struct ptxi_operand *o)
{
    enum ptxi_class class = o->form == PTXI_OPD_REG ? ptxi_build_class(b, o->reg) : ptxi_class_of(a->type);
    enum ptxi_class to = class == PTXI_RC_128 && a->bits < 128 ? ptxi_class_of(a->type) : class;
    uint32_t d = ptxi_build_def(b, o, to);
    struct ptxi_ir_inst *i = ptxi_build_op(b, load_op(a, to), d, a->mem.base, PTXI_NONE, PTXI_NONE);

    i->mods = a->strong ? PTXI_LD_STRONG : 0;
    mark_load(i, a, element, 1);
    if (is_fixed_param(b, a, a->bits / 8))
        i->flags |= PTXI_IF_PURE;
    ptxi_build_def_end(b, o, d, a->type);
}

static void load_words(struct ptxi_build *b, const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++) {
        uint32_t d = ptxi_build_def(b, &a->elements[e], ptxi_class_of(a->type));

        ptxi_build_load_words(b, a->mem.area, a->mem.offset + e * (a->bits / 8), d, a->bits, a->is_signed);
        ptxi_build_def_end(b, &a->elements[e], d, a->type);
    }
}

/* Two or four elements from `first` on with one operation. */
static void load_vector(struct ptxi_build *b, const struct access *a, unsigned first, unsigned count)
{
    static const uint8_t fields[2][4] = { { PTXI_F_D, PTXI_F_C }, { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS } };
    const struct loads *l = &loads[a->mem.space];
    unsigned four = count == 4;
    uint16_t op = a->bits == 8    ? (a->is_signed ? l->v_s8 : l->v_u8)[four]
                  : a->bits == 16 ? l->v_16[four]
                  : a->bits == 32 ? l->v_32[four]
                                  : l->v2_64;
    uint32_t d[4];
    struct ptxi_ir_inst *i;

    for (unsigned e = 0; e < count; e++)
        d[e] = a->elements[first + e].form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_build_def(b, &a->elements[first + e], ptxi_class_of(a->type));
    i = ptxi_build_op(b, op, PTXI_NONE, a->mem.base, PTXI_NONE, PTXI_NONE);
    if (four)
        i->mods = PTXI_NO_SLOT; /* when the fourth element is dropped */
    for (unsigned e = 0; e < count; e++)
        ptxi_build_write(i, fields[four][e], d[e]);
    mark_load(i, a, first, count);
    if (is_fixed_param(b, a, count * a->bits / 8))
        i->flags |= PTXI_IF_PURE;
    for (unsigned e = 0; e < count; e++)
        if (d[e] != PTXI_NONE)
            ptxi_build_def_end(b, &a->elements[first + e], d[e], a->type);
}

/* When an access takes several operations, the first must not overwrite the address of the next. */
static void keep_base(struct ptxi_build *b, struct access *a)
{
    for (unsigned e = 0; e < a->count; e++) {
        uint32_t copy;

        if (a->elements[e].form != PTXI_OPD_REG || a->elements[e].reg != a->mem.base)
            continue;
        copy = ptxi_build_temp(b, ptxi_build_class(b, a->mem.base));
        ptxi_build_move(b, copy, a->mem.base);
        a->mem.base = copy;
        return;
    }
}

/* Strong accesses to vectors of 8 or 16 bytes. The memory model takes their elements for accesses of their own, but the GPU does them at
 * once, and programs rely on that. */
static bool is_whole(const struct access *a)
{
    return a->strong && a->count > 1 && a->mem.base != PTXI_NONE && (a->bits * a->count == 64 || a->bits * a->count == 128) &&
           (a->mem.space == PTXI_SPACE_GENERIC || a->mem.space == PTXI_SPACE_GLOBAL || a->mem.space == PTXI_SPACE_SHARED);
}

static enum ptxi_class whole_class(const struct access *a)
{
    return a->bits * a->count == 64 ? PTXI_RC_64 : PTXI_RC_128;
}

static void load_whole(struct ptxi_build *b, const struct access *a, const struct ptxi_operand *o)
{
    uint32_t d = ptxi_build_temp(b, whole_class(a));

    mark_load(ptxi_build_op(b, whole_class(a) == PTXI_RC_64 ? loads[a->mem.space].b64 : loads[a->mem.space].b128, d, a->mem.base, PTXI_NONE, PTXI_NONE),
              a, 0, a->count);
    ptxi_build_unpack(b, o, d, a->is_signed);
}

void ptxi_lower_ld(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    struct access a;
    unsigned step;

    if (!read_access(b, inst, 0, 1, &a))
        return;
    if (a.mem.area != PTXI_NONE) {
        load_words(b, &a);
        return;
    }
    if (a.count == 1) {
        load_scalar(b, &a, 0, a.elements);
    } else if (is_whole(&a)) {
        load_whole(b, &a, &inst->operands[0]);
    } else {
        step = a.bits == 64 ? 2 : a.count < 4 ? a.count : 4;
        if (step < a.count)
            keep_base(b, &a);
        for (unsigned e = 0; e < a.count; e += step)
            load_vector(b, &a, e, step);
    }
    if (ptxi_build_has(inst->match, PTXI_Q_acquire))
        ptxi_build_fence(b, inst->match);
}

/* --- stores --- */

static uint32_t store_value(struct ptxi_build *b, const struct access *a, unsigned element)
{
    return ptxi_build_use(b, &a->elements[element], ptxi_class_of(a->type));
}

static void store_words(struct ptxi_build *b, const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++)
        ptxi_build_store_words(b, a->mem.area, a->mem.offset + e * (a->bits / 8), store_value(b, a, e), a->bits);
}

static void store_elements(struct ptxi_build *b, const struct access *a, unsigned first, unsigned count)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };
    const struct stores *s = &stores[a->mem.space];
    unsigned k = count == 1 ? 0 : count == 2 ? 1 : 2;
    uint16_t op = a->bits == 8 ? s->b8[k] : a->bits == 16 ? s->b16[k] : a->bits == 32 ? s->b32[k] : a->bits == 64 ? s->b64[k] : s->b128;
    uint32_t v[4];
    struct ptxi_ir_inst *i;

    for (unsigned e = 0; e < count; e++)
        v[e] = store_value(b, a, first + e);
    i = ptxi_build_op(b, op, PTXI_NONE, a->mem.base, PTXI_NONE, PTXI_NONE);
    for (unsigned e = 0; e < count; e++)
        ptxi_build_read(i, fields[e], v[e]);
    i->imm = (int32_t)(a->mem.offset + first * (a->bits / 8));
    ptxi_build_accesses(i, &a->mem, count * a->bits / 8, 0);
}

static void store_whole(struct ptxi_build *b, const struct access *a, const struct ptxi_operand *o)
{
    const struct stores *s = &stores[a->mem.space];
    uint32_t v = ptxi_build_temp(b, whole_class(a));
    struct ptxi_ir_inst *i;

    ptxi_build_pack(b, v, o);
    i = ptxi_build_op(b, whole_class(a) == PTXI_RC_64 ? s->b64[0] : s->b128, PTXI_NONE, a->mem.base, v, PTXI_NONE);
    i->imm = (int32_t)a->mem.offset;
    ptxi_build_accesses(i, &a->mem, a->count * a->bits / 8, 0);
}

void ptxi_lower_st(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    struct access a;
    unsigned step;

    if (!read_access(b, inst, 1, 0, &a))
        return;
    if (a.mem.area != PTXI_NONE) {
        store_words(b, &a);
        return;
    }
    if (a.mem.space == PTXI_SPACE_PARAM || a.mem.space == PTXI_SPACE_CONST) {
        ptxi_build_unsupported(b, "read-only space");
        return;
    }
    if (ptxi_build_has(inst->match, PTXI_Q_release))
        ptxi_build_fence(b, inst->match);
    if (is_whole(&a)) {
        store_whole(b, &a, &inst->operands[1]);
        return;
    }
    step = a.bits == 64 && a.count > 2 ? 2 : a.count < 4 ? a.count : 4;
    for (unsigned e = 0; e < a.count; e += step)
        store_elements(b, &a, e, step);
}

/* --- alloca --- */

/* PTX ISA, "Stack Manipulation Instructions: alloca": 8 is the least alignment. */
void ptxi_lower_alloca(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, "ptr"));
    const struct ptxi_operand *align = ptxi_build_operand(b, "align");
    uint32_t size = ptxi_build_use(b, &inst->operands[1], class);
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), ptxi_build_def(b, &inst->operands[0], class), size, PTXI_NONE, PTXI_NONE);

    i->imm = align && align->imm > 8 ? (int32_t)align->imm : 8;
}

/* --- createpolicy --- */

/* A cache policy changes nothing here, but programs may look at the value, which is the GPU's. */
/* The policy holds for a fraction of the accesses, in 16ths: 15.99 times it, cut off. */
static void fractional_policy(struct ptxi_build *b, uint32_t d, uint32_t fraction, uint32_t high)
{
    uint32_t t[5];

    for (int k = 0; k < 5; k++)
        t[k] = ptxi_build_temp(b, PTXI_RC_32);
    ptxi_build_pure(b, PTXI_OP_mul_f32, t[0], fraction, ptxi_build_const(b, PTXI_RC_32, 0x417fd70a), PTXI_NONE);
    ptxi_build_pure(b, PTXI_OP_cvt_u32_f32, t[1], t[0], PTXI_NONE, PTXI_NONE)->mods = PTXI_RZ << PTXI_MOD_RND_SHIFT;
    ptxi_build_pure(b, PTXI_OP_and_b32, t[2], t[1], ptxi_build_const(b, PTXI_RC_32, 15), PTXI_NONE);
    ptxi_build_pure(b, PTXI_OP_or_b32, t[3], t[2], ptxi_build_const(b, PTXI_RC_32, high), PTXI_NONE);
    ptxi_build_pure(b, PTXI_OP_shl_b32, t[4], t[3], ptxi_build_const(b, PTXI_RC_32, 20), PTXI_NONE);
    ptxi_build_pure(b, PTXI_OP_pack_2x32, d, ptxi_build_const(b, PTXI_RC_32, 0), t[4], PTXI_NONE);
}

void ptxi_lower_policy(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const uint16_t priorities[] = { PTXI_Q_L2__evict_unchanged, PTXI_Q_L2__evict_first, PTXI_Q_L2__evict_last, PTXI_Q_L2__evict_normal };
    const struct ptxi_operand *property = ptxi_build_operand(b, "property"), *fraction = ptxi_build_operand(b, "fraction");
    bool range = ptxi_build_has(inst->match, PTXI_Q_range);
    uint32_t d = ptxi_build_def(b, &inst->operands[0], PTXI_RC_64), high = range ? 0x180 : 0x100;

    if (property) {
        ptxi_build_move(b, d, ptxi_build_use(b, property, PTXI_RC_64));
        return;
    }
    for (uint32_t k = 0; k < 4; k++)
        if (ptxi_isa_slot(inst->match, "primary") == priorities[k])
            high |= k << 5;
    if (ptxi_isa_slot(inst->match, "secondary") == PTXI_Q_L2__evict_first)
        high |= 1 << 4;
    if (range) {
        ptxi_build_pure(b, PTXI_OP_policy_range, d, ptxi_build_generic_address(b, "a", PTXI_SPACE_GLOBAL),
                        ptxi_build_use(b, ptxi_build_operand(b, "primary_size"), PTXI_RC_32),
                        ptxi_build_use(b, ptxi_build_operand(b, "total_size"), PTXI_RC_32))->imm = (int32_t)high;
    } else if (fraction) {
        fractional_policy(b, d, ptxi_build_use(b, fraction, PTXI_RC_32), high);
    } else {
        ptxi_build_move(b, d, ptxi_build_const(b, PTXI_RC_64, (uint64_t)(high | 15) << 52));
    }
}
