/* A kernel that writes past the end of its array. The launch fails with a report, and the process goes on.
 *
 *     ./out_of_bounds [out_of_bounds.ptx]
 *
 * The exit status is 0 if the report has the right kernel, block, thread and position, and the context still works. */
#include "sample.h"

#include <string.h>

/* Four blocks have 1024 threads. Thread 232 of block 3 is the first thread without an element. */
enum { N = 1000, BLOCK = 256 };

static ptxiResult fill(ptxiFunction kernel, ptxiDevicePtr v, unsigned blocks)
{
    float value = 1.0f;
    void *params[] = { &v, &value };

    MUST(ptxiLaunchKernel(kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

static int as_expected(const ptxiReport *r, ptxiDevicePtr v)
{
    return r->result == PTXI_ERROR_ILLEGAL_ADDRESS && r->fault == PTXI_FAULT_OUT_OF_BOUNDS &&
           r->access == PTXI_ACCESS_WRITE && r->accessSize == 4 && r->address == v + N * sizeof(float) &&
           strcmp(r->kernel, "fill") == 0 && r->block[0] == 3 && r->thread[0] == N % BLOCK &&
           r->sourceFile && strstr(r->sourceFile, "out_of_bounds.cu") && r->sourceLine == 6;
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
    printf("kernel %s, block %u, thread %u: %u bytes at element %llu of %d, line %u of the source: %s\n",
           report.kernel, report.block[0], report.thread[0], report.accessSize, (report.address - v) / sizeof(float), N,
           report.sourceLine, right ? "as expected" : "WRONG");

    result = fill(kernel, v, N / BLOCK);
    printf("a launch within bounds afterwards: %s\n", result == PTXI_SUCCESS ? "fine" : "FAILED");
    MUST(ptxiMemFree(v));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return !right || result != PTXI_SUCCESS;
}
