/* PTX ISA, "Data Movement and Conversion Instructions: cvt", integers to floats. An 8-bit source is in the low bits
 * of a 16-bit slot.
 *
 * An integer that the host cannot convert exactly is first shortened to fewer bits. The lowest of these is a sticky
 * bit: it is set if any bit below was set. The shortened number rounds to the same result, and vector conversions can
 * process it. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"

/* --- 32 bits to at most 24 significant ones, which is enough to round to 11 or fewer bits --- */
static inline uint32_t sticky32(uint32_t x, bool is_signed)
{
    bool large = is_signed ? x + (1u << 24) >= 1u << 25 : x >= 1u << 24;
    uint32_t shortened = (x & ~0x1ffu) | (x & 0x1ff ? 0x100 : 0);

    return large ? shortened : x;
}

/* The integer of a lane as a float, exactly. Some compilers do not vectorize the sign extension of a byte, so the
 * byte is converted as the upper byte and scaled. */
#define OF_u8(t, x) ((t)(int32_t)((x) & 0xff))
#define OF_s8(t, x) ((t)(int16_t)(uint16_t)((x) << 8) * (t)0x1p-8)
#define OF_u16(t, x) ((t)(int32_t)(x))
#define OF_s16(t, x) ((t)(int16_t)(x))
#define OF_u32(t, x) ((t)(uint32_t)(x))
#define OF_s32(t, x) ((t)(int32_t)(x))
#define OF_u64(t, x) ((t)(uint64_t)(x))
#define OF_s64(t, x) ((t)(int64_t)(x))

/* Whether any integer has more than 24 significant bits. */
static inline bool any_longer_than_24_bits(const uint32_t *a, bool is_signed)
{
    uint32_t all = 0;

    FOR_LANES all |= is_signed ? a[l] + (1u << 24) : a[l];
    return all >> (is_signed ? 25 : 24);
}

/* --- conversions to f32, exact except for shortened integers --- */
OUT_OF_LINE void sticky_f32_of_long_s32(float *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = (float)(int32_t)sticky32(a[l], true);
}

/* Converts two halves. Their sum has 24 bits. */
OUT_OF_LINE void sticky_f32_of_long_u32(float *restrict r, const uint32_t *a)
{
    FOR_LANES {
        uint32_t x = sticky32(a[l], false);

        r[l] = (float)(int32_t)(x >> 16) * 0x1p16f + (float)(int32_t)(x & 0xffff);
    }
}

#define STICKY_F32_OF_32(src, is_signed)                                  \
    static void sticky_f32_of_##src(float *restrict r, const uint32_t *a) \
    {                                                                     \
        if (__builtin_expect(any_longer_than_24_bits(a, is_signed), 0))   \
            sticky_f32_of_long_##src(r, a);                               \
        else                                                              \
            FOR_LANES r[l] = (float)(int32_t)a[l];                        \
    }
STICKY_F32_OF_32(u32, false)
STICKY_F32_OF_32(s32, true)

/* --- conversions to f32 for a following conversion to f16: exact, except that integers above the range of f16 become
 * some number above it --- */
static void clamped_f32_of_s32(float *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = (float)(int32_t)a[l];
}

static void clamped_f32_of_u32(float *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = (float)(int32_t)(a[l] < INT32_MAX ? a[l] : INT32_MAX);
}

#define EXACT_16(src)                                                    \
    static void exact_f32_of_##src(float *restrict r, const uint16_t *a) \
    {                                                                    \
        FOR_LANES r[l] = OF_##src(float, a[l]);                          \
    }
EXACT_16(u8)
EXACT_16(s8)
EXACT_16(u16)
EXACT_16(s16)

/* --- rounded conversions, and those of 64-bit integers. Without AVX-512 they round in the host's current mode. If
 * that is downward, a sum of two halves that is 0 is -0, so its sign is cleared. --- */
#if defined(__AVX512DQ__)
/* The host has these conversions in any rounding mode. */
#define ROUNDED_OF(dst, t, src, bits, count, vector)                                          \
    static inline void rounded_##dst##_of_##src(t *r, const bits *a, enum ptxi_rounding mode) \
    {                                                                                         \
        PTXI_IN_ROUNDING(mode, for (int l = 0; l < PTXI_LANES; l += count)                    \
                                   _mm512_store_si512(r + l, (__m512i)(vector));)             \
    }
#define AT(l) _mm512_load_si512(a + (l))
ROUNDED_OF(f32, float, u32, uint32_t, 16, _mm512_cvt_roundepu32_ps(AT(l), ROUNDING))
ROUNDED_OF(f32, float, s32, uint32_t, 16, _mm512_cvt_roundepi32_ps(AT(l), ROUNDING))
ROUNDED_OF(f32, float, u64, uint64_t, 16,
           ptxi_concat_ps(_mm512_cvt_roundepu64_ps(AT(l), ROUNDING), _mm512_cvt_roundepu64_ps(AT(l + 8), ROUNDING)))
ROUNDED_OF(f32, float, s64, uint64_t, 16,
           ptxi_concat_ps(_mm512_cvt_roundepi64_ps(AT(l), ROUNDING), _mm512_cvt_roundepi64_ps(AT(l + 8), ROUNDING)))
ROUNDED_OF(f64, double, u64, uint64_t, 8, _mm512_cvt_roundepu64_pd(AT(l), ROUNDING))
ROUNDED_OF(f64, double, s64, uint64_t, 8, _mm512_cvt_roundepi64_pd(AT(l), ROUNDING))
#undef AT

#define FROM_64(src, from)                                                       \
    static inline void sticky_f32_of_##src(float *restrict r, const uint64_t *a) \
    {                                                                            \
        STORE_ODD_FLOATS(r, a, si512, from);                                     \
    }                                                                            \
    static inline void clamped_f32_of_##src(float *r, const uint64_t *a)         \
    {                                                                            \
        rounded_f32_of_##src(r, a, PTXI_RN);                                     \
    }
FROM_64(u64, epu64)
FROM_64(s64, epi64)
#else
PTXI_ROUNDING_FUNCTION void rounded_f32_of_s32(float *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = (float)(int32_t)a[l];
}

PTXI_ROUNDING_FUNCTION void rounded_f32_of_u32(float *restrict r, const uint32_t *a)
{
    FOR_LANES r[l] = __builtin_fabsf((float)(int32_t)(a[l] >> 16) * 0x1p16f + (float)(int32_t)(a[l] & 0xffff));
}

/* Shortens to at most 53 bits, which is enough to round to 24 or fewer bits. */
static inline uint64_t sticky64(uint64_t x, bool is_signed)
{
    bool large = (is_signed ? (x + ((uint64_t)1 << 53)) >> 54 : x >> 53) != 0;
    uint64_t cut = (x & ~(uint64_t)0xfff) | (x & 0xfff ? 0x800 : 0);

    return large ? cut : x;
}

/* The halves of an integer as exact floats, minus a power of two that cancels in the sum. */
static inline double upper_half(uint64_t x, bool is_signed)
{
    double bias = is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52;

    return ptxi_num_f64(0x4530000000000000 | (is_signed ? x ^ (uint64_t)1 << 63 : x) >> 32) - bias;
}

static inline double lower_half(uint64_t x)
{
    return ptxi_num_f64(0x4330000000000000 | (x & 0xffffffff));
}

static inline double sticky_f64(uint64_t x, bool is_signed)
{
    x = sticky64(x, is_signed);
    return upper_half(x, is_signed) + lower_half(x);
}

/* Whether any integer is below -2^51, or 2^51 or more. Any other integer becomes a float if it is added to the bits
 * of 1.5 * 2^52. */
static inline bool any_longer_than_51_bits(const uint64_t *a, bool is_signed)
{
    uint64_t all = 0, least = (uint64_t)1 << 51;

    FOR_LANES all |= a[l];
    if (is_signed && all >> 63) {
        all = 0;
        FOR_LANES all |= a[l] + least;
        return all >> 52;
    }
    return all >> 51;
}

static inline double f64_of_short(uint64_t x)
{
    return ptxi_num_f64(x + 0x4338000000000000) - 0x1.8p52;
}

#define STICKY_F64(src, is_signed)                                              \
    OUT_OF_LINE void sticky_f64_of_##src(double *restrict r, const uint64_t *a) \
    {                                                                           \
        if (__builtin_expect(any_longer_than_51_bits(a, is_signed), 0))         \
            FOR_LANES r[l] = sticky_f64(a[l], is_signed);                       \
        else                                                                    \
            FOR_LANES r[l] = f64_of_short(a[l]);                                \
    }
STICKY_F64(u64, false)
STICKY_F64(s64, true)

#define STICKY_F32(src, is_signed)                                                  \
    OUT_OF_LINE void sticky_f32_of_long_##src(float *restrict r, const uint64_t *a) \
    {                                                                               \
        FOR_LANES r[l] = ptxi_num_f32_odd_normal(sticky_f64(a[l], is_signed));      \
    }                                                                               \
    static void sticky_f32_of_##src(float *restrict r, const uint64_t *a)           \
    {                                                                               \
        if (__builtin_expect(any_longer_than_51_bits(a, is_signed), 0))             \
            sticky_f32_of_long_##src(r, a);                                         \
        else                                                                        \
            FOR_LANES r[l] = ptxi_num_f32_odd_normal(f64_of_short(a[l]));           \
    }
STICKY_F32(u64, false)
STICKY_F32(s64, true)

#define CLAMPED_F32(src, is_signed)                                                  \
    OUT_OF_LINE void clamped_f32_of_long_##src(float *restrict r, const uint64_t *a) \
    {                                                                                \
        FOR_LANES r[l] = (float)(upper_half(a[l], is_signed) + lower_half(a[l]));    \
    }                                                                                \
    static void clamped_f32_of_##src(float *restrict r, const uint64_t *a)           \
    {                                                                                \
        LANE_ARRAY(uint32_t, low);                                                   \
        uint64_t all = 0;                                                            \
                                                                                     \
        FOR_LANES all |= a[l];                                                       \
        if (__builtin_expect(all >> 32 != 0, 0)) {                                   \
            clamped_f32_of_long_##src(r, a);                                         \
        } else {                                                                     \
            FOR_LANES low[l] = (uint32_t)a[l];                                       \
            clamped_f32_of_u32(r, low);                                              \
        }                                                                            \
    }
CLAMPED_F32(u64, false)
CLAMPED_F32(s64, true)

PTXI_ROUNDING_FUNCTION void rounded_f32_of_f64(float *restrict r, const double *a)
{
    FOR_LANES r[l] = (float)a[l];
}

PTXI_ROUNDING_FUNCTION void rounded_f64_of_u64(double *restrict r, const uint64_t *a)
{
    FOR_LANES r[l] = __builtin_fabs(upper_half(a[l], false) + lower_half(a[l]));
}

PTXI_ROUNDING_FUNCTION void rounded_f64_of_s64(double *restrict r, const uint64_t *a)
{
    FOR_LANES {
        double x = upper_half(a[l], true) + lower_half(a[l]);

        r[l] = a[l] ? x : 0.0;
    }
}
#endif

/* --- results --- */
HANDLER_PART(OUT_OF_LINE, finish_f32, float *r)
{
    if (i->mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_f32(ptxi_num_sat_f32(r[l]));
    NEXT_WITH_RESULT(r);
}

HANDLER_PART(OUT_OF_LINE, finish_f64, double *r)
{
    if (i->mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_f64(ptxi_num_sat_f64(r[l]));
    NEXT_WITH_RESULT(r);
}

#define FINISH_HALF(half, attributes)                       \
    HANDLER_PART(attributes, finish_##half, const float *f) \
    {                                                       \
        RESULT_LANES(uint16_t, r);                          \
                                                            \
        half##_of_non_nan(r, f, ROUNDING_MODE(i));          \
        apply_limits_##half(r, i->mods);                    \
        NEXT_WITH_RESULT(r);                                \
    }
FINISH_HALF(f16, OUT_OF_LINE)
FINISH_HALF(bf16, ALWAYS_INLINE)

/* --- handlers --- */
#define HALF_OP(half, how, src)                    \
    OP( cvt_##half##_##src )                       \
    {                                              \
        LANE_ARRAY(float, f);                      \
                                                   \
        how##_f32_of_##src(f, PTXI_SLOT(w, i->a)); \
        return finish_##half(i, w, f);             \
    }
#define HALF_OPS_FROM_16(src) HALF_OP(f16, exact, src) HALF_OP(bf16, exact, src)
HALF_OPS_FROM_16(u8)
HALF_OPS_FROM_16(s8)
HALF_OPS_FROM_16(u16)
HALF_OPS_FROM_16(s16)
#define HALF_OPS_FROM(src) HALF_OP(f16, clamped, src) HALF_OP(bf16, sticky, src)
HALF_OPS_FROM(u32)
HALF_OPS_FROM(s32)
HALF_OPS_FROM(u64)
HALF_OPS_FROM(s64)

#define EXACT_OP(dst, t, src, slot)         \
    OP( cvt_##dst##_##src )                 \
    {                                       \
        const slot *a = PTXI_SLOT(w, i->a); \
        RESULT_LANES(t, r);                 \
                                            \
        FOR_LANES r[l] = OF_##src(t, a[l]); \
        return finish_##dst(i, w, r);       \
    }
#define EXACT_OPS(src)                  \
    EXACT_OP(f32, float, src, uint16_t) \
    EXACT_OP(f64, double, src, uint16_t)
EXACT_OPS(u8)
EXACT_OPS(s8)
EXACT_OPS(u16)
EXACT_OPS(s16)
EXACT_OP(f64, double, u32, uint32_t)
EXACT_OP(f64, double, s32, uint32_t)

#if defined(__AVX512DQ__)
/* The part that needs a buffer is a separate function, so that the handler itself needs no stack frame. */
#define ROUNDED_OP(dst, t, src)                                                                      \
    HANDLER_PART(OUT_OF_LINE, dst##_of_some_##src)                                                   \
    {                                                                                                \
        RESULT_LANES(t, r);                                                                          \
                                                                                                     \
        rounded_##dst##_of_##src(r, PTXI_SLOT(w, i->a), ptxi_rounding_of(i->mods));                  \
        return finish_##dst(i, w, r);                                                                \
    }                                                                                                \
    OP( cvt_##dst##_##src )                                                                          \
    {                                                                                                \
        if (__builtin_expect(w->active != PTXI_ALL_LANES || (i->mods & PTXI_MOD_SAT), 0))            \
            return dst##_of_some_##src(i, w);                                                        \
        rounded_##dst##_of_##src(PTXI_SLOT(w, i->d), PTXI_SLOT(w, i->a), ptxi_rounding_of(i->mods)); \
        NEXT;                                                                                        \
    }
#else
#define ROUNDED_OP(dst, t, src)                          \
    OP( cvt_##dst##_##src )                              \
    {                                                    \
        RESULT_LANES(t, r);                              \
                                                         \
        ptxi_rounding_begin(i->mods);                    \
        rounded_##dst##_of_##src(r, PTXI_SLOT(w, i->a)); \
        ptxi_rounding_end(i->mods);                      \
        return finish_##dst(i, w, r);                    \
    }
#endif
ROUNDED_OP(f32, float, u32)
ROUNDED_OP(f32, float, s32)
ROUNDED_OP(f64, double, u64)
ROUNDED_OP(f64, double, s64)

#if defined(__AVX512DQ__)
ROUNDED_OP(f32, float, u64)
ROUNDED_OP(f32, float, s64)
#else
#define STICKY_F32_OP(src)                          \
    OP( cvt_f32_##src )                             \
    {                                               \
        LANE_ARRAY(double, f);                      \
        RESULT_LANES(float, r);                     \
                                                    \
        sticky_f64_of_##src(f, PTXI_SLOT(w, i->a)); \
        ptxi_rounding_begin(i->mods);               \
        rounded_f32_of_f64(r, f);                   \
        ptxi_rounding_end(i->mods);                 \
        return finish_f32(i, w, r);                 \
    }
STICKY_F32_OP(u64)
STICKY_F32_OP(s64)
#endif
