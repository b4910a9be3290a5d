/* Ranges of the program's memory that several launches may have open at once. Regions of the memory map cannot overlap,
 * so a range is made of pieces, which are shared and counted. */
#ifndef PTXI_API_MEMORY_OPEN_RANGES_H
#define PTXI_API_MEMORY_OPEN_RANGES_H

#include "ptxi.h"

#include <stddef.h>

struct ptxi_piece;

/* What one launch has open. Zeroed: nothing. */
struct ptxi_open_ranges {
    struct ptxi_piece **pieces;
    size_t count, cap;
};

/* Opens the ranges. On failure nothing is opened. The results are those of ptxiMemOpenRanges(). */
ptxiResult ptxi_open_ranges(struct ptxi_open_ranges *o, const ptxiRange *ranges, size_t count);

/* Closes them. Waits until no kernel accesses memory that nobody has open any more. */
void ptxi_close_ranges(struct ptxi_open_ranges *o);

#endif
