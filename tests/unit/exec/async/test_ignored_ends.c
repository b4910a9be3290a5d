/* Tests bulk copies that ignore bytes at the ends of their source. PTX ISA, "Data Movement and Conversion Instructions:
 * cp.async.bulk", .ignore_oob. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdint.h>
#include <string.h>

enum { AROUND = 16, BYTES = 64, MAX_IGNORED = 15, BEFORE = 0xee, HIDDEN = 0x77 };

static ptxiModule module;
static ptxiDevicePtr result;
static unsigned char expected[BYTES], found[BYTES];
/* Memory of the host. Kernels may access a part of it. */
static _Alignas(16) unsigned char host[AROUND + BYTES + AROUND];

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("exec/async/ignored_ends.ptx")));
    ok(ptxiMemAlloc(&result, BYTES));
}

static ptxiResult copy(const char *kernel, uint64_t from, uint32_t size, uint32_t left, uint32_t right)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &result, &from, &size, &left, &right }, NULL));
    return ptxiCtxSynchronize();
}

static unsigned char value(uint32_t k)
{
    return (unsigned char)(k + 1);
}

/* Bytes from `lo` to `hi` of the source are accessible, and arrive. */
static void check_copy(uint64_t from, uint32_t size, uint32_t lo, uint32_t hi, uint32_t left, uint32_t right)
{
    memset(expected, BEFORE, sizeof expected);
    memset(expected, 0, size);
    for (uint32_t k = lo; k < hi && k < size; k++)
        expected[k] = value(k);
    ok(copy("registers", from, size, left, right));
    ok(ptxiMemcpyDtoH(found, result, BYTES));
    ck_assert_msg(!memcmp(found, expected, BYTES), "%u bytes of which %u to %u are accessible, without %u, %u", size,
                  lo, hi, left, right);
}

static uint32_t round_up(uint32_t n)
{
    return (n + 15) & ~15u;
}

START_TEST(allocations_of_any_size)
{
    unsigned char bytes[BYTES];

    for (uint32_t k = 0; k < BYTES; k++)
        bytes[k] = value(k);
    for (uint32_t n = 1; n <= BYTES; n++) {
        ptxiDevicePtr from;

        ok(ptxiMemAlloc(&from, n));
        ok(ptxiMemcpyHtoD(from, bytes, n));
        check_copy(from, round_up(n), 0, n, 0, round_up(n) - n);
        check_copy(from, round_up(n), 0, n, n % MAX_IGNORED, MAX_IGNORED);
        ok(ptxiMemFree(from));
    }
}
END_TEST

/* Opens the bytes from `lo` to `hi`, counted from `AROUND`. */
static void open_bytes(uint32_t lo, uint32_t hi)
{
    memset(host, HIDDEN, sizeof host);
    for (uint32_t k = lo; k < hi; k++)
        host[AROUND + k] = value(k);
    ok(ptxiMemOpenRange(host + AROUND + lo, hi - lo, PTXI_RANGE_READ));
}

START_TEST(both_ends)
{
    const uint64_t from = (uintptr_t)host + AROUND;
    uint32_t lo = (uint32_t)_i;

    for (uint32_t hi = lo + 1; hi <= BYTES; hi++) {
        uint32_t size = round_up(hi), right = size - hi;

        open_bytes(lo, hi);
        check_copy(from, size, lo, hi, lo, right);
        check_copy(from, size, lo, hi, MAX_IGNORED, right);
        check_copy(from, size, lo, hi, lo, MAX_IGNORED);
        check_copy(from, size, lo, hi, MAX_IGNORED, MAX_IGNORED);
        ok(ptxiMemCloseRange(host + AROUND + lo));
    }
}
END_TEST

START_TEST(constant_operands)
{
    open_bytes(5, 29);
    ok(copy("constants", (uintptr_t)host + AROUND, 32, 0, 0));
    ok(ptxiMemcpyDtoH(found, result, BYTES));
    for (uint32_t k = 0; k < BYTES; k++)
        ck_assert_uint_eq(found[k], k >= 32 ? BEFORE : k >= 5 && k < 29 ? value(k) : 0);
}
END_TEST

/* All bytes may be inaccessible if all are ignored, also in a launch without checks. */
START_TEST(nothing_but_ends)
{
    static const uint32_t ends[][2] = { { 1, 15 }, { 8, 8 }, { 15, 1 }, { 15, 15 }, { 10, 9 } };
    ptxiDevicePtr freed;

    ok(ptxiCtxSetChecking(NULL, _i));
    ok(ptxiMemAlloc(&freed, BYTES));
    ok(ptxiMemsetD8(freed, HIDDEN, BYTES));
    ok(ptxiMemFree(freed));
    memset(host, HIDDEN, sizeof host);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        check_copy((uintptr_t)host, 16, 0, 0, ends[k][0], ends[k][1]);
        check_copy(0, 16, 0, 0, ends[k][0], ends[k][1]);
        check_copy(UINT64_MAX - 15, 16, 0, 0, ends[k][0], ends[k][1]);
        check_copy(freed, 16, 0, 0, ends[k][0], ends[k][1]);
        check_copy((uintptr_t)host, 0, 0, 0, ends[k][0], ends[k][1]);
    }
    open_bytes(3, 11);
    check_copy((uintptr_t)host + AROUND, 16, 3, 11, 15, 15);
    ok(ptxiMemCloseRange(host + AROUND + 3));
}
END_TEST

/* Bytes 5 to 42 are accessible. */
static const struct {
    uint32_t from, size, left, right;
    ptxiFault fault;
} faults[] = {
    { 0, 48, 4, 6, PTXI_FAULT_OUT_OF_BOUNDS },
    { 0, 48, 5, 5, PTXI_FAULT_OUT_OF_BOUNDS },
    { 0, 16, 4, 11, PTXI_FAULT_OUT_OF_BOUNDS },
    { 0, 64, 15, 15, PTXI_FAULT_OUT_OF_BOUNDS },
    { 0, 48, 16, 6, PTXI_FAULT_MISUSE },
    { 0, 48, 5, 16, PTXI_FAULT_MISUSE },
    { 0, 48, 5, UINT32_MAX - 4, PTXI_FAULT_MISUSE },
    { 0, 40, 5, 6, PTXI_FAULT_MISUSE },
    { 8, 32, 5, 6, PTXI_FAULT_MISALIGNED },
};

START_TEST(bad_copies_are_reported)
{
    ptxiReport report = { .size = sizeof report };

    open_bytes(5, 42);
    ck_assert_int_ne(copy("registers", (uintptr_t)host + AROUND + faults[_i].from, faults[_i].size, faults[_i].left,
                          faults[_i].right),
                     PTXI_SUCCESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_int_eq(report.fault, faults[_i].fault);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ignored ends");
    TCase *t = tcase_create("ignored ends");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, allocations_of_any_size);
    tcase_add_loop_test(t, both_ends, 0, MAX_IGNORED + 1);
    tcase_add_test(t, constant_operands);
    tcase_add_loop_test(t, nothing_but_ends, 0, 2);
    tcase_add_loop_test(t, bad_copies_are_reported, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(s, t);
    return run_suite(s);
}
