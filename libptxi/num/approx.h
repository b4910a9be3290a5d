/* The approximate instructions: rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, and division by reciprocal.
 *
 * The GPU has units that look up three coefficients by the leading bits of the operand and evaluate a quadratic in the
 * rest; they flush subnormals. Results are exact integers at every step (doc/numerics.md, "Approximations"), so the code
 * is integer arithmetic without branches, to be inlined into loops over lanes. The wrappers that the assembler puts round
 * a unit for forms without .ftz are here too; they multiply floats, and expect the host's default rounding, subnormals on.
 *
 * The _unit_ functions are the units themselves, that is the .ftz forms. PTX ISA, "Floating Point Instructions". */
#ifndef PTXI_NUM_APPROX_H
#define PTXI_NUM_APPROX_H

#include "num/convert.h"

#include <stdint.h>

/* The units' rounding constants, less what the tables' c0 absorbs. */
enum {
    PTXI_RCP_BIAS = 0x7e7, PTXI_RSQRT_BIAS = 0x3fff, PTXI_SQRT_BIAS = 0x7fff, PTXI_EX2_BIAS = 0x17e2, PTXI_LG2_BIAS = 0x345
};

/* c12 holds two signed numbers, c1 above 12 bits of c2. */
extern const int32_t ptxi_num_rcp_c0[128], ptxi_num_rcp_c12[128];
extern const int32_t ptxi_num_rsqrt_c0[128], ptxi_num_rsqrt_c12[128];
extern const int32_t ptxi_num_sqrt_c0[128], ptxi_num_sqrt_c12[128];
extern const int32_t ptxi_num_ex2_c0[64], ptxi_num_ex2_c12[64];
extern const int32_t ptxi_num_lg2_c0[64], ptxi_num_lg2_c12[64];
extern const int32_t ptxi_num_sin_c0[64], ptxi_num_sin_c12[64];
extern const int32_t ptxi_num_tanh_c0[64], ptxi_num_tanh_c0_low[64]; /* c0 << 18 | low */
extern const int32_t ptxi_num_tanh_c1[64], ptxi_num_tanh_c2[64];

/* c ? a : b. Written out, since a compiler that moves the table look-ups under a condition cannot vectorise them. */
static inline uint32_t ptxi_num_pick(bool c, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & -(uint32_t)c);
}

/* The units' squarer: x * x / 2^19 for 17 bits x, without the partial products below the last column. With x in an upper
 * part h and a lower part l, a product of two bits of h counts fully, and each of h with l counts twice, as half. */
static inline int32_t ptxi_num_square17(int32_t x)
{
    int32_t h = x >> 9, l = x & 0x1ff, cross = 0;

    cross += h & 0x02 ? l >> 8 : 0;
    cross += h & 0x04 ? l >> 7 : 0;
    cross += h & 0x08 ? l >> 6 : 0;
    cross += h & 0x10 ? l >> 5 : 0;
    cross += h & 0x20 ? l >> 4 : 0;
    cross += h & 0x40 ? l >> 3 : 0;
    cross += h & 0x80 ? l >> 2 : 0;
    return (h * h >> 1) + cross;
}

/* ((c0 << shift) + c1 * x + c2 * square + bias) >> drop; the sum has up to 42 bits, its lower 12 are computed apart. */
static inline int32_t ptxi_num_quadratic(int32_t c0, int32_t c12, int32_t x, int32_t square, int shift, int32_t bias, int drop)
{
    int32_t c1 = c12 >> 12, c2 = (int32_t)((uint32_t)c12 << 20) >> 20;
    int32_t low = c1 * (x & 0xfff) + c2 * square + bias;

    return ((c0 << (shift - 12)) + c1 * (x >> 12) + (low >> 12)) >> (drop - 12);
}

/* The same sum in full. */
static inline int64_t ptxi_num_quadratic64(int32_t c0, int32_t c12, int32_t x, int32_t square, int shift, int32_t bias)
{
    int32_t c1 = c12 >> 12, c2 = (int32_t)((uint32_t)c12 << 20) >> 20;

    return ((int64_t)c0 << shift) + (int64_t)c1 * x + (c2 * square + bias);
}

/* A fixed-point number below 2^52 as a float, rounded toward zero; 1.0 is 2^one. */
static inline uint32_t ptxi_num_fixed_to_f32(int64_t v, int one)
{
    uint64_t d = ptxi_num_bits_f64(ptxi_num_f64((uint64_t)v + 0x4330000000000000u) - 0x1p52);
    uint32_t r = (uint32_t)(d >> 29) - ((uint32_t)(1023 - 127 + one) << 23);

    return r & -(uint32_t)(v != 0);
}

/* a * b, with .ftz: flushed if the product, rounded to 24 bits, is below 2^-126. */
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
static inline bool ptxi_num_is_small_f32(uint32_t a)
{
    return (a & 0x7fffffff) < 0x00800000;
}

static inline bool ptxi_num_is_large_f32(uint32_t a)
{
    return (a & 0x7fffffff) > 0x7e800000 && (a & 0x7fffffff) <= 0x7f800000;
}

/* ---- A unit's work is in three steps, so that handlers can take the middle one for all lanes at once: the operand becomes
 * an argument v, whose bits from 17 on choose the coefficients; v's lower 17 bits are squared; and the rest. ---- */
struct ptxi_num_terms {
    int32_t c0, c12, square;
};

static inline struct ptxi_num_terms ptxi_num_terms(const int32_t *c0, const int32_t *c12, uint32_t size, uint32_t v)
{
    uint32_t i = v >> 17 & (size - 1);

    return (struct ptxi_num_terms){ c0[i], c12[i], ptxi_num_square17((int32_t)(v & 0x1ffff)) };
}

/* ---- rcp ---- */

/* 2^24 / (1 + m / 2^23) */
static inline int32_t ptxi_num_rcp_significand(uint32_t m)
{
    int32_t x = (int32_t)(m & 0xffff), i = (int32_t)(m >> 16);

    return ptxi_num_quadratic(ptxi_num_rcp_c0[i], ptxi_num_rcp_c12[i], x, ptxi_num_square17(2 * x), 13, PTXI_RCP_BIAS, 15);
}

static inline uint32_t ptxi_num_rcp_argument(uint32_t a)
{
    return (a & 0x7fffff) << 1;
}

static inline uint32_t ptxi_num_rcp_result(uint32_t a, uint32_t v, struct ptxi_num_terms t)
{
    uint32_t sign = a & 0x80000000, e = a >> 23 & 0xff;
    int32_t r = (252 - (int32_t)e) * (1 << 23) + ptxi_num_quadratic(t.c0, t.c12, (int32_t)(v >> 1 & 0xffff), t.square, 13, PTXI_RCP_BIAS, 15);

    r = r < 0x00800000 ? 0 : r;
    r = e == 0 ? 0x7f800000 : r;
    r = e == 255 ? 0 : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : sign | (uint32_t)r;
}

static inline uint32_t ptxi_num_rcp_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_rcp_argument(a);

    return ptxi_num_rcp_result(a, v, ptxi_num_terms(ptxi_num_rcp_c0, ptxi_num_rcp_c12, 128, v));
}

/* Without .ftz operand and result are scaled. */
static inline float ptxi_num_rcp_scale(uint32_t a)
{
    return ptxi_num_is_small_f32(a) ? 0x1p24f : ptxi_num_is_large_f32(a) ? 0.25f : 1.0f;
}

static inline uint32_t ptxi_num_rcp_approx_f32(uint32_t a)
{
    float scale = ptxi_num_rcp_scale(a);

    return ptxi_num_mul_f32(ptxi_num_rcp_approx_ftz_f32(ptxi_num_mul_f32(a, scale)), scale);
}

/* Only the upper word counts: 20 bits of fraction go in, 20 come out. */
static inline uint64_t ptxi_num_rcp_approx_ftz_f64(uint64_t a)
{
    uint32_t h = (uint32_t)(a >> 32), sign = h & 0x80000000, e = h >> 20 & 0x7ff, m = h & 0xfffff;
    int32_t r = (2044 - (int32_t)e) * (1 << 20) + (ptxi_num_rcp_significand(m << 3) >> 3);

    r = r < 0x00100000 ? 0 : r;
    r = (int32_t)ptxi_num_pick(e == 0, 0x7ff00000, (uint32_t)r);
    r = (int32_t)ptxi_num_pick(e == 2047, 0, (uint32_t)r);
    return (uint64_t)ptxi_num_pick((h & 0x7fffffff) > 0x7ff00000, PTXI_NAN_F32, sign | (uint32_t)r) << 32;
}

/* ---- rsqrt, sqrt: the tables cover [1, 4), that is two binades ---- */

/* 2^24 / sqrt(1 + f / 2^23), for the upper binade 2^23 <= f < 2^24 with 2 * (1 + ...); 1 is an exact case of its own. */
static inline int32_t ptxi_num_rsqrt_significand(uint32_t f)
{
    int32_t x = (int32_t)(f & 0x1ffff), i = (int32_t)(f >> 17);
    int32_t r = ptxi_num_quadratic(ptxi_num_rsqrt_c0[i], ptxi_num_rsqrt_c12[i], x, 4 * ptxi_num_square17(x), 14, PTXI_RSQRT_BIAS, 16);

    return (int32_t)ptxi_num_pick(f == 0, 1 << 24, (uint32_t)r);
}

static inline uint32_t ptxi_num_rsqrt_argument(uint32_t a)
{
    return (a & 0x7fffff) | (~a & 0x800000);
}

static inline uint32_t ptxi_num_rsqrt_result(uint32_t a, uint32_t v, struct ptxi_num_terms t)
{
    uint32_t sign = a & 0x80000000, r;
    int32_t e = (int32_t)(a >> 23 & 0xff), half = (e - 127) >> 1;
    int32_t f = ptxi_num_quadratic(t.c0, t.c12, (int32_t)(v & 0x1ffff), 4 * t.square, 14, PTXI_RSQRT_BIAS, 16);

    r = (uint32_t)((125 - half) * (1 << 23) + (v == 0 ? 1 << 24 : f));
    r = sign ? PTXI_NAN_F32 : r;
    r = e == 0 ? sign | 0x7f800000 : r;
    r = a == 0x7f800000 ? 0 : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_rsqrt_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_rsqrt_argument(a);

    return ptxi_num_rsqrt_result(a, v, ptxi_num_terms(ptxi_num_rsqrt_c0, ptxi_num_rsqrt_c12, 128, v));
}

static inline uint32_t ptxi_num_rsqrt_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_small_f32(a);

    a = ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f);
    return ptxi_num_mul_f32(ptxi_num_rsqrt_approx_ftz_f32(a), small ? 0x1p12f : 1.0f);
}

static inline uint64_t ptxi_num_rsqrt_approx_ftz_f64(uint64_t a)
{
    uint32_t h = (uint32_t)(a >> 32), sign = h & 0x80000000, m = h & 0xfffff;
    int32_t e = (int32_t)(h >> 20 & 0x7ff), half = (e - 1023) >> 1;
    int32_t f = ptxi_num_rsqrt_significand(m << 3 | (uint32_t)(~e & 1) << 23);
    uint32_t r = (uint32_t)((1021 - half) * (1 << 20) + (f >> 3));

    r = ptxi_num_pick(sign != 0, PTXI_NAN_F32, r);
    r = ptxi_num_pick(e == 0, sign | 0x7ff00000, r);
    r = ptxi_num_pick(h == 0x7ff00000, 0, r);
    return (uint64_t)ptxi_num_pick((h & 0x7fffffff) > 0x7ff00000, PTXI_NAN_F32, r) << 32;
}

static inline uint32_t ptxi_num_sqrt_argument(uint32_t a)
{
    return ptxi_num_rsqrt_argument(a);
}

static inline uint32_t ptxi_num_sqrt_result(uint32_t a, uint32_t v, struct ptxi_num_terms t)
{
    uint32_t sign = a & 0x80000000, r;
    int32_t e = (int32_t)(a >> 23 & 0xff), half = (e - 127) >> 1;

    r = (uint32_t)((126 + half) * (1 << 23) + ptxi_num_quadratic(t.c0, t.c12, (int32_t)(v & 0x1ffff), t.square, 15, PTXI_SQRT_BIAS, 17));
    r = sign ? PTXI_NAN_F32 : r;
    r = e == 0 ? sign : r;
    r = a == 0x7f800000 ? a : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_sqrt_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_sqrt_argument(a);

    return ptxi_num_sqrt_result(a, v, ptxi_num_terms(ptxi_num_sqrt_c0, ptxi_num_sqrt_c12, 128, v));
}

static inline uint32_t ptxi_num_sqrt_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_small_f32(a);

    a = ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f);
    return ptxi_num_mul_f32(ptxi_num_sqrt_approx_ftz_f32(a), small ? 0x1p-12f : 1.0f);
}

/* ---- ex2, lg2 ---- */

/* The operand becomes fixed point with 23 bits of fraction, toward zero; of a negative one that is no integer the unit
 * takes the complement of the bits, not the negative. */
static inline uint32_t ptxi_num_ex2_argument(uint32_t a)
{
    uint32_t m = (a & 0x7fffff) | 0x800000;
    int32_t e = (int32_t)(a >> 23 & 0xff) - 127, up = e < 0 ? 0 : e, down = e < 0 ? -e : 0;
    int32_t v = (int32_t)(m << (up & 31)) >> (down > 31 ? 31 : down), minus = (int32_t)(~(uint32_t)v + !(v & 0x7fffff));

    return (uint32_t)(a >> 31 ? minus : v);
}

static inline uint32_t ptxi_num_ex2_result(uint32_t a, uint32_t v, struct ptxi_num_terms t)
{
    int32_t r = ptxi_num_quadratic(t.c0, t.c12, (int32_t)(v & 0x1ffff), t.square, 13, PTXI_EX2_BIAS, 15);

    r = (int32_t)((uint32_t)r + (uint32_t)(((int32_t)v >> 23) + 126) * (1u << 23));
    r = r < 0x00800000 ? 0 : r;
    r = (a & 0x7fffffff) >= 0x43000000 ? (a >> 31 ? 0 : 0x7f800000) : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : (uint32_t)r;
}

static inline uint32_t ptxi_num_ex2_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_ex2_argument(a);

    return ptxi_num_ex2_result(a, v, ptxi_num_terms(ptxi_num_ex2_c0, ptxi_num_ex2_c12, 64, v));
}

static inline uint32_t ptxi_num_ex2_approx_f32(uint32_t a)
{
    bool low = !(ptxi_num_f32(a) >= -126.0f);
    uint32_t r = ptxi_num_ex2_approx_ftz_f32(ptxi_num_mul_f32(a, low ? 0.5f : 1.0f));

    return ptxi_num_mul_f32(r, low ? ptxi_num_f32(r) : 1.0f);
}

static inline uint32_t ptxi_num_lg2_argument(uint32_t a)
{
    return a & 0x7fffff;
}

static inline uint32_t ptxi_num_lg2_result(uint32_t a, uint32_t u, struct ptxi_num_terms t)
{
    int32_t e = (int32_t)(a >> 23 & 0xff);
    int64_t v = ptxi_num_quadratic64(t.c0, t.c12, (int32_t)(u & 0x1ffff), 2 * t.square, 12, PTXI_LG2_BIAS) >> 2;
    uint32_t r;

    v = (v + (int64_t)(e - 127) * (1ll << 36)) & -(int64_t)(a != 0x3f800000);
    r = ((uint32_t)(v >> 32) & 0x80000000) | ptxi_num_fixed_to_f32(v ^ v >> 63, 36);
    r = a >> 31 ? PTXI_NAN_F32 : r;
    r = e == 0 ? 0xff800000 : r;
    r = a == 0x7f800000 ? a : r;
    return (a & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F32 : r;
}

static inline uint32_t ptxi_num_lg2_approx_ftz_f32(uint32_t a)
{
    uint32_t v = ptxi_num_lg2_argument(a);

    return ptxi_num_lg2_result(a, v, ptxi_num_terms(ptxi_num_lg2_c0, ptxi_num_lg2_c12, 64, v));
}

static inline uint32_t ptxi_num_lg2_approx_f32(uint32_t a)
{
    bool small = ptxi_num_is_small_f32(a);
    uint32_t r = ptxi_num_lg2_approx_ftz_f32(ptxi_num_mul_f32(a, small ? 0x1p24f : 1.0f));

    return ptxi_num_canon_f32(ptxi_num_f32(r) - (small ? 24.0f : 0.0f));
}

/* ---- sin, cos ---- */

/* The operand is first multiplied by 1 / 2 pi as a float, toward zero; then quarter turns in fixed point, 23 bits of
 * fraction. Odd quarters run backwards by complement. */
static inline uint32_t ptxi_num_sincos_approx_f32(uint32_t a, uint32_t quarter, uint32_t sign)
{
    int64_t p = (int64_t)((a & 0x7fffff) | 0x800000) * 0xa2f983;
    int32_t carry = (int32_t)(p >> 47), t = (int32_t)(p >> 23) >> carry, e = (int32_t)(a >> 23 & 0xff) - 128 + carry;
    int32_t up = e < 0 ? 0 : e, down = e < 0 ? -e : 0, x, i;
    uint32_t f, r;

    f = (up > 25 ? 0 : (uint32_t)t << (up & 31)) >> (down > 31 ? 31 : down);
    quarter += f >> 23;
    f = quarter & 1 ? ~f : f;
    x = (int32_t)(f & 0x1ffff);
    i = (int32_t)(f >> 17 & 0x3f);
    r = ptxi_num_fixed_to_f32(ptxi_num_quadratic64(ptxi_num_sin_c0[i], ptxi_num_sin_c12[i], x, ptxi_num_square17(x), 11, 0), 37);
    r |= sign ^ (quarter << 30 & 0x80000000);
    return ptxi_num_pick((a & 0x7f800000) == 0x7f800000, PTXI_NAN_F32, r);
}

static inline uint32_t ptxi_num_sin_approx_f32(uint32_t a)
{
    return ptxi_num_sincos_approx_f32(a, 0, a & 0x80000000);
}

static inline uint32_t ptxi_num_cos_approx_f32(uint32_t a)
{
    return ptxi_num_sincos_approx_f32(a, 1, 0);
}

/* ---- tanh: 1 to 16 segments a binade from 2^-8 to 8; below, the operand itself; above, 1 ---- */

static inline uint32_t ptxi_num_tanh_approx_f32(uint32_t a)
{
    static const int32_t first[16] = { 0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43 }, bits[16] = { 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3 };
    uint32_t sign = a & 0x80000000, v = a & 0x7fffffff, m = a & 0x7fffff, r;
    int32_t b = ((int32_t)(v >> 23) - 119) & 15, x = (int32_t)(m >> (6 - bits[b])) & 0x1ffff;
    int32_t i = (first[b] + (int32_t)(m >> (23 - bits[b]))) & 63;
    int64_t sum = (int64_t)ptxi_num_tanh_c0[i] * (1 << 18) + ptxi_num_tanh_c0_low[i];

    sum += (int64_t)ptxi_num_tanh_c1[i] * x + (int64_t)ptxi_num_tanh_c2[i] * ptxi_num_square17(x);
    r = ptxi_num_fixed_to_f32(sum, 48);
    r = ptxi_num_pick(v >= 0x41000000, 0x3f800000, r);
    r = ptxi_num_pick(v < 0x3b800000, v, r);
    return ptxi_num_pick(v > 0x7f800000, PTXI_NAN_F32, sign | r);
}

/* ---- f16, bf16: the f32 result, cut ---- */

static inline uint16_t ptxi_num_cut_f16(uint32_t a)
{
    uint32_t v = a & 0x7fffffff, sign = a >> 16 & 0x8000;
    int32_t below = 113 - (int32_t)(v >> 23);
    uint32_t sub = ((v & 0x7fffff) | 0x800000) >> (13 + (below < 0 ? 0 : below > 11 ? 11 : below));
    uint32_t r = v >= 0x47800000 ? 0x7c00 : v >= 0x38800000 ? (v - 0x38000000) >> 13 : sub;

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

/* ---- Division by reciprocal ---- */

static inline float ptxi_num_div_approx_scale(uint32_t b)
{
    return ptxi_num_is_small_f32(b) ? 0x1p24f : 1.0f;
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
