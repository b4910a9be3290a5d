/* Compiles CUDA C++ at run time with NVIDIA's NVRTC, which does not need a GPU.
 *
 *     ./nvrtc ["an expression of x"]
 *
 * Prints the values of the expression for x = 0 to 7, or the messages of the compiler. */
#include "sample.h"

#include <nvrtc.h>

enum { N = 8 };

static void must_compile(nvrtcResult r, nvrtcProgram program)
{
    static char log[4096];

    if (r == NVRTC_SUCCESS)
        return;
    size_t size = 0;

    if (program && nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size <= sizeof log &&
        nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
        fputs(log, stderr);
    fprintf(stderr, "NVRTC: %s\n", nvrtcGetErrorString(r));
    exit(1);
}

/* Returns the PTX of a kernel f that stores the values of the expression in an array. The caller frees it. */
static char *compile(const char *expression)
{
    static const char *const options[] = { "--gpu-architecture=compute_90" };
    nvrtcProgram program = NULL;
    char source[1024], *ptx;
    size_t size;

    snprintf(source, sizeof source,
             "extern \"C\" __global__ void f(float *y)\n{\n    float x = threadIdx.x;\n    y[threadIdx.x] = %s;\n}\n",
             expression);
    must_compile(nvrtcCreateProgram(&program, source, "f.cu", 0, NULL, NULL), NULL);
    must_compile(nvrtcCompileProgram(program, 1, options), program);
    must_compile(nvrtcGetPTXSize(program, &size), program);
    ptx = malloc(size);
    if (!ptx)
        exit(1);
    must_compile(nvrtcGetPTX(program, ptx), program);
    nvrtcDestroyProgram(&program);
    return ptx;
}

int main(int argc, char **argv)
{
    const char *expression = argc > 1 ? argv[1] : "x * x - 3 * x + 0.5f";
    char *ptx = compile(expression);
    float values[N];
    ptxiContext context;
    ptxiModule module;
    ptxiFunction f;
    ptxiDevicePtr y;

    MUST(ptxiInit(0));
    MUST(ptxiCtxCreate(&context, 0, 0));
    MUST(ptxiModuleLoadData(&module, ptx));
    MUST(ptxiModuleGetFunction(&f, module, "f"));
    MUST(ptxiMemAlloc(&y, sizeof values));
    MUST(ptxiLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, NULL, (void *[]){ &y }, NULL));
    MUST(ptxiMemcpyDtoH(values, y, sizeof values));
    for (int i = 0; i < N; i++)
        printf("x = %d: %s = %g\n", i, expression, values[i]);
    MUST(ptxiCtxDestroy(context));
    free(ptx);
    return 0;
}
