// Bulk and tensor copies, as in races.cu. bulk.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 bulk.cu
#include <stdint.h>

#define KERNEL(name) extern "C" __global__ void name(unsigned *p)
#define OTHER (threadIdx.x ^ 33) /* a thread of the other warp */
// Only the first block does something. An mbarrier that one thread arrives at is initialised.
#define BEGIN                                                                               \
    unsigned t = threadIdx.x;                                                               \
    __shared__ __align__(128) unsigned s[64];                                               \
    __shared__ uint64_t bar;                                                                \
    if (blockIdx.x)                                                                         \
        return;                                                                             \
    if (t == 0)                                                                             \
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");      \
    __syncthreads()
enum { BYTES = 256 };

__device__ unsigned at(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void load(void *to, const void *from, uint64_t *bar)
{
    asm volatile("{ .reg .b64 q; mbarrier.arrive.expect_tx.shared.b64 q, [%0], %1; }"
                 :: "r"(at(bar)), "r"(BYTES) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(BYTES), "r"(at(bar)) : "memory");
}

__device__ void wait(uint64_t *bar, unsigned parity)
{
    asm volatile("{ .reg .pred q; W%=: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra W%=; }"
                 :: "r"(at(bar)), "r"(parity) : "memory");
}

__device__ void store(void *to, const void *from)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(at(from)), "r"(BYTES) : "memory");
}

__device__ void reduce(void *to, const void *from)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;"
                 :: "l"(to), "r"(at(from)), "r"(BYTES) : "memory");
}

__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- loads

KERNEL(c_load)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    wait(&bar, 0);
    p[64 + t] = s[OTHER];
}

KERNEL(e_load_no_wait)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    p[64 + t] = s[OTHER];
}

// a barrier does not wait for the copy
KERNEL(e_load_barrier_only)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    __syncthreads();
    p[64 + t] = s[OTHER];
}

KERNEL(c_load_one_waits)
{
    BEGIN;
    if (t == 0) {
        load(s, p, &bar);
        wait(&bar, 0);
    }
    __syncthreads();
    p[64 + t] = s[OTHER];
}

// threads still read when the next copy begins
KERNEL(e_load_overwrites)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    wait(&bar, 0);
    p[64 + t] = s[OTHER];
    if (t == 0)
        load(s, p + 256, &bar);
    wait(&bar, 1);
    p[128 + t] = s[OTHER];
}

KERNEL(c_load_twice)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    wait(&bar, 0);
    p[64 + t] = s[OTHER];
    __syncthreads();
    if (t == 0)
        load(s, p + 256, &bar);
    wait(&bar, 1);
    p[128 + t] = s[OTHER];
}

// the source is overwritten while it is read
KERNEL(e_load_source)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    __syncthreads();
    p[t] = t;
    wait(&bar, 0);
}

KERNEL(c_load_source)
{
    BEGIN;
    if (t == 0)
        load(s, p, &bar);
    wait(&bar, 0);
    p[t] = t;
}

// two copies to the same bytes
KERNEL(e_load_load)
{
    BEGIN;
    if (t == 0) {
        asm volatile("{ .reg .b64 q; mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1; }"
                     :: "r"(at(&bar)), "r"(BYTES) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(at(s)), "l"(p + 256), "r"(BYTES), "r"(at(&bar)) : "memory");
        load(s, p, &bar);
    }
    wait(&bar, 0);
    p[64 + t] = s[OTHER];
}

// --- stores

KERNEL(c_store)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_read();
    }
    __syncthreads();
    s[OTHER] = t;
}

// A warp writes and arrives at the mbarrier, a thread of the other one waits and stores.
__device__ void arrive(uint64_t *bar)
{
    asm volatile("{ .reg .b64 q; mbarrier.arrive.shared.b64 q, [%0]; }" :: "r"(at(bar)) : "memory");
}
#define STORE_AFTER_ARRIVAL(name, before, after)            \
    KERNEL(name)                                            \
    {                                                       \
        BEGIN;                                              \
        if (t < 32) {                                       \
            s[t] = s[t + 32] = t;                           \
            before;                                         \
            __syncwarp();                                   \
            if (t == 0)                                     \
                arrive(&bar);                               \
            after;                                          \
        } else if (t == 32) {                               \
            wait(&bar, 0);                                  \
            store(p, s);                                    \
            commit();                                       \
            wait_read();                                    \
        }                                                   \
    }
STORE_AFTER_ARRIVAL(c_store_fence_before_arrival, fence(), )
STORE_AFTER_ARRIVAL(e_store_fence_after_arrival, , fence())

KERNEL(c_store_fence_after_barrier)
{
    BEGIN;
    s[t] = t;
    __syncthreads();
    if (t == 0) {
        fence();
        store(p, s);
        commit();
        wait_all();
        p[5] = 1;
    }
}

KERNEL(e_store_no_fence)
{
    BEGIN;
    s[t] = t;
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_all();
    }
}

// the fence of one thread does not order what others have written
KERNEL(e_store_fence_of_one)
{
    BEGIN;
    s[t] = t;
    if (t == 0)
        fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_all();
    }
}

KERNEL(e_store_no_barrier)
{
    BEGIN;
    s[t] = t;
    fence();
    if (t == 0) {
        store(p, s);
        commit();
        wait_all();
    }
}

KERNEL(e_store_overwritten)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
    }
    __syncthreads();
    s[OTHER] = t;
}

// The other lanes of the warp do not know what one has waited for.
KERNEL(e_store_overwritten_by_lane)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_read();
        s[1] = 1;
    } else if (t < 32) {
        s[t ^ 1] = t;
    }
}

KERNEL(c_store_overwritten_after_syncwarp)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_read();
    }
    __syncwarp();
    if (t < 32)
        s[t ^ 1] = t;
}

// .read does not wait for the writes
KERNEL(e_store_read_back)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_read();
        p[128] = p[5];
    }
}

// a group that has not been committed is not waited for
KERNEL(e_store_not_committed)
{
    BEGIN;
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        wait_all();
        p[5] = 1;
    }
}

// --- reductions are atomic

KERNEL(c_reduce)
{
    unsigned t = threadIdx.x;
    __shared__ __align__(128) unsigned s[64];
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        reduce(p, s);
        commit();
        wait_all();
    }
}

KERNEL(e_store_by_all)
{
    unsigned t = threadIdx.x;
    __shared__ __align__(128) unsigned s[64];
    s[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        store(p, s);
        commit();
        wait_all();
    }
}
