// Loops of atomic operations. All threads use one word, or random words of a large table. Each thread executes `turns`
// operations.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static __device__ unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Returns a pseudorandom value between -0.5 and 0.5, so a sum is a random walk.
static __device__ float value(unsigned n)
{
    return mixed(n) * 0x1p-32f - 0.5f;
}

#define LOOP(name, T, ...)                                                                 \
    extern "C" __global__ void name(T *p, int turns, unsigned mask)                        \
    {                                                                                      \
        unsigned n = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;  \
                                                                                           \
        _Pragma("unroll 1") for (int t = 0; t < turns; t++, n += all)                      \
            __VA_ARGS__                                                                    \
    }

LOOP(add_u32, unsigned, atomicAdd(p, n);)
LOOP(add_f32, float, atomicAdd(p, value(n));)
LOOP(add_f16, __half, atomicAdd(p, __float2half(value(n)));)
LOOP(add_bf16, __nv_bfloat16, atomicAdd(p, __float2bfloat16(value(n)));)
LOOP(add_f16x2, __half2, atomicAdd(p, __float2half2_rn(value(n)));)

// Maximum of f32: by the order of integers, by compare-and-swap if the value is larger, and by compare-and-swap always.
LOOP(max_f32_int, int, atomicMax(p, __float_as_int(value(n) + 0.5f));)
LOOP(max_f32_larger, unsigned, {
    float v = value(n);
    unsigned old = *(volatile unsigned *)p;
    while (__uint_as_float(old) < v) {
        unsigned assumed = old;
        old = atomicCAS(p, assumed, __float_as_uint(v));
        if (old == assumed)
            break;
    }
})
LOOP(max_f32_cas, unsigned, {
    float v = value(n);
    unsigned old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __float_as_uint(fmaxf(v, __uint_as_float(assumed))));
    } while (assumed != old);
})
LOOP(add_f32_cas, unsigned, {
    float v = value(n);
    unsigned old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __float_as_uint(v + __uint_as_float(assumed)));
    } while (assumed != old);
})
LOOP(add_f16_cas, unsigned, {
    __half v = __float2half(value(n));
    unsigned old = *p, assumed;
    do {
        assumed = old;
        __half sum = __hadd(__ushort_as_half(assumed & 0xffff), v);
        old = atomicCAS(p, assumed, (assumed & 0xffff0000) | __half_as_ushort(sum));
    } while (assumed != old);
})
LOOP(max_f16_cas, unsigned short, {
    __half v = __float2half(value(n));
    unsigned short old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __half_as_ushort(__hmax(v, __ushort_as_half(assumed))));
    } while (assumed != old);
})

// Operations on random words.
LOOP(table_add_u32, unsigned, atomicAdd(&p[mixed(n) & mask], 1u);)
LOOP(table_add_f32, float, atomicAdd(&p[mixed(n) & mask], 1.0f);)
LOOP(table_add_f16, __half, atomicAdd(&p[mixed(n) & mask], __float2half(1.0f));)
LOOP(table_max_u32, unsigned, atomicMax(&p[mixed(n) & mask], n);)
LOOP(table_count_u32, unsigned, { if (atomicAdd(&p[mixed(n) & mask], 1u) == 0xffffffffu) p[0] = n; })
LOOP(table_insert, unsigned long long, {
    unsigned long long key = n + 1ull;
    for (unsigned slot = mixed(n) & mask;; slot = (slot + 1) & mask) {
        unsigned long long old = atomicCAS(&p[slot], 0ull, key);
        if (old == 0 || old == key)
            break;
    }
})
