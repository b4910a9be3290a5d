/* Barriers, pipelines, latches and semaphores of the C++ library, at the scopes of the block and of the device. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

enum { THREADS = 128 };

struct Count {
    unsigned *phases;
    __device__ void operator()() { ++*phases; }
};

/* Arrival tokens, threads that drop out, and a function that runs when a phase is complete. */
extern "C" __global__ void __launch_bounds__(THREADS) phases(const unsigned *in, unsigned *out, int n)
{
    using plain = cuda::barrier<cuda::thread_scope_block>;
    using counting = cuda::barrier<cuda::thread_scope_block, Count>;
    __shared__ plain all;
    __shared__ alignas(counting) char memory[sizeof(counting)];
    __shared__ unsigned v[THREADS], completed;
    counting &counted = *(counting *)memory;
    int t = threadIdx.x, g = blockIdx.x * THREADS + t;

    if (t == 0) {
        completed = 0;
        init(&all, THREADS);
        new (&counted) counting(THREADS, Count{&completed});
    }
    v[t] = in[g];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        auto token = all.arrive();
        unsigned mine = v[t] * 5 + 1;
        all.wait(std::move(token));
        unsigned next = v[(t + 1) % THREADS];
        counted.arrive_and_wait();
        v[t] = mine ^ next ^ completed;
        counted.arrive_and_wait();
    }
    out[g] = v[t] + completed;
    if (t >= 96 + blockIdx.x) { /* the other threads continue without these */
        all.arrive_and_drop();
        return;
    }
    all.arrive_and_wait();
    v[t] += t;
    bool parity = n & 1;
    (void)all.arrive();
    while (!all.try_wait_parity_for(!parity, cuda::std::chrono::nanoseconds(100)))
        ;
    out[g] += v[95 - t % 96];
}

/* A pipeline of three stages, shared by a block. Two warps produce and two consume. */
extern "C" __global__ void __launch_bounds__(THREADS) roles(const unsigned *in, unsigned *out, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    __shared__ alignas(16) unsigned stages[3][64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    auto role = t < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    unsigned sum = 0;

    if (t < 64) {
        for (int i = 0; i < n; i++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[i % 3][t], &in[(blockIdx.x * n + i) * 64 + t], sizeof(unsigned), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int i = 0; i < n; i++) {
            pipe.consumer_wait();
            sum = sum * 3 + stages[i % 3][127 - t];
            pipe.consumer_release();
        }
        out[blockIdx.x * 64 + t - 64] = sum;
    }
    pipe.quit();
}

/* Bulk copies. A barrier counts their bytes. */
extern "C" __global__ void __launch_bounds__(THREADS) bytes(const unsigned *in, unsigned *out, int n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier full[2];
    __shared__ alignas(16) unsigned stages[2][THREADS];
    int t = threadIdx.x;
    unsigned sum = 0;

    if (t < 2)
        init(&full[t], THREADS);
    __syncthreads();
    const unsigned *mine = in + blockIdx.x * n * THREADS;
    if (t == 0)
        cuda::device::memcpy_async_tx(stages[0], mine, cuda::aligned_size_t<16>(sizeof stages[0]), full[0]);
    for (int i = 0; i < n; i++) {
        barrier::arrival_token token = t == 0 ? cuda::device::barrier_arrive_tx(full[i & 1], 1, sizeof stages[0])
                                              : full[i & 1].arrive();

        if (t == 0 && i + 1 < n)
            cuda::device::memcpy_async_tx(stages[(i + 1) & 1], mine + (i + 1) * THREADS,
                                          cuda::aligned_size_t<16>(sizeof stages[0]), full[(i + 1) & 1]);
        full[i & 1].wait(std::move(token));
        sum = sum * 7 + stages[i & 1][t ^ 5];
        __syncthreads();
    }
    out[blockIdx.x * THREADS + t] = sum;
}

/* Blocks wait for each other at a barrier, a latch and a semaphore in global memory. */
__device__ cuda::barrier<cuda::thread_scope_device> meeting(4 * THREADS);
__device__ cuda::latch<cuda::thread_scope_device> gate(4);
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 2> slots(2);
__device__ unsigned inside, most_inside;

extern "C" __global__ void __launch_bounds__(THREADS) meetings(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * THREADS + threadIdx.x;
    unsigned v = in[g], *board = out + 4 * THREADS;

    for (int i = 0; i < n; i++) {
        board[g] = v;
        meeting.arrive_and_wait();
        v = v * 3 + board[(g + 201) % (4 * THREADS)];
        meeting.arrive_and_wait();
    }
    if (threadIdx.x % 32 == 0) {
        slots.acquire();
        atomicMax(&most_inside, atomicAdd(&inside, 1) + 1);
        atomicSub(&inside, 1);
        slots.release();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        gate.count_down();
    gate.wait();
    out[g] = v + (*(volatile unsigned *)&most_inside <= 2);
}
