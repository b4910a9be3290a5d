#include "unit/support/minifloat_reference.h"

#include <math.h>

const struct small smalls[SMALLS + 1] = {
    [TF32] = { 10, 8, 127, 0x3fbff, 0x3ffff, true }, [F16_] = { 10, 5, 15, 0x7bff, 0x7fff, true }, [BF16_] = { 7, 8,
            127, 0x7f7f, 0x7fff, true },
    [E5M2] = { 2, 5, 15, 0x7b, 0x7f, true },         [E4M3] = { 3, 4, 7, 0x7e, 0x7f, false },      [E3M2] = { 2, 3, 3,
    0x1f, 0x1f, false },
    [E2M3] = { 3, 2, 1, 0x1f, 0x1f, false },         [E2M1] = { 1, 2, 1, 0x7, 0x7, false },
    [UE5M3] = { 3, 5, 15, 0xfe, 0xff, false },
};

double small_value(const struct small *f, unsigned code)
{
    unsigned fraction = code & ((1u << f->fraction) - 1), e = code >> f->fraction;

    return e ? ldexp(fraction + (1u << f->fraction), (int)e - f->bias - f->fraction) : ldexp(fraction,
            1 - f->bias - f->fraction);
}

double small_number(const struct small *f, unsigned code)
{
    unsigned m = code & (small_sign(f) - 1);
    double x = m <= f->top ? small_value(f, m) : f->has_inf && m == f->top + 1 ? INFINITY : NAN;

    return code & small_sign(f) ? -x : x;
}

static bool rounds_up(double fraction, bool negative, bool odd, int rounding, unsigned random, int bits)
{
    switch (rounding) {
    case SMALL_RN: return fraction > 0.5 || (fraction == 0.5 && odd);
    case SMALL_RZ: return false;
    case SMALL_RM: return negative && fraction > 0;
    case SMALL_RP: return !negative && fraction > 0;
    case SMALL_RNA: return fraction >= 0.5;
    default: return floor(ldexp(fraction, bits)) + random >= ldexp(1, bits);
    }
}

unsigned small_code(const struct small *f, double x, int rounding, bool finite, unsigned random, int bits)
{
    unsigned low = 0, high = f->top + 1, sign = signbit(x) ? small_sign(f) : 0;
    double m = fabs(x);

    if (isnan(x))
        return f->nan;
    if (!isinf(x)) {
        while (high - low > 1) {
            unsigned middle = (low + high) / 2;

            if (small_value(f, middle) <= m)
                low = middle;
            else
                high = middle;
        }
        high = low + rounds_up((m - small_value(f, low)) / (small_value(f, low + 1) - small_value(f, low)), sign,
                               low & 1, rounding, random, bits);
    }
    return sign | (high > f->top && (finite || !f->has_inf) ? f->top : high);
}

unsigned fixed_code(double x)
{
    int best = 127;

    x = x < -3 ? -3 : x > 3 ? 3 : x;
    for (int code = -128; code < 127 && !isnan(x); code++) {
        double d = fabs(code / 64.0 - x), least = fabs(best / 64.0 - x);

        if (d < least || (d == least && !(code & 1)))
            best = code;
    }
    return (unsigned)best & 0xff;
}
