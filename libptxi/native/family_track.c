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

/* The worker notes edi bytes at rsi + the immediate. */
static void note(builder *c, insn *i, go_away *go, uint32_t rare)
{
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, reg(PTXI_RSI), i->imm);
    find_ranges(c, go, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_RANGES(next));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_RANGES(end));
    go(c, rare, PTXI_E);
    ptxi_x86_store(&c->x, 64, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, address)), PTXI_RSI);
    ptxi_x86_store(&c->x, 32, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, bytes)), PTXI_RDI);
    ptxi_x86_store_imm(&c->x, 32, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, place)),
                       (int32_t)(i->b | (uint32_t)i->c << 16));
    ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, OF_RANGES(next), sizeof(struct ptxi_track_range));
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

/* Fails unless active lane l of the slot has r8 + (l << shift). */
static void expect_neighbours(builder *c, unsigned slot, unsigned shift)
{
    enum { FIRST, STEP, ALL, SCRATCH, MASK = 1 };

    ptxi_native_broadcast(c, FIRST, PTXI_R8, 64);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        const struct ptxi_x86_rm lanes = ptxi_native_frame(slot, k * c->bytes);

        ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, STEP, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, k * c->bytes / 2));
        if (shift == 3)
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, STEP, STEP, reg(STEP));
        ptxi_x86_vector(&c->x, PTXI_V_PADDQ, STEP, STEP, reg(FIRST));
        if (c->partial)
            ptxi_native_merge(c, STEP, lanes, k, 64, SCRATCH);
        if (c->x.wide)
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPQ, MASK, STEP, lanes, PTXI_COMPARE_EQ, k ? MASK : 0);
        else
            ptxi_x86_vector(&c->x, PTXI_V_PCMPEQQ, k ? STEP : ALL, STEP, lanes);
        if (k && !c->x.wide)
            ptxi_x86_vector(&c->x, PTXI_V_PAND, ALL, ALL, reg(STEP));
    }
    if (c->x.wide)
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, MASK);
    else
        ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPD, PTXI_RAX, 0, reg(ALL));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), c->x.wide ? 0xff : 0xf);
    ptxi_native_fail(c, PTXI_NE);
}

/* Lanes whose addresses follow each other. */
static void track_lanes(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const bool in_register = i->mods & PTXI_CHECK_ROW;
    const unsigned slot = i->a + (in_register ? offsetof(struct ptxi_address, lanes) / PTXI_UNIT : 0);

    (void)first, (void)second;
    find_run(c, shift_of(i), fail, 0);
    if (in_register)
        ptxi_native_expect_lanes(c, i->a);
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
        if (!c->region.exit) /* lanes on one of several paths are rarely neighbours */
            ptxi_native_try_lanes(c, rare, track_lanes);
        track_row(c, i, rare);
        ptxi_native_resume(c, rare);
    } else {
        ptxi_native_put_lanes(c, i, track_lanes, first, second);
    }
    return true;
}
