/* Runs random programs on this library or on a GPU.
 *
 * random write FIRST COUNT: Prints a PTX module with programs FIRST to FIRST + COUNT - 1.
 *
 * random run LIBRARY [SECONDS]: Reads lines "IMAGE FIRST COUNT" (a module and its programs) from standard input. Prints
 * one line per program: its number, a digest of all outputs, and a digest per column. LIBRARY is the CUDA driver, or
 * "-" for this library, "-apart" for this library without fused multiply-add, "-plain" for this library with the
 * semantics of ptxas -O0. The process ends if a program takes more than SECONDS.
 *
 * random dump LIBRARY IMAGE NUMBER: Writes all outputs of one program to standard output.
 *
 * random check PROGRAMS [EVERY]: Runs the programs of a recorded file, or one in EVERY, and compares the digests.
 *
 * PTXI_SEED selects other programs and operands. A recorded file is the output of `write`, with a line
 * "//= NUMBER FUSED APART" before each program. FUSED is the digest of all outputs on a GPU with default ptxas options.
 * APART is optional: the digest with `ptxas --fmad=false`. NEXT_MODULE separates modules. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/driver.h"
#include "random/program.h"

#include "conformance/column.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT_MODULE "//== next module"

enum {
    STACK_BYTES = 16384,
    OUTPUT_BYTES = PROGRAM_OUTPUTS * PROGRAM_ROWS * 8,
    CELL_BYTES = PROGRAM_ROWS * PROGRAM_CELL
};

static uint64_t outputs[PROGRAM_OUTPUTS * PROGRAM_ROWS];
static ptxiDevicePtr operands, results, cells;

#define OK(call) driver_must(driver.call, #call)

static void start(const char *library)
{
    size_t bytes = (size_t)program_columns() * PROGRAM_ROWS * 8;
    uint64_t *values = malloc(bytes);
    char name[100];
    int version;

    if (!values)
        exit(2);
    if (*library != '-')
        driver_load(library);
    driver_start(name, &version);
    OK(CtxSetLimit(PTXI_LIMIT_STACK_SIZE, STACK_BYTES)); /* for recursive functions */
    program_operands(values);
    OK(MemAlloc(&operands, bytes));
    OK(MemcpyHtoD(operands, values, bytes));
    OK(MemAlloc(&results, OUTPUT_BYTES));
    OK(MemAlloc(&cells, CELL_BYTES));
    free(values);
}

/* Computes a digest per column and returns the digest of all columns. */
static uint64_t run(ptxiModule module, unsigned number, uint64_t digests[PROGRAM_OUTPUTS])
{
    static uint64_t structure[PROGRAM_WORDS];
    void *params[] = { &operands, &results, &cells, structure };
    uint64_t all = 0;
    ptxiFunction f;
    char name[32];

    for (unsigned k = 0; k < PROGRAM_WORDS; k++)
        structure[k] = column_mix(k);
    memset(outputs, 0, sizeof outputs);
    snprintf(name, sizeof name, "p%u", number);
    OK(MemcpyHtoD(results, outputs, OUTPUT_BYTES));
    driver_must(driver.ModuleGetFunction(&f, module, name), name);
    driver_must(driver.LaunchKernel(f, PROGRAM_GRID, 1, 1, PROGRAM_BLOCK, 1, 1, 0, NULL, params, NULL), name);
    driver_must(driver.CtxSynchronize(), name);
    OK(MemcpyDtoH(outputs, results, OUTPUT_BYTES));
    for (unsigned k = 0; k < PROGRAM_OUTPUTS; k++) {
        uint64_t h = k;

        for (unsigned row = 0; row < PROGRAM_ROWS; row++)
            h = (h ^ outputs[k * PROGRAM_ROWS + row]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
        digests[k] = h;
        all = column_mix(all ^ h);
    }
    return all;
}

/* Optimisation mode of the library. */
enum mode { DEFAULT, APART, PLAIN };

static ptxiModule load(const char *text, enum mode mode)
{
    ptxiJitOption option = mode == APART ? PTXI_JIT_FMA : PTXI_JIT_OPTIMIZATION_LEVEL;
    void *no = (void *)0;
    ptxiModule module;

    if (mode != DEFAULT)
        driver_must(ptxiModuleLoadDataEx(&module, text, 1, &option, &no), "ModuleLoadDataEx");
    else
        OK(ModuleLoadData(&module, text));
    return module;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!f || !to) {
        perror(path);
        exit(2);
    }
    for (int c; (c = getc(f)) != EOF;)
        putc(c, to);
    fclose(f);
    fclose(to);
    return text;
}

static int write_programs(unsigned first, unsigned count)
{
    program_print_head(stdout);
    for (unsigned n = first; n < first + count; n++)
        program_print(stdout, n);
    return ferror(stdout) || fflush(stdout);
}

static ptxiModule load_file(const char *path, const char *library)
{
    char *text = read_file(path);
    ptxiModule module = load(text, !strcmp(library, "-apart") ? APART : !strcmp(library, "-plain") ? PLAIN : DEFAULT);

    free(text);
    return module;
}

static int run_programs(const char *library, unsigned seconds)
{
    char path[4096];
    unsigned first, count;

    start(library);
    while (scanf("%4095s %u %u", path, &first, &count) == 3) {
        ptxiModule module = load_file(path, library);

        for (unsigned n = first; n < first + count; n++) {
            uint64_t digests[PROGRAM_OUTPUTS];

            alarm(seconds);
            printf("%u %016llx", n, (unsigned long long)run(module, n, digests));
            for (unsigned k = 0; k < PROGRAM_OUTPUTS; k++)
                printf(" %04llx", (unsigned long long)(digests[k] & 0xffff));
            putchar('\n');
            fflush(stdout);
        }
        OK(ModuleUnload(module));
    }
    return 0;
}

static int dump(const char *library, const char *path, unsigned number)
{
    uint64_t digests[PROGRAM_OUTPUTS];

    start(library);
    run(load_file(path, library), number, digests);
    return fwrite(outputs, 1, sizeof outputs, stdout) != sizeof outputs || fflush(stdout);
}

struct tally {
    unsigned seen, compared, bad;
};

static void check_module(const char *text, unsigned every, struct tally *t)
{
    ptxiModule modules[2] = { load(text, DEFAULT), NULL };

    for (const char *line = strstr(text, "\n//= "); line; line = strstr(line + 1, "\n//= ")) {
        uint64_t digests[PROGRAM_OUTPUTS];
        unsigned long long want[2];
        unsigned number;
        int known = sscanf(line, "\n//= %u %llx %llx", &number, &want[0], &want[1]) - 1;

        if (known < 1)
            break;
        if (t->seen++ % every)
            continue;
        t->compared++;
        for (int k = 0; k < known; k++) {
            if (!modules[k])
                modules[k] = load(text, APART);
            if (run(modules[k], number, digests) != want[k]) {
                printf("FAIL p%u%s\n", number, k ? ", not fused" : "");
                t->bad++;
            }
        }
    }
    for (int k = 0; k < 2; k++)
        if (modules[k])
            OK(ModuleUnload(modules[k]));
}

static int check(const char *path, unsigned every)
{
    char *text = read_file(path);
    struct tally t = { 0 };

    start("-");
    for (char *module = text, *next; module; module = next) {
        next = strstr(module, "\n" NEXT_MODULE);
        if (next)
            *next++ = '\0';
        check_module(module, every, &t);
    }
    printf("%u programs compared, %u differ\n", t.compared, t.bad);
    free(text);
    return t.bad || !t.compared;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "write"))
        return write_programs((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
    if ((argc == 3 || argc == 4) && !strcmp(argv[1], "run"))
        return run_programs(argv[2], argc == 4 ? (unsigned)atoi(argv[3]) : 0);
    if (argc == 5 && !strcmp(argv[1], "dump"))
        return dump(argv[2], argv[3], (unsigned)atoi(argv[4]));
    if ((argc == 3 || (argc == 4 && atoi(argv[3]) > 0)) && !strcmp(argv[1], "check"))
        return check(argv[2], argc == 4 ? (unsigned)atoi(argv[3]) : 1);
    fputs("usage: random write FIRST COUNT | run LIBRARY [SECONDS] | dump LIBRARY IMAGE NUMBER | check PROGRAMS "
          "[EVERY]\n",
          stderr);
    return 2;
}
