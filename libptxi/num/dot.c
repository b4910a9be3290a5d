#include "num/dot.h"

#include <assert.h>

#include "num/fma.h"
#include "num/half.h"

const struct ptxi_num_minifloat ptxi_dot_formats[PTXI_DOT_TYPES] = {
#define X(name, ...) { __VA_ARGS__ },
    PTXI_NUM_MINIFLOAT_FORMATS(X)
#undef X
};

/* --- the models --- */

enum group { GROUP_TF32, GROUP_HALF, GROUP_BYTE };

static enum group group_of(enum ptxi_dot_type t)
{
    switch (t) {
    case PTXI_DOT_tf32: return GROUP_TF32;
    case PTXI_DOT_f16: case PTXI_DOT_bf16: return GROUP_HALF;
    default: return GROUP_BYTE;
    }
}

/* The first row with an architecture that is not newer than the device applies. A chunk is the number of elements of A
 * that the unit reads in one step. They have 8 bytes on Volta, 16 bytes up to Ada, and 32 bytes from Hopper on. */
static const struct {
    uint8_t sm, unit, group, f16_result;
    struct ptxi_dot_model model;
} models[] = {
#define WARP(sm, group, chunk, kept, method, zero, zero_f16)                                                   \
    { sm, PTXI_DOT_WARP, group, false, { chunk, kept, PTXI_DOT_RZ_F32, method, zero } },                       \
    { sm, PTXI_DOT_WARP, group, true, { chunk, kept, PTXI_DOT_RN_F16, method, zero_f16 } },
#define ASYNC(sm, group, chunk, kept, rounding)                                                                \
    { sm, PTXI_DOT_ASYNC, group, false, { chunk, kept, rounding, PTXI_DOT_CHUNKS, -133 } },                    \
    { sm, PTXI_DOT_ASYNC, group, true, { chunk, kept, PTXI_DOT_RN_F16, PTXI_DOT_CHUNKS, -133 } },
    WARP(120, GROUP_BYTE, 32, 25, PTXI_DOT_CHUNKS, -133, -22)
    ASYNC(100, GROUP_BYTE, 32, 25, PTXI_DOT_RZ_F32)
    WARP(90, GROUP_TF32, 8, 25, PTXI_DOT_CHUNKS, -133, -22)
    WARP(90, GROUP_HALF, 16, 25, PTXI_DOT_CHUNKS, -133, -22)
    WARP(90, GROUP_BYTE, 16, 25, PTXI_DOT_HALVES, -133, -22)
    ASYNC(90, GROUP_TF32, 8, 25, PTXI_DOT_RZ_F32)
    ASYNC(90, GROUP_HALF, 16, 25, PTXI_DOT_RZ_F32)
    ASYNC(90, GROUP_BYTE, 32, 13, PTXI_DOT_RZ_E8M13)
    { 89, PTXI_DOT_WARP, GROUP_BYTE, false, { 16, 13, PTXI_DOT_RZ_E8M13, PTXI_DOT_CHUNKS, -132 } },
    { 89, PTXI_DOT_WARP, GROUP_BYTE, true, { 16, 13, PTXI_DOT_RN_F16, PTXI_DOT_CHUNKS, -21 } },
    WARP(80, GROUP_TF32, 4, 24, PTXI_DOT_CHUNKS, -132, -21)
    WARP(75, GROUP_HALF, 8, 24, PTXI_DOT_CHUNKS, -132, -21)
    WARP(70, GROUP_HALF, 4, 23, PTXI_DOT_CHUNKS, -131, -20)
#undef WARP
#undef ASYNC
};

struct ptxi_dot_model ptxi_dot_find(unsigned sm, enum ptxi_dot_unit unit, enum ptxi_dot_type a, bool f16_result)
{
    enum group group = group_of(a);
    unsigned i = 0, best = 0;

    for (; i < sizeof models / sizeof *models; i++)
        if (models[i].unit == unit && models[i].group == group && models[i].f16_result == f16_result) {
            best = i;
            if (models[i].sm <= sm)
                break;
        }
    return models[best].model;
}

struct ptxi_dot_model ptxi_dot_find_m8n8k4(unsigned sm, bool f16_result)
{
    struct ptxi_dot_model m = ptxi_dot_find(sm, PTXI_DOT_WARP, PTXI_DOT_f16, f16_result);

    if (sm >= 80)
        m.method = PTXI_DOT_FUSED;
    return m;
}

/* --- terms --- */

enum class { FINITE, INFINITE, NOT_A_NUMBER };

/* significand * 2^(exponent - fraction). A subnormal number has the exponent of the smallest normal number. */
struct number {
    enum class class;
    bool negative;
    int exponent, fraction;
    uint64_t significand;
};

static struct number decode(struct ptxi_num_minifloat f, uint32_t code)
{
    uint32_t sign = ptxi_num_minifloat_sign(f), m = code & (sign - 1), e = m >> f.fraction;
    struct number x = { FINITE, code & sign, (int)(e ? e : 1) - f.bias, f.fraction, m & ((1u << f.fraction) - 1) };

    x.significand |= e ? 1u << f.fraction : 0;
    if (m > f.top)
        x.class = m == f.inf && m != f.nan ? INFINITE : NOT_A_NUMBER;
    return x;
}

/* Most subnormal numbers of the minifloat formats are normal numbers of f16. */
static struct number decode_element(const struct ptxi_dot_model *m, enum ptxi_dot_type t, uint32_t code)
{
    if (m->method == PTXI_DOT_HALVES)
        return decode(ptxi_num_f16, ptxi_num_f16_from_minifloat(ptxi_dot_formats[t], (uint16_t)code));
    return decode(ptxi_dot_formats[t], code);
}

static struct number decode_c(bool f16, uint32_t c)
{
    static const struct ptxi_num_minifloat f32 = { 23, 8, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff };

    return decode(f16 ? ptxi_num_f16 : f32, c);
}

/* The special terms of a sum: NaNs and infinities. */
struct specials {
    bool nan, positive, negative;
};

static void add_special(struct specials *s, const struct number *x)
{
    s->nan |= x->class == NOT_A_NUMBER;
    if (x->class == INFINITE)
        *(x->negative ? &s->negative : &s->positive) = true;
}

static struct number multiply(const struct number *a, const struct number *b)
{
    struct number p = { FINITE, a->negative != b->negative, a->exponent + b->exponent, a->fraction + b->fraction,
                        a->significand * b->significand };
    bool a_is_zero = a->class == FINITE && !a->significand, b_is_zero = b->class == FINITE && !b->significand;

    if (a->class == NOT_A_NUMBER || b->class == NOT_A_NUMBER)
        p.class = NOT_A_NUMBER;
    else if (a->class == INFINITE || b->class == INFINITE)
        p.class = a_is_zero || b_is_zero ? NOT_A_NUMBER : INFINITE;
    return p;
}

/* Returns true if the sum is an infinity or a NaN, and sets *result. */
static bool special_result(const struct specials *s, bool f16, uint32_t *result)
{
    static const uint32_t infinities[2][2] = { { 0x7f800000, 0xff800000 }, { 0x7c00, 0xfc00 } };

    if (s->nan || (s->positive && s->negative))
        *result = f16 ? PTXI_NAN_F16 : PTXI_NAN_F32;
    else if (s->positive || s->negative)
        *result = infinities[f16][s->negative];
    else
        return false;
    return true;
}

/* A term in units of 2^(largest exponent - kept), truncated. */
static int64_t align(const struct number *x, int largest, int kept)
{
    int up = x->exponent - x->fraction - largest + kept;
    int64_t m = 0;

    assert(!x->significand || up < 63);
    if (x->significand && up >= 0)
        m = (int64_t)(x->significand << up);
    else if (x->significand && up > -64)
        m = (int64_t)(x->significand >> -up);
    return x->negative ? -m : m;
}

/* Rounds sum * 2^exponent to the result. A zero is positive, even if the sum is negative. */
static uint32_t round_sum(enum ptxi_dot_rounding rounding, int64_t sum, int exponent)
{
    struct ptxi_num_exact x = { sum < 0, exponent, (uint64_t)(sum < 0 ? -sum : sum) };
    int fraction = rounding == PTXI_DOT_RZ_E8M13 ? 13 : 23;
    uint32_t r;

    if (!sum)
        return 0;
    if (rounding == PTXI_DOT_RN_F16) {
        r = (uint32_t)ptxi_num_round((struct ptxi_num_format){ 10, 5 }, PTXI_NUM_RN, x);
        return r & 0x7fff ? r : 0;
    }
    if (ptxi_num_top_bit(x.magnitude) + exponent > 127)
        return (x.negative ? 0xff800000 : 0x7f800000);
    r = (uint32_t)ptxi_num_round((struct ptxi_num_format){ fraction, 8 }, PTXI_NUM_RZ, x) << (23 - fraction);
    return r & 0x7fffffff ? r : 0;
}

/* --- sums --- */

enum { MAX_PRODUCTS = 96 };

static uint32_t chunk(const struct ptxi_dot_model *m, const struct number *products, unsigned n, uint32_t c)
{
    bool f16 = m->rounding == PTXI_DOT_RN_F16;
    struct number addend = decode_c(f16, c);
    struct specials special = { 0 };
    uint32_t r;
    int largest = m->zero;
    int64_t sum;

    add_special(&special, &addend);
    if (addend.significand && addend.exponent > largest)
        largest = addend.exponent;
    for (unsigned k = 0; k < n; k++) {
        add_special(&special, &products[k]);
        if (products[k].significand && products[k].exponent > largest)
            largest = products[k].exponent;
    }
    if (special_result(&special, f16, &r))
        return r;
    sum = align(&addend, largest, m->kept);
    for (unsigned k = 0; k < n; k++)
        sum += align(&products[k], largest, m->kept);
    return round_sum((enum ptxi_dot_rounding)m->rounding, sum, largest - m->kept);
}

/* Adds the products with k % 4 in the set, chunk by chunk. */
static uint32_t chunks(const struct ptxi_dot_model *m, const struct number *products, unsigned n, unsigned set,
                       uint32_t c)
{
    struct number part[MAX_PRODUCTS];
    unsigned count = 0;

    assert(n <= MAX_PRODUCTS && m->chunk);

    for (unsigned k = 0; k < n; k++) {
        if (set >> k % 4 & 1)
            part[count++] = products[k];
        if (count == m->chunk || (k + 1 == n && count)) {
            c = chunk(m, part, count, c);
            count = 0;
        }
    }
    return c;
}

static uint32_t add_f32(uint32_t a, uint32_t b)
{
    return ptxi_num_canon_f32(ptxi_num_f32(a) + ptxi_num_f32(b));
}

static uint32_t add_f16(uint32_t a, uint32_t b)
{
    return ptxi_num_f16_nearest(ptxi_num_f32_from_f16_bits((uint16_t)a) + ptxi_num_f32_from_f16_bits((uint16_t)b));
}

static uint32_t fused(bool f16, const uint32_t *a, const uint32_t *b, uint32_t c)
{
    float x[4], y[4], t, u;

    for (unsigned k = 0; k < 4; k++) {
        x[k] = ptxi_num_f32_from_f16_bits((uint16_t)a[k]);
        y[k] = ptxi_num_f32_from_f16_bits((uint16_t)b[k]);
    }
    if (!f16) {
        t = ptxi_num_fma_f32(x[0], y[0], 0.0f);
        for (unsigned k = 1; k < 4; k++)
            t = ptxi_num_fma_f32(x[k], y[k], t);
        return add_f32(c, ptxi_num_bits_f32(t));
    }
    t = ptxi_num_fma_f32(x[1], y[1], x[0] * y[0]);
    u = ptxi_num_fma_f32(x[3], y[3], x[2] * y[2]);
    return ptxi_num_f16_nearest((ptxi_num_f32_from_f16_bits((uint16_t)c) + t) + u);
}

uint32_t ptxi_dot(const struct ptxi_dot_model *model, enum ptxi_dot_type ta, enum ptxi_dot_type tb, const uint32_t *a,
                  const uint32_t *b, unsigned n, uint32_t c)
{
    bool f16 = model->rounding == PTXI_DOT_RN_F16;
    struct number products[MAX_PRODUCTS];
    uint32_t t;

    assert(n <= MAX_PRODUCTS && ta < PTXI_DOT_TYPES && tb < PTXI_DOT_TYPES);
    if (model->method == PTXI_DOT_FUSED)
        return fused(f16, a, b, c);
    for (unsigned k = 0; k < n; k++) {
        struct number x = decode_element(model, ta, a[k]), y = decode_element(model, tb, b[k]);

        products[k] = multiply(&x, &y);
    }
    if (model->method == PTXI_DOT_CHUNKS)
        return chunks(model, products, n, 15, c);
    t = chunks(model, products, n, 3, 0);
    t = chunks(model, products, n, 12, t);
    return f16 ? add_f16(c, t) : add_f32(c, t);
}

/* --- block scaling --- */

static struct number scale(enum ptxi_dot_scale_type type, uint8_t code)
{
    if (type == PTXI_SCALE_UE4M3)
        return decode(ptxi_num_e4m3, code & 0x7f);
    if (type == PTXI_SCALE_UE5M3)
        return decode(ptxi_num_ue5m3, code);
    return (struct number){ code == 0xff ? NOT_A_NUMBER : FINITE, false, code - 127, 0, 1 };
}

/* The exact sum of the products of 4-bit floats under one scale is one term. Its exponent is that of the scale. */
static struct number sum_of_group(const struct number *products, unsigned n, struct number s)
{
    struct number r = s;
    int64_t sum = 0;
    bool any = false;

    for (unsigned k = 0; k < n; k++) {
        sum += align(&products[k], 0, 2);
        any |= products[k].significand != 0;
    }
    r.negative = sum < 0;
    r.significand *= (uint64_t)(sum < 0 ? -sum : sum);
    r.fraction += 2;
    if (!any || !s.significand)
        r.significand = 0;
    return r;
}

static uint32_t scaled_groups(const struct number *products, const struct number *scales, unsigned n, uint32_t c)
{
    enum { GROUP = 16, KEPT = 35, ZERO = -139 };
    struct number terms[MAX_PRODUCTS / GROUP + 1], addend = decode_c(false, c);
    struct specials special = { 0 };
    unsigned count = n / GROUP;
    int largest = ZERO;
    uint32_t r;
    int64_t sum = 0;

    terms[count] = addend;
    add_special(&special, &addend);
    for (unsigned g = 0; g < count; g++) {
        bool zeros = true;

        for (unsigned k = 0; k < GROUP; k++)
            zeros &= !products[g * GROUP + k].significand;
        terms[g] = sum_of_group(products + g * GROUP, GROUP, scales[g * GROUP]);
        add_special(&special, &scales[g * GROUP]);
        if (!zeros && scales[g * GROUP].significand && terms[g].exponent > largest)
            largest = terms[g].exponent;
    }
    if (special_result(&special, false, &r))
        return r;
    if (addend.significand && addend.exponent > largest)
        largest = addend.exponent;
    for (unsigned g = 0; g <= count; g++)
        sum += align(&terms[g], largest, KEPT);
    return round_sum(PTXI_DOT_RZ_F32, sum, largest - KEPT);
}

uint32_t ptxi_dot_scaled(enum ptxi_dot_type ta, enum ptxi_dot_type tb, const uint32_t *a, const uint32_t *b, unsigned n,
                         uint32_t c, const struct ptxi_dot_scales *s)
{
    static const struct ptxi_dot_model bytes = { 32, 25, PTXI_DOT_RZ_F32, PTXI_DOT_CHUNKS, -133 };
    struct number products[MAX_PRODUCTS], scales[MAX_PRODUCTS];

    assert(n <= MAX_PRODUCTS && s->block);
    for (unsigned k = 0; k < n; k++) {
        struct number x = decode(ptxi_dot_formats[ta], a[k]), y = decode(ptxi_dot_formats[tb], b[k]);
        struct number sa = scale(s->type, s->a[k / s->block]), sb = scale(s->type, s->b[k / s->block]);

        products[k] = multiply(&x, &y);
        scales[k] = multiply(&sa, &sb);
        if (n == 32)
            products[k] = multiply(&products[k], &scales[k]);
    }
    return n == 32 ? chunks(&bytes, products, n, 15, c) : scaled_groups(products, scales, n, c);
}
