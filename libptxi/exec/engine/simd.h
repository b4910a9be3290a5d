/* SIMD code for the lanes of a register, where compilers do not find the best instructions. */
#ifndef PTXI_EXEC_ENGINE_SIMD_H
#define PTXI_EXEC_ENGINE_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa/bytecode.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Intrinsics of the widest vectors, and their types: V_ps has floats, V_pd doubles, V_int integers. */
#if defined(__AVX512DQ__)
#define V(name) _mm512_##name
typedef __m512 V_ps;
typedef __m512d V_pd;
typedef __m512i V_int;
#elif defined(__AVX__)
#define V(name) _mm256_##name
typedef __m256 V_ps;
typedef __m256d V_pd;
typedef __m256i V_int;
#elif defined(__SSE2__)
#define V(name) _mm_##name
typedef __m128 V_ps;
typedef __m128d V_pd;
typedef __m128i V_int;
#endif

/* Tests of all lanes:
 *   ptxi_any_nan       whether any element is NaN
 *   ptxi_either_nan    the same for two registers, which one comparison tests at once
 *   ptxi_any_beyond    whether any magnitude is not below the limit; a NaN is not
 *   ptxi_any_outside   whether any element has a sign or is not below the limit
 * ptxi_clamp limits elements to [min, max]. A NaN becomes min. r may be a. */
#if defined(V)
#define CLAMP(t, s, x)                                                                                            \
    static inline void ptxi_clamp_##t(x *r, const x *a, x min, x max)                                             \
    {                                                                                                             \
        for (int k = 0; k < PTXI_LANES; k += (int)(sizeof(V_##s) / sizeof *r))                                    \
            V(store_##s)(r + k, V(min_##s)(V(max_##s)(V(load_##s)(a + k), V(set1_##s)(min)), V(set1_##s)(max)));  \
    }
#else
#define CLAMP(t, s, x)                                                 \
    static inline void ptxi_clamp_##t(x *r, const x *a, x min, x max)  \
    {                                                                  \
        for (int k = 0; k < PTXI_LANES; k++) {                         \
            x low = a[k] > min ? a[k] : min;                           \
                                                                       \
            r[k] = low < max ? low : max;                              \
        }                                                              \
    }
#endif

#if defined(__AVX512DQ__)
#define ROW_TESTS(t, s, x, n, u)                                                                                       \
    static inline bool ptxi_either_nan_##t(const x *a, const x *b, int step)                                           \
    {                                                                                                                  \
        __mmask##n numbers = _mm512_cmp_##s##_mask(_mm512_load_##s(a), _mm512_load_##s(b), _CMP_ORD_Q);                \
                                                                                                                       \
        for (int k = step; k < PTXI_LANES; k += step)                                                                  \
            numbers = _mm512_mask_cmp_##s##_mask(numbers, _mm512_load_##s(a + k), _mm512_load_##s(b + k), _CMP_ORD_Q); \
        return !_kortestc_mask##n##_u8(numbers, numbers);                                                              \
    }                                                                                                                  \
    static inline bool ptxi_any_beyond_##t(const x *r, x limit)                                                        \
    {                                                                                                                  \
        __mmask##n below = (__mmask##n)-1;                                                                             \
                                                                                                                       \
        for (int k = 0; k < PTXI_LANES; k += n)                                                                        \
            below = _mm512_mask_cmp_##s##_mask(below, _mm512_abs_##s(_mm512_load_##s(r + k)), _mm512_set1_##s(limit),  \
                                               _CMP_LT_OQ);                                                            \
        return !_kortestc_mask##n##_u8(below, below);                                                                  \
    }                                                                                                                  \
    static inline bool ptxi_any_outside_##t(const x *r, x limit)                                                       \
    {                                                                                                                  \
        __mmask##n below = (__mmask##n)-1;                                                                             \
                                                                                                                       \
        for (int k = 0; k < PTXI_LANES; k += n)                                                                        \
            below = _mm512_mask_cmp_ep##u##_mask(below, _mm512_load_si512(r + k), (__m512i)_mm512_set1_##s(limit),     \
                                                 _MM_CMPINT_LT);                                                       \
        return !_kortestc_mask##n##_u8(below, below);                                                                  \
    }
#elif defined(__SSE2__)
#if defined(__AVX__)
#define UNORDERED(s, x, y) _mm256_cmp_##s(x, y, _CMP_UNORD_Q)
#define NOT_BELOW(s, x, y) _mm256_cmp_##s(x, y, _CMP_NLT_UQ)
#else
#define UNORDERED(s, x, y) _mm_cmpunord_##s(x, y)
#define NOT_BELOW(s, x, y) _mm_cmpnlt_##s(x, y)
#endif
#define ROW_TESTS(t, s, x, n, u)                                                                                       \
    static inline bool ptxi_either_nan_##t(const x *a, const x *b, int step)                                           \
    {                                                                                                                  \
        V_##s nan = UNORDERED(s, V(load_##s)(a), V(load_##s)(b));                                                      \
                                                                                                                       \
        for (int k = step; k < PTXI_LANES; k += step)                                                                  \
            nan = V(or_##s)(nan, UNORDERED(s, V(load_##s)(a + k), V(load_##s)(b + k)));                                \
        return V(movemask_##s)(nan);                                                                                   \
    }                                                                                                                  \
    static inline bool ptxi_any_beyond_##t(const x *r, x limit)                                                        \
    {                                                                                                                  \
        V_##s beyond = V(setzero_##s)(), sign = V(set1_##s)((x)-0.0);                                                  \
                                                                                                                       \
        for (int k = 0; k < PTXI_LANES; k += (int)(sizeof(V_##s) / sizeof *r))                                         \
            beyond = V(or_##s)(beyond, NOT_BELOW(s, V(andnot_##s)(sign, V(load_##s)(r + k)), V(set1_##s)(limit)));     \
        return V(movemask_##s)(beyond);                                                                                \
    }                                                                                                                  \
    static inline bool ptxi_any_outside_##t(const x *r, x limit)                                                       \
    {                                                                                                                  \
        V_##s beyond = V(setzero_##s)();                                                                               \
                                                                                                                       \
        for (int k = 0; k < PTXI_LANES; k += (int)(sizeof(V_##s) / sizeof *r))                                         \
            beyond = V(or_##s)(V(or_##s)(beyond, V(load_##s)(r + k)),                                                  \
                               NOT_BELOW(s, V(load_##s)(r + k), V(set1_##s)(limit)));                                  \
        return V(movemask_##s)(beyond);                                                                                \
    }
#else
#define ROW_TESTS(t, s, x, n, u)                                              \
    static inline bool ptxi_either_nan_##t(const x *a, const x *b, int step)  \
    {                                                                         \
        bool nan = false;                                                     \
                                                                              \
        for (int k = 0; k < PTXI_LANES; k += step)                            \
            nan |= a[k] != a[k] || b[k] != b[k];                              \
        return nan;                                                           \
    }                                                                         \
    static inline bool ptxi_any_beyond_##t(const x *r, x limit)               \
    {                                                                         \
        bool below = true;                                                    \
                                                                              \
        for (int k = 0; k < PTXI_LANES; k++)                                  \
            below &= (r[k] < 0 ? -r[k] : r[k]) < limit;                       \
        return !below;                                                        \
    }                                                                         \
    static inline bool ptxi_any_outside_##t(const x *r, x limit)              \
    {                                                                         \
        bool inside = true;                                                   \
                                                                              \
        for (int k = 0; k < PTXI_LANES; k++)                                  \
            inside &= r[k] >= 0 && r[k] < limit;                              \
        return !inside;                                                       \
    }
#endif
ROW_TESTS(f32, ps, float, 16, u32)
ROW_TESTS(f64, pd, double, 8, u64)

#if defined(V)
enum { V_FLOATS = sizeof(V_ps) / sizeof(float), V_DOUBLES = sizeof(V_pd) / sizeof(double) };
#else
enum { V_FLOATS = 1, V_DOUBLES = 1 };
#endif
static inline bool ptxi_any_nan_f32(const float *r)
{
    return ptxi_either_nan_f32(r, r + V_FLOATS, 2 * V_FLOATS);
}
static inline bool ptxi_any_nan_f64(const double *r)
{
    return ptxi_either_nan_f64(r, r + V_DOUBLES, 2 * V_DOUBLES);
}
CLAMP(f32, ps, float)
CLAMP(f64, pd, double)
#undef ROW_TESTS
#undef CLAMP

#define ptxi_any_nan_of(r) _Generic((r), float * : ptxi_any_nan_f32, double * : ptxi_any_nan_f64)(r)

/* d = r. Compilers would replace the loop by memcpy(), which keeps r out of registers. */
#if defined(V)
#define COPY(t, s, x)                                                             \
    static inline void ptxi_copy_##t(void *d, const x *r)                         \
    {                                                                             \
        for (int k = 0; k < PTXI_LANES; k += (int)(sizeof(V_##s) / sizeof *r)) {  \
            V_##s v = V(load_##s)(r + k);                                         \
                                                                                  \
            __asm__ volatile("" : : "x"(v));                                      \
            V(store_##s)((x *)d + k, v);                                          \
        }                                                                         \
    }
#else
#define COPY(t, s, x)                                      \
    static inline void ptxi_copy_##t(void *d, const x *r)  \
    {                                                      \
        memcpy(d, r, PTXI_LANES * sizeof *r);              \
    }
#endif
COPY(f32, ps, float)
COPY(f64, pd, double)
#undef COPY
#define ptxi_copy_lanes(d, r) _Generic((r), float * : ptxi_copy_f32, double * : ptxi_copy_f64)(d, r)

/* d = r, for `bytes` bytes of a register. memcpy() may store smaller parts, for which the loads of the next handler
 * would have to wait. */
static inline void ptxi_copy_register(void *d, const void *r, size_t bytes)
{
#if defined(V)
    for (size_t k = 0; k < bytes / sizeof(V_ps); k++) {
        V_ps v = ((const V_ps *)r)[k];

        __asm__ volatile("" : : "x"(v));
        ((V_ps *)d)[k] = v;
    }
#else
    memcpy(d, r, bytes);
#endif
}

#endif
