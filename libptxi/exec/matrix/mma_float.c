/* mma.sync of floats: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", "mma.sp". All elements of a product at once
 * by num/dot_tile.h; with scales one by one. */
#include "exec/matrix/mma.h"

enum { OUT = M * N, DEPTH = PTXI_TILE_K };

/* --- with scales, one by one --- */

/* PTX ISA, "Block Scaling for mma.sync": bytes of the lanes of a quad that the selectors name; A's rows from 8 on are in the next lane. */
static void read_scales(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint8_t (*a)[4], uint8_t (*b)[4])
{
    const uint32_t *va = register_of(w, x, OPERAND_SCALE_A, 0, first, 4), *vb = register_of(w, x, OPERAND_SCALE_B, 0, first, 4);
    const uint16_t *select = x->scale_select;

    for (unsigned line = 0; line < M; line++)
        for (unsigned k = 0; k < x->scale_bytes; k++) {
            a[line][k] = (uint8_t)(va[line % 8 * 4 + (select[1] & 1) * 2 + line / 8] >> ((select[0] + k) % 4 * 8));
            if (line < N)
                b[line][k] = (uint8_t)(vb[line * 4 + (select[3] & 3)] >> ((select[2] + k) % 4 * 8));
        }
}

static void multiply_scaled(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    enum ptxi_dot_type ta = (enum ptxi_dot_type)x->a, tb = (enum ptxi_dot_type)x->b;
    uint8_t scale_a[M][4], scale_b[M][4];
    uint32_t c[M][N], room[K];
    struct codes t;

    read_codes(w, x, first, &t);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < t.stored; k++)
            t.a[m][k] = ptxi_tile_code(ta, x->a_bits, t.a[m][k]);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t.b[n][k] = ptxi_tile_code(tb, x->b_bits, t.b[n][k]);
    read_c(w, x, first, c);
    read_scales(w, x, first, scale_a, scale_b);
    for (unsigned m = 0; m < M; m++)
        for (unsigned n = 0; n < N; n++) {
            struct ptxi_dot_scales scales = { x->scale_ue4m3, (uint8_t)(t.stored / x->scale_bytes), scale_a[m], scale_b[n] };

            c[m][n] = ptxi_dot_scaled(ta, tb, t.a[m], partners(&t, x->sparse, m, n, room), t.stored, c[m][n], &scales);
        }
    write_d(w, x, first, c);
}

/* --- A and B --- */

/* Codes of A by columns and of B by columns, as the tile wants them. */
struct columns16 {
    _Alignas(64) uint16_t a[DEPTH][M], b[N][DEPTH];
};
struct columns32 {
    _Alignas(64) uint32_t a[DEPTH][M], b[N][DEPTH];
};

/* Where a product stands. Bytes as halves are taken in two parts: pairs of A's elements belong to one part, the next pair to the other. With
 * sparse A a pair is what is stored of a chunk. */
static inline unsigned position(const struct ptxi_mma *x, bool parts, unsigned k)
{
    unsigned run = x->sparse ? 4 : 2;

    return parts ? k / (2 * run) * run + k % run + (k / run % 2 ? x->k / 2 : 0) : k;
}

static inline void read_16(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct columns16 *t)
{
    for (unsigned r = 0; r < registers(x, OPERAND_A); r += 2)
        read_columns_of_a(w, x, r, first, (wide16 *)t->a[r / 2 * 8]);
    for (unsigned r = 0; r < registers(x, OPERAND_B); r += 2) {
        const row16 *from = register_of(w, x, OPERAND_B, r, first, 4), *next = r + 1 < registers(x, OPERAND_B) ? register_of(w, x, OPERAND_B, r + 1, first, 4) : from;

        for (unsigned n = 0; n < N; n++)
            *(wide16 *)&t->b[n][r * 8] = __builtin_shufflevector(from[n], next[n], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
}

static inline void read_32(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct columns32 *t)
{
    for (unsigned r = 0; r < registers(x, OPERAND_A); r += 2)
        columns_32x2(t->a[r / 2 * 4], M, register_of(w, x, OPERAND_A, r, first, 4), register_of(w, x, OPERAND_A, r + 1, first, 4));
    for (unsigned r = 0; r < registers(x, OPERAND_B); r++) {
        const uint32_t *from = register_of(w, x, OPERAND_B, r, first, 4);

        for (unsigned n = 0; n < N; n++)
            memcpy(&t->b[n][r * 4], from + n * 4, 16);
    }
    for (unsigned k = registers(x, OPERAND_B) * 4; k < 16; k += 4)
        for (unsigned n = 0; n < N; n++)
            memset(&t->b[n][k], 0, 16);
}

static inline void read_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool parts, struct columns16 *t)
{
    typedef uint8_t bytes __attribute__((vector_size(16)));

    for (unsigned r = 0; r < registers(x, OPERAND_A); r += 2) {
        wide16 pairs[8];

        read_columns_of_a(w, x, r, first, pairs);
        for (unsigned p = 0; p < 8; p++) {
            unsigned k = r * 8 + 2 * p, at = x->sparse ? k : position(x, parts, k);

            *(wide16 *)t->a[at] = pairs[p] & 0xff;
            *(wide16 *)t->a[at + 1] = pairs[p] >> 8;
        }
    }
    for (unsigned r = 0; r < registers(x, OPERAND_B); r++) {
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

/* The stored elements of A go to their columns; what is not stored is zero. */
#define EXPAND(name, columns, type)                                                                                                           \
    static void __attribute__((noinline)) name(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool parts, struct columns *from, \
                                               struct ptxi_tile *t)                                                                           \
    {                                                                                                                                         \
        type stored[DEPTH / 2][M];                                                                                                            \
        uint8_t column[M][K];                                                                                                                 \
                                                                                                                                              \
        read_metadata(w, x, first, column);                                                                                                   \
        memcpy(stored, from->a, x->k / 2u * sizeof *stored);                                                                                  \
        memset(from->a, 0, x->k * sizeof *from->a);                                                                                           \
        memset(t->stored, 0, sizeof t->stored);                                                                                               \
        for (unsigned k = 0; k < x->k / 2u; k++)                                                                                              \
            for (unsigned m = 0; m < M; m++) {                                                                                                \
                unsigned at = position(x, parts, column[m][k]);                                                                               \
                                                                                                                                              \
                from->a[at][m] = stored[k][m];                                                                                                \
                t->stored[at] |= (uint16_t)(1u << m);                                                                                         \
            }                                                                                                                                 \
    }
EXPAND(expand_16, columns16, uint16_t)
EXPAND(expand_32, columns32, uint32_t)
#undef EXPAND

/* --- elements as floats and exponents --- */

static inline __attribute__((always_inline)) void fill_16(enum ptxi_dot_type ta, enum ptxi_dot_type tb, bool as_halves, struct columns16 *from, struct ptxi_tile *t,
                                                          unsigned depth)
{
    ptxi_tile_widen(ta, as_halves, from->a[0], t->a[0], depth * M);
    for (unsigned n = 0; n < N; n++)
        ptxi_tile_widen(tb, as_halves, from->b[n], t->b[n], depth);
    t->range_a = ptxi_tile_range(ta, as_halves, from->a[0], t->below_a[0], 1, DEPTH * M, depth * M);
    t->range_b = ptxi_tile_range(tb, as_halves, from->b[0], t->below_b[0], N, DEPTH, (depth + 15) / 16 * 16);
}

static inline void fill_32(const struct columns32 *from, struct ptxi_tile *t, unsigned depth)
{
    struct columns16 codes;

    ptxi_tile_tf32(from->a[0], t->a[0], codes.a[0], depth * M);
    for (unsigned n = 0; n < N; n++)
        ptxi_tile_tf32(from->b[n], t->b[n], codes.b[n], 16);
    t->range_a = ptxi_tile_range(PTXI_DOT_tf32, false, codes.a[0], t->below_a[0], 1, DEPTH * M, depth * M);
    t->range_b = ptxi_tile_range(PTXI_DOT_tf32, false, codes.b[0], t->below_b[0], N, DEPTH, 16);
}

/* --- products --- */

/* Bytes as halves: two sums of halves, and one more addition. */
static void multiply_parts(const struct ptxi_dot_model *model, const struct ptxi_tile *t, unsigned depth, unsigned length, uint32_t *c)
{
    _Alignas(64) uint32_t sum[OUT] = { 0 };

    ptxi_tile_dot(model, t, 0, depth / 2, length, sum);
    ptxi_tile_dot(model, t, depth / 2, depth / 2, length, sum);
    if (model->rounding == PTXI_DOT_RN_F16)
        for (unsigned l = 0; l < OUT; l++)
            c[l] = ptxi_num_f16_nearest(ptxi_num_f32_from_f16_bits((uint16_t)c[l]) + ptxi_num_f32_from_f16_bits((uint16_t)sum[l]));
    else
        for (unsigned l = 0; l < OUT; l++)
            c[l] = ptxi_num_canon_f32(ptxi_num_f32(c[l]) + ptxi_num_f32(sum[l]));
}

static inline void multiply_tile(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, const struct ptxi_tile *t)
{
    _Alignas(64) uint32_t c[OUT];
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);
    unsigned length = model.chunk * (x->sparse ? 2u : 1u); /* what is not stored does not count */

    read_columns(w, x, first, c);
    for (unsigned l = 0; l < OUT && x->c_f16 && !x->d_f16; l++)
        c[l] = c_of_sum(x, c[l]);
    if (model.method == PTXI_DOT_HALVES)
        multiply_parts(&model, t, x->k, length, c);
    else
        ptxi_tile_dot(&model, t, 0, x->k, length, c);
    for (unsigned l = 0; l < OUT && x->d_f16 && !x->c_f16; l++)
        c[l] = ptxi_num_f16_from_f32(c[l], PTXI_NUM_RN);
    write_columns(w, x, first, c);
}

static inline __attribute__((always_inline)) void multiply_16(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, enum ptxi_dot_type type)
{
    struct columns16 codes;
    struct ptxi_tile t;

    read_16(w, x, first, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_16(w, x, first, false, &codes, &t);
    fill_16(type, type, false, &codes, &t, x->k);
    multiply_tile(w, x, first, &t);
}

static void multiply_8(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    bool parts = x->model[3] == PTXI_DOT_HALVES;
    struct columns16 codes;
    struct ptxi_tile t;

    read_8(w, x, first, parts, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_16(w, x, first, parts, &codes, &t);
    fill_16((enum ptxi_dot_type)x->a, (enum ptxi_dot_type)x->b, parts, &codes, &t, x->k);
    multiply_tile(w, x, first, &t);
}

static void multiply_32(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    struct columns32 codes;
    struct ptxi_tile t;

    read_32(w, x, first, &codes);
    t.sparse = x->sparse;
    if (x->sparse)
        expand_32(w, x, first, false, &codes, &t);
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
