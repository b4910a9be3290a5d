/* Layer normalisation of rows of floats: mean, variance about the mean, scale and shift. Each block normalises a row
 * and reads it three times. Sums use shuffles, then shared memory. */
__device__ static float block_sum(float v, float *part)
{
    int t = threadIdx.x, warps = blockDim.x / 32;

    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < warps; w++)
        v += part[w];
    __syncthreads();
    return v;
}

extern "C" __global__ void layernorm(const float *in, const float *gain, const float *shift, float *out, int width,
                                     float eps)
{
    __shared__ float part[32];
    const float *row = in + (size_t)blockIdx.x * width;
    float *to = out + (size_t)blockIdx.x * width;
    float sum = 0.0f, squares = 0.0f;

    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += row[i];
    float mean = block_sum(sum, part) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float d = row[i] - mean;
        squares += d * d;
    }
    float scale = rsqrtf(block_sum(squares, part) / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        to[i] = (row[i] - mean) * scale * gain[i] + shift[i];
}
