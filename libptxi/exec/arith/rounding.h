/* Directed rounding. Outside of this header the host is set to round to nearest, with exceptions masked and
 * subnormals kept. A handler that rounds otherwise changes that around a call:
 *
 *     ptxi_rounding_begin(i->mods);
 *     lanes_of_something(r, a, b);     a PTXI_ROUNDING_FUNCTION
 *     ptxi_rounding_end(i->mods);
 *
 * The arithmetic is in a function that is not inlined, because compilers move arithmetic across the change. This is
 * not necessary if all operands are loaded from registers and all results are stored to registers between the two
 * calls, since compilers do not move these loads and stores. */
#ifndef PTXI_EXEC_ARITH_ROUNDING_H
#define PTXI_EXEC_ARITH_ROUNDING_H

#include "isa/bytecode.h"

#include <assert.h>
#include <stdbool.h>

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <fenv.h>
#endif

#if defined(__clang__)
#define PTXI_ROUNDING_FUNCTION static __attribute__((noinline))
#else
#define PTXI_ROUNDING_FUNCTION static __attribute__((noinline, noipa))
#endif

static inline enum ptxi_rounding ptxi_rounding_of(unsigned mods)
{
    return (enum ptxi_rounding)((mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT);
}

/* If defined, the host can flush subnormal operands and results as .ftz does. Like PTX, it decides by the rounded
 * result whether a result is too small. */
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#define PTXI_HOST_FLUSHES 1
#endif
#if defined(__SSE2__)
enum { PTXI_FLUSHING = 4 };
#endif

/* Whether the host has its usual mode. For assertions. */
static inline bool ptxi_rounding_is_nearest(void)
{
#if defined(__SSE2__)
    return (_mm_getcsr() & _MM_ROUND_MASK) == _MM_ROUND_NEAREST;
#else
    return fegetround() == FE_TONEAREST;
#endif
}

/* mode: enum ptxi_rounding, plus PTXI_FLUSHING to flush subnormals. */
static inline void ptxi_rounding_set(unsigned mode)
{
#if defined(__SSE2__)
    /* All exception flags are set: on some hosts an operation that is the first to set a flag takes ten times as
     * long. */
#define CONTROL(more) _MM_MASK_MASK | _MM_EXCEPT_MASK | (more)
#define CONTROLS(more)                                                                \
    CONTROL(_MM_ROUND_NEAREST | (more)), CONTROL(_MM_ROUND_TOWARD_ZERO | (more)),     \
    CONTROL(_MM_ROUND_DOWN | (more)), CONTROL(_MM_ROUND_UP | (more))
    static const unsigned control[8] = { CONTROLS(0), CONTROLS(_MM_FLUSH_ZERO_ON | 0x40 /* denormals are zeros */) };
#undef CONTROLS
#undef CONTROL

    /* Not by the intrinsic, for which compilers store the word first and wait for the store. */
    assert(mode < sizeof control / sizeof *control);
    __asm__ volatile("ldmxcsr %0" : : "m"(control[mode]) : "memory");
#else
    static const int control[4] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

    assert(mode < sizeof control / sizeof *control);
    fesetround(control[mode]);
#endif
}

static inline void ptxi_rounding_begin(unsigned mods)
{
    assert(ptxi_rounding_is_nearest());
    if (ptxi_rounding_of(mods) != PTXI_RN)
        ptxi_rounding_set(ptxi_rounding_of(mods));
}

static inline void ptxi_rounding_end(unsigned mods)
{
    if (ptxi_rounding_of(mods) != PTXI_RN)
        ptxi_rounding_set(PTXI_RN);
    assert(ptxi_rounding_is_nearest());
}

#if defined(__AVX512F__)
/* With AVX-512 the rounding can be part of an instruction. PTXI_IN_ROUNDING executes statements in which ROUNDING is
 * a constant. */
#define PTXI_ROUNDING_CASE(mode, how, ...)                      \
    mode: {                                                     \
        enum { ROUNDING = how | _MM_FROUND_NO_EXC };            \
                                                                \
        __VA_ARGS__                                             \
        break;                                                  \
    }
#define PTXI_IN_ROUNDING(mode, ...)                                             \
    switch (mode) {                                                             \
    PTXI_ROUNDING_CASE(default, _MM_FROUND_TO_NEAREST_INT, __VA_ARGS__)         \
    PTXI_ROUNDING_CASE(case PTXI_RZ, _MM_FROUND_TO_ZERO, __VA_ARGS__)           \
    PTXI_ROUNDING_CASE(case PTXI_RM, _MM_FROUND_TO_NEG_INF, __VA_ARGS__)        \
    PTXI_ROUNDING_CASE(case PTXI_RP, _MM_FROUND_TO_POS_INF, __VA_ARGS__)        \
    }

/* One store of 16 lanes: a load that gets its bytes from two stores has to wait for both. */
static inline __m512 ptxi_concat_ps(__m256 low, __m256 high)
{
    return (__m512)_mm512_insertf64x4((__m512d)_mm512_castps256_ps512(low), (__m256d)high, 1);
}
#endif

#endif
