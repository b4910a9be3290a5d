/* PTX ISA, "Data Movement and Conversion Instructions: cvt", between floats that fill one register each. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"

HANDLER_PART(static inline, finish_f32, float *r)
{
    if (i->mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_f32(ptxi_num_sat_f32(r[l]));
    else if (__builtin_expect(ptxi_any_nan_f32(r), 0))
        FOR_LANES r[l] = ptxi_num_f32(ptxi_num_canon_f32(r[l]));
    NEXT_WITH_RESULT(r);
}

/* A NaN keeps its sign and payload and becomes quiet. */
HANDLER_PART(OUT_OF_LINE, write_f64_of_f32, const float *a)
{
    RESULT_LANES(uint64_t, r);

    if (i->mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_bits_f64((double)ptxi_num_f32(ptxi_num_sat_f32(a[l])));
    else if (__builtin_expect(ptxi_any_nan_f32(a), 0))
        FOR_LANES r[l] = a[l] != a[l] ? ptxi_num_f64_nan_from_f32(ptxi_num_bits_f32(a[l]))
                                      : ptxi_num_bits_f64((double)a[l]);
    else
        FOR_LANES r[l] = ptxi_num_bits_f64((double)a[l]);
    NEXT_WITH_RESULT(r);
}

/* --- to f16 and bf16 --- */

/* .ftz has no effect here. */
OP( cvt_f16_f32 )
{
    RESULT_LANES(uint16_t, r);

    f16_of_f32(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
    apply_limits_f16(r, i->mods);
    NEXT_WITH_RESULT(r);
}

OP( cvt_bf16_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    RESULT_LANES(uint16_t, r);

    if (i->mods & PTXI_MOD_FTZ) {
        LANE_ARRAY(float, f);

        FOR_LANES f[l] = ptxi_num_in_ftz_f32(a[l]);
        bf16_of_f32(r, f, ROUNDING_MODE(i));
    } else {
        bf16_of_f32(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
    }
    apply_limits_bf16(r, i->mods);
    NEXT_WITH_RESULT(r);
}

/* Rounds to odd. Returns false if some results are doubtful; these may be wrong. */
static inline bool f32_odd_if_normal(float *restrict r, const double *a)
{
#if defined(__AVX512DQ__)
    STORE_ODD_FLOATS(r, a, pd, pd);
    return !ptxi_any_nan_f32(r);
#elif defined(SIGNS_32)
    typedef uint32_t vector __attribute__((vector_size(LANE_VECTOR), may_alias));
    enum { PER = LANE_VECTOR / sizeof(uint32_t) };
    vector doubtful = { 0 };

    FOR_LANES r[l] = ptxi_num_f32_odd_normal(a[l]);
    for (int k = 0; k < PTXI_LANES / PER; k++) {
        vector m = ((const vector *)r)[k] & 0x7fffffff;

        doubtful |= (m - PTXI_NUM_F32_ODD_LEAST) | (PTXI_NUM_F32_ODD_MOST - m);
    }
    return !SIGNS_32(doubtful);
#else
    bool doubtful = false;

    FOR_LANES r[l] = ptxi_num_f32_odd_normal(a[l]);
    FOR_LANES {
        uint32_t m = ptxi_num_bits_f32(r[l]) & 0x7fffffff;

        doubtful |= (m < PTXI_NUM_F32_ODD_LEAST) | (m > PTXI_NUM_F32_ODD_MOST);
    }
    return !doubtful;
#endif
}

/* Corrects the results of f32_odd_if_normal(). */
OUT_OF_LINE void fix_f32_odd(float *restrict r, const double *a)
{
    uint64_t wrong = 0;

    FOR_LANES wrong |= ptxi_num_f32_odd_not_normal(a[l]);
    if (wrong)
        FOR_LANES r[l] = ptxi_num_f32_odd(a[l]);
}

#define HALF_OF_F64_OP(half)                                                                       \
    OUT_OF_LINE void half_of_any_##half(uint16_t *restrict r, float *restrict f, const void *from, \
                                                             enum ptxi_num_rounding mode)          \
    {                                                                                              \
        const uint64_t *a = from;                                                                  \
                                                                                                   \
        fix_f32_odd(f, from);                                                                      \
        half##_of_f32(r, f, mode);                                                                 \
        FOR_LANES r[l] = f[l] != f[l] ? ptxi_num_##half##_nan_from_f64(a[l]) : r[l];               \
    }                                                                                              \
    OP( cvt_##half##_f64 )                                                                         \
    {                                                                                              \
        LANE_ARRAY(float, f);                                                                      \
        RESULT_LANES(uint16_t, r);                                                                 \
                                                                                                   \
        if (__builtin_expect(f32_odd_if_normal(f, PTXI_SLOT(w, i->a)), 1))                         \
            half##_of_non_nan(r, f, ROUNDING_MODE(i));                                             \
        else                                                                                       \
            half_of_any_##half(r, f, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));                        \
        apply_limits_##half(r, i->mods);                                                           \
        NEXT_WITH_RESULT(r);                                                                       \
    }
HALF_OF_F64_OP(f16)
HALF_OF_F64_OP(bf16)

#define HALF_OF_HALF_OP(to, from)             \
    OP( cvt_##to##_##from )                   \
    {                                         \
        LANE_ARRAY(float, f);                 \
        RESULT_LANES(uint16_t, r);            \
                                              \
        f32_of_##from(f, PTXI_SLOT(w, i->a)); \
        to##_of_f32(r, f, ROUNDING_MODE(i));  \
        NEXT_WITH_RESULT(r);                  \
    }
HALF_OF_HALF_OP(f16, bf16)
HALF_OF_HALF_OP(bf16, f16)

/* Conversions to an integral value and to the format itself. Even in the latter a NaN becomes canonical. */
#define HALF_TO_ITSELF_OPS(half)                                                             \
    OP( cvt_rint_##half )                                                                    \
    {                                                                                        \
        LANE_ARRAY(float, f);                                                                \
        RESULT_LANES(uint16_t, r);                                                           \
                                                                                             \
        f32_of_##half(f, PTXI_SLOT(w, i->a));                                                \
        round_to_integral_f32(f, f, ROUNDING_MODE(i));                                       \
        half##_of_f32(r, f, PTXI_NUM_RN);                                                    \
        apply_limits_##half(r, i->mods);                                                     \
        NEXT_WITH_RESULT(r);                                                                 \
    }                                                                                        \
    OP( cvt_##half##_##half )                                                                \
    {                                                                                        \
        const uint16_t *a = PTXI_SLOT(w, i->a);                                              \
        RESULT_LANES(uint16_t, r);                                                           \
                                                                                             \
        FOR_LANES r[l] = (a[l] & 0x7fff) > ptxi_num_##half.inf ? ptxi_num_##half.nan : a[l]; \
        apply_limits_##half(r, i->mods);                                                     \
        NEXT_WITH_RESULT(r);                                                                 \
    }
HALF_TO_ITSELF_OPS(f16)
HALF_TO_ITSELF_OPS(bf16)

/* --- to f32 --- */
OP( cvt_f32_f16 )
{
    RESULT_LANES(float, r);

    f32_of_f16(r, PTXI_SLOT(w, i->a));
    return finish_f32(i, w, r);
}

/* Without .ftz all bits pass unchanged, even those of signalling NaNs. */
OP( cvt_f32_bf16 )
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (i->mods & PTXI_MOD_FTZ)
        WRITE_LANES(d, ptxi_num_canon_f32(ptxi_num_in_ftz_f32((uint32_t)a[l] << 16)));
    else
        WRITE_LANES(d, (uint32_t)a[l] << 16);
    NEXT;
}

/* Without modifiers all bits pass unchanged. */
OP( cvt_f32_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);

    if ((i->mods & (PTXI_MOD_FTZ | PTXI_MOD_SAT)) == (PTXI_MOD_FTZ | PTXI_MOD_SAT))
        WRITE_LANES(d, ptxi_num_sat_f32(ptxi_num_in_ftz_f32(a[l])));
    else if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f32(ptxi_num_f32(a[l])));
    else if (i->mods & PTXI_MOD_FTZ)
        WRITE_LANES(d, ptxi_num_canon_f32(ptxi_num_in_ftz_f32(a[l])));
    else
        WRITE_LANES(d, a[l]);
    NEXT;
}

OP( cvt_rint_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    RESULT_LANES(float, r);

    if (i->mods & PTXI_MOD_FTZ) {
        FOR_LANES r[l] = ptxi_num_in_ftz_f32(a[l]);
        round_to_integral_f32(r, r, ROUNDING_MODE(i));
    } else {
        round_to_integral_f32(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
    }
    return finish_f32(i, w, r);
}

#if !defined(__AVX512F__)
PTXI_ROUNDING_FUNCTION void f32_of_f64(float *restrict r, const double *a)
{
    FOR_LANES r[l] = (float)a[l];
}
#endif

static inline void rounded_f32_of_f64(float *r, const double *a, unsigned mods)
{
#if defined(__AVX512F__)
    PTXI_IN_ROUNDING(ptxi_rounding_of(mods),
        for (int l = 0; l < PTXI_LANES; l += 16)
            _mm512_store_ps(r + l, ptxi_concat_ps(_mm512_cvt_roundpd_ps(_mm512_load_pd(a + l), ROUNDING),
                                                  _mm512_cvt_roundpd_ps(_mm512_load_pd(a + l + 8), ROUNDING)));)
#else
    ptxi_rounding_begin(mods);
    f32_of_f64(r, a);
    ptxi_rounding_end(mods);
#endif
}

#if defined(PTXI_HOST_FLUSHES)
static void f32_of_f64_ftz(float *r, const double *a, unsigned mods)
{
    ptxi_rounding_set(ptxi_rounding_of(mods) + PTXI_FLUSHING);
    f32_of_f64(r, a);
    ptxi_rounding_set(PTXI_RN);
}
#else
PTXI_ROUNDING_FUNCTION void rounded_f32_of_f64_ftz(float *restrict r, const double *a)
{
    FOR_LANES r[l] = ptxi_num_flush_scaled_f32((float)a[l], (float)(a[l] * (double)PTXI_FTZ_SCALE));
}

static void f32_of_f64_ftz(float *r, const double *a, unsigned mods)
{
    ptxi_rounding_begin(mods);
    rounded_f32_of_f64_ftz(r, a);
    ptxi_rounding_end(mods);
}
#endif

OP( cvt_f32_f64 )
{
    const double *a = PTXI_SLOT(w, i->a);
    RESULT_LANES(float, r);

    if (i->mods & PTXI_MOD_FTZ) {
        f32_of_f64_ftz(r, a, i->mods);
    } else {
        rounded_f32_of_f64(r, a, i->mods);
    }
    if (i->mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_f32(ptxi_num_sat_f32(r[l]));
    else if (__builtin_expect(ptxi_any_nan_f32(r), 0))
        FOR_LANES r[l] = r[l] != r[l] ? ptxi_num_f32(ptxi_num_f32_nan_from_f64(ptxi_num_bits_f64(a[l]))) : r[l];
    NEXT_WITH_RESULT(r);
}

/* --- to f64 --- */
OP( cvt_f64_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(float, f);

    if (!(i->mods & PTXI_MOD_FTZ))
        return write_f64_of_f32(i, w, PTXI_SLOT(w, i->a));
    FOR_LANES f[l] = ptxi_num_f32(ptxi_num_canon_f32(ptxi_num_in_ftz_f32(a[l])));
    return write_f64_of_f32(i, w, f);
}

OP( cvt_f64_f16 )
{
    LANE_ARRAY(float, f);

    f32_of_f16(f, PTXI_SLOT(w, i->a));
    return write_f64_of_f32(i, w, f);
}

OP( cvt_f64_bf16 )
{
    LANE_ARRAY(float, f);

    f32_of_bf16(f, PTXI_SLOT(w, i->a));
    return write_f64_of_f32(i, w, f);
}

OP( cvt_f64_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t *d = PTXI_SLOT(w, i->d);

    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f64(ptxi_num_f64(a[l])));
    else
        WRITE_LANES(d, a[l]);
    NEXT;
}

OP( cvt_rint_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint64_t *d = PTXI_SLOT(w, i->d);
    LANE_ARRAY(double, f);

    round_to_integral_f64(f, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f64(f[l]));
    else
        WRITE_LANES(d, ptxi_num_nan1_f64(f[l], a[l]));
    NEXT;
}
