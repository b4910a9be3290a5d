/* What checked launches note about the texels that tex and tld4 read. */
#ifndef PTXI_EXEC_TEXTURE_TEXEL_CHECK_H
#define PTXI_EXEC_TEXTURE_TEXEL_CHECK_H

#include <stdbool.h>

#include "exec/texture/texture.h"

struct ptxi_warp;
struct ptxi_insn;

/* The texels that a lane has read. */
struct ptxi_texels {
    const unsigned char *at[4 * PTXI_TEXTURE_MAX_SLICES]; /* NULL: the border, or a texel without a share */
    unsigned count;
};

/* Tells the race checker about them. */
void ptxi_texels_note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct ptxi_texture *t,
                      const struct ptxi_texels *r);

#endif
