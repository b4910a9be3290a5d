/* The functions that the system provides to kernels, by name. PTX ISA, "Abstracting the ABI". */
#ifndef PTXI_EXEC_BUILTIN_BUILTIN_H
#define PTXI_EXEC_BUILTIN_BUILTIN_H

#include "exec/builtin/builtin_call.h"

/* NULL: there is no function with this name. */
ptxi_builtin *ptxi_builtin_find(const char *name);

#endif
