/* Tests malloc and free of kernels: their results, the limit of the heap, and invalid frees. */
#include "unit/support/context.h"

#include <string.h>

#define STATEMENTS(name, body) \
    ".visible .entry " name "(.param .u64 out, .param .u64 size) { .reg .u32 %t, %u; .reg .u64 %d, %s, %p, %q; " \
                            ".reg .pred %c;\n" \
    " .param .b64 a; .param .b64 r; ld.param.u64 %d, [out]; ld.param.u64 %s, [size]; mov.u32 %t, %tid.x; " \
    "mad.wide.u32 %d, %t, 8, %d;\n" body " ret; }\n"
#define MALLOC(to, size) " st.param.b64 [a], " size "; call (r), malloc, (a); ld.param.b64 " to ", [r];\n"
#define FREE(p) " st.param.b64 [a], " p "; call free, (a);\n"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern "
    ".func free(.param .b64 p);\n"
    ".extern .func (.param .b64 r) _Znwm(.param .b64 n);\n.extern .func _ZdlPv(.param .b64 p);\n"
    ".extern .func (.param .b32 r) __usAtomicCAS(.param .b64 p, .param .b32 c, .param .b32 v);\n"
    STATEMENTS("get", MALLOC("%p", "%s") " st.global.u64 [%d], %p; setp.ne.u64 %c, %p, 0; @%c st.u32 [%p], %t;")
    STATEMENTS("put", " ld.global.u64 %p, [%d];" FREE("%p"))
    STATEMENTS("both", MALLOC("%p", "%s") " setp.ne.u64 %c, %p, 0; @%c st.global.u64 [%d], 1;" FREE("%p"))
    STATEMENTS("operators", " st.param.b64 [a], %s; call (r), _Znwm, (a); ld.param.b64 %p, [r]; st.u32 [%p], %t; "
                            "ld.u32 %u, [%p];\n"
               " st.param.b64 [a], %p; call _ZdlPv, (a); st.global.u32 [%d], %u;")
    STATEMENTS("beyond", MALLOC("%p", "%s") " add.u64 %p, %p, %s; st.u8 [%p], 1;")
    STATEMENTS("inner", MALLOC("%p", "%s") " add.u64 %p, %p, 8;" FREE("%p"))
    STATEMENTS("freed", MALLOC("%p", "%s") FREE("%p") " ld.u8 %t, [%p];")
    /* each thread adds its number to 16 bits that all threads share */
    STATEMENTS("cas", " .reg .u16 %h; .reg .u32 %o, %n; .param .b32 e, v, k; ld.param.u64 %p, [out]; "
                      "AGAIN: ld.volatile.u16 %h, [%p]; cvt.u32.u16 %o, %h;\n"
               " add.u32 %n, %o, %t; and.b32 %n, %n, 0xffff; st.param.b64 [a], %p; st.param.b32 [e], %o; "
               "st.param.b32 [v], %n; call (k), __usAtomicCAS, (a, e, v);\n"
               " ld.param.b32 %u, [k]; setp.ne.u32 %c, %u, %o; @%c bra AGAIN;");

enum { THREADS = 64 };

static ptxiModule module;
static uint64_t *out;

static void load(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAllocManaged((ptxiDevicePtr *)&out, THREADS * 8, PTXI_MEM_ATTACH_GLOBAL));
    memset(out, 0, THREADS * 8);
}

static ptxiResult run(const char *kernel, unsigned threads, uint64_t size)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ptxiResult r = ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &out, &size }, NULL);

    return r ? r : ptxiCtxSynchronize();
}

static void check_failure(ptxiResult got, ptxiResult result, ptxiFault fault, const char *words)
{
    ptxiReport r = { .size = sizeof r };

    ck_result(got, result);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, fault);
    ck_assert_msg(strstr(r.text, words), "%s", r.text);
}

START_TEST(blocks_do_not_overlap_and_stay)
{
    ok(run("get", THREADS, 24));
    for (int i = 0; i < THREADS; i++) {
        ck_assert(out[i] && out[i] % 16 == 0 && *(unsigned *)(uintptr_t)out[i] == (unsigned)i);
        for (int k = 0; k < i; k++)
            ck_assert(out[i] >= out[k] + 24 || out[k] >= out[i] + 24);
    }
    ok(run("put", THREADS, 0));
    memset(out, 0, THREADS * 8);
    ok(run("put", THREADS, 0)); /* null pointers */
}
END_TEST

START_TEST(heap_limit)
{
    size_t limit = 0;

    ok(ptxiCtxGetLimit(&limit, PTXI_LIMIT_MALLOC_HEAP_SIZE));
    ck_assert_uint_eq(limit, 8 << 20);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_MALLOC_HEAP_SIZE, 1000));
    for (int round = 0; round < 3; round++) {
        unsigned got = 0;

        ok(run("get", THREADS, 90)); /* charged as 96 bytes */
        for (int i = 0; i < THREADS; i++)
            got += out[i] != 0;
        ck_assert_uint_eq(got, 10);
        ok(run("put", THREADS, 0));
    }
    memset(out, 0, THREADS * 8);
    ok(run("both", 1, 1000));
    ck_assert_uint_eq(out[0], 0); /* 1008 */
    ok(run("both", 1, 992));
    ck_assert_uint_eq(out[0], 1);
    memset(out, 0, THREADS * 8);
    ok(run("both", 1, UINT64_MAX));
    ck_assert_uint_eq(out[0], 0);
    ok(run("both", 1, 0)); /* as on an H200 */
    ck_assert_uint_eq(out[0], 1);
}
END_TEST

START_TEST(new_and_delete)
{
    for (int round = 0; round < 100; round++)
        ok(run("operators", THREADS, 100000)); /* all blocks together exceed the limit */
    for (int i = 0; i < THREADS; i++)
        ck_assert_uint_eq((uint32_t)out[i], i);
}
END_TEST

START_TEST(misuse)
{
    uint64_t host_memory;

    check_failure(run("beyond", 1, 40), PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_OUT_OF_BOUNDS,
                  "right after the end of the allocation of 40 bytes");
    check_failure(run("freed", 1, 40), PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_FREED, "goes to freed memory");
    check_failure(run("inner", 1, 40), PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_FREE,
                  "free: the address does not come from malloc");
    ok(run("get", THREADS, 24));
    out[5] = out[4];
    check_failure(run("put", THREADS, 0), PTXI_ERROR_LAUNCH_FAILED, PTXI_FAULT_FREE,
                  "free: the memory has been freed before");
    ok(ptxiMemAlloc((ptxiDevicePtr *)&host_memory, 100));
    out[0] = host_memory;
    check_failure(run("put", 1, 0), PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_FREE,
                  "free: the address does not come from malloc");
    ok(ptxiMemFree(host_memory));
    ok(run("get", 1, 24));
    ck_result(ptxiMemFree(out[0]), PTXI_ERROR_INVALID_VALUE); /* the block belongs to the kernels */
}
END_TEST

START_TEST(compare_and_swap_of_16_bits)
{
    ok(run("cas", THREADS, 0));
    ck_assert_uint_eq((uint16_t)out[0], THREADS * (THREADS - 1) / 2);
    ck_assert_uint_eq(out[0] >> 16, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernel_heap");
    TCase *t = tcase_create("kernel_heap");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_add_test(t, blocks_do_not_overlap_and_stay);
    tcase_add_test(t, heap_limit);
    tcase_add_test(t, new_and_delete);
    tcase_add_test(t, misuse);
    tcase_add_test(t, compare_and_swap_of_16_bits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
