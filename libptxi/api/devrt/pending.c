/* What kernels launch and copy (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
 *
 * A kernel cannot wait for what it launches, nor is any of it promised to begin before the kernel ends. So all of it waits in the launch, and
 * runs when the grid has ended, one after the other in the order of the calls, each followed by its own; the tail launches come last. That is an order
 * which all streams and events of the device allow. */
#include "api/launch/launch.h"

#include "api/context/report.h"

#include "exec/engine/engine.h"

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

/* The launch fails at what a thread has asked for. */
static ptxiResult fail_at(const struct ptxi_call_place *p, struct ptxi_fault_report *r, struct ptxi_failure **failure)
{
    r->code = p->code;
    r->loc = p->loc;
    r->thread_count = 1;
    memcpy(r->ctaid, p->ctaid, sizeof r->ctaid);
    memcpy(r->tid, p->tid, sizeof r->tid);
    return ptxi_report_create(p->module, p->kernel, r, failure);
}

static ptxiResult exceed_limit(const struct ptxi_call_place *p, enum ptxi_fault_kind limit,
                               struct ptxi_failure **failure)
{
    struct ptxi_fault_report r = { .kind = limit };

    return fail_at(p, &r, failure);
}

/* Rows count as the instructions that would have stored them. */
static bool may_go_on(void *root, uint64_t stores)
{
    struct ptxi_grid *g = root;

    atomic_fetch_add_explicit(&g->spent, stores, memory_order_relaxed);
    return ptxi_exceeded_limit(g) == PTXI_FK_NONE;
}

static ptxiResult move_rows(const struct ptxi_child *c, struct ptxi_grid *root, struct ptxi_failure **failure)
{
    struct ptxi_fault_report report = { .kind = PTXI_FK_NONE };
    struct ptxi_rows_fault f;
    ptxiResult r = ptxi_rows_move(&c->rows, may_go_on, root, &f);
    enum ptxi_fault_kind limit = r ? PTXI_FK_NONE : ptxi_exceeded_limit(root);

    if (limit != PTXI_FK_NONE)
        return exceed_limit(&c->place, limit, failure);
    if (r != PTXI_ERROR_ILLEGAL_ADDRESS)
        return r;
    f.kind = f.kind == PTXI_FK_OUT_OF_BOUNDS ? PTXI_FK_FREED : f.kind; /* it was known when the thread asked for it */
    ptxi_fault_describe(&report, f.kind, f.address, f.size, f.write ? "store" : "load", root->memmap);
    return fail_at(&c->place, &report, failure);
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
static void inherit(const struct ptxi_grid *root, struct ptxi_launch *l)
{
    l->grid.deadline_ns = root->deadline_ns;
    l->milliseconds = 0;
    l->grid.interrupts_before = root->interrupts_before;
    if (!root->instruction_budget)
        return;
    uint64_t spent = root->spent;

    l->grid.instruction_budget = root->instruction_budget > spent ? root->instruction_budget - spent : 1;
}

static ptxiResult run_child(struct ptxi_launch *l, struct ptxi_grid *root, struct ptxi_failure **failure)
{
    ptxiResult r;

    inherit(root, l);
    r = ptxi_launch_run_grid(l, failure);
    root->spent += l->grid.spent;
    return r;
}

ptxiResult ptxi_children_run(struct ptxi_launch *root, struct ptxi_failure **failure)
{
    struct ptxi_child *todo = take(root, NULL);
    ptxiResult r = PTXI_SUCCESS;

    while (todo && !r) {
        struct ptxi_child *c = todo;
        enum ptxi_fault_kind limit = ptxi_exceeded_limit(&root->grid);

        todo = c->next;
        c->next = NULL;
        if (limit != PTXI_FK_NONE) {
            r = exceed_limit(&c->place, limit, failure);
        } else if (c->item) {
            r = run_child(ptxi_item_payload(c->item), &root->grid, failure);
            todo = take(ptxi_item_payload(c->item), todo);
        } else {
            r = move_rows(c, &root->grid, failure);
        }
        free_list(root, c);
    }
    free_list(root, todo);
    return r;
}
