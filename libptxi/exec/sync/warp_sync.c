/* Lanes meet by operation, qualifiers and mask, not by pc, because compilers emit one shfl in each arm of a branch. */
#include "exec/sync/warp_sync.h"

#include <assert.h>

#include "exec/check/check.h"
#include "exec/check/sync.h"
#include "exec/engine/divergence.h"
#include "exec/init/init_collective.h"
#include "exec/sync/lane_collectives.h"
#include "exec/sync/warp_collectives.h"
#include "isa/isa.h"

/* The lanes that execute an instruction together, and the split in which each of them waits. */
struct participants {
    ptxi_lanes lanes;
    const struct ptxi_split *split[PTXI_LANES];
};

static const struct ptxi_insn *insn_of(const struct participants *p, unsigned lane)
{
    return p->split[lane]->pc;
}

static void *lane_slot(const struct participants *p, unsigned lane, unsigned slot)
{
    assert(slot < p->split[lane]->frame->code->frame_units);
    return PTXI_SLOT(p->split[lane]->frame, slot);
}

static uint32_t read_u32(const struct participants *p, unsigned lane, unsigned slot)
{
    return ((const uint32_t *)lane_slot(p, lane, slot))[lane];
}

static void write_u32(const struct participants *p, unsigned lane, unsigned slot, uint32_t value)
{
    ((uint32_t *)lane_slot(p, lane, slot))[lane] = value;
}

static void write_predicate(const struct participants *p, unsigned lane, unsigned slot, bool value)
{
    ptxi_lanes *pred = lane_slot(p, lane, slot), bit = (ptxi_lanes)1 << lane;

    *pred = value ? *pred | bit : *pred & ~bit;
}

/* The lanes in the mask operand of a lane's instruction. */
static ptxi_lanes member_mask(const struct participants *p, unsigned lane)
{
    const struct ptxi_insn *i = insn_of(p, lane);
    uint32_t mask;

    switch (i->op) {
    case PTXI_OP_shfl_up: case PTXI_OP_shfl_down: case PTXI_OP_shfl_bfly: case PTXI_OP_shfl_idx:
        mask = read_u32(p, lane, (uint32_t)i->imm >> 16);
        break;
    case PTXI_OP_bar_warp_sync:
        mask = read_u32(p, lane, i->a);
        break;
    default:
        mask = read_u32(p, lane, i->b);
    }
    return (ptxi_lanes)mask << (lane / 32 * 32);
}

/* --- execution --- */

/* A lane that does not participate gives 0, as on an H200. The PTX ISA leaves the result undefined. */
static void execute_shfl(const struct participants *p, enum ptxi_shfl_mode mode)
{
    uint32_t result[PTXI_LANES], in_range[PTXI_LANES];

    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = insn_of(p, l);
        uint32_t from = ptxi_shfl_source(mode, l, read_u32(p, l, i->b), read_u32(p, l, i->c), &in_range[l]);
        bool present = p->lanes & member_mask(p, l) & (ptxi_lanes)1 << from;

        result[l] = present ? read_u32(p, from, insn_of(p, from)->a) : 0;
    }
    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = insn_of(p, l);

        write_u32(p, l, i->d, result[l]);
        if ((uint16_t)i->imm != PTXI_NO_SLOT)
            write_predicate(p, l, (uint16_t)i->imm, in_range[l]);
    }
}

/* The lanes with which a lane votes. */
static ptxi_lanes voters_of(const struct participants *p, unsigned lane)
{
    return p->lanes & (ptxi_lanes)read_u32(p, lane, insn_of(p, lane)->b) << (lane / 32 * 32);
}

/* The lanes with a true predicate. */
static ptxi_lanes yes_votes(const struct participants *p)
{
    ptxi_lanes yes = 0;

    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = insn_of(p, l);
        bool pred = *(const ptxi_lanes *)lane_slot(p, l, i->a) >> l & 1;

        yes |= (ptxi_lanes)(pred != !!(i->mods & PTXI_MOD_NOT_C)) << l;
    }
    return yes;
}

static void execute_vote(const struct participants *p, enum ptxi_vote_mode mode)
{
    ptxi_lanes yes = yes_votes(p);

    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        write_predicate(p, l, insn_of(p, l)->d, ptxi_vote(mode, voters_of(p, l), yes));
    }
}

static void execute_ballot(const struct participants *p)
{
    ptxi_lanes yes = yes_votes(p);

    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        write_u32(p, l, insn_of(p, l)->d, (uint32_t)((voters_of(p, l) & yes) >> (l / 32 * 32)));
    }
}

/* redux, match and elect. */
static void execute_collective(const struct participants *p)
{
    const struct ptxi_insn *first = insn_of(p, ptxi_first_lane(p->lanes));
    bool wide = first->op == PTXI_OP_match_any_b64 || first->op == PTXI_OP_match_all_b64;
    uint32_t mask[PTXI_LANES] = { 0 }, d[PTXI_LANES];
    uint64_t a64[PTXI_LANES] = { 0 };
    uint32_t a32[PTXI_LANES] = { 0 };
    ptxi_lanes pred;

    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = insn_of(p, l);

        mask[l] = read_u32(p, l, i->b);
        if (wide)
            a64[l] = ((const uint64_t *)lane_slot(p, l, i->a))[l];
        else if (i->a != PTXI_NO_SLOT)
            a32[l] = read_u32(p, l, i->a);
    }
    ptxi_warp_collective(first, wide ? (const void *)a64 : a32, mask, p->lanes, d, &pred);
    for (ptxi_lanes left = p->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = insn_of(p, l);

        write_u32(p, l, i->d, d[l]);
        if ((uint16_t)i->imm != PTXI_NO_SLOT)
            write_predicate(p, l, (uint16_t)i->imm, pred >> l & 1);
    }
}

static void execute(const struct participants *p, unsigned op)
{
    switch (op) {
    case PTXI_OP_shfl_up: execute_shfl(p, PTXI_SHFL_UP); break;
    case PTXI_OP_shfl_down: execute_shfl(p, PTXI_SHFL_DOWN); break;
    case PTXI_OP_shfl_bfly: execute_shfl(p, PTXI_SHFL_BFLY); break;
    case PTXI_OP_shfl_idx: execute_shfl(p, PTXI_SHFL_IDX); break;
    case PTXI_OP_vote_all: execute_vote(p, PTXI_VOTE_ALL); break;
    case PTXI_OP_vote_any: execute_vote(p, PTXI_VOTE_ANY); break;
    case PTXI_OP_vote_uni: execute_vote(p, PTXI_VOTE_UNI); break;
    case PTXI_OP_vote_ballot: execute_ballot(p); break;
    case PTXI_OP_bar_warp_sync: break; /* synchronization only */
    default: execute_collective(p);
    }
}

/* --- uninitialised values --- */

static bool is_in_mask(const struct participants *p, unsigned lane, uint16_t slot)
{
    return slot != PTXI_NO_SLOT && *(const ptxi_lanes *)lane_slot(p, lane, slot) >> lane & 1;
}

static void read_given(const struct participants *p, unsigned lane, struct ptxi_init_collective *x)
{
    const struct ptxi_insn *i = insn_of(p, lane), *c = ptxi_init_find_collect(p->split[lane]->frame->code, i);
    ptxi_lanes bit = (ptxi_lanes)1 << lane;
    uint32_t in_range;

    x->members[lane] = (uint32_t)(member_mask(p, lane) >> (lane / 32 * 32));
    if (c && is_in_mask(p, lane, c->a)) {
        x->undefined |= bit;
        x->shadow[lane] = c->b == PTXI_NO_SLOT ? 1 : read_u32(p, lane, c->b);
    }
    switch (i->op) {
#define SHFL(name, mode)                                                                                               \
    case PTXI_OP_shfl_##name:                                                                                          \
        x->from[lane] = (uint8_t)ptxi_shfl_source(mode, lane, read_u32(p, lane, i->b), read_u32(p, lane, i->c),        \
                                                  &in_range);                                                          \
        break;
    SHFL(up, PTXI_SHFL_UP) SHFL(down, PTXI_SHFL_DOWN) SHFL(bfly, PTXI_SHFL_BFLY) SHFL(idx, PTXI_SHFL_IDX)
#undef SHFL
    default: break;
    }
}

static void write_taken(const struct participants *p, unsigned lane, const struct ptxi_init_collective *x)
{
    const struct ptxi_insn *c = ptxi_init_find_collect(p->split[lane]->frame->code, insn_of(p, lane));
    bool undefined = x->result >> lane & 1;

    if (c && c->d != PTXI_NO_SLOT)
        write_predicate(p, lane, c->d, undefined);
    if (c && (uint16_t)c->imm != PTXI_NO_SLOT)
        write_predicate(p, lane, (uint16_t)c->imm, undefined);
    if (c && c->c != PTXI_NO_SLOT && undefined)
        write_u32(p, lane, c->c, x->shadow[lane]);
}

/* Does what the init_collect of each participant has done without the other lanes. */
static void track_undefined(const struct participants *p, unsigned op)
{
    struct ptxi_init_collective x = { .lanes = p->lanes };

    for (ptxi_lanes left = p->lanes; left; left &= left - 1)
        read_given(p, ptxi_first_lane(left), &x);
    if (ptxi_op_mnemonics[op] == PTXI_M_vote)
        x.yes = yes_votes(p);
    ptxi_init_collect(op, &x);
    for (ptxi_lanes left = p->lanes; left; left &= left - 1)
        write_taken(p, ptxi_first_lane(left), &x);
}

/* The check_lanes before an instruction, or NULL. */
static const struct ptxi_insn *find_check(const struct ptxi_code *code, const struct ptxi_insn *i)
{
    for (i--; i > code->insns && i->op == PTXI_OP_init_collect;)
        i--;
    return i >= code->insns && i->op == PTXI_OP_check_lanes ? i : NULL;
}

/* The participants are synchronised with those of the same mask. */
static void note_meeting(struct ptxi_warp *w, const struct participants *p)
{
    ptxi_lanes left = p->lanes;

    while (left) {
        unsigned first = ptxi_first_lane(left);
        const struct ptxi_frame *frame = p->split[first]->frame;
        ptxi_lanes group = 0;

        for (ptxi_lanes others = left & ptxi_warp32_lanes(first / 32); others; others &= others - 1) {
            unsigned l = ptxi_first_lane(others);

            group |= (ptxi_lanes)(member_mask(p, l) == member_mask(p, first)) << l;
        }
        ptxi_check_lanes_meet(w, group);
        if (member_mask(p, first) & p->lanes & ~group)
            ptxi_sync_report_masks(w, frame->code, insn_of(p, first), group);
        if (member_mask(p, first) & ~w->live)
            ptxi_sync_check_missing(w, frame, find_check(frame->code, insn_of(p, first)), group,
                                    member_mask(p, first) & ~w->live);
        left &= ~group;
    }
}

/* --- participants --- */

/* Whether lanes of split b can participate in the instruction of split a: the operation and its qualifiers are the
 * same. A negated predicate does not matter, since each lane reads its own. */
static bool is_same_operation(const struct ptxi_split *a, const struct ptxi_split *b)
{
    return b->state == PTXI_SPLIT_SYNC && a->pc->op == b->pc->op && !((a->pc->mods ^ b->pc->mods) & PTXI_MOD_NAN);
}

/* These lanes and all lanes in their masks. */
static ptxi_lanes required_lanes(const struct participants *p, ptxi_lanes lanes)
{
    ptxi_lanes all = lanes;

    for (; lanes; lanes &= lanes - 1)
        all |= member_mask(p, ptxi_first_lane(lanes));
    return all;
}

/* Removes lanes that require a live lane which does not participate, until none is left. */
static void remove_incomplete(struct participants *p, ptxi_lanes live)
{
    ptxi_lanes before;

    do {
        before = p->lanes;
        for (ptxi_lanes left = before; left; left &= left - 1) {
            unsigned l = ptxi_first_lane(left);

            if (member_mask(p, l) & live & ~p->lanes)
                p->lanes &= ~((ptxi_lanes)1 << l);
        }
    } while (p->lanes != before);
}

/* The participating lanes of s continue after the instruction. The other ones still wait. */
static void release_split(struct ptxi_warp *w, struct ptxi_split *s, const struct participants *p)
{
    struct ptxi_split *rest = ptxi_divide_split(w, s, p->lanes);

    if (rest)
        rest->sync_mask = required_lanes(p, rest->lanes);
    s->state = PTXI_SPLIT_READY;
    w->splits_woken = true;
    s->pc++;
}

bool ptxi_warp_sync_try_complete(struct ptxi_warp *w, const struct ptxi_split *waiting)
{
    unsigned op = waiting->pc->op;
    struct participants p = { 0 };

    assert(waiting->state == PTXI_SPLIT_SYNC);
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (!is_same_operation(waiting, s))
            continue;
        assert(!(p.lanes & s->lanes));
        p.lanes |= s->lanes;
        for (ptxi_lanes left = s->lanes; left; left &= left - 1)
            p.split[ptxi_first_lane(left)] = s;
    }
    remove_incomplete(&p, w->live);
    if (!p.lanes)
        return false;
    if (w->cta->check)
        note_meeting(w, &p);
    if (w->cta->grid->tools >> PTXI_TOOL_INIT & 1 && ptxi_init_is_collective(op))
        track_undefined(&p, op);
    execute(&p, op);
    for (uint32_t k = 0, count = w->split_count; k < count; k++)
        if (w->splits[k].state == PTXI_SPLIT_SYNC && p.lanes & w->splits[k].lanes)
            release_split(w, &w->splits[k], &p);
    return true;
}

const struct ptxi_insn *ptxi_warp_sync_wait(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes mask)
{
    const struct ptxi_insn *next = ptxi_leave_switch(w, pc);
    struct ptxi_split *s = &w->splits[w->current];

    s->state = PTXI_SPLIT_SYNC;
    s->sync_mask = mask;
    ptxi_warp_sync_try_complete(w, s);
    return next;
}
