/* Layout of the shared memory of kernels.
 *
 * Variables are where ptxas puts them, so that programs that print addresses or overrun their arrays see the memory of
 * a GPU: first the variables of the kernel itself, then the module's variables that the kernel or a function it can
 * reach names, then the variables of such functions. Each group is in the order of declarations.
 *
 * ptxas makes a copy of a function for each kernel. Here the code of a function exists once. So a variable that a
 * device function names has one offset for all kernels that can reach the function: the highest of the offsets that
 * ptxas would choose. */
#ifndef PTXI_COMPILE_LOWER_SHARED_LAYOUT_H
#define PTXI_COMPILE_LOWER_SHARED_LAYOUT_H

#include "base/hash.h"
#include "compile/lower/layout.h"

/* The properties of a variable that the layout needs. */
struct ptxi_layout_entry {
    const struct ptxi_var *var;
    uint32_t global;     /* index into layout->globals */
    uint64_t offset;     /* const and shared */
    uint32_t last_user;  /* shared: index + 1 of the function that named it last */
    uint32_t first_use;  /* shared: index + 1 of the first use in the list of uses */
    UT_hash_handle hh;
};

struct ptxi_layout_entry *ptxi_layout_find_entry(const struct ptxi_layout *layout, const struct ptxi_var *var);
struct ptxi_layout_entry *ptxi_layout_add_entry(struct ptxi_layout *layout, struct ptxi_arena *arena,
                                                const struct ptxi_var *var);

/* Fills layout->shared; false if memory is short. */
bool ptxi_shared_layout_compute(struct ptxi_layout *layout, struct ptxi_arena *arena, struct ptxi_arena *scratch);

/* Offset of a shared variable that device functions name. */
uint32_t ptxi_shared_layout_offset(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* Calls `visit` for every shared variable of the module that the kernel names, and sets *top to the end of the
 * variables that the kernel and the functions it reaches name. False: no device function names a shared variable, so
 * the kernel may assign the offsets itself. */
bool ptxi_shared_layout_visit(const struct ptxi_layout *layout, const struct ptxi_func *kernel,
                              void (*visit)(void *ctx, const struct ptxi_var *var, uint32_t offset), void *ctx,
                                   uint64_t *top);

typedef void ptxi_name_visitor(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func);
/* Calls `visit` for every variable (func NULL) and every function (var NULL) that the body of f names. */
void ptxi_layout_visit_names(const struct ptxi_func *f, ptxi_name_visitor *visit, void *ctx);

#endif
