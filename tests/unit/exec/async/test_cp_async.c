/* Tests that cp.async copies the right bytes, and that they do not arrive before the thread waits for them. PTX ISA,
 * "Data Movement and Conversion Instructions: cp.async" and the related sections. */
#include "unit/support/one_cta.h"

enum { THREADS = 64 };

/* %r4 is the address of the thread's 16 bytes of s, %rd4 of its 16 bytes of the host's words. */
#define PLACES "  shl.b32 %r4, %r0, 4; add.u32 %r4, %r4, %s; mul.wide.u32 %rd4, %r0, 16; add.u64 %rd4, %rd4, %rd2;\n"
#define COPY16 "  cp.async.cg.shared.global [%r4], [%rd4], 16;\n"

static uint32_t word(uint32_t t) { return 1000 + 4 * t; }
static uint32_t sum(uint32_t t) { return 4 * word(t) + 6; }
static uint32_t none(uint32_t t) { return (void)t, 0; }
static uint32_t second(uint32_t t) { return word(t) + 1; }
static uint32_t other(uint32_t t) { return word((t + 1) % THREADS); }
static uint32_t scattered(uint32_t t) { return 1000 + 7 * t; }
static uint32_t row(uint32_t t) { return 1000 + t; }
static uint32_t bytes(uint32_t t)
{
    if (t % 17 < 2)
        return t % 17 ? word(t) & 0xff : 0;
    return t % 17 < 4 ? word(t) & 0xffff : word(t);
}
static uint32_t odd(uint32_t t) { return t % 2 ? word(t) : 0; }
static uint32_t even(uint32_t t) { return t % 2 ? 0 : word(t); }
static uint32_t seven(uint32_t t) { return (void)t, 7; }
static uint32_t by_parity(uint32_t t) { return t % 2 ? word(t) : 0; }
static uint32_t rounds(uint32_t t) { return (void)t, 100 * 1000; }
static uint32_t half_sum(uint32_t t) { return word(t) + word(t) + 1; }

static const struct {
    const char *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "16 bytes, wait_all",
      PLACES COPY16 "  cp.async.wait_all; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; add.u32 %r9, %r5, %r6; "
                    "add.u32 %r9, %r9, %r7; add.u32 %r9, %r9, %r8;", sum },
    { "8 bytes with offsets",
      PLACES "  cp.async.ca.shared.global.L2::128B [%r4+8], [%rd4+0], 8; cp.async.wait_all; "
             "ld.shared.v2.u32 {%r5, %r6}, [%r4+8]; add.u32 %r9, %r5, %r6;", half_sum },
    { "4 bytes to scattered addresses",
      "  shl.b32 %r4, %r0, 5; and.b32 %r4, %r4, 1023; shr.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 2; add.u32 %r4, %r4, %r5; "
      "add.u32 %r4, %r4, %s;\n"
      "  mul.wide.u32 %rd4, %r0, 28; add.u64 %rd4, %rd4, %rd2; cp.async.ca.shared.global [%r4], [%rd4], 4; "
      "cp.async.wait_all; ld.shared.u32 %r9, [%r4];", scattered },
    { "4 bytes, from a row to every other word of two rows",
      "  shl.b32 %r4, %r0, 2; and.b32 %r5, %r0, 1; shl.b32 %r5, %r5, 8; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %s; "
      "mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd4, %rd2;\n"
      "  mov.u32 %r10, 3;\nAGAIN: st.shared.u32 [%r4], -1; cp.async.ca.shared.global [%r4], [%rd4], 4; "
      "cp.async.wait_all; sub.u32 %r10, %r10, 1; setp.ne.u32 %p, %r10, 0; @%p bra AGAIN;\n"
      "  ld.shared.u32 %r9, [%r4];", row },
    { "no bytes arrive before the wait", PLACES COPY16 "  ld.shared.u32 %r9, [%r4]; cp.async.wait_all;", none },
    { "a barrier does not complete a copy", PLACES COPY16 "  cp.async.commit_group; bar.sync 0; "
            "ld.shared.u32 %r9, [%r4];",
      none },
    { "waiting for other groups does not complete a copy", PLACES COPY16 "  cp.async.commit_group; "
      "cp.async.wait_group 1; "
                                                     "ld.shared.u32 %r9, [%r4];", none },
    { "waiting does not complete an uncommitted copy", PLACES COPY16 "  cp.async.wait_group 0; "
      "ld.shared.u32 %r9, [%r4];", none },
    { "groups complete in order",
      PLACES COPY16 "  cp.async.commit_group; cp.async.ca.shared.global [%r4+4], [%rd4+8], 4; cp.async.commit_group; "
                    "cp.async.commit_group;\n"
      "  cp.async.wait_group 2; ld.shared.v2.u32 {%r9, %r5}, [%r4]; sub.u32 %r9, %r5, 0;", second },
    { "the wait reads the source, and other threads see the bytes after a barrier",
      PLACES COPY16 "  cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; add.u32 %r5, %r4, 16; "
                    "setp.eq.u32 %p, %r0, 63; @%p mov.u32 %r5, %s;\n"
      "  ld.shared.u32 %r9, [%r5];", other },
    { "a source that is overwritten too early",
      PLACES COPY16 "  cp.async.commit_group; st.global.u32 [%rd4], 7; cp.async.wait_group 0; "
                    "ld.shared.u32 %r9, [%r4];", seven },
    { "bytes of the source, followed by zeros",
      PLACES "  rem.u32 %r5, %r0, 17; st.shared.u32 [%r4], -1; cp.async.cg.shared.global [%r4], [%rd4], 16, %r5; "
             "cp.async.wait_all;\n"
      "  ld.shared.u32 %r9, [%r4];", bytes },
    { "a source of zero bytes may have any address",
      PLACES "  and.b32 %r5, %r0, 1; setp.eq.u32 %p, %r5, 0; @%p mov.u64 %rd4, 17; shl.b32 %r5, %r5, 2; "
             "st.shared.u32 [%r4], -1;\n"
      "  cp.async.ca.shared.global [%r4], [%rd4], 4, %r5; cp.async.wait_all; ld.shared.u32 %r9, [%r4];", odd },
    { "ignored sources",
      PLACES "  and.b32 %r5, %r0, 1; setp.ne.u32 %p, %r5, 0; @%p mov.u64 %rd4, 17; st.shared.u32 [%r4], -1;\n"
      "  cp.async.cg.shared.global [%r4], [%rd4], 16, %p; cp.async.wait_all; ld.shared.u32 %r9, [%r4];", even },
    { "ignored sources, negated, guarded",
      PLACES "  and.b32 %r5, %r0, 1; setp.ne.u32 %p, %r5, 0;\n"
      "  @%p cp.async.cg.shared.global [%r4], [%rd4], 16, !%p; cp.async.wait_all; ld.shared.u32 %r9, [%r4];", odd },
    { "lanes that have committed different numbers of groups",
      PLACES "  and.b32 %r5, %r0, 1; setp.ne.u32 %p, %r5, 0; @%p cp.async.ca.shared.global [%r4+8], [%rd4], 4; "
             "@%p cp.async.commit_group;\n" COPY16
      "  cp.async.commit_group; @%p cp.async.wait_group 0; ld.shared.u32 %r9, [%r4];", by_parity },
    { "a pipeline of three stages, many rounds",
      PLACES "  mov.u32 %r9, 0; mov.u32 %r10, 0; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %s; mul.wide.u32 %rd4, %r0, 0; "
             "add.u64 %rd4, %rd4, %rd2;\n"
      "  cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.commit_group; "
      "cp.async.ca.shared.global [%r4+256], [%rd4], 4; cp.async.commit_group;\n"
      "AGAIN: add.u32 %r11, %r10, 2; rem.u32 %r11, %r11, 3; shl.b32 %r11, %r11, 8; add.u32 %r11, %r11, %r4;\n"
      "  cp.async.ca.shared.global [%r11], [%rd4], 4; cp.async.commit_group; cp.async.wait_group 2; "
      "rem.u32 %r12, %r10, 3; shl.b32 %r12, %r12, 8;\n"
      "  add.u32 %r12, %r12, %r4; ld.shared.u32 %r5, [%r12]; st.shared.u32 [%r12], 0; add.u32 %r9, %r9, %r5;\n"
      "  add.u32 %r10, %r10, 1; setp.lt.u32 %p, %r10, 100; @%p bra AGAIN;", rounds },
    { "more copies than the queue holds",
      PLACES "  mov.u32 %r10, 2000;\nAGAIN: cp.async.cg.shared.global [%r4], [%rd4], 16; sub.u32 %r10, %r10, 1; "
             "setp.ne.u32 %p, %r10, 0; @%p bra AGAIN;\n"
      "  cp.async.wait_all; ld.shared.u32 %r9, [%r4];", word },
    { "an mbarrier counts arrivals of copies in",
      PLACES "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], 64; bar.sync 0;\n" COPY16
      "  cp.async.mbarrier.arrive.shared.b64 [%m]; mbarrier.arrive.shared.b64 %rd5, [%m];\n"
      "WAIT: mbarrier.test_wait.shared.b64 %p, [%m], %rd5; @!%p bra WAIT; xor.b32 %r4, %r4, 512; "
      "ld.shared.u32 %r9, [%r4]; and.b32 %r5, %r0, 32;\n"
      "  setp.eq.u32 %p, %r5, 0; @%p sub.u32 %r9, %r9, 128; @!%p add.u32 %r9, %r9, 128;", word },
    { "an mbarrier that is initialized for the arrivals of copies",
      PLACES "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], 128; bar.sync 0;\n" COPY16
      "  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%m]; cp.async.ca.shared.global [%r4], [%rd4+4], 4; "
      "cvta.shared.u64 %rd6, m;\n"
      "  cp.async.mbarrier.arrive.noinc.b64 [%rd6+0];\n"
      "WAIT: mbarrier.try_wait.parity.b64 %p, [%rd6], 0; @!%p bra WAIT; ld.shared.u32 %r9, [%r4];", second },
    { "copies after the arrive are not waited for",
      PLACES "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], 64; bar.sync 0;\n" COPY16
      "  cp.async.mbarrier.arrive.noinc.shared.b64 [%m]; cp.async.ca.shared.global [%r4], [%rd4+4], 4;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%m], 0, 1000; @!%p bra WAIT; ld.shared.u32 %r9, [%r4];", word },
};

START_TEST(copies_arrive_after_the_wait)
{
    check_one_cta(cases[_i].name, "sm_90", cases[_i].body, THREADS, cases[_i].expect);
}
END_TEST

static const struct {
    const char *body;
    ptxiResult result;
    ptxiFault fault;
    const char *report_words;
} faults[] = {
    { PLACES "  cp.async.cg.shared.global [%r4+4], [%rd4], 16;", PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_FAULT_MISALIGNED,
      "write of 16 bytes" },
    { PLACES "  cp.async.cg.shared.global [%r4], [%rd4+8], 16;", PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_FAULT_MISALIGNED,
      "read of 16 bytes" },
    { PLACES "  cp.async.ca.shared.global [%r4], [%rd4+4096], 8;", PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_OUT_OF_BOUNDS,
      "read of 8 bytes" },
    { PLACES "  cp.async.ca.shared.global [%r4+65536], [%rd4], 8;", PTXI_ERROR_ILLEGAL_ADDRESS,
      PTXI_FAULT_OTHER_BLOCK_SHARED, "goes beyond the block's shared memory" },
};

START_TEST(bad_copies_are_reported)
{
    uint32_t out[THREADS];

    ck_assert_int_eq(run_one_cta("sm_80", faults[_i].body, THREADS, out), faults[_i].result);
    ck_assert(report_has(faults[_i].fault, faults[_i].report_words));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cp_async");
    TCase *t = tcase_create("cp_async");

    unsetenv("PTXI_SCHED_SEED"); /* copies are executed as late as allowed */
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, copies_arrive_after_the_wait, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, bad_copies_are_reported, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(s, t);
    return run_suite(s);
}
