/* The arithmetic of texture fetches: coordinates, weights, sums and formats. The CUDA C++ Programming Guide, "Texture
 * Fetching", describes the principle. The details were derived from recordings of an H200.
 *
 * A coordinate becomes an index and a fraction in 256ths of a texel. A normalised coordinate is truncated to 21 bits
 * after the point (22 or 23 for large sizes), multiplied by the size, and rounded to 256ths, halves up. These are
 * weights of 8 bits. The products of the weights of several dimensions are rounded to 8 bits, too. */
#ifndef PTXI_NUM_TEXTURE_H
#define PTXI_NUM_TEXTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Texel formats, with the numbers of the driver's array formats. */
enum ptxi_texel {
    PTXI_TEXEL_U8 = 1, PTXI_TEXEL_U16, PTXI_TEXEL_U32, PTXI_TEXEL_S8 = 8, PTXI_TEXEL_S16, PTXI_TEXEL_S32,
    PTXI_TEXEL_F16 = 16, PTXI_TEXEL_F32 = 32,
    PTXI_TEXEL_SRGB = 64,   /* U8 with a colour in sRGB */
    PTXI_TEXEL_PACKED = 128 /* 10, 10, 10 and 2 bits in a word. Their bits are repeated to U16. */
};

enum ptxi_address_mode { PTXI_ADDRESS_WRAP, PTXI_ADDRESS_CLAMP, PTXI_ADDRESS_MIRROR, PTXI_ADDRESS_BORDER };

static inline bool ptxi_texel_is_float(enum ptxi_texel t)
{
    return t == PTXI_TEXEL_F16 || t == PTXI_TEXEL_F32;
}

static inline bool ptxi_texel_is_signed(enum ptxi_texel t)
{
    return t >= PTXI_TEXEL_S8 && t <= PTXI_TEXEL_S32;
}

static inline unsigned ptxi_texel_bytes(enum ptxi_texel t)
{
    switch (t) {
    case PTXI_TEXEL_F32: return 4;
    case PTXI_TEXEL_F16: case PTXI_TEXEL_PACKED: return 2;
    default: return 1u << ((t & 7) - !ptxi_texel_is_signed(t));
    }
}

/* ---- coordinates */

/* A tap: texel `at` and the next one along a dimension, before the address mode, and the offset from the first to the
 * second in 256ths. */
struct ptxi_texture_tap {
    int64_t at;
    uint32_t fraction;
};

/* The number of bits after the point of normalised coordinates. It depends on the greatest size of the level. */
static inline unsigned ptxi_texture_fraction_bits(uint32_t greatest, bool mipmap)
{
    const uint32_t limit = mipmap ? 16384 : 65536;

    if (greatest > limit)
        return 23;
    return greatest > 8192 ? 22 : 21;
}

/* The tap of a coordinate. NaNs and subnormal numbers count as 0. Coordinates beyond 2^24 texels or repetitions are
 * clamped to that. `bits` is the number of bits after the point, 0 if the coordinate is not normalised. Without a
 * linear filter, the index is rounded down and the 256ths are truncated. */
struct ptxi_texture_tap ptxi_texture_find_tap(double x, uint32_t size, unsigned bits, bool linear);

/* Moves a tap by `away` 256ths of a texel. */
static inline struct ptxi_texture_tap ptxi_texture_shift_tap(struct ptxi_texture_tap tap, int32_t away)
{
    int64_t f = tap.at * 256 + tap.fraction + away;

    return (struct ptxi_texture_tap){ f >> 8, (uint32_t)f & 255 };
}

/* The texel of index i in an address mode, or -1 for the border. */
static inline int64_t ptxi_texture_apply_address_mode(int64_t i, uint32_t size, enum ptxi_address_mode mode)
{
    int64_t n = size, m;

    if ((uint64_t)i < size)
        return i;
    switch (mode) {
    case PTXI_ADDRESS_WRAP:
        m = i % n;
        return m < 0 ? m + n : m;
    case PTXI_ADDRESS_MIRROR:
        m = i % (2 * n);
        m = m < 0 ? m + 2 * n : m;
        return m < n ? m : 2 * n - 1 - m;
    case PTXI_ADDRESS_BORDER:
        return -1;
    default:
        return i < 0 ? 0 : n - 1;
    }
}

/* The cube face of a direction, in the order of the layers, and the normalised coordinates on it. */
unsigned ptxi_texture_cube_face(const float direction[3], double place[2]);

/* The differences of the coordinates to the next pixels in two directions, 0 in unused dimensions. */
struct ptxi_texture_gradients {
    float v[2][3];
    float beyond[2][3]; /* the part beyond an edge of a cube; both are added as LOD floats */
    bool over_an_edge;  /* true if a step crosses an edge of a cube */
};

/* Half the distance from coordinate x on a face to the edge, which is at -1 or 1, with 24 bits after the point. */
static inline float ptxi_texture_cube_edge_distance(float x, bool minus)
{
    const float cut = fabsf(x) < 1 ? (float)(int32_t)(x * 0x1p24f) * 0x1p-24f : x;

    return (1 - (minus ? -cut : cut)) * 0.5f;
}

/* Sets gradient `way` to half the step from one direction to another on a cube of side 2. */
void ptxi_texture_cube_gradient(const float from[3], const float to[3], unsigned way, struct ptxi_texture_gradients *s);

/* Converts gradients that stay on a face to the coordinates of the face. */
void ptxi_texture_cube_project_gradients(unsigned face, struct ptxi_texture_gradients *s);

/* Clamps taps that read texels beyond a corner of a face to the first texel beyond its edges. */
void ptxi_texture_cube_clamp_corner(struct ptxi_texture_tap *x, struct ptxi_texture_tap *y, uint32_t size);

/* Converts a texel beyond an edge of a face, which has `size` texels per side, to a texel of the neighbouring face.
 * Returns false if the texel is beyond a corner. */
bool ptxi_texture_cube_cross_edge(unsigned *face, int64_t *x, int64_t *y, uint32_t size);

/* ---- weights */

/* The texels of a footprint are in slices of four. In a slice, bit 0 of a texel's number is set for the second texel
 * along x, and bit 1 for the second along y. There are slices for two levels, for the depth of a volume, and for
 * anisotropic probes. */
enum { PTXI_TEXTURE_MAX_SLICES = 32, PTXI_TEXTURE_SLICE_GROUP = 4 };

struct ptxi_texture_weights {
    uint16_t w[4 * PTXI_TEXTURE_MAX_SLICES]; /* weights; their sum is 256 << shift */
    uint8_t inside[PTXI_TEXTURE_MAX_SLICES]; /* masks of the texels in the footprint, with any weight */
    uint32_t slices, shift;
    uint32_t second;                         /* first slice of the second level, or `slices` */
    uint32_t group;                          /* number of slices that are added at once */
};
/* Adds a slice with the given share of the sum. x and y are the fractions of the taps. */
void ptxi_texture_add_slice(struct ptxi_texture_weights *w, uint32_t share, uint32_t x, uint32_t y);

/* Scales the weights of the slices from `from` on. They belong to a level with a sum of fewer bits. */
void ptxi_texture_scale_slices(struct ptxi_texture_weights *w, uint32_t from, uint32_t bits);

/* Drops a texel of the last slice. The other three texels get a third of its weight each; the opposite one gets the
 * rest. */
void ptxi_texture_drop_corner(struct ptxi_texture_weights *w, unsigned texel);

/* The weighted mean of texels as ptxi_texel_load() returns them. It is an f32, or for integers also an integer. */
uint32_t ptxi_texture_filter(enum ptxi_texel format, const uint32_t *texels, const struct ptxi_texture_weights *w,
                             bool as_integers);

/* ---- level of detail (LOD): texture_lod.c */

/* The LOD in 256ths. It is far below 0 if the gradients are 0. */
int32_t ptxi_texture_lod(const struct ptxi_texture_gradients *s, const uint32_t sizes[3]);

/* The axes of an anisotropic footprint, which is an ellipse with several probes along its longer axis. Two dimensions.
 */
struct ptxi_texture_axes {
    int32_t level; /* logarithm of the shorter axis in 256ths */
    int32_t ratio; /* logarithm of the ratio of the longer axis to the shorter one, or to a texel, in 256ths */
    int32_t along[2]; /* direction of the longer axis: a vector of length 64 */
};
/* `most` is the logarithm of the maximum ratio of the axes. */
void ptxi_texture_find_axes(const struct ptxi_texture_gradients *s, const uint32_t sizes[3], int32_t most,
                            struct ptxi_texture_axes *e);

enum { PTXI_TEXTURE_MAX_PROBES = 16 };

struct ptxi_texture_probes {
    uint32_t count, shift;
    struct {
        int32_t away[2]; /* offset in 256ths of a texel */
        uint32_t share;  /* share of the sum of weights; the sum of the shares is the level's share << shift */
    } place[PTXI_TEXTURE_MAX_PROBES];
};
/* Finds the probes in a level. `smaller` is the logarithm of the ratio of the shorter axis to a texel, 0 to 255
 * 256ths. */
void ptxi_texture_find_probes(const struct ptxi_texture_axes *e, int32_t ratio, uint32_t smaller, uint32_t share,
                              struct ptxi_texture_probes *p);

/* ---- formats */

/* A channel of a texel, extended to 32 bits according to its format. */
static inline uint32_t ptxi_texel_load(const unsigned char *p, enum ptxi_texel format)
{
    uint16_t h;
    uint32_t v;

    switch (format) {
    case PTXI_TEXEL_U8: return *p;
    case PTXI_TEXEL_S8: return (uint32_t)(int8_t)*p;
    case PTXI_TEXEL_U16: case PTXI_TEXEL_F16: memcpy(&h, p, 2); return h;
    case PTXI_TEXEL_S16: memcpy(&h, p, 2); return (uint32_t)(int16_t)h;
    default: memcpy(&v, p, 4); return v;
    }
}

/* Reads a channel of a word with 10, 10, 10 and 2 bits; and packs four f32 into such a word. */
static inline uint32_t ptxi_texel_unpack(uint32_t word, unsigned channel)
{
    uint32_t v = word >> (10 * channel) & 1023;

    return channel == 3 ? v * 0x5555 : v << 6 | v >> 4;
}
uint32_t ptxi_texel_pack(const uint32_t f32[4]);

/* Linear colours, as f16, by their sRGB value. */
extern const uint16_t ptxi_texture_srgb[256];

/* A channel as f32: the float itself, or a fraction of the largest value of the format. */
uint32_t ptxi_texel_to_f32(uint32_t texel, enum ptxi_texel format);
/* f32 to f16, rounded to nearest. A NaN becomes 0x7fff. */
uint16_t ptxi_texture_f16_from_f32(uint32_t f32);
/* The border colour as a texel of a format: the fraction c of its largest value. If texels are read as integers, it is
 * the lowest bits of the f32. */
uint32_t ptxi_texel_border(float c, enum ptxi_texel format, bool as_integer);
/* The same for a colour in sRGB. */
uint32_t ptxi_texel_border_srgb(float c);
/* The texel that sust.p stores for a value of 32 bits. Integers are clamped to the format, and f16 is rounded toward
 * zero. */
uint32_t ptxi_texel_store(uint32_t value, enum ptxi_texel format);

#endif
