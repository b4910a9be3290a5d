/* What threads have asked for and what is not done yet: asynchronous copies, and the mbarriers that wait for them. PTX ISA, "Data
 * Movement and Conversion Instructions: Asynchronous copy", "Parallel Synchronization and Communication Instructions: mbarrier".
 *
 * Copies are done as late as a program may expect them: those of cp.async when their thread waits for their group, and those that
 * an mbarrier tracks when nothing else in the cluster can go on. So a program that reads too early, or overwrites the source, sees it. */
#ifndef PTXI_EXEC_ASYNC_ASYNC_H
#define PTXI_EXEC_ASYNC_ASYNC_H

#include "exec/engine/engine.h"

/* One cp.async, or one arrive-on that follows those before it, of some lanes of a warp. */
struct ptxi_async_entry {
    ptxi_lanes lanes;            /* that still have to */
    uint32_t group;              /* number of the async-group, of those of its lanes */
    uint8_t size;                /* bytes that are written: 4, 8, 16; 0: an arrive-on */
    bool in_row;                 /* all lanes, each one's bytes behind the last one's on both sides */
    bool partial;                /* not all bytes come from the source */
    uint32_t row_to;             /* in_row: where lane 0 writes and reads */
    uint64_t row_from;
    const struct ptxi_insn *insn;
    const struct ptxi_code *code;
    uint64_t generation;         /* of the memory map, when the source was checked */
    uint64_t from[PTXI_LANES];   /* not in_row, as the next two */
    uint32_t to[PTXI_LANES];     /* offsets in shared memory; of the mbarrier */
    uint8_t bytes[PTXI_LANES];   /* partial: how many come from the source; zeros follow */
};

/* A warp's; a ring, oldest first. */
struct ptxi_async {
    uint32_t first, count, size;
    uint32_t arrivals;           /* entries that are arrive-ons */
    uint32_t group;              /* commits so far, of all lanes ... */
    bool mixed;                  /* ... unless they differ: then of each */
    uint32_t groups[PTXI_LANES];
    struct ptxi_async_entry *ring;
    uint32_t bulk_groups[PTXI_LANES]; /* commits of bulk async-groups so far */
    int32_t corner[8][PTXI_LANES];    /* coordinates for the next tensor_copy, and offsets of im2col */
};

/* The warp's, made when there is none; NULL: memory is short. */
struct ptxi_async *ptxi_async_of(struct ptxi_warp *w);

/* cp.async of the active lanes, all in one group: room for it, at the end. NULL: memory is short, and nothing is queued any more. */
struct ptxi_async_entry *ptxi_async_push(struct ptxi_warp *w, const struct ptxi_insn *i);
/* The same where there is room. */
static inline __attribute__((always_inline)) struct ptxi_async_entry *ptxi_async_next(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_async *q = w->async;
    struct ptxi_async_entry *e = &q->ring[(q->first + q->count++) & (q->size - 1)];

    e->lanes = w->active;
    e->group = q->mixed ? q->groups[ptxi_first_lane(w->active)] : q->group;
    e->insn = i;
    e->code = w->frame->code;
    e->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    return e;
}
/* Does what an entry says, for some of its lanes. */
void ptxi_async_do(struct ptxi_warp *w, struct ptxi_async_entry *e, ptxi_lanes lanes);
void ptxi_async_commit_lanes(struct ptxi_warp *w);
static inline void ptxi_async_commit(struct ptxi_warp *w)
{
    struct ptxi_async *q = w->async;

    if (!q || !q->count) /* an empty group is complete, and nobody can tell how many there are */
        return;
    if (w->active == w->live && !q->mixed)
        q->group++;
    else
        ptxi_async_commit_lanes(w);
}
/* Whether more than n groups have been committed since this one. */
static inline bool ptxi_async_is_past(uint32_t commits, uint32_t group, uint32_t n)
{
    return commits - group > n && commits - group <= INT32_MAX;
}
/* Completes all but the last n groups that the active lanes have committed. */
void ptxi_async_wait(struct ptxi_warp *w, uint32_t n);
/* Completes everything. */
void ptxi_async_finish(struct ptxi_warp *w);
/* Forgets everything. */
void ptxi_async_drop(struct ptxi_warp *w);
void ptxi_async_free(struct ptxi_warp *w);
/* Completes what mbarriers of the cluster track. False: there was nothing. */
bool ptxi_async_flush(struct ptxi_cta *lead);
/* Where chance rules: completes one thing or another, be it early. */
void ptxi_async_any(struct ptxi_cta *lead);

/* mbarrier.c */
const struct ptxi_insn *ptxi_mbarrier_init(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_inval(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_tx(struct ptxi_warp *w, const struct ptxi_insn *i, bool complete);
const struct ptxi_insn *ptxi_mbarrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_test(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_pending(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_track(struct ptxi_warp *w, const struct ptxi_insn *i); /* cp.async.mbarrier.arrive */
/* Names the mbarrier at an offset of shared memory, and what it still lacks; PTX ISA, "Contents of the mbarrier object". */
void ptxi_mbarrier_tell(const unsigned char *at, unsigned offset, char *text, size_t size);
/* An asynchronous arrive-on at a CTA's mbarrier. */
void ptxi_mbarrier_arrives(struct ptxi_cta *owner, unsigned char *at);
void ptxi_mbarrier_completes(struct ptxi_cta *owner, unsigned char *at, uint32_t bytes);
/* So that threads which wait at mbarriers do something else meanwhile, their waits end in vain, unless all that they do is to wait
 * again. False: there are no others. */
bool ptxi_mbarrier_expire(struct ptxi_cta *lead);

/* bulk.c. Jobs are kept for the cluster, in the order in which they came. */
const struct ptxi_insn *ptxi_bulk_copy(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_async_store(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tensor_coords(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tensor_copy(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_bulk_zero(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_cluster_cancel(struct ptxi_warp *w, const struct ptxi_insn *i);
void ptxi_bulk_commit(struct ptxi_warp *w);
/* Completes all but the last n groups of each active lane, or, with `read` where chance rules, only takes what their sources hold. */
void ptxi_bulk_wait(struct ptxi_warp *w, uint32_t n, bool read);
bool ptxi_bulk_flush(struct ptxi_cta *lead);  /* those that mbarriers track; false: there were none */
bool ptxi_bulk_any(struct ptxi_cta *lead, bool tracked); /* one by chance, of those or of all; false: there was none */
void ptxi_bulk_finish(struct ptxi_cta *lead); /* all */
void ptxi_bulk_drop(struct ptxi_cta *lead);   /* forgets all */
void ptxi_bulk_free(struct ptxi_cta *lead);

/* tensormap.c */
const struct ptxi_insn *ptxi_tensormap_replace(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tensormap_copy(struct ptxi_warp *w, const struct ptxi_insn *i);

#endif
