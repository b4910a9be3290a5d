/* Inline PTX in CUDA C++: a cube with a private register, and a predicated move.
 *
 *     ./inline_asm [inline_asm.ptx]
 *
 * Prints each input, its cube, and whether the input is 34. */
#include "sample.h"

enum { N = 8 };

static void run(ptxiModule module, const char *name, const int *in, int *out)
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

int main(int argc, char **argv)
{
    static const int in[N] = { 0, 1, -2, 3, 34, -34, 1290, 1291 };   /* the cube of 1291 is the first that overflows */
    int cubes[N], conds[N];
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;

    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "inline_asm.ptx")));
    run(module, "cubes", in, cubes);
    run(module, "conds", in, conds);
    for (int i = 0; i < N; i++)
        printf("x = %4d  cube = %11d  is 34: %s\n", in[i], cubes[i], conds[i] ? "yes" : "no");
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return 0;
}
