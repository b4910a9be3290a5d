/* Handlers of the operations that track uninitialised values. Shadows are registers of the classes of their values. */
#include "exec/check/init.h"
#include "exec/check/init_shadow.h"
#include "exec/check/order.h"
#include "exec/engine/address_space.h"
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"

/* Classes of registers: 0 is a predicate. */
static inline uint32_t class_bytes(unsigned class)
{
    return 1u << class; /* 16 bits: class 1, 128 bits: class 4 */
}

/* The lanes in which a shadow is not 0. */
static ptxi_lanes undefined_lanes(const struct ptxi_warp *w, uint16_t slot, unsigned class)
{
    const void *s = PTXI_SLOT(w, slot);
    ptxi_lanes lanes = 0;

    if (slot == PTXI_NO_SLOT)
        return 0;
    switch (class) {
    case 0: return *(const ptxi_lanes *)s;
    case 1: for (unsigned l = 0; l < PTXI_LANES; l++) lanes |= (ptxi_lanes)(((const uint16_t *)s)[l] != 0) << l; break;
    case 2: for (unsigned l = 0; l < PTXI_LANES; l++) lanes |= (ptxi_lanes)(((const uint32_t *)s)[l] != 0) << l; break;
    case 3: for (unsigned l = 0; l < PTXI_LANES; l++) lanes |= (ptxi_lanes)(((const uint64_t *)s)[l] != 0) << l; break;
    default:
        for (unsigned l = 0; l < PTXI_LANES; l++) {
            const uint64_t *v = (const uint64_t *)s + 2 * l;

            lanes |= (ptxi_lanes)((v[0] | v[1]) != 0) << l;
        }
    }
    return lanes;
}

static ptxi_lanes undefined_sources(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return undefined_lanes(w, i->a, i->mods >> 3 & 7) | undefined_lanes(w, i->b, i->mods >> 6 & 7) |
           undefined_lanes(w, i->c, i->mods >> 9 & 7);
}

OP( init_spread )
{
    ptxi_lanes lanes = i->imm ? PTXI_ALL_LANES : undefined_sources(w, i);
    unsigned class = i->mods & 7;
    unsigned char *d = PTXI_SLOT(w, i->d);

    if (i->d == PTXI_NO_SLOT)
        NEXT;
    if (class == 0) {
        ptxi_set_pred(w, i->d, lanes);
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        memset(d + (size_t)l * class_bytes(class), lanes >> l & 1 ? 0xff : 0, class_bytes(class));
    }
    NEXT;
}

OP( init_use )
{
    ptxi_lanes lanes = undefined_sources(w, i) & w->active;

    if (__builtin_expect(lanes != 0, 0))
        ptxi_init_report(w, i, (unsigned)i->imm, lanes, 0, 0);
    NEXT;
}

/* The address of a lane, and in *shared where the shadow of shared memory is. False: other memory, which is not
 * tracked. */
static bool find_bytes(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned l, uint64_t *address,
                       unsigned char **shared)
{
    const void *a = PTXI_SLOT(w, i->a);
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

OP( init_load )
{
    uint32_t size = i->mods & PTXI_CHECK_BYTES, width = class_bytes(i->mods >> PTXI_INIT_CLASS_SHIFT & 7);
    unsigned char *d = PTXI_SLOT(w, i->d), *shared;
    uint64_t address;

    if (i->d == PTXI_NO_SLOT)
        NEXT;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char *to = d + (size_t)l * width;

        memset(to, 0, width);
        if (!find_bytes(w, i, l, &address, &shared))
            continue;
        if (shared)
            memcpy(to, shared, size);
        else
            ptxi_init_get(address, size, to);
    }
    NEXT;
}

static bool any_undefined(const unsigned char *shadow, uint32_t size)
{
    for (uint32_t k = 0; k < size; k++)
        if (shadow[k])
            return true;
    return false;
}

OP( init_store )
{
    static const unsigned char zeros[16];
    uint32_t size = i->mods & PTXI_CHECK_BYTES, width = class_bytes(i->mods >> PTXI_INIT_CLASS_SHIFT & 7);
    const unsigned char *b = PTXI_SLOT(w, i->b);
    unsigned char *shared;
    uint64_t address;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const unsigned char *from = i->b == PTXI_NO_SLOT ? zeros : b + (size_t)l * width;

        if (!find_bytes(w, i, l, &address, &shared))
            continue;
        if (shared) {
            memcpy(shared, from, size);
            continue;
        }
        if (i->mods & PTXI_INIT_COMPUTED && any_undefined(from, size)) {
            ptxi_init_report(w, i, PTXI_INIT_OUTPUT, (ptxi_lanes)1 << l, address, size);
            from = zeros; /* reported once */
        }
        ptxi_init_set(address, size, from);
    }
    NEXT;
}
