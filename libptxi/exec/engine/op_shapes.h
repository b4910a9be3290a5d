/* The parts of arithmetic handlers: shapes of operations, and conversions between lane vectors and lane masks.
 *
 * A shape takes the element types of its operands and the expression for one lane, in terms of a[l], b[l], c[l]:
 *
 *   OP2(add_i32, uint32_t, uint32_t, uint32_t, a[l] + b[l])
 *
 * The destination may have the slot of a source of the same width. So an expression may only read lane l. */
#ifndef PTXI_EXEC_ENGINE_OP_SHAPES_H
#define PTXI_EXEC_ENGINE_OP_SHAPES_H

#include <string.h>

#include "exec/engine/handler.h"
#include "exec/engine/simd.h"

#define OP1(name, td, ta, expr)                 \
    OP(name)                                    \
    {                                           \
        const ta *a = PTXI_SLOT(w, i->a);       \
        td *d = PTXI_SLOT(w, i->d);             \
                                                \
        WRITE_LANES(d, expr);                   \
        NEXT;                                   \
    }

#define OP2(name, td, ta, tb, expr)             \
    OP(name)                                    \
    {                                           \
        const ta *a = PTXI_SLOT(w, i->a);       \
        const tb *b = PTXI_SLOT(w, i->b);       \
        td *d = PTXI_SLOT(w, i->d);             \
                                                \
        WRITE_LANES(d, expr);                   \
        NEXT;                                   \
    }

#define OP3(name, td, ta, tb, tc, expr)         \
    OP(name)                                    \
    {                                           \
        const ta *a = PTXI_SLOT(w, i->a);       \
        const tb *b = PTXI_SLOT(w, i->b);       \
        const tc *c = PTXI_SLOT(w, i->c);       \
        td *d = PTXI_SLOT(w, i->d);             \
                                                \
        WRITE_LANES(d, expr);                   \
        NEXT;                                   \
    }

/* A source with 0 in the inactive lanes. Their values may be integers, which are often subnormal as floats, and CPUs
 * compute slowly with subnormal numbers. */
#define LIVE_SOURCE(type, name, from)                        \
    _Alignas(64) type name[PTXI_LANES] = { 0 };              \
                                                             \
    ptxi_masked_write(name, from, w->active, sizeof(type))

/* OP1 to OP3 for arithmetic with the host's floating-point instructions. */
#define OPF(name, td, ta, tb, tc, slot_b, slot_c, expr)                 \
    OP(name)                                                            \
    {                                                                   \
        td *d = PTXI_SLOT(w, i->d);                                     \
                                                                        \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {         \
            const ta *a = PTXI_SLOT(w, i->a);                           \
            const tb *b __attribute__((unused)) = PTXI_SLOT(w, slot_b); \
            const tc *c __attribute__((unused)) = PTXI_SLOT(w, slot_c); \
                                                                        \
            FOR_LANES                                                   \
            d[l] = (expr);                                              \
        } else {                                                        \
            _Alignas(64) td out[PTXI_LANES];                            \
            LIVE_SOURCE(ta, a, PTXI_SLOT(w, i->a));                     \
            LIVE_SOURCE(tb, b, PTXI_SLOT(w, slot_b));                   \
            LIVE_SOURCE(tc, c, PTXI_SLOT(w, slot_c));                   \
                                                                        \
            (void)b;                                                    \
            (void)c;                                                    \
            FOR_LANES                                                   \
            out[l] = (expr);                                            \
            ptxi_masked_write(d, out, w->active, sizeof *d);            \
        }                                                               \
        NEXT;                                                           \
    }
#define OPF1(name, td, ta, expr) OPF(name, td, ta, ta, ta, i->a, i->a, expr)
#define OPF2(name, td, ta, tb, expr) OPF(name, td, ta, tb, tb, i->b, i->b, expr)

/* For expressions that are long or are not vectorised: one copy of the code, for any mask, computes all lanes into a
 * buffer. */
#define WRITE_LANES_COLD(d, expr)                                          \
    do {                                                                   \
        _Alignas(64) __typeof__(*(d)) out_[PTXI_LANES];                    \
                                                                           \
        FOR_LANES                                                          \
        out_[l] = (expr);                                                  \
        write_buffer(d, out_, w->active, sizeof *(d));                     \
    } while (0)

static inline void write_buffer(void *d, const void *from, ptxi_lanes on, size_t size)
{
    if (__builtin_expect(on == PTXI_ALL_LANES, 1))
        ptxi_copy_register(d, from, PTXI_LANES * size);
    else
        ptxi_masked_write(d, from, on, size);
}

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* A temporary with one value for each lane. */
#define LANE_ARRAY(type, name) _Alignas(64) type name[PTXI_LANES]

/* Memory for the results of all lanes: the destination if all lanes are active, else a buffer. A source of the same
 * width may be the destination, too. So a handler must read a lane of it before it writes that lane. */
#define RESULT_LANES(type, r)          \
    LANE_ARRAY(type, r##_buffer_);     \
    type *r = __builtin_assume_aligned(w->active == PTXI_ALL_LANES ? (type *)PTXI_SLOT(w, i->d) : r##_buffer_, 64)
#define NEXT_WITH_RESULT(r)                                                   \
    do {                                                                      \
        if (w->active != PTXI_ALL_LANES)                                      \
            ptxi_masked_write(PTXI_SLOT(w, i->d), r, w->active, sizeof *(r)); \
        NEXT;                                                                 \
    } while (0)

/* The mask of the lanes with byte 1. All bytes are 0 or 1. */
static inline ptxi_lanes ptxi_mask_of_bytes(const uint8_t *t)
{
    ptxi_lanes mask = 0;

#if defined(__AVX2__)
    for (int k = 0; k < PTXI_LANES; k += 32) {
        __m256i v = _mm256_load_si256((const __m256i *)(t + k));

        mask |= (ptxi_lanes)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(v, 7)) << k;
    }
#elif defined(__SSE2__)
    for (int k = 0; k < PTXI_LANES; k += 16) {
        __m128i v = _mm_load_si128((const __m128i *)(t + k));

        mask |= (ptxi_lanes)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(v, 7)) << k;
    }
#else
    for (int k = 0; k < PTXI_LANES; k++)
        mask |= (ptxi_lanes)t[k] << k;
#endif
    return mask;
}

/* mask = the lanes l for which a condition is true. */
#define LANE_MASK(mask, cond)                                \
    do {                                                     \
        LANE_ARRAY(uint8_t, bytes_);                         \
                                                             \
        FOR_LANES                                            \
        bytes_[l] = (cond);                                  \
        (mask) = ptxi_mask_of_bytes(bytes_);                 \
    } while (0)

/* r = a * b, 64 bits wide, plus c unless it is NULL. Compilers generate slower code. r may be c. */
#if defined(__AVX512F__)
#define WIDE_PRODUCTS(name, type, multiply)                                                                            \
    static inline void name(uint64_t *r, const type *a, const type *b, const uint64_t *c)                              \
    {                                                                                                                  \
        for (int k = 0; k < PTXI_LANES; k += 8) {                                                                      \
            __m512i x = _mm512_cvtepu32_epi64(_mm256_load_si256((const __m256i *)(a + k)));                            \
            __m512i y = _mm512_cvtepu32_epi64(_mm256_load_si256((const __m256i *)(b + k)));                            \
            __m512i xy = _mm512_##multiply(x, y);                                                                      \
                                                                                                                       \
            _mm512_store_si512(r + k, c ? _mm512_add_epi64(xy, _mm512_load_si512(c + k)) : xy);                        \
        }                                                                                                              \
    }
WIDE_PRODUCTS(ptxi_wide_u32, uint32_t, mul_epu32)
WIDE_PRODUCTS(ptxi_wide_s32, int32_t, mul_epi32)
#elif defined(__AVX2__)
#define WIDE_PRODUCTS(name, type, multiply)                                                                            \
    static inline void name(uint64_t *r, const type *a, const type *b, const uint64_t *c)                              \
    {                                                                                                                  \
        for (int k = 0; k < PTXI_LANES; k += 4) {                                                                      \
            __m256i x = _mm256_cvtepu32_epi64(_mm_load_si128((const __m128i *)(a + k)));                               \
            __m256i y = _mm256_cvtepu32_epi64(_mm_load_si128((const __m128i *)(b + k))), xy = _mm256_##multiply(x, y); \
                                                                                                                       \
            if (c)                                                                                                     \
                xy = _mm256_add_epi64(xy, _mm256_load_si256((const __m256i *)(c + k)));                                \
            _mm256_store_si256((__m256i *)(r + k), xy);                                                                \
        }                                                                                                              \
    }
WIDE_PRODUCTS(ptxi_wide_u32, uint32_t, mul_epu32)
WIDE_PRODUCTS(ptxi_wide_s32, int32_t, mul_epi32)
#else
#define WIDE_PRODUCTS(name, type, wide)                                                    \
    static inline void name(uint64_t *r, const type *a, const type *b, const uint64_t *c)  \
    {                                                                                      \
        FOR_LANES r[l] = (uint64_t)((wide)a[l] * b[l]) + (c ? c[l] : 0);                   \
    }
WIDE_PRODUCTS(ptxi_wide_u32, uint32_t, uint64_t)
WIDE_PRODUCTS(ptxi_wide_s32, int32_t, int64_t)
#endif
#undef WIDE_PRODUCTS

/* r[l] = a[l] for the lanes of a mask, b[l] for the other ones. */
#if defined(__AVX512BW__)
#define PICK_LANES(n)                                                                                                  \
    static inline void ptxi_pick_##n(void *r, ptxi_lanes mask, const void *a, const void *b)                           \
    {                                                                                                                  \
        for (int k = 0; k < PTXI_LANES * n / 512; k++)                                                                 \
            ((__m512i *)r)[k] = _mm512_mask_mov_epi##n(((const __m512i *)b)[k], mask >> (k * (512 / n)),               \
                                                       ((const __m512i *)a)[k]);                                       \
    }
#elif defined(__AVX2__)
#define PICK_LANES(n)                                                                                           \
    static inline void ptxi_pick_##n(void *r, ptxi_lanes mask, const void *a, const void *b)                    \
    {                                                                                                           \
        for (int k = 0; k < PTXI_LANES * n / 256; k++)                                                          \
            ((__m256i *)r)[k] = _mm256_blendv_epi8(((const __m256i *)b)[k], ((const __m256i *)a)[k],            \
                                                   ptxi_mask_vector_##n((uint32_t)(mask >> (k * (256 / n)))));  \
    }
#else
#define PICK_LANES(n)                                                                                                \
    static inline void ptxi_pick_##n(void *r, ptxi_lanes mask, const void *a, const void *b)                         \
    {                                                                                                                \
        FOR_LANES ((uint##n##_t *)r)[l] = mask >> l & 1 ? ((const uint##n##_t *)a)[l] : ((const uint##n##_t *)b)[l]; \
    }
#endif
PICK_LANES(16)
PICK_LANES(32)
PICK_LANES(64)
#undef PICK_LANES

/* mask = the lanes for which a condition on the elements x of a and y of b is true. The condition consists of
 * comparisons, &, | and ~. Compilers do not use the instructions that collect signs, so the vectors are explicit. */
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define LANE_VECTOR 64
#define SIGNS_16(v) _mm512_movepi16_mask((__m512i)(v))
#define SIGNS_32(v) _mm512_movepi32_mask((__m512i)(v))
#define SIGNS_64(v) _mm512_movepi64_mask((__m512i)(v))
#elif defined(__AVX2__)
#define LANE_VECTOR 32
#define SIGNS_32(v) _mm256_movemask_ps((__m256)(v))
#define SIGNS_64(v) _mm256_movemask_pd((__m256d)(v))
#elif defined(__SSE2__)
#define LANE_VECTOR 16
#define SIGNS_32(v) _mm_movemask_ps((__m128)(v))
#define SIGNS_64(v) _mm_movemask_pd((__m128d)(v))
#else
#define LANE_VECTOR 16
#endif

#define COMPARE_VECTORS(mask, type, signs, a, b, cond)                                              \
    do {                                                                                            \
        typedef type vec_ __attribute__((vector_size(LANE_VECTOR), may_alias));                     \
        enum { per_ = LANE_VECTOR / sizeof(type) };                                                 \
                                                                                                    \
        (mask) = 0;                                                                                 \
        for (int k_ = 0; k_ < PTXI_LANES / per_; k_++) {                                            \
            vec_ x = ((const vec_ *)(a))[k_], y = ((const vec_ *)(b))[k_];                          \
                                                                                                    \
            (void)y;                                                                                \
            (mask) |= (ptxi_lanes)(uint32_t)signs(cond) << (k_ * per_);                             \
        }                                                                                           \
    } while (0)
#define COMPARE_SCALARS(mask, type, a, b, cond)                    \
    do {                                                           \
        LANE_ARRAY(uint8_t, bytes_);                               \
                                                                   \
        FOR_LANES {                                                \
            type x = (a)[l], y = (b)[l];                           \
                                                                   \
            (void)y;                                               \
            bytes_[l] = (cond) & 1;                                \
        }                                                          \
        (mask) = ptxi_mask_of_bytes(bytes_);                       \
    } while (0)

/* "Not" in cond, for vectors and for scalars, of which only the lowest bit is used. */
#define COMPARE_NOT(cond) ((cond) ^ -1)

#if defined(SIGNS_16)
#define COMPARE_16(mask, type, a, b, cond) COMPARE_VECTORS(mask, type, SIGNS_16, a, b, cond)
#else
#define COMPARE_16(mask, type, a, b, cond) COMPARE_SCALARS(mask, type, a, b, cond)
#endif
#if defined(SIGNS_32)
#define COMPARE_32(mask, type, a, b, cond) COMPARE_VECTORS(mask, type, SIGNS_32, a, b, cond)
#define COMPARE_64(mask, type, a, b, cond) COMPARE_VECTORS(mask, type, SIGNS_64, a, b, cond)
#else
#define COMPARE_32(mask, type, a, b, cond) COMPARE_SCALARS(mask, type, a, b, cond)
#define COMPARE_64(mask, type, a, b, cond) COMPARE_SCALARS(mask, type, a, b, cond)
#endif

/* Whether a vector of LANE_VECTOR bytes is zero. */
static inline bool ptxi_is_zero_vector(const void *v, size_t size)
{
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
    (void)size;
    return !_mm512_test_epi64_mask(*(const __m512i *)v, *(const __m512i *)v);
#elif defined(__AVX2__)
    (void)size;
    return _mm256_testz_si256(*(const __m256i *)v, *(const __m256i *)v);
#else
    const uint64_t *x = v;
    uint64_t any = 0;

    for (size_t k = 0; k < size / sizeof *x; k++)
        any |= x[k];
    return !any;
#endif
}

/* any = whether, in some lane, an expression of the element x of a exceeds `most`, or the expression `sign` has its
 * sign bit set. `most` has no sign bit. */
#if defined(SIGNS_16)
#define ANY_VECTOR(any, n, per, a, expr, most, sign)                                                     \
    do {                                                                                                 \
        typedef uint##n##_t vec_ __attribute__((vector_size(LANE_VECTOR), may_alias));                   \
        __mmask##per low_ = (__mmask##per)~0u;                                                           \
                                                                                                         \
        for (int k_ = 0; k_ < PTXI_LANES / per; k_++) {                                                  \
            vec_ x = ((const vec_ *)(a))[k_], is_ = (expr) | ((sign) & UINT##n##_C(1) << (n - 1));       \
                                                                                                         \
            low_ = _mm512_mask_cmple_epu##n##_mask(low_, (__m512i)is_, (__m512i)((vec_){ 0 } + (most))); \
        }                                                                                                \
        (any) = low_ != (__mmask##per)~0u;                                                               \
    } while (0)
#define ANY_ABOVE_32(any, a, expr, most, sign) ANY_VECTOR(any, 32, 16, a, expr, most, sign)
#define ANY_ABOVE_64(any, a, expr, most, sign) ANY_VECTOR(any, 64, 8, a, expr, most, sign)
#elif defined(SIGNS_32)
#define ANY_VECTOR(any, n, a, expr, most, sign)                                                     \
    do {                                                                                            \
        typedef uint##n##_t vec_ __attribute__((vector_size(LANE_VECTOR), may_alias));              \
        enum { per_ = LANE_VECTOR * 8 / n };                                                        \
        vec_ all_ = { 0 };                                                                          \
                                                                                                    \
        for (int k_ = 0; k_ < PTXI_LANES / per_; k_++) {                                            \
            vec_ x = ((const vec_ *)(a))[k_], is_ = (expr);                                         \
                                                                                                    \
            all_ |= is_ | ((most) - is_) | (sign);                                                  \
        }                                                                                           \
        (any) = SIGNS_##n(all_);                                                                    \
    } while (0)
#define ANY_ABOVE_32(any, a, expr, most, sign) ANY_VECTOR(any, 32, a, expr, most, sign)
#define ANY_ABOVE_64(any, a, expr, most, sign) ANY_VECTOR(any, 64, a, expr, most, sign)
#else
#define ANY_SCALAR(any, n, a, expr, most, sign)                    \
    do {                                                           \
        uint##n##_t all_ = 0;                                      \
                                                                   \
        for (int l = 0; l < PTXI_LANES; l++) {                     \
            uint##n##_t x = (a)[l], is_ = (expr);                  \
                                                                   \
            all_ |= is_ | ((most) - is_) | (sign);                 \
        }                                                          \
        (any) = all_ >> (n - 1);                                   \
    } while (0)
#define ANY_ABOVE_32(any, a, expr, most, sign) ANY_SCALAR(any, 32, a, expr, most, sign)
#define ANY_ABOVE_64(any, a, expr, most, sign) ANY_SCALAR(any, 64, a, expr, most, sign)
#endif

#endif
