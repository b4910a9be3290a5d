#include "exec/async/tma.h"

#include <assert.h>
#include <string.h>

#include "exec/memory/array_reduce.h"
#include "num/half.h"

/* --- rows of a box --- */

/* The part of a row that is inside the tensor. */
struct inside {
    uint64_t at;       /* address of its first byte */
    int64_t from, end; /* range of bytes of the row; empty if end <= from */
};

static struct inside inside_of_row(const struct ptxi_tensor_map *m, int64_t column)
{
    int64_t left = (int64_t)m->last[0] + 1 - column, from = column < 0 ? -column : 0;
    int64_t count = left < m->box[0] ? left : m->box[0];

    if (m->interleave)
        return (struct inside){ m->base, 0, ptxi_tensor_map_unit(m) };
    return (struct inside){ m->base + (uint64_t)ptxi_tensor_map_bytes(m, column + from), ptxi_tensor_map_bytes(m, from),
                            ptxi_tensor_map_bytes(m, count) };
}

/* Moves the row along a dimension. Nothing is inside if the coordinate is not. */
static inline void add_coordinate(const struct ptxi_tensor_map *m, struct inside *s, unsigned d, int64_t c)
{
    s->end = c >= 0 && c <= (int64_t)m->last[d] ? s->end : s->from;
    s->at += (uint64_t)c * (d ? m->stride[d - 1] : ptxi_tensor_map_unit(m));
}

static inline bool visit_row(const struct inside *s, uint32_t row, ptxi_tma_visit *visit, void *ctx)
{
    if (s->end <= s->from)
        return visit(ctx, row, s->at, 0, 0);
    return visit(ctx, row, s->at, (uint32_t)s->from, (uint32_t)(s->end - s->from));
}

/* --- im2col --- */

/* The position in the sequence of pixels of a column. */
struct pixel_walk {
    const struct ptxi_tensor_map *m;
    int64_t at[PTXI_TENSOR_MAX_RANK];
    int64_t offset[PTXI_TENSOR_MAX_RANK]; /* of the copied pixel, relative to `at` */
    unsigned first, end;                  /* range of the dimensions that the corners bound; images follow */
    uint32_t row;
};

/* Moves to the next pixel, along the first dimension that is not at its upper corner. The dimensions before it
 * return to their lower corners. The first pixel of the next image follows the last pixel of an image. */
static void next_pixel(struct pixel_walk *p)
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

/* Visits the channels of `count` pixels. */
static bool walk_pixels(struct pixel_walk *p, uint32_t count, const struct inside *channels, ptxi_tma_visit *visit,
                        void *ctx)
{
    const struct ptxi_tensor_map *m = p->m;

    for (; count--; p->row++, next_pixel(p)) {
        struct inside s = *channels;

        for (unsigned d = p->first; d < m->rank; d++)
            add_coordinate(m, &s, d, p->at[d] + p->offset[d]);
        if (!visit_row(&s, p->row, visit, ctx))
            return false;
    }
    return true;
}

static struct pixel_walk first_pixel(const struct ptxi_tensor_map *m, const int32_t *coords)
{
    const int32_t *offset = coords + PTXI_TENSOR_MAX_RANK;
    unsigned first = ptxi_tensor_map_outer_dimension(m);
    struct pixel_walk p = { .m = m, .first = first, .end = first + (m->mode == PTXI_TMA_IM2COL ? m->rank - 2u : 1) };

    assert(p.end < m->rank);
    for (unsigned d = first; d < m->rank; d++)
        p.at[d] = coords[d];
    if (m->mode != PTXI_TMA_IM2COL)
        p.offset[1] = offset[1]; /* added to the corners and the coordinate. PTX ISA, "wOffset" */
    else
        for (unsigned d = first; d < p.end; d++)
            p.offset[d] = offset[d - first];
    return p;
}

/* PTX ISA, "im2col mode", "im2col::w and im2col::w::128 modes". The pixels of a halo follow those of a group. The
 * next group begins with the same pixels again. */
static bool walk_im2col(const struct ptxi_tensor_map *m, const int32_t *coords, const struct inside *channels,
                        ptxi_tma_visit *visit, void *ctx)
{
    struct pixel_walk p = first_pixel(m, coords), halo;
    uint32_t groups = m->mode == PTXI_TMA_IM2COL_W128 ? PTXI_TENSOR_W128_PIXELS / PTXI_TENSOR_W128_GROUP : 1;
    uint32_t group_pixels = m->mode == PTXI_TMA_IM2COL_W128 ? PTXI_TENSOR_W128_GROUP : m->pixels;

    for (uint32_t k = 0; k < groups; k++) {
        if (!walk_pixels(&p, group_pixels, channels, visit, ctx))
            return false;
        halo = p;
        if (!walk_pixels(&halo, m->halo, channels, visit, ctx))
            return false;
        p.row = halo.row;
    }
    return true;
}

/* --- tiles --- */

/* Visits the rows of a tile. The rows along the first outer dimension are visited in an inner loop. */
static bool walk_tile(const struct ptxi_tensor_map *m, const int32_t *coords, const struct inside *columns,
                      ptxi_tma_visit *visit, void *ctx)
{
    unsigned first = ptxi_tensor_map_outer_dimension(m), d;
    uint32_t position[PTXI_TENSOR_MAX_RANK] = { 0 }, row = 0;
    uint32_t count = first < m->rank ? ptxi_tensor_map_box_size(m, first) : 1;

    assert(m->rank <= PTXI_TENSOR_MAX_RANK);
    do {
        struct inside outer = *columns;

        for (d = first + 1; d < m->rank; d++)
            add_coordinate(m, &outer, d, (int64_t)coords[d] + (int64_t)position[d] * m->step[d]);
        for (uint32_t n = 0; n < count; n++, row++) {
            struct inside s = outer;

            if (first < m->rank)
                add_coordinate(m, &s, first,
                               m->rows ? coords[1 + n] : (int64_t)coords[first] + (int64_t)n * m->step[first]);
            if (!visit_row(&s, row, visit, ctx))
                return false;
        }
        for (d = first + 1; d < m->rank && ++position[d] == ptxi_tensor_map_box_size(m, d); d++)
            position[d] = 0;
    } while (d < m->rank);
    return true;
}

bool ptxi_tma_walk(const struct ptxi_tensor_map *m, const int32_t *coords, ptxi_tma_visit *visit, void *ctx)
{
    const struct inside columns = inside_of_row(m, coords[0]);

    return m->mode == PTXI_TMA_TILE ? walk_tile(m, coords, &columns, visit, ctx)
                                    : walk_im2col(m, coords, &columns, visit, ctx);
}

bool ptxi_tma_extent(const struct ptxi_tensor_map *m, const int32_t *coords, uint64_t *lo, uint64_t *hi)
{
    struct inside s = inside_of_row(m, coords[0]);

    if (m->mode != PTXI_TMA_TILE || m->rows || s.end <= s.from)
        return false;
    *lo = s.at;
    *hi = s.at + (uint64_t)(s.end - s.from);
    for (unsigned d = ptxi_tensor_map_outer_dimension(m); d < m->rank; d++) {
        int64_t low = coords[d], high = low + (int64_t)(ptxi_tensor_map_box_size(m, d) - 1) * m->step[d];
        uint64_t stride = d ? m->stride[d - 1] : ptxi_tensor_map_unit(m);

        if (low < 0 || high > (int64_t)m->last[d])
            return false;
        *lo += (uint64_t)low * stride;
        *hi += (uint64_t)high * stride;
    }
    return *hi > *lo;
}

/* --- swizzled rows in shared memory --- */

enum { CHUNK = 16, LINE = 128, MAX_ROW = 256 * 8 };

struct box_copy {
    const struct ptxi_tensor_map *map;
    const unsigned char *from; /* the box, in a store */
    unsigned char *to;         /* the box, in a load */
    uint32_t box_offset, pitch;
    struct ptxi_swizzle swizzle;
    unsigned reduce;
    ptxi_tma_is_writable *is_writable;
    ptxi_tma_shadow *shadow;
    void *ctx;
};

/* A part of a row within one line of shared memory. There, the swizzled and the plain offsets of a chunk differ by
 * one XOR pattern. */
struct line_part {
    uint32_t size, first; /* bytes in the line */
    uint32_t line;        /* offset of the line in the box */
    uint32_t pattern;
};

static inline struct line_part part_at(const struct box_copy *v, uint32_t at, uint32_t left)
{
    const uint32_t first = at % LINE;

    return (struct line_part){ .size = left < LINE - first ? left : LINE - first,
                               .first = first,
                               .line = at - first,
                               .pattern = ((v->box_offset + at) / LINE & v->swizzle.mask) << v->swizzle.shift };
}

static inline void write_part(unsigned char *line, const unsigned char *from, uint32_t first, uint32_t size,
                              uint32_t pattern)
{
    for (uint32_t k = 0; k < size; k += CHUNK)
        memcpy(line + ((first + k) ^ pattern), from + k, CHUNK);
}

static inline void read_part(unsigned char *to, const unsigned char *line, uint32_t first, uint32_t size,
                             uint32_t pattern)
{
    for (uint32_t k = 0; k < size; k += CHUNK)
        memcpy(to + k, line + ((first + k) ^ pattern), CHUNK);
}

/* Whether the halves of chunks are exchanged in a row. Such a row has at most one line. */
static inline bool is_flipped(const struct box_copy *v, uint32_t at)
{
    return v->swizzle.flip && (v->box_offset + at) / LINE & 1;
}

static void exchange_halves(unsigned char *row, uint32_t size)
{
    uint64_t half[2];

    for (uint32_t k = 0; k < size; k += CHUNK) {
        memcpy(half, row + k, sizeof half);
        memcpy(row + k, &half[1], sizeof *half);
        memcpy(row + k + sizeof *half, &half[0], sizeof *half);
    }
}

static void write_row(const struct box_copy *v, uint32_t row, const unsigned char *from, uint32_t size)
{
    const uint32_t at = row * v->pitch;
    unsigned char flipped[LINE];

    if (!v->swizzle.mask) {
        memcpy(v->to + at, from, size);
        return;
    }
    if (is_flipped(v, at)) {
        assert(size <= sizeof flipped);
        from = memcpy(flipped, from, size);
        exchange_halves(flipped, size);
    }
    for (uint32_t done = 0; done < size;) {
        const struct line_part p = part_at(v, at + done, size - done);

        if (p.size == LINE) /* constant arguments, so that the compiler unrolls the loop */
            write_part(v->to + p.line, from + done, 0, LINE, p.pattern);
        else
            write_part(v->to + p.line, from + done, p.first, p.size, p.pattern);
        done += p.size;
    }
}

static void read_row(const struct box_copy *v, uint32_t row, unsigned char *to, uint32_t size)
{
    const uint32_t at = row * v->pitch;

    if (!v->swizzle.mask) {
        memcpy(to, v->from + at, size);
        return;
    }
    for (uint32_t done = 0; done < size;) {
        const struct line_part p = part_at(v, at + done, size - done);

        if (p.size == LINE)
            read_part(to + done, v->from + p.line, 0, LINE, p.pattern);
        else
            read_part(to + done, v->from + p.line, p.first, p.size, p.pattern);
        done += p.size;
    }
    if (is_flipped(v, at))
        exchange_halves(to, size);
}

/* --- conversions --- */

/* Rounds as an H200 does in loads: to nearest even, and all NaNs to one. Subnormal numbers stay, even with .ftz. */
static void round_to_tf32(unsigned char *row, uint32_t size)
{
    uint32_t x;

    for (uint32_t k = 0; k < size; k += 4) {
        memcpy(&x, row + k, 4);
        x = (x & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (x + 0xfff + (x >> 13 & 1)) & ~UINT32_C(0x1fff);
        memcpy(row + k, &x, 4);
    }
}

/* Places each chunk of a row at the start of 16 bytes. The PTX ISA leaves the bytes after it undefined; here they
 * are zero. */
static void pad_row(unsigned char *to, const unsigned char *row, uint32_t size, uint32_t chunk)
{
    memset(to, 0, size / chunk * 16);
    for (uint32_t k = 0; k < size / chunk; k++)
        memcpy(to + 16 * k, row + chunk * k, chunk);
}

/* Packs the lower 6 bits of each byte. */
static void pack_6_bits(unsigned char *to, const unsigned char *row, uint32_t size)
{
    for (uint32_t k = 0; k < size / 3; k++) {
        const unsigned char *x = row + 4 * k;
        uint32_t four = (x[0] & 63u) | (x[1] & 63u) << 6 | (x[2] & 63u) << 12 | (x[3] & 63u) << 18;

        for (uint32_t b = 0; b < 3; b++)
            to[3 * k + b] = (unsigned char)(four >> 8 * b);
    }
}

/* --- copies --- */

static bool load_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct box_copy *v = ctx;
    const struct ptxi_tensor_map *m = v->map;
    bool rounds = m->type == PTXI_TENSOR_TF32 || m->type == PTXI_TENSOR_TF32_FTZ;
    unsigned char buffer[MAX_ROW], padded[PTXI_TENSOR_PADDED_ROW];
    uint32_t size = ptxi_tensor_map_row_bytes(m), chunk = ptxi_tensor_map_chunk_bytes(m);

    assert(size <= sizeof buffer && from + bytes <= size);
    if (bytes == size && !rounds && chunk == 16) {
        write_row(v, row, (const unsigned char *)(uintptr_t)at, size);
        return true;
    }
    memset(buffer, 0, size);
    for (uint32_t k = 0; m->nan && k < size; k += 2)
        memcpy(buffer + k, &(uint16_t){ PTXI_OOB_NAN }, 2);
    if (bytes)
        memcpy(buffer + from, (const void *)(uintptr_t)at, bytes);
    if (rounds)
        round_to_tf32(buffer + from, bytes);
    if (chunk < 16)
        pad_row(padded, buffer, size, chunk);
    write_row(v, row, chunk < 16 ? padded : buffer, ptxi_tensor_map_row_room(m));
    return true;
}

/* What is outside the tensor is defined. */
static bool load_shadow_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct box_copy *v = ctx;
    unsigned char buffer[MAX_ROW] = { 0 }, padded[PTXI_TENSOR_PADDED_ROW];
    uint32_t size = ptxi_tensor_map_row_bytes(v->map), chunk = ptxi_tensor_map_chunk_bytes(v->map);

    if (bytes)
        v->shadow(v->ctx, at, bytes, buffer + from);
    if (chunk < 16)
        pad_row(padded, buffer, size, chunk);
    write_row(v, row, chunk < 16 ? padded : buffer, ptxi_tensor_map_row_room(v->map));
    return true;
}

static bool store_shadow_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct box_copy *v = ctx;
    unsigned char buffer[MAX_ROW], padded[PTXI_TENSOR_PADDED_ROW];
    uint32_t size = ptxi_tensor_map_row_bytes(v->map);

    if (v->map->type == PTXI_TENSOR_B6) {
        read_row(v, row, padded, ptxi_tensor_map_row_room(v->map));
        pack_6_bits(buffer, padded, size);
    } else {
        read_row(v, row, buffer, size);
    }
    if (bytes)
        v->shadow(v->ctx, at, bytes, buffer + from);
    return true;
}

static bool store_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct box_copy *v = ctx;
    unsigned char buffer[MAX_ROW], padded[PTXI_TENSOR_PADDED_ROW], *to = (unsigned char *)(uintptr_t)at;
    uint32_t size = ptxi_tensor_map_row_bytes(v->map);

    assert(size <= sizeof buffer && from + bytes <= size);
    if (v->map->type == PTXI_TENSOR_B6) {
        read_row(v, row, padded, ptxi_tensor_map_row_room(v->map));
        pack_6_bits(buffer, padded, size);
    } else if (bytes == size && !v->reduce) {
        read_row(v, row, to, size);
        return true;
    } else {
        read_row(v, row, buffer, size);
    }
    if (bytes % 16 && v->is_writable(v->ctx, at + bytes, 16 - bytes % 16))
        bytes += 16 - bytes % 16;
    if (bytes && v->reduce)
        ptxi_array_reduce(v->reduce, to, buffer + from, bytes);
    else if (bytes)
        memcpy(to, buffer + from, bytes);
    return true;
}

void ptxi_tma_load(const struct ptxi_tensor_map *m, const int32_t *coords, unsigned char *box, uint32_t box_offset)
{
    struct box_copy v = { .map = m, .to = box, .box_offset = box_offset, .pitch = ptxi_tensor_map_row_pitch(m),
                          .swizzle = *ptxi_tensor_map_swizzle(m) };

    ptxi_tma_walk(m, coords, load_row, &v);
}

void ptxi_tma_store(const struct ptxi_tensor_map *m, const int32_t *coords, const unsigned char *box,
                    uint32_t box_offset, unsigned reduce, ptxi_tma_is_writable *is_writable, void *ctx)
{
    struct box_copy v = { .map = m,
                          .from = box,
                          .box_offset = box_offset,
                          .pitch = ptxi_tensor_map_row_pitch(m),
                          .swizzle = *ptxi_tensor_map_swizzle(m),
                          .reduce = reduce,
                          .is_writable = is_writable,
                          .ctx = ctx };

    ptxi_tma_walk(m, coords, store_row, &v);
}

void ptxi_tma_load_shadow(const struct ptxi_tensor_map *m, const int32_t *coords, unsigned char *box,
                          uint32_t box_offset, ptxi_tma_shadow *visit, void *ctx)
{
    struct box_copy v = { .map = m, .to = box, .box_offset = box_offset, .pitch = ptxi_tensor_map_row_pitch(m),
                          .swizzle = *ptxi_tensor_map_swizzle(m), .shadow = visit, .ctx = ctx };

    ptxi_tma_walk(m, coords, load_shadow_row, &v);
}

void ptxi_tma_store_shadow(const struct ptxi_tensor_map *m, const int32_t *coords, const unsigned char *box,
                           uint32_t box_offset, ptxi_tma_shadow *visit, void *ctx)
{
    struct box_copy v = { .map = m, .from = box, .box_offset = box_offset, .pitch = ptxi_tensor_map_row_pitch(m),
                          .swizzle = *ptxi_tensor_map_swizzle(m), .shadow = visit, .ctx = ctx };

    ptxi_tma_walk(m, coords, store_shadow_row, &v);
}
