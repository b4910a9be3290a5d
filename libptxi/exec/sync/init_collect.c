/* The handler that tracks uninitialised values in operations between the lanes of a warp. */
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/init/init_collective.h"
#include "exec/init/init_registers.h"
#include "exec/sync/lane_collectives.h"
#include "isa/isa.h"

static const struct ptxi_insn *collective_after(const struct ptxi_insn *i)
{
    for (i++; i->op == PTXI_OP_check_lanes;)
        i++;
    return i;
}

static uint16_t members_slot(const struct ptxi_insn *of)
{
    return ptxi_op_mnemonics[of->op] == PTXI_M_shfl ? (uint16_t)((uint32_t)of->imm >> 16) : of->b;
}

static enum ptxi_shfl_mode mode_of(unsigned op)
{
    switch (op) {
    case PTXI_OP_shfl_up: return PTXI_SHFL_UP;
    case PTXI_OP_shfl_down: return PTXI_SHFL_DOWN;
    case PTXI_OP_shfl_bfly: return PTXI_SHFL_BFLY;
    default: return PTXI_SHFL_IDX;
    }
}

static void read_sources(const struct ptxi_warp *w, const struct ptxi_insn *of, struct ptxi_init_collective *x)
{
    const uint32_t *b = PTXI_SLOT(w, of->b), *c = PTXI_SLOT(w, of->c);
    uint32_t in_range;

    for (unsigned l = 0; l < PTXI_LANES; l++)
        x->from[l] = (uint8_t)ptxi_shfl_source(mode_of(of->op), l, b[l], c[l], &in_range);
}

/* What the active lanes give. */
static void read_collective(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_insn *of,
                            struct ptxi_init_collective *x)
{
    uint16_t members = members_slot(of);

    x->lanes = w->active;
    x->undefined = ptxi_init_mask_in(w, i->a) & w->active;
    memset(x->members, 0xff, sizeof x->members);
    if (members != PTXI_NO_SLOT)
        memcpy(x->members, PTXI_SLOT(w, members), sizeof x->members);
    if (i->b != PTXI_NO_SLOT)
        memcpy(x->shadow, PTXI_SLOT(w, i->b), sizeof x->shadow);
    if (ptxi_op_mnemonics[of->op] == PTXI_M_shfl)
        read_sources(w, of, x);
    if (ptxi_op_mnemonics[of->op] == PTXI_M_vote)
        x->yes = of->mods & PTXI_MOD_NOT_C ? ~ptxi_pred(w, of->a) : ptxi_pred(w, of->a);
}

/* If lanes are missing, warp_sync.c does this again for all. */
OP( init_collect )
{
    struct ptxi_init_collective x;
    ptxi_lanes given = ptxi_init_mask_in(w, i->a) & w->active;
    uint32_t *to = i->c == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->c);
    const struct ptxi_insn *of = collective_after(i);

    x.result = 0;
    if (__builtin_expect(given || ptxi_init_is_shfl_of_some(of->op, w->active), 0)) {
        read_collective(w, i, of, &x);
        ptxi_init_collect(of->op, &x);
        for (ptxi_lanes left = to ? x.result : 0; left; left &= left - 1)
            to[ptxi_first_lane(left)] = x.shadow[ptxi_first_lane(left)];
    }
    if (i->d != PTXI_NO_SLOT)
        ptxi_set_pred(w, i->d, x.result);
    if ((uint16_t)i->imm != PTXI_NO_SLOT)
        ptxi_set_pred(w, (uint16_t)i->imm, x.result);
    NEXT;
}
