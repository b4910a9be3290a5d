/* mma.sync of integers and bits: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", "mma.sp". */
#include "exec/mma.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

static inline int32_t integer(uint32_t code, unsigned bits, bool is_signed)
{
    return is_signed ? (int32_t)(code << (32 - bits)) >> (32 - bits) : (int32_t)code;
}

/* Sparse A. */
static void multiply_chosen(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool saturate)
{
    uint32_t c[M][N], room[K];
    struct codes t;

    read_codes(w, x, first, &t);
    read_c(w, x, first, c);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned n = 0; n < N; n++) {
            const uint32_t *b = partners(&t, x->sparse, m, n, room);
            int64_t sum = (int32_t)c[m][n];

            for (unsigned k = 0; k < t.stored; k++)
                sum += integer(t.a[m][k], x->a_bits, x->a) * integer(b[k], x->b_bits, x->b);
            if (saturate)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            c[m][n] = (uint32_t)sum;
        }
    write_d(w, x, first, c);
}

/* --- dense integers: pairs of neighbouring elements of a line as 16 bits each, A's by pair and row, so that one step gives two products
 * for each of several rows --- */

enum { PAIRS = K / 2 };

struct pairs {
    _Alignas(64) int16_t a[PAIRS][M][2], b[N][K];
};

static inline void extend_8(int16_t *to, const uint8_t *from, unsigned n, bool is_signed)
{
    if (is_signed)
        for (unsigned k = 0; k < n; k++)
            to[k] = (int8_t)from[k];
    else
        for (unsigned k = 0; k < n; k++)
            to[k] = from[k];
}

static inline void read_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct pairs *t)
{
    unsigned tiles = x->m / 8u;

    for (unsigned r = 0; r < registers(x, OPERAND_A); r += tiles) {
        const row16 *upper = register_of(w, x, OPERAND_A, r, first, 4);
        wide16 columns[8];

        columns_16(columns, upper, tiles > 1 ? register_of(w, x, OPERAND_A, r + 1, first, 4) : upper);
        for (unsigned p = 0; p < 8; p++)
            extend_8(t->a[r / tiles * 8 + p][0], (const uint8_t *)&columns[p], 32, x->a);
    }
    for (unsigned r = 0; r < registers(x, OPERAND_B); r++) {
        const uint8_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++)
            extend_8(&t->b[n][r * 16], from + n * 16, 16, x->b);
    }
}

typedef int16_t shorts __attribute__((vector_size(64)));
typedef uint16_t codes __attribute__((vector_size(64)));

/* Bytes, which are pairs, so far up in each of 16 words. */
static inline void extend_4(int16_t (*to)[2], const uint16_t *word, unsigned up, bool is_signed)
{
    _Alignas(64) uint32_t x[16];
    shorts s;

    for (unsigned l = 0; l < 16; l++)
        x[l] = ((uint32_t)(word[l] >> up) << 12 & 0xf000) | ((uint32_t)(word[l] >> up) << 24 & 0xf0000000);
    memcpy(&s, x, sizeof s);
    s = is_signed ? s >> 12 : (shorts)((codes)s >> 12);
    memcpy(to, &s, sizeof s);
}

static inline void read_4(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct pairs *t)
{
    unsigned tiles = x->m / 8u;

    for (unsigned r = 0; r < registers(x, OPERAND_A); r += tiles) {
        const row16 *upper = register_of(w, x, OPERAND_A, r, first, 4);
        wide16 columns[8];

        columns_16(columns, upper, tiles > 1 ? register_of(w, x, OPERAND_A, r + 1, first, 4) : upper);
        for (unsigned p = 0; p < 16; p++)
            extend_4(t->a[r / tiles * 16 + p], (const uint16_t *)&columns[p / 2], p % 2 * 8, x->a);
    }
    for (unsigned r = 0; r < registers(x, OPERAND_B); r++) {
        const uint8_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++) {
            uint16_t byte[16];

            for (unsigned p = 0; p < 16; p++)
                byte[p] = from[n * 16 + p];
            extend_4((int16_t (*)[2])&t->b[n][r * 32], byte, 0, x->b);
        }
    }
}

/* d[n][m]: the products of column n of B with all rows. */
static inline void sum_pairs(const struct pairs *t, unsigned n, unsigned pairs, int32_t *d)
{
#if defined(__AVX512BW__)
    __m512i s = _mm512_setzero_si512();

    for (unsigned p = 0; p < pairs; p++) {
        int32_t b;

        memcpy(&b, &t->b[n][2 * p], sizeof b);
        s = _mm512_add_epi32(s, _mm512_madd_epi16(*(const __m512i *)t->a[p], _mm512_set1_epi32(b)));
    }
    *(__m512i *)d = s;
#elif defined(__AVX2__)
    __m256i s = _mm256_setzero_si256(), u = s;

    for (unsigned p = 0; p < pairs; p++) {
        const __m256i *a = (const __m256i *)t->a[p];
        int32_t b;

        memcpy(&b, &t->b[n][2 * p], sizeof b);
        s = _mm256_add_epi32(s, _mm256_madd_epi16(a[0], _mm256_set1_epi32(b)));
        u = _mm256_add_epi32(u, _mm256_madd_epi16(a[1], _mm256_set1_epi32(b)));
    }
    ((__m256i *)d)[0] = s;
    ((__m256i *)d)[1] = u;
#elif defined(__SSE2__)
    for (unsigned m = 0; m < M; m += 4) {
        __m128i s = _mm_setzero_si128();

        for (unsigned p = 0; p < pairs; p++) {
            int32_t b;

            memcpy(&b, &t->b[n][2 * p], sizeof b);
            s = _mm_add_epi32(s, _mm_madd_epi16(*(const __m128i *)t->a[p][m], _mm_set1_epi32(b)));
        }
        *(__m128i *)(d + m) = s;
    }
#else
    memset(d, 0, M * sizeof *d);
    for (unsigned p = 0; p < pairs; p++)
        for (unsigned m = 0; m < M; m++)
            d[m] += t->a[p][m][0] * t->b[n][2 * p] + t->a[p][m][1] * t->b[n][2 * p + 1];
#endif
}

static void multiply_integers(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool saturate)
{
    _Alignas(64) int32_t sum[N * M];
    _Alignas(64) uint32_t c[N * M];
    struct pairs t;

    if (x->sparse) {
        multiply_chosen(w, x, first, saturate);
        return;
    }
    if (x->a_bits == 8)
        read_8(w, x, first, &t);
    else
        read_4(w, x, first, &t);
    read_columns(w, x, first, c);
    for (unsigned n = 0; n < N; n++)
        sum_pairs(&t, n, x->k / 2u, sum + n * M);
    for (unsigned l = 0; l < N * M && !saturate; l++)
        c[l] += (uint32_t)sum[l];
    for (unsigned l = 0; l < N * M && saturate; l++) {
        int32_t a = (int32_t)c[l], b = sum[l], s = (int32_t)((uint32_t)a + (uint32_t)b);
        int32_t over = (a ^ s) & (b ^ s), most = (a >> 31) ^ INT32_MAX; /* overflow: both signs differ from the sum's */

        c[l] = (uint32_t)(over < 0 ? most : s);
    }
    write_columns(w, x, first, c);
}

/* --- bits --- */

static void multiply_bits(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool and)
{
    unsigned char lines_a[M][LINE], lines_b[N][LINE];
    uint32_t c[M][N];

    read_lines(w, x, OPERAND_A, x->m, first, 4, lines_a);
    read_lines(w, x, OPERAND_B, N, first, 4, lines_b);
    read_c(w, x, first, c);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned n = 0; n < N; n++)
            for (unsigned k = 0; k < x->k; k += 32) {
                uint32_t a = element(lines_a[m], 32, k / 32), b = element(lines_b[n], 32, k / 32);

                c[m][n] += (uint32_t)__builtin_popcount(and ? a & b : a ^ b);
            }
    write_d(w, x, first, c);
}

MMA( s8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( s4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( b1, multiply_bits, (i->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT == 1 )
