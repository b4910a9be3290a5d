/* A loaded module: its tree, where its variables live, and the code made of its functions so far. */
#ifndef PTXI_API_MODULE_MODULE_H
#define PTXI_API_MODULE_MODULE_H

#include "api/context/api.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "compile/compile.h"
#include "exec/engine/exec.h"

/* The module's functions as the engine calls them, compiled with or without counting. */
struct ptxi_variant {
    struct ptxiModule_st *module;
    bool count;
    struct ptxi_program program; /* functions NULL: not made yet */
};

struct ptxi_bindings;

struct ptxiFunction_st {
    struct ptxi_handle handle; /* a part of the module's */
    struct ptxiModule_st *module;
    const struct ptxi_func *func;
    /* what ptxiFuncSetAttribute sets; under the module's lock */
    int max_dynamic_shared; /* bytes */
    int carveout, cluster[3], nonportable_cluster, cluster_policy;
    _Atomic uint64_t resolved; /* id of the bindings with which all that it names is defined; 0: not known */
};

struct ptxiModule_st {
    struct ptxi_handle handle;
    ptxiContext ctx;
    struct ptxiModule_st *next, **link; /* the context's list */
    const struct ptxi_profile *profile; /* the context's, or what the module's target asks for */
    char *name;                         /* file name, for people */
    char *text;                         /* kept for reports */
    struct ptxi_texts texts;            /* what it consists of */
    bool of_library;                    /* which unloads it */
    bool contract, as_written;          /* as the compiler's options */

    struct ptxi_arena arena;
    struct ptxi_module_tree *tree;
    struct ptxi_layout *layout;
    struct ptxi_heap_block *constants;  /* the constant bank, or NULL */
    struct ptxi_bindings *bindings;     /* of functions without a body; NULL: not made yet. Under the lock */
    uint64_t *globals;                  /* addresses, as layout->globals */
    char *function_addresses;           /* function i has the address of byte 16 * i; nothing is stored there */
    struct ptxiFunction_st *kernels;    /* in the order of the text */
    unsigned kernel_count;
    struct ptxi_kernel_entry *by_name;  /* hash table */

    struct reference *references;       /* list of texture and surface references that were asked for */

    pthread_mutex_t lock;               /* compilation, with the arena, and kernels' attributes */
    struct ptxi_variant variants[2];    /* [counting] */
};

/* How a module is made. */
struct ptxi_module_options {
    const char *name; /* file name, for people */
    bool no_contract; /* never fuse a mul with an add */
    bool as_written;  /* run what the text says, as where ptxas does not optimise */
    bool strict;      /* refuse what the device could not run */
    bool resolved;    /* refuse what names functions or variables that are defined nowhere */
    unsigned dialect; /* bits of ptxiDialect, beside the context's */
};

/* Parse, check and lay out a module in the context. `text` is malloc'ed and the module's on success. The strings of `texts`, which
 * lie in `text`, and the array live in the arena of `diags`, or are static. */
ptxiResult ptxi_module_create(ptxiContext ctx, char *text, const struct ptxi_texts *texts, const struct ptxi_module_options *options,
                              struct ptxi_diag *diags, ptxiModule *module);
void ptxi_module_free(ptxiModule m); /* in this call, or at its end if it holds the module; nothing else may use it */

/* Unload a module that the call holds, when no launch and no other call uses it any more. */
ptxiResult ptxi_module_unload(ptxiModule m);

/* What calls on modules and functions begin with: as ptxi_api_context, and whether the handle is valid. The call holds the module. */
ptxiResult ptxi_api_module(ptxiModule m);
ptxiResult ptxi_api_function(ptxiFunction f);
ptxiResult ptxi_api_to_launch(ptxiFunction *f); /* or a kernel of a library, which becomes the current context's function */

/* library.c: the function that a library's kernel is in a context; the call holds it. */
ptxiResult ptxi_kernel_function(ptxiContext ctx, ptxiKernel k, ptxiFunction *f);

/* A function's code, compiled if need be; any thread. NULL: no body, or memory is short, or it is beyond what bytecode
 * can hold. */
const struct ptxi_code *ptxi_module_code(ptxiModule m, uint32_t function, bool count);

size_t ptxi_module_param_bytes(ptxiFunction f); /* of all its parameters together */

/* launch.c: a kernel's parameters as ptxiLaunchKernel takes them, into `bytes` zeroed bytes. */
ptxiResult ptxi_launch_params(ptxiFunction f, void **params, void **extra, unsigned char *to, size_t bytes);

/* host.c: the module's current bindings, with a reference for the caller. NULL: memory is short. Bindings never change; a launch
 * keeps those that it was made with. */
struct ptxi_bindings *ptxi_bindings_of(ptxiModule m);
void ptxi_bindings_unref(struct ptxi_bindings *b); /* NULL does nothing */
const struct ptxi_binding *ptxi_bindings_array(const struct ptxi_bindings *b); /* by function */
uint64_t ptxi_bindings_id(const struct ptxi_bindings *b);                      /* 1, 2, ... */

/* "name(.u64 a, .f32 b)", and ".u64 a". */
void ptxi_signature(const struct ptxiFunction_st *f, struct ptxi_str *out);
void ptxi_signature_param(const struct ptxi_var *v, struct ptxi_str *out);

void ptxi_module_free_references(ptxiModule m);

/* Make these what ptxiGetLastDiagnostic tells the calling thread. */
void ptxi_api_store_diags(const struct ptxi_diag *d, const struct ptxi_texts *texts);

/* A text for the caller, who frees it with ptxiFree; frees `s`. */
ptxiResult ptxi_api_give_text(struct ptxi_str *s, char **text);

/* symbols.c: an error for each function and variable that the module's functions name and that is defined nowhere. */
ptxiResult ptxi_symbols_check(const struct ptxi_module_tree *tree, struct ptxi_diag *diags);
/* The same for what a kernel can reach, before it is launched: the context's last failure lists them. Remembers that there are none. */
ptxiResult ptxi_symbols_check_kernel(ptxiFunction f, const struct ptxi_bindings *bindings);

/* The program that a launch runs in; NULL: memory is short. */
const struct ptxi_program *ptxi_module_program(ptxiModule m, bool count);

#endif
