#include "cases.h"

static void virtuals(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        int v = ((const int *)in)[t], a = v & 255, kind = v >> 8 & 3;
        int area = kind == 0 ? a * a : kind == 1 ? a * a + 1000 : 3 * a * a + t;
        ((int *)out)[t] = area * 10 + (kind < 2 ? 4 : 0) + t;
    }
}

static void inheritance(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        int v = ((const int *)in)[t] & 1023, data[8], written = 5, reads = 0, sum = 0;
        for (int i = 0; i < 8; i++)
            data[i] = i;
        for (int i = 0; i < 6; i++)
            data[written++ & 7] = v + i * i;
        for (int i = 0; i < 8; i += 1 + (sum & 1), reads++)
            sum = sum * 3 + data[i];
        ((int *)out)[2 * t] = sum;
        ((int *)out)[2 * t + 1] = reads * 100 + written;
    }
}

static void templates(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        int k = ((const int *)in)[t] & 7;
        long long a[5] = { 1, 2, 3, 4, t }, c[5];
        for (int i = 0; i < 5; i++)
            c[i] = (a[i] + k) * (a[i] + k) + k;
        ((long long *)out)[t] = c[k % 5] + c[0] + c[1] + c[2] + (k & 1 ? 1307674368000 : 362880);
    }
}

static void lifetimes(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        int v = ((const int *)in)[t], total = 3, seen = 0, leave = 0;
        for (int i = 0; i < (v & 3) && !leave; i++) {
            total += i;
            leave = v & 4;
            if (!leave) {
                total += (i + 1) * 10;              /* the argument copied for by_copy */
                seen += total;
                total = total * 2 - (i + 1);
            }
            total = total * 2 - i;
        }
        seen += v & 8 ? total : 2 * total;
        ((int *)out)[2 * t] = total * 2 - 3;
        ((int *)out)[2 * t + 1] = seen;
    }
}

static void heap(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        int v = ((const int *)in)[t], sum = 0, k = 1;
        for (int i = (v & 7) - 1; i >= 0; i--)
            sum = sum * 3 + (v >> i & 255) * k++;
        ((int *)out)[t] = sum;
    }
}

#define CASE(name, size)                                                                                  \
    {                                                                                                     \
        .kernel = #name, .n = 500, .grid = 4, .block = 128, .in_bytes = 500 * 4, .out_bytes = 500 * size, \
        .expect = name                                                                                    \
    }
const struct cuda_case classes_cases[] = { CASE(virtuals, 4), CASE(inheritance, 8), CASE(templates, 8),
                                           CASE(lifetimes, 8), CASE(heap, 4) };
CUDA_COUNT(classes);
