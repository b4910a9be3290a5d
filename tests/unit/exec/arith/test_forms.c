/* Examples of forms that no recording covers. One thread runs a few instructions on given operands. Registers and
 * memory must match the values that are listed here. */
#include "unit/support/context.h"

#include <string.h>

/* %d0 to %d3 hold `in`, %r0 to %r3 and %h0 to %h3 their lower bits. %mem is the address of `memory`. `out` is %r10
 * to %r13, %h10 to %h17, then %d10 and %d11. */
static const struct form {
    const char *body;
    uint64_t in[4], memory[4], out[6], after[4];
} forms[] = {
    /* set: 1.0 or all ones, for each half of a pair */
    { "set.lt.u32.f16x2 %r10,%r0,%r1; set.lt.s32.f16x2 %r11,%r1,%r0;", { 0x3c004000, 0x40003c00 },
      .out = { 0x0000ffffffff0000 } },
    { "set.lt.u32.bf16x2 %r10,%r0,%r1; set.num.s32.bf16x2 %r11,%r0,%r2;", { 0x3f804000, 0x40003f80, 0x00007fff },
      .out = { 0xffff0000ffff0000 } },
    { "set.ge.f16x2.f16x2 %r10,%r0,%r1; set.ge.bf16x2.bf16x2 %r11,%r0,%r1;", { 0x3c004000, 0x40003c00 },
      .out = { 0x00003f8000003c00 } },
    { "setp.eq.u32 %p0,%r2,0; set.lt.and.f16x2.f16x2 %r10,%r0,%r1,%p0; set.lt.xor.f16x2.f16x2 %r11,%r0,%r1,!%p0;",
      { 0x3c004000, 0x40003c00, 1 }, .out = { 0x00003c0000000000 } },
    { "set.gt.f16.s32 %h10,%r0,%r1; set.lo.f16.u64 %h11,%d0,%d1; set.eq.bf16.b16 %h12,%h0,%h1; "
      "set.hs.bf16.u16 %h13,%h0,%h1;", { 5, 0xfffffff0 },
      .out = { [2] = 0x3c003c00 } },
    { "set.leu.f16.f32 %h10,%r0,%r1; set.le.ftz.f16.f32 %h11,%r2,%r3; set.gt.bf16.f32 %h12,%r2,%r3; "
      "set.neu.bf16.f64 %h13,%d0,%d1;",
      { 0x3f800000, 0x7fc00000, 3, 2 }, .out = { [2] = 0x3f803f803c003c00 } },
    { "set.eq.u16.f16 %h10,%h0,%h1; set.ne.s16.bf16 %h11,%h0,%h1; set.eq.s32.f16 %r10,%h0,%h1; "
      "set.eq.ftz.u32.f16 %r11,%h0,%h1;", { 0x8000, 0x0001 },
      .out = { 0xffffffff00000000, 0, 0xffff0000 } },
    { "set.lt.bf16.f16 %h10,%h0,%h1; set.lt.f16.f16 %h11,%h1,%h0;", { 0x3c00, 0x4000 }, .out = { [2] = 0x3f80 } },
    /* setp of pairs: either destination may be missing */
    { "setp.lt.f16x2 %p0|%p1,%r0,%r1; selp.u32 %r10,1,2,%p0; selp.u32 %r11,1,2,%p1;", { 0x3c004000, 0x40003c00 },
      .out = { 0x0000000100000002 } },
    { "setp.lt.bf16x2 _|%p1,%r0,%r1; selp.u32 %r10,1,2,%p1; setp.lt.bf16x2 %p0|_,%r0,%r1; selp.u32 %r11,1,2,%p0; "
      "setp.gt.bf16x2 %p0,%r0,%r1; selp.u32 %r12,1,2,%p0;",
      { 0x3c004000, 0x40003c00 }, .out = { 0x0000000200000001, 1 } },
    /* a half and f32 */
    { "add.f32.f16 %r10,%h0,%r1; sub.f32.f16 %r11,%h0,%r1; add.rp.f32.bf16 %r12,%h2,%r3; "
      "sub.rz.sat.f32.bf16 %r13,%h2,%r1;",
      { 0x3c00, 0x40000000, 0x3f80, 0x00000001 }, .out = { 0xbf80000040400000, 0x000000003f800001 } },
    { "fma.rm.f32.f16 %r10,%h0,%h0,%r1; fma.rp.f32.f16 %r11,%h0,%h0,%r1; fma.rn.sat.f32.bf16 %r12,%h2,%h2,%r1; "
      "fma.rn.f32.bf16 %r13,%h3,%h0,%r1;",
      { 0x3c01, 0x33000000, 0x3f01, 0xffc1 }, .out = { 0x3f8040093f804008, 0x7fffffff3e820201 } },
    { "add.f32.f16 %r10,%h0,%r1; add.sat.f32.f16 %r11,%h2,%r1; sub.f32.f16 %r12,%h2,%r1;", { 0x0001, 0, 0x7e12 },
      .out = { 0x0000000033800000, 0x7fffffff } },
    /* vectors of atomic operations; their results may overwrite their operands */
    { "atom.global.add.v2.f32 {%r0,%r1},[%mem],{%r1,%r0}; mov.b32 %r10,%r0; mov.b32 %r11,%r1;",
      { 0x40400000, 0x40800000 }, { 0x400000003f800000 },
      { 0x400000003f800000 }, { 0x40a0000040a00000 } },
    { "atom.global.max.noftz.v4.f16 {%h10,%h11,%h12,%h13},[%mem+8],{%h0,%h1,%h2,%h3};",
      { 0x3c00, 0xbc00, 0x7e00, 0x8000 }, { 5, 0x00003c00bc01bbff },
      { [2] = 0x00003c00bc01bbff }, { 5, 0x00003c00bc003c00 } },
    { "atom.global.min.noftz.v2.bf16x2 {%r10,%r11},[%mem],{%r0,%r1}; red.global.add.noftz.v2.bf16 [%mem+16],{%h2,%h3};",
      { 0x3f804000, 0x7fc1ffc1, 0x3f80, 0x0001 }, { 0x7fc240003f813f80, 0, 0x00013f80 }, { 0x7fc240003f813f80 },
      { 0x7fff40003f803f80, 0, 0x00024000 } },
    { "mov.b128 %q0,{%d0,%d1}; mov.b128 %q1,{%d2,%d3}; atom.global.cas.b128 %q2,[%mem],%q0,%q1; "
      "mov.b128 {%d10,%d11},%q2;", { 1, 2, 3, 4 }, { 1, 2 },
      { [4] = 1, 2 }, { 3, 4 } },
    { "mov.b128 %q0,{%d0,%d1}; mov.b128 %q1,{%d2,%d3}; atom.global.cas.b128 %q2,[%mem],%q0,%q1; "
      "mov.b128 {%d10,%d11},%q2;", { 1, 2, 3, 4 }, { 1, 3 },
      { [4] = 1, 3 }, { 1, 3 } },
    { "mov.b128 %q0,{%d0,%d1}; atom.cta.exch.b128 %q0,[%mem+16],%q0; mov.b128 {%d10,%d11},%q0; mov.b128 %q1,{%d2,%d3}; "
      "atom.exch.b128 _,[%mem],%q1;",
      { 1, 2, 3, 4 }, { 0, 0, 5, 6 }, { [4] = 5, 6 }, { 3, 4, 1, 2 } },
};

enum { FORMS = sizeof forms / sizeof *forms };

/* The same for sm_107. */
static const struct form forms_107[] = {
    /* two halves and f32x2: 1 and 2 of f16, -1 and 0.5 of bf16; .rz of a sum that is not exact */
    { "add.f32x2.f16x2.f32x2 %d10,%r0,%d1; sub.rn.f32x2.bf16x2.f32x2 %d11,%r2,%d1;",
      { 0x40003c00, 0x4040000040800000, 0x3f00bf80 }, .out = { [4] = 0x40a0000040a00000, 0xc0200000c0a00000 } },
    { "fma.rp.f32x2.f16x2.f32x2.f32x2 %d10,%r0,%d1,%d2; fma.rm.f32x2.bf16x2.f32x2.f32x2 %d11,%r3,%d1,%d2;",
      { 0x40003c00, 0x3f8000003f800000, 0x3300000033000000, 0x3f803f80 },
      .out = { [4] = 0x400000013f800001, 0x3f8000003f800000 } },
    { "add.rz.ftz.f16x2.f32x2.f32x2 %r10,%d0,%d1; mul.rz.bf16x2.f32x2.f32x2 %r11,%d0,%d2;",
      { 0x4080000047800000, 0xb3800000c0000000, 0x3f8fffff3f8fffff }, .out = { 0x408f478f43ff7bff } },
};
enum { FORMS_107 = sizeof forms_107 / sizeof *forms_107 };

static void write_kernel(char *text, size_t size, const char *header, const char *body)
{
    snprintf(text, size,
             "%s.address_size 64\n"
             ".visible .entry k(.param .u64 p)\n{\n"
             "  .reg .b64 %%d<16>, %%mem; .reg .b32 %%r<16>; .reg .b16 %%h<20>; .reg .pred %%p<2>; .reg .b128 %%q<4>;\n"
             "  ld.param.u64 %%mem, [p];\n"
             "  ld.global.v2.b64 {%%d0,%%d1}, [%%mem+32]; ld.global.v2.b64 {%%d2,%%d3}, [%%mem+48];\n"
             "  cvt.u32.u64 %%r0, %%d0; cvt.u32.u64 %%r1, %%d1; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d3;\n"
             "  cvt.u16.u64 %%h0, %%d0; cvt.u16.u64 %%h1, %%d1; cvt.u16.u64 %%h2, %%d2; cvt.u16.u64 %%h3, %%d3;\n"
             "  mov.b64 {%%r10,%%r11}, 0; mov.b64 {%%r12,%%r13}, 0; mov.b64 {%%h10,%%h11,%%h12,%%h13}, 0; "
             "mov.b64 {%%h14,%%h15,%%h16,%%h17}, 0;\n"
             "  mov.b64 %%d10, 0; mov.b64 %%d11, 0;\n"
             "  %s\n"
             "  st.global.v4.b32 [%%mem+64], {%%r10,%%r11,%%r12,%%r13}; "
             "st.global.v4.b16 [%%mem+80], {%%h10,%%h11,%%h12,%%h13};\n"
             "  st.global.v4.b16 [%%mem+88], {%%h14,%%h15,%%h16,%%h17}; st.global.v2.b64 [%%mem+96], {%%d10,%%d11};\n"
             "  ret;\n}\n", header, body);
}

START_TEST(results_match_the_examples)
{
    const struct form *f = _i < FORMS ? &forms[_i] : &forms_107[_i - FORMS];
    const char *header = _i < FORMS ? ".version 9.0\n.target sm_100\n" : ".version 9.4\n.target sm_107f\n";
    struct { uint64_t memory[4], in[4], out[6]; } data;
    char text[4000];
    ptxiModule module;
    ptxiFunction function;
    ptxiDevicePtr p;
    void *params[] = { &p };

    memset(&data, 0, sizeof data);
    memcpy(data.memory, f->memory, sizeof data.memory);
    memcpy(data.in, f->in, sizeof data.in);
    write_kernel(text, sizeof text, header, f->body);
    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleGetFunction(&function, module, "k"));
    ok(ptxiMemAlloc(&p, sizeof data));
    ok(ptxiMemcpyHtoD(p, &data, sizeof data));
    ok(ptxiLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(&data, p, sizeof data));
    for (int k = 0; k < 6; k++)
        ck_assert_msg(data.out[k] == f->out[k], "%s: out[%d] is %#llx, want %#llx", f->body, k,
                      (unsigned long long)data.out[k], (unsigned long long)f->out[k]);
    for (int k = 0; k < 4; k++)
        ck_assert_msg(data.memory[k] == f->after[k], "%s: memory[%d] is %#llx, want %#llx", f->body, k,
                      (unsigned long long)data.memory[k],
                      (unsigned long long)f->after[k]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("forms");
    TCase *t = tcase_create("forms");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, results_match_the_examples, 0, FORMS + FORMS_107);
    suite_add_tcase(s, t);
    return run_suite(s);
}
