/* The constants that exec/arith/approx.h declares. */
#include "exec/arith/approx.h"

#include "num/approx.h"

#define TWICE(v) ((v) * 0x10001u)
#define WIDE(v) { v, v, v, v, v, v, v, v }
#define BITS(n)                                                                                             \
    WIDE(1u << (n)), WIDE(2u << (n)), WIDE(4u << (n)), WIDE(8u << (n)), WIDE(16u << (n)), WIDE(32u << (n)), \
        WIDE(64u << (n)), WIDE(128u << (n))

#define EXCHANGED 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14

const struct ptxi_approx_constants ptxi_approx_constants = {
    .middle = WIDE(0x80008000),
    .a = WIDE(TWICE(0xfe00)),
    .ceiling = WIDE(TWICE(0xffc0)),
    .low = WIDE(TWICE(0x00c0)),
    .a65 = WIDE(TWICE(0xc000)),
    .b40 = WIDE(TWICE(0x003e)),
    .a43 = WIDE(TWICE(0x3000)),
    .b42 = WIDE(TWICE(0x0038)),
    .a2 = WIDE(TWICE(0x0800)),
    .b4 = WIDE(TWICE(0x0020)),
    .a654 = WIDE(TWICE(0xe000)),
    .b41 = WIDE(TWICE(0x003c)),
    .a32 = WIDE(TWICE(0x1800)),
    .b43 = WIDE(TWICE(0x0030)),
    .fraction20 = WIDE(0x000fffff),
    .a65_b4 = WIDE(TWICE(0xc020)),
    .b40_a2 = WIDE(TWICE(0x3e08)),
    .exchanged = { EXCHANGED, EXCHANGED },
    .lower_half = WIDE(0x0000ffff),
    .upper_half = WIDE(0xffff0000),
    .other_bytes = WIDE(0x80808000),
    .bit = { BITS(0), BITS(8), BITS(16), BITS(24) },
    .ones = WIDE(0xffffffff),
    .exponent = WIDE(0xff800000),
    .exponent7 = WIDE(7u << 23),
    .significand = WIDE(0x007fffff),
    .magnitude = WIDE(0x7fffffff),
    .fraction30 = WIDE(0x3fffffff),
    .low7 = WIDE(0x7f),
    .float_2_m14 = WIDE(0x38800000),
    .float_2_m30 = WIDE(0x30800000),
    .x_and_row = WIDE(0xffff803f),
};

/* Ranges of ordinary operands: the floats from one to another. The lower half of the first is all zeros, that of the
 * last all ones. Without _SIGNED these are magnitudes. */
#define FROM_TO(first_, last_)                        \
    .first = WIDE(TWICE((first_) >> 16 << 1)),        \
    .last = WIDE(TWICE((((last_) - (first_)) >> 16 << 1) + 1))
#define FROM_TO_SIGNED(first_, last_)                 \
    .first = WIDE(TWICE((first_) >> 16)),             \
    .last = WIDE(TWICE(((last_) - (first_)) >> 16))
#define EXPONENT(e) ((uint32_t)(e) << 23)
#define ONE(e) .one = WIDE(EXPONENT(e)), .less_one = WIDE(0x80000000 - EXPONENT(e))

/* The operand and its reciprocal are normal, so neither needs scaling. */
const struct ptxi_approx_unit ptxi_approx_rcp = {
    FROM_TO(0x00800000u, 0x7e7fffffu), .bias = WIDE(PTXI_RCP_BIAS), .offset = WIDE(EXPONENT(252)),
};
/* exact: the low sum for the operand 1, which has row 64, where c1 is -32763, and x = 0 */
const struct ptxi_approx_unit ptxi_approx_rsqrt = {
    FROM_TO_SIGNED(0x00800000u, 0x7f7fffffu), .bias = WIDE(PTXI_RSQRT_BIAS), .offset = WIDE(EXPONENT(63)),
    .exact = WIDE(32763 * 32768 + PTXI_RSQRT_BIAS),
};
const struct ptxi_approx_unit ptxi_approx_sqrt = {
    FROM_TO_SIGNED(0x00800000u, 0x7f7fffffu), .bias = WIDE(PTXI_SQRT_BIAS),
};
const struct ptxi_approx_unit ptxi_approx_ex2 = {
    FROM_TO(0u, 0x42fbffffu), .bias = WIDE(PTXI_EX2_BIAS), .scale = WIDE(0x1p23f),
};
const struct ptxi_approx_unit ptxi_approx_lg2 = {
    FROM_TO_SIGNED(0x00800000u, 0x7f7fffffu), .bias = WIDE(PTXI_LG2_BIAS), .offset = WIDE(EXPONENT(127)),
    .one = WIDE(EXPONENT(23)), .one_near = WIDE(EXPONENT(30)), .one_fine = WIDE(EXPONENT(36)), .scale = WIDE(0x1p-30f),
};
/* From 2^-2 to 2^2, without 2^2. */
const struct ptxi_approx_unit ptxi_approx_lg2_near = { FROM_TO_SIGNED(0x3e800000u, 0x407fffffu) };
/* scale: 1 / 2 pi with the precision of the unit, for 25 fraction bits */
const struct ptxi_approx_unit ptxi_approx_sin = {
    FROM_TO(0u, 0x437fffffu), .scale = WIDE(0x1.45f306p22f), ONE(30), .one_fine = WIDE(EXPONENT(37)),
};
const struct ptxi_approx_unit ptxi_approx_cos = {
    FROM_TO(0u, 0x437fffffu), .scale = WIDE(0x1.45f306p22f), ONE(30), .one_fine = WIDE(EXPONENT(37)),
};
/* The magnitudes that the table covers. */
const struct ptxi_approx_unit ptxi_approx_tanh = {
    FROM_TO(0x3b800000u, 0x40ffffffu), ONE(31),
};
/* The upper words of f64. */
const struct ptxi_approx_unit ptxi_approx_rcp_f64 = { FROM_TO(0x00100000u, 0x7fcfffffu), .offset = WIDE(2044u << 20) };
const struct ptxi_approx_unit ptxi_approx_rsqrt_f64 = {
    FROM_TO_SIGNED(0x00100000u, 0x7fefffffu), .offset = WIDE(1407u << 20), .twice_offset = WIDE(2814u << 20),
};
