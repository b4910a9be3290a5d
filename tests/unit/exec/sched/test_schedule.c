/* Tests random schedules and the fair schedule. In random schedules, programs without the necessary synchronization
 * fail, and programs with it do not. A seed repeats its schedule. In the fair schedule, words that are overwritten
 * long after all warps have read them are read first. */
#include "unit/support/one_cta.h"

enum { THREADS = 64, SEEDS = 64 };

/* Addresses of the word of `s` for the thread, and for the other warp. */
#define MINE \
    "  shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %s; xor.b32 %r5, %r0, 32; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %s;\n"
#define INIT(count) \
    "  setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [%m], " #count "; @%p mbarrier.init.shared.b64 [%m+8], " \
        "1; bar.sync 0;\n"
#define WAIT(label, at, parity) \
    label ": mbarrier.try_wait.parity.shared.b64 %q, [%m+" #at "], " #parity "; @!%q bra " label ";\n"
#define LOAD(from) \
    "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd2+" #from "], 256, [%m];\n"
#define EXPECT "  @%p mbarrier.arrive.expect_tx.shared.b64 _, [%m], 256;\n"
#define READ_OTHER "  ld.shared.u32 %r9, [%r5];\n"

static uint32_t other(uint32_t t) { return 100 + (t ^ 32); }
static uint32_t word(uint32_t t) { return 1000 + t; }
static uint32_t all(uint32_t t) { return (void)t, THREADS; }
static uint32_t lanes(uint32_t t) { return 100 + (t ^ 1); }

/* The text between "<" and ">" is the necessary synchronization. */
static const struct {
    const char *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "words of another warp", MINE "  add.u32 %r6, %r0, 100; st.shared.u32 [%r4], %r6; < bar.sync 0; >" READ_OTHER,
      other },
    { "words of another lane",
      MINE "  add.u32 %r6, %r0, 100; xor.b32 %r5, %r4, 4; and.b32 %r7, %r0, 1; setp.eq.u32 %p, %r7, 1; @%p bra ODD; "
           "st.shared.u32 [%r4], %r6; bra MET;\n"
      "ODD: st.shared.u32 [%r4], %r6; MET: < bar.warp.sync -1; >" READ_OTHER, lanes },
    { "words of another lane, in branches that do not reconverge",
      MINE "  add.u32 %r6, %r0, 100; xor.b32 %r5, %r4, 4; and.b32 %r7, %r0, 1; setp.eq.u32 %p, %r7, 1; @%p bra ODD; "
           "st.shared.u32 [%r4], %r6; < bar.warp.sync -1; >\n"
      READ_OTHER "  bra END; ODD: st.shared.u32 [%r4], %r6; < bar.warp.sync -1; >" READ_OTHER, lanes },
    { "a count of threads",
      "  mov.u32 %r6, 64; LOOP: sub.u32 %r6, %r6, 1; setp.eq.u32 %p, %r0, %r6; < bar.sync 0; "
      "> @%p ld.shared.u32 %r7, [%s]; add.u32 %r7, %r7, 1; @%p st.shared.u32 [%s], %r7;\n"
      "  setp.ne.u32 %q, %r6, 0; @%q bra LOOP; bar.sync 0; ld.shared.u32 %r9, [%s];\n", all },
    { "a bulk copy", MINE INIT(1) EXPECT LOAD(0) "< " WAIT("W", 0, 0) " >  bar.sync 0; ld.shared.u32 %r9, [%r4];\n",
      word },
    { "a bulk copy that overwrites words that are read",
      MINE INIT(1) EXPECT LOAD(0)
      WAIT("W", 0, 0) "  ld.shared.u32 %r9, [%r4]; < bar.sync 0; > setp.eq.u32 %p, %r0, 0;\n" EXPECT LOAD(256)
      "  bar.sync 0;\n" WAIT("V", 0, 1), word },
    { "a bulk copy that has read its source",
      MINE "  st.shared.u32 [%r4], 64; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r0, 0; "
           "@%p cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%s], 256;\n"
      "  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; < cp.async.bulk.wait_group 0; > bar.sync 0; "
      "mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd2, %rd4;\n"
      "  ld.global.u32 %r9, [%rd4]; bar.sync 0;\n", all },
    { "a bulk copy whose source is overwritten",
      MINE "  st.shared.u32 [%r4], 64; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r0, 0; "
           "@%p cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%s], 256;\n"
      "  cp.async.bulk.commit_group; < cp.async.bulk.wait_group.read 0; > bar.sync 0; st.shared.u32 [%r4], 0; "
      "cp.async.bulk.wait_group 0; bar.sync 0; mul.wide.u32 %rd4, %r0, 4;\n"
      "  add.u64 %rd4, %rd2, %rd4; ld.global.u32 %r9, [%rd4]; bar.sync 0;\n", all },
    { "an invalidated mbarrier", INIT(64) "  mbarrier.arrive.shared.b64 _, [%m]; < bar.sync 0; "
                                              "> @%p mbarrier.inval.shared.b64 [%m]; mov.u32 %r9, 64;\n", all },
    { "a copy of cp.async",
      MINE "  mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd2, %rd4; cp.async.ca.shared.global [%r4], [%rd4], 4; "
           "cp.async.commit_group; < cp.async.wait_group 0; >\n"
      "  ld.shared.u32 %r9, [%r4];\n", word },
    { "copies of cp.async of another warp",
      MINE "  xor.b32 %r6, %r0, 32; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd4, %rd2, %rd4; "
           "cp.async.ca.shared.global [%r5], [%rd4], 4; cp.async.commit_group;\n"
      "  cp.async.wait_group 0; < bar.sync 0; > ld.shared.u32 %r9, [%r4];\n", word },
    { "words of tensor memory",
      "  setp.lt.u32 %p, %r0, 32; @%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%m], 32; bar.sync 0; "
      "ld.shared.u32 %r5, [%m]; shl.b32 %r6, %r1, 21;\n"
      "  add.u32 %r6, %r6, %r5; add.u32 %r7, %r0, 1000; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {%r7}; "
      "tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r8}, [%r6]; < tcgen05.wait::ld.sync.aligned; > mov.b32 %r9, %r8; "
      "bar.sync 0;\n"
      "  @%p tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;\n", word },
};

/* Runs the program with or without the text between < and >. */
static const char *program(const char *body, bool synchronized)
{
    static char text[4096];
    char *to = text;
    bool inside = false;

    for (; *body; body++) {
        if (*body == '<' || *body == '>')
            inside = *body == '<';
        else if (synchronized || !inside)
            *to++ = *body;
    }
    *to = 0;
    return text;
}

static bool run_succeeds(int k, bool synchronized)
{
    const char *target = strstr(cases[k].body, "tcgen05") ? "sm_100a" : "sm_90";
    uint32_t out[THREADS];

    if (run_one_cta(target, program(cases[k].body, synchronized), THREADS, out))
        return false;
    for (uint32_t t = 0; t < THREADS; t++)
        if (out[t] != cases[k].expect(t))
            return false;
    return true;
}

START_TEST(missing_synchronization_is_detected)
{
    unsigned wrong = 0;

    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        ok(ptxiCtxSetSchedule(NULL, seed));
        wrong += !run_succeeds(_i, false);
        ck_assert_msg(run_succeeds(_i, true), "%s with the synchronization, seed %u", cases[_i].name, seed);
    }
    /* with wider warps, all threads may be in one warp */
    ck_assert_msg(wrong || PTXI_LANES >= THREADS, "%s: no schedule shows the missing synchronization", cases[_i].name);
}
END_TEST

/* Each lane stores when it ran, and the CTAs store their order. */
static const char order[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry order(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p; ld.param.u64 %rd1, [p]; "
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "  and.b32 %r3, %r1, 3; T: .branchtargets A, B, C, D; brx.idx %r3, T; A: add.u32 %r4, %r1, 1; bra E; "
    "B: add.u32 %r4, %r1, 2; bra E; C: add.u32 %r4, %r1, 3; bra E;\n"
    "  D: add.u32 %r4, %r1, 4; E: atom.global.add.u32 %r5, [%rd1], 1; mad.lo.u32 %r6, %r2, 96, %r1; "
    "mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], %r5; ret; }\n";

enum { CTAS = 50, LANES = 96, ORDER_WORDS = 1 + CTAS * LANES };

static void record_order(ptxiFunction f, unsigned long long seed, uint32_t *recorded)
{
    ptxiDevicePtr p;
    void *params[] = { &p };

    ok(ptxiCtxSetWorkers(NULL, 1));
    ok(ptxiCtxSetSchedule(NULL, seed));
    ok(ptxiMemAlloc(&p, ORDER_WORDS * sizeof *recorded));
    ok(ptxiMemsetD32(p, 0, ORDER_WORDS));
    ok(ptxiLaunchKernel(f, CTAS, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(recorded, p, ORDER_WORDS * sizeof *recorded));
    ok(ptxiMemFree(p));
    ck_assert_uint_eq(recorded[0], CTAS * LANES);
}

START_TEST(a_seed_repeats)
{
    static uint32_t plain[ORDER_WORDS], first[ORDER_WORDS], again[ORDER_WORDS];
    ptxiModule m;
    ptxiFunction f;

    ok(ptxiModuleLoadData(&m, order));
    ok(ptxiModuleGetFunction(&f, m, "order"));
    record_order(f, 0, plain);
    for (unsigned long long seed = 1; seed < 10; seed++) {
        record_order(f, seed, first);
        ck_assert(memcmp(first, plain, sizeof plain));
        if (seed > 1)
            ck_assert(memcmp(first, again, sizeof plain)); /* the schedule of the previous seed */
        record_order(f, seed, again);
        ck_assert(!memcmp(first, again, sizeof plain));
    }
    ok(ptxiModuleUnload(m));
}
END_TEST

/* --- words that one warp overwrites after others have read them, without a barrier --- */

#define WORK(instructions) \
    "  mov.u32 %%r7, " instructions "; WORK: sub.u32 %%r7, %%r7, 2; setp.ne.u32 %%p, %%r7, 0; @%%p bra WORK;\n"
#define NEXT_TURN(turns) "  add.u32 %%r8, %%r8, 1; setp.lt.u32 %%p, %%r8, " turns "; @%%p bra TURN;\n"

/* %d is the minimum number of instructions between the read and the write. Cases without it write at once. Each warp
 * counts the wrong words. */
static const struct {
    const char *name, *body;
    unsigned ctas, threads;
} overwrite_cases[] = {
    { "a broadcast whose word the next iteration overwrites",
      "  setp.eq.u32 %%q, %%r0, 0; TURN: bar.sync 0; ld.shared.u32 %%r5, [s]; setp.ne.u32 %%p, %%r5, %%r8; "
      "@%%p add.u32 %%r9, %%r9, 1;\n" WORK("%d")
      "  add.u32 %%r6, %%r8, 1; @%%q st.shared.u32 [s], %%r6;\n" NEXT_TURN("20"), 3, 256 },
    { "sums of warps, with one barrier where two are needed",
      "  shr.u32 %%r1, %%r0, 5; shl.b32 %%r1, %%r1, 2; mov.u32 %%r2, s; add.u32 %%r1, %%r1, %%r2; "
      "and.b32 %%r2, %%r0, 31; setp.eq.u32 %%q, %%r2, 0;\n"
      "  TURN: @%%q st.shared.u32 [%%r1], %%r8; bar.sync 0; ld.shared.u32 %%r2, [s]; ld.shared.u32 %%r3, [s+4]; "
      "ld.shared.u32 %%r4, [s+8]; ld.shared.u32 %%r5, [s+12];\n"
      "  add.u32 %%r2, %%r2, %%r3; add.u32 %%r4, %%r4, %%r5; add.u32 %%r2, %%r2, %%r4; shl.b32 %%r3, %%r8, 2; "
      "setp.ne.u32 %%p, %%r2, %%r3; @%%p add.u32 %%r9, %%r9, 1;\n"
      WORK("%d") NEXT_TURN("20"), 3, 128 },
    { "a word of global memory that the last warp overwrites",
      "  setp.eq.u32 %%q, %%r0, 0; mul.wide.u32 %%rd4, %%r10, 4; add.u64 %%rd4, %%rd4, %%rd2; TURN: bar.sync 0; "
      "ld.volatile.global.u32 %%r5, [%%rd4]; setp.ne.u32 %%p, %%r5, %%r8;\n"
      "  @%%p add.u32 %%r9, %%r9, 1;\n" WORK("%d") "  add.u32 %%r6, %%r8, 1; "
                                                   "@%%q st.volatile.global.u32 [%%rd4], %%r6;\n" NEXT_TURN("20"), 3,
                                                   256 },
    { "a word of the next CTA",
      "  add.u32 %%r1, %%r10, 1; mov.u32 %%r2, %%nctaid.x; rem.u32 %%r1, %%r1, %%r2; mul.wide.u32 %%rd4, %%r1, 4; "
      "add.u64 %%rd4, %%rd4, %%rd2; mul.wide.u32 %%rd5, %%r10, 4; add.u64 %%rd5, %%rd5, %%rd2;\n"
      "  ld.volatile.global.u32 %%r9, [%%rd4]; mov.u32 %%r6, 1;\n" WORK("80 + %d")
      "  st.volatile.global.u32 [%%rd5], %%r6;\n", 40, 64 },
    { "a word of global memory that a warp increments at once",
      "  mul.wide.u32 %%rd4, %%r10, 4; add.u64 %%rd4, %%rd4, %%rd2; TURN: bar.sync 0; ld.global.u32 %%r5, [%%rd4]; "
      "add.u32 %%r6, %%r5, 1; @%%q st.global.u32 [%%rd4], %%r6;\n"
      "  setp.ne.u32 %%p, %%r5, %%r8; @%%p add.u32 %%r9, %%r9, 1;\n" NEXT_TURN("20"), 3, 256 },
    { "a word of shared memory that a warp loads under a condition and increments at once",
      "  TURN: bar.sync 0; setp.lt.u32 %%p, %%r0, 1000; @%%p ld.shared.u32 %%r5, [s]; add.u32 %%r6, %%r5, 1; "
      "@%%q st.shared.u32 [s], %%r6;\n"
      "  setp.ne.u32 %%p, %%r5, %%r8; @%%p add.u32 %%r9, %%r9, 1;\n" NEXT_TURN("20"), 3, 256 },
};
enum { MAX_THREADS = 40 * 256 };

static unsigned count_wrong_words(int k, unsigned distance)
{
    static uint32_t out[MAX_THREADS];
    static char body[2000], text[4000];
    unsigned threads = overwrite_cases[k].ctas * overwrite_cases[k].threads, wrong = 0;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr results, words;
    void *params[] = { &results, &words };

    snprintf(body, sizeof body, overwrite_cases[k].body, distance);
    snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, "
                                ".param .u64 q) {\n"
             "  .reg .b32 %%r<16>; .reg .b64 %%rd<8>; .reg .pred %%p, %%q; .shared .b32 s[32]; "
             "ld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q]; mov.u32 %%r0, %%tid.x;\n"
             "  mov.u32 %%r8, 0; mov.u32 %%r9, 0; setp.eq.u32 %%q, %%r0, 0; @%%q st.shared.u32 [s], 0; "
             "mov.u32 %%r10, %%ctaid.x; bar.sync 0;\n%s\n"
             "  mov.u32 %%r11, %%ntid.x; mad.lo.u32 %%r10, %%r10, %%r11, %%r0; mul.wide.u32 %%rd3, %%r10, 4; "
             "add.u64 %%rd1, %%rd1, %%rd3; st.global.u32 [%%rd1], %%r9; ret; }\n", body);
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&results, sizeof out));
    ok(ptxiMemAlloc(&words, 4096));
    ok(ptxiMemsetD32(words, 0, 1024));
    ok(ptxiLaunchKernel(f, overwrite_cases[k].ctas, 1, 1, overwrite_cases[k].threads, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(out, results, threads * sizeof *out));
    ok(ptxiMemFree(results));
    ok(ptxiMemFree(words));
    ok(ptxiModuleUnload(m));
    for (unsigned t = 0; t < threads; t++)
        wrong += out[t] != 0;
    return wrong;
}

START_TEST(overwritten_words_were_read_before)
{
    static const unsigned distances[] = { 10, 100, 1000 };

    ok(ptxiCtxSetWorkers(NULL, 1));
    for (unsigned k = 0; k < sizeof distances / sizeof *distances; k++) {
        ok(ptxiCtxSetSchedule(NULL, PTXI_SCHEDULE_RUN));
        ck_assert_msg(count_wrong_words(_i, distances[k]), "%s, %u instructions later", overwrite_cases[_i].name,
                      distances[k]);
        ok(ptxiCtxSetSchedule(NULL, PTXI_SCHEDULE_FAIR));
        ck_assert_msg(!count_wrong_words(_i, distances[k]), "%s, %u instructions later, fair schedule",
                      overwrite_cases[_i].name, distances[k]);
    }
}
END_TEST

START_TEST(a_fair_schedule_repeats)
{
    static uint32_t plain[ORDER_WORDS], first[ORDER_WORDS], again[ORDER_WORDS];
    ptxiModule m;
    ptxiFunction f;

    ok(ptxiModuleLoadData(&m, order));
    ok(ptxiModuleGetFunction(&f, m, "order"));
    record_order(f, PTXI_SCHEDULE_RUN, plain);
    record_order(f, PTXI_SCHEDULE_FAIR, first);
    record_order(f, PTXI_SCHEDULE_FAIR, again);
    ck_assert(memcmp(first, plain, sizeof plain));
    ck_assert(!memcmp(first, again, sizeof first));
    record_order(f, PTXI_SCHEDULE_RUN, again);
    ck_assert(!memcmp(plain, again, sizeof plain));
    ok(ptxiModuleUnload(m));
}
END_TEST

START_TEST(seeds_are_settings_of_the_context)
{
    unsigned long long seed = 1;

    ok(ptxiCtxGetSchedule(ctx, &seed));
    ck_assert_uint_eq(seed, 0);
    ok(ptxiCtxSetSchedule(ctx, UINT64_MAX - 1));
    ok(ptxiCtxGetSchedule(NULL, &seed));
    ck_assert_uint_eq(seed, UINT64_MAX - 1);
    ok(ptxiCtxSetSchedule(ctx, PTXI_SCHEDULE_FAIR));
    ok(ptxiCtxGetSchedule(NULL, &seed));
    ck_assert_uint_eq(seed, PTXI_SCHEDULE_FAIR);
    ck_assert_int_eq(ptxiCtxGetSchedule(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("schedule");
    TCase *t = tcase_create("schedule");

    unsetenv("PTXI_SCHED");
    unsetenv("PTXI_SCHED_SEED");
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, missing_synchronization_is_detected, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, a_seed_repeats);
    tcase_add_loop_test(t, overwritten_words_were_read_before, 0, sizeof overwrite_cases / sizeof *overwrite_cases);
    tcase_add_test(t, a_fair_schedule_repeats);
    tcase_add_test(t, seeds_are_settings_of_the_context);
    suite_add_tcase(s, t);
    return run_suite(s);
}
