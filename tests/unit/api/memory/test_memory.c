/* Tests allocations of devices and of the host, attributes of pointers, and ranges that are opened for kernels. */
#include "unit/support/heap_check.h"

#include "api/context/context.h"
#include "exec/memmap/memmap.h"

#include <stdlib.h>
#include <string.h>

START_TEST(allocations_are_separate_and_known)
{
    enum { N = 600 };
    ptxiDevicePtr p[N], base;
    size_t size;
    struct ptxi_mem_region r;

    for (int i = 0; i < N; i++) {
        size_t bytes = i < 500 ? (size_t)(i * 37 + 1) : (size_t)i * 7919;

        ok(ptxiMemAlloc(&p[i], bytes));
        ck_assert_uint_eq(p[i] % 256, 0);
        memset((void *)(uintptr_t)p[i], i, bytes);
        ck_assert(ptxi_memmap_covers(ptxi_state.memmap, p[i], bytes, &r));
        ck_assert(!ptxi_memmap_covers(ptxi_state.memmap, p[i], bytes + 1, &r));
        ck_assert_int_eq(ptxi_memmap_find(ptxi_state.memmap, p[i] + bytes + 255, &r), PTXI_MEMMAP_NEAREST);
        ok(ptxiMemGetAddressRange(&base, &size, p[i] + bytes - 1));
        ck_assert_uint_eq(base, p[i]);
        ck_assert_uint_eq(size, bytes);
    }
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(*(unsigned char *)(uintptr_t)p[i], i & 255);
    for (int i = 0; i < N; i += 2)
        ok(ptxiMemFree(p[i]));
    ck_result(ptxiMemFree(p[0]), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemFree(p[1] + 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemFree(12345), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFree(0));
    ck_result(ptxiMemGetAddressRange(&base, &size, p[0]), PTXI_ERROR_NOT_FOUND);
    ck_assert_int_eq(ptxi_memmap_find(ptxi_state.memmap, p[598], &r), PTXI_MEMMAP_INSIDE);
    ck_assert_uint_eq(r.flags, PTXI_MEM_FREED);
}
END_TEST

START_TEST(impossible_allocations_are_refused)
{
    ptxiDevicePtr p;
    size_t pitch, freed, total, freed_after;

    ck_result(ptxiMemAlloc(&p, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAlloc(NULL, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAlloc(&p, (size_t)1 << 60), PTXI_ERROR_OUT_OF_MEMORY);
    ck_result(ptxiMemAlloc(&p, SIZE_MAX), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemGetInfo(&freed, &total));
    ok(ptxiMemAlloc(&p, total / 2));
    ck_result(ptxiMemAlloc(&p, total), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemGetInfo(&freed_after, &total));
    ck_assert_uint_eq(freed - freed_after, total / 2);
    ok(ptxiMemAllocPitch(&p, &pitch, 513, 10, 16));
    ck_assert_uint_eq(pitch, 1024);
    ck_result(ptxiMemAllocPitch(&p, &pitch, 100, 10, 3), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAllocPitch(&p, &pitch, 100, 0, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAllocPitch(&p, &pitch, SIZE_MAX / 2, 3, 4), PTXI_ERROR_OUT_OF_MEMORY);
    ck_result(ptxiMemAllocManaged(&p, 100, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAllocManaged(&p, 100, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemFree(p));
}
END_TEST

START_TEST(freed_addresses_are_reused_later)
{
    ptxiDevicePtr first, p;
    bool again = false;

    ok(ptxiMemAlloc(&first, 5000));
    ok(ptxiMemFree(first));
    for (int i = 0; i < 20000 && !again; i++) {
        ok(ptxiMemAlloc(&p, 5000));
        again = p == first;
        if (i < 100)
            ck_assert(!again); /* quarantine */
        ok(ptxiMemFree(p));
    }
    ck_assert(again);
}
END_TEST

/* Such addresses are no memory of the host, although they are in no region of the memory map any more. */
START_TEST(copies_refuse_addresses_of_the_heap)
{
    enum { BYTES = 5000, OTHERS = 4200 /* more than the quarantine holds */ };
    ptxiDevicePtr p, other, reserved;
    struct ptxi_mem_region r;
    char host[64] = "";

    ok(ptxiMemAlloc(&p, BYTES));
    ok(ptxiMemFree(p));
    for (int i = 0; i < OTHERS; i++) {
        ok(ptxiMemAlloc(&other, 1));
        ok(ptxiMemFree(other));
    }
    ck_assert(!ptxi_memmap_covers(ptxi_state.memmap, p, 1, &r));
    ck_result(ptxiMemcpy(p, (uintptr_t)host, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy((uintptr_t)host, p, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, host, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoH((void *)(uintptr_t)p, p, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAlloc(&other, 2 * BYTES));
    ck_result(ptxiMemcpyDtoH((void *)(uintptr_t)p, other, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy(other + 2 * BYTES + 8, (uintptr_t)host, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemcpy(other, (uintptr_t)host, sizeof host));
    ok(ptxiMemFree(other));
    ok(ptxiMemAddressReserve(&reserved, 2 << 20, 0, 0, 0));
    ck_result(ptxiMemcpy((uintptr_t)host, reserved, sizeof host), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAddressFree(reserved, 2 << 20));
}
END_TEST

START_TEST(host_memory)
{
    void *h, *unregistered = aligned_alloc(4096, 16384);
    ptxiDevicePtr d;
    unsigned flags, type;

    ok(ptxiMemAllocHost(&h, 0));
    ck_assert_ptr_null(h);
    ck_result(ptxiMemHostAlloc(&h, 100, 16), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostAlloc(&h, 100, 0));
    ok(ptxiMemHostGetDevicePointer(&d, (char *)h + 4, 0));
    ck_assert_uint_eq(d, (uintptr_t)h + 4);
    ok(ptxiMemHostGetFlags(&flags, h));
    ck_assert_uint_eq(flags, PTXI_MEMHOSTALLOC_DEVICEMAP);
    ok(ptxiPointerGetAttribute(&type, PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    ck_assert_uint_eq(type, PTXI_MEMORYTYPE_HOST);
    ck_result(ptxiMemFree((uintptr_t)h), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemHostRegister(h, 10, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFreeHost(h));
    ok(ptxiMemFreeHost(NULL));
    ck_result(ptxiMemFreeHost(unregistered), PTXI_ERROR_INVALID_VALUE);

    ck_result(ptxiMemHostGetDevicePointer(&d, unregistered, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemHostRegister(unregistered, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemHostRegister(NULL, 1, 0), PTXI_ERROR_INVALID_VALUE);
    /* much of that range is not mapped */
    ck_result(ptxiMemHostRegister(unregistered, (size_t)1 << 46, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemHostRegister((void *)8192, 100, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostRegister(unregistered, 100, 0));
    ck_result(ptxiMemHostRegister(unregistered, 100, 0), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ck_result(ptxiMemHostRegister((char *)unregistered - 8, 10, 0), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(ptxiMemHostRegister((char *)unregistered + 4096, 100, PTXI_MEMHOSTREGISTER_READ_ONLY));
    ok(ptxiMemHostGetDevicePointer(&d, unregistered, 0));
    ck_result(ptxiMemHostUnregister((char *)unregistered + 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostUnregister(unregistered));
    ck_result(ptxiMemHostUnregister(unregistered), PTXI_ERROR_HOST_MEMORY_NOT_REGISTERED);
    ok(ptxiMemHostUnregister((char *)unregistered + 4096));
    free(unregistered);
}
END_TEST

START_TEST(pointer_attributes)
{
    ptxiDevicePtr p, q, v;
    ptxiContext c;
    unsigned long long id, id2;
    size_t size;
    void *host;
    int i;

    ok(ptxiMemAlloc(&p, 1000));
    ok(ptxiMemAllocManaged(&q, 1000, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiPointerGetAttribute(&c, PTXI_POINTER_ATTRIBUTE_CONTEXT, p + 8));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiPointerGetAttribute(&v, PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
    ck_assert_uint_eq(v, p + 8);
    ck_result(ptxiPointerGetAttribute(&host, PTXI_POINTER_ATTRIBUTE_HOST_POINTER, p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiPointerGetAttribute(&host, PTXI_POINTER_ATTRIBUTE_HOST_POINTER, q + 8));
    ck_assert_uint_eq((uintptr_t)host, q + 8);
    ok(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, q));
    ck_assert_int_eq(i, 1);
    ok(ptxiPointerGetAttribute(&size, PTXI_POINTER_ATTRIBUTE_RANGE_SIZE, p + 999));
    ck_assert_uint_eq(size, 1000);
    ok(ptxiPointerGetAttribute(&id, PTXI_POINTER_ATTRIBUTE_BUFFER_ID, p));
    ok(ptxiPointerGetAttribute(&id2, PTXI_POINTER_ATTRIBUTE_BUFFER_ID, q));
    ck_assert_uint_ne(id, id2);
    ck_result(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, p + 1000), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiPointerGetAttribute(&i, (ptxiPointerAttribute)99, p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, (uintptr_t)&i), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(open_ranges)
{
    static int unregistered[100];
    struct ptxi_mem_region r;

    ck_result(ptxiMemOpenRange(unregistered, 0, PTXI_RANGE_READ), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemOpenRange(unregistered, sizeof unregistered, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemOpenRange(unregistered, sizeof unregistered, PTXI_RANGE_READ));
    ck_result(ptxiMemOpenRange(unregistered, sizeof unregistered, PTXI_RANGE_READ), PTXI_ERROR_INVALID_VALUE);
    ck_assert(ptxi_memmap_covers(ptxi_state.memmap, (uintptr_t)unregistered, sizeof unregistered, &r));
    ck_assert_uint_eq(r.flags, PTXI_MEM_OPEN | PTXI_MEM_READ);
    ck_result(ptxiMemcpyHtoD((uintptr_t)unregistered, unregistered, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemCloseRange(unregistered + 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemCloseRange(unregistered));
    ck_result(ptxiMemCloseRange(unregistered), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory");
    TCase *t = tcase_create("memory");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, allocations_are_separate_and_known);
    tcase_add_test(t, impossible_allocations_are_refused);
    tcase_add_test(t, freed_addresses_are_reused_later);
    tcase_add_test(t, host_memory);
    tcase_add_test(t, copies_refuse_addresses_of_the_heap);
    tcase_add_test(t, pointer_attributes);
    tcase_add_test(t, open_ranges);
    suite_add_tcase(s, t);
    return run_suite(s);
}
