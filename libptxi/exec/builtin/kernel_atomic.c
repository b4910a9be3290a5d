/* The compare-and-swap of 16 bits that code for debuggers calls. */
#include "exec/builtin/builtin_call.h"
#include "exec/builtin/kernel_functions.h"
#include "exec/engine/engine.h"

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
            ptxi_fault_access(call->warp, call->insn, PTXI_FK_MISALIGNED, (ptxi_lanes)1 << l, at, 2, PTXI_AK_ATOMIC,
                              NULL);
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
