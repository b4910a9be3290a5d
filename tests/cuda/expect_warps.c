#include "cases.h"

static unsigned popc(unsigned v)
{
    return (unsigned)__builtin_popcount(v);
}

/* Returns a mask of lanes in the warp of thread g. A lane is set if it is in mask and its word has a bit of `bits`. */
static unsigned ballot(const unsigned *in, int g, unsigned mask, unsigned bits)
{
    const unsigned *w = in + (g & ~31);
    unsigned r = 0;

    for (int l = 0; l < 32; l++)
        if (mask >> l & 1 && w[l] & bits)
            r |= 1u << l;
    return r;
}

enum { BLOCK = 128, ALL = 384 };   /* three blocks by default */

static void barriers(const void *in, void *out, int n)
{
    for (int b = 0; b < ALL / BLOCK; b++) {
        const unsigned *v = (const unsigned *)in + BLOCK * b;
        unsigned odd = 0, all = 1, any = 0;
        for (int t = 0; t < BLOCK; t++) {
            odd += v[t] & 1;
            all &= v[t] % 100 != (unsigned)n;
            any |= v[t] % 300 == (unsigned)n;
        }
        for (int t = 0; t < BLOCK; t++)
            ((unsigned *)out)[BLOCK * b + t] = odd * 4 + all * 2 + any;
    }
}

static void votes(const void *in, void *out, int n)
{
    const unsigned *v = in;

    for (int g = 0; g < n; g++) {
        unsigned *r = (unsigned *)out + 6 * g, lane = g & 31, all = 1, any = 0;
        for (int l = g & ~31; l < (g | 31) + 1; l++) {
            all &= v[l] > 1000u;
            any |= v[l] < 0x04000000u;
        }
        r[0] = ballot(v, g, ~0u, 1);
        r[1] = all | any << 1;
        r[2] = v[g] & 2 ? ballot(v, g, ballot(v, g, ~0u, 2), 4) : 0;
        r[3] = lane < 20 ? ballot(v, g, 0xfffff, 8) : 0;
        r[4] = lane < 20 ? 3 : 0;
        r[5] = popc(r[0] & ((1u << lane) - 1));
    }
}

static void shuffles(const void *in, void *out, int n)
{
    for (int g = 0; g < n; g++) {
        const unsigned *w = (const unsigned *)in + (g & ~31);
        int l = g & 31;
        unsigned v = w[l], *o = (unsigned *)out + 12 * g;
        o[0] = w[v & 31];
        o[1] = w[(l & 24) | (v >> 5 & 7)];
        o[2] = w[l >= 3 ? l - 3 : l];
        o[3] = w[(l & 15) >= 5 ? l - 5 : l];
        o[4] = w[l + 7 < 32 ? l + 7 : l];
        o[5] = w[(l & 3) + 2 < 4 ? l + 2 : l];
        o[6] = w[l ^ 21];
        o[7] = w[((l ^ 9) & 24) <= (l & 24) ? l ^ 9 : l];    /* only lanes above the segment are out of range */
        o[8] = w[l ^ 1];
        o[9] = ~w[l ^ 1];
        o[10] = w[l + 16 < 32 ? l + 16 : l];
        o[11] = l & 1 ? w[(31 - l) | 1] : w[l >= 2 ? l - 2 : l];
    }
}

static void matches(const void *in, void *out, int n)
{
    for (int g = 0; g < n; g++) {
        const unsigned *w = (const unsigned *)in + (g & ~31);
        unsigned v = w[g & 31], bit = (unsigned)g / 32 & 1, three = 0, two = 0, mixed = 0, all = 1;
        for (int l = 0; l < 32; l++) {
            three |= (unsigned)((w[l] & 7) == (v & 7)) << l;
            two |= (unsigned)((w[l] & 3) == (v & 3)) << l;
            mixed |= (unsigned)((w[l] & 0x10000 ? w[l] & 3 : ~0u) == (v & 0x10000 ? v & 3 : ~0u)) << l;
            all &= (w[l] & bit) == (v & bit);
        }
        unsigned *o = (unsigned *)out + 4 * g;
        o[0] = three;
        o[1] = two;
        o[2] = (all ? ~0u : 0) ^ all << 1;
        o[3] = popc(mixed);
    }
}

static void named(const void *in, void *out, int n)
{
    for (int b = 0; b < 4; b++)
        for (int me = 0; me < 64; me++) {
            unsigned sum = 0;
            for (int round = 0; round < n; round++) {
                const unsigned *v = (const unsigned *)in + (b * n + round) * 64;
                sum = sum * 3 + v[63 - me] + v[me & 31];
            }
            ((unsigned *)out)[b * 64 + me] = sum;
        }
}

static void locks(const void *in, void *out, int n)
{
    unsigned *o = out;

    o[0] = o[2] = (unsigned)n;
    for (int g = 0; g < n; g++)
        o[1] += ((const unsigned *)in)[g] % 1000;
    o[3] = o[1] + (unsigned)n;
}

static void handshakes(const void *in, void *out, int n)
{
    for (int t = 0; t < BLOCK; t++)
        ((unsigned *)out)[t] = 2 * (unsigned)n + ((const unsigned *)in)[t];
}

static void exits(const void *in, void *out, int n)
{
    for (int b = 0; b < ALL / BLOCK; b++) {
        const unsigned *v = (const unsigned *)in + BLOCK * b;
        unsigned sum = 0;
        for (int t = 0; t < BLOCK; t++)
            sum += v[t] % 5 ? v[t] & 15 : 0;
        for (int t = 0; t < BLOCK; t++) {
            unsigned r = sum + (v[t] & 1 ? (unsigned)n : 0);
            for (unsigned i = 0; i < (v[t] & 31); i++)
                if ((v[t] >> i & 7) == 6) {
                    r = i + 1000;
                    break;
                }
            ((unsigned *)out)[BLOCK * b + t] = v[t] % 5 ? r : 0;
        }
    }
}

static unsigned wander(unsigned v)
{
    unsigned r = 0;

    for (unsigned i = 0; i < (v & 63); i++) {
        if (v >> (i & 31) & 1) {
            unsigned j = i;
            do
                r += j * j;
            while ((j = j / 2) > (v >> 28));
            if (r & 0x400)
                break;
        } else if (i % 3 == 0) {
            continue;
        } else {
            switch (r & 3) {
            case 0: r ^= v; break;
            case 1: return r + 17;
            case 2: r = r << 1 | r >> 31;
            }
        }
        r ^= r >> 9;
    }
    return r;
}

static void divergence(const void *in, void *out, int n)
{
    for (int g = 0; g < ALL; g++) {
        unsigned odd = 0;
        for (int l = 0; l < 32; l++)
            odd += wander(((const unsigned *)in)[(g & ~31) + l]) & 1;
        ((unsigned *)out)[2 * g] = wander(((const unsigned *)in)[g]);
        ((unsigned *)out)[2 * g + 1] = odd + (unsigned)n;
    }
}

static void groups(const void *in, void *out, int n)
{
    for (int g = 0; g < ALL; g++) {
        const int *w = (const int *)in + (g & ~31);
        int l = g & 31, *o = (int *)out + 8 * g, first = -1, size = 0, rank = 0, v[32];
        for (int i = 0; i < 32; i++) {
            v[i] = w[i] & 0xffff;
            o[1] = v[i] > o[1] ? v[i] : o[1];
            if (i / 8 == l / 8) {
                o[0] += v[i];
                o[2] += i <= l ? v[i] : 0;
                o[5] += (v[i] & 1) << (i & 7);
            }
            o[3] += i < l ? v[i] : 0;
            if (v[i] & 2) {
                first = first < 0 ? v[i] : first;
                rank += i < l;
                size++;
            }
        }
        o[4] = v[(l & 24) + 3] - (g % BLOCK) / 8;
        o[5] += (l & 7) * 256;
        o[6] = v[l] & 2 ? size * 100 + rank + first : -1;
        o[7] = g % BLOCK + BLOCK + n;
    }
}

static void last_block(const void *in, void *out, int n)
{
    for (int i = 0; i < n; i++)
        *(unsigned *)out += ((const unsigned *)in)[i];
}

static void grid_sync(const void *in, void *out, int n)
{
    unsigned v[512], next[512];

    memcpy(v, in, sizeof v);
    for (int round = 0; round < 4; round++) {
        for (int g = 0; g < n; g++)
            next[g] = v[g] * 3 + v[(g + 97) % n];
        memcpy(v, next, sizeof v);
    }
    memcpy(out, v, sizeof v);
}

#define CASE(name, N, words)                                                                                   \
    {                                                                                                          \
        .kernel = #name, .n = N, .grid = 3, .block = BLOCK, .in_bytes = ALL * 4, .out_bytes = ALL * 4 * words, \
        .expect = name                                                                                         \
    }
const struct cuda_case warps_cases[] = {
    CASE(barriers, 42, 1),
    CASE(votes, ALL, 6),
    CASE(shuffles, ALL, 12),
    CASE(matches, ALL, 4),
    { .kernel = "named",
      .n = 9,
      .grid = 4,
      .block = 128,
      .in_bytes = 4 * 9 * 64 * 4,
      .out_bytes = 4 * 64 * 4,
      .expect = named },
    { .kernel = "locks", .n = 300, .grid = 3, .block = 128, .in_bytes = 1200, .out_bytes = 16, .expect = locks },
    { .kernel = "handshakes",
      .n = 20,
      .grid = 1,
      .block = 128,
      .in_bytes = 512,
      .out_bytes = 512,
      .expect = handshakes },
    CASE(exits, 5000, 1),
    CASE(divergence, 100, 2),
    CASE(groups, 7, 8),
    { .kernel = "last_block",
      .n = 20000,
      .grid = 30,
      .block = 96,
      .in_bytes = 80000,
      .out_bytes = 4,
      .expect = last_block },
    { .kernel = "grid_sync",
      .n = 512,
      .grid = 4,
      .block = 128,
      .in_bytes = 2048,
      .out_bytes = 2048,
      .expect = grid_sync,
      .cooperative = true },
};
CUDA_COUNT(warps);
