#include "compile/build.h"

#include <string.h>

/* Rules by name, as the exec column of insn.def writes them. */
static const struct {
    const char *name;
    ptxi_lower *lower;
} rules[] = {
    { "mov", ptxi_lower_mov },     { "ld", ptxi_lower_ld },     { "ldu", ptxi_lower_ld },     { "st", ptxi_lower_st },
    { "cvt", ptxi_lower_cvt },     { "cvt_rs4", ptxi_lower_cvt_rs4 }, { "cvta", ptxi_lower_cvta }, { "isspacep", ptxi_lower_isspacep },
    { "setp", ptxi_lower_setp },   { "set", ptxi_lower_set },   { "selp", ptxi_lower_selp },  { "lop3", ptxi_lower_lop3 },
    { "carry", ptxi_lower_carry }, { "mixed", ptxi_lower_mixed }, { "bra", ptxi_lower_bra },   { "brx", ptxi_lower_brx },    { "call", ptxi_lower_call },
    { "ret", ptxi_lower_ret },     { "exit", ptxi_lower_exit }, { "trap", ptxi_lower_trap },  { "brkpt", ptxi_lower_brkpt },
    { "nop", ptxi_lower_nop },     { "bar", ptxi_lower_bar },   { "warp", ptxi_lower_warp },  { "shfl", ptxi_lower_shfl },
    { "vote", ptxi_lower_vote },   { "fence", ptxi_lower_fence }, { "atom", ptxi_lower_atom }, { "red", ptxi_lower_atom },
    { "cp_async", ptxi_lower_cp_async }, { "cp_async_wait", ptxi_lower_cp_async_wait }, { "mbarrier", ptxi_lower_mbarrier },
    { "bulk", ptxi_lower_bulk },   { "async_store", ptxi_lower_async_store }, { "bulk_zero", ptxi_lower_bulk_zero }, { "tensor", ptxi_lower_tensor },
    { "tensormap_replace", ptxi_lower_tensormap_replace }, { "tensormap_copy", ptxi_lower_tensormap_copy },
    { "try_cancel", ptxi_lower_try_cancel }, { "query_cancel", ptxi_lower_query_cancel },
    { "video", ptxi_lower_video }, { "collective", ptxi_lower_collective }, { "alloca", ptxi_lower_alloca }, { "policy", ptxi_lower_policy },
    { "matrix", ptxi_lower_matrix }, { "mma", ptxi_lower_mma }, { "wmma", ptxi_lower_wmma }, { "wgmma", ptxi_lower_wgmma },
    { "tcgen05", ptxi_lower_tcgen05 }, { "tcgen05_move", ptxi_lower_tcgen05_move }, { "tcgen05_mma", ptxi_lower_tcgen05_mma },
    { "tex", ptxi_lower_tex }, { "txq", ptxi_lower_txq }, { "istypep", ptxi_lower_istypep }, { "surface", ptxi_lower_surface },
};

static ptxi_lower *find_rule(const struct ptxi_row *row)
{
    if (!row->lower)
        return row->ops ? ptxi_lower_plain : NULL;
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].name, row->lower))
            return rules[i].lower;
    return NULL;
}

bool ptxi_compile_executes(const struct ptxi_row *row)
{
    return find_rule(row) != NULL;
}

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

static const char *spelling(const struct ptxi_build *b, const struct ptxi_match *m)
{
    const char *s = m->row->mnemonic;

    for (unsigned i = 0; i < m->row->slot_count && s; i++)
        if (m->words[i] != PTXI_NO_WORD)
            s = ptxi_arena_printf(b->ir->arena, "%s.%s", s, ptxi_words[m->words[i]]);
    return s;
}

void ptxi_build_unsupported(struct ptxi_build *b, const char *why)
{
    const char *text = spelling(b, b->inst->match);
    struct ptxi_ir_inst *i = ptxi_build_op(b, PTXI_OP_unsupported, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    if (text && why)
        text = ptxi_arena_printf(b->ir->arena, "%s (%s)", text, why);
    i->imm = (int32_t)ptxi_ir_unsupported(b->ir, text);
    i->flags |= PTXI_IF_TOGETHER;
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

/* --- plain rows --- */

/* Chapters of the PTX ISA whose instructions compute from their operands alone. */
static bool is_pure(const struct ptxi_row *row)
{
    static const char *const sections[] = { "Integer Arithmetic", "Extended-Precision", "Floating", "Half Precision", "Mixed Precision",
                                            "Comparison and Selection", "Half Precision Comparison", "Logic and Shift", "Video", "Scalar Video",
                                            "SIMD Video", "Data Movement and Conversion Instructions: cvt" };

    for (unsigned i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!strncmp(row->section, sections[i], strlen(sections[i])))
            return true;
    return !strcmp(row->mnemonic, "prmt");
}

/* mul, add and sub without rounding may be contracted, if they are of floats. */
static bool is_fusable(const struct ptxi_match *m)
{
    const char *n = m->row->mnemonic;

    if (strcmp(n, "mul") && strcmp(n, "add") && strcmp(n, "sub"))
        return false;
    if (ptxi_build_has(m, PTXI_Q_rn) && !ptxi_build_has(m, PTXI_T_f32x2))
        return false;
    return !ptxi_build_has(m, PTXI_Q_rz) && !ptxi_build_has(m, PTXI_Q_rm) && !ptxi_build_has(m, PTXI_Q_rp);
}

/* Puts an operand into the next free field: destinations into d and imm, sources into a, b, c and imm. */
static bool place_operand(struct ptxi_build *b, struct ptxi_ir_inst *i, const struct ptxi_operand *o, const struct ptxi_opspec *spec)
{
    static const uint8_t sources[] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_IMM }, dests[] = { PTXI_F_D, PTXI_F_IMM };
    bool write = spec->flags & PTXI_OPF_WRITE;
    const uint8_t *fields = write ? dests : sources;
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(b->inst->match, spec));
    uint32_t v;

    for (unsigned k = 0; k < (write ? 2 : 4); k++) {
        if (i->v[fields[k]] != PTXI_NONE)
            continue;
        v = write ? ptxi_build_def(b, o, class) : ptxi_build_use(b, o, class);
        if (write)
            ptxi_build_write(i, fields[k], v);
        else
            ptxi_build_read(i, fields[k], v);
        return true;
    }
    return false;
}

static bool place_operands(struct ptxi_build *b, const struct ptxi_inst *inst, struct ptxi_ir_inst *i)
{
    for (unsigned k = 0; k < inst->operand_count; k++) {
        const struct ptxi_operand *o = &inst->operands[k];
        const struct ptxi_opspec *spec = &inst->match->row->specs[k];

        if (o->form == PTXI_OPD_NONE)
            continue;
        if (spec->kind != PTXI_OPK_VALUE && spec->kind != PTXI_OPK_IMMEDIATE)
            return false;
        if (o->form != PTXI_OPD_VECTOR) {
            if (!place_operand(b, i, o, spec))
                return false;
            continue;
        }
        for (unsigned e = 0; e < o->count; e++)
            if (!place_operand(b, i, &o->elements[e], spec))
                return false;
    }
    return true;
}

void ptxi_lower_plain(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst i = { .op = ptxi_isa_op(inst->match), .mods = inst->match->mods, .guard = PTXI_NONE, .aux = PTXI_NONE, .list = PTXI_NONE, .ptx = b->ptx };
    const struct ptxi_opspec *first = inst->match->row->specs;

    memset(i.v, 0xff, sizeof i.v);
    if (is_pure(inst->match->row))
        i.flags |= PTXI_IF_PURE;
    else
        i.flags |= PTXI_IF_TOGETHER;
    if (is_fusable(inst->match))
        i.flags |= PTXI_IF_FUSABLE;
    /* sources may need operations of their own, so the instruction is appended last */
    if (!i.op || !place_operands(b, inst, &i))
        ptxi_build_unsupported(b, NULL);
    else
        *ptxi_ir_append(b->ir, i.op) = i;
    if (i.v[PTXI_F_D] != PTXI_NONE && first->flags & PTXI_OPF_WIDER)
        ptxi_build_def_end(b, &inst->operands[0], i.v[PTXI_F_D], ptxi_isa_operand_type(inst->match, first));
}

/* --- guards --- */

static bool writes_temps_only(const struct ptxi_build *b, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(b->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (v < b->first_temp)
            return false;
    return true;
}

static bool needs_guard(const struct ptxi_build *b, const struct ptxi_ir_inst *i)
{
    return !(i->flags & PTXI_IF_ALWAYS) && !((i->flags & PTXI_IF_PURE) && writes_temps_only(b, i));
}

static bool must_branch(const struct ptxi_ir_inst *i)
{
    return i->flags & PTXI_IF_TOGETHER || ptxi_ir_is_call(i) || ptxi_ir_is_branch(i) || ptxi_ir_ends(i);
}

/* Moves the last operation to place `to`, before others of the same PTX instruction. */
static void move_last(struct ptxi_build *b, uint32_t to)
{
    struct ptxi_ir *ir = b->ir;
    struct ptxi_ir_inst last;

    if (ir->oom)
        return;
    last = ir->insts[ir->count - 1];
    memmove(&ir->insts[to + 1], &ir->insts[to], (ir->count - 1 - to) * sizeof *ir->insts);
    ir->insts[to] = last;
    /* labels that the rule itself has set move along */
    for (uint32_t l = b->first_label; l < ir->label_count; l++)
        if (ir->labels[l] != PTXI_NONE && ir->labels[l] > to)
            ir->labels[l]++;
}

/* The operations from `first` on run only where the guard holds. */
static void branch_around(struct ptxi_build *b, uint32_t first)
{
    uint32_t label = ptxi_ir_label(b->ir);

    ptxi_build_op(b, b->inst->guard_negated ? PTXI_OP_bra_if : PTXI_OP_bra_ifn, PTXI_NONE, b->guard, PTXI_NONE, PTXI_NONE)->aux = label;
    move_last(b, first);
    if (!b->ir->oom)
        b->ir->labels[label] = b->ir->count;
}

static void apply_guard(struct ptxi_build *b, uint32_t first)
{
    struct ptxi_ir *ir = b->ir;
    uint32_t guarded = 0;
    bool branch = false;

    for (uint32_t k = first; k < ir->count; k++) {
        if (needs_guard(b, &ir->insts[k]))
            guarded++;
        branch |= must_branch(&ir->insts[k]);
    }
    /* from the third on, one branch is cheaper than a guard for each */
    if (branch || guarded > 2) {
        branch_around(b, first);
        return;
    }
    for (uint32_t k = first; k < ir->count; k++) {
        if (!needs_guard(b, &ir->insts[k]))
            continue;
        ir->insts[k].guard = b->guard;
        ir->insts[k].guard_negated = b->inst->guard_negated;
    }
}

/* Makes a copy of v before operation k. */
static uint32_t copy_before(struct ptxi_build *b, uint32_t v, uint32_t k)
{
    uint32_t copy = ptxi_build_temp(b, ptxi_build_class(b, v));

    ptxi_build_move(b, copy, v);
    move_last(b, k);
    return copy;
}

/* A guard that an instruction of several operations overwrites itself must be read before. */
static void keep_guard(struct ptxi_build *b, uint32_t first)
{
    struct ptxi_ir *ir = b->ir;
    uint32_t v;

    for (uint32_t k = first; k + 1 < ir->count; k++) {
        struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[k]);

        while (ptxi_ir_next(&w, &v)) {
            if (v != b->guard)
                continue;
            b->guard = copy_before(b, v, first);
            return;
        }
    }
}

/* Where a result may be written before all sources are read, no source is the same register. */
static void separate(struct ptxi_build *b, uint32_t first)
{
    struct ptxi_ir *ir = b->ir;

    for (uint32_t k = first; k < ir->count; k++) {
        for (unsigned f = 0; f < PTXI_F_COUNT && ir->insts[k].flags & PTXI_IF_EARLY; f++) {
            for (unsigned g = 0; g < PTXI_F_COUNT; g++) {
                const struct ptxi_ir_inst *i = &ir->insts[k];

                if (f == g || !(i->writes >> f & 1) || !(i->reads >> g & 1) || i->writes >> g & 1 || i->v[f] != i->v[g])
                    continue;
                uint32_t copy = copy_before(b, i->v[g], k);
                if (ir->oom)
                    return;
                ir->insts[++k].v[g] = copy;
            }
        }
    }
}

/* --- the function --- */

static void lower_inst(struct ptxi_build *b, uint32_t index)
{
    struct ptxi_ir *ir = b->ir;
    ptxi_lower *lower;
    uint32_t first = ir->count;

    b->inst = &b->func->insts[index];
    b->ptx = index;
    b->guard = b->inst->guard == PTXI_NO_REG ? PTXI_NONE : b->inst->guard;
    b->first_temp = ir->vreg_count;
    b->first_label = ir->label_count;
    ir->labels[index] = first;
    lower = find_rule(b->inst->match->row);
    if (b->inst->mixed)
        ptxi_build_unsupported(b, "a predicate in a vector");
    else if (lower)
        lower(b, b->inst);
    else
        ptxi_build_unsupported(b, NULL);
    separate(b, first);
    if (b->guard != PTXI_NONE && !ir->oom) {
        keep_guard(b, first);
        apply_guard(b, first);
    }
    if (ir->count == first) /* so that it has a place: it is counted, and labels may stand on it */
        ptxi_build_op(b, PTXI_OP_nop, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    if (!ir->oom)
        ir->insts[first].flags |= PTXI_IF_FIRST;
}

static bool make_registers(struct ptxi_build *b)
{
    const struct ptxi_func *f = b->func;

    for (uint32_t r = 0; r < f->reg_range_count; r++)
        for (uint32_t i = 0; i < f->regs[r].count && !b->ir->oom; i++)
            ptxi_ir_vreg(b->ir, ptxi_class_of(f->regs[r].type));
    return !b->ir->oom;
}

/* Control that reaches the end of the text returns. */
static void finish(struct ptxi_build *b)
{
    struct ptxi_ir *ir = b->ir;

    ir->labels[b->func->inst_count] = ir->count;
    if (!b->func->is_entry)
        ptxi_build_epilogue(b);
    ptxi_build_op(b, b->func->is_entry ? PTXI_OP_exit : PTXI_OP_ret, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
}

bool ptxi_build(struct ptxi_build *b)
{
    struct ptxi_ir *ir = b->ir;
    const struct ptxi_func *f = b->func;

    b->carry = b->depot = b->stack = PTXI_NONE;
    ir->func = f;
    for (uint32_t i = 0; i <= f->inst_count && !ir->oom; i++)
        ptxi_ir_label(ir);
    if (ir->oom || !make_registers(b) || !ptxi_build_homes(b))
        return false;
    ptxi_build_prologue(b);
    for (uint32_t i = 0; i < f->inst_count && !ir->oom; i++)
        lower_inst(b, i);
    if (ir->oom)
        return false;
    b->ptx = f->inst_count ? f->inst_count - 1 : 0;
    finish(b);
    return !ir->oom;
}
