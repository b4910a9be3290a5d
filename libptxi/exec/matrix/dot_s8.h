/* Dot products of 8-bit integers (and of narrower ones). Elements are extended to 16 bits, and two neighbours along
 * K form a pair, so that one instruction of the host computes the two products of a pair for several rows. */
#ifndef PTXI_EXEC_MATRIX_DOT_S8_H
#define PTXI_EXEC_MATRIX_DOT_S8_H

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "exec/matrix/mma_tile.h"

/* One pair of each row of A. Arrays of it must be aligned to 64 bytes. */
typedef int16_t dot_s8_rows[PTXI_TILE_M][2];

/* Extends n bytes to 16 bits. */
static inline void dot_s8_extend(int16_t *to, const uint8_t *from, unsigned n, bool is_signed)
{
    if (is_signed)
        for (unsigned k = 0; k < n; k++)
            to[k] = (int8_t)from[k];
    else
        for (unsigned k = 0; k < n; k++)
            to[k] = from[k];
}

/* Sets d[m] to the dot product of row m and a column of B. */
static inline void dot_s8_column(dot_s8_rows *a, const int16_t *b, unsigned pairs, int32_t *d)
{
#if defined(__AVX512BW__)
    __m512i s = _mm512_setzero_si512();

    for (unsigned p = 0; p < pairs; p++) {
        int32_t x;

        memcpy(&x, b + 2 * p, sizeof x);
        s = _mm512_add_epi32(s, _mm512_madd_epi16(*(const __m512i *)a[p], _mm512_set1_epi32(x)));
    }
    *(__m512i *)d = s;
#elif defined(__AVX2__)
    __m256i s = _mm256_setzero_si256(), u = s;

    for (unsigned p = 0; p < pairs; p++) {
        const __m256i *rows = (const __m256i *)a[p];
        int32_t x;

        memcpy(&x, b + 2 * p, sizeof x);
        s = _mm256_add_epi32(s, _mm256_madd_epi16(rows[0], _mm256_set1_epi32(x)));
        u = _mm256_add_epi32(u, _mm256_madd_epi16(rows[1], _mm256_set1_epi32(x)));
    }
    ((__m256i *)d)[0] = s;
    ((__m256i *)d)[1] = u;
#elif defined(__SSE2__)
    for (unsigned m = 0; m < PTXI_TILE_M; m += 4) {
        __m128i s = _mm_setzero_si128();

        for (unsigned p = 0; p < pairs; p++) {
            int32_t x;

            memcpy(&x, b + 2 * p, sizeof x);
            s = _mm_add_epi32(s, _mm_madd_epi16(*(const __m128i *)a[p][m], _mm_set1_epi32(x)));
        }
        *(__m128i *)(d + m) = s;
    }
#else
    memset(d, 0, PTXI_TILE_M * sizeof *d);
    for (unsigned p = 0; p < pairs; p++)
        for (unsigned m = 0; m < PTXI_TILE_M; m++)
            d[m] += a[p][m][0] * b[2 * p] + a[p][m][1] * b[2 * p + 1];
#endif
}

/* Adds the dot products of all rows and eight columns of B to c, column by column. The columns are `stride` elements
 * apart. */
static inline void dot_s8_add(dot_s8_rows *a, const int16_t *b, unsigned stride, unsigned pairs, bool saturate,
                              uint32_t *c)
{
    _Alignas(64) int32_t sum[PTXI_TILE_OUT];

    for (unsigned n = 0; n < PTXI_TILE_N; n++)
        dot_s8_column(a, b + n * stride, pairs, sum + n * PTXI_TILE_M);
    for (unsigned l = 0; l < PTXI_TILE_OUT && !saturate; l++)
        c[l] += (uint32_t)sum[l];
    for (unsigned l = 0; l < PTXI_TILE_OUT && saturate; l++) {
        int32_t x = (int32_t)c[l], y = sum[l], s = (int32_t)((uint32_t)x + (uint32_t)y);
        int32_t overflow = (x ^ s) & (y ^ s); /* negative if the signs of both operands differ from that of the sum */
        int32_t limit = (x >> 31) ^ INT32_MAX;

        c[l] = (uint32_t)(overflow < 0 ? limit : s);
    }
}

#endif
