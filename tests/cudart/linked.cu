// Device linking (-rdc=true): variables, functions, virtual calls and function pointers across two translation units.
#include "show.h"
#include "units.h"

extern __device__ int shared_counter;
extern __constant__ float shared_factor;
extern __managed__ int shared_managed;
extern __device__ int square(int x);
extern __device__ int (*operation)(int);
extern __global__ void second_kernel(int *out);

struct Base {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Base() {}
};
__device__ Base *make_shape(int side);

__global__ void first_kernel(int *out)
{
    Base *b = make_shape(6);

    out[0] = square(5);
    out[1] = operation(5);
    out[2] = b->area();
    out[3] = (int)(shared_factor * 4);
    shared_counter += 11;
    shared_managed += 1;
    delete b;
}

int main()
{
    int *out, host[4], value;

    MUST(cudaMalloc(&out, sizeof host));
    first_kernel<<<1, 1>>>(out);
    fetch(host, out, 4);
    show_ints("first", host, 4);
    second_kernel<<<1, 1>>>(out);
    fetch(host, out, 2);
    show_ints("second", host, 2);
    SHOW(cudaMemcpyFromSymbol(&value, shared_counter, sizeof value));
    printf("counter %d managed %d\n", value, shared_managed);
    float factor = 3;
    SHOW(cudaMemcpyToSymbol(shared_factor, &factor, sizeof factor));
    first_kernel<<<1, 1>>>(out);
    fetch(host, out, 4);
    show_ints("first", host, 4);
    run_second_unit();
    return 0;
}
