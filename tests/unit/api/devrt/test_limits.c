/* Tests that work of kernels that would never end ends at a limit of the launch, or if the context is interrupted. */
#include "unit/support/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

/* Calls of the device runtime. %p is the address and %n the size of the memory. */
#define CALL_LAUNCH(kernel, stream) \
    " { .param .b64 k, q, s; .param .align 4 .b8 g[12], b[12]; .param .b32 m, r; .reg .u64 %q;" \
    " mov.u64 %q, " kernel "; st.param.b64 [k], %q;\n" \
    " st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], 1;" \
    " st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [m], 0;\n" \
    " call (q), cudaGetParameterBufferV2, (k, g, b, m); ld.param.b64 %q, [q]; st.u64 [%q], %p; st.u64 [%q+8], %n;\n" \
    " st.param.b64 [q], %q; st.param.b64 [s], " stream "; call (r), cudaLaunchDeviceV2, (q, s); }\n"
#define CALL_SET \
    " { .param .b64 a, n, s; .param .b32 x, r; st.param.b64 [a], %p; st.param.b32 [x], 1;" \
    " st.param.b64 [n], %n; st.param.b64 [s], 0;\n" \
    " call (r), cudaMemsetAsync, (a, x, n, s); }\n"
#define CALL_SET_3D(width, height, depth) \
    " { .param .align 8 .b8 a[32], e[24]; .param .b64 s; .param .b32 x, r; st.param.b64 [a], %p;" \
    " st.param.b64 [a+8], 0; st.param.b64 [a+16], 1;\n" \
    " st.param.b64 [a+24], 1; st.param.b32 [x], 1; st.param.b64 [e], " width "; st.param.b64 [e+8], " height ";" \
    " st.param.b64 [e+16], " depth ";\n" \
    " st.param.b64 [s], 0; call (r), cudaMemset3DAsync, (a, x, e, s); ld.param.b32 %r, [r];" \
    " st.global.u32 [%p], %r; }\n"
#define ENTRY(name, body) \
    ".visible .entry " name "(.param .u64 at, .param .u64 size) { .reg .u64 %p, %n;" \
    " .reg .u32 %r; .reg .pred %c;\n" \
    " ld.param.u64 %p, [at]; ld.param.u64 %n, [size];\n" body " ret; }\n"
#define MANY "0x4000000000000000"

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) cudaMemsetAsync(.param .b64 p, .param .b32 x, .param .b64 n, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaMemset3DAsync(.param .align 8 .b8 p[32], .param .b32 x, "
    ".param .align 8 .b8 e[24], .param .b64 s);\n"
    ".extern .func (.param .b64 p) cudaGetParameterBufferV2(.param .b64 f, "
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 m);\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func nap();\n"
    ".global .align 1 .b8 format[4] = { 37, 37, 10, 0 };\n"
    ENTRY("slices", CALL_SET_3D("1", "1", MANY))
    ENTRY("rows", CALL_SET_3D("1", MANY, "1"))
    ENTRY("nothing", CALL_SET_3D("0", MANY, MANY))
    ENTRY("no_rows", CALL_SET_3D("1", "0", MANY))
    ENTRY("sets", CALL_SET)
    /* two slices that are so far apart that the second one is in no allocation */
    ENTRY("overlong", " { .param .align 8 .b8 a[32], e[24]; .param .b64 s; .param .b32 x, r;"
    " st.param.b64 [a], %p; st.param.b64 [a+8], 0x100000; st.param.b64 [a+16], 1;\n"
          " st.param.b64 [a+24], 1; st.param.b32 [x], 1; st.param.b64 [e], 8; st.param.b64 [e+8], 1;"
          " st.param.b64 [e+16], 2;\n"
          " st.param.b64 [s], 0; call (r), cudaMemset3DAsync, (a, x, e, s); ld.param.b32 %r, [r];"
          " st.global.u32 [%p], %r; }\n")
    ENTRY("many", "mov.u32 %r, 200000; L:" CALL_SET " sub.u32 %r, %r, 1; setp.ne.u32 %c, %r, 0; @%c bra L;")
    ENTRY("self", CALL_LAUNCH("self", "0"))
    ENTRY("twice", CALL_LAUNCH("twice", "0") CALL_LAUNCH("twice", "0"))
    ENTRY("tail", CALL_LAUNCH("tail", "3"))
    ENTRY("mixed", CALL_SET CALL_LAUNCH("mixed", "0"))
    ENTRY("naps", "L: call nap; bra L;")
    ENTRY("prints", "L: { .param .b64 f, a; .param .b32 r; .reg .u64 %f; mov.u64 %f, format;"
    " st.param.b64 [f], %f; st.param.b64 [a], 0;\n"
                    " call (r), vprintf, (f, a); } bra L;");

static ptxiModule module;
static ptxiDevicePtr memory;

static void sleep_briefly(void)
{
    usleep(1000);
}

static void discard_output(void *user, const char *s, size_t size)
{
    (void)user, (void)s, (void)size;
}

static void load(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleBindHostFunction(module, "nap", (ptxiHostFunction)sleep_briefly, "void()"));
    ok(ptxiCtxSetOutput(ctx, discard_output, NULL));
    ok(ptxiMemAlloc(&memory, SIZE));
}

static ptxiResult run(const char *kernel, unsigned threads)
{
    ptxiFunction f;
    size_t size = SIZE;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &memory, &size }, NULL));
    return ptxiCtxSynchronize();
}

static void check_ends(const char *kernel, ptxiFault fault)
{
    ptxiReport r = { .size = sizeof r };

    ck_result(run(kernel, 1), PTXI_ERROR_LAUNCH_TIMEOUT);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, fault);
    ck_assert_str_eq(r.kernel, kernel);
    ck_assert_uint_gt(r.ptxLine, 0);
}

/* The last programs do nothing that is charged to the budget. */
static const char *const endless[] = { "slices", "rows", "many", "self", "twice", "tail", "mixed", "naps", "prints" };
enum { ENDLESS = sizeof endless / sizeof *endless, CHARGED = ENDLESS - 2 };

START_TEST(the_instruction_budget_ends_a_launch)
{
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 1000));
    check_ends(endless[_i], PTXI_FAULT_BUDGET);
}
END_TEST

START_TEST(the_time_limit_ends_a_launch)
{
    ok(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, 20));
    check_ends(endless[_i], PTXI_FAULT_TIMEOUT);
}
END_TEST

static _Atomic int ended;

/* Interrupts more than once, because an interrupt that comes before the launch has no effect on it. */
static void *interrupt(void *unused)
{
    while (!ended) {
        usleep(10000);
        ok(ptxiCtxInterrupt(ctx));
    }
    return unused;
}

START_TEST(an_interrupt_ends_a_launch)
{
    pthread_t t;

    ended = 0;
    ck_assert_int_eq(pthread_create(&t, NULL, interrupt, NULL), 0);
    check_ends(endless[_i], PTXI_FAULT_INTERRUPTED);
    ended = 1;
    pthread_join(t, NULL);
}
END_TEST

/* Copies of zero bytes end at once. */
START_TEST(empty_copies_end)
{
    ok(run("nothing", 32));
    ok(run("no_rows", 1));
}
END_TEST

/* Slices beyond the allocation are an error of the caller, and no slice is written. */
START_TEST(a_bad_box_writes_nothing)
{
    enum { INVALID_VALUE = 1 };
    ptxiFunction f;
    uint32_t seen[2];
    size_t size = 0;

    ok(ptxiMemsetD8(memory, 0, SIZE));
    ok(ptxiModuleGetFunction(&f, module, "overlong"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &memory, &size }, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(seen, memory, sizeof seen));
    ck_assert_uint_eq(seen[0], INVALID_VALUE);
    ck_assert_uint_eq(seen[1], 0);
}
END_TEST

/* The budget is charged for each started 512 bytes of each row. */
START_TEST(rows_are_charged)
{
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, SIZE / 512 + 10));
    ok(run("sets", 1));
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, SIZE / 512 - 10));
    check_ends("sets", PTXI_FAULT_BUDGET);
}
END_TEST

/* ---- graphs */

static ptxiGraphExec make_loop(ptxiGraph graph)
{
    ptxiGraphConditionalHandle condition;
    ptxiGraphNode node;
    ptxiGraphExec instance;
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL };

    ok(ptxiGraphConditionalHandleCreate(&condition, graph, ctx, 1, PTXI_GRAPH_COND_ASSIGN_DEFAULT));
    p.value.conditional.handle = condition;
    p.value.conditional.type = PTXI_GRAPH_COND_TYPE_WHILE;
    p.value.conditional.size = 1;
    p.value.conditional.ctx = ctx;
    ok(ptxiGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    ok(ptxiGraphInstantiate(&instance, graph, 0));
    return instance;
}

/* 0: by the number of iterations, 1: by time, 2: by an interrupt */
START_TEST(loops_in_graphs_end)
{
    ptxiGraph graph;
    ptxiGraphExec instance;
    pthread_t t;

    ok(ptxiGraphCreate(&graph, 0));
    instance = make_loop(graph);
    ended = 0;
    if (_i < 2)
        ok(ptxiCtxSetLimit(_i ? PTXI_LIMIT_MILLISECONDS : PTXI_LIMIT_INSTRUCTIONS, 20));
    else
        ck_assert_int_eq(pthread_create(&t, NULL, interrupt, NULL), 0);
    ck_result(ptxiGraphLaunch(instance, NULL), PTXI_ERROR_LAUNCH_TIMEOUT);
    ended = 1;
    if (_i == 2)
        pthread_join(t, NULL);
    ok(ptxiGraphExecDestroy(instance));
    ok(ptxiGraphDestroy(graph));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("endless");
    TCase *t = tcase_create("endless");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, the_instruction_budget_ends_a_launch, 0, CHARGED);
    tcase_add_loop_test(t, the_time_limit_ends_a_launch, 0, ENDLESS);
    tcase_add_loop_test(t, an_interrupt_ends_a_launch, 0, ENDLESS);
    tcase_add_test(t, empty_copies_end);
    tcase_add_test(t, a_bad_box_writes_nothing);
    tcase_add_test(t, rows_are_charged);
    tcase_add_loop_test(t, loops_in_graphs_end, 0, 3);
    suite_add_tcase(s, t);
    return run_suite(s);
}
