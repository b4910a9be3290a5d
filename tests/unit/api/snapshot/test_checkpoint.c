/* Tests launches that save their context: their result, continuing from a checkpoint, and what is refused. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <string.h>
#include <unistd.h>

enum { BLOCKS = 40, STOP = 30, HEAD_WORDS = 2, NEVER = -1, BYTES = HEAD_WORDS * 4 + BLOCKS * 12 };

/* What the kernel "add" uses. */
struct contents {
    uint32_t stop, unused, sums[BLOCKS];
    uint64_t gridids[BLOCKS];
};

static ptxiModule module;
static ptxiDevicePtr data;
static char path[64];

static void load(void)
{
    ok(ptxiModuleLoadData(&module, test_file("api/snapshot/checkpoint.ptx")));
}

static void set_up(void)
{
    open_context();
    snprintf(path, sizeof path, "/tmp/ptxi-checkpoint-%ld", (long)getpid());
    load();
    ok(ptxiMemAlloc(&data, BYTES));
    ok(ptxiMemsetD8(data, 0, BYTES));
    ok(ptxiMemsetD32(data, (uint32_t)NEVER, 1));
}

static void tear_down(void)
{
    close_context();
    unlink(path);
}

static ptxiResult launch_with(const char *name, unsigned blocks, const ptxiLaunchAttribute *attribute,
                              const ptxiCheckpoint *checkpoint)
{
    ptxiLaunchConfig config = { .gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                .blockDimZ = 1, .attrs = (ptxiLaunchAttribute *)attribute,
                                .numAttrs = attribute != NULL };
    unsigned all = BLOCKS;
    void *params[] = { &data, &all };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return ptxiLaunchCheckpointed(&config, f, params, NULL, checkpoint);
}

/* Saves after each window. */
static ptxiResult launch(const char *name, unsigned blocks)
{
    const ptxiCheckpoint checkpoint = { .size = sizeof checkpoint, .path = path, .note = &data,
                                        .noteBytes = sizeof data };

    return launch_with(name, blocks, NULL, &checkpoint);
}

/* Each block has run as often as `runs`. Its number of the grid is that of the first block. */
static void check_contents(unsigned runs)
{
    static struct contents found;

    ok(ptxiMemcpyDtoH(&found, data, BYTES));
    for (unsigned k = 0; k < BLOCKS; k++) {
        ck_assert_uint_eq(found.sums[k], runs * (7 * k + 1));
        ck_assert_uint_eq(found.gridids[k], found.gridids[0]);
    }
    ck_assert_int_eq(found.gridids[0] != 0, runs != 0);
}

static void ck_refused(ptxiResult found, ptxiResult expected, const char *reason)
{
    ptxiReport report = { .size = sizeof report };

    ck_result(found, expected);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(strstr(report.text, reason), "%s: %s", reason, report.text);
}

/* Launches a grid that fails, and restores its last checkpoint, in which fewer blocks have ended. */
static void stop_and_restore(void)
{
    ptxiDevicePtr *note;
    uint32_t last;
    size_t bytes;

    ok(ptxiMemsetD32(data, STOP, 1));
    ck_result(launch("add", BLOCKS), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_int_eq(access(path, R_OK), 0);
    ok(ptxiModuleUnload(module));
    ok(ptxiMemsetD8(data, 0x55, BYTES));
    ok(ptxiCtxRestore(NULL, path, (void **)&note, &bytes));
    ck_assert_uint_eq(bytes, sizeof *note);
    ck_assert_uint_eq(*note, data);
    ptxiFree(note);
    load();
    ok(ptxiMemcpyDtoH(&last, data + 8 + 4 * (BLOCKS - 1), sizeof last));
    ck_assert_uint_eq(last, 0);
    ok(ptxiMemsetD32(data, (uint32_t)NEVER, 1));
}

START_TEST(the_result_is_that_of_one_launch)
{
    ok(launch("add", BLOCKS));
    check_contents(1);
    ck_assert_int_ne(access(path, F_OK), 0);
    ok(launch("add", BLOCKS));
    check_contents(2);
}
END_TEST

START_TEST(a_restored_launch_continues)
{
    stop_and_restore();
    ok(launch("add", BLOCKS));
    check_contents(1);
    ck_assert_int_ne(access(path, F_OK), 0);
    ok(launch("add", BLOCKS)); /* a new one */
    check_contents(2);
}
END_TEST

/* A snapshot of a context that has not continued yet has the progress, too. */
START_TEST(a_snapshot_keeps_the_progress)
{
    char other[80];

    stop_and_restore();
    snprintf(other, sizeof other, "%s-2", path);
    ok(ptxiCtxSave(NULL, other, NULL, NULL, 0));
    ok(launch("add", BLOCKS));
    ok(ptxiCtxRestore(NULL, other, NULL, NULL));
    unlink(other);
    ok(launch("add", BLOCKS));
    check_contents(1);
}
END_TEST

START_TEST(other_launches_do_not_continue)
{
    static const char reason[] = "another launch";

    stop_and_restore();
    ck_refused(launch("add", BLOCKS - 1), PTXI_ERROR_INVALID_VALUE, reason);
    ck_refused(launch("takes", BLOCKS), PTXI_ERROR_INVALID_VALUE, reason);
    data += 4;
    ck_refused(launch("add", BLOCKS), PTXI_ERROR_INVALID_VALUE, reason);
    data -= 4;
    ok(launch("add", BLOCKS)); /* the refused ones have changed nothing */
    check_contents(1);
}
END_TEST

/* Before the first block runs. */
START_TEST(what_cannot_be_saved_is_refused)
{
    uint32_t words[4];
    void *host = words;
    uint32_t first;

    ck_refused(launch("takes", BLOCKS), PTXI_ERROR_NOT_SUPPORTED, "the result of an atomic operation");
    ok(ptxiMemHostRegister(host, sizeof words, 0));
    ck_refused(launch("add", BLOCKS), PTXI_ERROR_NOT_SUPPORTED, "registered");
    ok(ptxiMemHostUnregister(host));
    ok(ptxiMemcpyDtoH(&first, data + 8, sizeof first));
    ck_assert_uint_eq(first, 0);
    snprintf(path, sizeof path, "/nowhere/at/all");
    ck_refused(launch("add", BLOCKS), PTXI_ERROR_OPERATING_SYSTEM, "cannot be written");
}
END_TEST

START_TEST(arguments_are_checked)
{
    const ptxiLaunchAttribute window = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW,
                                         .value.clusterWindow = { 0, 1, 0 } };
    const ptxiCheckpoint good = { .size = sizeof good, .path = path };
    ptxiCheckpoint bad[] = { good, good, good, good };

    bad[0].size--;
    bad[1].path = "";
    bad[2].seconds = -1;
    bad[3].noteBytes = 8;
    for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_result(launch_with("add", BLOCKS, NULL, &bad[k]), PTXI_ERROR_INVALID_VALUE);
    ck_result(launch_with("add", BLOCKS, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(launch_with("add", BLOCKS, &window, &good), PTXI_ERROR_INVALID_VALUE);
    ck_result(launch_with("add", 0, NULL, &good), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchCheckpointed(NULL, NULL, NULL, NULL, &good), PTXI_ERROR_INVALID_VALUE);
    check_contents(0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint");
    TCase *t = tcase_create("launches");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_result_is_that_of_one_launch);
    tcase_add_test(t, a_restored_launch_continues);
    tcase_add_test(t, a_snapshot_keeps_the_progress);
    tcase_add_test(t, other_launches_do_not_continue);
    tcase_add_test(t, what_cannot_be_saved_is_refused);
    tcase_add_test(t, arguments_are_checked);
    suite_add_tcase(s, t);
    return run_suite(s);
}
