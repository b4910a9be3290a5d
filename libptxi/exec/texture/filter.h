/* Sums of texels of all lanes at once: the same numbers as num/texture.c's, in loops that become vectors. */
#ifndef PTXI_EXEC_TEXTURE_FILTER_H
#define PTXI_EXEC_TEXTURE_FILTER_H

#include <math.h>
#include <string.h>

#include "exec/arith/f16_view.h"
#include "exec/engine/op_shapes.h"
#include "num/texture.h"

enum { PTXI_TOGETHER = 16 }; /* texels at most: bit 0 of a texel's number says that it is the second along x, bit 1 along y; then slices */

struct ptxi_together {
    unsigned count, slices, levels;             /* texels; slices of a level */
    bool bordered;                              /* `beyond` counts */
    LANE_ARRAY(int32_t, share[2]);              /* of the levels, of 256 */
    LANE_ARRAY(int32_t, offset[PTXI_TOGETHER]); /* bytes behind the first level's base */
    LANE_ARRAY(uint32_t, beyond[PTXI_TOGETHER]); /* 1: the border */
    LANE_ARRAY(int32_t, w[PTXI_TOGETHER]);
    LANE_ARRAY(int32_t, inside[PTXI_TOGETHER]); /* part of the footprint, even if its weight has become 0 */
    LANE_ARRAY(uint32_t, word[PTXI_TOGETHER]);
    LANE_ARRAY(uint32_t, texel[PTXI_TOGETHER]); /* one channel */
};

/* ---- sums of floats */

/* What sums of a format are made of: the bias of its exponents, how many bits of the term with the greatest exponent count behind its first
 * one, the exponent of infinities, and the least one that slices are aligned with. */
struct ptxi_float_sum {
    int32_t bias, kept, infinity, least;
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
            memcpy(v, number, sizeof number); /* all at once: gcc 13 makes no vectors of a loop that copies each */
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

/* Slices of a level are added to the sum at once, all of them aligned by steps of 4 bits; a level without a share leaves it as it is. */
static void add_slices(double *sum, int32_t *unit, double (*slice)[PTXI_LANES], int32_t (*its)[PTXI_LANES], unsigned count, int32_t least, const int32_t *share)
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
    static const struct ptxi_float_sum f32 = { 127, 27, 255, 0, false }, f16 = { 15, 14, 31, 0, true }, colour = { 15, 7, 31, 8, true };
    const struct ptxi_float_sum *f = format == PTXI_TEXEL_F32 ? &f32 : format == PTXI_TEXEL_F16 ? &f16 : &colour;
    const unsigned sign = format == PTXI_TEXEL_F32 ? 31 : 15;
    const uint32_t zeros = format == PTXI_TEXEL_F32 ? 0xff800000 : 0xffff; /* what zeros do not have; f32 subnormals are some */
    struct ptxi_terms t;
    LANE_ARRAY(double, sum[PTXI_TOGETHER / 4]);
    LANE_ARRAY(int32_t, unit[PTXI_TOGETHER / 4]);
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
    for (unsigned z = 0; z < g->slices * g->levels; z++)
        sum_slice(g, &t, f, z, sum[z], unit[z]);
    if (g->slices > 1)
        add_slices(sum[0], unit[0], sum + 1, unit + 1, 1, f->least, g->share[0]);
    if (g->levels > 1)
        add_slices(sum[0], unit[0], sum + g->slices, unit + g->slices, g->slices, f->least, g->share[1]);
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

#endif
