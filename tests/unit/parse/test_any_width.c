/* Tests integers of any width (PTXI_DIALECT_ANY_WIDTH) against arithmetic on the widest integers of the host. */
#include "unit/support/context.h"

#include <string.h>

enum { N = 64 };

typedef __int128 wide;

/* Returns the lowest bits as a number. */
static wide truncate_bits(uint64_t x, unsigned bits, char letter)
{
    uint64_t low = bits < 64 ? x & ((UINT64_C(1) << bits) - 1) : x;

    return letter == 's' && low >> (bits - 1) & 1 ? (wide)low - ((wide)1 << bits) : (wide)low;
}

#define OP(name, expression) \
    static wide name(wide a, wide b, unsigned bits) \
    { \
        (void)b, (void)bits; \
        return expression; \
    }
OP(add, a + b)
OP(sub, a - b)
OP(mul, a * b)
OP(mad, a * b + a)
OP(quotient, b ? a / b : 0)
OP(rest, b ? a % b : 0)
OP(least, a < b ? a : b)
OP(most, a > b ? a : b)
OP(and, a & b)
OP(exclusive, a ^ b)
OP(negation, -a)
OP(inverse, ~a)
OP(left, (b & 63) < bits ? a << (b & 63) : 0)
OP(right, (b & 63) < bits ? a >> (b & 63) : a < 0 ? -1 : 0)
OP(less, a < b)
OP(copied, a)

#define SHIFT "{ .reg .b32 n; cvt.u32.u%u n, %%2; and.b32 n, n, 63; "
static const struct {
    /* %% c and u are replaced by the type letter and the width, and the register widths follow in the order of
     * `form` */
    const char *text;
    const char *letters;
    wide (*want)(wide, wide, unsigned);
    enum { PLAIN, SHIFTED } form;
} ops[] = {
    { "add.%c%u %%0, %%1, %%2;", "su", add, PLAIN },       { "sub.%c%u %%0, %%1, %%2;", "su", sub, PLAIN },
    { "mul.lo.%c%u %%0, %%1, %%2;", "su", mul, PLAIN },    { "mad.lo.%c%u %%0, %%1, %%2, %%1;", "su", mad, PLAIN },
    { "div.%c%u %%0, %%1, %%2;", "su", quotient, PLAIN },  { "rem.%c%u %%0, %%1, %%2;", "su", rest, PLAIN },
    { "min.%c%u %%0, %%1, %%2;", "su", least, PLAIN },     { "max.%c%u %%0, %%1, %%2;", "su", most, PLAIN },
    { "and.%c%u %%0, %%1, %%2;", "b", and, PLAIN },        { "xor.%c%u %%0, %%1, %%2;", "b", exclusive, PLAIN },
    { "neg.%c%u %%0, %%1;", "s", negation, PLAIN },        { "not.%c%u %%0, %%1;", "b", inverse, PLAIN },
    { "shl.%c%u %%0, %%1, n; }", "b", left, SHIFTED },     { "shr.%c%u %%0, %%1, n; }", "sub", right, SHIFTED },
    { "{ .reg .pred p; setp.lt.%c%u p, %%1, %%2; mov.b%u %%0, 0; @p mov.b%u %%0, 1; }", "su", less, PLAIN },
    { "mov.%c%u %%0, %%1;", "sub", copied, PLAIN },
};

static uint64_t next(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static const char *template(unsigned op, char letter, unsigned bits, unsigned reg)
{
    static char text[256];
    int n = ops[op].form == SHIFTED ? snprintf(text, sizeof text, SHIFT, reg) : 0;

    snprintf(text + n, sizeof text - (size_t)n, ops[op].text, letter, bits, reg, reg);
    return text;
}

/* The upper bits of registers are arbitrary. Only the lowest bits count. */
static void check_width(unsigned op, char letter, unsigned bits, unsigned reg, uint64_t seed)
{
    static uint64_t a[N], b[N], y[N];
    unsigned bytes = reg / 8;

    for (unsigned i = 0; i < N; i++) {
        uint64_t x = next(&seed), z = i % 4 ? next(&seed) : ~UINT64_C(0) >> (i % 64);

        memcpy((char *)a + i * bytes, &x, bytes);
        memcpy((char *)b + i * bytes, &z, bytes);
    }
    const char *text = template(op, letter, bits, reg);

    ok(ptxiAsmArrays(text, reg == 64 ? "=l,l,l" : reg == 32 ? "=r,r,r" : "=h,h,h", N, (void *[]){ y, a, b }));
    for (unsigned i = 0; i < N; i++) {
        uint64_t x = 0, z = 0, got = 0;

        memcpy(&x, (char *)a + i * bytes, bytes);
        memcpy(&z, (char *)b + i * bytes, bytes);
        memcpy(&got, (char *)y + i * bytes, bytes);
        if ((ops[op].want == quotient || ops[op].want == rest) && !truncate_bits(z, bits, letter))
            continue; /* no GPU defines this result */
        bool shift = ops[op].form == SHIFTED;
        wide want =
            ops[op].want(truncate_bits(x, bits, letter), shift ? (wide)z : truncate_bits(z, bits, letter), bits);
        uint64_t w = ops[op].want == less ? (uint64_t)want : (uint64_t)truncate_bits((uint64_t)want, bits, letter);

        w = reg == 64 ? w : w & ((UINT64_C(1) << reg) - 1);
        ck_assert_msg(got == w, "%s: %#llx, %#llx give %#llx, not %#llx", text, (unsigned long long)x,
                      (unsigned long long)z,
                      (unsigned long long)got, (unsigned long long)w);
    }
}

START_TEST(every_operation)
{
    static const unsigned char widths[] = { 2, 7, 8, 9, 17, 31, 33, 48, 63 }, regs[] = { 16, 32, 64 };

    ok(ptxiCtxSetDialect(NULL, PTXI_DIALECT_ANY_WIDTH));
    for (const char *letter = ops[_i].letters; *letter; letter++)
        for (unsigned w = 0; w < sizeof widths; w++)
            for (unsigned r = 0; r < sizeof regs; r++)
                if (widths[w] < regs[r])
                    check_width((unsigned)_i, *letter, widths[w], regs[r], (uint64_t)_i << 8 | w);
}
END_TEST

START_TEST(constants_guards_and_other_types)
{
    unsigned y = 7, x = 0xffff, zero = 0;
    unsigned long long l = 0xffffffffff, bits;

    ok(ptxiCtxSetDialect(NULL, PTXI_DIALECT_ANY_WIDTH));
    ok(ptxiAsm("add.s17 %0, %1, 1;", "=r,r", &y, &x));
    ck_assert_uint_eq(y, 0xffff0000); /* -65536 */
    ok(ptxiAsm("add.u17 %0, 131071, 2;", "=r", &y));
    ck_assert_uint_eq(y, 1);
    ok(ptxiAsm("{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.u32 %0, 5; @p add.s5 %0, %0, 20; @!p add.s5 %0, %0, 12; }",
               "+r,r", &y, &zero));
    ck_assert_uint_eq(y, 0xfffffff1); /* 17 - 32 */
    ok(ptxiAsm("popc.b40 %0, %1;", "=r,l", &y, &l));
    ck_assert_uint_eq(y, 40);
    ok(ptxiAsm("set.lt.u32.s40 %0, %1, 0;", "=r,l", &y, &l));
    ck_assert_uint_eq(y, 0xffffffff);
    ok(ptxiAsm("{ .reg .pred p, q; setp.lt.s40 p|q, %1, 0; selp.b40 %0, 1, 2, q; }", "=l,l", &bits, &l));
    ck_assert_uint_eq(bits, 2);
}
END_TEST

static void check_error(const char *text, const char *constraints, const char *expected_text)
{
    ptxiDiagnostic d = { .size = sizeof d };
    unsigned long long v[3];

    ck_result(ptxiAsm(text, constraints, &v[0], &v[1], &v[2]), PTXI_ERROR_INVALID_PTX);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_msg(strstr(d.message, expected_text), "'%s' does not say '%s'", d.message, expected_text);
}

START_TEST(unsupported_forms_are_refused)
{
    unsigned y, x = 1;

    check_error("add.s17 %0, %1, %1;", "=r,r", "'add' has no modifier '.s17'");
    ok(ptxiCtxSetDialect(NULL, PTXI_DIALECT_ANY_WIDTH));
    ok(ptxiAsm("add.s17 %0, %1, %1;", "=r,r", &y, &x));
    check_error("mul.hi.s17 %0, %1, %1;", "=r,r", "no modifier '.s17'");
    check_error("add.sat.s17 %0, %1, %1;", "=r,r", "no modifier '.s17'");
    check_error("add.s65 %0, %1, %1;", "=l,l", "no modifier '.s65'");
    check_error("add.s0 %0, %1, %1;", "=l,l", "no modifier '.s0'");
    check_error("add.s017 %0, %1, %1;", "=r,r", "no modifier '.s017'");
    check_error("clz.b17 %0, %1;", "=r,r", "no modifier '.b17'");
    check_error("add.s40 %0, %1, %1;", "=r,r", "'%0' is a .b32 register");
    check_error("add.s17 %0, %1, %2;", "=r,r,f", "is a .f32 register");
    check_error("add.s17 %0, %1;", "=r,r", "");
    ck_result(ptxiCtxSetDialect(NULL, 4), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiCtxSetDialect(NULL, PTXI_DIALECT_NONE));
    check_error("add.s17 %0, %1, %1;", "=r,r", "'add' has no modifier '.s17'");
}
END_TEST

START_TEST(modules_with_the_dialect)
{
    static char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { .reg .b32 a; "
                         "add.u3 a, a, 1; }";
    ptxiJitOption option = PTXI_JIT_DIALECT;
    void *value = (void *)(PTXI_DIALECT_ANY_WIDTH | PTXI_DIALECT_OCELOT), *image;
    ptxiLinkState state;
    ptxiModule m;

    ck_result(ptxiModuleLoadData(&m, text), PTXI_ERROR_INVALID_PTX);
    ok(ptxiModuleLoadDataEx(&m, text, 1, &option, &value));
    ok(ptxiModuleUnload(m));
    ok(ptxiLinkCreate(1, &option, &value, &state));
    ok(ptxiLinkAddData(state, PTXI_JIT_INPUT_PTX, text, sizeof text, "a", 0, NULL, NULL));
    ok(ptxiLinkComplete(state, &image, NULL));
    ok(ptxiModuleLoadDataEx(&m, image, 1, &option, &value));
    ok(ptxiLinkDestroy(state));
    value = (void *)4;
    ck_result(ptxiModuleLoadDataEx(&m, text, 1, &option, &value), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("width");
    TCase *t = tcase_create("width");

    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_loop_test(t, every_operation, 0, sizeof ops / sizeof *ops);
    tcase_add_test(t, constants_guards_and_other_types);
    tcase_add_test(t, unsupported_forms_are_refused);
    tcase_add_test(t, modules_with_the_dialect);
    suite_add_tcase(s, t);
    return run_suite(s);
}
