/* Tests that accesses on behalf of kernels are checked for the permission that they need, at the time of the access. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, BYTE = 0x11 };

static const char *text;
static ptxiModule module;
static unsigned char *memory;
static uint32_t *other;
static _Atomic int held;
static ptxiReport report;

/* Kernels call this function. */
static void hold_kernel(void)
{
    held = 1;
    while (held != 2)
        ;
}

static void load(void)
{
    open_context();
    text = test_file("exec/memory/access.ptx");
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleBindHostFunction(module, "hold", (ptxiHostFunction)hold_kernel, "void()"));
    ok(ptxiMemAllocManaged((ptxiDevicePtr *)&other, 128, PTXI_MEM_ATTACH_GLOBAL));
    memset(other, 0, 128);
    memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    memset(memory, BYTE, PAGE);
}

static void launch(const char *kernel, unsigned threads)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &memory, &other }, NULL));
}

/* Waits until a kernel has called hold(). */
static void launch_held(const char *kernel)
{
    held = 0;
    launch(kernel, 1);
    while (!held)
        ;
}

static void read_report(void)
{
    memset(&report, 0, sizeof report);
    report.size = sizeof report;
    ok(ptxiGetLastReport(NULL, &report));
}

static void fails(const char *kernel, ptxiFault fault, ptxiAccess access)
{
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    read_report();
    ck_assert_int_eq(report.fault, fault);
    ck_assert_int_eq(report.access, access);
    ck_assert_str_eq(report.kernel, kernel);
    ck_assert_uint_gt(report.ptxLine, 0);
}

static void check_unchanged(void)
{
    for (unsigned i = 0; i < PAGE; i++)
        ck_assert_uint_eq(memory[i], BYTE);
}

/* ---- read-only memory */

static void make_readable(bool open)
{
    ok(mprotect(memory, PAGE, PROT_READ));
    if (open)
        ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ));
    else
        ok(ptxiMemHostRegister(memory, PAGE, PTXI_MEMHOSTREGISTER_READ_ONLY));
}

static const char *const read_only[] = { "sets", "writes" };

START_TEST(read_only_memory_is_not_written)
{
    make_readable(_i % 2);
    held = 2;
    launch(read_only[_i / 2], 1);
    fails(read_only[_i / 2], PTXI_FAULT_READ_ONLY, PTXI_ACCESS_WRITE);
    ck_assert_str_eq(report.function, _i / 2 ? "copy" : "set");
    check_unchanged();
    ck_assert_ptr_eq((void *)(uintptr_t)report.address, memory);
    ck_assert_uint_eq(report.accessSize, 64);
}
END_TEST

START_TEST(constants_are_not_written)
{
    held = 2;
    launch("sets_constants", 1);
    fails("sets_constants", PTXI_FAULT_READ_ONLY, PTXI_ACCESS_WRITE);
}
END_TEST

START_TEST(host_writes_are_refused)
{
    make_readable(false);
    ck_result(ptxiMemcpyHtoD((uintptr_t)memory, text, 16), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD8((uintptr_t)memory, 0, 16), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD2D32Async((uintptr_t)memory, 64, 0, 4, 4, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamWriteValue32(NULL, (uintptr_t)memory, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemcpyDtoH(other, (uintptr_t)memory, 16));
    ok(ptxiStreamWaitValue32(NULL, (uintptr_t)memory, BYTE, PTXI_STREAM_WAIT_VALUE_AND));
    ok(ptxiCtxSynchronize());
    check_unchanged();
}
END_TEST

/* ---- memory that is freed or becomes read-only after the access was started */

static const struct { const char *kernel; bool write; ptxiAccess access; } queued[] = {
    { "sets", true, PTXI_ACCESS_WRITE },
    { "writes", true, PTXI_ACCESS_WRITE },
    { "reads", false, PTXI_ACCESS_READ },
    { "loads_async", false, PTXI_ACCESS_READ },
    { "loads_bulk", false, PTXI_ACCESS_READ },
    { "stores_bulk", true, PTXI_ACCESS_WRITE },
    { "reduces_bulk", true, PTXI_ACCESS_ATOMIC },
};
enum { QUEUED = sizeof queued / sizeof *queued };

START_TEST(accesses_are_checked_again)
{
    bool read_only = _i % 2;

    _i /= 2;
    ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    launch_held(queued[_i].kernel);
    ok(ptxiMemCloseRange(memory));
    if (read_only)
        make_readable(true);
    else
        ok(munmap(memory, PAGE));
    held = 2;
    if (read_only && !queued[_i].write)
        ok(ptxiCtxSynchronize());
    else
        fails(queued[_i].kernel, read_only ? PTXI_FAULT_READ_ONLY : PTXI_FAULT_FREED, queued[_i].access);
}
END_TEST

/* The bytes at the ends were never accessible. */
START_TEST(ignored_bytes_are_not_checked_again)
{
    enum { LEFT = 9, RIGHT = 5 };

    ok(ptxiMemOpenRange(memory + LEFT, PAGE - LEFT - RIGHT, PTXI_RANGE_READ));
    launch_held("loads_inner");
    ok(ptxiMemCloseRange(memory + LEFT));
    if (_i)
        ok(ptxiMemOpenRange(memory + LEFT, PAGE - LEFT - RIGHT, PTXI_RANGE_READ));
    held = 2;
    if (_i)
        ok(ptxiCtxSynchronize());
    else
        fails("loads_inner", PTXI_FAULT_FREED, PTXI_ACCESS_READ);
}
END_TEST

START_TEST(registered_memory_of_other_contexts_is_checked)
{
    ptxiContext second;

    ok(ptxiCtxCreate(&second, 0, 0));
    ok(ptxiMemHostRegister(memory, PAGE, 0));
    ok(ptxiCtxSetCurrent(ctx));
    launch_held(queued[_i].kernel);
    ok(ptxiCtxSetCurrent(second));
    ok(ptxiMemHostUnregister(memory));
    ok(munmap(memory, PAGE));
    ok(ptxiCtxSetCurrent(ctx));
    held = 2;
    fails(queued[_i].kernel, PTXI_FAULT_FREED, queued[_i].access);
    ok(ptxiCtxDestroy(second));
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

/* Work in a stream that waits until the host continues it, with memory of another context. */
START_TEST(queued_copies_are_checked)
{
    ptxiContext second;
    unsigned char to[16];

    ok(ptxiCtxCreate(&second, 0, 0));
    ok(ptxiMemHostRegister(memory, PAGE, 0));
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiStreamWaitValue32(NULL, (uintptr_t)other, 2, PTXI_STREAM_WAIT_VALUE_EQ));
    if (_i == 0)
        ok(ptxiMemsetD8Async((uintptr_t)memory, 0, PAGE, NULL));
    else if (_i == 1)
        ok(ptxiMemcpyAsync((uintptr_t)other, (uintptr_t)memory, sizeof to, NULL));
    else if (_i == 2)
        ok(ptxiStreamWriteValue32(NULL, (uintptr_t)memory, 0, 0));
    else
        ok(ptxiStreamWaitValue32(NULL, (uintptr_t)memory, 0, PTXI_STREAM_WAIT_VALUE_EQ));
    ok(ptxiCtxSetCurrent(second));
    ok(ptxiMemHostUnregister(memory));
    ok(munmap(memory, PAGE));
    ok(ptxiCtxSetCurrent(ctx));
    __atomic_store_n(other, 2, __ATOMIC_SEQ_CST);
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxDestroy(second));
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

/* ---- memory that is removed while kernels access it */

START_TEST(removal_waits_for_accesses)
{
    enum { ROUNDS = 500 };

    ok(munmap(memory, PAGE));
    for (unsigned n = 0; n < ROUNDS; n++) {
        memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
        launch("stores", 128);
        while (!*(volatile unsigned char *)&memory[4]) /* which thread 1 sets */
            ;
        ok(ptxiMemCloseRange(memory));
        ok(munmap(memory, PAGE));
        ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    }
}
END_TEST

/* A host function may wait for the thread that closes a range. */
START_TEST(removal_does_not_wait_for_host_functions)
{
    ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ));
    launch_held("holds");
    ok(ptxiMemCloseRange(memory));
    held = 2;
    ok(ptxiCtxSynchronize());
}
END_TEST

/* ---- ranges that host functions open */

static ptxiResult request_result;

static int request_pointer(uint64_t at, uint64_t n, int write)
{
    void *p = NULL;

    request_result = ptxiHostGetPointer(&p, at, n, write);
    ck_assert(request_result || (uintptr_t)p == at);
    return 0;
}

static ptxiResult run_request(uint64_t at, uint64_t n, unsigned write)
{
    ptxiFunction f;

    request_result = PTXI_ERROR_UNKNOWN;
    ok(ptxiModuleGetFunction(&f, module, "looks"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &at, &n, &write }, NULL));
    return ptxiCtxSynchronize();
}

static void check_request(uint64_t at, uint64_t n, unsigned write, ptxiResult expected)
{
    ck_result(run_request(at, n, write), expected == PTXI_ERROR_INVALID_VALUE ? PTXI_SUCCESS : expected);
    ck_result(request_result, expected);
}

START_TEST(whole_ranges_are_opened)
{
    uint64_t at = (uintptr_t)memory;
    ptxiDevicePtr a, b;

    ok(ptxiModuleBindHostFunction(module, "look", (ptxiHostFunction)request_pointer, "int(uint64_t, uint64_t, int)"));
    ok(ptxiMemHostRegister(memory, 64, 0));
    ok(ptxiMemHostRegister(memory + 128, 64, PTXI_MEMHOSTREGISTER_READ_ONLY));
    ok(ptxiMemAlloc(&a, 100));
    ok(ptxiMemAlloc(&b, 100));
    for (unsigned write = 0; write < 2; write++) {
        check_request(at, 64, write, PTXI_SUCCESS);
        check_request(at, 65, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at, 192, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at + 64, 64, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at + 128, 64, write, write ? PTXI_ERROR_ILLEGAL_ADDRESS : PTXI_SUCCESS);
        check_request(a < b ? a : b, (a < b ? b - a : a - b) + 100, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at, UINT64_C(1) << 32, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at, (UINT64_C(1) << 32) + 64, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at, UINT64_C(1) << 63, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_request(at, 0, write, PTXI_ERROR_INVALID_VALUE);
        check_request(at, -at, write, PTXI_ERROR_INVALID_VALUE);
        check_request(at, UINT64_MAX, write, PTXI_ERROR_INVALID_VALUE);
    }
}
END_TEST

/* A block larger than a report can represent. */
START_TEST(large_ranges_are_opened)
{
    ptxiDevicePtr large;
    size_t bytes = (size_t)5 << 30;

    ok(ptxiModuleBindHostFunction(module, "look", (ptxiHostFunction)request_pointer, "int(uint64_t, uint64_t, int)"));
    if (ptxiMemAlloc(&large, bytes))
        return;
    check_request(large, bytes, 1, PTXI_SUCCESS);
    check_request(large, bytes + 1, 1, PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("access");
    TCase *t = tcase_create("access");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, read_only_memory_is_not_written, 0, 2 * sizeof read_only / sizeof *read_only);
    tcase_add_test(t, constants_are_not_written);
    tcase_add_test(t, host_writes_are_refused);
    tcase_add_loop_test(t, accesses_are_checked_again, 0, 2 * QUEUED);
    tcase_add_loop_test(t, ignored_bytes_are_not_checked_again, 0, 2);
    tcase_add_loop_test(t, registered_memory_of_other_contexts_is_checked, 0, QUEUED);
    tcase_add_loop_test(t, queued_copies_are_checked, 0, 4);
    tcase_add_test(t, removal_waits_for_accesses);
    tcase_add_test(t, removal_does_not_wait_for_host_functions);
    tcase_add_test(t, whole_ranges_are_opened);
    tcase_add_test(t, large_ranges_are_opened);
    suite_add_tcase(s, t);
    return run_suite(s);
}
