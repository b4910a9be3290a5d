/* Fuzz target for the readers of snapshots and of changes of memory. Their sizes and hashes are made right first, so
 * that damage after them is read. With -fsanitize=fuzzer this is a libFuzzer target, which writes its first corpus to
 * ./seeds-snapshot. Otherwise main() makes such files, and reads them with mutations. */
#include "api/memory/heap.h"
#include "api/snapshot/format.h"
#include "api/track/changes.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MEMORY = 1 << 16, PARTS = 2 };

static const char kernel[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b32 g[64];\n"
    ".visible .entry k(.param .u64 p) { .reg .b64 %p<3>; .reg .b32 %r<4>; .reg .f32 %f; ld.param.u64 %p0, [p];\n"
    "  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r0, 32, %r1; mad.wide.u32 %p1, %r2, 4, %p0;\n"
    "  ld.global.u32 %r3, [%p1+4096]; st.global.u32 [%p1+8192], %r3; cvt.rn.f32.u32 %f, %r2;\n"
    "  red.global.add.f32 [%p0], %f; red.global.add.u32 [%p0+64], %r2; ret; }\n";

static void must(ptxiResult r)
{
    if (r)
        abort();
}

/* ---- one input */

/* The name of a file in memory with this content. */
static int make_file(const void *data, size_t size, char name[64])
{
    int fd = memfd_create("snapshot", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(name, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* A refused file must leave nothing. */
static void read_snapshot(unsigned char *data, size_t size)
{
    struct ptxi_snapshot_header *h = (void *)data;
    const size_t before = ptxi_heap_in_use();
    ptxiContext ctx;
    char name[64];
    void *note = NULL;
    size_t bytes;

    if (size >= sizeof *h) {
        h->size = size;
        h->hash = ptxi_hash_stable(0, &h->version, size - offsetof(struct ptxi_snapshot_header, version));
    }
    must(ptxiCtxCreate(&ctx, 0, 0));
    int fd = make_file(data, size, name);

    if (!ptxiCtxRestore(ctx, name, &note, &bytes))
        ptxiFree(note);
    else if (ptxi_heap_in_use() != before)
        abort();
    close(fd);
    must(ptxiCtxDestroy(ctx));
}

static void merge_changes(unsigned char *data, size_t size)
{
    static unsigned char memory[MEMORY + 8];
    struct ptxi_changes_header *h = (void *)data;
    ptxiRange range = { .base = memory, .bytes = MEMORY };
    char *conflicts;

    if (size >= sizeof *h) {
        h->size = size;
        h->hash = ptxi_changes_hash(&h->ranges, size - offsetof(struct ptxi_changes_header, ranges));
    }
    ptxiMergeChanges(&range, 1, (const void *const[]){ data, data }, (const size_t[]){ size, size }, PARTS,
                     &conflicts);
    ptxiFree(conflicts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* exactly `size` bytes, so that sanitizers detect reads past the end */
    unsigned char *copy = malloc(size ? size : 1);

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (size >= sizeof PTXI_CHANGES_MAGIC - 1 && !memcmp(copy, PTXI_CHANGES_MAGIC, sizeof PTXI_CHANGES_MAGIC - 1))
        merge_changes(copy, size);
    else
        read_snapshot(copy, size);
    free(copy);
    return 0;
}

/* ---- files to begin with */

struct seed {
    void *data;
    size_t size;
};

static struct seed read_back(const char *name)
{
    struct seed s = { .data = NULL };
    FILE *f = fopen(name, "rb");
    struct stat st;

    if (!f || fstat(fileno(f), &st) || !(s.data = malloc((size_t)st.st_size)))
        abort();
    s.size = fread(s.data, 1, (size_t)st.st_size, f);
    fclose(f);
    return s;
}

static struct seed save(void)
{
    char name[] = "/tmp/ptxi-fuzz-XXXXXX";
    int fd = mkstemp(name);
    struct seed s;

    if (fd < 0)
        abort();
    close(fd);
    must(ptxiCtxSave(NULL, name, NULL, "a note", 6));
    s = read_back(name);
    unlink(name);
    return s;
}

static struct seed track(ptxiFunction f, ptxiDevicePtr p, unsigned what)
{
    ptxiRange range = { .base = (void *)(uintptr_t)p, .bytes = MEMORY };
    struct seed s;

    must(ptxiCtxSetTracking(NULL, what));
    must(ptxiLaunchKernel(f, 3, 1, 1, 32, 1, 1, 0, NULL, (void *[]){ &p }, NULL));
    must(ptxiCtxTakeChanges(NULL, &range, 1, &s.data, &s.size));
    must(ptxiCtxSetTracking(NULL, 0));
    return s;
}

enum { SEEDS = 3 };

static void make_seeds(struct seed seeds[SEEDS])
{
    ptxiContext ctx;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p, q;

    must(ptxiInit(0));
    must(ptxiCtxCreate(&ctx, 0, 0));
    must(ptxiCtxSetWorkers(ctx, 1));
    must(ptxiMemAlloc(&p, MEMORY));
    must(ptxiMemAlloc(&q, 40));
    must(ptxiMemsetD8(p, 0, MEMORY));
    must(ptxiMemsetD32(p + 4096, 7, 96));
    must(ptxiModuleLoadData(&m, kernel));
    must(ptxiModuleGetFunction(&f, m, "k"));
    seeds[0] = save();
    seeds[1] = track(f, p, PTXI_TRACK_CHANGES);
    seeds[2] = track(f, p, PTXI_TRACK_CHANGES | PTXI_TRACK_READS);
    must(ptxiCtxDestroy(ctx));
}

#ifdef FUZZER
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct seed seeds[SEEDS];

    (void)argc, (void)argv;
    make_seeds(seeds);
    mkdir("seeds-snapshot", 0777);
    for (unsigned k = 0; k < SEEDS; k++) {
        char name[64];

        snprintf(name, sizeof name, "seeds-snapshot/%u", k);
        FILE *f = fopen(name, "wb");

        if (!f || fwrite(seeds[k].data, 1, seeds[k].size, f) != seeds[k].size || fclose(f))
            abort();
        free(seeds[k].data);
    }
    return 0;
}
#else
enum { MUTANTS = 1500, MOST_CHANGES = 4 };

static uint32_t state;

static size_t below(size_t n)
{
    state = state * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(state >> 4) * n >> 28);
}

/* Numbers of 1 to 8 bytes, aligned as the fields of headers are; mostly in the first part, which has the structure. */
static void change_number(uint8_t *data, size_t size)
{
    size_t bytes = (size_t)1 << below(4), part = below(4) && size > 1024 ? 1024 : size;
    uint64_t old = 0, values[] = { 0, 1, below(256), below(size + 64), UINT32_MAX, UINT64_MAX, 0, 0 };
    size_t at = below(part / bytes) * bytes;

    memcpy(&old, data + at, bytes);
    values[6] = old + 1;
    values[7] = old ^ (uint64_t)1 << below(64);
    memcpy(data + at, &values[below(sizeof values / sizeof *values)], bytes);
}

static void mutate(const struct seed *s)
{
    uint8_t *copy = malloc(s->size);

    for (int i = 0; copy && i < MUTANTS; i++) {
        memcpy(copy, s->data, s->size);
        for (size_t n = below(MOST_CHANGES) + 1; n--;)
            change_number(copy, s->size);
        LLVMFuzzerTestOneInput(copy, below(4) ? s->size : below(s->size));
    }
    free(copy);
}

int main(void)
{
    struct seed seeds[SEEDS];

    make_seeds(seeds);
    for (unsigned k = 0; k < SEEDS; k++) {
        LLVMFuzzerTestOneInput(seeds[k].data, seeds[k].size);
        mutate(&seeds[k]);
        free(seeds[k].data);
    }
    printf("%d files with %d mutations each\n", SEEDS, MUTANTS);
    return 0;
}
#endif
