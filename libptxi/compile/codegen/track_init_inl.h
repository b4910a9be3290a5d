/* Shared by the files that insert the tracking of uninitialised values (track_init.c has the idea). */
#ifndef PTXI_COMPILE_CODEGEN_TRACK_INIT_INL_H
#define PTXI_COMPILE_CODEGEN_TRACK_INIT_INL_H

#include "compile/ir/ir.h"

struct tracker {
    struct ptxi_ir *ir;
    struct ptxi_ir_insertions ins;
    bool *maybe;      /* per register: may be undefined */
    bool *computed;   /* per register: a result of arithmetic */
    bool *needed;     /* per register: may reach a place where it is checked or stored */
    uint32_t *mask, *shadow; /* per register that may be undefined and is needed */
    uint32_t vregs;   /* number of registers before shadows are made */
    uint32_t zeros[PTXI_RC_COUNT];
    bool changed;
};

static inline bool is_tracked(const struct tracker *t, uint32_t v)
{
    return v != PTXI_NONE && t->mask[v] != PTXI_NONE;
}

static inline unsigned class_of(const struct tracker *t, uint32_t v)
{
    return v == PTXI_NONE ? 0 : t->ir->vregs[v].class;
}

static inline uint32_t mask_of(const struct tracker *t, uint32_t v)
{
    return v == PTXI_NONE ? PTXI_NONE : t->mask[v];
}

static inline uint32_t shadow_of(const struct tracker *t, uint32_t v)
{
    return v == PTXI_NONE ? PTXI_NONE : t->shadow[v];
}

/* NULL: memory is short. */
static inline struct ptxi_ir_inst *insert(struct tracker *t, uint32_t at, uint16_t op, uint32_t d)
{
    struct ptxi_ir_inst *i;

    ptxi_ir_make(t->ir, &t->ins, at, op, 0, PTXI_RC_PRED, PTXI_NONE, PTXI_NONE);
    if (t->ir->oom)
        return NULL;
    i = &t->ins.list[t->ins.count - 1].inst;
    i->v[PTXI_F_D] = d;
    i->writes = (uint8_t)((d != PTXI_NONE) << PTXI_F_D);
    return i;
}

static inline void copy_guard(struct ptxi_ir_inst *to, const struct ptxi_ir_inst *from)
{
    to->guard = from->guard;
    to->guard_negated = from->guard_negated;
    to->flags |= from->flags & PTXI_IF_FRESH;
}

#endif
