/* The `ptxi` command: run, check and look into PTX without writing C. */
#include "cmd.h"

#include "exec/engine/exec.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char program[40] = "ptxi"; /* "ptxi run" */
static const char *command;

void ptxi_cmd_error(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fprintf(stderr, "%s: ", program);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

int ptxi_cmd_usage(void)
{
    fprintf(stderr, "Try 'ptxi help%s%s'.\n", command ? " " : "", command ? command : "");
    return CMD_USAGE;
}

const char *ptxi_cmd_result(ptxiResult r)
{
    const char *s = NULL;

    ptxiGetErrorString(r, &s);
    return s ? s : "an unknown error";
}

bool ptxi_cmd_number(const char *s, unsigned long long max, unsigned long long *value)
{
    char *end;

    errno = 0;
    if (*s < '0' || *s > '9')
        return false;
    *value = strtoull(s, &end, strncmp(s, "0x", 2) ? 10 : 16);
    return !*end && !errno && *value <= max;
}

bool ptxi_cmd_bool(const char *option, const char *s, bool *value)
{
    *value = !strcmp(s, "true") || !strcmp(s, "1");
    if (*value || !strcmp(s, "false") || !strcmp(s, "0"))
        return true;
    ptxi_cmd_error("%s: true or false, not '%s'", option, s);
    return false;
}

static void list_devices(void)
{
    const char *name;

    fputs("known:", stderr);
    for (unsigned i = 0; ptxiDeviceEnumerateProfile(&name, i) == PTXI_SUCCESS; i++)
        fprintf(stderr, " %s", name);
    fputc('\n', stderr);
}

bool ptxi_cmd_open(const char *device)
{
    ptxiContext ctx;
    ptxiResult r = ptxiInit(0);

    if (r == PTXI_ERROR_INVALID_DEVICE) {
        ptxi_cmd_error("PTXI_DEVICE names no known device");
        list_devices();
        return false;
    }
    if (!r && device && (r = ptxiDeviceSetProfile(0, device))) {
        ptxi_cmd_error("no device '%s'", device);
        list_devices();
        return false;
    }
    if (!r)
        r = ptxiCtxCreate(&ctx, 0, 0);
    if (r)
        ptxi_cmd_error("%s", ptxi_cmd_result(r));
    return !r;
}

bool ptxi_cmd_has_files(int argc)
{
    if (optind < argc)
        return true;
    ptxi_cmd_error("which file?");
    ptxi_cmd_usage();
    return false;
}

static int version(void)
{
    printf("ptxi %d.%d.%d, %d lanes, CPU level %s\n", PTXI_VERSION_MAJOR, PTXI_VERSION_MINOR, PTXI_VERSION_PATCH, PTXI_LANES,
           ptxi_exec_level_name());
    return CMD_OK;
}

static const struct cmd *find(const char *name)
{
    for (const struct cmd *c = ptxi_cmds; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

int ptxi_cmd_help(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        argv[1] = "help";
    const struct cmd *c = argc > 1 ? find(argv[1]) : NULL;

    if (argc > 1 && !c) {
        ptxi_cmd_error("no command '%s'", argv[1]);
        return CMD_USAGE;
    }
    if (c) {
        fputs(c->help, stdout);
        return CMD_OK;
    }
    puts("Usage: ptxi COMMAND [OPTIONS] FILE...\n\nRun PTX on this machine's processor.\n");
    for (c = ptxi_cmds; c->name; c++)
        printf("  %-8s %s\n", c->name, c->summary);
    puts("\n'ptxi help COMMAND' shows a command's options and examples; 'ptxi --version' the version.");
    return CMD_OK;
}

/* What a full disk or a closed pipe swallowed is a failure. */
static int finish(int status)
{
    if (fflush(stdout) || ferror(stdout)) {
        ptxi_cmd_error("stdout: %s", strerror(errno));
        return status ? status : CMD_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    const struct cmd *c;

    if (argc < 2) {
        ptxi_cmd_error("no command given");
        return ptxi_cmd_usage();
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return finish(version());
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        argv[1] = "help";
    c = find(argv[1]);
    if (!c) {
        ptxi_cmd_error("no command '%s'", argv[1]);
        return ptxi_cmd_usage();
    }
    command = c->name;
    snprintf(program, sizeof program, "ptxi %s", c->name);
    argv[1] = program; /* so that getopt's own messages begin as ours do */
    return finish(c->run(argc - 1, argv + 1));
}
