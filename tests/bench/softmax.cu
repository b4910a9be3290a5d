/* softmax of the rows of a matrix. A warp computes one row. */
extern "C" __global__ void softmax(const float *in, float *out, int rows, int width)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;

    if (row >= rows)
        return;
    const float *from = in + (size_t)row * width;
    float *to = out + (size_t)row * width, most = -INFINITY, sum = 0.0f;

    for (int i = lane; i < width; i += 32)
        most = fmaxf(most, from[i]);
    for (int s = 16; s; s >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, s));
    for (int i = lane; i < width; i += 32)
        sum += __expf(from[i] - most);
    for (int s = 16; s; s >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, s);
    float scale = __fdividef(1.0f, sum);
    for (int i = lane; i < width; i += 32)
        to[i] = __expf(from[i] - most) * scale;
}
