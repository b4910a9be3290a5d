/* Addresses and the windows of the generic address space: PTX ISA, "Data Movement and Conversion Instructions: cvta",
 * "isspacep". Constants and kernel parameters have host addresses as generic ones; shared and local memory have windows. */
#include "exec/engine.h"
#include "exec/level.h"

#define MOVE_BY(name, amount)                              \
    OP( name )                                             \
    {                                                      \
        const uint64_t *a = PTXI_SLOT(w, i->a);            \
        uint64_t by = (amount), *d = PTXI_SLOT(w, i->d);   \
                                                           \
        WRITE_LANES(d, a[l] + by);                         \
        NEXT;                                              \
    }

MOVE_BY( cvta_shared, PTXI_SHARED_WINDOW )
MOVE_BY( cvta_local, PTXI_LOCAL_WINDOW )
MOVE_BY( cvta_const, (uintptr_t)w->cta->grid->program->const_bank )
MOVE_BY( cvta_param, (uintptr_t)w->cta->grid->params )
MOVE_BY( cvta_to_shared, -PTXI_SHARED_WINDOW )
MOVE_BY( cvta_to_local, -PTXI_LOCAL_WINDOW )
MOVE_BY( cvta_to_const, -(uintptr_t)w->cta->grid->program->const_bank )
MOVE_BY( cvta_to_param, -(uintptr_t)w->cta->grid->params )

OP( local_addr )
{
    uint64_t at = w->frame->local_base + (uint64_t)i->imm, *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, at);
    NEXT;
}

OP( shared_dynamic )
{
    uint32_t align = (uint32_t)i->imm, at = (w->cta->grid->code->shared_end + align - 1) & -align, *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, at);
    NEXT;
}

/* Lanes whose address lies in [base, base + size). */
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

ISSPACEP( shared, lanes_in(w, i, PTXI_SHARED_WINDOW, PTXI_SHARED_STEP) |
                      lanes_in(w, i, PTXI_SHARED_WINDOW + (w->cta->rank + UINT64_C(1)) * PTXI_SHARED_STEP, PTXI_SHARED_STEP) )
ISSPACEP( cluster, lanes_in(w, i, PTXI_SHARED_WINDOW, PTXI_WINDOW_SIZE) )
ISSPACEP( local, lanes_in(w, i, PTXI_LOCAL_WINDOW, PTXI_WINDOW_SIZE) )
ISSPACEP( const, lanes_in(w, i, (uintptr_t)w->cta->grid->program->const_bank, w->cta->grid->program->const_size) )
ISSPACEP( param, lanes_in(w, i, (uintptr_t)w->cta->grid->params, w->cta->grid->code->param_bytes) )
/* The window of kernel parameters lies inside global memory. */
ISSPACEP( global, ~(lanes_in(w, i, PTXI_SHARED_WINDOW, 2 * PTXI_WINDOW_SIZE) |
                    lanes_in(w, i, (uintptr_t)w->cta->grid->program->const_bank, w->cta->grid->program->const_size)) )

/* A shared address of the CTA of some rank; what no cluster has leads nowhere. PTX ISA, "Data Movement and Conversion Instructions:
 * mapa", "getctarank". */
static inline uint32_t mapped(uint32_t address, uint32_t rank)
{
    return address % PTXI_SHARED_STEP + (rank < PTXI_MOST_CLUSTER ? rank + 1 : 255) * PTXI_SHARED_STEP;
}

static inline uint32_t rank_of(uint32_t address, uint32_t own)
{
    return address < PTXI_SHARED_STEP ? own : address / PTXI_SHARED_STEP - 1;
}

#define MAPA(name, T, window)                                                              \
    OP( mapa_##name )                                                                      \
    {                                                                                      \
        const T *a = PTXI_SLOT(w, i->a);                                                   \
        const uint32_t *b = PTXI_SLOT(w, i->b);                                            \
        T *d = PTXI_SLOT(w, i->d);                                                         \
                                                                                           \
        WRITE_LANES(d, mapped((uint32_t)a[l], b[l]) + (window));                           \
        NEXT;                                                                              \
    }                                                                                      \
    OP( getctarank_##name )                                                                \
    {                                                                                      \
        const T *a = PTXI_SLOT(w, i->a);                                                   \
        uint32_t *d = PTXI_SLOT(w, i->d), own = w->cta->rank;                              \
                                                                                           \
        WRITE_LANES(d, rank_of((uint32_t)a[l], own));                                      \
        NEXT;                                                                              \
    }

MAPA( shared_32, uint32_t, 0 )
MAPA( shared_64, uint64_t, 0 )
MAPA( generic_64, uint64_t, PTXI_SHARED_WINDOW )
