/* Persistent kernels: blocks that take items from a counter until none is left, and threads that put work into a queue
 * and take it from there. */
#include <cuda/atomic>

enum { THREADS = 128 };

__device__ unsigned counter;

/* Items take different times: each counts steps of the Collatz sequence. A block processes one item at a time. */
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

/* A bounded queue for many producers and consumers; here each thread is both. The turn of a place tells if it may be
 * written or read. An item above 1 is split into two items with the same sum. Items that are 1 are counted. */
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
    while (value > 1) { /* if the queue is full, this thread splits the other half, too */
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
