/* Compares mathematical functions, expressions and conversions compiled by nvcc with results recorded on a GPU.
 * Each kernel runs on 16384 rows of operands. Results must be equal bit for bit.
 *
 *     functions DIRECTORY [text]...
 *         Compares the results with DIRECTORY/functions.rec.
 *         If texts are given, only kernels with one of the texts in their name are tested.
 *
 *     functions record DIRECTORY LIBRARY
 *         Runs the kernels with CUDA's driver LIBRARY (libcuda.so.1) and prints the contents of functions.rec.
 *
 * A line of functions.rec has a variant, a kernel and the digest of its results.
 * The PTX of a variant is in the file functions.VARIANT.ptx. */
#include "conformance/column.h"

#include "cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, BLOCK = 128, GRID = COLUMN_ROWS / BLOCK };

/* Types of operands. `fraction` is the number of fraction bits of a floating-point type, and 0 for integers. */
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

static ptxiModule load(const char *directory, const char *variant)
{
    char path[4096];
    ptxiModule module;

    snprintf(path, sizeof path, "%s/functions.%s.ptx", directory, variant);
    driver_must(driver.ModuleLoad(&module, path), path);
    return module;
}

/* Returns the operand columns of a type. The first call for a type creates them. */
static const ptxiDevicePtr *operands_of(enum type type)
{
    static ptxiDevicePtr columns[TYPES][INPUTS];

    for (unsigned k = 0; k < INPUTS && !columns[type][k]; k++) {
        size_t size = COLUMN_ROWS * (size_t)types[type].bits / 8;
        struct column c = { .class = types[type].fraction ? VALUE_FLOAT : VALUE_INT,
                            .bits = types[type].bits,
                            .fraction = types[type].fraction,
                            .lanes = 1,
                            .width = types[type].bits,
                            .position = (uint8_t)k,
                            .inputs = INPUTS };
        void *values = malloc(size);

        column_fill(&c, COLUMN_ROWS, values);
        driver_must(driver.MemAlloc(&columns[type][k], size), "MemAlloc");
        driver_must(driver.MemcpyHtoD(columns[type][k], values, size), "MemcpyHtoD");
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
        driver_must(driver.MemAlloc(&out, sizeof results), "MemAlloc");
    driver_must(driver.ModuleGetFunction(&function, module, k->name), k->name);
    driver_must(driver.LaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL), k->name);
    driver_must(driver.CtxSynchronize(), k->name);
    driver_must(driver.MemcpyDtoH(results, out, size), "MemcpyDtoH");
    return column_hash(0, results, size);
}

static int record(const char *directory, const char *library)
{
    char name[100];
    int version;

    driver_load(library);
    driver_start(name, &version);
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

/* Compares a variant's kernels with the recording, line by line. Returns the number of kernels that differ. */
static int compare(ptxiModule module, const char *variant, FILE *recording, char **texts, int *compared)
{
    int bad = 0;

    for (int k = 0; k < KERNELS; k++) {
        char recorded_variant[40], name[80];
        unsigned long long recorded;

        if (fscanf(recording, "%39s %79s %llx", recorded_variant, name, &recorded) != 3 ||
            strcmp(recorded_variant, variant) != 0 || strcmp(name, kernels[k].name) != 0) {
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
    driver_start(name, &version);
    for (int v = 0; v < VARIANTS; v++)
        bad += compare(load(argv[1], variants[v]), variants[v], recording, argv + 2, &compared);
    fclose(recording);
    printf("%d kernels compared, %d differ\n", compared, bad);
    return bad || !compared;
}
