#include "exec/init/init_value.h"

#include <stdbool.h>

typedef struct ptxi_init_value value;

/* --- the range of an operand: undefined bits as 0 or 1 --- */

static uint64_t least(value x)
{
    return x.bits & ~x.undefined;
}

static uint64_t most(value x)
{
    return x.bits | x.undefined;
}

/* The same order as that of signed numbers, for unsigned ones. */
static value with_other_sign(value x, unsigned width)
{
    return (value){ x.bits ^ (uint64_t)1 << (width - 1), x.undefined };
}

/* --- bits --- */

static uint64_t of_and(value a, value b)
{
    return (a.undefined | b.undefined) & most(a) & most(b);
}

static uint64_t of_or(value a, value b)
{
    return (a.undefined | b.undefined) & ~least(a) & ~least(b);
}

/* A bit is undefined if the table has a 0 and a 1 for what its operands may be. */
static uint64_t of_table(const value x[3], unsigned table)
{
    uint64_t zero = 0, one = 0;

    for (unsigned k = 0; k < 8; k++) {
        uint64_t possible = ~(uint64_t)0;

        for (unsigned n = 0; n < 3; n++)
            possible &= k >> (2 - n) & 1 ? most(x[n]) : ~least(x[n]);
        if (table >> k & 1)
            one |= possible;
        else
            zero |= possible;
    }
    return zero & one;
}

/* --- arithmetic --- */

/* A bit of a sum is undefined if it is in a summand, or if the carry into it differs between the least and the most
 * that the summands can be. */
static uint64_t of_add(value a, value b)
{
    return a.undefined | b.undefined | ((least(a) + least(b)) ^ (most(a) + most(b)));
}

static uint64_t of_sub(value a, value b)
{
    return a.undefined | b.undefined | ((least(a) - most(b)) ^ (most(a) - least(b)));
}

/* The number of bits at the low end that are known to be 0; 64: all. */
static unsigned known_zeros(value x)
{
    return most(x) ? (unsigned)__builtin_ctzll(most(x)) : 64;
}

/* All bits from the lowest on that is undefined in a partial product. */
static uint64_t of_mul(value a, value b)
{
    unsigned from = 64;

    if (a.undefined)
        from = (unsigned)__builtin_ctzll(a.undefined) + known_zeros(b);
    if (b.undefined && (unsigned)__builtin_ctzll(b.undefined) + known_zeros(a) < from)
        from = (unsigned)__builtin_ctzll(b.undefined) + known_zeros(a);
    return from < 64 ? ~(uint64_t)0 << from : 0;
}

static uint64_t of_mad(value a, value b, value c)
{
    return of_add((value){ a.bits * b.bits, of_mul(a, b) }, c);
}

/* --- comparisons --- */

/* Whether one of a < b and a >= b holds for all that a and b can be. */
static bool is_less_defined(value a, value b)
{
    return most(a) < least(b) || least(a) >= most(b);
}

static bool is_equal_defined(value a, value b)
{
    return !(a.undefined | b.undefined) || (a.bits ^ b.bits) & ~(a.undefined | b.undefined);
}

static uint64_t of_least(value a, value b)
{
    if (most(a) <= least(b))
        return a.undefined;
    return most(b) <= least(a) ? b.undefined : ~(uint64_t)0;
}

static uint64_t of_most(value a, value b)
{
    if (most(a) <= least(b))
        return b.undefined;
    return most(b) <= least(a) ? a.undefined : ~(uint64_t)0;
}

static uint64_t of_select(value a, value b, value chosen)
{
    if (chosen.undefined)
        return a.undefined | b.undefined | (a.bits ^ b.bits);
    return chosen.bits ? a.undefined : b.undefined;
}

static uint64_t of_order(enum ptxi_init_rule rule, value a, value b)
{
    switch (rule) {
    case PTXI_INIT_LT: return !is_less_defined(a, b);
    case PTXI_INIT_GT: return !is_less_defined(b, a);
    case PTXI_INIT_MIN: return of_least(a, b);
    default: return of_most(a, b);
    }
}

uint64_t ptxi_init_undefined_bits(enum ptxi_init_rule rule, unsigned width, const value x[3], unsigned imm)
{
    value a = x[0], b = x[1];

    switch (rule) {
    case PTXI_INIT_ALL: break;
    case PTXI_INIT_AND: return of_and(a, b);
    case PTXI_INIT_AND_NOT: return of_and(a, (value){ ~b.bits, b.undefined });
    case PTXI_INIT_OR: return of_or(a, b);
    case PTXI_INIT_OR_NOT: return of_or(a, (value){ ~b.bits, b.undefined });
    case PTXI_INIT_XOR: return a.undefined | b.undefined;
    case PTXI_INIT_TABLE: return of_table(x, imm);
    case PTXI_INIT_ADD: return of_add(a, b);
    case PTXI_INIT_SUB: return of_sub(a, b);
    case PTXI_INIT_NEG: return of_sub((value){ 0, 0 }, a);
    case PTXI_INIT_MUL: return of_mul(a, b);
    case PTXI_INIT_MAD: return of_mad(a, b, x[2]);
    case PTXI_INIT_EQ: return !is_equal_defined(a, b);
    case PTXI_INIT_LT: case PTXI_INIT_GT: case PTXI_INIT_MIN: case PTXI_INIT_MAX: return of_order(rule, a, b);
    case PTXI_INIT_LT_S: case PTXI_INIT_GT_S: case PTXI_INIT_MIN_S: case PTXI_INIT_MAX_S:
        return of_order((enum ptxi_init_rule)(rule - PTXI_INIT_SIGNED), with_other_sign(a, width),
                        with_other_sign(b, width));
    case PTXI_INIT_SELECT: return of_select(a, b, x[2]);
    }
    return ~(uint64_t)0;
}
