#include "exec/texture/texel_check.h"

#include "exec/check/race.h"
#include "exec/check/state.h"

/* The number of texels of a row, from number n on, that are neighbours in memory. */
static unsigned neighbours(const struct ptxi_texels *r, unsigned n, unsigned bytes)
{
    return n + 1 < r->count && r->at[n + 1] == r->at[n] + bytes ? 2 : 1;
}

void ptxi_texels_note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct ptxi_texture *t,
                      const struct ptxi_texels *r)
{
    unsigned count;

    for (unsigned n = 0; n < r->count; n += count) {
        count = r->at[n] ? neighbours(r, n, t->bytes) : 1;
        if (r->at[n])
            ptxi_race_touch(w, i, lane, (uintptr_t)r->at[n], count * t->bytes, 0, NULL);
    }
    w->cta->check->accesses += !(w->active & (((ptxi_lanes)1 << lane) - 1)); /* an instruction is one access */
}
