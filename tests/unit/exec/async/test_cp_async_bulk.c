/* Tests bulk copies, bulk reductions and asynchronous stores. PTX ISA, "Data Movement and Conversion Instructions:
 * cp.async.bulk" and the related sections. */
#include "unit/support/one_cta.h"

enum { THREADS = 64 };

#define INIT(count) \
    "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], " #count "; fence.mbarrier_init.release.cluster; " \
        "bar.sync 0;\n"
#define WAIT "W: mbarrier.try_wait.parity.shared.b64 %p, [%m], 0; @!%p bra W;\n"
/* %r4: the address of the thread's word of s */
#define MINE "  shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %s;\n"
#define LOAD(bytes) \
    "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd2], " #bytes ", [%m];\n"
#define EXPECT(bytes) "  @%p mbarrier.arrive.expect_tx.shared.b64 _, [%m], " #bytes ";\n"
#define GET "  ld.shared.u32 %r9, [%r4];\n"
/* Copies the words of shared memory to the results, which begin at %rd4. The end of the kernel does not write the
 * thread's own word. */
#define RESULTS "  mul.wide.u32 %rd4, %r0, 4; sub.u64 %rd4, %rd1, %rd4;\n"
#define NO_STORE "  bra OUT; OUT: exit;"
#define PUT(value) \
    "  st.shared.u32 [%r4], " value "; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r0, 0;\n"

static uint32_t word(uint32_t t) { return 1000 + t; }
static uint32_t none(uint32_t t) { return (void)t, 0; }
static uint32_t half(uint32_t t) { return t < 32 ? 1000 + t : 0; }
static uint32_t own(uint32_t t) { return t; }
static uint32_t sum(uint32_t t) { return NOT_WRITTEN + t; }
static uint32_t sum_of_all(uint32_t t) { return t ? 0 : 63 * 64 / 2; }
static uint32_t largest(uint32_t t) { return t > 40 ? t : 40; }
static uint32_t masked(uint32_t t) { return t % 4 < 2 ? t << 24 | (NOT_WRITTEN & 0xffffff) : NOT_WRITTEN; }
static uint32_t own_and_word(uint32_t t) { return t << 16 | (1000 + t); }
static uint32_t four(uint32_t t) { return t < 4 ? 10 + t : 0; }
static uint32_t zeros(uint32_t t) { return t >= 2 && t < 32 ? 0 : 7; }
static uint32_t reversed(uint32_t t) { return (1003 + 4 * t) << 16 | (1000 + 4 * t); }
static uint32_t halves(uint32_t t) { return t ? 0x3c003c00 : 0x3c004000; }

static const struct {
    const char *target, *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "sm_90", "global to shared", INIT(1) MINE EXPECT(256) LOAD(256) WAIT GET, word },
    { "sm_90", "global to shared::cta, with a policy",
      INIT(1) MINE EXPECT(256) "  createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0;\n"
      "  @%p cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s], [%rd2], 256, [%m], "
      "%rd5;\n" WAIT GET, word },
    { "sm_90", "nothing arrives before the wait", INIT(1) MINE EXPECT(256) LOAD(256) "  bar.sync 0;\n" GET, none },
    { "sm_90", "a source that is overwritten too early",
      INIT(1) MINE EXPECT(256) LOAD(256) "  mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd4, %rd2; "
                                         "st.global.u32 [%rd4], %r0; bar.sync 0;\n" WAIT GET, own },
    { "sm_90", "two copies, bytes expected behind them",
      INIT(1) MINE LOAD(128) "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+128], "
                             "[%rd2+128], 128, [%m];\n" EXPECT(256) WAIT GET, word },
    { "sm_90", "one phase after the other",
      INIT(1) MINE EXPECT(128) LOAD(128) WAIT "  setp.eq.u32 %p, %r0, 0; bar.sync 0;\n" EXPECT(0)
      "  mbarrier.test_wait.parity.shared.b64 %q, [%m], 1; @%q ld.shared.u32 %r9, [%r4];\n", half },
    { "sm_90", "shared to shared",
      IN_CLUSTER INIT(1) MINE PUT("%r0")
      EXPECT(256) "  @%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s+512], [%s], 256, "
                  "[%m];\n" WAIT "  ld.shared.u32 %r9, [%r4+512];\n", own },
    { "sm_90", "reductions in shared memory",
      IN_CLUSTER INIT(1) MINE PUT("%r0")
      EXPECT(512) "  @%p cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.or.b32 "
                  "[%s+512], [%s], 256, [%m];\n"
      "  @%p cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [%s+512], [%s], "
      "256, [%m];\n" WAIT "  ld.shared.u32 %r9, [%r4+512];\n", own },
    { "sm_90", "shared to global",
      MINE RESULTS PUT("%r0") "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%s], 256; "
                              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bar.sync 0;\n" NO_STORE, own },
    { "sm_90", "nothing arrives there before the wait",
      MINE PUT("%r0") "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%s], 256; "
                      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; bar.sync 0;\n"
      "  mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd4, %rd2; ld.global.u32 %r9, [%rd4]; bar.sync 0;\n", word },
    { "sm_90", "when the source has been read, all has arrived there, and of later groups nothing",
      MINE PUT("%r0") "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%s], 256; "
                      "cp.async.bulk.commit_group;\n"
      "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd2+256], [%s], 256; cp.async.bulk.commit_group; "
      "cp.async.bulk.wait_group.read 1; bar.sync 0;\n"
      "  mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd4, %rd2; ld.global.u32 %r9, [%rd4]; shl.b32 %r9, %r9, 16; "
      "ld.global.u32 %r8, [%rd4+256]; sub.u32 %r8, %r8, 64; or.b32 %r9, %r9, %r8; bar.sync 0;\n",
      own_and_word },
    { "sm_90", "what is not waited for arrives in the end",
      MINE RESULTS PUT("%r0") "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%s], 256;\n" NO_STORE, own },
    { "sm_90", "once the source has been read it may change",
      MINE RESULTS PUT("%r0") "  @%p cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%s], 256; "
                              "@%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group.read 0;\n"
      "  bar.sync 0; st.shared.u32 [%r4], 0; bar.sync 0;\n" NO_STORE, own },
    { "sm_90", "sums in global memory",
      MINE RESULTS PUT("%r0") "  @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd4], [%s], 256;\n"
      NO_STORE, sum },
    { "sm_90", "sums of halves, and their maximum",
      MINE RESULTS "  mov.u32 %r5, 0x3c003c00; st.global.u32 [%rd1], 0;\n" PUT("%r5") "  @%p mov.u32 %r5, 0x3c00; "
      "@%p st.shared.u32 [%s+256], %r5; @%p st.shared.v2.u32 [%s+264], {%r2, %r2};\n"
      "  @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd4], [%s], 256; "
      "@%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group 0;\n"
      "  @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd4], [%s+256], 16; "
      "@%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group 0;\n"
      "  @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16 [%rd4], [%s], 256;\n" NO_STORE, halves },
    { "sm_100", "some bytes of sixteen",
      MINE RESULTS "  shl.b32 %r5, %r0, 24;\n" PUT("%r5") "  mov.b16 %h0, 0x88;\n"
      "  @%p cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd4], [%s], 256, %h0;\n" NO_STORE, masked },
    { "sm_90", "asynchronous stores",
      IN_CLUSTER INIT(1) MINE EXPECT(16) "  mov.u32 %r5, 10; mov.u32 %r6, 11; mov.u32 %r7, 12; mov.u32 %r8, 13;\n"
      "  @%p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%s], {%r5, %r6, %r7, %r8}, [%m];\n"
      WAIT GET, four },
    { "sm_90", "asynchronous stores of 64 bits",
      IN_CLUSTER INIT(1) MINE EXPECT(16) "  mov.u64 %rd5, 0xb0000000a; mov.u64 %rd6, 0xd0000000c;\n"
      "  @%p st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%s], {%rd5, %rd6}, [%m];\n" WAIT GET, four },
    { "sm_90", "asynchronous reductions",
      IN_CLUSTER INIT(1) MINE EXPECT(256)
      "  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s], %r0, [%m];\n" WAIT GET,
      sum_of_all },
    { "sm_90", "the greater one, at a generic address",
      IN_CLUSTER INIT(1) MINE PUT("40") EXPECT(256) "  cvt.u64.u32 %rd5, %r4; cvta.shared.u64 %rd5, %rd5; "
                                                    "cvta.shared.u64 %rd6, m;\n"
      "  red.async.relaxed.cluster.mbarrier::complete_tx::bytes.max.s32 [%rd5], %r0, [%rd6];\n" WAIT GET, largest },
    { "sm_100", "zeros in bulk",
      MINE PUT("7") "  @%p st.bulk.weak.shared::cta [%s+8], 120, 0; bar.sync 0;\n" GET, zeros },
    { "sm_90", "multimem of one device",
      "  bar.sync 0; multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r0; "
      "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r9, [%rd1]; multimem.st.global.u32 [%rd1], %r9;\n", sum },
    { "sm_90", "multimem of eight elements in reverse order",
      "  mul.wide.u32 %rd4, %r0, 16; add.u64 %rd4, %rd4, %rd2;\n"
      "  multimem.ld_reduce.relaxed.gpu.global.add.v8.f16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%rd4];\n"
      "  multimem.st.relaxed.gpu.global.v8.f16 [%rd4], {%h7, %h6, %h5, %h4, %h3, %h2, %h1, %h0};\n"
      "  ld.global.u32 %r9, [%rd4]; ld.global.u32 %r8, [%rd4+12]; shr.u32 %r8, %r8, 16; or.b32 %r9, %r9, %r8;\n",
      reversed },
};

/* multimem.st.async of one byte and of two, and of the register's lower part. PTX 9.3. */
START_TEST(narrow_asynchronous_stores)
{
    static const char text[] =
        ".version 9.3\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %d; "
        ".reg .b32 %r; .reg .b16 %h; ld.param.u64 %d, [p]; mov.b32 %r, 0x11223344; mov.b16 %h, 0x5566;\n"
        "  multimem.st.async.release.gpu.global.b8 [%d], %r; multimem.st.async.release.sys.u16 [%d+2], %h; "
        "multimem.st.async.release.gpu.s16 [%d+4], %r; multimem.st.async.release.gpu.u8 [%d+7], %h; ret; }\n";
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p;
    void *params[] = { &p };
    uint32_t out[2];

    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, sizeof out));
    ok(ptxiMemsetD8(p, 0xee, sizeof out));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], 0x5566ee44);
    ck_assert_uint_eq(out[1], 0x66ee3344);
}
END_TEST

START_TEST(copies_arrive_after_the_wait)
{
    check_one_cta(cases[_i].name, cases[_i].target, cases[_i].body, THREADS, cases[_i].expect);
}
END_TEST

static const struct {
    const char *body;
    ptxiFault fault;
    const char *report_words;
} faults[] = {
    { INIT(1) EXPECT(128) LOAD(128) "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], "
                                    "[%rd2+4032], 128, [%m];\n", PTXI_FAULT_OUT_OF_BOUNDS, "thread (0,0,0)" },
    { INIT(1) "  @%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s+512], [%s], 256, "
              "[%m];\n", PTXI_FAULT_MISUSE, "requires a launch with clusters" },
    { INIT(1) "  @%p st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s], %r0, [%m];\n", PTXI_FAULT_MISUSE,
      "requires a launch with clusters" },
    { INIT(1) "  mov.u32 %r5, 24; @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd2], "
              "%r5, [%m];\n", PTXI_FAULT_MISUSE, "multiple of 16" },
    { INIT(1) "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+8], [%rd2], 16, [%m];\n",
      PTXI_FAULT_MISALIGNED, "16 bytes" },
    { INIT(1) "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+2048], [%rd2], 128, [%m];\n",
      PTXI_FAULT_OTHER_BLOCK_SHARED, "beyond the block's shared memory" },
    { INIT(1) EXPECT(256) LOAD(128) WAIT, PTXI_FAULT_DEADLOCK, "mbarrier" },
    { INIT(1) "  mov.b16 %h0, 2; "
              "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%rd2], "
              "128, [%m], %h0;\n",
      PTXI_FAULT_MISUSE, "CTA that is not in the cluster" },
};

START_TEST(bad_copies_are_reported)
{
    uint32_t out[THREADS];

    ck_assert_int_ne(run_one_cta("sm_90", faults[_i].body, THREADS, out), PTXI_SUCCESS);
    ck_assert(report_has(faults[_i].fault, faults[_i].report_words));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bulk");
    TCase *t = tcase_create("bulk");

    unsetenv("PTXI_SCHED_SEED"); /* copies are executed as late as allowed */
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, copies_arrive_after_the_wait, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, narrow_asynchronous_stores);
    tcase_add_loop_test(t, bad_copies_are_reported, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(s, t);
    return run_suite(s);
}
