/* Host functions: functions of this program replace those of a device library. The kernel declares them .extern .func,
 * and they are bound by name.
 *
 *     ./host_function [host_function.ptx] */
#include "sample.h"

struct vector { float x, y, z; };
struct ray { struct vector from, to; };

static struct vector bend(struct ray r, float index)
{
    return (struct vector){ r.from.x * index + r.to.x, r.from.y + r.to.y, r.to.z / index };
}

/* The text is in the global memory of the module, so its address is valid on the host. */
static void note(const char *what, float value)
{
    ptxiHostThread t = { .size = sizeof t };

    ptxiHostGetThread(&t);
    printf("%s of kernel %s: %s, %g\n", t.function, t.kernel, what, value);
}

int main(int argc, char **argv)
{
    enum { THREADS = 4 };
    float index = 0.5f;
    struct vector *out;
    ptxiContext context;
    ptxiModule module;
    ptxiFunction trace;
    ptxiDevicePtr p;

    MUST(ptxiInit(0));
    MUST(ptxiCtxCreate(&context, 0, 0));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "host_function.ptx")));
    MUST(ptxiModuleGetFunction(&trace, module, "trace"));
    MUST(ptxiModuleBindHostFunction(module, "bend", (ptxiHostFunction)bend,
                                    "{float[3]}({{float[3]}, {float[3]}}, float)"));
    MUST(ptxiModuleBindHostFunction(module, "note", (ptxiHostFunction)note, "void(const char *, float)"));
    MUST(ptxiMemAlloc(&p, THREADS * sizeof *out));

    void *params[] = { &p, &index };
    MUST(ptxiLaunchKernel(trace, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    MUST(ptxiCtxSynchronize());
    out = (struct vector *)(uintptr_t)p;
    for (int i = 0; i < THREADS; i++)
        printf("%g %g %g\n", out[i].x, out[i].y, out[i].z);

    MUST(ptxiMemFree(p));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return 0;
}
