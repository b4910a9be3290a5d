/* Reads snapshots and checks them. Their data may be anything. */
#include "api/memory/heap.h"
#include "api/snapshot/format.h"

#include "base/file.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BASES = 64 };

bool ptxi_snapshot_has_kind(uint32_t kind)
{
    switch (kind) {
    case PTXI_HEAP_DEVICE: case PTXI_HEAP_HOST: case PTXI_HEAP_MODULE: case PTXI_HEAP_KERNEL: return true;
    default: return false;
    }
}

ptxiResult ptxi_snapshot_fail(ptxiContext ctx, ptxiResult r, struct ptxi_str *why)
{
    ptxi_str_putc(why, '\n');
    ptxiReport report = { .result = r, .text = ptxi_str_text(why) };
    struct ptxi_failure *failure = ptxi_failure_create(&report);

    ptxi_str_free(why);
    return ptxi_api_return_failure(ctx, r, failure);
}

/* ---- the parts of a file */

/* Takes `count` elements of `element` bytes from what is left. Returns where they are, or NULL. */
static const void *take(const unsigned char **at, uint64_t *left, uint64_t count, size_t element)
{
    const unsigned char *p = *at;

    if (count > *left / element)
        return NULL;
    *at += count * element;
    *left -= count * element;
    return p;
}

static const char *find_parts(size_t size, struct ptxi_snapshot *s)
{
    const struct ptxi_snapshot_header *h = s->data;
    const unsigned char *at = (const unsigned char *)(h + 1);
    uint64_t left = size - sizeof *h;

    s->blocks = take(&at, &left, h->block_count, sizeof *s->blocks);
    s->modules = s->blocks ? take(&at, &left, h->module_count, sizeof *s->modules) : NULL;
    s->addresses = s->modules ? take(&at, &left, h->address_count, sizeof *s->addresses) : NULL;
    s->pages = s->addresses ? take(&at, &left, h->page_count, sizeof *s->pages) : NULL;
    s->text = s->pages ? take(&at, &left, ptxi_snapshot_pad(h->text_bytes), 1) : NULL;
    s->note = s->text ? take(&at, &left, ptxi_snapshot_pad(h->note_bytes), 1) : NULL;
    s->content = at;
    if (!s->note || h->text_bytes > size || h->note_bytes > size || left != h->content_bytes)
        return "its parts are larger than the whole";
    return NULL;
}

static const char *check_header(size_t size, const struct ptxi_snapshot_header *h)
{
    if (size < sizeof h->magic || memcmp(h->magic, PTXI_SNAPSHOT_MAGIC, sizeof h->magic))
        return "it is not a snapshot";
    if (size < offsetof(struct ptxi_snapshot_header, settings_size))
        return "it is cut off";
    if (h->version != PTXI_SNAPSHOT_VERSION)
        return "it has another version, or is damaged";
    if (size < sizeof *h || h->size != size)
        return "it is cut off or too long";
    if (h->hash != ptxi_hash_stable(0, &h->version, size - offsetof(struct ptxi_snapshot_header, version)))
        return "it is damaged";
    return NULL;
}

/* ---- their contents */

static bool is_text(const struct ptxi_snapshot *s, uint64_t offset)
{
    return offset < s->header->text_bytes && !s->text[s->header->text_bytes - 1];
}

static bool is_valid_block(const struct ptxi_snapshot *s, const struct ptxi_snapshot_block *b)
{
    const uint32_t known = PTXI_MEM_RWA | PTXI_MEM_HOST | PTXI_MEM_MANAGED | PTXI_MEM_MODULE | PTXI_MEM_WORDS;
    uint64_t end, previous = b == s->blocks ? 0 : b[-1].base + ptxi_snapshot_span(&b[-1]);

    return b->size && b->size <= INT64_MAX && !__builtin_add_overflow(b->base, ptxi_snapshot_span(b), &end) &&
           b->base >= previous && b->base % 8 == 0 && ptxi_snapshot_has_kind(b->kind) && !(b->mem_flags & ~known) &&
           b->mem_flags & PTXI_MEM_READ && b->base >= b->range_base && end - b->range_base <= b->range_size &&
           (b->module == PTXI_SNAPSHOT_NONE || (b->module < s->header->module_count && b->kind == PTXI_HEAP_MODULE));
}

static bool is_valid_page(const struct ptxi_snapshot *s, const struct ptxi_snapshot_page *p)
{
    if (p->block >= s->header->block_count)
        return false;
    const struct ptxi_snapshot_block *b = &s->blocks[p->block];
    bool follows = p == s->pages || p[-1].block < p->block || (p[-1].block == p->block && p[-1].number < p->number);

    if (!follows || (uint64_t)p->number * PTXI_SNAPSHOT_PAGE >= ptxi_snapshot_span(b))
        return false;
    uint64_t bytes = ptxi_snapshot_page_bytes(b, p->number), all = s->header->content_bytes;

    return p->content == PTXI_SNAPSHOT_ZEROS || (bytes <= all && p->content <= all - bytes);
}

static const char *check_contents(const struct ptxi_snapshot *s)
{
    const struct ptxi_snapshot_header *h = s->header;

    if (h->settings_size != sizeof *h || !is_text(s, h->profile) || !is_text(s, h->base_name))
        return "its header is invalid";
    for (uint64_t k = 0; k < h->block_count; k++)
        if (!is_valid_block(s, &s->blocks[k]))
            return "an allocation is invalid";
    for (uint64_t k = 0; k < h->module_count; k++)
        if (!is_text(s, s->modules[k].name) || s->modules[k].first > h->address_count ||
            s->modules[k].count > h->address_count - s->modules[k].first || s->modules[k].count > UINT32_MAX)
            return "a module is invalid";
    for (uint64_t k = 0; k < h->page_count; k++)
        if (!is_valid_page(s, &s->pages[k]))
            return "a page is invalid";
    return NULL;
}

/* ---- files */

bool ptxi_snapshot_may_be(const char *file)
{
    struct stat st;

    return stat(file, &st) || S_ISREG(st.st_mode);
}

static ptxiResult read_file(const char *file, struct ptxi_snapshot *s, size_t *size, struct ptxi_str *why)
{
    FILE *f = ptxi_snapshot_may_be(file) ? fopen(file, "rb") : (errno = EINVAL, NULL);
    int e = errno;

    if (f) {
        s->data = ptxi_read_all(f, SIZE_MAX / 2, size);
        e = errno;
        fclose(f);
    }
    if (s->data)
        return PTXI_SUCCESS;
    ptxi_str_printf(why, "the snapshot %s cannot be read: %s", file, strerror(e));
    return e == ENOMEM ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_FILE_NOT_FOUND;
}

static ptxiResult read_one(const char *file, struct ptxi_snapshot *s, struct ptxi_str *why)
{
    size_t size = 0;
    ptxiResult r = read_file(file, s, &size, why);
    const char *wrong;

    if (r)
        return r;
    s->header = s->data;
    wrong = check_header(size, s->header);
    if (!wrong)
        wrong = find_parts(size, s);
    if (!wrong)
        wrong = check_contents(s);
    if (!wrong)
        return PTXI_SUCCESS;
    ptxi_str_printf(why, "the snapshot %s is refused: %s", file, wrong);
    return PTXI_ERROR_INVALID_IMAGE;
}

/* The base is in the same directory. */
static void name_base(const char *file, const struct ptxi_snapshot *s, struct ptxi_str *name)
{
    const char *slash = strrchr(file, '/');

    ptxi_str_put(name, file, slash ? (size_t)(slash + 1 - file) : 0);
    ptxi_str_puts(name, s->text + s->header->base_name);
}

static ptxiResult open_file(const char *file, struct ptxi_snapshot **s, struct ptxi_str *why, unsigned depth)
{
    struct ptxi_str name;

    *s = calloc(1, sizeof **s);
    if (!*s)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = read_one(file, *s, why);

    if (r || !(*s)->header->base_hash)
        return r;
    if (depth == MOST_BASES) {
        ptxi_str_printf(why, "the snapshot %s is refused: there are more than %d bases", file, MOST_BASES);
        return PTXI_ERROR_INVALID_IMAGE;
    }
    ptxi_str_init(&name, NULL);
    name_base(file, *s, &name);
    r = name.oom ? PTXI_ERROR_OUT_OF_MEMORY : open_file(ptxi_str_text(&name), &(*s)->base, why, depth + 1);
    if (!r && (*s)->base->header->hash != (*s)->header->base_hash) {
        ptxi_str_printf(why, "the snapshot %s is refused: %s is not its base", file, ptxi_str_text(&name));
        r = PTXI_ERROR_INVALID_IMAGE;
    }
    ptxi_str_free(&name);
    return r;
}

ptxiResult ptxi_snapshot_open(const char *file, struct ptxi_snapshot **s, struct ptxi_str *why)
{
    return open_file(file, s, why, 0);
}

void ptxi_snapshot_close(struct ptxi_snapshot *s)
{
    while (s) {
        struct ptxi_snapshot *base = s->base;

        free(s->data);
        free(s);
        s = base;
    }
}

/* ---- pages */

static const struct ptxi_snapshot_block *find_block(const struct ptxi_snapshot *s, const struct ptxi_snapshot_block *b)
{
    uint64_t low = 0, high = s->header->block_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (s->blocks[middle].base < b->base)
            low = middle + 1;
        else
            high = middle;
    }
    const struct ptxi_snapshot_block *found = &s->blocks[low];

    return low < s->header->block_count && found->base == b->base && found->size == b->size ? found : NULL;
}

static const struct ptxi_snapshot_page *find_entry(const struct ptxi_snapshot *s, uint64_t block, uint64_t number)
{
    uint64_t low = 0, high = s->header->page_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct ptxi_snapshot_page *p = &s->pages[middle];

        if (p->block < block || (p->block == block && p->number < number))
            low = middle + 1;
        else
            high = middle;
    }
    const struct ptxi_snapshot_page *p = &s->pages[low];

    return low < s->header->page_count && p->block == block && p->number == number ? p : NULL;
}

const void *ptxi_snapshot_find_page(const struct ptxi_snapshot *s, const struct ptxi_snapshot_block *b,
                                    uint64_t number)
{
    for (; s; s = s->base) {
        const struct ptxi_snapshot_block *block = find_block(s, b);
        const struct ptxi_snapshot_page *p = block ? find_entry(s, (uint64_t)(block - s->blocks), number) : NULL;

        if (p)
            return p->content == PTXI_SNAPSHOT_ZEROS ? NULL : s->content + p->content;
        if (!block)
            return NULL;
    }
    return NULL;
}
