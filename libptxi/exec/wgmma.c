/* wgmma: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". Each warp computes its 16 rows of D when it comes to
 * the instruction, before it goes on; only shared memory is common to the warps, and it must not change until all of them are done. So
 * a warp that waits for its groups waits until the other warps of the warpgroup have computed theirs. */
#include <string.h>

#include "exec/level.h"
#include "exec/memory.h"
#include "exec/tile.h"
#include "isa/fragment.h"

enum { M = 16, N = 256, UNIT = 16 /* bytes that stay together */, LINE = 64 /* most bytes of a line */, K = LINE /* most elements wider than a bit */ };

static inline const struct ptxi_wgmma *description(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_wgmma *)(w->frame->code->pool + i->imm);
}

/* Operands in `slots`. */
static inline unsigned registers_of_d(const struct ptxi_wgmma *x)
{
    return x->kind == PTXI_WGMMA_F16 ? x->n / 4u : x->n / 2u;
}

static inline const uint16_t *a_slots(const struct ptxi_wgmma *x)
{
    return x->slots + 2 * registers_of_d(x);
}

/* B's descriptor, the metadata, scale-d */
static inline const uint16_t *b_slots(const struct ptxi_wgmma *x)
{
    return a_slots(x) + (x->a_in_memory ? 1 : 4);
}

/* The value that is the same for all lanes of a warp of 32. */
static inline uint64_t descriptor_of(const struct ptxi_warp *w, uint16_t slot, unsigned first)
{
    return ((const uint64_t *)PTXI_SLOT(w, slot))[ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32))];
}

static inline const void *lanes_of(const struct ptxi_warp *w, uint16_t slot, unsigned first, unsigned bytes)
{
    return (const unsigned char *)PTXI_SLOT(w, slot) + first * bytes;
}

/* --- matrices in shared memory --- */

/* PTX ISA, "Matrix Descriptor Format" */
struct matrix {
    uint32_t start, leading, stride, base;
    unsigned width; /* bytes of a row of the pattern; without swizzling UNIT */
    bool turned;    /* M or N major */
};

static struct matrix describe(uint64_t d, bool turned)
{
    static const uint8_t widths[] = { UNIT, 128, 64, 32 };

    return (struct matrix){ (uint32_t)(d & 0x3fff) << 4, (uint32_t)(d >> 16 & 0x3fff) << 4, (uint32_t)(d >> 32 & 0x3fff) << 4, d >> 49 & 7,
                            widths[d >> 62], turned };
}

/* The offset of unit `unit` of row `row`, where rows are what lies in units: lines of A and B, or if turned what is across them.
 * PTX ISA, "Canonical Layouts": eight rows of the pattern, then the next eight. */
static inline uint32_t place(const struct matrix *x, unsigned row, unsigned unit)
{
    unsigned units = x->width / UNIT;
    uint32_t at = x->start + row % 8 * x->width + unit % units * UNIT;

    if (units == 1 && x->turned)
        at += unit * x->stride + row / 8 * x->leading;
    else
        at += unit / units * x->leading + row / 8 * x->stride;
    if (units > 1)
        at ^= (((at >> 7) - x->base) & (units - 1)) * UNIT;
    return at & 0x3ffff;
}

static bool read_unit(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t at, void *to)
{
    const unsigned char *p = w->shared + at;

    if (at + UNIT > w->shared_size && !(p = ptxi_mem_at(w, i, ptxi_first_lane(w->active), PTXI_MS_SHARED, at, UNIT, UNIT, PTXI_ACCESS_LOAD)))
        return false;
    memcpy(to, p, UNIT);
    return true;
}

/* Lines from number `from` on, `bytes` long; false after a fault. */
static bool read_lines(struct ptxi_warp *w, const struct ptxi_insn *i, const struct matrix *x, unsigned from, unsigned count, unsigned bytes,
                       unsigned char (*line)[LINE])
{
    uint16_t unit[UNIT / 2];

    for (unsigned l = 0; l < count && !x->turned; l++)
        for (unsigned u = 0; u < bytes / UNIT; u++)
            if (!read_unit(w, i, place(x, from + l, u), line[l] + u * UNIT))
                return false;
    for (unsigned k = 0; k < bytes / 2 && x->turned; k++) /* elements of 16 bits only */
        for (unsigned u = 0; u < count / 8; u++) {
            if (!read_unit(w, i, place(x, k, from / 8 + u), unit))
                return false;
            for (unsigned e = 0; e < 8; e++)
                memcpy(line[u * 8 + e] + 2 * k, &unit[e], 2);
        }
    return true;
}

/* --- operands --- */

struct operands {
    _Alignas(64) unsigned char a[M][LINE], b[N][LINE];
    uint8_t column[M][K]; /* sparse: which columns the stored elements of A are */
    unsigned stored;      /* elements of a row of A */
};

static bool read_a(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    const uint16_t *slots = a_slots(x);
    unsigned rank = (w->first_thread + first) / 32 % 4;

    if (x->a_in_memory) {
        struct matrix m = describe(descriptor_of(w, slots[0], first), x->turn_a);

        return read_lines(w, i, &m, M * rank, M, 32, t->a);
    }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned g = 0; g < 8; g++)
            memcpy(t->a[r % 2 * 8 + g] + r / 2 * UNIT, (const uint32_t *)lanes_of(w, slots[r], first, 4) + 4 * g, UNIT);
    return true;
}

/* Floats with the other sign. */
static void negate(const struct ptxi_wgmma *x, unsigned char (*line)[LINE], unsigned lines)
{
    uint32_t sign = x->bits == 32 ? 0x80000000 : x->bits == 16 ? 0x80008000 : 0x80808080, word;

    for (unsigned k = 0; k < lines * LINE; k += sizeof word) {
        memcpy(&word, line[0] + k, sizeof word);
        word ^= sign;
        memcpy(line[0] + k, &word, sizeof word);
    }
}

static bool read_operands(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    struct matrix b = describe(descriptor_of(w, b_slots(x)[0], first), x->turn_b);

    t->stored = x->sparse ? x->k / 2u : x->k;
    if (!read_a(w, i, x, first, t) || !read_lines(w, i, &b, 0, x->n, x->k * x->bits / 8, t->b))
        return false;
    if (x->negate_a)
        negate(x, t->a, M);
    if (x->negate_b)
        negate(x, t->b, x->n);
    if (x->sparse)
        ptxi_sparse_columns(x->bits, x->k, x->selector, lanes_of(w, b_slots(x)[1], first, 4), t->column[0], K);
    return true;
}

/* --- floats --- */

/* What ptxi_dot() takes. */
static void read_codes(const struct ptxi_wgmma *x, const unsigned char *line, unsigned count, uint32_t *code)
{
    for (unsigned k = 0; k < count; k++) {
        uint32_t word = 0;

        memcpy(&word, line + k * x->bits / 8, x->bits / 8);
        code[k] = x->bits == 32 ? word >> 13 : word;
    }
}

/* Elements of eight columns whose `bad` is set, one by one, from what they are added to. */
static __attribute__((noinline)) void exactly(const struct ptxi_wgmma *x, const struct ptxi_dot_model *model, const struct operands *t, unsigned n,
                                              const uint32_t *bad, const uint32_t *before, uint32_t *c)
{
    uint32_t a[K], b[K], chosen[K];

    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        unsigned m = l % M;

        if (!bad[l])
            continue;
        read_codes(x, t->a[m], t->stored, a);
        read_codes(x, t->b[n + l / M], x->k, b);
        for (unsigned k = 0; k < t->stored; k++)
            chosen[k] = b[x->sparse ? t->column[m][k] : k];
        c[l] = ptxi_dot(model, (enum ptxi_dot_type)x->a, (enum ptxi_dot_type)x->b, a, chosen, t->stored, before[l]);
    }
}

/* The columns of A where its elements belong, as 16 bits (fewer have zeros above) or 32; what a sparse A does not store is 0. */
#define COLUMNS_OF_A(name, type, from)                                                                                  \
    static void name(const struct ptxi_wgmma *x, const struct operands *t, type (*a)[M])                                \
    {                                                                                                                   \
        if (x->sparse)                                                                                                  \
            memset(a, 0, x->k * sizeof *a);                                                                             \
        for (unsigned m = 0; m < M; m++) {                                                                              \
            from stored[LINE / sizeof(from)];                                                                           \
                                                                                                                        \
            memcpy(stored, t->a[m], sizeof stored);                                                                     \
            for (unsigned k = 0; k < t->stored; k++)                                                                    \
                a[x->sparse ? t->column[m][k] : k][m] = stored[k];                                                      \
        }                                                                                                               \
    }
COLUMNS_OF_A(columns_8, uint16_t, uint8_t)
COLUMNS_OF_A(columns_16, uint16_t, uint16_t)
COLUMNS_OF_A(columns_32, uint32_t, uint32_t)
#undef COLUMNS_OF_A

static void fill_a(const struct ptxi_wgmma *x, const struct operands *t, struct ptxi_tile *tile)
{
    union {
        _Alignas(64) uint16_t narrow[K][M];
        _Alignas(64) uint32_t wide[K][M];
    } a;

    if (x->bits == 32) {
        columns_32(x, t, a.wide);
        ptxi_tile_tf32(a.wide[0], tile->a[0], tile->ea[0], x->k * M);
        return;
    }
    (x->bits == 16 ? columns_16 : columns_8)(x, t, a.narrow);
    ptxi_tile_widen((enum ptxi_dot_type)x->a, false, a.narrow[0], tile->a[0], tile->ea[0], x->k * M);
}

static void fill_b(const struct ptxi_wgmma *x, const struct operands *t, unsigned n, struct ptxi_tile *tile)
{
    _Alignas(64) uint16_t code[K];
    _Alignas(64) uint32_t word[LINE / 4];

    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        const unsigned char *line = t->b[n + l];

        if (x->bits == 32) {
            memcpy(word, line, LINE);
            ptxi_tile_tf32(word, tile->b[l], tile->eb[l], x->k);
            continue;
        }
        if (x->bits == 16)
            memcpy(code, line, LINE);
        for (unsigned k = 0; k < x->k && x->bits == 8; k++)
            code[k] = line[k];
        ptxi_tile_widen((enum ptxi_dot_type)x->b, false, code, tile->b[l], tile->eb[l], x->k);
    }
}

/* Eight columns of D; what a sparse A does not store does not count for the length of a chunk. */
static void add_floats(const struct ptxi_wgmma *x, const struct operands *t, unsigned n, struct ptxi_tile *tile, uint32_t *c)
{
    _Alignas(64) uint32_t bad[PTXI_TILE_OUT] = { 0 }, before[PTXI_TILE_OUT];
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);

    memcpy(before, c, sizeof before);
    fill_b(x, t, n, tile);
    if (__builtin_expect(ptxi_tile_dot(&model, tile, 0, x->k, model.chunk * (x->sparse ? 2u : 1u), c, bad), 0))
        exactly(x, &model, t, n, bad, before, c);
}

/* --- integers and bits --- */

static void fill_integers(const struct ptxi_wgmma *x, const struct operands *t, int16_t (*a)[M])
{
    uint16_t code[K][M];

    columns_8(x, t, code);
    for (unsigned l = 0; l < x->k * (unsigned)M; l++)
        a[l / M][l % M] = x->a ? (int8_t)code[l / M][l % M] : (int16_t)code[l / M][l % M];
}

static void add_integers(const struct ptxi_wgmma *x, const struct operands *t, unsigned n, int16_t (*a)[M], bool saturate, uint32_t *c)
{
    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        const unsigned char *line = t->b[n + l];
        int32_t sum[M] = { 0 };

        for (unsigned k = 0; k < x->k; k++) {
            int32_t b = x->b ? (int8_t)line[k] : line[k];

            for (unsigned m = 0; m < M; m++)
                sum[m] += a[k][m] * b;
        }
        for (unsigned m = 0; m < M; m++) {
            int64_t exact = (int64_t)(int32_t)c[l * M + m] + sum[m];

            if (saturate)
                exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
            c[l * M + m] = (uint32_t)exact;
        }
    }
}

static void add_bits(const struct operands *t, unsigned n, uint32_t *c)
{
    for (unsigned l = 0; l < PTXI_TILE_OUT; l++) {
        uint64_t a[4], b[4];

        memcpy(a, t->a[l % M], sizeof a);
        memcpy(b, t->b[n + l / M], sizeof b);
        for (unsigned k = 0; k < 4; k++)
            c[l] += (uint32_t)__builtin_popcountll(a[k] & b[k]);
    }
}

/* --- the whole --- */

static void compute(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, const struct operands *t, bool accumulate)
{
    bool f16 = x->kind == PTXI_WGMMA_F16;
    const uint16_t *d = x->slots, *from = x->slots + registers_of_d(x);
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    struct ptxi_tile tile;
    int16_t a[K][M];

    if (x->kind <= PTXI_WGMMA_F16)
        fill_a(x, t, &tile);
    else if (x->kind == PTXI_WGMMA_S32)
        fill_integers(x, t, a);
    for (unsigned n = 0; n < x->n; n += PTXI_TILE_N) {
        unsigned at = f16 ? n / 4 : n / 2;

        if (accumulate)
            ptxi_tile_read(w, from + at, f16 ? 2 : 4, f16, first, c);
        else
            memset(c, 0, sizeof c);
        switch (x->kind) {
        case PTXI_WGMMA_S32: add_integers(x, t, n, a, i->mods & PTXI_MOD_SATFINITE, c); break;
        case PTXI_WGMMA_BITS: add_bits(t, n, c); break;
        default: add_floats(x, t, n, &tile, c);
        }
        ptxi_tile_write(w, d + at, f16 ? 2 : 4, f16, first, c);
    }
}

OP( wgmma )
{
    const struct ptxi_wgmma *x = description(w, i);
    ptxi_lanes scale;
    struct operands t;

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    scale = ptxi_pred(w, b_slots(x)[2]) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(first / 32);

        if (!here)
            continue;
        if (!read_operands(w, i, x, first, &t))
            return w->stop;
        compute(w, i, x, first, &t, scale >> ptxi_first_lane(here) & 1);
    }
    NEXT;
}

/* --- groups --- */

OP( wgmma_fence )
{
    return w->active != w->live && ptxi_absent(w) ? ptxi_leave_aligned(w, i) : i + 1;
}

OP( wgmma_commit )
{
    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k))
            w->wgmma_groups[k]++;
    if (w->cta->group_waits)
        ptxi_cta_wake_groups(w->cta);
    NEXT;
}

/* Whether another warp of the warpgroup of warp k of w has yet to commit as many groups. */
static bool must_wait(const struct ptxi_warp *w, unsigned k, uint32_t groups)
{
    unsigned rank = w->first_thread / 32 + k;

    for (unsigned r = rank / 4 * 4; r < rank / 4 * 4 + 4 && r / PTXI_WARP32S < w->cta->warp_count; r++) {
        const struct ptxi_warp *other = &w->cta->warps[r / PTXI_WARP32S];

        if (other->live & ptxi_warp32_lanes(r % PTXI_WARP32S) && other->wgmma_groups[r % PTXI_WARP32S] < groups)
            return true;
    }
    return false;
}

OP( wgmma_wait )
{
    uint32_t pending = *(const uint32_t *)PTXI_SLOT(w, i->a);

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k) && w->wgmma_groups[k] > pending && must_wait(w, k, w->wgmma_groups[k] - pending))
            return ptxi_leave_group(w, i);
    NEXT;
}
