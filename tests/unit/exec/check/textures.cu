// Races of texture instructions, as in races.cu. textures.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 textures.cu
// `words` is a texture of the 256 words at p, `rows` a texture with a linear filter of 4 rows of 64 floats at q, and
// `array` and `s` are a texture and a surface of an array of 4 rows of 64 words.
typedef unsigned u32;

#define KERNEL(name)                                                                                        \
    extern "C" __global__ void name(u32 *p, float *q, u32 *out, cudaTextureObject_t words, cudaTextureObject_t rows, \
                                    cudaTextureObject_t array, cudaSurfaceObject_t s)
#define TID threadIdx.x
#define BLOCK blockIdx.x
#define OWN (TID + BLOCK * 64)

KERNEL(e_texture_read_after_write)
{
    p[OWN] = TID;
    out[OWN] = tex1Dfetch<u32>(words, OWN ^ 33);
}
KERNEL(c_texture_read_after_write)
{
    p[OWN] = TID;
    __syncthreads();
    out[OWN] = tex1Dfetch<u32>(words, OWN ^ 33);
}
KERNEL(e_texture_write_after_read)
{
    out[OWN] = tex1Dfetch<u32>(words, OWN ^ 33);
    p[OWN] = TID;
}
KERNEL(c_texture_own_word)
{
    out[OWN] = tex1Dfetch<u32>(words, OWN);
    p[OWN] = TID;
}
KERNEL(e_texture_blocks)
{
    if (BLOCK & 1) p[OWN] = TID;
    else out[OWN] = tex1Dfetch<u32>(words, OWN ^ 64);
}
KERNEL(c_texture_blocks)
{
    if (BLOCK & 1) p[OWN] = TID;
    else out[OWN] = tex1Dfetch<u32>(words, OWN ^ 128);
}
// Between two texels, both are read. In the middle of one, the others have no share.
KERNEL(e_texture_filtered)
{
    q[OWN] = TID;
    __syncwarp();
    out[OWN] = tex2D<float>(rows, TID + 1.f, BLOCK + .5f);
}
KERNEL(c_texture_filtered)
{
    q[OWN] = TID;
    __syncwarp();
    out[OWN] = tex2D<float>(rows, TID + .5f, BLOCK + .5f);
}
// Such fetches are done lane by lane.
__device__ static float fetch_at(cudaTextureObject_t t, float x, float y, int offset)
{
    float4 v;
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(t), "f"(x), "f"(y), "r"(offset), "r"(0));
    return v.x;
}
KERNEL(e_texture_offset)
{
    q[OWN] = TID;
    __syncwarp();
    out[OWN] = fetch_at(rows, TID + .5f, BLOCK + .5f, 1);
}
KERNEL(c_texture_offset)
{
    q[OWN] = TID;
    __syncwarp();
    out[OWN] = fetch_at(rows, TID + 1.5f, BLOCK + .5f, -1);
}
// Four texels of two rows are read.
KERNEL(e_texture_gather)
{
    if (BLOCK == 0) q[OWN + 64] = TID;
    if (BLOCK == 1) out[OWN] = tex2Dgather<float4>(rows, TID + 1.f, 1.f).w;
}
KERNEL(c_texture_gather)
{
    if (BLOCK == 0) q[OWN + 128] = TID;
    if (BLOCK == 1) out[OWN] = tex2Dgather<float4>(rows, TID + 1.f, 1.f).w;
}
KERNEL(e_texture_array)
{
    surf2Dwrite(TID, s, TID * 4, BLOCK);
    out[OWN] = tex2D<u32>(array, (TID ^ 33) + .5f, BLOCK + .5f);
}
KERNEL(c_texture_array)
{
    surf2Dwrite(TID, s, TID * 4, BLOCK);
    __syncthreads();
    out[OWN] = tex2D<u32>(array, (TID ^ 33) + .5f, BLOCK + .5f);
}
