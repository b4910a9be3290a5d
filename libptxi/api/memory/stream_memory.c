#include "api/memory/stream_memory.h"

#include "api/memory/heap.h"
#include "api/memory/strided_copy.h"

#include "exec/memmap/rcu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 1000, SLEEP_NS = 20 * 1000 };

struct operations {
    ptxiContext ctx;
    uint64_t interrupts_before;
    unsigned count;
    ptxiStreamBatchMemOpParams at[];
};

static bool is_wide(const ptxiStreamBatchMemOpParams *p)
{
    return p->operation == PTXI_STREAM_MEM_OP_WAIT_VALUE_64 || p->operation == PTXI_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool is_wait(const ptxiStreamBatchMemOpParams *p)
{
    return p->operation == PTXI_STREAM_MEM_OP_WAIT_VALUE_32 || p->operation == PTXI_STREAM_MEM_OP_WAIT_VALUE_64;
}

/* ---- execution */

static bool is_satisfied(const ptxiStreamBatchMemOpParams *p)
{
    uint64_t v = p->value64, x, sign = (uint64_t)1 << 63, all = UINT64_MAX;

    if (is_wide(p)) {
        x = atomic_load((_Atomic uint64_t *)(uintptr_t)p->address);
    } else {
        x = atomic_load((_Atomic uint32_t *)(uintptr_t)p->address);
        sign >>= 32;
        all >>= 32;
    }
    switch (p->flags) {
    case PTXI_STREAM_WAIT_VALUE_GEQ: return !((x - v) & sign);
    case PTXI_STREAM_WAIT_VALUE_EQ: return !((x ^ v) & all);
    case PTXI_STREAM_WAIT_VALUE_AND: return x & v & all;
    default: return ~(x | v) & all;
    }
}

static void write_value(const ptxiStreamBatchMemOpParams *p)
{
    if (is_wide(p))
        atomic_store((_Atomic uint64_t *)(uintptr_t)p->address, p->value64);
    else
        atomic_store((_Atomic uint32_t *)(uintptr_t)p->address, (uint32_t)p->value64);
}

static bool may_access(const ptxiStreamBatchMemOpParams *p)
{
    struct ptxi_mem_region region;

    return ptxi_memmap_covers(ptxi_state.memmap, p->address, is_wide(p) ? 8 : 4, &region) &&
           ptxi_rows_may_access(&region, !is_wait(p));
}

/* Tests or writes the word, if its memory still exists. *done: the wait is over, or the word is written. */
static ptxiResult access_word(const ptxiStreamBatchMemOpParams *p, struct ptxi_rcu_reader *g, bool *done)
{
    ptxiResult r = PTXI_ERROR_ILLEGAL_ADDRESS;

    ptxi_rcu_read_lock(g);
    if (may_access(p)) {
        *done = !is_wait(p) || is_satisfied(p);
        if (!is_wait(p))
            write_value(p);
        r = PTXI_SUCCESS;
    }
    ptxi_rcu_read_unlock(g);
    return r;
}

static ptxiResult run_operation(const struct operations *o, const ptxiStreamBatchMemOpParams *p,
                                struct ptxi_rcu_reader *g)
{
    bool done = false;

    for (unsigned n = 0;; n++) {
        ptxiResult r = access_word(p, g, &done);

        if (r || done)
            return r;
        if (atomic_load(&o->ctx->interrupts) != o->interrupts_before)
            return PTXI_ERROR_LAUNCH_TIMEOUT;
        if (!atomic_load(&o->ctx->gate.open))
            return PTXI_ERROR_CONTEXT_IS_DESTROYED;
        if (n > SPINS)
            nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
    }
}

static ptxiResult run_operations(void *payload, struct ptxi_failure **failure)
{
    const struct operations *o = payload;
    struct ptxi_rcu_reader *g = ptxi_rcu_register();
    ptxiResult r = g ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;

    (void)failure;
    for (unsigned i = 0; i < o->count && !r; i++)
        if (o->at[i].operation != PTXI_STREAM_MEM_OP_BARRIER)
            r = run_operation(o, &o->at[i], g);
    ptxi_queue_learn_all(&o->ctx->streams); /* anything may have written the words */
    ptxi_queue_tell_host();
    ptxi_rcu_unregister(g);
    return r;
}

/* ---- requests */

static ptxiResult check_word(const ptxiStreamBatchMemOpParams *p)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;
    unsigned bytes = is_wide(p) ? 8 : 4;
    unsigned most = is_wait(p) ? PTXI_STREAM_WAIT_VALUE_NOR : PTXI_STREAM_WRITE_VALUE_DEFAULT;

    if (is_wait(p) && p->flags & PTXI_STREAM_WAIT_VALUE_FLUSH &&
        (p->flags & ~(unsigned)PTXI_STREAM_WAIT_VALUE_FLUSH) <= most)
        return PTXI_ERROR_NOT_SUPPORTED;
    if (p->flags > most || p->address % bytes || !ptxi_heap_find(p->address, &b, &region) ||
        !ptxi_rows_may_access(&region, !is_wait(p)))
        return PTXI_ERROR_INVALID_VALUE;
    return bytes <= region.size - (p->address - region.base) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static ptxiResult check_operation(const ptxiStreamBatchMemOpParams *p)
{
    switch ((int)p->operation) {
    case PTXI_STREAM_MEM_OP_WAIT_VALUE_32:
    case PTXI_STREAM_MEM_OP_WAIT_VALUE_64:
    case PTXI_STREAM_MEM_OP_WRITE_VALUE_32:
    case PTXI_STREAM_MEM_OP_WRITE_VALUE_64: return check_word(p);
    case PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return PTXI_ERROR_NOT_SUPPORTED;
    case PTXI_STREAM_MEM_OP_BARRIER: return p->operationFlags <= 1 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

ptxiResult ptxi_stream_memory_check(const ptxiStreamBatchMemOpParams *p, unsigned count)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; i < count && !r; i++)
        r = check_operation(&p[i]);
    return r;
}

ptxiResult ptxi_stream_memory_submit(struct ptxiStream_st *s, const ptxiStreamBatchMemOpParams *p, unsigned count)
{
    struct ptxi_item *it = ptxi_item_create(sizeof(struct operations) + count * sizeof *p, run_operations, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    struct operations *o = ptxi_item_payload(it);

    o->ctx = s->ctx;
    o->interrupts_before = atomic_load(&s->ctx->interrupts);
    o->count = count;
    memcpy(o->at, p, count * sizeof *p);
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}
