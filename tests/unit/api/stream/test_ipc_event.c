/* Tests events that two processes record and wait for. */
#include "unit/support/peer.h"

#include <pthread.h>
#include <time.h>

enum { SHARED = PTXI_EVENT_INTERPROCESS | PTXI_EVENT_DISABLE_TIMING };

static struct peer peer;
static ptxiStream stream;
static ptxiDevicePtr flag;
static unsigned files_before;

static void set_up(void)
{
    open_context();
    files_before = count_files();
    peer = start_peer();
    ok(ptxiStreamCreate(&stream, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiMemAlloc(&flag, 4));
}

static void tear_down(void)
{
    if (peer.process)
        stop_peer(&peer);
    close_context();
}

/* The stream waits until resume(). */
static void stall(void)
{
    ok(ptxiMemsetD32(flag, 0, 1));
    ok(ptxiStreamWaitValue32(stream, flag, 1, PTXI_STREAM_WAIT_VALUE_EQ));
}

static void resume(void)
{
    ok(ptxiMemsetD32(flag, 1, 1));
}

static ptxiEvent make_event(ptxiIpcEventHandle *handle)
{
    ptxiEvent e;

    ok(ptxiEventCreate(&e, SHARED));
    ok(ptxiIpcGetEventHandle(handle, e));
    return e;
}

/* An event that this process has made and the peer has opened. */
static ptxiEvent share_event(void)
{
    ptxiIpcEventHandle handle;
    ptxiEvent e = make_event(&handle);

    demand(&peer, PEER_OPEN_EVENT, 0, &handle);
    return e;
}

static ptxiResult open_event(ptxiEvent *e, const void *data)
{
    ptxiIpcEventHandle handle;

    memcpy(&handle, data, sizeof handle);
    return ptxiIpcOpenEventHandle(e, handle);
}

/* An event that the peer has made and this process has opened. */
static ptxiEvent borrow_event(void)
{
    struct peer_message m = ask(&peer, PEER_MAKE_EVENT, 0, NULL);
    ptxiEvent e;

    ok(m.result);
    ok(open_event(&e, m.data));
    return e;
}

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* ---- use */

START_TEST(the_other_process_waits)
{
    ptxiEvent e = share_event();
    bool by_stream = _i;
    ptxiDevicePtr word = demand(&peer, PEER_ALLOCATE, 4, NULL);

    demand(&peer, PEER_QUERY, 0, NULL); /* never recorded */
    demand(&peer, PEER_SYNCHRONIZE, 0, NULL);
    stall();
    ok(ptxiEventRecord(e, stream));
    ck_assert_int_eq(ask(&peer, PEER_QUERY, 0, NULL).result, PTXI_ERROR_NOT_READY);
    ck_result(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
    if (by_stream) {
        demand(&peer, PEER_STREAM_WAIT, word, NULL);
        wait_ms(30);
        ck_assert_uint_eq(demand(&peer, PEER_LOAD, word, NULL), 0);
    }
    send_to(&peer, by_stream ? PEER_FINISH : PEER_SYNCHRONIZE, 0, NULL);
    char byte;

    wait_ms(30);
    ck_assert_int_lt(recv(peer.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT), 0); /* it waits */
    resume();
    ok(answer_of(&peer).result);
    ok(ptxiEventSynchronize(e));
    demand(&peer, PEER_QUERY, 0, NULL);
    if (by_stream)
        ck_assert_uint_eq(demand(&peer, PEER_LOAD, word, NULL), 1);
}
END_TEST

START_TEST(this_process_waits)
{
    ptxiEvent e = borrow_event();
    ptxiDevicePtr word;

    ok(ptxiEventQuery(e));
    ok(ptxiMemAlloc(&word, 4));
    demand(&peer, PEER_STALL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    ck_result(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
    ok(ptxiStreamWaitEvent(stream, e, 0));
    ok(ptxiMemsetD32Async(word, 8, 1, stream));
    wait_ms(30);
    ck_result(ptxiStreamQuery(stream), PTXI_ERROR_NOT_READY);
    ck_assert_uint_eq(*(unsigned *)(uintptr_t)word, 0);
    demand(&peer, PEER_RESUME, 0, NULL);
    ok(ptxiEventSynchronize(e));
    ok(ptxiStreamSynchronize(stream));
    ck_assert_uint_eq(*(unsigned *)(uintptr_t)word, 8);
}
END_TEST

/* The latest record counts, whichever process has made it. A wait is for the latest record at that time. */
START_TEST(the_latest_record_counts)
{
    ptxiEvent e = share_event();

    demand(&peer, PEER_STALL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    ck_result(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
    ok(ptxiStreamWaitEvent(stream, e, 0));
    ok(ptxiEventRecord(e, PTXI_STREAM_PER_THREAD));
    ok(ptxiEventSynchronize(e));
    demand(&peer, PEER_QUERY, 0, NULL);
    wait_ms(30);
    ck_result(ptxiStreamQuery(stream), PTXI_ERROR_NOT_READY);
    demand(&peer, PEER_RESUME, 0, NULL);
    ok(ptxiStreamSynchronize(stream));
    demand(&peer, PEER_FINISH, 0, NULL);
    for (int i = 0; i < 1000; i++) {
        demand(&peer, PEER_RECORD, 0, NULL);
        ok(ptxiEventSynchronize(e));
        ok(ptxiEventRecord(e, stream));
        demand(&peer, PEER_SYNCHRONIZE, 0, NULL);
    }
}
END_TEST

/* Two processes add to a word in turns. Only events order their kernels. */
START_TEST(turns)
{
    enum { TURNS = 200 };
    ptxiEvent e = share_event();
    ptxiIpcMemHandle handle;
    ptxiDevicePtr p;
    ptxiModule module;
    ptxiFunction kernel;
    void *params[] = { &p };

    ok(ptxiMemAlloc(&p, 4));
    ok(ptxiModuleLoadData(&module, peer_text));
    ok(ptxiModuleGetFunction(&kernel, module, "k"));
    ok(ptxiIpcGetMemHandle(&handle, p));
    ptxiDevicePtr q = demand(&peer, PEER_OPEN_MEMORY, 0, &handle);

    for (int i = 0; i < TURNS; i++) {
        ok(ptxiStreamWaitEvent(stream, e, 0));
        ok(ptxiLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
        ok(ptxiEventRecord(e, stream));
        demand(&peer, PEER_STREAM_WAIT, q, NULL);
        demand(&peer, PEER_RECORD, 0, NULL);
    }
    ok(ptxiEventSynchronize(e));
    ck_assert_uint_eq(*(unsigned *)(uintptr_t)p, 2 * TURNS);
}
END_TEST

/* A wait for a record is not for a later one, and the number of pending records is limited. */
START_TEST(many_pending_records)
{
    ptxiEvent e = share_event();
    unsigned pending = 1;
    ptxiDevicePtr word = demand(&peer, PEER_ALLOCATE, 4, NULL);
    ptxiResult r;

    stall();
    ok(ptxiEventRecord(e, stream));
    demand(&peer, PEER_STREAM_WAIT, word, NULL);
    while (!(r = ptxiEventRecord(e, stream)))
        pending++;
    ck_result(r, PTXI_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(pending, 16384);
    ck_assert_int_eq(ask(&peer, PEER_QUERY, 0, NULL).result, PTXI_ERROR_NOT_READY);
    wait_ms(30);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, word, NULL), 0);
    resume();
    demand(&peer, PEER_FINISH, 0, NULL);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, word, NULL), 1);
    ok(ptxiStreamSynchronize(stream));
    ok(ptxiEventRecord(e, stream));
    demand(&peer, PEER_SYNCHRONIZE, 0, NULL);
}
END_TEST

/* The peer is killed with as many records as there can be. */
START_TEST(pending_records_of_a_killed_process)
{
    ptxiEvent e = share_event();
    struct peer_message m;

    demand(&peer, PEER_STALL, 0, NULL);
    while (!(m = ask(&peer, PEER_RECORD, 0, NULL)).result)
        ;
    ck_assert_int_eq(m.result, PTXI_ERROR_OUT_OF_MEMORY);
    ck_result(ptxiEventRecord(e, stream), PTXI_ERROR_OUT_OF_MEMORY);
    kill_peer(&peer);
    for (int i = 0; i < 20000; i++) {
        ok(ptxiEventRecord(e, stream));
        ok(ptxiEventSynchronize(e));
    }
}
END_TEST

START_TEST(records_of_streams_that_fail)
{
    ptxiEvent e = borrow_event();

    demand(&peer, PEER_FAIL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    ok(ptxiEventSynchronize(e));
    ck_assert_int_eq(ask(&peer, PEER_FINISH, 0, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(events_outlive_their_owner)
{
    struct peer_message m = ask(&peer, PEER_MAKE_EVENT, 0, NULL);
    ptxiEvent e, other;

    ok(open_event(&e, m.data));
    kill_peer(&peer);
    ok(ptxiEventQuery(e));
    stall();
    ok(ptxiEventRecord(e, stream));
    ck_result(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
    resume();
    ok(ptxiEventSynchronize(e));
    ck_result(open_event(&other, m.data), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventDestroy(e));
    ck_assert_uint_eq(count_files(), files_before);
}
END_TEST

/* ---- waits that cannot end otherwise */

START_TEST(the_recording_process_is_killed)
{
    ptxiEvent e = borrow_event();

    demand(&peer, PEER_STALL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    ok(ptxiStreamWaitEvent(stream, e, 0));
    wait_ms(20);
    ck_assert_int_eq(kill(peer.process, SIGKILL), 0); /* not waited for: it remains as a zombie */
    ck_result(ptxiStreamSynchronize(stream), PTXI_ERROR_LAUNCH_FAILED);
    ck_result(ptxiEventSynchronize(e), PTXI_ERROR_LAUNCH_FAILED);
    ck_result(ptxiEventQuery(e), PTXI_ERROR_LAUNCH_FAILED);
    kill_peer(&peer);
    ok(ptxiEventRecord(e, stream));
    ok(ptxiEventSynchronize(e));
}
END_TEST

static void *interrupt(void *unused)
{
    (void)unused;
    wait_ms(50);
    ok(ptxiCtxInterrupt(ctx));
    return NULL;
}

START_TEST(interrupted_waits)
{
    ptxiEvent e = borrow_event();
    pthread_t thread;

    demand(&peer, PEER_STALL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    if (_i)
        ok(ptxiStreamWaitEvent(stream, e, 0));
    ok(pthread_create(&thread, NULL, interrupt, NULL));
    ck_result(_i ? ptxiStreamSynchronize(stream) : ptxiEventSynchronize(e), PTXI_ERROR_LAUNCH_TIMEOUT);
    ok(pthread_join(thread, NULL));
    demand(&peer, PEER_RESUME, 0, NULL);
    ok(ptxiEventSynchronize(e));
}
END_TEST

START_TEST(destroyed_contexts)
{
    ptxiEvent e = borrow_event();

    demand(&peer, PEER_STALL, 0, NULL);
    demand(&peer, PEER_RECORD, 0, NULL);
    ok(ptxiStreamWaitEvent(stream, e, 0));
    if (_i)
        ok(ptxiEventDestroy(e));
    close_context(); /* does not wait for the peer */
    open_context();
}
END_TEST

/* ---- invalid arguments */

START_TEST(events_without_handles)
{
    ptxiIpcEventHandle handle, zeros = { { 0 } };
    ptxiEvent plain, e, other = borrow_event();

    ok(ptxiEventCreate(&plain, PTXI_EVENT_DISABLE_TIMING));
    ck_result(ptxiIpcGetEventHandle(&handle, plain), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiIpcGetEventHandle(&handle, NULL), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiIpcGetEventHandle(&handle, other), PTXI_ERROR_INVALID_CONTEXT);
    e = make_event(&handle);
    ck_result(ptxiIpcGetEventHandle(NULL, e), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcOpenEventHandle(&other, handle), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiIpcOpenEventHandle(&other, zeros), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcOpenEventHandle(NULL, handle), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiEventDestroy(e));
    ck_assert_int_eq(ask(&peer, PEER_OPEN_EVENT, 0, &handle).result, PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiEventCreate(&e, PTXI_EVENT_INTERPROCESS), PTXI_ERROR_INVALID_VALUE);
    float ms;

    ok(ptxiEventCreate(&e, SHARED));
    ck_result(ptxiEventElapsedTime(&ms, e, e), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(changed_handles)
{
    struct peer_message m = ask(&peer, PEER_MAKE_EVENT, 0, NULL);
    ptxiIpcEventHandle h;
    ptxiEvent e;
    unsigned files = count_files();

    for (unsigned i = 0; i < 20512; i++) {
        memcpy(&h, m.data, sizeof h);
        if (i < 512)
            h.reserved[i / 8] ^= (char)(1 << i % 8);
        for (size_t k = 0; i >= 512 && k < sizeof h; k++)
            h.reserved[k] = i & 1 || random64() % 16 == 0 ? (char)random64() : h.reserved[k];
        if (memcmp(&h, m.data, sizeof h))
            ck_assert_int_ne(open_event(&e, &h), PTXI_SUCCESS);
    }
    ck_assert_uint_eq(count_shared_mappings(), 0);
    ck_assert_uint_eq(count_files(), files);
    ok(open_event(&e, m.data));
}
END_TEST

/* A handle of one kind is not one of another. */
START_TEST(mixed_handles)
{
    struct peer_message event = ask(&peer, PEER_MAKE_EVENT, 0, NULL);
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, 4, NULL), p;
    struct peer_message memory = ask(&peer, PEER_NAME_MEMORY, q, NULL);
    ptxiIpcMemHandle h;
    ptxiEvent e;

    memcpy(&h, event.data, sizeof h);
    ck_result(open_event(&e, memory.data), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcOpenMemHandle(&p, h, 1), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, the_other_process_waits, 0, 2);
    tcase_add_test(t, this_process_waits);
    tcase_add_test(t, the_latest_record_counts);
    tcase_add_test(t, turns);
    tcase_add_test(t, many_pending_records);
    tcase_add_test(t, pending_records_of_a_killed_process);
    tcase_add_test(t, records_of_streams_that_fail);
    tcase_add_test(t, events_outlive_their_owner);
    tcase_add_test(t, the_recording_process_is_killed);
    tcase_add_loop_test(t, interrupted_waits, 0, 2);
    tcase_add_loop_test(t, destroyed_contexts, 0, 2);
    tcase_add_test(t, events_without_handles);
    tcase_add_test(t, changed_handles);
    tcase_add_test(t, mixed_handles);
}

int main(int argc, char **argv)
{
    return run_tests_with_peer(argc, argv, "events of other processes", add_tests);
}
