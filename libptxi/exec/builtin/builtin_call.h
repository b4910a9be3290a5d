/* A call of a host function by a kernel: its arguments and results, and access to the memory of kernels. */
#ifndef PTXI_EXEC_BUILTIN_BUILTIN_CALL_H
#define PTXI_EXEC_BUILTIN_BUILTIN_CALL_H

#include "exec/engine/program.h"

/* Word `word` of the arguments of one lane; 0 if there are fewer words. */
static inline uint32_t ptxi_builtin_arg32(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return word < c->arg_words ? c->args[word][lane] : 0;
}

static inline uint64_t ptxi_builtin_arg64(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return ptxi_builtin_arg32(c, word, lane) | (uint64_t)ptxi_builtin_arg32(c, word + 1, lane) << 32;
}

/* Write the first words of the results of one lane. */
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

/* Copies a string at a lane's generic address, at most size - 1 characters. Returns its length. */
size_t ptxi_builtin_read_string(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, char *to, size_t size);

/* The host address of bytes at a lane's generic address. NULL: the lane may not access all of them, and the launch has
 * failed. */
unsigned char *ptxi_builtin_pointer(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, size_t bytes,
                                    bool write);

/* Whether the launch has not failed and no limit of it is exceeded. Functions that may take long check before each
 * lane. */
bool ptxi_builtin_may_continue(struct ptxi_builtin_call *call);

/* A function of the program is called between these two. It may wait for other threads. Addresses that were checked
 * before the call must not be used after it. */
void ptxi_builtin_leave(struct ptxi_builtin_call *call);
void ptxi_builtin_return(struct ptxi_builtin_call *call);

#endif
