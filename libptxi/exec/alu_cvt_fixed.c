/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from s2f6x2. The last source of a scaled conversion has a scale for
 * either element, which is 1 in the others. */
#include "exec/convert.h"

#define ONE 0x7f7fu

/* Whether none of the scales is special. */
static inline bool all_plain(const uint16_t *scale)
{
    typedef uint8_t __attribute__((may_alias)) code;
    const code *s = (const code *)scale;
    uint8_t most = 0;

    PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++) {
        uint8_t above = (uint8_t)(s[k] - PTXI_NUM_S2F6_PLAIN_LEAST);

        most = most > above ? most : above;
    }
    return most <= PTXI_NUM_S2F6_PLAIN_MOST - PTXI_NUM_S2F6_PLAIN_LEAST;
}

static __attribute__((noinline)) void s2f6_of_any_scale(uint32_t *restrict pair, const float *high, const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();

    FOR_LANES pair[l] = ptxi_num_s2f6_from_f32(high[l], scale[l] >> 8, range) << 8 | ptxi_num_s2f6_from_f32(low[l], scale[l] & 0xff, range);
}

/* scale: NULL for 1 */
static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_pair(const struct ptxi_insn *i, struct ptxi_warp *w, const float *high,
                                                                               const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();
    LANE_ARRAY(uint32_t, pair); /* lest compilers narrow each of its terms */
    RESULT_LANES(uint16_t, r);

    if (!scale)
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], ONE >> 8, range) << 8 | ptxi_num_s2f6_plain(low[l], ONE & 0xff, range);
    else if (__builtin_expect(all_plain(scale), 1))
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], scale[l] >> 8, range) << 8 | ptxi_num_s2f6_plain(low[l], scale[l] & 0xff, range);
    else
        s2f6_of_any_scale(pair, high, low, scale);
    FOR_LANES r[l] = (uint16_t)pair[l];
    if (i->mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (uint16_t)(r[l] & ~((r[l] >> 7 & 0x0101u) * 0xff));
    NEXT_WITH_RESULT(r);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_of_bf16x2(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);

    halves_of_bf16x2(high, low, PTXI_SLOT(w, i->a));
    return s2f6_pair(i, w, high, low, scale);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *bf16x2_of_s2f6(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                                                    const uint16_t *scale)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    uint16_t *halves;
    RESULT_LANES(uint32_t, r);

    FOR_LANES {
        uint32_t both = scale ? scale[l] : ONE, code = a[l];

        r[l] = ptxi_num_bf16_from_s2f6(code >> 8, both >> 8) << 16 | ptxi_num_bf16_from_s2f6(code, both & 0xff);
    }
    halves = (uint16_t *)r;
    limit_bf16(halves, i->mods);
    limit_bf16(halves + PTXI_LANES, i->mods);
    NEXT_WITH_RESULT(r);
}

#define UNSCALED(name, function, ...)                                 \
    OP( cvt_##name )                                                  \
    {                                                                 \
        return function(i, w, ##__VA_ARGS__, NULL);                   \
    }
#define SCALED(name, function, slot, ...)                             \
    OP( cvt_scaled_##name )                                           \
    {                                                                 \
        return function(i, w, ##__VA_ARGS__, PTXI_SLOT(w, slot));     \
    }
UNSCALED(s2f6x2_f32, s2f6_pair, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
UNSCALED(s2f6x2_bf16x2, s2f6_of_bf16x2)
UNSCALED(bf16x2_s2f6x2, bf16x2_of_s2f6)
SCALED(s2f6x2_f32, s2f6_pair, i->c, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
SCALED(s2f6x2_bf16x2, s2f6_of_bf16x2, i->b)
SCALED(bf16x2_s2f6x2, bf16x2_of_s2f6, i->b)
