/* The version of the library, and the devices that their profiles describe. */
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
    if ((r = ptxi_api_device(ordinal)))
        return r;
    *device = ordinal;
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
    *count = (int)ptxi_state.device_count;
    return PTXI_SUCCESS;
}

static const struct ptxi_profile *current_profile(ptxiDevice dev)
{
    return atomic_load(&ptxi_state.devices[dev].profile);
}

ptxiResult ptxiDeviceGetName(char *name, int len, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!name || len < 1)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_profile *p = current_profile(dev);

    snprintf(name, (size_t)len, "libptxi %s (%s)", p->name, p->card);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetAttribute(int *pi, ptxiDeviceAttribute attrib, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!pi || !ptxi_profile_attribute(current_profile(dev), (int)attrib, pi))
        return PTXI_ERROR_INVALID_VALUE;
    if (attrib == PTXI_DEVICE_ATTRIBUTE_PCI_BUS_ID || attrib == PTXI_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID)
        *pi = dev;
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
    const struct ptxi_profile *p = current_profile(dev);

    *major = (int)(p->sm / 10);
    *minor = (int)(p->sm % 10);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetProperties(ptxiDevprop *prop, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!prop)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_profile *p = current_profile(dev);
    int *const to[] = {
        &prop->maxThreadsPerBlock, &prop->maxThreadsDim[0], &prop->maxThreadsDim[1], &prop->maxThreadsDim[2],
        &prop->maxGridSize[0], &prop->maxGridSize[1], &prop->maxGridSize[2], &prop->sharedMemPerBlock,
        &prop->totalConstantMemory, &prop->SIMDWidth, &prop->memPitch, &prop->regsPerBlock, &prop->clockRate,
        &prop->textureAlign,
    };

    /* the first attributes are in the order of the members */
    for (int k = 0; k < (int)(sizeof to / sizeof *to); k++)
        ptxi_profile_attribute(p, PTXI_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK + k, to[k]);
    return PTXI_SUCCESS;
}

/* ---- identifiers */

ptxiResult ptxiDeviceGetUuid(ptxiUuid *uuid, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!uuid)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_device(dev)))
        return r;
    *uuid = (ptxiUuid){ "libptxi device " };
    uuid->bytes[sizeof uuid->bytes - 1] = (char)dev;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetPCIBusId(char *pciBusId, int len, ptxiDevice dev)
{
    API_CALL;
    enum { NAME_BYTES = 13 }; /* "0000:00:00.0" and the NUL */
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!pciBusId || len < NAME_BYTES)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_device(dev)))
        return r;
    snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", (unsigned)dev);
    return PTXI_SUCCESS;
}

struct pci_address {
    unsigned domain, bus, device, function;
};

/* "[domain:]bus:device[.function]" */
static bool parse_pci_address(const char *name, struct pci_address *a)
{
    *a = (struct pci_address){ .domain = 0 };
    if (sscanf(name, "%x:%x:%x.%x", &a->domain, &a->bus, &a->device, &a->function) >= 3)
        return true;
    *a = (struct pci_address){ .domain = 0 };
    return sscanf(name, "%x:%x.%x", &a->bus, &a->device, &a->function) >= 2;
}

ptxiResult ptxiDeviceGetByPCIBusId(ptxiDevice *dev, const char *pciBusId)
{
    API_CALL;
    struct pci_address a;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!dev || !pciBusId || !parse_pci_address(pciBusId, &a))
        return PTXI_ERROR_INVALID_VALUE;
    if (a.domain || a.device || a.function || a.bus >= ptxi_state.device_count)
        return PTXI_ERROR_INVALID_DEVICE;
    *dev = (ptxiDevice)a.bus;
    return PTXI_SUCCESS;
}

/* ---- profiles */

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
    atomic_store(&ptxi_state.devices[dev].profile, p);
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
    snprintf(name, (size_t)len, "%s", current_profile(dev)->name);
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
