/* Constants of the approximation units' vector code.
 *
 * A compiler that knows the value of a vector constant may build it from general registers, which costs moves. These
 * constants are in another source file, so that they are loaded, which is free here. With AVX2, an instruction reads
 * the 8 elements from memory. AVX-512 broadcasts the first one. */
#ifndef PTXI_EXEC_ARITH_APPROX_H
#define PTXI_EXEC_ARITH_APPROX_H

#include <stdint.h>

typedef uint32_t ptxi_approx_wide[8];

/* Masks and powers of two that several units use. */
extern const struct ptxi_approx_constants {
    _Alignas(32) ptxi_approx_wide middle;            /* of make_factors() */
    ptxi_approx_wide a, ceiling, low, a65, b40, a43; /* of square_17() */
    ptxi_approx_wide b42, a2, b4, a65_b4, b40_a2;    /* of square_17() */
    ptxi_approx_wide lower_half, upper_half, other_bytes, bit[32], ones, exponent, exponent7, significand, magnitude;
    ptxi_approx_wide fraction30;
    ptxi_approx_wide a654, b41, a32, b43;            /* of square_multiples_of_8() */
    ptxi_approx_wide fraction20;                     /* the fraction in the upper word of an f64 */
    ptxi_approx_wide low7, float_2_m14, float_2_m30; /* of sincos_value() */
    ptxi_approx_wide x_and_row;                      /* of tanh_argument() */
    _Alignas(32) uint8_t exchanged[32];              /* byte permutation that swaps the bytes of 16-bit elements */
} ptxi_approx_constants;

/* Constants of one unit.
 *
 * An operand is ordinary if the table method applies to it, and special otherwise (a NaN, an infinity, a number out
 * of range). The upper half of the operand decides: the operand is ordinary if (upper half - first) <= last,
 * unsigned. If the sign does not count, the upper half is shifted left by 1 first. Both 16-bit halves of an element
 * of these constants are equal. */
struct ptxi_approx_unit {
    _Alignas(32) ptxi_approx_wide first, last; /* range of ordinary operands */
    ptxi_approx_wide bias;                     /* constant term of the low sum, see interpolate_17() */
    ptxi_approx_wide offset, twice_offset;     /* exponent that is added to the result */
    ptxi_approx_wide exact;                    /* the one low sum for which the result is incremented */
    ptxi_approx_wide one, one_near, one_fine;  /* exponents of 1.0 in the fixed-point formats of the sum */
    ptxi_approx_wide less_one;                 /* 2^31 - one */
    float scale[8];                            /* factor that converts the operand to fixed point, or the result back */
};
extern const struct ptxi_approx_unit ptxi_approx_rcp, ptxi_approx_rsqrt, ptxi_approx_sqrt, ptxi_approx_ex2;
extern const struct ptxi_approx_unit ptxi_approx_lg2;
extern const struct ptxi_approx_unit ptxi_approx_lg2_near; /* the operands from 1/4 to 4 only */
extern const struct ptxi_approx_unit ptxi_approx_sin, ptxi_approx_cos, ptxi_approx_tanh;
extern const struct ptxi_approx_unit ptxi_approx_rcp_f64, ptxi_approx_rsqrt_f64; /* for upper words of f64 */

#endif
