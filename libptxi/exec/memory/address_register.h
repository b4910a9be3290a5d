/* Address registers. The addresses of a warp's lanes are often a row: lane l has first + l * stride, and the stride is
 * the size of an element, or 0. Such a register holds two numbers, and loads and stores need not look at the lanes.
 * The compiler (compile/optimize/address_registers.c) chooses registers that only address operations write and only
 * loads, stores and address operations read. Whether the addresses are a row is found when they are computed, so the
 * program may compute them in any way. In particular, an index of 32 bits that overflows inside the warp is no row. */
#ifndef PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H
#define PTXI_EXEC_MEMORY_ADDRESS_REGISTER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "exec/engine/handler.h"

/* The value of `form` if there is a row. A slot that was filled with one byte has another value. */
enum { PTXI_ADDRESS_ROW = 0x526f7721 };

struct ptxi_address {
    uint32_t form;
    ptxi_lanes in_row; /* lanes whose addresses are in the row */
    int64_t stride;
    uint64_t first;    /* the address that lane 0 has if it is in the row */
    unsigned char unused[PTXI_UNIT - 3 * sizeof(uint64_t) - (sizeof(ptxi_lanes) == 8 ? 8 : 0)];
    uint64_t lanes[PTXI_LANES]; /* the addresses of the others */
};
_Static_assert(offsetof(struct ptxi_address, lanes) == PTXI_UNIT && sizeof(struct ptxi_address) == 5 * PTXI_UNIT,
               "an address register has 5 units");

/* Whether all these lanes are in a row. */
static inline bool ptxi_address_is_row(const struct ptxi_address *a, ptxi_lanes lanes)
{
    return a->form == PTXI_ADDRESS_ROW && !(lanes & ~a->in_row);
}

/* Whether none of these lanes is in a row, so that their addresses are in a->lanes. */
static inline bool ptxi_address_is_no_row(const struct ptxi_address *a, ptxi_lanes lanes)
{
    return a->form != PTXI_ADDRESS_ROW || !(lanes & a->in_row);
}

/* The addresses of all lanes. If there is a row, they are written to `buffer`, which is aligned like a register. */
static inline const uint64_t *ptxi_address_lanes(const struct ptxi_address *a, uint64_t buffer[PTXI_LANES])
{
    if (a->form != PTXI_ADDRESS_ROW)
        return a->lanes;
    for (int l = 0; l < PTXI_LANES; l++)
        buffer[l] = a->first + (uint64_t)a->stride * (uint64_t)l;
    if (a->in_row != PTXI_ALL_LANES)
        ptxi_masked_write_64(buffer, a->lanes, ~a->in_row);
    return buffer;
}

/* --- elements of a row, for some of the lanes --- */

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
