/* Warp shuffles: a suffix sum and a butterfly sum without shared memory.
 *
 *     ./shuffle [shuffle.ptx]
 *
 * Runs both on two warps, and compares every lane with a closed formula. */
#include "sample.h"

enum { N = 64 };

static void run(ptxiModule module, const char *name, const float *in, float *out)
{
    ptxiFunction kernel;
    ptxiDevicePtr x, y;

    MUST(ptxiModuleGetFunction(&kernel, module, name));
    MUST(ptxiMemAlloc(&x, N * sizeof *in));
    MUST(ptxiMemAlloc(&y, N * sizeof *out));
    MUST(ptxiMemcpyHtoD(x, in, N * sizeof *in));
    void *params[] = { &x, &y };
    MUST(ptxiLaunchKernel(kernel, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
    MUST(ptxiMemcpyDtoH(out, y, N * sizeof *out));
    MUST(ptxiMemFree(x));
    MUST(ptxiMemFree(y));
}

static void print(const char *what, const float *v)
{
    printf("%s:", what);
    for (int t = 0; t < N; t++)
        printf("%s%g", t % 16 ? " " : "\n    ", v[t]);
    puts("");
}

int main(int argc, char **argv)
{
    float ones[N], ramp[N], sums[N], totals[N];
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    int wrong = 0;

    for (int t = 0; t < N; t++) {
        ones[t] = 1.0f;
        ramp[t] = (float)t;
    }
    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "shuffle.ptx")));
    run(module, "reverse_cumsum", ones, sums);
    run(module, "butterfly", ramp, totals);
    print("reverse cumulative sum of ones", sums);
    print("butterfly sum of 0..63, a warp at a time", totals);
    for (int t = 0; t < N; t++)
        wrong += sums[t] != (float)(32 - t % 32) || totals[t] != (float)(496 + 1024 * (t / 32));
    printf("%s\n", wrong ? "WRONG" : "every lane is right");
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return wrong != 0;
}
