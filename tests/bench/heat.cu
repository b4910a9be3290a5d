/* One step of the 3D heat equation on n^3 cells: 7 points, f32. A thread computes one cell. */
extern "C" __global__ void heat(const float *in, float *out, int n, float centre, float side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;

    if (x >= n || y >= n)
        return;
    int at = (z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        out[at] = in[at];
        return;
    }
    float sum = ((in[at - 1] + in[at + 1]) + (in[at - n] + in[at + n])) + (in[at - n * n] + in[at + n * n]);
    out[at] = fmaf(side, sum, centre * in[at]);
}
