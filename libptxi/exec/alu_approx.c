/* PTX ISA, "Floating Point Instructions": the approximate instructions; num/approx.h has the units. */
#include "exec/halves.h"
#include "num/approx.h"
#include "num/approx_f64.h"

#define UNARY(name, t, function)                       \
    OP( name )                                         \
    {                                                  \
        const t *a = PTXI_SLOT(w, i->a);               \
        t *d = PTXI_SLOT(w, i->d);                     \
                                                       \
        WRITE_LANES_COLD(d, function(a[l]));           \
        NEXT;                                          \
    }

/* --- the units with tables, step by step for all lanes --- */
struct terms {
    _Alignas(64) int32_t c0[PTXI_LANES], c12[PTXI_LANES], square[PTXI_LANES];
};

static inline void look_up(int32_t *restrict r, const int32_t *table, const int32_t *index)
{
#if defined(__AVX512F__)
    for (int k = 0; k < PTXI_LANES; k += 16)
        _mm512_store_si512(r + k, _mm512_i32gather_epi32(_mm512_load_si512(index + k), table, 4));
#else
    for (int l = 0; l < PTXI_LANES; l++)
        r[l] = table[index[l]];
#endif
}

/* ptxi_num_square17() in elements of 16 bits, which hold all of it. */
static inline void squares(int32_t *restrict r, const uint32_t *v)
{
    LANE_ARRAY(uint16_t, s);

    FOR_LANES {
        uint16_t h = v[l] >> 9 & 0xff, low = v[l] & 0x1ff, sum = (uint16_t)((uint16_t)(h * h) >> 1);

        sum += h & 0x02 ? low >> 8 : 0;
        sum += h & 0x04 ? low >> 7 : 0;
        sum += h & 0x08 ? low >> 6 : 0;
        sum += h & 0x10 ? low >> 5 : 0;
        sum += h & 0x20 ? low >> 4 : 0;
        sum += h & 0x40 ? low >> 3 : 0;
        sum += h & 0x80 ? low >> 2 : 0;
        s[l] = sum;
    }
    FOR_LANES r[l] = s[l];
}

static __attribute__((noinline)) void find_terms(struct terms *t, const uint32_t *v, const int32_t *c0, const int32_t *c12, int32_t size)
{
    LANE_ARRAY(int32_t, index);

    FOR_LANES index[l] = (int32_t)(v[l] >> 17) & (size - 1);
    look_up(t->c0, c0, index);
    look_up(t->c12, c12, index);
    squares(t->square, v);
}

#define UNIT(f, size)                                                                                                   \
    static __attribute__((noinline)) void f##_unit(uint32_t *restrict r, const uint32_t *a)                             \
    {                                                                                                                   \
        LANE_ARRAY(uint32_t, v);                                                                                        \
        struct terms t;                                                                                                 \
                                                                                                                        \
        FOR_LANES v[l] = ptxi_num_##f##_argument(a[l]);                                                                 \
        find_terms(&t, v, ptxi_num_##f##_c0, ptxi_num_##f##_c12, size);                                                 \
        FOR_LANES r[l] = ptxi_num_##f##_result(a[l], v[l], (struct ptxi_num_terms){ t.c0[l], t.c12[l], t.square[l] });   \
    }                                                                                                                   \
    OP( f##_approx_f32_ftz )                                                                                            \
    {                                                                                                                   \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        f##_unit(r, PTXI_SLOT(w, i->a));                                                                                \
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);                                                              \
        NEXT;                                                                                                           \
    }

/* Without .ftz, `before` of a is the unit's operand, and `after` of its result r is the result. */
#define WRAPPED(f, before, after)                                                                                       \
    OP( f##_approx_f32 )                                                                                                \
    {                                                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                                         \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                                               \
        LANE_ARRAY(uint32_t, x);                                                                                        \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        FOR_LANES x[l] = ptxi_num_mul_f32(a[l], before);                                                                \
        f##_unit(r, x);                                                                                                 \
        WRITE_LANES(d, after);                                                                                          \
        NEXT;                                                                                                           \
    }
#define SMALL ptxi_num_is_small_f32(a[l])
#define LOW (!(ptxi_num_f32(a[l]) >= -126.0f))
UNIT(rcp, 128)
UNIT(rsqrt, 128)
UNIT(sqrt, 128)
UNIT(ex2, 64)
UNIT(lg2, 64)
WRAPPED(rcp, ptxi_num_rcp_scale(a[l]), ptxi_num_mul_f32(r[l], ptxi_num_rcp_scale(a[l])))
WRAPPED(rsqrt, SMALL ? 0x1p24f : 1.0f, ptxi_num_mul_f32(r[l], SMALL ? 0x1p12f : 1.0f))
WRAPPED(sqrt, SMALL ? 0x1p24f : 1.0f, ptxi_num_mul_f32(r[l], SMALL ? 0x1p-12f : 1.0f))
WRAPPED(ex2, LOW ? 0.5f : 1.0f, ptxi_num_mul_f32(r[l], LOW ? ptxi_num_f32(r[l]) : 1.0f))
WRAPPED(lg2, SMALL ? 0x1p24f : 1.0f, ptxi_num_canon_f32(ptxi_num_f32(r[l]) - (SMALL ? 24.0f : 0.0f)))

/* --- f16 and bf16: the unit's result of the widened operand, cut --- */
static __attribute__((noinline)) void tanh_unit(uint32_t *restrict r, const uint32_t *a)
{
    for (int l = 0; l < PTXI_LANES; l++)
        r[l] = ptxi_num_tanh_approx_f32(a[l]);
}

#define WIDENED(f, type, widened, cut)                                                                                  \
    static __attribute__((noinline)) const struct ptxi_insn *f##_lanes_##type(const struct ptxi_insn *i, struct ptxi_warp *w, int n) \
    {                                                                                                                   \
        const uint16_t *all = PTXI_SLOT(w, i->a);                                                                       \
        _Alignas(64) uint16_t result[HALVES_MAX];                                                                       \
        LANE_ARRAY(uint32_t, x);                                                                                        \
        LANE_ARRAY(uint32_t, r);                                                                                        \
                                                                                                                        \
        for (int k = 0; k < n; k += PTXI_LANES) {                                                                       \
            const uint16_t *a = all + k;                                                                                \
                                                                                                                        \
            FOR_LANES x[l] = (widened);                                                                                 \
            f##_unit(r, x);                                                                                             \
            FOR_LANES result[k + l] = (cut);                                                                            \
        }                                                                                                               \
        write_halves(i, w, result, n);                                                                                  \
        NEXT;                                                                                                           \
    }                                                                                                                   \
    HALF_OPS(f##_approx, type, f##_lanes_##type)
WIDENED(ex2, f16, ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(a[l])), ptxi_num_cut_f16(r[l]))
WIDENED(ex2, bf16, (uint32_t)a[l] << 16, (uint16_t)(r[l] >> 16))
WIDENED(tanh, f16, ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(a[l])), ptxi_num_cut_f16(r[l]))
WIDENED(tanh, bf16, (uint32_t)a[l] << 16, (uint16_t)(r[l] >> 16))

/* The product with 1 / 2 pi comes before the unit and keeps subnormals, so that .ftz changes nothing. */
UNARY(sin_approx_f32, uint32_t, ptxi_num_sin_approx_f32)
UNARY(sin_approx_f32_ftz, uint32_t, ptxi_num_sin_approx_f32)
UNARY(cos_approx_f32, uint32_t, ptxi_num_cos_approx_f32)
UNARY(cos_approx_f32_ftz, uint32_t, ptxi_num_cos_approx_f32)
UNARY(tanh_approx_f32, uint32_t, ptxi_num_tanh_approx_f32)
UNARY(rcp_approx_f64, uint64_t, ptxi_num_rcp_approx_ftz_f64)
UNARY(rsqrt_approx_f64_ftz, uint64_t, ptxi_num_rsqrt_approx_ftz_f64)

UNARY(rsqrt_approx_f64, uint64_t, ptxi_num_rsqrt_approx_f64)

/* --- division: by b's reciprocal, after both were scaled alike --- */
#define DIVISION(name, scaled_b, quotient)                                     \
    OP( name )                                                                 \
    {                                                                          \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);       \
        uint32_t *d = PTXI_SLOT(w, i->d);                                      \
        LANE_ARRAY(uint32_t, x);                                               \
        LANE_ARRAY(uint32_t, r);                                               \
                                                                               \
        FOR_LANES x[l] = (scaled_b);                                           \
        rcp_unit(r, x);                                                        \
        WRITE_LANES_COLD(d, quotient);                                         \
        NEXT;                                                                  \
    }
#define DIVISION_SCALED(name, scale)                                           \
    DIVISION(name, ptxi_num_mul_f32(b[l], scale(b[l])), ptxi_num_mul_f32(ptxi_num_mul_f32(a[l], scale(b[l])), ptxi_num_f32(r[l])))
DIVISION_SCALED(div_approx_f32, ptxi_num_div_approx_scale)
DIVISION_SCALED(div_full_f32, ptxi_num_rcp_scale)
DIVISION(div_approx_f32_ftz, b[l], ptxi_num_mul_ftz_f32(r[l], a[l]))
DIVISION(div_full_f32_ftz, ptxi_num_mul_ftz_f32(b[l], ptxi_num_div_full_ftz_scale(b[l])),
         ptxi_num_mul_ftz_f32(ptxi_num_mul_ftz_f32(a[l], ptxi_num_div_full_ftz_scale(b[l])), r[l]))

/* Where contraction takes the product apart. */
OP1(scale_div_approx_f32, float, uint32_t, ptxi_num_div_approx_scale(a[l]))
OP1(scale_rcp_f32, float, uint32_t, ptxi_num_rcp_scale(a[l]))
OP1(scale_div_full_f32_ftz, uint32_t, uint32_t, ptxi_num_div_full_ftz_scale(a[l]))
