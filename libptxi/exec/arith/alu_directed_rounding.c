/* PTX ISA, "Floating Point Instructions": add, sub, mul, fma, div, rcp and sqrt with directed rounding or .sat. */
#include "exec/arith/nan_select.h"
#include "exec/arith/f32x2.h"
#include "exec/arith/rounding.h"
#include "num/fma.h"

/* Expressions are made of these, s being ps for f32 and pd for f64. */
#if defined(__AVX512F__)

/* Vectors; the rounding is part of the instruction. */
#define A _mm512_load_ps(a + l)
#define B _mm512_load_ps(b + l)
#define C _mm512_load_ps(c + l)
#define AD _mm512_load_pd(a + l)
#define BD _mm512_load_pd(b + l)
#define CD _mm512_load_pd(c + l)
#define ADD(s, x, y) _mm512_add_round_##s(x, y, ROUNDING)
#define SUB(s, x, y) _mm512_sub_round_##s(x, y, ROUNDING)
#define MUL(s, x, y) _mm512_mul_round_##s(x, y, ROUNDING)
#define DIV(s, x, y) _mm512_div_round_##s(x, y, ROUNDING)
#define FMA(s, x, y, z) _mm512_fmadd_round_##s(x, y, z, ROUNDING)
#define SQRT(s, x) _mm512_sqrt_round_##s(x, ROUNDING)
#define SAME(s, x) _mm512_set1_##s(x)

/* The sign alone where `gone` is set. */
static inline __m512 flushed_where(__mmask16 gone, __m512 x)
{
    return (__m512)_mm512_mask_and_epi32((__m512i)x, gone, (__m512i)x, _mm512_set1_epi32(INT32_MIN));
}

static inline __m512 flushed(__m512 x)
{
    return flushed_where(_mm512_testn_epi32_mask((__m512i)x, _mm512_set1_epi32(0x7f800000)), x);
}

/* See ptxi_num_flush_scaled_f32(). */
static inline __m512 flushed_scaled(__m512 r, __m512 scaled)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __mmask16 tiny = _mm512_cmplt_epi32_mask(_mm512_and_si512((__m512i)scaled, magnitude), _mm512_set1_epi32(0x0c800000));

    return flushed_where(_mm512_mask_cmple_epi32_mask(tiny, _mm512_and_si512((__m512i)r, magnitude), _mm512_set1_epi32(0x00800000)), r);
}

enum { VECTORS = PTXI_LANES / 16 };

static inline bool any_subnormal(const uint32_t *a)
{
    enum { SUBNORMAL = 0x20 };
    bool some = false;

    for (int l = 0; l < PTXI_LANES; l += 32)
        some |= !_kortestz_mask16_u8(_mm512_fpclass_ps_mask(A, SUBNORMAL), _mm512_fpclass_ps_mask(_mm512_load_ps(a + l + 16), SUBNORMAL));
    return some;
}

/* Whether a result is a NaN, or has a magnitude up to 2^-126, to which it may have been rounded up, but is not 0. */
static inline bool any_nan_or_least(const __m512 *x)
{
    __m512i least;
    __mmask16 nan = 0;

    for (int k = 0; k < VECTORS; k++) {
        __m512i v = _mm512_add_epi32(_mm512_add_epi32((__m512i)x[k], (__m512i)x[k]), _mm512_set1_epi32(-1)); /* twice the magnitude, less 1 */

        least = k ? _mm512_min_epu32(least, v) : v;
        if (k & 1)
            nan |= _mm512_cmp_ps_mask(x[k - 1], x[k], _CMP_UNORD_Q);
    }
    return !_kortestz_mask16_u8(nan, _mm512_cmplt_epu32_mask(least, _mm512_set1_epi32(0x01000000)));
}

/* PER: the lanes of a vector. */
#define IN_EACH_MODE(r, l, ...)                                                   \
    enum { PER = 64 / sizeof *r };                                                \
                                                                                  \
    PTXI_IN_ROUNDING(mode, for (int l = 0; l < PTXI_LANES; l += PER) { __VA_ARGS__ })

static inline __m512 saturated_ps(__m512 x)
{
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_setzero_ps()), _mm512_set1_ps(1));
}
#define saturated_pd(x) (x)

/* The lanes of vectors in which no result is a NaN. */
typedef __mmask16 numbers_ps;
typedef __mmask8 numbers_pd;
#define ALL_NUMBERS_ps(k) _kortestc_mask16_u8(k, k)
#define ALL_NUMBERS_pd(k) _kortestc_mask8_u8(k, k)

/* Stores the results of all lanes, saturated if that is wanted, and returns whether there is a NaN among them. r may be a source. */
#define ROUNDED(name, s, t, bits, expr)                                                                                \
    static inline __attribute__((always_inline)) bool rounded_##name(t *r, const bits *a, const bits *b, const bits *c, \
                                                                     enum ptxi_rounding mode, bool sat)                \
    {                                                                                                                  \
        numbers_##s numbers = (numbers_##s)-1;                                                                         \
        V_##s before = V(setzero_##s)();                                                                               \
                                                                                                                       \
        (void)a, (void)b, (void)c;                                                                                     \
        IN_EACH_MODE(r, l,                                                                                             \
            V_##s x = expr;                                                                                            \
                                                                                                                       \
            if (sat)                                                                                                   \
                x = saturated_##s(x);                                                                                  \
            V(store_##s)(r + l, x);                                                                                    \
            if (l == PER)                                                                                              \
                numbers = V(cmp_##s##_mask)(before, x, _CMP_ORD_Q);                                                    \
            else if (l / PER % 2)                                                                                      \
                numbers = V(mask_cmp_##s##_mask)(numbers, before, x, _CMP_ORD_Q);                                      \
            before = x;)                                                                                               \
        return !sat && !ALL_NUMBERS_##s(numbers);                                                                      \
    }
/* Not saturated. */
#define ROUND(name, r, a, b, c, mode) rounded_##name(r, a, b, c, mode, false)
#define IN_ROUNDING(mods, call) call

#else

static inline __attribute__((always_inline)) bool stored_ps(float *r, const float *x)
{
    ptxi_copy_lanes(r, (float *)x);
    return ptxi_any_nan_f32(x);
}

static inline __attribute__((always_inline)) bool stored_pd(double *r, const double *x)
{
    ptxi_copy_lanes(r, (double *)x);
    return ptxi_any_nan_f64(x);
}

#define A ptxi_num_f32(a[l])
#define B ptxi_num_f32(b[l])
#define C ptxi_num_f32(c[l])
#define AD ptxi_num_f64(a[l])
#define BD ptxi_num_f64(b[l])
#define CD ptxi_num_f64(c[l])
#define ADD(s, x, y) ((x) + (y))
#define SUB(s, x, y) ((x) - (y))
#define MUL(s, x, y) ((x) * (y))
#define DIV(s, x, y) ((x) / (y))
#define FMA(s, x, y, z) FMA_##s(x, y, z)
#define SQRT(s, x) SQRT_##s(x)
#define SQRT_ps __builtin_sqrtf
#define SQRT_pd __builtin_sqrt
#define SAME(s, x) (x)
#define flushed ptxi_num_out_ftz_f32
#define flushed_scaled ptxi_num_flush_scaled_f32

/* What the host cannot fuse is made of integers, which need the rounding's name. */
#ifdef PTXI_NUM_HOST_FMA
#define FMA_ps(x, y, z) __builtin_fmaf(x, y, z)
#define FMA_pd(x, y, z) __builtin_fma(x, y, z)
#else
#define FMA_ps(x, y, z) ptxi_num_fma_f32_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#define FMA_pd(x, y, z) ptxi_num_fma_f64_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#endif
_Static_assert((int)PTXI_RN == (int)PTXI_NUM_RN && (int)PTXI_RZ == (int)PTXI_NUM_RZ && (int)PTXI_RM == (int)PTXI_NUM_RM &&
                   (int)PTXI_RP == (int)PTXI_NUM_RP,
               "one numbering of roundings");

/* Stores the results of all lanes, computed in the rounding that is set, and returns whether there is a NaN among them. They are saturated by who
 * calls, in the usual rounding: next to an fma that flushes that has been seen to take a hundred cycles. r may be a source. Where sources and results
 * are registers, which the change of the rounding may touch for all that compilers know, this need not be a function of its own. */
#define ROUNDED(name, s, t, bits, expr)                                                                                \
    static inline __attribute__((always_inline)) bool rounded_##name(t *r, const bits *a, const bits *b, const bits *c, \
                                                                     enum ptxi_rounding mode)                          \
    {                                                                                                                  \
        LANE_ARRAY(t, x);                                                                                              \
                                                                                                                       \
        (void)a, (void)b, (void)c, (void)mode;                                                                         \
        FOR_LANES x[l] = (expr);                                                                                       \
        return stored_##s(r, x);                                                                                       \
    }
#define ROUND(name, r, a, b, c, mode) rounded_##name(r, a, b, c, mode)
#define IN_ROUNDING(mods, call)          \
    do {                                 \
        ptxi_rounding_begin(mods);       \
        call;                            \
        ptxi_rounding_end(mods);         \
    } while (0)
#define IN_FLUSHING(mods, call)                                          \
    do {                                                                 \
        ptxi_rounding_set(ptxi_rounding_of(mods) + PTXI_FLUSHING);       \
        call;                                                            \
        ptxi_rounding_set(PTXI_RN);                                      \
    } while (0)

#endif

/* Sources as they are where nothing is to be flushed. */
enum { FLUSHES = true };
#define AZ (FLUSHES ? flushed(A) : A)
#define BZ (FLUSHES ? flushed(B) : B)
#define CZ (FLUSHES ? flushed(C) : C)
#define SUBNORMAL_1 any_subnormal(a)
#define SUBNORMAL_2 SUBNORMAL_1 || any_subnormal(b)
#define SUBNORMAL_3 SUBNORMAL_2 || any_subnormal(c)
#define SCALED(x) MUL(ps, x, SAME(ps, PTXI_FTZ_SCALE))
#define ONE(s) SAME(s, 1)

/* Hosts have been seen to take five times as long where code on either side of a change of the rounding is in two pages. Every way through a
 * handler is shorter than this. */
enum { IN_ONE_PAGE = 1024 };

/* From here on the change of the rounding may touch what r points to, even if it is a buffer. */
#define SHOW(r) __asm__ volatile("" : : "r"(r) : "memory")

/* NaN and saturation come after rounding. */
#define ROUNDING_OP_F32(name, expr)                                                                          \
    ROUNDED(name, ps, float, uint32_t, expr)                                                                 \
    ROUNDING_HANDLER(name, name, IN_ROUNDING)
#if defined(__AVX512F__)
/* Handlers that need no buffer have no frame. */
#define ROUNDING_SOME(name, function)                                                                        \
    static inline __attribute__((always_inline)) void name##_into(float *r, const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                        \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);            \
                                                                                                             \
        if (__builtin_expect(rounded_##function(r, a, b, c, ptxi_rounding_of(i->mods), i->mods & PTXI_MOD_SAT), 0)) \
            FOR_LANES r[l] = ptxi_num_f32(ptxi_num_canon_f32(r[l]));                                         \
    }                                                                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                        \
        LANE_ARRAY(float, r);                                                                                \
                                                                                                             \
        name##_into(r, i, w);                                                                                \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                           \
        NEXT;                                                                                                \
    }
#define ROUNDING_HANDLER(name, function, how)                                                                \
    ROUNDING_SOME(name, function)                                                                            \
    OP( name )                                                                                               \
    {                                                                                                        \
        if (__builtin_expect(w->active != PTXI_ALL_LANES, 0))                                                \
            return name##_some(i, w);                                                                        \
        name##_into(PTXI_SLOT(w, i->d), i, w);                                                               \
        NEXT;                                                                                                \
    }
#else
#define ROUNDING_HANDLER(name, function, how)                                                                \
    __attribute__((aligned(IN_ONE_PAGE))) OP( name )                                                         \
    {                                                                                                        \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);            \
        RESULT_LANES(float, r);                                                                              \
        bool nan;                                                                                            \
                                                                                                             \
        SHOW(r);                                                                                             \
        how(i->mods, nan = ROUND(function, r, a, b, c, ptxi_rounding_of(i->mods)));                          \
        if (i->mods & PTXI_MOD_SAT)                                                                          \
            ptxi_clamp_f32(r, r, 0.0f, 1.0f);                                                                \
        else if (__builtin_expect(nan, 0))                                                                   \
            FOR_LANES r[l] = ptxi_num_f32(ptxi_num_canon_f32(r[l]));                                         \
        NEXT_WITH_RESULT(r);                                                                                 \
    }
#endif

/* The same of pairs, as of two registers. These may be copies, so this is a function of its own. */
#define ROUNDING_PAIRS(name, of_one, slot_c, how)                                                                \
    PTXI_ROUNDED void rounded_##name(float *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, enum ptxi_rounding mode) \
    {                                                                                                            \
        ROUND(of_one, r, a, b, c, mode);                                                                         \
    }                                                                                                            \
    OP( name )                                                                                               \
    {                                                                                                        \
        _Alignas(64) uint64_t live[3][PTXI_LANES];                                                           \
        const ptxi_float_bits *a = live_pairs(live[0], PTXI_SLOT(w, i->a), w->active);                       \
        const ptxi_float_bits *b = live_pairs(live[1], PTXI_SLOT(w, i->b), w->active);                       \
        const ptxi_float_bits *c = live_pairs(live[2], PTXI_SLOT(w, slot_c), w->active);                     \
        _Alignas(64) float f[2 * PTXI_LANES];                                                                \
        RESULT_LANES(uint64_t, results);                                                                     \
        ptxi_float_bits *r = (ptxi_float_bits *)results;                                                     \
                                                                                                             \
        for (int k = 0; k < 2 * PTXI_LANES; k += PTXI_LANES)                                                 \
            how(i->mods, rounded_##name(f + k, a + k, b + k, c + k, ptxi_rounding_of(i->mods)));               \
        FOR_PAIRS r[l] = ptxi_num_canon_f32(f[l]);                                                           \
        NEXT_WITH_RESULT(results);                                                                           \
    }
#define ROUNDING_BOTH(op, x, slot_c, expr) ROUNDING_OP_F32(op##_f32##x, expr) ROUNDING_PAIRS(op##_f32x2##x, op##_f32##x, slot_c, IN_ROUNDING)

/* With .ftz: where the host does not flush, by this expression, and 2^24 times the same; and whether there is a source to be flushed. */
#define FLUSHING_EXACT(op, subnormal, expr) ROUNDING_OP_F32(op##_f32_ftz_x, flushed(expr))
#if defined(PTXI_HOST_FLUSHES)
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) ROUNDING_HANDLER(op##_f32_ftz_x, op##_f32_x, IN_FLUSHING)
#undef FLUSHING_EXACT
#define FLUSHING_EXACT(op, subnormal, expr) FLUSHING_OP_F32(op, subnormal, expr, )
#define FLUSHING_PAIRS(op, slot_c) ROUNDING_PAIRS(op##_f32x2_ftz_x, op##_f32_x, slot_c, IN_FLUSHING)
#elif defined(__AVX512F__)
/* _unflushed: stores the results of all lanes, unless a source is subnormal, or a result is or may have been before it was rounded, or is a NaN. */
#define FLUSHING_BY(op, subnormal, expr, exact)                                                                              \
    static inline __attribute__((always_inline)) bool op##_unflushed(float *r, const uint32_t *a, const uint32_t *b,         \
                                                                     const uint32_t *c, enum ptxi_rounding mode, bool sat)   \
    {                                                                                                                        \
        enum { FLUSHES = false };                                                                                            \
        __m512 x[VECTORS];                                                                                                   \
                                                                                                                             \
        (void)b, (void)c;                                                                                                    \
        if (__builtin_expect(subnormal, 0))                                                                                  \
            return false;                                                                                                    \
        IN_EACH_MODE(r, l, x[l / PER] = expr;)                                                                               \
        if (__builtin_expect(any_nan_or_least(x), 0))                                                                        \
            return false;                                                                                                    \
        for (int k = 0; k < VECTORS; k++)                                                                                    \
            _mm512_store_ps(r + 16 * k, sat ? saturated_ps(x[k]) : x[k]);                                                    \
        return true;                                                                                                         \
    }                                                                                                                        \
    ROUNDED(op##_f32_ftz_x, ps, float, uint32_t, exact)                                                                      \
    ROUNDING_SOME(op##_f32_ftz_x, op##_f32_ftz_x)                                                                            \
    OP( op##_f32_ftz_x )                                                                                                     \
    {                                                                                                                        \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1) &&                                                              \
            op##_unflushed(PTXI_SLOT(w, i->d), PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), PTXI_SLOT(w, i->c),                    \
                           ptxi_rounding_of(i->mods), i->mods & PTXI_MOD_SAT))                                               \
            NEXT;                                                                                                            \
        return op##_f32_ftz_x_some(i, w);                                                                                    \
    }
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) FLUSHING_BY(op, subnormal, expr, flushed_scaled(expr, scaled))
#undef FLUSHING_EXACT
#define FLUSHING_EXACT(op, subnormal, expr) FLUSHING_BY(op, subnormal, expr, flushed(expr))
#else
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) ROUNDING_OP_F32(op##_f32_ftz_x, flushed_scaled(expr, scaled))
#endif
#ifndef FLUSHING_PAIRS
#define FLUSHING_PAIRS(op, slot_c) ROUNDING_PAIRS(op##_f32x2_ftz_x, op##_f32_ftz_x, slot_c, IN_ROUNDING)
#endif

ROUNDING_BOTH(add, _x, i->b, ADD(ps, A, B))
ROUNDING_BOTH(sub, _x, i->b, SUB(ps, A, B))
ROUNDING_BOTH(mul, _x, i->b, MUL(ps, A, B))
ROUNDING_BOTH(fma, _x, i->c, FMA(ps, A, B, C))
ROUNDING_OP_F32(div_f32_x, DIV(ps, A, B))
ROUNDING_OP_F32(rcp_f32_x, DIV(ps, ONE(ps), A))
ROUNDING_OP_F32(sqrt_f32_x, SQRT(ps, A))
FLUSHING_EXACT(add, SUBNORMAL_2, ADD(ps, AZ, BZ)) /* subnormal sums are exact */
FLUSHING_EXACT(sub, SUBNORMAL_2, SUB(ps, AZ, BZ))
FLUSHING_OP_F32(mul, SUBNORMAL_2, MUL(ps, AZ, BZ), MUL(ps, SCALED(AZ), BZ))
FLUSHING_OP_F32(fma, SUBNORMAL_3, FMA(ps, AZ, BZ, CZ), FMA(ps, SCALED(AZ), BZ, SCALED(CZ)))
FLUSHING_OP_F32(div, SUBNORMAL_2, DIV(ps, AZ, BZ), DIV(ps, SCALED(AZ), BZ))
FLUSHING_OP_F32(rcp, SUBNORMAL_1, DIV(ps, ONE(ps), AZ), DIV(ps, SAME(ps, PTXI_FTZ_SCALE), AZ))
FLUSHING_EXACT(sqrt, SUBNORMAL_1, SQRT(ps, AZ))
FLUSHING_PAIRS(add, i->b)
FLUSHING_PAIRS(sub, i->b)
FLUSHING_PAIRS(mul, i->b)
FLUSHING_PAIRS(fma, i->c)

/* Which NaN comes out of NaNs depends on the operands: `result`, in terms of r[l] too. So results go to a slot that is a source last. */
#if defined(__AVX512F__)
#define ROUNDING_OP_F64(name, expr, result)                                                                  \
    ROUNDED(name, pd, double, uint64_t, expr)                                                                \
    static inline __attribute__((always_inline)) void name##_into(double *r, const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                        \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);            \
                                                                                                             \
        if (__builtin_expect(ROUND(name, r, a, b, c, ptxi_rounding_of(i->mods)), 0))                         \
            FOR_LANES r[l] = ptxi_num_f64(result);                                                           \
    }                                                                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                        \
        LANE_ARRAY(double, r);                                                                               \
                                                                                                             \
        name##_into(r, i, w);                                                                                \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                           \
        NEXT;                                                                                                \
    }                                                                                                        \
    OP( name )                                                                                               \
    {                                                                                                        \
        if (__builtin_expect(w->active != PTXI_ALL_LANES, 0) || i->d == i->a || i->d == i->b || i->d == i->c) \
            return name##_some(i, w);                                                                        \
        name##_into(PTXI_SLOT(w, i->d), i, w);                                                               \
        NEXT;                                                                                                \
    }
#else
#define ROUNDING_OP_F64(name, expr, result)                                                                  \
    ROUNDED(name, pd, double, uint64_t, expr)                                                                \
    __attribute__((aligned(IN_ONE_PAGE))) OP( name )                                                         \
    {                                                                                                        \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);            \
        LANE_ARRAY(double, buffer);                                                                          \
        bool apart = w->active == PTXI_ALL_LANES && i->d != i->a && i->d != i->b && i->d != i->c;            \
        double *r = __builtin_assume_aligned(apart ? (double *)PTXI_SLOT(w, i->d) : buffer, 64);             \
        bool nan;                                                                                            \
                                                                                                             \
        SHOW(r);                                                                                             \
        IN_ROUNDING(i->mods, nan = ROUND(name, r, a, b, c, ptxi_rounding_of(i->mods)));                      \
        if (__builtin_expect(nan, 0))                                                                        \
            FOR_LANES r[l] = ptxi_num_f64(result);                                                           \
        if (!apart)                                                                                          \
            write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                       \
        NEXT;                                                                                                \
    }
#endif
ROUNDING_OP_F64(add_f64_x, ADD(pd, AD, BD), ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(sub_f64_x, SUB(pd, AD, BD), ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(mul_f64_x, MUL(pd, AD, BD), ptxi_nan_of_two(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(fma_f64_x, FMA(pd, AD, BD, CD), ptxi_nan_of_three(i->mods, r[l], a[l], b[l], c[l]))
ROUNDING_OP_F64(div_f64_x, DIV(pd, AD, BD), ptxi_num_nan2_f64(r[l], a[l], b[l]))
ROUNDING_OP_F64(rcp_f64_x, DIV(pd, ONE(pd), AD), ptxi_num_nan1_f64(r[l], a[l]))
ROUNDING_OP_F64(sqrt_f64_x, SQRT(pd, AD), ptxi_num_nan1_f64(r[l], a[l]))
