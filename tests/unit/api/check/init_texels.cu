// Uninitialised texels. init_texels.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 init_texels.cu
// `t` and `s` are a texture and a surface of an array of 64 x 4 words, `f` a texture with a linear filter of an array
// of floats of that size. e_: something is found. d_: only if the content of the arrays is undefined. c_: nothing.
typedef unsigned u32;

#define KERNEL(name)                                                                                      \
    extern "C" __global__ void name(u32 *out, cudaTextureObject_t t, cudaTextureObject_t f, cudaSurfaceObject_t s)
#define TID threadIdx.x
#define UNDEFINED() __shared__ volatile u32 m[64]

__device__ static u32 read(cudaSurfaceObject_t s, u32 x) { return surf2Dread<u32>(s, x * 4, 1); }
__device__ static void write(cudaSurfaceObject_t s, u32 x, u32 v) { surf2Dwrite(v, s, x * 4, 1); }
__device__ static u32 fetch(cudaTextureObject_t t, u32 x) { return tex2D<u32>(t, x + .5f, 1.5f); }

KERNEL(d_load) { out[TID] = read(s, TID) + 1; }
KERNEL(c_load_copied) { out[TID] = read(s, TID); }
KERNEL(d_load_branch) { if (read(s, TID) == 7) out[TID] = 1; }
KERNEL(c_store) { write(s, TID, TID); out[TID] = read(s, TID) + 1; }
KERNEL(d_store_elsewhere) { write(s, TID, TID); out[TID] = read(s, TID + 8) + 1; }
KERNEL(e_store_computed) { UNDEFINED(); write(s, TID, m[TID] + 1); }
KERNEL(c_store_copied) { UNDEFINED(); write(s, TID, m[TID]); out[TID] = read(s, TID); }
KERNEL(e_store_copied_load) { UNDEFINED(); write(s, TID, m[TID]); out[TID] = read(s, TID) + 1; }
KERNEL(c_store_part) // only the lower half of the word is undefined
{
    __shared__ volatile unsigned short m[64];
    surf2Dwrite(m[TID], s, TID * 4, 1);
    surf2Dwrite((unsigned short)TID, s, TID * 4 + 2, 1);
    out[TID] = (read(s, TID) >> 16) + 1;
}
KERNEL(e_store_part)
{
    __shared__ volatile unsigned short m[64];
    surf2Dwrite(m[TID], s, TID * 4, 1);
    surf2Dwrite((unsigned short)TID, s, TID * 4 + 2, 1);
    out[TID] = (read(s, TID) & 0xffff) + 1;
}
KERNEL(e_store_formatted)
{
    UNDEFINED();
    asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" :: "l"(s), "r"(TID), "r"(1), "r"(m[TID]) : "memory");
    out[TID] = read(s, TID) + 1;
}
KERNEL(c_store_formatted)
{
    asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" :: "l"(s), "r"(TID), "r"(1), "r"(TID) : "memory");
    out[TID] = read(s, TID) + 1;
}
KERNEL(e_store_address) { UNDEFINED(); write(s, m[TID] & 7, TID); }
KERNEL(d_reduce)
{
    asm volatile("sured.b.2d.add.u32.trap [%0, {%1, %2}], 1;" :: "l"(s), "r"(TID * 4), "r"(1) : "memory");
}
KERNEL(c_reduce_stored)
{
    write(s, TID, TID);
    asm volatile("sured.b.2d.add.u32.trap [%0, {%1, %2}], 1;" :: "l"(s), "r"(TID * 4), "r"(1) : "memory");
}
KERNEL(d_fetch) { out[TID] = fetch(t, TID) + 1; }
KERNEL(c_fetch_copied) { out[TID] = fetch(t, TID); }
KERNEL(c_fetch_stored) { write(s, TID, TID); out[TID] = fetch(t, TID) + 1; }
KERNEL(d_fetch_filtered) { ((float *)out)[TID] = tex2D<float>(f, TID + 1.f, 1.5f); }
KERNEL(d_fetch_gathered) { ((float *)out)[TID] = tex2Dgather<float4>(f, TID + 1.f, 1.f).x + 1; }
KERNEL(d_fetch_negated)
{
    float4 v = tex2Dgather<float4>(f, TID + 1.f, 2.f);
    ((float *)out)[TID] = -v.x * 2 + v.y * 3 - v.z * 5 + v.w * 7;
}
// lane by lane
KERNEL(d_fetch_offset)
{
    float4 v;
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(f), "f"(TID + 1.f), "f"(1.5f), "r"(1), "r"(0));
    ((float *)out)[TID] = v.x;
}
KERNEL(d_load_converted) { ((float *)out)[TID] = (float)read(s, TID) * 3; }
KERNEL(e_fetch_address) { UNDEFINED(); out[TID] = fetch(t, m[TID] & 7); }
KERNEL(c_fetch_guarded) { if (TID & 1) write(s, TID, TID); if (TID & 1) out[TID] = fetch(t, TID) + 1; }
// with a guard
#define GUARDED(instruction, ...)                                                                  \
    asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 3; @q " instruction "; }" __VA_ARGS__ : "memory")
KERNEL(d_load_guarded)
{
    u32 v = 0;
    GUARDED("suld.b.2d.b32.trap %0, [%2, {%3, %4}]", : "+r"(v) : "r"(TID), "l"(s), "r"(TID * 4), "r"(1));
    out[TID] = v + 1;
}
KERNEL(c_store_guarded)
{
    u32 v = 0;
    GUARDED("sust.b.2d.b32.trap [%2, {%3, %4}], %1", : "+r"(v) : "r"(TID), "l"(s), "r"(TID * 4), "r"(1));
    GUARDED("suld.b.2d.b32.trap %0, [%2, {%3, %4}]", : "+r"(v) : "r"(TID), "l"(s), "r"(TID * 4), "r"(1));
    out[TID] = v + 1;
}
