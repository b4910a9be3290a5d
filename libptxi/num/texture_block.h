/* Texels of compressed blocks of 4x4 texels. */
#ifndef PTXI_NUM_TEXTURE_BLOCK_H
#define PTXI_NUM_TEXTURE_BLOCK_H

#include <stdint.h>

enum ptxi_block {
    PTXI_BLOCK_NONE, PTXI_BLOCK_BC1, PTXI_BLOCK_BC2, PTXI_BLOCK_BC3, PTXI_BLOCK_BC4, PTXI_BLOCK_BC4_SIGNED,
    PTXI_BLOCK_BC5, PTXI_BLOCK_BC5_SIGNED, PTXI_BLOCK_BC6H, PTXI_BLOCK_BC6H_SIGNED, PTXI_BLOCK_BC7
};
enum { PTXI_BLOCK_SIDE = 4 };

/* Decodes texel 0 to 15, in rows of four. The channels are in the format that ptxi_texel_load() returns for the texel
 * format of the blocks (api/texture/array.c). */
void ptxi_texture_decode_block(enum ptxi_block kind, const unsigned char *block, unsigned texel, uint32_t c[4]);

#endif
