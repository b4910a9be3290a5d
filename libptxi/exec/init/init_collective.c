#include "exec/init/init_collective.h"

#include "exec/init/init_value.h"
#include "isa/isa.h"

#include <string.h>

static bool is_shfl(unsigned op)
{
    return op == PTXI_OP_shfl_up || op == PTXI_OP_shfl_down || op == PTXI_OP_shfl_bfly || op == PTXI_OP_shfl_idx;
}

static bool is_vote(unsigned op)
{
    return op == PTXI_OP_vote_all || op == PTXI_OP_vote_any || op == PTXI_OP_vote_uni;
}

/* Whether the result's bits are a function of the same bits of the operands. */
static bool is_bitwise(unsigned op)
{
    return op == PTXI_OP_redux_and_b32 || op == PTXI_OP_redux_or_b32 || op == PTXI_OP_redux_xor_b32;
}

bool ptxi_init_is_collective(unsigned op)
{
    switch (ptxi_op_mnemonics[op]) {
    case PTXI_M_shfl: return is_shfl(op);
    case PTXI_M_vote: return is_vote(op) || op == PTXI_OP_vote_ballot;
    case PTXI_M_match: case PTXI_M_redux: return true;
    default: return false;
    }
}

static ptxi_lanes group_of(const struct ptxi_init_collective *x, unsigned l)
{
    return x->lanes & (ptxi_lanes)x->members[l] << (l / 32 * 32);
}

/* Whether the votes of which the value is known do not decide the result. */
static bool is_vote_undefined(unsigned op, const struct ptxi_init_collective *x, ptxi_lanes voters)
{
    ptxi_lanes known = voters & ~x->undefined;

    if (!(voters & x->undefined))
        return false;
    switch (op) {
    case PTXI_OP_vote_any: return !(known & x->yes);
    case PTXI_OP_vote_all: return !(known & ~x->yes);
    default: return !(known & x->yes) || !(known & ~x->yes);
    }
}

static uint32_t union_of(const struct ptxi_init_collective *x, ptxi_lanes group)
{
    uint32_t bits = 0;

    for (group &= x->undefined; group; group &= group - 1)
        bits |= x->shadow[ptxi_first_lane(group)];
    return bits;
}

/* A lane that does not take part gives no value. */
static uint32_t shuffled(const struct ptxi_init_collective *x, ptxi_lanes group, unsigned from)
{
    if (!(group >> from & 1))
        return PTXI_INIT_UNDEFINED_RESULT;
    return x->undefined >> from & 1 ? x->shadow[from] : 0;
}

bool ptxi_init_is_shfl_of_some(unsigned op, ptxi_lanes active)
{
    return active != PTXI_ALL_LANES && is_shfl(op);
}

/* The undefined bits that lane l gets. */
static uint32_t result_of(unsigned op, const struct ptxi_init_collective *x, unsigned l)
{
    ptxi_lanes group = group_of(x, l);

    if (is_shfl(op))
        return shuffled(x, group, x->from[l]);
    if (is_vote(op))
        return is_vote_undefined(op, x, group) ? 1 : 0;
    if (op == PTXI_OP_vote_ballot)
        return (uint32_t)((group & x->undefined) >> (l / 32 * 32));
    if (is_bitwise(op))
        return union_of(x, group);
    return group & x->undefined ? UINT32_MAX : 0;
}

void ptxi_init_collect(unsigned op, struct ptxi_init_collective *x)
{
    uint32_t result[PTXI_LANES];

    x->result = 0;
    for (ptxi_lanes left = x->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        result[l] = result_of(op, x, l);
        x->result |= (ptxi_lanes)(result[l] != 0) << l;
    }
    memcpy(x->shadow, result, sizeof result);
}

const struct ptxi_insn *ptxi_init_find_collect(const struct ptxi_code *code, const struct ptxi_insn *i)
{
    for (i--; i > code->insns && i->op == PTXI_OP_check_lanes;)
        i--;
    return i >= code->insns && i->op == PTXI_OP_init_collect ? i : NULL;
}
