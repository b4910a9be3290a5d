/* Calls of ptxi.h with any arguments: calls.gen.c, made by calls.awk, has them; calls.c says what the arguments are. */
#ifndef PTXI_TESTS_CALLS_H
#define PTXI_TESTS_CALLS_H

#include "ptxi.h"

struct call {
    const char *name;
    ptxiResult (*with_any_arguments)(void);
};

extern const struct call calls[];
extern const unsigned call_count;

/* A value of that type ("function" for pointers to functions) for the parameter of that name, as a number. */
unsigned long long argument(const char *type, const char *name);

#endif
