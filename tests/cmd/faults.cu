// One fault of each kind for reports. faults.ptx was made from this file:
//     nvcc -ptx -lineinfo -arch=compute_90 faults.cu
extern "C" {
__global__ void beyond(int *p, int n) { p[n + threadIdx.x] = 1; }
__global__ void odd(char *p) { *(int *)(p + 1) = 1; }
__global__ void beyond_shared(int *p, int n)
{
    __shared__ int s[16];

    s[threadIdx.x] = n;
    __syncthreads();
    *p = s[threadIdx.x + n];
}
__global__ void write_write(int *p) { __shared__ int s; s = threadIdx.x; __syncthreads(); *p = s; }
__global__ void read_write(int *p) { __shared__ int s[64]; s[threadIdx.x] = 1; p[threadIdx.x] = s[63 - threadIdx.x]; }
__global__ void divergent(int *p) { if (threadIdx.x < 40) __syncthreads(); else __syncthreads(); *p = 1; }
__global__ void uninitialised(int *p, int *q) { if (p[threadIdx.x] > 5) q[threadIdx.x] = 1; }
}
namespace space { template<int N> __global__ void templated(int *p) { p[64 + N + threadIdx.x] = 1; } }
template __global__ void space::templated<3>(int *p);
