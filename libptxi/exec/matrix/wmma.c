/* wmma.load and wmma.store. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: wmma.load", "wmma.store".
 * Memory holds vectors, which are the rows or the columns of the matrix. All lanes give the same address. */
#include <assert.h>
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/finding/finding.h"
#include "exec/init/init.h"
#include "exec/init/init_registers.h"
#include "exec/memory/access.h"
#include "exec/track/track.h"
#include "isa/fragment.h"

enum { MAX_VECTORS = 32 };

struct matrix {
    const struct ptxi_wmma *x;
    struct ptxi_wmma_shape shape;
    unsigned char *vector[MAX_VECTORS];
    unsigned count;  /* of vectors */
    unsigned length; /* of a vector, in elements */
};

/* Sets the number and the length of the vectors. */
static void set_dimensions(struct matrix *t)
{
    const struct ptxi_wmma *x = t->x;
    unsigned rows = x->operand == 'b' ? x->k : x->m;
    unsigned columns = x->operand == 'a' ? x->k : x->n;

    t->count = x->col ? columns : rows;
    t->length = x->col ? rows : columns;
    assert(t->count <= MAX_VECTORS);
}

/* Whether neighbouring elements of a vector are neighbours in a register, too. */
static bool is_along_registers(const struct matrix *t)
{
    switch (t->x->operand) {
    case 'a': return !t->x->col;
    case 'b': return t->x->col;
    default: return t->x->col == t->shape.transposed;
    }
}

/* The alignment that the addresses of vectors must have, in bytes. */
static unsigned alignment(const struct matrix *t)
{
    if (t->x->bits >= 32)
        return t->x->bits / 8u;
    return is_along_registers(t) ? 4 : t->x->bits / 8u;
}

/* Sets the addresses of the vectors. False: a fault. */
static bool find_vectors(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct matrix *t,
                         enum ptxi_access access)
{
    static const uint8_t spaces[] = { PTXI_MS_GENERIC, PTXI_MS_GLOBAL, PTXI_MS_SHARED };
    const struct ptxi_wmma *x = t->x;
    enum ptxi_mem_space space = (enum ptxi_mem_space)spaces[x->space];
    uint32_t stride = i->b == PTXI_NO_SLOT ? t->length : ((const uint32_t *)PTXI_SLOT(w, i->b))[lane];
    int32_t offset = (int32_t)(x->offset[0] | (uint32_t)x->offset[1] << 16);
    uint64_t from;

    if (space == PTXI_MS_SHARED)
        from = ((const uint32_t *)PTXI_SLOT(w, i->a))[lane] + (uint32_t)offset;
    else
        from = ((const uint64_t *)PTXI_SLOT(w, i->a))[lane] + (uint64_t)(int64_t)offset;
    for (unsigned k = 0; k < t->count; k++) {
        uint64_t at = from + (uint64_t)k * stride * x->bits / 8;

        if (space == PTXI_MS_SHARED)
            at = (uint32_t)at;
        t->vector[k] = ptxi_access_at(w, i, lane, space, at, t->length * x->bits / 8, alignment(t), access);
        if (!t->vector[k])
            return false;
    }
    return true;
}

/* The memory of the elements that register r of a lane holds from `bit` on. */
static inline unsigned char *find_element(const struct matrix *t, unsigned lane, unsigned r, unsigned bit)
{
    struct ptxi_element e = ptxi_wmma_element(t->shape, (char)t->x->operand, t->x->bits, lane, r, bit);
    unsigned vector = t->x->col ? e.column : e.row;
    unsigned at = t->x->col ? e.row : e.column;

    assert(vector < t->count && at < t->length);
    return t->vector[vector] + at * t->x->bits / 8;
}

/* Bits that are copied together. Elements smaller than a byte have the same order in memory and in registers. */
static inline unsigned unit_bits(const struct ptxi_wmma *x)
{
    return x->bits < 8 ? 32 : x->bits;
}

static void load(const struct ptxi_warp *w, const struct matrix *t, unsigned first)
{
    unsigned width = t->x->bits == 64 ? 8 : 4, unit = unit_bits(t->x);

    for (unsigned r = 0; r < t->x->count; r++) {
        unsigned char *to;

        if (t->x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = (unsigned char *)PTXI_SLOT(w, t->x->slots[r]) + first * width;
        for (unsigned l = 0; l < 32; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit)
                memcpy(to + l * width + bit / 8, find_element(t, l, r, bit), unit / 8);
    }
}

static void store(const struct ptxi_warp *w, const struct matrix *t, unsigned first)
{
    unsigned width = t->x->bits == 64 ? 8 : 4, unit = unit_bits(t->x);

    for (unsigned r = 0; r < t->x->count; r++) {
        const unsigned char *from = (const unsigned char *)PTXI_SLOT(w, t->x->slots[r]) + first * width;

        for (unsigned l = 0; l < 32; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit)
                memcpy(find_element(t, l, r, bit), from + l * width + bit / 8, unit / 8);
    }
}

/* Records the rows or columns that are in global memory. */
static void track_vectors(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct matrix *t,
                          enum ptxi_access access)
{
    enum ptxi_track_kind kind = access == PTXI_AK_LOAD ? PTXI_TRACK_READ : PTXI_TRACK_WRITE;

    for (unsigned k = 0; k < t->count; k++)
        if (!ptxi_shared_owner(w->cta, t->vector[k]))
            ptxi_track_insn(w, i, kind, (uintptr_t)t->vector[k], t->length * t->x->bits / 8);
}

static const struct ptxi_insn *load_or_store(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_access access)
{
    const struct ptxi_wmma *x = (const struct ptxi_wmma *)(w->frame->code->pool + i->imm);
    struct matrix t = { .x = x, .shape = ptxi_wmma_shape(x->m, x->n, x->k) };

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    set_dimensions(&t);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(first / 32);

        if (!here)
            continue;
        if (!find_vectors(w, i, ptxi_first_lane(here), &t, access))
            return w->stop;
        if (w->cta->grid->tracker)
            track_vectors(w, i, &t, access);
        if (access == PTXI_AK_LOAD)
            load(w, &t, first);
        else
            store(w, &t, first);
    }
    NEXT;
}

OP( wmma_load ) { return load_or_store(w, i, PTXI_AK_LOAD); }
OP( wmma_store ) { return load_or_store(w, i, PTXI_AK_STORE); }

/* --- uninitialised values: the same with the shadows of memory and registers --- */

/* The shadows of the registers are the slots of x, because they follow the head of the list. */
static bool find_matrix(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_init_view *v,
                        struct matrix *t, enum ptxi_access access)
{
    const struct ptxi_wmma *x = (const struct ptxi_wmma *)v->list->words;

    *t = (struct matrix){ .x = x, .shape = ptxi_wmma_shape(x->m, x->n, x->k) };
    set_dimensions(t);
    return find_vectors(w, i, ptxi_first_lane(w->active), t, access);
}

static struct ptxi_init_place place_of(const struct ptxi_warp *w, const unsigned char *at)
{
    struct ptxi_cta *owner = ptxi_shared_owner(w->cta, at);

    return (struct ptxi_init_place){ owner, owner ? (uint64_t)(at - owner->shared) : (uintptr_t)at };
}

static unsigned class_of(const struct matrix *t)
{
    return t->x->bits == 64 ? 3 : 2;
}

/* Whether all vectors are defined. */
static bool is_defined(const struct ptxi_warp *w, const struct matrix *t)
{
    unsigned char shadow[16];
    uint32_t size = t->length * t->x->bits / 8;

    for (unsigned k = 0; k < t->count; k++)
        for (uint32_t n, at = 0; at < size; at += n) {
            struct ptxi_init_place p = place_of(w, t->vector[k] + at);

            n = size - at < sizeof shadow ? size - at : (uint32_t)sizeof shadow;
            ptxi_init_get_bytes(&p, n, shadow);
            if (ptxi_init_any_undefined(shadow, n))
                return false;
        }
    return true;
}

OP( init_wmma_load )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    struct matrix t;
    unsigned width, unit;

    if (w->active != w->live || PTXI_LANES != 32) {
        ptxi_init_define_results(w, &v);
        NEXT;
    }
    if (!find_matrix(w, i, &v, &t, PTXI_AK_LOAD))
        return w->stop;
    if (is_defined(w, &t)) {
        ptxi_init_define_results(w, &v);
        NEXT;
    }
    width = 1u << class_of(&t);
    unit = unit_bits(t.x);
    for (unsigned r = 0; r < t.x->count; r++) {
        for (unsigned l = 0; v.to[r] != PTXI_NO_SLOT && l < 32; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit) {
                struct ptxi_init_place p = place_of(w, find_element(&t, l, r, bit));

                ptxi_init_get_bytes(&p, unit / 8, ptxi_init_shadow_at(w, v.to[r], class_of(&t), l) + bit / 8);
            }
        ptxi_init_finish_result(w, &v, r, class_of(&t));
    }
    NEXT;
}

OP( init_wmma_store )
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i);
    unsigned char shadow[32 * sizeof(uint64_t)];
    struct matrix t;
    unsigned width, unit;

    if (w->active != w->live || PTXI_LANES != 32)
        NEXT;
    if (!find_matrix(w, i, &v, &t, PTXI_AK_STORE))
        return w->stop;
    width = 1u << class_of(&t);
    unit = unit_bits(t.x);
    for (unsigned r = 0; r < t.x->count; r++) {
        ptxi_lanes undefined = ptxi_init_source_mask(w, &v, r);

        ptxi_init_source(w, &v, r, 0, width, shadow);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit) {
                struct ptxi_init_place p = place_of(w, find_element(&t, l, r, bit));
                unsigned char *from = shadow + l * width + bit / 8;

                if (v.list->mods && !p.shared && undefined >> l & 1 && ptxi_init_any_undefined(from, unit / 8)) {
                    ptxi_init_report(w, i, PTXI_INIT_OUTPUT, (ptxi_lanes)1 << l, p.address, unit / 8);
                    memset(from, 0, unit / 8);
                }
                ptxi_init_set_bytes(w, &p, unit / 8, from);
            }
    }
    NEXT;
}
