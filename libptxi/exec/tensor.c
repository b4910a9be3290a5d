#include "exec/tensor.h"

#include <string.h>

#include "exec/reduce.h"
#include "isa/bytecode.h"
#include "num/half.h"

enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, TYPES }; /* as ptxiTensorMapDataType numbers them */

unsigned ptxi_tensor_element(unsigned type)
{
    static const uint8_t bytes[TYPES] = { [U8] = 1, [U16] = 2, [U32] = 4, [S32] = 4, [U64] = 8, [S64] = 8, [F16] = 2, [F32] = 4, [F64] = 8, [BF16] = 2 };

    return type < TYPES ? bytes[type] : 0;
}

bool ptxi_tensor_usable(const struct ptxi_tensor_map *m)
{
    uint32_t row = (uint32_t)m->box[0] * m->element;

    if (m->rank < 1 || m->rank > PTXI_TENSOR_MOST || !m->element || m->base % 16 || !row || row % 16 || (m->swizzle && row != 16u << m->swizzle) ||
        (m->nan && m->type != F16 && m->type != BF16))
        return false;
    if (m->im2col && (m->rank < 3 || !m->pixels || m->pixels > PTXI_TENSOR_PIXELS))
        return false;
    for (unsigned d = 1; d < m->rank; d++)
        if ((!m->im2col && !m->box[d]) || m->box[d] > 256 || !m->step[d] || m->step[d] > 8 || m->stride[d - 1] % 16 || m->stride[d - 1] >> 40)
            return false;
    return m->box[0] <= 256;
}

/* Elements that a box has along dimension d. */
static uint32_t taken(const struct ptxi_tensor_map *m, unsigned d)
{
    if (d && m->rows)
        return PTXI_TENSOR_ROW_COUNT;
    return d ? (m->box[d] + m->step[d] - 1u) / m->step[d] : m->box[0];
}

static uint32_t row_bytes(const struct ptxi_tensor_map *m)
{
    return (uint32_t)m->box[0] * m->element;
}

uint32_t ptxi_tensor_box_bytes(const struct ptxi_tensor_map *m)
{
    uint64_t n = row_bytes(m);

    if (m->im2col)
        return (uint32_t)n * m->pixels;
    for (unsigned d = 1; d < m->rank; d++)
        n *= taken(m, d);
    return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

/* To the next pixel: along the first of the dimensions in between that has one left before its upper corner; the others begin anew at their lower
 * ones. Behind the last pixel of an image comes the first one of the next. */
static void next_pixel(const struct ptxi_tensor_map *m, int64_t *at)
{
    unsigned d;

    for (d = 1; d + 1 < m->rank; d++) {
        at[d] += m->step[d];
        if (at[d] <= (int64_t)m->last[d] + m->upper[d - 1])
            return;
        at[d] = m->lower[d - 1];
    }
    at[d]++;
}

/* PTX ISA, "im2col mode". */
static bool walk_pixels(const struct ptxi_tensor_map *m, const int32_t *corner, int64_t from, int64_t end, ptxi_tensor_row *f, void *ctx)
{
    int64_t at[PTXI_TENSOR_MOST];

    for (unsigned d = 1; d < m->rank; d++)
        at[d] = corner[d];
    for (uint32_t row = 0; row < m->pixels; row++, next_pixel(m, at)) {
        bool inside = end > from;
        uint64_t address = m->base + (uint64_t)(corner[0] + from) * m->element;

        for (unsigned d = 1; d < m->rank; d++) {
            int64_t c = at[d] + (d + 1 < m->rank ? corner[PTXI_TENSOR_MOST + d - 1] : 0);

            inside &= c >= 0 && c <= (int64_t)m->last[d];
            address += (uint64_t)c * m->stride[d - 1];
        }
        if (!f(ctx, row, address, inside ? (uint32_t)from * m->element : 0, inside ? (uint32_t)(end - from) * m->element : 0))
            return false;
    }
    return true;
}

bool ptxi_tensor_walk(const struct ptxi_tensor_map *m, const int32_t *corner, ptxi_tensor_row *f, void *ctx)
{
    uint32_t k[PTXI_TENSOR_MOST] = { 0 };
    int64_t first = corner[0], size = (int64_t)m->last[0] + 1;
    int64_t from = first < 0 ? -first : 0, end = size - first < m->box[0] ? size - first : m->box[0];

    if (m->im2col)
        return walk_pixels(m, corner, from, end, f, ctx);
    for (uint32_t row = 0;; row++) {
        bool inside = end > from;
        uint64_t at = m->base + (uint64_t)(first + from) * m->element;
        unsigned d;

        for (d = 1; d < m->rank; d++) {
            int64_t c = m->rows ? corner[1 + k[1]] : (int64_t)corner[d] + (int64_t)k[d] * m->step[d];

            inside &= c >= 0 && c <= (int64_t)m->last[d];
            at += (uint64_t)c * m->stride[d - 1];
        }
        if (!f(ctx, row, at, inside ? (uint32_t)from * m->element : 0, inside ? (uint32_t)(end - from) * m->element : 0))
            return false;
        for (d = 1; d < m->rank && ++k[d] == taken(m, d); d++)
            k[d] = 0;
        if (d >= m->rank)
            return true;
    }
}

/* PTX ISA, "Swizzling Modes": 16-byte chunks change places within 32, 64 or 128 bytes, by the bits of the shared address from 128 on. */
static uint32_t swizzled(const struct ptxi_tensor_map *m, uint32_t offset)
{
    return offset ^ ((offset >> 7 & ((1u << m->swizzle) - 1)) << 4);
}

struct move {
    const struct ptxi_tensor_map *map;
    unsigned char *shared;
    uint32_t offset;
    unsigned reduce;
};

enum { MOST_ROW = 256 * 8 };

static bool load_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct move *v = ctx;
    unsigned char buffer[MOST_ROW] = { 0 };
    uint32_t size = row_bytes(v->map);

    for (uint32_t k = 0; v->map->nan && k < size; k += 2)
        memcpy(buffer + k, &(uint16_t){ PTXI_OOB_NAN }, 2);
    if (bytes)
        memcpy(buffer + from, (const void *)(uintptr_t)at, bytes);
    for (uint32_t k = 0; k < size; k += 16)
        memcpy(v->shared + swizzled(v->map, v->offset + row * size + k), buffer + k, 16);
    return true;
}

static bool store_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct move *v = ctx;
    unsigned char buffer[MOST_ROW], *to = (unsigned char *)(uintptr_t)at;
    uint32_t size = row_bytes(v->map);

    for (uint32_t k = 0; k < size; k += 16)
        memcpy(buffer + k, v->shared + swizzled(v->map, v->offset + row * size + k), 16);
    if (bytes && v->reduce)
        ptxi_reduce(v->reduce, to, buffer + from, bytes);
    else if (bytes)
        memcpy(to, buffer + from, bytes);
    return true;
}

void ptxi_tensor_load(const struct ptxi_tensor_map *m, const int32_t *corner, unsigned char *shared, uint32_t offset)
{
    ptxi_tensor_walk(m, corner, load_row, &(struct move){ m, shared, offset, 0 });
}

void ptxi_tensor_store(const struct ptxi_tensor_map *m, const int32_t *corner, unsigned char *shared, uint32_t offset, unsigned reduce)
{
    ptxi_tensor_walk(m, corner, store_row, &(struct move){ m, shared, offset, reduce });
}

unsigned ptxi_tensor_reduction(const struct ptxi_tensor_map *m, enum ptxi_tensor_reduction r)
{
#define BITS(n) [PTXI_TENSOR_AND] = PTXI_OP_atom_and_b##n, [PTXI_TENSOR_OR] = PTXI_OP_atom_or_b##n, [PTXI_TENSOR_XOR] = PTXI_OP_atom_xor_b##n
#define ORDER(t) [PTXI_TENSOR_MIN] = PTXI_OP_atom_min_##t, [PTXI_TENSOR_MAX] = PTXI_OP_atom_max_##t
    static const uint16_t ops[TYPES][PTXI_TENSOR_REDUCTIONS] = {
        [U32] = { BITS(32), ORDER(u32), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i32, [PTXI_TENSOR_INC] = PTXI_OP_atom_inc_u32, [PTXI_TENSOR_DEC] = PTXI_OP_atom_dec_u32 },
        [S32] = { BITS(32), ORDER(s32), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i32 },
        [U64] = { BITS(64), ORDER(u64), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_i64 },
        [S64] = { BITS(64), ORDER(s64) },
        [F16] = { ORDER(f16), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f16 },
        [F32] = { [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f32 },
        [F64] = { [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_f64 },
        [BF16] = { ORDER(bf16), [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_bf16 },
    };

    return m->type < TYPES ? ops[m->type][r] : 0;
}
