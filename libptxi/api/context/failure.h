/* The record of a failed launch, shared by the stream it failed in, the context and threads that asked for it. */
#ifndef PTXI_API_CONTEXT_FAILURE_H
#define PTXI_API_CONTEXT_FAILURE_H

#include "ptxi.h"

struct ptxi_failure;

/* A deep copy of a report, with one reference; NULL: memory is short. */
struct ptxi_failure *ptxi_failure_create(const ptxiReport *report);
struct ptxi_failure *ptxi_failure_ref(struct ptxi_failure *f); /* NULL gives NULL */
void ptxi_failure_unref(struct ptxi_failure *f);               /* NULL does nothing */
const ptxiReport *ptxi_failure_report(const struct ptxi_failure *f);

#endif
