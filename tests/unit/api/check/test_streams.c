/* Tests the search for races between launches, copies and fills of different streams with pairs of a faulty and a
 * correct program. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 16384, THREADS = 64, USED = 4 * THREADS };

static ptxiModule module;
static ptxiDevicePtr mem, managed, told; /* told: of the host, for the kernels that take two arguments */
static ptxiStream a, b;
static ptxiEvent event;

static ptxiFunction function(const char *name)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return f;
}

static void launch_at(const char *name, ptxiDevicePtr at, ptxiStream s)
{
    void *params[] = { &at, &told };

    ok(ptxiLaunchKernel(function(name), 1, 1, 1, THREADS, 1, 1, 0, s, params, NULL));
}

static void launch(const char *name, ptxiStream s)
{
    launch_at(name, mem, s);
}

/* b waits for the work of a. */
static void order(void)
{
    ok(ptxiEventRecord(event, a));
    ok(ptxiStreamWaitEvent(b, event, 0));
}

/* --- programs: the letter says what has to be found --- */

/* They write the same values. */
static void b_write_write(void) { launch("write_words", a); launch("write_words", b); }
static void c_write_event_write(void) { launch("write_words", a); order(); launch("write_words", b); }
static void c_write_elsewhere(void) { launch("write_words", a); launch_at("write_words", mem + USED, b); }
static void e_write_partly(void) { launch("write_words", a); launch_at("write_words", mem + USED - 4, b); }
static void c_write_write_in_order(void) { launch("write_words", a); launch("write_words", a); }
static void e_write_read(void) { launch("write_words", a); launch("read_only", b); }
static void c_write_event_read(void) { launch("write_words", a); order(); launch("read_only", b); }
static void e_read_write(void) { launch("read_only", a); launch("write_words", b); }
static void c_read_read(void) { launch("read_only", a); launch("read_only", b); }
static void c_add_add(void) { launch("add_words", a); launch("add_words", b); }
static void e_add_write(void) { launch("add_words", a); launch("write_words", b); }

/* The event comes too early. */
static void e_event_before_write(void) { order(); launch("write_words", a); launch("read_only", b); }

/* The last launch is ordered with the second one only. */
static void e_third_stream(void)
{
    launch("read_only", a);
    launch("read_only", b);
    launch("write_words", b);
}

static void c_transitive(void)
{
    launch("write_words", a);
    order();
    ok(ptxiEventRecord(event, b));
    launch("read_only", b);
    ok(ptxiStreamWaitEvent(NULL, event, 0));
    launch("read_only", NULL);
}

static void c_synchronised(void) { launch("write_words", a); ok(ptxiStreamSynchronize(a)); launch("write_words", b); }
static void c_context(void) { launch("write_words", a); ok(ptxiCtxSynchronize()); launch("write_words", b); }

static void c_event_synchronised(void)
{
    launch("write_words", a);
    ok(ptxiEventRecord(event, a));
    ok(ptxiEventSynchronize(event));
    launch("write_words", b);
}

static void c_query(void)
{
    launch("write_words", a);
    while (ptxiStreamQuery(a))
        ;
    launch("write_words", b);
}

static void c_legacy(void)
{
    ptxiStream blocking;

    ok(ptxiStreamCreate(&blocking, PTXI_STREAM_DEFAULT));
    launch("write_words", blocking);
    launch("write_words", NULL);
    launch("write_words", blocking);
    ok(ptxiStreamDestroy(blocking));
}

static void e_legacy(void) { launch("read_only", a); launch("write_words", NULL); }

static void set_flag(void *flag)
{
    atomic_store((_Atomic int *)flag, 1);
}

/* The program waits in its own way for a call of the stream. */
static void c_host_function(void)
{
    static _Atomic int flag;

    atomic_store(&flag, 0);
    launch("write_words", a);
    ok(ptxiLaunchHostFunc(a, set_flag, (void *)&flag));
    while (!atomic_load(&flag))
        ;
    launch("write_words", b);
}

static void c_wait_value(void)
{
    launch("write_words", a);
    ok(ptxiStreamWriteValue32(a, mem + 8192, 1, 0));
    ok(ptxiStreamWaitValue32(b, mem + 8192, 1, PTXI_STREAM_WAIT_VALUE_EQ));
    launch("write_words", b);
}

/* Launches that communicate, and one that happens after the second. */
static void c_flag(void) { launch("publish", a); launch("await", b); launch("write_words", b); }

static void wait_for_kernel(void)
{
    while (!*(volatile uint32_t *)(uintptr_t)told)
        ;
}

/* A kernel tells the host, which launches another one. */
static void c_tells_host(void) { launch("tell_host", a); wait_for_kernel(); launch("write_words", b); }
static void e_tells_weakly(void) { launch("tell_weakly", a); wait_for_kernel(); launch("read_only", b); }
static void c_tells_host_then_copy(void)
{
    static uint32_t word;

    launch("tell_host", a);
    wait_for_kernel();
    ok(ptxiMemcpyDtoHAsync(&word, mem, sizeof word, b));
}

/* The host knows that a launch has ended, and tells a kernel that runs. */
static void c_told_by_host(void)
{
    launch("await_host", b);
    launch("write_words", a);
    ok(ptxiStreamSynchronize(a));
    *(volatile uint32_t *)(uintptr_t)told = 1;
}

/* Memory that is allocated and freed in the order of a stream. */
static void use_allocation(void (*between)(void))
{
    ptxiDevicePtr p;

    launch("read_only", a);
    ok(ptxiMemAllocAsync(&p, USED, a));
    between();
    launch_at("write_words", p, b);
    ok(ptxiStreamSynchronize(b));
    ok(ptxiMemFree(p));
}

static void nothing(void) { }
static void wait_for_a(void) { ok(ptxiStreamSynchronize(a)); }
static void e_allocated_in_other_stream(void) { use_allocation(nothing); }
static void c_allocated_then_event(void) { use_allocation(order); }
static void c_allocated_then_waited(void) { use_allocation(wait_for_a); }

static void free_after_use(void (*between)(void))
{
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, USED));
    launch_at("write_words", p, b);
    launch("tell_weakly", b);
    wait_for_kernel(); /* the launch has ended, but the order of the streams does not say so */
    between();
    ok(ptxiMemFreeAsync(p, a));
}

static void order_a_after_b(void) { ok(ptxiEventRecord(event, b)); ok(ptxiStreamWaitEvent(a, event, 0)); }
static void e_freed_in_other_stream(void) { free_after_use(nothing); }
static void c_freed_after_event(void) { free_after_use(order_a_after_b); }

static unsigned char bytes[BYTES];

static void e_copy_to(void) { launch("read_only", a); ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b)); }
static void e_copy_to_first(void) { ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b)); launch("read_only", a); }
static void c_copy_to(void) { launch("read_only", a); order(); ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b)); }
static void c_copy_elsewhere(void) { launch("read_only", a); ok(ptxiMemcpyHtoDAsync(mem + USED, bytes, USED, b)); }
static void e_copy_from(void) { launch("write_words", a); ok(ptxiMemcpyDtoHAsync(bytes, mem, 4, b)); }
static void c_copy_from(void) { launch("read_only", a); ok(ptxiMemcpyDtoHAsync(bytes, mem, 4, b)); }
static void e_copy_waits(void) { launch("write_words", a); ok(ptxiMemcpyDtoH(bytes, mem, 4)); }
static void c_copy_then_launch(void) { ok(ptxiMemcpyHtoD(mem, bytes, USED)); launch("read_only", a); }
static void e_fill(void) { ok(ptxiMemsetD8Async(mem + USED - 1, 1, 1, a)); launch("add_words", b); }
static void c_fill(void) { ok(ptxiMemsetD8Async(mem + USED, 1, 1, a)); launch("add_words", b); }

static void e_copy_copy(void)
{
    ok(ptxiMemcpyDtoDAsync(mem + 1024, mem, 256, a));
    ok(ptxiMemcpyDtoDAsync(mem + 2048, mem + 1024 + 255, 256, b));
}

static void c_copy_copy(void)
{
    ok(ptxiMemcpyDtoDAsync(mem + 1024, mem, 256, a));
    ok(ptxiMemcpyDtoDAsync(mem + 2048, mem, 256, b));
}

/* Rows of 16 bytes, 64 bytes apart. */
static void fill_columns(ptxiDevicePtr at, ptxiStream s)
{
    ok(ptxiMemsetD2D8Async(at, 64, 1, 16, 8, s));
}

static void c_columns(void) { fill_columns(mem, a); fill_columns(mem + 16, b); }
static void e_columns(void) { fill_columns(mem, a); fill_columns(mem + 64 + 15, b); }

/* New memory at the addresses of old memory. */
static void c_reused(void)
{
    for (int k = 0; k < 200; k++) {
        ptxiStream s = k % 2 ? a : b;
        ptxiDevicePtr p;

        ok(ptxiMemAllocAsync(&p, 1 << 20, s));
        launch_at("write_words", p, s);
        ok(ptxiMemFreeAsync(p, s));
    }
}

/* --- graphs: only their edges order nodes --- */

/* Captures a fork of two launches and a join, and runs it twice. */
static void run_fork(const char *first, const char *second, bool joined_before)
{
    ptxiGraph graph;
    ptxiGraphExec exec;

    ok(ptxiStreamBeginCapture(a, PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    if (!joined_before)
        order();
    launch(first, a);
    if (joined_before)
        order();
    launch(second, b);
    ok(ptxiEventRecord(event, b));
    ok(ptxiStreamWaitEvent(a, event, 0));
    launch("read_only", a);
    ok(ptxiStreamEndCapture(a, &graph));
    ok(ptxiGraphInstantiate(&exec, graph, 0));
    ok(ptxiGraphLaunch(exec, a));
    ok(ptxiGraphLaunch(exec, a));
    ok(ptxiStreamSynchronize(a));
    ok(ptxiGraphExecDestroy(exec));
    ok(ptxiGraphDestroy(graph));
}

static void e_graph(void) { run_fork("write_words", "read_only", false); }
static void e_graph_war(void) { run_fork("read_only", "write_words", false); }
static void c_graph(void) { run_fork("write_words", "read_only", true); }
static void c_graph_reads(void) { run_fork("read_only", "read_only", false); }

static void add_launch(ptxiGraph g, ptxiGraphNode *node, const ptxiGraphNode *needs, size_t count, const char *name)
{
    void *params[] = { &mem, &told };
    PTXI_KERNEL_NODE_PARAMS p = { .func = function(name), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
                                  .blockDimX = THREADS, .blockDimY = 1, .blockDimZ = 1, .kernelParams = params };

    ok(ptxiGraphAddKernelNode(node, g, needs, count, &p));
}

/* A node after a child graph, and one beside it. */
static void run_child(bool beside)
{
    ptxiGraph graph, child;
    ptxiGraphNode n, last;
    ptxiGraphExec exec;

    ok(ptxiGraphCreate(&child, 0));
    add_launch(child, &n, NULL, 0, "read_only");
    add_launch(child, &n, &n, 1, "read_only");
    ok(ptxiGraphCreate(&graph, 0));
    ok(ptxiGraphAddChildGraphNode(&n, graph, NULL, 0, child));
    add_launch(graph, &last, &n, !beside, "write_words");
    ok(ptxiGraphInstantiate(&exec, graph, 0));
    ok(ptxiGraphLaunch(exec, a));
    ok(ptxiStreamSynchronize(a));
    ok(ptxiGraphExecDestroy(exec));
    ok(ptxiGraphDestroy(graph));
    ok(ptxiGraphDestroy(child));
}

static void e_graph_child(void) { run_child(true); }
static void c_graph_child(void) { run_child(false); }

static void run_fill(bool needed)
{
    ptxiGraph graph;
    ptxiGraphNode n, fill;
    ptxiGraphExec exec;
    PTXI_MEMSET_NODE_PARAMS p = { .dst = mem, .elementSize = 1, .width = USED, .height = 1 };

    ok(ptxiGraphCreate(&graph, 0));
    add_launch(graph, &n, NULL, 0, "read_only");
    ok(ptxiGraphAddMemsetNode(&fill, graph, &n, needed, &p, NULL));
    ok(ptxiGraphInstantiate(&exec, graph, 0));
    ok(ptxiGraphLaunch(exec, a));
    ok(ptxiStreamSynchronize(a));
    ok(ptxiGraphExecDestroy(exec));
    ok(ptxiGraphDestroy(graph));
}

/* --- accesses of the host, which the program announces --- */

static void host_reads(void) { ok(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_HOST_READ, managed, USED)); }
static void host_writes(void) { ok(ptxiCtxAnnotate(NULL, PTXI_ANNOTATION_HOST_WRITE, managed, USED)); }

static void e_launch_host_read(void) { launch_at("write_words", managed, a); host_reads(); }
static void e_launch_host_write(void) { launch_at("read_only", managed, a); host_writes(); }
static void c_launch_host_read(void) { launch_at("read_only", managed, a); host_reads(); }
static void c_host_write_launch(void) { host_writes(); launch_at("read_only", managed, a); }
static void e_host_copy(void) { ok(ptxiMemcpyDtoDAsync(managed, mem, USED, a)); host_reads(); }
static void c_host_copy(void) { ok(ptxiMemcpyDtoDAsync(mem, managed, USED, a)); host_reads(); }
static void e_host_fill(void) { ok(ptxiMemsetD32Async(managed, 1, THREADS, a)); host_writes(); }
static void c_host_elsewhere(void) { launch_at("write_words", managed + USED, a); host_writes(); }

static void c_launch_host_read_synchronised(void)
{
    launch_at("write_words", managed, a);
    ok(ptxiStreamSynchronize(a));
    host_reads();
    launch_at("write_words", managed, b);
}

/* The event is of the other stream. */
static void e_host_event(void)
{
    launch_at("write_words", managed, a);
    ok(ptxiEventRecord(event, b));
    ok(ptxiEventSynchronize(event));
    host_reads();
}

static void c_host_event(void)
{
    launch_at("write_words", managed, a);
    ok(ptxiEventRecord(event, a));
    ok(ptxiEventSynchronize(event));
    host_writes();
}

/* The launch is submitted before the access and begins after it. */
static void launch_late(bool first)
{
    ok(ptxiStreamWaitValue32(a, told, 1, PTXI_STREAM_WAIT_VALUE_EQ));
    if (first)
        host_writes();
    launch_at("read_only", managed, a);
    if (!first)
        host_writes();
    *(volatile uint32_t *)(uintptr_t)told = 1;
}

static void e_host_before_late_launch(void) { launch_late(false); }
static void c_host_before_late_launch(void) { launch_late(true); }

/* A kernel that runs tells the host, or not. */
static void c_told_then_host_read(void)
{
    launch_at("tell_host", managed, a);
    wait_for_kernel();
    host_reads();
}

static void e_told_weakly_then_host_read(void)
{
    launch_at("tell_weakly", managed, a);
    wait_for_kernel();
    host_reads();
}

static void c_host_write_then_tells(void)
{
    launch_at("await_host", managed, a);
    host_writes();
    *(volatile uint32_t *)(uintptr_t)told = 1;
}

/* Launches a kernel that reads the words by a texture. */
static void launch_texture(ptxiStream s)
{
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_LINEAR };
    ptxiTexObject t;

    r.res.linear.devPtr = mem;
    r.res.linear.format = PTXI_AD_FORMAT_UNSIGNED_INT32;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = USED;
    ok(ptxiTexObjectCreate(&t, &r, &(PTXI_TEXTURE_DESC){ .flags = PTXI_TRSF_READ_AS_INTEGER }, NULL));
    launch_at("read_texture", t, s);
}

static void e_write_texture(void) { launch("write_words", a); launch_texture(b); }
static void c_write_texture(void) { launch("write_words", a); order(); launch_texture(b); }
static void e_texture_write(void) { launch_texture(a); launch("write_words", b); }
static void c_texture_read(void) { launch_texture(a); launch("read_only", b); }
static void e_copy_to_texture(void) { launch_texture(a); ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b)); }
static void e_copy_to_texture_first(void) { ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b)); launch_texture(a); }
static void c_copy_to_texture(void) { ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, a)); order(); launch_texture(b); }
static void c_copy_from_texture(void) { ok(ptxiMemcpyDtoHAsync(bytes, mem, USED, b)); launch_texture(a); }

/* A copy to an array, and a launch that writes it by a surface. */
static void run_surface(bool ordered)
{
    const PTXI_ARRAY3D_DESCRIPTOR d = { THREADS, 0, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_SURFACE_LDST };
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY };
    ptxiSurfObject s;

    ok(ptxiArray3DCreate(&r.res.array.hArray, &d));
    ok(ptxiSurfObjectCreate(&s, &r));
    ok(ptxiMemcpyHtoAAsync(r.res.array.hArray, 0, bytes, USED, a));
    if (ordered)
        order();
    launch_at("write_surface", s, b);
}

static void e_copy_surface(void) { run_surface(false); }
static void c_copy_surface(void) { run_surface(true); }

static void e_graph_fill(void) { run_fill(false); }
static void c_graph_fill(void) { run_fill(true); }

#define PROGRAM(name) { #name, name }
static const struct program {
    const char *name;
    void (*run)(void);
} programs[] = {
    PROGRAM(b_write_write), PROGRAM(c_write_event_write), PROGRAM(c_write_elsewhere), PROGRAM(e_write_partly),
    PROGRAM(c_write_write_in_order), PROGRAM(e_write_read), PROGRAM(c_write_event_read), PROGRAM(e_read_write),
    PROGRAM(c_read_read), PROGRAM(c_add_add), PROGRAM(e_add_write), PROGRAM(e_event_before_write),
    PROGRAM(e_third_stream), PROGRAM(c_transitive), PROGRAM(c_synchronised), PROGRAM(c_context),
    PROGRAM(c_event_synchronised), PROGRAM(c_query), PROGRAM(c_legacy), PROGRAM(e_legacy), PROGRAM(c_host_function),
    PROGRAM(c_wait_value), PROGRAM(c_tells_host), PROGRAM(e_tells_weakly),
    PROGRAM(c_tells_host_then_copy), PROGRAM(c_told_by_host),
    PROGRAM(e_allocated_in_other_stream), PROGRAM(c_allocated_then_event), PROGRAM(c_allocated_then_waited),
    PROGRAM(e_freed_in_other_stream), PROGRAM(c_freed_after_event), PROGRAM(c_flag), PROGRAM(e_copy_to),
    PROGRAM(e_copy_to_first), PROGRAM(c_copy_to),
    PROGRAM(c_copy_elsewhere), PROGRAM(e_copy_from), PROGRAM(c_copy_from), PROGRAM(e_copy_waits),
    PROGRAM(c_copy_then_launch), PROGRAM(e_fill), PROGRAM(c_fill), PROGRAM(e_copy_copy), PROGRAM(c_copy_copy),
    PROGRAM(c_columns), PROGRAM(e_columns), PROGRAM(c_reused),
    PROGRAM(e_graph), PROGRAM(e_graph_war), PROGRAM(c_graph), PROGRAM(c_graph_reads), PROGRAM(e_graph_child),
    PROGRAM(c_graph_child), PROGRAM(e_graph_fill), PROGRAM(c_graph_fill),
    PROGRAM(e_write_texture), PROGRAM(c_write_texture), PROGRAM(e_texture_write), PROGRAM(c_texture_read),
    PROGRAM(e_copy_to_texture), PROGRAM(e_copy_to_texture_first), PROGRAM(c_copy_to_texture),
    PROGRAM(c_copy_from_texture), PROGRAM(e_copy_surface), PROGRAM(c_copy_surface),
    PROGRAM(e_launch_host_read), PROGRAM(e_launch_host_write), PROGRAM(c_launch_host_read),
    PROGRAM(c_host_write_launch), PROGRAM(e_host_copy), PROGRAM(c_host_copy), PROGRAM(e_host_fill),
    PROGRAM(c_host_elsewhere), PROGRAM(c_launch_host_read_synchronised), PROGRAM(e_host_event),
    PROGRAM(c_host_event), PROGRAM(e_host_before_late_launch), PROGRAM(c_host_before_late_launch),
    PROGRAM(c_told_then_host_read), PROGRAM(e_told_weakly_then_host_read), PROGRAM(c_host_write_then_tells),
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static void set_up(void)
{
    void *host;

    open_context();
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_RACE, 0));
    ok(ptxiModuleLoadData(&module, test_file("api/check/streams.ptx")));
    ok(ptxiMemAllocHost(&host, sizeof(uint32_t)));
    memset(host, 0, sizeof(uint32_t));
    told = (uintptr_t)host;
    ok(ptxiMemAlloc(&mem, BYTES));
    ok(ptxiMemAllocManaged(&managed, BYTES, PTXI_MEM_ATTACH_GLOBAL));
    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiEventCreate(&event, PTXI_EVENT_DISABLE_TIMING));
}

START_TEST(pairs)
{
    const struct program *p = &programs[_i];
    ptxiCheckSummary s = { .size = sizeof s };

    set_up();
    ok(ptxiMemsetD8(mem, 0, BYTES));
    ok(ptxiMemsetD8(managed, 0, BYTES));
    p->run();
    ok(ptxiCtxSynchronize());
    ok(ptxiCtxGetCheckSummary(NULL, &s));
    ck_assert_uint_eq(s.unchecked, 0);
    if ((s.errors > 0) != (p->name[0] == 'e') || (p->name[0] == 'b' && !s.benign))
        ck_abort_msg("%s: %llu errors, %llu benign", p->name, s.errors, s.benign);
    close_context();
}
END_TEST

/* A copy that begins in the middle of an access of a launch, before or after, is found. */
START_TEST(copies_meet_launches)
{
    ptxiCheckSummary s = { .size = sizeof s };
    uint32_t word;

    set_up();
    for (unsigned round = 0; round < 3000; round++) {
        launch("scatter_words", a);
        for (unsigned volatile wait = 0; wait < round % 100 * 1000; wait++)
            ;
        ok(ptxiMemcpyDtoH(&word, mem + 128 * (THREADS - 1), 4));
        ok(ptxiCtxSynchronize());
        ok(ptxiCtxGetCheckSummary(NULL, &s));
        if (!s.errors)
            ck_abort_msg("round %u: nothing found", round);
        ok(ptxiCtxResetFindings(NULL));
    }
    close_context();
}
END_TEST

/* A report of an access of the host. */
START_TEST(report_of_the_host)
{
    char *text;

    set_up();
    e_launch_host_write();
    ok(ptxiCtxSynchronize());
    ok(ptxiCtxFormatFindings(NULL, PTXI_REPORT_TEXT, &text));
    ck_assert_ptr_nonnull(strstr(text, "write by the host\n"));
    ck_assert_ptr_nonnull(strstr(text, "nothing orders the host and the stream"));
    ptxiFree(text);
    close_context();
}
END_TEST

/* A report names both launches, or the copy. */
START_TEST(reports)
{
    ptxiFinding f = { .size = sizeof f };
    char *text;

    set_up();
    ok(ptxiMemcpyHtoDAsync(mem, bytes, USED, b));
    launch("read_only", a);
    ok(ptxiCtxSynchronize());
    ok(ptxiCtxGetFinding(NULL, 0, &f));
    ck_assert_uint_eq(f.siteCount, 2);
    ck_assert(!strcmp(f.sites[0].function, "a copy") != !strcmp(f.sites[1].function, "a copy"));
    ck_assert(!strcmp(f.sites[0].function, "read_only") != !strcmp(f.sites[1].function, "read_only"));
    ok(ptxiCtxFormatFindings(NULL, PTXI_REPORT_TEXT, &text));
    ck_assert_ptr_nonnull(strstr(text, "by a copy\n"));
    ck_assert_ptr_nonnull(strstr(text, "nothing orders the streams"));
    ptxiFree(text);
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("streams");
    TCase *t = tcase_create("pairs");

    tcase_add_loop_test(t, pairs, 0, PROGRAMS);
    tcase_add_test(t, copies_meet_launches);
    tcase_add_test(t, report_of_the_host);
    tcase_add_test(t, reports);
    suite_add_tcase(s, t);
    return run_suite(s);
}
