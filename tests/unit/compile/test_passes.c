/* Tests the list of compiler passes with a callback that sees the intermediate code after each pass. */
#include "unit/support/compiled.h"

#include "compile/ir/ir.h"

static struct ptxi_str seen;

static void note_pass(void *ctx, const char *pass, const struct ptxi_ir *ir)
{
    struct ptxi_str form;

    (void)ctx;
    ptxi_str_init(&form, NULL);
    ptxi_ir_print(ir, &form);
    ck_assert(strstr(ptxi_str_text(&form), "mul_lo_i32") || strstr(ptxi_str_text(&form), "mad_lo_i32"));
    ptxi_str_printf(&seen, "%s ", pass);
    ptxi_str_free(&form);
}

static void check_passes(bool contract, bool as_written, const char *expected)
{
    static const char text[] = KERNEL(".param .u64 out", ".reg .u64 %rd1; .reg .u32 %r<4>;\n"
                                      "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1];\n"
                                      "mul.lo.s32 %r2, %r1, %r1; add.s32 %r3, %r2, %r1; st.global.u32 [%rd1], %r3;");
    struct module m;
    struct ptxi_compile_options options = default_options(&m);

    options.contract = contract;
    options.as_written = as_written;
    options.after_pass = note_pass;
    ptxi_str_init(&seen, NULL);
    code_of(&m, text, "k", &options);
    ck_assert_str_eq(ptxi_str_text(&seen), expected);
    ptxi_str_free(&seen);
    unload(&m);
}

START_TEST(passes_run_in_order)
{
    check_passes(true, false,
                 "lower find_blocks order_blocks copy_propagation ptxas_simplify nan_operand_order contract "
                 "rematerialize "
                              "launch_invariant peephole row_registers register_allocation ");
}
END_TEST

START_TEST(options_disable_passes)
{
    check_passes(false, false,
                 "lower find_blocks order_blocks copy_propagation ptxas_simplify nan_operand_order rematerialize "
                               "launch_invariant peephole row_registers register_allocation ");
    check_passes(true, true, "lower find_blocks order_blocks copy_propagation rematerialize launch_invariant peephole "
                             "row_registers register_allocation ");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("passes");
    TCase *t = tcase_create("passes");

    tcase_add_test(t, passes_run_in_order);
    tcase_add_test(t, options_disable_passes);
    suite_add_tcase(s, t);
    return run_suite(s);
}
