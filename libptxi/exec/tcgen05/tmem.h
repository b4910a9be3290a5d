/* Tensor memory: PTX ISA, "TensorCore 5th Generation Family Instructions: Tensor Memory". Every CTA has all of it; who asks for more than is
 * free waits until warps of the CTA give some back.
 *
 * What is asynchronous waits in a queue of the cluster, and is done as late as a program may expect it: a store when its warp waits for it, the
 * rest when an mbarrier that a commit names is all that is waited for. Loads are done at once, unless chance rules. */
#ifndef PTXI_EXEC_TCGEN05_TMEM_H
#define PTXI_EXEC_TCGEN05_TMEM_H

#include "exec/engine/engine.h"

enum { PTXI_TMEM_LANES = 128, PTXI_TMEM_COLUMNS = 512, PTXI_TMEM_UNIT = 32 /* columns that are allocated together */ };

enum ptxi_tmem_job_kind { PTXI_TMEM_JOB_MEMORY /* mma, cp, shift */, PTXI_TMEM_JOB_COMMIT, PTXI_TMEM_JOB_STORE, PTXI_TMEM_JOB_LOAD };
enum { PTXI_TMEM_VALUES = 17, PTXI_TMEM_STORED = 129 * 32 };

/* What a thread has asked for; a store or a load: a warp of 32, `thread` being its first lane that is there. */
struct ptxi_tmem_job {
    struct ptxi_tmem_job *next;
    struct ptxi_warp *warp;
    const struct ptxi_insn *insn;
    unsigned thread;
    enum ptxi_tmem_job_kind kind;
    void (*perform)(struct ptxi_tmem_job *j); /* but for a commit */
    const void *form;               /* what the instruction's qualifiers say, in the code's pool */
    bool accumulate;                /* mma */
    uint64_t value[PTXI_TMEM_VALUES]; /* of operands */
    uint32_t *stored;               /* PTXI_TMEM_STORED words, 32 of a register; NULL: never needed */
    unsigned char *regs;            /* load: of the frame that asked */
    struct ptxi_cta *owner;         /* of the mbarrier of a commit */
    unsigned char *mbarrier;
};

struct ptxi_tmem {
    _Alignas(64) uint32_t cell[PTXI_TMEM_COLUMNS][PTXI_TMEM_LANES];
    uint32_t allocated;              /* a bit for each unit */
    uint8_t units[PTXI_TMEM_COLUMNS / PTXI_TMEM_UNIT]; /* of the allocation that begins here, 0: none */
    bool relinquished;
    uint32_t pair_count, pair_first; /* .cta_group::2: allocations so far, and where the last one begins */
};

/* Of a CTA; made when there is none. NULL after a fault. */
struct ptxi_tmem *ptxi_tmem_of(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c);
/* The CTAs that an instruction means, the even one first: one or, with .cta_group::2, a pair. 0 after a fault. */
unsigned ptxi_tmem_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, bool pair, struct ptxi_cta **ctas);
/* Whether columns from `first` on are allocated; else a fault. */
bool ptxi_tmem_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem *t, uint32_t first, uint32_t count);
/* What a program did wrong. */
const struct ptxi_insn *ptxi_tmem_misuse(struct ptxi_warp *w, const struct ptxi_insn *i, const char *what);

const struct ptxi_insn *ptxi_tmem_alloc(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_dealloc(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_relinquish(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_commit(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_shift(struct ptxi_warp *w, const struct ptxi_insn *i);

/* tmem_queue.c. A job at the end of the queue, for the caller to fill in; NULL: memory is short, which is a fault. */
struct ptxi_tmem_job *ptxi_tmem_submit(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned thread, enum ptxi_tmem_job_kind kind);
/* Takes that one back. */
void ptxi_tmem_undo(struct ptxi_warp *w);
/* Completes the stores or loads of the active lanes. */
void ptxi_tmem_wait(struct ptxi_warp *w, enum ptxi_tmem_job_kind kind);
/* Completes what commits of the cluster follow, and these. False: there was nothing. */
bool ptxi_tmem_flush(struct ptxi_cta *lead);
bool ptxi_tmem_any(struct ptxi_cta *lead, bool committed); /* one by chance, of those or of all; false: there was none */
void ptxi_tmem_drop(struct ptxi_cta *lead); /* forgets all */

void ptxi_tmem_begin(struct ptxi_cta *c); /* with a CTA */
void ptxi_tmem_free(struct ptxi_cta *c);

/* PTX ISA, "Tensor Memory Addressing" */
static inline uint32_t ptxi_tmem_lane(uint32_t address)
{
    return address >> 16;
}

static inline uint32_t ptxi_tmem_column(uint32_t address)
{
    return address & 0xffff;
}

#endif
