/* Matrix instructions of sm_120a, in the forms that CUTLASS has. Each thread has 16 words of operands: 4 of A, 4 of B,
 * 4 of C, the scales or the metadata, and the scale of B. */
#define RESULTS(o) "=f"((o)[0]), "=f"((o)[1]), "=f"((o)[2]), "=f"((o)[3])
#define OPERANDS(p) \
    "r"((p)[0]), "r"((p)[1]), "r"((p)[2]), "r"((p)[3]), "r"((p)[4]), "r"((p)[5]), "f"(__uint_as_float((p)[8])), \
        "f"(__uint_as_float((p)[9])), "f"(__uint_as_float((p)[10])), "f"(__uint_as_float((p)[11]))

#define DENSE(name, form) \
    extern "C" __global__ void name(const unsigned *in, float *out, int) \
    { \
        const unsigned *p = in + 16 * threadIdx.x; \
        float *o = out + 4 * threadIdx.x; \
        asm volatile("mma.sync.aligned." form \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
                     : RESULTS(o) \
                     : OPERANDS(p)); \
    }
#define SCALED(name, form) \
    extern "C" __global__ void name(const unsigned *in, float *out, int) \
    { \
        const unsigned *p = in + 16 * threadIdx.x; \
        float *o = out + 4 * threadIdx.x; \
        unsigned short zero = 0, one = 1; \
        asm volatile("mma.sync.aligned." form \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, {%14}, {%16, %17}, {%15}, " \
                     "{%16, %17};" \
                     : RESULTS(o) \
                     : OPERANDS(p), "r"(p[12]), "r"(p[13]), "h"(zero), "h"(one)); \
    }

DENSE(e4m3_e5m2, "kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e5m2.f32")
DENSE(e2m3_e3m2, "kind::f8f6f4.m16n8k32.row.col.f32.e2m3.e3m2.f32")
DENSE(e2m1_e4m3, "kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e4m3.f32")
SCALED(scaled_e5m2_e2m1, "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e5m2.e2m1.f32.ue8m0")
SCALED(scaled_e2m1_32, "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0")
SCALED(scaled_e2m1_16, "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3")

extern "C" __global__ void sparse_e4m3_e5m2(const unsigned *in, float *out, int)
{
    const unsigned *p = in + 16 * threadIdx.x;
    float *o = out + 4 * threadIdx.x;

    asm volatile("mma.sp::ordered_metadata.sync.aligned.kind::f8f6f4.m16n8k64.row.col.f32.e4m3.e5m2.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %14, %15}, {%10, %11, %12, %13}, %16, 0;"
                 : RESULTS(o)
                 : OPERANDS(p), "r"(p[6]), "r"(p[7]), "r"(p[12]));
}
