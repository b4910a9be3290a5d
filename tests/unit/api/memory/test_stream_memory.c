/* Tests operations of streams on words of memory: waits and writes. */
#include "unit/support/heap_check.h"
#include "unit/support/stream_log.h"

#include <stdatomic.h>
#include <string.h>

static void write_word(void *p)
{
    sleep_ms(20);
    atomic_store((_Atomic uint32_t *)p, 5);
}

START_TEST(streams_wait_for_memory_words)
{
    static const struct { unsigned flags; uint64_t other_value, matching; } words[] = {
        { PTXI_STREAM_WAIT_VALUE_GEQ, 99, 100 }, { PTXI_STREAM_WAIT_VALUE_EQ, 101, 100 }, { PTXI_STREAM_WAIT_VALUE_AND,
                3, 6 },
        { PTXI_STREAM_WAIT_VALUE_NOR, ~(uint64_t)100, 100 }, { PTXI_STREAM_WAIT_VALUE_GEQ, 100 + (1ull << 31), 101 },
    };
    bool wide = _i & 1;
    uint64_t *p, value = 100;
    ptxiStream a, b;

    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemHostAlloc((void **)&p, 16, 0));
    *p = words[_i / 2].other_value;
    if (wide && _i / 2 == 4)
        *p = 100 + (1ull << 63);
    if (!wide && _i / 2 == 2)
        value = 100ull | 1ull << 33;
    ok(wide ? ptxiStreamWaitValue64(a, (uintptr_t)p, value, words[_i / 2].flags)
       : ptxiStreamWaitValue32(a, (uintptr_t)p, (uint32_t)value, words[_i / 2].flags));
    ok(ptxiLaunchHostFunc(a, log_number, NUMBER(1)));
    sleep_ms(5);
    ck_result(ptxiStreamQuery(a), PTXI_ERROR_NOT_READY);
    ok(wide ? ptxiStreamWriteValue64(b, (uintptr_t)p, words[_i / 2].matching, 0)
            : ptxiStreamWriteValue32(b, (uintptr_t)p, (uint32_t)words[_i / 2].matching, 0));
    ok(ptxiStreamSynchronize(a));
    ck_assert_int_eq(log_at, 1);
    ck_assert_uint_eq((uint32_t)*p, words[_i / 2].matching);
    ok(ptxiMemFreeHost(p));
}
END_TEST

START_TEST(word_operations_in_a_batch)
{
    uint32_t *p;
    ptxiStreamBatchMemOpParams o[4] = {
        { .operation = PTXI_STREAM_MEM_OP_WRITE_VALUE_64, .value64 = 7ull << 32 | 1 },
        { .operation = PTXI_STREAM_MEM_OP_BARRIER },
        { .operation = PTXI_STREAM_MEM_OP_WAIT_VALUE_32, .value64 = 5, .flags = PTXI_STREAM_WAIT_VALUE_EQ },
        { .operation = PTXI_STREAM_MEM_OP_WRITE_VALUE_32, .value64 = 9 },
    };
    ptxiStream s;

    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemHostAlloc((void **)&p, 16, 0));
    memset(p, 0, 16);
    o[0].address = (uintptr_t)p;
    o[2].address = (uintptr_t)(p + 2);
    o[3].address = (uintptr_t)(p + 3);
    ok(ptxiLaunchHostFunc(s, write_word, p + 2));
    ok(ptxiStreamBatchMemOp(s, 4, o, 0));
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(p[0], 1);
    ck_assert_uint_eq(p[1], 7);
    ck_assert_uint_eq(p[3], 9);
    ck_result(ptxiStreamWriteValue64(s, (uintptr_t)(p + 1), 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamWriteValue64(s, (uintptr_t)(p + 4), 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamWaitValue32(s, (uintptr_t)&s, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFreeHost(p));
}
END_TEST

START_TEST(interrupts_end_waits)
{
    ptxiDevicePtr p;
    ptxiStream s;

    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemAlloc(&p, 16));
    ok(ptxiMemsetD32(p, 0, 4));
    ok(ptxiStreamWaitValue32(s, p, 1, PTXI_STREAM_WAIT_VALUE_EQ));
    sleep_ms(10);
    ok(ptxiCtxInterrupt(NULL));
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_LAUNCH_TIMEOUT);
    ok(ptxiMemFree(p));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stream memory");
    TCase *t = tcase_create("stream memory");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, streams_wait_for_memory_words, 0, 10);
    tcase_add_test(t, word_operations_in_a_batch);
    tcase_add_test(t, interrupts_end_waits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
