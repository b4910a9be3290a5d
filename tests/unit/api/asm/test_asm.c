/* Tests inline assembly that the host evaluates: operands, templates, and the positions of errors in a template. */
#include "unit/support/context.h"

#include <string.h>

enum { WARP = 32 };

START_TEST(operands_of_every_kind)
{
    unsigned short h = 40000, h2;
    unsigned r = 0x80000001, r2;
    unsigned long long l = 1ull << 40, l2, q[2] = { 1, 2 }, q2[2];
    float f = 0.5f, f2;
    double d = 0.25, d2;
    long long n = -5;

    ok(ptxiAsm("add.u16 %0, %1, %1;", "=h,h", &h2, &h));
    ck_assert_uint_eq(h2, (unsigned short)80000);
    ok(ptxiAsm("add.u32 %0, %1, %2;", "=r,r,n", &r2, &r, &n));
    ck_assert_uint_eq(r2, 0x7ffffffc);
    ok(ptxiAsm("shl.b64 %0, %1, 3;", "=l,l", &l2, &l));
    ck_assert_uint_eq(l2, 1ull << 43);
    ok(ptxiAsm("fma.rn.f32 %0, %1, %1, %1;", "=f,f", &f2, &f));
    ck_assert(f2 == 0.75f);
    ok(ptxiAsm("mul.rn.f64 %0, %1, %1;", "=d,d", &d2, &d));
    ck_assert(d2 == 0.0625);
    ok(ptxiAsm("{ .reg .b64 %a, %b; mov.b128 {%a, %b}, %1; mov.b128 %0, {%b, %a}; }", "=q,q", q2, q));
    ck_assert(q2[0] == 2 && q2[1] == 1);
    ok(ptxiAsm("%1.b32 %0, %2, 1;", "=r,C,r", &r2, "xor", &r));
    ck_assert_uint_eq(r2, 0x80000000);
}
END_TEST

/* The cube example of "Inline PTX Assembly" in the CUDA documentation. */
static const char cube[] = "{\n\t.reg .u32 t1;\n\tmul.lo.u32 t1, %1, %1;\n\tmul.lo.u32 %0, t1, %1;\n\t}";

START_TEST(scopes_and_several_statements)
{
    unsigned x = 1000, y, z;

    ok(ptxiAsm(cube, "=r,r", &y, &x));
    ck_assert_uint_eq(y, 1000000000);
    ok(ptxiAsm("{.reg .u32 t1; add.u32 t1, %2, 1; mov.u32 %0, t1;} {.reg .u32 t1; sub.u32 t1, %2, 1; mov.u32 %1, t1;}",
               "=r,=r,r", &y, &z, &x));
    ck_assert(y == 1001 && z == 999);
    ck_result(ptxiAsm(".reg .u32 t1; add.u32 t1, %1, 1; mov.u32 %0, t1;\n.reg .u32 t1;", "=r,r", &y, &x),
              PTXI_ERROR_INVALID_PTX);
    ok(ptxiAsm("mov.u32 %0, 0; L: add.u32 %0, %0, 3; { .reg .pred %p; setp.lt.u32 %p, %0, %1; @%p bra L; }", "=r,r", &y,
               &x));
    ck_assert_uint_eq(y, 1002);
    ok(ptxiAsm("", ""));
    ok(ptxiAsm("// %9 { nothing", ""));
    ok(ptxiAsm("mov.u32 %0, %1; /* %7 } */ // }", "=r,r", &y, &x));
    ck_assert_uint_eq(y, x);
}
END_TEST

/* A conditional write needs a "+" operand, which keeps its value when nothing is written. */
START_TEST(read_and_write_operands)
{
    static const char cond[] = "{ .reg .pred %p; setp.eq.s32 %p, %1, 34; @%p mov.s32 %0, 1; }";
    unsigned x = 34, y = 0;

    ok(ptxiAsm(cond, "+r,r", &y, &x));
    ck_assert_uint_eq(y, 1);
    x = 35, y = 77;
    ok(ptxiAsm(cond, "+r,r", &y, &x));
    ck_assert_uint_eq(y, 77);
    /* the asm statement has its own copy of an input */
    ok(ptxiAsm("add.u32 %1, %1, 1; add.u32 %0, %0, %1;", "+r,r", &y, &x));
    ck_assert(y == 77 + 36 && x == 35);
}
END_TEST

START_TEST(percent_signs_and_numbers)
{
    unsigned y, v[12];

    ok(ptxiAsm("mov.u32 %0, %%laneid;", "=r", &y));
    ck_assert_uint_eq(y, 0);
    ok(ptxiAsm("{ .reg .u32 %%t; mov.u32 %%t, 7 %% 4; mov.u32 %0, %%t; }", "=r", &y));
    ck_assert_uint_eq(y, 3);
    for (unsigned i = 0; i < 12; i++)
        v[i] = 1u << i;
    ok(ptxiAsm("add.u32 %0, %11, %1; add.u32 %0, %0, %10;", "=r,r,r,r,r,r,r,r,r,r,r,r", &y, &v[1], &v[2], &v[3], &v[4],
               &v[5], &v[6],
               &v[7], &v[8], &v[9], &v[10], &v[11]));
    ck_assert_uint_eq(y, 1u << 11 | 1u << 1 | 1u << 10);
}
END_TEST

/* Threads of one warp, of one block, and of many blocks. */
START_TEST(arrays)
{
    enum { MAX_COUNT = 3000 };
    static unsigned x[MAX_COUNT], y[MAX_COUNT];
    const size_t counts[] = { 1, 32, 100, 1024, 1025, 2 * 256 + 1, MAX_COUNT };

    for (unsigned i = 0; i < MAX_COUNT; i++)
        x[i] = 3 * i;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        memset(y, 0xee, sizeof y);
        ok(ptxiAsmArrays("mad.lo.u32 %0, %1, 2, 1;", "=r,r", counts[k], (void *[]){ y, x }));
        for (unsigned i = 0; i < MAX_COUNT; i++)
            ck_assert_uint_eq(y[i], i < counts[k] ? 6 * i + 1 : 0xeeeeeeee);
    }
    ok(ptxiAsmArrays("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;", "=r,r", 64, (void *[]){ y, x }));
    for (unsigned i = 0; i < 64; i++)
        ck_assert_uint_eq(y[i], x[i ^ 1]);
    ok(ptxiAsmArrays("{ .shared .u32 s; atom.shared.add.u32 %0, [s], 0; bar.sync 0; atom.shared.add.u32 %0, [s], 1; "
                     "bar.sync 0;\n"
                     "ld.shared.u32 %0, [s]; }", "=r", 1000, (void *[]){ y }));
    ck_assert_uint_eq(y[999], 1000);
    ok(ptxiAsmArrays("mov.u32 %0, 1;", "=r", 0, (void *[]){ y }));
}
END_TEST

/* Warp collectives: suffix sums and sums over the warp. */
START_TEST(shuffles)
{
    static unsigned x[128], y[128];

    for (unsigned i = 0; i < 128; i++)
        x[i] = 1;
    ok(ptxiAsmArrays(".reg .u32 Rx, Ry;\n.reg .pred p;\nmov.b32 Rx, %1;\n"
                     "shfl.sync.down.b32 Ry|p, Rx, 1, 31, -1; @p add.u32 Rx, Ry, Rx;\n"
                     "shfl.sync.down.b32 Ry|p, Rx, 2, 31, -1; @p add.u32 Rx, Ry, Rx;\n"
                     "shfl.sync.down.b32 Ry|p, Rx, 4, 31, -1; @p add.u32 Rx, Ry, Rx;\n"
                     "shfl.sync.down.b32 Ry|p, Rx, 8, 31, -1; @p add.u32 Rx, Ry, Rx;\n"
                     "shfl.sync.down.b32 Ry|p, Rx, 16, 31, -1; @p add.u32 Rx, Ry, Rx;\nmov.b32 %0, Rx;",
                     "=r,r", 128, (void *[]){ y, x }));
    for (unsigned i = 0; i < 128; i++)
        ck_assert_uint_eq(y[i], WARP - i % WARP);
    for (unsigned i = 0; i < 128; i++)
        x[i] = i;
    ok(ptxiAsmArrays("{ .reg .u32 Ry; mov.u32 %0, %1;\n"
                     "shfl.sync.bfly.b32 Ry, %0, 16, 31, -1; "
                     "add.u32 %0, Ry, %0;\nshfl.sync.bfly.b32 Ry, %0, 8, 31, -1; add.u32 %0, Ry, %0;\n"
                     "shfl.sync.bfly.b32 Ry, %0, 4, 31, -1; add.u32 %0, Ry, %0;\nshfl.sync.bfly.b32 Ry, %0, 2, 31, -1; "
                     "add.u32 %0, Ry, %0;\n"
                     "shfl.sync.bfly.b32 Ry, %0, 1, 31, -1; add.u32 %0, Ry, %0; }", "=r,r", 128, (void *[]){ y, x }));
    for (unsigned i = 0; i < 128; i++)
        ck_assert_uint_eq(y[i], 496 + 1024 * (i / WARP));
}
END_TEST

/* Unusual spellings that are legal. */
START_TEST(unusual_spellings)
{
    unsigned x = 5, y, z;
    float f;

    ok(ptxiAsm("mov.u32 %0, WARP_SZ * 2;", "=r", &y));
    ck_assert_uint_eq(y, 2 * WARP);
    ok(ptxiAsm("mov.b32 { %0 }, %1;", "=r,r", &y, &x));
    ck_assert_uint_eq(y, 5);
    ok(ptxiAsm("mov.f32 %0, 0f3f800000; add.f32 %0, %0, 1.0;", "=f", &f));
    ck_assert(f == 2);
    ok(ptxiAsm("{ .shared .align 8 .b32 s[8]; .reg .b32 p; mov.u32 p, s; st.shared.v2.u32 [p+16], {%2, 7}; "
               "ld.shared.v2.u32 {%0, %1}, [p+16]; }",
               "=r,=r,r", &y, &z, &x));
    ck_assert(y == 5 && z == 7);
    ok(ptxiAsm("pmevent 1; griddepcontrol.wait; nanosleep.u32 20; exit;", ""));
    ok(ptxiAsm("mov.u32 %0, %%clock; mov.u32 %1, %%clock;", "=r,=r", &y, &z));
    ck_assert_uint_ne(y, z);
}
END_TEST

START_TEST(addresses_are_generic)
{
    ptxiDevicePtr p;
    unsigned x = 42, y;

    ok(ptxiMemAlloc(&p, 4));
    ok(ptxiAsm("st.u32 [%0], %1;", "l,r", &p, &x));
    ok(ptxiAsm("ld.global.u32 %0, [%1];", "=r,l", &y, &p));
    ck_assert_uint_eq(y, 42);
}
END_TEST

/* Checks the position and the text of the first error. */
static void check_first_error(unsigned line, unsigned column, unsigned length, const char *message, const char *note)
{
    ptxiDiagnostic d = { .size = sizeof d };

    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_msg(strstr(d.message, message), "'%s' does not say '%s'", d.message, message);
    ck_assert_msg(d.line == line && d.column == column && d.length == length, "%s: %u:%u, %u bytes", d.message, d.line,
                  d.column, d.length);
    if (note) {
        ok(ptxiGetLastDiagnostic(1, &d));
        ck_assert_msg(strstr(d.message, note), "'%s' does not say '%s'", d.message, note);
    }
}

static const struct {
    const char *text, *constraints;
    ptxiResult result;
    unsigned line, column, length;
    const char *message, *note;
} wrong[] = {
    { "mov.u32 %0, %1;", "=r,rf", PTXI_ERROR_INVALID_VALUE, 1, 4, 2, "only one letter", "accepted: h, r, l" },
    { "mov.u32 %0, %1;", "=r,x", PTXI_ERROR_INVALID_VALUE, 1, 4, 1, "unknown constraint", "accepted" },
    { "mov.u32 %0, %1;", "=r,", PTXI_ERROR_INVALID_VALUE, 1, 4, 0, "missing constraint letter", "accepted" },
    { "mov.u32 %0, %1;", "=r r", PTXI_ERROR_INVALID_VALUE, 1, 4, 1, "missing comma", "accepted" },
    { "mov.u32 %0, %1;", "r,=r", PTXI_ERROR_INVALID_VALUE, 1, 3, 2, "an output must not follow an input", "accepted" },
    { "mov.u32 %0, %1;", "=n", PTXI_ERROR_INVALID_VALUE, 1, 1, 2, "a constant cannot be an output", "accepted" },
    { "mov.u32 %0, %2;", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 13, 2, "operand %2 does not exist",
      "operands: %0 \"=r\", %1 \"r\"" },
    { "mov.u32 %0, %n1;", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 13, 3, "use of undeclared name '%n1'", NULL },
    { "mov.u32 %0, %%1;", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 13, 3, "is an operand", NULL },
    { "cvt.f32.s64 %0, %1;", "=f,l", PTXI_ERROR_INVALID_PTX, 1, 1, 11, "requires .(rn|rz|rm|rp)", NULL },
    { "mov.u32 %0, %1;\nmov.f32 %%x, %0;", "=r,r", PTXI_ERROR_INVALID_PTX, 2, 9, 3, "use of undeclared name '%x'",
      NULL },
    { "mov.u32 %0, %%laneid.x;", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 21, 2, "'%laneid' has no element '.x'", NULL },
    { "add.f32 %0, %0, 1;", "+f", PTXI_ERROR_INVALID_PTX, 1, 17, 1, "cannot be an integer constant", NULL },
    { "mov.u32 %0, %1; add.u33 %0, %0, %0;", "=r,n", PTXI_ERROR_INVALID_PTX, 1, 20, 4, "no modifier '.u33'",
      "accepted: add" },
    { "mov.f32 %0, 1.f;", "=f", PTXI_ERROR_INVALID_PTX, 1, 13, 3, "invalid character in a number", NULL },
    { "reg.u32 a;/n/t", "", PTXI_ERROR_INVALID_PTX, 1, 1, 3, "unknown instruction 'reg'", NULL },
    { "mov.u32 %0, 1; }", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 16, 1, "'}' without", NULL },
    { "{ mov.u32 %0, 1; { }", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 1, 1, "'{' without", NULL },
    { "mov.u32 %0, 1 // no semicolon", "=r,r", PTXI_ERROR_INVALID_PTX, 1, 30, 1, "ends in the middle of a statement",
      NULL },
    { "add.f32 %0, %0, %0;", "+d,r", PTXI_ERROR_INVALID_PTX, 1, 9, 2, "%0' is a .f64 register", NULL },
};

START_TEST(errors_point_into_the_template)
{
    unsigned long long out[2] = { 0 }, in = 1;

    ck_result(ptxiAsm(wrong[_i].text, wrong[_i].constraints, out, &in), wrong[_i].result);
    check_first_error(wrong[_i].line, wrong[_i].column, wrong[_i].length, wrong[_i].message, wrong[_i].note);
    ok(ptxiAsm("", ""));
    ptxiDiagnostic d = { .size = sizeof d };
    ck_result(ptxiGetLastDiagnostic(0, &d), PTXI_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(reports_point_into_the_template)
{
    static const char text[] = "mov.u32 %0, %%tid.x;\n  ld.global.u32 %0, [%1 + %2];";
    ptxiReport r = { .size = sizeof r };
    unsigned long long p = 0;
    unsigned y = 5;

    for (int round = 0; round < 2; round++) {
        ck_result(ptxiAsm(text, "=r,l,n", &y, &p, &(long long){ 1000 }), PTXI_ERROR_ILLEGAL_ADDRESS);
        ok(ptxiGetLastReport(NULL, &r));
        ck_assert_uint_eq(r.ptxLine, 2);
        ck_assert_uint_eq(r.ptxColumn, 3);
        ck_assert_msg(strstr(r.text, "<asm>:2:3: error: read of 4 bytes") && strstr(r.text, "[%1 + %2];"), "%s",
                      r.text);
        ck_assert_uint_eq(y, 5);
    }
    ok(ptxiCtxSynchronize());
}
END_TEST

/* Evaluates more templates than the cache holds, and some of them twice. Each constant makes a template of its own. */
START_TEST(many_templates)
{
    unsigned y;

    for (long long i = 0; i < 200; i++) {
        ok(ptxiAsm("mov.u32 %0, %1;", "=r,n", &y, &i));
        ck_assert_uint_eq(y, (unsigned)i);
        ok(ptxiAsm("mov.u32 %0, %1;", "=r,n", &y, &(long long){ 0 }));
        ck_assert_uint_eq(y, 0);
    }
}
END_TEST

START_TEST(arguments)
{
    unsigned y;

    ck_result(ptxiAsm(NULL, "=r", &y), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiAsm("mov.u32 %0, 1;", NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiAsm("mov.u32 %0, 1;", "=r", NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiAsmArrays("mov.u32 %0, 1;", "=r", 1, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiAsmArrays("mov.u32 %0, 1;", "=r", SIZE_MAX / 2, (void *[]){ &y }), PTXI_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(every_profile)
{
    const char *name;
    unsigned y = 0;

    for (unsigned i = 0; ptxiDeviceEnumerateProfile(&name, i) == PTXI_SUCCESS; i++) {
        ptxiContext c;

        ok(ptxiDeviceSetProfile(0, name));
        ok(ptxiCtxCreate(&c, 0, 0));
        ok(ptxiAsm("mov.u32 %0, %1;", "=r,n", &y, &(long long){ i }));
        ck_assert_uint_eq(y, i);
        ok(ptxiCtxDestroy(c));
    }
    ck_assert_uint_gt(y, 10);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("asm");
    TCase *t = tcase_create("asm");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, operands_of_every_kind);
    tcase_add_test(t, scopes_and_several_statements);
    tcase_add_test(t, read_and_write_operands);
    tcase_add_test(t, percent_signs_and_numbers);
    tcase_add_test(t, arrays);
    tcase_add_test(t, shuffles);
    tcase_add_test(t, unusual_spellings);
    tcase_add_test(t, addresses_are_generic);
    tcase_add_loop_test(t, errors_point_into_the_template, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(t, reports_point_into_the_template);
    tcase_add_test(t, many_templates);
    tcase_add_test(t, arguments);
    tcase_add_test(t, every_profile);
    suite_add_tcase(s, t);
    return run_suite(s);
}
