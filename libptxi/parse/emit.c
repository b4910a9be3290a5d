/* Output of the parser for one function: registers, instructions, and the source lines that belong to them. */
#include "parse/statement.h"

enum { MAX_REGS = 1 << 20 }; /* of one function */

uint32_t ptxi_registers_add(struct parser *p, const struct ptxi_name *name, enum ptxi_type type, unsigned vector,
                            uint32_t count, bool numbered, struct ptxi_loc loc)
{
    uint64_t ids = (uint64_t)count * vector;
    struct ptxi_reg_range *r;
    uint32_t first = p->next_reg;

    assert(p->fn && (vector == 1 || vector == 2 || vector == 4) && first <= MAX_REGS);
    if (ids > MAX_REGS - first) {
        ptxi_parse_error(p, loc, "too many registers: at most %d are accepted in a function", MAX_REGS);
        return PTXI_NO_REG;
    }
    if (!ids)
        return first;
    if (!(r = ptxi_vec_push(p, &p->regs, sizeof *r)))
        return PTXI_NO_REG;
    *r = (struct ptxi_reg_range){ first, (uint32_t)ids, (uint8_t)type, (uint8_t)vector, name, numbered };
    p->next_reg += (uint32_t)ids;
    return first;
}

/* Adds the last .loc as a mark of the next instruction. */
static bool emit_mark(struct parser *p)
{
    struct ptxi_line_mark *m;

    p->mark_pending = false;
    if (!(m = ptxi_vec_push(p, &p->marks, sizeof *m)))
        return false;
    *m = p->mark;
    m->inst = (uint32_t)p->insts.count;
    return true;
}

bool ptxi_inst_emit(struct parser *p, const struct ptxi_inst *in)
{
    struct ptxi_inst *slot;

    assert(p->fn && in->match && in->operand_count <= in->match->row->spec_count);
    assert(in->guard == PTXI_NO_REG || in->guard < p->next_reg);
    if ((p->mark_pending && !emit_mark(p)) || !(slot = ptxi_vec_push(p, &p->insts, sizeof *in)))
        return false;
    *slot = *in;
    slot->intends_race = p->intends_race;
    return true;
}
