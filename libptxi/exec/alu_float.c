/* PTX ISA, "Floating Point Instructions", rounded to nearest; alu_round.c has the other roundings and .sat. */
#include "exec/pairs.h"
#include "num/fma.h"

#define A ptxi_num_f32(a[l])
#define B ptxi_num_f32(b[l])
#define C ptxi_num_f32(c[l])
#define AZ ptxi_num_in_ftz_f32(a[l])
#define BZ ptxi_num_in_ftz_f32(b[l])
#define CZ ptxi_num_in_ftz_f32(c[l])
#define canon ptxi_num_canon_f32
#define canon_ftz ptxi_num_canon_ftz_f32

#define F32_1(name, expr) OPF1(name, uint32_t, uint32_t, expr)
#define F32_2(name, expr) OPF2(name, uint32_t, uint32_t, uint32_t, expr)
#define F32_3(name, expr) OPF3(name, uint32_t, uint32_t, uint32_t, uint32_t, expr)

/* Of floats and of pairs of them. */
#define BOTH_2(op, ftz, expr) F32_2(op##_f32##ftz, expr) OP_PAIRS(op##_f32x2##ftz, i->b, i->b, expr)
#define BOTH_3(op, ftz, expr) F32_3(op##_f32##ftz, expr) OP_PAIRS(op##_f32x2##ftz, i->b, i->c, expr)

BOTH_2(add, , canon(A + B))
BOTH_2(sub, , canon(A - B))
BOTH_2(mul, , canon(A * B))
BOTH_3(fma, , canon(ptxi_num_fma_f32(A, B, C)))
F32_2(div_f32, canon(A / B))
F32_1(rcp_f32, canon(1.0f / A))
F32_1(sqrt_f32, canon(__builtin_sqrtf(A)))

/* A sum that is subnormal is exact. A reciprocal cannot lie so close below a power of two that it is rounded up to it, even when
 * it is subnormal. */
BOTH_2(add, _ftz, canon_ftz(AZ + BZ))
BOTH_2(sub, _ftz, canon_ftz(AZ - BZ))
BOTH_2(mul, _ftz, ptxi_num_canon_scaled_f32(AZ * BZ, AZ * PTXI_FTZ_SCALE * BZ))
BOTH_3(fma, _ftz, ptxi_num_canon_scaled_f32(ptxi_num_fma_f32(AZ, BZ, CZ), ptxi_num_fma_f32(AZ * PTXI_FTZ_SCALE, BZ, CZ * PTXI_FTZ_SCALE)))
F32_2(div_f32_ftz, ptxi_num_canon_scaled_f32(AZ / BZ, AZ * PTXI_FTZ_SCALE / BZ))
F32_1(rcp_f32_ftz, canon_ftz(1.0f / AZ))
F32_1(sqrt_f32_ftz, canon(__builtin_sqrtf(AZ)))

F32_1(neg_f32, canon(-A))
F32_1(abs_f32, canon(__builtin_fabsf(A)))
F32_1(neg_f32_ftz, canon(-AZ))
F32_1(abs_f32_ftz, canon(__builtin_fabsf(AZ)))

#define FLUSHED(x) ptxi_num_flush_f32(x)
#define MIN_MAX(m, is_max)                                                                                                    \
    F32_2(m##_f32, ptxi_num_minmax_f32(a[l], b[l], is_max, false))                                                            \
    F32_2(m##_f32_ftz, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))                                      \
    F32_2(m##_f32_NaN, ptxi_num_minmax_f32(a[l], b[l], is_max, true))                                                         \
    F32_2(m##_f32_ftz_NaN, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true))                                   \
    F32_2(m##_f32_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, false))                                            \
    F32_2(m##_f32_ftz_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))                      \
    F32_2(m##_f32_NaN_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, true))                                         \
    F32_2(m##_f32_ftz_NaN_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true))                   \
    OP2(m##_f64, uint64_t, uint64_t, uint64_t, ptxi_num_minmax_f64(a[l], b[l], is_max))
MIN_MAX(min, false)
MIN_MAX(max, true)

/* Of three: of two, then of that and the third. */
#define OF_THREE(flushed, nan) \
    ptxi_num_minmax_f32(ptxi_num_minmax_f32(flushed(a[l] & mask), flushed(b[l] & mask), is_max, nan), flushed(c[l] & mask), is_max, nan)
#define MIN_MAX_3(m, max, bits)                                                                      \
    OP( m )                                                                                          \
    {                                                                                                \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);    \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                            \
        const uint32_t mask = bits;                                                                  \
        const bool is_max = max;                                                                     \
                                                                                                     \
        switch (i->mods & (PTXI_MOD_NAN | PTXI_MOD_FTZ)) {                                           \
        case 0: WRITE_LANES(d, OF_THREE(, false)); break;                                            \
        case PTXI_MOD_NAN: WRITE_LANES(d, OF_THREE(, true)); break;                                  \
        case PTXI_MOD_FTZ: WRITE_LANES(d, OF_THREE(FLUSHED, false)); break;                          \
        default: WRITE_LANES(d, OF_THREE(FLUSHED, true)); break;                                     \
        }                                                                                            \
        NEXT;                                                                                        \
    }
MIN_MAX_3(min3_f32, false, 0xffffffff)
MIN_MAX_3(max3_f32, true, 0xffffffff)
MIN_MAX_3(min3_f32_abs, false, 0x7fffffff)
MIN_MAX_3(max3_f32_abs, true, 0x7fffffff)

/* --- f64 --- */
#define AD ptxi_num_f64(a[l])
#define BD ptxi_num_f64(b[l])
#define CD ptxi_num_f64(c[l])
#define SIGN_F64 0x8000000000000000u

/* Which NaN comes out of NaNs is decided apart, since there seldom are any. */
#define F64_OP(name, expr, with_nans)                                                                   \
    static __attribute__((noinline)) const struct ptxi_insn *with_nans_##name(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                   \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);       \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                               \
                                                                                                        \
        (void)b, (void)c;                                                                               \
        WRITE_LANES_COLD(d, with_nans);                                                                 \
        NEXT;                                                                                           \
    }                                                                                                   \
    OP( name )                                                                                          \
    {                                                                                                   \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);       \
        double *d = PTXI_SLOT(w, i->d);                                                                 \
        LANE_ARRAY(double, r);                                                                          \
                                                                                                        \
        (void)b, (void)c;                                                                               \
        FOR_LANES r[l] = (expr);                                                                        \
        if (__builtin_expect(ptxi_any_nan_f64(r), 0))                                                   \
            return with_nans_##name(i, w);                                                              \
        WRITE_LANES(d, r[l]);                                                                           \
        NEXT;                                                                                           \
    }
F64_OP(add_f64, AD + BD, ptxi_num_nan2_f64(AD + BD, b[l], a[l]))
F64_OP(sub_f64, AD - BD, ptxi_num_nan2_f64(AD - BD, b[l], a[l]))
F64_OP(mul_f64, AD * BD, ptxi_num_nan2_f64(AD * BD, b[l], a[l]))
F64_OP(fma_f64, ptxi_num_fma_f64(AD, BD, CD), ptxi_num_nan3_f64(ptxi_num_fma_f64(AD, BD, CD), b[l], c[l], a[l]))
F64_OP(div_f64, AD / BD, ptxi_num_nan2_f64(AD / BD, a[l], b[l]))
F64_OP(rcp_f64, 1.0 / AD, ptxi_num_nan1_f64(1.0 / AD, a[l]))
F64_OP(sqrt_f64, __builtin_sqrt(AD), ptxi_num_nan1_f64(__builtin_sqrt(AD), a[l]))
OP1(neg_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] ^ SIGN_F64)
OP1(abs_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] & ~SIGN_F64)

/* The sign of a on b: bits. */
OP2(copysign_f32, uint32_t, uint32_t, uint32_t, (a[l] & 0x80000000) | (b[l] & 0x7fffffff))
OP2(copysign_f64, uint64_t, uint64_t, uint64_t, (a[l] & SIGN_F64) | (b[l] & ~SIGN_F64))
