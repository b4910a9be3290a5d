/* Conversions of the lanes of a register from one format to another. Conversion instructions use them, and operations
 * that compute in a wider format. All arrays are aligned like registers. */
#ifndef PTXI_EXEC_ARITH_CONVERT_H
#define PTXI_EXEC_ARITH_CONVERT_H

#include "exec/engine/op_shapes.h"
#include "exec/arith/rounding.h"
#include "num/convert.h"

#define ROUNDING_MODE(i) ((enum ptxi_num_rounding)ptxi_rounding_of((i)->mods))

#define f16_of_f32 PTXI_LEVELED(f16_of_f32)
#define bf16_of_f32 PTXI_LEVELED(bf16_of_f32)
#define round_to_integral_f32 PTXI_LEVELED(round_to_integral_f32)
#define round_to_integral_f64 PTXI_LEVELED(round_to_integral_f64)

/* Exact. A NaN keeps its sign and payload; it may or may not become quiet. */
#if defined(__AVX512F__)
static inline void f32_of_f16(float *restrict r, const uint16_t *restrict a)
{
    for (int l = 0; l < PTXI_LANES; l += 16)
        _mm512_store_ps(r + l, _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(a + l))));
}
#elif defined(__F16C__)
static inline void f32_of_f16(float *restrict r, const uint16_t *restrict a)
{
    for (int l = 0; l < PTXI_LANES; l += 8)
        _mm256_store_ps(r + l, _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(a + l))));
}
#else
#define f32_of_f16 PTXI_LEVELED(f32_of_f16)
void f32_of_f16(float *restrict r, const uint16_t *restrict a);
#endif

/* Rounds to nearest. A NaN becomes some NaN. */
static inline void f16_nearest_of_f32(uint16_t *r, const float *a)
{
#if defined(__AVX512F__)
    for (int l = 0; l < PTXI_LANES; l += 32) {
        __m256i low = _mm512_cvtps_ph(_mm512_load_ps(a + l), _MM_FROUND_TO_NEAREST_INT);

        __m256i high = _mm512_cvtps_ph(_mm512_load_ps(a + l + 16), _MM_FROUND_TO_NEAREST_INT);

        _mm512_store_si512(r + l, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
    }
#elif defined(__F16C__)
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m128i low = _mm256_cvtps_ph(_mm256_load_ps(a + l), _MM_FROUND_TO_NEAREST_INT);

        __m128i high = _mm256_cvtps_ph(_mm256_load_ps(a + l + 8), _MM_FROUND_TO_NEAREST_INT);

        _mm256_store_si256((__m256i *)(r + l), _mm256_set_m128i(high, low));
    }
#else
    FOR_LANES r[l] = ptxi_num_f16_from_f32(ptxi_num_bits_f32(a[l]), PTXI_NUM_RN);
#endif
}

/* Round in any mode. A NaN becomes the canonical one. */
void f16_of_f32(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode);
void bf16_of_f32(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode);

/* One loop for each rounding, in which `mode` is a constant. */
#define IN_MODE(constant, assignment)                     \
    case constant:                                        \
        FOR_LANES {                                       \
            const enum ptxi_num_rounding mode = constant; \
            assignment;                                   \
        }                                                 \
        break;
#define FOR_LANES_IN_MODE(assignment)     \
    switch (mode) {                       \
    IN_MODE(PTXI_NUM_RN, assignment)      \
    IN_MODE(PTXI_NUM_RZ, assignment)      \
    IN_MODE(PTXI_NUM_RM, assignment)      \
    IN_MODE(PTXI_NUM_RP, assignment)      \
    }

/* Round in any mode. The operands must not be NaNs. */
#define f16_of_non_nan f16_of_f32
static inline void bf16_of_non_nan(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode)
{
    FOR_LANES_IN_MODE(r[l] = (uint16_t)(ptxi_num_bf16_rounded(ptxi_num_bits_f32(a[l]), mode) >> 16))
}

/* Round to integral values. r may be a. */
void round_to_integral_f32(float *r, const float *a, enum ptxi_num_rounding mode);
void round_to_integral_f64(double *r, const double *a, enum ptxi_num_rounding mode);

/* Apply .sat, .relu and .satfinite to results. A NaN has no sign, except one that was converted from f64. */
static inline void apply_limits_f16(uint16_t *r, unsigned mods)
{
    if (mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] -= (r[l] & 0x7fff) == ptxi_num_f16.inf;
    if (mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (int16_t)r[l] < 0 ? 0 : r[l];
    if (mods & PTXI_MOD_SAT)
        FOR_LANES r[l] = ptxi_num_sat_f16(r[l]);
}

static inline void apply_limits_bf16(uint16_t *r, unsigned mods)
{
    if (mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] -= (r[l] & 0x7fff) == ptxi_num_bf16.inf;
    if (mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (int16_t)r[l] < 0 ? 0 : r[l];
}

#if defined(__AVX512DQ__)
/* Rounds to odd: of the two adjacent floats, the one with the smaller magnitude, with its last bit set. An exact
 * value is unchanged. A NaN becomes some NaN. */
static inline __m512i round_to_odd(__m512i below, __m512i above)
{
    return _mm512_ternarylogic_epi32(_mm512_min_epu32(below, above), _mm512_xor_si512(below, above),
                                     _mm512_set1_epi32(1), 0xf8);
}

#define ROUNDED_TO_SIDE(a, load, from, side)                                                                    \
    (__m512i)_mm512_insertf32x8(                                                                                \
        _mm512_castps256_ps512(_mm512_cvt_round##from##_ps(_mm512_load_##load(a), (side) | _MM_FROUND_NO_EXC)), \
        _mm512_cvt_round##from##_ps(_mm512_load_##load((a) + 8), (side) | _MM_FROUND_NO_EXC), 1)
#define STORE_ODD_FLOATS(r, a, load, from)                                                                    \
    for (int l = 0; l < PTXI_LANES; l += 16)                                                                  \
        _mm512_store_si512((r) + l, round_to_odd(ROUNDED_TO_SIDE((a) + l, load, from, _MM_FROUND_TO_NEG_INF), \
                                                 ROUNDED_TO_SIDE((a) + l, load, from, _MM_FROUND_TO_POS_INF)))
#endif

static inline void f32_of_bf16(float *restrict r, const uint16_t *restrict a)
{
    FOR_LANES r[l] = ptxi_num_f32((uint32_t)a[l] << 16);
}

static inline void unpack_bf16x2(float *restrict high, float *restrict low, const uint32_t *restrict a)
{
    FOR_LANES high[l] = ptxi_num_f32(a[l] & 0xffff0000);
    FOR_LANES low[l] = ptxi_num_f32(a[l] << 16);
}

#endif
