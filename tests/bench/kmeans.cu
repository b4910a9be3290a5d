/* The assignment step of k-means: the nearest of 32 centres for points of 8 dimensions. Coordinate d of point i is at
 * d * n + i. */
enum { DIMENSIONS = 8, CENTRES = 32 };

extern "C" __global__ void kmeans(const float *point, const float *centre, int *nearest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    float p[DIMENSIONS], least = INFINITY;

    if (i >= n)
        return;
#pragma unroll
    for (int d = 0; d < DIMENSIONS; d++)
        p[d] = point[d * n + i];
    for (int c = 0; c < CENTRES; c++) {
        float distance = 0.0f;
#pragma unroll
        for (int d = 0; d < DIMENSIONS; d++) {
            float off = p[d] - centre[c * DIMENSIONS + d];
            distance = fmaf(off, off, distance);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[i] = best;
}
