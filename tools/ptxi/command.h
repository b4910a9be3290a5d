/* Shared by all files of the command `ptxi`: the commands, and functions for messages, numbers and options.
 *
 * main.c has the list of commands, help.c their help texts, and each command has a file with its name. load.h is for
 * commands that read PTX, argument.h and run.h are for `ptxi run`.
 *
 * Results go to stdout, messages to stderr. The function of a command returns the exit status. */
#ifndef PTXI_COMMAND_H
#define PTXI_COMMAND_H

#include "ptxi.h"

#include <stdbool.h>

enum {
    CMD_OK = 0,
    CMD_FAILED = 1,         /* an invalid file or a failed launch */
    CMD_USAGE = 2,          /* an invalid command line */
    CMD_NOT_EXECUTABLE = 3, /* valid files with instructions that cannot be executed yet */
    /* As env(1) and shells. */
    CMD_CANNOT_EXECUTE = 126, /* a program that exists */
    CMD_NOT_FOUND = 127,
    CMD_SHOW_HELP = 256     /* not an exit status: main() prints the help of the command */
};

/* argv[0] is "ptxi NAME". */
int ptxi_cmd_run(int argc, char **argv);
int ptxi_cmd_check(int argc, char **argv);
int ptxi_cmd_list(int argc, char **argv);
int ptxi_cmd_dump(int argc, char **argv);
int ptxi_cmd_extract(int argc, char **argv);
int ptxi_cmd_layout(int argc, char **argv);
int ptxi_cmd_doctor(int argc, char **argv);
int ptxi_cmd_exec(int argc, char **argv);
int ptxi_cmd_config(int argc, char **argv);

/* ---- help.c */

extern const char ptxi_cmd_run_help[], ptxi_cmd_check_help[], ptxi_cmd_list_help[], ptxi_cmd_dump_help[],
    ptxi_cmd_extract_help[], ptxi_cmd_layout_help[], ptxi_cmd_doctor_help[], ptxi_cmd_exec_help[],
    ptxi_cmd_config_help[], ptxi_cmd_help_help[];

/* ---- check_option.c */

enum {
    CMD_OPT_CHECK = 512, CMD_OPT_CHECK_FORMAT, CMD_OPT_CHECK_OUTPUT, CMD_OPT_CHECK_RULES, CMD_OPT_GEN_SUPPRESSIONS
};

/* For the list of options of getopt_long(). */
#define CMD_CHECK_OPTIONS \
    { "check", optional_argument, NULL, CMD_OPT_CHECK }, \
    { "check-format", required_argument, NULL, CMD_OPT_CHECK_FORMAT }, \
    { "check-output", required_argument, NULL, CMD_OPT_CHECK_OUTPUT }, \
    { "check-rules", required_argument, NULL, CMD_OPT_CHECK_RULES }, \
    { "gen-suppressions", optional_argument, NULL, CMD_OPT_GEN_SUPPRESSIONS }

/* Set an option, before the library is initialised. False after a message, or for another option. */
bool ptxi_cmd_check_option(int option, const char *value);

/* Whether a sanitizer has found something in the current context. At the end of a process with status 0, the library
 * replaces the status by one of its own then. */
bool ptxi_cmd_check_found(void);

/* ---- common.c */

/* Set the command that messages name. `name` is static. Returns "ptxi NAME". */
char *ptxi_cmd_begin(const char *name);

/* Print "ptxi NAME: ..." to stderr. */
void ptxi_cmd_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* After a message about the command line: print how to get help, and return CMD_USAGE. */
int ptxi_cmd_usage(void);

/* The description of a result. Static. */
const char *ptxi_cmd_result(ptxiResult r);

/* Read a decimal or hexadecimal number from 0 to `max`. False, without a message, if it is something else. */
bool ptxi_cmd_number(const char *s, unsigned long long max, unsigned long long *value);

/* Read the value of an option such as --fmad=BOOL. False after a message. */
bool ptxi_cmd_bool(const char *option, const char *s, bool *value);

/* Read the value of an option for ptxiCtxSetSchedule(): run, fair or seed:N. False after a message. */
bool ptxi_cmd_schedule(const char *option, const char *s, unsigned long long *schedule);
/* The same for ptxiCtxSetTier(): auto, interpreter or native. */
bool ptxi_cmd_tier(const char *option, const char *s, ptxiTier *tier);

/* Initialise the library. False after a message. */
bool ptxi_cmd_init(void);

/* Initialise the library and make a context current. `device` NULL: the profile that the environment selects. False
 * after a message. */
bool ptxi_cmd_open(const char *device);

/* The device that ptxi_cmd_open() has selected, such as "sm_90", with a suffix if the command line has one. */
const char *ptxi_cmd_device(void);

/* True if there are file names after the options that getopt_long() has read. False after a message. */
bool ptxi_cmd_has_files(int argc);

#endif
