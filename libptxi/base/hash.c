#include "base/hash.h"

#include <sys/random.h>
#include <time.h>

uint64_t ptxi_hash_seed;

/* Early in boot or in a strict sandbox, getrandom may fail. The clock and a stack address are the fallback. */
__attribute__((constructor)) static void seed_hash(void)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        seed = ptxi_hash_mix((uint64_t)t.tv_nsec ^ (uintptr_t)&t, (uint64_t)t.tv_sec | 1);
    }
    ptxi_hash_seed = seed;
}
