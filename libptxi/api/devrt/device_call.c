#include "api/devrt/device_call.h"

#include "exec/engine/engine.h"

#include <string.h>

void ptxi_device_set_last_error(struct ptxi_launch *l, int error)
{
    pthread_mutex_lock(&l->lock);
    if (error)
        l->error = error;
    pthread_mutex_unlock(&l->lock);
}

bool ptxi_device_return(struct ptxi_device_call *d, int error)
{
    ptxi_device_set_last_error(d->launch, error);
    d->result = (uint64_t)error;
    return true;
}

bool ptxi_device_store(struct ptxi_device_call *d, unsigned word, const void *value, size_t size)
{
    if (!arg64(d, word))
        return ptxi_device_return(d, cudaErrorInvalidValue);
    unsigned char *p = ptxi_builtin_pointer(d->call, d->lane, arg64(d, word), size, true);

    if (p)
        memcpy(p, value, size);
    return p;
}

struct ptxi_call_site ptxi_device_call_site(const struct ptxi_device_call *d)
{
    const struct ptxi_builtin_call *c = d->call;
    struct ptxi_call_site p = { .module = d->launch->module, .kernel = d->launch->kernel };
    struct ptxi_fault_report r = { .kind = PTXI_FK_NONE };

    ptxi_fault_locate(&r, c->warp, c->warp->frame->code, c->insn, (ptxi_lanes)1 << d->lane);
    p.code = r.code;
    p.loc = r.loc;
    memcpy(p.ctaid, r.ctaid, sizeof p.ctaid);
    memcpy(p.tid, r.tid, sizeof p.tid);
    return p;
}
