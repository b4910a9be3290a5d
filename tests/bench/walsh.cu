/* Walsh-Hadamard transforms of runs of 1024 numbers, in place. A CTA of 256 threads makes one in shared memory. */
enum { RUN = 1024 };

extern "C" __global__ void walsh(float *data)
{
    __shared__ float s[RUN];
    float *run = data + (size_t)blockIdx.x * RUN;
    int t = threadIdx.x;

    for (int i = t; i < RUN; i += blockDim.x)
        s[i] = run[i];
    for (int stride = 1; stride < RUN; stride <<= 1) {
        __syncthreads();
        for (int i = t; i < RUN / 2; i += blockDim.x) {
            int at = 2 * i - (i & (stride - 1));
            float a = s[at], b = s[at + stride];

            s[at] = a + b;
            s[at + stride] = a - b;
        }
    }
    __syncthreads();
    for (int i = t; i < RUN; i += blockDim.x)
        run[i] = s[i];
}
