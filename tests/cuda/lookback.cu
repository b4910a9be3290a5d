/* An inclusive sum in one pass. A block publishes the sum of its tile. Then its first warp looks back at the preceding
 * tiles, 32 at a time, until it finds one that has published the sum of all elements up to its end. */
#include <cuda/atomic>

enum { THREADS = 128, ITEMS = 4, TILE = THREADS * ITEMS, TILES = 64 };
enum { NOTHING, SUM_OF_TILE, SUM_OF_ALL };

using state_ref = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

__device__ unsigned long long states[TILES]; /* upper word: one of the states above; lower word: a sum */
__device__ unsigned tickets;

__device__ static unsigned warp_sum(unsigned v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

/* Returns the sum of all elements before `tile`. Called by the first warp of the block. */
__device__ static unsigned look_back(int tile)
{
    int lane = threadIdx.x;
    unsigned sum = 0;

    for (int last = tile - 1;; last -= 32) {
        int at = last - lane;
        unsigned long long s = (unsigned long long)SUM_OF_ALL << 32;

        if (at >= 0)
            do
                s = state_ref(states[at]).load(cuda::std::memory_order_acquire);
            while (s >> 32 == NOTHING);
        unsigned known = __ballot_sync(~0u, s >> 32 == SUM_OF_ALL);
        sum += warp_sum(!known || lane <= __ffs(known) - 1 ? (unsigned)s : 0);
        if (known)
            return sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) lookback(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned sums[THREADS / 32], before, mine;
    int t = threadIdx.x, lane = t % 32;
    unsigned v[ITEMS], sum = 0, all;

    if (t == 0)
        mine = atomicAdd(&tickets, 1);
    __syncthreads();
    int tile = mine, first = tile * TILE + t * ITEMS;
    for (int i = 0; i < ITEMS; i++)
        v[i] = sum += first + i < n ? in[first + i] : 0;
    all = sum;
    for (int d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(~0u, all, d);
        all += lane >= d ? below : 0;
    }
    if (lane == 31)
        sums[t / 32] = all;
    __syncthreads();
    unsigned offset = all - sum, total = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        offset += w < t / 32 ? sums[w] : 0;
        total += sums[w];
    }
    if (t < 32) {
        if (t == 0)
            state_ref(states[tile]).store((unsigned long long)(tile ? SUM_OF_TILE : SUM_OF_ALL) << 32 | total,
                                          cuda::std::memory_order_release);
        unsigned sum_before = look_back(tile);
        if (t == 0) {
            state_ref(states[tile]).store((unsigned long long)SUM_OF_ALL << 32 | (sum_before + total),
                                          cuda::std::memory_order_release);
            before = sum_before;
        }
    }
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        if (first + i < n)
            out[first + i] = before + offset + v[i];
}
