// The second file of the program `units`.
#include "show.h"
#include "units.h"

static __device__ int counter = 500;

static __global__ void step(int by)
{
    counter -= by;
}

template<typename T> __global__ void shared_template(T *out)
{
    *out = sizeof(T);
}

void run_second_unit()
{
    int value, *out;

    step<<<1, 1>>>(7);
    SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("second unit: %d\n", value);
    MUST(cudaMalloc(&out, sizeof *out));
    shared_template<<<1, 1>>>(out);
    fetch(&value, out, 1);
    printf("template: %d\n", value);
}
