/* A kernel that writes past the end of its array, and the report that it gets instead of a dead process.
 *
 *     ./out_of_bounds [out_of_bounds.ptx]
 *
 * Ends with 0 if the report names the right kernel, block, thread and place, and the context still works afterwards. */
#include "sample.h"

#include <string.h>

enum { N = 1000, BLOCK = 256 };   /* four blocks make 1024 threads: thread 232 of block 3 is the first without an element */

static ptxiResult fill(ptxiFunction kernel, ptxiDevicePtr v, unsigned blocks)
{
    float value = 1.0f;
    void *params[] = { &v, &value };

    MUST(ptxiLaunchKernel(kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

static int as_expected(const ptxiReport *r, ptxiDevicePtr v)
{
    return r->result == PTXI_ERROR_ILLEGAL_ADDRESS && r->fault == PTXI_FAULT_OUT_OF_BOUNDS && r->access == PTXI_ACCESS_WRITE &&
           r->accessSize == 4 && r->address == v + N * sizeof(float) && strcmp(r->kernel, "fill") == 0 && r->block[0] == 3 &&
           r->thread[0] == N % BLOCK && r->sourceFile && strstr(r->sourceFile, "out_of_bounds.cu") && r->sourceLine == 6;
}

int main(int argc, char **argv)
{
    ptxiReport report = { .size = sizeof report };
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevicePtr v;

    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "out_of_bounds.ptx")));
    MUST(ptxiModuleGetFunction(&kernel, module, "fill"));
    MUST(ptxiMemAlloc(&v, N * sizeof(float)));

    ptxiResult result = fill(kernel, v, (N + BLOCK - 1) / BLOCK);
    if (result == PTXI_SUCCESS) {
        puts("the bad write went unnoticed");
        return 1;
    }
    MUST(ptxiGetLastReport(context, &report));
    fprintf(stderr, "%s\n", report.text);
    int right = as_expected(&report, v);
    printf("kernel %s, block %u, thread %u: %u bytes at element %llu of %d, line %u of the source: %s\n", report.kernel, report.block[0],
           report.thread[0], report.accessSize, (report.address - v) / sizeof(float), N, report.sourceLine, right ? "as expected" : "WRONG");

    result = fill(kernel, v, N / BLOCK);
    printf("a launch within bounds afterwards: %s\n", result == PTXI_SUCCESS ? "fine" : "FAILED");
    MUST(ptxiMemFree(v));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return !right || result != PTXI_SUCCESS;
}
