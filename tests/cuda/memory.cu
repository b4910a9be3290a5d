/* State spaces: constant tables, initialised variables with pointers to each other, static and dynamic shared memory,
 * local arrays, generic pointers to all of them, vector accesses, parameters by value. */
#include <cstdint>

__constant__ int squares[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };
__constant__ struct Setting {
    char name[8];
    double scale;
    short shift[3];
} settings[3] = { { "one", 1.5, { 1, 2, 3 } }, { "two", -2.25, { 4 } }, { "three", 1e10, { -7, 0, 9 } } };

/* sizes and alignments that need padding; a list and a table of pointers */
__device__ unsigned char bytes[11] = { 1, 2, 3, 0, 5, 255, 0, 8 };
__device__ short halves[5] = { -1, 2, -32768, 32767 };
__device__ long long longs[3] = { -1, 0x123456789abcdefll };
__device__ float reals[4] = { 1.5f, -0.0f, 3e38f };
__device__ double doubles[2] = { 0.1, -1e300 };

struct Link {
    int value;
    Link *next;
    const int *table;
};
extern __device__ Link last;
__device__ Link first = { 10, &last, nullptr };
__device__ int counts[4] = { 7, 8, 9, 10 };
__device__ Link last = { 20, nullptr, counts + 2 };
__device__ const char *const names[4] = { "alpha", "beta", "gamma", nullptr };
__device__ unsigned char *inner = &bytes[5];
__device__ unsigned long long address_bits = 3;

extern "C" __global__ void constants(const unsigned *in, double *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    const Setting &s = settings[in[t] % 3];
    out[t] = squares[in[t] >> 8 & 15] + s.scale * s.shift[in[t] >> 12 & 1] + s.name[in[t] >> 16 & 7] +
             squares[threadIdx.x & 15];
}

extern "C" __global__ void globals(const unsigned *in, long long *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    const Link *l = &first;
    long long sum = 0;
    for (unsigned i = 0; i < (in[t] & 7); i++) {
        sum = sum * 3 + l->value + (l->table ? l->table[i & 1] : 0);
        l = l->next ? l->next : &first;
    }
    const char *s = names[in[t] >> 3 & 3];
    while (s && *s)
        sum = sum * 31 + *s++;
    sum += bytes[in[t] % 11] * 1000 + halves[in[t] % 5] + longs[in[t] % 3] / 1000;
    sum += __float_as_int(reals[in[t] & 3]) + __double_as_longlong(doubles[in[t] & 1]) / 7;
    sum += *inner + inner[2] + (long long)address_bits;
    out[t] = sum;
}

__device__ int written[128];
__device__ int *where = written;

/* Writes through a pointer in memory, and reads the same words through their variable. */
extern "C" __global__ void indirect(const int *in, int *out, int n)
{
    int t = threadIdx.x;

    if (t < n)
        where[t] = in[t];
    __threadfence();
    __syncthreads();
    if (t < n)
        out[t] = written[n - 1 - t] - counts[t & 3];
}

extern __shared__ unsigned char dynamic[];

/* A dynamic buffer that is used as three arrays, and two static variables. */
extern "C" __global__ void shared(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned fixed[128];
    __shared__ struct {
        unsigned char c;
        unsigned long long l;
    } one;
    unsigned *words = (unsigned *)dynamic;
    unsigned short *halves = (unsigned short *)(words + 128);
    unsigned char *chars = (unsigned char *)(halves + 128);
    int t = threadIdx.x;

    words[t] = in[blockIdx.x * 128 + t];
    halves[127 - t] = (unsigned short)words[t];
    chars[t ^ 5] = (unsigned char)(words[t] >> 24);
    fixed[t] = words[t] * 3;
    if (t == 77) {
        one.c = (unsigned char)words[t];
        one.l = 0x100000000ull + words[t];
    }
    __syncthreads();
    unsigned r = fixed[(t + 64) & 127] + halves[t] * 5 + chars[t] * 7 + one.c + (unsigned)(one.l >> 31);
    out[blockIdx.x * 128 + t] = t < n ? r : 0;
}

__device__ __noinline__ unsigned pick(const unsigned *p, int k)
{
    return p[k] * 2 + 1;
}

/* One function receives pointers to global, shared, local and constant memory. */
extern "C" __global__ void generic(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned s[64];
    unsigned local[8];
    int t = threadIdx.x, g = blockIdx.x * 64 + t;

    for (int i = 0; i < 8; i++)
        local[(i + t) & 7] = in[g] + i;
    s[t] = in[g] ^ 0xffff;
    __syncthreads();
    const unsigned *p;
    switch (in[g] >> 5 & 3) {
    case 0: p = local; break;
    case 1: p = s; break;
    case 2: p = in + (g & ~7); break;
    default: p = (const unsigned *)squares; break;
    }
    out[g] = g < n ? pick(p, in[g] & 7) : 0;
}

/* Loads and stores of all vector types. The compiler may not split them. */
extern "C" __global__ void vectors(const uint4 *in, uint4 *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    uint4 a = in[t];
    uint2 b = ((const uint2 *)in)[2 * t + 1];
    ushort4 c = ((const ushort4 *)in)[2 * t];
    uchar4 d = ((const uchar4 *)in)[4 * t + 3];
    char2 e = ((const char2 *)in)[8 * t + 1];
    longlong2 f = ((const longlong2 *)in)[t];
    short2 g = ((const short2 *)in)[4 * t];
    uint3 h = ((const uint3 *)in)[t];
    a.x += b.y ^ c.z;
    a.y -= d.w * 3u + (unsigned)e.x;
    a.z ^= (unsigned)(f.y >> 32) + (unsigned)g.y;
    a.w += h.z + c.x * d.y + (unsigned)e.y;
    out[2 * t] = a;
    ((uint2 *)out)[4 * t + 2] = make_uint2(b.y, b.x);
    ((uchar4 *)out)[8 * t + 6] = make_uchar4(d.w, d.z, d.y, d.x);
    ((ushort2 *)out)[8 * t + 7] = make_ushort2(c.y, c.w);
}

/* Arrays in local memory with indices from the input: one has two dimensions, one has small elements. */
extern "C" __global__ void locals(const unsigned *in, unsigned long long *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char small[37];
    short grid[7][9];
    double d[5] = { 1, 2, 3, 4, 5 };
    unsigned long long r = 0;

    if (t >= n)
        return;
    for (int i = 0; i < 37; i++)
        small[i] = (unsigned char)(in[t] >> (i & 15));
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 9; x++)
            grid[y][x] = (short)(small[(x * y) % 37] * x - y * 100);
    for (int i = 0; i < 20; i++) {
        unsigned k = (in[t] >> i) + i;
        small[k % 37] += (unsigned char)grid[k % 7][k % 9];
        d[k % 5] += small[(k * 7) % 37];
        r = r * 5 + grid[small[i] % 7][i % 9] + small[k % 37];
    }
    for (int i = 0; i < 5; i++)
        r = r * 3 + (unsigned long long)d[i];
    out[t] = r;
}

/* memcpy, memset and assignment of structures with odd sizes and unaligned addresses. */
struct Odd {
    unsigned char c[13];
};

extern "C" __global__ void copies(const unsigned char *in, unsigned char *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char room[64];
    Odd odd[3];

    if (t >= n)
        return;
    memset(room, 0xa5, sizeof room);
    memcpy(room + 3, in + 40 * t, 37);
    memcpy(odd, room, sizeof odd);
    Odd swap = odd[0];
    odd[0] = odd[2];
    odd[2] = swap;
    memset(&odd[1], t, 5);
    memcpy(out + 40 * t, odd, sizeof odd);
    out[40 * t + 39] = room[in[40 * t] & 63];
}

/* Parameters of many sizes and alignments, with structures by value and indices from the input. */
struct Big {
    char tag;
    double d[3];
    short s[5];
    long long *out;
    unsigned char blob[1001];
};

extern "C" __global__ void parameters(signed char c, Big big, short s, float4 f, unsigned long long u, bool b, Odd odd)
{
    int t = threadIdx.x;
    long long r = c + big.tag + (long long)big.d[t % 3] + big.s[t % 5] + big.blob[t * 7] + s +
                  (long long)(f.x + f.y * f.z - f.w) + (long long)u;

    big.blob[t] = (unsigned char)(t + odd.c[t % 13]);      /* each thread has its own copy */
    big.out[t] = r * 2 + b + big.blob[(t * 3) % 1001];
}

__device__ int counter = 5;
__device__ unsigned short series[6] = { 3, 1, 4, 1, 5, 9 };

/* The host changes these between launches. */
extern "C" __global__ void host_visible(int *out)
{
    if (threadIdx.x < 6)
        series[threadIdx.x] *= 2;
    if (threadIdx.x == 0)
        *out = counter++ * 10 + squares[3];
}
