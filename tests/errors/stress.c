/* Calls every function of ptxi.h from many threads concurrently with random arguments, including handles that other
 * threads use, destroy or have destroyed. The process must survive without hanging, and a normal program must work
 * afterwards.
 *
 *     stress [SECONDS]
 *
 * `make check` runs it for a few seconds, `make stress` for an hour. Builds with AddressSanitizer or ThreadSanitizer
 * find most errors. */
#include "calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 16, SECONDS = 4, HANG_SECONDS = 300,
    INTERRUPT_US = 20 * 1000, /* time between two interrupts, which end waits of streams for words */
    /* calls of a thread between two programs; other threads may destroy the objects with old handles */
    PROGRAM_EVERY = 500,
    MOST_OF_A_TYPE = 24,
    MOST_CONTEXTS = 3,        /* few, so that objects of one context are often used together */
    RARELY = 32,
    MOST_BYTES = 1 << 16        /* of memory that is kept, because filling it is fast */
};

static struct world world = { .lock = PTHREAD_MUTEX_INITIALIZER, .disturbed = true },
    elsewhere = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic bool stop;
static _Atomic unsigned long long call_counts[THREADS], launches;

/* Handles that no thread knows any more are not destroyed. */
PTXI_API const char *__lsan_default_options(void);
PTXI_API const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

/* Concurrent copies and fills of the same memory are races of this program. */
PTXI_API const char *__tsan_default_suppressions(void);
PTXI_API const char *__tsan_default_suppressions(void)
{
    return "race:move_part\nrace:^fill$\nrace:tests/errors/arguments.c\n";
}

/* ---- objects that the threads share */

/* Addresses are reused, so there are only a few. */
enum { MOST_CONTEXTS_SEEN = 4096 };
static _Atomic unsigned long long contexts_seen[MOST_CONTEXTS_SEEN];

static void remember_context(unsigned long long value)
{
    for (unsigned k = 0; k < MOST_CONTEXTS_SEEN; k++) {
        unsigned long long there = 0;

        if (contexts_seen[k] == value || atomic_compare_exchange_strong(&contexts_seen[k], &there, value) ||
            there == value)
            return;
    }
}

static void share(const char *type, unsigned long long value)
{
    if (!strcmp(type, "ptxiContext"))
        remember_context(value);
    add(&world, type, value);
}

/* Removes one object of the type if there are too many. */
static struct object take_surplus(const char *type)
{
    struct object taken = { NULL, 0 };
    unsigned n = 0, last = 0, most = strcmp(type, "ptxiContext") ? MOST_OF_A_TYPE : MOST_CONTEXTS;

    pthread_mutex_lock(&world.lock);
    for (unsigned k = 0; k < world.count; k++)
        if (!strcmp(world.objects[k].type, type)) {
            last = below(++n) ? last : k;
        }
    if (n >= most || world.count + 32 > MOST_OBJECTS) {
        taken = world.objects[n ? last : below(world.count)];
        world.objects[n ? last : 0] = world.objects[--world.count];
    }
    pthread_mutex_unlock(&world.lock);
    return taken;
}

static void destroy(struct object o)
{
#define IF(TYPE, CALL) \
    if (!strcmp(o.type, #TYPE)) { \
        TYPE x = (TYPE)o.value; \
        CALL; \
        return; \
    }
    IF(ptxiContext, ptxiCtxDestroy(x))
    IF(ptxiModule, ptxiModuleUnload(x))
    IF(ptxiLibrary, ptxiLibraryUnload(x))
    IF(ptxiStream, ptxiStreamDestroy(x))
    IF(ptxiEvent, ptxiEventDestroy(x))
    IF(ptxiGraph, ptxiGraphDestroy(x))
    IF(ptxiGraphExec, ptxiGraphExecDestroy(x))
    IF(ptxiGraphNode, ptxiGraphDestroyNode(x))
    IF(ptxiLinkState, ptxiLinkDestroy(x))
    IF(ptxiMemoryPool, ptxiMemPoolDestroy(x))
    IF(ptxiArray, ptxiArrayDestroy(x))
    IF(ptxiMipmappedArray, ptxiMipmappedArrayDestroy(x))
    IF(ptxiTexObject, ptxiTexObjectDestroy(x))
    IF(ptxiSurfObject, ptxiSurfObjectDestroy(x))
    IF(ptxiTexRef, ptxiTexRefDestroy(x))
    IF(ptxiDevicePtr, ptxiMemFree(x))
#undef IF
}

static bool is_small(unsigned long long address)
{
    ptxiDevicePtr base;
    size_t size;

    return !ptxiMemGetAddressRange(&base, &size, address) && size <= MOST_BYTES;
}

static bool is_pointer_to(const char *type, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(type, name, n) && !strcmp(type + n, " *");
}

/* Shares the objects that the last call has created. */
static void share_results(void)
{
    static const char *const types[] = {
        "ptxiContext", "ptxiModule", "ptxiFunction", "ptxiTexRef", "ptxiSurfRef", "ptxiDevicePtr", "ptxiStream",
        "ptxiEvent", "ptxiLinkState", "ptxiLibrary", "ptxiKernel", "ptxiMemoryPool", "ptxiArray", "ptxiMipmappedArray",
        "ptxiTexObject", "ptxiSurfObject", "ptxiGraph", "ptxiGraphNode", "ptxiGraphExec"
    };
    const struct argument *at;
    unsigned n = arguments_of_call(&at);
    struct { const char *type; unsigned long long value; } made[8];
    unsigned count = 0;

    for (unsigned k = 0; k < n && count < 8; k++)
        for (size_t t = 0; at[k].value && t < sizeof types / sizeof *types; t++)
            if (is_pointer_to(at[k].type, types[t])) {
                memcpy(&made[count].value, (const void *)(uintptr_t)at[k].value, sizeof made->value);
                made[count].type = types[t];
                count += made[count].value != 0;
            }
    for (unsigned k = 0; k < count; k++) {
        if (!strcmp(made[k].type, "ptxiDevicePtr") && !is_small(made[k].value)) {
            ptxiMemFree(made[k].value);
            continue;
        }
        struct object old = take_surplus(made[k].type);

        if (old.type)
            destroy(old);
        share(made[k].type, made[k].value);
    }
}

/* ---- small programs that use objects of all threads */

static const char kernels[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) host(.param .b32 a);\n"
    ".visible .entry calls() { .reg .b32 %r; { .param .b32 a; .param .b32 r; st.param.b32 [a], 7; call (r), host, (a); "
    "ld.param.b32 %r, [r]; } ret; }\n"
    ".visible .entry spins() { .reg .b32 %r; .reg .pred %p; mov.u32 %r, 0; L: add.u32 %r, %r, 1; "
    "setp.lt.u32 %p, %r, 20000; @%p bra L; ret; }\n"
    ".visible .entry adds(.param .u64 p) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; "
    "atom.global.add.u32 %r, [%d], 1; ret; }\n"
    ".visible .entry fetches(.param .u64 t) { .reg .b64 %d; .reg .b32 %r<5>; .reg .f32 %f; ld.param.u64 %d, [t]; "
    "mov.f32 %f, 0f00000000;\n"
    "  tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d, {%f}]; ret; }\n";

static _Thread_local unsigned char own[4096]; /* memory that kernels may use for a while */

#define ANY(TYPE) (TYPE)find(&world, #TYPE).value

static int host(int a)
{
    return a;
}

static void launch(ptxiFunction f, ptxiStream s, unsigned long long parameter)
{
    void *params[] = { &parameter };

    launches += ptxiLaunchKernel(f, 1 + below(4), 1, 1, 32 << below(3), 1, 1, 0, s, params, NULL) == PTXI_SUCCESS;
}

static void launch_any(void)
{
    launch(ANY(ptxiFunction), ANY(ptxiStream), ANY(ptxiDevicePtr));
}

static void load_and_launch(void)
{
    static const char *const names[] = { "calls", "spins", "adds", "fetches" };
    ptxiStream s = ANY(ptxiStream);
    ptxiModule m;
    ptxiFunction f;

    if (ptxiModuleLoadData(&m, kernels))
        return;
    ptxiModuleBindHostFunction(m, "host", (ptxiHostFunction)host, "int(int)");
    for (unsigned k = 0; k < 8; k++) {
        unsigned n = below(sizeof names / sizeof *names);

        if (!ptxiModuleGetFunction(&f, m, names[n]))
            launch(f, s, n == 3 ? ANY(ptxiTexObject) : ANY(ptxiDevicePtr));
        if (below(8) == 0)
            ptxiModuleBindHostFunction(m, "host", (ptxiHostFunction)host, "int32_t(int32_t)");
    }
    if (below(2))
        ptxiStreamSynchronize(s);
    ptxiModuleUnload(m);
}

static void capture(void)
{
    ptxiStream s = ANY(ptxiStream);
    ptxiGraph g;
    ptxiGraphExec x;

    if (ptxiStreamBeginCapture(s, PTXI_STREAM_CAPTURE_MODE_RELAXED))
        return;
    launch_any();
    launch(ANY(ptxiFunction), s, ANY(ptxiDevicePtr));
    ptxiMemsetD8Async(ANY(ptxiDevicePtr), 1, 16, s);
    if (ptxiStreamEndCapture(s, &g))
        return;
    if (!ptxiGraphInstantiate(&x, g, 0)) {
        ptxiGraphLaunch(x, ANY(ptxiStream));
        ptxiGraphLaunch(ANY(ptxiGraphExec), s);
        ptxiGraphExecDestroy(x);
    }
    ptxiGraphDestroy(g);
}

static void record_and_wait(void)
{
    ptxiEvent a = ANY(ptxiEvent), b = ANY(ptxiEvent);
    float ms;

    ptxiEventRecord(a, ANY(ptxiStream));
    launch_any();
    ptxiEventRecord(b, ANY(ptxiStream));
    ptxiStreamWaitEvent(ANY(ptxiStream), a, 0);
    ptxiEventSynchronize(b);
    ptxiEventElapsedTime(&ms, a, b);
}

/* The memory belongs to the thread again when CloseRange or Unregister returns. */
static void lend_memory(void)
{
    ptxiStream s = ANY(ptxiStream);
    bool open = below(2);

    if (open ? ptxiMemOpenRange(own, sizeof own, PTXI_RANGE_READ | PTXI_RANGE_WRITE)
             : ptxiMemHostRegister(own, sizeof own, 0))
        return;
    launch(ANY(ptxiFunction), s, (uintptr_t)own);
    if (below(2))
        launch(ANY(ptxiFunction), s, (uintptr_t)own + sizeof own - 4);
    while ((open ? ptxiMemCloseRange(own) : ptxiMemHostUnregister(own)) == PTXI_ERROR_OUT_OF_MEMORY)
        ;
}

static void allocate_in_order(void)
{
    ptxiStream s = ANY(ptxiStream);
    ptxiDevicePtr p;

    if (ptxiMemAllocAsync(&p, 4096, s))
        return;
    launch(ANY(ptxiFunction), s, p);
    ptxiMemcpyDtoDAsync(p, ANY(ptxiDevicePtr), 64, s);
    ptxiMemFreeAsync(p, s);
}

static void change_workers(void)
{
    ptxiCtxSetWorkers(NULL, 1 + below(3));
    launch_any();
    ptxiCtxSynchronize();
}

static void (*const programs[])(void) = { launch_any, load_and_launch, capture, record_and_wait, lend_memory,
                                          allocate_in_order, change_workers };

/* ---- a thread */

/* Creates objects of each type, in a context of their own. */
static void replenish(void)
{
    struct object old = take_surplus("ptxiContext");
    struct world own = { .lock = PTHREAD_MUTEX_INITIALIZER, .disturbed = true };

    if (old.type)
        destroy(old);
    make_world(&own);
    for (unsigned k = 0; k < own.count; k++) {
        old = take_surplus(own.objects[k].type);
        if (old.type)
            destroy(old);
        share(own.objects[k].type, own.objects[k].value);
    }
}

static void choose_context(void)
{
    ptxiContext ctx = (ptxiContext)find(&world, "ptxiContext").value;

    if (!ctx || below(64) == 0)
        replenish();
    else
        ptxiCtxSetCurrent(ctx);
}

static void drop_contexts(void)
{
    ptxiContext ctx;

    while (ptxiCtxPopCurrent(&ctx) == PTXI_SUCCESS)
        ;
}

/* Chooses any call, but rarely one that destroys an object. Otherwise there would be few objects. */
static const struct call *choose_call(void)
{
    static const char *const ends[] = { "Destroy", "Unload", "Free", "Release", "Reset" };
    const struct call *c = &calls[below(call_count)];

    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (strstr(c->name, ends[k]) && below(RARELY))
            return choose_call();
    return c;
}

static void *make_calls(void *arg)
{
    _Atomic unsigned long long *count = arg;
    unsigned counted;

    seed_arguments((unsigned long long)(count - call_counts) * 0x9e3779b97f4a7c15u + 1);
    while (!stop) {
        if (below(16) == 0)
            choose_context();
        if (call_with_arguments(choose_call()) == PTXI_SUCCESS)
            share_results();
        if (below(8) == 0)
            programs[below(sizeof programs / sizeof *programs)]();
        if (++*count % PROGRAM_EVERY == 0) {
            run_program(&counted);
            drop_contexts();
        }
    }
    drop_contexts();
    return NULL;
}

/* ---- the main thread */

/* Interrupts all contexts that ever existed: the primary context and those of the other world wait for words, too. */
static void interrupt_all(void)
{
    for (unsigned k = 0; k < MOST_CONTEXTS_SEEN; k++)
        if (contexts_seen[k])
            ptxiCtxInterrupt((ptxiContext)(uintptr_t)contexts_seen[k]);
}

static unsigned long long total(void)
{
    unsigned long long n = 0;

    for (unsigned k = 0; k < THREADS; k++)
        n += call_counts[k];
    return n;
}

/* Each thread must have made a call in the last minutes. */
static void look_for_hangs(void)
{
    static unsigned long long last[THREADS];
    static time_t since[THREADS];
    time_t now = time(NULL);

    for (unsigned k = 0; k < THREADS; k++)
        if (call_counts[k] != last[k] || !since[k]) {
            last[k] = call_counts[k];
            since[k] = now;
        } else if (now - since[k] > HANG_SECONDS) {
            fprintf(stderr, "thread %u hangs\n", k);
            abort();
        }
}

int main(int argc, char **argv)
{
    const long seconds = argc > 1 ? atol(argv[1]) : SECONDS;
    unsigned counted;
    time_t end;
    pthread_t threads[THREADS];

    arguments_from(&world, &elsewhere);
    OK(ptxiInit(0));
    make_world(&elsewhere);
    make_world(&world);
    remember_context(find(&elsewhere, "ptxiContext").value);
    remember_context(find(&world, "ptxiContext").value);
    drop_contexts();
    end = time(NULL) + seconds;
    for (unsigned k = 0; k < THREADS; k++)
        must(!pthread_create(&threads[k], NULL, make_calls, &call_counts[k]), "pthread_create");
    while (time(NULL) < end) {
        usleep(INTERRUPT_US);
        interrupt_all();
        look_for_hangs();
    }
    stop = true;
    for (unsigned k = 0; k < THREADS; k++) {
        while (pthread_tryjoin_np(threads[k], NULL)) {
            usleep(INTERRUPT_US);
            interrupt_all();
            look_for_hangs();
        }
    }
    OK(run_program(&counted));
    must(counted == COUNTED, "a wrong result");
    printf("%llu calls from %d threads, %llu launches\n", total(), THREADS, launches);
    return launches == 0;
}
