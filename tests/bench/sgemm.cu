/* C = A * B for square row-major matrices, by tiles in shared memory. The order of the matrices is a multiple of the
 * tile size. Each element is a chain of fused multiply-adds in ascending k, so a plain C loop gives the same bits. */
#define TILE 16

extern "C" __global__ void sgemm(const float *A, const float *B, float *C, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int t = 0; t < n / TILE; t++) {
        as[ty][tx] = A[row * n + t * TILE + tx];
        bs[ty][tx] = B[(t * TILE + ty) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            acc = fmaf(as[ty][k], bs[k][tx], acc);
        __syncthreads();
    }
    C[row * n + col] = acc;
}
