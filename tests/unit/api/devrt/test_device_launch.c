/* Tests launches by kernels. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

/* A kernel launches itself without end and requests buffers that it never uses. The limits stop it before it uses
 * all of the memory. */
START_TEST(device_launches_have_limits)
{
    unsigned n = 300000, got[2];
    ptxiDevicePtr mem;
    void *params[] = { &mem, &n };
    ptxiFunction f;
    ptxiModule m;

    ok(ptxiMemAlloc(&mem, sizeof got));
    ok(ptxiModuleLoadData(&m, test_file("api/devrt/launch_trees.ptx")));
    ok(ptxiModuleGetFunction(&f, m, "many"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    ck_assert_uint_ge(got[0], 100000);
    ck_assert_uint_lt(got[0], n);
    ck_assert_uint_ge(got[1], 10000);
    ck_assert_uint_lt(got[1], n);
    n = 1000; /* the launches that waited have run */
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    ck_assert_uint_eq(got[0], n);
    ck_assert_uint_eq(got[1], n);
    ok(ptxiModuleUnload(m));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device launch");
    TCase *t = tcase_create("device launch");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, device_launches_have_limits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
