/* cuda::atomic_ref for all kinds of types, with all scopes, operations and memory orders. */
#include <cuda/atomic>

using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_acquire;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_release;
using cuda::std::memory_order_seq_cst;

template <typename T> __device__ static unsigned bits_of(T v)
{
    unsigned long long b = 0;

    memcpy(&b, &v, sizeof v < 8 ? sizeof v : 8);
    return (unsigned)(b ^ b >> 32);
}

/* Executes all operations on a word that no other thread uses, and combines their results. */
template <typename T, cuda::thread_scope scope> __device__ static unsigned alone(T *place, T x, T y)
{
    cuda::atomic_ref<T, scope> a(*place);
    unsigned h = 0;

    a.store(x, memory_order_release);
    h = h * 31 + bits_of(a.exchange(y, memory_order_acq_rel));
    h = h * 31 + bits_of(a.load(memory_order_acquire));
    h = h * 31 + bits_of(a.fetch_add(x, memory_order_relaxed));
    h = h * 31 + bits_of(a.fetch_sub(y, memory_order_seq_cst));
    T seen = y;
    h = h * 31 + a.compare_exchange_strong(seen, y, memory_order_seq_cst, memory_order_relaxed);
    h = h * 31 + bits_of(seen);
    seen = a.load(memory_order_relaxed);
    while (!a.compare_exchange_weak(seen, (T)(seen + y)))
        ;
    h = h * 31 + bits_of(a.fetch_max(x, memory_order_acquire));
    h = h * 31 + bits_of(a.fetch_min(y, memory_order_release));
    if constexpr (cuda::std::is_integral_v<T>) {
        h = h * 31 + bits_of(a.fetch_xor(x));
        h = h * 31 + bits_of(a.fetch_and(y, memory_order_relaxed));
        h = h * 31 + bits_of(a.fetch_or(x, memory_order_acq_rel));
        h = h * 31 + bits_of(++a) + bits_of(a--);
        h = h * 31 + bits_of(a -= y) + bits_of(a ^= x);
    }
    return h * 31 + bits_of(*place);
}

/* Many threads update a few words. The final contents show if an update was lost. */
template <typename T, cuda::thread_scope scope> __device__ static void together(T *places, unsigned v)
{
    cuda::atomic_ref<T, scope> sum(places[0]), down(places[1]), most(places[2]), least(places[3]), swapped(places[4]);
    T x = (T)(v % 64);

    sum.fetch_add(x, memory_order_relaxed);
    down.fetch_sub(x, memory_order_acq_rel);
    most.fetch_max(x, memory_order_release);
    least.fetch_min((T)((T)0 - x), memory_order_seq_cst);
    for (T old = swapped.load(memory_order_relaxed);
         !swapped.compare_exchange_weak(old, (T)(old + 1), memory_order_acquire, memory_order_relaxed);)
        ;
}

template <typename T> __device__ static unsigned all_scopes(T *place, T x, T y)
{
    return alone<T, cuda::thread_scope_thread>(place, x, y) + alone<T, cuda::thread_scope_block>(place, y, x) * 3 +
           alone<T, cuda::thread_scope_device>(place, x, x) * 5 + alone<T, cuda::thread_scope_system>(place, y, y) * 7;
}

extern "C" __global__ void refs_alone(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned long long places[64];
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    unsigned x = in[2 * g], y = in[2 * g + 1], *o = out + 8 * g;

    o[0] = all_scopes((int *)&places[t], (int)x, (int)y);
    o[1] = all_scopes((unsigned *)(o + 6), x, y);
    o[2] = all_scopes((unsigned long long *)&places[t], (unsigned long long)x << 20 | y,
                      (unsigned long long)y << 32 | x);
    o[3] = all_scopes((long long *)(o + 6), -(long long)x * n, (long long)y * y);
    o[4] = all_scopes((float *)&places[t], (float)(int)x, (float)y);
    o[5] = all_scopes((double *)(o + 6), (double)(int)x, (double)y * 0.1);
    o[6] = alone<unsigned short, cuda::thread_scope_block>((unsigned short *)&places[t] + (x & 3), (unsigned short)x,
                                                           (unsigned short)y);
    o[7] = alone<signed char, cuda::thread_scope_device>((signed char *)&places[t] + (x & 7), (signed char)x,
                                                         (signed char)y);
}

extern "C" __global__ void refs_together(const unsigned *in, double *out, int n)
{
    __shared__ double places[4][8];
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;

    if (t < 32)
        places[t / 8][t % 8] = 0;
    __syncthreads();
    if (g < n) {
        together<int, cuda::thread_scope_block>((int *)places[0], in[g]);
        together<float, cuda::thread_scope_block>((float *)places[1], in[g]);
        together<double, cuda::thread_scope_block>(places[2], in[g]);
        together<unsigned short, cuda::thread_scope_block>((unsigned short *)places[3], in[g]);
        together<unsigned, cuda::thread_scope_device>((unsigned *)out, in[g]);
        together<long long, cuda::thread_scope_device>((long long *)out + 8, in[g]);
        together<float, cuda::thread_scope_system>((float *)out + 32, in[g]);
        together<double, cuda::thread_scope_system>(out + 24, in[g]);
        together<double, cuda::thread_scope_device>(out + 32, in[g]);
        together<signed char, cuda::thread_scope_system>((signed char *)(out + 40), in[g]);
    }
    __syncthreads();
    if (t < 32)
        out[48 + 32 * blockIdx.x + t] = places[t / 8][t % 8];
}

/* Two words that change together: compare-and-swap and exchange of 128 bits. */
struct alignas(16) Pair {
    unsigned long long count, sum;
};

__device__ Pair pair;

extern "C" __global__ void refs_pairs(const unsigned *in, unsigned long long *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    Pair old = { 0, 0 }, next;

    if (g >= n)
        return;
    do
        next = { old.count + 1, old.sum + in[g] };
    while (!__nv_atomic_compare_exchange(&pair, &old, &next, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE));
    if (next.count == (unsigned)n) {
        Pair none = { 7, 9 }, last;

        __nv_atomic_exchange(&pair, &none, &last, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
        out[0] = last.count;
        out[1] = last.sum;
        __nv_atomic_load(&pair, &last, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        out[2] = last.count;
        out[3] = last.sum;
    }
}
