/* Finds functions and variables that code names but nothing defines. */
#ifndef PTXI_API_MODULE_SYMBOLS_H
#define PTXI_API_MODULE_SYMBOLS_H

#include "api/module/bindings.h"

/* Adds an error for each undefined function and variable that the functions of the module name. */
ptxiResult ptxi_symbols_check(const struct ptxi_module_ast *tree, struct ptxi_diag *diags);

/* Checks everything that a kernel can reach before it is launched. The context's last failure lists the undefined
 * symbols.
 * A success is remembered for these bindings. */
ptxiResult ptxi_symbols_check_kernel(ptxiFunction f, const struct ptxi_bindings *bindings);

#endif
