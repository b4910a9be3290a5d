/* Turns the engine's record of a fault into the report that programs get. */
#ifndef PTXI_API_ERROR_REPORT_H
#define PTXI_API_ERROR_REPORT_H

#include "api/error/failure.h"
#include "base/diag.h"
#include "exec/engine/fault_log.h"
#include "parse/ast.h"

/* The program that a launch ran. */
struct ptxi_report_source {
    const struct ptxi_texts *texts;
    const struct ptxi_module_ast *tree;
    const char *kernel;
    bool continued; /* the thread has continued */
};

/* Returns the launch's result. *failure becomes its record, or NULL if there is no memory. */
ptxiResult ptxi_report_create(const struct ptxi_report_source *source, const struct ptxi_fault_report *f,
                              struct ptxi_failure **failure);

/* Writes reports of the sites that are new in a log, and the number of accesses, to stderr. Returns false if nothing is
 * new. *first becomes the first new report, or NULL if there is no memory. */
bool ptxi_report_write_log(const struct ptxi_report_source *source, struct ptxi_fault_log *log,
                           struct ptxi_failure **first);

/* Writes the number of all accesses in a log to stderr, unless the last launch has written it. */
void ptxi_report_write_total(const char *module, const struct ptxi_fault_log *log);

#endif
