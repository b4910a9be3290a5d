/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from the formats of 8, 6 and 4 bits. Elements come in pairs,
 * the one made of operand a, or of the upper half of a, above the other. A pair of e2m1 is in the low 8 bits of a 16-bit slot. */
#include "exec/convert.h"

/* Distance of the two elements of a pair. */
enum { APART_e4m3 = 8, APART_e5m2 = 8, APART_e3m2 = 8, APART_e2m3 = 8, APART_e2m1 = 4 };

/* .relu: the elements, of 1 + n bits in fields `apart` bits wide, that have a sign become 0. No NaN has one. */
static inline void drop_negative_16(uint16_t *r, int n, int apart)
{
    const uint16_t signs = (uint16_t)((1u | 1u << apart) << n);

    FOR_LANES {
        uint16_t s = r[l] & signs, below = (uint16_t)(s - (s >> n));

        r[l] = (uint16_t)(r[l] & ~(s | below));
    }
}

/* --- halves of a register as floats --- */
static void halves_of_f16x2(float *restrict high, float *restrict low, const uint32_t *a)
{
    LANE_ARRAY(uint16_t, h);

    FOR_LANES h[l] = (uint16_t)(a[l] >> 16);
    f32_of_f16(high, h);
    FOR_LANES h[l] = (uint16_t)a[l];
    f32_of_f16(low, h);
}

#define FROM_HALVES(to, from)                        \
    OP( cvt_##to##x2_##from )                        \
    {                                                \
        LANE_ARRAY(float, high);                     \
        LANE_ARRAY(float, low);                      \
                                                     \
        halves_of_##from(high, low, PTXI_SLOT(w, i->a)); \
        return to##_pair(i, w, high, low);           \
    }

/* --- to e4m3 and the like, to nearest --- */
#define TO_SMALL(f)                                                                                                   \
    static __attribute__((noinline)) void f##_pair_with_nans(uint16_t *restrict r, const float *high, const float *low) \
    {                                                                                                                 \
        const struct ptxi_num_small format = ptxi_num_##f;                                                            \
                                                                                                                      \
        FOR_LANES {                                                                                                   \
            uint32_t x = ptxi_num_small_from_f32(format, ptxi_num_bits_f32(high[l]), PTXI_NUM_RN, true);              \
            uint32_t y = ptxi_num_small_from_f32(format, ptxi_num_bits_f32(low[l]), PTXI_NUM_RN, true);               \
                                                                                                                      \
            r[l] = (uint16_t)(x << APART_##f | y);                                                                    \
        }                                                                                                             \
    }                                                                                                                 \
    static __attribute__((noinline)) void f##_pair_of_numbers(uint16_t *restrict r, const float *high, const float *low) \
    {                                                                                                                 \
        const struct ptxi_num_small format = ptxi_num_##f;                                                            \
        const int drop = 31 - format.fraction - format.exponent;                                                      \
        const uint32_t limit = ptxi_num_small_limit(format), sign = ptxi_num_small_sign(format);                      \
        LANE_ARRAY(uint32_t, pair); /* lest compilers narrow each of its terms */                                     \
                                                                                                                      \
        FOR_LANES {                                                                                                   \
            uint32_t a = ptxi_num_bits_f32(high[l]), b = ptxi_num_bits_f32(low[l]);                                   \
            uint32_t m = a & 0x7fffffff, n = b & 0x7fffffff, x, y;                                                    \
                                                                                                                      \
            x = ptxi_num_small_nearest(format, (int32_t)m < (int32_t)limit ? m : limit) | (a >> drop & sign);         \
            y = ptxi_num_small_nearest(format, (int32_t)n < (int32_t)limit ? n : limit) | (b >> drop & sign);         \
            pair[l] = x << APART_##f | y;                                                                             \
        }                                                                                                             \
        FOR_LANES r[l] = (uint16_t)pair[l];                                                                           \
    }                                                                                                                 \
    static __attribute__((noinline)) const struct ptxi_insn *f##_pair(const struct ptxi_insn *i, struct ptxi_warp *w, \
                                                                      const float *high, const float *low)            \
    {                                                                                                                 \
        RESULT_LANES(uint16_t, r);                                                                                    \
                                                                                                                      \
        if (__builtin_expect(ptxi_any_nan_f32(high) || ptxi_any_nan_f32(low), 0))                                     \
            f##_pair_with_nans(r, high, low);                                                                         \
        else                                                                                                          \
            f##_pair_of_numbers(r, high, low);                                                                        \
        if (i->mods & PTXI_MOD_RELU)                                                                                  \
            drop_negative_16(r, ptxi_num_##f.fraction + ptxi_num_##f.exponent, APART_##f);                            \
        NEXT_WITH_RESULT(r);                                                                                          \
    }                                                                                                                 \
    OP( cvt_##f##x2_f32 )                                                                                             \
    {                                                                                                                 \
        return f##_pair(i, w, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b));                                                \
    }                                                                                                                 \
    FROM_HALVES(f, f16x2)                                                                                             \
    FROM_HALVES(f, bf16x2)

/* --- .rs: one of the two pairs that it makes; imm is how far up in c its random bits are --- */
#define AT_RANDOM(f, bits, next)                                                                                      \
    OP( cvt_rs_##f##x4_f32 )                                                                                          \
    {                                                                                                                 \
        const struct ptxi_num_small format = ptxi_num_##f;                                                            \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);                     \
        int shift = i->imm;                                                                                           \
        RESULT_LANES(uint16_t, r);                                                                                    \
                                                                                                                      \
        FOR_LANES {                                                                                                   \
            uint32_t random = c[l] >> shift, mask = (1 << bits) - 1;                                                  \
            uint32_t x = ptxi_num_small_at_random(format, a[l], random >> next & mask, bits, true);                   \
            uint32_t y = ptxi_num_small_at_random(format, b[l], random & mask, bits, true);                           \
                                                                                                                      \
            r[l] = (uint16_t)(x << APART_##f | y);                                                                    \
        }                                                                                                             \
        if (i->mods & PTXI_MOD_RELU)                                                                                  \
            drop_negative_16(r, format.fraction + format.exponent, APART_##f);                                        \
        NEXT_WITH_RESULT(r);                                                                                          \
    }

/* --- to f16: an array of twice as many elements --- */
#define FOR_ELEMENTS PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)
typedef uint16_t __attribute__((may_alias)) element;

static void spread_8(element *r, const uint8_t *a)
{
    FOR_ELEMENTS r[k] = a[k];
}

static void spread_4(element *r, const uint16_t *a)
{
    LANE_ARRAY(uint16_t, bytes);

    FOR_LANES bytes[l] = (uint16_t)((a[l] & 0xf) | (a[l] & 0xf0) << 4);
    spread_8(r, (const uint8_t *)bytes);
}

#define FROM_SMALL(f)                                                  \
    OP( cvt_f16x2_##f##x2 )                                            \
    {                                                                  \
        RESULT_LANES(uint32_t, r);                                     \
        element *h = (element *)r;                                     \
                                                                       \
        if (APART_##f == 8)                                            \
            spread_8(h, PTXI_SLOT(w, i->a));                           \
        else                                                           \
            spread_4(h, PTXI_SLOT(w, i->a));                           \
        FOR_ELEMENTS h[k] = ptxi_num_f16_from_small(ptxi_num_##f, h[k]); \
        if (i->mods & PTXI_MOD_RELU)                                   \
            FOR_ELEMENTS h[k] = (int16_t)h[k] < 0 ? 0 : h[k];          \
        NEXT_WITH_RESULT(r);                                           \
    }

/* Of the elements of 8 and 6 bits two have 16 random bits in common; of those of 4 bits each has 8 of its own. */
#define FORMAT(f, bits, next) TO_SMALL(f) AT_RANDOM(f, bits, next) FROM_SMALL(f)
FORMAT(e4m3, 16, 0)
FORMAT(e5m2, 16, 0)
FORMAT(e3m2, 16, 0)
FORMAT(e2m3, 16, 0)
FORMAT(e2m1, 8, 16)

/* --- ue8m0 --- */
static __attribute__((noinline)) const struct ptxi_insn *ue8m0_pair(const struct ptxi_insn *i, struct ptxi_warp *w, const float *high,
                                                                    const float *low)
{
    bool up = MODE_OF(i) == PTXI_NUM_RP, finite = i->mods & PTXI_MOD_SATFINITE;
    RESULT_LANES(uint16_t, r);

    FOR_LANES {
        uint32_t x = ptxi_num_ue8m0_from_f32(ptxi_num_bits_f32(high[l]), up, finite);

        r[l] = (uint16_t)(x << 8 | ptxi_num_ue8m0_from_f32(ptxi_num_bits_f32(low[l]), up, finite));
    }
    NEXT_WITH_RESULT(r);
}

OP( cvt_ue8m0x2_f32 )
{
    return ue8m0_pair(i, w, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b));
}

FROM_HALVES(ue8m0, bf16x2)

OP( cvt_bf16x2_ue8m0x2 )
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    RESULT_LANES(uint32_t, r);

    FOR_LANES r[l] = ptxi_num_bf16_from_ue8m0((uint32_t)a[l] >> 8) << 16 | ptxi_num_bf16_from_ue8m0(a[l] & 0xff);
    NEXT_WITH_RESULT(r);
}
