/* Functions that the system provides to kernels: PTX ISA, "Abstracting the ABI"; CUDA C++ Programming Guide,
 * "Formatted Output", "Assertion". */
#ifndef PTXI_EXEC_BUILTIN_BUILTIN_H
#define PTXI_EXEC_BUILTIN_BUILTIN_H

#include "exec/engine/exec.h"

/* Word `word` of the arguments in one lane, 0 where there are fewer, and its first results. */
static inline uint32_t ptxi_builtin_arg32(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return word < c->arg_words ? c->args[word][lane] : 0;
}

static inline uint64_t ptxi_builtin_arg64(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return ptxi_builtin_arg32(c, word, lane) | (uint64_t)ptxi_builtin_arg32(c, word + 1, lane) << 32;
}

static inline void ptxi_builtin_return32(struct ptxi_builtin_call *c, unsigned lane, uint32_t x)
{
    if (!c->ret_words)
        return;
    c->rets[0][lane] = x;
    c->given_words = 1;
}

static inline void ptxi_builtin_return64(struct ptxi_builtin_call *c, unsigned lane, uint64_t x)
{
    ptxi_builtin_return32(c, lane, (uint32_t)x);
    if (c->ret_words < 2)
        return;
    c->rets[1][lane] = (uint32_t)(x >> 32);
    c->given_words = 2;
}

/* Names that compilers leave undefined, and what runs: vprintf and __assertfail are in builtin.c. */
#define PTXI_BUILTINS(X) \
    X(malloc, malloc) X(free, free) \
    X(_Znwm, malloc) X(_Znam, malloc) X(_ZdlPv, free) X(_ZdaPv, free) X(_ZdlPvm, free) X(_ZdaPvm, free) \
    X(__usAtomicCAS, cas16)

ptxi_builtin ptxi_builtin_malloc, ptxi_builtin_free, ptxi_builtin_cas16;

/* The host's address of bytes at a lane's generic address. NULL: the lane may not access all of them so, and the launch has failed. */
unsigned char *ptxi_builtin_pointer(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, size_t bytes, bool write);

/* Whether the launch may go on: no limit of it is exceeded, and it has not failed. Functions that may take long ask
 * before each lane. */
bool ptxi_builtin_may_go_on(struct ptxi_builtin_call *call);

/* A function of the program is called between these two. It may wait for other threads; addresses that were checked
 * before are not used after it. */
void ptxi_builtin_leave(struct ptxi_builtin_call *call);
void ptxi_builtin_return(struct ptxi_builtin_call *call);

/* The function of that name, or NULL. */
ptxi_builtin *ptxi_builtin_find(const char *name);

#endif
