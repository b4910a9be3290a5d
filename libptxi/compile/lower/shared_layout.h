/* Shared memory of kernels, for the compiler alone.
 *
 * Variables stand as ptxas places them, so that programs that print addresses, or leave their arrays, see a GPU's memory: first those of the
 * kernel itself, then those of the module that the kernel or a function it can reach names, then those of such functions; each in the order of
 * declarations.
 *
 * ptxas makes a copy of a function for each kernel. Here its code exists once: a variable that a device function names stands at one offset
 * for every kernel that can reach the function, the highest of those that ptxas would choose. */
#ifndef PTXI_COMPILE_LOWER_SHARED_LAYOUT_H
#define PTXI_COMPILE_LOWER_SHARED_LAYOUT_H

#include "compile/compile.h"

/* Offset of a shared variable that device functions name. */
uint32_t ptxi_layout_shared(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* Calls `see` for every shared variable of the module that the kernel names, and sets the end of what it and the functions it reaches name.
 * False: no device function names a shared variable, and the kernel may give them out itself. */
bool ptxi_layout_shared_of(const struct ptxi_layout *layout, const struct ptxi_func *kernel,
                           void (*see)(void *ctx, const struct ptxi_var *var, uint32_t offset), void *ctx, uint64_t *top);

/* Calls `see` for every variable (func NULL) and every function (var NULL) that the body of f names. */
void ptxi_layout_names(const struct ptxi_func *f, void (*see)(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func), void *ctx);

static inline uint64_t ptxi_layout_align(uint64_t at, uint32_t align)
{
    return align > 1 ? (at + align - 1) & ~(uint64_t)(align - 1) : at;
}

/* Gives out the next room. */
static inline uint32_t ptxi_layout_give(uint64_t *top, const struct ptxi_var *var)
{
    uint64_t at = ptxi_layout_align(*top, var->align);

    *top = at + var->size;
    return (uint32_t)at;
}

#endif
