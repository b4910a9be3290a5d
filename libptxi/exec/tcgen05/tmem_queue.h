/* The queue of a cluster's asynchronous operations on tensor memory. PTX ISA, "TensorCore 5th Generation Family
 * Instructions: Memory Consistency Model".
 * A thread's mma, cp, shift and commit take effect in program order, those of different threads in any order. A
 * warp's st takes effect before its wait::st ends, and its ld before its wait::ld ends. As in exec/async, each
 * operation is performed as late as allowed: a store when its warp waits for it; mma, cp, shift and commit when a
 * thread waits at the mbarrier of a commit and nothing else in the cluster can make progress. Those that no commit
 * follows are never performed. Loads are performed at once, except with a random schedule. */
#ifndef PTXI_EXEC_TCGEN05_TMEM_QUEUE_H
#define PTXI_EXEC_TCGEN05_TMEM_QUEUE_H

#include "exec/tcgen05/tmem.h"

enum ptxi_tmem_job_kind {
    PTXI_TMEM_JOB_MEMORY, /* mma, cp, shift */
    PTXI_TMEM_JOB_COMMIT,
    PTXI_TMEM_JOB_STORE,
    PTXI_TMEM_JOB_LOAD
};
enum { PTXI_TMEM_VALUES = 17, PTXI_TMEM_STORED = 129 * 32 };

/* An operation of one thread, or a load or store of a warp of 32. */
struct ptxi_tmem_job {
    struct ptxi_tmem_job *next;
    struct ptxi_warp *warp;
    const struct ptxi_insn *insn;
    unsigned lane;                    /* of the thread; load, store: the first active lane of the warp of 32 */
    enum ptxi_tmem_job_kind kind;
    void (*perform)(struct ptxi_tmem_job *j); /* except of a commit */
    const void *form;                 /* the qualifiers of the instruction, in the code's pool */
    bool accumulate;                  /* mma: enable-input-d */
    uint64_t value[PTXI_TMEM_VALUES]; /* of operands */
    uint32_t *stored;                 /* load, store: registers, 32 words each; allocated when first needed */
    unsigned char *regs;              /* load: registers of the frame */
    struct ptxi_cta *owner;           /* commit: CTA of the mbarrier */
    unsigned char *mbarrier;          /* commit */
};

/* Appends a job, which the caller then fills in. NULL: out of memory, a fault. */
struct ptxi_tmem_job *ptxi_tmem_submit(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                       enum ptxi_tmem_job_kind kind);
/* Removes the job that was appended last. */
void ptxi_tmem_cancel_last(struct ptxi_warp *w);
/* Completes the stores or loads of the active lanes. */
void ptxi_tmem_wait(struct ptxi_warp *w, enum ptxi_tmem_job_kind kind);
/* Removes all jobs without performing them. */
void ptxi_tmem_drop(struct ptxi_cta *lead);
/* Frees the jobs and the tensor memory of a CTA context. */
void ptxi_tmem_free(struct ptxi_cta *c);

#endif
