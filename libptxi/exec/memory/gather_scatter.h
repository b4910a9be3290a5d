/* Gather and scatter: loads and stores of whole registers at arbitrary addresses. The caller has checked all
 * addresses. */
#ifndef PTXI_EXEC_MEMORY_GATHER_SCATTER_H
#define PTXI_EXEC_MEMORY_GATHER_SCATTER_H

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"

/* Accesses memory as type M. The memory of kernels has no declared type. */
#define LOAD_AS(M, p) (((const struct { M v; } __attribute__((may_alias, packed, aligned(sizeof(M)))) *)(p))->v)
#define STORE_AS(M, p, x) (((struct { M v; } __attribute__((may_alias, packed, aligned(sizeof(M)))) *)(p))->v = (x))

#define NOINLINE_UNUSED static __attribute__((noinline, unused)) void

/* The suffix is the width of an element by the width of an address. */
#ifdef __AVX512F__
NOINLINE_UNUSED gather_32_by_64(uint32_t *d, uintptr_t base, const uint64_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i at = _mm512_load_si512(a + l);
        __m256i old = _mm256_load_si256((const __m256i *)(d + l));
        __m256i x = _mm512_mask_i64gather_epi32(old, (__mmask8)(on >> l), at, (const void *)base, 1);

        _mm256_store_si256((__m256i *)(d + l), x);
    }
}

NOINLINE_UNUSED gather_64_by_64(uint64_t *d, uintptr_t base, const uint64_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i at = _mm512_load_si512(a + l), old = _mm512_load_si512(d + l);

        _mm512_store_si512(d + l, _mm512_mask_i64gather_epi64(old, (__mmask8)(on >> l), at, (const void *)base, 1));
    }
}

NOINLINE_UNUSED scatter_32_by_64(uintptr_t base, const uint64_t *a, const uint32_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i at = _mm512_load_si512(a + l);
        __m256i v = _mm256_load_si256((const __m256i *)(x + l));

        _mm512_mask_i64scatter_epi32((void *)base, (__mmask8)(on >> l), at, v, 1);
    }
}

NOINLINE_UNUSED scatter_64_by_64(uintptr_t base, const uint64_t *a, const uint64_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i at = _mm512_load_si512(a + l), v = _mm512_load_si512(x + l);

        _mm512_mask_i64scatter_epi64((void *)base, (__mmask8)(on >> l), at, v, 1);
    }
}

NOINLINE_UNUSED gather_32_by_32(uint32_t *d, uintptr_t base, const uint32_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512i old = _mm512_load_si512(d + l), at = _mm512_load_si512(a + l);

        _mm512_store_si512(d + l, _mm512_mask_i32gather_epi32(old, (__mmask16)(on >> l), at, (const void *)base, 1));
    }
}

NOINLINE_UNUSED gather_64_by_32(uint64_t *d, uintptr_t base, const uint32_t *a, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i old = _mm512_load_si512(d + l);
        __m256i at = _mm256_load_si256((const __m256i *)(a + l));

        _mm512_store_si512(d + l, _mm512_mask_i32gather_epi64(old, (__mmask8)(on >> l), at, (const void *)base, 1));
    }
}

NOINLINE_UNUSED scatter_32_by_32(uintptr_t base, const uint32_t *a, const uint32_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512i at = _mm512_load_si512(a + l), v = _mm512_load_si512(x + l);

        _mm512_mask_i32scatter_epi32((void *)base, (__mmask16)(on >> l), at, v, 1);
    }
}

NOINLINE_UNUSED scatter_64_by_32(uintptr_t base, const uint32_t *a, const uint64_t *x, ptxi_lanes on)
{
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m256i at = _mm256_load_si256((const __m256i *)(a + l));
        __m512i v = _mm512_load_si512(x + l);

        _mm512_mask_i32scatter_epi64((void *)base, (__mmask8)(on >> l), at, v, 1);
    }
}
#else
#define GATHER_SCATTER(e, w)                                                                                    \
    RACY NOINLINE_UNUSED gather_##e##_by_##w(uint##e##_t *d, uintptr_t base, const uint##w##_t *a, ptxi_lanes on)\
    {                                                                                                           \
        for (; on; on &= on - 1)                                                                                \
            d[ptxi_first_lane(on)] = LOAD_AS(uint##e##_t, base + a[ptxi_first_lane(on)]);                       \
    }                                                                                                           \
    RACY NOINLINE_UNUSED scatter_##e##_by_##w(uintptr_t base, const uint##w##_t *a, const uint##e##_t *x,       \
                                              ptxi_lanes on)                                                    \
    {                                                                                                           \
        for (; on; on &= on - 1)                                                                                \
            STORE_AS(uint##e##_t, base + a[ptxi_first_lane(on)], x[ptxi_first_lane(on)]);                       \
    }
GATHER_SCATTER(32, 32)
GATHER_SCATTER(32, 64)
GATHER_SCATTER(64, 32)
GATHER_SCATTER(64, 64)
#undef GATHER_SCATTER
#endif

/* Gather and scatter by the sizes of an element and of an address, which are constants. 32-bit addresses are those of
 * shared memory and below 2^31. */
static inline void ptxi_gather_lanes(void *d, uintptr_t base, const void *a, ptxi_lanes on, size_t element,
                                     size_t address)
{
    if (element == 4)
        address == 4 ? gather_32_by_32(d, base, a, on) : gather_32_by_64(d, base, a, on);
    else
        address == 4 ? gather_64_by_32(d, base, a, on) : gather_64_by_64(d, base, a, on);
}

static inline void ptxi_scatter_lanes(uintptr_t base, const void *a, const void *x, ptxi_lanes on, size_t element,
                                      size_t address)
{
    if (element == 4)
        address == 4 ? scatter_32_by_32(base, a, x, on) : scatter_32_by_64(base, a, x, on);
    else
        address == 4 ? scatter_64_by_32(base, a, x, on) : scatter_64_by_64(base, a, x, on);
}

/* True if the addresses of lanes 0 to 3 are distinct, and those of lanes 4 to 7, and so on, for elements of 4 or 8
 * bytes. It may also be false if two addresses differ by a multiple of 65536 elements, or if the test would take
 * longer than it saves. */
#if defined(__AVX512BW__) && PTXI_LANES == 32
/* Compares the element numbers of all lanes, in 16 bits, with the same numbers rotated by one and by two lanes in each
 * four. */
static inline __attribute__((always_inline)) bool
ptxi_are_distinct_in_fours(const void *a, size_t element, size_t address)
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
        const __m512i low = _mm512_mask_blend_epi16(even, _mm512_slli_epi64(v[1], 16 - by),
                                                    _mm512_srli_epi64(v[0], by));
        const __m512i upper = _mm512_slli_epi64(v[3], 48 - by), lower = _mm512_slli_epi64(v[2], 32 - by);
        const __m512i high = _mm512_mask_blend_epi16(even, upper, lower);

        n = _mm512_mask_blend_epi32((__mmask16)even, high, low);
        turned = _mm512_permutex_epi64(n, 0x39);
        half_turned = _mm512_permutex_epi64(n, 0x4e);
    }
    return !(_mm512_cmpeq_epi16_mask(n, turned) | _mm512_cmpeq_epi16_mask(n, half_turned));
}
#elif defined(__AVX2__) && PTXI_LANES == 32
/* The same for half of the lanes at a time. */
static inline __attribute__((always_inline)) bool
ptxi_are_distinct_in_fours(const void *a, size_t element, size_t address)
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
            const __m256i upper = _mm256_slli_epi64(v[6], 48 - by), lower = _mm256_slli_epi64(v[4], 32 - by);
            const __m256i high = _mm256_blend_epi16(upper, lower, 0x55);

            n = _mm256_blend_epi32(high, low, 0x55);
            turned = _mm256_permute4x64_epi64(n, 0x39);
            half_turned = _mm256_permute4x64_epi64(n, 0x4e);
        }
        same = _mm256_or_si256(same, _mm256_cmpeq_epi16(n, turned));
        same = _mm256_or_si256(same, _mm256_cmpeq_epi16(n, half_turned));
    }
    return _mm256_testz_si256(same, same);
}
#else
static inline bool ptxi_are_distinct_in_fours(const void *a, size_t element, size_t address)
{
    (void)a, (void)element, (void)address;
    return false;
}
#endif

#undef NOINLINE_UNUSED

#endif
