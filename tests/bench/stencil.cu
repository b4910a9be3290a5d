/* One step of a weighted five-point stencil on a square grid of doubles. The border is copied. */
extern "C" __global__ void stencil(const double *in, double *out, int n, double centre, double side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= n || y >= n)
        return;
    double v = in[y * n + x];
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        double near = (in[(y - 1) * n + x] + in[(y + 1) * n + x]) + (in[y * n + x - 1] + in[y * n + x + 1]);
        v = fma(side, near, centre * v);
    }
    out[y * n + x] = v;
}
