/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor. PTX ISA, "Data Movement and Conversion Instructions:
 * cp.async.bulk.tensor". */
#include <assert.h>
#include <string.h>

#include "exec/async/cp_async_bulk.h"
#include "exec/async/tma.h"
#include "exec/track/track.h"

/* Arguments of the tensor copy that follows. One instruction does not have enough operands. */
const struct ptxi_insn *ptxi_tensor_coords(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t slots[PTXI_TENSOR_MAX_RANK] = { i->a, i->b, i->c, i->d, (uint16_t)i->imm };
    struct ptxi_warp_async *async = ptxi_warp_async_get(w);
    unsigned first = i->mods;

    if (!async)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
    for (unsigned d = 0; d < PTXI_TENSOR_MAX_RANK && slots[d] != PTXI_NO_SLOT; d++) {
        assert(first + d < PTXI_TENSOR_ARGUMENTS);
        memcpy(async->tensor_arguments[first + d], PTXI_SLOT(w, slots[d]), sizeof async->tensor_arguments[0]);
    }
    return i + 1;
}

_Static_assert((int)PTXI_TENSOR_FIRST_OFFSET == PTXI_TENSOR_MAX_RANK &&
                   (int)PTXI_TENSOR_NEW_ADDRESS == PTXI_TENSOR_COORDS,
               "coordinates and offsets are the first arguments");

struct row_check {
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    const struct ptxi_bulk_job *j;
};

static bool check_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct row_check *c = ctx;

    (void)row, (void)from;
    return !bytes || ptxi_access_at(c->w, c->i, c->j->lane, PTXI_MS_GLOBAL, at, bytes, 1,
                                 c->j->to ? PTXI_AK_LOAD : PTXI_AK_STORE);
}

static bool track_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct row_check *c = ctx;

    (void)row, (void)from;
    ptxi_track_insn(c->w, c->i, c->j->to ? PTXI_TRACK_READ : PTXI_TRACK_WRITE, at, bytes);
    return true;
}

static enum ptxi_tma_mode mode_of(const struct ptxi_insn *i)
{
    switch (i->mods & PTXI_TENSOR_MODE) {
    case PTXI_TENSOR_IM2COL: return PTXI_TMA_IM2COL;
    case PTXI_TENSOR_WIDE: return PTXI_TMA_IM2COL_W;
    case PTXI_TENSOR_W128: return PTXI_TMA_IM2COL_W128;
    default: return PTXI_TMA_TILE;
    }
}

/* The coordinates of the box, and in im2col modes the offsets. */
static void read_coords(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    bool offsets = j->map.mode != PTXI_TMA_TILE && !(i->mods & PTXI_TENSOR_STORE);
    bool halo = j->map.mode == PTXI_TMA_IM2COL_W || j->map.mode == PTXI_TMA_IM2COL_W128;

    assert(i->imm <= PTXI_TENSOR_COORDS);
    memset(j->coords, 0, sizeof j->coords);
    for (int d = 0; d < i->imm; d++)
        j->coords[d] = w->async->tensor_arguments[d][j->lane];
    for (int d = PTXI_TENSOR_MAX_RANK; offsets && d < PTXI_TENSOR_COORDS; d++)
        j->coords[d] = w->async->tensor_arguments[d][j->lane];
    j->map.halo = halo ? (uint16_t)j->coords[PTXI_TENSOR_MAX_RANK] : 0;
}

/* Replaces values of the map. PTX ISA, "Overriding tensor property value". */
static void override(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    int32_t (*arguments)[PTXI_LANES] = w->async->tensor_arguments;
    uint32_t upper = (uint32_t)arguments[PTXI_TENSOR_UPPER_STRIDES][j->lane];

    j->map.base = (uint32_t)arguments[PTXI_TENSOR_NEW_ADDRESS][j->lane] |
                  (uint64_t)(uint32_t)arguments[PTXI_TENSOR_NEW_ADDRESS + 1][j->lane] << 32;
    for (unsigned d = 0; i->mods & PTXI_TENSOR_OVERRIDE_SIZES && d < j->map.rank; d++) {
        uint32_t size = arguments[PTXI_TENSOR_NEW_SIZES + d][j->lane] & UINT8_MAX;

        j->map.last[d] = size - 1;
        if (d > 0)
            j->map.stride[d - 1] = ((uint32_t)arguments[PTXI_TENSOR_NEW_STRIDES + d - 1][j->lane] |
                                    (uint64_t)(upper >> 4 * (d - 1) & 15) << 32) << 4;
    }
}

static bool begins_at_zero(const struct ptxi_bulk_job *j)
{
    for (unsigned d = 0; d < j->map.rank; d++)
        if (j->coords[d])
            return false;
    return true;
}

/* Reads the tensor map and the coordinates. Returns NULL, or an error message. */
static const char *read_tensor(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    uint64_t map = ((const uint64_t *)PTXI_SLOT(w, i->b))[j->lane];
    enum ptxi_tensor_reduction r = i->mods >> PTXI_TENSOR_REDUCE & PTXI_TENSOR_REDUCE_MASK;

    if (ptxi_access_read(w, j->lane, map, &j->map, sizeof j->map) < sizeof j->map ||
        j->map.magic != PTXI_TENSOR_MAP_MAGIC || j->map.rank != (i->mods & PTXI_TENSOR_ROWS ? 2 : i->imm))
        return "no tensor map of this number of dimensions at the address";
    j->map.rows = i->mods & PTXI_TENSOR_ROWS;
    if (j->map.mode != mode_of(i))
        return "the tensor map is for another mode";
    if (i->mods & PTXI_TENSOR_OVERRIDE)
        override(w, i, j);
    if (j->map.base % 16)
        return "the address of the tensor is not a multiple of 16";
    if (!ptxi_tensor_map_is_valid(&j->map) || (j->map.rows && j->map.box[1] != 1))
        return j->map.rows ? "the boxes of the tensor map are not single rows"
                           : "invalid combination of fields in the tensor map";
    j->reduce = (uint16_t)ptxi_tensor_map_reduction(&j->map, r);
    if (r != PTXI_TENSOR_COPY && !j->reduce)
        return "this reduction is not defined for the element type of the tensor";
    read_coords(w, i, j);
    if (i->mods & PTXI_TENSOR_OVERRIDE_SIZES && !begins_at_zero(j))
        return "a box in a tensor with overridden sizes does not begin at coordinates 0";
    return ptxi_tensor_map_check_coords(&j->map, j->coords, i->mods & PTXI_TENSOR_STORE);
}

/* Sets the tensor and the box in shared memory. False: a fault. */
static bool find_box(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    uint64_t address = ((const uint64_t *)PTXI_SLOT(w, i->a))[j->lane], lo, hi;
    bool store = i->mods & PTXI_TENSOR_STORE;
    const char *error = read_tensor(w, i, j);
    const struct ptxi_cta *owner;
    unsigned char *box;

    if (error) {
        ptxi_bulk_misuse(w, i, j->lane, error);
        return false;
    }
    j->tensor = true;
    j->size = ptxi_tensor_map_box_bytes(&j->map);
    box = ptxi_bulk_find_memory(w, i, j->lane, address, ptxi_tensor_map_box_room(&j->map), 128,
                                store ? PTXI_AK_LOAD : PTXI_AK_STORE);
    if (!box)
        return false;
    owner = ptxi_shared_owner(w->cta, box);
    if (!owner) {
        ptxi_bulk_misuse(w, i, j->lane, "the box is not in shared memory");
        return false;
    }
    j->to = store ? NULL : box;
    j->from = store ? box : NULL;
    j->box_offset = (uint32_t)(box - owner->shared);
    if (ptxi_tma_extent(&j->map, j->coords, &lo, &hi) &&
        ptxi_access_check(w, i, lo, hi - lo, store ? PTXI_AK_STORE : PTXI_AK_LOAD))
        return true;
    return ptxi_tma_walk(&j->map, j->coords, check_row, &(struct row_check){ w, i, j });
}

const struct ptxi_insn *ptxi_cp_async_tensor(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *mask = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);
    bool pair = i->mods & PTXI_TENSOR_PAIR;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_bulk_job j;
        bool ok;

        ptxi_bulk_job_init(&j, w, i, ptxi_first_lane(left));
        if (!find_box(w, i, &j) || !ptxi_bulk_set_completion(w, i, &j) || !ptxi_bulk_check_mbarrier(w, i, &j, pair) ||
            !ptxi_bulk_set_report(w, i, &j, i->mods >> PTXI_TENSOR_REPORT))
            return w->stop;
        if (w->cta->grid->tracker)
            ptxi_tma_walk(&j.map, j.coords, track_row, &(struct row_check){ w, i, &j });
        ok = mask ? ptxi_bulk_submit_multicast(w, i, &j, mask[j.lane], pair) : ptxi_bulk_submit(w, i, &j);
        if (!ok)
            return w->stop;
    }
    return i + 1;
}
