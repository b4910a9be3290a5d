// Memory pools for managed memory and for memory of the host.
#include "show.h"

#include <cstdint>

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static const char *type_name(cudaMemoryType t)
{
    static const char *const names[] = { "unregistered", "host", "device", "managed" };
    return (unsigned)t < 4 ? names[t] : "?";
}

static void show_access(cudaMemPool_t pool, cudaMemLocationType type, int id)
{
    cudaMemAccessFlags flags = (cudaMemAccessFlags)77;
    cudaMemLocation at = { type, id };

    SHOW(cudaMemPoolGetAccess(&flags, pool, &at));
    printf("  access of %d %d: %d\n", type, id, (int)flags);
    cudaGetLastError();
}

static void set_access(cudaMemPool_t pool, cudaMemLocationType type, int id, cudaMemAccessFlags flags)
{
    cudaMemAccessDesc a = { { type, id }, flags };

    printf("  access of %d %d to %d: %s\n", type, id, flags, cudaGetErrorName(cudaMemPoolSetAccess(pool, &a, 1)));
    cudaGetLastError();
}

static void use_memory(cudaMemPool_t pool, bool by_host)
{
    cudaStream_t s;
    cudaPointerAttributes a;
    int *p = nullptr, host[4] = { 1, 2, 3, 4 };

    MUST(cudaStreamCreate(&s));
    if (SHOW(cudaMallocFromPoolAsync(&p, 4096, pool, s)))
        return;
    MUST(cudaStreamSynchronize(s));
    SHOW(cudaPointerGetAttributes(&a, p));
    printf("%s memory of device %d, for the device %d, for the host %d\n", type_name(a.type), a.device,
           a.devicePointer == p, a.hostPointer == p);
    SHOW(cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyDefault, s));
    add<<<1, 4, 0, s>>>(p, 10);
    SHOW(cudaMemsetAsync(p + 1, 0, 4, s));
    SHOW(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDefault, s));
    SHOW(cudaStreamSynchronize(s));
    show_ints("values", host, 4);
    if (by_host) {
        p[0]++;
        printf("of the host: %d %d\n", p[0], p[3]);
    }
    SHOW(cudaFreeAsync(p, s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaMallocFromPoolAsync(&p, 64, pool, s));
    MUST(cudaStreamSynchronize(s));
    SHOW(cudaFree(p));
    cudaGetLastError();
    SHOW(cudaMallocFromPoolAsync(&p, 64, pool, s));
    MUST(cudaStreamSynchronize(s));
    SHOW(cudaFreeHost(p));
    cudaGetLastError();
    MUST(cudaStreamDestroy(s));
}

static cudaMemPoolProps props(cudaMemAllocationType type, cudaMemLocationType where, int id)
{
    cudaMemPoolProps p = {};

    p.allocType = type;
    p.location.type = where;
    p.location.id = id;
    return p;
}

static void try_pool(const char *label, cudaMemPoolProps p, bool by_host)
{
    cudaMemPool_t pool;

    printf("== %s\n", label);
    if (SHOW(cudaMemPoolCreate(&pool, &p))) {
        cudaGetLastError();
        return;
    }
    show_access(pool, cudaMemLocationTypeDevice, 0);
    show_access(pool, cudaMemLocationTypeHost, 0);
    set_access(pool, cudaMemLocationTypeDevice, 0, cudaMemAccessFlagsProtReadWrite);
    set_access(pool, cudaMemLocationTypeDevice, 0, cudaMemAccessFlagsProtNone);
    show_access(pool, cudaMemLocationTypeDevice, 0);
    set_access(pool, cudaMemLocationTypeHost, 0, cudaMemAccessFlagsProtReadWrite);
    set_access(pool, cudaMemLocationTypeHost, 0, cudaMemAccessFlagsProtNone);
    show_access(pool, cudaMemLocationTypeHost, 0);
    set_access(pool, cudaMemLocationTypeDevice, 0, cudaMemAccessFlagsProtReadWrite);
    use_memory(pool, by_host);
    uint64_t used = 77;
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used));
    printf("used %d\n", used > 0);
    SHOW(cudaMemPoolTrimTo(pool, 0));
    SHOW(cudaMemPoolDestroy(pool));
}

static void show_default(cudaMemAllocationType type, cudaMemLocationType where, int id)
{
    cudaMemPool_t a = nullptr, b = nullptr, device;
    cudaMemLocation at = { where, id };

    MUST(cudaDeviceGetDefaultMemPool(&device, 0));
    printf("== default of type %d at %d %d\n", type, where, id);
    if (SHOW(cudaMemGetDefaultMemPool(&a, &at, type)))
        return;
    SHOW(cudaMemGetMemPool(&b, &at, type));
    printf("the current pool %d, the pool of the device %d\n", a == b, a == device);
    SHOW(cudaMemPoolDestroy(a));
    cudaGetLastError();
    show_access(a, cudaMemLocationTypeDevice, 0);
    set_access(a, cudaMemLocationTypeDevice, 0, cudaMemAccessFlagsProtReadWrite);
    use_memory(a, type == cudaMemAllocationTypeManaged || where != cudaMemLocationTypeDevice);
}

// Sets the current pool of a place, and allocates as usual.
static void set_current(cudaMemAllocationType type, cudaMemLocationType where, int id)
{
    cudaMemPoolProps p = props(type, where, id), of_device = props(cudaMemAllocationTypePinned,
                                                                  cudaMemLocationTypeDevice, 0);
    cudaMemPool_t pool, other, current;
    cudaMemLocation at = { where, id };
    cudaPointerAttributes a;
    int *q;

    printf("== current pool of type %d at %d %d\n", type, where, id);
    MUST(cudaMemPoolCreate(&pool, &p));
    MUST(cudaMemPoolCreate(&other, &of_device));
    SHOW(cudaDeviceSetMemPool(0, pool));
    SHOW(cudaMemSetMemPool(&at, type, other));
    SHOW(cudaMemSetMemPool(&at, type, pool));
    SHOW(cudaMemGetMemPool(&current, &at, type));
    printf("current %d\n", current == pool);
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("of the device %d\n", current == pool);
    SHOW(cudaMallocAsync(&q, 64, 0));
    SHOW(cudaPointerGetAttributes(&a, q));
    printf("%s memory\n", type_name(a.type));
    SHOW(cudaFreeAsync(q, 0));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaMemPoolDestroy(pool));
    SHOW(cudaMemGetMemPool(&current, &at, type));
    SHOW(cudaMemPoolDestroy(other));
    cudaGetLastError();
}

int main()
{
    const cudaMemAllocationType pinned = cudaMemAllocationTypePinned, managed = cudaMemAllocationTypeManaged;
    cudaMemPoolProps p;

    int attribute = -1;
    SHOW(cudaDeviceGetAttribute(&attribute, cudaDevAttrHostMemoryPoolsSupported, 0));
    printf("%d\n", attribute);
    try_pool("host", props(pinned, cudaMemLocationTypeHost, 0), true);
    try_pool("node 0 of the host", props(pinned, cudaMemLocationTypeHostNuma, 0), true);
    try_pool("node 9 of the host", props(pinned, cudaMemLocationTypeHostNuma, 9), true);
    try_pool("this node of the host", props(pinned, cudaMemLocationTypeHostNumaCurrent, 0), true);
    try_pool("managed, preferably of the device", props(managed, cudaMemLocationTypeDevice, 0), true);
    try_pool("managed, preferably of the host", props(managed, cudaMemLocationTypeHost, 0), true);
    try_pool("managed, of a node", props(managed, cudaMemLocationTypeHostNuma, 0), true);
    try_pool("managed", props(managed, cudaMemLocationTypeNone, 0), true);
    try_pool("pinned, nowhere", props(pinned, cudaMemLocationTypeNone, 0), true);
    p = props(pinned, cudaMemLocationTypeHost, 0);
    p.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    try_pool("host, shared", p, true);
    p = props(managed, cudaMemLocationTypeDevice, 0);
    p.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    try_pool("managed, shared", p, true);
    p = props(pinned, cudaMemLocationTypeHost, 0);
    p.maxSize = 1 << 20;
    try_pool("host, with a limit", p, true);
    show_default(pinned, cudaMemLocationTypeDevice, 0);
    show_default(pinned, cudaMemLocationTypeHost, 0);
    show_default(pinned, cudaMemLocationTypeHostNuma, 0);
    show_default(managed, cudaMemLocationTypeDevice, 0);
    show_default(managed, cudaMemLocationTypeHost, 0);
    show_default(managed, cudaMemLocationTypeNone, 0);
    set_current(pinned, cudaMemLocationTypeHost, 0);
    set_current(managed, cudaMemLocationTypeDevice, 0);
    set_current(managed, cudaMemLocationTypeNone, 0);

    // Memory nodes of graphs
    for (cudaMemPoolProps kind : { props(pinned, cudaMemLocationTypeHost, 0),
                                   props(managed, cudaMemLocationTypeDevice, 0) }) {
        cudaGraph_t g;
        cudaGraphNode_t n;
        cudaMemAllocNodeParams m = {};

        m.poolProps = kind;
        m.bytesize = 64;
        MUST(cudaGraphCreate(&g, 0));
        SHOW(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &m));
        MUST(cudaGraphDestroy(g));
        cudaGetLastError();
    }

    // Without a permission for the device
    for (cudaMemPoolProps kind : { props(managed, cudaMemLocationTypeDevice, 0),
                                   props(managed, cudaMemLocationTypeNone, 0),
                                   props(pinned, cudaMemLocationTypeHost, 0) }) {
        cudaMemPool_t pool;
        int *q;

        MUST(cudaMemPoolCreate(&pool, &kind));
        MUST(cudaMallocFromPoolAsync(&q, 64, pool, 0));
        MUST(cudaDeviceSynchronize());
        *q = 1;
        printf("type %d at %d:\n", kind.allocType, kind.location.type);
        SHOW(cudaMemsetAsync(q + 1, 0, 4, 0));
        cudaGetLastError();
        add<<<1, 1>>>(q, 10);
        if (!SHOW(cudaDeviceSynchronize()))
            printf("%d\n", *q);
    }
    return 0;
}
