/* The API without kernels: start, contexts, memory, copies, streams, events, failures. */
#include "unit/context.h"

#include "api/api.h"
#include "api/heap.h"
#include "exec/memmap.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void tear_down(void)
{
    close_context();
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
}

static void sleep_ms(unsigned ms)
{
    usleep(ms * 1000);
}

/* ---- start */

START_TEST(nothing_works_before_init)
{
    int n;
    ptxiDevicePtr p;
    ptxiContext c;

    gives(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    gives(ptxiMemAlloc(&p, 4), PTXI_ERROR_NOT_INITIALIZED);
    gives(ptxiCtxSynchronize(), PTXI_ERROR_NOT_INITIALIZED);
    gives(ptxiCtxGetCurrent(&c), PTXI_ERROR_NOT_INITIALIZED);
    gives(ptxiInit(1), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiDeviceGetCount(&n), PTXI_ERROR_NOT_INITIALIZED);
    ok(ptxiInit(0));
    ok(ptxiInit(0));
    ok(ptxiDeviceGetCount(&n));
    ck_assert_int_eq(n, 1);
    gives(ptxiMemAlloc(&p, 4), PTXI_ERROR_INVALID_CONTEXT);
    gives(ptxiCtxSynchronize(), PTXI_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(environment_chooses_the_profile)
{
    char name[16];

    setenv("PTXI_DEVICE", "sm_7", 1);
    gives(ptxiInit(0), PTXI_ERROR_INVALID_DEVICE);
    setenv("PTXI_DEVICE", "sm_86", 1);
    ok(ptxiInit(0));
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_86");
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
    gives(ptxiDeviceGet(&d, 1), PTXI_ERROR_INVALID_DEVICE);
    gives(ptxiDeviceGet(NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceComputeCapability(&v, &minor, 0));
    ck_assert_int_eq(v * 10 + minor, 90);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    ck_assert_int_eq(v, 132);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    ck_assert_int_eq(v, 232448);
    gives(ptxiDeviceGetAttribute(&v, (ptxiDeviceAttribute)0, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_WARP_SIZE, 1), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiDeviceTotalMem(&bytes, 0));
    ck_assert_uint_gt(bytes, 1 << 20);
    ok(ptxiDeviceGetName(name, 4, 0));
    ck_assert_str_eq(name, "lib");
    gives(ptxiDeviceGetName(name, 0, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiDeviceSetProfile(0, "sm_1000"), PTXI_ERROR_INVALID_DEVICE);
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
    gives(ptxiCtxCreate(&b, 3, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiCtxCreate(&b, 0x1000, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiCtxCreate(&b, 0, 7), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiCtxDestroy(a));
    gives(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    gives(ptxiCtxDestroy(NULL), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiCtxSetCurrent(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPopCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiCtxPopCurrent(&c)); /* the one below a, which SetCurrent replaced */
    ck_assert_ptr_eq(c, ctx);
    gives(ptxiCtxPopCurrent(&c), PTXI_ERROR_INVALID_CONTEXT);
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
    pthread_barrier_wait(&barrier); /* current here */
    pthread_barrier_wait(&barrier); /* destroyed there */
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
    gives(r, PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxCreate(&c, 0, 0));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, call_in_destroyed, c);
    pthread_barrier_wait(&barrier);
    ok(ptxiCtxDestroy(c));
    pthread_barrier_wait(&barrier);
    pthread_join(t, &result);
    gives((ptxiResult)(uintptr_t)result, PTXI_ERROR_CONTEXT_IS_DESTROYED);
}
END_TEST

START_TEST(primary_context)
{
    ptxiContext a, b;
    unsigned flags;
    int active;
    ptxiDevicePtr p;

    gives(ptxiDevicePrimaryCtxRelease(0), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiDevicePrimaryCtxSetFlags(0, PTXI_CTX_SCHED_YIELD));
    ok(ptxiDevicePrimaryCtxRetain(&a, 0));
    ok(ptxiDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_uint_eq(flags, PTXI_CTX_SCHED_YIELD);
    ck_assert_int_eq(active, 1);
    gives(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPushCurrent(a));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxRelease(0));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxReset(0));
    gives(ptxiMemAlloc(&p, 100), PTXI_ERROR_CONTEXT_IS_DESTROYED);
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
    gives(ptxiCtxSetLimit((ptxiLimit)55, 1), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiCtxSetLimit(PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1), PTXI_ERROR_UNSUPPORTED_LIMIT);
}
END_TEST

/* ---- memory */

START_TEST(allocations_stand_apart_and_are_known)
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
    gives(ptxiMemFree(p[0]), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemFree(p[1] + 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemFree(12345), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFree(0));
    gives(ptxiMemGetAddressRange(&base, &size, p[0]), PTXI_ERROR_NOT_FOUND);
    ck_assert_int_eq(ptxi_memmap_find(ptxi_state.memmap, p[598], &r), PTXI_MEMMAP_INSIDE);
    ck_assert_uint_eq(r.flags, PTXI_MEM_FREED);
}
END_TEST

START_TEST(allocation_refuses_what_it_cannot_give)
{
    ptxiDevicePtr p;
    size_t pitch, freed, total, freed_after;

    gives(ptxiMemAlloc(&p, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemAlloc(NULL, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemAlloc(&p, (size_t)1 << 60), PTXI_ERROR_OUT_OF_MEMORY);
    gives(ptxiMemAlloc(&p, SIZE_MAX), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemGetInfo(&freed, &total));
    ok(ptxiMemAlloc(&p, total / 2));
    gives(ptxiMemAlloc(&p, total), PTXI_ERROR_OUT_OF_MEMORY);
    ok(ptxiMemGetInfo(&freed_after, &total));
    ck_assert_uint_eq(freed - freed_after, total / 2);
    ok(ptxiMemAllocPitch(&p, &pitch, 513, 10, 16));
    ck_assert_uint_eq(pitch, 1024);
    gives(ptxiMemAllocPitch(&p, &pitch, 100, 10, 3), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemAllocPitch(&p, &pitch, 100, 0, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemAllocPitch(&p, &pitch, SIZE_MAX / 2, 3, 4), PTXI_ERROR_OUT_OF_MEMORY);
    gives(ptxiMemAllocManaged(&p, 100, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAllocManaged(&p, 100, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemFree(p));
}
END_TEST

START_TEST(freed_places_are_used_again_in_the_end)
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
    void *h, *own = aligned_alloc(4096, 16384);
    ptxiDevicePtr d;
    unsigned flags, type;

    ok(ptxiMemAllocHost(&h, 0));
    ck_assert_ptr_null(h);
    gives(ptxiMemHostAlloc(&h, 100, 16), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostAlloc(&h, 100, 0));
    ok(ptxiMemHostGetDevicePointer(&d, (char *)h + 4, 0));
    ck_assert_uint_eq(d, (uintptr_t)h + 4);
    ok(ptxiMemHostGetFlags(&flags, h));
    ck_assert_uint_eq(flags, PTXI_MEMHOSTALLOC_DEVICEMAP);
    ok(ptxiPointerGetAttribute(&type, PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    ck_assert_uint_eq(type, PTXI_MEMORYTYPE_HOST);
    gives(ptxiMemFree((uintptr_t)h), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemHostRegister(h, 10, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFreeHost(h));
    ok(ptxiMemFreeHost(NULL));
    gives(ptxiMemFreeHost(own), PTXI_ERROR_INVALID_VALUE);

    gives(ptxiMemHostGetDevicePointer(&d, own, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemHostRegister(own, 0, 0), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemHostRegister(NULL, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostRegister(own, 100, 0));
    gives(ptxiMemHostRegister(own, 100, 0), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    gives(ptxiMemHostRegister((char *)own - 8, 10, 0), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(ptxiMemHostRegister((char *)own + 4096, 100, PTXI_MEMHOSTREGISTER_READ_ONLY));
    ok(ptxiMemHostGetDevicePointer(&d, own, 0));
    gives(ptxiMemHostUnregister((char *)own + 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostUnregister(own));
    gives(ptxiMemHostUnregister(own), PTXI_ERROR_HOST_MEMORY_NOT_REGISTERED);
    ok(ptxiMemHostUnregister((char *)own + 4096));
    free(own);
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
    gives(ptxiPointerGetAttribute(&host, PTXI_POINTER_ATTRIBUTE_HOST_POINTER, p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiPointerGetAttribute(&host, PTXI_POINTER_ATTRIBUTE_HOST_POINTER, q + 8));
    ck_assert_uint_eq((uintptr_t)host, q + 8);
    ok(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, q));
    ck_assert_int_eq(i, 1);
    ok(ptxiPointerGetAttribute(&size, PTXI_POINTER_ATTRIBUTE_RANGE_SIZE, p + 999));
    ck_assert_uint_eq(size, 1000);
    ok(ptxiPointerGetAttribute(&id, PTXI_POINTER_ATTRIBUTE_BUFFER_ID, p));
    ok(ptxiPointerGetAttribute(&id2, PTXI_POINTER_ATTRIBUTE_BUFFER_ID, q));
    ck_assert_uint_ne(id, id2);
    gives(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, p + 1000), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiPointerGetAttribute(&i, (ptxiPointerAttribute)99, p), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiPointerGetAttribute(&i, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, (uintptr_t)&i), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(open_ranges)
{
    static int own[100];
    struct ptxi_mem_region r;

    gives(ptxiMemOpenRange(own, 0, PTXI_RANGE_READ), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemOpenRange(own, sizeof own, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemOpenRange(own, sizeof own, PTXI_RANGE_READ));
    gives(ptxiMemOpenRange(own, sizeof own, PTXI_RANGE_READ), PTXI_ERROR_INVALID_VALUE);
    ck_assert(ptxi_memmap_covers(ptxi_state.memmap, (uintptr_t)own, sizeof own, &r));
    ck_assert_uint_eq(r.flags, PTXI_MEM_OPEN | PTXI_MEM_READ);
    gives(ptxiMemcpyHtoD((uintptr_t)own, own, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemCloseRange(own + 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemCloseRange(own));
    gives(ptxiMemCloseRange(own), PTXI_ERROR_INVALID_VALUE);
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

START_TEST(copies_refuse_bad_ranges)
{
    unsigned char a[64] = { 0 };
    ptxiDevicePtr p, gone;

    ok(ptxiMemAlloc(&p, 32));
    ok(ptxiMemAlloc(&gone, 32));
    ok(ptxiMemFree(gone));
    ok(ptxiMemcpyHtoD(0, a, 0));
    gives(ptxiMemcpyHtoD(0, a, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyHtoD(p, NULL, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyHtoD(p, a, 33), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyHtoD(p + 30, a, 3), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyHtoD(gone, a, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyDtoH(a, gone, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpy(p, gone, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyDtoH(a, (uintptr_t)a, 4), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyDtoD(p, p + 16, 17), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpyHtoD(p, a, SIZE_MAX), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD32(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD16(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD32(p, 1, 9), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD32(p, 1, SIZE_MAX / 4 + 2), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD8(0, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD8(0, 1, 0));
    gives(ptxiMemsetD2D32(p, 6, 1, 1, 2), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD2D32(p, 4, 1, 2, 2), PTXI_ERROR_INVALID_VALUE);
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
    PTXI_MEMCPY2D up = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = a, .srcPitch = 10,
                         .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = pitch,
                         .WidthInBytes = 10, .Height = 8 };
    PTXI_MEMCPY2D down = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = pitch,
                           .srcXInBytes = 2, .srcY = 3, .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = b,
                           .dstPitch = 10, .dstXInBytes = 1, .dstY = 1, .WidthInBytes = 4, .Height = 2 };

    ok(ptxiMemcpy2D(&up));
    ok(ptxiMemcpy2DAsync(&down, NULL));
    ok(ptxiCtxSynchronize());
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++) {
            bool in = y >= 1 && y < 3 && x >= 1 && x < 5;

            ck_bits8_at(b[y][x], in ? a[y + 2][x + 1] : 255, "row %d, column %d", y, x);
        }
    down.Height = 6;
    gives(ptxiMemcpy2D(&down), PTXI_ERROR_INVALID_VALUE);
    down.Height = 0;
    ok(ptxiMemcpy2D(&down));
    down.Height = 1;
    down.dstPitch = 4;
    gives(ptxiMemcpy2D(&down), PTXI_ERROR_INVALID_VALUE);
    down.dstPitch = 10;
    down.srcMemoryType = PTXI_MEMORYTYPE_ARRAY; /* without an array */
    gives(ptxiMemcpy2D(&down), PTXI_ERROR_INVALID_VALUE);
    down.srcMemoryType = PTXI_MEMORYTYPE_UNIFIED;
    ok(ptxiMemcpy2D(&down));
    up.srcY = SIZE_MAX / 2;
    up.srcPitch = 16;
    gives(ptxiMemcpy2D(&up), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemcpy2D(NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- streams */

static _Atomic int log_at, log_of[10000];

static void note(void *n)
{
    log_of[log_at++] = (int)(intptr_t)n;
}

static void slow_note(void *n)
{
    sleep_ms(30);
    note(n);
}

#define NUMBER(n) ((void *)(intptr_t)(n))

START_TEST(a_stream_keeps_its_order)
{
    ptxiStream s;

    ok(ptxiStreamCreate(&s, _i & 1 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    for (int i = 0; i < 5000; i++)
        ok(ptxiLaunchHostFunc(s, note, NUMBER(i)));
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

START_TEST(streams_run_without_anybody_waiting)
{
    ptxiStream s;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiLaunchHostFunc(s, slow_note, NUMBER(7)));
    gives(ptxiStreamQuery(s), PTXI_ERROR_NOT_READY);
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

START_TEST(streams_run_beside_each_other)
{
    enum { N = 20 };
    ptxiStream s[N];

    for (int i = 0; i < N; i++)
        ok(ptxiStreamCreate(&s[i], 0));
    for (int i = 0; i < N - 1; i++) { /* each waits for the next one's work, inside its own */
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
    ok(ptxiLaunchHostFunc(a, slow_note, NUMBER(1)));
    ok(ptxiLaunchHostFunc(NULL, note, NUMBER(2)));   /* waits for a */
    ok(ptxiLaunchHostFunc(b, note, NUMBER(3)));      /* waits for the legacy stream */
    ok(ptxiLaunchHostFunc(b, note, NUMBER(4)));
    ok(ptxiLaunchHostFunc(PTXI_STREAM_LEGACY, note, NUMBER(5)));
    ok(ptxiStreamSynchronize(NULL));
    ck_assert_int_eq(log_at, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(log_of[i], i + 1);
    ok(ptxiLaunchHostFunc(b, slow_note, NUMBER(6)));
    gives(ptxiStreamQuery(NULL), PTXI_ERROR_NOT_READY);
    ok(ptxiStreamSynchronize(NULL)); /* with nothing of its own */
    ck_assert_int_eq(log_at, 6);
}
END_TEST

START_TEST(non_blocking_streams_do_not)
{
    ptxiStream a, b;

    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, 0));
    ok(ptxiLaunchHostFunc(a, await_flag, NUMBER(1)));
    ok(ptxiLaunchHostFunc(NULL, note, NUMBER(1)));
    ok(ptxiLaunchHostFunc(b, set_flag, NUMBER(1)));
    ok(ptxiStreamSynchronize(b));
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 1);
}
END_TEST

static void *use_per_thread(void *unused)
{
    (void)unused;
    if (ptxiCtxSetCurrent(ctx) || ptxiLaunchHostFunc(PTXI_STREAM_PER_THREAD, slow_note, NUMBER(1)))
        return NUMBER(1);
    if (ptxiLaunchHostFunc(PTXI_STREAM_PER_THREAD, note, NUMBER(2)))
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
    gives(ptxiStreamQuery(PTXI_STREAM_PER_THREAD), PTXI_ERROR_NOT_READY);
    set_flag(NUMBER(1));
    ok(ptxiStreamSynchronize(PTXI_STREAM_PER_THREAD));
    gives(ptxiStreamDestroy(PTXI_STREAM_PER_THREAD), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_destroyed_stream_finishes_its_work)
{
    ptxiStream s;
    unsigned flags;

    gives(ptxiStreamCreate(&s, 7), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamGetFlags(s, &flags));
    ck_assert_uint_eq(flags, PTXI_STREAM_NON_BLOCKING);
    ok(ptxiLaunchHostFunc(s, slow_note, NUMBER(1)));
    ok(ptxiLaunchHostFunc(s, note, NUMBER(2)));
    ok(ptxiStreamDestroy(s));
    gives(ptxiStreamDestroy(NULL), PTXI_ERROR_INVALID_HANDLE);
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

START_TEST(host_functions_may_not_call_back)
{
    gives(ptxiLaunchHostFunc(NULL, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiLaunchHostFunc(NULL, call_api, NULL));
    ok(ptxiCtxSynchronize());
    gives(from_callback[0], PTXI_ERROR_NOT_PERMITTED);
    gives(from_callback[1], PTXI_ERROR_NOT_PERMITTED);
    gives(from_callback[2], PTXI_ERROR_NOT_PERMITTED);
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
    ok(ptxiMemcpyHtoDAsync(p + 10, small, sizeof small, s)); /* pageable: free to change at once */
    memset(small, 3, sizeof small);
    gives(ptxiStreamQuery(s), PTXI_ERROR_NOT_READY);
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

START_TEST(events_mark_places)
{
    ptxiStream s;
    ptxiEvent a, b, untimed;
    float ms;

    gives(ptxiEventCreate(&a, 8), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiEventCreate(&a, PTXI_EVENT_INTERPROCESS), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&a, 0));
    ok(ptxiEventCreate(&b, 0));
    ok(ptxiEventCreate(&untimed, PTXI_EVENT_DISABLE_TIMING));
    ok(ptxiEventQuery(a));
    ok(ptxiEventSynchronize(a));
    gives(ptxiEventElapsedTime(&ms, a, b), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventRecord(a, s));
    ok(ptxiLaunchHostFunc(s, slow_note, NUMBER(1)));
    ok(ptxiEventRecord(b, s));
    ok(ptxiEventRecord(untimed, s));
    ok(ptxiEventQuery(a));
    gives(ptxiEventQuery(b), PTXI_ERROR_NOT_READY);
    gives(ptxiEventElapsedTime(&ms, a, b), PTXI_ERROR_NOT_READY);
    ok(ptxiEventSynchronize(untimed));
    ck_assert_int_eq(log_at, 1);
    ok(ptxiEventElapsedTime(&ms, a, b));
    ck_assert(ms >= 29 && ms < 3000);
    ok(ptxiEventElapsedTime(&ms, b, a));
    ck_assert(ms <= -29);
    gives(ptxiEventElapsedTime(&ms, a, untimed), PTXI_ERROR_INVALID_HANDLE);
    gives(ptxiEventRecord(NULL, s), PTXI_ERROR_INVALID_HANDLE);
    gives(ptxiEventQuery(NULL), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventDestroy(a));
    gives(ptxiEventDestroy(NULL), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_legacy_event_waits_for_blocking_streams)
{
    ptxiStream s;
    ptxiEvent e;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&e, 0));
    ok(ptxiLaunchHostFunc(s, slow_note, NUMBER(1)));
    ok(ptxiEventRecord(e, NULL));
    gives(ptxiEventQuery(e), PTXI_ERROR_NOT_READY);
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
        ok(ptxiLaunchHostFunc(a, i % 25 ? note : slow_note, NUMBER(2 * i)));
        ok(ptxiEventRecord(e, a));
        ok(ptxiStreamWaitEvent(b, e, 0));
        ok(ptxiLaunchHostFunc(b, note, NUMBER(2 * i + 1)));
        ok(ptxiEventRecord(e, b));
        ok(ptxiStreamWaitEvent(a, e, 0));
    }
    ok(ptxiEventDestroy(e));
    gives(ptxiStreamWaitEvent(b, NULL, 0), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiStreamSynchronize(b));
    ck_assert_int_eq(log_at, 200);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(log_of[i], i);
}
END_TEST

START_TEST(contexts_wait_for_each_others_events)
{
    ptxiContext other;
    ptxiStream a, b;
    ptxiEvent e;

    ok(ptxiStreamCreate(&a, 0));
    ok(ptxiEventCreate(&e, 0));
    ok(ptxiLaunchHostFunc(a, slow_note, NUMBER(1)));
    ok(ptxiEventRecord(e, a));
    ok(ptxiCtxCreate(&other, 0, 0));
    ok(ptxiStreamCreate(&b, 0));
    gives(ptxiLaunchHostFunc(a, note, NUMBER(3)), PTXI_ERROR_INVALID_HANDLE);
    gives(ptxiEventRecord(e, b), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiStreamWaitEvent(b, e, 0));
    ok(ptxiLaunchHostFunc(b, note, NUMBER(2)));
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 2);
    ck_assert_int_eq(log_of[0], 1);
    ok(ptxiCtxDestroy(other));
}
END_TEST

/* ---- failures */

static ptxiResult run_failing(void *payload, struct ptxi_failure **failure)
{
    ptxiReport r = { .result = PTXI_ERROR_ILLEGAL_ADDRESS, .fault = PTXI_FAULT_NULL, .text = "it failed", .address = 4 };

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
    struct ptxi_item *it = ptxi_item_create(sizeof kernel, run_failing, count_release);

    *(const char **)ptxi_item_payload(it) = kernel;
    ok(ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL));
}

START_TEST(a_failure_is_returned_once)
{
    ptxiStream s, other;
    ptxiReport r = { .size = sizeof r };

    gives(ptxiGetLastReport(NULL, &r), PTXI_ERROR_NOT_FOUND);
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiStreamCreate(&other, PTXI_STREAM_NON_BLOCKING));
    submit_failing(s, "k1");
    ok(ptxiLaunchHostFunc(s, note, NUMBER(1))); /* dropped */
    ok(ptxiLaunchHostFunc(other, note, NUMBER(2)));
    ok(ptxiStreamSynchronize(other));
    sleep_ms(_i ? 20 : 0);
    ok(ptxiLaunchHostFunc(s, note, NUMBER(3))); /* dropped, too: nobody was told yet */
    gives(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS);
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
    ok(ptxiLaunchHostFunc(s, note, NUMBER(4))); /* the stream is of use again */
    ok(ptxiStreamSynchronize(s));
    ck_assert_int_eq(log_at, 2);
    gives(ptxiGetLastReport(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    r.size = 4;
    gives(ptxiGetLastReport(NULL, &r), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(who_synchronises_gets_the_failure)
{
    ptxiStream s;
    ptxiEvent before, after;
    ptxiDevicePtr p;
    int v;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiEventCreate(&before, 0));
    ok(ptxiEventCreate(&after, 0));
    ok(ptxiMemAlloc(&p, 4));
    ok(ptxiEventRecord(before, s));
    submit_failing(s, "k");
    ok(ptxiEventRecord(after, s));
    ok(ptxiLaunchHostFunc(s, note, NUMBER(1)));
    ok(ptxiEventSynchronize(before));
    switch (_i) {
    case 0: gives(ptxiEventSynchronize(after), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 1: gives(ptxiStreamSynchronize(NULL), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 2: gives(ptxiMemcpyDtoH(&v, p, 4), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 3: gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS); break;
    case 4:
        ok(ptxiStreamDestroy(s));
        gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
        break;
    case 5: {
        ptxiResult r;

        while ((r = ptxiStreamQuery(s)) == PTXI_ERROR_NOT_READY)
            ;
        gives(r, PTXI_ERROR_ILLEGAL_ADDRESS);
        break;
    }
    }
    ok(ptxiCtxSynchronize());
    ck_assert_int_eq(log_at, 0); /* what stood behind the failure stays dropped */
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
    gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_str_eq(r.kernel, "first");
    gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(ctx, &r));
    ck_assert_str_eq(r.kernel, "second");
    ok(ptxiCtxSynchronize());
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
    Suite *s = suite_create("api");
    TCase *start = tcase_create("start"), *t = tcase_create("api");

    tcase_add_test(start, nothing_works_before_init);
    tcase_add_test(start, environment_chooses_the_profile);
    tcase_add_test(start, devices_and_profiles);
    suite_add_tcase(s, start);

    tcase_add_checked_fixture(t, open_context, tear_down);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_forked_child_gets_errors);
    tcase_add_test(t, context_stack);
    tcase_add_test(t, contexts_and_threads);
    tcase_add_test(t, primary_context);
    tcase_add_test(t, limits);
    tcase_add_test(t, allocations_stand_apart_and_are_known);
    tcase_add_test(t, allocation_refuses_what_it_cannot_give);
    tcase_add_test(t, freed_places_are_used_again_in_the_end);
    tcase_add_test(t, host_memory);
    tcase_add_test(t, pointer_attributes);
    tcase_add_test(t, open_ranges);
    tcase_add_test(t, copies_move_bytes);
    tcase_add_test(t, copies_refuse_bad_ranges);
    tcase_add_test(t, fills);
    tcase_add_test(t, rectangles);
    tcase_add_loop_test(t, a_stream_keeps_its_order, 0, 4);
    tcase_add_test(t, streams_run_without_anybody_waiting);
    tcase_add_test(t, streams_run_beside_each_other);
    tcase_add_test(t, legacy_stream_synchronises);
    tcase_add_test(t, non_blocking_streams_do_not);
    tcase_add_test(t, per_thread_streams);
    tcase_add_test(t, a_destroyed_stream_finishes_its_work);
    tcase_add_test(t, priorities_are_clamped);
    tcase_add_test(t, host_functions_may_not_call_back);
    tcase_add_test(t, async_copies_follow_their_stream);
    tcase_add_test(t, events_mark_places);
    tcase_add_test(t, a_legacy_event_waits_for_blocking_streams);
    tcase_add_test(t, streams_wait_for_events);
    tcase_add_test(t, contexts_wait_for_each_others_events);
    tcase_add_loop_test(t, a_failure_is_returned_once, 0, 2);
    tcase_add_loop_test(t, who_synchronises_gets_the_failure, 0, 6);
    tcase_add_test(t, failures_come_in_their_order);
    tcase_add_test(t, many_threads);
    suite_add_tcase(s, t);
    return run_suite(s);
}
