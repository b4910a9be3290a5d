/* Matrices as lines, rows of A and columns of B, as asynchronous matrix instructions have them in shared memory; and the way from lines to the
 * tiles of num/dot_tile.h. */
#ifndef PTXI_EXEC_MATRIX_SHARED_MATRIX_H
#define PTXI_EXEC_MATRIX_SHARED_MATRIX_H

#include "exec/matrix/dot_s8.h"
#include "exec/memory/access.h"
#include "exec/matrix/mma_tile.h"
#include "isa/fragment.h"

enum {
    LINE_ROWS = PTXI_TILE_M, /* of A at a time */
    LINE_UNIT = 16,          /* bytes that stay together */
    LINE = 64,               /* most bytes of a line */
    LINE_K = LINE            /* most elements wider than half a byte */
};

/* --- shared memory: PTX ISA, "Matrix Descriptor Format", "Shared memory descriptor" --- */

struct shared_matrix {
    const unsigned char *memory; /* a CTA's */
    uint32_t start, leading, stride, base;
    unsigned width;   /* bytes of a row of the pattern; without swizzling LINE_UNIT */
    unsigned height;  /* rows of the pattern */
    unsigned granule; /* bytes that swizzling keeps together */
    bool turned;      /* M or N major */
    unsigned packed;  /* bits of elements of which 16 lie in a unit, then padding; 0: bytes as they are */
    bool absolute;    /* `leading` is where what does not fit into a row of the pattern goes on */
};

/* The offset of unit `unit` of row `row`, where rows are what lies in units: lines of A and B, or if turned what is across them.
 * PTX ISA, "Canonical Layouts": the rows of the pattern, then the next ones. */
static inline uint32_t shared_matrix_place(const struct shared_matrix *x, unsigned row, unsigned unit)
{
    unsigned units = x->width / LINE_UNIT;
    uint32_t at = x->start + row % x->height * x->width + unit % units * LINE_UNIT;

    if (x->absolute && x->start % x->width / LINE_UNIT + unit >= units)
        at += x->leading - x->start - x->width + x->start % x->width;
    else if (units == 1 && x->turned)
        at += unit * x->stride + row / x->height * x->leading;
    else
        at += unit / units * x->leading;
    if (units > 1 || !x->turned)
        at += row / x->height * x->stride;
    if (units > 1)
        at ^= (((at >> 7) - x->base) & (x->width / x->granule - 1)) * x->granule;
    return at & 0x3ffff;
}

static inline bool read_unit(struct ptxi_warp *w, const struct ptxi_insn *i, const struct shared_matrix *x, uint32_t at, unsigned char *to)
{
    const unsigned char *p = x->memory + at;

    if (at + LINE_UNIT > w->shared_size &&
        !(p = ptxi_mem_at(w, i, ptxi_first_lane(w->active), PTXI_MS_SHARED, at, LINE_UNIT, LINE_UNIT, PTXI_ACCESS_LOAD)))
        return false;
    memcpy(to, p, LINE_UNIT);
    if (x->packed)
        ptxi_tile_decompress(to, x->packed);
    return true;
}

/* Lines from number `from` on, `bytes` long, of elements of `size` bytes; false after a fault. */
static inline bool read_lines(struct ptxi_warp *w, const struct ptxi_insn *i, const struct shared_matrix *x, unsigned from, unsigned count, unsigned bytes,
                              unsigned size, unsigned char (*line)[LINE])
{
    unsigned char unit[LINE_UNIT];
    unsigned per = LINE_UNIT / size;

    for (unsigned l = 0; l < count && !x->turned; l++)
        for (unsigned u = 0; u < bytes / LINE_UNIT; u++)
            if (!read_unit(w, i, x, shared_matrix_place(x, from + l, u), line[l] + u * LINE_UNIT))
                return false;
    for (unsigned k = 0; k < bytes / size && x->turned; k++)
        for (unsigned u = 0; u < count / per; u++) {
            if (!read_unit(w, i, x, shared_matrix_place(x, k, from / per + u), unit))
                return false;
            for (unsigned e = 0; e < per; e++)
                memcpy(line[u * per + e] + size * k, unit + size * e, size);
        }
    return true;
}

/* --- elements --- */

/* What lines hold. */
struct lines {
    unsigned k, bits;  /* columns of A, stored or not; bits of an element in its container */
    uint16_t a, b;     /* floats: enum ptxi_dot_type; integers: whether they have a sign */
    bool sparse;
};

static inline unsigned lines_stored(const struct lines *x)
{
    return x->sparse ? x->k / 2 : x->k;
}

/* Floats with the other sign. */
static inline void lines_negate(unsigned bits, unsigned sign, unsigned char (*line)[LINE], unsigned count)
{
    uint32_t signs = sign, word;

    for (unsigned width = bits; width < 32; width *= 2)
        signs |= signs << width;
    for (unsigned char *at = *line, *end = *(line + count); at < end; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word ^= signs;
        memcpy(at, &word, sizeof word);
    }
}

/* What ptxi_dot() takes. */
static inline void lines_codes(uint16_t type, unsigned bits, const unsigned char *line, unsigned count, uint32_t *code)
{
    for (unsigned k = 0; k < count; k++) {
        uint32_t word = 0;

        memcpy(&word, line + k * bits / 8, bits < 8 ? 1 : bits / 8);
        if (bits < 8)
            word = word >> k * bits % 8 & ((1u << bits) - 1);
        code[k] = ptxi_tile_code((enum ptxi_dot_type)type, bits, word);
    }
}

/* The columns of A where its elements belong, as 16 bits (fewer have zeros above) or 32; what a sparse A does not store is 0. `column`:
 * which columns the stored elements are. */
#define COLUMNS_OF_A(name, type, from)                                                                                  \
    static inline void name(const struct lines *x, unsigned char (*line)[LINE], uint8_t (*column)[LINE_K], type (*a)[LINE_ROWS]) \
    {                                                                                                                   \
        if (x->sparse)                                                                                                  \
            memset(a, 0, x->k * sizeof *a);                                                                             \
        for (unsigned m = 0; m < LINE_ROWS; m++) {                                                                      \
            from stored[LINE / sizeof(from)];                                                                           \
                                                                                                                        \
            memcpy(stored, line[m], sizeof stored);                                                                     \
            for (unsigned k = 0; k < lines_stored(x); k++)                                                              \
                a[x->sparse ? column[m][k] : k][m] = stored[k];                                                         \
        }                                                                                                               \
    }
COLUMNS_OF_A(columns_of_8, uint16_t, uint8_t)
COLUMNS_OF_A(columns_of_16, uint16_t, uint16_t)
COLUMNS_OF_A(columns_of_32, uint32_t, uint32_t)
#undef COLUMNS_OF_A

static inline void lines_fill_a(const struct lines *x, unsigned char (*line)[LINE], uint8_t (*column)[LINE_K], struct ptxi_tile *tile)
{
    _Alignas(64) uint16_t code[LINE_K][LINE_ROWS];
    _Alignas(64) uint32_t word[LINE / 4][LINE_ROWS];
    enum ptxi_dot_type type = (enum ptxi_dot_type)x->a;
    unsigned n = x->k * LINE_ROWS;

    if (x->bits == 32) {
        columns_of_32(x, line, column, word);
        ptxi_tile_tf32(word[0], tile->a[0], code[0], n);
    } else {
        (x->bits == 16 ? columns_of_16 : columns_of_8)(x, line, column, code);
        ptxi_tile_widen(type, false, code[0], tile->a[0], n);
    }
    tile->range_a = ptxi_tile_range(type, false, code[0], tile->below_a[0], 1, n, n);
    tile->sparse = x->sparse;
    memset(tile->stored, 0, sizeof tile->stored);
    for (unsigned m = 0; m < LINE_ROWS && x->sparse; m++)
        for (unsigned k = 0; k < lines_stored(x); k++)
            tile->stored[column[m][k]] |= (uint16_t)(1u << m);
}

/* Eight lines of B. */
static inline void lines_fill_b(const struct lines *x, unsigned char (*line)[LINE], struct ptxi_tile *tile)
{
    _Alignas(64) uint16_t code[PTXI_TILE_N][LINE_K];
    _Alignas(64) uint32_t word[LINE / 4];
    enum ptxi_dot_type type = (enum ptxi_dot_type)x->b;

    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        if (x->bits == 32) {
            memcpy(word, line[l], LINE);
            if (x->k == 8)
                memset(word + 8, 0, LINE / 2);
            ptxi_tile_tf32(word, tile->b[l], code[l], LINE / 4);
            continue;
        }
        if (x->bits == 16)
            memcpy(code[l], line[l], LINE);
        for (unsigned k = 0; k < x->k && x->bits == 8; k++)
            code[l][k] = line[l][k];
        ptxi_tile_widen(type, false, code[l], tile->b[l], x->k);
    }
    tile->range_b = ptxi_tile_range(type, false, code[0], tile->below_b[0], PTXI_TILE_N, LINE_K, (x->k + 15) / 16 * 16);
}

/* Products of 16 rows and 8 columns, which the tile has, are added to c; what a sparse A does not store does not count for the length of a
 * chunk. */
static inline void lines_add(const struct lines *x, const struct ptxi_dot_model *model, const struct ptxi_tile *tile, uint32_t *c)
{
    ptxi_tile_dot(model, tile, 0, x->k, model->chunk * (x->sparse ? 2u : 1u), c);
}

/* --- integers of 8 bits --- */

static inline void lines_integers(const struct lines *x, unsigned char (*line)[LINE], uint8_t (*column)[LINE_K], pair_rows *a)
{
    uint16_t code[LINE_K][LINE_ROWS];

    columns_of_8(x, line, column, code);
    for (unsigned k = 0; k < x->k; k++)
        for (unsigned m = 0; m < LINE_ROWS; m++)
            a[k / 2][m][k % 2] = x->a ? (int8_t)code[k][m] : (int16_t)code[k][m];
}

static inline void lines_add_integers(const struct lines *x, pair_rows *a, unsigned char (*line)[LINE], bool saturate, uint32_t *c)
{
    _Alignas(64) int16_t b[PTXI_TILE_N][LINE_K];

    for (unsigned l = 0; l < PTXI_TILE_N; l++)
        pairs_extend_8(b[l], line[l], x->k, x->b);
    pairs_add(a, b[0], LINE_K, x->k / 2, saturate, c);
}

#endif
