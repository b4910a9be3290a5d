// Waits: for the grid, for bulk copies, and for cp.async in pipelines. Plain loads do the same work for comparison.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Each CTA adds to the counter of its neighbour, which checks the count after the barrier.
extern "C" __global__ void grid_sync(unsigned *count, unsigned *wrong, int turns)
{
    cg::grid_group grid = cg::this_grid();

    for (int t = 0; t < turns; t++) {
        if (threadIdx.x == 0)
            count[(blockIdx.x + 1) % gridDim.x]++;
        grid.sync();
        if (threadIdx.x == 0 && ((volatile unsigned *)count)[blockIdx.x] != t + 1)
            *wrong = 1;
        grid.sync();
    }
}

extern __shared__ __align__(128) char tile[];

static __device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void expect(unsigned long long *full, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                 :: "r"(shared_address(full)), "r"(bytes) : "memory");
}

static __device__ void wait(unsigned long long *full, int parity)
{
    asm volatile("{\n.reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@p bra DONE;\nbra WAIT;\nDONE:\n}"
                 :: "r"(shared_address(full)), "r"(parity) : "memory");
}

struct alignas(64) TensorMap {
    char bytes[128];
};

static __device__ void fetch(char *to, const char *from, int, int size, unsigned long long *full)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(shared_address(to)), "l"(from), "r"(size), "r"(shared_address(full)) : "memory");
}

static __device__ void fetch(char *to, const TensorMap *from, int row, int, unsigned long long *full)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(to)), "l"(from), "r"(0), "r"(row), "r"(shared_address(full)) : "memory");
}

enum { ROW = 128 };

// One warp copies pieces of global memory into shared memory, two at a time, and adds their first words.
template <typename GET> static __device__ void load(unsigned *sums, int size, int pieces, GET get)
{
    __shared__ unsigned long long full[2];
    unsigned sum = 0;

    if (threadIdx.x == 0)
        for (int k = 0; k < 2; k++)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(shared_address(&full[k])));
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < pieces + 1; k++) {
        if (k < pieces && threadIdx.x == 0) {
            expect(&full[k & 1], size);
            get(tile + (k & 1) * size, k, &full[k & 1]);
        }
        if (k > 0) {
            wait(&full[(k - 1) & 1], (k - 1) >> 1 & 1);
            sum += *(volatile unsigned *)(tile + ((k - 1) & 1) * size + 4 * threadIdx.x);
            __syncwarp();
        }
    }
    sums[threadIdx.x] = sum;
}

extern "C" __global__ void bulk_load(const char *from, unsigned *sums, int size, int pieces)
{
    load(sums, size, pieces, [=](char *to, int k, unsigned long long *full) {
        fetch(to, from + (size_t)k * size, 0, size, full);
    });
}

// Tiles of rows of 128 bytes.
extern "C" __global__ void tile_load(const __grid_constant__ TensorMap map, unsigned *sums, int size, int pieces)
{
    load(sums, size, pieces, [&](char *to, int k, unsigned long long *full) {
        fetch(to, &map, k * (size / ROW), size, full);
    });
}

// One thread copies the same tile into all pieces of `to`, two at a time.
extern "C" __global__ void bulk_store(char *to, const unsigned *words, int size, int pieces)
{
    for (int k = threadIdx.x; k < size / 4; k += 32)
        ((unsigned *)tile)[k] = words[k];
    __syncwarp();
    if (threadIdx.x)
        return;
    asm volatile("fence.proxy.async;" ::: "memory");
#pragma unroll 1
    for (int k = 0; k < pieces; k++) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(to + (size_t)k * size), "r"(shared_address(tile)), "r"(size) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

enum { THREADS = 256 };

template <typename T> static __device__ float sum_of(T x);
template <> __device__ float sum_of(float x) { return x; }
template <> __device__ float sum_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }

// Tiles of THREADS elements of type T pass through `STAGES` buffers in shared memory. Each thread adds the elements of
// its neighbours.
template <typename T, int STAGES, bool ASYNC> static __device__ void staged(const T *in, float *out, int tiles)
{
    __shared__ T buffer[STAGES][THREADS];
    float sum = 0;
    int t = threadIdx.x, first = blockIdx.x * tiles;

#pragma unroll 1
    for (int k = 0; k < tiles + STAGES - 1; k++) {
        if (k < tiles) {
            if (ASYNC)
                __pipeline_memcpy_async(&buffer[k % STAGES][t], &in[(size_t)(first + k) * THREADS + t], sizeof(T));
            else
                buffer[k % STAGES][t] = in[(size_t)(first + k) * THREADS + t];
        }
        if (ASYNC)
            __pipeline_commit();
        if (k < STAGES - 1)
            continue;
        if (ASYNC)
            __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        for (int n = 0; n < 4; n++)
            sum += sum_of(buffer[(k - STAGES + 1) % STAGES][(t + n) % THREADS]);
        __syncthreads();
    }
    out[blockIdx.x * THREADS + t] = sum;
}

#define PAIR(name, T, STAGES)                                                                                        \
    extern "C" __global__ void name(const T *in, float *out, int tiles) { staged<T, STAGES, true>(in, out, tiles); } \
    extern "C" __global__ void name##_plain(const T *in, float *out, int tiles)                                      \
    {                                                                                                                \
        staged<T, STAGES, false>(in, out, tiles);                                                                    \
    }
PAIR(words2, float, 2)
PAIR(words4, float, 4)
PAIR(vectors2, float4, 2)
PAIR(vectors4, float4, 4)
