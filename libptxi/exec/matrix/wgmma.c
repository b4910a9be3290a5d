/* wgmma. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
 * Each warp computes its 16 rows of D when it executes the instruction. The warps of a warpgroup share only the
 * operands in shared memory. As on a device, these must be written before all warps have executed wgmma.fence, and
 * must not change before all warps have computed. So a warp computes only after the other warps of the warpgroup
 * have executed as many fences. A warp that waits for its groups also waits until the other warps have committed
 * them. */
#include <string.h>

#include "exec/check/check.h"
#include "exec/engine/handler.h"
#include "exec/init/init.h"
#include "exec/init/init_registers.h"
#include "exec/matrix/operand_check.h"

enum { M = MMA_ROWS, MAX_N = 256 };

static inline const struct ptxi_wgmma *wgmma_form(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_wgmma *)(w->frame->code->pool + i->imm);
}

/* --- operands in `slots` --- */

static inline unsigned registers_of_d(const struct ptxi_wgmma *x)
{
    return x->kind == PTXI_WGMMA_F16 ? x->n / 4u : x->n / 2u;
}

static inline const uint16_t *slots_of_a(const struct ptxi_wgmma *x)
{
    return x->slots + 2 * registers_of_d(x);
}

static inline const uint16_t *slots_after_a(const struct ptxi_wgmma *x)
{
    return slots_of_a(x) + (x->a_in_memory ? 1 : 4);
}

static inline uint16_t slot_of_b(const struct ptxi_wgmma *x) { return slots_after_a(x)[0]; }
static inline uint16_t slot_of_metadata(const struct ptxi_wgmma *x) { return slots_after_a(x)[1]; }
static inline uint16_t slot_of_scale_d(const struct ptxi_wgmma *x) { return slots_after_a(x)[2]; }

/* A descriptor, which is the same in all lanes of a warp of 32. */
static inline uint64_t descriptor_of(const struct ptxi_warp *w, uint16_t slot, unsigned first)
{
    return ((const uint64_t *)PTXI_SLOT(w, slot))[ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32))];
}

/* A 32-bit register, from the first lane of a warp of 32 on. */
static inline const uint32_t *register_of(const struct ptxi_warp *w, uint16_t slot, unsigned first)
{
    return (const uint32_t *)PTXI_SLOT(w, slot) + first;
}

/* PTX ISA, "Matrix Descriptor Format" */
static struct shared_matrix decode_descriptor(const struct ptxi_warp *w, uint64_t d, bool mn_major)
{
    static const uint8_t swizzle_bytes[] = { UNIT_BYTES, 128, 64, 32 };

    return (struct shared_matrix){ .memory = w->shared,
                                   .start = (uint32_t)(d & 0x3fff) << 4,
                                   .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                                   .stride = (uint32_t)(d >> 32 & 0x3fff) << 4,
                                   .base_offset = d >> 49 & 7,
                                   .swizzle_bytes = swizzle_bytes[d >> 62],
                                   .swizzle_rows = 8,
                                   .atom_bytes = UNIT_BYTES,
                                   .mn_major = mn_major };
}

struct operands {
    _Alignas(64) unsigned char a[M][KVEC_BYTES], b[MAX_N][KVEC_BYTES];
    uint8_t column[M][KVEC_MAX_K]; /* sparse: columns of A's stored elements */
    struct operand_format format;
};

static bool read_a(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first,
                   struct operands *t)
{
    const uint16_t *slots = slots_of_a(x);
    unsigned rank = (w->first_thread + first) / 32 % 4;

    if (x->a_in_memory) {
        struct shared_matrix m = decode_descriptor(w, descriptor_of(w, slots[0], first), x->turn_a);

        return shared_matrix_read(w, i, &m, M * rank, M, 32, 2, t->a);
    }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned g = 0; g < 8; g++)
            memcpy(t->a[r % 2 * 8 + g] + r / 2 * UNIT_BYTES, register_of(w, slots[r], first) + 4 * g, UNIT_BYTES);
    return true;
}

static bool read_operands(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first,
                          struct operands *t)
{
    struct shared_matrix b = decode_descriptor(w, descriptor_of(w, slot_of_b(x), first), x->turn_b);

    assert(x->n <= MAX_N && x->k * x->bits / 8 <= KVEC_BYTES);
    t->format = (struct operand_format){ x->k, x->bits, x->a, x->b, x->sparse };
    if (!read_a(w, i, x, first, t) || !shared_matrix_read(w, i, &b, 0, x->n, x->k * x->bits / 8, 2, t->b))
        return false;
    if (x->negate_a)
        kvec_negate(x->bits, 1u << (x->bits - 1), t->a, M);
    if (x->negate_b)
        kvec_negate(x->bits, 1u << (x->bits - 1), t->b, x->n);
    if (x->sparse)
        ptxi_sparse_columns(x->bits, x->k, x->selector, register_of(w, slot_of_metadata(x), first), t->column[0],
                            KVEC_MAX_K);
    return true;
}

/* --- checks of races --- */

/* Tells the checker about the operands in shared memory. The first warp of a warpgroup stands for all that read B. */
static __attribute__((noinline)) void note_operands(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                    const struct ptxi_wgmma *x, unsigned first)
{
    enum { ELEMENT = 2 };
    const struct ptxi_operand_touch r = { .w = w, .i = i, .lane = first };
    unsigned rank = (w->first_thread + first) / 32 % 4;
    struct shared_matrix b = decode_descriptor(w, descriptor_of(w, slot_of_b(x), first), x->turn_b);

    if (x->a_in_memory) {
        struct shared_matrix a = decode_descriptor(w, descriptor_of(w, slots_of_a(x)[0], first), x->turn_a);

        operand_check_matrix(&r, &a, M * rank, M, 32, ELEMENT);
    }
    if (!rank)
        operand_check_matrix(&r, &b, 0, x->n, x->k * x->bits / 8, ELEMENT);
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

static void multiply(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, unsigned first,
                     struct operands *t, bool accumulate)
{
    bool f16 = x->kind == PTXI_WGMMA_F16;
    unsigned registers = f16 ? 2 : 4; /* of 8 columns of C or D */
    const uint16_t *slots_d = x->slots, *slots_c = x->slots + registers_of_d(x);
    struct ptxi_dot_model model = ptxi_dot_unpack(x->model);
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    struct ptxi_tile tile;
    _Alignas(64) dot_s8_rows a[KVEC_MAX_K / 2];

    if (x->kind <= PTXI_WGMMA_F16)
        tile_fill_a(&t->format, t->a, t->column, &tile);
    else if (x->kind == PTXI_WGMMA_S32)
        s8_fill_a(&t->format, t->a, t->column, a);
    for (unsigned n = 0; n < x->n; n += PTXI_TILE_N) {
        unsigned at = f16 ? n / 4 : n / 2;

        if (accumulate)
            ptxi_mma_read_c(w, slots_c + at, registers, f16, first, c);
        else
            memset(c, 0, sizeof c);
        switch (x->kind) {
        case PTXI_WGMMA_S32:
            s8_multiply(&t->format, a, t->b + n, i->mods & PTXI_MOD_SATFINITE, c);
            break;
        case PTXI_WGMMA_BITS:
            add_bits(t, n, c);
            break;
        default:
            tile_fill_b(&t->format, t->b + n, &tile);
            tile_multiply(&t->format, &model, &tile, c);
        }
        ptxi_mma_write_d(w, slots_d + at, registers, f16, first, c);
    }
}

/* Whether another warp of the warpgroup of w's k32-th warp of 32 has executed fewer fences, or committed fewer
 * groups. */
static bool must_wait(const struct ptxi_warp *w, unsigned k32, uint32_t fences, uint32_t groups)
{
    unsigned first_rank = (w->first_thread / 32 + k32) / 4 * 4;

    for (unsigned r = first_rank; r < first_rank + 4 && r / PTXI_WARP32S < w->cta->warp_count; r++) {
        const struct ptxi_warp *other = &w->cta->warps[r / PTXI_WARP32S];
        unsigned k = r % PTXI_WARP32S;

        if (other->live & ptxi_warp32_lanes(k) && (other->wgmma_fences[k] < fences || other->wgmma_groups[k] < groups))
            return true;
    }
    return false;
}

/* --- uninitialised values --- */

static bool read_kvecs_of_shadow(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x,
                                 const struct ptxi_init_view *v, const unsigned char *memory, struct operands *t)
{
    unsigned a_source = registers_of_d(x), rank = w->first_thread / 32 % 4;
    struct shared_matrix b = decode_descriptor(w, descriptor_of(w, slot_of_b(x), 0), x->turn_b);

    b.memory = memory;
    if (!shared_matrix_read(w, i, &b, 0, x->n, x->k * x->bits / 8, 2, t->b))
        return false;
    if (x->a_in_memory) {
        struct shared_matrix a = decode_descriptor(w, descriptor_of(w, slots_of_a(x)[0], 0), x->turn_a);

        a.memory = memory;
        return shared_matrix_read(w, i, &a, M * rank, M, 32, 2, t->a);
    }
    for (unsigned r = 0; r < 4; r++) {
        uint32_t words[32];

        ptxi_init_source(w, v, a_source + r, 0, sizeof *words, words);
        for (unsigned g = 0; g < 8; g++)
            memcpy(t->a[r % 2 * 8 + g] + r / 2 * UNIT_BYTES, words + 4 * g, UNIT_BYTES);
    }
    return true;
}

/* A result is undefined if an element of its row of A, of its column of B or of C is. */
static void finish_results(struct ptxi_warp *w, const struct ptxi_wgmma *x, const struct ptxi_init_view *v,
                           const struct operands *t, bool accumulate)
{
    unsigned bytes_a = x->k * x->bits / 8 / (x->sparse ? 2 : 1), bytes_b = x->k * x->bits / 8;
    unsigned bits = x->kind == PTXI_WGMMA_F16 ? 16 : 32, per = 32 / bits;
    struct ptxi_fragment f = ptxi_fragment_c(M, bits);

    for (unsigned r = 0; r < v->list->writes; r++) {
        uint32_t c[32], *to = v->to[r] == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, v->to[r]);

        memset(c, 0, sizeof c);
        if (accumulate)
            ptxi_init_source(w, v, r, 0, sizeof *c, c);
        for (unsigned l = 0; to && l < 32; l++)
            for (unsigned e = 0; e < per; e++) {
                struct ptxi_element at = ptxi_fragment_element(&f, l, r, e * bits);

                if (ptxi_init_any_undefined(t->a[at.row], bytes_a) ||
                    ptxi_init_any_undefined(t->b[at.column], bytes_b))
                    c[l] |= UINT32_MAX >> (32 - bits) << e * bits;
            }
        if (to)
            memcpy(to, c, sizeof c);
        ptxi_init_finish_result(w, v, r, 2);
    }
}

/* After the product. False: a fault. */
static bool track_undefined(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_wgmma *x, bool accumulate)
{
    struct ptxi_init_view v = ptxi_init_view_at(w, i - 1);
    const unsigned char *memory = ptxi_init_own_shared(w);
    struct operands t;

    if (!memory || PTXI_LANES != 32) {
        ptxi_init_define_results(w, &v);
        return true;
    }
    if (!read_kvecs_of_shadow(w, i, x, &v, memory, &t))
        return false;
    finish_results(w, x, &v, &t, accumulate);
    return true;
}

OP( init_wgmma )
{
    (void)w;
    NEXT;
}

OP( wgmma )
{
    const struct ptxi_wgmma *x = wgmma_form(w, i);
    ptxi_lanes scale_d;
    struct operands t;

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k) && must_wait(w, k, w->wgmma_fences[k], 0))
            return ptxi_leave_warpgroup(w, i);
    scale_d = ptxi_pred(w, slot_of_scale_d(x)) ^ (i->mods & PTXI_MOD_NOT_C ? PTXI_ALL_LANES : 0);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(first / 32);

        if (!here)
            continue;
        if (!read_operands(w, i, x, first, &t))
            return w->stop;
        if (w->cta->check)
            note_operands(w, i, x, first);
        multiply(w, i, x, first, &t, scale_d >> ptxi_first_lane(here) & 1);
    }
    if (i > w->frame->code->insns && i[-1].op == PTXI_OP_init_wgmma &&
        !track_undefined(w, i, x, scale_d >> ptxi_first_lane(w->active) & 1))
        return w->stop;
    NEXT;
}

/* --- fences and groups --- */

static inline const struct ptxi_insn *increment(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t *counts)
{
    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k))
            counts[k]++;
    w->as_started = false;
    if (w->cta->warpgroup_waits)
        ptxi_cta_wake_warpgroups(w->cta);
    NEXT;
}

OP( wgmma_fence )
{
    return increment(w, i, w->wgmma_fences);
}

OP( wgmma_commit )
{
    if (w->cta->check && !(w->active != w->live && ptxi_absent_lanes(w)))
        ptxi_check_wgmma_commits(w);
    return increment(w, i, w->wgmma_groups);
}

OP( wgmma_wait )
{
    uint32_t pending = *(const uint32_t *)PTXI_SLOT(w, i->a);

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        if (w->active & ptxi_warp32_lanes(k) && w->wgmma_groups[k] > pending &&
            must_wait(w, k, 0, w->wgmma_groups[k] - pending))
            return ptxi_leave_warpgroup(w, i);
    if (w->cta->check)
        ptxi_check_wgmma_waits(w, pending);
    NEXT;
}
