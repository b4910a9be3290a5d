/* Tests ptx_run() of libgpuocelot.so as tinygrad calls it. */
#include "unit/support/bits.h"

#include "ptxi.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void ptx_run(const char *source, int n_args, void *args[], int blck_x, int blck_y, int blck_z, int grid_x, int grid_y,
             int grid_z,
             int shared_mem_size);

#define HEAD ".version 7.5\n.target sm_35\n.address_size 64\n"

/* y[i] = a * x[i] + b. Threads beyond n do nothing. */
static const char affine[] = HEAD
    ".visible .entry affine(.param .u64 data0, .param .u64 data1, .param .f32 a, .param .s32 b, .param .u8 n) .maxntid "
    "64 {\n"
    ".reg .pred %p; .reg .s16 %n; .reg .u32 %i, %c, %t, %k; .reg .s32 %b; .reg .u64 %y, %x, %o; .reg .f32 %a, %v, %w;\n"
    "ld.param.u64 %y, [data0+0]; ld.param.u64 %x, [data1+0]; ld.param.f32 %a, [a+0]; ld.param.s32 %b, [b+0]; "
    "ld.param.u8 %n, [n];\n"
    "mov.u32 %c, %ctaid.x; mov.u32 %k, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %c, %k, %t;\n"
    "cvt.u32.u16 %t, %n; setp.ge.u32 %p, %i, %t; @%p ret;\n"
    "mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o; add.u64 %y, %y, %o;\n"
    "ld.global.f32 %v, [%x]; cvt.rn.f32.s32 %w, %b; fma.rn.f32 %v, %v, %a, %w; st.global.f32 [%y], %v; ret; }\n";

/* Returns what a call prints to stderr. */
static char printed[8192];

static void run(const char *source, int n_args, void *args[], int block, int grid)
{
    FILE *f = tmpfile();
    int saved_stderr = dup(2);

    ck_assert(f && saved_stderr >= 0);
    fflush(stderr);
    dup2(fileno(f), 2);
    ptx_run(source, n_args, args, block, 1, 1, grid, 1, 1, 0);
    fflush(stderr);
    dup2(saved_stderr, 2);
    close(saved_stderr);
    rewind(f);
    printed[fread(printed, 1, sizeof printed - 1, f)] = 0;
    fclose(f);
}

START_TEST(arguments_are_values)
{
    enum { N = 100 };
    float *x = malloc(N * sizeof *x), y[N + 28], a = 0.5f;
    void *args[] = { y, x, NULL, (void *)(intptr_t)-3, (void *)N };

    memcpy(&args[2], &a, sizeof a);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i + round);
        memset(y, 0, sizeof y);
        run(affine, 5, args, 64, 2);
        ck_assert_str_eq(printed, "");
        for (int i = 0; i < N + 28; i++)
            ck_assert_msg(y[i] == (i < N ? 0.5f * x[i] - 3 : 0), "y[%d] is %g", i, y[i]);
    }
    free(x);
}
END_TEST

static const char where[] = HEAD
    ".entry where(.param .u64 out) { .reg .u32 %a<6>; .reg .u64 %p; ld.param.u64 %p, [out];\n"
    "mov.u32 %a0, %ntid.x; mov.u32 %a1, %ntid.y; mov.u32 %a2, %ntid.z; mov.u32 %a3, %nctaid.x; mov.u32 %a4, %nctaid.y; "
    "mov.u32 %a5, %nctaid.z;\n"
    "st.global.u32 [%p], %a0; st.global.u32 [%p+4], %a1; st.global.u32 [%p+8], %a2;\n"
    "st.global.u32 [%p+12], %a3; st.global.u32 [%p+16], %a4; st.global.u32 [%p+20], %a5; ret; }";

START_TEST(block_size_precedes_grid_size)
{
    unsigned out[6] = { 0 };
    void *args[] = { out };

    ptx_run(where, 1, args, 2, 3, 4, 5, 6, 7, 0);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(out[i], i + 2);
}
END_TEST

/* A variable of a module keeps its value while calls have the same text, whatever its address. Modules are not kept
 * forever. */
START_TEST(the_same_text_uses_the_same_module)
{
    static const char format[] = HEAD
        "// %d\n.global .u32 calls;\n.entry count(.param .u64 out) { .reg .u32 %%n; .reg .u64 %%p; "
        "ld.param.u64 %%p, [out];\n"
        "ld.global.u32 %%n, [calls]; add.u32 %%n, %%n, 1; st.global.u32 [calls], %%n; st.global.u32 [%%p], %%n; ret; }";
    unsigned *out = calloc(1, sizeof *out);
    void *args[] = { out };
    char text[512];

    for (unsigned i = 1; i <= 3; i++) {
        char *copy;

        snprintf(text, sizeof text, format, 0);
        copy = strdup(text);
        run(copy, 1, args, 1, 1);
        free(copy);
        ck_assert_str_eq(printed, "");
        ck_assert_uint_eq(*out, i);
    }
    for (int i = 0; i < 600; i++) {
        snprintf(text, sizeof text, format, i % 599 + 1);
        run(text, 1, args, 1, 1);
        ck_assert_uint_eq(*out, 1);
    }
    run(text, 1, args, 1, 1);
    ck_assert_uint_eq(*out, 2);
    free(out);
}
END_TEST

static const char approx[] = HEAD
    ".entry approx(.param .u64 out, .param .f64 x) { .reg .u64 %p; .reg .f32 %f; .reg .f64 %x, %d; "
    "ld.param.u64 %p, [out]; ld.param.f64 %x, [x];\n"
    "rcp.approx.f64 %d, %x; st.global.f64 [%p], %d; sqrt.approx.f64 %d, %x; st.global.f64 [%p+8], %d;\n"
    "sin.approx.f64 %d, %x; st.global.f64 [%p+16], %d; lg2.approx.f64 %d, %x; st.global.f64 [%p+24], %d;\n"
    "ex2.approx.f64 %d, %x; st.global.f64 [%p+32], %d;\n"
    "mov.f32 %f, 1000000.0; sin.approx.f32 %f, %f; cvt.f64.f32 %d, %f; st.global.f64 [%p+40], %d; ret; }";

START_TEST(approximate_functions_in_double)
{
    static const double want[] = { 0.5, 0x1.6a09e667f3bcdp+0, 0x1.d18f6ead1b446p-1, 1.0, 4.0, -0x1.6664b2p-2 };
    double out[6] = { 0 }, x = 2.0;
    void *args[] = { out, NULL };
    ptxiContext ctx;
    ptxiModule m;

    memcpy(&args[1], &x, sizeof x);
    run(approx, 2, args, 1, 1);
    ck_assert_str_eq(printed, "");
    for (int i = 0; i < 6; i++)
        ck_assert_msg(out[i] == want[i], "result %d is %a", i, out[i]);

    ck_assert_int_eq(ptxiCtxCreate(&ctx, 0, 0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiModuleLoadData(&m, approx), PTXI_ERROR_INVALID_PTX); /* only with the dialect */
    ck_assert_int_eq(ptxiModuleLoadDataEx(&m, affine, 1, &(ptxiJitOption){ PTXI_JIT_DIALECT },
                                          &(void *){ (void *)0x100 }), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* The system may list one array as several mappings. */
START_TEST(arrays_across_mappings)
{
    enum { PAGE = 4096, N = 64 };
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float x[N], *y = (float *)(void *)(pages + PAGE) - N / 2, a = 2;
    void *args[] = { y, x, NULL, NULL, (void *)N };

    ck_assert(pages != MAP_FAILED && !madvise(pages + PAGE, PAGE, MADV_DONTFORK));
    memcpy(&args[2], &a, sizeof a);
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    run(affine, 5, args, N, 1);
    ck_assert_str_eq(printed, "");
    for (int i = 0; i < N; i++)
        ck_assert_msg(y[i] == 2 * x[i], "y[%d] is %g", i, y[i]);
    munmap(pages, 2 * PAGE);
}
END_TEST

START_TEST(errors_are_reported_and_calls_continue)
{
    static const char twice[] = HEAD ".entry f() { ret; }\n.entry g() { ret; }", large[] = HEAD
    ".entry f(.param .b8 x[16]) { ret; }";
    float x[4] = { 1, 2, 3, 4 }, y[4], a = 1;
    void *bad[] = { NULL, x, NULL, NULL, (void *)4 }, *good[] = { y, x, NULL, NULL, (void *)4 };

    memcpy(&good[2], &a, sizeof a);
    run(HEAD ".entry f() { add.u33 %a, 1, 2; ret; }", 0, NULL, 1, 1);
    ck_assert_ptr_nonnull(strstr(printed, "4:17"));
    run("not PTX", 0, NULL, 1, 1);
    ck_assert_ptr_nonnull(strstr(printed, "ptx_run: the module does not load"));
    run(twice, 0, NULL, 1, 1);
    ck_assert_str_eq(printed, "ptx_run: the module has 2 kernels, not one\n");
    run(large, 1, good, 1, 1);
    ck_assert_str_eq(printed, "ptx_run: parameter 0 has 16 bytes, an argument 8\n");
    run(affine, 4, good, 4, 1);
    ck_assert_str_eq(printed, "ptx_run: 4 arguments for a kernel of 5 parameters\n");
    run(affine, 5, good, 65, 1);
    ck_assert_ptr_nonnull(strstr(printed, "ptx_run: the launch: an argument is out of range"));
    run(affine, 5, good, -1, 0);
    ck_assert_ptr_nonnull(strstr(printed, "ptx_run: the launch: an argument is out of range"));
    run(affine, 5, bad, 4, 1);
    ck_assert_ptr_nonnull(strstr(printed, "affine, block (0,0,0), thread (0,0,0)"));
    ck_assert_ptr_nonnull(strstr(printed, "ptx_run: the kernel failed"));
    run(NULL, 0, NULL, 1, 1);
    run(affine, 5, good, 4, 1);
    ck_assert_str_eq(printed, "");
    ck_assert(y[3] == 4);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ocelot");
    TCase *t = tcase_create("ptx_run");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, arguments_are_values);
    tcase_add_test(t, block_size_precedes_grid_size);
    tcase_add_test(t, the_same_text_uses_the_same_module);
    tcase_add_test(t, approximate_functions_in_double);
    tcase_add_test(t, arrays_across_mappings);
    tcase_add_test(t, errors_are_reported_and_calls_continue);
    suite_add_tcase(s, t);
    return run_suite(s);
}
