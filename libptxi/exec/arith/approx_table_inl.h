/* Table lookup and quadratic interpolation for the approximation units. num/approx.h has the method for one operand:
 * the upper bits of the operand select a row of three coefficients, and the lower bits are the x of
 * c0 + c1 * x + c2 * x^2. */
#ifndef PTXI_EXEC_ARITH_APPROX_TABLE_INL_H
#define PTXI_EXEC_ARITH_APPROX_TABLE_INL_H

#include "exec/arith/approx_vector_inl.h"

/* --- table lookup --- */

/* Rows of the coefficient table, one in each element. */
struct table_row {
    vec c0;
    vec c12; /* c1 and c2 in 16 bits each */
};

#if defined(__AVX512BW__)
/* Looks up elements of a column (a coefficient of all rows). One permutation selects from two vectors. The masks
 * select the permutation for each lane. */
ALWAYS_INLINE vec column(const uint32_t *c, int n, vec at, __mmask16 upper, __mmask16 last)
{
    const native *t = (const native *)c;
    native r = _mm512_mask2_permutex2var_epi32(t[0], (native)at, (__mmask16)~upper, t[1]);

    r = _mm512_mask2_permutex2var_epi32(t[2], r, upper, t[3]);
    if (n == 128) {
        native r2 = _mm512_mask2_permutex2var_epi32(t[4], (native)at, (__mmask16)~upper, t[5]);

        r = _mm512_mask_mov_epi32(r, last, _mm512_mask2_permutex2var_epi32(t[6], r2, upper, t[7]));
    }
    return (vec)r;
}

/* The bits of v[j] from `bit` upward are the row number. For the second vector of a pair, the halves of c12 are
 * exchanged (c21). */
#define LOOK_UP_ROW(table, v, bit, j) \
    look_up_row((table)->c0, (j) & 1 ? (table)->c21 : (table)->c12, sizeof (table)->c0 / 4, (v)[j], bit)
#define KEEP_IN_MEMORY(v) (void)0
ALWAYS_INLINE struct table_row look_up_row(const uint32_t *c0, const uint32_t *c12, int n, vec v, int bit)
{
    vec at = v >> bit;
    __mmask16 upper = _mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit + 5])));
    __mmask16 last = n == 128 ? _mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit + 6]))) : 0;

    return (struct table_row){ column(c0, n, at, upper, last), column(c12, n, at, upper, last) };
}
#else
/* Bits 16 to 23 of v[j] are the row number. It is read as a byte in memory, so KEEP_IN_MEMORY() must have been called
 * for v. */
#define LOOK_UP_ROW(table, v, bit, j) look_up_row((table)->half, (const uint8_t *)&(v)[j])
#define KEEP_IN_MEMORY(v) __asm__("" : "+m"(v))
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { ROW_BYTE = 2 };
#else
enum { ROW_BYTE = 1 };
#endif

ALWAYS_INLINE struct table_row look_up_row(const struct ptxi_num_row *rows, const uint8_t *v)
{
#define ROW(l) (rows + v[4 * (l) + ROW_BYTE])
#if defined(__AVX2__)
    /* Each row is broadcast and the rows are blended: hosts have more units for loads and blends than for shuffles. */
    typedef int64_t whole_row __attribute__((may_alias));
#define ALL_OF(l) _mm256_set1_epi64x(*(const whole_row *)ROW(l))
#define TWO(l, upper) _mm256_blend_epi32(ALL_OF(l), ALL_OF(l + 1), upper)
#define FOUR(l) (__m256)_mm256_blend_epi32(TWO(l, 0x0c), TWO(l + 4, 0xc0), 0xf0)
    __m256 a = FOUR(0), b = FOUR(2);
#undef FOUR
#undef TWO
#undef ALL_OF

    return (struct table_row){ (vec)_mm256_shuffle_ps(a, b, 0x88), (vec)_mm256_shuffle_ps(a, b, 0xdd) };
#elif defined(__SSE2__)
    typedef uint64_t row2 __attribute__((vector_size(16))), whole_row __attribute__((may_alias));
    vec a = (vec)(row2){ *(const whole_row *)ROW(0), *(const whole_row *)ROW(1) };
    vec b = (vec)(row2){ *(const whole_row *)ROW(2), *(const whole_row *)ROW(3) };

    return (struct table_row){ __builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7) };
#else
    struct table_row r;

    for (int l = 0; l < VEC_LANES; l++) {
        r.c0[l] = ROW(l)->c0;
        r.c12[l] = ROW(l)->c12;
    }
    return r;
#endif
#undef ROW
}
#endif

/* --- quadratic interpolation --- */

/* ptxi_num_square17() for 17-bit numbers, of which 16-bit elements hold all but the last bit, with few
 * multiplications.
 *
 * With h = 2 * a + h0, h * h >> 1 is 2 * a * (a + h0). The upper two bits of b are placed beside a + h0, so that the
 * same product multiplies them by a. The remaining partial products multiply some bits of a (a65 to a2) by some bits
 * of b (b40 to b4). Each product contains at most one smaller partial product, which the shift cuts off. */
ALWAYS_INLINE vec square_17(vec u)
{
    vec sum = mul_high_16(u & K(a), halve_upper_byte(u & K(ceiling), u & K(low))) +
              mul_high_16(u & K(a43), u & K(b42));

#if defined(__SSSE3__)
    /* two products in one instruction, of bytes */
    return sum + high_bytes(dot_bytes(u & K(a65_b4), swap_bytes(u) & K(b40_a2)));
#else
    return sum + (mul_high_16(u & K(a65), u & K(b40)) + mul_high_16(u & K(a2), u & K(b4)));
#endif
}

/* The same for multiples of 8. Their b is even, so two products suffice for the rest. */
ALWAYS_INLINE vec square_multiples_of_8(vec u)
{
    return mul_high_16(u & K(a), halve_upper_byte(u & K(ceiling), u & K(low))) +
           mul_high_16(u & K(a654), u & K(b41)) + mul_high_16(u & K(a32), u & K(b43));
}

/* The factors that the coefficients c12 of a pair of vectors are multiplied by: x - 2^15 for c1, and the square for
 * c2.
 *
 * u: x / 2 for square_17(), of both vectors. x: the lower halves, those of the first vector above. With AVX-512 the
 * factors of the second vector have their halves exchanged, like its coefficients. */
ALWAYS_INLINE void make_factors(vec *f, vec u, vec x)
{
    vec s = square_17(u), m = x ^ K(middle);

    f[0] = blend_halves(s, m);
#if defined(__AVX512BW__)
    f[1] = blend_halves(m, s);
#else
    f[1] = blend_halves(s >> 16, m << 16);
#endif
}

/* The factors for a group of numbers v. x is the last 17 bits of a number. */
ALWAYS_INLINE void make_factors_17(vec *f, const vec *v)
{
    for (int j = 0; j < GROUP; j += 2)
        make_factors(f + j, blend_halves(v[j] >> 1, v[j + 1] << 15), blend_halves(v[j + 1], v[j] << 16));
}

#if defined(__AVX512BW__)
/* sum + (c1 * 2^16 >> shift) where bit 16 of v is set. */
ALWAYS_INLINE vec add_c1(vec sum, struct table_row row, vec v, int shift, int j)
{
    return add_if_bit(sum, v, 16, dot_halves(row.c12, SPLAT(K(bit[j & 1 ? 16 - shift : 32 - shift]))));
}

/* c1 * 2^16 */
ALWAYS_INLINE vec c1_shifted_16(struct table_row row, int j)
{
    if (j & 1)
        return row.c12 << 16;
    return row.c12 & K(upper_half);
}
#endif

/* ptxi_num_high() for numbers v, plus `more`, and the low sum. x is the last 17 bits of a number. The multiplication
 * has the longest latency, so all other terms are added in parallel. */
struct interpolated {
    vec high; /* the sum, rounded down */
    vec low;  /* the sum of the products, before the shift */
};
ALWAYS_INLINE struct interpolated interpolate_17(struct table_row row, vec factors, vec v, vec more, int shift,
                                                 const uint32_t *bias, int j)
{
    vec low = dot_halves(row.c12, factors), rest = row.c0 + more;

#if defined(__AVX512BW__)
    rest = add_c1(rest, row, v, shift, j);
#else
    (void)v, (void)j; /* the row includes c1 already */
#endif
    if (bias)
        low += CONSTANT_AS(vec, bias);
    return (struct interpolated){ rest + SAR(low, shift), low };
}

#endif
