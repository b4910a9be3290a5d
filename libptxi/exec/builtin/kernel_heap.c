/* malloc and free of kernels (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations"), operators new and delete, and
 * the compare-and-swap of 16 bits that code for debuggers calls. */
#include "exec/builtin/builtin.h"
#include "exec/engine/engine.h"

bool ptxi_builtin_malloc(struct ptxi_builtin_call *call, void *user)
{
    struct ptxi_grid *g = call->warp->cta->grid;

    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = g->heap ? g->heap->get(g->heap_ctx, ptxi_builtin_arg64(call, 0, l)) : 0;

        ptxi_builtin_return64(call, l, at);
    }
    return true;
}

bool ptxi_builtin_free(struct ptxi_builtin_call *call, void *user)
{
    static const char *const wrong[] = { [PTXI_HEAP_TWICE] = "free: it has been freed before", [PTXI_HEAP_WILD] = "free: malloc has not given it" };
    struct ptxi_grid *g = call->warp->cta->grid;

    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = ptxi_builtin_arg64(call, 0, l);
        enum ptxi_heap_result r = !at ? PTXI_HEAP_OK : g->heap ? g->heap->put(g->heap_ctx, at) : PTXI_HEAP_WILD;

        if (r == PTXI_HEAP_OK)
            continue;
        ptxi_fault(call->warp, call->insn, r == PTXI_HEAP_TWICE ? PTXI_FK_FREE_TWICE : PTXI_FK_FREE, (ptxi_lanes)1 << l, at, 0, wrong[r]);
        return false;
    }
    return true;
}

/* unsigned short __usAtomicCAS(unsigned short *address, unsigned short compare, unsigned short value) */
bool ptxi_builtin_cas16(struct ptxi_builtin_call *call, void *user)
{
    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = ptxi_builtin_arg64(call, 0, l);
        uint16_t old = (uint16_t)ptxi_builtin_arg32(call, 2, l), value = (uint16_t)ptxi_builtin_arg32(call, 3, l);
        unsigned char *p;

        if (at & 1) {
            ptxi_fault(call->warp, call->insn, PTXI_FK_MISALIGNED, (ptxi_lanes)1 << l, at, 2, "atomic");
            return false;
        }
        p = ptxi_builtin_pointer(call, l, at, 2, true);
        if (!p)
            return false;
        __atomic_compare_exchange_n((uint16_t *)(void *)p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        ptxi_builtin_return32(call, l, old);
    }
    return true;
}
