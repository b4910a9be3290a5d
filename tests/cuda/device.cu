/* CUB's algorithms for devices, called by a kernel. They launch their kernels by dynamic parallelism. Compiled with
 * -rdc=true. */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

__device__ __align__(256) char temp[1 << 20];

#define CALL(function, ...)                                     \
    do {                                                        \
        size_t bytes = 0;                                       \
        function(nullptr, bytes, __VA_ARGS__);                  \
        function((void *)temp, bytes, __VA_ARGS__);             \
    } while (0)

extern "C" __global__ void device_scan(const unsigned long long *in, unsigned long long *out, int n)
{
    CALL(cub::DeviceScan::InclusiveSum, in, out, n);
}

extern "C" __global__ void device_sort(const unsigned *in, unsigned *out, int n)
{
    CALL(cub::DeviceRadixSort::SortKeys, in, out, n);
}

extern "C" __global__ void device_runs(const unsigned *in, unsigned *out, int n)
{
    CALL(cub::DeviceReduce::ReduceByKey, (const unsigned char *)in, (unsigned char *)(out + 1 + n), in, out + 1, out,
         cuda::std::plus<>(), n);
}

struct Odd {
    __device__ bool operator()(unsigned v) const { return v & 1; }
};

extern "C" __global__ void device_select(const unsigned *in, unsigned *out, int n)
{
    CALL(cub::DeviceSelect::If, in, out + 1, out, n, Odd());
}

extern "C" __global__ void device_histogram(const unsigned *in, unsigned *out, int n)
{
    CALL(cub::DeviceHistogram::HistogramEven, (const unsigned char *)in, out, 65, 0u, 256u, n);
}

extern "C" __global__ void device_sum(const float *in, float *out, int n)
{
    CALL(cub::DeviceReduce::Sum, in, out, n);
}
