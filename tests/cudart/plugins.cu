// Shared libraries with kernels: opened, used, closed and opened again with dlopen().
#include "show.h"

#include <dlfcn.h>

__device__ int counter = 1;

// The shared library has a kernel of the same name.
__global__ void step(int *p)
{
    *p = ++counter;
}

static int run_plugin(const char *file, int value)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int result = -1;

    if (!handle) {
        printf("dlopen: %s\n", dlerror());
        return 1;
    }
    auto run = (int (*)(int))dlsym(handle, "run_plugin");
    if (run)
        result = run(value);
    printf("plugin: %d\n", result);
    dlclose(handle);
    return 0;
}

int main()
{
    int *p, host;

    if (run_plugin("./plugins_library.so", 5))
        return 1;
    MUST(cudaMalloc(&p, sizeof *p));
    for (int i = 0; i < 3; i++) {
        step<<<1, 1>>>(p);
        SHOW(cudaGetLastError());
        fetch(&host, p, 1);
        printf("main: %d\n", host);
        if (run_plugin("./plugins_library.so", i))
            return 1;
    }
    SHOW(cudaDeviceSynchronize());
    return 0;
}
