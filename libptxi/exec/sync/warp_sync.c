/* Lanes of a warp that reach a .sync instruction at different times or places. They meet by operation, qualifiers and
 * mask, not by pc: compilers emit one shfl in each arm of a branch. */
#include "exec/sync/warp_collectives.h"
#include "exec/engine/engine.h"
#include "exec/sync/lane_collectives.h"

/* Who takes part: for each lane the split in which it waits. */
struct meeting {
    ptxi_lanes lanes;
    const struct ptxi_split *at[PTXI_LANES];
};

static void *slot(const struct meeting *m, unsigned lane, unsigned slot)
{
    return PTXI_SLOT(m->at[lane]->frame, slot);
}

static uint32_t value(const struct meeting *m, unsigned lane, unsigned s)
{
    return ((const uint32_t *)slot(m, lane, s))[lane];
}

static void set_predicate(const struct meeting *m, unsigned lane, unsigned s, bool on)
{
    ptxi_lanes *p = slot(m, lane, s), bit = (ptxi_lanes)1 << lane;

    *p = on ? *p | bit : *p & ~bit;
}

/* The lanes whom lane's operand names as those that must come. */
static ptxi_lanes named(const struct meeting *m, unsigned lane)
{
    const struct ptxi_insn *i = m->at[lane]->pc;
    uint32_t mask;

    switch (i->op) {
    case PTXI_OP_shfl_up: case PTXI_OP_shfl_down: case PTXI_OP_shfl_bfly: case PTXI_OP_shfl_idx: mask = value(m, lane, (uint32_t)i->imm >> 16); break;
    case PTXI_OP_bar_warp_sync: mask = value(m, lane, i->a); break;
    default: mask = value(m, lane, i->b);
    }
    return (ptxi_lanes)mask << (lane / 32 * 32);
}

static void shfl(const struct meeting *m, enum ptxi_shfl_mode mode)
{
    uint32_t got[PTXI_LANES], in[PTXI_LANES];

    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = m->at[l]->pc;
        uint32_t from = ptxi_shfl_source(mode, l, value(m, l, i->b), value(m, l, i->c), &in[l]);

        got[l] = m->lanes & named(m, l) & (ptxi_lanes)1 << from ? value(m, from, m->at[from]->pc->a) : 0; /* as of lanes that are not there */
    }
    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = m->at[l]->pc;

        ((uint32_t *)slot(m, l, i->d))[l] = got[l];
        if ((uint16_t)i->imm != PTXI_NO_SLOT)
            set_predicate(m, l, (uint16_t)i->imm, in[l]);
    }
}

static ptxi_lanes voters(const struct meeting *m, unsigned lane)
{
    return m->lanes & (ptxi_lanes)value(m, lane, m->at[lane]->pc->b) << (lane / 32 * 32);
}

static ptxi_lanes votes(const struct meeting *m)
{
    ptxi_lanes yes = 0;

    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = m->at[l]->pc;
        bool p = *(const ptxi_lanes *)slot(m, l, i->a) >> l & 1;

        yes |= (ptxi_lanes)(p != !!(i->mods & PTXI_MOD_NOT_C)) << l;
    }
    return yes;
}

static void vote(const struct meeting *m, enum ptxi_vote_mode mode)
{
    ptxi_lanes yes = votes(m);

    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        set_predicate(m, l, m->at[l]->pc->d, ptxi_vote(mode, voters(m, l), yes));
    }
}

static void ballot(const struct meeting *m)
{
    ptxi_lanes yes = votes(m);

    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        ((uint32_t *)slot(m, l, m->at[l]->pc->d))[l] = (uint32_t)((voters(m, l) & yes) >> (l / 32 * 32));
    }
}

static void collective(const struct meeting *m)
{
    const struct ptxi_insn *first = m->at[ptxi_first_lane(m->lanes)]->pc;
    bool wide = first->op == PTXI_OP_match_any_b64 || first->op == PTXI_OP_match_all_b64;
    uint32_t mask[PTXI_LANES] = { 0 }, d[PTXI_LANES];
    uint64_t a64[PTXI_LANES] = { 0 };
    uint32_t a32[PTXI_LANES] = { 0 };
    ptxi_lanes p;

    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = m->at[l]->pc;

        mask[l] = value(m, l, i->b);
        if (wide)
            a64[l] = ((const uint64_t *)slot(m, l, i->a))[l];
        else if (i->a != PTXI_NO_SLOT)
            a32[l] = value(m, l, i->a);
    }
    ptxi_collective(first, wide ? (const void *)a64 : a32, mask, m->lanes, d, &p);
    for (ptxi_lanes left = m->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_insn *i = m->at[l]->pc;

        ((uint32_t *)slot(m, l, i->d))[l] = d[l];
        if ((uint16_t)i->imm != PTXI_NO_SLOT)
            set_predicate(m, l, (uint16_t)i->imm, p >> l & 1);
    }
}

static void execute(const struct meeting *m, unsigned op)
{
    switch (op) {
    case PTXI_OP_shfl_up: shfl(m, PTXI_SHFL_UP); break;
    case PTXI_OP_shfl_down: shfl(m, PTXI_SHFL_DOWN); break;
    case PTXI_OP_shfl_bfly: shfl(m, PTXI_SHFL_BFLY); break;
    case PTXI_OP_shfl_idx: shfl(m, PTXI_SHFL_IDX); break;
    case PTXI_OP_vote_all: vote(m, PTXI_VOTE_ALL); break;
    case PTXI_OP_vote_any: vote(m, PTXI_VOTE_ANY); break;
    case PTXI_OP_vote_uni: vote(m, PTXI_VOTE_UNI); break;
    case PTXI_OP_vote_ballot: ballot(m); break;
    case PTXI_OP_bar_warp_sync: break; /* to meet is all */
    default: collective(m);
    }
}

/* The operation and the qualifiers that count; a negated predicate is each lane's own affair. */
static bool meets(const struct ptxi_split *a, const struct ptxi_split *b)
{
    return b->state == PTXI_SPLIT_SYNC && a->pc->op == b->pc->op && !((a->pc->mods ^ b->pc->mods) & PTXI_MOD_NAN);
}

static ptxi_lanes all_named(const struct meeting *m, ptxi_lanes lanes)
{
    ptxi_lanes all = lanes;

    for (; lanes; lanes &= lanes - 1)
        all |= named(m, ptxi_first_lane(lanes));
    return all;
}

/* Leaves only lanes who need no lane that is not among them. */
static void keep_complete(struct meeting *m, ptxi_lanes live)
{
    ptxi_lanes before;

    do {
        before = m->lanes;
        for (ptxi_lanes left = before; left; left &= left - 1) {
            unsigned l = ptxi_first_lane(left);

            if (named(m, l) & live & ~m->lanes)
                m->lanes &= ~((ptxi_lanes)1 << l);
        }
    } while (m->lanes != before);
}

/* Lanes of s that go on do so without the others, which still wait. */
static void go_on(struct ptxi_warp *w, struct ptxi_split *s, const struct meeting *m)
{
    struct ptxi_split rest = *s;

    rest.lanes &= ~m->lanes;
    if (rest.lanes) {
        rest.sync_mask = all_named(m, rest.lanes);
        s->lanes &= m->lanes;
        s->frame->splits++;
        w->splits[w->split_count++] = rest;
    }
    s->state = PTXI_SPLIT_READY;
    s->pc++;
}

bool ptxi_rendezvous(struct ptxi_warp *w, struct ptxi_split *arrived)
{
    struct meeting m = { 0 };

    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (!meets(arrived, s))
            continue;
        m.lanes |= s->lanes;
        for (ptxi_lanes left = s->lanes; left; left &= left - 1)
            m.at[ptxi_first_lane(left)] = s;
    }
    keep_complete(&m, w->live);
    if (!m.lanes)
        return false;
    execute(&m, arrived->pc->op);
    for (uint32_t k = 0, count = w->split_count; k < count; k++)
        if (w->splits[k].state == PTXI_SPLIT_SYNC && m.lanes & w->splits[k].lanes)
            go_on(w, &w->splits[k], &m);
    return true;
}

static bool stands_with(const struct ptxi_split *a, const struct ptxi_split *b)
{
    return b->state == PTXI_SPLIT_ALIGNED && b->frame == a->frame && b->pc == a->pc;
}

bool ptxi_gather(struct ptxi_warp *w, struct ptxi_split *arrived)
{
    ptxi_lanes here = 0, need = 0;

    for (uint32_t k = 0; k < w->split_count; k++)
        if (stands_with(arrived, &w->splits[k])) {
            here |= w->splits[k].lanes;
            need |= w->splits[k].sync_mask;
        }
    if (need & w->live & ~here)
        return false;
    for (uint32_t k = 0; k < w->split_count; k++) { /* being ready at one place they merge */
        struct ptxi_split *s = &w->splits[k];

        if (s != arrived && stands_with(arrived, s))
            s->state = PTXI_SPLIT_READY;
    }
    arrived->state = PTXI_SPLIT_READY;
    return true;
}
