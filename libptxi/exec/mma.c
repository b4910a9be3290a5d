/* mma.sync: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: mma", "mma.sp". Operands become matrices by the rules of
 * isa/fragment.h; a register of A or B is, of all lanes together, 8 lines of 4 lanes each, so that lines are put together by copying. */
#include "exec/engine.h"
#include "exec/level.h"
#include "isa/fragment.h"
#include "num/dot.h"
#include "num/fma.h"
#include "num/half.h"

enum { M = 16, N = 8, LINE = 128 /* most bytes of a line */, K = 128 /* most elements of more than one bit */ };
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_E, OPERAND_SCALE_A, OPERAND_SCALE_B };

static inline const struct ptxi_mma *description(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_mma *)(w->frame->code->pool + i->imm);
}

static inline unsigned registers(const struct ptxi_mma *x, unsigned operand)
{
    return x->first[operand + 1] - x->first[operand];
}

/* Register r of an operand, from the first lane of a warp of 32 on. */
static inline void *register_of(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned r, unsigned first, unsigned bytes)
{
    return (unsigned char *)PTXI_SLOT(w, x->slots[x->first[operand] + r]) + first * bytes;
}

/* --- A and B --- */

static void read_lines(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned lines, unsigned first, unsigned bytes,
                       unsigned char (*line)[LINE])
{
    for (unsigned r = 0; r < registers(x, operand); r++) {
        const unsigned char *from = register_of(w, x, operand, r, first, bytes);

        for (unsigned g = 0; g < 8; g++)
            memcpy(line[r % (lines / 8) * 8 + g] + r / (lines / 8) * 4 * bytes, from + g * 4 * bytes, 4 * bytes);
    }
}

static inline uint32_t element(const unsigned char *line, unsigned bits, unsigned k)
{
    uint32_t word;

    memcpy(&word, line + k * bits / 32 * 4, sizeof word);
    return bits == 32 ? word : word >> k * bits % 32 & ((1u << bits) - 1);
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k32": where in a container the bits of a float are. */
static inline uint32_t float_code(enum ptxi_dot_type t, unsigned bits, uint32_t x)
{
    switch (t) {
    case PTXI_DOT_tf32: return x >> 13;
    case PTXI_DOT_e2m1: return bits == 8 ? x >> 2 & 15 : x;
    case PTXI_DOT_e3m2: case PTXI_DOT_e2m3: return x & 63;
    default: return x;
    }
}

struct codes {
    uint32_t a[M][K], b[N][K];
    uint8_t column[M][K]; /* sparse: of A's stored elements */
    unsigned stored;      /* elements of a row of A */
};

/* Which columns the stored elements of A are. */
static void read_metadata(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct codes *t)
{
    const uint32_t *e = register_of(w, x, OPERAND_E, 0, first, 4);
    unsigned bits = x->a_bits, size = ptxi_sparse_chunk(bits), chunks = x->k / size;

    for (unsigned m = 0; m < M; m++)
        for (unsigned at = 0; at < t->stored; at++) {
            unsigned chunk = at / (size / 2);
            struct ptxi_place p = ptxi_sparse_place(bits, m, chunk, chunks, x->selector);

            t->column[m][at] = (uint8_t)ptxi_sparse_column(bits, at, e[p.lane] >> p.bit & 15);
        }
}

static void read_codes(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct codes *t)
{
    unsigned char a[M][LINE], b[N][LINE];

    t->stored = x->sparse ? x->k / 2u : x->k;
    read_lines(w, x, OPERAND_A, x->m, first, 4, a);
    read_lines(w, x, OPERAND_B, N, first, 4, b);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned k = 0; k < t->stored; k++)
            t->a[m][k] = element(a[m], x->a_bits, k);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t->b[n][k] = element(b[n], x->b_bits, k);
    if (x->sparse)
        read_metadata(w, x, first, t);
}

/* The elements of column n of B that meet those stored in row m of A. */
static const uint32_t *partners(const struct codes *t, bool sparse, unsigned m, unsigned n, uint32_t *room)
{
    if (!sparse)
        return t->b[n];
    for (unsigned k = 0; k < t->stored; k++)
        room[k] = t->b[n][t->column[m][k]];
    return room;
}

/* --- C and D --- */

static void read_c(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t (*c)[N])
{
    for (unsigned r = 0; r < registers(x, OPERAND_C); r++) {
        const uint32_t *from = register_of(w, x, OPERAND_C, r, first, 4);

        for (unsigned l = 0; l < 32; l++) {
            if (x->c_f16) {
                c[r * 8 + l / 4][l % 4 * 2] = from[l] & 0xffff;
                c[r * 8 + l / 4][l % 4 * 2 + 1] = from[l] >> 16;
            } else {
                c[r / 2 * 8 + l / 4][l % 4 * 2 + r % 2] = from[l];
            }
        }
    }
}

static void write_d(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t (*d)[N])
{
    for (unsigned r = 0; r < registers(x, OPERAND_D); r++) {
        uint32_t *to;

        if (x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = register_of(w, x, OPERAND_D, r, first, 4);
        for (unsigned l = 0; l < 32; l++)
            to[l] = x->d_f16 ? d[r * 8 + l / 4][l % 4 * 2] | d[r * 8 + l / 4][l % 4 * 2 + 1] << 16 : d[r / 2 * 8 + l / 4][l % 4 * 2 + r % 2];
    }
}

/* --- floats --- */

static struct ptxi_dot_model model_of(const struct ptxi_mma *x)
{
    return (struct ptxi_dot_model){ (uint8_t)x->model[0], (uint8_t)x->model[1], (uint8_t)x->model[2], (uint8_t)x->model[3], (int16_t)x->model[4] };
}

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

static uint32_t c_as_d(const struct ptxi_mma *x, uint32_t c)
{
    if (x->c_f16 && !x->d_f16)
        return ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)c));
    return c;
}

static void multiply_floats(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    enum ptxi_dot_type ta = (enum ptxi_dot_type)x->a, tb = (enum ptxi_dot_type)x->b;
    struct ptxi_dot_model model = model_of(x);
    uint32_t c[M][N], room[K];
    uint8_t scale_a[M][4], scale_b[M][4];
    struct codes t;

    read_codes(w, x, first, &t);
    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < t.stored; k++)
            t.a[m][k] = float_code(ta, x->a_bits, t.a[m][k]);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t.b[n][k] = float_code(tb, x->b_bits, t.b[n][k]);
    read_c(w, x, first, c);
    if (x->scale_bytes)
        read_scales(w, x, first, scale_a, scale_b);
    for (unsigned m = 0; m < M; m++)
        for (unsigned n = 0; n < N; n++) {
            const uint32_t *b = partners(&t, x->sparse, m, n, room);
            struct ptxi_dot_scales scales = { x->scale_ue4m3, (uint8_t)(t.stored / (x->scale_bytes ? x->scale_bytes : 1)), scale_a[m], scale_b[n] };

            c[m][n] = x->scale_bytes ? ptxi_dot_scaled(ta, tb, t.a[m], b, t.stored, c[m][n], &scales)
                                     : ptxi_dot(&model, ta, tb, t.a[m], b, t.stored, c_as_d(x, c[m][n]));
        }
    write_d(w, x, first, c);
}

/* Element (row, column) of one of the four A or B. */
static uint32_t *quad_element(uint32_t (*m)[4], struct ptxi_element e, bool columns)
{
    return columns ? &m[e.column][e.row] : &m[e.row][e.column];
}

static void multiply_quads(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first)
{
    struct ptxi_dot_model model = model_of(x);
    uint32_t a[4][8][4], b[4][8][4], c[4][8][8], d[8][32] = { 0 };

    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 8; i++) {
            struct ptxi_element e = ptxi_fragment_m8n8k4_c(!x->c_f16, l, i);
            uint32_t v = ((const uint32_t *)register_of(w, x, OPERAND_C, x->c_f16 ? i / 2 : i, first, 4))[l];

            c[l / 4 % 4][e.row][e.column] = c_as_d(x, x->c_f16 ? v >> i % 2 * 16 & 0xffff : v);
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
            uint32_t r = ptxi_dot(&model, PTXI_DOT_f16, PTXI_DOT_f16, a[q][e.row], b[q][e.column], 4, c[q][e.row][e.column]);

            d[x->d_f16 ? i / 2 : i][l] |= x->d_f16 ? r << i % 2 * 16 : r;
        }
    for (unsigned r = 0; r < registers(x, OPERAND_D); r++)
        if (x->slots[r] != PTXI_NO_SLOT)
            memcpy(register_of(w, x, OPERAND_D, r, first, 4), d[r], sizeof d[r]);
}

/* A chain of fused multiplications and additions in the order of k, NaNs as fma has them. */
static double fma_f64(double a, double b, double c, enum ptxi_num_rounding mode)
{
    double r = mode == PTXI_NUM_RN ? ptxi_num_fma_f64(a, b, c) : ptxi_num_fma_f64_by_integer(a, b, c, mode);

    return ptxi_num_f64(ptxi_num_nan3_f64(r, ptxi_num_bits_f64(b), ptxi_num_bits_f64(c), ptxi_num_bits_f64(a)));
}

static void multiply_f64(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, enum ptxi_num_rounding mode)
{
    unsigned char lines_a[M][LINE], lines_b[N][LINE];
    double a[M][16], b[N][16], d[4][32];

    read_lines(w, x, OPERAND_A, x->m, first, 8, lines_a);
    read_lines(w, x, OPERAND_B, N, first, 8, lines_b);
    for (unsigned m = 0; m < x->m; m++)
        memcpy(a[m], lines_a[m], x->k * sizeof(double));
    for (unsigned n = 0; n < N; n++)
        memcpy(b[n], lines_b[n], x->k * sizeof(double));
    for (unsigned r = 0; r < registers(x, OPERAND_C); r++) {
        const double *c = register_of(w, x, OPERAND_C, r, first, 8);

        for (unsigned l = 0; l < 32; l++) {
            d[r][l] = c[l];
            for (unsigned k = 0; k < x->k; k++)
                d[r][l] = fma_f64(a[r / 2 * 8 + l / 4][k], b[l % 4 * 2 + r % 2][k], d[r][l], mode);
        }
    }
    for (unsigned r = 0; r < registers(x, OPERAND_D); r++)
        if (x->slots[r] != PTXI_NO_SLOT)
            memcpy(register_of(w, x, OPERAND_D, r, first, 8), d[r], sizeof d[r]);
}

/* --- integers --- */

static inline int32_t integer(uint32_t code, unsigned bits, bool is_signed)
{
    return is_signed ? (int32_t)(code << (32 - bits)) >> (32 - bits) : (int32_t)code;
}

static void multiply_integers(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, bool saturate)
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

/* --- the operations --- */

#define MMA(name, multiply, ...)                                                        \
    OP( mma_##name )                                                                    \
    {                                                                                   \
        const struct ptxi_mma *x = description(w, i);                                   \
                                                                                        \
        if (w->active != w->live && ptxi_absent(w))                                     \
            return ptxi_leave_aligned(w, i);                                            \
        for (unsigned first = 0; first < PTXI_LANES; first += 32)                       \
            if (w->active & ptxi_warp32_lanes(first / 32))                              \
                multiply(w, x, first, ##__VA_ARGS__);                                   \
        NEXT;                                                                           \
    }

MMA( f16, multiply_floats )
MMA( bf16, multiply_floats )
MMA( tf32, multiply_floats )
MMA( e4m3, multiply_floats )
MMA( e5m2, multiply_floats )
MMA( e3m2, multiply_floats )
MMA( e2m3, multiply_floats )
MMA( e2m1, multiply_floats )
MMA( m8n8k4, multiply_quads )
MMA( f64, multiply_f64, (enum ptxi_num_rounding)((i->mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT) )
MMA( s8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u8, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( s4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( u4, multiply_integers, i->mods & PTXI_MOD_SATFINITE )
MMA( b1, multiply_bits, (i->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT == 1 )
