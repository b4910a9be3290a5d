/* Levels from gradients, of all lanes at once: the same numbers as num/texture_level.c's, in loops that become vectors. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_LOD_H
#define PTXI_EXEC_TEXTURE_TEXTURE_LOD_H

#include <math.h>
#include <string.h>

#include "exec/engine/op_shapes.h"
#include "exec/texture/texture_warp.h"
#include "num/lod_float.h"
#include "num/texture.h"

/* As struct ptxi_steps has them of one lane. */
struct ptxi_gradients {
    bool cube;                   /* `beyond` counts, and `over`: lanes with a step over an edge */
    LANE_ARRAY(float, step[2][3]);
    LANE_ARRAY(float, beyond[2][3]);
    LANE_ARRAY(uint32_t, over[2]);
    LANE_ARRAY(double, v[2][3]); /* in texels, without signs */
};

/* As ptxi_texture_cube_step() does it. */
static void step_in_cube(struct ptxi_gradients *g, unsigned way, const float *const *from, const float *const *to, uint32_t *odd)
{
    LANE_ARRAY(float, a[3]);
    LANE_ARRAY(float, b[3]);
    LANE_ARRAY(float, before);
    LANE_ARRAY(float, behind);
    LANE_ARRAY(uint32_t, faces[2]);
    const uint32_t *f = faces[0], *h = faces[1];
    uint32_t *over = g->over[way];

    reach_cube(from, a, faces[0], odd);
    reach_cube(to, b, faces[1], odd);
    FOR_LANES
    {
        const float here = f[l] < 2 ? b[0][l] : f[l] < 4 ? b[1][l] : b[2][l], there = h[l] < 2 ? a[0][l] : h[l] < 4 ? a[1][l] : a[2][l];

        before[l] = ptxi_texture_cube_left(there, h[l] & 1);
        behind[l] = ptxi_texture_cube_left(here, f[l] & 1);
        over[l] = f[l] != h[l];
    }
    for (uint32_t d = 0; d < 3; d++) {
        const float *p = a[d], *q = b[d];
        float *step = g->step[way][d], *beyond = g->beyond[way][d];

        FOR_LANES
        {
            const bool here = f[l] >> 1 == d, reached = f[l] != h[l] && h[l] >> 1 == d;

            step[l] = reached ? before[l] : here ? 0 : (q[l] - p[l]) * 0.5f;
            beyond[l] = reached && !here ? behind[l] : 0;
        }
    }
}

static void step_in_texels(struct ptxi_gradients *g, unsigned way, unsigned d, uint32_t size)
{
    const double texels = ptxi_rough_cut(size);
    const float *step = g->step[way][d], *beyond = g->beyond[way][d];
    double *v = g->v[way][d];

    FOR_LANES
    v[l] = ptxi_rough_product(ptxi_rough_of(step[l]), texels);
    if (g->cube)
        FOR_LANES
        v[l] = ptxi_rough_sum(v[l], ptxi_rough_product(ptxi_rough_of(beyond[l]), texels), false);
}

/* The sum of the steps, or their difference; 0 of steps over edges. */
static void join_steps(const struct ptxi_gradients *g, unsigned d, bool difference, double *v)
{
    const float *s0 = g->step[0][d], *s1 = g->step[1][d], sense = difference ? -1 : 1;
    const double *v0 = g->v[0][d], *v1 = g->v[1][d];
    const uint32_t *over0 = g->over[0], *over1 = g->over[1];

    FOR_LANES
    {
        double same = sense * copysignf(1, s0[l]) * copysignf(1, s1[l]);

        v[l] = ptxi_rough_sum(v0[l], v1[l], same < 0);
    }
    if (g->cube)
        FOR_LANES
        v[l] = over0[l] | over1[l] ? 0 : v[l];
}

ONE_OF void lengthen(double *longest, double (*v)[PTXI_LANES], bool between)
{
    FOR_LANES
    longest[l] = ptxi_rough_greater(longest[l], ptxi_rough_length(v[0][l], v[1][l], v[2][l], between));
}

/* 256ths of the logarithm of the longest of the steps, their sum and their difference. */
static void measure_steps(struct ptxi_gradients *g, unsigned dimensions, const uint32_t *sizes, int32_t *level)
{
    LANE_ARRAY(double, longest) = { 0 };
    LANE_ARRAY(double, joined[3]) = { { 0 } };

    for (unsigned way = 0; way < 2; way++) {
        memset(g->v[way], 0, sizeof g->v[way]);
        for (unsigned d = 0; d < dimensions; d++)
            step_in_texels(g, way, d, sizes[d]);
        lengthen(longest, g->v[way], false);
    }
    for (unsigned way = 0; way < 2; way++) {
        for (unsigned d = 0; d < dimensions; d++)
            join_steps(g, d, way, joined[d]);
        lengthen(longest, joined, true);
    }
    for (int l = 0; l < PTXI_LANES; l++)
        level[l] = ptxi_rough_logarithm(longest[l]);
}

#endif
