/* Directed rounding. The engine runs with the host set to nearest, exceptions masked and subnormals kept; a handler that
 * rounds otherwise changes that around a call:
 *
 *     ptxi_rounding_begin(i->mods);
 *     lanes_of_something(r, a, b);     a PTXI_ROUNDED function
 *     ptxi_rounding_end(i->mods);
 *
 * The arithmetic stands in a function of its own that is not inlined, since compilers move arithmetic across the change; but where it is between
 * loads from registers and stores to them, which they do not move. */
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

#endif
