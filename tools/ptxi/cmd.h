/* What the files of the `ptxi` command share. cmd_main.c begins, cmd_help.c holds the words, and each command has a file:
 * cmd_run.c with cmd_value.c and cmd_print.c, cmd_check.c, cmd_list.c (list and dump),
 * cmd_layout.c.
 *
 * Results go to stdout, everything else to stderr. A command's function returns the exit status. */
#ifndef PTXI_CMD_H
#define PTXI_CMD_H

#include "ptxi.h"

#include "base/str.h"
#include "parse/ast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_NOT_EXECUTABLE = 3 };

struct cmd {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "ptxi NAME" */
    const char *summary, *help;
};

extern const struct cmd ptxi_cmds[]; /* ends with a NULL name */

int ptxi_cmd_run(int argc, char **argv);
int ptxi_cmd_check(int argc, char **argv);
int ptxi_cmd_list(int argc, char **argv);
int ptxi_cmd_dump(int argc, char **argv);
int ptxi_cmd_layout(int argc, char **argv);
int ptxi_cmd_help(int argc, char **argv);

/* ---- cmd_main.c */

/* "ptxi run: ..." to stderr. */
void ptxi_cmd_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For a bad command line: says where help is; CMD_USAGE. */
int ptxi_cmd_usage(void);

/* The name of an error, for people. */
const char *ptxi_cmd_result(ptxiResult r);

/* A whole number from 0 to max, also in hexadecimal. */
bool ptxi_cmd_number(const char *s, unsigned long long max, unsigned long long *value);

/* --fmad=BOOL and its like; false after a message. */
bool ptxi_cmd_bool(const char *option, const char *s, bool *value);

/* Make a context current. `device` NULL: what the environment says. Messages are its own. */
bool ptxi_cmd_open(const char *device);

/* Whether there are files behind the options that getopt_long() has read; false after a message. */
bool ptxi_cmd_has_files(int argc);

/* ---- cmd_load.c */

struct cmd_load_options {
    bool no_contract, strict, quiet; /* quiet: no warnings */
};

/* All of a file, "-" being stdin, which has at most `most` bytes; NULL after a message. The caller frees it. */
char *ptxi_cmd_read(const char *file, size_t most, size_t *size);

/* Load a file, printing what there is to say about its text; NULL if it is not valid. */
ptxiModule ptxi_cmd_load(const char *file, const struct cmd_load_options *options);

/* Load files as one module; a single one as above. */
ptxiModule ptxi_cmd_link(char **files, int count, const struct cmd_load_options *options);

/* "PTX 8.7, sm_90a" */
void ptxi_cmd_target(ptxiModule m, struct ptxi_str *out);

/* ---- cmd_value.c: values on the command line */

enum cmd_class { CMD_BITS, CMD_UNSIGNED, CMD_SIGNED, CMD_FLOAT };

struct cmd_type {
    const char *name;
    uint8_t size; /* bytes */
    uint8_t class;
};

/* Argument number `index` of a kernel, as TYPE=VALUE or TYPE[COUNT]=CONTENTS. */
struct cmd_arg {
    const char *text;
    const struct cmd_type *type; /* NULL: the buffer of argument `same` */
    bool buffer;
    unsigned same;
    size_t count, bytes;
    unsigned char *data;  /* initial contents, or the value */
    ptxiDevicePtr device; /* of a buffer, once it has been allocated */
};

/* Read an argument. False with *why, a sentence. */
bool ptxi_cmd_parse_arg(struct cmd_arg *a, const char *text, struct ptxi_str *why);

/* Whether the kernel's parameter can take the argument. */
bool ptxi_cmd_arg_fits(const struct cmd_arg *a, const struct ptxi_var *param);

/* ---- cmd_print.c */

/* The elements in columns, a row's first index before it. */
void ptxi_cmd_print(const struct cmd_type *type, const unsigned char *data, size_t count, bool hex);

#endif
