/* Fetches of all lanes at once, where they read one texture in the usual ways: one level, no cube, no ellipses, no blocks. The same numbers as
 * those of num/texture.h, in loops that become vectors; lanes that see infinities or NaN are left to it. */
#ifndef PTXI_EXEC_TOGETHER_H
#define PTXI_EXEC_TOGETHER_H

#include <math.h>
#include <string.h>

#include "exec/engine.h"
#include "exec/halves.h"
#include "exec/lanes.h"
#include "exec/texture.h"

/* What is the same for all lanes. */
struct ptxi_fetch {
    const struct ptxi_texture *t;
    const struct ptxi_image *m;
    unsigned dimensions;
    bool linear, integer;
    const void *c[3];      /* coordinates */
    const uint32_t *layer; /* or NULL */
};

/* ---- places */

/* Two neighbours along a dimension, -1 the border, and 256ths on the way to the second. */
struct ptxi_places {
    LANE_ARRAY(int32_t, at[2]);
    LANE_ARRAY(int32_t, fraction);
};

/* Coordinates to texels, or to 256ths of one if they are filtered. Of normalised ones repetitions count as two, if the address mode repeats. */
static void scale_places(const float *x, uint32_t size, unsigned bits, bool linear, bool repeats, int32_t *fixed)
{
    const double unit = (double)(1 << bits), units = linear ? 256 : 1, half = linear ? 0.5 : 0, first = linear ? 128 : 0;
    const double most = bits ? 0x1p24 : 0x1p30 / units, beyond = 0x1p30, texels = (double)size * units, scale = texels / unit;

    if (bits) {
        FOR_LANES
        {
            double v = fabsf(x[l]) >= 0x1p-126f ? (double)x[l] : 0, c = v > most ? most : v < -most ? -most : v, turns = floor(c);
            double cut = floor((c - turns) * unit); /* the difference may be rounded up to 1 */
            double part = floor((cut < unit ? cut : unit - 1) * scale + half) - first;
            double whole = (repeats ? turns - 2 * floor(turns * 0.5) : turns) * texels + part;

            fixed[l] = (int32_t)(whole > beyond ? beyond : whole < -beyond ? -beyond : whole);
        }
    } else {
        FOR_LANES
        {
            double v = fabsf(x[l]) >= 0x1p-126f ? (double)x[l] : 0;

            fixed[l] = (int32_t)(floor((v > most ? most : v < -most ? -most : v) * units + half) - first);
        }
    }
}

/* No more than two repetitions away. */
static void wrap_places(int32_t *at, int32_t n, enum ptxi_address_mode mode)
{
    switch (mode) {
    case PTXI_ADDRESS_WRAP:
        FOR_LANES
        {
            int32_t i = at[l] < 0 ? at[l] + n : at[l];

            i = i >= n ? i - n : i;
            at[l] = i >= n ? i - n : i;
        }
        break;
    case PTXI_ADDRESS_MIRROR:
        FOR_LANES
        {
            int32_t i = at[l] < 0 ? at[l] + 2 * n : at[l];

            i = i >= 2 * n ? i - 2 * n : i;
            at[l] = i < n ? i : 2 * n - 1 - i;
        }
        break;
    case PTXI_ADDRESS_BORDER:
        FOR_LANES
        at[l] = (uint32_t)at[l] < (uint32_t)n ? at[l] : -1;
        break;
    default:
        FOR_LANES
        at[l] = at[l] < 0 ? 0 : at[l] > n - 1 ? n - 1 : at[l];
    }
}

static void find_places(const struct ptxi_fetch *f, unsigned d, uint32_t size, struct ptxi_places *p)
{
    const struct ptxi_sampler *s = &f->t->sampler;
    LANE_ARRAY(int32_t, fixed);
    enum ptxi_address_mode mode = !s->normalized && s->address[d] != PTXI_ADDRESS_BORDER ? PTXI_ADDRESS_CLAMP : s->address[d];
    unsigned bits = s->normalized ? ptxi_texture_fraction_bits(size, f->t->mipmap || f->t->layered) : 0;

    scale_places(f->c[d], size, bits, f->linear, mode == PTXI_ADDRESS_WRAP || mode == PTXI_ADDRESS_MIRROR, fixed);
    if (!f->linear) {
        memcpy(p->at[0], fixed, sizeof fixed);
        wrap_places(p->at[0], (int32_t)size, mode);
        return;
    }
    for (int e = 0; e < 2; e++) {
        FOR_LANES
        p->at[e][l] = (fixed[l] >> 8) + e;
        wrap_places(p->at[e], (int32_t)size, mode);
    }
    FOR_LANES
    p->fraction[l] = mode == PTXI_ADDRESS_CLAMP && p->at[0][l] == p->at[1][l] ? 0 : fixed[l] & 255; /* clamped before it is parted */
}

/* ---- texels and weights */

enum { PTXI_TOGETHER = 8 }; /* texels at most: bit 0 of a texel's number says that it is the second along x, bit 1 along y, bit 2 along z */

struct ptxi_together {
    unsigned count, slices;
    bool bordered;                              /* `beyond` counts */
    LANE_ARRAY(int32_t, offset[PTXI_TOGETHER]); /* bytes behind the level's base */
    LANE_ARRAY(uint32_t, beyond[PTXI_TOGETHER]); /* 1: the border */
    LANE_ARRAY(int32_t, w[PTXI_TOGETHER]);
    LANE_ARRAY(int32_t, inside[PTXI_TOGETHER]); /* part of the footprint, even if its weight has become 0 */
    LANE_ARRAY(uint32_t, word[PTXI_TOGETHER]);
    LANE_ARRAY(uint32_t, texel[PTXI_TOGETHER]); /* one channel */
};

/* As ptxi_texture_slice() does it. */
static void weigh(struct ptxi_together *g, const struct ptxi_places p[3])
{
    const int32_t *fx = p[0].fraction, *fy = p[1].fraction, *fz = p[2].fraction;

    for (unsigned z = 0; z < g->slices; z++) {
        int32_t(*w)[PTXI_LANES] = g->w + 4 * z, (*inside)[PTXI_LANES] = g->inside + 4 * z;

        FOR_LANES
        {
            int32_t share = z ? fz[l] : 256 - fz[l], x = fx[l], y = fy[l];
            int32_t far = (share * x + 128) >> 8, near = share - far, far_far = (far * y + 128) >> 8, near_near = (near * (256 - y) + 128) >> 8;

            w[0][l] = near_near;
            w[1][l] = far - far_far;
            w[2][l] = near - near_near;
            w[3][l] = far_far;
            inside[0][l] = share != 0;
            inside[1][l] = (share != 0) & (x != 0);
            inside[2][l] = (share != 0) & (y != 0);
            inside[3][l] = (share != 0) & (x != 0) & (y != 0);
        }
    }
}

static void find_offsets(const struct ptxi_fetch *f, struct ptxi_together *g, const struct ptxi_places p[3])
{
    const int32_t bytes = f->t->bytes, pitch = (int32_t)f->m->pitch, slice = (int32_t)f->m->slice;

    for (unsigned n = 0; n < g->count; n++) {
        const int32_t *x = p[0].at[n & 1], *y = p[1].at[n >> 1 & 1], *z = p[2].at[n >> 2];

        uint32_t *beyond = g->beyond[n];
        int32_t *offset = g->offset[n];

        FOR_LANES
        {
            beyond[l] = (uint32_t)(x[l] | y[l] | z[l]) >> 31;
            offset[l] = beyond[l] ? 0 : x[l] * bytes + y[l] * pitch + z[l] * slice;
        }
    }
}

/* The dimensions that there are, and the layer. */
static void find_together(const struct ptxi_fetch *f, struct ptxi_together *g)
{
    const uint32_t sizes[] = { f->m->width, f->m->height, f->m->depth }, last = f->m->depth - 1;
    struct ptxi_places p[3];

    g->slices = f->dimensions == 3 && f->linear ? 2 : 1;
    g->count = f->linear ? 4 * g->slices : 1;
    g->bordered = false;
    for (unsigned d = 0; d < 3; d++) {
        g->bordered |= d < f->dimensions && f->t->sampler.address[d] == PTXI_ADDRESS_BORDER;
        if (d < f->dimensions)
            find_places(f, d, sizes[d], &p[d]);
        else
            memset(&p[d], 0, sizeof p[d]);
    }
    if (f->layer)
        FOR_LANES
        p[2].at[0][l] = (int32_t)(f->layer[l] < last ? f->layer[l] : last);
    if (f->linear)
        weigh(g, p);
    find_offsets(f, g, p);
}

/* Integer coordinates: what is outside of the texture is not the border, but 0. */
static void find_integers(const struct ptxi_fetch *f, struct ptxi_together *g, uint32_t *outside)
{
    const uint32_t sizes[] = { f->m->width, f->m->height, f->m->depth };
    const int32_t strides[] = { f->t->bytes, (int32_t)f->m->pitch, (int32_t)f->m->slice };
    LANE_ARRAY(uint32_t, beyond) = { 0 };
    LANE_ARRAY(int32_t, offset) = { 0 };

    g->slices = g->count = 1;
    g->bordered = false;
    for (unsigned d = 0; d < f->dimensions + (f->layer != NULL); d++) {
        const uint32_t *c = d < f->dimensions ? f->c[d] : f->layer, size = d < f->dimensions ? sizes[d] : sizes[2];
        const int32_t stride = d < f->dimensions ? strides[d] : strides[2];

        FOR_LANES
        {
            uint32_t out = c[l] >= size;

            beyond[l] |= out;
            offset[l] += out ? 0 : (int32_t)c[l] * stride;
        }
    }
    memcpy(g->offset[0], offset, sizeof offset);
    memcpy(outside, beyond, sizeof beyond);
}

#define LOAD_AS(type)                                  \
    do {                                               \
        for (int l = 0; l < PTXI_LANES; l++) {         \
            type v;                                    \
                                                       \
            memcpy(&v, base + offset[l], sizeof v);    \
            word[l] = v;                               \
        }                                              \
    } while (0)

/* Texels' bytes from there on, four at most. */
static void load_words(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned first)
{
    const unsigned char *base = f->m->base + first;

    for (unsigned n = 0; n < g->count; n++) {
        const int32_t *offset = g->offset[n];
        uint32_t *word = g->word[n];

        switch (f->t->bytes) {
        case 1: LOAD_AS(uint8_t); break;
        case 2: LOAD_AS(uint16_t); break;
        default: LOAD_AS(uint32_t);
        }
    }
}
#undef LOAD_AS

/* A channel of all texels; channels come in order. */
static void take_channel(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned channel)
{
    const unsigned bytes = f->t->bytes / f->t->channels, at = channel * bytes, unused = 32 - 8 * bytes, up = unused - 8 * (at & 3);
    const uint32_t border = f->t->border[channel];
    const bool with_sign = ptxi_texel_is_signed(f->t->format);

    if (!(at & 3))
        load_words(f, g, at);
    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *word = g->word[n], *beyond = g->beyond[n];
        uint32_t *texel = g->texel[n];

        if (f->t->format == PTXI_TEXEL_PACKED)
            FOR_LANES
            texel[l] = ptxi_texel_unpack(word[l], channel);
        else if (with_sign)
            FOR_LANES
            texel[l] = (uint32_t)((int32_t)(word[l] << up) >> unused);
        else
            FOR_LANES
            texel[l] = word[l] << up >> unused;
        if (g->bordered)
            FOR_LANES
            texel[l] = beyond[l] ? border : texel[l];
    }
}

/* ---- sums of floats */

/* What sums of a format are made of: the bias of its exponents, how many bits of the term with the greatest exponent count behind its first
 * one, and the exponent of infinities. */
struct ptxi_float_sum {
    int32_t bias, kept, infinity;
    bool half; /* rounded to f16 */
};

/* Of all texels: the values, 0 if they do not count, and their exponents in the format's own terms. */
struct ptxi_terms {
    LANE_ARRAY(float, value[PTXI_TOGETHER]);
    LANE_ARRAY(int32_t, exponent[PTXI_TOGETHER]);
};

static void take_terms(const struct ptxi_together *g, enum ptxi_texel format, struct ptxi_terms *t)
{
    LANE_ARRAY(uint16_t, half);

    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *texel = g->texel[n];
        float *v = t->value[n];
        int32_t *e = t->exponent[n];

        if (format == PTXI_TEXEL_F32) {
            FOR_LANES
            {
                uint32_t live;

                e[l] = (int32_t)(texel[l] >> 23 & 255);
                live = e[l] && e[l] < 255 ? texel[l] : 0;
                memcpy(&v[l], &live, sizeof live);
            }
            continue;
        }
        if (format == PTXI_TEXEL_SRGB) {
            for (int l = 0; l < PTXI_LANES; l++) {
                half[l] = ptxi_texture_srgb[texel[l]];
                e[l] = ptxi_texture_srgb[texel[l] | 7] >> 10;
            }
        } else {
            FOR_LANES
            {
                int32_t field = (int32_t)(texel[l] >> 10 & 31);

                half[l] = field < 31 ? (uint16_t)texel[l] : 0;
                e[l] = field ? field : (texel[l] & 0x3ff) != 0;
            }
        }
        for (int k = 0; k < PTXI_LANES; k += HALF_BLOCK)
            widen_f16(v + k, half + k);
    }
}

static inline double power_of_two(int32_t e)
{
    uint64_t bits = (uint64_t)(1023 + (int64_t)e) << 52;
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

/* The terms of slice z, aligned with the greatest exponent among those of weight above 0 and cut. */
static void sum_slice(const struct ptxi_together *g, const struct ptxi_terms *t, const struct ptxi_float_sum *f, unsigned z, double *sum, int32_t *greatest)
{
    const int32_t top = f->bias + f->kept;
    LANE_ARRAY(double, scale);

    FOR_LANES
    greatest[l] = 0, sum[l] = 0;
    for (unsigned n = 4 * z; n < 4 * z + 4; n++) {
        const int32_t *e = t->exponent[n], *w = g->w[n];

        FOR_LANES
        greatest[l] = w[l] && e[l] > greatest[l] ? e[l] : greatest[l];
    }
    FOR_LANES
    scale[l] = power_of_two(top - greatest[l]);
    for (unsigned n = 4 * z; n < 4 * z + 4; n++) {
        const float *v = t->value[n];
        const int32_t *w = g->w[n];

        FOR_LANES
        sum[l] += trunc((double)v[l] * scale[l]) * (double)w[l];
    }
}

/* Slices are aligned by steps of 4 bits. */
static void join_slices(double *sum, int32_t *unit, const double *other, const int32_t *its)
{
    FOR_LANES
    {
        int32_t both = (unit[l] > its[l] ? unit[l] : its[l]) & ~3;

        sum[l] = floor(sum[l] * power_of_two(unit[l] - both)) + floor(other[l] * power_of_two(its[l] - both));
        unit[l] = both;
    }
}

/* To so many bits, halves away from zero. */
static inline double round_bits(double x, unsigned bits)
{
    const unsigned drop = 53 - bits;
    uint64_t v;

    memcpy(&v, &x, sizeof v);
    v = (v + ((uint64_t)1 << (drop - 1))) & ~(((uint64_t)1 << drop) - 1);
    memcpy(&x, &v, sizeof x);
    return x;
}

static void round_sums(const double *sum, const int32_t *unit, const struct ptxi_float_sum *f, const uint32_t *minus, uint32_t *r)
{
    const int32_t bottom = f->bias + f->kept + 8;
    LANE_ARRAY(float, out);

    if (f->half) {
        FOR_LANES
        {
            double mean = sum[l] * power_of_two(unit[l] - bottom), size = fabs(mean);
            double rounded = size < 0x1p-14 ? floor(size * 0x1p24 + 0.5) * 0x1p-24 : round_bits(size, 11);

            out[l] = (float)copysign(rounded < 0x1p16 ? rounded : (double)INFINITY, mean);
        }
    } else {
        FOR_LANES
        {
            double mean = round_bits(sum[l] * power_of_two(unit[l] - bottom), 24);

            out[l] = (float)(fabs(mean) < 0x1p-126 ? copysign(0, mean) : mean);
        }
    }
    memcpy(r, out, sizeof out);
    FOR_LANES
    r[l] = sum[l] == 0 ? minus[l] << 31 : r[l];
}

static void filter_floats(const struct ptxi_together *g, enum ptxi_texel format, uint32_t *r, uint32_t *odd)
{
    static const struct ptxi_float_sum f32 = { 127, 27, 255, false }, f16 = { 15, 14, 31, true }, colour = { 15, 7, 31, true };
    const struct ptxi_float_sum *f = format == PTXI_TEXEL_F32 ? &f32 : format == PTXI_TEXEL_F16 ? &f16 : &colour;
    const unsigned sign = format == PTXI_TEXEL_F32 ? 31 : 15;
    const uint32_t zeros = format == PTXI_TEXEL_F32 ? 0xff800000 : 0xffff; /* what zeros do not have; f32 subnormals are some */
    struct ptxi_terms t;
    LANE_ARRAY(double, sum[2]);
    LANE_ARRAY(int32_t, unit[2]);
    LANE_ARRAY(uint32_t, minus);

    take_terms(g, format, &t);
    FOR_LANES
    minus[l] = 1;
    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *texel = g->texel[n];
        const int32_t *inside = g->inside[n], *e = t.exponent[n];

        FOR_LANES
        {
            odd[l] |= inside[l] & (e[l] == f->infinity);
            minus[l] &= (uint32_t)!inside[l] | ((texel[l] & zeros) == (uint32_t)1 << sign);
        }
    }
    for (unsigned z = 0; z < g->slices; z++)
        sum_slice(g, &t, f, z, sum[z], unit[z]);
    if (g->slices > 1)
        join_slices(sum[0], unit[0], sum[1], unit[1]);
    round_sums(sum[0], unit[0], f, minus, r);
}

/* ---- sums of integers */

static void put_floats(uint32_t *r, const int32_t *sum, int32_t least, float most)
{
    LANE_ARRAY(float, v);

    FOR_LANES
    v[l] = (float)(sum[l] < least ? least : sum[l]) / most;
    memcpy(r, v, sizeof v);
}

/* 8 and 16 bits. */
static void filter_short(const struct ptxi_together *g, enum ptxi_texel format, bool as_integers, uint32_t *r)
{
    LANE_ARRAY(int32_t, sum) = { 0 };

    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *texel = g->texel[n];
        const int32_t *w = g->w[n];

        FOR_LANES
        sum[l] += (int32_t)texel[l] * w[l];
    }
    if (!as_integers && format == PTXI_TEXEL_U8) {
        FOR_LANES
        sum[l] *= 257;
    }
    if (!as_integers && format == PTXI_TEXEL_S8) {
        FOR_LANES
        sum[l] += (sum[l] + 64 + (sum[l] >> 12) * 16) >> 7;
    } else {
        FOR_LANES
        sum[l] = (sum[l] + 128) >> 8;
    }
    if (as_integers)
        memcpy(r, sum, sizeof sum);
    else if (ptxi_texel_is_signed(format))
        put_floats(r, sum, -32767, 32767);
    else
        put_floats(r, sum, 0, 65535);
}

static void filter_words(const struct ptxi_together *g, bool with_sign, uint32_t *r)
{
    for (int l = 0; l < PTXI_LANES; l++) {
        int64_t sum = 0;

        for (unsigned n = 0; n < g->count; n++)
            sum += (with_sign ? (int64_t)(int32_t)g->texel[n][l] : (int64_t)g->texel[n][l]) * g->w[n][l];
        r[l] = (uint32_t)(sum >> 8);
    }
}

/* ---- without a filter */

static void convert(const uint32_t *texel, enum ptxi_texel format, uint32_t *r)
{
    const int32_t *v = (const int32_t *)texel;
    LANE_ARRAY(uint16_t, half);
    LANE_ARRAY(float, wide);
    LANE_ARRAY(int32_t, tens);

    switch (format) {
    case PTXI_TEXEL_U8: put_floats(r, v, 0, 255); break;
    case PTXI_TEXEL_U16: put_floats(r, v, 0, 65535); break;
    case PTXI_TEXEL_PACKED:
        FOR_LANES
        tens[l] = v[l] >> 6;
        put_floats(r, tens, 0, 1023);
        break;
    case PTXI_TEXEL_S8: put_floats(r, v, -127, 127); break;
    case PTXI_TEXEL_S16: put_floats(r, v, -32767, 32767); break;
    case PTXI_TEXEL_F16:
        for (int l = 0; l < PTXI_LANES; l++)
            r[l] = ptxi_texel_to_f32(texel[l], format);
        break;
    case PTXI_TEXEL_SRGB:
        for (int l = 0; l < PTXI_LANES; l++)
            half[l] = ptxi_texture_srgb[texel[l]];
        for (int k = 0; k < PTXI_LANES; k += HALF_BLOCK)
            widen_f16(wide + k, half + k);
        memcpy(r, wide, sizeof wide);
        break;
    default: memcpy(r, texel, sizeof wide);
    }
}

/* ---- a fetch */

/* What a channel's texels mean. */
static inline enum ptxi_texel format_of(const struct ptxi_texture *t, unsigned channel)
{
    if (t->format == PTXI_TEXEL_PACKED)
        return channel == 3 ? PTXI_TEXEL_U16 : t->format;
    return t->srgb && channel < (t->channels == 2 ? 1 : 3) ? PTXI_TEXEL_SRGB : t->format;
}

/* Returns the lanes that it leaves undone. */
static ptxi_lanes fetch_together(const struct ptxi_fetch *f, uint32_t (*r)[PTXI_LANES])
{
    LANE_ARRAY(uint32_t, odd) = { 0 };
    LANE_ARRAY(uint32_t, outside) = { 0 };
    struct ptxi_together g;
    ptxi_lanes left = 0;

    if (f->integer)
        find_integers(f, &g, outside);
    else
        find_together(f, &g);
    for (unsigned c = 0; c < f->t->channels; c++) {
        enum ptxi_texel format = format_of(f->t, c);

        take_channel(f, &g, c);
        if (!f->linear)
            convert(g.texel[0], f->t->as_integers ? PTXI_TEXEL_U32 : format, r[c]);
        else if (ptxi_texel_is_float(format) || format == PTXI_TEXEL_SRGB)
            filter_floats(&g, format, r[c], odd);
        else if (ptxi_texel_bytes(format) < 4)
            filter_short(&g, format, f->t->as_integers, r[c]);
        else
            filter_words(&g, ptxi_texel_is_signed(format), r[c]);
        FOR_LANES
        r[c][l] = outside[l] ? 0 : r[c][l];
    }
    for (unsigned l = 0; l < PTXI_LANES; l++)
        left |= (ptxi_lanes)odd[l] << l;
    return left;
}

#endif
