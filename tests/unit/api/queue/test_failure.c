/* Tests failures of queued items: which call returns them, and which work is dropped. */
#include "unit/support/heap_check.h"
#include "unit/support/stream_log.h"

#include "api/context/context.h"

static ptxiResult run_failing(void *payload, struct ptxi_failure **failure)
{
    ptxiReport r = { .result = PTXI_ERROR_ILLEGAL_ADDRESS, .fault = PTXI_FAULT_NULL, .text = "it failed",
                     .address = 4 };

    r.kernel = *(const char **)payload;
    *failure = ptxi_failure_create(&r);
    return r.result;
}

static _Atomic int released;

static void count_release(void *payload)
{
    (void)payload;
    released++;
}

static void submit_failing(ptxiStream s, const char *kernel)
{
    struct ptxi_item *item = ptxi_item_create(sizeof kernel, run_failing, count_release);

    *(const char **)ptxi_item_payload(item) = kernel;
    ok(ptxi_queue_submit(s, item, PTXI_SUBMIT_ASYNC, NULL));
}

START_TEST(a_failure_is_returned_once)
{
    ptxiStream s, other;
    ptxiReport r = { .size = sizeof r };

    ck_result(ptxiGetLastReport(NULL, &r), PTXI_ERROR_NOT_FOUND);
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiStreamCreate(&other, PTXI_STREAM_NON_BLOCKING));
    submit_failing(s, "k1");
    ok(ptxiLaunchHostFunc(s, log_number, NUMBER(1))); /* dropped */
    ok(ptxiLaunchHostFunc(other, log_number, NUMBER(2)));
    ok(ptxiStreamSynchronize(other));
    sleep_ms(_i ? 20 : 0);
    ok(ptxiLaunchHostFunc(s, log_number, NUMBER(3))); /* dropped, too, because the failure was not returned yet */
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiStreamSynchronize(s));
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 1);
    ck_assert_int_eq(log_of[0], 2);
    ck_assert_int_eq(released, 1);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, PTXI_FAULT_NULL);
    ck_assert_str_eq(r.kernel, "k1");
    ck_assert_str_eq(r.text, "it failed");
    ck_assert_uint_eq(r.address, 4);
    ck_assert_ptr_null(r.function);
    ok(ptxiLaunchHostFunc(s, log_number, NUMBER(4))); /* the stream is usable again */
    ok(ptxiStreamSynchronize(s));
    ck_assert_int_eq(log_at, 2);
    ck_result(ptxiGetLastReport(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    r.size = 4;
    ck_result(ptxiGetLastReport(NULL, &r), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(the_synchronizing_call_gets_the_failure)
{
    ptxiStream s;
    ptxiEvent before, logged_before;
    ptxiDevicePtr p;
    int v;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&before, 0));
    ok(ptxiEventCreate(&logged_before, 0));
    ok(ptxiMemAlloc(&p, 4));
    ok(ptxiEventRecord(before, s));
    submit_failing(s, "k");
    ok(ptxiEventRecord(logged_before, s));
    ok(ptxiLaunchHostFunc(s, log_number, NUMBER(1)));
    ok(ptxiEventSynchronize(before));
    switch (_i) {
    case 0: ck_result(ptxiEventSynchronize(logged_before), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 1: ck_result(ptxiStreamSynchronize(NULL), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 2: ck_result(ptxiMemcpyDtoH(&v, p, 4), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 3: ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 4:
        ok(ptxiStreamDestroy(s));
        ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
        break;
    case 5: {
        ptxiResult r;

        while ((r = ptxiStreamQuery(s)) == PTXI_ERROR_NOT_READY)
            ;
        ck_result(r, PTXI_ERROR_ILLEGAL_ADDRESS);
        break;
    }
    }
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 0); /* work after the failure stays dropped */
}
END_TEST

START_TEST(failures_come_in_their_order)
{
    ptxiStream a, b;
    ptxiReport r = { .size = sizeof r };

    ok(ptxiStreamCreate(&a, 0));
    ok(ptxiStreamCreate(&b, 0));
    submit_failing(a, "first");
    while (!released)
        ;
    sleep_ms(5);
    submit_failing(b, "second");
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_str_eq(r.kernel, "first");
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(ctx, &r));
    ck_assert_str_eq(r.kernel, "second");
    ok(ptxiCtxSynchronize());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("failure");
    TCase *t = tcase_create("failure");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_failure_is_returned_once, 0, 2);
    tcase_add_loop_test(t, the_synchronizing_call_gets_the_failure, 0, 6);
    tcase_add_test(t, failures_come_in_their_order);
    suite_add_tcase(s, t);
    return run_suite(s);
}
