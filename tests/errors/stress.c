/* Every call of ptxi.h from many threads at once, with any arguments: handles that other threads use, destroy or have destroyed among them. Whatever
 * the calls answer, the process lives, nothing hangs, and a program of the usual kind works afterwards.
 *
 *     stress [SECONDS]
 *
 * `make check` runs it for a few seconds, `make stress` for an hour; meant for AddressSanitizer and ThreadSanitizer, too. */
#include "calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 16, SECONDS = 4, HANG_SECONDS = 300,
    INTERRUPT_US = 20 * 1000,   /* streams that wait for words, and who waits for them, go on so often */
    PROGRAM_EVERY = 500,        /* calls of a thread: then it runs a program, whose handles other threads may take for those of older objects */
    MOST_OF_A_TYPE = 24,
    MOST_BYTES = 1 << 16        /* of memory that is kept: fills of it are quick */
};

static struct world world = { .lock = PTHREAD_MUTEX_INITIALIZER, .disturbed = true }, elsewhere = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic bool stop;
static _Atomic unsigned long long call_counts[THREADS];

/* Handles that nobody knows any more are left behind. */
PTXI_API const char *__lsan_default_options(void);
PTXI_API const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

/* Copies and fills of the same memory at once are races of this program. */
PTXI_API const char *__tsan_default_suppressions(void);
PTXI_API const char *__tsan_default_suppressions(void)
{
    return "race:move_part\nrace:^fill$\nrace:tests/errors/arguments.c\n";
}

/* ---- what the threads share */

/* Takes one object of the type away, if there are too many. */
static struct object take_surplus(const char *type)
{
    struct object taken = { NULL, 0 };
    unsigned n = 0, last = 0;

    pthread_mutex_lock(&world.lock);
    for (unsigned k = 0; k < world.count; k++)
        if (!strcmp(world.objects[k].type, type)) {
            last = below(++n) ? last : k;
        }
    if (n >= MOST_OF_A_TYPE || world.count + 32 > MOST_OBJECTS) {
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

/* Objects that the last call has made become everybody's. */
static void share_results(void)
{
    static const char *const types[] = {
        "ptxiContext *", "ptxiModule *", "ptxiFunction *", "ptxiTexRef *", "ptxiSurfRef *", "ptxiDevicePtr *", "ptxiStream *", "ptxiEvent *",
        "ptxiLinkState *", "ptxiLibrary *", "ptxiKernel *", "ptxiMemoryPool *", "ptxiArray *", "ptxiMipmappedArray *", "ptxiTexObject *",
        "ptxiSurfObject *", "ptxiGraph *", "ptxiGraphNode *", "ptxiGraphExec *"
    };
    static const char *const names[] = {
        "ptxiContext", "ptxiModule", "ptxiFunction", "ptxiTexRef", "ptxiSurfRef", "ptxiDevicePtr", "ptxiStream", "ptxiEvent",
        "ptxiLinkState", "ptxiLibrary", "ptxiKernel", "ptxiMemoryPool", "ptxiArray", "ptxiMipmappedArray", "ptxiTexObject",
        "ptxiSurfObject", "ptxiGraph", "ptxiGraphNode", "ptxiGraphExec"
    };
    const struct argument *at;
    unsigned n = arguments_of_call(&at);
    struct { const char *type; unsigned long long value; } made[8];
    unsigned count = 0;

    for (unsigned k = 0; k < n && count < 8; k++)
        for (size_t t = 0; at[k].value && t < sizeof types / sizeof *types; t++)
            if (!strcmp(at[k].type, types[t])) {
                memcpy(&made[count].value, (const void *)(uintptr_t)at[k].value, sizeof made->value);
                made[count].type = names[t];
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
        add(&world, made[k].type, made[k].value);
    }
}

/* ---- a thread */

/* Objects of each type, in a context of their own. */
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
        add(&world, own.objects[k].type, own.objects[k].value);
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

static void *make_calls(void *arg)
{
    _Atomic unsigned long long *count = arg;
    unsigned counted;

    seed_arguments((unsigned long long)(count - call_counts) * 0x9e3779b97f4a7c15u + 1);
    while (!stop) {
        if (below(16) == 0)
            choose_context();
        if (call_with_arguments(&calls[below(call_count)]) == PTXI_SUCCESS)
            share_results();
        if (++*count % PROGRAM_EVERY == 0) {
            run_program(&counted);
            drop_contexts();
        }
    }
    drop_contexts();
    return NULL;
}

/* ---- the main thread */

static void interrupt_all(void)
{
    static struct object contexts[MOST_OBJECTS];
    unsigned n = 0;

    pthread_mutex_lock(&world.lock);
    for (unsigned k = 0; k < world.count; k++)
        if (!strcmp(world.objects[k].type, "ptxiContext"))
            contexts[n++] = world.objects[k];
    pthread_mutex_unlock(&world.lock);
    while (n--)
        ptxiCtxInterrupt((ptxiContext)contexts[n].value);
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
    printf("%llu calls from %d threads\n", total(), THREADS);
    return 0;
}
