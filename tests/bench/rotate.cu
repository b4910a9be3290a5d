/* Rotates an image about its centre. Each thread fetches one value of a linearly filtered texture. */
extern "C" __global__ void rotate(cudaTextureObject_t image, float *out, int n, float cosine, float sine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = x - 0.5f * n, dy = y - 0.5f * n, half = 0.5f * n;

    if (x < n && y < n)
        out[y * n + x] = tex2D<float>(image, fmaf(cosine, dx, fmaf(-sine, dy, half)),
                                      fmaf(sine, dx, fmaf(cosine, dy, half)));
}
