/* Changes of memory as data that processes exchange. The numbers are those of the host, which must be little-endian.
 *
 *   header, runs, entries of the log, offsets of the texts, texts, bytes
 *
 * A run is a row of bytes of one range with one kind of access and one place. Runs are in the order of their addresses.
 * `place` is the number of a text that names the kernel and the line. */
#ifndef PTXI_API_TRACK_CHANGES_H
#define PTXI_API_TRACK_CHANGES_H

#include "ptxi.h"

#include "exec/track/track.h"

#include <stdbool.h>
#include <stddef.h>

#define PTXI_CHANGES_MAGIC "ptxichg1"

enum { PTXI_CHANGES_MOST = 4096 }; /* ranges and parts of one call */

struct ptxi_changes_header {
    char magic[8];
    uint64_t size, hash;       /* bytes of everything; of what follows this member */
    uint64_t ranges;           /* how many there were */
    uint64_t run_count, log_count, text_count, text_bytes, data_bytes;
};

struct ptxi_changes_run {
    uint64_t offset, length;   /* in the range */
    uint64_t data;             /* of a write, or of a reduction that commutes: offset of its bytes */
    uint32_t range, place;
    uint16_t kind, op;         /* enum ptxi_track_kind; of a reduction: PTXI_OP_atom_..., or PTXI_TRACK_MIXED */
    uint32_t zero;
};

struct ptxi_changes_entry {
    uint64_t cluster, offset, value;
    uint32_t range, place;
    uint32_t op, zero;
};

/* The parts of valid data. */
struct ptxi_changes {
    const struct ptxi_changes_header *header;
    const struct ptxi_changes_run *runs;
    const struct ptxi_changes_entry *log;
    const uint32_t *texts;     /* offset of each text */
    const char *text;
    const unsigned char *bytes;
};

/* Whether there are at most PTXI_CHANGES_MOST ranges, so that a wrong count does no harm, and none ends beyond the
 * address space. */
bool ptxi_changes_ranges_are_valid(const ptxiRange *ranges, unsigned count);

uint64_t ptxi_changes_hash(const void *data, size_t size);

/* Finds the parts. Returns why the data is invalid, or NULL. `range_bytes`: sizes of `ranges` ranges. */
const char *ptxi_changes_open(const void *data, size_t size, const size_t *range_bytes, unsigned ranges,
                              struct ptxi_changes *c);

#endif
