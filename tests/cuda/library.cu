/* The C++ standard library for devices: arrays, tuples, optionals, spans, bit operations, complex numbers, atomic
 * operations with memory orders, algorithms. */
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

namespace std_ = cuda::std;

__device__ static std_::optional<int> root(int v)
{
    for (int i = 0; i * i <= v; i++)
        if (i * i == v)
            return i;
    return std_::nullopt;
}

__device__ static std_::tuple<int, unsigned> split(unsigned v)
{
    return { (int)(v >> 24), v & 0xffffff };
}

extern "C" __global__ void values(const unsigned *in, unsigned *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    unsigned v = in[t], *o = out + 8 * t;
    std_::array<unsigned, 6> a{{v, v >> 4, v >> 8, v >> 12, v >> 16, v >> 20}};
    std_::span<unsigned, 6> s(a);
    unsigned sum = 0;
    for (unsigned x : s.subspan(1, 4))
        sum += x;
    o[0] = sum + a.front() + a.back();
    o[1] = root((int)(v & 255)).value_or(-7);
    auto [high, low] = split(v);
    o[2] = (unsigned)high * 5 + low;
    o[3] = (unsigned)std_::popcount(v) * 100 + std_::countl_zero(v >> 5) * 10 + std_::countr_zero(v | 64);
    o[4] = std_::rotl(v, 9) ^ std_::bit_floor(v | 1);
    std_::variant<int, float, unsigned short> any;
    switch (v % 3) {
    case 0: any = (int)v; break;
    case 1: any = (float)(v & 1023); break;
    default: any = (unsigned short)v; break;
    }
    o[5] = (unsigned)any.index() * 1000000 + std_::visit([](auto x) { return (unsigned)x & 0xffff; }, any);
    o[6] = std_::bit_cast<unsigned>(1.0f + (float)(v & 7)) + (unsigned)std_::numeric_limits<short>::max();
    std_::complex<float> z((float)(v & 15), (float)(v >> 4 & 15)), c(1.0f, -2.0f);
    z = z + c * 2.0f;
    o[7] = (unsigned)(int)(z.real() * 16.0f + z.imag() + std_::norm(z));
}

/* A queue from a producer warp to a consumer warp of the block, with release and acquire. */
extern "C" __global__ void queue(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned ring[8];
    __shared__ unsigned head_memory, tail_memory;
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> head(head_memory), tail(tail_memory);
    int t = threadIdx.x;

    if (t == 0)
        head_memory = tail_memory = 0;
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < n; i++) {
            while (head.load(std_::memory_order_relaxed) - tail.load(std_::memory_order_acquire) == 8)
                ;
            ring[i & 7] = in[blockIdx.x * n + i];
            head.store((unsigned)i + 1, std_::memory_order_release);
        }
    if (t == 32) {
        unsigned h = 0;
        for (int i = 0; i < n; i++) {
            while (head.load(std_::memory_order_acquire) == (unsigned)i)
                ;
            h = h * 31 + ring[i & 7];
            tail.store((unsigned)i + 1, std_::memory_order_release);
        }
        out[blockIdx.x] = h;
    }
}

__device__ cuda::atomic<unsigned long long, cuda::thread_scope_device> total(5);

extern "C" __global__ void orders(const unsigned *in, unsigned long long *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> most(*(unsigned *)out), bits(*((unsigned *)out + 1));
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> last(out[1]);

    if (t >= n)
        return;
    total.fetch_add(in[t], std_::memory_order_acq_rel);
    most.fetch_max(in[t], std_::memory_order_seq_cst);
    bits.fetch_or(in[t] & 0x11111111u, std_::memory_order_relaxed);
    if (last.fetch_add(1, std_::memory_order_seq_cst) == (unsigned)n - 1) {
        cuda::atomic_thread_fence(std_::memory_order_seq_cst, cuda::thread_scope_device);
        unsigned long long seen = total.load();
        while (!total.compare_exchange_weak(seen, seen * 2))
            ;
        out[2] = total.exchange(5);
    }
}
