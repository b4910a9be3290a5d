/* Regression test: dlopen() and dlclose() of the library while its threads are still running. */
#include "ptxi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 10, SKIP = 77 };

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { nanosleep.u32 100; ret; }\n";

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#define CALL(NAME, ...) must(!((__typeof__(NAME) *)dlsym(library, #NAME))(__VA_ARGS__), #NAME)

static void use(void *library, int destroy)
{
    ptxiContext ctx;
    ptxiModule m;
    ptxiFunction f;

    CALL(ptxiInit, 0);
    CALL(ptxiCtxCreate, &ctx, 0, 0);
    CALL(ptxiCtxSetWorkers, ctx, 3);
    CALL(ptxiModuleLoadData, &m, text);
    CALL(ptxiModuleGetFunction, &f, m, "k");
    CALL(ptxiLaunchKernel, f, 100, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    if (destroy)
        CALL(ptxiCtxDestroy, ctx);
}

int main(void)
{
    const char *build = getenv("top_builddir");
    char name[4096];

    snprintf(name, sizeof name, "%s/.libs/libptxi.so", build ? build : ".");
    if (access(name, R_OK))
        return SKIP; /* --disable-shared */
    for (int k = 0; k < TIMES; k++) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

        must(library != NULL, "it cannot be loaded");
        use(library, k & 1);
        must(!dlclose(library), "dlclose");
        usleep(1000);
    }
    return 0;
}
