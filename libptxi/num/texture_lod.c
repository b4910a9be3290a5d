/* The level of detail (LOD) of a texture fetch, and the probes of an anisotropic one. */
#include "num/texture.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "num/lod_float.h"

const uint8_t ptxi_num_lod_log2_table[256] = {
    0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22,
    23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 36, 38, 39, 40, 42, 43,
    44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63,
    64, 65, 66, 68, 69, 70, 71, 72, 74, 75, 76, 77, 78, 79, 81, 82,
    83, 84, 85, 86, 88, 89, 90, 91, 92, 93, 94, 95, 97, 98, 99, 100,
    101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117,
    118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133,
    135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149,
    150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164,
    165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179,
    180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193,
    194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206,
    207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219,
    220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232,
    233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244,
    245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
};

/* Both gradients, their sum and their difference, in texels. */
struct vectors {
    double v[4][3];
    bool minus[4][3];
    double longest; /* length of the longest vector */
    unsigned which; /* number of the longest vector */
};

static double in_texels(float step, uint32_t size)
{
    return ptxi_num_lod_product(ptxi_num_lod_from_f32(step), ptxi_num_lod_truncate(size));
}

static void measure_vectors(const struct ptxi_texture_gradients *s, const uint32_t sizes[3], struct vectors *t)
{
    static const uint8_t order[] = { 2, 1, 3 }; /* the first of equal lengths counts */
    double lengths[4] = { 0 };

    for (unsigned way = 0; way < 2; way++) {
        for (unsigned d = 0; d < 3; d++) {
            const double here = in_texels(s->v[way][d], sizes[d]), beyond = in_texels(s->beyond[way][d], sizes[d]);

            t->v[way][d] = ptxi_num_lod_sum(here, beyond, false);
            t->minus[way][d] = signbit(s->v[way][d]);
        }
        lengths[way] = ptxi_num_lod_length(t->v[way][0], t->v[way][1], t->v[way][2], false);
    }
    for (unsigned way = 2; way < 4 && !s->over_an_edge; way++) {
        for (unsigned d = 0; d < 3; d++) {
            bool differ = (t->minus[0][d] != t->minus[1][d]) ^ (way == 3);

            t->v[way][d] = ptxi_num_lod_sum(t->v[0][d], t->v[1][d], differ);
            t->minus[way][d] = t->minus[0][d] ^ (differ && t->v[0][d] < t->v[1][d]);
        }
        lengths[way] = ptxi_num_lod_length(t->v[way][0], t->v[way][1], t->v[way][2], true);
    }
    t->which = 0;
    for (unsigned k = 0; k < 3; k++)
        if (lengths[t->which] < lengths[order[k]])
            t->which = order[k];
    t->longest = lengths[t->which];
    if (!s->over_an_edge && lengths[1] >= lengths[0]) /* the difference is the second minus the first */
        for (unsigned d = 0; d < 3; d++)
            t->minus[3][d] = !t->minus[3][d];
}

int32_t ptxi_texture_lod(const struct ptxi_texture_gradients *s, const uint32_t sizes[3])
{
    struct vectors t;

    measure_vectors(s, sizes, &t);
    return ptxi_num_lod_log2(t.longest);
}

/* ---- ellipses */

/* The area that the gradients span, less than 2^32. The shorter axis is the area divided by the longer axis. */
static double find_area(const struct vectors *t)
{
    const bool first = t->minus[0][0] ^ t->minus[1][1], second = t->minus[0][1] ^ t->minus[1][0];
    const double down = ptxi_num_lod_product(t->v[0][0], t->v[1][1]), up = ptxi_num_lod_product(t->v[0][1], t->v[1][0]);

    return ptxi_num_lod_min(ptxi_num_lod_sum(down, up, first == second), 0x1.ffp31);
}

/* The direction of the longer axis as a vector of length 64. It is computed from the coordinates in eighths of the
 * power of two of the greater one. */
static void find_direction(const struct vectors *t, int32_t along[2])
{
    double v[2];
    unsigned major, eighths[2];
    int down;

    for (unsigned d = 0; d < 2; d++)
        v[d] = t->which > 1 ? ptxi_num_lod_scale(t->v[t->which][d], 704) : t->v[t->which][d];
    major = v[0] < v[1];
    down = v[!major] > 0 ? ilogb(v[major]) - ilogb(v[!major]) : INT_MAX;
    eighths[0] = (unsigned)ptxi_num_lod_significand(v[major]) >> 6;
    eighths[1] = down < 6 ? (unsigned)ptxi_num_lod_significand(v[!major]) >> 6 >> down : 0;
    along[major] = 64;
    along[!major] = 0;
    if (down < 6) {
        double a = eighths[0] + 0.5, b = eighths[1] + 0.5, n = 64 / sqrt(a * a + b * b);

        along[major] = (int32_t)(a * n + 0.5);
        along[!major] = (int32_t)(b * n + 0.5);
    }
    for (unsigned d = 0; d < 2; d++)
        along[d] = t->minus[t->which][d] ? -along[d] : along[d];
}

void ptxi_texture_find_axes(const struct ptxi_texture_gradients *s, const uint32_t sizes[3], int32_t most,
                            struct ptxi_texture_axes *e)
{
    struct vectors t;
    int32_t longer, shorter;

    measure_vectors(s, sizes, &t);
    longer = ptxi_num_lod_log2(t.longest);
    shorter = ptxi_num_lod_log2(find_area(&t)) - longer;
    shorter = shorter < longer ? shorter : longer;
    e->level = shorter > longer - most ? shorter : longer - most;
    e->ratio = longer - (e->level > 0 ? e->level : 0);
    find_direction(&t, e->along);
}

/* Adds a pair of probes, one at each end, so that the probes are in order along the axis. */
static void add_pair(struct ptxi_texture_probes *p, const int32_t away[2], const uint32_t share[2])
{
    assert(p->count + 2 <= PTXI_TEXTURE_MAX_PROBES);
    memmove(p->place + 1, p->place, p->count * sizeof *p->place);
    for (int side = 0; side < 2; side++) {
        const uint32_t at = side ? 0 : p->count + 1;

        for (unsigned d = 0; d < 2; d++)
            p->place[at].away[d] = side ? -away[d] : away[d];
        p->place[at].share = share[side];
    }
    p->count += 2;
}

/* Half the distance between probes along a dimension, in 256ths of a texel. The texels are smaller by `finer` 64ths. */
static int32_t spacing(int32_t along, int32_t finer)
{
    return (along * finer >> 6) * 2;
}

/* There are pairs of probes half a texel, one and a half, and so on, from the centre. The accumulated share of a side
 * is rounded, halves up on one side and down on the other. The last pair has the rest of the weights. An ellipse
 * shorter than two texels has one closer pair, and an ellipse that is not longer than wide has one probe. */
void ptxi_texture_find_probes(const struct ptxi_texture_axes *e, int32_t ratio, uint32_t smaller, uint32_t share,
                              struct ptxi_texture_probes *p)
{
    uint32_t inverse, whole = (uint32_t)ratio >> 8, full, all, done[2] = { 0 };
    const int32_t finer = (int32_t)(64 * exp2(smaller / 256.0) + 0.25);
    int32_t away[2];

    p->count = p->shift = 0;
    if (ratio <= 0) {
        p->place[p->count++].share = share;
        p->place[0].away[0] = p->place[0].away[1] = 0;
        return;
    }
    inverse = (uint32_t)(256 * exp2((ratio & 255) / -256.0) + 0.5);
    if (inverse == 128) {
        inverse = 256;
        whole++;
    }
    p->shift = whole < 2 ? 1 : 2;
    if (!whole) {
        for (unsigned d = 0; d < 2; d++)
            away[d] = spacing(((int32_t)(256 - inverse) * e->along[d] + 64) >> 7, finer);
        add_pair(p, away, (const uint32_t[]){ share, share });
        return;
    }
    full = inverse << p->shift >> whole;
    all = share << p->shift >> 1;
    for (int32_t n = 1, rest = 128 << p->shift; rest > 0; n++, rest -= (int32_t)full) {
        uint32_t part[2];

        for (unsigned d = 0; d < 2; d++)
            away[d] = (2 * n - 1) * spacing(e->along[d], finer);
        for (unsigned side = 0; side < 2; side++) {
            uint32_t sum = rest > (int32_t)full ? (full * (uint32_t)n * share + 128 - side) >> 8 : all;

            sum = sum < all ? sum : all;
            part[side] = sum - done[side];
            done[side] = sum;
        }
        add_pair(p, away, part);
    }
}
