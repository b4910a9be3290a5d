/* The operation that compares the object of an access with those of its pointer (compile/codegen/track_pointers.c). */
#include "exec/check/object.h"
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"
#include "exec/memory/address_register.h"
#include "exec/memory/coalesce.h"

/* The lowest and the highest address of the active lanes, without the offset. */
static struct ptxi_address_range find_addresses(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const void *a = PTXI_SLOT(w, i->a);
    _Alignas(64) uint64_t lanes[PTXI_LANES];

    if (!(i->mods & PTXI_CHECK_ROW))
        return ptxi_address_range_64(a, w->active);
    return ptxi_row_has(a, w->active) ? ptxi_address_range_of_row(w, a) :
                                        ptxi_address_range_64(ptxi_address_lanes(a, lanes), w->active);
}

static bool is_same(const struct ptxi_warp *w, const uint64_t *values)
{
    uint64_t first = values[ptxi_first_lane(w->active)], off = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1)
        off |= values[ptxi_first_lane(left)] ^ first;
    return !off;
}

/* Whether all lanes access the object of an origin that they share. True for nearly all accesses. */
static bool is_inside(const struct ptxi_warp *w, const struct ptxi_insn *i, uint16_t slot, unsigned k)
{
    const uint64_t *origin = PTXI_SLOT(w, slot);
    struct ptxi_address_range r;
    struct ptxi_object_bounds b;

    if (!(i->mods >> (PTXI_OBJECT_SAME_SHIFT + k) & 1) && !is_same(w, origin))
        return false;
    b = ptxi_object_at(w, origin[ptxi_first_lane(w->active)]);
    r = find_addresses(w, i);
    return r.hi >= r.lo && r.lo + (uint64_t)(int64_t)i->imm - b.base < b.end - b.base &&
           r.hi + (uint64_t)(int64_t)i->imm - b.base < b.end - b.base;
}

/* Whether all lanes access the shared variable of one origin: constants, the same in all lanes. True for nearly all
 * accesses. */
static bool is_in_variable(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t slots[PTXI_OBJECT_ORIGINS] = { i->b, i->c, i->d };
    const uint64_t bytes = i->mods & PTXI_CHECK_BYTES, size = bytes ? bytes : PTXI_CHECK_BYTES + 1;
    struct ptxi_address_range r;
    int64_t lo, end;

    if (!(i->mods & PTXI_CHECK_SHARED))
        return false;
    r = ptxi_address_range_32(PTXI_SLOT(w, i->a), w->active);
    lo = (int64_t)r.lo + i->imm, end = (int64_t)(r.hi + size) + i->imm;
    for (unsigned k = 0; k < PTXI_OBJECT_ORIGINS && slots[k] != PTXI_NO_SLOT; k++) {
        const uint64_t bounds = *(const uint64_t *)PTXI_SLOT(w, slots[k]);

        if (!(bounds & PTXI_OBJECT_LOCAL) && lo >= (int64_t)(uint32_t)bounds && end <= (int64_t)(bounds >> 32))
            return true;
    }
    return false;
}

/* The generic address of a lane's access; a: the address register. */
static uint64_t address_of_lane(const struct ptxi_insn *i, const void *a, unsigned l)
{
    if (i->mods & PTXI_CHECK_SHARED)
        return PTXI_SHARED_WINDOW + (uint32_t)(((const uint32_t *)a)[l] + (uint32_t)i->imm);
    return ((const uint64_t *)a)[l] + (uint64_t)(int64_t)i->imm + (i->mods & PTXI_CHECK_LOCAL ? PTXI_LOCAL_WINDOW : 0);
}

static void check_variables(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    uint64_t addresses[PTXI_LANES];
    _Alignas(64) uint64_t row[PTXI_LANES];
    const void *a = PTXI_SLOT(w, i->a);
    ptxi_lanes shared = 0, local = 0;

    if (i->mods & PTXI_CHECK_ROW)
        a = ptxi_address_lanes(a, row);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = address_of_lane(i, a, l);

        shared |= (ptxi_lanes)(at - PTXI_SHARED_WINDOW < PTXI_WINDOW_SIZE) << l;
        local |= (ptxi_lanes)(at - PTXI_LOCAL_WINDOW < PTXI_WINDOW_SIZE) << l;
        addresses[l] = (uint32_t)at; /* the windows are that large */
    }
    ptxi_object_check_variables(w, i, addresses, shared, false);
    ptxi_object_check_variables(w, i, addresses, local, true);
}

OP( check_object )
{
    const uint16_t slots[PTXI_OBJECT_ORIGINS] = { i->b, i->c, i->d };
    const uint64_t *origins[PTXI_OBJECT_ORIGINS] = { NULL };
    _Alignas(64) uint64_t row[PTXI_LANES];
    const void *a = PTXI_SLOT(w, i->a);

    if (!w->cta->grid->findings)
        NEXT;
    if (i->mods & PTXI_OBJECT_OF_VARIABLE) {
        if (!is_in_variable(w, i))
            check_variables(w, i);
        NEXT;
    }
    for (unsigned k = 0; k < PTXI_OBJECT_ORIGINS && slots[k] != PTXI_NO_SLOT; k++) {
        if (is_inside(w, i, slots[k], k))
            NEXT;
        origins[k] = PTXI_SLOT(w, slots[k]);
    }
    ptxi_object_check(w, i, i->mods & PTXI_CHECK_ROW ? ptxi_address_lanes(a, row) : a, origins);
    NEXT;
}
