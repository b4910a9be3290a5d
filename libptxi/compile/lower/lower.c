/* From a function's tree to the intermediate form: finds each instruction's lowering rule, and puts its guard around what that makes. */
#include "compile/lower/lower.h"

#include <string.h>

/* Rules by name, as the exec column of insn.def writes them. */
static const struct {
    const char *name;
    ptxi_lower *lower;
} rules[] = {
    { "mov", ptxi_lower_mov },     { "ld", ptxi_lower_ld },     { "ldu", ptxi_lower_ld },     { "st", ptxi_lower_st },
    { "cvt", ptxi_lower_cvt },     { "cvta", ptxi_lower_cvta }, { "isspacep", ptxi_lower_isspacep },
    { "setp", ptxi_lower_setp },   { "set", ptxi_lower_set },   { "selp", ptxi_lower_selp },  { "lop3", ptxi_lower_lop3 }, { "shift", ptxi_lower_shift },
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
    return row->family == PTXI_M_prmt;
}

/* mul, add and sub without rounding may be contracted, if they are of floats. */
static bool is_fusable(const struct ptxi_match *m)
{
    uint16_t family = m->row->family;

    if (family != PTXI_M_mul && family != PTXI_M_add && family != PTXI_M_sub)
        return false;
    if (ptxi_build_has(m, PTXI_Q_rn) && !ptxi_build_has(m, PTXI_T_f32x2))
        return false;
    return !ptxi_build_has(m, PTXI_Q_rz) && !ptxi_build_has(m, PTXI_Q_rm) && !ptxi_build_has(m, PTXI_Q_rp);
}

/* Puts an operand into the next free field: destinations into d and imm, sources into a, b, c and the halves of imm. */
static bool place_operand(struct ptxi_build *b, struct ptxi_ir_inst *i, const struct ptxi_operand *o, const struct ptxi_opspec *spec)
{
    static const uint8_t sources[] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_IMM, PTXI_F_IMM_HI }, dests[] = { PTXI_F_D, PTXI_F_IMM };
    bool write = spec->flags & PTXI_OPF_WRITE;
    const uint8_t *fields = write ? dests : sources;
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(b->inst->match, spec));
    uint32_t v;

    for (unsigned k = 0; k < (write ? sizeof dests : sizeof sources); k++) {
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
