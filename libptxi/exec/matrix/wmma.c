/* wmma.load and wmma.store: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions: wmma.load", "wmma.store". What lies in memory are lines,
 * of rows or of columns; all lanes name the same place. */
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/memory/access.h"
#include "isa/fragment.h"

enum { LINES = 32 };

struct matrix {
    const struct ptxi_wmma *x;
    struct ptxi_wmma_shape shape;
    unsigned char *line[LINES];
    unsigned lines, length; /* elements of a line */
};

/* Elements of the matrix as it lies in memory. */
static void measure(struct matrix *t)
{
    const struct ptxi_wmma *x = t->x;
    unsigned rows = x->operand == 'b' ? x->k : x->m, columns = x->operand == 'a' ? x->k : x->n;

    t->lines = x->col ? columns : rows;
    t->length = x->col ? rows : columns;
}

/* Where the lines are; false if the launch has failed. */
static bool find_lines(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct matrix *t, enum ptxi_access access)
{
    static const uint8_t spaces[] = { PTXI_MS_GENERIC, PTXI_MS_GLOBAL, PTXI_MS_SHARED };
    const struct ptxi_wmma *x = t->x;
    uint32_t stride = i->b == PTXI_NO_SLOT ? t->length : ((const uint32_t *)PTXI_SLOT(w, i->b))[lane];
    int32_t offset = (int32_t)(x->offset[0] | (uint32_t)x->offset[1] << 16);
    bool shared = x->space == 2, along = x->operand == 'a' ? !x->col : x->operand == 'b' ? x->col : x->col == t->shape.transposed;
    uint64_t from = shared ? ((const uint32_t *)PTXI_SLOT(w, i->a))[lane] + (uint32_t)offset : ((const uint64_t *)PTXI_SLOT(w, i->a))[lane] + (uint64_t)(int64_t)offset;
    uint32_t align = x->bits == 64 ? 8 : along || x->bits == 32 ? 4 : x->bits / 8u;

    for (unsigned k = 0; k < t->lines; k++) {
        uint64_t at = from + (uint64_t)k * stride * x->bits / 8;

        t->line[k] = ptxi_mem_at(w, i, lane, (enum ptxi_mem_space)spaces[x->space], shared ? (uint32_t)at : at, t->length * x->bits / 8, align, access);
        if (!t->line[k])
            return false;
    }
    return true;
}

/* Bytes of register r of a lane that lie together in memory, from `bit` on. */
static inline unsigned char *find_element(const struct matrix *t, unsigned lane, unsigned r, unsigned bit)
{
    struct ptxi_element e = ptxi_wmma_element(t->shape, (char)t->x->operand, t->x->bits, lane, r, bit);
    unsigned line = t->x->col ? e.column : e.row, at = t->x->col ? e.row : e.column;

    return t->line[line] + at * t->x->bits / 8;
}

/* Elements smaller than a byte lie in memory as they do in registers. */
static inline unsigned unit_bits(const struct ptxi_wmma *x)
{
    return x->bits < 8 ? 32 : x->bits;
}

static void load(const struct ptxi_warp *w, const struct matrix *t, unsigned first)
{
    unsigned width = t->x->bits == 64 ? 8 : 4, unit = unit_bits(t->x);

    for (unsigned r = 0; r < t->x->count; r++)
        for (unsigned l = 0; l < 32 && t->x->slots[r] != PTXI_NO_SLOT; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit)
                memcpy((unsigned char *)PTXI_SLOT(w, t->x->slots[r]) + (first + l) * width + bit / 8, find_element(t, l, r, bit), unit / 8);
}

static void store(const struct ptxi_warp *w, const struct matrix *t, unsigned first)
{
    unsigned width = t->x->bits == 64 ? 8 : 4, unit = unit_bits(t->x);

    for (unsigned r = 0; r < t->x->count; r++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned bit = 0; bit < width * 8; bit += unit)
                memcpy(find_element(t, l, r, bit), (const unsigned char *)PTXI_SLOT(w, t->x->slots[r]) + (first + l) * width + bit / 8, unit / 8);
}

static const struct ptxi_insn *move(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_access access)
{
    const struct ptxi_wmma *x = (const struct ptxi_wmma *)(w->frame->code->pool + i->imm);
    struct matrix t = { .x = x, .shape = ptxi_wmma_shape(x->m, x->n, x->k) };

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    measure(&t);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(first / 32);

        if (!here)
            continue;
        if (!find_lines(w, i, ptxi_first_lane(here), &t, access))
            return w->stop;
        if (access == PTXI_ACCESS_LOAD)
            load(w, &t, first);
        else
            store(w, &t, first);
    }
    NEXT;
}

OP( wmma_load ) { return move(w, i, PTXI_ACCESS_LOAD); }
OP( wmma_store ) { return move(w, i, PTXI_ACCESS_STORE); }
