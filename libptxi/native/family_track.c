/* Tracking of writes (exec/track/). Native code has the usual case: a store of neighbouring lanes to a row. */
#include "exec/track/track.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* rcx + OF_RANGES(...) = a field of the list of the worker */
#define OF_RANGES(name) ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_tracker_head, ranges[0].name))

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* What to do if a condition holds. */
typedef void go_away(builder *c, uint32_t rare, enum ptxi_x86_condition condition);

static void fail(builder *c, uint32_t rare, enum ptxi_x86_condition condition)
{
    (void)rare;
    ptxi_native_fail(c, condition);
}

static void find_ranges(builder *c, go_away *go, uint32_t rare)
{
    const int32_t index = (int32_t)offsetof(struct ptxi_worker, index) - (int32_t)offsetof(struct ptxi_worker, hits);

    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(cta));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_cta, grid)));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_grid, tracker)));
    ptxi_x86_test(&c->x, 64, PTXI_RCX, PTXI_RCX);
    go(c, rare, PTXI_E);
    ptxi_x86_load(&c->x, 32, PTXI_RDX, ptxi_x86_at(PTXI_NATIVE_HITS, index));
    ptxi_x86_shl(&c->x, 64, PTXI_RDX, PTXI_TRACK_RANGES_SHIFT);
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RCX, reg(PTXI_RDX));
}

/* rcx: from find_ranges(). The worker notes edi bytes at rsi + the immediate. */
static void put_note(builder *c, insn *i, go_away *go, uint32_t rare)
{
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, reg(PTXI_RSI), i->imm);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_RANGES(next));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_RANGES(end));
    go(c, rare, PTXI_E);
    ptxi_x86_store(&c->x, 64, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, address)), PTXI_RSI);
    ptxi_x86_store(&c->x, 32, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, bytes)), PTXI_RDI);
    ptxi_x86_store_imm(&c->x, 32, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, place)),
                       (int32_t)(i->b | (uint32_t)i->c << 16));
    ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, OF_RANGES(next), sizeof(struct ptxi_track_range));
}

static void note(builder *c, insn *i, go_away *go, uint32_t rare)
{
    find_ranges(c, go, rare);
    put_note(c, i, go, rare);
}

/* The logarithm of the bytes of an element. */
static unsigned shift_of(insn *i)
{
    return (unsigned)__builtin_ctz(i->mods & PTXI_CHECK_BYTES);
}

/* rsi = how far the first active lane is from lane 0, edi = the bytes of the active lanes, which must be neighbours. */
static void find_run(builder *c, unsigned shift, go_away *go, uint32_t rare)
{
    if (!c->partial) {
        ptxi_x86_imm(&c->x, PTXI_RSI, 0);
        ptxi_x86_imm(&c->x, PTXI_RDI, PTXI_LANES << shift);
        return;
    }
    /* The sum of a mask and its lowest bit has other bits if its bits follow each other. */
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_load(&c->x, 32, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_not(&c->x, PTXI_RCX);
    ptxi_x86_alu_imm(&c->x, PTXI_ADD, 32, reg(PTXI_RCX), 1);
    ptxi_x86_alu(&c->x, PTXI_AND, 32, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_alu(&c->x, PTXI_ADD, 32, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_test(&c->x, 32, PTXI_RCX, PTXI_RAX);
    go(c, rare, PTXI_NE);
    ptxi_x86_tzcnt(&c->x, PTXI_RSI, PTXI_RAX);
    ptxi_x86_popcnt(&c->x, PTXI_RDI, PTXI_RAX);
    ptxi_x86_shl(&c->x, 64, PTXI_RSI, shift);
    ptxi_x86_shl(&c->x, 64, PTXI_RDI, shift);
}

/* Neighbouring lanes of a row. */
static void track_row(builder *c, insn *i, uint32_t rare)
{
    ptxi_native_check_row(c, i->a, rare);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), 1 << shift_of(i));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    find_run(c, shift_of(i), ptxi_native_jump_rare, rare);
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RSI, OF_ROW(i->a, first));
    note(c, i, ptxi_native_jump_rare, rare);
}

/* Fails unless active lane l of the slot has r8 + (l << shift). AVX2. */
static void expect_neighbours(builder *c, unsigned slot, unsigned shift)
{
    enum { FIRST, STEP, ALL, SCRATCH };

    ptxi_native_broadcast(c, FIRST, PTXI_R8, 64);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        const struct ptxi_x86_rm lanes = ptxi_native_frame(slot, k * c->bytes);

        ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, STEP, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, k * c->bytes / 2));
        if (shift == 3)
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, STEP, STEP, reg(STEP));
        ptxi_x86_vector(&c->x, PTXI_V_PADDQ, STEP, STEP, reg(FIRST));
        if (c->partial)
            ptxi_native_merge(c, STEP, lanes, k, 64, SCRATCH);
        ptxi_x86_vector(&c->x, PTXI_V_PCMPEQQ, k ? STEP : ALL, STEP, lanes);
        if (k)
            ptxi_x86_vector(&c->x, PTXI_V_PAND, ALL, ALL, reg(STEP));
    }
    ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPD, PTXI_RAX, 0, reg(ALL));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), 0xf);
    ptxi_native_fail(c, PTXI_NE);
}

/* Neighbouring lanes. */
static void note_neighbours(builder *c, insn *i, unsigned slot)
{
    find_run(c, shift_of(i), fail, 0);
    ptxi_native_load_first_active(c, slot);
    ptxi_x86_load(&c->x, 64, PTXI_R8, reg(PTXI_RAX));
    if (c->partial) {
        ptxi_x86_shl(&c->x, 64, PTXI_RCX, shift_of(i));
        ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_R8, reg(PTXI_RCX));
    }
    expect_neighbours(c, slot, shift_of(i));
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RSI, reg(PTXI_R8));
    note(c, i, fail, 0);
}

/* d = 0, 1, 2 ... times the bytes of an element */
static void put_steps(builder *c, unsigned d, unsigned shift)
{
    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, d, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 0));
    if (shift == 3)
        ptxi_x86_vector(&c->x, PTXI_V_PADDQ, d, d, reg(d));
}

/* AVX-512: active lanes that are not neighbours, as those of a compaction. Their elements must follow each other. */
static void note_packed(builder *c, insn *i, unsigned slot)
{
    enum { FOLLOWING, STEPS, WANTED, COUNT, ACTIVE = 1, OTHERS = 2 };
    const unsigned shift = shift_of(i);

    ptxi_native_load_first_active(c, slot);
    ptxi_x86_load(&c->x, 64, PTXI_RSI, reg(PTXI_RAX));
    ptxi_native_broadcast(c, FOLLOWING, PTXI_RSI, 64);
    put_steps(c, STEPS, shift);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        const unsigned active = ptxi_native_load_mask_register(c, k, 64, true);

        ptxi_x86_vector(&c->x, PTXI_V_PXOR, WANTED, WANTED, reg(WANTED));
        ptxi_x86_vector_masked(&c->x, PTXI_V_PEXPANDQ, WANTED, 0, reg(STEPS), -1, active);
        ptxi_x86_vector(&c->x, PTXI_V_PADDQ, WANTED, WANTED, reg(FOLLOWING));
        ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPQ, OTHERS, WANTED, ptxi_native_frame(slot, k * c->bytes),
                               PTXI_COMPARE_NE, active);
        ptxi_x86_kmovw_from(&c->x, k ? PTXI_RCX : PTXI_RAX, OTHERS);
        if (k)
            ptxi_x86_alu(&c->x, PTXI_OR, 32, PTXI_RAX, reg(PTXI_RCX));
        if (k + 1 < ptxi_native_parts(c, 64)) {
            ptxi_x86_load_part(&c->x, 8, PTXI_RCX, ptxi_native_on_stack(PTXI_STACK_ACTIVE + k));
            ptxi_x86_popcnt(&c->x, PTXI_RCX, PTXI_RCX);
            ptxi_x86_shl(&c->x, 32, PTXI_RCX, shift);
            ptxi_native_broadcast(c, COUNT, PTXI_RCX, 64);
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, FOLLOWING, FOLLOWING, reg(COUNT));
        }
    }
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_load(&c->x, 32, PTXI_RDI, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_popcnt(&c->x, PTXI_RDI, PTXI_RDI);
    ptxi_x86_shl(&c->x, 32, PTXI_RDI, shift);
    note(c, i, fail, 0);
}

/* AVX-512: r8d = the lanes whose element does not follow that of the lane before. */
static void find_starts(builder *c, unsigned slot, unsigned shift)
{
    enum { STEP, HERE, BEFORE, STARTS = 1 };
    struct ptxi_x86 *x = &c->x;

    ptxi_x86_imm(x, PTXI_RAX, UINT64_C(1) << shift);
    ptxi_native_broadcast(c, STEP, PTXI_RAX, 64);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        const struct ptxi_x86_rm lanes = ptxi_native_frame(slot, k * c->bytes);

        ptxi_x86_vector(x, PTXI_V_MOV, HERE, 0, lanes);
        ptxi_x86_vector_imm(x, PTXI_V_ALIGNQ, BEFORE, HERE, k ? ptxi_native_frame(slot, (k - 1) * c->bytes) : reg(HERE),
                            7);
        ptxi_x86_vector(x, PTXI_V_PADDQ, BEFORE, BEFORE, reg(STEP));
        ptxi_x86_vector_masked(x, PTXI_V_PCMPQ, STARTS, HERE, reg(BEFORE), PTXI_COMPARE_NE, 0);
        ptxi_x86_kmovw_from(x, k ? PTXI_RAX : PTXI_R8, STARTS);
        if (k) {
            ptxi_x86_shl(x, 32, PTXI_RAX, 8 * k);
            ptxi_x86_alu(x, PTXI_OR, 32, PTXI_R8, reg(PTXI_RAX));
        }
    }
    ptxi_x86_alu_imm(x, PTXI_OR, 32, reg(PTXI_R8), 1);
}

/* AVX-512: all lanes. Notes each run of elements that follow each other. */
static void note_runs(builder *c, insn *i, unsigned slot)
{
    struct ptxi_x86 *x = &c->x;
    uint32_t loop;

    find_starts(c, slot, shift_of(i));
    find_ranges(c, fail, 0);
    loop = x->size;
    ptxi_x86_tzcnt(x, PTXI_RDX, PTXI_R8);
    ptxi_x86_load(x, 64, PTXI_RSI, ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, 3, (int32_t)(slot * PTXI_UNIT)));
    ptxi_x86_lea(x, 32, PTXI_RAX, ptxi_x86_at(PTXI_R8, -1));
    ptxi_x86_alu(x, PTXI_AND, 32, PTXI_R8, reg(PTXI_RAX));
    ptxi_x86_tzcnt(x, PTXI_RDI, PTXI_R8); /* PTXI_LANES if there is no further run */
    ptxi_x86_alu(x, PTXI_SUB, 32, PTXI_RDI, reg(PTXI_RDX));
    ptxi_x86_shl(x, 32, PTXI_RDI, shift_of(i));
    put_note(c, i, fail, 0);
    ptxi_x86_test(x, 32, PTXI_R8, PTXI_R8);
    ptxi_x86_patch(x, ptxi_x86_jump_if(x, PTXI_NE), loop);
}

/* Lanes whose addresses are not in a row. */
static void track_lanes(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const bool in_register = i->mods & PTXI_CHECK_ROW;
    const unsigned slot = i->a + (in_register ? offsetof(struct ptxi_address, lanes) / PTXI_UNIT : 0);

    (void)first, (void)second;
    if (in_register)
        ptxi_native_expect_lanes(c, i->a);
    if (!c->x.wide)
        note_neighbours(c, i, slot);
    else if (c->partial)
        note_packed(c, i, slot);
    else
        note_runs(c, i, slot);
}

/* A weak store to neighbouring elements: the worker notes their bytes. */
bool ptxi_native_emit_track_write(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const unsigned size = i->mods & PTXI_CHECK_BYTES;
    const unsigned kind = i->mods & (PTXI_CHECK_WRITE | 3 << PTXI_CHECK_STRENGTH_SHIFT);
    uint32_t rare;

    if (kind != PTXI_CHECK_WRITE || (size != 4 && size != 8))
        return false;
    if (i->mods & PTXI_CHECK_ROW) {
        rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
        if (!c->region.exit || c->x.wide) /* lanes on one of several paths are rarely neighbours */
            ptxi_native_try_lanes(c, rare, track_lanes);
        track_row(c, i, rare);
        ptxi_native_resume(c, rare);
    } else {
        ptxi_native_put_lanes(c, i, track_lanes, first, second);
    }
    return true;
}
