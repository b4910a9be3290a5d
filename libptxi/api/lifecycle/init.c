/* ptxiInit(): reads the environment and sets up the state of the process. */
#include "api/check/check.h"
#include "api/context/context.h"
#include "api/devrt/device_runtime.h"
#include "api/observe/observe.h"

#include "base/fill.h"
#include "exec/sched/workers.h"
#include "exec/memmap/memmap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A child process has none of the library's threads, and a lock may be held for ever. Calls fail there instead of
 * hanging. */
static void after_fork_in_child(void)
{
    if (atomic_load(&ptxi_state.phase) != PTXI_PHASE_BEFORE_INIT)
        atomic_store(&ptxi_state.phase, PTXI_PHASE_FORKED);
}

static size_t host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 30;
}

/* PTXI_SCHED has precedence over the older PTXI_SCHED_SEED. */
static void read_schedule(void)
{
    const char *schedule = getenv("PTXI_SCHED"), *seed = getenv("PTXI_SCHED_SEED");

    if (!(schedule && ptxi_api_parse_schedule(schedule, &ptxi_state.schedule)) && seed)
        ptxi_api_parse_seed(seed, &ptxi_state.schedule);
}

/* Reads a list of profiles that commas separate, one for each device. */
static ptxiResult read_devices(const char *names)
{
    unsigned count = 0;
    char name[16];

    for (const char *end; names; names = *end ? end + 1 : NULL) {
        end = names + strcspn(names, ",");
        int length = end - names < (ptrdiff_t)sizeof name ? (int)(end - names) : 0;

        snprintf(name, sizeof name, "%.*s", length, names);
        const struct ptxi_profile *p = ptxi_profile_find(name);

        if (!p || count == PTXI_MAX_DEVICES)
            return PTXI_ERROR_INVALID_DEVICE;
        atomic_store(&ptxi_state.devices[count++].profile, p);
    }
    ptxi_state.device_count = count;
    return PTXI_SUCCESS;
}

static ptxiResult read_environment(void)
{
    const char *device = getenv("PTXI_DEVICE"), *workers = getenv("PTXI_WORKERS"), *fill = getenv("PTXI_FILL");
    const char *on_fault = getenv("PTXI_ON_FAULT"), *tier = getenv("PTXI_TIER");
    ptxiResult r = read_devices(device && *device ? device : ptxi_profile_default()->name);

    if (r)
        return r;
    if (workers && *workers) {
        char *end;
        long n = strtol(workers, &end, 10);

        ptxi_state.workers = *end == 0 && n > 0 && n <= PTXI_MAX_WORKERS ? (unsigned)n : 0;
    }
    read_schedule();
    ptxi_state.tier = PTXI_TIER_AUTO;
    if (tier)
        ptxi_api_parse_tier(tier, &ptxi_state.tier);
    ptxi_state.on_fault = on_fault && !strcmp(on_fault, "report") ? PTXI_ON_FAULT_REPORT : PTXI_ON_FAULT_FAIL;
    if (fill && *fill) {
        char *end;
        unsigned long n = strtoul(fill, &end, 0);

        ptxi_fill_byte = *end == 0 && n <= UCHAR_MAX ? (unsigned char)n : 0;
    }
    return PTXI_SUCCESS;
}

static ptxiResult init_locked(void)
{
    ptxiResult r;

    if (atomic_load(&ptxi_state.phase) != PTXI_PHASE_BEFORE_INIT)
        return PTXI_SUCCESS;
    r = read_environment();
    r = r ? r : ptxi_check_environment_init();
    if (r)
        return r;
    ptxi_observe_init();
    ptxi_queue_init();
    ptxi_provider_register(ptxi_device_runtime_find);
    ptxi_state.total_memory = host_memory();
    if (!ptxi_state.memmap)
        ptxi_state.memmap = ptxi_memmap_create();
    if (!ptxi_state.addresses)
        ptxi_state.addresses = ptxi_memmap_create();
    if (!ptxi_state.memmap || !ptxi_state.addresses || pthread_atfork(NULL, NULL, after_fork_in_child))
        return PTXI_ERROR_OUT_OF_MEMORY;
    atomic_store(&ptxi_state.phase, PTXI_PHASE_READY);
    return PTXI_SUCCESS;
}

ptxiResult ptxiInit(unsigned flags)
{
    API_CALL;
    ptxiResult r;

    if (flags)
        return PTXI_ERROR_INVALID_VALUE;
    if (atomic_load(&ptxi_state.phase) == PTXI_PHASE_FORKED)
        return PTXI_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&ptxi_state.lock);
    r = init_locked();
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}
