/* Divergence: how a warp's lanes split, wait, and reconverge.
 *
 * To run a warp, the engine picks a split, points the warp at the split's frame and enters the dispatch loop. The loop
 * ends when the split reaches w->stop (the pc at which another split of the frame waits, so that they can reconverge)
 * or when a handler leaves it by one of the ptxi_leave_... functions, which note the reason in w->event. */
#ifndef PTXI_EXEC_ENGINE_DIVERGENCE_H
#define PTXI_EXEC_ENGINE_DIVERGENCE_H

#include "exec/engine/cta.h"
#include "exec/engine/dispatch.h"
#include "exec/engine/warp.h"

enum ptxi_event {
    PTXI_EVENT_NONE,            /* the split has reached w->stop */
    PTXI_EVENT_SWITCH,          /* the splits have changed: pick one again */
    PTXI_EVENT_JUMP,            /* the same, but only the pc and the frame of the running one have changed */
    PTXI_EVENT_QUANTUM,         /* the scheduler must check limits and other warps */
    PTXI_EVENT_SLICE,           /* the time slice of a fair schedule is over; w->mid_block is set */
    PTXI_EVENT_EXIT,            /* w->exited have exited */
    PTXI_EVENT_STALLED,         /* no split is ready */
    PTXI_EVENT_WARP_AT_BARRIER, /* the warp waits as a whole at a CTA barrier or has exited; see w->barrier_state */
    PTXI_EVENT_DONE,            /* all lanes have exited */
    PTXI_EVENT_FAULT
};

/* Number of instructions that a warp may run, as loops and calls count them, before the scheduler takes over. */
#define PTXI_QUANTUM 65536

/* Number of rounds of loops that seem to wait for other threads before the warp yields. A round of a loop that does
 * nothing else counts as PTXI_SPIN_COST rounds. */
#define PTXI_SPIN_ROUNDS 32
#define PTXI_SPIN_COST 8

/* Starts the kernel with the given lanes. */
void ptxi_warp_start(struct ptxi_warp *w, struct ptxi_frame *frame, ptxi_lanes lanes);
/* The same for a warp that has been started with these lanes before, is `as_started`, and has exited at once. */
static inline void ptxi_warp_start_again(struct ptxi_warp *w)
{
    w->live = w->active;
    w->quantum = PTXI_QUANTUM;
    w->barrier_pc = w->splits[0].pc - 1;
    w->state = PTXI_WARP_READY;
    w->barrier_state = PTXI_WARP_BARRIER_PASSED;
    w->spin_rounds_left = PTXI_SPIN_ROUNDS;
    w->split_count = 1;
}
/* Ends a warp after its launch has failed. Releases its frames. */
void ptxi_warp_abandon(struct ptxi_warp *w);

/* Runs the warp until something happens that its splits cannot handle themselves. Never returns PTXI_EVENT_NONE,
 * _SWITCH or _JUMP. If the warp waits at a CTA barrier or has exited, the warps after it that can start or have passed
 * their barrier may have run, too. *w becomes the last of them, and the event is that warp's. */
enum ptxi_event ptxi_warp_run(struct ptxi_warp **w, const struct ptxi_level *level);
/* The same for a warp that has left the dispatch loop. */
enum ptxi_event ptxi_warp_run_on(struct ptxi_warp **w, const struct ptxi_level *level);

/* Makes sleeping splits ready. *work: at least one of them does more than spin. False: there are none. */
bool ptxi_wake_sleeping_splits(struct ptxi_warp *w, bool *work);
/* Makes splits ready that wait at this mbarrier, or, if it is NULL, at the cluster barrier. `reported`: there was a
 * report in the phase of the mbarrier, so that the conditional phase is not complete. */
void ptxi_wake_mbarrier_splits(struct ptxi_warp *w, const unsigned char *mbarrier, bool reported);
/* Makes splits of all warps ready that wait for their warpgroup. */
void ptxi_cta_wake_warpgroups(struct ptxi_cta *cta);

/* Updates the split of a warp that waits at or has passed a CTA barrier as a whole (barrier_state). */
void ptxi_settle_barrier_split(struct ptxi_warp *w);
/* Split s keeps the lanes in `keep`. Its other lanes, if any, get a copy of it. Returns the copy or NULL. */
struct ptxi_split *ptxi_divide_split(struct ptxi_warp *w, struct ptxi_split *s, ptxi_lanes keep);

/* For handlers. The lanes leave the running split and wait at pc. */
void ptxi_split_off(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes lanes);

/* For handlers. Each function returns what the handler must return. */

/* The running split continues at `first`, which is the lower pc, and the lanes `second_lanes` wait at `second`. */
const struct ptxi_insn *ptxi_diverge(struct ptxi_warp *w, const struct ptxi_insn *first, const struct ptxi_insn *second,
                                     ptxi_lanes second_lanes);
/* The running split continues at pc when its turn comes: another one may have to run first. */
const struct ptxi_insn *ptxi_leave_switch(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* The same after a jump or a return, which leaves the other splits as they were. */
const struct ptxi_insn *ptxi_leave_jump(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* Yields to other splits of the warp. */
const struct ptxi_insn *ptxi_leave_sleep(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* Yields to other splits of the warp, then to other warps. */
const struct ptxi_insn *ptxi_leave_spin(struct ptxi_warp *w, const struct ptxi_insn *pc);
const struct ptxi_insn *ptxi_leave_quantum(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* The running split continues at pc before any other split of the warp. */
const struct ptxi_insn *ptxi_leave_slice(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* Waits at CTA barrier `number`, with lanes of a diverged warp. */
const struct ptxi_insn *ptxi_leave_barrier(struct ptxi_warp *w, const struct ptxi_insn *pc, unsigned number);
/* Waits at an mbarrier, or, if it is NULL, at the cluster barrier. */
const struct ptxi_insn *ptxi_leave_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *pc,
                                            const unsigned char *mbarrier);
/* Waits until a warp of the CTA is at a wgmma fence, commits or exits. */
const struct ptxi_insn *ptxi_leave_warpgroup(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* Waits at an .aligned instruction for ptxi_absent_lanes(). Then all lanes execute the instruction. */
const struct ptxi_insn *ptxi_leave_aligned(struct ptxi_warp *w, const struct ptxi_insn *pc);
/* The lanes exit. The scheduler informs the barriers. */
const struct ptxi_insn *ptxi_leave_exit(struct ptxi_warp *w, ptxi_lanes lanes);

/* Completes an .aligned instruction at which a split waits, if all required lanes are there or have exited. */
bool ptxi_aligned_try_complete(struct ptxi_warp *w, struct ptxi_split *waiting);

#endif
