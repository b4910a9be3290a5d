/* The log of invalid accesses after which threads have continued, instead of a failed launch. A thread continues after
 * accesses that a GPU may not notice, because it checks whole pages of memory. */
#ifndef PTXI_EXEC_ENGINE_FAULT_LOG_H
#define PTXI_EXEC_ENGINE_FAULT_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec/engine/fault_report.h"

enum { PTXI_FAULT_SITES = 10 };

/* An instruction that made invalid accesses. */
struct ptxi_fault_site {
    const struct ptxi_insn *insn;
    struct ptxi_fault_report report; /* of the first one */
    uint64_t count;                  /* number of accesses of threads */
    bool written;                    /* the report has been written */
};

struct ptxi_fault_log {
    pthread_mutex_t lock;
    unsigned site_count;
    struct ptxi_fault_site sites[PTXI_FAULT_SITES];
    uint64_t count, counted; /* all accesses, also of instructions without a site; those of the last summary */
};

struct ptxi_fault_log *ptxi_fault_log_create(void); /* NULL: no memory */
void ptxi_fault_log_destroy(struct ptxi_fault_log *log); /* NULL does nothing */

/* Whether a thread can continue after an access that fails in this way. */
bool ptxi_fault_may_continue(enum ptxi_fault_kind kind);

/* Logs an access of one lane. `area` is NULL for a global address. */
void ptxi_fault_log_add(struct ptxi_fault_log *log, const struct ptxi_warp *w, const struct ptxi_insn *i,
                        enum ptxi_fault_kind kind, unsigned lane, uint64_t address, uint32_t size,
                        enum ptxi_access access, const struct ptxi_fault_area *area);

#endif
