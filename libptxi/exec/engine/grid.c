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
    return !ptxi_grid_failed(g) && atomic_load_explicit(&g->next_cluster, memory_order_relaxed) < g->cluster_end;
}

/* The number of clusters that a worker takes at once. It is at most a quarter of its share of the rest, so that all
 * workers end at about the same time. */
static uint64_t portion(const struct ptxi_grid *g, uint32_t most)
{
    uint64_t next = atomic_load_explicit(&g->next_cluster, memory_order_relaxed);
    uint64_t fair = next < g->cluster_end ? (g->cluster_end - next) / (UINT64_C(4) * g->workers) : 0;

    if (fair <= 1 || atomic_load_explicit(&g->clusters_wait, memory_order_relaxed))
        return 1;
    return fair < most ? fair : most;
}

struct ptxi_portion ptxi_grid_take(struct ptxi_grid *g, uint32_t most)
{
    struct ptxi_portion p = { UINT64_MAX, UINT64_MAX };
    uint64_t count, next;

    if (!ptxi_grid_has_clusters(g))
        return p;
    count = portion(g, most);
    next = atomic_fetch_add_explicit(&g->next_cluster, count, memory_order_relaxed);
    if (next >= g->cluster_end)
        return p;
    p.next = next;
    p.end = count < g->cluster_end - next ? next + count : g->cluster_end;
    return p;
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

    assert(n >= g->first_cluster && n < g->cluster_end && rank < g->cluster_size);
    if (g->schedule)
        n = g->first_cluster +
            ptxi_rng_permute(random_seed(g), n - g->first_cluster, g->cluster_end - g->first_cluster);
    for (int k = 0; k < 3; k++)
        clusters[k] = g->grid[k] / g->cluster[k];
    coordinates(clusters, n, ctaid);
    coordinates(g->cluster, rank, inside);
    for (int k = 0; k < 3; k++)
        ctaid[k] = ctaid[k] * g->cluster[k] + inside[k];
}

bool ptxi_grid_cancel(struct ptxi_grid *g, uint32_t first_cta[3])
{
    struct ptxi_portion p = ptxi_grid_take(g, 1);

    if (p.next == p.end)
        return false;
    ptxi_grid_cta_at(g, p.next, 0, first_cta);
    return true;
}
