/* Tests what PTX 9.4 adds to mbarriers: reports of copies, conditional phases, and operations on the mbarriers of
 * several CTAs. PTX ISA, "Report Mechanisms for Asynchronous Copy Operations", "Phase Completion of the mbarrier
 * object". */
#include "unit/support/kernels.h"

#include <string.h>

enum { THREADS = 32, CTAS = 4, MOST = 65536 };

/* What is reported: bytes 0xff, or the first element of 16 bytes if it is -0. */
static const struct report {
    const char *word;
    unsigned bits; /* of an element; 0: bytes 0xff */
} reports[] = { { "per_element::ff", 0 }, { "per_16bytes::8", 4 }, { "per_16bytes::80", 8 },
                { "per_16bytes::8000", 16 }, { "per_16bytes::80000000", 32 } };
enum { REPORTS = sizeof reports / sizeof *reports };

/* Each thread copies 16 bytes at a time to a buffer of its own, and waits at an mbarrier of its own. The result of a
 * copy: bit 0: there was a report, bit 1: the conditional phase is complete, from bit 8 on the value of the report. */
static void print_copies(FILE *out, unsigned k, bool tensor)
{
    fprintf(out, ".visible .entry %s%u(.param .align 64 .b8 map[128], .param .u64 from, .param .u64 to, "
                 ".param .u32 count) {\n"
                 "  .shared .align 128 .b8 s[4096]; .shared .b64 m[32]; .reg .b64 %%from, %%to, %%a, %%map; "
                 ".reg .b32 %%n, %%all, %%t, %%s, %%m, %%r, %%primary, %%conditional; .reg .b8 %%value; "
                 ".reg .pred %%p, %%seen, %%advances;\n"
                 "  ld.param.u64 %%from, [from]; ld.param.u64 %%to, [to]; ld.param.u32 %%all, [count]; "
                 "mov.u32 %%t, %%tid.x; mov.b64 %%map, map; cvta.param.u64 %%map, %%map;\n"
                 "  mov.u32 %%s, s; mad.lo.u32 %%s, %%t, 128, %%s; mov.u32 %%m, m; mad.lo.u32 %%m, %%t, 8, %%m; "
                 "mov.u32 %%n, %%t; mov.u32 %%primary, 0; mov.u32 %%conditional, 0;\n"
                 "  mbarrier.init.layout::v1.shared::cta.b64 [%%m], 1; fence.mbarrier_init.release.cluster;\n"
                 "NEXT: mad.wide.u32 %%a, %%n, 16, %%from; mul.lo.u32 %%t, %%n, 16; "
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%%m], 16;\n", tensor ? "tensor" : "bulk", k);
    fprintf(out, tensor ? "  cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes."
                          "mbarrier::report::validity::%s [%%s], [%%map, {%%t}], [%%m];\n"
                        : "  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes."
                          "mbarrier::report::validity::%s [%%s], [%%a], 16, [%%m];\n", reports[k].word);
    fputs("WAIT: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p|%seen, %value, [%m], "
          "%primary; @!%p bra WAIT; xor.b32 %primary, %primary, 1; selp.b32 %r, 1, 0, %seen;\n"
          "  mbarrier.test_wait.parity.phase_type::conditional.acquire.cta.shared::cta.b64 %advances, [%m], "
          "%conditional; @%advances or.b32 %r, %r, 2; @!%seen xor.b32 %conditional, %conditional, 1;\n"
          "  cvt.u32.u8 %t, %value; mad.lo.u32 %r, %t, 256, %r; mad.wide.u32 %a, %n, 4, %to; "
          "st.global.u32 [%a], %r; add.u32 %n, %n, 32; setp.lt.u32 %p, %n, %all; @%p bra NEXT; ret; }\n", out);
}

/* The second warp waits before the first one copies: two phases with a report, one without. It counts phases. */
static const char sleepers[] =
    ".visible .entry sleeper(.param .u64 to, .param .u32 conditional) {\n"
    "  .shared .align 16 .b8 s[16]; .shared .b64 m, done; .reg .b32 %t, %n, %r, %w, %c; .reg .b64 %to, %a; "
    ".reg .pred %p, %seen; .global .align 16 .b32 bad[4] = { 0x80000000, 0, 0, 0 }, good[4] = { 0, 0, 0, 0 };\n"
    "  ld.param.u64 %to, [to]; ld.param.u32 %c, [conditional]; mov.u32 %t, %tid.x; mov.u32 %r, 0; mov.u32 %n, 0;\n"
    "  setp.eq.u32 %p, %t, 0; @%p mbarrier.init.layout::v1.shared.b64 [m], 1; "
    "@%p mbarrier.init.shared.b64 [done], 32; bar.sync 0; setp.ge.u32 %p, %t, 32; @%p bra SECOND;\n"
    "  setp.ne.u32 %p, %t, 0; @%p ret; mov.u64 %a, bad;\n"
    "AGAIN: nanosleep.u32 100; mbarrier.arrive.expect_tx.shared.b64 _, [m], 16; "
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::80000000 "
    "[s], [%a], 16, [m];\n"
    "  setp.ne.u32 %p, %c, 0; @%p bra OWN; and.b32 %w, %n, 1;\n"
    "OTHER: mbarrier.try_wait.parity.shared.b64 %p, [done], %w; @!%p bra OTHER; bra PHASE;\n"
    "OWN: and.b32 %w, %n, 1;\nOWN2: mbarrier.try_wait.parity.shared.b64 %p, [m], %w; @!%p bra OWN2;\n"
    "PHASE: add.u32 %n, %n, 1; setp.eq.u32 %p, %n, 2; @%p mov.u64 %a, good; st.global.u32 [%to+256], %n; "
    "setp.lt.u32 %p, %n, 3; @%p bra AGAIN; ret;\n"
    "SECOND: mad.wide.u32 %a, %t, 4, %to; setp.ne.u32 %p, %c, 0; @%p bra CONDITIONAL;\n"
    "ONCE: and.b32 %w, %n, 1;\nW: mbarrier.try_wait.parity.phase_type::primary.shared.b64 %p|%seen, [m], %w; "
    "@!%p bra W; shl.b32 %r, %r, 1; @%seen or.b32 %r, %r, 1; mbarrier.arrive.shared.b64 _, [done]; add.u32 %n, %n, 1; "
    "setp.lt.u32 %p, %n, 3; @%p bra ONCE; st.global.u32 [%a], %r; ret;\n"
    "CONDITIONAL: mbarrier.try_wait.parity.phase_type::conditional.shared.b64 %p, [m], 0; @!%p bra CONDITIONAL; "
    "ld.volatile.global.u32 %r, [%to+256]; st.global.u32 [%a], %r; ret; }\n";

/* Operations on the mbarriers of the CTAs in a mask. `arrivals`, `drops`: what each of them subtracts from 20 pending
 * and expected arrivals; `bytes`: what it adds to the tx-count. */
static const struct operation {
    const char *text;
    unsigned arrivals, drops;
    int bytes;
} operations[] = {
    { "arrive.multicast::cluster::32b.b64 _, [%generic], %mask", 1, 0, 0 },
    { "arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%m], 5, %mask", 5, 0, 0 },
    { "arrive.relaxed.cta.multicast::cluster::32b.b64 _, [%generic], 18, %mask", 18, 0, 0 },
    { "arrive.expect_tx.shared::cluster.multicast::cluster::32b.b64 _, [%m], 8, %mask", 1, 0, 8 },
    { "arrive_drop.shared::cluster.multicast::cluster::32b.b64 _, [%m], %mask", 1, 1, 0 },
    { "arrive_drop.relaxed.cluster.multicast::cluster::32b.b64 _, [%generic], 3, %mask", 3, 3, 0 },
    { "arrive_drop.expect_tx.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%m], 8, %mask", 1, 1, 8 },
    { "expect_tx.shared::cluster.multicast::cluster::32b.b64 [%m], 8, %mask", 0, 0, 8 },
    { "expect_tx.relaxed.cluster.multicast::cluster::32b.b64 [%generic], 8, %mask", 0, 0, 8 },
    { "complete_tx.shared::cluster.multicast::cluster::32b.b64 [%m], 8, %mask", 0, 0, -8 },
    { "complete_tx.relaxed.cta.multicast::cluster::32b.b64 [%generic], 8, %mask", 0, 0, -8 },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* One thread of the third CTA executes the operation. Then each CTA shows the pending count, whether its phase is
 * complete after as many arrivals, and after all bytes, and the pending count of the next phase. */
static void print_operation(FILE *out, unsigned k)
{
    fprintf(out, ".visible .entry multicast%u(.param .u64 to, .param .u32 mask) .reqnctapercluster %d {\n"
                 "  .shared .b64 pad, m; .reg .b32 %%m, %%mask, %%rank, %%n, %%r; .reg .b64 %%generic, %%to, %%state; "
                 ".reg .pred %%p;\n"
                 "  ld.param.u64 %%to, [to]; ld.param.u32 %%mask, [mask]; mov.u32 %%rank, %%cluster_ctarank; "
                 "mad.wide.u32 %%to, %%rank, 4, %%to; mov.u32 %%m, m; cvta.shared.u64 %%generic, m;\n"
                 "  mbarrier.init.shared.b64 [m], 20; fence.mbarrier_init.release.cluster; "
                 "barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %%p, %%rank, 2;\n"
                 "  @%%p mbarrier.%s; barrier.cluster.arrive; barrier.cluster.wait;\n", k, CTAS, operations[k].text);
    fputs("  mbarrier.arrive.noComplete.shared.b64 %state, [m], 1; mbarrier.pending_count.b64 %n, %state; "
          "mov.u32 %r, %n; sub.u32 %n, %n, 1; mbarrier.arrive.shared.b64 _, [m], %n;\n"
          "  mbarrier.test_wait.parity.shared.b64 %p, [m], 0; @%p or.b32 %r, %r, 256; @%p bra NEXT;\n", out);
    if (operations[k].bytes)
        fprintf(out, "  mbarrier.%s.shared::cta.b64 [m], 8; mbarrier.test_wait.parity.shared.b64 %%p, [m], 0; "
                     "@%%p or.b32 %%r, %%r, 512;\n", operations[k].bytes > 0 ? "complete_tx" : "expect_tx");
    fputs("NEXT: mbarrier.arrive.noComplete.shared.b64 %state, [m], 1; mbarrier.pending_count.b64 %n, %state; "
          "mad.lo.u32 %r, %n, 65536, %r; st.global.u32 [%to], %r; ret; }\n", out);
}

static void print_kernels(FILE *out)
{
    for (unsigned k = 0; k < REPORTS; k++) {
        print_copies(out, k, false);
        print_copies(out, k, true);
    }
    fputs(sleepers, out);
    for (unsigned k = 0; k < OPERATIONS; k++)
        print_operation(out, k);
    fputs(".visible .entry counts(.param .u32 n) { .shared .b64 m; .reg .b32 %n; ld.param.u32 %n, [n]; "
          "mbarrier.init.layout::v1.shared.b64 [m], %n; ret; }\n"
          ".visible .entry no_layout() { .shared .align 16 .b8 s[16]; .shared .b64 m; .reg .b64 %a; "
          ".global .align 16 .b32 word[4]; mbarrier.init.shared.b64 [m], 1; mov.u64 %a, word;\n"
          "  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_element::ff "
          "[s], [%a], 16, [m]; ret; }\n"
          ".visible .entry outside(.param .u32 mask) .reqnctapercluster 1 { .shared .b64 m; .reg .b32 %n; "
          "ld.param.u32 %n, [mask]; mbarrier.init.shared.b64 [m], 20; "
          "mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [m], %n; ret; }\n", out);
}

static ptxiDevicePtr source, results;

static void set_up(void)
{
    load_kernels("9.4", "sm_107a", print_kernels);
    ok(ptxiMemAlloc(&source, MOST * 16));
    ok(ptxiMemAlloc(&results, MOST * 4));
}

/* --- reports --- */

static bool is_reported(const struct report *r, const unsigned char *chunk)
{
    uint32_t first;

    if (!r->bits) {
        for (unsigned k = 0; k < 16; k++)
            if (chunk[k] == 0xff)
                return true;
        return false;
    }
    memcpy(&first, chunk, sizeof first);
    return first << (32 - r->bits) == 0x80000000;
}

/* All elements of up to 16 bits. Special and random ones of 32 bits. Each byte of a chunk with every value. */
static unsigned fill(const struct report *r, unsigned char (*chunk)[16])
{
    unsigned count = r->bits == 32 ? 4096 : r->bits == 16 ? MOST : 4096;

    for (unsigned n = 0; n < count; n++) {
        uint32_t element = r->bits == 32 && n % 3 ? 0x80000000 ^ (n % 2 ? 0 : 1u << n % 32) : n;

        if (!r->bits) {
            memset(chunk[n], 0xfe, 16);
            chunk[n][n % 16] = (unsigned char)(n / 16);
        } else {
            for (unsigned k = 0; k < 16; k++)
                chunk[n][k] = (unsigned char)random_below(256);
            memcpy(chunk[n], &element, r->bits <= 8 ? 1 : r->bits / 8);
        }
    }
    return count;
}

static void check_reports(const char *kind, unsigned k, ptxiTensorMap *map, uint32_t count,
                          unsigned char (*chunk)[16])
{
    static uint32_t got[MOST];
    void *params[] = { map, &source, &results, &count };
    char name[16];

    snprintf(name, sizeof name, "%s%u", kind, k);
    ok(launch(name, THREADS, params));
    ok(ptxiMemcpyDtoH(got, results, count * sizeof *got));
    for (uint32_t n = 0; n < count; n++)
        ck_bits32_at(got[n], is_reported(&reports[k], chunk[n]) ? 1 : 2, "%s, %s, copy %u", kind, reports[k].word, n);
}

START_TEST(copies_report_their_data)
{
    static unsigned char chunk[MOST][16];
    uint32_t count = fill(&reports[_i], chunk);
    ptxiTensorMap map;
    uint64_t size = 16 * (uint64_t)count, no_stride = 0;
    uint32_t box = 16, step = 1;

    ok(ptxiMemcpyHtoD(source, chunk, 16 * count));
    ok(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_UINT8, 1, (void *)(uintptr_t)source, &size,
                                &no_stride, &box, &step, 0, 0, 0, 0));
    check_reports("bulk", (unsigned)_i, &map, count, chunk);
    check_reports("tensor", (unsigned)_i, &map, count, chunk);
}
END_TEST

START_TEST(sleeping_threads_see_reports)
{
    for (uint32_t conditional = 0; conditional < 2; conditional++) {
        uint32_t out[64];
        void *params[] = { &results, &conditional };

        ok(ptxiMemsetD32(results, 0, 65));
        ok(launch("sleeper", 64, params));
        ok(ptxiMemcpyDtoH(out, results, sizeof out));
        for (unsigned t = 32; t < 64; t++)
            if (conditional)
                ck_assert_uint_ge(out[t], 2); /* phases that were complete before the conditional one */
            else
                ck_bits32_at(out[t], 6, "thread %u", t); /* reports in the first two of three phases */
    }
}
END_TEST

/* --- operations on several CTAs --- */

START_TEST(operations_reach_the_ctas_of_a_mask)
{
    const struct operation *o = &operations[_i];
    char name[16];

    snprintf(name, sizeof name, "multicast%d", _i);
    for (uint32_t mask = 0; mask < 1 << CTAS; mask++) {
        uint32_t out[CTAS];
        void *params[] = { &results, &mask };

        ok(launch_grid(name, CTAS, 1, params));
        ok(ptxiMemcpyDtoH(out, results, sizeof out));
        for (unsigned rank = 0; rank < CTAS; rank++) {
            bool in = mask >> rank & 1;
            uint32_t pending = 20 - (in ? o->arrivals : 0), expected = 20 - (in ? o->drops : 0);
            uint32_t want = pending | (in && o->bytes ? 512 : 256) | expected << 16;

            ck_bits32_at(out[rank], want, "%s, mask %u, CTA %u", o->text, mask, rank);
        }
    }
}
END_TEST

START_TEST(misuse_is_reported)
{
    uint32_t n = 511;
    void *params[] = { &n };

    ok(launch("counts", 1, params));
    n = 512;
    ck_result(launch("counts", 1, params), PTXI_ERROR_LAUNCH_FAILED);
    ck_result(launch("no_layout", 1, NULL), PTXI_ERROR_LAUNCH_FAILED);
    n = 1;
    ok(launch("outside", 1, params));
    n = 2;
    ck_result(launch("outside", 1, params), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mbarrier_reports");
    TCase *t = tcase_create("mbarrier_reports");

    unsetenv("PTXI_SCHED_SEED");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, copies_report_their_data, 0, REPORTS);
    tcase_add_test(t, sleeping_threads_see_reports);
    tcase_add_loop_test(t, operations_reach_the_ctas_of_a_mask, 0, OPERATIONS);
    tcase_add_test(t, misuse_is_reported);
    suite_add_tcase(s, t);
    return run_suite(s);
}
