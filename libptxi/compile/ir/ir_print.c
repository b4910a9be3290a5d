/* A listing of the intermediate form, for debugging the compiler. */
#include "compile/ir/ir.h"
#include "isa/isa.h"

#include <inttypes.h>

static void print_vreg(const struct ptxi_ir *ir, uint32_t v, struct ptxi_str *out)
{
    const struct ptxi_vreg *r = &ir->vregs[v];

    if (r->kind == PTXI_VR_CONST)
        ptxi_str_printf(out, " 0x%" PRIx64, r->value);
    else
        ptxi_str_printf(out, " %%%u", v);
    if (r->kind != PTXI_VR_CONST && ir->frame_units && r->slot != PTXI_NONE)
        ptxi_str_printf(out, "(r%u)", r->slot);
}

static void print_walk(const struct ptxi_ir *ir, struct ptxi_ir_walk walk, struct ptxi_str *out)
{
    uint32_t v;

    while (ptxi_ir_next(&walk, &v))
        print_vreg(ir, v, out);
}

static void print_inst(const struct ptxi_ir *ir, uint32_t n, struct ptxi_str *out)
{
    const struct ptxi_ir_inst *i = &ir->insts[n];

    ptxi_str_printf(out, "%6u  ", n);
    if (i->guard != PTXI_NONE)
        ptxi_str_printf(out, "@%s%%%u ", i->guard_negated ? "!" : "", i->guard);
    ptxi_str_printf(out, "%s", ptxi_op_names[i->op]);
    print_walk(ir, ptxi_ir_writes(ir, i), out);
    ptxi_str_puts(out, " <-");
    print_walk(ir, ptxi_ir_reads(ir, i), out);
    if (i->imm)
        ptxi_str_printf(out, " imm %d", i->imm);
    if (i->mods)
        ptxi_str_printf(out, " mods 0x%x", i->mods);
    if (ptxi_ir_is_branch(i))
        ptxi_str_printf(out, " -> %u", ir->labels[i->aux]);
    ptxi_str_puts(out, i->flags & PTXI_IF_PURE ? " pure\n" : "\n");
}

static void print_block(const struct ptxi_ir *ir, uint32_t b, struct ptxi_str *out)
{
    const struct ptxi_block *block = &ir->blocks[b];

    ptxi_str_printf(out, "block %u, depth %u, to", b, block->depth);
    for (uint32_t e = 0; e < block->succ_count; e++)
        ptxi_str_printf(out, " %u", ir->edges[block->succ + e]);
    ptxi_str_puts(out, "\n");
    for (uint32_t n = block->first; n < block->end; n++)
        if (!(ir->insts[n].flags & PTXI_IF_DEAD))
            print_inst(ir, n, out);
}

void ptxi_ir_print(const struct ptxi_ir *ir, struct ptxi_str *out)
{
    for (uint32_t k = 0; k < ir->setup_count; k++)
        print_inst(ir, ir->setup[k], out);
    if (ir->setup_count)
        ptxi_str_puts(out, "end of the setup code\n");
    for (uint32_t p = 0; p < ir->order_count; p++)
        print_block(ir, ir->order[p], out);
    for (uint32_t n = 0; !ir->order_count && n < ir->count; n++)
        print_inst(ir, n, out);
}
