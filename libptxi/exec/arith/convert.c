#include "exec/arith/convert.h"

#include <assert.h>

__attribute__((unused)) static inline bool is_aligned(const void *p)
{
    return !((uintptr_t)p % 64);
}

#if defined(__AVX512BW__)
/* Stores a whole vector at once: a value that is stored in parts cannot be forwarded to a load of the whole. */
#define STORE_F16(control)                                                                                      \
    for (int l = 0; l < PTXI_LANES; l += 32) {                                                                  \
        __m512i low = _mm512_castsi256_si512(_mm512_cvtps_ph(_mm512_load_ps(a + l), control));                  \
                                                                                                                \
        low = _mm512_inserti64x4(low, _mm512_cvtps_ph(_mm512_load_ps(a + l + 16), control), 1);                 \
        _mm512_store_si512(r + l, canonical_f16(low));                                                          \
    }

static inline __m512i canonical_f16(__m512i v)
{
    const __m512i magnitude = _mm512_set1_epi16(0x7fff), infinity = _mm512_set1_epi16(0x7c00);

    return _mm512_mask_mov_epi16(v, _mm512_cmpgt_epi16_mask(_mm512_and_si512(v, magnitude), infinity), magnitude);
}
#elif defined(__F16C__)
#define STORE_F16(control)                                                                                      \
    for (int l = 0; l < PTXI_LANES; l += 16) {                                                                  \
        __m128i low = _mm256_cvtps_ph(_mm256_load_ps(a + l), control);                                          \
        __m256i v = _mm256_set_m128i(_mm256_cvtps_ph(_mm256_load_ps(a + l + 8), control), low);                 \
                                                                                                                \
        _mm256_store_si256((__m256i *)(r + l), canonical_f16(v));                                               \
    }

static inline __m256i canonical_f16(__m256i v)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff), infinity = _mm256_set1_epi16(0x7c00);

    return _mm256_blendv_epi8(v, magnitude, _mm256_cmpgt_epi16(_mm256_and_si256(v, magnitude), infinity));
}
#endif

#if defined(__F16C__)
void f16_of_f32(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode)
{
    assert(is_aligned(r) && is_aligned(a));
    switch (mode) {
    case PTXI_NUM_RN: STORE_F16(_MM_FROUND_TO_NEAREST_INT); break;
    case PTXI_NUM_RZ: STORE_F16(_MM_FROUND_TO_ZERO); break;
    case PTXI_NUM_RM: STORE_F16(_MM_FROUND_TO_NEG_INF); break;
    case PTXI_NUM_RP: STORE_F16(_MM_FROUND_TO_POS_INF); break;
    }
}
#else
void f32_of_f16(float *restrict r, const uint16_t *restrict a)
{
    FOR_LANES r[l] = ptxi_num_f32_from_f16_bits(a[l]);
}

void f16_of_f32(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode)
{
    FOR_LANES_IN_MODE(r[l] = ptxi_num_f16_from_f32(ptxi_num_bits_f32(a[l]), mode))
}
#endif

void bf16_of_f32(uint16_t *restrict r, const float *restrict a, enum ptxi_num_rounding mode)
{
    assert(is_aligned(r) && is_aligned(a));
    bf16_of_non_nan(r, a, mode);
    if (__builtin_expect(ptxi_any_nan_f32(a), 0))
        FOR_LANES r[l] = a[l] == a[l] ? r[l] : (uint16_t)ptxi_num_bf16.nan;
}

void round_to_integral_f32(float *r, const float *a, enum ptxi_num_rounding mode)
{
    assert(is_aligned(r) && is_aligned(a));
    switch (mode) {
    case PTXI_NUM_RN: FOR_LANES r[l] = __builtin_rintf(a[l]); break;
    case PTXI_NUM_RZ: FOR_LANES r[l] = __builtin_truncf(a[l]); break;
    case PTXI_NUM_RM: FOR_LANES r[l] = __builtin_floorf(a[l]); break;
    case PTXI_NUM_RP: FOR_LANES r[l] = __builtin_ceilf(a[l]); break;
    }
}

void round_to_integral_f64(double *r, const double *a, enum ptxi_num_rounding mode)
{
    assert(is_aligned(r) && is_aligned(a));
    switch (mode) {
    case PTXI_NUM_RN: FOR_LANES r[l] = __builtin_rint(a[l]); break;
    case PTXI_NUM_RZ: FOR_LANES r[l] = __builtin_trunc(a[l]); break;
    case PTXI_NUM_RM: FOR_LANES r[l] = __builtin_floor(a[l]); break;
    case PTXI_NUM_RP: FOR_LANES r[l] = __builtin_ceil(a[l]); break;
    }
}
