#include "exec/engine/fault_log.h"

#include <stdlib.h>

#include "exec/engine/cta.h"

struct ptxi_fault_log *ptxi_fault_log_create(void)
{
    struct ptxi_fault_log *log = calloc(1, sizeof *log);

    if (log)
        pthread_mutex_init(&log->lock, NULL);
    return log;
}

void ptxi_fault_log_destroy(struct ptxi_fault_log *log)
{
    if (!log)
        return;
    pthread_mutex_destroy(&log->lock);
    free(log);
}

/* A GPU notices the other faults always: null pointers, misaligned addresses, memory of other devices. */
bool ptxi_fault_may_continue(enum ptxi_fault_kind kind)
{
    switch (kind) {
    case PTXI_FK_OUT_OF_BOUNDS: case PTXI_FK_FREED: case PTXI_FK_READ_ONLY: case PTXI_FK_OTHER_SHARED:
    case PTXI_FK_OTHER_LOCAL:
        return true;
    default:
        return false;
    }
}

/* Finds the instruction's site, or makes it if there is room. Under the lock. */
static struct ptxi_fault_site *find_site(struct ptxi_fault_log *log, const struct ptxi_insn *i,
                                         enum ptxi_fault_kind kind)
{
    for (unsigned k = 0; k < log->site_count; k++)
        if (log->sites[k].insn == i && log->sites[k].report.kind == kind)
            return &log->sites[k];
    return log->site_count < PTXI_FAULT_SITES ? &log->sites[log->site_count++] : NULL;
}

void ptxi_fault_log_add(struct ptxi_fault_log *log, const struct ptxi_warp *w, const struct ptxi_insn *i,
                        enum ptxi_fault_kind kind, unsigned lane, uint64_t address, uint32_t size,
                        enum ptxi_access access, const struct ptxi_fault_area *area)
{
    pthread_mutex_lock(&log->lock);
    struct ptxi_fault_site *s = find_site(log, i, kind);

    log->count++;
    if (s && !s->count++) {
        s->insn = i;
        ptxi_fault_locate(&s->report, w, w->frame->code, i, (ptxi_lanes)1 << lane);
        ptxi_fault_describe_access(&s->report, kind, address, size, access, area, w->cta->grid->memmap);
    }
    pthread_mutex_unlock(&log->lock);
}
