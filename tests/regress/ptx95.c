/* Regression test: kernels with instructions of PTX 9.2 to 9.5 give the results that an H100 or H200 gave (driver
 * 580.159.04, code assembled by ptxas 13.5 for sm_90a). Only a digest of the results is stored, in ptx95/cases.txt.
 * on-gpu.sh runs the same cases on a GPU. */
#include "ptxi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 1 << 16 };

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#define CALL(call) must((call) == PTXI_SUCCESS, #call)

static const char *path_of(const char *name, const char *suffix)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof path, "%s/tests/regress/ptx95/%s%s", top ? top : ".", name, suffix);
    return path;
}

static size_t read_operands(const char *name, unsigned char *to)
{
    FILE *f = fopen(path_of(name, ".bin"), "rb");
    size_t n;

    must(f != NULL, "operands missing");
    n = fread(to, 1, MAX_BYTES, f);
    fclose(f);
    return n;
}

/* FNV-1a */
static uint64_t digest(const unsigned char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t k = 0; k < n; k++)
        h = (h ^ p[k]) * 0x100000001b3u;
    return h;
}

struct launch {
    char kernel[32], operands[32]; /* files in tests/regress/ptx95 */
    unsigned grid, block;
    size_t bytes; /* of the results */
};

/* Returns the digest of the results. */
static uint64_t run(const struct launch *c)
{
    static unsigned char bytes[MAX_BYTES];
    size_t n = read_operands(c->operands, bytes);
    ptxiDevicePtr in, out;
    ptxiModule module;
    ptxiFunction kernel;
    void *arguments[] = { &in, &out };

    must(c->bytes <= sizeof bytes, "too many results");
    CALL(ptxiModuleLoad(&module, path_of(c->kernel, ".ptx")));
    CALL(ptxiModuleGetFunction(&kernel, module, "k"));
    CALL(ptxiMemAlloc(&in, n));
    CALL(ptxiMemAlloc(&out, c->bytes));
    CALL(ptxiMemcpyHtoD(in, bytes, n));
    CALL(ptxiLaunchKernel(kernel, c->grid, 1, 1, c->block, 1, 1, 0, NULL, arguments, NULL));
    CALL(ptxiCtxSynchronize());
    CALL(ptxiMemcpyDtoH(bytes, out, c->bytes));
    return digest(bytes, c->bytes);
}

int main(void)
{
    char line[200];
    unsigned cases = 0, wrong = 0;
    ptxiContext ctx;
    ptxiDevice dev;
    FILE *f;

    setenv("PTXI_DEVICE", "sm_90", 1);
    CALL(ptxiInit(0));
    CALL(ptxiDeviceGet(&dev, 0));
    CALL(ptxiCtxCreate(&ctx, 0, dev));
    f = fopen(path_of("cases", ".txt"), "r");
    must(f != NULL, "cases.txt missing");
    while (fgets(line, sizeof line, f)) {
        struct launch c;
        uint64_t want;

        if (*line == '#')
            continue;
        must(sscanf(line, "%31s %31s %u %u %zu %" SCNx64, c.kernel, c.operands, &c.grid, &c.block, &c.bytes,
                    &want) == 6,
             "malformed line in cases.txt");
        cases++;
        if (run(&c) != want) {
            fprintf(stderr, "%s, %s: the results differ\n", c.kernel, c.operands);
            wrong++;
        }
    }
    fclose(f);
    return wrong > 0 || cases == 0;
}
