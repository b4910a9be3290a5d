// The shared library of the program `plugins`.
#include "show.h"

static __device__ int counter = 100;
static __managed__ int managed = 1000;

static __global__ void step(int *p, int by)
{
    counter += by;
    managed += 1;
    *p = counter;
}

extern "C" int run_plugin(int by)
{
    int *p, host = 0;

    MUST(cudaMalloc(&p, sizeof *p));
    step<<<1, 1>>>(p, by);
    SHOW(cudaGetLastError());
    MUST(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    MUST(cudaFree(p));
    return host + managed;
}
