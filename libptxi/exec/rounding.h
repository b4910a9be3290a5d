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
    /* With all flags on: where an operation is the first to set one, hosts have been seen to take ten times as long. */
#define CONTROL(rounding) _MM_MASK_MASK | _MM_EXCEPT_MASK | rounding
    static const unsigned control[4] = { CONTROL(_MM_ROUND_NEAREST), CONTROL(_MM_ROUND_TOWARD_ZERO), CONTROL(_MM_ROUND_DOWN), CONTROL(_MM_ROUND_UP) };
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

#endif
