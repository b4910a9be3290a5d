/* Shared memory of kernels, for the compiler alone.
 *
 * A variable that only kernels name gets its offset when the kernel is compiled. One that a device function names must
 * stand at one offset for every kernel that can reach the function, since its code exists once; so variables that some
 * kernel can reach together stand apart, others may overlap. */
#ifndef PTXI_COMPILE_LAYOUT_H
#define PTXI_COMPILE_LAYOUT_H

#include "compile/compile.h"

/* Offset of a shared variable that device functions name, or UINT32_MAX. */
uint32_t ptxi_layout_shared(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* The end of a kernel's shared memory that such variables take. */
uint64_t ptxi_layout_shared_top(const struct ptxi_layout *layout, const struct ptxi_func *kernel);

/* Calls `see` for every variable (func NULL) and every function (var NULL) that the body of f names. */
void ptxi_layout_names(const struct ptxi_func *f, void (*see)(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func), void *ctx);

static inline uint64_t ptxi_layout_align(uint64_t at, uint32_t align)
{
    return align > 1 ? (at + align - 1) & ~(uint64_t)(align - 1) : at;
}

#endif
