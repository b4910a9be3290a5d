/* Sum of floats: a grid-stride loop, then shuffles within each warp and among the warps. Each block writes a sum. */
#define BLOCK 256

__device__ static float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void reduce_shfl(const float *in, float *out, int n)
{
    __shared__ float part[BLOCK / 32];
    int t = threadIdx.x;
    float sum = 0.0f;

#pragma unroll 1
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    sum = warp_sum(sum);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < BLOCK / 32 ? part[t] : 0.0f);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}
