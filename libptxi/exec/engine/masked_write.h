/* Masked writes: writing some lanes of a register. Compilers generate slow code for the bits of a mask, so the vector
 * instructions are explicit if the host has them. */
#ifndef PTXI_EXEC_ENGINE_MASKED_WRITE_H
#define PTXI_EXEC_ENGINE_MASKED_WRITE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/engine/warp.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* ptxi_masked_write_N(): d[l] = from[l] for the lanes in `on`, with elements of N bits. Both are registers or aligned
 * like them. */
#if defined(__AVX512BW__)

/* A blend and a full store, because the CPU cannot forward a masked store to the next load. */
#define DEFINE_MASKED_WRITE(n)                                                                                     \
    static inline void ptxi_masked_write_##n(void *d, const void *from, ptxi_lanes on)                             \
    {                                                                                                              \
        __m512i *to = d;                                                                                           \
        const __m512i *x = from;                                                                                   \
                                                                                                                   \
        for (int k = 0; k < PTXI_LANES * n / 512; k++) {                                                           \
            __m512i v = _mm512_mask_mov_epi##n(to[k], on >> (k * (512 / n)), x[k]);                                \
                                                                                                                   \
            __asm__("" : "+v"(v)); /* prevents the compiler from making a masked store */                          \
            to[k] = v;                                                                                             \
        }                                                                                                          \
    }
DEFINE_MASKED_WRITE(16)
DEFINE_MASKED_WRITE(32)
DEFINE_MASKED_WRITE(64)
#undef DEFINE_MASKED_WRITE

#elif defined(__AVX2__)

/* A vector with all ones in the elements that have their bit set. */
static inline __m256i ptxi_mask_vector_16(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi16(-0x8000, 0x4000, 0x2000, 0x1000, 0x800, 0x400, 0x200, 0x100, 0x80, 0x40, 0x20,
                                         0x10, 8, 4, 2, 1);

    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((int16_t)bits), bit), bit);
}

static inline __m256i ptxi_mask_vector_32(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi32(0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)bits), bit), bit);
}

static inline __m256i ptxi_mask_vector_64(uint32_t bits)
{
    const __m256i bit = _mm256_set_epi64x(8, 4, 2, 1);

    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), bit), bit);
}

#define DEFINE_MASKED_WRITE(n)                                                                                     \
    static inline void ptxi_masked_write_##n(void *d, const void *from, ptxi_lanes on)                             \
    {                                                                                                              \
        __m256i *to = d;                                                                                           \
        const __m256i *x = from;                                                                                   \
                                                                                                                   \
        for (int k = 0; k < PTXI_LANES * n / 256; k++)                                                             \
            to[k] = _mm256_blendv_epi8(to[k], x[k], ptxi_mask_vector_##n((uint32_t)(on >> (k * (256 / n)))));      \
    }
DEFINE_MASKED_WRITE(16)
DEFINE_MASKED_WRITE(32)
DEFINE_MASKED_WRITE(64)
#undef DEFINE_MASKED_WRITE

#else

#define DEFINE_MASKED_WRITE(n)                                                                                     \
    static inline void ptxi_masked_write_##n(void *d, const void *from, ptxi_lanes on)                             \
    {                                                                                                              \
        typedef uint##n##_t __attribute__((may_alias)) element;                                                    \
        element *to = d;                                                                                           \
        const element *x = from;                                                                                   \
                                                                                                                   \
        for (int l = 0; l < PTXI_LANES; l++)                                                                       \
            to[l] = on >> l & 1 ? x[l] : to[l];                                                                    \
    }
DEFINE_MASKED_WRITE(16)
DEFINE_MASKED_WRITE(32)
DEFINE_MASKED_WRITE(64)
#undef DEFINE_MASKED_WRITE

#endif

static inline void ptxi_masked_write_128(void *d, const void *from, ptxi_lanes on)
{
    typedef unsigned __int128 __attribute__((may_alias)) element;
    element *to = d;
    const element *x = from;

    for (int l = 0; l < PTXI_LANES; l++)
        to[l] = on >> l & 1 ? x[l] : to[l];
}

/* `size`: bytes of an element, a constant. */
static inline void ptxi_masked_write(void *d, const void *from, ptxi_lanes on, size_t size)
{
    if (size == 2) {
        ptxi_masked_write_16(d, from, on);
    } else if (size == 4) {
        ptxi_masked_write_32(d, from, on);
    } else if (size == 8) {
        ptxi_masked_write_64(d, from, on);
    } else {
        assert(size == 16);
        ptxi_masked_write_128(d, from, on);
    }
}

#endif
