/* .minperctamemory: each CTA has a slice of global memory of its own, which lives as long as the launch. */
#include "unit/support/context.h"

#include <stdlib.h>
#include <string.h>

/* Each CTA writes its number to the first and the last word of its slice, waits until all CTAs of its cluster have done
 * so, and returns address, size and what it reads. Thread 0 of each CTA does this. */
#define KERNEL(name, directives, extra)                                                                        \
    ".visible .entry " name "(.param .u64 out) " directives "\n{\n"                                            \
    "  .reg .b64 %d<8>; .reg .b32 %r<12>; .reg .pred %p<2>;\n"                                                 \
    "  ld.param.u64 %d0, [out];\n"                                                                             \
    "  mov.u64 %d1, %perctamemoryoffset; mov.u32 %r0, %perctamemorysize;\n"                                    \
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;\n"                                 \
    "  mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;\n"                                                      \
    "  mad.lo.u32 %r2, %r3, %r5, %r2; mad.lo.u32 %r1, %r2, %r4, %r1;\n"                                        \
    "  cvt.u64.u32 %d2, %r0; add.u64 %d2, %d1, %d2;\n"                                                         \
    "  st.global.u32 [%d1], %r1; st.global.u32 [%d2+-4], %r1;\n" extra                                         \
    "  ld.global.u32 %r6, [%d1]; ld.global.u32 %r7, [%d2+-4];\n"                                               \
    "  mad.wide.u32 %d3, %r1, 32, %d0;\n"                                                                      \
    "  st.global.u64 [%d3], %d1; st.global.v2.u32 [%d3+8], {%r0, %r6}; st.global.u32 [%d3+16], %r7;\n"         \
    "  ret;\n}\n"
static const char text[] =
    ".version 9.4\n.target sm_90\n.address_size 64\n"
    KERNEL("slices", ".minperctamemory 1500", "barrier.cluster.arrive; barrier.cluster.wait;\n")
    KERNEL("none", ".minperctamemory 0", "")
    KERNEL("twice", ".minperctamemory 3000 .minperctamemory 0x10", "")
    KERNEL("beyond", ".minperctamemory 1024",
           "  setp.eq.u32 %p0, %r1, 1; @%p0 st.global.u32 [%d2], %r1;\n")
    KERNEL("huge", ".minperctamemory 4294967295", "")
    /* a function may be called by kernels without the memory */
    ".func (.reg .b64 %d0) where() { mov.u64 %d0, %perctamemoryoffset; ret; }\n"
    ".visible .entry without(.param .u64 out)\n{\n"
    "  .reg .b64 %d<3>; ld.param.u64 %d1, [out]; call (%d2), where; st.global.u64 [%d1], %d2; ret;\n}\n";

struct row {
    uint64_t address;
    uint32_t size, first, last, unused[3];
};

static ptxiModule module;
static ptxiDevicePtr out;

static void setup(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiMemAlloc(&out, 64 * sizeof(struct row)));
    ok(ptxiMemsetD8(out, 0xff, 64 * sizeof(struct row)));
}

static ptxiResult launch(const char *kernel, unsigned x, unsigned y, unsigned z)
{
    ptxiFunction f;
    void *params[] = { &out };
    ptxiResult r;

    ok(ptxiModuleGetFunction(&f, module, kernel));
    r = ptxiLaunchKernel(f, x, y, z, 1, 1, 1, 0, NULL, params, NULL);
    return r ? r : ptxiCtxSynchronize();
}

static void check_slices(unsigned count, uint32_t size)
{
    struct row rows[64];

    ok(ptxiMemcpyDtoH(rows, out, sizeof rows));
    for (unsigned k = 0; k < count; k++) {
        ck_assert_uint_eq(rows[k].address, rows[0].address + k * (uint64_t)size);
        ck_assert_uint_eq(rows[k].size, size);
        ck_assert_uint_eq(rows[k].first, k);
        ck_assert_uint_eq(rows[k].last, k);
    }
}

START_TEST(slices_are_one_pitch_apart)
{
    ok(launch("slices", 3, 4, 5));
    check_slices(60, 2048);
}
END_TEST

START_TEST(kernels_that_require_nothing_have_memory)
{
    ok(launch("none", 5, 1, 1));
    check_slices(5, 1024);
}
END_TEST

START_TEST(the_largest_of_several_values_counts)
{
    ok(launch("twice", 2, 2, 1));
    check_slices(4, 3072);
}
END_TEST

START_TEST(the_memory_lives_as_long_as_the_launch)
{
    size_t free_before, free_after, total;
    struct row row;

    ok(ptxiMemGetInfo(&free_before, &total));
    ok(launch("none", 1, 1, 1));
    ok(ptxiMemGetInfo(&free_after, &total));
    ck_assert_uint_eq(free_before, free_after);
    ok(ptxiMemcpyDtoH(&row, out, sizeof row));
    ck_result(ptxiMemsetD8(row.address, 0, 4), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(accesses_beyond_the_memory_fail)
{
    ok(launch("beyond", 3, 1, 1)); /* CTA 1 writes to the slice of CTA 2 */
    ck_result(launch("beyond", 2, 1, 1), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(too_much_memory_is_an_error)
{
    ck_result(launch("huge", 2147483647, 65535, 65535), PTXI_ERROR_OUT_OF_MEMORY);
    ck_result(launch("huge", 2147483647, 1, 1), PTXI_ERROR_OUT_OF_MEMORY);
    ok(launch("none", 1, 1, 1));
}
END_TEST

START_TEST(functions_of_other_kernels_get_zero)
{
    uint64_t address;

    ok(launch("without", 1, 1, 1));
    ok(ptxiMemcpyDtoH(&address, out, sizeof address));
    ck_assert_uint_eq(address, 0);
}
END_TEST

START_TEST(kernels_without_the_directive_are_rejected)
{
    ptxiModule m;
    static const char bad[] = ".version 9.4\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k() { .reg .b32 %r<2>; mov.u32 %r1, %perctamemorysize; ret; }\n";

    ck_result(ptxiModuleLoadData(&m, bad), PTXI_ERROR_INVALID_PTX);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cta_memory");
    TCase *t = tcase_create("cta_memory");

    tcase_add_checked_fixture(t, setup, close_context);
    tcase_add_test(t, slices_are_one_pitch_apart);
    tcase_add_test(t, kernels_that_require_nothing_have_memory);
    tcase_add_test(t, the_largest_of_several_values_counts);
    tcase_add_test(t, the_memory_lives_as_long_as_the_launch);
    tcase_add_test(t, accesses_beyond_the_memory_fail);
    tcase_add_test(t, too_much_memory_is_an_error);
    tcase_add_test(t, functions_of_other_kernels_get_zero);
    tcase_add_test(t, kernels_without_the_directive_are_rejected);
    suite_add_tcase(s, t);
    return run_suite(s);
}
