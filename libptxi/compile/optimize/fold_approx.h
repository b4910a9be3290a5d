/* Constant folding of approximations. */
#ifndef PTXI_COMPILE_OPTIMIZE_FOLD_APPROX_H
#define PTXI_COMPILE_OPTIMIZE_FOLD_APPROX_H

#include <stdbool.h>
#include <stdint.h>

/* Folds operation `op` on an f32 constant as ptxas does: the result is the function's value rounded to nearest,
 * although a GPU would approximate it. False if ptxas does not fold the operation. */
bool ptxi_fold_approx(uint16_t op, uint32_t operand, uint32_t *result);

#endif
