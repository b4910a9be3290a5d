// Kernels that the program `library` loads at run time.
extern "C" {
__device__ int offsets[2] = { 1, 2 };
__managed__ int managed_word = 77;

__global__ void __launch_bounds__(512) scale(int *p, int factor)
{
    p[threadIdx.x] = p[threadIdx.x] * factor + offsets[0];
}

__global__ void second(int *p)
{
    *p = managed_word;
}
}
