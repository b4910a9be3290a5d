/* PTX ISA, "Video Instructions".
 *
 * The scalar ones are what ptxas makes of them, plain instructions, where those differ from the pseudocode of the manual:
 * doc/numerics.md, "Video instructions". */
#include "exec/engine/op_shapes.h"
#include "isa/video.h"

/* --- scalar: intermediate results have 64 bits --- */

static const uint8_t part_at[8] = { [PTXI_PART_B1] = 8, [PTXI_PART_B2] = 16, [PTXI_PART_B3] = 24, [PTXI_PART_H1] = 16 };
static const uint32_t part_mask[8] = { UINT32_MAX, 0xff, 0xff, 0xff, 0xff, 0xffff, 0xffff, UINT32_MAX };

static inline unsigned part_of(int32_t imm, unsigned at)
{
    return (unsigned)imm >> at & PTXI_VIDEO_PART_MASK;
}

/* The selected parts, extended by sign or zeros. */
static inline void take(int64_t *restrict x, const uint32_t *words, unsigned part, bool is_signed)
{
    uint32_t mask = part_mask[part], at = part_at[part];
    int64_t sign = is_signed ? (mask >> 1) + 1 : 0;

    FOR_LANES
    x[l] = ((words[l] >> at & mask) ^ sign) - sign;
}

enum family { ADDITION, CHOICE, SHIFT }; /* which differ in the results that are out of range */

struct bounds {
    int64_t least, most, below; /* what is less than least becomes `below` */
};

static struct bounds bounds_of(int32_t imm, enum family family)
{
    uint32_t mask = part_mask[part_of(imm, PTXI_VIDEO_PART_D)];
    bool is_signed = imm & PTXI_VIDEO_SIGNED_D;

    if (mask != UINT32_MAX && family != SHIFT)
        return (struct bounds){ 0, is_signed ? mask >> 1 : mask, is_signed ? mask >> 1 : mask };
    if (is_signed)
        return (struct bounds){ INT32_MIN, INT32_MAX, INT32_MIN };
    return (struct bounds){ 0, family == SHIFT ? UINT32_MAX : INT64_MAX, 0 };
}

static void saturate(int64_t *t, struct bounds b)
{
    FOR_LANES
    t[l] = t[l] < b.least ? b.below : t[l] > b.most ? b.most : t[l];
}

static void second(int64_t *restrict t, const uint32_t *c, int32_t imm)
{
    int64_t sign = imm & PTXI_VIDEO_SIGNED_D ? (int64_t)1 << 31 : 0;      /* of c */
    int64_t bias = imm & PTXI_VIDEO_SIGNED_D ? 0 : INT64_MIN;             /* makes the comparison an unsigned one */

    if (imm & PTXI_VIDEO_ADD)
        FOR_LANES t[l] += c[l];
    else if (imm & PTXI_VIDEO_MIN)
        FOR_LANES t[l] = (t[l] ^ bias) < (((c[l] ^ sign) - sign) ^ bias) ? t[l] : c[l];
    else if (imm & PTXI_VIDEO_MAX)
        FOR_LANES t[l] = (t[l] ^ bias) > (((c[l] ^ sign) - sign) ^ bias) ? t[l] : c[l];
}

/* d = t, or c with a part of t. Of .h1 it is the upper half of t. */
static void merge(struct ptxi_warp *w, const struct ptxi_insn *i, const int64_t *t)
{
    unsigned part = part_of(i->imm, PTXI_VIDEO_PART_D), up = part == PTXI_PART_H1 ? 0 : part_at[part];
    uint32_t mask = part_mask[part] << part_at[part];
    const uint32_t *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, ((uint32_t)t[l] << up & mask) | (c[l] & ~mask));
}

static void finish(struct ptxi_warp *w, const struct ptxi_insn *i, int64_t *t, enum family family)
{
    bool sat = i->mods & PTXI_MOD_SAT;

    if (sat)
        saturate(t, bounds_of(i->imm, family));
    if (i->imm & (PTXI_VIDEO_ADD | PTXI_VIDEO_MIN | PTXI_VIDEO_MAX)) {
        if (family == ADDITION || (family == SHIFT && sat))
            FOR_LANES t[l] = (int32_t)t[l];
        second(t, PTXI_SLOT(w, i->c), i->imm);
    }
    merge(w, i, t);
}

static void sources(struct ptxi_warp *w, const struct ptxi_insn *i, int64_t *x, int64_t *y)
{
    take(x, PTXI_SLOT(w, i->a), part_of(i->imm, PTXI_VIDEO_PART_A), i->imm & PTXI_VIDEO_SIGNED_A);
    take(y, PTXI_SLOT(w, i->b), part_of(i->imm, PTXI_VIDEO_PART_B), i->imm & PTXI_VIDEO_SIGNED_B);
}

#define SCALAR(name, family, expr)             \
    OP( name )                                 \
    {                                          \
        LANE_ARRAY(int64_t, x);                \
        LANE_ARRAY(int64_t, y);                \
                                               \
        sources(w, i, x, y);                   \
        FOR_LANES                              \
        x[l] = (expr);                         \
        finish(w, i, x, family);               \
        NEXT;                                  \
    }
SCALAR(vadd, ADDITION, x[l] + y[l])
SCALAR(vsub, ADDITION, x[l] - y[l])
SCALAR(vabsdiff, CHOICE, x[l] < y[l] ? y[l] - x[l] : x[l] - y[l])
SCALAR(vmin, CHOICE, x[l] < y[l] ? x[l] : y[l])
SCALAR(vmax, CHOICE, x[l] > y[l] ? x[l] : y[l])

OP( vset )
{
    int64_t less = !!(i->imm & PTXI_VIDEO_LESS), equal = !!(i->imm & PTXI_VIDEO_EQUAL), greater = !!(i->imm & PTXI_VIDEO_GREATER);
    LANE_ARRAY(int64_t, x);
    LANE_ARRAY(int64_t, y);

    sources(w, i, x, y);
    FOR_LANES
    x[l] = x[l] < y[l] ? less : x[l] == y[l] ? equal : greater;
    finish(w, i, x, CHOICE);
    NEXT;
}

/* A result that saturates is cut to 34 bits before. */
#define SHIFTED(name, expr)                                                                     \
    OP( name )                                                                                  \
    {                                                                                           \
        unsigned cut = i->mods & PTXI_MOD_SAT ? 30 : 0;                                         \
        bool wrap = i->mods & PTXI_MOD_WRAP;                                                    \
        LANE_ARRAY(int64_t, x);                                                                 \
        LANE_ARRAY(int64_t, y);                                                                 \
                                                                                                \
        sources(w, i, x, y);                                                                    \
        FOR_LANES                                                                               \
        y[l] = wrap ? y[l] & 31 : y[l] < 32 ? y[l] : 32;                                        \
        FOR_LANES                                                                               \
        x[l] = (int64_t)((uint64_t)(expr) << cut) >> cut;                                       \
        finish(w, i, x, SHIFT);                                                                 \
        NEXT;                                                                                   \
    }
SHIFTED(vshl, (uint64_t)x[l] << y[l])
SHIFTED(vshr, x[l] >> y[l])

/* Factors and summand count as signed words once they have been selected, so that the sum has 64 bits. */
OP( vmad )
{
    const int32_t *c = PTXI_SLOT(w, i->c);
    bool is_signed = i->imm & (PTXI_VIDEO_SIGNED_A | PTXI_VIDEO_SIGNED_B | PTXI_VIDEO_MINUS_PRODUCT | PTXI_VIDEO_MINUS_C);
    int64_t product_sign = i->imm & PTXI_VIDEO_MINUS_PRODUCT ? -1 : 1, c_sign = i->imm & PTXI_VIDEO_MINUS_C ? -1 : 1;
    int64_t one = !!(i->imm & PTXI_VIDEO_PLUS_ONE);
    unsigned shift = i->imm & PTXI_VIDEO_SHR7 ? 7 : i->imm & PTXI_VIDEO_SHR15 ? 15 : 0;
    LANE_ARRAY(int64_t, x);
    LANE_ARRAY(int64_t, y);

    sources(w, i, x, y);
    FOR_LANES
    x[l] = (int64_t)(int32_t)x[l] * (int32_t)y[l] * product_sign + c_sign * c[l] + one;
    if (is_signed)
        FOR_LANES x[l] >>= shift;
    else
        FOR_LANES x[l] = (int64_t)((uint64_t)x[l] >> shift);
    if (i->mods & PTXI_MOD_SAT)
        saturate(x, is_signed ? (struct bounds){ INT32_MIN, INT32_MAX, INT32_MIN } : (struct bounds){ 0, UINT32_MAX, 0 });
    merge(w, i, x);
    NEXT;
}

/* --- SIMD: the elements of all lanes side by side; intermediate results are twice as wide as they are --- */
#define FOR_ELEMENTS(count) PTXI_SIMD for (int e = 0; e < PTXI_LANES * count; e++)

#define SIMD_FINISH(n, count, type, type_min, type_max)                                                                \
    static void accumulate_##count(struct ptxi_warp *w, const struct ptxi_insn *i, const type *t)                      \
    {                                                                                                                  \
        LANE_ARRAY(uint32_t, sum);                                                                                     \
                                                                                                                       \
        memcpy(sum, PTXI_SLOT(w, i->c), sizeof sum);                                                                   \
        for (int k = 0; k < count; k++)                                                                                \
            if (i->imm >> k & 1)                                                                                       \
                FOR_LANES sum[l] += (uint32_t)t[count * l + k];                                                        \
        write_buffer(PTXI_SLOT(w, i->d), sum, w->active, sizeof *sum);                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static void finish_##count(struct ptxi_warp *w, const struct ptxi_insn *i, const type *t)                          \
    {                                                                                                                  \
        bool sat = i->mods & PTXI_MOD_SAT, is_signed = i->imm & PTXI_VIDEO_SIGNED_D;                                   \
        type least = !sat ? type_min : is_signed ? INT##n##_MIN : 0, most = !sat ? type_max : is_signed ? INT##n##_MAX : UINT##n##_MAX; \
        const uint32_t *c = PTXI_SLOT(w, i->c);                                                                        \
        uint32_t *d = PTXI_SLOT(w, i->d), mask = 0;                                                                    \
        _Alignas(64) union {                                                                                           \
            uint##n##_t elements[PTXI_LANES * count];                                                                  \
            uint32_t words[PTXI_LANES];                                                                                \
        } r;                                                                                                           \
                                                                                                                       \
        if (i->imm & PTXI_VIDEO_ADD) {                                                                                 \
            accumulate_##count(w, i, t);                                                                               \
            return;                                                                                                    \
        }                                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            mask |= i->imm >> k & 1 ? (uint32_t)UINT##n##_MAX << n * k : 0;                                            \
        FOR_ELEMENTS(count)                                                                                            \
        r.elements[e] = (uint##n##_t)(t[e] < least ? least : t[e] > most ? most : t[e]);                               \
        WRITE_LANES(d, (r.words[l] & mask) | (c[l] & ~mask));                                                          \
    }
SIMD_FINISH(16, 2, int32_t, INT32_MIN, INT32_MAX)
SIMD_FINISH(8, 4, int16_t, INT16_MIN, INT16_MAX)

#define SIMD_OP(name, n, count, type, expr)                                                            \
    OP( name##count )                                                                                  \
    {                                                                                                  \
        const uint##n##_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                            \
        type sign_a = i->imm & PTXI_VIDEO_SIGNED_A ? 1 << (n - 1) : 0, sign_b = i->imm & PTXI_VIDEO_SIGNED_B ? 1 << (n - 1) : 0; \
        type less __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_LESS), equal __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_EQUAL); \
        type greater __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_GREATER);                        \
        _Alignas(64) type t[PTXI_LANES * count];                                                       \
                                                                                                       \
        FOR_ELEMENTS(count)                                                                            \
        {                                                                                              \
            type x = (type)((a[e] ^ sign_a) - sign_a), y = (type)((b[e] ^ sign_b) - sign_b);           \
                                                                                                       \
            t[e] = (type)(expr);                                                                       \
        }                                                                                              \
        finish_##count(w, i, t);                                                                       \
        NEXT;                                                                                          \
    }
#define SIMD(name, expr) SIMD_OP(name, 16, 2, int32_t, expr) SIMD_OP(name, 8, 4, int16_t, expr)
SIMD(vadd, x + y)
SIMD(vsub, x - y)
SIMD(vavrg, (x + y + (x + y >= 0)) >> 1)
SIMD(vabsdiff, x < y ? y - x : x - y)
SIMD(vmin, x < y ? x : y)
SIMD(vmax, x > y ? x : y)
SIMD(vset, x < y ? less : x == y ? equal : greater)
