/* mma.sync of integers and bits. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", "mma.sp". */
#include "exec/matrix/dot_s8.h"
#include "exec/matrix/mma.h"

enum { PAIRS = K / 2 };

/* A and B as dot_s8.h takes them. */
struct pairs {
    _Alignas(64) dot_s8_rows a[PAIRS];
    _Alignas(64) int16_t b[N][K];
};

static inline void read_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct pairs *t)
{
    unsigned registers = x->m / 8u; /* that hold all rows of a column */

    for (unsigned r = 0; r < register_count(x, OPERAND_A); r += registers) {
        wide16 columns[8];

        read_columns_of_a(w, x, r, first, columns);
        for (unsigned p = 0; p < 8; p++)
            dot_s8_extend(t->a[r / registers * 8 + p][0], (const uint8_t *)&columns[p], 32, x->a);
    }
    for (unsigned r = 0; r < register_count(x, OPERAND_B); r++) {
        const uint8_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++)
            dot_s8_extend(&t->b[n][r * 16], from + n * 16, 16, x->b);
    }
}

typedef int16_t signed_words __attribute__((vector_size(64)));
typedef uint16_t unsigned_words __attribute__((vector_size(64)));

/* Extends the two 4-bit elements of the byte at bit `shift` of each of 16 words. */
static inline void extend_4(int16_t (*to)[2], const uint16_t *word, unsigned shift, bool is_signed)
{
    _Alignas(64) uint32_t x[16];
    signed_words s;

    for (unsigned l = 0; l < 16; l++)
        x[l] = ((uint32_t)(word[l] >> shift) << 12 & 0xf000) | ((uint32_t)(word[l] >> shift) << 24 & 0xf0000000);
    memcpy(&s, x, sizeof s);
    s = is_signed ? s >> 12 : (signed_words)((unsigned_words)s >> 12);
    memcpy(to, &s, sizeof s);
}

static inline void read_4(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct pairs *t)
{
    unsigned registers = x->m / 8u; /* that hold all rows of a column */

    for (unsigned r = 0; r < register_count(x, OPERAND_A); r += registers) {
        wide16 columns[8];

        read_columns_of_a(w, x, r, first, columns);
        for (unsigned p = 0; p < 16; p++)
            extend_4(t->a[r / registers * 16 + p], (const uint16_t *)&columns[p / 2], p % 2 * 8, x->a);
    }
    for (unsigned r = 0; r < register_count(x, OPERAND_B); r++) {
        const uint8_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++) {
            uint16_t byte[16];

            for (unsigned p = 0; p < 16; p++)
                byte[p] = from[n * 16 + p];
            extend_4((int16_t (*)[2])&t->b[n][r * 32], byte, 0, x->b);
        }
    }
}

/* Moves the stored elements of a sparse A to their columns. The other elements become zero. */
static void __attribute__((noinline))
expand_sparse(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct pairs *t)
{
    dot_s8_rows stored[PAIRS / 2];
    uint8_t column[M][K];

    read_sparse_columns(w, x, first, column);
    memcpy(stored, t->a, x->k / 4u * sizeof *stored);
    memset(t->a, 0, x->k / 2u * sizeof *t->a);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < x->k / 2u; k++)
            t->a[column[m][k] / 2][m][column[m][k] % 2] = stored[k / 2][m][k % 2];
}

static void multiply_integers(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool saturate)
{
    _Alignas(64) uint32_t c[N * M];
    struct pairs t;

    if (x->a_bits == 8)
        read_8(w, x, first, &t);
    else
        read_4(w, x, first, &t);
    if (x->sparse)
        expand_sparse(w, x, first, &t);
    read_c_columns(w, x, first, c);
    dot_s8_add(t.a, t.b[0], K, x->k / 2u, saturate, c);
    write_d_columns(w, x, first, c);
}

/* --- bits --- */

static void multiply_bits(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool and)
{
    unsigned char kvecs_a[M][KVEC_BYTES], kvecs_b[N][KVEC_BYTES];
    uint32_t c[M][N];

    read_kvecs(w, x, OPERAND_A, x->m, first, 4, kvecs_a);
    read_kvecs(w, x, OPERAND_B, N, first, 4, kvecs_b);
    read_c(w, x, first, c);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned n = 0; n < N; n++)
            for (unsigned k = 0; k < x->k; k += 32) {
                uint32_t a = element(kvecs_a[m], 32, k / 32), b = element(kvecs_b[n], 32, k / 32);

                c[m][n] += (uint32_t)__builtin_popcount(and ? a & b : a ^ b);
            }
    write_d(w, x, first, c);
}

MMA( s8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( s4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( b1, multiply_bits, (i->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT == 1 )
