/* Tests index registers (exec/engine/row_register.h): random programs of integer operations, branches and loops, in
 * which lanes diverge, values wrap, and a few values are no rows. At the end each bit of each register is found by a
 * comparison. The reference is the same program that also stores the registers, which makes the compiler use plain
 * ones. */
#include "unit/support/context.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { REGS = 6, PROGRAMS = 60, THREADS = 96, CTAS = 3, DEPTH = 3 };

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % n;
}

/* A constant that is small, or large enough for sums to wrap. */
static uint32_t draw_number(struct random *r)
{
    static const uint32_t large[] = { INT32_MAX - 40, (uint32_t)INT32_MIN + 20, UINT32_MAX - 50, 0x10000001 };

    return draw(r, 4) ? draw(r, 9) : large[draw(r, 4)];
}

/* A register or a launch-invariant value. */
static void put_operand(struct random *r, struct ptxi_str *s)
{
    if (draw(r, 4))
        ptxi_str_printf(s, "%%r%u", draw(r, REGS));
    else if (draw(r, 3))
        ptxi_str_printf(s, "%u", draw_number(r));
    else
        ptxi_str_puts(s, draw(r, 2) ? "%t" : "%n");
}

static void put_comparison(struct random *r, struct ptxi_str *s)
{
    static const char *const comparisons[] = { "eq.s32", "ne.s32", "lt.s32", "le.s32", "gt.s32",
                                               "ge.s32", "lt.u32", "le.u32", "gt.u32", "ge.u32" };

    ptxi_str_printf(s, "setp.%s %%p, ", comparisons[draw(r, 10)]);
    put_operand(r, s);
    ptxi_str_puts(s, ", ");
    put_operand(r, s);
    ptxi_str_puts(s, ";\n");
}

static void put_operation(struct random *r, struct ptxi_str *s)
{
    static const char *const names[] = { "add.s32", "sub.s32", "mul.lo.s32", "mad.lo.s32", "shl.b32", "mov.u32" };
    static const unsigned counts[] = { 2, 2, 2, 3, 2, 1 };
    uint32_t k = draw(r, 6);

    if (!draw(r, 5)) {
        put_comparison(r, s);
        ptxi_str_printf(s, "@%s%%p ", draw(r, 2) ? "!" : "");
    }
    if (!draw(r, 6)) {
        ptxi_str_printf(s, "mov.u32 %%r%u, %%ctaid.x;\n", draw(r, REGS));
        return;
    }
    ptxi_str_printf(s, "%s %%r%u", names[k], draw(r, REGS));
    for (unsigned n = 0; n < counts[k]; n++) {
        ptxi_str_puts(s, ", ");
        put_operand(r, s);
    }
    ptxi_str_puts(s, ";\n");
}

/* *labels: number of labels in the program. */
static void put_block(struct random *r, struct ptxi_str *s, unsigned depth, unsigned *labels)
{
    for (uint32_t k = 1 + draw(r, 4); k; k--) {
        unsigned label = ++*labels;

        put_operation(r, s);
        if (!depth)
            continue;
        if (!draw(r, 3)) {
            put_comparison(r, s);
            ptxi_str_printf(s, "@%%p bra E%u;\n", label);
            put_block(r, s, depth - 1, labels);
            ptxi_str_printf(s, "bra D%u;\nE%u:\n", label, label);
            put_block(r, s, depth - 1, labels);
            ptxi_str_printf(s, "D%u:\n", label);
        } else if (!draw(r, 4)) {
            /* lanes leave the loop at different times, at the latest after some rounds */
            ptxi_str_printf(s, "mov.u32 %%k%u, %s;\nL%u:\n", depth, draw(r, 2) ? "0" : "%t", label);
            put_block(r, s, depth - 1, labels);
            put_comparison(r, s);
            ptxi_str_printf(s, "@%%p bra D%u;\nadd.s32 %%k%u, %%k%u, 9;\n", label, depth, depth);
            ptxi_str_printf(s, "setp.lt.s32 %%p, %%k%u, 40;\n@%%p bra L%u;\nD%u:\n", depth, label, label);
        }
    }
}

static void put_program(struct random *r, struct ptxi_str *s, bool plain)
{
    unsigned labels = 0;

    ptxi_str_puts(s, ".version 8.0\n.target sm_90\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u64 scratch, .param .u32 n)\n"
                     "{ .reg .b32 %t, %n, %r<6>, %k<9>, %q, %m, %v; .reg .b64 %o, %s, %e; .reg .pred %p;\n"
                     "ld.param.u64 %o, [out]; ld.param.u64 %s, [scratch]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;\n"
                     "mov.u32 %v, %tid.y; mov.u32 %m, %ntid.x; mad.lo.u32 %v, %v, %m, %t; mov.u32 %m, %ctaid.x;\n"
                     "mad.lo.u32 %v, %m, 96, %v; mul.wide.u32 %e, %v, 24; add.s64 %o, %o, %e;\n");
    for (unsigned k = 0; k < REGS; k++)
        ptxi_str_printf(s, "mad.lo.u32 %%r%u, %%t, %u, %u;\n", k, k % 3 ? draw(r, 3) : 0, draw_number(r));
    put_block(r, s, DEPTH, &labels);
    for (unsigned k = 0; k < REGS; k++) {
        ptxi_str_puts(s, "mov.u32 %m, 0;\n");
        for (unsigned b = 0; b < 32; b++)
            ptxi_str_printf(s, "shl.b32 %%q, %%r%u, %u; setp.lt.s32 %%p, %%q, 0; selp.u32 %%v, %u, 0, %%p; "
                            "or.b32 %%m, %%m, %%v;\n", k, 31 - b, UINT32_C(1) << b);
        ptxi_str_printf(s, "st.global.u32 [%%o+%u], %%m;\n", 4 * k);
        if (plain)
            ptxi_str_printf(s, "st.global.u32 [%%s], %%r%u;\n", k);
    }
    ptxi_str_puts(s, "ret; }\n");
}

struct values {
    uint32_t r[CTAS * THREADS][REGS];
};

static void run_program(struct random r, bool plain, const unsigned block[2], uint32_t n, struct values *values)
{
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr out, scratch;
    struct ptxi_str s;
    void *params[] = { &out, &scratch, &n };

    ptxi_str_init(&s, NULL);
    put_program(&r, &s, plain);
    ok(ptxiModuleLoadData(&m, ptxi_str_text(&s)));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&out, sizeof *values));
    ok(ptxiMemAlloc(&scratch, 4));
    ok(ptxiLaunchKernel(f, CTAS, 1, 1, block[0], block[1], 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(values, out, sizeof *values));
    ok(ptxiMemFree(out));
    ok(ptxiMemFree(scratch));
    ok(ptxiModuleUnload(m));
    ptxi_str_free(&s);
}

START_TEST(index_registers_change_nothing)
{
    static const unsigned blocks[][2] = { { 96, 1 }, { 32, 3 }, { 16, 6 }, { 48, 2 }, { 80, 1 } };
    static struct values index, plain;
    const struct random r = { (uint64_t)_i };

    open_context();
    for (unsigned b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        const uint32_t n = b % 2 ? 7 : UINT32_MAX - 3;

        run_program(r, false, blocks[b], n, &index);
        run_program(r, true, blocks[b], n, &plain);
        for (unsigned t = 0; t < CTAS * THREADS; t++)
            for (unsigned k = 0; k < REGS; k++)
                ck_assert_msg(index.r[t][k] == plain.r[t][k],
                              "program %d, block %u x %u, thread %u, register %u: %x, %x", _i, blocks[b][0],
                              blocks[b][1], t, k, index.r[t][k], plain.r[t][k]);
    }
    close_context();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("index_register");
    TCase *t = tcase_create("index_register");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, index_registers_change_nothing, 0, PROGRAMS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
