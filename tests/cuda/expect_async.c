#include "cases.h"

static void pipeline(const void *in, void *out, int n)
{
    for (int i = 0; i < n; i++)
        for (int t = 0; t < 32; t++)
            memcpy((char *)out + (i * 32 + t) * 16, (const char *)in + (i * 32 + 31 - t) * 16, 16);
}

static void barrier(const void *in, void *out, int n)
{
    for (int t = 0; t < 128; t++) {
        unsigned sum = 0;

        for (int i = 0; i < n; i++)
            sum = sum * 3 + ((const unsigned *)in)[i * 128 + 127 - t];
        ((unsigned *)out)[t] = sum;
    }
}

static void cluster(const void *in, void *out, int n)
{
    for (int b = 0; b < 8; b++)
        for (int t = 0; t < 64; t++)
            ((unsigned *)out)[b * 64 + t] =
                ((const unsigned *)in)[(b / 4 * 4 + (b + n) % 4) * 64 + 63 - t] + (unsigned)b % 4;
}

const struct cuda_case async_cases[] = {
    { .kernel = "pipeline",
      .n = 9,
      .grid = 1,
      .block = 32,
      .in_bytes = 9 * 512,
      .out_bytes = 9 * 512,
      .expect = pipeline },
    { .kernel = "barrier", .n = 5, .grid = 1, .block = 128, .in_bytes = 5 * 512, .out_bytes = 512, .expect = barrier },
    { .kernel = "cluster", .n = 3, .grid = 8, .block = 64, .in_bytes = 2048, .out_bytes = 2048, .expect = cluster },
};
CUDA_COUNT(async);
