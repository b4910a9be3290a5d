/* ptxi list: the kernels of files, with their signatures and resources. */
#include "load.h"

#include "api/inspect/inspect.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int attribute(ptxiFunction f, ptxiFunctionAttribute which)
{
    int value = 0;

    ptxiFuncGetAttribute(&value, which, f);
    return value;
}

/* Bytes of all parameters together. */
static size_t parameter_bytes(ptxiFunction f)
{
    size_t offset, bytes, end = 0;

    for (size_t i = 0; ptxiFuncGetParamInfo(f, i, &offset, &bytes) == PTXI_SUCCESS; i++) {
        assert(offset >= end);
        end = offset + bytes;
    }
    return end;
}

static void print_resources(ptxiFunction f)
{
    printf("      %d registers; bytes: %zu parameters, %d shared, %d local, %d const; %d threads at most",
           attribute(f, PTXI_FUNC_ATTRIBUTE_NUM_REGS), parameter_bytes(f),
           attribute(f, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), attribute(f, PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
           attribute(f, PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), attribute(f, PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
}

/* The block and the cluster that the kernel requires. */
static void print_requirements(ptxiFunction f)
{
    struct ptxi_kernel_info info = { .block = { 0 } };
    int cluster[3];

    for (int k = 0; k < 3; k++)
        cluster[k] = attribute(f, (ptxiFunctionAttribute)(PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + k));

    ptxi_inspect_kernel(f, &info);
    if (info.block[0])
        printf(", block %u,%u,%u", info.block[0], info.block[1], info.block[2]);
    if (!cluster[0])
        return;
    for (int k = 1; k < 3; k++) /* PTX may omit them */
        cluster[k] = cluster[k] ? cluster[k] : 1;
    printf(", cluster %d,%d,%d", cluster[0], cluster[1], cluster[2]);
}

/* The kernel's name in C++, if it is mangled in the PTX. */
static void print_source_name(ptxiFunction f)
{
    const char *symbol;
    char *name = NULL;

    if (!ptxiFuncGetSourceName(f, &name) && !ptxiFuncGetName(&symbol, f) && strcmp(name, symbol))
        printf("      %s\n", name);
    ptxiFree(name);
}

static bool list_kernel(ptxiFunction f)
{
    char *signature = NULL;
    const char *name = "?";
    int registers;
    ptxiResult r = ptxiFuncGetAttribute(&registers, PTXI_FUNC_ATTRIBUTE_NUM_REGS, f); /* compiles it */

    if (!r)
        r = ptxiFuncGetSignature(f, &signature);
    if (r) {
        ptxiFuncGetName(&name, f);
        ptxi_cmd_error("%s: %s", name, r == PTXI_ERROR_NOT_SUPPORTED ? "the kernel is too large" : ptxi_cmd_result(r));
        return false;
    }
    printf("  %s\n", signature);
    ptxiFree(signature);
    print_source_name(f);
    print_resources(f);
    print_requirements(f);
    putchar('\n');
    return true;
}

static bool list_kernels(ptxiModule m, unsigned count)
{
    ptxiFunction *kernels = calloc(count + 1, sizeof *kernels);
    ptxiResult r = kernels ? ptxiModuleEnumerateFunctions(kernels, count, m) : PTXI_ERROR_OUT_OF_MEMORY;
    bool ok = !r;

    if (r)
        ptxi_cmd_error("%s", ptxi_cmd_result(r));
    for (unsigned i = 0; i < count && !r; i++)
        ok &= list_kernel(kernels[i]);
    free(kernels);
    return ok;
}

static int list_module(ptxiModule m, const char *label, void *ctx)
{
    unsigned count = 0;

    (void)ctx;
    ptxiModuleGetFunctionCount(&count, m);
    printf("%s: ", label);
    ptxi_cmd_print_target(m);
    printf(", %u kernel%s\n", count, count == 1 ? "" : "s");
    return list_kernels(m, count) ? CMD_OK : CMD_FAILED;
}

int ptxi_cmd_list(int argc, char **argv)
{
    static const struct option options[] = {
        { "device", required_argument, NULL, 'd' }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_load_options load = { .quiet = true };
    const char *device = NULL;
    int status = CMD_OK;

    for (int c; (c = getopt_long(argc, argv, "d:h", options, NULL)) != -1;) {
        switch (c) {
        case 'd': device = optarg; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(device))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++)
        status = ptxi_cmd_worse(status, ptxi_cmd_load_each(argv[i], &load, list_module, NULL));
    return status;
}
