/* Tracking of writes (exec/track/). Native code has the usual case: a store to a row of whole words. */
#include "exec/track/track.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* A field of the cache entry of an instruction that writes rows. */
static struct ptxi_x86_rm of_track_row(insn *i, size_t offset)
{
    const size_t entry = offsetof(struct ptxi_worker, rows) + ptxi_track_row_of(i) * sizeof(struct ptxi_track_row);

    return ptxi_x86_at(PTXI_NATIVE_HITS, (int32_t)(entry + offset - offsetof(struct ptxi_worker, hits)));
}

#define TRACK_ROW(i, name) of_track_row(i, offsetof(struct ptxi_track_row, name))

/* rdx = the address of the words for the row at rax, if the instruction has used their page in this launch */
static void find_track_words(builder *c, insn *i, unsigned bytes, uint32_t rare)
{
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(cta));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_cta, grid)));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_grid, tracker)));
    ptxi_x86_test(&c->x, 64, PTXI_RCX, PTXI_RCX);
    ptxi_native_jump_rare(c, rare, PTXI_E);
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_tracker_head, key)));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, TRACK_ROW(i, tracker));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, ptxi_x86_reg(PTXI_RAX));
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RDX, TRACK_ROW(i, first));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, ptxi_x86_reg(PTXI_RDX), PTXI_TRACK_PAGE - (int32_t)bytes);
    ptxi_native_jump_rare(c, rare, PTXI_A);
    ptxi_x86_shr(&c->x, 64, PTXI_RDX, 1);
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RDX, TRACK_ROW(i, writes));
}

/* A weak store to a row of whole words: the words get the mask of all bytes and the place. */
bool ptxi_native_emit_track_row(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const unsigned size = i->mods & PTXI_CHECK_BYTES, bytes = PTXI_LANES * size;
    const unsigned kind = i->mods & (PTXI_CHECK_ROW | PTXI_CHECK_WRITE | 3 << PTXI_CHECK_STRENGTH_SHIFT);
    const uint32_t word = (i->b | (uint32_t)i->c << 16) << PTXI_TRACK_PLACE | PTXI_TRACK_MASK;
    unsigned words;
    uint32_t rare;

    (void)first, (void)second;
    if (c->partial || kind != (PTXI_CHECK_ROW | PTXI_CHECK_WRITE) || size < 4 || bytes / 2 % c->bytes)
        return false;
    words = ptxi_native_temporary(c);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_NATIVE_ROW, OF_ROW(i->a, form));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), (int32_t)size);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_ROW(i->a, first));
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, ptxi_x86_reg(PTXI_RAX), i->imm);
    ptxi_x86_test_imm(&c->x, ptxi_x86_reg(PTXI_RAX), 7);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    find_track_words(c, i, bytes, rare);
    ptxi_x86_imm(&c->x, PTXI_RCX, word);
    ptxi_native_broadcast(c, words, PTXI_RCX, 32);
    for (unsigned k = 0; k < bytes / 2; k += c->bytes)
        ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, words, 0, ptxi_x86_at(PTXI_RDX, (int32_t)k));
    ptxi_native_end_part(c);
    ptxi_native_resume(c, rare);
    return true;
}
