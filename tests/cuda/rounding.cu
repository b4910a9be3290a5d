/* IEEE operations and conversions in all rounding modes. */
extern "C" __global__ void floats(const float *in, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;

    if (t >= n)
        return;
    float a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2], *o = out + 24 * t;
    o[k++] = __fadd_rn(a, b);
    o[k++] = __fadd_rz(a, b);
    o[k++] = __fadd_ru(a, b);
    o[k++] = __fadd_rd(a, b);
    o[k++] = __fmul_rn(a, b);
    o[k++] = __fmul_rz(a, b);
    o[k++] = __fmul_ru(a, b);
    o[k++] = __fmul_rd(a, b);
    o[k++] = __fdiv_rn(a, b);
    o[k++] = __fdiv_rz(a, b);
    o[k++] = __fdiv_ru(a, b);
    o[k++] = __fdiv_rd(a, b);
    o[k++] = __fmaf_rn(a, b, c);
    o[k++] = __fmaf_rz(a, b, c);
    o[k++] = __fmaf_ru(a, b, c);
    o[k++] = __fmaf_rd(a, b, c);
    o[k++] = __fsqrt_rn(fabsf(a));
    o[k++] = __fsqrt_rz(fabsf(a));
    o[k++] = __fsqrt_ru(fabsf(a));
    o[k++] = __fsqrt_rd(fabsf(a));
    o[k++] = __frcp_rn(a);
    o[k++] = __frcp_rz(a);
    o[k++] = __frcp_ru(a);
    o[k++] = __frcp_rd(a);
}

extern "C" __global__ void doubles(const double *in, double *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;

    if (t >= n)
        return;
    double a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2], *o = out + 24 * t;
    o[k++] = __dadd_rn(a, b);
    o[k++] = __dadd_rz(a, b);
    o[k++] = __dadd_ru(a, b);
    o[k++] = __dadd_rd(a, b);
    o[k++] = __dmul_rn(a, b);
    o[k++] = __dmul_rz(a, b);
    o[k++] = __dmul_ru(a, b);
    o[k++] = __dmul_rd(a, b);
    o[k++] = __ddiv_rn(a, b);
    o[k++] = __ddiv_rz(a, b);
    o[k++] = __ddiv_ru(a, b);
    o[k++] = __ddiv_rd(a, b);
    o[k++] = __fma_rn(a, b, c);
    o[k++] = __fma_rz(a, b, c);
    o[k++] = __fma_ru(a, b, c);
    o[k++] = __fma_rd(a, b, c);
    o[k++] = __dsqrt_rn(fabs(a));
    o[k++] = __dsqrt_rz(fabs(a));
    o[k++] = __dsqrt_ru(fabs(a));
    o[k++] = __dsqrt_rd(fabs(a));
    o[k++] = __drcp_rn(a);
    o[k++] = __drcp_rz(a);
    o[k++] = __drcp_ru(a);
    o[k++] = __drcp_rd(a);
}

extern "C" __global__ void conversions(const double *in, long long *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;

    if (t >= n)
        return;
    double d = in[2 * t];
    float f = (float)in[2 * t + 1];
    long long l = __double_as_longlong(in[2 * t]), *o = out + 24 * t;
    o[k++] = __double2int_rn(d);
    o[k++] = __double2int_rz(d);
    o[k++] = __double2int_ru(d);
    o[k++] = __double2int_rd(d);
    o[k++] = __double2ll_rn(d);
    o[k++] = __double2ll_rz(d);
    o[k++] = __double2ll_ru(d);
    o[k++] = __double2ll_rd(d);
    o[k++] = __float2int_rn(f);
    o[k++] = __float2int_ru(f);
    o[k++] = __float2ll_rd(f);
    o[k++] = __float2ll_rz(f);
    o[k++] = __float_as_int(__double2float_rn(d));
    o[k++] = __float_as_int(__double2float_rz(d));
    o[k++] = __float_as_int(__double2float_ru(d));
    o[k++] = __float_as_int(__double2float_rd(d));
    o[k++] = __float_as_int(__ll2float_rn(l));
    o[k++] = __float_as_int(__ll2float_rz(l));
    o[k++] = __float_as_int(__ull2float_ru((unsigned long long)l));
    o[k++] = __float_as_int(__int2float_rd((int)l));
    o[k++] = __double_as_longlong(__ll2double_rn(l));
    o[k++] = __double_as_longlong(__ll2double_ru(l));
    o[k++] = __double_as_longlong(__ull2double_rd((unsigned long long)l));
    o[k++] = __double_as_longlong(__ll2double_rz(l));
}
