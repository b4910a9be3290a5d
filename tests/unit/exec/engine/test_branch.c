/* Tests branches on comparisons: each integer comparison, taken if it holds or if it does not, forward and in a
 * loop, by all lanes, by some lanes, and with inactive lanes. The reference is C. */
#include "unit/support/context.h"

#include <stdio.h>

enum { THREADS = 256 };

static const struct {
    const char *name;
    bool less, equal, greater; /* where the comparison holds */
} comparisons[] = {
    { "eq", false, true, false }, { "ne", true, false, true }, { "lt", true, false, false },
    { "le", true, true, false },  { "gt", false, false, true }, { "ge", false, true, true },
};
static const char *const types[] = { "u32", "s32", "u64", "s64" };

enum { COMPARISONS = sizeof comparisons / sizeof *comparisons, TYPES = sizeof types / sizeof *types };

/* Values that all types can represent. 256 threads compare each value with each other one. */
static uint64_t operand(unsigned k)
{
    static const uint64_t values[16] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x100000000,
                                         0x100000001, 0x7fffffff00000000,
                                         INT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX - 1,
                                         UINT64_MAX, 0xffffffff00000000 };

    return values[k % 16];
}

static int order(const char *type, uint64_t a, uint64_t b)
{
    if (type[1] == '3') {
        a = type[0] == 's' ? (uint64_t)(int32_t)a : (uint32_t)a;
        b = type[0] == 's' ? (uint64_t)(int32_t)b : (uint32_t)b;
    }
    return type[0] == 's' ? ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) : (a > b) - (a < b);
}

static bool compare(unsigned comparison, int order)
{
    return order < 0 ? comparisons[comparison].less : order ? comparisons[comparison].greater
        : comparisons[comparison].equal;
}

/* Runs one CTA of THREADS threads. Thread t reads word t of a and b and writes a word. */
static void run(const char *body, const uint64_t *a, const uint64_t *b, uint32_t *out)
{
    static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, "
                               ".param .u64 b, .param .u64 out) {\n"
                               ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;\n"
                               "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; ld.param.u64 %rd1, [a]; "
                               "ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out];\n"
                               "add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; mul.wide.u32 %rd4, %r1, 4; "
                               "add.u64 %rd3, %rd3, %rd4;\n"
                               "ld.global.u64 %rd1, [%rd1]; ld.global.u64 %rd2, [%rd2]; cvt.u32.u64 %r1, %rd1; "
                               "cvt.u32.u64 %r2, %rd2;\n";
    char text[4000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr mem[3];
    void *params[] = { &mem[0], &mem[1], &mem[2] };

    snprintf(text, sizeof text, "%s%sEND: st.global.u32 [%%rd3], %%r3; ret; }\n", head, body);
    open_context();
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    for (unsigned k = 0; k < 3; k++)
        ok(ptxiMemAlloc(&mem[k], THREADS * sizeof *a));
    ok(ptxiMemcpyHtoD(mem[0], a, THREADS * sizeof *a));
    ok(ptxiMemcpyHtoD(mem[1], b, THREADS * sizeof *b));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(out, mem[2], THREADS * sizeof *out));
    close_context();
}

/* Returns the registers of a type: %r1, %r2 or %rd1, %rd2. */
static const char *register_prefix(const char *type)
{
    return type[1] == '3' ? "%r" : "%rd";
}

START_TEST(forward_branches)
{
    unsigned c = (unsigned)_i % COMPARISONS, t = (unsigned)_i / COMPARISONS % TYPES;
    bool negated = _i / COMPARISONS / TYPES % 2, all_lanes = _i / COMPARISONS / TYPES / 2;
    uint64_t a[THREADS], b[THREADS];
    uint32_t out[THREADS];
    char body[400];

    snprintf(body, sizeof body,
             "%s mov.u32 %%r3, 1; setp.%s.%s %%p, %s1, %s2; @%s%%p bra END; mov.u32 %%r3, 2;\n",
             all_lanes ? "" : "mov.u32 %r3, 9; mov.u32 %r4, %tid.x; and.b32 %r4, %r4, 3; setp.eq.u32 %p, %r4, 3; "
                              "@%p bra END;\n", comparisons[c].name,
             types[t], register_prefix(types[t]), register_prefix(types[t]), negated ? "!" : "");
    for (unsigned k = 0; k < THREADS; k++) {
        a[k] = operand(k);
        b[k] = operand(k / 16);
    }
    run(body, a, b, out);
    for (unsigned k = 0; k < THREADS; k++)
        ck_assert_uint_eq(out[k], !all_lanes && k % 4 == 3                             ? 9u
                                  : compare(c, order(types[t], a[k], b[k])) != negated ? 1u
                                                                                       : 2u);
}
END_TEST

/* Counts from a towards b by 1 while the comparison holds, at most 20 times. Lanes leave the loop at different
 * times. */
START_TEST(loop_branches)
{
    unsigned c = (unsigned)_i % COMPARISONS, t = (unsigned)_i / COMPARISONS;
    const char *p = register_prefix(types[t]);
    uint64_t a[THREADS], b[THREADS];
    uint32_t out[THREADS];
    char body[400];

    snprintf(body, sizeof body,
             "mov.u32 %%r3, 0;\nLOOP: add.u32 %%r3, %%r3, 1; setp.ge.u32 %%p, %%r3, 20; @%%p bra END; "
             "add.%s %s1, %s1, 1;\n"
             "setp.%s.%s %%p, %s1, %s2; @%%p bra LOOP;\n", types[t], p, p, comparisons[c].name, types[t], p, p);
    for (unsigned k = 0; k < THREADS; k++) {
        b[k] = operand(k / 16);
        a[k] = b[k] + k % 16 - 13;
    }
    run(body, a, b, out);
    for (unsigned k = 0; k < THREADS; k++) {
        uint64_t x = a[k];
        uint32_t n = 1;

        for (; n < 20 && (x++, compare(c, order(types[t], x, b[k]))); n++)
            ;
        ck_assert_uint_eq(out[k], n);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("branch");
    TCase *t = tcase_create("branch");

    tcase_add_loop_test(t, forward_branches, 0, COMPARISONS * TYPES * 4);
    tcase_add_loop_test(t, loop_branches, 0, COMPARISONS * TYPES);
    suite_add_tcase(s, t);
    return run_suite(s);
}
