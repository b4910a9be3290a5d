// Pairs of a faulty and a correct kernel for each class of data race. races.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 races.cu
// The first letter of a name says what the race checker finds: e an error, w a warning, b something benign, c nothing
// (the program is correct). Launches have 4 blocks of 64 threads, those with "cluster" in their name in clusters of 2.
// `p` has 1024 words, which are 0.

typedef unsigned u32;

// Accesses that the compiler neither removes nor merges.
#define LOAD(name, insn)                                                         \
    __device__ static u32 name(const u32 *p)                                     \
    {                                                                            \
        u32 v;                                                                   \
        asm volatile(insn " %0, [%1];" : "=r"(v) : "l"(p) : "memory");           \
        return v;                                                                \
    }
#define STORE(name, insn)                                                        \
    __device__ static void name(u32 *p, u32 v)                                   \
    {                                                                            \
        asm volatile(insn " [%0], %1;" :: "l"(p), "r"(v) : "memory");            \
    }
LOAD(weak_load, "ld.u32")
LOAD(relaxed_load_gpu, "ld.relaxed.gpu.u32")
LOAD(acquire_load_gpu, "ld.acquire.gpu.u32")
LOAD(acquire_load_cta, "ld.acquire.cta.u32")
STORE(weak_store, "st.u32")
STORE(relaxed_store_gpu, "st.relaxed.gpu.u32")
STORE(relaxed_store_cta, "st.relaxed.cta.u32")
STORE(release_store_gpu, "st.release.gpu.u32")
STORE(release_store_cta, "st.release.cta.u32")
STORE(volatile_store, "st.volatile.u32")
LOAD(volatile_load, "ld.volatile.u32")
LOAD(load_byte, "ld.u8")
LOAD(load_half, "ld.u16")
__device__ static void store_byte(void *p, u32 v) { asm volatile("st.u8 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
__device__ static void store_half(void *p, short v) { asm volatile("st.u16 [%0], %1;" :: "l"(p), "h"(v) : "memory"); }
__device__ static void bar(u32 n, u32 threads) { asm volatile("bar.sync %0, %1;" :: "r"(n), "r"(threads) : "memory"); }
__device__ static void arrive(u32 n, u32 threads)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(n), "r"(threads) : "memory");
}
__device__ static void cluster_sync()
{
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
__device__ static void fence_if(bool condition)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %0, 0;\n@p fence.acq_rel.gpu;\n}" :: "r"((u32)condition) : "memory");
}
// The word of the other block of the cluster.
__device__ static u32 *other_block(u32 *p)
{
    u32 *q;
    asm("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(blockIdx.x & 1 ^ 1));
    return q;
}

#define KERNEL(name) extern "C" __global__ void name(u32 *p)
#define TID threadIdx.x
#define BLOCK blockIdx.x

// --- shared memory ---
KERNEL(e_shared_raw) { __shared__ u32 s[64]; weak_store(&s[TID], TID); p[TID + BLOCK * 64] = weak_load(&s[63 - TID]); }
KERNEL(c_shared_raw)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    __syncthreads();
    p[TID + BLOCK * 64] = weak_load(&s[63 - TID]);
}
KERNEL(e_shared_war) { __shared__ u32 s[64]; u32 v = weak_load(&s[63 - TID]); weak_store(&s[TID], v + TID); }
KERNEL(c_shared_war)
{
    __shared__ u32 s[64];
    u32 v = weak_load(&s[63 - TID]);
    __syncthreads();
    weak_store(&s[TID], v + TID);
}
KERNEL(e_shared_waw) { __shared__ u32 s[64]; weak_store(&s[TID / 2], TID); }
KERNEL(b_shared_waw) { __shared__ u32 s[64]; weak_store(&s[TID / 2], 7); }
KERNEL(e_shared_byte) { __shared__ u32 s[64]; store_half((char *)s + (TID & ~1), TID); }
KERNEL(c_shared_byte) { __shared__ u32 s[64]; store_byte((char *)s + TID, TID); }
KERNEL(e_lanes) { __shared__ u32 s[64]; weak_store(&s[TID], TID); p[TID + BLOCK * 64] = weak_load(&s[TID ^ 1]); }
KERNEL(c_lanes)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    __syncwarp();
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 1]);
}
KERNEL(e_lanes_other_mask)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    if (TID % 32 < 16)
        __syncwarp(0xffff);
    else
        __syncwarp(0xffff0000);
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 16]);
}
KERNEL(c_lanes_same_mask)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    if (TID % 32 < 16)
        __syncwarp(0xffff);
    else
        __syncwarp(0xffff0000);
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 8]);
}
KERNEL(e_warps_syncwarp)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    __syncwarp();
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 32]);
}
KERNEL(c_shuffle)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    u32 v = __shfl_xor_sync(~0u, TID, 1);
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 1]) + v;
}
KERNEL(e_named_barrier)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    bar(1 + TID / 32, 32); // each warp has its own
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 32]);
}
KERNEL(c_named_barrier)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    bar(1, 64);
    p[TID + BLOCK * 64] = weak_load(&s[TID ^ 32]);
}
KERNEL(e_named_barrier_exited) // the first warp arrives at another barrier and exits
{
    __shared__ u32 s[64];
    if (TID < 32) {
        weak_store(&s[TID], TID);
        arrive(1, 64);
    } else {
        for (u32 k = 0; k < 64; k++)
            weak_load(&p[1000]);
        bar(2, 32);
        p[TID + BLOCK * 64] = weak_load(&s[TID ^ 32]);
    }
}
KERNEL(c_named_barrier_exited)
{
    __shared__ u32 s[64];
    if (TID < 32) {
        weak_store(&s[TID], TID);
        arrive(1, 64);
    } else {
        bar(1, 64);
        bar(2, 32);
        p[TID + BLOCK * 64] = weak_load(&s[TID ^ 32]);
    }
}
KERNEL(e_arrive) // the producer does not know what the consumer has read
{
    __shared__ u32 s[32];
    if (TID < 32) {
        weak_store(&s[TID], TID);
        arrive(1, 64);
        weak_store(&s[TID], TID + 1);
    } else {
        bar(1, 64);
        p[TID + BLOCK * 64] = weak_load(&s[TID - 32]);
    }
}
KERNEL(c_arrive)
{
    __shared__ u32 s[32];
    if (TID < 32) {
        weak_store(&s[TID], TID);
        arrive(1, 64);
    } else {
        bar(1, 64);
        p[TID + BLOCK * 64] = weak_load(&s[TID - 32]);
    }
}
KERNEL(e_shared_atomic) { __shared__ u32 s; if (TID == 0) weak_store(&s, 5); else atomicAdd(&s, 1); }
KERNEL(c_shared_atomic) { __shared__ u32 s; if (TID == 0) weak_store(&s, 5); __syncthreads(); atomicAdd(&s, 1); }

// --- clusters ---
KERNEL(e_cluster_dsmem)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    __syncthreads();
    p[TID + BLOCK * 64] = weak_load(other_block(&s[TID]));
    cluster_sync();
}
KERNEL(c_cluster_dsmem)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    cluster_sync();
    p[TID + BLOCK * 64] = weak_load(other_block(&s[TID]));
    cluster_sync();
}
KERNEL(e_cluster_dsmem_waw)
{
    __shared__ u32 s[64];
    weak_store(&s[TID], TID);
    weak_store(other_block(&s[TID]), TID + 1);
    cluster_sync();
}
// The other block has to have started, and must not exit before the access.
#define REMOTE(name, before, access, after)                                     \
    KERNEL(name)                                                                \
    {                                                                           \
        __shared__ u32 s[64];                                                   \
        weak_store(&s[TID], TID);                                               \
        before;                                                                 \
        access;                                                                 \
        after;                                                                  \
    }
__device__ static void cluster_sync_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}
#define FENCE_CLUSTER() asm volatile("fence.acq_rel.cluster;" ::: "memory")
#define READ_OTHER() p[TID + BLOCK * 64] = weak_load(other_block(&s[TID]))
REMOTE(e_cluster_may_exit, cluster_sync(), READ_OTHER(), )
REMOTE(c_cluster_waits, cluster_sync(), READ_OTHER(), cluster_sync_relaxed())
KERNEL(e_cluster_not_started)
{
    __shared__ u32 s[64];
    weak_store(other_block(&s[TID]), 1);
    cluster_sync();
    p[TID + BLOCK * 64] = weak_load(&s[TID]);
}
REMOTE(e_cluster_relaxed, cluster_sync_relaxed(), READ_OTHER(), cluster_sync())
REMOTE(c_cluster_relaxed_fence, FENCE_CLUSTER(); cluster_sync_relaxed(), READ_OTHER(), cluster_sync())
// fence.mbarrier_init is for initialisations of mbarriers, and not for the word.
REMOTE(e_cluster_relaxed_init_fence, asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
       cluster_sync_relaxed(), READ_OTHER(), cluster_sync())
// After a barrier of the block, a read has ended. A write need not be visible to other blocks.
#define REMOTE_WRITE(name, own, between)                                        \
    KERNEL(name)                                                                \
    {                                                                           \
        __shared__ u32 s[64];                                                   \
        cluster_sync();                                                         \
        own;                                                                    \
        between;                                                                \
        cluster_sync_relaxed();                                                 \
        weak_store(other_block(&s[TID ^ 32]), TID);                             \
        cluster_sync();                                                         \
    }
REMOTE_WRITE(e_cluster_read_relaxed, p[TID + BLOCK * 64] = weak_load(&s[TID]), )
REMOTE_WRITE(c_cluster_read_relaxed, p[TID + BLOCK * 64] = weak_load(&s[TID]), __syncthreads())
REMOTE_WRITE(e_cluster_write_relaxed, weak_store(&s[TID], TID), __syncthreads())
REMOTE(e_cluster_between, asm volatile("barrier.cluster.arrive;" ::: "memory"), READ_OTHER(),
       asm volatile("barrier.cluster.wait;" ::: "memory"); cluster_sync())
REMOTE(c_cluster_between, asm volatile("barrier.cluster.arrive;" ::: "memory"), s[TID],
       asm volatile("barrier.cluster.wait;" ::: "memory"); READ_OTHER(); cluster_sync())
KERNEL(c_cluster_one_exits)
{
    __shared__ u32 s[64];
    cluster_sync();
    if (BLOCK & 1) {
        weak_store(other_block(&s[TID]), TID);
        cluster_sync();
        return;
    }
    cluster_sync();
    p[TID + BLOCK * 64] = weak_load(&s[TID]);
}
KERNEL(e_cluster_global)
{
    weak_store(&p[TID + BLOCK * 64], 1);
    __syncthreads();
    p[512 + TID + BLOCK * 64] = weak_load(&p[TID + (BLOCK ^ 1) * 64]);
}
KERNEL(c_cluster_global)
{
    weak_store(&p[TID + BLOCK * 64], 1);
    cluster_sync();
    p[512 + TID + BLOCK * 64] = weak_load(&p[TID + (BLOCK ^ 1) * 64]);
}
KERNEL(e_cluster_others)
{
    weak_store(&p[TID + BLOCK * 64], 1);
    cluster_sync();
    p[512 + TID + BLOCK * 64] = weak_load(&p[TID + (BLOCK ^ 2) * 64]);
}

// --- global memory ---
KERNEL(e_global_blocks) { weak_store(&p[TID], TID + BLOCK); }
KERNEL(c_global_blocks) { weak_store(&p[TID + BLOCK * 64], TID + BLOCK); }
KERNEL(e_global_warps)
{
    weak_store(&p[TID + BLOCK * 64], TID);
    u32 v = weak_load(&p[(TID ^ 32) + BLOCK * 64]);
    weak_store(&p[512 + TID + BLOCK * 64], v);
}
KERNEL(c_global_warps)
{
    weak_store(&p[TID + BLOCK * 64], TID);
    __syncthreads();
    u32 v = weak_load(&p[(TID ^ 32) + BLOCK * 64]);
    weak_store(&p[512 + TID + BLOCK * 64], v);
}
KERNEL(e_global_update) { p[0] = p[0] + 1; }
KERNEL(c_global_update) { atomicAdd(p, 1); }
KERNEL(e_weak_and_atomic) { if (weak_load(p) < TID) atomicMax(p, TID); }
KERNEL(c_strong_and_atomic) { if (relaxed_load_gpu(p) < TID) atomicMax(p, TID); }
KERNEL(b_same_value) { weak_store(p, 3); }
// Wherever the schedule lets another warp run.
KERNEL(b_same_values)
{
    u32 *q = p + BLOCK * 16;
    weak_store(q, 1);
    weak_store(q + 1, 2);
    weak_store(q + 2, 3);
    weak_store(q + 3, 4);
    weak_store(q + 4, 5);
    weak_store(q + 5, 6);
    weak_store(q + 6, 7);
    weak_store(q + 7, 8);
}
KERNEL(w_volatile) { volatile_store(p, TID); }
KERNEL(w_volatile_and_atomic) { if (TID == 0) volatile_store(p, BLOCK); else atomicAdd(p, 1); }
KERNEL(w_volatile_loop) { for (u32 k = 0; k < 4; k++) volatile_store(p + k, volatile_load(p + BLOCK * 4 + k) + TID); }
KERNEL(b_volatile_lanes) { if (TID < 32) volatile_store(p + BLOCK, TID); }
KERNEL(c_volatile_poll)
{
    if (TID)
        return;
    if (BLOCK)
        while (volatile_load(p + BLOCK - 1) == 0)
            ;
    volatile_store(p + BLOCK, BLOCK + 1);
}
KERNEL(c_volatile_and_relaxed)
{
    if (TID)
        return;
    if (BLOCK)
        volatile_store(p + BLOCK, relaxed_load_gpu(p));
    else
        volatile_store(p, 1);
}
KERNEL(c_relaxed) { relaxed_store_gpu(p, TID); }

// The last one to increment a counter resets it.
KERNEL(c_reset_by_last) { if (TID == 0 && atomicAdd(p, 1) == 3) weak_store(p, 0); }
KERNEL(e_reset_by_one) { if (TID == 0 && atomicAdd(p, 1) == 1) weak_store(p, 0); }
KERNEL(e_reset_by_other)
{
    if (TID == 0 && atomicAdd(p, 1) == 3)
        p[1] = 1;
    else if (TID == 32 && BLOCK == 3)
        weak_store(p, 0);
}
KERNEL(c_reset_shared)
{
    __shared__ u32 s;
    if (TID == 0)
        s = 0;
    __syncthreads();
    if (atomicAdd(&s, 1) == 63)
        weak_store(&s, 0);
}

// --- scopes ---
KERNEL(e_atomic_block_scope) { atomicAdd_block(p, 1); }
KERNEL(c_atomic_block_scope) { atomicAdd_block(p + BLOCK, 1); }
KERNEL(e_relaxed_block_scope) { if (TID == 0) relaxed_store_cta(p, BLOCK); }
KERNEL(c_relaxed_block_scope) { relaxed_store_cta(p + BLOCK, TID); }

// --- messages: block 0 writes, fences and sets a flag ---
#define MESSAGE(name, fence_before, set, test, fence_after)                                             \
    KERNEL(name)                                                                                        \
    {                                                                                                   \
        if (TID)                                                                                        \
            return;                                                                                     \
        if (BLOCK == 0) {                                                                               \
            weak_store(p, 42);                                                                          \
            fence_before;                                                                               \
            set(p + 64, 1);                                                                             \
        } else if (BLOCK == 1) {                                                                        \
            while (!test(p + 64))                                                                       \
                ;                                                                                       \
            fence_after;                                                                                \
            p[128] = weak_load(p);                                                                      \
        }                                                                                               \
    }
MESSAGE(c_message, __threadfence(), relaxed_store_gpu, relaxed_load_gpu, __threadfence())
MESSAGE(e_message_no_release, , relaxed_store_gpu, relaxed_load_gpu, __threadfence())
MESSAGE(e_message_no_acquire, __threadfence(), relaxed_store_gpu, relaxed_load_gpu, )
MESSAGE(e_message_proxy_fence, asm volatile("fence.proxy.async;" ::: "memory"), relaxed_store_gpu, relaxed_load_gpu,
        __threadfence())
MESSAGE(e_message_narrow_fence, __threadfence_block(), relaxed_store_gpu, relaxed_load_gpu, __threadfence())
MESSAGE(e_message_narrow_fence_after, __threadfence(), relaxed_store_gpu, relaxed_load_gpu, __threadfence_block())
MESSAGE(e_message_other_lane, fence_if(TID == 1), relaxed_store_gpu, relaxed_load_gpu, __threadfence())
MESSAGE(c_message_this_lane, fence_if(TID == 0), relaxed_store_gpu, relaxed_load_gpu, __threadfence())
MESSAGE(c_message_release, , release_store_gpu, acquire_load_gpu, )
MESSAGE(e_message_release_cta, , release_store_cta, acquire_load_gpu, )
MESSAGE(e_message_acquire_cta, , release_store_gpu, acquire_load_cta, )
// A releasing or acquiring access orders by its own location only.
MESSAGE(e_message_release_other, release_store_gpu(p + 65, 1), relaxed_store_gpu, acquire_load_gpu, )
MESSAGE(c_message_release_before, release_store_gpu(p + 64, 0), relaxed_store_gpu, acquire_load_gpu, )
MESSAGE(e_message_acquire_other, , release_store_gpu, relaxed_load_gpu, acquire_load_gpu(p + 65))
MESSAGE(c_message_acquire_after, , release_store_gpu, relaxed_load_gpu, acquire_load_gpu(p + 64))

// A thread in between that passes a message on: what it has read without acquiring it, its release does not publish.
#define RELAY(name, load)                                   \
    KERNEL(name)                                            \
    {                                                       \
        if (TID)                                            \
            return;                                         \
        if (BLOCK == 0) {                                   \
            weak_store(p, 42);                              \
            release_store_gpu(p + 64, 1);                   \
        } else if (BLOCK == 1) {                            \
            while (!load(p + 64))                           \
                ;                                           \
            release_store_gpu(p + 65, 1);                   \
        } else if (BLOCK == 2) {                            \
            while (!acquire_load_gpu(p + 65))               \
                ;                                           \
            p[128] = weak_load(p);                          \
        }                                                   \
    }
RELAY(c_message_relay, acquire_load_gpu)
RELAY(e_message_relay, relaxed_load_gpu)

// Within a block, the narrow scope is enough.
KERNEL(c_message_in_block)
{
    if (TID == 0) {
        weak_store(p + BLOCK, 42);
        release_store_cta(p + 64 + BLOCK, 1);
    } else if (TID == 32) {
        while (!acquire_load_cta(p + 64 + BLOCK))
            ;
        p[128 + BLOCK] = weak_load(p + BLOCK);
    }
}
// What the whole block has written before a barrier is released by one of its threads.
KERNEL(c_message_of_block)
{
    if (BLOCK == 0) {
        weak_store(p + TID, 42);
        __syncthreads();
        if (TID == 0)
            release_store_gpu(p + 64, 1);
    } else if (BLOCK == 1) {
        if (TID == 0)
            while (!acquire_load_gpu(p + 64))
                ;
        __syncthreads();
        p[128 + TID] = weak_load(p + TID);
    }
}
KERNEL(e_message_of_block)
{
    if (BLOCK == 0) {
        weak_store(p + TID, 42);
        if (TID == 0)
            release_store_gpu(p + 64, 1);
    } else if (BLOCK == 1) {
        if (TID == 0)
            while (!acquire_load_gpu(p + 64))
                ;
        __syncthreads();
        p[128 + TID] = weak_load(p + TID);
    }
}

// --- locks ---
#define LOCKED(name, acquire_fence, release_fence)                 \
    KERNEL(name)                                                   \
    {                                                              \
        if (TID)                                                   \
            return;                                                \
        while (atomicCAS(p, 0, 1))                                 \
            ;                                                      \
        acquire_fence;                                             \
        weak_store(p + 1, weak_load(p + 1) + 1);                   \
        release_fence;                                             \
        atomicExch(p, 0);                                          \
    }
LOCKED(c_lock, __threadfence(), __threadfence())
#define atomicExch(p, v) volatile_store(p, v)
LOCKED(c_lock_volatile, __threadfence(), __threadfence())
LOCKED(e_lock_volatile, , )
#undef atomicExch
LOCKED(e_lock_no_acquire, , __threadfence())
LOCKED(e_lock_no_release, __threadfence(), )
LOCKED(e_lock_narrow, __threadfence_block(), __threadfence_block())
// A slot that one thread claims and publishes is not a lock.
KERNEL(c_claim)
{
    if (TID)
        return;
    if (atomicCAS(p, 0, 1) == 0) {
        weak_store(p + 1, 42);
        __threadfence();
        atomicExch(p, 2);
    } else {
        while (atomicAdd(p, 0) != 2)
            ;
        __threadfence();
        p[64 + BLOCK] = weak_load(p + 1);
    }
}

// --- the last block to write reads what all have written. fence.sc of all threads are in one order ---
#define LAST(name, fence_of_all, meet, fence_before, fence_after, fence_of_last)                            \
    KERNEL(name)                                                                                            \
    {                                                                                                       \
        __shared__ u32 count;                                                                               \
        weak_store(p + 64 + TID + BLOCK * 64, 1);                                                           \
        fence_of_all;                                                                                       \
        meet;                                                                                               \
        if (TID == 0) {                                                                                     \
            fence_before;                                                                                   \
            count = atomicAdd(p, 1);                                                                        \
            fence_after;                                                                                    \
        }                                                                                                   \
        __syncthreads();                                                                                    \
        if (count == gridDim.x - 1) {                                                                       \
            fence_of_last;                                                                                  \
            for (u32 k = 0; k < gridDim.x; k++)                                                             \
                weak_load(p + 64 + TID + k * 64);                                                           \
        }                                                                                                   \
    }
#define FENCE_ACQ_REL() asm volatile("fence.acq_rel.gpu;" ::: "memory")
LAST(c_last, __threadfence(), __syncthreads(), , __threadfence(), )
LAST(c_last_of_one, , __syncthreads(), __threadfence(), __threadfence(), )
LAST(c_last_narrow_later, __threadfence(); __threadfence_block(), __syncthreads(), , , __threadfence())
LAST(e_last_no_barrier, __threadfence(), , , __threadfence(), )
LAST(e_last_no_release, , __syncthreads(), , __threadfence(), )
LAST(e_last_no_acquire, __threadfence(), __syncthreads(), , , )
LAST(e_last_narrow, __threadfence_block(), __syncthreads(), , __threadfence(), )
LAST(e_last_not_sc, FENCE_ACQ_REL(), __syncthreads(), , __threadfence(), )

// The same with volatile accesses: what the atomic operation has seen without a fence orders strong accesses.
#define LAST_VOLATILE(name, fence)                                          \
    KERNEL(name)                                                            \
    {                                                                       \
        __shared__ u32 count;                                               \
        if (TID == 0) {                                                     \
            volatile_store(p + 64 + BLOCK, 1 + BLOCK);                      \
            fence;                                                          \
            count = atomicAdd(p, 1);                                        \
        }                                                                   \
        __syncthreads();                                                    \
        if (count == gridDim.x - 1)                                         \
            p[512 + TID] = volatile_load(p + 64 + TID % gridDim.x);         \
    }
LAST_VOLATILE(c_last_volatile, __threadfence())
LAST_VOLATILE(w_last_volatile_no_release, )
LAST_VOLATILE(w_last_volatile_narrow, __threadfence_block())

// --- a barrier of the whole grid ---
#define GRID(name, fence)                                          \
    KERNEL(name)                                                   \
    {                                                              \
        weak_store(p + 64 + TID + BLOCK * 64, 1);                  \
        __syncthreads();                                           \
        if (TID == 0) {                                            \
            fence;                                                 \
            atomicAdd(p, 1);                                       \
            while (relaxed_load_gpu(p) < gridDim.x)                \
                ;                                                  \
            fence;                                                 \
        }                                                          \
        __syncthreads();                                           \
        p[512 + TID + BLOCK * 64] = weak_load(p + 64 + TID + (BLOCK + 1) % 4 * 64); \
    }
GRID(c_grid_barrier, __threadfence())
GRID(e_grid_barrier, __threadfence_block())

// --- rows of bytes and of halves: several warps of a block and of others access a line of shadow memory ---
#define SMALL(name, type, store, load, meet, other)                        \
    KERNEL(name)                                                           \
    {                                                                      \
        type *own = (type *)(p + 64) + BLOCK * 64;                         \
        store(&own[TID], TID);                                             \
        meet;                                                              \
        p[512 + BLOCK * 64 + TID] = load((u32 *)&own[other]);              \
    }
#define BYTES(name, meet, other) SMALL(name, unsigned char, store_byte, load_byte, meet, other)
#define HALVES(name, meet, other) SMALL(name, short, store_half, load_half, meet, other)
BYTES(c_bytes_own, , TID)
BYTES(e_bytes_lanes, , TID ^ 1)
BYTES(c_bytes_lanes, __syncwarp(), TID ^ 1)
BYTES(e_bytes_warps, __syncwarp(), (TID + 1) % 64)
BYTES(c_bytes_warps, __syncthreads(), (TID + 1) % 64)
HALVES(c_halves_own, , TID)
HALVES(e_halves_lanes, , TID ^ 1)
HALVES(c_halves_lanes, __syncwarp(), TID ^ 1)
HALVES(e_halves_warps, __syncwarp(), (TID + 1) % 64)
HALVES(c_halves_warps, __syncthreads(), (TID + 1) % 64)

// --- accesses that later ones of the same warps must not hide ---
// A weak access, and a strong one of the same thread. Others make strong accesses.
#define HIDDEN(name, weak, meet)                        \
    KERNEL(name)                                        \
    {                                                   \
        u32 *own = p + 64 * BLOCK, v = 0;               \
        if (TID == 0)                                   \
            weak;                                       \
        meet;                                           \
        relaxed_store_gpu(own, v + TID + 2);            \
    }
HIDDEN(e_hidden_write, weak_store(own, 1), )
HIDDEN(c_hidden_write, weak_store(own, 1), __syncthreads())
HIDDEN(e_hidden_read, v = weak_load(own), )
HIDDEN(c_hidden_read, v = weak_load(own), __syncthreads())

// Both warps read the words before and after a barrier.
#define WITNESSES(name, meet)                           \
    KERNEL(name)                                        \
    {                                                   \
        u32 *own = p + 64 * BLOCK, v;                   \
        v = weak_load(own + TID % 16) + weak_load(own + 3); \
        bar(4, 64);                                     \
        v += weak_load(own + TID % 16);                 \
        meet;                                           \
        if (TID == 0)                                   \
            weak_store(own, v + 1);                     \
    }
WITNESSES(e_witnesses, )
WITNESSES(c_witnesses, bar(4, 64))

// Lanes read words in another order than they write them.
#define ORDER(name, meet, from)                                     \
    KERNEL(name)                                                    \
    {                                                               \
        u32 *own = p + 64 * BLOCK + TID / 32 * 32, lane = TID % 32; \
        u32 v = weak_load(own + (from));                            \
        meet;                                                       \
        weak_store(own + 7 * lane % 32, v + lane);                  \
    }
ORDER(e_order, , 31 - lane)
ORDER(c_order, __syncwarp(), 31 - lane)
ORDER(c_order_same, , 7 * lane % 32)

// Pairs of lanes read each word, and only the pair of lane 0 meets before lane 0 writes.
#define PAIRS(name, mask)                                           \
    KERNEL(name)                                                    \
    {                                                               \
        u32 *own = p + 64 * BLOCK + TID / 32 * 32, lane = TID % 32; \
        u32 v = weak_load(own + 5 * lane % 16);                     \
        if (mask >> lane & 1)                                       \
            __syncwarp(mask);                                       \
        if (lane == 0)                                              \
            weak_store(own, v + 1);                                 \
    }
PAIRS(c_pairs, 0x10001u)
PAIRS(e_pairs, 0x20001u)
