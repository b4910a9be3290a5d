/* A pool that the program divides, annotated with NVTX. With an argument, a kernel leaves its part of it, or reads a
 * part that nothing has written. */
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>

__global__ void increment(int *p)
{
    p[threadIdx.x]++;
}

int main(int count, char **)
{
    enum { THREADS = 32, PART = THREADS * sizeof(int), BYTES = 4096 };
    char *pool;
    int end = 0;

    cudaMalloc(&pool, BYTES);
    cudaMemset(pool, 0, BYTES);
    nvtxMemVirtualRangeDesc_t all = { BYTES, pool }, part = { PART, pool + PART };
    nvtxMemHeapDesc_t heap = { NVTX_EXT_COMPATID_MEM, sizeof heap };
    heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    heap.typeSpecificDescSize = sizeof all;
    heap.typeSpecificDesc = &all;
    nvtxMemHeapHandle_t handle = nvtxMemHeapRegister(NULL, &heap);
    nvtxMemRegionsRegisterBatch_t regions = { NVTX_EXT_COMPATID_MEM, sizeof regions, NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                              handle, 1, sizeof part, &part };
    nvtxMemRegionsRegister(NULL, &regions);
    if (count < 3) {
        nvtxMemMarkInitializedBatch_t ranges = { NVTX_EXT_COMPATID_MEM, sizeof ranges, NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                                 1, sizeof part, &part };
        nvtxMemCudaMarkInitialized(NULL, 0, 0, &ranges);
    }
    increment<<<1, THREADS>>>((int *)(pool + PART) + (count == 2));
    end |= cudaDeviceSynchronize();
    nvtxMemHeapUnregister(NULL, handle);
    if (count == 1)
        increment<<<1, THREADS>>>((int *)pool);
    end |= cudaDeviceSynchronize();
    printf("end %d\n", end);
}
