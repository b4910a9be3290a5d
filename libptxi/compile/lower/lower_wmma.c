/* wmma: loads and stores, and products made of those of mma, as ptxas does it. */
#include "compile/lower/lower.h"
#include "isa/fragment.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { REGISTERS = 8, MMA_HEAD = offsetof(struct ptxi_mma, slots) / sizeof(uint16_t), HEAD = offsetof(struct ptxi_wmma, slots) / sizeof(uint16_t) };

static struct ptxi_wmma_shape read_shape(const struct ptxi_match *m, unsigned *rows, unsigned *columns)
{
    unsigned k = 0;

    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] != PTXI_NO_WORD && sscanf(ptxi_words[m->words[s]], "m%un%uk%u", rows, columns, &k) == 3)
            break;
    return ptxi_wmma_shape(*rows, *columns, k);
}

static enum ptxi_type type_in(const struct ptxi_match *m)
{
    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] < PTXI_TYPE_COUNT)
            return (enum ptxi_type)m->words[s];
    return PTXI_T_NONE;
}

/* --- loads and stores --- */

static void lower_access(struct ptxi_build *b, const struct ptxi_match *m, bool load)
{
    const struct ptxi_operand *stride = ptxi_build_operand(b, "stride");
    struct ptxi_wmma head = { .col = ptxi_isa_slot(m, "layout") == PTXI_Q_col, .bits = ptxi_types[type_in(m)].bits };
    uint32_t v[REGISTERS], offset, by;
    unsigned rows, columns;
    struct ptxi_mem mem;

    head.k = read_shape(m, &rows, &columns).depth;
    head.m = (uint16_t)rows;
    head.n = (uint16_t)columns;
    head.operand = ptxi_build_has(m, PTXI_Q_a) ? 'a' : ptxi_build_has(m, PTXI_Q_b) ? 'b' : 'c';
    if (!ptxi_build_address(b, ptxi_build_operand(b, "p")->address, ptxi_build_space(m), &mem))
        return;
    if (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC && mem.space != PTXI_SPACE_GLOBAL)) {
        ptxi_build_unsupported(b, "state space");
        return;
    }
    head.space = mem.space == PTXI_SPACE_GLOBAL ? 1 : mem.space == PTXI_SPACE_SHARED ? 2 : 0;
    offset = (uint32_t)mem.offset;
    head.offset[0] = (uint16_t)offset;
    head.offset[1] = (uint16_t)(offset >> 16);
    by = stride ? ptxi_build_use(b, stride, PTXI_RC_32) : PTXI_NONE;
    head.count = (uint16_t)ptxi_build_registers(b, "r", load, v);
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(m), .a = mem.base, .b = by, .head = &head, .head_count = HEAD, .v = v,
                                               .writes = load ? head.count : 0, .count = head.count });
    if (load)
        ptxi_build_registers_end(b, "r", v);
}

/* --- products --- */

struct registers {
    uint32_t v[REGISTERS];
    unsigned count, part; /* registers of one product */
};

static struct registers read_registers(struct ptxi_build *b, const char *name, struct ptxi_wmma_shape shape, unsigned bits)
{
    struct registers r;

    r.count = ptxi_build_registers(b, name, name[0] == 'd', r.v);
    r.part = ptxi_wmma_registers(shape, name[0] == 'd' ? 'c' : name[0], bits);
    return r;
}

static bool shares(const struct registers *x, const struct registers *y, bool in_place)
{
    for (unsigned i = 0; i < x->count; i++)
        for (unsigned k = 0; k < y->count; k++)
            if (x->v[i] == y->v[k] && x->v[i] != PTXI_NONE && !(in_place && i == k))
                return true;
    return false;
}

/* Results go to other registers where a later product would still read the old ones. */
static struct registers set_apart(struct ptxi_build *b, const struct registers *d, const struct registers *wide, const struct registers *narrow,
                                  const struct registers *c)
{
    struct registers to = *d;

    if (!shares(d, wide, false) && !shares(d, narrow, false) && !shares(d, c, d->count == c->count))
        return to;
    for (unsigned k = 0; k < d->count; k++)
        if (d->v[k] != PTXI_NONE)
            to.v[k] = ptxi_build_temp(b, ptxi_build_class(b, d->v[k]));
    return to;
}

static unsigned put(uint32_t *to, const struct registers *r, unsigned part)
{
    memcpy(to, r->v + part * r->part, r->part * sizeof *to);
    return r->part;
}

static uint16_t operation(enum ptxi_type t)
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

static struct ptxi_mma read_head(const struct ptxi_build *b, const struct ptxi_match *m, struct ptxi_wmma_shape shape, enum ptxi_type type)
{
    struct ptxi_mma head = { .m = (uint16_t)ptxi_wmma_rows(shape), .k = shape.depth, .a_bits = ptxi_types[type].bits, .b_bits = ptxi_types[type].bits };

    head.c_f16 = ptxi_isa_slot(m, "C") == PTXI_T_f16;
    head.d_f16 = ptxi_isa_slot(m, "D") == PTXI_T_f16;
    ptxi_build_mma_types(b, type, type, &head);
    if (type == PTXI_T_tf32)
        head.model[0] = 4; /* two instructions of m16n8k4 */
    return head;
}

static unsigned bits_of(bool f16, enum ptxi_type type)
{
    return f16 ? 16 : type == PTXI_T_f64 ? 64 : 32;
}

static void lower_product(struct ptxi_build *b, const struct ptxi_match *m)
{
    unsigned rows, columns, parts;
    struct ptxi_wmma_shape shape = read_shape(m, &rows, &columns);
    enum ptxi_type type = ptxi_isa_slot(m, "A") == PTXI_NO_WORD ? PTXI_T_f16 : (enum ptxi_type)ptxi_isa_slot(m, "A");
    struct ptxi_mma head = read_head(b, m, shape, type);
    struct registers wide = read_registers(b, shape.transposed ? "b" : "a", shape, head.a_bits);
    struct registers narrow = read_registers(b, shape.transposed ? "a" : "b", shape, head.b_bits);
    struct registers c = read_registers(b, "c", shape, bits_of(head.c_f16, type)), d = read_registers(b, "d", shape, bits_of(head.d_f16, type));
    struct registers to = set_apart(b, &d, &wide, &narrow, &c);

    parts = d.count / d.part;
    for (unsigned k = 0; k < parts; k++) {
        uint32_t v[4 * REGISTERS], count = put(v, &to, k);

        head.first[1] = (uint16_t)count;
        count += put(v + count, &wide, shape.rows > head.m ? k : 0);
        head.first[2] = (uint16_t)count;
        count += put(v + count, &narrow, shape.columns > 8 ? k : 0);
        head.first[3] = (uint16_t)count;
        count += put(v + count, &c, k);
        head.first[4] = head.first[5] = head.first[6] = head.first[7] = (uint16_t)count;
        ptxi_build_list(b, &(struct ptxi_list_op){ operation(type), m->mods, .a = PTXI_NONE, .b = PTXI_NONE, .head = &head, .head_count = MMA_HEAD,
                                                   .v = v, .writes = d.part, .count = count });
    }
    for (unsigned k = 0; k < d.count; k++)
        if (to.v[k] != d.v[k])
            ptxi_build_move(b, d.v[k], to.v[k]);
    ptxi_build_registers_end(b, "d", d.v);
}

void ptxi_lower_wmma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;

    if (ptxi_build_has(m, PTXI_Q_load) || ptxi_build_has(m, PTXI_Q_store))
        lower_access(b, m, ptxi_build_has(m, PTXI_Q_load));
    else
        lower_product(b, m);
}
