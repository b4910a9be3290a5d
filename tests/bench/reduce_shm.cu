/* Sum of floats: a grid-stride loop, then a tree in shared memory. Each block writes a sum. */
#define BLOCK 256

extern "C" __global__ void reduce_shm(const float *in, float *out, int n)
{
    __shared__ float s[BLOCK];
    int t = threadIdx.x;
    float sum = 0.0f;

#pragma unroll 1
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
