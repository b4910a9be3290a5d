/* Expected results of blackwell.cu. */
#include "cases.h"

#include <fenv.h>
#include <math.h>

/* ---- pairs of floats */

enum { THREADS = 256, BLOCKS = 300, ADDED = 3 };

static void fill_floats(void *in, size_t bytes)
{
    float *f = in;

    for (size_t k = 0; k < bytes / sizeof *f; k++)
        f[k] = ldexpf((float)(int32_t)cuda_random(), (int)(cuda_random() % 12) - 30);
}

/* The operands are volatile, so that the compiler does not move arithmetic across fesetround. */
static float in_mode(int mode, char operation, float x, float y, float z)
{
    volatile float a = x, b = y, c = z, r;

    fesetround(mode);
    switch (operation) {
    case '+':
        r = a + b;
        break;
    case '*':
        r = a * b;
        break;
    default:
        r = fmaf(a, b, c);
    }
    fesetround(FE_TONEAREST);
    return r;
}

static void expect_pairs(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        const float *a = (const float *)in + 6 * t, *b = a + 2, *c = b + 2;
        float *o = (float *)out + 10 * t;

        for (int k = 0; k < 2; k++) {
            o[k] = in_mode(FE_TONEAREST, 'f', a[k], b[k], c[k]);
            o[2 + k] = in_mode(FE_TOWARDZERO, '+', a[k], b[k], 0);
            o[4 + k] = in_mode(FE_UPWARD, '*', a[k], b[k], 0);
            o[6 + k] = in_mode(FE_DOWNWARD, 'f', a[k], b[k], c[k]);
        }
        o[8] = fminf(fminf(a[0], b[0]), c[0]);
        o[9] = fmaxf(fmaxf(fabsf(a[1]), fabsf(b[1])), fabsf(c[1]));
    }
}

/* ---- memory */

static void expect_wide(const void *in, void *out, int n)
{
    const uint32_t *a = in;
    uint32_t *o = out;

    for (int t = 0; t < n; t++)
        for (int k = 0; k < 8; k++) {
            o[16 * t + k] = a[8 * t + (k ^ 6)]; /* the order of four numbers of 64 bits is reversed */
            o[16 * t + 8 + k] = a[8 * t + 7 - k];
        }
}

static void expect_sums(const void *in, void *out, int n)
{
    unsigned __int128 sum = 0, last = UINT64_MAX;

    (void)in;
    for (unsigned t = 0; t < 4 * 64; t++)
        sum += ((unsigned __int128)(t % 64) << 64) + UINT64_MAX;
    last += (unsigned)n;
    memcpy(out, &sum, sizeof sum);
    memcpy((char *)out + sizeof sum, &last, sizeof last);
}

static void expect_stealing(const void *in, void *out, int n)
{
    int *o = out;

    (void)in;
    for (int k = 0; k < BLOCKS; k++)
        o[k] = 32 * n;
}

static void expect_bytes(const void *in, void *out, int n)
{
    const unsigned char *a = in;
    unsigned char *o = out;

    (void)n;
    for (int t = 0; t < 32; t++)
        for (int k = 0; k < 8; k++)
            o[8 * t + k] = a[16 * (4 * (t % 4) + k % 4) + t / 4 + 8 * (k / 4)];
}

const struct cuda_case blackwell_cases[] = {
    { "pairs", THREADS, 2, 128, 0, THREADS * 24, THREADS * 40, expect_pairs, .fill = fill_floats },
    { "wide", 32, 1, 32, 0, 32 * 32, 32 * 64, .expect = expect_wide },
    { "sums", 5, 4, 64, 0, 16, 32, .expect = expect_sums },
    { "stealing", ADDED, BLOCKS, 32, 0, 4, BLOCKS * 4, .expect = expect_stealing },
    { "bytes", 0, 1, 32, 0, 256, 256, .expect = expect_bytes },
};
CUDA_COUNT(blackwell);
