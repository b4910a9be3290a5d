/* PTX ISA, "Floating Point Instructions", rounded to nearest. alu_directed_rounding.c has the other roundings and
 * .sat. */
#include "exec/arith/nan_select.h"
#include "exec/arith/f32x2.h"
#include "exec/arith/handler_parts.h"
#include "exec/arith/rounding.h"
#include "num/f64_libm.h"
#include "num/fma.h"

#define A ptxi_num_f32(a[l])
#define B ptxi_num_f32(b[l])
#define C ptxi_num_f32(c[l])
#define AZ ptxi_num_in_ftz_f32(a[l])
#define BZ ptxi_num_in_ftz_f32(b[l])
#define CZ ptxi_num_in_ftz_f32(c[l])
#define AD ptxi_num_f64(a[l])
#define BD ptxi_num_f64(b[l])
#define CD ptxi_num_f64(c[l])
#define canon ptxi_num_canon_f32

/* The slow path of ARITHMETIC: some lanes are inactive, or a result is a NaN. */
#define SLOW_PATH(name, t, bits, slot_b, slot_c, expr, result)           \
    HANDLER_PART(OUT_OF_LINE, name##_slow)                               \
    {                                                                    \
        LIVE_SOURCE(bits, a, PTXI_SLOT(w, i->a));                        \
        LIVE_SOURCE(bits, b, PTXI_SLOT(w, slot_b));                      \
        LIVE_SOURCE(bits, c, PTXI_SLOT(w, slot_c));                      \
        LANE_ARRAY(t, r);                                                \
                                                                         \
        (void)b, (void)c;                                                \
        FOR_LANES r[l] = (expr);                                         \
        if (ptxi_any_nan_of(r)) {                                        \
            LANE_ARRAY(bits, out);                                       \
                                                                         \
            FOR_LANES out[l] = (result);                                 \
            ptxi_masked_write(PTXI_SLOT(w, i->d), out, w->active, sizeof *out); \
        } else {                                                         \
            ptxi_masked_write(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);     \
        }                                                                \
        NEXT;                                                            \
    }

/* Computes `expr` in each lane. If any of these results r[l] is a NaN, `result` replaces all of them. `finish` stores
 * the results and returns if no result is a NaN. */
#define ARITHMETIC(name, t, bits, slot_b, slot_c, expr, result, finish)   \
    SLOW_PATH(name, t, bits, slot_b, slot_c, expr, result)                \
    OP( name )                                                            \
    {                                                                     \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {           \
            const bits *a = PTXI_SLOT(w, i->a);                           \
            const bits *b __attribute__((unused)) = PTXI_SLOT(w, slot_b); \
            const bits *c __attribute__((unused)) = PTXI_SLOT(w, slot_c); \
            t *d = PTXI_SLOT(w, i->d);                                    \
            LANE_ARRAY(t, r);                                             \
                                                                          \
            finish(expr)                                                  \
        }                                                                 \
        return name##_slow(i, w);                                         \
    }

/* --- f32 --- */
HANDLER_PART(OUT_OF_LINE, canonicalize_results)
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    FOR_LANES d[l] = canon(ptxi_num_f32(d[l]));
    NEXT;
}

/* f32 results have only one NaN, whatever the sources are. So the results are stored before the check and need not
 * stay in registers. */
#define STORE_THEN_CHECK_NAN(expr)                \
    FOR_LANES r[l] = (expr);                      \
    ptxi_copy_lanes(d, r);                        \
    if (__builtin_expect(!ptxi_any_nan_of(r), 1)) \
        NEXT;                                     \
    return canonicalize_results(i, w);
#define CANONICAL(name, slot_b, slot_c, expr) \
    ARITHMETIC(name, float, uint32_t, slot_b, slot_c, expr, canon(r[l]), STORE_THEN_CHECK_NAN)
#define F32_1(name, expr) CANONICAL(name, i->a, i->a, expr)
#define F32_2(name, expr) CANONICAL(name, i->b, i->b, expr)
#define F32_3(name, expr) CANONICAL(name, i->b, i->c, expr)

/* An operation on f32 and the same on f32x2. */
#define F32_AND_F32X2_2(op, ftz, expr) F32_2(op##_f32##ftz, expr) OP_F32X2(op##_f32x2##ftz, i->b, i->b, canon(expr))
#define F32_AND_F32X2_3(op, ftz, expr) F32_3(op##_f32##ftz, expr) OP_F32X2(op##_f32x2##ftz, i->b, i->c, canon(expr))

F32_AND_F32X2_2(add, , A + B)
F32_AND_F32X2_2(sub, , A - B)
F32_AND_F32X2_2(mul, , A * B)
F32_AND_F32X2_3(fma, , ptxi_num_fma_f32(A, B, C))
F32_2(div_f32, A / B)
F32_1(rcp_f32, 1.0f / A)
F32_1(sqrt_f32, __builtin_sqrtf(A))

/* A subnormal sum is exact. A reciprocal is never so close below a power of two that it is rounded up to it, even if
 * it is subnormal. */
#define ADD_FTZ ptxi_num_out_ftz_f32(AZ + BZ)
#define SUB_FTZ ptxi_num_out_ftz_f32(AZ - BZ)
#define MUL_FTZ ptxi_num_flush_scaled_f32(AZ * BZ, AZ * PTXI_FTZ_SCALE * BZ)
#define FMA_FTZ                                             \
    ptxi_num_flush_scaled_f32(ptxi_num_fma_f32(AZ, BZ, CZ), \
                              ptxi_num_fma_f32(AZ * PTXI_FTZ_SCALE, BZ, CZ * PTXI_FTZ_SCALE))
#if defined(PTXI_HOST_FLUSHES) || defined(__AVX512F__)
/* On these hosts the handlers of alu_directed_rounding.c are shorter. For sums this requires a host that flushes. */
#define BY_DIRECTED_HANDLER(name)                 \
    OP( name )                                    \
    {                                             \
        return PTXI_LEVELED(op_##name##_x)(i, w); \
    }
BY_DIRECTED_HANDLER(mul_f32_ftz)
BY_DIRECTED_HANDLER(fma_f32_ftz)
BY_DIRECTED_HANDLER(div_f32_ftz)
#if defined(PTXI_HOST_FLUSHES)
BY_DIRECTED_HANDLER(add_f32_ftz)
BY_DIRECTED_HANDLER(sub_f32_ftz)
OP_F32X2(add_f32x2_ftz, i->b, i->b, canon(ADD_FTZ))
OP_F32X2(sub_f32x2_ftz, i->b, i->b, canon(SUB_FTZ))
#else
F32_AND_F32X2_2(add, _ftz, ADD_FTZ)
F32_AND_F32X2_2(sub, _ftz, SUB_FTZ)
#endif
OP_F32X2(mul_f32x2_ftz, i->b, i->b, canon(MUL_FTZ))
OP_F32X2(fma_f32x2_ftz, i->b, i->c, canon(FMA_FTZ))
#else
F32_AND_F32X2_2(add, _ftz, ADD_FTZ)
F32_AND_F32X2_2(sub, _ftz, SUB_FTZ)
F32_AND_F32X2_2(mul, _ftz, MUL_FTZ)
F32_AND_F32X2_3(fma, _ftz, FMA_FTZ)
F32_2(div_f32_ftz, ptxi_num_flush_scaled_f32(AZ / BZ, AZ * PTXI_FTZ_SCALE / BZ))
#endif
F32_1(rcp_f32_ftz, ptxi_num_out_ftz_f32(1.0f / AZ))
F32_1(sqrt_f32_ftz, __builtin_sqrtf(AZ))

#define SCALED(a, b) ((double)(a) * (double)(b) * (double)C)
F32_3(mul_scaled_f32, (float)SCALED(A, B))
F32_3(mul_scaled_f32_ftz,
      ptxi_num_flush_scaled_f32((float)SCALED(AZ, BZ), (float)(SCALED(AZ, BZ) * (double)PTXI_FTZ_SCALE)))

/* Operations with results as bits. */
#define BITS_1(name, expr) OPF1(name, uint32_t, uint32_t, expr)
#define BITS_2(name, expr) OPF2(name, uint32_t, uint32_t, uint32_t, expr)

BITS_1(neg_f32, canon(-A))
BITS_1(abs_f32, canon(__builtin_fabsf(A)))
BITS_1(neg_f32_ftz, canon(-AZ))
BITS_1(abs_f32_ftz, canon(__builtin_fabsf(AZ)))

#define FLUSHED(x) ptxi_num_flush_f32(x)
#define MIN_MAX(m, is_max)                                                                                   \
    BITS_2(m##_f32, ptxi_num_minmax_f32(a[l], b[l], is_max, false))                                          \
    BITS_2(m##_f32_ftz, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))                    \
    BITS_2(m##_f32_NaN, ptxi_num_minmax_f32(a[l], b[l], is_max, true))                                       \
    BITS_2(m##_f32_ftz_NaN, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true))                 \
    BITS_2(m##_f32_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, false))                          \
    BITS_2(m##_f32_ftz_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))    \
    BITS_2(m##_f32_NaN_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, true))                       \
    BITS_2(m##_f32_ftz_NaN_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true)) \
    OP2(m##_f64, uint64_t, uint64_t, uint64_t,                                                               \
        i->mods & PTXI_MOD_LATER_A ? ptxi_num_minmax_f64(b[l], a[l], is_max) : ptxi_num_minmax_f64(a[l], b[l], is_max))
MIN_MAX(min, false)
MIN_MAX(max, true)

/* The minimum or maximum of three: that of the first two, then that of the result and the third. */
#define MIN_MAX_OF_2(flush, nan) ptxi_num_minmax_f32(flush(a[l] & mask), flush(b[l] & mask), is_max, nan)
#define MIN_MAX_OF_3(flush, nan) ptxi_num_minmax_f32(MIN_MAX_OF_2(flush, nan), flush(c[l] & mask), is_max, nan)
#define MIN_MAX_3(m, max, bits)                                                                   \
    OP( m )                                                                                       \
    {                                                                                             \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                         \
        const uint32_t mask = bits;                                                               \
        const bool is_max = max;                                                                  \
                                                                                                  \
        switch (i->mods & (PTXI_MOD_NAN | PTXI_MOD_FTZ)) {                                        \
        case 0: WRITE_LANES(d, MIN_MAX_OF_3(, false)); break;                                     \
        case PTXI_MOD_NAN: WRITE_LANES(d, MIN_MAX_OF_3(, true)); break;                           \
        case PTXI_MOD_FTZ: WRITE_LANES(d, MIN_MAX_OF_3(FLUSHED, false)); break;                   \
        default: WRITE_LANES(d, MIN_MAX_OF_3(FLUSHED, true)); break;                              \
        }                                                                                         \
        NEXT;                                                                                     \
    }
MIN_MAX_3(min3_f32, false, 0xffffffff)
MIN_MAX_3(max3_f32, true, 0xffffffff)
MIN_MAX_3(min3_f32_abs, false, 0x7fffffff)
MIN_MAX_3(max3_f32_abs, true, 0x7fffffff)

/* --- f64 --- */
#define SIGN_F64 0x8000000000000000u

/* Whether a register is not the destination. With AVX-512 this check takes longer than it saves. The asm keeps GCC
 * from converting the conditions to numbers and combining those. */
static inline bool is_distinct(const void *x, const void *d)
{
#if defined(__AVX512F__)
    (void)x, (void)d;
    return false;
#else
    __asm__ volatile("");
    return __builtin_expect(x != d, 1);
#endif
}

/* f64 results have different NaNs, depending on the sources. Results are stored before the check only if they do not
 * overwrite a source. */
#define CHECK_NAN_THEN_STORE(expr)                                     \
    if (is_distinct(a, d) && is_distinct(b, d) && is_distinct(c, d)) { \
        FOR_LANES d[l] = r[l] = (expr);                                \
        if (__builtin_expect(!ptxi_any_nan_of(r), 1))                  \
            NEXT;                                                      \
    } else {                                                           \
        FOR_LANES r[l] = (expr);                                       \
        if (__builtin_expect(!ptxi_any_nan_of(r), 1)) {                \
            ptxi_copy_lanes(d, r);                                     \
            NEXT;                                                      \
        }                                                              \
    }
#define F64(name, slot_b, slot_c, expr, result) \
    ARITHMETIC(name, double, uint64_t, slot_b, slot_c, expr, result, CHECK_NAN_THEN_STORE)
F64(add_f64, i->b, i->b, AD + BD, ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
F64(sub_f64, i->b, i->b, AD - BD, ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
F64(mul_f64, i->b, i->b, AD * BD, ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
F64(fma_f64, i->b, i->c, ptxi_num_fma_f64(AD, BD, CD), ptxi_nan_select3(i->mods, r[l], a[l], b[l], c[l]))
F64(div_f64, i->b, i->b, AD / BD, ptxi_num_nan2_f64(r[l], a[l], b[l]))
F64(rcp_f64, i->a, i->a, 1.0 / AD, ptxi_num_nan1_f64(r[l], a[l]))
F64(sqrt_f64, i->a, i->a, __builtin_sqrt(AD), ptxi_num_nan1_f64(r[l], a[l]))
#define LIBM_F64(name) F64(name##_f64, i->a, i->a, ptxi_num_##name##_f64(AD), ptxi_num_nan1_f64(r[l], a[l]))
LIBM_F64(sin)
LIBM_F64(lg2)
LIBM_F64(ex2)
CANONICAL(sin_f32, i->a, i->a, (float)ptxi_num_sin_f64(A))
OP1(neg_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] ^ SIGN_F64)
OP1(abs_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] & ~SIGN_F64)

/* The sign of a and the magnitude of b. These are bit operations. */
OP2(copysign_f32, uint32_t, uint32_t, uint32_t, (a[l] & 0x80000000) | (b[l] & 0x7fffffff))
OP2(copysign_f64, uint64_t, uint64_t, uint64_t, (a[l] & SIGN_F64) | (b[l] & ~SIGN_F64))
