// Correct kernels of cooperative groups and libcu++, for clean.sh.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void groups(int *out)
{
    auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); auto q = cg::tiled_partition<4>(w);
    __shared__ int s[256];
    cg::memcpy_async(b, s, out, sizeof s); cg::wait(b);
    int v = cg::reduce(w, s[b.thread_rank()], cg::plus<int>()) + cg::inclusive_scan(q, 1);
    b.sync();
    if (w.thread_rank() % 3 == 0) { auto c = cg::coalesced_threads(); v += cg::reduce(c, 1, cg::plus<int>()); }
    out[256 + b.thread_rank()] = v;
}

__global__ void grid(int *out, int *sum)
{
    auto g = cg::this_grid();
    out[g.thread_rank()] = (int)g.thread_rank();
    g.sync();
    atomicAdd(sum, out[g.num_threads() - 1 - g.thread_rank()]);
}

__global__ void pipe(const int *in, int *out)
{
    __shared__ int s[2][128]; auto b = cg::this_thread_block();
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto p = cuda::make_pipeline(b, &st);
    for (int k = 0; k < 5; k++) {
        if (k < 4) {
            p.producer_acquire();
            cuda::memcpy_async(b, s[k % 2], in + k * 128, cuda::aligned_size_t<16>(512), p);
            p.producer_commit();
        }
        if (k) {
            p.consumer_wait();
            out[(k - 1) * 128 + b.thread_rank()] = s[(k - 1) % 2][127 - b.thread_rank()];
            p.consumer_release();
        }
    }
}

__global__ void bars(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ int s[128];
    if (!threadIdx.x) init(&bar, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        s[threadIdx.x] = k;
        bar.arrive_and_wait();
        out[threadIdx.x] += s[127 - threadIdx.x];
        bar.arrive_and_wait();
    }
}

__global__ void flags(int *data, cuda::atomic<int, cuda::thread_scope_device> *f, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 3;
        __syncthreads();
        if (!threadIdx.x)
            f->store(1, cuda::memory_order_release);
    } else {
        if (!threadIdx.x)
            while (!f->load(cuda::memory_order_acquire));
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

int main()
{
    int *a, *b, *sum; cudaMalloc(&a, 8192); cudaMalloc(&b, 8192); cudaMalloc(&sum, 4);
    cudaMemset(a, 0, 8192); cudaMemset(b, 0, 8192); cudaMemset(sum, 0, 4);
    groups<<<1, 256>>>(a); pipe<<<1, 128>>>(a, b); bars<<<1, 128>>>(b);
    void *args[] = { &a, &sum }; cudaLaunchCooperativeKernel((void *)grid, 4, 64, args, 0, 0);
    cuda::atomic<int, cuda::thread_scope_device> *f; cudaMalloc(&f, 4); cudaMemset(f, 0, 4);
    flags<<<2, 64>>>(a, f, b);
    cudaError_t e = cudaDeviceSynchronize(); int h; cudaMemcpy(&h, sum, 4, cudaMemcpyDeviceToHost);
    printf("%s %d\n", cudaGetErrorString(e), h); return e || h != 256 * 255 / 2;
}
