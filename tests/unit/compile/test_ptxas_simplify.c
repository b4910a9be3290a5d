/* Tests the simplifications of ptxas (compile/optimize/ptxas_simplify.c). NaNs and last bits of results show what
 * ptxas removes or computes. */
#include "unit/support/one_cta.h"

#include <fenv.h>

/* A value that the compiler does not know. */
#define X32(d, bits) "ld.global.u32 %r10, [%rd2]; sub.u32 %r10, %r10, 1000; xor.b32 " d ", %r10, " bits ";"
#define X64(d, bits) X32("%r11", "0") "cvt.u64.u32 " d ", %r11; xor.b64 " d ", " d ", " bits ";"
#define X16(d, bits) X32("%r11", "0") "cvt.u16.u32 " d ", %r11; xor.b16 " d ", " d ", " bits ";"
#define HIGH(d) "mov.b64 {%r8, %r9}, " d ";"
#define WHERE "setp.ne.u32 %p, %r10, 1;" /* true */

static const struct { const char *body; uint32_t result; } cases[] = {
    { X32("%r2", "0x7f812345") "mul.f32 %r9, %r2, 0f3f800000;", 0x7f812345 },
    { X32("%r2", "0x7f812345") "mul.f32 %r9, 0f3f800000, %r2;", 0x7f812345 },
    { X32("%r2", "0x7f812345") "mul.rn.f32 %r9, %r2, 0f3f800000;", 0x7fffffff },
    { X32("%r2", "0x7f812345") "mul.ftz.f32 %r9, %r2, 0f3f800000;", 0x7fffffff },
    { X32("%r2", "0x7f812345") "mul.f32 %r9, %r2, 0fbf800000;", 0x7fffffff },
    { X32("%r2", "0x7f812345") "mul.f32 %r3, %r2, 0fbf800000; neg.f32 %r9, %r3;", 0x7f812345 },
    { X64("%rd5", "0x7ff0000500000000") "mul.f64 %rd6, %rd5, 0d3ff0000000000000;" HIGH("%rd6"), 0x7ff00005 },
    { X16("%h1", "0x7c12") "mov.b16 %h2, 0x3c00; mul.f16 %h3, %h1, %h2; cvt.u32.u16 %r9, %h3;", 0x7c12 },
    { X16("%h1", "0x7c12") "cvt.rn.f16.f32 %h2, 0f3f800000; mul.f16 %h3, %h2, %h1; cvt.u32.u16 %r9, %h3;", 0x7c12 },
    { X16("%h1", "0x7f92") "cvt.rn.bf16.f32 %h2, 0f3f800000; mul.bf16 %h3, %h1, %h2; cvt.u32.u16 %r9, %h3;", 0x7f92 },
    { X16("%h1", "0x7f92") "mov.b16 %h2, 0x3f80; mul.bf16 %h3, %h1, %h2; cvt.u32.u16 %r9, %h3;", 0x7f92 },
    { X32("%r2", "0x7f812345") "neg.f32 %r3, %r2; neg.f32 %r9, %r3;", 0x7f812345 },
    { X32("%r2", "0x7f812345") "neg.f32 %r3, %r2; mov.b32 %r2, 0; neg.f32 %r9, %r3;", 0x7fffffff },
    { X32("%r2", "0x7f812345") "neg.ftz.f32 %r3, %r2; neg.f32 %r9, %r3;", 0x7fffffff },
    { X32("%r2", "0x7c127c12") "neg.f16x2 %r3, %r2; neg.f16x2 %r9, %r3;", 0x7c127c12 },
    { X32("%r2", "0x7f927f92") "neg.bf16x2 %r3, %r2; neg.bf16x2 %r9, %r3;", 0x7fff7fff },
    { X32("%r2", "0x7f812345") "min.f32 %r9, %r2, %r2;", 0x7f812345 },
    { X32("%r2", "0x7f812345") "max.ftz.f32 %r9, %r2, %r2;", 0x7fffffff },
    { X16("%h1", "0x7c12") "max.f16 %h3, %h1, %h1; cvt.u32.u16 %r9, %h3;", 0x7c12 },
    { X16("%h1", "0x7f92") "max.bf16 %h3, %h1, %h1; cvt.u32.u16 %r9, %h3;", 0x7fff },
    { X32("%r2", "0x40400001") "rcp.approx.ftz.f32 %r3, %r2; rcp.approx.ftz.f32 %r9, %r3;", 0x40400001 },
    { X32("%r2", "0x7f812345") "min.f32 %r3, %r2, 0f3f800000; max.f32 %r9, %r3, 0f00000000;", 0 },
    { X32("%r2", "0x80000000") "max.f32 %r3, %r2, 0f80000000; min.f32 %r9, %r3, 0f3f800000;", 0 },
    { X32("%r2", "0x7f812345") "min.f32 %r3, %r2, 0f3f800000; max.NaN.f32 %r9, %r3, 0f00000000;", 0x3f800000 },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r3, %r2; selp.f32 %r9, %r3, %r10, %p;", 0xff812345 },
    { X32("%r2", "0xff812345") WHERE "abs.f32 %r3, %r2; neg.f32 %r4, %r3; selp.f32 %r9, %r4, %r10, %p;", 0xff812345 },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r3, %r2; selp.b32 %r9, %r3, %r10, %p;", 0x7fffffff },
    { X32("%r2", "0x7f812345") WHERE "mov.b32 %r9, %r10; @%p neg.f32 %r9, %r2;", 0xff812345 },
    { X32("%r2", "0xff812345") WHERE "mov.b32 %r9, %r10; @%p abs.f32 %r9, %r2;", 0x7f812345 },
    { X32("%r2", "0x7f812345") WHERE "mov.b32 %r9, %r10; @%p neg.ftz.f32 %r9, %r2;", 0x7fffffff },
    { X32("%r2", "0x7f812345") "mul.f32 %r3, %r2, 0fbf800000; mul.f32 %r9, %r3, 0fbf800000;", 0x7f812345 },
    { X32("%r2", "0xff812345") "neg.f32 %r3, %r2; cvt.f64.f32 %rd5, %r3;" HIGH("%rd5"), 0xfff82468 },
    { X32("%r2", "0x40000000") "neg.f32 %r3, %r2; cvt.f64.f32 %rd5, %r3;" HIGH("%rd5"), 0xc0000000 },
    { X32("%r2", "0xff812345") "abs.f32 %r3, %r2; cvt.f64.f32 %rd5, %r3;" HIGH("%rd5"), 0xfff82468 },
    { X32("%r2", "0xff812345") "abs.ftz.f32 %r3, %r2; cvt.f64.f32 %rd5, %r3;" HIGH("%rd5"), 0x7fffffff },
    { X16("%h1", "0xfc01") "neg.f16 %h2, %h1; cvt.f64.f16 %rd5, %h2;" HIGH("%rd5"), 0xfff80400 },
    { X16("%h1", "0x4000") "abs.f16 %h2, %h1; neg.f16 %h2, %h2; cvt.f64.f16 %rd5, %h2;" HIGH("%rd5"), 0xc0000000 },
    { X16("%h1", "0xff81") "neg.bf16 %h2, %h1; cvt.rz.f64.bf16 %rd5, %h2;" HIGH("%rd5"), 0xfff82000 },
    { X16("%h1", "0x3e00") "abs.ftz.f16 %h2, %h1; cvt.rzi.s32.f16 %r9, %h2;", 2 },
    { X16("%h1", "0x3e00") "neg.ftz.f16 %h2, %h1; cvt.rmi.s32.f16 %r9, %h2;", 0xfffffffe },
    { X16("%h1", "0x3e00") "abs.f16 %h2, %h1; cvt.rzi.s32.f16 %r9, %h2;", 1 },
    { X16("%h1", "0x3e00") "cvt.f16.f16 %h2, %h1; cvt.rzi.s32.f16 %r9, %h2;", 2 },
    { X16("%h1", "0x3e00") "cvt.f16.f16 %h2, %h1; cvt.rmi.s32.f16 %r9, %h2;", 1 },
    { X16("%h1", "0x3c01") "cvt.rpi.f16.f16 %h2, %h1; cvt.rzi.s32.f16 %r9, %h2;", 2 },
    { X16("%h1", "0x3c01") "cvt.sat.f16.f16 %h2, %h1; cvt.rzi.s32.f16 %r9, %h2;", 1 },
    { X16("%h1", "0x4300") "cvt.rp.f16.bf16 %h2, %h1; cvt.rzi.sat.u64.f16 %rd5, %h2; cvt.u32.u64 %r9, %rd5;", 4 },
    { X16("%h1", "0x3fc0") "cvt.rn.bf16.f16 %h2, %h1; cvt.rzi.s32.bf16 %r9, %h2;", 2 },
    { X32("%r2", "0x7fc00000") "cvt.rzi.s64.f32 %rd5, %r2; cvt.sat.s32.s64 %r9, %rd5;", 0 },
    { X32("%r2", "0x7fc00000") "cvt.rzi.s64.f32 %rd5, %r2; cvt.sat.u32.s64 %r9, %rd5;", 0 },
    { X32("%r2", "0x7fc00000") "cvt.rzi.u64.f32 %rd5, %r2; cvt.sat.u32.u64 %r9, %rd5;", 0 },
    { X32("%r2", "0x7fc00000") "cvt.rzi.u64.f32 %rd5, %r2; cvt.sat.s32.u64 %r9, %rd5;", 0x7fffffff },
    { X32("%r2", "0xc0100000") "cvt.rmi.u32.f32 %r3, %r2; cvt.sat.s16.u32 %h1, %r3; cvt.s32.s16 %r9, %h1;",
      0xfffffffd },
    { X32("%r2", "0xc0100000") "cvt.rmi.u32.f32 %r3, %r2; cvt.sat.s8.u32 %h1, %r3; cvt.s32.s16 %r9, %h1;", 0 },
    { X32("%r2", "1") "cvt.rpi.ftz.u32.f32 %r3, %r2; cvt.sat.s16.u32 %h1, %r3; cvt.s32.s16 %r9, %h1;", 1 },
    { X32("%r2", "1") "cvt.rpi.ftz.s64.f32 %rd5, %r2; cvt.sat.s32.s64 %r9, %rd5;", 0 },
    { X16("%h1", "0x7fc0") "cvt.rni.u64.bf16 %rd5, %h1; cvt.sat.u32.u64 %r9, %rd5;", 0 },
    { X64("%rd5", "0x7ff8000000000000") "cvt.rni.u64.f64 %rd6, %rd5; cvt.sat.u32.u64 %r9, %rd6;", 0xffffffff },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r9, %r2; @!%p add.f32 %r9, %r2, %r10;", 0xff812345 },
    { X32("%r2", "0xff812345") WHERE "abs.f32 %r9, %r2; @!%p mov.f32 %r9, %r10;", 0x7f812345 },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r9, %r2; @!%p ex2.approx.ftz.f32 %r9, %r10;", 0xff812345 },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r9, %r2; @!%p ex2.approx.f32 %r9, %r10;", 0x7fffffff },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r9, %r2; @!%p mov.b32 %r9, %r10;", 0x7fffffff },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r9, %r2; @!%p add.u32 %r9, %r2, %r10;", 0x7fffffff },
    { X32("%r2", "0x7f812345") WHERE "neg.ftz.f32 %r9, %r2; @!%p add.f32 %r9, %r2, %r10;", 0x7fffffff },
    { X32("%r2", "0x7f812345") WHERE "neg.f32 %r3, %r2; mov.b32 %r9, %r3; @%p add.f32 %r3, %r10, %r10;", 0x7fffffff },
    { "mov.b16 %h1, 0xff81; cvt.f32.bf16 %r9, %h1;", 0x7fffffff },
    { "mov.b16 %h1, 0x7e00; cvt.f64.f16 %rd5, %h1;" HIGH("%rd5"), 0x7fffffff },
    { "cvt.rn.f16.f64 %h1, 0dfff8000000000000; cvt.u32.u16 %r9, %h1;", 0x7fff },
    { X16("%h1", "0xff81") "cvt.f32.bf16 %r9, %h1;", 0xff810000 },
    { X32("%r2", "0x100") "bfe.s32 %r9, %r2, 64, 30;", 0xffffffff },
    { X32("%r2", "0x100") "bfe.s32 %r9, %r2, 64, 0;", 0 },
    { "bfe.s32 %r9, 0x100, 64, 30;", 0 },
    { "bfi.b32 %r9, 1, 0, 1, 64;", 2 },
    { X32("%r2", "0x80000001") X32("%r3", "40") "shf.l.clamp.b32 %r9, %r2, %r2, %r3;", 0x80000001 },
    { X32("%r2", "0x80000001") X32("%r3", "40") "shf.r.clamp.b32 %r9, %r2, %r2, %r3;", 0x80000001 },
    { X32("%r2", "0x80000001") X32("%r3", "31") "shf.r.clamp.b32 %r9, %r2, %r2, %r3;", 3 },
    { X32("%r2", "0x80000001") X32("%r3", "33") "shf.l.wrap.b32 %r9, %r2, %r2, %r3;", 3 },
    { "mov.b16 %h1, 0x7f81; cvt.rz.f64.bf16 %rd5, %h1;" HIGH("%rd5"), 0x7ff82000 },
    { "cvt.rz.f16.f64 %h1, 0d7ff8000000000000; cvt.u32.u16 %r9, %h1;", 0x7e00 },
    { X16("%h1", "0x7fc0") "abs.bf16 %h2, %h1; cvt.f64.bf16 %rd5, %h2;" HIGH("%rd5"), 0x7fffe000 },
    { X32("%r2", "0xfffffffe") "bfi.b32 %r9, 2, %r2, 31, 32;", 0xfffffffe },
    { X32("%r2", "0xffffffff") "bfi.b32 %r9, 0, %r2, 3, 33;", 0xfffffff7 },
    { X32("%r2", "0xfffffffe") "bfi.b32 %r9, 2, %r2, 0, 48;", 2 },
    { X32("%r2", "0xfffffffe") "bfi.b32 %r9, 2, %r2, 16, 33;", 0x2fffe },
    { X32("%r2", "0xfffffffe") "bfi.b32 %r9, 2, %r2, 17, 33;", 0xfffdfffe },
    { X32("%r2", "0xfffffffe") "bfi.b32 %r9, %r2, 0x12345, 17, 33;", 0xfffd2345 },
    { X16("%h1", "3") "shl.b16 %h2, %h1, 0x10001; cvt.u32.u16 %r9, %h2;", 6 },
    { X16("%h1", "3") "mov.b32 %r2, 0x10001; shl.b16 %h2, %h1, %r2; cvt.u32.u16 %r9, %h2;", 0 },
    { X16("%h1", "0x8000") "shr.s16 %h2, %h1, 65537; cvt.u32.u16 %r9, %h2;", 0xc000 },
    { X64("%rd5", "0") "add.f64 %rd6, %rd5, 0f3f800000; mov.b64 {%r9, %r8}, %rd6;", 0x3f800000 },
    { X64("%rd5", "0x7ff8000500000000") "min.f64 %rd6, %rd5, 0d3ff0000000000000; "
                                        "max.f64 %rd7, %rd6, 0d0000000000000000;" HIGH("%rd7"), 0 },
    { X64("%rd5", "0x4008000000000000") "min.f64 %rd6, %rd5, 0d3ff0000000000000; "
                                        "max.f64 %rd7, %rd6, 0d0000000000000000;" HIGH("%rd7"), 0x3ff00000 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000")
      "fma.rn.f64 %rd7, %rd5, 0d0000000000000000, %rd6;" HIGH("%rd7"), 0x7ff80005 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000")
      "fma.rn.f64 %rd7, %rd5, 0d4000000000000000, %rd6;" HIGH("%rd7"), 0x7ff80006 },
    { X64("%rd5", "0x4008000000000000") "sub.f64 %rd6, %rd5, 0d7ff8000500000000;" HIGH("%rd6"), 0xfff80005 },
    { X64("%rd5", "0x4008000000000000") "sub.f64 %rd6, 0d7ff8000500000000, %rd5;" HIGH("%rd6"), 0x7ff80005 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000") WHERE "selp.f64 %rd7, %rd5, %rd6, %p; "
      "add.f64 %rd6, %rd6, %rd6; mul.f64 %rd7, %rd7, %rd6;" HIGH("%rd7"), 0x7ff80005 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000") WHERE "selp.f64 %rd7, %rd5, %rd6, %p; "
      "add.f64 %rd6, %rd6, %rd6; mul.f64 %rd8, %rd7, %rd6;"
      "shr.u64 %rd7, %rd7, 63; or.b64 %rd8, %rd8, %rd7;" HIGH("%rd8"), 0x7ff80005 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000") WHERE "selp.f64 %rd7, %rd5, %rd6, %p; "
      "add.f64 %rd6, %rd6, %rd6; mul.f64 %rd8, %rd7, %rd6;"
      "cvt.rzi.s64.f64 %rd7, %rd7; and.b64 %rd7, %rd7, 1; or.b64 %rd8, %rd8, %rd7;" HIGH("%rd8"), 0x7ff80006 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000") WHERE "add.f64 %rd7, %rd5, %rd5; "
      "add.f64 %rd6, %rd6, %rd6; mul.f64 %rd7, %rd7, %rd6;" HIGH("%rd7"), 0x7ff80006 },
    { X64("%rd5", "0x7ff8000500000000") X64("%rd6", "0x7ff8000600000000") WHERE
      "add.f64 %rd7, %rd5, %rd5; @%p bra Z; add.f64 %rd7, %rd6, %rd6; Z: add.f64 %rd8, %rd6, %rd6; "
      "mul.f64 %rd7, %rd7, %rd8;" HIGH("%rd7"), 0x7ff80005 },
    { "mov.b32 %r2, 0x7f812345; neg.f32 %r9, %r2;", 0xffc12345 },
    { "mov.b32 %r2, 0xff812345; abs.ftz.f32 %r9, %r2;", 0x7fc12345 },
    { "mov.b32 %r2, 0x7c127c13; neg.f16x2 %r9, %r2;", 0xfc12fc13 },
    { "mov.b32 %r2, 0x7c127c13; neg.ftz.f16x2 %r9, %r2;", 0x7fff7fff },
    { "neg.f64 %rd6, 0dfffda3c96e1d2b47;" HIGH("%rd6"), 0x7ffda3c9 },
    { "add.f32 %r2, 0fc2cff0a3, 0fbf800000; cos.approx.f32 %r9, %r2;", 0xbe8a394f },
    { "rsqrt.approx.f32 %r2, 0f15c5087f; lg2.approx.f32 %r9, %r2;", 0x4226c163 },
    { "mov.b32 %r2, 0x3f5c91a4; lg2.approx.ftz.f32 %r9, %r2;", 0xbe5c1283 },
    { X32("%r2", "0x3f5c91a4") "lg2.approx.ftz.f32 %r9, %r2;", 0xbe5c127b },
    { "mov.b32 %r2, 0x20000000; rsqrt.approx.f32 %r9, %r2;", 0x4f3504f3 },
    { "mov.b32 %r2, 0x363fffff; ex2.approx.ftz.f32 %r9, %r2;", 0x3f800011 },
    { "mov.b32 %r2, 0x3f000002; sqrt.approx.f32 %r9, %r2;", 0x3f3504f5 },
    { "mov.b32 %r2, 0x7e3fffff; sin.approx.ftz.f32 %r9, %r2;", 0xbf79c065 },
    { "mov.b32 %r2, 0xc3ffffff; cos.approx.ftz.f32 %r9, %r2;", 0xbf7f3050 },
    { "mov.b32 %r2, 0xc0400000; rcp.approx.ftz.f32 %r9, %r2;", 0xbeaaaaab },
    { X32("%r2", "0x7f812345") "div.full.f32 %r9, %r2, 0f3f800000;", 0x7f812345 },
    { X32("%r2", "0x3f800000") "div.approx.ftz.f32 %r9, %r2, 0f7f000000;", 0 },
    { X32("%r2", "0x3f800000") "div.full.ftz.f32 %r9, %r2, 0f7e800000;", 0x00800000 },
    { X32("%r2", "0x00800000") "div.approx.f32 %r9, %r2, 0f00400000;", 0x40000000 },
    /* products and powers of two, rounded once */
    { X32("%r2", "0x00c00003") X32("%r3", "0x3f800001") "mul.f32 %r4, %r2, %r3; mul.f32 %r9, %r4, 0f3f000000;",
      0x00600002 },
    { X32("%r2", "0x7f000000") X32("%r3", "0x40800000") "mul.f32 %r4, %r2, %r3; mul.f32 %r9, 0f3e000000, %r4;",
      0x7e800000 },
    { X32("%r2", "0x7f000000") X32("%r3", "0x40800000") "mul.f32 %r4, %r2, %r3; mul.f32 %r9, %r4, 0fbe000000;",
      0xff800000 },
    { X32("%r2", "0x7f000000") X32("%r3", "0x40800000") "mul.rn.f32 %r4, %r2, %r3; mul.f32 %r9, %r4, 0f3e000000;",
      0x7f800000 },
    { X32("%r2", "0x7f000000") X32("%r3", "0x40800000") "mul.f32 %r4, %r2, %r3; mul.f32 %r9, %r4, 0f3d800000;",
      0x7f800000 },
    { X32("%r2", "0x00800000") X32("%r3", "0x3f000000") "mul.ftz.f32 %r4, %r2, %r3; mul.ftz.f32 %r9, %r4, 0f40000000;",
      0x00800000 },
    { X32("%r2", "0x00800000") X32("%r3", "0x3f000000") "mul.rn.ftz.f32 %r4, %r2, %r3; "
            "mul.ftz.f32 %r9, %r4, 0f40000000;", 0 },
    { X32("%r2", "0x7f000000") X32("%r3", "0x00800000") "mul.f32 %r4, %r2, %r3; mul.sat.f32 %r9, %r4, 0f3e000000;",
      0x3e800000 },
    { X32("%r2", "0x7f812345") X32("%r3", "0x00800000") "mul.f32 %r4, %r2, %r3; mul.sat.f32 %r9, %r4, 0f3e000000;", 0 },
    { X32("%r2", "0x007fffff") "mul.ftz.f32 %r4, %r2, 0f3f800000; mul.f32 %r9, %r4, 0f3f000000;", 0 },
    { X32("%r2", "5") "slct.s32.s32 %r9, %r2, 7, 0x7f800001;", 7 },
    { X32("%r2", "5") "slct.u32.s32 %r9, %r2, 7, 0x7f800001;", 5 },
};

START_TEST(simplification_follows_ptxas)
{
    uint32_t out[1];

    ok(run_one_cta("sm_90", cases[_i].body, 1, out));
    ck_assert_msg(out[0] == cases[_i].result, "%s: %08x, not %08x", cases[_i].body, out[0], cases[_i].result);
}
END_TEST

/* Constant folding does not depend on the rounding mode of the caller. */
START_TEST(folding_ignores_the_rounding_mode)
{
    /* less than half a unit in the last place, and more */
    static const struct { int mode; const char *body; uint32_t result; } sums[] = {
        { FE_UPWARD, "add.f32 %r9, 0f3f800000, 0f30000000;", 0x3f800000 },
        { FE_DOWNWARD, "add.f32 %r9, 0f3f800000, 0f33800001;", 0x3f800001 },
        { FE_TOWARDZERO, "add.f32 %r9, 0f3f800000, 0f33800001;", 0x3f800001 },
    };
    uint32_t out[1];
    bool mode_unchanged;

    fesetround(sums[_i].mode);
    ok(run_one_cta("sm_90", sums[_i].body, 1, out));
    mode_unchanged = fegetround() == sums[_i].mode;
    fesetround(FE_TONEAREST);
    ck_assert_uint_eq(out[0], sums[_i].result);
    ck_assert(mode_unchanged);
}
END_TEST

/* With debug information or without optimization, x * 1 is a product and x * y + z is two operations. */
START_TEST(unoptimized_modules_stay_as_written)
{
    static const char text[] = ".entry k(.param .u64 p, .param .f32 x, .param .f32 y)\n{ .reg .f32 %f<6>; "
                               ".reg .b64 %a; ld.param.u64 %a, [p]; ld.param.f32 %f1, [x];\n"
                               "ld.param.f32 %f2, [y]; mul.f32 %f3, %f1, 0f3f800000; st.global.f32 [%a], %f3; "
                               "mul.f32 %f4, %f2, %f2; sub.f32 %f5, %f4, 0f3f800004;\n"
                               "st.global.f32 [%a+4], %f5; }\n";
    static const struct { const char *target; ptxiJitOption option; intptr_t value; bool unoptimized; } options[] = {
        { "sm_90, debug", PTXI_JIT_LOG_VERBOSE, 0, true }, { "sm_90", PTXI_JIT_OPTIMIZATION_LEVEL, 0, true },
        { "sm_90", PTXI_JIT_GENERATE_DEBUG_INFO, 1, true }, { "sm_90", PTXI_JIT_OPTIMIZATION_LEVEL, 1, false },
        { "sm_90", PTXI_JIT_GENERATE_DEBUG_INFO, 0, false },
    };
    uint32_t x = 0x7f812345, y = 0x3f800002, out[2];
    ptxiJitOption option = options[_i].option;
    void *value = (void *)options[_i].value;
    ptxiDevicePtr p;
    void *params[] = { &p, &x, &y };
    char source[2048];
    ptxiModule m;
    ptxiFunction f;

    snprintf(source, sizeof source, ".version 9.0\n.target %s\n.address_size 64\n%s.section .debug_info { .b8 0 }\n",
             options[_i].target, text);
    ok(ptxiModuleLoadDataEx(&m, source, 1, &option, &value));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, sizeof out));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], options[_i].unoptimized ? 0x7fffffff : x);
    ck_assert_uint_eq(out[1], options[_i].unoptimized ? 0 : 0x29800000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("algebra");
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, simplification_follows_ptxas, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, folding_ignores_the_rounding_mode, 0, 3);
    tcase_add_loop_test(t, unoptimized_modules_stay_as_written, 0, 5);
    suite_add_tcase(s, t);
    return run_suite(s);
}
