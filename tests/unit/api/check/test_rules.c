/* Tests the rules that select launches and suppress findings. */
#include "unit/support/bits.h"

#include "api/check/rules.h"

#include <string.h>

static struct ptxi_rules *parse(const char *text)
{
    struct ptxi_str message;

    ptxi_str_init(&message, NULL);
    struct ptxi_rules *r = ptxi_rules_parse(text, &message);

    ck_assert_str_eq(ptxi_str_text(&message), "");
    ck_assert_ptr_nonnull(r);
    return r;
}

static bool suppressed(const char *rule)
{
    struct ptxi_found f = {
        .finding = { .kind = PTXI_FINDING_RACE_WAR, .site_count = 2 }, .kernel = "scan_kernel",
        .sites = { { .function = "scan", .source_file = "/src/a b.cu", .source_line = 7, .ptx_file = "x.ptx" },
                   { .function = "add", .source_file = "/src/add.cuh", .source_line = 9, .ptx_line = 33 } },
    };
    struct ptxi_rules *r = parse(rule);
    bool result = ptxi_rules_suppress(r, &f);

    ptxi_rules_unref(r);
    return result;
}

START_TEST(suppresses_by_each_word)
{
    ck_assert(suppressed("suppress"));
    ck_assert(suppressed("suppress race"));
    ck_assert(suppressed("suppress race.write-after-read # comment"));
    ck_assert(!suppressed("suppress race.write-after-write"));
    ck_assert(!suppressed("suppress memory"));
    ck_assert(suppressed("suppress kernel=^scan_"));
    ck_assert(!suppressed("suppress kernel=^scan$"));
    ck_assert(suppressed("suppress function=^add$"));
    ck_assert(suppressed("suppress at=add.cuh:9"));
    ck_assert(suppressed("suppress at=src/add.cuh"));
    ck_assert(!suppressed("suppress at=dd.cuh:9"));
    ck_assert(!suppressed("suppress at=add.cuh:7"));
    ck_assert(suppressed("suppress \"at=a b.cu:7\""));
    ck_assert(!suppressed("suppress race at=add.cuh:9 function=^scan$")); /* not the same site */
    ck_assert(suppressed("# first line\n\n  suppress memory\nsuppress race"));
    ck_assert(!suppressed("only kernel=other"));
    ck_assert(!suppressed(""));
}
END_TEST

START_TEST(selects_launches)
{
    struct ptxi_rules *r = parse("only kernel=^a$ launch=2-3\nonly kernel=b launch=9");

    ck_assert(!ptxi_rules_check_launch(r, "a", 1));
    ck_assert(ptxi_rules_check_launch(r, "a", 2));
    ck_assert(ptxi_rules_check_launch(r, "a", 3));
    ck_assert(!ptxi_rules_check_launch(r, "b", 3));
    ck_assert(ptxi_rules_check_launch(r, "b", 9));
    ptxi_rules_unref(r);
    r = parse("suppress race");
    ck_assert(ptxi_rules_check_launch(r, "a", 1));
    ptxi_rules_unref(r);
    ck_assert(ptxi_rules_check_launch(NULL, "a", 1));
}
END_TEST

START_TEST(selects_blocks)
{
    struct ptxi_rules *r = parse("only block=1,0,0");
    struct ptxi_finding f = { .site_count = 1, .sites = { { .ctaid = { 1, 0, 0 } } } };

    ck_assert(ptxi_rules_want_block(r, &f, "k", 1));
    f.sites[0].ctaid[0] = 2;
    ck_assert(!ptxi_rules_want_block(r, &f, "k", 1));
    f.site_count = 2;
    f.sites[1].ctaid[0] = 1;
    ck_assert(ptxi_rules_want_block(r, &f, "k", 1));
    ptxi_rules_unref(r);
}
END_TEST

START_TEST(invalid_rules_have_messages)
{
    static const char *const invalid[][2] = {
        { "ignore race", "line 1: expected 'suppress' or 'only', got 'ignore'" },
        { "\nsuppress nonsense", "line 2: unknown tool or kind 'nonsense'" },
        { "suppress race.x", "line 1: unknown tool or kind 'race.x'" },
        { "suppress kernel=(", "line 1: not a regular expression: '('" },
        { "suppress kernel=a kernel=b", "line 1: not a regular expression: 'b'" },
        { "suppress race race", "line 1: unexpected word 'race'" },
        { "suppress launch=1", "line 1: unexpected word 'launch=1'" },
        { "only launch=3-2", "line 1: expected launch=FIRST or FIRST-LAST, got 'launch=3-2'" },
        { "only launch=0", "line 1: expected launch=FIRST or FIRST-LAST, got 'launch=0'" },
        { "only block=1,2", "line 1: expected block=X,Y,Z, got 'block=1,2'" },
        { "only race", "line 1: unexpected word 'race'" },
    };

    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++) {
        struct ptxi_str message;

        ptxi_str_init(&message, NULL);
        ck_assert_ptr_null(ptxi_rules_parse(invalid[k][0], &message));
        ck_assert_str_eq(ptxi_str_text(&message), invalid[k][1]);
        ptxi_str_free(&message);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rules");
    TCase *t = tcase_create("rules");

    tcase_add_test(t, suppresses_by_each_word);
    tcase_add_test(t, selects_launches);
    tcase_add_test(t, selects_blocks);
    tcase_add_test(t, invalid_rules_have_messages);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
