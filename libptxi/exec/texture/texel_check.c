#include "exec/texture/texel_check.h"

#include "exec/check/race.h"
#include "exec/check/state.h"

void ptxi_texels_note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct ptxi_texture *t,
                      const struct ptxi_texels *r, struct ptxi_warp_texels *all)
{
    all->bytes = all->bytes ? all->bytes : t->bytes;
    for (unsigned n = 0; n < r->count; n++) {
        if (!r->at[n])
            continue;
        if (n >= PTXI_TEXELS_TOGETHER || t->bytes != all->bytes) {
            ptxi_race_touch(w, i, lane, (uintptr_t)r->at[n], t->bytes, 0, NULL);
            continue;
        }
        all->at[n][lane] = (uintptr_t)r->at[n];
        all->lanes[n] |= (ptxi_lanes)1 << lane;
    }
}

void ptxi_texels_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_warp_texels *all)
{
    const uint32_t place = ptxi_race_place(w, i);
    /* as before a load; nothing looks at what comes after it */
    const struct ptxi_insn load[2] = {
        { .op = PTXI_OP_check_access, .mods = (uint16_t)all->bytes, .b = (uint16_t)place, .c = (uint16_t)(place >> 16) }
    };
    uint64_t before = w->cta->check->accesses;

    if (!(w->cta->grid->tools >> PTXI_TOOL_RACE & 1))
        return;
    for (unsigned n = 0; n < PTXI_TEXELS_TOGETHER; n++)
        if (all->lanes[n])
            ptxi_race_check(w, load, all->at[n], 0, all->lanes[n]);
    w->cta->check->accesses = before + 1; /* an instruction is one access */
}
