/* The usual texture for all lanes at once: two dimensions, one level, f32 or normalised u8, linearly filtered. The same numbers as those of
 * num/texture.h, in loops that become vectors; lanes that see infinities or NaN are left to it. */
#ifndef PTXI_EXEC_BILINEAR_H
#define PTXI_EXEC_BILINEAR_H

#include <math.h>
#include <string.h>

#include "exec/engine.h"
#include "exec/lanes.h"
#include "exec/texture.h"

/* Two neighbours along a dimension, -1 the border, and 256ths on the way to the second. */
struct ptxi_places {
    LANE_ARRAY(int32_t, at[2]);
    LANE_ARRAY(int32_t, fraction);
};

/* Coordinates to 256ths of a texel. Of normalised ones repetitions count as two, if the address mode repeats. */
static void texel_256ths(const float *x, uint32_t size, bool normalized, bool repeats, int32_t *fixed)
{
    const unsigned bits = ptxi_texture_fraction_bits(size, false);
    const double unit = (double)(1 << bits), most = normalized ? 0x1p24 : 0x1p21, texels = (double)size * 256, beyond = 0x1p30;

    if (normalized) {
        FOR_LANES
        {
            double v = fabsf(x[l]) >= 0x1p-126f ? (double)x[l] : 0, c = v > most ? most : v < -most ? -most : v, turns = floor(c);
            double cut = floor((c - turns) * unit); /* the difference may be rounded up to 1 */
            double part = floor((cut < unit ? cut : unit - 1) * (double)size * (256 / unit) + 0.5) - 128;
            double whole = (repeats ? turns - 2 * floor(turns * 0.5) : turns) * texels + part;

            fixed[l] = (int32_t)(whole > beyond ? beyond : whole < -beyond ? -beyond : whole);
        }
    } else {
        FOR_LANES
        {
            double v = fabsf(x[l]) >= 0x1p-126f ? (double)x[l] : 0;

            fixed[l] = (int32_t)(floor((v > most ? most : v < -most ? -most : v) * 256 + 0.5) - 128);
        }
    }
}

static void find_places(const float *x, uint32_t size, bool normalized, enum ptxi_address_mode mode, struct ptxi_places *p)
{
    LANE_ARRAY(int32_t, fixed);
    const int32_t n = (int32_t)size, last = n - 1;

    if (!normalized && mode != PTXI_ADDRESS_BORDER)
        mode = PTXI_ADDRESS_CLAMP;
    texel_256ths(x, size, normalized, mode == PTXI_ADDRESS_WRAP || mode == PTXI_ADDRESS_MIRROR, fixed);
    for (int e = 0; e < 2; e++) {
        int32_t *at = p->at[e];

        FOR_LANES
        at[l] = (fixed[l] >> 8) + e;
        if (mode == PTXI_ADDRESS_CLAMP) {
            FOR_LANES
            at[l] = at[l] < 0 ? 0 : at[l] > last ? last : at[l];
        } else if (mode == PTXI_ADDRESS_BORDER) {
            FOR_LANES
            at[l] = (uint32_t)at[l] < size ? at[l] : -1;
        } else {
            for (int l = 0; l < PTXI_LANES; l++)
                at[l] = (int32_t)ptxi_texture_wrap(at[l], size, mode);
        }
    }
    FOR_LANES
    p->fraction[l] = mode == PTXI_ADDRESS_CLAMP && p->at[0][l] == p->at[1][l] ? 0 : fixed[l] & 255;
}

struct ptxi_bilinear {
    struct ptxi_places x, y;
    LANE_ARRAY(int32_t, w[4]); /* weights; bit 0 of a texel's number says that it is the second along x, bit 1 along y */
    LANE_ARRAY(uint32_t, texel[4]);
};

static void find_weights(struct ptxi_bilinear *b)
{
    FOR_LANES
    {
        int32_t far = b->x.fraction[l], near = 256 - far, y = b->y.fraction[l];
        int32_t far_far = (far * y + 128) >> 8, near_near = (near * (256 - y) + 128) >> 8;

        b->w[0][l] = near_near;
        b->w[1][l] = far - far_far;
        b->w[2][l] = near - near_near;
        b->w[3][l] = far_far;
    }
}

static void load_texels(struct ptxi_bilinear *b, const struct ptxi_texture *t, ptxi_lanes on, unsigned channel)
{
    const struct ptxi_image *m = t->level;
    const unsigned char *base = m->base + channel * (t->bytes / t->channels);

    memset(b->texel, 0, sizeof b->texel);
    for (; on; on &= on - 1) {
        unsigned l = ptxi_first_lane(on);

        for (unsigned n = 0; n < 4; n++) {
            int64_t x = b->x.at[n & 1][l], y = b->y.at[n >> 1][l];

            if ((x | y) < 0)
                b->texel[n][l] = t->border[channel];
            else
                b->texel[n][l] = ptxi_texel_load(base + x * t->bytes + y * (int64_t)m->pitch, t->format);
        }
    }
}

/* Lanes whose texels decide the result alone: infinities and NaN. */
static void filter_f32(const struct ptxi_bilinear *b, uint32_t *r, uint32_t *odd)
{
    enum { KEPT = 27 }; /* bits behind the first one of the term with the greatest exponent */
    LANE_ARRAY(int32_t, greatest);
    LANE_ARRAY(uint32_t, minus);
    LANE_ARRAY(double, sum);

    FOR_LANES
    greatest[l] = 0, odd[l] = 0, minus[l] = 1, sum[l] = 0;
    for (int n = 0; n < 4; n++) {
        const uint32_t *t = b->texel[n];
        const int32_t *w = b->w[n], *x = b->x.fraction, *y = b->y.fraction;

        FOR_LANES
        {
            int32_t e = (int32_t)(t[l] >> 23 & 255);
            uint32_t inside = (!(n & 1) | (x[l] != 0)) & (!(n >> 1) | (y[l] != 0));

            greatest[l] = w[l] && e > greatest[l] ? e : greatest[l];
            odd[l] |= inside & (e == 255);
            minus[l] &= !inside | (t[l] >> 23 == 0x100);
        }
    }
    for (int n = 0; n < 4; n++) {
        const uint32_t *t = b->texel[n];
        const int32_t *w = b->w[n];

        FOR_LANES
        {
            bool counts = w[l] && (t[l] >> 23 & 255) && !odd[l];
            uint64_t scale = (uint64_t)(1023 + 127 + KEPT - greatest[l]) << 52;
            uint32_t live = counts ? t[l] : 0;
            float term;
            double up;

            memcpy(&term, &live, sizeof term);
            memcpy(&up, &scale, sizeof up);
            sum[l] += (double)(int32_t)((double)term * up) * (double)w[l];
        }
    }
    FOR_LANES
    {
        uint64_t scale = (uint64_t)(1023 - 127 - KEPT - 8 + greatest[l]) << 52, v;
        double down, mean;
        float out;
        uint32_t bits;

        memcpy(&down, &scale, sizeof down);
        mean = sum[l] * down;
        memcpy(&v, &mean, sizeof v);
        v = (v + ((uint64_t)1 << 28)) & ~(((uint64_t)1 << 29) - 1); /* to 24 bits, halves away from zero */
        memcpy(&mean, &v, sizeof mean);
        out = (float)mean;
        memcpy(&bits, &out, sizeof bits);
        r[l] = sum[l] == 0 ? minus[l] << 31 : fabs(mean) < 0x1p-126 ? bits & 0x80000000 : bits;
    }
}

static void filter_u8(const struct ptxi_bilinear *b, uint32_t *r)
{
    FOR_LANES
    {
        uint32_t sum = 0;
        float v;

        for (int n = 0; n < 4; n++)
            sum += b->texel[n][l] * (uint32_t)b->w[n][l];
        v = (float)(int32_t)((sum * 257 + 128) >> 8) / 65535.0f;
        memcpy(&r[l], &v, sizeof v);
    }
}

/* Returns the lanes that it leaves undone. */
static ptxi_lanes bilinear(const struct ptxi_texture *t, const float *x, const float *y, ptxi_lanes on, uint32_t (*r)[PTXI_LANES])
{
    const struct ptxi_sampler *s = &t->sampler;
    LANE_ARRAY(uint32_t, odd) = { 0 };
    struct ptxi_bilinear b;
    ptxi_lanes left = 0;

    find_places(x, t->level[0].width, s->normalized, s->address[0], &b.x);
    find_places(y, t->level[0].height, s->normalized, s->address[1], &b.y);
    find_weights(&b);
    for (unsigned c = 0; c < t->channels; c++) {
        load_texels(&b, t, on, c);
        if (t->format == PTXI_TEXEL_U8)
            filter_u8(&b, r[c]);
        else
            filter_f32(&b, r[c], odd);
        for (unsigned l = 0; l < PTXI_LANES; l++)
            left |= (ptxi_lanes)odd[l] << l;
    }
    return left & on;
}

#endif
