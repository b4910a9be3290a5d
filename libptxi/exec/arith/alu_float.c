/* PTX ISA, "Floating Point Instructions", rounded to nearest; alu_round.c has the other roundings and .sat. */
#include "exec/arith/nan_select.h"
#include "exec/arith/f32x2.h"
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

/* Results are seldom NaNs, and mostly all lanes are on: else this is called. */
#define OTHERWISE(name, t, bits, slot_b, slot_c, expr, result)                                                                \
    static __attribute__((noinline)) const struct ptxi_insn *name##_otherwise(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                                         \
        LIVE_SOURCE(bits, a, PTXI_SLOT(w, i->a));                                                                             \
        LIVE_SOURCE(bits, b, PTXI_SLOT(w, slot_b));                                                                           \
        LIVE_SOURCE(bits, c, PTXI_SLOT(w, slot_c));                                                                           \
        LANE_ARRAY(t, r);                                                                                                     \
                                                                                                                              \
        (void)b, (void)c;                                                                                                     \
        FOR_LANES r[l] = (expr);                                                                                              \
        if (ptxi_any_nan_of(r)) {                                                                                             \
            LANE_ARRAY(bits, out);                                                                                            \
                                                                                                                              \
            FOR_LANES out[l] = (result);                                                                                      \
            ptxi_merge(PTXI_SLOT(w, i->d), out, w->active, sizeof *out);                                                      \
        } else {                                                                                                              \
            ptxi_merge(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                                          \
        }                                                                                                                     \
        NEXT;                                                                                                                 \
    }

/* `expr` for each lane and, if any of all is a NaN, `result` in terms of it, r[l]. */
#define ARITHMETIC(name, t, bits, slot_b, slot_c, expr, result, finish)                                                       \
    OTHERWISE(name, t, bits, slot_b, slot_c, expr, result)                                                                    \
    OP( name )                                                                                                                \
    {                                                                                                                         \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {                                                               \
            const bits *a = PTXI_SLOT(w, i->a);                                                                               \
            const bits *b __attribute__((unused)) = PTXI_SLOT(w, slot_b);                                                     \
            const bits *c __attribute__((unused)) = PTXI_SLOT(w, slot_c);                                                     \
            t *d = PTXI_SLOT(w, i->d);                                                                                        \
            LANE_ARRAY(t, r);                                                                                                 \
                                                                                                                              \
            finish(expr)                                                                                                      \
        }                                                                                                                     \
        return name##_otherwise(i, w);                                                                                        \
    }

/* --- f32 --- */
static __attribute__((noinline)) const struct ptxi_insn *canonical_nans(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    FOR_LANES d[l] = canon(ptxi_num_f32(d[l]));
    NEXT;
}

/* NaNs are all alike, whatever the sources were: results are stored first, and need not be kept until there is an answer. */
#define STORE_AND_SEE(expr)                                     \
    FOR_LANES r[l] = (expr);                                    \
    ptxi_copy_lanes(d, r);                                      \
    if (__builtin_expect(!ptxi_any_nan_of(r), 1))               \
        NEXT;                                                   \
    return canonical_nans(i, w);
#define CANONICAL(name, slot_b, slot_c, expr) ARITHMETIC(name, float, uint32_t, slot_b, slot_c, expr, canon(r[l]), STORE_AND_SEE)
#define F32_1(name, expr) CANONICAL(name, i->a, i->a, expr)
#define F32_2(name, expr) CANONICAL(name, i->b, i->b, expr)
#define F32_3(name, expr) CANONICAL(name, i->b, i->c, expr)

/* Of floats and of pairs of them. */
#define BOTH_2(op, ftz, expr) F32_2(op##_f32##ftz, expr) OP_PAIRS(op##_f32x2##ftz, i->b, i->b, canon(expr))
#define BOTH_3(op, ftz, expr) F32_3(op##_f32##ftz, expr) OP_PAIRS(op##_f32x2##ftz, i->b, i->c, canon(expr))

BOTH_2(add, , A + B)
BOTH_2(sub, , A - B)
BOTH_2(mul, , A * B)
BOTH_3(fma, , ptxi_num_fma_f32(A, B, C))
F32_2(div_f32, A / B)
F32_1(rcp_f32, 1.0f / A)
F32_1(sqrt_f32, __builtin_sqrtf(A))

/* A sum that is subnormal is exact. A reciprocal cannot lie so close below a power of two that it is rounded up to it, even when
 * it is subnormal. */
#define ADD_FTZ ptxi_num_out_ftz_f32(AZ + BZ)
#define SUB_FTZ ptxi_num_out_ftz_f32(AZ - BZ)
#define MUL_FTZ ptxi_num_flush_scaled_f32(AZ * BZ, AZ * PTXI_FTZ_SCALE * BZ)
#define FMA_FTZ ptxi_num_flush_scaled_f32(ptxi_num_fma_f32(AZ, BZ, CZ), ptxi_num_fma_f32(AZ * PTXI_FTZ_SCALE, BZ, CZ * PTXI_FTZ_SCALE))
#if defined(PTXI_HOST_FLUSHES) || defined(__AVX512F__)
/* Those know a shorter way; of sums only the former. */
#define AS_ROUNDED(name) \
    OP( name )           \
    {                    \
        return PTXI_LEVELED(op_##name##_x)(i, w); \
    }
AS_ROUNDED(mul_f32_ftz)
AS_ROUNDED(fma_f32_ftz)
AS_ROUNDED(div_f32_ftz)
#if defined(PTXI_HOST_FLUSHES)
AS_ROUNDED(add_f32_ftz)
AS_ROUNDED(sub_f32_ftz)
OP_PAIRS(add_f32x2_ftz, i->b, i->b, canon(ADD_FTZ))
OP_PAIRS(sub_f32x2_ftz, i->b, i->b, canon(SUB_FTZ))
#else
BOTH_2(add, _ftz, ADD_FTZ)
BOTH_2(sub, _ftz, SUB_FTZ)
#endif
OP_PAIRS(mul_f32x2_ftz, i->b, i->b, canon(MUL_FTZ))
OP_PAIRS(fma_f32x2_ftz, i->b, i->c, canon(FMA_FTZ))
#else
BOTH_2(add, _ftz, ADD_FTZ)
BOTH_2(sub, _ftz, SUB_FTZ)
BOTH_2(mul, _ftz, MUL_FTZ)
BOTH_3(fma, _ftz, FMA_FTZ)
F32_2(div_f32_ftz, ptxi_num_flush_scaled_f32(AZ / BZ, AZ * PTXI_FTZ_SCALE / BZ))
#endif
F32_1(rcp_f32_ftz, ptxi_num_out_ftz_f32(1.0f / AZ))
F32_1(sqrt_f32_ftz, __builtin_sqrtf(AZ))

#define SCALED(a, b) ((double)(a) * (double)(b) * (double)C)
F32_3(mul_scaled_f32, (float)SCALED(A, B))
F32_3(mul_scaled_f32_ftz, ptxi_num_flush_scaled_f32((float)SCALED(AZ, BZ), (float)(SCALED(AZ, BZ) * (double)PTXI_FTZ_SCALE)))

/* Results as bits. */
#define BITS_1(name, expr) OPF1(name, uint32_t, uint32_t, expr)
#define BITS_2(name, expr) OPF2(name, uint32_t, uint32_t, uint32_t, expr)

BITS_1(neg_f32, canon(-A))
BITS_1(abs_f32, canon(__builtin_fabsf(A)))
BITS_1(neg_f32_ftz, canon(-AZ))
BITS_1(abs_f32_ftz, canon(__builtin_fabsf(AZ)))

#define FLUSHED(x) ptxi_num_flush_f32(x)
#define MIN_MAX(m, is_max)                                                                                                    \
    BITS_2(m##_f32, ptxi_num_minmax_f32(a[l], b[l], is_max, false))                                                            \
    BITS_2(m##_f32_ftz, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))                                      \
    BITS_2(m##_f32_NaN, ptxi_num_minmax_f32(a[l], b[l], is_max, true))                                                         \
    BITS_2(m##_f32_ftz_NaN, ptxi_num_minmax_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true))                                   \
    BITS_2(m##_f32_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, false))                                            \
    BITS_2(m##_f32_ftz_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, false))                      \
    BITS_2(m##_f32_NaN_xorsign, ptxi_num_minmax_xorsign_f32(a[l], b[l], is_max, true))                                         \
    BITS_2(m##_f32_ftz_NaN_xorsign, ptxi_num_minmax_xorsign_f32(FLUSHED(a[l]), FLUSHED(b[l]), is_max, true))                   \
    OP2(m##_f64, uint64_t, uint64_t, uint64_t, i->mods & PTXI_MOD_LATER_A ? ptxi_num_minmax_f64(b[l], a[l], is_max) : ptxi_num_minmax_f64(a[l], b[l], is_max))
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
#define SIGN_F64 0x8000000000000000u

/* With AVX-512 the look at it takes longer than it saves. GCC would make numbers of these conditions and combine them. */
static inline bool is_apart(const void *x, const void *d)
{
#if defined(__AVX512F__)
    (void)x, (void)d;
    return false;
#else
    __asm__ volatile("");
    return __builtin_expect(x != d, 1);
#endif
}

/* Which NaN it is depends on the sources: only if the results replace none of them, they are stored first here, too. */
#define SEE_AND_STORE(expr)                                     \
    if (is_apart(a, d) && is_apart(b, d) && is_apart(c, d)) {   \
        FOR_LANES d[l] = r[l] = (expr);                         \
        if (__builtin_expect(!ptxi_any_nan_of(r), 1))           \
            NEXT;                                               \
    } else {                                                    \
        FOR_LANES r[l] = (expr);                                \
        if (__builtin_expect(!ptxi_any_nan_of(r), 1)) {         \
            ptxi_copy_lanes(d, r);                              \
            NEXT;                                               \
        }                                                       \
    }
#define F64(name, slot_b, slot_c, expr, result) ARITHMETIC(name, double, uint64_t, slot_b, slot_c, expr, result, SEE_AND_STORE)
F64(add_f64, i->b, i->b, AD + BD, ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
F64(sub_f64, i->b, i->b, AD - BD, ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
F64(mul_f64, i->b, i->b, AD * BD, ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
F64(fma_f64, i->b, i->c, ptxi_num_fma_f64(AD, BD, CD), ptxi_nan_of_three(i->mods, r[l], a[l], b[l], c[l]))
F64(div_f64, i->b, i->b, AD / BD, ptxi_num_nan2_f64(r[l], a[l], b[l]))
F64(rcp_f64, i->a, i->a, 1.0 / AD, ptxi_num_nan1_f64(r[l], a[l]))
F64(sqrt_f64, i->a, i->a, __builtin_sqrt(AD), ptxi_num_nan1_f64(r[l], a[l]))
#define DIALECT_F64(name) F64(name##_f64, i->a, i->a, ptxi_num_##name##_f64(AD), ptxi_num_nan1_f64(r[l], a[l]))
DIALECT_F64(sin)
DIALECT_F64(lg2)
DIALECT_F64(ex2)
CANONICAL(sin_f32, i->a, i->a, (float)ptxi_num_sin_f64(A))
OP1(neg_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] ^ SIGN_F64)
OP1(abs_f64, uint64_t, uint64_t, AD != AD ? a[l] | PTXI_QUIET_F64 : a[l] & ~SIGN_F64)

/* The sign of a on b: bits. */
OP2(copysign_f32, uint32_t, uint32_t, uint32_t, (a[l] & 0x80000000) | (b[l] & 0x7fffffff))
OP2(copysign_f64, uint64_t, uint64_t, uint64_t, (a[l] & SIGN_F64) | (b[l] & ~SIGN_F64))
