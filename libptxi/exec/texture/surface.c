/* PTX ISA, "Surface Instructions". */
#include <assert.h>
#include <string.h>

#include "exec/check/race.h"
#include "exec/check/state.h"
#include "exec/engine/handler.h"
#include "exec/memory/array_reduce.h"
#include "exec/memory/access.h"
#include "exec/texture/texel_init.h"
#include "exec/texture/texture.h"

/* One lane's access. It keeps the surface of the previous lane, which usually has the same name. */
struct access {
    uint64_t name;
    const struct ptxi_texture *t;
    unsigned char *at; /* NULL outside of the surface, where an access has no effect */
    uint32_t bytes;    /* a power of two */
};

/* Returns a coordinate in the surface, or -1. The last coordinate is a multiple of `unit`, a power of two. */
static int64_t bound_coordinate(int64_t at, int64_t size, uint32_t unit, enum ptxi_surface_beyond beyond)
{
    assert(unit && !(unit & (unit - 1)));
    if (at >= 0 && at < size)
        return at;
    if (beyond != PTXI_SURFACE_CLAMP || size <= 0)
        return -1;
    return at < 0 ? 0 : (size - 1) & -(int64_t)unit;
}

/* True if an instruction and a surface have compatible dimensions. Otherwise the access has no effect. An instruction
 * with fewer dimensions accesses the first row or the first layer. */
static bool is_compatible(const struct ptxi_texture *t, const struct ptxi_surface *x)
{
    return x->dimensions == 3 ? t->dimensions == 3 : (x->dimensions == 1) == (t->dimensions == 1);
}

/* Reads the coordinates of a lane: x, y and z in elements, and the layer. */
static void read_coordinates(const struct ptxi_warp *w, const struct ptxi_surface *x, unsigned lane, int64_t c[4])
{
    unsigned k = x->values;

    if (x->layered)
        c[3] = (uint16_t)((const uint32_t *)PTXI_SLOT(w, x->slots[k++]))[lane];
    for (unsigned d = 0; d < x->dimensions; d++)
        c[d] = ((const int32_t *)PTXI_SLOT(w, x->slots[k++]))[lane];
}

/* Computes the address of an access. The coordinates c are as read, except for x, which is in bytes. Returns
 * PTXI_FK_NONE or the kind of the fault. */
static enum ptxi_fault_kind compute_address(const struct ptxi_surface *x, const int64_t c[4], struct access *a)
{
    const struct ptxi_texture *t = a->t;
    const struct ptxi_image *m = t->level;
    int64_t column = bound_coordinate(c[0], (int64_t)m->width * t->bytes - a->bytes + 1, a->bytes, x->beyond);
    int64_t row = bound_coordinate(c[1], m->height, 1, x->beyond);
    int64_t slice = bound_coordinate(x->layered ? c[3] : c[2], m->depth, 1, x->beyond);
    bool inside = (column | row | slice) >= 0, no_slices = x->layered && t->dimensions == 3;

    if (x->beyond == PTXI_SURFACE_TRAP && !inside)
        return PTXI_FK_OUT_OF_BOUNDS;
    if (!x->formatted && c[0] & (a->bytes - 1))
        return PTXI_FK_MISALIGNED;
    if (inside)
        a->at = m->base + column + (uint64_t)row * m->pitch + (no_slices ? 0 : (uint64_t)slice * m->slice);
    return PTXI_FK_NONE;
}

/* Finds the surface of a lane's access and computes the address. Returns false after a fault. */
static bool find_access(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_surface *x, unsigned lane,
                        enum ptxi_access access, struct access *a)
{
    uint64_t name = ((const uint64_t *)PTXI_SLOT(w, i->a))[lane];
    const bool is_same = a->t && a->name == name;
    const struct ptxi_texture *t = is_same ? a->t : ptxi_object_resolve(w, i, name, PTXI_OBJECT_SURFACE);
    enum ptxi_fault_kind wrong;
    int64_t c[4] = { 0 };

    a->name = name;
    a->t = t;
    a->at = NULL;
    if (!t || t->gone) {
        const char *problem = t ? "names a surface in memory that was freed" : "names no surface";

        ptxi_fault(w, i, PTXI_FK_ILLEGAL, (ptxi_lanes)1 << lane, name, 0, problem);
        return false;
    }
    read_coordinates(w, x, lane, c);
    a->bytes = x->formatted && !x->reduce[0] ? t->bytes : (uint32_t)x->bytes * x->values;
    if (!is_compatible(t, x))
        return true;
    if (x->formatted)
        c[0] *= x->reduce[0] ? x->bytes : t->bytes;
    wrong = compute_address(x, c, a);
    if (wrong != PTXI_FK_NONE) {
        struct ptxi_fault_area row = { PTXI_FS_SURFACE, "a row of the surface",
                                       (uint64_t)t->level->width * t->bytes, 0 };

        ptxi_fault_access(w, i, wrong, (ptxi_lanes)1 << lane, (uint64_t)c[0], a->bytes, access, &row);
    }
    return wrong == PTXI_FK_NONE;
}

/* The description of the instruction. */
static inline const struct ptxi_surface *surface_operands(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_surface *)(w->frame->code->pool + i->imm);
}

/* The value of a lane in register k of the instruction. */
static inline unsigned char *register_value(const struct ptxi_warp *w, const struct ptxi_surface *x, unsigned k,
                                            unsigned lane)
{
    return (unsigned char *)PTXI_SLOT(w, x->slots[k]) + lane * x->wide;
}

/* Tells the race checker about a lane's access. value: what it stores, or NULL. */
static void note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct access *a, unsigned how,
                 const void *value)
{
    if (__builtin_expect(!w->cta->check, 1) || !a->at)
        return;
    ptxi_race_touch(w, i, lane, (uintptr_t)a->at, a->bytes, how, value);
    w->cta->check->accesses += !(w->active & (((ptxi_lanes)1 << lane) - 1)); /* an instruction is one access */
}

/* As ptxi_texel_init_find(), if the launch is checked. */
static inline const struct ptxi_insn *find_init(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return __builtin_expect(!w->cta->check, 1) ? NULL : ptxi_texel_init_find(w, i);
}

RACY OP( suld )
{
    const struct ptxi_surface *x = surface_operands(w, i);
    const struct ptxi_insn *init = find_init(w, i);
    uint64_t r[4][PTXI_LANES] = { { 0 } };
    struct ptxi_texel_shadows shadows;
    struct access a = { .t = NULL };

    shadows.any = false;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        if (!find_access(w, i, x, l, PTXI_AK_LOAD, &a))
            return w->stop;
        note(w, i, l, &a, 0, NULL);
        if (init && a.at)
            ptxi_texel_init_load(&shadows, l, a.at, x->values, x->bytes);
        for (unsigned k = 0; a.at && k < x->values; k++)
            memcpy(&r[k][l], a.at + k * x->bytes, x->bytes);
    }
    if (init)
        ptxi_texel_init_results(w, init, x->wide, &shadows);
    for (unsigned k = 0; k < x->values; k++)
        for (ptxi_lanes left = w->active; left && x->slots[k] != PTXI_NO_SLOT; left &= left - 1)
            memcpy(register_value(w, x, k, ptxi_first_lane(left)), &r[k][ptxi_first_lane(left)], x->wide);
    NEXT;
}

/* sust.p: each channel has a register. Channels without one are 0. What is stored: */
static void pack(const struct ptxi_warp *w, const struct ptxi_surface *x, unsigned lane, unsigned char *to)
{
    uint32_t v[4] = { 0 }, word;

    for (unsigned c = 0; c < x->values; c++)
        memcpy(&v[c], register_value(w, x, c, lane), 4);
    word = ptxi_texel_pack(v);
    memcpy(to, &word, sizeof word);
}

static void format(const struct ptxi_warp *w, const struct ptxi_surface *x, unsigned lane, const struct access *a,
                   unsigned char *to)
{
    unsigned size = a->t->bytes / a->t->channels;

    for (unsigned c = 0; c < a->t->channels; c++) {
        uint32_t v = 0;

        if (c < x->values)
            memcpy(&v, register_value(w, x, c, lane), 4);
        v = ptxi_texel_store(v, a->t->format);
        memcpy(to + c * size, &v, size);
    }
}

RACY OP( sust )
{
    const struct ptxi_surface *x = surface_operands(w, i);
    const struct ptxi_insn *init = find_init(w, i);
    struct access a = { .t = NULL };
    unsigned char value[4 * sizeof(uint64_t)] = { 0 };

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        if (!find_access(w, i, x, l, PTXI_AK_STORE, &a))
            return w->stop;
        if (!a.at)
            continue;
        if (x->formatted && a.t->format == PTXI_TEXEL_PACKED)
            pack(w, x, l, value);
        else if (x->formatted)
            format(w, x, l, &a, value);
        for (unsigned k = 0; !x->formatted && k < x->values; k++)
            memcpy(value + k * x->bytes, register_value(w, x, k, l), x->bytes);
        assert(a.bytes <= sizeof value);
        note(w, i, l, &a, PTXI_TOUCH_WRITE, a.bytes <= 16 ? value : NULL);
        if (init)
            ptxi_texel_init_store(w, init, x, l, a.t, a.at);
        memcpy(a.at, value, a.bytes);
    }
    NEXT;
}

OP( sured )
{
    const struct ptxi_surface *x = surface_operands(w, i);
    const struct ptxi_insn *init = find_init(w, i);
    struct access a = { .t = NULL };

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        if (!find_access(w, i, x, l, PTXI_AK_ATOMIC, &a))
            return w->stop;
        note(w, i, l, &a, PTXI_TOUCH_WRITE | PTXI_TOUCH_ATOMIC, NULL);
        if (init && a.at)
            ptxi_texel_init_reduce(w, init, x, l, a.at);
        if (a.at)
            ptxi_array_reduce(x->reduce[ptxi_texel_is_signed(a.t->format)], a.at, register_value(w, x, 0, l), x->bytes);
    }
    NEXT;
}

/* suld, sust and sured do what these are for. */
OP( init_surface )
{
    (void)w;
    NEXT;
}
