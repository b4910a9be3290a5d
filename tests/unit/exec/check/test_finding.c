/* Tests the collection of findings. */
#include "unit/support/bits.h"

#include "exec/finding/finding.h"

#include <pthread.h>
#include <string.h>

static struct ptxi_findings *findings;
static const struct ptxi_code codes[2] = { { .name = "f" }, { .name = "g" } };

static void resolve(const struct ptxi_code *code, uint32_t at, struct ptxi_found_site *site)
{
    static char text[16]; /* the collection must copy it */

    snprintf(text, sizeof text, "%s+%u", code->name, at);
    site->ptx_line = at + 1;
    site->ptx_text = text;
}

static void set_up(void)
{
    findings = ptxi_findings_create(resolve);
    ck_assert_ptr_nonnull(findings);
}

static void tear_down(void)
{
    ptxi_findings_destroy(findings);
}

static struct ptxi_finding race(uint32_t now, uint32_t before)
{
    return (struct ptxi_finding){ .kind = PTXI_FINDING_RACE_WAW, .severity = PTXI_FINDING_ERROR, .site_count = 2,
                                  .sites = { { .code = &codes[0], .at = now }, { .code = &codes[1], .at = before } } };
}

static void add(struct ptxi_finding f)
{
    ptxi_findings_add(findings, &f, "kernel", 1);
}

START_TEST(same_sites_are_one_entry)
{
    struct ptxi_check_totals t;

    add(race(1, 2));
    add(race(1, 2));
    add(race(2, 1));
    ck_assert_uint_eq(ptxi_findings_at(findings, 0)->count, 2);
    ck_assert_uint_eq(ptxi_findings_at(findings, 1)->count, 1);
    ck_assert_ptr_null(ptxi_findings_at(findings, 2));
    ptxi_findings_totals(findings, &t);
    ck_assert_uint_eq(t.found[PTXI_TOOL_RACE][PTXI_FINDING_ERROR], 2);
}
END_TEST

START_TEST(severities_and_kinds_are_apart)
{
    struct ptxi_finding f = race(1, 2);

    add(f);
    f.severity = PTXI_FINDING_BENIGN;
    add(f);
    f.kind = PTXI_FINDING_RACE_RAW;
    add(f);
    ck_assert_ptr_nonnull(ptxi_findings_at(findings, 2));
}
END_TEST

START_TEST(places_are_copied)
{
    add(race(4, 7));
    const struct ptxi_found *f = ptxi_findings_at(findings, 0);

    ck_assert_str_eq(f->sites[0].ptx_text, "f+4");
    ck_assert_str_eq(f->sites[1].ptx_text, "g+7");
    ck_assert_str_eq(f->sites[1].function, "g");
    ck_assert_ptr_null(f->sites[0].site.code);
    ck_assert_ptr_null(f->finding.sites[0].code);
}
END_TEST

START_TEST(too_many_are_counted)
{
    struct ptxi_check_totals t;

    for (uint32_t k = 0; k < PTXI_MAX_FINDINGS + 5; k++)
        add(race(k, 0));
    ptxi_findings_totals(findings, &t);
    ck_assert_uint_eq(t.dropped, 5);
    ck_assert_ptr_null(ptxi_findings_at(findings, PTXI_MAX_FINDINGS));
    ptxi_findings_clear(findings);
    ck_assert_ptr_null(ptxi_findings_at(findings, 0));
}
END_TEST

static bool drop_line_3(void *user, const struct ptxi_found *found)
{
    ++*(int *)user;
    return found->sites[0].ptx_line == 3;
}

START_TEST(filter_is_asked_once)
{
    struct ptxi_check_totals t;
    int calls = 0;

    ptxi_findings_set_filter(findings, &(struct ptxi_finding_filter){ .suppress = drop_line_3, .user = &calls });
    for (int k = 0; k < 3; k++)
        add(race(2, 0));
    add(race(3, 0));
    ptxi_findings_totals(findings, &t);
    ck_assert_int_eq(calls, 2);
    ck_assert_uint_eq(t.suppressed, 3);
    ck_assert_uint_eq(t.found[PTXI_TOOL_RACE][PTXI_FINDING_ERROR], 1);
    ck_assert_uint_eq(ptxi_findings_at(findings, 0)->sites[0].ptx_line, 4);
}
END_TEST

static void *add_many(void *unused)
{
    for (uint32_t k = 0; k < 2000; k++)
        add(race(k % 10, 0));
    return unused;
}

START_TEST(threads_may_add)
{
    pthread_t threads[4];

    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(pthread_create(&threads[k], NULL, add_many, NULL), 0);
    for (int k = 0; k < 4; k++)
        pthread_join(threads[k], NULL);
    for (size_t k = 0; k < 10; k++)
        ck_assert_uint_eq(ptxi_findings_at(findings, k)->count, 800);
    ck_assert_ptr_null(ptxi_findings_at(findings, 10));
}
END_TEST

START_TEST(taken_once)
{
    add(race(1, 2));
    struct ptxi_found *f = ptxi_findings_at(findings, 0);

    ck_assert(ptxi_findings_take(findings, f));
    ck_assert(!ptxi_findings_take(findings, f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("finding");
    TCase *t = tcase_create("finding");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, same_sites_are_one_entry);
    tcase_add_test(t, severities_and_kinds_are_apart);
    tcase_add_test(t, places_are_copied);
    tcase_add_test(t, too_many_are_counted);
    tcase_add_test(t, filter_is_asked_once);
    tcase_add_test(t, threads_may_add);
    tcase_add_test(t, taken_once);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
