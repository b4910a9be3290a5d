/* Regression test: kernels that Triton 3.9 compiled for sm_100 and sm_120 convert all codes of e4m3 and e5m2 to bf16.
 * For e5m2 Triton shifts bits, so that infinities and NaNs become numbers. */
#include "ptxi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, THREADS = 128 };

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#define CALL(call) must((call) == PTXI_SUCCESS, #call)

/* The number of a code, from the definition of the format. */
static double value_of(unsigned code, int fraction, int bias, int has_nan)
{
    int e = (int)(code & 0x7f) >> fraction, f = (int)code & ((1 << fraction) - 1);
    double x = e ? ldexp((1 << fraction) + f, e - bias - fraction) : ldexp(f, 1 - bias - fraction);

    if (has_nan && (code & 0x7f) == 0x7f)
        x = NAN;
    return code & 0x80 ? -x : x;
}

/* Whether the bf16 `got` is the number x. All numbers of the formats are numbers of bf16. */
static int is_number(uint16_t got, double x)
{
    uint32_t bits = (uint32_t)got << 16;
    float y;

    memcpy(&y, &bits, sizeof y);
    return isnan(x) ? isnan(y) : (double)y == x && !signbit(y) == !signbit(x);
}

static void run(int device, const char *name, int fraction, int bias, int has_nan)
{
    const char *top = getenv("top_srcdir");
    uint8_t codes[CODES];
    uint16_t results[CODES];
    ptxiDevicePtr src, dst, none = 0;
    int n = CODES;
    void *arguments[] = { &src, &dst, &n, &none, &none };
    ptxiContext ctx;
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevice dev;
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/regress/%s.ptx", top ? top : ".", name);
    for (int k = 0; k < CODES; k++)
        codes[k] = (uint8_t)k;
    CALL(ptxiDeviceGet(&dev, device));
    CALL(ptxiCtxCreate(&ctx, 0, dev));
    CALL(ptxiModuleLoad(&module, path));
    CALL(ptxiModuleGetFunction(&kernel, module, "convert"));
    CALL(ptxiMemAlloc(&src, sizeof codes));
    CALL(ptxiMemAlloc(&dst, sizeof results));
    CALL(ptxiMemcpyHtoD(src, codes, sizeof codes));
    CALL(ptxiLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    CALL(ptxiCtxSynchronize());
    CALL(ptxiMemcpyDtoH(results, dst, sizeof results));
    for (unsigned k = 0; k < CODES; k++)
        if (!is_number(results[k], value_of(k, fraction, bias, has_nan))) {
            fprintf(stderr, "%s: %#x became %#x\n", name, k, results[k]);
            exit(1);
        }
    CALL(ptxiCtxDestroy(ctx));
}

int main(void)
{
    setenv("PTXI_DEVICE", "sm_100,sm_120", 1);
    CALL(ptxiInit(0));
    run(0, "fp8e4nv_sm100", 3, 7, 1);
    run(0, "fp8e5_sm100", 2, 15, 0);
    run(1, "fp8e4nv_sm120", 3, 7, 1);
    run(1, "fp8e5_sm120", 2, 15, 0);
    return 0;
}
