#include "native/exec_memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The memory is reserved at once, and the system provides pages as they are written. Gaps are a list in the order of
 * their places. Each begins with its description, so that nothing here allocates. */
enum { TOTAL = 64 << 20, ALIGN = 64 };

struct gap {
    size_t size;
    size_t next; /* offset of the next one, or TOTAL */
};

static struct {
    pthread_mutex_t lock;
    bool tried;
    unsigned char *writable, *executable; /* NULL: refused */
    size_t first;                         /* gap */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .first = TOTAL };

static struct gap *gap_at(size_t at)
{
    assert(at < TOTAL);
    return (struct gap *)(void *)(pool.writable + at);
}

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
    pool.writable = ftruncate(file, TOTAL) ? NULL : map(file, PROT_READ | PROT_WRITE);
    pool.executable = pool.writable ? map(file, PROT_READ | PROT_EXEC) : NULL;
    close(file);
    if (!pool.executable)
        return;
    *gap_at(0) = (struct gap){ TOTAL, TOTAL };
    pool.first = 0;
}

static size_t rounded(size_t size)
{
    return (size + ALIGN - 1) & -(size_t)ALIGN;
}

/* The offset of free memory, or TOTAL. */
static size_t take(size_t size)
{
    for (size_t *p = &pool.first; *p != TOTAL; p = &gap_at(*p)->next) {
        const size_t at = *p;
        const struct gap g = *gap_at(at);

        if (g.size < size)
            continue;
        *p = g.next;
        if (g.size > size) {
            *gap_at(at + size) = (struct gap){ g.size - size, g.next };
            *p = at + size;
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
static void join(size_t at)
{
    struct gap *g = gap_at(at);

    if (g->next == TOTAL || at + g->size != g->next)
        return;
    g->size += gap_at(g->next)->size;
    g->next = gap_at(g->next)->next;
}

void ptxi_exec_memory_free(void *code, size_t size)
{
    const size_t at = (size_t)((unsigned char *)code - pool.executable);
    size_t before = TOTAL, after;

    pthread_mutex_lock(&pool.lock);
    for (after = pool.first; after < at; after = gap_at(after)->next)
        before = after;
    *gap_at(at) = (struct gap){ rounded(size), after };
    if (before == TOTAL)
        pool.first = at;
    else
        gap_at(before)->next = at;
    join(at);
    if (before != TOTAL)
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
