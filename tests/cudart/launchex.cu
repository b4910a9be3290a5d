// cudaLaunchKernelEx: attributes of launches (priority, cooperative, programmatic dependent launch).
#include "show.h"

#include <cooperative_groups.h>

__global__ void fill(int *out, int value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void sum_of_blocks(int *out, int *total)
{
    auto grid = cooperative_groups::this_grid();

    if (!threadIdx.x)
        atomicAdd(total, out[blockIdx.x * blockDim.x]);
    grid.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *total;
}

__global__ void first_of_two(int *out)
{
    cudaTriggerProgrammaticLaunchCompletion();
    out[threadIdx.x] = threadIdx.x * 3;
}

__global__ void second_of_two(int *out)
{
    cudaGridDependencySynchronize();
    out[threadIdx.x] += 1;
}

int main()
{
    int *out, *total, host[64];
    cudaLaunchAttribute attribute[2] = {};
    cudaLaunchConfig_t config = {};
    cudaStream_t stream;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMalloc(&out, 256 * sizeof *out));
    MUST(cudaMalloc(&total, sizeof *total));
    MUST(cudaMemset(total, 0, sizeof *total));
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.stream = stream;
    SHOW(cudaLaunchKernelEx(&config, fill, out, 5));
    MUST(cudaStreamSynchronize(stream));
    fetch(host, out, 64);
    printf("fill: %d %d\n", host[0], host[63]);

    config.attrs = attribute;
    config.numAttrs = 1;
    attribute[0].id = cudaLaunchAttributePriority;
    attribute[0].val.priority = -1;
    SHOW(cudaLaunchKernelEx(&config, fill, out, 6));
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    SHOW(cudaLaunchKernelEx(&config, sum_of_blocks, out, total));
    MUST(cudaStreamSynchronize(stream));
    fetch(host, out, 64);
    printf("cooperative: %d %d\n", host[0], host[63]);

    // The second kernel may begin before the first one has ended, but waits for its memory.
    config.gridDim = dim3(1);
    config.numAttrs = 0;
    SHOW(cudaLaunchKernelEx(&config, first_of_two, out));
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.numAttrs = 1;
    SHOW(cudaLaunchKernelEx(&config, second_of_two, out));
    MUST(cudaStreamSynchronize(stream));
    fetch(host, out, 32);
    printf("programmatic: %d %d %d\n", host[0], host[1], host[31]);

    attribute[0].id = (cudaLaunchAttributeID)0; // ignored
    SHOW(cudaLaunchKernelEx(&config, fill, out, 7));
    config.gridDim = dim3(0);
    SHOW(cudaLaunchKernelEx(&config, fill, out, 7));
    config.gridDim = dim3(1);
    config.blockDim = dim3(2048);
    SHOW(cudaLaunchKernelEx(&config, fill, out, 7));
    void *arguments[] = { &out, &total };
    config.blockDim = dim3(1);
    SHOW(cudaLaunchKernelExC(&config, nullptr, arguments));
    SHOW(cudaGetLastError());
    SHOW(cudaStreamDestroy(stream));
    return 0;
}
