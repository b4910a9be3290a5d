/* Barriers and exit: operations after which another warp of the CTA may run. In code for warps with all lanes, the code
 * itself goes on with that warp, as ptxi_native_run() does. */
#include <assert.h>

#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* --- the switch --- */

/* A field of the next warp of the CTA. */
#define OF_NEXT(name) ptxi_x86_at(PTXI_RCX, (int32_t)offsetof(struct ptxi_warp, name))

static void leave_if(builder *c, enum ptxi_x86_condition condition)
{
    ptxi_x86_patch(&c->x, ptxi_x86_jump_if(&c->x, condition), c->leave);
}

/* rsi = the table, rdx = the distance from it to the code at which the next warp continues. Leaves if there is none. */
static void find_entry(builder *c)
{
    enum { LOG_ENTRIES = 2 };
    const uintptr_t start = (uintptr_t)c->code->insns;

    static_assert(sizeof(insn) == 4 << LOG_ENTRIES, "the distance of an instruction gives that of its entry");
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_NEXT(barrier_pc)); /* the instruction before that of the entry */
    ptxi_x86_imm(&c->x, PTXI_RSI, start - sizeof(insn));
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RDX, ptxi_x86_reg(PTXI_RSI));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, ptxi_x86_reg(PTXI_RDX), (int32_t)(c->code->count * sizeof(insn)));
    leave_if(c, PTXI_AE);
    ptxi_x86_shr(&c->x, 64, PTXI_RDX, LOG_ENTRIES);
    ptxi_x86_lea(&c->x, 64, PTXI_RSI, ptxi_x86_at(PTXI_RIP, 0));
    c->switch_table = c->x.size - 4;
    ptxi_x86_movsxd(&c->x, PTXI_RDX, ptxi_x86_indexed(PTXI_RSI, PTXI_RDX, 0));
    ptxi_x86_test(&c->x, 64, PTXI_RDX, PTXI_RDX);
    leave_if(c, PTXI_E);
}

/* The warp waits at a barrier or has exited, unless something else has happened. If the next warp has passed a barrier
 * or has not begun, runs it. */
void ptxi_native_put_switch(builder *c)
{
    c->switch_warp = c->leave;
    if (c->partial || c->code->count > INT32_MAX / sizeof(insn))
        return;
    c->switch_warp = c->x.size;
    ptxi_x86_cmp_byte(&c->x, OF_WARP(barrier_state), PTXI_WARP_BARRIER_AT);
    leave_if(c, PTXI_B);
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(next));
    ptxi_x86_cmp_byte(&c->x, OF_NEXT(barrier_state), PTXI_WARP_BARRIER_PASSED);
    leave_if(c, PTXI_NE);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, OF_NEXT(active), -1);
    leave_if(c, PTXI_NE);
    find_entry(c);
    ptxi_x86_store_byte(&c->x, OF_NEXT(barrier_state), PTXI_WARP_BARRIER_NONE);
    ptxi_x86_load(&c->x, 64, PTXI_NATIVE_WARP, ptxi_x86_reg(PTXI_RCX));
    ptxi_x86_load(&c->x, 64, PTXI_NATIVE_FRAME, OF_WARP(regs));
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RSI, ptxi_x86_reg(PTXI_RDX));
    ptxi_x86_jump_reg(&c->x, PTXI_RSI);
}

void ptxi_native_put_switch_table(builder *c)
{
    const uint32_t table = c->x.size;

    if (c->switch_warp == c->leave)
        return;
    ptxi_x86_patch(&c->x, c->switch_table, table);
    for (uint32_t k = 0; k < c->code->count; k++) {
        const uint32_t distance = c->entry[k] ? c->entry[k] - table : 0;

        ptxi_x86_data(&c->x, &distance, sizeof distance);
    }
}

/* --- operations --- */

/* The last warp of the CTA that arrives goes on. Others wait. */
bool ptxi_native_emit_barrier(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    if (c->partial || c->now + 1 >= c->code->count)
        return false;
    ptxi_native_drop(c);
    ptxi_native_call_handler(c, c->now);
    ptxi_x86_imm(&c->x, PTXI_RCX, (uintptr_t)(i + 1));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, ptxi_x86_reg(PTXI_RCX));
    ptxi_x86_patch(&c->x, ptxi_x86_jump_if(&c->x, PTXI_NE), c->switch_warp);
    return true;
}

/* All of the warp exits. Nothing reads its registers any more. */
bool ptxi_native_emit_exit(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)i, (void)first, (void)second;
    ptxi_native_call_handler(c, c->now);
    ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->partial ? c->leave : c->switch_warp);
    c->dead = true;
    return true;
}
