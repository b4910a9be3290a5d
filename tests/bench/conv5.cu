/* Convolution of an image with a 5 x 5 mask. A CTA loads its tile and the border into shared memory. Pixels beyond the
 * edge are those of the edge. */
struct mask {
    float at[25];
};

enum { WIDTH = 32, HEIGHT = 8, BORDER = 2 };

extern "C" __global__ void conv5(const float *in, float *out, int width, int height, struct mask mask)
{
    __shared__ float tile[HEIGHT + 2 * BORDER][WIDTH + 2 * BORDER];
    int x0 = blockIdx.x * WIDTH - BORDER, y0 = blockIdx.y * HEIGHT - BORDER;

    for (int y = threadIdx.y; y < HEIGHT + 2 * BORDER; y += HEIGHT)
        for (int x = threadIdx.x; x < WIDTH + 2 * BORDER; x += WIDTH)
            tile[y][x] = in[min(max(y0 + y, 0), height - 1) * width + min(max(x0 + x, 0), width - 1)];
    __syncthreads();
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    float sum = 0.0f;

#pragma unroll
    for (int r = 0; r < 5; r++)
#pragma unroll
        for (int c = 0; c < 5; c++)
            sum = fmaf(mask.at[r * 5 + c], tile[threadIdx.y + r][threadIdx.x + c], sum);
    if (x < width && y < height)
        out[y * width + x] = sum;
}
