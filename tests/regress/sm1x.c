/* Regression test: f32 operations of modules for sm_1x flush subnormals, and their mad.f32 has no rounding modifier.
 * ptxas 13.0 makes instructions with .FTZ of them. A module without .address_size has the size of its addresses. */
#include "ptxi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS = 9 };

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#define CALL(call) must((call) == PTXI_SUCCESS, #call)

/* Prefixes the module in sm1x.ptx by the directives. */
static char *make_module(const char *directives)
{
    static char text[8192];
    const char *top = getenv("top_srcdir");
    size_t n = strlen(directives);
    FILE *f;

    snprintf(text, sizeof text, "%s/tests/regress/sm1x.ptx", top ? top : ".");
    f = fopen(text, "r");
    must(f != NULL, "sm1x.ptx");
    memcpy(text, directives, n);
    n += fread(text + n, 1, sizeof text - n - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static void check(const char *directives, const uint32_t *expected)
{
    uint32_t values[RESULTS] = { 1, 0x3f800000, 0x3f800800 };
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevicePtr out;
    void *arguments[] = { &out };

    CALL(ptxiModuleLoadData(&module, make_module(directives)));
    CALL(ptxiModuleGetFunction(&kernel, module, "results"));
    CALL(ptxiMemAlloc(&out, sizeof values));
    CALL(ptxiMemcpyHtoD(out, values, sizeof values));
    CALL(ptxiLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(ptxiMemcpyDtoH(values, out, sizeof values));
    for (int i = 0; i < RESULTS; i++) {
        if (values[i] == expected[i])
            continue;
        fprintf(stderr, "%sresult %d is 0x%x, expected 0x%x\n", directives, i, values[i], expected[i]);
        exit(1);
    }
    CALL(ptxiMemFree(out));
    CALL(ptxiModuleUnload(module));
}

static void check_rejected(const char *directives)
{
    ptxiModule module;

    must(ptxiModuleLoadData(&module, make_module(directives)) == PTXI_ERROR_INVALID_PTX, directives);
}

int main(void)
{
    /* the last three: conversions through 64 bits; the residue of x * x is 2^-24 */
    static const uint32_t flushed[RESULTS] = { 0, 0, 0x33800000, 0, 0, 0, 0, 0, 0 },
                          flushed_but_64[RESULTS] = { 0, 0, 0x33800000, 0, 0, 0, 1, 1, 1 },
                          kept[RESULTS] = { 1, 1, 0x33800000, 1, 1, 1, 1, 1, 1 };
    ptxiDevice device;
    ptxiContext context;

    CALL(ptxiInit(0));
    CALL(ptxiDeviceGet(&device, 0));
    CALL(ptxiCtxCreate(&context, 0, device));
    check(".version 1.4\n.target sm_13\n", flushed_but_64);
    check(".version 1.5\n.target sm_13\n", flushed);
    check(".version 2.3\n.target sm_13\n", flushed);
    check(".version 2.0\n.target sm_20\n.address_size 64\n", kept);
    check(".version 3.1\n.target sm_30\n.address_size 64\n", kept);
    check(".version 2.3\n.target sm_20\n", kept);
    check_rejected(".version 3.2\n.target sm_20\n.address_size 64\n");
    check_rejected(".version 9.0\n.target sm_90\n.address_size 64\n");
    CALL(ptxiCtxDestroy(context));
    return 0;
}
