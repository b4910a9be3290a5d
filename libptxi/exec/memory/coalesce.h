/* Coalescing: the range and the pattern of the addresses of a warp's lanes, and whether the program may access all of
 * them. */
#ifndef PTXI_EXEC_MEMORY_COALESCE_H
#define PTXI_EXEC_MEMORY_COALESCE_H

#include <assert.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/engine/op_shapes.h"
#include "exec/engine/handler.h"
#include "exec/engine/row_register.h"
#include "exec/memory/access.h"

/* The lowest and the highest address of the active lanes, and all their bits or-ed. */
struct ptxi_address_range {
    uint64_t lo, hi, bits;
};

static inline struct ptxi_address_range ptxi_address_range_of_one(uint64_t at)
{
    return (struct ptxi_address_range){ at, at, at };
}

/* The lowest and the highest address of the active lanes, which are in the row. */
static inline struct ptxi_address_range ptxi_address_range_of_row(const struct ptxi_warp *w,
                                                                  const struct ptxi_lane_row *r)
{
    const uint64_t first = r->first + (uint64_t)r->stride * ptxi_first_lane(w->active);
    const uint64_t last = r->first + (uint64_t)r->stride * (63 - (unsigned)__builtin_clzll(w->active));

    return (struct ptxi_address_range){ first < last ? first : last, first < last ? last : first, 0 };
}

/* --- the range of the active lanes --- */

#ifdef __AVX512F__
static __attribute__((noinline)) struct ptxi_address_range ptxi_address_range_64(const uint64_t *a, ptxi_lanes on)
{
    __m512i first = _mm512_set1_epi64((int64_t)a[ptxi_first_lane(on)]), lo = first, hi = first, bits = first;

    assert(on);
    if (!(on & (on - 1)))
        return ptxi_address_range_of_one(a[ptxi_first_lane(on)]);
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i x = _mm512_mask_loadu_epi64(first, (__mmask8)(on >> l), a + l);

        lo = _mm512_min_epu64(lo, x);
        hi = _mm512_max_epu64(hi, x);
        bits = _mm512_or_epi64(bits, x);
    }
    return (struct ptxi_address_range){ _mm512_reduce_min_epu64(lo), _mm512_reduce_max_epu64(hi),
                                        (uint64_t)_mm512_reduce_or_epi64(bits) };
}

static __attribute__((noinline, unused)) struct ptxi_address_range
ptxi_address_range_32(const uint32_t *a, ptxi_lanes on)
{
    __m512i first = _mm512_set1_epi32((int32_t)a[ptxi_first_lane(on)]), lo = first, hi = first, bits = first;

    assert(on);
    if (!(on & (on - 1)))
        return ptxi_address_range_of_one(a[ptxi_first_lane(on)]);
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512i x = _mm512_mask_loadu_epi32(first, (__mmask16)(on >> l), a + l);

        lo = _mm512_min_epu32(lo, x);
        hi = _mm512_max_epu32(hi, x);
        bits = _mm512_or_epi32(bits, x);
    }
    return (struct ptxi_address_range){ _mm512_reduce_min_epu32(lo), _mm512_reduce_max_epu32(hi),
                                        (uint32_t)_mm512_reduce_or_epi32(bits) };
}
#else
#define ADDRESS_RANGE(n)                                                                          \
    static __attribute__((noinline, unused)) struct ptxi_address_range                                    \
    ptxi_address_range_##n(const uint##n##_t *a, ptxi_lanes on)                                   \
    {                                                                                             \
        uint##n##_t first = a[ptxi_first_lane(on)], lo = first, hi = first, bits = first;         \
        _Alignas(64) uint##n##_t x[PTXI_LANES];                                                   \
                                                                                                  \
        assert(on);                                                                               \
        if (!(on & (on - 1)))                                                                     \
            return ptxi_address_range_of_one(first);                                              \
        FOR_LANES x[l] = first;                                                                   \
        ptxi_masked_write_##n(x, a, on);                                                                 \
        for (int l = 0; l < PTXI_LANES; l++) {                                                    \
            lo = x[l] < lo ? x[l] : lo;                                                           \
            hi = x[l] > hi ? x[l] : hi;                                                           \
            bits |= x[l];                                                                         \
        }                                                                                         \
        return (struct ptxi_address_range){ lo, hi, bits };                                       \
    }
ADDRESS_RANGE(32)
ADDRESS_RANGE(64)
#undef ADDRESS_RANGE
#endif

/* --- contiguous lanes --- */

/* True if lane l's address is a[0] + l * stride, for all lanes. With stride 0 all addresses are equal. */
static inline __attribute__((always_inline)) bool ptxi_is_contiguous_64(const uint64_t *a, unsigned stride)
{
    uint64_t base = a[0], off = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (base + (uint64_t)l * stride);
    return !off;
}

static inline __attribute__((always_inline)) bool ptxi_is_contiguous_32(const uint32_t *a, unsigned stride)
{
    uint32_t base = a[0], off = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (base + (uint32_t)l * stride);
    return !off;
}

/* --- groups of neighbouring lanes: tiles narrower than a warp access contiguous memory, or one address, with 8 or 16
 * lanes --- */

enum ptxi_coalesce_shape { PTXI_COALESCE_MIXED, PTXI_COALESCE_CONTIGUOUS, PTXI_COALESCE_ONE_ADDRESS };

/* The number of lanes in a group, by the width of their addresses. */
#ifdef __AVX512F__
enum { PTXI_COALESCE_LANES_32 = 16, PTXI_COALESCE_LANES_64 = 8 };
#else
enum { PTXI_COALESCE_LANES_32 = 8, PTXI_COALESCE_LANES_64 = 8 };
#endif

static inline enum ptxi_coalesce_shape ptxi_coalesce_shape_of(bool contiguous, bool same)
{
    if (contiguous)
        return PTXI_COALESCE_CONTIGUOUS;
    return same ? PTXI_COALESCE_ONE_ADDRESS : PTXI_COALESCE_MIXED;
}

/* The shape of the first PTXI_COALESCE_LANES_32 addresses at a. Contiguous ones are `size` bytes apart. */
static inline enum ptxi_coalesce_shape ptxi_coalesce_group_32(const uint32_t *a, unsigned size)
{
#if defined(__AVX512F__)
    __m512i offset = _mm512_sub_epi32(_mm512_load_si512(a), _mm512_set1_epi32((int)a[0]));
    __m512i contiguous = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                            _mm512_set1_epi32((int)size));

    return ptxi_coalesce_shape_of(!_mm512_cmpneq_epi32_mask(offset, contiguous),
                                  !_mm512_test_epi32_mask(offset, offset));
#elif defined(__AVX2__)
    __m256i offset = _mm256_sub_epi32(_mm256_load_si256((const __m256i *)a), _mm256_set1_epi32((int)a[0]));
    __m256i contiguous = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)size));
    __m256i off = _mm256_xor_si256(offset, contiguous);

    return ptxi_coalesce_shape_of(_mm256_testz_si256(off, off), _mm256_testz_si256(offset, offset));
#else
    uint32_t off = 0, different = 0;

    for (unsigned l = 0; l < PTXI_COALESCE_LANES_32; l++) {
        off |= (a[l] - a[0]) ^ (l * size);
        different |= a[l] ^ a[0];
    }
    return ptxi_coalesce_shape_of(!off, !different);
#endif
}

/* The same for PTXI_COALESCE_LANES_64 64-bit addresses. */
static inline enum ptxi_coalesce_shape ptxi_coalesce_group_64(const uint64_t *a, unsigned size)
{
#if defined(__AVX512F__)
    __m512i offset = _mm512_sub_epi64(_mm512_load_si512(a), _mm512_set1_epi64((int64_t)a[0]));
    __m512i contiguous = _mm512_setr_epi64(0, size, 2 * size, 3 * size, 4 * size, 5 * size, 6 * size, 7 * size);

    return ptxi_coalesce_shape_of(!_mm512_cmpneq_epi64_mask(offset, contiguous),
                                  !_mm512_test_epi64_mask(offset, offset));
#else
    uint64_t off = 0, different = 0;

    for (unsigned l = 0; l < PTXI_COALESCE_LANES_64; l++) {
        off |= (a[l] - a[0]) ^ (l * (uint64_t)size);
        different |= a[l] ^ a[0];
    }
    return ptxi_coalesce_shape_of(!off, !different);
#endif
}

/* --- checks --- */

/* True if shared addresses from lo to hi, and n bytes at the highest one, are in the CTA's own shared memory. */
static inline bool ptxi_shared_covers(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t hi,
                                      uint32_t n)
{
    return hi <= INT32_MAX && (int64_t)lo + i->imm >= (int64_t)w->shared_at &&
           (int64_t)hi + i->imm + n <= (int64_t)(w->shared_at + w->shared_size);
}

/* True if `size` bytes at a[l] + by are below `end` and aligned, for all lanes. The size is a power of two. */
static inline __attribute__((always_inline)) bool
ptxi_all_below_32(const uint32_t *a, uint32_t by, uint32_t end, uint32_t size)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(size), most = end / size - 1;
    bool outside;

    assert(size && !(size & (size - 1)));
    /* Rotation makes misaligned addresses large. a[l] stays separate, so that the compiler can add `by` to the base. */
    ANY_ABOVE_32(outside, a, (x + by) >> shift | (x + by) << (32 - shift), most, x);
    return !outside && end >= size;
}

/* True if the program may write `size` bytes at a[l] + imm in the allocation that the instruction hit last, and they
 * are aligned, for all lanes. */
static inline __attribute__((always_inline)) bool
ptxi_all_within_64(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *a, uint64_t size)
{
    const struct ptxi_access_hit *hit = ptxi_access_hit(w, i);
    const uint32_t shift = (uint32_t)__builtin_ctzll(size);
    const uint64_t lo = hit->lo, end = hit->write_hi;
    const uint64_t first = lo - (uint64_t)(int64_t)i->imm, most = (end - lo) / size - 1;
    bool outside;

    assert(size && !(size & (size - 1)));
    /* This comes first, or the compiler would load a[l] again in the caller. */
    if (hit->generation != atomic_load_explicit(w->generation, memory_order_acquire) || end < lo + size ||
        lo & (size - 1))
        return false;
    ANY_ABOVE_64(outside, a, (x - first) >> shift | (x - first) << (64 - shift), most, 0);
    return !outside;
}

/* Checks a range of global memory. It is inline for ranges in the allocation that the instruction hit last. */
static inline bool ptxi_may_access(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t size,
                                   enum ptxi_access access)
{
    return __builtin_expect(ptxi_access_is_cached(w, ptxi_access_hit(w, i), lo, size, access != PTXI_AK_LOAD), 1) ||
           ptxi_access_check(w, i, lo, size, access);
}

#endif
