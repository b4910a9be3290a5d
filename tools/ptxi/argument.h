/* Arguments of kernels on the command line, and values of their types. */
#ifndef PTXI_ARGUMENT_H
#define PTXI_ARGUMENT_H

#include "ptxi.h"

#include "api/inspect/inspect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmd_class { CMD_BITS, CMD_UNSIGNED, CMD_SIGNED, CMD_FLOAT };

struct cmd_type {
    const char *name;
    uint8_t size;                  /* bytes */
    enum cmd_class class;
    enum ptxi_float_format format; /* of CMD_FLOAT */
};

/* An argument of a kernel: TYPE=VALUE, TYPE[COUNT]=CONTENTS, or same:N. */
struct cmd_arg {
    const char *text;            /* as on the command line */
    const struct cmd_type *type; /* NULL: the buffer of argument `same` */
    bool buffer;                 /* the argument is the address of a buffer */
    unsigned same;
    size_t count, bytes;         /* number of elements, and their size in bytes */
    unsigned char *data;         /* the value, or the initial contents of the buffer; malloc'ed */
    ptxiDevicePtr device;        /* address of the buffer, after it has been allocated */
};

/* Read an argument. After false, *why is a message, which the caller frees with free(), or NULL if memory is short. The
 * data belongs to the caller in any case. */
bool ptxi_cmd_parse_arg(struct cmd_arg *a, const char *text, char **why);

/* Whether a kernel's parameter can take the argument. */
bool ptxi_cmd_arg_fits(const struct cmd_arg *a, const ptxiParam *param);

/* ---- print.c */

/* Print the elements in columns. A row begins with the index of its first element. */
void ptxi_cmd_print(const struct cmd_type *type, const unsigned char *data, size_t count, bool hex);

#endif
