#include "cases.h"

static unsigned of_real(float f)
{
    unsigned u;

    memcpy(&u, &f, 4);
    return u;
}

static void values(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        unsigned v = ((const unsigned *)in)[t], *o = (unsigned *)out + 8 * t, rest = v >> 5;
        int re = (int)(v & 15) + 2, im = (int)(v >> 4 & 15) - 4;
        for (int i = 0; i < 6; i++)
            o[0] += v >> 4 * i;
        o[1] = (unsigned)-7;
        for (unsigned i = 0; i < 16; i++)
            o[1] = i * i == (v & 255) ? i : o[1];
        o[2] = (v >> 24) * 5 + (v & 0xffffff);
        o[3] = (unsigned)(__builtin_popcount(v) * 100 + (rest ? __builtin_clz(rest) : 32) * 10 + __builtin_ctz(v | 64));
        o[4] = (v << 9 | v >> 23) ^ (1u << (31 - __builtin_clz(v | 1)));
        o[5] = v % 3 * 1000000 + (v % 3 == 1 ? v & 1023 : v & 0xffff);
        o[6] = of_real(1.0f + (float)(v & 7)) + 32767;
        o[7] = (unsigned)(re * 16 + im + re * re + im * im);
    }
}

static void queue(const void *in, void *out, int n)
{
    for (int b = 0; b < 3; b++) {
        unsigned h = 0;
        for (int i = 0; i < n; i++)
            h = h * 31 + ((const unsigned *)in)[b * n + i];
        ((unsigned *)out)[b] = h;
    }
}

static void orders(const void *in, void *out, int n)
{
    unsigned head[2] = {0};
    unsigned long long *o = out, sum = 5;

    for (int t = 0; t < n; t++) {
        unsigned v = ((const unsigned *)in)[t];
        sum += v;
        head[0] = v > head[0] ? v : head[0];
        head[1] |= v & 0x11111111u;
    }
    memcpy(out, head, 8);
    o[1] = (unsigned long long)n;
    o[2] = 2 * sum;
}

const struct cuda_case library_cases[] = {
    { .kernel = "values", .n = 500, .grid = 4, .block = 128, .in_bytes = 2000, .out_bytes = 16000, .expect = values },
    { .kernel = "queue", .n = 100, .grid = 3, .block = 64, .in_bytes = 1200, .out_bytes = 12, .expect = queue },
    { .kernel = "orders", .n = 500, .grid = 4, .block = 128, .in_bytes = 2000, .out_bytes = 24, .expect = orders },
};
CUDA_COUNT(library);
