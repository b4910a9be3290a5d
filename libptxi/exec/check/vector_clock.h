/* Sparse vector clocks: the accesses of other threads that happen before a thread's next one. An entry stands for all
 * accesses of a thread, a warp or a CTA before a time. Clocks do not change; they are shared by references. NULL is the
 * empty clock. If memory is short, a clock becomes one that includes everything, so that no race is reported that is
 * none. */
#ifndef PTXI_EXEC_CHECK_VECTOR_CLOCK_H
#define PTXI_EXEC_CHECK_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct ptxi_vclock;

struct ptxi_vclock_entry {
    uint64_t who; /* ptxi_who() */
    uint32_t clock; /* accesses with lower clocks are known */
};

enum { PTXI_WHO_ALL = 0xff,   /* in place of a warp or a lane */
       PTXI_WHO_BULK = 32,   /* in place of a warp: the first of what tells the end of bulk operations */
       PTXI_WHO_INIT = 64 }; /* in place of warp 0: initialisations of mbarriers, which are released */
/* With the agent: asynchronous copies of its threads, which have ended, and PTXI_WHO_INIT */
#define PTXI_WHO_ASYNC (UINT32_C(1) << 31)

static inline uint64_t ptxi_who(uint32_t agent, unsigned warp, unsigned lane)
{
    return (uint64_t)agent << 16 | warp << 8 | lane;
}

struct ptxi_vclock *ptxi_vclock_ref(struct ptxi_vclock *k);
void ptxi_vclock_unref(struct ptxi_vclock *k);
/* Replaces *k, which loses a reference, by its union with another set, or with entries in ascending order. */
void ptxi_vclock_join(struct ptxi_vclock **k, const struct ptxi_vclock *other);
void ptxi_vclock_add(struct ptxi_vclock **k, const struct ptxi_vclock_entry *entries, uint32_t count);
/* Makes *k a reference to another set. */
void ptxi_vclock_set(struct ptxi_vclock **k, struct ptxi_vclock *other);
/* Whether an access of a thread at this time is in the set. */
bool ptxi_vclock_has(const struct ptxi_vclock *k, uint32_t agent, unsigned warp, unsigned lane, uint32_t clock);
/* Whether it has an entry of the agent. */
bool ptxi_vclock_has_agent(const struct ptxi_vclock *k, uint32_t agent);
/* Whether it may have entries of agents from `least` on other than these. */
bool ptxi_vclock_has_others(const struct ptxi_vclock *k, uint32_t least, uint32_t first_agent, uint32_t count);

/* --- what a thread, a warp or a CTA knows of the accesses of others --- */

/* Whatever synchronises passes on all of it.
 *
 * A fence.sc synchronises with a later one, also of another thread (PTX ISA, "Synchronizes Order"). The order of two is
 * certain if a write that happens after the first one is read by what happens before the second one. So all threads of
 * a CTA may use fences before a barrier, and one of them writes after it. The scopes of such fences are .gpu and
 * wider. */
struct ptxi_knowledge {
    struct ptxi_vclock *known;    /* happens before what follows */
    struct ptxi_vclock *fenced;   /* happens before a fence.sc that happens before what follows: strong writes release
                                   * it to those who use a fence.sc */
    struct ptxi_vclock *observed; /* has been read from such a write: a fence.sc makes it known */
    struct ptxi_vclock *seen;     /* has been read by strong reads that no fence follows: it orders strong accesses */
};

static inline void ptxi_knowledge_join(struct ptxi_knowledge *k, const struct ptxi_knowledge *other)
{
    ptxi_vclock_join(&k->known, other->known);
    ptxi_vclock_join(&k->fenced, other->fenced);
    ptxi_vclock_join(&k->observed, other->observed);
    ptxi_vclock_join(&k->seen, other->seen);
}

static inline void ptxi_knowledge_set(struct ptxi_knowledge *k, const struct ptxi_knowledge *other)
{
    ptxi_vclock_set(&k->known, other->known);
    ptxi_vclock_set(&k->fenced, other->fenced);
    ptxi_vclock_set(&k->observed, other->observed);
    ptxi_vclock_set(&k->seen, other->seen);
}

static inline void ptxi_knowledge_forget(struct ptxi_knowledge *k)
{
    if (k->known || k->fenced || k->observed || k->seen)
        ptxi_knowledge_set(k, &(struct ptxi_knowledge){ 0 });
}

#endif
