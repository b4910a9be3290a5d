// Pairs of a faulty and a correct kernel for threads that never come to an instruction at which others wait.
// arrivals.ptx was made from this file:
//     nvcc -ptx -arch=compute_80 arrivals.cu
// The first letter of a name says whether something is found: e an error, c nothing. Launches have 4 blocks of 64
// threads. `p` has 1024 words, which are 0.

typedef unsigned u32;

#define KERNEL(name) extern "C" __global__ void name(u32 *p)
#define TID threadIdx.x
#define LANE (threadIdx.x & 31)
#define OUT p[blockIdx.x * 64 + TID]
#define ALL 0xffffffffu

KERNEL(e_syncwarp)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (LANE < 16) {
        __syncwarp();
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(c_syncwarp)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (LANE < 16) {
        __syncwarp(0xffff);
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(e_shfl)
{
    u32 v = OUT;
    if (LANE < 16)
        v += __shfl_down_sync(ALL, v, 8);
    OUT = v;
}

KERNEL(c_shfl)
{
    u32 v = OUT, u = __shfl_down_sync(ALL, v, 8);
    if (LANE < 16)
        v += u;
    OUT = v;
}

KERNEL(e_ballot)
{
    u32 v = 0;
    if (LANE & 1)
        v = __ballot_sync(ALL, OUT > 3);
    OUT = v;
}

KERNEL(c_ballot)
{
    u32 v = 0;
    if (LANE & 1)
        v = __ballot_sync(0xaaaaaaaa, OUT > 3);
    OUT = v;
}

KERNEL(e_reduce)
{
    u32 v = 0;
    if (LANE != 7)
        v = __reduce_add_sync(ALL, OUT);
    OUT = v;
}

KERNEL(c_reduce)
{
    u32 v = 0, mask = __ballot_sync(ALL, LANE != 7);
    if (LANE != 7)
        v = __reduce_add_sync(mask, OUT);
    OUT = v;
}

// 8 lanes go through the loop once more
KERNEL(e_trips)
{
    u32 v = 0;
    for (u32 i = LANE; i < 40; i += 32)
        v += __shfl_xor_sync(ALL, p[512 + i] + v, 1);
    OUT = v;
}

KERNEL(c_trips)
{
    u32 v = 0;
    for (u32 i = LANE; i < 64; i += 32)
        v += __shfl_xor_sync(ALL, p[512 + i] + v, 1);
    OUT = v;
}

// the other lanes meet them at the second one, and do not come to the third one that they wait for
KERNEL(e_one_more)
{
    u32 v = OUT;
    if (LANE < 16)
        v += __shfl_xor_sync(ALL, v, 1);
    v += __shfl_xor_sync(ALL, v, 2);
    if (LANE == 0)
        OUT = v;
}

KERNEL(c_arms)
{
    u32 v = OUT;
    if (LANE < 16)
        v += __shfl_xor_sync(ALL, v, 1);
    else
        v -= __shfl_xor_sync(ALL, v, 2);
    OUT = v;
}

// threads of a rounded-up grid return
KERNEL(c_return)
{
    __shared__ u32 s[64];
    if (TID >= 40 + OUT)
        return;
    s[TID] = __reduce_add_sync(ALL, TID);
    __syncwarp();
    __syncthreads();
    OUT = s[39 - TID];
}

KERNEL(e_barrier)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (TID < 16) {
        __syncthreads();
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(e_barrier_warp)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (TID < 32) {
        __syncthreads();
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(c_barrier)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (p[1000] < 16) {
        __syncthreads();
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(e_barrier_or)
{
    u32 v = 0;
    if (TID < 40)
        v = __syncthreads_or(OUT > 3);
    OUT = v;
}

KERNEL(c_barrier_part)
{
    __shared__ u32 s[64];
    s[TID] = TID;
    if (TID < 32) {
        asm volatile("bar.sync 1, 32;" ::: "memory");
        s[TID]++;
    }
    OUT = s[TID];
}

KERNEL(c_trap)
{
    if (OUT == 12345)
        __trap();
    __syncthreads();
    OUT = __shfl_sync(ALL, OUT, 3);
}

// Functions that are not inlined, as with nvcc -G

static __device__ __noinline__ void meet(u32 mask)
{
    __syncwarp(mask);
}

static __device__ __noinline__ void meet_nested(u32 mask, u32 *at)
{
    meet(mask);
    ++*at;
}

static __device__ __noinline__ void meet_all()
{
    __syncthreads();
}

KERNEL(e_called_syncwarp)
{
    if (LANE < 16)
        meet(ALL);
    OUT = TID;
}

KERNEL(c_called_syncwarp)
{
    if (LANE < 16)
        meet(0xffff);
    OUT = TID;
}

KERNEL(e_called_nested)
{
    u32 v = TID;
    if (LANE < 16)
        meet_nested(ALL, &v);
    OUT = v;
}

KERNEL(c_called_nested)
{
    u32 v = TID;
    meet_nested(ALL, &v);
    if (LANE < 16)
        return;
    OUT = v;
}

KERNEL(e_called_barrier)
{
    if (TID < 32)
        meet_all();
    OUT = TID;
}

KERNEL(c_called_barrier)
{
    if (OUT == 12345)
        return;
    meet_all();
    OUT = TID;
}
