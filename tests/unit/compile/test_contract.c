/* Tests contraction across basic blocks (compile/contract/contract.c). The last bit of a result shows which products
 * and sums became one fma. */
#include "unit/support/one_cta.h"

/* A value that the compiler does not know. */
#define X32(d, bits) "ld.global.u32 %r10, [%rd2]; sub.u32 %r10, %r10, 1000; xor.b32 " d ", %r10, " bits ";"
#define X16(d, bits) X32("%r11", "0") "cvt.u16.u32 " d ", %r11; xor.b16 " d ", " d ", " bits ";"
#define CUT "membar.gl;"
#define LOOP(label, turns, body) \
    "mov.b32 %r12, 0;" label ": " body "add.u32 %r12, %r12, 1; setp.lt.u32 %p, %r12, " turns "; @%p bra " label ";"

/* The product of 1 + 2^-23 with itself, minus its rounded value. */
#define SUB(d, product) "sub.f32 " d ", " product ", 0f3f800002;"
enum { FUSED = 0x28800000, SPLIT = 0 };

static const struct { const char *body; uint32_t result; } cases[] = {
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, %r2;" SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, %r2;" CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001;" CUT SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, 0f3f800001, %r2;" CUT SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") "mul.rn.f32 %r13, %r2, 0f3f800001;" CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r14", "0x3f800001") "mul.f32 %r13, %r14, 0f3f800001;" CUT "neg.f32 %r4, %r13; "
      "add.f32 %r5, %r4, 0f3f800002; xor.b32 %r9, %r5, 0x80000000;", FUSED },
    { X32("%r14", "0x3f800001") "mul.f32 %r13, %r14, 0f3f800001; neg.f32 %r4, %r13;" CUT
      "add.f32 %r5, %r4, 0f3f800002; xor.b32 %r9, %r5, 0x80000000;", FUSED },
    /* several uses, all of them sums or not */
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001;" SUB("%r4", "%r13") CUT SUB("%r5", "%r13")
      "add.f32 %r9, %r4, %r5;", FUSED + 0x00800000 },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001;" CUT SUB("%r4", "%r13") CUT "and.b32 %r5, %r13, 0x7f; "
      "min.s32 %r5, %r5, 0; or.b32 %r9, %r4, %r5;", SPLIT },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001; setp.eq.u32 %p, %r10, 1; @%p mov.b32 %r13, 0;"
      CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001; mov.b32 %r2, 0;" CUT SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") "mul.f32 %r4, %r2, %r2; mul.f32 %r13, %r2, 0f3f800001;" CUT "sub.f32 %r9, %r13, %r4;",
      FUSED },
    /* into a loop and out of a loop, where the factor stays live */
    { X32("%r2", "0x3f800001") "mul.f32 %r13, %r2, 0f3f800001;" LOOP("L", "3", "mov.b32 %r2, 0; " SUB("%r9", "%r13")),
      FUSED },
    { X32("%r2", "0x3f800000") LOOP("L", "2", "mul.f32 %r13, %r2, 0f3f800001; membar.gl; add.u32 %r2, %r2, 1;")
      SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") X32("%r4", "0x3f800001") "mul.f32 %r13, %r2, %r4;" LOOP("L", "3", SUB("%r9", "%r13")),
      SPLIT },
    /* constants that ptxas computes */
    { X32("%r2", "0x3f800001") "mov.b32 %r4, 0x3f800000; add.u32 %r14, %r4, 1; mul.f32 %r13, %r2, %r14;"
      CUT SUB("%r9", "%r13"), FUSED },
    { X32("%r2", "0x3f800001") "mov.b32 %r4, 8388609; cvt.rn.f32.u32 %r14, %r4; mul.f32 %r13, %r2, %r14;" CUT
      "sub.f32 %r9, %r13, 0f4b000002;", FUSED + (23 << 23) },
    { X32("%r2", "0x3f800001") "fma.rn.f32 %r4, 0f3f800000, 0f3f800000, 0f34000000; mul.f32 %r13, %r2, %r4;"
      CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r2", "0x3f800001") "rcp.rn.f32 %r4, 0f3f7ffffe; mul.f32 %r13, %r2, %r4;" CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r2", "0x3f800001") "mov.u32 %r4, %ntid.y; add.u32 %r14, %r4, 0x3f800000; mul.f32 %r13, %r2, %r14;"
      CUT SUB("%r9", "%r13"), SPLIT },
    { X32("%r14", "0x3f800002") "mul.f32 %r13, 0f3f800001, 0f3f800001; sub.f32 %r9, %r13, %r14;", SPLIT },
    { X16("%h1", "0x3c01") "cvt.rn.f16.f32 %h2, 0f3f802000; mul.f16 %h3, %h1, %h2;" CUT "mov.b16 %h4, 0x3c02; "
      "sub.f16 %h5, %h3, %h4; cvt.u32.u16 %r9, %h5;", 0x10 },
    { X16("%h1", "0x3c02") "mov.b16 %h2, 0x3c01; mul.f16 %h3, %h2, %h2; sub.f16 %h5, %h3, %h1; cvt.u32.u16 %r9, %h5;",
      0x10 },
    /* a reciprocal is not a product of two values */
    { X32("%r2", "0x3f800000") "rcp.approx.f32 %r13, %r2; neg.f32 %r9, %r13;", 0xbf800000 },
    { X32("%r2", "0x40000000") "rcp.approx.f32 %r13, %r2; neg.f32 %r4, %r13; add.f32 %r9, %r4, %r13;", 0 },
    { X16("%h1", "0x3c01") "mul.f16 %h3, %h1, %h1;" CUT "mov.b16 %h4, 0x3c02; sub.f16 %h5, %h3, %h4; "
            "cvt.u32.u16 %r9, %h5;", 0 },
};

START_TEST(contraction_follows_ptxas)
{
    uint32_t out[1];

    ok(run_one_cta("sm_90", cases[_i].body, 1, out));
    ck_assert_msg(out[0] == cases[_i].result, "%s: %08x, not %08x", cases[_i].body, out[0], cases[_i].result);
}
END_TEST

/* Parameters of a kernel, parts of them, and .const variables at known addresses are operands like constants. */
START_TEST(operands_from_constant_banks)
{
    static const struct { const char *factor; bool fused; } factors[] = {
        { "ld.param.f32 %f2, [x+4];", true }, { "ld.const.f32 %f2, [c];", true },
        { "ld.param.b64 %a, [x]; mov.b64 {%f3, %f2}, %a;", true },
        { "ld.param.b32 %f0, [x+4]; add.f32 %f2, %f0, 0f30000000;", false }, { "ld.global.f32 %f2, [%p+4];", false },
    };
    uint32_t x[2] = { 0, 0x3f800001 }, out[2] = { 0x3f800001, 0x3f800001 };
    ptxiDevicePtr p;
    void *params[] = { &p, x };
    char text[2048];
    ptxiModule m;
    ptxiFunction f;

    snprintf(text, sizeof text, ".version 9.0\n.target sm_90\n.address_size 64\n.const .f32 c = 0f3f800001;\n.entry "
                                "k(.param .u64 p, .param .align 8 .b8 x[8])\n"
             "{ .reg .b32 %%f<6>; .reg .b64 %%a, %%p; ld.param.u64 %%p, [p]; ld.global.f32 %%f1, [%%p]; %s\n"
             "mul.f32 %%f4, %%f1, %%f2; membar.gl; sub.f32 %%f5, %%f4, 0f3f800002; st.global.f32 [%%p], %%f5; }\n",
             factors[_i].factor);
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, sizeof out));
    ok(ptxiMemcpyHtoD(p, out, sizeof out));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], factors[_i].fused ? FUSED : SPLIT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("contract");
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, contraction_follows_ptxas, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, operands_from_constant_banks, 0, 5);
    suite_add_tcase(s, t);
    return run_suite(s);
}
