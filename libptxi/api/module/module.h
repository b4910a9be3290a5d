/* A loaded module: its syntax tree, the addresses of its variables, and the compiled code of its functions. */
#ifndef PTXI_API_MODULE_MODULE_H
#define PTXI_API_MODULE_MODULE_H

#include "api/context/context.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "compile/compile.h"
#include "exec/sched/workers.h"

/* Variants of bytecode. */
enum { PTXI_VARIANT_COUNTING = 1, PTXI_VARIANT_CHECKED = 2, PTXI_VARIANT_INIT = 4,
       PTXI_VARIANT_POINTERS = 8, PTXI_VARIANT_TRACK = 16, PTXI_VARIANT_TRACK_READS = 32 /* with TRACK */,
       PTXI_VARIANTS = 64 };

/* The module's functions for the engine, in one variant. */
struct ptxi_variant {
    struct ptxiModule_st *module;
    unsigned flags; /* PTXI_VARIANT_... */
    struct ptxi_program program; /* functions NULL: not created yet */
};

/* Function i of a module has the address `function_addresses` + i * PTXI_FUNCTION_STRIDE. */
enum { PTXI_FUNCTION_STRIDE = 16 };
#define PTXI_FUNCTION_BYTES(tree) (((size_t)(tree)->func_count + 1) * PTXI_FUNCTION_STRIDE)

struct ptxi_bindings;

struct ptxiFunction_st {
    struct ptxi_handle handle; /* a part of the module */
    struct ptxiModule_st *module;
    const struct ptxi_func *func;
    /* Attributes that ptxiFuncSetAttribute() sets, under the module's lock. */
    int max_dynamic_shared; /* bytes */
    int carveout, cluster[3], nonportable_cluster, cluster_policy;
    _Atomic uint64_t resolved; /* id of the bindings with which no symbol is undefined; 0: not known */
};

struct ptxiModule_st {
    struct ptxi_handle handle;
    ptxiContext ctx;
    struct ptxiModule_st *next, **link; /* the context's list */
    const struct ptxi_profile *profile; /* the context's, or that of the module's target */
    char *name;                         /* file name for messages */
    char *text;                         /* for reports */
    struct ptxi_texts texts;            /* the parts of `text` */
    bool of_library;                    /* a library unloads it */
    bool contract, as_written;          /* the compiler's options */
    unsigned max_registers;             /* of kernels without .maxnreg; 0: no limit */

    struct ptxi_arena arena;
    struct ptxi_module_ast *tree;
    struct ptxi_layout *layout;
    struct ptxi_heap_block *constants;  /* the constant bank, or NULL */
    struct ptxi_bindings *bindings;     /* of functions without a body; NULL: not created yet. Under the lock */
    uint64_t *globals;                  /* addresses, in the order of layout->globals */
    char *function_addresses;           /* of functions; reserved, and not used as memory */
    struct ptxiFunction_st *kernels;    /* in the order of the text */
    unsigned kernel_count;
    struct ptxi_kernel_entry *by_name;  /* hash table */

    struct reference *references;       /* list of texture and surface references that the program has requested */
    void (*free_references)(struct reference *list); /* of texref.c; set when there are some */

    pthread_mutex_t lock;               /* of compilation, the arena and the attributes of kernels */
    struct ptxi_variant variants[PTXI_VARIANTS]; /* by flags */
    struct ptxi_fault_log *fault_log;   /* of accesses after which threads continue; NULL: none yet. Under the lock */
};

/* Options of a module. */
struct ptxi_module_options {
    const char *name; /* file name for messages */
    bool no_contract; /* never contract mul and add to fma */
    bool as_written;  /* execute the text as written, like ptxas without optimisation */
    bool strict;      /* refuse modules for other devices */
    bool resolved;    /* refuse modules with undefined symbols */
    bool of_library;  /* only a library unloads the module */
    unsigned dialect; /* bits of ptxiDialect, in addition to the context's */
    unsigned max_registers; /* of kernels without .maxnreg; 0: no limit */
};

/* Parses, checks and lays out a module, and does not publish its handle. `text` is malloc'ed; the module owns it on
 * success. The strings of `texts` are in `text`. The array is in the arena of `diags`, or static. */
ptxiResult ptxi_module_create(ptxiContext ctx, char *text, const struct ptxi_texts *texts,
                              const struct ptxi_module_options *options,
                              struct ptxi_diag *diags, ptxiModule *module);
bool ptxi_module_publish(ptxiModule m); /* the module and its kernels; false: no memory */
void ptxi_module_free(ptxiModule m); /* now, or at the end of the call if it holds the module; no other call uses it */

/* Unloads a module that the call holds, after all launches and other calls that use it. */
ptxiResult ptxi_module_unload(ptxiModule m);

/* The begin of calls on modules and functions: ptxi_api_context(), and a check of the handle. The call holds the
 * module. */
ptxiResult ptxi_api_module(ptxiModule m);
ptxiResult ptxi_api_function(ptxiFunction f);

/* Returns a function's code, and compiles it on first use. Any thread may call this. NULL: the function has no body,
 * there is no memory, or the function is too large for bytecode. */
const struct ptxi_code *ptxi_module_code(ptxiModule m, uint32_t function, unsigned variant);

size_t ptxi_module_param_bytes(ptxiFunction f); /* size of all parameters */

/* Finds the function or the variable of that name. The call holds the module. */
ptxiResult ptxi_module_get_function(ptxiModule m, const char *name, ptxiFunction *f);
ptxiResult ptxi_module_get_global(ptxiModule m, const char *name, ptxiDevicePtr *dptr, size_t *bytes);

void ptxi_modules_free_all(ptxiContext ctx);

/* Write "name(.u64 a, .f32 b)" and ".u64 a". */
void ptxi_signature(const struct ptxiFunction_st *f, struct ptxi_str *out);
void ptxi_signature_param(const struct ptxi_var *v, struct ptxi_str *out);

/* function.c: what the entry points on functions and on kernels of libraries share. */
ptxiResult ptxi_function_param_info(ptxiFunction f, size_t index, size_t *offset, size_t *size);
ptxiResult ptxi_function_check_cache_config(ptxiFuncCache config);

/* Returns the text of `s` to the program, which frees it with ptxiFree(). Frees `s`. */
ptxiResult ptxi_api_give_text(struct ptxi_str *s, char **text);

/* The log of the module's launches. NULL if there is no memory. */
struct ptxi_fault_log *ptxi_module_fault_log(ptxiModule m);

/* The program that launches run. NULL if there is no memory. */
const struct ptxi_program *ptxi_module_program(ptxiModule m, unsigned variant);

#endif
