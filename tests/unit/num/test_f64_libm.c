/* Tests sin, lg2 and ex2 of num/f64_libm.h against the long double functions of the host. */
#include "unit/support/bits.h"

#include "num/f64_libm.h"
#include "num/float.h"

#include <math.h>

static const struct function {
    const char *name;
    double (*ours)(double);
    long double (*reference)(long double);
    double max_error; /* units in the last place */
} functions[] = {
    { "sin", ptxi_num_sin_f64, sinl, 2 },
    { "lg2", ptxi_num_lg2_f64, log2l, 4 },
    { "ex2", ptxi_num_ex2_f64, exp2l, 2 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Returns random bits, a value of moderate size, or a value near a multiple of pi/4. */
static double random_value(void)
{
    double unit = (double)(int64_t)random64() * 0x1p-63;

    switch (random64() % 5) {
    case 0: return unit * 1100;
    case 1: return 1 + unit * 0x1p-6;
    case 2: return rint(unit * 1e6) * 0.78539816339744830962;
    case 3: return unit * 0x1p40;
    default: return ptxi_num_f64(random64());
    }
}

static void compare(const struct function *f, double x)
{
    double got = f->ours(x);
    long double want = f->reference(x);
    double rounded = (double)want, unit = nextafter(fabs(rounded), INFINITY) - fabs(rounded);

    if (isnan(want))
        ck_assert_msg(isnan(got), "%s(%a) is %a, not a NaN", f->name, x, got);
    else if (isinf(rounded) || isinf(unit))
        ck_assert_msg(got == rounded, "%s(%a) is %a, not %a", f->name, x, got, rounded);
    else
        ck_assert_msg(fabsl(got - want) <= f->max_error * unit, "%s(%a) is %a, not %a", f->name, x, got, rounded);
}

START_TEST(errors_are_small)
{
    static const double special[] = { 0.0, -0.0, 1.0, -1.0, 0.5, 0x1p-1074, -0x1p-1074, 0x1p-1022,
                                      0x1.fffffffffffffp1023, INFINITY, -INFINITY, NAN,
                                      1023.9999999999999, 1024.0, -1022.0, -1074.0, -1075.0, -1075.5, -1076.5,
                                      0x1.6a09e667f3bcdp-1,
                                      0x1.6a09e667f3bccp-1, 0x1.6ac5b262ca1ffp849 };
    const struct function *f = &functions[_i];

    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        compare(f, special[i]);
    for (int i = 0; i < 300000; i++)
        compare(f, random_value());
}
END_TEST

START_TEST(exact_results)
{
    for (int n = -1074; n < 1024; n++) {
        ck_assert(ptxi_num_ex2_f64(n) == ldexp(1.0, n));
        ck_assert(ptxi_num_lg2_f64(ldexp(1.0, n)) == n);
    }
    ck_bits64(ptxi_num_bits_f64(ptxi_num_sin_f64(-0.0)), 0x8000000000000000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("elementary");
    TCase *t = tcase_create("elementary");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, errors_are_small, 0, FUNCTIONS);
    tcase_add_test(t, exact_results);
    suite_add_tcase(s, t);
    return run_suite(s);
}
