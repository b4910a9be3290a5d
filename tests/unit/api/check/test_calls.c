/* Tests the tool `api`: calls of libraries that are built on this one, and that fail. */
#include "unit/support/context.h"

#include <string.h>

enum { ERROR = 2, OTHER_ERROR = 3 };

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";

static void turn_on(void)
{
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_API, 0));
}

/* From one place. */
static __attribute__((noinline)) void report(const char *function, int error)
{
    ok(ptxiReportCall(function, error, "cudaErrorMemoryAllocation", "out of memory"));
}

static ptxiFinding finding(size_t index)
{
    ptxiFinding f = { .size = sizeof f };

    ok(ptxiCtxGetFinding(NULL, index, &f));
    return f;
}

static ptxiCheckSummary summary(void)
{
    ptxiCheckSummary s = { .size = sizeof s };

    ok(ptxiCtxGetCheckSummary(NULL, &s));
    return s;
}

START_TEST(a_call_is_a_finding)
{
    turn_on();
    report("cudaMalloc", ERROR);
    const ptxiFinding f = finding(0);

    ck_assert_int_eq(f.tool, PTXI_SANITIZER_API);
    ck_assert_int_eq(f.severity, PTXI_FINDING_SEVERITY_ERROR);
    ck_assert_str_eq(f.kind, "error");
    ck_assert_str_eq(f.message, "a call fails");
    ck_assert_str_eq(f.detail, "cudaMalloc returns cudaErrorMemoryAllocation (error 2), out of memory");
    ck_assert_uint_eq(f.siteCount, 1);
    ck_assert_str_eq(f.sites[0].function, "cudaMalloc");
    ck_assert_uint_eq(f.count, 1);
    ck_assert_uint_eq(summary().errors, 1);
}
END_TEST

/* The text of the name counts, not its address, which another name may have later. */
START_TEST(same_function_and_error_are_one_finding)
{
    char name[16] = "cudaMalloc";

    turn_on();
    report("cudaMalloc", ERROR);
    report(name, ERROR);
    strcpy(name, "cudaFree");
    report(name, ERROR);
    report("cudaMalloc", OTHER_ERROR);
    report("cudaMalloc", ERROR);
    ck_assert_uint_eq(summary().errors, 3);
    ck_assert_uint_eq(finding(0).count, 3);
    ck_assert_str_eq(finding(0).sites[0].function, "cudaMalloc");
    ck_assert_str_eq(finding(1).sites[0].function, "cudaFree");
    ck_assert_ptr_nonnull(strstr(finding(2).detail, "(error 3)"));
}
END_TEST

START_TEST(names_and_texts_may_be_missing)
{
    char *s;

    turn_on();
    ok(ptxiReportCall("f", -1, NULL, NULL));
    ck_assert_str_eq(finding(0).detail, "f returns an error (error -1)");
    ok(ptxiCtxFormatFindings(NULL, PTXI_REPORT_COMPUTE_SANITIZER, &s));
    ck_assert_ptr_nonnull(strstr(s, "========= Program hit error -1 on CUDA API call to f.\n"));
    ptxiFree(s);
    ck_result(ptxiReportCall(NULL, ERROR, "name", "text"), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(answers_are_no_findings)
{
    static const int answers[] = { PTXI_SUCCESS, PTXI_ERROR_NOT_READY, PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                                   PTXI_ERROR_PEER_ACCESS_NOT_ENABLED };

    turn_on();
    for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
        report("cudaStreamQuery", answers[k]);
    ck_assert_uint_eq(summary().errors, 0);
}
END_TEST

START_TEST(other_tools_do_not_report_calls)
{
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_ALL, PTXI_SANITIZER_LEAKS));
    report("cudaMalloc", ERROR);
    turn_on();
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_MEMORY, 0));
    report("cudaMalloc", ERROR);
    ck_assert_uint_eq(summary().errors, 0);
    ck_result(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_API << 1, 0), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* They belong to the latest context with the tool. */
START_TEST(calls_without_a_context)
{
    ptxiContext other;

    turn_on();
    ok(ptxiCtxSetCurrent(NULL));
    report("cudaSetDevice", ERROR);
    ok(ptxiCtxCreate(&other, 0, 0));
    report("cudaMalloc", ERROR);
    ck_assert_uint_eq(summary().errors, 0);
    turn_on();
    report("cudaFree", ERROR);
    ok(ptxiCtxSetCurrent(NULL));
    report("cudaDeviceReset", ERROR);
    ok(ptxiCtxSetCurrent(other));
    ck_assert_uint_eq(summary().errors, 2);
    ok(ptxiCtxDestroy(other));
    ok(ptxiCtxSetCurrent(ctx));
    ck_assert_uint_eq(summary().errors, 2);
    ck_assert_str_eq(finding(0).sites[0].function, "cudaSetDevice");
    ck_assert_str_eq(finding(1).sites[0].function, "cudaMalloc");
}
END_TEST

START_TEST(rules_name_the_function)
{
    turn_on();
    ok(ptxiCtxSetSanitizerRules(NULL, "suppress api.error function=^cudaMalloc$\n", NULL));
    report("cudaMalloc", ERROR);
    report("cudaMallocHost", ERROR);
    ck_assert_uint_eq(summary().errors, 1);
    ck_assert_uint_eq(summary().suppressed, 1);
    ck_assert_str_eq(finding(0).sites[0].function, "cudaMallocHost");
    ok(ptxiCtxSetSanitizerRules(NULL, "suppress api\n", NULL));
    report("cudaFree", ERROR);
    ck_assert_uint_eq(summary().errors, 1);
}
END_TEST

static void launch(void)
{
    ptxiModule m;
    ptxiFunction f;

    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ok(ptxiCtxSynchronize());
}

/* So it costs nothing there. */
START_TEST(launches_are_not_checked)
{
    turn_on();
    launch();
    ck_assert_uint_eq(summary().launches, 0);
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_API | PTXI_SANITIZER_SYNC, 0));
    launch();
    ck_assert_uint_eq(summary().launches, 1);
}
END_TEST

START_TEST(findings_can_be_reset)
{
    turn_on();
    report("cudaMalloc", ERROR);
    ok(ptxiCtxResetFindings(NULL));
    ck_assert_uint_eq(summary().errors, 0);
    report("cudaMalloc", ERROR);
    ck_assert_uint_eq(finding(0).count, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("calls");
    TCase *t = tcase_create("calls");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, a_call_is_a_finding);
    tcase_add_test(t, same_function_and_error_are_one_finding);
    tcase_add_test(t, names_and_texts_may_be_missing);
    tcase_add_test(t, answers_are_no_findings);
    tcase_add_test(t, other_tools_do_not_report_calls);
    tcase_add_test(t, calls_without_a_context);
    tcase_add_test(t, rules_name_the_function);
    tcase_add_test(t, launches_are_not_checked);
    tcase_add_test(t, findings_can_be_reset);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
