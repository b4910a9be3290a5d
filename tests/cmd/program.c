/* A program of the CUDA driver for `ptxi exec`. It finds the driver as CUDA programs do that load it themselves.
 *
 *     program FILE.ptx good | fault | rejected | exit N | signal N
 */
#include "ptxi.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *driver;

static void *find(const char *name)
{
    void *f = dlsym(driver, name);

    if (!f) {
        printf("%s not found\n", name);
        exit(100);
    }
    return f;
}

#define CALL(type, name) ((__typeof__(type) *)find(name))

static ptxiModule load(const char *file)
{
    ptxiContext context;
    ptxiModule module = NULL;

    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        puts("no driver");
        exit(101);
    }
    CALL(ptxiInit, "cuInit")(0);
    CALL(ptxiCtxCreate, "cuCtxCreate_v2")(&context, 0, 0);
    if (CALL(ptxiModuleLoad, "cuModuleLoad")(&module, file)) {
        puts("no module");
        exit(102);
    }
    return module;
}

/* These functions are calls of their own, with names among the dynamic symbols. */
#define NAMED __attribute__((noinline, visibility("default")))
int launch_reverse(ptxiModule module, unsigned threads, ptxiDevicePtr p) NAMED;
int run(ptxiModule module, const char *what) NAMED;
int main(int argc, char **argv) NAMED;

int launch_reverse(ptxiModule module, unsigned threads, ptxiDevicePtr p)
{
    void *params[] = { &p };
    ptxiFunction f = NULL;
    int r = CALL(ptxiModuleGetFunction, "cuModuleGetFunction")(&f, module, "reverse");

    if (!r)
        r = CALL(ptxiLaunchKernel, "cuLaunchKernel")(f, 1, 1, 1, threads, 1, 1, sizeof(unsigned[64]), NULL, params,
                                                     NULL);
    return r;
}

int run(ptxiModule module, const char *what)
{
    unsigned data[64] = { 1 };
    ptxiDevicePtr p;

    CALL(ptxiMemAlloc, "cuMemAlloc_v2")(&p, sizeof data);
    CALL(ptxiMemcpyHtoD, "cuMemcpyHtoD_v2")(p, data, sizeof data);
    int launched = launch_reverse(module, strcmp(what, "rejected") ? 64 : 32, strcmp(what, "fault") ? p : p + 4);
    int ended = CALL(ptxiCtxSynchronize, "cuCtxSynchronize")();

    printf("launch %d, end %d\n", launched, ended);
    return launched || ended;
}

int main(int argc, char **argv)
{
    ptxiModule module = load(argv[1]);

    if (argc > 3 && !strcmp(argv[2], "exit"))
        return atoi(argv[3]);
    if (argc > 3 && !strcmp(argv[2], "signal"))
        raise(atoi(argv[3]));
    return run(module, argv[2]) ? 1 : 0;
}
