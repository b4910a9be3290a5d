/* PTX ISA, "Alternate Floating-Point Instructions", and the forms of "Mixed Precision Floating-Point Instructions" with
 * two elements. Exact sums and products are rounded to odd, and then once more to the type of the result, which has
 * fewer bits: this is the same as rounding the exact value. */
#include <math.h>

#include "exec/arith/f32x2.h"
#include "exec/arith/handler_parts.h"
#include "exec/engine/op_shapes.h"
#include "num/half.h"
#include "num/minifloat.h"

/* --- four elements: the compiler widens each source to four floats in a register of 128 bits --- */
struct quad {
    float e[4];
} __attribute__((may_alias));

#define QUAD(name, type, distance, expr)                                    \
    OP( quad_##name )                                                       \
    {                                                                       \
        const type *a = PTXI_SLOT(w, i->a);                                 \
        _Alignas(64) struct quad r[PTXI_LANES];                             \
                                                                            \
        for (int l = 0; l < PTXI_LANES; l++)                                \
            for (int k = 0; k < 4; k++) {                                   \
                uint32_t code = (uint32_t)a[l] >> (distance) * k;           \
                                                                            \
                r[l].e[k] = ptxi_num_f32(expr);                             \
            }                                                               \
        ptxi_masked_write(PTXI_SLOT(w, i->d), r, w->active, sizeof *r);     \
        NEXT;                                                               \
    }
QUAD(e5m2x4, uint32_t, 8, ptxi_num_f32_from_minifloat(ptxi_num_e5m2, code))
QUAD(e4m3x4, uint32_t, 8, ptxi_num_f32_from_minifloat(ptxi_num_e4m3, code))
QUAD(e3m2x4, uint32_t, 8, ptxi_num_f32_from_minifloat(ptxi_num_e3m2, code))
QUAD(e2m3x4, uint32_t, 8, ptxi_num_f32_from_minifloat(ptxi_num_e2m3, code))
QUAD(e2m1x4, uint16_t, 4, ptxi_num_f32_from_minifloat(ptxi_num_e2m1, code))
QUAD(e2m1p4x4, uint32_t, 8, ptxi_num_f32_from_minifloat(ptxi_num_e2m1, code))
QUAD(ue8m0x4, uint32_t, 8, (uint32_t)ptxi_num_bf16_from_ue8m0((uint8_t)code) << 16)

/* Without .satfinite, a number that is too large becomes infinite, or a NaN if the format has no infinity. */
static inline uint32_t code_of_result(struct ptxi_num_minifloat f, double exact, bool finite)
{
    uint32_t a = ptxi_num_bits_f32(ptxi_num_f32_odd(exact));

    if (!finite && f.inf == f.top && ptxi_num_minifloat_round(f, a & 0x7fffffff, PTXI_NUM_RN, 0) > f.top)
        return f.nan;
    return ptxi_num_minifloat_from_f32(f, a, PTXI_NUM_RN, finite);
}

#define QUAD_OP(op, f, slot_b, slot_c, expr)                                                      \
    OP( op##_##f##x4 )                                                                            \
    {                                                                                             \
        const struct quad *a = PTXI_SLOT(w, i->a);                                                \
        const struct quad *b = PTXI_SLOT(w, slot_b), *c = PTXI_SLOT(w, slot_c);                   \
        const bool finite = i->mods & PTXI_MOD_SATFINITE;                                         \
        RESULT_LANES(uint32_t, r);                                                                \
                                                                                                  \
        for (int l = 0; l < PTXI_LANES; l++) {                                                    \
            uint32_t codes = 0;                                                                   \
                                                                                                  \
            for (int k = 0; k < 4; k++) {                                                         \
                double x = a[l].e[k], y = b[l].e[k], z = c[l].e[k];                               \
                                                                                                  \
                (void)y, (void)z;                                                                 \
                codes |= code_of_result(ptxi_num_##f, expr, finite) << 8 * k;                     \
            }                                                                                     \
            r[l] = codes;                                                                         \
        }                                                                                         \
        NEXT_WITH_RESULT(r);                                                                      \
    }
/* The product of two elements is an exact double. */
#define QUAD_OPS(f)                                                                               \
    QUAD_OP(add, f, i->b, i->b, ptxi_num_sum_odd_f64(x, y))                                       \
    QUAD_OP(sub, f, i->b, i->b, ptxi_num_sum_odd_f64(x, -y))                                      \
    QUAD_OP(mul, f, i->b, i->b, x * y)                                                            \
    QUAD_OP(fma, f, i->b, i->c, ptxi_num_sum_odd_f64(x * y, z))
QUAD_OPS(e5m2)
QUAD_OPS(e4m3)

/* --- two elements: f16x2, bf16x2 to f32x2 --- */
OP1(widen_f16x2, uint64_t, uint32_t,
    ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)a[l])) |
        (uint64_t)ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)(a[l] >> 16))) << 32)
OP1(widen_bf16x2, uint64_t, uint32_t, (uint64_t)(a[l] & 0xffff0000) << 32 | a[l] << 16)

/* --- f32x2 to f16x2, bf16x2, toward zero --- */
static inline uint32_t flush_f32(uint32_t a)
{
    return (a & 0x7f800000) ? a : a & 0x80000000;
}

/* .ftz flushes f32 operands, and results below the smallest normal f16. */
static inline uint16_t f16_of_exact(double exact)
{
    uint32_t r = ptxi_num_minifloat_from_f32(ptxi_num_f16, ptxi_num_bits_f32(ptxi_num_f32_odd(exact)), PTXI_NUM_RZ,
                                             false);

    return (uint16_t)(r & 0x7c00 ? r : r & 0x8000);
}

static inline uint16_t bf16_of_exact(double exact)
{
    return (uint16_t)ptxi_num_minifloat_from_f32(ptxi_num_bf16, ptxi_num_bits_f32(ptxi_num_f32_odd(exact)), PTXI_NUM_RZ,
                                                 false);
}

#define NARROW_OP(op, half, operand, expr)                                                        \
    OP( op##_##half##x2_f32x2 )                                                                   \
    {                                                                                             \
        const ptxi_float_bits *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                   \
        RESULT_LANES(uint32_t, r);                                                                \
                                                                                                  \
        for (int l = 0; l < PTXI_LANES; l++) {                                                    \
            uint16_t e[2];                                                                        \
                                                                                                  \
            for (int k = 0; k < 2; k++) {                                                         \
                double x = ptxi_num_f32(operand(a[2 * l + k])), y = ptxi_num_f32(operand(b[2 * l + k])); \
                                                                                                  \
                e[k] = half##_of_exact(expr);                                                     \
            }                                                                                     \
            r[l] = e[0] | (uint32_t)e[1] << 16;                                                   \
        }                                                                                         \
        NEXT_WITH_RESULT(r);                                                                      \
    }
#define AS_IS(a) (a)
#define NARROW_OPS(half, operand)                                                                 \
    NARROW_OP(add, half, operand, ptxi_num_sum_odd_f64(x, y))                                     \
    NARROW_OP(sub, half, operand, ptxi_num_sum_odd_f64(x, -y))                                    \
    NARROW_OP(mul, half, operand, x * y)
NARROW_OPS(f16, flush_f32)
NARROW_OPS(bf16, AS_IS)
