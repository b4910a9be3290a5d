/* Runs random programs on the interpreter and on the native tier, and compares memory, results and reports. The
 * programs are rich in NaNs, subnormal numbers, divergence, loops, and faults inside of blocks, and some end when their
 * limit on instructions is reached. */
#include "unit/support/context.h"

#include <string.h>

#include "base/str.h"

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % n;
}

/* Registers: %r and %d have random bits, %i and %j small indices, %c the counters of loops. */
enum { REGS = 6, WIDE = 4, PREDS = 4, THREADS = 96, BLOCKS = 2, WORDS = 4096, OUT = 16 };

/* --- operations --- */

/* Constants for which there are shorter forms, and others. */
static void any_with_constant(struct random *r, struct ptxi_str *s)
{
    static const char *const binary[] = { "mul.lo.s32", "shl.b32", "shr.u32" };
    static const char *const ternary[] = { "shf.l.wrap.b32", "shf.r.wrap.b32" };
    static const uint32_t constants[] = { 0, 1, 2, 3, 5, 7, 9, 15, 31, 32, 33, 0x7fffffff, 0x80000001, 0xffffffff };
    const uint32_t value = constants[draw(r, sizeof constants / sizeof *constants)];
    const unsigned d = draw(r, REGS), a = draw(r, REGS), b = draw(r, 2) ? a : draw(r, REGS);

    switch (draw(r, 3)) {
    case 0: ptxi_str_printf(s, "mad.lo.s32 %%r%u, %%r%u, %u, %%r%u;\n", d, a, value, b); break;
    case 1: ptxi_str_printf(s, "%s %%r%u, %%r%u, %u;\n", binary[draw(r, 3)], d, a, value); break;
    default: ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u, %u;\n", ternary[draw(r, 2)], d, a, b, value);
    }
}

static void any_32(struct random *r, struct ptxi_str *s)
{
    static const char *const binary[] = {
        "add.s32", "sub.s32", "mul.lo.s32", "xor.b32", "and.b32", "or.b32", "shl.b32", "shr.u32", "shr.s32", "min.s32",
        "max.s32", "min.u32", "max.u32", "add.f32", "sub.f32", "mul.f32", "div.rn.f32", "add.ftz.f32", "mul.ftz.f32",
        "min.f32", "max.f32", "min.NaN.f32", "max.NaN.f32",
    };
    static const char *const unary[] = { "neg.s32", "abs.s32", "not.b32", "neg.f32", "abs.f32", "sqrt.rn.f32",
                                         "rcp.rn.f32", "cvt.rn.f32.s32", "cvt.rn.f32.u32", "popc.b32", "mov.b32",
                                         "cvt.rp.f32.s32", "cvt.rm.sat.f32.s32", "cvt.rn.sat.f32.s32" };
    static const char *const ternary[] = { "mad.lo.s32", "fma.rn.f32", "fma.rn.ftz.f32", "shf.l.wrap.b32",
                                           "shf.r.wrap.b32", "shf.l.clamp.b32" };

    switch (draw(r, 4)) {
    case 0:
        any_with_constant(r, s);
        break;
    case 1:
        ptxi_str_printf(s, "%s %%r%u, %%r%u;\n", unary[draw(r, 14)], draw(r, REGS), draw(r, REGS));
        break;
    case 2:
        ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u, %%r%u;\n", ternary[draw(r, 6)], draw(r, REGS), draw(r, REGS),
                        draw(r, REGS), draw(r, REGS));
        break;
    default:
        ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u;\n", binary[draw(r, 23)], draw(r, REGS), draw(r, REGS),
                        draw(r, REGS));
    }
}

static void any_64(struct random *r, struct ptxi_str *s)
{
    static const char *const binary[] = { "add.f64", "sub.f64", "mul.f64", "div.rn.f64", "add.s64", "sub.s64",
                                          "and.b64", "or.b64", "xor.b64", "min.f64", "mul.lo.s64" };

    switch (draw(r, 6)) {
    case 0:
        ptxi_str_printf(s, "%s %%d%u, %%d%u, %%d%u, %%d%u;\n", draw(r, 2) ? "fma.rn.f64" : "mad.lo.u64", draw(r, WIDE),
                        draw(r, WIDE), draw(r, WIDE), draw(r, WIDE));
        break;
    case 1:
        ptxi_str_printf(s, "%s %%d%u, %%r%u, %%r%u;\n", draw(r, 2) ? "mul.wide.s32" : "mul.wide.u32", draw(r, WIDE),
                        draw(r, REGS), draw(r, REGS));
        break;
    case 2:
        ptxi_str_printf(s, "%s %%d%u, %%d%u, %%r%u;\n", draw(r, 2) ? "shl.b64" : "shr.u64", draw(r, WIDE),
                        draw(r, WIDE), draw(r, REGS));
        break;
    case 3:
        if (draw(r, 2))
            ptxi_str_printf(s, "cvt.u32.u64 %%r%u, %%d%u;\n", draw(r, REGS), draw(r, WIDE));
        else
            ptxi_str_printf(s, "%s %%d%u, %%r%u;\n", draw(r, 2) ? "cvt.s64.s32" : "cvt.u64.u32", draw(r, WIDE),
                            draw(r, REGS));
        break;
    default:
        ptxi_str_printf(s, "%s %%d%u, %%d%u, %%d%u;\n", binary[draw(r, 11)], draw(r, WIDE), draw(r, WIDE),
                        draw(r, WIDE));
    }
}

static void any_predicate(struct random *r, struct ptxi_str *s)
{
    static const char *const types[] = { "s32", "u32", "f32", "f64" };
    static const char *const integer[] = { "eq", "ne", "lt", "le", "gt", "ge" };
    static const char *const real[] = { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu",
                                        "num", "nan" };
    static const char *const bools[] = { "and", "or", "xor" };
    unsigned type = draw(r, 4), wide = type == 3, regs = wide ? WIDE : REGS;
    const char *condition = type < 2 ? integer[draw(r, 6)] : real[draw(r, 14)], letter = wide ? 'd' : 'r';

    switch (draw(r, 5)) {
    case 0:
        ptxi_str_printf(s, "%s.pred %%p%u, %%p%u, %%p%u;\n", bools[draw(r, 3)], draw(r, PREDS), draw(r, PREDS),
                        draw(r, PREDS));
        break;
    case 1:
        ptxi_str_printf(s, "setp.%s.%s.%s %%p%u|%%p%u, %%%c%u, %%%c%u, %s%%p%u;\n", condition, bools[draw(r, 3)],
                        types[type], draw(r, 2), 2 + draw(r, 2), letter, draw(r, regs), letter, draw(r, regs),
                        draw(r, 2) ? "!" : "", draw(r, PREDS));
        break;
    case 2:
        ptxi_str_printf(s, "not.pred %%p%u, %%p%u;\n", draw(r, PREDS), draw(r, PREDS));
        break;
    default:
        ptxi_str_printf(s, "setp.%s.%s %%p%u, %%%c%u, %%%c%u;\n", condition, types[type], draw(r, PREDS), letter,
                        draw(r, regs), letter, draw(r, regs));
    }
    if (draw(r, 2))
        ptxi_str_printf(s, "selp.b%u %%%c%u, %%%c%u, %%%c%u, %%p%u;\n", wide ? 64 : 32, letter, draw(r, regs), letter,
                        draw(r, regs), letter, draw(r, regs), draw(r, PREDS));
}

/* An access at the thread's index, a common one, or a scattered one. Rarely it is misaligned or out of bounds. */
static void any_access(struct random *r, struct ptxi_str *s)
{
    static const char *const index[] = { "%i0", "%i0", "%i0", "%i1", "%i2", "%i3" };
    const bool shared = draw(r, 3) == 0, wide = draw(r, 3) == 0, store = draw(r, 2);
    int32_t offset = 4 * (int32_t)draw(r, 8) * (wide ? 2 : 1);
    char memory[40], value[20];

    if (shared && !wide && draw(r, 2)) { /* launch-invariant */
        strcpy(memory, draw(r, 2) ? "%i7" : "%i8");
    } else if (shared) {
        ptxi_str_printf(s, "shl.b32 %%i9, %s, %u;\nadd.s32 %%i9, %%i9, %%i8;\n",
                        index[wide ? 3 + draw(r, 3) : draw(r, 6)], wide ? 3 : 2);
        strcpy(memory, "%i9");
    } else if (draw(r, 3)) {
        ptxi_str_printf(s, "mul.wide.%c32 %%a2, %s, %u;\nadd.s64 %%a2, %%a2, %%a1;\n", draw(r, 4) ? 's' : 'u',
                        index[draw(r, 6)], wide ? 8 : 4);
        strcpy(memory, "%a2");
    } else {
        ptxi_str_printf(s, "cvt.s64.s32 %%a2, %s;\nmul.lo.s64 %%a4, %%a2, %u;\nadd.s64 %%a2, %%a2, %%a4;\n"
                           "shl.b64 %%a2, %%a2, %u;\nadd.s64 %%a2, %%a2, %%a1;\n", index[draw(r, 6)], draw(r, 3),
                        wide ? 3 : 2);
        strcpy(memory, "%a2");
    }
    if (draw(r, 40) == 0)
        offset = draw(r, 2) ? 1 : 1 << 20;
    snprintf(value, sizeof value, wide ? "%%d%u" : "%%r%u", draw(r, wide ? WIDE : REGS));
    if (draw(r, 6) == 0)
        ptxi_str_printf(s, "@%%p%u ", draw(r, PREDS));
    if (store)
        ptxi_str_printf(s, "st.%s.b%u [%s+%d], %s;\n", shared ? "shared" : "global", wide ? 64 : 32, memory, offset,
                        value);
    else
        ptxi_str_printf(s, "ld.%s.b%u %s, [%s+%d];\n", shared ? "shared" : "global", wide ? 64 : 32, value, memory,
                        offset);
}

/* %a2 = an address, from index %j and others. */
static void any_address(struct random *r, struct ptxi_str *s, unsigned j)
{
    static const char *const forms[] = {
        "mul.wide.s32 %%a2, %%j%u, 4;\nadd.s64 %%a2, %%a2, %%a1;\n",
        "mul.wide.u32 %%a2, %%j%u, 4;\nadd.s64 %%a2, %%a2, %%a1;\n",
        "cvt.s64.s32 %%a2, %%j%u;\ncvt.s64.s32 %%a4, %%j1;\nmad.lo.s64 %%a2, %%a2, 3, %%a4;\nsub.s64 %%a2, %%a2, 5;\n"
        "shl.b64 %%a2, %%a2, 2;\nadd.s64 %%a2, %%a1, %%a2;\n",
        "cvt.u64.u32 %%a4, %%j0;\nmad.wide.s32 %%a4, %%j%u, 2, %%a4;\nmul.lo.s64 %%a4, %%a4, 4;\n"
        "add.s64 %%a2, %%a4, %%a1;\n",
        "mul.wide.s32 %%a4, %%j%u, 4;\nadd.s64 %%a2, %%a4, %%a1;\nmad.wide.u32 %%a2, %%j1, 8, %%a2;\n",
        "mul.wide.s32 %%a4, %%j%u, 4;\nmul.wide.s32 %%a2, %%j1, 12;\nadd.s64 %%a2, %%a2, %%a4;\n"
        "add.s64 %%a2, %%a2, %%a1;\n",
        "mul.wide.s32 %%a4, %%j%u, 2;\nmad.lo.s64 %%a2, %%a4, 2, %%a1;\n",
    };

    ptxi_str_printf(s, forms[draw(r, 7)], j);
}

/* An index from the thread's position, which is no row in narrow blocks; a comparison of it, or an access there. */
static void any_index(struct random *r, struct ptxi_str *s)
{
    static const char *const forms[] = { "add.s32 %%j%u, %%j0, %%j1;\n", "sub.s32 %%j%u, %%j1, %%j0;\n",
                                         "mad.lo.s32 %%j%u, %%j1, 5, %%j0;\n", "mad.lo.s32 %%j%u, %%j0, 3, %%j1;\n",
                                         "shl.b32 %%j%u, %%j1, 2;\n", "shl.b32 %%j%u, %%j0, %%j1;\n",
                                         "mul.lo.s32 %%j%u, %%j0, %%j1;\n", "mov.u32 %%j%u, %%j1;\n" };
    static const char *const conditions[] = { "eq", "ne", "lt", "le", "gt", "ge" };
    const unsigned d = 2 + draw(r, 2);

    ptxi_str_printf(s, forms[draw(r, 8)], d);
    if (draw(r, 2)) {
        ptxi_str_printf(s, "setp.%s.%c32 %%p%u, %%j%u, ", conditions[draw(r, 6)], draw(r, 2) ? 's' : 'u',
                        draw(r, PREDS), d);
        ptxi_str_printf(s, draw(r, 2) ? "%%j%u;\n" : "%u;\n", draw(r, 4));
    } else {
        any_address(r, s, draw(r, 3) ? d : draw(r, 4));
        ptxi_str_printf(s, draw(r, 2) ? "ld.global.b32 %%r%u, [%%a2+2048];\n" : "st.global.b32 [%%a2+2048], %%r%u;\n",
                        draw(r, REGS));
    }
}

/* A load of a constant, mostly at one address. */
static void any_constant(struct random *r, struct ptxi_str *s)
{
    static const char *const index[] = { "%c9", "%c9", "%c9", "%i1", "%i2", "%i3" };
    const bool wide = draw(r, 3) == 0;
    const unsigned d = draw(r, wide ? WIDE : REGS), bytes = wide ? 8 : 4, offset = bytes * draw(r, 4);

    ptxi_str_printf(s, "and.b32 %%i9, %s, 63;\nmul.wide.u32 %%a2, %%i9, %u;\nmov.u64 %%a4, constants;\n"
                       "add.s64 %%a2, %%a2, %%a4;\n", index[draw(r, 6)], bytes);
    if (draw(r, 6) == 0)
        ptxi_str_printf(s, "@%%p%u ", draw(r, PREDS));
    ptxi_str_printf(s, "ld.const.b%u %%%c%u, [%%a2+%u];\n", 8 * bytes, wide ? 'd' : 'r', d,
                    draw(r, 40) ? offset : offset + (draw(r, 2) ? 1 : 600));
}

/* An access of two or four words, or of 8 or 16 bits, mostly at scattered addresses. */
static void any_other_access(struct random *r, struct ptxi_str *s)
{
    static const char *const index[] = { "%i1", "%i2", "%i3", "%i2" }, *const loads[] = { "u8", "s8", "u16", "s16" };
    const bool shared = draw(r, 2), store = draw(r, 2);
    const unsigned kind = draw(r, 4), count = kind == 0 ? 4 : kind == 1 ? 2 : 1, small = draw(r, 4);
    const unsigned bytes = count > 1 ? 4 * count : 1u << small / 2, a = draw(r, REGS), offset = bytes * draw(r, 4);
    char memory[40], values[60];

    if (shared)
        ptxi_str_printf(s, "mad.lo.s32 %%i9, %s, %u, %%i8;\n", index[draw(r, 4)], bytes);
    else
        ptxi_str_printf(s, "mul.wide.s32 %%a2, %s, %u;\nadd.s64 %%a2, %%a2, %%a1;\n",
                        draw(r, 3) ? index[draw(r, 4)] : "%i0", bytes);
    snprintf(memory, sizeof memory, "[%s+%u]", shared ? "%i9" : "%a2", draw(r, 60) ? offset : offset + 1);
    if (count == 4)
        snprintf(values, sizeof values, "{%%r%u, %%r%u, %%r%u, %%r%u}", a, (a + 1) % REGS, (a + 2) % REGS,
                 (a + 3) % REGS);
    else if (count == 2)
        snprintf(values, sizeof values, "{%%r%u, %%r%u}", a, (a + 1) % REGS);
    else
        snprintf(values, sizeof values, kind == 2 ? "%%r%u" : "%%h%u", a);
    if (kind == 3 && store)
        ptxi_str_printf(s, "cvt.u16.u32 %%h%u, %%r%u;\n", a, draw(r, REGS));
    if (store)
        ptxi_str_printf(s, "st.%s%s.%s %s, %s;\n", shared ? "shared" : "global",
                        count == 4 ? ".v4" : count == 2 ? ".v2" : "", count > 1 ? "b32" : loads[small], memory, values);
    else
        ptxi_str_printf(s, "ld.%s%s.%s %s, %s;\n", shared ? "shared" : "global",
                        count == 4 ? ".v4" : count == 2 ? ".v2" : "", count > 1 ? "b32" : loads[small], values, memory);
    if (kind == 3 && !store)
        ptxi_str_printf(s, "cvt.%s32.%s16 %%r%u, %%h%u;\n", small % 2 ? "s" : "u", small % 2 ? "s" : "u",
                        draw(r, REGS), a);
}

/* Constant lanes, mostly. All lanes of a warp take part. */
static void any_shuffle(struct random *r, struct ptxi_str *s)
{
    static const char *const modes[] = { "up", "down", "bfly", "idx" };
    unsigned mode = draw(r, 4), segment = draw(r, 3) ? 0 : 1u << (8 + draw(r, 5)), clamp = mode ? 31 : 0;
    unsigned d = draw(r, REGS), a = draw(r, REGS);

    ptxi_str_printf(s, "shfl.sync.%s.b32 %%r%u", modes[mode], d);
    if (draw(r, 2))
        ptxi_str_printf(s, "|%%p%u", draw(r, PREDS));
    if (draw(r, 5))
        ptxi_str_printf(s, ", %%r%u, %u, %u, -1;\n", a, draw(r, 32), draw(r, 3) ? clamp : draw(r, 32) | segment);
    else
        ptxi_str_printf(s, ", %%r%u, %%i3, %u, -1;\n", a, clamp);
}

static void any_operation(struct random *r, struct ptxi_str *s)
{
    switch (draw(r, 11)) {
    case 0: case 1: any_predicate(r, s); break;
    case 10: any_index(r, s); break;
    case 2: any_access(r, s); break;
    case 3: draw(r, 2) ? any_access(r, s) : any_other_access(r, s); break;
    case 4: case 5: draw(r, 4) ? any_64(r, s) : any_constant(r, s); break;
    case 6:
        ptxi_str_printf(s, "@%s%%p%u add.s32 %%r%u, %%r%u, 1;\n", draw(r, 2) ? "!" : "", draw(r, PREDS), draw(r, REGS),
                        draw(r, REGS));
        break;
    default: any_32(r, s);
    }
}

/* An operation or a load of a loop that lanes may run one after the other (libptxi/native/lane_loop.c). %a5 goes
 * through the data, %a6 is anywhere. */
static void any_lane_operation(struct random *r, struct ptxi_str *s)
{
    static const char *const binary[] = { "add.s32", "sub.s32", "mul.lo.s32", "xor.b32", "and.b32", "shl.b32",
                                          "shr.s32", "max.s32", "min.u32", "add.f32", "sub.f32", "mul.f32",
                                          "div.rn.f32" };
    static const char *const unary[] = { "neg.s32", "abs.s32", "not.b32", "neg.f32", "abs.f32", "sqrt.rn.f32",
                                         "rcp.rn.f32", "cvt.rn.f32.s32", "mov.b32" };
    static const char *const wide[] = { "add.s64", "sub.s64", "xor.b64", "add.f64", "mul.f64" };
    static const char *const loads[] = { "b32", "u8", "s8", "u16", "s16" };
    const uint32_t small = draw(r, 9), d = draw(r, REGS);

    switch (draw(r, 10)) {
    case 0: ptxi_str_printf(s, "%s %%r%u, %%r%u;\n", unary[draw(r, 9)], d, draw(r, REGS)); break;
    case 1: case 2:
        ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u;\n", binary[draw(r, 13)], d, draw(r, REGS), draw(r, REGS));
        break;
    case 3: case 4:
        ptxi_str_printf(s, "%s %%r%u, %%r%u, %%r%u, %%r%u;\n", draw(r, 3) ? "fma.rn.f32" : "mad.lo.s32", d,
                        draw(r, REGS), draw(r, REGS), draw(r, REGS));
        break;
    case 5:
        ptxi_str_printf(s, "and.b32 %%i9, %%r%u, 255;\nmul.wide.s32 %%a6, %%i9, 4;\nadd.s64 %%a6, %%a6, %%a1;\n"
                           "ld.global.b32 %%r%u, [%%a6+%u];\n", draw(r, REGS), d, 4 * draw(r, 8));
        break;
    case 6:
        if (draw(r, 2))
            ptxi_str_printf(s, "ld.global.b64 %%d%u, [%%a5+%u];\n", draw(r, WIDE), 8 * draw(r, 4));
        else
            ptxi_str_printf(s, "%s %%d%u, %%d%u, %%d%u;\n", wide[draw(r, 5)], draw(r, WIDE), draw(r, WIDE),
                            draw(r, WIDE));
        break;
    case 7:
        ptxi_str_printf(s, "mul.wide.%c32 %%d%u, %%r%u, %%r%u;\ncvt.u32.u64 %%r%u, %%d%u;\n", draw(r, 2) ? 's' : 'u',
                        draw(r, WIDE), draw(r, REGS), draw(r, REGS), d, draw(r, WIDE));
        break;
    default:
        ptxi_str_printf(s, "ld.global.%s %%r%u, [%%a5+%u];\n", loads[small < 4 ? small + 1 : 0], d, 4 * draw(r, 8));
    }
}

/* A loop without branches inside, whose number of rounds differs between lanes. Rarely it leaves the data. */
static void lane_loop(struct random *r, struct ptxi_str *s, unsigned label)
{
    static const char *const lanes[] = { "%i3", "%r0", "%r1", "%i2" };
    static const unsigned steps[] = { 8, 8, 8, 16, 0, 1 << 12, 12 };

    ptxi_str_printf(s, "and.b32 %%k0, %s, %u;\nmul.wide.u32 %%a5, %%k0, 16;\nadd.s64 %%a5, %%a5, %%a1;\n"
                       "mov.u32 %%k1, 0;\nL%u:\n", lanes[draw(r, 4)], draw(r, 3) ? 15 : 1, label);
    for (uint32_t n = 1 + draw(r, 8); n; n--)
        any_lane_operation(r, s);
    ptxi_str_printf(s, "ld.global.b32 %%r%u, [%%a5+16];\nadd.s64 %%a5, %%a5, %u;\nadd.s32 %%k1, %%k1, 1;\n"
                       "setp.%s.%c32 %%p9, %%k1, %%k0;\n@%%p9 bra L%u;\n", draw(r, REGS),
                    steps[draw(r, 20) ? draw(r, 4) : draw(r, 7)], draw(r, 2) ? "le" : "lt", draw(r, 2) ? 's' : 'u',
                    label);
}

/* --- programs --- */

struct program {
    struct random *random;
    struct ptxi_str *text;
    unsigned labels, counters;
};

/* A predicate that is often the same in all lanes. */
static void condition(struct program *p, unsigned predicate)
{
    static const char *const often[] = { "%c9, 3", "%c9, 9", "%i0, 40", "%i1, 100", "%j0, 6", "%j1, 2" };

    if (draw(p->random, 3))
        ptxi_str_printf(p->text, "setp.lt.s32 %%p%u, %s;\n", predicate, often[draw(p->random, 6)]);
}

static void body(struct program *p, unsigned depth)
{
    struct random *r = p->random;

    for (uint32_t n = 2 + draw(r, 7); n; n--) {
        uint32_t kind = depth < 3 ? draw(r, 12) : 11, predicate = draw(r, PREDS);
        unsigned l = p->labels;

        if (kind < 2) {
            p->labels += 2;
            condition(p, predicate);
            ptxi_str_printf(p->text, "@%%p%u bra L%u;\n", predicate, l);
            body(p, depth + 1);
            if (kind)
                ptxi_str_printf(p->text, "bra L%u;\n", l + 1);
            ptxi_str_printf(p->text, "L%u:\n", l);
            if (kind)
                body(p, depth + 1);
            ptxi_str_printf(p->text, "L%u:\n", l + 1);
        } else if (kind == 2 && p->counters < 8) {
            unsigned c = p->counters++;

            p->labels += 2;
            ptxi_str_printf(p->text, "mov.u32 %%c%u, %u;\nL%u:\nadd.s32 %%c9, %%c9, 1;\n", c, 1 + draw(r, 6), l);
            body(p, depth + 1);
            if (draw(r, 2)) {
                condition(p, predicate);
                ptxi_str_printf(p->text, "@!%%p%u bra L%u;\n", predicate, l + 1);
            }
            ptxi_str_printf(p->text, "add.s32 %%c%u, %%c%u, -1;\nsetp.gt.s32 %%p9, %%c%u, 0;\n", c, c, c);
            ptxi_str_printf(p->text, "@%%p9 bra L%u;\nL%u:\n", l, l + 1);
        } else if (kind == 5) {
            lane_loop(r, p->text, p->labels++);
        } else if (kind == 3 && !depth) {
            ptxi_str_puts(p->text, "bar.sync 0;\n");
        } else if (kind == 4 && !depth) {
            any_shuffle(r, p->text);
        } else {
            any_operation(r, p->text);
        }
    }
}

/* With rounds of a loop around everything. */
static void write_program(struct random *r, struct ptxi_str *s, unsigned rounds)
{
    struct program p = { r, s, 0, 0 };

    ptxi_str_puts(s, ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 8 .b32 constants[140] = {");
    for (unsigned k = 0; k < 140; k++)
        ptxi_str_printf(s, "%s%#x", k ? ", " : "", draw(r, 3) ? 0x3f000000 + draw(r, 1 << 26) : draw(r, 1 << 30) * 4);
    ptxi_str_puts(s, "};\n"
                     ".visible .entry k(.param .u64 data, .param .u64 out)\n{\n"
                     ".reg .b32 %r<9>, %i<12>, %c<10>, %j<4>, %k<2>, %t<4>;\n.reg .b16 %h<9>;\n"
                     ".reg .b64 %d<9>, %a<9>;\n.reg .pred %p<10>;\n"
                     ".shared .align 8 .b8 tile[1024];\n"
                     "ld.param.u64 %a1, [data];\nmov.u32 %i4, %ctaid.x;\nmov.u32 %i5, %ntid.x;\nmov.u32 %t0, %tid.x;\n"
                     "mov.u32 %t1, %tid.y;\nmad.lo.s32 %i6, %t1, %i5, %t0;\nmov.u32 %t2, %ntid.y;\n"
                     "mul.lo.s32 %i5, %i5, %t2;\nmov.u32 %t3, %ctaid.y;\n"
                     "mad.lo.s32 %j0, %t3, 4, %t0;\nadd.s32 %j1, %t1, %t3;\n"
                     "mov.u32 %j2, 0;\nmov.u32 %j3, 1;\n"
                     "mad.lo.s32 %i0, %i4, %i5, %i6;\nand.b32 %i3, %i6, 31;\nmov.u32 %i8, tile;\nmov.u32 %i1, 7;\n"
                     "mul.lo.s32 %i2, %i6, 37;\nand.b32 %i2, %i2, 63;\nmov.u32 %c9, 0;\n"
                     "and.b32 %i7, %i6, 63;\nshl.b32 %i7, %i7, 2;\nadd.s32 %i7, %i7, %i8;\n"
                     "mul.wide.s32 %a3, %i0, 4;\nadd.s64 %a3, %a3, %a1;\n");
    for (unsigned k = 0; k < REGS; k++)
        ptxi_str_printf(s, "ld.global.b32 %%r%u, [%%a3+%u];\n", k, 1024 + 772 * k);
    for (unsigned k = 0; k < WIDE; k++)
        ptxi_str_printf(s, "mul.wide.s32 %%a3, %%i0, 8;\nadd.s64 %%a3, %%a3, %%a1;\n"
                           "ld.global.b64 %%d%u, [%%a3+%u];\n", k, 8192 + 1608 * k);
    for (unsigned k = 0; k < PREDS; k++)
        ptxi_str_printf(s, "setp.lt.f32 %%p%u, %%r%u, %%r%u;\n", k, k, k + 1);
    if (rounds)
        ptxi_str_printf(s, "mov.u32 %%i10, %u;\nLONG:\n", rounds);
    body(&p, 0);
    if (rounds)
        ptxi_str_puts(s, "add.s32 %i10, %i10, -1;\nsetp.gt.s32 %p9, %i10, 0;\n@%p9 bra LONG;\n");
    ptxi_str_puts(s, "ld.param.u64 %a2, [out];\nmul.wide.s32 %a3, %i0, 64;\nadd.s64 %a2, %a2, %a3;\n");
    for (unsigned k = 0; k < REGS; k++)
        ptxi_str_printf(s, "st.global.b32 [%%a2+%u], %%r%u;\n", 4 * k, k);
    for (unsigned k = 0; k < WIDE; k++)
        ptxi_str_printf(s, "st.global.b64 [%%a2+%u], %%d%u;\n", 24 + 8 * k, k);
    for (unsigned k = 0; k < PREDS; k++)
        ptxi_str_printf(s, "selp.b32 %%r0, 1, 2, %%p%u;\nst.global.u8 [%%a2+%u], %%r0;\n", k, 56 + k);
    ptxi_str_puts(s, "ret;\n}\n");
}

/* A third are ordinary floats, f32 or the upper half of f64; the others special values. */
static void fill(struct random *r, uint32_t *words)
{
    static const uint32_t special[] = { 0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                                        0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffa12345, 0x7fffffff,
                                        0xffffffff, 0x7ff00000, 0xfff80000, 0x3f800000 };

    for (unsigned k = 0; k < WORDS; k++)
        words[k] = draw(r, 3) ? special[draw(r, 18)] : 0x3f000000 + draw(r, 1 << 26);
}

/* --- comparison --- */

struct outcome {
    ptxiResult result;
    ptxiFault fault;
    char report[4000];
    uint32_t data[WORDS], out[THREADS * BLOCKS * OUT];
};

/* Threads of a block. */
struct shape {
    unsigned x, y;
};

static struct shape any_shape(struct random *r)
{
    static const struct shape narrow[] = { { 16, 6 }, { 8, 12 }, { 4, 24 }, { 48, 2 }, { 5, 13 }, { 16, 3 },
                                           { 1, 70 } };

    switch (draw(r, 4)) {
    case 0: return (struct shape){ 1 + draw(r, THREADS), 1 };
    case 1: return narrow[draw(r, 7)];
    default: return (struct shape){ THREADS, 1 };
    }
}

static void launch(ptxiFunction f, ptxiTier tier, const uint32_t *words, struct shape block, ptxiDevicePtr data,
                   ptxiDevicePtr out, struct outcome *o)
{
    void *params[] = { &data, &out };
    ptxiReport report = { .size = sizeof report };

    memset(o, 0, sizeof *o);
    ok(ptxiCtxSetTier(NULL, tier));
    ok(ptxiMemcpyHtoD(data, words, sizeof o->data));
    ok(ptxiMemsetD32(out, 0xdead, sizeof o->out / 4));
    ok(ptxiLaunchKernel(f, BLOCKS, 1, 1, block.x, block.y, 1, 0, NULL, params, NULL));
    o->result = ptxiCtxSynchronize();
    if (o->result) {
        ok(ptxiGetLastReport(NULL, &report));
        o->fault = report.fault;
        snprintf(o->report, sizeof o->report, "%s", report.text);
    }
    ok(ptxiMemcpyDtoH(o->data, data, sizeof o->data));
    ok(ptxiMemcpyDtoH(o->out, out, sizeof o->out));
}

static unsigned first_difference(const uint32_t *a, const uint32_t *b, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (a[k] != b[k])
            return k;
    return UINT32_MAX;
}

/* Compares an outcome with that of the interpreter. */
static void compare(const struct outcome *a, const struct outcome *b, unsigned seed, const char *text)
{
    unsigned at = first_difference(a->out, b->out, THREADS * BLOCKS * OUT);
    unsigned in = first_difference(a->data, b->data, WORDS);

    if (a->result == b->result && !strcmp(a->report, b->report) && at == UINT32_MAX && in == UINT32_MAX)
        return;
    puts(text);
    if (at != UINT32_MAX)
        printf("register %u: 0x%x, want 0x%x\n", at, b->out[at], a->out[at]);
    if (in != UINT32_MAX)
        printf("word %u: 0x%x, want 0x%x\n", in, b->data[in], a->data[in]);
    fflush(stdout); /* the process ends here */
    ck_abort_msg("seed %u: result %d, want %d; registers differ at %d, memory at %d; report:\n%s\nwant:\n%s", seed,
                 b->result, a->result, (int)at, (int)in, b->report, a->report);
}

/* How many launches ended in each way. */
struct endings {
    unsigned success, fault, limit;
};

static void check_program(unsigned seed, struct endings *endings)
{
    static struct outcome interpreted, native;
    static uint32_t words[WORDS];
    struct random r = { seed };
    ptxiDevicePtr data, out;
    struct ptxi_str s;
    ptxiModule m;
    ptxiFunction f;
    struct shape block;
    unsigned limit;

    ptxi_str_init(&s, NULL);
    limit = draw(&r, 4) ? 0 : 1 + draw(&r, 300000);
    write_program(&r, &s, limit ? 3000 : 0);
    fill(&r, words);
    block = any_shape(&r);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, limit));
    ok(ptxiMemAlloc(&data, sizeof words));
    ok(ptxiMemAlloc(&out, sizeof native.out));
    if (ptxiModuleLoadData(&m, ptxi_str_text(&s)))
        ck_abort_msg("seed %u: the module is not valid:\n%s", seed, ptxi_str_text(&s));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    launch(f, PTXI_TIER_INTERPRETER, words, block, data, out, &interpreted);
    launch(f, PTXI_TIER_NATIVE, words, block, data, out, &native);
    compare(&interpreted, &native, seed, ptxi_str_text(&s));
    if (limit) { /* long enough that native code becomes hot, and that entries are closed */
        launch(f, PTXI_TIER_AUTO, words, block, data, out, &native);
        compare(&interpreted, &native, seed, ptxi_str_text(&s));
    }
    endings->success += !native.result;
    endings->limit += native.fault == PTXI_FAULT_BUDGET;
    endings->fault += native.result && native.fault != PTXI_FAULT_BUDGET;
    ok(ptxiModuleUnload(m));
    ok(ptxiMemFree(data));
    ok(ptxiMemFree(out));
    ptxi_str_free(&s);
}

/* Thread t runs 1000 * t + 1 rounds. */
static const char long_loop[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 data, .param .u64 out)\n{\n.reg .b32 %r<6>;\n.reg .b64 %a<3>;\n.reg .pred %p;\n"
    "ld.param.u64 %a1, [data];\nmov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, 1000;\nand.b32 %r3, %r1, 5;\n"
    "mul.wide.u32 %a2, %r3, 4;\nadd.s64 %a2, %a2, %a1;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n"
    "L:\nld.global.b32 %r5, [%a2];\nadd.s32 %r4, %r4, %r5;\nadd.s32 %r3, %r3, 1;\n"
    "setp.le.s32 %p, %r3, %r2;\n@%p bra L;\n"
    "ld.param.u64 %a1, [out];\nmul.wide.u32 %a2, %r1, 4;\nadd.s64 %a1, %a1, %a2;\nst.global.b32 [%a1], %r4;\n"
    "ret;\n}\n";

/* A limit that the kernel reaches by one instruction more on the one tier, it reaches on the other, too. */
START_TEST(rounds_lane_by_lane_are_paid_for)
{
    static struct outcome interpreted, native;
    static uint32_t words[WORDS];
    struct random r = { 1 };
    ptxiDevicePtr data, out;
    ptxiModule m;
    ptxiFunction f;
    unsigned fails = 1, succeeds = 1 << 20;

    open_context();
    ok(ptxiCtxSetWorkers(NULL, 1));
    fill(&r, words);
    ok(ptxiMemAlloc(&data, sizeof words));
    ok(ptxiMemAlloc(&out, sizeof native.out));
    ok(ptxiModuleLoadData(&m, long_loop));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    while (succeeds - fails > 1) {
        const unsigned limit = fails + (succeeds - fails) / 2;

        ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, limit));
        launch(f, PTXI_TIER_INTERPRETER, words, (struct shape){ 32, 1 }, data, out, &interpreted);
        launch(f, PTXI_TIER_NATIVE, words, (struct shape){ 32, 1 }, data, out, &native);
        compare(&interpreted, &native, limit, long_loop);
        *(interpreted.result ? &fails : &succeeds) = limit;
    }
    ck_assert_uint_gt(fails, 100000); /* the rounds of one lane */
    close_context();
}
END_TEST

enum { PER_TEST = 150 };

START_TEST(random_programs)
{
    const char *rounds = getenv("PTXI_TEST_ROUNDS");
    unsigned count = rounds ? (unsigned)atoi(rounds) : PER_TEST;
    struct endings endings = { 0 };

    open_context();
    ok(ptxiCtxSetWorkers(NULL, 1)); /* else memory depends on the order of CTAs */
    for (unsigned k = 0; k < count; k++)
        check_program((unsigned)_i * 1000003 + k, &endings);
    ck_assert_msg(endings.success > count / 4 && endings.fault > count / 50 && endings.limit > count / 50,
                  "%u launches succeeded, %u had a fault, %u reached the limit", endings.success, endings.fault,
                  endings.limit);
    close_context();
}
END_TEST

START_TEST(settings)
{
    ptxiTier tier;

    open_context();
    ck_result(ptxiCtxSetTier(NULL, (ptxiTier)3), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxGetTier(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    for (int t = PTXI_TIER_AUTO; t <= PTXI_TIER_NATIVE; t++) {
        ok(ptxiCtxSetTier(NULL, (ptxiTier)t));
        ok(ptxiCtxGetTier(NULL, &tier));
        ck_assert_int_eq(tier, t);
    }
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tiers");
    TCase *tc = tcase_create("tiers");
    SRunner *sr;
    int failed;

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, random_programs, 0, 4);
    tcase_add_test(tc, rounds_lane_by_lane_are_paid_for);
    tcase_add_test(tc, settings);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
