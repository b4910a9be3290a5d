// Races of surface instructions, as in races.cu. surfaces.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 surfaces.cu
// The surface has 4 rows of 64 words, which are 0.
typedef unsigned u32;

#define KERNEL(name) extern "C" __global__ void name(u32 *p, cudaSurfaceObject_t s)
#define TID threadIdx.x
#define BLOCK blockIdx.x

__device__ static void write(cudaSurfaceObject_t s, u32 x, u32 y, u32 v) { surf2Dwrite(v, s, x * 4, y); }
__device__ static u32 read(cudaSurfaceObject_t s, u32 x, u32 y) { return surf2Dread<u32>(s, x * 4, y); }
__device__ static void add(cudaSurfaceObject_t s, u32 x, u32 y)
{
    asm volatile("sured.b.2d.add.u32.clamp [%0, {%1, %2}], 1;" :: "l"(s), "r"(x * 4), "r"(y) : "memory");
}

KERNEL(e_surface_read_after_write)
{
    write(s, TID, BLOCK, TID);
    p[TID + BLOCK * 64] = read(s, TID ^ 33, BLOCK);
}
KERNEL(c_surface_read_after_write)
{
    write(s, TID, BLOCK, TID);
    __syncthreads();
    p[TID + BLOCK * 64] = read(s, TID ^ 33, BLOCK);
}
KERNEL(e_surface_write_after_read)
{
    p[TID + BLOCK * 64] = read(s, TID ^ 33, BLOCK);
    write(s, TID, BLOCK, TID);
}
KERNEL(c_surface_own_word)
{
    p[TID + BLOCK * 64] = read(s, TID, BLOCK);
    write(s, TID, BLOCK, TID);
}
KERNEL(e_surface_blocks) { write(s, TID, 0, TID + BLOCK); }
KERNEL(c_surface_blocks) { write(s, TID, BLOCK, TID); }
KERNEL(e_surface_reduced) { if (TID < 32) add(s, 0, BLOCK); else if (TID == 32) write(s, 0, BLOCK, 5); }
KERNEL(c_surface_reduced) { add(s, 0, 0); }
