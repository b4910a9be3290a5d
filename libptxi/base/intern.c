#include "base/intern.h"
#include "base/hash.h"

#include <assert.h>

struct entry {
    struct ptxi_name name; /* must be the first member: a name and its entry have the same address */
    UT_hash_handle hh;
};

struct ptxi_names {
    struct entry *table;
    struct ptxi_arena *arena;
    uint32_t count;
};

struct ptxi_names *ptxi_names_new(struct ptxi_arena *a)
{
    struct ptxi_names *t = ARENA_NEW(a, struct ptxi_names, 1);

    if (t)
        t->arena = a;
    return t;
}

uint32_t ptxi_names_count(const struct ptxi_names *t)
{
    return t->count;
}

static struct entry *find(const struct ptxi_names *t, const char *s, size_t n, unsigned hash)
{
    struct entry *e;

    HASH_FIND_BYHASHVALUE(hh, t->table, s, n, hash, e);
    return e;
}

static struct entry *add(struct ptxi_names *t, const char *s, size_t n, unsigned hash)
{
    struct ptxi_arena *hash_arena = t->arena;
    struct entry *e = n < UINT32_MAX ? ARENA_NEW(t->arena, struct entry, 1) : NULL;

    if (!e || !(e->name.s = ptxi_arena_strndup(t->arena, s, n)))
        return NULL;
    e->name.len = (uint32_t)n;
    e->name.id = t->count;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, t->table, e->name.s, n, hash, e);
    if (!HASH_ADDED(hh, e))
        return NULL;
    assert(t->count < UINT32_MAX);
    t->count++;
    return e;
}

const struct ptxi_name *ptxi_intern(struct ptxi_names *t, const char *s, size_t n)
{
    unsigned hash = ptxi_hash_bytes(s, n);
    struct entry *e = find(t, s, n, hash);

    if (!e)
        e = add(t, s, n, hash);
    return e ? &e->name : NULL;
}

const struct ptxi_name *ptxi_intern_find(const struct ptxi_names *t, const char *s, size_t n)
{
    struct entry *e = find(t, s, n, ptxi_hash_bytes(s, n));

    return e ? &e->name : NULL;
}
