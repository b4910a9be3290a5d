/* Files with the memory and the state of a context. The numbers are those of the host, which must be little-endian.
 *
 *   header, blocks, modules, addresses, pages, texts, note, contents of pages
 *
 * Texts, the note and the contents of each page are padded to a multiple of 8 bytes. A file with a base has only pages
 * that differ from those of the base; otherwise pages that have no entry contain zeros. */
#ifndef PTXI_API_SNAPSHOT_FORMAT_H
#define PTXI_API_SNAPSHOT_FORMAT_H

#include "api/context/context.h"

#define PTXI_SNAPSHOT_MAGIC "ptxisnap"

enum { PTXI_SNAPSHOT_VERSION = 2, PTXI_SNAPSHOT_PAGE = 4096 };

#define PTXI_SNAPSHOT_NONE UINT32_MAX
#define PTXI_SNAPSHOT_ZEROS UINT64_MAX

struct ptxi_snapshot_header {
    char magic[8];
    uint64_t size, hash; /* bytes of the file; of what follows this member */
    uint32_t version, settings_size;
    uint64_t base_hash;  /* `hash` of the base; 0: there is none */
    uint64_t block_count, module_count, address_count, page_count, text_bytes, note_bytes, content_bytes;
    uint64_t profile, base_name; /* offsets of texts */
    uint64_t limits[PTXI_LIMITS];
    uint64_t instruction_limit, millisecond_limit, schedule, kernel_heap;
    uint64_t counters[7];        /* of ptxiCounters */
    struct ptxi_progress progress;
    uint32_t dialect, on_fault, unchecked, counting;
};

/* An allocation, or a variable of a module. In the order of their addresses. */
struct ptxi_snapshot_block {
    uint64_t base, size, range_base, range_size; /* as struct ptxi_heap_place */
    uint32_t kind, mem_flags, host_flags;
    uint32_t module;             /* its number, or PTXI_SNAPSHOT_NONE */
};

struct ptxi_snapshot_module {
    uint64_t hash, name;         /* ptxi_module_hash(); offset of a text */
    uint64_t functions, constants; /* addresses */
    uint64_t first, count;       /* its addresses: of each global variable, or 0 */
};

/* In the order of blocks and offsets. */
struct ptxi_snapshot_page {
    uint32_t block, number;
    uint64_t content;            /* its offset, or PTXI_SNAPSHOT_ZEROS */
};

/* A valid file, with its base. */
struct ptxi_snapshot {
    void *data;
    struct ptxi_snapshot *base;  /* NULL: none */
    const struct ptxi_snapshot_header *header;
    const struct ptxi_snapshot_block *blocks;
    const struct ptxi_snapshot_module *modules;
    const uint64_t *addresses;
    const struct ptxi_snapshot_page *pages;
    const char *text;
    const unsigned char *note, *content;
};

static inline uint64_t ptxi_snapshot_pad(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

/* Bytes of a block that are saved: an access to a whole word may reach beyond its end. */
static inline uint64_t ptxi_snapshot_span(const struct ptxi_snapshot_block *b)
{
    return ptxi_snapshot_pad(b->size);
}

static inline uint64_t ptxi_snapshot_page_bytes(const struct ptxi_snapshot_block *b, uint64_t number)
{
    uint64_t left = ptxi_snapshot_span(b) - number * PTXI_SNAPSHOT_PAGE;

    return left < PTXI_SNAPSHOT_PAGE ? left : PTXI_SNAPSHOT_PAGE;
}

/* Reads a file and its bases. Appends the reason to *why if it returns an error: FILE_NOT_FOUND, INVALID_IMAGE or
 * OUT_OF_MEMORY. The caller frees *s in any case. */
ptxiResult ptxi_snapshot_open(const char *file, struct ptxi_snapshot **s, struct ptxi_str *why);
void ptxi_snapshot_close(struct ptxi_snapshot *s); /* NULL does nothing */

/* The contents of a page of a block as the file and its bases have it, or NULL for zeros. A block is found by its
 * address and size. `s` may be NULL. */
const void *ptxi_snapshot_find_page(const struct ptxi_snapshot *s, const struct ptxi_snapshot_block *b,
                                    uint64_t number);

/* Returns an error, with its text for ptxiGetLastReport(). Frees the text. */
ptxiResult ptxi_snapshot_fail(ptxiContext ctx, ptxiResult r, struct ptxi_str *why);

/* False: it is a directory, a device or the like. */
bool ptxi_snapshot_may_be(const char *file);

/* Whether blocks of this kind are saved. */
bool ptxi_snapshot_has_kind(uint32_t kind);

#endif
