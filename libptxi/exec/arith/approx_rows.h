/* Rows of the approximation units' tables, looked up for vectors of numbers, and the quadratic whose coefficients they are. */
#ifndef PTXI_EXEC_ARITH_APPROX_ROWS_H
#define PTXI_EXEC_ARITH_APPROX_ROWS_H

#include "exec/arith/approx.h"

/* --- rows --- */
struct found {
    vec c0, c12;
};

#if defined(__AVX512BW__)
/* A column is in vectors; an instruction looks up in two of them, and the lanes that it leaves alone keep their index. */
ALWAYS vec column(const uint32_t *c, int n, vec at, __mmask16 upper, __mmask16 last)
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

/* Bits of v[j] from bit 17 or so on choose. The second of a pair gets its c12 turned. */
#define LOOK_UP(table, v, bit, j) look_up((table)->c0, (j) & 1 ? (table)->c21 : (table)->c12, sizeof (table)->c0 / 4, (v)[j], bit)
#define IN_MEMORY(v) (void)0
ALWAYS struct found look_up(const uint32_t *c0, const uint32_t *c12, int n, vec v, int bit)
{
    vec at = v >> bit;
    __mmask16 upper = _mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit + 5])));
    __mmask16 last = n == 128 ? _mm512_test_epi32_mask((native)v, _mm512_set1_epi32((int)K(bit[bit + 6]))) : 0;

    return (struct found){ column(c0, n, at, upper, last), column(c12, n, at, upper, last) };
}
#else
/* Bits 16 to 23 of v[j] choose. What v has in registers goes there by way of memory. */
#define LOOK_UP(table, v, bit, j) look_up((table)->half, (const uint8_t *)&(v)[j])
#define IN_MEMORY(v) __asm__("" : "+m"(v))
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { ROW_BYTE = 2 };
#else
enum { ROW_BYTE = 1 };
#endif

ALWAYS struct found look_up(const struct ptxi_num_row *rows, const uint8_t *v)
{
#define ROW(l) (rows + v[4 * (l) + ROW_BYTE])
#if defined(__AVX2__)
    /* Rows are loaded into all elements and blended, since there are many more units for that than for what moves elements about. */
    typedef int64_t whole_row __attribute__((may_alias));
#define ALL_OF(l) _mm256_set1_epi64x(*(const whole_row *)ROW(l))
#define FOUR(l) \
    (__m256)_mm256_blend_epi32(_mm256_blend_epi32(ALL_OF(l), ALL_OF(l + 1), 0x0c), _mm256_blend_epi32(ALL_OF(l + 4), ALL_OF(l + 5), 0xc0), 0xf0)
    __m256 a = FOUR(0), b = FOUR(2);
#undef FOUR
#undef ALL_OF

    return (struct found){ (vec)_mm256_shuffle_ps(a, b, 0x88), (vec)_mm256_shuffle_ps(a, b, 0xdd) };
#elif defined(__SSE2__)
    typedef uint64_t row2 __attribute__((vector_size(16))), whole_row __attribute__((may_alias));
    vec a = (vec)(row2){ *(const whole_row *)ROW(0), *(const whole_row *)ROW(1) };
    vec b = (vec)(row2){ *(const whole_row *)ROW(2), *(const whole_row *)ROW(3) };

    return (struct found){ __builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7) };
#else
    struct found r;

    for (int l = 0; l < VEC_LANES; l++) {
        r.c0[l] = ROW(l)->c0;
        r.c12[l] = ROW(l)->c12;
    }
    return r;
#endif
#undef ROW
}
#endif

/* --- the quadratic --- */

/* ptxi_num_square17() of numbers of which 16-bit elements hold all but the last bit, in fewer products. h = 2 * a + h0, so that h * h >> 1 is
 * 2 * a * (a + h0); beside a + h0, b's upper two bits are in place to be multiplied by a, too. Of the rest, some bits of a, from a65 to a2,
 * are multiplied by some of b, from b40 to b4. A product has at most one smaller partial product, which the shift cuts off. */
ALWAYS vec squares(vec u)
{
    vec sum = high_products(u & K(a), upper_halved_up(u & K(ceiling), u & K(low))) + high_products(u & K(a43), u & K(b42));

#if defined(__SSSE3__)
    /* two products in one, of bytes */
    return sum + high_bytes(byte_products(u & K(a65_b4), bytes_exchanged(u) & K(b40_a2)));
#else
    return sum + (high_products(u & K(a65), u & K(b40)) + high_products(u & K(a2), u & K(b4)));
#endif
}

/* The same of multiples of 8, which have an even b: two products are enough for the rest. */
ALWAYS vec squares_of_eights(vec u)
{
    return high_products(u & K(a), upper_halved_up(u & K(ceiling), u & K(low))) + high_products(u & K(a654), u & K(b41)) +
           high_products(u & K(a32), u & K(b43));
}

/* What a pair's c12 are multiplied by: the lower 16 bits of x less 2^15, and the square. u: x / 2 for squares(), of both vectors; x: the lower
 * halves, the first vector's above. With AVX-512 the second vector's factors are turned, as its c12 are. */
ALWAYS void factors(vec *f, vec u, vec x)
{
    vec s = squares(u), m = x ^ K(middle);

    f[0] = joined_halves(s, m);
#if defined(__AVX512BW__)
    f[1] = joined_halves(m, s);
#else
    f[1] = joined_halves(s >> 16, m << 16);
#endif
}

/* Of a group of numbers whose last 17 bits are x. */
ALWAYS void factors17(vec *f, const vec *v)
{
    for (int j = 0; j < GROUP; j += 2)
        factors(f + j, joined_halves(v[j] >> 1, v[j + 1] << 15), joined_halves(v[j + 1], v[j] << 16));
}

#if defined(__AVX512BW__)
/* sum, plus c1 * 2^16 >> shift of a row as looked up where bit 16 of v is on. */
ALWAYS vec add_c1(vec sum, struct found row, vec v, int shift, int j)
{
    return add_where(sum, v, 16, dot(row.c12, ALL(K(bit[j & 1 ? 16 - shift : 32 - shift]))));
}

/* c1 * 2^16, likewise */
ALWAYS vec c1_above(struct found row, int j)
{
    if (j & 1)
        return row.c12 << 16;
    return row.c12 & K(upper_half);
}
#endif

/* ptxi_num_high() for numbers v whose last 17 bits are x, plus more, with the low sum. The product is what takes time; all else is added up
 * beside it. */
struct total {
    vec high, low;
};
ALWAYS struct total total17(struct found row, vec factors, vec v, vec more, int shift, const uint32_t *bias, int j)
{
    vec low = dot(row.c12, factors), rest = row.c0 + more;

#if defined(__AVX512BW__)
    rest = add_c1(rest, row, v, shift, j);
#else
    (void)v, (void)j; /* the row has it */
#endif
    if (bias)
        low += WIDE_AS(vec, bias);
    return (struct total){ rest + SAR(low, shift), low };
}

#endif
