/* When memory that has left the memory map may be unmapped.
 *
 * Threads that access memory on behalf of kernels check an address against the memory map and then use it. They do both
 * between ptxi_grace_enter() and ptxi_grace_leave(), without ptxi_grace_pass() in between. After ptxi_memmap_remove(),
 * ptxi_grace_wait() returns once no thread uses an address any more that it checked before the removal (a grace period,
 * as in read-copy-update).
 *
 * A thread must not wait for other threads, except for short locks, while it is inside: it leaves before it calls
 * functions of the program. The caller of ptxi_grace_wait() must not be inside, and holds no lock that a thread inside
 * may take. */
#ifndef PTXI_EXEC_MEMMAP_RCU_H
#define PTXI_EXEC_MEMMAP_RCU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_grace {
    _Alignas(64) _Atomic uint64_t count; /* odd: its thread is inside */
    _Atomic bool taken;
    struct ptxi_grace *next;
};

/* One for each thread that may be inside; NULL: memory is short. */
struct ptxi_grace *ptxi_grace_take(void);
void ptxi_grace_give_back(struct ptxi_grace *g);

void ptxi_grace_wait(void);

/* With read-modify-write operations either ptxi_grace_wait() sees that the thread is inside, or the thread sees the
 * removal. */
static inline void ptxi_grace_enter(struct ptxi_grace *g)
{
    atomic_fetch_add(&g->count, 1);
}

/* Only its thread changes the count, so that a store is enough. */
static inline void ptxi_grace_leave(struct ptxi_grace *g)
{
    uint64_t count = atomic_load_explicit(&g->count, memory_order_relaxed);

    atomic_store_explicit(&g->count, count + 1, memory_order_release);
}

/* It leaves and enters: no address that was checked before may be used. */
static inline void ptxi_grace_pass(struct ptxi_grace *g)
{
    atomic_fetch_add(&g->count, 2);
}

#endif
