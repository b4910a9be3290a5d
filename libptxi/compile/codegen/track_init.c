/* Tracking of uninitialised values: each register that may hold one gets a mask of the lanes in which it is not fully
 * defined, and a shadow register of its class: bits that are set where the value is undefined. The shadow of a lane
 * that is not in the mask is not valid, so only the masks have to be computed as long as all values are defined.
 * Instructions are inserted that compute masks and shadows before the values, and check the masks where values decide
 * something (exec/init/init_ops.c). A predicate has only a mask.
 *
 * A value may be undefined if it is read before it is written, or was loaded from global or shared memory, or computed
 * from such a value. Shadows of values that are moved, taken apart, selected or compared, and those of bit operations
 * and integer sums, say which bits the defined bits of the operands determine (exec/init/init_value.c). Those of other
 * arithmetic are all ones if a source has an undefined bit. */
#include "compile/codegen/codegen.h"
#include "compile/codegen/track_init_inl.h"
#include "compile/codegen/track_init_lanes.h"

#include "isa/isa.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* --- which values may be undefined --- */

static bool is_move(uint16_t op)
{
    switch (op) {
    case PTXI_OP_mov_16: case PTXI_OP_mov_32: case PTXI_OP_mov_64: case PTXI_OP_mov_128: case PTXI_OP_mov_pred:
    case PTXI_OP_pack_2x8: case PTXI_OP_pack_4x8: case PTXI_OP_pack_2x16: case PTXI_OP_pack_4x16:
    case PTXI_OP_pack_2x32: case PTXI_OP_pack_2x64: case PTXI_OP_pack_4x32:
    case PTXI_OP_unpack_8: case PTXI_OP_unpack_16: case PTXI_OP_unpack_32: case PTXI_OP_unpack_64:
    case PTXI_OP_ext_u8_16: case PTXI_OP_ext_s8_16: case PTXI_OP_ext_u8_32: case PTXI_OP_ext_s8_32:
    case PTXI_OP_ext_u8_64: case PTXI_OP_ext_s8_64: case PTXI_OP_ext_u16_32: case PTXI_OP_ext_s16_32:
    case PTXI_OP_ext_u16_64: case PTXI_OP_ext_s16_64: case PTXI_OP_ext_u32_64: case PTXI_OP_ext_s32_64:
    case PTXI_OP_trunc_32_16: case PTXI_OP_trunc_64_16: case PTXI_OP_trunc_64_32:
    case PTXI_OP_ldp_u8_16: case PTXI_OP_ldp_s8_16: case PTXI_OP_ldp_16:
    case PTXI_OP_stp_8: case PTXI_OP_stp_16: case PTXI_OP_stp_64:
        return true;
    default:
        return false;
    }
}

/* Operations on bits whose first `data` sources (a, b) are data; the others must be defined. */
static unsigned data_sources(uint16_t op)
{
    switch (op) {
    case PTXI_OP_shl_b16: case PTXI_OP_shl_b32: case PTXI_OP_shl_b64:
    case PTXI_OP_shr_u16: case PTXI_OP_shr_u32: case PTXI_OP_shr_u64:
    case PTXI_OP_shr_s16: case PTXI_OP_shr_s32: case PTXI_OP_shr_s64:
    case PTXI_OP_brev_b32: case PTXI_OP_brev_b64:
    case PTXI_OP_bfe_u32: case PTXI_OP_bfe_u64: case PTXI_OP_bfe_s32: case PTXI_OP_bfe_s64:
        return 1;
    case PTXI_OP_prmt_b32: case PTXI_OP_shf_l_b32: case PTXI_OP_shf_r_b32:
        return 2;
    default:
        return 0;
    }
}

#define RULE_16_32_64(name, rule) \
    case PTXI_OP_##name##16: case PTXI_OP_##name##32: case PTXI_OP_##name##64: return PTXI_INIT_##rule;
#define RULES_OF_ORDER(name, rule) RULE_16_32_64(name##_u, rule) RULE_16_32_64(name##_s, rule##_S)

static enum ptxi_init_rule rule_of_value(uint16_t op)
{
    switch (op) {
    RULE_16_32_64(and_b, AND) RULE_16_32_64(or_b, OR) RULE_16_32_64(xor_b, XOR) RULE_16_32_64(not_b, XOR)
    RULE_16_32_64(add_i, ADD) RULE_16_32_64(sub_i, SUB) RULE_16_32_64(neg_i, NEG)
    RULE_16_32_64(mul_lo_i, MUL) RULE_16_32_64(mad_lo_i, MAD)
    RULE_16_32_64(selp_, SELECT)
    RULES_OF_ORDER(min, MIN) RULES_OF_ORDER(max, MAX)
    case PTXI_OP_mul_wide_u16: case PTXI_OP_mul_wide_s16: case PTXI_OP_mul_wide_u32: case PTXI_OP_mul_wide_s32:
        return PTXI_INIT_MUL;
    case PTXI_OP_lop3_b32: return PTXI_INIT_TABLE;
    default: return PTXI_INIT_ALL;
    }
}

static enum ptxi_init_rule rule_of_predicate(uint16_t op)
{
    switch (op) {
    RULE_16_32_64(setp_eq_i, EQ) RULE_16_32_64(setp_ne_i, EQ)
    RULES_OF_ORDER(setp_lt, LT) RULES_OF_ORDER(setp_ge, LT) RULES_OF_ORDER(setp_gt, GT) RULES_OF_ORDER(setp_le, GT)
    case PTXI_OP_and_pred: return PTXI_INIT_AND;
    case PTXI_OP_and_pred_n: return PTXI_INIT_AND_NOT;
    case PTXI_OP_or_pred: return PTXI_INIT_OR;
    case PTXI_OP_or_pred_n: return PTXI_INIT_OR_NOT;
    case PTXI_OP_xor_pred: case PTXI_OP_not_pred: return PTXI_INIT_XOR;
    default: return PTXI_INIT_ALL;
    }
}

/* PTXI_INIT_ALL: the shadow of the result is made in another way. */
static enum ptxi_init_rule rule_of(const struct ptxi_ir_inst *i)
{
    enum ptxi_init_rule rule = rule_of_value(i->op);

    if (i->list != PTXI_NONE || i->writes != 1u << PTXI_F_D)
        return PTXI_INIT_ALL; /* such as a setp with two results */
    if (rule == PTXI_INIT_ALL && !(i->mods & PTXI_MOD_BOOL_MASK))
        rule = rule_of_predicate(i->op);
    return rule;
}

/* Whether the result has bits of a source at other places, or zeros. */
static bool takes_apart(uint16_t op)
{
    enum ptxi_init_rule rule = rule_of_value(op);

    return data_sources(op) || rule == PTXI_INIT_AND || rule == PTXI_INIT_SELECT;
}

static bool is_tracked_load(const struct ptxi_ir_inst *i)
{
    return i->check && ptxi_op_flags[i->op] & PTXI_OP_FLAG_LOAD;
}

/* Whether a load is multimem.ld_reduce. There is one replica, so the result is what the memory holds. */
static bool is_reduced_load(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    return is_tracked_load(i) && ir->func->insts[i->ptx].match->row->family == PTXI_M_multimem;
}

static bool is_tracked_store(const struct ptxi_ir_inst *i)
{
    return i->check && ptxi_op_flags[i->op] & PTXI_OP_FLAG_STORE;
}

/* The sources without the guard and without older values of the results. */
static struct ptxi_ir_walk sources(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, struct ptxi_ir_inst *copy)
{
    *copy = *i;
    copy->guard = PTXI_NONE;
    return ptxi_ir_reads(ir, copy);
}

/* Whether the results are unchanged values of other lanes. */
static bool moves_between_lanes(const struct ptxi_ir_inst *i)
{
    return ptxi_op_mnemonics[i->op] == PTXI_M_shfl || i->op == PTXI_OP_movmatrix;
}

static bool is_tracked_atomic(const struct ptxi_ir_inst *i)
{
    bool atomic = ptxi_op_mnemonics[i->op] == PTXI_M_atom || ptxi_op_mnemonics[i->op] == PTXI_M_red;

    assert(!atomic || i->check || i->flags & PTXI_IF_DEAD);
    return atomic && i->check;
}

static void mark_results(struct tracker *t, const struct ptxi_ir_inst *i, bool *property)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (!property[v]) {
            property[v] = true;
            t->changed = true;
        }
}

static bool any_source(const struct tracker *t, const struct ptxi_ir_inst *i, const bool *property)
{
    struct ptxi_ir_inst copy;
    struct ptxi_ir_walk w = sources(t->ir, i, &copy);
    uint32_t v;
    bool any = false;

    while (ptxi_ir_next(&w, &v))
        any |= property[v];
    return any;
}

/* A predicate that selects is a result of arithmetic, which matters if it is undefined. */
static bool any_data_is_computed(const struct tracker *t, const struct ptxi_ir_inst *i)
{
    if (rule_of_value(i->op) != PTXI_INIT_SELECT || t->maybe[i->v[PTXI_F_C]])
        return any_source(t, i, t->computed);
    return t->computed[i->v[PTXI_F_A]] || t->computed[i->v[PTXI_F_B]];
}

/* A shift to the left is a multiplication, too. Where it packs values, the operation that joins them is arithmetic. */
static bool multiplies(uint16_t op)
{
    return op == PTXI_OP_shl_b16 || op == PTXI_OP_shl_b32 || op == PTXI_OP_shl_b64;
}

/* A scalar that a function returns or receives counts as computed: it is a value, unlike the bytes of a structure. */
static void mark_scalars(struct tracker *t, const struct ptxi_ir_arg *args, uint32_t count)
{
    enum { SCALAR_BYTES = 8 };

    for (uint32_t k = 0; k < count; k++) {
        const struct ptxi_area *area = &t->ir->areas[args[k].area];

        for (uint32_t n = 0; area->bytes <= SCALAR_BYTES && n < area->count; n++)
            if (!t->computed[area->first + n])
                t->changed = t->computed[area->first + n] = true;
    }
}

static void propagate(struct tracker *t, const struct ptxi_ir_inst *i)
{
    bool moves = is_move(i->op) || (takes_apart(i->op) && !multiplies(i->op)) || moves_between_lanes(i);

    if (ptxi_ir_is_call(i) || is_tracked_load(i) || is_tracked_atomic(i) ||
        ptxi_track_init_kind(i->op) == TRACK_LOAD) {
        mark_results(t, i, t->maybe);
        if (ptxi_ir_is_call(i))
            mark_scalars(t, t->ir->calls[i->aux].rets, t->ir->calls[i->aux].ret_count);
        if (i->op == PTXI_OP_wgmma || is_reduced_load(t->ir, i))
            mark_results(t, i, t->computed);
        return;
    }
    if (i->check) /* other results of accesses are defined */
        return;
    if (any_source(t, i, t->maybe))
        mark_results(t, i, t->maybe);
    if (ptxi_op_mnemonics[i->op] == PTXI_M_shfl && !t->maybe[i->v[PTXI_F_D]]) /* of absent lanes */
        t->changed = t->maybe[i->v[PTXI_F_D]] = true;
    if (!moves || any_data_is_computed(t, i))
        mark_results(t, i, t->computed);
}

static void find_values(struct tracker *t)
{
    do {
        t->changed = false;
        for (uint32_t k = 0; k < t->ir->count; k++)
            if (!(t->ir->insts[k].flags & PTXI_IF_DEAD))
                propagate(t, &t->ir->insts[k]);
    } while (t->changed);
}

/* --- which of them are needed --- */

static void need(struct tracker *t, uint32_t v)
{
    if (v == PTXI_NONE || t->needed[v])
        return;
    t->needed[v] = true;
    t->changed = true;
}

static bool any_result(const struct tracker *t, const struct ptxi_ir_inst *i, const bool *property)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    uint32_t v;
    bool any = false;

    while (ptxi_ir_next(&w, &v))
        any |= property[v];
    return any;
}

static void need_sources(struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_inst copy;
    struct ptxi_ir_walk w = sources(t->ir, i, &copy);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        need(t, v);
}

static void note_needed(struct tracker *t, const struct ptxi_ir_inst *i)
{
    need(t, i->guard);
    if (i->check)
        need(t, i->v[PTXI_F_A]);
    if (is_tracked_store(i) || is_tracked_atomic(i) || ptxi_ir_is_call(i) || i->op == PTXI_OP_ret ||
        ptxi_track_init_kind(i->op) == TRACK_STORE || ptxi_track_init_has_coordinates(i->op) ||
        (!i->check && (ptxi_ir_is_branch(i) || i->op == PTXI_OP_brx || any_result(t, i, t->needed))))
        need_sources(t, i);
}

static void find_needed(struct tracker *t)
{
    do {
        t->changed = false;
        for (uint32_t k = t->ir->count; k--;)
            if (!(t->ir->insts[k].flags & PTXI_IF_DEAD))
                note_needed(t, &t->ir->insts[k]);
    } while (t->changed);
}

/* --- inserted instructions --- */

/* Before an instruction that uses the values. NULL: there are none, or memory is short. */
static struct ptxi_ir_inst *insert_use(struct tracker *t, uint32_t at, enum ptxi_init_use use, const uint32_t masks[3])
{
    struct ptxi_ir_inst *i;

    if (masks[0] == PTXI_NONE || !(i = insert(t, at, PTXI_OP_init_use, PTXI_NONE)))
        return NULL;
    ptxi_ir_set_read(i, PTXI_F_A, masks[0]);
    ptxi_ir_set_read(i, PTXI_F_B, masks[1]);
    ptxi_ir_set_read(i, PTXI_F_C, masks[2]);
    i->imm = use;
    i->flags = PTXI_IF_NOT_SHARED;
    return i;
}

static void use_masks(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, const uint32_t masks[3])
{
    struct ptxi_ir_inst *use = insert_use(t, at, PTXI_INIT_ADDRESS, masks);

    if (use)
        copy_guard(use, i);
}

static void use_address(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    use_masks(t, at, i, (uint32_t[]){ mask_of(t, i->v[PTXI_F_A]), PTXI_NONE, PTXI_NONE });
}

/* What says which texels an instruction accesses must be defined. */
static void use_coordinates(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    const uint32_t *v;
    const uint32_t count = ptxi_track_init_coordinates(t, i, &v);

    use_address(t, at, i);
    for (uint32_t k = 0; k < count; k++)
        use_masks(t, at, i, (uint32_t[]){ mask_of(t, v[k]), PTXI_NONE, PTXI_NONE });
}

/* The mask of v becomes the union of others, and its shadow all ones in these lanes. NULL: memory is short. */
static struct ptxi_ir_inst *insert_spread(struct tracker *t, uint32_t at, uint32_t v, const uint32_t masks[3])
{
    struct ptxi_ir_inst *i = insert(t, at, PTXI_OP_init_spread, t->mask[v]);

    if (!i)
        return NULL;
    ptxi_ir_set_write(i, PTXI_F_MODS, t->shadow[v]);
    ptxi_ir_set_read(i, PTXI_F_A, masks[0]);
    ptxi_ir_set_read(i, PTXI_F_B, masks[1]);
    ptxi_ir_set_read(i, PTXI_F_C, masks[2]);
    i->imm = (int32_t)class_of(t, v);
    return i;
}

/* Masks of up to three different sources that may be undefined. */
static void undefined_sources(const struct tracker *t, const struct ptxi_ir_inst *i, uint32_t from[3])
{
    struct ptxi_ir_inst copy;
    struct ptxi_ir_walk w = sources(t->ir, i, &copy);
    uint32_t v;
    unsigned n = 0;

    from[0] = from[1] = from[2] = PTXI_NONE;
    while (n < 3 && ptxi_ir_next(&w, &v))
        if (is_tracked(t, v) && from[0] != t->mask[v] && from[1] != t->mask[v])
            from[n++] = t->mask[v];
}

/* All results are undefined if a source is. Of instructions with many sources, such as matrix products, the first
 * three count. */
static void spread(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    struct ptxi_ir_inst *o;
    uint32_t v, from[3];

    undefined_sources(t, i, from);
    while (ptxi_ir_next(&w, &v)) {
        if (!is_tracked(t, v) || (from[0] == t->mask[v] && from[1] == PTXI_NONE && t->computed[v]))
            continue; /* in the second case it is a function of itself, and its shadow is all ones already */
        o = insert_spread(t, at, v, from);
        if (!o)
            return;
        copy_guard(o, i);
    }
}

/* A register with zeros, the shadow of a defined value. */
static uint32_t zero(struct tracker *t, enum ptxi_class class)
{
    if (t->zeros[class] == PTXI_NONE)
        t->zeros[class] = ptxi_ir_const(t->ir, class, 0);
    return t->zeros[class];
}

/* The same operation on the shadows of the sources in `fields`, after an init_bits that executes it if one of them has
 * an undefined bit. False: a shadow cannot be made in this way. */
static bool repeat(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, unsigned fields)
{
    static const uint8_t order[] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_IMM };
    uint32_t d = i->v[PTXI_F_D];
    struct ptxi_ir_inst o = *i, *n;
    unsigned classes = class_of(t, d);

    for (unsigned f = 0; f < PTXI_F_COUNT; f++) {
        uint32_t v = i->v[f];

        if (!(i->reads >> f & 1) || v == PTXI_NONE)
            continue;
        if (!(fields >> f & 1)) {
            if (is_tracked(t, v))
                return false;
            continue;
        }
        if (class_of(t, v) == PTXI_RC_PRED || (!is_tracked(t, v) && class_of(t, v) == PTXI_RC_128))
            return false;
        o.v[f] = is_tracked(t, v) ? t->shadow[v] : zero(t, t->ir->vregs[v].class);
    }
    n = insert(t, at, PTXI_OP_init_bits, t->mask[d]);
    if (!n)
        return true;
    copy_guard(n, i);
    n->flags = (uint16_t)((n->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    n->imm = PTXI_NO_SLOT;
    for (unsigned k = 0; k < sizeof order; k++)
        if (i->reads & fields & 1u << order[k]) {
            classes |= class_of(t, i->v[order[k]]) << (3 * (k + 1));
            ptxi_ir_set_read(n, order[k], mask_of(t, i->v[order[k]]));
        }
    n->mods = (uint16_t)classes;
    n = insert(t, at, i->op, PTXI_NONE);
    if (!n)
        return true;
    o.v[PTXI_F_D] = t->shadow[d];
    o.flags = (uint16_t)((i->flags & (PTXI_IF_EARLY | PTXI_IF_FRESH)) | PTXI_IF_NOT_SHARED | PTXI_IF_NESTED);
    *n = o;
    return true;
}

/* The mask and the shadow of the result follow from those of the sources and their values. */
static void insert_exact(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, enum ptxi_init_rule rule)
{
    enum { SHADOW, SHADOWS, VALUES = SHADOWS + 3, REGISTERS = VALUES + 3 };
    const struct ptxi_init_exact head = {
        .class = (uint16_t)class_of(t, i->v[PTXI_F_D]), .operand_class = (uint16_t)class_of(t, i->v[PTXI_F_A]),
        .third_class = (uint16_t)class_of(t, i->v[PTXI_F_C]),
        .not_c = rule == PTXI_INIT_SELECT && i->mods & PTXI_MOD_NOT_C, .table = (uint8_t)i->imm,
    };
    unsigned words = offsetof(struct ptxi_init_exact, shadow) / sizeof(uint16_t);
    uint32_t index = ptxi_ir_list(t->ir, words, REGISTERS);
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_exact, t->mask[i->v[PTXI_F_D]]);

    if (index == PTXI_NONE || !o)
        return;
    struct ptxi_ir_list *list = &t->ir->lists[index];

    memcpy(list->head, &head, words * sizeof *list->head);
    list->writes = SHADOWS;
    list->count = REGISTERS;
    list->v[SHADOW] = t->shadow[i->v[PTXI_F_D]];
    for (unsigned k = 0; k < 3; k++) {
        uint32_t v = i->reads >> (PTXI_F_A + k) & 1 ? i->v[PTXI_F_A + k] : PTXI_NONE;

        list->v[SHADOWS + k] = shadow_of(t, v);
        list->v[VALUES + k] = v;
        ptxi_ir_set_read(o, PTXI_F_A + k, mask_of(t, v));
    }
    copy_guard(o, i);
    o->list = index;
    o->mods = (uint16_t)rule;
}

/* The shadow of a copied value is a copy. */
static void copy_shadow(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    uint32_t d = i->v[PTXI_F_D], a = i->v[PTXI_F_A];
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_move, t->mask[d]);

    if (!o)
        return;
    copy_guard(o, i);
    ptxi_ir_set_read(o, PTXI_F_A, mask_of(t, a));
    if (!is_tracked(t, a))
        return;
    ptxi_ir_set_write(o, PTXI_F_B, t->shadow[d]);
    ptxi_ir_set_read(o, PTXI_F_C, t->shadow[a]);
    o->mods = (uint16_t)class_of(t, d);
}

static bool any_result_is_tracked(const struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    uint32_t v;
    bool any = false;

    while (ptxi_ir_next(&w, &v))
        any |= is_tracked(t, v);
    return any;
}

static void track_value(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    unsigned data = data_sources(i->op), fields = data == 1 ? 1u << PTXI_F_A : 1u << PTXI_F_A | 1u << PTXI_F_B;
    enum ptxi_init_rule rule = rule_of(i);
    uint32_t d = i->v[PTXI_F_D];

    if (!any_result_is_tracked(t, i))
        return;
    if (ptxi_ir_is_move(i)) {
        copy_shadow(t, at, i);
        return;
    }
    if (rule != PTXI_INIT_ALL) {
        insert_exact(t, at, i, rule);
        return;
    }
    if (is_move(i->op))
        fields = i->reads;
    if ((is_move(i->op) || data) && i->list == PTXI_NONE && is_tracked(t, d) && repeat(t, at, i, fields))
        return;
    spread(t, at, i);
}

/* --- memory --- */

static uint16_t access_mods(const struct tracker *t, const struct ptxi_ir_inst *i, unsigned bytes, uint32_t value)
{
    return (uint16_t)((i->check & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC | PTXI_CHECK_LOCAL)) | bytes |
                      class_of(t, value) << PTXI_INIT_CLASS_SHIFT);
}

static void track_element(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, uint32_t v, unsigned bytes,
                          unsigned offset)
{
    bool load = is_tracked_load(i);
    struct ptxi_ir_inst *o;

    if (load && !is_tracked(t, v))
        return;
    o = insert(t, at, load ? PTXI_OP_init_load : PTXI_OP_init_store, load ? t->mask[v] : PTXI_NONE);
    if (!o)
        return;
    copy_guard(o, i);
    ptxi_ir_set_read(o, PTXI_F_A, i->v[PTXI_F_A]);
    if (load) {
        ptxi_ir_set_write(o, PTXI_F_B, t->shadow[v]);
    } else {
        ptxi_ir_set_read(o, PTXI_F_B, mask_of(t, v));
        ptxi_ir_set_read(o, PTXI_F_C, shadow_of(t, v));
    }
    o->flags = (uint16_t)((o->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    o->mods = access_mods(t, i, bytes, v);
    if (load && ptxi_op_flags[i->op] & PTXI_OP_FLAG_SIGNED)
        o->mods |= PTXI_INIT_SIGNED_LOAD;
    if (!load && v != PTXI_NONE && t->computed[v])
        o->mods |= PTXI_INIT_COMPUTED;
    o->imm = i->imm + (int32_t)offset;
}

/* Whether an undefined bit of what multimem.ld_reduce loads makes all of the register undefined. An operation on bits
 * does not, and other bits of the register may be those of other elements of the vector. */
static bool spreads(const struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v)
{
    const struct ptxi_inst *inst = &t->ir->func->insts[i->ptx];
    enum ptxi_type type = (enum ptxi_type)ptxi_isa_slot_word(inst->match, PTXI_SLOT_T);

    switch (ptxi_isa_slot_word(inst->match, PTXI_SLOT_op)) {
    case PTXI_Q_and: case PTXI_Q_or: case PTXI_Q_xor: return false;
    default: break;
    }
    return inst->operands[0].form != PTXI_OPD_VECTOR || ptxi_ir_class_of(type) >= class_of(t, v);
}

/* The result of a reduction is undefined if a bit of an operand is. */
static void spread_reduced(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, uint32_t v)
{
    struct ptxi_ir_inst *o;

    if (!is_tracked(t, v) || !spreads(t, i, v))
        return;
    o = insert_spread(t, at, v, (uint32_t[]){ t->mask[v], PTXI_NONE, PTXI_NONE });
    if (o)
        copy_guard(o, i);
}

static void track_access(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    static const uint8_t store_fields[] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };
    static const uint8_t load_fields[3][4] = { { PTXI_F_D }, { PTXI_F_D, PTXI_F_C },
                                               { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS } };
    unsigned bytes = i->check & PTXI_CHECK_BYTES, count = ptxi_op_elements(ptxi_op_flags[i->op]);

    use_address(t, at, i);
    for (unsigned e = 0; e < count; e++) {
        unsigned field = is_tracked_load(i) ? load_fields[count / 2][e] : store_fields[e];

        if (!is_tracked_load(i) || i->v[field] != PTXI_NONE)
            track_element(t, at, i, i->v[field], bytes / count, e * bytes / count);
        if (is_reduced_load(t->ir, i))
            spread_reduced(t, at, i, i->v[field]);
    }
}

static const uint32_t no_masks[3] = { PTXI_NONE, PTXI_NONE, PTXI_NONE };

/* `bytes` of shared memory, or of memory at a generic address, get the shadow of v, or are defined. */
static void define_memory(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i, unsigned bytes, int32_t offset)
{
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_store, PTXI_NONE);

    if (!o)
        return;
    copy_guard(o, i);
    ptxi_ir_set_read(o, PTXI_F_A, i->v[PTXI_F_A]);
    o->flags = (uint16_t)((o->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    o->mods = (uint16_t)((class_of(t, i->v[PTXI_F_A]) == PTXI_RC_32 ? PTXI_CHECK_SHARED : PTXI_CHECK_GENERIC) | bytes);
    o->imm = offset;
}

/* The destination of a copy gets the shadow of its source when the copy begins. */
static void track_copy(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    static const uint8_t classes[] = { [4] = PTXI_RC_32, [8] = PTXI_RC_64, [16] = PTXI_RC_128 };
    unsigned bytes = i->mods & PTXI_CP_ASYNC_SIZE, class = classes[bytes] << PTXI_INIT_CLASS_SHIFT;
    uint32_t mask = ptxi_ir_vreg(t->ir, PTXI_RC_PRED), shadow = ptxi_ir_vreg(t->ir, (enum ptxi_class)classes[bytes]);
    struct ptxi_ir_inst *load, *store;

    if (i->v[PTXI_F_C] != PTXI_NONE) { /* not all bytes come from the source */
        define_memory(t, at, i, bytes, i->imm);
        return;
    }
    if (!(load = insert(t, at, PTXI_OP_init_load, mask)))
        return;
    copy_guard(load, i);
    ptxi_ir_set_read(load, PTXI_F_A, i->v[PTXI_F_B]);
    ptxi_ir_set_write(load, PTXI_F_B, shadow);
    load->flags = (uint16_t)((load->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    if (i->guard != PTXI_NONE)
        load->flags |= PTXI_IF_FRESH;
    load->mods = (uint16_t)(bytes | class);
    if (!(store = insert(t, at, PTXI_OP_init_store, PTXI_NONE)))
        return;
    copy_guard(store, i);
    ptxi_ir_set_read(store, PTXI_F_A, i->v[PTXI_F_A]);
    ptxi_ir_set_read(store, PTXI_F_B, mask);
    ptxi_ir_set_read(store, PTXI_F_C, shadow);
    store->flags = (uint16_t)((store->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    store->mods = (uint16_t)(PTXI_CHECK_SHARED | bytes | class);
    store->imm = i->imm;
}

/* Instructions that write memory in other ways than stores. */
static void track_writer(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    enum { MBARRIER_BYTES = 8 };

    if (i->op == PTXI_OP_cp_async)
        track_copy(t, at, i);
    else if (i->op == PTXI_OP_mbarrier_init)
        define_memory(t, at, i, MBARRIER_BYTES, i->imm);
}

/* Each word of a 64-bit result of a function is as undefined as its half of the value. */
static void track_stp(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    static const uint8_t words[] = { PTXI_F_B, PTXI_F_EXTRA };
    struct ptxi_ir_inst part = *i;

    if (i->op != PTXI_OP_stp_64) {
        ptxi_track_init_insert(t, at, i);
        return;
    }
    part.op = PTXI_OP_unpack_32;
    part.reads = 1u << PTXI_F_A;
    part.writes = 1u << PTXI_F_D;
    part.mods = sizeof(uint64_t);
    for (unsigned k = 0; k < sizeof words; k++) {
        part.v[PTXI_F_D] = i->v[words[k]];
        part.v[PTXI_F_B] = part.v[PTXI_F_EXTRA] = PTXI_NONE;
        part.imm = (int32_t)k;
        track_value(t, at, &part);
    }
}

static void track_call(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    const struct ptxi_ir_call *c = &t->ir->calls[i->aux];

    ptxi_track_init_pass(t, at, c->args, c->arg_count, false);
    ptxi_track_init_receive(t, at, c->rets, c->ret_count);
}

static bool only_source_is(const struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v)
{
    uint32_t from[3];

    undefined_sources(t, i, from);
    return from[1] == PTXI_NONE && from[0] == mask_of(t, v);
}

static void track_alloca(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_alloca, PTXI_NONE);

    if (!o)
        return;
    copy_guard(o, i);
    o->flags = (uint16_t)((o->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    ptxi_ir_set_read(o, PTXI_F_A, i->v[PTXI_F_A]);
    o->mods = i->op == PTXI_OP_alloca_64;
    o->imm = i->imm;
}

/* Instructions in which lanes exchange values. If other operands than the value may be undefined, each lane's result
 * follows from its own operands. */
static bool track_lanes(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    if (ptxi_track_init_has_coordinates(i->op))
        use_coordinates(t, at, i);
    switch (ptxi_track_init_kind(i->op)) {
    case TRACK_COLLECTIVE:
        if (!only_source_is(t, i, i->v[PTXI_F_A]))
            return false;
        ptxi_track_init_collective(t, at, i);
        return true;
    case TRACK_STORE:
        ptxi_track_init_list(t, at, i);
        return true;
    case TRACK_MATRIX: case TRACK_LOAD:
        if (any_result_is_tracked(t, i))
            ptxi_track_init_list(t, at, i);
        return true;
    default:
        return false;
    }
}

static void track_memory(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    if (is_tracked_load(i) || is_tracked_store(i)) {
        track_access(t, at, i);
    } else {
        use_address(t, at, i);
        if (is_tracked_atomic(i))
            ptxi_track_init_atomic(t, at, i);
    }
}

static void track_inst(struct tracker *t, uint32_t at)
{
    const struct ptxi_ir_inst i = t->ir->insts[at]; /* a copy, because registers are added */
    uint32_t from[3];

    if (i.flags & PTXI_IF_DEAD)
        return;
    if (i.guard != PTXI_NONE)
        insert_use(t, at, PTXI_INIT_GUARD, (uint32_t[]){ mask_of(t, i.guard), PTXI_NONE, PTXI_NONE });
    if (i.check) {
        track_memory(t, at, &i);
    } else if (ptxi_ir_is_call(&i)) {
        track_call(t, at, &i);
    } else if (i.op == PTXI_OP_ret) {
        ptxi_track_init_pass(t, at, t->ir->returned, t->ir->returned_count, true);
    } else if (ptxi_ir_is_branch(&i) || i.op == PTXI_OP_brx) {
        undefined_sources(t, &i, from);
        insert_use(t, at, PTXI_INIT_BRANCH, from);
    } else if (i.op == PTXI_OP_alloca_32 || i.op == PTXI_OP_alloca_64) {
        track_alloca(t, at, &i);
    } else if (i.op == PTXI_OP_stp_8 || i.op == PTXI_OP_stp_16 || i.op == PTXI_OP_stp_64) {
        track_stp(t, at, &i);
    } else if (!track_lanes(t, at, &i)) {
        track_writer(t, at, &i);
        track_value(t, at, &i);
    }
}

/* Registers that may be read before they are written are undefined in the beginning. */
static void fill_unwritten(struct tracker *t, const struct ptxi_liveness *live)
{
    uint32_t first = t->ir->blocks[t->ir->order[0]].first;

    for (uint32_t v = 0; v < t->vregs; v++)
        if (live->at_entry[v] && is_tracked(t, v) && !ptxi_ir_is_argument(t->ir, v)) {
            struct ptxi_ir_inst *i = insert_spread(t, first, v, no_masks);

            if (!i)
                return;
            i->imm |= PTXI_INIT_UNDEFINED;
        }
}

/* What a function finds when it begins: its arguments, and new .local memory. */
static void track_entry(struct tracker *t, const struct ptxi_liveness *live)
{
    uint32_t first = t->ir->blocks[t->ir->order[0]].first;
    struct ptxi_ir_inst *o;

    fill_unwritten(t, live);
    ptxi_track_init_receive_arguments(t, first);
    if (!t->ir->local_bytes || !(o = insert(t, first, PTXI_OP_init_depot, PTXI_NONE)))
        return;
    o->flags = (uint16_t)((o->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
    o->imm = (int32_t)t->ir->local_bytes;
}

static bool begins_once(const struct ptxi_ir *ir)
{
    return ir->blocks[ir->order[0]].pred_count == 0;
}

static void find_arguments(struct tracker *t)
{
    for (uint32_t v = 0; v < t->vregs; v++)
        if (ptxi_ir_is_argument(t->ir, v) && begins_once(t->ir)) {
            t->maybe[v] = true;
            t->computed[v] = t->ir->areas[t->ir->vregs[v].value].bytes <= 8;
        }
}

static bool is_unwritten(const struct ptxi_ir *ir, const struct ptxi_liveness *live, uint32_t v)
{
    return live->at_entry[v] && ir->vregs[v].kind == PTXI_VR_PLAIN && !ptxi_ir_is_argument(ir, v) &&
           ir->blocks[ir->order[0]].pred_count == 0;
}

static bool make_shadows(struct tracker *t)
{
    t->mask = ARENA_NEW(t->ir->arena, uint32_t, t->vregs + 1);
    t->shadow = ARENA_NEW(t->ir->arena, uint32_t, t->vregs + 1);
    if (!t->mask || !t->shadow)
        return !(t->ir->oom = true);
    for (uint32_t v = 0; v < t->vregs; v++) {
        bool tracked = t->maybe[v] && t->needed[v];

        t->mask[v] = tracked ? ptxi_ir_vreg(t->ir, PTXI_RC_PRED) : PTXI_NONE;
        t->shadow[v] = tracked && class_of(t, v) ? ptxi_ir_vreg(t->ir, (enum ptxi_class)class_of(t, v)) : PTXI_NONE;
    }
    return !t->ir->oom;
}

bool ptxi_track_init(struct ptxi_ir *ir)
{
    struct tracker t = { .ir = ir, .vregs = ir->vreg_count };
    struct ptxi_liveness live;
    uint32_t count = ir->count;

    t.maybe = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    t.computed = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    t.needed = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    if (!t.maybe || !t.computed || !t.needed)
        return !(ir->oom = true);
    if (!ptxi_liveness(ir, &live))
        return false;
    memset(t.zeros, 0xff, sizeof t.zeros);
    for (uint32_t v = 0; v < t.vregs; v++)
        t.maybe[v] = is_unwritten(ir, &live, v);
    find_arguments(&t);
    find_values(&t);
    find_needed(&t);
    if (!make_shadows(&t))
        return false;
    track_entry(&t, &live);
    for (uint32_t k = 0; k < count && !ir->oom; k++)
        track_inst(&t, k);
    return !ir->oom && ptxi_ir_insert(ir, &t.ins);
}
