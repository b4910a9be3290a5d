/* Tensor memory and its allocation. PTX ISA, "TensorCore 5th Generation Family Instructions: Tensor Memory". Each
 * CTA has its own. A thread that allocates more than is free waits until another warp of the CTA deallocates. */
#ifndef PTXI_EXEC_TCGEN05_TMEM_H
#define PTXI_EXEC_TCGEN05_TMEM_H

#include "exec/check/shadow.h"
#include "exec/engine/engine.h"
#include "exec/finding/finding.h"

enum {
    PTXI_TMEM_LANES = 128,
    PTXI_TMEM_QUARTERS = 4, /* of the lanes */
    PTXI_TMEM_SHARED_COLUMNS = 512, /* columns of allocations without .exclusive; all columns before sm_107 */
    PTXI_TMEM_COLUMNS = 576,
    PTXI_TMEM_UNIT = 32, /* columns of an allocation unit */
    PTXI_TMEM_SHARED_UNITS = PTXI_TMEM_SHARED_COLUMNS / PTXI_TMEM_UNIT,
    PTXI_TMEM_UNITS = PTXI_TMEM_COLUMNS / PTXI_TMEM_UNIT
};

/* Of a column in a quarter of the lanes: the latest accesses. Those that are replaced are missed races. */
struct ptxi_tmem_record {
    struct ptxi_record write, read, async_read;
};

struct ptxi_tmem {
    _Alignas(64) uint32_t cell[PTXI_TMEM_COLUMNS][PTXI_TMEM_LANES];
    struct ptxi_tmem_record *records; /* by column and quarter (tmem_check.h), or NULL */
    uint32_t allocated;              /* one bit for each unit */
    uint8_t units[PTXI_TMEM_UNITS];  /* size of the allocation that begins at this unit; 0: none does */
    bool exclusive;                  /* the allocation is exclusive, and the only one */
    bool relinquished;               /* tcgen05.relinquish_alloc_permit */
    uint32_t pair_count;             /* .cta_group::2: number of allocations by this CTA */
    uint32_t pair_first;             /* .cta_group::2: first column of the last allocation */
    struct ptxi_finding_site allocated_by; /* the last allocation, if launches are checked */
};

/* The tensor memory of a CTA, created if there is none. NULL: a fault. */
struct ptxi_tmem *ptxi_tmem_get(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c);
/* Reports tensor memory that a CTA of a checked launch has not deallocated at its end. */
void ptxi_tmem_report_leak(const struct ptxi_cta *c);
/* Deallocates everything, before the CTA context runs another CTA. */
void ptxi_tmem_reset(struct ptxi_cta *c);
/* The CTAs on which an instruction works, the even one first: one, or a pair with .cta_group::2. Returns their
 * number; 0: a fault. */
unsigned ptxi_tmem_find_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, bool pair, struct ptxi_cta **ctas);
/* Checks that columns are allocated. False: a fault. */
bool ptxi_tmem_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem *t, uint32_t first,
                     uint32_t count);
/* Reports invalid use of an instruction. */
const struct ptxi_insn *ptxi_tmem_misuse(struct ptxi_warp *w, const struct ptxi_insn *i, const char *detail);

/* The allocation instructions. Each returns what the handler must return. */
const struct ptxi_insn *ptxi_tmem_alloc(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_dealloc(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tmem_relinquish(struct ptxi_warp *w, const struct ptxi_insn *i);

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
