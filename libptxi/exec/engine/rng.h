/* Chance for schedules that the program cannot foresee (ptxiCtxSetSchedule). Each cluster has dice of its own, thrown from the seed, the
 * launch's number and the cluster's, so what happens inside of it does not depend on the workers. */
#ifndef PTXI_EXEC_ENGINE_RNG_H
#define PTXI_EXEC_ENGINE_RNG_H

#include <stdbool.h>
#include <stdint.h>

/* SplitMix64: a step, and a mixture of what it steps from. */
static inline uint64_t ptxi_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0 .. n - 1; for n > 0 */
static inline uint32_t ptxi_chance(uint64_t *dice, uint32_t n)
{
    return (uint32_t)((ptxi_mixed(*dice += UINT64_C(0x9e3779b97f4a7c15)) >> 32) * n >> 32);
}

static inline bool ptxi_one_in(uint64_t *dice, uint32_t n)
{
    return !ptxi_chance(dice, n);
}

/* CTAs of a launch in another order: a bijection of 0 .. total - 1. */
static inline uint64_t ptxi_shuffled(uint64_t seed, uint64_t n, uint64_t total)
{
    uint64_t step = (ptxi_mixed(seed) >> 32) % total, a, b;

    for (;; step++) { /* one that shares no divisor with the total */
        for (a = total, b = step % total; b;) {
            uint64_t rest = a % b;

            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return (n * (step % total) + (ptxi_mixed(seed + 1) >> 32)) % total;
}

#endif
