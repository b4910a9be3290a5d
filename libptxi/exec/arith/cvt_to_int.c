/* PTX ISA, "Data Movement and Conversion Instructions: cvt", floats to integers. The value is rounded to an integral
 * value, which is then saturated to the range of the destination. A NaN becomes 0, but if the source is f64 or the
 * destination has 64 bits, the value with only the top bit set. An 8-bit destination is sign-extended to its 16-bit
 * slot. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"

/* The lower 32 bits are the integer x, which must be in the range of s32 or u32. */
static inline uint64_t integral_bits(double x)
{
    return ptxi_num_bits_f64(x + 0x1.8p52);
}

/* --- conversions of integral values, infinities and NaNs. A loop for the usual values is followed, if necessary, by
 * one that corrects the rest. --- */
OUT_OF_LINE void b16_of_f32(uint16_t *restrict r, const float *restrict a, float min, float max)
{
    LANE_ARRAY(float, x);

    ptxi_clamp_f32(x, a, min, max);
    FOR_LANES r[l] = (uint16_t)(int32_t)x[l];
    if (min < 0 && __builtin_expect(ptxi_any_nan_f32(a), 0))
        FOR_LANES r[l] = a[l] == a[l] ? r[l] : 0;
}

OUT_OF_LINE void any_s32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    FOR_LANES {
        float x = a[l] > -0x1p31f ? a[l] : -0x1p31f;
        bool fits = x < 0x1p31f;
        uint32_t t = (uint32_t)(int32_t)(fits ? x : 0.0f);

        t = fits ? t : INT32_MAX;
        r[l] = a[l] == a[l] ? t : 0;
    }
}

OUT_OF_LINE void s32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    if (__builtin_expect(ptxi_any_beyond_f32(a, 0x1p31f), 0))
        any_s32_of_f32(r, a);
    else
        FOR_LANES r[l] = (uint32_t)(int32_t)a[l];
}

OUT_OF_LINE void any_u32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    FOR_LANES {
        float x = a[l] > 0.0f ? a[l] : 0.0f;
        bool large = x >= 0x1p31f, fits = x < 0x1p32f;
        float offset = large ? 0x1p31f : 0.0f;
        uint32_t t = (uint32_t)(int32_t)(fits ? x - offset : 0.0f);

        t += large ? 0x80000000 : 0;
        r[l] = fits ? t : UINT32_MAX;
    }
}

OUT_OF_LINE void u32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    LANE_ARRAY(float, x);

    ptxi_clamp_f32(x, a, 0.0f, 0x1p32f);
    if (__builtin_expect(ptxi_any_beyond_f32(x, 0x1p31f), 0))
        any_u32_of_f32(r, a);
    else
        FOR_LANES r[l] = (uint32_t)(int32_t)x[l];
}

OUT_OF_LINE void b16_of_f64(uint16_t *restrict r, const double *restrict a, double min, double max,
                                  uint16_t nan)
{
    LANE_ARRAY(double, x);

    ptxi_clamp_f64(x, a, min, max);
    FOR_LANES r[l] = (uint16_t)(int32_t)x[l];
    if (__builtin_expect(ptxi_any_nan_f64(a), 0))
        FOR_LANES r[l] = a[l] == a[l] ? r[l] : nan;
}

#define B32_OF_F64(name, min, max, bits_of)                               \
    OUT_OF_LINE void name(uint32_t *restrict r, const double *restrict a) \
    {                                                                     \
        LANE_ARRAY(double, x);                                            \
                                                                          \
        ptxi_clamp_f64(x, a, min, max);                                   \
        FOR_LANES r[l] = (uint32_t)bits_of(x[l]);                         \
        if (__builtin_expect(ptxi_any_nan_f64(a), 0))                     \
            FOR_LANES r[l] = a[l] == a[l] ? r[l] : 0x80000000;            \
    }
B32_OF_F64(s32_of_f64, INT32_MIN, INT32_MAX, (int32_t))
#if defined(__AVX512F__)
B32_OF_F64(u32_of_f64, 0, UINT32_MAX, (uint32_t))
#else
B32_OF_F64(u32_of_f64, 0, UINT32_MAX, integral_bits)
#endif

/* Magnitudes below which the conversion to 64 bits takes a step or two. */
#if defined(__AVX512DQ__)
#define SMALL_S64 0x1p63f
#define SMALL_U64 0x1p64f
#define S64_OF_SMALL(x) ((uint64_t)(int64_t)(x))
#define U64_OF_SMALL(x) ((uint64_t)(x))
#else
#define SMALL_S64 0x1p51f
#define SMALL_U64 0x1p51f
#define S64_OF_SMALL(x) (integral_bits(x) - 0x4338000000000000)
#define U64_OF_SMALL(x) S64_OF_SMALL(x)
#endif

#define FROM f32
#define FROM_TYPE float
#include "exec/arith/cvt_to_b64_inl.h"
#define FROM f64
#define FROM_TYPE double
#include "exec/arith/cvt_to_b64_inl.h"

/* --- sources, rounded to integral values --- */
static void read_integral_f32(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);

    if (i->mods & PTXI_MOD_FTZ) {
        FOR_LANES r[l] = ptxi_num_in_ftz_f32(a[l]);
        round_to_integral_f32(r, r, ROUNDING_MODE(i));
    } else {
        round_to_integral_f32(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
    }
}

static void read_integral_f16(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    f32_of_f16(r, PTXI_SLOT(w, i->a));
    round_to_integral_f32(r, r, ROUNDING_MODE(i));
}

static void read_integral_bf16(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    f32_of_bf16(r, PTXI_SLOT(w, i->a));
    round_to_integral_f32(r, r, ROUNDING_MODE(i));
}

static void read_integral_f64(double *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    round_to_integral_f64(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i));
}

#define B16_OF_f32(r, f, min, max, nan) b16_of_f32(r, f, min, max)
#define B16_OF_f64(r, f, min, max, nan) b16_of_f64(r, f, min, max, (uint16_t)(nan))
#define TO_s8(r, f, via) B16_OF_##via(r, f, INT8_MIN, INT8_MAX, INT8_MIN)
#define TO_u8(r, f, via) B16_OF_##via(r, f, 0, UINT8_MAX, 0x80)
#define TO_s16(r, f, via) B16_OF_##via(r, f, INT16_MIN, INT16_MAX, 0x8000)
#define TO_u16(r, f, via) B16_OF_##via(r, f, 0, UINT16_MAX, 0x8000)
#define TO_s32(r, f, via) s32_of_##via(r, f)
#define TO_u32(r, f, via) u32_of_##via(r, f)
#define TO_s64(r, f, via) s64_of_##via(r, f)
#define TO_u64(r, f, via) u64_of_##via(r, f)

#define TO_INT_OP(dst, slot, src, via, t) \
    OP( cvt_##dst##_##src )               \
    {                                     \
        LANE_ARRAY(t, f);                 \
        RESULT_LANES(slot, r);            \
                                          \
        read_integral_##src(f, i, w);     \
        TO_##dst(r, f, via);              \
        NEXT_WITH_RESULT(r);              \
    }
#define TO_INT_OPS(src, via, t)           \
    TO_INT_OP(u8, uint16_t, src, via, t)  \
    TO_INT_OP(s8, uint16_t, src, via, t)  \
    TO_INT_OP(u16, uint16_t, src, via, t) \
    TO_INT_OP(s16, uint16_t, src, via, t) \
    TO_INT_OP(u32, uint32_t, src, via, t) \
    TO_INT_OP(s32, uint32_t, src, via, t) \
    TO_INT_OP(u64, uint64_t, src, via, t) \
    TO_INT_OP(s64, uint64_t, src, via, t)
TO_INT_OPS(f16, f32, float)
TO_INT_OPS(bf16, f32, float)
TO_INT_OPS(f32, f32, float)
TO_INT_OPS(f64, f64, double)
