/* Operations on index registers: integers of 32 bits, modulo 2^32. They write the active lanes; the others keep their
 * values. Where an operand is no row, or the result is none, the operation computes lanes. */
#include "exec/engine/row_compare_inl.h"
#include "exec/engine/sreg.h"

/* An operand as a row: lane l has first + l * stride. */
struct operand {
    uint32_t first, stride;
    uint64_t missing; /* 0 if it is a row of all lanes */
    bool is_row;      /* of the active lanes */
};

static inline struct operand read_row(const struct ptxi_warp *w, unsigned slot)
{
    const struct ptxi_index *x = PTXI_SLOT(w, slot);

    return (struct operand){ (uint32_t)x->row.first, (uint32_t)x->row.stride, ptxi_row_missing(&x->row),
                             ptxi_row_has(&x->row, w->active) };
}

/* PTX ISA, "Logic and Shift Instructions: shl". */
static inline uint32_t shift_left(uint32_t x, uint32_t by)
{
    return by < 32 ? x << by : 0;
}

/* --- d = a op b, d = a op b + c --- */

/* Rows of operands, as many as the operation has. */
struct operands {
    struct operand a, b, c;
};

static inline struct operands read_rows(const struct ptxi_insn *i, const struct ptxi_warp *w, int count)
{
    const struct operand none = { 0, 0, 0, true };

    return (struct operands){ read_row(w, i->a), count > 1 ? read_row(w, i->b) : none,
                              count > 2 ? read_row(w, i->c) : none };
}

static inline bool are_rows(const struct operands *o)
{
    return o->a.is_row && o->b.is_row && o->c.is_row;
}

/* 0 if the operands are rows of all lanes, and all lanes are active. */
static inline uint64_t missing(const struct operands *o, const struct ptxi_warp *w)
{
    return o->a.missing | o->b.missing | o->c.missing | ptxi_inactive(w);
}

/* The name of an operation, its number of operands, and its value in a lane. */
#define INDEX_LANES(name, count, expr)                                                                 \
    static __attribute__((noinline)) void name##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                                  \
        LANE_ARRAY(uint32_t, buffer_a);                                                                \
        LANE_ARRAY(uint32_t, buffer_b);                                                                \
        LANE_ARRAY(uint32_t, buffer_c);                                                                \
        LANE_ARRAY(uint32_t, r);                                                                       \
        const uint32_t *a = ptxi_index_lanes(PTXI_SLOT(w, i->a), buffer_a);                            \
        const uint32_t *b = count > 1 ? ptxi_index_lanes(PTXI_SLOT(w, i->b), buffer_b) : buffer_b;     \
        const uint32_t *c = count > 2 ? ptxi_index_lanes(PTXI_SLOT(w, i->c), buffer_c) : buffer_c;     \
                                                                                                       \
        (void)b, (void)c;                                                                              \
        FOR_LANES r[l] = (expr);                                                                       \
        ptxi_set_index_lanes(w, PTXI_SLOT(w, i->d), r);                                                \
    }
INDEX_LANES(index_mov, 1, a[l])
INDEX_LANES(index_add, 2, a[l] + b[l])
INDEX_LANES(index_sub, 2, a[l] - b[l])
INDEX_LANES(index_mul, 2, a[l] * b[l])
INDEX_LANES(index_mad, 3, a[l] * b[l] + c[l])
INDEX_LANES(index_shl, 2, shift_left(a[l], b[l]))
INDEX_LANES(index_lea, 3, shift_left(a[l], b[l]) + c[l])
#undef INDEX_LANES

/* The same for rows: a number that is 0 if rows of the operands o give a row, the value of lane 0, and the stride. */
#define INDEX_OP(name, count, not_row, first, stride)                                              \
    static __attribute__((noinline)) const struct ptxi_insn *name##_any(const struct ptxi_insn *i, \
                                                                        struct ptxi_warp *w)       \
    {                                                                                              \
        const struct operands o = read_rows(i, w, count);                                          \
                                                                                                   \
        if (are_rows(&o) && !(not_row))                                                            \
            ptxi_set_index_row(w, PTXI_SLOT(w, i->d), first, stride);                              \
        else                                                                                       \
            name##_lanes(i, w);                                                                    \
        NEXT;                                                                                      \
    }                                                                                              \
    OP(name)                                                                                       \
    {                                                                                              \
        const struct operands o = read_rows(i, w, count);                                          \
                                                                                                   \
        if (__builtin_expect((missing(&o, w) | (not_row)) != 0, 0))                                \
            return name##_any(i, w);                                                               \
        ptxi_set_index_row_of_all(PTXI_SLOT(w, i->d), first, stride);                              \
        NEXT;                                                                                      \
    }
INDEX_OP(index_mov, 1, 0, o.a.first, o.a.stride)
INDEX_OP(index_add, 2, 0, o.a.first + o.b.first, o.a.stride + o.b.stride)
INDEX_OP(index_sub, 2, 0, o.a.first - o.b.first, o.a.stride - o.b.stride)
/* the compiler puts the factor that is more likely to be the same in all lanes second */
INDEX_OP(index_mul, 2, o.b.stride, o.a.first * o.b.first, o.a.stride * o.b.first)
INDEX_OP(index_mad, 3, o.b.stride, o.a.first * o.b.first + o.c.first, o.a.stride * o.b.first + o.c.stride)
INDEX_OP(index_shl, 2, o.b.stride, shift_left(o.a.first, o.b.first), shift_left(o.a.stride, o.b.first))
INDEX_OP(index_lea, 3, o.b.stride, shift_left(o.a.first, o.b.first) + o.c.first,
         shift_left(o.a.stride, o.b.first) + o.c.stride)
#undef INDEX_OP

OP( index_sreg )
{
    ptxi_set_index_row(w, PTXI_SLOT(w, i->d), (uint32_t)ptxi_sreg_of_warp(w, i->imm), 0);
    NEXT;
}

/* The lanes of a as an index register. The setup code does this, so it need not be fast. */
OP( index_from )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), stride = a[1] - a[0];
    uint32_t off = 0;

    for (uint32_t l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (a[0] + l * stride);
    if (!off && w->active == PTXI_ALL_LANES)
        ptxi_set_index_row(w, PTXI_SLOT(w, i->d), a[0], stride);
    else
        ptxi_set_index_lanes(w, PTXI_SLOT(w, i->d), a);
    NEXT;
}

/* --- comparisons --- */

#define INDEX_SETP(name)                                                                                     \
    static __attribute__((noinline)) const struct ptxi_insn *setp_##name##_any(const struct ptxi_insn *i,    \
                                                                               struct ptxi_warp *w)          \
    {                                                                                                        \
        const ptxi_lanes holds = ptxi_index_##name(w, i);                                                    \
                                                                                                             \
        ptxi_set_pred(w, i->d, i->mods & PTXI_MOD_NOT_C ? ~holds : holds);                                   \
        NEXT;                                                                                                \
    }                                                                                                        \
    OP(index_setp_##name)                                                                                    \
    {                                                                                                        \
        bool holds;                                                                                          \
                                                                                                             \
        if (__builtin_expect(!ptxi_index_is_##name(w, i, &holds), 0))                                        \
            return setp_##name##_any(i, w);                                                                  \
        *(ptxi_lanes *)PTXI_SLOT(w, i->d) = holds != ((i->mods & PTXI_MOD_NOT_C) != 0) ? PTXI_ALL_LANES : 0; \
        NEXT;                                                                                                \
    }
INDEX_SETP(eq)
INDEX_SETP(lt_s32)
INDEX_SETP(lt_u32)
#undef INDEX_SETP
