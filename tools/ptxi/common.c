/* Messages, numbers, options and the context of all commands. */
#include "command.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char program[40] = "ptxi"; /* "ptxi run" */
static char selected[32];         /* device */
static const char *command;       /* "run", or NULL before ptxi_cmd_begin() */

char *ptxi_cmd_begin(const char *name)
{
    assert(name && strlen(name) + sizeof "ptxi " <= sizeof program);
    command = name;
    snprintf(program, sizeof program, "ptxi %s", name);
    return program;
}

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
    if (command)
        fprintf(stderr, "Try 'ptxi help %s'.\n", command);
    else
        fputs("Try 'ptxi help'.\n", stderr);
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
    ptxi_cmd_error("%s: expected true or false, got '%s'", option, s);
    return false;
}

/* As PTXI_SCHED. */
static bool parse_seed(const char *s, unsigned long long *seed)
{
    char *end;

    if (*s < '0' || *s > '9')
        return false;
    errno = 0;
    *seed = strtoull(s, &end, 0);
    return !*end && !errno;
}

bool ptxi_cmd_schedule(const char *option, const char *s, unsigned long long *schedule)
{
    if (!strcmp(s, "run"))
        *schedule = PTXI_SCHEDULE_RUN;
    else if (!strcmp(s, "fair"))
        *schedule = PTXI_SCHEDULE_FAIR;
    else if (strncmp(s, "seed:", 5) || !parse_seed(s + 5, schedule)) {
        ptxi_cmd_error("%s: expected run, fair or seed:N, got '%s'", option, s);
        return false;
    }
    return true;
}

bool ptxi_cmd_tier(const char *option, const char *s, ptxiTier *tier)
{
    if (!strcmp(s, "auto"))
        *tier = PTXI_TIER_AUTO;
    else if (!strcmp(s, "interpreter"))
        *tier = PTXI_TIER_INTERPRETER;
    else if (!strcmp(s, "native"))
        *tier = PTXI_TIER_NATIVE;
    else {
        ptxi_cmd_error("%s: expected auto, interpreter or native, got '%s'", option, s);
        return false;
    }
    return true;
}

static void list_devices(void)
{
    const char *name;

    fputs("known devices:", stderr);
    for (unsigned i = 0; ptxiDeviceEnumerateProfile(&name, i) == PTXI_SUCCESS; i++)
        fprintf(stderr, " %s", name);
    fputc('\n', stderr);
}

bool ptxi_cmd_init(void)
{
    ptxiResult r = ptxiInit(0);

    if (r == PTXI_ERROR_INVALID_DEVICE) {
        ptxi_cmd_error("PTXI_DEVICE: unknown device '%s'", getenv("PTXI_DEVICE"));
        list_devices();
    } else if (r) {
        ptxi_cmd_error("%s", ptxi_cmd_result(r));
    }
    return !r;
}

const char *ptxi_cmd_device(void)
{
    return selected;
}

bool ptxi_cmd_open(const char *device)
{
    ptxiContext ctx;
    ptxiResult r;

    if (!ptxi_cmd_init())
        return false;
    if (device && ptxiDeviceSetProfile(0, device)) {
        ptxi_cmd_error("unknown device '%s'", device);
        list_devices();
        return false;
    }
    ptxiDeviceGetProfile(selected, sizeof selected, 0);
    if (device && !strncmp(device, selected, strlen(selected)))
        snprintf(selected, sizeof selected, "%s", device); /* with its suffix */
    r = ptxiCtxCreate(&ctx, 0, 0);
    if (r)
        ptxi_cmd_error("%s", ptxi_cmd_result(r));
    return !r;
}

bool ptxi_cmd_has_files(int argc)
{
    if (optind < argc)
        return true;
    ptxi_cmd_error("no input file");
    ptxi_cmd_usage();
    return false;
}
