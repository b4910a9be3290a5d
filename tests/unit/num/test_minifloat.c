/* Tests formats of 4 to 19 bits (num/minifloat.h) with their codes and values between them. */
#include "unit/support/bits.h"

#include <math.h>
#include <string.h>

#include "num/minifloat.h"
#include "unit/support/minifloat_reference.h"

static const struct {
    const char *name;
    struct ptxi_num_minifloat format;
} formats[SMALLS] = {
#define X(name, ...) { #name, { __VA_ARGS__ } },
    PTXI_NUM_MINIFLOAT_FORMATS(X)
#undef X
};

static uint32_t bits_of(float x)
{
    uint32_t b;

    memcpy(&b, &x, sizeof b);
    return b;
}

static int random_bits(int which)
{
    return which == TF32 ? 0 : which == F16_ ? 13 : which == E2M1 ? 8 : 16;
}

/* Checks one float in all rounding modes. */
static void check_rounding(int which, float x)
{
    const struct small *ref = &smalls[which];
    struct ptxi_num_minifloat f = formats[which].format;
    int bits = random_bits(which);

    for (int mode = SMALL_RN; mode <= SMALL_RP; mode++)
        for (int finite = 0; finite < 2; finite++) {
            uint32_t got = ptxi_num_minifloat_from_f32(f, bits_of(x), (enum ptxi_num_rounding)mode, finite);
            unsigned want = small_code(ref, x, mode, finite, 0, 0);

            ck_assert_msg(got == want, "%s of %a in mode %d, finite %d: got %#x, want %#x", formats[which].name, x,
                          mode, finite, got, want);
        }
    if (which > BF16_) {
        uint16_t odd = (uint16_t)(ptxi_num_odd_bf16(bits_of(x)) >> 16);

        ck_assert_uint_eq(ptxi_num_minifloat_from_half(ptxi_num_bf16, f, odd),
                          small_code(ref, x, SMALL_RN, true, 0, 0));
    }
    for (unsigned n = 0; bits && n < 4; n++) {
        unsigned random = ((1u << bits) - 1) * n / 3;
        uint32_t got = ptxi_num_minifloat_stochastic(f, bits_of(x), random, bits, ptxi_num_stochastic_range(f, true));
        unsigned want = small_code(ref, x, SMALL_RS, true, random, bits);

        ck_assert_msg(got == want, "%s of %a with random bits %#x: got %#x, want %#x", formats[which].name, x, random,
                      got, want);
    }
}

/* Each value, the midpoint between it and the next value, and the neighbors of both. */
START_TEST(conversion_rounds)
{
    const struct small *ref = &smalls[_i];
    unsigned step = ref->top > 0xffff ? 61 : ref->top > 0xff ? 7 : 1;

    for (unsigned code = 0; code <= ref->top; code += code < 40 || code + 40 > ref->top ? 1 : step) {
        double low = small_value(ref, code), high = small_value(ref, code + 1);
        const float at[] = { (float)low, (float)(low + (high - low) / 2), (float)(low + (high - low) / 16 * 5) };

        for (int n = 0; n < 3; n++)
            for (int side = 0; side < 3; side++) {
                float x = side ? nextafterf(at[n], side == 1 ? 0.0f : INFINITY) : at[n];

                check_rounding(_i, x);
                check_rounding(_i, -x);
            }
    }
    for (int e = -149; e < 128; e++)
        check_rounding(_i, ldexpf(1.0f, e));
    check_rounding(_i, INFINITY);
    check_rounding(_i, -INFINITY);
    check_rounding(_i, NAN);
    check_rounding(_i, -NAN);
}
END_TEST

START_TEST(conversion_to_f32)
{
    const struct small *ref = &smalls[_i];

    for (unsigned code = 0; code < 2 * small_sign(ref); code++) {
        float want = (float)small_number(ref, code), got;
        uint32_t bits = ptxi_num_f32_from_minifloat(formats[_i].format, code);

        memcpy(&got, &bits, sizeof got);
        ck_assert_msg(isnan(want) ? isnan(got) : bits == bits_of(want), "%s %#x: got %a, want %a", formats[_i].name,
                      code, got, want);
    }
}
END_TEST

START_TEST(conversion_to_f16)
{
    const struct small *ref = &smalls[_i];

    for (unsigned code = 0; code < 2 * small_sign(ref); code++) {
        unsigned want = small_code(&smalls[F16_], small_number(ref, code), SMALL_RN, false, 0, 0);

        ck_assert_uint_eq(ptxi_num_f16_from_minifloat(formats[_i].format, code), want);
    }
}
END_TEST

START_TEST(conversion_from_f16)
{
    const struct {
        int which;
        struct ptxi_num_minifloat format;
    } halves[] = { { F16_, ptxi_num_f16 }, { BF16_, ptxi_num_bf16 } };

    for (int k = 0; k < 2; k++)
        for (unsigned code = 0; code <= 0xffff; code++) {
            unsigned want = small_code(&smalls[_i], small_number(&smalls[halves[k].which], code), SMALL_RN, true, 0, 0);

            if (ptxi_num_minifloat_from_half(halves[k].format, formats[_i].format, (uint16_t)code) != want)
                ck_abort_msg("%s of %s %#x: want %#x", formats[_i].name, formats[halves[k].which].name, code, want);
        }
}
END_TEST

/* By a search among the powers of two. */
static unsigned ue8m0_of(double m, bool round_up, bool finite)
{
    unsigned code = 0;

    if (isnan(m))
        return 0xff;
    while (code < 0xff && (round_up ? ldexp(1, (int)code - 127) < m : ldexp(1, (int)code - 126) <= m))
        code++;
    return code == 0xff && finite ? 0xfe : code;
}

START_TEST(scale_formats)
{
    for (int e = -149; e <= 128; e++)
        for (int side = -1; side < 3; side++)
            for (int options = 0; options < 4; options++) {
                float x = side == 2 ? ldexpf(1.5f, e) : ldexpf(1.0f, e);

                x = side < 0 ? nextafterf(x, 0.0f) : side == 1 ? nextafterf(x, INFINITY) : x;
                ck_assert_uint_eq(ptxi_num_ue8m0_from_f32(bits_of(x), options & 1, options & 2),
                                  ue8m0_of(x, options & 1, options & 2));
                ck_assert_uint_eq(ptxi_num_ue8m0_from_f32(bits_of(-x), options & 1, options & 2),
                                  ue8m0_of(x, options & 1, options & 2));
            }
    for (int options = 0; options < 4; options++) {
        ck_assert_uint_eq(ptxi_num_ue8m0_from_f32(0x7fc00000, options & 1, options & 2), 0xff);
        ck_assert_uint_eq(ptxi_num_ue8m0_from_f32(0x80000000, options & 1, options & 2), 0);
    }
    for (unsigned code = 0; code < 0xff; code++)
        ck_assert_uint_eq(ptxi_num_bf16_from_ue8m0(code),
                          small_code(&smalls[BF16_], ldexp(1, (int)code - 127), SMALL_RN, false, 0, 0));
    ck_assert_uint_eq(ptxi_num_bf16_from_ue8m0(0xff), 0x7fff);
}
END_TEST

/* Checks one float with a scale. A scale of 1 is also checked with the conversion without a scale. */
static uint32_t to_fixed(float a, uint32_t scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();
    uint32_t code = ptxi_num_s2f6_from_f32(a, scale, range);

    if (scale >= PTXI_NUM_S2F6_PLAIN_LEAST && scale <= PTXI_NUM_S2F6_PLAIN_MOST)
        ck_assert_msg(ptxi_num_s2f6_plain(a, scale, range) == code, "%a with scale %u: %#x", a, scale, code);
    return code;
}

/* Each scale with each code, the midpoint between two codes, and the neighbors of both. */
START_TEST(fixed_point)
{
    double scale = _i == 0xff ? NAN : ldexp(1, _i - 127);

    for (int n = -262; n <= 262; n++)
        for (int side = 0; side < 3; side++) {
            float a = (float)(n / 128.0 * (_i == 0xff ? 1 : scale));

            a = side ? nextafterf(a, side == 1 ? -INFINITY : INFINITY) : a;
            ck_assert_msg(to_fixed(a, (uint32_t)_i) == fixed_code(a / scale), "%a with scale %d: %#x, want %#x", a, _i,
                          to_fixed(a, (uint32_t)_i),
                          fixed_code(a / scale));
        }
    ck_assert_uint_eq(to_fixed(INFINITY, (uint32_t)_i), 0x7f);
    ck_assert_uint_eq(to_fixed(-INFINITY, (uint32_t)_i), _i == 0xff ? 0x7f : 0x80);
    ck_assert_uint_eq(to_fixed(NAN, (uint32_t)_i), 0x7f);
    for (int code = -128; code < 128; code++)
        ck_assert_uint_eq(ptxi_num_bf16_from_s2f6((uint32_t)code & 0xff, (uint32_t)_i),
                          small_code(&smalls[BF16_], code / 64.0 * scale, SMALL_RN, false, 0, 0));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("small");
    TCase *t = tcase_create("formats");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, conversion_rounds, 0, SMALLS);
    tcase_add_loop_test(t, conversion_to_f32, 0, SMALLS);
    tcase_add_loop_test(t, conversion_to_f16, E5M2, SMALLS);
    tcase_add_loop_test(t, conversion_from_f16, E5M2, SMALLS);
    tcase_add_test(t, scale_formats);
    tcase_add_loop_test(t, fixed_point, 0, 256);
    suite_add_tcase(s, t);
    return run_suite(s);
}
