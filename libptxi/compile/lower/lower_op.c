/* The operations of which lowering rules are composed: constants, single operations, moves between widths. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <string.h>

/* --- constants --- */

static uint64_t hash_const(enum ptxi_class class, uint64_t value)
{
    uint64_t h = (value ^ (uint64_t)class << 56) * 0x9e3779b97f4a7c15u;

    return h ^ h >> 29;
}

static bool grow_const_table(struct ptxi_lower *l)
{
    struct ptxi_const_table *t = &l->consts, old = *t;

    t->size = old.size ? old.size * 2 : 64;
    t->vregs = ARENA_NEW(l->ir->arena, uint32_t, t->size);
    if (!t->vregs) {
        *t = old;
        l->ir->oom = true;
        return false;
    }
    memset(t->vregs, 0xff, t->size * sizeof *t->vregs);
    for (uint32_t i = 0; i < old.size; i++) {
        const struct ptxi_vreg *v = old.vregs[i] == PTXI_NONE ? NULL : &l->ir->vregs[old.vregs[i]];
        uint32_t k;

        if (!v)
            continue;
        for (k = hash_const(v->class, v->value) & (t->size - 1); t->vregs[k] != PTXI_NONE; k = (k + 1) & (t->size - 1))
            ;
        t->vregs[k] = old.vregs[i];
    }
    return true;
}

static uint64_t cut_const(enum ptxi_class class, uint64_t value)
{
    static const uint64_t masks[PTXI_RC_COUNT] = { 1, 0xffff, 0xffffffff, UINT64_MAX, UINT64_MAX };

    return class == PTXI_RC_PRED ? value != 0 : value & masks[class];
}

uint32_t ptxi_lower_const(struct ptxi_lower *l, enum ptxi_class class, uint64_t value)
{
    struct ptxi_const_table *t = &l->consts;
    uint32_t k;

    value = cut_const(class, value);
    if (t->count * 2 >= t->size && !grow_const_table(l))
        return 0;
    for (k = hash_const(class, value) & (t->size - 1); t->vregs[k] != PTXI_NONE; k = (k + 1) & (t->size - 1)) {
        const struct ptxi_vreg *v = &l->ir->vregs[t->vregs[k]];

        assert(v->kind == PTXI_VR_CONST);
        if (v->class == class && v->value == value)
            return t->vregs[k];
    }
    t->count++;
    return t->vregs[k] = ptxi_ir_const(l->ir, class, value);
}

/* --- operations --- */

struct ptxi_ir_inst *ptxi_lower_op(struct ptxi_lower *l, uint16_t op, uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    struct ptxi_ir_inst *i = ptxi_ir_append(l->ir, op);

    i->ptx = l->ptx;
    ptxi_ir_set_write(i, PTXI_F_D, d);
    ptxi_ir_set_read(i, PTXI_F_A, a);
    ptxi_ir_set_read(i, PTXI_F_B, b);
    ptxi_ir_set_read(i, PTXI_F_C, c);
    return i;
}

struct ptxi_ir_inst *ptxi_lower_pure_op(struct ptxi_lower *l, uint16_t op, uint32_t d, uint32_t a, uint32_t b,
                                        uint32_t c)
{
    struct ptxi_ir_inst *i = ptxi_lower_op(l, op, d, a, b, c);

    i->flags |= PTXI_IF_PURE;
    return i;
}

void ptxi_lower_move(struct ptxi_lower *l, uint32_t d, uint32_t a)
{
    static const uint16_t ops[PTXI_RC_COUNT] = { PTXI_OP_mov_pred, PTXI_OP_mov_16, PTXI_OP_mov_32, PTXI_OP_mov_64,
                                                 PTXI_OP_mov_128 };

    if (d != a)
        ptxi_lower_pure_op(l, ops[ptxi_lower_class(l, d)], d, a, PTXI_NONE, PTXI_NONE);
}

uint32_t ptxi_lower_add_offset(struct ptxi_lower *l, uint32_t base, int64_t offset)
{
    enum ptxi_class class = ptxi_lower_class(l, base);
    uint32_t sum = ptxi_lower_temp(l, class);
    uint16_t op = class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64;

    ptxi_lower_pure_op(l, op, sum, base, ptxi_lower_const(l, class, (uint64_t)offset), PTXI_NONE);
    return sum;
}

uint32_t ptxi_lower_shared_to_generic(struct ptxi_lower *l, uint32_t shared)
{
    uint32_t wide = ptxi_lower_temp(l, PTXI_RC_64), d = ptxi_lower_temp(l, PTXI_RC_64);

    ptxi_lower_pure_op(l, PTXI_OP_ext_u32_64, wide, shared, PTXI_NONE, PTXI_NONE);
    ptxi_lower_pure_op(l, PTXI_OP_cvta_shared, d, wide, PTXI_NONE, PTXI_NONE);
    return d;
}

/* mods: bit 0: a scope wider than the CTA; bit 1: sequentially consistent. */
enum ptxi_check_scope ptxi_lower_scope(const struct ptxi_match *m, enum ptxi_check_scope otherwise)
{
    static const struct {
        uint16_t word;
        enum ptxi_check_scope scope;
    } words[] = {
        { PTXI_Q_cta, PTXI_SCOPE_CTA }, { PTXI_Q_cluster, PTXI_SCOPE_CLUSTER }, { PTXI_Q_gpu, PTXI_SCOPE_GPU },
        { PTXI_Q_gl, PTXI_SCOPE_GPU },  { PTXI_Q_sys, PTXI_SCOPE_SYS },
    };

    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptxi_isa_has_word(m, words[k].word))
            return words[k].scope;
    return otherwise;
}

enum ptxi_check_scope ptxi_lower_atomic_scope(const struct ptxi_match *m)
{
    return ptxi_lower_scope(m, m->row->family == PTXI_M_multimem ? PTXI_SCOPE_SYS : PTXI_SCOPE_GPU);
}

void ptxi_lower_fence(struct ptxi_lower *l, const struct ptxi_match *m, unsigned only)
{
    struct ptxi_ir_inst *i = ptxi_lower_op(l, PTXI_OP_fence, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->mods = (uint16_t)((ptxi_isa_has_word(m, PTXI_Q_cta) ? 0 : 1) | ptxi_lower_scope(m, PTXI_SCOPE_GPU) << 2);
    if (ptxi_isa_has_word(m, PTXI_Q_sc) || m->row->family == PTXI_M_membar) /* membar is fence.sc */
        i->mods |= 2;
    if (ptxi_isa_has_word(m, PTXI_Q_proxy) && ptxi_isa_has_word(m, PTXI_Q_async))
        i->mods |= PTXI_CHECK_FENCE_PROXY << 2;
    i->mods |= (uint16_t)(only << 2);
}

/* --- widths --- */

static unsigned class_bits(enum ptxi_class class)
{
    return ptxi_class_units[class] * 16;
}

static void truncate_to(struct ptxi_lower *l, uint32_t d, uint32_t a)
{
    static const uint16_t ops[PTXI_RC_COUNT][PTXI_RC_COUNT] = {
        [PTXI_RC_32] = { [PTXI_RC_16] = PTXI_OP_trunc_32_16 },
        [PTXI_RC_64] = { [PTXI_RC_16] = PTXI_OP_trunc_64_16, [PTXI_RC_32] = PTXI_OP_trunc_64_32 },
    };
    enum ptxi_class from = ptxi_lower_class(l, a), to = ptxi_lower_class(l, d);

    if (from == PTXI_RC_128) {
        uint32_t low = to == PTXI_RC_64 ? d : ptxi_lower_temp(l, PTXI_RC_64);

        ptxi_lower_pure_op(l, PTXI_OP_unpack_64, low, a, PTXI_NONE, PTXI_NONE);
        if (low != d)
            truncate_to(l, d, low);
        return;
    }
    assert(ops[from][to]);
    ptxi_lower_pure_op(l, ops[from][to], d, a, PTXI_NONE, PTXI_NONE);
}

static uint16_t extend_op(unsigned bits, enum ptxi_class to, bool is_signed)
{
    static const uint16_t from_8[PTXI_RC_COUNT][2] = { [PTXI_RC_16] = { PTXI_OP_ext_u8_16, PTXI_OP_ext_s8_16 },
                                                       [PTXI_RC_32] = { PTXI_OP_ext_u8_32, PTXI_OP_ext_s8_32 },
                                                       [PTXI_RC_64] = { PTXI_OP_ext_u8_64, PTXI_OP_ext_s8_64 } };
    static const uint16_t from_16[PTXI_RC_COUNT][2] = { [PTXI_RC_32] = { PTXI_OP_ext_u16_32, PTXI_OP_ext_s16_32 },
                                                        [PTXI_RC_64] = { PTXI_OP_ext_u16_64, PTXI_OP_ext_s16_64 } };
    static const uint16_t from_32[PTXI_RC_COUNT][2] = { [PTXI_RC_64] = { PTXI_OP_ext_u32_64, PTXI_OP_ext_s32_64 } };

    switch (bits) {
    case 8: return from_8[to][is_signed];
    case 16: return from_16[to][is_signed];
    default: return from_32[to][is_signed];
    }
}

static void extend_to_128(struct ptxi_lower *l, uint32_t d, uint32_t a, unsigned bits, bool is_signed)
{
    uint32_t low = ptxi_lower_temp(l, PTXI_RC_64), high = ptxi_lower_const(l, PTXI_RC_64, 0);

    ptxi_lower_resize(l, low, a, bits, is_signed);
    if (is_signed) {
        high = ptxi_lower_temp(l, PTXI_RC_64);
        ptxi_lower_pure_op(l, PTXI_OP_shr_s64, high, low, ptxi_lower_const(l, PTXI_RC_32, 63), PTXI_NONE);
    }
    ptxi_lower_pure_op(l, PTXI_OP_pack_2x64, d, low, high, PTXI_NONE);
}

void ptxi_lower_resize(struct ptxi_lower *l, uint32_t d, uint32_t a, unsigned bits, bool is_signed)
{
    enum ptxi_class from = ptxi_lower_class(l, a), to = ptxi_lower_class(l, d), source;

    if (!bits || bits > class_bits(from))
        bits = class_bits(from);
    if (bits >= class_bits(to)) {
        if (from == to)
            ptxi_lower_move(l, d, a);
        else
            truncate_to(l, d, a);
        return;
    }
    if (to == PTXI_RC_128) {
        extend_to_128(l, d, a, bits, is_signed);
        return;
    }
    source = bits <= 16 ? PTXI_RC_16 : PTXI_RC_32;
    if (from != source) {
        uint32_t t = ptxi_lower_temp(l, source);

        truncate_to(l, t, a);
        a = t;
    }
    assert(extend_op(bits, to, is_signed));
    ptxi_lower_pure_op(l, extend_op(bits, to, is_signed), d, a, PTXI_NONE, PTXI_NONE);
}

uint32_t ptxi_lower_fit(struct ptxi_lower *l, uint32_t v, enum ptxi_class class)
{
    const struct ptxi_vreg *r = &l->ir->vregs[v];
    uint32_t d;

    if (r->class == class)
        return v;
    if (r->kind == PTXI_VR_CONST && class != PTXI_RC_128)
        return ptxi_lower_const(l, class, r->value);
    d = ptxi_lower_temp(l, class);
    ptxi_lower_resize(l, d, v, 0, false);
    return d;
}

/* --- forms that nothing executes --- */

static const char *spell(const struct ptxi_lower *l, const struct ptxi_match *m)
{
    const char *s = m->row->mnemonic;

    for (unsigned i = 0; i < m->row->slot_count && s; i++)
        if (m->words[i] != PTXI_NO_WORD)
            s = ptxi_arena_printf(l->ir->arena, "%s.%s", s, ptxi_words[m->words[i]]);
    return s;
}

void ptxi_lower_unsupported(struct ptxi_lower *l, const char *why)
{
    const char *text = spell(l, l->inst->match);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, PTXI_OP_unsupported, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    if (text && why)
        text = ptxi_arena_printf(l->ir->arena, "%s (%s)", text, why);
    i->imm = (int32_t)ptxi_ir_unsupported(l->ir, text);
    i->flags |= PTXI_IF_TOGETHER;
}
