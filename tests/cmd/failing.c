/* A program with calls of CUDA's libraries that fail, for the tool `api` of `ptxi exec --check`. It loads the libraries
 * as programs do that are not linked with them.
 *
 *     failing driver | runtime | early | answers | lookup | handwritten | host | forked | free
 */
#include "ptxi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *driver, *runtime;

static void *find(void *library, const char *name)
{
    void *f = dlsym(library, name);

    if (!f) {
        printf("%s not found\n", name);
        exit(100);
    }
    return f;
}

/* A function of the driver with the type of one of ptxi.h, and one of the runtime. */
#define DRIVER(type, name) ((__typeof__(type) *)find(driver, name))
#define RUNTIME(name, ...) ((int (*)(__VA_ARGS__))find(runtime, name))

enum { HUGE_SHIFT = 60 };

/* These functions are calls of their own, with names among the dynamic symbols. */
#define NAMED __attribute__((noinline, visibility("default")))
void test_driver(void) NAMED;
void test_runtime(void) NAMED;
void test_early(void) NAMED;
void test_answers(void) NAMED;
void test_lookup(void) NAMED;
void test_handwritten(void) NAMED;
void test_host(void) NAMED;
void test_forked(void) NAMED;
void test_free(void) NAMED;
void fail(void *unused) NAMED;
int main(int argc, char **argv) NAMED;

static void make_context(void)
{
    ptxiContext context;

    DRIVER(ptxiInit, "cuInit")(0);
    DRIVER(ptxiCtxCreate, "cuCtxCreate_v2")(&context, 0, 0);
}

/* Three calls from one place, and one from another. A call with another error is another finding. */
void test_driver(void)
{
    ptxiDevicePtr p;

    make_context();
    for (int k = 0; k < 3; k++)
        printf("%d\n", DRIVER(ptxiMemAlloc, "cuMemAlloc_v2")(&p, (size_t)1 << HUGE_SHIFT));
    printf("%d\n", DRIVER(ptxiMemAlloc, "cuMemAlloc_v2")(&p, (size_t)1 << HUGE_SHIFT));
    printf("%d\n", DRIVER(ptxiMemAlloc, "cuMemAlloc_v2")(&p, 0));
}

void test_runtime(void)
{
    void *p;

    for (int k = 0; k < 3; k++)
        printf("%d\n", RUNTIME("cudaMalloc", void **, size_t)(&p, (size_t)1 << HUGE_SHIFT));
    printf("%d ", RUNTIME("cudaPeekAtLastError", void)());
    printf("%d\n", RUNTIME("cudaGetLastError", void)());
}

/* Without a context; the first call is even before the library is initialised. */
void test_early(void)
{
    ptxiDevice device;

    printf("%d\n", DRIVER(ptxiCtxGetDevice, "cuCtxGetDevice")(&device));
    printf("%d\n", RUNTIME("cudaSetDevice", int)(99));
}

/* What programs ask for is no error. */
void test_answers(void)
{
    unsigned *word = NULL;
    ptxiStream stream;

    RUNTIME("cudaSetDevice", int)(0);
    RUNTIME("cudaHostAlloc", unsigned **, size_t, unsigned)(&word, sizeof *word, 0);
    RUNTIME("cudaStreamCreate", ptxiStream *)(&stream);
    DRIVER(ptxiStreamWaitValue32, "cuStreamWaitValue32_v2")(stream, (ptxiDevicePtr)(uintptr_t)word, 1, 0);
    printf("%d ", DRIVER(ptxiStreamQuery, "cuStreamQuery")(stream));
    printf("%d ", RUNTIME("cudaStreamQuery", ptxiStream)(stream));
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    printf("%d ", RUNTIME("cudaStreamSynchronize", ptxiStream)(stream));
    printf("%d ", RUNTIME("cudaDeviceDisablePeerAccess", int)(1));
    printf("%d ", RUNTIME("cudaDeviceEnablePeerAccess", int, unsigned)(1, 0));
    printf("%d\n", RUNTIME("cudaDeviceEnablePeerAccess", int, unsigned)(1, 0));
}

/* A status says that the name is unknown. The runtime asks the driver, which returns an error to it. */
void test_lookup(void)
{
    void *f;
    int status;

    printf("%d ", RUNTIME("cudaGetDriverEntryPoint", const char *, void **, unsigned long long, int *)("cuNothing", &f,
                                                                                                       0, &status));
    printf("%d\n", status);
}

/* Functions with a body in the library of the driver. One calls another. */
void test_handwritten(void)
{
    void *f;

    make_context();
    printf("%d\n", ((ptxiResult (*)(const char *, void **, int, uint64_t))find(driver, "cuGetProcAddress"))(
                       "cuNothing", &f, 13000, 0));
    printf("%d\n", ((ptxiResult (*)(unsigned))find(driver, "cuCtxSetFlags"))(3));
    printf("%d\n", ((ptxiResult (*)(void))find(driver, "cuLaunchGrid"))());
}

void fail(void *unused)
{
    void *p;

    (void)unused;
    printf("%d\n", RUNTIME("cudaMalloc", void **, size_t)(&p, 4));
}

/* A call of a function of the host is not permitted. */
void test_host(void)
{
    make_context();
    DRIVER(ptxiLaunchHostFunc, "cuLaunchHostFunc")(NULL, fail, NULL);
    DRIVER(ptxiCtxSynchronize, "cuCtxSynchronize")();
}

/* Calls of a child process fail, and must neither be reported nor hang. */
void test_forked(void)
{
    int status = 0;

    test_runtime();
    fflush(stdout);
    if (!fork()) {
        fail(NULL);
        exit(0);
    }
    wait(&status);
    printf("%d\n", status);
}

/* An address that is none. */
void test_free(void)
{
    printf("%d\n", RUNTIME("cudaFree", void *)((void *)0x1000));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "driver", test_driver },   { "runtime", test_runtime }, { "early", test_early },
        { "answers", test_answers }, { "lookup", test_lookup },   { "handwritten", test_handwritten },
        { "host", test_host },       { "forked", test_forked },   { "free", test_free },
    };

    driver = dlopen("libcuda.so.1", RTLD_NOW);
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (!driver || !runtime) {
        puts("no libraries");
        return 101;
    }
    for (int k = 1; k < argc; k++)
        for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
            if (!strcmp(tests[t].name, argv[k]))
                tests[t].run();
    return 0;
}
