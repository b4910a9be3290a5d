// Variables of the device: addresses, sizes, copies with offsets, and errors.
#include "show.h"

__device__ int numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
__constant__ float scale = 2.5f;
__constant__ int4 quads[3];
__device__ double unused_by_kernels = 6.5;
namespace {
__device__ short hidden = 17;
}
struct Pair {
    int first, second;
};
__device__ Pair pair = { 3, 4 };
static __device__ int *pointer = numbers + 2;

__global__ void use(float *out)
{
    out[0] = scale * numbers[threadIdx.x];
    out[1] = hidden + pair.second;
    out[2] = quads[1].z;
    out[3] = *pointer;
}

int main()
{
    int host[8] = {};
    float *out, result[4];
    void *address, *other;
    size_t bytes = 0;
    int4 q = { 5, 6, 7, 8 };

    MUST(cudaMalloc(&out, sizeof result));
    use<<<1, 1>>>(out);
    fetch(result, out, 4);
    show_floats("initial values", result, 4);
    SHOW(cudaMemcpyFromSymbol(host, numbers, sizeof host));
    show_ints("numbers", host, 8);
    SHOW(cudaMemcpyFromSymbol(host, numbers, 8, 12));
    show_ints("numbers", host, 8);
    host[0] = 100;
    SHOW(cudaMemcpyToSymbol(numbers, host, 4));
    float four = 4;
    SHOW(cudaMemcpyToSymbol(scale, &four, sizeof four));
    SHOW(cudaMemcpyToSymbol(quads, &q, sizeof q, sizeof q));
    SHOW(cudaMemcpyToSymbolAsync(hidden, host, 2, 0, cudaMemcpyHostToDevice, 0));
    use<<<1, 1>>>(out);
    fetch(result, out, 4);
    show_floats("changed values", result, 4);

    SHOW(cudaGetSymbolAddress(&address, numbers));
    SHOW(cudaMemset(address, 0, 4));
    SHOW(cudaMemcpyFromSymbol(host, numbers, 8));
    show_ints("cleared", host, 2);
    SHOW(cudaGetSymbolSize(&bytes, numbers));
    printf("%zu\n", bytes);
    SHOW(cudaGetSymbolSize(&bytes, unused_by_kernels));
    printf("%zu\n", bytes);
    SHOW(cudaGetSymbolAddress(&other, scale));
    SHOW(cudaMemcpy(&four, other, 4, cudaMemcpyDeviceToHost));
    printf("scale %g\n", four);
    SHOW(cudaMemcpyToSymbol(pair, out, 8, 0, cudaMemcpyDeviceToDevice));

    SHOW(cudaMemcpyFromSymbol(host, numbers, 33));
    SHOW(cudaMemcpyFromSymbol(host, numbers, 8, 28));
    SHOW(cudaMemcpyFromSymbol(host, numbers, 0, 33));
    SHOW(cudaMemcpyFromSymbol(host, numbers, 8, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyToSymbol(numbers, host, 8, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyToSymbol(numbers, host, 8, 0, cudaMemcpyHostToHost));
    SHOW(cudaMemcpyToSymbol(numbers, host, 8, 0, (cudaMemcpyKind)8));
    SHOW(cudaMemcpyToSymbol((const void *)host, host, 8));
    SHOW(cudaGetSymbolAddress(&address, (const void *)use));
    SHOW(cudaGetSymbolSize(&bytes, (const void *)"numbers"));
    SHOW(cudaGetLastError());
    return 0;
}
