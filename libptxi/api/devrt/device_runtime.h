/* Functions of CUDA Dynamic Parallelism that kernels call, and the way to all that the library has for them. */
#ifndef PTXI_API_DEVRT_DEVICE_RUNTIME_H
#define PTXI_API_DEVRT_DEVICE_RUNTIME_H

#include "exec/engine/exec.h"

/* What the library has of that name, for kernels to call, in api/ or exec/; NULL: nothing. `*user` is for the call. */
ptxi_builtin *ptxi_device_runtime_find(const char *name, void **user);

#endif
