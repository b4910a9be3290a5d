/* The state of the process, and what every entry point checks first. */
#include "api/context/context.h"

struct ptxi_state ptxi_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

ptxiResult ptxi_api_enter(void)
{
    if (atomic_load_explicit(&ptxi_state.phase, memory_order_acquire) != PTXI_PHASE_READY)
        return PTXI_ERROR_NOT_INITIALIZED;
    return ptxi_call_in_callback() ? PTXI_ERROR_NOT_PERMITTED : PTXI_SUCCESS;
}

ptxiResult ptxi_api_device(ptxiDevice dev)
{
    ptxiResult r = ptxi_api_enter();

    return !r && (dev < 0 || (unsigned)dev >= ptxi_state.device_count) ? PTXI_ERROR_INVALID_DEVICE : r;
}
