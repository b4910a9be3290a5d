#include "exec/memmap/rcu.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { SPINS = 100, YIELDS = 20, SLEEP_NS = 50 * 1000 };

/* Readers are never removed from the list, so that it can be read without a lock. Those that are not registered are
 * used again. */
static _Atomic(struct ptxi_rcu_reader *) readers;

_Atomic bool ptxi_rcu_stopped;
static pthread_mutex_t stop_lock = PTHREAD_MUTEX_INITIALIZER;

static struct ptxi_rcu_reader *take_free_reader(void)
{
    for (struct ptxi_rcu_reader *r = atomic_load(&readers); r; r = r->next)
        if (!atomic_load_explicit(&r->taken, memory_order_relaxed) && !atomic_exchange(&r->taken, true))
            return r;
    return NULL;
}

struct ptxi_rcu_reader *ptxi_rcu_register(void)
{
    struct ptxi_rcu_reader *r = take_free_reader();

    if (r || !(r = aligned_alloc(_Alignof(struct ptxi_rcu_reader), sizeof *r)))
        return r;
    atomic_init(&r->count, 0);
    atomic_init(&r->taken, true);
    r->next = atomic_load(&readers);
    while (!atomic_compare_exchange_weak(&readers, &r->next, r))
        ;
    return r;
}

void ptxi_rcu_unregister(struct ptxi_rcu_reader *r)
{
    if (!r)
        return;
    assert(atomic_load(&r->taken) && !(atomic_load(&r->count) & 1));
    atomic_store(&r->taken, false);
}

static void pause_thread(unsigned round)
{
    if (round >= SPINS + YIELDS)
        nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
    else if (round >= SPINS)
        sched_yield();
}

void ptxi_rcu_synchronize(void)
{
    for (struct ptxi_rcu_reader *r = atomic_load(&readers); r; r = r->next) {
        uint64_t before = atomic_fetch_add(&r->count, 0);

        for (unsigned round = 0; before & 1 && atomic_load_explicit(&r->count, memory_order_acquire) == before; round++)
            pause_thread(round);
    }
}

void ptxi_rcu_stop(void)
{
    pthread_mutex_lock(&stop_lock);
    atomic_store(&ptxi_rcu_stopped, true);
    ptxi_rcu_synchronize();
}

void ptxi_rcu_resume(void)
{
    atomic_store(&ptxi_rcu_stopped, false);
    pthread_mutex_unlock(&stop_lock);
}

void ptxi_rcu_leave_while_stopped(struct ptxi_rcu_reader *r)
{
    do {
        ptxi_rcu_read_unlock(r);
        for (unsigned round = 0; atomic_load(&ptxi_rcu_stopped); round++)
            pause_thread(round);
        atomic_fetch_add(&r->count, 1);
    } while (atomic_load(&ptxi_rcu_stopped));
}
