/* Tests libraries: PTX that does not belong to a context, and kernel handles in place of functions. */
#include "unit/support/context.h"

#include <string.h>

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .u32 counter = 5;\n.visible .global .attribute(.managed) .u32 shared_with_host = 6;\n"
    ".visible .entry add(.param .u32 n) { .reg .u32 %r<3>; ld.param.u32 %r1, [n]; "
    "atom.global.add.u32 %r2, [counter], %r1; ret; }\n"
    ".visible .entry none() { ret; }\n";

static ptxiLibrary load(void)
{
    ptxiLibrary l;

    ok(ptxiLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0));
    return l;
}

static ptxiKernel kernel(ptxiLibrary l, const char *name)
{
    ptxiKernel k;

    ok(ptxiLibraryGetKernel(&k, l, name));
    return k;
}

static unsigned add(ptxiLibrary l, unsigned n)
{
    ptxiDevicePtr p;
    unsigned value;

    ok(ptxiLaunchKernel((ptxiFunction)(void *)kernel(l, "add"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &n }, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiLibraryGetGlobal(&p, NULL, l, "counter"));
    ok(ptxiMemcpyDtoH(&value, p, sizeof value));
    return value;
}

START_TEST(each_context_has_its_own_module)
{
    ptxiLibrary l = load();
    ptxiContext other;

    ck_assert_uint_eq(add(l, 1), 6);
    ok(ptxiCtxCreate(&other, 0, 0));
    ck_assert_uint_eq(add(l, 10), 15);
    ok(ptxiCtxDestroy(other));
    ck_assert_uint_eq(add(l, 2), 8);
    ok(ptxiCtxCreate(&other, 0, 0));
    ck_assert_uint_eq(add(l, 20), 25);
    ok(ptxiLibraryUnload(l));
    ok(ptxiCtxDestroy(other));
}
END_TEST

START_TEST(without_a_context)
{
    ptxiLibrary l;
    ptxiKernel k;
    ptxiFunction f;
    const char *name;

    ok(ptxiCtxSetCurrent(NULL));
    l = load();
    ok(ptxiLibraryGetKernel(&k, l, "none"));
    ok(ptxiKernelGetName(&name, k));
    ck_assert_str_eq(name, "none");
    ck_result(ptxiKernelGetFunction(&f, k), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiKernelGetFunction(&f, k));
    ok(ptxiLibraryUnload(l));
}
END_TEST

START_TEST(kernel_handles_replace_functions)
{
    ptxiLibrary l = load(), found;
    ptxiKernel all[3] = { NULL, NULL, NULL }, k;
    ptxiFunction f, g;
    ptxiModule m, owner;
    int value;
    unsigned count;
    size_t offset, size;

    ok(ptxiLibraryGetKernelCount(&count, l));
    ck_assert_uint_eq(count, 2);
    ok(ptxiLibraryEnumerateKernels(all, 3, l));
    ok(ptxiLibraryGetKernel(&k, l, "add"));
    ck_assert_ptr_eq(k, all[0]);
    ck_assert_ptr_null(all[2]);
    ok(ptxiKernelGetLibrary(&found, k));
    ck_assert_ptr_eq(found, l);
    ok(ptxiKernelGetFunction(&f, k));
    ok(ptxiLibraryGetModule(&m, l));
    ok(ptxiModuleGetFunction(&g, m, "add"));
    ck_assert_ptr_eq(f, g);
    ok(ptxiFuncGetModule(&owner, f));
    ck_assert_ptr_eq(owner, m);
    ck_result(ptxiFuncGetModule(&owner, (ptxiFunction)(void *)k), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiKernelSetAttribute(PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000, k, 0));
    ok(ptxiFuncGetAttribute(&value, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    ck_assert_int_eq(value, 1000);
    ok(ptxiOccupancyMaxActiveBlocksPerMultiprocessor(&value, (ptxiFunction)(void *)k, 64, 0));
    ck_assert_int_gt(value, 0);
    ok(ptxiKernelGetParamInfo(k, 0, &offset, &size));
    ck_assert_uint_eq(size, 4);
    ck_result(ptxiModuleUnload(m), PTXI_ERROR_NOT_PERMITTED);
    ok(ptxiLibraryUnload(l));
}
END_TEST

START_TEST(kernels_in_graphs)
{
    ptxiLibrary l = load();
    ptxiGraph g;
    ptxiGraphNode n;
    ptxiGraphExec x;
    unsigned one = 1;
    PTXI_KERNEL_NODE_PARAMS p = { NULL, 1, 1, 1, 1, 1, 1, .kern = kernel(l, "add"),
                                  .kernelParams = (void *[]){ &one } };

    ok(ptxiGraphCreate(&g, 0));
    ok(ptxiGraphAddKernelNode(&n, g, NULL, 0, &p));
    ok(ptxiGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++)
        ok(ptxiGraphLaunch(x, NULL));
    ck_assert_uint_eq(add(l, 0), 8);
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphDestroy(g));
    ok(ptxiLibraryUnload(l));
}
END_TEST

START_TEST(managed_variables)
{
    ptxiLibrary l = load();
    ptxiDevicePtr p;
    size_t size;

    ok(ptxiLibraryGetManaged(&p, &size, l, "shared_with_host"));
    ck_assert_uint_eq(*(unsigned *)(uintptr_t)p, 6);
    ck_assert_uint_eq(size, 4);
    ck_result(ptxiLibraryGetManaged(&p, &size, l, "counter"), PTXI_ERROR_NOT_FOUND);
    ok(ptxiLibraryUnload(l));
}
END_TEST

START_TEST(invalid_libraries_are_refused)
{
    char log[500];
    ptxiJitOption keys[] = { PTXI_JIT_ERROR_LOG_BUFFER, PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    ptxiLibrary l;

    ck_result(ptxiLibraryLoadData(&l, ".version 8.0\n.target sm_80\n.entry k() { nonsense; }", keys, values, 2, NULL,
                                  NULL, 0),
              PTXI_ERROR_INVALID_PTX);
    ck_assert(strstr(log, "nonsense"));
    ck_result(ptxiLibraryLoadFromFile(&l, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0), PTXI_ERROR_FILE_NOT_FOUND);
    ck_result(ptxiLibraryUnload(NULL), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("library");
    TCase *t = tcase_create("library");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, each_context_has_its_own_module);
    tcase_add_test(t, without_a_context);
    tcase_add_test(t, kernel_handles_replace_functions);
    tcase_add_test(t, kernels_in_graphs);
    tcase_add_test(t, managed_variables);
    tcase_add_test(t, invalid_libraries_are_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
