/* Directed rounding. The engine runs with the host set to nearest, exceptions masked and subnormals kept; a handler that
 * rounds otherwise changes that around a call:
 *
 *     ptxi_rounding_begin(i->mods);
 *     lanes_of_something(r, a, b);     a PTXI_ROUNDED function
 *     ptxi_rounding_end(i->mods);
 *
 * The arithmetic stands in a function of its own that is not inlined, since compilers move arithmetic across the change. */
#ifndef PTXI_EXEC_ROUNDING_H
#define PTXI_EXEC_ROUNDING_H

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

static inline void ptxi_rounding_set(enum ptxi_rounding mode)
{
#if defined(__SSE2__)
    static const unsigned control[4] = { _MM_ROUND_NEAREST, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_DOWN, _MM_ROUND_UP };

    __asm__ volatile("" ::: "memory");
    _mm_setcsr(_MM_MASK_MASK | control[mode]);
    __asm__ volatile("" ::: "memory");
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

#endif
