/* Kernels that compute images from textures. */
#include <cuda_runtime.h>

/* A plane in perspective. The mipmap level of each pixel depends on its distance. */
__device__ static float distance_of(int y)
{
    return 40.0f / (y + 1.5f);
}

extern "C" __global__ void levels(const float *in, float4 *out, int n, cudaTextureObject_t texture)
{
    int x = threadIdx.x, y = blockIdx.x;
    float distance = distance_of(y), u = (x - 31.5f) * distance * 0.04f + in[0], v = distance * 0.7f;

    out[y * n + x] = tex2DLod<float4>(texture, u, v, log2f(distance) + 0.5f);
}

extern "C" __global__ void gradients_level(const float *in, float4 *out, int n, cudaTextureObject_t texture)
{
    int x = threadIdx.x, y = blockIdx.x;
    float distance = distance_of(y), u = (x - 31.5f) * distance * 0.04f + in[0], v = distance * 0.7f;

    out[y * n + x] = tex2DGrad<float4>(texture, u, v, make_float2(0.04f * distance, 0),
                                       make_float2(0.002f * distance, 0.01f * distance * distance / n));
}

/* Casts rays through a volume. */
extern "C" __global__ void rays(const float *in, float *out, int n, cudaTextureObject_t texture)
{
    int x = threadIdx.x, y = blockIdx.x, g = y * blockDim.x + x;
    float3 p = make_float3((x + 0.5f) / blockDim.x, (y + 0.5f) / gridDim.x, 0);
    float3 d = make_float3(in[3 * g] * 0.02f, in[3 * g + 1] * 0.02f, 1.0f / n);
    float light = 0, clear = 1;

    for (int i = 0; i < n && clear > 0.05f; i++) {
        float v = tex3D<float>(texture, p.x, p.y, p.z), opaque = fminf(fabsf(v) * 0.2f, 1.0f);

        light += clear * opaque * (v > 0 ? v : 0.25f);
        clear *= 1 - opaque;
        p.x += d.x;
        p.y += d.y;
        p.z += d.z;
    }
    out[2 * g] = light;
    out[2 * g + 1] = clear;
}
