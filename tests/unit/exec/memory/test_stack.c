/* Tests alloca, stacksave and stackrestore, and instructions that are only hints for caches and register files. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <string.h>

enum { THREADS = 96 };

static ptxiModule module;
static ptxiDevicePtr mem;
static uint32_t out[THREADS][4];

static void set_up(void)
{
    open_context();
    ck_assert_msg(ptxiModuleLoadData(&module, test_file("exec/memory/stack.ptx")) == PTXI_SUCCESS,
                  "the kernels do not load");
    ok(ptxiMemAlloc(&mem, sizeof out));
}

static ptxiResult run(const char *name, unsigned blocks, void *param)
{
    void *params[] = { param };
    ptxiFunction f;
    ptxiResult r;

    ok(ptxiModuleGetFunction(&f, module, name));
    r = ptxiLaunchKernel(f, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL);
    return r ? r : ptxiCtxSynchronize();
}

static void results(const char *name)
{
    ok(run(name, 1, &mem));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
}

START_TEST(blocks_do_not_overlap)
{
    results("blocks");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t, "thread %u", t);
        ck_bits32_at(out[t][1], ~t, "thread %u", t);
        ck_bits32_at(out[t][2], 0x1234, "thread %u", t);
        ck_bits32_at(out[t][3], 0, "alignment, thread %u", t);
    }
}
END_TEST

START_TEST(restored_memory_is_reused)
{
    results("restored");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_assert((out[t][0] == 0) == (t == 7)); /* the guard */
        ck_bits32_at(out[t][0] & 7, 0, "8 is the least alignment, thread %u", t);
        ck_bits32_at(out[t][1], 0, "thread %u", t);
        ck_bits32_at(out[t][2], 0, "thread %u", t);
        ck_bits32_at(out[t][3], 0, "thread %u", t);
    }
}
END_TEST

START_TEST(functions_release_their_memory)
{
    results("returned");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t < 40 ? t : t + 1, "thread %u", t);
        ck_bits32_at(out[t][1], t, "thread %u", t);
        ck_bits32_at(out[t][2] | out[t][3], 0, "thread %u", t);
    }
    for (int k = 0; k < 3; k++)
        ok(run("left", 7, NULL));
}
END_TEST

/* PTX ISA, "Kernel and Function Directives: .func" */
START_TEST(narrow_registers_are_passed)
{
    results("narrow");
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t exponent = 31 - (uint32_t)__builtin_clz(t | 1), half = (exponent + 15) << 10 |
            ((t << (10 - exponent)) & 0x3ff);

        ck_bits32_at(out[t][0], t & 1 ? half << 16 | t * 2 : t << 16 | 7, "thread %u", t);
        ck_bits32_at(out[t][1], t & 1 ? (t + 200) & 0xff : 9, "thread %u", t);
    }
}
END_TEST

/* PTX ISA, "Variadic Functions" */
START_TEST(arrays_without_a_size_are_passed)
{
    memset(out, 0, sizeof out);
    ok(ptxiMemcpyHtoD(mem, out, sizeof out));
    results("open");
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_bits32_at(out[t][0], t, "thread %u", t);
        ck_bits32_at(out[t][1], 2, "thread %u", t);
        ck_bits32_at(out[t][2], t < 40 ? 0 : 100 * t + 23, "thread %u", t);
    }
}
END_TEST

START_TEST(overflow_is_a_failure)
{
    static const struct {
        const char *name;
        uint32_t param;
        bool fits;
        unsigned threads;
    } cases[] = {
        { "nested", 8, true, 0 },        { "nested", 10000, false, 32 },    { "calls", 600, true, 0 },        { "calls",
                900, false, 32 },
        { "takes_much", 1024, true, 0 }, { "takes_much", 100000, false, 5 }, { "takes_much", -16u, false, 5 },
        { "aligned", 1, true, 0 },
        { "aligned", 2, false, 32 },      { "wild", 0, false, 32 },
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ptxiReport report = { .size = sizeof report };
        uint32_t param = cases[k].param;
        ptxiResult r = run(cases[k].name, 1, &param);

        ck_assert_msg(r == (cases[k].fits ? PTXI_SUCCESS : PTXI_ERROR_ILLEGAL_ADDRESS), "%s %u: %d", cases[k].name,
                      param, r);
        if (cases[k].fits)
            continue;
        ok(ptxiGetLastReport(NULL, &report));
        ck_assert_int_eq(report.fault, PTXI_FAULT_STACK_OVERFLOW);
        ck_assert_uint_eq(report.threads % 32, cases[k].threads % 32);
    }
}
END_TEST

START_TEST(policies_match_the_gpu)
{
    uint64_t p[6];

    ok(run("policies", 1, &mem));
    ok(ptxiMemcpyDtoH(p, mem, sizeof p));
    ck_bits64(p[0], 0x14f0000000000000);
    ck_bits64(p[1], 0x1370000000000000);
    ck_bits64(p[2], 0x1650000000000000);
    ck_bits64(p[3], 0x1000000000000000);
    ck_bits64(p[4], 0x1d45604000000000);
    ck_bits64(p[5], mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stack");
    TCase *t = tcase_create("kernels");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, blocks_do_not_overlap);
    tcase_add_test(t, restored_memory_is_reused);
    tcase_add_test(t, functions_release_their_memory);
    tcase_add_test(t, narrow_registers_are_passed);
    tcase_add_test(t, arrays_without_a_size_are_passed);
    tcase_add_test(t, overflow_is_a_failure);
    tcase_add_test(t, policies_match_the_gpu);
    suite_add_tcase(s, t);
    return run_suite(s);
}
