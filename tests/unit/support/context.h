/* The context in which a test runs. */
#ifndef PTXI_TESTS_CONTEXT_H
#define PTXI_TESTS_CONTEXT_H

#include "unit/support/bits.h"

#include "ptxi.h"

#define ok(call) ck_assert_int_eq(call, PTXI_SUCCESS)
#define ck_result(call, result) ck_assert_int_eq(call, result)

static ptxiContext ctx;

static inline void open_context(void)
{
    ok(ptxiInit(0));
    ok(ptxiCtxCreate(&ctx, 0, 0));
}

/* Destroys the context with its modules and its memory. */
static inline void close_context(void)
{
    ok(ptxiCtxDestroy(ctx));
}

#endif
