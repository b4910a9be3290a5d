/* Shows captured call stacks. */
#ifndef PTXI_API_OBSERVE_HOST_STACK_H
#define PTXI_API_OBSERVE_HOST_STACK_H

#include "api/observe/observe.h"

#include "base/str.h"

/* From now on, ptxi_host_stack_capture() captures. */
void ptxi_host_stack_enable(void);

/* Appends a line for each call, from the innermost one to main(), without the calls in this library and in those that
 * are built on it. */
void ptxi_host_stack_print(const struct ptxi_host_stack *s, struct ptxi_str *out);

#endif
