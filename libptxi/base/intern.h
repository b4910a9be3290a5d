/* Interned names: equal strings have the same pointer. There is one table for each module.
 *
 *     struct ptxi_names *names = ptxi_names_new(&arena);
 *     const struct ptxi_name *n = ptxi_intern(names, "%tid", 4);
 *
 * Ownership: the table and its names are in the arena and are valid until it is freed. Errors: NULL if memory is
 * exhausted. */
#ifndef PTXI_BASE_INTERN_H
#define PTXI_BASE_INTERN_H

#include "base/arena.h"

struct ptxi_name {
    const char *s; /* NUL-terminated copy in the arena */
    uint32_t len;
    uint32_t id; /* 0, 1, 2, ... in the order of first use: an index for side tables */
};

struct ptxi_names;

struct ptxi_names *ptxi_names_new(struct ptxi_arena *a); /* NULL if memory is exhausted */
uint32_t ptxi_names_count(const struct ptxi_names *t);

const struct ptxi_name *ptxi_intern(struct ptxi_names *t, const char *s, size_t n);

/* NULL if the name is not interned. */
const struct ptxi_name *ptxi_intern_find(const struct ptxi_names *t, const char *s, size_t n);

#endif
