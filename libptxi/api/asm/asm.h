/* Evaluated inline assembly: a template with operands, as asm() of CUDA C++ has it, becomes a module whose one kernel loads
 * the operands of a thread, does what the template says, and stores the results.
 *
 * The operands are the registers %0, %1, ... of the kernel, which PTX allows as names: what stands in the template stands in
 * the module, but for %% and for constants. `origin` leads places of the module back to the template. */
#ifndef PTXI_API_ASM_ASM_H
#define PTXI_API_ASM_ASM_H

#include "ptxi.h"

#include "base/diag.h"
#include "base/str.h"
#include "parse/ast.h"

#include <stdbool.h>
#include <stdint.h>

enum { PTXI_ASM_OPERANDS = 30 }; /* as many as GCC allows */

struct ptxi_asm_operand {
    char letter;
    bool reads, writes;
    unsigned size;    /* bytes; 0: a constant */
};

struct ptxi_asm {
    const char *text; /* the template */
    struct ptxi_asm_operand operands[PTXI_ASM_OPERANDS];
    unsigned count;
    struct ptxi_str module, origin; /* the module's text; where in `text` its bytes come from, uint32_t each, from `begin` on */
    size_t begin;
};

#define PTXI_ASM_KERNEL "ptxi_asm"

/* Read constraints. False after a message about their text. */
bool ptxi_asm_constraints(struct ptxi_asm *a, const char *constraints, struct ptxi_diag *diags);

/* Write the module of a template. `values` holds what constants are pasted from. False after a message about the template,
 * or, without one, when memory is short. */
bool ptxi_asm_expand(struct ptxi_asm *a, void *const *values, unsigned sm, struct ptxi_diag *diags);

/* The place in the template of a place in the module: none for what stands before it, its end for what stands behind. */
struct ptxi_loc ptxi_asm_origin(const struct ptxi_asm *a, struct ptxi_loc loc);

/* Turn messages about the module into messages about the template. */
void ptxi_asm_point(const struct ptxi_asm *a, struct ptxi_diag *diags);

void ptxi_asm_free(struct ptxi_asm *a);

#endif
