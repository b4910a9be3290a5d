/* A short tour: loads two CUDA kernels that nvcc compiled, runs them on all cores, compares the results bit by bit with
 * C, and prints the speed.
 *
 *     ./showcase [sgemm.ptx [reduce.ptx]] */
#include "sample.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { ORDER = 384, TILE = 16, LENGTH = 8 << 20, BLOCKS = 256, THREADS = 256 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void *host_memory(size_t bytes)
{
    void *p = calloc(1, bytes);

    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static ptxiDevicePtr to_device(const void *host, size_t bytes)
{
    ptxiDevicePtr p;

    MUST(ptxiMemAlloc(&p, bytes));
    MUST(ptxiMemcpyHtoD(p, host, bytes));
    return p;
}

static ptxiFunction load(ptxiModule *module, const char *path, const char *name)
{
    ptxiFunction f;
    double t = now();

    MUST(ptxiModuleLoad(module, path));
    t = now() - t;
    MUST(ptxiModuleGetFunction(&f, *module, name));
    printf("  loaded %s in %.2f ms\n", strrchr(path, '/') ? strrchr(path, '/') + 1 : path, t);
    return f;
}

/* Runs a kernel three times: to count its instructions, to warm up, and to measure the time. */
static void run(ptxiFunction f, const unsigned grid[2], const unsigned block[2], void **params, ptxiDevicePtr clear,
                size_t bytes)
{
    ptxiCounters counters = { .size = sizeof counters };
    double ms = 0;

    for (int i = 0; i < 3; i++) {
        MUST(ptxiMemsetD8(clear, 0, bytes));
        MUST(ptxiCtxSetCounting(NULL, i == 0));
        ms = now();
        MUST(ptxiLaunchKernel(f, grid[0], grid[1], 1, block[0], block[1], 1, 0, NULL, params, NULL));
        MUST(ptxiCtxSynchronize());
        ms = now() - ms;
    }
    MUST(ptxiCtxGetCounters(NULL, &counters));
    MUST(ptxiCtxResetCounters(NULL));
    printf("  ran %u blocks of %u threads: %.0f million PTX instructions in %.2f ms, %.2f G/s\n",
           grid[0] * grid[1], block[0] * block[1], (double)counters.threadInstructions / 1e6, ms,
           (double)counters.threadInstructions / ms / 1e6);
}

static int show_sgemm(const char *path)
{
    const size_t bytes = (size_t)ORDER * ORDER * sizeof(float);
    float *a = host_memory(bytes), *b = host_memory(bytes), *c = host_memory(bytes), *want = host_memory(bytes);
    int n = ORDER;
    ptxiModule module;

    printf("sgemm: %d x %d matrix product through shared memory\n", n, n);
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i * 37 % 1009) / 1009.0f - 0.5f;
        b[i] = (float)(i * 71 % 1013) / 1013.0f - 0.5f;
    }
    ptxiFunction f = load(&module, path, "sgemm");
    ptxiDevicePtr da = to_device(a, bytes), db = to_device(b, bytes), dc = to_device(c, bytes);
    void *params[] = { &n, &n, &n, &da, &db, &dc };
    run(f, (unsigned[]){ ORDER / TILE, ORDER / TILE }, (unsigned[]){ TILE, TILE }, params, dc, bytes);
    MUST(ptxiMemcpyDtoH(c, dc, bytes));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                want[i * n + j] = fmaf(a[i * n + k], b[k * n + j], want[i * n + j]);
    int right = memcmp(c, want, bytes) == 0;
    printf("  %s\n", right ? "all results equal C's, bit for bit" : "WRONG results");
    MUST(ptxiMemFree(da));
    MUST(ptxiMemFree(db));
    MUST(ptxiMemFree(dc));
    MUST(ptxiModuleUnload(module));
    free(a);
    free(b);
    free(c);
    free(want);
    return right;
}

static int show_reduce(const char *path)
{
    int *v = host_memory((size_t)LENGTH * sizeof *v), n = LENGTH;
    long long sum = 0, want = 0;
    ptxiModule module;

    printf("reduce: sum of %d integers with shuffles, shared memory and atomics\n", n);
    for (int i = 0; i < n; i++) {
        v[i] = (int)((unsigned)i * 2654435761u);
        want += v[i];
    }
    ptxiFunction f = load(&module, path, "reduce");
    ptxiDevicePtr dv = to_device(v, (size_t)LENGTH * sizeof *v), dsum = to_device(&sum, sizeof sum);
    void *params[] = { &dv, &dsum, &n };
    run(f, (unsigned[]){ BLOCKS, 1 }, (unsigned[]){ THREADS, 1 }, params, dsum, sizeof sum);
    MUST(ptxiMemcpyDtoH(&sum, dsum, sizeof sum));
    printf("  sum %lld, %s\n", sum, sum == want ? "as in C" : "WRONG");
    MUST(ptxiMemFree(dv));
    MUST(ptxiMemFree(dsum));
    MUST(ptxiModuleUnload(module));
    free(v);
    return sum == want;
}

int main(int argc, char **argv)
{
    ptxiDevice device;
    ptxiContext context;
    unsigned workers;
    char name[100];

    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiDeviceGetName(name, sizeof name, device));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiCtxGetWorkers(NULL, &workers));
    printf("device 0: %s, run by %u host threads\n", name, workers);
    int right = show_sgemm(PTX_PATH(argc, argv, "sgemm.ptx"));
    right &= show_reduce(argc > 2 ? argv[2] : SAMPLES_DIR "/reduce.ptx");
    puts(right ? "everything is right" : "something is WRONG");
    MUST(ptxiCtxDestroy(context));
    return !right;
}
