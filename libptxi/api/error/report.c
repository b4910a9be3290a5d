#include "api/error/report.h"

#include "api/error/source.h"
#include "base/demangle.h"
#include "base/paint.h"
#include "base/str.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    ptxiFault fault;
    ptxiResult result;
    const char *what; /* the message, unless the fault has a detail of its own */
} kinds[] = {
    [PTXI_FK_NONE] = { PTXI_FAULT_NONE, PTXI_ERROR_LAUNCH_FAILED, "failed" },
    [PTXI_FK_OUT_OF_BOUNDS] = { PTXI_FAULT_OUT_OF_BOUNDS, PTXI_ERROR_ILLEGAL_ADDRESS, "is out of bounds" },
    [PTXI_FK_MISALIGNED] = { PTXI_FAULT_MISALIGNED, PTXI_ERROR_MISALIGNED_ADDRESS, "is not aligned" },
    [PTXI_FK_NULL] = { PTXI_FAULT_NULL, PTXI_ERROR_ILLEGAL_ADDRESS, "goes through a null pointer" },
    [PTXI_FK_FREED] = { PTXI_FAULT_FREED, PTXI_ERROR_ILLEGAL_ADDRESS, "goes to freed memory" },
    [PTXI_FK_READ_ONLY] = { PTXI_FAULT_READ_ONLY, PTXI_ERROR_ILLEGAL_ADDRESS, "goes to read-only memory" },
    [PTXI_FK_PEER] = { PTXI_FAULT_PEER_ACCESS, PTXI_ERROR_ILLEGAL_ADDRESS, "goes to memory of another device" },
    [PTXI_FK_OTHER_SHARED] = { PTXI_FAULT_OTHER_BLOCK_SHARED, PTXI_ERROR_ILLEGAL_ADDRESS,
                               "goes beyond the block's shared memory" },
    [PTXI_FK_NO_CTA] = { PTXI_FAULT_OTHER_BLOCK_SHARED, PTXI_ERROR_ILLEGAL_INSTRUCTION,
                         "goes beyond the block's shared memory" },
    [PTXI_FK_NO_RANK] = { PTXI_FAULT_OTHER_BLOCK_SHARED, PTXI_ERROR_LAUNCH_FAILED,
                          "goes to a rank that the cluster does not have" },
    [PTXI_FK_OTHER_LOCAL] = { PTXI_FAULT_OTHER_THREAD_LOCAL, PTXI_ERROR_ILLEGAL_ADDRESS,
                              "goes beyond the thread's local memory" },
    [PTXI_FK_ADDRESS_SPACE] = { PTXI_FAULT_ADDRESS_SPACE, PTXI_ERROR_INVALID_ADDRESS_SPACE,
                                "is in a state space that the instruction does not accept" },
    [PTXI_FK_TRAP] = { PTXI_FAULT_TRAP, PTXI_ERROR_LAUNCH_FAILED, "trap instruction" },
    [PTXI_FK_ASSERT] = { PTXI_FAULT_ASSERT, PTXI_ERROR_ASSERT, "assertion failed" },
    [PTXI_FK_DEADLOCK] = { PTXI_FAULT_DEADLOCK, PTXI_ERROR_LAUNCH_FAILED, "deadlock: no waiting thread can run" },
    [PTXI_FK_BARRIER] = { PTXI_FAULT_BARRIER, PTXI_ERROR_LAUNCH_FAILED, "invalid use of a barrier" },
    [PTXI_FK_BARRIER_USE] = { PTXI_FAULT_BARRIER, PTXI_ERROR_ILLEGAL_INSTRUCTION, "invalid use of a barrier" },
    [PTXI_FK_MISUSE] = { PTXI_FAULT_MISUSE, PTXI_ERROR_LAUNCH_FAILED, "invalid use of an instruction" },
    [PTXI_FK_BUDGET] = { PTXI_FAULT_BUDGET, PTXI_ERROR_LAUNCH_TIMEOUT, "instruction limit exceeded" },
    [PTXI_FK_TIMEOUT] = { PTXI_FAULT_TIMEOUT, PTXI_ERROR_LAUNCH_TIMEOUT, "time limit exceeded" },
    [PTXI_FK_INTERRUPTED] = { PTXI_FAULT_INTERRUPTED, PTXI_ERROR_LAUNCH_TIMEOUT, "interrupted by the host" },
    [PTXI_FK_UNSUPPORTED] = { PTXI_FAULT_UNSUPPORTED_INSTRUCTION, PTXI_ERROR_ILLEGAL_INSTRUCTION,
                              "this version cannot execute the instruction" },
    [PTXI_FK_STACK] = { PTXI_FAULT_STACK_OVERFLOW, PTXI_ERROR_ILLEGAL_ADDRESS, "stack overflow" },
    [PTXI_FK_BRANCH] = { PTXI_FAULT_INVALID_BRANCH, PTXI_ERROR_INVALID_PC, "branch or call to an invalid address" },
    [PTXI_FK_UNRESOLVED] = { PTXI_FAULT_UNRESOLVED, PTXI_ERROR_LAUNCH_FAILED, "call of an undefined function" },
    [PTXI_FK_FREE_TWICE] = { PTXI_FAULT_FREE, PTXI_ERROR_LAUNCH_FAILED, "free of memory that is not allocated" },
    [PTXI_FK_FREE] = { PTXI_FAULT_FREE, PTXI_ERROR_ILLEGAL_ADDRESS, "free of memory that is not allocated" },
    [PTXI_FK_HOST] = { PTXI_FAULT_HOST_FUNCTION, PTXI_ERROR_LAUNCH_FAILED, "host function failed" },
    [PTXI_FK_ILLEGAL] = { PTXI_FAULT_ILLEGAL_INSTRUCTION, PTXI_ERROR_ILLEGAL_INSTRUCTION, "invalid operand" },
    [PTXI_FK_MEMORY] = { PTXI_FAULT_OUT_OF_MEMORY, PTXI_ERROR_OUT_OF_MEMORY, "the host has no memory to run the grid" },
};

static bool is_access(const struct ptxi_fault_report *f)
{
    switch (f->kind) {
    case PTXI_FK_OUT_OF_BOUNDS: case PTXI_FK_MISALIGNED: case PTXI_FK_NULL: case PTXI_FK_FREED: case PTXI_FK_READ_ONLY:
    case PTXI_FK_PEER:
    case PTXI_FK_OTHER_SHARED: case PTXI_FK_NO_CTA: case PTXI_FK_NO_RANK: case PTXI_FK_OTHER_LOCAL:
    case PTXI_FK_ADDRESS_SPACE:
        return f->access_size != 0;
    default:
        return false;
    }
}

static ptxiAccess access_of(const struct ptxi_fault_report *f)
{
    if (!is_access(f))
        return PTXI_ACCESS_NONE;
    switch (f->access) {
    case PTXI_AK_ATOMIC: return PTXI_ACCESS_ATOMIC;
    case PTXI_AK_STORE: return PTXI_ACCESS_WRITE;
    default: return PTXI_ACCESS_READ;
    }
}

static const char *access_name(ptxiAccess a)
{
    switch ((int)a) {
    case PTXI_ACCESS_WRITE: return "write";
    case PTXI_ACCESS_ATOMIC: return "atomic access";
    default: return "read";
    }
}

/* Writes what went wrong. */
static void write_message(struct ptxi_str *s, const struct ptxi_fault_report *f)
{
    if (is_access(f)) {
        ptxi_str_printf(s, "%s of %u byte%s at 0x%" PRIx64 " %s", access_name(access_of(f)), f->access_size,
                        f->access_size == 1 ? "" : "s", f->address, kinds[f->kind].what);
        return;
    }
    ptxi_str_puts(s, kinds[f->kind].what);
    if (f->detail[0])
        ptxi_str_printf(s, ": %s", f->detail);
}

/* Writes where the address is relative to the nearest allocation. */
static void write_nearest(struct ptxi_str *s, const struct ptxi_fault_report *f)
{
    uint64_t end = f->near_base + f->near_size;
    const char *allocation = f->near_freed ? "the freed allocation" : "the allocation";
    const char *state = f->area ? f->area : allocation;

    if (!is_access(f) || (!f->near_size && !f->area))
        return;
    ptxi_str_puts(s, "note: the address is ");
    if (f->address < f->near_base)
        ptxi_str_printf(s, "%" PRIu64 " bytes before %s", f->near_base - f->address, state);
    else if (f->address == end)
        ptxi_str_printf(s, "right after the end of %s", state);
    else if (f->address > end)
        ptxi_str_printf(s, "%" PRIu64 " bytes past the end of %s", f->address - end, state);
    else
        ptxi_str_printf(s, "at byte %" PRIu64 " of %s", f->address - f->near_base, state);
    ptxi_str_printf(s, " of %" PRIu64 " bytes", f->near_size);
    if (!f->area)
        ptxi_str_printf(s, " at 0x%" PRIx64, f->near_base);
    ptxi_str_putc(s, '\n');
}

/* Writes the message with its place. A line of the source comes before that of the PTX. */
static void write_place(struct ptxi_str *s, const struct ptxi_report_source *source, const struct ptxi_fault_report *f)
{
    struct ptxi_loc loc = { f->loc.line, f->loc.column, 1 };
    const struct ptxi_text *t = ptxi_text_at(source->texts, &loc);
    const char *label = source->continued ? "warning" : "error", *message;
    struct ptxi_str what;

    ptxi_str_init(&what, NULL);
    write_message(&what, f);
    message = ptxi_str_text(&what);
    if (ptxi_source_file(source->tree, f->loc.source)) {
        ptxi_source_render(source->tree, f->loc.source, label, message, s);
        label = "note";
        message = "the instruction in the PTX";
    }
    ptxi_diag_render_one(s, t->s, t->size, t->name, loc, label, message);
    ptxi_str_free(&what);
}

static void render_report(struct ptxi_str *s, const struct ptxi_report_source *source,
                          const struct ptxi_fault_report *f)
{
    write_place(s, source, f);
    ptxi_str_puts(s, "note: kernel ");
    ptxi_demangle(source->kernel, s);
    ptxi_str_printf(s, ", block (%u,%u,%u), thread (%u,%u,%u)", f->ctaid[0], f->ctaid[1], f->ctaid[2], f->tid[0],
                    f->tid[1], f->tid[2]);
    if (f->thread_count > 1)
        ptxi_str_printf(s, " and %u more of its warp", f->thread_count - 1);
    ptxi_str_putc(s, '\n');
    if (f->code && strcmp(f->code->name, source->kernel)) {
        ptxi_str_puts(s, "note: in function ");
        ptxi_demangle(f->code->name, s);
        ptxi_str_putc(s, '\n');
    }
    write_nearest(s, f);
    if (f->kind == PTXI_FK_PEER && f->near_device >= 0)
        ptxi_str_printf(s, "note: the memory is on device %d, and peer access to it is not enabled\n", f->near_device);
    else if (f->kind == PTXI_FK_PEER)
        ptxi_str_puts(s, "note: the memory is from a pool that gives this device no access\n");
}

ptxiResult ptxi_report_create(const struct ptxi_report_source *source, const struct ptxi_fault_report *f,
                              struct ptxi_failure **failure)
{
    struct ptxi_loc loc = { f->loc.line, f->loc.column, 1 };
    const struct ptxi_text *t = ptxi_text_at(source->texts, &loc);
    struct ptxi_str text;

    assert(f->kind < sizeof kinds / sizeof *kinds);
    ptxi_str_init(&text, NULL);
    render_report(&text, source, f);
    ptxiReport r = {
        .result = kinds[f->kind].result, .fault = kinds[f->kind].fault, .text = ptxi_str_text(&text),
        .kernel = source->kernel,
        .function = f->code ? f->code->name : source->kernel,
        .block = { f->ctaid[0], f->ctaid[1], f->ctaid[2] }, .thread = { f->tid[0], f->tid[1], f->tid[2] },
        .threads = f->thread_count, .access = access_of(f), .accessSize = is_access(f) ? f->access_size : 0,
        .address = f->address, .nearestBase = f->near_base, .nearestSize = f->near_size,
        .ptxFile = t->name, .ptxLine = loc.line, .ptxColumn = loc.col,
        .sourceFile = ptxi_source_file(source->tree, f->loc.source),
    };

    if (r.sourceFile) {
        r.sourceLine = f->loc.source->line;
        r.sourceColumn = f->loc.source->column;
    }
    *failure = ptxi_failure_create(&r);
    ptxi_str_free(&text);
    return r.result;
}

/* ---- accesses after which threads have continued */

static const char *accesses(uint64_t n)
{
    return n == 1 ? "access" : "accesses";
}

/* Takes the report of a site that has not been written. False: there is none. Kernels wait for the lock, so nothing is
 * written while it is held. */
static bool take_site(struct ptxi_fault_log *log, struct ptxi_fault_report *report)
{
    bool found = false;

    pthread_mutex_lock(&log->lock);
    for (unsigned k = 0; k < log->site_count && !found; k++) {
        found = !log->sites[k].written;
        log->sites[k].written = true;
        *report = log->sites[k].report;
    }
    pthread_mutex_unlock(&log->lock);
    return found;
}

static uint64_t take_count(struct ptxi_fault_log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t count = log->counted = log->count;
    pthread_mutex_unlock(&log->lock);
    return count;
}

bool ptxi_report_write_log(const struct ptxi_report_source *source, struct ptxi_fault_log *log,
                           struct ptxi_failure **first)
{
    struct ptxi_fault_report report;
    bool is_new = false;

    flockfile(stderr);
    for (; take_site(log, &report); is_new = true) {
        struct ptxi_failure *f;

        ptxi_report_create(source, &report, &f);
        if (f)
            ptxi_paint_write(ptxi_failure_report(f)->text, stderr);
        if (is_new)
            ptxi_failure_unref(f);
        else
            *first = f;
    }
    if (is_new) {
        uint64_t count = take_count(log);

        fprintf(stderr, "note: %" PRIu64 " invalid %s so far, after which the threads continued\n", count,
                accesses(count));
    }
    funlockfile(stderr);
    return is_new;
}

void ptxi_report_write_total(const char *module, const struct ptxi_fault_log *log)
{
    if (log->count == log->counted)
        return;
    fprintf(stderr, "note: %s: %" PRIu64 " invalid %s in all, after which the threads continued\n", module,
            log->count, accesses(log->count));
}
