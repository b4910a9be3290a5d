/* Filtering of the texels of all lanes at once. The results are those of num/texture.c, in loops that become vector
 * code. */
#ifndef PTXI_EXEC_TEXTURE_FILTER_H
#define PTXI_EXEC_TEXTURE_FILTER_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "exec/arith/f16_view.h"
#include "exec/engine/op_shapes.h"
#include "num/texture.h"

/* The maximum number of texels of a lane. In a slice, bit 0 of a texel's number is set for the second texel along x,
 * and bit 1 for the second along y. */
enum { MAX_TEXELS = 16 };

/* The footprints of all lanes. */
struct footprints {
    unsigned count, slices, levels;           /* number of texels, of slices per level, and of levels */
    bool bordered;                            /* `beyond` counts */
    LANE_ARRAY(int32_t, share[2]);            /* shares of the levels in 256ths */
    LANE_ARRAY(int32_t, offset[MAX_TEXELS]);  /* bytes from the first level's base */
    LANE_ARRAY(uint32_t, beyond[MAX_TEXELS]); /* 1 for the border, else 0 */
    LANE_ARRAY(int32_t, w[MAX_TEXELS]);       /* weights */
    LANE_ARRAY(int32_t, inside[MAX_TEXELS]);  /* 1 in the footprint, even if the rounded weight is 0 */
    LANE_ARRAY(uint32_t, word[MAX_TEXELS]);   /* bytes of the texels */
    LANE_ARRAY(uint32_t, texel[MAX_TEXELS]);  /* one channel */
};

/* ---- sums of floats */

struct float_sum {
    int32_t bias;     /* bias of the exponents of the format */
    int32_t kept;     /* number of bits after the first bit of the greatest term that count */
    int32_t infinity; /* exponent of infinities */
    int32_t least;    /* smallest exponent with which slices are aligned */
    bool half;        /* the sum is rounded to f16 */
};

/* The values of all texels, 0 for those that do not count, and their exponents, biased as in the format. */
struct terms {
    LANE_ARRAY(float, value[MAX_TEXELS]);
    LANE_ARRAY(int32_t, exponent[MAX_TEXELS]);
};

static void convert_terms(const struct footprints *g, enum ptxi_texel format, struct terms *t)
{
    LANE_ARRAY(uint16_t, half);
    LANE_ARRAY(uint32_t, number);

    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *texel = g->texel[n];
        float *v = t->value[n];
        int32_t *e = t->exponent[n];

        if (format == PTXI_TEXEL_F32) {
            FOR_LANES
            {
                e[l] = (int32_t)(texel[l] >> 23 & 255);
                number[l] = e[l] && e[l] < 255 ? texel[l] : 0;
            }
            memcpy(v, number, sizeof number); /* gcc 13 does not vectorise a loop that copies each number */
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

/* Adds the terms of slice z. They are aligned with the greatest exponent of a term with a weight, and truncated. */
static void sum_slice(const struct footprints *g, const struct terms *t, const struct float_sum *f, unsigned z,
                      double *sum,
                      int32_t *greatest)
{
    const unsigned count = g->count / (g->slices * g->levels), first = count * z;
    const int32_t top = f->bias + f->kept;
    LANE_ARRAY(double, scale);

    FOR_LANES
    greatest[l] = 0, sum[l] = 0;
    for (unsigned n = first; n < first + count; n++) {
        const int32_t *e = t->exponent[n], *w = g->w[n];

        FOR_LANES
        greatest[l] = w[l] && e[l] > greatest[l] ? e[l] : greatest[l];
    }
    FOR_LANES
    scale[l] = power_of_two(top - greatest[l]);
    for (unsigned n = first; n < first + count; n++) {
        const float *v = t->value[n];
        const int32_t *w = g->w[n];

        FOR_LANES
        sum[l] += trunc((double)v[l] * scale[l]) * (double)w[l];
    }
}

/* Adds the slices of a level to the sum. All of them are aligned in steps of 4 bits. A level without a share does not
 * change the sum. */
static void add_level(double *sum, int32_t *unit, double (*slice)[PTXI_LANES], int32_t (*its)[PTXI_LANES],
                      unsigned count,
                      int32_t least, const int32_t *share)
{
    LANE_ARRAY(int32_t, all);

    FOR_LANES
    all[l] = unit[l] > least ? unit[l] : least;
    for (unsigned n = 0; n < count; n++)
        FOR_LANES
        all[l] = all[l] > its[n][l] ? all[l] : its[n][l];
    FOR_LANES
    {
        all[l] = share[l] ? all[l] & ~3 : unit[l];
        sum[l] = share[l] ? floor(sum[l] * power_of_two(unit[l] - all[l])) : sum[l];
        unit[l] = all[l];
    }
    for (unsigned n = 0; n < count; n++)
        FOR_LANES
        sum[l] += share[l] ? floor(slice[n][l] * power_of_two(its[n][l] - all[l])) : 0;
}

/* Rounds x to a number of bits, halves away from zero. */
static inline double round_bits(double x, unsigned bits)
{
    const unsigned drop = 53 - bits;
    uint64_t v;

    memcpy(&v, &x, sizeof v);
    v = (v + ((uint64_t)1 << (drop - 1))) & ~(((uint64_t)1 << drop) - 1);
    memcpy(&x, &v, sizeof x);
    return x;
}

static void round_sums(const double *sum, const int32_t *unit, const struct float_sum *f, const uint32_t *minus,
                       uint32_t *r)
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

static const struct float_sum *float_sum_of(enum ptxi_texel format)
{
    static const struct float_sum f32 = { 127, 27, 255, 0, false }, f16 = { 15, 14, 31, 0, true };
    static const struct float_sum colour = { 15, 7, 31, 8, true };

    switch (format) {
    case PTXI_TEXEL_F32: return &f32;
    case PTXI_TEXEL_F16: return &f16;
    default: return &colour;
    }
}

/* Lanes with infinities or NaNs are added to `odd`. */
static void filter_floats(const struct footprints *g, enum ptxi_texel format, uint32_t *r, uint32_t *odd)
{
    const struct float_sum *f = float_sum_of(format);
    const unsigned sign = format == PTXI_TEXEL_F32 ? 31 : 15;
    const uint32_t zeros = format == PTXI_TEXEL_F32 ? 0xff800000 : 0xffff; /* mask of zeros; subnormal f32 are zeros */
    struct terms t;
    LANE_ARRAY(double, sum[MAX_TEXELS / 4]);
    LANE_ARRAY(int32_t, unit[MAX_TEXELS / 4]);
    LANE_ARRAY(uint32_t, minus);

    assert(g->count <= MAX_TEXELS && g->slices * g->levels <= MAX_TEXELS / 4);
    convert_terms(g, format, &t);
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
    for (unsigned z = 0; z < g->slices * g->levels; z++)
        sum_slice(g, &t, f, z, sum[z], unit[z]);
    if (g->slices > 1)
        add_level(sum[0], unit[0], sum + 1, unit + 1, 1, f->least, g->share[0]);
    if (g->levels > 1)
        add_level(sum[0], unit[0], sum + g->slices, unit + g->slices, g->slices, f->least, g->share[1]);
    round_sums(sum[0], unit[0], f, minus, r);
}

/* ---- sums of integers */

/* r[l] = sum[l] / most as a float, with sums of at least `least`. */
static void store_fractions(uint32_t *r, const int32_t *sum, int32_t least, float most)
{
    LANE_ARRAY(float, v);

    FOR_LANES
    v[l] = (float)(sum[l] < least ? least : sum[l]) / most;
    memcpy(r, v, sizeof v);
}

/* Texels of 8 and 16 bits. */
static void filter_short(const struct footprints *g, enum ptxi_texel format, bool as_integers, uint32_t *r)
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
        store_fractions(r, sum, -32767, 32767);
    else
        store_fractions(r, sum, 0, 65535);
}

/* Texels of 32 bits. */
static void filter_words(const struct footprints *g, bool with_sign, uint32_t *r)
{
    for (int l = 0; l < PTXI_LANES; l++) {
        int64_t sum = 0;

        for (unsigned n = 0; n < g->count; n++)
            sum += (with_sign ? (int64_t)(int32_t)g->texel[n][l] : (int64_t)g->texel[n][l]) * g->w[n][l];
        r[l] = (uint32_t)(sum >> 8);
    }
}

/* ---- without a filter */

static void convert_texels(const uint32_t *texel, enum ptxi_texel format, uint32_t *r)
{
    const int32_t *v = (const int32_t *)texel;
    LANE_ARRAY(uint16_t, half);
    LANE_ARRAY(float, wide);
    LANE_ARRAY(int32_t, tens);

    switch (format) {
    case PTXI_TEXEL_U8: store_fractions(r, v, 0, 255); break;
    case PTXI_TEXEL_U16: store_fractions(r, v, 0, 65535); break;
    case PTXI_TEXEL_PACKED:
        FOR_LANES
        tens[l] = v[l] >> 6;
        store_fractions(r, tens, 0, 1023);
        break;
    case PTXI_TEXEL_S8: store_fractions(r, v, -127, 127); break;
    case PTXI_TEXEL_S16: store_fractions(r, v, -32767, 32767); break;
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

#endif
