// A program of two parts, for nvcc -rdc=true. PART selects one.
#if PART == 1
extern __device__ int triple(int x);

extern "C" __global__ void fill(int *p)
{
    p[threadIdx.x] = triple(threadIdx.x);
}
#else
__device__ int triple(int x)
{
    return 3 * x;
}
#endif
