/* From the engine's record of a fault to the API's. */
#ifndef PTXI_API_CONTEXT_REPORT_H
#define PTXI_API_CONTEXT_REPORT_H

#include "api/context/failure.h"
#include "exec/engine/exec.h"

/* The launch's result; *failure is its record, or NULL when memory is short. */
ptxiResult ptxi_report_create(ptxiModule m, const char *kernel, const struct ptxi_fault_report *f, struct ptxi_failure **failure);

#endif
