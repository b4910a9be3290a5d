/* Conditional nodes of graphs: what kernels set with cudaGraphSetConditional decides which body runs, and how often. */
#include "api/graph/graph_condition.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/graph/graph.h"
#include "api/launch/launch.h"

/* A handle is a place in this table and 1; who may still use it holds it: its graph, and conditional nodes of that and of copies. */
enum { CONDITIONS = 4096 };

static struct ptxi_condition {
    _Atomic unsigned holders, value;
    unsigned initial;
    bool assigns; /* `initial` at each launch */
} conditions[CONDITIONS];

static struct ptxi_condition *condition_of(ptxiGraphConditionalHandle handle)
{
    struct ptxi_condition *c = handle && handle <= CONDITIONS ? &conditions[handle - 1] : NULL;

    return c && atomic_load(&c->holders) ? c : NULL;
}

void ptxi_condition_let_go(ptxiGraphConditionalHandle handle)
{
    atomic_fetch_sub(&conditions[handle - 1].holders, 1);
}

bool ptxi_condition_set(ptxiGraphConditionalHandle handle, unsigned value)
{
    struct ptxi_condition *c = condition_of(handle);

    if (c)
        atomic_store(&c->value, value);
    return c;
}

ptxiResult ptxiGraphConditionalHandleCreate(ptxiGraphConditionalHandle *pHandle_out, ptxiGraph hGraph, ptxiContext ctx, unsigned defaultLaunchValue,
                                            unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);
    ptxiGraphConditionalHandle *more;
    unsigned k = 0, none = 0;

    (void)ctx;
    if (r)
        return r;
    if (!pHandle_out || flags & ~(unsigned)PTXI_GRAPH_COND_ASSIGN_DEFAULT)
        return PTXI_ERROR_INVALID_VALUE;
    more = realloc(hGraph->conditions, (hGraph->condition_count + 1) * sizeof *more);
    if (!more)
        return PTXI_ERROR_OUT_OF_MEMORY;
    hGraph->conditions = more;
    while (k < CONDITIONS && !atomic_compare_exchange_strong(&conditions[k].holders, &none, 1)) {
        none = 0;
        k++;
    }
    if (k == CONDITIONS)
        return PTXI_ERROR_OUT_OF_MEMORY;
    conditions[k].initial = defaultLaunchValue;
    conditions[k].assigns = flags;
    atomic_store(&conditions[k].value, defaultLaunchValue);
    *pHandle_out = more[hGraph->condition_count++] = k + 1;
    return PTXI_SUCCESS;
}

/* ---- nodes */

void ptxi_condition_free(struct ptxi_branches *b)
{
    for (unsigned k = 0; k < b->count; k++)
        ptxi_graph_free(b->bodies[k]);
    free(b->bodies);
    ptxi_condition_let_go(b->handle);
}

/* With `count` bodies, copies of those or empty ones. */
static bool make_bodies(struct ptxi_branches *b, unsigned count, ptxiContext ctx, ptxiGraph const *from)
{
    b->bodies = calloc(count, sizeof(ptxiGraph));
    atomic_fetch_add(&conditions[b->handle - 1].holders, 1);
    for (b->count = 0; b->bodies && b->count < count; b->count++)
        if (!(b->bodies[b->count] = from ? ptxi_graph_copy(from[b->count]) : ptxi_graph_new(ctx)))
            break;
        else
            b->bodies[b->count]->owned = true;
    if (b->bodies && b->count == count)
        return true;
    ptxi_condition_free(b);
    return false;
}

bool ptxi_condition_duplicate(struct ptxi_branches *to, const struct ptxi_branches *from)
{
    *to = *from;
    return make_bodies(to, from->count, NULL, from->bodies);
}

ptxiResult ptxi_work_condition(struct ptxi_work *w, ptxiContext ctx, PTXI_CONDITIONAL_NODE_PARAMS *p)
{
    unsigned most = p->type == PTXI_GRAPH_COND_TYPE_SWITCH ? PTXI_MOST_BODIES : p->type == PTXI_GRAPH_COND_TYPE_IF ? 2 : 1;

    if (!condition_of(p->handle) || (unsigned)p->type > PTXI_GRAPH_COND_TYPE_SWITCH || !p->size || p->size > most)
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL, .branches = { .handle = p->handle, .kind = p->type } };
    if (!make_bodies(&w->branches, p->size, ctx, NULL))
        return PTXI_ERROR_OUT_OF_MEMORY;
    p->phGraph_out = w->branches.bodies;
    return PTXI_SUCCESS;
}

/* ---- launches */

void ptxi_condition_begin(const struct ptxi_branches *b)
{
    struct ptxi_condition *c = &conditions[b->handle - 1];

    if (c->assigns)
        atomic_store(&c->value, c->initial);
}

/* The body that is to run for a value, or NULL. */
static ptxiGraph choose(const struct ptxi_branches *b, unsigned value)
{
    unsigned k = b->kind == PTXI_GRAPH_COND_TYPE_SWITCH ? value : !value;

    return k < b->count ? b->bodies[k] : NULL;
}

/* The limits of a loop as a whole; those of the launches in it do not end it. */
static void begin_limits(struct ptxi_grid *limits, ptxiContext ctx)
{
    *limits = (struct ptxi_grid){ .interrupts = &ctx->interrupts, .interrupts_before = atomic_load(&ctx->interrupts) };
    pthread_mutex_lock(&ctx->lock);
    limits->instruction_budget = ctx->instruction_limit;
    limits->deadline_ns = ctx->millisecond_limit ? ptxi_launch_deadline(ctx->millisecond_limit) : 0;
    pthread_mutex_unlock(&ctx->lock);
}

ptxiResult ptxi_condition_run(const struct ptxi_branches *b, ptxiStream s, ptxiResult (*run)(ptxiGraph body, ptxiStream s))
{
    struct ptxi_grid limits;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    ptxiGraph body;

    if (r)
        return r;
    begin_limits(&limits, ctx);
    do {
        r = ptxiStreamSynchronize(s);
        body = r ? NULL : choose(b, atomic_load(&conditions[b->handle - 1].value));
        if (body && ptxi_exceeded_limit(&limits) != PTXI_FK_NONE)
            r = PTXI_ERROR_LAUNCH_TIMEOUT;
        else if (body)
            r = run(body, s);
        limits.spent++;
    } while (body && !r && b->kind == PTXI_GRAPH_COND_TYPE_WHILE);
    return r;
}
