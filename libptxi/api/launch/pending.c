/* Pending launches and copies of kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
 *
 * A kernel cannot wait for its launches, and CUDA does not promise that they begin before the kernel ends. They are
 * stored in the launch and run when its grid has ended, in the order of the calls. Each is followed by its own
 * launches. Tail launches are last. All streams and events of the device permit this order. */
#include "api/launch/launch.h"
#include "api/launch/param_buffer.h"

#include "exec/engine/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void init_list(struct ptxi_pending_list *list)
{
    *list = (struct ptxi_pending_list){ .last = &list->first };
}

/* Appends a list to another one, which is protected by the lock. */
static void append_list(pthread_mutex_t *lock, struct ptxi_pending_list *to, const struct ptxi_pending_list *list)
{
    pthread_mutex_lock(lock);
    *to->last = list->first;
    to->last = list->last;
    pthread_mutex_unlock(lock);
}

/* Makes a list empty, and returns its work with `rest` appended. */
static struct ptxi_pending_work *take_list(struct ptxi_pending_list *list, struct ptxi_pending_work *rest)
{
    *list->last = rest;
    struct ptxi_pending_work *first = list->first;

    init_list(list);
    return first;
}

void ptxi_pending_init(struct ptxi_launch *l)
{
    pthread_mutex_init(&l->lock, NULL);
    init_list(&l->pending);
    init_list(&l->tail_pending);
}

/* More than programs need. A kernel that launches itself without end must not use all of the host's memory. */
enum { MAX_PENDING = 1 << 18 };

/* The graph may be launched again. */
static void begin_run(struct ptxi_graph_run *run)
{
    atomic_store(&run->pending->is, false);
}

void ptxi_pending_discard(ptxiContext ctx, struct ptxi_pending_work *c)
{
    for (struct ptxi_pending_work *next; c; c = next) {
        next = c->next;
        size_t pending = atomic_fetch_sub(&ctx->pending, 1);

        assert(pending);
        (void)pending;
        if (c->item)
            ptxi_item_discard(c->item);
        if (c->run && c->begins)
            begin_run(c->run);
        ptxi_graph_run_unref(c->run);
        free(c);
    }
}

void ptxi_pending_free(struct ptxi_launch *l)
{
    ptxi_pending_discard(l->ctx, l->pending.first);
    ptxi_pending_discard(l->ctx, l->tail_pending.first);
    ptxi_param_buffers_free(l);
    pthread_mutex_destroy(&l->lock);
}

bool ptxi_pending_append(ptxiContext ctx, struct ptxi_pending_list *list, struct ptxi_pending_work work)
{
    struct ptxi_pending_work *c = atomic_fetch_add(&ctx->pending, 1) < MAX_PENDING ? malloc(sizeof *c) : NULL;

    if (!c) {
        atomic_fetch_sub(&ctx->pending, 1);
        return false;
    }
    *c = work;
    c->next = NULL;
    *list->last = c;
    list->last = &c->next;
    return true;
}

bool ptxi_pending_add(struct ptxi_launch *l, struct ptxi_pending_work child, bool tail)
{
    struct ptxi_pending_list one = { .last = &one.first };

    if (!ptxi_pending_append(l->ctx, &one, child))
        return false;
    append_list(&l->lock, tail ? &l->tail_pending : &l->pending, &one);
    return true;
}

void ptxi_pending_add_list(struct ptxi_launch *l, const struct ptxi_pending_list *list)
{
    append_list(&l->lock, &l->pending, list);
}

void ptxi_pending_add_tails(struct ptxi_graph_run *run, const struct ptxi_pending_list *list)
{
    append_list(&run->lock, &run->tails, list);
}

/* ---- runs of graphs */

struct ptxi_graph_pending *ptxi_graph_pending_create(void)
{
    struct ptxi_graph_pending *p = malloc(sizeof *p);

    if (p)
        *p = (struct ptxi_graph_pending){ .refs = 1 };
    return p;
}

void ptxi_graph_pending_unref(struct ptxi_graph_pending *p)
{
    if (atomic_fetch_sub(&p->refs, 1) == 1)
        free(p);
}

struct ptxi_graph_run *ptxi_graph_run_create(ptxiContext ctx, uint64_t graph, struct ptxi_graph_pending *pending)
{
    struct ptxi_graph_run *run = malloc(sizeof *run);

    if (!run)
        return NULL;
    *run = (struct ptxi_graph_run){ .refs = 1, .ctx = ctx, .graph = graph, .pending = pending };
    init_list(&run->tails);
    pthread_mutex_init(&run->lock, NULL);
    if (pending)
        atomic_fetch_add(&pending->refs, 1);
    return run;
}

struct ptxi_graph_run *ptxi_graph_run_ref(struct ptxi_graph_run *run)
{
    atomic_fetch_add(&run->refs, 1);
    return run;
}

void ptxi_graph_run_unref(struct ptxi_graph_run *run)
{
    if (!run || atomic_fetch_sub(&run->refs, 1) != 1)
        return;
    ptxi_pending_discard(run->ctx, run->tails.first);
    if (run->pending)
        ptxi_graph_pending_unref(run->pending);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* ---- running */

/* Makes the launch fail at the call of a thread. */
static ptxiResult report_at(const struct ptxi_call_site *p, struct ptxi_fault_report *r, struct ptxi_failure **failure)
{
    r->code = p->code;
    r->loc = p->loc;
    r->thread_count = 1;
    memcpy(r->ctaid, p->ctaid, sizeof r->ctaid);
    memcpy(r->tid, p->tid, sizeof r->tid);
    return ptxi_launch_report(p->module, p->kernel, r, failure);
}

static ptxiResult exceed_limit(const struct ptxi_call_site *p, enum ptxi_fault_kind limit,
                               struct ptxi_failure **failure)
{
    struct ptxi_fault_report r = { .kind = limit };

    return report_at(p, &r, failure);
}

/* Rows count as the instructions that would have stored them. */
static bool count_stores(void *root, uint64_t stores)
{
    struct ptxi_grid *g = root;

    atomic_fetch_add_explicit(&g->spent, stores, memory_order_relaxed);
    return ptxi_grid_exceeded_limit(g) == PTXI_FK_NONE;
}

static ptxiResult move_rows(const struct ptxi_pending_work *c, struct ptxi_grid *root, struct ptxi_failure **failure)
{
    struct ptxi_fault_report report = { .kind = PTXI_FK_NONE };
    struct ptxi_rows_fault f;
    ptxiResult r = ptxi_rows_move(&c->rows, count_stores, root, &f);
    enum ptxi_fault_kind limit = r ? PTXI_FK_NONE : ptxi_grid_exceeded_limit(root);

    if (limit != PTXI_FK_NONE)
        return exceed_limit(&c->site, limit, failure);
    if (r != PTXI_ERROR_ILLEGAL_ADDRESS)
        return r;
    f.kind = f.kind == PTXI_FK_OUT_OF_BOUNDS ? PTXI_FK_FREED : f.kind; /* the memory existed at the time of the call */
    ptxi_fault_describe(&report, f.kind, f.address, f.size, f.write ? PTXI_AK_STORE : PTXI_AK_LOAD, NULL, root->memmap);
    return report_at(&c->site, &report, failure);
}

/* Removes the pending work of a launch, in the order in which it runs, and appends `rest` to it. */
static struct ptxi_pending_work *take_pending(struct ptxi_launch *l, struct ptxi_pending_work *rest)
{
    return take_list(&l->pending, take_list(&l->tail_pending, rest));
}

/* The limits apply to the launch as a whole. */
static void inherit_limits(const struct ptxi_grid *root, struct ptxi_launch *l)
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

    inherit_limits(root, l);
    r = ptxi_launch_run_grid(l, failure);
    root->spent += l->grid.spent;
    return r;
}

/* Runs work, and what it launches. */
static ptxiResult run_list(ptxiContext ctx, struct ptxi_pending_work *todo, struct ptxi_grid *root,
                           struct ptxi_failure **failure)
{
    ptxiResult r = PTXI_SUCCESS;

    while (todo && !r) {
        struct ptxi_pending_work *c = todo;
        enum ptxi_fault_kind limit = ptxi_grid_exceeded_limit(root);

        todo = c->next;
        c->next = NULL;
        if (limit != PTXI_FK_NONE) {
            r = exceed_limit(&c->site, limit, failure);
        } else if (c->item) {
            r = run_child(ptxi_item_payload(c->item), root, failure);
            todo = take_pending(ptxi_item_payload(c->item), todo);
        } else if (c->run && !c->begins) {
            todo = take_list(&c->run->tails, todo);
        } else if (!c->run) {
            r = move_rows(c, root, failure);
        }
        ptxi_pending_discard(ctx, c);
    }
    ptxi_pending_discard(ctx, todo);
    return r;
}

ptxiResult ptxi_pending_run(struct ptxi_launch *root, struct ptxi_failure **failure)
{
    return run_list(root->ctx, take_pending(root, NULL), &root->grid, failure);
}

ptxiResult ptxi_pending_run_tails(struct ptxi_graph_run *run, struct ptxi_grid *root, struct ptxi_failure **failure)
{
    return run_list(run->ctx, take_list(&run->tails, NULL), root, failure);
}
