/* PTX ISA, "Floating Point Instructions": the approximate instructions, by table lookup and quadratic interpolation.
 * num/approx.h has the method for one operand. */
#if defined(__AVX512BW__) && !defined(__clang__)
/* The code has long sequences without branches, which fill the host's scheduler. By default, GCC does not reorder
 * instructions before register allocation. With the 16 registers of AVX2 the reordering costs more than it gains. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif

#include "exec/arith/approx_table_inl.h"
#include "exec/arith/f16_view.h"
#include "num/approx_f64.h"

/* --- the units: results for a group of vectors, with or without .ftz ---
 *
 * The results are right for ordinary operands only. A function returns whether any operand was special if its unit
 * finds that as a by-product. Otherwise the caller checks the operands before the call, and the function returns
 * false. */

/* 2^26 / significand, plus 4 times the fraction. */
ALWAYS_INLINE void rcp_sums(vec *t, const vec *a)
{
    vec f[GROUP];

    for (int j = 0; j < GROUP; j += 2) {
        vec x = blend_halves(a[j], a[j + 1] << 16);

        make_factors(f + j, x, swap_halves(x));
    }
    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_rcp, a, 16, j);

        t[j] = row.c0 + SAR(dot_halves(row.c12, f[j]) + UNIT_CONSTANT(&ptxi_approx_rcp, bias), 13);
    }
}

ALWAYS_INLINE bool rcp_vectors(vec *r, const vec *a)
{
    vec t[GROUP];

    rcp_sums(t, a);
    FOR_GROUP r[j] = (t[j] >> 2) + (UNIT_CONSTANT(&ptxi_approx_rcp, offset) - a[j]);
    return false;
}

/* ptxi_num_rsqrt_scaled() of a, where `more` is added to the sum. */
ALWAYS_INLINE void rsqrt_group(vec *r, const vec *a, const vec *more)
{
    vec f[GROUP];

    make_factors_17(f, a);
    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_rsqrt, a, 17, j);
        struct interpolated t = interpolate_17(row, f[j], a[j], more[j], 14, ptxi_approx_rsqrt.bias, j);

        r[j] = increment_where(EQUAL(t.low, UNIT_CONSTANT(&ptxi_approx_rsqrt, exact)), t.high >> 2);
    }
}

ALWAYS_INLINE bool rsqrt_vectors(vec *r, const vec *a)
{
    vec minus_2a[GROUP];

    FOR_GROUP minus_2a[j] = -(a[j] + a[j]);
    rsqrt_group(r, a, minus_2a);
    FOR_GROUP
        r[j] += UNIT_CONSTANT(&ptxi_approx_rsqrt, offset);
    return false;
}

ALWAYS_INLINE bool sqrt_vectors(vec *r, const vec *a)
{
    vec f[GROUP];

    make_factors_17(f, a);
    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_sqrt, a, 17, j);
        struct interpolated t = interpolate_17(row, f[j], a[j], SPLAT(0), 15, ptxi_approx_sqrt.bias, j);

        r[j] = ((t.high >> 1) + a[j]) >> 1;
    }
    return false;
}

ALWAYS_INLINE bool ex2_vectors(vec *r, const vec *a)
{
    vec f[GROUP];
    vec v[GROUP], at[GROUP];

    FOR_GROUP {
        vec fixed = float_to_int_rz((vec)((fvec)a[j] * UNIT_CONSTANT_F(&ptxi_approx_ex2, scale)));

        at[j] = v[j] = floor_of_truncated(fixed, a[j]);
    }
    KEEP_IN_MEMORY(at);
    make_factors_17(f, v);
    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_ex2, at, 17, j);

        r[j] = (interpolate_17(row, f[j], v[j], SPLAT(0), 13, ptxi_approx_ex2.bias, j).high >> 2) + v[j];
    }
    return !all_positive_normal(r[0], r[1]);
}

/* Recomputes small results in units of 2^-36. */
ALWAYS_INLINE void lg2_fine(vec *r, const vec *a, const struct interpolated *t, const vec *sign)
{
    FOR_GROUP {
        vec fine = ((t[j].high << 6) + (t[j].low << 24 >> 26)) ^ sign[j];
        vec_mask small = BELOW(r[j] & K(magnitude), 0x3c000000);

        if (!ANY_SET(small))
            continue;
        fine = (int_to_float_rz(fine) - UNIT_CONSTANT(&ptxi_approx_lg2, one_fine)) & MASK(fine != 0);
        fine = copy_sign(fine, sign[j]) & MASK(a[j] != 0x3f800000);
        r[j] = select_where(small, fine, r[j]);
    }
}

/* The sum in units of 2^-30, with the exponent modulo 4. */
ALWAYS_INLINE void lg2_sums(struct interpolated *t, const vec *a)
{
    vec f[GROUP];

    make_factors_17(f, a);
    FOR_GROUP
        t[j] = interpolate_17(LOOK_UP_ROW(&ptxi_num_lg2, a, 17, j), f[j], a[j], a[j] << 7, 8, ptxi_approx_lg2.bias, j);
}

#if defined(__AVX512BW__)
ALWAYS_INLINE bool lg2_vectors(vec *r, const vec *a)
{
    const struct ptxi_approx_unit *unit = &ptxi_approx_lg2;
    struct interpolated t[GROUP];
    vec sign[GROUP];
    enum { LEAST_MAGNITUDE = 0xa };
    __m512 least;

    lg2_sums(t, a);
    /* Adds the fraction and the exponent as floats. For a negative logarithm, both are complemented, and the exponent
     * is one closer to 0. */
    FOR_GROUP {
        __mmask16 negative = BELOW(a[j], UNIT_CONSTANT(unit, offset));
        native v = (native)t[j].high, mask = _mm512_set1_epi32((int)K(fraction30));
        __m512 one = _mm512_set1_ps(unit->scale[0]), e = _mm512_getexp_ps((__m512)a[j]);

        /* (v & mask) ^ (negative ? mask : 0) */
        v = _mm512_ternarylogic_epi32(v, mask, _mm512_maskz_mov_epi32(negative, mask), 0x6a);
        e = _mm512_mask_add_ps(e, negative, e, _mm512_set1_ps(1));
        one = _mm512_mask_sub_ps(one, negative, _mm512_setzero_ps(), one);
        r[j] = (vec)_mm512_fmadd_round_ps((__m512)int_to_float_rz((vec)v), one, e,
                                          _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    }
    least = _mm512_range_ps((__m512)r[0], (__m512)r[1], LEAST_MAGNITUDE);
    if (__builtin_expect(_mm512_cmplt_ps_mask(least, _mm512_set1_ps(0x1p-7f)), 0)) {
        FOR_GROUP
            sign[j] = SAR(a[j] - UNIT_CONSTANT(unit, offset), 31);
        lg2_fine(r, a, t, sign);
    }
    return false;
}
#else
ALWAYS_INLINE bool lg2_vectors(vec *r, const vec *a)
{
    const struct ptxi_approx_unit *unit = &ptxi_approx_lg2;
    struct interpolated t[GROUP];
    vec sign[GROUP];
    vec v[GROUP];
    bool special = false;

    lg2_sums(t, a);
    if (__builtin_expect(!any_nonzero(find_special(a, &ptxi_approx_lg2_near, true)), 1)) {
        FOR_GROUP {
            sign[j] = SAR(t[j].high, 31);
            v[j] = t[j].high ^ sign[j];
            r[j] = int_to_float(apply_sign(truncate_for_float(v[j]), t[j].high)) - UNIT_CONSTANT(unit, one_near);
        }
    } else {
        FOR_GROUP {
            vec exponent = (a[j] - UNIT_CONSTANT(unit, offset)) & K(exponent);
            vec near = MASK(SAR(exponent + K(bit[24]), 25) == 0); /* exponents from -2 to 1, which the sum includes */

            v[j] = select_where(near, t[j].high, (t[j].high << 2 >> 9) + exponent); /* in units of 2^-30, or of 2^-23 */
            sign[j] = SAR(v[j], 31);
            v[j] ^= sign[j];
            r[j] = int_to_float_rz(v[j]) - UNIT_CONSTANT(unit, one) - (near & K(exponent7));
            r[j] |= sign[j] & K(bit[31]);
        }
        special = any_nonzero(find_special(a, unit, true));
    }
    if (__builtin_expect(any_below_bit23(v), 0))
        lg2_fine(r, a, t, sign);
    return special;
}
#endif

/* The sums are in units of 2^-30. Small results are recomputed in units of 2^-37. */
#if defined(__AVX512BW__)
/* Rounds toward zero. The coefficient column has 2^16 less than the rows. fine: whether the last 7 bits count; they
 * are added below 2^-14. */
ALWAYS_INLINE vec sincos_value(struct interpolated t, vec sign, bool fine, bool as_is)
{
    native rest = (native)SPLAT(K(float_2_m14));
    __m512 value;

    if (fine)
        rest = _mm512_ternarylogic_epi32((native)t.low, (native)SPLAT(K(low7)), rest, 0xea);
    value = _mm512_fmadd_round_ps((__m512)int_to_float_rz(t.high), (__m512)SPLAT(K(float_2_m30)), (__m512)rest,
                                  _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return set_sign((vec)value, sign, as_is);
}
#else
ALWAYS_INLINE void sincos_fine(vec *r, const struct interpolated *t, const vec *sign,
                               const struct ptxi_approx_unit *unit, bool as_is)
{
    FOR_GROUP {
        vec fine = (t[j].high << 7) + (t[j].low & 0x7f), small = BELOW(t[j].high, K(bit[23]));

        if (!ANY_SET(small))
            continue;
        fine = (int_to_float_rz(fine) - UNIT_CONSTANT(unit, one_fine)) & MASK(fine != 0);
        fine = copy_sign(fine, as_is ? sign[j] : ~sign[j]);
        r[j] = select_where(small, fine, r[j]);
    }
}
#endif

/* cos(a) is sin(a + a quarter revolution). */
ALWAYS_INLINE bool sincos_vectors(vec *r, const vec *a, const struct ptxi_approx_unit *unit, bool is_cos)
{
    vec f[GROUP];
    struct interpolated t[GROUP];
    vec revolutions[GROUP], v[GROUP], s[GROUP], at[GROUP], high[GROUP];

    /* Fixed point with 25 fraction bits. In odd quarters, which have bit 23 set, the function runs backwards. For cos,
     * the sign is the exclusive or of the upper two bits. v has its complement. */
    FOR_GROUP {
        revolutions[j] = float_to_int_rz(mul_rz(a[j] & K(magnitude), unit->scale));
        at[j] = v[j] = complement_if_bit(revolutions[j], 23, !is_cos);
        s[j] = is_cos ? v[j] << 7 : (vec)(revolutions[j] << 7 ^ a[j]);
    }
    KEEP_IN_MEMORY(at);
    make_factors_17(f, v);
    FOR_GROUP {
        t[j] = interpolate_17(LOOK_UP_ROW(&ptxi_num_sin, at, 17, j), f[j], v[j], SPLAT(0), 7, NULL, j);
        high[j] = t[j].high;
    }
#if defined(__AVX512BW__)
    /* Zeros of sin are rare among other operands. An operand out of range or a NaN has no fraction and is found with
     * them. */
    FOR_GROUP
        r[j] = sincos_value(t[j], s[j], is_cos, !is_cos);
    if (is_cos)
        return any_sign_bit(revolutions);
    if (__builtin_expect(!any_below_bit23(high), 1))
        return false;
    FOR_GROUP
        r[j] = sincos_value(t[j], s[j], true, !is_cos);
    return any_sign_bit(revolutions);
#else
    /* The only operand that has a negative number of revolutions but an ordinary result is 0, and its sum is small. */
    FOR_GROUP {
        vec x = int_to_float(apply_sign(truncate_for_float(high[j]), s[j]));

        r[j] = is_cos ? x + UNIT_CONSTANT(unit, less_one) : x - UNIT_CONSTANT(unit, one);
    }
    if (__builtin_expect(any_below_bit23(high), 0))
        sincos_fine(r, t, s, unit, !is_cos);
    return SINCOS_FINDS_SPECIAL && any_sign_bit(revolutions);
#endif
}

ALWAYS_INLINE bool sin_vectors(vec *r, const vec *a)
{
    return sincos_vectors(r, a, &ptxi_approx_sin, false);
}

ALWAYS_INLINE bool cos_vectors(vec *r, const vec *a)
{
    return sincos_vectors(r, a, &ptxi_approx_cos, true);
}

/* The operand as a fixed-point number: the bits that do not select the row on top, 0 below. Also the row number, from
 * bit TANH_ROW on, and the shift of the sum. */
#if defined(__AVX512BW__)
enum { TANH_ROW = 0 };
ALWAYS_INLINE vec tanh_argument(vec a, vec *row, vec *shift)
{
    native e = _mm512_srli_epi32((native)a, 23); /* permutations use the last 4 bits */
    native rotated = _mm512_rorv_epi32((native)a, _mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_turn));
    native mark = _mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_mark);

    *shift = (vec)_mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_shift_words);
    /* (rotated ^ mark) & x_and_row */
    return *row = (vec)_mm512_ternarylogic_epi32(rotated, (native)SPLAT(K(x_and_row)), mark, 0x48);
}
#else
enum { TANH_ROW = 17 };
ALWAYS_INLINE vec tanh_argument(vec a, vec *row, vec *shift)
{
    vec e = a >> 23 & 15;

    *shift = look_up_bytes(ptxi_num_tanh_shift, e);
    *row = (a >> look_up_bytes(ptxi_num_tanh_down, e)) + (look_up_bytes(ptxi_num_tanh_half, e) << 16);
    return *row << 15;
}
#endif

ALWAYS_INLINE bool tanh_vectors(vec *r, const vec *a)
{
    vec f[GROUP];
    vec x[GROUP], at[GROUP], shift[GROUP];

    FOR_GROUP
        x[j] = tanh_argument(a[j], &at[j], &shift[j]);
    KEEP_IN_MEMORY(at);
    for (int j = 0; j < GROUP; j += 2)
        make_factors(f + j, blend_halves(x[j] >> 16, x[j + 1]), blend_halves(x[j + 1] >> 15, x[j] << 1));
    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_tanh, at, TANH_ROW, j);
        vec rest = row.c0 + (x[j] >> shift[j]), sum;

#if defined(__AVX512BW__)
        rest = add_if_bit(rest, x[j], 31, (vec)((svec)c1_shifted_16(row, j) >> (svec)shift[j]));
#endif
        sum = rest + (vec)((svec)dot_halves(row.c12, f[j]) >> (svec)shift[j]);
#if defined(__AVX512BW__)
        r[j] = scale_and_set_sign(int_to_float_rz(sum), &ptxi_approx_tanh, a[j], true);
#else
        r[j] = int_to_float(apply_sign(truncate_for_float(sum), a[j])) - UNIT_CONSTANT(&ptxi_approx_tanh, one);
#endif
    }
    return false;
}

/* A magnitude below 2^-8 is its own result. From 8 on, the result is 1. */
ALWAYS_INLINE void tanh_outside_table(vec *r, const vec *a)
{
    FOR_GROUP {
        vec magnitude = a[j] & K(magnitude);

        r[j] = select_where(BELOW(magnitude, 0x41000000), r[j], copy_sign(SPLAT(0x3f800000), a[j]));
        r[j] = select_where(BELOW(magnitude, 0x3b800000), a[j], r[j]);
        r[j] = select_where(BELOW(magnitude, 0x7f800001), r[j], SPLAT(PTXI_NAN_F32));
    }
}

/* --- the handlers --- */
typedef uint32_t unary(uint32_t);

/* Computes the results for special operands in the lanes of a mask by the function for one operand. */
ALWAYS_INLINE void fix_special_lanes(uint32_t *r, const uint32_t *a, ptxi_lanes lanes, unary *scalar,
                                     const struct ptxi_approx_unit *unit, bool sign)
{
    for (int l = 0; l < PTXI_LANES; l++)
        if (lanes >> l & 1 && !is_ordinary(a[l], unit, sign))
            r[l] = scalar(a[l]);
}

ALWAYS_INLINE void fix_tanh(uint32_t *r, const uint32_t *a, ptxi_lanes lanes, unary *scalar,
                            const struct ptxi_approx_unit *unit, bool sign)
{
    (void)lanes, (void)scalar, (void)unit, (void)sign;
    FOR_GROUPS tanh_outside_table(&VECTOR(r, k), &CONST_VECTOR(a, k));
}

#define UNIT rcp
#define UNIT_SIGN false
#define UNIT_CHECKS_FIRST true
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT rsqrt
#define UNIT_SIGN true
#define UNIT_CHECKS_FIRST true
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT sqrt
#define UNIT_SIGN true
#define UNIT_CHECKS_FIRST true
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT ex2
#define UNIT_SIGN false
#define UNIT_CHECKS_FIRST !UNIT_FINDS_SPECIAL
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT lg2
#define UNIT_SIGN true
#define UNIT_CHECKS_FIRST UNIT_FINDS_SPECIAL
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT sin
#define UNIT_SIGN false
#define UNIT_CHECKS_FIRST !SINCOS_FINDS_SPECIAL
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT cos
#define UNIT_SIGN false
#define UNIT_CHECKS_FIRST !SINCOS_FINDS_SPECIAL
#define UNIT_FIX fix_special_lanes
#include "exec/arith/approx_unit_inl.h"
#define UNIT tanh
#define UNIT_SIGN false
#define UNIT_CHECKS_FIRST true
#define UNIT_FIX fix_tanh
#include "exec/arith/approx_unit_inl.h"

#define UNIT_OP(unit, form, scalar)          \
    OP( unit##_##form )                      \
    {                                        \
        return unit##_run(i, w, scalar);     \
    }
#define UNIT_OPS(unit, ftz)                                        \
    UNIT_OP(unit, approx_f32, ptxi_num_##unit##_approx_f32)        \
    UNIT_OP(unit, approx_f32_ftz, ptxi_num_##unit##_approx_##ftz)
UNIT_OPS(rcp, ftz_f32)
UNIT_OPS(rsqrt, ftz_f32)
UNIT_OPS(sqrt, ftz_f32)
UNIT_OPS(ex2, ftz_f32)
UNIT_OPS(lg2, ftz_f32)
/* The multiplication by 1 / 2 pi before the unit keeps subnormals, so .ftz makes no difference. */
UNIT_OPS(sin, f32)
UNIT_OPS(cos, f32)
UNIT_OP(tanh, approx_f32, ptxi_num_tanh_approx_f32)
OP1(sin_2pi_f32, uint32_t, uint32_t, ptxi_num_sin_2pi_f32(a[l]))
OP1(cos_2pi_f32, uint32_t, uint32_t, ptxi_num_cos_2pi_f32(a[l]))

/* --- f16 and bf16 --- */

/* Looks results up in the table t of 2^16 results, which is followed by one more readable element. r may be a. */
ALWAYS_INLINE void look_up_f16_results(uint16_t *r, const uint16_t *a, int n, const uint16_t *t)
{
#if defined(__AVX512BW__)
    for (int k = 0; k < n; k += 32) {
        vec v = *(const vec *)(a + k);
        native even = _mm512_i32gather_epi32((native)(v & K(lower_half)), t, 2);
        native odd = _mm512_i32gather_epi32((native)(v >> 16), t, 2);

        *(vec *)(r + k) = blend_halves((vec)even, (vec)odd << 16);
    }
#elif defined(__SSE2__)
#define PUT(l) v = _mm_insert_epi16(v, t[a[k + (l)]], l);
    for (int k = 0; k < n; k += 8) {
        __m128i v = _mm_cvtsi32_si128(t[a[k]]);

        PUT(1) PUT(2) PUT(3) PUT(4) PUT(5) PUT(6) PUT(7)
        *(__m128i *)(r + k) = v;
    }
#undef PUT
#else
    for (int l = 0; l < n; l++)
        r[l] = t[a[l]];
#endif
}

#define TABULATED_OPS(f, mods, type)                                                            \
    HANDLER_PART(OUT_OF_LINE, f##_lanes_##type, int n)                                          \
    {                                                                                           \
        const uint16_t *a = PTXI_SLOT(w, i->a);                                                 \
        const uint16_t *results = ptxi_num_approx_f16(PTXI_NUM_APPROX_F16_##f##_approx##mods##_##type); \
        _Alignas(64) uint16_t r[HALF_ELEMENTS_MAX];                                             \
                                                                                                \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {                                 \
            look_up_f16_results(PTXI_SLOT(w, i->d), a, n, results);                             \
        } else {                                                                                \
            look_up_f16_results(r, a, n, results);                                              \
            write_half_elements(i, w, r, n);                                                    \
        }                                                                                       \
        NEXT;                                                                                   \
    }                                                                                           \
    HALF_OPS(f##_approx, type, f##_lanes_##type)
TABULATED_OPS(ex2, , f16)
TABULATED_OPS(ex2, _ftz, bf16)
TABULATED_OPS(tanh, , f16)
TABULATED_OPS(tanh, , bf16)

/* --- f64: the unit's result for the upper word; the lower word is 0 --- */

/* ptxi_num_rcp_upper_f64(). The fraction of the operand and that of the result have 20 bits each. */
ALWAYS_INLINE void rcp_upper(vec *r, const vec *h)
{
    vec a[GROUP], t[GROUP];

    FOR_GROUP a[j] = h[j] << 3;
    KEEP_IN_MEMORY(a);
    rcp_sums(t, a);
    FOR_GROUP r[j] = (t[j] >> 5) + (UNIT_CONSTANT(&ptxi_approx_rcp_f64, offset) - h[j]);
}

/* ptxi_num_rsqrt_upper_f64(). Half of the exponent and half of the fraction are subtracted from the result. Its last
 * bit is worth eight of the unit's. */
#if defined(__AVX512BW__)
/* The argument is h * 8. Its bits above the row number are ignored. */
enum { F64_ROW = 14 };

/* Whether the argument is 1: the lowest exponent bit is set and the fraction is 0. */
ALWAYS_INLINE vec_mask is_exact_f64(vec h)
{
    __mmask16 odd_exponent = _mm512_test_epi32_mask((native)h, _mm512_set1_epi32((int)K(bit[20])));

    return _mm512_mask_testn_epi32_mask(odd_exponent, (native)h, _mm512_set1_epi32((int)K(fraction20)));
}

ALWAYS_INLINE void rsqrt_upper(vec *r, const vec *h)
{
    vec u = blend_halves(h[0] << 2, h[1] << 18), s = square_multiples_of_8(u);
    vec m = (vec)_mm512_rol_epi32((native)u, 15); /* swap_halves() of half of it; the last bits are 0 */
    vec f[2] = { blend_halves(s, m), blend_halves(m, s) };

    FOR_GROUP {
        struct table_row row = LOOK_UP_ROW(&ptxi_num_rsqrt_eights, h, F64_ROW, j);
        vec total = add_masked(is_exact_f64(h[j]), row.c0, SPLAT(K(bit[2]))) - SAR(dot_halves(row.c12, f[j]), 12);

        r[j] = ((total >> 4) + (UNIT_CONSTANT(&ptxi_approx_rsqrt_f64, twice_offset) - h[j])) >> 1;
    }
}
#else
ALWAYS_INLINE void rsqrt_upper(vec *r, const vec *h)
{
    vec a[GROUP], none[GROUP];

    FOR_GROUP a[j] = h[j] << 3, none[j] = SPLAT(0);
    KEEP_IN_MEMORY(a);
    rsqrt_group(r, a, none);
    FOR_GROUP {
        vec fraction = (r[j] - (h[j] << 2 & K(bit[2]))) >> 3;

        r[j] = fraction + (UNIT_CONSTANT(&ptxi_approx_rsqrt_f64, offset) - (h[j] >> 1));
    }
}
#endif

/* Computes the results of all lanes and returns whether all operands are ordinary. */
#define UPPER_VECTORS(f, SIGN)                                            \
    ALWAYS_INLINE bool f##_upper_vectors(vec *r, const uint64_t *a)       \
    {                                                                     \
        special_mask special = { 0 };                                     \
                                                                          \
        FOR_GROUPS {                                                      \
            vec h[GROUP];                                                 \
                                                                          \
            FOR_GROUP h[j] = upper_words(a + (k + j) * VEC_LANES);        \
            special |= find_special_f64(h, &ptxi_approx_##f##_f64, SIGN); \
            f##_upper(r + k, h);                                          \
        }                                                                 \
        return !ANY_SET(special);                                     \
    }
UPPER_VECTORS(rcp, false)
UPPER_VECTORS(rsqrt, true)

/* result: statement that makes d from the unit's results h for ordinary operands a. scalar: the function for one
 * operand of any kind. */
#define UPPER_WORD_OP(f, name, SIGN, result, scalar)                                                      \
    HANDLER_PART(OUT_OF_LINE, name##_slow)                                                                \
    {                                                                                                     \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                           \
        LANE_ARRAY(uint64_t, d);                                                                          \
        vec h[PTXI_LANES / VEC_LANES];                                                                    \
        bool all_ordinary = f##_upper_vectors(h, a);                                                      \
                                                                                                          \
        result                                                                                            \
        for (int l = 0; !all_ordinary && l < PTXI_LANES; l++)                                             \
            if (w->active >> l & 1 && !is_ordinary((uint32_t)(a[l] >> 32), &ptxi_approx_##f##_f64, SIGN)) \
                d[l] = scalar(a[l]);                                                                      \
        write_buffer(PTXI_SLOT(w, i->d), d, w->active, 8);                                                \
        NEXT;                                                                                             \
    }                                                                                                     \
    OP( name )                                                                                            \
    {                                                                                                     \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                           \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                                 \
        vec h[PTXI_LANES / VEC_LANES];                                                                    \
                                                                                                          \
        if (__builtin_expect(w->active != PTXI_ALL_LANES || !f##_upper_vectors(h, a), 0))                 \
            return name##_slow(i, w);                                                                     \
        result                                                                                            \
        NEXT;                                                                                             \
    }
#define STORE_UPPER(d) FOR_GROUPS FOR_GROUP store_upper_words(d + (k + j) * VEC_LANES, h[k + j]);
#define REFINE_AND_STORE     \
    LANE_ARRAY(uint64_t, y); \
                             \
    STORE_UPPER(y)           \
    FOR_LANES d[l] = ptxi_num_bits_f64(ptxi_num_rsqrt_near_f64(ptxi_num_f64(a[l]), ptxi_num_f64(y[l])));
UPPER_WORD_OP(rcp, rcp_approx_f64, false, STORE_UPPER(d), ptxi_num_rcp_approx_ftz_f64)
UPPER_WORD_OP(rsqrt, rsqrt_approx_f64_ftz, true, STORE_UPPER(d), ptxi_num_rsqrt_approx_ftz_f64)
UPPER_WORD_OP(rsqrt, rsqrt_approx_f64, true, REFINE_AND_STORE, ptxi_num_rsqrt_approx_f64)

/* --- division: a times the reciprocal of b; operands are scaled if the reciprocal is special --- */

/* Divides in all lanes. Returns false, and stores nothing, if any operand or result is special: the product is a NaN
 * or, with .ftz, the product or a is close to the flushed range. */
ALWAYS_INLINE bool divide_ordinary(uint32_t *d, const uint32_t *a, const uint32_t *b, bool ftz)
{
    vec q[PTXI_LANES / VEC_LANES];
    special_mask special = rcp_find_special(b);

    FOR_GROUPS {
        vec r[GROUP];

        rcp_vectors(r, &CONST_VECTOR(b, k));
        FOR_GROUP q[k + j] = (vec)((fvec)r[j] * (fvec)CONST_VECTOR(a, k + j));
        special |= find_nans(q + k);
        if (ftz)
            special |= find_near_zero(q + k, &CONST_VECTOR(a, k));
    }
    if (__builtin_expect(ANY_SET(special), 0))
        return false;
    FOR_GROUPS FOR_GROUP VECTOR(d, k + j) = q[k + j];
    return true;
}

#define DIVIDE_OP(name, function, product, ftz)                                               \
    HANDLER_PART(OUT_OF_LINE, name##_slow)                                                    \
    {                                                                                         \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                      \
        LANE_ARRAY(uint32_t, r);                                                              \
                                                                                              \
        FOR_GROUPS rcp_vectors(&VECTOR(r, k), &CONST_VECTOR(b, k));                           \
        FOR_LANES r[l] = (product);                                                           \
        if (ANY_SET(rcp_find_special(b)))                                                 \
            for (int l = 0; l < PTXI_LANES; l++)                                              \
                if (w->active >> l & 1 && !is_ordinary(b[l], &ptxi_approx_rcp, false))        \
                    r[l] = function(a[l], b[l]);                                              \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                    \
        NEXT;                                                                                 \
    }                                                                                         \
    OP( name )                                                                                \
    {                                                                                         \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1) &&                               \
            divide_ordinary(PTXI_SLOT(w, i->d), PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), ftz)) \
            NEXT;                                                                             \
        return name##_slow(i, w);                                                             \
    }
#define DIVIDE_OPS(f)                                                                         \
    DIVIDE_OP(f##_f32, ptxi_num_##f##_f32, ptxi_num_mul_f32(a[l], ptxi_num_f32(r[l])), false) \
    DIVIDE_OP(f##_f32_ftz, ptxi_num_##f##_ftz_f32, ptxi_num_mul_ftz_f32(a[l], r[l]), true)
DIVIDE_OPS(div_approx)
DIVIDE_OPS(div_full)

/* --- parts of a division, for contraction --- */
OP1(scale_div_approx_f32, float, uint32_t, ptxi_num_div_approx_scale(a[l]))
OP1(scale_rcp_f32, float, uint32_t, ptxi_num_rcp_scale(a[l]))
OP1(scale_div_full_f32_ftz, uint32_t, uint32_t, ptxi_num_div_full_ftz_scale(a[l]))
