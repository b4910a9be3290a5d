/* Launches of executable graphs: their nodes are submitted to a stream one after the other. */
#include "api/graph/capture.h"
#include "api/graph/condition.h"
#include "api/graphexec/graph_exec.h"
#include "api/graphexec/node_order.h"
#include "api/memory/graph_memory.h"
#include "api/submit/submit.h"

#include "exec/sched/workers.h"

ptxiResult ptxiGraphUpload(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    API_CALL;
    (void)hStream;
    ptxiResult r = ptxi_graph_exec_enter(hGraphExec);

    return !r && hGraphExec->flags & PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? ptxi_graph_exec_upload(hGraphExec) : r;
}

/* A launch by the host. */
struct running {
    ptxiStream stream;
    ptxiGraphExec graph;
    struct ptxi_graph_run *run; /* NULL if kernels launch no graphs */
};

/* ---- one node */

/* In a stream under capture the event becomes a node. */
static ptxiResult submit_event(const struct ptxi_work *w, ptxiStream stream)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(stream, &ctx, &s);

    if (r)
        return r;
    if (ptxi_capturing(s))
        return ptxi_capture_event(s, w->type, w->event);
    if (w->type == PTXI_GRAPH_NODE_TYPE_EVENT_RECORD)
        return ptxi_submit_record(w->event, s, PTXI_GRAPH_KERNEL_NODE_PORT_DEFAULT);
    return ptxi_submit_wait_event(s, w->event);
}

/* A call for elements of 8 or 16 bits takes a value of that type. */
static ptxiResult submit_fill(PTXI_MEMSET_NODE_PARAMS p, ptxiStream stream)
{
    if (p.elementSize < sizeof p.value)
        p.value &= (1u << 8 * p.elementSize) - 1;
    return ptxi_submit_fill(true, stream, &p);
}

static ptxiResult submit_host(const PTXI_HOST_NODE_PARAMS *p, ptxiStream stream)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(stream, &ctx, &s);

    return r ? r : ptxi_submit_host(s, p->fn, p->userData);
}

static ptxiResult submit_kernel(struct ptxi_work *w, const struct running *g)
{
    void *extra[PTXI_WORK_EXTRA];
    struct ptxi_launch_description d = ptxi_work_description(w, extra);

    d.graph = (uintptr_t)g->graph;
    d.run = g->run;
    return ptxi_submit_launch(g->stream, &d);
}

static ptxiResult submit_memory(const struct ptxi_work *w, ptxiStream stream)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(stream, &ctx, &s);

    if (r)
        return r;
    if (w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC)
        return ptxi_graph_memory_allocate(w->memory);
    return ptxi_graph_memory_free_in_stream(w->memory, s);
}

/* A call of its own, which releases what the node's work holds. Any work but conditional nodes and children. */
static ptxiResult submit_node(struct ptxi_work *w, const struct running *g)
{
    API_CALL;
    ptxiStream stream = g->stream;

    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return submit_kernel(w, g);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return ptxi_submit_box(true, &w->copy, stream);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return submit_fill(w->set, stream);
    case PTXI_GRAPH_NODE_TYPE_HOST: return submit_host(&w->host, stream);
    case PTXI_GRAPH_NODE_TYPE_MEM_ALLOC:
    case PTXI_GRAPH_NODE_TYPE_MEM_FREE: return submit_memory(w, stream);
    case PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return ptxi_submit_operations(stream, w->operations.paramArray, w->operations.count);
    case PTXI_GRAPH_NODE_TYPE_WAIT_EVENT:
    case PTXI_GRAPH_NODE_TYPE_EVENT_RECORD: return submit_event(w, stream);
    default: return PTXI_SUCCESS;
    }
}

/* ---- conditional nodes */

/* Waits for the stream in a call of its own. */
static ptxiResult synchronize_stream(ptxiStream stream)
{
    API_CALL;
    return ptxi_submit_synchronize(stream);
}

static void begin_conditions(const struct ptxiGraph_st *g)
{
    for (unsigned i = 0; i < g->count; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            begin_conditions(w->child);
        if (w->type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
            continue;
        ptxi_condition_begin_launch(w->branches.handle);
        for (unsigned k = 0; k < w->branches.count; k++)
            begin_conditions(w->branches.bodies[k]);
    }
}

/* Returns the body that the value selects, or NULL. */
static ptxiGraph select_body(const struct ptxi_branches *b, unsigned value)
{
    unsigned k = b->kind == PTXI_GRAPH_COND_TYPE_SWITCH ? value : !value;

    return k < b->count ? b->bodies[k] : NULL;
}

/* Sets the limits of a loop as a whole. The limits of its launches do not end it. */
static void begin_limits(struct ptxi_grid *limits, ptxiContext ctx)
{
    *limits = (struct ptxi_grid){ .interrupts = &ctx->interrupts, .interrupts_before = atomic_load(&ctx->interrupts) };
    pthread_mutex_lock(&ctx->lock);
    limits->instruction_budget = ctx->instruction_limit;
    limits->deadline_ns = ctx->millisecond_limit ? ptxi_launch_deadline(ctx->millisecond_limit) : 0;
    pthread_mutex_unlock(&ctx->lock);
}

static ptxiResult run_body(ptxiGraph body, const struct running *g);

/* Waits for the work that the stream has been given, and runs the body that the condition then selects. */
static ptxiResult run_condition(const struct ptxi_branches *b, const struct running *g)
{
    struct ptxi_grid limits;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    ptxiGraph body;

    if (r)
        return r;
    begin_limits(&limits, ctx);
    do {
        r = synchronize_stream(g->stream);
        body = r ? NULL : select_body(b, ptxi_condition_get(b->handle));
        if (body && ptxi_grid_exceeded_limit(&limits) != PTXI_FK_NONE)
            r = PTXI_ERROR_LAUNCH_TIMEOUT;
        else if (body)
            r = run_body(body, g);
        limits.spent++;
    } while (body && !r && b->kind == PTXI_GRAPH_COND_TYPE_WHILE);
    return r;
}

/* ---- graphs */

/* Any node but a conditional one. */
static ptxiResult run_step(const struct ptxiGraphExec_st *x, unsigned i, const struct running *g,
                           struct ptxi_node_order *order)
{
    struct ptxiStream_st *s;
    ptxiContext ctx;
    ptxiResult r;

    if (!order)
        return submit_node(&x->steps[i]->work, g);
    if ((r = ptxi_stream_enter(g->stream, &ctx, &s)))
        return r;
    ptxi_node_order_begin(order, i, ptxi_queue_submitted(s));
    r = submit_node(&x->steps[i]->work, g);
    ptxi_node_order_end(order, i, ptxi_queue_submitted(s));
    return r;
}

static ptxiResult run_steps(const struct ptxiGraphExec_st *x, const struct running *g)
{
    struct ptxi_node_order *order = x->graph ? ptxi_node_order_create(x) : NULL; /* not of bodies */
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; !r && i < x->count; i++) {
        if (x->steps[i]->off)
            continue;
        if (x->steps[i]->work.type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL) {
            r = run_condition(&x->steps[i]->work.branches, g);
            ptxi_node_order_wait(order, i);
        } else {
            r = run_step(x, i, g, order);
        }
    }
    ptxi_node_order_free(order);
    return r;
}

static ptxiResult run_body(ptxiGraph body, const struct running *g)
{
    ptxiResult r = ptxi_graph_exec_plan_body(body); /* an update may have added bodies without an order */

    return r ? r : run_steps(body->plan, g);
}

static bool has_conditions(const struct ptxiGraphExec_st *x)
{
    unsigned i = 0;

    while (i < x->count && x->steps[i]->work.type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        i++;
    return i < x->count;
}

/* ---- memory and objects */

/* Whether all memory is in the state that the launch needs. */
static ptxiResult check_memory(const struct ptxiGraphExec_st *x)
{
    for (unsigned i = 0; i < x->count; i++) {
        const struct ptxi_work *w = &x->steps[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC && ptxi_graph_memory_is_allocated(w->memory) &&
            !(x->flags & PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
            return PTXI_ERROR_INVALID_VALUE;
        if (w->type == PTXI_GRAPH_NODE_TYPE_MEM_FREE &&
            ptxi_graph_memory_owner(w->memory) != PTXI_FREED_BY_OWN_GRAPH && !ptxi_graph_memory_is_allocated(w->memory))
            return PTXI_ERROR_INVALID_VALUE;
    }
    return PTXI_SUCCESS;
}

/* Frees what earlier launches have left allocated. */
static ptxiResult begin_memory(const struct ptxiGraphExec_st *x, struct ptxiStream_st *s)
{
    ptxiResult r = check_memory(x);

    for (unsigned i = 0; i < x->count && !r; i++) {
        const struct ptxi_work *w = &x->steps[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC && ptxi_graph_memory_is_allocated(w->memory))
            r = ptxi_graph_memory_free_in_stream(w->memory, s);
    }
    return r;
}

/* In a queue the item may be released by a thread that is in no call. */
static void release_exec(void *payload)
{
    API_CALL;
    ptxi_handle_unref(&(*(ptxiGraphExec *)payload)->handle);
}

/* Makes the last item of a launch. It refers to the executable graph, which refers to objects of the program. */
static ptxiResult make_end(ptxiGraphExec x, struct ptxi_item **end)
{
    struct ptxi_item *it = ptxi_item_create(sizeof x, NULL, release_exec);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(ptxiGraphExec *)ptxi_item_payload(it) = x;
    ptxi_handle_ref(&x->handle);
    *end = it;
    return PTXI_SUCCESS;
}

/* ---- graphs that kernels launch */

/* Runs the tail launches of the graph's kernels. */
static ptxiResult run_tails(void *payload, struct ptxi_failure **failure)
{
    struct ptxi_graph_run *run = *(struct ptxi_graph_run **)payload;
    struct ptxi_grid limits;

    begin_limits(&limits, run->ctx);
    limits.memmap = ptxi_state.memmap;
    ptxiResult r = ptxi_pending_run_tails(run, &limits, failure);
    const ptxiReport *report = r && *failure ? ptxi_failure_report(*failure) : NULL;

    if (report) /* another failure has no kernel */
        ptxi_observe_failure(&(struct ptxi_failed_launch){
            .kernel = report->kernel, .grid = limits.grid, .block = limits.block, .result = r, .report = report });
    return r;
}

static void release_run(void *payload)
{
    ptxi_graph_run_unref(*(struct ptxi_graph_run **)payload);
}

/* Submits the end of a run, and gives it the caller's reference. */
static ptxiResult end_run(struct ptxi_graph_run *run, struct ptxiStream_st *s)
{
    struct ptxi_item *it = ptxi_item_create(sizeof run, run_tails, release_run);

    if (!it) {
        ptxi_graph_run_unref(run);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *(struct ptxi_graph_run **)ptxi_item_payload(it) = run;
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* Submits all nodes. Their kernels may launch graphs. */
static ptxiResult run_with_launches(ptxiGraphExec x, ptxiStream stream, struct ptxiStream_st *s)
{
    struct ptxi_graph_run *run = ptxi_graph_run_create(s->ctx, (uintptr_t)x, NULL);

    if (!run)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = run_steps(x, &(struct running){ stream, x, run });
    ptxiResult ended = end_run(run, s);

    return r ? r : ended;
}

/* ---- launches in different streams */

/* Launches of an executable graph run one after the other, whatever their streams. */
static ptxiResult wait_for_last_launch(const struct ptxiGraphExec_st *x, struct ptxiStream_st *s)
{
    if (!x->last_stream || x->last_stream == s || !ptxi_queue_needs_order(x->last_stream, x->last_seq))
        return PTXI_SUCCESS;
    struct ptxi_item *it = ptxi_item_create(0, NULL, NULL);

    return it ? ptxi_queue_submit_after(s, it, x->last_stream, x->last_seq) : PTXI_ERROR_OUT_OF_MEMORY;
}

static void set_last_launch(ptxiGraphExec x, struct ptxiStream_st *s)
{
    ptxi_stream_ref(s);
    if (x->last_stream)
        ptxi_stream_unref(x->last_stream);
    x->last_stream = s;
    x->last_seq = ptxi_queue_submitted(s);
}

static bool has_objects(const struct ptxiGraph_st *g)
{
    bool has = g->objects.count;

    for (unsigned i = 0; i < g->count && !has; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            has = has_objects(w->child);
        for (unsigned k = 0; w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count && !has; k++)
            has = has_objects(w->branches.bodies[k]);
    }
    return has;
}

/* True if a capture cannot record a launch of the graph: nodes of the copy would allocate the same memory, and the
 * objects would not belong to the captured graph. */
static bool needs_stream(const struct ptxiGraphExec_st *x, bool objects)
{
    return objects || ptxi_graph_has_memory(x->graph);
}

ptxiResult ptxiGraphLaunch(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_graph_exec_enter(hGraphExec);

    if (r || (r = ptxi_stream_enter(hStream, &ctx, &s)))
        return r;
    if (hGraphExec->flags & PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH && !hGraphExec->device &&
        (r = ptxi_graph_exec_upload(hGraphExec)))
        return r;
    bool capturing = ptxi_capturing(s), objects = has_objects(hGraphExec->graph);
    struct ptxi_item *end = NULL;

    if (capturing && needs_stream(hGraphExec, objects))
        return PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!capturing && (r = wait_for_last_launch(hGraphExec, s)))
        return r;
    /* an earlier launch may still use the conditions */
    if ((has_conditions(hGraphExec) && (r = synchronize_stream(hStream))) || (r = begin_memory(hGraphExec, s)))
        return r;
    if (objects && (r = make_end(hGraphExec, &end)))
        return r;
    begin_conditions(hGraphExec->graph);
    if (!capturing && ptxi_device_graphs_exist())
        r = run_with_launches(hGraphExec, hStream, s);
    else
        r = run_steps(hGraphExec, &(struct running){ .stream = hStream, .graph = hGraphExec });
    ptxiResult kept = end ? ptxi_queue_submit(s, end, PTXI_SUBMIT_ASYNC, NULL) : PTXI_SUCCESS;

    if (!capturing)
        set_last_launch(hGraphExec, s);
    return r ? r : kept;
}
