/* Tests mbarrier objects: phases, counts, and threads that wait. PTX ISA, "Parallel Synchronization and
 * Communication Instructions: mbarrier". */
#include "unit/support/one_cta.h"

enum { THREADS = 128 };

#define INIT(count) "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], " #count "; bar.sync 0;\n"
/* %r4: the address of the thread's word of s */
#define PUT "  shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %s; add.u32 %r5, %r0, 1000; st.shared.u32 [%r4], %r5;\n"
#define WAIT(label, parity) label ": mbarrier.try_wait.parity.shared.b64 %p, [%m], " #parity "; @!%p bra " label ";\n"
#define GET "  xor.b32 %r4, %r0, 127; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %s; ld.shared.u32 %r9, [%r4];\n"

static uint32_t mirrored(uint32_t t) { return 1000 + (THREADS - 1 - t); }
static uint32_t seven(uint32_t t) { return (void)t, 7; }
static uint32_t counts(uint32_t t) { return t ? NOT_WRITTEN : 5 * 10000 + 3 * 100 + 2; }
static uint32_t thousand(uint32_t t) { return (void)t, 1000; }
static uint32_t warps(uint32_t t) { return t < 32 ? 7 : NOT_WRITTEN; }
static uint32_t by_lane(uint32_t t) { return t % 2 ? 1 : 2; }

static const struct {
    const char *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "all arrive and wait by state",
      INIT(128) PUT "  mbarrier.arrive.shared.b64 %rd5, [%m];\nW: mbarrier.test_wait.acquire.cta.shared::cta.b64 %q, "
                    "[%m], %rd5; @!%q bra W;\n" GET, mirrored },
    { "all arrive and wait by parity", INIT(128) PUT "  mbarrier.arrive.release.cluster.shared.b64 _, [%m];\n"
      WAIT("W", 0) GET, mirrored },
    { "generic addresses",
      INIT(128) PUT "  cvta.shared.u64 %rd6, m; mbarrier.arrive.b64 _, [%rd6];\nW: mbarrier.try_wait.parity.b64 %q, "
                    "[%rd6], 0, 100; @!%q bra W;\n" GET, mirrored },
    { "an address of 16 bits", INIT(128) PUT "  { .reg .u16 %h; cvt.u16.u32 %h, %m; "
                                             "mbarrier.arrive.shared.b64 _, [%h]; }\n" WAIT("W", 0) GET, mirrored },
    { "arrivals at an mbarrier that was invalidated",
      INIT(128) PUT "  setp.lt.u32 %q, %r0, 5; @%q mbarrier.arrive.shared.b64 _, [%m]; bar.sync 0; "
                    "@%p mbarrier.inval.shared.b64 [%m]; bar.sync 0; @!%q mbarrier.arrive.shared.b64 _, [%m];\n"
      WAIT("W", 0) GET, mirrored },
    { "counts of arrivals", INIT(384) PUT "  mbarrier.arrive.shared.b64 _, [%m], 3;\n" WAIT("W", 0) GET, mirrored },
    { "one warp waits for the others",
      INIT(96) PUT "  setp.eq.u32 %p, %r1, 0; @%p bra W; mbarrier.arrive.shared.b64 _, [%m]; bra END;\n" WAIT("W", 0)
      "  ld.shared.u32 %r9, [%r4+384]; sub.u32 %r9, %r9, 1089; sub.u32 %r9, %r9, %r0;", warps },
    { "many phases, each thread waits each time",
      INIT(128) "  mov.u32 %r9, 0; mov.u32 %r6, 0;\n"
      "AGAIN: mbarrier.arrive.shared.b64 _, [%m]; and.b32 %r7, %r9, 1;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p, [%m], %r7; @!%p bra W; add.u32 %r9, %r9, 1; "
      "setp.lt.u32 %p, %r9, 1000; @%p bra AGAIN;\n", thousand },
    { "lanes of a warp wait for each other",
      INIT(128) "  and.b32 %r5, %r0, 1; setp.ne.u32 %q, %r5, 0; @%q bra ODD; mbarrier.arrive.shared.b64 _, [%m];\n"
      WAIT("W1", 0) "  mov.u32 %r9, 2; bra END;\n"
      "ODD: mbarrier.arrive.shared.b64 _, [%m];\n" WAIT("W2", 0) "  mov.u32 %r9, 1;", by_lane },
    { "the odd lanes complete what the even ones wait for",
      INIT(64) "  and.b32 %r5, %r0, 1; setp.ne.u32 %q, %r5, 0; @%q bra ODD;\n" WAIT("W1", 0) "  mov.u32 %r9, 2; "
      "bra END;\n"
      "ODD: mov.u32 %r9, 1; mbarrier.arrive.shared.b64 _, [%m];\n", by_lane },
    { "lanes wait at different mbarriers",
      "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], 1; @%p mbarrier.init.shared.b64 [%m+8], 1; "
      "bar.sync 0; and.b32 %r5, %r0, 1;\n"
      "  setp.lt.u32 %p, %r0, 32; @!%p bra OTHERS; shl.b32 %r6, %r5, 3; add.u32 %r6, %r6, %m;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p, [%r6], 0; @!%p bra W; mov.u32 %r9, 7; bra END;\n"
      "OTHERS: setp.eq.u32 %p, %r0, 64; @%p mbarrier.arrive.shared.b64 _, [%m]; setp.eq.u32 %p, %r0, 96; "
      "@%p mbarrier.arrive.shared.b64 _, [%m+8];\n", warps },
    { "pending counts",
      "  setp.eq.u32 %p, %r0, 0; @!%p bra END; mbarrier.init.shared.b64 [%m], 5; "
      "mbarrier.arrive.noComplete.shared.b64 %rd5, [%m], 2;\n"
      "  mbarrier.pending_count.b64 %r5, %rd5; mbarrier.arrive_drop.noComplete.release.cta.shared.b64 %rd5, [%m], 1; "
      "mbarrier.pending_count.b64 %r6, %rd5;\n"
      "  mbarrier.arrive.noComplete.shared.b64 %rd5, [%m], 1; mbarrier.pending_count.b64 %r7, %rd5; "
      "mad.lo.u32 %r9, %r5, 100, %r6; mad.lo.u32 %r9, %r9, 100, %r7;", counts },
    { "threads that drop out are not waited for in later phases",
      INIT(128) "  setp.ge.u32 %p, %r0, 32; @!%p bra FIRST; mbarrier.arrive_drop.shared.b64 _, [%m]; bra END;\n"
      "FIRST: mbarrier.arrive.shared.b64 _, [%m];\n" WAIT("W1", 0) "  mbarrier.arrive.shared.b64 _, [%m];\n"
      WAIT("W2", 1) "  mov.u32 %r9, 7;", warps },
    { "bytes that are expected and complete",
      INIT(1) PUT "  bar.sync 0; setp.eq.u32 %p, %r0, 0; @%p mbarrier.arrive.expect_tx.shared.b64 _, [%m], 4096; "
                  "mbarrier.complete_tx.shared::cluster.b64 [%m], 32;\n"
      WAIT("W", 0) GET, mirrored },
    { "bytes complete before they are expected",
      INIT(2) "  setp.eq.u32 %p, %r1, 3; @%p mbarrier.complete_tx.relaxed.cta.shared.b64 [%m], 4; bar.sync 0; "
              "mov.u32 %r9, 7; setp.ne.u32 %p, %r0, 0; @%p bra END;\n"
      "  mbarrier.arrive.shared.b64 %rd5, [%m]; mbarrier.expect_tx.shared.b64 [%m], 120; "
      "mbarrier.arrive.shared.b64 _, [%m];\n"
      "  mbarrier.test_wait.shared.b64 %p, [%m], %rd5; @%p mov.u32 %r9, 8; mbarrier.expect_tx.shared.b64 [%m], 8;\n"
      "  mbarrier.test_wait.shared.b64 %p, [%m], %rd5; @!%p mov.u32 %r9, 9;\n", seven },
#define EXPECTED INIT(1) "  mov.u32 %r9, 7; setp.ne.u32 %p, %r0, 0; @%p bra END; " \
                         "mbarrier.complete_tx.relaxed.cta.shared.b64 [%m], 8;\n" \
    "  mbarrier.arrive.shared.b64 %rd5, [%m]; mbarrier.expect_tx.shared.b64 [%m], 8;\n"
    { "expected bytes make a phase complete, and a test sees it",
      EXPECTED "  mbarrier.test_wait.shared.b64 %p, [%m], %rd5; @!%p mov.u32 %r9, 8; "
               "mbarrier.arrive.expect_tx.shared.b64 _, [%m], 0;\n"
      "  mbarrier.test_wait.parity.shared.b64 %p, [%m], 1; @!%p mov.u32 %r9, 9;\n", seven },
    { "expected bytes make a phase complete, and an arrival belongs to the next",
      EXPECTED "  mbarrier.arrive.shared.b64 _, [%m]; mbarrier.test_wait.parity.shared.b64 %p, [%m], 1; "
               "@!%p mov.u32 %r9, 9;\n", seven },
    { "expected bytes complete a phase, more of them make it incomplete again",
      EXPECTED "  mbarrier.expect_tx.shared.b64 [%m], 16; mbarrier.test_wait.shared.b64 %p, [%m], %rd5; "
               "@%p mov.u32 %r9, 8;\n"
      "  mbarrier.complete_tx.relaxed.cta.shared.b64 [%m], 16; mbarrier.test_wait.shared.b64 %p, [%m], %rd5; "
      "@!%p mov.u32 %r9, 9;\n", seven },
    { "a wait times out if other warps can run",
      INIT(1) "  mov.u32 %r9, 0; setp.ne.u32 %q, %r0, 0;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p, [%m], 0; @%p bra GOOD; add.u32 %r9, %r9, 1; setp.lt.u32 %p, %r9, 7; "
      "@%p bra W; bra END;\nGOOD: mov.u32 %r9, 99;", seven },
    { "a wait times out if another lane can run",
      INIT(2) "  mov.u32 %r9, 7; setp.ne.u32 %q, %r0, 0;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p, [%m], 0; @%p bra END; @%q bra W; "
      "mbarrier.arrive.shared.b64 _, [%m], 2; bra W;", seven },
    { "a wait with a time limit times out",
      INIT(129) "  mbarrier.arrive.shared.b64 %rd5, [%m]; mov.u32 %r9, 7;\n"
      "LONG: mov.u64 %rd6, %globaltimer;\nW: mbarrier.try_wait.shared.b64 %p, [%m], %rd5; selp.b32 %r6, 1, 0, %p; "
      "mov.u64 %rd7, %globaltimer;\n"
      "  sub.u64 %rd7, %rd7, %rd6; setp.eq.u32 %p, %r6, 0; setp.lt.u64 %q, %rd7, 10000; and.pred %q, %p, %q; "
      "@%q bra W; @!%p bra END;\n"
      "  setp.ne.u32 %q, %r0, 0; @%q bra LONG; mbarrier.arrive.shared.b64 _, [%m]; bra LONG;", seven },
    { "waiting threads see the phase complete although the mbarrier is initialized again",
      INIT(128) "  mbarrier.arrive.shared.b64 %rd5, [%m];\nW: mbarrier.try_wait.shared.b64 %q, [%m], %rd5; "
                "@!%q bra W;\n"
      "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], 256; mov.u32 %r9, 7;", seven },
    { "a wait times out while another warp spins",
      INIT(1) "  mov.u32 %r9, 7; setp.eq.u32 %p, %r1, 1; @%p bra SPIN; setp.ne.u32 %p, %r0, 0; @%p bra W;\n"
      "  mbarrier.test_wait.parity.shared.b64 %q, [%m], 0; @%q mov.u32 %r9, 1; st.shared.u32 [%s], 1;\n" WAIT("W", 0)
      "  bra END;\n"
      "SPIN: ld.volatile.shared.u32 %r5, [%s]; setp.eq.u32 %p, %r5, 0; @%p bra SPIN; setp.eq.u32 %p, %r0, 32; "
      "@%p mbarrier.arrive.shared.b64 _, [%m];\n" WAIT("W3", 0), seven },
    { "a barrier and an mbarrier together",
      INIT(64) "  setp.ge.u32 %p, %r0, 64; mov.u32 %r9, 7; @%p bra HIGH;\n" WAIT("W", 0) "  barrier.sync 1, 64; "
      "bra END;\n"
      "HIGH: barrier.sync 2, 64; mbarrier.arrive.shared.b64 _, [%m];", seven },
};

START_TEST(phases_complete)
{
    check_one_cta(cases[_i].name, "sm_90", cases[_i].body, THREADS, cases[_i].expect);
}
END_TEST

static const struct {
    const char *body;
    ptxiFault fault;
    const char *report_words;
} faults[] = {
    { INIT(129) "  mbarrier.arrive.shared.b64 _, [%m];\n" WAIT("W", 0), PTXI_FAULT_DEADLOCK,
      "wait for the mbarrier at 0xc00 (pending count 1, tx-count 0) at line" },
    { INIT(129) "  mbarrier.arrive.shared.b64 %rd5, [%m];\n"
      "W: mbarrier.test_wait.shared.b64 %p, [%m], %rd5; selp.b32 %r5, 1, 0, %p; setp.eq.u32 %q, %r5, 0; @%q bra W;",
      PTXI_FAULT_DEADLOCK, "mbarrier" },
    { INIT(129) "  mbarrier.arrive.shared.b64 %rd5, [%m]; mov.u64 %rd6, %globaltimer; mov.u32 %r5, 0;\n"
      "W: mbarrier.try_wait.shared.b64 %p, [%m], %rd5; selp.b32 %r6, 1, 0, %p; setp.ne.u32 %q, %r6, 0; @%q bra END; "
      "setp.gt.u32 %q, %r5, 9; @%q bra LATER;\n"
      "  add.u32 %r5, %r5, 1; bra W;\nLATER: mov.u64 %rd7, %globaltimer; sub.u64 %rd7, %rd7, %rd6; "
      "setp.lt.u64 %q, %rd7, 40000; @%q bra W; nanosleep.u32 1000; bra W;",
      PTXI_FAULT_DEADLOCK, "pending count 1" },
    { INIT(1) "  setp.eq.u32 %p, %r1, 0; @%p bra W; bar.sync 0;\n" WAIT("W", 0), PTXI_FAULT_DEADLOCK,
      "warp 1 lanes 0xffffffff wait for barrier 0" },
    { INIT(3) "  setp.eq.u32 %p, %r0, 5; @%p mbarrier.arrive.shared.b64 _, [%m], 4;", PTXI_FAULT_BARRIER,
      "thread (5,0,0)" },
    { "  mbarrier.arrive.shared.b64 _, [%m];", PTXI_FAULT_BARRIER, "the mbarrier is not initialized" },
    { INIT(0), PTXI_FAULT_BARRIER, "must be from 1 to 1048575" },
    { INIT(1048576), PTXI_FAULT_BARRIER, "must be from 1 to" },
    { INIT(128) "  mbarrier.arrive.noComplete.shared.b64 _, [%m], 1;", PTXI_FAULT_BARRIER, ".noComplete" },
    { EXPECTED "  mbarrier.arrive.expect_tx.shared.b64 _, [%m], 0;", PTXI_FAULT_BARRIER,
      "more arrivals at an mbarrier" },
    { INIT(1) "  mbarrier.expect_tx.shared.b64 [%m], 1048575; mbarrier.expect_tx.shared.b64 [%m], 1;",
      PTXI_FAULT_BARRIER, "tx-count" },
    { INIT(1) "  mbarrier.test_wait.parity.shared.b64 %p, [%m+4], 0;", PTXI_FAULT_MISALIGNED, "8 bytes" },
    { "  and.b64 %rd1, %rd1, -8; mbarrier.arrive.b64 _, [%rd1];", PTXI_FAULT_BARRIER,
      "the mbarrier is not in shared memory" },
};

START_TEST(misuse_is_reported)
{
    uint32_t out[THREADS];
    ptxiResult r = run_one_cta("sm_90", faults[_i].body, THREADS, out);

    ck_assert_int_ne(r, PTXI_SUCCESS);
    ck_assert(report_has(faults[_i].fault, faults[_i].report_words));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mbarrier");
    TCase *t = tcase_create("mbarrier");

    unsetenv("PTXI_SCHED_SEED"); /* kernels continue after the use of an invalid mbarrier */
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, phases_complete, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, misuse_is_reported, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(s, t);
    return run_suite(s);
}
