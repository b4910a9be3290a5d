/* PTX ISA, "Data Movement and Conversion Instructions: cvt", two f32 to f16x2 or bf16x2 (a is the upper half), and
 * f32 to tf32. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"

#include <assert.h>

#define A PTXI_SLOT(w, i->a)
#define B PTXI_SLOT(w, i->b)

/* Applies limits to both halves of all lanes, as 16-bit elements. */
#define LIMIT(half, r, mods)                             \
    do {                                                 \
        uint16_t *halves_ = (uint16_t *)(r);             \
                                                         \
        apply_limits_##half(halves_, mods);              \
        apply_limits_##half(halves_ + PTXI_LANES, mods); \
    } while (0)

static void join_halves(uint32_t *restrict r, const uint16_t *restrict high, const uint16_t *restrict low)
{
    FOR_LANES r[l] = (uint32_t)high[l] << 16 | low[l];
}

/* --- conversions of non-NaNs, to nearest or toward zero. r may be a source. --- */
static inline void bf16x2_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, enum ptxi_num_rounding mode)
{
    FOR_LANES r[l] = (ptxi_num_bf16_rounded(a[l], mode) & 0xffff0000) | ptxi_num_bf16_rounded(b[l], mode) >> 16;
}

static inline void f16x2_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, enum ptxi_num_rounding mode)
{
#if defined(__AVX512F__)
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512 x = _mm512_load_ps(a + l), y = _mm512_load_ps(b + l);
        __m256i high, low;
        __m512i upper;

        if (mode == PTXI_NUM_RN) {
            high = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
            low = _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT);
        } else {
            high = _mm512_cvtps_ph(x, _MM_FROUND_TO_ZERO);
            low = _mm512_cvtps_ph(y, _MM_FROUND_TO_ZERO);
        }
        upper = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);

        _mm512_store_si512(r + l, _mm512_or_si512(upper, _mm512_cvtepu16_epi32(low)));
    }
#elif defined(__F16C__)
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m256 x = _mm256_load_ps((const float *)a + l), y = _mm256_load_ps((const float *)b + l);
        __m128i high, low;

        if (mode == PTXI_NUM_RN) {
            high = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
            low = _mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT);
        } else {
            high = _mm256_cvtps_ph(x, _MM_FROUND_TO_ZERO);
            low = _mm256_cvtps_ph(y, _MM_FROUND_TO_ZERO);
        }
        _mm256_store_si256((__m256i *)(r + l),
                           _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high)));
    }
#else
    FOR_LANES r[l] = (uint32_t)ptxi_num_f16_from_f32(a[l], mode) << 16 | ptxi_num_f16_from_f32(b[l], mode);
#endif
}

#define PAIR(half)                                                                                   \
    OUT_OF_LINE void half##x2_with_nans(uint32_t *r, const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                \
        LANE_ARRAY(uint16_t, high);                                                                  \
        LANE_ARRAY(uint16_t, low);                                                                   \
                                                                                                     \
        half##_of_f32(high, A, ROUNDING_MODE(i));                                                    \
        half##_of_f32(low, B, ROUNDING_MODE(i));                                                     \
        join_halves(r, high, low);                                                                   \
    }                                                                                                \
    OP( cvt_##half##x2_f32 )                                                                         \
    {                                                                                                \
        RESULT_LANES(uint32_t, r);                                                                   \
                                                                                                     \
        assert(ROUNDING_MODE(i) == PTXI_NUM_RN || ROUNDING_MODE(i) == PTXI_NUM_RZ);                  \
        if (__builtin_expect(ptxi_any_nan_f32(A) || ptxi_any_nan_f32(B), 0))                         \
            half##x2_with_nans(r, i, w);                                                             \
        else if (ROUNDING_MODE(i) == PTXI_NUM_RN)                                                    \
            half##x2_of_non_nan(r, A, B, PTXI_NUM_RN);                                               \
        else                                                                                         \
            half##x2_of_non_nan(r, A, B, PTXI_NUM_RZ);                                               \
        LIMIT(half, r, i->mods);                                                                     \
        NEXT_WITH_RESULT(r);                                                                         \
    }
PAIR(f16)
PAIR(bf16)

/* --- tf32 --- */
OP( cvt_tf32_f32 )
{
    const uint32_t *a = A;
    RESULT_LANES(uint32_t, r);

    assert(ROUNDING_MODE(i) == PTXI_NUM_RN || ROUNDING_MODE(i) == PTXI_NUM_RZ);
    if (ROUNDING_MODE(i) == PTXI_NUM_RN)
        FOR_LANES r[l] = ptxi_num_tf32_from_f32(a[l], PTXI_NUM_RN);
    else
        FOR_LANES r[l] = ptxi_num_tf32_from_f32(a[l], PTXI_NUM_RZ);
    if (i->mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] -= (r[l] & 0x7fffffff) == 0x7f800000 ? 1u << 13 : 0;
    if (i->mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (int32_t)r[l] < 0 ? 0 : r[l];
    NEXT_WITH_RESULT(r);
}

OP( cvt_rna_tf32_f32 )
{
    const uint32_t *a = A;
    RESULT_LANES(uint32_t, r);

    if (i->mods & PTXI_MOD_SATFINITE)
        FOR_LANES r[l] = ptxi_num_tf32_rna(a[l], true);
    else
        FOR_LANES r[l] = ptxi_num_tf32_rna(a[l], false);
    NEXT_WITH_RESULT(r);
}
