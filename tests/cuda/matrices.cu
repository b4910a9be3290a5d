// Instructions that move matrices, and a product by wgmma from swizzled shared memory.
#include <cuda_fp16.h>

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// Each warp transposes blocks of 16x16 halves three times: by ldmatrix.trans, movmatrix and stmatrix.trans.
extern "C" __global__ void transposed(const void *in, void *out, int n)
{
    __shared__ __half from[4][16 * 16], to[4][16 * 16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    size_t block = ((size_t)blockIdx.x * 4 + warp) * 256;
    unsigned r[4];

    for (int i = lane; i < 256; i += 32)
        from[warp][i] = ((const __half *)in)[block + i];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(&from[warp][(lane / 8 % 2 * 8 + lane % 8) * 16 + lane / 16 * 8])));
    for (int i = 0; i < 4; i++)
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r[i]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.b16 [%0], {%1, %2, %3, %4};"
                 :: "l"(&to[warp][(lane / 16 * 8 + lane % 8) * 16 + lane / 8 % 2 * 8]), "r"(r[0]), "r"(r[1]),
                    "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        ((__half *)out)[block + i] = i < n ? to[warp][i] : __half(0);
}

// Returns the offset of 16 bytes, unit number `unit`, in a row of 128 bytes with the swizzle of tensor cores.
static __device__ unsigned swizzled(unsigned row, unsigned unit)
{
    return row * 128 + (unit ^ row % 8) * 16;
}

// The next 8 rows are 1024 bytes further. The swizzle has 128 bytes.
static __device__ unsigned long long descriptor(const void *p)
{
    return address(p) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// D = A * B' for 64x64 halves. A block is a warpgroup.
extern "C" __global__ void product(const void *in, void *out, int n)
{
    __shared__ __align__(1024) unsigned char a[64 * 128], b[64 * 128];
    const uint4 *from = (const uint4 *)in + blockIdx.x * 2 * 64 * 8;
    float d[32] = { 0 };

    for (unsigned i = threadIdx.x; i < 64 * 8; i += blockDim.x) {
        *(uint4 *)(a + swizzled(i / 8, i % 8)) = from[i];
        *(uint4 *)(b + swizzled(i / 8, i % 8)) = from[64 * 8 + i];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < n; k += 16)
        asm volatile("{ .reg .pred more; setp.ne.b32 more, %34, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                     " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31},"
                     " %32, %33, more, 1, 1, 0, 0; }"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                       "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                       "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                       "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
                       "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                     : "l"(descriptor(a) + k / 8), "l"(descriptor(b) + k / 8), "r"(k));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 32; i++) {
        int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
        int column = i / 4 * 8 + lane % 4 * 2 + i % 2;

        ((float *)out)[((size_t)blockIdx.x * 64 + row) * 64 + column] = d[i];
    }
}
