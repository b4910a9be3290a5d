/* Whole registers to and from addresses all over the place, all of which may be accessed. */
#ifndef PTXI_EXEC_SCATTERED_H
#define PTXI_EXEC_SCATTERED_H

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "exec/engine.h"
#include "exec/level.h"
#include "exec/memory.h"

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

/* The same for all lanes, without a call, by 32-bit addresses. */
#ifdef __AVX512F__
/* d[l] = a[l] - first, in stores as wide as loads of it will be. */
static inline __attribute__((always_inline)) void steps_from(uint32_t *d, uint64_t first, const uint64_t *a)
{
    const __m512i by = _mm512_set1_epi64((int64_t)first), low = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);

    for (int l = 0; l < PTXI_LANES; l += 16)
        _mm512_store_si512(d + l, _mm512_permutex2var_epi32(_mm512_sub_epi64(_mm512_load_si512(a + l), by), low, _mm512_sub_epi64(_mm512_load_si512(a + l + 8), by)));
}

static inline __attribute__((always_inline)) void gather_all(void *d, uintptr_t base, const uint32_t *a, size_t element)
{
    const void *from = (const void *)base;

    if (element == 4)
        for (int l = 0; l < PTXI_LANES; l += 16)
            _mm512_store_si512((uint32_t *)d + l, _mm512_i32gather_epi32(_mm512_load_si512(a + l), from, 1));
    else
        for (int l = 0; l < PTXI_LANES; l += 8)
            _mm512_store_si512((uint64_t *)d + l, _mm512_i32gather_epi64(_mm256_load_si256((const void *)(a + l)), from, 1));
}

static inline __attribute__((always_inline)) void scatter_all(uintptr_t base, const uint32_t *a, const void *x, size_t element)
{
    void *to = (void *)base;

    if (element == 4)
        for (int l = 0; l < PTXI_LANES; l += 16)
            _mm512_i32scatter_epi32(to, _mm512_load_si512(a + l), _mm512_load_si512((const uint32_t *)x + l), 1);
    else
        for (int l = 0; l < PTXI_LANES; l += 8)
            _mm512_i32scatter_epi64(to, _mm256_load_si256((const void *)(a + l)), _mm512_load_si512((const uint64_t *)x + l), 1);
}

/* A memcpy() that leaves in registers what is there. */
static inline __attribute__((always_inline)) void copy_all(void *d, const void *x, size_t element)
{
    for (size_t k = 0; k < PTXI_LANES * element; k += 64)
        _mm512_store_si512((char *)d + k, _mm512_load_si512((const char *)x + k));
}
#else
static inline void steps_from(uint32_t *d, uint64_t first, const uint64_t *a)
{
    for (int l = 0; l < PTXI_LANES; l++)
        d[l] = (uint32_t)(a[l] - first);
}
#define gather_all(d, base, a, element) gather(d, base, a, PTXI_ALL_LANES, element, 4)
#define scatter_all(base, a, x, element) scatter(base, a, x, PTXI_ALL_LANES, element, 4)
#define copy_all(d, x, element) memcpy(d, x, PTXI_LANES * (element))
#endif

/* Whether no two lanes name the same one of the elements, of 4 or 8 bytes. It may be false, too, if two are a multiple of 65536 elements apart, and where
 * the answer would take longer than it saves. */
#if defined(__AVX512BW__) && PTXI_LANES == 32
enum { PTXI_TELLS_APART = true };

/* Each beside the one that is k lanes further, in a ring, k from 1 to 16: all pairs. */
static inline __attribute__((always_inline)) bool apart(__m512i n)
{
    const __m512i next = _mm512_add_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                          _mm512_set1_epi16(1));
    __m512i odd = _mm512_permutexvar_epi16(next, n), least = _mm512_xor_epi32(n, odd);

#define BESIDE(x, words) least = _mm512_min_epu16(least, _mm512_xor_epi32(n, _mm512_alignr_epi32(x, x, words)));
#define BESIDE_BOTH(words) BESIDE(n, words) BESIDE(odd, words)
    BESIDE_BOTH(1) BESIDE_BOTH(2) BESIDE_BOTH(3) BESIDE_BOTH(4) BESIDE_BOTH(5) BESIDE_BOTH(6) BESIDE_BOTH(7) BESIDE(n, 8)
#undef BESIDE_BOTH
#undef BESIDE
    return !_mm512_testn_epi16_mask(least, least);
}

static inline __attribute__((always_inline)) bool all_apart(const uint32_t *a, size_t element)
{
    unsigned shift = element == 4 ? 2 : 3;
    __m256i low = _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_load_si512(a), shift));
    __m256i high = _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_load_si512(a + 16), shift));

    return apart(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}
#else
enum { PTXI_TELLS_APART = false };

static inline bool all_apart(const uint32_t *a, size_t element)
{
    (void)a, (void)element;
    return false;
}
#endif

#undef SCATTERED_FUNCTION

#endif
