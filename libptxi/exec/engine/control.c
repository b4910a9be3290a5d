/* PTX ISA, "Control Flow Instructions". */
#include <assert.h>

#include "exec/engine/call.h"
#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/engine/op_shapes.h"
#include "exec/engine/row_compare_inl.h"

/* A jump must not skip a pc at which another split of the frame waits. */
static inline const struct ptxi_insn *jump(struct ptxi_warp *w, const struct ptxi_insn *target)
{
    return __builtin_expect(target > w->stop, 0) ? ptxi_leave_jump(w, target) : target;
}

/* A backward jump pays for the instructions of the loop round. In loops that may wait for other threads the split
 * yields after some rounds: to other lanes, and, in spin loops sooner, to other warps and CTAs. `loop`: PTXI_LOOP_...
 */
static inline const struct ptxi_insn *loop_to(struct ptxi_warp *w, const struct ptxi_insn *target, int64_t distance,
                                              unsigned loop)
{
    w->quantum -= distance + 1; /* at least 1, even in a loop of a single instruction */
    if (__builtin_expect(w->quantum <= 0, 0))
        return ptxi_leave_quantum(w, target);
    if (__builtin_expect(loop & (PTXI_LOOP_WAITS | PTXI_LOOP_POLLS), 0)) {
        w->spin_rounds_left -= loop & PTXI_LOOP_POLLS ? PTXI_SPIN_COST : 1;
        if (w->spin_rounds_left <= 0)
            return ptxi_leave_spin(w, target);
    }
    if (__builtin_expect(w->split_count > 1 && loop && !--w->rounds_left, 0))
        return ptxi_leave_sleep(w, target);
    return target;
}

static inline const struct ptxi_insn *jump_back(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return loop_to(w, i + i->imm, -(int64_t)i->imm, i->mods);
}

static inline const struct ptxi_insn *branch(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes taken)
{
    if (!taken)
        NEXT;
    if (taken == w->active)
        return jump(w, i + i->imm);
    return ptxi_diverge(w, i + 1, i + i->imm, taken);
}

static inline const struct ptxi_insn *branch_back(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes taken)
{
    if (!taken)
        NEXT;
    if (taken != w->active) {
        ptxi_split_off(w, i + 1, w->active & ~taken);
        if (i->mods && !(i->mods & PTXI_LOOP_POLLS)) { /* some lanes have left the loop: it makes progress */
            w->spin_rounds_left = PTXI_SPIN_ROUNDS;
            w->rounds_left = w->round_limit;
        }
    }
    return jump_back(w, i);
}

OP( bra )
{
    return jump(w, i + i->imm);
}

OP( bra_if )
{
    return branch(w, i, w->active & ptxi_pred(w, i->a));
}

OP( bra_ifn )
{
    return branch(w, i, w->active & ~ptxi_pred(w, i->a));
}

OP( loop )
{
    return jump_back(w, i);
}

OP( loop_if )
{
    return branch_back(w, i, w->active & ptxi_pred(w, i->a));
}

OP( loop_ifn )
{
    return branch_back(w, i, w->active & ~ptxi_pred(w, i->a));
}

#define BRANCH_COMPARED(bits, type, name, cond)                                         \
    static inline ptxi_lanes name(const struct ptxi_warp *w, const struct ptxi_insn *i) \
    {                                                                                   \
        const type *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                    \
        ptxi_lanes m;                                                                   \
                                                                                        \
        COMPARE_##bits(m, type, a, b, cond);                                            \
        return m & w->active;                                                           \
    }                                                                                   \
    OP( bra_##name ) { return branch(w, i, name(w, i)); }                               \
    OP( loop_##name ) { return branch_back(w, i, name(w, i)); }
#define BRANCHES_COMPARED(bits)                               \
    BRANCH_COMPARED(bits, uint##bits##_t, eq_i##bits, x == y) \
    BRANCH_COMPARED(bits, uint##bits##_t, ne_i##bits, x != y) \
    BRANCH_COMPARED(bits, int##bits##_t, lt_s##bits, x < y)   \
    BRANCH_COMPARED(bits, int##bits##_t, ge_s##bits, x >= y)  \
    BRANCH_COMPARED(bits, uint##bits##_t, lt_u##bits, x < y)  \
    BRANCH_COMPARED(bits, uint##bits##_t, ge_u##bits, x >= y)
BRANCHES_COMPARED(32)
BRANCHES_COMPARED(64)

/* The same for index registers. `opposite`: the branch is taken where the comparison does not hold. */
#define TAKEN_INDEX(name, compare, opposite)                                                                       \
    static __attribute__((noinline)) ptxi_lanes taken_##name(const struct ptxi_insn *i, const struct ptxi_warp *w) \
    {                                                                                                              \
        return opposite ? w->active & ~ptxi_index_##compare(w, i) : ptxi_index_##compare(w, i);                    \
    }
#define BRANCH_INDEX_OP(op, name, compare, opposite, branch_, jump_)                                \
    static __attribute__((noinline)) const struct ptxi_insn *op##_##name(const struct ptxi_insn *i, \
                                                                         struct ptxi_warp *w)       \
    {                                                                                               \
        return branch_(w, i, taken_##name(i, w));                                                   \
    }                                                                                               \
    OP(op##_index_##name)                                                                           \
    {                                                                                               \
        bool holds;                                                                                 \
                                                                                                    \
        if (__builtin_expect(!ptxi_index_is_##compare(w, i, &holds), 0))                            \
            return op##_##name(i, w);                                                               \
        return holds == opposite ? i + 1 : jump_;                                                   \
    }
#define BRANCH_INDEX(name, compare, opposite)                                  \
    TAKEN_INDEX(name, compare, opposite)                                       \
    BRANCH_INDEX_OP(bra, name, compare, opposite, branch, jump(w, i + i->imm)) \
    BRANCH_INDEX_OP(loop, name, compare, opposite, branch_back, jump_back(w, i))
BRANCH_INDEX(eq, eq, false)
BRANCH_INDEX(ne, eq, true)
BRANCH_INDEX(lt_s32, lt_s32, false)
BRANCH_INDEX(ge_s32, lt_s32, true)
BRANCH_INDEX(lt_u32, lt_u32, false)
BRANCH_INDEX(ge_u32, lt_u32, true)

OP( brx )
{
    const uint32_t *index = PTXI_SLOT(w, i->a);
    const uint16_t *table = w->frame->code->pool + i->imm;

    for (;;) {
        uint32_t k = index[ptxi_first_lane(w->active)];
        const struct ptxi_insn *target;
        ptxi_lanes lanes = 0;

        if (k >= ptxi_pool_word(table, 0))
            return ptxi_fault(w, i, PTXI_FK_BRANCH, w->active & -w->active, 0, 0, "brx.idx index out of range");
        target = i + (int32_t)ptxi_pool_word(table, k + 1);
        for (int l = 0; l < PTXI_LANES; l++)
            lanes |= (ptxi_lanes)(index[l] == k) << l;
        lanes &= w->active;
        if (lanes == w->active)
            return target > i ? jump(w, target) : loop_to(w, target, i - target, PTXI_LOOP_READS);
        ptxi_split_off(w, target, lanes);
    }
}

OP( call )
{
    return ptxi_call(w, i, ptxi_pool_word(w->frame->code->pool + i->imm, 0));
}

/* Lanes that call other functions than the first lane split off and execute the instruction again. */
OP( call_indirect )
{
    const struct ptxi_program *p = w->cta->grid->program;
    const uint64_t *address = PTXI_SLOT(w, i->a);
    uint64_t first = address[ptxi_first_lane(w->active)];
    uint32_t func = p->function_at(p->ctx, first);
    ptxi_lanes others = 0;

    for (int l = 0; l < PTXI_LANES; l++)
        others |= (ptxi_lanes)(address[l] != first) << l;
    others &= w->active;
    if (func == UINT32_MAX)
        return ptxi_fault(w, i, PTXI_FK_BRANCH, w->active & ~others, first, 0,
                          "indirect call of an address that is not a function");
    if (others)
        ptxi_split_off(w, i, others);
    return ptxi_call(w, i, func);
}

OP( ret )
{
    (void)i;
    return ptxi_return(w);
}

OP( exit )
{
    (void)i;
    return ptxi_leave_exit(w, w->active);
}

OP( trap )
{
    return ptxi_fault(w, i, PTXI_FK_TRAP, w->active, 0, 0, NULL);
}

/* There is no debugger that could continue the kernel. */
OP( brkpt )
{
    return ptxi_fault(w, i, PTXI_FK_TRAP, w->active, 0, 0, "brkpt");
}

OP( nop )
{
    (void)w;
    NEXT;
}

OP( count )
{
    struct ptxi_cta *c = w->cta;

    c->warp_instructions += (uint64_t)i->imm;
    c->thread_instructions += (uint64_t)i->imm * (unsigned)__builtin_popcountll(w->active);
    NEXT;
}

OP( unsupported )
{
    return ptxi_fault(w, i, PTXI_FK_UNSUPPORTED, w->active, 0, 0, w->frame->code->unsupported[i->imm]);
}

OP( unreachable )
{
    return ptxi_fault(w, i, PTXI_FK_BRANCH, w->active, 0, 0, "control reached the end of the function");
}

OP( end )
{
    (void)i;
    return w->stop;
}

OP( nanosleep )
{
    return ptxi_leave_spin(w, i + 1);
}

OP( none )
{
    return ptxi_fault(w, i, PTXI_FK_UNSUPPORTED, w->active, 0, 0, "no operation");
}

/* A guard runs the instruction after it with fewer lanes. The compiler never guards an instruction that changes the
 * splits. */
OP( guard )
{
    ptxi_lanes all = w->active, on = all & (i->mods ? ~ptxi_pred(w, i->a) : ptxi_pred(w, i->a));
    const struct ptxi_insn *next;

    if (!on)
        return i + 2;
    assert(i[1].op < PTXI_OP_COUNT && i[1].op != PTXI_OP_guard);
    w->active = on;
    next = w->table[i[1].op](i + 1, w);
    w->active = all;
    return next;
}
