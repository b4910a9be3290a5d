/* PTX ISA, "Floating Point Instructions": add, sub, mul, fma, div, rcp and sqrt with directed rounding or .sat. */
#include "exec/arith/nan_select.h"
#include "exec/arith/f32x2.h"
#include "exec/arith/handler_parts.h"
#include "exec/arith/rounding.h"
#include "num/fma.h"

/* The expressions of operations consist of these macros, where s is ps for f32 and pd for f64. */
#if defined(__AVX512F__)

/* They compute vectors. The rounding is part of the instruction. */
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
#define BROADCAST(s, x) _mm512_set1_##s(x)

/* x with only its sign left where `tiny` is set. */
static inline __m512 flush_where(__mmask16 tiny, __m512 x)
{
    return (__m512)_mm512_mask_and_epi32((__m512i)x, tiny, (__m512i)x, _mm512_set1_epi32(INT32_MIN));
}

static inline __m512 flush(__m512 x)
{
    return flush_where(_mm512_testn_epi32_mask((__m512i)x, _mm512_set1_epi32(0x7f800000)), x);
}

/* ptxi_num_flush_scaled_f32() for vectors. */
static inline __m512 flush_scaled(__m512 r, __m512 scaled)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i scaled_limit = _mm512_set1_epi32(0x0c800000), limit = _mm512_set1_epi32(0x00800000);
    __mmask16 tiny = _mm512_cmplt_epi32_mask(_mm512_and_si512((__m512i)scaled, magnitude), scaled_limit);

    return flush_where(_mm512_mask_cmple_epi32_mask(tiny, _mm512_and_si512((__m512i)r, magnitude), limit), r);
}

enum { VECTORS = PTXI_LANES / 16 };

static inline bool any_subnormal(const uint32_t *a)
{
    enum { SUBNORMAL = 0x20 };
    bool some = false;

    for (int l = 0; l < PTXI_LANES; l += 32)
        some |= !_kortestz_mask16_u8(_mm512_fpclass_ps_mask(A, SUBNORMAL),
                                     _mm512_fpclass_ps_mask(_mm512_load_ps(a + l + 16), SUBNORMAL));
    return some;
}

/* Whether any result is a NaN, or is nonzero with a magnitude of at most 2^-126. Such a result may have been rounded
 * up to 2^-126. */
static inline bool any_nan_or_tiny(const __m512 *x)
{
    __m512i least;
    __mmask16 nan = 0;

    for (int k = 0; k < VECTORS; k++) {
        /* twice the magnitude, minus 1 */
        __m512i v = _mm512_add_epi32(_mm512_add_epi32((__m512i)x[k], (__m512i)x[k]), _mm512_set1_epi32(-1));

        least = k ? _mm512_min_epu32(least, v) : v;
        if (k & 1)
            nan |= _mm512_cmp_ps_mask(x[k - 1], x[k], _CMP_UNORD_Q);
    }
    return !_kortestz_mask16_u8(nan, _mm512_cmplt_epu32_mask(least, _mm512_set1_epi32(0x01000000)));
}

/* PER: number of lanes in a vector. */
#define IN_EACH_MODE(r, l, ...)                                                   \
    enum { PER = 64 / sizeof *r };                                                \
                                                                                  \
    PTXI_IN_ROUNDING(mode, for (int l = 0; l < PTXI_LANES; l += PER) { __VA_ARGS__ })

static inline __m512 saturate_ps(__m512 x)
{
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_setzero_ps()), _mm512_set1_ps(1));
}
#define saturate_pd(x) (x)

/* Masks of the lanes of vectors in which no result is a NaN. */
typedef __mmask16 numbers_ps;
typedef __mmask8 numbers_pd;
#define ALL_NUMBERS_ps(k) _kortestc_mask16_u8(k, k)
#define ALL_NUMBERS_pd(k) _kortestc_mask8_u8(k, k)

/* Computes and stores the results of all lanes, saturated if requested. Returns whether any result is a NaN. r may be
 * a source. */
#define ROUNDED(name, s, t, bits, expr)                                                  \
    ALWAYS_INLINE bool rounded_##name(t *r, const bits *a, const bits *b, const bits *c, \
                                      enum ptxi_rounding mode, bool sat)                 \
    {                                                                                    \
        numbers_##s numbers = (numbers_##s)-1;                                           \
        V_##s previous = V(setzero_##s)();                                               \
                                                                                         \
        (void)a, (void)b, (void)c;                                                       \
        IN_EACH_MODE(r, l,                                                               \
            V_##s x = expr;                                                              \
                                                                                         \
            if (sat)                                                                     \
                x = saturate_##s(x);                                                     \
            V(store_##s)(r + l, x);                                                      \
            if (l == PER)                                                                \
                numbers = V(cmp_##s##_mask)(previous, x, _CMP_ORD_Q);                    \
            else if (l / PER % 2)                                                        \
                numbers = V(mask_cmp_##s##_mask)(numbers, previous, x, _CMP_ORD_Q);      \
            previous = x;)                                                               \
        return !sat && !ALL_NUMBERS_##s(numbers);                                        \
    }
/* Without saturation. */
#define ROUND(name, r, a, b, c, mode) rounded_##name(r, a, b, c, mode, false)
#define IN_ROUNDING(mods, call) call

#else

ALWAYS_INLINE bool store_ps_and_find_nan(float *r, const float *x)
{
    ptxi_copy_lanes(r, (float *)x);
    return ptxi_any_nan_f32(x);
}

ALWAYS_INLINE bool store_pd_and_find_nan(double *r, const double *x)
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
#define BROADCAST(s, x) (x)
#define flush ptxi_num_out_ftz_f32
#define flush_scaled ptxi_num_flush_scaled_f32

/* If the host has no fma, it is computed by integer arithmetic, which takes the rounding as an argument. */
#ifdef PTXI_NUM_HOST_FMA
#define FMA_ps(x, y, z) __builtin_fmaf(x, y, z)
#define FMA_pd(x, y, z) __builtin_fma(x, y, z)
#else
#define FMA_ps(x, y, z) ptxi_num_fma_f32_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#define FMA_pd(x, y, z) ptxi_num_fma_f64_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#endif
_Static_assert((int)PTXI_RN == (int)PTXI_NUM_RN && (int)PTXI_RZ == (int)PTXI_NUM_RZ &&
                   (int)PTXI_RM == (int)PTXI_NUM_RM && (int)PTXI_RP == (int)PTXI_NUM_RP,
               "isa/ and num/ number the roundings alike");

/* Computes and stores the results of all lanes in the host's current rounding mode. Returns whether any result is a
 * NaN. r may be a source.
 *
 * The caller saturates the results after it has restored the rounding mode: next to an fma that flushes, saturation
 * takes about a hundred cycles on some hosts. If sources and results are registers, the function can be inlined:
 * compilers must assume that the change of the rounding mode accesses them. */
#define ROUNDED(name, s, t, bits, expr)                                                  \
    ALWAYS_INLINE bool rounded_##name(t *r, const bits *a, const bits *b, const bits *c, \
                                      enum ptxi_rounding mode)                           \
    {                                                                                    \
        LANE_ARRAY(t, x);                                                                \
                                                                                         \
        (void)a, (void)b, (void)c, (void)mode;                                           \
        FOR_LANES x[l] = (expr);                                                         \
        return store_##s##_and_find_nan(r, x);                                           \
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

/* Flushed sources. A function that does not flush them hides this FLUSHES by one of its own. */
enum { FLUSHES = true };
#define AZ (FLUSHES ? flush(A) : A)
#define BZ (FLUSHES ? flush(B) : B)
#define CZ (FLUSHES ? flush(C) : C)
#define SUBNORMAL_1 any_subnormal(a)
#define SUBNORMAL_2 SUBNORMAL_1 || any_subnormal(b)
#define SUBNORMAL_3 SUBNORMAL_2 || any_subnormal(c)
#define SCALED(x) MUL(ps, x, BROADCAST(ps, PTXI_FTZ_SCALE))
#define ONE(s) BROADCAST(s, 1)

/* Alignment of handlers. Every path through a handler is shorter than this, so a handler is within one page. Some
 * hosts take five times as long if the code before and after a change of the rounding mode is in two pages. */
enum { HANDLER_ALIGNMENT = 1024 };

/* Makes compilers assume that a change of the rounding mode accesses what r points to, even if r is a local buffer. */
#define ESCAPE(r) __asm__ volatile("" : : "r"(r) : "memory")

/* NaNs are made canonical, and results saturated, after rounding. */
#define ROUNDING_OP_F32(name, expr)                                                                          \
    ROUNDED(name, ps, float, uint32_t, expr)                                                                 \
    ROUNDING_HANDLER(name, name, IN_ROUNDING)
#if defined(__AVX512F__)
/* The part that needs a buffer is a separate function, so that the handler itself needs no stack frame. */
#define ROUNDING_SLOW_PATH(name, function)                                                                          \
    ALWAYS_INLINE void name##_compute(float *r, const struct ptxi_insn *i, struct ptxi_warp *w)                     \
    {                                                                                                               \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);                   \
                                                                                                                    \
        if (__builtin_expect(rounded_##function(r, a, b, c, ptxi_rounding_of(i->mods), i->mods & PTXI_MOD_SAT), 0)) \
            FOR_LANES r[l] = ptxi_num_f32(ptxi_num_canon_f32(r[l]));                                                \
    }                                                                                                               \
    HANDLER_PART(OUT_OF_LINE, name##_slow)                                                                          \
    {                                                                                                               \
        LANE_ARRAY(float, r);                                                                                       \
                                                                                                                    \
        name##_compute(r, i, w);                                                                                    \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                                  \
        NEXT;                                                                                                       \
    }
#define ROUNDING_HANDLER(name, function, how)                 \
    ROUNDING_SLOW_PATH(name, function)                        \
    OP( name )                                                \
    {                                                         \
        if (__builtin_expect(w->active != PTXI_ALL_LANES, 0)) \
            return name##_slow(i, w);                         \
        name##_compute(PTXI_SLOT(w, i->d), i, w);             \
        NEXT;                                                 \
    }
#else
#define ROUNDING_HANDLER(name, function, how)                                                     \
    __attribute__((aligned(HANDLER_ALIGNMENT))) OP( name )                                        \
    {                                                                                             \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        RESULT_LANES(float, r);                                                                   \
        bool nan;                                                                                 \
                                                                                                  \
        ESCAPE(r);                                                                                \
        how(i->mods, nan = ROUND(function, r, a, b, c, ptxi_rounding_of(i->mods)));               \
        if (i->mods & PTXI_MOD_SAT)                                                               \
            ptxi_clamp_f32(r, r, 0.0f, 1.0f);                                                     \
        else if (__builtin_expect(nan, 0))                                                        \
            FOR_LANES r[l] = ptxi_num_f32(ptxi_num_canon_f32(r[l]));                              \
        NEXT_WITH_RESULT(r);                                                                      \
    }
#endif

/* The same for f32x2, as for two registers. The sources may be copies, so the arithmetic is in a separate function. */
#define ROUNDING_OP_F32X2(name, of_one, slot_c, how)                                                              \
    PTXI_ROUNDING_FUNCTION void rounded_##name(float *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, \
                                               enum ptxi_rounding mode)                                           \
    {                                                                                                             \
        ROUND(of_one, r, a, b, c, mode);                                                                          \
    }                                                                                                             \
    OP( name )                                                                                                    \
    {                                                                                                             \
        _Alignas(64) uint64_t live[3][PTXI_LANES];                                                                \
        const ptxi_float_bits *a = read_f32x2(live[0], PTXI_SLOT(w, i->a), w->active);                            \
        const ptxi_float_bits *b = read_f32x2(live[1], PTXI_SLOT(w, i->b), w->active);                            \
        const ptxi_float_bits *c = read_f32x2(live[2], PTXI_SLOT(w, slot_c), w->active);                          \
        _Alignas(64) float f[2 * PTXI_LANES];                                                                     \
        RESULT_LANES(uint64_t, results);                                                                          \
        ptxi_float_bits *r = (ptxi_float_bits *)results;                                                          \
                                                                                                                  \
        for (int k = 0; k < 2 * PTXI_LANES; k += PTXI_LANES)                                                      \
            how(i->mods, rounded_##name(f + k, a + k, b + k, c + k, ptxi_rounding_of(i->mods)));                  \
        FOR_F32X2 r[l] = ptxi_num_canon_f32(f[l]);                                                                \
        NEXT_WITH_RESULT(results);                                                                                \
    }
#define ROUNDING_OPS(op, x, slot_c, expr) \
    ROUNDING_OP_F32(op##_f32##x, expr)    \
    ROUNDING_OP_F32X2(op##_f32x2##x, op##_f32##x, slot_c, IN_ROUNDING)

/* Operations with .ftz. subnormal: whether any source is to be flushed. expr: the result before it is flushed.
 * scaled: 2^24 times the same result, for hosts that do not flush. FLUSHING_EXACT is for operations with exact
 * subnormal results. */
#define FLUSHING_EXACT(op, subnormal, expr) ROUNDING_OP_F32(op##_f32_ftz_x, flush(expr))
#if defined(PTXI_HOST_FLUSHES)
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) ROUNDING_HANDLER(op##_f32_ftz_x, op##_f32_x, IN_FLUSHING)
#undef FLUSHING_EXACT
#define FLUSHING_EXACT(op, subnormal, expr) FLUSHING_OP_F32(op, subnormal, expr, )
#define FLUSHING_OP_F32X2(op, slot_c) ROUNDING_OP_F32X2(op##_f32x2_ftz_x, op##_f32_x, slot_c, IN_FLUSHING)
#elif defined(__AVX512F__)
/* _unflushed: computes and stores the results of all lanes. Returns false, and stores nothing, if a source is
 * subnormal, if a result is a NaN, or if a result is subnormal or may have been before rounding. */
#define FLUSHING_BY(op, subnormal, expr, exact)                                                            \
    ALWAYS_INLINE bool op##_unflushed(float *r, const uint32_t *a, const uint32_t *b, const uint32_t *c,   \
                                      enum ptxi_rounding mode, bool sat)                                   \
    {                                                                                                      \
        enum { FLUSHES = false };                                                                          \
        __m512 x[VECTORS];                                                                                 \
                                                                                                           \
        (void)b, (void)c;                                                                                  \
        if (__builtin_expect(subnormal, 0))                                                                \
            return false;                                                                                  \
        IN_EACH_MODE(r, l, x[l / PER] = expr;)                                                             \
        if (__builtin_expect(any_nan_or_tiny(x), 0))                                                       \
            return false;                                                                                  \
        for (int k = 0; k < VECTORS; k++)                                                                  \
            _mm512_store_ps(r + 16 * k, sat ? saturate_ps(x[k]) : x[k]);                                   \
        return true;                                                                                       \
    }                                                                                                      \
    ROUNDED(op##_f32_ftz_x, ps, float, uint32_t, exact)                                                    \
    ROUNDING_SLOW_PATH(op##_f32_ftz_x, op##_f32_ftz_x)                                                     \
    OP( op##_f32_ftz_x )                                                                                   \
    {                                                                                                      \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1) &&                                            \
            op##_unflushed(PTXI_SLOT(w, i->d), PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), PTXI_SLOT(w, i->c), \
                           ptxi_rounding_of(i->mods), i->mods & PTXI_MOD_SAT))                             \
            NEXT;                                                                                          \
        return op##_f32_ftz_x_slow(i, w);                                                                  \
    }
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) FLUSHING_BY(op, subnormal, expr, flush_scaled(expr, scaled))
#undef FLUSHING_EXACT
#define FLUSHING_EXACT(op, subnormal, expr) FLUSHING_BY(op, subnormal, expr, flush(expr))
#else
#define FLUSHING_OP_F32(op, subnormal, expr, scaled) ROUNDING_OP_F32(op##_f32_ftz_x, flush_scaled(expr, scaled))
#endif
#ifndef FLUSHING_OP_F32X2
#define FLUSHING_OP_F32X2(op, slot_c) ROUNDING_OP_F32X2(op##_f32x2_ftz_x, op##_f32_ftz_x, slot_c, IN_ROUNDING)
#endif

ROUNDING_OPS(add, _x, i->b, ADD(ps, A, B))
ROUNDING_OPS(sub, _x, i->b, SUB(ps, A, B))
ROUNDING_OPS(mul, _x, i->b, MUL(ps, A, B))
ROUNDING_OPS(fma, _x, i->c, FMA(ps, A, B, C))
ROUNDING_OP_F32(div_f32_x, DIV(ps, A, B))
ROUNDING_OP_F32(rcp_f32_x, DIV(ps, ONE(ps), A))
ROUNDING_OP_F32(sqrt_f32_x, SQRT(ps, A))
FLUSHING_EXACT(add, SUBNORMAL_2, ADD(ps, AZ, BZ)) /* subnormal sums are exact */
FLUSHING_EXACT(sub, SUBNORMAL_2, SUB(ps, AZ, BZ))
FLUSHING_OP_F32(mul, SUBNORMAL_2, MUL(ps, AZ, BZ), MUL(ps, SCALED(AZ), BZ))
FLUSHING_OP_F32(fma, SUBNORMAL_3, FMA(ps, AZ, BZ, CZ), FMA(ps, SCALED(AZ), BZ, SCALED(CZ)))
FLUSHING_OP_F32(div, SUBNORMAL_2, DIV(ps, AZ, BZ), DIV(ps, SCALED(AZ), BZ))
FLUSHING_OP_F32(rcp, SUBNORMAL_1, DIV(ps, ONE(ps), AZ), DIV(ps, BROADCAST(ps, PTXI_FTZ_SCALE), AZ))
FLUSHING_EXACT(sqrt, SUBNORMAL_1, SQRT(ps, AZ))
FLUSHING_OP_F32X2(add, i->b)
FLUSHING_OP_F32X2(sub, i->b)
FLUSHING_OP_F32X2(mul, i->b)
FLUSHING_OP_F32X2(fma, i->c)

/* result: the result if r[l] is a NaN. It depends on the sources, so results are stored last to a slot that is a
 * source. */
#if defined(__AVX512F__)
#define ROUNDING_OP_F64(name, expr, result)                                                                   \
    ROUNDED(name, pd, double, uint64_t, expr)                                                                 \
    ALWAYS_INLINE void name##_compute(double *r, const struct ptxi_insn *i, struct ptxi_warp *w)              \
    {                                                                                                         \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);             \
                                                                                                              \
        if (__builtin_expect(ROUND(name, r, a, b, c, ptxi_rounding_of(i->mods)), 0))                          \
            FOR_LANES r[l] = ptxi_num_f64(result);                                                            \
    }                                                                                                         \
    HANDLER_PART(OUT_OF_LINE, name##_slow)                                                                    \
    {                                                                                                         \
        LANE_ARRAY(double, r);                                                                                \
                                                                                                              \
        name##_compute(r, i, w);                                                                              \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                                            \
        NEXT;                                                                                                 \
    }                                                                                                         \
    OP( name )                                                                                                \
    {                                                                                                         \
        if (__builtin_expect(w->active != PTXI_ALL_LANES, 0) || i->d == i->a || i->d == i->b || i->d == i->c) \
            return name##_slow(i, w);                                                                         \
        name##_compute(PTXI_SLOT(w, i->d), i, w);                                                             \
        NEXT;                                                                                                 \
    }
#else
#define ROUNDING_OP_F64(name, expr, result)                                                       \
    ROUNDED(name, pd, double, uint64_t, expr)                                                     \
    __attribute__((aligned(HANDLER_ALIGNMENT))) OP( name )                                        \
    {                                                                                             \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        LANE_ARRAY(double, buffer);                                                               \
        bool apart = w->active == PTXI_ALL_LANES && i->d != i->a && i->d != i->b && i->d != i->c; \
        double *r = __builtin_assume_aligned(apart ? (double *)PTXI_SLOT(w, i->d) : buffer, 64);  \
        bool nan;                                                                                 \
                                                                                                  \
        ESCAPE(r);                                                                                \
        IN_ROUNDING(i->mods, nan = ROUND(name, r, a, b, c, ptxi_rounding_of(i->mods)));           \
        if (__builtin_expect(nan, 0))                                                             \
            FOR_LANES r[l] = ptxi_num_f64(result);                                                \
        if (!apart)                                                                               \
            write_buffer(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);                            \
        NEXT;                                                                                     \
    }
#endif
ROUNDING_OP_F64(add_f64_x, ADD(pd, AD, BD), ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(sub_f64_x, SUB(pd, AD, BD), ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(mul_f64_x, MUL(pd, AD, BD), ptxi_nan_select2(i->mods, r[l], a[l], b[l]))
ROUNDING_OP_F64(fma_f64_x, FMA(pd, AD, BD, CD), ptxi_nan_select3(i->mods, r[l], a[l], b[l], c[l]))
ROUNDING_OP_F64(div_f64_x, DIV(pd, AD, BD), ptxi_num_nan2_f64(r[l], a[l], b[l]))
ROUNDING_OP_F64(rcp_f64_x, DIV(pd, ONE(pd), AD), ptxi_num_nan1_f64(r[l], a[l]))
ROUNDING_OP_F64(sqrt_f64_x, SQRT(pd, AD), ptxi_num_nan1_f64(r[l], a[l]))
