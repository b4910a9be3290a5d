/* Tests the tracking of memory: parts of a grid run apart, each on a copy, and their changes are merged. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 12, THREADS = 64, BYTES = 8192, PARTS = BLOCKS };

static ptxiModule module;
static ptxiDevicePtr mem;
static unsigned char base[BYTES], expected[BYTES];

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/track/track.ptx")));
    ok(ptxiMemAlloc(&mem, BYTES));
    for (unsigned k = 0; k < BYTES; k++)
        base[k] = (unsigned char)(k * 37 ^ k >> 3);
}

static ptxiRange range(void)
{
    return (ptxiRange){ .base = (void *)(uintptr_t)mem, .bytes = BYTES, .flags = PTXI_RANGE_READ | PTXI_RANGE_WRITE };
}

static ptxiResult launch(const char *name, unsigned first, unsigned count)
{
    void *params[] = { &mem };
    ptxiLaunchAttribute window = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW,
                                   .value.clusterWindow = { first, count, 0 } };
    ptxiLaunchConfig config = { .gridDimX = BLOCKS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = THREADS, .blockDimY = 1,
                                .blockDimZ = 1, .attrs = &window, .numAttrs = 1 };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ptxiResult r = ptxiLaunchKernelEx(&config, f, params, NULL);

    return r ? r : ptxiCtxSynchronize();
}

struct part { void *data; size_t size; };

/* Runs a part of the grid on a copy of the memory. */
static struct part run_part(const char *name, unsigned first, unsigned count)
{
    struct part p;
    ptxiRange r = range();

    ok(ptxiMemcpyHtoD(mem, base, BYTES));
    ok(launch(name, first, count));
    ok(ptxiCtxTakeChanges(NULL, &r, 1, &p.data, &p.size));
    return p;
}

/* Runs the grid in parts and merges them into memory. */
static ptxiResult run_parts(const char *name, unsigned parts, char **conflicts)
{
    const void *data[PARTS];
    size_t sizes[PARTS];
    ptxiRange r = range();

    for (unsigned k = 0; k < parts; k++) {
        unsigned first = k * BLOCKS / parts;
        struct part p = run_part(name, first, (k + 1) * BLOCKS / parts - first);

        data[k] = p.data;
        sizes[k] = p.size;
    }
    ok(ptxiMemcpyHtoD(mem, base, BYTES));
    ptxiResult result = ptxiMergeChanges(&r, 1, data, sizes, parts, conflicts);

    for (unsigned k = 0; k < parts; k++)
        ptxiFree((void *)(uintptr_t)data[k]);
    return result;
}

static const unsigned counts[] = { 1, 2, 3, 7, BLOCKS };
static const char *const kernels[] = { "rows", "bytes", "integers", "floats", "agree", "bulk", "tiles", "edges",
                                      "packed", "runs", "again", "own_words", "replicas" };

START_TEST(parts_give_the_memory_of_the_whole)
{
    const char *name = kernels[_i];
    unsigned char found[BYTES];
    char *conflicts;

    ok(ptxiCtxSetWorkers(NULL, 1));
    ok(ptxiMemcpyHtoD(mem, base, BYTES));
    ok(launch(name, 0, BLOCKS));
    ok(ptxiMemcpyDtoH(expected, mem, BYTES));
    ck_assert_mem_ne(expected, base, BYTES);
    for (unsigned variant = 0; variant < 4; variant++)
        for (unsigned what = PTXI_TRACK_CHANGES; what <= (PTXI_TRACK_CHANGES | PTXI_TRACK_READS); what += 2)
            for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++) {
                const unsigned workers = variant & 1 ? 3 : 1;

                ok(ptxiCtxSetWorkers(NULL, workers));
                ok(ptxiCtxSetTier(NULL, variant & 2 ? PTXI_TIER_NATIVE : PTXI_TIER_INTERPRETER));
                ok(ptxiCtxSetTracking(NULL, what));
                ptxiResult r = run_parts(name, counts[k], &conflicts);

                ck_assert_msg(r == PTXI_SUCCESS && !conflicts, "%s: %s", name, conflicts);
                ok(ptxiMemcpyDtoH(found, mem, BYTES));
                ck_assert_msg(!memcmp(found, expected, BYTES), "%s in %u parts on %u workers", name, counts[k],
                              workers);
            }
}
END_TEST

static void check_conflict(const char *name, unsigned what, const char *const *texts)
{
    unsigned char found[BYTES];
    char *conflicts;

    ok(ptxiCtxSetTracking(NULL, what));
    ck_result(run_parts(name, 2, &conflicts), PTXI_ERROR_ILLEGAL_STATE);
    ck_assert_ptr_nonnull(conflicts);
    for (; *texts; texts++)
        ck_assert_msg(strstr(conflicts, *texts), "'%s' is not in '%s'", *texts, conflicts);
    ptxiFree(conflicts);
    ok(ptxiMemcpyDtoH(found, mem, BYTES));
    ck_assert_mem_eq(found, base, BYTES);
}

START_TEST(conflicts_are_reported)
{
    check_conflict("clash", PTXI_TRACK_CHANGES,
                   (const char *const[]){ "offset 20: different values", "part 0, clash (", "part 1, clash (", NULL });
    check_conflict("chain", PTXI_TRACK_CHANGES | PTXI_TRACK_READS,
                   (const char *const[]){ "offset 24: one has written what another has read", "part 0, chain (",
                                          "part 1, chain (", NULL });
    check_conflict("chain_async", PTXI_TRACK_CHANGES | PTXI_TRACK_READS,
                   (const char *const[]){ "one has written what another has read", "part 0, chain_async (", NULL });
    check_conflict("chain_replicas", PTXI_TRACK_CHANGES | PTXI_TRACK_READS,
                   (const char *const[]){ "one has written what another has read", "part 0, chain_replicas (", NULL });
    check_conflict("mixture", PTXI_TRACK_CHANGES, (const char *const[]){ "offset 0: different operations", NULL });
}
END_TEST

START_TEST(the_last_write_is_named)
{
    static const ptxiTier tiers[] = { PTXI_TIER_INTERPRETER, PTXI_TIER_NATIVE };

    ok(ptxiCtxSetTier(NULL, tiers[_i]));
    check_conflict("part_last", PTXI_TRACK_CHANGES,
                   (const char *const[]){ "offset 20: different values", "part 0, part_last (order.cu:2)",
                                          "part 1, part_last (order.cu:2)", NULL });
    check_conflict("whole_last", PTXI_TRACK_CHANGES,
                   (const char *const[]){ "offset 20: different values", "part 0, whole_last (order.cu:4)",
                                          "part 1, whole_last (order.cu:4)", NULL });
}
END_TEST

START_TEST(the_same_value_is_not_unwritten)
{
    unsigned char found[BYTES];
    struct part p, q;
    ptxiRange r = range();

    /* a part that writes the old value has written it: a later part of other memory must not undo it */
    ok(ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES));
    base[20] = 7, base[21] = base[22] = base[23] = 0;
    p = run_part("agree", 0, 1);
    q = run_part("bytes", 0, 0 + 1);
    memset(found, 0xee, BYTES);
    ok(ptxiMemcpyHtoD(mem, found, BYTES));
    ok(ptxiMergeChanges(&r, 1, (const void *[]){ p.data }, (size_t[]){ p.size }, 1, NULL));
    ok(ptxiMemcpyDtoH(found, mem, BYTES));
    ck_assert_uint_eq(found[20], 7);
    ck_assert_uint_eq(found[19], 0xee);
    ck_assert_uint_eq(found[24], 0xee);
    ptxiFree(p.data);
    ptxiFree(q.data);
}
END_TEST

START_TEST(ranges_that_wrap_are_refused)
{
    ptxiRange r = range();

    ok(ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES));
    struct part p = run_part("agree", 0, 1);
    void *data;
    size_t size;

    r.base = (char *)r.base + 4096;
    r.bytes = SIZE_MAX - 4095; /* with a wrap, this contains all addresses below, too */
    ck_result(ptxiCtxTakeChanges(NULL, &r, 1, &data, &size), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxTakeChanges(NULL, &r, 4097, &data, &size), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMergeChanges(&r, 1, (const void *const *)&p.data, &p.size, 1, NULL), PTXI_ERROR_INVALID_VALUE);
    ptxiFree(p.data);
}
END_TEST

START_TEST(other_memory_is_an_error)
{
    ptxiRange r = range();
    ptxiReport report = { .size = sizeof report };
    void *data;
    size_t size;

    ck_result(ptxiCtxTakeChanges(NULL, &r, 1, &data, &size), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES));
    ok(launch("agree", 0, 1));
    r.bytes = 20;
    ck_result(ptxiCtxTakeChanges(NULL, &r, 1, &data, &size), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_ptr_nonnull(strstr(report.text, "outside of the ranges"));
    ck_result(launch("sees_nothing", 0, 1), PTXI_ERROR_NOT_SUPPORTED);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_ptr_nonnull(strstr(report.text, "cannot be tracked"));
    ck_result(ptxiCtxSetTracking(NULL, PTXI_TRACK_READS), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxSetTracking(NULL, 4), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* Damaged data changes nothing. */
static void refuse(const void *data, size_t size)
{
    unsigned char found[BYTES];
    ptxiRange r = range();
    char *why;

    ok(ptxiMemcpyHtoD(mem, base, BYTES));
    ck_result(ptxiMergeChanges(&r, 1, &data, &size, 1, &why), PTXI_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(why, "the data of part 0 is refused"));
    ptxiFree(why);
    ok(ptxiMemcpyDtoH(found, mem, BYTES));
    ck_assert_mem_eq(found, base, BYTES);
}

START_TEST(damaged_data_is_refused)
{
    ok(ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES));
    struct part p = run_part("integers", 0, 3);
    unsigned char *copy = malloc(p.size);
    ptxiRange small = range();

    for (size_t k = 0; k < p.size; k += 1 + k / 64) {
        memcpy(copy, p.data, p.size);
        copy[k] ^= (unsigned char)(1u << k % 8);
        refuse(copy, p.size);
        refuse(p.data, k);
    }
    small.bytes = 64;
    ck_result(ptxiMergeChanges(&small, 1, (const void *[]){ p.data }, (size_t[]){ p.size }, 1, NULL),
              PTXI_ERROR_INVALID_VALUE);
    free(copy);
    ptxiFree(p.data);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("track");
    TCase *t = tcase_create("track");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, parts_give_the_memory_of_the_whole, 0, sizeof kernels / sizeof *kernels);
    tcase_add_test(t, conflicts_are_reported);
    tcase_add_loop_test(t, the_last_write_is_named, 0, 2);
    tcase_add_test(t, the_same_value_is_not_unwritten);
    tcase_add_test(t, ranges_that_wrap_are_refused);
    tcase_add_test(t, other_memory_is_an_error);
    tcase_add_test(t, damaged_data_is_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
