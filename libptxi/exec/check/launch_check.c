/* Checkers, and the begin and end of a launch that is checked. */
#include <stdlib.h>

#include "exec/check/check.h"
#include "exec/check/checker.h"
#include "exec/check/concurrent.h"
#include "exec/check/shadow.h"
#include "exec/engine/grid.h"

struct ptxi_checker *ptxi_checker_create(uint64_t limit)
{
    struct ptxi_checker *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->limit = limit;
    x->next_agent = 1;
    x->buckets = calloc((size_t)1 << PTXI_BUCKET_BITS, sizeof *x->buckets);
    if (!x->buckets) {
        free(x);
        return NULL;
    }
    pthread_mutex_init(&x->lock, NULL);
    pthread_mutex_init(&x->pages_lock, NULL);
    pthread_mutex_init(&x->strong_writes, NULL);
    return x;
}

void ptxi_checker_destroy(struct ptxi_checker *x)
{
    if (!x)
        return;
    ptxi_shadow_drop(x);
    ptxi_concurrent_reset(x);
    pthread_mutex_destroy(&x->lock);
    pthread_mutex_destroy(&x->pages_lock);
    pthread_mutex_destroy(&x->strong_writes);
    free(x->buckets);
    free(x);
}

void ptxi_check_begin(struct ptxi_check *check, struct ptxi_checker *x, const struct ptxi_grid *grid)
{
    uint64_t ctas = (uint64_t)grid->grid[0] * grid->grid[1];

    ctas = ctas > UINT32_MAX ? UINT64_MAX : ctas * grid->grid[2];
    check->checker = x;
    check->grid = grid;
    check->task = ptxi_task_current;
    pthread_mutex_lock(&x->lock);
    /* memory that nothing uses any more */
    if (!x->users && (x->bytes > x->limit / 2 || ctas >= INT32_MAX - x->next_agent || ptxi_concurrent_is_full(x))) {
        ptxi_shadow_drop(x);
        ptxi_concurrent_reset(x);
        x->next_agent = 1;
    }
    x->users++;
    check->agent_count = ctas < INT32_MAX - x->next_agent ? (uint32_t)ctas : 0;
    check->first_agent = x->next_agent;
    x->next_agent += check->agent_count;
    ptxi_concurrent_begin(check);
    pthread_mutex_unlock(&x->lock);
}

void ptxi_check_end(struct ptxi_check *check)
{
    ptxi_checker_release(check->checker);
}
