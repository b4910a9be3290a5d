/* Tests initialization: calls before it, environment variables, and forked processes. */
#include "unit/support/heap_check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(nothing_works_before_init)
{
    int n;
    ptxiDevicePtr p;
    ptxiContext c;

    ck_result(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiMemAlloc(&p, 4), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiCtxGetCurrent(&c), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiInit(1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    ok(ptxiInit(0));
    ok(ptxiInit(0));
    ok(ptxiDeviceGetCount(&n));
    ck_assert_int_eq(n, 1);
    ck_result(ptxiMemAlloc(&p, 4), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(environment_selects_the_profile)
{
    char name[16];

    setenv("PTXI_DEVICE", "sm_7", 1);
    ck_result(ptxiInit(0), PTXI_ERROR_INVALID_DEVICE);
    setenv("PTXI_DEVICE", "sm_86", 1);
    ok(ptxiInit(0));
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_86");
}
END_TEST

/* Returns the number of workers, up to 255, of a process that has this value in PTXI_WORKERS. */
static int count_workers(const char *text)
{
    ptxiContext ctx;
    unsigned n;
    pid_t child;
    int status;

    setenv("PTXI_WORKERS", text, 1);
    child = fork(); /* the variable is read once per process */
    if (!child)
        _exit(ptxiInit(0) || ptxiCtxCreate(&ctx, 0, 0) || ptxiCtxGetWorkers(ctx, &n) ? 0 : n < 255 ? (int)n : 255);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

START_TEST(environment_selects_the_workers)
{
    static const char *const invalid[] = { "0", "-1", "3 or 4", "1025", "three" };
    int default_count = count_workers("");

    ck_assert_int_gt(default_count, 0);
    ck_assert_int_eq(count_workers("3"), 3);
    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++)
        ck_assert_msg(count_workers(invalid[k]) == default_count, "'%s'", invalid[k]);
}
END_TEST

START_TEST(a_forked_child_gets_errors)
{
    ptxiDevicePtr p;
    int status;

    ok(ptxiMemAlloc(&p, 64));
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        ptxiResult a = ptxiCtxSynchronize(), b = ptxiInit(0), c = ptxiMemAlloc(&p, 4);

        _exit(a == PTXI_ERROR_NOT_INITIALIZED && b == a && c == a ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ok(ptxiCtxSynchronize());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("init");
    TCase *t = tcase_create("init"), *forked = tcase_create("forked");

    tcase_add_test(t, nothing_works_before_init);
    tcase_add_test(t, environment_selects_the_profile);
    tcase_add_test(t, environment_selects_the_workers);
    suite_add_tcase(s, t);

    tcase_add_checked_fixture(forked, open_context, close_and_check_heap);
    tcase_add_test(forked, a_forked_child_gets_errors);
    suite_add_tcase(s, forked);
    return run_suite(s);
}
