/* Inclusive sums of runs of 1024 integers. A CTA of 1024 threads makes those of one run with shuffles. */
extern "C" __global__ void scan(const int *in, int *out)
{
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, x = in[blockIdx.x * blockDim.x + t];

    for (int d = 1; d < 32; d <<= 1) {
        int y = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d)
            x += y;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        int sum = sums[lane];
        for (int d = 1; d < 32; d <<= 1) {
            int y = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d)
                sum += y;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    if (warp)
        x += sums[warp - 1];
    out[blockIdx.x * blockDim.x + t] = x;
}
