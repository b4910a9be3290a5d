/* Runs every launch of a program in windows, too. Each window has the memory as it was before the launch, and their
 * changes are merged. Then the launch runs as a whole, and must leave the same memory. It is a library for LD_PRELOAD,
 * or is linked with --wrap and WINDOWED_WRAP.
 *
 *     LD_PRELOAD=windowed.so WINDOWED_LOG=FILE WINDOWED_COUNTS=1,2,3,7,0 PROGRAM       0: one for each cluster
 *
 * WINDOWED_CLUSTERS=N: a row of more than N clusters is tried as a grid of N clusters, except each WINDOWED_WHOLE-th
 * one. Then the launch itself runs, so the program gets its results. WINDOWED_TIMES=N: launches of one kernel with one
 * grid are tried N times. Without them, all launches are tried, with their whole grids.
 *
 * Appends a line to the file for each launch: the kernel, the number of clusters and what was found:
 *     identical COUNTS   the numbers of windows that gave the memory of the whole
 *     refused: WHY       the blocks may depend on each other, or memory cannot be tracked
 *     skipped: WHY       it was not tried
 *     DIFFERENT: WHAT
 *
 * Memory that the program allocates is known from the calls that allocate it; other memory, such as that of modules, is
 * known after the first launch that changes it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ptxi.h"

#ifndef WINDOWED_WRAP
#include <dlfcn.h>
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WINDOWS = 256, MOST_BLOCKS = 4096, STEP = 4096, KINDS = 1 << 17 };

static const size_t most_bytes = (size_t)1 << 28, most_copied = (size_t)1 << 31;

struct block {
    uint64_t base;
    size_t bytes, from, to; /* the windows of this launch have changed bytes in this part; to 0: none */
    unsigned char *before, *merged; /* the copy of that part */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct block known[MOST_BLOCKS];
static unsigned known_count;
static __thread bool inside; /* a call of this file */
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;  /* launch at a time */

#ifdef WINDOWED_WRAP
#define REAL(name) __real_##name
#define OURS(name) __wrap_##name
#define DECLARE(name) extern __typeof__(name) __real_##name, __wrap_##name
#else
#define REAL(name) ((__typeof__(name) *)find(#name))
#define OURS(name) name
#define DECLARE(name) extern __typeof__(name) name

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}
#endif

DECLARE(ptxiMemAlloc);
DECLARE(ptxiMemAllocManaged);
DECLARE(ptxiMemAllocPitch);
DECLARE(ptxiMemAllocHost);
DECLARE(ptxiMemHostAlloc);
DECLARE(ptxiMemFree);
DECLARE(ptxiMemFreeHost);
DECLARE(ptxiCtxDestroy);
DECLARE(ptxiLaunchKernelEx);
DECLARE(ptxiLaunchKernel);

/* ---- memory */

static void add_block(uint64_t base, size_t bytes)
{
    unsigned k = 0;

    pthread_mutex_lock(&lock);
    while (k < known_count && known[k].base != base)
        k++;
    if (k < MOST_BLOCKS && bytes) {
        known[k] = (struct block){ .base = base, .bytes = bytes };
        known_count += k == known_count;
    }
    pthread_mutex_unlock(&lock);
}

static void remove_block(uint64_t base)
{
    pthread_mutex_lock(&lock);
    for (unsigned k = 0; k < known_count; k++)
        if (known[k].base == base)
            known[k--] = known[--known_count];
    pthread_mutex_unlock(&lock);
}

/* Whether no known block contains the address. */
static bool is_unknown(uint64_t address)
{
    for (unsigned k = 0; k < known_count; k++)
        if (address - known[k].base < known[k].bytes)
            return false;
    return true;
}

ptxiResult OURS(ptxiMemAlloc)(ptxiDevicePtr *p, size_t bytes)
{
    ptxiResult r = REAL(ptxiMemAlloc)(p, bytes);

    if (!r)
        add_block(*p, bytes);
    return r;
}

ptxiResult OURS(ptxiMemAllocManaged)(ptxiDevicePtr *p, size_t bytes, unsigned flags)
{
    ptxiResult r = REAL(ptxiMemAllocManaged)(p, bytes, flags);

    if (!r)
        add_block(*p, bytes);
    return r;
}

ptxiResult OURS(ptxiMemAllocPitch)(ptxiDevicePtr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
    ptxiResult r = REAL(ptxiMemAllocPitch)(p, pitch, width, height, element);

    if (!r)
        add_block(*p, *pitch * height);
    return r;
}

ptxiResult OURS(ptxiMemAllocHost)(void **p, size_t bytes)
{
    ptxiResult r = REAL(ptxiMemAllocHost)(p, bytes);

    if (!r)
        add_block((uintptr_t)*p, bytes);
    return r;
}

ptxiResult OURS(ptxiMemHostAlloc)(void **p, size_t bytes, unsigned flags)
{
    ptxiResult r = REAL(ptxiMemHostAlloc)(p, bytes, flags);

    if (!r)
        add_block((uintptr_t)*p, bytes);
    return r;
}

ptxiResult OURS(ptxiMemFree)(ptxiDevicePtr p)
{
    remove_block(p);
    return REAL(ptxiMemFree)(p);
}

ptxiResult OURS(ptxiMemFreeHost)(void *p)
{
    remove_block((uintptr_t)p);
    return REAL(ptxiMemFreeHost)(p);
}

ptxiResult OURS(ptxiCtxDestroy)(ptxiContext ctx)
{
    ptxiResult r = REAL(ptxiCtxDestroy)(ctx);

    pthread_mutex_lock(&lock);
    known_count = 0; /* of all contexts; blocks of others become known again when they change */
    pthread_mutex_unlock(&lock);
    return r;
}

/* ---- a launch */

struct trial {
    ptxiLaunchConfig config;
    ptxiFunction f;
    void **params, **extra;
    unsigned long long clusters;
    struct block *blocks;
    unsigned count;                /* of blocks */
    char why[512];
    bool refused, different, narrow;
    bool part;                     /* of the grid, so the launch itself must run, too */
};

static void note(const struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct trial *t, const char *format, ...)
{
    const char *name = NULL, *file = getenv("WINDOWED_LOG");
    char text[1024];
    FILE *f = fopen(file ? file : "/dev/null", "a");
    va_list ap;

    if (!f)
        return;
    ptxiFuncGetName(&name, t->f);
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(f, "%s %llu %s\n", name ? name : "?", t->clusters, text);
    fclose(f);
}

static void swallow(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

static unsigned char *now(const struct block *b)
{
    return (unsigned char *)(uintptr_t)b->base;
}

/* Memory as it was before the launch. */
static void put_back(const struct trial *t)
{
    for (unsigned k = 0; k < t->count; k++) {
        const struct block *b = &t->blocks[k];
        const size_t from = t->narrow ? b->from : 0, bytes = (t->narrow ? b->to : b->bytes) - from;

        if (memcmp(now(b) + from, b->before + from, bytes))
            memcpy(now(b) + from, b->before + from, bytes);
    }
}

static void find_changed_part(struct block *b)
{
    size_t from = 0, to = b->bytes;

    while (to > STEP && !memcmp(now(b) + (to - 1) / STEP * STEP, b->before + (to - 1) / STEP * STEP,
                                (to - 1) % STEP + 1))
        to = (to - 1) / STEP * STEP;
    while (to - from > STEP && !memcmp(now(b) + from, b->before + from, STEP))
        from += STEP;
    if (memcmp(now(b) + from, b->before + from, to - from)) {
        b->from = from;
        b->to = to;
    }
}

/* All windows together change the same bytes, so only the parts that the first windows have changed are looked at until
 * the end. */
static bool keep_merged(struct trial *t)
{
    for (unsigned k = 0; k < t->count; k++) {
        struct block *b = &t->blocks[k];

        find_changed_part(b);
        if (!b->to)
            continue;
        b->merged = malloc(b->to - b->from);
        if (!b->merged)
            return false;
        memcpy(b->merged, now(b) + b->from, b->to - b->from);
    }
    return t->narrow = true;
}

#ifdef WINDOWED_WRAP
static const bool all_memory = true;
#else
static const bool all_memory = false; /* other threads and streams of the program may work at the same time */
#endif

/* Describes the first byte of a part that differs from the memory that is wanted. */
static bool part_differs(struct trial *t, const struct block *b, size_t from, size_t to, const unsigned char *want,
                         const char *what, unsigned windows)
{
    const unsigned char *got = now(b) + from;
    size_t at = 0;

    if (from >= to || !memcmp(got, want, to - from))
        return false;
    while (got[at] == want[at])
        at++;
    snprintf(t->why, sizeof t->why, "%u windows: %s at byte %zu of %zu: %02x instead of %02x", windows, what, from + at,
             b->bytes, got[at], want[at]);
    return t->different = true;
}

/* Compares with the merged memory. At the end (1 window), all memory is compared. */
static bool find_difference(struct trial *t, const char *what, unsigned windows)
{
    const bool all = windows == 1 && all_memory;

    for (unsigned k = 0; k < t->count; k++) {
        const struct block *b = &t->blocks[k];

        if (part_differs(t, b, b->from, b->to, b->merged, what, windows) ||
            (all && part_differs(t, b, 0, b->from, b->before, what, windows)) ||
            (all && part_differs(t, b, b->to, b->bytes, b->before + b->to, what, windows)))
            return true;
    }
    return false;
}

static void use_report(struct trial *t, ptxiResult r)
{
    ptxiReport report = { .size = sizeof report };
    const char *name = "an error";
    const char *text = !ptxiGetErrorName(r, &name) && !ptxiGetLastReport(NULL, &report) && report.text ? report.text
                                                                                                      : name;
    const char *colon = r == PTXI_ERROR_NOT_SUPPORTED ? strstr(text, ": ") : NULL;

    text = colon ? colon + 2 : text;
    snprintf(t->why, sizeof t->why, "%.*s", (int)strcspn(text, "(\n"), text);
}

/* Launches clusters from `first` on; all: count 0. */
static ptxiResult launch(const struct trial *t, unsigned long long first, unsigned long long count)
{
    ptxiLaunchAttribute attributes[32];
    ptxiLaunchConfig config = t->config;
    ptxiResult r;

    if (count && config.numAttrs < 31) {
        if (config.numAttrs)
            memcpy(attributes, config.attrs, config.numAttrs * sizeof *attributes);
        attributes[config.numAttrs++] = (ptxiLaunchAttribute){ .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW,
                                                               .value.clusterWindow = { first, count, 0 } };
        config.attrs = attributes;
    }
    r = REAL(ptxiLaunchKernelEx)(&config, t->f, t->params, t->extra);
    return r ? r : ptxiStreamSynchronize(config.hStream);
}

/* Other memory than the known blocks has changed. */
static void use_unknown(struct trial *t)
{
    ptxiReport report = { .size = sizeof report };
    const char *at = !ptxiGetLastReport(NULL, &report) && report.text ? strstr(report.text, "0x") : NULL;
    ptxiDevicePtr base = 0;
    size_t bytes = 0;

    if (at && !ptxiMemGetAddressRange(&base, &bytes, strtoull(at, NULL, 16)) && is_unknown(base))
        add_block(base, bytes);
    snprintf(t->why, sizeof t->why, "memory that was not known before");
}

/* Runs the windows and merges their changes into memory. False: why not. */
static bool run_windows(struct trial *t, unsigned windows, const ptxiRange *ranges)
{
    void *data[MOST_WINDOWS];
    size_t sizes[MOST_WINDOWS];
    char *conflicts = NULL;
    unsigned done = 0;
    ptxiResult r = PTXI_SUCCESS;

    for (; done < windows && !r; done++) {
        unsigned long long first = t->clusters * done / windows;

        if (done || t->narrow)
            put_back(t);
        r = launch(t, first, t->clusters * (done + 1) / windows - first);
        if (r) {
            t->refused = true;
            use_report(t, r);
            break;
        }
        r = ptxiCtxTakeChanges(NULL, ranges, t->count, &data[done], &sizes[done]);
        if (r) {
            use_unknown(t);
            break;
        }
    }
    put_back(t);
    if (!r) {
        r = ptxiMergeChanges(ranges, t->count, (const void *const *)data, sizes, windows, &conflicts);
        if (r)
            snprintf(t->why, sizeof t->why, "%u windows: %.*s", windows, conflicts ? (int)strcspn(conflicts, "\n") : 0,
                     conflicts ? conflicts : "");
        t->different = r != PTXI_SUCCESS;
        ptxiFree(conflicts);
    }
    for (unsigned k = 0; k < done; k++)
        ptxiFree(data[k]);
    return !r;
}

/* Tries all numbers of windows. `done`: text with those that agree. */
static void try_all(struct trial *t, const ptxiRange *ranges, size_t bytes, char *done, size_t room)
{
    const char *counts = getenv("WINDOWED_COUNTS");
    bool first = true;

    for (const char *p = counts ? counts : "1,2,3,7,0"; *p; p += strcspn(p, ","), p += *p == ',') {
        unsigned long long windows = strtoull(p, NULL, 10);
        size_t length = strlen(done);

        windows = windows ? windows : t->clusters;
        if (windows > t->clusters || windows > MOST_WINDOWS || windows * bytes > most_copied)
            continue;
        if (!run_windows(t, (unsigned)windows, ranges))
            return;
        if (first && !keep_merged(t)) {
            snprintf(t->why, sizeof t->why, "too large");
            return;
        }
        if (!first && find_difference(t, "memory differs", (unsigned)windows))
            return;
        first = false;
        snprintf(done + length, room - length, " %llu", windows);
    }
    if (first)
        snprintf(t->why, sizeof t->why, "too large");
}

/* Room for copies, which all launches use. */
static unsigned char *get_room(size_t bytes)
{
    static unsigned char *room;
    static size_t size;

    if (bytes > size) {
        free(room);
        size = bytes + bytes / 2;
        room = malloc(size);
        size = room ? size : 0;
    }
    return room;
}

static bool copy_blocks(struct trial *t, size_t *bytes)
{
    unsigned char *room;

    pthread_mutex_lock(&lock);
    t->blocks = calloc(known_count + 1, sizeof *t->blocks);
    for (unsigned k = 0; t->blocks && k < known_count; k++) {
        ptxiDevicePtr base;
        size_t size;

        if (ptxiMemGetAddressRange(&base, &size, known[k].base) || base != known[k].base)
            continue; /* freed by another call */
        t->blocks[t->count] = (struct block){ .base = base, .bytes = known[k].bytes };
        *bytes += t->blocks[t->count++].bytes;
    }
    pthread_mutex_unlock(&lock);
    if (!t->blocks || *bytes > most_bytes || !(room = get_room(*bytes + 1)))
        return false;
    for (unsigned k = 0; k < t->count; k++) {
        struct block *b = &t->blocks[k];

        b->before = memcpy(room, now(b), b->bytes);
        room += b->bytes;
    }
    return true;
}

static unsigned long long count_clusters(const ptxiLaunchConfig *c, ptxiFunction f)
{
    static const ptxiFunctionAttribute sides[] = { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH };
    const unsigned grid[] = { c->gridDimX, c->gridDimY, c->gridDimZ };
    unsigned long long n = 1;

    for (int k = 0; k < 3; k++) {
        int side = 0;

        ptxiFuncGetAttribute(&side, sides[k], f);
        for (unsigned a = 0; a < c->numAttrs; a++)
            if (c->attrs[a].id == PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
                side = (int)(&c->attrs[a].value.clusterDim.x)[k];
        n *= grid[k] / (side > 0 ? (unsigned)side : 1);
    }
    return n;
}

static unsigned long get_number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 0;
}

/* Whether launches of the kernel with this grid were tried often enough. */
static bool was_tried(const struct trial *t)
{
    static struct { uint64_t hash; unsigned long times; } kinds[KINDS];
    static unsigned count;
    const unsigned long most = get_number("WINDOWED_TIMES");
    const char *name = "";
    uint64_t hash = t->clusters;
    unsigned k;

    ptxiFuncGetName(&name, t->f);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    for (k = hash % KINDS; kinds[k].times && kinds[k].hash != hash;)
        k = (k + 1) % KINDS;
    if (!most || (!kinds[k].times && ++count == KINDS))
        return false;
    kinds[k].hash = hash;
    return kinds[k].times++ >= most;
}

/* Makes the grid smaller. */
static void use_part(struct trial *t)
{
    static unsigned long launches;
    const unsigned long most = get_number("WINDOWED_CLUSTERS"), whole = get_number("WINDOWED_WHOLE");
    ptxiLaunchConfig *c = &t->config;

    if (!most || t->clusters <= most || c->gridDimY != 1 || c->gridDimZ != 1 || (whole && launches++ % whole == 0))
        return;
    c->gridDimX = (unsigned)(c->gridDimX / t->clusters * most);
    t->clusters = most;
    t->part = true;
}

static bool may_try(struct trial *t)
{
    ptxiStreamCaptureStatus status = PTXI_STREAM_CAPTURE_STATUS_NONE;

    if (inside || ptxiStreamIsCapturing(t->config.hStream, &status) || status != PTXI_STREAM_CAPTURE_STATUS_NONE)
        return false;
    t->clusters = count_clusters(&t->config, t->f);
    if (!t->clusters || ptxiCtxSynchronize())
        return false;
    if (was_tried(t)) {
        note(t, "skipped: tried before");
        return false;
    }
    use_part(t);
    return true;
}

static void try_launch(struct trial *t)
{
    size_t bytes = 0;
    char done[256] = "";
    bool copied = copy_blocks(t, &bytes);
    ptxiRange *ranges = calloc(t->count + 1, sizeof *ranges);

    for (unsigned k = 0; k < t->count && ranges; k++)
        ranges[k] = (ptxiRange){ (void *)(uintptr_t)t->blocks[k].base, t->blocks[k].bytes, 3 };
    if (!copied || !ranges) {
        snprintf(t->why, sizeof t->why, "too large");
    } else {
        ptxiCtxSetOutput(NULL, swallow, NULL);
        if (ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES | PTXI_TRACK_READS))
            snprintf(t->why, sizeof t->why, "no tracking");
        else
            try_all(t, ranges, bytes, done, sizeof done);
        ptxiCtxSetTracking(NULL, 0);
        ptxiCtxSetOutput(NULL, NULL, NULL);
        put_back(t);
        if (!*t->why && !launch(t, 0, 0))
            find_difference(t, "the whole differs", 1);
        else if (!*t->why)
            snprintf(t->why, sizeof t->why, "the launch has failed");
        if (*t->why || t->part)
            put_back(t);
    }
    note(t, "%s%s%s", t->different ? "DIFFERENT: " : *t->why ? t->refused ? "refused: " : "skipped: " : "identical",
         t->why, *t->why ? "" : done);
    for (unsigned k = 0; k < t->count; k++)
        free(t->blocks[k].merged);
    free(t->blocks);
    free(ranges);
}

ptxiResult OURS(ptxiLaunchKernelEx)(const ptxiLaunchConfig *config, ptxiFunction f, void **params, void **extra)
{
    struct trial t = { .f = f, .params = params, .extra = extra };
    ptxiFunction of_kernel; /* the runtime launches kernels of libraries */
    bool done = false; /* the whole has run */

    if (config && !inside) {
        t.config = *config;
        if (!ptxiKernelGetFunction(&of_kernel, (ptxiKernel)f))
            t.f = of_kernel;
        pthread_mutex_lock(&one);
        if (may_try(&t)) {
            inside = true;
            try_launch(&t);
            inside = false;
            done = !*t.why && !t.part;
        }
        pthread_mutex_unlock(&one);
    }
    return done ? PTXI_SUCCESS : REAL(ptxiLaunchKernelEx)(config, f, params, extra);
}

ptxiResult OURS(ptxiLaunchKernel)(ptxiFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, ptxiStream s, void **params, void **extra)
{
    ptxiLaunchConfig config = { .gridDimX = gx, .gridDimY = gy, .gridDimZ = gz, .blockDimX = bx, .blockDimY = by,
                                .blockDimZ = bz, .sharedMemBytes = shared, .hStream = s };

    return OURS(ptxiLaunchKernelEx)(&config, f, params, extra);
}
