// Dynamic parallelism (-rdc=true): kernels launch kernels into each kind of stream, and graphs of nested launches.
#include "show.h"

__global__ void child(int *p, int value)
{
    p[threadIdx.x] += value;
}

__global__ void parent(int *p)
{
    child<<<1, 4>>>(p, 1);
    child<<<1, 4>>>(p, 10);
    child<<<1, 4, 0, cudaStreamTailLaunch>>>(p, 100);
    child<<<1, 4, 0, cudaStreamFireAndForget>>>(p + 4, 5);
}

__global__ void recurse(int *p, int depth)
{
    atomicAdd(p, 1);
    if (depth)
        recurse<<<1, 2>>>(p, depth - 1);
}

__global__ void errors(int *p)
{
    child<<<1, 2000>>>(p, 1);
    p[0] = cudaGetLastError();
    p[1] = cudaGetLastError();
    cudaStream_t s;
    p[2] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    child<<<1, 1, 0, s>>>(p + 4, 9);
    p[3] = cudaStreamDestroy(s);
    int device = -1;
    cudaGetDevice(&device);
    p[5] = device;
    int warp = 0;
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0);
    p[6] = warp;
}

__global__ void copy(int *p)
{
    p[6] = cudaMemcpyAsync(p, p + 4, 8, cudaMemcpyDeviceToDevice, 0);
    p[7] = cudaMemsetAsync(p + 2, 1, 4, 0);
}

__global__ void quicksort(int *p, int lo, int hi)
{
    int i = lo, j = hi, pivot = p[(lo + hi) / 2];

    while (i <= j) {
        while (p[i] < pivot)
            i++;
        while (p[j] > pivot)
            j--;
        if (i <= j) {
            int t = p[i];
            p[i++] = p[j];
            p[j--] = t;
        }
    }
    if (lo < j)
        quicksort<<<1, 1>>>(p, lo, j);
    if (i < hi)
        quicksort<<<1, 1>>>(p, i, hi);
}

int main()
{
    int *p, host[8], numbers[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };

    MUST(cudaMalloc(&p, sizeof host));
    MUST(cudaMemset(p, 0, sizeof host));
    parent<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    fetch(host, p, 8);
    show_ints("parent", host, 8);
    MUST(cudaMemset(p, 0, sizeof host));
    recurse<<<1, 1>>>(p, 4);
    fetch(host, p, 1);
    show_ints("recurse", host, 1);
    MUST(cudaMemset(p, 0, sizeof host));
    errors<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    fetch(host, p, 8);
    show_ints("errors", host, 8);
    SHOW(cudaGetLastError());
    copy<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    fetch(host, p, 8);
    show_ints("copy", host, 8);
    const int before[8] = { 50, 51, 52, 53, 54, 55, 56, 57 };
    MUST(cudaMemcpy(p, before, sizeof before, cudaMemcpyHostToDevice));
    copy<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    fetch(host, p, 8);
    show_ints("copy again", host, 8);
    MUST(cudaMemcpy(p, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(p, 0, 7);
    SHOW(cudaDeviceSynchronize());
    fetch(host, p, 8);
    show_ints("sorted", host, 8);
    return 0;
}
