/* Start of the library, what a call begins with, and the device. */
#include "api/context/api.h"

#include "base/fill.h"
#include "exec/engine/exec.h"
#include "exec/memmap/memmap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ptxi_state ptxi_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* A child has none of the library's threads and perhaps a lock that nobody will release: it gets errors, no hang. */
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

static ptxiResult read_environment(void)
{
    const char *device = getenv("PTXI_DEVICE"), *workers = getenv("PTXI_WORKERS"), *fill = getenv("PTXI_FILL");
    const struct ptxi_profile *p = device && *device ? ptxi_profile_find(device) : ptxi_profile_default();

    if (!p)
        return PTXI_ERROR_INVALID_DEVICE;
    atomic_store(&ptxi_state.profile, p);
    if (workers && *workers) {
        char *end;
        long n = strtol(workers, &end, 10);

        ptxi_state.workers = *end == 0 && n > 0 && n <= PTXI_MAX_WORKERS ? (unsigned)n : 0;
    }
    read_schedule();
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
    if (r)
        return r;
    ptxi_state.total_memory = host_memory();
    if (!ptxi_state.memmap)
        ptxi_state.memmap = ptxi_memmap_create();
    if (!ptxi_state.memmap || pthread_atfork(NULL, NULL, after_fork_in_child))
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

ptxiResult ptxi_api_enter(void)
{
    if (atomic_load_explicit(&ptxi_state.phase, memory_order_acquire) != PTXI_PHASE_READY)
        return PTXI_ERROR_NOT_INITIALIZED;
    return ptxi_queue_in_callback() ? PTXI_ERROR_NOT_PERMITTED : PTXI_SUCCESS;
}

ptxiResult ptxiDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return PTXI_ERROR_INVALID_VALUE;
    *driverVersion = PTXI_DRIVER_VERSION;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGetVersion(int *version)
{
    if (!version)
        return PTXI_ERROR_INVALID_VALUE;
    *version = PTXI_VERSION;
    return PTXI_SUCCESS;
}

void ptxiFree(void *text)
{
    free(text);
}

/* ---- the device */

ptxiResult ptxi_api_device(ptxiDevice dev)
{
    ptxiResult r = ptxi_api_enter();

    return r ? r : dev == 0 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_DEVICE;
}

ptxiResult ptxiDeviceGet(ptxiDevice *device, int ordinal)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!device)
        return PTXI_ERROR_INVALID_VALUE;
    if (ordinal != 0)
        return PTXI_ERROR_INVALID_DEVICE;
    *device = 0;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetCount(int *count)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!count)
        return PTXI_ERROR_INVALID_VALUE;
    *count = 1;
    return PTXI_SUCCESS;
}

static const struct ptxi_profile *profile(void)
{
    return atomic_load(&ptxi_state.profile);
}

ptxiResult ptxiDeviceGetName(char *name, int len, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!name || len < 1)
        return PTXI_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "libptxi %s (%s)", profile()->name, profile()->card);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetAttribute(int *pi, ptxiDeviceAttribute attrib, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!pi || !ptxi_profile_attribute(profile(), (int)attrib, pi))
        return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceTotalMem(size_t *bytes, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!bytes)
        return PTXI_ERROR_INVALID_VALUE;
    *bytes = ptxi_state.total_memory;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceComputeCapability(int *major, int *minor, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!major || !minor)
        return PTXI_ERROR_INVALID_VALUE;
    *major = (int)(profile()->sm / 10);
    *minor = (int)(profile()->sm % 10);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceSetProfile(ptxiDevice dev, const char *name)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!name)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_profile *p = ptxi_profile_find(name);

    if (!p)
        return PTXI_ERROR_INVALID_DEVICE;
    atomic_store(&ptxi_state.profile, p);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetProfile(char *name, int len, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!name || len < 1)
        return PTXI_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", profile()->name);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceEnumerateProfile(const char **name, unsigned index)
{
    const struct ptxi_profile *p = ptxi_profile_at(index);

    if (!name)
        return PTXI_ERROR_INVALID_VALUE;
    if (!p)
        return PTXI_ERROR_NOT_FOUND;
    *name = p->name;
    return PTXI_SUCCESS;
}
