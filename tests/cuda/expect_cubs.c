#include "cases.h"

#include <math.h>

enum { THREADS = 128, ITEMS = 5, TILE = THREADS * ITEMS, BLOCKS = 3 };

static int max(int a, int b)
{
    return a > b ? a : b;
}

static void reduce(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        const int *v = (const int *)in + b * THREADS;
        long long *o = (long long *)out + 3 * b;
        o[1] = INT32_MIN;
        for (int t = 0; t < THREADS; t++) {
            o[0] += v[t];
            o[1] = o[1] > v[t] ? o[1] : v[t];
            o[2] += t < n ? v[t] : 0;
        }
    }
}

static void scan(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        unsigned v[TILE], sum = 0, before[TILE];
        int most = INT32_MIN;
        for (int i = 0; i < TILE; i++) {
            v[i] = i < TILE - n ? ((const unsigned *)in)[b * TILE + i] : ~0u;
            before[i] = sum;
            sum += v[i];
        }
        for (int i = 0; i < TILE; i++) {
            most = max(most, (int)v[i]);
            ((unsigned *)out)[b * TILE + i] = (unsigned)most ^ (before[i] + sum);
        }
    }
}

/* Sorts the indices 0..n-1 by key. The sort is stable. It is an insertion sort because n is small. */
static void sort_places(const long long *key, int *place, int n)
{
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && key[place[at - 1]] > key[i]; at--)
            place[at] = place[at - 1];
        place[at] = i;
    }
}

static void radix_sort(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        const int *v = (const int *)in + b * TILE;
        long long key[TILE];
        int place[TILE];
        for (int i = 0; i < TILE; i++)
            key[i] = -(long long)(v[i] >> 20);
        sort_places(key, place, TILE);
        for (int i = 0; i < TILE; i++)
            ((int *)out)[b * TILE + i] = (v[place[i]] >> 20) * 1000 + place[i];
        for (int i = 0; i < THREADS; i++)
            key[i] = v[i];
        sort_places(key, place, THREADS);
        for (int i = 0; i < THREADS; i++)
            ((int *)out)[BLOCKS * TILE + b * THREADS + i] = (int)floor(v[place[i]] * 0.5) + n;
    }
}

static void sort_by_remainder(const unsigned *v, unsigned *out, int n)
{
    long long key[TILE] = {0};
    int place[TILE];

    for (int i = 0; i < n; i++)
        key[i] = v[i] % 1000;
    sort_places(key, place, n);
    for (int i = 0; i < n; i++)
        out[i] = v[place[i]];
}

static void merge_sort(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        const unsigned *v = (const unsigned *)in + b * TILE;
        sort_by_remainder(v, (unsigned *)out + b * TILE, TILE);
        for (int w = 0; w < THREADS / 32; w++)
            sort_by_remainder(v + 96 * w, (unsigned *)out + n + b * THREADS * 3 + 96 * w, 96);
    }
}

static void histogram(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        unsigned *o = (unsigned *)out + 64 * b;
        for (int i = 0; i < TILE; i++) {
            unsigned v = ((const unsigned *)in)[b * TILE + i] & 63;
            o[v] += 1000;
            o[v / 3]++;
        }
        for (int i = 0; i < 64; i++)
            o[i] += (unsigned)n;
    }
}

static void unique(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++) {
        unsigned *o = (unsigned *)out + b * (TILE + 1), count = 0;
        for (int i = 0; i < TILE; i++) {
            unsigned v = ((const unsigned *)in)[b * TILE + i] >> 31,
                     before = i ? ((const unsigned *)in)[b * TILE + i - 1] >> 31 : 0;
            if (i == 0 || v != before)
                o[count++] = (unsigned)i * 2 + v + ((v - before) * (unsigned)n << 16);
        }
        o[TILE] = count;
    }
}

static void warp_level(const void *in, void *out, int n)
{
    for (int g = 0; g < BLOCKS * THREADS; g++) {
        const int *v = (const int *)in + (g & ~31);
        int t = g % THREADS, l = t % 32, *o = (int *)out + 5 * g;
        o[2] = o[3] = n;
        for (int i = 0; i < 32; i++) {
            int x = v[i] & 0xffff;
            o[0] += l == 0 ? x : 0;
            o[2] = i <= l ? max(o[2], x) : o[2];
            o[3] = i < l ? max(o[3], x) : o[3];
            if (t % 8 == 0 && i / 8 == l / 8)
                o[4] = max(o[4], x);
        }
        if (t % 5 == 0 || l == 0)
            for (int i = l; i < 32 && (i == l || (t - l + i) % 5 != 0); i++)
                o[1] += v[i] & 0xffff;
    }
}

static void exchange(const void *in, void *out, int n)
{
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < THREADS; t++)
            for (int i = 0; i < ITEMS; i++)
                ((unsigned *)out)[b * TILE + (t * ITEMS + i) * 7 % TILE] =
                    ((const unsigned *)in)[b * TILE + i * THREADS + t] + (unsigned)(i * n);
}

#define CASE(name, N, words)                                                                      \
    {                                                                                             \
        .kernel = #name, .n = N, .grid = BLOCKS, .block = THREADS, .in_bytes = 4 * BLOCKS * TILE, \
        .out_bytes = BLOCKS * 4 * (words), .expect = name                                         \
    }
const struct cuda_case cubs_cases[] = {
    CASE(reduce, 100, 6),
    CASE(scan, 37, TILE),
    CASE(radix_sort, 3, TILE + THREADS),
    CASE(merge_sort, BLOCKS * TILE, TILE + 3 * THREADS),
    CASE(histogram, 5, 64),
    CASE(unique, 3, TILE + 1),
    CASE(warp_level, 30000, 5 * THREADS),
    CASE(exchange, 11, TILE),
};
CUDA_COUNT(cubs);
