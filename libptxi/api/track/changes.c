#include "api/track/changes.h"

#include "base/hash.h"
#include "exec/memory/array_reduce.h"

#include <string.h>

bool ptxi_changes_ranges_are_valid(const ptxiRange *ranges, unsigned count)
{
    if (count > PTXI_CHANGES_MOST || (count && !ranges))
        return false;
    for (unsigned k = 0; k < count; k++)
        if (ranges[k].bytes > UINTPTR_MAX - (uintptr_t)ranges[k].base)
            return false;
    return true;
}

uint64_t ptxi_changes_hash(const void *data, size_t size)
{
    return ptxi_hash_stable(size, data, size);
}

/* Takes `count` elements of `element` bytes from what is left. False: there are not as many. */
static bool take(size_t *left, uint64_t count, size_t element)
{
    if (count > *left / element)
        return false;
    *left -= count * element;
    return true;
}

static const char *find_parts(const unsigned char *data, size_t size, struct ptxi_changes *c)
{
    const struct ptxi_changes_header *h = (const void *)data;
    size_t left = size;

    if (size < sizeof *h || memcmp(h->magic, PTXI_CHANGES_MAGIC, sizeof h->magic))
        return "it has no changes of memory, or those of another version";
    if ((uintptr_t)data % 8)
        return "its address is not a multiple of 8";
    if (h->size != size)
        return "it is cut off or too long";
    if (h->hash != ptxi_changes_hash(&h->ranges, size - offsetof(struct ptxi_changes_header, ranges)))
        return "it is damaged";
    take(&left, 1, sizeof *h);
    if (!take(&left, h->run_count, sizeof *c->runs) || !take(&left, h->log_count, sizeof *c->log) ||
        !take(&left, h->text_count, sizeof *c->texts) || !take(&left, h->text_bytes, 1) || left != h->data_bytes)
        return "its parts are larger than the whole";
    c->header = h;
    c->runs = (const void *)(h + 1);
    c->log = (const void *)(c->runs + h->run_count);
    c->texts = (const void *)(c->log + h->log_count);
    c->text = (const void *)(c->texts + h->text_count);
    c->bytes = (const unsigned char *)c->text + h->text_bytes;
    return NULL;
}

static bool is_inside(const size_t *range_bytes, unsigned ranges, uint32_t range, uint64_t offset, uint64_t length)
{
    return range < ranges && length <= range_bytes[range] && offset <= range_bytes[range] - length;
}

static bool is_valid_run(const struct ptxi_changes *c, const struct ptxi_changes_run *r)
{
    bool has_data = r->kind == PTXI_TRACK_WRITE;

    if (r->kind == PTXI_TRACK_REDUCE && r->op != PTXI_TRACK_MIXED) {
        uint32_t bytes = ptxi_array_reduce_bytes(r->op);

        if (!bytes || r->length % bytes)
            return false;
        has_data = ptxi_track_is_exact(r->op);
    }
    return r->length && r->kind < PTXI_TRACK_KINDS && r->place < c->header->text_count &&
           (!has_data || (r->data <= c->header->data_bytes && r->length <= c->header->data_bytes - r->data));
}

const char *ptxi_changes_open(const void *data, size_t size, const size_t *range_bytes, unsigned ranges,
                              struct ptxi_changes *c)
{
    const char *why = data ? find_parts(data, size, c) : "there is no data";

    if (why)
        return why;
    if (c->header->ranges != ranges)
        return "it has another number of ranges";
    if (c->header->text_bytes && c->text[c->header->text_bytes - 1])
        return "its texts do not end";
    for (uint64_t k = 0; k < c->header->text_count; k++)
        if (c->texts[k] >= c->header->text_bytes)
            return "a text is missing";
    for (uint64_t k = 0; k < c->header->run_count; k++)
        if (!is_inside(range_bytes, ranges, c->runs[k].range, c->runs[k].offset, c->runs[k].length) ||
            !is_valid_run(c, &c->runs[k]))
            return "a change is outside of its range";
    for (uint64_t k = 0; k < c->header->log_count; k++) {
        const struct ptxi_changes_entry *e = &c->log[k];
        uint32_t bytes = ptxi_array_reduce_bytes(e->op);

        if (!bytes || !is_inside(range_bytes, ranges, e->range, e->offset, bytes))
            return "an operation is outside of its range";
    }
    return NULL;
}
