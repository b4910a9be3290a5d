// Stream-ordered allocation: cudaMallocAsync, memory pools, their attributes, and errors.
#include "show.h"

#include <cstdint>

__global__ void fill(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = value + i;
}

int main()
{
    cudaStream_t a, b;
    cudaMemPool_t pool, def, current;
    int *p, *q, host[4];
    uint64_t value = 7;
    int reuse = -1;

    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreate(&b));
    SHOW(cudaMallocAsync(&p, 1000 * sizeof *p, a));
    fill<<<1, 128, 0, a>>>(p, 1000, 5);
    SHOW(cudaMemcpyAsync(host, p + 996, 16, cudaMemcpyDeviceToHost, a));
    SHOW(cudaFreeAsync(p, a));
    SHOW(cudaStreamSynchronize(a));
    show_ints("values", host, 4);
    SHOW(cudaFreeAsync(p, a));
    SHOW(cudaFreeAsync(nullptr, a));
    SHOW(cudaMallocAsync(&p, 0, a));
    printf("of 0 bytes: %s\n", p ? "not NULL" : "NULL");
    SHOW(cudaMallocAsync((void **)nullptr, 16, a));
    SHOW(cudaMallocAsync(&p, (size_t)1 << 50, a));
    SHOW(cudaGetLastError());

    // Memory of cudaMalloc() may be freed by cudaFreeAsync(), and the other way round.
    SHOW(cudaMalloc(&p, 64));
    SHOW(cudaFreeAsync(p, a));
    SHOW(cudaMallocAsync(&p, 64, a));
    SHOW(cudaFree(p));

    SHOW(cudaDeviceGetDefaultMemPool(&def, 0));
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("default is current: %d\n", def == current);
    SHOW(cudaMemPoolGetAttribute(def, cudaMemPoolAttrReleaseThreshold, &value));
    printf("threshold %llu\n", (unsigned long long)value);
    value = 1 << 20;
    SHOW(cudaMemPoolSetAttribute(def, cudaMemPoolAttrReleaseThreshold, &value));
    SHOW(cudaMemPoolGetAttribute(def, cudaMemPoolAttrReleaseThreshold, &value));
    printf("threshold %llu\n", (unsigned long long)value);
    for (cudaMemPoolAttr k : { cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                               cudaMemPoolReuseAllowInternalDependencies }) {
        SHOW(cudaMemPoolGetAttribute(def, k, &reuse));
        printf("reuse %d: %d\n", k, reuse);
    }
    SHOW(cudaMemPoolGetAttribute(def, cudaMemPoolAttrUsedMemCurrent, &value));
    printf("used %llu\n", (unsigned long long)value);
    SHOW(cudaMemPoolGetAttribute(def, (cudaMemPoolAttr)0, &value));
    SHOW(cudaMemPoolTrimTo(def, 0));

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = { cudaMemLocationTypeDevice, 0 };
    SHOW(cudaMemPoolCreate(&pool, &props));
    SHOW(cudaMallocFromPoolAsync(&p, 256, pool, a));
    SHOW(cudaMallocFromPoolAsync(&q, 256, pool, b));
    printf("distinct: %d\n", p != q);
    fill<<<1, 32, 0, b>>>(q, 4, 30);
    SHOW(cudaMemcpyAsync(host, q, 16, cudaMemcpyDeviceToHost, b));
    SHOW(cudaStreamSynchronize(b));
    show_ints("from a pool", host, 4);
    cudaMemAccessFlags access;
    SHOW(cudaMemPoolGetAccess(&access, pool, &props.location));
    printf("access %d\n", access);
    SHOW(cudaDeviceSetMemPool(0, pool));
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("pool is current: %d\n", pool == current);
    SHOW(cudaDeviceSetMemPool(0, def));
    SHOW(cudaFreeAsync(p, a));
    SHOW(cudaFreeAsync(q, b));
    SHOW(cudaMemPoolDestroy(pool));
    SHOW(cudaMemPoolDestroy(def));
    props.location.id = 99;
    SHOW(cudaMemPoolCreate(&pool, &props));
    props.location = { cudaMemLocationTypeDevice, 0 };
    props.allocType = cudaMemAllocationTypeInvalid;
    SHOW(cudaMemPoolCreate(&pool, &props));
    SHOW(cudaMemPoolCreate(nullptr, &props));
    SHOW(cudaDeviceGetDefaultMemPool(&def, 99));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
