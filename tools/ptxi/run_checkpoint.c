/* Checkpoints of `ptxi run`. The snapshot has a note with the hash of the command and the addresses of the buffers. */
#include "run.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The note of the snapshot. The addresses of the buffers follow, one for each argument. */
struct note {
    uint64_t command;   /* hash of what decides the result */
    uint64_t arguments; /* their number */
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

static bool use_note(struct run *r, const struct note *note, size_t size)
{
    const uint64_t *addresses = (const void *)(note + 1);

    if (size < sizeof *note || note->arguments != r->arg_count || size != sizeof *note + 8 * note->arguments ||
        note->command != r->command) {
        ptxi_cmd_error("%s: the checkpoint is not that of this launch", r->checkpoint);
        return false;
    }
    for (unsigned k = 0; k < r->arg_count; k++)
        r->args[k].device = addresses[k];
    r->resumed = true;
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

/* ---- the launch */

/* Returns a note and its size, or NULL. */
static struct note *make_note(const struct run *r, size_t *size)
{
    *size = sizeof(struct note) + r->arg_count * sizeof(uint64_t);
    struct note *note = calloc(1, *size);

    if (!note)
        return NULL;
    *note = (struct note){ .command = r->command, .arguments = r->arg_count };
    for (unsigned k = 0; k < r->arg_count; k++)
        memcpy((uint64_t *)(note + 1) + k, &r->args[k].device, sizeof(uint64_t));
    return note;
}

ptxiResult ptxi_cmd_launch_saved(const struct run *r)
{
    ptxiCheckpoint checkpoint = { .size = sizeof checkpoint, .path = r->checkpoint, .seconds = r->every };
    struct note *note = make_note(r, &checkpoint.noteBytes);
    ptxiResult e = r->resumed ? PTXI_SUCCESS : ptxi_cmd_fill_buffers(r);

    checkpoint.note = note;
    if (!note)
        e = PTXI_ERROR_OUT_OF_MEMORY;
    if (!e) {
        const ptxiLaunchConfig config = ptxi_cmd_launch_config(r);

        e = ptxiLaunchCheckpointed(&config, r->function, r->params, NULL, &checkpoint);
    }
    free(note);
    return e;
}
