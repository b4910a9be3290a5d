/* Tests CTA barriers: named barriers, producers and consumers, threads that exit, and spin loops. PTX ISA, "Parallel
 * Synchronization and Communication Instructions: bar, barrier". Each kernel runs as one CTA of 128 threads. %r0 is
 * the thread and %r1 its warp. Thread t stores %r9, which must be `expect(t)`. */
#include "unit/support/one_cta.h"

enum { THREADS = 128 };

static uint32_t partner(uint32_t t) { return (t ^ 64) + 1000; }
static uint32_t producers_word(uint32_t t) { return t < 64 ? t : t - 64 + 1000; }
static uint32_t first_warp_only(uint32_t t) { return t < 32 ? 5 : NOT_WRITTEN; }
static uint32_t all_count(uint32_t t) { return t % 2 ? NOT_WRITTEN : THREADS / 2; }
static uint32_t half_of_warp(uint32_t t) { return t % 32 < 16 ? 1 : 2; }
static uint32_t seven(uint32_t t) { return (void)t, 7; }

/* Stores %r0 + 1000 in the thread's word of `s` and leaves the address of that word in %r2. */
#define PUT \
    "  shl.b32 %r2, %r0, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3; add.u32 %r4, %r0, 1000; " \
    "st.shared.u32 [%r2], %r4;\n"

static const struct {
    const char *name, *body;
    uint32_t (*expect)(uint32_t thread);
} cases[] = {
    { "neighboring warps wait at different barriers",
      PUT "  and.b32 %r5, %r1, 1; add.u32 %r5, %r5, 1; barrier.sync %r5, 64;\n"
          "  xor.b32 %r2, %r0, 64; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r3; ld.shared.u32 %r9, [%r2];\n",
      partner },
    { "producers arrive, consumers wait",
      PUT "  mov.u32 %r9, %r0; setp.ge.u32 %p, %r1, 2; @%p bra CONSUMER;\n"
          "  add.u32 %r5, %r1, 3; barrier.arrive %r5, 64; bra END;\n"
          "CONSUMER: add.u32 %r5, %r1, 1; barrier.sync %r5, 64; ld.shared.u32 %r9, [%r2 + -256];\n",
      producers_word },
    { "warps that have exited are not waited for",
      "  setp.ne.u32 %p, %r1, 0; @%p exit; bar.sync 0; mov.u32 %r9, 5;\n", first_warp_only },
    { "a warp exits while the others wait",
      "  setp.ne.u32 %p, %r1, 1; @%p bra WAIT; mov.u32 %r5, 3000;\n"
      "LOOP: sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r5, 0; @%p bra LOOP; mov.u32 %r9, 7; st.global.u32 [%rd1], %r9; "
      "exit;\n"
      "WAIT: bar.sync 0; mov.u32 %r9, 7;\n",
      seven },
    { "threads that have exited do not count",
      "  and.b32 %r5, %r0, 1; setp.ne.u32 %p, %r5, 0; @%p exit; setp.eq.u32 %p, 0, 0; "
      "barrier.red.popc.u32 %r9, 0, %p;\n", all_count },
    { "the halves of a warp reach the barrier on two paths",
      "  and.b32 %r5, %r0, 31; setp.lt.u32 %p, %r5, 16; @%p bra LOW; barrier.sync 0; mov.u32 %r9, 2; bra END;\n"
      "LOW: barrier.sync 0; mov.u32 %r9, 1;\n",
      half_of_warp },
    { "a warp spins until its neighbor has passed a barrier",
      "  mov.u32 %r3, s; mov.u32 %r9, 7; setp.eq.u32 %p, %r0, 0; @%p st.shared.u32 [%r3], 0; bar.sync 0;\n"
      "  setp.eq.u32 %p, %r1, 0; @%p bra SPIN; setp.eq.u32 %p, %r1, 3; @%p bra END;\n"
      "  barrier.sync 1, 64; mov.u32 %r5, 1; st.shared.u32 [%r3], %r5; bra END;\n"
      "SPIN: ld.volatile.shared.u32 %r5, [%r3]; setp.eq.u32 %p, %r5, 0; @%p bra SPIN;\n",
      seven },
    { "one barrier, many times",
      "  mov.u32 %r5, 200; mov.u32 %r9, 7; setp.eq.u32 %p, %r1, 2; @%p bra SLOW;\n"
      "LOOP: bar.sync 0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r5, 0; @%p bra LOOP; bra END;\n"
      "SLOW: bar.sync 0; nanosleep.u32 10; sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r5, 0; @%p bra SLOW;\n",
      seven },
};

START_TEST(all_threads_pass_the_barriers)
{
    check_one_cta(cases[_i].name, "sm_90", cases[_i].body, THREADS, cases[_i].expect);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("barrier");
    TCase *t = tcase_create("barrier");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, all_threads_pass_the_barriers, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(s, t);
    return run_suite(s);
}
