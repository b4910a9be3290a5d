/* Accesses to a row of addresses, mostly in an address register (exec/engine/row_register.h). */
#ifndef PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H
#define PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H

#include <string.h>

#include "exec/engine/row_register.h"

/* Whether the active lanes are neighbours whose addresses, in operand a and the offset, are a row: the first address
 * and the stride. Without an address register, only the addresses of all lanes are a row. */
static inline bool ptxi_find_row(const struct ptxi_warp *w, const struct ptxi_insn *i, bool in_address_register,
                                 uint64_t *address, uint64_t *stride)
{
    const unsigned first = ptxi_first_lane(w->active);
    const ptxi_lanes run = w->active >> first;

    if (run & (run + 1))
        return false;
    if (in_address_register) {
        const struct ptxi_lane_row *row = PTXI_SLOT(w, i->a);

        if (!ptxi_row_has(row, w->active))
            return false;
        *stride = (uint64_t)row->stride;
        *address = row->first + *stride * first;
    } else {
        const uint64_t *lanes = PTXI_SLOT(w, i->a);
        uint64_t off = 0;

        if (w->active != PTXI_ALL_LANES)
            return false;
        *stride = lanes[1] - lanes[0];
        for (unsigned l = 0; l < PTXI_LANES; l++)
            off |= lanes[l] ^ (lanes[0] + *stride * l);
        if (off)
            return false;
        *address = lanes[0];
    }
    *address += (uint64_t)(int64_t)i->imm;
    return true;
}

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
