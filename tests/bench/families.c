/* Benchmark of instruction cost by family, in ns per warp instruction, relative to a plain operation of the same width.
 *
 * One warp runs a loop of UNROLLED copies of the form. Operands come from memory, so that results cannot be computed
 * once per launch. */
#include "bench.h"
#include "isa/op.gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNROLLED = 64, SOURCES = 4, RESULTS = 8, TURNS = 2000, QUICK_TURNS = 20 };

/* Source values: integers, or floating-point values between 1 and 2. Determines the register width. */
enum values { I8, I16, I32, I64, F16, BF16, F16X2, BF16X2, F32, F64, NOTHING };

static const struct {
    int bits;
    uint64_t low, mask;
} values[] = {
    [I8] = { 8, 0, 0xff },
    [I16] = { 16, 0, 0x3ff },
    [I32] = { 32, 0, 0xffff },
    [I64] = { 64, 0, 0xffffffff },
    [F16] = { 16, 0x3c00, 0x3ff },
    [BF16] = { 16, 0x3f80, 0x7f },
    [F16X2] = { 32, 0x3c003c00, 0x03ff03ff },
    [BF16X2] = { 32, 0x3f803f80, 0x007f007f },
    [F32] = { 32, 0x3f800000, 0x7fffff },
    [F64] = { 64, UINT64_C(0x3ff) << 52, (UINT64_C(1) << 52) - 1 },
};

/* A form with destination $d and sources $a, $b, $c, the row to compare it with, and the maximum cost ratio. */
struct form {
    const char *family, *text;
    enum values d, a;
    int base;      /* index of a row below; -1: none */
    double limit;  /* 0: none */
};

/* TWO_FMA32: for two results, or two pairs of results, per lane. */
enum { ADD16, ADD32, ADD64, FMA32, FMA64, BASES, TWO_FMA32 = BASES };
static const char *const base_names[] = { "add", "add", "add", "fma.f32", "fma.f64", "2 fma.f32" };

/* Fragments. */
#define D4 "{%d0,%d1,%d2,%d3}, "
#define D2 "{%d0,%d1}, "
#define A4 "{%a0,%a1,%a2,%a3}, "
#define B2 "{%a1,%a2}, "
#define C4 "{%a3,%a2,%a1,%a0}"
#define C2 "{%a3,%a0}"

/* An operation with all rounding modes, with .ftz and .sat. */
#define AB " $d, $a, $b"
#define ABC " $d, $a, $b, $c"
#define DIRECTED(op, mods, type, values, args, base)                         \
    { #type " rounded", op ".rz" mods "." #type args, values, values, base, 3 },  \
    { #type " rounded", op ".rm" mods "." #type args, values, values, base, 3 },  \
    { #type " rounded", op ".rp" mods "." #type args, values, values, base, 3 }
#define ROUNDED(op, args)                                                                                          \
    { "f32", op ".rn.f32" args, F32, F32, ADD32, 1.3 }, { "f64", op ".rn.f64" args, F64, F64, ADD64, 1.3 },        \
        { "f32 rounded", op ".rn.ftz.f32" args, F32, F32, ADD32, 3 },                                              \
        { "f32 rounded", op ".rn.sat.f32" args, F32, F32, ADD32, 3 },                                              \
        { "f32 rounded", op ".rn.ftz.sat.f32" args, F32, F32, ADD32, 3 }, DIRECTED(op, "", f32, F32, args, ADD32), \
        DIRECTED(op, ".ftz", f32, F32, args, ADD32), DIRECTED(op, ".sat", f32, F32, args, ADD32),                  \
        DIRECTED(op, "", f64, F64, args, ADD64)

/* Conversions. */
#define CVT(name, d, a) { "conversion", "cvt." name " $d, $a", d, a, FMA32, 4 }
#define CVT_AB(name, d, a) { "conversion", "cvt." name AB, d, a, FMA32, 4 }
#define CVT_ABC(name, d, a) { "conversion", "cvt." name ABC, d, a, FMA32, 4 }
#define TO_WIDE_INTEGERS(from, values)                                                                     \
    CVT("rzi.u16." from, I16, values), CVT("rzi.s16." from, I16, values), CVT("rzi.u32." from, I32, values), \
    CVT("rzi.s32." from, I32, values), CVT("rzi.u64." from, I64, values), CVT("rzi.s64." from, I64, values)
#define FROM_WIDE_INTEGERS(to, values)                                                                     \
    CVT("rn." to ".u16", values, I16), CVT("rn." to ".s16", values, I16), CVT("rn." to ".u32", values, I32), \
    CVT("rn." to ".s32", values, I32), CVT("rn." to ".u64", values, I64), CVT("rn." to ".s64", values, I64)
#define TO_INTEGERS(from, values) \
    CVT("rzi.u8." from, I16, values), CVT("rzi.s8." from, I16, values), TO_WIDE_INTEGERS(from, values)
#define FROM_INTEGERS(to, values) \
    CVT("rn." to ".u8", values, I16), CVT("rn." to ".s8", values, I16), FROM_WIDE_INTEGERS(to, values)
#define TO_HALF(to, values)                                                                                  \
    CVT("rn." to ".f32", values, F32), CVT("rz." to ".f32", values, F32), CVT("rm." to ".f32", values, F32), \
        CVT("rp." to ".f32", values, F32), CVT("rn.relu." to ".f32", values, F32),                           \
        CVT("rn.satfinite." to ".f32", values, F32), CVT("rn." to ".f64", values, F64),                      \
        CVT("rp." to ".f64", values, F64)
#define TO_PAIR(to, values)                                                                             \
    CVT_AB("rn." to ".f32", values, F32), CVT_AB("rz." to ".f32", values, F32),                         \
        CVT_AB("rn.relu." to ".f32", values, F32), CVT_AB("rn.relu.satfinite." to ".f32", values, F32), \
    {                                                                                                   \
        "conversion", "cvt.rs." to ".f32 $d, $a, $b, %n", values, F32, FMA32, 4                         \
    }
#define SMALL(f, two, four)                                                                                           \
    CVT_AB("rn.satfinite." f "x2.f32", two, F32), CVT_AB("rn.satfinite.relu." f "x2.f32", two, F32),       \
    CVT("rn.satfinite." f "x2.f16x2", two, F16X2), CVT("rn.satfinite." f "x2.bf16x2", two, BF16X2),        \
    CVT("rn.f16x2." f "x2", F16X2, two), CVT("rn.relu.f16x2." f "x2", F16X2, two),                         \
    { "conversion", "cvt.rs.satfinite." f "x4.f32 $d, {$a,$b,$c,$a}, %n", four, F32, TWO_FMA32, 4 }

static const struct form typed[] = {
    [ADD16] = { "integer", "add.s16 $d, $a, $b", I16, I16, -1, 0 },
    [ADD32] = { "integer", "add.s32 $d, $a, $b", I32, I32, -1, 0 },
    [ADD64] = { "integer", "add.s64 $d, $a, $b", I64, I64, -1, 0 },
    [FMA32] = { "f32", "fma.rn.f32 $d, $a, $b, $c", F32, F32, ADD32, 1.3 },
    [FMA64] = { "f64", "fma.rn.f64 $d, $a, $b, $c", F64, F64, ADD64, 1.3 },
    { "integer", "mul.lo.s32 $d, $a, $b", I32, I32, ADD32, 0 },
    { "integer", "mad.lo.s32 $d, $a, $b, $c", I32, I32, ADD32, 0 },
    { "integer", "mul.wide.s32 $d, $a, $b", I64, I32, ADD64, 0 },
    { "integer", "mul.hi.u32 $d, $a, $b", I32, I32, ADD32, 0 },
    { "integer", "div.u32 $d, $a, $b", I32, I32, ADD32, 0 },
    { "integer", "popc.b32 $d, $a", I32, I32, ADD32, 0 },
    { "logic", "lop3.b32 $d, $a, $b, $c, 0x96", I32, I32, ADD32, 0 },
    { "logic", "shf.l.wrap.b32 $d, $a, $b, 7", I32, I32, ADD32, 0 },
    { "logic", "prmt.b32 $d, $a, $b, 0x5140", I32, I32, ADD32, 0 },
    { "logic", "bfe.u32 $d, $a, 3, 7", I32, I32, ADD32, 0 },
    { "compare", "{ .reg .pred q; setp.lt.f32 q, $a, $b; selp.f32 $d, $a, $b, q; }", F32, F32, ADD32, 0 },
    ROUNDED("add", AB),
    ROUNDED("sub", AB),
    ROUNDED("mul", AB),
    ROUNDED("fma", ABC),
    { "f32", "min.f32 $d, $a, $b", F32, F32, ADD32, 0 },
    { "f32 exact", "div.rn.f32 $d, $a, $b", F32, F32, ADD32, 0 },
    { "f32 exact", "rcp.rn.f32 $d, $a", F32, F32, ADD32, 0 },
    { "f32 exact", "sqrt.rn.f32 $d, $a", F32, F32, ADD32, 0 },
    { "f64 exact", "div.rn.f64 $d, $a, $b", F64, F64, ADD64, 0 },
    { "f64 exact", "sqrt.rn.f64 $d, $a", F64, F64, ADD64, 0 },
    { "half", "add.f16 $d, $a, $b", F16, F16, ADD16, 0 },
    { "half", "fma.rn.f16 $d, $a, $b, $c", F16, F16, ADD16, 0 },
    { "half", "add.f16x2 $d, $a, $b", F16X2, F16X2, ADD32, 0 },
    { "half", "fma.rn.f16x2 $d, $a, $b, $c", F16X2, F16X2, ADD32, 0 },
    { "half", "fma.rn.relu.f16x2 $d, $a, $b, $c", F16X2, F16X2, ADD32, 0 },
    { "half", "add.bf16x2 $d, $a, $b", BF16X2, BF16X2, ADD32, 0 },
    { "half", "fma.rn.bf16x2 $d, $a, $b, $c", BF16X2, BF16X2, ADD32, 0 },
    { "half", "max.f16x2 $d, $a, $b", F16X2, F16X2, ADD32, 0 },
    { "approximate", "rcp.approx.ftz.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "rcp.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "rsqrt.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "sqrt.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "ex2.approx.ftz.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "ex2.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "lg2.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "sin.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "cos.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "tanh.approx.f32 $d, $a", F32, F32, FMA32, 6 },
    { "approximate", "div.approx.f32 $d, $a, $b", F32, F32, FMA32, 6 },
    { "approximate", "div.approx.ftz.f32 $d, $a, $b", F32, F32, FMA32, 6 },
    { "approximate", "div.full.f32 $d, $a, $b", F32, F32, FMA32, 6 },
    { "approximate", "div.full.ftz.f32 $d, $a, $b", F32, F32, FMA32, 6 },
    { "approximate", "rcp.approx.ftz.f64 $d, $a", F64, F64, FMA64, 6 },
    { "approximate", "rsqrt.approx.ftz.f64 $d, $a", F64, F64, FMA64, 6 },
    { "approximate", "rsqrt.approx.f64 $d, $a", F64, F64, FMA64, 6 },
    { "approximate", "ex2.approx.f16 $d, $a", F16, F16, FMA32, 6 },
    { "approximate", "ex2.approx.ftz.bf16 $d, $a", BF16, BF16, FMA32, 6 },
    { "approximate", "tanh.approx.f16 $d, $a", F16, F16, FMA32, 6 },
    { "approximate", "tanh.approx.bf16 $d, $a", BF16, BF16, FMA32, 6 },
    { "approximate", "ex2.approx.f16x2 $d, $a", F16X2, F16X2, TWO_FMA32, 6 },
    { "approximate", "ex2.approx.ftz.bf16x2 $d, $a", BF16X2, BF16X2, TWO_FMA32, 6 },
    { "approximate", "tanh.approx.f16x2 $d, $a", F16X2, F16X2, TWO_FMA32, 6 },
    { "approximate", "tanh.approx.bf16x2 $d, $a", BF16X2, BF16X2, TWO_FMA32, 6 },
    TO_INTEGERS("f32", F32),
    TO_INTEGERS("f64", F64),
    TO_INTEGERS("f16", F16),
    TO_WIDE_INTEGERS("bf16", BF16),
    FROM_INTEGERS("f32", F32),
    FROM_INTEGERS("f64", F64),
    FROM_INTEGERS("f16", F16),
    FROM_WIDE_INTEGERS("bf16", BF16),
    CVT("rni.ftz.u32.f32", I32, F32),
    CVT("rmi.s32.f32", I32, F32),
    CVT("rpi.sat.u8.f32", I16, F32),
    CVT("rz.f32.s32", F32, I32),
    CVT("rp.f32.u64", F32, I64),
    CVT("rm.f64.s64", F64, I64),
    CVT("rz.f16.s32", F16, I32),
    CVT("rz.bf16.s64", BF16, I64),
    CVT("rn.sat.f32.u32", F32, I32),
    CVT("s64.s32", I64, I32),
    CVT("u64.u32", I64, I32),
    CVT("u32.u64", I32, I64),
    CVT("u16.u32", I16, I32),
    CVT("s32.s16", I32, I16),
    CVT("s32.s8", I32, I16),
    CVT("s64.s16", I64, I16),
    CVT("u8.u64", I16, I64),
    CVT_AB("pack.sat.u16.s32", I32, I32),
    CVT_AB("pack.sat.s16.s32", I32, I32),
    CVT_ABC("pack.sat.u8.s32.b32", I32, I32),
    CVT_ABC("pack.sat.s8.s32.b32", I32, I32),
    CVT_ABC("pack.sat.u4.s32.b32", I32, I32),
    CVT_ABC("pack.sat.s2.s32.b32", I32, I32),
    CVT("rmi.f32.f32", F32, F32),
    CVT("rni.ftz.f32.f32", F32, F32),
    CVT("rzi.sat.f32.f32", F32, F32),
    CVT("rpi.f64.f64", F64, F64),
    CVT("rni.f16.f16", F16, F16),
    CVT("rzi.bf16.bf16", BF16, BF16),
    CVT("ftz.f32.f32", F32, F32),
    CVT("sat.f32.f32", F32, F32),
    CVT("sat.f64.f64", F64, F64),
    CVT("sat.f16.f16", F16, F16),
    CVT("f64.f32", F64, F32),
    CVT("ftz.f64.f32", F64, F32),
    CVT("sat.f64.f32", F64, F32),
    CVT("f64.f16", F64, F16),
    CVT("f64.bf16", F64, BF16),
    CVT("rn.f32.f64", F32, F64),
    CVT("rp.f32.f64", F32, F64),
    CVT("rn.ftz.f32.f64", F32, F64),
    CVT("rn.sat.f32.f64", F32, F64),
    CVT("f32.f16", F32, F16),
    CVT("ftz.f32.f16", F32, F16),
    CVT("sat.f32.f16", F32, F16),
    CVT("f32.bf16", F32, BF16),
    CVT("ftz.f32.bf16", F32, BF16),
    CVT("rn.f16.bf16", F16, BF16),
    CVT("rn.bf16.f16", BF16, F16),
    TO_HALF("f16", F16),
    TO_HALF("bf16", BF16),
    CVT("rn.sat.f16.f32", F16, F32),
    CVT("rn.ftz.bf16.f32", BF16, F32),
    TO_PAIR("f16x2", F16X2),
    TO_PAIR("bf16x2", BF16X2),
    CVT("rna.tf32.f32", F32, F32),
    CVT("rna.satfinite.tf32.f32", F32, F32),
    CVT("rn.tf32.f32", F32, F32),
    CVT("rz.tf32.f32", F32, F32),
    CVT("rn.relu.tf32.f32", F32, F32),
    CVT("rn.satfinite.tf32.f32", F32, F32),
    CVT("rn.relu.satfinite.tf32.f32", F32, F32),
    SMALL("e4m3", I16, I32),
    SMALL("e5m2", I16, I32),
    SMALL("e2m3", I16, I32),
    SMALL("e3m2", I16, I32),
    SMALL("e2m1", I8, I16),
    CVT_AB("rz.ue8m0x2.f32", I16, F32),
    CVT_AB("rp.satfinite.ue8m0x2.f32", I16, F32),
    CVT("rz.ue8m0x2.bf16x2", I16, BF16X2),
    CVT("rn.bf16x2.ue8m0x2", BF16X2, I16),
    CVT_AB("rn.satfinite.s2f6x2.f32", I16, F32),
    CVT("rn.satfinite.s2f6x2.bf16x2", I16, BF16X2),
    CVT("rn.bf16x2.s2f6x2", BF16X2, I16),
    { "conversion", "cvt.rn.satfinite.s2f6x2.bf16x2 $d, $a", I16, BF16X2, FMA32, 4 },
    { "video", "vadd.s32.s32.s32.sat $d, $a.b0, $b.h1", I32, I32, ADD32, 0 },
    { "video", "vabsdiff4.u32.u32.u32.add $d, $a, $b, $c", I32, I32, ADD32, 0 },
    { "warp", "shfl.sync.bfly.b32 $d, $a, 1, 31, -1", I32, I32, ADD32, 0 },
    { "warp", "{ .reg .pred q; setp.lt.s32 q, $a, $b; vote.sync.ballot.b32 $d, q, -1; }", I32, I32, ADD32, 0 },
    { "matrix", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " D4 A4 B2 C4, F16X2, F16X2, FMA32,
      0 }, /* 2048 multiplications */
    { "matrix", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " D2 A4 B2 C2, F16X2, F16X2, FMA32, 0 },
    { "matrix", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " D4 A4 B2 C4, BF16X2, BF16X2, FMA32, 0 },
    { "matrix", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " D4 A4 B2 C4, F32, F32, FMA32, 0 }, /* 1024 */
    { "matrix", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " D4 A4 B2 C4, I32, I32, FMA32, 0 },    /* 4096 */
    { "matrix", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " D4 A4 B2 C4, I32, I32, FMA32, 0 },    /* 8192 */
};

enum { TYPED = sizeof typed / sizeof *typed };

/* Also one saturating integer conversion per handler. */
#define NAME(op) #op,
static const char *const ops[] = { PTXI_OPS(NAME) };
enum { OPS = sizeof ops / sizeof *ops };

/* Returns the register contents for an integer type; at least 16 bits. */
static enum values values_of(const char *type)
{
    return strstr(type, "64") ? I64 : strstr(type, "32") ? I32 : I16;
}

static int add_saturating(struct form *to, char (*text)[40])
{
    char d[4], a[4];
    int n = 0;

    for (int k = 0; k < OPS; k++) {
        if (sscanf(ops[k], "cvt_sat_%3[a-z0-9]_%3[a-z0-9]", d, a) != 2)
            continue;
        snprintf(text[n], sizeof *text, "cvt.sat.%s.%s $d, $a", d, a);
        to[n] = (struct form){ "conversion", text[n], values_of(d), values_of(a), FMA32, 4 };
        n++;
    }
    return n;
}

/* Appends the form with the registers of copy k. */
static int put_copy(char *to, const struct form *f, int k)
{
    int n = 0;

    for (const char *p = f->text; *p; p++) {
        if (*p != '$')
            to[n++] = *p;
        else if (*++p == 'd')
            n += sprintf(to + n, "%%d%d", k % RESULTS);
        else
            n += sprintf(to + n, "%%a%d", (k + (*p - 'a')) % SOURCES);
    }
    return n + sprintf(to + n, "%s\n", f->text[0] == '{' ? "" : ";");
}

static char *kernel_text(const struct form *f)
{
    char *text = malloc(4096 + UNROLLED * (2 * strlen(f->text) + 40));
    int n, in = values[f->a].bits, out = values[f->d].bits;

    if (!text)
        abort();
    n = sprintf(
        text,
        ".version 9.1\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 turns)\n{\n"
        ".reg .b%d %%a<%d>; .reg .b%d %%d<%d>; .reg .b64 %%p, %%o; .reg .b32 %%n, %%t; .reg .pred %%q;\n"
        "ld.param.u64 %%p, [p]; ld.param.u32 %%n, [turns]; mov.u32 %%t, %%tid.x; mul.wide.u32 %%o, %%t, 8; add.u64 "
        "%%p, %%p, %%o;\n",
        in, SOURCES, out, RESULTS);
    for (int k = 0; k < SOURCES; k++)
        n += sprintf(text + n, "ld.global.b%d %%a%d, [%%p+%d];\n", in, k, k * 256);
    n += sprintf(text + n, "L:\n");
    for (int k = 0; k < UNROLLED; k++)
        n += put_copy(text + n, f, k);
    n += sprintf(text + n, "sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra L;\n");
    for (int k = 0; k < RESULTS; k++)
        n += sprintf(text + n, "st.global.b%d [%%p+%d], %%d%d;\n", out, (SOURCES + k) * 256, k);
    sprintf(text + n, "ret;\n}\n");
    return text;
}

static void fill(ptxiDevicePtr mem, enum values kind)
{
    uint64_t words[SOURCES * 32], state = 1;

    for (int k = 0; k < SOURCES * 32; k++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        words[k] = values[kind].low | ((state >> 20) & values[kind].mask);
    }
    bench_must(ptxiMemcpyHtoD(mem, words, sizeof words), "operands");
}

struct ready {
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevicePtr mem;
    double *ns;
};

/* Returns whether the options select form k. Baseline rows are always selected. */
static bool chosen(const struct options *o, const struct form *f, int k)
{
    return !o->kernel || k < BASES || strstr(f->text, o->kernel);
}

/* Returns false if the form is not executable. */
static bool prepare(struct ready *r, const struct form *f, int rounds)
{
    char *text = kernel_text(f);
    uint32_t turns = 1;
    void *params[] = { &r->mem, &turns };
    bool runs;

    bench_must(ptxiModuleLoadData(&r->module, text), f->text);
    free(text);
    bench_must(ptxiModuleGetFunction(&r->kernel, r->module, "k"), f->text);
    bench_must(ptxiMemAlloc(&r->mem, (SOURCES + RESULTS) * 256), "memory");
    fill(r->mem, f->a);
    r->ns = calloc((size_t)rounds, sizeof *r->ns);
    runs = r->ns && !ptxiLaunchKernel(r->kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) && !ptxiCtxSynchronize();
    return runs;
}

double bench_time_turns(ptxiFunction kernel, unsigned threads, ptxiDevicePtr mem, uint32_t turns)
{
    uint32_t some = turns / 4 + 1; /* warm-up: lets the CPU settle its clock for this vector width */
    void *warm_up[] = { &mem, &some }, *params[] = { &mem, &turns };
    double start;

    bench_must(ptxiLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, warm_up, NULL), "launch");
    bench_must(ptxiCtxSynchronize(), "launch");
    start = bench_work_now();
    bench_must(ptxiLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL), "launch");
    bench_must(ptxiCtxSynchronize(), "launch");
    return (bench_work_now() - start) * 1e9 / turns;
}

/* Returns the ns of a baseline, or 0 without a baseline. */
static double base_ns(const struct ready *r, int base, int rounds)
{
    if (base == TWO_FMA32)
        return 2 * bench_median(r[FMA32].ns, rounds);
    return base < 0 ? 0 : bench_median(r[base].ns, rounds);
}

static void print_form(const struct options *o, const struct form *f, double ns, double base)
{
    char times[32] = "", limit[32] = "";

    bench_json_row("\"family\": \"%s\", \"form\": \"%s\", \"ns\": %.3f, \"base_ns\": %.3f", f->family, f->text, ns,
                   base);
    if (base > 0)
        snprintf(times, sizeof times, "%.2f", ns / base);
    if (f->limit > 0)
        snprintf(limit, sizeof limit, "%.1f", f->limit);
    printf(o->csv ? "%s,\"%s\",%.3f,%s,%s,%s\n" : "| %s | `%s` | %.2f | %s | %s | %s |\n", f->family, f->text, ns,
           times, f->base < 0 ? "" : base_names[f->base], limit);
}

void bench_families(const struct options *o)
{
    static struct form forms[TYPED + OPS];
    static char text[OPS][40];
    static struct ready r[TYPED + OPS];
    static bool runs[TYPED + OPS];
    int count = TYPED + add_saturating(forms + TYPED, text);
    uint32_t turns = o->quick ? QUICK_TURNS : TURNS;

    memcpy(forms, typed, sizeof typed);
    bench_json_table("families");
    printf(o->csv ? "family,form,ns,times,base,limit\n"
                  : "| family | form | ns for a warp | times | of | at most |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < count; k++)
        runs[k] = chosen(o, &forms[k], k) && prepare(&r[k], &forms[k], o->rounds);
    for (int i = 0; i < o->rounds; i++)
        for (int k = 0; k < count; k++)
            if (runs[k])
                r[k].ns[i] = bench_time_turns(r[k].kernel, 32, r[k].mem, turns) / UNROLLED;
    for (int k = 0; k < count; k++) {
        double ns = runs[k] ? bench_median(r[k].ns, o->rounds) : 0;

        if (runs[k])
            print_form(o, &forms[k], ns, base_ns(r, forms[k].base, o->rounds));
        else if (chosen(o, &forms[k], k))
            fprintf(stderr, "ptxi-bench: %s: not executable\n", forms[k].text);
    }
    for (int k = 0; k < count; k++) {
        if (!chosen(o, &forms[k], k))
            continue;
        ptxiMemFree(r[k].mem);
        ptxiModuleUnload(r[k].module);
        free(r[k].ns);
    }
}
