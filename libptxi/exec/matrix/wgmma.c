/* wgmma: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". Each warp computes its 16 rows of D when it comes to
 * the instruction, before it goes on; only shared memory is common to the warps. It must be there, as on a device, when all of them have come to
 * wgmma.fence, and must not change until all of them are done. So a warp begins when the other warps of the warpgroup have been at as many fences, and
 * when it waits for its groups waits until they have computed theirs. */
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/matrix/shared_matrix.h"

enum { M = LINE_ROWS, N = 256 };

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

/* PTX ISA, "Matrix Descriptor Format" */
static struct shared_matrix describe(const struct ptxi_warp *w, uint64_t d, bool turned)
{
    static const uint8_t widths[] = { LINE_UNIT, 128, 64, 32 };

    return (struct shared_matrix){ .memory = w->shared, .start = (uint32_t)(d & 0x3fff) << 4, .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                                   .stride = (uint32_t)(d >> 32 & 0x3fff) << 4, .base = d >> 49 & 7, .width = widths[d >> 62], .height = 8,
                                   .granule = LINE_UNIT, .turned = turned };
}

/* --- operands --- */

struct operands {
    _Alignas(64) unsigned char a[M][LINE], b[N][LINE];
    uint8_t column[M][LINE_K]; /* sparse: which columns the stored elements of A are */
    struct lines lines;
};

static bool read_a(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    const uint16_t *slots = a_slots(x);
    unsigned rank = (w->first_thread + first) / 32 % 4;

    if (x->a_in_memory) {
        struct shared_matrix m = describe(w, descriptor_of(w, slots[0], first), x->turn_a);

        return read_lines(w, i, &m, M * rank, M, 32, 2, t->a);
    }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned g = 0; g < 8; g++)
            memcpy(t->a[r % 2 * 8 + g] + r / 2 * LINE_UNIT, (const uint32_t *)lanes_of(w, slots[r], first, 4) + 4 * g, LINE_UNIT);
    return true;
}

static bool read_operands(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    struct shared_matrix b = describe(w, descriptor_of(w, b_slots(x)[0], first), x->turn_b);

    t->lines = (struct lines){ x->k, x->bits, x->a, x->b, x->sparse };
    if (!read_a(w, i, x, first, t) || !read_lines(w, i, &b, 0, x->n, x->k * x->bits / 8, 2, t->b))
        return false;
    if (x->negate_a)
        lines_negate(x->bits, 1u << (x->bits - 1), t->a, M);
    if (x->negate_b)
        lines_negate(x->bits, 1u << (x->bits - 1), t->b, x->n);
    if (x->sparse)
        ptxi_sparse_columns(x->bits, x->k, x->selector, lanes_of(w, b_slots(x)[1], first, 4), t->column[0], LINE_K);
    return true;
}

/* --- products --- */

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

static void compute(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t, bool accumulate)
{
    bool f16 = x->kind == PTXI_WGMMA_F16;
    const uint16_t *d = x->slots, *from = x->slots + registers_of_d(x);
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    struct ptxi_tile tile;
    _Alignas(64) pair_rows a[LINE_K / 2];

    if (x->kind <= PTXI_WGMMA_F16)
        lines_fill_a(&t->lines, t->a, t->column, &tile);
    else if (x->kind == PTXI_WGMMA_S32)
        lines_integers(&t->lines, t->a, t->column, a);
    for (unsigned n = 0; n < x->n; n += PTXI_TILE_N) {
        unsigned at = f16 ? n / 4 : n / 2;

        if (accumulate)
            ptxi_tile_read(w, from + at, f16 ? 2 : 4, f16, first, c);
        else
            memset(c, 0, sizeof c);
        switch (x->kind) {
        case PTXI_WGMMA_S32: lines_add_integers(&t->lines, a, t->b + n, i->mods & PTXI_MOD_SATFINITE, c); break;
        case PTXI_WGMMA_BITS: add_bits(t, n, c); break;
        default:
            lines_fill_b(&t->lines, t->b + n, &tile);
            lines_add(&t->lines, &model, &tile, c);
        }
        ptxi_tile_write(w, d + at, f16 ? 2 : 4, f16, first, c);
    }
}

/* Whether a warp of the warpgroup of warp k of w has not been at as many fences, or has not committed as many groups. */
static bool must_wait(const struct ptxi_warp *w, unsigned k, uint32_t fences, uint32_t groups)
{
    unsigned rank = w->first_thread / 32 + k;

    for (unsigned r = rank / 4 * 4; r < rank / 4 * 4 + 4 && r / PTXI_WARP32S < w->cta->warp_count; r++) {
        const struct ptxi_warp *other = &w->cta->warps[r / PTXI_WARP32S];
        unsigned its = r % PTXI_WARP32S;

        if (other->live & ptxi_warp32_lanes(its) && (other->wgmma_fences[its] < fences || other->wgmma_groups[its] < groups))
            return true;
    }
    return false;
}

OP( wgmma )
{
    const struct ptxi_wgmma *x = description(w, i);
    ptxi_lanes scale;
    struct operands t;

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k) && must_wait(w, k, w->wgmma_fences[k], 0))
            return ptxi_leave_group(w, i);
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

static inline const struct ptxi_insn *count(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t *counts)
{
    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k))
            counts[k]++;
    if (w->cta->group_waits)
        ptxi_cta_wake_groups(w->cta);
    NEXT;
}

OP( wgmma_fence )
{
    return count(w, i, w->wgmma_fences);
}

OP( wgmma_commit )
{
    return count(w, i, w->wgmma_groups);
}

OP( wgmma_wait )
{
    uint32_t pending = *(const uint32_t *)PTXI_SLOT(w, i->a);

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k) && w->wgmma_groups[k] > pending && must_wait(w, k, 0, w->wgmma_groups[k] - pending))
            return ptxi_leave_group(w, i);
    NEXT;
}
