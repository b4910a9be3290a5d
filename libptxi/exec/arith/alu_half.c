/* PTX ISA, "Half Precision Floating Point Instructions". Each instruction rounds once. .ftz, .sat, .relu, .NaN and
 * .oob are read from mods, once for all lanes. */
#include "exec/arith/convert.h"
#include "exec/arith/f16_view.h"
#include "exec/arith/handler_parts.h"

typedef const struct ptxi_insn *lanes_function(const struct ptxi_insn *i, struct ptxi_warp *w, int n);

/* A copy of a source with zeros in the inactive lanes. These may contain an integer, which as a float is subnormal,
 * and hosts compute slowly with subnormals. */
OUT_OF_LINE const uint16_t *copy_active_elements(const uint16_t *a, uint16_t *copy, int n, ptxi_lanes on)
{
    assert(n == PTXI_LANES || n == HALF_ELEMENTS_MAX);
    memset(copy, 0, HALF_ELEMENTS_MAX * sizeof *copy);
    if (n == PTXI_LANES)
        ptxi_masked_write_16(copy, a, on);
    else
        ptxi_masked_write_32(copy, a, on);
    return copy;
}

static inline const uint16_t *read_source(const struct ptxi_warp *w, uint16_t slot, uint16_t *copy, int n)
{
    const uint16_t *a = PTXI_SLOT(w, slot);

    return __builtin_expect(w->active == PTXI_ALL_LANES, 1) ? a : copy_active_elements(a, copy, n, w->active);
}

/* Makes the NaNs of rounded results canonical and applies .sat or .relu. */
OUT_OF_LINE void canonicalize_and_limit(uint16_t *r, unsigned mods, int n, uint16_t inf)
{
    if (mods & PTXI_MOD_SAT) /* f16 only */
        FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_sat_f16(ptxi_num_canon_half(r[l], ptxi_num_f16.inf));
    else if (mods & PTXI_MOD_RELU)
        FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_relu_half(ptxi_num_canon_half(r[l], inf));
    else
        FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_canon_half(r[l], inf);
}

/* Writes the results. If all lanes are active, they are in the destination already. */
HANDLER_PART(static inline, finish, const uint16_t *r, int n)
{
    if (__builtin_expect(w->active != PTXI_ALL_LANES, 0))
        write_half_elements(i, w, r, n);
    NEXT;
}

HANDLER_PART(static inline, finish_arithmetic, uint16_t *r, int n, bool nan, uint16_t inf)
{
    if (__builtin_expect(nan, 0) || i->mods & (PTXI_MOD_SAT | PTXI_MOD_RELU))
        canonicalize_and_limit(r, i->mods, n, inf);
    return finish(i, w, r, n);
}

/* Defines r, which results are written to. It may be a source, too, so an element of a source must be read before
 * that element is written. */
#define RESULT_ELEMENTS(r)                            \
    _Alignas(64) uint16_t results[HALF_ELEMENTS_MAX]; \
    uint16_t *r = __builtin_assume_aligned(w->active == PTXI_ALL_LANES ? PTXI_SLOT(w, i->d) : results, 64)

/* --- arithmetic on n floats --- */
/* x * y + z of floats that are f16 or bf16, rounded to odd: if the exact sum is not a float, the result is the
 * adjacent float with an odd last bit. It then rounds to f16 or bf16 like the exact sum. */
#if defined(__AVX512F__)
static inline void fma_to_odd(float *s, const float *x, const float *y, const float *z, int n)
{
    for (int l = 0; l < n; l += 16) {
        __m512 a = _mm512_load_ps(x + l), b = _mm512_load_ps(y + l), c = _mm512_load_ps(z + l);
        __m512 down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        __m512 up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));

        _mm512_store_ps(s + l, _mm512_mask_mov_ps(up, odd, down));
    }
}
#define fma_floats_f16 fma_to_odd
#define fma_floats_bf16 fma_to_odd
#else
static inline void fma_floats_f16(float *s, const float *x, const float *y, const float *z, int n)
{
    FOR_HALF_ELEMENTS(n) s[l] = ptxi_num_fma_odd_f32(x[l], y[l], z[l]);
}

#if defined(PTXI_NUM_HOST_FMA)
PTXI_ROUNDING_FUNCTION void fma_in_host_rounding(float *restrict s, const float *x, const float *y, const float *z,
                                                 int n)
{
    FOR_HALF_ELEMENTS(n) s[l] = __builtin_fmaf(x[l], y[l], z[l]);
}

/* The products of bf16, unlike those of f16, may overflow or underflow the range of floats. */
static inline void fma_floats_bf16(float *s, const float *x, const float *y, const float *z, int n)
{
    _Alignas(64) float down[HALF_ELEMENTS_MAX];

    ptxi_rounding_set(PTXI_RM);
    fma_in_host_rounding(down, x, y, z, n);
    ptxi_rounding_set(PTXI_RP);
    fma_in_host_rounding(s, x, y, z, n);
    ptxi_rounding_set(PTXI_RN);
    FOR_HALF_ELEMENTS(n) s[l] = ptxi_num_bits_f32(down[l]) & 1 ? down[l] : s[l];
}
#else
static inline void fma_floats_bf16(float *s, const float *x, const float *y, const float *z, int n)
{
    FOR_HALF_ELEMENTS(n) s[l] = ptxi_num_fma_bf16(x[l], y[l], z[l]);
}
#endif
#endif

enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };
enum half_type { HALF_F16, HALF_BF16 };

ALWAYS_INLINE void compute_floats(enum half_op op, enum half_type type, float *s, const float *x, const float *y,
                                  const float *z, int n)
{
    switch (op) {
    case HALF_ADD: FOR_HALF_ELEMENTS(n) s[l] = x[l] + y[l]; break;
    case HALF_SUB: FOR_HALF_ELEMENTS(n) s[l] = x[l] - y[l]; break;
    case HALF_MUL: FOR_HALF_ELEMENTS(n) s[l] = x[l] * y[l]; break;
    case HALF_FMA:
        if (type == HALF_F16)
            fma_floats_f16(s, x, y, z, n);
        else
            fma_floats_bf16(s, x, y, z, n);
        break;
    }
}

/* --- arithmetic on registers. The functions return whether a result is a NaN; `op` is a constant. --- */
ALWAYS_INLINE bool compute_f16(enum half_op op, uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c,
                               bool ftz)
{
    LANE_ARRAY(float, x);
    LANE_ARRAY(float, y);
    LANE_ARRAY(float, z);
    LANE_ARRAY(float, s);

    f32_of_f16(x, a);
    f32_of_f16(y, b);
    f32_of_f16(z, c);
    if (ftz) {
        FOR_LANES x[l] = ptxi_num_flush_f16(x[l]);
        FOR_LANES y[l] = ptxi_num_flush_f16(y[l]);
        FOR_LANES z[l] = ptxi_num_flush_f16(z[l]);
    }
    compute_floats(op, HALF_F16, s, x, y, z, PTXI_LANES);
    if (ftz)
        FOR_LANES s[l] = ptxi_num_flush_result_f16(s[l]);
    f16_nearest_of_f32(r, s);
    return ptxi_any_nan_f32(s);
}

ALWAYS_INLINE uint32_t nearest_bf16(float s)
{
    return ptxi_num_bf16_rounded(ptxi_num_bits_f32(s), PTXI_NUM_RN);
}

ALWAYS_INLINE bool compute_bf16(enum half_op op, uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c)
{
    LANE_ARRAY(float, x);
    LANE_ARRAY(float, y);
    LANE_ARRAY(float, z);
    LANE_ARRAY(float, s);

    f32_of_bf16(x, a);
    f32_of_bf16(y, b);
    f32_of_bf16(z, c);
    compute_floats(op, HALF_BF16, s, x, y, z, PTXI_LANES);
    FOR_LANES r[l] = (uint16_t)(nearest_bf16(s[l]) >> 16);
    return ptxi_any_nan_f32(s);
}

/* The elements of a bf16x2 need no shuffles: each is, or almost is, the upper half of a float. */
ALWAYS_INLINE bool compute_bf16x2(enum half_op op, uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    _Alignas(64) float x[HALF_ELEMENTS_MAX];
    _Alignas(64) float y[HALF_ELEMENTS_MAX];
    _Alignas(64) float z[HALF_ELEMENTS_MAX];
    _Alignas(64) float s[HALF_ELEMENTS_MAX];

    unpack_bf16x2(x, x + PTXI_LANES, a);
    unpack_bf16x2(y, y + PTXI_LANES, b);
    unpack_bf16x2(z, z + PTXI_LANES, c);
    compute_floats(op, HALF_BF16, s, x, y, z, HALF_ELEMENTS_MAX);
    FOR_LANES r[l] = (nearest_bf16(s[l]) & 0xffff0000) | nearest_bf16(s[l + PTXI_LANES]) >> 16;
    return ptxi_any_nan_f32(s) || ptxi_any_nan_f32(s + PTXI_LANES);
}

/* --- the handlers --- */
ALWAYS_INLINE const struct ptxi_insn *run_arithmetic(const struct ptxi_insn *i, struct ptxi_warp *w, enum half_op op,
                                                     enum half_type type, int n)
{
    _Alignas(64) uint16_t copy[3][HALF_ELEMENTS_MAX];
    const uint16_t *a = read_source(w, i->a, copy[0], n), *b = read_source(w, i->b, copy[1], n);
    const uint16_t *c = op == HALF_FMA ? read_source(w, i->c, copy[2], n) : a;
    bool nan = false;
    RESULT_ELEMENTS(r);

    if (type == HALF_BF16) {
        if (n == PTXI_LANES)
            nan = compute_bf16(op, r, a, b, c);
        else
            nan = compute_bf16x2(op, (void *)r, (const void *)a, (const void *)b, (const void *)c);
    } else if (i->mods & PTXI_MOD_FTZ) {
        for (int k = 0; k < n; k += PTXI_LANES)
            nan |= compute_f16(op, r + k, a + k, b + k, c + k, true);
    } else {
        for (int k = 0; k < n; k += PTXI_LANES)
            nan |= compute_f16(op, r + k, a + k, b + k, c + k, false);
    }
    return finish_arithmetic(i, w, r, n, nan, type == HALF_F16 ? ptxi_num_f16.inf : ptxi_num_bf16.inf);
}

#define ARITHMETIC(name, op, type, TYPE)                              \
    HANDLER_PART(OUT_OF_LINE, name##_lanes_##type, int n)             \
    {                                                                 \
        return run_arithmetic(i, w, op, TYPE, n);                     \
    }
ARITHMETIC(add, HALF_ADD, f16, HALF_F16)
ARITHMETIC(sub, HALF_SUB, f16, HALF_F16)
ARITHMETIC(mul, HALF_MUL, f16, HALF_F16)
ARITHMETIC(fma, HALF_FMA, f16, HALF_F16)
ARITHMETIC(add, HALF_ADD, bf16, HALF_BF16)
ARITHMETIC(sub, HALF_SUB, bf16, HALF_BF16)
ARITHMETIC(mul, HALF_MUL, bf16, HALF_BF16)
ARITHMETIC(fma, HALF_FMA, bf16, HALF_BF16)
HALF_OPS(add, f16, add_lanes_f16)
HALF_OPS(sub, f16, sub_lanes_f16)
HALF_OPS(mul, f16, mul_lanes_f16)
HALF_OPS(add, bf16, add_lanes_bf16)
HALF_OPS(sub, bf16, sub_lanes_bf16)
HALF_OPS(mul, bf16, mul_lanes_bf16)

/* .oob: the result is +0 if a factor is the NaN that represents an element outside of a tensor. */
HANDLER_PART(static inline, fma_oob, int n, lanes_function *fma)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    _Alignas(64) uint16_t inside[HALF_ELEMENTS_MAX], r[HALF_ELEMENTS_MAX];
    uint16_t *d = PTXI_SLOT(w, i->d);

    assert(n == PTXI_LANES || n == HALF_ELEMENTS_MAX);
    FOR_HALF_ELEMENTS(n) inside[l] = (a[l] & 0x7fff) == PTXI_OOB_NAN || (b[l] & 0x7fff) == PTXI_OOB_NAN ? 0 : 0xffff;
    fma(i, w, n);
    FOR_HALF_ELEMENTS(n) r[l] = d[l] & inside[l];
    write_half_elements(i, w, r, n);
    NEXT;
}
HALF_OPS(fma, f16, fma_lanes_f16)
HALF_OPS(fma, bf16, fma_lanes_bf16)
HALF_OPS(fma_oob, f16, fma_oob, fma_lanes_f16)
HALF_OPS(fma_oob, bf16, fma_oob, fma_lanes_bf16)

/* --- signs --- */
OUT_OF_LINE void change_sign_slow(uint16_t *r, const uint16_t *a, unsigned mods, int n, uint16_t inf, uint16_t keep,
                                 uint16_t flip)
{
    uint16_t least = mods & PTXI_MOD_FTZ ? 0x0400 : 0;

    FOR_HALF_ELEMENTS(n) {
        uint16_t x = (a[l] & 0x7fff) < least ? a[l] & 0x8000 : a[l];

        r[l] = ptxi_num_canon_half((x & keep) ^ flip, inf);
    }
}

HANDLER_PART(OUT_OF_LINE, change_sign, int n, uint16_t inf, uint16_t keep, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    RESULT_ELEMENTS(r);

    if (__builtin_expect(!(i->mods & PTXI_MOD_FTZ) && !any_half_nan(a, n, inf), 1))
        FOR_HALF_ELEMENTS(n) r[l] = (a[l] & keep) ^ flip;
    else
        change_sign_slow(r, a, i->mods, n, inf, keep, flip);
    return finish(i, w, r, n);
}
HALF_OPS(neg, f16, change_sign, ptxi_num_f16.inf, 0xffff, 0x8000)
HALF_OPS(abs, f16, change_sign, ptxi_num_f16.inf, 0x7fff, 0)
HALF_OPS(neg, bf16, change_sign, ptxi_num_bf16.inf, 0xffff, 0x8000)
HALF_OPS(abs, bf16, change_sign, ptxi_num_bf16.inf, 0x7fff, 0)

/* --- min, max --- */
OUT_OF_LINE void minmax_slow(uint16_t *r, const uint16_t *a, const uint16_t *b, unsigned mods, int n, uint16_t inf,
                            uint16_t flip)
{
    struct ptxi_num_minmax how = { .inf = inf, .flip = flip,
                                   .least = mods & PTXI_MOD_FTZ ? 0x0400 : 0,
                                   .drop = mods & PTXI_MOD_XORSIGN ? 0x8000 : 0,
                                   .nan = mods & PTXI_MOD_NAN ? 0xffff : 0 };

    FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_minmax_half(a[l], b[l], how);
}

HANDLER_PART(OUT_OF_LINE, minmax, int n, uint16_t inf, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    RESULT_ELEMENTS(r);

    if (__builtin_expect(i->mods & (PTXI_MOD_FTZ | PTXI_MOD_XORSIGN) || any_half_nan(a, n, inf) ||
                             any_half_nan(b, n, inf), 0))
        minmax_slow(r, a, b, i->mods, n, inf, flip);
    else if (flip)
        FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_max_half((int16_t)a[l], (int16_t)b[l]);
    else
        FOR_HALF_ELEMENTS(n) r[l] = ptxi_num_min_half((int16_t)a[l], (int16_t)b[l]);
    return finish(i, w, r, n);
}
HALF_OPS(min, f16, minmax, ptxi_num_f16.inf, 0)
HALF_OPS(max, f16, minmax, ptxi_num_f16.inf, 0xffff)
HALF_OPS(min, bf16, minmax, ptxi_num_bf16.inf, 0)
HALF_OPS(max, bf16, minmax, ptxi_num_bf16.inf, 0xffff)
