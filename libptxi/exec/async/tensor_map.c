#include "exec/async/tensor_map.h"

#include <assert.h>
#include <stddef.h>

#include "isa/bytecode.h"

enum { MAX_BOX = 256, MAX_STEP = 8, PADDED_ALIGN = 32 };

unsigned ptxi_tensor_map_element_bits(unsigned type)
{
    static const uint8_t bits[PTXI_TENSOR_TYPES] = {
        [PTXI_TENSOR_U8] = 8,       [PTXI_TENSOR_U16] = 16,      [PTXI_TENSOR_U32] = 32,  [PTXI_TENSOR_S32] = 32,
        [PTXI_TENSOR_U64] = 64,     [PTXI_TENSOR_S64] = 64,      [PTXI_TENSOR_F16] = 16,  [PTXI_TENSOR_F32] = 32,
        [PTXI_TENSOR_F64] = 64,     [PTXI_TENSOR_BF16] = 16,     [PTXI_TENSOR_F32_FTZ] = 32, [PTXI_TENSOR_TF32] = 32,
        [PTXI_TENSOR_TF32_FTZ] = 32, [PTXI_TENSOR_B4] = 4,       [PTXI_TENSOR_B4_PADDED] = 4, [PTXI_TENSOR_B6] = 6
    };

    return type < PTXI_TENSOR_TYPES ? bits[type] : 0;
}

/* --- swizzling --- */

enum { SWIZZLE_128B = 3, SWIZZLE_96B = 4, SWIZZLES = 5, ATOMS = 4 };

static const struct ptxi_swizzle swizzles[SWIZZLES] = { { 0, 4, false, 0 },   { 1, 4, false, 32 }, { 3, 4, false, 64 },
                                                        { 7, 4, false, 128 }, { 1, 4, false, 96 } };
/* of SWIZZLE_128B, by atomicity */
static const struct ptxi_swizzle atoms[ATOMS] = {
    { 7, 4, false, 128 }, { 3, 5, false, 128 }, { 3, 5, true, 128 }, { 1, 6, false, 128 }
};

const struct ptxi_swizzle *ptxi_tensor_map_swizzle(const struct ptxi_tensor_map *m)
{
    assert(m->swizzle < SWIZZLES && m->atom < ATOMS);
    return m->atom ? &atoms[m->atom] : &swizzles[m->swizzle];
}

void ptxi_tensor_map_set_swizzle(struct ptxi_tensor_map *m, unsigned swizzle)
{
    m->atom = (uint8_t)(swizzle > SWIZZLE_128B ? swizzle - SWIZZLE_128B : 0);
    m->swizzle = (uint8_t)(swizzle - m->atom);
}

unsigned ptxi_tensor_map_max_row_bytes(const struct ptxi_tensor_map *m)
{
    return m->interleave ? 0 : ptxi_tensor_map_swizzle(m)->row_bytes;
}

/* --- whether the fields are valid --- */

bool ptxi_tensor_map_padding_ok(const struct ptxi_tensor_map *m)
{
    if (ptxi_tensor_map_chunk_bytes(m) == 16)
        return true;
    for (unsigned d = 1; d < m->rank; d++)
        if (m->stride[d - 1] % PADDED_ALIGN)
            return false;
    return m->box[0] == PTXI_TENSOR_PADDED_ROW && m->last[0] % PTXI_TENSOR_PADDED_ROW == PTXI_TENSOR_PADDED_ROW - 1 &&
           m->base % PADDED_ALIGN == 0 && !m->interleave &&
           (!m->swizzle || (m->swizzle == SWIZZLE_128B && !ptxi_tensor_map_swizzle(m)->flip));
}

static bool is_type_valid(const struct ptxi_tensor_map *m)
{
    bool is_float = m->type >= PTXI_TENSOR_F16 && m->type <= PTXI_TENSOR_TF32_FTZ;

    return m->bits && m->bits == ptxi_tensor_map_element_bits(m->type) && (!m->nan || is_float);
}

static bool is_swizzle_valid(const struct ptxi_tensor_map *m, uint32_t row)
{
    unsigned max;

    if (m->swizzle >= SWIZZLES || m->atom >= ATOMS || (m->atom && m->swizzle != SWIZZLE_128B))
        return false;
    if (m->swizzle == SWIZZLE_96B && (m->interleave || m->mode == PTXI_TMA_IM2COL_W128))
        return false;
    max = ptxi_tensor_map_max_row_bytes(m);
    return !max || row <= max;
}

static bool is_mode_valid(const struct ptxi_tensor_map *m)
{
    if ((m->mode != PTXI_TMA_TILE || m->interleave) && m->rank < 3)
        return false;
    if (m->interleave && (!m->step[0] || m->step[0] > MAX_STEP))
        return false;
    return m->mode == PTXI_TMA_TILE || (m->pixels && m->pixels <= PTXI_TENSOR_MAX_PIXELS);
}

static bool is_dimension_valid(const struct ptxi_tensor_map *m, unsigned d)
{
    return (m->mode != PTXI_TMA_TILE || m->box[d]) && m->box[d] <= MAX_BOX && m->step[d] && m->step[d] <= MAX_STEP &&
           m->stride[d - 1] % 16 == 0 && !(m->stride[d - 1] >> 40);
}

bool ptxi_tensor_map_is_valid(const struct ptxi_tensor_map *m)
{
    uint32_t row = (uint32_t)ptxi_tensor_map_bytes(m, m->box[0]);

    if (m->rank < 1 || m->rank > PTXI_TENSOR_MAX_RANK || !is_type_valid(m) || m->interleave > 2 || m->base % 16 ||
        !row || row % 16)
        return false;
    if (!is_swizzle_valid(m, row) || !ptxi_tensor_map_padding_ok(m) || !is_mode_valid(m))
        return false;
    for (unsigned d = 1; d < m->rank; d++)
        if (!is_dimension_valid(m, d))
            return false;
    return m->box[0] <= MAX_BOX;
}

/* --- sizes --- */

static uint32_t row_count(const struct ptxi_tensor_map *m)
{
    uint64_t n = 1;

    if (m->mode == PTXI_TMA_IM2COL_W128)
        return PTXI_TENSOR_W128_PIXELS + PTXI_TENSOR_W128_PIXELS / PTXI_TENSOR_W128_GROUP * m->halo;
    if (m->mode != PTXI_TMA_TILE)
        return m->pixels + (uint32_t)m->halo;
    for (unsigned d = ptxi_tensor_map_outer_dimension(m); d < m->rank; d++)
        n *= ptxi_tensor_map_box_size(m, d);
    return n > 1 << 20 ? 1 << 20 : (uint32_t)n;
}

uint32_t ptxi_tensor_map_box_bytes(const struct ptxi_tensor_map *m)
{
    return row_count(m) * ptxi_tensor_map_row_bytes(m);
}

uint32_t ptxi_tensor_map_box_room(const struct ptxi_tensor_map *m)
{
    return row_count(m) * ptxi_tensor_map_row_pitch(m);
}

/* --- coordinates --- */

/* PTX ISA, "Bounding Box": in im2col mode the coordinates of the first pixel must be between the corners. In
 * im2col::w modes the coordinate may be before the lower corner. */
static bool is_in_bounding_box(const struct ptxi_tensor_map *m, const int32_t *coords)
{
    unsigned first = ptxi_tensor_map_outer_dimension(m), count;

    if (m->mode == PTXI_TMA_TILE)
        return true;
    count = m->mode == PTXI_TMA_IM2COL ? m->rank - 2u : 1;
    for (unsigned k = 0; k < count; k++) {
        int32_t c = coords[first + k];

        if ((c < m->lower[k] && m->mode == PTXI_TMA_IM2COL) || c > (int64_t)m->last[first + k] + m->upper[k])
            return false;
    }
    return true;
}

/* PTX ISA, "Restriction on Tensor Copy instructions" */
static const char *check_store(const struct ptxi_tensor_map *m, const int32_t *coords)
{
    unsigned bounded = m->mode == PTXI_TMA_IM2COL ? m->rank - 2u : 1;

    for (unsigned d = 0; d < (m->rows ? 1u + PTXI_TENSOR_ROW_COUNT : m->rank); d++)
        if (coords[d] < 0)
            return "a box to be stored begins at a negative coordinate";
    for (unsigned d = 0; m->mode != PTXI_TMA_TILE && d < bounded; d++)
        if (m->lower[d] < 0 || m->upper[d] > 0)
            return "the bounding box of pixels to be stored extends outside the tensor";
    return NULL;
}

const char *ptxi_tensor_map_check_coords(const struct ptxi_tensor_map *m, const int32_t *coords, bool store)
{
    if (ptxi_tensor_map_chunk_bytes(m) < 16 && coords[0] % PTXI_TENSOR_PADDED_ROW)
        return "a box of padded elements must begin at a multiple of 128 elements";
    if (!m->interleave && (int64_t)coords[0] * m->bits % (16 * 8))
        return "a box of a tensor must begin at a multiple of 16 bytes";
    if (store && m->type == PTXI_TENSOR_B4_PADDED)
        return "elements of type .b4x16_p64 cannot be stored";
    if (!is_in_bounding_box(m, coords))
        return "the first pixel of an im2col box is outside the bounding box";
    return store ? check_store(m, coords) : NULL;
}

/* --- reductions --- */

unsigned ptxi_tensor_map_reduction(const struct ptxi_tensor_map *m, enum ptxi_tensor_reduction r)
{
#define BITWISE(n)                              \
    [PTXI_TENSOR_AND] = PTXI_OP_atom_and_b##n,  \
    [PTXI_TENSOR_OR] = PTXI_OP_atom_or_b##n,    \
    [PTXI_TENSOR_XOR] = PTXI_OP_atom_xor_b##n
#define MIN_MAX(t) [PTXI_TENSOR_MIN] = PTXI_OP_atom_min_##t, [PTXI_TENSOR_MAX] = PTXI_OP_atom_max_##t
#define ADD(t) [PTXI_TENSOR_ADD] = PTXI_OP_atom_add_##t
    static const uint16_t ops[PTXI_TENSOR_TYPES][PTXI_TENSOR_REDUCTIONS] = {
        /* all others are illegal instructions on an H200 */
        [PTXI_TENSOR_U32] = { BITWISE(32), MIN_MAX(u32), ADD(i32), [PTXI_TENSOR_INC] = PTXI_OP_atom_inc_u32,
                              [PTXI_TENSOR_DEC] = PTXI_OP_atom_dec_u32 },
        [PTXI_TENSOR_S32] = { BITWISE(32), MIN_MAX(s32), ADD(i32) },
        [PTXI_TENSOR_U64] = { BITWISE(64), MIN_MAX(u64), ADD(i64) },
        [PTXI_TENSOR_S64] = { MIN_MAX(s64) },
        [PTXI_TENSOR_F16] = { MIN_MAX(f16), ADD(f16) },
        [PTXI_TENSOR_F32] = { ADD(f32) },
        [PTXI_TENSOR_F64] = { ADD(f64) },
        [PTXI_TENSOR_BF16] = { MIN_MAX(bf16), ADD(bf16) },
    };
#undef BITWISE
#undef MIN_MAX
#undef ADD

    return m->type < PTXI_TENSOR_TYPES ? ops[m->type][r] : 0;
}
