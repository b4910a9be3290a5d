/* Tests streams and events without kernels, also from many threads. */
#include "unit/support/heap_check.h"
#include "unit/support/stream_log.h"

#include "api/context/context.h"

#include <pthread.h>
#include <string.h>

/* ---- streams */

START_TEST(a_stream_keeps_its_order)
{
    ptxiStream s;

    ok(ptxiStreamCreate(&s, _i & 1 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    for (int i = 0; i < 5000; i++)
        ok(ptxiLaunchHostFunc(s, log_number, NUMBER(i)));
    if (_i & 2)
        sleep_ms(5); /* let a runner begin */
    ok(ptxiStreamSynchronize(s));
    ck_assert_int_eq(log_at, 5000);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(log_of[i], i);
    ok(ptxiStreamQuery(s));
    ok(ptxiStreamDestroy(s));
}
END_TEST

START_TEST(streams_run_without_synchronization)
{
    ptxiStream s;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiLaunchHostFunc(s, log_number_late, NUMBER(7)));
    ck_result(ptxiStreamQuery(s), PTXI_ERROR_NOT_READY);
    for (int i = 0; i < 3000 && log_at == 0; i++)
        sleep_ms(1);
    ck_assert_int_eq(log_at, 1);
    while (ptxiStreamQuery(s) == PTXI_ERROR_NOT_READY)
        ;
    ok(ptxiStreamDestroy(s));
}
END_TEST

static _Atomic bool flags_of[100];

static void set_flag(void *n)
{
    flags_of[(intptr_t)n] = true;
}

static void await_flag(void *n)
{
    while (!flags_of[(intptr_t)n])
        ;
}

START_TEST(streams_run_concurrently)
{
    enum { N = 20 };
    ptxiStream s[N];

    for (int i = 0; i < N; i++)
        ok(ptxiStreamCreate(&s[i], 0));
    for (int i = 0; i < N - 1; i++) { /* each host function waits for the work of the next stream */
        ok(ptxiLaunchHostFunc(s[i], await_flag, NUMBER(i + 1)));
        ok(ptxiLaunchHostFunc(s[i], set_flag, NUMBER(i)));
    }
    ok(ptxiLaunchHostFunc(s[N - 1], set_flag, NUMBER(N - 1)));
    ok(ptxiStreamSynchronize(s[0]));
    ck_assert(flags_of[0]);
    for (int i = 0; i < N; i++)
        ok(ptxiStreamDestroy(s[i]));
}
END_TEST

START_TEST(legacy_stream_synchronises)
{
    ptxiStream a, b;

    ok(ptxiStreamCreate(&a, 0));
    ok(ptxiStreamCreate(&b, 0));
    ok(ptxiLaunchHostFunc(a, log_number_late, NUMBER(1)));
    ok(ptxiLaunchHostFunc(NULL, log_number, NUMBER(2)));   /* waits for a */
    ok(ptxiLaunchHostFunc(b, log_number, NUMBER(3)));      /* waits for the legacy stream */
    ok(ptxiLaunchHostFunc(b, log_number, NUMBER(4)));
    ok(ptxiLaunchHostFunc(PTXI_STREAM_LEGACY, log_number, NUMBER(5)));
    ok(ptxiStreamSynchronize(NULL));
    ck_assert_int_eq(log_at, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(log_of[i], i + 1);
    ok(ptxiLaunchHostFunc(b, log_number_late, NUMBER(6)));
    ck_result(ptxiStreamQuery(NULL), PTXI_ERROR_NOT_READY);
    ok(ptxiStreamSynchronize(NULL)); /* without work of its own */
    ck_assert_int_eq(log_at, 6);
}
END_TEST

START_TEST(non_blocking_streams_do_not_synchronize)
{
    ptxiStream a, b;

    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, 0));
    ok(ptxiLaunchHostFunc(a, await_flag, NUMBER(1)));
    ok(ptxiLaunchHostFunc(NULL, log_number, NUMBER(1)));
    ok(ptxiLaunchHostFunc(b, set_flag, NUMBER(1)));
    ok(ptxiStreamSynchronize(b));
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 1);
}
END_TEST

static void *use_per_thread(void *unused)
{
    (void)unused;
    if (ptxiCtxSetCurrent(ctx) || ptxiLaunchHostFunc(PTXI_STREAM_PER_THREAD, log_number_late, NUMBER(1)))
        return NUMBER(1);
    if (ptxiLaunchHostFunc(PTXI_STREAM_PER_THREAD, log_number, NUMBER(2)))
        return NUMBER(1);
    return NUMBER(ptxiStreamSynchronize(PTXI_STREAM_PER_THREAD) || log_at < 2);
}

START_TEST(per_thread_streams)
{
    pthread_t t;
    void *bad;

    ok(ptxiLaunchHostFunc(PTXI_STREAM_PER_THREAD, await_flag, NUMBER(1)));
    pthread_create(&t, NULL, use_per_thread, NULL);
    pthread_join(t, &bad);
    ck_assert_ptr_null(bad);
    ck_result(ptxiStreamQuery(PTXI_STREAM_PER_THREAD), PTXI_ERROR_NOT_READY);
    set_flag(NUMBER(1));
    ok(ptxiStreamSynchronize(PTXI_STREAM_PER_THREAD));
    ck_result(ptxiStreamDestroy(PTXI_STREAM_PER_THREAD), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_destroyed_stream_finishes_its_work)
{
    ptxiStream s;
    unsigned flags;

    ck_result(ptxiStreamCreate(&s, 7), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamGetFlags(s, &flags));
    ck_assert_uint_eq(flags, PTXI_STREAM_NON_BLOCKING);
    ok(ptxiLaunchHostFunc(s, log_number_late, NUMBER(1)));
    ok(ptxiLaunchHostFunc(s, log_number, NUMBER(2)));
    ok(ptxiStreamDestroy(s));
    ck_result(ptxiStreamDestroy(NULL), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 2);
}
END_TEST

START_TEST(priorities_are_clamped)
{
    ptxiStream s;
    int p, least, greatest;

    ok(ptxiCtxGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_gt(least, greatest);
    ok(ptxiStreamCreateWithPriority(&s, 0, -100));
    ok(ptxiStreamGetPriority(s, &p));
    ck_assert_int_eq(p, greatest);
    ok(ptxiStreamDestroy(s));
}
END_TEST

static ptxiResult from_callback[4];

static void call_api(void *unused)
{
    ptxiDevicePtr p;
    int v;

    (void)unused;
    from_callback[0] = ptxiMemAlloc(&p, 4);
    from_callback[1] = ptxiStreamQuery(NULL);
    from_callback[2] = ptxiDeviceGetCount(&v);
    from_callback[3] = ptxiDriverGetVersion(&v);
}

START_TEST(host_functions_may_not_call_the_api)
{
    ck_result(ptxiLaunchHostFunc(NULL, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiLaunchHostFunc(NULL, call_api, NULL));
    ok(ptxiCtxSynchronize());
    ck_result(from_callback[0], PTXI_ERROR_NOT_PERMITTED);
    ck_result(from_callback[1], PTXI_ERROR_NOT_PERMITTED);
    ck_result(from_callback[2], PTXI_ERROR_NOT_PERMITTED);
    ok(from_callback[3]);
}
END_TEST

START_TEST(async_copies_follow_their_stream)
{
    enum { N = 1 << 20 };
    ptxiStream s;
    ptxiDevicePtr p;
    unsigned char *pinned, *plain = malloc(N), small[100];

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiMemAlloc(&p, N));
    ok(ptxiMemAllocHost((void **)&pinned, N));
    memset(pinned, 1, N);
    ok(ptxiLaunchHostFunc(s, await_flag, NUMBER(1)));
    ok(ptxiMemcpyHtoDAsync(p, pinned, N, s));
    memset(small, 2, sizeof small);
    ok(ptxiMemcpyHtoDAsync(p + 10, small, sizeof small, s)); /* pageable: the source may change at once */
    memset(small, 3, sizeof small);
    ck_result(ptxiStreamQuery(s), PTXI_ERROR_NOT_READY);
    ck_assert_int_ne(*(unsigned char *)(uintptr_t)p, 1);
    set_flag(NUMBER(1));
    ok(ptxiMemcpyDtoHAsync(plain, p, N, s)); /* pageable: done on return */
    ck_assert_int_eq(plain[0], 1);
    ck_assert_int_eq(plain[10], 2);
    ck_assert_int_eq(plain[109], 2);
    ck_assert_int_eq(plain[110], 1);
    ck_assert_int_eq(plain[N - 1], 1);
    ok(ptxiMemsetD8Async(p, 9, N, s));
    ok(ptxiMemcpyAsync((uintptr_t)pinned, p, N, s));
    ok(ptxiStreamSynchronize(s));
    ck_assert_int_eq(pinned[N - 1], 9);
    free(plain);
}
END_TEST

/* ---- events */

START_TEST(events_mark_positions)
{
    ptxiStream s;
    ptxiEvent a, b, untimed;
    float ms;

    ck_result(ptxiEventCreate(&a, 8), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiEventCreate(&a, PTXI_EVENT_INTERPROCESS), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&a, 0));
    ok(ptxiEventCreate(&b, 0));
    ok(ptxiEventCreate(&untimed, PTXI_EVENT_DISABLE_TIMING));
    ok(ptxiEventQuery(a));
    ok(ptxiEventSynchronize(a));
    ck_result(ptxiEventElapsedTime(&ms, a, b), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventRecord(a, s));
    ok(ptxiLaunchHostFunc(s, log_number_late, NUMBER(1)));
    ok(ptxiEventRecord(b, s));
    ok(ptxiEventRecord(untimed, s));
    ok(ptxiEventQuery(a));
    ck_result(ptxiEventQuery(b), PTXI_ERROR_NOT_READY);
    ck_result(ptxiEventElapsedTime(&ms, a, b), PTXI_ERROR_NOT_READY);
    ok(ptxiEventSynchronize(untimed));
    ck_assert_int_eq(log_at, 1);
    ok(ptxiEventElapsedTime(&ms, a, b));
    ck_assert(ms >= 29 && ms < 3000);
    ok(ptxiEventElapsedTime(&ms, b, a));
    ck_assert(ms <= -29);
    ck_result(ptxiEventElapsedTime(&ms, a, untimed), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiEventRecord(NULL, s), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiEventQuery(NULL), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventDestroy(a));
    ck_result(ptxiEventDestroy(NULL), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_legacy_event_waits_for_blocking_streams)
{
    ptxiStream s;
    ptxiEvent e;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&e, 0));
    ok(ptxiLaunchHostFunc(s, log_number_late, NUMBER(1)));
    ok(ptxiEventRecord(e, NULL));
    ck_result(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
    ok(ptxiEventSynchronize(e));
    ck_assert_int_eq(log_at, 1);
}
END_TEST

START_TEST(streams_wait_for_events)
{
    ptxiStream a, b;
    ptxiEvent e;

    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiEventCreate(&e, PTXI_EVENT_DISABLE_TIMING));
    ok(ptxiStreamWaitEvent(b, e, 0)); /* never recorded: no effect */
    for (int i = 0; i < 100; i++) {
        ok(ptxiLaunchHostFunc(a, i % 25 ? log_number : log_number_late, NUMBER(2 * i)));
        ok(ptxiEventRecord(e, a));
        ok(ptxiStreamWaitEvent(b, e, 0));
        ok(ptxiLaunchHostFunc(b, log_number, NUMBER(2 * i + 1)));
        ok(ptxiEventRecord(e, b));
        ok(ptxiStreamWaitEvent(a, e, 0));
    }
    ok(ptxiEventDestroy(e));
    ck_result(ptxiStreamWaitEvent(b, NULL, 0), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiStreamSynchronize(b));
    ck_assert_int_eq(log_at, 200);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(log_of[i], i);
}
END_TEST

static void *synchronise(void *s)
{
    ptxiResult r = ptxiCtxSetCurrent(ctx);

    return (void *)(uintptr_t)(r ? r : ptxiStreamSynchronize(s));
}

/* Each stream waits for the one before. The thread that waits for the last stream has a small stack. The time must
 * grow linearly with the number of streams. */
START_TEST(long_chains_of_streams)
{
    enum { N = 30000, STACK = 1 << 16 };
    static ptxiStream s[N];
    pthread_attr_t attr;
    pthread_t t;
    ptxiEvent e;
    void *result;

    ok(ptxiEventCreate(&e, PTXI_EVENT_DISABLE_TIMING));
    for (int i = 0; i < N; i++) {
        ok(ptxiStreamCreate(&s[i], PTXI_STREAM_NON_BLOCKING));
        if (i)
            ok(ptxiStreamWaitEvent(s[i], e, 0));
        ok(ptxiLaunchHostFunc(s[i], i ? log_number : await_flag, NUMBER(i)));
        ok(ptxiEventRecord(e, s[i]));
    }
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    ck_assert_int_eq(pthread_create(&t, &attr, synchronise, s[N - 1]), 0);
    sleep_ms(20);
    set_flag(NUMBER(0));
    ck_assert_int_eq(pthread_join(t, &result), 0);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(log_at, N - 1);
    for (int i = 0; i < N - 1; i++)
        ck_assert_int_eq(log_of[i], i + 1);
}
END_TEST

static _Atomic int logged_before;

/* Counts the calls for which the number is in the log already. */
static void count_if_logged(void *n)
{
    logged_before += log_at > (int)(intptr_t)n;
}

/* Streams wait for the items of another stream, the latest item first. Then one stream waits for all of them. */
START_TEST(many_streams_wait_for_one)
{
    enum { N = 10000 };
    static ptxiStream s[N];
    static ptxiEvent e[N];
    ptxiStream one, last;

    ok(ptxiStreamCreate(&one, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&last, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiLaunchHostFunc(one, await_flag, NULL));
    for (int i = 0; i < N; i++) {
        ok(ptxiEventCreate(&e[i], PTXI_EVENT_DISABLE_TIMING));
        ok(ptxiLaunchHostFunc(one, log_number, NUMBER(i)));
        ok(ptxiEventRecord(e[i], one));
    }
    for (int i = N; i--;) {
        ok(ptxiStreamCreate(&s[i], PTXI_STREAM_NON_BLOCKING));
        ok(ptxiStreamWaitEvent(s[i], e[i], 0));
        ok(ptxiLaunchHostFunc(s[i], count_if_logged, NUMBER(i)));
        ok(ptxiEventRecord(e[i], s[i]));
        ok(ptxiStreamWaitEvent(last, e[i], 0));
    }
    set_flag(NULL);
    ok(ptxiStreamSynchronize(last));
    ck_assert_int_eq(log_at, N);
    ck_assert_int_eq(logged_before, N);
    for (int i = 0; i < N; i++) {
        ok(ptxiStreamDestroy(s[i]));
        ok(ptxiEventDestroy(e[i]));
    }
}
END_TEST

START_TEST(contexts_wait_for_each_others_events)
{
    ptxiContext other;
    ptxiStream a, b;
    ptxiEvent e;

    ok(ptxiStreamCreate(&a, 0));
    ok(ptxiEventCreate(&e, 0));
    ok(ptxiLaunchHostFunc(a, log_number_late, NUMBER(1)));
    ok(ptxiEventRecord(e, a));
    ok(ptxiCtxCreate(&other, 0, 0));
    ok(ptxiStreamCreate(&b, 0));
    ck_result(ptxiEventRecord(e, b), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiStreamWaitEvent(b, e, 0));
    ok(ptxiLaunchHostFunc(b, log_number, NUMBER(2)));
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 2);
    ck_assert_int_eq(log_of[0], 1);
    ok(ptxiLaunchHostFunc(a, log_number, NUMBER(3))); /* in a stream of the context that is not current */
    ok(ptxiStreamSynchronize(a));
    ck_assert_int_eq(log_of[2], 3);
    ok(ptxiCtxDestroy(other));
}
END_TEST

/* ---- many threads */

static void add_one(void *p)
{
    ++*(_Atomic int *)p;
}

static void *stress(void *seed)
{
    uint64_t x = 1234567 + (uintptr_t)seed;
    ptxiStream s[3];
    ptxiEvent e;
    static _Atomic int sum;
    int before = sum, mine = 0;
    unsigned char data[512], back[512];
    ptxiDevicePtr p = 0;

    if (ptxiCtxSetCurrent(ctx) || ptxiEventCreate(&e, 0))
        return NUMBER(1);
    for (int i = 0; i < 3; i++)
        if (ptxiStreamCreate(&s[i], i == 2))
            return NUMBER(1);
    for (int i = 0; i < 2000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        ptxiStream t = s[x % 3];
        ptxiResult r = PTXI_SUCCESS;

        switch (x / 3 % 8) {
        case 0: case 1: r = ptxiLaunchHostFunc(x & 64 ? t : NULL, add_one, &sum); mine++; break;
        case 2: r = ptxiEventRecord(e, t); break;
        case 3: r = ptxiStreamWaitEvent(t, e, 0); break;
        case 4: r = ptxiEventSynchronize(e); break;
        case 5: r = ptxiStreamSynchronize(t); break;
        case 6:
            memset(data, (int)x, sizeof data);
            r = ptxiMemAlloc(&p, sizeof data);
            r = r ? r : ptxiMemcpyHtoDAsync(p, data, sizeof data, t);
            r = r ? r : ptxiMemcpyDtoHAsync(back, p, sizeof data, t);
            r = r ? r : ptxiMemFree(p);
            if (memcmp(data, back, sizeof data))
                return NUMBER(2);
            break;
        case 7: r = ptxiMemsetD8(p = 0, 0, 0); break;
        }
        if (r)
            return NUMBER(100 + (int)r);
    }
    for (int i = 0; i < 3; i++)
        if (ptxiStreamDestroy(s[i]))
            return NUMBER(3);
    if (ptxiEventDestroy(e) || ptxiCtxSynchronize())
        return NUMBER(4);
    return sum - before >= mine ? NULL : NUMBER(5);
}

START_TEST(many_threads)
{
    pthread_t t[6];

    for (int i = 0; i < 6; i++)
        pthread_create(&t[i], NULL, stress, NUMBER(i));
    for (int i = 0; i < 6; i++) {
        void *bad;

        pthread_join(t[i], &bad);
        ck_assert_int_eq((int)(intptr_t)bad, 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stream");
    TCase *t = tcase_create("stream");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_stream_keeps_its_order, 0, 4);
    tcase_add_test(t, streams_run_without_synchronization);
    tcase_add_test(t, streams_run_concurrently);
    tcase_add_test(t, legacy_stream_synchronises);
    tcase_add_test(t, non_blocking_streams_do_not_synchronize);
    tcase_add_test(t, per_thread_streams);
    tcase_add_test(t, a_destroyed_stream_finishes_its_work);
    tcase_add_test(t, priorities_are_clamped);
    tcase_add_test(t, host_functions_may_not_call_the_api);
    tcase_add_test(t, async_copies_follow_their_stream);
    tcase_add_test(t, events_mark_positions);
    tcase_add_test(t, a_legacy_event_waits_for_blocking_streams);
    tcase_add_test(t, streams_wait_for_events);
    tcase_add_test(t, long_chains_of_streams);
    tcase_add_test(t, many_streams_wait_for_one);
    tcase_add_test(t, contexts_wait_for_each_others_events);
    tcase_add_test(t, many_threads);
    suite_add_tcase(s, t);
    return run_suite(s);
}
