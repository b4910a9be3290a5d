#include "exec/engine/grid.h"

#include <assert.h>

#include "base/clock.h"
#include "exec/engine/rng.h"

bool ptxi_grid_fail(struct ptxi_grid *g)
{
    uint32_t none = 0;

    return atomic_compare_exchange_strong(&g->failed, &none, 1);
}

enum ptxi_fault_kind ptxi_grid_exceeded_limit(const struct ptxi_grid *g)
{
    if (g->instruction_budget && atomic_load_explicit(&g->spent, memory_order_relaxed) > g->instruction_budget)
        return PTXI_FK_BUDGET;
    if (g->deadline_ns && ptxi_clock_monotonic_ns() > g->deadline_ns)
        return PTXI_FK_TIMEOUT;
    if (g->interrupts && atomic_load_explicit(g->interrupts, memory_order_relaxed) != g->interrupts_before)
        return PTXI_FK_INTERRUPTED;
    return PTXI_FK_NONE;
}

bool ptxi_grid_has_clusters(const struct ptxi_grid *g)
{
    return !ptxi_grid_failed(g) && atomic_load_explicit(&g->next_cluster, memory_order_relaxed) < g->cluster_total;
}

uint64_t ptxi_grid_next_cluster(struct ptxi_grid *g)
{
    uint64_t n;

    if (!ptxi_grid_has_clusters(g))
        return UINT64_MAX;
    n = atomic_fetch_add_explicit(&g->next_cluster, 1, memory_order_relaxed);
    return n < g->cluster_total ? n : UINT64_MAX;
}

void ptxi_grid_next_cta(const struct ptxi_grid *g, uint32_t ctaid[3])
{
    assert(g->cluster_size == 1 && !g->schedule);
    if (++ctaid[0] < g->grid[0])
        return;
    ctaid[0] = 0;
    if (++ctaid[1] < g->grid[1])
        return;
    ctaid[1] = 0;
    ctaid[2]++;
}

/* Coordinates of the n-th element of a box. */
static void coordinates(const uint32_t box[3], uint64_t n, uint32_t at[3])
{
    at[0] = (uint32_t)(n % box[0]);
    at[1] = (uint32_t)(n / box[0] % box[1]);
    at[2] = (uint32_t)(n / box[0] / box[1]);
}

static uint64_t random_seed(const struct ptxi_grid *g)
{
    return ptxi_rng_mix(g->schedule) ^ g->launch_id;
}

uint64_t ptxi_grid_rng_state(const struct ptxi_grid *g, uint64_t n)
{
    return ptxi_rng_mix(random_seed(g) + n);
}

void ptxi_grid_cta_at(const struct ptxi_grid *g, uint64_t n, uint32_t rank, uint32_t ctaid[3])
{
    uint32_t clusters[3], inside[3];

    assert(n < g->cluster_total && rank < g->cluster_size);
    if (g->schedule)
        n = ptxi_rng_permute(random_seed(g), n, g->cluster_total);
    for (int k = 0; k < 3; k++)
        clusters[k] = g->grid[k] / g->cluster[k];
    coordinates(clusters, n, ctaid);
    coordinates(g->cluster, rank, inside);
    for (int k = 0; k < 3; k++)
        ctaid[k] = ctaid[k] * g->cluster[k] + inside[k];
}

bool ptxi_grid_cancel(struct ptxi_grid *g, uint32_t first_cta[3])
{
    uint64_t n = ptxi_grid_next_cluster(g);

    if (n == UINT64_MAX)
        return false;
    ptxi_grid_cta_at(g, n, 0, first_cta);
    return true;
}
