/* Addresses and the windows of the generic address space: PTX ISA, "Data Movement and Conversion Instructions: cvta",
 * "isspacep". The generic addresses of constants and kernel parameters are host addresses. Shared and local memory
 * have windows. */
#include <assert.h>

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "num/approx.h"
#include "num/float.h"

/* d = a + amount */
#define ADD_OFFSET(name, amount)                           \
    OP( name )                                             \
    {                                                      \
        const uint64_t *a = PTXI_SLOT(w, i->a);            \
        uint64_t by = (amount), *d = PTXI_SLOT(w, i->d);   \
                                                           \
        WRITE_LANES(d, a[l] + by);                         \
        NEXT;                                              \
    }

ADD_OFFSET( cvta_shared, PTXI_SHARED_WINDOW )
ADD_OFFSET( cvta_local, PTXI_LOCAL_WINDOW )
ADD_OFFSET( cvta_const, (uintptr_t)w->cta->grid->program->const_bank )
ADD_OFFSET( cvta_param, (uintptr_t)w->cta->grid->params )
ADD_OFFSET( cvta_to_local, -PTXI_LOCAL_WINDOW )
ADD_OFFSET( cvta_to_const, -(uintptr_t)w->cta->grid->program->const_bank )
ADD_OFFSET( cvta_to_param, -(uintptr_t)w->cta->grid->params )

/* The window begins at a multiple of 2^32, as on a GPU, so that the lower word of an address does not change. */
_Static_assert((uint32_t)PTXI_SHARED_WINDOW == 0, "shared addresses are the lower word of generic ones");
OP( cvta_to_shared )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, a[l] & UINT32_MAX);
    NEXT;
}

OP( local_addr )
{
    uint64_t at = w->frame->local_base + (uint64_t)i->imm, *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, at);
    NEXT;
}

OP( shared_addr )
{
    uint32_t at = (uint32_t)w->shared_at + (uint32_t)i->imm, *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, at);
    NEXT;
}

OP( shared_dynamic )
{
    uint32_t align = (uint32_t)i->imm, end = (w->cta->grid->code->shared_end + align - 1) & -align;
    uint32_t at = end + (uint32_t)w->shared_at, *d = PTXI_SLOT(w, i->d);

    assert(align && !(align & (align - 1)));
    WRITE_LANES(d, at);
    NEXT;
}

/* The lanes with an address in [base, base + size). */
static ptxi_lanes lanes_in(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t base, uint64_t size)
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    ptxi_lanes in = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        in |= (ptxi_lanes)(a[l] - base < size) << l;
    return in;
}

#define ISSPACEP(space, lanes)               \
    OP( isspacep_##space )                   \
    {                                        \
        ptxi_set_pred(w, i->d, (lanes));     \
        NEXT;                                \
    }

ISSPACEP( shared, lanes_in(w, i, PTXI_SHARED_WINDOW + w->shared_at, PTXI_SHARED_STEP) )
ISSPACEP( cluster, lanes_in(w, i, PTXI_SHARED_WINDOW, PTXI_WINDOW_SIZE) )
ISSPACEP( local, lanes_in(w, i, PTXI_LOCAL_WINDOW, PTXI_WINDOW_SIZE) )
ISSPACEP( const, lanes_in(w, i, (uintptr_t)w->cta->grid->program->const_bank, w->cta->grid->program->const_size) )
ISSPACEP( param, lanes_in(w, i, (uintptr_t)w->cta->grid->params, w->cta->grid->code->param_bytes) )
/* The window of kernel parameters is a part of global memory. */
ISSPACEP( global, ~(lanes_in(w, i, PTXI_SHARED_WINDOW, 2 * PTXI_WINDOW_SIZE) |
                    lanes_in(w, i, (uintptr_t)w->cta->grid->program->const_bank, w->cta->grid->program->const_size)) )

/* The rank is the highest byte of the shared address, which is the lower half of a generic address. PTX ISA, "Data
 * Movement and Conversion Instructions: mapa", "getctarank". */
#define MAPA(name, T)                                                                                                \
    OP( mapa_##name )                                                                                                \
    {                                                                                                                \
        const T *a = PTXI_SLOT(w, i->a);                                                                             \
        const uint32_t *b = PTXI_SLOT(w, i->b);                                                                      \
        T *d = PTXI_SLOT(w, i->d);                                                                                   \
                                                                                                                     \
        WRITE_LANES(d, (a[l] & ~(T)(UINT32_MAX - (PTXI_SHARED_STEP - 1))) | (uint32_t)(b[l] * PTXI_SHARED_STEP));   \
        NEXT;                                                                                                        \
    }                                                                                                                \
    OP( getctarank_##name )                                                                                          \
    {                                                                                                                \
        const T *a = PTXI_SLOT(w, i->a);                                                                             \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                            \
                                                                                                                     \
        WRITE_LANES(d, (uint32_t)a[l] / PTXI_SHARED_STEP);                                                           \
        NEXT;                                                                                                        \
    }

MAPA(32, uint32_t)
MAPA(64, uint64_t)

/* The policy of createpolicy.range as ptxas encodes it. Memory is divided into blocks of 4 KiB, or of a larger power
 * of two that divides `total` into at most 128 blocks, by the approximate logarithm. The policy has the number of the
 * first block and the number of blocks, in 7 bits each. */
static inline uint64_t range_policy(uint64_t address, uint32_t primary, uint32_t total, uint32_t priorities)
{
    float digits;
    uint64_t first, count;
    int shift;

    if (!total)
        return UINT64_C(0x180) << 52;
    digits = ptxi_num_f32(ptxi_num_lg2_approx_f32(ptxi_num_bits_f32((float)total)));
    shift = (int)digits + ((float)(int)digits < digits) - 7;
    shift = shift < 12 ? 12 : shift;
    first = address >> shift;
    count = ((address + (uint32_t)(primary - 1 + (1u << shift))) >> shift) - first;
    count = count < 127 ? count : 127;
    return (uint64_t)(priorities | (uint32_t)(shift - 12)) << 52 | (first & 127) << 44 | count << 37;
}

OP( policy_range )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    const uint32_t *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint64_t *d = PTXI_SLOT(w, i->d);

    for (int l = 0; l < PTXI_LANES; l++)
        if (w->active >> l & 1)
            d[l] = range_policy(a[l], b[l], c[l], (uint32_t)i->imm);
    NEXT;
}
