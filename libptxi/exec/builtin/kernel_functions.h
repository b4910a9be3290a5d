/* The functions of kernel_printf.c, kernel_assert.c, kernel_heap.c and kernel_atomic.c. */
#ifndef PTXI_EXEC_BUILTIN_KERNEL_FUNCTIONS_H
#define PTXI_EXEC_BUILTIN_KERNEL_FUNCTIONS_H

#include "exec/engine/program.h"

ptxi_builtin ptxi_builtin_vprintf, ptxi_builtin_assertfail, ptxi_builtin_malloc, ptxi_builtin_free, ptxi_builtin_cas16;

#endif
