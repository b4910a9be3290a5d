/* PTX ISA, "Floating Point Instructions": the approximate instructions; num/approx.h has the units. */
#if defined(__AVX512BW__) && !defined(__clang__)
/* So much code without a branch fills the host's schedulers; GCC does not put instructions in order before it has given them registers unless
 * told to. With the fewer registers of AVX2 that costs more than it gains. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif

#include "exec/arith/approx_rows.h"
#include "exec/arith/f16_view.h"
#include "num/approx_f64.h"

/* --- the units, for a group of vectors of operands that nothing special is done for, with .ftz or without ---
 *
 * They say whether there was an operand that they are not for. Where that is seen by the operands, irregulars() comes before them; some units
 * see it by what they compute anyway. */

/* 2^26 / significand, plus 4 times the fraction. */
ALWAYS void rcp_totals(vec *t, const vec *a)
{
    vec f[GROUP];

    for (int j = 0; j < GROUP; j += 2) {
        vec x = joined_halves(a[j], a[j + 1] << 16);

        factors(f + j, x, turned(x));
    }
    FOR_GROUP {
        struct found row = LOOK_UP(&ptxi_num_rcp, a, 16, j);

        t[j] = row.c0 + SAR(dot(row.c12, f[j]) + OF_UNIT(&ptxi_approx_rcp, bias), 13);
    }
}

ALWAYS bool rcp_vectors(vec *r, const vec *a)
{
    vec t[GROUP];

    rcp_totals(t, a);
    FOR_GROUP r[j] = (t[j] >> 2) + (OF_UNIT(&ptxi_approx_rcp, offset) - a[j]);
    return false;
}

/* ptxi_num_rsqrt_scaled() of a, plus what `more` adds to its total. */
ALWAYS void rsqrt_group(vec *r, const vec *a, const vec *more)
{
    vec f[GROUP];

    factors17(f, a);
    FOR_GROUP {
        struct total t = total17(LOOK_UP(&ptxi_num_rsqrt, a, 17, j), f[j], a[j], more[j], 14, ptxi_approx_rsqrt.bias, j);

        r[j] = next_where(EQUAL(t.low, OF_UNIT(&ptxi_approx_rsqrt, exact)), t.high >> 2);
    }
}

ALWAYS bool rsqrt_vectors(vec *r, const vec *a)
{
    vec minus_2a[GROUP];

    FOR_GROUP minus_2a[j] = -(a[j] + a[j]);
    rsqrt_group(r, a, minus_2a);
    FOR_GROUP
        r[j] += OF_UNIT(&ptxi_approx_rsqrt, offset);
    return false;
}

ALWAYS bool sqrt_vectors(vec *r, const vec *a)
{
    vec f[GROUP];

    factors17(f, a);
    FOR_GROUP
        r[j] = ((total17(LOOK_UP(&ptxi_num_sqrt, a, 17, j), f[j], a[j], ALL(0), 15, ptxi_approx_sqrt.bias, j).high >> 1) + a[j]) >> 1;
    return false;
}

ALWAYS bool ex2_vectors(vec *r, const vec *a)
{
    vec f[GROUP];
    vec v[GROUP], at[GROUP];

    FOR_GROUP
        at[j] = v[j] = lowered(integers_toward_zero((vec)((fvec)a[j] * OF_UNIT_F(&ptxi_approx_ex2, scale))), a[j]);
    IN_MEMORY(at);
    factors17(f, v);
    FOR_GROUP
        r[j] = (total17(LOOK_UP(&ptxi_num_ex2, at, 17, j), f[j], v[j], ALL(0), 13, ptxi_approx_ex2.bias, j).high >> 2) + v[j];
    return !all_normal(r[0], r[1]);
}

/* Where a result is small, its sums of units of 2^-36 count. */
ALWAYS void lg2_fine(vec *r, const vec *a, const struct total *t, const vec *sign)
{
    FOR_GROUP {
        vec fine = ((t[j].high << 6) + (t[j].low << 24 >> 26)) ^ sign[j];
        lanes_of_vec small = BELOW(r[j] & K(magnitude), 0x3c000000);

        if (!ANY(small))
            continue;
        fine = with_sign((floats_toward_zero(fine) - OF_UNIT(&ptxi_approx_lg2, one_fine)) & MASK(fine != 0), sign[j]) & MASK(a[j] != 0x3f800000);
        r[j] = picked(small, fine, r[j]);
    }
}

/* The sum in units of 2^-30, with the exponent modulo 4. */
ALWAYS void lg2_totals(struct total *t, const vec *a)
{
    vec f[GROUP];

    factors17(f, a);
    FOR_GROUP
        t[j] = total17(LOOK_UP(&ptxi_num_lg2, a, 17, j), f[j], a[j], a[j] << 7, 8, ptxi_approx_lg2.bias, j);
}

ALWAYS bool lg2_vectors(vec *r, const vec *a)
{
    const struct ptxi_approx_unit *unit = &ptxi_approx_lg2;
    struct total t[GROUP];
    vec sign[GROUP];

    lg2_totals(t, a);
#if defined(__AVX512BW__)
    /* Fraction and exponent are added as floats. Of a negative number both are complemented, and the exponent is one less from 0. */
    FOR_GROUP {
        __mmask16 negative = BELOW(a[j], OF_UNIT(unit, offset));
        native v = (native)t[j].high, mask = _mm512_set1_epi32((int)K(fraction30));
        __m512 one = _mm512_set1_ps(unit->scale[0]), e = _mm512_getexp_ps((__m512)a[j]);

        v = _mm512_ternarylogic_epi32(v, mask, _mm512_maskz_mov_epi32(negative, mask), 0x6a); /* (v & mask) ^ (negative ? mask : 0) */
        e = _mm512_mask_add_ps(e, negative, e, _mm512_set1_ps(1));
        one = _mm512_mask_sub_ps(one, negative, _mm512_setzero_ps(), one);
        r[j] = (vec)_mm512_fmadd_round_ps((__m512)floats_toward_zero((vec)v), one, e, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    }
    if (__builtin_expect(_mm512_cmplt_ps_mask(_mm512_range_ps((__m512)r[0], (__m512)r[1], 0xa), _mm512_set1_ps(0x1p-7f)), 0)) {
        FOR_GROUP
            sign[j] = SAR(a[j] - OF_UNIT(unit, offset), 31);
        lg2_fine(r, a, t, sign);
    }
    return false;
#else
    vec v[GROUP];
    bool seen = false;

    if (__builtin_expect(!any(irregulars(a, &ptxi_approx_lg2_near, true)), 1)) {
        FOR_GROUP {
            sign[j] = SAR(t[j].high, 31);
            v[j] = t[j].high ^ sign[j];
            r[j] = floats(negated_as(cut_to_float(v[j]), t[j].high)) - OF_UNIT(unit, one_near);
        }
    } else {
        FOR_GROUP {
            vec exponent = (a[j] - OF_UNIT(unit, offset)) & K(exponent);
            vec near = MASK(SAR(exponent + K(bit[24]), 25) == 0); /* from -2 to 1: the sum has it */

            v[j] = picked(near, t[j].high, (t[j].high << 2 >> 9) + exponent); /* in units of 2^-30, or 2^-23 */
            sign[j] = SAR(v[j], 31);
            v[j] ^= sign[j];
            r[j] = floats_toward_zero(v[j]) - OF_UNIT(unit, one) - (near & K(exponent7));
            r[j] |= sign[j] & K(bit[31]);
        }
        seen = any(irregulars(a, unit, true));
    }
    if (__builtin_expect(any_small(v), 0))
        lg2_fine(r, a, t, sign);
    return seen;
#endif
}

/* The sums are in units of 2^-30; where a result is small, those of 2^-37 count. */
#if defined(__AVX512BW__)
/* Toward zero; the column has 2^16 less than the rows. fine: whether the last 7 bits count, which are put below 2^-14. */
ALWAYS vec sincos_value(struct total t, vec sign, bool fine, bool as_is)
{
    native rest = (native)ALL(K(float_2_m14));

    if (fine)
        rest = _mm512_ternarylogic_epi32((native)t.low, (native)ALL(K(low7)), rest, 0xea);
    return signed_as((vec)_mm512_fmadd_round_ps((__m512)floats_toward_zero(t.high), (__m512)ALL(K(float_2_m30)), (__m512)rest,
                                                _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), sign, as_is);
}
#else
ALWAYS void sincos_fine(vec *r, const struct total *t, const vec *sign, const struct ptxi_approx_unit *unit, bool as_is)
{
    FOR_GROUP {
        vec fine = (t[j].high << 7) + (t[j].low & 0x7f), small = BELOW(t[j].high, K(bit[23]));

        if (!ANY(small))
            continue;
        fine = with_sign((floats_toward_zero(fine) - OF_UNIT(unit, one_fine)) & MASK(fine != 0), as_is ? sign[j] : ~sign[j]);
        r[j] = picked(small, fine, r[j]);
    }
}
#endif

/* later: by a quarter turn */
ALWAYS bool sincos_vectors(vec *r, const vec *a, const struct ptxi_approx_unit *unit, bool later)
{
    vec f[GROUP];
    struct total t[GROUP];
    vec turns[GROUP], v[GROUP], s[GROUP], at[GROUP], high[GROUP];

    FOR_GROUP { /* 25 bits of fraction; odd quarters, which have bit 23, run backwards */
        turns[j] = integers_toward_zero(product_toward_zero(a[j] & K(magnitude), unit->scale));
        at[j] = v[j] = unfolded(turns[j], 23, !later);
        s[j] = later ? v[j] << 7 : (vec)(turns[j] << 7 ^ a[j]); /* later: the two upper bits' exclusive or is the sign, v has its complement */
    }
    IN_MEMORY(at);
    factors17(f, v);
    FOR_GROUP
        t[j] = total17(LOOK_UP(&ptxi_num_sin, at, 17, j), f[j], v[j], ALL(0), 7, NULL, j), high[j] = t[j].high;
#if defined(__AVX512BW__)
    /* Zeros of sin are rare between operands that are not; what is too large, or NaN, has no turns, and is among them. */
    FOR_GROUP
        r[j] = sincos_value(t[j], s[j], later, !later);
    if (later)
        return any_sign(turns);
    if (__builtin_expect(!any_small(high), 1))
        return false;
    FOR_GROUP
        r[j] = sincos_value(t[j], s[j], true, !later);
    return any_sign(turns);
#else
    /* Of the numbers that have a sign here only 0 is 0, and that has a small sum. */
    FOR_GROUP {
        vec x = floats(negated_as(cut_to_float(high[j]), s[j]));

        r[j] = later ? x + OF_UNIT(unit, less_one) : x - OF_UNIT(unit, one);
    }
    if (__builtin_expect(any_small(high), 0))
        sincos_fine(r, t, s, unit, !later);
    return TURNS_SEEN_LATE && any_sign(turns);
#endif
}

ALWAYS bool sin_vectors(vec *r, const vec *a)
{
    return sincos_vectors(r, a, &ptxi_approx_sin, false);
}

ALWAYS bool cos_vectors(vec *r, const vec *a)
{
    return sincos_vectors(r, a, &ptxi_approx_cos, true);
}

/* The bits that do not choose among rows on top, 0 below, and the row from bit TANH_ROW on; and the sum's shift. */
#if defined(__AVX512BW__)
enum { TANH_ROW = 0 };
ALWAYS vec tanh_number(vec a, vec *row, vec *shift)
{
    native e = _mm512_srli_epi32((native)a, 23); /* permutations look at its last 4 bits */
    native turned = _mm512_rorv_epi32((native)a, _mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_turn));
    native mark = _mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_mark);

    *shift = (vec)_mm512_permutexvar_epi32(e, *(const native *)ptxi_num_tanh_shift_words);
    return *row = (vec)_mm512_ternarylogic_epi32(turned, (native)ALL(K(x_and_row)), mark, 0x48); /* (turned ^ mark) & x_and_row */
}
#else
enum { TANH_ROW = 17 };
ALWAYS vec tanh_number(vec a, vec *row, vec *shift)
{
    vec e = a >> 23 & 15;

    *shift = look_up_bytes(ptxi_num_tanh_shift, e);
    *row = (a >> look_up_bytes(ptxi_num_tanh_down, e)) + (look_up_bytes(ptxi_num_tanh_half, e) << 16);
    return *row << 15;
}
#endif

ALWAYS bool tanh_vectors(vec *r, const vec *a)
{
    vec f[GROUP];
    vec x[GROUP], at[GROUP], shift[GROUP];

    FOR_GROUP
        x[j] = tanh_number(a[j], &at[j], &shift[j]);
    IN_MEMORY(at);
    for (int j = 0; j < GROUP; j += 2)
        factors(f + j, joined_halves(x[j] >> 16, x[j + 1]), joined_halves(x[j + 1] >> 15, x[j] << 1));
    FOR_GROUP {
        struct found row = LOOK_UP(&ptxi_num_tanh, at, TANH_ROW, j);
        vec rest = row.c0 + (x[j] >> shift[j]), sum;

#if defined(__AVX512BW__)
        rest = add_where(rest, x[j], 31, (vec)((svec)c1_above(row, j) >> (svec)shift[j]));
#endif
        sum = rest + (vec)((svec)dot(row.c12, f[j]) >> (svec)shift[j]);
#if defined(__AVX512BW__)
        r[j] = lowered_with_sign(floats_toward_zero(sum), &ptxi_approx_tanh, a[j], true);
#else
        r[j] = floats(negated_as(cut_to_float(sum), a[j])) - OF_UNIT(&ptxi_approx_tanh, one);
#endif
    }
    return false;
}

/* Magnitudes below 2^-8 are their own results, those from 8 on have 1. */
ALWAYS void tanh_beyond(vec *r, const vec *a)
{
    FOR_GROUP {
        vec magnitude = a[j] & K(magnitude);

        r[j] = picked(BELOW(magnitude, 0x41000000), r[j], with_sign(ALL(0x3f800000), a[j]));
        r[j] = picked(BELOW(magnitude, 0x3b800000), a[j], r[j]);
        r[j] = picked(BELOW(magnitude, 0x7f800001), r[j], ALL(PTXI_NAN_F32));
    }
}

/* --- the ways to run a unit --- */
typedef uint32_t unary(uint32_t);

/* What is irregular in lanes of a mask is done by a function for one operand. */
#define ONE_BY_ONE(f, SIGN)                                                        \
    for (int l = 0; l < PTXI_LANES; l++)                                           \
        if (lanes >> l & 1 && !is_regular(a[l], &ptxi_approx_##f, SIGN))           \
            r[l] = one(a[l]);
#define ALL_BEYOND                                                                 \
    (void)lanes, (void)one;                                                        \
    FOR_GROUPS tanh_beyond(&VECTOR(r, k), &CONST_VECTOR(a, k));

/* early: whether operands are looked at before the unit's work */
#define UNIT(f, SIGN, early, MEND)                                                                                           \
    ALWAYS irregular f##_irregulars(const uint32_t *a)                                                                      \
    {                                                                                                                       \
        irregular some = irregulars(&CONST_VECTOR(a, 0), &ptxi_approx_##f, SIGN);                                           \
                                                                                                                            \
        for (int k = GROUP; k < PTXI_LANES / VEC_LANES; k += GROUP)                                                                 \
            some |= irregulars(&CONST_VECTOR(a, k), &ptxi_approx_##f, SIGN);                                                \
        return some;                                                                                                        \
    }                                                                                                                       \
    static __attribute__((noinline)) void f##_mended(uint32_t *r, const uint32_t *a, ptxi_lanes lanes, unary *one)           \
    {                                                                                                                        \
        FOR_GROUPS f##_vectors(&VECTOR(r, k), &CONST_VECTOR(a, k));                                                           \
        if (ANY(f##_irregulars(a))) {                                                                                              \
            MEND                                                                                                             \
        }                                                                                                                    \
    }                                                                                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *f##_some(const struct ptxi_insn *i, struct ptxi_warp *w, unary *one) \
    {                                                                                                                        \
        LANE_ARRAY(uint32_t, r);                                                                                             \
                                                                                                                             \
        f##_mended(r, PTXI_SLOT(w, i->a), w->active, one);                                                                   \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                                                   \
        NEXT;                                                                                                                \
    }                                                                                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *f##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w, unary *one) \
    {                                                                                                                        \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                                              \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                                    \
                                                                                                                             \
        if (__builtin_expect(w->active != PTXI_ALL_LANES || (early && ANY(f##_irregulars(a))), 0))                                 \
            return f##_some(i, w, one);                                                                                      \
        if (early) {                                                                                                         \
            FOR_GROUPS {                                                                                                      \
                vec y[GROUP];                                                                                                    \
                                                                                                                             \
                f##_vectors(y, &CONST_VECTOR(a, k));                                                                         \
                FOR_GROUP VECTOR(d, k + j) = y[j];                                                                           \
            }                                                                                                                \
        } else {                                                                                                             \
            vec y[PTXI_LANES / VEC_LANES];                                                                                   \
            bool irregular = false;                                                                                          \
                                                                                                                             \
            FOR_GROUPS irregular |= f##_vectors(y + k, &CONST_VECTOR(a, k));                                                  \
            if (__builtin_expect(irregular, 0))                                                                              \
                return f##_some(i, w, one);                                                                                  \
            FOR_GROUPS FOR_GROUP VECTOR(d, k + j) = y[k + j];                                                                \
        }                                                                                                                    \
        NEXT;                                                                                                                \
    }
#define FORM(f, form, one)                                                                                              \
    OP( f##_##form )                                                                                                    \
    {                                                                                                                   \
        return f##_lanes(i, w, one);                                                                                    \
    }
#define FORMS(f, SIGN, early, ftz)                                                                                   \
    UNIT(f, SIGN, early, ONE_BY_ONE(f, SIGN))                                                                                                             \
    FORM(f, approx_f32, ptxi_num_##f##_approx_f32)                                                                      \
    FORM(f, approx_f32_ftz, ptxi_num_##f##_approx_##ftz)
FORMS(rcp, false, true, ftz_f32)
FORMS(rsqrt, true, true, ftz_f32)
FORMS(sqrt, true, true, ftz_f32)
FORMS(ex2, false, !SEEN_LATE, ftz_f32)
FORMS(lg2, true, SEEN_LATE, ftz_f32)
/* The product with 1 / 2 pi comes before the unit and keeps subnormals, so that .ftz changes nothing. */
FORMS(sin, false, !TURNS_SEEN_LATE, f32)
FORMS(cos, false, !TURNS_SEEN_LATE, f32)
UNIT(tanh, false, true, ALL_BEYOND)
FORM(tanh, approx_f32, ptxi_num_tanh_approx_f32)

/* --- f16 and bf16 --- */

/* By the 2^16 results in t, and one more that is read. r may be a. */
ALWAYS void look_up_halves(uint16_t *r, const uint16_t *a, int n, const uint16_t *t)
{
#if defined(__AVX512BW__)
    for (int k = 0; k < n; k += 32) {
        vec v = *(const vec *)(a + k);
        native even = _mm512_i32gather_epi32((native)(v & K(lower_half)), t, 2), odd = _mm512_i32gather_epi32((native)(v >> 16), t, 2);

        *(vec *)(r + k) = joined_halves((vec)even, (vec)odd << 16);
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

#define TABULATED(f, mods, type)                                                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *f##_lanes_##type(const struct ptxi_insn *i, struct ptxi_warp *w, int n) \
    {                                                                                                                   \
        const uint16_t *a = PTXI_SLOT(w, i->a), *results = ptxi_num_halves(PTXI_NUM_HALVES_##f##_approx##mods##_##type); \
        _Alignas(64) uint16_t r[HALVES_MAX];                                                                            \
                                                                                                                        \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {                                                         \
            look_up_halves(PTXI_SLOT(w, i->d), a, n, results);                                                          \
        } else {                                                                                                        \
            look_up_halves(r, a, n, results);                                                                           \
            write_halves(i, w, r, n);                                                                                   \
        }                                                                                                               \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    HALF_OPS(f##_approx, type, f##_lanes_##type)
TABULATED(ex2, , f16)
TABULATED(ex2, _ftz, bf16)
TABULATED(tanh, , f16)
TABULATED(tanh, , bf16)

/* --- f64: the unit's result of the upper words; the lower ones are 0 --- */

/* ptxi_num_rcp_upper_f64(): the fraction has 20 bits, and so has the result, so that both meet below the exponent. */
ALWAYS void rcp_upper(vec *r, const vec *h)
{
    vec a[GROUP], t[GROUP];

    FOR_GROUP a[j] = h[j] << 3;
    IN_MEMORY(a);
    rcp_totals(t, a);
    FOR_GROUP r[j] = (t[j] >> 5) + (OF_UNIT(&ptxi_approx_rcp_f64, offset) - h[j]);
}

/* ptxi_num_rsqrt_upper_f64(): half of the exponent and half of the fraction go off the result, whose last bit is worth eight of the unit's. */
#if defined(__AVX512BW__)
/* The argument is h times 8, of which the bits above the rows' numbers do not count. */
enum { F64_ROW = 14 };

/* The argument of 1: the lowest of the exponent's bits, and no fraction. */
ALWAYS lanes_of_vec is_exact_f64(vec h)
{
    return _mm512_mask_testn_epi32_mask(_mm512_test_epi32_mask((native)h, _mm512_set1_epi32((int)K(bit[20]))), (native)h,
                                        _mm512_set1_epi32((int)K(fraction20)));
}

ALWAYS void rsqrt_upper(vec *r, const vec *h)
{
    vec u = joined_halves(h[0] << 2, h[1] << 18), s = squares_of_eights(u);
    vec m = (vec)_mm512_rol_epi32((native)u, 15); /* turned(), and half: the last bits are 0 */
    vec f[2] = { joined_halves(s, m), joined_halves(m, s) };

    FOR_GROUP {
        struct found row = LOOK_UP(&ptxi_num_rsqrt_eights, h, F64_ROW, j);
        vec total = add_in(is_exact_f64(h[j]), row.c0, ALL(K(bit[2]))) - SAR(dot(row.c12, f[j]), 12);

        r[j] = ((total >> 4) + (OF_UNIT(&ptxi_approx_rsqrt_f64, twice_offset) - h[j])) >> 1;
    }
}
#else
ALWAYS void rsqrt_upper(vec *r, const vec *h)
{
    vec a[GROUP], none[GROUP];

    FOR_GROUP a[j] = h[j] << 3, none[j] = ALL(0);
    IN_MEMORY(a);
    rsqrt_group(r, a, none);
    FOR_GROUP r[j] = ((r[j] - (h[j] << 2 & K(bit[2]))) >> 3) + (OF_UNIT(&ptxi_approx_rsqrt_f64, offset) - (h[j] >> 1));
}
#endif

/* Whether all are regular. */
#define UPPER_VECTORS(f, SIGN)                                                                                          \
    ALWAYS bool f##_upper_vectors(vec *r, const uint64_t *a)                                                            \
    {                                                                                                                   \
        irregular some = { 0 };                                                                                         \
                                                                                                                        \
        FOR_GROUPS {                                                                                                    \
            vec h[GROUP];                                                                                               \
                                                                                                                        \
            FOR_GROUP h[j] = upper_words(a + (k + j) * VEC_LANES);                                                      \
            some |= irregulars_of_f64(h, &ptxi_approx_##f##_f64, SIGN);                                                 \
            f##_upper(r + k, h);                                                                                        \
        }                                                                                                               \
        return !ANY(some);                                                                                              \
    }
UPPER_VECTORS(rcp, false)
UPPER_VECTORS(rsqrt, true)

/* result: what makes d of the unit's results h, for regular operands a; one: the function for one of any kind. */
#define UPPER(f, name, SIGN, result, one)                                                                               \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                                   \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                                         \
        LANE_ARRAY(uint64_t, d);                                                                                        \
        vec h[PTXI_LANES / VEC_LANES];                                                                                  \
        bool regular = f##_upper_vectors(h, a);                                                                         \
                                                                                                                        \
        result                                                                                                          \
        for (int l = 0; !regular && l < PTXI_LANES; l++)                                                                \
            if (w->active >> l & 1 && !is_regular((uint32_t)(a[l] >> 32), &ptxi_approx_##f##_f64, SIGN))                \
                d[l] = one(a[l]);                                                                                       \
        write_buffer(PTXI_SLOT(w, i->d), d, w->active, 8);                                                              \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    OP( name )                                                                                                          \
    {                                                                                                                   \
        const uint64_t *a = PTXI_SLOT(w, i->a);                                                                         \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                                               \
        vec h[PTXI_LANES / VEC_LANES];                                                                                  \
                                                                                                                        \
        if (__builtin_expect(w->active != PTXI_ALL_LANES || !f##_upper_vectors(h, a), 0))                               \
            return name##_some(i, w);                                                                                   \
        result                                                                                                          \
        NEXT;                                                                                                           \
    }
#define PUT_UPPER(d) FOR_GROUPS FOR_GROUP put_upper_words(d + (k + j) * VEC_LANES, h[k + j]);
#define STEP                                                                                                            \
    LANE_ARRAY(uint64_t, y);                                                                                            \
                                                                                                                        \
    PUT_UPPER(y)                                                                                                        \
    FOR_LANES d[l] = ptxi_num_bits_f64(ptxi_num_rsqrt_near_f64(ptxi_num_f64(a[l]), ptxi_num_f64(y[l])));
UPPER(rcp, rcp_approx_f64, false, PUT_UPPER(d), ptxi_num_rcp_approx_ftz_f64)
UPPER(rsqrt, rsqrt_approx_f64_ftz, true, PUT_UPPER(d), ptxi_num_rsqrt_approx_ftz_f64)
UPPER(rsqrt, rsqrt_approx_f64, true, STEP, ptxi_num_rsqrt_approx_f64)

/* --- division: by b's reciprocal; where that is special, the operands are scaled --- */

/* All lanes, if nothing is special: the product is a number and, with .ftz, neither it nor a is near what is flushed. */
ALWAYS bool divided(uint32_t *d, const uint32_t *a, const uint32_t *b, bool ftz)
{
    vec q[PTXI_LANES / VEC_LANES];
    irregular some = rcp_irregulars(b);

    FOR_GROUPS {
        vec r[GROUP];

        rcp_vectors(r, &CONST_VECTOR(b, k));
        FOR_GROUP q[k + j] = (vec)((fvec)r[j] * (fvec)CONST_VECTOR(a, k + j));
        some |= nans(q + k);
        if (ftz)
            some |= some_near_zero(q + k, &CONST_VECTOR(a, k));
    }
    if (__builtin_expect(ANY(some), 0))
        return false;
    FOR_GROUPS FOR_GROUP VECTOR(d, k + j) = q[k + j];
    return true;
}

#define DIVISION(name, function, product, ftz)                                                                          \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                                \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        FOR_GROUPS rcp_vectors(&VECTOR(r, k), &CONST_VECTOR(b, k));                                                     \
        FOR_LANES r[l] = (product);                                                                                     \
        if (ANY(rcp_irregulars(b)))                                                                                     \
            for (int l = 0; l < PTXI_LANES; l++)                                                                        \
                if (w->active >> l & 1 && !is_regular(b[l], &ptxi_approx_rcp, false))                                   \
                    r[l] = function(a[l], b[l]);                                                                        \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                                              \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    OP( name )                                                                                                          \
    {                                                                                                                   \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1) &&                                                         \
            divided(PTXI_SLOT(w, i->d), PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), ftz))                                    \
            NEXT;                                                                                                       \
        return name##_some(i, w);                                                                                       \
    }
#define DIVISION_BOTH(f)                                                                                                \
    DIVISION(f##_f32, ptxi_num_##f##_f32, ptxi_num_mul_f32(a[l], ptxi_num_f32(r[l])), false)                            \
    DIVISION(f##_f32_ftz, ptxi_num_##f##_ftz_f32, ptxi_num_mul_ftz_f32(a[l], r[l]), true)
DIVISION_BOTH(div_approx)
DIVISION_BOTH(div_full)

/* Where contraction takes the product apart. */
OP1(scale_div_approx_f32, float, uint32_t, ptxi_num_div_approx_scale(a[l]))
OP1(scale_rcp_f32, float, uint32_t, ptxi_num_rcp_scale(a[l]))
OP1(scale_div_full_f32_ftz, uint32_t, uint32_t, ptxi_num_div_full_ftz_scale(a[l]))
