/* Escape times of the Mandelbrot set, one pixel per thread. Fused operations are explicit, so that the C version can
 * use the same ones. */
extern "C" __global__ void mandel(int *out, int width, int height, float x0, float y0, float step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;

    if (px >= width || py >= height)
        return;
    float cx = fmaf((float)px, step, x0), cy = fmaf((float)py, step, y0);
    float zx = 0.0f, zy = 0.0f;
    int it;
    for (it = 0; it < limit; it++) {
        float y2 = zy * zy;
        if (fmaf(zx, zx, y2) > 4.0f)
            break;
        float t = fmaf(zx, zx, -y2) + cx;
        zy = fmaf(zx + zx, zy, cy);
        zx = t;
    }
    out[py * width + px] = it;
}
