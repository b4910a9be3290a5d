/* wmma: loads, stores, and products, which become several products of mma, as in ptxas. */
#include "compile/lower/lower_state.h"
#include "isa/fragment.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    REGISTERS = 8, /* of one operand, at most */
    MMA_HEAD = offsetof(struct ptxi_mma, slots) / sizeof(uint16_t),
    HEAD = offsetof(struct ptxi_wmma, slots) / sizeof(uint16_t)
};

static struct ptxi_wmma_shape read_shape(const struct ptxi_match *m, unsigned *rows, unsigned *columns)
{
    unsigned k = 0;

    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] != PTXI_NO_WORD && sscanf(ptxi_words[m->words[s]], "m%un%uk%u", rows, columns, &k) == 3)
            break;
    return ptxi_wmma_shape(*rows, *columns, k);
}

/* The first type among the qualifiers. */
static enum ptxi_type element_type(const struct ptxi_match *m)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] < PTXI_TYPE_COUNT)
            return (enum ptxi_type)m->words[s];
    return PTXI_T_NONE;
}

/* --- loads and stores --- */

/* The operand that is loaded or stored; d is like c. */
static uint16_t operand_of(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_a))
        return 'a';
    return ptxi_isa_has_word(m, PTXI_Q_b) ? 'b' : 'c';
}

static uint16_t space_of(enum ptxi_space space)
{
    switch (space) {
    case PTXI_SPACE_GLOBAL: return 1;
    case PTXI_SPACE_SHARED: return 2;
    default: return 0;
    }
}

static void lower_access(struct ptxi_lower *l, const struct ptxi_match *m, bool load)
{
    const struct ptxi_operand *stride = ptxi_lower_operand(l, PTXI_OPERAND_stride);
    struct ptxi_wmma head = { .col = ptxi_isa_slot_word(m, PTXI_SLOT_layout) == PTXI_Q_col,
                              .bits = ptxi_types[element_type(m)].bits, .operand = operand_of(m) };
    uint32_t v[REGISTERS], stride_register;
    unsigned rows, columns;
    struct ptxi_lower_mem mem;

    head.k = read_shape(m, &rows, &columns).depth;
    head.m = (uint16_t)rows;
    head.n = (uint16_t)columns;
    if (!ptxi_lower_memory_operand(l, ptxi_lower_operand(l, PTXI_OPERAND_p), true, &mem))
        return;
    head.space = space_of(mem.space);
    head.offset[0] = (uint16_t)mem.offset;
    head.offset[1] = (uint16_t)((uint32_t)mem.offset >> 16);
    stride_register = stride ? ptxi_lower_use(l, stride, PTXI_RC_32) : PTXI_NONE;
    head.count = (uint16_t)ptxi_lower_registers(l, PTXI_OPERAND_r, load, v);
    assert(head.count <= REGISTERS);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(m), .a = mem.base, .b = stride_register, .head = &head,
                                                     .head_count = HEAD, .v = v, .writes = load ? head.count : 0,
                                                     .count = head.count });
    if (load)
        ptxi_lower_end_registers(l, PTXI_OPERAND_r, v);
}

/* --- products --- */

/* The registers of an operand. */
struct registers {
    uint32_t v[REGISTERS];
    unsigned count;
    unsigned part; /* number of registers in one product */
};

static char fragment_letter(enum ptxi_operand_resolve_name name)
{
    switch (name) {
    case PTXI_OPERAND_a: return 'a';
    case PTXI_OPERAND_b: return 'b';
    default: return 'c'; /* d has the same layout */
    }
}

static struct registers read_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name,
                                       struct ptxi_wmma_shape shape, unsigned bits)
{
    struct registers r;

    r.count = ptxi_lower_registers(l, name, name == PTXI_OPERAND_d, r.v);
    r.part = ptxi_wmma_registers(shape, fragment_letter(name), bits);
    assert(r.count <= REGISTERS && r.part && r.part <= r.count);
    return r;
}

/* Whether x and y share registers; with `in_place` the same register at the same index is allowed. */
static bool shares_registers(const struct registers *x, const struct registers *y, bool in_place)
{
    for (unsigned i = 0; i < x->count; i++)
        for (unsigned k = 0; k < y->count; k++)
            if (x->v[i] == y->v[k] && x->v[i] != PTXI_NONE && !(in_place && i == k))
                return true;
    return false;
}

/* The registers for the results: d, or temporaries if a later product would read registers of d. */
static struct registers result_registers(struct ptxi_lower *l, const struct registers *d, const struct registers *wide,
                                         const struct registers *narrow,
                                  const struct registers *c)
{
    struct registers to = *d;

    if (!shares_registers(d, wide, false) && !shares_registers(d, narrow, false) &&
        !shares_registers(d, c, d->count == c->count))
        return to;
    for (unsigned k = 0; k < d->count; k++)
        if (d->v[k] != PTXI_NONE)
            to.v[k] = ptxi_lower_temp(l, ptxi_lower_class(l, d->v[k]));
    return to;
}

/* Copies the registers of one product. Returns their number. */
static unsigned copy_part(uint32_t *to, const struct registers *r, unsigned part)
{
    memcpy(to, r->v + part * r->part, r->part * sizeof *to);
    return r->part;
}

static uint16_t mma_op(enum ptxi_type t)
{
    switch (t) {
    case PTXI_T_bf16: return PTXI_OP_mma_bf16;
    case PTXI_T_tf32: return PTXI_OP_mma_tf32;
    case PTXI_T_f64: return PTXI_OP_mma_f64;
    case PTXI_T_s8: return PTXI_OP_mma_s8;
    case PTXI_T_u8: return PTXI_OP_mma_u8;
    case PTXI_T_s4: return PTXI_OP_mma_s4;
    case PTXI_T_u4: return PTXI_OP_mma_u4;
    case PTXI_T_b1: return PTXI_OP_mma_b1;
    default: return PTXI_OP_mma_f16;
    }
}

static struct ptxi_mma read_head(const struct ptxi_lower *l, const struct ptxi_match *m, struct ptxi_wmma_shape shape,
                                 enum ptxi_type type)
{
    struct ptxi_mma head = { .m = (uint16_t)ptxi_wmma_rows(shape), .k = shape.depth, .a_bits = ptxi_types[type].bits,
                             .b_bits = ptxi_types[type].bits };

    head.c_f16 = ptxi_isa_slot_word(m, PTXI_SLOT_C) == PTXI_T_f16;
    head.d_f16 = ptxi_isa_slot_word(m, PTXI_SLOT_D) == PTXI_T_f16;
    ptxi_lower_mma_types(l, type, type, &head);
    if (type == PTXI_T_tf32)
        head.model[0] = 4; /* as two instructions of m16n8k4 */
    return head;
}

static unsigned accumulator_bits(bool f16, enum ptxi_type type)
{
    if (f16)
        return 16;
    return type == PTXI_T_f64 ? 64 : 32;
}

static void lower_product(struct ptxi_lower *l, const struct ptxi_match *m)
{
    unsigned rows, columns, parts;
    struct ptxi_wmma_shape shape = read_shape(m, &rows, &columns);
    uint16_t word = ptxi_isa_slot_word(m, PTXI_SLOT_A);
    enum ptxi_type type = word == PTXI_NO_WORD ? PTXI_T_f16 : (enum ptxi_type)word;
    struct ptxi_mma head = read_head(l, m, shape, type);
    struct registers wide = read_registers(l, shape.transposed ? PTXI_OPERAND_b : PTXI_OPERAND_a, shape, head.a_bits);
    struct registers narrow = read_registers(l, shape.transposed ? PTXI_OPERAND_a : PTXI_OPERAND_b, shape, head.b_bits);
    struct registers c = read_registers(l, PTXI_OPERAND_c, shape, accumulator_bits(head.c_f16, type));
    struct registers d = read_registers(l, PTXI_OPERAND_d, shape, accumulator_bits(head.d_f16, type));
    struct registers to = result_registers(l, &d, &wide, &narrow, &c);

    parts = d.count / d.part;
    for (unsigned k = 0; k < parts; k++) {
        uint32_t v[4 * REGISTERS], count = copy_part(v, &to, k);

        head.first[1] = (uint16_t)count;
        count += copy_part(v + count, &wide, shape.rows > head.m ? k : 0);
        head.first[2] = (uint16_t)count;
        count += copy_part(v + count, &narrow, shape.columns > 8 ? k : 0);
        head.first[3] = (uint16_t)count;
        count += copy_part(v + count, &c, k);
        head.first[4] = head.first[5] = head.first[6] = head.first[7] = (uint16_t)count;
        ptxi_lower_list_op(l, &(struct ptxi_lower_list){ mma_op(type), m->mods, .a = PTXI_NONE, .b = PTXI_NONE,
                                                         .head = &head,
                                                         .head_count = MMA_HEAD, .v = v, .writes = d.part,
                                                             .count = count });
    }
    for (unsigned k = 0; k < d.count; k++)
        if (to.v[k] != d.v[k])
            ptxi_lower_move(l, d.v[k], to.v[k]);
    ptxi_lower_end_registers(l, PTXI_OPERAND_d, d.v);
}

void ptxi_lower_rule_wmma(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;

    if (ptxi_isa_has_word(m, PTXI_Q_load) || ptxi_isa_has_word(m, PTXI_Q_store))
        lower_access(l, m, ptxi_isa_has_word(m, PTXI_Q_load));
    else
        lower_product(l, m);
}
