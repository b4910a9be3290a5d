/* printf from a kernel: the output of the threads is on the host's standard output when the synchronization returns.
 *
 *     ./printf [printf.ptx] */
#include "sample.h"

int main(int argc, char **argv)
{
    static const char name[] = "host";
    double scale = 3.140625;
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    ptxiFunction hello;
    ptxiDevicePtr text;

    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "printf.ptx")));
    MUST(ptxiModuleGetFunction(&hello, module, "hello"));
    MUST(ptxiMemAlloc(&text, sizeof name));
    MUST(ptxiMemcpyHtoD(text, name, sizeof name));

    void *params[] = { &text, &scale };
    puts("before the launch");
    fflush(stdout);
    MUST(ptxiLaunchKernel(hello, 1, 1, 1, 4, 1, 1, 0, NULL, params, NULL));
    MUST(ptxiCtxSynchronize());
    puts("after the launch");

    MUST(ptxiMemFree(text));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return 0;
}
