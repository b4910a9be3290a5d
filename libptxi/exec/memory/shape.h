/* The shapes of all groups of a vector of 32-bit addresses, and what a load needs to know about them. It is in a
 * register slot. A group has 8 or 16 lanes, depending on the CPU level. */
#ifndef PTXI_EXEC_MEMORY_SHAPE_H
#define PTXI_EXEC_MEMORY_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/bytecode.h"

enum { PTXI_SHAPE_GROUPS = PTXI_LANES / 8 }; /* at most */

struct ptxi_shape {
    uint32_t lo, hi, bits;              /* of all addresses: lowest, highest, or-ed */
    bool usable;                        /* every group is contiguous or one address */
    bool contiguous[PTXI_SHAPE_GROUPS]; /* of a group; else it is one address */
    uint32_t first[PTXI_SHAPE_GROUPS];  /* the address of the group's first lane */
};
_Static_assert(sizeof(struct ptxi_shape) <= PTXI_UNIT, "a shape has one unit");

#endif
