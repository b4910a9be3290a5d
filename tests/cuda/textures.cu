// Textures and surfaces by the functions of CUDA C++.
#include <cuda_runtime.h>

extern "C" __global__ void blur(cudaTextureObject_t t, float *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;

    out[y * width + x] = tex2D<float>(t, x + 1.0f, y + 1.0f);
}

extern "C" __global__ void row(cudaTextureObject_t t, int4 *out)
{
    int x = threadIdx.x;
    uchar4 v = tex1Dfetch<uchar4>(t, x);

    out[x] = make_int4(v.x, v.y, v.z, v.w);
}

extern "C" __global__ void layers(cudaTextureObject_t t, float4 *out, int width)
{
    int x = threadIdx.x, layer = blockIdx.x;

    out[layer * width + x] = tex2DLayered<float4>(t, (x + 0.5f) / width, 0.5f, layer);
}

extern "C" __global__ void levels(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x / 4.0f);
}

extern "C" __global__ void corners(cudaTextureObject_t t, uint4 *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;

    out[y * width + x] = tex2Dgather<uint4>(t, x + 1.0f, y + 1.0f, 1);
}

extern "C" __global__ void faces(cudaTextureObject_t t, float *out)
{
    int k = threadIdx.x;
    float at = k % 2 ? -1.0f : 1.0f;

    out[k] = texCubemap<float>(t, k / 2 == 0 ? at : 0.25f, k / 2 == 1 ? at : 0.25f, k / 2 == 2 ? at : 0.25f);
}

extern "C" __global__ void flip(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    ushort2 v;

    surf2Dread(&v, from, x * (int)sizeof v, y);
    v.x += 1;
    surf2Dwrite(v, to, (width - 1 - x) * (int)sizeof v, y, cudaBoundaryModeTrap);
    surf2Dwrite(v, to, (width + x) * (int)sizeof v, y, cudaBoundaryModeZero);
}
