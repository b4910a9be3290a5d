/* C = A * B, row-major, m x k by k x n, with 16 x 16 tiles in shared memory. The sizes need not be multiples of 16. */
#define TILE 16

extern "C" __global__ void sgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float acc = 0.0f;

    for (int base = 0; base < k; base += TILE) {
        as[ty][tx] = row < m && base + tx < k ? A[row * k + base + tx] : 0.0f;
        bs[ty][tx] = base + ty < k && col < n ? B[(base + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            acc += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = acc;
}
