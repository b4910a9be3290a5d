/* Expected results of the maths functions. The host makes the same calls in a wider type and rounds the results.
 * A difference is allowed up to the maximum error in CUDA's documentation. */
#include "cases.h"
#include "maths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 300 };

#define ULPS(call, ulps) ulps,
static const int float_ulps[MATHS_RESULTS] = { MATHS_FLOAT(ULPS) };
static const int double_ulps[MATHS_RESULTS] = { MATHS_DOUBLE(ULPS) };

/* Float functions are defined as double functions, and double functions as long double functions.
 * This way the lists of maths.h can be used unchanged. */
static void expect_floats(const void *in, void *out, int n)
{
#define STORE(call, ulps) o[k++] = (float)call;
#define sinf sin
#define cosf cos
#define tanf tan
#define asinf asin
#define acosf acos
#define atanf atan
#define atan2f atan2
#define expf exp
#define exp2f exp2
#define expm1f expm1
#define logf log
#define log2f log2
#define log10f log10
#define log1pf log1p
#define powf pow
#define cbrtf cbrt
#define hypotf hypot
#define sinhf sinh
#define coshf cosh
#define tanhf tanh
#define asinhf asinh
#define atanhf atanh
#define erff erf
#define erfcf erfc
#define lgammaf lgamma
#define tgammaf tgamma
#define fmodf fmod
#define remainderf remainder
#define roundf round
#define nearbyintf nearbyint
#define ldexpf ldexp
#define fdimf fdim
    for (int t = 0; t < n; t++) {
        const float *v = (const float *)in + 4 * t;
        double x = v[0], y = v[1], big = v[2], unit = v[3];
        float *o = (float *)out + MATHS_RESULTS * t;
        int k = 0;
        MATHS_FLOAT(STORE)
    }
#undef STORE
}

static void expect_doubles(const void *in, void *out, int n)
{
#define STORE(call, ulps) o[k++] = (double)call;
#define sin sinl
#define cos cosl
#define tan tanl
#define asin asinl
#define acos acosl
#define atan atanl
#define atan2 atan2l
#define exp expl
#define exp2 exp2l
#define expm1 expm1l
#define log logl
#define log2 log2l
#define log10 log10l
#define log1p log1pl
#define pow powl
#define cbrt cbrtl
#define hypot hypotl
#define sinh sinhl
#define cosh coshl
#define tanh tanhl
#define asinh asinhl
#define atanh atanhl
#define erf erfl
#define erfc erfcl
#define lgamma lgammal
#define tgamma tgammal
#define fmod fmodl
#define remainder remainderl
#define round roundl
#define nearbyint nearbyintl
#define ldexp ldexpl
#define fdim fdiml
    for (int t = 0; t < n; t++) {
        const double *v = (const double *)in + 4 * t;
        long double x = v[0], y = v[1], big = v[2], unit = v[3];
        double *o = (double *)out + MATHS_RESULTS * t;
        int k = 0;
        MATHS_DOUBLE(STORE)
    }
#undef STORE
}

/* Returns the distance between two numbers, counted in representable numbers. */
static long long apart_float(float a, float b)
{
    int x, y;

    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return a != a || b != b
               ? 1 << 30
               : llabs((long long)(x < 0 ? INT32_MIN - (long long)x : x) - (y < 0 ? INT32_MIN - (long long)y : y));
}

static long long apart_double(double a, double b)
{
    long long x, y;

    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    if (a != a || b != b || (x < 0) != (y < 0))
        return a == b ? 0 : 1 << 30;
    return llabs(x - y);
}

static bool near_floats(const void *got, const void *want, size_t bytes)
{
    const float *g = got, *w = want;
    bool ok = true;

    for (size_t i = 0; i < bytes / 4 && ok; i++)
        if (apart_float(g[i], w[i]) > float_ulps[i % MATHS_RESULTS]) {
            printf("  float function %zu of maths.h, thread %zu: %a instead of %a\n", i % MATHS_RESULTS,
                   i / MATHS_RESULTS, g[i], w[i]);
            ok = false;
        }
    return ok;
}

static bool near_doubles(const void *got, const void *want, size_t bytes)
{
    const double *g = got, *w = want;
    bool ok = true;

    for (size_t i = 0; i < bytes / 8 && ok; i++)
        if (apart_double(g[i], w[i]) > double_ulps[i % MATHS_RESULTS]) {
            printf("  double function %zu of maths.h, thread %zu: %a instead of %a\n", i % MATHS_RESULTS,
                   i / MATHS_RESULTS, g[i], w[i]);
            ok = false;
        }
    return ok;
}

static double between(double low, double high)
{
    return low + (high - low) * (cuda_random() * 0x1p-32);
}

static double argument(size_t k)
{
    static const double low[4] = { 0.01, 0.01, -1e6, -0.99 }, high[4] = { 9, 9, 1e6, 0.99 };

    return between(low[k % 4], high[k % 4]);
}

static void fill_floats(void *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++)
        ((float *)in)[i] = (float)argument(i);
}

static void fill_doubles(void *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++)
        ((double *)in)[i] = argument(i);
}

const struct cuda_case maths_cases[] = {
    { .kernel = "floats",
      .n = N,
      .grid = 3,
      .block = 128,
      .in_bytes = N * 16,
      .out_bytes = N * 4 * MATHS_RESULTS,
      .expect = expect_floats,
      .fill = fill_floats,
      .same = near_floats },
    { .kernel = "doubles",
      .n = N,
      .grid = 3,
      .block = 128,
      .in_bytes = N * 32,
      .out_bytes = N * 8 * MATHS_RESULTS,
      .expect = expect_doubles,
      .fill = fill_doubles,
      .same = near_doubles },
};
CUDA_COUNT(maths);
