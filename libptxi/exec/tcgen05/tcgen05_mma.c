/* tcgen05.mma. PTX ISA, "TensorCore 5th Generation Matrix Multiply and accumulate Operations". One thread multiplies
 * matrices in the shared and tensor memory of its CTA, or of a pair of CTAs. */
#include "exec/engine/handler.h"
#include "exec/matrix/operand_check.h"
#include "exec/tcgen05/tcgen05_descriptor.h"
#include "exec/tcgen05/tmem.h"
#include "exec/tcgen05/tmem_check.h"
#include "exec/tcgen05/tmem_queue.h"

enum {
    M = PTXI_TMEM_LANES,
    MAX_N = 256,
    MAX_SHIFT = 32,             /* column shift of a zero-column mask */
    MAX_SCALES = 6,             /* of a K vector */
    MAX_CODES = 2 * KVEC_MAX_K  /* elements of a K vector */
};

struct product {
    const struct ptxi_tmem_mma *x;
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    unsigned lane;          /* of the thread */
    const uint64_t *value;  /* of the operands, PTXI_TMEM_MMA_... */
    uint32_t idesc;         /* instruction descriptor */
    struct ptxi_cta *ctas[2];
    unsigned count;         /* number of CTAs */
    unsigned rows;          /* of A and D in one CTA */
    unsigned n;             /* columns of D */
    bool half;              /* only 16 of each warp's 32 lanes hold rows of D */
    unsigned parts;         /* number of parts of the columns of D; each part has its own lanes */
    struct operand_format format;
    unsigned a_bytes;       /* size of a row of A */
    unsigned scales;        /* number of scales of a K vector */
    bool checked;           /* the race checker is told what is read from shared memory */
    bool f16;               /* D is f16 */
    bool integers, accumulate;
    struct ptxi_dot_model model;
};

/* A of one CTA, and B. */
struct operands {
    _Alignas(64) unsigned char a[M][KVEC_BYTES], b[MAX_N + MAX_SHIFT + UNIT_BYTES][KVEC_BYTES];
    uint8_t column[M][KVEC_MAX_K]; /* sparse: columns of A's stored elements */
};

/* The values of operands of 32 and 64 bits. */
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

/* The type that a field names, or PTXI_DOT_TYPES. Of integers, whether they are signed. */
static uint16_t type_of(enum ptxi_tmem_kind kind, uint32_t field)
{
    enum { NONE = PTXI_DOT_TYPES };
    static const uint16_t f16[8] = { PTXI_DOT_f16, PTXI_DOT_bf16, NONE, NONE, NONE, NONE, NONE, NONE };
    static const uint16_t bytes[8] = { PTXI_DOT_e4m3, PTXI_DOT_e5m2, NONE, PTXI_DOT_e2m3,
                                       PTXI_DOT_e3m2, PTXI_DOT_e2m1, NONE, NONE };

    assert(field < 8);
    switch (kind) {
    case PTXI_TMEM_F16: return f16[field];
    case PTXI_TMEM_TF32: return field == 2 ? PTXI_DOT_tf32 : NONE;
    case PTXI_TMEM_I8: return field < 2 ? (uint16_t)field : NONE;
    case PTXI_TMEM_TI16: return field == 3 ? field : NONE;
    case PTXI_TMEM_MXF4: return field == 1 ? PTXI_DOT_e2m1 : NONE;
    default: return bytes[field];
    }
}

static unsigned element_bits(enum ptxi_tmem_kind kind)
{
    switch (kind) {
    case PTXI_TMEM_TF32: return 32;
    case PTXI_TMEM_F16: case PTXI_TMEM_TI16: return 16;
    case PTXI_TMEM_MXF4: return 4;
    default: return 8;
    }
}

/* Sets how D is arranged in tensor memory. False: there is no such shape. PTX ISA, "Matrix Shape", "Data Path Layout
 * Organization". */
static bool find_layout(struct product *p, unsigned m)
{
    bool pair = p->x->pair, ws = p->x->ws;
    /* ti16: more than 64 rows have twice as many columns at least */
    unsigned step = 8 * p->count * (p->x->kind == PTXI_TMEM_TI16 && (pair || m == 128) ? 2 : 1);

    p->rows = m / p->count;
    if (ws)
        p->parts = M / (m ? m : 1);
    else
        p->parts = pair && m == 128 && !p->x->sparse ? 2 : 1;
    p->half = p->rows == 64 && p->parts == 1;
    if (ws)
        return (m == 32 || m == 64 || m == 128) && (p->n == 64 || p->n == 128 || p->n == 256);
    if (is_scaled(p) && !pair)
        return m == 128 && p->n >= 8 && p->n <= MAX_N;
    return (p->rows == 64 || p->rows == 128) && m % p->count == 0 && p->n >= step && p->n <= MAX_N &&
           p->n % step == 0;
}

/* Whether fields of the instruction descriptor are set that are not modelled: larger K and scales of A in all lanes
 * (sm_107), and transposed elements of ti16, on which the PTX ISA contradicts itself. */
static bool has_unknown_fields(const struct product *p)
{
    switch ((enum ptxi_tmem_kind)p->x->kind) {
    case PTXI_TMEM_MXF4: return p->idesc & (1u << 3 | 1u << 26);
    case PTXI_TMEM_MXF8F6F4: return p->idesc & (1u << 26 | 1u << 31);
    case PTXI_TMEM_TI16: return p->idesc & (1u << 15 | 1u << 16 | 1u << 29);
    default: return p->idesc >> 29 & 1;
    }
}

static enum ptxi_dot_scale_type scale_type(const struct product *p)
{
    static const enum ptxi_dot_scale_type types[] = { PTXI_SCALE_UE4M3, PTXI_SCALE_UE8M0, PTXI_SCALE_UE5M3,
                                                      PTXI_SCALE_UE5M3 };

    return p->x->kind == PTXI_TMEM_MXF4 ? types[p->idesc >> 23 & 3] : PTXI_SCALE_UE8M0;
}

/* Whether the types and the sparsity in the instruction descriptor are possible for the instruction. */
static bool are_types_valid(const struct product *p)
{
    enum ptxi_tmem_kind kind = (enum ptxi_tmem_kind)p->x->kind;
    uint32_t type_of_d = p->idesc >> 4 & 3;
    bool sparse = p->idesc >> 2 & 1;

    if (p->format.a == PTXI_DOT_TYPES || p->format.b == PTXI_DOT_TYPES || sparse != p->format.sparse ||
        (p->a_bytes == 48 && sparse) || has_unknown_fields(p))
        return false;
    if (is_scaled(p))
        return p->x->kind != PTXI_TMEM_MXF4 || (p->idesc >> 23 & 3) < (p->x->sm == 107 ? 3 : 2);
    if (p->integers)
        return type_of_d == 2;
    return type_of_d == !p->f16 && !(kind == PTXI_TMEM_TF32 && p->f16);
}

static bool read_descriptor(struct product *p)
{
    enum ptxi_tmem_kind kind = (enum ptxi_tmem_kind)p->x->kind;
    uint32_t d = p->idesc, type_of_d = d >> 4 & 3;
    unsigned m = is_scaled(p) ? (d >> 27 & 3) << 7 : (d >> 24 & 31) << 4;

    p->n = (d >> 17 & 63) << 3;
    p->format.bits = element_bits(kind);
    p->format.sparse = p->x->sparse;
    p->a_bytes = kind == PTXI_TMEM_MXF4 && d >> 31 ? 48 : 32;
    p->scales = p->x->scales * p->a_bytes / 32;
    p->format.k = p->a_bytes * 8 / p->format.bits * (p->format.sparse ? 2 : 1);
    p->format.a = type_of(kind, d >> 7 & 7);
    p->format.b = type_of(kind, d >> 10 & (kind == PTXI_TMEM_MXF4 ? 3 : 7));
    p->integers = kind == PTXI_TMEM_I8 || kind == PTXI_TMEM_TI16;
    p->f16 = !is_scaled(p) && !p->integers && type_of_d == 0;
    if (!are_types_valid(p) || !find_layout(p, m)) {
        ptxi_tmem_misuse(p->w, p->i,
                         "the instruction descriptor names a shape or types that the instruction does not support");
        return false;
    }
    if (!p->integers)
        p->model = ptxi_dot_find(p->x->sm, PTXI_DOT_ASYNC, (enum ptxi_dot_type)p->format.a, p->f16);
    return true;
}

/* --- operands --- */

/* The lane of a row of A, of D, or of the metadata of A. */
static inline unsigned lane_of(const struct product *p, uint32_t address, unsigned row)
{
    return (ptxi_tmem_lane(address) & (M - 1)) + (p->half ? row / 16 * 32 + row % 16 : row);
}

/* Checks the address of a matrix that has one row in each lane, and `columns` columns. False: a fault. */
static bool check_rows(const struct product *p, const struct ptxi_tmem *t, uint32_t address, uint32_t columns)
{
    unsigned lane = ptxi_tmem_lane(address);

    if (lane != 0 && !(p->half && lane == 16)) {
        ptxi_tmem_misuse(p->w, p->i,
                         "a matrix must begin in lane 0 of tensor memory, or 16 if only half of the lanes is used");
        return false;
    }
    return ptxi_tmem_check(p->w, p->i, t, ptxi_tmem_column(address), columns);
}

/* Tells the race checker of columns of tensor memory that are read or written. */
static void note_columns(const struct product *p, unsigned cta, uint32_t address, uint32_t count, bool write)
{
    if (p->checked)
        ptxi_tmem_touch(&(struct ptxi_tmem_touch){ .w = p->w, .i = p->i, .lane = p->lane, .t = p->ctas[cta]->tmem,
                                                   .quarters = PTXI_TMEM_ALL_QUARTERS,
                                                   .first = ptxi_tmem_column(address), .count = count,
                                                   .write = write, .async = true });
}

/* Size of elements that are packed in shared memory, 16 in 16 bytes with padding; 0: they are not. */
static unsigned packed_bits(const struct product *p, uint16_t type)
{
    if (p->format.bits != 8 || p->integers)
        return 0;
    switch (type) {
    case PTXI_DOT_e2m1: return 4;
    case PTXI_DOT_e3m2: case PTXI_DOT_e2m3: return 6;
    default: return 0;
    }
}

/* Size of an element in bytes; 1 if it is smaller than a byte. */
static unsigned element_bytes(const struct product *p)
{
    return p->format.bits < 8 ? 1 : p->format.bits / 8;
}

static void negate(const struct product *p, uint16_t type, unsigned char (*kvec)[KVEC_BYTES], unsigned count)
{
    kvec_negate(p->format.bits, packed_bits(p, type) ? 0x20 : 1u << (p->format.bits - 1), kvec, count);
}

/* PTX ISA, "Restrictions on the Leading Dimension Absolute Address Stride". False: a fault. */
static bool check_matrix(const struct product *p, const struct shared_matrix *m)
{
    if (!m->absolute_leading ||
        (m->swizzle_bytes == 128 && m->atom_bytes == UNIT_BYTES && !m->mn_major && !m->base_offset))
        return true;
    ptxi_tmem_misuse(
        p->w, p->i,
        "a leading dimension as an absolute address requires 128-byte swizzling, K major order and no base offset");
    return false;
}

/* Reads K vectors from the first one on. False: a fault. */
static bool read_matrix(const struct product *p, unsigned cta, const struct shared_matrix *m, unsigned count,
                        unsigned bytes, unsigned char (*kvec)[KVEC_BYTES])
{
    const struct ptxi_operand_touch r = { p->w, p->i, p->lane, p->ctas[cta] };

    if (!check_matrix(p, m) || !shared_matrix_read(p->w, p->i, m, 0, count, bytes, element_bytes(p), kvec))
        return false;
    if (p->checked)
        operand_check_matrix(&r, m, 0, count, bytes, element_bytes(p));
    return true;
}

/* Reads A from shared or tensor memory. With .ashift each row except the last is replaced by the next row. */
static bool read_a(const struct product *p, unsigned cta, struct operands *t)
{
    struct ptxi_tmem *tmem = p->ctas[cta]->tmem;
    uint32_t address;

    if (!p->x->a_in_tmem) {
        bool mn_major = p->idesc >> 15 & 1;
        struct shared_matrix m = tcgen05_decode_descriptor(p->ctas[cta], value_64(p, PTXI_TMEM_MMA_A), mn_major,
                                                           packed_bits(p, p->format.a));

        return read_matrix(p, cta, &m, p->rows, p->a_bytes, t->a);
    }
    address = value_32(p, PTXI_TMEM_MMA_A);
    if (!check_rows(p, tmem, address, p->a_bytes / 4))
        return false;
    note_columns(p, cta, address, p->a_bytes / 4, false);
    for (unsigned m = 0; m < p->rows; m++) {
        unsigned lane = lane_of(p, address, p->x->shifted && m + 1 < p->rows ? m + 1 : m);

        for (unsigned k = 0; k < p->a_bytes / 4; k++)
            memcpy(t->a[m] + 4 * k, &tmem->cell[ptxi_tmem_column(address) + k][lane], 4);
    }
    return true;
}

/* PTX ISA, "Sparsity selector". For elements of two bytes or more, the word of a lane holds half of the columns of
 * two rows. */
static bool read_metadata(const struct product *p, unsigned cta, struct operands *t)
{
    const struct ptxi_tmem *tmem = p->ctas[cta]->tmem;
    bool wide = p->format.bits >= 16;
    uint32_t address = value_32(p, PTXI_TMEM_MMA_META), first = ptxi_tmem_column(address) + (wide ? p->idesc & 3 : 0);
    unsigned size = ptxi_sparse_chunk(p->format.bits);

    if (!check_rows(p, tmem, address, 1) || !ptxi_tmem_check(p->w, p->i, tmem, first, wide ? 1 : 2))
        return false;
    for (unsigned m = 0; m < p->rows; m++)
        for (unsigned at = 0; at < stored_k(&p->format); at++) {
            unsigned chunk = at / (size / 2), bit;
            uint32_t word;

            if (wide) {
                word = tmem->cell[first][lane_of(p, address, m & ~15u) + m % 8 + chunk / 4 * 8];
                bit = m / 8 % 2 * 16 + chunk % 4 * 4;
            } else {
                word = tmem->cell[first + chunk / 8][lane_of(p, address, m)];
                bit = chunk % 8 * 4;
            }
            t->column[m][at] = (uint8_t)ptxi_sparse_column(p->format.bits, at, word >> bit & 15);
        }
    return true;
}

/* Clears columns of B. PTX ISA, "Zero-Column Mask Descriptor": in each part of the columns, runs of used columns and
 * of zero columns alternate. */
static void clear_columns(const struct product *p, uint64_t mask, unsigned char (*column)[KVEC_BYTES])
{
    unsigned zeros = (unsigned)(mask >> 40 & 255) + 1, used = (unsigned)(mask >> 48 & 255) + 1, part = p->n / p->parts;

    for (unsigned n = 0; n < p->n && mask >> 39 & 1; n++) {
        unsigned s = n / part, at = (n % part + (unsigned)(mask >> 8 * s & 255)) % (zeros + used);
        bool zeros_first = mask >> (32 + s) & 1;

        if (zeros_first ? at < zeros : at >= used)
            memset(column[n], 0, KVEC_BYTES);
    }
}

/* Reads B. Each CTA of a pair has half of its columns. Returns the first column that is used, or NULL after a fault. */
static unsigned char (*read_b(const struct product *p, struct operands *t))[KVEC_BYTES]
{
    unsigned per_unit = UNIT_BYTES / element_bytes(p), shift = 0, bytes = p->format.k * p->format.bits / 8;
    unsigned columns = p->n / p->count, read; /* of a CTA */
    bool mn_major = p->idesc >> 16 & 1;
    uint64_t mask = 0;

    if (p->x->slots[PTXI_TMEM_MMA_ZERO_MASK] != PTXI_NO_SLOT) {
        mask = value_64(p, PTXI_TMEM_MMA_ZERO_MASK);
        shift = (unsigned)(mask >> 56 & 63);
        shift = shift < MAX_SHIFT ? shift : MAX_SHIFT;
    }
    read = columns + shift;
    if (mn_major)
        read = (read + per_unit - 1) / per_unit * per_unit;
    assert((p->count - 1) * columns + read <= sizeof t->b / sizeof *t->b);
    for (unsigned c = 0; c < p->count; c++) {
        struct shared_matrix m =
            tcgen05_decode_descriptor(p->ctas[c], value_64(p, PTXI_TMEM_MMA_B), mn_major, packed_bits(p, p->format.b));

        if (!read_matrix(p, c, &m, read, bytes, t->b + c * columns))
            return NULL;
    }
    clear_columns(p, mask, t->b + shift);
    if (p->idesc >> 14 & 1 && p->x->kind != PTXI_TMEM_I8)
        negate(p, p->format.b, t->b, p->n + shift);
    return t->b + shift;
}

/* --- D --- */

/* 16 rows from `row` on of column n. They are in consecutive lanes. */
static inline uint32_t *cells_of_d(const struct product *p, unsigned cta, uint32_t address, unsigned row, unsigned n)
{
    unsigned width = p->n / p->parts;

    return &p->ctas[cta]->tmem->cell[ptxi_tmem_column(address) + n % width]
                                    [lane_of(p, address, row) + n / width * (M / p->parts)];
}

/* Scales an element of D before the product is added. PTX ISA, "tcgen05.mma", scale-input-d. */
static uint32_t scale_input_d(const struct product *p, uint32_t d)
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
        uint32_t d = cells_of_d(p, cta, address, row, n + l / MMA_ROWS)[l % MMA_ROWS];

        if (p->f16)
            d &= 0xffff;
        c[l] = p->accumulate ? scale_input_d(p, d) : 0;
    }
}

static void write_d(const struct product *p, unsigned cta, uint32_t address, unsigned row, unsigned n,
                    const uint32_t *c)
{
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        uint32_t *to = cells_of_d(p, cta, address, row, n + l / MMA_ROWS) + l % MMA_ROWS;
        unsigned lane = (unsigned)(to - p->ctas[cta]->tmem->cell[0]) % M;

        if (p->x->disabled && value_32(p, PTXI_TMEM_MMA_DISABLED + cta * 4 + lane / 32) >> lane % 32 & 1)
            continue;
        *to = c[l];
    }
}

/* --- block scaling: PTX ISA, "Block Scaling" --- */

/* Number of columns of tensor memory that hold one word of scales of each row of A, or of each column of B. A word
 * is in one of 32 lanes. Scales that do not fit into a word follow in the next columns of the same lane. The number
 * of rows or columns is rounded up to a multiple of 128. */
static unsigned columns_of_scales(const struct product *p, unsigned operand)
{
    return operand == PTXI_TMEM_MMA_SCALE_A ? M / 32 : (p->n + M - 1) / M * M / p->parts / 32;
}

/* Reads the scales of a K vector. `id` is the index of the first one. */
static void read_scales(const struct product *p, unsigned cta, unsigned operand, unsigned id, unsigned index,
                        uint8_t *scale)
{
    const struct ptxi_tmem *t = p->ctas[cta]->tmem;
    uint32_t column = ptxi_tmem_column(value_32(p, operand));
    unsigned part = operand == PTXI_TMEM_MMA_SCALE_B && p->parts == 2 ? p->n / 2 : MAX_N, at = index % part;

    assert(p->scales <= MAX_SCALES);
    for (unsigned k = 0; k < p->scales; k++) {
        uint32_t word_column = column + at / 32 + (id + k) / 4 * columns_of_scales(p, operand);
        uint32_t word = t->cell[word_column % PTXI_TMEM_COLUMNS][index / part * 64 + at % 32];

        scale[k] = (uint8_t)(word >> (id + k) % 4 * 8);
    }
}

static bool check_scales(const struct product *p, unsigned cta)
{
    static const unsigned operands[] = { PTXI_TMEM_MMA_SCALE_A, PTXI_TMEM_MMA_SCALE_B };
    const struct ptxi_tmem *t = p->ctas[cta]->tmem;
    unsigned ids[] = { p->idesc >> 29 & 3, p->idesc >> 4 & 3 },
             used[] = { (p->rows + 31) / 32, (p->n / p->parts + 31) / 32 };

    for (unsigned k = 0; k < 2; k++)
        if (!ptxi_tmem_check(p->w, p->i, t, ptxi_tmem_column(value_32(p, operands[k])),
                             (ids[k] + p->scales - 1) / 4 * columns_of_scales(p, operands[k]) + used[k]))
            return false;
    return true;
}

/* Adds products with block scaling to c, for 16 rows and 8 columns. */
static void add_scaled(const struct product *p, unsigned cta, struct operands *t, unsigned row, unsigned n,
                       unsigned char (*b_columns)[KVEC_BYTES], uint32_t *c)
{
    const unsigned stored = stored_k(&p->format);
    uint32_t a[MAX_CODES], b[PTXI_TILE_N][MAX_CODES], chosen[MAX_CODES];
    uint8_t scale_a[MAX_SCALES], scale_b[PTXI_TILE_N][MAX_SCALES];

    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        kvec_codes(p->format.b, p->format.bits, b_columns[n + l], p->format.k, b[l]);
        read_scales(p, cta, PTXI_TMEM_MMA_SCALE_B, p->idesc >> 4 & 3, n + l, scale_b[l]);
    }
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        unsigned m = row + l / PTXI_TILE_N, q = l % PTXI_TILE_N;
        struct ptxi_dot_scales scales = { scale_type(p), (uint8_t)(stored / p->scales), scale_a, scale_b[q] };
        uint32_t *d = &c[q * MMA_ROWS + l / PTXI_TILE_N];

        if (!q) {
            kvec_codes(p->format.a, p->format.bits, t->a[m], stored, a);
            read_scales(p, cta, PTXI_TMEM_MMA_SCALE_A, p->idesc >> 29 & 3, m, scale_a);
        }
        for (unsigned k = 0; k < stored; k++)
            chosen[k] = b[q][p->format.sparse ? t->column[m][k] : k];
        *d = ptxi_dot_scaled((enum ptxi_dot_type)p->format.a, (enum ptxi_dot_type)p->format.b, a, chosen, stored, *d,
                             &scales);
    }
}

/* --- the product --- */

/* Computes 16 rows of D. */
static void multiply_rows(const struct product *p, unsigned cta, struct operands *t, unsigned row,
                          unsigned char (*b_columns)[KVEC_BYTES])
{
    uint32_t address = value_32(p, PTXI_TMEM_MMA_D);
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    struct ptxi_tile tile;
    _Alignas(64) dot_s8_rows integers[KVEC_MAX_K / 2];

    if (p->x->kind == PTXI_TMEM_TI16)
        ti16_fill_a(&p->format, t->a + row, t->column + row, integers);
    else if (p->integers)
        s8_fill_a(&p->format, t->a + row, t->column + row, integers);
    else if (!is_scaled(p))
        tile_fill_a(&p->format, t->a + row, t->column + row, &tile);
    for (unsigned n = 0; n < p->n; n += PTXI_TILE_N) {
        read_d(p, cta, address, row, n, c);
        if (p->x->kind == PTXI_TMEM_TI16) {
            ti16_multiply(&p->format, integers, b_columns + n, c);
        } else if (p->integers) {
            s8_multiply(&p->format, integers, b_columns + n, p->idesc >> 3 & 1, c);
        } else if (is_scaled(p)) {
            add_scaled(p, cta, t, row, n, b_columns, c);
        } else {
            tile_fill_b(&p->format, b_columns + n, &tile);
            tile_multiply(&p->format, &p->model, &tile, c);
        }
        write_d(p, cta, address, row, n, c);
    }
}

/* Checks the operands, and computes D if `writes`. False: a fault. */
static bool multiply(struct product *p, bool writes)
{
    struct operands t;
    unsigned char (*b_columns)[KVEC_BYTES];

    p->count = ptxi_tmem_find_ctas(p->w, p->i, p->x->pair, p->ctas);
    for (unsigned c = 0; c < p->count; c++)
        if (!ptxi_tmem_get(p->w, p->i, p->ctas[c]))
            return false;
    if (!p->count || !read_descriptor(p) || !(b_columns = read_b(p, &t)))
        return false;
    for (unsigned c = 0; c < p->count; c++) {
        if (!check_rows(p, p->ctas[c]->tmem, value_32(p, PTXI_TMEM_MMA_D), p->n / p->parts) || !read_a(p, c, &t) ||
            (p->format.sparse && !read_metadata(p, c, &t)) || (is_scaled(p) && !check_scales(p, c)))
            return false;
        note_columns(p, c, value_32(p, PTXI_TMEM_MMA_D), p->n / p->parts, true);
        if (p->idesc >> 13 & 1 && p->x->kind != PTXI_TMEM_I8)
            negate(p, p->format.a, t.a, p->rows);
        for (unsigned row = 0; row < p->rows && writes; row += MMA_ROWS)
            multiply_rows(p, c, &t, row, b_columns);
    }
    return true;
}

static bool multiply_job(struct ptxi_tmem_job *j, bool writes)
{
    struct product p = { .x = j->form,
                         .w = j->warp,
                         .i = j->insn,
                         .lane = j->lane,
                         .checked = !writes && j->warp->cta->check,
                         .value = j->value,
                         .idesc = (uint32_t)j->value[PTXI_TMEM_MMA_IDESC],
                         .accumulate = j->accumulate };

    return multiply(&p, writes);
}

static void perform_multiply(struct ptxi_tmem_job *j)
{
    multiply_job(j, true);
}

/* Whether an operand is a 64-bit register. */
static bool is_64_bits(const struct ptxi_tmem_mma *x, unsigned operand)
{
    return operand == PTXI_TMEM_MMA_B || operand == PTXI_TMEM_MMA_ZERO_MASK ||
           (operand == PTXI_TMEM_MMA_A && !x->a_in_tmem);
}

OP( tcgen05_mma )
{
    const struct ptxi_tmem_mma *x = (const struct ptxi_tmem_mma *)(w->frame->code->pool + i->imm);
    ptxi_lanes enabled =
        ptxi_pred(w, x->slots[PTXI_TMEM_MMA_ENABLE_D]) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_MEMORY);

        if (!j)
            return w->stop;
        j->perform = perform_multiply;
        j->form = x;
        j->accumulate = enabled >> l & 1;
        for (unsigned k = 0; k < (unsigned)PTXI_TMEM_MMA_DISABLED + x->disabled; k++)
            if (x->slots[k] != PTXI_NO_SLOT && k != PTXI_TMEM_MMA_ENABLE_D)
                j->value[k] = is_64_bits(x, k) ? ((const uint64_t *)PTXI_SLOT(w, x->slots[k]))[l]
                                               : ((const uint32_t *)PTXI_SLOT(w, x->slots[k]))[l];
        if (!multiply_job(j, false)) {
            ptxi_tmem_cancel_last(w);
            return w->stop;
        }
    }
    NEXT;
}
