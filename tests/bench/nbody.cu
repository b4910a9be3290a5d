/* Gravitational accelerations of n bodies (x, y, z, mass): all pairs, by tiles in shared memory. n is a multiple of the
 * block size. */
#define BLOCK 256

extern "C" __global__ void nbody(const float4 *body, float4 *accel, int n, float eps2)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = body[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;

    for (int base = 0; base < n; base += BLOCK) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < BLOCK; j++) {
            float4 b = tile[j];
            float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
            float r2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2)));
            float inv = rsqrtf(r2);
            float s = b.w * inv * inv * inv;
            ax = fmaf(dx, s, ax);
            ay = fmaf(dy, s, ay);
            az = fmaf(dz, s, az);
        }
        __syncthreads();
    }
    accel[i] = make_float4(ax, ay, az, 0.0f);
}
