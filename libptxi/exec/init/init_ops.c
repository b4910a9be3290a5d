/* Handlers of the operations that track uninitialised values. A mask is a predicate: the lanes in which a value is not
 * fully defined. A shadow has the class of its value; it is valid for the lanes of its mask. */
#include "exec/check/order.h"
#include "exec/engine/address_space.h"
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"
#include "exec/init/init.h"
#include "exec/init/init_shadow.h"
#include "exec/init/init_value.h"
#include "exec/memory/address_register.h"
#include "exec/memory/coalesce.h"

/* Classes of registers: 0 is a predicate. */
static inline uint32_t class_bytes(unsigned class)
{
    return 1u << class; /* 16 bits: class 1, 128 bits: class 4 */
}

static inline unsigned char *shadow_at(const struct ptxi_warp *w, unsigned slot, unsigned class, unsigned lane)
{
    return (unsigned char *)PTXI_SLOT(w, slot) + (size_t)lane * class_bytes(class);
}

static bool any_undefined(const unsigned char *shadow, uint32_t size)
{
    for (uint32_t k = 0; k < size; k++)
        if (shadow[k])
            return true;
    return false;
}

static void fill_shadow(const struct ptxi_warp *w, unsigned slot, unsigned class, ptxi_lanes lanes, int byte)
{
    for (; lanes && class; lanes &= lanes - 1)
        memset(shadow_at(w, slot, class, ptxi_first_lane(lanes)), byte, class_bytes(class));
}

static inline ptxi_lanes mask_in(const struct ptxi_warp *w, uint16_t slot)
{
    return slot == PTXI_NO_SLOT ? 0 : ptxi_pred(w, slot);
}

static inline ptxi_lanes masks_of_sources(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (mask_in(w, i->a) | mask_in(w, i->b) | mask_in(w, i->c)) & w->active;
}

OP( init_spread )
{
    ptxi_lanes lanes = i->imm & PTXI_INIT_UNDEFINED ? PTXI_ALL_LANES : masks_of_sources(w, i);

    ptxi_set_pred(w, i->d, lanes);
    if (__builtin_expect(lanes != 0, 0))
        fill_shadow(w, i->mods, i->imm & 7, lanes & w->active, 0xff);
    NEXT;
}

OP( init_move )
{
    ptxi_lanes lanes = mask_in(w, i->a) & w->active;
    unsigned class = i->mods;

    ptxi_set_pred(w, i->d, lanes);
    for (ptxi_lanes left = lanes; left && class; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        memmove(shadow_at(w, i->b, class, l), shadow_at(w, i->c, class, l), class_bytes(class));
    }
    NEXT;
}

/* Makes the shadow of a source valid for all active lanes. */
static void complete_shadow(const struct ptxi_warp *w, uint16_t mask, unsigned slot, unsigned class)
{
    if (mask != PTXI_NO_SLOT)
        fill_shadow(w, slot, class, w->active & ~ptxi_pred(w, mask), 0);
}

OP( init_bits )
{
    const struct ptxi_insn *bits = i + 1;
    ptxi_lanes lanes = 0;

    if (__builtin_expect(!(masks_of_sources(w, i) | (mask_in(w, (uint16_t)i->imm) & w->active)), 1)) {
        ptxi_set_pred(w, i->d, 0);
        return i + 2;
    }
    complete_shadow(w, i->a, bits->a, i->mods >> 3 & 7);
    complete_shadow(w, i->b, bits->b, i->mods >> 6 & 7);
    complete_shadow(w, i->c, bits->c, i->mods >> 9 & 7);
    complete_shadow(w, (uint16_t)i->imm, (uint16_t)bits->imm, i->mods >> 12 & 7);
    w->table[bits->op](bits, w);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        lanes |= (ptxi_lanes)any_undefined(shadow_at(w, bits->d, i->mods & 7, l), class_bytes(i->mods & 7)) << l;
    }
    ptxi_set_pred(w, i->d, lanes);
    return i + 2;
}

/* The operand in a slot, of a lane. A predicate is one bit. */
static uint64_t lane_bits(const struct ptxi_warp *w, unsigned slot, unsigned class, unsigned l)
{
    uint64_t bits = 0;

    if (!class)
        return ptxi_pred(w, slot) >> l & 1;
    memcpy(&bits, shadow_at(w, slot, class, l), class_bytes(class));
    return bits;
}

static struct ptxi_init_value operand(const struct ptxi_warp *w, const struct ptxi_init_exact *x, unsigned k,
                                      ptxi_lanes undefined, unsigned l)
{
    unsigned class = k == 2 ? x->third_class : x->operand_class;
    struct ptxi_init_value o = { 0, 0 };

    if (x->values[k] == PTXI_NO_SLOT)
        return o;
    o.bits = lane_bits(w, x->values[k], class, l);
    if (undefined >> l & 1)
        o.undefined = class ? lane_bits(w, x->shadows[k], class, l) : 1;
    return o;
}

OP( init_exact )
{
    const struct ptxi_init_exact *x = (const struct ptxi_init_exact *)(w->frame->code->pool + i->imm);
    const ptxi_lanes masks[] = { mask_in(w, i->a), mask_in(w, i->b), mask_in(w, i->c) };
    unsigned width = 8 * class_bytes(x->operand_class), result = 8 * class_bytes(x->class);
    ptxi_lanes lanes = 0;

    for (ptxi_lanes left = masks_of_sources(w, i); left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_init_value o[3];

        for (unsigned k = 0; k < 3; k++)
            o[k] = operand(w, x, k, masks[k], l);
        o[2].bits ^= x->not_c;
        uint64_t undefined = ptxi_init_undefined_bits((enum ptxi_init_rule)i->mods, width, o, x->table);

        if (!x->class)
            undefined &= 1;
        else if (result < 64)
            undefined &= ((uint64_t)1 << result) - 1;
        lanes |= (ptxi_lanes)(undefined != 0) << l;
        if (x->class)
            memcpy(shadow_at(w, x->shadow, x->class, l), &undefined, class_bytes(x->class));
    }
    ptxi_set_pred(w, i->d, lanes);
    NEXT;
}

OP( init_use )
{
    ptxi_lanes lanes = masks_of_sources(w, i);

    if (__builtin_expect(lanes != 0, 0))
        ptxi_init_report(w, i, (unsigned)i->imm, lanes, 0, 0);
    NEXT;
}

/* --- memory --- */

enum { MAX_RANGE = 1024 }; /* bytes between the lowest and the highest address that are worth a look at once */

/* The bytes between the lowest and the highest address of the active lanes. */
struct range {
    uint64_t first, size; /* size 0: not one range of memory, or a large one */
    bool shared;
};

static struct range find_range(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const void *a = PTXI_SLOT(w, i->a);
    struct ptxi_address_range r;
    struct range range = { .shared = i->mods & PTXI_CHECK_SHARED };

    if (range.shared) {
        r = ptxi_address_range_32(a, w->active);
        range.first = (uint32_t)(r.lo + (uint32_t)i->imm);
    } else if (i->mods & PTXI_INIT_ROW) {
        if (!ptxi_row_has(a, w->active))
            return range;
        r = ptxi_address_range_of_row(w, a);
        range.first = r.lo + (uint64_t)(int64_t)i->imm;
    } else {
        r = ptxi_address_range_64(a, w->active);
        range.first = r.lo + (uint64_t)(int64_t)i->imm;
        if (r.hi >= PTXI_SHARED_WINDOW || range.first >= PTXI_SHARED_WINDOW)
            return range;
    }
    if (r.hi - r.lo < MAX_RANGE)
        range.size = r.hi - r.lo + (i->mods & PTXI_CHECK_BYTES);
    return range;
}

/* Whether all of the range is known to be defined. */
static bool is_defined(const struct ptxi_warp *w, const struct range *r)
{
    const unsigned char *shadow;

    if (!r->size)
        return false;
    if (!r->shared)
        return ptxi_init_is_defined(r->first, r->size);
    shadow = ptxi_init_shared(w, r->first, (uint32_t)r->size);
    return shadow && ptxi_init_is_zero(shadow, r->size);
}

/* Makes all of the range defined, if it is tracked. */
static void define(const struct ptxi_warp *w, const struct range *r)
{
    unsigned char *shadow = r->shared ? ptxi_init_shared(w, r->first, (uint32_t)r->size) : NULL;

    if (shadow)
        memset(shadow, 0, r->size);
    else if (!r->shared)
        ptxi_init_define(r->first, r->size);
}

/* Whether the lanes access all bytes of the range if no two of them access the same. */
static bool is_dense(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct range *r)
{
    const void *a = PTXI_SLOT(w, i->a);
    uint32_t size = i->mods & PTXI_CHECK_BYTES;

    if (r->size != (uint64_t)__builtin_popcountll(w->active) * size)
        return false;
    if (i->mods & PTXI_INIT_ROW)
        return ((const struct ptxi_lane_row *)a)->stride == size;
    if (w->active != PTXI_ALL_LANES)
        return false;
    return r->shared ? ptxi_is_contiguous_32(a, size) : ptxi_is_contiguous_64(a, size);
}

/* The address of a lane, and in *shared where the shadow of shared memory is. False: other memory, which is not
 * tracked. */
static bool find_bytes(const struct ptxi_warp *w, const struct ptxi_insn *i, const void *a, unsigned l,
                       uint64_t *address, unsigned char **shared)
{
    uint32_t size = i->mods & PTXI_CHECK_BYTES;

    *shared = NULL;
    if (i->mods & PTXI_CHECK_SHARED) {
        *address = (uint32_t)(((const uint32_t *)a)[l] + (uint32_t)i->imm);
        return (*shared = ptxi_init_shared(w, *address, size)) != NULL;
    }
    *address = ((const uint64_t *)a)[l] + (uint64_t)(int64_t)i->imm;
    if (!(i->mods & PTXI_CHECK_GENERIC) || *address < PTXI_SHARED_WINDOW)
        return true;
    *address -= PTXI_SHARED_WINDOW;
    if (*address >= PTXI_WINDOW_SIZE)
        return false;
    return (*shared = ptxi_init_shared(w, *address, size)) != NULL;
}

static const void *lane_addresses(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t row[PTXI_LANES])
{
    const void *a = PTXI_SLOT(w, i->a);

    return i->mods & PTXI_INIT_ROW ? ptxi_address_lanes(a, row) : a;
}

/* Gets the shadow of a lane. Returns whether it has an undefined bit. */
static bool load_lane(const struct ptxi_warp *w, const struct ptxi_insn *i, const void *addresses, unsigned l)
{
    uint32_t size = i->mods & PTXI_CHECK_BYTES;
    unsigned class = i->mods >> PTXI_INIT_CLASS_SHIFT & 7;
    unsigned char *to = shadow_at(w, i->b, class, l), *shared;
    uint64_t address;

    if (!find_bytes(w, i, addresses, l, &address, &shared) ||
        (shared ? ptxi_init_is_zero(shared, size) : ptxi_init_is_defined(address, size)))
        return false;
    memset(to, 0, class_bytes(class));
    if (shared)
        memcpy(to, shared, size);
    else
        ptxi_init_get(address, size, to);
    return true;
}

OP( init_load )
{
    _Alignas(64) uint64_t row[PTXI_LANES];
    struct range r = find_range(w, i);
    const void *addresses;
    ptxi_lanes undefined = 0;

    if (!is_defined(w, &r)) {
        addresses = lane_addresses(w, i, row);
        for (ptxi_lanes left = w->active; left; left &= left - 1)
            undefined |= (ptxi_lanes)load_lane(w, i, addresses, ptxi_first_lane(left)) << ptxi_first_lane(left);
    }
    ptxi_set_pred(w, i->d, undefined);
    NEXT;
}

static void store_lane(struct ptxi_warp *w, const struct ptxi_insn *i, const void *addresses, unsigned l,
                       bool is_undefined)
{
    static const unsigned char zeros[16];
    uint32_t size = i->mods & PTXI_CHECK_BYTES;
    const unsigned char *from = is_undefined ? shadow_at(w, i->c, i->mods >> PTXI_INIT_CLASS_SHIFT & 7, l) : zeros;
    unsigned char *shared;
    uint64_t address;

    if (!find_bytes(w, i, addresses, l, &address, &shared))
        return;
    if (shared) {
        memcpy(shared, from, size);
        return;
    }
    if (i->mods & PTXI_INIT_COMPUTED && any_undefined(from, size)) {
        ptxi_init_report(w, i, PTXI_INIT_OUTPUT, (ptxi_lanes)1 << l, address, size);
        from = zeros; /* reported once */
    }
    if (from != zeros || !ptxi_init_is_defined(address, size))
        ptxi_init_set(address, size, from);
}

OP( init_store )
{
    _Alignas(64) uint64_t row[PTXI_LANES];
    ptxi_lanes undefined = mask_in(w, i->b) & w->active;
    struct range r = find_range(w, i);
    const void *addresses;

    if (!undefined && is_defined(w, &r))
        NEXT;
    if (!undefined && r.size && is_dense(w, i, &r)) {
        define(w, &r);
        NEXT;
    }
    addresses = lane_addresses(w, i, row);
    for (ptxi_lanes left = w->active; left; left &= left - 1)
        store_lane(w, i, addresses, ptxi_first_lane(left), undefined >> ptxi_first_lane(left) & 1);
    NEXT;
}
