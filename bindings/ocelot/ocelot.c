/* libgpuocelot.so: ptx_run(), the only call of gpuocelot that tinygrad uses, implemented by libptxi.
 *
 * Pointers among the arguments are addresses of the caller's memory. During a launch, kernels may access the mappings
 * of the process that contain these addresses. An access elsewhere causes a report, not a crash. If the system does
 * not list its mappings, accesses are not checked. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "ptxi.h"

PTXI_API void ptx_run(const char *source, int n_args, void *args[], int blck_x, int blck_y, int blck_z, int grid_x,
                      int grid_y, int grid_z, int shared_mem_size);

enum { MAX_KERNELS = 512, MAX_RANGES = 256, MAX_ARGS = 4096, PAGE = 4096 };

/* A loaded module. */

struct kernel {
    char *source; /* the key */
    ptxiModule module;
    ptxiFunction function;
    size_t parameters;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t lock;
    ptxiContext context;
    struct kernel *kernels; /* least recently used first */
    bool unchecked;         /* memory accesses are not checked */
} ocelot = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool report_error(const char *what, ptxiResult r)
{
    const char *why = NULL;

    ptxiGetErrorString(r, &why);
    fprintf(stderr, "ptx_run: %s: %s\n", what, why ? why : "unknown error");
    return false;
}

static bool check(const char *what, ptxiResult r)
{
    return r == PTXI_SUCCESS || report_error(what, r);
}

/* ---- kernels, by their source text */

static void evict_kernel(struct kernel *k)
{
    HASH_DEL(ocelot.kernels, k);
    ptxiModuleUnload(k->module);
    free(k->source);
    free(k);
}

static bool report_diagnostics(ptxiResult r)
{
    ptxiDiagnostic d = { .size = sizeof d };

    for (unsigned i = 0; ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++)
        fputs(d.text, stderr);
    return report_error("the module does not load_module", r);
}

/* Finds the only kernel of the module and counts its parameters. */
static bool find_entry(struct kernel *k)
{
    unsigned count;
    size_t offset;

    if (!check("the module's kernels", ptxiModuleGetFunctionCount(&count, k->module)))
        return false;
    if (count != 1) {
        fprintf(stderr, "ptx_run: the module has %u kernels, not one\n", count);
        return false;
    }
    ptxiModuleEnumerateFunctions(&k->function, 1, k->module);
    while (ptxiFuncGetParamInfo(k->function, k->parameters, &offset, NULL) == PTXI_SUCCESS)
        k->parameters++;
    return true;
}

static bool load_module(struct kernel *k)
{
    ptxiJitOption option = PTXI_JIT_DIALECT;
    void *value = (void *)(uintptr_t)PTXI_DIALECT_OCELOT;
    ptxiResult r = ptxiModuleLoadDataEx(&k->module, k->source, 1, &option, &value);

    if (r)
        return report_diagnostics(r);
    if (find_entry(k))
        return true;
    ptxiModuleUnload(k->module);
    return false;
}

static struct kernel *new_kernel(const char *source)
{
    struct kernel *k = calloc(1, sizeof *k);

    if (k && (k->source = strdup(source)) && load_module(k))
        return k;
    if (!k || !k->source)
        report_error("the module does not load_module", PTXI_ERROR_OUT_OF_MEMORY);
    if (k)
        free(k->source);
    free(k);
    return NULL;
}

static struct kernel *find_kernel(const char *source)
{
    size_t length = strlen(source);
    struct kernel *k;

    HASH_FIND(hh, ocelot.kernels, source, length, k);
    if (k)
        HASH_DEL(ocelot.kernels, k); /* is added again at the end */
    else if (!(k = new_kernel(source)))
        return NULL;
    HASH_ADD_KEYPTR(hh, ocelot.kernels, k->source, length, k);
    if (HASH_COUNT(ocelot.kernels) > MAX_KERNELS)
        evict_kernel(ocelot.kernels);
    return k;
}

/* ---- memory */

struct range {
    uintptr_t from, to;
};

struct mapping {
    struct range range;
    unsigned flags; /* of ptxiMemOpenRange(); 0 if kernels must not access it */
};

struct ranges {
    struct range open[MAX_RANGES];
    unsigned count;
};

static bool is_open(const struct ranges *r, uintptr_t p)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->open[i].from <= p && p < r->open[i].to)
            return true;
    return false;
}

static uintptr_t subtract_or_zero(uintptr_t p, uintptr_t by)
{
    return p > by ? p - by : 0;
}

/* Opens a mapping. If it overlaps memory that the library knows already, its own for example, opens the largest
 * possible part of it around `p`. */
static void open_around(struct ranges *r, uintptr_t p, const struct mapping *m)
{
    struct range part = m->range;
    uintptr_t reach = part.to - part.from;

    p &= ~(uintptr_t)(PAGE - 1);
    while (r->count < MAX_RANGES && reach >= PAGE) {
        if (ptxiMemOpenRange((void *)part.from, part.to - part.from, m->flags) == PTXI_SUCCESS) {
            r->open[r->count++] = part;
            return;
        }
        reach = reach / 2 & ~(uintptr_t)(PAGE - 1);
        part.from = subtract_or_zero(p, reach);
        if (part.from < m->range.from)
            part.from = m->range.from;
        part.to = p + reach < m->range.to ? p + reach : m->range.to;
    }
}

static void open_for_arguments(struct ranges *r, int n_args, void *const *args, const struct mapping *m)
{
    for (int i = 0; i < n_args && m->flags; i++) {
        uintptr_t p = (uintptr_t)args[i];

        if (m->range.from <= p && p < m->range.to && !is_open(r, p))
            open_around(r, p, m);
    }
}

/* Reads the next line of a file like /proc/self/maps, "from-to rwxp ...". See proc(5). */
static bool read_mapping(FILE *maps, char **line, size_t *size, struct mapping *m)
{
    char read, write;

    if (getline(line, size, maps) <= 0)
        return false;
    if (sscanf(*line, "%" SCNxPTR "-%" SCNxPTR " %c%c", &m->range.from, &m->range.to, &read, &write) != 4)
        read = '-';
    m->flags = 0;
    if (read == 'r')
        m->flags = write == 'w' ? PTXI_RANGE_READ | PTXI_RANGE_WRITE : PTXI_RANGE_READ;
    return true;
}

static void open_mappings(struct ranges *r, int n_args, void *const *args)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct mapping current = { .flags = 0 }, next;
    char *line = NULL;
    size_t size = 0;

    if (!maps) {
        ocelot.unchecked = ocelot.unchecked || ptxiCtxSetChecking(NULL, 0) == PTXI_SUCCESS;
        return;
    }
    while (read_mapping(maps, &line, &size, &next)) {
        /* One allocation may have several lines. */
        if (next.flags == current.flags && next.range.from == current.range.to) {
            current.range.to = next.range.to;
            continue;
        }
        open_for_arguments(r, n_args, args, &current);
        current = next;
    }
    open_for_arguments(r, n_args, args, &current);
    free(line);
    fclose(maps);
}

static void close_mappings(struct ranges *r)
{
    while (r->count)
        ptxiMemCloseRange((void *)r->open[--r->count].from);
}

/* ---- launches */

static bool report_launch_error(ptxiResult r)
{
    ptxiReport report = { .size = sizeof report };

    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.result == r && report.text)
        fprintf(stderr, "%s\n", report.text);
    return report_error("the kernel failed", r);
}

/* args[i] is a value, but ptxiLaunchKernel() takes the addresses of values. */
static bool fill_parameters(const struct kernel *k, int n_args, void *args[], void **addresses)
{
    if (n_args < 0 || n_args > MAX_ARGS || (size_t)n_args != k->parameters) {
        fprintf(stderr, "ptx_run: %d arguments for a kernel of %zu parameters\n", n_args, k->parameters);
        return false;
    }
    for (int i = 0; i < n_args; i++) {
        size_t offset, size = 0;

        ptxiFuncGetParamInfo(k->function, (size_t)i, &offset, &size);
        if (size > sizeof args[i]) {
            fprintf(stderr, "ptx_run: parameter %d has %zu bytes, an argument %zu\n", i, size, sizeof args[i]);
            return false;
        }
        addresses[i] = &args[i];
    }
    return true;
}

static bool run(const struct kernel *k, int n_args, void *args[], const int *block, const int *grid, int shared)
{
    void **addresses = calloc((size_t)k->parameters + 1, sizeof *addresses);
    struct ranges ranges = { .count = 0 };
    ptxiResult r;

    if (!addresses)
        return report_error("the arguments", PTXI_ERROR_OUT_OF_MEMORY);
    if (!fill_parameters(k, n_args, args, addresses)) {
        free(addresses);
        return false;
    }
    if (shared > 0) /* too large a size is reported at the launch */
        ptxiFuncSetAttribute(k->function, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared);
    open_mappings(&ranges, n_args, args);
    r = ptxiLaunchKernel(k->function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], (unsigned)block[0],
                         (unsigned)block[1], (unsigned)block[2], (unsigned)shared, NULL, addresses, NULL);
    if (check("the launch", r) && (r = ptxiCtxSynchronize()))
        report_launch_error(r);
    close_mappings(&ranges);
    free(addresses);
    return r == PTXI_SUCCESS;
}

/* Makes the context current; creates it at the first call. */
static bool enter_context(void)
{
    if (ocelot.context)
        return check("the context", ptxiCtxPushCurrent(ocelot.context));
    return check("cannot initialize the library", ptxiInit(0)) &&
           check("the context", ptxiCtxCreate(&ocelot.context, 0, 0));
}

void ptx_run(const char *source, int n_args, void *args[], int blck_x, int blck_y, int blck_z, int grid_x, int grid_y,
             int grid_z, int shared_mem_size)
{
    int block[3] = { blck_x, blck_y, blck_z }, grid[3] = { grid_x, grid_y, grid_z };

    pthread_mutex_lock(&ocelot.lock);
    if (enter_context()) {
        struct kernel *k = source ? find_kernel(source) : NULL;

        if (k)
            run(k, n_args, args, block, grid, shared_mem_size);
        ptxiCtxPopCurrent(NULL);
    }
    pthread_mutex_unlock(&ocelot.lock);
}
