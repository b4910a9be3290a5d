// A program that has only machine code for another architecture (sm_75) and no PTX.
#include "show.h"

__device__ int variable = 5;

__global__ void set(int *p)
{
    *p = variable;
}

int main()
{
    int *p, host = 0, count = 0;
    void *address;
    cudaFuncAttributes a;

    SHOW(cudaGetDeviceCount(&count));
    SHOW(cudaMalloc(&p, sizeof *p));
    set<<<1, 1>>>(p);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFuncGetAttributes(&a, set));
    SHOW(cudaGetSymbolAddress(&address, variable));
    SHOW(cudaMemcpyFromSymbol(&host, variable, sizeof host));
    SHOW(cudaMemset(p, 0, sizeof *p));
    SHOW(cudaGetLastError());
    return 0;
}
