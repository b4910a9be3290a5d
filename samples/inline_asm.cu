/* Two functions that are written in inline PTX. */
__device__ static int cube(int x)
{
    int y;

    /* Each copy of the text has its own t1, because of the braces. */
    asm("{\n\t"
        " .reg .u32 t1;\n\t"
        " mul.lo.u32 t1, %1, %1;\n\t"
        " mul.lo.u32 %0, t1, %1;\n\t"
        "}"
        : "=r"(y) : "r"(x));
    return y;
}

__device__ static int cond(int x)
{
    int y = 0;

    /* The constraint is "+r", because %0 keeps its value if the predicate is false. */
    asm("{\n\t"
        " .reg .pred %%p;\n\t"
        " setp.eq.s32 %%p, %1, 34;\n\t"
        " @%%p mov.s32 %0, 1;\n\t"
        "}"
        : "+r"(y) : "r"(x));
    return y;
}

extern "C" __global__ void cubes(const int *x, int *y)
{
    int v = x[threadIdx.x];

    y[threadIdx.x] = cube(v) + cube(-v) + cube(v);
}

extern "C" __global__ void conds(const int *x, int *y)
{
    y[threadIdx.x] = cond(x[threadIdx.x]);
}
