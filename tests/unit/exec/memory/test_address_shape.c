/* Tests loads from shared memory with addresses that depend only on the thread, so that their shape is computed once:
 * rows, rows of parts of a warp, one address for several lanes, and other patterns, by all lanes and by some, inside
 * and outside of shared memory. The reference is C. */
#include "unit/support/context.h"

#include <stdio.h>

enum { THREADS = 256, WORDS = 1024, LOADS = 3, RESERVED = 1024 /* bytes before the variables of the CTA */ };

/* PTX that computes the index %r2 of thread %r1, and the same in C. */
static uint32_t forward(uint32_t t) { return t; }
static uint32_t columns(uint32_t t) { return t % 16; }
static uint32_t rows(uint32_t t) { return t / 16 * 16; }
static uint32_t eighths(uint32_t t) { return t % 8 + 40; }
static uint32_t halves_mixed(uint32_t t) { return t % 32 < 16 ? t : 5; }
static uint32_t every_second(uint32_t t) { return t * 2; }
static uint32_t backward(uint32_t t) { return 300 - t; }
static uint32_t same_index(uint32_t t) { return (void)t, 77; }

static const struct {
    const char *text;
    uint32_t (*index)(uint32_t thread);
} shapes[] = {
    { "mov.u32 %r2, %r1;", forward },
    { "and.b32 %r2, %r1, 15;", columns },
    { "and.b32 %r2, %r1, -16;", rows },
    { "and.b32 %r2, %r1, 7; add.u32 %r2, %r2, 40;", eighths },
    { "and.b32 %r3, %r1, 31; setp.lt.u32 %p, %r3, 16; selp.b32 %r2, %r1, 5, %p;", halves_mixed },
    { "shl.b32 %r2, %r1, 1;", every_second },
    { "sub.u32 %r2, 300, %r1;", backward },
    { "mov.u32 %r2, 77;", same_index },
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* s[k] = 3 * k + 1 for k < WORDS. out is the sum of TURNS loads at 8 bytes * index + offset, for the threads that
 * `guard` selects. */
static ptxiResult run(const char *index, unsigned bits, int offset, const char *guard, uint64_t out[THREADS])
{
    char text[4000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr mem;
    void *params[] = { &mem };
    ptxiResult r;

    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<4>; .reg .pred %%p, %%q; .shared .align 8 .b8 s[%u]; "
             ".reg .b%u %%v, %%sum;\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r4, %%r1; mov.u32 %%r7, s;\n"
             "F: mad.lo.u32 %%r5, %%r4, 3, 1; cvt.u64.u32 %%rd1, %%r5; shl.b32 %%r6, %%r4, 3; "
             "add.u32 %%r6, %%r6, %%r7; st.shared.b64 [%%r6], %%rd1;\n"
             "add.u32 %%r4, %%r4, %d; setp.lt.u32 %%p, %%r4, %d; @%%p bra F; bar.sync 0;\n"
             "%s shl.b32 %%r2, %%r2, 3; add.u32 %%r2, %%r2, %%r7; mov.b%u %%sum, 0; mov.u32 %%r4, %d;\n"
             "and.b32 %%r5, %%r1, 1; setp.eq.u32 %%q, %%r5, 1;\n"
             "L: mov.b%u %%v, 0; %s ld.shared.b%u %%v, [%%r2+%d]; add.u%u %%sum, %%sum, %%v; sub.u32 %%r4, %%r4, 1; "
             "setp.ne.u32 %%p, %%r4, 0; @%%p bra L;\n"
             "ld.param.u64 %%rd1, [out]; mul.wide.u32 %%rd2, %%r1, 8; add.u64 %%rd1, %%rd1, %%rd2; "
             "cvt.u64.u%u %%rd3, %%sum; st.global.u64 [%%rd1], %%rd3; ret; }\n",
             WORDS * 8, bits, THREADS, WORDS, index, bits, LOADS, bits, guard, bits, offset, bits, bits);
    open_context();
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&mem, THREADS * sizeof *out));
    ok(ptxiLaunchKernel(f, 3, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    r = ptxiMemcpyDtoH(out, mem, THREADS * sizeof *out);
    close_context();
    return r;
}

START_TEST(every_shape_is_loaded_correctly)
{
    unsigned bits = _i % 2 ? 64 : 32, which = (unsigned)_i / 2 % SHAPES, guarded = (unsigned)_i / 2 / SHAPES;
    uint64_t out[THREADS];

    ok(run(shapes[which].text, bits, 16, guarded ? "@%q" : "", out));
    for (uint32_t t = 0; t < THREADS; t++)
        ck_assert_uint_eq(out[t], !guarded || t % 2 ? LOADS * (3 * (shapes[which].index(t) + 2) + 1) : 0);
}
END_TEST

/* The first of the last threads is outside, because of its index or because of the offset of the instruction. */
START_TEST(accesses_outside_fail)
{
    static const int offsets[] = { 8 * (WORDS - THREADS) + 8, -(RESERVED + 8), 4, 0x7ffffff8 };
    uint64_t out[THREADS];

    ok(run(shapes[0].text, 64, 8 * (WORDS - THREADS), "", out));
    ck_assert_int_ne(run(shapes[0].text, 64, offsets[_i], "", out), PTXI_SUCCESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shape");
    TCase *t = tcase_create("shape");

    tcase_add_loop_test(t, every_shape_is_loaded_correctly, 0, SHAPES * 4);
    tcase_add_loop_test(t, accesses_outside_fail, 0, 4);
    suite_add_tcase(s, t);
    return run_suite(s);
}
