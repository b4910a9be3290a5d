/* Approximations of constants. */
#ifndef PTXI_COMPILE_OPTIMIZE_FOLD_APPROX_H
#define PTXI_COMPILE_OPTIMIZE_FOLD_APPROX_H

#include <stdbool.h>
#include <stdint.h>

/* What ptxas makes of operation `op` on an f32 that is a constant: the function's value, rounded to nearest, where a GPU approximates it.
 * False where it leaves the operation to the GPU. */
bool ptxi_foretell(uint16_t op, uint32_t operand, uint32_t *result);

#endif
