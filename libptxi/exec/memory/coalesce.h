/* How the addresses of a warp's lanes lie, and whether all of them may be accessed. */
#ifndef PTXI_EXEC_MEMORY_COALESCE_H
#define PTXI_EXEC_MEMORY_COALESCE_H

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "exec/engine/op_shapes.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"

/* Lowest and highest address of the active lanes, and all their bits or-ed. */
struct span {
    uint64_t lo, hi, bits;
};

static inline struct span one_lane(uint64_t at)
{
    return (struct span){ at, at, at };
}

#ifdef __AVX512F__
static __attribute__((noinline)) struct span span64(const uint64_t *a, ptxi_lanes on)
{
    __m512i first = _mm512_set1_epi64((int64_t)a[ptxi_first_lane(on)]), lo = first, hi = first, bits = first;

    if (!(on & (on - 1)))
        return one_lane(a[ptxi_first_lane(on)]);
    for (int l = 0; l < PTXI_LANES; l += 8) {
        __m512i x = _mm512_mask_loadu_epi64(first, (__mmask8)(on >> l), a + l);

        lo = _mm512_min_epu64(lo, x);
        hi = _mm512_max_epu64(hi, x);
        bits = _mm512_or_epi64(bits, x);
    }
    return (struct span){ _mm512_reduce_min_epu64(lo), _mm512_reduce_max_epu64(hi), (uint64_t)_mm512_reduce_or_epi64(bits) };
}

static __attribute__((noinline)) struct span span32(const uint32_t *a, ptxi_lanes on)
{
    __m512i first = _mm512_set1_epi32((int32_t)a[ptxi_first_lane(on)]), lo = first, hi = first, bits = first;

    if (!(on & (on - 1)))
        return one_lane(a[ptxi_first_lane(on)]);
    for (int l = 0; l < PTXI_LANES; l += 16) {
        __m512i x = _mm512_mask_loadu_epi32(first, (__mmask16)(on >> l), a + l);

        lo = _mm512_min_epu32(lo, x);
        hi = _mm512_max_epu32(hi, x);
        bits = _mm512_or_epi32(bits, x);
    }
    return (struct span){ _mm512_reduce_min_epu32(lo), _mm512_reduce_max_epu32(hi), (uint32_t)_mm512_reduce_or_epi32(bits) };
}
#else
#define SPAN(n)                                                                                                     \
    static __attribute__((noinline)) struct span span##n(const uint##n##_t *a, ptxi_lanes on)                       \
    {                                                                                                               \
        uint##n##_t first = a[ptxi_first_lane(on)], lo = first, hi = first, bits = first;                           \
        _Alignas(64) uint##n##_t x[PTXI_LANES];                                                                     \
                                                                                                                    \
        if (!(on & (on - 1)))                                                                                       \
            return one_lane(first);                                                                                 \
        FOR_LANES x[l] = first;                                                                                     \
        ptxi_merge_##n(x, a, on);                                                                                   \
        for (int l = 0; l < PTXI_LANES; l++) {                                                                      \
            lo = x[l] < lo ? x[l] : lo;                                                                             \
            hi = x[l] > hi ? x[l] : hi;                                                                             \
            bits |= x[l];                                                                                           \
        }                                                                                                           \
        return (struct span){ lo, hi, bits };                                                                       \
    }
SPAN(32)
SPAN(64)
#undef SPAN
#endif

static inline __attribute__((always_inline)) bool in_row64(const uint64_t *a, unsigned stride)
{
    uint64_t base = a[0], off = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (base + (uint64_t)l * stride);
    return !off;
}

static inline __attribute__((always_inline)) bool in_row32(const uint32_t *a, unsigned stride)
{
    uint32_t base = a[0], off = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (base + (uint32_t)l * stride);
    return !off;
}

/* Whether addresses in shared memory from lo to hi, n bytes at the highest, lie within the CTA's. */
static inline bool shared_covers(const struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t hi, uint32_t n)
{
    return hi <= INT32_MAX && (int64_t)lo + i->imm >= (int64_t)w->shared_at && (int64_t)hi + i->imm + n <= (int64_t)(w->shared_at + w->shared_size);
}

/* Whether `size` bytes, a power of two, at a[l] + by lie below `end` and are aligned, for all lanes. */
static inline __attribute__((always_inline)) bool all_below32(const uint32_t *a, uint32_t by, uint32_t end, uint32_t size)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(size), most = end / size - 1;
    bool outside;

    /* rotated: what is not aligned is far away; and a[l] alone, so that `by` may be added to the base */
    ANY_ABOVE_32(outside, a, (x + by) >> shift | (x + by) << (32 - shift), most, x);
    return !outside && end >= size;
}

/* Whether as many bytes at a[l] + imm may be written and are aligned, for all lanes, in the allocation that the instruction hit last. */
static inline __attribute__((always_inline)) bool all_within64(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *a, uint64_t size)
{
    const struct ptxi_mem_hit *hit = ptxi_mem_hit(w, i);
    const uint32_t shift = (uint32_t)__builtin_ctzll(size);
    const uint64_t lo = hit->lo, end = hit->write_hi, first = lo - (uint64_t)(int64_t)i->imm, most = (end - lo) / size - 1;
    bool outside;

    /* at first, or who called would load a[l] again */
    if (hit->generation != atomic_load_explicit(w->generation, memory_order_acquire) || end < lo + size || lo & (size - 1))
        return false;
    ANY_ABOVE_64(outside, a, (x - first) >> shift | (x - first) << (64 - shift), most, 0);
    return !outside;
}

/* The check of a range, in line as long as the instruction stays in the allocation that it hit last. */
static inline bool may_access(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t lo, uint64_t size, enum ptxi_access access)
{
    return __builtin_expect(ptxi_mem_covers(w, ptxi_mem_hit(w, i), lo, size, access != PTXI_ACCESS_LOAD), 1) ||
           ptxi_mem_check(w, i, lo, size, access);
}

#endif
