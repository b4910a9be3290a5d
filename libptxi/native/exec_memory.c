#include "native/exec_memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The memory is reserved at once, and the system provides pages as they are written. A free list has the gaps, in the
 * order of their places. */
enum { TOTAL = 64 << 20, ALIGN = 64 };

struct gap {
    size_t at, size;
    struct gap *next;
};

static struct {
    pthread_mutex_t lock;
    bool tried;
    unsigned char *writable, *executable; /* NULL: refused */
    struct gap *gaps;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *map(int file, int protection)
{
    void *p = mmap(NULL, TOTAL, protection, MAP_SHARED, file, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void create_pool(void)
{
    int file = (int)syscall(SYS_memfd_create, "ptxi-native", 1 /* MFD_CLOEXEC */);

    pool.tried = true;
    if (file < 0)
        return;
    if (!ftruncate(file, TOTAL)) {
        pool.gaps = malloc(sizeof *pool.gaps);
        pool.writable = pool.gaps ? map(file, PROT_READ | PROT_WRITE) : NULL;
        pool.executable = pool.writable ? map(file, PROT_READ | PROT_EXEC) : NULL;
        if (pool.gaps)
            *pool.gaps = (struct gap){ 0, TOTAL, NULL };
    }
    close(file);
}

static size_t rounded(size_t size)
{
    return (size + ALIGN - 1) & -(size_t)ALIGN;
}

/* The offset of free memory, or TOTAL. */
static size_t take(size_t size)
{
    for (struct gap **p = &pool.gaps; *p; p = &(*p)->next) {
        struct gap *g = *p;
        size_t at = g->at;

        if (g->size < size)
            continue;
        g->at += size;
        g->size -= size;
        if (!g->size) {
            *p = g->next;
            free(g);
        }
        return at;
    }
    return TOTAL;
}

void *ptxi_exec_memory_new(const void *code, size_t size)
{
    size_t at = TOTAL;

    pthread_mutex_lock(&pool.lock);
    if (!pool.tried)
        create_pool();
    if (pool.executable && size && size <= TOTAL)
        at = take(rounded(size));
    pthread_mutex_unlock(&pool.lock);
    if (at == TOTAL)
        return NULL;
    memcpy(pool.writable + at, code, size);
    return pool.executable + at;
}

/* Joins a gap with the one after it. */
static void join(struct gap *g)
{
    struct gap *next = g->next;

    if (!next || g->at + g->size != next->at)
        return;
    g->size += next->size;
    g->next = next->next;
    free(next);
}

void ptxi_exec_memory_free(void *code, size_t size)
{
    const size_t at = (size_t)((unsigned char *)code - pool.executable);
    struct gap *before = NULL, *g = malloc(sizeof *g);

    if (!g)
        return; /* the place is lost */
    pthread_mutex_lock(&pool.lock);
    assert(at < TOTAL);
    for (struct gap *k = pool.gaps; k && k->at < at; k = k->next)
        before = k;
    *g = (struct gap){ at, rounded(size), before ? before->next : pool.gaps };
    if (before)
        before->next = g;
    else
        pool.gaps = g;
    join(g);
    if (before)
        join(before);
    pthread_mutex_unlock(&pool.lock);
}

#else

void *ptxi_exec_memory_new(const void *code, size_t size)
{
    (void)code, (void)size;
    return NULL;
}

void ptxi_exec_memory_free(void *code, size_t size)
{
    (void)code, (void)size;
}

#endif
