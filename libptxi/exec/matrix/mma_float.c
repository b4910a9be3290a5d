/* mma.sync of floats. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", "mma.sp". num/dot_tile_inl.h
 * computes all elements of a product at once. Products with block scaling are computed element by element. */
#include "exec/matrix/mma.h"

enum { OUT = M * N, DEPTH = PTXI_TILE_K };

/* --- block scaling --- */

/* The value of a selector. ptxas accepts registers, too, and all lanes must have the same value. The code that ptxas
 * makes ignores the bits that the selector does not have: of a byte those below the number of scales. */
static unsigned selector(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned which, unsigned first)
{
    unsigned v = x->scale_select[which];

    if (x->selects_by_register >> which & 1)
        v = ((const uint16_t *)PTXI_SLOT(w, x->slots[v]))[first];
    return v & (which % 2 ? 3 : 4 - x->scale_bytes);
}

/* PTX ISA, "Block Scaling for mma.sync". The selectors name a byte, and a lane of each group of four lanes. Scales of
 * rows 8 to 15 of A are in the next lane. */
static void read_scales(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint8_t (*a)[4],
                        uint8_t (*b)[4])
{
    const uint32_t *va = register_of(w, x, OPERAND_SCALE_A, 0, first, 4),
                   *vb = register_of(w, x, OPERAND_SCALE_B, 0, first, 4);
    unsigned select[4];

    for (unsigned k = 0; k < 4; k++)
        select[k] = selector(w, x, k, first);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < x->scale_bytes; k++)
            a[m][k] = (uint8_t)(va[m % 8 * 4 + select[1] % 2 * 2 + m / 8] >> (select[0] + k) * 8);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->scale_bytes; k++)
            b[n][k] = (uint8_t)(vb[n * 4 + select[3]] >> (select[2] + k) * 8);
}

static void multiply_scaled(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    enum ptxi_dot_type ta = (enum ptxi_dot_type)x->a, tb = (enum ptxi_dot_type)x->b;
    uint8_t scale_a[M][4], scale_b[M][4];
    uint32_t c[M][N], buffer[K];
    struct mma_codes t;

    read_codes(w, x, first, &t);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < t.stored; k++)
            t.a[m][k] = ptxi_mma_element_code(ta, x->a_bits, t.a[m][k]);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t.b[n][k] = ptxi_mma_element_code(tb, x->b_bits, t.b[n][k]);
    read_c(w, x, first, c);
    read_scales(w, x, first, scale_a, scale_b);
    for (unsigned m = 0; m < M; m++)
        for (unsigned n = 0; n < N; n++) {
            struct ptxi_dot_scales scales = { (enum ptxi_dot_scale_type)x->scale_type,
                                              (uint8_t)(t.stored / x->scale_bytes), scale_a[m], scale_b[n] };

            c[m][n] =
                ptxi_dot_scaled(ta, tb, t.a[m], matching_b(&t, x->sparse, m, n, buffer), t.stored, c[m][n], &scales);
        }
    write_d(w, x, first, c);
}

/* --- A and B --- */

/* Codes of A, a[column][row], and of B, b[column][row], in the order of a tile. */
struct codes_16 {
    _Alignas(64) uint16_t a[DEPTH][M], b[N][DEPTH];
};
struct codes_32 {
    _Alignas(64) uint32_t a[DEPTH][M], b[N][DEPTH];
};

/* The position in the tile of element k of a K vector. Bytes that are multiplied as f16 are added up in two parts:
 * pairs of elements belong to the parts in turn. If A is sparse, the stored elements of a chunk are a pair. */
static inline unsigned tile_position(const struct ptxi_mma *x, bool parts, unsigned k)
{
    unsigned run = x->sparse ? 4 : 2;

    if (!parts)
        return k;
    return k / (2 * run) * run + k % run + (k / run % 2 ? x->k / 2 : 0);
}

static inline void read_16(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct codes_16 *t)
{
    for (unsigned r = 0; r < register_count(x, OPERAND_A); r += 2)
        read_columns_of_a(w, x, r, first, (wide16 *)t->a[r / 2 * 8]);
    for (unsigned r = 0; r < register_count(x, OPERAND_B); r += 2) {
        const row16 *from = register_of(w, x, OPERAND_B, r, first, 4), *next = from;

        if (r + 1 < register_count(x, OPERAND_B))
            next = register_of(w, x, OPERAND_B, r + 1, first, 4);
        for (unsigned n = 0; n < N; n++)
            *(wide16 *)&t->b[n][r * 8] =
                __builtin_shufflevector(from[n], next[n], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
}

static inline void read_32(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct codes_32 *t)
{
    for (unsigned r = 0; r < register_count(x, OPERAND_A); r += 2)
        columns_32x2(t->a[r / 2 * 4], M, register_of(w, x, OPERAND_A, r, first, 4),
                     register_of(w, x, OPERAND_A, r + 1, first, 4));
    for (unsigned r = 0; r < register_count(x, OPERAND_B); r++) {
        const uint32_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++)
            memcpy(&t->b[n][r * 4], from + n * 4, 16);
    }
    for (unsigned k = register_count(x, OPERAND_B) * 4; k < 16; k += 4)
        for (unsigned n = 0; n < N; n++)
            memset(&t->b[n][k], 0, 16);
}

static inline void read_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool parts,
                          struct codes_16 *t)
{
    typedef uint8_t bytes __attribute__((vector_size(16)));

    for (unsigned r = 0; r < register_count(x, OPERAND_A); r += 2) {
        wide16 pairs[8];

        read_columns_of_a(w, x, r, first, pairs);
        for (unsigned p = 0; p < 8; p++) {
            unsigned k = r * 8 + 2 * p, at = x->sparse ? k : tile_position(x, parts, k);

            *(wide16 *)t->a[at] = pairs[p] & 0xff;
            *(wide16 *)t->a[at + 1] = pairs[p] >> 8;
        }
    }
    for (unsigned r = 0; r < register_count(x, OPERAND_B); r++) {
        const bytes *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++) {
            wide16 k = __builtin_convertvector(from[n], wide16);
            row16 *one = (row16 *)&t->b[n][r * 8], *other = (row16 *)&t->b[n][x->k / 2 + r * 8];

            if (!parts) {
                *(wide16 *)&t->b[n][r * 16] = k;
            } else if (x->sparse) {
                *one = __builtin_shufflevector(k, k, 0, 1, 2, 3, 8, 9, 10, 11);
                *other = __builtin_shufflevector(k, k, 4, 5, 6, 7, 12, 13, 14, 15);
            } else {
                *one = __builtin_shufflevector(k, k, 0, 1, 4, 5, 8, 9, 12, 13);
                *other = __builtin_shufflevector(k, k, 2, 3, 6, 7, 10, 11, 14, 15);
            }
        }
    }
}

#define NAME expand_sparse_16
#define CODES struct codes_16
#define TYPE uint16_t
#include "exec/matrix/expand_sparse_inl.h"
#define NAME expand_sparse_32
#define CODES struct codes_32
#define TYPE uint32_t
#include "exec/matrix/expand_sparse_inl.h"

/* --- elements as floats and exponents --- */

static inline __attribute__((always_inline)) void fill_16(enum ptxi_dot_type ta, enum ptxi_dot_type tb, bool as_f16,
                                                          struct codes_16 *from, struct ptxi_tile *t, unsigned depth)
{
    ptxi_mma_widen(ta, as_f16, from->a[0], t->a[0], depth * M);
    for (unsigned n = 0; n < N; n++)
        ptxi_mma_widen(tb, as_f16, from->b[n], t->b[n], depth);
    t->range_a = ptxi_mma_exponent_range(ta, as_f16, from->a[0], t->below_a[0], 1, DEPTH * M, depth * M);
    t->range_b = ptxi_mma_exponent_range(tb, as_f16, from->b[0], t->below_b[0], N, DEPTH, (depth + 15) / 16 * 16);
}

static inline void fill_32(const struct codes_32 *from, struct ptxi_tile *t, unsigned depth)
{
    struct codes_16 codes;

    ptxi_tile_tf32(from->a[0], t->a[0], codes.a[0], depth * M);
    for (unsigned n = 0; n < N; n++)
        ptxi_tile_tf32(from->b[n], t->b[n], codes.b[n], 16);
    t->range_a = ptxi_mma_exponent_range(PTXI_DOT_tf32, false, codes.a[0], t->below_a[0], 1, DEPTH * M, depth * M);
    t->range_b = ptxi_mma_exponent_range(PTXI_DOT_tf32, false, codes.b[0], t->below_b[0], N, DEPTH, 16);
}

/* --- products --- */

/* Bytes that are multiplied as f16: two sums, which are then added. */
static void multiply_parts(const struct ptxi_dot_model *model, const struct ptxi_tile *t, unsigned depth,
                           unsigned length, uint32_t *c)
{
    _Alignas(64) uint32_t sum[OUT] = { 0 };

    ptxi_tile_dot(model, t, 0, depth / 2, length, sum);
    ptxi_tile_dot(model, t, depth / 2, depth / 2, length, sum);
    if (model->rounding == PTXI_DOT_RN_F16)
        for (unsigned l = 0; l < OUT; l++)
            c[l] = ptxi_num_f16_nearest(ptxi_num_f32_from_f16_bits((uint16_t)c[l]) +
                                        ptxi_num_f32_from_f16_bits((uint16_t)sum[l]));
    else
        for (unsigned l = 0; l < OUT; l++)
            c[l] = ptxi_num_canon_f32(ptxi_num_f32(c[l]) + ptxi_num_f32(sum[l]));
}

static inline void multiply_tile(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first,
                                 const struct ptxi_tile *t)
{
    _Alignas(64) uint32_t c[OUT];
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);
    unsigned length = model.chunk * (x->sparse ? 2u : 1u); /* elements that are not stored do not count */

    read_c_columns(w, x, first, c);
    for (unsigned l = 0; l < OUT && x->c_f16 && !x->d_f16; l++)
        c[l] = c_for_sum(x, c[l]);
    if (model.method == PTXI_DOT_HALVES)
        multiply_parts(&model, t, x->k, length, c);
    else
        ptxi_tile_dot(&model, t, 0, x->k, length, c);
    for (unsigned l = 0; l < OUT && x->d_f16 && !x->c_f16; l++)
        c[l] = ptxi_num_f16_from_f32(c[l], PTXI_NUM_RN);
    write_d_columns(w, x, first, c);
}

static inline __attribute__((always_inline)) void multiply_16(const struct ptxi_warp *w, const struct ptxi_mma *x,
                                                              unsigned first, enum ptxi_dot_type type)
{
    struct codes_16 codes;
    struct ptxi_tile t;

    read_16(w, x, first, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_sparse_16(w, x, first, false, &codes, &t);
    fill_16(type, type, false, &codes, &t, x->k);
    multiply_tile(w, x, first, &t);
}

static void multiply_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    bool parts = x->model[3] == PTXI_DOT_HALVES;
    struct codes_16 codes;
    struct ptxi_tile t;

    read_8(w, x, first, parts, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_sparse_16(w, x, first, parts, &codes, &t);
    fill_16((enum ptxi_dot_type)x->a, (enum ptxi_dot_type)x->b, parts, &codes, &t, x->k);
    multiply_tile(w, x, first, &t);
}

static void multiply_32(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    struct codes_32 codes;
    struct ptxi_tile t;

    read_32(w, x, first, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_sparse_32(w, x, first, false, &codes, &t);
    fill_32(&codes, &t, x->k);
    multiply_tile(w, x, first, &t);
}

static void multiply_bytes(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    (x->scale_bytes ? multiply_scaled : multiply_8)(w, x, first);
}

MMA( f16, multiply_16, PTXI_DOT_f16 )
MMA( bf16, multiply_16, PTXI_DOT_bf16 )
MMA( tf32, multiply_32 )
MMA( e4m3, multiply_bytes )
MMA( e5m2, multiply_bytes )
MMA( e3m2, multiply_bytes )
MMA( e2m3, multiply_bytes )
MMA( e2m1, multiply_bytes )
