/* Finds waits at mbarriers in loops that do nothing but wait. If all threads of a cluster are in such loops, nothing
 * can ever complete a phase, and the scheduler reports a deadlock. Other loops may do something else after a wait in
 * vain. */
#include <assert.h>

#include "compile/codegen/codegen.h"
#include "isa/isa.h"

/* The part that an operation may have in a loop that only waits. */
enum role {
    ROLE_OTHER,        /* the loop does something else */
    ROLE_WAIT,         /* d: the result of a wait */
    ROLE_COMPARE,      /* d = a compared with b, combined with predicate c if there is one */
    ROLE_COMBINE,      /* d = a and/or b */
    ROLE_SELECT,       /* d = c ? a : b */
    ROLE_COPY,         /* d = a, d = !a */
    ROLE_JUMP,
    ROLE_BRANCH,       /* on predicate a */
    ROLE_BRANCH_COMPARE, /* on a comparison of a and b */
    ROLE_NEUTRAL       /* computes something else, or lets time pass */
};

static enum role role_of(uint16_t op)
{
    switch (op) {
    case PTXI_OP_mbarrier_test:
        return ROLE_WAIT;
    case PTXI_OP_and_pred: case PTXI_OP_and_pred_n: case PTXI_OP_or_pred: case PTXI_OP_or_pred_n:
        return ROLE_COMBINE;
    case PTXI_OP_selp_16: case PTXI_OP_selp_32: case PTXI_OP_selp_64:
        return ROLE_SELECT;
    case PTXI_OP_mov_16:
    case PTXI_OP_mov_32:
    case PTXI_OP_mov_64:
    case PTXI_OP_mov_128:
    case PTXI_OP_mov_pred:
    case PTXI_OP_not_pred:
    case PTXI_OP_index_mov: case PTXI_OP_index_from:
        return ROLE_COPY;
    case PTXI_OP_index_setp_eq: case PTXI_OP_index_setp_lt_s32: case PTXI_OP_index_setp_lt_u32:
        return ROLE_COMPARE;
    case PTXI_OP_bra: case PTXI_OP_loop:
        return ROLE_JUMP;
    case PTXI_OP_bra_if: case PTXI_OP_bra_ifn: case PTXI_OP_loop_if: case PTXI_OP_loop_ifn:
        return ROLE_BRANCH;
#define COMPARE(c) case PTXI_OP_bra_##c: case PTXI_OP_loop_##c:
    COMPARE(eq_i32) COMPARE(ne_i32) COMPARE(lt_s32) COMPARE(ge_s32) COMPARE(lt_u32) COMPARE(ge_u32)
    COMPARE(index_eq) COMPARE(index_ne) COMPARE(index_lt_s32) COMPARE(index_ge_s32)
    COMPARE(index_lt_u32) COMPARE(index_ge_u32)
    COMPARE(eq_i64) COMPARE(ne_i64) COMPARE(lt_s64) COMPARE(ge_s64) COMPARE(lt_u64) COMPARE(ge_u64)
#undef COMPARE
        return ROLE_BRANCH_COMPARE;
    case PTXI_OP_guard: case PTXI_OP_nop: case PTXI_OP_nanosleep: case PTXI_OP_count: case PTXI_OP_count_shared:
    case PTXI_OP_check_access: case PTXI_OP_track_access: case PTXI_OP_track_row:
    case PTXI_OP_check_acquire: case PTXI_OP_check_lanes: case PTXI_OP_check_fence:
    case PTXI_OP_check_passed: case PTXI_OP_check_object:
    case PTXI_OP_sreg_32: case PTXI_OP_sreg_64: case PTXI_OP_sreg_pred:
    case PTXI_OP_add_i16: case PTXI_OP_add_i32: case PTXI_OP_add_i64: case PTXI_OP_add_i16x2:
    case PTXI_OP_sub_i16: case PTXI_OP_sub_i32: case PTXI_OP_sub_i64:
    case PTXI_OP_shl_b16: case PTXI_OP_shl_b32: case PTXI_OP_shl_b64:
    case PTXI_OP_shr_u16: case PTXI_OP_shr_u32: case PTXI_OP_shr_u64:
    case PTXI_OP_shr_s16: case PTXI_OP_shr_s32: case PTXI_OP_shr_s64:
    case PTXI_OP_trunc_32_16: case PTXI_OP_trunc_64_16: case PTXI_OP_trunc_64_32:
    case PTXI_OP_index_add: case PTXI_OP_index_sub: case PTXI_OP_index_shl: case PTXI_OP_index_lea:
    case PTXI_OP_index_sreg: case PTXI_OP_address_add: case PTXI_OP_address_set:
        return ROLE_NEUTRAL;
    default:
        if (op >= PTXI_OP_init_spread && op <= PTXI_OP_init_alloca) /* they are adjacent in isa/internal.def */
            return ROLE_NEUTRAL;
        /* set and setp share operations that set a predicate */
        return ptxi_op_mnemonics[op] == PTXI_M_set || ptxi_op_mnemonics[op] == PTXI_M_setp ? ROLE_COMPARE : ROLE_OTHER;
    }
}

/* The slots that depend only on the result of a wait. */
struct results {
    uint16_t slots[8];
    unsigned count;
};

static bool is_result(const struct results *r, uint16_t slot)
{
    for (unsigned k = 0; k < r->count; k++)
        if (r->slots[k] == slot)
            return true;
    return false;
}

/* True if the result of the instruction depends only on the wait's outcome. */
static bool depends_on_wait_only(const struct results *r, const struct ptxi_insn *i)
{
    switch (role_of(i->op)) {
    case ROLE_WAIT: return true;
    case ROLE_COMPARE:
        return (is_result(r, i->a) || is_result(r, i->b)) && (i->c == PTXI_NO_SLOT || is_result(r, i->c));
    case ROLE_COMBINE: return is_result(r, i->a) && is_result(r, i->b);
    case ROLE_SELECT: return is_result(r, i->c);
    case ROLE_COPY: return is_result(r, i->a);
    default: return false;
    }
}

static void update_results(struct results *r, const struct ptxi_insn *i)
{
    bool depends = depends_on_wait_only(r, i);

    if (depends && !is_result(r, i->d) && r->count < sizeof r->slots / sizeof *r->slots)
        r->slots[r->count++] = i->d;
    for (unsigned k = 0; k < r->count && !depends; k++)
        if (r->slots[k] == i->d)
            r->slots[k] = r->slots[--r->count];
}

/* The code that is searched. */
struct search {
    const struct ptxi_insn *wait, *end; /* of the code */
    unsigned steps;                     /* instructions that may still be visited */
};

/* Whether all paths from `i` return to the wait, without doing anything else. Of a branch that the wait decides, one
 * way is enough: the other is for threads whose phase is complete. Any other branch may go either way. */
static bool returns_to_wait(struct search *s, struct results r, const struct ptxi_insn *i)
{
    while (i != s->wait && i < s->end && s->steps && --s->steps) {
        enum role role = role_of(i->op);
        bool decided, taken;

        switch (role) {
        case ROLE_OTHER:
            return false;
        case ROLE_JUMP:
            i += i->imm;
            break;
        case ROLE_BRANCH:
        case ROLE_BRANCH_COMPARE:
            decided = is_result(&r, i->a) || (role == ROLE_BRANCH_COMPARE && is_result(&r, i->b));
            taken = returns_to_wait(s, r, i + i->imm);
            if (taken == decided)
                return taken;
            i++;
            break;
        default:
            update_results(&r, i++);
        }
    }
    return i == s->wait;
}

void ptxi_mark_mbarrier_wait_loops(struct ptxi_insn *insns, uint32_t count)
{
    enum { MAX_STEPS = 200 };

    for (struct ptxi_insn *i = insns; i < insns + count; i++) {
        struct search s = { .wait = i, .end = insns + count, .steps = MAX_STEPS };
        const struct results r = { .slots = { i->d }, .count = 1 };

        assert(i->op < PTXI_OP_COUNT);
        if (i->op == PTXI_OP_mbarrier_test && returns_to_wait(&s, r, i + 1))
            i->mods |= PTXI_MBARRIER_ONLY_WAITS;
    }
}
