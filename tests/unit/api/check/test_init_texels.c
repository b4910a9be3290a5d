/* Tests the tracking of uninitialised values through textures and surfaces, with the kernels of init_texels.cu. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, BYTES = 64, WIDTH = 64, HEIGHT = 4 };

static ptxiModule module;

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_INIT, 0));
    ok(ptxiModuleLoadData(&module, test_file("api/check/init_texels.ptx")));
}

static ptxiArray create_array(ptxiArrayFormat format, bool defined)
{
    static uint32_t texels[WIDTH * HEIGHT];
    const PTXI_MEMCPY3D copy = { .srcMemoryType = PTXI_MEMORYTYPE_HOST,
                                 .srcHost = texels,
                                 .dstMemoryType = PTXI_MEMORYTYPE_ARRAY,
                                 .WidthInBytes = 4 * WIDTH,
                                 .Height = HEIGHT,
                                 .Depth = 1 };
    PTXI_MEMCPY3D c = copy;
    ptxiArray a;

    for (uint32_t k = 0; k < WIDTH * HEIGHT; k++)
        texels[k] = UINT32_C(0x3f800000) + k * 4097; /* floats, too */

    ok(ptxiArray3DCreate(&a, &(PTXI_ARRAY3D_DESCRIPTOR){ WIDTH, HEIGHT, 0, format, 1, PTXI_ARRAY3D_SURFACE_LDST }));
    c.dstArray = a;
    if (defined)
        ok(ptxiMemcpy3D(&c));
    return a;
}

static ptxiTexObject create_texture(ptxiArray a, ptxiFilterMode filter)
{
    ptxiTexObject t;

    ok(ptxiTexObjectCreate(
        &t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a },
        &(PTXI_TEXTURE_DESC){ .filterMode = filter, .flags = filter ? 0 : PTXI_TRSF_READ_AS_INTEGER }, NULL));
    return t;
}

/* Launches a kernel, and returns its output. */
static void launch(ptxiFunction f, bool defined, uint32_t result[THREADS])
{
    ptxiArray words = create_array(PTXI_AD_FORMAT_UNSIGNED_INT32, defined);
    ptxiArray floats = create_array(PTXI_AD_FORMAT_FLOAT, defined);
    ptxiTexObject t = create_texture(words, PTXI_TR_FILTER_MODE_POINT);
    ptxiTexObject filtered = create_texture(floats, PTXI_TR_FILTER_MODE_LINEAR);
    ptxiSurfObject surface;
    ptxiDevicePtr out;
    void *params[] = { &out, &t, &filtered, &surface };

    ok(ptxiSurfObjectCreate(&surface, &(PTXI_RESOURCE_DESC){ .res.array.hArray = words }));
    ok(ptxiMemAlloc(&out, BYTES));
    ok(ptxiCtxResetFindings(NULL));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(result, out, THREADS * sizeof *result));
    ok(ptxiTexObjectDestroy(t));
    ok(ptxiTexObjectDestroy(filtered));
    ok(ptxiSurfObjectDestroy(surface));
    ok(ptxiArrayDestroy(words));
    ok(ptxiArrayDestroy(floats));
    ok(ptxiMemFree(out));
}

/* Whether a kernel has errors. */
static bool has_errors(ptxiFunction f, bool defined)
{
    ptxiCheckSummary s = { .size = sizeof s };
    uint32_t result[THREADS];

    launch(f, defined, result);
    ok(ptxiCtxGetCheckSummary(NULL, &s));
    ck_assert_uint_eq(s.launches, 1);
    ck_assert_uint_eq(s.unchecked, 0);
    return s.errors > 0;
}

/* The letter of a kernel says what has to be found. */
START_TEST(pairs)
{
    enum { KERNELS = 27 };
    ptxiFunction f[KERNELS];
    unsigned count;

    ok(ptxiModuleGetFunctionCount(&count, module));
    ck_assert_uint_eq(count, KERNELS);
    ok(ptxiModuleEnumerateFunctions(f, count, module));
    for (unsigned k = 0; k < count; k++) {
        const char *name;

        ok(ptxiFuncGetName(&name, f[k]));
        ck_assert_msg(has_errors(f[k], _i) == (name[0] == 'e' || (name[0] == 'd' && !_i)), "%s, defined %d", name, _i);
    }
}
END_TEST

/* The tracking does not change results. */
START_TEST(results)
{
    static const char *const kernels[] = { "d_load",           "d_fetch",         "d_fetch_filtered",
                                           "d_fetch_gathered", "d_fetch_negated", "d_fetch_offset",
                                           "d_load_converted", "c_fetch_stored",  "c_store",
                                           "c_store_formatted" };
    uint32_t want[THREADS], got[THREADS];
    ptxiFunction f;

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        ok(ptxiModuleGetFunction(&f, module, kernels[k]));
        ok(ptxiCtxSetSanitizer(NULL, 0, 0));
        launch(f, true, want);
        ok(ptxiCtxSetSanitizer(NULL, PTXI_SANITIZER_INIT, 0));
        launch(f, true, got);
        ck_assert_msg(!memcmp(want, got, sizeof want), "%s", kernels[k]);
    }
}
END_TEST

/* The kind of what is found first. */
START_TEST(kinds)
{
    static const char *const kinds[][2] = { { "d_load", "output" },           { "d_load_branch", "branch" },
                                            { "e_store_computed", "output" }, { "e_store_address", "address" },
                                            { "d_reduce", "output" },         { "d_fetch_filtered", "output" },
                                            { "e_fetch_address", "address" } };
    ptxiFinding x = { .size = sizeof x };
    ptxiFunction f;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        ok(ptxiModuleGetFunction(&f, module, kinds[k][0]));
        ck_assert(has_errors(f, false));
        ok(ptxiCtxGetFinding(NULL, 0, &x));
        ck_assert_str_eq(x.kind, kinds[k][1]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("init_texels");
    TCase *t = tcase_create("init_texels");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, pairs, 0, 2); /* whether the arrays are defined */
    tcase_add_test(t, results);
    tcase_add_test(t, kinds);
    suite_add_tcase(s, t);
    return run_suite(s);
}
