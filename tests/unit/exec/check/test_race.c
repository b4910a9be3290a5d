/* Tests the checks of races, of barriers and of tensor memory with pairs of a faulty and a correct kernel (pairs.txt).
 * The name of each kernel says what has to be found. Those of deadlock.ptx deadlock. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, THREADS = 64, BYTES = 16384 };

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(const char *file, unsigned tools, unsigned workers)
{
    open_context();
    ok(ptxiCtxSetWorkers(NULL, workers));
    ok(ptxiCtxSetSanitizer(NULL, tools, 0));
    ok(ptxiModuleLoadData(&module, test_file(file)));
    ok(ptxiMemAlloc(&mem, BYTES));
}

static void launch(ptxiFunction f)
{
    const char *name;

    ok(ptxiFuncGetName(&name, f));
    ptxiLaunchAttribute a = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { 2, 1, 1 } };
    ptxiLaunchConfig c = { BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, &a,
                           strstr(name, "cluster") != NULL };
    void *params[] = { &mem };

    ok(ptxiMemsetD8(mem, 0, BYTES));
    ok(ptxiLaunchKernelEx(&c, f, params, NULL));
    ok(ptxiCtxSynchronize());
}

/* What was found: the letter of a kernel's name. */
static char found(void)
{
    ptxiCheckSummary s = { .size = sizeof s };

    ok(ptxiCtxGetCheckSummary(NULL, &s));
    ck_assert_uint_eq(s.launches, 1);
    ck_assert_uint_eq(s.unchecked, 0);
    if (s.errors)
        return 'e';
    if (s.warnings)
        return 'w';
    return s.benign ? 'b' : 'c';
}

/* Two workers may both be about to write when they compare their values. Then equal values are not known to be equal,
 * and the race is no benign one. */
static bool is_expected(const char *name, char result)
{
    unsigned workers;

    ok(ptxiCtxGetWorkers(NULL, &workers));
    return result == name[0] || (workers > 1 && name[0] == 'b' && result == 'e');
}

/* Launches all kernels of the module. Returns the number of those for which something else is found. */
static unsigned count_wrong(unsigned least, void (*run)(ptxiFunction f))
{
    unsigned count, wrong = 0;
    ptxiFunction *f;

    ok(ptxiModuleGetFunctionCount(&count, module));
    f = malloc(count * sizeof *f);
    ok(ptxiModuleEnumerateFunctions(f, count, module));
    for (unsigned k = 0; k < count; k++) {
        const char *name;

        ok(ptxiFuncGetName(&name, f[k]));
        ok(ptxiCtxResetFindings(NULL));
        run(f[k]);
        if (!is_expected(name, found())) {
            fprintf(stderr, "%s: found %c\n", name, found());
            wrong++;
        }
    }
    ck_assert_uint_ge(count, least);
    free(f);
    return wrong;
}

/* Runs the kernels of a file, at least `least`, and expects of each what its label says. */
static void check_pairs(const char *file, unsigned tools, unsigned workers, unsigned least)
{
    set_up(file, tools, workers);
    ck_assert_uint_eq(count_wrong(least, launch), 0);
    close_context();
}

START_TEST(races)
{
    check_pairs("exec/check/races.ptx", PTXI_SANITIZER_RACE, (unsigned)_i, 50);
}
END_TEST

/* The order in which blocks that wait for each other run. */
START_TEST(races_in_fair_order)
{
    set_up("exec/check/races.ptx", PTXI_SANITIZER_RACE, 1);
    ok(ptxiCtxSetSchedule(NULL, PTXI_SCHEDULE_FAIR));
    ck_assert_uint_eq(count_wrong(50, launch), 0);
    close_context();
}
END_TEST

START_TEST(mbarriers)
{
    check_pairs("exec/check/mbarrier.ptx", PTXI_SANITIZER_RACE, 1, 10);
}
END_TEST

START_TEST(asynchronous)
{
    check_pairs("exec/check/async.ptx", PTXI_SANITIZER_RACE, 1, 21);
}
END_TEST

START_TEST(bulk)
{
    check_pairs("exec/check/bulk.ptx", PTXI_SANITIZER_RACE, 1, 19);
}
END_TEST

START_TEST(barriers)
{
    check_pairs("exec/check/sync.ptx", (unsigned)_i, 1, 7);
}
END_TEST

START_TEST(arrivals)
{
    check_pairs("exec/check/arrivals.ptx", PTXI_SANITIZER_SYNC | PTXI_SANITIZER_RACE, 1, 25);
}
END_TEST

START_TEST(misuse)
{
    set_up("exec/check/misuse.ptx", PTXI_SANITIZER_SYNC | PTXI_SANITIZER_RACE, 1);
    ok(ptxiCtxSetSanitizerRules(NULL, "suppress race", NULL));
    ck_assert_uint_eq(count_wrong(13, launch), 0);
    close_context();
}
END_TEST

START_TEST(transfers)
{
    check_pairs("exec/check/transfers.ptx", PTXI_SANITIZER_RACE, 1, 20);
}
END_TEST

START_TEST(wgmma)
{
    check_pairs("exec/check/wgmma.ptx", PTXI_SANITIZER_SYNC | PTXI_SANITIZER_RACE, 1, 15);
}
END_TEST

/* Launches a kernel of operands.cu. */
static void launch_operands(ptxiFunction f)
{
    void *params[] = { &mem };

    ok(ptxiMemsetD8(mem, 0, BYTES));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 160, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
}

START_TEST(operands)
{
    set_up("exec/check/operands.ptx", PTXI_SANITIZER_SYNC | PTXI_SANITIZER_RACE, 1);
    ck_assert_uint_eq(count_wrong(9, launch_operands), 0);
    close_context();
}
END_TEST

/* Launches a kernel of tensor_copies.cu. */
static void launch_tensor_copies(ptxiFunction f)
{
    static ptxiTensorMap map;
    const uint64_t size[2] = { 32, 64 }, stride[1] = { 128 };
    const uint32_t box[2] = { 32, 16 }, step[2] = { 1, 1 };
    void *params[] = { &mem, &map };

    ok(ptxiMemsetD8(mem, 0, BYTES));
    ok(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)(uintptr_t)mem, size, stride, box,
                                step, PTXI_TENSOR_MAP_INTERLEAVE_NONE, PTXI_TENSOR_MAP_SWIZZLE_NONE,
                                PTXI_TENSOR_MAP_L2_PROMOTION_NONE, PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    ok(ptxiLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
}

START_TEST(tensor_copies)
{
    set_up("exec/check/tensor_copies.ptx", PTXI_SANITIZER_RACE, (unsigned)_i);
    ck_assert_uint_eq(count_wrong(14, launch_tensor_copies), 0);
    close_context();
}
END_TEST

/* Launches a kernel of surfaces.cu. */
static void launch_surfaces(ptxiFunction f)
{
    const PTXI_ARRAY3D_DESCRIPTOR d = { 64, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_SURFACE_LDST };
    ptxiSurfObject s;
    ptxiArray a;
    void *params[] = { &mem, &s };

    ok(ptxiArray3DCreate(&a, &d));
    ok(ptxiSurfObjectCreate(&s, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }));
    ok(ptxiLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiSurfObjectDestroy(s));
    ok(ptxiArrayDestroy(a));
}

START_TEST(surfaces)
{
    set_up("exec/check/surfaces.ptx", PTXI_SANITIZER_RACE, (unsigned)_i);
    ck_assert_uint_eq(count_wrong(8, launch_surfaces), 0);
    close_context();
}
END_TEST

/* A texture of 4 rows of 64 texels with unnormalised coordinates. */
static ptxiTexObject create_texture(const PTXI_RESOURCE_DESC *r, ptxiFilterMode filter)
{
    const PTXI_TEXTURE_DESC d = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP },
                                  .filterMode = filter,
                                  .flags = filter ? 0 : PTXI_TRSF_READ_AS_INTEGER };
    ptxiTexObject t;

    ok(ptxiTexObjectCreate(&t, r, &d, NULL));
    return t;
}

/* Launches a kernel of textures.cu. */
static void launch_textures(ptxiFunction f)
{
    enum { WIDTH = 64, HEIGHT = 4, ROWS = 4096, OUT = 8192 };
    const PTXI_ARRAY3D_DESCRIPTOR d = { WIDTH, HEIGHT, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1,
                                        PTXI_ARRAY3D_SURFACE_LDST };
    PTXI_RESOURCE_DESC linear = { .resType = PTXI_RESOURCE_TYPE_LINEAR };
    PTXI_RESOURCE_DESC pitched = { .resType = PTXI_RESOURCE_TYPE_PITCH2D };
    PTXI_RESOURCE_DESC array = { .resType = PTXI_RESOURCE_TYPE_ARRAY };
    ptxiDevicePtr rows_at = mem + ROWS, out = mem + OUT;
    ptxiTexObject words, rows, texels;
    ptxiSurfObject s;
    void *params[] = { &mem, &rows_at, &out, &words, &rows, &texels, &s };

    linear.res.linear.devPtr = mem;
    linear.res.linear.format = PTXI_AD_FORMAT_UNSIGNED_INT32;
    linear.res.linear.numChannels = 1;
    linear.res.linear.sizeInBytes = sizeof(uint32_t) * WIDTH * HEIGHT;
    pitched.res.pitch2D.devPtr = rows_at;
    pitched.res.pitch2D.format = PTXI_AD_FORMAT_FLOAT;
    pitched.res.pitch2D.numChannels = 1;
    pitched.res.pitch2D.width = WIDTH;
    pitched.res.pitch2D.height = HEIGHT;
    pitched.res.pitch2D.pitchInBytes = sizeof(float) * WIDTH;
    ok(ptxiMemsetD8(mem, 0, BYTES));
    ok(ptxiArray3DCreate(&array.res.array.hArray, &d));
    words = create_texture(&linear, PTXI_TR_FILTER_MODE_POINT);
    rows = create_texture(&pitched, PTXI_TR_FILTER_MODE_LINEAR);
    texels = create_texture(&array, PTXI_TR_FILTER_MODE_POINT);
    ok(ptxiSurfObjectCreate(&s, &array));
    ok(ptxiLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiTexObjectDestroy(words));
    ok(ptxiTexObjectDestroy(rows));
    ok(ptxiTexObjectDestroy(texels));
    ok(ptxiSurfObjectDestroy(s));
    ok(ptxiArrayDestroy(array.res.array.hArray));
}

START_TEST(textures)
{
    set_up("exec/check/textures.ptx", PTXI_SANITIZER_RACE, (unsigned)_i);
    ck_assert_uint_eq(count_wrong(14, launch_textures), 0);
    close_context();
}
END_TEST

START_TEST(tcgen05)
{
    check_pairs("exec/check/tcgen05.ptx", PTXI_SANITIZER_RACE, 1, 12);
}
END_TEST

START_TEST(tensor_memory)
{
    check_pairs("exec/check/tensor.ptx", PTXI_SANITIZER_MEMORY, 1, 4);
}
END_TEST

START_TEST(variables)
{
    check_pairs("exec/check/variables.ptx", PTXI_SANITIZER_MEMORY, 1, 15);
}
END_TEST

START_TEST(local_parts)
{
    check_pairs("exec/check/parts.ptx", PTXI_SANITIZER_MEMORY, 1, 21);
}
END_TEST

/* A report has the name and the size of the array. */
START_TEST(names_of_local_arrays)
{
    static const struct {
        const char *kernel, *name;
        unsigned size;
    } cases[] = { { "e_first", "'first'", 32 }, { "e_second", "'second'", 32 }, { "e_member", "'r'", 36 },
                  { "e_rows", "'rows'", 64 }, { "e_block", "'inner'", 16 }, { "e_function", "'x'", 16 } };
    ptxiFinding x = { .size = sizeof x };
    ptxiFunction f;

    set_up("exec/check/parts.ptx", PTXI_SANITIZER_MEMORY, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ok(ptxiCtxResetFindings(NULL));
        ok(ptxiModuleGetFunction(&f, module, cases[k].kernel));
        launch(f);
        ok(ptxiCtxGetFinding(NULL, 0, &x));
        ck_assert_str_eq(x.kind, "stray-pointer");
        ck_assert_msg(strstr(x.detail, cases[k].name) != NULL, "%s", x.detail);
        ck_assert_uint_eq(x.objectSize, cases[k].size);
    }
    close_context();
}
END_TEST

START_TEST(annotated)
{
    check_pairs("exec/check/annotated.ptx", PTXI_SANITIZER_RACE, 1, 4);
}
END_TEST

static void check_deadlock(const char *kernel, unsigned threads, const char *detail)
{
    ptxiFunction f;
    ptxiFinding x = { .size = sizeof x };

    ok(ptxiCtxResetFindings(NULL));
    ok(ptxiModuleGetFunction(&f, module, kernel));
    ok(ptxiLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, NULL, NULL));
    ck_assert_int_eq(ptxiCtxSynchronize(), PTXI_ERROR_LAUNCH_FAILED);
    ok(ptxiCtxGetFinding(NULL, 0, &x));
    ck_assert_str_eq(x.kind, "deadlock");
    ck_assert_msg(strstr(x.detail, detail) != NULL, "%s", x.detail);
}

START_TEST(deadlocks)
{
    set_up("exec/check/deadlock.ptx", PTXI_SANITIZER_SYNC, 1);
    check_deadlock("cycle", THREADS, "a cycle: warp 0 lanes 0xffffffff wait for warp 1 lanes 0xffffffff, which "
                                     "wait for the first");
    check_deadlock("gone", THREADS, "warp 1 lanes 0xffffffff wait for barrier 1 at line 27; the others have exited");
    check_deadlock("many", 512, " ...; ");
    close_context();
}
END_TEST

/* The operations of the other checks do not hide that a loop only waits. */
START_TEST(deadlock_at_mbarrier)
{
    set_up("exec/check/deadlock.ptx", PTXI_SANITIZER_SYNC | (unsigned)_i, 1);
    check_deadlock("waits", THREADS, "wait for the mbarrier");
    close_context();
}
END_TEST

/* Nothing but accesses to other objects is found. */
static void check_strays(void)
{
    ptxiFinding x = { .size = sizeof x };

    for (size_t k = 0; !ptxiCtxGetFinding(NULL, k, &x); k++) {
        ck_assert_str_eq(x.kind, "stray-pointer");
        ck_assert_uint_eq(x.siteCount, 1);
        ck_assert_uint_eq(x.objectSize, 256);
    }
}

/* Launches a kernel of pointers.cu. */
static void launch_pointers(ptxiFunction f)
{
    enum { OBJECT = 256 };
    ptxiDevicePtr a, b, loaded, variable;
    size_t size;

    ok(ptxiMemAlloc(&a, OBJECT));
    ok(ptxiMemAlloc(&b, OBJECT));
    ok(ptxiMemAlloc(&loaded, 2 * sizeof(int64_t)));
    ok(ptxiModuleGetGlobal(&variable, &size, module, "variable"));
    int64_t distance = ((int64_t)b - (int64_t)a) / 4, to_variable = ((int64_t)variable - (int64_t)a) / 4;
    int64_t content[2] = { (int64_t)b, distance };
    struct { ptxiDevicePtr first; int64_t distance; } range = { a, distance };
    void *params[] = { &a, &b, &loaded, &distance, &to_variable, &range };

    ok(ptxiMemcpyHtoD(loaded, content, sizeof content));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemFree(a));
    ok(ptxiMemFree(b));
    ok(ptxiMemFree(loaded));
    check_strays();
}

START_TEST(pointers)
{
    set_up("exec/check/pointers.ptx", PTXI_SANITIZER_MEMORY, 1);
    ck_assert_uint_eq(count_wrong(25, launch_pointers), 0);
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("race");
    TCase *t = tcase_create("pairs");

    tcase_add_loop_test(t, races, 1, 4); /* with this number of workers */
    tcase_add_test(t, races_in_fair_order);
    tcase_add_test(t, mbarriers);
    tcase_add_test(t, asynchronous);
    tcase_add_test(t, bulk);
    tcase_add_test(t, arrivals);
    tcase_add_test(t, misuse);
    tcase_add_test(t, transfers);
    tcase_add_test(t, wgmma);
    tcase_add_test(t, operands);
    tcase_add_loop_test(t, tensor_copies, 1, 3);
    tcase_add_loop_test(t, surfaces, 1, 3);
    tcase_add_loop_test(t, textures, 1, 3);
    tcase_add_test(t, tcgen05);
    tcase_add_test(t, tensor_memory);
    tcase_add_test(t, annotated);
    tcase_add_test(t, variables);
    tcase_add_test(t, local_parts);
    tcase_add_test(t, names_of_local_arrays);
    tcase_add_test(t, pointers);
    tcase_add_test(t, deadlocks);
    tcase_add_loop_test(t, deadlock_at_mbarrier, 0, PTXI_SANITIZER_ALL + 1);
    tcase_add_loop_test(t, barriers, PTXI_SANITIZER_SYNC, PTXI_SANITIZER_SYNC + 1);
    suite_add_tcase(s, t);
    return run_suite(s);
}
