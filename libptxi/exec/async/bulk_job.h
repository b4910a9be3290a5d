/* A bulk operation of a thread (bulk_queue.h). */
#ifndef PTXI_EXEC_ASYNC_BULK_JOB_H
#define PTXI_EXEC_ASYNC_BULK_JOB_H

#include "exec/async/warp_async.h"

struct ptxi_bulk_job {
    struct ptxi_bulk_job *next;
    struct ptxi_warp *warp;
    unsigned lane;
    const struct ptxi_insn *insn;
    const struct ptxi_code *code;
    uint64_t generation;          /* of the memory map when the addresses were checked */
    unsigned char *to;            /* NULL: a box is stored to a tensor */
    const unsigned char *from;    /* NULL: the source is `value`, or a box is loaded from a tensor, or all bytes are
                                   * ignored */
    uint32_t size;                /* bytes */
    uint8_t left, right;          /* bytes to ignore at the ends of the source, which may be inaccessible; in all at
                                   * most `size` */
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
    j->left = j->right = 0;
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

/* Whether bytes of the source are ignored (.ignore_oob). */
static inline bool ptxi_bulk_has_ends(const struct ptxi_bulk_job *j)
{
    return j->left || j->right;
}

/* The number of bytes of the source that are not ignored. */
static inline uint32_t ptxi_bulk_inner(const struct ptxi_bulk_job *j)
{
    return j->size - j->left - j->right;
}

/* The address of the first one. */
static inline uint64_t ptxi_bulk_inner_at(const struct ptxi_bulk_job *j)
{
    return (uintptr_t)j->from + j->left;
}

#endif
