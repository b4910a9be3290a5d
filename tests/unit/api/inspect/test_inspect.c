/* Tests the texts that the command prints about modules. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <string.h>

static ptxiModule module;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/launch/launch.ptx")));
}

START_TEST(module_texts_for_tools)
{
    char *text;

    ok(ptxiModuleDump(module, "store", &text));
    ck_assert_ptr_nonnull(strstr(text, "store"));
    ck_assert_ptr_null(strstr(text, "trapped"));
    ptxiFree(text);
    ok(ptxiModuleDump(module, NULL, &text));
    ck_assert_ptr_nonnull(strstr(text, "trapped"));
    ptxiFree(text);
    ck_result(ptxiModuleDump(module, "nope", &text), PTXI_ERROR_NOT_FOUND);
    ok(ptxiModuleGetUnsupported(module, &text));
    ck_assert_str_eq(text, "");
    ptxiFree(text);
    ptxiFree(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("inspect");
    TCase *t = tcase_create("inspect");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, module_texts_for_tools);
    suite_add_tcase(s, t);
    return run_suite(s);
}
