/* Tests the API without kernels: initialization, contexts, memory and copies. */
#include "unit/support/context.h"

#include "api/context/context.h"
#include "api/memory/heap.h"
#include "exec/memmap/memmap.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void tear_down(void)
{
    close_context();
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
}

/* ---- initialization */

START_TEST(nothing_works_before_init)
{
    int n;
    ptxiDevicePtr p;
    ptxiContext c;

    ck_result(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiMemAlloc(&p, 4), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiCtxGetCurrent(&c), PTXI_ERROR_NOT_INITIALIZED);
    ck_result(ptxiInit(1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    ok(ptxiInit(0));
    ok(ptxiInit(0));
    ok(ptxiDeviceGetCount(&n));
    ck_assert_int_eq(n, 1);
    ck_result(ptxiMemAlloc(&p, 4), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(environment_selects_the_profile)
{
    char name[16];

    setenv("PTXI_DEVICE", "sm_7", 1);
    ck_result(ptxiInit(0), PTXI_ERROR_INVALID_DEVICE);
    setenv("PTXI_DEVICE", "sm_86", 1);
    ok(ptxiInit(0));
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_86");
}
END_TEST

/* Returns the number of workers, up to 255, of a process that has this value in PTXI_WORKERS. */
static int count_workers(const char *text)
{
    ptxiContext ctx;
    unsigned n;
    pid_t child;
    int status;

    setenv("PTXI_WORKERS", text, 1);
    child = fork(); /* the variable is read once per process */
    if (!child)
        _exit(ptxiInit(0) || ptxiCtxCreate(&ctx, 0, 0) || ptxiCtxGetWorkers(ctx, &n) ? 0 : n < 255 ? (int)n : 255);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

START_TEST(environment_selects_the_workers)
{
    static const char *const invalid[] = { "0", "-1", "3 or 4", "1025", "three" };
    int default_count = count_workers("");

    ck_assert_int_gt(default_count, 0);
    ck_assert_int_eq(count_workers("3"), 3);
    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++)
        ck_assert_msg(count_workers(invalid[k]) == default_count, "'%s'", invalid[k]);
}
END_TEST

START_TEST(devices_and_profiles)
{
    int v, minor;
    ptxiDevice d;
    char name[64];
    size_t bytes;
    const char *profile;

    ok(ptxiInit(0));
    ok(ptxiDeviceGet(&d, 0));
    ck_result(ptxiDeviceGet(&d, 1), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGet(NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceComputeCapability(&v, &minor, 0));
    ck_assert_int_eq(v * 10 + minor, 90);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    ck_assert_int_eq(v, 132);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    ck_assert_int_eq(v, 232448);
    ck_result(ptxiDeviceGetAttribute(&v, (ptxiDeviceAttribute)0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_WARP_SIZE, 1), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiDeviceTotalMem(&bytes, 0));
    ck_assert_uint_gt(bytes, 1 << 20);
    ok(ptxiDeviceGetName(name, 4, 0));
    ck_assert_str_eq(name, "lib");
    ck_result(ptxiDeviceGetName(name, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceSetProfile(0, "sm_1000"), PTXI_ERROR_INVALID_DEVICE);
    unsigned n = 0;
    for (; ptxiDeviceEnumerateProfile(&profile, n) == PTXI_SUCCESS; n++) {
        ok(ptxiDeviceSetProfile(0, profile));
        ok(ptxiDeviceComputeCapability(&v, &minor, 0));
        ck_assert_int_eq(v * 10 + minor, atoi(profile + 3));
    }
    ck_assert_uint_ge(n, 18);
    ok(ptxiDeviceSetProfile(0, "sm_90a"));
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_90");
}
END_TEST

START_TEST(a_forked_child_gets_errors)
{
    ptxiDevicePtr p;
    int status;

    ok(ptxiMemAlloc(&p, 64));
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        ptxiResult a = ptxiCtxSynchronize(), b = ptxiInit(0), c = ptxiMemAlloc(&p, 4);

        _exit(a == PTXI_ERROR_NOT_INITIALIZED && b == a && c == a ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ok(ptxiCtxSynchronize());
}
END_TEST

/* ---- contexts */

START_TEST(context_stack)
{
    ptxiContext a, b, c;

    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiCtxCreate(&a, PTXI_CTX_SCHED_SPIN, 0));
    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_eq(c, a);
    ok(ptxiCtxPushCurrent(ctx));
    ok(ptxiCtxPopCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ck_result(ptxiCtxCreate(&b, 3, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxCreate(&b, 0x1000, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxCreate(&b, 0, 7), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiCtxDestroy(a));
    ck_result(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiCtxDestroy(NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxSetCurrent(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPopCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiCtxPopCurrent(&c)); /* the context below a, which SetCurrent replaced */
    ck_assert_ptr_eq(c, ctx);
    ck_result(ptxiCtxPopCurrent(&c), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxSetCurrent(NULL));
    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_null(c);
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

static void *call_without_context(void *r)
{
    ptxiDevicePtr p;

    *(ptxiResult *)r = ptxiMemAlloc(&p, 4);
    return NULL;
}

static pthread_barrier_t barrier;

static void *call_in_destroyed(void *c)
{
    ptxiDevicePtr p;

    ptxiResult r = ptxiCtxSetCurrent(c);
    pthread_barrier_wait(&barrier); /* current in this thread */
    pthread_barrier_wait(&barrier); /* destroyed in the other thread */
    return r ? (void *)1 : (void *)(uintptr_t)ptxiMemAlloc(&p, 4);
}

START_TEST(contexts_and_threads)
{
    pthread_t t;
    ptxiResult r;
    ptxiContext c;
    void *result;

    pthread_create(&t, NULL, call_without_context, &r);
    pthread_join(t, NULL);
    ck_result(r, PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxCreate(&c, 0, 0));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, call_in_destroyed, c);
    pthread_barrier_wait(&barrier);
    ok(ptxiCtxDestroy(c));
    pthread_barrier_wait(&barrier);
    pthread_join(t, &result);
    ck_result((ptxiResult)(uintptr_t)result, PTXI_ERROR_CONTEXT_IS_DESTROYED);
}
END_TEST

START_TEST(primary_context)
{
    ptxiContext a, b;
    unsigned flags;
    int active;
    ptxiDevicePtr p;

    ck_result(ptxiDevicePrimaryCtxRelease(0), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiDevicePrimaryCtxSetFlags(0, PTXI_CTX_SCHED_YIELD));
    ok(ptxiDevicePrimaryCtxRetain(&a, 0));
    ok(ptxiDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_uint_eq(flags, PTXI_CTX_SCHED_YIELD);
    ck_assert_int_eq(active, 1);
    ck_result(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPushCurrent(a));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxRelease(0));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxReset(0));
    ck_result(ptxiMemAlloc(&p, 100), PTXI_ERROR_CONTEXT_IS_DESTROYED);
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
    ok(ptxiDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxRelease(0));
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    ok(ptxiCtxPopCurrent(NULL));
}
END_TEST

START_TEST(limits)
{
    size_t v;

    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(v, 1024);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_STACK_SIZE, 1000));
    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(v, 1008);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 123456789));
    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_INSTRUCTIONS));
    ck_assert_uint_eq(v, 123456789);
    ck_result(ptxiCtxSetLimit((ptxiLimit)55, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxSetLimit(PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1), PTXI_ERROR_UNSUPPORTED_LIMIT);
}
END_TEST

/* ---- memory */

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

/* ---- copies */

START_TEST(copies_move_bytes)
{
    unsigned char a[1000], b[1000];
    ptxiDevicePtr p, q;

    for (int i = 0; i < 1000; i++)
        a[i] = (unsigned char)(i * 7);
    ok(ptxiMemAlloc(&p, sizeof a));
    ok(ptxiMemAlloc(&q, sizeof a));
    ok(ptxiMemcpyHtoD(p, a, sizeof a));
    ok(ptxiMemcpyDtoD(q, p, sizeof a));
    ok(ptxiMemcpyDtoD(q, q + 1, 999)); /* overlapping */
    ok(ptxiMemcpyDtoH(b, q, sizeof b));
    ck_assert_mem_eq(b, a + 1, 999);
    ok(ptxiMemcpy(q, (uintptr_t)a, sizeof a));
    ck_assert_mem_eq((void *)(uintptr_t)q, a, sizeof a);
    ok(ptxiMemcpy((uintptr_t)b, q, sizeof b));
    ck_assert_mem_eq(a, b, sizeof a);
}
END_TEST

START_TEST(copies_reject_bad_ranges)
{
    unsigned char a[64] = { 0 };
    ptxiDevicePtr p, gone;

    ok(ptxiMemAlloc(&p, 32));
    ok(ptxiMemAlloc(&gone, 32));
    ok(ptxiMemFree(gone));
    ok(ptxiMemcpyHtoD(0, a, 0));
    ck_result(ptxiMemcpyHtoD(0, a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, NULL, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, a, 33), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p + 30, a, 3), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(gone, a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoH(a, gone, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy(p, gone, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoH(a, (uintptr_t)a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoD(p, p + 16, 17), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, a, SIZE_MAX), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD16(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p, 1, 9), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p, 1, SIZE_MAX / 4 + 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD8(0, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD8(0, 1, 0));
    ck_result(ptxiMemsetD2D32(p, 6, 1, 1, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD2D32(p, 4, 1, 2, 2), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD2D8(p, 0, 1, 2, 1));
}
END_TEST

START_TEST(fills)
{
    uint32_t w[8];
    uint16_t h[16];
    unsigned char c[32];
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, 32));
    ok(ptxiMemsetD32(p, 0x01020304, 8));
    ok(ptxiMemsetD16(p + 4, 0xabcd, 1));
    ok(ptxiMemsetD8(p + 9, 0xee, 2));
    ok(ptxiMemcpyDtoH(w, p, 32));
    ck_bits32(w[0], 0x01020304);
    ck_bits32(w[1], 0x0102abcd);
    ck_bits32(w[2], 0x01eeee04);
    ck_bits32(w[7], 0x01020304);
    ok(ptxiMemsetD8(p, 0, 32));
    ok(ptxiMemsetD2D16(p, 8, 0x7fff, 3, 4));
    ok(ptxiMemcpyDtoH(h, p, 32));
    for (int i = 0; i < 16; i++)
        ck_bits16_at(h[i], i % 4 < 3 ? 0x7fff : 0, "element %d", i);
    ok(ptxiMemsetD2D8Async(p, 16, 5, 1, 2, NULL));
    ok(ptxiMemcpyDtoH(c, p, 32));
    ck_assert_int_eq(c[0], 5);
    ck_assert_int_eq(c[16], 5);
}
END_TEST

START_TEST(rectangles)
{
    unsigned char a[8][10], b[8][10];
    ptxiDevicePtr p;
    size_t pitch;

    for (int i = 0; i < 80; i++)
        a[i / 10][i % 10] = (unsigned char)i;
    memset(b, 255, sizeof b);
    ok(ptxiMemAllocPitch(&p, &pitch, 10, 8, 4));
    PTXI_MEMCPY2D to_device = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = a, .srcPitch = 10,
                         .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = pitch,
                         .WidthInBytes = 10, .Height = 8 };
    PTXI_MEMCPY2D to_host = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = pitch,
                           .srcXInBytes = 2, .srcY = 3, .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = b,
                           .dstPitch = 10, .dstXInBytes = 1, .dstY = 1, .WidthInBytes = 4, .Height = 2 };

    ok(ptxiMemcpy2D(&to_device));
    ok(ptxiMemcpy2DAsync(&to_host, NULL));
    ok(ptxiCtxSynchronize());
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++) {
            bool in = y >= 1 && y < 3 && x >= 1 && x < 5;

            ck_bits8_at(b[y][x], in ? a[y + 2][x + 1] : 255, "row %d, column %d", y, x);
        }
    to_host.Height = 6;
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.Height = 0;
    ok(ptxiMemcpy2D(&to_host));
    to_host.Height = 1;
    to_host.dstPitch = 4;
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.dstPitch = 10;
    to_host.srcMemoryType = PTXI_MEMORYTYPE_ARRAY; /* without an array */
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.srcMemoryType = PTXI_MEMORYTYPE_UNIFIED;
    ok(ptxiMemcpy2D(&to_host));
    to_device.srcY = SIZE_MAX / 2;
    to_device.srcPitch = 16;
    ck_result(ptxiMemcpy2D(&to_device), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy2D(NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api");
    TCase *start = tcase_create("start"), *t = tcase_create("api");

    tcase_add_test(start, nothing_works_before_init);
    tcase_add_test(start, environment_selects_the_profile);
    tcase_add_test(start, environment_selects_the_workers);
    tcase_add_test(start, devices_and_profiles);
    suite_add_tcase(s, start);

    tcase_add_checked_fixture(t, open_context, tear_down);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_forked_child_gets_errors);
    tcase_add_test(t, context_stack);
    tcase_add_test(t, contexts_and_threads);
    tcase_add_test(t, primary_context);
    tcase_add_test(t, limits);
    tcase_add_test(t, allocations_are_separate_and_known);
    tcase_add_test(t, impossible_allocations_are_refused);
    tcase_add_test(t, freed_addresses_are_reused_later);
    tcase_add_test(t, host_memory);
    tcase_add_test(t, pointer_attributes);
    tcase_add_test(t, open_ranges);
    tcase_add_test(t, copies_move_bytes);
    tcase_add_test(t, copies_reject_bad_ranges);
    tcase_add_test(t, fills);
    tcase_add_test(t, rectangles);
    suite_add_tcase(s, t);
    return run_suite(s);
}
