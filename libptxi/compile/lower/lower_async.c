/* Asynchronous copies, stores and reductions, and mbarrier. */
#include "compile/lower/lower.h"

uint32_t ptxi_build_whole_address(struct ptxi_build *b, const char *name, enum ptxi_space space)
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
    uint32_t from = ptxi_build_whole_address(b, "src", PTXI_SPACE_GLOBAL), c = PTXI_NONE;
    struct ptxi_mem to;
    struct ptxi_ir_inst *i;

    if (from == PTXI_NONE || !ptxi_build_address(b, ptxi_build_operand(b, "dst")->address, PTXI_SPACE_SHARED, &to))
        return;
    if (bytes && (bytes->form != PTXI_OPD_IMM || bytes->imm < mods)) {
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

/* As bytecode.h has it; of bulk copies, too. */
void ptxi_lower_cp_async_wait(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *n = ptxi_build_operand(b, "n");
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->imm = !n ? 0 : n->imm > INT32_MAX ? INT32_MAX : (int32_t)n->imm;
    i->mods = (n ? 0 : PTXI_WAIT_COMMITS) | (ptxi_build_has(inst->match, PTXI_Q_read) ? PTXI_WAIT_READ : 0);
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

uint32_t ptxi_build_generic_address(struct ptxi_build *b, const char *name, enum ptxi_space space)
{
    struct ptxi_mem mem;
    uint32_t sum;

    if (!ptxi_build_address(b, ptxi_build_operand(b, name)->address, space, &mem))
        return PTXI_NONE;
    if (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC && mem.space != PTXI_SPACE_GLOBAL)) {
        ptxi_build_unsupported(b, "state space");
        return PTXI_NONE;
    }
    if (mem.space == PTXI_SPACE_SHARED)
        mem.base = ptxi_build_generic(b, mem.base);
    if (!mem.offset)
        return mem.base;
    sum = ptxi_build_temp(b, PTXI_RC_64);
    ptxi_build_pure(b, PTXI_OP_add_i64, sum, mem.base, ptxi_build_const(b, PTXI_RC_64, (uint64_t)(int64_t)mem.offset), PTXI_NONE);
    return sum;
}

static enum ptxi_space space_in(const struct ptxi_match *m, const char *slot)
{
    switch (ptxi_isa_slot(m, slot)) {
    case PTXI_Q_global: return PTXI_SPACE_GLOBAL;
    case PTXI_Q_shared__cluster: return PTXI_SPACE_CLUSTER;
    case PTXI_Q_shared__cta: return PTXI_SPACE_SHARED;
    default: return PTXI_SPACE_GENERIC;
    }
}

/* As bytecode.h has it. */
void ptxi_lower_bulk(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *cta_mask = ptxi_build_operand(b, "cta_mask"), *byte_mask = ptxi_build_operand(b, "byte_mask");
    const struct ptxi_operand *mask = cta_mask ? cta_mask : byte_mask;
    uint16_t op = ptxi_isa_op(m);
    uint32_t to = ptxi_build_generic_address(b, "dst", space_in(m, "dst")), from = ptxi_build_generic_address(b, "src", space_in(m, "src")), mbarrier = PTXI_NONE, size, v;
    struct ptxi_ir_inst *i;

    if (ptxi_build_operand(b, "mbar"))
        mbarrier = ptxi_build_generic_address(b, "mbar", space_in(m, "dst"));
    if (to == PTXI_NONE || from == PTXI_NONE || (ptxi_build_operand(b, "mbar") && mbarrier == PTXI_NONE))
        return;
    size = ptxi_build_use(b, ptxi_build_operand(b, "size"), PTXI_RC_32);
    v = mask ? ptxi_build_use(b, mask, PTXI_RC_16) : PTXI_NONE;
    i = ptxi_build_op(b, PTXI_OP_bulk_copy, PTXI_NONE, to, from, mbarrier);
    ptxi_build_read(i, PTXI_F_D, size);
    i->imm = PTXI_NO_SLOT;
    ptxi_build_read(i, PTXI_F_IMM, v);
    i->mods = (uint16_t)((op == PTXI_OP_bulk_copy ? 0 : op << PTXI_BULK_REDUCE) | (cta_mask ? PTXI_BULK_MULTICAST : 0) | (byte_mask ? PTXI_BULK_BYTE_MASK : 0));
    i->flags |= PTXI_IF_TOGETHER;
}

void ptxi_lower_async_store(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_D, PTXI_F_IMM, PTXI_F_IMM_HI };
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *o = ptxi_build_operand(b, "b"), *values = o->form == PTXI_OPD_VECTOR ? o->elements : o;
    unsigned count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, "b"));
    uint32_t to = ptxi_build_generic_address(b, "a", ptxi_build_space(m)), mbarrier = ptxi_build_generic_address(b, "mbar", ptxi_build_space(m)), v[4];
    uint16_t op = ptxi_isa_op(m);
    struct ptxi_ir_inst *i;

    if (to == PTXI_NONE || mbarrier == PTXI_NONE)
        return;
    for (unsigned e = 0; e < count; e++)
        v[e] = ptxi_build_use(b, &values[e], class);
    i = ptxi_build_op(b, PTXI_OP_async_store, PTXI_NONE, to, PTXI_NONE, mbarrier);
    i->imm = -1; /* two times PTXI_NO_SLOT */
    for (unsigned e = 0; e < count; e++)
        ptxi_build_read(i, fields[e], v[e]);
    i->mods = (uint16_t)((op == PTXI_OP_async_store ? 0 : op << PTXI_BULK_REDUCE) | (class == PTXI_RC_64 ? 3 : 2));
    i->flags |= PTXI_IF_TOGETHER;
}

/* a: where to, a generic address; b: bytes. */
void ptxi_lower_bulk_zero(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint32_t to = ptxi_build_generic_address(b, "a", ptxi_build_space(inst->match)), size;

    if (to == PTXI_NONE)
        return;
    size = ptxi_build_use(b, ptxi_build_operand(b, "size"), ptxi_class_of(ptxi_build_type(b, "size")));
    ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, to, ptxi_build_fit(b, size, PTXI_RC_64), PTXI_NONE)->flags |= PTXI_IF_TOGETHER;
}

/* The reductions, as exec/async/tma.h numbers them from 1 on. */
static unsigned tensor_reduction(const struct ptxi_match *m)
{
    static const uint16_t words[] = { PTXI_Q_and, PTXI_Q_or, PTXI_Q_xor, PTXI_Q_add, PTXI_Q_inc, PTXI_Q_dec, PTXI_Q_min, PTXI_Q_max };

    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptxi_build_has(m, words[k]))
            return k + 1;
    return 0;
}

/* Coordinates are more than one operation has room for: they go before it. */
static void tensor_coords(struct ptxi_build *b, const uint32_t *v, unsigned count, bool offsets)
{
    static const uint8_t fields[] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_IMM };
    struct ptxi_ir_inst *i = ptxi_build_op(b, PTXI_OP_tensor_coords, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->imm = PTXI_NO_SLOT;
    i->mods = offsets;
    for (unsigned d = 0; d < count; d++)
        ptxi_build_read(i, fields[d], v[d]);
    i->flags |= PTXI_IF_TOGETHER;
}

static unsigned tensor_mode(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, mod;
    } modes[] = {
        { PTXI_Q_tile__gather4, PTXI_TENSOR_ROWS }, { PTXI_Q_tile__scatter4, PTXI_TENSOR_ROWS }, { PTXI_Q_im2col, PTXI_TENSOR_IM2COL },
        { PTXI_Q_im2col_no_offs, PTXI_TENSOR_IM2COL }, { PTXI_Q_im2col__w, PTXI_TENSOR_WIDE }, { PTXI_Q_im2col__w__128, PTXI_TENSOR_W128 },
        { PTXI_Q_cta_group__2, PTXI_TENSOR_PAIR },
    };
    unsigned mods = 0;

    for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++)
        mods |= ptxi_build_has(m, modes[k].word) ? modes[k].mod : 0;
    return mods;
}

void ptxi_lower_tensor(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *c = ptxi_build_operand(b, "c"), *mask = ptxi_build_operand(b, "cta_mask");
    const struct ptxi_operand *offsets = ptxi_build_operand(b, ptxi_build_operand(b, "offsets") ? "offsets" : "halo_offset");
    bool store = ptxi_isa_slot(m, "dst") == PTXI_Q_global;
    uint32_t box = ptxi_build_generic_address(b, store ? "src" : "dst", space_in(m, store ? "src" : "dst")), map = ptxi_build_generic_address(b, "map", PTXI_SPACE_GENERIC);
    uint32_t mbarrier = store ? PTXI_NONE : ptxi_build_generic_address(b, "mbar", space_in(m, "dst")), v[5], w[3], cta_mask;
    struct ptxi_ir_inst *i;

    if (box == PTXI_NONE || map == PTXI_NONE || (!store && mbarrier == PTXI_NONE))
        return;
    for (unsigned d = 0; d < c->count; d++)
        v[d] = ptxi_build_use(b, &c->elements[d], PTXI_RC_32);
    for (unsigned d = 0; offsets && d < offsets->count; d++)
        w[d] = ptxi_build_fit(b, ptxi_build_use(b, &offsets->elements[d], PTXI_RC_16), PTXI_RC_32);
    cta_mask = mask ? ptxi_build_use(b, mask, PTXI_RC_16) : PTXI_NONE;
    tensor_coords(b, v, c->count, false);
    if (offsets)
        tensor_coords(b, w, offsets->count, true);
    i = ptxi_build_op(b, ptxi_isa_op(m), PTXI_NONE, box, map, mbarrier);
    ptxi_build_read(i, PTXI_F_D, cta_mask);
    i->imm = c->count;
    i->mods = (uint16_t)((store ? PTXI_TENSOR_STORE : 0) | tensor_mode(m) | tensor_reduction(m) << PTXI_TENSOR_REDUCE);
    i->flags |= PTXI_IF_TOGETHER;
}

static enum ptxi_tensor_field tensor_field(const struct ptxi_match *m)
{
    static const uint16_t words[] = {
        [PTXI_TENSOR_ADDRESS] = PTXI_Q_global_address, [PTXI_TENSOR_RANK] = PTXI_Q_rank, [PTXI_TENSOR_BOX] = PTXI_Q_box_dim, [PTXI_TENSOR_SIZE] = PTXI_Q_global_dim,
        [PTXI_TENSOR_STRIDE] = PTXI_Q_global_stride, [PTXI_TENSOR_STEP] = PTXI_Q_element_stride, [PTXI_TENSOR_TYPE] = PTXI_Q_elemtype,
        [PTXI_TENSOR_INTERLEAVE] = PTXI_Q_interleave_layout, [PTXI_TENSOR_SWIZZLE] = PTXI_Q_swizzle_mode, [PTXI_TENSOR_ATOM] = PTXI_Q_swizzle_atomicity,
        [PTXI_TENSOR_FILL] = PTXI_Q_fill_mode,
    };
    unsigned k = 0;

    while (!ptxi_build_has(m, words[k]))
        k++;
    return (enum ptxi_tensor_field)k;
}

void ptxi_lower_tensormap_replace(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *ord = ptxi_build_operand(b, "ord");
    uint32_t map = ptxi_build_generic_address(b, "a", ptxi_build_space(inst->match)), value;
    struct ptxi_ir_inst *i;

    if (map == PTXI_NONE)
        return;
    value = ptxi_build_use(b, ptxi_build_operand(b, "new_val"), ptxi_class_of(ptxi_build_type(b, "new_val")));
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, map, ptxi_build_fit(b, value, PTXI_RC_64), PTXI_NONE);
    i->imm = ord ? (int32_t)ord->imm : 0;
    i->mods = tensor_field(inst->match);
    i->flags |= PTXI_IF_TOGETHER;
}

/* a: where to, b: where from, generic addresses. */
void ptxi_lower_tensormap_copy(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint32_t to = ptxi_build_generic_address(b, "dst", PTXI_SPACE_GLOBAL), from = ptxi_build_generic_address(b, "src", PTXI_SPACE_SHARED);

    if (to != PTXI_NONE && from != PTXI_NONE)
        ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, to, from, PTXI_NONE)->flags |= PTXI_IF_TOGETHER;
    ptxi_build_fence(b, inst->match);
}

void ptxi_lower_try_cancel(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_space space = ptxi_build_space(inst->match);
    uint32_t to = ptxi_build_generic_address(b, "a", space), mbarrier = ptxi_build_generic_address(b, "mbar", space);
    struct ptxi_ir_inst *i;

    if (to == PTXI_NONE || mbarrier == PTXI_NONE)
        return;
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, to, PTXI_NONE, mbarrier);
    i->mods = ptxi_build_has(inst->match, PTXI_Q_multicast__cluster__all);
    i->flags |= PTXI_IF_TOGETHER;
}

/* Word `which` of the answer that try_cancel has written. */
static void answer_word(struct ptxi_build *b, uint32_t d, uint32_t answer, unsigned which)
{
    struct ptxi_ir_inst *i = ptxi_build_pure(b, PTXI_OP_unpack_32, d, answer, PTXI_NONE, PTXI_NONE);

    i->mods = 16; /* bytes of the answer */
    i->imm = (int32_t)which;
}

static void answer_operand(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t answer, unsigned which)
{
    uint32_t d = ptxi_build_def(b, o, PTXI_RC_32);

    answer_word(b, d, answer, which);
    ptxi_build_def_end(b, o, d, PTXI_T_b32);
}

void ptxi_lower_query_cancel(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *p = ptxi_build_operand(b, "p"), *d = ptxi_build_operand(b, "d");
    uint32_t answer = ptxi_build_use(b, ptxi_build_operand(b, "a"), PTXI_RC_128);

    if (p) {
        uint32_t there = ptxi_build_temp(b, PTXI_RC_32);

        answer_word(b, there, answer, 3);
        ptxi_build_pure(b, PTXI_OP_setp_ne_i32, ptxi_build_def(b, p, PTXI_RC_PRED), there, ptxi_build_const(b, PTXI_RC_32, 0), PTXI_NONE)->imm = PTXI_NO_SLOT;
    } else if (d->form == PTXI_OPD_VECTOR) {
        for (unsigned e = 0; e < d->count; e++)
            answer_operand(b, &d->elements[e], answer, e);
    } else {
        answer_operand(b, d, answer, ptxi_build_has(m, PTXI_Q_get_first_ctaid__y) ? 1 : ptxi_build_has(m, PTXI_Q_get_first_ctaid__z) ? 2 : 0);
    }
}
