/* The asynchronous state of a warp: its cp.async operations that are not complete, its bulk async-groups, and the
 * coordinates of its next tensor copy. It is allocated when the warp first uses one of them. */
#ifndef PTXI_EXEC_ASYNC_WARP_ASYNC_H
#define PTXI_EXEC_ASYNC_WARP_ASYNC_H

#include "exec/async/tensor_map.h"
#include "exec/engine/engine.h"

/* One cp.async of some lanes of a warp, or one cp.async.mbarrier.arrive, which follows the copies before it. */
struct ptxi_cp_async {
    ptxi_lanes lanes;            /* lanes with a copy or arrival that is not complete */
    uint32_t group;              /* number of the async-group, the same for all these lanes */
    uint8_t size;                /* bytes written per lane: 4, 8, 16; 0: an arrive-on */
    bool contiguous;             /* all lanes copy `size` bytes, at ascending addresses without gaps on both sides */
    bool partial;                /* some lanes read fewer than `size` bytes */
    uint32_t to_first;           /* contiguous: destination of lane 0, an offset in shared memory */
    uint64_t from_first;         /* contiguous: source of lane 0 */
    const struct ptxi_insn *insn;
    const struct ptxi_code *code;
    uint64_t generation;         /* of the memory map when the source was checked */
    uint64_t from[PTXI_LANES];   /* not contiguous: sources */
    uint32_t
        to[PTXI_LANES]; /* not contiguous: destinations, or mbarriers of an arrive-on, as offsets in shared memory */
    uint8_t bytes[PTXI_LANES];   /* partial: number of bytes to read; zeros are written after them */
};

struct ptxi_warp_async {
    /* the ring of cp.async operations, oldest first */
    uint32_t first, count;
    uint32_t size;                    /* of the ring; a power of two, or 0 */
    uint32_t arrivals;                /* number of operations in the ring that are arrive-ons */
    uint32_t group;                   /* number of committed async-groups of every lane, unless `diverged` */
    bool diverged;                    /* lanes have committed different numbers of groups: see groups[] */
    uint32_t groups[PTXI_LANES];      /* diverged: number of committed groups of each lane */
    struct ptxi_cp_async *ring;

    uint32_t bulk_groups[PTXI_LANES]; /* number of committed bulk async-groups of each lane */
    int32_t tensor_arguments[PTXI_TENSOR_ARGUMENTS][PTXI_LANES]; /* of the next tensor copy */
};

/* The state of the warp, allocated if there is none. NULL: out of memory. */
struct ptxi_warp_async *ptxi_warp_async_get(struct ptxi_warp *w);
void ptxi_warp_async_free(struct ptxi_warp *w);

#endif
