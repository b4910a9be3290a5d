/* The order of accesses by fences and strong accesses. */
#ifndef PTXI_EXEC_CHECK_FENCE_H
#define PTXI_EXEC_CHECK_FENCE_H

#include "exec/check/state.h"

/* Gives a warp of 32 the state of its lanes. False: memory is short. */
bool ptxi_order_make_lanes(struct ptxi_check_cta *k, unsigned warp);

/* mods: those of check_fence. */
void ptxi_order_fence(struct ptxi_warp *w, ptxi_lanes lanes, unsigned mods);
/* Adds what the latest fences of lanes of a warp of 32 make others know. */
void ptxi_order_add_fenced(struct ptxi_cta *c, unsigned warp, uint32_t lanes, struct ptxi_vclock **fenced);

/* Adds what fences of lanes of a warp of 32 let them release at a level. */
void ptxi_order_add_released(struct ptxi_cta *c, unsigned warp, uint32_t lanes, unsigned level,
                             struct ptxi_vclock **released);

/* A strong write, or, if `modifies` is set, an atomic operation, releases knowledge. `unlocks`: it releases the lock
 * that the thread has taken. address: as lock.address. The line is locked. */
void ptxi_order_release(const struct ptxi_check_thread *t, struct ptxi_line *line, uint64_t address, unsigned scope,
                        bool modifies, bool unlocks);
/* A compare-and-swap with that value. */
void ptxi_order_take_lock(const struct ptxi_check_thread *t, uint64_t address, uint64_t open);
/* A strong read. The line is locked. */
void ptxi_order_acquire(const struct ptxi_check_thread *t, struct ptxi_line *line, uint64_t address, unsigned scope);

#endif
