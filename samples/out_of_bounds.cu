/* A common mistake: the grid is rounded up to whole blocks, and the index is not compared with n. */
extern "C" __global__ void fill(float *v, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    v[i] = value;
}
