/* ptxi config: the directories that compilers and loaders need. */
#include "locate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIBS = 256, LIBRARY_PATH };

static int print(const struct cmd_libraries *l, int what)
{
    char *path = ptxi_cmd_library_path(l, NULL);

    if (!path) {
        ptxi_cmd_error("out of memory");
        return CMD_FAILED;
    }
    if (what == LIBS)
        printf("-L%s\n", l->runtime);
    else if (what == LIBRARY_PATH)
        puts(path);
    else
        printf("--libs          -L%s\n--library-path  %s\n", l->runtime, path);
    free(path);
    return CMD_OK;
}

int ptxi_cmd_config(int argc, char **argv)
{
    static const struct option options[] = {
        { "libs", no_argument, NULL, LIBS }, { "library-path", no_argument, NULL, LIBRARY_PATH },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_libraries libraries;
    int what = 0;

    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case LIBS: case LIBRARY_PATH: what = c; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (optind < argc) {
        ptxi_cmd_error("unexpected argument '%s'", argv[optind]);
        return ptxi_cmd_usage();
    }
    return ptxi_cmd_find_libraries(&libraries) ? print(&libraries, what) : CMD_FAILED;
}
