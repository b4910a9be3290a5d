#include "exec/check/concurrent.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/check/check.h"
#include "exec/check/checker.h"
#include "exec/check/shadow.h"
#include "exec/engine/grid.h"
#include "isa/bytecode.h"

enum { MAX_PAST = 1 << 16 };

enum ptxi_access ptxi_record_access(const struct ptxi_record *r, bool write)
{
    if (ptxi_record_strength(r) == PTXI_CHECK_ATOMIC)
        return PTXI_AK_ATOMIC;
    return write ? PTXI_AK_STORE : PTXI_AK_LOAD;
}

struct ptxi_finding_site ptxi_check_site(const struct ptxi_check *check, const struct ptxi_record *r, uint32_t thread,
                                         enum ptxi_access access)
{
    struct ptxi_finding_site s = { .threads = 1, .access = access };

    ptxi_index_of(check->grid->grid, r->agent - check->first_agent, s.ctaid);
    ptxi_grid_thread_index(check->grid, thread, s.tid);
    s.code = ptxi_place_find(ptxi_record_place(r), &s.at);
    return s;
}

/* --- launches --- */

static void note_latest(struct ptxi_checker *x, const struct ptxi_task *t)
{
    for (uint32_t k = 0; k < x->latest_count; k++)
        if (x->latest[k].stream == t->stream) {
            x->latest[k].seq = t->seq;
            return;
        }
    if (x->latest_count == x->latest_allocated) {
        uint32_t more = x->latest_allocated ? 2 * x->latest_allocated : 16;
        struct ptxi_latest_launch *new = realloc(x->latest, more * sizeof *new);

        if (!new)
            return;
        x->latest = new;
        x->latest_allocated = more;
    }
    x->latest[x->latest_count++] = (struct ptxi_latest_launch){ t->stream, t->seq };
}

static bool is_task_before(uint64_t stream, uint64_t seq, const struct ptxi_task *t)
{
    return ptxi_task_is_before(&(struct ptxi_task){ .stream = stream, .seq = seq }, t);
}

static bool are_all_before(const struct ptxi_checker *x, const struct ptxi_task *t)
{
    if (t->unordered)
        return false; /* it may follow the latest launch of its stream and not an earlier one */
    for (uint32_t k = 0; k < x->latest_count; k++)
        if (!is_task_before(x->latest[k].stream, x->latest[k].seq, t))
            return false;
    return true;
}

/* The first agent of the first launch that does not happen before the task. */
static uint32_t first_unordered(const struct ptxi_checker *x, const struct ptxi_task *t)
{
    for (uint32_t k = 0; k < x->past_count; k++)
        if (!ptxi_task_is_before(&x->past[k].task, t))
            return x->past[k].first_agent;
    return x->next_agent;
}

static void note_launch(struct ptxi_checker *x, const struct ptxi_check *check)
{
    const struct ptxi_grid *g = check->grid;
    struct ptxi_past_launch *p;

    if (x->past_count == x->past_allocated) {
        uint32_t more = x->past_allocated ? 2 * x->past_allocated : 16;
        struct ptxi_past_launch *new = realloc(x->past, more * sizeof *new);

        if (!new) /* its accesses count as ordered */
            return;
        x->past = new;
        x->past_allocated = more;
    }
    p = &x->past[x->past_count++];
    *p = (struct ptxi_past_launch){ .first_agent = check->first_agent, .agent_count = check->agent_count,
                                    .launch = check->launch,
                                    .task = { .stream = check->task->stream, .seq = check->task->seq } };
    memcpy(p->grid, g->grid, sizeof p->grid);
    memcpy(p->block, g->block, sizeof p->block);
    snprintf(p->kernel, sizeof p->kernel, "%s", g->code->name);
}

bool ptxi_concurrent_is_full(const struct ptxi_checker *x)
{
    return x->past_count >= MAX_PAST;
}

void ptxi_concurrent_begin(struct ptxi_check *check)
{
    struct ptxi_checker *x = check->checker;

    check->ordered_below = check->first_agent;
    check->follows_all = true;
    if (!check->task || !check->agent_count || ptxi_concurrent_is_full(x))
        return;
    check->follows_all = are_all_before(x, check->task);
    if (!check->follows_all)
        check->ordered_below = first_unordered(x, check->task);
    note_latest(x, check->task);
    note_launch(x, check);
}

void ptxi_concurrent_reset(struct ptxi_checker *x)
{
    free(x->past);
    free(x->latest);
    x->past = NULL;
    x->latest = NULL;
    x->past_count = x->past_allocated = x->latest_count = x->latest_allocated = 0;
    memset(x->copies, 0, sizeof x->copies);
}

/* Under the lock. NULL: it is not known. */
static const struct ptxi_past_launch *find_past(const struct ptxi_checker *x, uint32_t agent)
{
    uint32_t lo = 0, hi = x->past_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (x->past[mid].first_agent <= agent)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && agent - x->past[lo - 1].first_agent < x->past[lo - 1].agent_count ? &x->past[lo - 1] : NULL;
}

bool ptxi_concurrent_find(struct ptxi_checker *x, uint32_t agent, struct ptxi_past_launch *launch)
{
    pthread_mutex_lock(&x->lock);
    const struct ptxi_past_launch *p = find_past(x, agent);

    if (p)
        *launch = *p;
    pthread_mutex_unlock(&x->lock);
    return p != NULL;
}

/* --- by way of the host --- */

void ptxi_concurrent_acquire_from_host(struct ptxi_check *check)
{
    if (!atomic_load_explicit(&check->acquires_host, memory_order_relaxed))
        atomic_store_explicit(&check->acquires_host, true, memory_order_relaxed);
}

void ptxi_concurrent_release_to_host(struct ptxi_check *check)
{
    struct ptxi_checker *x = check->checker;

    if (atomic_exchange_explicit(&check->releases_host, true, memory_order_relaxed))
        return;
    pthread_mutex_lock(&x->lock);
    for (uint32_t k = x->past_count; k--;)
        if (x->past[k].first_agent == check->first_agent)
            x->past[k].releases_host = true;
    pthread_mutex_unlock(&x->lock);
}

/* Whether the host knows that the task has ended. */
static bool does_host_know(const struct ptxi_task *t)
{
    struct ptxi_vclock *known = ptxi_host_known();
    bool knows = ptxi_vclock_has(known, (uint32_t)t->stream, PTXI_WHO_ALL, PTXI_WHO_ALL, (uint32_t)t->seq);

    ptxi_vclock_unref(known);
    return knows;
}

/* Whether the host may have passed on to the check's launch what an earlier one has done. */
static bool is_before_by_host(const struct ptxi_check *check, const struct ptxi_past_launch *p)
{
    bool acquires = atomic_load_explicit(&check->acquires_host, memory_order_relaxed);

    if (p->releases_host)
        return acquires || p->first_agent < check->first_agent;
    return acquires && does_host_know(&p->task);
}

/* --- */

bool ptxi_concurrent_is_before(const struct ptxi_check *check, struct ptxi_other_launch *last, uint32_t agent)
{
    struct ptxi_past_launch p;

    if (agent < check->ordered_below || !check->task)
        return true;
    if (agent - last->first_agent < last->agent_count && last->before)
        return true;
    if (!ptxi_concurrent_find(check->checker, agent, &p))
        return true;
    *last = (struct ptxi_other_launch){ p.first_agent, p.agent_count,
                                        ptxi_task_is_before(&p.task, check->task) || is_before_by_host(check, &p) };
    return last->before;
}

/* A launch that looks at a line. */
struct looking {
    const struct ptxi_check *check;
    struct ptxi_other_launch *last;
};

static bool is_needed(void *user, const struct ptxi_record *r, bool write, unsigned offset, unsigned size)
{
    const struct looking *k = user;

    (void)write, (void)offset, (void)size;
    return r->agent - k->check->first_agent < k->check->agent_count ||
           !ptxi_concurrent_is_before(k->check, k->last, r->agent);
}

void ptxi_concurrent_filter(const struct ptxi_check *check, struct ptxi_other_launch *last, struct ptxi_line *l)
{
    ptxi_line_filter(l, is_needed, &(struct looking){ check, last });
}

struct ptxi_finding_site ptxi_concurrent_site(const struct ptxi_past_launch *p, uint32_t agent, uint32_t thread)
{
    struct ptxi_finding_site s = { .threads = 1 };

    ptxi_index_of(p->grid, agent - p->first_agent, s.ctaid);
    ptxi_index_of(p->block, thread, s.tid);
    return s;
}

/* --- copies --- */

bool ptxi_copied_rows_overlap(const struct ptxi_copied_rows *c, uint64_t address, uint64_t size)
{
    uint64_t end = c->address + (c->rows - 1) * c->pitch + c->width, at;

    if (address >= end || address + size <= c->address)
        return false;
    if (address < c->address || c->rows == 1)
        return true;
    at = (address - c->address) % c->pitch;
    return at < c->width || at + size > c->pitch;
}

/* Whether copies have common bytes. */
static bool do_copies_overlap(const struct ptxi_copied_rows *a, const struct ptxi_copied_rows *b)
{
    if (a->rows > b->rows)
        return do_copies_overlap(b, a);
    for (uint64_t row = 0; row < a->rows; row++)
        if (ptxi_copied_rows_overlap(b, a->address + row * a->pitch, a->width))
            return true;
    return false;
}

unsigned ptxi_concurrent_copies(const struct ptxi_check *check, struct ptxi_past_copy *copies, uint32_t *changes)
{
    struct ptxi_checker *x = check->checker;
    unsigned n = 0;

    pthread_mutex_lock(&x->lock);
    *changes = atomic_load_explicit(&x->copies_changed, memory_order_relaxed);
    for (uint32_t k = 1; check->task && k <= PTXI_KEPT_COPIES && n < PTXI_OTHER_COPIES; k++) {
        const struct ptxi_past_copy *c = &x->copies[(*changes - k) % PTXI_KEPT_COPIES];

        if (c->rows.width && !ptxi_task_is_before(&c->task, check->task) &&
            !(atomic_load_explicit(&check->acquires_host, memory_order_relaxed) && does_host_know(&c->task)))
            copies[n++] = *c;
    }
    pthread_mutex_unlock(&x->lock);
    return n;
}

/* --- races of a copy --- */

/* A copy that is checked. */
struct copying {
    struct ptxi_checker *checker;
    struct ptxi_findings *findings;
    const struct ptxi_copied_rows *rows;
    uint64_t address; /* of the line */
};

static enum ptxi_finding_kind kind_of(bool earlier_writes, bool now_writes)
{
    if (!earlier_writes)
        return PTXI_FINDING_RACE_WAR;
    return now_writes ? PTXI_FINDING_RACE_WAW : PTXI_FINDING_RACE_RAW;
}

static struct ptxi_finding_site site_of_copy(const struct ptxi_copied_rows *c)
{
    return (struct ptxi_finding_site){ .what = c->operation, .access = c->write ? PTXI_AK_STORE : PTXI_AK_LOAD,
                                       .threads = 1 };
}

static void add(const struct copying *c, const struct ptxi_finding_site *earlier, bool earlier_writes,
                uint64_t address, uint32_t size, const struct ptxi_past_launch *p)
{
    struct ptxi_finding f = { .kind = kind_of(earlier_writes, c->rows->write), .severity = PTXI_FINDING_ERROR,
                              .site_count = 2, .space = PTXI_FINDING_GLOBAL, .address = address, .size = size,
                              .sites = { site_of_copy(c->rows), *earlier }, .object = address,
                              .detail = ptxi_copied_rows_detail(c->rows) };

    ptxi_findings_add(c->findings, &f, p ? p->kernel : NULL, p ? p->launch : 0);
}

static bool check_record(void *user, const struct ptxi_record *r, bool writes, unsigned offset, unsigned size)
{
    const struct copying *c = user;
    uint64_t address = c->address + offset;
    const struct ptxi_past_launch *p;
    struct ptxi_past_launch found;
    struct ptxi_finding_site s;

    if ((!writes && !c->rows->write) || !ptxi_copied_rows_overlap(c->rows, address, size))
        return true;
    pthread_mutex_lock(&c->checker->lock);
    p = find_past(c->checker, r->agent);
    if (p && !p->releases_host && !ptxi_task_is_before(&p->task, ptxi_task_current))
        found = *p;
    else
        p = NULL;
    pthread_mutex_unlock(&c->checker->lock);
    if (!p)
        return true;
    s = ptxi_concurrent_site(&found, r->agent,
                             ptxi_record_thread(r));
    s.access = ptxi_record_access(r, writes);
    s.code = ptxi_place_find(ptxi_record_place(r), &s.at);
    s.what = s.code ? NULL : found.kernel;
    add(c, &s, writes, address, size, &found);
    return true;
}

static void check_lines(struct copying *c, uint64_t first, uint64_t size)
{
    for (uint64_t at = first & ~(uint64_t)(PTXI_LINE_BYTES - 1); at < first + size;) {
        struct ptxi_shadow_page *p = ptxi_shadow_page_if_any(c->checker, at >> PTXI_PAGE_SHIFT);

        if (!p) {
            at = ((at >> PTXI_PAGE_SHIFT) + 1) << PTXI_PAGE_SHIFT;
            continue;
        }
        struct ptxi_line *l = &p->lines[at >> PTXI_LINE_SHIFT & (PTXI_PAGE_LINES - 1)];

        c->address = at;
        ptxi_line_lock(l);
        ptxi_line_filter(l, check_record, c); /* keeps all */
        ptxi_line_unlock(l);
        at += PTXI_LINE_BYTES;
    }
}

/* Under the lock. */
static void add_copy(struct ptxi_checker *x, const struct ptxi_copied_rows *rows, const struct ptxi_task *t)
{
    uint32_t n = atomic_load_explicit(&x->copies_changed, memory_order_relaxed);

    x->copies[n % PTXI_KEPT_COPIES] = (struct ptxi_past_copy){
        .rows = *rows, .task = { .stream = t->stream, .seq = t->seq } };
    atomic_store_explicit(&x->copies_changed, n + 1, memory_order_release);
}

/* Compares the copy with earlier ones, and adds it to them. Under the lock. */
static void check_copies(const struct copying *c)
{
    struct ptxi_checker *x = c->checker;

    for (unsigned k = 0; k < PTXI_KEPT_COPIES; k++) {
        const struct ptxi_past_copy *p = &x->copies[k];
        struct ptxi_finding_site s = site_of_copy(&p->rows);

        if (p->rows.width && (p->rows.write || c->rows->write) && !ptxi_task_is_before(&p->task, ptxi_task_current) &&
            do_copies_overlap(&p->rows, c->rows))
            add(c, &s, p->rows.write, c->rows->address, 0, NULL);
    }
    add_copy(x, c->rows, ptxi_task_current);
}

void ptxi_check_copy(struct ptxi_checker *x, struct ptxi_findings *findings, const struct ptxi_copied_rows *rows)
{
    struct copying c = { x, findings, rows, 0 };

    bool others;

    if (!ptxi_task_current || !rows->width || !rows->rows)
        return;
    pthread_mutex_lock(&x->lock);
    check_copies(&c);
    others = !are_all_before(x, ptxi_task_current);
    x->users++;
    pthread_mutex_unlock(&x->lock);
    atomic_thread_fence(memory_order_seq_cst); /* the copy is in the list before it looks for lines */
    for (uint64_t row = 0; others && row < rows->rows; row++)
        check_lines(&c, rows->address + row * rows->pitch, rows->width);
    ptxi_checker_release(x);
}

void ptxi_check_host_access(struct ptxi_checker *x, struct ptxi_findings *findings, uint64_t address, uint64_t size,
                            bool write)
{
    enum { HOST = INT32_MAX }; /* in place of the number of a stream */
    static _Atomic uint64_t accesses;
    const struct ptxi_copied_rows rows = { .address = address, .width = size, .pitch = size, .rows = 1, .write = write,
                                           .host = true, .operation = "the host" };
    struct ptxi_task own = { .stream = HOST };

    assert(!ptxi_task_current); /* functions that streams call must not make such a call */
    own.known = ptxi_host_known();
    own.seq = atomic_fetch_add(&accesses, 1) + 1;
    ptxi_host_learns(HOST, own.seq, NULL); /* later submissions happen after it */
    ptxi_task_current = &own;
    ptxi_check_copy(x, findings, &rows);
    ptxi_task_current = NULL;
    ptxi_vclock_unref(own.known);
}

void ptxi_check_allocation(struct ptxi_checker *x, uint64_t address, uint64_t size, const struct ptxi_task *task)
{
    const struct ptxi_copied_rows rows = { .address = address, .width = size, .pitch = size, .rows = 1, .write = true,
                                           .operation = "an allocation" };

    pthread_mutex_lock(&x->lock);
    add_copy(x, &rows, task);
    pthread_mutex_unlock(&x->lock);
}

static void forget_lines(struct ptxi_checker *x, uint64_t address, uint64_t size)
{
    for (uint64_t n = address >> PTXI_PAGE_SHIFT; n <= (address + size - 1) >> PTXI_PAGE_SHIFT; n++) {
        struct ptxi_shadow_page *p = ptxi_shadow_page_if_any(x, n);

        for (unsigned k = 0; p && k < PTXI_PAGE_LINES; k++) {
            uint64_t at = (n << PTXI_PAGE_SHIFT) + k * PTXI_LINE_BYTES;

            if (at + PTXI_LINE_BYTES <= address || at >= address + size)
                continue;
            ptxi_line_lock(&p->lines[k]);
            ptxi_line_forget(&p->lines[k]);
            ptxi_line_unlock(&p->lines[k]);
        }
    }
}

void ptxi_check_forget(struct ptxi_checker *x, uint64_t address, uint64_t size)
{
    ptxi_checker_hold(x);
    forget_lines(x, address, size);
    ptxi_checker_release(x);
    pthread_mutex_lock(&x->lock);
    for (unsigned k = 0; k < PTXI_KEPT_COPIES; k++)
        if (x->copies[k].rows.width && ptxi_copied_rows_overlap(&x->copies[k].rows, address, size))
            x->copies[k].rows.width = 0;
    atomic_fetch_add_explicit(&x->copies_changed, PTXI_KEPT_COPIES, memory_order_release);
    pthread_mutex_unlock(&x->lock);
}
