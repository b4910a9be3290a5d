/* Regions: short paths of diverged lanes that meet again. See region.c. */
#ifndef PTXI_NATIVE_REGION_H
#define PTXI_NATIVE_REGION_H

#include "native/builder.h"

/* Whether a region begins after the branch. */
bool ptxi_native_find_region(const struct ptxi_native_builder *c, uint32_t branch, struct ptxi_native_region *r);

/* For the compiler, with the region in c->region. */
void ptxi_native_put_region_exit(struct ptxi_native_builder *c);
/* eax = the active lanes that branch to the target, some of all. */
void ptxi_native_begin_region(struct ptxi_native_builder *c, uint32_t target);
/* The instructions after the branch. Then all lanes are at the end. */
void ptxi_native_put_paths(struct ptxi_native_builder *c, uint32_t branch,
                           bool (*emit)(struct ptxi_native_builder *c, const struct ptxi_insn *i));
/* The frame is complete. Calls the handler of an operation for the active lanes. False: it may do something else than
 * to continue, so nothing was emitted. */
bool ptxi_native_call_in_region(struct ptxi_native_builder *c, uint32_t insn);
/* The frame is complete. `exit`: of the region. */
void ptxi_native_leave_region(struct ptxi_native_builder *c, uint32_t insn, uint32_t exit);

/* In a region: the lanes in eax, of which only the active ones count, branch. */
void ptxi_native_region_branch(struct ptxi_native_builder *c, uint32_t target);
/* All active lanes branch. */
void ptxi_native_region_jump(struct ptxi_native_builder *c, uint32_t target);

#endif
