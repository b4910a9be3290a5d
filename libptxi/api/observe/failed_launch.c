/* PTXI_REPORT: failed launches are written to stderr when they fail. */
#include "api/observe/host_stack.h"
#include "api/observe/observe.h"
#include "api/observe/statistics.h"

#include "base/demangle.h"
#include "base/paint.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic bool reporting;

void ptxi_observe_init(void)
{
    const char *report = getenv("PTXI_REPORT"), *statistics = getenv("PTXI_STATS");

    if (report && *report && strcmp(report, "0")) {
        atomic_store(&reporting, true);
        ptxi_host_stack_enable();
    }
    if (statistics && *statistics)
        ptxi_statistics_begin(statistics);
}

static void write_rejection(struct ptxi_str *s, const struct ptxi_failed_launch *f)
{
    const char *name = "", *text = "";

    ptxiGetErrorName(f->result, &name);
    ptxiGetErrorString(f->result, &text);
    ptxi_str_puts(s, "error: the launch of kernel ");
    ptxi_demangle(f->kernel, s);
    ptxi_str_printf(s, " failed: %s (%s)\n", text, name);
}

static void put_stack(const struct ptxi_host_stack *stack, struct ptxi_str *s)
{
    ptxi_str_puts(s, "note: launched by\n");
    ptxi_host_stack_print(stack, INT_MAX, s);
}

static void write_launch(struct ptxi_str *s, const struct ptxi_failed_launch *f)
{
    if (f->report && f->report->text)
        ptxi_str_puts(s, f->report->text);
    else
        write_rejection(s, f);
    ptxi_str_printf(s, "note: grid %u,%u,%u, block %u,%u,%u, %u bytes of dynamic shared memory\n", f->grid[0],
                    f->grid[1], f->grid[2], f->block[0], f->block[1], f->block[2], f->shared);
    if (f->stack)
        put_stack(f->stack, s);
}

void ptxi_observe_failure(const struct ptxi_failed_launch *f)
{
    struct ptxi_str s;

    ptxi_statistics_add_failure(f->kernel);
    if (!atomic_load_explicit(&reporting, memory_order_relaxed))
        return;
    ptxi_str_init(&s, NULL);
    write_launch(&s, f);
    ptxi_paint_write(ptxi_str_text(&s), stderr); /* in one piece, because other threads may write too */
    ptxi_str_free(&s);
}
