/* Random numbers for random schedules (ptxiCtxSetSchedule). Each cluster has a generator of its own. Its state
 * begins with the seed, the launch's number and the cluster's. So what happens inside a cluster does not depend on the
 * workers. */
#ifndef PTXI_EXEC_ENGINE_RNG_H
#define PTXI_EXEC_ENGINE_RNG_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* The output function of SplitMix64. */
static inline uint64_t ptxi_rng_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A random number below n. */
static inline uint32_t ptxi_rng_below(uint64_t *state, uint32_t n)
{
    assert(n);
    return (uint32_t)((ptxi_rng_mix(*state += UINT64_C(0x9e3779b97f4a7c15)) >> 32) * n >> 32);
}

/* True with probability 1 / n. */
static inline bool ptxi_rng_one_in(uint64_t *state, uint32_t n)
{
    return !ptxi_rng_below(state, n);
}

/* Element n of a random permutation of 0 .. total - 1. */
static inline uint64_t ptxi_rng_permute(uint64_t seed, uint64_t n, uint64_t total)
{
    uint64_t step = (ptxi_rng_mix(seed) >> 32) % total, a, b;

    for (;; step++) { /* find a step that has no divisor in common with the total */
        for (a = total, b = step % total; b;) {
            uint64_t rest = a % b;

            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return (n * (step % total) + (ptxi_rng_mix(seed + 1) >> 32)) % total;
}

#endif
