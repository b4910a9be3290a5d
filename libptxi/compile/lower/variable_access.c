/* How a function accesses its variables and parameters: prologue and epilogue, parameter words, addresses. */
#include "compile/lower/lower_state.h"

#include <assert.h>

/* --- parameters in registers and in the depot --- */

static void copy_register_parameter(struct ptxi_lower *l, const struct ptxi_var *v, uint32_t area, bool load)
{
    unsigned bits = ptxi_types[v->type].bits;

    for (uint32_t e = 0; e < v->vector; e++) {
        uint32_t offset = e * (bits / 8);

        if (load)
            ptxi_lower_load_words(l, area, offset, v->reg + e, bits, false);
        else
            ptxi_lower_store_words(l, area, offset, v->reg + e, bits);
    }
}

/* A check of .local memory, which no other thread accesses. */
static uint16_t local_check(const struct ptxi_lower *l, unsigned bytes, bool write)
{
    unsigned mods = bytes | PTXI_CHECK_LOCAL | PTXI_CHECK_NO_RACE | (write ? PTXI_CHECK_WRITE : 0);

    return l->options->init || l->options->pointers ? (uint16_t)mods : 0;
}

void ptxi_lower_copy_depot(struct ptxi_lower *l, const struct ptxi_lower_home *h, bool load)
{
    const struct ptxi_area *area = &l->ir->areas[h->area];

    for (uint32_t w = 0; w < area->count; w++) {
        struct ptxi_ir_inst *i;

        if (load)
            i = ptxi_lower_op(l, PTXI_OP_ld_local_32, area->first + w, l->depot, PTXI_NONE, PTXI_NONE);
        else
            i = ptxi_lower_op(l, PTXI_OP_st_local_32, PTXI_NONE, l->depot, area->first + w, PTXI_NONE);
        i->imm = (int32_t)(h->offset + 4 * w);
        i->flags |= PTXI_IF_ALWAYS;
        i->check = local_check(l, 4, !load);
    }
}

/* PTX ISA, "alloca": the memory is freed when the function exits. */
static bool moves_stack(const struct ptxi_func *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint16_t family = f->insts[i].match->row->family;

        if (family == PTXI_M_alloca || family == PTXI_M_stackrestore)
            return true;
    }
    return false;
}

void ptxi_lower_prologue(struct ptxi_lower *l)
{
    const struct ptxi_signature *s = &l->func->signature;

    if (l->ir->local_bytes) {
        l->depot = ptxi_lower_temp(l, PTXI_RC_64);
        ptxi_lower_pure_op(l, PTXI_OP_local_addr, l->depot, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    }
    if (l->func->is_entry)
        return;
    if (moves_stack(l->func)) {
        l->stack = ptxi_lower_temp(l, PTXI_RC_64);
        ptxi_lower_op(l, PTXI_OP_stacksave_64, l->stack, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    }
    for (uint32_t i = 0; i < s->param_count; i++) {
        if (s->params[i]->is_reg)
            copy_register_parameter(l, s->params[i], l->params[i].area, true);
        if (l->params[i].in_depot)
            ptxi_lower_copy_depot(l, &l->params[i], false);
    }
}

void ptxi_lower_epilogue(struct ptxi_lower *l)
{
    const struct ptxi_signature *s = &l->func->signature;

    for (uint32_t i = 0; i < s->ret_count; i++) {
        if (s->rets[i]->is_reg)
            copy_register_parameter(l, s->rets[i], l->rets[i].area, false);
        if (l->rets[i].in_depot)
            ptxi_lower_copy_depot(l, &l->rets[i], true);
    }
    if (l->stack != PTXI_NONE)
        ptxi_lower_op(l, PTXI_OP_stackrestore_64, PTXI_NONE, l->stack, PTXI_NONE, PTXI_NONE);
}

/* --- parameter words --- */

/* Whether the access is inside the area and aligned; otherwise the instruction becomes unsupported. */
static bool check_words(struct ptxi_lower *l, uint32_t area, uint32_t offset, unsigned bits)
{
    unsigned align = bits < 32 ? bits / 8 : 4;

    if (l->ir->oom)
        return false;
    assert(area < l->ir->area_count);
    if (offset % align == 0 && (uint64_t)offset + bits / 8 <= l->ir->areas[area].count * 4)
        return true;
    ptxi_lower_unsupported(l, offset % align ? "misaligned parameter" : "outside the parameter");
    return false;
}

static void load_narrow(struct ptxi_lower *l, uint32_t d, uint32_t word, unsigned bits, bool is_signed, uint32_t byte)
{
    uint16_t op = PTXI_OP_ldp_16;

    if (bits == 8)
        op = is_signed ? PTXI_OP_ldp_s8_16 : PTXI_OP_ldp_u8_16;
    ptxi_lower_pure_op(l, op, d, PTXI_NONE, word, PTXI_NONE)->imm = (int32_t)byte;
}

void ptxi_lower_load_words(struct ptxi_lower *l, uint32_t area, uint32_t offset, uint32_t d, unsigned bits,
                           bool is_signed)
{
    uint32_t w;

    if (!check_words(l, area, offset, bits))
        return;
    w = l->ir->areas[area].first + offset / 4;
    switch (bits) {
    case 32: ptxi_lower_move(l, d, w); break;
    case 64: ptxi_lower_pure_op(l, PTXI_OP_pack_2x32, d, w, w + 1, PTXI_NONE); break;
    case 128: ptxi_ir_set_read(ptxi_lower_pure_op(l, PTXI_OP_pack_4x32, d, w, w + 1, w + 2), PTXI_F_IMM, w + 3); break;
    default: load_narrow(l, d, w, bits, is_signed, offset % 4); break;
    }
}

static struct ptxi_ir_inst *store_word(struct ptxi_lower *l, uint16_t op, uint32_t word, uint32_t a, uint32_t byte)
{
    struct ptxi_ir_inst *i = ptxi_lower_pure_op(l, op, PTXI_NONE, a, PTXI_NONE, PTXI_NONE);

    ptxi_ir_set_write(i, PTXI_F_B, word);
    i->imm = (int32_t)byte;
    return i;
}

static void store_128(struct ptxi_lower *l, uint32_t first_word, uint32_t a)
{
    for (unsigned k = 0; k < 4; k++) {
        struct ptxi_ir_inst *i = ptxi_lower_pure_op(l, PTXI_OP_unpack_32, first_word + k, a, PTXI_NONE, PTXI_NONE);

        i->imm = (int32_t)k;
        i->mods = 16;
    }
}

void ptxi_lower_store_words(struct ptxi_lower *l, uint32_t area, uint32_t offset, uint32_t a, unsigned bits)
{
    struct ptxi_ir *ir = l->ir;
    struct ptxi_ir_inst *i;
    uint32_t w;

    if (!check_words(l, area, offset, bits))
        return;
    w = ir->areas[area].first + offset / 4;
    if (bits == 32) {
        ptxi_lower_move(l, w, a);
    } else if (bits == 128) {
        store_128(l, w, a);
    } else if (bits == 64) {
        i = store_word(l, PTXI_OP_stp_64, w, a, offset % 4);
        i->v[PTXI_F_EXTRA] = w + 1; /* the same operation writes this word, too */
        i->writes |= 1u << PTXI_F_EXTRA;
    } else {
        i = store_word(l, bits == 16 ? PTXI_OP_stp_16 : PTXI_OP_stp_8, w, a, offset % 4);
        if (ir->areas[area].bytes > bits / 8) /* it keeps the rest of the word */
            i->reads |= 1u << PTXI_F_B;
    }
}

/* --- addresses --- */

/* Addresses wrap around. */
static int64_t wrapping_sum(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

/* Base and offset of a shared variable. */
static void locate_shared(struct ptxi_lower *l, const struct ptxi_var *var, struct ptxi_lower_mem *m)
{
    if (var->unsized && !l->func->is_entry) {
        m->base = ptxi_lower_temp(l, PTXI_RC_32);
        ptxi_lower_pure_op(l, PTXI_OP_shared_dynamic, m->base, PTXI_NONE, PTXI_NONE, PTXI_NONE)->imm =
            (int32_t)ptxi_lower_dynamic_align(var);
        return;
    }
    m->offset = (int32_t)ptxi_lower_shared_offset(l, var);
    if (l->layout->in_clusters) {
        m->base = ptxi_lower_temp(l, PTXI_RC_32);
        ptxi_lower_pure_op(l, PTXI_OP_shared_addr, m->base, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    }
}

/* Base and offset of a variable in its space. */
static struct ptxi_lower_mem locate(struct ptxi_lower *l, const struct ptxi_var *var)
{
    const struct ptxi_lower_home *h = ptxi_lower_find_home(l, var);
    struct ptxi_lower_mem m = { .space = var->space, .area = PTXI_NONE };
    enum ptxi_class class = var->space == PTXI_SPACE_SHARED ? PTXI_RC_32 : PTXI_RC_64;

    if (h && (h->in_depot || var->unsized))
        m.space = PTXI_SPACE_LOCAL;
    if (h && var->unsized) {
        m.base = ptxi_lower_temp(l, class);
        ptxi_lower_load_words(l, h->area, 0, m.base, 64, false);
        return m;
    }
    m.base = m.space == PTXI_SPACE_LOCAL ? l->depot : PTXI_NONE;
    if (var->space == PTXI_SPACE_GLOBAL) {
        m.base = ptxi_lower_const(l, class, l->options->global_address(l->options->ctx, var));
    } else if (var->space == PTXI_SPACE_CONST) {
        m.offset = (int32_t)ptxi_layout_const(l->layout, var);
    } else if (var->space == PTXI_SPACE_SHARED) {
        locate_shared(l, var, &m);
    } else if (h && h->area != PTXI_NONE && !h->in_depot) {
        m.area = h->area;
        return m;
    } else if (h) {
        m.offset = (int32_t)h->offset;
    }
    if (m.base == PTXI_NONE)
        m.base = ptxi_lower_const(l, class, 0);
    return m;
}

/* base + offset, computed now if base is a constant. */
static uint32_t add_offset(struct ptxi_lower *l, uint32_t base, int64_t offset)
{
    const struct ptxi_vreg *v = &l->ir->vregs[base];
    enum ptxi_class class = v->class;
    uint32_t d, k;

    if (!offset)
        return base;
    if (v->kind == PTXI_VR_CONST)
        return ptxi_lower_const(l, class, v->value + (uint64_t)offset);
    k = ptxi_lower_const(l, class, (uint64_t)offset);
    d = ptxi_lower_temp(l, class);
    ptxi_lower_pure_op(l, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, d, base, k, PTXI_NONE);
    return d;
}

/* A constant with the bounds of a variable, for the checks. */
static uint32_t bounds_of(struct ptxi_lower *l, const struct ptxi_var *var, const struct ptxi_lower_mem *m)
{
    uint64_t start = (uint32_t)m->offset, end = start + var->size;

    return ptxi_ir_const(l->ir, PTXI_RC_64,
                         start | end << 32 | (m->space == PTXI_SPACE_LOCAL ? PTXI_OBJECT_LOCAL : 0));
}

/* The address of a shared variable, whose bounds the checks know. */
static uint32_t tracked_address(struct ptxi_lower *l, const struct ptxi_var *var, const struct ptxi_lower_mem *m,
                                int64_t offset)
{
    uint32_t bounds = bounds_of(l, var, m);
    uint32_t address = ptxi_ir_const(l->ir, PTXI_RC_32, (uint32_t)wrapping_sum(m->offset, offset));

    l->ir->vregs[address].object = bounds;
    return address;
}

uint32_t ptxi_lower_variable_address(struct ptxi_lower *l, const struct ptxi_var *var, int64_t offset,
                                     enum ptxi_class class)
{
    struct ptxi_lower_mem m = locate(l, var);
    struct ptxi_ir_inst *i;
    uint32_t d;

    if (m.area != PTXI_NONE) {
        ptxi_lower_unsupported(l, "address of a parameter");
        return ptxi_lower_const(l, class, 0);
    }
    if (m.space == PTXI_SPACE_SHARED && !var->unsized && !l->layout->in_clusters && l->options->pointers)
        return ptxi_lower_fit(l, tracked_address(l, var, &m, offset), class);
    if (m.space != PTXI_SPACE_LOCAL || var->unsized)
        return ptxi_lower_fit(l, add_offset(l, m.base, wrapping_sum(m.offset, offset)), class);
    d = ptxi_lower_temp(l, PTXI_RC_64);
    i = ptxi_lower_pure_op(l, PTXI_OP_local_addr, d, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->imm = (int32_t)wrapping_sum(m.offset, offset);
    if (l->options->pointers) {
        uint32_t bounds = bounds_of(l, var, &m);

        l->ir->vregs[d].object = bounds;
    }
    return ptxi_lower_fit(l, d, class);
}

static uint32_t scale_index(struct ptxi_lower *l, uint32_t index, uint32_t scale)
{
    enum ptxi_class class = ptxi_lower_class(l, index);
    uint32_t d, k;

    if (scale == 1)
        return index;
    k = ptxi_lower_const(l, class, scale);
    d = ptxi_lower_temp(l, class);
    ptxi_lower_pure_op(l, class == PTXI_RC_32 ? PTXI_OP_mul_lo_i32 : PTXI_OP_mul_lo_i64, d, index, k, PTXI_NONE);
    return d;
}

static uint32_t add_index(struct ptxi_lower *l, uint32_t base, uint32_t index)
{
    const struct ptxi_vreg *v = &l->ir->vregs[base];
    enum ptxi_class class = v->class;
    uint32_t d;

    if (v->kind == PTXI_VR_CONST && !v->value)
        return index;
    d = ptxi_lower_temp(l, class);
    ptxi_lower_pure_op(l, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, d, base, index, PTXI_NONE);
    return d;
}

/* PTX ISA, "Addresses as Operands": a narrow register is extended. ptxas extends the register and the offset to 32
 * bits, by the register's type, adds them in 32 bits, and extends the sum by zeros. */
static uint32_t extend_narrow_base(struct ptxi_lower *l, const struct ptxi_address *a, enum ptxi_class class)
{
    const struct ptxi_type_info *t = &ptxi_types[a->type];
    unsigned cut = 64 - t->bits;
    uint64_t offset = (uint64_t)a->offset << cut;
    uint32_t base = a->reg;

    offset = t->class == 'S' ? (uint64_t)((int64_t)offset >> cut) : offset >> cut;
    if (t->bits < 32) {
        base = ptxi_lower_temp(l, PTXI_RC_32);
        ptxi_lower_resize(l, base, a->reg, t->bits, t->class == 'S');
    }
    return ptxi_lower_fit(l, add_offset(l, base, (int64_t)offset), class);
}

/* An address in the words of a parameter; mem->area is set. */
static bool resolve_words(struct ptxi_lower *l, const struct ptxi_address *a, int64_t offset,
                          struct ptxi_lower_mem *mem)
{
    mem->offset = (int32_t)offset;
    if (a->reg == PTXI_NO_REG && offset >= 0 && offset <= INT32_MAX)
        return true;
    ptxi_lower_unsupported(l, "indexed parameter of a call");
    return false;
}

/* The base of an address without a variable. The register may be missing. Sets *offset to 0 if the base includes
 * it. */
static uint32_t plain_base(struct ptxi_lower *l, const struct ptxi_address *a, enum ptxi_class class, int64_t *offset)
{
    if (a->reg == PTXI_NO_REG)
        return ptxi_lower_const(l, class, 0);
    if (ptxi_types[a->type].bits >= (class == PTXI_RC_32 ? 32 : 64))
        return ptxi_lower_fit(l, a->reg, class);
    *offset = 0;
    return extend_narrow_base(l, a, class);
}

bool ptxi_lower_address(struct ptxi_lower *l, const struct ptxi_address *a, enum ptxi_space space,
                        struct ptxi_lower_mem *mem)
{
    enum ptxi_class class;
    int64_t offset = a->offset;
    bool any_cta = space == PTXI_SPACE_CLUSTER && !a->var; /* a variable is the CTA's own */

    if (space == PTXI_SPACE_CLUSTER)
        space = PTXI_SPACE_SHARED;
    *mem = (struct ptxi_lower_mem){ .space = space, .base = PTXI_NONE, .area = PTXI_NONE };
    if (a->var) {
        *mem = locate(l, a->var);
        offset = wrapping_sum(offset, mem->offset);
        if (mem->area != PTXI_NONE)
            return resolve_words(l, a, offset, mem);
    }
    class = mem->space == PTXI_SPACE_SHARED ? PTXI_RC_32 : PTXI_RC_64;
    if (!a->var)
        mem->base = plain_base(l, a, class, &offset);
    else if (a->reg != PTXI_NO_REG)
        mem->base = add_index(l, mem->base, scale_index(l, ptxi_lower_fit(l, a->reg, class), a->scale ? a->scale : 1));
    assert(mem->base != PTXI_NONE || l->ir->oom);
    if (offset < INT32_MIN || offset > INT32_MAX ||
        (mem->space == PTXI_SPACE_GLOBAL && l->ir->vregs[mem->base].kind == PTXI_VR_CONST && !a->var)) {
        mem->base = add_offset(l, mem->base, offset);
        offset = 0;
    }
    mem->offset = (int32_t)offset;
    if (any_cta) {
        mem->base = ptxi_lower_shared_to_generic(l, mem->base);
        mem->space = PTXI_SPACE_GENERIC;
    }
    return true;
}

enum access_kind { OTHER_ACCESS, LOAD, STORE, ATOMIC };

/* A multimem address has one replica, so multimem instructions access memory as the others do. */
static enum access_kind access_kind_of(const struct ptxi_match *m)
{
    switch (m->row->family) {
    case PTXI_M_ld: case PTXI_M_ldu: return LOAD;
    case PTXI_M_st: return STORE;
    case PTXI_M_atom: case PTXI_M_red: return ATOMIC;
    case PTXI_M_multimem: break;
    default: return OTHER_ACCESS;
    }
    if (ptxi_isa_has_word(m, PTXI_Q_red))
        return ATOMIC;
    return ptxi_isa_has_word(m, PTXI_Q_st) ? STORE : LOAD;
}

/* How the instruction accesses memory, as check_access needs it. */
static uint16_t check_mods(const struct ptxi_lower *l, const struct ptxi_lower_mem *mem, unsigned bytes)
{
    const struct ptxi_match *m = l->inst->match;
    enum access_kind kind = access_kind_of(m);
    enum ptxi_check_strength strength = PTXI_CHECK_WEAK;
    enum ptxi_check_scope scope = PTXI_SCOPE_CTA;
    unsigned mods = bytes;

    if (kind == OTHER_ACCESS)
        return 0;
    if (mem->space == PTXI_SPACE_LOCAL && kind != ATOMIC)
        return local_check(l, bytes, kind == STORE);
    if (mem->space == PTXI_SPACE_SHARED)
        mods |= PTXI_CHECK_SHARED;
    else if (mem->space == PTXI_SPACE_GENERIC)
        mods |= PTXI_CHECK_GENERIC;
    else if (mem->space != PTXI_SPACE_GLOBAL)
        return 0;
    if (kind == ATOMIC) {
        strength = PTXI_CHECK_ATOMIC;
        scope = ptxi_lower_atomic_scope(m);
    } else if (ptxi_isa_has_word(m, PTXI_Q_volatile)) {
        strength = PTXI_CHECK_VOLATILE;
        scope = PTXI_SCOPE_SYS;
    } else if (ptxi_isa_has_word(m, PTXI_Q_relaxed) || ptxi_isa_has_word(m, PTXI_Q_acquire) ||
               ptxi_isa_has_word(m, PTXI_Q_release)) {
        strength = PTXI_CHECK_STRONG;
        scope = ptxi_lower_scope(m, PTXI_SCOPE_SYS);
    }
    mods |= strength << PTXI_CHECK_STRENGTH_SHIFT | scope << PTXI_CHECK_SCOPE_SHIFT;
    return (uint16_t)(kind == LOAD ? mods : mods | PTXI_CHECK_WRITE);
}

void ptxi_lower_note_access(const struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct ptxi_lower_mem *mem,
                            unsigned bytes, uint16_t kind)
{
    i->check = check_mods(l, mem, bytes);
    if (i->check && l->inst->intends_race)
        i->check |= PTXI_CHECK_NO_RACE;
    if (mem->space == PTXI_SPACE_SHARED || mem->space == PTXI_SPACE_GENERIC)
        i->shared = (uint16_t)(bytes | kind | (mem->space == PTXI_SPACE_GENERIC ? PTXI_SHARED_GENERIC : 0));
    else
        i->flags |= PTXI_IF_NOT_SHARED;
}
