/* Whole registers to and from addresses all over the place, all of which may be accessed. */
#ifndef PTXI_EXEC_MEMORY_GATHER_SCATTER_H
#define PTXI_EXEC_MEMORY_GATHER_SCATTER_H

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"

/* Memory of kernels has no declared type. */
#define LOAD_AS(M, p) (((const struct { M v; } __attribute__((may_alias, packed, aligned(sizeof(M)))) *)(p))->v)
#define STORE_AS(M, p, x) (((struct { M v; } __attribute__((may_alias, packed, aligned(sizeof(M)))) *)(p))->v = (x))

#define SCATTERED_FUNCTION static __attribute__((noinline, unused)) void

/* The suffix: width of an element, width of an address. */
#ifdef __AVX512F__
#define FOR_EIGHT_64                                                                            \
    for (int l = 0; l < PTXI_LANES; l += 8)                                                     \
        for (__m512i at = _mm512_load_si512(a + l), *once = &at; once; once = NULL)

SCATTERED_FUNCTION gather32_64(uint32_t *d, uintptr_t base, const uint64_t *a, ptxi_lanes on)
{
    FOR_EIGHT_64
    {
        __m256i old = _mm256_load_si256((const __m256i *)(d + l));

        _mm256_store_si256((__m256i *)(d + l), _mm512_mask_i64gather_epi32(old, (__mmask8)(on >> l), at, (const void *)base, 1));
    }
}

SCATTERED_FUNCTION gather64_64(uint64_t *d, uintptr_t base, const uint64_t *a, ptxi_lanes on)
{
    FOR_EIGHT_64
    _mm512_store_si512(d + l, _mm512_mask_i64gather_epi64(_mm512_load_si512(d + l), (__mmask8)(on >> l), at, (const void *)base, 1));
}

SCATTERED_FUNCTION scatter32_64(uintptr_t base, const uint64_t *a, const uint32_t *x, ptxi_lanes on)
{
    FOR_EIGHT_64
    _mm512_mask_i64scatter_epi32((void *)base, (__mmask8)(on >> l), at, _mm256_load_si256((const __m256i *)(x + l)), 1);
}

SCATTERED_FUNCTION scatter64_64(uintptr_t base, const uint64_t *a, const uint64_t *x, ptxi_lanes on)
{
    FOR_EIGHT_64
    _mm512_mask_i64scatter_epi64((void *)base, (__mmask8)(on >> l), at, _mm512_load_si512(x + l), 1);
}

SCATTERED_FUNCTION gather32_32(uint32_t *d, uintptr_t base, const uint32_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512i old = _mm512_load_si512(d + l), at = _mm512_load_si512(a + l);

        _mm512_store_si512(d + l, _mm512_mask_i32gather_epi32(old, (__mmask16)(on >> l), at, (const void *)base, 1));
    }
}

SCATTERED_FUNCTION gather64_32(uint64_t *d, uintptr_t base, const uint32_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i old = _mm512_load_si512(d + l);

        _mm512_store_si512(d + l, _mm512_mask_i32gather_epi64(old, (__mmask8)(on >> l), _mm256_load_si256((const __m256i *)(a + l)), (const void *)base, 1));
    }
}

SCATTERED_FUNCTION scatter32_32(uintptr_t base, const uint32_t *a, const uint32_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 16)
        _mm512_mask_i32scatter_epi32((void *)base, (__mmask16)(on >> l), _mm512_load_si512(a + l), _mm512_load_si512(x + l), 1);
}

SCATTERED_FUNCTION scatter64_32(uintptr_t base, const uint32_t *a, const uint64_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8)
        _mm512_mask_i32scatter_epi64((void *)base, (__mmask8)(on >> l), _mm256_load_si256((const __m256i *)(a + l)), _mm512_load_si512(x + l), 1);
}
#undef FOR_EIGHT_64
#else
#define SCATTERED(e, w)                                                                                                                    \
    RACY SCATTERED_FUNCTION gather##e##_##w(uint##e##_t *d, uintptr_t base, const uint##w##_t *a, ptxi_lanes on)        \
    {                                                                                                                                      \
        for (; on; on &= on - 1)                                                                                                           \
            d[ptxi_first_lane(on)] = LOAD_AS(uint##e##_t, base + a[ptxi_first_lane(on)]);                                                  \
    }                                                                                                                                      \
    RACY SCATTERED_FUNCTION scatter##e##_##w(uintptr_t base, const uint##w##_t *a, const uint##e##_t *x, ptxi_lanes on) \
    {                                                                                                                                      \
        for (; on; on &= on - 1)                                                                                                           \
            STORE_AS(uint##e##_t, base + a[ptxi_first_lane(on)], x[ptxi_first_lane(on)]);                                                  \
    }
SCATTERED(32, 32)
SCATTERED(32, 64)
SCATTERED(64, 32)
SCATTERED(64, 64)
#undef SCATTERED
#endif

/* Shared memory has 32-bit addresses, below 2^31. */
static inline void gather(void *d, uintptr_t base, const void *a, ptxi_lanes on, size_t element, size_t address)
{
    if (element == 4)
        address == 4 ? gather32_32(d, base, a, on) : gather32_64(d, base, a, on);
    else
        address == 4 ? gather64_32(d, base, a, on) : gather64_64(d, base, a, on);
}

static inline void scatter(uintptr_t base, const void *a, const void *x, ptxi_lanes on, size_t element, size_t address)
{
    if (element == 4)
        address == 4 ? scatter32_32(base, a, x, on) : scatter32_64(base, a, x, on);
    else
        address == 4 ? scatter64_32(base, a, x, on) : scatter64_64(base, a, x, on);
}

/* Whether no two of lanes 0 to 3 name the same one of the elements, of 4 or 8 bytes, no two of lanes 4 to 7, and so on. It may be false, too, if two are a
 * multiple of 65536 elements apart, and where the answer would take longer than it saves. */
#if defined(__AVX512BW__) && PTXI_LANES == 32
/* Numbers of elements, in 16 bits, of lanes that are not in one four, beside each other; each four a turn further, and half a turn. */
static inline __attribute__((always_inline)) bool apart_in_fours(const void *a, size_t element, size_t address)
{
    const int by = element == 4 ? 2 : 3;
    const __mmask32 even = 0x55555555;
    const __m512i *v = a;
    __m512i n, turned, half_turned;

    if (address == 4) {
        n = _mm512_mask_blend_epi16(even, _mm512_slli_epi32(v[1], 16 - by), _mm512_srli_epi32(v[0], by));
        turned = _mm512_shuffle_epi32(n, 0x39);
        half_turned = _mm512_shuffle_epi32(n, 0x4e);
    } else {
        const __m512i low = _mm512_mask_blend_epi16(even, _mm512_slli_epi64(v[1], 16 - by), _mm512_srli_epi64(v[0], by));
        const __m512i high = _mm512_mask_blend_epi16(even, _mm512_slli_epi64(v[3], 48 - by), _mm512_slli_epi64(v[2], 32 - by));

        n = _mm512_mask_blend_epi32((__mmask16)even, high, low);
        turned = _mm512_permutex_epi64(n, 0x39);
        half_turned = _mm512_permutex_epi64(n, 0x4e);
    }
    return !(_mm512_cmpeq_epi16_mask(n, turned) | _mm512_cmpeq_epi16_mask(n, half_turned));
}
#elif defined(__AVX2__) && PTXI_LANES == 32
/* The same in halves. */
static inline __attribute__((always_inline)) bool apart_in_fours(const void *a, size_t element, size_t address)
{
    const int by = element == 4 ? 2 : 3;
    const __m256i *v = a;
    __m256i same = _mm256_setzero_si256();

    for (int k = 0; k < 2; k++, v++) {
        __m256i n, turned, half_turned;

        if (address == 4) {
            n = _mm256_blend_epi16(_mm256_slli_epi32(v[2], 16 - by), _mm256_srli_epi32(v[0], by), 0x55);
            turned = _mm256_shuffle_epi32(n, 0x39);
            half_turned = _mm256_shuffle_epi32(n, 0x4e);
        } else {
            const __m256i low = _mm256_blend_epi16(_mm256_slli_epi64(v[2], 16 - by), _mm256_srli_epi64(v[0], by), 0x55);
            const __m256i high = _mm256_blend_epi16(_mm256_slli_epi64(v[6], 48 - by), _mm256_slli_epi64(v[4], 32 - by), 0x55);

            n = _mm256_blend_epi32(high, low, 0x55);
            turned = _mm256_permute4x64_epi64(n, 0x39);
            half_turned = _mm256_permute4x64_epi64(n, 0x4e);
        }
        same = _mm256_or_si256(same, _mm256_or_si256(_mm256_cmpeq_epi16(n, turned), _mm256_cmpeq_epi16(n, half_turned)));
    }
    return _mm256_testz_si256(same, same);
}
#else
static inline bool apart_in_fours(const void *a, size_t element, size_t address)
{
    (void)a, (void)element, (void)address;
    return false;
}
#endif

#undef SCATTERED_FUNCTION

#endif
