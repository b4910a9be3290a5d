/* Atomic operations that many threads do to one place: nothing is lost, and nothing is seen half done. */
#include "unit/context.h"

#include <string.h>

enum { BLOCKS = 32, THREADS = 64, ALL = BLOCKS * THREADS };

#define ENTRY(name, body)                                                                                                         \
    ".visible .entry " name "(.param .u64 p) { .reg .b64 %p, %d<8>; .reg .b32 %r<8>; .reg .b16 %h<8>; .reg .b128 %q<8>; .reg .pred %t;\n" \
    "  ld.param.u64 %p, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r0, %r0, 64, %r1;\n" body " ret; }\n"

static const char kernels[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
    ENTRY("wide_count",
          "  ld.relaxed.gpu.global.b128 %q0, [%p];\n"
          "AGAIN: mov.b128 {%d0, %d1}, %q0; add.cc.u64 %d0, %d0, 1; addc.u64 %d1, %d1, 0; mov.b128 %q1, {%d0, %d1};\n"
          "  atom.global.cas.b128 %q2, [%p], %q0, %q1; mov.b128 {%d2, %d3}, %q2; mov.b128 {%d4, %d5}, %q0;\n"
          "  setp.ne.u64 %t, %d2, %d4; mov.b128 %q0, %q2; @%t bra AGAIN; setp.ne.u64 %t, %d3, %d5; @%t bra AGAIN;")
    /* puts a number and its complement in, and counts pairs that are none */
    ENTRY("wide_exchange",
          "  cvt.u64.u32 %d0, %r0; not.b64 %d1, %d0; mov.b128 %q0, {%d0, %d1}; mov.u32 %r2, 20;\n"
          "AGAIN: atom.global.exch.b128 %q1, [%p], %q0; mov.b128 {%d2, %d3}, %q1; not.b64 %d3, %d3; setp.ne.u64 %t, %d2, %d3;\n"
          "  @%t red.global.add.u32 [%p+16], 1; sub.u32 %r2, %r2, 1; setp.ne.u32 %t, %r2, 0; @%t bra AGAIN;")
    /* two counters in one word, one for odd threads and one for even ones */
    ENTRY("narrow_count",
          "  and.b32 %r1, %r0, 1; mad.wide.u32 %p, %r1, 2, %p; ld.relaxed.gpu.global.b16 %h0, [%p];\n"
          "AGAIN: add.u16 %h1, %h0, 1; atom.global.cas.b16 %h2, [%p], %h0, %h1; setp.ne.u16 %t, %h2, %h0; mov.b16 %h0, %h2; @%t bra AGAIN;")
    ENTRY("half_sums",
          "  mov.b32 %r1, 0x40003c00; red.global.add.noftz.f16x2 [%p], %r1; mov.b16 %h0, 0x3c00; atom.global.add.noftz.f16 %h1, [%p+4], %h0;\n"
          "  setp.lt.u32 %t, %r0, 128; mov.b32 %r1, 0x40003f80; @%t red.global.add.noftz.bf16x2 [%p+8], %r1;\n"
          "  @%t red.global.add.noftz.v2.bf16x2 [%p+16], {%r1, %r1}; red.global.add.noftz.v4.f16 [%p+24], {%h0, %h0, %h0, %h0};\n"
          "  mov.b32 %r2, 0x3f800000; red.global.add.v4.f32 [%p+32], {%r2, %r2, %r2, %r2};")
    ENTRY("misaligned", "  mov.b32 %r2, 0; red.global.add.v2.f32 [%p+4], {%r2, %r2};")
    ENTRY("misaligned_halves", "  mov.b16 %h0, 0; atom.global.add.noftz.v8.bf16 {%h1,%h1,%h1,%h1,%h1,%h1,%h1,%h2}, [%p+8], {%h0,%h0,%h0,%h0,%h0,%h0,%h0,%h0};")
    ENTRY("misaligned_wide", "  mov.b64 %d0, 0; mov.b128 %q0, {%d0, %d0}; atom.global.exch.b128 %q1, [%p+8], %q0;");

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, kernels));
    ok(ptxiMemAlloc(&mem, 64));
    ok(ptxiMemsetD8(mem, 0, 64));
}

static ptxiResult run(const char *name, unsigned blocks)
{
    void *params[] = { &mem };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ok(ptxiLaunchKernel(f, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

START_TEST(wide_ones_count)
{
    uint64_t v[2] = { UINT64_MAX - 999, 6 };

    ok(ptxiMemcpyHtoD(mem, v, sizeof v));
    ok(run("wide_count", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits64(v[0], ALL - 1000);
    ck_bits64(v[1], 7);
}
END_TEST

START_TEST(wide_ones_are_whole)
{
    uint64_t v[3] = { 5, ~(uint64_t)5 };

    ok(ptxiMemcpyHtoD(mem, v, sizeof v));
    ok(run("wide_exchange", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits64(v[1], ~v[0]);
    ck_bits64(v[2], 0);
}
END_TEST

START_TEST(narrow_ones_leave_their_neighbours)
{
    uint16_t v[2];

    ok(run("narrow_count", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits16(v[0], ALL / 2);
    ck_bits16(v[1], ALL / 2);
}
END_TEST

START_TEST(halves_add_up)
{
    uint32_t v[12], blocks = 16; /* 1024 threads; 128 where the sums are bf16 */

    ok(run("half_sums", blocks));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits32(v[0], 0x68006400);
    ck_bits32(v[1], 0x6400);
    for (int k = 2; k < 6; k++)
        ck_bits32_at(v[k], k == 3 ? 0 : 0x43804300, "word %d", k);
    for (int k = 6; k < 8; k++)
        ck_bits32_at(v[k], 0x64006400, "word %d", k);
    for (int k = 8; k < 12; k++)
        ck_bits32_at(v[k], 0x44800000, "word %d", k);
}
END_TEST

START_TEST(vectors_are_aligned)
{
    static const char *const names[] = { "misaligned", "misaligned_halves", "misaligned_wide" };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        ck_assert_int_eq(run(names[k], 1), PTXI_ERROR_MISALIGNED_ADDRESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("atomic");
    TCase *t = tcase_create("atomic");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, wide_ones_count);
    tcase_add_test(t, wide_ones_are_whole);
    tcase_add_test(t, narrow_ones_leave_their_neighbours);
    tcase_add_test(t, halves_add_up);
    tcase_add_test(t, vectors_are_aligned);
    suite_add_tcase(s, t);
    return run_suite(s);
}
