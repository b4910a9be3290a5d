/* Tracking of writes (exec/track/). Native code has the usual case: a store of neighbouring lanes to a row. */
#include <assert.h>

#include "exec/track/track.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* rcx: the ranges of the worker, from find_ranges() */
#define OF_RANGES(name) ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_track_ranges, name))

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

static void find_ranges(builder *c)
{
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(noted));
}

enum { BYTES_IN_EDI = 0 };

/* rdx = where the worker notes a range. There is no room if the launch is not tracked. */
static void find_room(builder *c, go_away *go, uint32_t rare)
{
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_RANGES(next));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_RANGES(end));
    go(c, rare, PTXI_E);
}

/* Notes bytes at rsi there. */
static void put_range(builder *c, insn *i, unsigned bytes)
{
    const struct ptxi_x86_rm to = ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, bytes));

    ptxi_x86_store(&c->x, 64, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, address)), PTXI_RSI);
    if (bytes != BYTES_IN_EDI)
        ptxi_x86_store_imm(&c->x, 32, to, (int32_t)bytes);
    else
        ptxi_x86_store(&c->x, 32, to, PTXI_RDI);
    ptxi_x86_store_imm(&c->x, 32, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, place)),
                       (int32_t)(i->b | (uint32_t)i->c << 16));
    ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, OF_RANGES(next), sizeof(struct ptxi_track_range));
}

/* rsi += the immediate */
static void add_immediate(builder *c, insn *i)
{
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, reg(PTXI_RSI), i->imm);
}

static void note(builder *c, insn *i, unsigned bytes, go_away *go, uint32_t rare)
{
    add_immediate(c, i);
    find_ranges(c);
    find_room(c, go, rare);
    put_range(c, i, bytes);
}

enum { MOST_UNKNOWN = 4 };

/* Jumps. */
struct jumps {
    uint32_t at[MOST_UNKNOWN];
    unsigned count;
};

static void jump_away(builder *c, struct jumps *j, enum ptxi_x86_condition condition)
{
    assert(j->count < MOST_UNKNOWN);
    j->at[j->count++] = ptxi_x86_jump_if(&c->x, condition);
}

static void lead_here(builder *c, const struct jumps *j)
{
    for (unsigned k = 0; k < j->count; k++)
        ptxi_x86_patch(&c->x, j->at[k], c->x.size);
}

/* rdx: from find_room(). Writes a row at rsi to its page, as ptxi_track_write_row() does. The jumps are those for what
 * must be noted. */
static struct jumps write_row(builder *c, insn *i, unsigned bytes)
{
    const uint32_t whole = (i->b | (uint32_t)i->c << 16) << PTXI_TRACK_PLACE | PTXI_TRACK_MASK;
    struct ptxi_x86 *x = &c->x;
    struct jumps unknown = { .count = 0 };

    ptxi_x86_alu(x, PTXI_CMP, 64, PTXI_RDX, OF_RANGES(direct));
    jump_away(c, &unknown, PTXI_NE);
    ptxi_x86_test_imm(x, reg(PTXI_RSI), PTXI_TRACK_BLOCK - 1);
    jump_away(c, &unknown, PTXI_NE);
    ptxi_x86_load(x, 64, PTXI_RDI, reg(PTXI_RSI));
    ptxi_x86_shr(x, 64, PTXI_RDI, __builtin_ctz(PTXI_TRACK_PAGE));
    ptxi_x86_load(x, 32, PTXI_RAX, reg(PTXI_RDI));
    ptxi_x86_alu_imm(x, PTXI_AND, 32, reg(PTXI_RAX), PTXI_TRACK_KNOWN - 1);
    ptxi_x86_shl(x, 64, PTXI_RAX, PTXI_TRACK_KNOWN_SHIFT);
    ptxi_x86_alu(x, PTXI_ADD, 64, PTXI_RAX, OF_RANGES(end));
    ptxi_x86_alu(x, PTXI_CMP, 64, PTXI_RDI, ptxi_x86_at(PTXI_RAX, offsetof(struct ptxi_track_known, number)));
    jump_away(c, &unknown, PTXI_NE);
    ptxi_x86_load(x, 32, PTXI_RDI, reg(PTXI_RSI));
    ptxi_x86_alu_imm(x, PTXI_AND, 32, reg(PTXI_RDI), PTXI_TRACK_PAGE - 1);
    ptxi_x86_alu_imm(x, PTXI_CMP, 32, reg(PTXI_RDI), (int32_t)(PTXI_TRACK_PAGE - bytes));
    jump_away(c, &unknown, PTXI_A);
    ptxi_x86_shr(x, 32, PTXI_RDI, __builtin_ctz(PTXI_TRACK_BLOCK));
    ptxi_x86_load(x, 64, PTXI_RAX, ptxi_x86_at(PTXI_RAX, offsetof(struct ptxi_track_known, blocks)));
    ptxi_x86_lea(x, 64, PTXI_RAX, ptxi_x86_scaled(PTXI_RAX, PTXI_RDI, 2, 0));
    ptxi_x86_imm(x, PTXI_RDI, whole * UINT64_C(0x100000001));
    for (unsigned k = 0; k < bytes / PTXI_TRACK_BLOCK; k += 2)
        ptxi_x86_store(x, 64, ptxi_x86_at(PTXI_RAX, (int32_t)(k * sizeof whole)), PTXI_RDI);
    return unknown;
}

/* The row of all lanes at rsi. */
static void note_row(builder *c, insn *i, unsigned bytes, uint32_t rare)
{
    struct jumps unknown;
    uint32_t done;

    add_immediate(c, i);
    find_ranges(c);
    find_room(c, ptxi_native_jump_rare, rare);
    unknown = write_row(c, i, bytes);
    done = ptxi_x86_jump(&c->x);
    lead_here(c, &unknown);
    put_range(c, i, bytes);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* The logarithm of the bytes of an element. */
static unsigned shift_of(insn *i)
{
    return (unsigned)__builtin_ctz(i->mods & PTXI_CHECK_BYTES);
}

/* Partial code: rsi = how far the first active lane is from lane 0, edi = the bytes of the active lanes, which must be
 * neighbours. */
static void find_run(builder *c, unsigned shift, go_away *go, uint32_t rare)
{
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
    const unsigned shift = shift_of(i);

    ptxi_native_check_row(c, i->a, rare);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), 1 << shift);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    if (c->partial) {
        find_run(c, shift, ptxi_native_jump_rare, rare);
        ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RSI, OF_ROW(i->a, first));
        note(c, i, BYTES_IN_EDI, ptxi_native_jump_rare, rare);
    } else {
        ptxi_x86_load(&c->x, 64, PTXI_RSI, OF_ROW(i->a, first));
        note_row(c, i, PTXI_LANES << shift, rare);
    }
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
    const unsigned shift = shift_of(i);

    if (c->partial)
        find_run(c, shift, fail, 0);
    ptxi_native_load_first_active(c, slot);
    ptxi_x86_load(&c->x, 64, PTXI_R8, reg(PTXI_RAX));
    if (c->partial) {
        ptxi_x86_shl(&c->x, 64, PTXI_RCX, shift);
        ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_R8, reg(PTXI_RCX));
        ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RSI, reg(PTXI_R8));
    } else {
        ptxi_x86_load(&c->x, 64, PTXI_RSI, reg(PTXI_R8));
    }
    expect_neighbours(c, slot, shift);
    note(c, i, c->partial ? BYTES_IN_EDI : PTXI_LANES << shift, fail, 0);
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
    note(c, i, BYTES_IN_EDI, fail, 0);
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
    find_ranges(c);
    loop = x->size;
    ptxi_x86_tzcnt(x, PTXI_RDX, PTXI_R8);
    ptxi_x86_load(x, 64, PTXI_RSI, ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, 3, (int32_t)(slot * PTXI_UNIT)));
    ptxi_x86_lea(x, 32, PTXI_RAX, ptxi_x86_at(PTXI_R8, -1));
    ptxi_x86_alu(x, PTXI_AND, 32, PTXI_R8, reg(PTXI_RAX));
    ptxi_x86_tzcnt(x, PTXI_RDI, PTXI_R8); /* PTXI_LANES if there is no further run */
    ptxi_x86_alu(x, PTXI_SUB, 32, PTXI_RDI, reg(PTXI_RDX));
    ptxi_x86_shl(x, 32, PTXI_RDI, shift_of(i));
    add_immediate(c, i);
    find_room(c, fail, 0);
    put_range(c, i, BYTES_IN_EDI);
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
