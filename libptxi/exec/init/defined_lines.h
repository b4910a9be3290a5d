/* Lines of shared memory that are known to be defined, so that their shadow bytes need not be read. */
#ifndef PTXI_EXEC_INIT_DEFINED_LINES_H
#define PTXI_EXEC_INIT_DEFINED_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct ptxi_defined_lines {
    uint32_t *since;  /* of each line: `now` if all its bytes are known to be defined. NULL: nothing is known */
    uint32_t count;
    uint32_t known;   /* number of such lines */
    uint32_t now;     /* changes when bytes become undefined */
    uint32_t tries;   /* accesses to defined bytes in other lines */
};
enum { PTXI_DEFINED_LINE = 128 }; /* bytes */

/* Bytes may have become undefined. */
static inline void ptxi_defined_lines_forget(struct ptxi_defined_lines *d)
{
    d->now++;
    d->known = 0;
}

/* All bytes but the first `defined` ones are undefined. */
static inline void ptxi_defined_lines_start(struct ptxi_defined_lines *d, uint64_t defined)
{
    ptxi_defined_lines_forget(d);
    for (; d->since && d->known < d->count && d->known < defined / PTXI_DEFINED_LINE; d->known++)
        d->since[d->known] = d->now;
}

static inline bool ptxi_defined_lines_all(const struct ptxi_defined_lines *d)
{
    return d->known && d->known == d->count;
}

/* Whether all lines of the range are known to be defined. */
static inline bool ptxi_defined_lines_has(const struct ptxi_defined_lines *d, uint64_t first, uint64_t size)
{
    uint64_t end = (first + size - 1) / PTXI_DEFINED_LINE;
    uint32_t off = 0;

    if (!d->known || end >= d->count)
        return false;
    for (uint64_t n = first / PTXI_DEFINED_LINE; n <= end; n++)
        off |= d->since[n] ^ d->now;
    return !off;
}

#endif
