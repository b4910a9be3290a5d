/* ptxi dump: the bytecode that files are compiled to. */
#include "load.h"

#include <getopt.h>
#include <stdio.h>

static bool dump_file(const char *file, const char *function, const struct cmd_load_options *options)
{
    ptxiModule m = ptxi_cmd_load(file, options);
    char *text = NULL;

    if (!m)
        return false;
    ptxiResult r = ptxiModuleDump(m, function, &text);

    if (r == PTXI_ERROR_NOT_FOUND)
        ptxi_cmd_error("%s: function '%s' not found, or it has no body", file, function);
    else if (r)
        ptxi_cmd_error("%s: %s", file, ptxi_cmd_result(r));
    else
        fputs(text, stdout);
    ptxiFree(text);
    ptxiModuleUnload(m);
    return !r;
}

int ptxi_cmd_dump(int argc, char **argv)
{
    enum { FMAD = 256 };
    static const struct option options[] = {
        { "function", required_argument, NULL, 'f' }, { "fmad", required_argument, NULL, FMAD },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_load_options load = { .quiet = true };
    const char *function = NULL;
    bool ok = true, fmad;

    for (int c; (c = getopt_long(argc, argv, "f:h", options, NULL)) != -1;) {
        switch (c) {
        case 'f': function = optarg; break;
        case FMAD:
            if (!ptxi_cmd_bool("--fmad", optarg, &fmad))
                return ptxi_cmd_usage();
            load.no_contract = !fmad;
            break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(NULL))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++)
        ok &= dump_file(argv[i], function, &load);
    return ok ? CMD_OK : CMD_FAILED;
}
