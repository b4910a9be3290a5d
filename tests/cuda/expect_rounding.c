/* Expected results of rounding modes. The host computes them with its FPU in the same rounding mode.
 * All operands are normal numbers of moderate size. */
#include "cases.h"

#include <fenv.h>
#include <math.h>

static const int modes[4] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };

/* The operands are volatile and the functions are not inlined.
 * Otherwise the compiler could move arithmetic across fesetround. */
#define OPERATIONS(type, suffix) \
    __attribute__((noinline)) static void operations_##suffix(const type *in, type *o) \
    { \
        volatile type a = in[0], b = in[1], c = in[2], one = 1; \
        volatile type r[6]; \
        r[0] = a + b; \
        r[1] = a * b; \
        r[2] = a / b; \
        r[3] = FMA_##suffix(a, b, c); \
        r[4] = SQRT_##suffix(ABS_##suffix(a)); \
        r[5] = one / a; \
        for (int i = 0; i < 6; i++) \
            o[4 * i] = r[i]; \
    } \
    static void expect_##suffix(const void *in, void *out, int n) \
    { \
        for (int m = 0; m < 4; m++) { \
            fesetround(modes[m]); \
            for (int t = 0; t < n; t++) \
                operations_##suffix((const type *)in + 3 * t, (type *)out + 24 * t + m); \
        } \
        fesetround(FE_TONEAREST); \
    }
#define FMA_f fmaf
#define SQRT_f sqrtf
#define ABS_f fabsf
#define FMA_d fma
#define SQRT_d sqrt
#define ABS_d fabs
OPERATIONS(float, f)
OPERATIONS(double, d)

static float in_mode_f(double d, int mode)
{
    volatile double v = d;
    volatile float r;

    fesetround(mode);
    r = (float)v;
    fesetround(FE_TONEAREST);
    return r;
}

static float integer_in_mode_f(__int128 l, int mode)
{
    volatile long long s = (long long)l;
    volatile unsigned long long u = (unsigned long long)l;
    volatile float r;

    fesetround(mode);
    if (l > INT64_MAX)
        r = (float)u;
    else
        r = (float)s;
    fesetround(FE_TONEAREST);
    return r;
}

static double integer_in_mode_d(__int128 l, int mode)
{
    volatile long long s = (long long)l;
    volatile unsigned long long u = (unsigned long long)l;
    volatile double r;

    fesetround(mode);
    if (l > INT64_MAX)
        r = (double)u;
    else
        r = (double)s;
    fesetround(FE_TONEAREST);
    return r;
}

static long long bits_f(float f)
{
    int i;

    memcpy(&i, &f, 4);
    return i;
}

static long long bits_d(double d)
{
    long long l;

    memcpy(&l, &d, 8);
    return l;
}

static void conversions(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        const double *v = (const double *)in + 2 * t;
        double d = v[0], whole[4] = { rint(d), trunc(d), ceil(d), floor(d) };
        float f = (float)v[1];
        long long l = bits_d(d), *o = (long long *)out + 24 * t;
        unsigned long long u = (unsigned long long)l;
        for (int i = 0; i < 4; i++) {
            o[i] = (int)whole[i];
            o[4 + i] = (long long)whole[i];
            o[12 + i] = bits_f(in_mode_f(d, modes[i]));
        }
        o[8] = (int)rintf(f);
        o[9] = (int)ceilf(f);
        o[10] = (long long)floorf(f);
        o[11] = (long long)truncf(f);
        o[16] = bits_f(integer_in_mode_f(l, FE_TONEAREST));
        o[17] = bits_f(integer_in_mode_f(l, FE_TOWARDZERO));
        o[18] = bits_f(integer_in_mode_f(u, FE_UPWARD));
        o[19] = bits_f(integer_in_mode_f((int)l, FE_DOWNWARD));
        o[20] = bits_d(integer_in_mode_d(l, FE_TONEAREST));
        o[21] = bits_d(integer_in_mode_d(l, FE_UPWARD));
        o[22] = bits_d(integer_in_mode_d(u, FE_DOWNWARD));
        o[23] = bits_d(integer_in_mode_d(l, FE_TOWARDZERO));
    }
}

static void moderate_floats(void *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t w = cuda_random();
        ((uint32_t *)in)[i] = (w & 0x807fffffu) | (117 + (w >> 23 & 15)) << 23;
    }
}

static void moderate_doubles(void *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t w = (uint64_t)cuda_random() << 32 | cuda_random();
        ((uint64_t *)in)[i] = (w & 0x800fffffffffffffu) | (1010 + (w >> 52 & 31)) << 52;
    }
}

enum { N = 700 };
const struct cuda_case rounding_cases[] = {
    { .kernel = "floats",
      .n = N,
      .grid = 3,
      .block = 256,
      .in_bytes = N * 12,
      .out_bytes = N * 96,
      .expect = expect_f,
      .fill = moderate_floats },
    { .kernel = "doubles",
      .n = N,
      .grid = 3,
      .block = 256,
      .in_bytes = N * 24,
      .out_bytes = N * 192,
      .expect = expect_d,
      .fill = moderate_doubles },
    { .kernel = "conversions",
      .n = N,
      .grid = 3,
      .block = 256,
      .in_bytes = N * 16,
      .out_bytes = N * 192,
      .expect = conversions,
      .fill = moderate_doubles },
};
CUDA_COUNT(rounding);
