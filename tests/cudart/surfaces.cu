// Surfaces: reads and writes with each boundary mode, arrays of each shape, and their errors.
#include "show.h"

__global__ void write2d(cudaSurfaceObject_t s)
{
    surf2Dwrite(threadIdx.x * 10 + threadIdx.y, s, threadIdx.x * 4, threadIdx.y);
}

__global__ void read2d(cudaSurfaceObject_t s, int *out)
{
    out[0] = surf2Dread<int>(s, 4, 1);
    out[1] = surf2Dread<int>(s, -4, 1, cudaBoundaryModeZero);
    out[2] = surf2Dread<int>(s, -4, 1, cudaBoundaryModeClamp);
    out[3] = surf2Dread<int>(s, 4000, 5000, cudaBoundaryModeClamp);
    out[4] = surf2Dread<int>(s, 4000, 0, cudaBoundaryModeZero);
    surf2Dwrite(77, s, 4000, 0, cudaBoundaryModeZero);
    surf2Dwrite(78, s, 4000, 0, cudaBoundaryModeClamp);
    out[5] = surf2Dread<int>(s, 12, 0);
}

__global__ void use3d(cudaSurfaceObject_t s, short *out)
{
    surf3Dwrite((short)(5 + threadIdx.x), s, threadIdx.x * 2, 1, 1);
    __syncthreads();
    out[threadIdx.x] = surf3Dread<short>(s, (blockDim.x - 1 - threadIdx.x) * 2, 1, 1);
}

__global__ void use_layers(cudaSurfaceObject_t s, float4 *out)
{
    surf2DLayeredwrite(make_float4(1, 2, 3, 4), s, 16, 1, 2);
    out[0] = surf2DLayeredread<float4>(s, 16, 1, 2);
    out[1] = surf2DLayeredread<float4>(s, 16, 1, 9, cudaBoundaryModeZero);
}

static cudaSurfaceObject_t make_surface(cudaArray_t array)
{
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s = 0;

    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    SHOW(cudaCreateSurfaceObject(&s, &r));
    return s;
}

int main()
{
    cudaArray_t array, plain;
    cudaChannelFormatDesc i1 = cudaCreateChannelDesc<int>(), s1 = cudaCreateChannelDesc<short>();
    cudaChannelFormatDesc f4 = cudaCreateChannelDesc<float4>();
    int host[12];
    short shorts[4];
    float4 floats[2];
    void *out;

    MUST(cudaMalloc(&out, 256));
    MUST(cudaMallocArray(&array, &i1, 4, 3, cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t s = make_surface(array);
    write2d<<<1, dim3(4, 3)>>>(s);
    MUST(cudaMemcpy2DFromArray(host, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    show_ints("written", host, 12);
    read2d<<<1, 1>>>(s, (int *)out);
    fetch(host, (int *)out, 6);
    show_ints("read", host, 6);
    MUST(cudaMalloc3DArray(&array, &s1, make_cudaExtent(4, 2, 2), cudaArraySurfaceLoadStore));
    use3d<<<1, 4>>>(make_surface(array), (short *)out);
    fetch(shorts, (short *)out, 4);
    printf("3D: %d %d %d %d\n", shorts[0], shorts[1], shorts[2], shorts[3]);
    MUST(cudaMalloc3DArray(&array, &f4, make_cudaExtent(4, 2, 3), cudaArraySurfaceLoadStore | cudaArrayLayered));
    use_layers<<<1, 1>>>(make_surface(array), (float4 *)out);
    fetch(floats, (float4 *)out, 2);
    show_floats("layers", &floats[0].x, 8);

    MUST(cudaMallocArray(&plain, &i1, 4, 3));
    make_surface(plain);
    cudaResourceDesc r = {};
    SHOW(cudaGetSurfaceObjectResourceDesc(&r, s));
    printf("type %d\n", r.resType);
    r.resType = cudaResourceTypeLinear;
    SHOW(cudaCreateSurfaceObject(&s, &r));
    SHOW(cudaCreateSurfaceObject(&s, nullptr));
    SHOW(cudaDestroySurfaceObject(s));
    SHOW(cudaDestroySurfaceObject(0));

    // Without a mode, an access outside of the surface is an error of the kernel.
    MUST(cudaMallocArray(&array, &i1, 4, 3, cudaArraySurfaceLoadStore));
    write2d<<<1, dim3(8, 3)>>>(make_surface(array));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
