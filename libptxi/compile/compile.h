/* Tree -> bytecode.
 *
 *     struct ptxi_layout *layout = ptxi_layout_module(tree, reserved, &arena);
 *     ... give layout->globals their memory, fill the constant bank ...
 *     struct ptxi_code *code = ptxi_compile(layout, func, &options, &arena, &diags);
 *
 * Compilation is lazy: one function at a time, after the module is loaded. Nothing is shared between two compilations
 * but the tree and the layout, which they only read; the arena and the diagnostics are the caller's to lock. */
#ifndef PTXI_COMPILE_COMPILE_H
#define PTXI_COMPILE_COMPILE_H

#include "base/str.h"
#include "isa/bytecode.h"
#include "parse/ast.h"

/* Bytes of .local memory that a thread has, and what of it a kernel's variables may be. Functions that have far more are not compiled. */
enum { PTXI_MAX_LOCAL = 512 << 10, PTXI_MAX_LOCAL_VARIABLES = PTXI_MAX_LOCAL - 1024, PTXI_COMPILED_LOCAL = 16 << 20 };

/* Where variables with static storage live. Variables declared in bodies are here too: each exists once. */
struct ptxi_layout_var {
    const struct ptxi_var *var;
    const struct ptxi_func *func; /* declared in its body, or NULL */
    uint64_t offset;              /* const: in the constant bank; global: not used */
};

struct ptxi_shared_layout;
struct ptxi_place;

struct ptxi_layout {
    const struct ptxi_module_tree *tree;
    struct ptxi_layout_var *consts, *globals; /* in order of declaration, module scope first */
    uint32_t const_count, global_count;
    uint64_t const_bytes; /* size of the constant bank */
    uint32_t shared_base; /* where kernels' shared memory begins, behind what the system reserves */
    bool in_clusters;     /* the module speaks of clusters: shared addresses tell the CTA's rank */
    /* compile/'s own */
    struct ptxi_place *places;
    struct ptxi_shared_layout *shared;
};

/* NULL when memory is short. */
struct ptxi_layout *ptxi_layout_module(const struct ptxi_module_tree *tree, uint32_t shared_base, struct ptxi_arena *arena);

/* Index of a variable in layout->globals, or UINT32_MAX. */
uint32_t ptxi_layout_global(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* Offset of a .const variable in the constant bank. */
uint64_t ptxi_layout_const(const struct ptxi_layout *layout, const struct ptxi_var *var);

/* A kernel's parameter block: offset of parameter i; with i == param_count the size of the whole block. */
uint32_t ptxi_layout_param(const struct ptxi_func *func, uint32_t i);

/* 32-bit words of a function's parameters and of its return values in a call (bytecode.h, "Calls"). */
uint32_t ptxi_layout_words(struct ptxi_var *const *vars, uint32_t count);
/* Bytes by which a parameter is passed: an array without a size by its address in .local. */
uint64_t ptxi_layout_passed(const struct ptxi_var *v);

/* Whether anything executes the forms of a row. */
bool ptxi_compile_executes(const struct ptxi_row *row);

struct ptxi_compile_options {
    void *ctx;
    /* Addresses that are known once a module is loaded. */
    uint64_t (*global_address)(void *ctx, const struct ptxi_var *var);
    uint64_t (*function_address)(void *ctx, const struct ptxi_func *func);
    unsigned sm;   /* the architecture whose bits are wanted */
    bool contract; /* fuse mul and add as ptxas does */
    bool as_written; /* change nothing that bits depend on, as ptxas with -O0 */
    bool count;    /* operation `count` at the start of every block */
    bool verify;   /* check the result, for tests */
};

/* The code of a function that has a body, or NULL: an error in `diags` if the function is beyond what bytecode can
 * hold, none if memory is short. Code whose `unsupported_count` is not 0 must not be launched: it holds legal
 * instructions that nothing executes yet. */
struct ptxi_code *ptxi_compile(const struct ptxi_layout *layout, const struct ptxi_func *func, const struct ptxi_compile_options *options,
                               struct ptxi_arena *arena, struct ptxi_diag *diags);

/* A listing for people. */
void ptxi_dump(const struct ptxi_code *code, struct ptxi_str *out);

#endif
