/* Accesses on behalf of kernels are checked, with the permission they need, when they are made. */
#include "unit/support/context.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, BYTE = 0x11 };

/* A kernel that asks for something, lets the host do something meanwhile, and ends. %a: the memory, %f: memory that is
 * always there. */
#define ENTRY(name, ask, finish) \
    ".visible .entry " name "(.param .u64 at, .param .u64 other) { .reg .u64 %a, %f, %z; .reg .u32 %r, %s, %m;" \
    " .reg .pred %p;\n" \
    " .shared .align 128 .b8 box[4096]; .shared .align 8 .b64 bar; ld.param.u64 %a, [at];" \
    " ld.param.u64 %f, [other]; mov.u32 %s, box; mov.u32 %m, bar;\n" \
    ask "call hold;\n" finish " ret; }\n"

static const char text[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".const .align 8 .b8 constants[64];\n"
    ".extern .func (.param .b32 r) cudaMemsetAsync(.param .b64 p, .param .b32 x, .param .b64 n, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaMemcpyAsync(.param .b64 p, .param .b64 q, "
    ".param .b64 n, .param .b32 k, .param .b64 s);\n"
    ".extern .func (.param .b32 r) look(.param .b64 p, .param .b64 n, .param .b32 w);\n"
    ".extern .func hold();\n"
    ".func set(.param .b64 to, .param .b64 size) { .reg .u64 %a, %n; ld.param.u64 %a, [to];"
    " ld.param.u64 %n, [size];\n"
    " .param .b64 p, n, s; .param .b32 x, r; st.param.b64 [p], %a; st.param.b32 [x], 0x41; st.param.b64 [n], %n;"
    " st.param.b64 [s], 0;\n"
    " call (r), cudaMemsetAsync, (p, x, n, s); ret; }\n"
    ".func copy(.param .b64 to, .param .b64 from) { .reg .u64 %a, %b; ld.param.u64 %a, [to];"
    " ld.param.u64 %b, [from];\n"
    " .param .b64 p, q, n, s; .param .b32 k, r; st.param.b64 [p], %a; st.param.b64 [q], %b; st.param.b64 [n], 64;"
    " st.param.b32 [k], 3; st.param.b64 [s], 0;\n"
    " call (r), cudaMemcpyAsync, (p, q, n, k, s); ret; }\n"
    ENTRY("sets", "{ .param .b64 p, n; st.param.b64 [p], %a; st.param.b64 [n], 64; call set, (p, n); }\n", "")
    ENTRY("writes", "{ .param .b64 p, q; st.param.b64 [p], %a; add.u64 %z, %f, 64; st.param.b64 [q], %z;"
    " call copy, (p, q); }\n", "")
    ENTRY("reads", "{ .param .b64 p, q; add.u64 %z, %f, 64; st.param.b64 [p], %z; st.param.b64 [q], %a;"
    " call copy, (p, q); }\n", "")
    ENTRY("sets_constants", "mov.u64 %a, constants; cvta.const.u64 %a, %a;\n"
                            "{ .param .b64 p, n; st.param.b64 [p], %a; st.param.b64 [n], 64; call set, (p, n);"
                            " }\n", "")
    ENTRY("loads_async", "cp.async.ca.shared.global [%s], [%a], 16;"
    " cp.async.commit_group;\n", "cp.async.wait_group 0;\n")
    ENTRY("loads_bulk", "mbarrier.init.shared.b64 [%m], 1; mbarrier.arrive.expect_tx.shared.b64 %z, [%m], 4096;\n"
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 4096, [%m];\n",
          "L: mbarrier.try_wait.parity.shared.b64 %p, [%m], 0; @!%p bra L;\n")
    ENTRY("stores_bulk", "cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 4096;"
    " cp.async.bulk.commit_group;\n", "cp.async.bulk.wait_group 0;\n")
    ENTRY("reduces_bulk", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a], [%s], 4096;"
    " cp.async.bulk.commit_group;\n",
          "cp.async.bulk.wait_group 0;\n")
    ".visible .entry stores(.param .u64 at, .param .u64 other) { .reg .u64 %a; .reg .u32 %r, %t;"
    " ld.param.u64 %a, [at]; mov.u32 %t, %tid.x;\n"
    " mad.wide.u32 %a, %t, 4, %a; L: st.global.u32 [%a], %t; ld.global.u32 %r, [%a+1024];"
    " st.global.u32 [%a+2048], %r; bra L; }\n"
    ".visible .entry looks(.param .u64 at, .param .u64 size, .param .u32 write) { .reg .u64 %a; .reg .u32 %r;"
    " ld.param.u64 %a, [at];\n"
    " .param .b64 p, n; .param .b32 w, r; st.param.b64 [p], %a; ld.param.u64 %a, [size]; st.param.b64 [n], %a;"
    " ld.param.u32 %r, [write];\n"
    " st.param.b32 [w], %r; call (r), look, (p, n, w); ret; }\n"
    ".visible .entry holds() { call hold; ret; }\n";

static ptxiModule module;
static unsigned char *memory;
static uint32_t *other;
static _Atomic int held;
static ptxiReport report;

/* Called by kernels. */
static void hold(void)
{
    held = 1;
    while (held != 2)
        ;
}

static void load(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleBindHostFunction(module, "hold", (ptxiHostFunction)hold, "void()"));
    ok(ptxiMemAllocManaged((ptxiDevicePtr *)&other, 128, PTXI_MEM_ATTACH_GLOBAL));
    memset(other, 0, 128);
    memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    memset(memory, BYTE, PAGE);
}

static void launch(const char *kernel, unsigned threads)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &memory, &other }, NULL));
}

/* Until it holds. */
static void launch_held(const char *kernel)
{
    held = 0;
    launch(kernel, 1);
    while (!held)
        ;
}

static void read_report(void)
{
    memset(&report, 0, sizeof report);
    report.size = sizeof report;
    ok(ptxiGetLastReport(NULL, &report));
}

static void fails(const char *kernel, ptxiFault fault, ptxiAccess access)
{
    gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    read_report();
    ck_assert_int_eq(report.fault, fault);
    ck_assert_int_eq(report.access, access);
    ck_assert_str_eq(report.kernel, kernel);
    ck_assert_uint_gt(report.ptxLine, 0);
}

static void check_unchanged(void)
{
    for (unsigned i = 0; i < PAGE; i++)
        ck_assert_uint_eq(memory[i], BYTE);
}

/* ---- read-only memory */

static void let_read(bool open)
{
    ok(mprotect(memory, PAGE, PROT_READ));
    if (open)
        ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ));
    else
        ok(ptxiMemHostRegister(memory, PAGE, PTXI_MEMHOSTREGISTER_READ_ONLY));
}

static const char *const read_only[] = { "sets", "writes" };

START_TEST(keeps_read_only_memory)
{
    let_read(_i % 2);
    held = 2;
    launch(read_only[_i / 2], 1);
    fails(read_only[_i / 2], PTXI_FAULT_READ_ONLY, PTXI_ACCESS_WRITE);
    ck_assert_str_eq(report.function, _i / 2 ? "copy" : "set");
    check_unchanged();
    ck_assert_ptr_eq((void *)(uintptr_t)report.address, memory);
    ck_assert_uint_eq(report.accessSize, 64);
}
END_TEST

START_TEST(keeps_constants)
{
    held = 2;
    launch("sets_constants", 1);
    fails("sets_constants", PTXI_FAULT_READ_ONLY, PTXI_ACCESS_WRITE);
}
END_TEST

START_TEST(refuses_host_writes)
{
    let_read(false);
    gives(ptxiMemcpyHtoD((uintptr_t)memory, text, 16), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD8((uintptr_t)memory, 0, 16), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiMemsetD2D32Async((uintptr_t)memory, 64, 0, 4, 4, NULL), PTXI_ERROR_INVALID_VALUE);
    gives(ptxiStreamWriteValue32(NULL, (uintptr_t)memory, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemcpyDtoH(other, (uintptr_t)memory, 16));
    ok(ptxiStreamWaitValue32(NULL, (uintptr_t)memory, BYTE, PTXI_STREAM_WAIT_VALUE_AND));
    ok(ptxiCtxSynchronize());
    check_unchanged();
}
END_TEST

/* ---- memory that goes, or becomes read-only, after it was asked for */

static const struct { const char *kernel; bool write; ptxiAccess access; } later[] = {
    { "sets", true, PTXI_ACCESS_WRITE },
    { "writes", true, PTXI_ACCESS_WRITE },
    { "reads", false, PTXI_ACCESS_READ },
    { "loads_async", false, PTXI_ACCESS_READ },
    { "loads_bulk", false, PTXI_ACCESS_READ },
    { "stores_bulk", true, PTXI_ACCESS_WRITE },
    { "reduces_bulk", true, PTXI_ACCESS_ATOMIC },
};
enum { LATER = sizeof later / sizeof *later };

START_TEST(checks_anew)
{
    bool read_only = _i % 2;

    _i /= 2;
    ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    launch_held(later[_i].kernel);
    ok(ptxiMemCloseRange(memory));
    if (read_only)
        let_read(true);
    else
        ok(munmap(memory, PAGE));
    held = 2;
    if (read_only && !later[_i].write)
        ok(ptxiCtxSynchronize());
    else
        fails(later[_i].kernel, read_only ? PTXI_FAULT_READ_ONLY : PTXI_FAULT_FREED, later[_i].access);
}
END_TEST

START_TEST(checks_registered_memory_of_other_contexts)
{
    ptxiContext second;

    ok(ptxiCtxCreate(&second, 0, 0));
    ok(ptxiMemHostRegister(memory, PAGE, 0));
    ok(ptxiCtxSetCurrent(ctx));
    launch_held(later[_i].kernel);
    ok(ptxiCtxSetCurrent(second));
    ok(ptxiMemHostUnregister(memory));
    ok(munmap(memory, PAGE));
    ok(ptxiCtxSetCurrent(ctx));
    held = 2;
    fails(later[_i].kernel, PTXI_FAULT_FREED, later[_i].access);
    ok(ptxiCtxDestroy(second));
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

/* Work of a stream that waits until the host lets it go on, with memory of another context. */
START_TEST(checks_queued_copies)
{
    ptxiContext second;
    unsigned char to[16];

    ok(ptxiCtxCreate(&second, 0, 0));
    ok(ptxiMemHostRegister(memory, PAGE, 0));
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiStreamWaitValue32(NULL, (uintptr_t)other, 2, PTXI_STREAM_WAIT_VALUE_EQ));
    if (_i == 0)
        ok(ptxiMemsetD8Async((uintptr_t)memory, 0, PAGE, NULL));
    else if (_i == 1)
        ok(ptxiMemcpyAsync((uintptr_t)other, (uintptr_t)memory, sizeof to, NULL));
    else if (_i == 2)
        ok(ptxiStreamWriteValue32(NULL, (uintptr_t)memory, 0, 0));
    else
        ok(ptxiStreamWaitValue32(NULL, (uintptr_t)memory, 0, PTXI_STREAM_WAIT_VALUE_EQ));
    ok(ptxiCtxSetCurrent(second));
    ok(ptxiMemHostUnregister(memory));
    ok(munmap(memory, PAGE));
    ok(ptxiCtxSetCurrent(ctx));
    __atomic_store_n(other, 2, __ATOMIC_SEQ_CST);
    gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxDestroy(second));
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

/* ---- memory that goes while kernels access it */

START_TEST(waits_for_accesses)
{
    enum { ROUNDS = 500 };

    ok(munmap(memory, PAGE));
    for (unsigned n = 0; n < ROUNDS; n++) {
        memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
        launch("stores", 128);
        while (!*(volatile unsigned char *)&memory[4]) /* which thread 1 sets */
            ;
        ok(ptxiMemCloseRange(memory));
        ok(munmap(memory, PAGE));
        gives(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    }
}
END_TEST

/* A host function may wait for the thread that closes a range. */
START_TEST(does_not_wait_for_host_functions)
{
    ok(ptxiMemOpenRange(memory, PAGE, PTXI_RANGE_READ));
    launch_held("holds");
    ok(ptxiMemCloseRange(memory));
    held = 2;
    ok(ptxiCtxSynchronize());
}
END_TEST

/* ---- ranges that host functions ask for */

static ptxiResult looked;

static int look(uint64_t at, uint64_t n, int write)
{
    void *p = NULL;

    looked = ptxiHostGetPointer(&p, at, n, write);
    ck_assert(looked || (uintptr_t)p == at);
    return 0;
}

static ptxiResult run_look(uint64_t at, uint64_t n, unsigned write)
{
    ptxiFunction f;

    looked = PTXI_ERROR_UNKNOWN;
    ok(ptxiModuleGetFunction(&f, module, "looks"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &at, &n, &write }, NULL));
    return ptxiCtxSynchronize();
}

static void check_look(uint64_t at, uint64_t n, unsigned write, ptxiResult expected)
{
    gives(run_look(at, n, write), expected == PTXI_ERROR_INVALID_VALUE ? PTXI_SUCCESS : expected);
    gives(looked, expected);
}

START_TEST(gives_whole_ranges)
{
    uint64_t at = (uintptr_t)memory;
    ptxiDevicePtr a, b;

    ok(ptxiModuleBindHostFunction(module, "look", (ptxiHostFunction)look, "int(uint64_t, uint64_t, int)"));
    ok(ptxiMemHostRegister(memory, 64, 0));
    ok(ptxiMemHostRegister(memory + 128, 64, PTXI_MEMHOSTREGISTER_READ_ONLY));
    ok(ptxiMemAlloc(&a, 100));
    ok(ptxiMemAlloc(&b, 100));
    for (unsigned write = 0; write < 2; write++) {
        check_look(at, 64, write, PTXI_SUCCESS);
        check_look(at, 65, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at, 192, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at + 64, 64, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at + 128, 64, write, write ? PTXI_ERROR_ILLEGAL_ADDRESS : PTXI_SUCCESS);
        check_look(a < b ? a : b, (a < b ? b - a : a - b) + 100, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at, UINT64_C(1) << 32, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at, (UINT64_C(1) << 32) + 64, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at, UINT64_C(1) << 63, write, PTXI_ERROR_ILLEGAL_ADDRESS);
        check_look(at, 0, write, PTXI_ERROR_INVALID_VALUE);
        check_look(at, -at, write, PTXI_ERROR_INVALID_VALUE);
        check_look(at, UINT64_MAX, write, PTXI_ERROR_INVALID_VALUE);
    }
}
END_TEST

/* A block larger than a report can say. */
START_TEST(gives_large_ranges)
{
    ptxiDevicePtr large;
    size_t bytes = (size_t)5 << 30;

    ok(ptxiModuleBindHostFunction(module, "look", (ptxiHostFunction)look, "int(uint64_t, uint64_t, int)"));
    if (ptxiMemAlloc(&large, bytes))
        return;
    check_look(large, bytes, 1, PTXI_SUCCESS);
    check_look(large, bytes + 1, 1, PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("access");
    TCase *t = tcase_create("access");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, keeps_read_only_memory, 0, 2 * sizeof read_only / sizeof *read_only);
    tcase_add_test(t, keeps_constants);
    tcase_add_test(t, refuses_host_writes);
    tcase_add_loop_test(t, checks_anew, 0, 2 * LATER);
    tcase_add_loop_test(t, checks_registered_memory_of_other_contexts, 0, LATER);
    tcase_add_loop_test(t, checks_queued_copies, 0, 4);
    tcase_add_test(t, waits_for_accesses);
    tcase_add_test(t, does_not_wait_for_host_functions);
    tcase_add_test(t, gives_whole_ranges);
    tcase_add_test(t, gives_large_ranges);
    suite_add_tcase(s, t);
    return run_suite(s);
}
