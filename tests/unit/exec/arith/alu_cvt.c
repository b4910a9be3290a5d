/* Cases of conversions to and from pairs, and of cvt.pack. */
#include "unit/exec/arith/alu.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "isa/bytecode.h"
#include "unit/exec/arith/alu_float.h"
#include "unit/support/minifloat_reference.h"

#define FORMAT (&smalls[o->case_->which])
#define MODE ((int)(o->mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT)

/* Element n of the source: one of two operands, or a half of one operand. */
static double element(const struct operands *o, int n)
{
    uint64_t v = (uint64_t)o->v[0];

    switch (o->case_->a) {
    case F16X2: return small_number(&smalls[F16_], (n ? v : v >> 16) & 0xffff);
    case BF16X2: return small_number(&smalls[BF16_], (n ? v : v >> 16) & 0xffff);
    default: return from_f32((uint32_t)o->v[n]);
    }
}

static unsigned element_distance(int which)
{
    return which == E2M1 ? 4 : which == F16_ || which == BF16_ ? 16 : 8;
}

static unsigned relu(const struct operands *o, const struct small *f, unsigned code)
{
    return o->mods & PTXI_MOD_RELU && code & small_sign(f) ? 0 : code;
}

static void set_pair(struct results *r, unsigned high, unsigned low, unsigned distance)
{
    r->d = (unsigned __int128)high << distance | low;
}

/* --- the reference of each operation --- */
REF(narrow)
{
    bool finite = o->mods & PTXI_MOD_SATFINITE;
    unsigned code[2];

    for (int n = 0; n < 2; n++)
        code[n] = relu(o, FORMAT, small_code(FORMAT, element(o, n), MODE, finite, 0, 0));
    set_pair(r, code[0], code[1], element_distance(o->case_->which));
}

REF(pair_at_random)
{
    int bits = o->case_->which == F16_ ? 13 : 16;
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        unsigned random = (unsigned)(o->v[2] >> (n ? 0 : 16)) & ((1u << bits) - 1);

        code[n] = relu(o, FORMAT, small_code(FORMAT, element(o, n), SMALL_RS, o->mods & PTXI_MOD_SATFINITE, random,
                                             bits));
    }
    set_pair(r, code[0], code[1], 16);
}

/* Two bytes share 16 random bits. Each of two 4-bit elements has 8 random bits of its own. */
REF(four_at_random)
{
    bool separate_bits = o->case_->which == E2M1;
    static const int bits_at[4] = { 24, 8, 16, 0 };

    for (int n = 0; n < 4; n++) {
        unsigned random = separate_bits ? (unsigned)(o->v[4] >> bits_at[n]) & 0xff
            : (unsigned)(o->v[4] >> (n < 2 ? 16 : 0)) & 0xffff;

        r->d = r->d << element_distance(o->case_->which) |
               relu(o, FORMAT, small_code(FORMAT, element(o, n), SMALL_RS, true, random, separate_bits ? 8 : 16));
    }
}

REF(widen)
{
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        unsigned distance = n ? 0 : element_distance(o->case_->which);
        double x = small_number(FORMAT, (unsigned)(o->v[0] >> distance) & 0xff);

        code[n] = relu(o, &smalls[F16_], small_code(&smalls[F16_], x, SMALL_RN, false, 0, 0));
    }
    set_pair(r, code[0], code[1], 16);
}

REF(tf32)
{
    unsigned code = small_code(FORMAT, element(o, 0), MODE, o->mods & PTXI_MOD_SATFINITE, 0, 0);

    r->d = (unsigned __int128)relu(o, FORMAT, code) << 13;
}

/* Infinities and NaNs are truncated, not rounded. .satfinite subtracts one from them. */
REF(tf32_rna)
{
    uint32_t a = (uint32_t)o->v[0];
    bool finite = o->mods & PTXI_MOD_SATFINITE, special = (a & 0x7f800000) == 0x7f800000;

    r->d = special ? (a >> 13) - finite : small_code(FORMAT, from_f32(a), SMALL_RNA, finite, 0, 0);
    r->d <<= 13;
}

static unsigned scale_code(const struct operands *o, double x)
{
    double m = fabs(x);
    unsigned code = 0;

    if (isnan(x))
        return 0xff;
    while (code < 0xff && (MODE == PTXI_RP ? ldexp(1, (int)code - 127) < m : ldexp(1, (int)code - 126) <= m))
        code++;
    return code == 0xff && o->mods & PTXI_MOD_SATFINITE ? 0xfe : code;
}

REF(to_scales) { set_pair(r, scale_code(o, element(o, 0)), scale_code(o, element(o, 1)), 8); }

static unsigned scale_value(unsigned code)
{
    return small_code(&smalls[BF16_], code == 0xff ? NAN : ldexp(1, (int)code - 127), SMALL_RN, false, 0, 0);
}

REF(from_scales) { set_pair(r, scale_value((unsigned)o->v[0] >> 8), scale_value((unsigned)o->v[0] & 0xff), 16); }

/* --- s2f6; which: the source that has the scales, or 0 --- */
static double scale_of(const struct operands *o, int n)
{
    int which = o->case_->which;
    unsigned code = which ? (unsigned)(o->v[which] >> (n ? 0 : 8)) & 0xff : 127;

    return code == 0xff ? NAN : ldexp(1, (int)code - 127);
}

REF(to_fixed)
{
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        code[n] = fixed_code(element(o, n) / scale_of(o, n));
        if (o->mods & PTXI_MOD_RELU && code[n] & 0x80)
            code[n] = 0;
    }
    set_pair(r, code[0], code[1], 8);
}

REF(from_fixed)
{
    const struct small *bf16 = &smalls[BF16_];
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        double x = (double)(int8_t)(o->v[0] >> (n ? 0 : 8)) / 64 * scale_of(o, n);

        code[n] = relu(o, bf16, small_code(bf16, x, SMALL_RN, o->mods & PTXI_MOD_SATFINITE, 0, 0));
    }
    set_pair(r, code[0], code[1], 16);
}

/* --- 8-bit and narrower formats to bf16; which: the format, and SCALED if b has the scales --- */
enum { SCALED = 16 };

REF(to_bf16)
{
    const struct small *f = &smalls[o->case_->which & (SCALED - 1)], *bf16 = &smalls[BF16_];
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        unsigned distance = n ? 0 : element_distance(o->case_->which & (SCALED - 1));
        double x = small_number(f, (unsigned)(o->v[0] >> distance) & 0xff);
        unsigned scale = o->case_->which & SCALED ? (unsigned)(o->v[1] >> (n ? 0 : 8)) & 0xff : 127;

        x *= scale == 0xff ? NAN : ldexp(1, (int)scale - 127);
        code[n] = relu(o, bf16, small_code(bf16, x, SMALL_RN, o->mods & PTXI_MOD_SATFINITE, 0, 0));
    }
    set_pair(r, code[0], code[1], 16);
}

REF(narrow_rz)
{
    unsigned code[2];

    for (int n = 0; n < 2; n++)
        code[n] = relu(o, FORMAT, small_code(FORMAT, element(o, n), SMALL_RZ, true, 0, 0));
    set_pair(r, code[0], code[1], element_distance(o->case_->which));
}

/* ue5m3: as if the NaN were a number above the largest one. */
static unsigned unsigned_code(double x, int rounding, bool finite)
{
    static const struct small with_nan = { 3, 5, 15, 0xff, 0xff, false };
    unsigned code = small_code(&with_nan, fabs(x), rounding, true, 0, 0);

    if (isnan(x))
        return 0xff;
    if (finite || (rounding == SMALL_RZ && !isinf(x)))
        return code < 0xfe ? code : 0xfe;
    return code;
}

REF(narrow_unsigned)
{
    bool finite = o->mods & PTXI_MOD_SATFINITE;

    set_pair(r, unsigned_code(element(o, 0), MODE, finite), unsigned_code(element(o, 1), MODE, finite), 8);
}

/* .pzo: a negative zero becomes positive. */
static unsigned without_negative_zero(const struct operands *o, const struct small *f, unsigned code)
{
    return o->mods & PTXI_MOD_PZO && code == small_sign(f) ? 0 : code;
}

REF(one_without_negative_zero)
{
    const struct small *f = FORMAT;
    double x = element(o, 0);
    unsigned code;

    if (o->mods & PTXI_MOD_FTZ && fabs(x) < 0x1p-126)
        x = copysign(0, x);
    code = small_code(f, x, MODE, o->mods & PTXI_MOD_SATFINITE, 0, 0);
    r->d = (unsigned __int128)without_negative_zero(o, f, relu(o, f, code)) << (f == &smalls[TF32] ? 13 : 0);
}

REF(two_without_negative_zero)
{
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        code[n] = small_code(FORMAT, element(o, n), MODE, o->mods & PTXI_MOD_SATFINITE, 0, 0);
        code[n] = without_negative_zero(o, FORMAT, relu(o, FORMAT, code[n]));
    }
    set_pair(r, code[0], code[1], element_distance(o->case_->which));
}

/* Both elements are divided by the scale in the last operand. */
REF(quotients)
{
    bool from_f32_pair = o->case_->a == F32;
    double least = ldexp(1, o->case_->a == F16X2 ? -14 : -126);
    unsigned scale = (unsigned)o->v[from_f32_pair ? 2 : 1] & 0xff, code[2];

    for (int n = 0; n < 2; n++) {
        double x = element(o, n);

        x = fabs(x) < least ? copysign(0, x) : x;
        x = scale == 0xff ? NAN : ldexp(x, 127 - (int)scale);
        if (o->case_->which == UE5M3) {
            code[n] = unsigned_code(x, MODE, o->mods & PTXI_MOD_SATFINITE);
            continue;
        }
        code[n] = without_negative_zero(o, FORMAT, relu(o, FORMAT, small_code(FORMAT, x, MODE, true, 0, 0)));
    }
    set_pair(r, code[0], code[1], element_distance(o->case_->which));
}

REF(to_fixed_toward_zero)
{
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        double units = trunc(element(o, n) / scale_of(o, n) * 64);
        int clamped = !(units <= 127) ? 127 : units < -128 ? -128 : (int)units;

        code[n] = o->mods & PTXI_MOD_RELU && clamped < 0 ? 0 : (unsigned)clamped & 0xff;
    }
    set_pair(r, code[0], code[1], 8);
}

/* --- sums and products of f32x2, rounded toward zero; which: format, and the operation in bits 4 and 5 --- */
enum { NARROW_ADD, NARROW_SUB = 16, NARROW_MUL = 32 };

REF(narrow_exact)
{
    int format = o->case_->which & 15, operation = o->case_->which & 48;
    unsigned code[2];

    for (int n = 0; n < 2; n++) {
        volatile double x = from_f32((uint32_t)(o->v[0] >> (n ? 0 : 32))), s;
        volatile double y = from_f32((uint32_t)(o->v[1] >> (n ? 0 : 32)));

        if (format == F16_) {
            x = fabs(x) < ldexp(1, -126) ? copysign(0, x) : x;
            y = fabs(y) < ldexp(1, -126) ? copysign(0, y) : y;
        }
        fesetround(FE_TOWARDZERO); /* twice toward zero is once toward zero */
        s = operation == NARROW_ADD ? x + y : operation == NARROW_SUB ? x - y : x * y;
        fesetround(FE_TONEAREST);
        code[n] = small_code(&smalls[format], s, SMALL_RZ, false, 0, 0);
        if (format == F16_ && !(code[n] & 0x7c00))
            code[n] &= 0x8000;
    }
    set_pair(r, code[0], code[1], 16);
}

/* which: number of bits, negative for signed types */
REF(pack)
{
    int bits = abs(o->case_->which), n[2] = { (int32_t)o->v[0], (int32_t)o->v[1] };
    int64_t max = ((int64_t)1 << (bits - (o->case_->which < 0))) - 1, min = o->case_->which < 0 ? -max - 1 : 0;

    r->d = bits < 16 ? o->v[2] << 2 * bits : 0;
    for (int k = 0; k < 2; k++)
        r->d |= (unsigned __int128)((n[k] < min ? min : n[k] > max ? max : n[k]) & (((int64_t)1 << bits) - 1)) << (k ? 0
        : bits);
}

/* --- modifiers to try --- */
enum { RELU = PTXI_MOD_RELU, FINITE = PTXI_MOD_SATFINITE, RZ = PTXI_RZ << PTXI_MOD_RND_SHIFT,
       RP = PTXI_RP << PTXI_MOD_RND_SHIFT };
MODS(none, 0)
MODS(relus, 0, RELU)
MODS(finites, 0, FINITE)
MODS(always_finite, FINITE, FINITE | RELU)
MODS(rs, 0, RELU, FINITE, FINITE | RELU)
MODS(rounded, 0, RELU, FINITE, FINITE | RELU, RZ, RZ | RELU, RZ | FINITE, RZ | FINITE | RELU)
MODS(unsigned_roundings, 0, FINITE, RZ, RZ | FINITE, RP, RP | FINITE)
enum { PZO = PTXI_MOD_PZO, RM = PTXI_RM << PTXI_MOD_RND_SHIFT, FTZ = PTXI_MOD_FTZ };
MODS(pzo_directed, PZO, PZO | RELU, PZO | FINITE, PZO | RZ, PZO | RM, PZO | RP | FINITE, PZO | RM | FINITE | RELU)
MODS(pzo_flushed, PZO, PZO | RZ | FINITE | RELU, PZO | RM, PZO | FTZ, PZO | FTZ | RZ, PZO | FTZ | RM, PZO | FTZ | RP)
MODS(pzo_rounded, PZO, PZO | RELU, PZO | FINITE, PZO | RZ, PZO | RZ | FINITE | RELU)
MODS(pzo_finite, PZO | FINITE, PZO | FINITE | RELU, PZO | RZ | FINITE, PZO | RZ | FINITE | RELU)
MODS(divided, FINITE, FINITE | RELU, RZ | FINITE, PZO | FINITE, PZO | RZ | FINITE | RELU)
MODS(divided_unsigned, 0, FINITE, RZ, RZ | FINITE)
MODS(scales, RZ, RZ | FINITE, RP, RP | FINITE)

#define PAIR_16(f, F)                                                                    \
    CASE(cvt_##f##x2_f32, U32, F32, F32, NONE, NONE, narrow, rounded, 0, 0, F)           \
    CASE(cvt_rs_##f##x2_f32, U32, F32, F32, U32, NONE, pair_at_random, rs, 0, 0, F)
#define PAIR_8(f, F)                                                                     \
    CASE(cvt_##f##x2_f32, U16, F32, F32, NONE, NONE, narrow, always_finite, 0, 0, F)            \
    CASE(cvt_##f##x2_f16x2, U16, F16X2, NONE, NONE, NONE, narrow, always_finite, 0, 0, F)       \
    CASE(cvt_##f##x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, narrow, always_finite, 0, 0, F)     \
    CASE(cvt_rs_##f##x4_f32, F == E2M1 ? U16 : U32, F32, F32, F32, F32, four_at_random, always_finite, FIFTH, 0, F) \
    CASE(cvt_f16x2_##f##x2, U32, U16, NONE, NONE, NONE, widen, relus, 0, 0, F)                  \
    CASE(cvt_bf16x2_##f##x2, U32, U16, NONE, NONE, NONE, to_bf16, rs, 0, 0, F)                  \
    CASE(cvt_scaled_bf16x2_##f##x2, U32, U16, U16, NONE, NONE, to_bf16, rs, 0, 0, F | SCALED)   \
    CASE(cvt_rz_##f##x2_f32, U16, F32, F32, NONE, NONE, narrow_rz, always_finite, 0, 0, F)      \
    CASE(cvt_rz_##f##x2_f16x2, U16, F16X2, NONE, NONE, NONE, narrow_rz, always_finite, 0, 0, F) \
    CASE(cvt_rz_##f##x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, narrow_rz, always_finite, 0, 0, F)
#define PZO_8(f, F)                                                                                             \
    CASE(cvt_pzo_##f##x2_f32, U16, F32, F32, NONE, NONE, two_without_negative_zero, pzo_finite, 0, 0, F)        \
    CASE(cvt_pzo_##f##x2_f16x2, U16, F16X2, NONE, NONE, NONE, two_without_negative_zero, pzo_finite, 0, 0, F)   \
    CASE(cvt_pzo_##f##x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, two_without_negative_zero, pzo_finite, 0, 0, F)
#define QUOTIENTS(f, F, mods)                                                                                   \
    CASE(cvt_n1_##f##x2_f32, U16, F32, F32, U16, NONE, quotients, mods, 0, 0, F)                                \
    CASE(cvt_n1_##f##x2_f16x2, U16, F16X2, U16, NONE, NONE, quotients, mods, 0, 0, F)                           \
    CASE(cvt_n1_##f##x2_bf16x2, U16, BF16X2, U16, NONE, NONE, quotients, mods, 0, 0, F)
#define NARROWED(op, which)                                                                                     \
    CASE(op##_f16x2_f32x2, U32, F32X2, F32X2, NONE, NONE, narrow_exact, none, 0, 0, F16_ | which)               \
    CASE(op##_bf16x2_f32x2, U32, F32X2, F32X2, NONE, NONE, narrow_exact, none, 0, 0, BF16_ | which)
#define PACK(name, bits) CASE(cvt_pack_##name, U32, S32, S32, U32, NONE, pack, none, 0, 0, bits)

static const struct alu_case cases[] = {
    PAIR_16(f16, F16_) PAIR_16(bf16, BF16_)
    PAIR_8(e5m2, E5M2) PAIR_8(e4m3, E4M3) PAIR_8(e3m2, E3M2) PAIR_8(e2m3, E2M3) PAIR_8(e2m1, E2M1)
    CASE(cvt_bf16x2_ue5m3x2, U32, U16, NONE, NONE, NONE, to_bf16, finites, 0, 0, UE5M3)
    CASE(cvt_scaled_bf16x2_ue5m3x2, U32, U16, U16, NONE, NONE, to_bf16, finites, 0, 0, UE5M3 | SCALED)
    CASE(cvt_f16x2_ue5m3x2, U32, U16, NONE, NONE, NONE, widen, none, 0, 0, UE5M3)
    CASE(cvt_ue5m3x2_f32, U16, F32, F32, NONE, NONE, narrow_unsigned, unsigned_roundings, 0, 0, 0)
    CASE(cvt_ue5m3x2_f16x2, U16, F16X2, NONE, NONE, NONE, narrow_unsigned, unsigned_roundings, 0, 0, 0)
    CASE(cvt_ue5m3x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, narrow_unsigned, unsigned_roundings, 0, 0, 0)
    CASE(cvt_tf32_f32, U32, F32, NONE, NONE, NONE, tf32, rounded, 0, 0, TF32)
    CASE(cvt_rna_tf32_f32, U32, F32, NONE, NONE, NONE, tf32_rna, finites, 0, 0, TF32)
    CASE(cvt_ue8m0x2_f32, U16, F32, F32, NONE, NONE, to_scales, scales, 0, 0, 0)
    CASE(cvt_ue8m0x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, to_scales, scales, 0, 0, 0)
    CASE(cvt_bf16x2_ue8m0x2, U32, U16, NONE, NONE, NONE, from_scales, none, 0, 0, 0)
    CASE(cvt_s2f6x2_f32, U16, F32, F32, NONE, NONE, to_fixed, always_finite, 0, 0, 0)
    CASE(cvt_scaled_s2f6x2_f32, U16, F32, F32, U16, NONE, to_fixed, always_finite, 0, 0, 2)
    CASE(cvt_s2f6x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, to_fixed, always_finite, 0, 0, 0)
    CASE(cvt_scaled_s2f6x2_bf16x2, U16, BF16X2, U16, NONE, NONE, to_fixed, always_finite, 0, 0, 1)
    CASE(cvt_bf16x2_s2f6x2, U32, U16, NONE, NONE, NONE, from_fixed, rs, 0, 0, 0)
    CASE(cvt_scaled_bf16x2_s2f6x2, U32, U16, U16, NONE, NONE, from_fixed, rs, 0, 0, 1)
    CASE(cvt_rz_s2f6x2_f32, U16, F32, F32, NONE, NONE, to_fixed_toward_zero, always_finite, 0, 0, 0)
    CASE(cvt_rz_scaled_s2f6x2_f32, U16, F32, F32, U16, NONE, to_fixed_toward_zero, always_finite, 0, 0, 2)
    CASE(cvt_rz_s2f6x2_bf16x2, U16, BF16X2, NONE, NONE, NONE, to_fixed_toward_zero, always_finite, 0, 0, 0)
    CASE(cvt_rz_scaled_s2f6x2_bf16x2, U16, BF16X2, U16, NONE, NONE, to_fixed_toward_zero, always_finite, 0, 0, 1)
    CASE(cvt_pzo_f16_f32, F16, F32, NONE, NONE, NONE, one_without_negative_zero, pzo_directed, 0, 0, F16_)
    CASE(cvt_pzo_bf16_f32, BF16, F32, NONE, NONE, NONE, one_without_negative_zero, pzo_flushed, 0, 0, BF16_)
    CASE(cvt_pzo_tf32_f32, U32, F32, NONE, NONE, NONE, one_without_negative_zero, pzo_directed, 0, 0, TF32)
    CASE(cvt_pzo_f16x2_f32, U32, F32, F32, NONE, NONE, two_without_negative_zero, pzo_rounded, 0, 0, F16_)
    CASE(cvt_pzo_bf16x2_f32, U32, F32, F32, NONE, NONE, two_without_negative_zero, pzo_rounded, 0, 0, BF16_)
    PZO_8(e5m2, E5M2) PZO_8(e4m3, E4M3) PZO_8(e3m2, E3M2) PZO_8(e2m3, E2M3) PZO_8(e2m1, E2M1)
    QUOTIENTS(e5m2, E5M2, divided) QUOTIENTS(e4m3, E4M3, divided) QUOTIENTS(e3m2, E3M2, divided)
    QUOTIENTS(e2m3, E2M3, divided) QUOTIENTS(e2m1, E2M1, divided) QUOTIENTS(ue5m3, UE5M3, divided_unsigned)
    NARROWED(add, NARROW_ADD) NARROWED(sub, NARROW_SUB) NARROWED(mul, NARROW_MUL)
    PACK(u16, 16) PACK(s16, -16) PACK(u8, 8) PACK(s8, -8) PACK(u4, 4) PACK(s4, -4) PACK(u2, 2) PACK(s2, -2)
};
ALU_TABLE(alu_cvt, cases)
