/* Where the variables of a module are. The layout is computed once when a module is loaded; compilations only read
 * it. */
#ifndef PTXI_COMPILE_LOWER_LAYOUT_H
#define PTXI_COMPILE_LOWER_LAYOUT_H

#include "parse/ast.h"

/* A variable with static storage. Variables declared in bodies are included: each exists once. */
struct ptxi_layout_var {
    const struct ptxi_var *var;
    const struct ptxi_func *func; /* the function that declares it in its body, or NULL */
    uint64_t offset;              /* const: in the constant bank; global: not used */
};

struct ptxi_layout_entry;
struct ptxi_shared_layout;

struct ptxi_layout {
    const struct ptxi_module_ast *tree;
    struct ptxi_layout_var *consts, *globals; /* in order of declaration, module scope first */
    uint32_t const_count, global_count;
    uint64_t const_bytes; /* size of the constant bank */
    uint32_t shared_base; /* begin of kernels' shared memory, after the part that the system reserves */
    bool in_clusters;     /* the module uses clusters: shared addresses contain the CTA's rank */
    /* private to compile/lower/ */
    struct ptxi_layout_entry *entries; /* by variable */
    struct ptxi_shared_layout *shared;
};

/* NULL if memory is short. */
struct ptxi_layout *ptxi_layout_module(const struct ptxi_module_ast *tree, uint32_t shared_base,
                                       struct ptxi_arena *arena);

/* Index of a variable in layout->globals, or UINT32_MAX. */
uint32_t ptxi_layout_global(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* Offset of a .const variable in the constant bank. */
uint64_t ptxi_layout_const(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* A kernel's parameter block: the offset of parameter i, or the size of the block if i is the number of parameters. */
uint32_t ptxi_layout_param(const struct ptxi_func *func, uint32_t i);

/* Number of 32-bit words that hold these parameters or return values in a call (bytecode.h, "Calls"). */
uint32_t ptxi_layout_words(struct ptxi_var *const *vars, uint32_t count);
/* Bytes that pass a parameter. An array without a size is passed by its address in .local. */
uint64_t ptxi_layout_passed(const struct ptxi_var *v);

static inline uint64_t ptxi_layout_align(uint64_t at, uint32_t align)
{
    return align > 1 ? (at + align - 1) & ~(uint64_t)(align - 1) : at;
}

/* Places a variable at *top, suitably aligned, and moves *top to its end. Returns the variable's offset. */
static inline uint32_t ptxi_layout_assign(uint64_t *top, const struct ptxi_var *var)
{
    uint64_t at = ptxi_layout_align(*top, var->align);

    *top = at + var->size;
    return (uint32_t)at;
}

#endif
