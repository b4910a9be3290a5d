/* Selects the NaN that an f64 operation returns if several operands are NaNs. compile/optimize/nan_operand_order.c
 * has the rules. It is rarely needed, so speed does not matter. */
#ifndef PTXI_EXEC_ARITH_NAN_SELECT_H
#define PTXI_EXEC_ARITH_NAN_SELECT_H

#include "isa/bytecode.h"
#include "num/float.h"

/* An operand that is negated before the operation. The negation does not change the sign of a NaN. */
static inline uint64_t ptxi_nan_select_operand(uint64_t x, bool minus)
{
    return minus && ptxi_num_is_nan_f64(x) ? x ^ 0x8000000000000000 : x;
}

/* r, or if r is a NaN, the NaN selected from a and b. */
static inline uint64_t ptxi_nan_select2(uint16_t mods, double r, uint64_t a, uint64_t b)
{
    a = ptxi_nan_select_operand(a, mods & PTXI_MOD_MINUS_A);
    return mods & PTXI_MOD_LATER_A ? ptxi_num_nan2_f64(r, a, b) : ptxi_num_nan2_f64(r, b, a);
}

/* The same for a * b + c. */
static inline uint64_t ptxi_nan_select3(uint16_t mods, double r, uint64_t a, uint64_t b, uint64_t c)
{
    a = ptxi_nan_select_operand(a, mods & PTXI_MOD_MINUS_A);
    c = ptxi_nan_select_operand(c, mods & PTXI_MOD_MINUS_C);
    return mods & PTXI_MOD_LATER_A ? ptxi_num_nan3_f64(r, a, c, b) : ptxi_num_nan3_f64(r, b, c, a);
}

#endif
