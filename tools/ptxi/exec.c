/* ptxi exec: runs a program that was made for a GPU. The program replaces this process, so its exit status and signals
 * are those of the command. */
#include "locate.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORKERS = 1024 }; /* of ptxiCtxSetWorkers() */

enum { OPT_SCHEDULE = 256, OPT_ON_FAULT, OPT_FILL, OPT_STATS, OPT_TOOLKIT };

/* Set a variable of the program. */
static bool set(const char *variable, const char *value)
{
    if (!setenv(variable, value, 1))
        return true;
    ptxi_cmd_error("%s: %s", variable, strerror(errno));
    return false;
}

static bool set_number(const char *option, const char *variable, unsigned long long least, unsigned long long most)
{
    unsigned long long n;

    if (ptxi_cmd_number(optarg, most, &n) && n >= least)
        return set(variable, optarg);
    ptxi_cmd_error("%s: expected a number from %llu to %llu, got '%s'", option, least, most, optarg);
    return false;
}

static bool set_schedule(void)
{
    unsigned long long unused;

    return ptxi_cmd_schedule("--schedule", optarg, &unused) && set("PTXI_SCHED", optarg);
}

static bool set_on_fault(void)
{
    if (!strcmp(optarg, "fail") || !strcmp(optarg, "report"))
        return set("PTXI_ON_FAULT", optarg);
    ptxi_cmd_error("--on-fault: expected fail or report, got '%s'", optarg);
    return false;
}

/* NVIDIA's Python packages open libraries of the toolkit by path, unless they are loaded. So do those of PyTorch, which
 * are linked with the path of NVIDIA's runtime. */
static bool set_toolkit(void)
{
    const char *rest = getenv("LD_PRELOAD");
    unsigned long long version = 13;
    char list[4096];

    if (optarg && !ptxi_cmd_number(optarg, 99, &version)) {
        ptxi_cmd_error("--toolkit: expected a major version of CUDA, got '%s'", optarg);
        return false;
    }
    int n = snprintf(list, sizeof list, "libcudart.so.%llu:libnvrtc.so.%llu:libnvJitLink.so.%llu%s%s", version, version,
                     version, rest && *rest ? ":" : "", rest ? rest : "");

    if ((size_t)n < sizeof list)
        return set("LD_PRELOAD", list);
    ptxi_cmd_error("LD_PRELOAD is too long");
    return false;
}

static bool set_option(int option)
{
    switch (option) {
    case 'd': return set("PTXI_DEVICE", optarg);
    case 'w': return set_number("--workers", "PTXI_WORKERS", 1, MOST_WORKERS);
    case 'q': return set("PTXI_REPORT", "0");
    case OPT_SCHEDULE: return set_schedule();
    case OPT_ON_FAULT: return set_on_fault();
    case OPT_TOOLKIT: return set_toolkit();
    case OPT_FILL: return set_number("--fill", "PTXI_FILL", 0, 255);
    default: return ptxi_cmd_check_option(option, optarg);
    }
}

/* Sets a variable to `directory`/`name`, and `rest`. */
static bool set_file(const char *variable, const char *directory, const char *name, const char *rest)
{
    char *value = NULL;
    bool ok = asprintf(&value, "%s/%s%s", directory, name, rest) >= 0 && set(variable, value);

    free(value);
    return ok;
}

/* Puts the directory `bin` of the libraries first in PATH. It has an nvcc and a ptxas. Triton uses the ptxas that is in
 * its package, unless it is told another one. */
static bool set_compilers(const char *directory)
{
    const char *path = getenv("PATH");
    char *rest = NULL;
    bool ok = asprintf(&rest, ":%s", path ? path : "") >= 0 && set_file("PATH", directory, "bin", rest);

    free(rest);
    return ok && set_file("TRITON_PTXAS_PATH", directory, "bin/ptxas", "") &&
           set_file("TRITON_PTXAS_BLACKWELL_PATH", directory, "bin/ptxas", "");
}

/* Annotations of NVTX go to this library. */
static bool set_annotations(const char *directory)
{
    const char *const variable = "NVTX_INJECTION64_PATH";

    return !getenv("PTXI_CHECK") || getenv(variable) || set_file(variable, directory, "libcuda.so.1", "");
}

static bool set_paths(bool toolkit)
{
    char directory[PATH_MAX];

    return ptxi_cmd_find_libraries(directory) && ptxi_cmd_set_library_path(directory) &&
           set_annotations(directory) && (!toolkit || set_compilers(directory));
}

/* The process appends to the file. */
static bool set_statistics(const char *file)
{
    FILE *f = strcmp(file, "stderr") ? fopen(file, "w") : NULL;

    if (!f && strcmp(file, "stderr")) {
        ptxi_cmd_error("%s: %s", file, strerror(errno));
        return false;
    }
    if (f)
        fclose(f);
    return set("PTXI_STATS", file);
}

static int execute(char **argv, const char *statistics, bool toolkit)
{
    if (!set_paths(toolkit))
        return CMD_FAILED;
    if (!ptxi_cmd_init()) /* checks PTXI_DEVICE */
        return CMD_USAGE;
    if (statistics && !set_statistics(statistics))
        return CMD_FAILED;
    execvp(argv[0], argv);
    ptxi_cmd_error("%s: %s", argv[0], strerror(errno));
    return errno == ENOENT ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
}

int ptxi_cmd_exec(int argc, char **argv)
{
    static const struct option options[] = {
        { "device", required_argument, NULL, 'd' }, { "workers", required_argument, NULL, 'w' },
        { "schedule", required_argument, NULL, OPT_SCHEDULE }, { "on-fault", required_argument, NULL, OPT_ON_FAULT },
        { "fill", required_argument, NULL, OPT_FILL }, { "stats", optional_argument, NULL, OPT_STATS },
        { "toolkit", optional_argument, NULL, OPT_TOOLKIT },
        CMD_CHECK_OPTIONS,
        { "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    const char *statistics = NULL;
    bool toolkit = false;

    if (!set("PTXI_REPORT", "1"))
        return CMD_FAILED;
    for (int c; (c = getopt_long(argc, argv, "+d:w:qh", options, NULL)) != -1;) {
        if (c == 'h')
            return CMD_SHOW_HELP;
        if (c == '?')
            return ptxi_cmd_usage();
        toolkit |= c == OPT_TOOLKIT;
        if (c == OPT_STATS)
            statistics = optarg ? optarg : "stderr";
        else if (!set_option(c))
            return ptxi_cmd_usage();
    }
    if (optind < argc)
        return execute(argv + optind, statistics, toolkit);
    ptxi_cmd_error("no program given");
    return ptxi_cmd_usage();
}
