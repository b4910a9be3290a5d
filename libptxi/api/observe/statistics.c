/* PTXI_STATS: what a process has launched and copied, as a table. */
#include "api/observe/statistics.h"

#include "api/observe/observe.h"
#include "base/demangle.h"

#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kernel {
    UT_hash_handle hh;
    const char *name;
    uint64_t launches, failures, blocks, nanoseconds, longest;
};

static struct {
    _Atomic bool on;
    pthread_mutex_t lock; /* protects the members below */
    char *where;
    pid_t process;
    struct ptxi_arena arena;
    struct kernel *kernels;
    uint64_t bytes[PTXI_COPY_DIRECTIONS], copies[PTXI_COPY_DIRECTIONS];
    size_t peak;
    bool incomplete; /* there was no memory for an entry */
} stats = { .lock = PTHREAD_MUTEX_INITIALIZER };

void ptxi_statistics_begin(const char *where)
{
    stats.where = strdup(where);
    stats.process = getpid();
    ptxi_arena_init(&stats.arena, NULL);
    atomic_store(&stats.on, stats.where != NULL);
}

bool ptxi_statistics_on(void)
{
    return atomic_load_explicit(&stats.on, memory_order_acquire);
}

/* ---- counting */

static struct kernel *find_kernel(const char *name)
{
    struct ptxi_arena *hash_arena = &stats.arena;
    size_t length = strlen(name);
    struct kernel *k;

    HASH_FIND(hh, stats.kernels, name, length, k);
    if (k)
        return k;
    char *copy = ptxi_arena_alloc(hash_arena, length + 1, 1);

    k = copy ? ARENA_NEW(hash_arena, struct kernel, 1) : NULL;
    if (k) {
        k->name = memcpy(copy, name, length + 1);
        HASH_ADD_KEYPTR(hh, stats.kernels, k->name, length, k);
    }
    if (k && HASH_ADDED(hh, k))
        return k;
    stats.incomplete = true;
    return NULL;
}

void ptxi_statistics_add_grid(const char *kernel, uint64_t nanoseconds, uint64_t blocks)
{
    pthread_mutex_lock(&stats.lock);
    struct kernel *k = find_kernel(kernel);

    if (k) {
        k->launches++;
        k->blocks += blocks;
        k->nanoseconds += nanoseconds;
        k->longest = nanoseconds > k->longest ? nanoseconds : k->longest;
    }
    pthread_mutex_unlock(&stats.lock);
}

void ptxi_statistics_add_failure(const char *kernel)
{
    if (!ptxi_statistics_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel *k = find_kernel(kernel);

    if (k)
        k->failures++;
    pthread_mutex_unlock(&stats.lock);
}

void ptxi_statistics_add_copy(enum ptxi_copy_direction direction, uint64_t bytes)
{
    pthread_mutex_lock(&stats.lock);
    stats.copies[direction]++;
    stats.bytes[direction] += bytes;
    pthread_mutex_unlock(&stats.lock);
}

void ptxi_statistics_set_memory(size_t bytes)
{
    pthread_mutex_lock(&stats.lock);
    stats.peak = bytes > stats.peak ? bytes : stats.peak;
    pthread_mutex_unlock(&stats.lock);
}

/* ---- the table */

/* Three significant digits: "12 B", "1.50 MB". */
static void print_bytes(FILE *f, uint64_t bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    double v = (double)bytes;
    int u = 0, digits = 0;

    for (; v >= 999.5; v /= 1000)
        u++;
    if (u)
        digits = 1 + (v < 9.995) - (v >= 99.95);
    fprintf(f, "%.*f %s", digits, v, units[u]);
}

static int compare_time(struct kernel *a, struct kernel *b)
{
    if (a->nanoseconds != b->nanoseconds)
        return a->nanoseconds < b->nanoseconds ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void print_kernel(FILE *f, const struct kernel *k, uint64_t all)
{
    struct ptxi_str name;
    double ms = (double)k->nanoseconds * 1e-6;

    ptxi_str_init(&name, NULL);
    ptxi_demangle(k->name, &name);
    fprintf(f, "%12.3f %5.1f%% %9" PRIu64 " %12.3f %12.3f %12" PRIu64 " %7" PRIu64 "  %s\n", ms,
            all ? 100 * (double)k->nanoseconds / (double)all : 0, k->launches,
            k->launches ? ms / (double)k->launches : 0, (double)k->longest * 1e-6, k->blocks, k->failures,
            ptxi_str_text(&name));
    ptxi_str_free(&name);
}

static void print_kernels(FILE *f)
{
    uint64_t all = 0, launches = 0, failures = 0;
    unsigned kernels = HASH_COUNT(stats.kernels);

    HASH_SORT(stats.kernels, compare_time);
    for (struct kernel *k = stats.kernels; k; k = (struct kernel *)k->hh.next) {
        all += k->nanoseconds;
        launches += k->launches;
        failures += k->failures;
    }
    fprintf(f, "ptxi: process %ld: %u kernel%s, %" PRIu64 " launch%s, %" PRIu64 " failed, %.3f ms in kernels\n",
            (long)stats.process, kernels, kernels == 1 ? "" : "s", launches, launches == 1 ? "" : "es", failures,
            (double)all * 1e-6);
    if (stats.kernels)
        fprintf(f, "%12s %6s %9s %12s %12s %12s %7s  %s\n", "time ms", "share", "launches", "average ms", "longest ms",
                "blocks", "failed", "kernel");
    for (struct kernel *k = stats.kernels; k; k = (struct kernel *)k->hh.next)
        print_kernel(f, k, all);
}

static void print_memory(FILE *f)
{
    static const char *const names[] = {
        [PTXI_COPIED_TO_DEVICE] = "copied to the device", [PTXI_COPIED_TO_HOST] = "copied to the host",
        [PTXI_COPIED_ON_DEVICE] = "copied on the device", [PTXI_COPIED_ON_HOST] = "copied on the host",
        [PTXI_COPIED_FILL] = "filled",
    };

    for (int i = 0; i < PTXI_COPY_DIRECTIONS; i++) {
        if (!stats.copies[i])
            continue;
        fprintf(f, "%s: ", names[i]);
        print_bytes(f, stats.bytes[i]);
        fprintf(f, " in %" PRIu64 " call%s\n", stats.copies[i], stats.copies[i] == 1 ? "" : "s");
    }
    fputs("memory: at most ", f);
    print_bytes(f, stats.peak);
    fputs(" allocated\n", f);
    if (stats.incomplete)
        fputs("incomplete: there was not enough memory\n", f);
}

/* Runs after the destructors of the program and of libraries that use this one. A child made by fork() has a copy of
 * the numbers of its parent, which are not its own. */
__attribute__((destructor)) static void write_statistics(void)
{
    if (!ptxi_statistics_on() || stats.process != getpid())
        return;
    bool to_stderr = !strcmp(stats.where, "stderr");
    FILE *f = to_stderr ? stderr : fopen(stats.where, "a");

    if (!f) {
        fprintf(stderr, "ptxi: %s: %s\n", stats.where, strerror(errno));
        return;
    }
    pthread_mutex_lock(&stats.lock);
    print_kernels(f);
    print_memory(f);
    pthread_mutex_unlock(&stats.lock);
    if (to_stderr ? fflush(f) : fclose(f))
        fprintf(stderr, "ptxi: %s: %s\n", stats.where, strerror(errno));
}
