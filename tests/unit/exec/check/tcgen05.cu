// Operands and results of tcgen05 instructions, as in races.cu. tcgen05.ptx was made from this file:
//     nvcc -ptx -arch=compute_100a tcgen05.cu
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL(name) extern "C" __global__ void name(u32 *p)
#define TID threadIdx.x
#define FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define BEFORE_SYNC() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define AFTER_SYNC() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")

// Operands are 8 rows of 16 bytes, next to each other.
struct state {
    u32 a[512], b[64]; // 64 and 8 rows of 32 bytes
    u64 bar;
    u32 tensor;
};

__device__ static u32 at(const void *x) { return (u32)__cvta_generic_to_shared(x); }
__device__ static u64 describe(const void *x) { return at(x) >> 4 | 8 << 16 | 16ull << 32 | 1ull << 46; }

__device__ static void begin(state *s)
{
    if (TID < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" :: "r"(at(&s->tensor)));
    if (TID == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&s->bar)));
    for (u32 k = TID; k < 512; k += 64)
        s->a[k] = k;
    s->b[TID] = TID;
}
__device__ static void end(state *s)
{
    __syncthreads();
    if (TID < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" :: "r"(s->tensor));
}
__device__ static void commit(state *s)
{
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at(&s->bar)));
}
__device__ static void multiply(state *s)
{
    asm volatile("{.reg .pred q; setp.ne.u32 q, 0, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, q;}"
                 :: "r"(s->tensor), "l"(describe(s->a)), "l"(describe(s->b)), "r"(1 << 4 | 1 << 17 | 4 << 24));
    commit(s);
}
__device__ static void copy(state *s)
{
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(s->tensor), "l"(describe(s->a)));
    commit(s);
}
__device__ static void wait(state *s)
{
    asm volatile("{.reg .pred q;\n"
                 "LOOP_%=: mbarrier.try_wait.parity.shared::cta.b64 q, [%0], 0;\n"
                 "@!q bra LOOP_%=;}" :: "r"(at(&s->bar)) : "memory");
}
__device__ static u32 load(state *s)
{
    u32 v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\n"
                 "tcgen05.wait::ld.sync.aligned;" : "=r"(v) : "r"(s->tensor + (TID / 32 << 21)) : "memory");
    return v;
}
__device__ static void store(state *s)
{
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\n"
                 "tcgen05.wait::st.sync.aligned;" :: "r"(s->tensor + (TID / 32 << 21)), "r"(TID) : "memory");
}

#define PAIR(name, fence, issue, use)           \
    KERNEL(name)                                \
    {                                           \
        __shared__ __align__(128) state s;      \
        begin(&s);                              \
        fence;                                  \
        __syncthreads();                        \
        issue(&s);                              \
        __syncwarp();                           \
        use;                                    \
        wait(&s);                               \
        end(&s);                                \
    }
PAIR(c_mma, FENCE(), if (TID == 0) multiply, wait(&s); s.a[TID] = 1; p[blockIdx.x * 64 + TID] = load(&s))
PAIR(c_mma_store, FENCE(), if (TID == 0) multiply, wait(&s); store(&s))
PAIR(e_mma_operand, FENCE(), if (TID == 0) multiply, s.b[TID] = 1)
PAIR(e_mma_result, FENCE(), if (TID == 0) multiply, p[blockIdx.x * 64 + TID] = load(&s))
PAIR(e_mma_overwritten, FENCE(), if (TID == 0) multiply, store(&s))
PAIR(e_mma_no_fence, , if (TID == 0) multiply, wait(&s))
PAIR(c_mma_fence_after, , if (TID == 0) FENCE(); if (TID == 0) multiply, wait(&s))
PAIR(c_copy, FENCE(), if (TID == 0) copy, wait(&s); s.a[TID] = 1; p[blockIdx.x * 64 + TID] = load(&s))
PAIR(e_copy_source, FENCE(), if (TID == 0) copy, s.a[TID] = 1)
PAIR(e_copy_result, FENCE(), if (TID == 0) copy, p[blockIdx.x * 64 + TID] = load(&s))
PAIR(c_load_before, FENCE(), u32 v = load(&s); BEFORE_SYNC(); __syncthreads(); AFTER_SYNC(); if (TID == 0) multiply,
     p[blockIdx.x * 64 + TID] = v)
PAIR(e_load_before, FENCE(), u32 v = load(&s); if (TID == 0) multiply, p[blockIdx.x * 64 + TID] = v)
