/* What checked launches note about the texels that tex and tld4 read. */
#ifndef PTXI_EXEC_TEXTURE_TEXEL_CHECK_H
#define PTXI_EXEC_TEXTURE_TEXEL_CHECK_H

#include <stdbool.h>

#include "exec/engine/warp.h"
#include "exec/texture/texture.h"

/* The texels that a lane has read. */
struct ptxi_texels {
    const unsigned char *at[4 * PTXI_TEXTURE_MAX_SLICES]; /* NULL: the border, or a texel without a share */
    unsigned count;
};

/* The texels that the lanes of a warp have read, for the race checker: by their numbers in the fetch, so that lanes
 * that read neighbouring texels are checked together. */
enum { PTXI_TEXELS_TOGETHER = 16 };
struct ptxi_warp_texels {
    uint64_t at[PTXI_TEXELS_TOGETHER][PTXI_LANES];
    ptxi_lanes lanes[PTXI_TEXELS_TOGETHER];
    unsigned bytes; /* of a texel; 0: there are none */
};

/* A lane has read texels. Checks them, or adds them to *all. */
void ptxi_texels_note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const struct ptxi_texture *t,
                      const struct ptxi_texels *r, struct ptxi_warp_texels *all);
/* Checks those that have been added. */
void ptxi_texels_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_warp_texels *all);

#endif
