/* Tests the reports of leaks, which need the environment. */
#include "unit/support/bits.h"

#include "ptxi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[] = "/tmp/ptxi_leaks.XXXXXX";

/* The report after the context is destroyed. */
static const char *report_after(ptxiContext ctx)
{
    static char text[4096];

    ck_assert_int_eq(ptxiCtxDestroy(ctx), PTXI_SUCCESS);
    FILE *f = fopen(file, "r");
    size_t n = fread(text, 1, sizeof text - 1, f);

    fclose(f);
    text[n] = 0;
    return text;
}

static ptxiContext begin(void)
{
    ptxiContext ctx;
    int f = mkstemp(file);

    ck_assert_int_ge(f, 0);
    close(f);
    setenv("PTXI_CHECK", "leaks", 1);
    setenv("PTXI_CHECK_FORMAT", "json", 1);
    setenv("PTXI_CHECK_OUTPUT", file, 1);
    setenv("PTXI_CHECK_STATUS", "0", 1); /* of this process */
    setenv("PTXI_CHECK_UNCHECKED_STATUS", "0", 1);
    ck_assert_int_eq(ptxiInit(0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxCreate(&ctx, 0, 0), PTXI_SUCCESS);
    return ctx;
}

START_TEST(memory_that_is_never_freed)
{
    ptxiContext ctx = begin();
    ptxiDevicePtr p, q;
    void *host;

    ck_assert_int_eq(ptxiMemAlloc(&p, 1000), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemAlloc(&q, 2000), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemHostAlloc(&host, 3000, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemFree(p), PTXI_SUCCESS);
    const char *report = report_after(ctx);

    ck_assert_ptr_null(strstr(report, "1000 bytes"));
    ck_assert_ptr_nonnull(strstr(report, "memory is never freed: 2000 bytes"));
    ck_assert_ptr_nonnull(strstr(report, "memory is never freed: 3000 bytes"));
    ck_assert_ptr_nonnull(strstr(report, "\"tool\":\"memory\",\"kind\":\"leak\",\"severity\":\"error\""));
    unlink(file);
}
END_TEST

START_TEST(no_leaks)
{
    ptxiContext ctx = begin();
    ptxiDevicePtr p;

    ck_assert_int_eq(ptxiMemAlloc(&p, 1000), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemFree(p), PTXI_SUCCESS);
    ck_assert_str_eq(report_after(ctx), "");
    unlink(file);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("leaks");
    TCase *t = tcase_create("leaks");

    tcase_add_test(t, memory_that_is_never_freed);
    tcase_add_test(t, no_leaks);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
