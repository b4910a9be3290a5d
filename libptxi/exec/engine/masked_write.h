/* Writing some lanes of a register. Compilers make long code of a mask's bits, so the vectors are spelled out where hosts can. */
#ifndef PTXI_EXEC_ENGINE_MASKED_WRITE_H
#define PTXI_EXEC_ENGINE_MASKED_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "exec/engine/warp.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* d[l] = from[l] for the lanes in `on`. Both are registers or aligned like them. */
#if defined(__AVX512BW__)

/* Blended, not stored under the mask: what was stored so cannot be forwarded to the next load. */
#define PTXI_MERGE(n)                                                                                              \
    static inline void ptxi_merge_##n(void *d, const void *from, ptxi_lanes on)                                    \
    {                                                                                                              \
        __m512i *to = d;                                                                                           \
        const __m512i *x = from;                                                                                   \
                                                                                                                   \
        for (int k = 0; k < PTXI_LANES * n / 512; k++) {                                                           \
            __m512i v = _mm512_mask_mov_epi##n(to[k], on >> (k * (512 / n)), x[k]);                                \
                                                                                                                   \
            __asm__("" : "+v"(v)); /* else the compiler makes a masked store of it after all */                    \
            to[k] = v;                                                                                             \
        }                                                                                                          \
    }
PTXI_MERGE(16)
PTXI_MERGE(32)
PTXI_MERGE(64)
#undef PTXI_MERGE

#elif defined(__AVX2__)

/* All ones in the elements whose bit is set. */
static inline __m256i ptxi_spread_16(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi16(-0x8000, 0x4000, 0x2000, 0x1000, 0x800, 0x400, 0x200, 0x100, 0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);

    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((int16_t)bits), bit), bit);
}

static inline __m256i ptxi_spread_32(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi32(0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)bits), bit), bit);
}

static inline __m256i ptxi_spread_64(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi64x(8, 4, 2, 1);

    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), bit), bit);
}

#define PTXI_MERGE(n)                                                                                              \
    static inline void ptxi_merge_##n(void *d, const void *from, ptxi_lanes on)                                    \
    {                                                                                                              \
        __m256i *to = d;                                                                                           \
        const __m256i *x = from;                                                                                   \
                                                                                                                   \
        for (int k = 0; k < PTXI_LANES * n / 256; k++)                                                             \
            to[k] = _mm256_blendv_epi8(to[k], x[k], ptxi_spread_##n((uint32_t)(on >> (k * (256 / n)))));           \
    }
PTXI_MERGE(16)
PTXI_MERGE(32)
PTXI_MERGE(64)
#undef PTXI_MERGE

#else

#define PTXI_MERGE(n)                                                                                              \
    static inline void ptxi_merge_##n(void *d, const void *from, ptxi_lanes on)                                    \
    {                                                                                                              \
        typedef uint##n##_t __attribute__((may_alias)) element;                                                    \
        element *to = d;                                                                                           \
        const element *x = from;                                                                                   \
                                                                                                                   \
        for (int l = 0; l < PTXI_LANES; l++)                                                                       \
            to[l] = on >> l & 1 ? x[l] : to[l];                                                                    \
    }
PTXI_MERGE(16)
PTXI_MERGE(32)
PTXI_MERGE(64)
#undef PTXI_MERGE

#endif

static inline void ptxi_merge_128(void *d, const void *from, ptxi_lanes on)
{
    typedef unsigned __int128 __attribute__((may_alias)) element;
    element *to = d;
    const element *x = from;

    for (int l = 0; l < PTXI_LANES; l++)
        to[l] = on >> l & 1 ? x[l] : to[l];
}

/* By the size of an element, which is a constant. */
static inline void ptxi_merge(void *d, const void *from, ptxi_lanes on, size_t size)
{
    if (size == 2)
        ptxi_merge_16(d, from, on);
    else if (size == 4)
        ptxi_merge_32(d, from, on);
    else if (size == 8)
        ptxi_merge_64(d, from, on);
    else
        ptxi_merge_128(d, from, on);
}

#endif
