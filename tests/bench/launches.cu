// Prints the time of a launch of an empty kernel in ns, by `<<<>>>`, by the driver API and by ptxi.h, as medians of
// interleaved rounds. After each round the stream is synchronised, which is part of the time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

#include "ptxi.h"

__global__ void empty(int *, int)
{
}

enum { LAUNCHES = 200, ROUNDS = 301 };

static CUfunction function;
static decltype(&cuLaunchKernel) driver_launch;
static decltype(&ptxiLaunchKernel) library_launch;
static int *pointer, number;
static void *parameters[] = { &pointer, &number };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s failed\n", what);
    std::exit(1);
}

static void by_runtime()
{
    empty<<<1, 32>>>(pointer, number);
}

static void by_driver()
{
    must(!driver_launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
}

static void by_library()
{
    must(!library_launch((ptxiFunction)function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr),
         "ptxiLaunchKernel");
}

static double round_ns(void (*launch)())
{
    auto start = std::chrono::steady_clock::now();

    for (int i = 0; i < LAUNCHES; i++)
        launch();
    must(!cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / LAUNCHES;
}

int main()
{
    void (*const ways[])() = { by_runtime, by_driver, by_library };
    std::vector<double> times[3];

    driver_launch = (decltype(driver_launch))dlsym(RTLD_DEFAULT, "cuLaunchKernel");
    library_launch = (decltype(library_launch))dlsym(RTLD_DEFAULT, "ptxiLaunchKernel");
    must(library_launch, "ptxiLaunchKernel, which the runtime of libptxi has,");
    must(!cudaGetFuncBySymbol((cudaFunction_t *)&function, (const void *)empty), "cudaGetFuncBySymbol");
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < 3; w++)
            if (w != 1 || driver_launch)
                times[w].push_back(round_ns(ways[w]));
    for (int w = 0; w < 3; w++) {
        std::sort(times[w].begin(), times[w].end());
        std::printf("%.0f%c", times[w].empty() ? 0 : times[w][times[w].size() / 2], w == 2 ? '\n' : ' ');
    }
    return 0;
}
