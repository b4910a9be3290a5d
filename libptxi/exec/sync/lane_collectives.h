/* shfl and vote for one lane. Used for a converged warp (sync.c) and for lanes that arrive from different places
 * (warp_sync.c). */
#ifndef PTXI_EXEC_SYNC_LANE_COLLECTIVES_H
#define PTXI_EXEC_SYNC_LANE_COLLECTIVES_H

#include "exec/engine/warp.h"

enum ptxi_shfl_mode { PTXI_SHFL_UP, PTXI_SHFL_DOWN, PTXI_SHFL_BFLY, PTXI_SHFL_IDX };
enum ptxi_vote_mode { PTXI_VOTE_ALL, PTXI_VOTE_ANY, PTXI_VOTE_UNI };

/* PTX ISA, "shfl.sync": the lane whose value `lane` gets. *in: whether the source lane is in range. */
static inline uint32_t ptxi_shfl_source(enum ptxi_shfl_mode mode, uint32_t lane, uint32_t b, uint32_t c, uint32_t *in)
{
    uint32_t l = lane & 31, bval = b & 31, cval = c & 31, segment = c >> 8 & 31;
    uint32_t max = (l & segment) | (cval & ~segment), min = l & segment, j;

    switch (mode) {
    case PTXI_SHFL_UP: j = l - bval; *in = (int32_t)j >= (int32_t)max; break;
    case PTXI_SHFL_DOWN: j = l + bval; *in = j <= max; break;
    case PTXI_SHFL_BFLY: j = l ^ bval; *in = j <= max; break;
    default: j = min | (bval & ~segment); *in = j <= max;
    }
    return (lane & ~31u) + (*in ? j : l);
}

/* The result for lanes that vote with each other. `yes`: lanes with a true predicate. */
static inline bool ptxi_vote(enum ptxi_vote_mode mode, ptxi_lanes voters, ptxi_lanes yes)
{
    switch (mode) {
    case PTXI_VOTE_ALL: return (voters & yes) == voters;
    case PTXI_VOTE_ANY: return voters & yes;
    default: return (voters & yes) == voters || !(voters & yes);
    }
}

#endif
