/* What a thread knows: accesses of other threads that happen before its own next one. A set of entries says: all
 * accesses of a thread, of a warp or of a CTA before a time happen before. Sets do not change; they are shared by
 * references. NULL is the empty set. If memory is short, a set becomes the set of everything, so that no race is
 * reported that is none. */
#ifndef PTXI_EXEC_CHECK_KNOWN_H
#define PTXI_EXEC_CHECK_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct ptxi_known;

struct ptxi_known_entry {
    uint64_t who; /* ptxi_who() */
    uint32_t clock; /* accesses with lower clocks are known */
};

enum { PTXI_WHO_ALL = 0xff }; /* in place of a warp or a lane */

static inline uint64_t ptxi_who(uint32_t agent, unsigned warp, unsigned lane)
{
    return (uint64_t)agent << 16 | warp << 8 | lane;
}

struct ptxi_known *ptxi_known_ref(struct ptxi_known *k);
void ptxi_known_unref(struct ptxi_known *k);
/* Replaces *k, which loses a reference, by its union with another set, or with entries in ascending order. */
void ptxi_known_join(struct ptxi_known **k, const struct ptxi_known *other);
void ptxi_known_add(struct ptxi_known **k, const struct ptxi_known_entry *entries, uint32_t count);
/* Makes *k a reference to another set. */
void ptxi_known_set(struct ptxi_known **k, struct ptxi_known *other);
/* Whether an access of a thread at this time is in the set. */
bool ptxi_known_has(const struct ptxi_known *k, uint32_t agent, unsigned warp, unsigned lane, uint32_t clock);

#endif
