/* Where the variables of a function are, and the way to them. */
#include "compile/lower/lower.h"
#include "compile/lower/shared_layout.h"

#include "base/hash.h"

#include <string.h>

/* A shared variable that this kernel names, and where it is. */
struct ptxi_shared_map {
    const struct ptxi_var *var;
    uint32_t offset;
    UT_hash_handle hh;
};

/* --- giving homes --- */

static struct ptxi_shared_map *named(const struct ptxi_build *b, const struct ptxi_var *var)
{
    struct ptxi_shared_map *m;

    HASH_FIND_PTR(b->shared, &var, m);
    return m;
}

static void see_shared(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct ptxi_build *b = ctx;
    struct ptxi_arena *hash_arena = b->ir->arena;
    struct ptxi_shared_map *m;

    (void)func;
    if (!var || var->space != PTXI_SPACE_SHARED || var->unsized || b->ir->oom || named(b, var))
        return;
    m = ARENA_NEW(hash_arena, struct ptxi_shared_map, 1);
    if (!m) {
        b->ir->oom = true;
        return;
    }
    m->var = var;
    HASH_ADD_PTR(b->shared, var, m);
    b->ir->oom |= !HASH_ADDED(hh, m);
}

static void give_shared(struct ptxi_build *b, struct ptxi_var *const *vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ptxi_shared_map *m = named(b, vars[i]);

        if (m)
            m->offset = ptxi_layout_give(&b->shared_bytes, vars[i]);
    }
}

static void found_shared(void *ctx, const struct ptxi_var *var, uint32_t offset)
{
    named(ctx, var)->offset = offset;
}

/* What is named stands where ptxas puts it, see layout.h. Variables that the kernel has and never names take their room behind that. */
static void give_kernel_shared(struct ptxi_build *b)
{
    const struct ptxi_module_tree *tree = b->layout->tree;
    const struct ptxi_func *f = b->func;

    ptxi_layout_names(f, see_shared, b);
    give_shared(b, f->vars, f->var_count);
    if (b->ir->oom)
        return;
    if (!ptxi_layout_shared_of(b->layout, f, found_shared, b, &b->shared_bytes))
        give_shared(b, tree->vars, tree->var_count);
    b->shared_end = (uint32_t)b->shared_bytes;
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i]->space == PTXI_SPACE_SHARED && !named(b, f->vars[i]))
            ptxi_layout_give(&b->shared_bytes, f->vars[i]);
}

enum { DYNAMIC_ALIGN = 16 };

static uint32_t dynamic_align(const struct ptxi_var *var)
{
    return var->align > DYNAMIC_ALIGN ? var->align : DYNAMIC_ALIGN;
}

/* A dynamic array begins behind the variables that are named, where its own alignment lets it. The static ones take what the strictest of the
 * module asks for. */
static void align_dynamic(struct ptxi_build *b)
{
    const struct ptxi_module_tree *tree = b->layout->tree;
    uint32_t align = 1;

    for (uint32_t i = 0; i < tree->var_count; i++)
        if (tree->vars[i]->space == PTXI_SPACE_SHARED && tree->vars[i]->unsized && dynamic_align(tree->vars[i]) > align)
            align = dynamic_align(tree->vars[i]);
    b->shared_bytes = ptxi_layout_align(b->shared_bytes, align);
}

static void give_kernel_homes(struct ptxi_build *b)
{
    const struct ptxi_func *f = b->func;
    uint64_t at = 0;

    for (uint32_t i = 0; i < f->signature.param_count; i++) {
        const struct ptxi_var *v = f->signature.params[i];

        at = ptxi_layout_align(at, v->align);
        b->params[i].offset = (uint32_t)at;
        at += v->size;
    }
    b->param_bytes = (uint32_t)at;
    give_kernel_shared(b);
}

static void give_words(struct ptxi_build *b, struct ptxi_home *homes, struct ptxi_var *const *vars, uint32_t count, uint32_t *at)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = ptxi_layout_passed(vars[i]);

        homes[i].area = ptxi_ir_area(b->ir, bytes, *at * ptxi_class_units[PTXI_RC_32]);
        *at += (uint32_t)((bytes + 3) / 4);
    }
}

static void give_local(struct ptxi_build *b, struct ptxi_home *h, const struct ptxi_var *v)
{
    uint64_t at = ptxi_layout_align(b->ir->local_bytes, v->align < 4 ? 4 : v->align);

    h->offset = (uint32_t)at;
    b->ir->local_bytes = at + ptxi_layout_align(v->size, 4);
}

/* A parameter whose address is taken, or that is indexed by a register, must be in memory. */
static void note_taken(struct ptxi_build *b, const struct ptxi_operand *o)
{
    const struct ptxi_var *v = o->form == PTXI_OPD_VAR                                                           ? o->var
                               : o->form == PTXI_OPD_ADDRESS && o->address->var && o->address->reg != PTXI_NO_REG ? o->address->var
                                                                                                                  : NULL;
    struct ptxi_home *h;

    if (!v || v->space != PTXI_SPACE_PARAM || !(v->is_param || v->is_ret) || v->is_reg || v->unsized)
        return;
    h = ptxi_build_home(b, v);
    if (!h || h->in_depot)
        return;
    h->in_depot = true;
    give_local(b, h, v);
}

static void list_returned(struct ptxi_build *b, uint32_t count)
{
    b->ir->returned = ARENA_NEW(b->ir->arena, struct ptxi_ir_arg, count);
    if (!b->ir->returned) {
        b->ir->oom = true;
        return;
    }
    b->ir->returned_count = count;
    for (uint32_t k = 0; k < count; k++)
        b->ir->returned[k].area = b->rets[k].area;
}

static void give_function_homes(struct ptxi_build *b)
{
    const struct ptxi_func *f = b->func;
    const struct ptxi_signature *s = &f->signature;
    uint32_t at = 0;

    give_words(b, b->params, s->params, s->param_count, &at);
    b->ir->arg_words = at;
    give_words(b, b->rets, s->rets, s->ret_count, &at);
    b->ir->ret_words = at - b->ir->arg_words;
    list_returned(b, s->ret_count);
    for (uint32_t i = 0; i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++)
            note_taken(b, &f->insts[i].operands[k]);
}

/* The last argument of a call, where the function takes an array without a size. */
static const struct ptxi_var *open_argument(const struct ptxi_call *c)
{
    const struct ptxi_signature *s = c->func ? &c->func->signature : c->signature;
    const struct ptxi_operand *last = c->arg_count ? &c->args[c->arg_count - 1] : NULL;

    if (!last || c->arg_count != s->param_count || !s->params[c->arg_count - 1]->unsized || last->form != PTXI_OPD_VAR)
        return NULL;
    return last->var;
}

/* PTX ISA, "Variadic Functions": it is passed by the address of a copy. */
static void note_open_call(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_var *v = inst->match->row->family == PTXI_M_call ? open_argument(inst->operands[0].call) : NULL;
    struct ptxi_home *h = v ? ptxi_build_home(b, v) : NULL;

    if (h && !h->offset)
        give_local(b, h, v);
}

static void give_body_homes(struct ptxi_build *b)
{
    const struct ptxi_func *f = b->func;

    for (uint32_t i = 0; i < f->var_count; i++) {
        const struct ptxi_var *v = f->vars[i];

        if (v->space == PTXI_SPACE_LOCAL)
            give_local(b, &b->vars[i], v);
        else if (v->space == PTXI_SPACE_PARAM)
            b->vars[i].area = ptxi_ir_area(b->ir, v->size, PTXI_NONE);
    }
    for (uint32_t i = 0; i < f->inst_count; i++)
        note_open_call(b, &f->insts[i]);
}

static struct ptxi_home *new_homes(struct ptxi_build *b, uint32_t count)
{
    struct ptxi_home *h = ARENA_NEW(b->ir->arena, struct ptxi_home, count);

    for (uint32_t i = 0; h && i < count; i++)
        h[i].area = PTXI_NONE;
    return h;
}

bool ptxi_build_homes(struct ptxi_build *b)
{
    const struct ptxi_func *f = b->func;

    b->vars = new_homes(b, f->var_count);
    b->params = new_homes(b, f->signature.param_count);
    b->rets = new_homes(b, f->signature.ret_count);
    if (!b->vars || !b->params || !b->rets)
        return false;
    if (f->is_entry)
        give_kernel_homes(b);
    else
        give_function_homes(b);
    give_body_homes(b);
    if (f->is_entry)
        align_dynamic(b);
    b->ir->local_bytes = ptxi_layout_align(b->ir->local_bytes, 16);
    return !b->ir->oom;
}

static struct ptxi_home *home_among(struct ptxi_home *homes, struct ptxi_var *const *vars, uint32_t count, const struct ptxi_var *var)
{
    if (var->index < count && vars[var->index] == var)
        return &homes[var->index];
    for (uint32_t i = 0; i < count; i++)
        if (vars[i] == var)
            return &homes[i];
    return NULL;
}

struct ptxi_home *ptxi_build_home(struct ptxi_build *b, const struct ptxi_var *var)
{
    const struct ptxi_signature *s = &b->func->signature;

    if (var->module_scope)
        return NULL;
    if (var->is_ret)
        return home_among(b->rets, s->rets, s->ret_count, var);
    if (var->is_param)
        return home_among(b->params, s->params, s->param_count, var);
    return home_among(b->vars, b->func->vars, b->func->var_count, var);
}

/* --- parameters in registers and in the depot --- */

static void reg_param(struct ptxi_build *b, const struct ptxi_var *v, uint32_t area, bool load)
{
    unsigned bits = ptxi_types[v->type].bits;

    if (load)
        ptxi_build_load_words(b, area, 0, v->reg, bits, false);
    else
        ptxi_build_store_words(b, area, 0, v->reg, bits);
}

void ptxi_build_copy_depot(struct ptxi_build *b, const struct ptxi_home *h, bool load)
{
    const struct ptxi_area *area = &b->ir->areas[h->area];

    for (uint32_t w = 0; w < area->count; w++) {
        struct ptxi_ir_inst *i = ptxi_build_op(b, load ? PTXI_OP_ld_local_32 : PTXI_OP_st_local_32, load ? area->first + w : PTXI_NONE, b->depot,
                                               load ? PTXI_NONE : area->first + w, PTXI_NONE);

        i->imm = (int32_t)(h->offset + 4 * w);
        i->flags |= PTXI_IF_ALWAYS;
    }
}

/* PTX ISA, "alloca": its memory is given back when the function exits. */
static bool moves_stack(const struct ptxi_func *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint16_t family = f->insts[i].match->row->family;

        if (family == PTXI_M_alloca || family == PTXI_M_stackrestore)
            return true;
    }
    return false;
}

void ptxi_build_prologue(struct ptxi_build *b)
{
    const struct ptxi_signature *s = &b->func->signature;

    if (b->ir->local_bytes) {
        b->depot = ptxi_build_temp(b, PTXI_RC_64);
        ptxi_build_pure(b, PTXI_OP_local_addr, b->depot, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    }
    if (b->func->is_entry)
        return;
    if (moves_stack(b->func)) {
        b->stack = ptxi_build_temp(b, PTXI_RC_64);
        ptxi_build_op(b, PTXI_OP_stacksave_64, b->stack, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    }
    for (uint32_t i = 0; i < s->param_count; i++) {
        if (s->params[i]->is_reg)
            reg_param(b, s->params[i], b->params[i].area, true);
        if (b->params[i].in_depot)
            ptxi_build_copy_depot(b, &b->params[i], false);
    }
}

void ptxi_build_epilogue(struct ptxi_build *b)
{
    const struct ptxi_signature *s = &b->func->signature;

    for (uint32_t i = 0; i < s->ret_count; i++) {
        if (s->rets[i]->is_reg)
            reg_param(b, s->rets[i], b->rets[i].area, false);
        if (b->rets[i].in_depot)
            ptxi_build_copy_depot(b, &b->rets[i], true);
    }
    if (b->stack != PTXI_NONE)
        ptxi_build_op(b, PTXI_OP_stackrestore_64, PTXI_NONE, b->stack, PTXI_NONE, PTXI_NONE);
}

/* --- parameter words --- */

static bool words_ok(struct ptxi_build *b, uint32_t area, uint32_t offset, unsigned bits)
{
    unsigned align = bits < 32 ? bits / 8 : 4;

    if (b->ir->oom)
        return false;
    if (offset % align == 0 && (uint64_t)offset + bits / 8 <= b->ir->areas[area].count * 4)
        return true;
    ptxi_build_unsupported(b, offset % align ? "misaligned parameter" : "outside the parameter");
    return false;
}

void ptxi_build_load_words(struct ptxi_build *b, uint32_t area, uint32_t offset, uint32_t d, unsigned bits, bool is_signed)
{
    uint32_t w;
    struct ptxi_ir_inst *i;

    if (!words_ok(b, area, offset, bits))
        return;
    w = b->ir->areas[area].first + offset / 4;
    if (bits == 32) {
        ptxi_build_move(b, d, w);
    } else if (bits == 64) {
        ptxi_build_pure(b, PTXI_OP_pack_2x32, d, w, w + 1, PTXI_NONE);
    } else if (bits == 128) {
        i = ptxi_build_pure(b, PTXI_OP_pack_4x32, d, w, w + 1, w + 2);
        ptxi_build_read(i, PTXI_F_IMM, w + 3);
    } else {
        i = ptxi_build_pure(b, bits == 16 ? PTXI_OP_ldp_16 : is_signed ? PTXI_OP_ldp_s8_16 : PTXI_OP_ldp_u8_16, d, PTXI_NONE, w, PTXI_NONE);
        i->imm = (int32_t)(offset % 4);
    }
}

static void store_word(struct ptxi_build *b, uint16_t op, uint32_t word, uint32_t a, int32_t byte)
{
    struct ptxi_ir_inst *i = ptxi_build_pure(b, op, PTXI_NONE, a, PTXI_NONE, PTXI_NONE);

    ptxi_build_write(i, PTXI_F_B, word);
    i->imm = byte;
}

void ptxi_build_store_words(struct ptxi_build *b, uint32_t area, uint32_t offset, uint32_t a, unsigned bits)
{
    struct ptxi_ir *ir = b->ir;
    uint32_t w;

    if (!words_ok(b, area, offset, bits))
        return;
    w = ir->areas[area].first + offset / 4;
    if (bits == 32) {
        ptxi_build_move(b, w, a);
    } else if (bits == 128) {
        for (unsigned k = 0; k < 4; k++) {
            struct ptxi_ir_inst *i = ptxi_build_pure(b, PTXI_OP_unpack_32, w + k, a, PTXI_NONE, PTXI_NONE);

            i->imm = (int32_t)k;
            i->mods = 16;
        }
    } else {
        store_word(b, bits == 64 ? PTXI_OP_stp_64 : bits == 16 ? PTXI_OP_stp_16 : PTXI_OP_stp_8, w, a, (int32_t)(offset % 4));
        if (bits == 64) /* written, too, by the one operation */
            ir->insts[ir->count - 1].v[PTXI_F_EXTRA] = w + 1;
        if (bits == 64)
            ir->insts[ir->count - 1].writes |= 1u << PTXI_F_EXTRA;
        else if (ir->areas[area].bytes > bits / 8) /* the rest of the word stays */
            ir->insts[ir->count - 1].reads |= 1u << PTXI_F_B;
    }
}

/* --- addresses --- */

static uint32_t shared_offset(struct ptxi_build *b, const struct ptxi_var *var)
{
    if (var->unsized)
        return (uint32_t)ptxi_layout_align(b->shared_end, dynamic_align(var));
    return b->func->is_entry ? named(b, var)->offset : ptxi_layout_shared(b->layout, var);
}

/* Base and offset of a variable in its space. */
static struct ptxi_mem var_mem(struct ptxi_build *b, const struct ptxi_var *var)
{
    const struct ptxi_home *h = ptxi_build_home(b, var);
    struct ptxi_mem m = { .space = var->space, .area = PTXI_NONE };
    enum ptxi_class class = var->space == PTXI_SPACE_SHARED ? PTXI_RC_32 : PTXI_RC_64;

    if (h && (h->in_depot || var->unsized))
        m.space = PTXI_SPACE_LOCAL;
    if (h && var->unsized) {
        m.base = ptxi_build_temp(b, class);
        ptxi_build_load_words(b, h->area, 0, m.base, 64, false);
        return m;
    }
    m.base = m.space == PTXI_SPACE_LOCAL ? b->depot : PTXI_NONE;
    if (var->space == PTXI_SPACE_GLOBAL) {
        m.base = ptxi_build_const(b, class, b->options->global_address(b->options->ctx, var));
    } else if (var->space == PTXI_SPACE_CONST) {
        m.offset = (int32_t)ptxi_layout_const(b->layout, var);
    } else if (var->space == PTXI_SPACE_SHARED && var->unsized && !b->func->is_entry) {
        m.base = ptxi_build_temp(b, class);
        ptxi_build_pure(b, PTXI_OP_shared_dynamic, m.base, PTXI_NONE, PTXI_NONE, PTXI_NONE)->imm = (int32_t)dynamic_align(var);
    } else if (var->space == PTXI_SPACE_SHARED) {
        m.offset = (int32_t)shared_offset(b, var);
        if (b->layout->in_clusters) {
            m.base = ptxi_build_temp(b, class);
            ptxi_build_pure(b, PTXI_OP_shared_addr, m.base, PTXI_NONE, PTXI_NONE, PTXI_NONE);
        }
    } else if (h && h->area != PTXI_NONE && !h->in_depot) {
        m.area = h->area;
        return m;
    } else if (h) {
        m.offset = (int32_t)h->offset;
    }
    if (m.base == PTXI_NONE)
        m.base = ptxi_build_const(b, class, 0);
    return m;
}

/* Addresses wrap around. */
static int64_t wrapping_sum(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static uint32_t add_offset(struct ptxi_build *b, uint32_t base, int64_t offset)
{
    const struct ptxi_vreg *v = &b->ir->vregs[base];
    enum ptxi_class class = v->class;
    uint32_t d, k;

    if (!offset)
        return base;
    if (v->kind == PTXI_VR_CONST)
        return ptxi_build_const(b, class, v->value + (uint64_t)offset);
    k = ptxi_build_const(b, class, (uint64_t)offset);
    d = ptxi_build_temp(b, class);
    ptxi_build_pure(b, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, d, base, k, PTXI_NONE);
    return d;
}

uint32_t ptxi_build_var(struct ptxi_build *b, const struct ptxi_var *var, int64_t offset, enum ptxi_class class)
{
    struct ptxi_mem m = var_mem(b, var);
    struct ptxi_ir_inst *i;
    uint32_t d;

    if (m.area != PTXI_NONE) {
        ptxi_build_unsupported(b, "address of a parameter");
        return ptxi_build_const(b, class, 0);
    }
    if (m.space != PTXI_SPACE_LOCAL || var->unsized)
        return ptxi_build_fit(b, add_offset(b, m.base, wrapping_sum(m.offset, offset)), class);
    d = ptxi_build_temp(b, PTXI_RC_64);
    i = ptxi_build_pure(b, PTXI_OP_local_addr, d, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->imm = (int32_t)wrapping_sum(m.offset, offset);
    return ptxi_build_fit(b, d, class);
}

enum ptxi_space ptxi_build_space(const struct ptxi_match *m)
{
    for (unsigned s = 0; s < m->row->slot_count; s++) {
        switch (m->words[s]) {
        case PTXI_Q_const: return PTXI_SPACE_CONST;
        case PTXI_Q_global: return PTXI_SPACE_GLOBAL;
        case PTXI_Q_local: return PTXI_SPACE_LOCAL;
        case PTXI_Q_param: case PTXI_Q_param__entry: case PTXI_Q_param__func: return PTXI_SPACE_PARAM;
        case PTXI_Q_shared: case PTXI_Q_shared__cta: return PTXI_SPACE_SHARED;
        case PTXI_Q_shared__cluster: return PTXI_SPACE_CLUSTER;
        default: break;
        }
    }
    return PTXI_SPACE_GENERIC;
}

static uint32_t scaled(struct ptxi_build *b, uint32_t index, uint32_t scale)
{
    enum ptxi_class class = ptxi_build_class(b, index);
    uint32_t d, k;

    if (scale == 1)
        return index;
    k = ptxi_build_const(b, class, scale);
    d = ptxi_build_temp(b, class);
    ptxi_build_pure(b, class == PTXI_RC_32 ? PTXI_OP_mul_lo_i32 : PTXI_OP_mul_lo_i64, d, index, k, PTXI_NONE);
    return d;
}

static uint32_t add_index(struct ptxi_build *b, uint32_t base, uint32_t index)
{
    const struct ptxi_vreg *v = &b->ir->vregs[base];
    enum ptxi_class class = v->class;
    uint32_t d;

    if (v->kind == PTXI_VR_CONST && !v->value)
        return index;
    d = ptxi_build_temp(b, class);
    ptxi_build_pure(b, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, d, base, index, PTXI_NONE);
    return d;
}

uint32_t ptxi_build_generic(struct ptxi_build *b, uint32_t shared)
{
    uint32_t wide = ptxi_build_temp(b, PTXI_RC_64), d = ptxi_build_temp(b, PTXI_RC_64);

    ptxi_build_pure(b, PTXI_OP_ext_u32_64, wide, shared, PTXI_NONE, PTXI_NONE);
    ptxi_build_pure(b, PTXI_OP_cvta_shared, d, wide, PTXI_NONE, PTXI_NONE);
    return d;
}

/* PTX ISA, "Addresses as Operands": a narrow register is extended. ptxas does it to 32 bits by the register's type, for the register
 * and the offset, adds these in 32 bits and extends the sum by zeros. */
static uint32_t narrow_base(struct ptxi_build *b, const struct ptxi_address *a, enum ptxi_class class)
{
    const struct ptxi_type_info *t = &ptxi_types[a->type];
    unsigned cut = 64 - t->bits;
    uint64_t offset = t->class == 'S' ? (uint64_t)((int64_t)((uint64_t)a->offset << cut) >> cut) : (uint64_t)a->offset << cut >> cut;
    uint32_t base = a->reg;

    if (t->bits < 32) {
        base = ptxi_build_temp(b, PTXI_RC_32);
        ptxi_build_resize(b, base, a->reg, t->bits, t->class == 'S');
    }
    return ptxi_build_fit(b, add_offset(b, base, (int64_t)offset), class);
}

bool ptxi_build_address(struct ptxi_build *b, const struct ptxi_address *a, enum ptxi_space space, struct ptxi_mem *mem)
{
    enum ptxi_class class;
    int64_t offset = a->offset;
    bool any_cta = space == PTXI_SPACE_CLUSTER && !a->var; /* a variable is the CTA's own */

    if (space == PTXI_SPACE_CLUSTER)
        space = PTXI_SPACE_SHARED;
    *mem = (struct ptxi_mem){ .space = space, .base = PTXI_NONE, .area = PTXI_NONE };
    if (a->var) {
        *mem = var_mem(b, a->var);
        offset = wrapping_sum(offset, mem->offset);
        if (mem->area != PTXI_NONE) {
            mem->offset = (int32_t)offset;
            if (a->reg == PTXI_NO_REG && offset >= 0 && offset <= INT32_MAX)
                return true;
            ptxi_build_unsupported(b, "indexed parameter of a call");
            return false;
        }
    }
    class = mem->space == PTXI_SPACE_SHARED ? PTXI_RC_32 : PTXI_RC_64;
    if (!a->var && a->reg == PTXI_NO_REG) {
        mem->base = ptxi_build_const(b, class, 0);
    } else if (!a->var && ptxi_types[a->type].bits < (class == PTXI_RC_32 ? 32 : 64)) {
        mem->base = narrow_base(b, a, class);
        offset = 0;
    } else if (!a->var) {
        mem->base = ptxi_build_fit(b, a->reg, class);
    } else if (a->reg != PTXI_NO_REG) {
        mem->base = add_index(b, mem->base, scaled(b, ptxi_build_fit(b, a->reg, class), a->scale ? a->scale : 1));
    }
    if (offset < INT32_MIN || offset > INT32_MAX || (mem->space == PTXI_SPACE_GLOBAL && b->ir->vregs[mem->base].kind == PTXI_VR_CONST && !a->var)) {
        mem->base = add_offset(b, mem->base, offset);
        offset = 0;
    }
    mem->offset = (int32_t)offset;
    if (any_cta) {
        mem->base = ptxi_build_generic(b, mem->base);
        mem->space = PTXI_SPACE_GENERIC;
    }
    return true;
}
