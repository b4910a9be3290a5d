/* ptxi dump: the bytecode that files are compiled to. */
#include "dump_native.h"
#include "load.h"

#include <getopt.h>
#include <stdio.h>

struct dump {
    const char *function; /* NULL: all */
    bool native;
    bool found;
};

static int dump_module(ptxiModule m, const char *label, void *ctx)
{
    struct dump *d = ctx;
    char *text = NULL;
    ptxiResult r = ptxiModuleDump(m, d->function, &text);

    if (!r)
        fputs(text, stdout);
    if (!r && d->native)
        r = ptxi_cmd_dump_native(m, d->function);
    if (r && r != PTXI_ERROR_NOT_FOUND)
        ptxi_cmd_error("%s: %s", label, ptxi_cmd_result(r));
    ptxiFree(text);
    d->found |= !r;
    return r && r != PTXI_ERROR_NOT_FOUND ? CMD_FAILED : CMD_OK;
}

/* The function has to be in one of the modules of the file. */
static bool dump_file(const char *file, struct dump d, const struct cmd_load_options *options)
{
    if (ptxi_cmd_load_each(file, options, dump_module, &d) != CMD_OK)
        return false;
    if (!d.found)
        ptxi_cmd_error("%s: function '%s' not found, or it has no body", file, d.function);
    return d.found;
}

int ptxi_cmd_dump(int argc, char **argv)
{
    enum { FMAD = 256, NATIVE };
    static const struct option options[] = {
        { "function", required_argument, NULL, 'f' }, { "fmad", required_argument, NULL, FMAD },
        { "native", no_argument, NULL, NATIVE }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_load_options load = { .quiet = true };
    struct dump dump = { .function = NULL };
    bool ok = true, fmad;

    for (int c; (c = getopt_long(argc, argv, "f:h", options, NULL)) != -1;) {
        switch (c) {
        case 'f': dump.function = optarg; break;
        case NATIVE: dump.native = true; break;
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
        ok &= dump_file(argv[i], dump, &load);
    return ok ? CMD_OK : CMD_FAILED;
}
