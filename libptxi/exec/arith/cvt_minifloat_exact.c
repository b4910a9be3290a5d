/* PTX ISA, "Data Movement and Conversion Instructions: cvt": from formats of 8, 6 and 4 bits to bf16, to these formats
 * rounded toward zero, with .pzo or a scale, and to and from ue5m3. The arrangement of pairs is that of
 * cvt_minifloat.c. */
#include <float.h>
#include <math.h>

#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"
#include "num/fma.h"

/* The distance in bits between the two elements of a pair, and the bits of an element. */
#define STEP(f) ((f).fraction + (f).exponent == 3 ? 4 : 8)
#define ELEMENT(f, pair, n) ((uint32_t)(pair) >> ((n) ? STEP(f) : 0) & ((1u << STEP(f)) - 1))

/* --- to bf16 --- */
static inline uint32_t bf16_of_code(struct ptxi_num_minifloat f, uint32_t code)
{
    uint32_t bits = ptxi_num_f32_from_minifloat(f, code);

    return ptxi_num_is_nan_f32(bits) ? ptxi_num_bf16.nan : bits >> 16;
}

/* The value times 2^(scale - 127). The product is exact as f32, unless it overflows. */
static inline uint32_t bf16_of_scaled(struct ptxi_num_minifloat f, uint32_t code, uint32_t scale)
{
    float x = ptxi_num_f32(ptxi_num_f32_from_minifloat(f, code));
    uint32_t factor = scale ? scale << 23 : 0x00400000;

    factor = scale == 0xff ? PTXI_NAN_F32 : factor;
    return ptxi_num_minifloat_from_f32(ptxi_num_bf16, ptxi_num_bits_f32(x * ptxi_num_f32(factor)), PTXI_NUM_RN, false);
}

HANDLER_PART(ALWAYS_INLINE, bf16_of_pair, struct ptxi_num_minifloat f, const uint16_t *scale)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    LANE_ARRAY(uint16_t, high);
    LANE_ARRAY(uint16_t, low);
    RESULT_LANES(uint32_t, r);

    if (scale)
        FOR_LANES {
            high[l] = (uint16_t)bf16_of_scaled(f, ELEMENT(f, a[l], 1), scale[l] >> 8);
            low[l] = (uint16_t)bf16_of_scaled(f, ELEMENT(f, a[l], 0), scale[l] & 0xff);
        }
    else
        FOR_LANES {
            high[l] = (uint16_t)bf16_of_code(f, ELEMENT(f, a[l], 1));
            low[l] = (uint16_t)bf16_of_code(f, ELEMENT(f, a[l], 0));
        }
    apply_limits_bf16(high, i->mods);
    apply_limits_bf16(low, i->mods);
    FOR_LANES r[l] = (uint32_t)high[l] << 16 | low[l];
    NEXT_WITH_RESULT(r);
}

#define TO_BF16(f)                                                    \
    OP( cvt_bf16x2_##f##x2 )                                          \
    {                                                                 \
        return bf16_of_pair(i, w, ptxi_num_##f, NULL);                \
    }                                                                 \
    OP( cvt_scaled_bf16x2_##f##x2 )                                   \
    {                                                                 \
        return bf16_of_pair(i, w, ptxi_num_##f, PTXI_SLOT(w, i->b));  \
    }

/* --- rounded toward zero, and ue5m3 --- */

/* The code of a float. A format without a sign gets the magnitude. .pzo makes a negative zero positive. */
static inline uint32_t code_of_f32(struct ptxi_num_minifloat f, uint32_t a, enum ptxi_num_rounding mode, unsigned mods)
{
    bool is_signed = f.fraction + f.exponent != 8;
    uint32_t code;

    if (mods & PTXI_MOD_FTZ && !(a & 0x7f800000))
        a &= 0x80000000;
    code = ptxi_num_minifloat_from_f32(f, is_signed ? a : a & 0x7fffffff, mode, mods & PTXI_MOD_SATFINITE);

    if (mods & PTXI_MOD_PZO && code == ptxi_num_minifloat_sign(f) && is_signed)
        return 0;
    return mods & PTXI_MOD_RELU && code & ptxi_num_minifloat_sign(f) ? 0 : code;
}

HANDLER_PART(ALWAYS_INLINE, pair_of_floats, struct ptxi_num_minifloat f, enum ptxi_num_rounding mode,
             const float *high, const float *low)
{
    const unsigned mods = i->mods;
    RESULT_LANES(uint16_t, r);

    FOR_LANES r[l] = (uint16_t)(code_of_f32(f, ptxi_num_bits_f32(high[l]), mode, mods) << STEP(f) |
                                code_of_f32(f, ptxi_num_bits_f32(low[l]), mode, mods));
    NEXT_WITH_RESULT(r);
}

static inline void unpack_f16x2(float *restrict high, float *restrict low, const uint32_t *restrict a)
{
    FOR_LANES high[l] = ptxi_num_f32_from_f16_bits((uint16_t)(a[l] >> 16));
    FOR_LANES low[l] = ptxi_num_f32_from_f16_bits((uint16_t)a[l]);
}

#define OF_HALVES(name, half, f, mode)                                                        \
    OP( name##_##half##x2 )                                                                   \
    {                                                                                         \
        LANE_ARRAY(float, high);                                                              \
        LANE_ARRAY(float, low);                                                               \
                                                                                              \
        unpack_##half##x2(high, low, PTXI_SLOT(w, i->a));                                     \
        return pair_of_floats(i, w, f, mode, high, low);                                      \
    }
#define TO_PAIR(name, f, mode)                                                                \
    OP( name##_f32 )                                                                          \
    {                                                                                         \
        return pair_of_floats(i, w, f, mode, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b));         \
    }                                                                                         \
    OF_HALVES(name, f16, f, mode)                                                             \
    OF_HALVES(name, bf16, f, mode)

#define FORMAT(f) TO_BF16(f) TO_PAIR(cvt_rz_##f##x2, ptxi_num_##f, PTXI_NUM_RZ)
FORMAT(e4m3)
FORMAT(e5m2)
FORMAT(e3m2)
FORMAT(e2m3)
FORMAT(e2m1)
TO_BF16(ue5m3)
TO_PAIR(cvt_ue5m3x2, ptxi_num_ue5m3, ROUNDING_MODE(i))

/* The codes from 2^16 on become infinite. */
static inline uint32_t f16_of_ue5m3(uint32_t code)
{
    uint32_t large = code == ptxi_num_ue5m3.nan ? PTXI_NAN_F16 : 0x7c00;

    return code < 0xf8 ? code << 7 : large;
}
OP1(cvt_f16x2_ue5m3x2, uint32_t, uint16_t, f16_of_ue5m3(a[l] >> 8) << 16 | f16_of_ue5m3(a[l] & 0xff))

/* --- .pzo --- */
#define PZO_SINGLE(f, type, shift)                                                                              \
    OP1(cvt_pzo_##f##_f32, type, uint32_t,                                                                      \
        (type)(code_of_f32(ptxi_num_##f, a[l], ROUNDING_MODE(i), i->mods) << (shift)))
PZO_SINGLE(f16, uint16_t, 0)
PZO_SINGLE(bf16, uint16_t, 0)
PZO_SINGLE(tf32, uint32_t, 13)
#define PZO_PAIR(f)                                                                                             \
    OP2(cvt_pzo_##f##x2_f32, uint32_t, uint32_t, uint32_t,                                                      \
        code_of_f32(ptxi_num_##f, a[l], ROUNDING_MODE(i), i->mods) << 16 |                                      \
            code_of_f32(ptxi_num_##f, b[l], ROUNDING_MODE(i), i->mods))
PZO_PAIR(f16)
PZO_PAIR(bf16)

/* --- divided by a scale, which is common to both elements; sources below the smallest normal number are 0 --- */
static inline float divide(float x, float least, uint32_t scale)
{
    double quotient = (fabsf(x) < least ? copysignf(0.0f, x) : (double)x) *
                      ptxi_num_f64((uint64_t)(1023 + 127 - scale) << 52);
    double most = copysign((double)FLT_MAX, x); /* a quotient beyond floats must not become infinite */

    if (scale == 0xff)
        return NAN;
    return isfinite(x) && fabs(quotient) > FLT_MAX ? (float)most : ptxi_num_f32_odd(quotient);
}

HANDLER_PART(OUT_OF_LINE, pair_of_quotients, struct ptxi_num_minifloat f, const float *high, const float *low,
             float least, const uint16_t *scale)
{
    LANE_ARRAY(float, x);
    LANE_ARRAY(float, y);

    for (int l = 0; l < PTXI_LANES; l++) {
        x[l] = divide(high[l], least, scale[l] & 0xff);
        y[l] = divide(low[l], least, scale[l] & 0xff);
    }
    return pair_of_floats(i, w, f, ROUNDING_MODE(i), x, y);
}

#define QUOTIENTS_OF_HALVES(f, half, least)                                                                     \
    OP( cvt_n1_##f##x2_##half##x2 )                                                                             \
    {                                                                                                           \
        LANE_ARRAY(float, high);                                                                                \
        LANE_ARRAY(float, low);                                                                                 \
                                                                                                                \
        unpack_##half##x2(high, low, PTXI_SLOT(w, i->a));                                                       \
        return pair_of_quotients(i, w, ptxi_num_##f, high, low, least, PTXI_SLOT(w, i->b));                     \
    }
#define QUOTIENTS(f)                                                                                            \
    OP( cvt_n1_##f##x2_f32 )                                                                                    \
    {                                                                                                           \
        return pair_of_quotients(i, w, ptxi_num_##f, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), FLT_MIN,           \
                                 PTXI_SLOT(w, i->c));                                                           \
    }                                                                                                           \
    QUOTIENTS_OF_HALVES(f, f16, 0x1p-14f)                                                                       \
    QUOTIENTS_OF_HALVES(f, bf16, FLT_MIN)
#define FORMAT_107(f) TO_PAIR(cvt_pzo_##f##x2, ptxi_num_##f, ROUNDING_MODE(i)) QUOTIENTS(f)
FORMAT_107(e4m3)
FORMAT_107(e5m2)
FORMAT_107(e3m2)
FORMAT_107(e2m3)
FORMAT_107(e2m1)
QUOTIENTS(ue5m3)
