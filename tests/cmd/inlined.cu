// nvcc -arch=sm_90 -lineinfo -ptx inlined.cu
template<class T> __device__ inline void put(T *p, int i)
{
    p[i * 4] = i;
}

template<class T> __device__ inline void put_next(T *p, int i)
{
    put(p, i + 1);
}

template<class T> __global__ void fill(T *p)
{
    put_next(p, threadIdx.x);
}

template __global__ void fill<float>(float *);
template __global__ void fill<int>(int *);

namespace other {
__global__ void fill(int *p)
{
    put_next(p, threadIdx.x);
}
}
