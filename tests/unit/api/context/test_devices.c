/* Tests several devices: their profiles, contexts, pools and identifiers, copies between them, and which memory their
 * kernels can access. */
#include "unit/support/bits.h"

#include "ptxi.h"

#include "api/memory/heap.h"

#include <stdlib.h>
#include <string.h>

#define ok(call) ck_assert_int_eq(call, PTXI_SUCCESS)
#define ck_result(call, result) ck_assert_int_eq(call, result)

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static const char text[] = HEAD
    ".visible .global .u32 variable = 7;\n"
    ".visible .global .attribute(.managed) .u32 managed = 8;\n"
    ".visible .entry copy(.param .u64 to, .param .u64 from) {\n"
    ".reg .b64 %t, %f; .reg .b32 %x;\n"
    "ld.param.u64 %t, [to]; ld.param.u64 %f, [from];\n"
    "ld.global.u32 %x, [%f]; st.global.u32 [%t], %x; ret; }\n";

enum { DEVICES = 3, WORDS = 64, BYTES = WORDS * 4 };

/* The primary context of each device, a module in it, and memory. */
static struct {
    ptxiContext ctx;
    ptxiModule module;
    ptxiFunction copy;
    ptxiDevicePtr memory;
} on[DEVICES];

static void use(int device)
{
    ok(ptxiCtxSetCurrent(on[device].ctx));
}

static void open_devices(void)
{
    uint32_t words[WORDS];

    setenv("PTXI_DEVICE", "sm_90,sm_80,sm_75", 1);
    ok(ptxiInit(0));
    for (int d = 0; d < DEVICES; d++) {
        ok(ptxiDevicePrimaryCtxRetain(&on[d].ctx, d));
        use(d);
        ok(ptxiModuleLoadData(&on[d].module, text));
        ok(ptxiModuleGetFunction(&on[d].copy, on[d].module, "copy"));
        ok(ptxiMemAlloc(&on[d].memory, BYTES));
        for (int k = 0; k < WORDS; k++)
            words[k] = (uint32_t)(1000 * d + k);
        ok(ptxiMemcpyHtoD(on[d].memory, words, BYTES));
    }
    use(0);
}

static void close_devices(void)
{
    for (int d = 0; d < DEVICES; d++)
        ok(ptxiDevicePrimaryCtxRelease(d));
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
}

/* Copies a word with a kernel of the device. The device's context stays current. */
static ptxiResult copy_word(int device, ptxiDevicePtr to, ptxiDevicePtr from)
{
    use(device);
    ok(ptxiLaunchKernel(on[device].copy, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &to, &from }, NULL));
    return ptxiCtxSynchronize();
}

static uint32_t word(ptxiDevicePtr at)
{
    return *(const uint32_t *)(uintptr_t)at;
}

/* ---- devices */

START_TEST(the_environment_lists_devices)
{
    static const char *const profiles[DEVICES] = { "sm_90", "sm_80", "sm_75" };
    int count, value, minor;
    ptxiDevice device;
    char name[32], all[DEVICES][64];

    ok(ptxiDeviceGetCount(&count));
    ck_assert_int_eq(count, DEVICES);
    ck_result(ptxiDeviceGet(&device, DEVICES), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGet(&device, -1), PTXI_ERROR_INVALID_DEVICE);
    for (int d = 0; d < DEVICES; d++) {
        ok(ptxiDeviceGet(&device, d));
        ck_assert_int_eq(device, d);
        ok(ptxiDeviceGetProfile(name, sizeof name, d));
        ck_assert_str_eq(name, profiles[d]);
        ok(ptxiDeviceComputeCapability(&value, &minor, d));
        ck_assert_int_eq(10 * value + minor, atoi(profiles[d] + 3));
        ok(ptxiDeviceGetName(all[d], sizeof all[d], d));
        use(d);
        ok(ptxiCtxGetDevice(&device));
        ck_assert_int_eq(device, d);
    }
    ck_assert_str_ne(all[0], all[1]);
    ok(ptxiDeviceSetProfile(1, "sm_86"));
    ok(ptxiDeviceGetProfile(name, sizeof name, 1));
    ck_assert_str_eq(name, "sm_86");
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_90");
}
END_TEST

START_TEST(lists_of_devices)
{
    char many[33 * 6];
    int count;

    for (int k = 0; k < 32; k++)
        memcpy(many + 6 * k, "sm_80,", 6);
    many[32 * 6 - 1] = 0;
    setenv("PTXI_DEVICE", many, 1);
    ck_result(ptxiInit(0), PTXI_ERROR_INVALID_DEVICE);
    static const char *const bad[] = { ",", "sm_90,", ",sm_90", "sm_90,,sm_80", "sm_90 sm_80", "sm_90,sm_8",
                                       "sm_90000000000000000000000000000000" };

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        setenv("PTXI_DEVICE", bad[k], 1);
        ck_assert_msg(ptxiInit(0) == PTXI_ERROR_INVALID_DEVICE, "'%s'", bad[k]);
    }
    many[31 * 6 - 1] = 0;
    setenv("PTXI_DEVICE", many, 1);
    ok(ptxiInit(0));
    ok(ptxiDeviceGetCount(&count));
    ck_assert_int_eq(count, 31);
    ptxiContext c;

    ok(ptxiDevicePrimaryCtxRetain(&c, 30));
    ok(ptxiDevicePrimaryCtxRelease(30));
}
END_TEST

START_TEST(identifiers)
{
    ptxiUuid uuid, other;
    char name[13];
    ptxiDevice device;
    int bus;

    ok(ptxiDeviceGetUuid(&uuid, 0));
    ck_assert_mem_eq(uuid.bytes, "libptxi device ", 16);
    ok(ptxiDeviceGetUuid(&other, 1));
    ck_assert_mem_ne(uuid.bytes, other.bytes, 16);
    ck_result(ptxiDeviceGetUuid(&other, DEVICES), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGetUuid(NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceGetPCIBusId(name, sizeof name, 2));
    ck_assert_str_eq(name, "0000:02:00.0");
    ck_result(ptxiDeviceGetPCIBusId(name, sizeof name - 1, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetPCIBusId(name, sizeof name, DEVICES), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiDeviceGetByPCIBusId(&device, name));
    ck_assert_int_eq(device, 2);
    ok(ptxiDeviceGetByPCIBusId(&device, "1:0"));
    ck_assert_int_eq(device, 1);
    ck_result(ptxiDeviceGetByPCIBusId(&device, "0000:03:00.0"), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGetByPCIBusId(&device, "here"), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceGetAttribute(&bus, PTXI_DEVICE_ATTRIBUTE_PCI_BUS_ID, 2));
    ck_assert_int_eq(bus, 2);
}
END_TEST

START_TEST(properties_are_attributes)
{
    ptxiDevprop p;
    int value;

    for (int d = 0; d < DEVICES; d++) {
        ok(ptxiDeviceGetProperties(&p, d));
#define SAME(member, attribute) \
        ok(ptxiDeviceGetAttribute(&value, PTXI_DEVICE_ATTRIBUTE_##attribute, d)); \
        ck_assert_int_eq(p.member, value)
        SAME(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
        SAME(maxThreadsDim[2], MAX_BLOCK_DIM_Z);
        SAME(maxGridSize[0], MAX_GRID_DIM_X);
        SAME(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
        SAME(totalConstantMemory, TOTAL_CONSTANT_MEMORY);
        SAME(SIMDWidth, WARP_SIZE);
        SAME(memPitch, MAX_PITCH);
        SAME(regsPerBlock, MAX_REGISTERS_PER_BLOCK);
        SAME(clockRate, CLOCK_RATE);
        SAME(textureAlign, TEXTURE_ALIGNMENT);
#undef SAME
    }
    ck_result(ptxiDeviceGetProperties(&p, DEVICES), PTXI_ERROR_INVALID_DEVICE);
}
END_TEST

START_TEST(primary_contexts_are_separate)
{
    unsigned flags;
    int active;
    ptxiContext again;
    unsigned long long id, other;

    ok(ptxiCtxGetId(on[0].ctx, &id));
    ok(ptxiCtxGetId(on[1].ctx, &other));
    ck_assert_uint_ne(id, other);
    ok(ptxiCtxGetId(NULL, &other));
    ck_assert_uint_eq(id, other);
    ok(ptxiDevicePrimaryCtxSetFlags(1, PTXI_CTX_SCHED_YIELD));
    ok(ptxiDevicePrimaryCtxReset(1));
    ok(ptxiDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 0);
    ck_assert_uint_eq(flags, PTXI_CTX_SCHED_YIELD);
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_assert_uint_eq(flags, 0);
    ok(ptxiDevicePrimaryCtxRetain(&again, 1));
    ck_assert_ptr_eq(again, on[1].ctx);
    ok(copy_word(0, on[0].memory, on[0].memory + 4));
}
END_TEST

START_TEST(pointers_know_their_device)
{
    int device;
    ptxiContext c;

    for (int d = 0; d < DEVICES; d++) {
        ok(ptxiPointerGetAttribute(&device, PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL, on[d].memory));
        ck_assert_int_eq(device, d);
        ok(ptxiPointerGetAttribute(&c, PTXI_POINTER_ATTRIBUTE_CONTEXT, on[d].memory));
        ck_assert_ptr_eq(c, on[d].ctx);
    }
}
END_TEST

/* ---- streams of other contexts */

START_TEST(streams_of_other_devices)
{
    ptxiStream s;
    ptxiDevice device;
    ptxiContext c;
    unsigned long long id, other;
    ptxiDevicePtr to = on[1].memory, from = on[1].memory + 4;

    use(1);
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamGetId(s, &id));
    use(0);
    ok(ptxiStreamGetId(s, &other));
    ck_assert_uint_eq(id, other);
    ok(ptxiStreamGetId(NULL, &other));
    ck_assert_uint_ne(id, other);
    ok(ptxiStreamGetDevice(s, &device));
    ck_assert_int_eq(device, 1);
    ok(ptxiStreamGetDevice(NULL, &device));
    ck_assert_int_eq(device, 0);
    ok(ptxiStreamGetCtx(s, &c));
    ck_assert_ptr_eq(c, on[1].ctx);
    ok(ptxiMemcpyDtoDAsync(on[0].memory, on[1].memory, 4, s));
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(word(on[0].memory), 1000);
    ok(ptxiStreamQuery(s));
    ck_result(ptxiLaunchKernel(on[0].copy, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &to, &from }, NULL),
              PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiStreamDestroy(s));
}
END_TEST

/* A failure belongs to the context of its stream. */
START_TEST(failures_in_streams_of_other_devices)
{
    ptxiStream s;
    ptxiDevicePtr to = 64, from = on[1].memory;
    ptxiReport report = { .size = sizeof report };

    use(1);
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiLaunchKernel(on[1].copy, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &to, &from }, NULL));
    use(0);
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_result(ptxiGetLastReport(on[0].ctx, &report), PTXI_ERROR_NOT_FOUND);
    ok(ptxiGetLastReport(on[1].ctx, &report));
    ck_assert_int_eq(report.fault, PTXI_FAULT_NULL);
    ok(ptxiStreamDestroy(s));
}
END_TEST

/* ---- peers */

START_TEST(attributes_of_pairs)
{
    int value;

    for (int a = 0; a < DEVICES; a++)
        for (int b = 0; b < DEVICES; b++) {
            ok(ptxiDeviceCanAccessPeer(&value, a, b));
            ck_assert_int_eq(value, a != b);
        }
    ck_result(ptxiDeviceCanAccessPeer(&value, 0, DEVICES), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceCanAccessPeer(NULL, 0, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceGetP2PAttribute(&value, PTXI_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    ck_assert_int_eq(value, 1);
    ok(ptxiDeviceGetP2PAttribute(&value, PTXI_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1));
    ck_assert_int_eq(value, 0);
    ck_result(ptxiDeviceGetP2PAttribute(&value, PTXI_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1),
              PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGetP2PAttribute(&value, (ptxiDeviceP2PAttribute)6, 0, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetP2PAttribute(&value, (ptxiDeviceP2PAttribute)0, 0, 1), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(kernels_need_peer_access)
{
    ptxiReport report = { .size = sizeof report };

    ck_result(copy_word(0, on[0].memory, on[1].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_int_eq(report.fault, PTXI_FAULT_PEER_ACCESS);
    ck_assert_int_eq(report.access, PTXI_ACCESS_READ);
    ck_assert_uint_eq(report.nearestBase, on[1].memory);
    ck_assert_ptr_nonnull(strstr(report.text, "memory is on device 1, and peer access to it is not enabled"));
    ck_result(copy_word(0, on[1].memory, on[0].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(word(on[1].memory), 1000);

    ok(ptxiCtxEnablePeerAccess(on[1].ctx, 0));
    ok(copy_word(0, on[0].memory, on[1].memory));
    ck_assert_uint_eq(word(on[0].memory), 1000);
    ok(copy_word(0, on[1].memory, on[0].memory + 4));
    ck_assert_uint_eq(word(on[1].memory), 1);
    ck_result(copy_word(0, on[0].memory, on[2].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_result(copy_word(1, on[1].memory, on[0].memory), PTXI_ERROR_ILLEGAL_ADDRESS); /* access has one direction */

    use(0);
    ok(ptxiCtxDisablePeerAccess(on[1].ctx));
    ck_result(copy_word(0, on[0].memory, on[1].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(results_of_peer_access)
{
    ptxiContext other;

    ck_result(ptxiCtxEnablePeerAccess(NULL, 0), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiCtxEnablePeerAccess(on[0].ctx, 0), PTXI_ERROR_PEER_ACCESS_UNSUPPORTED);
    ck_result(ptxiCtxEnablePeerAccess(on[1].ctx, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxDisablePeerAccess(on[1].ctx), PTXI_ERROR_PEER_ACCESS_NOT_ENABLED);
    ck_result(ptxiCtxDisablePeerAccess(NULL), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxEnablePeerAccess(on[1].ctx, 0));
    ck_result(ptxiCtxEnablePeerAccess(on[1].ctx, 0), PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED);

    ok(ptxiCtxCreate(&other, 0, 1)); /* a second context of the device */
    use(0);
    ok(ptxiCtxEnablePeerAccess(other, 0));
    ok(ptxiCtxDisablePeerAccess(on[1].ctx));
    ok(copy_word(0, on[0].memory, on[1].memory));
    ok(ptxiCtxDestroy(other)); /* which ends the access */
    ck_result(ptxiCtxDisablePeerAccess(other), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(copy_word(0, on[0].memory, on[1].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_reset_ends_peer_access)
{
    ptxiDevicePtr p;

    ok(ptxiCtxEnablePeerAccess(on[1].ctx, 0));
    ok(copy_word(0, on[0].memory, on[1].memory));
    ok(ptxiDevicePrimaryCtxReset(1));
    ok(ptxiDevicePrimaryCtxRetain(&on[1].ctx, 1));
    use(1);
    ok(ptxiMemAlloc(&p, 4));
    ck_result(copy_word(0, on[0].memory, p), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxEnablePeerAccess(on[1].ctx, 0));
    ok(copy_word(0, on[0].memory, p));
}
END_TEST

START_TEST(all_devices_access_host_and_managed_memory)
{
    ptxiDevicePtr managed, variable;
    void *host;
    size_t bytes;
    static uint32_t registered[WORDS], opened[WORDS];

    use(1);
    ok(ptxiMemAllocManaged(&managed, 4, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiMemHostAlloc(&host, 4, 0));
    ok(ptxiMemHostRegister(registered, sizeof registered, 0));
    ok(ptxiMemOpenRange(opened, sizeof opened, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    ok(copy_word(0, managed, on[0].memory + 4));
    ok(copy_word(0, (uintptr_t)host, managed));
    ok(copy_word(2, (uintptr_t)registered, (uintptr_t)host));
    ok(copy_word(0, (uintptr_t)opened, (uintptr_t)registered));
    ck_assert_uint_eq(opened[0], 1);
    ok(ptxiModuleGetGlobal(&variable, &bytes, on[1].module, "managed"));
    ok(copy_word(0, on[0].memory, variable));
    ck_assert_uint_eq(word(on[0].memory), 8);
    ok(ptxiModuleGetGlobal(&variable, &bytes, on[1].module, "variable"));
    ck_result(copy_word(0, on[0].memory, variable), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemHostUnregister(registered));
    ok(ptxiMemCloseRange(opened));
}
END_TEST

START_TEST(contexts_of_one_device_share_memory)
{
    ptxiContext other;
    ptxiDevicePtr p;

    ok(ptxiCtxCreate(&other, 0, 1));
    ok(ptxiMemAlloc(&p, 4));
    ok(copy_word(1, p, on[1].memory));
    ck_assert_uint_eq(word(p), 1000);
    ok(ptxiCtxDestroy(other));
}
END_TEST

/* ---- pools */

static void set_access(ptxiMemoryPool pool, int device, ptxiMemAccessFlags flags, ptxiResult result)
{
    ptxiMemAccessDesc d = { { PTXI_MEM_LOCATION_TYPE_DEVICE, device }, flags };

    ck_result(ptxiMemPoolSetAccess(pool, &d, 1), result);
}

static int access_of(ptxiMemoryPool pool, int device)
{
    ptxiMemLocation l = { PTXI_MEM_LOCATION_TYPE_DEVICE, device };
    ptxiMemAccessFlags flags;

    ok(ptxiMemPoolGetAccess(&flags, pool, &l));
    return (int)flags;
}

START_TEST(each_device_has_pools)
{
    ptxiMemoryPool pool[DEVICES], made, now;
    ptxiMemPoolProps props = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                               .location = { PTXI_MEM_LOCATION_TYPE_DEVICE, 1 } };
    ptxiDevicePtr p;
    int device;

    for (int d = 0; d < DEVICES; d++)
        ok(ptxiDeviceGetDefaultMemPool(&pool[d], d));
    ck_assert_ptr_ne(pool[0], pool[1]);
    ck_result(ptxiDeviceSetMemPool(0, pool[1]), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemPoolCreate(&made, &props));
    ck_result(ptxiDeviceSetMemPool(0, made), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceSetMemPool(1, made));
    ok(ptxiDeviceGetMemPool(&now, 1));
    ck_assert_ptr_eq(now, made);
    ok(ptxiDeviceGetMemPool(&now, 0));
    ck_assert_ptr_eq(now, pool[0]);
    ok(ptxiMemAllocFromPoolAsync(&p, 4, made, NULL)); /* in the context of device 0 */
    ok(ptxiPointerGetAttribute(&device, PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    ck_assert_int_eq(device, 1);
    ck_result(copy_word(0, p, on[0].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(copy_word(1, p, on[1].memory));
    use(0);
    ok(ptxiMemFreeAsync(p, NULL));
    ok(ptxiMemPoolDestroy(made));
    ok(ptxiDeviceGetMemPool(&now, 1));
    ck_assert_ptr_eq(now, pool[1]);
}
END_TEST

/* Peer access does not apply to pools, which have their own (CUDA C++ Programming Guide, "Device Accessibility for
 * Multi-GPU Support"). */
START_TEST(pools_grant_access)
{
    ptxiReport report = { .size = sizeof report };
    ptxiMemoryPool pool;
    ptxiDevicePtr p;

    ok(ptxiDeviceGetDefaultMemPool(&pool, 1));
    ck_assert_int_eq(access_of(pool, 1), PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ck_assert_int_eq(access_of(pool, 0), PTXI_MEM_ACCESS_FLAGS_PROT_NONE);
    use(1);
    ok(ptxiMemAllocAsync(&p, 4, NULL));
    use(0);
    ok(ptxiCtxEnablePeerAccess(on[1].ctx, 0));
    ck_result(copy_word(0, p, on[0].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_ptr_nonnull(strstr(report.text, "note: the memory is from a pool that gives this device no access\n"));
    set_access(pool, 0, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE, PTXI_SUCCESS);
    ck_assert_int_eq(access_of(pool, 0), PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ok(copy_word(0, p, on[0].memory));
    ck_result(copy_word(2, p, on[2].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    set_access(pool, 0, PTXI_MEM_ACCESS_FLAGS_PROT_NONE, PTXI_SUCCESS);
    ck_result(copy_word(0, p, on[0].memory), PTXI_ERROR_ILLEGAL_ADDRESS);
    set_access(pool, 1, PTXI_MEM_ACCESS_FLAGS_PROT_NONE, PTXI_ERROR_INVALID_DEVICE);
    set_access(pool, DEVICES, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE, PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiMemFree(p));
}
END_TEST

/* ---- copies */

START_TEST(copies_between_devices)
{
    ptxiStream s;
    PTXI_MEMCPY3D_PEER box = {
        .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = on[2].memory, .srcContext = on[2].ctx, .srcPitch = 64,
        .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = on[1].memory, .dstContext = on[1].ctx, .dstPitch = 32,
        .WidthInBytes = 8, .Height = 2, .Depth = 1,
    };

    ok(ptxiMemcpyPeer(on[0].memory, on[0].ctx, on[1].memory + 4, on[1].ctx, 4));
    ck_assert_uint_eq(word(on[0].memory), 1001);
    ok(ptxiMemcpyPeer(on[0].memory, NULL, on[2].memory + 4, on[2].ctx, 4));
    ck_assert_uint_eq(word(on[0].memory), 2001);
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiMemcpyPeerAsync(on[0].memory, on[0].ctx, on[1].memory + 8, on[1].ctx, 4, s));
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(word(on[0].memory), 1002);
    ok(ptxiMemcpyDtoD(on[0].memory, on[1].memory + 12, 4));
    ck_assert_uint_eq(word(on[0].memory), 1003);
    ok(ptxiMemcpy3DPeer(&box));
    ck_assert_uint_eq(word(on[1].memory + 4), 2001);
    ck_assert_uint_eq(word(on[1].memory + 8), 1002);
    ck_assert_uint_eq(word(on[1].memory + 32), 2016);
    box.srcY = 1;
    box.Height = 1;
    ok(ptxiMemcpy3DPeerAsync(&box, s));
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(word(on[1].memory), 2016);
    ok(ptxiStreamDestroy(s));

    ck_result(ptxiMemcpy3DPeer(NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyPeer(64, on[0].ctx, on[1].memory, on[1].ctx, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyPeer(on[0].memory, on[0].ctx, on[1].memory, (ptxiContext)on, 4), PTXI_ERROR_INVALID_CONTEXT);
}
END_TEST

static void set_word(void *p)
{
    *(uint32_t *)p = 5;
}

START_TEST(peer_copies_wait_for_both_contexts)
{
    ptxiStream s;

    use(1);
    ok(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiLaunchHostFunc(s, set_word, (void *)(uintptr_t)on[1].memory));
    use(0);
    ok(ptxiMemcpyPeer(on[0].memory, on[0].ctx, on[1].memory, on[1].ctx, 4));
    ck_assert_uint_eq(word(on[0].memory), 5);
    ok(ptxiStreamDestroy(s));
}
END_TEST

/* ---- settings without effect */

START_TEST(cache_settings_belong_to_contexts)
{
    ptxiFuncCache cache;
    ptxiSharedConfig banks;

    ok(ptxiCtxSetCacheConfig(PTXI_FUNC_CACHE_PREFER_L1));
    ck_result(ptxiCtxSetCacheConfig((ptxiFuncCache)4), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiCtxGetCacheConfig(&cache));
    ck_assert_int_eq(cache, PTXI_FUNC_CACHE_PREFER_L1);
    use(1);
    ok(ptxiCtxGetCacheConfig(&cache));
    ck_assert_int_eq(cache, PTXI_FUNC_CACHE_PREFER_NONE);
    ok(ptxiCtxSetSharedMemConfig(PTXI_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    ck_result(ptxiCtxSetSharedMemConfig((ptxiSharedConfig)3), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiCtxGetSharedMemConfig(&banks));
    ck_assert_int_eq(banks, PTXI_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    ok(ptxiFuncSetSharedMemConfig(on[1].copy, PTXI_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
    ck_result(ptxiFuncSetSharedMemConfig(on[1].copy, (ptxiSharedConfig)-1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncSetSharedMemConfig(NULL, PTXI_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiCtxResetPersistingL2Cache());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("devices");
    TCase *t = tcase_create("devices"), *lists = tcase_create("lists");

    tcase_add_checked_fixture(t, open_devices, close_devices);
    tcase_add_test(t, the_environment_lists_devices);
    tcase_add_test(t, identifiers);
    tcase_add_test(t, properties_are_attributes);
    tcase_add_test(t, primary_contexts_are_separate);
    tcase_add_test(t, pointers_know_their_device);
    tcase_add_test(t, streams_of_other_devices);
    tcase_add_test(t, failures_in_streams_of_other_devices);
    tcase_add_test(t, attributes_of_pairs);
    tcase_add_test(t, kernels_need_peer_access);
    tcase_add_test(t, results_of_peer_access);
    tcase_add_test(t, a_reset_ends_peer_access);
    tcase_add_test(t, all_devices_access_host_and_managed_memory);
    tcase_add_test(t, contexts_of_one_device_share_memory);
    tcase_add_test(t, each_device_has_pools);
    tcase_add_test(t, pools_grant_access);
    tcase_add_test(t, copies_between_devices);
    tcase_add_test(t, peer_copies_wait_for_both_contexts);
    tcase_add_test(t, cache_settings_belong_to_contexts);
    tcase_add_test(lists, lists_of_devices);
    suite_add_tcase(s, t);
    suite_add_tcase(s, lists);
    return run_suite(s);
}
