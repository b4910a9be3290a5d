/* z = (1 - alpha) * x + alpha * y, written in PTX inside CUDA C++. */
extern "C" __global__ void cuk_lerp(const float *x, const float *y, float *z, float alpha)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float u = x[i], v = y[i], r;

    asm("{\n\t"
        ".reg .f32 a;\n\t"
        "sub.f32 a, 0f3f800000, %2;\n\t"
        "mul.f32 %1, %1, a;\n\t"
        "fma.rn.f32 %0, %2, %3, %1;\n\t"
        "}"
        : "=f"(r), "+f"(u) : "f"(alpha), "f"(v));
    z[i] = r;
}
