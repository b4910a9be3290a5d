/* A listing of bytecode. It does not know of every operation which fields are registers, so it prints the numbers of
 * slots. Constants are printed by value. */
#include "compile/codegen/codegen.h"
#include "isa/isa.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Constants are in the order of their slots. */
static const struct ptxi_const *find_const(const struct ptxi_code *code, uint16_t slot)
{
    uint32_t lo = 0, hi = code->const_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (code->consts[mid].slot < slot)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < code->const_count && code->consts[lo].slot == slot ? &code->consts[lo] : NULL;
}

static void put_slot(const struct ptxi_code *code, uint16_t slot, struct ptxi_str *out)
{
    const struct ptxi_const *c = find_const(code, slot);

    if (slot == PTXI_NO_SLOT)
        ptxi_str_puts(out, "_");
    else if (c && c->value > 9)
        ptxi_str_printf(out, "0x%" PRIx64, c->value);
    else if (c)
        ptxi_str_printf(out, "%" PRIu64, c->value);
    else
        ptxi_str_printf(out, "r%u", slot);
}

/* Puts slots, with `before` and `after` around each. */
static void put_slots(const struct ptxi_code *code, const char *before, const uint16_t *slots, unsigned count,
                      const char *after, struct ptxi_str *out)
{
    for (unsigned k = 0; k < count; k++) {
        ptxi_str_puts(out, before);
        put_slot(code, slots[k], out);
        ptxi_str_puts(out, after);
    }
}

static void put_memory(const struct ptxi_code *code, const struct ptxi_insn *i, struct ptxi_str *out)
{
    unsigned flags = ptxi_op_flags[i->op], count = ptxi_op_elements(flags);
    uint16_t loaded[4] = { i->d, i->c };
    const uint16_t loaded_4[4] = { i->d, i->b, i->c, i->mods }, stored[4] = { i->b, i->c, i->d, i->mods };

    if (count == 4)
        memcpy(loaded, loaded_4, sizeof loaded);
    if (flags & PTXI_OP_FLAG_LOAD)
        put_slots(code, "", loaded, count, ", ", out);
    ptxi_str_puts(out, "[");
    put_slot(code, i->a, out);
    ptxi_str_printf(out, "%+d]", i->imm);
    if (flags & PTXI_OP_FLAG_STORE)
        put_slots(code, ", ", stored, count, "", out);
}

/* Branches: their conditions, the target, what their loop does. */
static void put_branch(const struct ptxi_code *code, const struct ptxi_insn *i, uint32_t index, struct ptxi_str *out)
{
    const uint16_t conditions[2] = { i->a, i->b };
    unsigned count = 0;
    const char *loop = "";

    while (count < 2 && conditions[count] != PTXI_NO_SLOT)
        count++;
    put_slots(code, "", conditions, count, ", ", out);
    if (i->mods & PTXI_LOOP_POLLS)
        loop = " (polls)";
    else if (i->mods & PTXI_LOOP_READS)
        loop = " (reads memory)";
    ptxi_str_printf(out, "-> %u%s", index + (uint32_t)i->imm, loop);
}

static void put_call(const struct ptxi_code *code, const struct ptxi_insn *i, struct ptxi_str *out)
{
    const uint16_t *p = code->pool + i->imm;
    uint32_t args = p[2], rets = p[3];

    if (i->op == PTXI_OP_call)
        ptxi_str_printf(out, "function %u", ptxi_pool_word(p, 0));
    else
        put_slot(code, i->a, out);
    for (uint32_t k = 0; k < args + rets; k++)
        ptxi_str_printf(out, "%s r%u:%u->%u", k == args ? " returns" : ",", p[4 + 3 * k], p[6 + 3 * k], p[5 + 3 * k]);
}

static void put_table(const struct ptxi_code *code, const struct ptxi_insn *i, uint32_t index, struct ptxi_str *out)
{
    const uint16_t *p = code->pool + i->imm;

    put_slot(code, i->a, out);
    ptxi_str_puts(out, " ->");
    for (uint32_t k = 0; k < ptxi_pool_word(p, 0); k++)
        ptxi_str_printf(out, " %u", index + ptxi_pool_word(p, k + 1));
}

static void put_fields(const struct ptxi_code *code, const struct ptxi_insn *i, struct ptxi_str *out)
{
    const uint16_t fields[] = { i->d, i->a, i->b, i->c };
    unsigned last = 4;
    const char *comma = "";

    while (last > 0 && fields[last - 1] == PTXI_NO_SLOT)
        last--;
    for (unsigned k = 0; k < last; k++) {
        ptxi_str_puts(out, comma);
        put_slot(code, fields[k], out);
        comma = ", ";
    }
    if (i->imm)
        ptxi_str_printf(out, "%simm %d", comma, i->imm);
    if (i->mods)
        ptxi_str_printf(out, " mods 0x%x", i->mods);
}

static void put_operands(const struct ptxi_code *code, const struct ptxi_insn *i, uint32_t index, struct ptxi_str *out)
{
    unsigned flags = ptxi_op_flags[i->op];

    if (flags & PTXI_OP_FLAG_BRANCH)
        put_branch(code, i, index, out);
    else if (flags & (PTXI_OP_FLAG_LOAD | PTXI_OP_FLAG_STORE))
        put_memory(code, i, out);
    else if (i->op == PTXI_OP_call || i->op == PTXI_OP_call_indirect)
        put_call(code, i, out);
    else if (i->op == PTXI_OP_brx)
        put_table(code, i, index, out);
    else if (i->op == PTXI_OP_unsupported)
        ptxi_str_puts(out, code->unsupported[i->imm]);
    else
        put_fields(code, i, out);
}

static void put_insn(const struct ptxi_code *code, const struct ptxi_insn *i, uint32_t index, struct ptxi_str *out)
{
    assert(i->op < PTXI_OP_COUNT);
    ptxi_str_printf(out, "%6u  %-20s ", index, ptxi_op_names[i->op]);
    put_operands(code, i, index, out);
}

void ptxi_dump_insn(const struct ptxi_code *code, uint32_t index, struct ptxi_str *out)
{
    put_insn(code, &code->insns[index], index, out);
}

void ptxi_dump(const struct ptxi_code *code, struct ptxi_str *out)
{
    uint32_t line = 0;

    ptxi_str_printf(out, "%s %s: %u units, %u bytes local", code->is_entry ? "entry" : "func", code->name,
                    code->frame_units, code->local_bytes);
    if (code->is_entry)
        ptxi_str_printf(out, ", %u bytes shared, %u bytes parameters", code->shared_bytes, code->param_bytes);
    else
        ptxi_str_printf(out, ", %u argument words, %u return words", code->arg_words, code->ret_words);
    ptxi_str_puts(out, "\n");
    for (uint32_t k = 0; k < code->const_count; k++)
        ptxi_str_printf(out, "        constant r%u = 0x%" PRIx64 " (%u bytes)\n", code->consts[k].slot,
                        code->consts[k].value, code->consts[k].bytes);
    for (uint32_t k = 0; k < code->setup_count; k++) {
        put_insn(code, &code->setup[k], k, out);
        ptxi_str_puts(out, k + 1 == code->setup_count ? "\n        setup ends here\n" : "\n");
    }
    for (uint32_t k = 0; k < code->count; k++) {
        if (code->locs[k].line != line)
            ptxi_str_printf(out, "  line %u\n", code->locs[k].line);
        line = code->locs[k].line;
        put_insn(code, &code->insns[k], k, out);
        ptxi_str_puts(out, "\n");
    }
}
