/* cp.async and mbarrier. */
#include "compile/build.h"

/* The address of an operand that is one of several: its offset is added. */
static uint32_t whole_address(struct ptxi_build *b, const char *name, enum ptxi_space space)
{
    struct ptxi_mem mem;
    enum ptxi_class class;
    uint32_t sum;

    if (!ptxi_build_address(b, ptxi_build_operand(b, name)->address, space, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || mem.space != space) {
        ptxi_build_unsupported(b, "state space");
        return PTXI_NONE;
    }
    if (!mem.offset)
        return mem.base;
    class = ptxi_build_class(b, mem.base);
    sum = ptxi_build_temp(b, class);
    ptxi_build_pure(b, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, sum, mem.base,
                    ptxi_build_const(b, class, (uint64_t)(int64_t)mem.offset), PTXI_NONE);
    return sum;
}

/* a: where to, imm: its offset; b: where from; c: bytes of the source, or a predicate; mods as in bytecode.h. */
void ptxi_lower_cp_async(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *bytes = ptxi_build_operand(b, "src_size"), *ignore = ptxi_build_operand(b, "ignore_src");
    uint16_t mods = (uint16_t)ptxi_build_operand(b, "cp_size")->imm;
    uint32_t from = whole_address(b, "src", PTXI_SPACE_GLOBAL), c = PTXI_NONE;
    struct ptxi_mem to;
    struct ptxi_ir_inst *i;

    if (from == PTXI_NONE || !ptxi_build_address(b, ptxi_build_operand(b, "dst")->address, PTXI_SPACE_SHARED, &to))
        return;
    if (bytes) {
        c = ptxi_build_use(b, bytes, PTXI_RC_32);
    } else if (ignore) {
        uint16_t negated = 0;

        c = ptxi_build_use_pred(b, ignore, &negated);
        mods |= PTXI_CP_ASYNC_IGNORE | (negated ? PTXI_CP_ASYNC_NOT : 0);
    }
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, to.base, from, c);
    i->imm = to.offset;
    i->mods = mods;
    ptxi_build_accesses(i, &to, mods & PTXI_CP_ASYNC_SIZE, 0);
}

/* imm: how many groups may stay incomplete; mods: wait_all, which commits before. */
void ptxi_lower_cp_async_wait(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *n = ptxi_build_operand(b, "n");
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->imm = !n ? 0 : n->imm > INT32_MAX ? INT32_MAX : (int32_t)n->imm;
    i->mods = !n;
    i->flags |= PTXI_IF_TOGETHER;
}

/* d: what it returns or none; a: the mbarrier, imm: its offset; b: count, state or parity; mods as in bytecode.h. */
void ptxi_lower_mbarrier(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const struct {
        uint16_t word, mod;
    } mods[] = {
        { PTXI_Q_arrive_drop, PTXI_MBARRIER_DROP }, { PTXI_Q_noComplete, PTXI_MBARRIER_NO_COMPLETE }, { PTXI_Q_expect_tx, PTXI_MBARRIER_EXPECT_TX },
        { PTXI_Q_parity, PTXI_MBARRIER_PARITY },    { PTXI_Q_noinc, PTXI_MBARRIER_NO_INC },
    };
    static const char *const sources[] = { "count", "tx_count", "state", "parity" };
    const struct ptxi_operand *address = ptxi_build_operand(b, "a");
    const struct ptxi_opspec *result = &inst->match->row->specs[0];
    uint32_t d = PTXI_NONE, source = PTXI_NONE;
    struct ptxi_mem mem = { .base = PTXI_NONE, .space = PTXI_SPACE_SHARED };
    struct ptxi_ir_inst *i;

    if (address && !ptxi_build_address(b, address->address, ptxi_build_space(inst->match), &mem))
        return;
    if (address && (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC))) {
        ptxi_build_unsupported(b, "state space");
        return;
    }
    for (unsigned k = 0; k < sizeof sources / sizeof *sources && source == PTXI_NONE; k++) {
        const struct ptxi_operand *o = ptxi_build_operand(b, sources[k]);

        if (o && o != &inst->operands[0])
            source = ptxi_build_use(b, o, ptxi_class_of(ptxi_build_type(b, sources[k])));
    }
    if (inst->operand_count && result->flags & PTXI_OPF_WRITE && inst->operands[0].form == PTXI_OPD_REG)
        d = ptxi_build_def(b, &inst->operands[0], ptxi_class_of(ptxi_isa_operand_type(inst->match, result)));
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), d, address ? mem.base : source, address ? source : PTXI_NONE, PTXI_NONE);
    i->imm = mem.offset;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->mods = mem.space == PTXI_SPACE_GENERIC ? PTXI_MBARRIER_GENERIC : 0;
    for (unsigned k = 0; k < sizeof mods / sizeof *mods; k++)
        if (ptxi_build_has(inst->match, mods[k].word))
            i->mods |= mods[k].mod;
}
