/* Sorts runs of 512 integers by a bitonic network in shared memory. A block has 256 threads. In each step a thread
 * makes one compare-exchange. */
#define RUN 512

extern "C" __global__ void bitonic(int *data)
{
    __shared__ int s[RUN];
    int t = threadIdx.x;
    int *run = data + blockIdx.x * RUN;

    s[t] = run[t];
    s[t + RUN / 2] = run[t + RUN / 2];
#pragma unroll
    for (int size = 2; size <= RUN; size <<= 1) {
        bool up = (t & (size >> 1)) == 0;
#pragma unroll
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            int pos = 2 * t - (t & (stride - 1));
            int a = s[pos], b = s[pos + stride];
            if ((a > b) == up) {
                s[pos] = b;
                s[pos + stride] = a;
            }
        }
    }
    __syncthreads();
    run[t] = s[t];
    run[t + RUN / 2] = s[t + RUN / 2];
}
