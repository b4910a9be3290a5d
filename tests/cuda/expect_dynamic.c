/* Expected results of kernels that launch other kernels. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

enum { SORTED = 2000, PUSHED = 256 };

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void quicksort(const void *in, void *out, int n)
{
    memcpy(out, in, 4 * (size_t)n);
    qsort(out, (size_t)n, 4, by_value);
}

static void queue(const void *in, void *out, int n)
{
    const uint32_t *v = in;
    uint32_t *o = out;

    for (int i = 0; i < n; i++) {
        o[1] += v[i];
        o[2] ^= v[i];
    }
    o[0] = o[3] = (uint32_t)n;
}

static void order(const void *in, void *out, int n)
{
    const uint32_t *v = in;
    uint32_t *o = out;

    for (int i = 0; i < n; i++)
        o[i] = 0x01010101;
    for (int i = 0; i < 32; i++) {
        o[i] = ((o[i] * 2 + 5) * 10 + 100) * 3 + 7;
        o[32 + i] = o[i];
        o[i] += 1;
    }
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 2; x++) {
            o[64 + 4 * y + x] = v[8 * y + x];
            o[96 + 4 * y + x] = 0xabababab;
        }
}

/* Copies and fills boxes inside arrays with rows of 4 words and slices of 4 rows. */
static void boxes(const void *in, void *out, int n)
{
    const uint32_t *v = in;
    uint32_t *o = out;

    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2; x++)
                o[16 * (z + 1) + 4 * (y + 2) + x] = v[16 * z + 4 * (y + 1) + x + 1];
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < n; y++)
            o[16 * z + 4 * y] = 0xcdcdcdcd;
}

static int32_t digest(const char *text)
{
    uint32_t sum = 0;

    while (*text)
        sum = sum * 31 + (unsigned char)*text++;
    return (int32_t)sum;
}

static void answers(const void *in, void *out, int n)
{
    const int32_t want[] = { 1,
                             0,
                             32,
                             101,
                             101,
                             0,
                             32,
                             0,
                             1024,
                             64,
                             0,
                             1,
                             0,
                             2,
                             0,
                             8 << 20,
                             9,
                             9,
                             digest("invalid configuration argument"),
                             1,
                             digest("cudaErrorInvalidConfiguration"),
                             digest("cudaSuccess"),
                             digest("unrecognized error code"),
                             21 };

    (void)in;
    (void)n;
    memcpy(out, want, sizeof want);
}

#define CASE(name, count, threads, ins, outs)                                                                 \
    {                                                                                                         \
        .kernel = #name, .n = count, .grid = 1, .block = threads, .in_bytes = 4 * ins, .out_bytes = 4 * outs, \
        .expect = name                                                                                        \
    }
const struct cuda_case dynamic_cases[] = {
    CASE(quicksort, SORTED, 1, SORTED, SORTED),
    CASE(queue, PUSHED, 1, PUSHED, 4),
    CASE(order, 128, 32, 128, 128),
    CASE(boxes, 1, 1, 64, 64),
    CASE(answers, 0, 1, 0, 24),
    { .kernel = "child_fails", .grid = 1, .block = 1, .out_bytes = 4, .result = PTXI_ERROR_ILLEGAL_ADDRESS },
    CASE(quicksort, 100, 1, 100, 100), /* also after a failure */
};
CUDA_COUNT(dynamic);
