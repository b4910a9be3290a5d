/* The version of the library, and the device that its profile describes. */
#include "api/context/context.h"

#include <stdio.h>
#include <stdlib.h>

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

static const struct ptxi_profile *current_profile(void)
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
    snprintf(name, (size_t)len, "libptxi %s (%s)", current_profile()->name, current_profile()->card);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetAttribute(int *pi, ptxiDeviceAttribute attrib, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!pi || !ptxi_profile_attribute(current_profile(), (int)attrib, pi))
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
    *major = (int)(current_profile()->sm / 10);
    *minor = (int)(current_profile()->sm % 10);
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
    snprintf(name, (size_t)len, "%s", current_profile()->name);
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
