/* Transposes small matrices in vector registers. Columns are stored with the width of later loads, because hosts are
 * slow if a load gets its bytes from several stores. */
#ifndef PTXI_EXEC_MATRIX_TRANSPOSE_INL_H
#define PTXI_EXEC_MATRIX_TRANSPOSE_INL_H

#include <stdint.h>
#include <string.h>

typedef uint16_t row16 __attribute__((vector_size(16)));
typedef uint32_t row32 __attribute__((vector_size(16)));
typedef uint16_t wide16 __attribute__((vector_size(32))); /* two rows in one vector */
typedef uint32_t wide32 __attribute__((vector_size(32)));
typedef uint32_t full32 __attribute__((vector_size(64)));

/* --- 8x8 elements of 16 bits: interleaves rows k and k + 4, three times --- */

#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_WIDE(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27)
#define HIGH_WIDE(a, b) __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31)
#define TRANSPOSE_16(name, type, low, high)                   \
    static inline void name(type *to, const type *from)       \
    {                                                         \
        type a[8], b[8];                                      \
                                                              \
        for (int k = 0; k < 4; k++) {                         \
            a[2 * k] = low(from[k], from[k + 4]);             \
            a[2 * k + 1] = high(from[k], from[k + 4]);        \
        }                                                     \
        for (int k = 0; k < 4; k++) {                         \
            b[2 * k] = low(a[k], a[k + 4]);                   \
            b[2 * k + 1] = high(a[k], a[k + 4]);              \
        }                                                     \
        for (int k = 0; k < 4; k++) {                         \
            to[2 * k] = low(b[k], b[k + 4]);                  \
            to[2 * k + 1] = high(b[k], b[k + 4]);             \
        }                                                     \
    }
TRANSPOSE_16(transpose_16, row16, LOW, HIGH)
#if defined(__AVX2__)
TRANSPOSE_16(transpose_wide_16, wide16, LOW_WIDE, HIGH_WIDE)
#endif
#undef TRANSPOSE_16
#undef LOW
#undef HIGH
#undef LOW_WIDE
#undef HIGH_WIDE

/* The eight columns of 16 rows. One register has the upper eight rows, the other the lower eight. */
static inline void columns_16(wide16 *to, const row16 *upper, const row16 *lower)
{
#if defined(__AVX2__)
    wide16 rows[8];

    for (int k = 0; k < 8; k++)
        rows[k] = __builtin_shufflevector(upper[k], lower[k], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    transpose_wide_16(to, rows);
#else
    row16 half[2][8];

    transpose_16(half[0], upper);
    transpose_16(half[1], lower);
    for (int k = 0; k < 8; k++)
        for (int h = 0; h < 2; h++)
            memcpy((char *)&to[k] + 16 * h, &half[h][k], 16);
#endif
}

/* The inverse of columns_16(). */
static inline void rows_16(row16 *upper, row16 *lower, const wide16 *from)
{
#if defined(__AVX2__)
    wide16 rows[8];

    transpose_wide_16(rows, from);
    for (int k = 0; k < 8; k++) {
        upper[k] = __builtin_shufflevector(rows[k], rows[k], 0, 1, 2, 3, 4, 5, 6, 7);
        lower[k] = __builtin_shufflevector(rows[k], rows[k], 8, 9, 10, 11, 12, 13, 14, 15);
    }
#else
    row16 half[2][8];

    for (int k = 0; k < 8; k++)
        for (int h = 0; h < 2; h++)
            memcpy(&half[h][k], (const char *)&from[k] + 16 * h, 16);
    transpose_16(upper, half[0]);
    transpose_16(lower, half[1]);
#endif
}

/* --- 8 rows of four 32-bit elements, which fill one register --- */

#if defined(__AVX2__)
#define EACH_HALF(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l, (i) + 4, (j) + 4, (k) + 4, (l) + 4)
typedef wide32 line32;
#else
#define EACH_HALF(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
typedef row32 line32;
#endif
enum { SECOND32 = sizeof(line32) / 4 }; /* index of the first element of the second operand */

/* Transposes the 4x4 matrix in each half. */
static inline void transpose_32(line32 *m)
{
    line32 a = EACH_HALF(m[0], m[1], 0, SECOND32, 1, SECOND32 + 1);
    line32 b = EACH_HALF(m[0], m[1], 2, SECOND32 + 2, 3, SECOND32 + 3);
    line32 c = EACH_HALF(m[2], m[3], 0, SECOND32, 1, SECOND32 + 1);
    line32 d = EACH_HALF(m[2], m[3], 2, SECOND32 + 2, 3, SECOND32 + 3);

    m[0] = EACH_HALF(a, c, 0, 1, SECOND32, SECOND32 + 1);
    m[1] = EACH_HALF(a, c, 2, 3, SECOND32 + 2, SECOND32 + 3);
    m[2] = EACH_HALF(b, d, 0, 1, SECOND32, SECOND32 + 1);
    m[3] = EACH_HALF(b, d, 2, 3, SECOND32 + 2, SECOND32 + 3);
}
#undef EACH_HALF

/* The four columns. `step` is the distance between columns in elements. */
static inline void columns_32(uint32_t *to, unsigned step, const uint32_t *from)
{
    const row32 *row = (const row32 *)from;
    line32 m[4];

#if defined(__AVX2__)
    for (int k = 0; k < 4; k++)
        m[k] = __builtin_shufflevector(row[k], row[k + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    transpose_32(m);
    for (int k = 0; k < 4; k++)
        *(wide32 *)(to + k * step) = m[k];
#else
    for (int h = 0; h < 8; h += 4) {
        memcpy(m, row + h, sizeof m);
        transpose_32(m);
        for (int k = 0; k < 4; k++)
            *(row32 *)(to + k * step + h) = m[k];
    }
#endif
}

/* The inverse of columns_32(). */
static inline void rows_32(uint32_t *to, const uint32_t *from, unsigned step)
{
    row32 *row = (row32 *)to;
    line32 m[4];

#if defined(__AVX2__)
    for (int k = 0; k < 4; k++)
        m[k] = *(const wide32 *)(from + k * step);
    transpose_32(m);
    for (int k = 0; k < 4; k++) {
        row[k] = __builtin_shufflevector(m[k], m[k], 0, 1, 2, 3);
        row[k + 4] = __builtin_shufflevector(m[k], m[k], 4, 5, 6, 7);
    }
#else
    for (int h = 0; h < 8; h += 4) {
        for (int k = 0; k < 4; k++)
            m[k] = *(const row32 *)(from + k * step + h);
        transpose_32(m);
        memcpy(row + h, m, sizeof m);
    }
#endif
}

/* The same for 16 rows. One register has the upper eight rows, the other the lower eight. */
#if defined(__AVX512F__)
#define HALF_OF_8(i, step) (i), (i) + (step), (i) + 2 * (step), (i) + 3 * (step)
#define EIGHT(i, step) HALF_OF_8(i, step), HALF_OF_8((i) + 4 * (step), step)
#define TWO_COLUMNS(m, k) __builtin_shufflevector((m)[0], (m)[1], EIGHT(k, 4), EIGHT((k) + 1, 4))
#define HALVES(a, b, h) __builtin_shufflevector(a, b, EIGHT(8 * (h), 1), EIGHT(16 + 8 * (h), 1))
#define FOUR(g) (g), (g) + 8, (g) + 16, (g) + 24
#define FOUR_ROWS(a, b, g) __builtin_shufflevector(a, b, FOUR(g), FOUR((g) + 1), FOUR((g) + 2), FOUR((g) + 3))
#endif

static inline void columns_32x2(uint32_t *to, unsigned step, const uint32_t *upper, const uint32_t *lower)
{
#if defined(__AVX512F__)
    const full32 *u = (const full32 *)upper, *l = (const full32 *)lower;
    full32 u01 = TWO_COLUMNS(u, 0), u23 = TWO_COLUMNS(u, 2), l01 = TWO_COLUMNS(l, 0), l23 = TWO_COLUMNS(l, 2);

    *(full32 *)to = HALVES(u01, l01, 0);
    *(full32 *)(to + step) = HALVES(u01, l01, 1);
    *(full32 *)(to + 2 * step) = HALVES(u23, l23, 0);
    *(full32 *)(to + 3 * step) = HALVES(u23, l23, 1);
#else
    columns_32(to, step, upper);
    columns_32(to + 8, step, lower);
#endif
}

static inline void rows_32x2(uint32_t *upper, uint32_t *lower, const uint32_t *from, unsigned step)
{
#if defined(__AVX512F__)
    full32 c[4], *u = (full32 *)upper, *l = (full32 *)lower;

    for (int k = 0; k < 4; k++)
        c[k] = *(const full32 *)(from + k * step);
    for (int h = 0; h < 2; h++) {
        full32 a = h ? HALVES(c[0], c[1], 1) : HALVES(c[0], c[1], 0);
        full32 b = h ? HALVES(c[2], c[3], 1) : HALVES(c[2], c[3], 0);

        (h ? l : u)[0] = FOUR_ROWS(a, b, 0);
        (h ? l : u)[1] = FOUR_ROWS(a, b, 4);
    }
#else
    rows_32(upper, from, step);
    rows_32(lower, from + 8, step);
#endif
}
#undef EIGHT
#undef HALF_OF_8
#undef TWO_COLUMNS
#undef HALVES
#undef FOUR
#undef FOUR_ROWS

#endif
