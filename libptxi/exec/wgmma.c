/* wgmma: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". Each warp computes its 16 rows of D when it comes to
 * the instruction, before it goes on; only shared memory is common to the warps, and it must not change until all of them are done. So
 * a warp that waits for its groups waits until the other warps of the warpgroup have computed theirs. */
#include <string.h>

#include "exec/level.h"
#include "exec/memory.h"
#include "isa/fragment.h"
#include "num/dot.h"

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
    unsigned char a[M][LINE], b[N][LINE];
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

static void read_metadata(const struct ptxi_warp *w, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    const uint32_t *e = lanes_of(w, b_slots(x)[1], first, 4);
    unsigned size = ptxi_sparse_chunk(x->bits), chunks = x->k / size;

    for (unsigned m = 0; m < M; m++)
        for (unsigned at = 0; at < t->stored; at++) {
            struct ptxi_place p = ptxi_sparse_place(x->bits, m, at / (size / 2), chunks, x->selector);

            t->column[m][at] = (uint8_t)ptxi_sparse_column(x->bits, at, e[p.lane] >> p.bit & 15);
        }
}

static bool read_operands(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, struct operands *t)
{
    struct matrix b = describe(descriptor_of(w, b_slots(x)[0], first), x->turn_b);

    t->stored = x->sparse ? x->k / 2u : x->k;
    if (!read_a(w, i, x, first, t) || !read_lines(w, i, &b, 0, x->n, x->k * x->bits / 8, t->b))
        return false;
    if (x->sparse)
        read_metadata(w, x, first, t);
    return true;
}

/* Bits that stand for a float, or an integer in 32 bits. */
static void read_codes(const struct ptxi_wgmma *x, uint16_t type, bool negate, const unsigned char *line, unsigned count, uint32_t *code)
{
    uint32_t sign = negate ? x->bits == 32 ? 1u << 18 : 1u << (x->bits - 1) : 0;
    bool extend = x->kind == PTXI_WGMMA_S32 && type;

    for (unsigned k = 0; k < count; k++) {
        uint32_t word = 0;

        memcpy(&word, line + k * x->bits / 8, x->bits / 8);
        code[k] = extend ? (uint32_t)(int8_t)word : (x->bits == 32 ? word >> 13 : word) ^ sign;
    }
}

/* --- the sum --- */

static uint32_t integer(const struct ptxi_insn *i, const uint32_t *a, const uint32_t *b, unsigned n, uint32_t c)
{
    int64_t sum = (int32_t)c;

    for (unsigned k = 0; k < n; k++)
        sum += (int64_t)(int32_t)a[k] * (int32_t)b[k];
    if (i->mods & PTXI_MOD_SATFINITE)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static uint32_t common_bits(const unsigned char *a, const unsigned char *b, uint32_t c)
{
    uint64_t x[4], y[4];

    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (unsigned k = 0; k < 4; k++)
        c += (uint32_t)__builtin_popcountll(x[k] & y[k]);
    return c;
}

struct column {
    uint32_t code[K];
};

static uint32_t element(const struct ptxi_insn *i, const struct ptxi_wgmma *x, const struct operands *t, unsigned m, unsigned n,
                        const uint32_t *a, const uint32_t *b, uint32_t c)
{
    struct ptxi_dot_model model = { (uint8_t)x->model[0], (uint8_t)x->model[1], (uint8_t)x->model[2], (uint8_t)x->model[3], (int16_t)x->model[4] };
    uint32_t chosen[K];

    if (x->kind == PTXI_WGMMA_BITS)
        return common_bits(t->a[m], t->b[n], c);
    if (x->sparse) {
        for (unsigned k = 0; k < t->stored; k++)
            chosen[k] = b[t->column[m][k]];
        b = chosen;
    }
    if (x->kind == PTXI_WGMMA_S32)
        return integer(i, a, b, t->stored, c);
    return ptxi_dot(&model, (enum ptxi_dot_type)x->a, (enum ptxi_dot_type)x->b, a, b, t->stored, c);
}

/* The eight columns of D from n on: C in, D out. */
static void read_c(const struct ptxi_warp *w, const struct ptxi_wgmma *x, unsigned first, unsigned n, uint32_t (*c)[8])
{
    const uint16_t *slots = x->slots + registers_of_d(x);

    for (unsigned m = 0; m < M; m++)
        for (unsigned k = 0; k < 8; k++) {
            unsigned lane = m % 8 * 4 + k / 2, high = m / 8;
            bool f16 = x->kind == PTXI_WGMMA_F16;
            uint16_t slot = f16 ? slots[n / 4 + high] : slots[n / 2 + 2 * high + k % 2];
            uint32_t word = slot == PTXI_NO_SLOT ? 0 : ((const uint32_t *)lanes_of(w, slot, first, 4))[lane];

            c[m][k] = f16 ? word >> (k % 2 * 16) & 0xffff : word;
        }
}

static void write_d(const struct ptxi_warp *w, const struct ptxi_wgmma *x, unsigned first, unsigned n, uint32_t (*d)[8])
{
    bool f16 = x->kind == PTXI_WGMMA_F16;

    for (unsigned r = 0; r < (f16 ? 2 : 4); r++) {
        uint32_t *to = (uint32_t *)PTXI_SLOT(w, x->slots[f16 ? n / 4 + r : n / 2 + r]) + first;

        for (unsigned l = 0; l < 32; l++) {
            unsigned m = l / 4 + (f16 ? r : r / 2) * 8, k = l % 4 * 2;

            to[l] = f16 ? d[m][k] | d[m][k + 1] << 16 : d[m][k + r % 2];
        }
    }
}

static void compute(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first, const struct operands *t, bool accumulate)
{
    unsigned wide = x->kind == PTXI_WGMMA_BITS ? 0 : x->k;
    struct column a[M], b;
    uint32_t c[M][8] = { 0 };

    for (unsigned m = 0; m < M && wide; m++)
        read_codes(x, x->a, x->negate_a, t->a[m], t->stored, a[m].code);
    for (unsigned n = 0; n < x->n; n += 8) {
        if (accumulate)
            read_c(w, x, first, n, c);
        else
            memset(c, 0, sizeof c);
        for (unsigned k = 0; k < 8; k++) {
            if (wide)
                read_codes(x, x->b, x->negate_b, t->b[n + k], x->k, b.code);
            for (unsigned m = 0; m < M; m++)
                c[m][k] = element(i, x, t, m, n + k, a[m].code, b.code, c[m][k]);
        }
        write_d(w, x, first, n, c);
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
    NEXT;
}

/* Whether another warp of the warpgroup has yet to commit the groups that must be complete for warp k of w to go on. */
static bool must_wait(const struct ptxi_warp *w, unsigned k)
{
    unsigned rank = w->first_thread / 32 + k;

    for (unsigned r = rank / 4 * 4; r < rank / 4 * 4 + 4 && r / PTXI_WARP32S < w->cta->warp_count; r++) {
        const struct ptxi_warp *other = &w->cta->warps[r / PTXI_WARP32S];

        if (other->live & ptxi_warp32_lanes(r % PTXI_WARP32S) && (int32_t)(other->wgmma_groups[r % PTXI_WARP32S] - w->wgmma_wanted[k]) < 0)
            return true;
    }
    return false;
}

static bool waits(const struct ptxi_warp *w)
{
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->wgmma_waits >> k & 1 && must_wait(w, k))
            return true;
    return false;
}

/* No warp of the block can go on: each has exited, or waits at a barrier, or for its warpgroup. */
static bool is_stuck(const struct ptxi_cta *c)
{
    for (uint32_t n = 0; n < c->warp_count; n++)
        if (c->warps[n].state == PTXI_WARP_READY && !waits(&c->warps[n]))
            return false;
    return true;
}

OP( wgmma_wait )
{
    uint32_t pending = *(const uint32_t *)PTXI_SLOT(w, i->a);

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    w->wgmma_waits = 0;
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k)) {
            w->wgmma_wanted[k] = w->wgmma_groups[k] - (pending < w->wgmma_groups[k] ? pending : w->wgmma_groups[k]);
            w->wgmma_waits |= 1u << k;
        }
    if (!waits(w)) {
        w->wgmma_waits = 0;
        NEXT;
    }
    if (is_stuck(w->cta))
        return ptxi_fault(w, i, PTXI_FK_DEADLOCK, w->active, 0, 0, "a warp of the warpgroup does not commit its groups");
    return ptxi_leave_quantum(w, i);
}
