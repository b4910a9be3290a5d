/* libgpuocelot.so: the one call of gpuocelot that tinygrad makes, ptx_run(), on libptxi.
 *
 * Pointers among the arguments are addresses of memory that the caller got somewhere. While a launch runs, the mappings of the
 * process that they lie in are open to kernels; an access elsewhere is a report, not a crash. Where the system does not tell its
 * mappings, accesses are not checked. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "ptxi.h"

PTXI_API void ptx_run(const char *source, int n_args, void *args[], int blck_x, int blck_y, int blck_z, int grid_x, int grid_y, int grid_z,
                      int shared_mem_size);

enum { KEPT = 512, MAX_RANGES = 256, MAX_ARGS = 4096, PAGE = 4096 };

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
    struct kernel *kernels; /* the one used longest ago first */
    bool unchecked;
} ocelot = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool complain(const char *what, ptxiResult r)
{
    const char *why = NULL;

    ptxiGetErrorString(r, &why);
    fprintf(stderr, "ptx_run: %s: %s\n", what, why ? why : "unknown error");
    return false;
}

static bool check(const char *what, ptxiResult r)
{
    return r == PTXI_SUCCESS || complain(what, r);
}

/* ---- kernels, by their text */

static void forget(struct kernel *k)
{
    HASH_DEL(ocelot.kernels, k);
    ptxiModuleUnload(k->module);
    free(k->source);
    free(k);
}

static bool complain_about_text(ptxiResult r)
{
    ptxiDiagnostic d = { .size = sizeof d };

    for (unsigned i = 0; ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++)
        fputs(d.text, stderr);
    return complain("the module does not load", r);
}

/* The only entry of the module. */
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

static bool load(struct kernel *k)
{
    ptxiJitOption option = PTXI_JIT_DIALECT;
    void *value = (void *)(uintptr_t)PTXI_DIALECT_OCELOT;
    ptxiResult r = ptxiModuleLoadDataEx(&k->module, k->source, 1, &option, &value);

    if (r)
        return complain_about_text(r);
    if (find_entry(k))
        return true;
    ptxiModuleUnload(k->module);
    return false;
}

static struct kernel *new_kernel(const char *source)
{
    struct kernel *k = calloc(1, sizeof *k);

    if (k && (k->source = strdup(source)) && load(k))
        return k;
    if (!k || !k->source)
        complain("the module does not load", PTXI_ERROR_OUT_OF_MEMORY);
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
        HASH_DEL(ocelot.kernels, k); /* and to the end */
    else if (!(k = new_kernel(source)))
        return NULL;
    HASH_ADD_KEYPTR(hh, ocelot.kernels, k->source, length, k);
    if (HASH_COUNT(ocelot.kernels) > KEPT)
        forget(ocelot.kernels);
    return k;
}

/* ---- memory */

struct range {
    uintptr_t from, to;
};

struct mapping {
    struct range range;
    unsigned flags; /* of ptxiMemOpenRange; 0: no mapping */
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

static uintptr_t lower(uintptr_t p, uintptr_t by)
{
    return p > by ? p - by : 0;
}

/* Opens a mapping, or as much of it around `p` as does not overlap what the library knows already: its own memory may lie beside. */
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
        part.from = lower(p, reach) > m->range.from ? lower(p, reach) : m->range.from;
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

/* The next line of a file like /proc/self/maps, "from-to rwxp ..." (proc(5)). */
static bool read_mapping(FILE *maps, char **line, size_t *size, struct mapping *m)
{
    char read, write;

    if (getline(line, size, maps) <= 0)
        return false;
    if (sscanf(*line, "%" SCNxPTR "-%" SCNxPTR " %c%c", &m->range.from, &m->range.to, &read, &write) != 4)
        read = '-';
    m->flags = read != 'r' ? 0 : write != 'w' ? PTXI_RANGE_READ : PTXI_RANGE_READ | PTXI_RANGE_WRITE;
    return true;
}

static void open_mappings(struct ranges *r, int n_args, void *const *args)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct mapping one = { .flags = 0 }, next;
    char *line = NULL;
    size_t size = 0;

    if (!maps) {
        ocelot.unchecked = ocelot.unchecked || ptxiCtxSetChecking(NULL, 0) == PTXI_SUCCESS;
        return;
    }
    while (read_mapping(maps, &line, &size, &next)) {
        if (next.flags == one.flags && next.range.from == one.range.to) { /* what was allocated once may stand in several lines */
            one.range.to = next.range.to;
            continue;
        }
        open_for_arguments(r, n_args, args, &one);
        one = next;
    }
    open_for_arguments(r, n_args, args, &one);
    free(line);
    fclose(maps);
}

static void close_mappings(struct ranges *r)
{
    while (r->count)
        ptxiMemCloseRange((void *)r->open[--r->count].from);
}

/* ---- launches */

static bool complain_about_launch(ptxiResult r)
{
    ptxiReport report = { .size = sizeof report };

    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.result == r && report.text)
        fprintf(stderr, "%s\n", report.text);
    return complain("the kernel failed", r);
}

/* args[i] is a value; the library wants to know where values are. */
static bool fill_parameters(const struct kernel *k, int n_args, void *args[], void **where)
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
        where[i] = &args[i];
    }
    return true;
}

static bool run(const struct kernel *k, int n_args, void *args[], const int *block, const int *grid, int shared)
{
    void **where = calloc((size_t)k->parameters + 1, sizeof *where);
    struct ranges ranges = { .count = 0 };
    ptxiResult r;

    if (!where)
        return complain("the arguments", PTXI_ERROR_OUT_OF_MEMORY);
    if (!fill_parameters(k, n_args, args, where)) {
        free(where);
        return false;
    }
    if (shared > 0) /* what is too much fails at the launch */
        ptxiFuncSetAttribute(k->function, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared);
    open_mappings(&ranges, n_args, args);
    r = ptxiLaunchKernel(k->function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1],
                         (unsigned)block[2], (unsigned)shared, NULL, where, NULL);
    if (check("the launch", r) && (r = ptxiCtxSynchronize()))
        complain_about_launch(r);
    close_mappings(&ranges);
    free(where);
    return r == PTXI_SUCCESS;
}

static bool enter(void)
{
    if (ocelot.context)
        return check("the context", ptxiCtxPushCurrent(ocelot.context));
    return check("the library does not start", ptxiInit(0)) && check("the context", ptxiCtxCreate(&ocelot.context, 0, 0));
}

void ptx_run(const char *source, int n_args, void *args[], int blck_x, int blck_y, int blck_z, int grid_x, int grid_y, int grid_z,
             int shared_mem_size)
{
    int block[3] = { blck_x, blck_y, blck_z }, grid[3] = { grid_x, grid_y, grid_z };

    pthread_mutex_lock(&ocelot.lock);
    if (enter()) {
        struct kernel *k = source ? find_kernel(source) : NULL;

        if (k)
            run(k, n_args, args, block, grid, shared_mem_size);
        ptxiCtxPopCurrent(NULL);
    }
    pthread_mutex_unlock(&ocelot.lock);
}
