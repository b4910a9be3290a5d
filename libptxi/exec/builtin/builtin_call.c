#include "exec/builtin/builtin_call.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "exec/engine/engine.h"
#include "exec/memory/access.h"

size_t ptxi_builtin_read_string(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, char *to, size_t size)
{
    size_t n;

    assert(size);
    if (address)
        n = ptxi_access_read(call->warp, lane, address, to, size - 1);
    else
        n = (size_t)snprintf(to, size, "(null)");
    to[n] = 0;
    return strlen(to);
}

unsigned char *ptxi_builtin_pointer(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, size_t bytes,
                                    bool write)
{
    return ptxi_access_range(call->warp, call->insn, lane, address, bytes, write ? PTXI_AK_STORE : PTXI_AK_LOAD);
}

bool ptxi_builtin_may_continue(struct ptxi_builtin_call *call)
{
    const struct ptxi_grid *g = call->warp->cta->grid;
    enum ptxi_fault_kind kind = ptxi_grid_exceeded_limit(g);

    if (kind != PTXI_FK_NONE)
        ptxi_fault(call->warp, call->insn, kind, call->lanes, 0, 0, NULL);
    else if (ptxi_grid_failed(g))
        call->warp->event = PTXI_EVENT_FAULT;
    else
        return true;
    return false;
}

void ptxi_builtin_leave(struct ptxi_builtin_call *call)
{
    ptxi_rcu_read_unlock(call->warp->worker->rcu);
}

void ptxi_builtin_return(struct ptxi_builtin_call *call)
{
    ptxi_rcu_read_lock(call->warp->worker->rcu);
}
