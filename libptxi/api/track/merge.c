/* Merges the changes that parts of a grid have made to copies of the same memory. */
#include "api/module/module.h"
#include "api/track/changes.h"

#include "exec/memory/array_reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONFLICTS = 20 };

/* A run of one part, at its address here. */
struct item {
    unsigned char *at, *end;
    const struct ptxi_changes_run *run;
    unsigned part;
};

struct merger {
    const ptxiRange *ranges;
    unsigned parts;
    struct ptxi_changes *changes; /* of each part */
    struct item *items;           /* of all parts, by their addresses */
    size_t count;
    struct item *active;          /* those that end after the current one begins */
    size_t active_count;
    struct ptxi_str text;
    unsigned conflicts;
};

static const unsigned char *bytes_of(const struct merger *m, const struct item *i)
{
    return m->changes[i->part].bytes + i->run->data;
}

/* ---- conflicts */

static const char *place_of(const struct merger *m, const struct item *i)
{
    const struct ptxi_changes *c = &m->changes[i->part];

    return c->text + c->texts[i->run->place];
}

static void report(struct merger *m, const struct item *a, const struct item *b, const unsigned char *at,
                   const char *what)
{
    uint64_t offset = (uint64_t)(at - (unsigned char *)m->ranges[a->run->range].base);

    if (m->conflicts++ >= MAX_CONFLICTS)
        return;
    ptxi_str_printf(&m->text, "range %u, offset %" PRIu64 ": %s: part %u, %s; part %u, %s\n", a->run->range, offset,
                    what, a->part, place_of(m, a), b->part, place_of(m, b));
}

/* The first byte of [from, to) that differs between x, which begins at x_at, and y, which begins at y_at. */
static const unsigned char *find_difference(const unsigned char *x, const unsigned char *x_at, const unsigned char *y,
                                            const unsigned char *y_at, const unsigned char *from,
                                            const unsigned char *to)
{
    if (!memcmp(x + (from - x_at), y + (from - y_at), (size_t)(to - from)))
        return NULL;
    while (x[from - x_at] == y[from - y_at])
        from++;
    return from;
}

/* Two parts have accessed some of the same bytes. */
static void check_pair(struct merger *m, const struct item *a, const struct item *b)
{
    const unsigned char *from = a->at > b->at ? a->at : b->at, *to = a->end < b->end ? a->end : b->end, *at = from;
    const struct item *write = a->run->kind == PTXI_TRACK_WRITE ? a : b, *other = write == a ? b : a;

    if (a->run->kind == PTXI_TRACK_REDUCE && b->run->kind == PTXI_TRACK_REDUCE) {
        if (a->run->op != b->run->op || a->run->op == PTXI_TRACK_MIXED)
            report(m, a, b, at, "different operations");
        return;
    }
    if (write->run->kind != PTXI_TRACK_WRITE) {
        report(m, a, b, at, "one has read what another has changed by an operation");
        return;
    }
    if (other->run->kind == PTXI_TRACK_REDUCE) {
        report(m, write, other, at, "one has written what another has changed by an operation");
    } else if (other->run->kind == PTXI_TRACK_READ) {
        at = find_difference(bytes_of(m, write), write->at, write->at, write->at, from, to);
        if (at)
            report(m, write, other, at, "one has written what another has read");
    } else {
        at = find_difference(bytes_of(m, a), a->at, bytes_of(m, b), b->at, from, to);
        if (at)
            report(m, a, b, at, "different values");
    }
}

static void check_item(struct merger *m, const struct item *i)
{
    size_t kept = 0;

    for (size_t k = 0; k < m->active_count; k++) {
        const struct item *a = &m->active[k];

        if (a->end <= i->at)
            continue;
        if (a->part != i->part && !(a->run->kind == PTXI_TRACK_READ && i->run->kind == PTXI_TRACK_READ))
            check_pair(m, a, i);
        m->active[kept++] = *a;
    }
    m->active[kept++] = *i;
    m->active_count = kept;
}

/* ---- applying */

static void apply_writes(const struct merger *m)
{
    for (size_t k = 0; k < m->count; k++)
        if (m->items[k].run->kind == PTXI_TRACK_WRITE)
            memcpy(m->items[k].at, bytes_of(m, &m->items[k]), m->items[k].run->length);
}

static uint64_t read_word(const unsigned char *p, uint32_t bytes)
{
    uint64_t x = 0;

    memcpy(&x, p, bytes);
    return x;
}

/* Replaces each word of an exact reduction by what the part has added to it. `differences`: room for the bytes. */
static void find_differences(const struct merger *m, const struct item *i, unsigned char *differences)
{
    uint32_t bytes = ptxi_array_reduce_bytes(i->run->op);

    for (uint64_t k = 0; k < i->run->length; k += bytes) {
        uint64_t d = ptxi_track_difference(i->run->op, read_word(i->at + k, bytes),
                                           read_word(bytes_of(m, i) + k, bytes));

        memcpy(differences + k, &d, bytes);
    }
}

static bool is_exact(const struct item *i)
{
    return i->run->kind == PTXI_TRACK_REDUCE && ptxi_track_is_exact(i->run->op);
}

static bool apply_exact(const struct merger *m)
{
    size_t total = 0, at = 0;
    unsigned char *differences;

    for (size_t k = 0; k < m->count; k++)
        total += is_exact(&m->items[k]) ? m->items[k].run->length : 0;
    differences = malloc(total + 1);
    if (!differences)
        return false;
    for (size_t k = 0; k < m->count; k++)
        if (is_exact(&m->items[k])) {
            find_differences(m, &m->items[k], differences + at);
            at += m->items[k].run->length;
        }
    at = 0;
    for (size_t k = 0; k < m->count; k++) {
        const struct item *i = &m->items[k];
        uint32_t bytes = is_exact(i) ? ptxi_array_reduce_bytes(i->run->op) : 1;

        for (uint64_t b = 0; is_exact(i) && b < i->run->length; b += bytes, at += bytes)
            ptxi_array_reduce_one(i->run->op, i->at + b, read_word(differences + at, bytes));
    }
    free(differences);
    return true;
}

/* An operation that does not commute. */
struct step {
    const struct ptxi_changes_entry *entry;
    unsigned part;
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->entry->cluster != y->entry->cluster)
        return x->entry->cluster < y->entry->cluster ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Whether a part has changed the word only by operations. It has no other runs in the order of the runs. */
static bool is_replayed(const struct ptxi_changes *c, const struct ptxi_changes_entry *e)
{
    uint64_t lo = 0, hi = c->header->run_count;

    while (lo < hi) { /* runs are sorted by kind; reductions are last */
        uint64_t mid = (lo + hi) / 2;
        const struct ptxi_changes_run *r = &c->runs[mid];

        if (r->kind < PTXI_TRACK_REDUCE || r->range < e->range ||
            (r->range == e->range && r->offset + r->length <= e->offset))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->header->run_count && c->runs[lo].kind == PTXI_TRACK_REDUCE && c->runs[lo].range == e->range &&
           c->runs[lo].offset <= e->offset && c->runs[lo].op == e->op;
}

/* Repeats the operations in the order of the clusters. */
static bool apply_log(const struct merger *m)
{
    size_t total = 0, n = 0;
    struct step *steps;

    for (unsigned p = 0; p < m->parts; p++)
        total += m->changes[p].header->log_count;
    if (!total)
        return true;
    steps = malloc(total * sizeof *steps);
    if (!steps)
        return false;
    for (unsigned p = 0; p < m->parts; p++)
        for (uint64_t k = 0; k < m->changes[p].header->log_count; k++)
            if (is_replayed(&m->changes[p], &m->changes[p].log[k]))
                steps[n++] = (struct step){ &m->changes[p].log[k], p };
    qsort(steps, n, sizeof *steps, compare_steps);
    for (size_t k = 0; k < n; k++)
        ptxi_array_reduce_one(steps[k].entry->op,
                              (unsigned char *)m->ranges[steps[k].entry->range].base + steps[k].entry->offset,
                              steps[k].entry->value);
    free(steps);
    return true;
}

/* ---- the merge */

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static bool collect_items(struct merger *m)
{
    size_t total = 0;

    for (unsigned p = 0; p < m->parts; p++)
        total += m->changes[p].header->run_count;
    m->items = malloc((total + 1) * sizeof *m->items);
    m->active = malloc((total + 1) * sizeof *m->active);
    if (!m->items || !m->active)
        return false;
    for (unsigned p = 0; p < m->parts; p++)
        for (uint64_t k = 0; k < m->changes[p].header->run_count; k++) {
            const struct ptxi_changes_run *r = &m->changes[p].runs[k];
            unsigned char *at = (unsigned char *)m->ranges[r->range].base + r->offset;

            m->items[m->count++] = (struct item){ at, at + r->length, r, p };
        }
    qsort(m->items, m->count, sizeof *m->items, compare_items);
    return true;
}

static ptxiResult merge(struct merger *m)
{
    if (!collect_items(m))
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (size_t k = 0; k < m->count; k++)
        check_item(m, &m->items[k]);
    if (m->conflicts > MAX_CONFLICTS)
        ptxi_str_printf(&m->text, "... and %u more\n", m->conflicts - MAX_CONFLICTS);
    if (m->conflicts)
        return PTXI_ERROR_ILLEGAL_STATE;
    /* differences first: they need the memory as it was */
    if (!apply_exact(m) || !apply_log(m))
        return PTXI_ERROR_OUT_OF_MEMORY;
    apply_writes(m);
    return PTXI_SUCCESS;
}

static ptxiResult open_parts(struct merger *m, unsigned ranges, const void *const *changes, const size_t *sizes)
{
    size_t *bytes = malloc((ranges + 1) * sizeof *bytes);
    const char *why = NULL;

    m->changes = malloc((m->parts + 1) * sizeof *m->changes);
    if (!bytes || !m->changes) {
        free(bytes);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    for (unsigned k = 0; k < ranges; k++)
        bytes[k] = m->ranges[k].bytes;
    for (unsigned p = 0; p < m->parts && !why; p++) {
        why = ptxi_changes_open(changes[p], sizes[p], bytes, ranges, &m->changes[p]);
        if (why)
            ptxi_str_printf(&m->text, "the data of part %u is refused: %s\n", p, why);
    }
    free(bytes);
    return why ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult ptxiMergeChanges(const ptxiRange *ranges, unsigned count, const void *const *changes, const size_t *sizes,
                            unsigned parts, char **conflicts)
{
    API_CALL;
    struct merger m = { .ranges = ranges, .parts = parts };

    if (conflicts)
        *conflicts = NULL;
    if (!ptxi_changes_ranges_are_valid(ranges, count) || (parts && (!changes || !sizes)) || parts > PTXI_CHANGES_MOST)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_str_init(&m.text, NULL);
    ptxiResult r = open_parts(&m, count, changes, sizes);

    r = r ? r : merge(&m);
    if (conflicts && *ptxi_str_text(&m.text) && ptxi_api_give_text(&m.text, conflicts))
        *conflicts = NULL;
    else
        ptxi_str_free(&m.text);
    free(m.items);
    free(m.active);
    free(m.changes);
    return r;
}
