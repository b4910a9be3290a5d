/* Tests forward progress: threads that wait for each other, in the same warp, in different warps and in different
 * CTAs, continue in whatever order they run. Deadlocks are reported with their position. PTX ISA, "Independent
 * thread scheduling" of "Execution Model", and "barrier". */
#include "unit/support/one_cta.h"

enum { THREADS = 64, SEEDS = 6 };

static uint32_t all(uint32_t t) { return (void)t, THREADS; }
static uint32_t eight(uint32_t t) { return (void)t, 8; }
static uint32_t turns(uint32_t t) { return 31 - t % 32; }
static uint32_t own(uint32_t t) { return 500 + t; }
static uint32_t partner(uint32_t t) { return t % 2 ? t : 500 + t + 1; }
static uint32_t rounds(uint32_t t) { return t % 32 < 2 ? 200 : 0; }
static uint32_t half(uint32_t t) { return t % 2 ? NOT_WRITTEN : t + 2; }
static uint32_t later(uint32_t t) { return t; }
static uint32_t arms(uint32_t t) { return t < 32 ? 32 + t : t - 32; }

/* At the end, all threads read the word in which their warps have counted. */
#define COUNTED "  bar.sync 0; ld.shared.u32 %r9, [%s+4];\n"
#define SECTION "  ld.volatile.shared.u32 %r6, [%s+4]; add.u32 %r6, %r6, 1; st.volatile.shared.u32 [%s+4], %r6;\n"
/* The expected word of each thread. */
#define MINE "  shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %s;\n"

static const struct {
    const char *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "a lock, the critical section after the loop",
      "L: atom.shared.acquire.cta.cas.b32 %r5, [%s], 0, 1; setp.ne.u32 %p, %r5, 0; @%p bra L;\n" SECTION
      "  atom.shared.release.cta.exch.b32 %r5, [%s], 0;\n" COUNTED, all },
    { "a lock, the critical section inside the loop",
      "  mov.u32 %r7, 0; L: atom.shared.acquire.cta.cas.b32 %r5, [%s], 0, 1; setp.ne.u32 %p, %r5, 0; @%p bra NO;\n"
      SECTION "  mov.u32 %r7, 1; st.release.cta.shared.u32 [%s], 0;\n"
      "NO: setp.eq.u32 %p, %r7, 0; @%p bra L;\n" COUNTED, all },
    { "lanes in the opposite order",
      "  and.b32 %r5, %r0, 31; sub.u32 %r6, 31, %r5; shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %s;\n"
      "L: ld.volatile.shared.u32 %r8, [%r7]; setp.ne.u32 %p, %r8, %r6; @%p bra L; mov.u32 %r9, %r8; "
      "add.u32 %r8, %r8, 1; st.volatile.shared.u32 [%r7], %r8;\n", turns },
    { "consumers before producers",
      MINE "  and.b32 %r5, %r0, 1; setp.eq.u32 %p, %r5, 1; @%p bra PUT; L: ld.acquire.cta.shared.u32 %r9, [%r4+4]; "
           "setp.eq.u32 %p, %r9, 0; @%p bra L; bra END;\n"
      "PUT: add.u32 %r6, %r0, 500; st.release.cta.shared.u32 [%r4], %r6; mov.u32 %r9, %r0;\n", partner },
    { "producers before consumers",
      MINE "  and.b32 %r5, %r0, 1; setp.eq.u32 %p, %r5, 0; @%p bra GET; add.u32 %r6, %r0, 500; "
           "st.release.cta.shared.u32 [%r4], %r6; mov.u32 %r9, %r0; bra END;\n"
      "GET: ld.acquire.cta.shared.u32 %r9, [%r4+4]; setp.eq.u32 %p, %r9, 0; @%p bra GET;\n", partner },
    { "two lanes take turns",
      "  mov.u32 %r9, 0; and.b32 %r5, %r0, 31; setp.gt.u32 %p, %r5, 1; @%p bra END; shl.b32 %r7, %r1, 2; "
      "add.u32 %r7, %r7, %s;\n"
      "L: ld.volatile.shared.u32 %r6, [%r7]; and.b32 %r8, %r6, 1; setp.ne.u32 %p, %r8, %r5; @%p bra L; "
      "add.u32 %r6, %r6, 1; st.volatile.shared.u32 [%r7], %r6;\n"
      "  add.u32 %r9, %r9, 1; setp.lt.u32 %p, %r9, 200; @%p bra L;\n", rounds },
    { "two warps take turns",
      "  mov.u32 %r6, 0; L: ld.volatile.shared.u32 %r7, [%s]; and.b32 %r8, %r7, 1; setp.ne.u32 %p, %r8, %r1; "
      "@%p bra L; bar.warp.sync -1; and.b32 %r5, %r0, 31;\n"
      "  setp.eq.u32 %q, %r5, 0; add.u32 %r7, %r7, 1; @%q st.volatile.shared.u32 [%s], %r7; bar.warp.sync -1; "
      "add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, 4; @%p bra L;\n"
      "  bar.sync 0; ld.shared.u32 %r9, [%s];\n", eight },
    { "every second lane exits",
      "  and.b32 %r5, %r0, 1; setp.eq.u32 %p, %r5, 1; @%p exit; bar.sync 0; "
      "shfl.sync.down.b32 %r9, %r0, 2, 31, 0x55555555; and.b32 %r5, %r0, 31; setp.lt.u32 %p, %r5, 30;\n"
      "  add.u32 %r6, %r0, 2; selp.u32 %r9, %r9, %r6, %p; bar.warp.sync 0x55555555; bar.sync 0;\n", half },
    { "lanes exit at different times while others wait for the warp",
      "  and.b32 %r5, %r0, 31; mov.u32 %r6, 0; st.global.u32 [%rd1], %r0; mov.u32 %r9, %r0; "
      "L: setp.eq.u32 %p, %r5, %r6; @%p bra LEAVE; bar.warp.sync -1; add.u32 %r6, %r6, 1; bra L; LEAVE: exit;\n",
      later },
    { "barriers in nested branches",
      MINE "  and.b32 %r5, %r0, 3; setp.lt.u32 %p, %r5, 2; @%p bra LOW; setp.eq.u32 %q, %r5, 2; @%q bra TWO; "
           "barrier.sync 3; bra MET; TWO: barrier.sync 3; bra MET;\n"
      "LOW: setp.eq.u32 %q, %r5, 0; @%q bra NONE; barrier.sync 3; bra MET; NONE: barrier.sync 3; "
      "MET: add.u32 %r9, %r0, 500; barrier.sync 4, 64;\n", own },
    { "one warp produces, one consumes, with barriers of their own",
      MINE "  xor.b32 %r5, %r4, 128; setp.eq.u32 %p, %r1, 1; @%p bra ONE; st.shared.u32 [%r4], %r0; "
           "barrier.arrive 1, 64; barrier.sync 2, 64; ld.shared.u32 %r9, [%r5]; bra END;\n"
      "ONE: barrier.sync 1, 64; ld.shared.u32 %r9, [%r5]; st.shared.u32 [%r4], %r0; barrier.arrive 2, 64;\n", arms },
};

static const unsigned workers[] = { 1, 2, 5 };
enum { WORKERS = sizeof workers / sizeof *workers };

START_TEST(all_threads_make_progress)
{
    for (unsigned seed = 0; seed <= SEEDS; seed++) {
        char what[120];

        snprintf(what, sizeof what, "%s, seed %u", cases[_i].name, seed);
        ok(ptxiCtxSetWorkers(NULL, workers[seed % WORKERS]));
        ok(ptxiCtxSetSchedule(NULL, seed));
        check_one_cta(what, "sm_90", cases[_i].body, THREADS, cases[_i].expect);
    }
}
END_TEST

/* --- CTAs that wait for each other --- */

enum { CTAS = 40, CTA_THREADS = 48, SHARED_WORDS = 64 };

/* %g: words in global memory, initially 0. [%g] is a lock, [%g+4] a count that it protects, [%g+8] the number of the
 * next CTA, [%g+12] the number of arrivals. %r0 is the thread, %r2 the CTA and %n the number of CTAs. */
static const struct {
    const char *name, *body;
    uint32_t count;
} grids[] = {
    { "a lock, per lane",
      "L: atom.global.acquire.gpu.cas.b32 %r5, [%g], 0, 1; setp.ne.u32 %p, %r5, 0; @%p bra L; "
      "ld.relaxed.gpu.global.u32 %r6, [%g+4]; add.u32 %r6, %r6, 1;\n"
      "  st.relaxed.gpu.global.u32 [%g+4], %r6; st.release.gpu.global.u32 [%g], 0;\n", CTAS * CTA_THREADS },
    { "the last CTA goes first",
      "  sub.u32 %r5, %n, %r2; sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r0, 0; @%p bra MET; "
      "L: ld.acquire.gpu.global.u32 %r6, [%g+8]; setp.ne.u32 %p, %r6, %r5; @%p bra L;\n"
      "MET: bar.sync 0; red.global.add.u32 [%g+4], 1; bar.sync 0; setp.eq.u32 %p, %r0, 0; "
      "@%p red.release.gpu.global.add.u32 [%g+8], 1;\n", CTAS * CTA_THREADS },
    { "the last CTA goes first, with nanosleep",
      "  sub.u32 %r5, %n, %r2; sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r0, 0; @%p bra MET; L: nanosleep.u32 100; "
      "ld.acquire.gpu.global.u32 %r6, [%g+8]; setp.ne.u32 %p, %r6, %r5;\n"
      "  @%p bra L; MET: bar.sync 0; red.global.add.u32 [%g+4], 1; bar.sync 0; setp.eq.u32 %p, %r0, 0; "
      "@%p red.release.gpu.global.add.u32 [%g+8], 1;\n", CTAS * CTA_THREADS },
    { "barriers of the grid",
      "  mov.u32 %r5, 0; ROUND: bar.sync 0; setp.ne.u32 %p, %r0, 0; @%p bra MET; "
      "atom.release.gpu.global.add.u32 %r6, [%g+12], 1; mad.lo.u32 %r7, %r5, %n, %n;\n"
      "L: ld.acquire.gpu.global.u32 %r6, [%g+12]; setp.lt.u32 %p, %r6, %r7; @%p bra L; MET: bar.sync 0; "
      "red.global.add.u32 [%g+4], 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 5;\n"
      "  @%p bra ROUND;\n", 5 * CTAS * CTA_THREADS },
};

static uint32_t run_grid(const char *body)
{
    static char text[4000];
    uint32_t got;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr words;
    void *params[] = { &words };

    snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 words) "
                                "{\n"
             "  .reg .b32 %%r<9>, %%n; .reg .b64 %%g; .reg .pred %%p; ld.param.u64 %%g, [words]; "
             "mov.u32 %%r0, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%n, %%nctaid.x;\n%s  ret; }\n", body);
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&words, SHARED_WORDS * 4));
    ok(ptxiMemsetD32(words, 0, SHARED_WORDS));
    ok(ptxiLaunchCooperativeKernel(f, CTAS, 1, 1, CTA_THREADS, 1, 1, 0, NULL, params));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(&got, words + 4, sizeof got));
    ok(ptxiMemFree(words));
    ok(ptxiModuleUnload(m));
    return got;
}

START_TEST(all_ctas_make_progress)
{
    for (unsigned seed = 0; seed < 2; seed++)
        for (unsigned k = 0; k < WORKERS; k++) {
            uint32_t got;

            ok(ptxiCtxSetWorkers(NULL, workers[k]));
            ok(ptxiCtxSetSchedule(NULL, seed));
            got = run_grid(grids[_i].body);
            ck_assert_msg(got == grids[_i].count, "%s, %u workers, seed %u: %u, not %u", grids[_i].name, workers[k],
                          seed, got, grids[_i].count);
        }
}
END_TEST

static const struct {
    const char *body, *report_words[2];
} faults[] = {
    { "  setp.eq.u32 %p, %r1, 1; @%p bra ONE; bar.sync 1; bra END; ONE: bar.sync 2;\n",
      { "warp 0 lanes 0xffffffff wait for barrier 1", "warp 1 lanes 0xffffffff wait for barrier 2" } },
    { "  bar.sync 5, 96;\n", { "warp 0 lanes 0xffffffff wait for barrier 5",
                               "warp 1 lanes 0xffffffff wait for barrier 5" } },
    { "  setp.eq.u32 %p, %r1, 0; @%p bar.arrive 3, 64; setp.eq.u32 %q, %r1, 1; @%q bar.sync 4, 64;\n",
      { "warp 1 lanes 0xffffffff wait for barrier 4", "at line" } },
    { "  and.b32 %r5, %r0, 31; setp.lt.u32 %p, %r5, 4; @%p bra LOW; bar.warp.sync 0xffffffff; bra END; "
      "LOW: barrier.sync 6;\n",
      { "lanes 0xf wait for barrier 6", "lanes 0xfffffff0 wait for lanes 0xffffffff" } },
    { "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m+8], 65; bar.sync 0; "
      "mbarrier.arrive.shared.b64 %rd5, [%m+8];\n"
      "W: mbarrier.try_wait.shared.b64 %p, [%m+8], %rd5; @!%p bra W;\n",
      { "warp 0 lanes 0xffffffff wait for the mbarrier at 0x", "warp 1 lanes 0xffffffff wait for the mbarrier" } },
};

START_TEST(deadlocks_are_reported_with_positions)
{
    for (unsigned seed = 0; seed <= SEEDS; seed++) {
        uint32_t out[THREADS];

        ok(ptxiCtxSetWorkers(NULL, workers[seed % WORKERS]));
        ok(ptxiCtxSetSchedule(NULL, seed));
        ck_assert_int_eq(run_one_cta("sm_90", faults[_i].body, THREADS, out), PTXI_ERROR_LAUNCH_FAILED);
        for (int k = 0; k < 2; k++)
            ck_assert(report_has(PTXI_FAULT_DEADLOCK, faults[_i].report_words[k]));
    }
}
END_TEST

/* Two CTAs on one worker. Each polls until it is its turn, with loads or with exchanges, and must not wait long. */
static const char *const waits[] = {
    "ld.acquire.gpu.global.u32 %r1, [%rd1]; and.b32 %r1, %r1, 1; setp.ne.u32 %p, %r1, %r0; @%p bra WAIT;",
    "ld.volatile.global.u32 %r1, [%rd1]; and.b32 %r1, %r1, 1; setp.ne.u32 %p, %r1, %r0; @%p bra WAIT;",
    "atom.global.cas.b32 %r1, [%rd1], 0x7fffffff, 0; and.b32 %r1, %r1, 1; setp.ne.u32 %p, %r1, %r0; @%p bra WAIT;",
};

START_TEST(polling_threads_yield)
{
    enum { TURNS = 200, INSTRUCTIONS = 2000 /* instructions per round, many more than needed */ };
    char text[1000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr turn;
    uint32_t n;
    void *params[] = { &turn };

    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
             "  .reg .b32 %%r<4>; .reg .b64 %%rd<2>; .reg .pred %%p;\n"
             "  ld.param.u64 %%rd1, [p]; mov.u32 %%r0, %%ctaid.x; mov.u32 %%r2, 0;\n"
             "WAIT: %s\n  red.release.gpu.global.add.u32 [%%rd1], 1;\n"
             "  add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p, %%r2, %d; @%%p bra WAIT;\n  ret; }\n", waits[_i], TURNS);
    ok(ptxiCtxSetWorkers(NULL, 1));
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 2 * TURNS * INSTRUCTIONS));
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&turn, 4));
    ok(ptxiMemsetD32(turn, 0, 1));
    ok(ptxiLaunchCooperativeKernel(f, 2, 1, 1, 1, 1, 1, 0, NULL, params));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(&n, turn, 4));
    ck_assert_uint_eq(n, 2 * TURNS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("progress");
    TCase *t = tcase_create("progress");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, all_threads_make_progress, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, all_ctas_make_progress, 0, sizeof grids / sizeof *grids);
    tcase_add_loop_test(t, deadlocks_are_reported_with_positions, 0, sizeof faults / sizeof *faults);
    tcase_add_loop_test(t, polling_threads_yield, 0, sizeof waits / sizeof *waits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
