/* Tests rounded arithmetic against MPFR. Kernels of every form run through the public interface on all combinations
 * of special values, on operands with an exact result close to the midpoint of two neighbors, and on random bits.
 *
 * MPFR rounds the numbers. expected() adds the rules of PTX: NaNs (doc/explanation/numerics.md, "NaN results"), .ftz,
 * .sat and .relu. */
#ifdef HAVE_MPFR
#define MPFR_USE_INTMAX_T
#include "unit/support/bits.h"

#include "ptxi.h"

#include <mpfr.h>
#include <string.h>

typedef unsigned __int128 u128;

/* --- formats and forms --- */
struct format {
    const char *name;
    unsigned bits, precision;
    int bias;
    uint64_t nan; /* the NaN result; for f64 only if no operand is a NaN */
};
static const struct format formats[] = {
    { "f16", 16, 11, 15, 0x7fff },
    { "bf16", 16, 8, 127, 0x7fff },
    { "f32", 32, 24, 127, 0x7fffffff },
    { "f64", 64, 53, 1023, 0xfff8000000000000 },
};
enum format_index { F16, BF16, F32, F64, FORMATS };

enum op { ADD, SUB, MUL, DIV, FMA, RCP, SQRT, OPS };
static const struct {
    const char *name;
    int arity;
} ops[OPS] = { { "add", 2 }, { "sub", 2 }, { "mul", 2 }, { "div", 2 }, { "fma", 3 }, { "rcp", 1 }, { "sqrt", 1 } };

static const struct {
    const char *name;
    mpfr_rnd_t mode;
} roundings[] = { { ".rn", MPFR_RNDN }, { ".rz", MPFR_RNDZ }, { ".rm", MPFR_RNDD }, { ".rp", MPFR_RNDU } };

struct form {
    const struct format *format;
    enum op op;
    unsigned rounding;
    bool ftz, sat, relu;
};

static bool is_format(const struct form *f, enum format_index k)
{
    return f->format == &formats[k];
}

/* PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point Instructions". */
static bool is_supported(const struct form *f)
{
    bool half = is_format(f, F16) || is_format(f, BF16);

    if (half && (f->rounding || f->op == DIV || f->op == RCP || f->op == SQRT))
        return false;
    if (f->ftz && !is_format(f, F16) && !is_format(f, F32))
        return false;
    if (f->sat && ((!is_format(f, F16) && !is_format(f, F32)) || f->op == DIV || f->op == RCP || f->op == SQRT))
        return false;
    return !f->relu || (half && f->op == FMA && !f->sat);
}

enum { MAX_FORMS = 256 };
static struct form forms[MAX_FORMS];

static int list_forms(const struct format *format, enum op op)
{
    int n = 0;

    for (unsigned k = 0; k < 32; k++) {
        struct form f = { .format = format, .op = op, .rounding = k & 3, .ftz = k & 4, .sat = k & 8, .relu = k & 16 };

        if (is_supported(&f))
            forms[n++] = f;
    }
    return n;
}

static void print_name(const struct form *f, char *s, size_t size)
{
    snprintf(s, size, "%s%s%s%s%s.%s", ops[f->op].name, roundings[f->rounding].name, f->ftz ? ".ftz" : "",
             f->sat ? ".sat" : "", f->relu ? ".relu" : "",
             f->format->name);
}

/* --- bits --- */
static uint64_t sign_bit(const struct format *f) { return (uint64_t)1 << (f->bits - 1); }
static uint64_t fraction_mask(const struct format *f) { return ((uint64_t)1 << (f->precision - 1)) - 1; }
static uint64_t infinity(const struct format *f) { return sign_bit(f) - 1 - fraction_mask(f); }
static uint64_t magnitude(const struct format *f, uint64_t v) { return v & (sign_bit(f) - 1); }
static bool is_nan(const struct format *f, uint64_t v) { return magnitude(f, v) > infinity(f); }
static bool is_subnormal(const struct format *f, uint64_t v)
{
    return magnitude(f, v) && magnitude(f, v) <= fraction_mask(f);
}

static void decode(mpfr_t x, const struct format *f, uint64_t v)
{
    uint64_t exponent = magnitude(f, v) >> (f->precision - 1), m = v & fraction_mask(f);
    int sign = v & sign_bit(f) ? -1 : 1;

    if (magnitude(f, v) >= infinity(f)) {
        mpfr_set_inf(x, sign);
        return;
    }
    if (exponent)
        m |= fraction_mask(f) + 1;
    mpfr_set_uj_2exp(x, m, (intmax_t)(exponent ? exponent : 1) - f->bias - (int)(f->precision - 1), MPFR_RNDN);
    mpfr_setsign(x, x, sign < 0, MPFR_RNDN);
}

/* The value must be one of the format. */
static uint64_t encode(mpfr_t x, const struct format *f)
{
    uint64_t sign = mpfr_signbit(x) ? sign_bit(f) : 0, m;
    /* exponents of the last place and of the smallest normal number */
    int fraction = (int)f->precision - 1, least = 1 - f->bias;
    int exponent;

    if (mpfr_inf_p(x))
        return sign | infinity(f);
    if (mpfr_zero_p(x))
        return sign;
    exponent = (int)mpfr_get_exp(x) - 1;
    mpfr_mul_2si(x, x, fraction - (exponent < least ? least : exponent), MPFR_RNDN);
    ck_assert(mpfr_integer_p(x));
    mpfr_abs(x, x, MPFR_RNDN);
    m = mpfr_get_uj(x, MPFR_RNDN);
    return sign | (exponent < least ? m : m + ((uint64_t)(exponent - least) << fraction));
}

/* --- the reference --- */
static mpfr_t x[3], r;

static int compute(const struct form *f)
{
    mpfr_rnd_t mode = roundings[f->rounding].mode;

    switch (f->op) {
    case ADD: return mpfr_add(r, x[0], x[1], mode);
    case SUB: return mpfr_sub(r, x[0], x[1], mode);
    case MUL: return mpfr_mul(r, x[0], x[1], mode);
    case DIV: return mpfr_div(r, x[0], x[1], mode);
    case FMA: return mpfr_fma(r, x[0], x[1], x[2], mode);
    case RCP: return mpfr_ui_div(r, 1, x[0], mode);
    default: return mpfr_sqrt(r, x[0], mode);
    }
}

/* r = the result in the range of the format. Subnormal values are rounded once. */
static void compute_in_range(const struct form *f)
{
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    int inexact;

    mpfr_set_emin(2 - f->format->bias - (int)(f->format->precision - 1));
    mpfr_set_emax(f->format->bias + 1);
    inexact = compute(f);
    inexact = mpfr_check_range(r, inexact, roundings[f->rounding].mode);
    mpfr_subnormalize(r, inexact, roundings[f->rounding].mode);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
}

/* .ftz detects tininess after rounding with unlimited exponents. */
static bool is_flushed(const struct form *f)
{
    compute(f);
    return f->ftz && mpfr_regular_p(r) && mpfr_get_exp(r) - 1 < 1 - f->format->bias;
}

static uint64_t expected_nan(const struct form *f, const uint64_t *in)
{
    static const uint8_t order[OPS][3] = { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 0, 1 }, { 1, 2, 0 }, { 0 }, { 0 } };

    if (f->sat)
        return 0;
    for (int k = 0; k < ops[f->op].arity && is_format(f, F64); k++)
        if (is_nan(f->format, in[order[f->op][k]]))
            return in[order[f->op][k]] | (fraction_mask(f->format) + 1) >> 1;
    return f->format->nan;
}

static uint64_t expected(const struct form *f, const uint64_t *in)
{
    const struct format *format = f->format;
    bool flushed, negative;

    for (int k = 0; k < ops[f->op].arity; k++) {
        if (is_nan(format, in[k]))
            return expected_nan(f, in);
        decode(x[k], format, f->ftz && is_subnormal(format, in[k]) ? in[k] & sign_bit(format) : in[k]);
    }
    flushed = is_flushed(f);
    negative = mpfr_signbit(r);
    if (mpfr_nan_p(r))
        return expected_nan(f, in);
    if ((f->sat || f->relu) && negative)
        return 0;
    if (flushed)
        return negative ? sign_bit(format) : 0;
    compute_in_range(f);
    if (f->sat && mpfr_cmp_ui(r, 1) > 0)
        mpfr_set_ui(r, 1, MPFR_RNDN);
    return encode(r, format);
}

/* --- operands --- */
static int random_below(int n)
{
    return (int)(random64() >> 33) % n;
}

/* m * 2^exponent as 1.x. The first of the m bits is 1. The value is truncated if the format has fewer bits. */
static uint64_t make_float(const struct format *f, uint64_t m, int exponent)
{
    int biased = exponent + f->bias;
    uint64_t sign = random64() & sign_bit(f);

    if (biased >= 2 * f->bias + 1)
        return sign | (infinity(f) - 1);
    if (biased < 1)
        return sign | (1 - biased < (int)f->precision ? m >> (1 - biased) : 0);
    return sign | ((uint64_t)biased << (f->precision - 1)) | (m & fraction_mask(f));
}

static uint64_t random_significand(const struct format *f)
{
    uint64_t m = random64() & fraction_mask(f);

    if (random_below(4) == 0)
        m &= random64() & random64();
    return m | (fraction_mask(f) + 1);
}

static int any_exponent(const struct format *f)
{
    return random_below(2 * f->bias + (int)f->precision) - f->bias - (int)f->precision;
}

/* Returns an exponent for the result: arbitrary, near the subnormal numbers, or near the largest number. */
static int edge_exponent(const struct format *f)
{
    switch (random_below(4)) {
    case 0: return 2 - f->bias - random_below((int)f->precision + 4);
    case 1: return f->bias - 1 + random_below(3);
    default: return random_below(16) - 8;
    }
}

/* Returns the inverse of an odd number modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t i = odd;

    for (int k = 0; k < 5; k++)
        i *= 2 - odd * i;
    return i;
}

/* Finds a factor such that the low bits of the product are almost half of the last place of the result. */
static bool near_half_factor(const struct format *f, uint64_t a, uint64_t *b)
{
    unsigned p = f->precision, shorter = (unsigned)random_below(2); /* products have 2p bits or one less */
    uint64_t half = (uint64_t)1 << (p - 1 - shorter);

    *b = (half + (uint64_t)(random_below(5) - 2)) * inverse(a) & (2 * fraction_mask(f) + 1);
    return *b > fraction_mask(f) && (u128)a * *b >> (2 * p - 1) != shorter;
}

/* Finds a dividend and a divisor. Their quotient is close to a number with one more bit, which is 1. */
static bool near_half_quotient(const struct format *f, uint64_t *a, uint64_t b)
{
    unsigned p = f->precision;
    int64_t k = 2 * random_below(8) - 7;
    uint64_t q = ((uint64_t)k * inverse(b) & (((uint64_t)1 << p) - 1)) | (uint64_t)1 << p;
    u128 t = (u128)b * q - (u128)(__int128)k;

    *a = (uint64_t)(t >> p);
    return *a > fraction_mask(f) && *a <= 2 * fraction_mask(f) + 1;
}

/* Finds a number close to the square of a number with one more bit, which is 1. k is 1 modulo 8, so it has a root
 * modulo 2^n. */
static bool near_half_square(const struct format *f, uint64_t *a, int *exponent)
{
    unsigned p = f->precision, n = p + 2 + (p & 1);
    int64_t k = 8 * (random_below(4096) - 2048) + 1;
    uint64_t q = 1;

    for (unsigned i = 3; i < n; i++)
        if ((q * q - (uint64_t)k) >> i & 1)
            q += (uint64_t)1 << (i - 1);
    q = (random_below(2) ? q : -q) & (((uint64_t)1 << (p + 1)) - 1);
    *a = (uint64_t)(((u128)q * q - (u128)(__int128)k) >> n);
    *exponent = (int)p - 1;
    while (*a && *a <= fraction_mask(f)) {
        *a <<= 1;
        --*exponent;
    }
    return q >> p && *a && *a <= 2 * fraction_mask(f) + 1 &&
        !(((u128)q * q - (u128)(__int128)k) & (((u128)1 << n) - 1));
}

/* Returns about -(a * b), half of its last place, or a tiny number. */
static uint64_t edge_summand(const struct format *f, uint64_t a, uint64_t b, int exponent)
{
    uint64_t c;

    switch (random_below(3)) {
    case 0:
        if (is_nan(f, a) || is_nan(f, b))
            return a;
        decode(x[0], f, a);
        decode(x[1], f, b);
        mpfr_mul(r, x[0], x[1], MPFR_RNDZ);
        if (!mpfr_regular_p(r) || mpfr_get_exp(r) > f->bias || mpfr_get_exp(r) - 1 < 1 - f->bias)
            return a;
        c = encode(r, f) ^ sign_bit(f);
        return c + (uint64_t)random_below(3) - 1;
    case 1: return make_float(f, fraction_mask(f) + 1 + (uint64_t)random_below(2), exponent - (int)f->precision);
    default: return make_float(f, random_significand(f), exponent - 3 * (int)f->precision);
    }
}

static void make_sum(const struct format *f, uint64_t *in)
{
    uint64_t m = random_significand(f), top = fraction_mask(f) + 1;
    int e = edge_exponent(f);

    in[0] = make_float(f, m, e);
    switch (random_below(3)) {
    case 0:
        in[1] = make_float(f, (const uint64_t[]){ top, top + 1, 2 * top - 1 }[random_below(3)],
                           e - (int)f->precision - random_below(3) + 1);
        break;
    case 1: in[1] = in[0] ^ sign_bit(f) ^ (uint64_t)random_below(4); break; /* cancels */
    default:
        in[1] =
            make_float(f, random_significand(f), e + random_below(2 * (int)f->precision + 6) - (int)f->precision - 3);
    }
    if (random_below(2)) {
        uint64_t t = in[0];

        in[0] = in[1];
        in[1] = t;
    }
}

/* Makes operands with an exact result that is hard to round. */
static void make_hard(const struct form *form, uint64_t *in)
{
    const struct format *f = form->format;
    uint64_t a = random_significand(f) | 1, b = random_significand(f) | 1;
    int t = edge_exponent(f), e = t / 2 + random_below(f->bias / 2) - f->bias / 4, square;

    switch (form->op) {
    case ADD:
    case SUB:
        make_sum(f, in);
        break;
    case MUL:
    case FMA:
        for (int k = 0; k < 64 && !near_half_factor(f, a, &b); k++)
            a = random_significand(f) | 1;
        in[0] = make_float(f, a, e);
        in[1] = make_float(f, b | (fraction_mask(f) + 1), t - e);
        if (form->op == FMA)
            in[2] = edge_summand(f, in[0], in[1], t);
        break;
    case DIV:
        for (int k = 0; k < 64 && !near_half_quotient(f, &a, b); k++)
            b = random_significand(f) | 1;
        in[0] = make_float(f, a | (fraction_mask(f) + 1), e);
        in[1] = make_float(f, b, e - t);
        break;
    case SQRT:
        for (int k = 0; k < 64 && !near_half_square(f, &a, &square); k++)
            ;
        in[0] = make_float(f, a | (fraction_mask(f) + 1), square + 2 * (any_exponent(f) / 2)) & ~sign_bit(f);
        break;
    default:
        in[0] = make_float(f, random_significand(f), -t);
    }
}

static int specials(const struct format *f, uint64_t *v, bool only_few)
{
    uint64_t min = fraction_mask(f) + 1, one = (uint64_t)f->bias << (f->precision - 1), quiet = min >> 1;
    /* few sequences end here */
    const uint64_t all_values[] = { 0, 1, min - 1, min, one, one + 1, infinity(f) - 1, infinity(f), infinity(f) + 1,
                              infinity(f) | quiet | 5, one - 1,
                              2, min + 1, one - min, one + min, one + min + quiet, infinity(f) / 2, infinity(f) - min,
                              sign_bit(f) - 1, quiet };
    int n = only_few ? 11 : (int)(sizeof all_values / sizeof *all_values);

    for (int k = 0; k < n; k++) {
        v[2 * k] = all_values[k];
        v[2 * k + 1] = all_values[k] | sign_bit(f);
    }
    return 2 * n;
}

enum { ROWS = 16384, BLOCK = 128 };
static uint64_t in[ROWS][3], out[ROWS];

/* Fills in all combinations of special values, then hard cases, then random bits. */
static void make_rows(const struct form *form)
{
    int arity = ops[form->op].arity, n, row = 0;
    uint64_t v[64];

    n = specials(form->format, v, arity == 3);
    for (int k = 0, all = arity == 1 ? n : arity == 2 ? n * n : n * n * n; k < all; k++, row++) {
        in[row][0] = v[k % n];
        in[row][1] = v[k / n % n];
        in[row][2] = v[k / n / n % n];
    }
    ck_assert_int_lt(row, ROWS);
    for (; row < ROWS; row++) {
        for (int k = 0; k < 3; k++)
            in[row][k] = random64() >> (64 - form->format->bits);
        if (row % 8)
            make_hard(form, in[row]);
    }
}

/* --- kernels --- */
static char *module_text(int n)
{
    char *text, name[64];
    size_t size;
    FILE *o = open_memstream(&text, &size);

    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n");
    for (int k = 0; k < n; k++) {
        unsigned bits = forms[k].format->bits;
        int arity = ops[forms[k].op].arity;

        print_name(&forms[k], name, sizeof name);
        fprintf(o, ".visible .entry k%d(.param .u64 in, .param .u64 out) { .reg .b%u %%a, %%b, %%c, %%d; "
                   ".reg .b64 %%i, %%o; .reg .b32 %%t, %%n;\n"
                   "  ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%n, %%ctaid.x; "
                   "mad.lo.u32 %%t, %%n, %d, %%t;\n"
                   "  mad.wide.u32 %%i, %%t, 24, %%i; mad.wide.u32 %%o, %%t, 8, %%o;\n"
                   "  ld.global.b%u %%a, [%%i]; ld.global.b%u %%b, [%%i+8]; ld.global.b%u %%c, [%%i+16];\n"
                   "  %s %%d, %%a%s%s; st.global.b%u [%%o], %%d; ret; }\n",
                k, bits, BLOCK, bits, bits, bits, name, arity > 1 ? ", %b" : "", arity > 2 ? ", %c" : "", bits);
    }
    fclose(o);
    return text;
}

static void check_form(const struct form *f)
{
    int arity = ops[f->op].arity;
    char name[64];

    print_name(f, name, sizeof name);
    for (int row = 0; row < ROWS; row++)
        ck_bits64_at(out[row], expected(f, in[row]), "%s of %#" PRIx64 " %#" PRIx64 " %#" PRIx64, name, in[row][0],
                     arity > 1 ? in[row][1] : 0,
                     arity > 2 ? in[row][2] : 0);
}

static void run_forms(int n)
{
    char *text = module_text(n);
    ptxiContext ctx;
    ptxiModule module;
    ptxiDevicePtr from, to;
    void *params[] = { &from, &to };

    ck_assert_int_eq(ptxiInit(0), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiCtxCreate(&ctx, 0, 0), PTXI_SUCCESS);
    ck_assert_msg(ptxiModuleLoadData(&module, text) == PTXI_SUCCESS, "does not load: %s", text);
    ck_assert_int_eq(ptxiMemAlloc(&from, sizeof in) | ptxiMemAlloc(&to, sizeof out), PTXI_SUCCESS);
    ck_assert_int_eq(ptxiMemsetD8(to, 0, sizeof out), PTXI_SUCCESS);
    for (int k = 0; k < n; k++) {
        ptxiFunction function;
        char name[16];

        make_rows(&forms[k]);
        snprintf(name, sizeof name, "k%d", k);
        ck_assert_int_eq(ptxiModuleGetFunction(&function, module, name), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyHtoD(from, in, sizeof in), PTXI_SUCCESS);
        ck_assert_int_eq(ptxiLaunchKernel(function, ROWS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL),
                         PTXI_SUCCESS);
        ck_assert_int_eq(ptxiMemcpyDtoH(out, to, sizeof out), PTXI_SUCCESS);
        check_form(&forms[k]);
    }
    ck_assert_int_eq(ptxiCtxDestroy(ctx), PTXI_SUCCESS);
    free(text);
}

START_TEST(results_match_mpfr)
{
    const struct format *f = &formats[_i / OPS];
    int n = list_forms(f, (enum op)(_i % OPS));

    for (int k = 0; k < 3; k++)
        mpfr_init2(x[k], (mpfr_prec_t)f->precision);
    mpfr_init2(r, (mpfr_prec_t)f->precision);
    random_state += (uint64_t)_i;
    if (n)
        run_forms(n);
    for (int k = 0; k < 3; k++)
        mpfr_clear(x[k]);
    mpfr_clear(r);
}
END_TEST

/* Checks the generator: the exact results of nearly all operands are within 1/64 of the midpoint between two
 * neighbors. */
START_TEST(hard_cases_are_hard)
{
    static const enum op hard_ops[] = { MUL, DIV, SQRT };
    struct form f = { .format = &formats[F32 + _i / 3], .op = hard_ops[_i % 3] };
    unsigned p = f.format->precision;
    int hard = 0;
    mpfr_t middle;

    for (int k = 0; k < 3; k++)
        mpfr_init2(x[k], (mpfr_prec_t)p);
    mpfr_init2(r, 4 * (mpfr_prec_t)p);
    mpfr_init2(middle, 4 * (mpfr_prec_t)p);
    for (int k = 0; k < 1000; k++) {
        uint64_t v[3];

        make_hard(&f, v);
        decode(x[0], f.format, v[0] & ~sign_bit(f.format));
        decode(x[1], f.format, v[1] & ~sign_bit(f.format));
        compute(&f);
        if (!mpfr_regular_p(r))
            continue;
        mpfr_mul_2si(r, r, (long)p + 1 - mpfr_get_exp(r), MPFR_RNDN); /* last place: 2 */
        mpfr_rint(middle, r, MPFR_RNDN);
        mpfr_sub(r, r, middle, MPFR_RNDN);
        hard += mpfr_get_uj(middle, MPFR_RNDN) % 2 == 1 && mpfr_cmp_d(r, 1. / 64) < 0 && mpfr_cmp_d(r, -1. / 64) > 0;
    }
    ck_assert_msg(hard > 900, "%s.%s: %d of 1000", ops[f.op].name, f.format->name, hard);
    for (int k = 0; k < 3; k++)
        mpfr_clear(x[k]);
    mpfr_clears(r, middle, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mpfr");
    TCase *t = tcase_create("forms");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, results_match_mpfr, 0, FORMATS * OPS);
    tcase_add_loop_test(t, hard_cases_are_hard, 0, 2 * 3);
    suite_add_tcase(s, t);
    return run_suite(s);
}

#else
#include <stdio.h>

int main(void)
{
    puts("skipped: configure found no MPFR (Debian package libmpfr-dev)");
    return 77;
}
#endif
