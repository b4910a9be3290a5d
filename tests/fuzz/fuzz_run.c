/* Fuzz target for modules. Loads the input, compiles every function, and launches every kernel on a small grid with a
 * small instruction budget. The process must not crash, every failure must have a report, and the next launch must
 * work.
 *
 * The line LINK separates two modules to be linked. If the input starts with HOST and a C signature, its extern
 * function `host` is bound. With -fsanitize=fuzzer (see fuzz.sh) this is a libFuzzer target. Otherwise main() replays
 * the given files, with mutations. */
#include "mutate.h"
#include "ptxi.h"
#include "replay.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 4096, BUDGET = 20000, MILLISECONDS = 500, STACK = 1024, PARAMS = 1 << 15, MOST_KERNELS = 64 };

#define LINK "//link\n"
#define HOST "//host "

enum { MEMORY, PLANE, VOLUME, SURFACE, HANDLES };
static ptxiDevicePtr buffer;
static unsigned long long handles[HANDLES]; /* values for 8-byte parameters; the first is the buffer */
static ptxiTensorMap map;
static unsigned long loaded, launched, ended, called;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}
#define OK(call) must((call) == PTXI_SUCCESS, #call)

static void swallow(void *user, const char *text, size_t length)
{
    unsigned *sum = user;

    for (size_t i = 0; i < length; i++)
        *sum += (unsigned char)text[i];
}

#ifdef FUZZER
/* No runner thread: the waiting thread runs the launches, so that every run is deterministic. */
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    (void)t, (void)attr, (void)run, (void)arg;
    return EAGAIN;
}
#endif

static ptxiArray array(size_t depth, ptxiArrayFormat format)
{
    PTXI_ARRAY3D_DESCRIPTOR d = { 4, 4, depth, format, 4, PTXI_ARRAY3D_SURFACE_LDST };
    ptxiArray a;

    OK(ptxiArray3DCreate(&a, &d));
    return a;
}

static void make_objects(void)
{
    PTXI_RESOURCE_DESC plane = { .resType = PTXI_RESOURCE_TYPE_ARRAY,
                                 .res.array.hArray = array(0, PTXI_AD_FORMAT_UNSIGNED_INT8) };
    PTXI_RESOURCE_DESC volume = { .resType = PTXI_RESOURCE_TYPE_ARRAY,
                                  .res.array.hArray = array(4, PTXI_AD_FORMAT_FLOAT) };
    PTXI_TEXTURE_DESC point = { .flags = PTXI_TRSF_READ_AS_INTEGER };
    PTXI_TEXTURE_DESC linear = { .filterMode = PTXI_TR_FILTER_MODE_LINEAR, .flags = PTXI_TRSF_NORMALIZED_COORDINATES };
    static const uint64_t size[] = { 32, 32 }, stride[] = { 128 };
    static const uint32_t box[] = { 8, 4 }, step[] = { 1, 1 };

    handles[MEMORY] = buffer;
    OK(ptxiTexObjectCreate(&handles[PLANE], &plane, &point, NULL));
    OK(ptxiTexObjectCreate(&handles[VOLUME], &volume, &linear, NULL));
    OK(ptxiSurfObjectCreate(&handles[SURFACE], &plane));
    OK(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)buffer, size, stride,
                                box, step, PTXI_TENSOR_MAP_INTERLEAVE_NONE, PTXI_TENSOR_MAP_SWIZZLE_NONE,
                                PTXI_TENSOR_MAP_L2_PROMOTION_NONE, PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static void start(void)
{
    static unsigned sum;
    ptxiContext ctx;

    OK(ptxiInit(0));
    OK(ptxiCtxCreate(&ctx, 0, 0));
    OK(ptxiCtxSetWorkers(ctx, 1));
    OK(ptxiCtxSetOutput(ctx, swallow, &sum));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, BUDGET));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, MILLISECONDS));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_STACK_SIZE, STACK));
    OK(ptxiMemAlloc(&buffer, BUFFER));
    make_objects();
}

/* Returns whether a module uses textures or surfaces. */
static bool samples(const char *text)
{
    static const char *const words[] = { "tex.", "tld4.", "txq.", "suld.", "sust.", "sured.", "suq." };

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strstr(text, words[k]))
            return true;
    return false;
}

/* Chooses parameter values. Pointer-sized parameters point into the buffer, or are handles from `handle` on if there
 * are any. Structures of the size of a tensor map are tensor maps. Other parameters are small numbers. */
static size_t fill(ptxiFunction f, size_t handle, unsigned char *params)
{
    size_t offset, size, end = 0;

    for (size_t k = 0; ptxiFuncGetParamInfo(f, k, &offset, &size) == PTXI_SUCCESS; k++) {
        uint32_t number = (uint32_t)k + 3;

        if (offset > PARAMS || size > PARAMS - offset)
            return 0;
        memset(params + end, 0, offset + size - end);
        if (size == 8)
            memcpy(params + offset, &handles[handle ? (handle + k) % HANDLES : MEMORY], 8);
        else if (size == sizeof map)
            memcpy(params + offset, &map, sizeof map);
        else
            memcpy(params + offset, &number, size < 4 ? size : 4);
        end = offset + size;
    }
    return end;
}

static void check_report(ptxiResult r)
{
    ptxiReport report = { .size = sizeof report };

    OK(ptxiGetLastReport(NULL, &report));
    must(report.result == r && report.fault != PTXI_FAULT_NONE, "the report is of something else");
    must(report.text && *report.text && report.kernel && report.function, "an empty report");
}

static void launch(ptxiFunction f, size_t handle)
{
    static _Alignas(16) unsigned char params[PARAMS];
    static const unsigned blocks[][3] = { { 40, 1, 1 }, { 3, 2, 2 },   { 1, 1, 1 },
                                          { 32, 1, 1 }, { 128, 1, 1 }, { 256, 1, 1 } };
    size_t bytes = fill(f, handle, params);
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, params, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      PTXI_LAUNCH_PARAM_END };
    ptxiResult r = PTXI_ERROR_INVALID_VALUE;

    /* a block shape accepted by the kernel */
    for (unsigned k = 0; k < sizeof blocks / sizeof *blocks && r == PTXI_ERROR_INVALID_VALUE; k++)
        r = ptxiLaunchKernel(f, 2, 1, 1, blocks[k][0], blocks[k][1], blocks[k][2], 256, NULL, NULL, extra);
    if (r)
        return;
    launched++;
    r = ptxiCtxSynchronize();
    if (r)
        check_report(r);
    else
        ended++;
    OK(ptxiCtxSynchronize());
}

static ptxiResult load_linked(ptxiModule *m, const char *text, const char *cut)
{
    ptxiLinkState s;
    ptxiResult r;
    void *image;

    OK(ptxiLinkCreate(0, NULL, NULL, &s));
    r = ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)text, (size_t)(cut - text), "first", 0, NULL, NULL);
    if (!r)
        r = ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)(cut + strlen(LINK)),
                            strlen(cut + strlen(LINK)) + 1, "second", 0, NULL, NULL);
    if (!r)
        r = ptxiLinkComplete(s, &image, NULL);
    if (!r)
        r = ptxiModuleLoadData(m, image);
    OK(ptxiLinkDestroy(s));
    return r;
}

static void host(void *user, void *const *arguments, void *result)
{
    (void)user, (void)arguments, (void)result;
    called++;
}

static void bind_host(ptxiModule m, const char *text)
{
    char signature[200];

    if (!strncmp(text, HOST, strlen(HOST)) && sscanf(text + strlen(HOST), "%199[^\n]", signature) == 1)
        ptxiModuleBindHostCallback(m, "host", host, NULL, signature);
}

static void run(const char *text)
{
    const char *cut = strstr(text, LINK);
    size_t handle = samples(text) ? strlen(text) : 0;
    ptxiFunction kernels[MOST_KERNELS];
    ptxiModule m;
    unsigned n;
    char *list;

    if (cut ? load_linked(&m, text, cut) : ptxiModuleLoadData(&m, text))
        return;
    loaded++;
    bind_host(m, text);
    if (ptxiModuleGetUnsupported(m, &list) == PTXI_SUCCESS)
        ptxiFree(list);
    OK(ptxiModuleGetFunctionCount(&n, m));
    n = n < MOST_KERNELS ? n : MOST_KERNELS;
    OK(ptxiModuleEnumerateFunctions(kernels, n, m));
    for (unsigned k = 0; k < n; k++)
        launch(kernels[k], handle);
    OK(ptxiModuleUnload(m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZER
    if (tedious(data, size))
        return 0;
#endif
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (!buffer)
        start();
    run(text);
    free(text);
    return 0;
}

#ifndef FUZZER
enum { MUTANTS = 40 };

static bool replay(const char *name)
{
    static uint8_t data[1 << 24];
    size_t n;

    if (!read_input(name, data, sizeof data - 1, &n))
        return false;
    LLVMFuzzerTestOneInput(data, n);
    mutants(data, n, MUTANTS);
    return true;
}

int main(int argc, char **argv)
{
    bool ok = true;

    for (int i = 1; i < argc; i++)
        ok &= replay(argv[i]);
    printf("%d files, %lu loaded, %lu launches, %lu without failure, %lu calls of the host\n", argc - 1, loaded,
           launched, ended, called);
    return !(ok && ended && called);
}
#endif
