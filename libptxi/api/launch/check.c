/* Launches that are checked. */
#include "api/check/check.h"
#include "api/launch/launch.h"

#include "exec/check/check.h"
#include "exec/check/init_shadow.h"

/* Tools that need bytecode of their own. */
static const unsigned instrumented = PTXI_SANITIZER_RACE | PTXI_SANITIZER_INIT;

unsigned ptxi_launch_check_variant(unsigned tools)
{
    return (tools & PTXI_SANITIZER_RACE ? PTXI_VARIANT_CHECKED : 0) |
           (tools & PTXI_SANITIZER_INIT ? PTXI_VARIANT_INIT : 0);
}

/* Runs the grid with instrumented bytecode. False: memory is short, and it has not run. */
static bool run_instrumented(struct ptxi_launch *l, struct ptxi_check *check)
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

void ptxi_launch_run_checked(struct ptxi_launch *l)
{
    struct ptxi_check check = { .accesses = 0 };
    bool wanted = l->grid.tools & instrumented, done = wanted && l->checked && run_instrumented(l, &check);
    bool untracked = l->grid.tools & PTXI_SANITIZER_INIT && l->grid.code->untracked;

    if (!done)
        ptxi_exec_launch(l->exec, &l->grid);
    if (untracked)
        ptxi_init_forget(); /* what it has written is initialised */
    ptxi_check_end_launch(&l->grid, check.accesses, check.unchecked + ((wanted && !done) || untracked));
}
