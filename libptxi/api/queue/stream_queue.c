/* Items of streams: submitting, running and waiting. The streams themselves are in queue_streams.c. */
#include "api/queue/queue_streams.h"

#include "api/queue/queue_order.h"

#include "base/clock.h"
#include "base/pause.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    MAX_RUNNERS = 128,       /* limit on launches that wait for each other's progress */
    SPINS = 1000,            /* 10 to 40 us before a waiting thread sleeps */
    POLL_NS = 50 * 1000,     /* period of the polling runner */
    LINGER_NS = 2000 * 1000, /* time that it polls after the last item */
    INLINE_DEPS = 2,
    PRIORITIES = PTXI_LEAST_PRIORITY - PTXI_GREATEST_PRIORITY + 1,
};

struct dep {
    struct ptxiStream_st *stream; /* a reference */
    uint64_t seq;
};

struct ptxi_item {
    struct ptxi_item *next;
    ptxi_item_run *run; /* NULL: nothing to do */
    ptxi_item_release *release;
    uint64_t seq;
    unsigned dep_count, dep_cap;
    struct dep *deps, first_deps[INLINE_DEPS];
    struct ptxi_vclock *known; /* items that happen before it, by its dependencies and what the program knew */
    struct ptxi_unordered *unordered; /* of its stream */
    max_align_t payload[];
};

/* Under the mutex, except the epoch. */
static struct {
    pthread_cond_t work;  /* runners wait here */
    pthread_cond_t done;  /* host threads wait here for items to end */
    struct ptxiStream_st *ready[PRIORITIES]; /* streams with a first item that can run, by priority */
    unsigned runners, sleeping, waiters;
    bool polling;         /* an idle runner polls every POLL_NS, so that submitting needs no wake-up */
    uint64_t waits, failures;
    _Atomic uint64_t epoch; /* grows when an item ends */
} queue = { .done = PTHREAD_COND_INITIALIZER };

static void init_work(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.work, &attr);
    pthread_condattr_destroy(&attr);
}

void ptxi_queue_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init_work);
}

/* ---- items */

struct ptxi_item *ptxi_item_create(size_t size, ptxi_item_run *run, ptxi_item_release *release)
{
    struct ptxi_item *it = malloc(sizeof *it + size);

    if (!it)
        return NULL;
    memset(it, 0, sizeof *it);
    it->run = run;
    it->release = release;
    it->deps = it->first_deps;
    it->dep_cap = INLINE_DEPS;
    return it;
}

void *ptxi_item_payload(struct ptxi_item *it)
{
    return it->payload;
}

static void drop_deps(struct ptxi_item *it)
{
    for (unsigned i = 0; i < it->dep_count; i++)
        ptxi_stream_unref_locked(it->deps[i].stream);
    it->dep_count = 0;
}

/* Needs no lock once the item has no dependencies. */
static void free_item(struct ptxi_item *it)
{
    assert(!it->dep_count);
    if (it->release)
        it->release(it->payload);
    if (it->deps != it->first_deps)
        free(it->deps);
    ptxi_vclock_unref(it->known);
    free(it->unordered);
    free(it);
}

void ptxi_item_discard(struct ptxi_item *it)
{
    free_item(it);
}

static bool add_dep(struct ptxi_item *it, struct ptxiStream_st *on, uint64_t seq)
{
    if (ptxi_stream_completed(on) >= seq) {
        ptxi_stream_tell(on, seq, &it->known);
        return true;
    }
    if (it->dep_count == it->dep_cap) {
        struct dep *p = malloc(2 * it->dep_cap * sizeof *p);

        if (!p)
            return false;
        memcpy(p, it->deps, it->dep_count * sizeof *p);
        if (it->deps != it->first_deps)
            free(it->deps);
        it->deps = p;
        it->dep_cap *= 2;
    }
    on->refs++;
    it->deps[it->dep_count++] = (struct dep){ on, seq };
    return true;
}

/* ---- choosing and running items, under the lock */

/* The dependency that the stream's first item waits for, or NULL. */
static const struct dep *find_pending_dep(struct ptxiStream_st *s)
{
    struct ptxi_item *it = s->head;

    assert(it && it->dep_count <= it->dep_cap);
    while (it->dep_count) {
        struct dep *d = &it->deps[it->dep_count - 1];

        if (ptxi_stream_completed(d->stream) < d->seq)
            return d;
        it->dep_count--;
        ptxi_stream_tell(d->stream, d->seq, &it->known);
        ptxi_stream_unref_locked(d->stream);
    }
    return NULL;
}

static void set_ready(struct ptxiStream_st *s)
{
    struct ptxiStream_st **list = &queue.ready[s->priority - PTXI_GREATEST_PRIORITY];

    assert(s->priority >= PTXI_GREATEST_PRIORITY && s->priority <= PTXI_LEAST_PRIORITY);
    assert(!s->ready_link && !s->running);
    s->ready_next = *list;
    s->ready_link = list;
    if (s->ready_next)
        s->ready_next->ready_link = &s->ready_next;
    *list = s;
}

static void set_unready(struct ptxiStream_st *s)
{
    assert(s->ready_link && *s->ready_link == s);
    *s->ready_link = s->ready_next;
    if (s->ready_next)
        s->ready_next->ready_link = s->ready_link;
    s->ready_link = NULL;
}

/* The dependency that a waiting stream waits for. */
static const struct dep *last_dep(const struct ptxiStream_st *s)
{
    assert(s->head && s->head->dep_count);
    return &s->head->deps[s->head->dep_count - 1];
}

/* The streams that wait for the same stream are a skew heap. The root needs the fewest items. */
static struct ptxiStream_st *merge_heaps(struct ptxiStream_st *a, struct ptxiStream_st *b)
{
    struct ptxiStream_st *root = NULL, **at = &root;

    while (a && b) {
        if (last_dep(b)->seq < last_dep(a)->seq) {
            struct ptxiStream_st *c = a;

            a = b;
            b = c;
        }
        *at = a;
        at = &a->waits[0];
        struct ptxiStream_st *rest = a->waits[1];

        a->waits[1] = a->waits[0];
        a = rest;
    }
    *at = a ? a : b;
    return root;
}

/* Makes a stream that has items and does not run ready or waiting. */
static void schedule_stream(struct ptxiStream_st *s)
{
    const struct dep *d = find_pending_dep(s);

    s->waits[0] = s->waits[1] = NULL;
    if (d)
        d->stream->waiting = merge_heaps(d->stream->waiting, s);
    else
        set_ready(s);
}

static bool is_wanted(const struct ptxiStream_st *s, uint64_t wait)
{
    return s->wanted_by == wait && ptxi_stream_completed(s) < s->wanted;
}

/* Schedules the streams that waited for items of s that have ended. Returns one that the wait needs, or NULL. */
static struct ptxiStream_st *wake_streams(struct ptxiStream_st *s, uint64_t wait)
{
    struct ptxiStream_st *found = NULL;

    while (s->waiting && last_dep(s->waiting)->seq <= ptxi_stream_completed(s)) {
        struct ptxiStream_st *o = s->waiting;

        s->waiting = merge_heaps(o->waits[0], o->waits[1]);
        schedule_stream(o);
        if (is_wanted(o, wait))
            found = o;
    }
    return found;
}

/* Follows dependencies from a stream that the wait needs to a ready stream. Returns NULL if that one runs already. */
static struct ptxiStream_st *find_ready_for(struct ptxiStream_st *s, uint64_t wait)
{
    while (!s->running && !s->ready_link) {
        const struct dep *d = last_dep(s);

        s = d->stream;
        s->wanted_by = wait;
        s->wanted = d->seq;
    }
    return s->running ? NULL : s;
}

static struct ptxiStream_st *find_ready(void)
{
    for (unsigned k = 0; k < PRIORITIES; k++)
        if (queue.ready[k])
            return queue.ready[k];
    return NULL;
}

static void *run_runner(void *unused);

/* Makes sure that a runner takes an item that is ready. */
static void wake_runner(void)
{
    pthread_t t;

    if (queue.polling)
        return;
    if (queue.sleeping) {
        pthread_cond_signal(&queue.work);
        return;
    }
    if (queue.runners < MAX_RUNNERS && pthread_create(&t, NULL, run_runner, NULL) == 0) {
        queue.runners++;
        pthread_detach(t);
    }
}

/* The same, for items that the calling thread does not run. */
static void wake_runner_if_ready(void)
{
    if (find_ready())
        wake_runner();
}

static void record_failure(struct ptxiStream_st *s, uint64_t seq, ptxiResult r, struct ptxi_failure *failure)
{
    assert(r && !s->failed);
    s->failed = r;
    s->failed_seq = seq;
    s->failed_order = ++queue.failures;
    s->failure = failure;
}

/* The stream of the item that the thread runs. */
static _Thread_local struct ptxiStream_st *current;

static ptxiResult run_item(struct ptxiStream_st *s, struct ptxi_item *it, struct ptxi_vclock *known,
                           struct ptxi_failure **failure)
{
    const struct ptxi_task *outer = ptxi_task_current;
    struct ptxiStream_st *outer_stream = current;
    struct ptxi_task task = { s->id, it->seq, known, it->unordered };

    ptxi_task_current = atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed) ? &task : NULL;
    current = s;
    ptxiResult r = it->run(it->payload, failure);

    ptxi_task_current = outer;
    current = outer_stream;
    return r;
}

/* Runs the first item of a ready stream. The lock is released while it runs. Returns a stream that the wait needs
 * next, or NULL. */
static struct ptxiStream_st *run_head(struct ptxiStream_st *s, uint64_t wait)
{
    struct ptxi_item *it = s->head;
    struct ptxi_failure *failure = NULL;
    struct ptxiStream_st *next;
    ptxiResult r = PTXI_SUCCESS;
    bool drop = s->failed != PTXI_SUCCESS || it->seq <= s->drop_until;

    assert(it && !it->dep_count && it->seq == ptxi_stream_completed(s) + 1);
    set_unready(s);
    s->running = true;
    ptxi_stream_learn(s, it->seq, it->known);
    struct ptxi_vclock *known = ptxi_stream_known(s);

    wake_runner_if_ready(); /* this thread is busy now */
    pthread_mutex_unlock(&ptxi_queue_mutex);
    if (!drop && it->run)
        r = run_item(s, it, known, &failure);
    ptxi_vclock_unref(known);
    if (it->release)
        it->release(it->payload);
    it->release = NULL;
    pthread_mutex_lock(&ptxi_queue_mutex);
    if (r)
        record_failure(s, it->seq, r, failure);
    s->head = it->next;
    if (!s->head)
        s->tail = &s->head;
    s->running = false;
    atomic_store_explicit(&s->completed, it->seq, memory_order_release);
    atomic_fetch_add_explicit(&queue.epoch, 1, memory_order_release);
    free_item(it);
    next = wake_streams(s, wait);
    if (s->head)
        schedule_stream(s);
    if (!next && s->head && is_wanted(s, wait))
        next = s;
    if (!s->head)
        ptxi_stream_unref_locked(s);
    if (queue.waiters)
        pthread_cond_broadcast(&queue.done);
    return next;
}

static void *run_runner(void *unused)
{
    (void)unused;
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    prctl(PR_SET_NAME, "ptxi-stream", 0, 0, 0);
#endif
    pthread_mutex_lock(&ptxi_queue_mutex);
    for (uint64_t last = ptxi_clock_monotonic_ns();;) {
        struct ptxiStream_st *s = find_ready();

        if (s) {
            run_head(s, 0);
            last = ptxi_clock_monotonic_ns();
        } else if (!queue.polling && ptxi_clock_monotonic_ns() - last < LINGER_NS) {
            uint64_t until = ptxi_clock_monotonic_ns() + POLL_NS;
            struct timespec t = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

            queue.polling = true;
            pthread_cond_timedwait(&queue.work, &ptxi_queue_mutex, &t);
            queue.polling = false;
        } else {
            queue.sleeping++;
            pthread_cond_wait(&queue.work, &ptxi_queue_mutex);
            queue.sleeping--;
            last = ptxi_clock_monotonic_ns();
        }
    }
    return NULL;
}

/* ---- submitting */

/* Adds the order between the legacy default stream and blocking streams as dependencies of an item that is to be
 * appended. */
static bool add_legacy_deps(struct ptxiStream_st *s, struct ptxi_item *it)
{
    struct ptxiStream_st *legacy = s->group->legacy;

    if (s == legacy) {
        for (struct ptxiStream_st *o = s->group->all; o; o = o->next)
            if (o != s && ptxi_stream_is_blocking(o) && !add_dep(it, o, o->submitted))
                return false;
        return true;
    }
    if (!ptxi_stream_is_blocking(s) || s->legacy_seen == legacy->submitted)
        return true;
    if (!add_dep(it, legacy, legacy->submitted))
        return false;
    s->legacy_seen = legacy->submitted;
    return true;
}

static _Thread_local const struct ptxi_unordered *unordered_now;

void ptxi_queue_set_unordered(const struct ptxi_unordered *unordered)
{
    unordered_now = unordered;
}

/* Without memory the item counts as ordered. */
static void note_unordered(struct ptxi_item *it)
{
    size_t size = unordered_now ? sizeof *unordered_now + unordered_now->count * sizeof unordered_now->tasks[0] : 0;

    if (size && (it->unordered = malloc(size)))
        memcpy(it->unordered, unordered_now, size);
}

static ptxiResult submit_locked(struct ptxiStream_st *s, struct ptxi_item *it, enum ptxi_submit how)
{
    if (!add_legacy_deps(s, it)) {
        drop_deps(it);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    bool first = !s->head;

    if (atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed)) {
        struct ptxi_vclock *known = ptxi_host_known();

        ptxi_vclock_join(&it->known, known);
        ptxi_vclock_unref(known);
        note_unordered(it);
    }
    it->seq = ++s->submitted;
    *s->tail = it;
    s->tail = &it->next;
    if (first) {
        s->refs++;
        schedule_stream(s);
    }
    if (how == PTXI_SUBMIT_ASYNC && s->ready_link)
        wake_runner();
    return PTXI_SUCCESS;
}

ptxiResult ptxi_queue_submit(struct ptxiStream_st *s, struct ptxi_item *it, enum ptxi_submit how, uint64_t *seq)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    ptxiResult r = submit_locked(s, it, how);

    if (!r && seq)
        *seq = s->submitted;
    pthread_mutex_unlock(&ptxi_queue_mutex);
    if (r)
        ptxi_item_discard(it);
    return r;
}

ptxiResult ptxi_queue_submit_after(struct ptxiStream_st *s, struct ptxi_item *it, struct ptxiStream_st *on,
                                   uint64_t seq)
{
    ptxiResult r = PTXI_ERROR_OUT_OF_MEMORY;

    pthread_mutex_lock(&ptxi_queue_mutex);
    if (add_dep(it, on, seq))
        r = submit_locked(s, it, PTXI_SUBMIT_ASYNC);
    pthread_mutex_unlock(&ptxi_queue_mutex);
    if (r)
        ptxi_item_discard(it);
    return r;
}

/* A mark that needs no item happens after the items of the streams that the default stream orders with it. */
static void learn_at_mark(struct ptxiStream_st *s)
{
    struct ptxiStream_st *legacy = s->group->legacy;
    struct ptxi_vclock *known = NULL;

    if (s == legacy) {
        for (struct ptxiStream_st *o = s->group->all; o; o = o->next)
            if (o != s && ptxi_stream_is_blocking(o))
                ptxi_stream_tell(o, o->submitted, &known);
    } else if (ptxi_stream_is_blocking(s)) {
        ptxi_stream_tell(legacy, legacy->submitted, &known);
    }
    ptxi_stream_learn(s, s->submitted, known);
    ptxi_vclock_unref(known);
}

bool ptxi_queue_mark(struct ptxiStream_st *s, uint64_t *seq)
{
    struct ptxiStream_st *legacy;
    bool clear;

    pthread_mutex_lock(&ptxi_queue_mutex);
    legacy = s->group->legacy;
    clear = ptxi_stream_completed(s) == s->submitted;
    if (clear && s != legacy && ptxi_stream_is_blocking(s))
        clear = ptxi_stream_completed(legacy) == legacy->submitted;
    for (struct ptxiStream_st *o = s->group->all; clear && s == legacy && o; o = o->next)
        clear = !ptxi_stream_is_blocking(o) || ptxi_stream_completed(o) == o->submitted;
    *seq = s->submitted;
    if (clear && atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed))
        learn_at_mark(s);
    pthread_mutex_unlock(&ptxi_queue_mutex);
    return clear;
}

/* ---- waiting */

/* The program has waited for items. */
static void note_wait(struct ptxiStream_st *s, uint64_t seq)
{
    if (!atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed))
        return;
    pthread_mutex_lock(&ptxi_queue_mutex);
    ptxi_stream_tell_host(s, seq);
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

bool ptxi_queue_done(struct ptxiStream_st *s, uint64_t seq)
{
    if (ptxi_stream_completed(s) < seq)
        return false;
    note_wait(s, seq);
    return true;
}

bool ptxi_queue_needs_order(const struct ptxiStream_st *s, uint64_t seq)
{
    return ptxi_stream_completed(s) < seq || atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed);
}

struct ptxiStream_st *ptxi_queue_current(void)
{
    return current;
}

void ptxi_queue_tell_host(void)
{
    if (ptxi_task_current)
        ptxi_host_learns(ptxi_task_current->stream, ptxi_task_current->seq, ptxi_task_current->known);
}

void ptxi_queue_learn_all(struct ptxi_streams *group)
{
    struct ptxi_vclock *known = NULL;

    if (!atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed))
        return;
    pthread_mutex_lock(&ptxi_queue_mutex);
    for (struct ptxiStream_st *s = group->all; s; s = s->next)
        ptxi_stream_tell(s, ptxi_stream_completed(s) + s->running, &known);
    if (current)
        ptxi_stream_learn(current, ptxi_stream_completed(current) + 1, known);
    else
        ptxi_host_learns(group->legacy->id, ptxi_stream_completed(group->legacy), known);
    pthread_mutex_unlock(&ptxi_queue_mutex);
    ptxi_vclock_unref(known);
}

uint64_t ptxi_queue_submitted(struct ptxiStream_st *s)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    uint64_t n = s->submitted;
    pthread_mutex_unlock(&ptxi_queue_mutex);
    return n;
}

/* Waits until an item ends. It polls before it sleeps, because most waits are short. The lock is held on entry and
 * return. */
static void wait_for_change(void)
{
    uint64_t epoch = atomic_load(&queue.epoch);

    pthread_mutex_unlock(&ptxi_queue_mutex);
    for (int i = 0; i < SPINS && atomic_load_explicit(&queue.epoch, memory_order_acquire) == epoch; i++)
        ptxi_pause_cpu();
    pthread_mutex_lock(&ptxi_queue_mutex);
    if (atomic_load(&queue.epoch) != epoch)
        return;
    queue.waiters++;
    pthread_cond_wait(&queue.done, &ptxi_queue_mutex);
    queue.waiters--;
}

static void wait_locked(struct ptxiStream_st *s, uint64_t seq)
{
    uint64_t wait = ++queue.waits;
    struct ptxiStream_st *at = s, *next;

    s->refs++;
    while (ptxi_stream_completed(s) < seq) {
        s->wanted_by = wait;
        s->wanted = seq;
        next = find_ready_for(at ? at : s, wait);
        at = next ? run_head(next, wait) : NULL;
        if (!next) {
            wake_runner_if_ready();
            wait_for_change();
        }
    }
    ptxi_stream_unref_locked(s);
    wake_runner_if_ready();
}

void ptxi_queue_wait(struct ptxiStream_st *s, uint64_t seq)
{
    if (ptxi_stream_completed(s) < seq) {
        pthread_mutex_lock(&ptxi_queue_mutex);
        wait_locked(s, seq);
        pthread_mutex_unlock(&ptxi_queue_mutex);
    }
    note_wait(s, seq);
}

ptxiResult ptxi_queue_wait_all(struct ptxi_streams *group)
{
    struct dep few[16], *waits = few;
    unsigned n = 0, count = 0;

    pthread_mutex_lock(&ptxi_queue_mutex);
    for (struct ptxiStream_st *s = group->all; s; s = s->next)
        n += ptxi_stream_completed(s) < s->submitted;
    for (struct ptxiStream_st *s = group->all; s; s = s->next)
        ptxi_stream_tell_host(s, s->submitted);
    if (n > 16)
        waits = malloc(n * sizeof *waits);
    for (struct ptxiStream_st *s = group->all; waits && s; s = s->next)
        if (ptxi_stream_completed(s) < s->submitted) {
            s->refs++;
            waits[count++] = (struct dep){ s, s->submitted };
        }
    for (unsigned i = 0; i < count; i++) {
        wait_locked(waits[i].stream, waits[i].seq);
        ptxi_stream_unref_locked(waits[i].stream);
    }
    pthread_mutex_unlock(&ptxi_queue_mutex);
    if (waits != few)
        free(waits);
    return waits ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}
