/* Runs the handlers of the approximate instructions, at each CPU level of this host, against the functions for one
 * operand in num/approx.h. The operands have all upper halves, with lower halves that are random or at a limit, so
 * that all table rows and all exceptions occur. Also tests the squarer against its columns of partial products. */
#include "unit/support/bits.h"

#include "exec/arith/approx_table_inl.h"
#include "num/approx_f64.h"
#include "unit/support/levels.h"

#define ONE(op, bits, call) \
    static uint64_t one_##op(uint64_t a, uint64_t b) { (void)b; return ptxi_num_##call; }
#define FORMS_OF_ONE(X)                                                                                            \
    X(rcp_approx_f32, 32) X(rsqrt_approx_f32, 32) X(sqrt_approx_f32, 32) X(ex2_approx_f32, 32) X(lg2_approx_f32, 32) \
    X(sin_approx_f32, 32) X(cos_approx_f32, 32) X(tanh_approx_f32, 32) X(rsqrt_approx_f64, 64)                      \
    X(ex2_approx_f16, 16) X(tanh_approx_f16, 16) X(tanh_approx_bf16, 16)
/* Operations with other names than the functions. */
#define FORMS_RENAMED(X)                                                                                            \
    X(rcp_approx_f32_ftz, 32, rcp_approx_ftz_f32((uint32_t)a)) \
    X(rsqrt_approx_f32_ftz, 32, rsqrt_approx_ftz_f32((uint32_t)a)) \
    X(sqrt_approx_f32_ftz, 32, sqrt_approx_ftz_f32((uint32_t)a)) \
    X(ex2_approx_f32_ftz, 32, ex2_approx_ftz_f32((uint32_t)a)) \
    X(lg2_approx_f32_ftz, 32, lg2_approx_ftz_f32((uint32_t)a)) \
    X(ex2_approx_bf16, 16, ex2_approx_ftz_bf16((uint16_t)a)) \
    X(rcp_approx_f64, 64, rcp_approx_ftz_f64(a)) X(rsqrt_approx_f64_ftz, 64, rsqrt_approx_ftz_f64(a))
#define DIVISIONS(X)                                                                                                \
    X(div_approx_f32, 32, div_approx_f32((uint32_t)a, (uint32_t)b)) \
    X(div_full_f32, 32, div_full_f32((uint32_t)a, (uint32_t)b)) \
    X(div_approx_f32_ftz, 32, div_approx_ftz_f32((uint32_t)a, (uint32_t)b)) \
    X(div_full_f32_ftz, 32, div_full_ftz_f32((uint32_t)a, (uint32_t)b))

#define ONE_OF_ONE(op, bits) ONE(op, bits, op((uint##bits##_t)a))
FORMS_OF_ONE(ONE_OF_ONE)
FORMS_RENAMED(ONE)
DIVISIONS(ONE)

static const struct form {
    const char *name;
    unsigned op;
    int bits;
    uint64_t (*compute_lane)(uint64_t a, uint64_t b);
} forms[] = {
#define FORM(op, bits, ...) { #op, PTXI_OP_##op, bits, one_##op },
    FORMS_OF_ONE(FORM) FORMS_RENAMED(FORM) DIVISIONS(FORM)
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

/* --- operands, in sequence --- */
enum { LOWER_HALVES = 8, OPERANDS = 0x10000 * LOWER_HALVES };

static uint32_t random_word(uint32_t i)
{
    i *= 0x9e3779b1;
    i = (i ^ i >> 15) * 0x85ebca6b;
    return i ^ i >> 13;
}

static uint32_t word(uint32_t i)
{
    static const uint16_t edges[4] = { 0, 1, 0x8000, 0xffff };

    return (i / LOWER_HALVES) << 16 | (i % LOWER_HALVES < 4 ? edges[i % LOWER_HALVES] : random_word(i) >> 16);
}

/* Widens 32 bits to the upper half of 64 bits, or cuts them to 16 bits. */
static uint64_t operand(uint32_t i, int bits)
{
    return bits == 64 ? (uint64_t)word(i) << 32 | (i % 3 ? random_word(i + 1) : i % 2) : bits == 16 ? word(i) >> 16
        : word(i);
}

/* Operands of a division. The quotient is arbitrary, or near the smallest normal number: then b has another fraction
 * and an exponent that is less by about 126. Some rows have no special values, or only one. */
static uint32_t dividend(uint32_t i, uint32_t b)
{
    uint32_t x = random_word(~i);

    if (i / PTXI_LANES % 4 == 0)
        return x;
    if (i / PTXI_LANES % 4 == 1)
        return b - (126u << 23) - (2u << 23) + (x & 0x01ffffff);
    return i % 61 ? (b & 0x7f800000) | (x & 0x807fffff) : word(x);
}

static uint64_t lane_of(const void *r, uint32_t l, int bits)
{
    return bits == 64 ? ((const uint64_t *)r)[l] : bits == 32 ? ((const uint32_t *)r)[l] : ((const uint16_t *)r)[l];
}

static void set_lane(void *r, uint32_t l, int bits, uint64_t v)
{
    if (bits == 64)
        ((uint64_t *)r)[l] = v;
    else if (bits == 32)
        ((uint32_t *)r)[l] = (uint32_t)v;
    else
        ((uint16_t *)r)[l] = (uint16_t)v;
}

static uint64_t expected[OPERANDS];
static uint32_t dividends[OPERANDS];

/* The destination is separate, or the same as the first source. Inactive lanes keep their values. */
static void test_level(const char *level, ptxi_handler *const *table, const struct form *f)
{
    static _Alignas(64) unsigned char frame[12 * PTXI_UNIT];
    static const ptxi_lanes some_lanes = (ptxi_lanes)UINT64_C(0x7fffeffff00dfffe);
    struct ptxi_warp warp = { .regs = frame };
    struct ptxi_insn insn = { .a = 0, .b = 4, .d = 8 };
    bool is_division = f->compute_lane == one_div_approx_f32 || f->compute_lane == one_div_full_f32 ||
                       f->compute_lane == one_div_approx_f32_ftz || f->compute_lane == one_div_full_f32_ftz;

    for (uint32_t i = 0; i < OPERANDS; i += PTXI_LANES) {
        warp.active = i / PTXI_LANES % 16 ? PTXI_ALL_LANES : some_lanes;
        insn.d = i / PTXI_LANES % 2 ? 8 : 0;
        memset(PTXI_SLOT(&warp, 8), 0x55, 4 * PTXI_UNIT);
        for (uint32_t l = 0; l < PTXI_LANES; l++) {
            set_lane(PTXI_SLOT(&warp, 0), l, f->bits, is_division ? dividends[i + l] : operand(i + l, f->bits));
            set_lane(PTXI_SLOT(&warp, 4), l, f->bits, operand(i + l, f->bits));
        }
        table[f->op](&insn, &warp);
        for (uint32_t l = 0; l < PTXI_LANES; l++)
            if (warp.active >> l & 1)
                ck_bits64_at(lane_of(PTXI_SLOT(&warp, insn.d), l, f->bits), expected[i + l],
                             "%s of 0x%" PRIx64 " (0x%x) at level %s", f->name,
                           operand(i + l, f->bits), dividends[i + l], level);
            else if (insn.d)
                ck_assert_uint_eq(lane_of(PTXI_SLOT(&warp, insn.d), l, 16), 0x5555);
    }
}

/* There are no partial products of the bits of x below column 18. Those that occur twice, as i * j and j * i, are
 * added in column i + j + 1. */
START_TEST(square_sums_its_columns)
{
    for (uint32_t x = 0; x < 1 << 17; x++) {
        uint32_t sum = 0;

        for (int i = 0; i < 17; i++)
            sum += x >> i & 1 ? x >> (18 - i) : 0;
        ck_bits32_at((uint32_t)ptxi_num_square17(x), sum >> 1, "x 0x%x", x);
    }
}
END_TEST

/* The handlers recognize the exact case of rsqrt by its low sum. */
START_TEST(only_one_operand_has_the_exact_sum)
{
    for (uint32_t row = 0; row < 128; row++)
        for (uint32_t x = 0; x < 1 << 17; x++)
            if ((uint32_t)ptxi_num_low(ptxi_num_rsqrt.rows[row], x & 0xffff, x,
                                       PTXI_RSQRT_BIAS) == ptxi_approx_rsqrt.exact[0])
                ck_assert_msg(row == 64 && x == 0, "row %u, x 0x%x", row, x);
    ck_bits32((uint32_t)ptxi_num_low(ptxi_num_rsqrt.rows[64], 0, 0, PTXI_RSQRT_BIAS), ptxi_approx_rsqrt.exact[0]);
}
END_TEST

START_TEST(multiples_of_8_have_the_same_totals)
{
    const struct ptxi_num_columns128 *t = &ptxi_num_rsqrt_eights;

    for (uint32_t row = 0; row < 128; row++) {
        ck_bits32(t->c21[row], t->c12[row] << 16 | t->c12[row] >> 16);
        for (uint32_t x = 0; x < 1 << 17; x += 8) {
            int32_t low = ((int32_t)t->c12[row] >> 16) * (int32_t)(x / 4) + (int16_t)t->c12[row] * ptxi_num_square17(x);
            uint32_t total = t->c0[row] - (uint32_t)(low >> 12);

            ck_bits32_at(total, ptxi_num_high(ptxi_num_rsqrt.rows[row], x, x, PTXI_RSQRT), "row %u, x 0x%x", row, x);
        }
    }
}
END_TEST

START_TEST(squares_of_multiples_of_8)
{
    for (uint32_t x = 0; x < 1 << 17; x += 8)
        ck_bits32_at(square_multiples_of_8(SPLAT(x >> 1))[0], (uint32_t)ptxi_num_square17(x), "x 0x%x", x);
}
END_TEST

START_TEST(handlers_match_the_functions)
{
    const struct form *f = &forms[_i];

    for (uint32_t i = 0; i < OPERANDS; i++) {
        dividends[i] = dividend(i, word(i));
        expected[i] = strncmp(f->name, "div", 3) ? f->compute_lane(operand(i, f->bits), 0)
                                                 : f->compute_lane(dividends[i], word(i));
    }
    for (int k = 0; k < LEVELS && levels[k].level <= ptxi_cpu_level_host(); k++)
        test_level(levels[k].name, levels[k].table, f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("approx");
    TCase *t = tcase_create("units");

    tcase_set_timeout(t, 300);
    tcase_add_test(t, square_sums_its_columns);
    tcase_add_test(t, only_one_operand_has_the_exact_sum);
    tcase_add_test(t, multiples_of_8_have_the_same_totals);
    tcase_add_test(t, squares_of_multiples_of_8);
    tcase_add_loop_test(t, handlers_match_the_functions, 0, FORM_COUNT);
    suite_add_tcase(s, t);
    return run_suite(s);
}
