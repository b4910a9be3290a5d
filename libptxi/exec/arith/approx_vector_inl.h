/* Vector operations of the approximation units: the steps that num/approx.h does for one operand, for a vector of
 * operands.
 *
 * Operations on 16-bit data process a pair of vectors at once. */
#ifndef PTXI_EXEC_ARITH_APPROX_VECTOR_INL_H
#define PTXI_EXEC_ARITH_APPROX_VECTOR_INL_H

#include "exec/arith/approx.h"
#include "exec/arith/handler_parts.h"
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

/* Constants of approx.h: CONSTANTS for all units, UNIT_CONSTANT for one unit. K(name) is a vector, or a scalar that
 * the compiler broadcasts. */
#define CONSTANTS (&ptxi_approx_constants)
#if defined(__AVX2__) && !defined(__AVX512BW__)
#define CONSTANT_AS(type, name) (*(const type *)(name))
#else
#define CONSTANT_AS(type, name) (name)[0]
#endif
#define K(name) CONSTANT_AS(vec, CONSTANTS->name)
#define UNIT_CONSTANT(unit, name) CONSTANT_AS(vec, (unit)->name)
#define UNIT_CONSTANT_F(unit, name) CONSTANT_AS(fvec, (unit)->name)

/* Number of vectors that are processed together. Their instructions are independent, so that the host can execute
 * them in parallel. */
#if defined(__AVX2__)
enum { GROUP = 32 / VEC_LANES };
#else
enum { GROUP = 2 };
#endif

/* Loops over the vectors of a lane array: k is the first vector of a group, j a vector in the group. */
#define FOR_GROUPS for (int k = 0; k < PTXI_LANES / VEC_LANES; k += GROUP)
#define FOR_GROUP for (int j = 0; j < GROUP; j++)
#define VECTOR(a, k) (((vec *)(a))[k])
#define CONST_VECTOR(a, k) (((const vec *)(a))[k])

#define SAR(v, n) ((vec)((svec)(v) >> (n))) /* arithmetic shift right */
#define MASK(condition) ((vec)(condition))
#define SPLAT(c) ((vec){ 0 } + (c))         /* all elements equal to c */

/* --- operations that GNU C vectors have no operator for --- */
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

/* Upper halves of the unsigned products of 16-bit elements. */
ALWAYS_INLINE vec mul_high_16(vec a, vec b)
{
#ifdef MM
    return (vec)MM(mulhi_epu16)((native)a, (native)b);
#else
    return ((a & 0xffff) * (b & 0xffff) >> 16) | ((a >> 16) * (b >> 16) & 0xffff0000);
#endif
}

/* For 16-bit elements: half of the upper byte, rounded up, and the lower byte unchanged. `low` is v with only the
 * lower bytes. */
ALWAYS_INLINE vec halve_upper_byte(vec v, vec low)
{
#ifdef MM
    return (vec)MM(avg_epu8)((native)v, (native)low);
#else
    return (v >> 1 & 0x7f007f00) + ((v & 0x01000100) | low);
#endif
}

#if defined(__SSSE3__)
/* For 16-bit elements: dot_bytes() adds the products of both bytes, where a is unsigned and b signed; high_bytes()
 * moves the upper byte down; swap_bytes() exchanges the bytes. */
ALWAYS_INLINE vec dot_bytes(vec a, vec b)
{
    return (vec)MM(maddubs_epi16)((native)a, (native)b);
}

ALWAYS_INLINE vec high_bytes(vec v)
{
    return (vec)MM(srli_epi16)((native)v, 8);
}

ALWAYS_INLINE vec swap_bytes(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_shuffle_epi8((native)v, _mm512_broadcast_i32x4(*(const __m128i *)CONSTANTS->exchanged));
#else
    return (vec)MM(shuffle_epi8)((native)v, *(const native *)CONSTANTS->exchanged);
#endif
}
#endif

/* The sum of the products of both 16-bit halves, signed. */
ALWAYS_INLINE vec dot_halves(vec a, vec b)
{
#ifdef MM
    return (vec)MM(madd_epi16)((native)a, (native)b);
#else
    return SAR(a, 16) * SAR(b, 16) + SAR(a << 16, 16) * SAR(b << 16, 16);
#endif
}

/* Exchanges the 16-bit halves of each element. */
ALWAYS_INLINE vec swap_halves(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_rol_epi32((native)v, 16);
#else
    return v << 16 | v >> 16;
#endif
}

/* The lower halves of a and the upper halves of b. */
ALWAYS_INLINE vec blend_halves(vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_ternarylogic_epi32(_mm512_set1_epi32((int)K(lower_half)), (native)a, (native)b, 0xca);
#elif defined(__AVX2__)
    return (vec)_mm256_blend_epi16((native)a, (native)b, 0xaa);
#else
    return (a & 0xffff) | (b & 0xffff0000);
#endif
}

/* Unsigned comparisons of elements, and operations that use their results. */
#if defined(__AVX512BW__)
typedef __mmask16 vec_mask;
#define BELOW(a, b) _mm512_cmplt_epu32_mask((native)(a), (native)SPLAT(b))
#define EQUAL(a, b) _mm512_cmpeq_epi32_mask((native)(a), (native)SPLAT(b))
#else
typedef vec vec_mask;
#define BELOW(a, b) ((vec)((a) < (b)))
#define EQUAL(a, b) ((vec)((a) == (b)))
#endif

ALWAYS_INLINE vec select_where(vec_mask k, vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mask_mov_epi32((native)b, k, (native)a);
#elif defined(__AVX2__)
    return (vec)_mm256_blendv_epi8((native)b, (native)a, (native)k);
#else
    return (a & k) | (b & ~k);
#endif
}

ALWAYS_INLINE vec increment_where(vec_mask k, vec a)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mask_add_epi32((native)a, k, (native)a, _mm512_set1_epi32((int)K(bit[0])));
#else
    return a - k;
#endif
}

/* floor() of fixed-point numbers. v is a with 23 fraction bits, truncated toward zero. Subtracts 1 where a is
 * negative and v has fraction bits. */
ALWAYS_INLINE vec floor_of_truncated(vec v, vec a)
{
#if defined(__AVX512BW__)
    __m512 fraction = _mm512_reduce_ps((__m512)a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);

    return (vec)_mm512_mask_sub_epi32((native)v, _mm512_cmple_ps_mask(fraction, _mm512_set1_ps(-0x1p-23f)), (native)v,
                                      _mm512_set1_epi32((int)K(bit[0])));
#else
    return v + (SAR(a, 31) & ~(vec)((v & K(significand)) == 0));
#endif
}

/* Whether a unit detects special operands from its results, so that no check before it is needed. For sin and cos the
 * angle in revolutions shows them. */
#if defined(__AVX512BW__)
#define UNIT_FINDS_SPECIAL true
#else
#define UNIT_FINDS_SPECIAL false
#endif
#if defined(__AVX2__)
#define SINCOS_FINDS_SPECIAL true
#else
#define SINCOS_FINDS_SPECIAL false
#endif

ALWAYS_INLINE bool any_sign_bit(const vec *v)
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

/* Whether all elements are positive normal floats. */
ALWAYS_INLINE bool all_positive_normal(vec a, vec b)
{
#if defined(__AVX512BW__)
    enum { NOT_POSITIVE_NORMAL = 0xff }; /* all classes of fpclass */

    return _kortestz_mask16_u8(_mm512_fpclass_ps_mask((__m512)a, NOT_POSITIVE_NORMAL),
                               _mm512_fpclass_ps_mask((__m512)b, NOT_POSITIVE_NORMAL));
#else
    (void)a, (void)b;
    return true;
#endif
}

/* Whether any element of v is nonzero. */
ALWAYS_INLINE bool any_nonzero(vec v)
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

/* Whether any element of a group is below 2^23. No element may be negative. */
ALWAYS_INLINE bool any_below_bit23(const vec *a)
{
#if defined(__AVX512BW__)
    native least = _mm512_min_epi32((native)a[0], (native)a[1]);

    return _mm512_cmplt_epi32_mask(least, _mm512_set1_epi32((int)K(bit[23])));
#elif defined(__AVX2__)
    native least = (native)a[0];

    for (int j = 1; j < GROUP; j++)
        least = _mm256_min_epi32(least, (native)a[j]);
    return any_nonzero((vec)_mm256_cmpgt_epi32((native)K(bit[23]), least));
#else
    svec least = (svec)SPLAT(K(bit[23]));
    vec small = SPLAT(0);

    FOR_GROUP small |= MASK((svec)a[j] < least);
    return any_nonzero(small);
#endif
}

/* The magnitude of a with the sign of b. */
ALWAYS_INLINE vec copy_sign(vec a, vec b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_ternarylogic_epi32(_mm512_set1_epi32((int)K(magnitude)), (native)a, (native)b, 0xca);
#else
    return (a & K(magnitude)) | (b & K(bit[31]));
#endif
}

/* a, which has no sign, with the sign of b, or with the opposite sign if not as_is. */
ALWAYS_INLINE vec set_sign(vec a, vec b, bool as_is)
{
#if defined(__AVX512BW__)
    native magnitude = (native)SPLAT(K(magnitude));

    return as_is ? (vec)_mm512_ternarylogic_epi32(magnitude, (native)a, (native)b, 0xca)
                 : (vec)_mm512_ternarylogic_epi32(magnitude, (native)a, (native)b, 0xc5);
#else
    return copy_sign(a, as_is ? b : ~b);
#endif
}

#if defined(__AVX512BW__)
/* a, which has no sign, divided by the unit's power of two `one`, with the sign of b as in set_sign(). */
ALWAYS_INLINE vec scale_and_set_sign(vec a, const struct ptxi_approx_unit *unit, vec b, bool as_is)
{
    return a + set_sign(SPLAT(UNIT_CONSTANT(unit, less_one)), b, !as_is); /* the carry into bit 31 toggles the sign */
}
#endif

#if !defined(__AVX512BW__)
/* All bits set where v is not negative, else 0. */
ALWAYS_INLINE vec nonnegative_mask(vec v)
{
#if defined(__AVX2__)
    /* The constant is loaded: compilers replace one that they know by a longer sequence. */
    return (vec)_mm256_cmpgt_epi32((native)v, (native)K(ones));
#else
    return ~SAR(v, 31);
#endif
}
#endif

/* Complements the elements of v in which this bit is set (on) or clear (!on). */
ALWAYS_INLINE vec complement_if_bit(vec v, int bit, bool on)
{
#if defined(__AVX512BW__)
    native n = (native)v, one = _mm512_set1_epi32((int)K(bit[bit]));
    __mmask16 where = on ? _mm512_test_epi32_mask(n, one) : _mm512_testn_epi32_mask(n, one);

    return (vec)_mm512_mask_ternarylogic_epi32(n, where, n, n, 0x0f);
#else
    return v ^ (on ? SAR(v << (31 - bit), 31) : nonnegative_mask(v << (31 - bit)));
#endif
}

/* Whether the table method applies to an operand. sign: whether the sign counts. */
ALWAYS_INLINE bool is_ordinary(uint32_t a, const struct ptxi_approx_unit *unit, bool sign)
{
    return (uint16_t)((sign ? a >> 16 : a >> 16 << 1) - unit->first[0]) <= (uint16_t)unit->last[0];
}

/* find_special() is nonzero if any operand of a group is special. If the sign counts, the ordinary operands are
 * exactly the positive normal numbers. */
#if defined(__AVX512BW__)
typedef uint32_t special_mask;
#define ANY_SET(v) (v)
#else
typedef vec special_mask;
#define ANY_SET(v) any_nonzero(v)
#endif
ALWAYS_INLINE special_mask find_special_in_two(const vec *a, const struct ptxi_approx_unit *unit, bool sign)
{
    typedef uint16_t halves __attribute__((vector_size(VEC_BYTES), may_alias));
    vec v = blend_halves(a[0] >> 16, a[1]);

    if (!sign)
        v = (vec)((halves)v + (halves)v);
    v = (vec)((halves)v - (halves)SPLAT(UNIT_CONSTANT(unit, first)));
#if defined(__AVX512BW__)
    return _mm512_cmpgt_epu16_mask((native)v, (native)SPLAT(unit->last[0]));
#elif defined(__AVX2__)
    return (vec)_mm256_subs_epu16((native)v, (native)UNIT_CONSTANT(unit, last));
#else
    return (vec)((halves)v > (halves)SPLAT(UNIT_CONSTANT(unit, last)));
#endif
}
ALWAYS_INLINE special_mask find_special(const vec *a, const struct ptxi_approx_unit *unit, bool sign)
{
    special_mask some;

#if defined(__AVX512BW__)
    if (sign)
        return !all_positive_normal(a[0], a[1]);
#endif
    some = find_special_in_two(a, unit, sign);

    for (int j = 2; j < GROUP; j += 2)
        some |= find_special_in_two(a + j, unit, sign);
    return some;
}

/* find_special() for the upper words of f64 operands. With AVX-512 they are classified as if they were floats. Then
 * the operands with the largest and the smallest 8 exponents count as special, too. */
ALWAYS_INLINE special_mask find_special_f64(const vec *h, const struct ptxi_approx_unit *unit, bool sign)
{
#if defined(__AVX512BW__)
    enum { NOT_NORMAL = 0xbf, NEGATIVE = 0x40 };
    __m512 a = (__m512)h[0], b = (__m512)h[1];

    (void)unit;
    if (sign)
        return !_kortestz_mask16_u8(_mm512_fpclass_ps_mask(a, NOT_NORMAL | NEGATIVE),
                                    _mm512_fpclass_ps_mask(b, NOT_NORMAL | NEGATIVE));
    return !_kortestz_mask16_u8(_mm512_fpclass_ps_mask(a, NOT_NORMAL), _mm512_fpclass_ps_mask(b, NOT_NORMAL));
#else
    special_mask some = find_special_in_two(h, unit, sign);

    for (int j = 2; j < GROUP; j += 2)
        some |= find_special_in_two(h + j, unit, sign);
    return some;
#endif
}

/* Nonzero if any element of a group is a NaN, as a float. */
ALWAYS_INLINE special_mask find_nans(const vec *v)
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

/* Nonzero if any element of two groups has a magnitude of at most 2^-126. No element may be a NaN. */
ALWAYS_INLINE special_mask find_near_zero(const vec *a, const vec *b)
{
#if defined(__AVX512BW__)
    enum { LEAST_MAGNITUDE = 0xa };
    __m512 least_a = _mm512_range_ps((__m512)a[0], (__m512)a[1], LEAST_MAGNITUDE);
    __m512 least_b = _mm512_range_ps((__m512)b[0], (__m512)b[1], LEAST_MAGNITUDE);
    __m512 least = _mm512_range_ps(least_a, least_b, LEAST_MAGNITUDE);

    return _mm512_cmp_ps_mask(least, _mm512_set1_ps(0x1p-126f), _CMP_LE_OQ);
#elif defined(__AVX2__)
    native least = _mm256_min_epu32((native)(a[0] << 1), (native)(b[0] << 1));

    for (int j = 1; j < GROUP; j++)
        least = _mm256_min_epu32(least, _mm256_min_epu32((native)(a[j] << 1), (native)(b[j] << 1)));
    return (vec)_mm256_cmpeq_epi32(least, _mm256_min_epu32(least, (native)K(bit[24])));
#else
    vec some = SPLAT(0);

    FOR_GROUP some |= MASK(a[j] << 1 <= 0x01000000) | MASK(b[j] << 1 <= 0x01000000);
    return some;
#endif
}

#if defined(__AVX512BW__)
/* add_masked(): sum + term in the lanes of a mask. add_if_bit(): sum + term where this bit of v is set. */
ALWAYS_INLINE vec add_masked(vec_mask k, vec sum, vec term)
{
    return (vec)_mm512_mask_add_epi32((native)sum, k, (native)sum, (native)term);
}

ALWAYS_INLINE vec add_if_bit(vec sum, vec v, int bit, vec term)
{
    return add_masked(_mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit]))), sum, term);
}
#else
/* v, negated where s is negative. s must not be 0. */
ALWAYS_INLINE vec apply_sign(vec v, vec s)
{
#if defined(__SSSE3__)
    return (vec)MM(sign_epi32)((native)v, (native)s);
#else
    s = SAR(s, 31);
    return (v ^ s) - s;
#endif
}

/* Clears low bits of integers from 0 to 2^31 - 1, so that the conversion to float does not round up. The integers
 * need not become exact: it suffices that the uppermost of the bits that do not fit is clear. */
ALWAYS_INLINE vec truncate_for_float(vec v)
{
    return v & ~(v >> 24);
}

ALWAYS_INLINE vec int_to_float(vec v)
{
    return (vec)__builtin_convertvector((svec)v, fvec);
}
#endif

/* Converts integers from 0 to 2^31 - 1 to floats, rounding toward zero. */
ALWAYS_INLINE vec int_to_float_rz(vec v)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_cvt_roundepi32_ps((native)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    return int_to_float(truncate_for_float(v));
#endif
}

/* Converts floats to integers, rounding toward zero. With AVX, an operand out of range or a NaN gives 2^31. */
ALWAYS_INLINE vec float_to_int_rz(vec floats)
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
/* Looks up bytes in a table of 16. The elements of v are the indices. */
ALWAYS_INLINE vec look_up_bytes(const uint8_t *table, vec v)
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

/* a * b, rounded toward zero. Neither the factors nor the product may be subnormal. */
ALWAYS_INLINE vec mul_rz(vec a, const float *b)
{
#if defined(__AVX512BW__)
    return (vec)_mm512_mul_round_ps((__m512)a, _mm512_set1_ps(b[0]), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    fvec p = (fvec)a * CONSTANT_AS(fvec, b);
#if defined(__AVX2__) && defined(__FMA__)
    fvec rest = (fvec)_mm256_fmsub_ps((__m256)a, (__m256)CONSTANT_AS(fvec, b), (__m256)p);
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
 * The upper words of f64 operands. upper_words() packs them into one vector in an order that needs no moves between
 * 128-bit lanes (64-bit lanes with AVX-512). store_upper_words() undoes that order. */
ALWAYS_INLINE vec upper_words(const uint64_t *a)
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

ALWAYS_INLINE void store_upper_words(uint64_t *d, vec r)
{
#if defined(__AVX512BW__)
    VECTOR(d, 0) = (vec)_mm512_and_epi64((native)r, _mm512_set1_epi64((long long)0xffffffff00000000));
    VECTOR(d, 1) = (vec)_mm512_slli_epi64((native)r, 32);
#elif defined(MM)
    VECTOR(d, 0) = (vec)MM(unpacklo_epi32)((native)SPLAT(0), (native)r);
    VECTOR(d, 1) = (vec)MM(unpackhi_epi32)((native)SPLAT(0), (native)r);
#else
    for (int l = 0; l < VEC_LANES; l++)
        d[l] = (uint64_t)r[l] << 32;
#endif
}

#endif
