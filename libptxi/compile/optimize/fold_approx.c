#include "compile/optimize/fold_approx.h"

#include "isa/bytecode.h"
#include "num/f64_libm.h"
#include "num/float.h"

#include <math.h>

/* The rules were found by reading what ptxas 13.0 makes of constants for sm_90. */

static double reciprocal(double x)
{
    return 1.0 / x;
}

static double reciprocal_root(double x)
{
    return 1.0 / sqrt(x);
}

static double lg2(double x)
{
    return isinf(x) ? x : ptxi_num_lg2_f64(x);
}

static double ex2(double x)
{
    if (x > 200)
        return INFINITY;
    return x < -200 ? 0.0 : ptxi_num_ex2_f64(x);
}

/* Operands that ptxas may leave to the GPU: negative numbers except zero, zeros, infinities. It always leaves NaNs. */
enum { NEGATIVES = 1, ZEROS = 2, INFINITIES = 4 };

static const struct approximation {
    uint16_t op, flushing; /* the plain one and the one with .ftz */
    double (*function)(double x);
    unsigned leaves;       /* operands that are not folded */
    bool flushes;          /* flushes its operand even without .ftz */
} approximations[] = {
#define BOTH(op) PTXI_OP_##op##_approx_f32, PTXI_OP_##op##_approx_f32_ftz
    { BOTH(rcp), reciprocal, 0, false },
    { BOTH(sqrt), sqrt, NEGATIVES, false },
    { BOTH(rsqrt), reciprocal_root, NEGATIVES, false },
    { BOTH(lg2), lg2, NEGATIVES | ZEROS, false },
    { BOTH(ex2), ex2, 0, false },
    { BOTH(sin), ptxi_num_sin_f64, INFINITIES, true },
    { BOTH(cos), ptxi_num_cos_f64, INFINITIES, true },
#undef BOTH
};

static uint32_t flush(uint32_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

static unsigned operand_kind(uint32_t operand)
{
    if (!(operand << 1))
        return ZEROS;
    return (operand >> 31 ? NEGATIVES : 0u) | (operand << 1 == 0xff000000 ? INFINITIES : 0u);
}

bool ptxi_fold_approx(uint16_t op, uint32_t operand, uint32_t *result)
{
    const struct approximation *a = approximations, *end = a + sizeof approximations / sizeof *approximations;
    bool ftz;

    while (a < end && a->op != op && a->flushing != op)
        a++;
    if (a == end)
        return false;
    ftz = a->flushing == op;
    operand = ftz || a->flushes ? flush(operand) : operand;
    if (operand << 1 > 0xff000000 || operand_kind(operand) & a->leaves)
        return false;
    *result = ptxi_num_bits_f32((float)a->function((double)ptxi_num_f32(operand)));
    *result = ftz ? flush(*result) : *result;
    return true;
}
