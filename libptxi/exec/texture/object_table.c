/* The numbers of a context's texture and surface objects. Kernels may look up any number while others come and go; an object that has
 * been removed stays in memory until the launches have ended that may have found it. */
#include "exec/memory/access.h"
#include "exec/texture/texture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024, CHUNKS = 1024 };

typedef _Atomic(struct ptxi_texture *) entry;

struct ptxi_object_table {
    pthread_mutex_t lock;
    _Atomic(entry *) chunks[CHUNKS];
    uint32_t lowest; /* none below is free */
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

static entry *find(const struct ptxi_object_table *table, uint64_t number)
{
    uint64_t k = number - 1;
    entry *chunk = k / CHUNK < CHUNKS ? atomic_load_explicit(&table->chunks[k / CHUNK], memory_order_acquire) : NULL;

    return chunk ? &chunk[k % CHUNK] : NULL;
}

static entry *make(struct ptxi_object_table *table, uint64_t number)
{
    entry *e = find(table, number), *chunk;

    if (e || (number - 1) / CHUNK >= CHUNKS)
        return e;
    chunk = calloc(CHUNK, sizeof *chunk);
    if (chunk)
        atomic_store_explicit(&table->chunks[(number - 1) / CHUNK], chunk, memory_order_release);
    return chunk ? find(table, number) : NULL;
}

uint64_t ptxi_object_add(struct ptxi_object_table *table, struct ptxi_texture *t)
{
    uint64_t number;
    entry *e;

    pthread_mutex_lock(&table->lock);
    for (number = table->lowest + 1;; number++) {
        e = make(table, number);
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

void ptxi_object_remove(struct ptxi_object_table *table, uint64_t number)
{
    pthread_mutex_lock(&table->lock);
    atomic_store_explicit(find(table, number), NULL, memory_order_release);
    if (number - 1 < table->lowest)
        table->lowest = (uint32_t)(number - 1);
    pthread_mutex_unlock(&table->lock);
}

struct ptxi_texture *ptxi_object_find(const struct ptxi_object_table *table, uint64_t number)
{
    entry *e = find(table, number);

    return e ? atomic_load_explicit(e, memory_order_acquire) : NULL;
}

void ptxi_object_lose(struct ptxi_object_table *table, const void *base, uint64_t bytes)
{
    pthread_mutex_lock(&table->lock);
    for (uint64_t number = 1; find(table, number); number++) {
        struct ptxi_texture *t = ptxi_object_find(table, number);

        if (t && !t->readable && (uintptr_t)t->level[0].base - (uintptr_t)base < bytes)
            t->gone = true;
    }
    pthread_mutex_unlock(&table->lock);
}

uint64_t ptxi_reference(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address)
{
    uint64_t held;

    if (address % 8 || (!ptxi_mem_covers(w, ptxi_mem_hit(w, i), address, 8, false) && !ptxi_mem_check(w, i, address, 8, PTXI_ACCESS_LOAD)))
        return UINT64_MAX;
    memcpy(&held, (const void *)(uintptr_t)address, sizeof held);
    return held;
}

const struct ptxi_texture *ptxi_object_named(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name, enum ptxi_object_kind kind)
{
    const struct ptxi_texture *t;

    if (name >> 32) {
        name = ptxi_reference(w, i, name);
        if (name >> PTXI_REFERENCE_KIND != kind)
            return NULL;
        name = (uint32_t)name;
    }
    t = ptxi_object_find(w->cta->grid->objects, name);
    return t && t->kind == kind ? t : NULL;
}
