#include "exec/memmap/rcu.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { SPINS = 100, YIELDS = 20, SLEEP_NS = 50 * 1000 };

/* Nodes are never taken out of the list, so that it can be walked without a lock; those given back are taken again. */
static _Atomic(struct ptxi_grace *) all;

static struct ptxi_grace *take_free(void)
{
    for (struct ptxi_grace *g = atomic_load(&all); g; g = g->next)
        if (!atomic_load_explicit(&g->taken, memory_order_relaxed) && !atomic_exchange(&g->taken, true))
            return g;
    return NULL;
}

struct ptxi_grace *ptxi_grace_take(void)
{
    struct ptxi_grace *g = take_free();

    if (g || !(g = aligned_alloc(_Alignof(struct ptxi_grace), sizeof *g)))
        return g;
    atomic_init(&g->count, 0);
    atomic_init(&g->taken, true);
    g->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &g->next, g))
        ;
    return g;
}

void ptxi_grace_give_back(struct ptxi_grace *g)
{
    if (!g)
        return;
    assert(!(atomic_load(&g->count) & 1));
    atomic_store(&g->taken, false);
}

static void pause_thread(unsigned round)
{
    if (round >= SPINS + YIELDS)
        nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
    else if (round >= SPINS)
        sched_yield();
}

void ptxi_grace_wait(void)
{
    for (struct ptxi_grace *g = atomic_load(&all); g; g = g->next) {
        uint64_t before = atomic_fetch_add(&g->count, 0);

        for (unsigned round = 0; before & 1 && atomic_load_explicit(&g->count, memory_order_acquire) == before; round++)
            pause_thread(round);
    }
}
