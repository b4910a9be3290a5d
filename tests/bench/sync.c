/* Benchmark of synchronisation between threads: atomics, barriers, asynchronous copies and grid barriers. Each result
 * has an upper limit. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- instructions: ns per warp --- */

enum { UNROLLED = 64, RESULTS = 8, TURNS = 4000 };

/* Addresses in shared (%s) and global (%g) space. %s4, %g4: consecutive 4-byte words. %s8, %g8: consecutive 8-byte
 * words. %s, %g: scattered words. %s_1, %g_1: one word. %s_4: four words. %s_m: words with a few duplicates. %m: an
 * mbarrier. %a and $d have 32 bits, %w and $e 64 bits. */
struct form {
    const char *family, *text;
    unsigned threads;
    double limit;
};

#define ATOM(op, d, bytes, x)                                                                            \
    { "atom", "atom.relaxed.cta.shared" op " " d ", [%s" bytes "], " x, 32, 15 },                         \
    { "atom", "atom.relaxed.cta.global" op " " d ", [%g" bytes "], " x, 32, 15 }
#define RED(op, bytes, x)                                                                                \
    { "red", "red.relaxed.cta.shared" op " [%s" bytes "], " x, 32, 15 },                                  \
    { "red", "red.relaxed.cta.global" op " [%g" bytes "], " x, 32, 15 }

static const struct form forms[] = {
    ATOM(".add.u32", "$d", "4", "%a"),
    ATOM(".add.u32", "$d", "", "%a"),
    ATOM(".max.s32", "$d", "4", "%a"),
    ATOM(".exch.b32", "$d", "4", "%a"),
    ATOM(".cas.b32", "$d", "4", "%a, %a"),
    ATOM(".cas.b32", "$d", "", "%a, %a"),
    ATOM(".add.u64", "$e", "8", "%w"),
    { "atom", "atom.acq_rel.cta.shared.add.u32 $d, [%s4], %a", 32, 15 },
    RED(".add.u32", "4", "%a"),
    RED(".add.u32", "", "%a"),
    RED(".add.f32", "4", "%f"),
    RED(".add.f32", "", "%f"),
    { "atom", "atom.relaxed.cta.shared.add.u32 $d, [%s_1], %a", 32, 15 },
    { "atom", "atom.relaxed.cta.global.add.u32 $d, [%g_1], %a", 32, 15 },
    { "atom", "atom.relaxed.cta.shared.add.u32 $d, [%s_4], %a", 32, 0 },
    { "atom", "atom.relaxed.cta.shared.add.u32 $d, [%s_m], %a", 32, 0 },
    { "atom", "atom.relaxed.cta.shared.cas.b32 $d, [%s_m], %a, %a", 32, 0 },
    { "red", "red.relaxed.cta.shared.add.u32 [%s_m], %a", 32, 0 },
    { "red", "red.relaxed.cta.shared.add.f32 [%s_m], %f", 32, 0 },
    { "red", "red.relaxed.cta.shared.add.u32 [%s_1], %a", 32, 15 },
    { "red", "red.relaxed.cta.shared.add.u32 [%s_4], %a", 32, 0 },
    { "red", "red.relaxed.cta.shared.add.f32 [%s_1], %f", 32, 0 },
    { "atom", "atom.relaxed.gpu.global.add.u32 $d, [%g_1], %a", 32, 0 },
    { "red", "red.relaxed.gpu.global.add.u32 [%g_1], %a", 32, 0 },
    { "red", "red.relaxed.gpu.global.add.f32 [%g_1], %f", 32, 0 },
    { "atom", "atom.relaxed.gpu.global.add.u32 $d, [%g4], %a", 32, 0 },
    { "red", "red.relaxed.gpu.global.add.u32 [%g4], %a", 32, 0 },
    { "barrier", "bar.sync 0", 128, 5 },
    { "barrier", "bar.sync 0", 1024, 5 },
    { "barrier", "bar.sync 1, 256", 256, 5 },
    { "barrier", "bar.red.popc.u32 $d, 0, %p", 256, 0 },
    { "barrier", "barrier.cluster.arrive; barrier.cluster.wait", 256, 0 },
    { "mbarrier", "mbarrier.arrive.shared.b64 $e, [%m]; mbarrier.test_wait.shared.b64 %q, [%m], $e", 32, 0 },
    { "warp", "bar.warp.sync -1", 32, 0 },
    { "warp", "vote.sync.any.pred %q, %p, -1", 32, 0 },
    { "warp", "vote.sync.ballot.b32 $d, %p, -1", 32, 0 },
    { "warp", "match.any.sync.b32 $d, %s_4, -1", 32, 0 },
    { "warp", "match.any.sync.b32 $d, %s4, -1", 32, 0 },
    { "warp", "redux.sync.add.s32 $d, %a, -1", 32, 0 },
};
enum { FORMS = sizeof forms / sizeof *forms };

static int put_copy(char *to, const char *text, int k)
{
    int n = 0;

    for (; *text; text++)
        if (*text == '$')
            n += sprintf(to + n, "%%%c%d", *++text, k % RESULTS);
        else
            to[n++] = *text;
    return n + sprintf(to + n, ";\n");
}

static char *form_text(const struct form *f)
{
    char *text = malloc(4096 + UNROLLED * (2 * strlen(f->text) + 40));
    int n;

    if (!text)
        abort();
    n = sprintf(
        text,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 turns)\n{\n"
        ".reg .b32 %%d<%d>, %%a, %%t, %%n, %%s, %%s4, %%s8, %%s_1, %%s_4, %%s_m, %%m, %%z; .reg .f32 %%f; .reg .b64 "
        "%%e<%d>, %%w, %%g, %%g4, %%g8, %%g_1; .reg .pred %%p, %%q;\n"
        ".shared .align 128 .b8 words[8192]; .shared .b64 mbar; ld.param.u64 %%g, [p]; ld.param.u32 %%n, [turns]; "
        "mov.u32 %%t, %%tid.x; mov.u32 %%s, words;\n"
        "mul.lo.u32 %%z, %%t, 13; and.b32 %%z, %%z, 31; mad.lo.u32 %%s4, %%t, 4, %%s; mad.lo.u32 %%s8, %%t, 8, %%s; "
        "mad.lo.u32 %%s, %%z, 12, %%s;\n"
        "mov.u32 %%m, mbar; setp.eq.u32 %%p, %%t, 0; @%%p mbarrier.init.shared.b64 [%%m], 32; bar.sync 0; mov.u32 "
        "%%s_1, words; and.b32 %%s_4, %%t, 3; mad.lo.u32 %%s_4, %%s_4, 4, %%s_1; shr.u32 %%s_m, %%t, 3; sub.u32 %%s_m, "
        "%%t, %%s_m; mad.lo.u32 %%s_m, %%s_m, 12, %%s_1; mov.b64 %%g_1, %%g;\n"
        "mad.wide.u32 %%g4, %%t, 4, %%g; mad.wide.u32 %%g8, %%t, 8, %%g; mad.wide.u32 %%g, %%z, 12, %%g; ld.global.u64 "
        "%%w, [%%g8];\n"
        "st.shared.u64 [%%s8], %%w; cvt.u32.u64 %%a, %%w; cvt.rn.f32.u32 %%f, %%t; setp.lt.u32 %%p, %%t, 77;\nL:\n",
        RESULTS, RESULTS);
    for (int k = 0; k < UNROLLED; k++)
        n += put_copy(text + n, f->text, k);
    n += sprintf(text + n, "sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra L;\n");
    for (int k = 0; k < RESULTS; k++)
        n += sprintf(text + n, "st.global.b32 [%%g4], %%d%d; st.global.b64 [%%g8], %%e%d;\n", k, k);
    sprintf(text + n, "ret;\n}\n");
    return text;
}

/* Returns seconds from launch to completion. */
static double launched(ptxiFunction f, unsigned grid, unsigned block, unsigned shared, bool cooperative, void **params)
{
    ptxiLaunchAttribute a = { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
    ptxiLaunchConfig c = { .gridDimX = grid,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = block,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .sharedMemBytes = shared,
                           .attrs = &a,
                           .numAttrs = cooperative };
    double start = bench_work_now();

    bench_must(ptxiLaunchKernelEx(&c, f, params, NULL), "launch");
    bench_must(ptxiCtxSynchronize(), "launch");
    return bench_work_now() - start;
}

static void print_row(const struct options *o, const char *family, const char *what, double figure, const char *unit,
                      double limit)
{
    char most[32] = "";

    if (limit > 0)
        snprintf(most, sizeof most, "%g", limit);
    printf(o->csv ? "%s,\"%s\",%.3f,%s,%s\n" : "| %s | %s | %.2f | %s | %s |\n", family, what, figure, unit, most);
}

static void time_form(const struct options *o, const struct form *f)
{
    uint32_t turns = (o->quick ? 20 : TURNS) * 32 / f->threads + 1, few = turns / 4 + 1;
    char *text = form_text(f), what[120];
    double ns[BENCH_MOST_ROUNDS];
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr mem;

    bench_must(ptxiModuleLoadData(&m, text), f->text);
    free(text);
    bench_must(ptxiModuleGetFunction(&k, m, "k"), f->text);
    bench_must(ptxiMemAlloc(&mem, 8192), "memory");
    bench_must(ptxiMemsetD32(mem, 1, 2048), "memory");
    launched(k, 1, f->threads, 0, false, (void *[]){ &mem, &few });
    for (int i = 0; i < o->rounds; i++)
        ns[i] = launched(k, 1, f->threads, 0, false, (void *[]){ &mem, &turns }) * 1e9 / turns / UNROLLED /
                (f->threads / 32);
    snprintf(what, sizeof what, f->threads > 32 ? "`%s`, %u warps" : "`%s`", f->text, f->threads / 32);
    print_row(o, f->family, what, bench_median(ns, o->rounds), "ns", f->limit);
    bench_must(ptxiMemFree(mem), "memory");
    bench_must(ptxiModuleUnload(m), "module");
}

/* --- lower bound for scattered words: C loop over the lanes, with valid pointers --- */

union word {
    uint32_t u;
    float f;
};

struct lanes {
    union word *at[32];
    uint32_t with[32], other[32], old[32];
};

static void add_in_c(struct lanes *w)
{
    for (int i = 0; i < 32; i++) {
        w->old[i] = w->at[i]->u;
        w->at[i]->u += w->with[i];
    }
}

static void cas_in_c(struct lanes *w)
{
    for (int i = 0; i < 32; i++) {
        uint32_t old = w->old[i] = w->at[i]->u;

        w->at[i]->u = old == w->with[i] ? w->other[i] : old;
    }
}

static void red_in_c(struct lanes *w)
{
    for (int i = 0; i < 32; i++)
        w->at[i]->u += w->with[i];
}

static void red_float_in_c(struct lanes *w)
{
    for (int i = 0; i < 32; i++)
        w->at[i]->f += (float)w->with[i];
}

static void time_in_c(const struct options *o, const char *what, void (*volatile op)(struct lanes *))
{
    static union word words[32 * 3];
    struct lanes w = { .with = { 0 } };
    int turns = (o->quick ? 20 : TURNS) * UNROLLED;
    double ns[BENCH_MOST_ROUNDS];

    for (int i = 0; i < 32; i++)
        w.at[i] = words + 3 * (13 * i & 31);
    for (int r = 0; r < o->rounds; r++) {
        double start = bench_work_now();

        for (int t = 0; t < turns; t++)
            op(&w);
        ns[r] = (bench_work_now() - start) * 1e9 / turns;
    }
    print_row(o, "in C", what, bench_median(ns, o->rounds), "ns", 0);
}

/* --- the kernels of sync.cu --- */

enum { BYTES = 16 << 20 };

struct sync_bench {
    const struct options *o;
    ptxiModule module;
    ptxiDevicePtr from, to, small;
    unsigned char *host; /* for memcpy() */
};

static ptxiFunction function(const struct sync_bench *b, const char *name)
{
    ptxiFunction f;

    bench_must(ptxiModuleGetFunction(&f, b->module, name), name);
    bench_must(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 17), name);
    return f;
}

/* Copies one piece at a time through a single tile, as the kernels do. */
static double copy_time(const struct sync_bench *b, int32_t size, int32_t pieces, bool load)
{
    unsigned char *far = (unsigned char *)(uintptr_t)(load ? b->from : b->to);
    double start = bench_work_now();

    for (int32_t k = 0; k < pieces; k++) {
        unsigned char *piece = far + (size_t)k * (size_t)size, *tile = b->host + (k & 1) * size;

        memcpy(load ? tile : piece, load ? piece : tile, (size_t)size);
        __asm__ volatile("" : : : "memory");
    }
    return bench_work_now() - start;
}

static void time_bulk(const struct sync_bench *b, int32_t size, bool load, double limit)
{
    int32_t pieces = (b->o->quick ? 1 << 17 : BYTES) / size;
    double ours[BENCH_MOST_ROUNDS], its[BENCH_MOST_ROUNDS];
    ptxiFunction f = function(b, load ? "bulk_load" : "bulk_store");
    void *params[] = { (void *)(load ? &b->from : &b->to), (void *)&b->small, &size, &pieces };
    char what[120];

    for (int i = 0; i < b->o->rounds; i++) {
        ours[i] = launched(f, 1, 32, 2 * (unsigned)size, false, params);
        its[i] = copy_time(b, size, pieces, load);
    }
    snprintf(what, sizeof what, "%d bytes %s shared memory, %.1f GB/s", size, load ? "to" : "from",
             (double)size * pieces / bench_median(ours, b->o->rounds) * 1e-9);
    print_row(b->o, "bulk copy", what, bench_median(ours, b->o->rounds) / bench_median(its, b->o->rounds), "of memcpy",
              limit);
}

enum { ROW = 128, PITCH = 2 * ROW }; /* bytes of a tile row, and row stride of the tensor */

static ptxiTensorMap tile_map(const struct sync_bench *b, int32_t rows, ptxiTensorMapSwizzle swizzle)
{
    const uint64_t dims[2] = { PITCH / 4, BYTES / PITCH }, strides[1] = { PITCH };
    const uint32_t box[2] = { ROW / 4, (uint32_t)rows }, steps[2] = { 1, 1 };
    ptxiTensorMap map;

    bench_must(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)b->from, dims,
                                        strides, box, steps, PTXI_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                        PTXI_TENSOR_MAP_L2_PROMOTION_NONE, PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               "tensor map");
    return map;
}

static double rows_time(const struct sync_bench *b, int32_t rows, int32_t pieces)
{
    const unsigned char *from = (const unsigned char *)(uintptr_t)b->from;
    double start = bench_work_now();

    for (int32_t k = 0; k < pieces; k++) {
        unsigned char *tile = b->host + (k & 1) * rows * ROW;

        for (int32_t r = 0; r < rows; r++, from += PITCH)
            memcpy(tile + r * ROW, from, ROW);
        __asm__ volatile("" : : : "memory");
    }
    return bench_work_now() - start;
}

static void time_tiles(const struct sync_bench *b, int32_t rows, ptxiTensorMapSwizzle swizzle, double limit)
{
    int32_t size = rows * ROW, pieces = (b->o->quick ? 1 << 17 : BYTES) / (rows * PITCH);
    double ours[BENCH_MOST_ROUNDS], its[BENCH_MOST_ROUNDS];
    ptxiTensorMap map = tile_map(b, rows, swizzle);
    void *params[] = { &map, (void *)&b->small, &size, &pieces };
    char what[120];

    for (int i = 0; i < b->o->rounds; i++) {
        ours[i] = launched(function(b, "tile_load"), 1, 32, 2 * (unsigned)size, false, params);
        its[i] = rows_time(b, rows, pieces);
    }
    snprintf(what, sizeof what, "%d rows of %d bytes%s, %.1f GB/s", rows, ROW, swizzle ? ", swizzled" : "",
             (double)size * pieces / bench_median(ours, b->o->rounds) * 1e-9);
    print_row(b->o, "tensor copy", what, bench_median(ours, b->o->rounds) / bench_median(its, b->o->rounds),
              "of memcpy", limit);
}

static void time_pipeline(const struct sync_bench *b, const char *name, unsigned element)
{
    enum { CTAS = 16, THREADS = 256 };
    int32_t tiles = (b->o->quick ? 1 << 17 : BYTES) / (int32_t)(CTAS * THREADS * element);
    double ours[BENCH_MOST_ROUNDS], its[BENCH_MOST_ROUNDS];
    void *params[] = { (void *)&b->from, (void *)&b->to, &tiles };
    char plain[32], what[120];

    snprintf(plain, sizeof plain, "%s_plain", name);
    for (int i = 0; i < b->o->rounds; i++) {
        ours[i] = launched(function(b, name), CTAS, THREADS, 0, false, params);
        its[i] = launched(function(b, plain), CTAS, THREADS, 0, false, params);
    }
    snprintf(what, sizeof what, "%s: `cp.async` of %u bytes in %c stages", name, element, name[strlen(name) - 1]);
    print_row(b->o, "pipeline", what, bench_median(ours, b->o->rounds) / bench_median(its, b->o->rounds),
              "of plain loads", 1);
}

static bool time_grid(const struct sync_bench *b, unsigned workers, unsigned ctas, double limit)
{
    uint32_t wrong;
    int32_t turns = b->o->quick ? 2 : 100;
    double us[BENCH_MOST_ROUNDS];
    ptxiDevicePtr flag = b->small + 4096;
    void *params[] = { (void *)&b->small, &flag, &turns };
    char what[120];

    bench_must(ptxiCtxSetWorkers(NULL, workers), "workers");
    bench_must(ptxiMemsetD32(flag, 0, 1), "memory");
    for (int i = 0; i < b->o->rounds; i++) {
        bench_must(ptxiMemsetD32(b->small, 0, ctas), "memory");
        us[i] = launched(function(b, "grid_sync"), ctas, 128, 0, true, params) * 1e6 / turns / 2;
    }
    bench_must(ptxiMemcpyDtoH(&wrong, flag, sizeof wrong), "memory");
    bench_must(ptxiCtxSetWorkers(NULL, (unsigned)b->o->workers), "workers");
    snprintf(what, sizeof what, "`grid.sync()`, %u CTAs of 128 threads, %u worker%s%s", ctas, workers,
             workers > 1 ? "s" : "", wrong ? ", WRONG" : "");
    print_row(b->o, "grid", what, bench_median(us, b->o->rounds), "us", limit);
    return !wrong;
}

static void open_bench(struct sync_bench *b)
{
    char *text = bench_read(b->o, "sync");

    bench_must(ptxiModuleLoadData(&b->module, text), "sync");
    free(text);
    bench_must(ptxiMemAlloc(&b->from, BYTES), "memory");
    bench_must(ptxiMemAlloc(&b->to, BYTES), "memory");
    bench_must(ptxiMemAlloc(&b->small, 1 << 17), "memory");
    bench_must(ptxiMemsetD32(b->from, 0x3f800000, BYTES / 4), "memory");
    bench_must(ptxiMemsetD32(b->to, 0, BYTES / 4), "memory");
    bench_must(ptxiMemsetD32(b->small, 0, (1 << 17) / 4), "memory");
    b->host = calloc(2, 1 << 16);
    if (!b->host)
        abort();
}

bool bench_sync(const struct options *o)
{
    static const struct {
        int32_t size;
        double limit;
    } sizes[] = { { 1 << 10, 0 }, { 1 << 12, 0 }, { 1 << 14, 1.2 }, { 1 << 16, 1.2 } };
    struct sync_bench b = { .o = o };
    bool right;

    printf(o->csv ? "family,what,figure,unit,limit\n"
                  : "| family | what | figure | unit | at most |\n|---|---|---|---|---|\n");
    for (int k = 0; k < FORMS; k++)
        if (!o->kernel || strstr(forms[k].text, o->kernel))
            time_form(o, &forms[k]);
    if (o->kernel)
        return true;
    time_in_c(o, "32 scattered words, add, with the old value", add_in_c);
    time_in_c(o, "32 scattered words, cas, with the old value", cas_in_c);
    time_in_c(o, "32 scattered words, add", red_in_c);
    time_in_c(o, "32 scattered words, add of floats", red_float_in_c);
    open_bench(&b);
    for (unsigned k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++)
        time_bulk(&b, sizes[k / 2].size, k % 2 == 0, sizes[k / 2].limit);
    for (int32_t rows = 32; rows <= 128; rows *= 4) {
        time_tiles(&b, rows, PTXI_TENSOR_MAP_SWIZZLE_NONE, 0);
        time_tiles(&b, rows, PTXI_TENSOR_MAP_SWIZZLE_128B, 0);
    }
    time_pipeline(&b, "words2", 4);
    time_pipeline(&b, "words4", 4);
    time_pipeline(&b, "vectors2", 16);
    time_pipeline(&b, "vectors4", 16);
    right = time_grid(&b, 1, 264, 0);
    right &= time_grid(&b, 2, 264, 200);
    ptxiMemFree(b.from);
    ptxiMemFree(b.to);
    ptxiMemFree(b.small);
    ptxiModuleUnload(b.module);
    free(b.host);
    return right;
}
