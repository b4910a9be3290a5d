/* The functions of CUDA Dynamic Parallelism that kernels call. */
#ifndef PTXI_API_DEVRT_DEVICE_RUNTIME_H
#define PTXI_API_DEVRT_DEVICE_RUNTIME_H

#include "api/module/provider.h"

/* Finds the function of that name, or returns NULL. */
ptxi_provider ptxi_device_runtime_find;

#endif
