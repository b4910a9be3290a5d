/* The numbers of the texture and surface objects of a context. Kernels may look up any number while objects are added
 * and removed. A removed object stays in memory until all launches that may have found it have ended. */
#include "exec/memory/access.h"
#include "exec/texture/texture.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024, CHUNKS = 1024 };

typedef _Atomic(struct ptxi_texture *) entry;

struct ptxi_object_table {
    pthread_mutex_t lock;
    _Atomic(entry *) chunks[CHUNKS];
    uint32_t lowest; /* all entries below this one are in use */
};

struct ptxi_object_table *ptxi_object_table_create(void)
{
    struct ptxi_object_table *t = calloc(1, sizeof *t);

    if (t)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

void ptxi_object_table_destroy(struct ptxi_object_table *t)
{
    for (unsigned k = 0; k < CHUNKS; k++)
        free(t->chunks[k]);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static entry *find_entry(const struct ptxi_object_table *table, uint64_t number)
{
    uint64_t k = number - 1;
    entry *chunk = k / CHUNK < CHUNKS ? atomic_load_explicit(&table->chunks[k / CHUNK], memory_order_acquire) : NULL;

    return chunk ? &chunk[k % CHUNK] : NULL;
}

/* Returns the entry of a number, and allocates it if necessary. NULL if there are too many, or if memory is exhausted.
 */
static entry *make_entry(struct ptxi_object_table *table, uint64_t number)
{
    entry *e = find_entry(table, number), *chunk;

    if (e || (number - 1) / CHUNK >= CHUNKS)
        return e;
    chunk = calloc(CHUNK, sizeof *chunk);
    if (chunk)
        atomic_store_explicit(&table->chunks[(number - 1) / CHUNK], chunk, memory_order_release);
    return chunk ? find_entry(table, number) : NULL;
}

uint64_t ptxi_object_table_add(struct ptxi_object_table *table, struct ptxi_texture *t)
{
    uint64_t number;
    entry *e;

    pthread_mutex_lock(&table->lock);
    for (number = table->lowest + 1;; number++) {
        e = make_entry(table, number);
        if (!e || !atomic_load_explicit(e, memory_order_relaxed))
            break;
    }
    if (e) {
        atomic_store_explicit(e, t, memory_order_release);
        table->lowest = (uint32_t)number;
    }
    pthread_mutex_unlock(&table->lock);
    return e ? number : 0;
}

void ptxi_object_table_remove(struct ptxi_object_table *table, uint64_t number)
{
    entry *e = find_entry(table, number);

    assert(e);
    pthread_mutex_lock(&table->lock);
    atomic_store_explicit(e, NULL, memory_order_release);
    if (number - 1 < table->lowest)
        table->lowest = (uint32_t)(number - 1);
    pthread_mutex_unlock(&table->lock);
}

struct ptxi_texture *ptxi_object_table_find(const struct ptxi_object_table *table, uint64_t number)
{
    entry *e = find_entry(table, number);

    return e ? atomic_load_explicit(e, memory_order_acquire) : NULL;
}

void ptxi_object_table_invalidate(struct ptxi_object_table *table, const void *base, uint64_t bytes)
{
    pthread_mutex_lock(&table->lock);
    for (uint64_t number = 1; find_entry(table, number); number++) {
        struct ptxi_texture *t = ptxi_object_table_find(table, number);

        if (t && !t->readable && (uintptr_t)t->level[0].base - (uintptr_t)base < bytes)
            t->gone = true;
    }
    pthread_mutex_unlock(&table->lock);
}

uint64_t ptxi_object_read_reference(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address)
{
    uint64_t held;

    if (address % 8 || (!ptxi_access_is_cached(w, ptxi_access_hit(w, i), address, 8, false) &&
                        !ptxi_access_check(w, i, address, 8, PTXI_AK_LOAD)))
        return UINT64_MAX;
    memcpy(&held, (const void *)(uintptr_t)address, sizeof held);
    return held;
}

const struct ptxi_texture *ptxi_object_resolve(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name,
                                               enum ptxi_object_kind kind)
{
    const struct ptxi_texture *t;

    if (name >> 32) {
        name = ptxi_object_read_reference(w, i, name);
        if (name >> PTXI_REFERENCE_KIND != kind)
            return NULL;
        name = (uint32_t)name;
    }
    t = ptxi_object_table_find(w->cta->grid->objects, name);
    return t && t->kind == kind ? t : NULL;
}
