/* The order of tasks: launches, copies and other work of streams. The queue of the streams knows when a task begins
 * and which tasks have ended before because streams, events or waiting calls order them. Tasks that merely happen to
 * run one after the other are not ordered.
 *
 * A vector clock of tasks has an entry for each stream. What one thread of the program has waited for counts as known
 * to all, because threads may synchronise in ways that the library does not see. */
#ifndef PTXI_EXEC_CHECK_TASK_H
#define PTXI_EXEC_CHECK_TASK_H

#include "exec/check/vector_clock.h"

#include <stdatomic.h>

/* Earlier tasks of a stream that a task does not happen after: nodes of its graph without a path to it. */
struct ptxi_unordered {
    uint32_t count;
    struct {
        uint64_t first, last;
    } tasks[]; /* their numbers in the stream */
};

struct ptxi_task {
    uint64_t stream, seq;      /* the number of the stream, and that of the task in it, from 1; stream 0: it is ordered
                                * with all tasks */
    struct ptxi_vclock *known; /* the tasks that have ended before it begins, without those of its own stream */
    const struct ptxi_unordered *unordered; /* NULL: it happens after all earlier tasks of its stream */
};

/* Whether tasks have clocks. It stays set from the first context on that looks for races. */
extern _Atomic bool ptxi_tasks_have_order;
/* The task that the thread runs, or NULL. */
extern _Thread_local const struct ptxi_task *ptxi_task_current;

/* The first `seq` tasks of a stream, as an entry of a clock. */
struct ptxi_vclock_entry ptxi_task_entry(uint64_t stream, uint64_t seq);

/* Whether a has ended before b begins. */
bool ptxi_task_is_before(const struct ptxi_task *a, const struct ptxi_task *b);

/* The program knows that the first `seq` tasks of the stream have ended, and all that `known` has. */
void ptxi_host_learns(uint64_t stream, uint64_t seq, const struct ptxi_vclock *known);
/* What the program knows. A reference. */
struct ptxi_vclock *ptxi_host_known(void);

#endif
