/* How textures are read: places, weights, sums and formats. What is not in the CUDA C++ Programming Guide, "Texture Fetching", was found from
 * recordings of an H200.
 *
 * Coordinates become texels and 256ths. A normalised one is cut to 21 bits behind the point before it is multiplied by the size (22 or 23
 * for great sizes), then rounded to 256ths, halves up, which are weights of 8 bits; so are the products of the weights of several dimensions. */
#ifndef PTXI_NUM_TEXTURE_H
#define PTXI_NUM_TEXTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* As the driver's array formats are numbered; U8 that hold colours by the curve of sRGB; and numbers of 10, 10, 10 and 2 bits in a word, which count as U16
 * that repeat them. */
enum ptxi_texel {
    PTXI_TEXEL_U8 = 1, PTXI_TEXEL_U16, PTXI_TEXEL_U32, PTXI_TEXEL_S8 = 8, PTXI_TEXEL_S16, PTXI_TEXEL_S32, PTXI_TEXEL_F16 = 16, PTXI_TEXEL_F32 = 32, PTXI_TEXEL_SRGB = 64,
    PTXI_TEXEL_PACKED = 128
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
    return t == PTXI_TEXEL_F32 ? 4 : t == PTXI_TEXEL_F16 || t == PTXI_TEXEL_PACKED ? 2 : 1u << ((t & 7) - !ptxi_texel_is_signed(t));
}

/* ---- places */

/* Two neighbours along one dimension, before the address mode, and how far (256ths) the place is on the way to the second. */
struct ptxi_tap {
    int64_t at;
    uint32_t fraction;
};

/* Bits behind the point of normalised coordinates; the greatest size of a level counts for them all. */
static inline unsigned ptxi_texture_fraction_bits(uint32_t greatest, bool mipmap)
{
    return greatest > (mipmap ? 16384 : 65536) ? 23 : greatest > 8192 ? 22 : 21;
}

/* The place of a coordinate; NaN and subnormals count as 0, and what is beyond 2^24 texels, or repetitions, as that. `bits` behind the point: 0 if
 * it is not normalised. What is not filtered lies in the texel below, and its 256ths are cut. */
struct ptxi_tap ptxi_texture_place(double x, uint32_t size, unsigned bits, bool linear);

/* A place so many 256ths of a texel further on. */
static inline struct ptxi_tap ptxi_texture_shift(struct ptxi_tap tap, int32_t away)
{
    int64_t f = tap.at * 256 + tap.fraction + away;

    return (struct ptxi_tap){ f >> 8, (uint32_t)f & 255 };
}

/* The texel that an address mode finds at index i, or -1: the border's colour. */
static inline int64_t ptxi_texture_wrap(int64_t i, uint32_t size, enum ptxi_address_mode mode)
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

/* A direction's face of a cube, in the order of its layers, and normalised coordinates there. */
unsigned ptxi_texture_cube(const float direction[3], double place[2]);

/* How far it is to the next pixels in two ways, 0 in dimensions that there are not. */
struct ptxi_steps {
    float v[2][3];
    float beyond[2][3]; /* more of it, behind an edge of a cube: the sum of both is a rough one */
    bool over_an_edge;  /* of a cube */
};

/* How far it is from a place on a face to the edge, whose coordinate there is -1 or 1: half of that, with 24 bits behind the point. */
static inline float ptxi_texture_cube_left(float x, bool minus)
{
    const float cut = fabsf(x) < 1 ? (float)(int32_t)(x * 0x1p24f) * 0x1p-24f : x;

    return (1 - (minus ? -cut : cut)) * 0.5f;
}

/* The way from one direction to another, half of it in terms of a cube of side 2. */
void ptxi_texture_cube_step(const float from[3], const float to[3], unsigned way, struct ptxi_steps *s);

/* Steps that stay on a face, in terms of its coordinates. */
void ptxi_texture_cube_flatten(unsigned face, struct ptxi_steps *s);

/* A place that sees texels beyond a corner of a face lies no farther than the first texel behind its edges. */
void ptxi_texture_cube_corner(struct ptxi_tap *x, struct ptxi_tap *y, uint32_t size);

/* A texel beyond an edge of a face of `size` texels a side, on the face that it belongs to; false: beyond a corner. */
bool ptxi_texture_cube_edge(unsigned *face, int64_t *x, int64_t *y, uint32_t size);

/* ---- weights */

/* Of the texels of a footprint, in slices of four: bit 0 of a texel's number says that it is the second along x, bit 1 along y. Slices are
 * those of two levels, of a volume, or places along an ellipse. */
enum { PTXI_TEXTURE_SLICES = 32, PTXI_TEXTURE_GROUP = 4 };

struct ptxi_weights {
    uint16_t w[4 * PTXI_TEXTURE_SLICES]; /* their sum is 256 << shift */
    uint8_t inside[PTXI_TEXTURE_SLICES]; /* texels that are part of it, even if their weight has become 0: a bit each */
    uint32_t slices, shift;
    uint32_t second;                     /* the first slice of the second level, or `slices` */
    uint32_t group;                      /* so many slices are added at once */
};
/* One slice more, which has so much of the sum. */
void ptxi_texture_slice(struct ptxi_weights *w, uint32_t share, uint32_t x, uint32_t y);

/* The slices from there on are of a level whose sum of weights has fewer bits. */
void ptxi_texture_widen(struct ptxi_weights *w, uint32_t from, uint32_t bits);

/* The last slice has no such texel: each of the others takes a third of its weight, the one across what is left. */
void ptxi_texture_corner(struct ptxi_weights *w, unsigned texel);

/* The mean of texels of a format, as ptxi_texel_load() has them: as f32, of integers also as an integer. */
uint32_t ptxi_texture_mean(enum ptxi_texel format, const uint32_t *texels, const struct ptxi_weights *w, bool as_integers);

/* ---- levels: texture_level.c */

/* The level, in 256ths; far below 0 if there are no steps. */
int32_t ptxi_texture_level(const struct ptxi_steps *s, const uint32_t sizes[3]);

/* The same for an ellipse that is looked up in several places along its longer axis, in two dimensions. */
struct ptxi_ellipse {
    int32_t level, ratio; /* 256ths of logarithms: of the shorter axis, and of the longer one to it or to a texel */
    int32_t along[2];     /* the longer axis: a vector of length 64 */
};
/* `most` is the logarithm of how much longer than wide it may be. */
void ptxi_texture_ellipse(const struct ptxi_steps *s, const uint32_t sizes[3], int32_t most, struct ptxi_ellipse *e);

enum { PTXI_TEXTURE_SPOTS = 16 };

struct ptxi_spots {
    uint32_t count, shift;
    struct {
        int32_t away[2]; /* 256ths of a texel */
        uint32_t share;  /* their sum is the level's share << shift */
    } place[PTXI_TEXTURE_SPOTS];
};
/* The places in a level whose texels are so much smaller, 256ths of a logarithm from 0 to 255, than the shorter axis. */
void ptxi_texture_spots(const struct ptxi_ellipse *e, int32_t ratio, uint32_t smaller, uint32_t share, struct ptxi_spots *p);

/* ---- formats */

/* A texel's channel, extended to 32 bits as its format says. */
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

/* A channel of a word of numbers of 10, 10, 10 and 2 bits; and such a word of four f32. */
static inline uint32_t ptxi_texel_unpack(uint32_t word, unsigned channel)
{
    uint32_t v = word >> (10 * channel) & 1023;

    return channel == 3 ? v * 0x5555 : v << 6 | v >> 4;
}
uint32_t ptxi_texel_pack(const uint32_t f32[4]);

/* Colours by the curve of sRGB, as f16. */
extern const uint16_t ptxi_texture_srgb[256];

/* A channel as f32: what it holds, or a fraction of its format's largest value. */
uint32_t ptxi_texel_to_f32(uint32_t texel, enum ptxi_texel format);
/* f32 to f16, rounded to the nearest; NaN is 0x7fff. */
uint16_t ptxi_texture_f16(uint32_t f32);
/* The border's colour as a texel of a format: that fraction of its largest value, or, read as an integer, the lowest bits of the f32. */
uint32_t ptxi_texel_border(float c, enum ptxi_texel format, bool as_integer);
/* The same of a colour by the curve of sRGB. */
uint32_t ptxi_texel_border_srgb(float c);
/* What sust.p stores for 32 bits: an integer that the format has no room for is clamped, f16 is rounded to zero. */
uint32_t ptxi_texel_store(uint32_t value, enum ptxi_texel format);

#endif
