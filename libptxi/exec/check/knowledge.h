/* What a thread, a warp or a CTA knows of the accesses of others. Whatever synchronises passes on all of it. */
#ifndef PTXI_EXEC_CHECK_KNOWLEDGE_H
#define PTXI_EXEC_CHECK_KNOWLEDGE_H

#include "exec/check/vector_clock.h"

/* A fence.sc synchronises with a later one, also of another thread (PTX ISA, "Synchronizes Order"). The order of two is
 * certain if a write that happens after the first one is read by what happens before the second one. So all threads of
 * a CTA may use fences before a barrier, and one of them writes after it. The scopes of such fences are .gpu and
 * wider. */
struct ptxi_knowledge {
    struct ptxi_vclock *known;    /* happens before what follows */
    struct ptxi_vclock *fenced;   /* happens before a fence.sc that happens before what follows: strong writes release
                                   * it to those who use a fence.sc */
    struct ptxi_vclock *observed; /* has been read from such a write: a fence.sc makes it known */
};

static inline void ptxi_knowledge_join(struct ptxi_knowledge *k, const struct ptxi_knowledge *other)
{
    ptxi_vclock_join(&k->known, other->known);
    ptxi_vclock_join(&k->fenced, other->fenced);
    ptxi_vclock_join(&k->observed, other->observed);
}

static inline void ptxi_knowledge_set(struct ptxi_knowledge *k, const struct ptxi_knowledge *other)
{
    ptxi_vclock_set(&k->known, other->known);
    ptxi_vclock_set(&k->fenced, other->fenced);
    ptxi_vclock_set(&k->observed, other->observed);
}

static inline void ptxi_knowledge_forget(struct ptxi_knowledge *k)
{
    ptxi_knowledge_set(k, &(struct ptxi_knowledge){ 0 });
}

#endif
