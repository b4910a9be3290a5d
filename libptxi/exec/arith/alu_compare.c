/* PTX ISA, "Comparison and Selection Instructions", and testp. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"
#include "exec/engine/op_shapes.h"
#include "num/half.h"

#include <assert.h>

/* The values of BoolOp in mods. */
enum bool_op { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

static inline ptxi_lanes combine(enum bool_op op, ptxi_lanes t, ptxi_lanes c)
{
    switch (op) {
    case BOOL_NONE: break;
    case BOOL_AND: return t & c;
    case BOOL_OR: return t | c;
    case BOOL_XOR: return t ^ c;
    }
    return t;
}

/* p = t BoolOp c, q = u BoolOp c. There may be no p or no q. */
OUT_OF_LINE void set_two_predicates(const struct ptxi_insn *i, struct ptxi_warp *w, ptxi_lanes t, ptxi_lanes u)
{
    enum bool_op op = (enum bool_op)((i->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT);
    ptxi_lanes p = t, q = u;

    if (op != BOOL_NONE) {
        ptxi_lanes c = ptxi_pred(w, i->c) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);

        assert(op <= BOOL_XOR);
        p = combine(op, t, c);
        q = combine(op, u, c);
    }
    if (i->d != PTXI_NO_SLOT)
        ptxi_set_pred(w, i->d, p);
    if ((uint16_t)i->imm != PTXI_NO_SLOT)
        ptxi_set_pred(w, (uint16_t)i->imm, q);
}

static inline void set_predicates(const struct ptxi_insn *i, struct ptxi_warp *w, ptxi_lanes t)
{
    if (__builtin_expect(!(i->mods & PTXI_MOD_BOOL_MASK) && (uint16_t)i->imm == PTXI_NO_SLOT &&
                             i->d != PTXI_NO_SLOT, 1))
        ptxi_set_pred(w, i->d, t);
    else
        set_two_predicates(i, w, t, ~t);
}

#define SETP(name, bits, t, cond)                                          \
    OP( setp_##name )                                                      \
    {                                                                      \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);          \
        ptxi_lanes m;                                                      \
                                                                           \
        COMPARE_##bits(m, t, a, b, cond);                                  \
        set_predicates(i, w, m);                                           \
        NEXT;                                                              \
    }

#define EQUALITY(bits)                                                     \
    SETP(eq_i##bits, bits, uint##bits##_t, x == y)                         \
    SETP(ne_i##bits, bits, uint##bits##_t, x != y)
EQUALITY(16)
EQUALITY(32)
EQUALITY(64)

#define ORDER(type, bits, t)                                               \
    SETP(lt_##type, bits, t, x < y)                                        \
    SETP(le_##type, bits, t, x <= y)                                       \
    SETP(gt_##type, bits, t, x > y)                                        \
    SETP(ge_##type, bits, t, x >= y)
ORDER(u16, 16, uint16_t)
ORDER(s16, 16, int16_t)
ORDER(u32, 32, uint32_t)
ORDER(s32, 32, int32_t)
ORDER(u64, 64, uint64_t)
ORDER(s64, 64, int64_t)

/* Ordered comparisons, including ne, are false if an operand is a NaN. Those that end in u are true. */
#define EACH_FLOAT_COMPARISON(X)                   \
    X(eq, x == y)                                  \
    X(ne, (x < y) | (x > y))                       \
    X(lt, x < y)                                   \
    X(le, x <= y)                                  \
    X(gt, x > y)                                   \
    X(ge, x >= y)                                  \
    X(equ, COMPARE_NOT((x < y) | (x > y)))         \
    X(neu, x != y)                                 \
    X(ltu, COMPARE_NOT(x >= y))                    \
    X(leu, COMPARE_NOT(x > y))                     \
    X(gtu, COMPARE_NOT(x <= y))                    \
    X(geu, COMPARE_NOT(x < y))                     \
    X(num, (x == x) & (y == y))                    \
    X(nan, (x != x) | (y != y))

/* The sign of a zero does not matter, so .ftz may clear all bits of a subnormal. */
#define SETP_FTZ(name, cond)                                               \
    OP( setp_##name##_f32_ftz )                                            \
    {                                                                      \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);   \
        LANE_ARRAY(float, fa);                                             \
        LANE_ARRAY(float, fb);                                             \
        ptxi_lanes m;                                                      \
                                                                           \
        FOR_LANES fa[l] = ptxi_num_in_ftz_f32(a[l]);                       \
        FOR_LANES fb[l] = ptxi_num_in_ftz_f32(b[l]);                       \
        COMPARE_32(m, float, fa, fb, cond);                                \
        set_predicates(i, w, m);                                           \
        NEXT;                                                              \
    }

#define EACH_FLOAT(name, cond)                                             \
    SETP(name##_f32, 32, float, cond)                                      \
    SETP_FTZ(name, cond)                                                   \
    SETP(name##_f64, 64, double, cond)
EACH_FLOAT_COMPARISON(EACH_FLOAT)

/* f16 and bf16 are compared as floats. For a pair, r has the low elements of all lanes, then the high ones. */
OUT_OF_LINE void read_f16_as_f32(float *restrict r, const uint16_t *a, bool ftz)
{
    f32_of_f16(r, a);
    if (ftz)
        FOR_LANES r[l] = ptxi_num_flush_f16(r[l]);
}

OUT_OF_LINE void read_f16x2_as_f32(float *restrict r, const uint32_t *a, bool ftz)
{
    LANE_ARRAY(uint16_t, low);
    LANE_ARRAY(uint16_t, high);

    FOR_LANES low[l] = (uint16_t)a[l];
    FOR_LANES high[l] = (uint16_t)(a[l] >> 16);
    read_f16_as_f32(r, low, ftz);
    read_f16_as_f32(r + PTXI_LANES, high, ftz);
}

OUT_OF_LINE void read_bf16_as_f32(float *restrict r, const uint16_t *a, bool ftz)
{
    (void)ftz;
    f32_of_bf16(r, a);
}

OUT_OF_LINE void read_bf16x2_as_f32(float *restrict r, const uint32_t *a, bool ftz)
{
    (void)ftz;
    FOR_LANES r[l] = ptxi_num_f32(a[l] << 16);
    FOR_LANES r[PTXI_LANES + l] = ptxi_num_f32(a[l] & 0xffff0000);
}

#define SETP_HALF(name, type, cond)                                           \
    OP( setp_##name##_##type )                                                \
    {                                                                         \
        LANE_ARRAY(float, fa);                                                \
        LANE_ARRAY(float, fb);                                                \
        ptxi_lanes m;                                                         \
                                                                              \
        read_##type##_as_f32(fa, PTXI_SLOT(w, i->a), i->mods & PTXI_MOD_FTZ); \
        read_##type##_as_f32(fb, PTXI_SLOT(w, i->b), i->mods & PTXI_MOD_FTZ); \
        COMPARE_32(m, float, fa, fb, cond);                                   \
        set_predicates(i, w, m);                                              \
        NEXT;                                                                 \
    }
#define SETP_PAIR(name, type, cond)                                           \
    OP( setp_##name##_##type )                                                \
    {                                                                         \
        _Alignas(64) float fa[2 * PTXI_LANES], fb[2 * PTXI_LANES];            \
        ptxi_lanes low, high;                                                 \
                                                                              \
        read_##type##_as_f32(fa, PTXI_SLOT(w, i->a), i->mods & PTXI_MOD_FTZ); \
        read_##type##_as_f32(fb, PTXI_SLOT(w, i->b), i->mods & PTXI_MOD_FTZ); \
        COMPARE_32(low, float, fa, fb, cond);                                 \
        COMPARE_32(high, float, fa + PTXI_LANES, fb + PTXI_LANES, cond);      \
        set_two_predicates(i, w, low, high);                                  \
        NEXT;                                                                 \
    }
#define EACH_HALF(name, cond)                                              \
    SETP_HALF(name, f16, cond)                                             \
    SETP_HALF(name, bf16, cond)                                            \
    SETP_PAIR(name, f16x2, cond)                                           \
    SETP_PAIR(name, bf16x2, cond)
EACH_FLOAT_COMPARISON(EACH_HALF)

#define TESTP(name, bits, magnitude, inf, normal)                                    \
    OP( testp_##name##_f##bits )                                                     \
    {                                                                                \
        const uint##bits##_t *a = PTXI_SLOT(w, i->a);                                \
        ptxi_lanes m;                                                                \
                                                                                     \
        LANE_MASK(m, test_##name(a[l] & magnitude, inf, normal));                    \
        ptxi_set_pred(w, i->d, m);                                                   \
        NEXT;                                                                        \
    }
#define test_finite(x, inf, normal) ((x) < (inf))
#define test_infinite(x, inf, normal) ((x) == (inf))
#define test_number(x, inf, normal) ((x) <= (inf))
#define test_notanumber(x, inf, normal) ((x) > (inf))
#define test_normal(x, inf, normal) (((x) >= (normal) && (x) < (inf)) || (x) == 0) /* the ISA counts zeros as normal */
#define test_subnormal(x, inf, normal) ((x) < (normal) && (x) != 0)
#define TESTP_BOTH(name)                                                                                             \
    TESTP(name, 32, 0x7fffffffu, 0x7f800000u, 0x00800000u)                                                           \
    TESTP(name, 64, 0x7fffffffffffffffu, 0x7ff0000000000000u, 0x0010000000000000u)
TESTP_BOTH(finite)
TESTP_BOTH(infinite)
TESTP_BOTH(number)
TESTP_BOTH(notanumber)
TESTP_BOTH(normal)
TESTP_BOTH(subnormal)

/* --- selp, slct --- */
#define SELECT(n, t)                                                                                       \
    OP( selp_##n )                                                                                         \
    {                                                                                                      \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                          \
        t *d = PTXI_SLOT(w, i->d);                                                                         \
        ptxi_lanes c = ptxi_pred(w, i->c) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);               \
                                                                                                           \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) {                                            \
            ptxi_pick_##n(d, c, a, b);                                                                     \
        } else {                                                                                           \
            LANE_ARRAY(t, r);                                                                              \
                                                                                                           \
            ptxi_pick_##n(r, c, a, b);                                                                     \
            ptxi_masked_write_##n(d, r, w->active);                                                               \
        }                                                                                                  \
        NEXT;                                                                                              \
    }                                                                                                      \
    OP3(slct_##n##_s32, t, t, t, int32_t, c[l] >= 0 ? a[l] : b[l])                                         \
    OP3(slct_##n##_f32, t, t, t, float, c[l] >= 0.0f ? a[l] : b[l])                                        \
    OP3(slct_##n##_f32_ftz, t, t, t, uint32_t, ptxi_num_in_ftz_f32(c[l]) >= 0.0f ? a[l] : b[l])
SELECT(16, uint16_t)
SELECT(32, uint32_t)
SELECT(64, uint64_t)
