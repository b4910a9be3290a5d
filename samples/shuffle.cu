/* Exchange of values between the lanes of a warp. */

/* Each lane gets the sum of itself and all higher lanes. shfl sets the predicate if the source lane is in range. */
extern "C" __global__ void reverse_cumsum(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[t];

    for (int d = 1; d < 32; d <<= 1)
        asm volatile("{\n\t"
                     " .reg .f32 Ry;\n\t"
                     " .reg .pred p;\n\t"
                     " shfl.sync.down.b32 Ry|p, %0, %1, 31, -1;\n\t"
                     " @p add.f32 %0, Ry, %0;\n\t"
                     "}"
                     : "+f"(x) : "r"(d));
    out[t] = x;
}

/* Every lane gets the sum of its warp. */
extern "C" __global__ void butterfly(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[t];

    for (int d = 16; d > 0; d >>= 1)
        asm volatile("{\n\t"
                     " .reg .f32 Ry;\n\t"
                     " .reg .pred p;\n\t"
                     " shfl.sync.bfly.b32 Ry|p, %0, %1, 31, -1;\n\t"
                     " add.f32 %0, Ry, %0;\n\t"
                     "}"
                     : "+f"(x) : "r"(d));
    out[t] = x;
}
