/* Properties and attributes of devices, versions, and functions of the driver API. */
#include "runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if CUDART_MAJOR >= 13
#define ONLY_12(line)
#define ONLY_13(line) line
#else
#define ONLY_12(line) line
#define ONLY_13(line)
#endif

/* cudaDeviceProp */
struct device_properties {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
#define INT(member, attribute) int member;
#define SIZE(member, attribute) size_t member;
#define INTS(member, count, ...) int member[count];
#include "properties.def"
#undef INT
#undef SIZE
#undef INTS
};

/* A member of the structure and its attributes. */
struct property {
    size_t offset;
    unsigned elements;              /* 0: one size_t; otherwise the number of int */
    int attributes[3];              /* 0: none */
};

static const struct property properties_table[] = {
#define INT(member, attribute) { offsetof(struct device_properties, member), 1, { attribute } },
#define SIZE(member, attribute) { offsetof(struct device_properties, member), 0, { attribute } },
#define INTS(member, count, ...) { offsetof(struct device_properties, member), count, { __VA_ARGS__ } },
#include "properties.def"
#undef INT
#undef SIZE
#undef INTS
};

static void fill_property(struct device_properties *p, const struct property *property, int device)
{
    char *member = (char *)p + property->offset;
    int value[3] = { 0, 0, 0 };

    for (unsigned i = 0; i < 3; i++)
        if (property->attributes[i])
            ptxiDeviceGetAttribute(&value[i], (ptxiDeviceAttribute)property->attributes[i], device);
    if (property->elements)
        memcpy(member, value, (property->elements > 3 ? 0 : property->elements) * sizeof *value);
    else
        *(size_t *)member = (size_t)value[0];
}

/* There is no limit for `properties` but the structure of the program's version of CUDA. */
int ptxi_runtime_get_properties(void *properties, int device)
{
    struct device_properties *p = properties;
    int count;
    int error = ptxi_runtime_get_device_count(&count);

    if (error)
        return error;
    if (!properties)
        return PTXI_ERROR_INVALID_VALUE;
    if (device < 0 || device >= count)
        return PTXI_ERROR_INVALID_DEVICE;
    memset(p, 0, sizeof *p);
    ptxiDeviceGetName(p->name, sizeof p->name, device);
    ptxiDeviceTotalMem(&p->totalGlobalMem, device);
    for (unsigned i = 0; i < sizeof properties_table / sizeof *properties_table; i++)
        fill_property(p, &properties_table[i], device);
    return 0;
}

#if CUDART_MAJOR < 13
int ptxi_runtime_get_first_properties(void *properties, int device)
{
    struct device_properties p;
    int error = properties ? ptxi_runtime_get_properties(&p, device) : (int)PTXI_ERROR_INVALID_VALUE;

    if (!error)
        memcpy(properties, &p, offsetof(struct device_properties, hostRegisterSupported));
    return error;
}
#endif

/* Chooses the device with the nearest compute capability that has enough memory, or else the first one. */
int ptxi_runtime_choose_device(int *device, const void *properties)
{
    const struct device_properties *wanted = properties;
    int count, best = 0, best_distance = -1;
    int error = ptxi_runtime_get_device_count(&count);

    if (error)
        return error;
    if (!device || !properties)
        return PTXI_ERROR_INVALID_VALUE;
    for (int i = 0; i < count; i++) {
        struct device_properties p;
        int distance;

        if (ptxi_runtime_get_properties(&p, i) || p.totalGlobalMem < wanted->totalGlobalMem)
            continue;
        distance = 10 * (p.major - wanted->major) + p.minor - wanted->minor;
        if (distance >= 0 && (best_distance < 0 || distance < best_distance)) {
            best = i;
            best_distance = distance;
        }
    }
    *device = best;
    return 0;
}

int ptxi_runtime_get_attribute(int *value, int attribute, int device)
{
    int count;
    int error = ptxi_runtime_get_device_count(&count);

    return error ? error : (int)ptxiDeviceGetAttribute(value, (ptxiDeviceAttribute)attribute, device);
}

int ptxi_runtime_get_driver_version(int *version)
{
    return version ? (int)ptxiDriverGetVersion(version) : (int)PTXI_ERROR_INVALID_VALUE;
}

int ptxi_runtime_get_version(int *version)
{
    if (!version)
        return PTXI_ERROR_INVALID_VALUE;
    *version = CUDART_VERSION;
    return 0;
}

/* ---- functions of the driver API, which libcuda.so.1 beside this library has */

typedef int get_proc_address(const char *symbol, void **function, int version, uint64_t flags, int *status);

int ptxi_runtime_get_driver_function(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                     int *status, bool per_thread_streams)
{
    enum { PER_THREAD_FLAG = 2, NOT_FOUND = 1 };
    get_proc_address *find;
    void *driver;
    int found = NOT_FOUND;

    if (!symbol || !function || flags > PER_THREAD_FLAG)
        return PTXI_ERROR_INVALID_VALUE;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    find = driver ? (get_proc_address *)dlsym(driver, "ptxi_driver_find") : NULL;
    if (!find)
        return PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    if (per_thread_streams && !flags)
        flags = PER_THREAD_FLAG;
    *function = NULL;
    find(symbol, function, (int)version, flags, &found);
    if (status)
        *status = found;
    return 0;
}
