/* PTX ISA, "Stack Manipulation Instructions". What alloca gives lies at the end of a thread's .local memory and grows down towards
 * the depots of its calls. A function that uses it puts the pointer back before it returns (compile/lower/variable_access.c). */
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"

/* How much .local memory the running function leaves free below `top`. */
static inline uint64_t free_below(const struct ptxi_warp *w, uint64_t top)
{
    uint64_t used = w->frame->local_base + w->frame->code->local_bytes;

    return top > used && top <= w->local_stride ? top - used : 0;
}

/* Moves the lane's pointer down to `at`; what is above is new. */
static inline uint64_t take_stack(struct ptxi_warp *w, unsigned lane, uint64_t at)
{
    ptxi_local_fill(w, (ptxi_lanes)1 << lane, at, w->stack_top[lane] - at);
    return w->stack_top[lane] = at;
}

/* imm: the alignment, a power of two. */
#define STACK(n)                                                                                    \
    OP( stacksave_##n )                                                                             \
    {                                                                                               \
        uint##n##_t *d = PTXI_SLOT(w, i->d);                                                        \
                                                                                                    \
        WRITE_LANES(d, (uint##n##_t)w->stack_top[l]);                                               \
        NEXT;                                                                                       \
    }                                                                                               \
                                                                                                    \
    OP( stackrestore_##n )                                                                          \
    {                                                                                               \
        const uint##n##_t *a = PTXI_SLOT(w, i->a);                                                  \
                                                                                                    \
        for (int l = 0; l < PTXI_LANES; l++)                                                        \
            if (w->active >> l & 1)                                                                 \
                w->stack_top[l] = a[l];                                                             \
        w->stack_moved = true;                                                                      \
        NEXT;                                                                                       \
    }                                                                                               \
                                                                                                    \
    OP( alloca_##n )                                                                                \
    {                                                                                               \
        const uint##n##_t *a = PTXI_SLOT(w, i->a);                                                  \
        uint##n##_t *d = PTXI_SLOT(w, i->d);                                                        \
        uint64_t align = (uint32_t)i->imm;                                                          \
        ptxi_lanes overflow = 0;                                                                    \
                                                                                                    \
        for (int l = 0; l < PTXI_LANES; l++) {                                                      \
            uint64_t top = w->stack_top[l], room = free_below(w, top), at = (top - a[l]) & -align;  \
                                                                                                    \
            if (!(w->active >> l & 1))                                                              \
                continue;                                                                           \
            if (a[l] > room || top - at > room)                                                     \
                overflow |= (ptxi_lanes)1 << l;                                                     \
            else                                                                                    \
                d[l] = (uint##n##_t)take_stack(w, (unsigned)l, at);                                 \
        }                                                                                           \
        w->stack_moved = true;                                                                      \
        if (overflow)                                                                               \
            return ptxi_fault(w, i, PTXI_FK_STACK, overflow, 0, 0, "alloca");                       \
        NEXT;                                                                                       \
    }
STACK(32)
STACK(64)
