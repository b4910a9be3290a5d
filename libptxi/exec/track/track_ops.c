/* The operation that records an access to global memory. */
#include "exec/engine/address_space.h"
#include "exec/engine/cta.h"
#include "exec/engine/handler.h"
#include "exec/memory/address_register.h"
#include "exec/track/track.h"

/* The first address and the bytes of a row of elements of neighbouring lanes, or of one element of all lanes. */
static inline bool find_row(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t *address, uint64_t *bytes)
{
    const uint32_t size = i->mods & PTXI_CHECK_BYTES;
    uint64_t stride;

    if (!ptxi_find_row(w, i, i->mods & PTXI_CHECK_ROW, address, &stride))
        return false;
    *bytes = stride ? size * (uint64_t)__builtin_popcountll(w->active) : size;
    return (!stride || stride == size) && *address + *bytes <= PTXI_SHARED_WINDOW;
}

static uint64_t element(const void *slot, uint32_t size, unsigned l)
{
    switch (size) {
    case 2: return ((const uint16_t *)slot)[l];
    case 4: return ((const uint32_t *)slot)[l];
    default: return ((const uint64_t *)slot)[l];
    }
}

static bool is_exchange(uint16_t op)
{
    return op == PTXI_OP_atom_exch_b32 || op == PTXI_OP_atom_exch_b64 || op == PTXI_OP_atom_exch_b128;
}

/* The instruction that the operation describes. */
static const struct ptxi_insn *described(const struct ptxi_insn *i)
{
    return i[1].op == PTXI_OP_guard ? i + 2 : i + 1;
}

/* The launch fails at an address that is misaligned or outside of memory, so what is recorded then does not matter. */
static __attribute__((noinline)) void track_lanes(const struct ptxi_warp *w, const struct ptxi_insn *i, bool atomic)
{
    _Alignas(64) uint64_t buffer[PTXI_LANES];
    const void *a = PTXI_SLOT(w, i->a);
    const uint64_t *addresses = i->mods & PTXI_CHECK_ROW ? ptxi_address_lanes(a, buffer) : a;
    const struct ptxi_insn *real = described(i);
    uint32_t size = i->mods & PTXI_CHECK_BYTES, place = i->b | (uint32_t)i->c << 16;
    enum ptxi_track_kind kind = i->mods & PTXI_CHECK_WRITE ? PTXI_TRACK_WRITE : PTXI_TRACK_READ;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = addresses[l] + (uint64_t)(int64_t)i->imm;

        if (address >= PTXI_SHARED_WINDOW)
            continue;
        if (!atomic || is_exchange(real->op))
            ptxi_track_range(w, kind, address, size, place);
        else if (!(address & (size - 1)))
            ptxi_track_reduce(w, address, size, real->op, element(PTXI_SLOT(w, real->b), size, l), place);
    }
}

OP( track_access )
{
    bool atomic = (i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3) == PTXI_CHECK_ATOMIC;
    uint64_t address, bytes;

    if (__builtin_expect(!w->cta->grid->tracker, 0))
        NEXT;
    if (!atomic && find_row(w, i, &address, &bytes))
        ptxi_track_range(w, i->mods & PTXI_CHECK_WRITE ? PTXI_TRACK_WRITE : PTXI_TRACK_READ, address, bytes,
                         i->b | (uint32_t)i->c << 16);
    else
        track_lanes(w, i, atomic);
    NEXT;
}
