/* A volume that cudaMemset3D fills, all of it or, with an argument, all but its last row. A kernel reads it. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void increment(cudaPitchedPtr p, int height)
{
    char *row = (char *)p.ptr + (blockIdx.y * height + blockIdx.x) * p.pitch;

    ((int *)row)[threadIdx.x]++;
}

int main(int count, char **)
{
    enum { WIDTH = 20, HEIGHT = 3, DEPTH = 2 };
    cudaExtent all = make_cudaExtent(WIDTH * sizeof(int), HEIGHT, DEPTH), part = all;
    cudaPitchedPtr p;

    cudaMalloc3D(&p, all);
    cudaMemset3D(p, 0, all);
    if (count > 1) {
        cudaFree(p.ptr);
        cudaMalloc3D(&p, all);
        part.height--;
        cudaMemset3D(p, 0, part);
    }
    increment<<<dim3(HEIGHT, DEPTH), WIDTH>>>(p, HEIGHT);
    printf("end %d\n", cudaDeviceSynchronize());
}
