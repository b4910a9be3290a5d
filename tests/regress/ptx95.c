/* Regression test: kernels with instructions of PTX 9.3 and 9.4 give the results that an H100 gave (driver 580.159.04,
 * code assembled by ptxas 13.5 for sm_90a). Only a digest of the results is stored. */
#include "ptxi.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 1 << 16 };

static const struct {
    const char *kernel, *operands; /* files in tests/regress/ptx95 */
    unsigned grid, block;
    size_t bytes; /* of the results */
    uint64_t digest;
} cases[] = {
    { "clmad", "clmad", 2, 128, 4096, 0xbcc7ee51bbade124u },
    { "noftz", "noftz", 8, 128, 65536, 0xb6193123a0a3190eu },
    { "cpreduce", "cpreduce", 1, 32, 128, 0x891cf2a9cfe1ddb5u },
    { "ldmatrix", "lm16", 1, 32, 1024, 0x6e027634ffaf56a9u },
    { "ldmatrix", "lmp", 1, 32, 1024, 0x80797bbe1fea965eu },
    { "ldmatrix", "lm8", 1, 32, 1024, 0x148a927465fd8701u },
};

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

int main(void)
{
    static unsigned char bytes[MAX_BYTES];
    int wrong = 0;
    ptxiContext ctx;
    ptxiDevice dev;

    setenv("PTXI_DEVICE", "sm_90", 1);
    CALL(ptxiInit(0));
    CALL(ptxiDeviceGet(&dev, 0));
    CALL(ptxiCtxCreate(&ctx, 0, dev));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t n = read_operands(cases[k].operands, bytes);
        ptxiDevicePtr in, out;
        ptxiModule module;
        ptxiFunction kernel;
        void *arguments[] = { &in, &out };

        CALL(ptxiModuleLoad(&module, path_of(cases[k].kernel, ".ptx")));
        CALL(ptxiModuleGetFunction(&kernel, module, "k"));
        CALL(ptxiMemAlloc(&in, n));
        CALL(ptxiMemAlloc(&out, cases[k].bytes));
        CALL(ptxiMemcpyHtoD(in, bytes, n));
        CALL(ptxiLaunchKernel(kernel, cases[k].grid, 1, 1, cases[k].block, 1, 1, 0, NULL, arguments, NULL));
        CALL(ptxiCtxSynchronize());
        CALL(ptxiMemcpyDtoH(bytes, out, cases[k].bytes));
        if (digest(bytes, cases[k].bytes) != cases[k].digest) {
            fprintf(stderr, "%s, %s: the results differ\n", cases[k].kernel, cases[k].operands);
            wrong++;
        }
    }
    return wrong > 0;
}
