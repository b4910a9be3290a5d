/* malloc and free of kernels, and operators new and delete. CUDA C++ Programming Guide, "Dynamic Global Memory
 * Allocation and Operations". */
#include "exec/builtin/builtin_call.h"
#include "exec/builtin/kernel_functions.h"
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

static enum ptxi_heap_result free_one(const struct ptxi_grid *g, uint64_t address)
{
    if (!address)
        return PTXI_HEAP_OK;
    return g->heap ? g->heap->put(g->heap_ctx, address) : PTXI_HEAP_WILD;
}

bool ptxi_builtin_free(struct ptxi_builtin_call *call, void *user)
{
    static const struct {
        enum ptxi_fault_kind kind;
        const char *detail;
    } faults[] = {
        [PTXI_HEAP_TWICE] = { PTXI_FK_FREE_TWICE, "free: the memory has been freed before" },
        [PTXI_HEAP_WILD] = { PTXI_FK_FREE, "free: the address does not come from malloc" },
    };

    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = ptxi_builtin_arg64(call, 0, l);
        enum ptxi_heap_result r = free_one(call->warp->cta->grid, address);

        if (r == PTXI_HEAP_OK)
            continue;
        ptxi_fault(call->warp, call->insn, faults[r].kind, (ptxi_lanes)1 << l, address, 0, faults[r].detail);
        return false;
    }
    return true;
}
