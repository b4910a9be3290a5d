/* What programs say about ranges of memory, for checked launches: pools, which they divide themselves, the allocated
 * parts of pools, and bytes on which threads race on purpose. Addresses are unique in the process. Any thread may
 * call. */
#ifndef PTXI_EXEC_MEMMAP_ANNOTATION_H
#define PTXI_EXEC_MEMMAP_ANNOTATION_H

#include "exec/memmap/region.h"

enum ptxi_annotation_set { PTXI_ANNOTATED_RACES, PTXI_ANNOTATED_POOLS, PTXI_ANNOTATED_PARTS, PTXI_ANNOTATED_SETS };

/* Adds a range. Ranges of races, and of pools, that it overlaps become one with it; parts are removed. False: memory is
 * short. */
bool ptxi_annotation_add(enum ptxi_annotation_set set, uint64_t base, uint64_t size);
/* Removes all ranges that overlap the given one. */
void ptxi_annotation_remove(enum ptxi_annotation_set set, uint64_t base, uint64_t size);
/* Removes them from all sets, because the memory is allocated anew. */
void ptxi_annotation_forget(uint64_t base, uint64_t size);
/* Gets the range that contains the address. */
bool ptxi_annotation_find(enum ptxi_annotation_set set, uint64_t address, uint64_t *base, uint64_t *size);

/* Whether there is or was a pool. */
bool ptxi_annotation_has_pools(void);
/* Reduces a region that contains the address. In a pool, the result is the allocated part that contains the address.
 * Elsewhere it is the memory between two pools. Returns false if the address is in a pool, but in no allocated part. */
bool ptxi_annotation_narrow(uint64_t address, struct ptxi_mem_region *region);

#endif
