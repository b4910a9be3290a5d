/* tcgen05.mma: PTX ISA, "TensorCore 5th Generation Matrix Multiply and accumulate Operations". One thread asks for a product of matrices that are
 * in the shared and tensor memory of its CTA, or of a pair. */
#include "exec/engine/handler.h"
#include "exec/tcgen05/tcgen05.h"

enum { M = PTXI_TMEM_LANES, N = 256, MOST_SHIFT = 32, MOST_SCALES = 6, CODES = 2 * LINE_K /* of a line */ };

struct product {
    const struct ptxi_tmem_mma *x;
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    const uint64_t *value; /* of operands */
    uint32_t idesc;
    struct ptxi_cta *ctas[2];
    unsigned count;       /* of CTAs */
    unsigned rows, n;     /* of A and D in one CTA; columns of D */
    bool half;            /* 16 rows of each warp's 32 lanes are used */
    unsigned parts;       /* of the columns, which lie one below the other */
    struct lines lines;
    unsigned a_bytes;     /* of a line of A */
    unsigned scales;      /* of a line */
    bool f16, integers, accumulate;
    struct ptxi_dot_model model;
};

/* Lines of A of one CTA, and of B. */
struct operands {
    _Alignas(64) unsigned char a[M][LINE], b[N + MOST_SHIFT + LINE_UNIT][LINE];
    uint8_t column[M][LINE_K]; /* sparse: of A's stored elements */
};

static uint32_t value_32(const struct product *p, unsigned operand)
{
    return (uint32_t)p->value[operand];
}

static uint64_t value_64(const struct product *p, unsigned operand)
{
    return p->value[operand];
}

/* --- the instruction descriptor: PTX ISA, "Instruction descriptor" --- */

static bool is_scaled(const struct product *p)
{
    return p->x->scales;
}

/* The float that a field names, or PTXI_DOT_TYPES. */
static uint16_t type_of(enum ptxi_tmem_kind kind, uint32_t field)
{
    static const uint16_t bytes[8] = { PTXI_DOT_e4m3, PTXI_DOT_e5m2, PTXI_DOT_TYPES, PTXI_DOT_e2m3, PTXI_DOT_e3m2, PTXI_DOT_e2m1, PTXI_DOT_TYPES, PTXI_DOT_TYPES };

    switch (kind) {
    case PTXI_TMEM_F16: return field == 0 ? PTXI_DOT_f16 : field == 1 ? PTXI_DOT_bf16 : PTXI_DOT_TYPES;
    case PTXI_TMEM_TF32: return field == 2 ? PTXI_DOT_tf32 : PTXI_DOT_TYPES;
    case PTXI_TMEM_I8: return field < 2 ? (uint16_t)field : PTXI_DOT_TYPES;
    case PTXI_TMEM_MXF4: return field == 1 ? PTXI_DOT_e2m1 : PTXI_DOT_TYPES;
    default: return bytes[field];
    }
}

/* PTX ISA, "Matrix Shape", "Data Path Layout Organization". */
static bool find_layout(struct product *p, unsigned m)
{
    bool pair = p->x->pair, ws = p->x->ws;

    p->rows = m / p->count;
    p->parts = ws ? M / (m ? m : 1) : pair && m == 128 && !p->x->sparse ? 2 : 1;
    p->half = p->rows == 64 && p->parts == 1;
    if (ws)
        return (m == 32 || m == 64 || m == 128) && (p->n == 64 || p->n == 128 || p->n == 256);
    if (is_scaled(p) && !pair)
        return m == 128 && p->n >= 8 && p->n <= N;
    return (m == (pair ? 128 : 64) || m == (pair ? 256 : 128)) && p->n >= 8 * p->count && p->n <= N && p->n % (8 * p->count) == 0;
}

static bool read_descriptor(struct product *p)
{
    enum ptxi_tmem_kind kind = (enum ptxi_tmem_kind)p->x->kind;
    uint32_t d = p->idesc, result = d >> 4 & 3;
    unsigned m = is_scaled(p) ? (d >> 27 & 3) << 7 : (d >> 24 & 31) << 4;

    p->n = (d >> 17 & 63) << 3;
    p->lines.bits = kind == PTXI_TMEM_TF32 ? 32 : kind == PTXI_TMEM_F16 ? 16 : kind == PTXI_TMEM_MXF4 ? 4 : 8;
    p->lines.sparse = p->x->sparse;
    p->a_bytes = kind == PTXI_TMEM_MXF4 && d >> 31 ? 48 : 32;
    p->scales = p->x->scales * p->a_bytes / 32;
    p->lines.k = p->a_bytes * 8 / p->lines.bits * (p->lines.sparse ? 2 : 1);
    p->lines.a = type_of(kind, d >> 7 & 7);
    p->lines.b = type_of(kind, d >> 10 & (kind == PTXI_TMEM_MXF4 ? 3 : 7));
    p->integers = kind == PTXI_TMEM_I8;
    p->f16 = !is_scaled(p) && !p->integers && result == 0;
    if (p->lines.a == PTXI_DOT_TYPES || p->lines.b == PTXI_DOT_TYPES || (d >> 2 & 1) != p->lines.sparse || (p->a_bytes == 48 && p->lines.sparse) ||
        (!is_scaled(p) && result != (p->integers ? 2 : !p->f16)) || (kind == PTXI_TMEM_TF32 && p->f16) || !find_layout(p, m)) {
        ptxi_tmem_misuse(p->w, p->i, "the instruction descriptor names a shape or types that the instruction does not have");
        return false;
    }
    if (!p->integers)
        p->model = ptxi_dot_find(p->x->sm, PTXI_DOT_ASYNC, (enum ptxi_dot_type)p->lines.a, p->f16);
    return true;
}

/* --- operands --- */

/* The lane of a row of A, D or the metadata of A. */
static inline unsigned lane_of(const struct product *p, uint32_t address, unsigned row)
{
    return (ptxi_tmem_lane(address) & (M - 1)) + (p->half ? row / 16 * 32 + row % 16 : row);
}

/* An address from which the rows go down, `columns` columns wide. */
static bool check_rows(const struct product *p, const struct ptxi_tmem *t, uint32_t address, uint32_t columns)
{
    unsigned lane = ptxi_tmem_lane(address);

    if (lane != 0 && !(p->half && lane == 16)) {
        ptxi_tmem_misuse(p->w, p->i, "a matrix does not begin in lane 0 of tensor memory, or 16 where half of the lanes is used");
        return false;
    }
    return ptxi_tmem_check(p->w, p->i, t, ptxi_tmem_column(address), columns);
}

/* Bits of elements of which 16 lie in 16 bytes of shared memory. */
static unsigned packed_bits(const struct product *p, uint16_t type)
{
    if (p->lines.bits != 8 || p->integers)
        return 0;
    return type == PTXI_DOT_e2m1 ? 4 : type == PTXI_DOT_e3m2 || type == PTXI_DOT_e2m3 ? 6 : 0;
}

static void negate(const struct product *p, uint16_t type, unsigned char (*line)[LINE], unsigned count)
{
    lines_negate(p->lines.bits, packed_bits(p, type) ? 0x20 : 1u << (p->lines.bits - 1), line, count);
}

/* PTX ISA, "Restrictions on the Leading Dimension Absolute Address Stride". */
static bool check_matrix(const struct product *p, const struct shared_matrix *m)
{
    if (!m->absolute || (m->width == 128 && m->granule == LINE_UNIT && !m->turned && !m->base))
        return true;
    ptxi_tmem_misuse(p->w, p->i, "a leading dimension as an absolute address needs 128-byte swizzling, K major order and no base offset");
    return false;
}

/* With .ashift each row is the one below, but the last. */
static bool read_a(const struct product *p, unsigned cta, struct operands *t)
{
    struct ptxi_tmem *tmem = p->ctas[cta]->tmem;
    uint32_t address;

    if (!p->x->a_in_tmem) {
        struct shared_matrix m = tcgen05_matrix(p->ctas[cta], value_64(p, PTXI_TMEM_MMA_A), p->idesc >> 15 & 1, packed_bits(p, p->lines.a));

        return check_matrix(p, &m) && read_lines(p->w, p->i, &m, 0, p->rows, p->a_bytes, p->lines.bits < 8 ? 1 : p->lines.bits / 8, t->a);
    }
    address = value_32(p, PTXI_TMEM_MMA_A);
    if (!check_rows(p, tmem, address, p->a_bytes / 4))
        return false;
    for (unsigned m = 0; m < p->rows; m++)
        for (unsigned k = 0; k < p->a_bytes / 4; k++)
            memcpy(t->a[m] + 4 * k, &tmem->cell[ptxi_tmem_column(address) + k][lane_of(p, address, p->x->shifted && m + 1 < p->rows ? m + 1 : m)], 4);
    return true;
}

/* PTX ISA, "Sparsity selector": of elements of two bytes and more 16 lanes hold 16 rows, each half of the columns of two rows. */
static bool read_metadata(const struct product *p, unsigned cta, struct operands *t)
{
    const struct ptxi_tmem *tmem = p->ctas[cta]->tmem;
    uint32_t address = value_32(p, PTXI_TMEM_MMA_META), first = ptxi_tmem_column(address) + (p->lines.bits >= 16 ? p->idesc & 3 : 0);
    unsigned size = ptxi_sparse_chunk(p->lines.bits);

    if (!check_rows(p, tmem, address, 1) || !ptxi_tmem_check(p->w, p->i, tmem, first, p->lines.bits >= 16 ? 1 : 2))
        return false;
    for (unsigned m = 0; m < p->rows; m++)
        for (unsigned at = 0; at < lines_stored(&p->lines); at++) {
            unsigned chunk = at / (size / 2), bit;
            uint32_t word;

            if (p->lines.bits >= 16) {
                word = tmem->cell[first][lane_of(p, address, m & ~15u) + m % 8 + chunk / 4 * 8];
                bit = m / 8 % 2 * 16 + chunk % 4 * 4;
            } else {
                word = tmem->cell[first + chunk / 8][lane_of(p, address, m)];
                bit = chunk % 8 * 4;
            }
            t->column[m][at] = (uint8_t)ptxi_sparse_column(p->lines.bits, at, word >> bit & 15);
        }
    return true;
}

/* PTX ISA, "Zero-Column Mask Descriptor": runs of columns that are used and of columns that are zero take turns, in each part of the columns. */
static void clear_columns(const struct product *p, uint64_t mask, unsigned char (*line)[LINE])
{
    unsigned zeros = (unsigned)(mask >> 40 & 255) + 1, used = (unsigned)(mask >> 48 & 255) + 1, part = p->n / p->parts;

    for (unsigned n = 0; n < p->n && mask >> 39 & 1; n++) {
        unsigned s = n / part, at = n % part + (unsigned)(mask >> 8 * s & 255);
        bool from = mask >> (32 + s) & 1;

        if (from ? at % (zeros + used) < zeros : at % (zeros + used) >= used)
            memset(line[n], 0, LINE);
    }
}

/* Each CTA of a pair has half of the columns. The result is where the first one lies. */
static unsigned char (*read_b(const struct product *p, struct operands *t))[LINE]
{
    unsigned count = p->n / p->count, size = p->lines.bits < 8 ? 1 : p->lines.bits / 8, per = LINE_UNIT / size, shift = 0;
    bool turned = p->idesc >> 16 & 1;
    uint64_t mask = 0;

    if (p->x->slots[PTXI_TMEM_MMA_ZERO_MASK] != PTXI_NO_SLOT) {
        mask = value_64(p, PTXI_TMEM_MMA_ZERO_MASK);
        shift = (unsigned)(mask >> 56 & 63);
        shift = shift < MOST_SHIFT ? shift : MOST_SHIFT;
    }
    for (unsigned c = 0; c < p->count; c++) {
        struct shared_matrix m = tcgen05_matrix(p->ctas[c], value_64(p, PTXI_TMEM_MMA_B), turned, packed_bits(p, p->lines.b));
        unsigned all = count + shift;

        if (!check_matrix(p, &m) || !read_lines(p->w, p->i, &m, 0, turned ? (all + per - 1) / per * per : all, p->lines.k * p->lines.bits / 8, size, t->b + c * count))
            return NULL;
    }
    clear_columns(p, mask, t->b + shift);
    if (p->idesc >> 14 & 1 && !p->integers)
        negate(p, p->lines.b, t->b, p->n + shift);
    return t->b + shift;
}

/* --- D --- */

/* 16 rows from `row` on of column n. */
static inline uint32_t *cells_of_d(const struct product *p, unsigned cta, uint32_t address, unsigned row, unsigned n)
{
    unsigned width = p->n / p->parts;

    return &p->ctas[cta]->tmem->cell[ptxi_tmem_column(address) + n % width][lane_of(p, address, row) + n / width * (M / p->parts)];
}

/* D as it goes into the sum: scale-input-d. */
static uint32_t scaled_down(const struct product *p, uint32_t d)
{
    float by = ptxi_num_f32((uint32_t)(127 - p->x->scale_d) << 23);

    if (!p->x->scale_d)
        return d;
    if (p->f16)
        return ptxi_num_f16_nearest(ptxi_num_f32_from_f16_bits((uint16_t)d) * by);
    return ptxi_num_canon_f32(ptxi_num_f32(d) * by);
}

static void read_d(const struct product *p, unsigned cta, uint32_t address, unsigned row, unsigned n, uint32_t *c)
{
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        uint32_t d = cells_of_d(p, cta, address, row, n + l / LINE_ROWS)[l % LINE_ROWS];

        c[l] = !p->accumulate ? 0 : scaled_down(p, p->f16 ? d & 0xffff : d);
    }
}

static void write_d(const struct product *p, unsigned cta, uint32_t address, unsigned row, unsigned n, const uint32_t *c)
{
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        uint32_t *to = cells_of_d(p, cta, address, row, n + l / LINE_ROWS) + l % LINE_ROWS;
        unsigned lane = (unsigned)(to - p->ctas[cta]->tmem->cell[0]) % M;

        if (p->x->disabled && value_32(p, PTXI_TMEM_MMA_DISABLED + cta * 4 + lane / 32) >> lane % 32 & 1)
            continue;
        *to = c[l];
    }
}

/* --- products with scales: PTX ISA, "Block Scaling" --- */

/* Rows of 32 lanes of tensor memory, as often as there are lanes, hold the scales of as many rows of A or columns of B. Those that do not fit into
 * a word go on in the next word of the same lane, which is behind the words of all rows; of them there are 128 or a multiple. */
static unsigned columns_of_scales(const struct product *p, unsigned operand)
{
    return operand == PTXI_TMEM_MMA_SCALE_A ? M / 32 : (p->n + M - 1) / M * M / p->parts / 32;
}

static void read_scales(const struct product *p, unsigned cta, unsigned operand, unsigned id, unsigned line, uint8_t *scale)
{
    const struct ptxi_tmem *t = p->ctas[cta]->tmem;
    uint32_t column = ptxi_tmem_column(value_32(p, operand));
    unsigned part = operand == PTXI_TMEM_MMA_SCALE_B && p->parts == 2 ? p->n / 2 : N, at = line % part;

    for (unsigned k = 0; k < p->scales; k++) {
        uint32_t word = t->cell[(column + at / 32 + (id + k) / 4 * columns_of_scales(p, operand)) % PTXI_TMEM_COLUMNS][line / part * 64 + at % 32];

        scale[k] = (uint8_t)(word >> (id + k) % 4 * 8);
    }
}

static bool check_scales(const struct product *p, unsigned cta)
{
    static const unsigned operands[] = { PTXI_TMEM_MMA_SCALE_A, PTXI_TMEM_MMA_SCALE_B };
    const struct ptxi_tmem *t = p->ctas[cta]->tmem;
    unsigned ids[] = { p->idesc >> 29 & 3, p->idesc >> 4 & 3 }, used[] = { (p->rows + 31) / 32, (p->n / p->parts + 31) / 32 };

    for (unsigned k = 0; k < 2; k++)
        if (!ptxi_tmem_check(p->w, p->i, t, ptxi_tmem_column(value_32(p, operands[k])),
                             (ids[k] + p->scales - 1) / 4 * columns_of_scales(p, operands[k]) + used[k]))
            return false;
    return true;
}

static void add_scaled(const struct product *p, unsigned cta, struct operands *t, unsigned row, unsigned n, unsigned char (*line_b)[LINE], uint32_t *c)
{
    const unsigned stored = lines_stored(&p->lines);
    bool ue4m3 = p->x->kind == PTXI_TMEM_MXF4 && !(p->idesc >> 23 & 1);
    uint32_t a[CODES], b[PTXI_TILE_N][CODES], chosen[CODES];
    uint8_t scale_a[MOST_SCALES], scale_b[PTXI_TILE_N][MOST_SCALES];

    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        lines_codes(p->lines.b, p->lines.bits, line_b[n + l], p->lines.k, b[l]);
        read_scales(p, cta, PTXI_TMEM_MMA_SCALE_B, p->idesc >> 4 & 3, n + l, scale_b[l]);
    }
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        unsigned m = row + l / PTXI_TILE_N, q = l % PTXI_TILE_N;
        struct ptxi_dot_scales scales = { ue4m3, (uint8_t)(stored / p->scales), scale_a, scale_b[q] };
        uint32_t *d = &c[q * LINE_ROWS + l / PTXI_TILE_N];

        if (!q) {
            lines_codes(p->lines.a, p->lines.bits, t->a[m], stored, a);
            read_scales(p, cta, PTXI_TMEM_MMA_SCALE_A, p->idesc >> 29 & 3, m, scale_a);
        }
        for (unsigned k = 0; k < stored; k++)
            chosen[k] = b[q][p->lines.sparse ? t->column[m][k] : k];
        *d = ptxi_dot_scaled((enum ptxi_dot_type)p->lines.a, (enum ptxi_dot_type)p->lines.b, a, chosen, stored, *d, &scales);
    }
}

/* --- the whole --- */

static void multiply_rows(const struct product *p, unsigned cta, struct operands *t, unsigned row, unsigned char (*line_b)[LINE])
{
    uint32_t address = value_32(p, PTXI_TMEM_MMA_D);
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    struct ptxi_tile tile;
    _Alignas(64) pair_rows integers[LINE_K / 2];

    if (p->integers)
        lines_integers(&p->lines, t->a + row, t->column + row, integers);
    else if (!is_scaled(p))
        lines_fill_a(&p->lines, t->a + row, t->column + row, &tile);
    for (unsigned n = 0; n < p->n; n += PTXI_TILE_N) {
        read_d(p, cta, address, row, n, c);
        if (p->integers) {
            lines_add_integers(&p->lines, integers, line_b + n, p->idesc >> 3 & 1, c);
        } else if (is_scaled(p)) {
            add_scaled(p, cta, t, row, n, line_b, c);
        } else {
            lines_fill_b(&p->lines, line_b + n, &tile);
            lines_add(&p->lines, &p->model, &tile, c);
        }
        write_d(p, cta, address, row, n, c);
    }
}

/* What it needs, and with `writes` what it does. */
static bool multiply(struct product *p, bool writes)
{
    struct operands t;
    unsigned char (*line_b)[LINE];

    p->count = ptxi_tmem_ctas(p->w, p->i, p->x->pair, p->ctas);
    for (unsigned c = 0; c < p->count; c++)
        if (!ptxi_tmem_of(p->w, p->i, p->ctas[c]))
            return false;
    if (!p->count || !read_descriptor(p) || !(line_b = read_b(p, &t)))
        return false;
    for (unsigned c = 0; c < p->count; c++) {
        if (!check_rows(p, p->ctas[c]->tmem, value_32(p, PTXI_TMEM_MMA_D), p->n / p->parts) || !read_a(p, c, &t) ||
            (p->lines.sparse && !read_metadata(p, c, &t)) || (is_scaled(p) && !check_scales(p, c)))
            return false;
        if (p->idesc >> 13 & 1 && !p->integers)
            negate(p, p->lines.a, t.a, p->rows);
        for (unsigned row = 0; row < p->rows && writes; row += LINE_ROWS)
            multiply_rows(p, c, &t, row, line_b);
    }
    return true;
}

static bool multiply_job(struct ptxi_tmem_job *j, bool writes)
{
    struct product p = { .x = j->form, .w = j->warp, .i = j->insn, .value = j->value, .idesc = (uint32_t)j->value[PTXI_TMEM_MMA_IDESC],
                         .accumulate = j->accumulate };

    return multiply(&p, writes);
}

static void multiply_later(struct ptxi_tmem_job *j)
{
    multiply_job(j, true);
}

static bool is_wide(const struct ptxi_tmem_mma *x, unsigned operand)
{
    return operand == PTXI_TMEM_MMA_B || operand == PTXI_TMEM_MMA_ZERO_MASK || (operand == PTXI_TMEM_MMA_A && !x->a_in_tmem);
}

OP( tcgen05_mma )
{
    const struct ptxi_tmem_mma *x = (const struct ptxi_tmem_mma *)(w->frame->code->pool + i->imm);
    ptxi_lanes enabled = ptxi_pred(w, x->slots[PTXI_TMEM_MMA_ENABLE_D]) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_MEMORY);

        if (!j)
            return w->stop;
        j->perform = multiply_later;
        j->form = x;
        j->accumulate = enabled >> l & 1;
        for (unsigned k = 0; k < (unsigned)PTXI_TMEM_MMA_DISABLED + x->disabled; k++)
            if (x->slots[k] != PTXI_NO_SLOT && k != PTXI_TMEM_MMA_ENABLE_D)
                j->value[k] = is_wide(x, k) ? ((const uint64_t *)PTXI_SLOT(w, x->slots[k]))[l] : ((const uint32_t *)PTXI_SLOT(w, x->slots[k]))[l];
        if (!multiply_job(j, false)) {
            ptxi_tmem_undo(w);
            return w->stop;
        }
    }
    NEXT;
}
