/* Atomic operations of all kinds on integers, floats and doubles, in global and shared memory, at all scopes. The
 * values that the operations return are added or combined by bits, so that results do not depend on the order. */
#include <cstdint>

typedef unsigned long long u64;

/* Many threads update few words. */
extern "C" __global__ void integers(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;

    if (g >= n)
        return;
    unsigned v = in[g], k = v >> 28;
    unsigned *o = out + 10 * k;
    int *s = (int *)o;
    atomicAdd(o, v);
    atomicSub(o + 1, v >> 3);
    atomicAnd(o + 2, v | 0x0ff00000u);
    atomicOr(o + 3, v & 0x00081248u);
    atomicXor(o + 4, v);
    atomicMin(o + 5, v);
    atomicMax(o + 6, v);
    atomicMin(s + 7, (int)v * 3);
    atomicMax(s + 8, (int)v * 5);
    atomicAdd(s + 9, -1);
}

extern "C" __global__ void integers64(const u64 *in, u64 *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;

    if (g >= n)
        return;
    u64 v = in[g];
    u64 *o = out + 9 * (v >> 61);
    atomicAdd(o, v);
    atomicAnd(o + 1, v | 0x0ff0000000000000u);
    atomicOr(o + 2, v & 0x0000000100081248u);
    atomicXor(o + 3, v);
    atomicMin(o + 4, v);
    atomicMax(o + 5, v);
    atomicMin((long long *)o + 6, (long long)(v * 3));
    atomicMax((long long *)o + 7, (long long)(v * 5));
    for (u64 old = o[8], seen; (seen = atomicCAS(o + 8, old, old * 2 + (old >> 63))) != old; old = seen)
        ;
}

/* All values are integers or halves, so sums are exact in any order. */
extern "C" __global__ void floats(const unsigned *in, double *out, int n)
{
    __shared__ float f;
    __shared__ double d;
    int g = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x == 0)
        f = d = 0;
    __syncthreads();
    if (g < n) {
        atomicAdd(&f, (float)(in[g] & 1023));
        atomicAdd(&d, (double)in[g] * 0.5);
        atomicAdd((float *)out, (float)(in[g] >> 25));
        atomicAdd(out + 1, (double)(int)in[g]);
        atomicExch((float *)out + 1, 7.0f);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[2 + 2 * blockIdx.x] = f;
        out[3 + 2 * blockIdx.x] = d;
    }
}

/* Each ticket is drawn once: atomicAdd, atomicInc and atomicDec with wrap-around, and a chain of atomicExch, in shared
 * and global memory. out: n words, two rings of 10, the chain, 4 words, and n tickets from word n + 32 on. */
extern "C" __global__ void tickets(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned next, ring, down, chain;
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    unsigned *rings = out + n, *global = out + n + 21;

    if (t == 0) {
        next = ring = 0;
        down = 5;
        chain = 1000;
    }
    __syncthreads();
    unsigned base = blockIdx.x * blockDim.x, a = atomicAdd(&next, 1);
    atomicAdd(out + base + a, in[base + a]);            /* a permutation of the block */
    atomicAdd(rings + atomicInc(&ring, 6), 1);          /* 0..6 repeatedly */
    atomicAdd(rings + 10 + atomicDec(&down, 9), 1);     /* 5..0, 9..0, ... */
    atomicAdd(rings + 20, atomicExch(&chain, (unsigned)t));
    unsigned ticket = atomicAdd(global, 1);
    out[n + 32 + ticket] = ticket + 1;
    if (atomicInc(global + 1, n / 2) == n / 2)
        atomicAdd(global + 2, 1);
    atomicMax(global + 3, (unsigned)g);
    __syncthreads();
    if (t == 0)
        atomicAdd(rings + 20, chain);
}

/* Compare-and-swap of 16 bits, updates of bytes by it, and a hash table of 128 entries with linear probing. */
extern "C" __global__ void swaps(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned table[128];
    __shared__ unsigned short narrow[4];
    int t = threadIdx.x;

    table[t & 127] = 0xffffffffu;
    if (t < 4)
        narrow[t] = 0;
    __syncthreads();
    unsigned key = in[t] & 63, at = key * 7 & 127;
    for (;; at = (at + 1) & 127) {
        unsigned was = atomicCAS(&table[at], 0xffffffffu, key);
        if (was == 0xffffffffu || was == key)
            break;
    }
    unsigned short *h = &narrow[in[t] >> 30];
    unsigned short old = *(volatile unsigned short *)h, seen;
    while ((seen = atomicCAS(h, old, (unsigned short)(old + (in[t] & 255)))) != old)
        old = seen;
    __syncthreads();
    if (table[t & 127] != 0xffffffffu && t < 128)
        atomicAdd(out + table[t], 1);
    if (t < 4)
        out[64 + t] = narrow[t];
    if (t == 0)
        out[68] = n;
}

/* Scopes, and generic addresses: shared memory for some lanes, global memory for others. */
extern "C" __global__ void scopes(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned s;
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;

    if (t == 0)
        s = 0;
    __syncthreads();
    unsigned *p = in[g] & 1 ? &s : out;
    atomicAdd(p, in[g] & 0xffff);
    atomicAdd_block(p, 1);
    atomicAdd_system(out + 1, in[g]);
    atomicXor_block(&s, in[g] & 0x80000000u);
    atomicMax_system((int *)out + 2, (int)in[g]);
    __threadfence_system();
    __syncthreads();
    if (t == 0)
        out[4 + blockIdx.x] = s + n;
}
