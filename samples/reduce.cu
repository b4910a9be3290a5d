/* Sum of a vector: shuffles within each warp, shared memory between warps, and one integer atomic per block. */
extern "C" __global__ void reduce(const int *in, unsigned long long *sum, int n)
{
    __shared__ long long part[32];
    int t = threadIdx.x;
    long long v = 0;

    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    if (t >= 32)
        return;
    v = t < blockDim.x / 32 ? part[t] : 0;
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0)
        atomicAdd(sum, (unsigned long long)v);
}
