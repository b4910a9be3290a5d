/* Turns the engine's record of a fault into the report that programs get. */
#ifndef PTXI_API_ERROR_REPORT_H
#define PTXI_API_ERROR_REPORT_H

#include "api/error/failure.h"
#include "base/diag.h"
#include "exec/engine/fault_report.h"
#include "parse/ast.h"

/* The program that a launch ran. */
struct ptxi_report_source {
    const struct ptxi_texts *texts;
    const struct ptxi_module_ast *tree;
    const char *kernel;
};

/* Returns the launch's result. *failure becomes its record, or NULL if there is no memory. */
ptxiResult ptxi_report_create(const struct ptxi_report_source *source, const struct ptxi_fault_report *f,
                              struct ptxi_failure **failure);

#endif
