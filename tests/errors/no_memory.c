/* Makes each allocation fail once. The program must report the failure, leak nothing, and work again when memory is
 * available. The --wrap option of the linker puts this file between the library and the allocator. */
#include "no_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_ulong made;   /* allocations since the count began */
static atomic_ulong failing; /* the allocation that fails, 0 for none */
static atomic_long live;    /* blocks that have not been freed */
static atomic_long mapped;  /* bytes of mappings */

static bool fails(void)
{
    unsigned long n = atomic_fetch_add(&made, 1) + 1;

    if (n != atomic_load(&failing))
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&live, 1);
    return p;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *p);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    void *q = fails() ? NULL : __real_realloc(p, size);

    if (q && !p)
        counted(q);
    return q;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : counted(__real_aligned_alloc(align, size));
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : counted(__real_strdup(s));
}

void __wrap_free(void *p)
{
    if (p)
        atomic_fetch_sub(&live, 1);
    __real_free(p);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    void *p = fails() ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);

    if (p != MAP_FAILED && !(flags & MAP_FIXED))
        atomic_fetch_add(&mapped, (long)size);
    return p;
}

int __wrap_munmap(void *at, size_t size)
{
    atomic_fetch_sub(&mapped, (long)size);
    return __real_munmap(at, size);
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
{
    return fails() ? EAGAIN : __real_pthread_create(t, a, f, p);
}

/* Names, scopes, calls, .local and shared memory, constants, a jump table, and kernels that succeed and fail. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".file 1 \"m.cu\"\n"
    ".visible .global .align 4 .u32 counter = 3;\n"
    ".const .align 4 .u32 table[4] = { 1, 2, 3, 4 };\n"
    ".global .align 8 .u64 there = generic(counter);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 format[4] = { 104, 105, 10, 0 };\n"
    ".func (.param .b32 r) down(.param .b32 n)\n"
    "{ .local .align 4 .b8 l[64]; .reg .b32 %r<6>; .reg .pred %p; .param .b32 a; .param .b32 b;\n"
    "  ld.param.b32 %r1, [n]; setp.eq.u32 %p, %r1, 0; mov.b32 %r3, 0; @%p bra DONE; sub.u32 %r2, %r1, 1;\n"
    "  st.local.u32 [l], %r2; st.param.b32 [a], %r2; .loc 1 7 1\n call (b), down, (a); ld.param.b32 %r3, [b];\n"
    "DONE: add.u32 %r3, %r3, %r1; st.param.b32 [r], %r3; ret; }\n"
    ".visible .entry good(.param .u64 p)\n"
    "{ .reg .b64 %rd<6>; .reg .b32 %r<9>; .shared .align 4 .b8 s[256]; .param .b32 a; .param .b32 b;\n"
    "  .param .b64 f; .param .b64 v; .param .b32 n;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u64 %rd2, s; st.shared.u32 [%rd2], %r1; bar.sync 0;\n"
    "  mov.b32 %r2, 9; st.param.b32 [a], %r2; call (b), down, (a); ld.param.b32 %r3, [b];\n"
    "  ld.const.u32 %r4, [table+4]; add.u32 %r3, %r3, %r4; atom.global.add.u32 %r5, [%rd1], %r3;\n"
    "  mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3; st.param.b64 [f], %rd3; st.param.b64 [v], 0;\n"
    "  call (n), vprintf, (f, v); ret; }\n"
    ".visible .entry bad(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd1, [p]; mov.b32 %r, 1;\n"
    "  st.global.u32 [%rd1+4096], %r; ret; }\n"
    ".visible .entry choose(.param .u32 k) { .reg .b32 %r; ld.param.u32 %r, [k]; T: .branchtargets A, B; "
    "brx.idx %r, T;\n"
    "A: ret; B: trap; }\n";

static const char wrong[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { add.u33 %r1, %r2, 1; "
                            "sub.f32 %x; }\n";

static const char *program; /* and the allocation that failed, for messages */
static unsigned long step;

void die(const char *what)
{
    fprintf(stderr, "%s, allocation %lu failed: %s\n", program, step, what);
    exit(1);
}

bool fine(ptxiResult r, ptxiResult also, const char *call)
{
    const char *name;

    if (r == PTXI_SUCCESS)
        return true;
    if (r != PTXI_ERROR_OUT_OF_MEMORY && r != also) {
        ptxiGetErrorName(r, &name);
        fprintf(stderr, "%s: %s\n", call, name ? name : "?");
        die("another error");
    }
    return false;
}

static void swallow(void *user, const char *s, size_t n)
{
    (void)s;
    *(size_t *)user += n;
}

/* A captured launch is a child of a graph. Its instance is updated from the same graph. Graphs do not belong to the
 * context. */
static bool use_graphs(ptxiStream s, ptxiFunction f, void **params)
{
    ptxiGraphExecUpdateResultInfo info;
    ptxiGraph child = NULL, graph = NULL;
    ptxiGraphExec instance = NULL;
    ptxiGraphNode n;
    bool all = fine(ptxiStreamBeginCapture(s, PTXI_STREAM_CAPTURE_MODE_GLOBAL), PTXI_SUCCESS, "BeginCapture");

    if (all) {
        all = fine(ptxiLaunchKernel(f, 4, 1, 1, 64, 1, 1, 64, s, params, NULL), PTXI_SUCCESS, "a captured launch");
        all &= fine(ptxiStreamEndCapture(s, &child), PTXI_SUCCESS, "EndCapture");
    }
    all = all && fine(ptxiGraphCreate(&graph, 0), PTXI_SUCCESS, "GraphCreate") &&
          fine(ptxiGraphAddChildGraphNode(&n, graph, NULL, 0, child), PTXI_SUCCESS, "AddChildGraphNode") &&
          fine(ptxiGraphInstantiate(&instance, graph, 0), PTXI_SUCCESS, "GraphInstantiate") &&
          fine(ptxiGraphExecUpdate(instance, graph, &info), PTXI_SUCCESS, "GraphExecUpdate") &&
          fine(ptxiGraphLaunch(instance, s), PTXI_SUCCESS, "GraphLaunch");
    if (instance)
        ptxiGraphExecDestroy(instance);
    if (graph)
        ptxiGraphDestroy(graph);
    if (child)
        ptxiGraphDestroy(child);
    return all;
}

/* Names, kernels that succeed and fail, streams, events and capture. */
static bool use_kernels(ptxiContext ctx)
{
    static size_t printed;
    unsigned result, number = 0;
    ptxiDevicePtr p;
    ptxiModule m, none;
    ptxiFunction good, bad, choose;
    ptxiStream s;
    ptxiEvent e;
    void *params[] = { &p }, *numbers[] = { &number };
    ptxiReport report = { .size = sizeof report };
    char *list;

    printed = 0;
    TRY(ptxiCtxSetOutput(ctx, swallow, &printed));
    TRY(ptxiMemAlloc(&p, 4096));
    if (fine(ptxiModuleLoadData(&none, wrong), PTXI_ERROR_INVALID_PTX, "load of bad text"))
        die("bad text was accepted");
    TRY(ptxiModuleLoadData(&m, text));
    TRY(ptxiModuleGetUnsupported(m, &list));
    ptxiFree(list);
    TRY(ptxiModuleDump(m, NULL, &list));
    ptxiFree(list);
    TRY(ptxiModuleGetFunction(&good, m, "good"));
    TRY(ptxiModuleGetFunction(&bad, m, "bad"));
    TRY(ptxiModuleGetFunction(&choose, m, "choose"));
    TRY(ptxiStreamCreate(&s, 0));
    TRY(ptxiEventCreate(&e, 0));
    if (!use_graphs(s, good, params))
        return false;
    TRY(ptxiStreamSynchronize(s));
    TRY(ptxiMemsetD8(p, 0, 4096));
    TRY(ptxiLaunchKernel(good, 4, 1, 1, 64, 1, 1, 64, s, params, NULL));
    TRY(ptxiEventRecord(e, s));
    TRY(ptxiEventSynchronize(e));
    TRY(ptxiStreamSynchronize(s));
    TRY(ptxiMemcpyDtoH(&result, p, sizeof result));
    if (result != 4 * 64 * 47)
        die("a wrong result");
    TRY(ptxiLaunchKernel(choose, 1, 1, 1, 1, 1, 1, 0, s, numbers, NULL));
    TRY(ptxiLaunchKernel(bad, 2, 1, 1, 32, 1, 1, 0, s, params, NULL));
    if (fine(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS, "a bad access"))
        die("a bad access was not seen");
    fine(ptxiGetLastReport(ctx, &report), PTXI_ERROR_NOT_FOUND, "report");
    TRY(ptxiEventDestroy(e));
    TRY(ptxiStreamDestroy(s));
    TRY(ptxiModuleUnload(m));
    TRY(ptxiAsm("add.u32 %0, %1, %2;", "=r,r,n", &result, &number, &(long long){ 5 }));
    if (result != 5)
        die("a wrong result of ptxiAsm");
    if (fine(ptxiAsm("mov.u32 %0, %9;", "=r", &result), PTXI_ERROR_INVALID_PTX, "a bad template"))
        die("a bad template was accepted");
    TRY(ptxiMemFree(p));
    return true;
}

typedef bool use_function(ptxiContext ctx);

/* Runs the program with allocation number n failing. Returns false if there are fewer allocations. */
static bool run(use_function *use, unsigned long n, unsigned workers)
{
    ptxiContext ctx;
    bool whole = false;
    ptxiResult r;

    atomic_store(&made, 0);
    atomic_store(&failing, n);
    r = ptxiCtxCreate(&ctx, 0, 0);
    if (fine(r, PTXI_SUCCESS, "ptxiCtxCreate")) {
        if (fine(ptxiCtxSetWorkers(ctx, workers), PTXI_SUCCESS, "ptxiCtxSetWorkers"))
            whole = use(ctx);
        if (ptxiCtxDestroy(ctx))
            die("the context could not be destroyed");
    }
    bool reached = n && atomic_load(&made) >= n;

    atomic_store(&failing, 0);
    if (!reached && !whole)
        die("no memory without a reason");
    return reached;
}

enum { TABLES = 60, ALL_BLOCKS = 1100, PEER_BLOCKS = 3000, BLOCKS = 60 };

/* A run leaks nothing. The library keeps a limited number of freed blocks to detect stray accesses, so that number
 * is reached first. The map of allocations keeps the tables of address ranges that it has seen, so the sum over all
 * runs counts, and may grow by a few tables. */
static void sweep(const char *name, use_function *use, unsigned workers, int runs)
{
    unsigned long n;
    long blocks, bytes;

    program = name;
    step = 0;
    for (int k = 0; k < runs; k++)
        run(use, 0, workers);
    blocks = atomic_load(&live);
    bytes = atomic_load(&mapped);
    for (n = 1; step = n, run(use, n, workers); n++)
        run(use, 0, workers);
    blocks = atomic_load(&live) - blocks;
    bytes = atomic_load(&mapped) - bytes;
    printf("%s, %u workers: %lu allocations failed, %ld blocks and %ld bytes of mappings more\n", name, workers, n - 1,
           blocks, bytes);
    if (blocks > TABLES || bytes > 1 << 20)
        die("memory leaked");
}

int main(void)
{
    if (setenv("PTXI_DEVICE", "sm_90,sm_90", 1) || ptxiInit(0))
        return 2;
    sweep("kernels", use_kernels, 3, ALL_BLOCKS);
#define SWEEP(what) sweep(#what, use_##what, 1, BLOCKS);
    SWEEP(kernels)
    SWEEP(links)
    SWEEP(textures)
    SWEEP(copies)
    SWEEP(tensor_memory)
    SWEEP(children)
    SWEEP(nodes)
    SWEEP(host_memory)
    SWEEP(streams)
    SWEEP(files)
    SWEEP(libraries)
    sweep("peers", use_peers, 1, PEER_BLOCKS); /* each run has blocks in two contexts */
    SWEEP(graph_memory)
    SWEEP(mapped_memory)
    SWEEP(snapshots)
    SWEEP(windows)
    sweep("shared memory", use_shared_memory, 1, ALL_BLOCKS); /* its blocks are larger than those of the others */
    return 0;
}
