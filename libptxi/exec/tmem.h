/* Tensor memory: PTX ISA, "TensorCore 5th Generation Family Instructions: Tensor Memory". Every CTA has all of it; who asks for more than is
 * free waits until warps of the CTA give some back.
 *
 * What is asynchronous is done when it is asked for: that is one of the orders in which it may happen. */
#ifndef PTXI_EXEC_TMEM_H
#define PTXI_EXEC_TMEM_H

#include "exec/engine.h"

enum { PTXI_TMEM_LANES = 128, PTXI_TMEM_COLUMNS = 512, PTXI_TMEM_UNIT = 32 /* columns that are allocated together */ };

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
