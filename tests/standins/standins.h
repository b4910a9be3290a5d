/* Helpers of the tests of libnvJitLink and libnvrtc. */
#ifndef TESTS_STANDINS_H
#define TESTS_STANDINS_H

#include "nvjitlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)

static inline void check(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    printf("%s:%d: %s\n", file, line, text);
    exit(1);
}

/* Prototypes from the lists of the libraries. */
#define FUNCTION(name, parameters) int nvJitLink##name parameters;
#include "../../bindings/nvjitlink/functions.def"
#undef FUNCTION
int nvJitLinkVersion(unsigned *major, unsigned *minor);

static inline struct nvJitLink *create_link(unsigned count, const char *const *options)
{
    struct nvJitLink *link = NULL;

    CHECK(nvJitLinkCreate(&link, count, options) == SUCCESS && link);
    return link;
}

/* Checks the result of a call that writes to the error log, and that the log has the text. */
static inline void check_log(struct nvJitLink *link, const char *text)
{
    size_t size = 0;
    char *log;

    CHECK(nvJitLinkGetErrorLogSize(link, &size) == SUCCESS && size);
    log = malloc(size);
    CHECK(log && nvJitLinkGetErrorLog(link, log) == SUCCESS);
    if (!strstr(log, text))
        printf("the log is: %s\n", log);
    CHECK(strstr(log, text));
    free(log);
}

/* Loads an image and runs its kernel `k` on the numbers 0 to 31. It must compute 3 * i + 1. */
static inline void run_image(const void *image)
{
    enum { COUNT = 32 };
    int values[COUNT];
    ptxiContext context;
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevicePtr memory;
    void *arguments[] = { &memory };

    CHECK(!ptxiInit(0) && !ptxiDevicePrimaryCtxRetain(&context, 0) && !ptxiCtxSetCurrent(context));
    CHECK(!ptxiModuleLoadData(&module, image));
    CHECK(!ptxiModuleGetFunction(&kernel, module, "k"));
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
    CHECK(!ptxiMemAlloc(&memory, sizeof values) && !ptxiMemcpyHtoD(memory, values, sizeof values));
    CHECK(!ptxiLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, NULL, arguments, NULL));
    CHECK(!ptxiMemcpyDtoH(values, memory, sizeof values));
    for (int i = 0; i < COUNT; i++)
        CHECK(values[i] == 3 * i + 1);
    ptxiMemFree(memory);
    ptxiModuleUnload(module);
    ptxiCtxSetCurrent(NULL);
    ptxiDevicePrimaryCtxRelease(0);
}

/* Completes a link, and runs the kernel of its image. */
static inline void finish_link(struct nvJitLink **link)
{
    size_t size;
    char *image;

    CHECK(nvJitLinkComplete(*link) == SUCCESS);
    CHECK(nvJitLinkGetLinkedCubinSize(*link, &size) == SUCCESS && size);
    image = malloc(size);
    CHECK(image && nvJitLinkGetLinkedCubin(*link, image) == SUCCESS);
    CHECK(nvJitLinkDestroy(link) == SUCCESS && !*link);
    run_image(image);
    free(image);
}

#endif
