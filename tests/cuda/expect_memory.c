#include "cases.h"

static const int squares[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };
static const int counts[4] = { 7, 8, 9, 10 };

static void constants(const void *in, void *out, int n)
{
    static const char name[3][8] = { "one", "two", "three" };
    static const double scale[3] = { 1.5, -2.25, 1e10 };
    static const short shift[3][3] = { { 1, 2, 3 }, { 4 }, { -7, 0, 9 } };

    for (int t = 0; t < n; t++) {
        unsigned v = ((const unsigned *)in)[t], k = v % 3;
        double d =
            squares[v >> 8 & 15] + scale[k] * shift[k][v >> 12 & 1] + name[k][v >> 16 & 7] + squares[t % 128 & 15];
        ((double *)out)[t] = d;      /* the result is exact with and without fused operations */
    }
}

static void globals(const void *in, void *out, int n)
{
    static const unsigned char bytes[11] = { 1, 2, 3, 0, 5, 255, 0, 8 };
    static const short halves[5] = { -1, 2, -32768, 32767 };
    static const long long longs[3] = { -1, 0x123456789abcdefll };
    static const float reals[4] = { 1.5f, -0.0f, 3e38f };
    static const double doubles[2] = { 0.1, -1e300 };
    static const char *const names[4] = { "alpha", "beta", "gamma", "" };

    for (int t = 0; t < n; t++) {
        unsigned v = ((const unsigned *)in)[t];
        long long sum = 0, d;
        int f;
        for (unsigned i = 0; i < (v & 7); i++)
            sum = sum * 3 + (i & 1 ? 20 + counts[2 + 1] : 10);
        for (const char *s = names[v >> 3 & 3]; *s; s++)
            sum = sum * 31 + *s;
        memcpy(&f, &reals[v & 3], 4);
        memcpy(&d, &doubles[v & 1], 8);
        sum += bytes[v % 11] * 1000 + halves[v % 5] + longs[v % 3] / 1000 + f + d / 7;
        ((long long *)out)[t] = sum + bytes[5] + bytes[7] + 3;
    }
}

static void indirect(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++)
        ((int *)out)[t] = (int)((unsigned)((const int *)in)[n - 1 - t] - (unsigned)counts[t & 3]);
}

static void shared(const void *in, void *out, int n)
{
    for (int b = 0; b < 3; b++) {
        const unsigned *w = (const unsigned *)in + 128 * b;
        for (int t = 0; t < 128; t++) {
            unsigned one_l = 2 + (w[77] >> 31);     /* (2^32 + w) >> 31 */
            unsigned r =
                w[(t + 64) & 127] * 3 + (w[127 - t] & 0xffff) * 5 + (w[t ^ 5] >> 24) * 7 + (w[77] & 255) + one_l;
            ((unsigned *)out)[128 * b + t] = t < n ? r : 0;
        }
    }
}

static void generic(const void *in, void *out, int n)
{
    const unsigned *w = in;

    for (int g = 0; g < n; g++) {
        int t = g % 64, k = w[g] & 7;
        unsigned v;
        switch (w[g] >> 5 & 3) {
        case 0: v = w[g] + (unsigned)((k - t) & 7); break;
        case 1: v = w[g - t + k] ^ 0xffff; break;
        case 2: v = w[(g & ~7) + k]; break;
        default: v = (unsigned)squares[k]; break;
        }
        ((unsigned *)out)[g] = v * 2 + 1;
    }
}

static unsigned piece(const void *base, size_t offset, unsigned bytes)
{
    unsigned v = 0;

    memcpy(&v, (const char *)base + offset, bytes);
    return v;
}

static void vectors(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        const char *p = (const char *)in + 16 * t;
        unsigned *a = (unsigned *)out + 8 * t;
        memcpy(a, p, 16);
        a[0] += piece(p, 12, 4) ^ piece(p, 4, 2);
        a[1] -= piece(p, 15, 1) * 3 + (unsigned)(signed char)piece(p, 2, 1);
        a[2] ^= piece(p, 12, 4) + (unsigned)(short)piece(p, 2, 2);
        a[3] +=
            piece(in, 12 * (size_t)t + 8, 4) + piece(p, 0, 2) * piece(p, 13, 1) + (unsigned)(signed char)piece(p, 3, 1);
        a[4] = piece(p, 12, 4);
        a[5] = piece(p, 8, 4);
        a[6] = __builtin_bswap32(piece(p, 12, 4));
        a[7] = piece(p, 2, 2) | piece(p, 6, 2) << 16;
    }
}

static void locals(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        unsigned v = ((const unsigned *)in)[t], small[37], d[5] = { 1, 2, 3, 4, 5 };
        int grid[7][9];
        unsigned long long r = 0;
        for (int i = 0; i < 37; i++)
            small[i] = v >> (i & 15) & 255;
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 9; x++)
                grid[y][x] = (short)((int)small[x * y % 37] * x - y * 100);
        for (int i = 0; i < 20; i++) {
            unsigned k = (v >> i) + (unsigned)i;
            small[k % 37] = (small[k % 37] + (unsigned)grid[k % 7][k % 9]) & 255;
            d[k % 5] += small[k * 7 % 37];
            r = r * 5 + (unsigned long long)(long long)grid[small[i] % 7][i % 9] + small[k % 37];
        }
        for (int i = 0; i < 5; i++)
            r = r * 3 + d[i];
        ((unsigned long long *)out)[t] = r;
    }
}

static void copies(const void *in, void *out, int n)
{
    for (int t = 0; t < n; t++) {
        const unsigned char *from = (const unsigned char *)in + 40 * t;
        unsigned char *to = (unsigned char *)out + 40 * t, room[64];
        memset(room, 0xa5, sizeof room);
        memcpy(room + 3, from, 37);
        memcpy(to, room + 26, 13);
        memcpy(to + 13, room + 13, 13);
        memcpy(to + 26, room, 13);
        memset(to + 13, t, 5);
        to[39] = room[from[0] & 63];
    }
}

struct odd {
    unsigned char c[13];
};

struct big {
    char tag;
    double d[3];
    short s[5];
    ptxiDevicePtr out;
    unsigned char blob[1001];
};

static long long parameters_expected(int t, signed char c, const struct big *big, short s, const float *f,
                                     unsigned long long u, bool b, const struct odd *odd)
{
    int k = t * 3 % 1001;
    long long r = c + big->tag + (long long)big->d[t % 3] + big->s[t % 5] + big->blob[t * 7] + s +
                  (long long)(f[0] + f[1] * f[2] - f[3]) + (long long)u;

    return r * 2 + b + (k == t ? (unsigned char)(t + odd->c[t % 13]) : big->blob[k]);
}

/* Passes parameters as an array of pointers, then the same values in one buffer with the layout of a C struct. */
static bool parameters(ptxiModule m)
{
    struct all {
        signed char c;
        struct big big;
        short s;
        _Alignas(16) float f[4];
        unsigned long long u;
        bool b;
        struct odd odd;
    } p = { -3,         { 'k', { 1e6, -5, 77.5 }, { 1, -2, 3, -4, 5 }, 0, { 0 } },
            -30000,     { 1.5f, 2, 3, 0.25f },
            1ull << 40, true,
            { { 9 } } };
    size_t size = offsetof(struct all, odd) + sizeof p.odd;
    void *pointers[] = { &p.c, &p.big, &p.s, p.f, &p.u, &p.b, &p.odd };
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, &p, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      PTXI_LAUNCH_PARAM_END };
    long long got[128];
    bool right = true;
    ptxiFunction f;

    for (int i = 0; i < 1001; i++)
        p.big.blob[i] = (unsigned char)(i * 13);
    right = ptxiModuleGetFunction(&f, m, "parameters") == PTXI_SUCCESS &&
            ptxiMemAlloc(&p.big.out, sizeof got) == PTXI_SUCCESS;
    for (int way = 0; way < 2 && right; way++) {
        right = ptxiLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, NULL, way ? NULL : pointers, way ? extra : NULL) ==
                    PTXI_SUCCESS &&
                ptxiMemcpyDtoH(got, p.big.out, sizeof got) == PTXI_SUCCESS;
        for (int t = 0; t < 128 && right; t++)
            right = got[t] == parameters_expected(t, p.c, &p.big, p.s, p.f, p.u, p.b, &p.odd);
        p.c = 100;
        p.big.blob[77] ^= 1;
    }
    ptxiMemFree(p.big.out);
    return right;
}

/* The host reads and writes module variables between launches. */
static bool host_visible(ptxiModule m)
{
    ptxiDevicePtr counter, series, squares_at, out;
    size_t bytes[3];
    int nine = 900, first, second, forty = 40;
    unsigned short now[6];
    void *params[] = { &out };
    ptxiFunction f;

    return ptxiModuleGetGlobal(&counter, &bytes[0], m, "counter") == PTXI_SUCCESS && bytes[0] == 4 &&
           ptxiModuleGetGlobal(&series, &bytes[1], m, "series") == PTXI_SUCCESS && bytes[1] == 12 &&
           ptxiModuleGetGlobal(&squares_at, &bytes[2], m, "squares") == PTXI_SUCCESS && bytes[2] == 64 &&
           ptxiModuleGetFunction(&f, m, "host_visible") == PTXI_SUCCESS && ptxiMemAlloc(&out, 4) == PTXI_SUCCESS &&
           ptxiLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) == PTXI_SUCCESS &&
           ptxiMemcpyDtoH(&first, out, 4) == PTXI_SUCCESS && ptxiMemcpyHtoD(counter, &forty, 4) == PTXI_SUCCESS &&
           ptxiMemcpyHtoD(squares_at + 12, &nine, 4) == PTXI_SUCCESS &&
           ptxiLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) == PTXI_SUCCESS &&
           ptxiMemcpyDtoH(&second, out, 4) == PTXI_SUCCESS && ptxiMemcpyDtoH(now, series, 12) == PTXI_SUCCESS &&
           ptxiMemFree(out) == PTXI_SUCCESS && first == 59 && second == 1300 && now[0] == 12 && now[5] == 36;
}

const struct cuda_case memory_cases[] = {
    { .kernel = "constants",
      .n = 500,
      .grid = 4,
      .block = 128,
      .in_bytes = 2000,
      .out_bytes = 4000,
      .expect = constants },
    { .kernel = "globals", .n = 500, .grid = 4, .block = 128, .in_bytes = 2000, .out_bytes = 4000, .expect = globals },
    { .kernel = "indirect", .n = 100, .grid = 1, .block = 128, .in_bytes = 400, .out_bytes = 400, .expect = indirect },
    { .kernel = "shared",
      .n = 100,
      .grid = 3,
      .block = 128,
      .shared = 128 * 7,
      .in_bytes = 1536,
      .out_bytes = 1536,
      .expect = shared },
    { .kernel = "generic", .n = 256, .grid = 4, .block = 64, .in_bytes = 1024, .out_bytes = 1024, .expect = generic },
    { .kernel = "vectors", .n = 300, .grid = 3, .block = 128, .in_bytes = 4800, .out_bytes = 9600, .expect = vectors },
    { .kernel = "locals", .n = 300, .grid = 3, .block = 128, .in_bytes = 1200, .out_bytes = 2400, .expect = locals },
    { .kernel = "copies", .n = 300, .grid = 3, .block = 128, .in_bytes = 12000, .out_bytes = 12000, .expect = copies },
    { .kernel = "parameters", .custom = parameters },
    { .kernel = "host_visible", .custom = host_visible }, /* must be last: it changes the table of squares */
};
CUDA_COUNT(memory);
