/* Textures and surfaces as instructions see them, and the table in which instructions find them. A kernel holds a
 * number of an object, or the address of a .texref, .samplerref or .surfref variable with such a number. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_H
#define PTXI_EXEC_TEXTURE_TEXTURE_H

#include "num/texture.h"

enum ptxi_object_kind { PTXI_OBJECT_NONE, PTXI_OBJECT_TEXTURE, PTXI_OBJECT_SURFACE, PTXI_OBJECT_SAMPLER };

/* A variable holds the kind of the object in the upper bits, from this one on, and its number in the lower bits. A
 * sampler variable holds its modes instead of a number (isa/bytecode.h). */
enum { PTXI_REFERENCE_KIND = 32 };

enum { PTXI_TEXTURE_LEVELS = 17 };

/* One level: texels in rows, slices or layers. */
struct ptxi_image {
    unsigned char *base;
    uint32_t width, height, depth; /* 1 in unused dimensions */
    uint64_t pitch, slice;         /* bytes from row to row, and from slice to slice */
};

struct ptxi_sampler {
    uint8_t address[3]; /* enum ptxi_address_mode */
    bool linear, normalized, mip_linear;
    int32_t anisotropy;        /* logarithm of the maximum ratio in 256ths */
    int32_t slope;             /* slope of the transition from a level to the next one, in quarters */
    int32_t bias, least, most; /* LOD bias and clamps in 256ths */
};

struct ptxi_texture {
    enum ptxi_object_kind kind;
    enum ptxi_texel format;
    uint8_t channels, bytes; /* of a texel or a block */
    uint8_t block;           /* enum ptxi_block */
    uint8_t dimensions;      /* 1, 2 or 3; layers do not count */
    bool layered, cube, mipmap, memory, normalized, as_integers, srgb, seamless;
    uint32_t border[4];      /* channels of the border texel */
    struct ptxi_sampler sampler;
    _Atomic bool gone;       /* the array has been destroyed */
    uint64_t readable;       /* number of bytes at the first level's base that kernels need to read; 0 for an array */
    unsigned levels;
    struct ptxi_image level[PTXI_TEXTURE_LEVELS];
};

/* object_table.c: the numbers of the objects of a context. A kernel can use only these. */
struct ptxi_object_table;
/* Returns NULL if memory is exhausted. */
struct ptxi_object_table *ptxi_object_table_create(void);
void ptxi_object_table_destroy(struct ptxi_object_table *table);
/* Returns the number of the new object, or 0 if memory is exhausted or there are too many objects. */
uint64_t ptxi_object_table_add(struct ptxi_object_table *table, struct ptxi_texture *t);
void ptxi_object_table_remove(struct ptxi_object_table *table, uint64_t number);
/* Returns NULL if there is no such object. */
struct ptxi_texture *ptxi_object_table_find(const struct ptxi_object_table *table, uint64_t number);
/* Marks the objects of a destroyed array, which was in these bytes. */
void ptxi_object_table_invalidate(struct ptxi_object_table *table, const void *base, uint64_t bytes);

struct ptxi_warp;
struct ptxi_insn;

/* Returns the object of an instruction's operand: a number or the address of a variable. NULL if there is no such
 * object. */
const struct ptxi_texture *ptxi_object_resolve(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name,
                                               enum ptxi_object_kind kind);
/* Returns the content of the variable at an address, or UINT64_MAX if it cannot be read. */
uint64_t ptxi_object_read_reference(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address);

#endif
