/* y = A * x for a sparse matrix of compressed rows, one row per thread. Rows differ in length, so warps diverge. The
 * elements of x are gathered. */
extern "C" __global__ void spmv(const int *start, const int *column, const float *value, const float *x, float *y,
                                int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;

    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum = fmaf(value[k], x[column[k]], sum);
    y[row] = sum;
}
