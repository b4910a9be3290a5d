/* printf with all kinds of conversions, assert, trap, invalid addresses. */
#include <cassert>
#include <cstdio>

struct Pair {
    int a;
    float b;
};

extern "C" __global__ void formats(const char *text, int *out, int n)
{
    signed char c = -5;
    short h = -300;
    unsigned char uc = 250;
    long long l = -1234567890123456789ll;
    unsigned long long u = 0xfedcba9876543210ull;
    Pair p = { 7, 2.5f };

    printf("plain\n");
    printf("%d %i %u %x %X %o %c\n", n, -n, 3000000000u, 0xbeef, 0xbeef, 8, 'z');
    printf("%hhd %hd %hhu %ld %lld %llu %llx %zu\n", c, h, uc, (long)l, l, u, u, (size_t)12);
    printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%#o] [%.5d] [%8.3d]\n", n, n, n, n, n, n, n, n, n);
    printf("%f %e %E %g %G %a\n", 1.5, 12345.678, 12345.678, 1e-7, 1e20, 0.1);
    printf("[%10.2f] [%-10.2f] [%010.2f] [%+.0f] [%#.0f] [%.10g]\n", 3.14159, 3.14159, -3.14159, 2.5, 3.0, 1.0 / 3.0);
    printf("%f %f %f %d\n", 1.0 / 0.0, -1.0 / 0.0, 0.25, p.a);
    printf("%s|%10s|%-10s|%.3s|%s\n", text, text, text, text, "");
    printf("%*d|%-*d|%.*f\n", 6, n, 6, n, 2, (double)p.b);
    printf("100%% %c%c%c\n", 'a', 'b', 'c');
    out[0] = printf("%d and %d\n", 1, 2);      /* the result is the number of arguments */
    out[1] = printf("none\n");
}

/* Each third thread prints a line. */
extern "C" __global__ void threads(const char *text, int *out, int n)
{
    if (threadIdx.x % 3 == 0)
        printf("thread %u of %d: %s\n", threadIdx.x, n, text + threadIdx.x);
    else
        out[threadIdx.x] = n;
}

extern "C" __global__ void asserts(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    assert(t != n && "the chosen thread");
    out[t] = in[t];
}

extern "C" __global__ void traps(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t == n)
        __trap();
    out[t] = in[t];
}

extern "C" __global__ void wild(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    out[t == n ? -1000000000000ll : t] = in[t];
}

extern "C" __global__ void crooked(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    *(int *)((char *)(out + t) + (t == n)) = in[t];
}
