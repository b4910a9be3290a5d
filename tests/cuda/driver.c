#include "driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OURS(name, suffix, params) .name = ptxi##name,
#define NAMES(name, suffix, params) "cu" #name suffix,

struct driver driver = { DRIVER_CALLS(OURS) };

void driver_must(ptxiResult r, const char *what)
{
    if (r == PTXI_SUCCESS)
        return;
    ptxiReport report = { .size = sizeof report };
    bool told = driver.Init == ptxiInit && ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.text;

    fprintf(stderr, "%s: error %d%s%s\n", what, r, told ? "\n" : "", told ? report.text : "");
    exit(1);
}

void driver_load(const char *path)
{
    static const char *const names[] = { DRIVER_CALLS(NAMES) };
    void *library = dlopen(path, RTLD_NOW);

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        void *call = library ? dlsym(library, names[k]) : NULL;

        if (!call) {
            fprintf(stderr, "%s\n", dlerror());
            exit(2);
        }
        memcpy((char *)&driver + k * sizeof call, &call, sizeof call);
    }
}

void driver_start(char name[100], int *version)
{
    ptxiContext ctx;

    driver_must(driver.Init(0), "Init");
    driver_must(driver.DeviceGetName(name, 100, 0), "DeviceGetName");
    driver_must(driver.DriverGetVersion(version), "DriverGetVersion");
    driver_must(driver.DevicePrimaryCtxRetain(&ctx, 0), "DevicePrimaryCtxRetain");
    driver_must(driver.CtxSetCurrent(ctx), "CtxSetCurrent");
}
