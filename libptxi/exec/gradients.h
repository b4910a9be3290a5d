/* Levels from gradients, of all lanes at once: the same numbers as num/texture_level.c's, in loops that become vectors. */
#ifndef PTXI_EXEC_GRADIENTS_H
#define PTXI_EXEC_GRADIENTS_H

#include <string.h>

#include "exec/lanes.h"
#include "num/rough.h"
#include "num/texture.h"

struct ptxi_gradients {
    LANE_ARRAY(float, step[2][3]);
    LANE_ARRAY(double, v[2][3]); /* in texels, without signs */
};

static void step_in_texels(struct ptxi_gradients *g, unsigned way, unsigned d, uint32_t size)
{
    const double texels = ptxi_rough_cut(size);
    const float *step = g->step[way][d];
    double *v = g->v[way][d];

    FOR_LANES
    v[l] = ptxi_rough_product(ptxi_rough_of(step[l]), texels);
}

/* The sum of the steps, or their difference. */
static void join_steps(const struct ptxi_gradients *g, unsigned d, bool difference, double *v)
{
    const float *s0 = g->step[0][d], *s1 = g->step[1][d], way = difference ? -1 : 1;
    const double *v0 = g->v[0][d], *v1 = g->v[1][d];

    FOR_LANES
    {
        double same = way * copysignf(1, s0[l]) * copysignf(1, s1[l]);

        v[l] = ptxi_rough_sum(v0[l], v1[l], same < 0);
    }
}

__attribute__((always_inline)) static inline void lengthen(double *longest, double (*v)[PTXI_LANES], bool between)
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
