/* The command `ptxi`: runs, checks and shows PTX without any C code. This file selects the command. */
#include "command.h"

#include "api/inspect/inspect.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int show_help(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary, *help;
} commands[] = {
    { "exec", ptxi_cmd_exec, "run a program that was made for a GPU", ptxi_cmd_exec_help },
    { "doctor", ptxi_cmd_doctor, "check whether such a program can run", ptxi_cmd_doctor_help },
    { "run", ptxi_cmd_run, "launch a kernel", ptxi_cmd_run_help },
    { "check", ptxi_cmd_check, "check files, and whether they can be executed", ptxi_cmd_check_help },
    { "list", ptxi_cmd_list, "list kernels with their signatures and resources", ptxi_cmd_list_help },
    { "dump", ptxi_cmd_dump, "show bytecode", ptxi_cmd_dump_help },
    { "extract", ptxi_cmd_extract, "write the PTX in executables, objects and fat binaries to files",
      ptxi_cmd_extract_help },
    { "layout", ptxi_cmd_layout, "draw where the elements of a matrix are", ptxi_cmd_layout_help },
    { "config", ptxi_cmd_config, "show the directories that compilers and loaders need", ptxi_cmd_config_help },
    { "help", show_help, "show help", ptxi_cmd_help_help },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const struct command *find(const char *name)
{
    for (unsigned i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static bool is_help(const char *arg)
{
    return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

static void report_unknown(const char *name)
{
    char list[160] = "";
    size_t n = 0;

    for (unsigned i = 0; i < COMMANDS; i++) {
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", commands[i].name);
        assert(n < sizeof list);
    }
    ptxi_cmd_error("unknown command '%s'; the commands are %s", name, list);
}

static int list_commands(void)
{
    puts("Usage: ptxi COMMAND [OPTIONS] FILE...\n\nRun PTX on this machine's processor.\n");
    for (unsigned i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    puts("\n'ptxi help COMMAND' shows the options of a command and examples. 'ptxi --version' shows the version.\n\n"
         "Examples:\n"
         "  ptxi check kernel.ptx\n"
         "  ptxi list kernel.ptx\n"
         "  ptxi run kernel.ptx --block 8 --arg 'f32[8]=ramp' --arg f32=0.5 --out 0");
    return CMD_OK;
}

/* ptxi help [COMMAND] */
static int show_help(int argc, char **argv)
{
    if (argc < 2)
        return list_commands();
    if (is_help(argv[1]))
        return CMD_SHOW_HELP;
    const struct command *c = find(argv[1]);

    if (!c) {
        report_unknown(argv[1]);
        return CMD_USAGE;
    }
    fputs(c->help, stdout);
    return CMD_OK;
}

static int show_version(void)
{
    struct ptxi_build_info build;

    ptxi_inspect_build(&build);
    printf("ptxi %d.%d.%d, %u lanes, CPU level %s\n", PTXI_VERSION_MAJOR, PTXI_VERSION_MINOR, PTXI_VERSION_PATCH,
           build.lanes, build.cpu_level);
    return CMD_OK;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    int status;

    argv[0] = ptxi_cmd_begin(c->name); /* so that messages of getopt_long() begin as ours do */
    status = c->run(argc, argv);
    if (status != CMD_SHOW_HELP)
        return status;
    fputs(c->help, stdout);
    return CMD_OK;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        ptxi_cmd_error("no command given");
        return ptxi_cmd_usage();
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return show_version();
    if (is_help(argv[1]))
        return show_help(argc - 1, argv + 1);
    const struct command *c = find(argv[1]);

    if (c)
        return run_command(c, argc - 1, argv + 1);
    report_unknown(argv[1]);
    return ptxi_cmd_usage();
}

/* Output that is lost to a full disk or a closed pipe is a failure. */
static int flush_output(int status)
{
    if (fflush(stdout) || ferror(stdout)) {
        ptxi_cmd_error("stdout: %s", strerror(errno));
        return status ? status : CMD_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);

    assert(status >= CMD_OK && status < CMD_SHOW_HELP);
    return flush_output(status);
}
