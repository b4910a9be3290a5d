/* Tests allocations that two processes use. */
#include "unit/support/peer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { LARGE = 5 << 20, SMALL = 1000 };

static struct peer peer;
static unsigned files_before;

static void set_up(void)
{
    open_context();
    files_before = count_files();
    peer = start_peer();
}

static void tear_down(void)
{
    if (peer.process)
        stop_peer(&peer);
    close_context();
}

static ptxiDevicePtr allocate(size_t bytes)
{
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, bytes));
    return p;
}

static ptxiIpcMemHandle name(ptxiDevicePtr p)
{
    ptxiIpcMemHandle handle;

    ok(ptxiIpcGetMemHandle(&handle, p));
    return handle;
}

static ptxiResult open_handle(ptxiDevicePtr *p, const void *handle)
{
    ptxiIpcMemHandle h;

    memcpy(&h, handle, sizeof h);
    return ptxiIpcOpenMemHandle(p, h, PTXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static void store(ptxiDevicePtr p, unsigned word)
{
    ok(ptxiMemsetD32(p, word, 1));
}

static unsigned load(ptxiDevicePtr p)
{
    unsigned word;

    ok(ptxiMemcpyDtoH(&word, p, sizeof word));
    return word;
}

static void check_words(ptxiDevicePtr p, size_t bytes, unsigned word)
{
    const unsigned *w = (const unsigned *)(uintptr_t)p;

    for (size_t i = 0; i < bytes / 4; i++)
        ck_assert_uint_eq(w[i], word);
}

/* ---- use */

START_TEST(both_processes_use_the_memory)
{
    const size_t bytes = _i ? SMALL : LARGE;
    ptxiDevicePtr before = allocate(SMALL), p = allocate(bytes), after = allocate(SMALL);
    const uint64_t last = bytes / 4 * 4 - 4;

    ok(ptxiMemsetD32(before, 1, SMALL / 4));
    ok(ptxiMemsetD32(p, 2, bytes / 4));
    ok(ptxiMemsetD32(after, 3, SMALL / 4));
    ptxiIpcMemHandle handle = name(p + 8), same = name(p);

    ck_assert_mem_eq(&handle, &same, sizeof handle);
    check_words(before, SMALL, 1);
    check_words(p, bytes, 2);
    check_words(after, SMALL, 3);
    ptxiDevicePtr q = demand(&peer, PEER_OPEN_MEMORY, 0, &handle);

    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q, NULL), 2);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q + last, NULL), 2);
    demand(&peer, PEER_INCREMENT, q + last, NULL);
    ck_assert_uint_eq(load(p + last), 3);
    store(p, 77);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q, NULL), 77);
    ck_assert_int_eq(ask(&peer, PEER_LOAD, q + bytes, NULL).result, PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ask(&peer, PEER_INCREMENT, q + bytes, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(ask(&peer, PEER_INCREMENT, q - 4, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
    check_words(before, SMALL, 1);
    check_words(after, SMALL, 3);
    demand(&peer, PEER_CLOSE_MEMORY, q, NULL);
    ck_assert_uint_eq(load(p), 77);
    ok(ptxiMemFree(p));
}
END_TEST

START_TEST(openings_are_counted)
{
    ptxiDevicePtr p = allocate(LARGE), other = allocate(LARGE);
    ptxiIpcMemHandle handle = name(p), second = name(other);
    ptxiDevicePtr q = demand(&peer, PEER_OPEN_MEMORY, 0, &handle);

    ck_assert_uint_eq(demand(&peer, PEER_OPEN_MEMORY, 0, &handle), q);
    ck_assert_uint_ne(demand(&peer, PEER_OPEN_MEMORY, 0, &second), q);
    ck_assert_int_eq(ask(&peer, PEER_FREE, q, NULL).result, PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ask(&peer, PEER_FREE_ASYNC, q, NULL).result, PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ask(&peer, PEER_NAME_MEMORY, q, NULL).result, PTXI_ERROR_INVALID_VALUE);
    ck_assert_int_eq(ask(&peer, PEER_CLOSE_MEMORY, q + 4, NULL).result, PTXI_ERROR_INVALID_VALUE);
    demand(&peer, PEER_CLOSE_MEMORY, q, NULL);
    demand(&peer, PEER_INCREMENT, q, NULL);
    demand(&peer, PEER_CLOSE_MEMORY, q, NULL);
    ck_assert_int_eq(ask(&peer, PEER_INCREMENT, q, NULL).result, PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(ask(&peer, PEER_CLOSE_MEMORY, q, NULL).result, PTXI_ERROR_INVALID_VALUE);
    q = demand(&peer, PEER_OPEN_MEMORY, 0, &handle);
    demand(&peer, PEER_INCREMENT, q, NULL);
    ck_assert_uint_eq(load(p), 2);
}
END_TEST

START_TEST(memory_without_handles)
{
    ptxiIpcMemHandle handle;
    ptxiDevicePtr p, pooled, managed, reserved;
    ptxiMemGenericAllocationHandle made;
    ptxiMemAllocationProp prop = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                   .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiMemAccessDesc access = { prop.location, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ptxiModule module;
    size_t size;
    void *host;

    ok(ptxiMemAllocAsync(&pooled, SMALL, NULL));
    ok(ptxiMemAllocManaged(&managed, SMALL, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemAllocHost(&host, SMALL));
    ok(ptxiModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 v;\n"));
    ok(ptxiModuleGetGlobal(&p, &size, module, "v"));
    ck_result(ptxiIpcGetMemHandle(&handle, p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcGetMemHandle(&handle, pooled), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcGetMemHandle(&handle, managed), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcGetMemHandle(&handle, (uintptr_t)host), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcGetMemHandle(&handle, (uintptr_t)&p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcGetMemHandle(&handle, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAddressReserve(&reserved, 2 << 20, 0, 0, 0));
    ok(ptxiMemCreate(&made, 2 << 20, &prop, 0));
    ok(ptxiMemMap(reserved, 2 << 20, 0, made, 0));
    ok(ptxiMemSetAccess(reserved, 2 << 20, &access, 1));
    ck_result(ptxiIpcGetMemHandle(&handle, reserved), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemUnmap(reserved, 2 << 20));
    ok(ptxiMemRelease(made));
    ok(ptxiMemAddressFree(reserved, 2 << 20));
    p = allocate(SMALL);
    ck_result(ptxiIpcGetMemHandle(NULL, p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFree(p));
    ck_result(ptxiIpcGetMemHandle(&handle, p), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(count_shared_mappings(), 0);
}
END_TEST

START_TEST(attributes_of_pointers)
{
    ptxiDevicePtr p = allocate(SMALL), base;
    size_t size;
    int capable;

    ok(ptxiPointerGetAttribute(&capable, PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
    ck_assert_int_eq(capable, 1);
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, SMALL, NULL);
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL);

    ok(open_handle(&p, m.data));
    ok(ptxiPointerGetAttribute(&capable, PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
    ck_assert_int_eq(capable, 0);
    ok(ptxiMemGetAddressRange(&base, &size, p + 16));
    ck_assert(base == p && size == SMALL);
}
END_TEST

/* ---- handles that are not valid */

START_TEST(own_handles_and_other_arguments)
{
    ptxiDevicePtr p = allocate(SMALL), q = 7;
    ptxiIpcMemHandle handle = name(p), zeros = { { 0 } };

    ck_result(open_handle(&q, &handle), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiIpcOpenMemHandle(&q, handle, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcOpenMemHandle(&q, handle, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcOpenMemHandle(NULL, handle, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(open_handle(&q, &zeros), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcCloseMemHandle(p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiIpcCloseMemHandle(0), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(q, 7);
}
END_TEST

START_TEST(handles_of_freed_memory)
{
    const size_t bytes = _i ? SMALL : LARGE;
    ptxiDevicePtr p = allocate(bytes), kept = allocate(bytes);
    ptxiIpcMemHandle handle = name(p), of_kept = name(kept), again;

    ok(ptxiMemFree(p));
    ck_assert_int_eq(ask(&peer, PEER_OPEN_MEMORY, 0, &handle).result, PTXI_ERROR_INVALID_VALUE);
    for (int i = 0; i < 5000; i++) { /* until the addresses are used again */
        p = allocate(bytes);
        ok(ptxiMemFree(p));
    }
    p = allocate(bytes);
    again = name(p);
    ck_assert_mem_ne(&handle, &again, sizeof handle);
    ck_assert_int_eq(ask(&peer, PEER_OPEN_MEMORY, 0, &handle).result, PTXI_ERROR_INVALID_VALUE);
    demand(&peer, PEER_OPEN_MEMORY, 0, &again);
    demand(&peer, PEER_OPEN_MEMORY, 0, &of_kept);
}
END_TEST

START_TEST(memory_outlives_its_owner)
{
    const size_t bytes = _i ? SMALL : LARGE;
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, bytes, NULL), p;
    ptxiDevicePtr unopened = demand(&peer, PEER_ALLOCATE, bytes, NULL);
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL), other = ask(&peer, PEER_NAME_MEMORY, unopened, NULL);

    ok(open_handle(&p, m.data));
    demand(&peer, PEER_INCREMENT, q, NULL);
    ck_assert_uint_eq(load(p), 1);
    demand(&peer, PEER_FREE, q, NULL);
    ck_assert_uint_eq(load(p), 1);
    store(p, 5);
    ck_assert_uint_eq(load(p), 5);
    kill_peer(&peer);
    ck_assert_uint_eq(load(p), 5);
    store(p + bytes / 4 * 4 - 4, 6);
    ck_assert_uint_eq(load(p + bytes / 4 * 4 - 4), 6);
    ck_result(open_handle(&q, other.data), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiIpcCloseMemHandle(p));
    ck_result(open_handle(&q, m.data), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

/* A handle is either unchanged or invalid, so no change opens anything. */
START_TEST(changed_handles)
{
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, _i ? SMALL : LARGE, NULL), p;
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL);

    for (unsigned bit = 0; bit < 512; bit++) {
        ptxiIpcMemHandle h;

        memcpy(&h, m.data, sizeof h);
        h.reserved[bit / 8] ^= (char)(1 << bit % 8);
        ptxiResult r = open_handle(&p, &h);

        ck_assert_msg(r == PTXI_ERROR_INVALID_VALUE || r == PTXI_ERROR_INVALID_HANDLE ||
                      r == PTXI_ERROR_INVALID_CONTEXT /* the number of this process */, "bit %u: %d", bit, (int)r);
    }
    ck_assert_uint_eq(count_shared_mappings(), 0);
    ok(open_handle(&p, m.data));
    ck_assert_uint_eq(count_shared_mappings(), 1);
}
END_TEST

START_TEST(random_handles)
{
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, SMALL, NULL), p;
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL);
    unsigned files = count_files();

    for (unsigned i = 0; i < 20000; i++) {
        ptxiIpcMemHandle h;

        memcpy(&h, m.data, sizeof h);
        for (size_t k = 0; k < sizeof h; k++) /* at first all bytes are random, then a few */
            if (i < 5000 || random64() % 16 == 0)
                h.reserved[k] = (char)random64();
        if (memcmp(&h, m.data, sizeof h))
            ck_assert_int_ne(open_handle(&p, &h), PTXI_SUCCESS);
    }
    ck_assert_uint_eq(count_shared_mappings(), 0);
    ck_assert_uint_eq(count_files(), files);
}
END_TEST

/* ---- the end of contexts, and limits */

START_TEST(contexts_close_what_they_have_opened)
{
    ptxiDevicePtr q = demand(&peer, PEER_ALLOCATE, LARGE, NULL), p, first;
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL);
    ptxiContext other;

    ok(open_handle(&first, m.data));
    ok(ptxiCtxCreate(&other, 0, 0));
    ok(open_handle(&p, m.data));
    ck_assert_uint_ne(p, first);
    ck_assert_uint_eq(count_shared_mappings(), 2);
    name(allocate(LARGE));
    ok(ptxiCtxDestroy(other));
    ck_assert_uint_eq(count_shared_mappings(), 1);
    ck_result(ptxiIpcCloseMemHandle(p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiIpcCloseMemHandle(first));
    ck_assert_uint_eq(count_shared_mappings(), 0);
    ck_assert_uint_eq(count_files(), files_before + 1); /* the socket */
}
END_TEST

START_TEST(too_many_files)
{
    struct rlimit before, few;
    ptxiDevicePtr p = allocate(LARGE), q = demand(&peer, PEER_ALLOCATE, SMALL, NULL), opened;
    struct peer_message m = ask(&peer, PEER_NAME_MEMORY, q, NULL);
    ptxiIpcMemHandle handle;

    ok(ptxiMemsetD32(p, 9, LARGE / 4));
    ok(getrlimit(RLIMIT_NOFILE, &before));
    few = before;
    few.rlim_cur = (rlim_t)dup(0); /* the first number that is free */
    close((int)few.rlim_cur);
    ok(setrlimit(RLIMIT_NOFILE, &few));
    ck_result(ptxiIpcGetMemHandle(&handle, p), PTXI_ERROR_OUT_OF_MEMORY);
    ck_result(ptxiIpcGetMemHandle(&handle, allocate(SMALL)), PTXI_ERROR_OUT_OF_MEMORY);
    ck_assert_int_ne(open_handle(&opened, m.data), PTXI_SUCCESS);
    ok(setrlimit(RLIMIT_NOFILE, &before));
    check_words(p, LARGE, 9);
    handle = name(p);
    q = demand(&peer, PEER_OPEN_MEMORY, 0, &handle);
    ck_assert_uint_eq(demand(&peer, PEER_LOAD, q, NULL), 9);
    ok(open_handle(&opened, m.data));
}
END_TEST

/* ---- kernels and other threads use the memory while it is moved to a file */

enum { BLOCKS = 24, ADDERS = 64 };

/* Each thread adds 1 to a word of its own in each block, again and again, without atomic operations, until the word
 * `end` is set. It stores how often it has done so. */
static const char adders[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 end, .param .u64 rounds) {\n"
    "  .reg .u64 %p, %q, %b, %e, %r; .reg .u32 %i, %k, %x, %t; .reg .pred %c;\n"
    "  ld.param.u64 %p, [p]; ld.param.u64 %e, [end]; ld.param.u64 %r, [rounds]; mov.u32 %t, %tid.x; mov.u32 %i, 0;\n"
    "L: mov.u32 %k, 0;\n"
    "M: mul.wide.u32 %q, %k, 8; add.u64 %q, %p, %q; ld.global.u64 %b, [%q];\n"
    "  mad.wide.u32 %b, %t, 4, %b; ld.global.u32 %x, [%b]; add.u32 %x, %x, 1; st.global.u32 [%b], %x;\n"
    "  add.u32 %k, %k, 1; setp.lt.u32 %c, %k, 24; @%c bra M;\n"
    "  add.u32 %i, %i, 1; ld.volatile.global.u32 %x, [%e]; setp.eq.u32 %c, %x, 0; @%c bra L;\n"
    "  mad.wide.u32 %r, %t, 4, %r; st.global.u32 [%r], %i; ret; }\n";

static _Atomic bool stop;

/* Small blocks come and go in the slabs. Each must contain zeros. */
static void *churn(void *unused)
{
    enum { SIZE = 40000 };

    (void)unused;
    ok(ptxiCtxSetCurrent(ctx));
    while (!stop) {
        ptxiDevicePtr p = allocate(SIZE);

        check_words(p, SIZE, 0);
        ok(ptxiMemsetD32(p, 0xffffffff, SIZE / 4));
        ok(ptxiMemFreeAsync(p, PTXI_STREAM_PER_THREAD));
    }
    return NULL;
}

START_TEST(memory_in_use)
{
    const size_t bytes = _i ? 40000 : 200000;
    ptxiDevicePtr blocks[BLOCKS], list = allocate(sizeof blocks), end = allocate(4), rounds = allocate(ADDERS * 4);
    const unsigned *count = (const unsigned *)(uintptr_t)rounds;
    void *params[] = { &list, &end, &rounds };
    pthread_t thread;
    ptxiModule module;
    ptxiFunction kernel;
    ptxiStream stream;

    for (unsigned k = 0; k < BLOCKS; k++)
        blocks[k] = allocate(bytes);
    ok(ptxiMemcpyHtoD(list, blocks, sizeof blocks));
    ok(ptxiModuleLoadData(&module, adders));
    ok(ptxiModuleGetFunction(&kernel, module, "k"));
    ok(ptxiStreamCreate(&stream, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiLaunchKernel(kernel, 1, 1, 1, ADDERS, 1, 1, 0, stream, params, NULL));
    stop = false;
    ok(pthread_create(&thread, NULL, churn, NULL));
    while (!*(volatile unsigned *)(uintptr_t)blocks[BLOCKS - 1]) /* until the kernel runs */
        ;
    for (unsigned k = 0; k < BLOCKS; k++)
        name(blocks[k]);
    ok(ptxiMemsetD32(end, 1, 1));
    ok(ptxiStreamSynchronize(stream));
    stop = true;
    ok(pthread_join(thread, NULL));
    for (unsigned k = 0; k < BLOCKS; k++)
        for (unsigned i = 0; i < ADDERS; i++)
            ck_assert_uint_eq(((const unsigned *)(uintptr_t)blocks[k])[i], count[i]);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, both_processes_use_the_memory, 0, 2);
    tcase_add_test(t, openings_are_counted);
    tcase_add_test(t, memory_without_handles);
    tcase_add_test(t, attributes_of_pointers);
    tcase_add_test(t, own_handles_and_other_arguments);
    tcase_add_loop_test(t, handles_of_freed_memory, 0, 2);
    tcase_add_loop_test(t, memory_outlives_its_owner, 0, 2);
    tcase_add_loop_test(t, changed_handles, 0, 2);
    tcase_add_test(t, random_handles);
    tcase_add_test(t, contexts_close_what_they_have_opened);
    tcase_add_test(t, too_many_files);
    tcase_add_loop_test(t, memory_in_use, 0, 2);
}

int main(int argc, char **argv)
{
    return run_tests_with_peer(argc, argv, "memory of other processes", add_tests);
}
