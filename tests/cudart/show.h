// What the programs share: macros that call the runtime and print the name of the result.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static inline cudaError_t show_result(const char *call, cudaError_t e)
{
    printf("%s: %s\n", call, cudaGetErrorName(e));
    return e;
}

static inline void must_succeed(const char *call, int line, cudaError_t e)
{
    if (e == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, call, cudaGetErrorName(e));
    exit(99);
}

// Prints a call and its result. Returns the result.
#define SHOW(...) show_result(#__VA_ARGS__, __VA_ARGS__)
// Ends the program if the call fails.
#define MUST(...) must_succeed(#__VA_ARGS__, __LINE__, __VA_ARGS__)

// Prints n elements with a label.
static inline void show_ints(const char *label, const int *p, int n)
{
    printf("%s:", label);
    for (int i = 0; i < n; i++)
        printf(" %d", p[i]);
    printf("\n");
}

static inline void show_floats(const char *label, const float *p, int n)
{
    printf("%s:", label);
    for (int i = 0; i < n; i++)
        printf(" %g", p[i]);
    printf("\n");
}

// Copies n elements from the device and prints them.
template<typename T> static inline void fetch(T *host, const T *device, int n)
{
    MUST(cudaMemcpy(host, device, n * sizeof *host, cudaMemcpyDeviceToHost));
}
