/* Tables of the results of the approximate f16 and bf16 instructions for all operands. A table is computed at its
 * first use. */
#include <assert.h>
#include <pthread.h>

#include "num/approx.h"

_Atomic(const uint16_t *) ptxi_num_approx_f16_tables[PTXI_NUM_APPROX_F16_KINDS];

/* The tables have one more element, because the handlers gather 32 bits for each lane. */
#define MAKE(name)                                                                       \
    static void make_##name(void)                                                        \
    {                                                                                    \
        static uint16_t results[0x10000 + 1];                                            \
                                                                                         \
        for (uint32_t a = 0; a < 0x10000; a++)                                           \
            results[a] = ptxi_num_##name((uint16_t)a);                                   \
        atomic_store_explicit(&ptxi_num_approx_f16_tables[PTXI_NUM_APPROX_F16_##name], results, memory_order_release); \
    }
PTXI_NUM_APPROX_F16(MAKE)

#define ONCE(name) { PTHREAD_ONCE_INIT, make_##name },
const uint16_t *ptxi_num_approx_f16_make(enum ptxi_num_approx_f16 kind)
{
    static struct {
        pthread_once_t once;
        void (*make)(void);
    } kinds[] = { PTXI_NUM_APPROX_F16(ONCE) };

    assert(kind < PTXI_NUM_APPROX_F16_KINDS);
    pthread_once(&kinds[kind].once, kinds[kind].make);
    return atomic_load_explicit(&ptxi_num_approx_f16_tables[kind], memory_order_acquire);
}
