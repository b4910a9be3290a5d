/* Fourier transforms of 256 complex numbers. A CTA of 128 threads makes one in shared memory, in eight stages of radix
 * 2. root[k] is exp(-2 pi i k / 256). */
enum { POINTS = 256, STAGES = 8 };

extern "C" __global__ void fft256(const float2 *in, const float2 *root, float2 *out)
{
    __shared__ float2 data[2][POINTS];
    int t = threadIdx.x;
    size_t first = (size_t)blockIdx.x * POINTS;

    data[0][t] = in[first + t];
    data[0][t + POINTS / 2] = in[first + t + POINTS / 2];
    for (int s = 0; s < STAGES; s++) {
        const float2 *from = data[s & 1];
        float2 *to = data[~s & 1];
        int k = t & ((1 << s) - 1), at = 2 * t - k;

        __syncthreads();
        float2 a = from[t], b = from[t + POINTS / 2], w = root[k << (STAGES - 1 - s)];
        float re = fmaf(b.x, w.x, -(b.y * w.y)), im = fmaf(b.x, w.y, b.y * w.x);
        to[at] = make_float2(a.x + re, a.y + im);
        to[at + (1 << s)] = make_float2(a.x - re, a.y - im);
    }
    __syncthreads();
    out[first + t] = data[0][t];
    out[first + t + POINTS / 2] = data[0][t + POINTS / 2];
}
