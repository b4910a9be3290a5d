/* Histogram of bytes. The input has words of four bytes. A block has 256 threads. It counts by atomics in shared memory
 * and finally adds its counts to global memory by atomics. */
extern "C" __global__ void hist(const unsigned *words, unsigned *bins, int n)
{
    __shared__ unsigned local[256];

    local[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned w = words[i];
        atomicAdd(&local[w & 255], 1u);
        atomicAdd(&local[w >> 8 & 255], 1u);
        atomicAdd(&local[w >> 16 & 255], 1u);
        atomicAdd(&local[w >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
