/* Tests of device printf and of failure reports. A sink collects the output of kernels. The tests compare it with
 * the output of the host's printf. */
#include "cases.h"

#include <math.h>
#include <stdio.h>

struct caught {
    char text[8192];
    size_t length;
};

static void catch_text(void *user, const char *text, size_t length)
{
    struct caught *c = user;
    size_t room = sizeof c->text - 1 - c->length;

    length = length < room ? length : room;
    memcpy(c->text + c->length, text, length);
    c->length += length;
    c->text[c->length] = 0;
}

/* Runs `kernel(in, out, n)` with one block of `block` threads and copies the output to the host. */
static ptxiResult run(ptxiModule m, const char *kernel, const void *in, size_t in_bytes, int *out, size_t out_bytes,
                      int n, unsigned block)
{
    ptxiFunction f;
    ptxiDevicePtr din, dout;
    void *params[] = { &din, &dout, &n };
    ptxiResult r = ptxiModuleGetFunction(&f, m, kernel);

    if (!r)
        r = ptxiMemAlloc(&din, in_bytes);
    if (!r)
        r = ptxiMemAlloc(&dout, out_bytes);
    if (!r)
        r = ptxiMemcpyHtoD(din, in, in_bytes);
    if (!r)
        r = ptxiLaunchKernel(f, 1, 1, 1, block, 1, 1, 0, NULL, params, NULL);
    if (!r)
        r = ptxiCtxSynchronize();
    ptxiResult copied = ptxiMemcpyDtoH(out, dout, out_bytes);
    ptxiMemFree(din);
    ptxiMemFree(dout);
    return r ? r : copied;
}

static bool same_text(const struct caught *got, const char *want)
{
    if (strcmp(got->text, want) == 0)
        return true;
    printf("  printed:\n%s  instead of:\n%s", got->text, want);
    return false;
}

static bool formats(ptxiModule m)
{
    static struct caught got;
    static const char text[] = "some text";
    int out[2], n = 42;
    char want[8192], *w = want;
    long long l = -1234567890123456789ll;
    unsigned long long u = 0xfedcba9876543210ull;

    w += sprintf(w, "plain\n");
    w += sprintf(w, "%d %i %u %x %X %o %c\n", n, -n, 3000000000u, 0xbeef, 0xbeef, 8, 'z');
    w += sprintf(w, "%hhd %hd %hhu %ld %lld %llu %llx %%zu\n", (signed char)-5, (short)-300, (unsigned char)250,
                 (long)l, l, u, u);
    w += sprintf(w, "[%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%#o] [%.5d] [%8.3d]\n", n, n, n, n, n, (unsigned)n,
                 (unsigned)n, n, n);
    w += sprintf(w, "%f %e %E %g %G %a\n", 1.5, 12345.678, 12345.678, 1e-7, 1e20, 0.1);
    w += sprintf(w, "[%10.2f] [%-10.2f] [%010.2f] [%+.0f] [%#.0f] [%.10g]\n", 3.14159, 3.14159, -3.14159, 2.5, 3.0,
                 1.0 / 3.0);
    w += sprintf(w, "%f %f %f %d\n", (double)INFINITY, (double)-INFINITY, 0.25, 7);
    w += sprintf(w, "%s|%10s|%-10s|%.3s|%s\n", text, text, text, text, "");
    w += sprintf(w, "%*d|%-*d|%%.*f\n", 6, n, 6, n);
    w += sprintf(w, "100%% %c%c%c\n", 'a', 'b', 'c');
    sprintf(w, "1 and 2\nnone\n");
    ptxiCtxSetOutput(NULL, catch_text, &got);
    ptxiResult r = run(m, "formats", text, sizeof text, out, sizeof out, n, 1);
    ptxiCtxSetOutput(NULL, NULL, NULL);
    return r == PTXI_SUCCESS && same_text(&got, want) && out[0] == 2 && out[1] == 0;
}

static bool threads(ptxiModule m)
{
    static struct caught got;
    static const char text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    int out[40] = {0};
    char want[8192], *w = want;

    for (int t = 0; t < 32; t += 3)
        w += sprintf(w, "thread %d of 99: %s\n", t, text + t);
    ptxiCtxSetOutput(NULL, catch_text, &got);
    ptxiResult r = run(m, "threads", text, sizeof text, out, sizeof out, 99, 32);
    ptxiCtxSetOutput(NULL, NULL, NULL);
    return r == PTXI_SUCCESS && same_text(&got, want) && out[1] == 99 && out[31] == 99;
}

/* Checks that the launch fails with `result`, that the report names the thread, and that the context stays usable. */
static bool fails(ptxiModule m, const char *kernel, ptxiResult result, ptxiFault fault, const char *in_text)
{
    static struct caught printed;
    ptxiReport report = { .size = sizeof report };
    int in[128], out[128];

    for (int i = 0; i < 128; i++)
        in[i] = i;
    ptxiCtxSetOutput(NULL, catch_text, &printed);
    ptxiResult r = run(m, kernel, in, sizeof in, out, sizeof out, 77, 128);
    ptxiCtxSetOutput(NULL, NULL, NULL);
    if (r != result || ptxiGetLastReport(NULL, &report) != PTXI_SUCCESS || report.fault != fault ||
        report.result != result || strcmp(report.kernel, kernel) != 0 || report.thread[0] != 77 ||
        (in_text && !strstr(report.text, in_text))) {
        printf("  %s ended with %d, report: %s\n", kernel, r, report.text ? report.text : "none");
        return false;
    }
    if (run(m, kernel, in, sizeof in, out, sizeof out, 1000, 128) != PTXI_SUCCESS || out[127] != 127) {
        printf("  %s cannot be launched again\n", kernel);
        return false;
    }
    return true;
}

static bool asserts(ptxiModule m)
{
    return fails(m, "asserts", PTXI_ERROR_ASSERT, PTXI_FAULT_ASSERT, "the chosen thread");
}

static bool traps(ptxiModule m)
{
    return fails(m, "traps", PTXI_ERROR_LAUNCH_FAILED, PTXI_FAULT_TRAP, NULL);
}

static bool wild(ptxiModule m)
{
    return fails(m, "wild", PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_OUT_OF_BOUNDS, NULL);
}

static bool crooked(ptxiModule m)
{
    return fails(m, "crooked", PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_FAULT_MISALIGNED, NULL);
}

#define CASE(name) { .kernel = #name, .custom = name }
const struct cuda_case output_cases[] = { CASE(formats), CASE(threads), CASE(asserts),
                                          CASE(traps),   CASE(wild),    CASE(crooked) };
CUDA_COUNT(output);
