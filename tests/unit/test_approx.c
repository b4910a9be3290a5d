/* The approximate instructions' handlers, at every level of this host, against the functions for one operand in num/approx.h: over all
 * upper halves of the operand, with lower halves that are at a border or random, so that all rows of the tables and all exceptions come up.
 * And their squarer against its columns. */
#include "unit/bits.h"

#include "exec/approx.h"
#include "num/approx.h"
#include "unit/levels.h"

#define FORM(op, function) { #op, PTXI_OP_##op, ptxi_num_##function }
#define FORMS(f) FORM(f##_approx_f32, f##_approx_f32), FORM(f##_approx_f32_ftz, f##_approx_ftz_f32)
static const struct {
    const char *name;
    unsigned op;
    uint32_t (*one)(uint32_t);
} forms[] = {
    FORMS(rcp), FORMS(rsqrt), FORMS(sqrt), FORMS(ex2), FORMS(lg2), FORM(sin_approx_f32, sin_approx_f32), FORM(cos_approx_f32, cos_approx_f32),
    FORM(tanh_approx_f32, tanh_approx_f32),
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

/* --- operands, one after the other --- */
enum { LOWER_HALVES = 8, OPERANDS = 0x10000 * LOWER_HALVES };

static uint32_t operand(uint32_t i)
{
    static const uint16_t borders[4] = { 0, 1, 0x8000, 0xffff };
    uint32_t random = i * 0x9e3779b1;

    random ^= random >> 15;
    return (i / LOWER_HALVES) << 16 | (i % LOWER_HALVES < 4 ? borders[i % LOWER_HALVES] : (random * 0x85ebca6b) >> 16);
}

static uint32_t expected[FORM_COUNT][OPERANDS];

static void test_level(const char *level, ptxi_handler *const *table)
{
    static _Alignas(64) unsigned char frame[4 * PTXI_UNIT];
    struct ptxi_warp warp = { .regs = frame, .active = PTXI_ALL_LANES };
    struct ptxi_insn insn = { .a = 0, .d = 2 };
    uint32_t *a = PTXI_SLOT(&warp, insn.a), *d = PTXI_SLOT(&warp, insn.d);

    for (unsigned f = 0; f < FORM_COUNT; f++)
        for (uint32_t i = 0; i < OPERANDS; i += PTXI_LANES) {
            for (uint32_t l = 0; l < PTXI_LANES; l++)
                a[l] = operand(i + l);
            table[forms[f].op](&insn, &warp);
            for (uint32_t l = 0; l < PTXI_LANES; l++)
                ck_bits32_at(d[l], expected[f][i + l], "%s of 0x%08x at level %s", forms[f].name, a[l], level);
        }
}

/* Partial products of the bits of x below column 18 do not exist; those that come twice, as i * j and j * i, are added in column i + j + 1. */
START_TEST(square_keeps_its_columns)
{
    for (uint32_t x = 0; x < 1 << 17; x++) {
        uint32_t sum = 0;

        for (int i = 0; i < 17; i++)
            sum += x >> i & 1 ? x >> (18 - i) : 0;
        ck_bits32_at((uint32_t)ptxi_num_square17(x), sum >> 1, "x 0x%x", x);
    }
}
END_TEST

/* The handlers know the exact case of rsqrt by its low sum. */
START_TEST(only_one_has_the_exact_sum)
{
    for (uint32_t row = 0; row < 128; row++)
        for (uint32_t x = 0; x < 1 << 17; x++)
            if ((uint32_t)ptxi_num_low(ptxi_num_rsqrt.rows[row], x & 0xffff, x, PTXI_RSQRT_BIAS) == ptxi_approx_rsqrt.exact[0])
                ck_assert_msg(row == 64 && x == 0, "row %u, x 0x%x", row, x);
    ck_bits32((uint32_t)ptxi_num_low(ptxi_num_rsqrt.rows[64], 0, 0, PTXI_RSQRT_BIAS), ptxi_approx_rsqrt.exact[0]);
}
END_TEST

START_TEST(lanes_are_as_one)
{
    for (unsigned f = 0; f < FORM_COUNT; f++)
        for (uint32_t i = 0; i < OPERANDS; i++)
            expected[f][i] = forms[f].one(operand(i));
    for (int k = 0; k < LEVELS && levels[k].level <= ptxi_cpu_level_host(); k++)
        test_level(levels[k].name, levels[k].table);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("approx");
    TCase *t = tcase_create("units");

    tcase_set_timeout(t, 300);
    tcase_add_test(t, square_keeps_its_columns);
    tcase_add_test(t, only_one_has_the_exact_sum);
    tcase_add_test(t, lanes_are_as_one);
    suite_add_tcase(s, t);
    return run_suite(s);
}
