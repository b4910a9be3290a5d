/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from s2f6x2. The last source of a scaled conversion has a scale for
 * either element, which is 1 in the others. */
#include "exec/convert.h"

#define ONE 0x7f7fu

/* scale: NULL for 1 */
static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_pair(const struct ptxi_insn *i, struct ptxi_warp *w, const float *high,
                                                                               const float *low, const uint16_t *scale)
{
    LANE_ARRAY(uint32_t, pair); /* lest compilers narrow each of its terms */
    LANE_ARRAY(uint32_t, both);
    RESULT_LANES(uint16_t, r);

    if (scale) {
        FOR_LANES both[l] = scale[l];
        FOR_LANES pair[l] = ptxi_num_s2f6_from_f32(high[l], both[l] >> 8) << 8;
        FOR_LANES pair[l] |= ptxi_num_s2f6_from_f32(low[l], both[l] & 0xff);
    } else {
        FOR_LANES pair[l] = ptxi_num_s2f6_from_f32(high[l], ONE >> 8) << 8;
        FOR_LANES pair[l] |= ptxi_num_s2f6_from_f32(low[l], ONE & 0xff);
    }
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
