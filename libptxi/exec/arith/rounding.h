/* Directed rounding. The engine runs with the host set to nearest, exceptions masked and subnormals kept; a handler that
 * rounds otherwise changes that around a call:
 *
 *     ptxi_rounding_begin(i->mods);
 *     lanes_of_something(r, a, b);     a PTXI_ROUNDED function
 *     ptxi_rounding_end(i->mods);
 *
 * The arithmetic stands in a function of its own that is not inlined, since compilers move arithmetic across the change; but where it is between
 * loads from registers and stores to them, which they do not move. */
#ifndef PTXI_EXEC_ARITH_ROUNDING_H
#define PTXI_EXEC_ARITH_ROUNDING_H

#include "isa/bytecode.h"

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <fenv.h>
#endif

#if defined(__clang__)
#define PTXI_ROUNDED static __attribute__((noinline))
#else
#define PTXI_ROUNDED static __attribute__((noinline, noipa))
#endif

static inline enum ptxi_rounding ptxi_rounding_of(unsigned mods)
{
    return (enum ptxi_rounding)((mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT);
}

/* Where this is on, the host flushes subnormal operands and results as .ftz does: it, too, sees by the rounded result whether that is too small. */
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#define PTXI_HOST_FLUSHES 1
#endif
#if defined(__SSE2__)
enum { PTXI_FLUSHING = 4 };
#endif

/* mode: enum ptxi_rounding, and PTXI_FLUSHING. */
static inline void ptxi_rounding_set(unsigned mode)
{
#if defined(__SSE2__)
    /* With all flags on: where an operation is the first to set one, hosts have been seen to take ten times as long. */
#define CONTROL(more) _MM_MASK_MASK | _MM_EXCEPT_MASK | (more)
#define CONTROLS(more)                                                                                                          \
    CONTROL(_MM_ROUND_NEAREST | (more)), CONTROL(_MM_ROUND_TOWARD_ZERO | (more)), CONTROL(_MM_ROUND_DOWN | (more)), CONTROL(_MM_ROUND_UP | (more))
    static const unsigned control[8] = { CONTROLS(0), CONTROLS(_MM_FLUSH_ZERO_ON | 0x40 /* operands */) };
#undef CONTROLS
#undef CONTROL

    __asm__ volatile("ldmxcsr %0" : : "m"(control[mode]) : "memory"); /* compilers would store the word first, and wait for that */
#else
    static const int control[4] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

    fesetround(control[mode]);
#endif
}

static inline void ptxi_rounding_begin(unsigned mods)
{
    if (ptxi_rounding_of(mods) != PTXI_RN)
        ptxi_rounding_set(ptxi_rounding_of(mods));
}

static inline void ptxi_rounding_end(unsigned mods)
{
    if (ptxi_rounding_of(mods) != PTXI_RN)
        ptxi_rounding_set(PTXI_RN);
}

#if defined(__AVX512F__)
/* With AVX-512 the rounding may be part of an instruction: statements with each of them, ROUNDING being a constant. */
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

/* 16 lanes in one piece: hosts wait where a load finds its bytes in two stores. */
static inline __m512 ptxi_joined_ps(__m256 low, __m256 high)
{
    return (__m512)_mm512_insertf64x4((__m512d)_mm512_castps256_ps512(low), (__m256d)high, 1);
}
#endif

#endif
