/* mov, cvt, cvta, isspacep. */
#include "compile/lower/lower.h"

/* --- mov --- */

/* The operation that makes one value of two or four of so many bits. */
static uint16_t pack_op(unsigned count, unsigned bits)
{
    const bool four = count == 4;

    return bits == 8    ? (four ? PTXI_OP_pack_4x8 : PTXI_OP_pack_2x8)
           : bits == 16 ? (four ? PTXI_OP_pack_4x16 : PTXI_OP_pack_2x16)
           : bits == 32 ? (four ? PTXI_OP_pack_4x32 : PTXI_OP_pack_2x32)
                        : PTXI_OP_pack_2x64;
}

static unsigned bits_of(struct ptxi_build *b, uint32_t v)
{
    return ptxi_class_units[ptxi_build_class(b, v)] * 16u;
}

static void pack_halves(struct ptxi_build *b, uint32_t d, const struct ptxi_operand *o)
{
    struct ptxi_operand half = *o;
    uint32_t v[2];

    half.count /= 2;
    for (unsigned h = 0; h < 2; h++, half.elements += half.count) {
        v[h] = ptxi_build_temp(b, ptxi_build_class(b, d) - 1);
        ptxi_build_pack(b, v[h], &half);
    }
    ptxi_build_pure(b, pack_op(2, bits_of(b, v[0])), d, v[0], v[1], PTXI_NONE);
}

void ptxi_build_pack(struct ptxi_build *b, uint32_t d, const struct ptxi_operand *o)
{
    unsigned bits = bits_of(b, d) / o->count;
    enum ptxi_class class = bits <= 16 ? PTXI_RC_16 : bits == 32 ? PTXI_RC_32 : PTXI_RC_64;
    uint32_t v[4] = { PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE };
    struct ptxi_ir_inst *i;

    if (bits < 8 || o->count % 2) {
        ptxi_build_unsupported(b, "number of elements");
        return;
    }
    if (o->count > 4) {
        pack_halves(b, d, o);
        return;
    }
    for (unsigned e = 0; e < o->count; e++)
        v[e] = ptxi_build_use(b, &o->elements[e], class);
    i = ptxi_build_pure(b, pack_op(o->count, bits), d, v[0], v[1], v[2]);
    ptxi_build_read(i, PTXI_F_IMM, v[3]);
}

void ptxi_build_unpack(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t a, bool is_signed)
{
    unsigned bytes = bits_of(b, a) / 8, bits = bytes * 8 / o->count;
    enum ptxi_class class = bits <= 16 ? PTXI_RC_16 : bits == 32 ? PTXI_RC_32 : PTXI_RC_64;
    uint16_t op = bits == 8 ? PTXI_OP_unpack_8 : bits == 16 ? PTXI_OP_unpack_16 : bits == 32 ? PTXI_OP_unpack_32 : PTXI_OP_unpack_64;
    enum ptxi_type type = bits == 8 ? (is_signed ? PTXI_T_s8 : PTXI_T_b8) : bits == 16 ? (is_signed ? PTXI_T_s16 : PTXI_T_b16)
                          : bits == 32 ? (is_signed ? PTXI_T_s32 : PTXI_T_b32) : PTXI_T_b64;

    for (unsigned e = 0; e < o->count; e++) {
        struct ptxi_ir_inst *i;

        if (o->elements[e].form != PTXI_OPD_REG)
            continue;
        i = ptxi_build_pure(b, op, ptxi_build_def(b, &o->elements[e], class), a, PTXI_NONE, PTXI_NONE);
        i->mods = (uint16_t)bytes;
        i->imm = (int32_t)e;
        ptxi_build_def_end(b, &o->elements[e], i->v[PTXI_F_D], type);
    }
}

/* Element e of a source: of a vector, or the component of a special register. */
static struct ptxi_operand element(const struct ptxi_operand *a, unsigned e)
{
    struct ptxi_operand o = *a;

    if (a->form == PTXI_OPD_VECTOR)
        return a->elements[e];
    if (a->form == PTXI_OPD_SREG)
        o.sreg = (a->sreg & 0xff) | e << 8;
    return o;
}

/* mov.v2, mov.v4: all sources are read before the first destination is written. */
static void move_vector(struct ptxi_build *b, const struct ptxi_operand *d, const struct ptxi_operand *a, enum ptxi_class class)
{
    uint32_t v[4];

    for (unsigned e = 0; e < d->count && e < 4; e++) {
        struct ptxi_operand s = element(a, e);
        uint32_t from = ptxi_build_use(b, &s, class);

        v[e] = ptxi_build_temp(b, class);
        ptxi_build_move(b, v[e], from);
    }
    for (unsigned e = 0; e < d->count && e < 4; e++)
        if (d->elements[e].form == PTXI_OPD_REG)
            ptxi_build_move(b, ptxi_build_fit(b, d->elements[e].reg, class), v[e]);
}

void ptxi_lower_mov(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *a = &inst->operands[1];
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));

    if (ptxi_isa_operand_vector(inst->match, &inst->match->row->specs[0]))
        move_vector(b, d, a, class);
    else if (d->form == PTXI_OPD_VECTOR)
        ptxi_build_unpack(b, d, ptxi_build_use(b, a, class), false);
    else if (a->form == PTXI_OPD_VECTOR)
        ptxi_build_pack(b, d->reg, a);
    else
        ptxi_build_move(b, d->reg, ptxi_build_use(b, a, ptxi_build_class(b, d->reg)));
}

/* --- cvt --- */

static bool is_integer(enum ptxi_type t)
{
    return ptxi_types[t].class == 'U' || ptxi_types[t].class == 'S';
}

/* Between integers: the value of type s, cut or extended to d, then to the register. */
static void convert_integer(struct ptxi_build *b, const struct ptxi_operand *d, uint32_t a, enum ptxi_type dt, enum ptxi_type st)
{
    unsigned db = ptxi_types[dt].bits, sb = ptxi_types[st].bits;
    bool ds = ptxi_types[dt].class == 'S', ss = ptxi_types[st].class == 'S';
    unsigned reg_bits = ptxi_class_units[ptxi_build_class(b, d->reg)] * 16;

    if (db <= sb) {
        ptxi_build_resize(b, d->reg, a, db, ds);
    } else if (ds == ss || db == reg_bits) {
        ptxi_build_resize(b, d->reg, a, sb, ss);
    } else {
        uint32_t t = ptxi_build_temp(b, ptxi_class_of(dt));

        ptxi_build_resize(b, t, a, sb, ss);
        ptxi_build_resize(b, d->reg, t, db, ds);
    }
}

void ptxi_lower_cvt(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *a = &inst->operands[1];
    const struct ptxi_opspec *specs = inst->match->row->specs;
    enum ptxi_type dt = ptxi_isa_operand_type(inst->match, &specs[0]), st = ptxi_isa_operand_type(inst->match, &specs[1]);
    uint16_t op = ptxi_isa_op(inst->match);
    uint32_t v, w;

    v = ptxi_build_use(b, a, a->form == PTXI_OPD_REG ? ptxi_build_class(b, a->reg) : ptxi_class_of(st));
    if (!op && is_integer(dt) && is_integer(st)) {
        convert_integer(b, d, v, dt, st);
        return;
    }
    v = ptxi_build_fit(b, v, ptxi_class_of(st)); /* of 8 bits operations take the low ones */
    w = ptxi_build_def(b, d, ptxi_class_of(dt));
    ptxi_build_pure(b, op, w, v, PTXI_NONE, PTXI_NONE)->mods = inst->match->mods;
    ptxi_build_def_end(b, d, w, dt);
}

/* --- generic addresses --- */

void ptxi_lower_cvta(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_space space = ptxi_build_space(inst->match);
    bool to = ptxi_build_has(inst->match, PTXI_Q_to);
    uint32_t a, d = inst->operands[0].reg;
    uint16_t op;

    if (ptxi_build_class(b, d) != PTXI_RC_64) {
        ptxi_build_unsupported(b, "32-bit generic address");
        return;
    }
    a = ptxi_build_use(b, &inst->operands[1], PTXI_RC_64);
    switch (space) {
    case PTXI_SPACE_SHARED: case PTXI_SPACE_CLUSTER: op = to ? PTXI_OP_cvta_to_shared : PTXI_OP_cvta_shared; break;
    case PTXI_SPACE_LOCAL: op = to ? PTXI_OP_cvta_to_local : PTXI_OP_cvta_local; break;
    case PTXI_SPACE_CONST: op = to ? PTXI_OP_cvta_to_const : PTXI_OP_cvta_const; break;
    case PTXI_SPACE_PARAM: op = to ? PTXI_OP_cvta_to_param : PTXI_OP_cvta_param; break;
    default: ptxi_build_move(b, d, a); return;
    }
    ptxi_build_pure(b, op, d, a, PTXI_NONE, PTXI_NONE);
}

void ptxi_lower_isspacep(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_space space = ptxi_build_space(inst->match);
    uint16_t op = space == PTXI_SPACE_SHARED  ? PTXI_OP_isspacep_shared
                  : space == PTXI_SPACE_CLUSTER ? PTXI_OP_isspacep_cluster
                  : space == PTXI_SPACE_LOCAL ? PTXI_OP_isspacep_local
                  : space == PTXI_SPACE_CONST ? PTXI_OP_isspacep_const
                  : space == PTXI_SPACE_PARAM ? PTXI_OP_isspacep_param
                                              : PTXI_OP_isspacep_global;

    uint32_t a = ptxi_build_fit(b, ptxi_build_use(b, &inst->operands[1], ptxi_class_of(ptxi_build_type(b, "a"))), PTXI_RC_64);

    ptxi_build_pure(b, op, ptxi_build_def(b, &inst->operands[0], PTXI_RC_PRED), a, PTXI_NONE, PTXI_NONE);
}
