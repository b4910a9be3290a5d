/* Shows captured call stacks. */
#ifndef PTXI_API_OBSERVE_HOST_STACK_H
#define PTXI_API_OBSERVE_HOST_STACK_H

#include "api/observe/observe.h"

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* From now on, ptxi_host_stack_capture() captures. */
void ptxi_host_stack_enable(void);

/* Captures the stack of a program that loads the library. NULL: memory is short, or the library is part of the program,
 * whose calls cannot be told from those of the library. */
struct ptxi_host_stack *ptxi_host_stack_take(void);
struct ptxi_host_stack *ptxi_host_stack_copy(const struct ptxi_host_stack *s); /* NULL: memory is short */
/* Bytes, which can be copied. */
size_t ptxi_host_stack_size(const struct ptxi_host_stack *s);

/* The address of the program's code that called the library, or one that is built on it. 0: not known. */
uintptr_t ptxi_host_stack_caller(const struct ptxi_host_stack *s);

/* Appends a line for each call, from the innermost one to main(), but at most `most`, without the calls in this library
 * and in those that are built on it. */
void ptxi_host_stack_print(const struct ptxi_host_stack *s, int most, struct ptxi_str *out);

#endif
