#include "native/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- constants --- */

static uint32_t constant_words(enum ptxi_native_const id, uint32_t words[2 * PTXI_LANES])
{
    static const uint32_t values[] = {
        [PTXI_CONST_ZERO] = 0, [PTXI_CONST_ONES] = UINT32_MAX, [PTXI_CONST_ONE] = 0x3f800000,
        [PTXI_CONST_SIGN] = 0x80000000, [PTXI_CONST_MAGNITUDE] = 0x7fffffff, [PTXI_CONST_NAN] = 0x7fffffff,
        [PTXI_CONST_31] = 31, [PTXI_CONST_32] = 32,
    };

    for (uint32_t l = 0; l < 2 * PTXI_LANES; l++)
        switch (id) {
        case PTXI_CONST_IOTA: words[l] = l; break;
        case PTXI_CONST_IOTA_4: words[l] = 4 * l; break;
        case PTXI_CONST_LANE_BIT: words[l] = UINT32_C(1) << l % 32; break;
        case PTXI_CONST_LANE_BIT_64: words[l] = UINT32_C(1) << l / 2 % 32; break;
        default: words[l] = values[id];
        }
    if (id < PTXI_CONST_IOTA)
        return 16;
    return id == PTXI_CONST_LANE_BIT_64 ? 2 * PTXI_LANES : PTXI_LANES;
}

struct ptxi_x86_rm ptxi_native_constant(enum ptxi_native_const id, unsigned offset)
{
    uint32_t at = id * 64;

    if (id > PTXI_CONST_IOTA)
        at += PTXI_LANES * 4 - 64;
    if (id > PTXI_CONST_IOTA_4)
        at += PTXI_LANES * 4 - 64;
    if (id > PTXI_CONST_LANE_BIT)
        at += PTXI_LANES * 4 - 64;
    return ptxi_x86_at(PTXI_RIP, (int32_t)(at + offset));
}

void ptxi_native_put_constants(struct ptxi_native_builder *c)
{
    uint32_t words[2 * PTXI_LANES];

    for (unsigned id = 0; id <= PTXI_CONST_LANE_BIT_64; id++) {
        assert((uint32_t)ptxi_native_constant((enum ptxi_native_const)id, 0).disp == c->x.size || c->x.oom);
        ptxi_x86_data(&c->x, words, constant_words((enum ptxi_native_const)id, words) * 4);
    }
}

/* --- rare cases and jumps --- */

static bool grow(struct ptxi_native_builder *c, void **p, uint32_t count, uint32_t *capacity, size_t size)
{
    uint32_t more = *capacity * 2 + 32;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*p, more * size);
    if (!grown) {
        c->oom = true;
        return false;
    }
    *p = grown;
    *capacity = more;
    return true;
}

bool ptxi_native_find_constant(const struct ptxi_code *code, unsigned slot, uint32_t *value)
{
    uint32_t low = 0, high = code->const_count;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (code->consts[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == code->const_count || code->consts[low].slot != slot || code->consts[low].bytes != 4)
        return false;
    *value = (uint32_t)code->consts[low].value;
    return true;
}

uint32_t ptxi_native_rare(struct ptxi_native_builder *c, enum ptxi_native_rare_kind kind)
{
    if (!grow(c, (void **)&c->rare, c->rare_count, &c->rare_capacity, sizeof *c->rare))
        return UINT32_MAX;
    c->rare[c->rare_count] = (struct ptxi_native_rare){ .kind = kind, .insn = c->now, .jump = UINT32_MAX,
                                                         .region_exit = c->region.exit,
                                                         .region_whole = c->region.whole, .partial = c->partial,
                                                         .before = c->cache };
    return c->rare_count++;
}

void ptxi_native_add_piece(struct ptxi_native_builder *c, uint32_t insn)
{
    if (grow(c, (void **)&c->pieces, c->piece_count, &c->piece_capacity, sizeof *c->pieces))
        c->pieces[c->piece_count++] = (struct ptxi_native_piece){ c->x.size, insn };
}

void ptxi_native_try_lanes(struct ptxi_native_builder *c, uint32_t rare, ptxi_native_lanes_emitter *lanes)
{
    if (rare != UINT32_MAX)
        c->rare[rare].lanes = lanes;
}

static void add_jump(struct ptxi_native_builder *c, struct ptxi_native_jump jump)
{
    if (grow(c, (void **)&c->jumps, c->jump_count, &c->jump_capacity, sizeof *c->jumps))
        c->jumps[c->jump_count++] = jump;
}

/* `place`: of the jump's distance */
static void lead_to_rare(struct ptxi_native_builder *c, uint32_t rare, uint32_t place)
{
    struct ptxi_native_rare *r = &c->rare[rare];

    assert(r->kind == PTXI_RARE_CANONIZE || !memcmp(&r->before, &c->cache, sizeof c->cache));
    add_jump(c, (struct ptxi_native_jump){ place, 0, r->jump, true });
    r->jump = c->jump_count - 1;
}

void ptxi_native_jump_rare(struct ptxi_native_builder *c, uint32_t rare, enum ptxi_x86_condition condition)
{
    if (rare != UINT32_MAX)
        lead_to_rare(c, rare, ptxi_x86_jump_if(&c->x, condition));
}

void ptxi_native_go_to_rare(struct ptxi_native_builder *c, uint32_t rare)
{
    if (rare != UINT32_MAX)
        lead_to_rare(c, rare, ptxi_x86_jump(&c->x));
}

void ptxi_native_resume(struct ptxi_native_builder *c, uint32_t rare)
{
    if (rare == UINT32_MAX)
        return;
    c->rare[rare].after = c->cache;
    c->rare[rare].resume = c->x.size;
}

void ptxi_native_fail(struct ptxi_native_builder *c, enum ptxi_x86_condition condition)
{
    if (!c->in_rare_case && !c->in_lane_loop) {
        ptxi_native_jump_rare(c, c->lanes_case, condition);
        return;
    }
    assert(c->failure_count < PTXI_NATIVE_FAILURES);
    c->failures[c->failure_count++] = ptxi_x86_jump_if(&c->x, condition);
}

void ptxi_native_jump_to(struct ptxi_native_builder *c, uint32_t insn)
{
    assert(insn < c->code->count && c->heads[insn]);
    add_jump(c, (struct ptxi_native_jump){ ptxi_x86_jump(&c->x), insn, 0, false });
}

void ptxi_native_call_handler(struct ptxi_native_builder *c, uint32_t insn)
{
    const struct ptxi_insn *i = &c->code->insns[insn];

    ptxi_x86_vzeroupper(&c->x); /* SSE code that the handler calls is slow otherwise */
    ptxi_x86_imm(&c->x, PTXI_RDI, (uintptr_t)i);
    ptxi_x86_load(&c->x, 64, PTXI_RSI, ptxi_x86_reg(PTXI_NATIVE_WARP));
    ptxi_x86_imm(&c->x, PTXI_RAX, (uintptr_t)c->table[i->op]);
    ptxi_x86_call(&c->x, PTXI_RAX);
}
