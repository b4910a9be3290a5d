/* The level of detail (LOD) from gradients, for all lanes at once. The results are those of num/texture_lod.c, in
 * loops that become vector code. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_LOD_H
#define PTXI_EXEC_TEXTURE_TEXTURE_LOD_H

#include <math.h>
#include <string.h>

#include "exec/engine/op_shapes.h"
#include "exec/texture/texture_warp_inl.h"
#include "num/lod_float.h"
#include "num/texture.h"

/* struct ptxi_texture_gradients of all lanes. */
struct lane_gradients {
    bool cube;                       /* `beyond` and `over` count */
    LANE_ARRAY(float, step[2][3]);
    LANE_ARRAY(float, beyond[2][3]);
    LANE_ARRAY(uint32_t, over[2]);   /* 1 for lanes with a step across an edge */
    LANE_ARRAY(double, v[2][3]);     /* magnitudes in texels */
};

/* Selects x, y or z by the number of a cube face. */
ONE_OF float select_axis(uint32_t face, float x, float y, float z)
{
    const float y_or_z = face < 4 ? y : z;

    return face < 2 ? x : y_or_z;
}

/* The same as ptxi_texture_cube_gradient(). */
static void step_in_cube(struct lane_gradients *g, unsigned way, const float *const *from, const float *const *to,
                         uint32_t *odd)
{
    LANE_ARRAY(float, a[3]);
    LANE_ARRAY(float, b[3]);
    LANE_ARRAY(float, before_edge);
    LANE_ARRAY(float, after_edge);
    LANE_ARRAY(uint32_t, faces[2]);
    const uint32_t *f = faces[0], *h = faces[1];
    uint32_t *over = g->over[way];

    project_to_cube(from, a, faces[0], odd);
    project_to_cube(to, b, faces[1], odd);
    FOR_LANES
    {
        const float here = select_axis(f[l], b[0][l], b[1][l], b[2][l]);
        const float there = select_axis(h[l], a[0][l], a[1][l], a[2][l]);

        before_edge[l] = ptxi_texture_cube_edge_distance(there, h[l] & 1);
        after_edge[l] = ptxi_texture_cube_edge_distance(here, f[l] & 1);
        over[l] = f[l] != h[l];
    }
    for (uint32_t d = 0; d < 3; d++) {
        const float *p = a[d], *q = b[d];
        float *step = g->step[way][d], *beyond = g->beyond[way][d];

        FOR_LANES
        {
            const bool here = f[l] >> 1 == d, reached = f[l] != h[l] && h[l] >> 1 == d;
            const float on_face = here ? 0 : (q[l] - p[l]) * 0.5f;

            step[l] = reached ? before_edge[l] : on_face;
            beyond[l] = reached && !here ? after_edge[l] : 0;
        }
    }
}

static void step_in_texels(struct lane_gradients *g, unsigned way, unsigned d, uint32_t size)
{
    const double texels = ptxi_num_lod_truncate(size);
    const float *step = g->step[way][d], *beyond = g->beyond[way][d];
    double *v = g->v[way][d];

    FOR_LANES
    v[l] = ptxi_num_lod_product(ptxi_num_lod_from_f32(step[l]), texels);
    if (g->cube)
        FOR_LANES
        v[l] = ptxi_num_lod_sum(v[l], ptxi_num_lod_product(ptxi_num_lod_from_f32(beyond[l]), texels), false);
}

/* The sum or the difference of the steps, 0 if a step crosses an edge. */
static void combine_steps(const struct lane_gradients *g, unsigned d, bool difference, double *v)
{
    const float *s0 = g->step[0][d], *s1 = g->step[1][d], sense = difference ? -1 : 1;
    const double *v0 = g->v[0][d], *v1 = g->v[1][d];
    const uint32_t *over0 = g->over[0], *over1 = g->over[1];

    FOR_LANES
    {
        double same = sense * copysignf(1, s0[l]) * copysignf(1, s1[l]);

        v[l] = ptxi_num_lod_sum(v0[l], v1[l], same < 0);
    }
    if (g->cube)
        FOR_LANES
        v[l] = over0[l] | over1[l] ? 0 : v[l];
}

/* Updates the greatest length with that of vector v. */
ONE_OF void update_longest(double *longest, double (*v)[PTXI_LANES], bool between)
{
    FOR_LANES
    longest[l] = ptxi_num_lod_max(longest[l], ptxi_num_lod_length(v[0][l], v[1][l], v[2][l], between));
}

/* The LOD in 256ths: the logarithm of the longest of the steps, their sum and their difference. */
static void find_lod(struct lane_gradients *g, unsigned dimensions, const uint32_t *sizes, int32_t *level)
{
    LANE_ARRAY(double, longest) = { 0 };
    LANE_ARRAY(double, combined[3]) = { { 0 } };

    for (unsigned way = 0; way < 2; way++) {
        memset(g->v[way], 0, sizeof g->v[way]);
        for (unsigned d = 0; d < dimensions; d++)
            step_in_texels(g, way, d, sizes[d]);
        update_longest(longest, g->v[way], false);
    }
    for (unsigned way = 0; way < 2; way++) {
        for (unsigned d = 0; d < dimensions; d++)
            combine_steps(g, d, way, combined[d]);
        update_longest(longest, combined, true);
    }
    for (int l = 0; l < PTXI_LANES; l++)
        level[l] = ptxi_num_lod_log2(longest[l]);
}

#endif
