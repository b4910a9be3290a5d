#include "compile/codegen/track_init_lanes.h"

#include "isa/isa.h"

#include <stddef.h>
#include <string.h>

static void mark_impure(struct ptxi_ir_inst *i)
{
    i->flags = (uint16_t)((i->flags & ~PTXI_IF_PURE) | PTXI_IF_NOT_SHARED);
}

/* --- shfl, vote, match, redux --- */

enum tracking ptxi_track_init_kind(uint16_t op)
{
    if (op == PTXI_OP_suld || op == PTXI_OP_tex)
        return TRACK_LOAD;
    if (op == PTXI_OP_sust || op == PTXI_OP_sured)
        return TRACK_STORE;
    switch (ptxi_op_mnemonics[op]) {
    case PTXI_M_shfl: case PTXI_M_vote: case PTXI_M_match: case PTXI_M_redux: return TRACK_COLLECTIVE;
    case PTXI_M_ldmatrix: return TRACK_LOAD;
    case PTXI_M_stmatrix: return TRACK_STORE;
    case PTXI_M_movmatrix: case PTXI_M_mma: return TRACK_MATRIX;
    case PTXI_M_wmma:
        if (op == PTXI_OP_wmma_store)
            return TRACK_STORE;
        return op == PTXI_OP_wmma_load ? TRACK_LOAD : TRACK_MATRIX;
    case PTXI_M_wgmma: return op == PTXI_OP_wgmma ? TRACK_LOAD : TRACK_NOT_HERE;
    default: return TRACK_NOT_HERE;
    }
}

void ptxi_track_init_collective(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    uint32_t d = i->v[PTXI_F_D], p = i->writes >> PTXI_F_IMM & 1 ? i->v[PTXI_F_IMM] : PTXI_NONE;
    struct ptxi_ir_inst *o;

    if (!is_tracked(t, d) && !is_tracked(t, p))
        return;
    if (!(o = insert(t, at, PTXI_OP_init_collect, mask_of(t, d))))
        return;
    mark_impure(o);
    ptxi_ir_set_read(o, PTXI_F_A, mask_of(t, i->v[PTXI_F_A]));
    ptxi_ir_set_read(o, PTXI_F_B, class_of(t, i->v[PTXI_F_A]) == PTXI_RC_32 ? shadow_of(t, i->v[PTXI_F_A]) : PTXI_NONE);
    ptxi_ir_set_write(o, PTXI_F_C, shadow_of(t, d));
    o->imm = PTXI_NO_SLOT;
    if (ptxi_op_mnemonics[i->op] != PTXI_M_shfl && is_tracked(t, p)) /* that of shfl depends on lanes only */
        ptxi_ir_set_write(o, PTXI_F_IMM, mask_of(t, p));
}

/* --- fragments of matrices --- */

static uint16_t list_op(uint16_t op)
{
    switch (op) {
    case PTXI_OP_ldmatrix: return PTXI_OP_init_ldmatrix;
    case PTXI_OP_stmatrix: return PTXI_OP_init_stmatrix;
    case PTXI_OP_movmatrix: return PTXI_OP_init_movmatrix;
    case PTXI_OP_wmma_load: return PTXI_OP_init_wmma_load;
    case PTXI_OP_wmma_store: return PTXI_OP_init_wmma_store;
    case PTXI_OP_wgmma: return PTXI_OP_init_wgmma;
    case PTXI_OP_suld: case PTXI_OP_sust: case PTXI_OP_sured: return PTXI_OP_init_surface;
    case PTXI_OP_tex: return PTXI_OP_init_tex;
    default: return PTXI_OP_init_mma;
    }
}

enum { FIELDS = 4, MAX_LISTED = 520 };

/* The registers of an instruction in the order of its list, or of the fields that hold a fragment. */
struct listed {
    uint32_t v[MAX_LISTED];
    uint32_t writes, count;
    const struct ptxi_ir_list *list;
};

static void add_fields(struct listed *x, const struct ptxi_ir_inst *i, const uint8_t *fields, unsigned which)
{
    for (unsigned k = 0; k < FIELDS; k++)
        if (which >> fields[k] & 1)
            x->v[x->count++] = i->v[fields[k]];
}

static bool read_listed(const struct tracker *t, const struct ptxi_ir_inst *i, struct listed *x)
{
    static const uint8_t results[FIELDS] = { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS };
    static const uint8_t sources[FIELDS] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };

    *x = (struct listed){ .list = i->list == PTXI_NONE ? NULL : &t->ir->lists[i->list] };
    if (x->list) {
        if (x->list->count > MAX_LISTED)
            return false;
        memcpy(x->v, x->list->v, x->list->count * sizeof *x->v);
        x->writes = x->list->writes;
        x->count = x->list->count;
        return true;
    }
    add_fields(x, i, results, i->writes);
    x->writes = x->count;
    if (i->op == PTXI_OP_movmatrix)
        x->v[x->count++] = i->v[PTXI_F_A];
    else
        add_fields(x, i, sources, i->reads & ~(1u << PTXI_F_A));
    return true;
}

/* The number of registers of sust and sured that are values. Coordinates come after them. */
static uint32_t surface_values(const struct ptxi_ir_list *list)
{
    return list->head[offsetof(struct ptxi_surface, values) / sizeof *list->head];
}

/* The registers from this number on have the coordinates of tex, suld and so on, and what else names the texels. */
static uint32_t first_coordinate(const struct ptxi_ir_inst *i, const struct ptxi_ir_list *list)
{
    return i->op == PTXI_OP_tex ? list->writes : surface_values(list);
}

bool ptxi_track_init_has_coordinates(uint16_t op)
{
    return op == PTXI_OP_tex || op == PTXI_OP_suld || op == PTXI_OP_sust || op == PTXI_OP_sured;
}

uint32_t ptxi_track_init_coordinates(const struct tracker *t, const struct ptxi_ir_inst *i, const uint32_t **v)
{
    const struct ptxi_ir_list *list = &t->ir->lists[i->list];
    uint32_t first = first_coordinate(i, list);

    *v = list->v + first;
    return list->count - first;
}

/* Whether a fragment or a texel that is stored is a result of arithmetic. */
static bool any_computed(const struct tracker *t, const struct ptxi_ir_inst *i, const struct listed *x)
{
    const uint32_t end = i->op == PTXI_OP_wmma_store ? x->count : x->writes + surface_values(x->list);
    bool any = false;

    for (uint32_t k = x->writes; k < end; k++)
        any |= x->v[k] != PTXI_NONE && t->computed[x->v[k]];
    return any;
}

/* Shadows of the registers from `from` on, then their masks. */
static uint32_t *put_shadows(const struct tracker *t, const uint32_t *v, uint32_t count, uint32_t *to)
{
    for (uint32_t k = 0; k < count; k++)
        *to++ = shadow_of(t, v[k]);
    for (uint32_t k = 0; k < count; k++)
        *to++ = mask_of(t, v[k]);
    return to;
}

void ptxi_track_init_list(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    enum { WORDS = offsetof(struct ptxi_init_list, words) / sizeof(uint16_t) };
    struct listed x;
    struct ptxi_ir_inst *o;
    struct ptxi_ir_list *list;

    if (!read_listed(t, i, &x) || !(o = insert(t, at, list_op(i->op), PTXI_NONE)))
        return;
    const uint32_t head = x.list ? x.list->head_count : 0;
    const bool is_store = i->op == PTXI_OP_wmma_store || i->op == PTXI_OP_sust;
    const uint32_t index = ptxi_ir_list(t->ir, WORDS + head, 2 * x.count);
    const struct ptxi_init_list what = {
        .imm = { (uint16_t)i->imm, (uint16_t)((uint32_t)i->imm >> 16) },
        .mods = is_store ? any_computed(t, i, &x) : i->mods,
        .head = (uint16_t)head, .writes = (uint16_t)x.writes, .reads = (uint16_t)(x.count - x.writes),
    };

    if (index == PTXI_NONE)
        return;
    list = &t->ir->lists[index];
    memcpy(list->head, &what, WORDS * sizeof *list->head);
    if (head)
        memcpy(list->head + WORDS, t->ir->lists[i->list].head, head * sizeof *list->head);
    list->writes = 2 * x.writes;
    list->count = 2 * x.count;
    put_shadows(t, x.v + x.writes, x.count - x.writes, put_shadows(t, x.v, x.writes, list->v));
    mark_impure(o);
    copy_guard(o, i);
    o->list = index;
    if (i->op != PTXI_OP_movmatrix)
        ptxi_ir_set_read(o, PTXI_F_A, i->reads >> PTXI_F_A & 1 ? i->v[PTXI_F_A] : PTXI_NONE);
    if (i->op == PTXI_OP_wmma_load || i->op == PTXI_OP_wmma_store)
        ptxi_ir_set_read(o, PTXI_F_B, i->v[PTXI_F_B]);
}

/* --- atomic operations --- */

static enum ptxi_init_update update_of(const struct ptxi_match *m)
{
    enum ptxi_type type = (enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_T);
    bool integer = type < PTXI_TYPE_COUNT && (ptxi_types[type].class == 'U' || ptxi_types[type].class == 'S');

    switch (ptxi_isa_slot_word(m, PTXI_SLOT_op)) {
    case PTXI_Q_exch: return PTXI_INIT_UPDATE_EXCHANGE;
    case PTXI_Q_cas: return PTXI_INIT_UPDATE_KEEP;
    case PTXI_Q_and: return PTXI_INIT_UPDATE_AND;
    case PTXI_Q_or: return PTXI_INIT_UPDATE_OR;
    case PTXI_Q_xor: return PTXI_INIT_UPDATE_BITS;
    case PTXI_Q_add: return integer ? PTXI_INIT_UPDATE_UPWARD : PTXI_INIT_UPDATE_ALL;
    default: return PTXI_INIT_UPDATE_ALL;
    }
}

/* A compare-and-swap stores the third operand. It is not followed: the memory stays as defined as it was. */
void ptxi_track_init_atomic(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    enum { WORDS = offsetof(struct ptxi_init_atomic, result) / sizeof(uint16_t), RESULT = 0, OPERAND, VALUE, SLOTS };
    uint32_t d = i->writes >> PTXI_F_D & 1 ? i->v[PTXI_F_D] : PTXI_NONE, b = i->v[PTXI_F_B];
    const struct ptxi_init_atomic what = {
        .offset = { (uint16_t)i->imm, (uint16_t)((uint32_t)i->imm >> 16) },
        .access = (uint16_t)((i->check & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC | PTXI_CHECK_BYTES)) |
                             (b != PTXI_NONE && t->computed[b] ? PTXI_INIT_COMPUTED : 0)),
        .class = (uint16_t)class_of(t, b), .update = (uint16_t)update_of(t->ir->func->insts[i->ptx].match),
    };
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_atomic, mask_of(t, d));
    uint32_t index = ptxi_ir_list(t->ir, WORDS, SLOTS);

    if (!o || index == PTXI_NONE)
        return;
    struct ptxi_ir_list *list = &t->ir->lists[index];

    memcpy(list->head, &what, WORDS * sizeof *list->head);
    list->writes = OPERAND;
    list->count = SLOTS;
    list->v[RESULT] = shadow_of(t, d);
    list->v[OPERAND] = shadow_of(t, b);
    list->v[VALUE] = b;
    mark_impure(o);
    copy_guard(o, i);
    ptxi_ir_set_read(o, PTXI_F_A, i->v[PTXI_F_A]);
    ptxi_ir_set_read(o, PTXI_F_B, mask_of(t, b));
    o->list = index;
}

/* --- calls --- */

enum { WORD_UNITS = 2 };

void ptxi_track_init_insert(struct tracker *t, uint32_t at, const struct ptxi_ir_inst *i)
{
    uint32_t word = i->v[PTXI_F_B], a = i->v[PTXI_F_A];
    struct ptxi_ir_inst *o;

    if (!is_tracked(t, word) || !(o = insert(t, at, PTXI_OP_init_insert, t->mask[word])))
        return;
    mark_impure(o);
    copy_guard(o, i);
    if (i->reads >> PTXI_F_B & 1) /* the rest of the word is kept */
        o->flags &= (uint16_t)~PTXI_IF_FRESH;
    ptxi_ir_set_write(o, PTXI_F_B, t->shadow[word]);
    o->reads |= (uint8_t)(1u << PTXI_F_D | 1u << PTXI_F_B);
    ptxi_ir_set_read(o, PTXI_F_A, mask_of(t, a));
    ptxi_ir_set_read(o, PTXI_F_C, shadow_of(t, a));
    o->imm = i->imm;
    o->mods = i->op == PTXI_OP_stp_16 ? 2 : 1;
}

void ptxi_track_init_pass(struct tracker *t, uint32_t at, const struct ptxi_ir_arg *args, uint32_t count, bool fixed)
{
    struct ptxi_ir_inst *o = insert(t, at, PTXI_OP_init_clear, PTXI_NONE);

    if (!o)
        return;
    mark_impure(o);
    for (uint32_t k = 0; k < count; k++) {
        const struct ptxi_area area = t->ir->areas[args[k].area];
        uint32_t first = (fixed ? area.fixed : args[k].callee_slot) / WORD_UNITS;

        for (uint32_t n = 0; n < area.count; n++) {
            if (!is_tracked(t, area.first + n))
                continue;
            if (!(o = insert(t, at, PTXI_OP_init_pass, PTXI_NONE)))
                return;
            mark_impure(o);
            ptxi_ir_set_read(o, PTXI_F_A, t->mask[area.first + n]);
            ptxi_ir_set_read(o, PTXI_F_B, t->shadow[area.first + n]);
            o->imm = (int32_t)(first + n);
        }
    }
}

static void receive_word(struct tracker *t, uint32_t at, uint32_t v, uint32_t number, bool after)
{
    struct ptxi_ir_inst *o = is_tracked(t, v) ? insert(t, at, PTXI_OP_init_receive, t->mask[v]) : NULL;

    if (!o)
        return;
    t->ins.list[t->ins.count - 1].after = after;
    mark_impure(o);
    ptxi_ir_set_write(o, PTXI_F_B, t->shadow[v]);
    o->imm = (int32_t)number;
}

void ptxi_track_init_receive(struct tracker *t, uint32_t at, const struct ptxi_ir_arg *rets, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct ptxi_area area = t->ir->areas[rets[k].area];

        for (uint32_t n = 0; n < area.count; n++)
            receive_word(t, at, area.first + n, rets[k].callee_slot / WORD_UNITS + n, true);
    }
}

void ptxi_track_init_receive_arguments(struct tracker *t, uint32_t at)
{
    for (uint32_t v = 0; v < t->vregs; v++)
        if (ptxi_ir_is_argument(t->ir, v)) {
            const struct ptxi_area *area = &t->ir->areas[t->ir->vregs[v].value];

            receive_word(t, at, v, area->fixed / WORD_UNITS + (v - area->first), false);
        }
}
