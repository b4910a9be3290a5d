/* PTX ISA, "Data Movement and Conversion Instructions: cvt", floats to integers: rounded, then saturated to the destination's
 * range. A NaN becomes 0, but from f64 or to 64 bits the value of which only the top bit is set. An 8-bit destination fills a
 * 16-bit slot, extended by its sign. */
#include "exec/arith/convert.h"

/* In the lower 32 bits of this, a whole number within 32 bits, signed or not. */
static inline uint64_t whole_bits(double x)
{
    return ptxi_num_bits_f64(x + 0x1.8p52);
}

/* --- of whole numbers, infinities and NaNs. What a loop for all lanes does not do right is seldom there: then it is done again. --- */
static __attribute__((noinline)) void narrow_of_f32(uint16_t *restrict r, const float *restrict a, float min, float max)
{
    LANE_ARRAY(float, x);

    ptxi_clamp_f32(x, a, min, max);
    FOR_LANES r[l] = (uint16_t)(int32_t)x[l];
    if (min < 0 && __builtin_expect(ptxi_any_nan_f32(a), 0))
        FOR_LANES r[l] = a[l] == a[l] ? r[l] : 0;
}

static __attribute__((noinline)) void any_s32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    FOR_LANES {
        float x = a[l] > -0x1p31f ? a[l] : -0x1p31f;
        bool fits = x < 0x1p31f;
        uint32_t t = (uint32_t)(int32_t)(fits ? x : 0.0f);

        t = fits ? t : INT32_MAX;
        r[l] = a[l] == a[l] ? t : 0;
    }
}

static __attribute__((noinline)) void s32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    if (__builtin_expect(ptxi_any_beyond_f32(a, 0x1p31f), 0))
        any_s32_of_f32(r, a);
    else
        FOR_LANES r[l] = (uint32_t)(int32_t)a[l];
}

static __attribute__((noinline)) void any_u32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    FOR_LANES {
        float x = a[l] > 0.0f ? a[l] : 0.0f;
        bool large = x >= 0x1p31f, fits = x < 0x1p32f;
        uint32_t t = (uint32_t)(int32_t)(fits ? x - (large ? 0x1p31f : 0.0f) : 0.0f) + (large ? 0x80000000 : 0);

        r[l] = fits ? t : UINT32_MAX;
    }
}

static __attribute__((noinline)) void u32_of_f32(uint32_t *restrict r, const float *restrict a)
{
    LANE_ARRAY(float, x);

    ptxi_clamp_f32(x, a, 0.0f, 0x1p32f);
    if (__builtin_expect(ptxi_any_beyond_f32(x, 0x1p31f), 0))
        any_u32_of_f32(r, a);
    else
        FOR_LANES r[l] = (uint32_t)(int32_t)x[l];
}

static __attribute__((noinline)) void narrow_of_f64(uint16_t *restrict r, const double *restrict a, double min, double max, uint16_t nan)
{
    LANE_ARRAY(double, x);

    ptxi_clamp_f64(x, a, min, max);
    FOR_LANES r[l] = (uint16_t)(int32_t)x[l];
    if (__builtin_expect(ptxi_any_nan_f64(a), 0))
        FOR_LANES r[l] = a[l] == a[l] ? r[l] : nan;
}

#define B32_OF_F64(name, min, max, bits_of)                                                              \
    static __attribute__((noinline)) void name(uint32_t *restrict r, const double *restrict a)           \
    {                                                                                                    \
        LANE_ARRAY(double, x);                                                                           \
                                                                                                         \
        ptxi_clamp_f64(x, a, min, max);                                                                  \
        FOR_LANES r[l] = (uint32_t)bits_of(x[l]);                                                        \
        if (__builtin_expect(ptxi_any_nan_f64(a), 0))                                                    \
            FOR_LANES r[l] = a[l] == a[l] ? r[l] : 0x80000000;                                           \
    }
B32_OF_F64(s32_of_f64, INT32_MIN, INT32_MAX, (int32_t))
#if defined(__AVX512F__)
B32_OF_F64(u32_of_f64, 0, UINT32_MAX, (uint32_t))
#else
B32_OF_F64(u32_of_f64, 0, UINT32_MAX, whole_bits)
#endif

/* Magnitudes up to which 64 bits are made in a step or two. */
#if defined(__AVX512DQ__)
#define SMALL_S64 0x1p63f
#define SMALL_U64 0x1p64f
#define S64_OF_SMALL(x) ((uint64_t)(int64_t)(x))
#define U64_OF_SMALL(x) ((uint64_t)(x))
#else
#define SMALL_S64 0x1p51f
#define SMALL_U64 0x1p51f
#define S64_OF_SMALL(x) (whole_bits(x) - 0x4338000000000000)
#define U64_OF_SMALL(x) S64_OF_SMALL(x)
#endif

/* In two halves. Below min the result is low, from `beyond` on it is high. */
#define B64_OF(from, t)                                                                                                        \
    static __attribute__((noinline)) void any_b64_of_##from(uint64_t *restrict r, const t *restrict a, double min, double beyond, \
                                                            uint64_t low, uint64_t high)                                       \
    {                                                                                                                          \
        FOR_LANES {                                                                                                            \
            double x = (double)a[l], upper = __builtin_floor(x * 0x1p-32);                                                     \
            uint64_t b = whole_bits(upper) << 32 | (whole_bits(x - upper * 0x1p32) & 0xffffffff);                              \
                                                                                                                               \
            b = x < min ? low : b;                                                                                             \
            b = x < beyond ? b : high;                                                                                         \
            r[l] = x == x ? b : (uint64_t)1 << 63;                                                                             \
        }                                                                                                                      \
    }                                                                                                                          \
    static __attribute__((noinline)) void s64_of_##from(uint64_t *restrict r, const t *restrict a)                             \
    {                                                                                                                          \
        if (__builtin_expect(ptxi_any_beyond_##from(a, SMALL_S64), 0))                                                         \
            any_b64_of_##from(r, a, -0x1p63, 0x1p63, (uint64_t)INT64_MIN, INT64_MAX);                                          \
        else                                                                                                                   \
            FOR_LANES r[l] = S64_OF_SMALL((double)a[l]);                                                                       \
    }                                                                                                                          \
    static __attribute__((noinline)) void any_u64_of_##from(uint64_t *restrict r, const t *restrict a)                         \
    {                                                                                                                          \
        LANE_ARRAY(t, x);                                                                                                      \
                                                                                                                               \
        ptxi_clamp_##from(x, a, 0, SMALL_U64);                                                                                 \
        if (__builtin_expect(ptxi_any_beyond_##from(x, SMALL_U64) || ptxi_any_nan_##from(a), 0))                               \
            any_b64_of_##from(r, a, 0.0, 0x1p64, 0, UINT64_MAX);                                                               \
        else                                                                                                                   \
            FOR_LANES r[l] = U64_OF_SMALL((double)x[l]);                                                                       \
    }                                                                                                                          \
    static __attribute__((noinline)) void u64_of_##from(uint64_t *restrict r, const t *restrict a)                             \
    {                                                                                                                          \
        if (__builtin_expect(ptxi_any_outside_##from(a, SMALL_U64), 0))                                                        \
            any_u64_of_##from(r, a);                                                                                           \
        else                                                                                                                   \
            FOR_LANES r[l] = U64_OF_SMALL((double)a[l]);                                                                       \
    }
B64_OF(f32, float)
B64_OF(f64, double)

/* --- sources, as whole numbers --- */
static void whole_f32(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const uint32_t *a = PTXI_SLOT(w, i->a);

    if (i->mods & PTXI_MOD_FTZ) {
        FOR_LANES r[l] = ptxi_num_in_ftz_f32(a[l]);
        integral_f32(r, r, MODE_OF(i));
    } else {
        integral_f32(r, PTXI_SLOT(w, i->a), MODE_OF(i));
    }
}

static void whole_f16(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    f32_of_f16(r, PTXI_SLOT(w, i->a));
    integral_f32(r, r, MODE_OF(i));
}

static void whole_bf16(float *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    f32_of_bf16(r, PTXI_SLOT(w, i->a));
    integral_f32(r, r, MODE_OF(i));
}

static void whole_f64(double *restrict r, const struct ptxi_insn *i, struct ptxi_warp *w)
{
    integral_f64(r, PTXI_SLOT(w, i->a), MODE_OF(i));
}

#define NARROW_OF_f32(r, f, min, max, nan) narrow_of_f32(r, f, min, max)
#define NARROW_OF_f64(r, f, min, max, nan) narrow_of_f64(r, f, min, max, (uint16_t)(nan))
#define TO_s8(r, f, via) NARROW_OF_##via(r, f, INT8_MIN, INT8_MAX, INT8_MIN)
#define TO_u8(r, f, via) NARROW_OF_##via(r, f, 0, UINT8_MAX, 0x80)
#define TO_s16(r, f, via) NARROW_OF_##via(r, f, INT16_MIN, INT16_MAX, 0x8000)
#define TO_u16(r, f, via) NARROW_OF_##via(r, f, 0, UINT16_MAX, 0x8000)
#define TO_s32(r, f, via) s32_of_##via(r, f)
#define TO_u32(r, f, via) u32_of_##via(r, f)
#define TO_s64(r, f, via) s64_of_##via(r, f)
#define TO_u64(r, f, via) u64_of_##via(r, f)

#define TO_INT(dst, slot, src, via, t)         \
    OP( cvt_##dst##_##src )                    \
    {                                          \
        LANE_ARRAY(t, f);                      \
        RESULT_LANES(slot, r);                 \
                                               \
        whole_##src(f, i, w);                  \
        TO_##dst(r, f, via);                   \
        NEXT_WITH_RESULT(r);                   \
    }
#define TO_ALL_INTS(src, via, t)             \
    TO_INT(u8, uint16_t, src, via, t)        \
    TO_INT(s8, uint16_t, src, via, t)        \
    TO_INT(u16, uint16_t, src, via, t)       \
    TO_INT(s16, uint16_t, src, via, t)       \
    TO_INT(u32, uint32_t, src, via, t)       \
    TO_INT(s32, uint32_t, src, via, t)       \
    TO_INT(u64, uint64_t, src, via, t)       \
    TO_INT(s64, uint64_t, src, via, t)
TO_ALL_INTS(f16, f32, float)
TO_ALL_INTS(bf16, f32, float)
TO_ALL_INTS(f32, f32, float)
TO_ALL_INTS(f64, f64, double)
