/* Tests launches of a part of a grid. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <string.h>

enum { X = 7, Y = 3, Z = 2, BLOCKS = X * Y * Z };

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/launch/window.ptx")));
    ok(ptxiMemAlloc(&mem, 4096));
}

struct window { uint64_t first, count, gridid; };

static ptxiResult run(const char *name, const unsigned grid[3], struct window w, bool cooperative)
{
    void *params[] = { &mem };
    ptxiLaunchAttribute attributes[] = {
        { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW, .value.clusterWindow = { w.first, w.count, w.gridid } },
        { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = cooperative },
    };
    ptxiLaunchConfig config = {
        .gridDimX = grid[0], .gridDimY = grid[1], .gridDimZ = grid[2], .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
        .attrs = attributes, .numAttrs = 2,
    };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ptxiResult r = ptxiLaunchKernelEx(&config, f, params, NULL);

    return r ? r : ptxiCtxSynchronize();
}

static const unsigned grid[3] = { X, Y, Z }, row[3] = { 8, 1, 1 };

/* Windows of a size together write what the whole grid does; a window writes nothing else. */
static void check_indices(unsigned size)
{
    struct { unsigned ctaid[3], nctaid[3]; uint64_t gridid; } found[BLOCKS];
    unsigned done = 0;

    ok(ptxiMemsetD8(mem, 0xff, sizeof found));
    for (unsigned first = 0; first < BLOCKS; first += size) {
        unsigned count = first + size < BLOCKS ? size : BLOCKS - first;

        ok(run("indices", grid, (struct window){ first, count, 77 }, false));
        ok(ptxiMemcpyDtoH(found, mem, sizeof found));
        done += count;
        for (unsigned n = 0; n < BLOCKS; n++) {
            bool runs = n < done;

            ck_assert_int_eq(found[n].gridid == 77, runs);
            if (runs) {
                ck_assert_uint_eq((found[n].ctaid[2] * Y + found[n].ctaid[1]) * X + found[n].ctaid[0], n);
                ck_assert_mem_eq(found[n].nctaid, grid, sizeof grid);
            }
        }
    }
}

START_TEST(windows_have_the_indices_of_the_grid)
{
    static const unsigned sizes[] = { BLOCKS, (BLOCKS + 1) / 2, BLOCKS / 3, BLOCKS / 7, 1 };
    static const uint64_t schedules[] = { PTXI_SCHEDULE_RUN, PTXI_SCHEDULE_FAIR, 5 };

    for (unsigned s = 0; s < 3; s++) {
        ok(ptxiCtxSetSchedule(NULL, schedules[s]));
        for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
            check_indices(sizes[k]);
    }
}
END_TEST

START_TEST(windows_count_clusters)
{
    unsigned found[8];

    ok(ptxiMemsetD8(mem, 0xff, sizeof found));
    ok(run("neighbours", row, (struct window){ 1, 2, 0 }, false));
    ok(ptxiMemcpyDtoH(found, mem, sizeof found));
    ck_assert_mem_eq(found, ((unsigned[]){ -1u, -1u, 3, 2, 5, 4, -1u, -1u }), sizeof found);
    ck_result(run("neighbours", row, (struct window){ 3, 2, 0 }, false), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(windows_are_in_the_grid)
{
    ck_result(run("indices", row, (struct window){ 0, 0, 0 }, false), PTXI_ERROR_INVALID_VALUE);
    ck_result(run("indices", row, (struct window){ 0, 9, 0 }, false), PTXI_ERROR_INVALID_VALUE);
    ck_result(run("indices", row, (struct window){ 8, 1, 0 }, false), PTXI_ERROR_INVALID_VALUE);
    ck_result(run("indices", row, (struct window){ UINT64_MAX, 2, 0 }, false), PTXI_ERROR_INVALID_VALUE);
    ck_result(run("indices", row, (struct window){ 7, 1, 0 }, false), PTXI_SUCCESS);
}
END_TEST

START_TEST(atomics_without_results_are_permitted)
{
    unsigned sum = 0;

    ok(ptxiMemsetD8(mem, 0, 4));
    ok(run("sums", row, (struct window){ 0, 3, 0 }, false));
    ok(run("sums", row, (struct window){ 3, 5, 0 }, false));
    ok(ptxiMemcpyDtoH(&sum, mem, sizeof sum));
    ck_assert_uint_eq(sum, 8);
}
END_TEST

/* The launch is refused, and the report has the reason and the line. */
static void check_refusal(const char *kernel, bool cooperative, const char *why, unsigned line)
{
    ptxiReport report = { .size = sizeof report };

    ck_result(run(kernel, row, (struct window){ 0, 1, 0 }, cooperative), PTXI_ERROR_NOT_SUPPORTED);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(report.text && strstr(report.text, why), "%s: %s", kernel, report.text);
    ck_assert_uint_eq(report.ptxLine, line);
}

START_TEST(dependent_blocks_are_refused)
{
    unsigned value;

    ok(ptxiMemsetD8(mem, 0, 8));
    check_refusal("indices", true, "cooperative launch", 0);
    check_refusal("numbers", false, "result of an atomic operation", 70);
    check_refusal("swaps", false, "compare-and-swap", 90);
    check_refusal("waits", false, "may wait for another block", 104);
    check_refusal("launches", false, "device runtime", 0);
    ok(ptxiMemcpyDtoH(&value, mem, sizeof value));
    ck_assert_uint_eq(value, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("window");
    TCase *t = tcase_create("window");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, windows_have_the_indices_of_the_grid);
    tcase_add_test(t, windows_count_clusters);
    tcase_add_test(t, windows_are_in_the_grid);
    tcase_add_test(t, atomics_without_results_are_permitted);
    tcase_add_test(t, dependent_blocks_are_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
