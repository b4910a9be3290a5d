/* Tests the tracking of uninitialised values, with pairs of faulty and correct kernels. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, BYTES = 64 };
static const ptxiMemAllocationHandleType descriptor = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static ptxiModule module;
static ptxiDevicePtr memory;

static void set_up(void)
{
    const char *text = test_file("api/check/init.ptx");

    open_context();
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_INIT, 0));
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAlloc(&memory, BYTES));
}

static unsigned long long errors_of(const char *kernel)
{
    ptxiCheckSummary s = { .size = sizeof s };
    ptxiFunction f;
    void *params[] = { &memory };

    ok(ptxiCtxResetFindings(NULL));
    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiCtxGetCheckSummary(NULL, &s));
    ck_assert_uint_eq(s.launches, 1);
    ck_assert_uint_eq(s.unchecked, 0);
    return s.errors;
}

static const char *first_kind(void)
{
    ptxiFinding f = { .size = sizeof f };

    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_int_eq(f.tool, PTXI_SANITIZER_INIT);
    return f.kind;
}

START_TEST(shared_memory)
{
    ck_assert_uint_eq(errors_of("shared_bad"), 2);
    ck_assert_str_eq(first_kind(), "branch");
    ck_assert_uint_eq(errors_of("shared_good"), 0);
    ck_assert_uint_eq(errors_of("shared_bad"), 2); /* the memory of an earlier launch does not count */
}
END_TEST

START_TEST(shared_memory_again)
{
    ck_assert_uint_eq(errors_of("shared_again"), 1);
    ck_assert_str_eq(first_kind(), "branch");
    ok(ptxiMemsetD8(memory, 0, BYTES));
    ck_assert_uint_eq(errors_of("shared_again"), 0);
}
END_TEST

START_TEST(registers)
{
    ptxiFinding f = { .size = sizeof f };

    ck_assert_uint_eq(errors_of("reg_bad"), 1);
    ck_assert_str_eq(first_kind(), "output");
    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_uint_eq(f.sites[0].thread[0], 4);
    ck_assert_uint_eq(f.count, THREADS - 4);
}
END_TEST

START_TEST(global_memory)
{
    unsigned host[BYTES / 4] = { 0 };
    ptxiDevicePtr other;

    ck_assert_uint_eq(errors_of("global_sum"), 1);
    ck_assert_uint_eq(errors_of("global_sum"), 0); /* a report is made once */
    ok(ptxiMemAlloc(&other, BYTES));
    ok(ptxiMemcpyDtoD(memory, other, BYTES));
    ck_assert_uint_eq(errors_of("global_sum"), 1); /* the copy is as undefined as its source */
    ok(ptxiMemcpyDtoD(memory, other, BYTES));
    ok(ptxiMemcpyHtoD(memory, host, BYTES));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemcpyDtoD(memory, other, BYTES));
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemcpyDtoD(memory, other, BYTES));
    ok(ptxiMemsetD32(memory, 1, 3));
    ck_assert_uint_eq(errors_of("global_sum"), 1);
}
END_TEST

/* The host may have written to managed memory. */
START_TEST(managed_memory)
{
    ok(ptxiMemFree(memory));
    ok(ptxiMemAllocManaged(&memory, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ck_assert_uint_eq(errors_of("shared_copied"), 0); /* the host may write after it */
    ck_assert_uint_eq(errors_of("global_sum"), 0);
}
END_TEST

static const char *const copies[] = { "shared_copied", "store_bulk" };

/* Copies of undefined values to memory that the host may write later. */
START_TEST(copies_to_memory_of_the_host)
{
    unsigned host[BYTES / 4] = { 0 };
    ptxiDevicePtr undefined = memory;
    void *pinned;

    ok(ptxiMemcpyDtoH(host, memory, BYTES));
    ok(ptxiMemcpyHtoD(memory, host, BYTES));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemAlloc(&undefined, BYTES));
    ok(ptxiMemAllocHost(&pinned, BYTES));
    ok(ptxiMemcpyDtoH(pinned, undefined, BYTES));
    memory = (uintptr_t)pinned;
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemAllocManaged(&memory, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemcpyDtoD(memory, undefined, BYTES));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
        ck_assert_uint_eq(errors_of(copies[k]), 0);
        ck_assert_uint_eq(errors_of("global_sum"), 0);
        memory = undefined;
        ok(ptxiMemsetD32(memory, 1, BYTES / 4));
        ck_assert_uint_eq(errors_of(copies[k]), 0);
        ck_assert_uint_eq(errors_of("global_sum"), 1);
        ok(ptxiMemAllocManaged(&memory, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    }
}
END_TEST

/* Mapped memory may have other addresses. */
START_TEST(virtual_memory)
{
    enum { UNIT = 2 << 20 };
    const ptxiMemAllocationProp props = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 } };
    const ptxiMemAccessDesc access = { { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ptxiMemGenericAllocationHandle handle;
    ptxiDevicePtr undefined = memory;

    ok(ptxiMemAddressReserve(&memory, 2 * UNIT, 0, 0, 0));
    ok(ptxiMemCreate(&handle, UNIT, &props, 0));
    ok(ptxiMemMap(memory, UNIT, 0, handle, 0));
    ok(ptxiMemMap(memory + UNIT, UNIT, 0, handle, 0));
    ok(ptxiMemSetAccess(memory, 2 * UNIT, &access, 1));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
        ck_assert_uint_eq(errors_of(copies[k]), 0);
        ok(ptxiMemsetD32(memory + UNIT, 1, BYTES / 4));
        ck_assert_uint_eq(errors_of("global_sum"), 0);
    }
    ok(ptxiMemcpyDtoD(memory, undefined, BYTES));
    ok(ptxiMemUnmap(memory, 2 * UNIT));
    ok(ptxiMemMap(memory, UNIT, 0, handle, 0));
    ok(ptxiMemSetAccess(memory, UNIT, &access, 1));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemUnmap(memory, UNIT));
    ok(ptxiMemRelease(handle));
    ok(ptxiMemAddressFree(memory, 2 * UNIT));
}
END_TEST

/* So may other processes, to memory that they share. */
START_TEST(memory_of_other_processes)
{
    const ptxiMemPoolProps props = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = descriptor,
                                     .location = { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 } };
    ptxiMemoryPool pool, imported;
    ptxiMemPoolPtrExportData data;
    ptxiIpcMemHandle handle;
    ptxiDevicePtr shared;
    int fd;

    ok(ptxiIpcGetMemHandle(&handle, memory));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
    ok(ptxiMemPoolCreate(&pool, &props));
    ok(ptxiMemAllocFromPoolAsync(&shared, BYTES, pool, NULL));
    memory = shared;
    ck_assert_uint_eq(errors_of("global_sum"), 1);
    ok(ptxiMemPoolExportPointer(&data, shared));
    ok(ptxiMemPoolExportToShareableHandle(&fd, pool, descriptor, 0));
    ok(ptxiMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd, descriptor, 0));
    close(fd);
    ok(ptxiMemPoolImportPointer(&memory, imported, &data));
    ck_assert_uint_eq(errors_of("global_sum"), 0);
}
END_TEST

START_TEST(last_byte)
{
    ptxiFinding f = { .size = sizeof f };

    ok(ptxiMemsetD8(memory, 0, THREADS * 4 - 1));
    ck_assert_uint_eq(errors_of("global_twice"), 1);
    ck_assert_str_eq(first_kind(), "output");
    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_uint_eq(f.sites[0].thread[0], THREADS - 1);
    ck_assert_uint_eq(f.count, 1);
}
END_TEST

START_TEST(copies_are_no_errors)
{
    ck_assert_uint_eq(errors_of("global_copy"), 0);
    ck_assert_uint_eq(errors_of("global_sum"), 1); /* what was copied is still undefined */
}
END_TEST

START_TEST(bits_that_are_masked_out)
{
    ck_assert_uint_eq(errors_of("low_byte"), 0);
}
END_TEST

START_TEST(asynchronous_copies)
{
    ck_assert_uint_eq(errors_of("copy_nothing"), 0);
    ok(ptxiMemFree(memory));
    ok(ptxiMemAlloc(&memory, BYTES));
    ck_assert_uint_eq(errors_of("copy_async"), 1);
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of("copy_async"), 0);
}
END_TEST

START_TEST(bulk_copies)
{
    ck_assert_uint_eq(errors_of("copy_bulk"), 1);
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of("copy_bulk"), 0);
}
END_TEST

/* What arrives for ignored bytes is undefined, even if the source and the destination are written. */
START_TEST(ends_of_bulk_copies)
{
    ptxiFinding f = { .size = sizeof f };

    ok(ptxiMemsetD32(memory + 4, 1, 5));
    ck_assert_uint_eq(errors_of("copy_inner"), 0);
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of("copy_ends"), 1);
    ck_assert_str_eq(first_kind(), "output");
    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_uint_eq(f.count, 3);
    ck_assert_uint_eq(f.sites[0].thread[0], 0);
    ok(ptxiMemFree(memory));
    ok(ptxiMemAlloc(&memory, BYTES));
    ok(ptxiMemsetD32(memory + 4, 1, 4)); /* thread 5 uses a word that is not written */
    ck_assert_uint_eq(errors_of("copy_inner"), 1);
}
END_TEST

/* How many findings there are with undefined memory, and with memory that is written. */
static const struct { const char *kernel; unsigned long long undefined, written; } multimem[] = {
    { "multimem_load", 1, 0 },
    { "multimem_vector", 1, 0 },
    { "multimem_element", 0, 0 },
    { "multimem_part_of_element", 1, 0 },
    { "multimem_other_element", 1, 0 },
    { "multimem_bits", 0, 0 },
    { "multimem_sum_of_bits", 1, 0 },
    { "multimem_store", 0, 0 },
    { "multimem_store_undefined", 1, 0 },
    { "multimem_store_copied", 0, 0 },
    { "multimem_red", 1, 0 },
    { "multimem_red_defined", 0, 0 },
    { "multimem_bulk", 1, 1 },
    { "multimem_called", 0, 0 },
    { "multimem_called_undefined", 1, 0 },
};

START_TEST(multimem_instructions)
{
    ck_assert_uint_eq(errors_of(multimem[_i].kernel), multimem[_i].undefined);
    if (multimem[_i].undefined)
        ck_assert_str_eq(first_kind(), "output");
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of(multimem[_i].kernel), multimem[_i].written);
}
END_TEST

/* Memory becomes undefined again if undefined values are copied to it. */
START_TEST(multimem_copies)
{
    ok(ptxiMemsetD32(memory + BYTES / 2, 1, THREADS));
    ck_assert_uint_eq(errors_of("multimem_store_copied"), 0);
    ck_assert_uint_eq(errors_of("multimem_called_undefined"), 1);
}
END_TEST

START_TEST(tensor_memory)
{
    static const char text[] = ".version 8.6\n.target sm_100a\n.address_size 64\n"
                               ".visible .entry allocated(.param .u64 p)\n{\n"
                               ".reg .b32 at, v; .reg .b64 to; .shared .align 4 .b32 address;\n"
                               "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], 32;\n"
                               "ld.shared.b32 at, [address];\n"
                               "tcgen05.ld.sync.aligned.32x32b.x1.b32 {v}, [at];\n"
                               "tcgen05.wait::ld.sync.aligned;\n"
                               "ld.param.b64 to, [p];\nst.global.b32 [to], v;\n"
                               "tcgen05.dealloc.cta_group::1.sync.aligned.b32 at, 32;\nret;\n}\n";

    ok(ptxiModuleLoadData(&module, text));
    ck_assert_uint_eq(errors_of("allocated"), 0);
}
END_TEST

START_TEST(shuffles)
{
    ck_assert_uint_eq(errors_of("shfl_good"), 0);
    ck_assert_uint_eq(errors_of("shfl_absent"), 1); /* the last lane reads one that does not take part */
    ck_assert_str_eq(first_kind(), "output");
    ck_assert_uint_eq(errors_of("shfl_absent_unused"), 0);
}
END_TEST

/* Results stay results in shared memory. */
START_TEST(results_in_shared_memory)
{
    ptxiFinding f = { .size = sizeof f };

    ck_assert_uint_eq(errors_of("result_copied"), 1);
    ck_assert_str_eq(first_kind(), "output");
    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_uint_eq(f.sites[0].thread[0], THREADS - 1);
    ck_assert_uint_eq(f.count, 1);
    ck_assert_uint_eq(errors_of("shared_copied"), 0);
}
END_TEST

START_TEST(exchanges)
{
    ck_assert_uint_eq(errors_of("exchange"), 0);
}
END_TEST

START_TEST(fills_of_rows)
{
    ok(ptxiMemsetD2D32(memory, 16, 1, 4, 2)); /* the first 8 words, in two rows */
    ck_assert_uint_eq(errors_of("global_sum"), 0);
}
END_TEST

START_TEST(functions)
{
    ck_assert_uint_eq(errors_of("function"), 2); /* the function stores the sum and returns it */
    ok(ptxiMemsetD32(memory, 1, BYTES / 4));
    ck_assert_uint_eq(errors_of("function"), 0);
}
END_TEST

START_TEST(guards)
{
    ck_assert_uint_eq(errors_of("guarded"), 0);
}
END_TEST

/* Undefined bits that decide nothing are no errors, one that does is an error. */
START_TEST(bits_that_are_determined)
{
    static const char *const faulty[] = { "exact_or", "exact_xor", "exact_add", "exact_sub",
        "exact_mul", "exact_table", "exact_less", "exact_greater",
        "exact_equal", "exact_predicates", "exact_select", "exact_minimum" };

    ck_assert_uint_eq(errors_of("exact_good"), 0);
    for (size_t k = 0; k < sizeof faulty / sizeof *faulty; k++)
        ck_assert_msg(errors_of(faulty[k]) == 1, "%s", faulty[k]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("init");
    TCase *t = tcase_create("init");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, shared_memory);
    tcase_add_test(t, shared_memory_again);
    tcase_add_test(t, registers);
    tcase_add_test(t, global_memory);
    tcase_add_test(t, managed_memory);
    tcase_add_test(t, copies_to_memory_of_the_host);
    tcase_add_test(t, virtual_memory);
    tcase_add_test(t, memory_of_other_processes);
    tcase_add_test(t, last_byte);
    tcase_add_test(t, copies_are_no_errors);
    tcase_add_test(t, bits_that_are_masked_out);
    tcase_add_test(t, asynchronous_copies);
    tcase_add_test(t, bulk_copies);
    tcase_add_test(t, ends_of_bulk_copies);
    tcase_add_loop_test(t, multimem_instructions, 0, sizeof multimem / sizeof *multimem);
    tcase_add_test(t, multimem_copies);
    tcase_add_test(t, tensor_memory);
    tcase_add_test(t, shuffles);
    tcase_add_test(t, results_in_shared_memory);
    tcase_add_test(t, exchanges);
    tcase_add_test(t, fills_of_rows);
    tcase_add_test(t, functions);
    tcase_add_test(t, guards);
    tcase_add_test(t, bits_that_are_determined);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);

    srunner_free(r);
    return failed != 0;
}
