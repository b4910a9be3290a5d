/* Tracking of writes (exec/track/). Native code has the usual case: a store of all lanes to a row. */
#include "exec/track/track.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* rcx + OF_RANGES(...) = a field of the list of the worker */
#define OF_RANGES(name) ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_tracker_head, ranges[0].name))

static void find_ranges(builder *c, uint32_t rare)
{
    const int32_t index = (int32_t)offsetof(struct ptxi_worker, index) - (int32_t)offsetof(struct ptxi_worker, hits);

    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(cta));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_cta, grid)));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_grid, tracker)));
    ptxi_x86_test(&c->x, 64, PTXI_RCX, PTXI_RCX);
    ptxi_native_jump_rare(c, rare, PTXI_E);
    ptxi_x86_load(&c->x, 32, PTXI_RDX, ptxi_x86_at(PTXI_NATIVE_HITS, index));
    ptxi_x86_shl(&c->x, 64, PTXI_RDX, PTXI_TRACK_RANGES_SHIFT);
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RCX, ptxi_x86_reg(PTXI_RDX));
}

/* A weak store to a row: the worker notes its bytes. */
bool ptxi_native_emit_track_row(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const unsigned size = i->mods & PTXI_CHECK_BYTES;
    const unsigned kind = i->mods & (PTXI_CHECK_ROW | PTXI_CHECK_WRITE | 3 << PTXI_CHECK_STRENGTH_SHIFT);
    const uint64_t place = i->b | (uint32_t)i->c << 16;
    uint32_t rare;

    (void)first, (void)second;
    if (c->partial || kind != (PTXI_CHECK_ROW | PTXI_CHECK_WRITE))
        return false;
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_NATIVE_ROW, OF_ROW(i->a, form));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), (int32_t)size);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    find_ranges(c, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_RANGES(next));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_RANGES(end));
    ptxi_native_jump_rare(c, rare, PTXI_E);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_ROW(i->a, first));
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, ptxi_x86_reg(PTXI_RAX), i->imm);
    ptxi_x86_store(&c->x, 64, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, address)), PTXI_RAX);
    ptxi_x86_imm(&c->x, PTXI_RAX, place << 32 | PTXI_LANES * size);
    ptxi_x86_store(&c->x, 64, ptxi_x86_at(PTXI_RDX, offsetof(struct ptxi_track_range, bytes)), PTXI_RAX);
    ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, OF_RANGES(next), sizeof(struct ptxi_track_range));
    ptxi_native_resume(c, rare);
    return true;
}
