/* Read-copy-update: when memory that has been removed from the memory map may be unmapped.
 *
 * A thread that accesses memory for kernels checks an address against the memory map and then uses it. Both happen in
 * one read-side critical section: between ptxi_rcu_read_lock() and ptxi_rcu_read_unlock(), without
 * ptxi_rcu_quiescent_state() in between. After ptxi_memmap_remove(), ptxi_rcu_synchronize() waits for a grace period:
 * when it returns, no thread uses an address that it has checked before the removal.
 *
 * ptxi_rcu_stop() waits for a grace period and keeps all threads out of critical sections until ptxi_rcu_resume(), so
 * that the caller can replace the pages of memory that kernels use.
 *
 * In a critical section, a thread must not wait for other threads, except for short locks. It leaves the section while
 * it calls functions of the program. The callers of ptxi_rcu_synchronize() and ptxi_rcu_stop() must not be in a
 * critical section, and must not hold a lock that a thread in a critical section may take. A thread that begins a
 * critical section must not hold a lock that is taken between ptxi_rcu_stop() and ptxi_rcu_resume(). */
#ifndef PTXI_EXEC_MEMMAP_RCU_H
#define PTXI_EXEC_MEMMAP_RCU_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_rcu_reader {
    _Alignas(128) _Atomic uint64_t count; /* odd in a critical section; CPUs fetch lines in pairs */
    _Atomic bool taken;                  /* registered for a thread */
    struct ptxi_rcu_reader *next;
};

/* A reader for one thread at a time. NULL: memory is short. */
struct ptxi_rcu_reader *ptxi_rcu_register(void);
/* NULL is ignored. */
void ptxi_rcu_unregister(struct ptxi_rcu_reader *reader);

/* Waits for a grace period. */
void ptxi_rcu_synchronize(void);

/* One caller at a time: others wait in ptxi_rcu_stop(). */
void ptxi_rcu_stop(void);
void ptxi_rcu_resume(void);

extern _Atomic bool ptxi_rcu_stopped;

/* Leaves the critical section until no thread stops the readers. */
void ptxi_rcu_leave_while_stopped(struct ptxi_rcu_reader *reader);

/* After the reader's count has changed. The order of the two accesses is the opposite of that in ptxi_rcu_stop(). */
static inline void ptxi_rcu_check_stopped(struct ptxi_rcu_reader *reader)
{
    if (__builtin_expect(atomic_load(&ptxi_rcu_stopped), false))
        ptxi_rcu_leave_while_stopped(reader);
}

/* Begins a critical section. Both sides use read-modify-write operations, so that either ptxi_rcu_synchronize() sees
 * the section, or the section sees the removal. */
static inline void ptxi_rcu_read_lock(struct ptxi_rcu_reader *reader)
{
    uint64_t before = atomic_fetch_add(&reader->count, 1);

    (void)before;
    assert(!(before & 1));
    ptxi_rcu_check_stopped(reader);
}

/* Ends it. Only the reader's thread changes the count, so a store is sufficient. */
static inline void ptxi_rcu_read_unlock(struct ptxi_rcu_reader *reader)
{
    uint64_t count = atomic_load_explicit(&reader->count, memory_order_relaxed);

    assert(count & 1);
    atomic_store_explicit(&reader->count, count + 1, memory_order_release);
}

/* Ends a critical section and begins another one. */
static inline void ptxi_rcu_quiescent_state(struct ptxi_rcu_reader *reader)
{
    uint64_t before = atomic_fetch_add(&reader->count, 2);

    (void)before;
    assert(before & 1);
    ptxi_rcu_check_stopped(reader);
}

#endif
