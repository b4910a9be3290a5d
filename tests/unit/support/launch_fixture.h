/* A context with the kernels of launch.ptx and 4096 bytes of device memory. */
#ifndef PTXI_TESTS_LAUNCH_FIXTURE_H
#define PTXI_TESTS_LAUNCH_FIXTURE_H

#include "unit/support/context.h"
#include "unit/support/test_file.h"

static const char *kernels;

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(void)
{
    open_context();
    kernels = test_file("api/launch/launch.ptx");
    ok(ptxiModuleLoadData(&module, kernels));
    ok(ptxiMemAlloc(&mem, 4096));
}

static ptxiFunction kernel(const char *name)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return f;
}

static ptxiResult run(const char *name, unsigned grid, unsigned block, void **params)
{
    ptxiResult r = ptxiLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, NULL, params, NULL);

    return r ? r : ptxiCtxSynchronize();
}

#endif
