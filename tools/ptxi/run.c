/* ptxi run: launch one kernel with arguments from the command line. */
#include "run.h"

#include "base/paint.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kernel */

static void print_signature(const char *what, ptxiFunction f)
{
    char *signature = NULL;

    if (ptxiFuncGetSignature(f, &signature))
        return;
    fprintf(stderr, "note: %s %s\n", what, signature);
    ptxiFree(signature);
}

enum { MOST_LISTED = 50 };

static void list_kernels(const ptxiFunction *kernels, unsigned count)
{
    unsigned listed = count < MOST_LISTED ? count : MOST_LISTED;

    for (unsigned i = 0; i < listed; i++) {
        char *name = NULL;
        const char *symbol;

        if (!ptxiFuncGetSourceName(kernels[i], &name) && !ptxiFuncGetName(&symbol, kernels[i]) && strcmp(name, symbol))
            fprintf(stderr, "note: %s\n", name);
        ptxiFree(name);
        print_signature("the file has", kernels[i]);
    }
    if (count > listed)
        fprintf(stderr, "note: and %u more, see ptxi list\n", count - listed);
}

/* Find the kernels that the command line names, or all. Returns their number. */
static unsigned find_kernels(const struct run *r, ptxiModule m, ptxiFunction *kernels)
{
    unsigned count = MOST_LISTED;

    if (r->kernel && !ptxiModuleFindFunctions(kernels, &count, m, r->kernel) && count)
        return count;
    if (ptxiModuleGetFunctionCount(&count, m) || ptxiModuleEnumerateFunctions(kernels, MOST_LISTED, m))
        return 0;
    return count;
}

static bool find_kernel(struct run *r, ptxiModule m, const char *file)
{
    ptxiFunction kernels[MOST_LISTED];
    unsigned count = find_kernels(r, m, kernels);
    bool found = count && (!r->kernel || ptxi_cmd_has_kernel(m, r->kernel));

    if (found && count == 1) {
        r->function = kernels[0];
        return true;
    }
    if (r->kernel && found)
        ptxi_cmd_error("%s: %u kernels have the name '%s'", file, count, r->kernel);
    else if (r->kernel)
        ptxi_cmd_error("%s: kernel '%s' not found", file, r->kernel);
    else if (count)
        ptxi_cmd_error("%s: the file has several kernels; select one with --kernel", file);
    else
        ptxi_cmd_error("%s: the file has no kernel", file);
    list_kernels(kernels, count);
    return false;
}

/* ---- its arguments */

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

static unsigned count_parameters(ptxiFunction f)
{
    size_t offset;
    unsigned n = 0;

    while (ptxiFuncGetParamInfo(f, n, &offset, NULL) == PTXI_SUCCESS)
        n++;
    return n;
}

static void describe_arg(char *s, size_t size, const struct cmd_arg *a)
{
    if (a->buffer)
        snprintf(s, size, "a buffer");
    else if (a->count > 1)
        snprintf(s, size, "%zu elements of type %s (%zu bytes)", a->count, a->type->name, a->bytes);
    else
        snprintf(s, size, "%s", a->type->name);
}

/* As PTX declares it: ".align 4 .b8 s[12]". */
static void describe_parameter(char *s, size_t size, const ptxiParam *p)
{
    char align[32] = "", space[32] = "", count[32] = "";

    if (p->count) {
        snprintf(align, sizeof align, ".align %zu ", p->align);
        snprintf(count, sizeof count, "[%zu]", p->count);
    }
    if (p->space)
        snprintf(space, sizeof space, " .ptr .%s", p->space);
    snprintf(s, size, "%s.%s%s %s%s", align, p->type, space, p->name, count);
}

static bool check_arg(const struct run *r, unsigned number)
{
    const struct cmd_arg *a = &r->args[number];
    ptxiParam p = { .size = sizeof p };
    char arg[80], parameter[512];
    ptxiResult e = ptxiFuncGetParam(r->function, number, &p);

    if (e) {
        ptxi_cmd_error("%s", ptxi_cmd_result(e));
        return false;
    }
    if (ptxi_cmd_arg_fits(a, &p))
        return true;
    describe_arg(arg, sizeof arg, a);
    describe_parameter(parameter, sizeof parameter, &p);
    ptxi_cmd_error("argument %u, '%s', is %s, but the parameter is %s", number, a->text, arg, parameter);
    print_signature("the kernel is", r->function);
    return false;
}

static bool check_args(const struct run *r)
{
    unsigned count = count_parameters(r->function);

    if (r->arg_count != count) {
        ptxi_cmd_error("got %u argument%s, but the kernel has %u parameter%s", r->arg_count, plural(r->arg_count),
                       count, plural(count));
        print_signature("the kernel is", r->function);
        return false;
    }
    for (unsigned i = 0; i < count; i++)
        if (!check_arg(r, i))
            return false;
    return true;
}

/* `same:N` must name an argument with a buffer of its own, --out one with a buffer. */
static bool check_buffers(const struct run *r)
{
    for (unsigned i = 0; i < r->arg_count; i++) {
        const struct cmd_arg *a = &r->args[i];

        if (!a->type && (a->same >= r->arg_count || !r->args[a->same].buffer || !r->args[a->same].type)) {
            ptxi_cmd_error("argument %u, '%s': argument %u is not a buffer", i, a->text, a->same);
            return false;
        }
    }
    for (unsigned i = 0; i < r->output_count; i++)
        if (r->outputs[i].arg >= r->arg_count || !r->args[r->outputs[i].arg].buffer) {
            ptxi_cmd_error("--out: argument %u is not a buffer", r->outputs[i].arg);
            return false;
        }
    return true;
}

/* The argument that has the buffer. */
static struct cmd_arg *owner(const struct run *r, unsigned arg)
{
    struct cmd_arg *a = &r->args[arg];

    assert(arg < r->arg_count && a->buffer);
    a = a->type ? a : &r->args[a->same];
    assert(a->type && a->buffer);
    return a;
}

static ptxiResult allocate_buffers(struct run *r)
{
    for (unsigned i = 0; i < r->arg_count; i++) {
        struct cmd_arg *a = &r->args[i];
        bool without = a->buffer && a->type && !a->device;
        ptxiResult e = without ? ptxiMemAlloc(&a->device, a->bytes) : PTXI_SUCCESS;

        if (e)
            return e;
    }
    for (unsigned i = 0; i < r->arg_count; i++)
        r->params[i] = r->args[i].buffer ? (void *)&owner(r, i)->device : r->args[i].data;
    return PTXI_SUCCESS;
}

/* ---- failures */

static int device_attribute(ptxiDeviceAttribute which)
{
    int value = 0;

    ptxiDeviceGetAttribute(&value, which, 0);
    return value;
}

/* The shape of the launch, and what the kernel allows. */
static void print_shape(const struct run *r)
{
    struct ptxi_kernel_info info = { .block_shared = 0 };
    int threads = 0, used = 0;

    ptxi_inspect_kernel(r->function, &info);
    ptxiFuncGetAttribute(&threads, PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, r->function);
    ptxiFuncGetAttribute(&used, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, r->function);
    fprintf(stderr, "note: grid %u,%u,%u, block %u,%u,%u, %u bytes of dynamic shared memory\n", r->grid[0], r->grid[1],
            r->grid[2], r->block[0], r->block[1], r->block[2], r->shared);
    fprintf(stderr, "note: at most: grid %d,%d,%d, %d threads in a block, %d bytes of dynamic shared memory\n",
            device_attribute(PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            device_attribute(PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
            device_attribute(PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z), threads, (int)info.block_shared - used);
    if (r->cluster_count)
        fprintf(stderr, "note: --clusters %llu:%llu; the grid has %llu\n", r->first_cluster, r->cluster_count,
                ptxi_cmd_count_clusters(r));
    if (info.block[0])
        fprintf(stderr, "note: .reqntid requires block %u,%u,%u\n", info.block[0], info.block[1], info.block[2]);
}

/* Instructions that cannot be executed and functions that are too large may be the cause. */
static void print_unsupported(const struct run *r)
{
    ptxiModule m;
    char *text;

    if (ptxiFuncGetModule(&m, r->function) || ptxiModuleGetUnsupported(m, &text))
        return;
    fputs(text, stderr);
    ptxiFree(text);
}

static void print_failure(const struct run *r, ptxiResult e)
{
    ptxiReport report = { .size = sizeof report };

    fflush(stdout);
    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.text) {
        ptxi_paint_write(report.text, stderr);
        return;
    }
    ptxi_cmd_error("%s", ptxi_cmd_result(e));
    if (e == PTXI_ERROR_INVALID_VALUE)
        print_shape(r);
    if (e == PTXI_ERROR_NOT_SUPPORTED || e == PTXI_ERROR_INVALID_VALUE)
        print_unsupported(r);
}

/* ---- output */

static bool write_file(const char *file, const unsigned char *data, size_t bytes)
{
    FILE *f = fopen(file, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;

    if (f && fclose(f))
        ok = false;
    if (!ok)
        ptxi_cmd_error("%s: %s", file, strerror(errno));
    return ok;
}

static bool show_output(const struct run *r, const struct run_output *o, bool title)
{
    const struct cmd_arg *a = owner(r, o->arg);
    ptxiResult e = ptxiMemcpyDtoH(a->data, a->device, a->bytes);

    if (e) {
        ptxi_cmd_error("%s", ptxi_cmd_result(e));
        return false;
    }
    if (o->file)
        return write_file(o->file, a->data, a->bytes);
    if (title)
        printf("argument %u, %s[%zu]\n", o->arg, a->type->name, a->count);
    ptxi_cmd_print(a->type, a->data, a->count, r->hex);
    return true;
}

static bool show_outputs(const struct run *r)
{
    unsigned printed = 0;

    for (unsigned i = 0; i < r->output_count; i++)
        printed += !r->outputs[i].file;
    for (unsigned i = 0; i < r->output_count; i++)
        if (!show_output(r, &r->outputs[i], printed > 1))
            return false;
    return true;
}

/* ---- the command */

static ptxiResult set_context(const struct run *r)
{
    ptxiResult e = PTXI_SUCCESS;

    if (r->workers)
        e = ptxiCtxSetWorkers(NULL, r->workers);
    if (!e && r->schedule_given)
        e = ptxiCtxSetSchedule(NULL, r->schedule);
    if (!e && r->tier_given)
        e = ptxiCtxSetTier(NULL, r->tier);
    if (!e && r->on_fault_given)
        e = ptxiCtxSetOnFault(NULL, r->on_fault);
    if (!e && r->unchecked)
        e = ptxiCtxSetChecking(NULL, 0);
    if (!e && r->budget)
        e = ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, r->budget);
    if (!e && r->milliseconds)
        e = ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, r->milliseconds);
    return e;
}

/* The block that .reqntid requires, and the limit of shared memory. */
static ptxiResult set_function(struct run *r)
{
    struct ptxi_kernel_info info = { .block = { 0 } };
    int limit = 0;
    ptxiResult e = ptxi_inspect_kernel(r->function, &info);

    if (!e && info.block[0] && !r->block_given)
        memcpy(r->block, info.block, sizeof r->block);
    if (!e)
        e = ptxiFuncGetAttribute(&limit, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, r->function);
    if (!e && r->shared > (unsigned)limit)
        e = ptxiFuncSetAttribute(r->function, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)r->shared);
    return e;
}

static ptxiResult execute(struct run *r)
{
    ptxiResult e = set_context(r);

    if (!e)
        e = set_function(r);
    if (!e)
        e = allocate_buffers(r);
    return e ? e : ptxi_cmd_launch(r);
}

static int run_files(struct run *r, char **files, int count)
{
    if (!ptxi_cmd_open(r->device))
        return CMD_USAGE;
    if (!ptxi_cmd_resume(r))
        return CMD_FAILED;
    ptxiModule m = ptxi_cmd_link(files, count, r->kernel, &r->load);

    if (!m)
        return CMD_FAILED;
    if (ptxi_inspect_waiting_modules()) {
        ptxi_cmd_error("%s: %s has changed since the checkpoint", r->checkpoint, files[0]);
        return CMD_FAILED;
    }
    if (!find_kernel(r, m, files[0]) || !check_args(r) || !check_buffers(r))
        return CMD_USAGE;
    ptxiResult e = execute(r);

    if (e) {
        if (ptxi_cmd_check_found()) /* its report has the failure */
            return CMD_OK;
        print_failure(r, e);
        return CMD_FAILED;
    }
    return show_outputs(r) ? CMD_OK : CMD_FAILED;
}

static bool check_options(const struct run *r)
{
    if (r->resume && !r->checkpoint)
        ptxi_cmd_error("--resume needs --checkpoint FILE");
    else if (r->checkpoint && (r->repeat || r->seeds || r->cluster_count || r->shards || r->cooperative))
        ptxi_cmd_error("--checkpoint is for one launch of a whole grid: not with --repeat, --schedules, --clusters, "
                       "--shard or --cooperative");
    else
        return true;
    return false;
}

static int parse_and_run(struct run *r, int argc, char **argv)
{
    for (int c; (c = getopt_long(argc, argv, ptxi_cmd_run_letters, ptxi_cmd_run_options, NULL)) != -1;) {
        if (c == 'h')
            return CMD_SHOW_HELP;
        if (!ptxi_cmd_run_option(r, c))
            return ptxi_cmd_usage();
    }
    assert(r->arg_count < (unsigned)argc && r->output_count < (unsigned)argc);
    if (!ptxi_cmd_has_files(argc))
        return CMD_USAGE;
    return check_options(r) ? run_files(r, argv + optind, argc - optind) : CMD_USAGE;
}

int ptxi_cmd_run(int argc, char **argv)
{
    size_t room = (size_t)argc;
    struct run r = {
        .grid = { 1, 1, 1 },
        .block = { 1, 1, 1 },
        .every = 10,
        .args = calloc(room, sizeof *r.args),
        .outputs = calloc(room, sizeof *r.outputs),
        .params = calloc(room, sizeof *r.params),
    };
    int status = CMD_FAILED;

    if (r.args && r.outputs && r.params)
        status = parse_and_run(&r, argc, argv);
    else
        ptxi_cmd_error("out of memory");
    for (unsigned i = 0; i < r.arg_count; i++)
        free(r.args[i].data);
    free(r.args);
    free(r.outputs);
    free(r.params);
    return status;
}
