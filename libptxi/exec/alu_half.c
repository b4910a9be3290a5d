/* PTX ISA, "Half Precision Floating Point Instructions". All have one rounding; .ftz, .sat, .relu, .NaN and .oob are read from mods,
 * once for all lanes. */
#include "exec/halves.h"

typedef const struct ptxi_insn *lanes_function(const struct ptxi_insn *i, struct ptxi_warp *w, int n);
#define LANES_FUNCTION static __attribute__((noinline)) const struct ptxi_insn *

/* A source. In lanes that are off an integer may rest, which as a float is subnormal, and hosts compute slowly with those: `copy`
 * then has zeros instead. */
static __attribute__((noinline)) const uint16_t *copy_active(const uint16_t *a, uint16_t *copy, int n, ptxi_lanes on)
{
    memset(copy, 0, HALVES_MAX * sizeof *copy);
    if (n == PTXI_LANES)
        ptxi_merge_16(copy, a, on);
    else
        ptxi_merge_32(copy, a, on);
    return copy;
}

static inline const uint16_t *source(const struct ptxi_warp *w, uint16_t slot, uint16_t *copy, int n)
{
    const uint16_t *a = PTXI_SLOT(w, slot);

    return __builtin_expect(w->active == PTXI_ALL_LANES, 1) ? a : copy_active(a, copy, n, w->active);
}

/* Results after rounding. */
LANES_FUNCTION finish(const struct ptxi_insn *i, struct ptxi_warp *w, uint16_t *r, int n, uint16_t inf)
{
    if (i->mods & PTXI_MOD_SAT) /* of f16 only */
        FOR_HALVES(n) r[l] = ptxi_num_sat_f16(ptxi_num_canon_half(r[l], ptxi_num_f16.inf));
    else if (i->mods & PTXI_MOD_RELU)
        FOR_HALVES(n) r[l] = ptxi_num_relu_half(ptxi_num_canon_half(r[l], inf));
    else
        FOR_HALVES(n) r[l] = ptxi_num_canon_half(r[l], inf);
    write_halves(i, w, r, n);
    NEXT;
}

/* --- f16 --- */
/* r = expr of the floats x, y and z that a, b and c are. */
#define F16(name, third, expr)                                                                                  \
    static inline __attribute__((always_inline)) void name##_elements_f16(                                   \
        uint16_t *restrict r, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n, bool ftz)      \
    {                                                                                                        \
        for (int k = 0; k < n; k += HALF_BLOCK) {                                                            \
            float fa[HALF_BLOCK], fb[HALF_BLOCK], fc[HALF_BLOCK], s[HALF_BLOCK];                             \
                                                                                                             \
            widen_f16(fa, a + k);                                                                            \
            widen_f16(fb, b + k);                                                                            \
            widen_f16(fc, c + k);                                                                            \
            FOR_BLOCK {                                                                                      \
                float x = ftz ? ptxi_num_flush_f16(fa[l]) : fa[l], y = ftz ? ptxi_num_flush_f16(fb[l]) : fb[l]; \
                float z = ftz ? ptxi_num_flush_f16(fc[l]) : fc[l], sum = (expr);                             \
                                                                                                             \
                (void)z;                                                                                     \
                s[l] = ftz ? ptxi_num_flush_result_f16(sum) : sum;                                           \
            }                                                                                                \
            narrow_f16(r + k, s);                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    LANES_FUNCTION name##_lanes_f16(const struct ptxi_insn *i, struct ptxi_warp *w, int n)                   \
    {                                                                                                        \
        _Alignas(64) uint16_t r[HALVES_MAX], copy[3][HALVES_MAX];                                            \
        const uint16_t *a = source(w, i->a, copy[0], n);                                                \
        const uint16_t *b = source(w, i->b, copy[1], n), *c = third;                                    \
                                                                                                             \
        if (i->mods & PTXI_MOD_FTZ)                                                                          \
            name##_elements_f16(r, a, b, c, n, true);                                                        \
        else                                                                                                 \
            name##_elements_f16(r, a, b, c, n, false);                                                       \
        return finish(i, w, r, n, ptxi_num_f16.inf);                                                             \
    }
F16(add, b, x + y)
F16(sub, b, x - y)
F16(mul, b, x * y)
F16(fma, source(w, i->c, copy[2], n), ptxi_num_fma_odd_f32(x, y, z))
HALF_OPS(add, f16, add_lanes_f16)
HALF_OPS(sub, f16, sub_lanes_f16)
HALF_OPS(mul, f16, mul_lanes_f16)

/* --- bf16 --- */
#define BF16(name, expr)                                                                                     \
    LANES_FUNCTION name##_lanes_bf16(const struct ptxi_insn *i, struct ptxi_warp *w, int n)                  \
    {                                                                                                        \
        _Alignas(64) uint16_t r[HALVES_MAX], copy[2][HALVES_MAX];                                            \
        const uint16_t *a = source(w, i->a, copy[0], n), *b = source(w, i->b, copy[1], n);         \
                                                                                                             \
        FOR_HALVES(n) {                                                                                      \
            float x = ptxi_num_f32_from_bf16(a[l]), y = ptxi_num_f32_from_bf16(b[l]);                        \
                                                                                                             \
            r[l] = ptxi_num_bf16_nearest(expr);                                                              \
        }                                                                                                    \
        return finish(i, w, r, n, ptxi_num_bf16.inf);                                                            \
    }
BF16(add, x + y)
BF16(sub, x - y)
BF16(mul, x * y)
HALF_OPS(add, bf16, add_lanes_bf16)
HALF_OPS(sub, bf16, sub_lanes_bf16)
HALF_OPS(mul, bf16, mul_lanes_bf16)

/* True if there is what looks like a tie. */
static inline bool fma_elements_bf16(uint16_t *restrict r, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    uint32_t ties = 0;

    FOR_HALVES(n) {
        float s = ptxi_num_fma_f32(ptxi_num_f32_from_bf16(a[l]), ptxi_num_f32_from_bf16(b[l]), ptxi_num_f32_from_bf16(c[l]));

        ties |= ptxi_num_is_tie_bf16(s);
        r[l] = ptxi_num_bf16_nearest(s);
    }
    return ties;
}

static __attribute__((noinline)) void fma_ties_bf16(uint16_t *restrict r, const uint16_t *a, const uint16_t *b, const uint16_t *c, int n)
{
    FOR_HALVES(n)
    r[l] = ptxi_num_bf16_nearest(ptxi_num_fma_bf16(ptxi_num_f32_from_bf16(a[l]), ptxi_num_f32_from_bf16(b[l]), ptxi_num_f32_from_bf16(c[l])));
}

LANES_FUNCTION fma_lanes_bf16(const struct ptxi_insn *i, struct ptxi_warp *w, int n)
{
    _Alignas(64) uint16_t r[HALVES_MAX], copy[3][HALVES_MAX];
    const uint16_t *a = source(w, i->a, copy[0], n), *b = source(w, i->b, copy[1], n), *c = source(w, i->c, copy[2], n);

    if (fma_elements_bf16(r, a, b, c, n))
        fma_ties_bf16(r, a, b, c, n);
    return finish(i, w, r, n, ptxi_num_bf16.inf);
}

/* .oob: +0 if a factor is what stands for an element outside of a tensor. */
static inline const struct ptxi_insn *fma_oob(const struct ptxi_insn *i, struct ptxi_warp *w, int n, lanes_function *fma)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    _Alignas(64) uint16_t inside[HALVES_MAX], r[HALVES_MAX];
    uint16_t *d = PTXI_SLOT(w, i->d);

    FOR_HALVES(n) inside[l] = (a[l] & 0x7fff) == PTXI_OOB_NAN || (b[l] & 0x7fff) == PTXI_OOB_NAN ? 0 : 0xffff;
    fma(i, w, n);
    FOR_HALVES(n) r[l] = d[l] & inside[l];
    write_halves(i, w, r, n);
    NEXT;
}
HALF_OPS(fma, f16, fma_lanes_f16)
HALF_OPS(fma, bf16, fma_lanes_bf16)
HALF_OPS(fma_oob, f16, fma_oob, fma_lanes_f16)
HALF_OPS(fma_oob, bf16, fma_oob, fma_lanes_bf16)

/* --- signs --- */
LANES_FUNCTION change_sign(const struct ptxi_insn *i, struct ptxi_warp *w, int n, uint16_t inf, uint16_t keep, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    uint16_t least = i->mods & PTXI_MOD_FTZ ? 0x0400 : 0;
    _Alignas(64) uint16_t r[HALVES_MAX];

    FOR_HALVES(n) {
        uint16_t x = (a[l] & 0x7fff) < least ? a[l] & 0x8000 : a[l];

        r[l] = ptxi_num_canon_half((x & keep) ^ flip, inf);
    }
    write_halves(i, w, r, n);
    NEXT;
}
HALF_OPS(neg, f16, change_sign, ptxi_num_f16.inf, 0xffff, 0x8000)
HALF_OPS(abs, f16, change_sign, ptxi_num_f16.inf, 0x7fff, 0)
HALF_OPS(neg, bf16, change_sign, ptxi_num_bf16.inf, 0xffff, 0x8000)
HALF_OPS(abs, bf16, change_sign, ptxi_num_bf16.inf, 0x7fff, 0)

/* --- min, max --- */
LANES_FUNCTION minmax(const struct ptxi_insn *i, struct ptxi_warp *w, int n, uint16_t inf, uint16_t flip)
{
    const uint16_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    struct ptxi_num_minmax how = { .inf = inf, .flip = flip,
                                   .least = i->mods & PTXI_MOD_FTZ ? 0x0400 : 0,
                                   .drop = i->mods & PTXI_MOD_XORSIGN ? 0x8000 : 0,
                                   .nan = i->mods & PTXI_MOD_NAN ? 0xffff : 0 };
    _Alignas(64) uint16_t r[HALVES_MAX];

    FOR_HALVES(n) r[l] = ptxi_num_minmax_half(a[l], b[l], how);
    write_halves(i, w, r, n);
    NEXT;
}
HALF_OPS(min, f16, minmax, ptxi_num_f16.inf, 0)
HALF_OPS(max, f16, minmax, ptxi_num_f16.inf, 0xffff)
HALF_OPS(min, bf16, minmax, ptxi_num_bf16.inf, 0)
HALF_OPS(max, bf16, minmax, ptxi_num_bf16.inf, 0xffff)
