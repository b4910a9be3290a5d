/* From the records of a tracker to data. */
#include "api/check/check.h"
#include "api/module/module.h"
#include "api/track/changes.h"

#include "exec/check/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ptxiResult ptxiCtxSetTracking(ptxiContext named, unsigned what)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxi_tracker *t = NULL, *old;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (what & ~(unsigned)(PTXI_TRACK_CHANGES | PTXI_TRACK_READS) || what == PTXI_TRACK_READS)
        return PTXI_ERROR_INVALID_VALUE;
    if (what && !(t = ptxi_tracker_create(what & PTXI_TRACK_READS)))
        return PTXI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&ctx->lock);
    old = ctx->tracker;
    ctx->tracker = t;
    pthread_mutex_unlock(&ctx->lock);
    ptxi_tracker_unref(old);
    return PTXI_SUCCESS;
}

/* Data under construction. */
struct buffer {
    unsigned char *at;
    size_t size, room;
};

enum { KNOWN = 256 };

struct taker {
    const ptxiRange *ranges;
    unsigned count;
    struct buffer runs, log, texts, text, bytes;
    struct { uint32_t place, text; } known[KNOWN]; /* places that have a text; place 0: none */
    struct ptxi_changes_run run;    /* not added yet; length 0: none */
    uint64_t outside;               /* an address that is in no range and has changed; 0: none */
    bool no_memory;
};

static void *append(struct taker *t, struct buffer *b, const void *data, size_t size)
{
    if (b->size + size > b->room) {
        size_t room = 2 * (b->size + size);
        unsigned char *more = realloc(b->at, room);

        if (!more) {
            t->no_memory = true;
            return NULL;
        }
        b->at = more;
        b->room = room;
    }
    unsigned char *to = b->at + b->size;

    if (data)
        memcpy(to, data, size);
    b->size += size;
    return to;
}

/* Adds a text that describes a place. Returns its number. */
static uint32_t text_of(struct taker *t, uint32_t place)
{
    char text[512];
    struct ptxi_found_site site = { .ptx_line = 0 };
    uint32_t at, offset = (uint32_t)t->text.size;
    const struct ptxi_code *code;

    if (place && t->known[place % KNOWN].place == place)
        return t->known[place % KNOWN].text;
    code = ptxi_place_find(place, &at);
    if (code)
        ptxi_check_resolve(code, at, &site);
    if (site.source_file)
        snprintf(text, sizeof text, "%s (%s:%u)", code->name, site.source_file, site.source_line);
    else if (site.ptx_line)
        snprintf(text, sizeof text, "%s (%s:%u)", code->name, site.ptx_file, site.ptx_line);
    else
        snprintf(text, sizeof text, "%s", code ? code->name : "a kernel that is not loaded any more");
    append(t, &t->texts, &offset, sizeof offset);
    append(t, &t->text, text, strlen(text) + 1);
    t->known[place % KNOWN].place = place;
    return t->known[place % KNOWN].text = (uint32_t)(t->texts.size / sizeof offset) - 1;
}

/* The range that contains an address, or UINT32_MAX. */
static uint32_t range_of(const struct taker *t, uint64_t address)
{
    for (unsigned k = 0; k < t->count; k++)
        if (address - (uintptr_t)t->ranges[k].base < t->ranges[k].bytes)
            return k;
    return UINT32_MAX;
}

static void end_run(struct taker *t)
{
    struct ptxi_changes_run *r = &t->run;

    if (!r->length)
        return;
    if (r->kind == PTXI_TRACK_WRITE || (r->kind == PTXI_TRACK_REDUCE && ptxi_track_is_exact(r->op))) {
        r->data = t->bytes.size;
        append(t, &t->bytes, (const char *)t->ranges[r->range].base + r->offset, r->length);
    }
    append(t, &t->runs, r, sizeof *r);
    r->length = 0;
}

/* Adds a byte that was accessed. Runs grow as long as bytes follow each other. */
static void add_bytes(struct taker *t, enum ptxi_track_kind kind, uint16_t op, uint64_t address, uint64_t length,
                      uint32_t place)
{
    uint32_t range = range_of(t, address);
    struct ptxi_changes_run *r = &t->run;

    if (range == UINT32_MAX) {
        end_run(t);
        if (kind != PTXI_TRACK_READ && !t->outside)
            t->outside = address;
        return;
    }
    uint64_t offset = address - (uintptr_t)t->ranges[range].base;
    uint32_t text = text_of(t, place);

    if (r->length && r->range == range && r->offset + r->length == offset && r->op == op && r->place == text) {
        r->length += length;
        return;
    }
    end_run(t);
    *r = (struct ptxi_changes_run){ .offset = offset, .length = length, .range = range, .place = text,
                                    .kind = (uint16_t)kind, .op = op };
}

static uint32_t word_of(const struct ptxi_track_page *p, enum ptxi_track_kind kind, unsigned k)
{
    return kind == PTXI_TRACK_WRITE ? ptxi_track_written(p, k) : p->words[kind][k];
}

/* The bytes of a word to report. Bytes that were written are changed by value, whatever else was done to them. */
static uint32_t mask_of(const struct ptxi_track_page *p, enum ptxi_track_kind kind, unsigned k)
{
    uint32_t mask = word_of(p, kind, k) & PTXI_TRACK_MASK;

    return kind == PTXI_TRACK_REDUCE ? mask & ~ptxi_track_written(p, k) : mask;
}

/* The number of words from k on that are the same. */
static unsigned count_same(const struct ptxi_track_page *p, enum ptxi_track_kind kind, unsigned k)
{
    const uint32_t word = word_of(p, kind, k);
    unsigned n = k + 1;

    while (n < PTXI_TRACK_WORDS)
        if (kind == PTXI_TRACK_WRITE && n % PTXI_TRACK_BLOCK_WORDS == 0 &&
            p->blocks[n / PTXI_TRACK_BLOCK_WORDS] == word)
            n += PTXI_TRACK_BLOCK_WORDS;
        else if (word_of(p, kind, n) == word)
            n++;
        else
            break;
    return n - k;
}

/* Adds one word, or several that are the same. Returns their number. */
static unsigned add_words(struct taker *t, const struct ptxi_track_page *p, enum ptxi_track_kind kind, unsigned k)
{
    uint32_t mask = mask_of(p, kind, k), place = word_of(p, kind, k) >> PTXI_TRACK_PLACE;
    uint64_t address = p->address + 8 * k;

    if (mask == PTXI_TRACK_MASK && kind != PTXI_TRACK_REDUCE) {
        const uint32_t range = range_of(t, address);

        for (unsigned n = count_same(p, kind, k); n; n /= 2)
            if (range != UINT32_MAX && range == range_of(t, address + 8 * n - 1)) {
                add_bytes(t, kind, 0, address, 8 * n, place);
                return n;
            }
    }
    for (unsigned b = 0; b < 8; b++)
        if (mask >> b & 1)
            add_bytes(t, kind, kind == PTXI_TRACK_REDUCE ? p->operations[2 * k + b / 4] : 0, address + b, 1, place);
        else
            end_run(t);
    return 1;
}

static void add_page(struct taker *t, const struct ptxi_track_page *p, enum ptxi_track_kind kind)
{
    if (kind != PTXI_TRACK_WRITE && !p->words[kind])
        return;
    for (unsigned k = 0; k < PTXI_TRACK_WORDS;)
        if (mask_of(p, kind, k)) {
            k += add_words(t, p, kind, k);
        } else {
            end_run(t);
            k += word_of(p, kind, k) ? 1 : count_same(p, kind, k);
        }
}

static int compare_pages(const void *a, const void *b)
{
    const struct ptxi_track_page *x = *(void *const *)a, *y = *(void *const *)b;

    return (x->address > y->address) - (x->address < y->address);
}

static bool add_pages(struct taker *t, const struct ptxi_tracker *tracker)
{
    size_t count = 0, n = 0;
    struct ptxi_track_page **pages;

    for (struct ptxi_track_page *p = ptxi_tracker_pages(tracker); p; p = p->next)
        count++;
    pages = malloc((count + 1) * sizeof(struct ptxi_track_page *));
    if (!pages)
        return false;
    for (struct ptxi_track_page *p = ptxi_tracker_pages(tracker); p; p = p->next)
        pages[n++] = p;
    qsort(pages, count, sizeof(struct ptxi_track_page *), compare_pages);
    for (int kind = 0; kind < PTXI_TRACK_KINDS; kind++) {
        for (n = 0; n < count; n++)
            add_page(t, pages[n], kind);
        end_run(t);
    }
    free(pages);
    return true;
}

static void add_log(struct taker *t, const struct ptxi_tracker *tracker)
{
    bool end = false;

    for (unsigned worker = 0; !end; worker++) {
        const struct ptxi_track_log *log = ptxi_tracker_log(tracker, worker, &end);

        for (size_t k = 0; !end && k < log->count; k++) {
            const struct ptxi_track_entry *e = &log->at[k];
            uint32_t range = range_of(t, e->address);

            if (range == UINT32_MAX)
                continue;
            append(t, &t->log, &(struct ptxi_changes_entry){
                .cluster = e->cluster, .offset = e->address - (uintptr_t)t->ranges[range].base, .value = e->value,
                .range = range, .place = text_of(t, e->place), .op = e->op }, sizeof(struct ptxi_changes_entry));
        }
    }
}

/* Joins the parts. NULL: no memory. */
static void *join(struct taker *t, size_t *size)
{
    const struct buffer *parts[] = { &t->runs, &t->log, &t->texts, &t->text, &t->bytes };
    struct ptxi_changes_header h = {
        .magic = PTXI_CHANGES_MAGIC, .ranges = t->count, .run_count = t->runs.size / sizeof(struct ptxi_changes_run),
        .log_count = t->log.size / sizeof(struct ptxi_changes_entry), .text_count = t->texts.size / sizeof(uint32_t),
        .text_bytes = t->text.size, .data_bytes = t->bytes.size,
    };
    unsigned char *data, *to;

    h.size = sizeof h;
    for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++)
        h.size += parts[k]->size;
    data = t->no_memory ? NULL : malloc(h.size);
    if (!data)
        return NULL;
    to = data + sizeof h;
    for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (parts[k]->size)
            memcpy(to, parts[k]->at, parts[k]->size);
        to += parts[k]->size;
    }
    memcpy(data, &h, sizeof h);
    h.hash = ptxi_changes_hash(data + offsetof(struct ptxi_changes_header, ranges),
                               h.size - offsetof(struct ptxi_changes_header, ranges));
    memcpy(data, &h, sizeof h);
    *size = h.size;
    return data;
}

static ptxiResult report_outside(ptxiContext ctx, uint64_t address)
{
    char text[128];
    ptxiReport report = { .result = PTXI_ERROR_ILLEGAL_ADDRESS, .text = text };

    snprintf(text, sizeof text, "a launch has changed memory outside of the ranges, at 0x%" PRIx64 "\n", address);
    return ptxi_api_return_failure(ctx, report.result, ptxi_failure_create(&report));
}

static ptxiResult take_changes(ptxiContext ctx, struct ptxi_tracker *tracker, struct taker *t, void **changes,
                               size_t *size)
{
    ptxi_tracker_finish(tracker);
    if (!ptxi_tracker_is_complete(tracker) || !add_pages(t, tracker))
        return PTXI_ERROR_OUT_OF_MEMORY;
    add_log(t, tracker);
    if (t->outside)
        return report_outside(ctx, t->outside);
    *changes = join(t, size);
    return *changes ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiCtxTakeChanges(ptxiContext named, const ptxiRange *ranges, unsigned count, void **changes, size_t *size)
{
    API_CALL;
    ptxiContext ctx;
    struct taker t = { .ranges = ranges, .count = count };
    struct ptxi_tracker *tracker, *new = NULL;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r || (r = ptxi_queue_wait_all(&ctx->streams)))
        return r;
    if (!changes || !size || !ptxi_changes_ranges_are_valid(ranges, count))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    tracker = ctx->tracker;
    if (tracker && (new = ptxi_tracker_create(ptxi_tracker_reads(tracker))))
        ctx->tracker = new;
    pthread_mutex_unlock(&ctx->lock);
    if (!tracker)
        return PTXI_ERROR_INVALID_VALUE;
    if (!new)
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = take_changes(ctx, tracker, &t, changes, size);
    free(t.runs.at);
    free(t.log.at);
    free(t.texts.at);
    free(t.text.at);
    free(t.bytes.at);
    ptxi_tracker_unref(tracker);
    return r;
}
