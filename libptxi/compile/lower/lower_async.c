/* Asynchronous copies, stores and reductions, tensor maps, mbarrier, and clusterlaunchcontrol. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <string.h>

/* --- cp.async --- */

/* a: destination, imm: its offset; b: source; c: bytes of the source, or a predicate; mods as in bytecode.h. */
void ptxi_lower_rule_cp_async(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *bytes = ptxi_lower_operand(l, PTXI_OPERAND_src_size);
    const struct ptxi_operand *ignore = ptxi_lower_operand(l, PTXI_OPERAND_ignore_src);
    uint16_t mods = (uint16_t)ptxi_lower_operand(l, PTXI_OPERAND_cp_size)->imm;
    uint32_t from = ptxi_lower_address_in_space(l, PTXI_OPERAND_src, PTXI_SPACE_GLOBAL), c = PTXI_NONE;
    struct ptxi_lower_mem to;
    struct ptxi_ir_inst *i;

    if (from == PTXI_NONE || !ptxi_lower_address(l, ptxi_lower_operand(l, PTXI_OPERAND_dst)->address, PTXI_SPACE_SHARED,
                                                 &to))
        return;
    if (bytes && (bytes->form != PTXI_OPD_IMM || bytes->imm < mods)) {
        c = ptxi_lower_use(l, bytes, PTXI_RC_32);
    } else if (ignore) {
        uint16_t negated = 0;

        c = ptxi_lower_use_predicate(l, ignore, &negated);
        mods |= PTXI_CP_ASYNC_IGNORE;
        if (negated)
            mods |= PTXI_CP_ASYNC_NOT;
    }
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, to.base, from, c);
    i->imm = to.offset;
    i->mods = mods;
    ptxi_lower_note_access(l, i, &to, mods & PTXI_CP_ASYNC_SIZE, 0);
}

/* Waits for copies of cp.async and of bulk copies; imm and mods as in bytecode.h. */
void ptxi_lower_rule_cp_async_wait(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *n = ptxi_lower_operand(l, PTXI_OPERAND_n);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    if (n)
        i->imm = n->imm > INT32_MAX ? INT32_MAX : (int32_t)n->imm;
    else
        i->mods = PTXI_WAIT_COMMITS;
    if (ptxi_isa_has_word(inst->match, PTXI_Q_read))
        i->mods |= PTXI_WAIT_READ;
    i->flags |= PTXI_IF_TOGETHER;
}

/* --- mbarrier --- */

static uint16_t mbarrier_mods(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, mod;
    } words[] = {
        { PTXI_Q_arrive_drop, PTXI_MBARRIER_DROP },    { PTXI_Q_noComplete, PTXI_MBARRIER_NO_COMPLETE },
        { PTXI_Q_expect_tx, PTXI_MBARRIER_EXPECT_TX }, { PTXI_Q_parity, PTXI_MBARRIER_PARITY },
        { PTXI_Q_noinc, PTXI_MBARRIER_NO_INC },        { PTXI_Q_layout__v1, PTXI_MBARRIER_LAYOUT_1 },
        { PTXI_Q_phase_type__conditional, PTXI_MBARRIER_CONDITIONAL },
    };
    uint16_t mods = 0;

    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptxi_isa_has_word(m, words[k].word))
            mods |= words[k].mod;
    return mods;
}

/* The count, state or parity that the instruction reads, or PTXI_NONE. */
static uint32_t mbarrier_source(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const enum ptxi_operand_resolve_name names[] = { PTXI_OPERAND_count, PTXI_OPERAND_tx_count,
                                                            PTXI_OPERAND_state, PTXI_OPERAND_parity };

    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
        const struct ptxi_operand *o = ptxi_lower_operand(l, names[k]);

        /* the first operand is a result */
        if (o && o != &inst->operands[0])
            return ptxi_lower_use(l, o, ptxi_ir_class_of(ptxi_lower_operand_type(l, names[k])));
    }
    return PTXI_NONE;
}

/* The other results of a wait for the primary phase: whether there was a report, and its value. Copies report without
 * a value, so that it is 0. */
static void lower_report(struct ptxi_lower *l, struct ptxi_ir_inst *wait)
{
    const struct ptxi_operand *seen = ptxi_lower_operand(l, PTXI_OPERAND_seen);
    const struct ptxi_operand *report = ptxi_lower_operand(l, PTXI_OPERAND_report);
    uint32_t d;

    if (seen && seen->form == PTXI_OPD_REG) {
        wait->mods |= PTXI_MBARRIER_REPORT;
        d = ptxi_lower_def(l, seen, PTXI_RC_PRED);
        ptxi_lower_op(l, PTXI_OP_mbarrier_report, d, PTXI_NONE, PTXI_NONE, PTXI_NONE)->flags |=
            PTXI_IF_TOGETHER | PTXI_IF_READS;
        ptxi_lower_end_def(l, seen, d, PTXI_T_pred);
    }
    if (report && report->form == PTXI_OPD_REG) {
        enum ptxi_type type = ptxi_lower_operand_type(l, PTXI_OPERAND_report);

        d = ptxi_lower_def(l, report, ptxi_ir_class_of(type));
        ptxi_lower_move(l, d, ptxi_lower_const(l, ptxi_ir_class_of(type), 0));
        ptxi_lower_end_def(l, report, d, type);
    }
}

uint32_t ptxi_lower_cta_mask(struct ptxi_lower *l)
{
    const struct ptxi_operand *mask = ptxi_lower_operand(l, PTXI_OPERAND_cta_mask);
    enum ptxi_class class;

    if (!mask)
        return PTXI_NONE;
    class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_cta_mask));
    return ptxi_lower_fit(l, ptxi_lower_use(l, mask, class), PTXI_RC_32);
}

/* d: result or none; a: the mbarrier, imm: its offset; b: count, state or parity; c: mask of CTAs or none; mods as in
 * bytecode.h. */
void ptxi_lower_rule_mbarrier(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *address = ptxi_lower_operand(l, PTXI_OPERAND_a);
    const struct ptxi_opspec *result = &inst->match->row->specs[0];
    uint32_t d = PTXI_NONE, source;
    struct ptxi_lower_mem mem = { .base = PTXI_NONE, .space = PTXI_SPACE_SHARED };
    struct ptxi_ir_inst *i;

    if (address && !ptxi_lower_memory_operand(l, address, false, &mem))
        return;
    source = mbarrier_source(l, inst);
    if (inst->operand_count && result->flags & PTXI_OPF_WRITE && inst->operands[0].form == PTXI_OPD_REG)
        d = ptxi_lower_def(l, &inst->operands[0], ptxi_ir_class_of(ptxi_isa_operand_type(inst->match, result)));
    if (address)
        i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, mem.base, source, ptxi_lower_cta_mask(l));
    else
        i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, source, PTXI_NONE, PTXI_NONE);
    i->imm = mem.offset;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->mods = mbarrier_mods(inst->match);
    if (mem.space == PTXI_SPACE_GENERIC)
        i->mods |= PTXI_MBARRIER_GENERIC;
    lower_report(l, i);
}

/* --- bulk copies --- */

/* The state space in a slot. */
static enum ptxi_space space_in_slot(const struct ptxi_match *m, enum ptxi_slot_name slot)
{
    switch (ptxi_isa_slot_word(m, slot)) {
    case PTXI_Q_global: return PTXI_SPACE_GLOBAL;
    case PTXI_Q_shared__cluster: return PTXI_SPACE_CLUSTER;
    case PTXI_Q_shared__cta: return PTXI_SPACE_SHARED;
    default: return PTXI_SPACE_GENERIC;
    }
}

/* mods: the reduction of a bulk copy or of st.async; `plain` is the operation that only copies. */
static uint16_t reduction_mods(uint16_t op, uint16_t plain)
{
    return op == plain ? 0 : (uint16_t)(op << PTXI_BULK_REDUCE);
}

static enum ptxi_copy_report report_of(const struct ptxi_match *m)
{
    switch (ptxi_isa_slot_word(m, PTXI_SLOT_report)) {
    case PTXI_Q_mbarrier__report__validity__per_element__ff: return PTXI_REPORT_FF;
    case PTXI_Q_mbarrier__report__validity__per_16bytes__8: return PTXI_REPORT_NEGATIVE_ZERO_4;
    case PTXI_Q_mbarrier__report__validity__per_16bytes__80: return PTXI_REPORT_NEGATIVE_ZERO_8;
    case PTXI_Q_mbarrier__report__validity__per_16bytes__8000: return PTXI_REPORT_NEGATIVE_ZERO_16;
    case PTXI_Q_mbarrier__report__validity__per_16bytes__80000000: return PTXI_REPORT_NEGATIVE_ZERO_32;
    default: return PTXI_REPORT_NONE;
    }
}

/* The operands of .ignore_oob, instead of a mask and a report. */
static void set_ends(struct ptxi_ir_inst *i, uint32_t left, uint32_t right)
{
    i->imm = -1; /* PTXI_NO_SLOT twice */
    ptxi_ir_set_read(i, PTXI_F_IMM, left);
    ptxi_ir_set_read(i, PTXI_F_IMM_HI, right);
    i->mods |= PTXI_BULK_ENDS;
}

/* Fields as in bytecode.h. */
void ptxi_lower_rule_bulk(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *byte_mask = ptxi_lower_operand(l, PTXI_OPERAND_byte_mask),
                              *left = ptxi_lower_operand(l, PTXI_OPERAND_left);
    uint32_t to = ptxi_lower_generic_address(l, PTXI_OPERAND_dst, space_in_slot(m, PTXI_SLOT_dst));
    uint32_t from = ptxi_lower_generic_address(l, PTXI_OPERAND_src, space_in_slot(m, PTXI_SLOT_src));
    bool has_mbarrier = ptxi_lower_operand(l, PTXI_OPERAND_mbar) != NULL;
    uint32_t mbarrier = PTXI_NONE, ends[2] = { PTXI_NONE, PTXI_NONE }, size, cta_mask, v;
    struct ptxi_ir_inst *i;

    if (has_mbarrier)
        mbarrier = ptxi_lower_generic_address(l, PTXI_OPERAND_mbar, space_in_slot(m, PTXI_SLOT_dst));
    if (to == PTXI_NONE || from == PTXI_NONE || (has_mbarrier && mbarrier == PTXI_NONE))
        return;
    size = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_size), PTXI_RC_32);
    cta_mask = ptxi_lower_cta_mask(l);
    v = byte_mask ? ptxi_lower_use(l, byte_mask, PTXI_RC_16) : cta_mask;
    if (left) {
        ends[0] = ptxi_lower_use(l, left, PTXI_RC_32);
        ends[1] = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_right), PTXI_RC_32);
    }
    i = ptxi_lower_op(l, PTXI_OP_bulk_copy, PTXI_NONE, to, from, mbarrier);
    ptxi_ir_set_read(i, PTXI_F_D, size);
    i->imm = PTXI_NO_SLOT | (int32_t)report_of(m) << 16;
    ptxi_ir_set_read(i, PTXI_F_IMM, v);
    i->mods = reduction_mods(ptxi_isa_op(m), PTXI_OP_bulk_copy);
    if (cta_mask != PTXI_NONE)
        i->mods |= PTXI_BULK_MULTICAST;
    if (byte_mask)
        i->mods |= PTXI_BULK_BYTE_MASK;
    if (left)
        set_ends(i, ends[0], ends[1]);
    i->flags |= PTXI_IF_TOGETHER;
}

void ptxi_lower_rule_async_store(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_D, PTXI_F_IMM, PTXI_F_IMM_HI };
    static const uint8_t widths[PTXI_RC_COUNT] = { [PTXI_RC_64] = 1, [PTXI_RC_128] = 2 };
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *o = ptxi_lower_operand(l, PTXI_OPERAND_b);
    const struct ptxi_operand *values = o->form == PTXI_OPD_VECTOR ? o->elements : o;
    unsigned count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_b));
    uint32_t to = ptxi_lower_generic_address(l, PTXI_OPERAND_a, ptxi_lower_space(m));
    uint32_t mbarrier = ptxi_lower_generic_address(l, PTXI_OPERAND_mbar, ptxi_lower_space(m)), v[sizeof fields];
    struct ptxi_ir_inst *i;

    if (to == PTXI_NONE || mbarrier == PTXI_NONE)
        return;
    assert(count <= sizeof fields);
    for (unsigned e = 0; e < count; e++)
        v[e] = ptxi_lower_use(l, &values[e], class);
    i = ptxi_lower_op(l, PTXI_OP_async_store, PTXI_NONE, to, PTXI_NONE, mbarrier);
    i->imm = -1; /* PTXI_NO_SLOT twice */
    for (unsigned e = 0; e < count; e++)
        ptxi_ir_set_read(i, fields[e], v[e]);
    i->mods = (uint16_t)(reduction_mods(ptxi_isa_op(m), PTXI_OP_async_store) | widths[class]);
    i->flags |= PTXI_IF_TOGETHER;
}

/* a: destination, a generic address; b: bytes. */
void ptxi_lower_rule_bulk_zero(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t to = ptxi_lower_generic_address(l, PTXI_OPERAND_a, ptxi_lower_space(inst->match)), size;
    struct ptxi_ir_inst *i;

    if (to == PTXI_NONE)
        return;
    size = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_size),
                          ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_size)));
    size = ptxi_lower_fit(l, size, PTXI_RC_64);
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, to, size, PTXI_NONE);
    i->flags |= PTXI_IF_TOGETHER;
}

/* --- tensor copies --- */

/* The reduction as exec/async/tensor_map.h numbers it from 1 on; 0: none. */
static unsigned tensor_reduction(const struct ptxi_match *m)
{
    static const uint16_t words[] = { PTXI_Q_and, PTXI_Q_or, PTXI_Q_xor, PTXI_Q_add, PTXI_Q_inc, PTXI_Q_dec, PTXI_Q_min,
                                      PTXI_Q_max };

    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptxi_isa_has_word(m, words[k]))
            return k + 1;
    return 0;
}

enum { MAX_COORDS = 5 };

/* The arguments of a tensor copy, PTXI_NONE where there is none. */
struct tensor_arguments {
    uint32_t v[PTXI_TENSOR_ARGUMENTS];
};

/* One operation has no room for all arguments. Operations directly before it keep them for it. */
static void keep_arguments(struct ptxi_lower *l, const struct tensor_arguments *a, enum ptxi_tensor_argument first)
{
    static const uint8_t fields[MAX_COORDS] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_IMM };
    struct ptxi_ir_inst *i;

    if (a->v[first] == PTXI_NONE)
        return;
    i = ptxi_lower_op(l, PTXI_OP_tensor_coords, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->imm = PTXI_NO_SLOT;
    i->mods = first;
    for (unsigned d = 0; d < MAX_COORDS && first + d < PTXI_TENSOR_ARGUMENTS && a->v[first + d] != PTXI_NONE; d++)
        ptxi_ir_set_read(i, fields[d], a->v[first + d]);
    i->flags |= PTXI_IF_TOGETHER;
}

/* The elements of a vector, extended to 32 bits. */
static void use_vector(struct ptxi_lower *l, const struct ptxi_operand *o, enum ptxi_class class, uint32_t *v)
{
    assert(!o || o->count <= MAX_COORDS);
    for (unsigned d = 0; o && d < o->count; d++)
        v[d] = ptxi_lower_fit(l, ptxi_lower_use(l, &o->elements[d], class), PTXI_RC_32);
}

/* PTX ISA, "Overriding tensor property value" */
static void use_overrides(struct ptxi_lower *l, struct tensor_arguments *a)
{
    const struct ptxi_operand *address = ptxi_lower_operand(l, PTXI_OPERAND_address);
    const struct ptxi_operand *upper = ptxi_lower_operand(l, PTXI_OPERAND_upper);
    uint32_t whole;

    if (!address)
        return;
    whole = ptxi_lower_fit(l, ptxi_lower_use(l, address, ptxi_ir_class_of(address->type)), PTXI_RC_64);
    for (int k = 0; k < 2; k++) {
        struct ptxi_ir_inst *i;

        a->v[PTXI_TENSOR_NEW_ADDRESS + k] = ptxi_lower_temp(l, PTXI_RC_32);
        i = ptxi_lower_pure_op(l, PTXI_OP_unpack_32, a->v[PTXI_TENSOR_NEW_ADDRESS + k], whole, PTXI_NONE, PTXI_NONE);
        i->imm = k;
        i->mods = sizeof(uint64_t);
    }
    use_vector(l, ptxi_lower_operand(l, PTXI_OPERAND_sizes), PTXI_RC_16, &a->v[PTXI_TENSOR_NEW_SIZES]);
    use_vector(l, ptxi_lower_operand(l, PTXI_OPERAND_strides), PTXI_RC_32, &a->v[PTXI_TENSOR_NEW_STRIDES]);
    if (upper)
        a->v[PTXI_TENSOR_UPPER_STRIDES] = ptxi_lower_fit(l, ptxi_lower_use(l, upper, PTXI_RC_16), PTXI_RC_32);
}

static unsigned tensor_overrides(const struct ptxi_match *m)
{
    bool sizes = ptxi_isa_has_word(m, PTXI_Q_override__global_dim) ||
                 ptxi_isa_has_word(m, PTXI_Q_override__global_dim_stride);

    return (ptxi_isa_has_word(m, PTXI_Q_override__global_address) ? PTXI_TENSOR_OVERRIDE : 0) |
           (sizes ? PTXI_TENSOR_OVERRIDE_SIZES : 0);
}

static unsigned tensor_mode(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, mod;
    } modes[] = {
        { PTXI_Q_tile__gather4, PTXI_TENSOR_ROWS },      { PTXI_Q_tile__scatter4, PTXI_TENSOR_ROWS },
        { PTXI_Q_im2col, PTXI_TENSOR_IM2COL },           { PTXI_Q_im2col_no_offs, PTXI_TENSOR_IM2COL },
        { PTXI_Q_im2col__w, PTXI_TENSOR_WIDE },          { PTXI_Q_im2col__w__128, PTXI_TENSOR_W128 },
        { PTXI_Q_im2col_no_offs__w, PTXI_TENSOR_WIDE },
        { PTXI_Q_cta_group__2, PTXI_TENSOR_PAIR },
    };
    unsigned mods = 0;

    for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++)
        if (ptxi_isa_has_word(m, modes[k].word))
            mods |= modes[k].mod;
    return mods;
}

/* Offsets of im2col. */
static const struct ptxi_operand *im2col_offsets(const struct ptxi_lower *l)
{
    const struct ptxi_operand *offsets = ptxi_lower_operand(l, PTXI_OPERAND_offsets);

    return offsets ? offsets : ptxi_lower_operand(l, PTXI_OPERAND_halo_offset);
}

void ptxi_lower_rule_tensor(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const enum ptxi_tensor_argument groups[] = {
        PTXI_TENSOR_FIRST_COORD, PTXI_TENSOR_FIRST_OFFSET, PTXI_TENSOR_NEW_ADDRESS,
        PTXI_TENSOR_NEW_SIZES,   PTXI_TENSOR_NEW_STRIDES,  PTXI_TENSOR_UPPER_STRIDES,
    };
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *c = ptxi_lower_operand(l, PTXI_OPERAND_c);
    bool store = ptxi_isa_slot_word(m, PTXI_SLOT_dst) == PTXI_Q_global;
    enum ptxi_space box_space = space_in_slot(m, store ? PTXI_SLOT_src : PTXI_SLOT_dst);
    uint32_t box = ptxi_lower_generic_address(l, store ? PTXI_OPERAND_src : PTXI_OPERAND_dst, box_space);
    uint32_t map = ptxi_lower_generic_address(l, PTXI_OPERAND_map, PTXI_SPACE_GENERIC);
    uint32_t mbarrier = store ? PTXI_NONE : ptxi_lower_generic_address(l, PTXI_OPERAND_mbar, box_space);
    uint32_t cta_mask;
    struct tensor_arguments a;
    struct ptxi_ir_inst *i;

    if (box == PTXI_NONE || map == PTXI_NONE || (!store && mbarrier == PTXI_NONE))
        return;
    cta_mask = ptxi_lower_cta_mask(l);
    memset(&a, 0xff, sizeof a);
    use_vector(l, c, PTXI_RC_32, &a.v[PTXI_TENSOR_FIRST_COORD]);
    use_vector(l, im2col_offsets(l), PTXI_RC_16, &a.v[PTXI_TENSOR_FIRST_OFFSET]);
    use_overrides(l, &a);
    for (unsigned k = 0; k < sizeof groups / sizeof *groups; k++)
        keep_arguments(l, &a, groups[k]);
    i = ptxi_lower_op(l, ptxi_isa_op(m), PTXI_NONE, box, map, mbarrier);
    ptxi_ir_set_read(i, PTXI_F_D, cta_mask);
    i->imm = c->count;
    i->mods = (uint16_t)((store ? PTXI_TENSOR_STORE : 0) | tensor_mode(m) | tensor_overrides(m) |
                         tensor_reduction(m) << PTXI_TENSOR_REDUCE | report_of(m) << PTXI_TENSOR_REPORT);
    i->flags |= PTXI_IF_TOGETHER;
}

/* --- tensor maps --- */

static enum ptxi_tensor_field tensor_field(const struct ptxi_match *m)
{
    static const uint16_t words[] = {
        [PTXI_TENSOR_ADDRESS] = PTXI_Q_global_address, [PTXI_TENSOR_RANK] = PTXI_Q_rank,
        [PTXI_TENSOR_BOX] = PTXI_Q_box_dim,            [PTXI_TENSOR_SIZE] = PTXI_Q_global_dim,
        [PTXI_TENSOR_STRIDE] = PTXI_Q_global_stride,   [PTXI_TENSOR_STEP] = PTXI_Q_element_stride,
        [PTXI_TENSOR_TYPE] = PTXI_Q_elemtype,          [PTXI_TENSOR_INTERLEAVE] = PTXI_Q_interleave_layout,
        [PTXI_TENSOR_SWIZZLE] = PTXI_Q_swizzle_mode,   [PTXI_TENSOR_ATOM] = PTXI_Q_swizzle_atomicity,
        [PTXI_TENSOR_FILL] = PTXI_Q_fill_mode,
    };
    unsigned k = 0;

    while (k < sizeof words / sizeof *words && !ptxi_isa_has_word(m, words[k]))
        k++;
    assert(k < sizeof words / sizeof *words);
    return (enum ptxi_tensor_field)k;
}

void ptxi_lower_rule_tensormap_replace(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *ord = ptxi_lower_operand(l, PTXI_OPERAND_ord);
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_new_val));
    uint32_t map = ptxi_lower_generic_address(l, PTXI_OPERAND_a, ptxi_lower_space(inst->match)), value;
    struct ptxi_ir_inst *i;

    if (map == PTXI_NONE)
        return;
    value = ptxi_lower_fit(l, ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_new_val), class), PTXI_RC_64);
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, map, value, PTXI_NONE);
    i->imm = ord ? (int32_t)ord->imm : 0;
    i->mods = tensor_field(inst->match);
    i->flags |= PTXI_IF_TOGETHER;
}

/* a: destination, b: source, both generic addresses. */
void ptxi_lower_rule_tensormap_copy(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t to = ptxi_lower_generic_address(l, PTXI_OPERAND_dst, PTXI_SPACE_GLOBAL);
    uint32_t from = ptxi_lower_generic_address(l, PTXI_OPERAND_src, PTXI_SPACE_SHARED);

    if (to != PTXI_NONE && from != PTXI_NONE)
        ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, to, from, PTXI_NONE)->flags |= PTXI_IF_TOGETHER;
    ptxi_lower_fence(l, inst->match, 0);
}

/* --- clusterlaunchcontrol --- */

void ptxi_lower_rule_try_cancel(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_space space = ptxi_lower_space(inst->match);
    uint32_t to = ptxi_lower_generic_address(l, PTXI_OPERAND_a, space);
    uint32_t mbarrier = ptxi_lower_generic_address(l, PTXI_OPERAND_mbar, space);
    struct ptxi_ir_inst *i;

    if (to == PTXI_NONE || mbarrier == PTXI_NONE)
        return;
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, to, PTXI_NONE, mbarrier);
    i->mods = ptxi_isa_has_word(inst->match, PTXI_Q_multicast__cluster__all);
    i->flags |= PTXI_IF_TOGETHER;
}

/* The answer of try_cancel: the coordinates of a CTA, then whether there is one. */
enum { ANSWER_X, ANSWER_Y, ANSWER_Z, ANSWER_VALID, ANSWER_BYTES = 16 };

/* d = word `which` of the answer. */
static void answer_word(struct ptxi_lower *l, uint32_t d, uint32_t answer, unsigned which)
{
    struct ptxi_ir_inst *i = ptxi_lower_pure_op(l, PTXI_OP_unpack_32, d, answer, PTXI_NONE, PTXI_NONE);

    i->mods = ANSWER_BYTES;
    i->imm = (int32_t)which;
}

static void answer_operand(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t answer, unsigned which)
{
    uint32_t d = ptxi_lower_def(l, o, PTXI_RC_32);

    answer_word(l, d, answer, which);
    ptxi_lower_end_def(l, o, d, PTXI_T_b32);
}

static unsigned answer_coordinate(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_get_first_ctaid__y))
        return ANSWER_Y;
    return ptxi_isa_has_word(m, PTXI_Q_get_first_ctaid__z) ? ANSWER_Z : ANSWER_X;
}

void ptxi_lower_rule_query_cancel(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *p = ptxi_lower_operand(l, PTXI_OPERAND_p), *d = ptxi_lower_operand(l, PTXI_OPERAND_d);
    uint32_t answer = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_a), PTXI_RC_128);

    if (p) {
        uint32_t valid = ptxi_lower_temp(l, PTXI_RC_32);

        answer_word(l, valid, answer, ANSWER_VALID);
        ptxi_lower_pure_op(l, PTXI_OP_setp_ne_i32, ptxi_lower_def(l, p, PTXI_RC_PRED), valid,
                           ptxi_lower_const(l, PTXI_RC_32, 0), PTXI_NONE)->imm = PTXI_NO_SLOT;
    } else if (d->form == PTXI_OPD_VECTOR) {
        for (unsigned e = 0; e < d->count; e++)
            answer_operand(l, &d->elements[e], answer, e);
    } else {
        answer_operand(l, d, answer, answer_coordinate(inst->match));
    }
}
