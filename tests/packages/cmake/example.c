/* Loads the PTX that the command line names. */
#include <ptxi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ptxiContext ctx;
    ptxiModule module;
    unsigned count = 0;

    if (argc != 2 || ptxiInit(0) || ptxiCtxCreate(&ctx, 0, 0) || ptxiModuleLoad(&module, argv[1]) ||
        ptxiModuleGetFunctionCount(&count, module))
        return 1;
    printf("%u kernels\n", count);
    return ptxiCtxDestroy(ctx) || !count;
}
