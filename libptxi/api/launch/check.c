/* Launches that are checked. */
#include "api/check/check.h"
#include "api/launch/launch.h"

#include "exec/check/check.h"
#include "exec/engine/fault_log.h"

/* Tools that need bytecode of their own, and those that need the state of a checker. */
static const unsigned instrumented = PTXI_SANITIZER_RACE | PTXI_SANITIZER_INIT;
static const unsigned with_state = PTXI_SANITIZER_RACE | PTXI_SANITIZER_INIT | PTXI_SANITIZER_SYNC;

unsigned ptxi_launch_check_variant(unsigned tools)
{
    return (tools & PTXI_SANITIZER_RACE ? PTXI_VARIANT_CHECKED : 0) |
           (tools & PTXI_SANITIZER_INIT ? PTXI_VARIANT_INIT : 0) |
           (tools & PTXI_SANITIZER_MEMORY ? PTXI_VARIANT_POINTERS : 0);
}

/* Runs the grid with a checker. False: memory is short, and it has not run. */
static bool run_with_checker(struct ptxi_launch *l, struct ptxi_check *check)
{
    struct ptxi_checker *x = ptxi_check_checker(l->ctx);

    if (!x)
        return false;
    check->launch = l->grid.gridid;
    ptxi_check_begin(check, x, &l->grid);
    l->grid.check = check;
    ptxi_exec_launch(l->exec, &l->grid);
    l->grid.check = NULL;
    ptxi_check_end(check);
    if (check->acquires_other)
        ptxi_queue_learn_all(&l->ctx->streams);
    return true;
}

static void run(struct ptxi_launch *l)
{
    struct ptxi_check check = { .accesses = 0 };
    bool wanted = l->grid.tools & with_state, has_code = l->checked || !(l->grid.tools & instrumented);
    bool done = wanted && has_code && run_with_checker(l, &check);

    if (!done)
        ptxi_exec_launch(l->exec, &l->grid);
    ptxi_check_end_launch(&l->grid, check.accesses, check.unchecked + (wanted && !done));
}

/* Adds the invalid accesses of a launch, which has gone on after them to find more. It fails now, if it has not. */
static void add_faults(struct ptxi_launch *l, struct ptxi_fault_log *log)
{
    struct ptxi_grid *g = &l->grid;

    for (unsigned k = 0; k < log->site_count; k++)
        ptxi_check_add_fault(g->findings, g->tools, &log->sites[k].report, log->sites[k].count, g->code->name,
                             g->gridid);
    if (log->site_count && g->report.kind == PTXI_FK_NONE &&
        atomic_load(&l->ctx->on_fault) != PTXI_ON_FAULT_REPORT)
        g->report = log->sites[0].report;
}

void ptxi_launch_run_checked(struct ptxi_launch *l)
{
    struct ptxi_fault_log *log = l->checked ? ptxi_fault_log_create() : NULL;

    if (!log) {
        run(l);
        return;
    }
    l->grid.fault_log = log;
    run(l);
    l->grid.fault_log = NULL;
    add_faults(l, log);
    ptxi_fault_log_destroy(log);
    ptxi_check_environment_write(l->grid.findings);
}
