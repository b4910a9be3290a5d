// Pairs of a faulty and a correct kernel for pointers into shared and local variables. variables.ptx was made
// from this file:
//     nvcc -ptx -arch=compute_80 variables.cu
// The first letter of a name says whether something is found: e an error, c nothing. Launches have 4 blocks of 64
// threads. `p` has 1024 words, which are 0.

typedef unsigned u32;

#define KERNEL(name) extern "C" __global__ void name(u32 *p)
#define TID threadIdx.x
#define OUT p[blockIdx.x * 64 + TID]

KERNEL(e_index)
{
    __shared__ u32 a[16], b[64];
    b[TID] = TID;
    __syncthreads();
    if (TID < 17 + p[1000])
        a[TID] = 1;
    __syncthreads();
    OUT = b[TID] + a[TID & 15];
}
KERNEL(c_index)
{
    __shared__ u32 a[16], b[64];
    b[TID] = TID;
    __syncthreads();
    if (TID < 16 + p[1000])
        a[TID] = 1;
    __syncthreads();
    OUT = b[TID] + a[TID & 15];
}
KERNEL(e_atomic)
{
    __shared__ u32 a[16], b[16];
    if (TID < 16)
        a[TID] = b[TID] = 0;
    __syncthreads();
    atomicAdd(a + TID % 17 + p[1000], 1);
    atomicMax(b + TID / 4, TID);
    __syncthreads();
    OUT = a[TID % 16] + b[TID % 16];
}
KERNEL(c_atomic)
{
    __shared__ u32 a[16], b[16];
    if (TID < 16)
        a[TID] = b[TID] = 0;
    __syncthreads();
    atomicAdd(a + TID % 16 + p[1000], 1);
    atomicMax(b + TID / 4, TID);
    __syncthreads();
    OUT = a[TID % 16] + b[TID % 16];
}
KERNEL(e_choice)
{
    __shared__ u32 a[16], b[64], c[256];
    u32 *q = TID < 16 ? a : b;
    c[TID] = 1;
    q[TID + p[1000]] = TID;
    __syncthreads();
    if (TID == 1)
        q[128 + p[1000]] = 9;
    __syncthreads();
    OUT = q[TID] + c[TID];
}
KERNEL(c_choice)
{
    __shared__ u32 a[16], b[64];
    u32 *q = TID < 16 ? a : b;
    q[TID] = TID;
    __syncthreads();
    OUT = q[TID];
}
KERNEL(c_loaded)
{
    __shared__ u32 a[64], b[64], *table[2];
    a[TID] = 1;
    b[TID] = 2;
    table[0] = a;
    table[1] = b;
    __syncthreads();
    OUT = table[TID & 1][TID];
}
KERNEL(c_swap)
{
    __shared__ u32 a[64], b[64];
    u32 *from = a, *to = b;
    from[TID] = TID;
    __syncthreads();
    for (u32 k = 0; k < 5 + p[1000]; k++) {
        to[TID] = from[63 - TID];
        __syncthreads();
        u32 *other = from;
        from = to;
        to = other;
    }
    OUT = from[TID];
}
KERNEL(c_distance)
{
    __shared__ u32 a[64], b[64];
    a[TID] = b[TID] = TID;
    __syncthreads();
    long distance = b - a;
    OUT = (a + distance)[TID];
}

// behind a local array; p[1000] is 0
KERNEL(e_local)
{
    u32 a[4];
    for (u32 k = 0; k < 4; k++)
        a[k ^ p[1000]] = k;
    OUT = a[(TID & 3) + p[1000] / 2 + (TID == 7)] + a[TID & 3];
}

KERNEL(c_local)
{
    u32 a[4];
    for (u32 k = 0; k < 4; k++)
        a[k ^ p[1000]] = k;
    OUT = a[(TID & 3) + p[1000] / 2] + a[TID & 3];
}

// a string that is too long
KERNEL(e_local_loop)
{
    char s[8];
    for (u32 k = 0; k < 12 + p[1000]; k++)
        s[k] = (char)k;
    OUT = s[p[1000] & 7];
}

KERNEL(c_local_loop)
{
    char s[12];
    for (u32 k = 0; k < 12 + p[1000]; k++)
        s[k] = (char)k;
    OUT = s[p[1000] & 7];
}

__device__ __noinline__ u32 read_at(const u32 *q, u32 k)
{
    return q[k];
}

// a function does not know where its argument comes from
KERNEL(c_local_passed)
{
    u32 a[4];
    for (u32 k = 0; k < 4; k++)
        a[k ^ p[1000]] = k;
    OUT = read_at(TID & 1 ? a : p, TID & 3) + read_at(a, 3);
}

// also a generic address, of one or the other
KERNEL(c_local_or_global)
{
    u32 a[4];
    for (u32 k = 0; k < 4; k++)
        a[k ^ p[1000]] = k;
    const u32 *q = p[TID] ? p + 100 : a;
    OUT = q[(TID & 3) + p[1000]];
}
