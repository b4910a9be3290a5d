/* Linear interpolation: every step of the driver API from a PTX file to the results.
 *
 *     ./lerp [lerp.ptx]
 *
 * Prints 128 lines of 1.500000, halfway between 1 and 2. */
#include "sample.h"

enum { N = 128 };

int main(int argc, char **argv)
{
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    ptxiFunction lerp;
    ptxiDevicePtr x, y, z;
    float hx[N], hy[N], hz[N], alpha = 0.5f;

    for (int i = 0; i < N; i++) {
        hx[i] = 1.0f;
        hy[i] = 2.0f;
    }
    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "lerp.ptx")));
    MUST(ptxiModuleGetFunction(&lerp, module, "cuk_lerp"));

    MUST(ptxiMemAlloc(&x, sizeof hx));
    MUST(ptxiMemAlloc(&y, sizeof hy));
    MUST(ptxiMemAlloc(&z, sizeof hz));
    MUST(ptxiMemcpyHtoD(x, hx, sizeof hx));
    MUST(ptxiMemcpyHtoD(y, hy, sizeof hy));

    void *params[] = { &x, &y, &z, &alpha };
    MUST(ptxiLaunchKernel(lerp, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
    MUST(ptxiCtxSynchronize());
    MUST(ptxiMemcpyDtoH(hz, z, sizeof hz));
    for (int i = 0; i < N; i++)
        printf("%f\n", hz[i]);

    MUST(ptxiMemFree(x));
    MUST(ptxiMemFree(y));
    MUST(ptxiMemFree(z));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return 0;
}
