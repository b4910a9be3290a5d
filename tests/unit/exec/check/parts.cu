// Accesses that leave a local array for another one, as in variables.cu. parts.ptx was made from this file:
//     nvcc -G -ptx -arch=compute_80 parts.cu
// nvcc puts all variables of a function that are in memory into one .local variable. Debug data tells them apart.
typedef unsigned u32;

#define KERNEL(name) extern "C" __global__ void name(u32 *p)
#define TID threadIdx.x
#define ZERO ((int)p[2048])

struct record {
    int head;
    u32 words[4];
    u32 tail[4];
};

__device__ static u32 sum(const u32 *words, int count)
{
    u32 s = 0;
    for (int i = 0; i < count; i++)
        s += words[i];
    return s;
}
__device__ static u32 use(u32 *words) { return words[0]; }

// --- two arrays ---
#define ARRAYS()                                        \
    u32 first[8], second[8];                            \
    int n = ZERO;                                \
    for (int i = 0; i < 8; i++)                         \
        first[i] = second[i] = i

KERNEL(e_first) { ARRAYS(); p[TID] = first[n + 8]; }
KERNEL(e_second) { ARRAYS(); p[TID] = second[n - 1]; }
KERNEL(e_store) { ARRAYS(); first[n + 9] = 1; p[TID] = use(first) + use(second); }
KERNEL(c_arrays) { ARRAYS(); p[TID] = first[n + 7] + second[n]; }
KERNEL(c_end) { ARRAYS(); u32 *end = first + 8 + n; p[TID] = end[-1]; }
KERNEL(c_choice) { ARRAYS(); u32 *q = n ? first : second; p[TID] = q[n + 7]; }
KERNEL(c_loop) { ARRAYS(); u32 s = 0; for (u32 *q = second; q < second + 8; q++) s += *q; p[TID] = s; }
KERNEL(c_passed) { ARRAYS(); p[TID] = sum(first, 8) + sum(second + n, 8); }
KERNEL(c_swapped)
{
    ARRAYS();
    u32 *a = first, *b = second;
    for (int i = 0; i < 3; i++) {
        u32 *c = a;
        a = b, b = c;
        a[n + 7]++;
    }
    p[TID] = first[n] + second[n];
}
// --- members, several dimensions, blocks, functions ---
KERNEL(c_member) { record r; int n = ZERO; r.head = 1; r.words[n + 4] = 2; p[TID] = r.tail[n]; }
KERNEL(e_member)
{
    record r, s;
    int n = ZERO;
    r.head = s.head = 1;
    r.tail[n + 4] = 2;
    s.words[n] = 3;
    p[TID] = s.words[n];
}
KERNEL(c_rows)
{
    u32 rows[4][4], other[4]; int n = ZERO; rows[n][n + 15] = 1; other[n] = 2;
    p[TID] = rows[n + 3][3] + other[n];
}
KERNEL(e_rows)
{
    u32 rows[4][4], other[4]; int n = ZERO; rows[n + 3][n + 4] = 1; other[n] = 2;
    p[TID] = rows[n][n] + other[n];
}
KERNEL(e_block)
{
    u32 outer[4];
    int n = ZERO;
    outer[n] = 1;
    {
        u32 inner[4];
        inner[n] = 2;
        p[TID] = inner[n - 1] + outer[n];
    }
}
KERNEL(c_block)
{
    u32 outer[4];
    int n = ZERO;
    outer[n] = 1;
    {
        u32 inner[4];
        inner[n] = 2;
        p[TID] = inner[n] + outer[n];
    }
}
__device__ __noinline__ static u32 faulty(int n) { u32 x[4], y[4]; x[n] = 1; y[n] = 2; return x[n + 4] + y[n]; }
__device__ __noinline__ static u32 correct(int n) { u32 x[4], y[4]; x[n] = 1; y[n] = 2; return x[n] + y[n]; }
KERNEL(e_function) { u32 z[4]; z[TID & 3] = 1; p[TID] = faulty(ZERO) + z[TID & 3]; }
KERNEL(c_function) { u32 z[4]; z[TID & 3] = 1; p[TID] = correct(ZERO) + z[TID & 3]; }
// --- copies of a structure, and parameters by value ---
KERNEL(c_copied)
{
    record r, s; int n = ZERO; r.head = 1; r.tail[n + 3] = 2; s = r;
    p[TID] = s.tail[n + 3] + s.head;
}
__device__ __noinline__ static u32 take(record r, int n) { return r.words[n] + r.head; }
KERNEL(c_by_value) { record r; int n = ZERO; r.head = 1; r.words[n] = 2; p[TID] = take(r, n); }
KERNEL(c_bytes)
{
    record r;
    int n = ZERO;
    for (u32 i = 0; i < sizeof r; i++)
        ((char *)&r)[i + n] = 1;
    p[TID] = r.head;
}
KERNEL(e_bytes)
{
    u32 words[2], other[2];
    int n = ZERO;
    other[n] = 1;
    for (u32 i = 0; i < 2 * sizeof words; i++)
        ((char *)words)[i + n] = 1;
    p[TID] = words[n] + other[n];
}
