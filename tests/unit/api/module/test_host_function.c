/* Tests host functions that are bound to .extern .func declarations. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 3, THREADS = 70, ALL = BLOCKS * THREADS };

static ptxiModule module;
static uint64_t *out;

static void load(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/module/host_function.ptx")));
    ok(ptxiMemAllocManaged((ptxiDevicePtr *)&out, ALL * 8, PTXI_MEM_ATTACH_GLOBAL));
    memset(out, 0, ALL * 8);
}

static ptxiResult run(const char *kernel)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    ptxiResult r = ptxiLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){ &out }, NULL);

    return r ? r : ptxiCtxSynchronize();
}

#define BIND(name, function, signature) ptxiModuleBindHostFunction(module, name, (ptxiHostFunction)function, signature)

static int add(int a, int b)
{
    return a + b;
}

START_TEST(functions_are_called)
{
    ck_result(run("adds"), PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    ok(BIND("add", add, "int(int, int)"));
    ok(run("adds"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_uint_eq(out[i], i + 1000);
    memset(out, 0, ALL * 8);
    ok(run("through"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_uint_eq(out[i], i + 1000);
    ck_result(run("misfits"), PTXI_ERROR_INVALID_PC);
    ok(BIND("add", NULL, NULL));
    ck_result(run("adds"), PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
}
END_TEST

static long long mixed(signed char a, void *b, float c, unsigned char d, double e)
{
    ck_assert(a == -3 && d == 0xfe && *(uint64_t *)b == 0 && c == e);
    return (long long)(a * 1000000 + e);
}

START_TEST(parameter_types)
{
    ok(BIND("mixed", mixed, " long  long ( signed char,const void*, float ,unsigned char, double ) "));
    ok(run("mixes"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_int_eq((int64_t)out[i], -3000000 + (int)i);
}
END_TEST

struct three { float x, y, z; };
struct four { double x; float yz[2]; short tag; };

static struct three combine(struct three a, struct four b)
{
    ck_assert(b.tag == 7 && a.y == 2 && a.z == 3 && b.yz[0] == 1 && b.yz[1] == 2);
    return (struct three){ a.x + (float)b.x, 0, a.x * 2 };
}

START_TEST(structures)
{
    ok(BIND("cross", combine, "{float, float, float}({float, float, float}, {double, float[2], short})"));
    ok(run("crosses"));
    for (unsigned i = 0; i < ALL; i++) {
        float *f = (float *)&out[i];

        ck_assert(f[0] == 2 * i && f[1] == 2 * i);
    }
}
END_TEST

struct large {
    uint64_t v[499];
};
struct result {
    uint64_t v[12];
};

static struct result large(struct large a)
{
    return (struct result){ .v[11] = a.v[0] + a.v[498] };
}

START_TEST(large_structures)
{
    ok(BIND("large", large, "{uint64_t[12]}({uint64_t[499]})"));
    ok(run("larges"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_uint_eq(out[i], i + 5);
}
END_TEST

static _Atomic unsigned seen[ALL];

static void nothing(void)
{
    ptxiHostThread t = { .size = sizeof t };

    ck_assert_int_eq(ptxiHostGetThread(&t), PTXI_SUCCESS);
    ck_assert(t.gridDim[0] == BLOCKS && t.gridDim[1] == 1 && t.blockDim[0] == THREADS && t.blockDim[2] == 1);
    ck_assert(t.block[1] == 0 && t.thread[1] == 0 && t.lane == t.thread[0] % 32 && t.warp == t.thread[0] / 32);
    ck_assert_str_eq(t.function, "nothing");
    ck_assert_str_eq(t.kernel, "odd");
    ck_assert_int_eq(ptxiCtxSynchronize(), PTXI_ERROR_NOT_PERMITTED);
    seen[t.block[0] * THREADS + t.thread[0]]++;
}

START_TEST(functions_know_the_calling_thread)
{
    ok(ptxiCtxSetWorkers(NULL, 2));
    ok(BIND("nothing", nothing, "void(void)"));
    ok(run("odd"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert(seen[i] == i % THREADS % 2 && out[i] == seen[i]);
    ck_result(ptxiHostGetThread(&(ptxiHostThread){ .size = sizeof(ptxiHostThread) }), PTXI_ERROR_NOT_PERMITTED);
    ck_result(ptxiHostFail("no"), PTXI_ERROR_NOT_PERMITTED);
}
END_TEST

static void touch_word(ptxiDevicePtr p)
{
    void *at;

    if (ptxiHostGetPointer(&at, p, 4, 1) == PTXI_SUCCESS)
        *(unsigned *)at += 7;
}

START_TEST(shared_and_local_memory)
{
    ok(BIND("touch", touch_word, "void(uint64_t)"));
    ok(run("touches"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_uint_eq(out[i], (i + 7) * 0x100000001);
    ck_result(run("wild"), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

static int check_failure(int a, int b)
{
    if (a == 40)
        ptxiHostFail("does not like 40");
    return b;
}

START_TEST(failures)
{
    ptxiReport r = { .size = sizeof r };

    ok(BIND("add", check_failure, "int(int,int)"));
    ck_result(run("adds"), PTXI_ERROR_LAUNCH_FAILED);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, PTXI_FAULT_HOST_FUNCTION);
    ck_assert(strstr(r.text, "error: host function failed: add: does not like 40\n"));
    ck_assert(r.thread[0] == 40 && r.block[0] == 0 && r.threads == 1);
}
END_TEST

static void callback(void *user, void *const *arguments, void *result)
{
    *(short *)result = (short)(*(short *)arguments[0] - *(short *)arguments[1] + *(int *)user);
}

START_TEST(callbacks)
{
    int bias = -2000;

    ok(ptxiModuleBindHostCallback(module, "add", callback, &bias, "short(short, short)"));
    ok(run("adds"));
    for (unsigned i = 0; i < ALL; i++)
        ck_assert_int_eq((int)out[i], (int)i - 3000);
}
END_TEST

static const struct { const char *name, *signature; ptxiResult result; const char *message; } wrong[] = {
    { "none", "void()", PTXI_ERROR_NOT_FOUND, NULL },
    { "inside", "void()", PTXI_ERROR_NOT_FOUND, NULL },
    { "adds", "void()", PTXI_ERROR_NOT_FOUND, NULL },
    { "add", "int(int)", PTXI_ERROR_INVALID_VALUE, "it has 1 parameters, the declaration 2" },
    { "add", "void(int, int)", PTXI_ERROR_INVALID_VALUE, "it returns nothing, the declaration a value" },
    { "nothing", "int()", PTXI_ERROR_INVALID_VALUE, "it returns a value, the declaration none" },
    { "add", "int(int, double)", PTXI_ERROR_INVALID_VALUE, "parameter 1 has 8 bytes, 4 in the declaration" },
    { "add", "long(int, int)", PTXI_ERROR_INVALID_VALUE, "its result has 8 bytes, 4 in the declaration" },
    { "add", "int(int, {short})", PTXI_ERROR_INVALID_VALUE, "parameter 1 has 2 bytes, 4 in the declaration" },
    { "add", "int(int, integer)", PTXI_ERROR_INVALID_VALUE, "unknown type 'integer'" },
    { "add", "int(int, )", PTXI_ERROR_INVALID_VALUE, "a type expected" },
    { "add", "int(int int)", PTXI_ERROR_INVALID_VALUE, "unknown type 'int int'" },
    { "add", "int(int, int", PTXI_ERROR_INVALID_VALUE, "',' or ')' expected at ''" },
    { "add", "int(int, int) const", PTXI_ERROR_INVALID_VALUE, "nothing expected after ')', not 'const'" },
    { "add", "int", PTXI_ERROR_INVALID_VALUE, "'(' expected at ''" },
    { "add", "int(int, void)", PTXI_ERROR_INVALID_VALUE, "void cannot be a parameter" },
    { "cross", "{float[3]}({float[99999]}, {double})", PTXI_ERROR_INVALID_VALUE, "invalid number of elements" },
    { "cross", "{float[3]}({float[3]}, {double", PTXI_ERROR_INVALID_VALUE, "'}' expected at ''" },
    { "cross", "{float[3]}({float[3]}, {void})", PTXI_ERROR_INVALID_VALUE, "a field cannot be void" },
    { "cross", "{{{{{{{{{{{{{{{{{{{{float}}}}}}}}}}}}}}}}}}}}()", PTXI_ERROR_INVALID_VALUE,
      "structures are nested too deeply" },
};

START_TEST(bindings_that_do_not_fit)
{
    ptxiDiagnostic d = { .size = sizeof d };

    ck_result(BIND(wrong[_i].name, add, wrong[_i].signature), wrong[_i].result);
    if (!wrong[_i].message)
        return;
    ok(ptxiGetLastDiagnostic(0, &d));
    const char *text_after = strstr(d.message, "': ");

    ck_assert(text_after);
    ck_assert_str_eq(text_after + 3, wrong[_i].message);
    ck_assert_uint_gt(d.line, 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host");
    TCase *t = tcase_create("host");

    tcase_add_checked_fixture(t, load, close_context);
    tcase_add_test(t, functions_are_called);
    tcase_add_test(t, parameter_types);
    tcase_add_test(t, structures);
    tcase_add_test(t, large_structures);
    tcase_add_test(t, functions_know_the_calling_thread);
    tcase_add_test(t, shared_and_local_memory);
    tcase_add_test(t, failures);
    tcase_add_test(t, callbacks);
    tcase_add_loop_test(t, bindings_that_do_not_fit, 0, sizeof wrong / sizeof wrong[0]);
    suite_add_tcase(s, t);
    return run_suite(s);
}
