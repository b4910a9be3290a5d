/* ptxi list and ptxi dump: what is in a file, and what it is compiled to. */
#include "cmd.h"

#include "api/module/module.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static int attribute(ptxiFunction f, ptxiFunctionAttribute which)
{
    int value = 0;

    ptxiFuncGetAttribute(&value, which, f);
    return value;
}

static void triple(struct ptxi_str *s, const char *what, const uint32_t v[3])
{
    if (v[0])
        ptxi_str_printf(s, ", %s %u,%u,%u", what, v[0], v[1] ? v[1] : 1, v[2] ? v[2] : 1);
}

static bool list_kernel(ptxiFunction f)
{
    const struct ptxi_func *k = f->func;
    const struct ptxi_code *code = ptxi_module_code(f->module, k->index, false);
    struct ptxi_str s;

    if (!code) {
        ptxi_cmd_error("%s: too large, or not enough memory", k->name->s);
        return false;
    }
    ptxi_str_init(&s, NULL);
    ptxi_str_puts(&s, "  ");
    ptxi_signature(f, &s);
    ptxi_str_printf(&s, "\n      %d registers; bytes: %u parameters, %d shared, %d local, %d const; %d threads at most",
                    attribute(f, PTXI_FUNC_ATTRIBUTE_NUM_REGS), code->param_bytes, attribute(f, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                    attribute(f, PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), attribute(f, PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
                    attribute(f, PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    triple(&s, "block", k->reqntid);
    triple(&s, "cluster", k->cluster);
    puts(ptxi_str_text(&s));
    ptxi_str_free(&s);
    return true;
}

static bool list_file(const char *file)
{
    ptxiModule m = ptxi_cmd_load(file, &(struct cmd_load_options){ .quiet = true });
    struct ptxi_str s;
    bool ok = true;

    if (!m)
        return false;
    ptxi_str_init(&s, NULL);
    ptxi_cmd_target(m, &s);
    printf("%s: %s, %u kernel%s\n", file, ptxi_str_text(&s), m->kernel_count, m->kernel_count == 1 ? "" : "s");
    ptxi_str_free(&s);
    for (unsigned i = 0; i < m->kernel_count; i++)
        ok &= list_kernel(&m->kernels[i]);
    ptxiModuleUnload(m);
    return ok;
}

int ptxi_cmd_list(int argc, char **argv)
{
    static const struct option options[] = {
        { "device", required_argument, NULL, 'd' }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    const char *device = NULL;
    bool ok = true;

    for (int c; (c = getopt_long(argc, argv, "d:h", options, NULL)) != -1;) {
        switch (c) {
        case 'd': device = optarg; break;
        case 'h': return ptxi_cmd_help(2, (char *[]){ argv[0], "list" });
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(device))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++)
        ok &= list_file(argv[i]);
    return ok ? CMD_OK : CMD_FAILED;
}

/* ---- dump */

static bool dump_file(const char *file, const char *function, const struct cmd_load_options *options)
{
    ptxiModule m = ptxi_cmd_load(file, options);
    char *text = NULL;

    if (!m)
        return false;
    ptxiResult r = ptxiModuleDump(m, function, &text);

    if (r == PTXI_ERROR_NOT_FOUND)
        ptxi_cmd_error("%s: no function '%s' with a body", file, function);
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
        { "function", required_argument, NULL, 'f' }, { "fmad", required_argument, NULL, FMAD }, { "help", no_argument, NULL, 'h' }, { 0 },
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
        case 'h': return ptxi_cmd_help(2, (char *[]){ argv[0], "dump" });
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(NULL))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++)
        ok &= dump_file(argv[i], function, &load);
    return ok ? CMD_OK : CMD_FAILED;
}
