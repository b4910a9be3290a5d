/* The functions of CUDA's runtime that kernels call (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), by the
 * names that nvcc gives them. */
#include "api/devrt/device_runtime.h"

#include "api/devrt/device_call.h"

#include "exec/engine/engine.h"

#include <stddef.h>
#include <string.h>

static struct ptxi_launch *launch_of(const struct ptxi_builtin_call *c)
{
    return (struct ptxi_launch *)((char *)c->warp->cta->grid - offsetof(struct ptxi_launch, grid));
}

static const struct entry {
    const char *name; /* without the prefix cuda or __cudaCDP2 */
    ptxi_device_function *function;
} table[] = {
#define X(name) { #name, ptxi_device_##name },
    PTXI_DEVICE_FUNCTIONS(X)
#undef X
    { "OccupancyMaxActiveBlocksPerMultiprocessor", ptxi_device_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags },
    { "EventRecordWithFlags", ptxi_device_EventRecord },
};

static bool call_device(struct ptxi_builtin_call *call, void *user)
{
    const struct entry *e = user;
    struct ptxi_launch *l = launch_of(call);

    for (uint64_t left = call->lanes; left; left &= left - 1) {
        struct ptxi_device_call d = { .launch = l, .call = call, .lane = ptxi_first_lane(left), .result = cudaSuccess };

        if (!ptxi_builtin_may_continue(call) || !e->function(&d))
            return false;
        ptxi_builtin_return64(call, d.lane, d.result);
    }
    return true;
}

/* Returns the part of a name between the prefix and _ptsz, or NULL if it has no such prefix. */
static const char *strip_prefix(const char *name, size_t *length)
{
    static const char *const prefixes[] = { "__cudaCDP2", "cuda" };

    for (unsigned k = 0; k < 2; k++) {
        size_t n = strlen(prefixes[k]);

        if (strncmp(name, prefixes[k], n))
            continue;
        *length = strlen(name + n);
        if (*length > 5 && !strcmp(name + n + *length - 5, "_ptsz"))
            *length -= 5;
        return name + n;
    }
    return NULL;
}

ptxi_builtin *ptxi_device_runtime_find(const char *name, void **user)
{
    size_t length;
    const char *s = strip_prefix(name, &length);

    *user = NULL;
    for (unsigned k = 0; s && k < sizeof table / sizeof *table; k++)
        if (strlen(table[k].name) == length && !memcmp(table[k].name, s, length)) {
            *user = (void *)(uintptr_t)&table[k];
            return call_device;
        }
    return NULL;
}
