/* Vectors for the approximation units: the steps that num/approx.h does for one operand. A pair of vectors is worked on at a time, so that
 * what needs 16 bits only is done for both in one. */
#ifndef PTXI_EXEC_ARITH_APPROX_H
#define PTXI_EXEC_ARITH_APPROX_H

#include "exec/engine/op_shapes.h"
#include "num/approx.h"

#ifdef LANE_VECTOR
enum { VEC_BYTES = LANE_VECTOR };
#else
enum { VEC_BYTES = 16 };
#endif
enum { VEC_LANES = VEC_BYTES / 4 };
typedef uint32_t vec __attribute__((vector_size(VEC_BYTES), may_alias));
typedef int32_t svec __attribute__((vector_size(VEC_BYTES), may_alias));
typedef float fvec __attribute__((vector_size(VEC_BYTES), may_alias));

/* Constants. Compilers make vectors of those that they know in general registers, which costs moves; loads cost nothing here. With AVX2 they
 * are operands as they are; AVX-512 makes vectors of one element on the way. */
typedef uint32_t ptxi_approx_wide[8];
extern const struct ptxi_approx_constants {
    _Alignas(32) ptxi_approx_wide middle; /* of factors() */
    ptxi_approx_wide a, ceiling, low, a65, b40, a43, b42, a2, b4, a65_b4, b40_a2; /* of squares() */
    ptxi_approx_wide lower_half, upper_half, other_bytes, bit[32], ones, exponent, exponent7, significand, magnitude, fraction30;
    ptxi_approx_wide a654, b41, a32, b43;            /* of squares_of_eights() */
    ptxi_approx_wide fraction20;                     /* of f64 */
    ptxi_approx_wide low7, float_2_m14, float_2_m30; /* of sincos_value() */
    ptxi_approx_wide x_and_row;                      /* of tanh_number() */
    _Alignas(32) uint8_t exchanged[32];
} ptxi_approx_constants;
#define CONSTANTS (&ptxi_approx_constants)
#if defined(__AVX2__) && !defined(__AVX512BW__)
#define WIDE_AS(type, name) (*(const type *)(name))
#else
#define WIDE_AS(type, name) (name)[0]
#endif
#define K(name) WIDE_AS(vec, CONSTANTS->name)
#define OF_UNIT(unit, name) WIDE_AS(vec, (unit)->name)
#define OF_UNIT_F(unit, name) WIDE_AS(fvec, (unit)->name)
#define ALWAYS static inline __attribute__((always_inline))

/* What is a unit's own. An operand is regular, that is without an exception, if its upper half is: with or without the sign, less first,
 * it is not above last. Both are in either half here. */
struct ptxi_approx_unit {
    _Alignas(32) ptxi_approx_wide first, last;
    ptxi_approx_wide bias, offset, twice_offset;
    ptxi_approx_wide exact;                  /* the low sum of the row and the x whose result is one more, and of no others */
    ptxi_approx_wide one, one_near, one_fine; /* exponents of 1.0 in what becomes floating point */
    ptxi_approx_wide less_one;               /* 2^31 less the first of those */
    float scale[8];                          /* to fixed point, or back */
};
extern const struct ptxi_approx_unit ptxi_approx_rcp, ptxi_approx_rsqrt, ptxi_approx_sqrt, ptxi_approx_ex2, ptxi_approx_lg2, ptxi_approx_lg2_near,
    ptxi_approx_sin, ptxi_approx_cos, ptxi_approx_tanh, ptxi_approx_rcp_f64, ptxi_approx_rsqrt_f64;

/* As many are worked on together as a warp has, so that one waits while others are worked on; pairs of them share what needs 16 bits only. */
#if defined(__AVX2__)
enum { GROUP = 32 / VEC_LANES };
#else
enum { GROUP = 2 };
#endif

/* Vectors of a lane array. */
#define FOR_GROUPS for (int k = 0; k < PTXI_LANES / VEC_LANES; k += GROUP)
#define FOR_GROUP for (int j = 0; j < GROUP; j++)
#define VECTOR(a, k) (((vec *)(a))[k])
#define CONST_VECTOR(a, k) (((const vec *)(a))[k])

#define SAR(v, n) ((vec)((svec)(v) >> (n))) /* extends the sign */
#define MASK(condition) ((vec)(condition))
#define ALL(c) ((vec){ 0 } + (c))           /* a number for all elements */

/* --- what GNU vectors have no operator for --- */
#if defined(__AVX512BW__)
#define MM(name) _mm512_##name
typedef __m512i native;
typedef __m512 native_floats;
#elif defined(__AVX2__)
#define MM(name) _mm256_##name
typedef __m256i native;
typedef __m256 native_floats;
#elif defined(__SSE2__)
#define MM(name) _mm_##name
typedef __m128i native;
typedef __m128 native_floats;
#endif

/* Upper halves of the products of 16-bit elements, unsigned. */
ALWAYS vec high_products(vec a, vec b)
{
#ifdef MM
    return (vec)MM(mulhi_epu16)((native)a, (native)b);
#else
    return ((a & 0xffff) * (b & 0xffff) >> 16) | ((a >> 16) * (b >> 16) & 0xffff0000);
#endif
}

/* Of 16-bit elements, half the upper byte, rounded up, and the lower byte: low is that alone. */
ALWAYS vec upper_halved_up(vec v, vec low)
{
#ifdef MM
    return (vec)MM(avg_epu8)((native)v, (native)low);
#else
    return (v >> 1 & 0x7f007f00) + ((v & 0x01000100) | low);
#endif
}

#if defined(__SSSE3__)
/* Of 16-bit elements: the sum of the products of both bytes, a's unsigned; the upper byte as a number; the bytes exchanged. */
ALWAYS vec byte_products(vec a, vec b)
{
    return (vec)MM(maddubs_epi16)((native)a, (native)b);
}

ALWAYS vec high_bytes(vec v)
{
    return (vec)MM(srli_epi16)((native)v, 8);
}

ALWAYS vec bytes_exchanged(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_shuffle_epi8((native)v, _mm512_broadcast_i32x4(*(const __m128i *)CONSTANTS->exchanged));
#else
    return (vec)MM(shuffle_epi8)((native)v, *(const native *)CONSTANTS->exchanged);
#endif
}
#endif

/* The sum of the products of both signed halves. */
ALWAYS vec dot(vec a, vec b)
{
#ifdef MM
    return (vec)MM(madd_epi16)((native)a, (native)b);
#else
    return SAR(a, 16) * SAR(b, 16) + SAR(a << 16, 16) * SAR(b << 16, 16);
#endif
}

/* Both halves of all elements exchanged. */
ALWAYS vec turned(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_rol_epi32((native)v, 16);
#else
    return v << 16 | v >> 16;
#endif
}

/* The lower half of all elements of a, the upper half of those of b. */
ALWAYS vec joined_halves(vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_ternarylogic_epi32(_mm512_set1_epi32((int)K(lower_half)), (native)a, (native)b, 0xca);
#elif defined(__AVX2__)
    return (vec)_mm256_blend_epi16((native)a, (native)b, 0xaa);
#else
    return (a & 0xffff) | (b & 0xffff0000);
#endif
}

/* Conditions of elements, unsigned, and what depends on them. */
#if defined(__AVX512BW__)
typedef __mmask16 lanes_of_vec;
#define BELOW(a, b) _mm512_cmplt_epu32_mask((native)(a), (native)ALL(b))
#define EQUAL(a, b) _mm512_cmpeq_epi32_mask((native)(a), (native)ALL(b))
#else
typedef vec lanes_of_vec;
#define BELOW(a, b) ((vec)((a) < (b)))
#define EQUAL(a, b) ((vec)((a) == (b)))
#endif

ALWAYS vec picked(lanes_of_vec k, vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mask_mov_epi32((native)b, k, (native)a);
#elif defined(__AVX2__)
    return (vec)_mm256_blendv_epi8((native)b, (native)a, (native)k);
#else
    return (a & k) | (b & ~k);
#endif
}

ALWAYS vec next_where(lanes_of_vec k, vec a)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mask_add_epi32((native)a, k, (native)a, _mm512_set1_epi32((int)K(bit[0])));
#else
    return a - k;
#endif
}

/* v, which has 23 bits of a's fraction, less 1 where a is negative and those are not all 0. */
ALWAYS vec lowered(vec v, vec a)
{
#if defined(__AVX512BW__)
    __m512 fraction = _mm512_reduce_ps((__m512)a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);

    return (vec)_mm512_mask_sub_epi32((native)v, _mm512_cmple_ps_mask(fraction, _mm512_set1_ps(-0x1p-23f)), (native)v,
                                      _mm512_set1_epi32((int)K(bit[0])));
#else
    return v + (SAR(a, 31) & ~(vec)((v & K(significand)) == 0));
#endif
}

/* Whether operands that a unit is not for are seen by what it computes; those of sin and cos by their turns. */
#if defined(__AVX512BW__)
#define SEEN_LATE true
#else
#define SEEN_LATE false
#endif
#if defined(__AVX2__)
#define TURNS_SEEN_LATE true
#else
#define TURNS_SEEN_LATE false
#endif

ALWAYS bool any_sign(const vec *v)
{
#if defined(__AVX512BW__)
    return _mm512_movepi32_mask((native)(v[0] | v[1]));
#elif defined(__AVX2__)
    vec all = v[0];

    for (int j = 1; j < GROUP; j++)
        all |= v[j];
    return _mm256_movemask_ps((__m256)all);
#else
    (void)v;
    return false;
#endif
}

/* Whether all elements are floats that are positive and normal. */
ALWAYS bool all_normal(vec a, vec b)
{
#if defined(__AVX512BW__)
    return _kortestz_mask16_u8(_mm512_fpclass_ps_mask((__m512)a, 0xff), _mm512_fpclass_ps_mask((__m512)b, 0xff)); /* all other classes */
#else
    (void)a, (void)b;
    return true;
#endif
}

/* Whether any element of v is not 0. */
ALWAYS bool any(vec v)
{
#if defined(__AVX512BW__)
    return _mm512_test_epi32_mask((native)v, (native)v);
#elif defined(__AVX2__)
    return !_mm256_testz_si256((native)v, (native)v);
#else
    uint32_t some = 0;

    for (int l = 0; l < VEC_LANES; l++)
        some |= v[l];
    return some;
#endif
}

ALWAYS bool all(lanes_of_vec a, lanes_of_vec b)
{
#if defined(__AVX512BW__)
    return (a & b) == 0xffff;
#else
    return !any(~(a & b));
#endif
}

/* Whether any element of a group, none of which is negative, is below 2^23. */
ALWAYS bool any_small(const vec *a)
{
#if defined(__AVX512BW__)
    native least = _mm512_min_epi32((native)a[0], (native)a[1]);

    return _mm512_cmplt_epi32_mask(least, _mm512_set1_epi32((int)K(bit[23])));
#elif defined(__AVX2__)
    native least = (native)a[0];

    for (int j = 1; j < GROUP; j++)
        least = _mm256_min_epi32(least, (native)a[j]);
    return any((vec)_mm256_cmpgt_epi32((native)K(bit[23]), least));
#else
    svec least = (svec)ALL(K(bit[23]));
    vec small = ALL(0);

    FOR_GROUP small |= MASK((svec)a[j] < least);
    return any(small);
#endif
}

/* a's bits, the sign from b. */
ALWAYS vec with_sign(vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_ternarylogic_epi32(_mm512_set1_epi32((int)K(magnitude)), (native)a, (native)b, 0xca);
#else
    return (a & K(magnitude)) | (b & K(bit[31]));
#endif
}

/* a's bits, whose sign is off, the sign from b, or the other if not as it is. */
ALWAYS vec signed_as(vec a, vec b, bool as_is)
{
#if defined(__AVX512BW__)
    native magnitude = (native)ALL(K(magnitude));

    return as_is ? (vec)_mm512_ternarylogic_epi32(magnitude, (native)a, (native)b, 0xca)
                 : (vec)_mm512_ternarylogic_epi32(magnitude, (native)a, (native)b, 0xc5);
#else
    return with_sign(a, as_is ? b : ~b);
#endif
}

#if defined(__AVX512BW__)
/* a, whose sign is off, with its exponent lowered to that of the unit, and the sign as in signed_as(). */
ALWAYS vec lowered_with_sign(vec a, const struct ptxi_approx_unit *unit, vec b, bool as_is)
{
    return a + signed_as(ALL(OF_UNIT(unit, less_one)), b, !as_is); /* the sum of both toggles the sign */
}
#endif

#if !defined(__AVX512BW__)
/* -1 where v has no sign, else 0 */
ALWAYS vec not_negative(vec v)
{
#if defined(__AVX2__)
    return (vec)_mm256_cmpgt_epi32((native)v, (native)K(ones)); /* loaded: compilers make a longer way of a constant that they see */
#else
    return ~SAR(v, 31);
#endif
}
#endif

/* v, complemented where this bit of it is as said. */
ALWAYS vec unfolded(vec v, int bit, bool on)
{
#if defined(__AVX512BW__)
    native n = (native)v, one = _mm512_set1_epi32((int)K(bit[bit]));

    return (vec)_mm512_mask_ternarylogic_epi32(n, on ? _mm512_test_epi32_mask(n, one) : _mm512_testn_epi32_mask(n, one), n, n, 0x0f);
#else
    return v ^ (on ? SAR(v << (31 - bit), 31) : not_negative(v << (31 - bit)));
#endif
}

/* sign: whether it counts. */
ALWAYS bool is_regular(uint32_t a, const struct ptxi_approx_unit *unit, bool sign)
{
    return (uint16_t)((sign ? a >> 16 : a >> 16 << 1) - unit->first[0]) <= (uint16_t)unit->last[0];
}

/* Not 0 if some element of a group is not regular; those with a sign that counts are all the positive normal numbers. */
#if defined(__AVX512BW__)
typedef uint32_t irregular;
#define ANY(v) (v)
#else
typedef vec irregular;
#define ANY(v) any(v)
#endif
ALWAYS irregular irregulars_of_two(const vec *a, const struct ptxi_approx_unit *unit, bool sign)
{
    typedef uint16_t halves __attribute__((vector_size(VEC_BYTES), may_alias));
    vec v = joined_halves(a[0] >> 16, a[1]);

    if (!sign)
        v = (vec)((halves)v + (halves)v);
    v = (vec)((halves)v - (halves)ALL(OF_UNIT(unit, first)));
#if defined(__AVX512BW__)
    return _mm512_cmpgt_epu16_mask((native)v, (native)ALL(unit->last[0]));
#elif defined(__AVX2__)
    return (vec)_mm256_subs_epu16((native)v, (native)OF_UNIT(unit, last));
#else
    return (vec)((halves)v > (halves)ALL(OF_UNIT(unit, last)));
#endif
}
ALWAYS irregular irregulars(const vec *a, const struct ptxi_approx_unit *unit, bool sign)
{
    irregular some;

#if defined(__AVX512BW__)
    if (sign)
        return !all_normal(a[0], a[1]);
#endif
    some = irregulars_of_two(a, unit, sign);

    for (int j = 2; j < GROUP; j += 2)
        some |= irregulars_of_two(a + j, unit, sign);
    return some;
}

/* Not 0 if some element of a group is not the upper word of a regular f64. With AVX-512 they are taken for floats: the largest and least exponents,
 * eight of each, are not regular then. */
ALWAYS irregular irregulars_of_f64(const vec *h, const struct ptxi_approx_unit *unit, bool sign)
{
#if defined(__AVX512BW__)
    enum { NOT_NORMAL = 0xbf, NEGATIVE = 0x40 };

    (void)unit;
    return !_kortestz_mask16_u8(sign ? _mm512_fpclass_ps_mask((__m512)h[0], NOT_NORMAL | NEGATIVE) : _mm512_fpclass_ps_mask((__m512)h[0], NOT_NORMAL),
                                sign ? _mm512_fpclass_ps_mask((__m512)h[1], NOT_NORMAL | NEGATIVE) : _mm512_fpclass_ps_mask((__m512)h[1], NOT_NORMAL));
#else
    irregular some = irregulars_of_two(h, unit, sign);

    for (int j = 2; j < GROUP; j += 2)
        some |= irregulars_of_two(h + j, unit, sign);
    return some;
#endif
}

/* Not 0 if some element of a group is a NaN, as a float. */
ALWAYS irregular nans(const vec *v)
{
#if defined(__AVX512BW__)
    return _mm512_cmp_ps_mask((__m512)v[0], (__m512)v[1], _CMP_UNORD_Q);
#elif defined(__AVX2__)
    __m256 some = _mm256_cmp_ps((__m256)v[0], (__m256)v[1], _CMP_UNORD_Q);

    for (int j = 2; j < GROUP; j += 2)
        some = _mm256_or_ps(some, _mm256_cmp_ps((__m256)v[j], (__m256)v[j + 1], _CMP_UNORD_Q));
    return (vec)some;
#else
    return MASK((fvec)v[0] != (fvec)v[0]) | MASK((fvec)v[1] != (fvec)v[1]);
#endif
}

/* Not 0 if the magnitude of some element of two groups, none of which is a NaN, is up to that of the least normal float. */
ALWAYS irregular some_near_zero(const vec *a, const vec *b)
{
#if defined(__AVX512BW__)
    enum { LEAST_MAGNITUDE = 0xa };
    __m512 least_a = _mm512_range_ps((__m512)a[0], (__m512)a[1], LEAST_MAGNITUDE);
    __m512 least_b = _mm512_range_ps((__m512)b[0], (__m512)b[1], LEAST_MAGNITUDE);

    return _mm512_cmp_ps_mask(_mm512_range_ps(least_a, least_b, LEAST_MAGNITUDE), _mm512_set1_ps(0x1p-126f), _CMP_LE_OQ);
#elif defined(__AVX2__)
    native least = _mm256_min_epu32((native)(a[0] << 1), (native)(b[0] << 1));

    for (int j = 1; j < GROUP; j++)
        least = _mm256_min_epu32(least, _mm256_min_epu32((native)(a[j] << 1), (native)(b[j] << 1)));
    return (vec)_mm256_cmpeq_epi32(least, _mm256_min_epu32(least, (native)K(bit[24])));
#else
    vec some = ALL(0);

    FOR_GROUP some |= MASK(a[j] << 1 <= 0x01000000) | MASK(b[j] << 1 <= 0x01000000);
    return some;
#endif
}

#if defined(__AVX512BW__)
/* sum, plus term in some lanes; where this bit of v is on. */
ALWAYS vec add_in(lanes_of_vec k, vec sum, vec term)
{
    return (vec)_mm512_mask_add_epi32((native)sum, k, (native)sum, (native)term);
}

ALWAYS vec add_where(vec sum, vec v, int bit, vec term)
{
    return add_in(_mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit]))), sum, term);
}
#else
/* v with the sign of s, which is not 0. */
ALWAYS vec negated_as(vec v, vec s)
{
#if defined(__SSSE3__)
    return (vec)MM(sign_epi32)((native)v, (native)s);
#else
    s = SAR(s, 31);
    return (v ^ s) - s;
#endif
}

/* Integers from 0 to 2^31 - 1 without what does not fit in a float: the uppermost of the bits below is off, so that nothing is rounded up. */
ALWAYS vec cut_to_float(vec v)
{
    return v & ~(v >> 24);
}

ALWAYS vec floats(vec v)
{
    return (vec)__builtin_convertvector((svec)v, fvec);
}
#endif

/* Integers from 0 to 2^31 - 1 as floats, toward zero. */
ALWAYS vec floats_toward_zero(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_cvt_roundepi32_ps((native)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    return floats(cut_to_float(v));
#endif
}

/* With AVX, 2^31 for what is too large, and for NaN. */
ALWAYS vec integers_toward_zero(vec floats)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_cvttps_epi32((__m512)floats);
#elif defined(__AVX2__)
    return (vec)_mm256_cvttps_epi32((__m256)floats);
#else
    return (vec) __builtin_convertvector((fvec)floats, svec);
#endif
}

#if !defined(__AVX512BW__)
/* Bytes from a table of 16 by the numbers in v. */
ALWAYS vec look_up_bytes(const uint8_t *table, vec v)
{
#if defined(__AVX2__)
    return (vec)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(*(const __m128i *)table), (native)(v + K(other_bytes)));
#else
    for (int l = 0; l < VEC_LANES; l++)
        v[l] = table[v[l]];
    return v;
#endif
}
#endif

/* a * b, toward zero; neither product nor factors are subnormal. */
ALWAYS vec product_toward_zero(vec a, const float *b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mul_round_ps((__m512)a, _mm512_set1_ps(b[0]), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    fvec p = (fvec)a * WIDE_AS(fvec, b);
#if defined(__AVX2__) && defined(__FMA__)
    fvec rest = (fvec)_mm256_fmsub_ps((__m256)a, (__m256)WIDE_AS(fvec, b), (__m256)p);
#else
    float b_upper = ptxi_num_f32(ptxi_num_bits_f32(b[0]) & 0xfffff000), b_lower = b[0] - b_upper;
    fvec upper = (fvec)(a & 0xfffff000), lower = (fvec)a - upper;
    fvec rest = ((upper * b_upper - p) + upper * b_lower + lower * b_upper) + lower * b_lower;
#endif

    return (vec)p + SAR((vec)rest, 31);
#endif
}

/* --- f64 ---
 *
 * The upper words of as many numbers as a vector has elements, in an order that is undone when they are put: both stay within 128 bits, or
 * with AVX-512 within 64. */
ALWAYS vec upper_words(const uint64_t *a)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mask_movehdup_ps((native_floats)CONST_VECTOR(a, 0), 0x5555, (native_floats)CONST_VECTOR(a, 1));
#elif defined(MM)
    const fvec *two = (const fvec *)a;

    return (vec)MM(shuffle_ps)((native_floats)two[0], (native_floats)two[1], 0xdd);
#else
    vec r;

    for (int l = 0; l < VEC_LANES; l++)
        r[l] = (uint32_t)(a[l] >> 32);
    return r;
#endif
}

ALWAYS void put_upper_words(uint64_t *d, vec r)
{
#if defined(__AVX512BW__)
    VECTOR(d, 0) = (vec)_mm512_and_epi64((native)r, _mm512_set1_epi64((long long)0xffffffff00000000));
    VECTOR(d, 1) = (vec)_mm512_slli_epi64((native)r, 32);
#elif defined(MM)
    VECTOR(d, 0) = (vec)MM(unpacklo_epi32)((native)ALL(0), (native)r);
    VECTOR(d, 1) = (vec)MM(unpackhi_epi32)((native)ALL(0), (native)r);
#else
    for (int l = 0; l < VEC_LANES; l++)
        d[l] = (uint64_t)r[l] << 32;
#endif
}

#endif
