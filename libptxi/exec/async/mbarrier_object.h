/* The mbarrier object: 8 bytes of shared memory that hold its complete state. PTX ISA, "Contents of the mbarrier
 * object". */
#ifndef PTXI_EXEC_ASYNC_MBARRIER_OBJECT_H
#define PTXI_EXEC_ASYNC_MBARRIER_OBJECT_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "exec/engine/engine.h"

union ptxi_mbarrier {
    uint64_t bits;
    struct {
        uint64_t pending : 20;  /* number of arrivals that the current phase lacks */
        uint64_t expected : 20; /* pending count at the start of the next phase; 0: not initialized */
        int64_t tx : 22;        /* tx-count: bytes expected minus bytes that have arrived */
        uint64_t layout : 1;    /* of mbarrier.init: 1 for .layout::v1 */
        uint64_t phase : 1;     /* parity of the current primary phase */
    };
    struct { /* .layout::v1, whose counts have 9 bits */
        uint64_t : 37;
        uint64_t reported : 1;      /* there was a report in the current phase */
        uint64_t last_reported : 1; /* ... in the last one */
        uint64_t conditional : 1;   /* parity of the current conditional phase */
        uint64_t : 24;
    };
};
_Static_assert(sizeof(union ptxi_mbarrier) == 8, "an mbarrier object has 64 bits");

enum {
    PTXI_MBARRIER_MAX_COUNT = (1 << 20) - 1,
    PTXI_MBARRIER_MAX_COUNT_1 = (1 << 9) - 1, /* .layout::v1 */
    PTXI_MBARRIER_MAX_TX = (1 << 20) - 1
};

static inline uint32_t ptxi_mbarrier_max_count(union ptxi_mbarrier m)
{
    return m.layout ? PTXI_MBARRIER_MAX_COUNT_1 : PTXI_MBARRIER_MAX_COUNT;
}

/* The pending count at the start of the next phase. */
static inline uint32_t ptxi_mbarrier_expected(union ptxi_mbarrier m)
{
    return m.expected & ptxi_mbarrier_max_count(m);
}

static inline union ptxi_mbarrier ptxi_mbarrier_load(const unsigned char *at)
{
    union ptxi_mbarrier m;

    memcpy(&m, at, sizeof m);
    return m;
}

static inline bool ptxi_mbarrier_is_complete(union ptxi_mbarrier m)
{
    return !m.pending && !m.tx;
}

/* The parity of the current conditional phase. */
static inline unsigned ptxi_mbarrier_conditional(union ptxi_mbarrier m)
{
    return m.layout ? m.conditional : m.phase;
}

/* Wakes threads that wait at an mbarrier of this CTA. `reported`: there was a report in the phase that is complete. */
void ptxi_mbarrier_wake_waiters(struct ptxi_cta *owner, const unsigned char *at, bool reported);
/* Begins the next phase of an object of .layout::v1. PTX ISA, "Phase Completion of the mbarrier object". */
static inline void ptxi_mbarrier_end_reports(union ptxi_mbarrier *m)
{
    m->conditional ^= !m->reported;
    m->last_reported = m->reported;
    m->reported = 0;
}

/* Stores the object. If its phase is complete, the next phase begins and waiting threads wake up. */
static inline void ptxi_mbarrier_store(struct ptxi_cta *owner, unsigned char *at, union ptxi_mbarrier m)
{
    bool complete = ptxi_mbarrier_is_complete(m);

    assert((size_t)(at - owner->shared) + sizeof m <= owner->shared_bytes);
    if (complete) {
        if (m.layout)
            ptxi_mbarrier_end_reports(&m);
        m.phase ^= 1;
        m.pending = ptxi_mbarrier_expected(m);
    }
    memcpy(at, &m, sizeof m);
    if (complete)
        ptxi_mbarrier_wake_waiters(owner, at, m.layout && m.last_reported);
}

/* Loads the object, in its next phase if an expect-tx has completed the current one. On an H200 that phase ends only
 * with the next operation that is not another expect-tx. So an expect-tx still belongs to the old phase, and an
 * arrival that expects bytes is one too many. */
static inline union ptxi_mbarrier ptxi_mbarrier_load_current(struct ptxi_cta *owner, unsigned char *at)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load(at);

    if (ptxi_mbarrier_expected(m) && ptxi_mbarrier_is_complete(m)) {
        ptxi_mbarrier_store(owner, at, m);
        m = ptxi_mbarrier_load(at);
    }
    return m;
}

/* Adds to the tx-count. False: the count leaves its range. */
static inline bool ptxi_mbarrier_add_tx(union ptxi_mbarrier *m, int64_t tx)
{
    tx += m->tx;
    m->tx = tx;
    return tx >= -PTXI_MBARRIER_MAX_TX && tx <= PTXI_MBARRIER_MAX_TX;
}

/* An arrive-on by an asynchronous operation, with a count of 1. */
void ptxi_mbarrier_arrive_async(struct ptxi_cta *owner, unsigned char *at);
/* A report-on by an asynchronous operation, for the current phase of an object of .layout::v1. */
void ptxi_mbarrier_report_on(unsigned char *at);
/* A complete-tx by an asynchronous operation. */
void ptxi_mbarrier_complete_tx(struct ptxi_cta *owner, unsigned char *at, uint32_t bytes);

/* Writes the address and the counts of an mbarrier at `offset` of shared memory, for error messages. */
void ptxi_mbarrier_describe(const unsigned char *at, unsigned offset, char *text, size_t size);

#endif
