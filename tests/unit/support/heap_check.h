/* A fixture that checks that a test has freed its memory. */
#ifndef PTXI_TESTS_HEAP_CHECK_H
#define PTXI_TESTS_HEAP_CHECK_H

#include "unit/support/context.h"

#include "api/memory/heap.h"

static inline void close_and_check_heap(void)
{
    close_context();
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
}

#endif
