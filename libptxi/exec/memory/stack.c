/* PTX ISA, "Stack Manipulation Instructions".
 *
 * The memory of alloca is at the end of a thread's .local memory and grows down, towards the depots of its calls. A
 * function that uses alloca restores the stack pointer before it returns (compile/lower/variable_access.c). */
#include <assert.h>

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"

#define STACK_PASTE_(name, bits) name##_##bits
#define STACK_PASTE(name, bits) STACK_PASTE_(name, bits)
#define OP_NAMED(name) OP(name)

/* The number of bytes of .local memory below `top` that the running function does not use. */
static inline uint64_t free_below(const struct ptxi_warp *w, uint64_t top)
{
    uint64_t used = w->frame->local_base + w->frame->code->local_bytes;

    return top > used && top <= w->local_stride ? top - used : 0;
}

/* Moves the lane's stack pointer down to `at`, and fills the new memory. */
static inline uint64_t push_stack(struct ptxi_warp *w, unsigned lane, uint64_t at)
{
    assert(lane < PTXI_LANES && at <= w->stack_top[lane]);
    ptxi_local_fill(w, (ptxi_lanes)1 << lane, at, w->stack_top[lane] - at);
    return w->stack_top[lane] = at;
}

#define STACK_BITS 32
#include "exec/memory/stack_inl.h"
#define STACK_BITS 64
#include "exec/memory/stack_inl.h"
