/* Tests annotations of memory: what is found without one, and what is not found with it, or the reverse. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdlib.h>

enum { THREADS = 8, PART = 4 * THREADS, BYTES = 1024 };

static ptxiModule module;
static ptxiDevicePtr memory;

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetOnFault(NULL, PTXI_ON_FAULT_REPORT));
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_MEMORY | PTXI_SANITIZER_RACE | PTXI_SANITIZER_INIT, 0));
    ok(ptxiModuleLoadData(&module, test_file("api/check/annotations.ptx")));
    ok(ptxiMemAlloc(&memory, BYTES));
}

static void annotate(ptxiAnnotation what, unsigned offset, size_t size)
{
    ok(ptxiCtxAnnotate(NULL, what, memory + offset, size));
}

/* The kind of the first finding of a launch with a pointer to `from` and an access to `from` + `offset`. "": none. */
static const char *find(const char *kernel, unsigned from, int64_t offset)
{
    static ptxiFinding x;
    ptxiFunction f;
    ptxiDevicePtr p = memory + from;
    void *params[] = { &p, &offset };

    ok(ptxiCtxResetFindings(NULL));
    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    x.size = sizeof x;
    return ptxiCtxGetFinding(NULL, 0, &x) ? "" : x.kind;
}

START_TEST(initialised)
{
    ck_assert_str_eq(find("update", 0, 0), "output");
    annotate(PTXI_ANNOTATION_INITIALIZED, PART, PART);
    ck_assert_str_eq(find("update", PART, 0), "");
    annotate(PTXI_ANNOTATION_UNINITIALIZED, PART, PART);
    ck_assert_str_eq(find("update", PART, 0), "output");
}
END_TEST

START_TEST(races)
{
    ck_assert_str_eq(find("same_word", 0, 0), "write-after-write");
    annotate(PTXI_ANNOTATION_INTENDED_RACE, 0, PART);
    annotate(PTXI_ANNOTATION_INTENDED_RACE, PART / 2, PART);
    ck_assert_str_eq(find("same_word", 0, 0), "");
    ck_assert_str_eq(find("same_word", PART + 4, 0), "");
    ck_assert_str_eq(find("same_word", 2 * PART, 0), "write-after-write");
    annotate(PTXI_ANNOTATION_NO_RACE, 0, 4);
    ck_assert_str_eq(find("same_word", 4, 0), "write-after-write");
}
END_TEST

START_TEST(parts_of_a_pool)
{
    ok(ptxiMemsetD8(memory, 0, BYTES));
    ck_assert_str_eq(find("update", 0, 0), "");
    annotate(PTXI_ANNOTATION_POOL, PART, BYTES - 2 * PART);
    ck_assert_str_eq(find("update", 0, 0), ""); /* before the pool */
    ck_assert_str_eq(find("update", 4, 0), "out-of-bounds");
    ck_assert_str_eq(find("update", BYTES - PART, 0), ""); /* after it */
    ck_assert_str_eq(find("update", 2 * PART, 0), "out-of-bounds");
    annotate(PTXI_ANNOTATION_ALLOCATE, 2 * PART, PART);
    annotate(PTXI_ANNOTATION_ALLOCATE, 3 * PART, PART);
    ck_assert_str_eq(find("update", 2 * PART, 0), "output"); /* its content is not what was there before */
    ok(ptxiMemsetD8(memory, 0, BYTES));
    ck_assert_str_eq(find("update", 2 * PART, 0), "");
    ck_assert_str_eq(find("update", 3 * PART, 0), "");
    ck_assert_str_eq(find("update", 2 * PART, PART), "stray-pointer");
    ck_assert_str_eq(find("update", 3 * PART, 4), "out-of-bounds");
    annotate(PTXI_ANNOTATION_FREE, 3 * PART, 1);
    ck_assert_str_eq(find("update", 3 * PART, 0), "out-of-bounds");
    ck_assert_str_eq(find("update", 2 * PART, 0), "");
}
END_TEST

/* Bytes before and after a part are not accessible. */
START_TEST(ends_of_copies_from_a_part)
{
    annotate(PTXI_ANNOTATION_POOL, 0, BYTES);
    annotate(PTXI_ANNOTATION_ALLOCATE, 2 * PART + 4, PART - 8);
    annotate(PTXI_ANNOTATION_INITIALIZED, 2 * PART + 4, PART - 8);
    ck_assert_str_eq(find("load_inner", 2 * PART, 0), "");
}
END_TEST

START_TEST(sizes_of_parts)
{
    ok(ptxiMemsetD8(memory, 0, BYTES));
    annotate(PTXI_ANNOTATION_POOL, 0, BYTES);
    annotate(PTXI_ANNOTATION_ALLOCATE, 0, PART);
    annotate(PTXI_ANNOTATION_INITIALIZED, 0, PART);
    ck_assert_str_eq(find("update", 0, 0), "");
    annotate(PTXI_ANNOTATION_RESIZE, 0, PART / 2);
    ck_assert_str_eq(find("update", 0, 0), "out-of-bounds");
    annotate(PTXI_ANNOTATION_RESIZE, 0, 2 * PART);
    ck_assert_str_eq(find("update", 0, PART), "output"); /* the new bytes */
    ok(ptxiMemsetD8(memory, 0, BYTES));
    annotate(PTXI_ANNOTATION_POOL_RESET, PART, 1);
    ck_assert_str_eq(find("update", 0, 0), "out-of-bounds");
    annotate(PTXI_ANNOTATION_POOL_END, 0, 1);
    ok(ptxiMemsetD8(memory, 0, BYTES));
    ck_assert_str_eq(find("update", 0, 2 * PART), "");
}
END_TEST

START_TEST(pool_that_is_freed)
{
    enum { TRIES = 64 };
    ptxiDevicePtr before = memory;

    annotate(PTXI_ANNOTATION_POOL, 0, BYTES);
    ok(ptxiMemFree(memory));
    memory = 0;
    for (unsigned k = 0; k < TRIES && memory != before; k++) /* until the address is used again */
        ok(ptxiMemAlloc(&memory, BYTES));
    ok(ptxiMemsetD8(memory, 0, BYTES));
    ck_assert_str_eq(find("update", 0, 0), "");
}
END_TEST

START_TEST(pool_of_launches_that_are_not_checked)
{
    ok(ptxiMemsetD8(memory, 0, BYTES));
    annotate(PTXI_ANNOTATION_POOL, 0, BYTES);
    ok(ptxiCtxSetSanitizer(NULL, 0, 0));
    ck_assert_str_eq(find("update", 0, 0), "");
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_MEMORY, 0));
    ck_assert_str_eq(find("update", 0, 0), "out-of-bounds");
}
END_TEST

START_TEST(invalid_annotations)
{
    static const ptxiAnnotation of_parts[] = { PTXI_ANNOTATION_ALLOCATE, PTXI_ANNOTATION_RESIZE, PTXI_ANNOTATION_FREE,
        PTXI_ANNOTATION_POOL_RESET, PTXI_ANNOTATION_POOL_END, 0,
        PTXI_ANNOTATION_HOST_WRITE + 1 };

    for (size_t k = 0; k < sizeof of_parts / sizeof *of_parts; k++)
        ck_result(ptxiCtxAnnotate(NULL, of_parts[k], memory, PART), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_POOL, memory, BYTES + 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_POOL, memory, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_POOL, 0, 16), PTXI_ERROR_INVALID_VALUE);
    annotate(PTXI_ANNOTATION_POOL, 0, PART);
    ck_result(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_ALLOCATE, memory + 4, PART), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("annotations");
    TCase *t = tcase_create("annotations");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, initialised);
    tcase_add_test(t, races);
    tcase_add_test(t, parts_of_a_pool);
    tcase_add_test(t, ends_of_copies_from_a_part);
    tcase_add_test(t, sizes_of_parts);
    tcase_add_test(t, pool_that_is_freed);
    tcase_add_test(t, pool_of_launches_that_are_not_checked);
    tcase_add_test(t, invalid_annotations);
    suite_add_tcase(s, t);
    return run_suite(s);
}
