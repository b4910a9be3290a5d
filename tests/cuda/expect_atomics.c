#include "cases.h"

static void integers(const void *in, void *out, int n)
{
    for (int g = 0; g < n; g++) {
        unsigned v = ((const unsigned *)in)[g], *o = (unsigned *)out + 10 * (v >> 28);
        int *s = (int *)o;
        o[0] += v;
        o[1] -= v >> 3;
        o[2] &= v | 0x0ff00000u;
        o[3] |= v & 0x00081248u;
        o[4] ^= v;
        o[5] = v < o[5] ? v : o[5];
        o[6] = v > o[6] ? v : o[6];
        s[7] = (int)(v * 3) < s[7] ? (int)(v * 3) : s[7];
        s[8] = (int)(v * 5) > s[8] ? (int)(v * 5) : s[8];
        s[9]--;
    }
}

static void integers64(const void *in, void *out, int n)
{
    for (int g = 0; g < n; g++) {
        uint64_t v = ((const uint64_t *)in)[g], *o = (uint64_t *)out + 9 * (v >> 61);
        int64_t *s = (int64_t *)o;
        o[0] += v;
        o[1] &= v | 0x0ff0000000000000u;
        o[2] |= v & 0x0000000100081248u;
        o[3] ^= v;
        o[4] = v < o[4] ? v : o[4];
        o[5] = v > o[5] ? v : o[5];
        s[6] = (int64_t)(v * 3) < s[6] ? (int64_t)(v * 3) : s[6];
        s[7] = (int64_t)(v * 5) > s[7] ? (int64_t)(v * 5) : s[7];
        o[8] = o[8] * 2 + (o[8] >> 63);
    }
}

static void floats(const void *in, void *out, int n)
{
    double *o = out;
    float head[2] = { 0, 7.0f };

    for (int g = 0; g < n; g++) {
        unsigned v = ((const unsigned *)in)[g];
        o[2 + 2 * (g / 128)] += v & 1023;
        o[3 + 2 * (g / 128)] += v * 0.5;
        head[0] += (float)(v >> 25);
        o[1] += (int)v;
    }
    memcpy(out, head, 8);
}

static void tickets(const void *in, void *out, int n)
{
    unsigned *o = out, *rings = o + n, *global = o + n + 21;

    memcpy(out, in, (size_t)n * 4);
    for (int b = 0; b < n / 128; b++) {
        unsigned ring = 0, down = 5;
        for (unsigned t = 0; t < 128; t++) {
            rings[ring]++;
            ring = ring >= 6 ? 0 : ring + 1;
            rings[10 + down]++;
            down = down == 0 ? 9 : down - 1;
            rings[20] += t;
        }
        rings[20] += 1000;
    }
    for (int g = 0; g < n; g++)
        o[n + 32 + g] = (unsigned)g + 1;
    global[0] = (unsigned)n;
    global[1] = (unsigned)(n % (n / 2 + 1));
    global[2] = (unsigned)(n / (n / 2 + 1));
    global[3] = (unsigned)n - 1;
}

static void swaps(const void *in, void *out, int n)
{
    unsigned *o = out, narrow[4] = {0};

    for (int t = 0; t < 128; t++) {
        unsigned v = ((const unsigned *)in)[t];
        o[v & 63] = 1;
        narrow[v >> 30] += v & 255;
    }
    for (int i = 0; i < 4; i++)
        o[64 + i] = narrow[i] & 0xffff;
    o[68] = (unsigned)n;
}

/* A flip of the top bit is an addition modulo 2^32. It therefore commutes with the other additions. */
static void scopes(const void *in, void *out, int n)
{
    unsigned *o = out;
    int most = 0;

    for (int g = 0; g < 384; g++) {
        unsigned v = ((const unsigned *)in)[g], *p = v & 1 ? &o[4 + g / 128] : o;
        *p += (v & 0xffff) + 1;
        o[4 + g / 128] ^= v & 0x80000000u;
        o[1] += v;
        most = (int)v > most ? (int)v : most;
    }
    o[2] = (unsigned)most;
    for (int b = 0; b < 3; b++)
        o[4 + b] += (unsigned)n;
}

const struct cuda_case atomics_cases[] = {
    { .kernel = "integers",
      .n = 2000,
      .grid = 8,
      .block = 256,
      .in_bytes = 8000,
      .out_bytes = 640,
      .expect = integers,
      .out_is_input = true },
    { .kernel = "integers64",
      .n = 700,
      .grid = 3,
      .block = 256,
      .in_bytes = 5600,
      .out_bytes = 576,
      .expect = integers64,
      .out_is_input = true },
    { .kernel = "floats", .n = 500, .grid = 4, .block = 128, .in_bytes = 2000, .out_bytes = 80, .expect = floats },
    { .kernel = "tickets",
      .n = 512,
      .grid = 4,
      .block = 128,
      .in_bytes = 2048,
      .out_bytes = 4 * (1024 + 32),
      .expect = tickets },
    { .kernel = "swaps", .n = 99, .grid = 1, .block = 128, .in_bytes = 512, .out_bytes = 276, .expect = swaps },
    { .kernel = "scopes", .n = 17, .grid = 3, .block = 128, .in_bytes = 1536, .out_bytes = 28, .expect = scopes },
};
CUDA_COUNT(atomics);
