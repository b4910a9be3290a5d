#include "compile/ir/ir.h"

#include "isa/isa.h"

#include <assert.h>
#include <stdlib.h>

const uint8_t ptxi_class_units[PTXI_RC_COUNT] = { 1, 1, 2, 4, 8, 5, 3 };

enum ptxi_class ptxi_ir_class_of(enum ptxi_type type)
{
    if (type == PTXI_T_pred)
        return PTXI_RC_PRED;
    switch (ptxi_types[type].bits) {
    case 32: return PTXI_RC_32;
    case 64: return PTXI_RC_64;
    case 128: return PTXI_RC_128;
    default: return PTXI_RC_16;
    }
}

/* --- growing arrays --- */

void *ptxi_ir_grow(struct ptxi_ir *ir, void *array, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t n = *cap ? *cap : 16;
    void *p;

    if (need <= *cap)
        return array;
    while (n < need)
        n *= 2;
    p = ptxi_arena_array(ir->arena, n, size, alignof(max_align_t));
    if (!p) {
        ir->oom = true;
        return NULL;
    }
    if (*cap)
        memcpy(p, array, *cap * size);
    *cap = n;
    return p;
}

/* Appends `number` elements to a list. The address of the first, or NULL. */
#define APPEND(ir, list, number) \
    ({ \
        void *p_ = ptxi_ir_grow(ir, (ir)->list##s, &(ir)->list##_cap, (ir)->list##_count + (number), \
                                sizeof *(ir)->list##s); \
        typeof((ir)->list##s) q_ = NULL; \
        if (p_) { \
            (ir)->list##s = p_; \
            q_ = &(ir)->list##s[(ir)->list##_count]; \
            (ir)->list##_count += (number); \
        } \
        q_; \
    })

static uint32_t add_vregs(struct ptxi_ir *ir, enum ptxi_class class, enum ptxi_vreg_kind kind, uint64_t value,
                          uint32_t count)
{
    struct ptxi_vreg *v = APPEND(ir, vreg, count);

    for (uint32_t i = 0; v && i < count; i++)
        v[i] = (struct ptxi_vreg){ .class = class, .kind = kind, .slot = PTXI_NONE, .value = value,
                                    .object = PTXI_NONE };
    return v ? ir->vreg_count - count : 0;
}

uint32_t ptxi_ir_vreg(struct ptxi_ir *ir, enum ptxi_class class)
{
    return add_vregs(ir, class, PTXI_VR_PLAIN, 0, 1);
}

uint32_t ptxi_ir_const(struct ptxi_ir *ir, enum ptxi_class class, uint64_t value)
{
    return add_vregs(ir, class, PTXI_VR_CONST, value, 1);
}

uint32_t ptxi_ir_area(struct ptxi_ir *ir, uint64_t bytes, uint32_t fixed)
{
    uint32_t words = (uint32_t)((bytes + 3) / 4);
    struct ptxi_area *area;

    ir->area_words += (bytes + 3) / 4;
    if (ir->area_words > PTXI_MAX_AREA_WORDS)
        ir->too_large = ir->oom = true;
    area = ir->too_large ? NULL : APPEND(ir, area, 1);
    if (!area)
        return 0;
    *area = (struct ptxi_area){ .count = words, .bytes = bytes, .fixed = fixed };
    if (words)
        area->first = add_vregs(ir, PTXI_RC_32, PTXI_VR_WORD, ir->area_count - 1, words);
    return ir->area_count - 1;
}

uint32_t ptxi_ir_label(struct ptxi_ir *ir)
{
    uint32_t *label = APPEND(ir, label, 1);

    if (!label)
        return 0;
    *label = PTXI_NONE;
    return ir->label_count - 1;
}

uint32_t ptxi_ir_table(struct ptxi_ir *ir, uint32_t count)
{
    struct ptxi_ir_table *t = APPEND(ir, table, 1);

    if (!t)
        return 0;
    *t = (struct ptxi_ir_table){ ARENA_NEW(ir->arena, uint32_t, count), count };
    if (!t->labels) {
        t->count = 0;
        ir->oom = true;
    }
    return ir->table_count - 1;
}

uint32_t ptxi_ir_call(struct ptxi_ir *ir, uint32_t args, uint32_t rets)
{
    struct ptxi_ir_call *c = APPEND(ir, call, 1);

    if (!c)
        return 0;
    *c = (struct ptxi_ir_call){ .func = PTXI_NONE,
                                .args = ARENA_NEW(ir->arena, struct ptxi_ir_arg, args),
                                .rets = ARENA_NEW(ir->arena, struct ptxi_ir_arg, rets) };
    if (!c->args || !c->rets)
        ir->oom = true;
    return ir->call_count - 1;
}

uint32_t ptxi_ir_list(struct ptxi_ir *ir, uint32_t head_count, uint32_t count)
{
    struct ptxi_ir_list *l = APPEND(ir, list, 1);

    if (!l)
        return PTXI_NONE;
    *l = (struct ptxi_ir_list){ .v = ARENA_NEW(ir->arena, uint32_t, count),
                                .head = ARENA_NEW(ir->arena, uint16_t, head_count), .head_count = head_count };
    if (!l->v || !l->head) {
        ir->oom = true;
        return PTXI_NONE;
    }
    return ir->list_count - 1;
}

uint32_t ptxi_ir_unsupported(struct ptxi_ir *ir, const char *text)
{
    uint32_t cap = ir->unsupported_cap;
    const char **p = ptxi_ir_grow(ir, ir->unsupported, &cap, ir->unsupported_count + 1, sizeof *p);

    if (!p || !text) {
        ir->oom = true;
        return 0;
    }
    ir->unsupported = p;
    ir->unsupported_cap = cap;
    p[ir->unsupported_count] = text;
    return ir->unsupported_count++;
}

/* --- instructions --- */

static _Thread_local struct ptxi_ir_inst discarded; /* takes the place of an instruction if memory is short */

static void reset(struct ptxi_ir_inst *i, uint16_t op)
{
    *i = (struct ptxi_ir_inst){ .op = op, .guard = PTXI_NONE, .aux = PTXI_NONE, .list = PTXI_NONE };
    for (unsigned f = 0; f < PTXI_F_COUNT; f++)
        i->v[f] = PTXI_NONE;
}

struct ptxi_ir_inst *ptxi_ir_append(struct ptxi_ir *ir, uint16_t op)
{
    uint32_t cap = ir->cap;
    struct ptxi_ir_inst *p = ptxi_ir_grow(ir, ir->insts, &cap, ir->count + 1, sizeof *p), *i = &discarded;

    if (p) {
        ir->insts = p;
        ir->cap = cap;
        i = &p[ir->count++];
    }
    reset(i, op);
    return i;
}

void ptxi_ir_set_read(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg)
{
    assert(field < PTXI_F_COUNT);
    i->v[field] = vreg;
    if (vreg != PTXI_NONE)
        i->reads |= 1u << field;
}

void ptxi_ir_set_write(struct ptxi_ir_inst *i, unsigned field, uint32_t vreg)
{
    assert(field < PTXI_F_COUNT);
    i->v[field] = vreg;
    if (vreg != PTXI_NONE)
        i->writes |= 1u << field;
    if (i->writes & (i->writes - 1))
        i->flags |= PTXI_IF_EARLY; /* the first of two results may be written before the second has been computed */
}

void ptxi_ir_make_nop(struct ptxi_ir_inst *i)
{
    i->op = PTXI_OP_nop;
    i->reads = i->writes = 0;
    i->guard = PTXI_NONE;
    i->flags &= PTXI_IF_FIRST | PTXI_IF_PURE;
}

static struct ptxi_ir_inst *add_insertion(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint16_t op)
{
    struct ptxi_ir_insertion *p = ptxi_ir_grow(ir, ins->list, &ins->cap, ins->count + 1, sizeof *p);

    assert(at < ir->count);
    if (!p) {
        reset(&discarded, op);
        return &discarded;
    }
    ins->list = p;
    p[ins->count].at = at;
    p[ins->count].order = ins->count;
    p[ins->count].after = false;
    reset(&p[ins->count].inst, op);
    p[ins->count].inst.ptx = ir->insts[at].ptx;
    return &p[ins->count++].inst;
}

uint32_t ptxi_ir_make(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint16_t op, uint16_t mods,
                      enum ptxi_class class, uint32_t a, uint32_t b)
{
    uint32_t d = ptxi_ir_vreg(ir, class);
    struct ptxi_ir_inst *i = add_insertion(ir, ins, at, op);

    i->v[PTXI_F_D] = d;
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
    i->writes = 1u << PTXI_F_D;
    i->reads = (uint8_t)((a != PTXI_NONE) << PTXI_F_A | (b != PTXI_NONE) << PTXI_F_B);
    i->flags = PTXI_IF_PURE;
    i->mods = mods;
    return d;
}

static int compare_insertions(const void *a, const void *b)
{
    const struct ptxi_ir_insertion *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->after != y->after)
        return x->after ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

bool ptxi_ir_insert(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins)
{
    struct ptxi_ir_inst *insts;
    uint32_t *moved, n = 0, next = 0;

    if (!ins->count)
        return true;
    qsort(ins->list, ins->count, sizeof *ins->list, compare_insertions);
    insts = ARENA_NEW(ir->arena, struct ptxi_ir_inst, ir->count + ins->count);
    /* old index -> new index of the first instruction inserted before it */
    moved = ARENA_NEW(ir->arena, uint32_t, ir->count + 1);
    if (!insts || !moved)
        return !(ir->oom = true);
    for (uint32_t k = 0; k < ir->count; k++) {
        moved[k] = n;
        while (next < ins->count && ins->list[next].at == k && !ins->list[next].after)
            insts[n++] = ins->list[next++].inst;
        insts[n++] = ir->insts[k];
        while (next < ins->count && ins->list[next].at == k)
            insts[n++] = ins->list[next++].inst;
    }
    assert(next == ins->count && n == ir->count + ins->count);
    moved[ir->count] = n;
    for (uint32_t l = 0; l < ir->label_count; l++)
        if (ir->labels[l] != PTXI_NONE)
            ir->labels[l] = moved[ir->labels[l]];
    for (uint32_t b = 0; b < ir->block_count; b++) {
        ir->blocks[b].first = moved[ir->blocks[b].first];
        ir->blocks[b].end = moved[ir->blocks[b].end];
    }
    ir->insts = insts;
    ir->count = ir->cap = n;
    return true;
}

/* --- operands --- */

struct ptxi_ir_walk ptxi_ir_reads(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = { .ir = ir, .inst = i, .fields = i->reads, .guard = i->guard != PTXI_NONE };

    if (w.guard && !(i->flags & PTXI_IF_FRESH))
        w.fields |= i->writes; /* lanes in which the guard does not hold keep the old value */
    if (i->list != PTXI_NONE) {
        w.list = ir->lists[i->list].v + ir->lists[i->list].writes;
        w.list_count = ir->lists[i->list].count - ir->lists[i->list].writes;
    }
    if (ptxi_ir_is_call(i)) {
        w.args = ir->calls[i->aux].args;
        w.arg_count = ir->calls[i->aux].arg_count;
    }
    if (i->op == PTXI_OP_ret) {
        w.args = ir->returned;
        w.arg_count = ir->returned_count;
    }
    return w;
}

struct ptxi_ir_walk ptxi_ir_writes(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = { .ir = ir, .inst = i, .fields = i->writes };

    if (i->list != PTXI_NONE) {
        w.list = ir->lists[i->list].v;
        w.list_count = ir->lists[i->list].writes;
    }
    if (ptxi_ir_is_call(i)) {
        w.args = ir->calls[i->aux].rets;
        w.arg_count = ir->calls[i->aux].ret_count;
    }
    return w;
}

bool ptxi_ir_next(struct ptxi_ir_walk *w, uint32_t *vreg)
{
    while (w->fields) {
        unsigned f = __builtin_ctz(w->fields);

        w->fields &= w->fields - 1;
        if (w->inst->v[f] == PTXI_NONE)
            continue;
        *vreg = w->inst->v[f];
        return true;
    }
    if (w->guard) {
        w->guard = false;
        *vreg = w->inst->guard;
        return true;
    }
    while (w->list_count) {
        w->list_count--;
        *vreg = *w->list++;
        if (*vreg != PTXI_NONE)
            return true;
    }
    while (w->arg_count) {
        const struct ptxi_area *area = &w->ir->areas[w->args->area];

        if (w->word < area->count) {
            *vreg = area->first + w->word++;
            return true;
        }
        w->args++;
        w->arg_count--;
        w->word = 0;
    }
    return false;
}

uint16_t ptxi_ir_opposite(uint16_t branch)
{
    switch (branch) {
#define X(yes, no)                                   \
    case PTXI_OP_bra_##yes: return PTXI_OP_bra_##no; \
    case PTXI_OP_bra_##no: return PTXI_OP_bra_##yes;
    PTXI_BRANCH_PAIRS(X)
#undef X
    default: return branch;
    }
}
