/* Passes on the intermediate form. Each returns false, with ir->oom, if memory is short. */
#ifndef PTXI_COMPILE_OPTIMIZE_OPTIMIZE_H
#define PTXI_COMPILE_OPTIMIZE_OPTIMIZE_H

#include "compile/ir/ir.h"

bool ptxi_propagate_copies(struct ptxi_ir *ir);        /* copy_propagation.c: copies, dead code */
/* ptxas_simplify.c: simplifications of ptxas that bits depend on */
bool ptxi_ptxas_simplify(struct ptxi_ir *ir);
bool ptxi_order_nan_operands(struct ptxi_ir *ir);      /* nan_operand_order.c: which f64 operand ptxas puts first */
bool ptxi_rematerialize(struct ptxi_ir *ir);           /* rematerialize.c: constants that do not fit the frame */
/* launch_invariant.c: values that are the same in a whole launch */
bool ptxi_hoist_launch_invariant(struct ptxi_ir *ir);
/* peephole.c: pairs of operations, loads with known address patterns */
bool ptxi_peephole(struct ptxi_ir *ir);
/* row_registers.c: indices and addresses that may be a row */
bool ptxi_use_row_registers(struct ptxi_ir *ir);

/* peephole.c: makes an operation that copies one of its operands a move. */
void ptxi_peephole_simplify(const struct ptxi_ir *ir, struct ptxi_ir_inst *inst);

#endif
