/* The approximate instructions: rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, and division by reciprocal.
 *
 * The GPU has units that look up three coefficients by the leading bits of the operand and evaluate a quadratic in the
 * other bits. The units flush subnormal numbers. Results are exact integers at every step (doc/explanation/numerics.md,
 * "Approximations"), so the code is integer arithmetic without branches and can be inlined into loops over lanes.
 *
 * The _ftz_ functions are the units themselves. The other functions add the code that the assembler generates for
 * forms without .ftz. It multiplies floats and expects the host to round to nearest and to keep subnormal numbers. PTX
 * ISA, "Floating Point Instructions". */
#ifndef PTXI_NUM_APPROX_H
#define PTXI_NUM_APPROX_H

#include "num/convert.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The rounding constants of the units, without the part that is included in c0 of the tables. */
enum {
    PTXI_RCP_BIAS = 0x7e7,
    PTXI_RSQRT_BIAS = 0x3fff,
    PTXI_SQRT_BIAS = 0x7fff,
    PTXI_EX2_BIAS = 0x17e2,
    PTXI_LG2_BIAS = 0x345
};

/* The shift and the bias of a unit in total = (c0 << shift) + c1 * (x - 2^15) + c2 * square + bias. c1 and c2 are
 * signed numbers of 16 bits. c1 is above c2. If c1 needs more bits, a multiple of the operand is added, too. c0
 * includes the part of it that depends on the row, and the part that the exponent of the result needs, modulo 2^32. */
#define PTXI_RCP 13, PTXI_RCP_BIAS
#define PTXI_RSQRT 14, PTXI_RSQRT_BIAS
#define PTXI_SQRT 15, PTXI_SQRT_BIAS
#define PTXI_EX2 13, PTXI_EX2_BIAS
#define PTXI_LG2 8, PTXI_LG2_BIAS
#define PTXI_SIN 7, 0

/* The rows as pairs and as columns. The column c0 is 2^16 less for sin. c21 is c12 with its halves exchanged. `half`
 * has the rows by bits 16 to 23 of the operand. Its c0 includes the contribution of bit 16 of x, and -127 for lg2. */
struct ptxi_num_row {
    uint32_t c0, c12;
};
#define PTXI_NUM_TABLE(n)                                                      \
    {                                                                          \
        _Alignas(64) struct ptxi_num_row rows[n];                              \
        uint32_t c0[n], c12[n], c21[n];                                        \
        struct ptxi_num_row half[256];                                         \
    }
struct ptxi_num_table64 PTXI_NUM_TABLE(64);
struct ptxi_num_table128 PTXI_NUM_TABLE(128);
extern const struct ptxi_num_table128 ptxi_num_rcp, ptxi_num_rsqrt, ptxi_num_sqrt;

/* Columns for multiples of 8, for which x / 4 has 15 bits and no sign, and c2 / 4 is an integer:
 * total = (c0 << 12) - (c1 * (x / 4) + c2 * square). If any of its last bits is set, they count as one. */
extern const struct ptxi_num_columns128 {
    _Alignas(64) uint32_t c0[128], c12[128], c21[128];
} ptxi_num_rsqrt_eights;
extern const struct ptxi_num_table64 ptxi_num_ex2, ptxi_num_lg2, ptxi_num_sin, ptxi_num_tanh;

/* c ? a : b, without a condition. A compiler that moves table look-ups under a condition cannot vectorise them. */
static inline uint32_t ptxi_num_pick(bool c, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & -(uint32_t)c);
}

/* The squarer of the units: x * x / 2^19 for x of 17 bits, without the partial products below the last column. h is
 * the upper 8 bits of x, and its square is exact. a is the upper 7 bits of h, and b is the 7 bits below h. The product
 * of a bit of a and a bit of b counts if it is at least 2^6. These are four products of groups of bits. Each contains
 * at most one smaller partial product, which the shift drops. */
static inline int32_t ptxi_num_square17(uint32_t x)
{
    uint32_t h = x >> 9, a = x >> 10, b = x >> 2 & 0x7f;

    return (int32_t)((h * h >> 1) + ((a & 0x60) * b >> 6) + ((a & 0x18) * (b & 0x7c) >> 6) +
                     ((a & 0x06) * (b & 0x70) >> 6) + (a & b >> 6 & 1));
}

/* The total without c0; and the total with c0 but without its lowest bits, which most units do not need. The arguments
 * from `shift` on are one of PTXI_RCP to PTXI_SIN. */
static inline int64_t ptxi_num_low(struct ptxi_num_row row, uint32_t x, uint32_t square_of, int32_t bias)
{
    return (int64_t)((int32_t)row.c12 >> 16) * ((int32_t)x - 0x8000) +
           (int64_t)(int16_t)row.c12 * ptxi_num_square17(square_of) + bias;
}

static inline uint32_t ptxi_num_high(struct ptxi_num_row row, uint32_t x, uint32_t square_of, int shift, int32_t bias)
{
    return row.c0 + (uint32_t)(ptxi_num_low(row, x, square_of, bias) >> shift);
}

/* A fixed-point number below 2^52 as a float, rounded toward zero. 2^one represents 1.0. */
static inline uint32_t ptxi_num_fixed_to_f32(int64_t v, int one)
{
    uint64_t d = ptxi_num_bits_f64(ptxi_num_f64((uint64_t)v + 0x4330000000000000u) - 0x1p52);
    uint32_t r = (uint32_t)(d >> 29) - ((uint32_t)(1023 - 127 + one) << 23);

    return r & -(uint32_t)(v != 0);
}

/* a * b with .ftz. The result is flushed if the product, rounded to 24 bits, is below 2^-126. */
static inline uint32_t ptxi_num_mul_ftz_f32(uint32_t a, uint32_t b)
{
    float x = ptxi_num_in_ftz_f32(a), y = ptxi_num_in_ftz_f32(b);

    return ptxi_num_canon_scaled_f32(x * y, x * PTXI_FTZ_SCALE * y);
}

static inline uint32_t ptxi_num_mul_f32(uint32_t a, float b)
{
    return ptxi_num_canon_f32(ptxi_num_f32(a) * b);
}

/* |a| < 2^-126, |a| > 2^126 */
static inline bool ptxi_num_is_tiny_f32(uint32_t a)
{
    return (a & 0x7fffffff) < 0x00800000;
}

static inline bool ptxi_num_is_large_f32(uint32_t a)
{
    return (a & 0x7fffffff) > 0x7e800000 && (a & 0x7fffffff) <= 0x7f800000;
}

/* ---- rcp ---- */

/* 2^24 / (1 + m / 2^23) */
static inline int32_t ptxi_num_rcp_significand(uint32_t m)
{
    return (int32_t)((ptxi_num_high(ptxi_num_rcp.rows[m >> 16], m & 0xffff, m << 1 & 0x1ffff, PTXI_RCP) >> 2) - m);
}

static inline uint32_t ptxi_num_rcp_approx_ftz_f32(uint32_t a)
{
    uint32_t sign = a & 0x80000000, e = a >> 23 & 0xff;
    int32_t r = (252 - (int32_t)e) * (1 << 23) + ptxi_num_rcp_significand(a & 0x7fffff);

    r = r < 0x00800000 ? 0 : r;
    r = e == 0 ? 0x7f800000 : r;
    r = e == 255 ? 0 : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : sign | (uint32_t)r;
}

/* The factor of operand and result without .ftz. */
static inline float ptxi_num_rcp_scale(uint32_t a)
{
    float scale = ptxi_num_is_large_f32(a) ? 0.25f : 1.0f;

    return ptxi_num_is_tiny_f32(a) ? 0x1p24f : scale;
}

static inline uint32_t ptxi_num_rcp_approx_f32(uint32_t a)
{
    float scale = ptxi_num_rcp_scale(a);

    return ptxi_num_mul_f32(ptxi_num_rcp_approx_ftz_f32(ptxi_num_mul_f32(a, scale)), scale);
}

/* f64: only the upper word of the operand counts. The unit reads and writes 20 bits of fraction. */
static inline uint32_t ptxi_num_rcp_argument_f64(uint32_t h)
{
    return (h & 0xfffff) << 3;
}

static inline uint32_t ptxi_num_rcp_upper_f64(uint32_t h, uint32_t significand)
{
    uint32_t sign = h & 0x80000000, e = h >> 20 & 0x7ff;
    int32_t r = (2044 - (int32_t)e) * (1 << 20) + (int32_t)(significand >> 3);

    r = r < 0x00100000 ? 0 : r;
    r = (int32_t)ptxi_num_pick(e == 0, 0x7ff00000, (uint32_t)r);
    r = (int32_t)ptxi_num_pick(e == 2047, 0, (uint32_t)r);
    return ptxi_num_pick((h & 0x7fffffff) > 0x7ff00000, PTXI_NAN_F32, sign | (uint32_t)r);
}

static inline uint64_t ptxi_num_rcp_approx_ftz_f64(uint64_t a)
{
    uint32_t h = (uint32_t)(a >> 32), f = (uint32_t)ptxi_num_rcp_significand(ptxi_num_rcp_argument_f64(h));

    return (uint64_t)ptxi_num_rcp_upper_f64(h, f) << 32;
}

/* ---- rsqrt, sqrt. The tables cover two binades, [1, 4). The binade with odd exponents is first. ---- */

/* The arguments from shift on are PTXI_RSQRT or PTXI_SQRT. */
static inline uint32_t ptxi_num_root_high(const struct ptxi_num_table128 *t, uint32_t f, int shift, int32_t bias)
{
    return ptxi_num_high(t->rows[f >> 17 & 127], f & 0x1ffff, f & 0x1ffff, shift, bias);
}

/* 2^63 / sqrt(a) for positive normal numbers. A subnormal number is taken for a normal one with the same fraction. The
 * case a == 1 is exact. */
static inline uint32_t ptxi_num_rsqrt_scaled(uint32_t a)
{
    return ((ptxi_num_root_high(&ptxi_num_rsqrt, a, PTXI_RSQRT) - 2 * a) >> 2) + ((a & 0xffffff) == 0x800000);
}

static inline uint32_t ptxi_num_rsqrt_approx_ftz_f32(uint32_t a)
{
    uint32_t sign = a & 0x80000000, e = a >> 23 & 0xff, r;

    r = ptxi_num_rsqrt_scaled(a) + (63 << 23);
    r = sign ? PTXI_NAN_F32 : r;
    r = e == 0 ? sign | 0x7f800000 : r;
    r = a == 0x7f800000 ? 0 : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_rsqrt_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_tiny_f32(a);

    a = ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f);
    return ptxi_num_mul_f32(ptxi_num_rsqrt_approx_ftz_f32(a), small ? 0x1p12f : 1.0f);
}

static inline uint32_t ptxi_num_rsqrt_argument_f64(uint32_t h)
{
    return (h & 0x1fffff) << 3;
}

/* `scaled` is the result of the argument, which has the exponent 0 or 1. */
static inline uint32_t ptxi_num_rsqrt_upper_f64(uint32_t h, uint32_t scaled)
{
    uint32_t sign = h & 0x80000000, r;
    int32_t e = (int32_t)(h >> 20 & 0x7ff), half = (e - 1023) >> 1;

    r = (uint32_t)((895 - half + (e & 1)) * (1 << 20)) + (scaled >> 3);
    r = ptxi_num_pick(sign != 0, PTXI_NAN_F32, r);
    r = ptxi_num_pick(e == 0, sign | 0x7ff00000, r);
    r = ptxi_num_pick(h == 0x7ff00000, 0, r);
    return ptxi_num_pick((h & 0x7fffffff) > 0x7ff00000, PTXI_NAN_F32, r);
}

static inline uint64_t ptxi_num_rsqrt_approx_ftz_f64(uint64_t a)
{
    uint32_t h = (uint32_t)(a >> 32), f = ptxi_num_rsqrt_scaled(ptxi_num_rsqrt_argument_f64(h));

    return (uint64_t)ptxi_num_rsqrt_upper_f64(h, f) << 32;
}

static inline uint32_t ptxi_num_sqrt_approx_ftz_f32(uint32_t a)
{
    uint32_t sign = a & 0x80000000, e = a >> 23 & 0xff, r;

    r = ((ptxi_num_root_high(&ptxi_num_sqrt, a, PTXI_SQRT) >> 1) + a) >> 1;
    r = sign ? PTXI_NAN_F32 : r;
    r = e == 0 ? sign : r;
    r = a == 0x7f800000 ? a : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_sqrt_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_tiny_f32(a);

    a = ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f);
    return ptxi_num_mul_f32(ptxi_num_sqrt_approx_ftz_f32(a), small ? 0x1p-12f : 1.0f);
}

/* ---- ex2, lg2 ---- */

/* The operand in fixed point with 23 bits of fraction, rounded toward zero. For a negative operand that is not an
 * integer, the unit takes the complement of the bits instead of the negative. */
static inline uint32_t ptxi_num_ex2_argument(uint32_t a)
{
    uint32_t m = (a & 0x7fffff) | 0x800000;
    int32_t e = (int32_t)(a >> 23 & 0xff) - 127;
    int32_t up = e < 0 ? 0 : e;
    int32_t down = e < 0 ? -e : 0;
    int32_t v = (int32_t)(m << (up & 31)) >> (down > 31 ? 31 : down), minus = (int32_t)(~(uint32_t)v + !(v & 0x7fffff));

    return (uint32_t)(a >> 31 ? minus : v);
}

static inline uint32_t ptxi_num_ex2_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_ex2_argument(a), x = v & 0x1ffff, out_of_range = a >> 31 ? 0 : 0x7f800000;
    int32_t r = (int32_t)((ptxi_num_high(ptxi_num_ex2.rows[v >> 17 & 63], x, x, PTXI_EX2) >> 2) + v);

    r = r < 0x00800000 ? 0 : r;
    r = (a & 0x7fffffff) >= 0x43000000 ? (int32_t)out_of_range : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : (uint32_t)r;
}

static inline uint32_t ptxi_num_ex2_approx_f32(uint32_t a)
{
    bool low = !(ptxi_num_f32(a) >= -126.0f);
    uint32_t r = ptxi_num_ex2_approx_ftz_f32(ptxi_num_mul_f32(a, low ? 0.5f : 1.0f));

    return ptxi_num_mul_f32(r, low ? ptxi_num_f32(r) : 1.0f);
}

static inline uint32_t ptxi_num_lg2_approx_ftz_f32(uint32_t a)
{
    uint32_t x = a & 0x1ffff, r;
    int32_t e = (int32_t)(a >> 23 & 0xff);
    struct ptxi_num_row row = ptxi_num_lg2.rows[a >> 17 & 63];
    uint32_t high = (ptxi_num_high(row, x, x, PTXI_LG2) + (a << 7)) & 0x3fffffff; /* in units of 2^-30 */
    int64_t v = (int64_t)high << 6 | (ptxi_num_low(row, x, x, PTXI_LG2_BIAS) >> 2 & 0x3f);

    v = (v + (int64_t)(e - 127) * (1ll << 36)) & -(int64_t)(a != 0x3f800000);
    r = ((uint32_t)(v >> 32) & 0x80000000) | ptxi_num_fixed_to_f32(v ^ v >> 63, 36);
    r = a >> 31 ? PTXI_NAN_F32 : r;
    r = e == 0 ? 0xff800000 : r;
    r = a == 0x7f800000 ? a : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_lg2_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_tiny_f32(a);
    uint32_t r = ptxi_num_lg2_approx_ftz_f32(ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f));

    return ptxi_num_canon_f32(ptxi_num_f32(r) - (small ? 24.0f : 0.0f));
}

/* ---- sin, cos ---- */

/* The sine of t * 2^e quarter turns of 2^23 units. Odd quarters use the complement of the fraction. */
static inline uint32_t ptxi_num_sine_of_turns(int32_t t, int32_t e, uint32_t quarter, uint32_t sign)
{
    int32_t up = e < 0 ? 0 : e;
    int32_t down = e < 0 ? -e : 0;
    struct ptxi_num_row row;
    uint32_t f, x, r;

    f = up > 25 ? 0 : (uint32_t)t << (up & 31);
    f >>= down > 31 ? 31 : down;
    quarter += f >> 23;
    f = quarter & 1 ? ~f : f;
    x = f & 0x1ffff;
    row = ptxi_num_sin.rows[f >> 17 & 63];
    r = ptxi_num_fixed_to_f32(((int64_t)row.c0 << 7) + ptxi_num_low(row, x, x, 0), 37);
    return r | (sign ^ (quarter << 30 & 0x80000000));
}

/* First the operand is multiplied by 1 / 2 pi as a float, rounded toward zero. Then it is converted to quarter turns
 * in fixed point, with 23 bits of fraction. */
static inline uint32_t ptxi_num_sincos_approx_f32(uint32_t a, uint32_t quarter, uint32_t sign)
{
    int64_t p = (int64_t)((a & 0x7fffff) | 0x800000) * 0xa2f983;
    int32_t carry = (int32_t)(p >> 47), t = (int32_t)(p >> 23) >> carry, e = (int32_t)(a >> 23 & 0xff) - 128 + carry;

    return ptxi_num_pick((a & 0x7f800000) == 0x7f800000, PTXI_NAN_F32, ptxi_num_sine_of_turns(t, e, quarter, sign));
}

/* .2pi: the operand is a number of turns. */
static inline uint32_t ptxi_num_sincos_2pi_f32(uint32_t a, uint32_t quarter, uint32_t sign)
{
    int32_t t = (int32_t)((a & 0x7fffff) | 0x800000), e = (int32_t)(a >> 23 & 0xff) - 125;

    return ptxi_num_pick((a & 0x7f800000) == 0x7f800000, PTXI_NAN_F32, ptxi_num_sine_of_turns(t, e, quarter, sign));
}

static inline uint32_t ptxi_num_sin_2pi_f32(uint32_t a)
{
    return ptxi_num_sincos_2pi_f32(a, 0, a & 0x80000000);
}

static inline uint32_t ptxi_num_cos_2pi_f32(uint32_t a)
{
    return ptxi_num_sincos_2pi_f32(a, 1, 0);
}

static inline uint32_t ptxi_num_sin_approx_f32(uint32_t a)
{
    return ptxi_num_sincos_approx_f32(a, 0, a & 0x80000000);
}

static inline uint32_t ptxi_num_cos_approx_f32(uint32_t a)
{
    return ptxi_num_sincos_approx_f32(a, 1, 0);
}

/* ---- tanh. A binade from 2^-8 to 8 has 1 to 16 segments. Below 2^-8 the result is the operand, and from 8 on it is
 * 1. ---- */

/* Tables by the last 4 bits of the operand's exponent.
 *   down         the shift that leaves the 17 bits of the operand that do not select a row of its binade
 *   shift        the shift of the sum
 *   first        the first row of the binade
 *   half         the row of the binade in the table `half`
 * and for AVX-512
 *   turn         the rotation that moves those bits to the top and the row to the bottom
 *   mark         the bits of the row that the rotation does not set
 *   shift_words  the shift of the sum */
extern const _Alignas(16) uint8_t ptxi_num_tanh_down[16], ptxi_num_tanh_shift[16];
extern const _Alignas(16) uint8_t ptxi_num_tanh_first[16], ptxi_num_tanh_half[16];
extern const _Alignas(64) uint32_t ptxi_num_tanh_turn[16], ptxi_num_tanh_mark[16], ptxi_num_tanh_shift_words[16];

static inline uint32_t ptxi_num_tanh_approx_f32(uint32_t a)
{
    uint32_t sign = a & 0x80000000, v = a & 0x7fffffff, b = v >> 23 & 15, r;
    uint32_t f = ((v & 0x7fffff) >> ptxi_num_tanh_down[b]) + ((uint32_t)ptxi_num_tanh_first[b] << 17), x = f & 0x1ffff;
    struct ptxi_num_row row = ptxi_num_tanh.rows[f >> 17 & 63];
    int64_t low = ptxi_num_low(row, x, x, 0) + ((int64_t)x << 15);

    r = ptxi_num_fixed_to_f32(row.c0 + (low >> ptxi_num_tanh_shift[b]), 31);
    r = ptxi_num_pick(v >= 0x41000000, 0x3f800000, r);
    r = ptxi_num_pick(v < 0x3b800000, v, r);
    return ptxi_num_pick(v > 0x7f800000, PTXI_NAN_F32, sign | r);
}

/* ---- f16, bf16: the f32 result, truncated ---- */

static inline uint16_t ptxi_num_cut_f16(uint32_t a)
{
    uint32_t v = a & 0x7fffffff, sign = a >> 16 & 0x8000, r;
    int32_t below = 113 - (int32_t)(v >> 23);

    below = below > 11 ? 11 : below;
    below = below < 0 ? 0 : below;
    r = ((v & 0x7fffff) | 0x800000) >> (13 + below); /* subnormal */
    r = v >= 0x38800000 ? (v - 0x38000000) >> 13 : r;
    r = v >= 0x47800000 ? 0x7c00 : r;
    return (uint16_t)(v > 0x7f800000 ? PTXI_NAN_F16 : sign | r);
}

static inline uint16_t ptxi_num_ex2_approx_f16(uint16_t a)
{
    return ptxi_num_cut_f16(ptxi_num_ex2_approx_ftz_f32(ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(a))));
}

static inline uint16_t ptxi_num_tanh_approx_f16(uint16_t a)
{
    return ptxi_num_cut_f16(ptxi_num_tanh_approx_f32(ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(a))));
}

static inline uint16_t ptxi_num_ex2_approx_ftz_bf16(uint16_t a)
{
    return (uint16_t)(ptxi_num_ex2_approx_ftz_f32((uint32_t)a << 16) >> 16);
}

static inline uint16_t ptxi_num_tanh_approx_bf16(uint16_t a)
{
    return (uint16_t)(ptxi_num_tanh_approx_f32((uint32_t)a << 16) >> 16);
}

/* Tables of the results of these functions for every operand: approx_f16.c. */
#define PTXI_NUM_APPROX_F16(X) X(ex2_approx_f16) X(ex2_approx_ftz_bf16) X(tanh_approx_f16) X(tanh_approx_bf16)
#define PTXI_NUM_APPROX_F16_KIND(name) PTXI_NUM_APPROX_F16_##name,
enum ptxi_num_approx_f16 { PTXI_NUM_APPROX_F16(PTXI_NUM_APPROX_F16_KIND) PTXI_NUM_APPROX_F16_KINDS };
#undef PTXI_NUM_APPROX_F16_KIND
extern _Atomic(const uint16_t *) ptxi_num_approx_f16_tables[PTXI_NUM_APPROX_F16_KINDS];
const uint16_t *ptxi_num_approx_f16_make(enum ptxi_num_approx_f16 kind);

static inline const uint16_t *ptxi_num_approx_f16(enum ptxi_num_approx_f16 kind)
{
    const uint16_t *results = atomic_load_explicit(&ptxi_num_approx_f16_tables[kind], memory_order_acquire);

    return __builtin_expect(results != NULL, 1) ? results : ptxi_num_approx_f16_make(kind);
}

/* ---- Division by reciprocal ---- */

static inline float ptxi_num_div_approx_scale(uint32_t b)
{
    return ptxi_num_is_tiny_f32(b) ? 0x1p24f : 1.0f;
}

static inline uint32_t ptxi_num_div_approx_f32(uint32_t a, uint32_t b)
{
    float scale = ptxi_num_div_approx_scale(b);
    uint32_t r = ptxi_num_rcp_approx_ftz_f32(ptxi_num_mul_f32(b, scale));

    return ptxi_num_mul_f32(ptxi_num_mul_f32(a, scale), ptxi_num_f32(r));
}

static inline uint32_t ptxi_num_div_approx_ftz_f32(uint32_t a, uint32_t b)
{
    return ptxi_num_mul_ftz_f32(ptxi_num_rcp_approx_ftz_f32(b), a);
}

static inline uint32_t ptxi_num_div_full_f32(uint32_t a, uint32_t b)
{
    float scale = ptxi_num_rcp_scale(b);
    uint32_t r = ptxi_num_rcp_approx_ftz_f32(ptxi_num_mul_f32(b, scale));

    return ptxi_num_mul_f32(ptxi_num_mul_f32(a, scale), ptxi_num_f32(r));
}

static inline uint32_t ptxi_num_div_full_ftz_scale(uint32_t b)
{
    return ptxi_num_is_large_f32(b) ? 0x3e800000 : 0x3f800000;
}

static inline uint32_t ptxi_num_div_full_ftz_f32(uint32_t a, uint32_t b)
{
    uint32_t scale = ptxi_num_div_full_ftz_scale(b);
    uint32_t r = ptxi_num_rcp_approx_ftz_f32(ptxi_num_mul_ftz_f32(b, scale));

    return ptxi_num_mul_ftz_f32(ptxi_num_mul_ftz_f32(a, scale), r);
}

#endif
