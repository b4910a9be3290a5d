/* add, sub, mul and fma on four elements of 8, 6 and 4 bits, as PTX text. All pairs of elements are computed, and each
 * pair of factors with a random addend. The reference uses no code of the library. */
#include "unit/support/context.h"

#include <math.h>
#include <string.h>

#include "unit/support/bits.h"
#include "unit/support/minifloat_reference.h"

/* The formats of operands. UE8M0 has the value 2^(code - 127). */
enum { UE8M0 = UE5M3 + 1 };
static const struct type {
    const char *name;
    int format, bits, distance; /* bits of an element, and between elements */
} types[] = {
    { "e5m2x4", E5M2, 8, 8 }, { "e4m3x4", E4M3, 8, 8 }, { "e3m2x4", E3M2, 6, 8 }, { "e2m3x4", E2M3, 6, 8 },
    { "e2m1x4", E2M1, 4, 4 }, { "e2m1p4x4", E2M1, 4, 8 }, { "ue8m0x4", UE8M0, 8, 8 },
};
enum { TYPES = sizeof types / sizeof *types, RESULT_TYPES = 2 };
enum operation { ADD, SUB, MUL, FMA };
static const char *const names[] = { "add", "sub", "mul", "fma" };

static double value(const struct type *t, unsigned code)
{
    if (t->format == UE8M0)
        return code == 0xff ? NAN : ldexp(1, (int)code - 127);
    return small_number(&smalls[t->format], code);
}

/* p + c, close enough to the exact sum to round to the same code. c is a code of the result's type, whose numbers are
 * multiples of 2^-16 below 2^16. A product has 8 bits at most. */
static double sum(double p, double c)
{
    if (!isfinite(p) || !isfinite(c) || c == 0)
        return p + c;
    if (fabs(p) > 0x1p20)
        return p;
    return p != 0 && fabs(p) < 0x1p-30 ? c : p + c;
}

static unsigned result(const struct type *t, double x, bool finite)
{
    static const struct small beyond = { 3, 4, 7, 0x7f, 0x7f, false }; /* e4m3 whose NaN is a number */
    unsigned code;

    if (finite || t->format != E4M3)
        return small_code(&smalls[t->format], x, SMALL_RN, finite, 0, 0);
    code = small_code(&beyond, x, SMALL_RN, true, 0, 0);
    return (code & 0x7f) == 0x7f ? 0x7f : code;
}

static unsigned expected(enum operation op, const struct type *const t[3], const unsigned code[3], bool finite)
{
    double a = value(t[0], code[0]), b = value(t[1], code[1]), c = value(t[2], code[2]);

    switch (op) {
    case ADD: return result(t[2], sum(a, c), finite);
    case SUB: return result(t[2], sum(a, -c), finite);
    case MUL: return result(t[2], a * b, finite);
    default: return result(t[2], sum(a * b, c), finite);
    }
}

/* The kernel reads its operands as three registers, and writes one. */
static void write_text(char *text, size_t size, enum operation op, const struct type *const t[3], bool finite)
{
    const char *a = strcmp(t[0]->name, "e2m1x4") ? "%r0" : "%h0", *b = strcmp(t[1]->name, "e2m1x4") ? "%r1" : "%h1";
    char types_text[64], operands[64];

    if (op == ADD || op == SUB) {
        snprintf(types_text, sizeof types_text, ".%s.%s", t[2]->name, t[0]->name);
        snprintf(operands, sizeof operands, "%s, %%r2", a);
    } else {
        snprintf(types_text, sizeof types_text, ".%s.%s.%s", t[2]->name, t[0]->name, t[1]->name);
        snprintf(operands, sizeof operands, "%s, %s%s", a, b, op == FMA ? ", %r2" : "");
    }
    snprintf(text, size,
             ".version 9.4\n.target sm_100a\n.address_size 64\n"
             ".visible .entry k(.param .u64 p)\n{\n"
             "  .reg .b64 %%d<4>; .reg .b32 %%r<9>; .reg .b16 %%h<3>;\n"
             "  ld.param.u64 %%d0, [p];\n"
             "  mov.u32 %%r3, %%ctaid.x; mov.u32 %%r4, %%tid.x; mad.lo.u32 %%r3, %%r3, 256, %%r4;\n"
             "  mad.wide.u32 %%d0, %%r3, 16, %%d0;\n"
             "  ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r5}, [%%d0]; cvt.u16.u32 %%h0, %%r0; cvt.u16.u32 %%h1, %%r1;\n"
             "  %s%s%s %%r6, %s;\n"
             "  st.global.b32 [%%d0+12], %%r6;\n"
             "  ret;\n}\n", names[op], finite ? ".satfinite" : "", types_text, operands);
}

/* A register with four elements. */
static uint32_t packed(const struct type *t, const unsigned *codes)
{
    uint32_t r = 0;

    for (int k = 0; k < 4; k++)
        r |= (uint32_t)codes[k] << t->distance * k;
    return r;
}

enum { MOST_PAIRS = 65536 };
struct row {
    uint32_t a, b, c, d;
};

static void run(const char *text, struct row *rows, unsigned count)
{
    ptxiModule module;
    ptxiFunction function;
    ptxiDevicePtr p;
    void *params[] = { &p };

    ok(ptxiModuleLoadData(&module, text));
    ok(ptxiModuleGetFunction(&function, module, "k"));
    ok(ptxiMemAlloc(&p, count * sizeof *rows));
    ok(ptxiMemcpyHtoD(p, rows, count * sizeof *rows));
    ok(ptxiLaunchKernel(function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(rows, p, count * sizeof *rows));
    ok(ptxiMemFree(p));
    ok(ptxiModuleUnload(module));
}

/* The codes of position n: all pairs of a and the other operand, and a random third one. */
static void codes_of(unsigned codes[3], enum operation op, const struct type *const t[3], unsigned n, uint32_t random)
{
    int other = op == ADD || op == SUB ? 2 : 1;

    codes[0] = n & ((1u << t[0]->bits) - 1);
    codes[other] = n >> t[0]->bits & ((1u << t[other]->bits) - 1);
    codes[3 - other] = random >> 24;
    if (3 - other == 1)
        codes[1] &= (1u << t[1]->bits) - 1;
}

static void check_types(enum operation op, const struct type *const t[3], bool finite)
{
    static struct row rows[MOST_PAIRS / 4 + 256];
    int other = op == ADD || op == SUB ? 2 : 1;
    unsigned pairs = 1u << (t[0]->bits + t[other]->bits), count = pairs / 4, codes[4][3];
    uint32_t seed = 12345;
    char text[2000];

    for (int pass = 0; pass < 2; pass++) {
        for (unsigned l = 0; l < count; l++) {
            for (unsigned k = 0; k < 4; k++) {
                unsigned n = 4 * l + k;

                codes_of(codes[k], op, t, n, (n + 1) * 2654435761u ^ seed);
            }
            if (pass == 0) {
                unsigned of[3][4];

                for (int x = 0; x < 12; x++)
                    of[x / 4][x % 4] = codes[x % 4][x / 4];
                rows[l] = (struct row){ packed(t[0], of[0]), packed(t[1], of[1]), packed(t[2], of[2]), 0 };
                continue;
            }
            for (unsigned k = 0; k < 4; k++) {
                unsigned want = expected(op, t, codes[k], finite), got = rows[l].d >> 8 * k & 0xff;

                ck_assert_msg(want == got, "%s%s.%s.%s.%s: %#x, %#x, %#x: %#x, want %#x", names[op],
                              finite ? ".satfinite" : "", t[2]->name, t[0]->name, t[1]->name, codes[k][0],
                              codes[k][1], codes[k][2], got, want);
            }
        }
        if (pass == 0) {
            write_text(text, sizeof text, op, t, finite);
            run(text, rows, (count + 255) / 256 * 256);
        }
    }
}

START_TEST(all_pairs_of_elements)
{
    for (int d = 0; d < RESULT_TYPES; d++)
        for (int a = 0; a < TYPES; a++)
            for (int b = 0; b < (_i < MUL ? 1 : TYPES); b++)
                for (int finite = 0; finite < 2; finite++)
                    check_types((enum operation)_i, (const struct type *const[]){ &types[a], &types[b], &types[d] },
                                finite);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("minifloats");
    TCase *t = tcase_create("minifloats");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, all_pairs_of_elements, ADD, FMA + 1);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return run_suite(s);
}
