/* Which NaN comes out of the NaNs that go into an f64 operation: see compile/optimize/nan_operand_order.c. Seldom needed: not for speed. */
#ifndef PTXI_EXEC_ARITH_NAN_SELECT_H
#define PTXI_EXEC_ARITH_NAN_SELECT_H

#include "isa/bytecode.h"
#include "num/float.h"

/* An operand whose sign was changed ahead of the operation, which leaves that of a NaN as it was. */
static inline uint64_t ptxi_nan_operand(uint64_t x, bool minus)
{
    return minus && ptxi_num_is_nan_f64(x) ? x ^ 0x8000000000000000 : x;
}

/* `r`, or if that is a NaN the one that comes out of a and b. */
static inline uint64_t ptxi_nan_of_two(uint16_t mods, double r, uint64_t a, uint64_t b)
{
    a = ptxi_nan_operand(a, mods & PTXI_MOD_MINUS_A);
    return mods & PTXI_MOD_LATER_A ? ptxi_num_nan2_f64(r, a, b) : ptxi_num_nan2_f64(r, b, a);
}

/* Of a * b + c. */
static inline uint64_t ptxi_nan_of_three(uint16_t mods, double r, uint64_t a, uint64_t b, uint64_t c)
{
    a = ptxi_nan_operand(a, mods & PTXI_MOD_MINUS_A);
    c = ptxi_nan_operand(c, mods & PTXI_MOD_MINUS_C);
    return mods & PTXI_MOD_LATER_A ? ptxi_num_nan3_f64(r, a, c, b) : ptxi_num_nan3_f64(r, b, c, a);
}

#endif
