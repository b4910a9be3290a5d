/* spcompress and spdecompress: all registers are in one list, the results first. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <stddef.h>

enum { SPARSE_HEAD = offsetof(struct ptxi_sparse, slots) / sizeof(uint16_t) };

/* The numbers of elements in .sp::2:4, with and without compression. */
static void find_factor(const struct ptxi_match *m, struct ptxi_sparse *head)
{
    static const struct {
        uint16_t word, source, target;
    } factors[] = {
        { PTXI_Q_sp__1_2, 1, 2 }, { PTXI_Q_sp__1_4, 1, 4 },   { PTXI_Q_sp__1_8, 1, 8 },
        { PTXI_Q_sp__1_16, 1, 16 }, { PTXI_Q_sp__2_4, 2, 4 }, { PTXI_Q_sp__2_8, 2, 8 },
        { PTXI_Q_sp__2_16, 2, 16 }, { PTXI_Q_sp__4_8, 4, 8 }, { PTXI_Q_sp__4_16, 4, 16 },
    };

    for (unsigned k = 0; k < sizeof factors / sizeof *factors; k++)
        if (ptxi_isa_has_word(m, factors[k].word)) {
            head->source = factors[k].source;
            head->target = factors[k].target;
        }
}

static void lower_sparse(struct ptxi_lower *l, const struct ptxi_match *m, bool compress)
{
    static const enum ptxi_operand_resolve_name names[2][3] = {
        { PTXI_OPERAND_data, PTXI_OPERAND_meta, PTXI_OPERAND_cdata },
        { PTXI_OPERAND_meta, PTXI_OPERAND_cdata, PTXI_OPERAND_data },
    };
    unsigned results = compress ? 2 : 1, counts[3], count = 0, writes = 0;
    const struct ptxi_operand *descriptor = ptxi_lower_operand(l, PTXI_OPERAND_spdesc);
    struct ptxi_sparse head = { .element = ptxi_isa_has_word(m, PTXI_T_b16) ? 16 : 8,
                                .index = ptxi_isa_has_word(m, PTXI_T_b4) ? 4 : 2 };
    uint32_t v[PTXI_SPARSE_MAX_REGISTERS];
    struct ptxi_ir_inst *i;

    find_factor(m, &head);
    for (unsigned k = 0; k < 3; k++) {
        counts[k] = ptxi_lower_registers(l, names[compress][k], k < results, v + count);
        count += counts[k];
        writes += k < results ? counts[k] : 0;
    }
    assert(count <= PTXI_SPARSE_MAX_REGISTERS);
    head.meta_count = (uint16_t)counts[!compress];
    head.cdata_count = (uint16_t)counts[compress ? 1 : 2];
    head.data_count = (uint16_t)counts[compress ? 2 : 0];
    i = ptxi_lower_list_op(l, &(struct ptxi_lower_list){
        ptxi_isa_op(m), .a = descriptor ? ptxi_lower_use(l, descriptor, PTXI_RC_32) : PTXI_NONE, .b = PTXI_NONE,
        .head = &head, .head_count = SPARSE_HEAD, .v = v, .writes = writes, .count = count });
    i->flags &= (uint16_t)~(PTXI_IF_TOGETHER | PTXI_IF_READS);
    for (unsigned k = 0, at = 0; k < results; at += counts[k++])
        ptxi_lower_end_registers(l, names[compress][k], v + at);
}

void ptxi_lower_rule_spcompress(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    lower_sparse(l, inst->match, true);
}

void ptxi_lower_rule_spdecompress(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    lower_sparse(l, inst->match, false);
}
