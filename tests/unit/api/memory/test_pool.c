/* Tests memory pools and memory that is freed in the order of a stream. */
#include "unit/support/heap_check.h"
#include "unit/support/stream_log.h"

static uint64_t pool_attribute(ptxiMemoryPool pool, ptxiMemPoolAttribute which)
{
    uint64_t n;

    ok(ptxiMemPoolGetAttribute(pool, which, &n));
    return n;
}

START_TEST(memory_is_freed_in_stream_order)
{
    ptxiMemoryPool pool;
    ptxiDevicePtr p, q;
    ptxiStream s;

    ok(ptxiMemPoolCreate(&pool, &(ptxiMemPoolProps){ .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                                     .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE,
                                                     .maxSize = 5000 << 10 }));
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemAllocFromPoolAsync(&p, 4000, pool, s)); /* of 32 MiB */
    ck_result(ptxiMemAllocFromPoolAsync(&q, (32 << 20) - 3999, pool, s), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiLaunchHostFunc(s, log_number_late, NUMBER(1)));
    ok(ptxiMemsetD8Async(p, 1, 4000, s));
    ok(ptxiMemFreeAsync(p, s));
    ck_result(ptxiMemFreeAsync(p, s), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemFree(p), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_ge(pool_attribute(pool, PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT), 4000);
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(pool_attribute(pool, PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_ge(pool_attribute(pool, PTXI_MEMPOOL_ATTR_USED_MEM_HIGH), 4000);
    ck_result(ptxiMemsetD8(p, 1, 4000), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAllocFromPoolAsync(&p, 1000, pool, s));
    ok(ptxiMemPoolDestroy(pool)); /* its memory stays */
    ok(ptxiMemsetD8(p, 1, 1000));
    ok(ptxiMemFree(p));
}
END_TEST

/* The work before the free fails, and the memory is freed nevertheless. */
START_TEST(memory_is_freed_after_a_failure)
{
    ptxiDevicePtr p, word;
    ptxiStream s;

    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemAllocAsync(&p, 4000, s));
    ok(ptxiMemAlloc(&word, 16));
    ok(ptxiMemsetD32(word, 0, 4));
    ok(ptxiStreamWaitValue32(s, word, 1, PTXI_STREAM_WAIT_VALUE_EQ));
    ok(ptxiMemFreeAsync(p, s));
    sleep_ms(10);
    ok(ptxiCtxInterrupt(NULL));
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_LAUNCH_TIMEOUT);
    ck_result(ptxiMemGetAddressRange(NULL, NULL, p), PTXI_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(the_current_pool)
{
    ptxiMemoryPool pool, device, now;
    ptxiDevicePtr p;

    ok(ptxiDeviceGetDefaultMemPool(&device, 0));
    ok(ptxiMemPoolCreate(&pool, &(ptxiMemPoolProps){ .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                                     .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE }));
    ok(ptxiDeviceSetMemPool(0, pool));
    ok(ptxiMemAllocAsync(&p, 64, NULL));
    ok(ptxiPointerGetAttribute(&now, PTXI_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    ck_assert_ptr_eq(now, pool);
    ok(ptxiMemPoolDestroy(pool));
    ok(ptxiDeviceGetMemPool(&now, 0));
    ck_assert_ptr_eq(now, device);
    ok(ptxiMemFreeAsync(p, NULL));
    ok(ptxiCtxSynchronize());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pool");
    TCase *t = tcase_create("pool");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, memory_is_freed_in_stream_order);
    tcase_add_test(t, memory_is_freed_after_a_failure);
    tcase_add_test(t, the_current_pool);
    suite_add_tcase(s, t);
    return run_suite(s);
}
