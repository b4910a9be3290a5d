/* Tests what happens after an invalid memory access: the launch fails, or the thread continues and a report follows. */
#include "unit/support/context.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* Each kernel makes a thread's access at `at` and stores what it got. */
#define KERNEL(name, registers, access) \
    ".visible .entry " name "(.param .u64 to, .param .u64 at) {\n" \
    ".reg .b64 %t, %a, %o; .reg .b32 %i; " registers "\n" \
    "ld.param.u64 %t, [to]; ld.param.u64 %a, [at]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.s64 %t, %t, %o;\n" \
    access " ret; }\n"

#define COPY(name, offset) \
    KERNEL(name, ".reg .b32 %x;", \
           "mov.b32 %x, small; mad.lo.u32 %x, %i, 16, %x; mul.wide.u32 %o, %i, 16; add.s64 %a, %a, %o;\n" \
           "cp.async.ca.shared.global [%x], [%a], 16; cp.async.commit_group; cp.async.wait_group 0;\n" \
           "ld.shared.u32 %x, [%x+" offset "]; st.global.u32 [%t], %x;")

static const char text[] = HEAD
    ".const .u32 constant = 9;\n"
    ".shared .align 16 .b8 small[64];\n"
    KERNEL("load", ".reg .b32 %x;", "add.s64 %a, %a, %o; ld.global.u32 %x, [%a]; st.global.u32 [%t], %x;")
    KERNEL("load_generic", ".reg .b32 %x;", "ld.u32 %x, [%a]; st.global.u32 [%t], %x;")
    KERNEL("load_vector", ".reg .b32 %x<4>;",
           "ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%a]; st.global.v4.u32 [%t], {%x0, %x1, %x2, %x3};")
    KERNEL("store", ".reg .b32 %x;", "add.s64 %a, %a, %o; mov.b32 %x, 77; st.global.u32 [%a], %x;"
           " st.global.u32 [%t], %x;")
    KERNEL("store_vector", ".reg .b32 %x;", "mov.b32 %x, 77; st.global.v4.u32 [%a], {%x, %x, %x, %x};")
    KERNEL("atomic", ".reg .b32 %x;", "atom.global.add.u32 %x, [%a], 5; add.u32 %x, %x, 1; st.global.u32 [%t], %x;")
    KERNEL("reduce", ".reg .b32 %x;", "mov.b32 %x, 5; red.global.add.u32 [%a], %x; st.global.u32 [%t], %x;")
    KERNEL("shared", ".reg .b32 %x;", "mov.b32 %x, 5; mov.b32 %i, small; st.shared.u32 [%i+64], %x;"
           " ld.shared.u32 %x, [%i+64]; st.global.u32 [%t], %x;")
    KERNEL("store_constant", ".reg .b32 %x;", "mov.b32 %x, 5; mov.b64 %a, constant; cvta.const.u64 %a, %a;"
           " st.u32 [%a], %x; ld.const.u32 %x, [constant]; st.global.u32 [%t], %x;")
    COPY("copy", "8") COPY("copy_second", "4")
    KERNEL("trap", ".reg .b32 %x;", "mov.b32 %x, 1; st.global.u32 [%t], %x; trap;");

static ptxiModule module;
static ptxiDevicePtr to, memory; /* 32 words; 6 words with the values 1, 2, ... */

enum { WORDS = 6, RESULTS = 32 };

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAlloc(&to, RESULTS * 4));
    ok(ptxiMemAlloc(&memory, WORDS * 4));
    ok(ptxiCtxSetOnFault(NULL, PTXI_ON_FAULT_REPORT));
    ok(ptxiMemsetD32(to, 0xffffffff, RESULTS));
    for (uint32_t k = 0; k < WORDS; k++)
        ok(ptxiMemsetD32(memory + 4 * k, k + 1, 1));
}

static ptxiResult launch(const char *name, unsigned threads, ptxiDevicePtr at)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &to, &at }, NULL));
    return ptxiCtxSynchronize();
}

static uint32_t word(ptxiDevicePtr at, unsigned index)
{
    return ((const uint32_t *)(uintptr_t)at)[index];
}

/* ---- what threads get */

START_TEST(loads_return_zero_for_inaccessible_lanes)
{
    ok(launch("load", 32, memory));
    for (unsigned k = 0; k < RESULTS; k++)
        ck_assert_uint_eq(word(to, k), k < WORDS ? k + 1 : 0);
    ok(launch("load_generic", 1, memory + 4 * WORDS + 100));
    ck_assert_uint_eq(word(to, 0), 0);
}
END_TEST

START_TEST(vectors_are_accessed_as_far_as_possible)
{
    ok(launch("load_vector", 1, memory + 16));
    ck_assert_uint_eq(word(to, 0), 5);
    ck_assert_uint_eq(word(to, 1), 6);
    ck_assert_uint_eq(word(to, 2), 0);
    ck_assert_uint_eq(word(to, 3), 0);
    ok(launch("store_vector", 1, memory + 16));
    ck_assert_uint_eq(word(memory, 3), 4);
    ck_assert_uint_eq(word(memory, 4), 77);
    ck_assert_uint_eq(word(memory, 5), 77);
    ck_assert_uint_eq(word(memory, 6), 0); /* after the allocation */
}
END_TEST

START_TEST(stores_are_dropped)
{
    ok(launch("store", 32, memory));
    for (unsigned k = 0; k < RESULTS; k++)
        ck_assert_uint_eq(word(to, k), 77);
    for (unsigned k = 0; k < WORDS; k++)
        ck_assert_uint_eq(word(memory, k), 77);
    ck_assert_uint_eq(word(memory, WORDS), 0);
}
END_TEST

START_TEST(atomics_are_dropped)
{
    ok(launch("atomic", 32, memory + 4 * WORDS));
    for (unsigned k = 0; k < RESULTS; k++)
        ck_assert_uint_eq(word(to, k), 1); /* each reads 0 */
    ok(launch("reduce", 32, memory + 4 * WORDS));
    ck_assert_uint_eq(word(to, 31), 5);
    ck_assert_uint_eq(word(memory, WORDS), 0);
    ok(launch("atomic", 32, memory));
    ck_assert_uint_eq(word(memory, 0), 1 + 32 * 5);
}
END_TEST

START_TEST(freed_memory)
{
    ok(ptxiMemFree(memory));
    ok(launch("load", 4, memory));
    ck_assert_uint_eq(word(to, 0), 0);
    ok(launch("store", 4, memory));
    ck_assert_uint_eq(word(memory, 0), 1);
}
END_TEST

START_TEST(other_spaces)
{
    ok(launch("shared", 1, 0));
    ck_assert_uint_eq(word(to, 0), 0);
    ok(launch("store_constant", 1, 0));
    ck_assert_uint_eq(word(to, 0), 9);
}
END_TEST

/* Thread 1 copies the last two words of the allocation, and two words after it. The kernels store a word of
 * each copy. */
START_TEST(asynchronous_copies)
{
    ok(launch("copy", 3, memory));
    ck_assert_uint_eq(word(to, 0), 3);
    ck_assert_uint_eq(word(to, 1), 0);
    ck_assert_uint_eq(word(to, 2), 0);
    ok(launch("copy_second", 2, memory));
    ck_assert_uint_eq(word(to, 0), 2);
    ck_assert_uint_eq(word(to, 1), 6);
}
END_TEST

/* ---- what still fails */

START_TEST(other_faults_fail)
{
    ck_result(launch("load", 1, 0), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_result(launch("load", 1, memory + 1), PTXI_ERROR_MISALIGNED_ADDRESS);
    ck_result(launch("trap", 1, 0), PTXI_ERROR_LAUNCH_FAILED);
    ok(ptxiCtxSetOnFault(NULL, PTXI_ON_FAULT_FAIL));
    ck_result(launch("load", 32, memory), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(settings)
{
    ptxiOnFault what;

    ok(ptxiCtxGetOnFault(NULL, &what));
    ck_assert_int_eq(what, PTXI_ON_FAULT_REPORT);
    ck_result(ptxiCtxSetOnFault(NULL, (ptxiOnFault)2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxGetOnFault(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* Initialises the library with the value in a new process, and returns the setting of a new context. */
static int setting_by(const char *value)
{
    ptxiOnFault what = PTXI_ON_FAULT_FAIL;

    setenv("PTXI_ON_FAULT", value, 1);
    ok(ptxiInit(0));
    ok(ptxiCtxCreate(&ctx, 0, 0));
    ok(ptxiCtxGetOnFault(ctx, &what));
    return (int)what;
}

START_TEST(the_environment_selects)
{
    static const char *const values[] = { "fail", "report", "Report", "" };

    ck_assert_int_eq(setting_by(values[_i]), _i == 1 ? PTXI_ON_FAULT_REPORT : PTXI_ON_FAULT_FAIL);
}
END_TEST

/* ---- reports */

static FILE *captured;
static int stderr_before;

static void capture_stderr(void)
{
    captured = tmpfile();
    ck_assert_ptr_nonnull(captured);
    fflush(stderr);
    stderr_before = dup(2);
    dup2(fileno(captured), 2);
}

/* Returns what has been written since, and ends the capture. */
static const char *end_capture(void)
{
    static char all[16384];

    fflush(stderr);
    dup2(stderr_before, 2);
    close(stderr_before);
    rewind(captured);
    all[fread(all, 1, sizeof all - 1, captured)] = 0;
    fclose(captured);
    return all;
}

static unsigned count_of(const char *all, const char *part)
{
    unsigned n = 0;

    for (const char *p = all; (p = strstr(p, part)); p++)
        n++;
    return n;
}

START_TEST(each_instruction_is_reported_once)
{
    ptxiReport report = { .size = sizeof report };

    capture_stderr();
    ok(launch("load", 32, memory));
    ok(launch("load", 32, memory));
    ok(launch("store", 32, memory));
    ok(ptxiModuleUnload(module));
    const char *all = end_capture();

    ck_assert_msg(count_of(all, ": warning: ") == 2, "%s", all);
    ck_assert_msg(count_of(all, "warning: read of 4 bytes") == 1, "%s", all);
    ck_assert_msg(count_of(all, "warning: write of 4 bytes") == 1, "%s", all);
    ck_assert_msg(count_of(all, "note: the address is right after the end of the allocation of 24 bytes") == 2, "%s",
                  all);
    ck_assert_msg(count_of(all, "note: 26 invalid accesses so far, after which the threads continued\n") == 1, "%s",
                  all);
    ck_assert_msg(count_of(all, "note: 78 invalid accesses so far") == 1, "%s", all);
    ck_assert_msg(!count_of(all, "in all"), "%s", all);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_int_eq(report.fault, PTXI_FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(report.access, PTXI_ACCESS_WRITE);
    ck_assert_str_eq(report.kernel, "store");
}
END_TEST

START_TEST(unloading_reports_the_rest)
{
    capture_stderr();
    ok(launch("load", 7, memory));
    ok(launch("load", 32, memory));
    ok(ptxiModuleUnload(module));
    const char *all = end_capture();

    ck_assert_msg(count_of(all, "note: 1 invalid access so far") == 1, "%s", all);
    ck_assert_msg(count_of(all, ": 27 invalid accesses in all, after which the threads continued\n") == 1, "%s", all);
}
END_TEST

/* A module with more instructions than reports. */
START_TEST(reports_are_limited)
{
    char many[4096] = HEAD ".visible .entry k(.param .u64 at) { .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [at];\n";
    ptxiModule m;
    ptxiFunction f;

    for (int k = 0; k < 15; k++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "st.global.u32 [%%a+%d], %%x;\n", 4 * k);
    strcat(many, "ret; }\n");
    ok(ptxiModuleLoadData(&m, many));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    capture_stderr();
    ptxiDevicePtr at = memory + 4 * WORDS;

    ok(ptxiLaunchKernel(f, 100, 1, 1, 64, 1, 1, 0, NULL, (void *[]){ &at }, NULL));
    ok(ptxiCtxSynchronize());
    const char *all = end_capture();

    ck_assert_msg(count_of(all, ": warning: ") == 10, "%s", all);
    ck_assert_msg(count_of(all, "note: 96000 invalid accesses so far") == 1, "%s", all);
}
END_TEST

/* ---- failures of a context */

START_TEST(failures_are_counted)
{
    unsigned long long count = 7;
    ptxiResult first;

    ok(launch("load", 32, memory)); /* continues, and is no failure */
    ok(ptxiCtxGetFailureCount(NULL, &count, &first));
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(first, PTXI_SUCCESS);
    ck_result(launch("load", 1, memory + 2), PTXI_ERROR_MISALIGNED_ADDRESS);
    ok(ptxiCtxGetFailureCount(NULL, &count, &first));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(first, PTXI_ERROR_MISALIGNED_ADDRESS);
    ck_result(launch("load", 1, 0), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxGetFailureCount(ctx, &count, NULL));
    ck_assert_uint_eq(count, 2);
    ok(ptxiCtxGetFailureCount(ctx, &count, &first));
    ck_assert_int_eq(first, PTXI_ERROR_MISALIGNED_ADDRESS);
    ck_result(ptxiCtxGetFailureCount(ctx, NULL, &first), PTXI_ERROR_INVALID_VALUE);
    ok(launch("load", 1, memory)); /* the context remains usable */
}
END_TEST

START_TEST(a_reset_forgets_failures)
{
    ptxiContext primary;
    unsigned long long count;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr null = 0;

    ok(ptxiDevicePrimaryCtxRetain(&primary, 0));
    ok(ptxiCtxPushCurrent(primary));
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "load"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &null, &null }, NULL));
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxGetFailureCount(primary, &count, NULL));
    ck_assert_uint_eq(count, 1);
    ok(ptxiDevicePrimaryCtxReset(0));
    ok(ptxiDevicePrimaryCtxRetain(&primary, 0));
    ok(ptxiCtxGetFailureCount(primary, &count, NULL));
    ck_assert_uint_eq(count, 0);
    ok(ptxiCtxPopCurrent(NULL));
    ok(ptxiDevicePrimaryCtxRelease(0));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("on_fault");
    TCase *t = tcase_create("faults"), *environment = tcase_create("environment");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, loads_return_zero_for_inaccessible_lanes);
    tcase_add_test(t, vectors_are_accessed_as_far_as_possible);
    tcase_add_test(t, stores_are_dropped);
    tcase_add_test(t, atomics_are_dropped);
    tcase_add_test(t, freed_memory);
    tcase_add_test(t, other_spaces);
    tcase_add_test(t, asynchronous_copies);
    tcase_add_test(t, other_faults_fail);
    tcase_add_test(t, settings);
    tcase_add_test(t, each_instruction_is_reported_once);
    tcase_add_test(t, unloading_reports_the_rest);
    tcase_add_test(t, reports_are_limited);
    tcase_add_test(t, failures_are_counted);
    tcase_add_test(t, a_reset_forgets_failures);
    tcase_add_loop_test(environment, the_environment_selects, 0, 4);
    suite_add_tcase(s, t);
    suite_add_tcase(s, environment);
    return run_suite(s);
}
