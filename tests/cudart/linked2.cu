// The second file of the program `linked`.
#include "show.h"
#include "units.h"

__device__ int shared_counter = 100;
__constant__ float shared_factor = 1.5f;
__managed__ int shared_managed = 1000;

__device__ int square(int x)
{
    return x * x;
}

static __device__ int twice(int x)
{
    return 2 * x;
}

__device__ int (*operation)(int) = twice;

struct Base {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Base() {}
};

struct Square : Base {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return square(side); }
};

__device__ Base *make_shape(int side)
{
    return new Square(side);
}

__global__ void second_kernel(int *out)
{
    out[0] = shared_counter;
    out[1] = shared_managed;
}

void run_second_unit()
{
    void *address;
    int value = 0;

    SHOW(cudaGetSymbolAddress(&address, shared_counter));
    SHOW(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    printf("counter in the second unit: %d, managed %d\n", value, shared_managed);
}
