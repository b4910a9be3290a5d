/* Runs the conformance cases on libptxi and compares the results with the recorded answers of a GPU.
 *
 *     verify cases RECORDING [-v] [TEXT]
 *         Runs all cases, or the cases with TEXT in their names. -v shows the operands of different results.
 *     verify sample RECORDING EVERY [TEXT]
 *         Checks that all exhaustive cases are recorded. Compares one digest of every EVERY-th case.
 *     verify matrix RECORDING QUARTERS [-v] [TEXT [PART PARTS]]
 *         Compares QUARTERS quarters of the recorded matrix results. With less than four, skips some forms of wgmma.
 *     verify all RECORDING STATE [PART PARTS [TEXT]]
 *         Compares all digests of all exhaustive cases, or of one part of them. STATE is a file with the finished
 *         digests. It allows a stopped run to continue.
 *
 * The exit status is 1 if a result differs or a case of the table is not recorded. Unsupported cases are counted.
 * PTXI_SEED must have the same value as for the recording. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/verify.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void start(void)
{
    ptxiDevice device;
    ptxiContext context;

    if (ptxiInit(0) || ptxiDeviceGet(&device, 0) || ptxiCtxCreate(&context, 0, device)) {
        fprintf(stderr, "verify: the library does not start\n");
        exit(2);
    }
}

ptxiModule verify_load(const char *text, bool apart)
{
    ptxiJitOption fma = PTXI_JIT_FMA;
    void *no = (void *)0;
    ptxiModule module = NULL;

    return ptxiModuleLoadDataEx(&module, text, apart, &fma, &no) == PTXI_SUCCESS ? module : NULL;
}

bool verify_unsupported(void)
{
    ptxiReport report = { .size = sizeof report };

    return ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.fault == PTXI_FAULT_UNSUPPORTED_INSTRUCTION;
}

void verify_show_report(void)
{
    ptxiReport report = { .size = sizeof report };

    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.text)
        printf("    %.400s\n", report.text);
}

ptxiDevicePtr verify_memory(size_t bytes)
{
    ptxiDevicePtr p;

    if (ptxiMemAlloc(&p, bytes) != PTXI_SUCCESS) {
        fprintf(stderr, "verify: out of memory\n");
        exit(2);
    }
    return p;
}

int main(int argc, char **argv)
{
    struct cases *cs;
    struct recording *r;
    bool wrong = true;

    if (argc < 3) {
        fputs("usage: verify cases|sample|all RECORDING ...\n", stderr);
        return 2;
    }
    cs = cases_make();
    r = recording_read(argv[2]);
    start();
    if (!strcmp(argv[1], "cases")) {
        bool verbose = argc > 3 && !strcmp(argv[3], "-v");

        wrong = verify_cases(cs, r, verbose, argc > 3 + verbose ? argv[3 + verbose] : "");
    } else if (!strcmp(argv[1], "matrix") && argc > 3) {
        bool verbose = argc > 4 && !strcmp(argv[4], "-v");

        char **rest = argv + 4 + verbose;
        bool part = argc > 6 + verbose;

        wrong = verify_matrix(r, (unsigned)atoi(argv[3]), verbose, argc > 4 + verbose ? rest[0] : "",
                              part ? (unsigned)atoi(rest[1]) : 0, part ? (unsigned)atoi(rest[2]) : 1);
    } else if (!strcmp(argv[1], "sample") && argc > 3) {
        wrong = verify_sample(cs, r, (unsigned)atoi(argv[3]), argc > 4 ? argv[4] : "");
    } else if (!strcmp(argv[1], "all") && argc > 3) {
        bool part = argc > 5;

        wrong = verify_all(cs, r, argv[3], part ? (unsigned)atoi(argv[4]) : 0, part ? (unsigned)atoi(argv[5]) : 1,
                           argc > 6 ? argv[6] : "");
    }
    recording_free(r);
    cases_free(cs);
    return wrong;
}
