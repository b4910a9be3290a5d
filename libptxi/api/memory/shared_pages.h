/* The pages of a block that other processes use, or that are those of another process: a part of a file in place of
 * private memory. All calls are under the heap's lock. */
#ifndef PTXI_API_MEMORY_SHARED_PAGES_H
#define PTXI_API_MEMORY_SHARED_PAGES_H

#include "api/ipc/shared_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptxi_pages_source {
    PTXI_PAGES_PRIVATE,  /* no file */
    PTXI_PAGES_OWN_FILE, /* the file has this block only */
    PTXI_PAGES_OF_SLAB,  /* the file has a slab of small blocks */
    PTXI_PAGES_OF_POOL,  /* the file is that of a pool, which outlives the block */
    PTXI_PAGES_IMPORTED, /* the file is that of another process */
};

struct ptxi_pages {
    enum ptxi_pages_source source;
    int fd;          /* not of PTXI_PAGES_IMPORTED, except while the pages are mapped */
    uint64_t offset; /* of the block in the file */
    uint64_t entry;  /* where the file has the entry of the block's name, if it has one */
    uint64_t secret; /* of the name; 0: the block has none */
};

enum { PTXI_PAGE = 4096 };

/* Replaces the pages at a block by those of its file. False if the operating system does not permit it. */
bool ptxi_pages_map(const struct ptxi_pages *p, uint64_t base, size_t size);

/* Replaces pages by private ones that contain zeros. False: not possible. */
bool ptxi_pages_unmap(uint64_t base, size_t bytes);

/* Moves the content of a range of private pages to a file, and maps the file there. `small`: it is a slab, which keeps
 * the file from now on. The result, in *p, is for a block in the range. Nobody accesses the range meanwhile. */
bool ptxi_pages_share(struct ptxi_pages *p, uint64_t block, uint64_t range, size_t bytes, bool small);

/* Gives the block a name, unless it has one. Sets *name. */
bool ptxi_pages_name(struct ptxi_pages *p, const struct ptxi_shared_part *part, struct ptxi_shared_name *name);

/* The block is free: its name becomes invalid, and pages that no other block uses are returned to the system. Processes
 * that have mapped them keep them, except those of a pool, which become zeros. */
void ptxi_pages_release(struct ptxi_pages *p, size_t size);

#endif
