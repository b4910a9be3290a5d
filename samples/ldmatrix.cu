/* ldmatrix: the elements that each thread receives, and the cost of the row addresses in shared memory. */
#include <cuda_fp16.h>
#include <stdio.h>

enum { ROW = 16 }; /* number of halves in a row of the array; a row of a matrix has 8 */

/* Each thread of the warp prints the two halves of its register, four threads on a line. */
static __device__ __noinline__ void print(unsigned r, const char *format)
{
    const __half2 *h = reinterpret_cast<const __half2 *>(&r);

#pragma unroll 1
    for (unsigned lane = 0; lane < 32; lane++) {
        if (threadIdx.x == lane) {
            printf(format, __half2int_rz(h->x), __half2int_rz(h->y), lane);
            if (lane % 4 == 3)
                printf("\n");
        }
        __syncwarp();
    }
}

static __device__ void blank_line()
{
    if (threadIdx.x == 0)
        printf("\n");
}

static __device__ __noinline__ void print_offsets(unsigned offset)
{
#pragma unroll 1
    for (unsigned lane = 0; lane < 32; lane++) {
        if (threadIdx.x == lane)
            printf(lane < 31 ? "%u, " : "%u\n\n", offset);
        __syncwarp();
    }
}

static __device__ void fill(__half *a)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < 128 * ROW; i += blockDim.x)
        a[i] = __int2half_rn(i);
    __syncthreads();
}

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Two adjacent matrices: rows 0 to 7, columns 0 to 7 and 8 to 15. The addresses of threads 16 to 31 are not used. */
extern "C" __global__ void x2()
{
    __shared__ __half a[128 * ROW];
    unsigned t = threadIdx.x, offset = t < 16 ? t % 8 * ROW + t / 8 * 8 : 0, r[2];

    fill(a);
    print_offsets(offset);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(address(a + offset)));
    print(r[0], "%4d %4d ");
    blank_line();
    print(r[1], "%4d %4d ");
}

/* The same with .trans: each thread receives two elements of a column. */
extern "C" __global__ void x2_trans()
{
    __shared__ __half a[128 * ROW];
    unsigned t = threadIdx.x, offset = t < 16 ? t % 8 * ROW + t / 8 * 8 : 0, r[2];

    fill(a);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(address(a + offset)));
    print(r[0], "%4d %4d ");
    blank_line();
    print(r[1], "%4d %4d ");
}

/* Prints the offsets of the threads, then four matrices: those of x2 and those in the eight rows below. */
extern "C" __global__ void x4()
{
    __shared__ __half a[128 * ROW];
    unsigned t = threadIdx.x, offset = (t % 8 + t / 16 * 8) * ROW + t % 16 / 8 * 8, r[4];

    fill(a);
    print_offsets(offset);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(a + offset)));
#pragma unroll
    for (int m = 0; m < 4; m++) {
        print(r[m], "%4d %4d ");
        if (m < 3)
            blank_line();
    }
}

/* One ldmatrix.x2 per warp and no other access to shared memory. `which` selects one of four patterns of rows. */
extern "C" __global__ void pattern(int which, unsigned *out)
{
    __shared__ __half a[128 * ROW];
    unsigned i = threadIdx.x % 16, stretch = which & 1 ? 4 : 1, r[2];
    unsigned offset = which & 2 ? stretch * (i % 8) * ROW + i / 8 * 8 : stretch * (i / 2) * ROW + i % 2 * 8;

    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(address(a + offset)));
    if (out)
        out[threadIdx.x] = r[0] ^ r[1];
}
