// Two translation units without device linking: each has its own static variables and kernels with the same names.
#include "show.h"
#include "units.h"

static __device__ int counter = 10;
__constant__ int only_here = 3;

static __global__ void step(int by)
{
    counter += by * only_here;
}

template<typename T> __global__ void shared_template(T *out)
{
    *out = sizeof(T);
}

template __global__ void shared_template(int *);

int main()
{
    int value;

    step<<<1, 1>>>(2);
    SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("first unit: %d\n", value);
    run_second_unit();
    step<<<1, 1>>>(1);
    SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("first unit: %d\n", value);
    int *out;
    MUST(cudaMalloc(&out, sizeof *out));
    shared_template<<<1, 1>>>(out);
    fetch(&value, out, 1);
    printf("template: %d\n", value);
    return 0;
}
