/* C = A * B' as programs for Hopper compute it. One warp copies tiles by TMA into a ring of stages in shared memory.
 * Two warpgroups multiply them by wgmma and store the product by TMA. */
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

enum { TILE = 128, DEPTH = 64, STAGES = 3, WARPGROUPS = 2 };
enum { WIDTH = 32, PANELS = TILE / WIDTH, THREADS = 128 * (1 + WARPGROUPS) };

struct Shared {
    struct {
        __half a[TILE * DEPTH], b[TILE * DEPTH];
    } stages[STAGES];
    float c[WARPGROUPS][PANELS][64 * WIDTH];
    uint64_t full[STAGES], empty[STAGES];
};

__device__ static unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" :: "r"(address(barrier)), "r"(parity) : "memory");
}

__device__ static void arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(address(barrier)) : "memory");
}

__device__ static void load(const CUtensorMap *map, void *to, uint64_t *barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(address(barrier)) : "memory");
}

/* The next 8 rows are 1024 bytes further. The swizzle has 128 bytes. */
__device__ static uint64_t descriptor(const void *p)
{
    return (address(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define EIGHT(d, i)                                             \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
    "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ static void multiply(float (&d)[64], uint64_t a, uint64_t b, int more)
{
    asm volatile("{ .reg .pred more; setp.ne.b32 more, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"
                 " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},"
                 " %64, %65, more, 1, 1, 0, 0; }"
                 : EIGHT(d, 0), EIGHT(d, 8), EIGHT(d, 16), EIGHT(d, 24),
                   EIGHT(d, 32), EIGHT(d, 40), EIGHT(d, 48), EIGHT(d, 56)
                 : "l"(a), "l"(b), "r"(more));
}

__device__ static void produce(Shared &s, const CUtensorMap *a, const CUtensorMap *b, int row, int column, int steps)
{
    for (int k = 0; k < steps; k++) {
        int stage = k % STAGES;

        if (k >= STAGES)
            wait(&s.empty[stage], k / STAGES - 1 & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(address(&s.full[stage])), "r"((int)sizeof s.stages[0]) : "memory");
        load(a, s.stages[stage].a, &s.full[stage], k * DEPTH, row);
        load(b, s.stages[stage].b, &s.full[stage], k * DEPTH, column);
    }
}

__device__ static void consume(Shared &s, float (&d)[64], int warpgroup, int steps)
{
    for (int k = 0; k < steps; k++) {
        int stage = k % STAGES;

        wait(&s.full[stage], k / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < DEPTH; i += 16)
            multiply(d, descriptor(s.stages[stage].a + warpgroup * 64 * DEPTH) + i / 8,
                     descriptor(s.stages[stage].b) + i / 8, k + i);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (k && threadIdx.x % 32 == 0)
            arrive(&s.empty[(k - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ static void store(Shared &s, const float (&d)[64], const CUtensorMap *c, int warpgroup, int row, int column)
{
    int t = threadIdx.x % 128, first = t / 32 * 16 + t % 32 / 4;

    for (int i = 0; i < 64; i++) {
        int at = i / 4 * 8 + t % 4 * 2 + i % 2;

        s.c[warpgroup][at / WIDTH][(first + i / 2 % 2 * 8) * WIDTH + at % WIDTH] = d[i];
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync %0, 128;" :: "r"(1 + warpgroup) : "memory");
    if (t)
        return;
    for (int i = 0; i < PANELS; i++)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(c), "r"(column + i * WIDTH), "r"(row + warpgroup * 64), "r"(address(s.c[warpgroup][i]))
                     : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
     const __grid_constant__ CUtensorMap c, int n)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared &s = *(Shared *)memory;
    int row = blockIdx.x / (n / TILE) * TILE, column = blockIdx.x % (n / TILE) * TILE;

    if (threadIdx.x < STAGES) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address(&s.full[threadIdx.x])) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     :: "r"(address(&s.empty[threadIdx.x])), "r"(4 * WARPGROUPS) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            produce(s, &a, &b, row, column, n / DEPTH);
    } else {
        float d[64];

        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(s, d, threadIdx.x / 128 - 1, n / DEPTH);
        store(s, d, &c, threadIdx.x / 128 - 1, row, column);
    }
}
