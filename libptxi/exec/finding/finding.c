#include "exec/finding/finding.h"

#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

const struct ptxi_finding_kind_info ptxi_finding_kinds[PTXI_FINDING_KINDS] = {
#define FINDING(id, tool, severity, rule, text) \
    [PTXI_FINDING_##id] = { PTXI_TOOL_##tool, PTXI_FINDING_##severity, rule, text },
#include "exec/finding/finding.def"
#undef FINDING
};

const char *const ptxi_tool_names[PTXI_TOOLS] = {
    [PTXI_TOOL_MEMORY] = "memory", [PTXI_TOOL_RACE] = "race", [PTXI_TOOL_INIT] = "init", [PTXI_TOOL_SYNC] = "sync",
    [PTXI_TOOL_API] = "api",
};

const char *const ptxi_finding_severity_names[PTXI_FINDING_SEVERITIES] = {
    [PTXI_FINDING_BENIGN] = "benign", [PTXI_FINDING_WARNING] = "warning", [PTXI_FINDING_ERROR] = "error",
};

/* What makes findings the same. */
struct key {
    enum ptxi_finding_kind kind;
    enum ptxi_finding_severity severity;
    const void *what[PTXI_FINDING_SITES]; /* has made the access, if it is no code */
    uint64_t code[PTXI_FINDING_SITES];    /* ids */
    uint32_t at[PTXI_FINDING_SITES];
    uint64_t object; /* of findings without code */
    uint64_t call;   /* id */
    int error;       /* of the call */
};

struct entry {
    struct key key;
    struct ptxi_found found;
    bool dropped; /* suppressed, so that the filter is called once */
};

struct ptxi_findings {
    pthread_rwlock_t holders; /* taken before the lock */
    pthread_mutex_t lock; /* of all members below */
    ptxi_finding_resolve *resolve;
    struct ptxi_finding_filter filter;
    struct ptxi_arena arena;
    struct entry *entries[PTXI_MAX_FINDINGS];
    size_t count, visible_count;
    struct ptxi_found *visible[PTXI_MAX_FINDINGS]; /* entries that are not suppressed */
    struct ptxi_check_totals totals;
};

struct ptxi_finding_site ptxi_finding_site_at(const struct ptxi_fault_report *where)
{
    struct ptxi_finding_site s = { .code = where->code, .at = where->at, .access = where->access,
                                   .threads = where->thread_count };

    memcpy(s.ctaid, where->ctaid, sizeof s.ctaid);
    memcpy(s.tid, where->tid, sizeof s.tid);
    return s;
}

struct ptxi_findings *ptxi_findings_create(ptxi_finding_resolve *resolve)
{
    struct ptxi_findings *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    pthread_rwlock_init(&f->holders, NULL);
    pthread_mutex_init(&f->lock, NULL);
    ptxi_arena_init(&f->arena, NULL);
    f->resolve = resolve;
    return f;
}

void ptxi_findings_destroy(struct ptxi_findings *f)
{
    if (!f)
        return;
    ptxi_arena_free(&f->arena);
    pthread_mutex_destroy(&f->lock);
    pthread_rwlock_destroy(&f->holders);
    free(f);
}

void ptxi_findings_set_filter(struct ptxi_findings *f, const struct ptxi_finding_filter *filter)
{
    pthread_mutex_lock(&f->lock);
    f->filter = *filter;
    for (size_t i = 0; i < f->count; i++)
        if (f->entries[i]->dropped)
            f->entries[i]->key = (struct key){ .kind = PTXI_FINDING_KINDS }; /* the filter is asked again */
    pthread_mutex_unlock(&f->lock);
}

static struct key key_of(const struct ptxi_finding *x)
{
    struct key k;
    bool has_code = false;

    memset(&k, 0, sizeof k); /* keys are compared as bytes */
    k.kind = x->kind;
    k.severity = x->severity;
    for (unsigned s = 0; s < x->site_count; s++) {
        k.what[s] = x->sites[s].code || x->error.number ? NULL : x->sites[s].what;
        k.code[s] = x->sites[s].code ? x->sites[s].code->id : 0;
        k.at[s] = x->sites[s].at;
        has_code |= x->sites[s].code != NULL;
    }
    k.object = has_code ? 0 : x->object;
    k.call = x->error.id;
    k.error = x->error.number;
    return k;
}

static struct entry *find(const struct ptxi_findings *f, const struct key *k)
{
    for (size_t i = 0; i < f->count; i++)
        if (!memcmp(&f->entries[i]->key, k, sizeof *k))
            return f->entries[i];
    return NULL;
}

/* A copy in the arena. NULL stays NULL, and is what remains if memory is short. */
static const char *keep(struct ptxi_findings *f, const char *s)
{
    return s ? ptxi_arena_strndup(&f->arena, s, strlen(s)) : NULL;
}

static void fill_site(struct ptxi_findings *f, struct ptxi_found_site *to, const struct ptxi_finding_site *from)
{
    *to = (struct ptxi_found_site){ .site = *from, .function = from->what };
    if (from->code) {
        to->function = from->code->name;
        f->resolve(from->code, from->at, to);
    }
    to->function = keep(f, to->function);
    to->ptx_file = keep(f, to->ptx_file);
    to->ptx_text = keep(f, to->ptx_text);
    to->source_file = keep(f, to->source_file);
    to->site.code = NULL;
    to->site.what = from->what ? to->function : NULL;
}

static void keep_error(struct ptxi_findings *f, struct ptxi_finding_error *to, const struct ptxi_finding_error *from)
{
    void *stack = from->stack ? ptxi_arena_alloc(&f->arena, from->stack_size, alignof(max_align_t)) : NULL;

    to->name = keep(f, from->name);
    to->text = keep(f, from->text);
    to->stack = stack ? memcpy(stack, from->stack, from->stack_size) : NULL;
}

static struct entry *make_entry(struct ptxi_findings *f, const struct ptxi_finding *x, const struct key *k,
                                const char *kernel, uint64_t launch)
{
    struct entry *e = f->count < PTXI_MAX_FINDINGS ? ARENA_NEW(&f->arena, struct entry, 1) : NULL;

    if (!e)
        return NULL;
    e->key = *k;
    e->found = (struct ptxi_found){ .finding = *x, .kernel = keep(f, kernel), .launch = launch };
    e->found.finding.name = keep(f, x->name);
    e->found.finding.detail = keep(f, x->detail);
    keep_error(f, &e->found.finding.error, &x->error);
    for (unsigned s = 0; s < x->site_count; s++) {
        fill_site(f, &e->found.sites[s], &x->sites[s]);
        e->found.finding.sites[s].code = NULL;
        e->found.finding.sites[s].what = e->found.sites[s].site.what;
    }
    f->entries[f->count++] = e;
    return e;
}

static void add_locked(struct ptxi_findings *f, const struct ptxi_finding *x, const char *kernel, uint64_t launch)
{
    struct key k = key_of(x);

    if (f->filter.wanted && !f->filter.wanted(f->filter.user, x, kernel, launch)) {
        f->totals.suppressed++;
        return;
    }
    struct entry *e = find(f, &k);

    if (!e && (e = make_entry(f, x, &k, kernel, launch))) {
        e->dropped = f->filter.suppress && f->filter.suppress(f->filter.user, &e->found);
        if (!e->dropped) {
            f->totals.found[ptxi_finding_kinds[x->kind].tool][x->severity]++;
            f->visible[f->visible_count++] = &e->found;
        }
    }
    if (!e) {
        f->totals.dropped++;
        return;
    }
    e->found.count += 1 + x->repeated;
    f->totals.suppressed += e->dropped;
}

void ptxi_findings_add(struct ptxi_findings *f, const struct ptxi_finding *finding, const char *kernel,
                       uint64_t launch)
{
    pthread_mutex_lock(&f->lock);
    add_locked(f, finding, kernel, launch);
    pthread_mutex_unlock(&f->lock);
}

void ptxi_findings_count(struct ptxi_findings *f, uint64_t launches, uint64_t accesses, uint64_t unchecked)
{
    pthread_mutex_lock(&f->lock);
    f->totals.launches += launches;
    f->totals.accesses += accesses;
    f->totals.unchecked += unchecked;
    pthread_mutex_unlock(&f->lock);
}

void ptxi_findings_totals(struct ptxi_findings *f, struct ptxi_check_totals *totals)
{
    pthread_mutex_lock(&f->lock);
    *totals = f->totals;
    pthread_mutex_unlock(&f->lock);
}

struct ptxi_found *ptxi_findings_at(struct ptxi_findings *f, size_t index)
{
    pthread_mutex_lock(&f->lock);
    struct ptxi_found *found = index < f->visible_count ? f->visible[index] : NULL;
    pthread_mutex_unlock(&f->lock);
    return found;
}

bool ptxi_findings_take(struct ptxi_findings *f, struct ptxi_found *found)
{
    pthread_mutex_lock(&f->lock);
    bool first = !found->written;
    if (first)
        found->written = found->count;
    pthread_mutex_unlock(&f->lock);
    return first;
}

void ptxi_findings_hold(struct ptxi_findings *f)
{
    pthread_rwlock_rdlock(&f->holders);
}

void ptxi_findings_release(struct ptxi_findings *f)
{
    pthread_rwlock_unlock(&f->holders);
}

void ptxi_findings_clear(struct ptxi_findings *f)
{
    pthread_rwlock_wrlock(&f->holders);
    pthread_mutex_lock(&f->lock);
    ptxi_arena_free(&f->arena);
    ptxi_arena_init(&f->arena, NULL);
    f->count = f->visible_count = 0;
    f->totals = (struct ptxi_check_totals){ 0 };
    pthread_mutex_unlock(&f->lock);
    pthread_rwlock_unlock(&f->holders);
}
