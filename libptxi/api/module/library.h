/* Libraries: PTX that is loaded in each context that uses it, on first use. */
#ifndef PTXI_API_MODULE_LIBRARY_H
#define PTXI_API_MODULE_LIBRARY_H

#include "api/module/module.h"

/* Resolves a handle of a function or of a library's kernel, which becomes a function of the current context. The call
 * holds it. */
ptxiResult ptxi_resolve_function(ptxiFunction *f);

/* The function that a library's kernel is in the current context: the begin of calls on kernels, and of those that
 * name a device. */
ptxiResult ptxi_kernel_enter(ptxiKernel k, ptxiFunction *f);
ptxiResult ptxi_kernel_enter_on(ptxiKernel k, ptxiDevice dev, ptxiFunction *f);

/* Removes the modules of a context, which is being closed, from all libraries. */
void ptxi_libraries_forget(ptxiContext ctx);

#endif
