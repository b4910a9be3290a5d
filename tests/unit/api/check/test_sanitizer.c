/* Tests the calls that switch sanitizers on and read their findings. */
#include "unit/support/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n ld.param.u64 %rd1, [p];\n"
    " mov.u32 %r1, %tid.x;\n st.global.u32 [%rd1+4], %r1;\n ret;\n}\n"
    ".visible .entry stuck(.param .u64 p)\n{\n .reg .pred %p;\n .reg .b32 %r<2>;\n mov.u32 %r1, %tid.x;\n"
    " setp.lt.u32 %p, %r1, 32;\n @%p barrier.sync 1, 96;\n ret;\n}\n";

static ptxiModule load(void)
{
    ptxiModule m;

    ck_assert_int_eq(ptxiModuleLoadData(&m, text), PTXI_SUCCESS);
    return m;
}

static ptxiResult run(ptxiModule m, const char *kernel, unsigned threads, size_t bytes)
{
    ptxiFunction f;
    ptxiDevicePtr p;
    void *params[] = { &p };

    ck_assert_int_eq(ptxiModuleGetFunction(&f, m, kernel), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemAlloc(&p, bytes), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL), PTXI_SUCCESS);
    ptxiResult r = ptxiCtxSynchronize();

    ck_assert_int_eq(ptxiMemFree(p), PTXI_SUCCESS);
    return r;
}

static ptxiResult launch(const char *kernel, unsigned threads, size_t bytes)
{
    ptxiModule m = load();
    ptxiResult r = run(m, kernel, threads, bytes);

    ck_assert_int_eq(ptxiModuleUnload(m), PTXI_SUCCESS);
    return r;
}

static ptxiFinding finding(size_t index)
{
    ptxiFinding f = { .size = sizeof f };

    ck_assert_int_eq(ptxiCtxGetFinding(NULL, index, &f), PTXI_SUCCESS);
    return f;
}

static ptxiCheckSummary summary(void)
{
    ptxiCheckSummary s = { .size = sizeof s };

    ck_assert_int_eq(ptxiCtxGetCheckSummary(NULL, &s), PTXI_SUCCESS);
    return s;
}

START_TEST(race_after_the_module_is_unloaded)
{
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_RACE, 0), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 64, 8), PTXI_SUCCESS);
    ptxiFinding f = finding(0);

    ck_assert_int_eq(f.tool, PTXI_SANITIZER_RACE);
    ck_assert_str_eq(f.kind, "write-after-write");
    ck_assert_str_eq(f.kernel, "k");
    ck_assert_uint_eq(f.siteCount, 2);
    ck_assert_str_eq(f.sites[1].ptxText, "st.global.u32 [%rd1+4], %r1;");
    ck_assert_uint_eq(f.sites[1].ptxLine, 10);
    ck_assert_uint_eq(summary().launches, 1);
    ck_assert_uint_gt(summary().errors, 0);
    ck_assert_uint_eq(summary().unchecked, 0);
}
END_TEST

static const char inlined[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n ld.param.u64 %rd1, [p];\n"
    " mov.u32 %r1, %tid.x;\n.loc 1 5 1\n.loc 2 90 3, function_name $L__info, inlined_at 1 5 1\n"
    " st.global.u32 [%rd1], %r1;\n"
    ".loc 3 60 3, function_name $L__info, inlined_at 1 5 1\n st.global.u32 [%rd1+4], %r1;\n ret;\n}\n"
    ".file 1 \"/src/program.cu\"\n.file 2 \"/usr/local/cuda/include/intrinsics.hpp\"\n.file 3 \"/src/include/own.h\"\n"
    ".section .debug_str\n{\n$L__info:\n.b8 102\n.b8 0\n}\n";

/* A function of the toolkit's headers is not shown, but where the program calls it. */
START_TEST(lines_of_the_program)
{
    ptxiModule m;

    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_RACE, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiModuleLoadData(&m, inlined), PTXI_SUCCESS);
    ck_assert_int_eq(run(m, "k", 64, 8), PTXI_SUCCESS);
    for (size_t k = 0; k < 2; k++) {
        ptxiFinding f = finding(k);
        bool toolkit = strstr(f.sites[0].ptxText, "[%rd1],");

        ck_assert_str_eq(f.sites[0].sourceFile, toolkit ? "/src/program.cu" : "/src/include/own.h");
        ck_assert_uint_eq(f.sites[0].sourceLine, toolkit ? 5 : 60);
    }
    ck_assert_int_eq(ptxiModuleUnload(m), PTXI_SUCCESS);
}
END_TEST

START_TEST(one_thread_has_no_race)
{
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_RACE, 0), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 1, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().errors + summary().warnings + summary().benign, 0);
    ck_assert_uint_gt(summary().accesses, 0);
}
END_TEST

START_TEST(failed_launches_are_findings_of_their_tools)
{
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_SYNC, 0), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 1, 4), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(summary().errors, 0); /* of another tool */
    ck_assert_int_eq(launch("stuck", 64, 4), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_str_eq(finding(0).kind, "deadlock");
    ck_assert_int_eq(ptxiCtxResetFindings(NULL), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_MEMORY, 0), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 1, 4), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_str_eq(finding(0).kind, "out-of-bounds");
    ck_assert_uint_eq(finding(0).objectSize, 4);
    ck_assert_uint_eq(summary().launches, 1);
}
END_TEST

START_TEST(nothing_is_checked_without_tools)
{
    ck_assert_int_eq(launch("k", 64, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().launches, 0);
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_ALL, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, 0, 0), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 64, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().launches, 0);
}
END_TEST

START_TEST(bad_arguments)
{
    ptxiFinding f = { .size = offsetof(ptxiFinding, severity) };
    ptxiCheckSummary s = { .size = sizeof(size_t) };
    unsigned tools;
    char *error, *report;

    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, 32, 0), PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, 1, 2), PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ptxiCtxGetSanitizer(NULL, &tools), PTXI_SUCCESS);
    ck_assert_uint_eq(tools, 0);
    ck_assert_int_eq(ptxiCtxGetFinding(NULL, 0, &f), PTXI_ERROR_INVALID_VALUE);
    f.size = sizeof f;
    ck_assert_int_eq(ptxiCtxGetFinding(NULL, 0, &f), PTXI_ERROR_NOT_FOUND);
    ck_assert_int_eq(ptxiCtxGetCheckSummary(NULL, &s), PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ptxiCtxFormatFindings(NULL, (ptxiReportFormat)7, &report), PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ptxiCtxSetSanitizerRules(NULL, "x", &error), PTXI_ERROR_INVALID_VALUE);
    ck_assert_str_eq(error, "line 1: expected 'suppress' or 'only', got 'x'");
    ptxiFree(error);
}
END_TEST

START_TEST(rules_apply_to_later_findings)
{
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_MEMORY, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxSetSanitizerRules(NULL, "suppress memory kernel=^k$", NULL), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 1, 4), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(summary().errors, 0);
    ck_assert_uint_eq(summary().suppressed, 1);
    ck_assert_int_eq(ptxiCtxSetSanitizerRules(NULL, NULL, NULL), PTXI_SUCCESS);
    ck_assert_int_eq(launch("k", 1, 4), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(summary().errors, 1);
}
END_TEST

/* The same code, first with a rule that suppresses its finding */
START_TEST(rules_apply_to_known_code)
{
    ck_assert_int_eq(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_RACE, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxSetSanitizerRules(NULL, "suppress race", NULL), PTXI_SUCCESS);
    ptxiModule m = load();

    ck_assert_int_eq(run(m, "k", 64, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().errors, 0);
    ck_assert_int_eq(ptxiCtxSetSanitizerRules(NULL, NULL, NULL), PTXI_SUCCESS);
    ck_assert_int_eq(run(m, "k", 64, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().errors, 1);
    ck_assert_int_eq(run(m, "k", 64, 8), PTXI_SUCCESS);
    ck_assert_uint_eq(summary().errors, 1);
    ck_assert_int_eq(ptxiModuleUnload(m), PTXI_SUCCESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sanitizer");
    TCase *t = tcase_create("sanitizer");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, race_after_the_module_is_unloaded);
    tcase_add_test(t, lines_of_the_program);
    tcase_add_test(t, one_thread_has_no_race);
    tcase_add_test(t, failed_launches_are_findings_of_their_tools);
    tcase_add_test(t, nothing_is_checked_without_tools);
    tcase_add_test(t, bad_arguments);
    tcase_add_test(t, rules_apply_to_later_findings);
    tcase_add_test(t, rules_apply_to_known_code);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
