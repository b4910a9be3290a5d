/* Functions that the system provides to kernels: PTX ISA, "Abstracting the ABI"; CUDA C++ Programming Guide,
 * "Formatted Output", "Assertion". */
#ifndef PTXI_EXEC_BUILTIN_H
#define PTXI_EXEC_BUILTIN_H

#include "exec/exec.h"

/* The function of that name, or NULL: vprintf, __assertfail. */
ptxi_builtin *ptxi_builtin_find(const char *name);

#endif
