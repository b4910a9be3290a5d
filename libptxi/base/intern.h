/* Interned names: equal spellings give the same pointer, for the life of the arena. One table per module.
 *
 *     struct ptxi_names *names = ptxi_names_new(&arena);
 *     const struct ptxi_name *n = ptxi_intern(names, "%tid", 4);     NULL only when memory is short */
#ifndef PTXI_BASE_INTERN_H
#define PTXI_BASE_INTERN_H

#include "base/arena.h"

struct ptxi_name {
    const char *s; /* NUL-terminated copy in the arena */
    uint32_t len;
    uint32_t id; /* 0, 1, 2, ... in order of first appearance: an index for side tables */
};

struct ptxi_names;

struct ptxi_names *ptxi_names_new(struct ptxi_arena *a); /* lives in the arena; NULL when memory is short */
uint32_t ptxi_names_count(const struct ptxi_names *t);

const struct ptxi_name *ptxi_intern(struct ptxi_names *t, const char *s, size_t n);
const struct ptxi_name *ptxi_intern_find(const struct ptxi_names *t, const char *s, size_t n); /* NULL: never seen */

#endif
