/* C = A * B for square row-major matrices, A and B of f16, C of f32, by tensor cores. cp.async copies tiles into one
 * half of a buffer in shared memory, while the other half is multiplied. ldmatrix loads the fragments. A block computes
 * 64x64 elements of C, a warp 32x32. The order of the matrices is a multiple of 64. */
enum { TILE = 64, DEPTH = 32, PAD = 8 /* so that rows begin in different banks */, THREADS = 128 };

struct half_tiles {
    unsigned short a[TILE][DEPTH + PAD], b[DEPTH][TILE + PAD];
};

static __device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void copy_16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(to)), "l"(from) : "memory");
}

static __device__ void fetch(half_tiles *t, const unsigned short *A, const unsigned short *B, int n, int k)
{
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += THREADS) {
        int row = i / (DEPTH / 8), col = i % (DEPTH / 8) * 8;

        copy_16(&t->a[row][col], A + (size_t)(blockIdx.y * TILE + row) * n + k + col);
    }
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += THREADS) {
        int row = i / (TILE / 8), col = i % (TILE / 8) * 8;

        copy_16(&t->b[row][col], B + (size_t)(k + row) * n + blockIdx.x * TILE + col);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

static __device__ void load(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

static __device__ void load_transposed(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

static __device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void hgemm(const unsigned short *A, const unsigned short *B, float *C, int n)
{
    __shared__ half_tiles tiles[2];
    int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 32, col = threadIdx.x / 32 % 2 * 32;
    float c[2][4][4] = {};

    fetch(&tiles[0], A, B, n, 0);
#pragma unroll 1
    for (int t = 0; t < n / DEPTH; t++) {
        const half_tiles *now = &tiles[t % 2];

        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (t + 1 < n / DEPTH)
            fetch(&tiles[(t + 1) % 2], A, B, n, (t + 1) * DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned a[2][4], b[2][4];

#pragma unroll
            for (int i = 0; i < 2; i++) {
                load(a[i], &now->a[row + 16 * i + lane % 16][k + lane / 16 * 8]);
                load_transposed(b[i], &now->b[k + lane % 16][col + 16 * i + lane / 16 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply(c[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = C + (size_t)(blockIdx.y * TILE + row + 16 * i + lane / 4) * n + blockIdx.x * TILE + col +
                        8 * j + lane % 4 * 2;

            *(float2 *)to = make_float2(c[i][j][0], c[i][j][1]);
            *(float2 *)(to + 8 * (size_t)n) = make_float2(c[i][j][2], c[i][j][3]);
        }
}
