#include "exec/async/tma.h"

#include <string.h>

#include "exec/memory/array_reduce.h"
#include "isa/bytecode.h"
#include "num/half.h"

/* As ptxiTensorMapDataType numbers them. Those of 4 and 6 bits are padded in shared memory but for the first: B6 is .b6x16_p32 when loaded, and
 * .b6p2x16 when stored. */
enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, B4, B4_PADDED, B6, TYPES };

unsigned ptxi_tensor_bits(unsigned type)
{
    static const uint8_t bits[TYPES] = { [U8] = 8, [U16] = 16, [U32] = 32, [S32] = 32, [U64] = 64, [S64] = 64, [F16] = 16, [F32] = 32, [F64] = 64,
                                         [BF16] = 16, [F32_FTZ] = 32, [TF32] = 32, [TF32_FTZ] = 32, [B4] = 4, [B4_PADDED] = 4, [B6] = 6 };

    return type < TYPES ? bits[type] : 0;
}

/* How many of its own bytes a type of 4 or 6 bits has in 16 bytes of shared memory; 16 of all types that have no padding there. PTX ISA,
 * "Padding and alignment of the sub-byte types". */
static unsigned chunk_bytes(unsigned type)
{
    return type == B4_PADDED ? 8 : type == B6 ? 12 : 16;
}

enum { PADDED_BOX = 128, PADDED_ALIGN = 32 };

/* PTX ISA, "Swizzling Modes": chunks change places within 128 bytes or less, by the bits of the shared address from 128 on. */
struct swizzle {
    uint8_t mask, shift; /* so many of those bits, times the size of a chunk */
    bool flip;           /* in every other line, the halves of 16 bytes, too */
    uint8_t span;        /* a row of the box has at most so many bytes; 0: any number */
};
enum { SWIZZLE_128 = 3, SWIZZLES = 5, ATOMS = 4 };
static const struct swizzle swizzles[SWIZZLES] = { { 0, 4, false, 0 }, { 1, 4, false, 32 }, { 3, 4, false, 64 }, { 7, 4, false, 128 }, { 1, 4, false, 96 } };
static const struct swizzle atoms[ATOMS] = { { 7, 4, false, 128 }, { 3, 5, false, 128 }, { 3, 5, true, 128 }, { 1, 6, false, 128 } }; /* of 128 bytes */

static inline const struct swizzle *swizzle_of(const struct ptxi_tensor_map *m)
{
    return m->atom ? &atoms[m->atom] : &swizzles[m->swizzle];
}

void ptxi_tensor_swizzle(struct ptxi_tensor_map *m, unsigned swizzle)
{
    m->atom = (uint8_t)(swizzle > SWIZZLE_128 ? swizzle - SWIZZLE_128 : 0);
    m->swizzle = (uint8_t)(swizzle - m->atom);
}

unsigned ptxi_tensor_span(const struct ptxi_tensor_map *m)
{
    return m->interleave ? 0 : swizzle_of(m)->span;
}

/* Bytes of so many elements in global memory. */
static inline int64_t packed(const struct ptxi_tensor_map *m, int64_t elements)
{
    return elements * m->bits / 8;
}

/* Bytes of one place along dimension 0 of an interleaved layout. */
static inline uint32_t unit(const struct ptxi_tensor_map *m)
{
    return 16u * m->interleave;
}

/* Bytes of a row in global memory, with its padding in shared memory, and from one row to the next there. */
static inline uint32_t row_bytes(const struct ptxi_tensor_map *m)
{
    return m->interleave ? unit(m) : (uint32_t)packed(m, m->box[0]);
}

static inline uint32_t row_room(const struct ptxi_tensor_map *m)
{
    return row_bytes(m) / chunk_bytes(m->type) * 16;
}

static inline uint32_t row_pitch(const struct ptxi_tensor_map *m)
{
    return ptxi_tensor_span(m) ? ptxi_tensor_span(m) : row_room(m);
}

bool ptxi_tensor_padded_fits(const struct ptxi_tensor_map *m)
{
    bool swizzled = !m->swizzle || (m->swizzle == SWIZZLE_128 && !swizzle_of(m)->flip);

    if (chunk_bytes(m->type) == 16)
        return true;
    for (unsigned d = 1; d < m->rank; d++)
        if (m->stride[d - 1] % PADDED_ALIGN)
            return false;
    return m->box[0] == PADDED_BOX && m->last[0] % PADDED_BOX == PADDED_BOX - 1 && m->base % PADDED_ALIGN == 0 && !m->interleave && swizzled;
}

bool ptxi_tensor_usable(const struct ptxi_tensor_map *m)
{
    uint32_t row = (uint32_t)packed(m, m->box[0]);

    if (m->rank < 1 || m->rank > PTXI_TENSOR_MOST || !m->bits || m->bits != ptxi_tensor_bits(m->type) || m->interleave > 2 || m->base % 16 || !row || row % 16 ||
        (m->nan && (m->type < F16 || m->type > TF32_FTZ)))
        return false;
    if (m->swizzle >= SWIZZLES || m->atom >= ATOMS || (m->atom && m->swizzle != SWIZZLE_128) || (ptxi_tensor_span(m) && row > ptxi_tensor_span(m)) ||
        (swizzle_of(m)->span == 96 && (m->interleave || m->mode == PTXI_MAP_W128)) || !ptxi_tensor_padded_fits(m))
        return false;
    if ((m->mode != PTXI_MAP_TILE || m->interleave) && m->rank < 3)
        return false;
    if (m->interleave && (!m->step[0] || m->step[0] > 8))
        return false;
    if (m->mode != PTXI_MAP_TILE && (m->rank < 3 || !m->pixels || m->pixels > PTXI_TENSOR_PIXELS))
        return false;
    for (unsigned d = 1; d < m->rank; d++)
        if ((m->mode == PTXI_MAP_TILE && !m->box[d]) || m->box[d] > 256 || !m->step[d] || m->step[d] > 8 || m->stride[d - 1] % 16 || m->stride[d - 1] >> 40)
            return false;
    return m->box[0] <= 256;
}

/* The bytes of a row that are inside of the tensor. */
struct span {
    uint64_t at;       /* the address of the first */
    int64_t from, end; /* their places in the row; none when one is not before the other */
};

static struct span first_span(const struct ptxi_tensor_map *m, int64_t first)
{
    int64_t left = (int64_t)m->last[0] + 1 - first, from = first < 0 ? -first : 0;

    if (m->interleave)
        return (struct span){ m->base, 0, unit(m) };
    return (struct span){ m->base + (uint64_t)packed(m, first + from), packed(m, from), packed(m, left < m->box[0] ? left : m->box[0]) };
}

/* The first dimension that is walked along: what is in a row is not. */
static inline unsigned first_dimension(const struct ptxi_tensor_map *m)
{
    return !m->interleave;
}

static inline void add_coordinate(const struct ptxi_tensor_map *m, struct span *s, unsigned d, int64_t c)
{
    s->end = c >= 0 && c <= (int64_t)m->last[d] ? s->end : s->from;
    s->at += (uint64_t)c * (d ? m->stride[d - 1] : unit(m));
}

static inline bool visit(const struct span *s, uint32_t row, ptxi_tensor_row *f, void *ctx)
{
    bool any = s->end > s->from;

    return f(ctx, row, s->at, any ? (uint32_t)s->from : 0, any ? (uint32_t)(s->end - s->from) : 0);
}

/* Places that a box has along dimension d. */
static uint32_t taken(const struct ptxi_tensor_map *m, unsigned d)
{
    if (m->rows)
        return PTXI_TENSOR_ROW_COUNT;
    return m->interleave && d + 2 == m->rank ? 1 : (m->box[d] + m->step[d] - 1u) / m->step[d];
}

static uint32_t row_count(const struct ptxi_tensor_map *m)
{
    uint64_t n = 1;

    if (m->mode == PTXI_MAP_W128)
        return PTXI_TENSOR_W128_PIXELS + PTXI_TENSOR_W128_PIXELS / PTXI_TENSOR_W128_GROUP * m->halo;
    if (m->mode != PTXI_MAP_TILE)
        return m->pixels + (uint32_t)m->halo;
    for (unsigned d = first_dimension(m); d < m->rank; d++)
        n *= taken(m, d);
    return n > 1 << 20 ? 1 << 20 : (uint32_t)n;
}

uint32_t ptxi_tensor_box_bytes(const struct ptxi_tensor_map *m)
{
    return row_count(m) * row_bytes(m);
}

uint32_t ptxi_tensor_box_room(const struct ptxi_tensor_map *m)
{
    return row_count(m) * row_pitch(m);
}

/* PTX ISA, "Bounding Box": of im2col, the coordinate in a dimension of pixels lies between the corners; if wide it may lie before them. */
static bool between_corners(const struct ptxi_tensor_map *m, const int32_t *corner)
{
    unsigned first = first_dimension(m), count = m->mode == PTXI_MAP_TILE ? 0 : m->mode == PTXI_MAP_IM2COL ? m->rank - 2u : 1;

    for (unsigned k = 0; k < count; k++)
        if ((corner[first + k] < m->lower[k] && m->mode == PTXI_MAP_IM2COL) || corner[first + k] > (int64_t)m->last[first + k] + m->upper[k])
            return false;
    return true;
}

/* PTX ISA, "Restriction on Tensor Copy instructions". */
static const char *misplaced_store(const struct ptxi_tensor_map *m, const int32_t *corner)
{
    for (unsigned d = 0; d < (m->rows ? 1u + PTXI_TENSOR_ROW_COUNT : m->rank); d++)
        if (corner[d] < 0)
            return "a box that is stored begins at a negative coordinate";
    for (unsigned d = 0; m->mode == PTXI_MAP_IM2COL && d + 2 < m->rank; d++)
        if (m->lower[d] < 0 || m->upper[d] > 0)
            return "the corners of pixels that are stored lie beyond the tensor";
    return NULL;
}

const char *ptxi_tensor_misplaced(const struct ptxi_tensor_map *m, const int32_t *corner, bool store)
{
    if (chunk_bytes(m->type) < 16 && corner[0] % PADDED_BOX)
        return "a box of padded elements does not begin at a multiple of 128 of them";
    if (!m->interleave && (int64_t)corner[0] * m->bits % (16 * 8))
        return "a box of a tensor does not begin at a multiple of 16 bytes";
    if (store && m->type == B4_PADDED)
        return "elements of type .b4x16_p64 cannot be stored";
    if (!between_corners(m, corner))
        return "the first pixel of a column lies outside of the bounding box";
    return store ? misplaced_store(m, corner) : NULL;
}

/* The pixels of a column, one after the other. */
struct pixels {
    const struct ptxi_tensor_map *m;
    int64_t at[PTXI_TENSOR_MOST];
    int64_t offset[PTXI_TENSOR_MOST]; /* from there to what is copied */
    unsigned first, end;              /* the dimensions from the one up to, but not including, the other are bounded by the corners; the images follow */
    uint32_t row;
};

/* To the next pixel: along the first dimension that has one left before its upper corner; those before it begin anew at their lower ones. Behind
 * the last pixel of an image comes the first one of the next. */
static void next_pixel(struct pixels *p)
{
    const struct ptxi_tensor_map *m = p->m;

    for (unsigned d = p->first; d < p->end; d++) {
        p->at[d] += m->step[d];
        if (p->at[d] <= (int64_t)m->last[d] + m->upper[d - p->first])
            return;
        p->at[d] = m->lower[d - p->first];
    }
    p->at[m->rank - 1]++;
}

/* The channels of `count` pixels. */
static bool walk_pixels(struct pixels *p, uint32_t count, const struct span *channels, ptxi_tensor_row *f, void *ctx)
{
    const struct ptxi_tensor_map *m = p->m;

    for (; count--; p->row++, next_pixel(p)) {
        struct span s = *channels;

        for (unsigned d = p->first; d < m->rank; d++)
            add_coordinate(m, &s, d, p->at[d] + p->offset[d]);
        if (!visit(&s, p->row, f, ctx))
            return false;
    }
    return true;
}

static struct pixels first_pixel(const struct ptxi_tensor_map *m, const int32_t *corner)
{
    const int32_t *offset = corner + PTXI_TENSOR_MOST;
    unsigned first = first_dimension(m);
    struct pixels p = { .m = m, .first = first, .end = first + (m->mode == PTXI_MAP_IM2COL ? m->rank - 2u : 1) };

    for (unsigned d = first; d < m->rank; d++)
        p.at[d] = corner[d];
    if (m->mode != PTXI_MAP_IM2COL)
        p.offset[1] = offset[1]; /* of the corners and the coordinate alike: PTX ISA, "wOffset" */
    else
        for (unsigned d = first; d < p.end; d++)
            p.offset[d] = offset[d - first];
    return p;
}

/* PTX ISA, "im2col mode", "im2col::w and im2col::w::128 modes": there, the pixels of a halo are those that follow, which a group that follows
 * begins with again. */
static bool walk_columns(const struct ptxi_tensor_map *m, const int32_t *corner, const struct span *channels, ptxi_tensor_row *f, void *ctx)
{
    struct pixels p = first_pixel(m, corner), halo;
    uint32_t groups = m->mode == PTXI_MAP_W128 ? PTXI_TENSOR_W128_PIXELS / PTXI_TENSOR_W128_GROUP : 1;

    for (uint32_t k = 0; k < groups; k++) {
        if (!walk_pixels(&p, groups > 1 ? PTXI_TENSOR_W128_GROUP : m->pixels, channels, f, ctx))
            return false;
        halo = p;
        if (!walk_pixels(&halo, m->halo, channels, f, ctx))
            return false;
        p.row = halo.row;
    }
    return true;
}

/* The rows of a box, those along the first dimension in one go. */
static bool walk_tile(const struct ptxi_tensor_map *m, const int32_t *corner, const struct span *columns, ptxi_tensor_row *f, void *ctx)
{
    unsigned first = first_dimension(m), d;
    uint32_t k[PTXI_TENSOR_MOST] = { 0 }, count = first < m->rank ? taken(m, first) : 1, row = 0;

    do {
        struct span outer = *columns;

        for (d = first + 1; d < m->rank; d++)
            add_coordinate(m, &outer, d, (int64_t)corner[d] + (int64_t)k[d] * m->step[d]);
        for (uint32_t n = 0; n < count; n++, row++) {
            struct span s = outer;

            if (first < m->rank)
                add_coordinate(m, &s, first, m->rows ? corner[1 + n] : (int64_t)corner[first] + (int64_t)n * m->step[first]);
            if (!visit(&s, row, f, ctx))
                return false;
        }
        for (d = first + 1; d < m->rank && ++k[d] == taken(m, d); d++)
            k[d] = 0;
    } while (d < m->rank);
    return true;
}

bool ptxi_tensor_walk(const struct ptxi_tensor_map *m, const int32_t *corner, ptxi_tensor_row *f, void *ctx)
{
    const struct span columns = first_span(m, corner[0]);

    return m->mode == PTXI_MAP_TILE ? walk_tile(m, corner, &columns, f, ctx) : walk_columns(m, corner, &columns, f, ctx);
}

bool ptxi_tensor_reach(const struct ptxi_tensor_map *m, const int32_t *corner, uint64_t *lo, uint64_t *hi)
{
    struct span s = first_span(m, corner[0]);

    if (m->mode != PTXI_MAP_TILE || m->rows || s.end <= s.from)
        return false;
    *lo = s.at;
    *hi = s.at + (uint64_t)(s.end - s.from);
    for (unsigned d = first_dimension(m); d < m->rank; d++) {
        int64_t low = corner[d], high = low + (int64_t)(taken(m, d) - 1) * m->step[d];
        uint64_t stride = d ? m->stride[d - 1] : unit(m);

        if (low < 0 || high > (int64_t)m->last[d])
            return false;
        *lo += (uint64_t)low * stride;
        *hi += (uint64_t)high * stride;
    }
    return *hi > *lo;
}

struct move {
    const struct ptxi_tensor_map *map;
    const unsigned char *from;
    unsigned char *to;
    uint32_t place, pitch;  /* of the box, of its rows */
    struct swizzle swizzle;
    unsigned reduce;
    ptxi_tensor_there *there;
    void *ctx;
};

enum { MOST_ROW = 256 * 8 };

/* As an H200 rounds what it loads: to nearest even, all NaNs to one; .ftz or not, subnormal numbers stay. */
static void round_tf32(unsigned char *row, uint32_t size)
{
    uint32_t x;

    for (uint32_t k = 0; k < size; k += 4) {
        memcpy(&x, row + k, 4);
        x = (x & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (x + 0xfff + (x >> 13 & 1)) & ~UINT32_C(0x1fff);
        memcpy(row + k, &x, 4);
    }
}

enum { CHUNK = 16, LINE = 128 };

/* A part of a row that lies in one line of shared memory, at `at` of the box: there the places of its chunks differ by one pattern from those without
 * swizzling. */
struct part {
    uint32_t size, first, line, pattern;
};

static inline struct part part_at(const struct move *v, uint32_t at, uint32_t left)
{
    const uint32_t first = at % LINE;

    return (struct part){ left < LINE - first ? left : LINE - first, first, at - first, ((v->place + at) / LINE & v->swizzle.mask) << v->swizzle.shift };
}

static inline void put_part(unsigned char *line, const unsigned char *from, uint32_t first, uint32_t size, uint32_t pattern)
{
    for (uint32_t k = 0; k < size; k += CHUNK)
        memcpy(line + ((first + k) ^ pattern), from + k, CHUNK);
}

static inline void get_part(unsigned char *to, const unsigned char *line, uint32_t first, uint32_t size, uint32_t pattern)
{
    for (uint32_t k = 0; k < size; k += CHUNK)
        memcpy(to + k, line + ((first + k) ^ pattern), CHUNK);
}

/* Whether the halves of chunks change places in a row, which has no more than one line then. */
static inline bool is_flipped(const struct move *v, uint32_t at)
{
    return v->swizzle.flip && (v->place + at) / LINE & 1;
}

static void flip(unsigned char *row, uint32_t size)
{
    uint64_t half[2];

    for (uint32_t k = 0; k < size; k += CHUNK) {
        memcpy(half, row + k, sizeof half);
        memcpy(row + k, &half[1], sizeof *half);
        memcpy(row + k + sizeof *half, &half[0], sizeof *half);
    }
}

/* Each chunk of a row in the first of 16 bytes; what is behind it is left undefined by the PTX ISA, and zero here. */
static void pad_row(unsigned char *to, const unsigned char *row, uint32_t size, uint32_t chunk)
{
    memset(to, 0, size / chunk * 16);
    for (uint32_t k = 0; k < size / chunk; k++)
        memcpy(to + 16 * k, row + chunk * k, chunk);
}

/* The lower 6 bits of each byte, one after the other. */
static void pack_row(unsigned char *to, const unsigned char *row, uint32_t size)
{
    for (uint32_t k = 0; k < size / 3; k++) {
        const unsigned char *x = row + 4 * k;
        uint32_t four = (x[0] & 63u) | (x[1] & 63u) << 6 | (x[2] & 63u) << 12 | (x[3] & 63u) << 18;

        for (uint32_t b = 0; b < 3; b++)
            to[3 * k + b] = (unsigned char)(four >> 8 * b);
    }
}

static void put_row(const struct move *v, uint32_t row, const unsigned char *from, uint32_t size)
{
    const uint32_t at = row * v->pitch;
    unsigned char flipped[LINE];

    if (!v->swizzle.mask) {
        memcpy(v->to + at, from, size);
        return;
    }
    if (is_flipped(v, at)) {
        from = memcpy(flipped, from, size);
        flip(flipped, size);
    }
    for (uint32_t done = 0; done < size;) {
        const struct part p = part_at(v, at + done, size - done);

        if (p.size == LINE) /* the loop is none then */
            put_part(v->to + p.line, from + done, 0, LINE, p.pattern);
        else
            put_part(v->to + p.line, from + done, p.first, p.size, p.pattern);
        done += p.size;
    }
}

static void get_row(const struct move *v, uint32_t row, unsigned char *to, uint32_t size)
{
    const uint32_t at = row * v->pitch;

    if (!v->swizzle.mask) {
        memcpy(to, v->from + at, size);
        return;
    }
    for (uint32_t done = 0; done < size;) {
        const struct part p = part_at(v, at + done, size - done);

        if (p.size == LINE)
            get_part(to + done, v->from + p.line, 0, LINE, p.pattern);
        else
            get_part(to + done, v->from + p.line, p.first, p.size, p.pattern);
        done += p.size;
    }
    if (is_flipped(v, at))
        flip(to, size);
}

static bool load_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct move *v = ctx;
    const struct ptxi_tensor_map *m = v->map;
    bool rounds = m->type == TF32 || m->type == TF32_FTZ;
    unsigned char buffer[MOST_ROW], padded[PADDED_BOX];
    uint32_t size = row_bytes(m), chunk = chunk_bytes(m->type);

    if (bytes == size && !rounds && chunk == 16) {
        put_row(v, row, (const unsigned char *)(uintptr_t)at, size);
        return true;
    }
    memset(buffer, 0, size);
    for (uint32_t k = 0; m->nan && k < size; k += 2)
        memcpy(buffer + k, &(uint16_t){ PTXI_OOB_NAN }, 2);
    if (bytes)
        memcpy(buffer + from, (const void *)(uintptr_t)at, bytes);
    if (rounds)
        round_tf32(buffer + from, bytes);
    if (chunk < 16)
        pad_row(padded, buffer, size, chunk);
    put_row(v, row, chunk < 16 ? padded : buffer, row_room(m));
    return true;
}

static bool store_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct move *v = ctx;
    unsigned char buffer[MOST_ROW], padded[PADDED_BOX], *to = (unsigned char *)(uintptr_t)at;
    uint32_t size = row_bytes(v->map);

    if (v->map->type == B6) {
        get_row(v, row, padded, row_room(v->map));
        pack_row(buffer, padded, size);
    } else if (bytes == size && !v->reduce) {
        get_row(v, row, to, size);
        return true;
    } else {
        get_row(v, row, buffer, size);
    }
    if (bytes % 16 && v->there(v->ctx, at + bytes, 16 - bytes % 16))
        bytes += 16 - bytes % 16;
    if (bytes && v->reduce)
        ptxi_reduce(v->reduce, to, buffer + from, bytes);
    else if (bytes)
        memcpy(to, buffer + from, bytes);
    return true;
}

void ptxi_tensor_load(const struct ptxi_tensor_map *m, const int32_t *corner, unsigned char *box, uint32_t place)
{
    ptxi_tensor_walk(m, corner, load_row, &(struct move){ .map = m, .to = box, .place = place, .pitch = row_pitch(m), .swizzle = *swizzle_of(m) });
}

void ptxi_tensor_store(const struct ptxi_tensor_map *m, const int32_t *corner, const unsigned char *box, uint32_t place, unsigned reduce, ptxi_tensor_there *there, void *ctx)
{
    ptxi_tensor_walk(m, corner, store_row, &(struct move){ .map = m, .from = box, .place = place, .pitch = row_pitch(m), .swizzle = *swizzle_of(m), .reduce = reduce, .there = there, .ctx = ctx });
}

unsigned ptxi_tensor_reduction(const struct ptxi_tensor_map *m, enum ptxi_tensor_reduction r)
{
#define BITS(n) [PTXI_TENSOR_AND] = PTXI_OP_atom_and_b##n, [PTXI_TENSOR_OR] = PTXI_OP_atom_or_b##n, [PTXI_TENSOR_XOR] = PTXI_OP_atom_xor_b##n
#define ORDER(t) [PTXI_TENSOR_MIN] = PTXI_OP_atom_min_##t, [PTXI_TENSOR_MAX] = PTXI_OP_atom_max_##t
    static const uint16_t ops[TYPES][PTXI_TENSOR_REDUCTIONS] = { /* others are illegal instructions on an H200 */
        [U32] = { BITS(32), ORDER(u32), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i32, [PTXI_TENSOR_INC] = PTXI_OP_atom_inc_u32, [PTXI_TENSOR_DEC] = PTXI_OP_atom_dec_u32 },
        [S32] = { BITS(32), ORDER(s32), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i32 },
        [U64] = { BITS(64), ORDER(u64), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i64 },
        [S64] = { ORDER(s64) },
        [F16] = { ORDER(f16), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f16 },
        [F32] = { [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f32 },
        [F64] = { [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f64 },
        [BF16] = { ORDER(bf16), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_bf16 },
    };

    return m->type < TYPES ? ops[m->type][r] : 0;
}
