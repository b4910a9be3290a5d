/* Loads of the elements of a row, whose addresses are in an address register (exec/engine/row_register.h). */
#ifndef PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H
#define PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H

#include <string.h>

#include "exec/engine/row_register.h"

/* d[l] = element l of p, for the lanes in `on`. No other element is read. */
#if defined(__AVX512BW__)
#define LOAD_ROW(n)                                                                                                    \
    static inline void ptxi_load_row_##n(void *d, const void *p, ptxi_lanes on)                                        \
    {                                                                                                                  \
        for (int k = 0; k < PTXI_LANES * n / 512; k++)                                                                 \
            ((__m512i *)d)[k] = _mm512_mask_loadu_epi##n(((__m512i *)d)[k], on >> (k * (512 / n)),                     \
                                                         (const unsigned char *)p + 64 * k);                           \
    }
LOAD_ROW(32)
LOAD_ROW(64)
#elif defined(__AVX2__)
#define LOAD_ROW(n, type)                                                                                              \
    static inline void ptxi_load_row_##n(void *d, const void *p, ptxi_lanes on)                                        \
    {                                                                                                                  \
        for (int k = 0; k < PTXI_LANES * n / 256; k++) {                                                               \
            __m256i mask = ptxi_mask_vector_##n((uint32_t)(on >> (k * (256 / n))));                                    \
            __m256i x = _mm256_maskload_epi##n((const type *)((const unsigned char *)p + 32 * k), mask);               \
                                                                                                                       \
            ((__m256i *)d)[k] = _mm256_blendv_epi8(((__m256i *)d)[k], x, mask);                                        \
        }                                                                                                              \
    }
LOAD_ROW(32, int)
LOAD_ROW(64, long long)
#else
#define LOAD_ROW(n)                                                                                                    \
    static inline void ptxi_load_row_##n(void *d, const void *p, ptxi_lanes on)                                        \
    {                                                                                                                  \
        for (; on; on &= on - 1)                                                                                       \
            memcpy((unsigned char *)d + ptxi_first_lane(on) * (n / 8),                                                 \
                   (const unsigned char *)p + ptxi_first_lane(on) * (n / 8), n / 8);                                   \
    }
LOAD_ROW(32)
LOAD_ROW(64)
#endif
#undef LOAD_ROW

#endif
