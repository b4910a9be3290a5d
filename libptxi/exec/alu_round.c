/* PTX ISA, "Floating Point Instructions": add, sub, mul, fma, div, rcp and sqrt with directed rounding or .sat. */
#include "exec/pairs.h"
#include "exec/rounding.h"
#include "num/fma.h"

#define A ptxi_num_f32(a[l])
#define B ptxi_num_f32(b[l])
#define C ptxi_num_f32(c[l])
#define AZ ptxi_num_in_ftz_f32(a[l])
#define BZ ptxi_num_in_ftz_f32(b[l])
#define CZ ptxi_num_in_ftz_f32(c[l])
#define AD ptxi_num_f64(a[l])
#define BD ptxi_num_f64(b[l])
#define CD ptxi_num_f64(c[l])

/* What the host cannot fuse is made of integers, which need the rounding's name. */
#ifdef PTXI_NUM_HOST_FMA
#define FMA_F32(x, y, z) __builtin_fmaf(x, y, z)
#define FMA_F64(x, y, z) __builtin_fma(x, y, z)
#else
#define FMA_F32(x, y, z) ptxi_num_fma_f32_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#define FMA_F64(x, y, z) ptxi_num_fma_f64_by_integer(x, y, z, (enum ptxi_num_rounding)mode)
#endif
_Static_assert((int)PTXI_RN == (int)PTXI_NUM_RN && (int)PTXI_RZ == (int)PTXI_NUM_RZ && (int)PTXI_RM == (int)PTXI_NUM_RM &&
                   (int)PTXI_RP == (int)PTXI_NUM_RP,
               "one numbering of roundings");

#define SCALED(r, scaled) ptxi_num_flush_scaled_f32(r, scaled)
#define TIMES PTXI_FTZ_SCALE *

/* Results of all lanes, computed in the rounding that is set. */
#define ROUNDED(name, t, bits, expr)                                                                                    \
    PTXI_ROUNDED void rounded_##name(t *restrict r, const bits *a, const bits *b, const bits *c, enum ptxi_rounding mode) \
    {                                                                                                                   \
        (void)a, (void)b, (void)c, (void)mode;                                                                          \
        FOR_LANES r[l] = (expr);                                                                                        \
    }

/* NaN and saturation come after rounding. */
#define ROUNDING_OP_F32(name, expr)                                                                          \
    ROUNDED(name, float, uint32_t, expr)                                                                     \
    OP( name )                                                                                               \
    {                                                                                                        \
        LANE_ARRAY(float, r);                                                                                \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                    \
                                                                                                             \
        ptxi_rounding_begin(i->mods);                                                                        \
        rounded_##name(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), PTXI_SLOT(w, i->c), ptxi_rounding_of(i->mods)); \
        ptxi_rounding_end(i->mods);                                                                          \
        if (i->mods & PTXI_MOD_SAT)                                                                          \
            WRITE_LANES(d, ptxi_num_sat_f32(r[l]));                                                          \
        else                                                                                                 \
            WRITE_LANES(d, ptxi_num_canon_f32(r[l]));                                                        \
        NEXT;                                                                                                \
    }

/* The same of pairs, as of two registers. */
#define ROUNDING_PAIRS(name, of_one, slot_c)                                                                     \
    OP( name )                                                                                               \
    {                                                                                                        \
        _Alignas(64) uint64_t live[3][PTXI_LANES];                                                           \
        const ptxi_float_bits *a = live_pairs(live[0], PTXI_SLOT(w, i->a), w->active);                       \
        const ptxi_float_bits *b = live_pairs(live[1], PTXI_SLOT(w, i->b), w->active);                       \
        const ptxi_float_bits *c = live_pairs(live[2], PTXI_SLOT(w, slot_c), w->active);                     \
        _Alignas(64) float f[2 * PTXI_LANES];                                                                \
        RESULT_LANES(uint64_t, results);                                                                     \
        ptxi_float_bits *r = (ptxi_float_bits *)results;                                                     \
                                                                                                             \
        ptxi_rounding_begin(i->mods);                                                                        \
        for (int k = 0; k < 2 * PTXI_LANES; k += PTXI_LANES)                                                 \
            rounded_##of_one(f + k, a + k, b + k, c + k, ptxi_rounding_of(i->mods));                         \
        ptxi_rounding_end(i->mods);                                                                          \
        FOR_PAIRS r[l] = ptxi_num_canon_f32(f[l]);                                                           \
        NEXT_WITH_RESULT(results);                                                                           \
    }
#define ROUNDING_BOTH(op, x, slot_c, expr) ROUNDING_OP_F32(op##_f32##x, expr) ROUNDING_PAIRS(op##_f32x2##x, op##_f32##x, slot_c)

ROUNDING_BOTH(add, _x, i->b, A + B)
ROUNDING_BOTH(sub, _x, i->b, A - B)
ROUNDING_BOTH(mul, _x, i->b, A * B)
ROUNDING_BOTH(fma, _x, i->c, FMA_F32(A, B, C))
ROUNDING_OP_F32(div_f32_x, A / B)
ROUNDING_OP_F32(rcp_f32_x, 1.0f / A)
ROUNDING_OP_F32(sqrt_f32_x, __builtin_sqrtf(A))
ROUNDING_BOTH(add, _ftz_x, i->b, ptxi_num_out_ftz_f32(AZ + BZ))
ROUNDING_BOTH(sub, _ftz_x, i->b, ptxi_num_out_ftz_f32(AZ - BZ))
ROUNDING_BOTH(mul, _ftz_x, i->b, SCALED(AZ * BZ, TIMES AZ * BZ))
ROUNDING_BOTH(fma, _ftz_x, i->c, SCALED(FMA_F32(AZ, BZ, CZ), FMA_F32(TIMES AZ, BZ, TIMES CZ)))
ROUNDING_OP_F32(div_f32_ftz_x, SCALED(AZ / BZ, TIMES AZ / BZ))
ROUNDING_OP_F32(rcp_f32_ftz_x, SCALED(1.0f / AZ, PTXI_FTZ_SCALE / AZ))
ROUNDING_OP_F32(sqrt_f32_ftz_x, __builtin_sqrtf(AZ))

#define ROUNDING_OP_F64(name, expr, result)                                                                  \
    ROUNDED(name, double, uint64_t, expr)                                                                    \
    OP( name )                                                                                               \
    {                                                                                                        \
        const uint64_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);            \
        LANE_ARRAY(double, r);                                                                               \
        uint64_t *d = PTXI_SLOT(w, i->d);                                                                    \
                                                                                                             \
        (void)b, (void)c;                                                                                    \
        ptxi_rounding_begin(i->mods);                                                                        \
        rounded_##name(r, a, b, c, ptxi_rounding_of(i->mods));                                               \
        ptxi_rounding_end(i->mods);                                                                          \
        WRITE_LANES(d, result);                                                                              \
        NEXT;                                                                                                \
    }
ROUNDING_OP_F64(add_f64_x, AD + BD, ptxi_num_nan2_f64(r[l], b[l], a[l]))
ROUNDING_OP_F64(sub_f64_x, AD - BD, ptxi_num_nan2_f64(r[l], b[l], a[l]))
ROUNDING_OP_F64(mul_f64_x, AD * BD, ptxi_num_nan2_f64(r[l], b[l], a[l]))
ROUNDING_OP_F64(fma_f64_x, FMA_F64(AD, BD, CD), ptxi_num_nan3_f64(r[l], b[l], c[l], a[l]))
ROUNDING_OP_F64(div_f64_x, AD / BD, ptxi_num_nan2_f64(r[l], a[l], b[l]))
ROUNDING_OP_F64(rcp_f64_x, 1.0 / AD, ptxi_num_nan1_f64(r[l], a[l]))
ROUNDING_OP_F64(sqrt_f64_x, __builtin_sqrt(AD), ptxi_num_nan1_f64(r[l], a[l]))
