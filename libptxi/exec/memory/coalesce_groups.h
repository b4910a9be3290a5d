/* How the addresses of neighbouring lanes lie: tiles narrower than a warp make rows of 8 or 16 lanes, or the same
 * address in 8 or 16 lanes. */
#ifndef PTXI_EXEC_MEMORY_COALESCE_GROUPS_H
#define PTXI_EXEC_MEMORY_COALESCE_GROUPS_H

#include "exec/engine/handler.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum ptxi_group { PTXI_GROUP_MIXED, PTXI_GROUP_ROW, PTXI_GROUP_SAME };

#ifdef __AVX512F__
enum { PTXI_GROUP32 = 16, PTXI_GROUP64 = 8 };
#else
enum { PTXI_GROUP32 = 8, PTXI_GROUP64 = 8 };
#endif

static inline enum ptxi_group ptxi_group_of(bool row, bool same)
{
    return row ? PTXI_GROUP_ROW : same ? PTXI_GROUP_SAME : PTXI_GROUP_MIXED;
}

/* The shape of the first PTXI_GROUP32 addresses at a; in a row they are `size` bytes apart. */
static inline enum ptxi_group ptxi_group32(const uint32_t *a, unsigned size)
{
#if defined(__AVX512F__)
    __m512i from = _mm512_sub_epi32(_mm512_load_si512(a), _mm512_set1_epi32((int)a[0]));
    __m512i row = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32((int)size));

    return ptxi_group_of(!_mm512_cmpneq_epi32_mask(from, row), !_mm512_test_epi32_mask(from, from));
#elif defined(__AVX2__)
    __m256i from = _mm256_sub_epi32(_mm256_load_si256((const __m256i *)a), _mm256_set1_epi32((int)a[0]));
    __m256i row = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)size));
    __m256i off = _mm256_xor_si256(from, row);

    return ptxi_group_of(_mm256_testz_si256(off, off), _mm256_testz_si256(from, from));
#else
    uint32_t row = 0, same = 0;

    for (unsigned l = 0; l < PTXI_GROUP32; l++) {
        row |= (a[l] - a[0]) ^ (l * size);
        same |= a[l] ^ a[0];
    }
    return ptxi_group_of(!row, !same);
#endif
}

/* The shapes of all groups of a vector of 32-bit addresses, and what an access must know of them. Lies in a register slot. */
struct ptxi_shape {
    uint32_t lo, hi, bits;                      /* of all addresses: least, greatest, or-ed */
    bool usable;                                /* every group is a row or one address */
    bool row[PTXI_LANES / PTXI_GROUP32];
    uint32_t first[PTXI_LANES / PTXI_GROUP32];
};
_Static_assert(sizeof(struct ptxi_shape) <= PTXI_UNIT, "a shape has one unit");

/* The same of PTXI_GROUP64 64-bit addresses. */
static inline enum ptxi_group ptxi_group64(const uint64_t *a, unsigned size)
{
#if defined(__AVX512F__)
    __m512i from = _mm512_sub_epi64(_mm512_load_si512(a), _mm512_set1_epi64((int64_t)a[0]));
    __m512i row = _mm512_setr_epi64(0, size, 2 * size, 3 * size, 4 * size, 5 * size, 6 * size, 7 * size);

    return ptxi_group_of(!_mm512_cmpneq_epi64_mask(from, row), !_mm512_test_epi64_mask(from, from));
#else
    uint64_t row = 0, same = 0;

    for (unsigned l = 0; l < PTXI_GROUP64; l++) {
        row |= (a[l] - a[0]) ^ (l * (uint64_t)size);
        same |= a[l] ^ a[0];
    }
    return ptxi_group_of(!row, !same);
#endif
}

#endif
