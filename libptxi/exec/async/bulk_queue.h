/* The queue of a cluster's bulk operations: cp.async.bulk, cp.reduce.async.bulk, their tensor forms, st.async,
 * red.async and clusterlaunchcontrol.try_cancel. Each thread's operation is a job. A job belongs to a bulk
 * async-group of its thread, or an mbarrier tracks it (async.h). Jobs have no order among each other. */
#ifndef PTXI_EXEC_ASYNC_BULK_QUEUE_H
#define PTXI_EXEC_ASYNC_BULK_QUEUE_H

#include "exec/async/warp_async.h"

struct ptxi_bulk_job {
    struct ptxi_bulk_job *next;
    struct ptxi_warp *warp;
    unsigned lane;
    const struct ptxi_insn *insn;
    const struct ptxi_code *code;
    uint64_t generation;          /* of the memory map when the addresses were checked */
    unsigned char *to;            /* NULL: a box is stored to a tensor */
    const unsigned char *from;    /* NULL: the source is `value`, or a box is loaded from a tensor */
    uint32_t size;                /* bytes */
    uint16_t byte_mask;           /* bit k: byte k of each 16 bytes is copied */
    uint16_t reduce;              /* PTXI_OP_atom_... applied to each element; 0: a copy */
    uint8_t report;               /* enum ptxi_copy_report */
    struct ptxi_cta *owner;       /* the CTA of the mbarrier that tracks the job; NULL: a bulk async-group does */
    unsigned char *mbarrier;
    uint32_t group;               /* number of the bulk async-group */
    unsigned char value[16];
    unsigned char *copied_source; /* what the source held when it was read early, from malloc; else NULL */
    bool tensor;                  /* `to` or `from` is a box in shared memory, the other side is the tensor of `map` */
    uint32_t box_offset;          /* tensor: of the box in the CTA's shared memory */
    struct ptxi_tensor_map map;   /* tensor; this and the next member are not initialized in other jobs */
    int32_t coords[PTXI_TENSOR_COORDS];
};

/* Initializes a job of one lane, except `map` and `coords`. The members are assigned one by one because compilers
 * translate a memset() of this size to a string instruction, which takes as long as copying 512 bytes. */
static inline void ptxi_bulk_job_init(struct ptxi_bulk_job *j, struct ptxi_warp *w, const struct ptxi_insn *i,
                                      unsigned lane)
{
    j->warp = w;
    j->lane = lane;
    j->insn = i;
    j->code = w->frame->code;
    j->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    j->to = NULL;
    j->from = NULL;
    j->size = 0;
    j->byte_mask = 0xffff;
    j->reduce = i->mods >> PTXI_BULK_REDUCE;
    j->report = PTXI_REPORT_NONE;
    j->owner = NULL;
    j->mbarrier = NULL;
    j->group = 0;
    j->copied_source = NULL;
    j->tensor = false;
    j->box_offset = 0;
}

/* Appends a copy of a job to the queue. False: out of memory, a fault. */
bool ptxi_bulk_submit(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *job);

/* Ends the current bulk async-group of the active lanes. */
void ptxi_bulk_commit(struct ptxi_warp *w);
/* Completes all but the last n groups of each active lane. If `read_only` and the schedule is random, their sources
 * are only read. */
void ptxi_bulk_wait(struct ptxi_warp *w, uint32_t n, bool read_only);

/* Completes the jobs that mbarriers track. False: there were none. */
bool ptxi_bulk_complete_tracked(struct ptxi_cta *lead);
/* Completes one random job, of those that mbarriers track or of all. False: there was none. */
bool ptxi_bulk_complete_random(struct ptxi_cta *lead, bool tracked);
void ptxi_bulk_complete_all(struct ptxi_cta *lead);
/* Removes all jobs without performing them. */
void ptxi_bulk_drop(struct ptxi_cta *lead);
void ptxi_bulk_free(struct ptxi_cta *lead);

#endif
