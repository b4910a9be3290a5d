/* ptxi config: the directories that compilers and loaders need. */
#include "locate.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { LIBS = 256, LIBRARY_PATH };

/* Print the option of the linker for a version of CUDA. NULL: the newest. Versions other than the newest have a
 * directory of their own. */
static int print_libs(const char *directory, const char *version)
{
    char name[64], own[PATH_MAX];

    snprintf(name, sizeof name, "libcudart.so.%s", version ? version : "");
    snprintf(own, sizeof own, "%.*s/cuda%.8s", PATH_MAX - 16, directory, version ? version : "");
    if (version && ptxi_cmd_has_file(own, name))
        directory = own;
    else if (version && (strchr(version, '/') || !ptxi_cmd_has_file(directory, name))) {
        ptxi_cmd_error("--libs: there is no %s in %s", name, directory);
        return CMD_FAILED;
    }
    printf("-L%s\n", directory);
    return CMD_OK;
}

int ptxi_cmd_config(int argc, char **argv)
{
    static const struct option options[] = {
        { "libs", optional_argument, NULL, LIBS }, { "library-path", no_argument, NULL, LIBRARY_PATH },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    const char *version = NULL;
    char directory[PATH_MAX];
    int what = 0;

    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case LIBS: what = c; version = optarg; break;
        case LIBRARY_PATH: what = c; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (optind < argc || !what) {
        ptxi_cmd_error(what ? "unexpected argument '%s'" : "no option given", argv[optind]);
        return ptxi_cmd_usage();
    }
    if (!ptxi_cmd_find_libraries(directory))
        return CMD_FAILED;
    if (what == LIBS)
        return print_libs(directory, version);
    puts(directory);
    return CMD_OK;
}
