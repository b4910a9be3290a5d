/* The record of a failed launch. The stream that it failed in, the context and threads share it. */
#ifndef PTXI_API_ERROR_FAILURE_H
#define PTXI_API_ERROR_FAILURE_H

#include "ptxi.h"

struct ptxi_failure;

/* A deep copy of a report, with one reference. NULL if there is no memory. */
struct ptxi_failure *ptxi_failure_create(const ptxiReport *report);
struct ptxi_failure *ptxi_failure_ref(struct ptxi_failure *f); /* NULL gives NULL */
void ptxi_failure_unref(struct ptxi_failure *f);               /* NULL does nothing */
const ptxiReport *ptxi_failure_report(const struct ptxi_failure *f);

#endif
