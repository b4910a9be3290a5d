/* PTX ISA, "Extended-Precision Arithmetic Instructions". The predicate in imm has CC.CF. Addition sets it to the
 * carry. Subtraction sets it to the carry of a + ~b + 1, which is 1 if there is no borrow. */
#include "exec/engine/op_shapes.h"
#include "num/integer.h"

#define CARRY_IN(l) (in >> (l) & 1)
#define NO_CARRY(l) 0

/* d = x + y + carry. x, y and the carry are expressions for lane l. writes: whether CC.CF is written. */
#define ADD_CARRY(name, t, ta, x, y, carry, writes)                \
    OP( name )                                                     \
    {                                                              \
        const ta *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b); \
        const t *c = PTXI_SLOT(w, i->c);                           \
        t *d = PTXI_SLOT(w, i->d);                                 \
        ptxi_lanes in = ptxi_pred(w, (uint16_t)i->imm), out;       \
        LANE_ARRAY(t, sum);                                        \
                                                                   \
        (void)a, (void)b, (void)c, (void)in;                       \
        if (writes) {                                              \
            LANE_ARRAY(uint8_t, carries);                          \
                                                                   \
            FOR_LANES {                                            \
                t p = (t)(x), q = (t)(y), s = p + q;               \
                                                                   \
                sum[l] = s + (t)carry(l);                          \
                carries[l] = (s < p) | (sum[l] < s);               \
            }                                                      \
            out = ptxi_mask_of_bytes(carries);                     \
            ptxi_set_pred(w, (uint16_t)i->imm, out);               \
            WRITE_LANES(d, sum[l]);                                \
            NEXT;                                                  \
        }                                                          \
        WRITE_LANES(d, (t)((t)(x) + (t)(y) + (t)carry(l)));        \
        NEXT;                                                      \
    }

#define CC_IN_MODS (i->mods & PTXI_MOD_CC)

/* a - b is a + ~b + 1. */
#define ALWAYS_CARRY(l) 1
#define EACH_WIDTH(n, t)                                                                         \
    ADD_CARRY(add_cc_i##n, t, t, a[l], b[l], NO_CARRY, true)                                     \
    ADD_CARRY(addc_i##n, t, t, a[l], b[l], CARRY_IN, CC_IN_MODS)                                 \
    ADD_CARRY(sub_cc_i##n, t, t, a[l], ~b[l], ALWAYS_CARRY, true)                                \
    ADD_CARRY(subc_i##n, t, t, a[l], ~b[l], CARRY_IN, CC_IN_MODS)                                \
    ADD_CARRY(mad_lo_cc_i##n, t, t, a[l] * b[l], c[l], NO_CARRY, true)                           \
    ADD_CARRY(madc_lo_i##n, t, t, a[l] * b[l], c[l], CARRY_IN, CC_IN_MODS)
EACH_WIDTH(32, uint32_t)
EACH_WIDTH(64, uint64_t)

ADD_CARRY(addc_i16, uint16_t, uint16_t, a[l], b[l], CARRY_IN, CC_IN_MODS)
ADD_CARRY(subc_i16, uint16_t, uint16_t, a[l], ~b[l], CARRY_IN, CC_IN_MODS)
ADD_CARRY(madc_lo_i16, uint16_t, uint16_t, (uint32_t)a[l] * b[l], c[l], CARRY_IN, CC_IN_MODS)
/* ptxas accepts these, although the PTX ISA does not have them: the upper half of a product of 32-bit factors. */
ADD_CARRY(madc_hi_u16, uint16_t, uint16_t, 0, c[l], CARRY_IN, CC_IN_MODS)
ADD_CARRY(madc_hi_s16, uint16_t, int16_t, (int32_t)a[l] * b[l] >> 31, c[l], CARRY_IN, CC_IN_MODS)

#define MUL_HI_u32(x, y) ((uint64_t)(x) * (y) >> 32)
#define MUL_HI_s32(x, y) ((int64_t)(x) * (y) >> 32)
#define MUL_HI_u64 ptxi_num_mul_hi_u64
#define MUL_HI_s64 ptxi_num_mul_hi_s64
#define EACH_TYPE(n, t, ta)                                                                      \
    ADD_CARRY(mad_hi_cc_##n, t, ta, MUL_HI_##n(a[l], b[l]), c[l], NO_CARRY, true)                \
    ADD_CARRY(madc_hi_##n, t, ta, MUL_HI_##n(a[l], b[l]), c[l], CARRY_IN, CC_IN_MODS)
EACH_TYPE(u32, uint32_t, uint32_t)
EACH_TYPE(s32, uint32_t, int32_t)
EACH_TYPE(u64, uint64_t, uint64_t)
EACH_TYPE(s64, uint64_t, int64_t)
