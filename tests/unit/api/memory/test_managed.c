/* Tests hints about managed memory, batches of copies, and attributes of streams. */
#include "unit/support/context.h"

#include <string.h>

enum { BYTES = 1 << 20, HALF = BYTES / 2, HOST = -1, NOWHERE = -2 };

static ptxiDevicePtr p, device_memory;
static ptxiStream stream;
static const ptxiMemLocation device = { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, host = { PTXI_MEM_LOCATION_TYPE_HOST, 0 },
    node = { PTXI_MEM_LOCATION_TYPE_HOST_NUMA, 0 }, other = { PTXI_MEM_LOCATION_TYPE_DEVICE, 1 },
    invalid = { PTXI_MEM_LOCATION_TYPE_INVALID, 0 };

static void load(void)
{
    open_context();
    ok(ptxiMemAllocManaged(&p, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemAlloc(&device_memory, BYTES));
    ok(ptxiStreamCreate(&stream, PTXI_STREAM_NON_BLOCKING));
}

static int get(ptxiMemRangeAttribute attribute, ptxiDevicePtr at, size_t bytes)
{
    int value = 99;

    ok(ptxiMemRangeGetAttribute(&value, sizeof value, attribute, at, bytes));
    return value;
}

START_TEST(advice_is_stored)
{
    int by[3];

    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, BYTES), 0);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, BYTES), NOWHERE);
    ok(ptxiMemAdvise(p, HALF, PTXI_MEM_ADVISE_SET_READ_MOSTLY, node)); /* nothing is stored for NUMA nodes */
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, HALF), 0);
    ok(ptxiMemAdvise(p, HALF, PTXI_MEM_ADVISE_SET_READ_MOSTLY, host));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, HALF), 1);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, BYTES), 0);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + HALF, HALF), 0);
    ok(ptxiMemAdvise(p + HALF, HALF, PTXI_MEM_ADVISE_SET_READ_MOSTLY, device));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, BYTES), 1);
    ok(ptxiMemAdvise(p + HALF / 2, HALF, PTXI_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, HALF / 2), 1);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + HALF / 2, HALF), 0);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + HALF + HALF / 2, HALF / 2), 1);

    ok(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, BYTES), HOST);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, BYTES), PTXI_MEM_LOCATION_TYPE_HOST);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, BYTES), HOST);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, p, BYTES), NOWHERE);
    ok(ptxiMemAdvise(p, HALF, PTXI_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, HALF), 0);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, BYTES), NOWHERE);
    ok(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_UNSET_PREFERRED_LOCATION, device));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, HALF), NOWHERE);

    ok(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_ACCESSED_BY, host));
    ok(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_ACCESSED_BY, device));
    ok(ptxiMemRangeGetAttribute(by, sizeof by, PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, BYTES));
    ck_assert(by[0] == 0 && by[1] == HOST && by[2] == NOWHERE);
    ok(ptxiMemAdvise(p, 1, PTXI_MEM_ADVISE_UNSET_ACCESSED_BY, device));
    ok(ptxiMemRangeGetAttribute(by, sizeof by, PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, BYTES));
    ck_assert(by[0] == HOST && by[1] == NOWHERE);
}
END_TEST

START_TEST(prefetches_are_stored)
{
    void *data[2];
    size_t sizes[] = { 4, 4 };
    int where, kind;
    ptxiMemRangeAttribute attributes[] = { PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                           PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE };

    data[0] = &where;
    data[1] = &kind;
    ok(ptxiMemPrefetchAsync(p, BYTES, device, 0, stream));
    ok(ptxiMemRangeGetAttributes(data, sizes, attributes, 2, p, BYTES));
    ck_assert(where == 0 && kind == PTXI_MEM_LOCATION_TYPE_DEVICE);
    ok(ptxiMemPrefetchAsync(p, HALF, node, 0, NULL));
    ok(ptxiMemRangeGetAttributes(data, sizes, attributes, 2, p, HALF));
    ck_assert(where == HOST && kind == PTXI_MEM_LOCATION_TYPE_HOST_NUMA);
    ck_result(ptxiMemPrefetchAsync(p, BYTES, device, 1, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchAsync(p, BYTES, other, 0, stream), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiMemPrefetchAsync(p, BYTES, invalid, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchAsync(p, BYTES + 1, device, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchAsync(p, 0, device, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchAsync(device_memory, 16, device, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemRangeGetAttributes(data, sizes, attributes, 0, p, BYTES), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(bad_hints)
{
    int value[2];

    ck_result(ptxiMemAdvise(p, BYTES, (ptxiMemAdvice)7, device), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_ACCESSED_BY, node), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_PREFERRED_LOCATION, other), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_UNSET_READ_MOSTLY, invalid), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemAdvise(device_memory, BYTES, PTXI_MEM_ADVISE_SET_READ_MOSTLY, device), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemRangeGetAttribute(value, 8, PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, BYTES),
          PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemRangeGetAttribute(value, 6, PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, BYTES),
          PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemRangeGetAttribute(value, 4, (ptxiMemRangeAttribute)9, p, BYTES), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemRangeGetAttribute(value, 4, PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device_memory, BYTES),
          PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamAttachMemAsync(stream, p, 0, PTXI_MEM_ATTACH_SINGLE));
    ok(ptxiStreamAttachMemAsync(NULL, p, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ck_result(ptxiStreamAttachMemAsync(NULL, p, BYTES, PTXI_MEM_ATTACH_SINGLE), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamAttachMemAsync(stream, p, HALF, PTXI_MEM_ATTACH_SINGLE), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamAttachMemAsync(stream, p + 4, 0, PTXI_MEM_ATTACH_SINGLE), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamAttachMemAsync(stream, p, 0, 3), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamAttachMemAsync(stream, device_memory, 0, PTXI_MEM_ATTACH_HOST), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(freed_memory_leaves_no_hints)
{
    ptxiDevicePtr again;

    ok(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_READ_MOSTLY, device));
    ok(ptxiMemFree(p));
    ck_result(ptxiMemAdvise(p, BYTES, PTXI_MEM_ADVISE_SET_READ_MOSTLY, device), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAllocManaged(&again, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, again, BYTES), 0);
}
END_TEST

START_TEST(batches_of_hints)
{
    ptxiDevicePtr at[] = { p, p + HALF };
    size_t sizes[] = { HALF, HALF }, first[] = { 0, 1 }, wrong[] = { 1, 1 };
    ptxiMemLocation where[] = { device, host };

    ok(ptxiMemPrefetchBatchAsync(at, sizes, 2, where, first, 2, 0, stream));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, HALF), 0);
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p + HALF, HALF), HOST);
    ok(ptxiMemDiscardAndPrefetchBatchAsync(at, sizes, 2, where, first, 1, 0, stream));
    ck_assert_int_eq(get(PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, BYTES), 0);
    ck_result(ptxiMemPrefetchBatchAsync(at, sizes, 2, where, wrong, 2, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchBatchAsync(at, sizes, 0, where, first, 1, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemPrefetchBatchAsync(at, sizes, 1, where, first, 2, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemDiscardBatchAsync(at, sizes, 2, 0, stream));
    ck_result(ptxiMemDiscardBatchAsync(at, sizes, 2, 1, stream), PTXI_ERROR_INVALID_VALUE);
    at[1] = device_memory;
    ck_result(ptxiMemDiscardBatchAsync(at, sizes, 2, 0, stream), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(batches_of_copies)
{
    unsigned words[4] = { 1, 2, 3, 4 }, got[4] = { 0 };
    ptxiDevicePtr to[] = { device_memory, device_memory + 8, device_memory + 64 },
        from[] = { (uintptr_t)words, (uintptr_t)&words[2], (uintptr_t)words };
    size_t sizes[] = { 8, 8, 4 }, first[] = { 0, 2 };
    ptxiMemcpyAttributes a[] = { { .srcAccessOrder = PTXI_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL },
                                 { .srcAccessOrder = PTXI_MEMCPY_SRC_ACCESS_ORDER_STREAM } };

    ok(ptxiMemcpyBatchAsync(to, from, sizes, 3, a, first, 2, stream));
    ok(ptxiStreamSynchronize(stream));
    ok(ptxiMemcpyDtoH(got, device_memory, sizeof got));
    ck_assert_mem_eq(got, words, sizeof got);
    ck_result(ptxiMemcpyBatchAsync(to, from, sizes, 3, a, first, 2, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyBatchAsync(to, from, sizes, 0, a, first, 1, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyBatchAsync(to, from, sizes, 3, a, first, 0, stream), PTXI_ERROR_INVALID_VALUE);
    a[0].srcAccessOrder = PTXI_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    ck_result(ptxiMemcpyBatchAsync(to, from, sizes, 3, a, first, 2, stream), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(batches_of_boxes)
{
    PTXI_ARRAY3D_DESCRIPTOR d = { 4, 2, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 };
    unsigned words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8] = { 0 };
    ptxiArray array;

    ok(ptxiArray3DCreate(&array, &d));
    PTXI_MEMCPY3D_BATCH_OP ops[2] = {
        { .src = { PTXI_MEMCPY_OPERAND_TYPE_POINTER, { .ptr = { .ptr = (uintptr_t)words } } },
          .dst = { PTXI_MEMCPY_OPERAND_TYPE_ARRAY, { .array = { .array = array } } }, .extent = { 4, 2, 1 },
          .srcAccessOrder = PTXI_MEMCPY_SRC_ACCESS_ORDER_STREAM },
        { .src = { PTXI_MEMCPY_OPERAND_TYPE_ARRAY, { .array = { .array = array, .offset = { 1, 1, 0 } } } },
          .dst = { PTXI_MEMCPY_OPERAND_TYPE_POINTER, { .ptr = { .ptr = device_memory } } }, .extent = { 2, 1, 1 },
          .srcAccessOrder = PTXI_MEMCPY_SRC_ACCESS_ORDER_ANY },
    };

    ok(ptxiMemcpy3DBatchAsync(2, ops, 0, stream));
    ok(ptxiStreamSynchronize(stream));
    ok(ptxiMemcpyDtoH(got, device_memory, 8));
    ck_assert(got[0] == 6 && got[1] == 7);
    ck_result(ptxiMemcpy3DBatchAsync(2, ops, 1, stream), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy3DBatchAsync(2, ops, 0, NULL), PTXI_ERROR_INVALID_VALUE);
    ops[0].extent.width = 5;
    ck_result(ptxiMemcpy3DBatchAsync(1, ops, 0, stream), PTXI_ERROR_INVALID_VALUE);
    ops[0].extent.width = 0;
    ck_result(ptxiMemcpy3DBatchAsync(1, ops, 0, stream), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(attributes_of_streams)
{
    ptxiLaunchAttributeValue v;
    ptxiStream second;

    ok(ptxiStreamCreateWithPriority(&second, 0, -3));
    ok(ptxiStreamGetAttribute(second, PTXI_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    ck_assert_int_eq(v.priority, -3);
    ok(ptxiStreamGetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    ck_assert_int_eq(v.syncPolicy, -1);
    v.priority = -9;
    ok(ptxiStreamSetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    ok(ptxiStreamGetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    ck_assert_int_eq(v.priority, -5);
    v.syncPolicy = PTXI_SYNC_POLICY_SPIN;
    ok(ptxiStreamSetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    v.syncPolicy = 5;
    ck_result(ptxiStreamSetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamSetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, &v), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamGetAttribute(stream, PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamGetAttribute(NULL, PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &v));
    ck_assert(!v.memSyncDomainMap.default_ && v.memSyncDomainMap.remote == 1);
    ok(ptxiStreamCopyAttributes(second, stream));
    ok(ptxiStreamGetAttribute(second, PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    ck_assert_int_eq(v.syncPolicy, PTXI_SYNC_POLICY_SPIN);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("managed memory");
    TCase *t = tcase_create("managed memory");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_add_test(t, advice_is_stored);
    tcase_add_test(t, prefetches_are_stored);
    tcase_add_test(t, bad_hints);
    tcase_add_test(t, freed_memory_leaves_no_hints);
    tcase_add_test(t, batches_of_hints);
    tcase_add_test(t, batches_of_copies);
    tcase_add_test(t, batches_of_boxes);
    tcase_add_test(t, attributes_of_streams);
    suite_add_tcase(s, t);
    return run_suite(s);
}
