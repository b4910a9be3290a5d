/* The cases of test_alu.c and their references. They share no code with the handlers. Integers are computed in 128
 * bits. Floats are computed exactly, or with a sticky bit, in quadruple precision, and rounded by a search among the
 * values of the format. */
#include "unit/exec/arith/alu.h"

#include <fenv.h>
#include <math.h>

#include "isa/bytecode.h"
#include "num/approx.h"
#include "num/approx_f64.h"
#include "unit/exec/arith/alu_float.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

static i128 value_as(u128 v, enum kind k)
{
    unsigned bits = kind_bits(k);

    v &= ((u128)1 << bits) - 1;
    return kind_signed(k) && v >> (bits - 1) ? (i128)v - ((i128)1 << bits) : (i128)v;
}

#define X value_as(o->v[0], o->case_->a)
#define Y value_as(o->v[1], o->case_->b)
#define Z value_as(o->v[2], o->case_->c)
#define W value_as(o->v[3], o->case_->e)
#define BITS ((int)kind_bits(o->case_->a))
#define WHICH (o->case_->which)

static i128 clamp(i128 v, i128 low, i128 high)
{
    return v < low ? low : v > high ? high : v;
}

static i128 min_of(enum kind k)
{
    return kind_signed(k) ? -((i128)1 << (kind_bits(k) - 1)) : 0;
}

static i128 max_of(enum kind k)
{
    return ((i128)1 << (kind_bits(k) - kind_signed(k))) - 1;
}

static i128 magnitude(i128 v)
{
    return v < 0 ? -v : v;
}

static bool bit(u128 v, i128 n)
{
    return v >> n & 1;
}

/* Only the low part: a product of two 64-bit values fits in 128 bits except for its sign. */
static u128 product(const struct operands *o)
{
    return (u128)X * (u128)Y;
}

/* --- integer arithmetic --- */
REF(add) { r->d = X + Y; }
REF(sub) { r->d = X - Y; }
REF(mul) { r->d = product(o); }
REF(mad) { r->d = product(o) + Z; }
REF(mul_hi) { r->d = (u128)((i128)product(o) >> BITS); if (!kind_signed(o->case_->a)) r->d = product(o) >> BITS; }
REF(mad_hi) { mul_hi(o, r); r->d += Z; }
REF(neg) { r->d = -X; }
REF(absolute) { r->d = magnitude(X); }
REF(minimum) { r->d = X < Y ? X : Y; }
REF(maximum) { r->d = X > Y ? X : Y; }
REF(min_relu) { r->d = clamp(X < Y ? X : Y, 0, INT64_MAX); }
REF(max_relu) { r->d = clamp(X > Y ? X : Y, 0, INT64_MAX); }
REF(sad) { r->d = magnitude(X - Y) + Z; }
REF(add_sat) { r->d = clamp(X + Y, INT32_MIN, INT32_MAX); }
REF(sub_sat) { r->d = clamp(X - Y, INT32_MIN, INT32_MAX); }
REF(mad_hi_sat) { r->d = clamp((X * Y >> 32) + Z, INT32_MIN, INT32_MAX); }
REF(divide) { r->d = Y ? X / Y : -1; }
REF(remainder_) { r->d = Y ? X % Y : -1; }

static i128 low24(i128 v, enum kind k)
{
    v &= 0xffffff;
    return kind_signed(k) && v >> 23 ? v - 0x1000000 : v;
}

static i128 product24(const struct operands *o)
{
    return low24(X, o->case_->a) * low24(Y, o->case_->b);
}

static i128 high24(const struct operands *o)
{
    return value_as((u128)(product24(o) >> 16), o->case_->a);
}

REF(mul24_lo) { r->d = product24(o); }
REF(mul24_hi) { r->d = high24(o); }
REF(mad24_lo) { r->d = product24(o) + Z; }
REF(mad24_hi) { r->d = high24(o) + Z; }
REF(mad24_hi_sat) { r->d = clamp(high24(o) + Z, INT32_MIN, INT32_MAX); }

/* Two halves. which: 0 add, 1 min, 2 max, +4 signed, +8 relu. */
static i128 half_of(u128 v, int n, bool is_signed)
{
    return value_as(v >> (16 * n), is_signed ? S16 : U16);
}

REF(halves)
{
    r->d = 0;
    for (int n = 0; n < 2; n++) {
        i128 x = half_of(o->v[0], n, WHICH & 4), y = half_of(o->v[1], n, WHICH & 4), z;

        z = (WHICH & 3) == 0 ? x + y : ((WHICH & 3) == 1) == (x < y) ? x : y;
        if (WHICH & 8 && z < 0)
            z = 0;
        r->d |= (u128)(z & 0xffff) << (16 * n);
    }
}

/* which: 0 dp4a, 1 dp2a.lo, 2 dp2a.hi. Registers cannot have the kinds U8 and S8, so the kinds of 32 bits give the
 * signs. */
REF(dot)
{
    bool sx = kind_signed(o->case_->a), sy = kind_signed(o->case_->b);
    i128 sum = Z;

    for (int n = 0; n < (WHICH ? 2 : 4); n++) {
        i128 x = WHICH ? half_of(o->v[0], n, sx) : value_as(o->v[0] >> (8 * n), sx ? S8 : U8);

        sum += x * value_as(o->v[1] >> (8 * (WHICH == 2 ? n + 2 : n)), sy ? S8 : U8);
    }
    r->d = sum;
}

/* --- carry: CC.CF is the carry of an addition; which: 0 add, 1 sub, 2 mad.lo, 3 mad.hi, +4 reads a carry --- */
REF(with_carry)
{
    u128 m = ((u128)1 << BITS) - 1, x = o->v[0] & m, y = o->v[1] & m;
    bool in = WHICH & 4 ? o->carry : (WHICH & 3) == 1;

    if ((WHICH & 3) == 1)
        y = ~y & m;
    if ((WHICH & 3) >= 2) {
        if ((WHICH & 3) == 2)
            x = product(o) & m;
        else if (BITS == 16)
            x = (u128)(X * Y >> 32) & m; /* as ptxas computes it */
        else
            mul_hi(o, r), x = r->d & m;
        y = o->v[2] & m;
    }
    r->d = x + y + in;
    r->q = r->d >> BITS;
}

/* --- bits --- */
REF(and_) { r->d = o->v[0] & o->v[1]; }
REF(or_) { r->d = o->v[0] | o->v[1]; }
REF(xor_) { r->d = o->v[0] ^ o->v[1]; }
REF(not_) { r->d = ~o->v[0]; }
REF(cnot) { r->d = o->v[0] == 0; }
REF(shl) { r->d = Y < BITS ? o->v[0] << Y : 0; }
REF(lea) { r->d = (Y < BITS ? o->v[0] << Y : 0) + Z; }
REF(shr) { r->d = X >> clamp(Y, 0, 100); }
REF(and_p) { r->p = o->v[0] & o->v[1]; }
REF(or_p) { r->p = o->v[0] | o->v[1]; }
REF(xor_p) { r->p = o->v[0] ^ o->v[1]; }
REF(not_p) { r->p = !o->v[0]; }
REF(and_pn) { r->p = o->v[0] & !o->v[1]; }
REF(or_pn) { r->p = o->v[0] | !o->v[1]; }
REF(mov_p) { r->p = o->v[0]; }

REF(lop3)
{
    r->d = 0;
    for (int n = 0; n < 32; n++)
        r->d |= (u128)(o->imm >> (4 * bit(o->v[0], n) + 2 * bit(o->v[1], n) + bit(o->v[2], n)) & 1) << n;
}

static i128 count32(const struct operands *o, i128 n)
{
    return o->mods & PTXI_MOD_WRAP ? n & 31 : clamp(n, 0, 32);
}

REF(shf_l) { r->d = ((o->v[1] << 32 | o->v[0]) << count32(o, Z)) >> 32; }
REF(shf_r) { r->d = (o->v[1] << 32 | o->v[0]) >> count32(o, Z); }

REF(popc) { for (int n = 0; n < BITS; n++) r->d += bit(o->v[0], n); }
REF(clz) { for (int n = BITS - 1; n >= 0 && !bit(o->v[0], n); n--) r->d++; }
REF(brev) { for (int n = 0; n < BITS; n++) r->d |= (u128)bit(o->v[0], n) << (BITS - 1 - n); }

REF(bfind)
{
    int n = BITS - 1;
    bool sign = kind_signed(o->case_->a) && bit(o->v[0], n);

    while (n >= 0 && bit(o->v[0], n) == sign)
        n--;
    r->d = n >= 0 && o->mods & PTXI_MOD_SHIFTAMT ? BITS - 1 - n : n;
}

REF(fns)
{
    i128 at = Y, left = magnitude(Z);

    r->d = Z == INT32_MIN ? 0 : ~(u128)0;
    if (Y > 31 || Z == INT32_MIN)
        return;
    if (!left) {
        r->d = bit(o->v[0], at) ? (u128)at : r->d;
        return;
    }
    for (; at >= 0 && at < 32; at += Z < 0 ? -1 : 1)
        if (bit(o->v[0], at) && !--left) {
            r->d = (u128)at;
            return;
        }
}

REF(bfe)
{
    i128 seen = BITS == 64 ? UINT32_MAX : 0xff, pos = Y & seen, len = Z & seen, last = clamp(pos + len - 1, 0,
            BITS - 1);

    for (int n = 0; n < BITS; n++) {
        bool sign = kind_signed(o->case_->a) && len && bit(o->v[0], last);

        r->d |= (u128)(n < len && pos + n < BITS ? bit(o->v[0], pos + n) : sign) << n;
    }
}

REF(bfi)
{
    i128 seen = BITS == 32 ? 0xff : UINT32_MAX, pos = Z & seen, len = W & seen;

    for (int n = 0; n < BITS; n++)
        r->d |= (u128)(n >= pos && n < pos + len ? bit(o->v[0], n - pos) : bit(o->v[1], n)) << n;
}

REF(bmsk) { r->d = (((u128)1 << count32(o, Y)) - 1) << count32(o, X); }

REF(szext)
{
    i128 n = count32(o, Y), low = (i128)o->v[0] & (((i128)1 << n) - 1);

    r->d = n && kind_signed(o->case_->a) && bit((u128)low, n - 1) ? low - ((i128)1 << n) : low;
}

static uint32_t permute_bytes(const struct operands *o, const int s[4], bool signs)
{
    u128 bytes = o->v[1] << 32 | o->v[0];
    uint32_t d = 0;

    for (int n = 0; n < 4; n++) {
        uint32_t byte = bytes >> (8 * (s[n] & 7)) & 0xff;

        if (signs && s[n] & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * n);
    }
    return d;
}

REF(prmt)
{
    int s[4];

    for (int n = 0; n < 4; n++)
        s[n] = (int)(o->v[2] >> (4 * n) & 15);
    r->d = permute_bytes(o, s, true);
}

/* PTX ISA, "prmt": the table of modes. which: f4e b4e rc8 ecl ecr rc16. */
REF(prmt_mode)
{
    int s[4], k = (int)o->v[2] & 3;

    for (int n = 0; n < 4; n++)
        s[n] = WHICH == 0 ? k + n : WHICH == 1 ? (k - n) & 7 : WHICH == 2 ? k : WHICH == 3 ? (n > k ? n : k)
        : WHICH == 4 ? (n < k ? n : k) : (k & 1) * 2 + (n & 1);
    r->d = permute_bytes(o, s, false);
}

/* --- moves --- */
REF(move) { r->d = o->v[0]; }
REF(extend) { r->d = (u128)X; } /* by the kind of the source; the comparison truncates */
REF(pack) { unsigned bits = BITS; u128 m = ((u128)1 << bits) - 1; r->d = (o->v[0] & m) | (o->v[1] & m) << bits;
            if (o->case_->e != NONE) r->d |= (o->v[2] & m) << 2 * bits | (o->v[3] & m) << 3 * bits; }
REF(unpack) { unsigned bits = (unsigned)WHICH; r->d = o->v[0] >> (bits * (unsigned)o->imm) & (((u128)1 << bits) - 1); }
REF(ldp) { r->d = (u128)value_as(o->v[1] >> 8 * o->imm, (enum kind)WHICH); }
REF(stp) { u128 m = (((u128)1 << WHICH) - 1) << (8 * o->imm); r->d = (o->old & ~m) | (o->v[0] << (8 * o->imm) & m); }
REF(stp_64) { r->d = o->v[0]; }
REF(ldp_64) { r->d = o->v[1]; }

/* --- comparison and selection --- */
enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };

static bool compare(int cmp, bool less, bool equal, bool unordered)
{
    if (unordered)
        return cmp >= EQU && cmp != NUM;
    switch (cmp) {
    case EQ: case EQU: return equal;
    case NE: case NEU: return !equal;
    case LT: case LTU: return less;
    case LE: case LEU: return less || equal;
    case GT: case GTU: return !less && !equal;
    case GE: case GEU: return !less;
    default: return cmp == NUM;
    }
}

static void set_predicates(const struct operands *o, struct results *r, bool t)
{
    bool c = (o->v[2] & 1) ^ !!(o->mods & PTXI_MOD_NOT_C);

    switch ((o->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT) {
    case 0: r->p = t; r->q = !t; break;
    case 1: r->p = t && c; r->q = !t && c; break;
    case 2: r->p = t || c; r->q = !t || c; break;
    case 3: r->p = t != c; r->q = !t != c; break;
    }
}

static double number(const struct operands *o, int k, enum kind kind, bool ftz)
{
    if (kind == F64)
        return from_f64((uint64_t)o->v[k]);
    return from_f32(ftz ? flushed_f32((uint32_t)o->v[k]) : (uint32_t)o->v[k]);
}

REF(setp) { set_predicates(o, r, compare(WHICH, X < Y, X == Y, false)); }
REF(setp_float)
{
    double x = number(o, 0, o->case_->a, WHICH & 32), y = number(o, 1, o->case_->b, WHICH & 32);

    set_predicates(o, r, compare(WHICH & 31, x < y, x == y, isnan(x) || isnan(y)));
}
REF(testp)
{
    double x = number(o, 0, o->case_->a, false);
    int class = o->case_->a == F64 ? fpclassify(x) : fpclassify((float)x);
    bool in_class[] = { class != FP_NAN && class != FP_INFINITE, class == FP_INFINITE, class != FP_NAN, class == FP_NAN,
                  class == FP_NORMAL || class == FP_ZERO,
                  class == FP_SUBNORMAL };

    r->p = in_class[WHICH];
}
REF(selp) { r->d = (o->v[2] & 1) ^ !!(o->mods & PTXI_MOD_NOT_C) ? o->v[0] : o->v[1]; }
REF(slct) { r->d = Z >= 0 ? o->v[0] : o->v[1]; }
REF(slct_float) { r->d = number(o, 2, F32, WHICH) >= 0 ? o->v[0] : o->v[1]; }

/* --- floats --- */
enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT };

REF(f32) { r->d = f32_result(WHICH & 15, o->v, o->mods, WHICH & 32); }
REF(f32x2)
{
    u128 v[2][3];

    for (int n = 0; n < 2; n++) {
        for (int k = 0; k < 3; k++)
            v[n][k] = o->v[k] >> 32 * n & 0xffffffff;
        r->d |= (u128)f32_result(WHICH & 15, v[n], o->mods, WHICH & 32) << 32 * n;
    }
}
REF(f64) { r->d = f64_result(WHICH, o->v, o->mods); }
REF(f32_sign) { uint32_t a = (uint32_t)o->v[0]; if (WHICH & 2) a = flushed_f32(a); r->d = nan_f32(a) ? 0x7fffffff
                : WHICH & 1 ? a & 0x7fffffff : a ^ 0x80000000; }
REF(f64_sign) { uint64_t a = (uint64_t)o->v[0]; r->d = isnan(from_f64(a)) ? a | 1ull << 51 : WHICH & 1 ? a & INT64_MAX
                : a ^ 1ull << 63; }
REF(copysign_) { r->d = (o->v[0] & (u128)1 << (BITS - 1)) | (o->v[1] & (((u128)1 << (BITS - 1)) - 1)); }
REF(minmax_f32) { r->d = minmax_f32_result((uint32_t)o->v[0], (uint32_t)o->v[1], WHICH); }
/* which: + 16 .abs */
REF(minmax3)
{
    uint32_t mask = WHICH & 16 ? 0x7fffffff : 0xffffffff;
    int minmax_flags =
        (WHICH & MINMAX_MAX) | (o->mods & PTXI_MOD_FTZ ? MINMAX_FTZ : 0) | (o->mods & PTXI_MOD_NAN ? MINMAX_NAN : 0);

    r->d = minmax_f32_result(minmax_f32_result((uint32_t)o->v[0] & mask, (uint32_t)o->v[1] & mask, minmax_flags),
                             (uint32_t)o->v[2] & mask, minmax_flags);
}
REF(minmax_f64) { r->d = minmax_f64_result((uint64_t)o->v[0], (uint64_t)o->v[1], WHICH & MINMAX_MAX); }

/* --- conversions --- */
REF(cvt_sat) { r->d = clamp(X, min_of(o->case_->d), max_of(o->case_->d)); }
REF(cvt_to_int)
{
    enum kind d = o->case_->d, a = o->case_->a;
    quad x = exact_value(o->v[0], a, o->mods & PTXI_MOD_FTZ && a == F32);
    u128 top = (u128)1 << (kind_bits(d) - 1);

    if (x != x)
        r->d = a == F64 || kind_bits(d) == 64 ? (u128)value_as(top, d) : 0;
    else
        r->d = (u128)integral_clamped(x, o->mods, min_of(d), max_of(d));
}
REF(cvt_from_int) { r->d = rounded_with_sat((quad)X, X < 0, o->case_->d, o->mods); }
REF(cvt_float) { r->d = converted(o->v[0], o->case_->a, o->case_->d, o->mods); }
REF(cvt_rint) { r->d = rounded_integral(o->v[0], o->case_->a, o->mods); }

/* --- approximations: only the lanes are tested; tests/conformance compares the functions with recordings --- */
#define APPROX_1(f) REF(f) { r->d = ptxi_num_##f((uint32_t)o->v[0]); }
#define APPROX_2(f) REF(f) { r->d = ptxi_num_##f((uint32_t)o->v[0], (uint32_t)o->v[1]); }
#define APPROX_64(f) REF(f) { r->d = ptxi_num_##f((uint64_t)o->v[0]); }
#define APPROX_BOTH(f) APPROX_1(f##_approx_f32) APPROX_1(f##_approx_ftz_f32)
APPROX_BOTH(rcp) APPROX_BOTH(rsqrt) APPROX_BOTH(sqrt) APPROX_BOTH(ex2) APPROX_BOTH(lg2)
APPROX_1(sin_approx_f32) APPROX_1(cos_approx_f32) APPROX_1(tanh_approx_f32)
APPROX_1(sin_2pi_f32) APPROX_1(cos_2pi_f32)
APPROX_64(rcp_approx_ftz_f64) APPROX_64(rsqrt_approx_ftz_f64) APPROX_64(rsqrt_approx_f64)
APPROX_2(div_approx_f32) APPROX_2(div_approx_ftz_f32) APPROX_2(div_full_f32) APPROX_2(div_full_ftz_f32)

/* which: 1 small divisors are scaled, 2 large divisors are scaled */
REF(scale)
{
    float x = fabsf(ptxi_num_f32((uint32_t)o->v[0]));

    r->d = WHICH & 1 && x < 0x1p-126f ? 0x4b800000 : WHICH & 2 && x > 0x1p126f ? 0x3e800000 : 0x3f800000;
}

/* --- packed integers; which: the bits of an element, 128 if it is signed, and the operation from bit 8 on --- */
enum { ADD_WRAP, ADD_SAT, SUB_WRAP, SUB_SAT, LEAST, MOST, NEGATE, NOT_NEGATIVE = 8,
       IS_LESS = 16, IS_EQUAL = 32, IS_GREATER = 64 /* comparisons: all ones if one of these holds */ };

static int64_t packed_element(int operation, int64_t x, int64_t y, int64_t low, int64_t high)
{
    if (operation >= IS_LESS)
        return operation & (x < y ? IS_LESS : x > y ? IS_GREATER : IS_EQUAL) ? -1 : 0;
    switch (operation & 7) {
    case ADD_WRAP: return x + y;
    case ADD_SAT: return (int64_t)clamp(x + y, low, high);
    case SUB_WRAP: return x - y;
    case SUB_SAT: return (int64_t)clamp(x - y, low, high);
    case LEAST: return x < y ? x : y;
    case MOST: return x > y ? x : y;
    default: return -x;
    }
}

REF(packed)
{
    int bits = WHICH & 127, is_signed = WHICH >> 7 & 1, operation = WHICH >> 8;
    int64_t high = ((int64_t)1 << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;

    r->d = 0;
    for (int at = 0; at < 32; at += bits) {
        int64_t e[2], d;

        for (int k = 0; k < 2; k++) {
            e[k] = (int64_t)(o->v[k] >> at & (((u128)1 << bits) - 1));
            e[k] -= is_signed && e[k] > high ? (int64_t)1 << bits : 0;
        }
        d = packed_element(operation, e[0], e[1], low, high);
        d = operation & NOT_NEGATIVE && d < 0 ? 0 : d;
        r->d |= (u128)(d & (((int64_t)1 << bits) - 1)) << at;
    }
}

REF(carryless)
{
    u128 product = 0;

    for (int k = 0; k < 64; k++)
        product ^= bit(o->v[1], k) ? o->v[0] << k : 0;
    r->d = (uint64_t)(product >> WHICH) ^ o->v[2];
}

/* --- modifiers to try --- */
MODS(none, 0)
MODS(wraps, 0, PTXI_MOD_WRAP)
MODS(ccs, 0, PTXI_MOD_CC)
MODS(shiftamts, 0, PTXI_MOD_SHIFTAMT)
#define R(n) ((n) << PTXI_MOD_RND_SHIFT)
#define BOOL(n) ((n) << PTXI_MOD_BOOL_SHIFT)
MODS(bools, 0, 0, BOOL(1), BOOL(2), BOOL(3), BOOL(1) | PTXI_MOD_NOT_C, BOOL(2) | PTXI_MOD_NOT_C,
     BOOL(3) | PTXI_MOD_NOT_C)
MODS(bools_ftz, 1, 1, BOOL(1) | 1, BOOL(2) | 1, BOOL(3) | 1, BOOL(1) | PTXI_MOD_NOT_C | 1)
MODS(nots, 0, PTXI_MOD_NOT_C)
MODS(roundings, R(0), R(1), R(2), R(3))
MODS(roundings_sat, R(0), R(1), R(2), R(3), R(0) | 2, R(1) | 2, R(2) | 2, R(3) | 2)
MODS(roundings_ftz, R(0) | 1, R(1) | 1, R(2) | 1, R(3) | 1, R(0) | 3, R(1) | 3, R(2) | 3, R(3) | 3)
MODS(roundings_all, R(0), R(1), R(2), R(3), R(0) | 2, R(1) | 2, R(2) | 2, R(3) | 2, R(0) | 1, R(1) | 1, R(2) | 1,
     R(3) | 1, R(0) | 3, R(1) | 3, R(2) | 3, R(3) | 3)
MODS(roundings_or_ftz, R(0), R(1), R(2), R(3), R(0) | 1, R(1) | 1, R(2) | 1, R(3) | 1)
#define RELU PTXI_MOD_RELU
#define FINITE PTXI_MOD_SATFINITE
MODS(limits, R(0) | RELU, R(1) | RELU, R(0) | FINITE, R(1) | FINITE, R(0) | RELU | FINITE, R(1) | RELU | FINITE)
MODS(directed, R(1), R(2), R(3))
MODS(directed_ftz, R(1) | 1, R(2) | 1, R(3) | 1)
MODS(nan_ftz, 0, PTXI_MOD_NAN, 1, PTXI_MOD_NAN | 1)
MODS(ftzs, 0, 1)
MODS(sats, 0, 2)
MODS(ftz_sats, 0, 1, 2, 3)
MODS(ftz, 1)
MODS(bytes_2, 2)
MODS(bytes_4, 4)
MODS(bytes_8, 8)
MODS(bytes_16, 16)

/* CASE_n(op, d, n sources, reference) */
#define CASE_1(name, d, a, ref) CASE(name, d, a, NONE, NONE, NONE, ref, none, 0, 0, 0)
#define CASE_2(name, d, a, b, ref) CASE(name, d, a, b, NONE, NONE, ref, none, 0, 0, 0)
#define CASE_3(name, d, a, b, c, ref) CASE(name, d, a, b, c, NONE, ref, none, 0, 0, 0)
#define CASE_W(name, d, a, b, c, ref, mods, which) CASE(name, d, a, b, c, NONE, ref, mods, 0, 0, which)

#define FOR_WIDTHS(F) F(16, U16) F(32, U32) F(64, U64)
#define FOR_INTS(F) F(u16, U16) F(s16, S16) F(u32, U32) F(s32, S32) F(u64, U64) F(s64, S64)
#define SIGNLESS(n, K) \
    CASE_2(add_i##n, K, K, K, add) CASE_2(sub_i##n, K, K, K, sub) CASE_2(mul_lo_i##n, K, K, K, mul) \
    CASE_3(mad_lo_i##n, K, K, K, K, mad) \
    CASE_1(neg_i##n, K, K, neg) CASE_2(and_b##n, K, K, K, and_) CASE_2(or_b##n, K, K, K, or_) \
    CASE_2(xor_b##n, K, K, K, xor_) \
    CASE_1(not_b##n, K, K, not_) CASE_1(cnot_b##n, K, K, cnot) CASE_2(shl_b##n, K, K, U32, shl) \
    CASE_1(mov_##n, K, K, move) \
    CASE_2(shr_u##n, K, K, U32, shr) CASE_2(shr_s##n, S##n, S##n, U32, shr) \
    CASE_W(selp_##n, K, K, K, PRED, selp, nots, 0) CASE_3(slct_##n##_s32, K, K, K, S32, slct) \
    CASE_W(slct_##n##_f32, K, K, K, F32, slct_float, none, 0) \
    CASE_W(slct_##n##_f32_ftz, K, K, K, F32, slct_float, ftz, 1) \
    SETP(eq_i##n, K, EQ) SETP(ne_i##n, K, NE)
#define SETP(name, K, cmp) CASE(setp_##name, PRED, K, K, PRED, NONE, setp, bools, SECOND, 2, cmp)
#define INTS(t, K) \
    CASE_2(min_##t, K, K, K, minimum) CASE_2(max_##t, K, K, K, maximum) CASE_3(sad_##t, K, K, K, K, sad) \
    CASE_2(div_##t, K, K, K, divide) \
    CASE_2(rem_##t, K, K, K, remainder_) CASE_2(mul_hi_##t, K, K, K, mul_hi) CASE_3(mad_hi_##t, K, K, K, K, mad_hi) \
    SETP(lt_##t, K, LT) SETP(le_##t, K, LE) SETP(gt_##t, K, GT) SETP(ge_##t, K, GE)
#define WIDE(t, K, K2) CASE_2(mul_wide_##t, K2, K, K, mul) CASE_3(mad_wide_##t, K2, K, K, K2, mad)
#define CC(name, K, mods, which, flags) CASE(name, K, K, K, K, NONE, with_carry, mods, CARRY | flags, 0, which)
#define CARRIES(n, K) \
    CC(add_cc_i##n, K, none, 0, 0) CC(sub_cc_i##n, K, none, 1, 0) CC(mad_lo_cc_i##n, K, none, 2, 0) \
    CC(addc_i##n, K, ccs, 4, CC_IN_MODS) CC(subc_i##n, K, ccs, 5, CC_IN_MODS) CC(madc_lo_i##n, K, ccs, 6, CC_IN_MODS)
#define CARRIES_HI(t, K) CC(mad_hi_cc_##t, K, none, 3, 0) CC(madc_hi_##t, K, ccs, 7, CC_IN_MODS)
#define MUL24(t, K) \
    CASE_2(mul24_lo_##t, K, K, K, mul24_lo) CASE_2(mul24_hi_##t, K, K, K, mul24_hi) \
    CASE_3(mad24_lo_##t, K, K, K, K, mad24_lo) \
    CASE_3(mad24_hi_##t, K, K, K, K, mad24_hi)
#define PACKED(name, bits, is_signed, operation) \
    CASE_W(name, U32, U32, U32, NONE, packed, none, (bits) | (is_signed) << 7 | (operation) << 8)
#define COMPARED(cmp, operation)                                                                     \
    PACKED(set_##cmp##_u8x4, 8, 0, operation) PACKED(set_##cmp##_s8x4, 8, 1, operation)             \
    PACKED(set_##cmp##_u16x2, 16, 0, operation) PACKED(set_##cmp##_s16x2, 16, 1, operation)
#define HALVES(name, which) CASE_W(name, U32, U32, U32, NONE, halves, none, which)
#define DOT(at, KA, bt, KB) \
    CASE_W(dp4a_##at##_##bt, U32, KA, KB, U32, dot, none, 0) \
    CASE_W(dp2a_lo_##at##_##bt, U32, KA, KB, U32, dot, none, 1) \
    CASE_W(dp2a_hi_##at##_##bt, U32, KA, KB, U32, dot, none, 2)
#define BITS_32_64(n, K) \
    CASE_1(popc_b##n, U32, K, popc) CASE_1(clz_b##n, U32, K, clz) CASE_1(brev_b##n, K, K, brev) \
    CASE_W(bfind_u##n, U32, K, NONE, NONE, bfind, shiftamts, 0) \
    CASE_W(bfind_s##n, U32, S##n, NONE, NONE, bfind, shiftamts, 0) \
    CASE_3(bfe_u##n, K, K, U32, U32, bfe) CASE_3(bfe_s##n, S##n, S##n, U32, U32, bfe) \
    CASE(bfi_b##n, K, K, K, U32, U32, bfi, none, 0, 0, 0)
#define PRMT(name, which) CASE_W(prmt_##name, U32, U32, U32, U32, prmt_mode, none, which)
#define EXTEND(name, d, a) CASE_1(name, d, a, extend)
#define UNPACK(name, d, a, mods, bits, count) CASE(name, d, a, NONE, NONE, NONE, unpack, mods, 0, count, bits)
#define LDP(name, d, k, count) CASE(ldp_##name, d, NONE, U32, NONE, NONE, ldp, none, 0, count, k)
#define STP(name, a, bits, count) CASE(stp_##name, U32, a, NONE, NONE, NONE, stp, none, DEST_IN_B, count, bits)

#define FLOAT_SETP(name, cmp)                                                                   \
    CASE(setp_##name##_f32, PRED, F32, F32, PRED, NONE, setp_float, bools, SECOND, 2, cmp)      \
    CASE(setp_##name##_f32_ftz, PRED, F32, F32, PRED, NONE, setp_float, bools_ftz, SECOND, 2, cmp | 32) \
    CASE(setp_##name##_f64, PRED, F64, F64, PRED, NONE, setp_float, bools, SECOND, 2, cmp)
#define TESTP(name, which) \
    CASE_W(testp_##name##_f32, PRED, F32, NONE, NONE, testp, none, which) \
    CASE_W(testp_##name##_f64, PRED, F64, NONE, NONE, testp, none, which)
#define FLOAT_OP(name, KB, KC, which)                                                           \
    CASE_W(name##_f32, F32, F32, KB(F32), KC(F32), f32, none, which)                            \
    CASE_W(name##_f32_ftz, F32, F32, KB(F32), KC(F32), f32, ftz, which | 32)                    \
    CASE_W(name##_f32_x, F32, F32, KB(F32), KC(F32), f32, roundings_sat, which)                 \
    CASE_W(name##_f32_ftz_x, F32, F32, KB(F32), KC(F32), f32, roundings_ftz, which | 32)        \
    CASE_W(name##_f64, F64, F64, KB(F64), KC(F64), f64, none, which)                            \
    CASE_W(name##_f64_x, F64, F64, KB(F64), KC(F64), f64, roundings, which)
#define YES(k) k
#define NO(k) NONE
#define F32X2_OP(name, KC, which)                                                               \
    CASE_W(name##_f32x2, F32X2, F32X2, F32X2, KC(F32X2), f32x2, none, which)                    \
    CASE_W(name##_f32x2_ftz, F32X2, F32X2, F32X2, KC(F32X2), f32x2, ftz, which | 32)            \
    CASE_W(name##_f32x2_x, F32X2, F32X2, F32X2, KC(F32X2), f32x2, directed, which)              \
    CASE_W(name##_f32x2_ftz_x, F32X2, F32X2, F32X2, KC(F32X2), f32x2, directed_ftz, which | 32)
#define MINMAX(m, max)                                                                          \
    CASE_W(m##_f32, F32, F32, F32, NONE, minmax_f32, none, max)                                 \
    CASE_W(m##_f32_ftz, F32, F32, F32, NONE, minmax_f32, ftz, max | MINMAX_FTZ)                 \
    CASE_W(m##_f32_NaN, F32, F32, F32, NONE, minmax_f32, none, max | MINMAX_NAN)                \
    CASE_W(m##_f32_ftz_NaN, F32, F32, F32, NONE, minmax_f32, ftz, max | MINMAX_FTZ | MINMAX_NAN) \
    CASE_W(m##_f32_xorsign, F32, F32, F32, NONE, minmax_f32, none, max | MINMAX_XOR)            \
    CASE_W(m##_f32_ftz_xorsign, F32, F32, F32, NONE, minmax_f32, ftz, max | MINMAX_FTZ | MINMAX_XOR) \
    CASE_W(m##_f32_NaN_xorsign, F32, F32, F32, NONE, minmax_f32, none, max | MINMAX_NAN | MINMAX_XOR) \
    CASE_W(m##_f32_ftz_NaN_xorsign, F32, F32, F32, NONE, minmax_f32, ftz, max | MINMAX_FTZ | MINMAX_NAN | MINMAX_XOR) \
    CASE_W(m##_f64, F64, F64, F64, NONE, minmax_f64, none, max)

#define CVT_SAT(d, D, s, S_) CASE_1(cvt_sat_##d##_##s, D, S_, cvt_sat)
#define FOR_CVT_INTS(F) F(u8, U8) F(s8, S8) F(u16, U16) F(s16, S16) F(u32, U32) F(s32, S32) F(u64, U64) F(s64, S64)
#define CVT_INT(t, K)                                                                           \
    CASE_W(cvt_##t##_f32, K, F32, NONE, NONE, cvt_to_int, roundings_all, 0)                     \
    CASE_W(cvt_##t##_f16, K, F16, NONE, NONE, cvt_to_int, roundings_sat, 0)                     \
    CASE_W(cvt_##t##_f64, K, F64, NONE, NONE, cvt_to_int, roundings_sat, 0)                     \
    CASE_W(cvt_f32_##t, F32, K, NONE, NONE, cvt_from_int, roundings_all, 0)                     \
    CASE_W(cvt_f16_##t, F16, K, NONE, NONE, cvt_from_int, roundings_sat, 0)                     \
    CASE_W(cvt_f64_##t, F64, K, NONE, NONE, cvt_from_int, roundings_sat, 0)                     \
    CASE_W(cvt_##t##_bf16, K, BF16, NONE, NONE, cvt_to_int, roundings, 0)                       \
    CASE_W(cvt_bf16_##t, BF16, K, NONE, NONE, cvt_from_int, roundings, 0)
#define CVT(name, d, a, mods) CASE_W(cvt_##name, d, a, NONE, NONE, cvt_float, mods, 0)

#define APPROX(f) \
    CASE_1(f##_approx_f32, F32, F32, f##_approx_f32) \
    CASE_W(f##_approx_f32_ftz, F32, F32, NONE, NONE, f##_approx_ftz_f32, ftz, 0)

static const struct alu_case cases[] = {
    FOR_WIDTHS(SIGNLESS)
    FOR_INTS(INTS)
    CASE_1(abs_s16, S16, S16, absolute) CASE_1(abs_s32, S32, S32, absolute) CASE_1(abs_s64, S64, S64, absolute)
    WIDE(u16, U16, U32) WIDE(s16, S16, S32) WIDE(u32, U32, U64) WIDE(s32, S32, S64)
    CASE_2(add_sat_s32, S32, S32, S32, add_sat) CASE_2(sub_sat_s32, S32, S32, S32, sub_sat)
    CASE_3(mad_hi_sat_s32, S32, S32, S32, S32, mad_hi_sat)
    CASE_2(min_relu_s32, S32, S32, S32, min_relu) CASE_2(max_relu_s32, S32, S32, S32, max_relu)
    MUL24(u32, U32) MUL24(s32, S32) CASE_3(mad24_hi_sat_s32, S32, S32, S32, S32, mad24_hi_sat)
    HALVES(add_i16x2, 0) HALVES(min_u16x2, 1) HALVES(max_u16x2, 2) HALVES(min_s16x2, 5) HALVES(max_s16x2, 6)
    HALVES(min_relu_s16x2, 13) HALVES(max_relu_s16x2, 14)
    PACKED(add_sat_u16x2, 16, 0, ADD_SAT) PACKED(add_sat_s16x2, 16, 1, ADD_SAT)
    PACKED(add_u8x4, 8, 0, ADD_WRAP) PACKED(add_s8x4, 8, 1, ADD_WRAP)
    PACKED(add_sat_u8x4, 8, 0, ADD_SAT) PACKED(add_sat_s8x4, 8, 1, ADD_SAT)
    PACKED(sub_u8x4, 8, 0, SUB_WRAP) PACKED(sub_s8x4, 8, 1, SUB_WRAP)
    PACKED(sub_sat_u8x4, 8, 0, SUB_SAT) PACKED(sub_sat_s8x4, 8, 1, SUB_SAT)
    PACKED(min_u8x4, 8, 0, LEAST) PACKED(min_s8x4, 8, 1, LEAST) PACKED(min_relu_s8x4, 8, 1, LEAST | NOT_NEGATIVE)
    PACKED(max_u8x4, 8, 0, MOST) PACKED(max_s8x4, 8, 1, MOST) PACKED(max_relu_s8x4, 8, 1, MOST | NOT_NEGATIVE)
    COMPARED(lt, IS_LESS) COMPARED(eq, IS_EQUAL) COMPARED(gt, IS_GREATER) COMPARED(le, IS_LESS | IS_EQUAL)
    COMPARED(ge, IS_GREATER | IS_EQUAL) COMPARED(ne, IS_LESS | IS_GREATER)
    CASE_W(neg_s8x4, U32, U32, NONE, NONE, packed, none, 8 | NEGATE << 8)
    CASE_W(add_sat_u32, U32, U32, U32, NONE, packed, none, 32 | ADD_SAT << 8)
    CASE_W(clmad_lo_u64, U64, U64, U64, U64, carryless, none, 0)
    CASE_W(clmad_hi_u64, U64, U64, U64, U64, carryless, none, 64)
    DOT(u32, U32, u32, U32) DOT(u32, U32, s32, S32) DOT(s32, S32, u32, U32) DOT(s32, S32, s32, S32)

    CARRIES(32, U32) CARRIES(64, U64)
    CARRIES_HI(u32, U32) CARRIES_HI(s32, S32) CARRIES_HI(u64, U64) CARRIES_HI(s64, S64)
    CC(addc_i16, U16, ccs, 4, CC_IN_MODS) CC(subc_i16, U16, ccs, 5, CC_IN_MODS) CC(madc_lo_i16, U16, ccs, 6, CC_IN_MODS)
    CC(madc_hi_u16, U16, ccs, 7, CC_IN_MODS) CC(madc_hi_s16, S16, ccs, 7, CC_IN_MODS)

    CASE_2(and_pred, PRED, PRED, PRED, and_p) CASE_2(or_pred, PRED, PRED, PRED, or_p)
    CASE_2(xor_pred, PRED, PRED, PRED, xor_p)
    CASE_1(not_pred, PRED, PRED, not_p) CASE_2(and_pred_n, PRED, PRED, PRED, and_pn)
    CASE_2(or_pred_n, PRED, PRED, PRED, or_pn)
    CASE_1(mov_pred, PRED, PRED, mov_p)
    CASE_3(lea_32, U32, U32, U32, U32, lea) CASE_3(lea_64, U64, U64, U32, U64, lea)
    CASE(lop3_b32, U32, U32, U32, U32, NONE, lop3, none, 0, 256, 0)
    CASE(lop3_b32, U32, U32, U32, U32, NONE, lop3, none, 0, 256, 0)
    CASE_W(shf_l_b32, U32, U32, U32, U32, shf_l, wraps, 0) CASE_W(shf_r_b32, U32, U32, U32, U32, shf_r, wraps, 0)
    BITS_32_64(32, U32) BITS_32_64(64, U64)
    CASE_3(fns_b32, U32, U32, U32, S32, fns)
    CASE_W(bmsk_b32, U32, U32, U32, NONE, bmsk, wraps, 0) CASE_W(szext_u32, U32, U32, U32, NONE, szext, wraps, 0)
    CASE_W(szext_s32, S32, S32, U32, NONE, szext, wraps, 0)
    CASE_3(prmt_b32, U32, U32, U32, U32, prmt) PRMT(f4e, 0) PRMT(b4e, 1) PRMT(rc8, 2) PRMT(ecl, 3) PRMT(ecr, 4)
    PRMT(rc16, 5)

    CASE_1(mov_128, B128, B128, move)
    CASE_2(pack_2x8, U16, U8, U8, pack) CASE(pack_4x8, U32, U8, U8, U8, U8, pack, none, 0, 0, 0)
    CASE_2(pack_2x16, U32, U16, U16, pack) CASE(pack_4x16, U64, U16, U16, U16, U16, pack, none, 0, 0, 0)
    CASE_2(pack_2x32, U64, U32, U32, pack) CASE_2(pack_2x64, B128, U64, U64, pack)
    CASE(pack_4x32, B128, U32, U32, U32, U32, pack, none, 0, 0, 0)
    UNPACK(unpack_8, U16, U16, bytes_2, 8, 2) UNPACK(unpack_8, U16, U32, bytes_4, 8, 4)
    UNPACK(unpack_16, U16, U32, bytes_4, 16, 2) UNPACK(unpack_16, U16, U64, bytes_8, 16, 4)
    UNPACK(unpack_32, U32, U64, bytes_8, 32, 2) UNPACK(unpack_32, U32, B128, bytes_16, 32, 4)
    UNPACK(unpack_64, U64, B128, bytes_16, 64, 2)
    EXTEND(ext_u8_16, U16, U8) EXTEND(ext_s8_16, U16, S8) EXTEND(ext_u8_32, U32, U8) EXTEND(ext_s8_32, U32, S8)
    EXTEND(ext_u8_64, U64, U8) EXTEND(ext_s8_64, U64, S8) EXTEND(ext_u16_32, U32, U16) EXTEND(ext_s16_32, U32, S16)
    EXTEND(ext_u16_64, U64, U16) EXTEND(ext_s16_64, U64, S16) EXTEND(ext_u32_64, U64, U32) EXTEND(ext_s32_64, U64, S32)
    EXTEND(trunc_32_16, U16, U32) EXTEND(trunc_64_16, U16, U64) EXTEND(trunc_64_32, U32, U64)
    LDP(u8_16, U16, U8, 4) LDP(s8_16, U16, S8, 4) LDP(32, U32, U32, 1)
    LDP(16, U16, U16, 3)
    CASE(ldp_64, U64, NONE, WORDS, NONE, NONE, ldp_64, none, 0, 0, 0)
    STP(8, U16, 8, 4) STP(16, U16, 16, 3) STP(32, U32, 32, 1)
    CASE(stp_64, WORDS, U64, NONE, NONE, NONE, stp_64, none, DEST_IN_B, 0, 0)

    FLOAT_SETP(eq, EQ) FLOAT_SETP(ne, NE) FLOAT_SETP(lt, LT) FLOAT_SETP(le, LE) FLOAT_SETP(gt, GT) FLOAT_SETP(ge, GE)
    FLOAT_SETP(equ, EQU) FLOAT_SETP(neu, NEU) FLOAT_SETP(ltu, LTU) FLOAT_SETP(leu, LEU) FLOAT_SETP(gtu, GTU)
    FLOAT_SETP(geu, GEU)
    FLOAT_SETP(num, NUM) FLOAT_SETP(nan, NAN_)
    TESTP(finite, 0) TESTP(infinite, 1) TESTP(number, 2) TESTP(notanumber, 3) TESTP(normal, 4) TESTP(subnormal, 5)

    FLOAT_OP(add, YES, NO, ADD) FLOAT_OP(sub, YES, NO, SUB) FLOAT_OP(mul, YES, NO, MUL) FLOAT_OP(fma, YES, YES, FMA)
    F32X2_OP(add, NO, ADD) F32X2_OP(sub, NO, SUB) F32X2_OP(mul, NO, MUL) F32X2_OP(fma, YES, FMA)
    FLOAT_OP(div, YES, NO, DIV) FLOAT_OP(rcp, NO, NO, RCP) FLOAT_OP(sqrt, NO, NO, SQRT)
    CASE_W(neg_f32, F32, F32, NONE, NONE, f32_sign, none, 0) CASE_W(abs_f32, F32, F32, NONE, NONE, f32_sign, none, 1)
    CASE_W(neg_f32_ftz, F32, F32, NONE, NONE, f32_sign, ftz, 2)
    CASE_W(abs_f32_ftz, F32, F32, NONE, NONE, f32_sign, ftz, 3)
    CASE_W(neg_f64, F64, F64, NONE, NONE, f64_sign, none, 0) CASE_W(abs_f64, F64, F64, NONE, NONE, f64_sign, none, 1)
    CASE_2(copysign_f32, F32, F32, F32, copysign_) CASE_2(copysign_f64, F64, F64, F64, copysign_)
    MINMAX(min, 0) MINMAX(max, MINMAX_MAX)
    CASE_W(min3_f32, F32, F32, F32, F32, minmax3, nan_ftz, 0)
    CASE_W(min3_f32_abs, F32, F32, F32, F32, minmax3, nan_ftz, 16)
    CASE_W(max3_f32, F32, F32, F32, F32, minmax3, nan_ftz, MINMAX_MAX)
    CASE_W(max3_f32_abs, F32, F32, F32, F32, minmax3, nan_ftz, MINMAX_MAX | 16)

    CVT_SAT(u8, U8, u16, U16) CVT_SAT(u8, U8, u32, U32) CVT_SAT(u8, U8, u64, U64) CVT_SAT(u8, U8, s8, S8)
    CVT_SAT(u8, U8, s16, S16)
    CVT_SAT(u8, U8, s32, S32) CVT_SAT(u8, U8, s64, S64) CVT_SAT(s8, S8, u8, U8) CVT_SAT(s8, S8, u16, U16)
    CVT_SAT(s8, S8, u32, U32)
    CVT_SAT(s8, S8, u64, U64) CVT_SAT(s8, S8, s16, S16) CVT_SAT(s8, S8, s32, S32) CVT_SAT(s8, S8, s64, S64)
    CVT_SAT(u16, U16, u32, U32) CVT_SAT(u16, U16, u64, U64) CVT_SAT(u16, U16, s8, S8) CVT_SAT(u16, U16, s16, S16)
    CVT_SAT(u16, U16, s32, S32) CVT_SAT(u16, U16, s64, S64) CVT_SAT(s16, S16, u16, U16) CVT_SAT(s16, S16, u32, U32)
    CVT_SAT(s16, S16, u64, U64) CVT_SAT(s16, S16, s32, S32) CVT_SAT(s16, S16, s64, S64) CVT_SAT(u32, U32, u64, U64)
    CVT_SAT(u32, U32, s8, S8) CVT_SAT(u32, U32, s16, S16) CVT_SAT(u32, U32, s32, S32) CVT_SAT(u32, U32, s64, S64)
    CVT_SAT(s32, S32, u32, U32) CVT_SAT(s32, S32, u64, U64) CVT_SAT(s32, S32, s64, S64) CVT_SAT(u64, U64, s8, S8)
    CVT_SAT(u64, U64, s16, S16) CVT_SAT(u64, U64, s32, S32) CVT_SAT(u64, U64, s64, S64) CVT_SAT(s64, S64, u64, U64)
    FOR_CVT_INTS(CVT_INT)
    CVT(f32_f16, F32, F16, sats) CVT(f32_f32, F32, F32, ftz_sats) CVT(f64_f64, F64, F64, sats)
    CVT(f64_f32, F64, F32, ftz_sats)
    CVT(f64_f16, F64, F16, sats) CVT(f16_f16, F16, F16, sats) CVT(f32_f64, F32, F64, roundings_all)
    CVT(f16_f32, F16, F32, roundings_all)
    CVT(f16_f64, F16, F64, roundings_sat) CVT(bf16_f32, BF16, F32, roundings_or_ftz) CVT(f32_bf16, F32, BF16, ftzs)
    CVT(f16_f32, F16, F32, limits) CVT(bf16_f32, BF16, F32, limits) CVT(bf16_f64, BF16, F64, roundings)
    CVT(f64_bf16, F64, BF16, none)
    CVT(bf16_f16, BF16, F16, roundings) CVT(f16_bf16, F16, BF16, roundings) CVT(bf16_bf16, BF16, BF16, none)
    CASE_W(cvt_rint_bf16, BF16, BF16, NONE, NONE, cvt_rint, roundings, 0)
    CASE_W(cvt_rint_f32, F32, F32, NONE, NONE, cvt_rint, roundings_all, 0)
    CASE_W(cvt_rint_f64, F64, F64, NONE, NONE, cvt_rint, roundings_sat, 0)
    APPROX(rcp) APPROX(rsqrt) APPROX(sqrt) APPROX(ex2) APPROX(lg2)
    CASE_1(sin_approx_f32, F32, F32, sin_approx_f32)
    CASE_W(sin_approx_f32_ftz, F32, F32, NONE, NONE, sin_approx_f32, ftz, 0)
    CASE_1(cos_approx_f32, F32, F32, cos_approx_f32)
    CASE_1(sin_2pi_f32, F32, F32, sin_2pi_f32) CASE_1(cos_2pi_f32, F32, F32, cos_2pi_f32)
    CASE_W(cos_approx_f32_ftz, F32, F32, NONE, NONE, cos_approx_f32, ftz, 0)
    CASE_1(tanh_approx_f32, F32, F32, tanh_approx_f32) CASE_1(rcp_approx_f64, F64, F64, rcp_approx_ftz_f64)
    CASE_1(rsqrt_approx_f64, F64, F64, rsqrt_approx_f64) CASE_1(rsqrt_approx_f64_ftz, F64, F64, rsqrt_approx_ftz_f64)
    CASE_W(scale_div_approx_f32, U32, F32, NONE, NONE, scale, none, 1)
    CASE_W(scale_rcp_f32, U32, F32, NONE, NONE, scale, none, 3)
    CASE_W(scale_div_full_f32_ftz, U32, F32, NONE, NONE, scale, none, 2)
    CASE_2(div_approx_f32, F32, F32, F32, div_approx_f32) CASE_2(div_approx_f32_ftz, F32, F32, F32, div_approx_ftz_f32)
    CASE_2(div_full_f32, F32, F32, F32, div_full_f32) CASE_2(div_full_f32_ftz, F32, F32, F32, div_full_ftz_f32)
    CASE_W(cvt_rint_f16, F16, F16, NONE, NONE, cvt_rint, roundings_sat, 0)
};
ALU_TABLE(alu_general, cases)
