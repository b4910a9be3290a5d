// Pairs of a faulty and a correct kernel for pointers that leave their object and hit another one. pointers.ptx was
// made from this file:
//     nvcc -ptx -arch=compute_90 pointers.cu
// The first letter of a name says what is found: e an error, c nothing. There are 64 threads in one block. `a` and `b`
// are allocations of 64 words, `distance` words apart. `loaded` has two words: the address of `b`, and the distance.

struct Range { int *first; long distance; };

#define KERNEL(name) \
    extern "C" __global__ void name(int *a, int *b, const long *loaded, long distance, long to_variable, Range r)

__device__ int variable[64];

KERNEL(c_index) { a[threadIdx.x] = b[threadIdx.x]; }
KERNEL(e_write) { a[distance + threadIdx.x] = 1; }
KERNEL(e_read) { a[threadIdx.x] = a[distance + threadIdx.x]; }
KERNEL(e_back) { b[threadIdx.x - distance] = 1; }
KERNEL(e_atomic) { atomicAdd(&a[distance], 1); }
KERNEL(c_atomic) { atomicAdd(&a[threadIdx.x], 1); }
KERNEL(e_vector) { ((int2 *)a)[distance / 2] = make_int2(1, 2); }
KERNEL(c_vector) { ((int2 *)a)[threadIdx.x / 2] = make_int2(1, 2); }
KERNEL(e_one_lane) { a[threadIdx.x == 40 ? distance : threadIdx.x] = 1; }
KERNEL(e_scattered) { a[threadIdx.x * 7 % 64 + (threadIdx.x == 63 ? distance : 0)] = 1; }
KERNEL(c_scattered) { a[threadIdx.x * 7 % 64] = 1; }

// Pointers that change in a loop.
KERNEL(e_loop)
{
    for (int *p = a; p < a + 2 * distance; p += distance)
        p[threadIdx.x] = 1;
}
KERNEL(c_loop)
{
#pragma unroll 1
    for (int *p = a; p < a + 64; p += 8)
        p[threadIdx.x % 8] += 1;
}

// An address that is computed from the difference of two pointers.
KERNEL(c_difference) { *(int *)((char *)a + ((char *)b - (char *)a)) = 1; }

// A choice of two pointers. Only what is in neither object is wrong.
KERNEL(c_choice) { (threadIdx.x & 1 ? a : b)[threadIdx.x] = 1; }
KERNEL(e_choice) { (r.distance ? a : b)[to_variable] = 1; }

// A variable of the module.
KERNEL(c_variable) { variable[threadIdx.x] = 1; }
KERNEL(e_variable) { variable[threadIdx.x - to_variable] = 1; }

// Loaded values: a pointer of unknown origin, and an index.
KERNEL(c_loaded_pointer) { ((int *)loaded[0])[threadIdx.x] = 1; }
KERNEL(c_loaded_offset) { *(int *)((char *)a + (loaded[0] - (long)a)) = 1; }
KERNEL(e_loaded_index) { a[loaded[1]] = 1; }

// A member of a parameter.
KERNEL(c_member) { r.first[threadIdx.x] = 1; }
KERNEL(e_member) { r.first[r.distance] = 1; }

KERNEL(e_loaded_pointer) { ((int *)loaded[0])[-distance] = 1; }
KERNEL(e_loaded_both) { ((int *)loaded[0])[-loaded[1]] = 1; }
KERNEL(c_loaded_both) { ((int *)loaded[0])[loaded[1] & 7] = 1; }
KERNEL(c_loaded_end) { ((int *)(loaded[0] + 256))[-1 - (int)threadIdx.x] = 1; }

// Loaded pointers that change in loops. In a list, each first word points to the next object.
__device__ void add_rows(int *const *rows, int count, long step)
{
#pragma unroll 1
    for (int k = 0; k < count; k++) {
        int *p = rows[0];
#pragma unroll 1
        for (int n = 0; n < 2; n++, p += step)
            *p += 1;
    }
}
__device__ int *make_list(int *a, int *b)
{
    *(int *volatile *)a = b;
    *(int *volatile *)b = 0;
    return a;
}
KERNEL(e_loaded_loop) { add_rows((int *const *)loaded, 1, -distance); }
KERNEL(c_loaded_loop) { add_rows((int *const *)loaded, 1, 16); }
KERNEL(e_loaded_rows) { add_rows((int *const *)loaded, to_variable ? 3 : 2, -distance); }
KERNEL(c_loaded_rows) { add_rows((int *const *)loaded, to_variable ? 3 : 2, 16); }
KERNEL(e_list)
{
    for (int *p = make_list(a, b); p; p = *(int *volatile *)p)
        p[p == a ? distance + 8 : 2] = 1;
}
KERNEL(e_list_end)
{
    for (int *p = make_list(a, b); p; p = *(int *volatile *)p)
        p[p == b ? 8 - distance : 2] = 1;
}
KERNEL(c_list)
{
    for (int *p = make_list(a, b); p; p = *(int *volatile *)p)
        p[2 + threadIdx.x % 8] = 1;
}
// Pointers into the object before the next one.
KERNEL(c_list_late)
{
    int *last = a + 1;

#pragma unroll 1
    for (int *p = make_list(a, b); p;) {
        int *next = *(int *volatile *)p;

        p[2] = 1;
        last[3] = 1;
        last = p + 4;
        p = next;
    }
}

// Arguments and results of functions.
__device__ __noinline__ void store(int *p, long at) { p[at] = 1; }
__device__ __noinline__ int *same(int *p) { return p; }
KERNEL(e_argument) { store(a, distance); }
KERNEL(c_argument) { store(a, threadIdx.x); }
KERNEL(e_result) { same(a)[distance] = 1; }
KERNEL(c_result) { same(a)[threadIdx.x] = 1; }

// Blocks of malloc.
__device__ long between;
template <int Faulty> __device__ void use_blocks()
{
    char *p = (char *)malloc(256), *q = (char *)malloc(256);

    if (threadIdx.x == 0) {
        *(volatile long *)&between = q - p;
        p[Faulty ? *(volatile long *)&between : 5] = 1;
        q[5] = 1;
    }
    free(p);
    free(q);
}
KERNEL(e_block) { use_blocks<1>(); }
KERNEL(c_block) { use_blocks<0>(); }

// An address of shared memory or of local memory is none of an allocation.
KERNEL(c_generic)
{
    __shared__ int s[64];
    int *p = threadIdx.x & 1 ? s : a;

    p[threadIdx.x] = 1;
    a[threadIdx.x] = s[(threadIdx.x + 1) % 64] & 0;
}
