/* Kernels that stay: blocks that take work from a counter until there is none, and workers that feed a queue which they empty. */
#include <cuda/atomic>

enum { THREADS = 128 };

__device__ unsigned counter;

/* Items differ in how long they take: steps of the Collatz sequence, a block an item. */
extern "C" __global__ void __launch_bounds__(THREADS) persistent(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned item, most;

    for (;;) {
        if (threadIdx.x == 0) {
            item = atomicAdd(&counter, 1);
            most = 0;
        }
        __syncthreads();
        unsigned mine = item;
        if (mine >= n)
            return;
        unsigned long long v = (in[mine] >> 12) + threadIdx.x + 1;
        unsigned steps = 0;
        for (; v != 1; v = v & 1 ? 3 * v + 1 : v / 2)
            steps++;
        atomicMax(&most, steps);
        __syncthreads();
        if (threadIdx.x == 0)
            out[mine] = most;
        __syncthreads();
    }
}

/* A bounded queue of places with turns, from which many producers and consumers take: here each thread is both. An item above 1 becomes
 * two that add up to it; ones are counted. */
enum { PLACES = 1024 };

struct Place {
    unsigned turn, value;
};

using device_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ Place places[PLACES];
__device__ unsigned head, tail, ones;

__device__ static bool put(unsigned value)
{
    for (unsigned at = device_ref(tail).load(cuda::std::memory_order_relaxed);;) {
        Place &p = places[at % PLACES];
        int ahead = (int)(device_ref(p.turn).load(cuda::std::memory_order_acquire) - at / PLACES * 2);

        if (ahead < 0)
            return false;
        if (ahead == 0 && device_ref(tail).compare_exchange_weak(at, at + 1, cuda::std::memory_order_relaxed)) {
            p.value = value;
            device_ref(p.turn).store(at / PLACES * 2 + 1, cuda::std::memory_order_release);
            return true;
        }
        at = device_ref(tail).load(cuda::std::memory_order_relaxed);
    }
}

__device__ static bool take(unsigned &value)
{
    for (unsigned at = device_ref(head).load(cuda::std::memory_order_relaxed);;) {
        Place &p = places[at % PLACES];
        int ahead = (int)(device_ref(p.turn).load(cuda::std::memory_order_acquire) - (at / PLACES * 2 + 1));

        if (ahead < 0)
            return false;
        if (ahead == 0 && device_ref(head).compare_exchange_weak(at, at + 1, cuda::std::memory_order_relaxed)) {
            value = p.value;
            device_ref(p.turn).store((at / PLACES + 1) * 2, cuda::std::memory_order_release);
            return true;
        }
        at = device_ref(head).load(cuda::std::memory_order_relaxed);
    }
}

__device__ static void split(unsigned value)
{
    while (value > 1) { /* what has no place in the queue is halved here */
        if (!put(value / 2)) {
            split(value / 2);
        }
        value -= value / 2;
    }
    device_ref(ones).fetch_add(1, cuda::std::memory_order_relaxed);
}

extern "C" __global__ void workers(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value;

    if (g == 0)
        split(n);
    while (device_ref(ones).load(cuda::std::memory_order_relaxed) < n)
        if (take(value))
            split(value);
    out[g] = n + in[g];
    if (g == 0)
        out[0] = device_ref(ones).load() + (device_ref(head).load() == device_ref(tail).load());
}
