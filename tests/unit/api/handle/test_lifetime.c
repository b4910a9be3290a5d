/* Destroys and replaces objects while other threads use them: contexts, modules, workers, bindings, memory and
 * textures. Calls must succeed or fail with the error of a destroyed object. Nothing may be used after it is freed,
 * which AddressSanitizer checks. The rule is in libptxi/api/handle/handle.h. */
#include "unit/support/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 4, BLOCK = 32, PAUSE_US = 300 };

static const char text[] = ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) host(.param .b32 a);\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry endless() { L: bra L; }\n"
    ".visible .entry calls() { .reg .b32 %r<3>; .reg .pred %p; mov.u32 %r2, 0;\n"
    "L: { .param .b32 a; .param .b32 r; st.param.b32 [a], 7; call (r), host, (a); ld.param.b32 %r1, [r]; }\n"
    "  add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 20; @%p bra L; ret; }\n"
    ".visible .entry fetches(.param .u64 t) { .reg .b64 %rd; .reg .b32 %r<5>; .reg .f32 %f; ld.param.u64 %rd, [t]; "
    "mov.f32 %f, 0f00000000;\n"
    "  tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd, {%f}]; ret; }\n";

static ptxiModule module;
static _Atomic bool stop;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    stop = false;
}

static ptxiFunction kernel(const char *name)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return f;
}

static ptxiResult launch(ptxiFunction f, void **params)
{
    ptxiResult r = ptxiLaunchKernel(f, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL);

    return r ? r : ptxiCtxSynchronize();
}

static void start_threads(pthread_t *threads, unsigned n, void *(*run)(void *), void *arg)
{
    for (unsigned k = 0; k < n; k++)
        ck_assert_int_eq(pthread_create(&threads[k], NULL, run, arg), 0);
}

static void join_threads(pthread_t *threads, unsigned n)
{
    stop = true;
    for (unsigned k = 0; k < n; k++)
        ck_assert_int_eq(pthread_join(threads[k], NULL), 0);
}

/* Launches kernels until the test sets the stop flag. Returns the first error, if any. */
static void *launch_on(void *f)
{
    ptxiResult r = ptxiCtxSetCurrent(ctx);

    while (!r && !stop)
        r = launch(f, NULL);
    return (void *)(uintptr_t)r;
}

/* ---- objects that launches use */

START_TEST(workers_are_replaced_while_kernels_are_launched)
{
    pthread_t threads[THREADS];
    unsigned workers;

    start_threads(threads, THREADS, launch_on, kernel("nothing"));
    for (unsigned n = 0; n < 500; n++) {
        ok(ptxiCtxSetWorkers(ctx, 1 + n % 4));
        ok(ptxiCtxGetWorkers(ctx, &workers));
        ck_assert_uint_eq(workers, 1 + n % 4);
    }
    join_threads(threads, THREADS);
}
END_TEST

static _Atomic bool first_is_bound, second_is_bound;
static _Atomic unsigned called_unbound;

static int first_host_function(int a)
{
    called_unbound += !first_is_bound;
    return a;
}

static int second_host_function(int a)
{
    called_unbound += !second_is_bound;
    return a;
}

START_TEST(launches_do_not_call_unbound_functions)
{
    pthread_t threads[THREADS];

    called_unbound = 0;
    first_is_bound = true;
    ok(ptxiModuleBindHostFunction(module, "host", (ptxiHostFunction)first_host_function, "int(int)"));
    start_threads(threads, THREADS, launch_on, kernel("calls"));
    for (unsigned n = 0; n < 200; n++) {
        second_is_bound = true;
        ok(ptxiModuleBindHostFunction(module, "host", (ptxiHostFunction)second_host_function, "int(int)"));
        first_is_bound = false; /* as if the code of the function were unloaded */
        usleep(PAUSE_US);
        first_is_bound = true;
        ok(ptxiModuleBindHostFunction(module, "host", (ptxiHostFunction)first_host_function, "int32_t(int32_t)"));
        second_is_bound = false;
    }
    join_threads(threads, THREADS);
    ck_assert_uint_eq(called_unbound, 0);
}
END_TEST

START_TEST(modules_are_unloaded_while_kernels_are_launched)
{
    for (unsigned n = 0; n < 100; n++) {
        pthread_t threads[THREADS];
        ptxiFunction f;

        ok(ptxiModuleLoadData(&module, text));
        f = kernel("nothing");
        start_threads(threads, THREADS, launch_on, f);
        usleep(PAUSE_US);
        ok(ptxiModuleUnload(module));
        ck_result(launch(f, NULL), PTXI_ERROR_INVALID_HANDLE);
        ck_result(ptxiModuleUnload(module), PTXI_ERROR_INVALID_HANDLE);
        join_threads(threads, THREADS);
    }
}
END_TEST

/* ---- contexts */

static ptxiResult alloc_and_free(void)
{
    ptxiDevicePtr p;
    ptxiResult r = ptxiMemAlloc(&p, 64);

    return r ? r : ptxiMemFree(p);
}

static ptxiResult load(void)
{
    ptxiModule m;

    return ptxiModuleLoadData(&m, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }");
}

static ptxiResult create_stream(void)
{
    ptxiStream s;

    return ptxiStreamCreate(&s, 0);
}

static ptxiResult (*const uses[])(void) = { alloc_and_free, ptxiCtxSynchronize, load, create_stream };

static void *use_context(void *arg)
{
    ptxiContext *mine = arg;

    if (ptxiCtxPushCurrent(*mine))
        return NULL;
    for (unsigned n = 0; !stop; n++)
        if (uses[n % (sizeof uses / sizeof *uses)]() == PTXI_ERROR_CONTEXT_IS_DESTROYED)
            return arg;
    return NULL;
}

START_TEST(contexts_are_destroyed_while_threads_are_in_calls)
{
    for (unsigned n = 0; n < 200; n++) {
        pthread_t threads[THREADS];
        ptxiContext mine;

        stop = false;
        ok(ptxiCtxCreate(&mine, 0, 0));
        start_threads(threads, THREADS, use_context, &mine);
        usleep(n % 8 * PAUSE_US);
        ok(ptxiCtxDestroy(mine));
        ck_result(ptxiCtxDestroy(mine), PTXI_ERROR_INVALID_CONTEXT);
        join_threads(threads, THREADS);
    }
}
END_TEST

static void *destroy_context(void *mine)
{
    return (void *)(uintptr_t)ptxiCtxDestroy(mine);
}

START_TEST(waiting_for_an_endless_kernel_can_be_interrupted)
{
    pthread_t destroyer;
    void *result;

    ok(ptxiLaunchKernel(kernel("endless"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ck_assert_int_eq(pthread_create(&destroyer, NULL, destroy_context, ctx), 0);
    while (ptxiCtxPushCurrent(ctx) == PTXI_SUCCESS) /* until the context admits no calls */
        ok(ptxiCtxPopCurrent(NULL));
    ok(ptxiCtxInterrupt(ctx));
    ck_assert_int_eq(pthread_join(destroyer, &result), 0);
    ck_assert_ptr_null(result);
    ck_result(ptxiCtxInterrupt(ctx), PTXI_ERROR_INVALID_CONTEXT);
    open_context(); /* for the fixture */
}
END_TEST

static void *retain_and_release(void *arg)
{
    ptxiContext primary;

    for (unsigned n = 0; n < 300; n++) {
        ptxiResult r = ptxiDevicePrimaryCtxRetain(&primary, 0);

        if (!r && !ptxiCtxSetCurrent(primary))
            alloc_and_free();
        if (!r)
            ptxiDevicePrimaryCtxRelease(0);
    }
    return arg;
}

START_TEST(many_threads_share_the_primary_context)
{
    pthread_t threads[4 * THREADS];
    unsigned flags;
    int active;

    start_threads(threads, 4 * THREADS, retain_and_release, NULL);
    join_threads(threads, 4 * THREADS);
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
}
END_TEST

/* ---- memory and textures */

static void *free_memory(void *p)
{
    ptxiResult r = ptxiCtxSetCurrent(ctx);

    while (!stop)
        ;
    return (void *)(uintptr_t)(r ? r : ptxiMemFree(*(ptxiDevicePtr *)p));
}

START_TEST(only_one_of_several_frees_succeeds)
{
    for (unsigned n = 0; n < 200; n++) {
        pthread_t threads[THREADS];
        ptxiDevicePtr p;
        unsigned freed = 0;

        stop = false;
        ok(ptxiMemAlloc(&p, 64));
        start_threads(threads, THREADS, free_memory, &p);
        stop = true;
        for (unsigned k = 0; k < THREADS; k++) {
            void *r;

            ck_assert_int_eq(pthread_join(threads[k], &r), 0);
            ck_assert(!r || (ptxiResult)(uintptr_t)r == PTXI_ERROR_INVALID_VALUE);
            freed += !r;
        }
        ck_assert_uint_eq(freed, 1);
    }
}
END_TEST

static ptxiTexObject make_texture(ptxiDevicePtr p)
{
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_LINEAR,
                             .res.linear = { p, PTXI_AD_FORMAT_UNSIGNED_INT32, 4, 4096 } };
    PTXI_TEXTURE_DESC t = { .flags = PTXI_TRSF_READ_AS_INTEGER };
    ptxiTexObject o;

    ok(ptxiTexObjectCreate(&o, &r, &t, NULL));
    return o;
}

static void *make_textures(void *arg)
{
    ptxiContext mine;
    ptxiDevicePtr p;

    ok(ptxiCtxCreate(&mine, 0, 0));
    ok(ptxiMemAlloc(&p, 4096));
    while (!stop)
        ok(ptxiTexObjectDestroy(make_texture(p)));
    ok(ptxiCtxDestroy(mine));
    return arg;
}

START_TEST(kernels_use_only_textures_of_their_context)
{
    pthread_t maker;
    ptxiContext other;
    ptxiDevicePtr p;

    ok(ptxiCtxCreate(&other, 0, 0));
    ok(ptxiMemAlloc(&p, 4096));
    ptxiTexObject other_texture = make_texture(p);
    void *params[] = { &other_texture };

    ok(ptxiCtxSetCurrent(ctx));
    ck_result(launch(kernel("fetches"), params), PTXI_ERROR_ILLEGAL_INSTRUCTION);
    start_threads(&maker, 1, make_textures, NULL);
    for (unsigned n = 0; n < 500; n++)
        ck_result(launch(kernel("fetches"), params), PTXI_ERROR_ILLEGAL_INSTRUCTION);
    join_threads(&maker, 1);
    ok(ptxiMemAlloc(&p, 4096));
    ptxiTexObject own_texture = make_texture(p);

    params[0] = &own_texture;
    ok(launch(kernel("fetches"), params));
    ok(ptxiCtxDestroy(other));
}
END_TEST

/* ---- handles of destroyed objects */

START_TEST(destroyed_objects_are_not_found)
{
    ptxiStream stream;
    ptxiEvent event;
    ptxiGraph graph;
    ptxiGraphNode node;
    ptxiLinkState link;
    ptxiLibrary library;
    ptxiKernel k;
    const char *name;
    PTXI_ARRAY_DESCRIPTOR d = { 4, 4, PTXI_AD_FORMAT_FLOAT, 1 };
    ptxiArray array;

    ok(ptxiStreamCreate(&stream, 0));
    ok(ptxiStreamDestroy(stream));
    ck_result(ptxiStreamSynchronize(stream), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiStreamDestroy(stream), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiEventCreate(&event, 0));
    ok(ptxiEventDestroy(event));
    ck_result(ptxiEventRecord(event, NULL), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiGraphCreate(&graph, 0));
    ok(ptxiGraphAddEmptyNode(&node, graph, NULL, 0));
    ok(ptxiGraphDestroy(graph));
    ck_result(ptxiGraphAddEmptyNode(&node, graph, NULL, 0), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiGraphDestroyNode(node), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiLinkCreate(0, NULL, NULL, &link));
    ok(ptxiLinkDestroy(link));
    ck_result(ptxiLinkDestroy(link), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    ok(ptxiLibraryGetKernel(&k, library, "nothing"));
    ok(ptxiLibraryUnload(library));
    ck_result(ptxiKernelGetName(&name, k), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiLibraryUnload(library), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiArrayCreate(&array, &d));
    ok(ptxiArrayDestroy(array));
    ck_result(ptxiArrayGetDescriptor(&d, array), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiStreamSynchronize((ptxiStream)(uintptr_t)0x1000), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(programs_cannot_destroy_the_graph_of_a_capture)
{
    ptxiStream stream;
    ptxiGraph graph, ended;
    ptxiStreamCaptureStatus status;

    ok(ptxiStreamCreate(&stream, 0));
    ok(ptxiStreamBeginCapture(stream, PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    ok(ptxiStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
    ck_result(ptxiGraphDestroy(graph), PTXI_ERROR_ILLEGAL_STATE); /* as on an H200 */
    ok(ptxiStreamEndCapture(stream, &ended));
    ck_assert_ptr_eq(ended, graph);
    ok(ptxiGraphDestroy(graph));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lifetime");
    TCase *t = tcase_create("lifetime");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, workers_are_replaced_while_kernels_are_launched);
    tcase_add_test(t, launches_do_not_call_unbound_functions);
    tcase_add_test(t, modules_are_unloaded_while_kernels_are_launched);
    tcase_add_test(t, contexts_are_destroyed_while_threads_are_in_calls);
    tcase_add_test(t, waiting_for_an_endless_kernel_can_be_interrupted);
    tcase_add_test(t, many_threads_share_the_primary_context);
    tcase_add_test(t, only_one_of_several_frees_succeeds);
    tcase_add_test(t, kernels_use_only_textures_of_their_context);
    tcase_add_test(t, destroyed_objects_are_not_found);
    tcase_add_test(t, programs_cannot_destroy_the_graph_of_a_capture);
    suite_add_tcase(s, t);
    return run_suite(s);
}
