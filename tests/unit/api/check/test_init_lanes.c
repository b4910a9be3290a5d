/* Tests the tracking of uninitialised values through instructions in which lanes, functions or memories exchange
 * values. Each kernel is launched with undefined input, which is the faulty one of a pair, and with initialised input,
 * which is the correct one. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

enum { IN = 4096, OUT = 16384, WORD = 4 };

static ptxiModule module;
static ptxiDevicePtr in, out;

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_INIT, 0));
    ok(ptxiModuleLoadData(&module, test_file("api/check/init_lanes.ptx")));
}

/* A tensor of 8 rows of 128 bytes, with the swizzling of 128 bytes. */
static void encode(ptxiTensorMap *map, ptxiDevicePtr at)
{
    static const uint64_t dim[] = { 32, 8 }, stride[] = { 128 };
    static const uint32_t box[] = { 32, 8 }, step[] = { 1, 1 };

    ok(ptxiTensorMapEncodeTiled(map, PTXI_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)(uintptr_t)at, dim, stride, box,
                                step, 0, PTXI_TENSOR_MAP_SWIZZLE_128B, 0, 0));
}

/* The number of threads with errors. Of the input, `size` bytes from `at` on are undefined. */
static unsigned long long threads_of(const char *kernel, unsigned threads, unsigned at, unsigned size)
{
    ptxiCheckSummary s = { .size = sizeof s };
    ptxiFinding finding = { .size = sizeof finding };
    ptxiFunction f;
    static ptxiTensorMap from, to;
    void *params[] = { &in, &out, &from, &to };
    unsigned long long count = 0;

    ok(ptxiMemAlloc(&in, IN));
    ok(ptxiMemAlloc(&out, OUT));
    encode(&from, in);
    encode(&to, out);
    ok(ptxiMemsetD8(in, 0, at));
    ok(ptxiMemsetD8(in + at + size, 0, IN - at - size));
    ok(ptxiCtxResetFindings(NULL));
    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiCtxGetCheckSummary(NULL, &s));
    ck_assert_msg(s.launches == 1 && s.unchecked == 0, "%s: %llu launches, %llu unchecked", kernel,
                  (unsigned long long)s.launches, (unsigned long long)s.unchecked);
    for (unsigned k = 0; k < s.errors && ptxiCtxGetFinding(NULL, k, &finding) == PTXI_SUCCESS; k++)
        count += finding.count;
    ok(ptxiMemFree(in));
    ok(ptxiMemFree(out));
    return count;
}

/* With the word of thread 5 undefined, `threads` stores or branches must be reported, and none without. */
static void check_pair(const char *kernel, unsigned block, unsigned long long reports)
{
    unsigned long long faulty = threads_of(kernel, block, 5 * WORD, WORD), correct = threads_of(kernel, block, 0, 0);

    ck_assert_msg(faulty == reports, "%s: %llu reports, not %llu", kernel, faulty, reports);
    ck_assert_msg(correct == 0, "%s: %llu reports of the correct one", kernel, correct);
}

struct pair {
    const char *kernel;
    unsigned reports; /* stores or branches */
};

static void check_pairs(const struct pair *pairs, size_t count)
{
    for (size_t k = 0; k < count; k++)
        check_pair(pairs[k].kernel, 32, pairs[k].reports);
}
#define CHECK(...)                                                      \
    do {                                                                \
        static const struct pair pairs_[] = { __VA_ARGS__ };            \
        check_pairs(pairs_, sizeof pairs_ / sizeof *pairs_);            \
    } while (0)

START_TEST(collectives)
{
    CHECK({ "shfl_up", 1 }, { "shfl_idx", 32 }, { "shfl_arms", 1 }, { "ballot", 32 }, { "vote_any", 32 },
          { "vote_all", 32 }, { "match", 32 }, { "redux", 32 }, { "redux_or", 32 });
}
END_TEST

START_TEST(atomics)
{
    CHECK({ "atomic_value", 1 }, { "atomic_result", 1 }, { "atomic_and", 0 }, { "atomic_shared", 32 }, { "swap", 1 });
    ck_assert_uint_eq(threads_of("atomic", 32, 0, WORD), 1); /* later ones add to what the first one has stored */
    ck_assert_uint_eq(threads_of("atomic", 32, WORD, IN - WORD), 0);
    ck_assert_uint_eq(threads_of("atomic_and", 32, 0, WORD), 0);
}
END_TEST

START_TEST(local_memory)
{
    CHECK({ "local_array", 1 }, { "local_generic", 1 });
    ck_assert_uint_eq(threads_of("local_unwritten", 32, 0, 0), 32);
    ck_assert_uint_eq(threads_of("local_written", 32, 0, 0), 0);
}
END_TEST

START_TEST(calls)
{
    CHECK({ "argument", 1 }, { "argument_unused", 0 }, { "argument_branch", 1 }, { "result_64", 1 }, { "bytes", 1 },
          { "recursion", 1 });
}
END_TEST

/* An element of thread 5 is in row 1 of A and C, and in column 1 of B. */
START_TEST(matrices)
{
    CHECK({ "ldmatrix_plain", 1 }, { "ldmatrix_trans", 2 }, { "stmatrix_plain", 1 }, { "movmatrix_trans", 2 },
          { "mma_a", 8 }, { "mma_b", 16 }, { "mma_c", 1 }, { "mma_s8", 8 }, { "mma_quads", 4 }, { "mma_f64", 8 });
    ck_assert_uint_eq(threads_of("wmma_fragments", 32, 5 * WORD, WORD), 16); /* a row of D, element by element */
    ck_assert_uint_eq(threads_of("wmma_fragments", 32, 0, 0), 0);
    check_pair("wgmma_shared", 128, 8);
}
END_TEST

START_TEST(tensors)
{
    static const char *const kernels[] = { "tensor_load", "tensor_store" };

    for (size_t k = 0; k < 2; k++) {
        ck_assert_uint_eq(threads_of(kernels[k], 32, 128 + 5 * WORD, WORD), 1);
        ck_assert_uint_eq(threads_of(kernels[k], 32, 256, IN - 256), 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("init_lanes");
    TCase *t = tcase_create("init_lanes");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, collectives);
    tcase_add_test(t, atomics);
    tcase_add_test(t, local_memory);
    tcase_add_test(t, calls);
    tcase_add_test(t, matrices);
    tcase_add_test(t, tensors);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
