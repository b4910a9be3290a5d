/* Mathematical functions, expressions and conversions as nvcc compiles them, on 16384 rows of operands each: what a GPU gave, bit for bit.
 *
 *     functions DIRECTORY [text]...            compares with DIRECTORY/functions.rec; only the kernels whose name contains one of the texts
 *     functions record DIRECTORY LIBRARY       runs them with CUDA's driver, libcuda.so.1, and writes what functions.rec should be
 *
 * A line of functions.rec: a variant (a file functions.VARIANT.ptx), a kernel, the digest of its results. */
#include "conformance/column.h"

#include "ptxi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, BLOCK = 128, GRID = COLUMN_ROWS / BLOCK };

/* The calls of the driver API that are needed: name, what CUDA's library appends to it, parameters. */
#define CALLS(X)                                                                                              \
    X(Init, "", (unsigned flags))                                                                             \
    X(DeviceGetName, "", (char *name, int size, ptxiDevice device))                                           \
    X(DriverGetVersion, "", (int *version))                                                                   \
    X(DevicePrimaryCtxRetain, "", (ptxiContext * ctx, ptxiDevice device))                                     \
    X(CtxSetCurrent, "", (ptxiContext ctx))                                                                   \
    X(ModuleLoad, "", (ptxiModule * module, const char *path))                                                \
    X(ModuleGetFunction, "", (ptxiFunction * function, ptxiModule module, const char *name))                  \
    X(MemAlloc, "_v2", (ptxiDevicePtr * p, size_t size))                                                      \
    X(MemcpyHtoD, "_v2", (ptxiDevicePtr to, const void *from, size_t size))                                   \
    X(MemcpyDtoH, "_v2", (void *to, ptxiDevicePtr from, size_t size))                                         \
    X(LaunchKernel, "", (ptxiFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
                         unsigned block_z, unsigned shared, ptxiStream stream, void **params, void **extra))  \
    X(CtxSynchronize, "", (void))

#define MEMBER(name, suffix, params) ptxiResult(*name) params;
#define OURS(name, suffix, params) .name = ptxi##name,
#define NAMES(name, suffix, params) "cu" #name suffix,

struct driver {
    CALLS(MEMBER)
};

static struct driver driver = { CALLS(OURS) };

/* Operands of a type: floating point with so many bits of fraction, or integers. */
enum type { TYPE_f16, TYPE_bf16, TYPE_f32, TYPE_f64, TYPE_s32, TYPE_u32, TYPE_s64, TYPE_u64, TYPES };
static const struct { uint8_t bits, fraction; } types[TYPES] = {
    [TYPE_f16] = { 16, 10 }, [TYPE_bf16] = { 16, 7 }, [TYPE_f32] = { 32, 23 }, [TYPE_f64] = { 64, 52 },
    [TYPE_s32] = { 32, 0 }, [TYPE_u32] = { 32, 0 }, [TYPE_s64] = { 64, 0 }, [TYPE_u64] = { 64, 0 },
};

static const struct kernel {
    const char *name;
    enum type result, operands;
} kernels[] = {
#define FUNCTION(result, operands, name, ...) { #operands "_" #name, TYPE_##result, TYPE_##operands },
#include "functions.def"
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const char *const variants[] = { "sm_90a", "sm_90a-fast" };
enum { VARIANTS = sizeof variants / sizeof *variants };

static void must(ptxiResult r, const char *what)
{
    if (r == PTXI_SUCCESS)
        return;
    fprintf(stderr, "functions: %s: error %d\n", what, r);
    exit(1);
}

static void load_driver(const char *path)
{
    static const char *const names[] = { CALLS(NAMES) };
    void *library = dlopen(path, RTLD_NOW);

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        void *call = library ? dlsym(library, names[k]) : NULL;

        if (!call) {
            fprintf(stderr, "functions: %s\n", dlerror());
            exit(2);
        }
        memcpy((char *)&driver + k * sizeof call, &call, sizeof call);
    }
}

static void start(char name[100], int *version)
{
    ptxiContext ctx;

    must(driver.Init(0), "Init");
    must(driver.DeviceGetName(name, 100, 0), "DeviceGetName");
    must(driver.DriverGetVersion(version), "DriverGetVersion");
    must(driver.DevicePrimaryCtxRetain(&ctx, 0), "DevicePrimaryCtxRetain");
    must(driver.CtxSetCurrent(ctx), "CtxSetCurrent");
}

static ptxiModule load(const char *directory, const char *variant)
{
    char path[4096];
    ptxiModule module;

    snprintf(path, sizeof path, "%s/functions.%s.ptx", directory, variant);
    must(driver.ModuleLoad(&module, path), path);
    return module;
}

/* The columns of operands of a type, made when they are first asked for. */
static const ptxiDevicePtr *operands_of(enum type type)
{
    static ptxiDevicePtr columns[TYPES][INPUTS];

    for (unsigned k = 0; k < INPUTS && !columns[type][k]; k++) {
        size_t size = COLUMN_ROWS * (size_t)types[type].bits / 8;
        struct column c = { .class = types[type].fraction ? VALUE_FLOAT : VALUE_INT, .bits = types[type].bits, .fraction = types[type].fraction,
                            .lanes = 1, .width = types[type].bits, .position = (uint8_t)k, .inputs = INPUTS };
        void *values = malloc(size);

        column_fill(&c, COLUMN_ROWS, values);
        must(driver.MemAlloc(&columns[type][k], size), "MemAlloc");
        must(driver.MemcpyHtoD(columns[type][k], values, size), "MemcpyHtoD");
        free(values);
    }
    return columns[type];
}

static uint64_t digest(ptxiModule module, const struct kernel *k)
{
    static ptxiDevicePtr out;
    static unsigned char results[COLUMN_ROWS * 8];
    size_t size = COLUMN_ROWS * (size_t)types[k->result].bits / 8;
    const ptxiDevicePtr *in = operands_of(k->operands);
    ptxiDevicePtr x = in[0], y = in[1], z = in[2];
    void *params[] = { &out, &x, &y, &z };
    ptxiFunction function;

    if (!out)
        must(driver.MemAlloc(&out, sizeof results), "MemAlloc");
    must(driver.ModuleGetFunction(&function, module, k->name), k->name);
    must(driver.LaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL), k->name);
    must(driver.CtxSynchronize(), k->name);
    must(driver.MemcpyDtoH(results, out, size), "MemcpyDtoH");
    return column_hash(0, results, size);
}

static int record(const char *directory, const char *library)
{
    char name[100];
    int version;

    load_driver(library);
    start(name, &version);
    printf("# %s, driver for CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
    for (int v = 0; v < VARIANTS; v++) {
        ptxiModule module = load(directory, variants[v]);

        for (int k = 0; k < KERNELS; k++)
            printf("%s %s %016llx\n", variants[v], kernels[k].name, (unsigned long long)digest(module, &kernels[k]));
    }
    return 0;
}

static bool wanted(const char *name, char **texts)
{
    for (char **t = texts; *t; t++)
        if (strstr(name, *t))
            return true;
    return !*texts;
}

/* How many of the variant's kernels do not give what line after line of the recording says. */
static int compare(ptxiModule module, const char *variant, FILE *recording, char **texts, int *compared)
{
    int bad = 0;

    for (int k = 0; k < KERNELS; k++) {
        char recorded_variant[40], name[80];
        unsigned long long recorded;

        if (fscanf(recording, "%39s %79s %llx", recorded_variant, name, &recorded) != 3 || strcmp(recorded_variant, variant) != 0 ||
            strcmp(name, kernels[k].name) != 0) {
            printf("FAIL %s of %s is not recorded\n", kernels[k].name, variant);
            return bad + 1;
        }
        if (!wanted(name, texts))
            continue;
        ++*compared;
        if (digest(module, &kernels[k]) != recorded) {
            printf("FAIL %s of %s differs from the GPU's\n", name, variant);
            bad++;
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    char name[100], path[4096];
    int version, bad = 0, compared = 0;
    FILE *recording;

    if (argc == 4 && !strcmp(argv[1], "record"))
        return record(argv[2], argv[3]);
    if (argc < 2) {
        fprintf(stderr, "usage: functions DIRECTORY [text]... | functions record DIRECTORY LIBRARY\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/functions.rec", argv[1]);
    recording = fopen(path, "r");
    if (!recording || fscanf(recording, "#%*[^\n]") != 0) {
        fprintf(stderr, "functions: cannot read %s\n", path);
        return 1;
    }
    start(name, &version);
    for (int v = 0; v < VARIANTS; v++)
        bad += compare(load(argv[1], variants[v]), variants[v], recording, argv + 2, &compared);
    fclose(recording);
    printf("%d kernels compared, %d differ\n", compared, bad);
    return bad || !compared;
}
