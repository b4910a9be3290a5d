/* Uninitialised values in textures and surfaces. An init_surface or init_tex before an instruction has the masks and
 * shadows of its registers. The instruction itself uses them, because it knows the addresses. */
#ifndef PTXI_EXEC_TEXTURE_TEXEL_INIT_H
#define PTXI_EXEC_TEXTURE_TEXEL_INIT_H

#include "exec/engine/warp.h"
#include "exec/texture/texel_check.h"

/* The init_surface or init_tex before an instruction. NULL: there is none. */
const struct ptxi_insn *ptxi_texel_init_find(const struct ptxi_warp *w, const struct ptxi_insn *i);

/* Undefined bits of the results of all lanes. */
struct ptxi_texel_shadows {
    bool any; /* false: there are none, and the rest is not set */
    uint64_t of[4][PTXI_LANES];
};
/* The results, with registers of some bytes each, are as undefined as this. init: as above. This comes before
 * the results are written: a shadow that nothing reads may have the slot of a result. */
void ptxi_texel_init_results(struct ptxi_warp *w, const struct ptxi_insn *init, unsigned wide,
                             const struct ptxi_texel_shadows *s);

/* A lane of a suld reads texels: values of some bytes each. */
void ptxi_texel_init_load(struct ptxi_texel_shadows *s, unsigned lane, const unsigned char *at, unsigned values,
                          unsigned bytes);

/* A lane of a sust writes a texel, or of a sured changes one. init: as above. x: the instruction's own. */
struct ptxi_surface;
void ptxi_texel_init_store(struct ptxi_warp *w, const struct ptxi_insn *init, const struct ptxi_surface *x,
                           unsigned lane, const struct ptxi_texture *t, const unsigned char *at);
void ptxi_texel_init_reduce(struct ptxi_warp *w, const struct ptxi_insn *init, const struct ptxi_surface *x,
                            unsigned lane, const unsigned char *at);

/* A lane of a tex or tld4 has read texels. component: of tld4, as in struct ptxi_tex. The shadows are of channels, or
 * of the four texels of tld4. */
void ptxi_texel_init_fetch(struct ptxi_texel_shadows *s, unsigned lane, const struct ptxi_texture *t,
                           const struct ptxi_texels *r, unsigned component);
/* The same of lanes that have fetched together, from one texture. */
void ptxi_texel_init_together(struct ptxi_texel_shadows *s, ptxi_lanes lanes, const struct ptxi_texture *t,
                              const struct ptxi_warp_texels *r, unsigned component);

#endif
