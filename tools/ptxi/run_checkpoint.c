/* Checkpoints of `ptxi run`: the grid runs in windows, one after another, and between them the context is saved with
 * the number of clusters that have ended. Windows are for grids whose blocks do not depend on each other, so the memory
 * at the end is that of one launch. */
#include "run.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The note of the snapshot. The addresses of the buffers follow, one for each argument. */
struct progress_note {
    uint64_t command;         /* hash of what decides the result */
    uint64_t done, arguments; /* clusters that have ended; number of arguments */
};

static uint64_t hash_text(uint64_t h, const char *s)
{
    return ptxi_hash_stable(h ^ strlen(s), s, strlen(s));
}

/* Arguments have their values here, because files may have changed. */
static uint64_t hash_command(const struct run *r)
{
    const uint64_t numbers[] = { r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2], r->shared,
                                 r->arg_count, r->load.no_contract, r->schedule, r->schedule_given };
    uint64_t h = ptxi_hash_stable(0, numbers, sizeof numbers);

    h = hash_text(h, r->kernel ? r->kernel : "");
    for (unsigned k = 0; k < r->arg_count; k++) {
        const struct cmd_arg *a = &r->args[k];

        h = hash_text(h, a->text);
        h = ptxi_hash_stable(h, a->data ? (const void *)a->data : "", a->data ? a->bytes : 0);
    }
    return h;
}

/* ---- resuming */

static bool use_note(struct run *r, const struct progress_note *note, size_t size)
{
    const uint64_t *addresses = (const void *)(note + 1);

    if (size < sizeof *note || note->arguments != r->arg_count || size != sizeof *note + 8 * note->arguments ||
        note->command != r->command) {
        ptxi_cmd_error("%s: the checkpoint is not that of this launch", r->checkpoint);
        return false;
    }
    for (unsigned k = 0; k < r->arg_count; k++)
        r->args[k].device = addresses[k];
    r->done = note->done;
    return true;
}

bool ptxi_cmd_resume(struct run *r)
{
    void *note = NULL;
    ptxiReport report = { .size = sizeof report };
    size_t size = 0;

    r->command = hash_command(r);
    if (!r->resume || !r->checkpoint || access(r->checkpoint, F_OK))
        return true;
    ptxiResult e = ptxiCtxRestore(NULL, r->checkpoint, &note, &size);
    bool ok = !e && use_note(r, note, size);

    if (e && !ptxiGetLastReport(NULL, &report) && report.text)
        ptxi_cmd_error("%.*s", (int)strcspn(report.text, "\n"), report.text);
    else if (e)
        ptxi_cmd_error("%s: %s", r->checkpoint, ptxi_cmd_result(e));
    ptxiFree(note);
    return ok;
}

/* ---- saving */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static ptxiResult save(const struct run *r, unsigned long long done)
{
    size_t size = sizeof(struct progress_note) + r->arg_count * sizeof(uint64_t);
    struct progress_note *note = calloc(1, size);

    if (!note)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *note = (struct progress_note){ .command = r->command, .done = done, .arguments = r->arg_count };
    for (unsigned k = 0; k < r->arg_count; k++)
        memcpy((uint64_t *)(note + 1) + k, &r->args[k].device, sizeof(uint64_t));
    ptxiResult e = ptxiCtxSave(NULL, r->checkpoint, NULL, note, size);

    free(note);
    return e;
}

static ptxiResult run_window(const struct run *r, unsigned long long first, unsigned long long count)
{
    ptxiResult e = ptxi_cmd_queue_window(r, first, count);

    return e ? e : ptxiCtxSynchronize();
}

/* Windows get longer until they take a quarter of the time between checkpoints. */
ptxiResult ptxi_cmd_launch_saved(const struct run *r)
{
    unsigned long long all = ptxi_cmd_count_clusters(r), done = r->done, count = 1 + all / 1024;
    double saved = now_s();
    ptxiResult e = r->done ? PTXI_SUCCESS : ptxi_cmd_fill_buffers(r);

    while (done < all && !e) {
        double start = now_s();

        count = count < all - done ? count : all - done;
        e = run_window(r, done, count);
        done += e ? 0 : count;
        count *= now_s() - start < r->every / 8 ? 2 : 1;
        if (e || done == all || now_s() - saved < r->every)
            continue;
        fflush(stdout);
        e = save(r, done);
        saved = now_s();
    }
    if (!e)
        remove(r->checkpoint);
    return e;
}
