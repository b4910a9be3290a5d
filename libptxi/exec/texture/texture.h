/* Textures and surfaces as instructions see them, and how they are found: a kernel holds a number, or the address of a .texref, .samplerref or
 * .surfref variable, which holds one. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_H
#define PTXI_EXEC_TEXTURE_TEXTURE_H

#include "num/texture.h"

enum ptxi_object_kind { PTXI_OBJECT_NONE, PTXI_OBJECT_TEXTURE, PTXI_OBJECT_SURFACE, PTXI_OBJECT_SAMPLER };

/* What a variable holds: its kind above, and the object below; of a sampler, its modes (isa/bytecode.h). */
enum { PTXI_REFERENCE_KIND = 32 };

enum { PTXI_TEXTURE_LEVELS = 17 };

/* One level: texels in rows, slices or layers. */
struct ptxi_image {
    unsigned char *base;
    uint32_t width, height, depth; /* 1 where there is no such dimension */
    uint64_t pitch, slice;
};

struct ptxi_sampler {
    uint8_t address[3]; /* enum ptxi_address_mode */
    bool linear, normalized, mip_linear;
    int32_t anisotropy;        /* logarithm of the greatest ratio that counts, in 256ths */
    int32_t slope;             /* of the band behind a level in which it is blended with the next: quarters */
    int32_t bias, least, most; /* of the level, in 256ths */
};

struct ptxi_texture {
    enum ptxi_object_kind kind;
    enum ptxi_texel format;
    uint8_t channels, bytes; /* of a texel, or of a block */
    uint8_t block;           /* enum ptxi_block */
    uint8_t dimensions;      /* 1, 2, 3, without layers */
    bool layered, cube, mipmap, memory, normalized, as_integers, srgb, seamless;
    uint32_t border[4];      /* texels of the border */
    struct ptxi_sampler sampler;
    _Atomic bool gone;       /* the array has been destroyed */
    uint64_t readable;       /* bytes at the first level's base that kernels must be able to read; 0: an array's */
    unsigned levels;
    struct ptxi_image level[PTXI_TEXTURE_LEVELS];
};

/* objects.c: the numbers of a context's objects. A kernel can name no others. */
struct ptxi_object_table;
struct ptxi_object_table *ptxi_object_table_create(void); /* NULL: memory is short */
void ptxi_object_table_destroy(struct ptxi_object_table *table);
uint64_t ptxi_object_add(struct ptxi_object_table *table, struct ptxi_texture *t); /* 0: memory is short, or there are too many */
void ptxi_object_remove(struct ptxi_object_table *table, uint64_t number);
struct ptxi_texture *ptxi_object_find(const struct ptxi_object_table *table, uint64_t number); /* or NULL */
/* An array that was in those bytes is no more. */
void ptxi_object_lose(struct ptxi_object_table *table, const void *base, uint64_t bytes);

struct ptxi_warp;
struct ptxi_insn;

/* What an instruction's operand names, or NULL. */
const struct ptxi_texture *ptxi_object_named(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name, enum ptxi_object_kind kind);
/* What the variable at that address holds; UINT64_MAX: there is none. */
uint64_t ptxi_reference(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address);

#endif
