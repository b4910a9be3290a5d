/* PTX ISA, "Data Movement and Conversion Instructions: cvt", with a float on one side at least. An 8-bit source is in the low bits
 * of a 16-bit slot; an 8-bit destination fills one, extended by its sign.
 *
 * A conversion goes in steps through a lane array of floats, so that the roundings are written once. */
#include "exec/lanes.h"
#include "exec/rounding.h"
#include "num/convert.h"
#include "num/integer.h"

#define MODE_OF(i) ((enum ptxi_num_rounding)ptxi_rounding_of((i)->mods))

/* --- sources as floats, exactly --- */
static __attribute__((noinline)) void f32_of_f16(float *restrict r, const uint16_t *a)
{
#if defined(__F16C__)
    for (int l = 0; l < PTXI_LANES; l += 8)
        _mm256_store_ps(r + l, _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(a + l))));
#else
    FOR_LANES r[l] = ptxi_num_f32_from_f16_bits(a[l]);
#endif
}

static inline void f32_of_f32(float *restrict r, const uint32_t *a, bool ftz)
{
    if (ftz)
        FOR_LANES r[l] = ptxi_num_in_ftz_f32(a[l]);
    else
        FOR_LANES r[l] = ptxi_num_f32(a[l]);
}

/* --- to integral values --- */
static __attribute__((noinline)) void integral_f32(float *r, enum ptxi_rounding mode)
{
    switch (mode) {
    case PTXI_RN: FOR_LANES r[l] = __builtin_rintf(r[l]); break;
    case PTXI_RZ: FOR_LANES r[l] = __builtin_truncf(r[l]); break;
    case PTXI_RM: FOR_LANES r[l] = __builtin_floorf(r[l]); break;
    case PTXI_RP: FOR_LANES r[l] = __builtin_ceilf(r[l]); break;
    }
}

static __attribute__((noinline)) void integral_f64(double *restrict r, const uint64_t *a, enum ptxi_rounding mode)
{
    switch (mode) {
    case PTXI_RN: FOR_LANES r[l] = __builtin_rint(ptxi_num_f64(a[l])); break;
    case PTXI_RZ: FOR_LANES r[l] = __builtin_trunc(ptxi_num_f64(a[l])); break;
    case PTXI_RM: FOR_LANES r[l] = __builtin_floor(ptxi_num_f64(a[l])); break;
    case PTXI_RP: FOR_LANES r[l] = __builtin_ceil(ptxi_num_f64(a[l])); break;
    }
}

/* --- float to integer: rounded, then saturated to the destination's range. A NaN becomes 0, but from f64 or to 64 bits the
 * value of which only the top bit is set. --- */
#define TO_s8(from, x, nan) (int16_t)(x != x ? (int8_t)(nan) : PTXI_NUM_CLAMP(ptxi_num_s32_from_##from(x, 0), INT8_MIN, INT8_MAX))
#define TO_s16(from, x, nan) (int16_t)(x != x ? (int16_t)(nan) : PTXI_NUM_CLAMP(ptxi_num_s32_from_##from(x, 0), INT16_MIN, INT16_MAX))
#define TO_u8(from, x, nan) (uint16_t)(x != x ? (uint8_t)(nan) : PTXI_NUM_CLAMP(ptxi_num_s32_from_##from(x, 0), 0, UINT8_MAX))
#define TO_u16(from, x, nan) (uint16_t)(x != x ? (uint16_t)(nan) : PTXI_NUM_CLAMP(ptxi_num_s32_from_##from(x, 0), 0, UINT16_MAX))
#define TO_s32(from, x, nan) ptxi_num_s32_from_##from(x, (int32_t)(nan))
#define TO_u32(from, x, nan) ptxi_num_u32_from_##from(x, (uint32_t)(nan))
#define TO_s64(from, x, nan) ptxi_num_s64_from_##from(x, INT64_MIN)
#define TO_u64(from, x, nan) ptxi_num_u64_from_##from(x, (uint64_t)1 << 63)

#define FLOAT_TO_INT(dst, td, bits)                                        \
    OP( cvt_##dst##_f32 )                                                  \
    {                                                                      \
        LANE_ARRAY(float, r);                                              \
        td *d = PTXI_SLOT(w, i->d);                                        \
                                                                           \
        f32_of_f32(r, PTXI_SLOT(w, i->a), i->mods & PTXI_MOD_FTZ);         \
        integral_f32(r, ptxi_rounding_of(i->mods));                        \
        WRITE_LANES(d, TO_##dst(f32, r[l], 0));                            \
        NEXT;                                                              \
    }                                                                      \
    OP( cvt_##dst##_f16 )                                                  \
    {                                                                      \
        LANE_ARRAY(float, r);                                              \
        td *d = PTXI_SLOT(w, i->d);                                        \
                                                                           \
        f32_of_f16(r, PTXI_SLOT(w, i->a));                                 \
        integral_f32(r, ptxi_rounding_of(i->mods));                        \
        WRITE_LANES_COLD(d, TO_##dst(f32, r[l], 0));                       \
        NEXT;                                                              \
    }                                                                      \
    OP( cvt_##dst##_f64 )                                                  \
    {                                                                      \
        LANE_ARRAY(double, r);                                             \
        td *d = PTXI_SLOT(w, i->d);                                        \
                                                                           \
        integral_f64(r, PTXI_SLOT(w, i->a), ptxi_rounding_of(i->mods));    \
        WRITE_LANES_COLD(d, TO_##dst(f64, r[l], (uint64_t)1 << (bits - 1))); \
        NEXT;                                                              \
    }
FLOAT_TO_INT(u8, uint16_t, 8)
FLOAT_TO_INT(s8, int16_t, 8)
FLOAT_TO_INT(u16, uint16_t, 16)
FLOAT_TO_INT(s16, int16_t, 16)
FLOAT_TO_INT(u32, uint32_t, 32)
FLOAT_TO_INT(s32, int32_t, 32)
FLOAT_TO_INT(u64, uint64_t, 64)
FLOAT_TO_INT(s64, int64_t, 64)

/* --- f16 results --- */
static __attribute__((noinline)) void f16_of_f32(uint16_t *restrict r, const float *a, enum ptxi_num_rounding mode)
{
#if defined(__F16C__)
#define STORE_ROUNDED(control)                                                                     \
    for (int l = 0; l < PTXI_LANES; l += 8)                                                        \
        _mm_store_si128((__m128i *)(r + l), _mm256_cvtps_ph(_mm256_load_ps(a + l), control))
    switch (mode) {
    case PTXI_NUM_RN: STORE_ROUNDED(_MM_FROUND_TO_NEAREST_INT); break;
    case PTXI_NUM_RZ: STORE_ROUNDED(_MM_FROUND_TO_ZERO); break;
    case PTXI_NUM_RM: STORE_ROUNDED(_MM_FROUND_TO_NEG_INF); break;
    case PTXI_NUM_RP: STORE_ROUNDED(_MM_FROUND_TO_POS_INF); break;
    }
#undef STORE_ROUNDED
    FOR_LANES r[l] = (r[l] & 0x7fff) > 0x7c00 ? PTXI_NAN_F16 : r[l];
#else
    FOR_LANES r[l] = ptxi_num_f16_from_f32(ptxi_num_bits_f32(a[l]), mode);
#endif
}

static __attribute__((noinline)) const struct ptxi_insn *write_f16(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *r)
{
    uint16_t *d = PTXI_SLOT(w, i->d);

    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f16(r[l]));
    else
        WRITE_LANES(d, r[l]);
    NEXT;
}

static __attribute__((noinline)) const struct ptxi_insn *write_f32(const struct ptxi_insn *i, struct ptxi_warp *w, const float *r)
{
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f32(r[l]));
    else
        WRITE_LANES(d, ptxi_num_canon_f32(r[l]));
    NEXT;
}

static __attribute__((noinline)) const struct ptxi_insn *write_f64(const struct ptxi_insn *i, struct ptxi_warp *w, const uint64_t *r)
{
    uint64_t *d = PTXI_SLOT(w, i->d);

    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f64(ptxi_num_f64(r[l])));
    else
        WRITE_LANES(d, r[l]);
    NEXT;
}

/* --- integer to float. To f16 by way of f32, which is exact within the range that matters; what lies beyond overflows in
 * either. --- */
#define F16_BEYOND (1 << 20)
#define BELOW_s(x) PTXI_NUM_CLAMP((int64_t)(x), -F16_BEYOND, F16_BEYOND)
#define BELOW_u(x) ((uint64_t)(x) > F16_BEYOND ? F16_BEYOND : (uint64_t)(x))

/* Where hosts cannot convert unsigned integers compilers make a sum of two parts, which for 0 rounded down is -0. */
#define ZERO_PLUS_s(r, is_zero)
#define ZERO_PLUS_u(r, is_zero)                                    \
    do {                                                           \
        if (ptxi_rounding_of(i->mods) == PTXI_RM)                  \
            FOR_LANES (r)[l] = (is_zero) ? 0 : (r)[l];             \
    } while (0)

#define INT_TO_FLOAT(src, ts, slot_s, sign)                                                                \
    PTXI_ROUNDED void f32_of_##src(float *restrict r, const slot_s *a)                                     \
    {                                                                                                      \
        FOR_LANES r[l] = (float)(ts)a[l];                                                                  \
    }                                                                                                      \
    PTXI_ROUNDED void f64_of_##src(uint64_t *restrict r, const slot_s *a)                                  \
    {                                                                                                      \
        FOR_LANES r[l] = ptxi_num_bits_f64((double)(ts)a[l]);                                              \
    }                                                                                                      \
    OP( cvt_f32_##src )                                                                                    \
    {                                                                                                      \
        LANE_ARRAY(float, r);                                                                              \
                                                                                                           \
        ptxi_rounding_begin(i->mods);                                                                      \
        f32_of_##src(r, PTXI_SLOT(w, i->a));                                                               \
        ptxi_rounding_end(i->mods);                                                                        \
        ZERO_PLUS_##sign(r, r[l] == 0.0f);                                                                 \
        return write_f32(i, w, r);                                                                         \
    }                                                                                                      \
    OP( cvt_f64_##src )                                                                                    \
    {                                                                                                      \
        LANE_ARRAY(uint64_t, r);                                                                           \
                                                                                                           \
        ptxi_rounding_begin(i->mods);                                                                      \
        f64_of_##src(r, PTXI_SLOT(w, i->a));                                                               \
        ptxi_rounding_end(i->mods);                                                                        \
        ZERO_PLUS_##sign(r, r[l] << 1 == 0);                                                               \
        return write_f64(i, w, r);                                                                         \
    }                                                                                                      \
    OP( cvt_f16_##src )                                                                                    \
    {                                                                                                      \
        const slot_s *a = PTXI_SLOT(w, i->a);                                                              \
        LANE_ARRAY(float, f);                                                                              \
        LANE_ARRAY(uint16_t, r);                                                                           \
                                                                                                           \
        FOR_LANES f[l] = (float)(int32_t)BELOW_##sign((ts)a[l]);                                           \
        f16_of_f32(r, f, MODE_OF(i));                                                                      \
        return write_f16(i, w, r);                                                                         \
    }
INT_TO_FLOAT(u8, uint8_t, uint16_t, u)
INT_TO_FLOAT(s8, int8_t, uint16_t, s)
INT_TO_FLOAT(u16, uint16_t, uint16_t, u)
INT_TO_FLOAT(s16, int16_t, uint16_t, s)
INT_TO_FLOAT(u32, uint32_t, uint32_t, u)
INT_TO_FLOAT(s32, int32_t, uint32_t, s)
INT_TO_FLOAT(u64, uint64_t, uint64_t, u)
INT_TO_FLOAT(s64, int64_t, uint64_t, s)

/* --- float to float --- */
OP( cvt_f32_f16 )
{
    LANE_ARRAY(float, r);

    f32_of_f16(r, PTXI_SLOT(w, i->a));
    return write_f32(i, w, r);
}

/* Without modifiers bits pass through. */
OP( cvt_f32_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);
    LANE_ARRAY(float, r);

    if (i->mods & (PTXI_MOD_FTZ | PTXI_MOD_SAT)) {
        f32_of_f32(r, a, i->mods & PTXI_MOD_FTZ);
        return write_f32(i, w, r);
    }
    WRITE_LANES(d, a[l]);
    NEXT;
}

OP( cvt_f64_f64 )
{
    return write_f64(i, w, PTXI_SLOT(w, i->a));
}

/* Of f16 a NaN becomes canonical all the same. */
OP( cvt_f16_f16 )
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint16_t, r);

    FOR_LANES r[l] = (a[l] & 0x7fff) > 0x7c00 ? PTXI_NAN_F16 : a[l];
    return write_f16(i, w, r);
}

OP( cvt_f64_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint64_t, r);

    if (i->mods & PTXI_MOD_FTZ)
        FOR_LANES r[l] = ptxi_num_f64_from_f32(ptxi_num_canon_f32(ptxi_num_in_ftz_f32(a[l])));
    else
        FOR_LANES r[l] = ptxi_num_f64_from_f32(a[l]);
    return write_f64(i, w, r);
}

OP( cvt_f64_f16 )
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint64_t, r);

    FOR_LANES r[l] = ptxi_num_f64_from_f16(a[l]);
    return write_f64(i, w, r);
}

OP( cvt_rint_f32 )
{
    LANE_ARRAY(float, r);

    f32_of_f32(r, PTXI_SLOT(w, i->a), i->mods & PTXI_MOD_FTZ);
    integral_f32(r, ptxi_rounding_of(i->mods));
    return write_f32(i, w, r);
}

OP( cvt_rint_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(double, f);
    LANE_ARRAY(uint64_t, r);

    integral_f64(f, a, ptxi_rounding_of(i->mods));
    FOR_LANES r[l] = ptxi_num_nan1_f64(f[l], a[l]);
    return write_f64(i, w, r);
}

OP( cvt_rint_f16 )
{
    LANE_ARRAY(float, f);
    LANE_ARRAY(uint16_t, r);

    f32_of_f16(f, PTXI_SLOT(w, i->a));
    integral_f32(f, ptxi_rounding_of(i->mods));
    f16_of_f32(r, f, PTXI_NUM_RN);
    return write_f16(i, w, r);
}

PTXI_ROUNDED void f32_of_f64(float *restrict r, const uint64_t *a)
{
    FOR_LANES r[l] = (float)ptxi_num_f64(a[l]);
}

PTXI_ROUNDED void f32_of_f64_ftz(float *restrict r, const uint64_t *a)
{
    FOR_LANES r[l] = ptxi_num_flush_scaled_f32((float)ptxi_num_f64(a[l]), (float)(ptxi_num_f64(a[l]) * (double)PTXI_FTZ_SCALE));
}

OP( cvt_f32_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);
    LANE_ARRAY(float, r);

    ptxi_rounding_begin(i->mods);
    if (i->mods & PTXI_MOD_FTZ)
        f32_of_f64_ftz(r, a);
    else
        f32_of_f64(r, a);
    ptxi_rounding_end(i->mods);
    if (i->mods & PTXI_MOD_SAT)
        WRITE_LANES(d, ptxi_num_sat_f32(r[l]));
    else
        WRITE_LANES(d, ptxi_num_is_nan_f64(a[l]) ? ptxi_num_f32_nan_from_f64(a[l]) : ptxi_num_bits_f32(r[l]));
    NEXT;
}

/* .ftz has no effect here. */
OP( cvt_f16_f32 )
{
    LANE_ARRAY(float, f);
    LANE_ARRAY(uint16_t, r);

    f32_of_f32(f, PTXI_SLOT(w, i->a), false);
    f16_of_f32(r, f, MODE_OF(i));
    return write_f16(i, w, r);
}

OP( cvt_f16_f64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint16_t, r);

    for (int l = 0; l < PTXI_LANES; l++)
        r[l] = ptxi_num_f16_from_f64(a[l], MODE_OF(i));
    return write_f16(i, w, r);
}

OP( cvt_bf16_f32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint16_t *d = PTXI_SLOT(w, i->d);
    enum ptxi_num_rounding mode = MODE_OF(i);

    if (i->mods & PTXI_MOD_FTZ)
        WRITE_LANES_COLD(d, ptxi_num_bf16_from_f32(ptxi_num_flush_f32(a[l]), mode));
    else
        WRITE_LANES_COLD(d, ptxi_num_bf16_from_f32(a[l], mode));
    NEXT;
}

/* Without .ftz bits pass through, signalling NaNs too. */
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
