/* Runs the arithmetic handlers one by one on a hand-made warp, at each CPU level of this host. The references are
 * independent: integers in 128 bits, floats in quadruple precision or in host arithmetic under fesetround().
 *
 * Each case runs on special and random values, with full and partial masks, with a separate destination, with the
 * destination in the slot of a source, and with one slot for two sources. Inactive lanes must keep their values.
 *
 * Cases with elements of up to 16 bits also run on a part of all codes of an element: rounds that are TEST_ALU_STEP
 * apart (make check-exhaustive: 1, all codes). */
#include "unit/support/bits.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "exec/engine/warp.h"
#include "unit/exec/arith/alu.h"
#include "unit/exec/arith/alu_float.h"
#include "unit/support/levels.h"

static const struct alu_table *const tables[] = { &alu_general, &alu_half, &alu_cvt };
enum { TABLES = sizeof tables / sizeof *tables };

/* --- the frame: d, a, b, c, a fourth and a fifth source of up to 128 bits, and predicates --- */
enum { D = 0, A = 8, B = 16, C = 24, E = 32, F = 40, P = 48, UNITS = 56 };
typedef unsigned __int128 u128;
typedef uint16_t __attribute__((may_alias)) lane16;
typedef uint32_t __attribute__((may_alias)) lane32;
typedef uint64_t __attribute__((may_alias)) lane64;
typedef u128 __attribute__((may_alias)) lane128;
typedef ptxi_lanes __attribute__((may_alias)) lane_mask;

static _Alignas(64) unsigned char frame[UNITS * PTXI_UNIT];
static struct ptxi_warp warp = { .regs = frame };

static const uint64_t specials_f64[] = {
    0, 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff,
        0x3fe0000000000000, 0x4000000000000000,
    0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0x7ff7ffffe0000000,
    0x41dfffffffc00000, 0x41e0000000000000,
    0x41efffffffe00000, 0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000, 0x3810000000000000,
    0x380fffffffffffff, 0x380fffffe0000000,
    0x380ffffff0000000, 0x380ffffff8000000, 0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000,
    0x3690000000000000, 0x4060000000000000,
    0x406fe00000000000, 0x40ffffe000000000, 0x40effc0000000000, 0x3fe0000000000001, 0x3ff8000000000000,
    0x4004000000000000, 0x3f10000000000000,
};
static const uint32_t specials_f32[] = {
    0, 1, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x40000000, 0x7f7fffff,
        0x7f800000, 0x7fc00000,
    0x7f800001, 0x7fffffff, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x5f800000, 0x43000000,
    0x437f0000, 0x477fff00, 0x477ff000,
    0x477fefff, 0x38800000, 0x387fe000, 0x33800000, 0x33000000, 0x33000001, 0x3fc00000, 0x40200000, 0x00400000,
    0x34000000, 0x0c800000, 0x7e800000,
    0x7f000000, 0x3f7ffffe, 0x00ffffff, 0x4b7fffff, 0x4b000001, 0x3effffff,
};
static const uint16_t specials_f16[] = { 0, 1, 0x7ff7, 0x3ff, 0x400, 0x3c00, 0x3bff, 0x7bff, 0x7c00, 0x7c01, 0x7e00,
                                         0x7fff, 0x3800, 0x4100, 0x3e00, 0x57f8, 0x5800 };
static const uint64_t specials_int[] = { 0, 1, 2, 3, 7, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7fff,
                                         0x8000, 0xffff, 0x7fffffff, 0x80000000,
                                         0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0x00ffffff,
                                         0x01000001, 65504, 65519, 65520, 65536,
                                         0x20000040000001, 0xfffffffffffffc00, 0x7fffff4000000000, 0x5555555555555555 };
static const uint16_t specials_bf16[] = { 0, 1, 0x7ff7, 0x7f, 0x80, 0x81, 0x3f80, 0x3f7f, 0x3f81, 0x7f7f, 0x7f80,
                                          0x7f81, 0x7fc0, 0x7fff, 0x3f00, 0x4049, 0x0100 };
#define PICK(list) (list)[random64() % (sizeof(list) / sizeof *(list))]

/* The kinds of floats in a round. Many handlers have a fast path for lanes that all hold numbers, or numbers of
 * usual magnitudes. One NaN in 32 lanes would disable it. */
static enum { ANY_VALUE, FINITE, MODERATE, LARGE /* at least 1, so that no format holds them as subnormals */ } floats;

static bool in_range(unsigned exponent, unsigned bias)
{
    if (floats == LARGE)
        return exponent - bias <= 8;
    return floats == ANY_VALUE || (floats == FINITE ? exponent != 2 * bias + 1 : exponent - (bias - 8) <= 16);
}

static bool is_wanted(enum kind k, uint64_t v)
{
    switch (k) {
    case F64: return in_range(v >> 52 & 0x7ff, 1023);
    case F32: return in_range(v >> 23 & 0xff, 127);
    case F16: return in_range(v >> 10 & 0x1f, 15);
    case BF16: return in_range(v >> 7 & 0xff, 127);
    default: return true;
    }
}

static uint64_t random_value(enum kind k);

/* Returns a value of a kind, often a special one, often near the limit of another kind. */
static uint64_t any_value(enum kind k)
{
    uint64_t r = random64(), form = random64() % 8;

    switch (k) {
    case F64:
        if (form < 3)
            return PICK(specials_f64) ^ (r & 0x8000000000000000);
        if (form < 6) /* similar exponents, few bits set */
            return (r & 0x8000000000000000) | (0x3ff - 8 + r % 70) << 52 | (random64() & random64() & 0xfffffffffffff);
        return r;
    case F32:
        if (form < 3)
            return (PICK(specials_f32) ^ (r & 0x80000000)) & 0xffffffff;
        if (form == 3) /* products and quotients near 2^-126 */
            return (r & 0x80000000) | (r >> 8 & 1 ? 63 + (r >> 16) % 3 : 1 + (r >> 16) % 4) << 23 |
                (random64() & 0x7fffff);
        if (form == 4) /* near overflow */
            return (r & 0x80000000) | ((r >> 8 & 1 ? 180 : 225) + (r >> 16) % 30) << 23 | (random64() & 0x7fffff);
        if (form < 6)
            return (r & 0x80000000) | (127 - 8 + r % 44) << 23 | (random64() & random64() & 0x7fffff);
        if (form == 6) /* a few fraction bits, near the limits of formats of 8 bits and less */
            return ((r & 0x80000000) | (127 - 18 + (r >> 8) % 36) << 23 | (random64() & 0x7c0000)) + (r >> 16) % 3 - 1;
        return r & 0xffffffff;
    case F16:
        return (form < 3 ? PICK(specials_f16) ^ (r & 0x8000) : r) & 0xffff;
    case BF16:
        if (form < 3)
            return PICK(specials_bf16) ^ (r & 0x8000);
        if (form < 6) /* similar exponents */
            return (r & 0x8000) | (0x7f - 8 + (r >> 16) % 20) << 7 | (r & 0x7f);
        return r & 0xffff;
    case F32X2:
        return random_value(F32) | random_value(F32) << 32;
    case F16X2:
    case BF16X2:
        return random_value(k == F16X2 ? F16 : BF16) | random_value(k == F16X2 ? F16 : BF16) << 16;
    default:
        if (form < 4)
            r = PICK(specials_int) * (r & 1 ? 1 : -1) + (r >> 8) % 3 - 1;
        else if (form < 6)
            r >>= r % 64;
        return r & kind_mask(k);
    }
}

static uint64_t random_value(enum kind k)
{
    uint64_t v;

    do
        v = any_value(k);
    while (!is_wanted(k, v));
    return v;
}

/* --- all codes of an element --- */
enum { NO_SWEEP = -1, CODES = 1 << 16 };

/* Number of the first lane of a round, or NO_SWEEP. From 0 to CODES, each element of a source has each code once, and
 * elements of two sources that have 8 bits have each pair of codes. */
static long sweep = NO_SWEEP;

/* The numbers up to CODES in another order, for each element. */
static unsigned permuted(unsigned n, unsigned element)
{
    return (n * 40503 + element * 12345) % CODES;
}

/* An f32 with these upper 16 bits, and lower bits that are next to zero, a half or one. Formats with up to 7 bits of
 * fraction round at the upper half's codes or at the half between them, so other lower bits do not matter. */
static uint64_t swept_f32(unsigned n)
{
    static const uint16_t below[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };

    return (uint64_t)n << 16 | PICK(below);
}

static uint64_t swept_bytes(unsigned n, unsigned source)
{
    uint64_t v = 0;

    for (unsigned k = 0; k < 4; k++)
        v |= (uint64_t)(((source ? n : n >> 8) + k * (source ? 91 : 37)) & 0xff) << 8 * k;
    return v;
}

/* The value of a source in this lane. */
static uint64_t swept_value(enum kind k, unsigned source, int lane)
{
    unsigned n = (unsigned)(sweep + lane) % CODES;

    switch (k) {
    case U16: return source ? random64() & 0xffff : n;
    case F16X2:
    case BF16X2: return n | permuted(n, 1) << 16;
    case F32: return swept_f32(source ? permuted(n, source) : n);
    case U32: return swept_bytes(n, source);
    default: return random_value(k);
    }
}

/* True if all codes of the case's elements can be tried: conversions, and operations on packed integers of 8 bits. */
static bool can_sweep(const struct alu_case *c)
{
    if (strstr(c->name, "8x4"))
        return c->c == NONE;
    return !strncmp(c->name, "cvt_", 4) && strncmp(c->name, "cvt_pack", 8) && !(c->flags & FIFTH);
}

static bool is_float(enum kind k)
{
    return k >= F16 && k <= F32X2;
}

static unsigned kind_units(enum kind k)
{
    return k == NONE ? 0 : k == PRED ? 1 : kind_bits(k) <= 16 ? 1 : kind_bits(k) / 16;
}

static u128 load_value(unsigned slot, enum kind k, int l)
{
    unsigned char *p = frame + slot * PTXI_UNIT;

    if (k == WORDS)
        return ((lane32 *)(void *)p)[l] | (u128)((lane32 *)(void *)(p + 2 * PTXI_UNIT))[l] << 32;
    switch (kind_units(k)) {
    case 1: return ((lane16 *)(void *)p)[l];
    case 2: return ((lane32 *)(void *)p)[l];
    case 4: return ((lane64 *)(void *)p)[l];
    default: return ((lane128 *)(void *)p)[l];
    }
}

static void store_value(unsigned slot, enum kind k, int l, u128 x)
{
    unsigned char *p = frame + slot * PTXI_UNIT;

    if (k == WORDS) {
        ((lane32 *)(void *)p)[l] = (uint32_t)x;
        ((lane32 *)(void *)(p + 2 * PTXI_UNIT))[l] = (uint32_t)(x >> 32);
        return;
    }
    switch (kind_units(k)) {
    case 1: ((lane16 *)(void *)p)[l] = (uint16_t)x; break;
    case 2: ((lane32 *)(void *)p)[l] = (uint32_t)x; break;
    case 4: ((lane64 *)(void *)p)[l] = (uint64_t)x; break;
    default: ((lane128 *)(void *)p)[l] = x; break;
    }
}

static lane_mask *predicate(int n)
{
    return (lane_mask *)(void *)(frame + (P + n) * PTXI_UNIT);
}

/* --- one round of a case: sources and expected results, then each level on a copy of the frame --- */
struct round {
    const struct alu_case *c;
    unsigned mods;
    int32_t imm;
    ptxi_lanes active;
    bool in_place;  /* d is in the slot of a */
    bool same_sources;     /* b is in the slot of a, too */
    struct operands in[PTXI_LANES];
    u128 want[PTXI_LANES];
    ptxi_lanes want_p, want_q; /* predicates: destination (or q) and carry */
};

static unsigned slot_of(const struct round *r, enum kind k, unsigned slot)
{
    return k == PRED ? P + slot / 8 : slot == D && r->in_place ? A : slot;
}

/* Returns a value for c near the negative product, so that sums cancel. */
static uint64_t near_product(enum kind k, uint64_t a, uint64_t b)
{
    uint64_t mask = (uint64_t)kind_mask(k), ulps = random64() % 5 - 2;
    quad x;

    if (k == F16X2 || k == BF16X2) {
        k = k == F16X2 ? F16 : BF16;
        return near_product(k, a & 0xffff, b & 0xffff) | near_product(k, a >> 16, b >> 16) << 16;
    }
    if (k == F32X2)
        return near_product(F32, a & 0xffffffff, b & 0xffffffff) | near_product(F32, a >> 32, b >> 32) << 32;
    x = -exact_value(a, k, false) * exact_value(b, k, false);
    return x != x ? 0 : (rounded_with_sat(x, x < 0, k, 0) + ulps) & mask;
}

static void make_round(struct round *r)
{
    const struct alu_case *c = r->c;

    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (unsigned char)random64();
    r->want_p = r->want_q = 0;
    for (int l = 0; l < PTXI_LANES; l++) {
        struct operands *o = &r->in[l];
        enum kind kinds[5] = { c->a, c->b, c->c, c->e, c->flags & FIFTH ? U32 : NONE };
        struct results out = { 0 };

        *o = (struct operands){ .mods = r->mods, .imm = r->imm, .case_ = c };
        for (int k = 0; k < 5; k++) {
            u128 v = sweep == NO_SWEEP ? random_value(kinds[k]) : swept_value(kinds[k], (unsigned)k, l);

            if (kinds[k] == B128)
                v = v << 64 | random64();
            if (sweep == NO_SWEEP && k && kinds[k] != NONE && random64() % 16 == 0 &&
                kind_bits(kinds[k]) == kind_bits(kinds[0]))
                v = o->v[0];
            if (k == 1 && r->same_sources)
                v = o->v[0];
            if (k == 2 && is_float(kinds[2]) && kinds[0] == kinds[2] && kinds[1] == kinds[2] && random64() % 4 == 0)
                v = near_product(kinds[2], (uint64_t)o->v[0], (uint64_t)o->v[1]);
            if (kinds[k] == NONE)
                continue;
            if (kinds[k] == PRED) {
                v &= 1;
                *predicate(k + 1) = (*predicate(k + 1) & ~((ptxi_lanes)1 << l)) | (ptxi_lanes)v << l;
            } else {
                if (kind_bits(kinds[k]) == 8) /* the bits above do not matter */
                    v |= (random64() & 0xff) << 8;
                store_value(A + 8 * k, kinds[k], l, v);
                v &= kind_bits(kinds[k]) == 8 ? 0xff : ~(u128)0;
            }
            o->v[k] = v;
        }
        o->carry = *predicate(7) >> l & 1;
        o->old = load_value(slot_of(r, c->d, D), c->d, l);
        c->ref(o, &out);
        r->want[l] = out.d;
        r->want_p |= (ptxi_lanes)out.p << l;
        r->want_q |= (ptxi_lanes)out.q << l;
    }
}

static struct ptxi_insn make_insn(const struct round *r)
{
    const struct alu_case *c = r->c;
    struct ptxi_insn i = { .op = c->op, .mods = (uint16_t)r->mods, .imm = r->imm };

    i.d = (uint16_t)slot_of(r, c->d, D);
    i.a = (uint16_t)slot_of(r, c->a, A);
    i.b = r->same_sources ? i.a : (uint16_t)slot_of(r, c->b, B);
    i.c = (uint16_t)slot_of(r, c->c, C);
    if (c->flags & DEST_IN_B)
        i.b = i.d;
    if (c->e != NONE)
        i.imm = E | (c->flags & FIFTH ? F << 16 : 0);
    if (c->flags & CARRY)
        i.imm = P + 7;
    if (c->flags & SECOND)
        i.imm = r->imm ? P + 6 : PTXI_NO_SLOT;
    return i;
}

static void check_predicate(const struct round *r, const char *level, int n, ptxi_lanes before, ptxi_lanes want)
{
    ptxi_lanes got = *predicate(n);

    want = (want & r->active) | (before & ~r->active);
    if (got != want)
        ck_abort_msg("%s at %s, mods %#x, active %#llx: predicate %d is %#llx, want %#llx", r->c->name, level, r->mods,
                     (unsigned long long)r->active, n,
                     (unsigned long long)got, (unsigned long long)want);
}

static void check_lanes(const struct round *r, const char *level)
{
    unsigned slot = slot_of(r, r->c->d, D);

    for (int l = 0; l < PTXI_LANES; l++) {
        const struct operands *o = &r->in[l];
        bool on = r->active >> l & 1;
        u128 got = load_value(slot, r->c->d, l),
             want = on ? r->want[l] & kind_mask(r->c->d) : o->old & kind_mask(r->c->d);

        if (got != want)
            ck_abort_msg("%s at %s, mods %#x, lane %d%s: a %#llx b %#llx c %#llx e %#llx carry %d: got %#llx:%016llx, "
                         "want %#llx:%016llx", r->c->name, level,
                         r->mods, l, on ? "" : " (off)", (unsigned long long)o->v[0], (unsigned long long)o->v[1],
                         (unsigned long long)o->v[2],
                         (unsigned long long)o->v[3], o->carry, (unsigned long long)(got >> 64),
                         (unsigned long long)got,
                         (unsigned long long)(want >> 64), (unsigned long long)want);
    }
}

static void run_round(struct round *r)
{
    static _Alignas(64) unsigned char before[sizeof frame];
    struct ptxi_insn i[2] = { 0 };

    make_round(r);
    i[0] = make_insn(r);
    memcpy(before, frame, sizeof frame);
    for (int k = 0; k < LEVELS && levels[k].level <= ptxi_cpu_level_host(); k++) {
        memcpy(frame, before, sizeof frame);
        warp.active = r->active;
        ck_assert_ptr_eq(levels[k].table[i[0].op](i, &warp), i + 1);
        ck_assert_int_eq(fegetround(), FE_TONEAREST);
        if (r->c->d == PRED)
            check_predicate(r, levels[k].name, 0, ((lane_mask *)(void *)(before + P * PTXI_UNIT))[0], r->want_p);
        else
            check_lanes(r, levels[k].name);
        if (r->c->flags & SECOND && r->imm)
            check_predicate(r, levels[k].name, 6, *(lane_mask *)(void *)(before + (P + 6) * PTXI_UNIT), r->want_q);
        if (r->c->flags & CARRY && (!(r->c->flags & CC_IN_MODS) || r->mods & PTXI_MOD_CC))
            check_predicate(r, levels[k].name, 7, *(lane_mask *)(void *)(before + (P + 7) * PTXI_UNIT), r->want_q);
    }
}

static void run_case(const struct alu_case *c, int rounds)
{
    struct round r = { .c = c };
    int mods_count = 0;

    while (c->mods[mods_count] != END_OF_MODS)
        mods_count++;
    for (int n = 0; n < rounds * mods_count; n++) {
        r.mods = c->mods[n % mods_count];
        r.active = n / mods_count % 3 == 0 ? PTXI_ALL_LANES : (ptxi_lanes)random64();
        r.in_place = n / mods_count % 2 && c->d != PRED && kind_units(c->d) == kind_units(c->a) && c->d != WORDS &&
            c->a != WORDS && !(c->flags & DEST_IN_B);
        r.same_sources =
            n / mods_count % 3 == 2 && c->a == c->b && c->a != PRED && c->a != NONE && !(c->flags & DEST_IN_B);
        floats = (const int[]){ ANY_VALUE, FINITE, MODERATE, LARGE }[n / mods_count / 3 % 4];
        r.imm = c->imms ? (int32_t)(random64() % c->imms) : 0;
        run_round(&r);
    }
}

static int number_from(const char *variable, int otherwise)
{
    const char *s = getenv(variable);

    return s ? atoi(s) : otherwise;
}

static const struct alu_case *case_of(unsigned n)
{
    unsigned t = 0;

    while (n >= tables[t]->count)
        n -= tables[t++]->count;
    return &tables[t]->cases[n];
}

START_TEST(handlers_match_their_references)
{
    run_case(case_of((unsigned)_i), number_from("TEST_ALU_ROUNDS", 12));
}
END_TEST

START_TEST(handlers_match_for_all_codes)
{
    struct round r = { .c = case_of((unsigned)_i), .active = PTXI_ALL_LANES };
    int step = number_from("TEST_ALU_STEP", 97);

    for (const uint16_t *mods = r.c->mods; can_sweep(r.c) && *mods != END_OF_MODS; mods++) {
        r.mods = *mods;
        for (sweep = step > 1 ? (long)(random64() % (unsigned)step) * PTXI_LANES : 0; sweep < CODES;
             sweep += (long)step * PTXI_LANES)
            run_round(&r);
    }
    sweep = NO_SWEEP;
}
END_TEST

/* Every handler of these files has a case. */
START_TEST(all_handlers_are_tested)
{
    static const char *const names[] = {
#define X(name) [PTXI_OP_##name] = #name,
        PTXI_OPS(X)
#undef X
    };
    static const char *const tested_elsewhere[] = { /* prefixes of their names */
        "activemask", "add_e", "address_", "alloca_", "async_store", "atom_", "bar_", "bra", "brkpt", "brx", "bulk_",
        "call", "check_", "cluster_", "count", "cp_async", "cvta_", "elect", "end", "ex2_f64", "exit", "fence",
        "fill_", "fma_e", "getctarank_", "guard", "index_", "init_", "isspacep", "istypep", "ld_", "ldmatrix",
        "lg2_f64", "local_addr", "loop", "mapa_", "match_", "mbarrier_", "mma_", "movmatrix", "mul_e", "mul_scaled_",
        "nanosleep", "nop", "policy_", "prefetch", "quad_", "redux", "ret", "shape", "shared_", "shfl_", "sin_f",
        "spcompress", "spdecompress", "sreg_", "st_", "stack", "stmatrix", "sub_e", "suld", "sured", "sust",
        "tcgen05_", "tensor", "tex", "track_", "trap", "txq", "unreachable", "unsupported", "v", "wgmma", "widen_",
        "wmma_"
    };

    for (unsigned op = 1; op < PTXI_OP_COUNT; op++) {
        bool found = false;

        for (size_t k = 0; k < sizeof tested_elsewhere / sizeof *tested_elsewhere && !found; k++)
            found = !strncmp(names[op], tested_elsewhere[k], strlen(tested_elsewhere[k]));
        for (unsigned t = 0; t < TABLES && !found; t++)
            for (unsigned k = 0; k < tables[t]->count && !found; k++)
                found = tables[t]->cases[k].op == op;
        if (!found)
            ck_abort_msg("no case for %s", names[op]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("alu");
    TCase *t = tcase_create("handlers");
    unsigned count = 0;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, all_handlers_are_tested);
    for (unsigned k = 0; k < TABLES; k++)
        count += tables[k]->count;
    tcase_add_loop_test(t, handlers_match_their_references, 0, (int)count);
    tcase_add_loop_test(t, handlers_match_for_all_codes, 0, (int)count);
    suite_add_tcase(s, t);
    return run_suite(s);
}
