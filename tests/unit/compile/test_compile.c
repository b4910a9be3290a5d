/* Tests the compiler from text to bytecode: fused operations, contraction, and the layout of storage. */
#include "unit/support/compiled.h"

/* --- fused pairs of operations --- */

static const struct { const char *body, *has; unsigned count, ops; } pairs[] = {
    { "mul.wide.s32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;", "address_wide_s32", 1, 4 },
    { "mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd2, %rd1; st.global.u32 [%rd3], %r2;", "address_wide_u32", 1, 4 },
    { "shl.b32 %r3, %r2, 3; add.s32 %r4, %r3, %r2; st.global.u32 [%rd1], %r4;", "lea_32", 1, 4 },
    { "cvt.u64.u32 %rd2, %r2; shl.b64 %rd3, %rd2, 3; add.s64 %rd4, %rd3, %rd1; st.global.u32 [%rd4], %r2;",
      "address_lea_64", 1, 5 },
    /* not an address register, because it is stored itself */
    { "mul.wide.s32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; st.global.u64 [%rd3], %rd3;", "mad_wide_s32", 1, 4 },
    /* several sums of one product */
    { "mul.lo.s32 %r3, %r2, %r2; add.s32 %r4, %r3, %r2; add.s32 %r5, %r3, 5; st.global.u32 [%rd1], %r5; "
      "st.global.u32 [%rd1], %r4;", "mad_lo_i32", 2, 6 },
    /* not fused if the product is used itself, a factor has changed, or a factor may have been written */
    { "mul.lo.s32 %r3, %r2, %r2; add.s32 %r4, %r3, %r2; st.global.u32 [%rd1], %r3; st.global.u32 [%rd1], %r4;", "mad_",
      0, 6 },
    { "ld.global.u32 %r5, [%rd1]; mul.lo.s32 %r3, %r5, %r5; add.s32 %r5, %r5, 9; add.s32 %r4, %r3, %r5; "
      "st.global.u32 [%rd1], %r4;", "mad_", 0, 7 },
    { "mul.lo.s32 %r3, %r2, %r2; add.s32 %r4, %r3, %r3; st.global.u32 [%rd1], %r4;", "mad_", 0, 5 },
    { "mul.lo.s32 %r3, %r2, %r2; add.cc.u32 %r4, %r3, %r2; st.global.u32 [%rd1], %r4;", "mad_", 0, 5 },
    { "setp.eq.s32 %p1, %r2, 3; mov.u32 %r3, 4; @%p1 mul.lo.s32 %r3, %r2, %r2; add.s32 %r4, %r3, %r2; "
      "st.global.u32 [%rd1], %r4;", "mad_", 0, 8 },
    /* a guarded sum stays one operation */
    { "setp.eq.s32 %p1, %r2, 3; mul.lo.s32 %r3, %r2, %r2; mov.u32 %r4, 1; @%p1 add.s32 %r4, %r3, %r2; "
      "st.global.u32 [%rd1], %r4;", "mad_lo_i32", 1, 7 },
    /* comparisons and branches */
    { "setp.gt.s32 %p1, %r2, 3; @%p1 bra E; st.global.u32 [%rd1], %r2; E:", "bra_lt_s32", 1, 4 },
    { "setp.gt.s32 %p1, %r2, 3; @!%p1 bra E; st.global.u32 [%rd1], %r2; E:", "bra_ge_s32", 1, 4 },
    { "setp.hi.u32 %p1, %r2, 3; @!%p1 bra E; st.global.u32 [%rd1], %r2; E:", "bra_ge_u32", 1, 4 },
    { "setp.gt.s32 %p1, %r2, 3; @%p1 bra E; st.global.u32 [%rd1], %r2; E: @%p1 st.global.u32 [%rd1], %r2;", "bra_if", 1,
      7 },
    /* a thread-dependent address that does not change in a loop */
    { "mov.u32 %r3, %tid.x; L: ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+8]; add.s32 %r2, %r2, %r4; "
      "add.s32 %r2, %r2, %r5;\n"
      "setp.lt.s32 %p1, %r2, 9; @%p1 bra L; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4;",
      "ld_shared_32_shaped", 3, 9 },
    /* copies are no operations */
    { "add.s32 %r3, %r2, 0; or.b32 %r4, 0, %r3; shl.b32 %r3, %r4, 0; mul.lo.s32 %r4, %r3, 1; "
      "st.global.u32 [%rd1], %r4;", "st_global", 1, 3 },
};

START_TEST(pairs_are_fused)
{
    struct module m;
    char text[1000];
    struct ptxi_code *c;

    snprintf(text, sizeof text, KERNEL(".param .u64 p", ".reg .b32 %%r<9>; .reg .pred %%p<3>; .reg .b64 %%rd<9>;\n"
            "ld.param.u64 %%rd1, [p]; mov.u32 %%r2, %%ctaid.x;\n%s"),
                                                        pairs[_i].body);
    c = code_of(&m, text, "k", NULL);
    ck_assert_msg(count_ops(c, pairs[_i].has) == pairs[_i].count && c->count == pairs[_i].ops, "%s: %u operations",
                  pairs[_i].body, c->count);
    unload(&m);
}
END_TEST

/* --- contraction --- */

/* Results of ptxas of CUDA 13.0 for sm_90: FFMA, DFMA or HFMA2, and the FMUL, DMUL, HMUL2, FADD, DADD or HADD2 that
 * are left. */
static const struct { const char *body; unsigned fma, mul, add; } contractions[] = {
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f3,%f9;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; sub.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; sub.f32 %f10,%f3,%f9;", 1, 0, 0 },
    { "abs.f32 %f9,%f1; mov.f32 %f11,%f9; mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; @%p1 bra J; abs.f32 %f9,%f1; J: mov.f32 %f11,%f9;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; @%p1 bra J; mov.f32 %f12,%f1; J: abs.f32 %f9,%f1; mov.f32 %f11,%f9;",
      1, 0, 0 },
    { "abs.f32 %f9,%f1; J: mov.f32 %f11,%f9; mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; @%p1 bra J;", 0, 1, 1 },
    { "mul.rn.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; add.rn.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; add.f32 %f11,%f9,%f4;", 2, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; mov.f32 %f11,%f9;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f10,%f9,%f8;", 1, 1, 0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f9;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; add.sat.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.sat.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; mov.f32 %f10,%f4; @%p1 bra L; add.f32 %f10,%f9,%f3; L:", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; mov.f32 %f10,%f4; @%p1 add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mov.f32 %f9,%f4; @%p1 mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; mov.f32 %f1,%f4; add.f32 %f10,%f9,%f3; mov.f32 %f11,%f1;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f7,%f9,%f8; mul.f32 %f6,%f5,%f1; add.f32 %f10,%f7,%f6;", 2, 1,
      0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; fma.rn.f32 %f11,%f9,%f4,%f5;", 1, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; bra L; L: add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; bar.sync 0; add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; membar.gl; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; @%p1 exit; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; @%p1 st.global.f32 [%rd1+400],%f1; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; div.rn.f32 %f11,%f4,%f3; add.f32 %f10,%f9,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; div.full.f32 %f11,%f4,%f3; add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; mov.f32 %f8,%f9; add.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3; add.rn.f32 %f8,%f9,%f4;", 1, 0, 0 }, /* the other use is dead */
    /* two products with two uses each, in the order of the text */
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f10,%f9,%f8; add.f32 %f11,%f9,%f5; add.f32 %f12,%f8,%f5;", 2,
      1, 1 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f11,%f9,%f5; add.f32 %f12,%f8,%f5; add.f32 %f10,%f9,%f8;", 3,
      1, 0 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f11,%f9,%f5; add.f32 %f10,%f9,%f8;", 1, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f10,%f9,%f8; sub.f32 %f11,%f9,%f8;", 2, 1, 0 },
    /* f64 */
    { "mul.f64 %d9,%d1,%d2; add.f64 %d10,%d9,%d3;", 1, 0, 0 },
    { "mul.f64 %d9,%d1,%d2; sub.f64 %d10,%d3,%d9;", 1, 0, 0 },
    { "mul.f64 %d9,%d1,%d2; mul.f64 %d8,%d3,%d4; add.f64 %d10,%d9,%d8;", 1, 1, 0 },
    { "mul.rn.f64 %d9,%d1,%d2; add.f64 %d10,%d9,%d3;", 0, 1, 1 },
    /* a product that is negated and added to another one, and used elsewhere */
    { "mul.f32 %f9,%f1,%f1; mul.f32 %f8,%f1,%f2; sub.f32 %f10,%f8,%f9; sub.f32 %f11,%f8,%f3; add.f32 %f12,%f9,%f4;", 2,
      1, 1 },
    /* through neg */
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; sub.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.f32 %f10,%f8,%f3; add.f32 %f11,%f9,%f4;", 2, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.f32 %f10,%f8,%f3; mov.f32 %f11,%f8;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; abs.f32 %f8,%f9; add.f32 %f10,%f8,%f3;", 0, 1, 1 },
    { "mul.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f64 %d9,%d1,%d2; neg.f64 %d8,%d9; add.f64 %d10,%d8,%d3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.f32 %f10,%f9,%f8;", 0, 1, 1 },
    { "mul.bf16 %h9,%h1,%h2; neg.bf16 %h8,%h9; sub.bf16 %h10,%h8,%h9;", 0, 1, 1 },
    { "mul.bf16x2 %x9,%x1,%x2; neg.bf16x2 %x8,%x9; add.bf16x2 %x10,%x8,%x3;", 0, 1, 1 },
    { "mul.ftz.f16 %h9,%h1,%h2; neg.ftz.f16 %h8,%h9; add.ftz.f16 %h10,%h8,%h3;", 0, 1, 1 },
    /* sums of a neg are sums of the product */
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; neg.f32 %f7,%f9; add.f32 %f10,%f7,%f8; sub.f32 %f11,%f5,%f9;", 1, 1,
      1 },
    { "mul.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; neg.f32 %f7,%f9; add.f32 %f10,%f8,%f3; add.f32 %f11,%f7,%f4;", 2, 0, 0 },
    { "mul.bf16 %h9,%h1,%h2; mul.bf16 %h8,%h3,%h4; neg.bf16 %h7,%h9; add.bf16 %h10,%h7,%h8; add.bf16 %h11,%h5,%h7;", 1,
      1, 1 },
    /* neg.ftz is a sum: ptxas makes its own product an FFMA */
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3; mov.f32 %f11,%f8;", 1, 1, 0 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; sub.ftz.f32 %f10,%f3,%f8;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; sub.ftz.f32 %f10,%f3,%f8; add.ftz.f32 %f11,%f8,%f4;", 1, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; mul.ftz.f32 %f8,%f3,%f4; neg.ftz.f32 %f7,%f9; add.ftz.f32 %f10,%f7,%f8; "
      "add.ftz.f32 %f11,%f7,%f5;", 2, 1, 0 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; add.ftz.f32 %f10,%f9,%f3; add.ftz.f32 %f11,%f8,%f4;", 2, 0, 0 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; add.ftz.f32 %f10,%f9,%f3; mov.f32 %f11,%f8;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.ftz.f32 %f8,%f9; sub.ftz.f32 %f10,%f3,%f9; mov.f32 %f11,%f8;", 0, 1, 1 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; sub.ftz.f32 %f10,%f3,%f8;", 1, 0, 0 },
    { "mul.ftz.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3; mov.f32 %f11,%f8;", 0, 1, 1 },
    /* with a constant, and with the correction of a quotient */
    { "div.full.f32 %f9,%f1,0f40400000; add.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "rcp.approx.ftz.f32 %f9,%f1; div.approx.ftz.f32 %f8,%f2,%f9; add.ftz.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f9,0f3f800000; add.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "mul.f16 %h9,%h1,%h2; neg.f16 %h8,%h9; add.f16 %h10,%h8,%h3;", 1, 0, 0 },
    /* approximate quotients end with a product, the others scale their operands */
    { "div.approx.ftz.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3;", 1, 0, 0 },
    { "div.approx.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 1, 2, 0 },
    { "div.full.f32 %f9,%f1,%f2; sub.f32 %f10,%f3,%f9;", 1, 2, 0 },
    { "div.full.ftz.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3; add.ftz.f32 %f11,%f9,%f4;", 2, 2, 0 },
    { "div.approx.ftz.f32 %f9,%f1,%f2; neg.f32 %f8,%f9; add.ftz.f32 %f10,%f8,%f3;", 1, 0, 0 },
    { "div.approx.ftz.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3; mov.f32 %f11,%f9;", 0, 0, 1 },
    { "div.approx.f32 %f9,%f1,%f2; add.ftz.f32 %f10,%f9,%f3;", 0, 0, 1 },
    { "div.approx.f32 %f9,%f1,%f2; add.rn.f32 %f10,%f9,%f3;", 0, 0, 1 },
    { "mov.f32 %f9,%f4; @%p1 div.approx.f32 %f9,%f1,%f2; add.f32 %f10,%f9,%f3;", 0, 0, 1 },
    { "rcp.approx.f32 %f9,%f1; add.f32 %f10,%f9,%f3;", 1, 1, 0 },
    { "rcp.approx.ftz.f32 %f9,%f1; add.ftz.f32 %f10,%f9,%f3;", 0, 0, 1 },
    { "sqrt.approx.f32 %f9,%f1; add.f32 %f10,%f9,%f3;", 0, 0, 1 },
    { "mul.f32 %f8,%f3,%f4; div.approx.ftz.f32 %f9,%f8,%f2; add.ftz.f32 %f10,%f8,%f9;", 1, 1, 0 },
    /* halves */
    { "mul.f16 %h9,%h1,%h2; add.f16 %h10,%h9,%h3;", 1, 0, 0 },
    { "mul.bf16 %h9,%h1,%h2; sub.bf16 %h10,%h3,%h9;", 1, 0, 0 },
    { "mul.f16 %h9,%h1,%h2; add.bf16 %h10,%h9,%h3;", 0, 1, 1 },
    { "mul.rn.f16 %h9,%h1,%h2; add.f16 %h10,%h9,%h3;", 0, 1, 1 },
    { "mul.f16x2 %x9,%x1,%x2; add.f16x2 %x10,%x9,%x3;", 1, 0, 0 },
    { "mul.bf16x2 %x9,%x1,%x2; sub.bf16x2 %x10,%x3,%x9;", 1, 0, 0 },
    { "mul.ftz.f16x2 %x9,%x1,%x2; add.f16x2 %x10,%x9,%x3;", 0, 1, 1 },
    { "mul.ftz.f16x2 %x9,%x1,%x2; sub.ftz.sat.f16x2 %x10,%x3,%x9;", 1, 0, 0 },
    { "mul.sat.f16x2 %x9,%x1,%x2; add.f16x2 %x10,%x9,%x3;", 0, 1, 1 },
    { "mul.f16 %h9,%h1,%h2; mul.f16 %h8,%h3,%h4; add.f16 %h11,%h9,%h5; add.f16 %h10,%h9,%h8;", 1, 1, 1 },
    { "mul.f16x2 %x9,%x1,%x2; mul.f16x2 %x8,%x3,%x4; add.f16x2 %x11,%x9,%x5; add.f16x2 %x10,%x9,%x8;", 2, 1, 0 },
    /* pairs of floats, for sm_100a */
    { "mul.f32x2 %d9,%d1,%d2; add.f32x2 %d10,%d9,%d3;", 1, 0, 0 },
    { "mul.rn.f32x2 %d9,%d1,%d2; add.f32x2 %d10,%d9,%d3;", 1, 0, 0 },
    { "mul.f32x2 %d9,%d1,%d2; sub.rn.f32x2 %d10,%d3,%d9;", 1, 0, 0 },
    { "mul.f32x2 %d9,%d1,%d2; add.rz.f32x2 %d10,%d9,%d3;", 0, 1, 1 },
    { "mul.f32x2 %d9,%d1,%d2; add.ftz.f32x2 %d10,%d9,%d3;", 0, 1, 1 },
    { "mul.ftz.f32x2 %d9,%d1,%d2; sub.ftz.f32x2 %d10,%d3,%d9;", 1, 0, 0 },
    { "mul.f32x2 %d9,%d1,%d2; mul.f32x2 %d8,%d2,%d3; add.f32x2 %d10,%d9,%d8; add.f32x2 %d11,%d9,%d3; "
      "st.global.b64 [%rd1+48],%d11;", 1, 1, 1 },
};

static void contraction_text(char *text, size_t size, const char *body)
{
    snprintf(text, size, KERNEL_FOR(".version 8.6\n.target sm_100\n.address_size 64\n", ".param .u64 o",
                                    ".reg .f32 %%f<20>; .reg .b64 %%d<20>; .reg .b64 %%rd<3>; .reg .pred %%p<3>; "
                                    ".reg .b32 %%r<3>;\n"
                                                 ".reg .b16 %%h<20>; .reg .b32 %%x<20>;\n"
                                                 "ld.param.u64 %%rd1,[o]; "
                                                 "ld.global.v4.f32 {%%f1,%%f2,%%f3,%%f4},[%%rd1]; "
                                                 "ld.global.f32 %%f5,[%%rd1+16];\n"
                                                 "ld.global.v2.f64 {%%d1,%%d2},[%%rd1+32]; "
                                                 "ld.global.v2.f64 {%%d3,%%d4},[%%rd1+48];\n"
                                                 "ld.global.u32 %%r1,[%%rd1+64]; setp.eq.u32 %%p1,%%r1,0; "
                                                 "mov.f32 %%f11, %%f1; mov.f32 %%f12, %%f1;\n"
                                                 "ld.global.v4.b32 {%%x1,%%x2,%%x3,%%x4},[%%rd1+80]; "
                                                 "ld.global.b32 %%x5,[%%rd1+96];\n"
                                                 "ld.global.v4.b16 {%%h1,%%h2,%%h3,%%h4},[%%rd1+104]; "
                                                 "ld.global.b16 %%h5,[%%rd1+112];\n"
                                                 "%s\n"
                                                 "st.global.v4.f32 [%%rd1], {%%f10,%%f11,%%f12,%%f1}; "
                                                 "st.global.f64 [%%rd1+32], %%d10;"
                                                 "st.global.v2.b32 [%%rd1+80], {%%x10,%%x11}; "
                                                 "st.global.v2.b16 [%%rd1+88], {%%h10,%%h11};"), body);
}

START_TEST(contraction_follows_ptxas)
{
    char text[3000];
    struct module m;
    struct ptxi_code *c;

    contraction_text(text, sizeof text, contractions[_i].body);
    c = code_of(&m, text, "k", NULL);
    ck_assert_msg(count_ops(c, "fma_") == contractions[_i].fma, "%s: %u fma", contractions[_i].body,
                  count_ops(c, "fma_"));
    ck_assert_msg(count_ops(c, "mul_") == contractions[_i].mul, "%s: %u mul", contractions[_i].body,
                  count_ops(c, "mul_"));
    ck_assert_msg(count_ops(c, "add_") + count_ops(c, "sub_") == contractions[_i].add, "%s: %u add",
                  contractions[_i].body, count_ops(c, "add_"));
    unload(&m);
}
END_TEST

START_TEST(contraction_can_be_switched_off)
{
    struct ptxi_compile_options o = { NULL, global_address, function_address, .sm = 90, .contract = false,
                                      .verify = true };
    char text[3000];
    struct module m;

    contraction_text(text, sizeof text, contractions[0].body);
    ck_assert_uint_eq(count_ops(code_of(&m, text, "k", &o), "fma_"), 0);
    unload(&m);
}
END_TEST

/* Of two products, the one that is the first operand is fused and the other one is added. c - a*b negates a factor,
 * a*b - c the addend. */
START_TEST(contraction_keeps_operand_order)
{
    struct module m;
    char text[3000];
    struct ptxi_code *c;
    const struct ptxi_insn *fma, *load, *mul;

    contraction_text(text, sizeof text, "mul.f32 %f9,%f1,%f2; mul.f32 %f8,%f3,%f4; add.f32 %f10,%f8,%f9;");
    c = code_of(&m, text, "k", NULL);
    fma = find_op(c, PTXI_OP_fma_f32);
    mul = find_op(c, PTXI_OP_mul_f32);
    load = find_op(c, PTXI_OP_ld_global_v4_32);
    ck_assert(fma && mul && load);
    ck_assert_uint_eq(mul->a, load->d);
    ck_assert_uint_eq(mul->b, load->b);
    ck_assert_uint_eq(fma->a, load->c);
    ck_assert_uint_eq(fma->b, load->mods);
    ck_assert_uint_eq(fma->c, mul->d);
    unload(&m);
    contraction_text(text, sizeof text, "mul.f32 %f9,%f1,%f2; sub.f32 %f10,%f3,%f9;");
    c = code_of(&m, text, "k", NULL);
    fma = find_op(c, PTXI_OP_fma_f32);
    mul = find_op(c, PTXI_OP_xor_b32);
    ck_assert(fma && mul);
    ck_assert_uint_eq(constant(c, mul->b), 0x80000000);
    ck_assert_uint_eq(fma->a, mul->d);
    unload(&m);
}
END_TEST

/* --- storage --- */

START_TEST(shared_variables_of_functions_are_allocated_once)
{
    static const char text[] = HEAD ".shared .align 8 .b8 a[100];\n.shared .align 4 .b8 b[40];\n.shared .align 16 .b8 "
                                    "only[64];\n"
                                    ".extern .shared .align 16 .b8 dyn[];\n"
                                    ".func f() { .reg .b32 %r<3>; ld.shared.u32 %r1, [a]; ld.shared.u32 %r2, [dyn+4]; "
                                    "ret; }\n"
                                    ".func g() { .reg .b32 %r<3>; .shared .align 4 .b8 own[8]; ld.shared.u32 %r1, [b]; "
                                    "st.shared.u32 [own], %r1; ret; }\n"
                                    ".visible .entry kf() { .reg .b32 %r<3>; call f, (); ld.shared.u32 %r1, [only]; "
                                    "ld.shared.u32 %r1, [dyn]; ret; }\n"
                                    ".visible .entry kg() { call g, (); ret; }\n"
                                    ".visible .entry kfg() { call f, (); call g, (); ret; }\n"
                                    ".visible .entry none() { ret; }\n";
    struct module m;
    struct ptxi_compile_options o;
    const struct ptxi_code *c;

    c = code_of(&m, text, "kf", NULL);
    ck_assert_uint_eq(c->shared_bytes, 112 + 64);
    ck_assert_int_eq(c->insns[1].imm, SHARED_BASE + 112);
    ck_assert_int_eq(c->insns[2].imm, SHARED_BASE + 112 + 64);
    o = default_options(&m);
    c = ptxi_compile(m.layout, find_func(&m, "f"), &o, &m.arena, &m.diags);
    ck_assert_int_eq(find_op(c, PTXI_OP_ld_shared_32)->imm, SHARED_BASE);
    ck_assert_uint_eq(count_ops(c, "shared_dynamic"), 1);
    /* one kernel reaches both functions, so their variables do not overlap */
    c = ptxi_compile(m.layout, find_func(&m, "g"), &o, &m.arena, &m.diags);
    ck_assert_int_eq(find_op(c, PTXI_OP_ld_shared_32)->imm, SHARED_BASE + 100);
    ck_assert_int_eq(find_op(c, PTXI_OP_st_shared_32)->imm, SHARED_BASE + 140);
    c = ptxi_compile(m.layout, find_func(&m, "kfg"), &o, &m.arena, &m.diags);
    ck_assert_uint_eq(c->shared_bytes, 160);
    c = ptxi_compile(m.layout, find_func(&m, "none"), &o, &m.arena, &m.diags);
    ck_assert_uint_eq(c->shared_bytes, 0);
    unload(&m);
}
END_TEST

START_TEST(constants_and_globals_are_laid_out)
{
    static const char text[] = HEAD ".const .align 1 .b8 c1[3];\n.const .align 8 .u64 c2;\n.global .u32 g1;\n.global "
                                    ".align 16 .b8 g2[40];\n"
                                    ".visible .entry k() { .reg .b64 %rd<3>; .reg .b32 %r<4>; .global .u32 mine;\n"
                                    "ld.const.u64 %rd1, [c2]; ld.global.u32 %r1, [g2+8]; mov.u64 %rd2, g1; "
                                    "st.global.u64 [%rd2], %rd1;\n"
                                    "ld.global.u32 %r2, [mine]; st.global.u32 [mine], %r1; ret; }\n";
    struct module m;
    struct ptxi_code *c = code_of(&m, text, "k", NULL);
    const struct ptxi_insn *i = find_setup_op(c, PTXI_OP_ld_const_64); /* launch-invariant */

    ck_assert_uint_eq(m.layout->const_count, 2);
    ck_assert_uint_eq(m.layout->const_bytes, 16);
    ck_assert_uint_eq(m.layout->global_count, 3);
    ck_assert_ptr_eq(m.layout->globals[2].func, find_func(&m, "k"));
    ck_assert_uint_eq(constant(c, i->a) + (uint64_t)i->imm, 8);
    i = find_op(c, PTXI_OP_ld_global_32);
    ck_assert_uint_eq(constant(c, i->a) + (uint64_t)i->imm, 0x10001008);
    unload(&m);
}
END_TEST

START_TEST(array_elements_are_scaled)
{
    static const char text[] = HEAD ".global .align 4 .b32 g[40];\n.shared .align 4 .b32 s[40];\n"
                                    ".visible .entry k() { .reg .b64 %rd<3>; .reg .b32 %r<4>; mov.u32 %r1, %ctaid.x; "
                                    "cvt.u64.u32 %rd1, %r1;\n"
                                    "ld.global.u32 %r2, g[%rd1]; st.shared.u32 s[%r1], %r2; st.shared.u32 s[5], %r2; "
                                    "ret; }\n";
    struct module m;
    struct ptxi_code *c = code_of(&m, text, "k", NULL);
    const struct ptxi_insn *mad = find_op(c, PTXI_OP_mad_lo_i64);

    ck_assert(mad != NULL);
    ck_assert_uint_eq(constant(c, mad->b), 4);
    ck_assert_uint_eq(constant(c, mad->c), 0x10000000);
    ck_assert_uint_eq(count_ops(c, "mul_lo_i32"), 1);
    for (uint32_t k = c->count; k--;)
        if (c->insns[k].op == PTXI_OP_st_shared_32) {
            ck_assert_int_eq(c->insns[k].imm, SHARED_BASE + 20);
            break;
        }
    unload(&m);
}
END_TEST

/* f(a: 64 bits, b: 12 bytes) -> 32 bits: words 0, 1 | 2, 3, 4 | 5 of the callee's frame, 2 units each. */
START_TEST(calls_pass_words)
{
    static const char text[] = HEAD ".func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 b[12])\n"
                                    "{ .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; "
                                    "ld.param.u32 %r1, [b+8]; st.param.b32 [r], %r1; ret; }\n"
                                    ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %rd<2>; "
                                    "ld.param.u64 %rd1, [p];\n"
                                    "{ .param .b64 x; .param .align 4 .b8 y[12]; .param .b32 z;\n"
                                    "st.param.b64 [x], %rd1; st.param.b32 [y], 1; st.param.b32 [y+4], 2; "
                                    "st.param.b32 [y+8], 3;\n"
                                    "call (z), f, (x, y); ld.param.b32 %r1, [z]; }\n"
                                    "st.global.u32 [%rd1], %r1; ret; }\n";
    struct module m;
    struct ptxi_code *c = code_of(&m, text, "k", NULL);
    struct ptxi_compile_options o = default_options(&m);
    const struct ptxi_insn *call = find_op(c, PTXI_OP_call), *i;
    const uint16_t *p = c->pool + call->imm;

    ck_assert_uint_eq(p[0], find_func(&m, "f")->index);
    ck_assert_uint_eq(p[2], 2);
    ck_assert_uint_eq(p[3], 1);
    ck_assert_uint_eq(p[5], 0);
    ck_assert_uint_eq(p[6], 2);
    ck_assert_uint_eq(p[8], 4);
    ck_assert_uint_eq(p[9], 3);
    ck_assert_uint_eq(p[11], 10);
    ck_assert_uint_eq(p[12], 1);
    c = ptxi_compile(m.layout, find_func(&m, "f"), &o, &m.arena, &m.diags);
    ck_assert_uint_eq(c->arg_words, 5);
    ck_assert_uint_eq(c->ret_words, 1);
    i = find_op(c, PTXI_OP_ret);
    ck_assert(i != NULL);
    /* the third word of b is word 4, the result is word 5 */
    ck_assert_uint_eq(i[-1].op, PTXI_OP_mov_32);
    ck_assert_uint_eq(i[-1].d, 10);
    unload(&m);
}
END_TEST

START_TEST(launch_invariant_values_are_computed_once)
{
    struct module m;
    struct ptxi_code *c = code_of(&m,
                                  KERNEL(".param .u64 p, .param .u32 n",
                                         ".reg .b32 %r<9>; .reg .pred %p<2>; .reg .b64 %rd<9>;\n"
                                         "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ntid.x; "
                                         "mov.u32 %r3, %tid.x; mul.lo.s32 %r4, %r1, %r3;\n"
                                         "mov.u32 %r5, %ctaid.x; mad.lo.s32 %r6, %r5, %r2, %r4; "
                                         "mul.wide.s32 %rd2, %r6, 4; add.s64 %rd3, %rd1, %rd2;\n"
                                         "st.global.u32 [%rd3], %r6;"),
                                  "k", NULL);

    ck_assert_uint_gt(c->setup_count, 4);
    ck_assert_uint_eq(c->setup[c->setup_count - 1].op, PTXI_OP_end);
    ck_assert_uint_eq(count_ops(c, "ld_param"), 0);
    ck_assert_uint_eq(count_ops(c, "mul_lo"), 0);
    ck_assert_uint_eq(count_ops(c, "sreg_32"), 1); /* %ctaid */
    ck_assert_uint_eq(count_ops(c, "mad_lo"), 1);
    /* no instruction of the body writes a slot that the setup code has filled and the body reads */
    ck_assert_uint_ne(find_op(c, PTXI_OP_mad_lo_i32)->d, find_op(c, PTXI_OP_mad_lo_i32)->c);
    unload(&m);
}
END_TEST

START_TEST(copies_are_propagated)
{
    struct module m;
    struct ptxi_code *c = code_of(&m,
                                  KERNEL(".param .u64 p", ".reg .b32 %r<9>; .reg .pred %p<2>; .reg .b64 %rd<9>; "
                                          ".reg .f32 %f<3>;\n"
                                          "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; "
                                          "ld.global.u32 %r1, [%rd2];\n"
                                          "mov.b32 %f1, %r1; mov.u32 %r2, 7; add.s32 %r3, %r1, %r2; "
                                          "mul.lo.s32 %r4, %r3, %r2;\n"
                                                          /* %r5 lives longer than the register that it copies */
                                                          "st.global.f32 [%rd2+4], %f1; mov.u32 %r5, %r1; "
                                                          "ld.global.u32 %r1, [%rd2+8];\n"
                                                          "add.s32 %r6, %r5, %r1; st.global.u32 [%rd2+12], %r6;"),
                                  "k", NULL);

    ck_assert_uint_eq(count_ops(c, "mul"), 0); /* never read */
    ck_assert_uint_eq(count_ops(c, "add"), 1);
    ck_assert_uint_eq(count_ops(c, "mov_64"), 0);
    ck_assert_uint_eq(count_ops(c, "mov_32"), 1); /* a copy of %r1 before it changes */
    unload(&m);
}
END_TEST

START_TEST(counting_marks_every_block)
{
    struct ptxi_compile_options o = { NULL, global_address, function_address, .contract = true, .verify = true,
                                      .count = true };
    struct module m;
    struct ptxi_code *c = code_of(&m,
                                  KERNEL(".param .u64 p", ".reg .b32 %r<5>; .reg .pred %p<3>; .reg .b64 %rd<3>; "
                                          ".reg .f32 %f<9>;\n"
                                          "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; "
                                          "mov.u32 %r1, %tid.x;\n"
                                          "setp.eq.s32 %p1, %r1, 0; @%p1 bra L; mul.f32 %f1, %f2, %f3; "
                                          "add.f32 %f4, %f1, %f2;\n"
                                          "st.global.f32 [%rd2], %f4; L:"),
                                  "k", &o);
    int32_t total = 0;

    ck_assert_uint_eq(c->insns[0].op, PTXI_OP_count);
    for (uint32_t k = 0; k < c->count; k++)
        if (c->insns[k].op == PTXI_OP_count)
            total += c->insns[k].imm;
    ck_assert_uint_eq(count_ops(c, "count"), 3);
    ck_assert_int_eq(total, 9);
    unload(&m);
}
END_TEST

START_TEST(unreachable_instructions_are_named)
{
    struct module m;
    struct ptxi_code *c = code_of(&m,
                                  KERNEL("", ".reg .b32 r; .reg .b64 d; .reg .pred p;\nmov.b64 {r, p}, d;\nret;\n"
                                             "st.local.v2.b32 [d], {p, r};"),
                                  "k", NULL);

    ck_assert_uint_eq(c->unsupported_count, 1); /* the second instruction is unreachable */
    ck_assert_str_eq(c->unsupported[0], "mov.b64 (a predicate as bits)");
    unload(&m);
}
END_TEST

/* ptxas treats it as 32 bits. */
START_TEST(predicates_in_vectors_are_not_executed)
{
    struct module m;
    struct ptxi_code *c = code_of(&m, KERNEL("", ".reg .b32 r; .reg .b64 d; "
                                                 ".reg .pred p, q;\nmov.b64 {r, p}, d;\n@q st.local.v4.b32 [d], {p, r, "
                                                 "r, q};\nret;"), "k", NULL);

    ck_assert_uint_eq(c->unsupported_count, 2);
    ck_assert_str_eq(c->unsupported[0], "mov.b64 (a predicate as bits)");
    ck_assert_str_eq(c->unsupported[1], "st.local.v4.b32 (a predicate as bits)");
    unload(&m);
}
END_TEST

START_TEST(listing_shows_branches_and_constants)
{
    struct module m;
    struct ptxi_code *c = code_of(&m, KERNEL(".param .u64 p", ".reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
            "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+8]; add.s32 %r2, %r1, 1000;\n"
            "st.global.u32 [%rd1], %r2;"), "k", NULL);
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_dump(c, &s);
    ck_assert(strstr(ptxi_str_text(&s), "ld_global_32"));
    ck_assert(strstr(ptxi_str_text(&s), "0x3e8"));
    ck_assert(strstr(ptxi_str_text(&s), "+8]"));
    ck_assert(strstr(ptxi_str_text(&s), "line 7"));
    ptxi_str_free(&s);
    unload(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compile");
    TCase *t = tcase_create("compile");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, pairs_are_fused, 0, sizeof pairs / sizeof *pairs);
    tcase_add_loop_test(t, contraction_follows_ptxas, 0, sizeof contractions / sizeof *contractions);
    tcase_add_test(t, contraction_can_be_switched_off);
    tcase_add_test(t, contraction_keeps_operand_order);
    tcase_add_test(t, shared_variables_of_functions_are_allocated_once);
    tcase_add_test(t, constants_and_globals_are_laid_out);
    tcase_add_test(t, array_elements_are_scaled);
    tcase_add_test(t, calls_pass_words);
    tcase_add_test(t, launch_invariant_values_are_computed_once);
    tcase_add_test(t, copies_are_propagated);
    tcase_add_test(t, counting_marks_every_block);
    tcase_add_test(t, unreachable_instructions_are_named);
    tcase_add_test(t, predicates_in_vectors_are_not_executed);
    tcase_add_test(t, listing_shows_branches_and_constants);
    suite_add_tcase(s, t);
    return run_suite(s);
}
