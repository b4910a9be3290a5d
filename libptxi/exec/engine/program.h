/* A module's functions as the engine calls them: bytecode, functions that the host provides, and the heap of kernels.
 */
#ifndef PTXI_EXEC_ENGINE_PROGRAM_H
#define PTXI_EXEC_ENGINE_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/bytecode.h"

struct ptxi_warp;

/* Maximum number of words of arguments and results of a host function. Further ones are dropped. */
enum { PTXI_MAX_BUILTIN_WORDS = 1024 };

/* A call of a host function by some lanes of a warp. Each argument word and each result word is a vector of PTXI_LANES
 * 32-bit elements. */
struct ptxi_builtin_call {
    struct ptxi_warp *warp;
    const struct ptxi_insn *insn;
    uint64_t lanes;              /* lanes that call */
    const uint32_t *const *args; /* lane vector of each argument word */
    uint32_t *const *rets;       /* lane vector of each result word */
    uint32_t arg_words, ret_words;
    uint32_t given_words;        /* number of result words that the function has written */
};

/* A function that the host provides in place of PTX. Returns false after ptxi_fault(). */
typedef bool ptxi_builtin(struct ptxi_builtin_call *call, void *user);

/* The host function that replaces a function without a body. */
struct ptxi_binding {
    ptxi_builtin *call; /* NULL: the function is not bound, or has a body */
    void *user;
};

struct ptxi_callee {
    _Atomic(const struct ptxi_code *) code; /* NULL until it is compiled */
    _Atomic(const char *) too_large;        /* the limit that it exceeds, if it cannot be compiled; else NULL */
    bool without_body;                      /* it may have a binding */
    const char *name;
};

struct ptxi_program {
    struct ptxi_callee *functions;
    uint32_t function_count;
    /* Compiles a function on its first call. Any thread. NULL if it has no body or memory is short. */
    const struct ptxi_code *(*compile)(void *ctx, uint32_t function);
    /* The index of the function with this address, or UINT32_MAX. */
    uint32_t (*function_at)(void *ctx, uint64_t address);
    void *ctx;
    unsigned char *const_bank; /* constants; the memory map has them, too */
    uint64_t const_size;
};

enum ptxi_heap_result { PTXI_HEAP_OK, PTXI_HEAP_WILD, PTXI_HEAP_TWICE };

/* malloc and free of kernels. Any thread. */
struct ptxi_kernel_heap {
    uint64_t (*get)(void *ctx, uint64_t bytes); /* 0: memory is short */
    enum ptxi_heap_result (*put)(void *ctx, uint64_t address);
};

#endif
