/* Runs the body of a kernel as one CTA.
 *
 * %r0 is the thread and %r1 its warp. %rd1 is the address of the thread's word of the result, to which the kernel
 * stores %r9 at the end. %rd2 is the address of the words of the host, of which word i is 1000 + i. `s` is 2048
 * bytes of zeros in shared memory, `m` are 8 words for mbarriers, %s and %m are their addresses. */
#ifndef PTXI_TESTS_ONE_CTA_H
#define PTXI_TESTS_ONE_CTA_H

#include "unit/support/context.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 1024, NOT_WRITTEN = 0xdead };

/* A body that begins with this text runs as a cluster of one CTA. */
#define IN_CLUSTER "// in a cluster\n"

static ptxiResult run_one_cta(const char *target, const char *body, unsigned threads, uint32_t *out)
{
    static const char head[] =
        "{\n"
        "  .reg .b32 %r<20>, %s, %m; .reg .b64 %rd<20>; .reg .pred %p, %q; .reg .b16 %h<8>; "
        ".shared .align 128 .b8 s[2048]; .shared .b64 m[8];\n"
        "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; "
        "mul.wide.u32 %rd3, %r0, 4;\n"
        "  add.u64 %rd1, %rd1, %rd3; mov.u32 %s, s; mov.u32 %m, m; mov.u32 %r9, 0xdead;\n"
        "  mov.u32 %r2, %r0; CLEAR: shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %s; st.shared.u32 [%r3], 0; "
        "mov.u32 %r3, %ntid.x; add.u32 %r2, %r2, %r3;\n"
        "  setp.lt.u32 %p, %r2, 512; @%p bra CLEAR; bar.sync 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n";
    static uint32_t in[WORDS];
    static char text[10000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr results, words;
    void *params[] = { &results, &words };
    ptxiResult r;

    for (uint32_t k = 0; k < WORDS; k++)
        in[k] = 1000 + k;
    snprintf(text, sizeof text, ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p, "
                                ".param .u64 q)%s\n%s%s\nEND: st.global.u32 [%%rd1], %%r9; ret; }\n", target,
             strncmp(body, IN_CLUSTER, strlen(IN_CLUSTER)) ? "" : " .explicitcluster .reqnctapercluster 1, 1, 1", head,
             body);
    r = ptxiModuleLoadData(&m, text);
    if (r != PTXI_SUCCESS)
        puts(text); /* so that the command that failed can be read */
    ok(r);
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&results, threads * sizeof *out));
    ok(ptxiMemAlloc(&words, sizeof in));
    ok(ptxiMemsetD32(results, NOT_WRITTEN, threads));
    ok(ptxiMemcpyHtoD(words, in, sizeof in));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    r = ptxiCtxSynchronize();
    ok(ptxiMemcpyDtoH(out, results, threads * sizeof *out));
    ok(ptxiMemFree(results));
    ok(ptxiMemFree(words));
    ok(ptxiModuleUnload(m));
    return r;
}

/* Runs the body. Each thread must store the value of `expect`. */
static inline void check_one_cta(const char *name, const char *target, const char *body, unsigned threads,
                                 uint32_t (*expect)(uint32_t thread))
{
    uint32_t out[WORDS];

    ck_assert_uint_le(threads, WORDS);
    ok(run_one_cta(target, body, threads, out));
    for (uint32_t t = 0; t < threads; t++)
        ck_assert_msg(out[t] == expect(t), "%s: thread %u has 0x%x, not 0x%x", name, t, out[t], expect(t));
}

/* True if the failed launch has this fault and its report contains these words. */
static inline bool report_has(ptxiFault fault, const char *words)
{
    ptxiReport report = { .size = sizeof report };

    ok(ptxiGetLastReport(NULL, &report));
    if (report.fault == fault && strstr(report.text, words))
        return true;
    puts(report.text);
    return false;
}

#endif
