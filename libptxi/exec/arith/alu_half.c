/* PTX ISA, "Half Precision Floating Point Instructions". All have one rounding; .ftz, .sat, .relu, .NaN and .oob are read from mods,
 * once for all lanes. */
#include "exec/arith/convert.h"
#include "exec/arith/f16_view.h"

typedef const struct ptxi_insn *lanes_function(const struct ptxi_insn *i, struct ptxi_warp *w, int n);
#define LANES_FUNCTION static __attribute__((noinline)) const struct ptxi_insn *

/* A source. In lanes that are off an integer may rest, which as a float is subnormal, and hosts compute slowly with those: `copy`
 * then has zeros instead. */
static __attribute__((noinline)) const uint16_t *copy_active(const uint16_t *a, uint16_t *copy, int n, ptxi_lanes on)
{
    memset(copy, 0, HALVES_MAX * sizeof *copy);
    if (n == PTXI_LANES)
        ptxi_merge_16(copy, a, on);
    else
        ptxi_merge_32(copy, a, on);
    return copy;
}

static inline const uint16_t *source(const struct ptxi_warp *w, uint16_t slot, uint16_t *copy, int n)
{
    const uint16_t *a = PTXI_SLOT(w, slot);

    return __builtin_expect(w->active == PTXI_ALL_LANES, 1) ? a : copy_active(a, copy, n, w->active);
}

/* Results after rounding. */
static __attribute__((noinline)) void limit(uint16_t *r, unsigned mods, int n, uint16_t inf)
{
    if (mods & PTXI_MOD_SAT) /* of f16 only */
        FOR_HALVES(n) r[l] = ptxi_num_sat_f16(ptxi_num_canon_half(r[l], ptxi_num_f16.inf));
    else if (mods & PTXI_MOD_RELU)
        FOR_HALVES(n) r[l] = ptxi_num_relu_half(ptxi_num_canon_half(r[l], inf));
    else
        FOR_HALVES(n) r[l] = ptxi_num_canon_half(r[l], inf);
}

/* Results that are in place if all lanes are on. */
static inline const struct ptxi_insn *finish(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *r, int n)
{
    if (__builtin_expect(w->active != PTXI_ALL_LANES, 0))
        write_halves(i, w, r, n);
    NEXT;
}

static inline const struct ptxi_insn *finish_arithmetic(const struct ptxi_insn *i, struct ptxi_warp *w, uint16_t *r, int n, bool nan,
                                                        uint16_t inf)
{
    if (__builtin_expect(nan, 0) || i->mods & (PTXI_MOD_SAT | PTXI_MOD_RELU))
        limit(r, i->mods, n, inf);
    return finish(i, w, r, n);
}

/* Defines r, where results go. A source may be the same: an element of it must be read before that element is written. */
#define RESULT_HALVES(r)                                                                                     \
    _Alignas(64) uint16_t results[HALVES_MAX];                                                               \
    uint16_t *r = __builtin_assume_aligned(w->active == PTXI_ALL_LANES ? PTXI_SLOT(w, i->d) : results, 64)

/* Besides the sources of arithmetic on n elements. */
#define ELEMENTS(third)                                                                                      \
    _Alignas(64) uint16_t copy[3][HALVES_MAX];                                                               \
    const uint16_t *a = source(w, i->a, copy[0], n), *b = source(w, i->b, copy[1], n), *c = third;           \
    bool nan = false;                                                                                        \
    RESULT_HALVES(r);                                                                                        \
                                                                                                             \
    (void)c
#define NO_THIRD a
#define THIRD source(w, i->c, copy[2], n)

/* --- on n floats --- */
#define EACH(name, expr)                                                                                     \
    static inline void name##_floats(float *s, const float *x, const float *y, const float *z, int n)        \
    {                                                                                                        \
        (void)z;                                                                                             \
        FOR_HALVES(n) s[l] = (expr);                                                                         \
    }
EACH(add, x[l] + y[l])
EACH(sub, x[l] - y[l])
EACH(mul, x[l] * y[l])

/* x * y + z of floats that are f16 or bf16, such that it rounds to those as the exact sum: if that is no float, it is the one of its
 * neighbours with an odd last bit. */
#if defined(__AVX512F__)
static inline void fma_odd(float *s, const float *x, const float *y, const float *z, int n)
{
    for (int l = 0; l < n; l += 16) {
        __m512 a = _mm512_load_ps(x + l), b = _mm512_load_ps(y + l), c = _mm512_load_ps(z + l);
        __m512 down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        __m512 up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));

        _mm512_store_ps(s + l, _mm512_mask_mov_ps(up, odd, down));
    }
}
#define fma_floats fma_odd
#define fma_floats_bf16 fma_odd
#else
EACH(fma, ptxi_num_fma_odd_f32(x[l], y[l], z[l]))
#if defined(PTXI_NUM_HOST_FMA)
PTXI_ROUNDED void rounded_fma(float *restrict s, const float *x, const float *y, const float *z, int n)
{
    FOR_HALVES(n) s[l] = __builtin_fmaf(x[l], y[l], z[l]);
}

/* The products of bf16, unlike those of f16, may be too large or too small for floats. */
static inline void fma_floats_bf16(float *s, const float *x, const float *y, const float *z, int n)
{
    _Alignas(64) float down[HALVES_MAX];

    ptxi_rounding_set(PTXI_RM);
    rounded_fma(down, x, y, z, n);
    ptxi_rounding_set(PTXI_RP);
    rounded_fma(s, x, y, z, n);
    ptxi_rounding_set(PTXI_RN);
    FOR_HALVES(n) s[l] = ptxi_num_bits_f32(down[l]) & 1 ? down[l] : s[l];
}
#else
EACH(fma_bf16_by_integer, ptxi_num_fma_bf16(x[l], y[l], z[l]))
#define fma_floats_bf16 fma_bf16_by_integer_floats
#endif
#endif

/* --- a register's worth of elements, as floats of which there are n: true if a result is a NaN --- */
#define FLOATS(n)                                                                                            \
    _Alignas(64) float x[n];                                                                                 \
    _Alignas(64) float y[n];                                                                                 \
    _Alignas(64) float z[n];                                                                                 \
    _Alignas(64) float s[n]

#define F16(name, third)                                                                                     \
    static inline __attribute__((always_inline)) bool name##_f16(                                            \
        uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c, bool ftz)                      \
    {                                                                                                        \
        FLOATS(PTXI_LANES);                                                                                  \
                                                                                                             \
        f32_of_f16(x, a);                                                                                    \
        f32_of_f16(y, b);                                                                                    \
        f32_of_f16(z, c);                                                                                    \
        if (ftz) {                                                                                           \
            FOR_LANES x[l] = ptxi_num_flush_f16(x[l]);                                                       \
            FOR_LANES y[l] = ptxi_num_flush_f16(y[l]);                                                       \
            FOR_LANES z[l] = ptxi_num_flush_f16(z[l]);                                                       \
        }                                                                                                    \
        name##_floats(s, x, y, z, PTXI_LANES);                                                               \
        if (ftz)                                                                                             \
            FOR_LANES s[l] = ptxi_num_flush_result_f16(s[l]);                                                \
        f16_nearest_of_f32(r, s);                                                                            \
        return ptxi_any_nan_f32(s);                                                                          \
    }                                                                                                        \
    LANES_FUNCTION name##_lanes_f16(const struct ptxi_insn *i, struct ptxi_warp *w, int n)                   \
    {                                                                                                        \
        ELEMENTS(third);                                                                                     \
                                                                                                             \
        if (i->mods & PTXI_MOD_FTZ)                                                                          \
            for (int k = 0; k < n; k += PTXI_LANES)                                                          \
                nan |= name##_f16(r + k, a + k, b + k, c + k, true);                                         \
        else                                                                                                 \
            for (int k = 0; k < n; k += PTXI_LANES)                                                          \
                nan |= name##_f16(r + k, a + k, b + k, c + k, false);                                        \
        return finish_arithmetic(i, w, r, n, nan, ptxi_num_f16.inf);                                                    \
    }
F16(add, NO_THIRD)
F16(sub, NO_THIRD)
F16(mul, NO_THIRD)
F16(fma, THIRD)
HALF_OPS(add, f16, add_lanes_f16)
HALF_OPS(sub, f16, sub_lanes_f16)
HALF_OPS(mul, f16, mul_lanes_f16)

static inline uint32_t nearest_bf16(float s)
{
    return ptxi_num_bf16_rounded(ptxi_num_bits_f32(s), PTXI_NUM_RN);
}

/* Two elements of a lane are not shuffled, but are the upper halves of floats, or nearly. */
#define BF16(name, third, function)                                                                          \
    static inline bool name##_bf16(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c)     \
    {                                                                                                        \
        FLOATS(PTXI_LANES);                                                                                  \
                                                                                                             \
        f32_of_bf16(x, a);                                                                                   \
        f32_of_bf16(y, b);                                                                                   \
        f32_of_bf16(z, c);                                                                                   \
        function(s, x, y, z, PTXI_LANES);                                                                    \
        FOR_LANES r[l] = (uint16_t)(nearest_bf16(s[l]) >> 16);                                               \
        return ptxi_any_nan_f32(s);                                                                          \
    }                                                                                                        \
    static inline bool name##_bf16x2(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)   \
    {                                                                                                        \
        FLOATS(HALVES_MAX);                                                                                  \
                                                                                                             \
        halves_of_bf16x2(x, x + PTXI_LANES, a);                                                              \
        halves_of_bf16x2(y, y + PTXI_LANES, b);                                                              \
        halves_of_bf16x2(z, z + PTXI_LANES, c);                                                              \
        function(s, x, y, z, HALVES_MAX);                                                                    \
        FOR_LANES r[l] = (nearest_bf16(s[l]) & 0xffff0000) | nearest_bf16(s[l + PTXI_LANES]) >> 16;          \
        return ptxi_any_nan_f32(s) || ptxi_any_nan_f32(s + PTXI_LANES);                                      \
    }                                                                                                        \
    LANES_FUNCTION name##_lanes_bf16(const struct ptxi_insn *i, struct ptxi_warp *w, int n)                  \
    {                                                                                                        \
        ELEMENTS(third);                                                                                     \
                                                                                                             \
        if (n == PTXI_LANES)                                                                                 \
            nan = name##_bf16(r, a, b, c);                                                                   \
        else                                                                                                 \
            nan = name##_bf16x2((void *)r, (const void *)a, (const void *)b, (const void *)c);               \
        return finish_arithmetic(i, w, r, n, nan, ptxi_num_bf16.inf);                                                   \
    }
BF16(add, NO_THIRD, add_floats)
BF16(sub, NO_THIRD, sub_floats)
BF16(mul, NO_THIRD, mul_floats)
BF16(fma, THIRD, fma_floats_bf16)
HALF_OPS(add, bf16, add_lanes_bf16)
HALF_OPS(sub, bf16, sub_lanes_bf16)
HALF_OPS(mul, bf16, mul_lanes_bf16)

/* .oob: +0 if a factor is what stands for an element outside of a tensor. */
static inline const struct ptxi_insn *fma_oob(const struct ptxi_insn *i, struct ptxi_warp *w, int n, lanes_function *fma)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    _Alignas(64) uint16_t inside[HALVES_MAX], r[HALVES_MAX];
    uint16_t *d = PTXI_SLOT(w, i->d);

    FOR_HALVES(n) inside[l] = (a[l] & 0x7fff) == PTXI_OOB_NAN || (b[l] & 0x7fff) == PTXI_OOB_NAN ? 0 : 0xffff;
    fma(i, w, n);
    FOR_HALVES(n) r[l] = d[l] & inside[l];
    write_halves(i, w, r, n);
    NEXT;
}
HALF_OPS(fma, f16, fma_lanes_f16)
HALF_OPS(fma, bf16, fma_lanes_bf16)
HALF_OPS(fma_oob, f16, fma_oob, fma_lanes_f16)
HALF_OPS(fma_oob, bf16, fma_oob, fma_lanes_bf16)

/* --- signs --- */
static __attribute__((noinline)) void change_any_sign(uint16_t *r, const uint16_t *a, unsigned mods, int n, uint16_t inf, uint16_t keep,
                                                      uint16_t flip)
{
    uint16_t least = mods & PTXI_MOD_FTZ ? 0x0400 : 0;

    FOR_HALVES(n) {
        uint16_t x = (a[l] & 0x7fff) < least ? a[l] & 0x8000 : a[l];

        r[l] = ptxi_num_canon_half((x & keep) ^ flip, inf);
    }
}

LANES_FUNCTION change_sign(const struct ptxi_insn *i, struct ptxi_warp *w, int n, uint16_t inf, uint16_t keep, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    RESULT_HALVES(r);

    if (__builtin_expect(!(i->mods & PTXI_MOD_FTZ) && !any_nan_half(a, n, inf), 1))
        FOR_HALVES(n) r[l] = (a[l] & keep) ^ flip;
    else
        change_any_sign(r, a, i->mods, n, inf, keep, flip);
    return finish(i, w, r, n);
}
HALF_OPS(neg, f16, change_sign, ptxi_num_f16.inf, 0xffff, 0x8000)
HALF_OPS(abs, f16, change_sign, ptxi_num_f16.inf, 0x7fff, 0)
HALF_OPS(neg, bf16, change_sign, ptxi_num_bf16.inf, 0xffff, 0x8000)
HALF_OPS(abs, bf16, change_sign, ptxi_num_bf16.inf, 0x7fff, 0)

/* --- min, max --- */
static __attribute__((noinline)) void any_minmax(uint16_t *r, const uint16_t *a, const uint16_t *b, unsigned mods, int n, uint16_t inf,
                                                 uint16_t flip)
{
    struct ptxi_num_minmax how = { .inf = inf, .flip = flip,
                                   .least = mods & PTXI_MOD_FTZ ? 0x0400 : 0,
                                   .drop = mods & PTXI_MOD_XORSIGN ? 0x8000 : 0,
                                   .nan = mods & PTXI_MOD_NAN ? 0xffff : 0 };

    FOR_HALVES(n) r[l] = ptxi_num_minmax_half(a[l], b[l], how);
}

LANES_FUNCTION minmax(const struct ptxi_insn *i, struct ptxi_warp *w, int n, uint16_t inf, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    RESULT_HALVES(r);

    if (__builtin_expect(i->mods & (PTXI_MOD_FTZ | PTXI_MOD_XORSIGN) || any_nan_half(a, n, inf) || any_nan_half(b, n, inf), 0))
        any_minmax(r, a, b, i->mods, n, inf, flip);
    else if (flip)
        FOR_HALVES(n) r[l] = ptxi_num_max_half((int16_t)a[l], (int16_t)b[l]);
    else
        FOR_HALVES(n) r[l] = ptxi_num_min_half((int16_t)a[l], (int16_t)b[l]);
    return finish(i, w, r, n);
}
HALF_OPS(min, f16, minmax, ptxi_num_f16.inf, 0)
HALF_OPS(max, f16, minmax, ptxi_num_f16.inf, 0xffff)
HALF_OPS(min, bf16, minmax, ptxi_num_bf16.inf, 0)
HALF_OPS(max, bf16, minmax, ptxi_num_bf16.inf, 0xffff)
