/* Evaluated inline assembly. A template with operands, as in asm() of CUDA C++, becomes a module with one kernel. The
 * kernel loads the operands of a thread, executes the template, and stores the results.
 *
 * The operands are the registers %0, %1, ... of the kernel. PTX allows such names, so the module contains the template
 * unchanged, except for %% and constants. `origin` maps places in the module to places in the template. */
#ifndef PTXI_API_ASM_ASM_TEMPLATE_H
#define PTXI_API_ASM_ASM_TEMPLATE_H

#include "ptxi.h"

#include "base/diag.h"
#include "base/str.h"
#include "parse/ast.h"

#include <stdbool.h>
#include <stdint.h>

enum { PTXI_ASM_OPERANDS = 30 }; /* the limit of GCC */

struct ptxi_asm_operand {
    char letter;
    bool reads, writes;
    unsigned size;    /* bytes; 0: a constant */
};

struct ptxi_asm {
    const char *text; /* the template */
    struct ptxi_asm_operand operands[PTXI_ASM_OPERANDS];
    unsigned count;
    /* The module's text, and the offset in `text` of each of its bytes from `begin` on, as uint32_t. */
    struct ptxi_str module, origin;
    size_t begin;
};

#define PTXI_ASM_KERNEL "ptxi_asm"

/* Reads constraints. False after a message about them. */
bool ptxi_asm_constraints(struct ptxi_asm *a, const char *constraints, struct ptxi_diag *diags);

/* Writes the module of a template. `values` has the values of constants. False after a message about the template, or
 * without a message if there is no memory. */
bool ptxi_asm_expand(struct ptxi_asm *a, void *const *values, unsigned sm, struct ptxi_diag *diags);

/* Maps a place in the module to a place in the template. Places before the template map to none, places after it to
 * its end. */
struct ptxi_loc ptxi_asm_origin(const struct ptxi_asm *a, struct ptxi_loc loc);

/* Changes messages about the module to messages about the template. */
void ptxi_asm_point(const struct ptxi_asm *a, struct ptxi_diag *diags);

void ptxi_asm_free(struct ptxi_asm *a);

void ptxi_asms_free_all(ptxiContext ctx); /* asm.c: before the modules */

#endif
