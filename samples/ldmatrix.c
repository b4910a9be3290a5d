/* ldmatrix: the fragments that each thread receives, and the bank conflicts that the addresses of the rows cause.
 *
 *     ./ldmatrix [ldmatrix.ptx]
 *
 * Element i of the array in shared memory is the number i. */
#include "sample.h"

static void show(ptxiModule module, const char *name, const char *what)
{
    ptxiFunction kernel;

    printf("%s\n", what);
    fflush(stdout);
    MUST(ptxiModuleGetFunction(&kernel, module, name));
    MUST(ptxiLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    MUST(ptxiCtxSynchronize());
    printf("\n");
}

/* Runs 1024 blocks of 16 warps, each of which loads two matrices. Returns whether the counters differ from the
 * expected ones. */
static int count(ptxiModule module, int which, const char *rows, unsigned long long conflicts)
{
    ptxiCounters c = { .size = sizeof c };
    ptxiDevicePtr nowhere = 0;
    ptxiFunction kernel;
    void *params[] = { &which, &nowhere };

    MUST(ptxiModuleGetFunction(&kernel, module, "pattern"));
    MUST(ptxiCtxResetCounters(NULL));
    MUST(ptxiLaunchKernel(kernel, 1024, 1, 1, 16 * 32, 1, 1, 0, NULL, params, NULL));
    MUST(ptxiCtxSynchronize());
    MUST(ptxiCtxGetCounters(NULL, &c));
    printf("%-24s %8llu %10llu %9llu\n", rows, c.sharedRequests, c.sharedWavefronts, c.sharedBankConflicts);
    return c.sharedRequests != 16384 || c.sharedBankConflicts != conflicts;
}

int main(int argc, char **argv)
{
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    int wrong = 0;

    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "ldmatrix.ptx")));
    show(module, "x2", "ldmatrix.x2: offsets of the rows that the threads give, then two registers");
    show(module, "x2_trans", "ldmatrix.x2.trans");
    show(module, "x4", "ldmatrix.x4: the same with four registers");
    printf("offset of row i          requests wavefronts conflicts\n");
    MUST(ptxiCtxSetCounting(NULL, 1));
    wrong += count(module, 0, "(i/2)*16 + (i%2)*8", 0);
    wrong += count(module, 1, "4*(i/2)*16 + (i%2)*8", 98304);
    wrong += count(module, 2, "(i%8)*16 + (i/8)*8", 32768);
    wrong += count(module, 3, "4*(i%8)*16 + (i/8)*8", 229376);
    printf("%s\n", wrong ? "WRONG" : "as a GPU's profiler counts them");
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return wrong != 0;
}
