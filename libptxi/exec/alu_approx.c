/* PTX ISA, "Floating Point Instructions": the approximate instructions; num/approx.h has the units. */
#include "exec/approx.h"
#include "exec/halves.h"
#include "num/approx_f64.h"

/* --- the units, for a pair of vectors of operands that nothing special is done for, with .ftz or without --- */

/* 2^24 / significand, less what more of a's bits than the last 16 the mask leaves. */
ALWAYS void rcp_pair(vec *r, const vec *a, vec mask)
{
    vec x = joined_halves(a[0], a[1] << 16);
    struct factors f = factors(x, x, 1);

    for (int j = 0; j < 2; j++) /* slope << shift is -2^15 */
        r[j] = (total16(LOOK_UP(&ptxi_num_rcp, a[j], 16), f.of[j], &ptxi_approx_rcp, 13).high >> 2) - (a[j] & mask);
}

ALWAYS void rcp_vectors(vec *r, const vec *a)
{
    rcp_pair(r, a, ALL(ptxi_approx_rcp.mask)); /* the exponent, too; the sign comes out right */
    for (int j = 0; j < 2; j++)
        r[j] += ptxi_approx_rcp.offset;
}

/* ptxi_num_rsqrt_significand() */
ALWAYS void rsqrt_pair(vec *r, const vec *a)
{
    struct factors f = factors17(a, 1);

    for (int j = 0; j < 2; j++)
        r[j] = next_where(EQUAL(a[j] & ptxi_approx_rsqrt.mask, K->bit[23]),
                          total17(LOOK_UP(&ptxi_num_rsqrt, a[j], 17), f.of[j], a[j], &ptxi_approx_rsqrt, 14, -2).high >> 2);
}

ALWAYS void rsqrt_vectors(vec *r, const vec *a)
{
    vec f[2];

    rsqrt_pair(f, a);
    for (int j = 0; j < 2; j++)
        r[j] = f[j] + ((ptxi_approx_rsqrt.offset - a[j]) >> 1 & K->exponent); /* with 125 - half */
}

ALWAYS void sqrt_vectors(vec *r, const vec *a)
{
    struct factors f = factors17(a, -1);

    for (int j = 0; j < 2; j++) {
        struct total t = total17(LOOK_UP(&ptxi_num_sqrt, a[j], 17), f.of[j], a[j], &ptxi_approx_sqrt, 15, 2);

        r[j] = (t.high >> 2) + ((a[j] + ptxi_approx_sqrt.offset) >> 1 & K->exponent); /* with 126 + half */
    }
}

ALWAYS void ex2_vectors(vec *r, const vec *a)
{
    struct factors f;
    vec v[2];

    for (int j = 0; j < 2; j++) /* subnormal or not, small operands become 0 */
        v[j] = lowered(integers_toward_zero(a[j] + ptxi_approx_ex2.scale), a[j], K->significand);
    f = factors17(v, 1);
    for (int j = 0; j < 2; j++) { /* slope << shift is 2^15 */
        struct total t = total17(LOOK_UP(&ptxi_num_ex2, v[j], 17), f.of[j], v[j], &ptxi_approx_ex2, 13, 0);

        r[j] = (t.high >> 2) + (v[j] & ptxi_approx_ex2.mask) + ptxi_approx_ex2.offset;
    }
}

ALWAYS void lg2_vectors(vec *r, const vec *a)
{
    const struct ptxi_approx_unit *unit = &ptxi_approx_lg2;
    struct factors f = factors17(a, -1);
    struct total t[2];
    vec v[2], sign[2];

    for (int j = 0; j < 2; j++) {
        vec exponent = (a[j] - unit->offset) & K->exponent;
        lanes_of_vec near = BELOW(exponent + K->bit[23], K->bit[24]); /* 0 or -1 */

        t[j] = total17(LOOK_UP(&ptxi_num_lg2, a[j], 17), f.of[j], a[j], unit, 8, 128);
        /* with the exponent, in units of 2^-30 if near, else of 2^-23 */
        v[j] = picked(near, t[j].high, t[j].high >> 7) + picked(near, exponent << 7, exponent);
        sign[j] = SAR(v[j], 31);
        v[j] ^= sign[j];
        r[j] = with_sign(floats_toward_zero(v[j]) - picked(near, ALL(unit->one_near), ALL(unit->one)), sign[j]);
    }
    if (__builtin_expect(any_small(v[0], v[1]), 0))
        for (int j = 0; j < 2; j++) { /* of 2^-36 */
            vec fine = ((t[j].high << 6) + (t[j].low << 24 >> 26)) ^ sign[j];

            fine = with_sign((floats_toward_zero(fine) - unit->one_fine) & MASK(fine != 0), sign[j]) & MASK(a[j] != 0x3f800000);
            r[j] = picked(BELOW(v[j], K->bit[23]), fine, r[j]);
        }
}

/* later: by a quarter turn */
ALWAYS void sincos_vectors(vec *r, const vec *a, const struct ptxi_approx_unit *unit, bool later)
{
    struct factors f;
    struct total t[2];
    vec turns[2], v[2], s[2];

    for (int j = 0; j < 2; j++) { /* 25 bits of fraction; subnormal or not, small operands become 0 */
        turns[j] = integers_toward_zero(product_toward_zero((a[j] & K->magnitude) + unit->scale, 0x1.45f306p-3f));
        if (later)
            turns[j] += K->bit[23];
        v[j] = unfolded(turns[j], 23);
        s[j] = later ? turns[j] << 7 : (vec)(turns[j] << 7 ^ a[j]);
    }
    f = factors17(v, -1);
    for (int j = 0; j < 2; j++) {
        t[j] = total17(LOOK_UP(&ptxi_num_sin, v[j], 17), f.of[j], v[j], unit, 7, 0); /* in units of 2^-30 */
        r[j] = with_sign(floats_toward_zero(t[j].high) - unit->one, s[j]);
    }
    if (__builtin_expect(any_small(t[0].high, t[1].high), 0))
        for (int j = 0; j < 2; j++) { /* of 2^-37 */
            vec fine = (t[j].high << 7) + (t[j].low & 0x7f);

            fine = with_sign((floats_toward_zero(fine) - unit->one_fine) & MASK(fine != 0), s[j]);
            r[j] = picked(BELOW(t[j].high, K->bit[23]), fine, r[j]);
        }
}

ALWAYS void sin_vectors(vec *r, const vec *a)
{
    sincos_vectors(r, a, &ptxi_approx_sin, false);
}

ALWAYS void cos_vectors(vec *r, const vec *a)
{
    sincos_vectors(r, a, &ptxi_approx_cos, true);
}

ALWAYS void tanh_vectors(vec *r, const vec *a)
{
    const struct ptxi_approx_unit *unit = &ptxi_approx_tanh;
    struct factors f;
    lanes_of_vec inside[2];
    vec v[2], shift[2];

    for (int j = 0; j < 2; j++) {
        vec binade = (a[j] << 1 >> 24) + unit->offset;

        v[j] = ((a[j] & K->significand) >> look_up_bytes(ptxi_num_tanh_down, binade)) + (look_up_bytes(ptxi_num_tanh_first, binade) << 17);
        shift[j] = look_up_bytes(ptxi_num_tanh_shift, binade);
    }
    f = factors17(v, -1);
    for (int j = 0; j < 2; j++) {
        struct found row = LOOK_UP(&ptxi_num_tanh, v[j], 17);
        vec sum = row.c0 + (vec)((svec)dot(row.c12, f.of[j]) >> (svec)shift[j]);

        sum = add_where(sum, v[j], 16, (vec)((svec)(row.c12 & K->upper_half) >> (svec)shift[j]));
        sum += v[j] << 15 >> shift[j];
        r[j] = with_sign(floats_toward_zero(sum) - unit->one, a[j]);
        inside[j] = BELOW((a[j] & K->magnitude) - unit->low, unit->range);
    }
    if (!all(inside[0], inside[1]))
        for (int j = 0; j < 2; j++) {
            vec beyond = with_sign(picked(BELOW(a[j] & K->magnitude, unit->low), a[j], ALL(0x3f800000)), a[j]);

            r[j] = picked(inside[j], r[j], beyond);
        }
}

/* --- the ways to run a unit --- */
typedef uint32_t unary(uint32_t);

/* All lanes, with what is irregular in lanes of a mask done by a function for one operand. */
#define UNIT(f, SIGN)                                                                                                        \
    ALWAYS void f##_all(uint32_t *r, const uint32_t *a)                                                          \
    {                                                                                                                   \
        FOR_PAIRS {                                                                                                     \
            vec x[2] = { CONST_VECTOR(a, k), CONST_VECTOR(a, k + 1) }, y[2];                                            \
                                                                                                                        \
            f##_vectors(y, x);                                                                                          \
            VECTOR(r, k) = y[0];                                                                                        \
            VECTOR(r, k + 1) = y[1];                                                                                    \
        }                                                                                                               \
    }                                                                                                                   \
    ALWAYS bool f##_irregular(const uint32_t *a)                                                                 \
    {                                                                                                                   \
        bool some = false;                                                                                              \
                                                                                                                        \
        FOR_PAIRS some |= any_irregular(&CONST_VECTOR(a, k), &ptxi_approx_##f, SIGN);                                              \
        return some;                                                                                                    \
    }                                                                                                                   \
    static __attribute__((noinline)) void f##_mended(uint32_t *r, const uint32_t *a, ptxi_lanes lanes, unary *one)      \
    {                                                                                                                   \
        f##_all(r, a);                                                                                                  \
        if (f##_irregular(a))                                                                                           \
            for (int l = 0; l < PTXI_LANES; l++)                                                                        \
                if (lanes >> l & 1 && !is_regular(a[l], &ptxi_approx_##f, SIGN))                                                 \
                    r[l] = one(a[l]);                                                                                   \
    }                                                                                                                   \
    static __attribute__((noinline)) const struct ptxi_insn *f##_some(const struct ptxi_insn *i, struct ptxi_warp *w, unary *one) \
    {                                                                                                                   \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        f##_mended(r, PTXI_SLOT(w, i->a), w->active, one);                                                              \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                                              \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    static __attribute__((noinline)) const struct ptxi_insn *f##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w, unary *one) \
    {                                                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                                         \
                                                                                                                        \
        if (__builtin_expect(w->active != PTXI_ALL_LANES || f##_irregular(a), 0))                                       \
            return f##_some(i, w, one);                                                                                 \
        f##_all(PTXI_SLOT(w, i->d), a);                                                                                 \
        NEXT;                                                                                                           \
    }
#define FORM(f, form, one)                                                                                              \
    OP( f##_##form )                                                                                                    \
    {                                                                                                                   \
        return f##_lanes(i, w, one);                                                                                    \
    }
#define FORMS(f, SIGN, ftz)                                                                                          \
    UNIT(f, SIGN)                                                                                                             \
    FORM(f, approx_f32, ptxi_num_##f##_approx_f32)                                                                      \
    FORM(f, approx_f32_ftz, ptxi_num_##f##_approx_##ftz)
FORMS(rcp, false, ftz_f32)
FORMS(rsqrt, true, ftz_f32)
FORMS(sqrt, true, ftz_f32)
FORMS(ex2, false, ftz_f32)
FORMS(lg2, true, ftz_f32)
/* The product with 1 / 2 pi comes before the unit and keeps subnormals, so that .ftz changes nothing. */
FORMS(sin, false, f32)
FORMS(cos, false, f32)
UNIT(tanh, false)
FORM(tanh, approx_f32, ptxi_num_tanh_approx_f32)

/* --- f16 and bf16: the unit's result of the widened operand, cut --- */
ALWAYS void widen_lanes_f16(uint32_t *restrict r, const uint16_t *a)
{
    LANE_ARRAY(float, x);

    for (int k = 0; k < PTXI_LANES; k += HALF_BLOCK)
        widen_f16(x + k, a + k);
    FOR_LANES r[l] = ptxi_num_bits_f32(x[l]);
}

ALWAYS void cut_lanes_f16(uint16_t *restrict r, const uint32_t *a)
{
#if defined(__AVX512F__) || defined(__F16C__)
    LANE_ARRAY(float, x);

    FOR_LANES x[l] = ptxi_num_f32((a[l] & 0x7fffffff) - 0x47800000 < 0x38000000 ? (a[l] & 0x80000000) | 0x7f800000 : a[l]); /* overflow */
    for (int k = 0; k < PTXI_LANES; k += 8)
        _mm_store_si128((__m128i *)(r + k), _mm256_cvtps_ph(_mm256_load_ps(x + k), _MM_FROUND_TO_ZERO));
#else
    FOR_LANES r[l] = ptxi_num_cut_f16(a[l]);
#endif
}

ALWAYS void widen_lanes_bf16(uint32_t *restrict r, const uint16_t *a)
{
    FOR_LANES r[l] = (uint32_t)a[l] << 16;
}

ALWAYS void cut_lanes_bf16(uint16_t *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = (uint16_t)(a[l] >> 16);
}

#define WIDENED(f, type, one)                                                                                           \
    static __attribute__((noinline)) const struct ptxi_insn *f##_lanes_##type(const struct ptxi_insn *i, struct ptxi_warp *w, int n) \
    {                                                                                                                   \
        const uint16_t *a = PTXI_SLOT(w, i->a);                                                                         \
        _Alignas(64) uint16_t result[HALVES_MAX];                                                                       \
        LANE_ARRAY(uint32_t, x);                                                                                        \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        for (int k = 0; k < n; k += PTXI_LANES) {                                                                       \
            widen_lanes_##type(x, a + k);                                                                               \
            f##_mended(r, x, PTXI_ALL_LANES, one);                                                                      \
            cut_lanes_##type(result + k, r);                                                                            \
        }                                                                                                               \
        write_halves(i, w, result, n);                                                                                  \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    HALF_OPS(f##_approx, type, f##_lanes_##type)
WIDENED(ex2, f16, ptxi_num_ex2_approx_ftz_f32)
WIDENED(ex2, bf16, ptxi_num_ex2_approx_ftz_f32)
WIDENED(tanh, f16, ptxi_num_tanh_approx_f32)
WIDENED(tanh, bf16, ptxi_num_tanh_approx_f32)

/* --- f64: the unit's result of the upper words --- */
#define UPPER(f, name, argument, all)                                                                                   \
    OP( name )                                                                                                          \
    {                                                                                                                   \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                                         \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                                               \
        LANE_ARRAY(uint32_t, h);                                                                                        \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        FOR_LANES h[l] = (uint32_t)(a[l] >> 32);                                                                        \
        FOR_LANES r[l] = argument(h[l]);                                                                                \
        all;                                                                                                            \
        FOR_LANES r[l] = ptxi_num_##f##_upper_f64(h[l], r[l]);                                                          \
        WRITE_LANES(d, (uint64_t)r[l] << 32);                                                                           \
        NEXT;                                                                                                           \
    }
UPPER(rcp, rcp_approx_f64, ptxi_num_rcp_argument_f64, FOR_PAIRS rcp_pair(&VECTOR(r, k), &CONST_VECTOR(r, k), ALL(0xffff)))
UPPER(rsqrt, rsqrt_approx_f64_ftz, ptxi_num_rsqrt_argument_f64, FOR_PAIRS rsqrt_pair(&VECTOR(r, k), &CONST_VECTOR(r, k)))

OP( rsqrt_approx_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t *d = PTXI_SLOT(w, i->d);
    LANE_ARRAY(uint32_t, h);
    LANE_ARRAY(uint32_t, r);

    FOR_LANES h[l] = (uint32_t)(ptxi_num_bits_f64(ptxi_num_rsqrt_operand_f64(a[l])) >> 32);
    FOR_LANES r[l] = ptxi_num_rsqrt_argument_f64(h[l]);
    FOR_PAIRS rsqrt_pair(&VECTOR(r, k), &CONST_VECTOR(r, k));
    FOR_LANES r[l] = ptxi_num_rsqrt_upper_f64(h[l], r[l]);
    WRITE_LANES_COLD(d, ptxi_num_rsqrt_step_f64(a[l], ptxi_num_f64((uint64_t)r[l] << 32)));
    NEXT;
}

/* --- division: by b's reciprocal; where that is special, the operands are scaled --- */
#define DIVISION(name, function, product)                                                                               \
    OP( name )                                                                                                          \
    {                                                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                                \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        rcp_mended(r, b, 0, NULL);                                                                                      \
        FOR_LANES r[l] = (product);                                                                                     \
        if (rcp_irregular(b))                                                                                           \
            for (int l = 0; l < PTXI_LANES; l++)                                                                        \
                if (w->active >> l & 1 && !is_regular(b[l], &ptxi_approx_rcp, false))                                               \
                    r[l] = function(a[l], b[l]);                                                                        \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                                              \
        NEXT;                                                                                                           \
    }
#define DIVISION_BOTH(f)                                                                                                \
    DIVISION(f##_f32, ptxi_num_##f##_f32, ptxi_num_mul_f32(a[l], ptxi_num_f32(r[l])))                                   \
    DIVISION(f##_f32_ftz, ptxi_num_##f##_ftz_f32, ptxi_num_mul_ftz_f32(a[l], r[l]))
DIVISION_BOTH(div_approx)
DIVISION_BOTH(div_full)

/* Where contraction takes the product apart. */
OP1(scale_div_approx_f32, float, uint32_t, ptxi_num_div_approx_scale(a[l]))
OP1(scale_rcp_f32, float, uint32_t, ptxi_num_rcp_scale(a[l]))
OP1(scale_div_full_f32_ftz, uint32_t, uint32_t, ptxi_num_div_full_ftz_scale(a[l]))
