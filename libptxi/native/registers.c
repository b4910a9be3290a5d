/* The register cache of a block: which parts of the frame are in vector registers. */
#include "native/builder.h"

#include <assert.h>
#include <limits.h>

unsigned ptxi_native_parts(const struct ptxi_native_builder *c, unsigned bits)
{
    return PTXI_LANES * bits / 8 / c->bytes;
}

int32_t ptxi_native_part(const struct ptxi_native_builder *c, unsigned slot, unsigned k)
{
    return (int32_t)(slot * PTXI_UNIT + k * c->bytes);
}

static struct ptxi_x86_rm in_frame(int32_t part)
{
    return ptxi_x86_at(PTXI_NATIVE_FRAME, part);
}

/* --- NaNs ---
 *
 * f32 results have one NaN. It replaces others only before something reads it that could tell them apart. Arithmetic
 * and comparisons cannot: a NaN operand gives a NaN, and is unordered, whichever NaN it is. */

/* A register for tests, which has no part. */
static unsigned test_register(const struct ptxi_native_builder *c)
{
    return c->registers;
}

static void test_nan(struct ptxi_native_builder *c, unsigned a, unsigned b)
{
    enum { UNORDERED = 3, ORDERED = 7, MASK = 2 };
    const unsigned t = test_register(c);

    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, PTXI_V_CMPPS, MASK, a, ptxi_x86_reg(b), ORDERED, 0);
        ptxi_x86_kortestw(&c->x, MASK);
    } else {
        ptxi_x86_vector_imm(&c->x, PTXI_V_CMPPS, t, a, ptxi_x86_reg(b), UNORDERED);
        ptxi_x86_vector(&c->x, PTXI_V_PTEST, t, 0, ptxi_x86_reg(t));
    }
}

void ptxi_native_replace_nan(struct ptxi_native_builder *c, unsigned reg)
{
    enum { UNORDERED = 3, MASK = 2 };
    const struct ptxi_x86_rm nan = ptxi_native_constant(PTXI_CONST_NAN, 0);
    const unsigned t = test_register(c);

    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, PTXI_V_CMPPS, MASK, reg, ptxi_x86_reg(reg), UNORDERED, 0);
        ptxi_x86_vector_masked(&c->x, PTXI_V_MOV, reg, 0, nan, -1, MASK);
    } else {
        ptxi_x86_vector_imm(&c->x, PTXI_V_CMPPS, t, reg, ptxi_x86_reg(reg), UNORDERED);
        ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDVB, reg, reg, nan, t << 4);
    }
}

static void canonize_pair(struct ptxi_native_builder *c, unsigned a, unsigned b)
{
    uint32_t rare;

    c->cache.raw &= ~(UINT32_C(1) << a | UINT32_C(1) << b);
    if (c->in_rare_case) {
        ptxi_native_replace_nan(c, a);
        if (a != b)
            ptxi_native_replace_nan(c, b);
        return;
    }
    rare = ptxi_native_rare(c, PTXI_RARE_CANONIZE);
    if (rare == UINT32_MAX)
        return;
    c->rare[rare].registers[0] = a;
    c->rare[rare].registers[1] = b;
    test_nan(c, a, b);
    ptxi_native_jump_rare(c, rare, c->x.wide ? PTXI_AE : PTXI_NE);
    ptxi_native_resume(c, rare);
}

/* Replaces NaNs in a register, and in another one that is raw, because one instruction tests two. */
static void canonize(struct ptxi_native_builder *c, unsigned reg)
{
    const uint32_t bit = UINT32_C(1) << reg;
    uint32_t others;

    if (!(c->cache.raw & bit))
        return;
    others = c->cache.raw & ~bit;
    canonize_pair(c, reg, others ? (unsigned)__builtin_ctz(others) : reg);
}

/* --- the cache --- */

static void store(struct ptxi_native_builder *c, unsigned reg)
{
    canonize(c, reg);
    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, reg, 0, in_frame(c->cache.part[reg]));
    c->cache.dirty &= ~(UINT32_C(1) << reg);
}

static unsigned find(const struct ptxi_native_builder *c, int32_t part)
{
    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.part[r] == part)
            return r;
    return UINT_MAX;
}

/* Whether register r is a better choice than `best` for a new value. */
static bool is_better(const struct ptxi_native_builder *c, unsigned r, unsigned best)
{
    const bool is_free = c->cache.part[r] == PTXI_NATIVE_NO_PART;

    if (best == UINT_MAX)
        return true;
    if (c->cache.part[best] == PTXI_NATIVE_NO_PART)
        return false;
    return is_free || c->used[r] < c->used[best];
}

static unsigned take(struct ptxi_native_builder *c, unsigned below)
{
    unsigned best = UINT_MAX;

    for (unsigned r = 0; r < below; r++)
        if (!((c->kept | c->kept_in_part) >> r & 1) && is_better(c, r, best))
            best = r;
    assert(best != UINT_MAX);
    if (c->cache.dirty >> best & 1)
        store(c, best);
    c->cache.part[best] = PTXI_NATIVE_NO_PART;
    c->used[best] = ++c->clock;
    return best;
}

unsigned ptxi_native_new(struct ptxi_native_builder *c)
{
    unsigned r = take(c, c->registers);

    c->kept |= UINT32_C(1) << r;
    return r;
}

unsigned ptxi_native_temporary(struct ptxi_native_builder *c)
{
    unsigned r = take(c, c->registers < 16 ? c->registers : 16);

    c->kept_in_part |= UINT32_C(1) << r;
    return r;
}

unsigned ptxi_native_source_f32(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r == UINT_MAX) {
        r = take(c, c->registers);
        c->cache.part[r] = part;
        ptxi_x86_vector(&c->x, PTXI_V_MOV, r, 0, in_frame(part));
    }
    c->used[r] = ++c->clock;
    c->kept_in_part |= UINT32_C(1) << r;
    return r;
}

unsigned ptxi_native_source(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = ptxi_native_source_f32(c, part);

    canonize(c, r);
    return r;
}

struct ptxi_x86_rm ptxi_native_operand_f32(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r == UINT_MAX)
        return in_frame(part);
    c->used[r] = ++c->clock;
    c->kept_in_part |= UINT32_C(1) << r;
    return ptxi_x86_reg(r);
}

struct ptxi_x86_rm ptxi_native_operand(struct ptxi_native_builder *c, int32_t part)
{
    struct ptxi_x86_rm operand = ptxi_native_operand_f32(c, part);

    if (!operand.memory)
        canonize(c, operand.reg);
    return operand;
}

/* The register no longer has a part. */
static void release(struct ptxi_native_builder *c, unsigned reg)
{
    c->cache.part[reg] = PTXI_NATIVE_NO_PART;
    c->cache.dirty &= ~(UINT32_C(1) << reg);
    c->cache.raw &= ~(UINT32_C(1) << reg);
}

void ptxi_native_load_mask(struct ptxi_native_builder *c, unsigned reg, unsigned k, unsigned bits, bool active)
{
    const int32_t words = active ? PTXI_STACK_ACTIVE_WORDS : PTXI_STACK_INACTIVE_WORDS;

    if (bits == 64)
        ptxi_x86_vector(&c->x, PTXI_V_PMOVSXDQ, reg, 0, ptxi_x86_at(PTXI_RSP, words + (int32_t)(k * c->bytes / 2)));
    else
        ptxi_x86_vector(&c->x, PTXI_V_MOVU, reg, 0, ptxi_x86_at(PTXI_RSP, words + (int32_t)(k * c->bytes)));
}

unsigned ptxi_native_load_mask_register(struct ptxi_native_builder *c, unsigned k, unsigned bits, bool active)
{
    enum { MASK = 3 };
    const unsigned at = active ? PTXI_STACK_ACTIVE : PTXI_STACK_INACTIVE;

    if (bits == 64)
        ptxi_x86_kmovb_load(&c->x, MASK, ptxi_native_on_stack(at + k));
    else
        ptxi_x86_kmovw_load(&c->x, MASK, ptxi_native_on_stack(at + 2 * k));
    return MASK;
}

void ptxi_native_merge(struct ptxi_native_builder *c, unsigned reg, struct ptxi_x86_rm old, unsigned k, unsigned bits,
                       unsigned scratch)
{
    if (c->x.wide) {
        const unsigned inactive = ptxi_native_load_mask_register(c, k, bits, false);

        ptxi_x86_vector_masked(&c->x, bits == 64 ? PTXI_V_BLENDMQ : PTXI_V_BLENDMD, reg, reg, old, -1, inactive);
    } else {
        ptxi_native_load_mask(c, scratch, k, bits, false);
        ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDVB, reg, reg, old, scratch << 4);
    }
}

static bool may_be_live(const struct ptxi_code *code, uint32_t unit, uint32_t insn)
{
    const struct ptxi_live_heads heads = code->live_heads[unit];
    const bool begins_block = insn < code->count && code->block_starts[insn / 32] >> insn % 32 & 1;

    return !begins_block || (heads.first <= insn && insn <= heads.last);
}

bool ptxi_native_is_dead(const struct ptxi_native_builder *c, unsigned slot)
{
    if (c->region.exit)
        return c->region.whole && c->code->live_heads[slot].last <= c->now;
    for (unsigned k = 0; c->round && k < c->round->exit_count; k++)
        if (may_be_live(c->code, slot, c->round->exits[k]))
            return false;
    return c->round;
}

/* reg gets the old values of inactive lanes. */
static void keep_inactive(struct ptxi_native_builder *c, int32_t part, unsigned k, unsigned bits, unsigned reg)
{
    const struct ptxi_x86_rm old = ptxi_native_operand(c, part);

    assert(old.memory || old.reg != reg);
    ptxi_native_merge(c, reg, old, k, bits, test_register(c));
}

void ptxi_native_define(struct ptxi_native_builder *c, unsigned slot, unsigned k, unsigned bits, unsigned reg)
{
    const int32_t part = ptxi_native_part(c, slot, k);
    unsigned old = find(c, part);

    if (c->partial && !ptxi_native_is_dead(c, slot))
        keep_inactive(c, part, k, bits, reg);
    if (old != UINT_MAX)
        release(c, old);
    c->cache.part[reg] = part;
    c->cache.dirty |= UINT32_C(1) << reg;
}

/* Inactive lanes of partial code may have any bits, which must remain: NaNs are replaced before. */
void ptxi_native_define_f32(struct ptxi_native_builder *c, unsigned slot, unsigned k, unsigned reg)
{
    const bool keeps_bits = c->partial && !ptxi_native_is_dead(c, slot);

    if (keeps_bits)
        ptxi_native_replace_nan(c, reg);
    ptxi_native_define(c, slot, k, 32, reg);
    if (!keeps_bits)
        c->cache.raw |= UINT32_C(1) << reg;
}

unsigned ptxi_native_own(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r == UINT_MAX || (c->partial && !ptxi_native_is_dead(c, (uint32_t)part / PTXI_UNIT)))
        return UINT_MAX;
    release(c, r);
    c->kept |= UINT32_C(1) << r;
    return r;
}

void ptxi_native_end_part(struct ptxi_native_builder *c)
{
    c->kept_in_part = 0;
}

void ptxi_native_sync(struct ptxi_native_builder *c, unsigned slot, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        unsigned r = find(c, ptxi_native_part(c, slot, k));

        if (r != UINT_MAX && c->cache.dirty >> r & 1)
            store(c, r);
    }
}

void ptxi_native_forget(struct ptxi_native_builder *c, unsigned slot, unsigned units)
{
    const int32_t from = (int32_t)(slot * PTXI_UNIT), to = (int32_t)((slot + units) * PTXI_UNIT);

    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.part[r] >= from && c->cache.part[r] < to)
            release(c, r);
}

static bool is_operand(const struct ptxi_insn *i, uint32_t unit)
{
    enum { MOST_UNITS = 4 };
    const uint16_t slots[] = { i->d, i->a, i->b, i->c };

    for (unsigned k = 0; k < sizeof slots / sizeof *slots; k++)
        if (unit >= slots[k] && unit < slots[k] + (uint32_t)MOST_UNITS)
            return true;
    return false;
}

void ptxi_native_forget_dead(struct ptxi_native_builder *c, const struct ptxi_insn *i, uint32_t a, uint32_t b)
{
    for (unsigned r = 0; r < c->registers; r++) {
        const uint32_t unit = (uint32_t)c->cache.part[r] / PTXI_UNIT;

        if (c->cache.dirty >> r & 1 && !may_be_live(c->code, unit, a) && !may_be_live(c->code, unit, b) &&
            !(i && is_operand(i, unit)))
            release(c, r);
    }
}

void ptxi_native_forget_clean(struct ptxi_native_builder *c, uint32_t insn)
{
    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.part[r] != PTXI_NATIVE_NO_PART && !(c->cache.dirty >> r & 1) &&
            !may_be_live(c->code, (uint32_t)c->cache.part[r] / PTXI_UNIT, insn))
            release(c, r);
}

/* --- other places for parts --- */

static unsigned find_in(const struct ptxi_native_cache *cache, int32_t part)
{
    for (unsigned r = 0; r < PTXI_NATIVE_REGISTERS; r++)
        if (cache->part[r] == part)
            return r;
    return UINT_MAX;
}

/* Where the parts are that registers will have: from[r] is another register, r, or UINT_MAX for the frame. */
struct moves {
    unsigned from[PTXI_NATIVE_REGISTERS];
    uint32_t pending; /* registers that get their part from another one */
};

static bool is_source(const struct moves *m, unsigned reg)
{
    for (uint32_t rest = m->pending; rest; rest &= rest - 1)
        if (m->from[__builtin_ctz(rest)] == reg)
            return true;
    return false;
}

/* A register that no pending move reads, or UINT_MAX: all pending ones are in cycles. */
static unsigned next_move(const struct moves *m)
{
    for (uint32_t rest = m->pending; rest; rest &= rest - 1)
        if (!is_source(m, (unsigned)__builtin_ctz(rest)))
            return (unsigned)__builtin_ctz(rest);
    return UINT_MAX;
}

/* Breaks a cycle: a register's part, as it is, goes by way of the frame. */
static void put_aside(struct ptxi_native_builder *c, struct moves *m)
{
    const unsigned d = (unsigned)__builtin_ctz(m->pending), reg = m->from[d];

    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, reg, 0, in_frame(c->cache.part[reg]));
    m->from[d] = UINT_MAX;
    m->pending &= m->pending - 1;
}

static void move_all(struct ptxi_native_builder *c, struct moves *m)
{
    while (m->pending) {
        const unsigned d = next_move(m);

        if (d == UINT_MAX) {
            put_aside(c, m);
        } else {
            ptxi_x86_vector(&c->x, PTXI_V_MOV, d, 0, ptxi_x86_reg(m->from[d]));
            m->pending &= ~(UINT32_C(1) << d);
        }
    }
}

void ptxi_native_arrange(struct ptxi_native_builder *c, const struct ptxi_native_cache *wanted)
{
    struct moves m = { .pending = 0 };

    for (unsigned r = 0; r < c->registers; r++) {
        const uint32_t bit = UINT32_C(1) << r;
        const unsigned to = c->cache.dirty & bit ? find_in(wanted, c->cache.part[r]) : UINT_MAX;

        if (c->cache.dirty & bit && (to == UINT_MAX || !(wanted->dirty >> to & 1)))
            store(c, r);
        else if (c->cache.raw & bit && !(wanted->raw >> to & 1))
            canonize(c, r);
    }
    for (unsigned r = 0; r < c->registers; r++) {
        m.from[r] = wanted->part[r] == PTXI_NATIVE_NO_PART ? r : find(c, wanted->part[r]);
        if (m.from[r] != r && m.from[r] != UINT_MAX)
            m.pending |= UINT32_C(1) << r;
    }
    move_all(c, &m);
    for (unsigned r = 0; r < c->registers; r++)
        if (m.from[r] == UINT_MAX)
            ptxi_x86_vector(&c->x, PTXI_V_MOV, r, 0, in_frame(wanted->part[r]));
}

void ptxi_native_flush(struct ptxi_native_builder *c)
{
    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.dirty >> r & 1)
            store(c, r);
}

void ptxi_native_drop(struct ptxi_native_builder *c)
{
    ptxi_native_flush(c);
    for (unsigned r = 0; r < PTXI_NATIVE_REGISTERS; r++)
        c->cache.part[r] = PTXI_NATIVE_NO_PART;
}

struct ptxi_x86_rm ptxi_native_frame(unsigned slot, unsigned offset)
{
    return in_frame((int32_t)(slot * PTXI_UNIT + offset));
}

struct ptxi_x86_rm ptxi_native_scalar(struct ptxi_native_builder *c, unsigned slot)
{
    ptxi_native_sync(c, slot, 1);
    return ptxi_native_frame(slot, 0);
}
