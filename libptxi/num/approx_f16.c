/* Results of the approximate instructions for all operands of 16 bits: made of the models when they are first asked for. */
#include <pthread.h>

#include "num/approx.h"

_Atomic(const uint16_t *) ptxi_num_halves_made[PTXI_NUM_HALVES_KINDS];

/* Vectors are gathered in 32 bits: one more is read than there are. */
#define MAKE(name)                                                                       \
    static void make_##name(void)                                                        \
    {                                                                                    \
        static uint16_t results[0x10000 + 1];                                            \
                                                                                         \
        for (uint32_t a = 0; a < 0x10000; a++)                                           \
            results[a] = ptxi_num_##name((uint16_t)a);                                   \
        atomic_store_explicit(&ptxi_num_halves_made[PTXI_NUM_HALVES_##name], results, memory_order_release); \
    }
PTXI_NUM_HALVES(MAKE)

#define ONCE(name) { PTHREAD_ONCE_INIT, make_##name },
const uint16_t *ptxi_num_make_halves(enum ptxi_num_halves kind)
{
    static struct {
        pthread_once_t once;
        void (*make)(void);
    } kinds[] = { PTXI_NUM_HALVES(ONCE) };

    pthread_once(&kinds[kind].once, kinds[kind].make);
    return atomic_load_explicit(&ptxi_num_halves_made[kind], memory_order_acquire);
}
