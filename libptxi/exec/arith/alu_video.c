/* PTX ISA, "Video Instructions".
 *
 * The scalar instructions compute what the code that ptxas generates for them computes. It differs from the
 * pseudocode of the manual in some cases: doc/explanation/numerics.md, "Video instructions". */
#include "exec/engine/op_shapes.h"
#include "isa/video.h"

/* --- scalar instructions: intermediate results have 64 bits --- */

/* The position and the mask of a part, by its selector. */
static const uint8_t part_shift[8] = {
    [PTXI_PART_B1] = 8, [PTXI_PART_B2] = 16, [PTXI_PART_B3] = 24, [PTXI_PART_H1] = 16,
};
static const uint32_t part_mask[8] = { UINT32_MAX, 0xff, 0xff, 0xff, 0xff, 0xffff, 0xffff, UINT32_MAX };

static inline unsigned part_selector(int32_t imm, unsigned at)
{
    _Static_assert(PTXI_VIDEO_PART_MASK < sizeof part_mask / sizeof *part_mask, "a selector is an index of part_mask");
    return (unsigned)imm >> at & PTXI_VIDEO_PART_MASK;
}

/* The selected parts of words, sign- or zero-extended. */
static inline void extract_part(int64_t *restrict x, const uint32_t *words, unsigned part, bool is_signed)
{
    uint32_t mask = part_mask[part], at = part_shift[part];
    int64_t sign = is_signed ? (mask >> 1) + 1 : 0;

    FOR_LANES x[l] = ((words[l] >> at & mask) ^ sign) - sign;
}

enum video_family { VIDEO_ADD_SUB, VIDEO_SELECT, VIDEO_SHIFT }; /* they saturate differently */

struct bounds {
    int64_t least, most;
    int64_t below; /* result for values less than `least` */
};

static struct bounds bounds_of(int32_t imm, enum video_family family)
{
    uint32_t mask = part_mask[part_selector(imm, PTXI_VIDEO_PART_D)];
    bool is_signed = imm & PTXI_VIDEO_SIGNED_D;
    uint32_t part_max = is_signed ? mask >> 1 : mask;

    if (mask != UINT32_MAX && family != VIDEO_SHIFT)
        return (struct bounds){ 0, part_max, part_max };
    if (is_signed)
        return (struct bounds){ INT32_MIN, INT32_MAX, INT32_MIN };
    return (struct bounds){ 0, family == VIDEO_SHIFT ? UINT32_MAX : INT64_MAX, 0 };
}

static void saturate_lanes(int64_t *t, struct bounds b)
{
    FOR_LANES {
        int64_t x = t[l] > b.most ? b.most : t[l];

        t[l] = x < b.least ? b.below : x;
    }
}

static void apply_secondary_op(int64_t *restrict t, const uint32_t *c, int32_t imm)
{
    int64_t sign = imm & PTXI_VIDEO_SIGNED_D ? (int64_t)1 << 31 : 0;      /* sign bit of c */
    int64_t bias = imm & PTXI_VIDEO_SIGNED_D ? 0 : INT64_MIN;             /* maps signed to unsigned order */

    if (imm & PTXI_VIDEO_ADD)
        FOR_LANES t[l] += c[l];
    else if (imm & PTXI_VIDEO_MIN)
        FOR_LANES t[l] = (t[l] ^ bias) < (((c[l] ^ sign) - sign) ^ bias) ? t[l] : c[l];
    else if (imm & PTXI_VIDEO_MAX)
        FOR_LANES t[l] = (t[l] ^ bias) > (((c[l] ^ sign) - sign) ^ bias) ? t[l] : c[l];
}

/* d = t, or c with one part replaced. For .h1, it is the upper half of t. */
static void merge_part(struct ptxi_warp *w, const struct ptxi_insn *i, const int64_t *t)
{
    unsigned part = part_selector(i->imm, PTXI_VIDEO_PART_D), up = part == PTXI_PART_H1 ? 0 : part_shift[part];
    uint32_t mask = part_mask[part] << part_shift[part];
    const uint32_t *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, ((uint32_t)t[l] << up & mask) | (c[l] & ~mask));
}

static void finish_scalar(struct ptxi_warp *w, const struct ptxi_insn *i, int64_t *t, enum video_family family)
{
    bool sat = i->mods & PTXI_MOD_SAT;

    if (sat)
        saturate_lanes(t, bounds_of(i->imm, family));
    if (i->imm & (PTXI_VIDEO_ADD | PTXI_VIDEO_MIN | PTXI_VIDEO_MAX)) {
        if (family == VIDEO_ADD_SUB || (family == VIDEO_SHIFT && sat))
            FOR_LANES t[l] = (int32_t)t[l];
        apply_secondary_op(t, PTXI_SLOT(w, i->c), i->imm);
    }
    merge_part(w, i, t);
}

static void extract_sources(struct ptxi_warp *w, const struct ptxi_insn *i, int64_t *x, int64_t *y)
{
    extract_part(x, PTXI_SLOT(w, i->a), part_selector(i->imm, PTXI_VIDEO_PART_A), i->imm & PTXI_VIDEO_SIGNED_A);
    extract_part(y, PTXI_SLOT(w, i->b), part_selector(i->imm, PTXI_VIDEO_PART_B), i->imm & PTXI_VIDEO_SIGNED_B);
}

#define SCALAR_OP(name, family, expr)   \
    OP( name )                          \
    {                                   \
        LANE_ARRAY(int64_t, x);         \
        LANE_ARRAY(int64_t, y);         \
                                        \
        extract_sources(w, i, x, y);    \
        FOR_LANES x[l] = (expr);        \
        finish_scalar(w, i, x, family); \
        NEXT;                           \
    }
SCALAR_OP(vadd, VIDEO_ADD_SUB, x[l] + y[l])
SCALAR_OP(vsub, VIDEO_ADD_SUB, x[l] - y[l])
SCALAR_OP(vabsdiff, VIDEO_SELECT, x[l] < y[l] ? y[l] - x[l] : x[l] - y[l])
SCALAR_OP(vmin, VIDEO_SELECT, x[l] < y[l] ? x[l] : y[l])
SCALAR_OP(vmax, VIDEO_SELECT, x[l] > y[l] ? x[l] : y[l])

OP( vset )
{
    int64_t less = !!(i->imm & PTXI_VIDEO_LESS);
    int64_t equal = !!(i->imm & PTXI_VIDEO_EQUAL);
    int64_t greater = !!(i->imm & PTXI_VIDEO_GREATER);
    LANE_ARRAY(int64_t, x);
    LANE_ARRAY(int64_t, y);

    extract_sources(w, i, x, y);
    FOR_LANES {
        int64_t not_less = x[l] == y[l] ? equal : greater;

        x[l] = x[l] < y[l] ? less : not_less;
    }
    finish_scalar(w, i, x, VIDEO_SELECT);
    NEXT;
}

/* A result that will be saturated is first truncated to 34 bits. */
#define SHIFT_OP(name, expr)                                        \
    OP( name )                                                      \
    {                                                               \
        unsigned cut = i->mods & PTXI_MOD_SAT ? 30 : 0;             \
        bool wrap = i->mods & PTXI_MOD_WRAP;                        \
        LANE_ARRAY(int64_t, x);                                     \
        LANE_ARRAY(int64_t, y);                                     \
                                                                    \
        extract_sources(w, i, x, y);                                \
        if (wrap)                                                   \
            FOR_LANES y[l] &= 31;                                   \
        else                                                        \
            FOR_LANES y[l] = y[l] < 32 ? y[l] : 32;                 \
        FOR_LANES x[l] = (int64_t)((uint64_t)(expr) << cut) >> cut; \
        finish_scalar(w, i, x, VIDEO_SHIFT);                        \
        NEXT;                                                       \
    }
SHIFT_OP(vshl, (uint64_t)x[l] << y[l])
SHIFT_OP(vshr, x[l] >> y[l])

/* The selected factors and the summand count as signed words, so that the sum has 64 bits. */
OP( vmad )
{
    const int32_t *c = PTXI_SLOT(w, i->c);
    const int32_t makes_signed =
        PTXI_VIDEO_SIGNED_A | PTXI_VIDEO_SIGNED_B | PTXI_VIDEO_MINUS_PRODUCT | PTXI_VIDEO_MINUS_C;
    bool is_signed = i->imm & makes_signed;
    int64_t product_sign = i->imm & PTXI_VIDEO_MINUS_PRODUCT ? -1 : 1;
    int64_t c_sign = i->imm & PTXI_VIDEO_MINUS_C ? -1 : 1;
    int64_t one = !!(i->imm & PTXI_VIDEO_PLUS_ONE);
    unsigned shift = 0;
    struct bounds bounds = { 0, UINT32_MAX, 0 };
    LANE_ARRAY(int64_t, x);
    LANE_ARRAY(int64_t, y);

    if (i->imm & PTXI_VIDEO_SHR7)
        shift = 7;
    else if (i->imm & PTXI_VIDEO_SHR15)
        shift = 15;
    extract_sources(w, i, x, y);
    FOR_LANES x[l] = (int64_t)(int32_t)x[l] * (int32_t)y[l] * product_sign + c_sign * c[l] + one;
    if (is_signed)
        FOR_LANES x[l] >>= shift;
    else
        FOR_LANES x[l] = (int64_t)((uint64_t)x[l] >> shift);
    if (is_signed)
        bounds = (struct bounds){ INT32_MIN, INT32_MAX, INT32_MIN };
    if (i->mods & PTXI_MOD_SAT)
        saturate_lanes(x, bounds);
    merge_part(w, i, x);
    NEXT;
}

/* --- SIMD instructions: arrays of the elements of all lanes; intermediate results are twice as wide as elements --- */
#define FOR_ELEMENTS(count) PTXI_SIMD for (int e = 0; e < PTXI_LANES * count; e++)

#define ELEMENT_BITS 16
#define ELEMENT_COUNT 2
#define WIDE int32_t
#define WIDE_MIN INT32_MIN
#define WIDE_MAX INT32_MAX
#include "exec/arith/alu_video_simd_inl.h"
#define ELEMENT_BITS 8
#define ELEMENT_COUNT 4
#define WIDE int16_t
#define WIDE_MIN INT16_MIN
#define WIDE_MAX INT16_MAX
#include "exec/arith/alu_video_simd_inl.h"

/* expr: the result for the elements x and y. */
#define SIMD_OP(name, n, count, type, expr)                                                             \
    OP( name##count )                                                                                   \
    {                                                                                                   \
        const uint##n##_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                             \
        const type sign = 1 << (n - 1);                                                                 \
        type sign_a = i->imm & PTXI_VIDEO_SIGNED_A ? sign : 0;                                          \
        type sign_b = i->imm & PTXI_VIDEO_SIGNED_B ? sign : 0;                                          \
        type less __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_LESS);                               \
        type equal __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_EQUAL);                             \
        type greater __attribute__((unused)) = !!(i->imm & PTXI_VIDEO_GREATER);                         \
        _Alignas(64) type t[PTXI_LANES * count];                                                        \
                                                                                                        \
        FOR_ELEMENTS(count) {                                                                           \
            type x = (type)((a[e] ^ sign_a) - sign_a), y = (type)((b[e] ^ sign_b) - sign_b);            \
                                                                                                        \
            t[e] = (type)(expr);                                                                        \
        }                                                                                               \
        finish_simd_##count(w, i, t);                                                                   \
        NEXT;                                                                                           \
    }
#define SIMD(name, expr) SIMD_OP(name, 16, 2, int32_t, expr) SIMD_OP(name, 8, 4, int16_t, expr)
SIMD(vadd, x + y)
SIMD(vsub, x - y)
SIMD(vavrg, (x + y + (x + y >= 0)) >> 1)
SIMD(vabsdiff, x < y ? y - x : x - y)
SIMD(vmin, x < y ? x : y)
SIMD(vmax, x > y ? x : y)
#define EQUAL_OR_GREATER(x, y) (x == y ? equal : greater)
SIMD(vset, x < y ? less : EQUAL_OR_GREATER(x, y))
