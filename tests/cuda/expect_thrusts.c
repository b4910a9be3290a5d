#include "cases.h"

enum { SLICE = 24 };

static unsigned digest(const int *v, int n)
{
    unsigned h = 2166136261u;

    for (int i = 0; i < n; i++)
        h = (h ^ (unsigned)v[i]) * 16777619u;
    return h;
}

static int digit(int v)
{
    return v >> 3 & 15;
}

static void sort(int *v, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
            int t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

static void sums(const int *first, const int *v, unsigned *o)
{
    int w[SLICE], most = 0, sum = 0;
    unsigned product = 1, inner = 7;

    o[0] = 100;
    o[7] = 1;
    for (int i = 0; i < SLICE; i++) {
        o[0] += (unsigned)v[i];
        o[1] += v[i] == 3;
        most = v[i] > v[most] ? i : most;
        inner += (unsigned)v[i] * (unsigned)first[i];
        o[7] += i > 0 && v[i] != v[i - 1];
        sum += v[i];
        w[i] = sum;
    }
    o[2] = (unsigned)most;
    o[3] = inner;
    o[4] = (unsigned)v[most];
    o[5] = digest(w, SLICE);
    for (int i = 0; i < SLICE; i++) {
        w[i] = (int)product;
        product *= (unsigned)v[i];
    }
    o[6] = digest(w, SLICE);
}

static void selections(const int *first, const int *v, unsigned *o)
{
    int w[SLICE], kept = 0, best = -1, value = 0, places[SLICE], n = 0;

    for (int i = 0; i < SLICE; i++)
        w[i] = first[i] & INT32_MAX;
    sort(w, SLICE);
    o[8] = digest(w, SLICE);
    while (w[o[9]] < (first[5] & INT32_MAX))
        o[9]++;
    for (int key = 15; key >= 0; key--)
        for (int i = 0; i < SLICE; i++)
            if (v[i] == key)
                places[n++] = i;
    o[10] = digest(places, SLICE);
    for (int i = 0; i < SLICE; i++) {
        if (v[i] >= 4)
            w[kept++] = v[i];
        if ((unsigned)first[i] % 1000 > (unsigned)value % 1000) {
            value = first[i];
            best = i;
        }
    }
    o[11] = digest(w, kept);
    o[12] = (unsigned)best;
}

static void combinations(const int *first, const int *digits, unsigned *o)
{
    int v[SLICE], w[SLICE], u[2 * SLICE], n = 0;

    for (int i = 0; i < SLICE; i++) {
        v[i] = u[i] = digits[i];
        w[i] = u[SLICE + i] = first[i] & 31;
    }
    sort(v, SLICE);
    sort(w, SLICE);
    sort(u, 2 * SLICE);
    o[13] = digest(u, 2 * SLICE);
    for (int i = 0, j = 0; i < SLICE && j < SLICE;)
        if (v[i] < w[j])
            i++;
        else if (w[j] < v[i])
            j++;
        else {
            u[n++] = v[i++];
            j++;
        }
    o[14] = digest(u, n);
    n = 0;
    for (int odd = 1; odd >= 0; odd--)
        for (int i = SLICE - 1; i >= 0; i--)
            if ((first[i] & 1) == odd)
                w[n++] = first[i];
    o[15] = digest(w, SLICE);
}

static void algorithms(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        const int *first = (const int *)in + SLICE * t;
        unsigned *o = (unsigned *)out + 16 * t;
        int v[SLICE];
        for (int i = 0; i < SLICE; i++)
            v[i] = digit(first[i]);
        sums(first, v, o);
        selections(first, v, o);
        combinations(first, v, o);
    }
}

const struct cuda_case thrusts_cases[] = {
    { .kernel = "algorithms",
      .n = 100,
      .grid = 2,
      .block = 64,
      .in_bytes = 100 * SLICE * 4,
      .out_bytes = 100 * 64,
      .expect = algorithms },
};
CUDA_COUNT(thrusts);
