/* mma.sync of f64, and m8n8k4 of f16. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma". */
#include "exec/matrix/mma.h"
#include "num/fma.h"

/* m8n8k4 multiplies four pairs of matrices. This is an element of one A or B, both stored as K vectors. */
static uint32_t *quad_element(uint32_t (*kvec)[4], struct ptxi_element e, bool is_b)
{
    return is_b ? &kvec[e.column][e.row] : &kvec[e.row][e.column];
}

/* Multiplies the four pairs of matrices. */
static void multiply_quads(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);
    uint32_t a[4][8][4], b[4][8][4], c[4][8][8], d[8][32] = { 0 };

    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 8; i++) {
            struct ptxi_element e = ptxi_fragment_m8n8k4_c(!x->c_f16, l, i);
            uint32_t v = ((const uint32_t *)register_of(w, x, OPERAND_C, x->c_f16 ? i / 2 : i, first, 4))[l];

            c[l / 4 % 4][e.row][e.column] = c_for_sum(x, x->c_f16 ? v >> i % 2 * 16 & 0xffff : v);
            if (i >= 4)
                continue;
            v = ((const uint32_t *)register_of(w, x, OPERAND_A, i / 2, first, 4))[l];
            *quad_element(a[l / 4 % 4], ptxi_fragment_m8n8k4_a(x->a_col, l, i), false) = v >> i % 2 * 16 & 0xffff;
            v = ((const uint32_t *)register_of(w, x, OPERAND_B, i / 2, first, 4))[l];
            *quad_element(b[l / 4 % 4], ptxi_fragment_m8n8k4_b(x->b_col, l, i), true) = v >> i % 2 * 16 & 0xffff;
        }
    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 8; i++) {
            struct ptxi_element e = ptxi_fragment_m8n8k4_c(!x->d_f16, l, i);
            unsigned q = l / 4 % 4;
            uint32_t r =
                ptxi_dot(&model, PTXI_DOT_f16, PTXI_DOT_f16, a[q][e.row], b[q][e.column], 4, c[q][e.row][e.column]);

            if (x->d_f16)
                d[i / 2][l] |= r << i % 2 * 16;
            else
                d[i][l] = r;
        }
    for (unsigned r = 0; r < register_count(x, OPERAND_D); r++)
        if (x->slots[r] != PTXI_NO_SLOT)
            memcpy(register_of(w, x, OPERAND_D, r, first, 4), d[r], sizeof d[r]);
}

static inline ptxi_tile_doubles fma_vector(ptxi_tile_doubles a, double b, ptxi_tile_doubles c,
                                           enum ptxi_num_rounding mode)
{
#if defined(__AVX512F__)
    if (mode == PTXI_NUM_RN)
        return _mm512_fmadd_pd(a, _mm512_set1_pd(b), c);
#elif defined(__FMA__)
    if (mode == PTXI_NUM_RN)
        return _mm256_fmadd_pd(a, _mm256_set1_pd(b), c);
#endif
    for (unsigned l = 0; l < sizeof a / sizeof a[0]; l++)
        c[l] = ptxi_num_fma_f64_by_integer(a[l], b, c[l], mode);
    return c;
}

/* A chain of fused multiply-adds in the order of k, for 16 rows. If a result is NaN, it may be any NaN. */
static inline void chain_f64(double (*a)[M], const double *b, unsigned k, enum ptxi_num_rounding mode, double *d)
{
    enum { VECTORS = 2 * PTXI_TILE_VECTORS };
    ptxi_tile_doubles s[VECTORS];

    memcpy(s, d, sizeof s);
    for (unsigned i = 0; i < k; i++)
        for (unsigned p = 0; p < VECTORS; p++)
            s[p] = fma_vector(((const ptxi_tile_doubles *)a[i])[p], b[i], s[p], mode);
    memcpy(d, s, sizeof s);
}

/* The NaN that is the result of such a chain. It is selected by the rules of fma. */
static double nan_of_chain(double (*a)[M], const double *b, unsigned k, unsigned m, enum ptxi_num_rounding mode,
                           double d)
{
    for (unsigned i = 0; i < k; i++) {
        double r = mode == PTXI_NUM_RN ? ptxi_num_fma_f64(a[i][m], b[i], d)
                                       : ptxi_num_fma_f64_by_integer(a[i][m], b[i], d, mode);

        d = ptxi_num_f64(
            ptxi_num_nan3_f64(r, ptxi_num_bits_f64(b[i]), ptxi_num_bits_f64(d), ptxi_num_bits_f64(a[i][m])));
    }
    return d;
}

static void multiply_f64(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first,
                         enum ptxi_num_rounding mode)
{
    unsigned char kvecs_a[M][KVEC_BYTES], kvecs_b[N][KVEC_BYTES];
    _Alignas(64) double a[16][M] = { { 0 } };
    double b[N][16], c[N][M] = { { 0 } }, d[N][M];

    read_kvecs(w, x, OPERAND_A, x->m, first, 8, kvecs_a);
    read_kvecs(w, x, OPERAND_B, N, first, 8, kvecs_b);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned k = 0; k < x->k; k++)
            memcpy(&a[k][m], kvecs_a[m] + k * sizeof(double), sizeof(double));
    for (unsigned n = 0; n < N; n++)
        memcpy(b[n], kvecs_b[n], x->k * sizeof(double));
    for (unsigned r = 0; r < register_count(x, OPERAND_C); r++)
        for (unsigned l = 0; l < 32; l++)
            c[l % 4 * 2 + r % 2][r / 2 * 8 + l / 4] = ((const double *)register_of(w, x, OPERAND_C, r, first, 8))[l];
    for (unsigned n = 0; n < N; n++) {
        memcpy(d[n], c[n], sizeof d[n]);
        chain_f64(a, b[n], x->k, mode, d[n]);
        for (unsigned m = 0; m < x->m; m++)
            if (d[n][m] != d[n][m])
                d[n][m] = nan_of_chain(a, b[n], x->k, m, mode, c[n][m]);
    }
    for (unsigned r = 0; r < register_count(x, OPERAND_D); r++)
        for (unsigned l = 0; l < 32 && x->slots[r] != PTXI_NO_SLOT; l++)
            ((double *)register_of(w, x, OPERAND_D, r, first, 8))[l] = d[l % 4 * 2 + r % 2][r / 2 * 8 + l / 4];
}

MMA( m8n8k4, multiply_quads )
MMA( f64, multiply_f64, (enum ptxi_num_rounding)((i->mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT) )
