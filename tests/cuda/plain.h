/* Functions in the common part of C and CUDA C++. nvcc compiles them for the kernels, the host's compiler for the
 * expected results. NAME_one(in, out) reads IN words and writes OUT words. PLAIN(X) lists all functions. They have no
 * undefined or unspecified behaviour, and products that a compiler could fuse with sums are explicitly fused. */
#ifndef PTXI_CUDA_PLAIN_H
#define PTXI_CUDA_PLAIN_H

#ifdef __CUDACC__                        /* nvcc and NVRTC */
#define HD __device__ static
#define HD_CALL __device__ static __noinline__
#define TABLE __constant__
#elif defined(__CUDA__)                  /* clang without any header of CUDA */
#define HD __attribute__((device)) static
#define HD_CALL __attribute__((device, noinline)) static
#define TABLE static __attribute__((constant))
#define fabsf __builtin_fabsf
#define fabs __builtin_fabs
#define fmaf __builtin_fmaf
#define fma __builtin_fma
#define sqrtf __nvvm_sqrt_rn_f
#define sqrt __nvvm_sqrt_rn_d
#define fminf __builtin_fminf
#define fmin __builtin_fmin
#define fmaxf __builtin_fmaxf
#define fmax __builtin_fmax
#define floorf __builtin_floorf
#define floor __builtin_floor
#define ceilf __builtin_ceilf
#define ceil __builtin_ceil
#define truncf __builtin_truncf
#define trunc __builtin_trunc
#define rintf __builtin_rintf
#define rint __builtin_rint
#define copysignf __builtin_copysignf
#define copysign __builtin_copysign
#else
#define HD static
#define HD_CALL static
#define TABLE static const
#include <math.h>
#include <stdbool.h>
#endif

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807 - 1)
#else
#include <stdint.h>
#endif

/*    name, input words, output words of 64 bits. clang has no division of 128-bit integers for devices. */
#define PLAIN(X) \
    PLAIN_COMMON(X) \
    X(int128, 8, 17)
#define PLAIN_COMMON(X) \
    X(int32, 2, 20) \
    X(int64, 4, 20) \
    X(narrow, 2, 16) \
    X(bits, 2, 12) \
    X(layout, 4, 10) \
    X(real32, 4, 16) \
    X(real64, 8, 16) \
    X(convert, 4, 22) \
    X(dense_switch, 1, 2) \
    X(machine, 16, 4) \
    X(recursion, 1, 5) \
    X(sorting, 32, 3) \
    X(pointers, 4, 4) \
    X(by_value, 6, 8) \
    X(sha256, 16, 4) \
    X(bignum, 16, 8) \
    X(strings, 8, 6) \
    X(linear, 32, 5) \
    X(loops, 2, 6)

HD uint64_t word64(const uint32_t *in)
{
    return (uint64_t)in[1] << 32 | in[0];
}

HD void int32_one(const uint32_t *in, uint64_t *out)
{
    int32_t a = (int32_t)in[0], b = (int32_t)in[1], d = b == 0 || (a == INT32_MIN && b == -1) ? 7 : b;
    uint32_t ua = in[0], ub = in[1], ud = ub ? ub : 9;

    out[0] = ua + ub;
    out[1] = ua - ub;
    out[2] = ua * ub;
    out[3] = (uint64_t)(int64_t)(a / d);
    out[4] = (uint64_t)(int64_t)(a % d);
    out[5] = ua / ud;
    out[6] = ua % ud;
    out[7] = (uint64_t)((int64_t)a * b);
    out[8] = (uint64_t)ua * ub;
    out[9] = (uint64_t)(int64_t)(a >> (ub & 31));
    out[10] = ua >> (ub & 31);
    out[11] = ua << (ub & 31);
    out[12] = (ua & ub) ^ (ua | ~ub);
    out[13] = (uint64_t)(a < b) << 3 | (uint64_t)(ua < ub) << 2 | (uint64_t)(a >= b) << 1 | (ua == ub);
    out[14] = (uint64_t)(int64_t)(a < b ? a : b);
    out[15] = ua > ub ? ua : ub;
    out[16] = ua / 10 + ua % 1000 + ua / 7;
    out[17] = (uint64_t)(int64_t)(a / 10 + a % 1000 + a / -7);
    out[18] = (uint64_t)(int64_t)(a / 16 + a % 16);
    out[19] = (uint64_t)(a < 0 ? -(int64_t)a : a);
}

HD void int64_one(const uint32_t *in, uint64_t *out)
{
    uint64_t ua = word64(in), ub = word64(in + 2), ud = ub ? ub : 9;
    int64_t a = (int64_t)ua, b = (int64_t)ub, d = b == 0 || (a == INT64_MIN && b == -1) ? 7 : b;

    out[0] = ua + ub;
    out[1] = ua - ub;
    out[2] = ua * ub;
    out[3] = (uint64_t)(a / d);
    out[4] = (uint64_t)(a % d);
    out[5] = ua / ud;
    out[6] = ua % ud;
    out[7] = (uint64_t)(a >> (ub & 63));
    out[8] = ua >> (ub & 63);
    out[9] = ua << (ub & 63);
    out[10] = (ua & ub) ^ (ua | ~ub);
    out[11] = (uint64_t)(a < b) << 3 | (uint64_t)(ua < ub) << 2 | (uint64_t)(a >= b) << 1 | (ua == ub);
    out[12] = (uint64_t)(a < b ? a : b);
    out[13] = ua > ub ? ua : ub;
    out[14] = ua / 1000003;
    out[15] = (uint64_t)(a % 1000003);
    out[16] = ua % (uint64_t)(in[2] | 1);
    out[17] = (uint64_t)(a / (int64_t)((int32_t)in[2] | 1));
    out[18] = (uint64_t)(a / 1024 + a % 4096);
    out[19] = ~ua + 1;
}

#if defined(__CUDACC__) || !defined(__CUDA__)
HD void int128_one(const uint32_t *in, uint64_t *out)
{
    unsigned __int128 a = (unsigned __int128)word64(in) << 64 | word64(in + 2),
                      b = (unsigned __int128)word64(in + 4) << 64 | word64(in + 6);
    unsigned __int128 r[8];
    unsigned s = in[7] & 127;

    r[0] = a + b;
    r[1] = a - b;
    r[2] = a * b;
    r[3] = a << s;
    r[4] = a >> s;
    r[5] = (unsigned __int128)((__int128)a >> s);
    r[6] = a / (b >> (in[6] & 127) | 1);
    r[7] = (unsigned __int128)((__int128)a % ((__int128)b >> (in[6] & 63) | 1));
    for (int i = 0; i < 8; i++) {
        out[2 * i] = (uint64_t)r[i];
        out[2 * i + 1] = (uint64_t)(r[i] >> 64);
    }
    out[16] = (uint64_t)(a < b) << 1 | (uint64_t)((__int128)a < (__int128)b);
}
#endif

HD void narrow_one(const uint32_t *in, uint64_t *out)
{
    int8_t c = (int8_t)in[0], d = (int8_t)(in[0] >> 8);
    uint8_t uc = (uint8_t)in[0], ud = (uint8_t)(in[0] >> 8);
    int16_t s = (int16_t)in[1], r = (int16_t)(in[1] >> 16);
    uint16_t us = (uint16_t)in[1], ur = (uint16_t)(in[1] >> 16);

    out[0] = (uint64_t)(int64_t)(int8_t)(c + d);
    out[1] = (uint64_t)(int64_t)(int8_t)(c * d);
    out[2] = (uint8_t)(uc - ud);
    out[3] = (uint64_t)(int64_t)(int8_t)(c / (d ? d : 3));
    out[4] = (uint8_t)(uc % (ud ? ud : 3));
    out[5] = (uint64_t)(int64_t)(int8_t)(c >> 3);
    out[6] = (uint8_t)(uc << 3);
    out[7] = (uint64_t)(int64_t)(int16_t)(s + r);
    out[8] = (uint64_t)(int64_t)(int16_t)((int32_t)s * r);
    out[9] = (uint16_t)(us - ur);
    out[10] = (uint64_t)(int64_t)(int16_t)(s / (r ? r : 5));
    out[11] = (uint16_t)(us % (ur ? ur : 5));
    out[12] = (uint64_t)(int64_t)(int16_t)(s >> 5);
    out[13] = (uint16_t)(us >> 5 | us << 11);
    out[14] = (uint64_t)(c < d) << 3 | (uint64_t)(uc < ud) << 2 | (uint64_t)(s < r) << 1 | (us < ur);
    out[15] = (uint64_t)((int64_t)s * c + (int64_t)us * uc);
}

HD unsigned count_bits(uint64_t v)
{
#ifdef __CUDACC__
    return (unsigned)__popcll(v);
#else
    return (unsigned)__builtin_popcountll(v);
#endif
}

HD unsigned leading_zeros(uint32_t v)
{
#ifdef __CUDACC__
    return (unsigned)__clz((int)v);
#else
    return v ? (unsigned)__builtin_clz(v) : 32;
#endif
}

HD unsigned first_set(uint64_t v)
{
#ifdef __CUDACC__
    return (unsigned)__ffsll((long long)v);
#else
    return (unsigned)__builtin_ffsll((long long)v);
#endif
}

HD uint32_t reverse(uint32_t v)
{
#ifdef __CUDACC__
    return __brev(v);
#else
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
#endif
}

HD uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
#ifdef __CUDACC__
    return __byte_perm(a, b, selector);
#else
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint32_t)(both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return r;
#endif
}

HD uint32_t sum_of_differences(int32_t a, int32_t b, uint32_t c)
{
#ifdef __CUDACC__
    return __sad(a, b, c);
#else
    return c + (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a);
#endif
}

HD int32_t dot4(uint32_t a, uint32_t b, int32_t c)
{
#ifdef __CUDACC__
    return __dp4a((int)a, (int)b, c);
#else
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < 32; i += 8)
        sum += (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i));
    return (int32_t)sum;
#endif
}

HD uint32_t multiply_high(uint32_t a, uint32_t b)
{
#ifdef __CUDACC__
    return __umulhi(a, b);
#else
    return (uint32_t)((uint64_t)a * b >> 32);
#endif
}

HD uint64_t multiply_high64(uint64_t a, uint64_t b)
{
#ifdef __CUDACC__
    return __umul64hi(a, b);
#else
    return (uint64_t)((unsigned __int128)a * b >> 64);
#endif
}

HD int64_t multiply_high_signed64(int64_t a, int64_t b)
{
#ifdef __CUDACC__
    return __mul64hi(a, b);
#else
    return (int64_t)((__int128)a * b >> 64);
#endif
}

HD uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t s)
{
#ifdef __CUDACC__
    return __funnelshift_l(low, high, s);
#else
    return s & 31 ? high << (s & 31) | low >> (32 - (s & 31)) : high;
#endif
}

HD void bits_one(const uint32_t *in, uint64_t *out)
{
    uint32_t a = in[0], b = in[1];
    uint64_t v = word64(in);

    out[0] = count_bits(v);
    out[1] = leading_zeros(a >> (b & 31));
    out[2] = first_set(v << (b & 63));
    out[3] = reverse(a);
    out[4] = permute(a, b, a ^ b >> 7);
    out[5] = sum_of_differences((int32_t)a, (int32_t)b, 77);
    out[6] = (uint64_t)(int64_t)dot4(a, b, -5);
    out[7] = multiply_high(a, b);
    out[8] = multiply_high64(v, v * 0x9e3779b97f4a7c15u);
    out[9] = (uint64_t)multiply_high_signed64((int64_t)v, (int64_t)(v * 0x9e3779b97f4a7c15u));
    out[10] = funnel_left(a, b, a >> 27);
    out[11] = (a >> 5 & 0x7ff) | (b & 0x3f) << 20;
}

struct fields {
    unsigned a : 3;
    int b : 7;
    unsigned c : 22;
    long long d : 41;
    unsigned long long e : 23;
};

union views {
    uint32_t words[4];
    uint16_t halves[8];
    uint8_t bytes[16];
    float reals[4];
    struct {
        uint8_t tag;
        uint32_t value;
        uint16_t tail;
    } record;
};

struct __attribute__((packed)) tight {
    uint8_t kind;
    uint32_t value;
    uint16_t flags;
    uint64_t wide;
};

HD void layout_one(const uint32_t *in, uint64_t *out)
{
    struct fields f;
    union views v;
    struct tight t[2];

    f.a = in[0] & 7;
    f.b = (int)(in[0] >> 3 & 63) - 32;
    f.c = in[1] & 0x3fffff;
    f.d = (long long)(int32_t)in[2] * 3;
    f.e = in[3] & 0x7fffff;
    f.b = f.b / 2;
    f.d -= f.a;
    out[0] = f.a;
    out[1] = (uint64_t)(int64_t)f.b;
    out[2] = f.c;
    out[3] = (uint64_t)f.d;
    out[4] = f.e;
    for (int i = 0; i < 4; i++)
        v.words[i] = in[i];
    v.bytes[in[0] & 15] ^= 0x5a;
    v.halves[in[1] & 7] += 3;
    out[5] = v.record.tag + ((uint64_t)v.record.value << 16) + v.record.tail;
    out[6] = (uint64_t)v.words[0] + v.words[1] + v.words[2] + v.words[3];
    for (int i = 0; i < 2; i++) {
        t[i].kind = (uint8_t)in[i];
        t[i].value = in[i + 1];
        t[i].flags = (uint16_t)in[3];
        t[i].wide = word64(in + i);
    }
    t[in[2] & 1].wide += t[in[3] & 1].value;
    out[7] = t[0].wide ^ t[1].wide * 3;
    out[8] = (uint64_t)t[0].kind + t[1].flags + t[1].value;
    out[9] = sizeof(struct fields) << 16 | sizeof(union views) << 8 | sizeof(struct tight);
}

/* Returns a normal number of moderate size with the sign and the significand of the word. */
HD float moderate32(uint32_t w)
{
    union { uint32_t u; float f; } v;

    v.u = (w & 0x807fffffu) | (117 + (w >> 23 & 15)) << 23;
    return v.f;
}

HD double moderate64(const uint32_t *w)
{
    union { uint64_t u; double f; } v;

    v.u = (word64(w) & 0x800fffffffffffffu) | (uint64_t)(1003 + (w[1] >> 20 & 31)) << 52;
    return v.f;
}

HD uint64_t of32(float f)
{
    union { float f; uint32_t u; } v;

    v.f = f;
    return v.u;
}

HD uint64_t of64(double f)
{
    union { double f; uint64_t u; } v;

    v.f = f;
    return v.u;
}

HD void real32_one(const uint32_t *in, uint64_t *out)
{
    float a = moderate32(in[0]), b = moderate32(in[1]), c = moderate32(in[2]);
    float tiny = a * 1e-30f * 1e-8f;

    out[0] = of32(a + b);
    out[1] = of32(a - b);
    out[2] = of32(a * b);
    out[3] = of32(a / b);
    out[4] = of32(fmaf(a, b, c));
    out[5] = of32(sqrtf(fabsf(a)));
    out[6] = of32(fminf(a, b));
    out[7] = of32(fmaxf(a, b));
    out[8] = of32(tiny);
    out[9] = of32(tiny / 3.0f);
    out[10] = of32(floorf(a)) << 32 | of32(ceilf(a));
    out[11] = of32(truncf(a)) << 32 | of32(rintf(a));
    out[12] = (uint64_t)(a < b) << 3 | (uint64_t)(a >= b) << 2 | (uint64_t)(a != a) << 1 | (a == b);
    out[13] = of32(copysignf(a, b));
    out[14] = of32(1.0f / a);
    out[15] = of32(a > 0 ? -a : b);
}

HD void real64_one(const uint32_t *in, uint64_t *out)
{
    double a = moderate64(in), b = moderate64(in + 2), c = moderate64(in + 4);
    double tiny = a * 1e-300 * 1e-16;

    out[0] = of64(a + b);
    out[1] = of64(a - b);
    out[2] = of64(a * b);
    out[3] = of64(a / b);
    out[4] = of64(fma(a, b, c));
    out[5] = of64(sqrt(fabs(a)));
    out[6] = of64(fmin(a, b));
    out[7] = of64(fmax(a, b));
    out[8] = of64(tiny);
    out[9] = of64(tiny / 3.0);
    out[10] = of64(floor(a) + ceil(b));
    out[11] = of64(trunc(a) + rint(b));
    out[12] = (uint64_t)(a < b) << 3 | (uint64_t)(a >= b) << 2 | (uint64_t)(a != a) << 1 | (a == b);
    out[13] = of64(copysign(a, b));
    out[14] = of64(1.0 / a);
    out[15] = of64(a / 3.0 - b);
}

HD void convert_one(const uint32_t *in, uint64_t *out)
{
    float f = moderate32(in[0]) * 1024.0f;
    double d = moderate64(in + 2) * 65536.0;
    int64_t l = (int64_t)word64(in);

    out[0] = (uint64_t)(int64_t)(int32_t)f;
    out[1] = (uint32_t)fabsf(f);
    out[2] = (uint64_t)(int64_t)f;
    out[3] = (uint64_t)fabsf(f);
    out[4] = (uint64_t)(int64_t)(int32_t)d;
    out[5] = (uint32_t)fabs(d);
    out[6] = (uint64_t)(int64_t)(d * 4096.0);
    out[7] = (uint64_t)fabs(d);
    out[8] = of32((float)(int32_t)in[0]);
    out[9] = of32((float)in[0]);
    out[10] = of32((float)l);
    out[11] = of32((float)(uint64_t)l);
    out[12] = of64((double)(int32_t)in[0]);
    out[13] = of64((double)in[0]);
    out[14] = of64((double)l);
    out[15] = of64((double)(uint64_t)l);
    out[16] = of32((float)d);
    out[17] = of64((double)f);
    out[18] = (uint64_t)(int64_t)(int8_t)(int32_t)(f * 0.0625f);
    out[19] = (uint64_t)(int64_t)rintf(f);
    out[20] = (uint64_t)(int64_t)(int16_t)in[1] + (uint8_t)in[2];
    out[21] = of32((float)(int8_t)in[3]) + of64((double)(uint16_t)in[3]);
}

HD void dense_switch_one(const uint32_t *in, uint64_t *out)
{
    uint32_t x = in[0], r = 0;

    for (int i = 0; i < 8; i++, x = x * 1664525 + 1013904223)
        switch (x >> 27) {
        case 0: r += 11; break;
        case 1: r ^= x; break;
        case 2: r = r * 3 + 1; break;
        case 3: r -= x >> 3;           /* falls through */
        case 4: r = r << 3 | r >> 29; break;
        case 5: r += i; break;
        case 6: r = ~r; break;
        case 7: if (x & 1) continue; r++; break;
        case 8: r *= 5; break;
        case 9: r += 99; break;
        case 10: r /= 3; break;
        case 11: r |= 0x10; break;
        case 12: r &= 0xfffffff0u; break;
        case 13: i++; break;
        case 14: r ^= 0x55555555; break;
        case 15: r += x & 255; break;
        case 16: case 17: case 18: r += (x >> 27) * 7; break;
        case 21: r = 0; break;
        case 22: r -= 1; break;
        case 25: r ^= r >> 11; break;
        case 30: r += 0x01010101; break;
        default: r = r * 33 + (x >> 20); break;
        }
    out[0] = r;
    out[1] = x;
}

/* A stack machine. The input is its program. */
HD void machine_one(const uint32_t *in, uint64_t *out)
{
    int32_t stack[16] = {0};
    int sp = 0, pc = 0, steps = 0;

    while (pc < 64 && steps < 300) {
        uint32_t op = in[pc / 4] >> pc % 4 * 8 & 255;
        int32_t top = stack[sp & 15], under = stack[(sp - 1) & 15];
        steps++;
        pc++;
        switch (op & 15) {
        case 0: case 1: case 2: stack[++sp & 15] = (int32_t)(op >> 4) + pc; break;
        case 3: stack[--sp & 15] = (int32_t)((uint32_t)under + (uint32_t)top); break;
        case 4: stack[--sp & 15] = (int32_t)((uint32_t)under - (uint32_t)top); break;
        case 5: stack[--sp & 15] = (int32_t)((uint32_t)under * (uint32_t)top); break;
        case 6: stack[sp & 15] = under; stack[(sp - 1) & 15] = top; break;
        case 7: if (top & 1) pc -= (int)(op >> 4); if (pc < 0) pc = 0; break;
        case 8: if (top > under) pc += (int)(op >> 4); break;
        case 9: stack[sp & 15] = top >> 1; break;
        case 10: stack[sp & 15] = ~top; break;
        case 11: sp -= 1; break;
        case 12: stack[(sp + 1) & 15] = stack[(sp - (int)(op >> 4)) & 15]; sp++; break;
        case 13: stack[sp & 15] = top ^ under; break;
        case 14: if (steps > 200 + (int)(op >> 4)) pc = 64; break;
        default: stack[sp & 15] = (int32_t)((uint32_t)top + 1); break;
        }
    }
    out[0] = (uint64_t)steps;
    out[1] = (uint64_t)(int64_t)sp;
    out[2] = out[3] = 0;
    for (int i = 0; i < 16; i++) {
        out[2] += (uint64_t)(int64_t)stack[i];
        out[3] = out[3] * 31 + (uint32_t)stack[i];
    }
}

HD_CALL uint32_t fibonacci(uint32_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

HD_CALL uint32_t ackermann(uint32_t m, uint32_t n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

HD_CALL bool is_odd(uint32_t n);

HD_CALL bool is_even(uint32_t n)
{
    return n == 0 || is_odd(n - 1);
}

HD_CALL bool is_odd(uint32_t n)
{
    return n != 0 && is_even(n - 1);
}

HD_CALL uint32_t queens(uint32_t n, uint32_t columns, uint32_t left, uint32_t right)
{
    uint32_t count = 0, free = ~(columns | left | right) & ((1u << n) - 1);

    if (columns == (1u << n) - 1)
        return 1;
    while (free) {
        uint32_t bit = free & (0u - free);
        free ^= bit;
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

HD_CALL uint32_t hanoi(int n, int from, int to, uint32_t *trace)
{
    if (n == 0)
        return 0;
    uint32_t moves = hanoi(n - 1, from, 3 - from - to, trace) + 1;
    *trace = *trace * 7 + (uint32_t)(3 * from + to);
    return moves + hanoi(n - 1, 3 - from - to, to, trace);
}

HD void recursion_one(const uint32_t *in, uint64_t *out)
{
    uint32_t trace = in[0];

    out[0] = fibonacci(in[0] % 11);
    out[1] = ackermann(in[0] % 3, in[0] >> 8 & 3);
    out[2] = is_even(in[0] >> 4 & 31);
    out[3] = queens(4 + (in[0] >> 12) % 3, 0, 0, 0);
    out[4] = hanoi((int)(in[0] >> 16) % 6, 0, 2, &trace) + ((uint64_t)trace << 32);
}

HD_CALL void quicksort(int32_t *v, int low, int high)
{
    while (low < high) {
        int32_t pivot = v[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                int32_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        quicksort(v, low, j);
        low = i;
    }
}

HD uint64_t digest(const int32_t *v, int n)
{
    uint64_t h = 14695981039346656037u;

    for (int i = 0; i < n; i++)
        h = (h ^ (uint32_t)v[i]) * 1099511628211u;
    return h;
}

HD void sorting_one(const uint32_t *in, uint64_t *out)
{
    int32_t v[32], heap[32];

    for (int i = 0; i < 32; i++)
        v[i] = heap[i] = (int32_t)in[i];
    quicksort(v, 0, 31);
    for (int n = 31; n > 0; n--) {
        for (int root = n == 31 ? 15 : 0; root >= 0; root--)
            for (int at = root, child; (child = 2 * at + 1) <= n; at = child) {
                if (child < n && heap[child + 1] > heap[child])
                    child++;
                if (heap[at] >= heap[child])
                    break;
                int32_t t = heap[at];
                heap[at] = heap[child];
                heap[child] = t;
            }
        int32_t t = heap[0];
        heap[0] = heap[n];
        heap[n] = t;
    }
    out[0] = digest(v, 32);
    out[1] = digest(heap, 32);
    out[2] = (uint64_t)(v[0] <= v[1] && v[30] <= v[31]);
}

typedef uint32_t (*operation)(uint32_t, uint32_t);

HD_CALL uint32_t op_add(uint32_t a, uint32_t b)
{
    return a + b;
}

HD_CALL uint32_t op_mul(uint32_t a, uint32_t b)
{
    return a * b;
}

HD_CALL uint32_t op_xor(uint32_t a, uint32_t b)
{
    return a ^ b;
}

HD_CALL uint32_t op_mean(uint32_t a, uint32_t b)
{
    return (a >> 1) + (b >> 1) + (a & b & 1);
}

HD_CALL uint32_t fold(operation op, const uint32_t *v, int n)
{
    uint32_t r = v[0];

    for (int i = 1; i < n; i++)
        r = op(r, v[i]);
    return r;
}

HD_CALL operation choose(uint32_t k)
{
    switch (k & 3) {
    case 0: return op_add;
    case 1: return op_mul;
    case 2: return op_xor;
    }
    return op_mean;
}

HD void pointers_one(const uint32_t *in, uint64_t *out)
{
    operation ops[4] = { op_add, op_mul, op_xor, op_mean };
    uint32_t local[4], *at[4];

    for (int i = 0; i < 4; i++) {
        local[i] = in[i] + (uint32_t)i;
        at[3 - i] = &local[i];
    }
    out[0] = ops[in[0] & 3](in[1], in[2]);
    out[1] = fold(choose(in[1]), in, 4);
    out[2] = fold(choose(in[2]), local, 4);
    uint32_t **p = at + (in[3] & 1);
    **p += 5;
    p++;
    *p[1] ^= *p[0];
    out[3] = (uint64_t)local[0] << 32 ^ (uint64_t)local[1] << 16 ^ local[2] ^ (uint64_t)local[3] << 8;
}

struct point {
    int x, y;
};

struct shape {
    char kind;
    struct point corner[3];
    double weight;
};

struct wide {
    uint64_t v[9];
};

HD_CALL struct point rotate(struct point p, int quarter)
{
    struct point r = { quarter & 1 ? -p.y : p.x, quarter & 1 ? p.x : p.y };

    return r;
}

HD_CALL struct shape move_shape(struct shape s, struct point by, char kind)
{
    for (int i = 0; i < 3; i++) {
        s.corner[i].x += by.x;
        s.corner[i].y -= by.y;
    }
    s.kind = (char)(s.kind + kind);
    s.weight *= 0.5;
    return s;
}

HD_CALL struct wide scramble(struct wide w, unsigned by)
{
    struct wide r;

    for (unsigned i = 0; i < 9; i++)
        r.v[i] = w.v[(i * 2 + by) % 9] + i;
    return r;
}

HD void by_value_one(const uint32_t *in, uint64_t *out)
{
    struct point p = { (int)(in[0] & 0xffff), (int)(in[1] & 0xffff) };
    struct shape s = { 'a', { p, rotate(p, 1), rotate(p, 3) }, (double)in[2] };
    struct wide w;

    s = move_shape(s, rotate(p, (int)in[3]), (char)(in[4] & 7));
    s = move_shape(s, s.corner[in[5] % 3], 1);
    out[0] = (uint64_t)(int64_t)s.corner[0].x;
    out[1] = (uint64_t)(int64_t)s.corner[1].y;
    out[2] = (uint64_t)(int64_t)s.corner[2].x;
    out[3] = (uint64_t)s.kind;
    out[4] = of64(s.weight);
    for (int i = 0; i < 9; i++)
        w.v[i] = (uint64_t)in[i % 6] * (unsigned)(i + 1);
    w = scramble(scramble(w, in[0] % 9), in[1] % 5);
    out[5] = w.v[0] ^ w.v[8];
    out[6] = w.v[in[2] % 9];
    out[7] = sizeof(struct shape);
}

TABLE uint32_t sha_round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

HD uint32_t rotate_right(uint32_t v, int s)
{
    return v >> s | v << (32 - s);
}

HD void sha256_one(const uint32_t *in, uint64_t *out)
{
    uint32_t w[64],
        h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }, v[8];

    for (int i = 0; i < 16; i++)
        w[i] = in[i];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 8; i++)
        v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha_round[i] + w[i];
        uint32_t t2 = (rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) +
                      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int k = 7; k > 0; k--)
            v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 4; i++)
        out[i] = (uint64_t)(h[2 * i] + v[2 * i]) << 32 | (h[2 * i + 1] + v[2 * i + 1]);
}

/* 256-bit integers of 32-bit limbs: the low half of the product, and division by a word. */
HD void bignum_one(const uint32_t *in, uint64_t *out)
{
    uint32_t r[8] = {0}, q[8];
    uint64_t rest = 0;

    for (int i = 0; i < 8; i++) {
        uint64_t carry = 0;
        for (int j = 0; i + j < 8; j++) {
            carry += (uint64_t)in[i] * in[8 + j] + r[i + j];
            r[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (int i = 7; i >= 0; i--) {
        rest = rest << 32 | r[i];
        q[i] = (uint32_t)(rest / (in[0] | 1));
        rest %= in[0] | 1;
    }
    for (int i = 0; i < 4; i++) {
        out[i] = word64(r + 2 * i);
        out[4 + i] = word64(q + 2 * i) ^ (i ? 0 : rest << 7);
    }
}

TABLE char words[6][12] = { "warp", "lane", "predicate", "register", "shuffle", "" };

HD int length_of(const char *s)
{
    int n = 0;

    while (s[n])
        n++;
    return n;
}

HD_CALL int compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (uint8_t)*a - (uint8_t)*b;
}

HD_CALL char *decimal(char *end, uint32_t v)
{
    *end = 0;
    do
        *--end = (char)('0' + v % 10);
    while (v /= 10);
    return end;
}

HD uint64_t parse(const char *s)
{
    uint64_t v = 0;

    while (*s >= '0' && *s <= '9')
        v = v * 10 + (uint64_t)(*s++ - '0');
    return v;
}

HD void strings_one(const uint32_t *in, uint64_t *out)
{
    char text[40], number[16], *n = decimal(number + 15, in[0]);
    const char *a = words[in[1] % 6], *b = words[in[2] % 6];
    int at = 0, distance[12];

    for (const char *s = a; *s; s++)
        text[at++] = *s;
    text[at++] = '-';
    for (const char *s = n; *s; s++)
        text[at++] = *s;
    text[at] = 0;
    out[0] = (uint64_t)length_of(text);
    out[1] = parse(n) + 1;
    out[2] = (uint64_t)(int64_t)compare(a, b);
    out[3] = 5381;
    for (int i = 0; i < at; i++)
        out[3] = out[3] * 33 ^ (uint8_t)text[i];
    for (int j = 0; j <= length_of(b); j++)
        distance[j] = j;
    for (int i = 1; i <= length_of(a); i++) {      /* Levenshtein distance, one row */
        int corner = i - 1;
        distance[0] = i;
        for (int j = 1; j <= length_of(b); j++) {
            int change = corner + (a[i - 1] != b[j - 1]),
                less = distance[j - 1] < distance[j] ? distance[j - 1] + 1 : distance[j] + 1;
            corner = distance[j];
            distance[j] = change < less ? change : less;
        }
    }
    out[4] = (uint64_t)distance[length_of(b)];
    out[5] = (uint64_t)(text[in[3] % (unsigned)(at + 1)] - 'a') + 1000;
}

/* Solves a 4 x 4 system in doubles, by elimination with pivots. */
HD void linear_one(const uint32_t *in, uint64_t *out)
{
    double a[4][5], x[4];
    int swaps = 0;

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            a[i][j] = moderate64(in + 2 * (4 * i + j)) + (i == j ? 4.0 : 0.0);
        a[i][4] = (double)(int32_t)in[i];
    }
    for (int c = 0; c < 4; c++) {
        int best = c;
        for (int r = c + 1; r < 4; r++)
            if (fabs(a[r][c]) > fabs(a[best][c]))
                best = r;
        for (int j = 0; j < 5 && best != c; j++) {
            double t = a[c][j];
            a[c][j] = a[best][j];
            a[best][j] = t;
            swaps += j == 0;
        }
        for (int r = c + 1; r < 4; r++) {
            double m = a[r][c] / a[c][c];
            for (int j = c; j < 5; j++)
                a[r][j] = fma(-m, a[c][j], a[r][j]);
        }
    }
    for (int i = 3; i >= 0; i--) {
        double sum = a[i][4];
        for (int j = i + 1; j < 4; j++)
            sum = fma(-a[i][j], x[j], sum);
        x[i] = sum / a[i][i];
        out[i] = of64(x[i]);
    }
    out[4] = (uint64_t)swaps;
}

HD void loops_one(const uint32_t *in, uint64_t *out)
{
    uint32_t n = in[0] & 0xffff, steps = 0, peak = 0, a = in[0], b = in[1], sum = 0;

    for (uint64_t v = n + 1; v != 1 && steps < 1000; steps++)    /* Collatz */
        v = v & 1 ? 3 * v + 1 : v / 2;
    out[0] = steps;
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    out[1] = a;
    for (uint32_t i = 0; i < (in[0] & 31); i++) {
        for (uint32_t j = i; j < (in[1] & 15); j++) {
            if ((i * j) % 7 == 3)
                continue;
            if (i + j == 21)
                goto next;
            sum += i ^ j;
        }
        if (sum > 5000)
            break;
    next:
        sum++;
        peak = sum > peak ? sum : peak;
    }
    out[2] = sum;
    out[3] = peak;
    uint32_t root = 0;
    for (uint32_t bit = 1u << 15; bit; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= in[1])
            root |= bit;
    out[4] = root;
    uint32_t sieve[8] = {0};
    for (uint32_t p = 2; p < 256; p++) {
        if (sieve[p / 32] >> p % 32 & 1)
            continue;
        for (uint32_t m = p * p; m < 256; m += p)
            sieve[m / 32] |= 1u << m % 32;
    }
    out[5] = (uint64_t)sieve[in[0] & 7] << 8 | count_bits(sieve[in[1] & 7]);
}

#endif
