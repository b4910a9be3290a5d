/* Uninitialised values in operations between the lanes of a warp. */
#ifndef PTXI_EXEC_INIT_INIT_COLLECTIVE_H
#define PTXI_EXEC_INIT_INIT_COLLECTIVE_H

#include "exec/engine/warp.h"

/* What lanes give to an operation, and what they get. */
struct ptxi_init_collective {
    ptxi_lanes lanes, undefined;   /* those that take part, and those that give an undefined value */
    ptxi_lanes yes;                /* vote: true predicates */
    uint32_t members[PTXI_LANES];  /* the mask of each lane */
    uint8_t from[PTXI_LANES];      /* shfl: the source of each lane */
    uint32_t shadow[PTXI_LANES];   /* undefined bits that a lane gives, then those that it gets */
    ptxi_lanes result;             /* lanes that get undefined bits */
};

/* Whether the tracking knows what the operation does. */
bool ptxi_init_is_collective(unsigned op);
/* Whether it is a shuffle in which lanes may read others that do not take part. */
bool ptxi_init_is_shfl_of_some(unsigned op, ptxi_lanes active);
void ptxi_init_collect(unsigned op, struct ptxi_init_collective *x);
/* The init_collect before an operation. NULL: there is none. */
const struct ptxi_insn *ptxi_init_find_collect(const struct ptxi_code *code, const struct ptxi_insn *i);

#endif
