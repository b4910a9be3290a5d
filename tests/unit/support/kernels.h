/* Generates the kernels of a test, loads them as one module, and launches them. */
#ifndef PTXI_TESTS_KERNELS_H
#define PTXI_TESTS_KERNELS_H

#include "unit/support/context.h"

#include <stdarg.h>
#include <stdlib.h>

static ptxiModule module;

/* Opens a context and loads a module for this target. `print` writes the text after the header. */
static void load_kernels(const char *version, const char *target, void (*print)(FILE *out))
{
    ptxiDiagnostic d = { .size = sizeof d };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version %s\n.target %s\n.address_size 64\n", version, target);
    print(out);
    fclose(out);
    open_context();
    if (ptxiModuleLoadData(&module, text) != PTXI_SUCCESS)
        ck_abort_msg("%s", ptxiGetLastDiagnostic(0, &d) == PTXI_SUCCESS ? d.text : "the module does not load");
    free(text);
}

/* Runs this many CTAs of the kernel to their end. */
static ptxiResult launch_grid(const char *name, unsigned ctas, unsigned threads, void **params)
{
    ptxiFunction function;

    ok(ptxiModuleGetFunction(&function, module, name));
    ok(ptxiLaunchKernel(function, ctas, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

static inline ptxiResult launch(const char *name, unsigned threads, void **params)
{
    return launch_grid(name, 1, threads, params);
}

static inline uint32_t random_below(uint32_t below)
{
    return (uint32_t)(random64() >> 32) % below;
}

#endif
