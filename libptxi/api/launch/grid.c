/* Runs the grid of a launch. */
#include "api/check/check.h"
#include "api/error/report.h"
#include "api/launch/launch.h"
#include "api/memory/heap.h"
#include "api/module/bindings.h"

#include "base/clock.h"
#include "exec/sched/workers.h"
#include "native/native.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void write_output(void *p, const char *text, size_t size)
{
    ptxiContext ctx = p;

    pthread_mutex_lock(&ctx->sink_lock);
    if (ctx->sink) {
        ptxi_call_set_callback(true);
        ctx->sink(ctx->sink_user, text, size);
        ptxi_call_set_callback(false);
    } else {
        fwrite(text, 1, size, stdout);
    }
    pthread_mutex_unlock(&ctx->sink_lock);
}

static void report_progress(void *p, uint64_t done, uint64_t blocks)
{
    struct ptxi_launch *l = p;

    ptxi_call_set_callback(true);
    l->progress(l->progress_user, done, blocks);
    ptxi_call_set_callback(false);
}

static void add_counters(struct ptxi_launch *l)
{
    const struct ptxi_grid *g = &l->grid;
    uint64_t blocks = g->done_ctas;

    pthread_mutex_lock(&l->ctx->lock);
    ptxiCounters *c = &l->ctx->counters;

    c->launches++;
    c->blocks += blocks;
    c->threads += blocks * g->block[0] * g->block[1] * g->block[2];
    c->warpInstructions += g->warp_instructions;
    c->threadInstructions += g->thread_instructions;
    c->sharedRequests += g->shared.requests;
    c->sharedWavefronts += g->shared.wavefronts;
    c->sharedBankConflicts += g->shared.conflicts;
    pthread_mutex_unlock(&l->ctx->lock);
}

uint64_t ptxi_launch_new_gridid(void)
{
    static _Atomic uint64_t launches;

    return atomic_fetch_add(&launches, 1) + 1;
}

static void fill_shape(struct ptxi_grid *g, const struct ptxi_launch_shape *s)
{
    uint64_t number = ptxi_launch_new_gridid();

    memcpy(g->grid, s->grid, sizeof g->grid);
    memcpy(g->block, s->block, sizeof g->block);
    memcpy(g->cluster, s->cluster, sizeof g->cluster);
    g->explicit_cluster = s->cluster[0] != 0;
    g->dynamic_shared = s->shared;
    g->window = s->window;
    g->cooperative = s->cooperative;
    g->gridid = s->gridid ? s->gridid : number;
}

/* The multiprocessors of the device, and a worker's share of the CTAs that they can hold. */
static void fill_residency(struct ptxi_launch *l, const struct ptxi_code *code, const struct ptxi_launch_shape *s)
{
    const struct ptxi_profile *p = l->module->profile;
    unsigned threads = s->block[0] * s->block[1] * s->block[2];
    unsigned resident = ptxi_occupancy_blocks(p, code, threads, s->shared, -1) * p->multiprocessors;
    unsigned workers = ptxi_exec_workers(l->exec);

    l->grid.sm_count = p->multiprocessors;
    l->grid.sm_warps = p->threads / 32;
    l->grid.resident_limit = (resident + workers - 1) / workers;
    l->grid.resident_limit += l->grid.resident_limit == 0;
}

/* Copies the settings that a context has for all its launches. */
static void fill_settings(struct ptxi_launch *l)
{
    struct ptxi_grid *g = &l->grid;
    ptxiContext ctx = l->ctx;

    g->interrupts = &ctx->interrupts;
    g->interrupts_before = atomic_load(&ctx->interrupts);
    pthread_mutex_lock(&ctx->lock);
    g->unchecked = ctx->unchecked;
    g->fair = ctx->schedule == PTXI_SCHEDULE_FAIR;
    g->schedule = g->fair ? 0 : ctx->schedule;
    g->native = ctx->tier != PTXI_TIER_INTERPRETER;
    g->native_after = ctx->tier == PTXI_TIER_NATIVE ? 0 : PTXI_NATIVE_HEAT;
    g->stack_bytes = (uint32_t)ctx->limits[PTXI_LIMIT_STACK_SIZE];
    g->instruction_budget = ctx->instruction_limit;
    l->milliseconds = ctx->millisecond_limit;
    l->progress = ctx->progress;
    l->progress_user = ctx->progress_user;
    pthread_mutex_unlock(&ctx->lock);
    if (l->progress) {
        g->progress = report_progress;
        g->progress_ctx = l;
    }
}

void ptxi_launch_fill_grid(struct ptxi_launch *l, const struct ptxi_code *code, const struct ptxi_launch_shape *s)
{
    struct ptxi_grid *g = &l->grid;
    ptxiContext ctx = l->ctx;

    g->code = code;
    g->bindings = l->bindings->at;
    g->objects = ctx->object_table;
    g->memmap = ptxi_state.memmap;
    g->devices = &ctx->accessible;
    g->envreg12 = l->workspace ? l->workspace->base : 0;
    g->output = write_output;
    g->output_ctx = ctx;
    g->heap = &ptxi_heap_of_kernels;
    g->heap_ctx = ctx;
    fill_shape(g, s);
    fill_residency(l, code, s);
    ptxi_check_begin_launch(ctx, g);
    fill_settings(l);
}

uint64_t ptxi_launch_deadline(uint64_t milliseconds)
{
    uint64_t now = ptxi_clock_monotonic_ns();

    return milliseconds > (UINT64_MAX - now) / 1000000u ? UINT64_MAX : now + milliseconds * 1000000u;
}

ptxiResult ptxi_launch_report(ptxiModule m, const char *kernel, const struct ptxi_fault_report *f,
                              struct ptxi_failure **failure)
{
    return ptxi_report_create(&(struct ptxi_report_source){ &m->texts, m->tree, kernel, .continued = false }, f,
                              failure);
}

/* Writes what is new in the module's log, and makes the first new report the context's last one. */
static void write_fault_log(struct ptxi_launch *l)
{
    ptxiModule m = l->module;
    struct ptxi_failure *first;
    const struct ptxi_report_source source = { &m->texts, m->tree, l->kernel, .continued = true };

    if (ptxi_report_write_log(&source, l->grid.fault_log, &first))
        ptxi_api_return_failure(l->ctx, PTXI_ERROR_ILLEGAL_ADDRESS, first);
}

static void run_grid(struct ptxi_launch *l)
{
    bool statistics = ptxi_statistics_on();
    uint64_t start = statistics ? ptxi_clock_monotonic_ns() : 0;

    if (l->grid.tools)
        ptxi_launch_run_checked(l);
    else
        ptxi_exec_launch(l->exec, &l->grid);
    if (statistics)
        ptxi_statistics_add_grid(l->kernel, ptxi_clock_monotonic_ns() - start, l->grid.done_ctas);
}

ptxiResult ptxi_launch_run_grid(struct ptxi_launch *l, struct ptxi_failure **failure)
{
    if (l->milliseconds)
        l->grid.deadline_ns = ptxi_launch_deadline(l->milliseconds);
    run_grid(l);
    if (l->grid.counting)
        add_counters(l);
    if (l->grid.fault_log)
        write_fault_log(l);
    if (l->grid.report.kind == PTXI_FK_NONE)
        return PTXI_SUCCESS;
    ptxiResult r = ptxi_launch_report(l->module, l->kernel, &l->grid.report, failure);

    ptxi_context_count_failure(l->ctx, r);
    return r;
}
