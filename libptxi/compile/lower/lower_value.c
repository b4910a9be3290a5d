/* What lowering rules make instructions of: constants, single operations, operands that are read and written. */
#include "compile/lower/lower.h"

#include <string.h>

/* --- constants --- */

static uint64_t const_hash(enum ptxi_class class, uint64_t value)
{
    uint64_t h = (value ^ (uint64_t)class << 56) * 0x9e3779b97f4a7c15u;

    return h ^ h >> 29;
}

static bool const_table_grow(struct ptxi_build *b)
{
    struct ptxi_const_table *t = &b->consts, old = *t;

    t->size = old.size ? old.size * 2 : 64;
    t->vregs = ARENA_NEW(b->ir->arena, uint32_t, t->size);
    if (!t->vregs) {
        *t = old;
        b->ir->oom = true;
        return false;
    }
    memset(t->vregs, 0xff, t->size * sizeof *t->vregs);
    for (uint32_t i = 0; i < old.size; i++) {
        const struct ptxi_vreg *v = old.vregs[i] == PTXI_NONE ? NULL : &b->ir->vregs[old.vregs[i]];
        uint32_t k;

        if (!v)
            continue;
        for (k = const_hash(v->class, v->value) & (t->size - 1); t->vregs[k] != PTXI_NONE; k = (k + 1) & (t->size - 1))
            ;
        t->vregs[k] = old.vregs[i];
    }
    return true;
}

static uint64_t const_mask(enum ptxi_class class)
{
    static const uint64_t masks[PTXI_RC_COUNT] = { 1, 0xffff, 0xffffffff, UINT64_MAX, UINT64_MAX };

    return masks[class];
}

uint32_t ptxi_build_const(struct ptxi_build *b, enum ptxi_class class, uint64_t value)
{
    struct ptxi_const_table *t = &b->consts;
    uint32_t k;

    value = class == PTXI_RC_PRED ? value != 0 : value & const_mask(class);
    if (t->count * 2 >= t->size && !const_table_grow(b))
        return 0;
    for (k = const_hash(class, value) & (t->size - 1); t->vregs[k] != PTXI_NONE; k = (k + 1) & (t->size - 1)) {
        const struct ptxi_vreg *v = &b->ir->vregs[t->vregs[k]];

        if (v->class == class && v->value == value)
            return t->vregs[k];
    }
    t->count++;
    return t->vregs[k] = ptxi_ir_const(b->ir, class, value);
}

/* --- operations --- */

void ptxi_build_read(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg)
{
    i->v[field] = vreg;
    if (vreg != PTXI_NONE)
        i->reads |= 1u << field;
}

void ptxi_build_accesses(struct ptxi_ir_inst *i, const struct ptxi_mem *mem, unsigned bytes, uint16_t kind)
{
    if (mem->space == PTXI_SPACE_SHARED || mem->space == PTXI_SPACE_GENERIC)
        i->shared = (uint16_t)(bytes | kind | (mem->space == PTXI_SPACE_GENERIC ? PTXI_SHARED_GENERIC : 0));
    else
        i->flags |= PTXI_IF_NOT_SHARED;
}

void ptxi_build_write(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg)
{
    i->v[field] = vreg;
    if (vreg != PTXI_NONE)
        i->writes |= 1u << field;
    if (i->writes & (i->writes - 1))
        i->flags |= PTXI_IF_EARLY; /* of two results the first may be there before the second has been computed */
}

struct ptxi_ir_inst *ptxi_build_op(struct ptxi_build *b, uint16_t op, uint32_t d, uint32_t a, uint32_t b2, uint32_t c)
{
    struct ptxi_ir_inst *i = ptxi_ir_append(b->ir, op);

    i->ptx = b->ptx;
    ptxi_build_write(i, PTXI_F_D, d);
    ptxi_build_read(i, PTXI_F_A, a);
    ptxi_build_read(i, PTXI_F_B, b2);
    ptxi_build_read(i, PTXI_F_C, c);
    return i;
}

struct ptxi_ir_inst *ptxi_build_pure(struct ptxi_build *b, uint16_t op, uint32_t d, uint32_t a, uint32_t b2, uint32_t c)
{
    struct ptxi_ir_inst *i = ptxi_build_op(b, op, d, a, b2, c);

    i->flags |= PTXI_IF_PURE;
    return i;
}

void ptxi_build_move(struct ptxi_build *b, uint32_t d, uint32_t a)
{
    static const uint16_t ops[PTXI_RC_COUNT] = { PTXI_OP_mov_pred, PTXI_OP_mov_16, PTXI_OP_mov_32, PTXI_OP_mov_64, PTXI_OP_mov_128 };

    if (d != a)
        ptxi_build_pure(b, ops[ptxi_build_class(b, d)], d, a, PTXI_NONE, PTXI_NONE);
}

static unsigned class_bits(enum ptxi_class class)
{
    return ptxi_class_units[class] * 16;
}

/* Cuts a to class `to`. */
static void truncate_to(struct ptxi_build *b, uint32_t d, uint32_t a)
{
    enum ptxi_class from = ptxi_build_class(b, a), to = ptxi_build_class(b, d);
    uint16_t op = from == PTXI_RC_32 ? PTXI_OP_trunc_32_16 : to == PTXI_RC_16 ? PTXI_OP_trunc_64_16 : PTXI_OP_trunc_64_32;

    if (from == PTXI_RC_128) {
        uint32_t low = to == PTXI_RC_64 ? d : ptxi_build_temp(b, PTXI_RC_64);

        ptxi_build_pure(b, PTXI_OP_unpack_64, low, a, PTXI_NONE, PTXI_NONE);
        if (low != d)
            truncate_to(b, d, low);
        return;
    }
    ptxi_build_pure(b, op, d, a, PTXI_NONE, PTXI_NONE);
}

static uint16_t extend_op(unsigned bits, enum ptxi_class to, bool is_signed)
{
    static const uint16_t ops[3][PTXI_RC_COUNT][2] = {
        { [PTXI_RC_16] = { PTXI_OP_ext_u8_16, PTXI_OP_ext_s8_16 },
          [PTXI_RC_32] = { PTXI_OP_ext_u8_32, PTXI_OP_ext_s8_32 },
          [PTXI_RC_64] = { PTXI_OP_ext_u8_64, PTXI_OP_ext_s8_64 } },
        { [PTXI_RC_32] = { PTXI_OP_ext_u16_32, PTXI_OP_ext_s16_32 }, [PTXI_RC_64] = { PTXI_OP_ext_u16_64, PTXI_OP_ext_s16_64 } },
        { [PTXI_RC_64] = { PTXI_OP_ext_u32_64, PTXI_OP_ext_s32_64 } },
    };

    return ops[bits == 8 ? 0 : bits == 16 ? 1 : 2][to][is_signed];
}

static void extend_128(struct ptxi_build *b, uint32_t d, uint32_t a, unsigned bits, bool is_signed)
{
    uint32_t low = ptxi_build_temp(b, PTXI_RC_64), high = ptxi_build_const(b, PTXI_RC_64, 0);

    ptxi_build_resize(b, low, a, bits, is_signed);
    if (is_signed) {
        high = ptxi_build_temp(b, PTXI_RC_64);
        ptxi_build_pure(b, PTXI_OP_shr_s64, high, low, ptxi_build_const(b, PTXI_RC_32, 63), PTXI_NONE);
    }
    ptxi_build_pure(b, PTXI_OP_pack_2x64, d, low, high, PTXI_NONE);
}

void ptxi_build_resize(struct ptxi_build *b, uint32_t d, uint32_t a, unsigned bits, bool is_signed)
{
    enum ptxi_class from = ptxi_build_class(b, a), to = ptxi_build_class(b, d), source;

    if (!bits || bits > class_bits(from))
        bits = class_bits(from);
    if (bits >= class_bits(to)) {
        if (from == to)
            ptxi_build_move(b, d, a);
        else
            truncate_to(b, d, a);
        return;
    }
    if (to == PTXI_RC_128) {
        extend_128(b, d, a, bits, is_signed);
        return;
    }
    source = bits <= 16 ? PTXI_RC_16 : PTXI_RC_32;
    if (from != source) {
        uint32_t t = ptxi_build_temp(b, source);

        truncate_to(b, t, a);
        a = t;
    }
    ptxi_build_pure(b, extend_op(bits, to, is_signed), d, a, PTXI_NONE, PTXI_NONE);
}

uint32_t ptxi_build_fit(struct ptxi_build *b, uint32_t v, enum ptxi_class class)
{
    const struct ptxi_vreg *r = &b->ir->vregs[v];
    uint32_t d;

    if (r->class == class)
        return v;
    if (r->kind == PTXI_VR_CONST && class != PTXI_RC_128)
        return ptxi_build_const(b, class, r->value);
    d = ptxi_build_temp(b, class);
    ptxi_build_resize(b, d, v, 0, false);
    return d;
}

/* --- operands --- */

enum ptxi_class ptxi_class_of(enum ptxi_type type)
{
    if (type == PTXI_T_pred)
        return PTXI_RC_PRED;
    switch (ptxi_types[type].bits) {
    case 32: return PTXI_RC_32;
    case 64: return PTXI_RC_64;
    case 128: return PTXI_RC_128;
    default: return PTXI_RC_16;
    }
}

bool ptxi_build_has(const struct ptxi_match *m, uint16_t word)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] == word)
            return true;
    return false;
}

static int spec_index(const struct ptxi_build *b, const char *name)
{
    const struct ptxi_row *row = b->inst->match->row;

    for (unsigned i = 0; i < row->spec_count && i < b->inst->operand_count; i++)
        if (!strcmp(row->specs[i].name, name) && b->inst->operands[i].form != PTXI_OPD_NONE)
            return (int)i;
    return -1;
}

const struct ptxi_operand *ptxi_build_operand(const struct ptxi_build *b, const char *name)
{
    int i = spec_index(b, name);

    return i < 0 ? NULL : &b->inst->operands[i];
}

enum ptxi_type ptxi_build_type(const struct ptxi_build *b, const char *name)
{
    int i = spec_index(b, name);

    return i < 0 ? PTXI_T_NONE : ptxi_isa_operand_type(b->inst->match, &b->inst->match->row->specs[i]);
}

/* Special registers that no instruction can see change during a launch. */
static bool sreg_is_fixed(uint32_t id)
{
    switch (id) {
    case PTXI_SREG_tid: case PTXI_SREG_ntid: case PTXI_SREG_laneid: case PTXI_SREG_warpid: case PTXI_SREG_nwarpid: case PTXI_SREG_nctaid:
    case PTXI_SREG_nsmid: case PTXI_SREG_gridid: case PTXI_SREG_is_explicit_cluster: case PTXI_SREG_nclusterid:
    case PTXI_SREG_cluster_nctaid: case PTXI_SREG_cluster_nctarank: case PTXI_SREG_lanemask_eq: case PTXI_SREG_lanemask_le:
    case PTXI_SREG_lanemask_lt: case PTXI_SREG_lanemask_ge: case PTXI_SREG_lanemask_gt: case PTXI_SREG_envreg:
    case PTXI_SREG_total_smem_size: case PTXI_SREG_aggr_smem_size: case PTXI_SREG_dynamic_smem_size:
        return true;
    default:
        return false;
    }
}

static uint32_t read_sreg(struct ptxi_build *b, uint32_t sreg, enum ptxi_class class)
{
    static const struct {
        uint8_t type;
    } info[] = {
#define SREG(id, spelling, type, vector, ptx, sm) { PTXI_T_##type },
#include "isa/sreg.def"
#undef SREG
    };
    enum ptxi_class natural = ptxi_class_of(info[sreg & 0xff].type);
    uint16_t op = natural == PTXI_RC_PRED ? PTXI_OP_sreg_pred : natural == PTXI_RC_64 ? PTXI_OP_sreg_64 : PTXI_OP_sreg_32;
    uint32_t d = ptxi_build_temp(b, natural);
    struct ptxi_ir_inst *i = ptxi_build_op(b, op, d, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->imm = (int32_t)sreg;
    i->flags |= PTXI_IF_NOT_SHARED;
    if (sreg_is_fixed(sreg & 0xff))
        i->flags |= PTXI_IF_PURE;
    return ptxi_build_fit(b, d, class);
}

uint32_t ptxi_build_use_pred(struct ptxi_build *b, const struct ptxi_operand *o, uint16_t *mods)
{
    if (o->form == PTXI_OPD_IMM)
        return ptxi_build_const(b, PTXI_RC_PRED, (o->imm != 0) != o->negated);
    if (o->negated)
        *mods |= PTXI_MOD_NOT_C;
    return o->form == PTXI_OPD_REG ? o->reg : ptxi_build_use(b, o, PTXI_RC_PRED);
}

uint32_t ptxi_build_use(struct ptxi_build *b, const struct ptxi_operand *o, enum ptxi_class class)
{
    switch (o->form) {
    case PTXI_OPD_REG:
        if (o->negated && class == PTXI_RC_PRED) {
            uint32_t d = ptxi_build_temp(b, PTXI_RC_PRED);

            ptxi_build_pure(b, PTXI_OP_not_pred, d, o->reg, PTXI_NONE, PTXI_NONE);
            return d;
        }
        return ptxi_build_fit(b, o->reg, class);
    case PTXI_OPD_IMM:
        if (class == PTXI_RC_PRED)
            return ptxi_build_const(b, class, (o->imm != 0) != o->negated);
        return ptxi_build_fit(b, ptxi_build_const(b, class == PTXI_RC_128 ? PTXI_RC_64 : class, o->imm), class);
    case PTXI_OPD_SREG:
        return read_sreg(b, o->sreg, class);
    case PTXI_OPD_VAR:
        return ptxi_build_var(b, o->var, o->offset, class);
    case PTXI_OPD_FUNC:
        return ptxi_build_const(b, class, b->options->function_address(b->options->ctx, o->func));
    default:
        ptxi_build_unsupported(b, "operand");
        return ptxi_build_temp(b, class);
    }
}

uint32_t ptxi_build_def(struct ptxi_build *b, const struct ptxi_operand *o, enum ptxi_class class)
{
    if (o->form == PTXI_OPD_REG && ptxi_build_class(b, o->reg) == class)
        return o->reg;
    return ptxi_build_temp(b, class);
}

void ptxi_build_def_end(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t written, enum ptxi_type type)
{
    if (o->form == PTXI_OPD_REG && written != o->reg)
        ptxi_build_resize(b, o->reg, written, ptxi_types[type].bits, ptxi_types[type].class == 'S');
}
