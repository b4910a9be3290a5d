/* What kernels launch and copy (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
 *
 * A kernel cannot wait for what it launches, nor is any of it promised to begin before the kernel ends. So all of it waits in the launch, and
 * runs when the grid has ended, one after the other in the order of the calls, each followed by its own; the tail launches come last. That is an order
 * which all streams and events of the device allow. */
#include "api/launch.h"

#include <stdlib.h>
#include <string.h>

void ptxi_children_init(struct ptxi_launch *l)
{
    pthread_mutex_init(&l->lock, NULL);
    l->last = &l->first;
    l->last_tail = &l->first_tail;
}

/* More may wait than any program wants; a kernel that launches itself without end must not take all of the host's memory. */
enum { MOST_PENDING = 1 << 18 };

static void free_list(struct ptxi_launch *l, struct ptxi_child *c)
{
    for (struct ptxi_child *next; c; c = next) {
        next = c->next;
        atomic_fetch_sub(&l->ctx->pending, 1);
        if (c->item)
            ptxi_item_discard(c->item);
        free(c);
    }
}

void ptxi_children_free(struct ptxi_launch *l)
{
    free_list(l, l->first);
    free_list(l, l->first_tail);
    ptxi_param_buffers_free(l);
    pthread_mutex_destroy(&l->lock);
}

bool ptxi_children_add(struct ptxi_launch *l, struct ptxi_child child, bool tail)
{
    struct ptxi_child *c = atomic_fetch_add(&l->ctx->pending, 1) < MOST_PENDING ? malloc(sizeof *c) : NULL;

    if (!c) {
        atomic_fetch_sub(&l->ctx->pending, 1);
        return false;
    }
    *c = child;
    c->next = NULL;
    pthread_mutex_lock(&l->lock);
    struct ptxi_child ***last = tail ? &l->last_tail : &l->last;

    **last = c;
    *last = &c->next;
    pthread_mutex_unlock(&l->lock);
    return true;
}

static void move_rows(const struct ptxi_child *c)
{
    for (size_t y = 0; y < c->height; y++) {
        void *to = (void *)(uintptr_t)(c->dst + y * c->dst_pitch);

        if (c->value < 0)
            memmove(to, (void *)(uintptr_t)(c->src + y * c->src_pitch), c->width);
        else
            memset(to, c->value, c->width);
    }
}

/* What has been asked for, in the order in which it runs; `behind` follows. */
static struct ptxi_child *take(struct ptxi_launch *l, struct ptxi_child *behind)
{
    *l->last_tail = behind;
    *l->last = l->first_tail;
    struct ptxi_child *first = l->first;

    l->first = l->first_tail = NULL;
    l->last = &l->first;
    l->last_tail = &l->first_tail;
    return first;
}

/* Limits are those of the launch as a whole. */
static void inherit(const struct ptxi_launch *root, struct ptxi_launch *l, uint64_t spent)
{
    l->grid.deadline_ns = root->grid.deadline_ns;
    l->milliseconds = 0;
    l->grid.interrupts_before = root->grid.interrupts_before;
    if (root->grid.instruction_budget)
        l->grid.instruction_budget = root->grid.instruction_budget > spent ? root->grid.instruction_budget - spent : 1;
}

ptxiResult ptxi_children_run(struct ptxi_launch *root, struct ptxi_failure **failure)
{
    struct ptxi_child *todo = take(root, NULL);
    uint64_t spent = root->grid.spent;
    ptxiResult r = PTXI_SUCCESS;

    while (todo && !r) {
        struct ptxi_child *c = todo;

        todo = c->next;
        if (c->item) {
            struct ptxi_launch *l = ptxi_item_payload(c->item);

            inherit(root, l, spent);
            r = ptxi_launch_run_grid(l, failure);
            spent += l->grid.spent;
            todo = take(l, todo);
        } else {
            move_rows(c);
        }
        c->next = NULL;
        free_list(root, c);
    }
    free_list(root, todo);
    return r;
}
