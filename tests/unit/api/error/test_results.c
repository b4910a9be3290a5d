/* Tests the names and texts of results, and the layout of reports. */
#include "unit/support/bits.h"

#include "ptxi.h"

#include <string.h>

static const struct {
    const char *name, *text;
    int listed;
    ptxiResult constant;
} results[] = {
#define ROW(name, number, text) { "PTXI_" #name, text, number, PTXI_##name },
    PTXI_RESULTS(ROW)
#undef ROW
};

enum { RESULTS = sizeof results / sizeof results[0] };

START_TEST(results_have_names_and_texts)
{
    const char *name, *text;

    for (int i = 0; i < RESULTS; i++) {
        ck_assert_int_eq(results[i].listed, (int)results[i].constant);
        ck_assert_int_eq(ptxiGetErrorName(results[i].constant, &name), PTXI_SUCCESS);
        ck_assert_str_eq(name, results[i].name);
        ck_assert_int_eq(ptxiGetErrorString(results[i].constant, &text), PTXI_SUCCESS);
        ck_assert_str_eq(text, results[i].text);
        for (int k = 0; k < i; k++) {
            ck_assert_int_ne(results[i].listed, results[k].listed);
            ck_assert_str_ne(results[i].text, results[k].text);
        }
    }
}
END_TEST

START_TEST(unknown_results_have_no_name)
{
    const char *s = "";

    ck_assert_int_eq(ptxiGetErrorName((ptxiResult)12345, &s), PTXI_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(s);
    s = "";
    ck_assert_int_eq(ptxiGetErrorString((ptxiResult)-1, &s), PTXI_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(ptxiGetErrorName(PTXI_SUCCESS, NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(extensible_structures_begin_with_their_size)
{
    ck_assert_uint_eq(offsetof(ptxiReport, size), 0);
    ck_assert_uint_eq(offsetof(ptxiDiagnostic, size), 0);
    ck_assert_uint_eq(offsetof(ptxiCounters, size), 0);
    ck_assert_uint_eq(offsetof(ptxiParam, size), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("results");
    TCase *t = tcase_create("results");

    tcase_add_test(t, results_have_names_and_texts);
    tcase_add_test(t, unknown_results_have_no_name);
    tcase_add_test(t, extensible_structures_begin_with_their_size);
    suite_add_tcase(s, t);
    return run_suite(s);
}
