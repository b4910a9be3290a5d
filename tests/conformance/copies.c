/* Compares asynchronous copies, tensor maps and mbarriers with the recorded answers of a GPU.
 *
 *     copies [recording [prefix]]      runs the cases with names that start with the prefix
 *
 * copies.py writes the recording copies.rec. It starts with "ptxicpy1" and the numbers of kernels, verdicts and cases.
 * Then come the kernels, the verdicts and the cases. All values are little-endian and unaligned.
 * - Kernel: the lengths of the prefix and the suffix shared with the first kernel, then the text between them.
 * - Verdict: a tensor map's arguments, the set of NULL pointers, the offset of the map's address from a multiple of 64,
 *   and the driver's result.
 * - Case: name, kernel number, CTAs, threads, a flag for a map, a flag for failure; the map's arguments; pattern and
 *   size of `data` (the tensor's memory) and of `out`; 16 words; the final CRC-32 of both, and the first bytes of
 *   `out`.
 * Variable-length items start with a length word. */
#include "conformance/replay.h"

#include "ptxi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 5, ARGS = 16, SEED = 16, PATTERN_WORDS = 1 << 15 };
enum { DATA = 65536 }; /* of `data`; a map after it is not compared */
enum {
    SMEM = 16384,
    PART = SMEM + 32,
    FLAG = 16
}; /* of `out`: bytes written by each CTA, and the compared bytes after the shared memory */

struct map {
    uint8_t im2col, rank, interleave, swizzle, promotion, fill;
    uint64_t base;
    uint32_t type;
    uint64_t dims[RANKS], strides[RANKS];
    uint32_t steps[RANKS], box[RANKS];
    int32_t lower[RANKS], upper[RANKS];
    uint32_t channels, pixels;
};

struct test {
    struct blob name, begin;
    uint32_t text, ctas, threads, has_map, failed;
    struct map map;
    uint32_t data[2], out[2]; /* pattern, size */
    uint32_t args[ARGS];
    uint32_t crc[2];
};

/* ---- the recording */

static const unsigned char *at, *end;

static void take(void *to, size_t n)
{
    if ((size_t)(end - at) < n) {
        fprintf(stderr, "the recording ends too early\n");
        exit(1);
    }
    memcpy(to, at, n);
    at += n;
}

static uint32_t take_word(void)
{
    uint32_t w;

    take(&w, sizeof w);
    return w;
}

static struct blob take_blob(void)
{
    struct blob b = { .n = take_word() };

    b.p = at;
    if ((size_t)(end - at) < b.n)
        b.n = (uint32_t)(end - at);
    at += b.n;
    return b;
}

static struct map take_map(void)
{
    struct map m = { 0 };
    uint8_t head[7];
    unsigned n;

    take(head, sizeof head);
    m.im2col = head[0];
    m.rank = head[1];
    n = head[2] <= RANKS ? head[2] : RANKS;
    m.interleave = head[3];
    m.swizzle = head[4];
    m.promotion = head[5];
    m.fill = head[6];
    take(&m.base, 8);
    m.type = take_word();
    take(m.dims, n * sizeof *m.dims);
    take(m.strides, (n - 1) * sizeof *m.strides);
    take(m.steps, n * sizeof *m.steps);
    if (m.im2col) {
        take(m.lower, (n - 2) * sizeof *m.lower);
        take(m.upper, (n - 2) * sizeof *m.upper);
        m.channels = take_word();
        m.pixels = take_word();
    } else {
        take(m.box, n * sizeof *m.box);
    }
    return m;
}

static struct test take_test(void)
{
    struct test t = { .name = take_blob() };

    t.text = take_word();
    t.ctas = take_word();
    t.threads = take_word();
    t.has_map = take_word();
    t.failed = take_word();
    if (t.has_map)
        t.map = take_map();
    take(t.data, sizeof t.data);
    take(t.out, sizeof t.out);
    take(t.args, sizeof t.args);
    take(t.crc, sizeof t.crc);
    t.begin = take_blob();
    return t;
}

/* ---- initial memory contents; copy_driver.py has the same */

static uint32_t fmix(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

static uint32_t float_word(uint32_t h)
{
    static const uint32_t special[] = { 0, 0x80000000, 0x7f800000, 0xff800000 };

    switch (h & 7) {
    case 1: return h & 0x807fffff;
    case 2: return 0x3f800000 ^ h >> 9;
    case 3: return 0x3f801000 | (h >> 16 << 13 & 0x807fe000);
    case 4: return 0x7f800000 | h >> 9;
    case 5: return special[h >> 8 & 3];
    case 7: return 0xbf800000 ^ h >> 8;
    default: return h;
    }
}

static uint32_t word(uint32_t pattern, uint32_t k, uint32_t h)
{
    switch (pattern) {
    case 0: return (2 * k & 0xffff) | (2 * k + 1) << 16;
    case 1: return h;
    case 2: return float_word(h);
    case 3: return 0xcdcdcdcd;
    case 4: return h & 15;
    case 5: return k & 1 ? 0x3ff00000 | (h & 0x803fffff) : h;
    case 6: return 0x3c003c00 ^ (h & 0x8fff8fff);
    default: return 0x3f803f80 ^ (h & 0x81ff81ff);
    }
}

static const void *pattern(uint32_t number)
{
    static uint32_t made[2 * SEED][PATTERN_WORDS];
    static bool known[2 * SEED];
    uint32_t *w = made[number];

    for (uint32_t k = 0; k < PATTERN_WORDS && !known[number]; k++)
        w[k] = word(number % SEED, k, fmix(k * 0x9e3779b1 + number / SEED * 0x7feb352d + 1));
    known[number] = true;
    return w;
}

static uint32_t crc32(const unsigned char *p, size_t n)
{
    static uint32_t table[256];
    uint32_t c = UINT32_MAX;

    for (uint32_t k = 0; k < 256 && !table[255]; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++)
            table[k] = table[k] >> 1 ^ (table[k] & 1 ? 0xedb88320 : 0);
    }
    while (n--)
        c = table[(c ^ *p++) & 255] ^ c >> 8;
    return ~c;
}

/* ---- maps */

enum { NULL_MAP = 1, NULL_ADDRESS = 2, NULL_DIMS = 4, NULL_STRIDES = 8, NULL_BOX = 16, NULL_STEPS = 32 };

static ptxiResult encode(ptxiTensorMap *to, const struct map *m, uint64_t address, unsigned null)
{
    ptxiTensorMap *map = null & NULL_MAP ? NULL : to;
    void *base = null & NULL_ADDRESS ? NULL : (void *)(uintptr_t)(address + m->base);
    const uint64_t *dims = null & NULL_DIMS ? NULL : m->dims, *strides = null & NULL_STRIDES ? NULL : m->strides;
    const uint32_t *steps = null & NULL_STEPS ? NULL : m->steps;

    if (m->im2col)
        return ptxiTensorMapEncodeIm2col(map, m->type, m->rank, base, dims, strides, null & NULL_BOX ? NULL : m->lower,
                                         null & NULL_BOX ? NULL : m->upper, m->channels, m->pixels, steps,
                                         m->interleave, m->swizzle, m->promotion, m->fill);
    return ptxiTensorMapEncodeTiled(map, m->type, m->rank, base, dims, strides, null & NULL_BOX ? NULL : m->box, steps,
                                    m->interleave, m->swizzle, m->promotion, m->fill);
}

static void print_map(const struct map *m, unsigned null)
{
    printf("%s type %u rank %u base %llu interleave %u swizzle %u promotion %u fill %u null 0x%x",
           m->im2col ? "im2col" : "tiled", m->type, m->rank, (unsigned long long)m->base, m->interleave, m->swizzle,
           m->promotion, m->fill, null);
    for (unsigned d = 0; d < m->rank && d < RANKS; d++)
        printf("; %llu by %llu, %u each %u", (unsigned long long)m->dims[d], (unsigned long long)m->strides[d],
               m->box[d], m->steps[d]);
    for (unsigned d = 0; m->im2col && d + 2 < m->rank && d < RANKS; d++)
        printf("; %d to %d", m->lower[d], m->upper[d]);
    printf("; %u channels %u pixels\n", m->channels, m->pixels);
}

static unsigned check_verdicts(uint32_t count)
{
    unsigned bad = 0;
    ptxiTensorMap maps[2];

    while (count--) {
        struct map m = take_map();
        uint8_t null, off;
        ptxiResult want, got;

        take(&null, 1);
        take(&off, 1);
        want = (ptxiResult)take_word();
        got = encode((ptxiTensorMap *)((char *)maps + off), &m, UINT64_C(1) << 40, null);
        if (got != want && bad++ < 20) {
            printf("result %d, the driver's %d: off %u, ", got, want, off);
            print_map(&m, null);
        }
    }
    return bad;
}

/* ---- one case */

static ptxiFunction *load_kernels(uint32_t count)
{
    enum { MOST = 16000 };
    static char first[MOST], text[MOST];
    ptxiFunction *f = malloc(count * sizeof *f);

    for (uint32_t k = 0; k < count && f; k++) {
        uint32_t begins = take_word(), ends = take_word();
        struct blob middle = take_blob();
        ptxiModule m;

        snprintf(text, sizeof text, "%.*s%.*s%s", (int)begins, first, (int)middle.n, (const char *)middle.p,
                 first + strlen(first) - ends);
        if (!k)
            strcpy(first, text);
        if (ptxiModuleLoadData(&m, text)) {
            ptxiDiagnostic d = { .size = sizeof d };

            if (!ptxiGetLastDiagnostic(0, &d))
                fputs(d.text, stderr);
            exit(1);
        }
        OK(ptxiModuleGetFunction(&f[k], m, "k"));
    }
    return f;
}

/* The memory of a case is always at the same address. The mbarriers themselves are not compared. */
static bool run(const struct test *t, ptxiFunction f, ptxiDevicePtr data, ptxiDevicePtr out)
{
    unsigned char *d = (unsigned char *)(uintptr_t)data, *o = (unsigned char *)(uintptr_t)out;
    ptxiTensorMap map = { { 0 } };
    void *params[] = { &map, &data, &out, (void *)t->args };
    uint32_t crc[2];

    memcpy(d, pattern(t->data[0]), t->data[1]);
    memcpy(o, pattern(t->out[0]), t->out[1]);
    if (t->has_map)
        OK(encode(&map, &t->map, data, 0));
    OK(ptxiLaunchKernel(f, t->ctas, 1, 1, t->threads, 1, 1, 0, NULL, params, NULL));
    if (ptxiCtxSynchronize()) {
        ptxiReport report = { .size = sizeof report };

        OK(ptxiGetLastReport(NULL, &report));
        if (!t->failed)
            puts(report.text);
        return t->failed;
    }
    for (uint32_t k = 0; k < t->ctas; k++)
        memset(o + k * PART + SMEM + FLAG, 0, PART - SMEM - FLAG);
    crc[0] = crc32(d, t->data[1] < DATA ? t->data[1] : DATA);
    crc[1] = crc32(o, t->out[1]);
    for (uint32_t k = 0; k < t->begin.n; k++)
        if (o[k] != t->begin.p[k]) {
            printf("%.*s: byte %u is %02x, a GPU's %02x\n", (int)t->name.n, (const char *)t->name.p, k, o[k],
                   t->begin.p[k]);
            break;
        }
    return !t->failed && crc[0] == t->crc[0] && crc[1] == t->crc[1];
}

int main(int argc, char **argv)
{
    const char *dir = getenv("top_srcdir"), *prefix = argc > 2 ? argv[2] : "";
    unsigned cases = 0, bad = 0, bad_verdicts;
    uint32_t count[3];
    char name[4096];
    size_t size;
    ptxiContext ctx;
    ptxiDevicePtr data, out;
    ptxiFunction *f;

    snprintf(name, sizeof name, "%s/tests/conformance/copies.rec", dir ? dir : ".");
    unsigned char *file = read_recording(argc > 1 ? argv[1] : name, "ptxicpy1", &size);

    at = file + 8;
    end = file + size;
    take(count, sizeof count);
    OK(ptxiInit(0));
    OK(ptxiCtxCreate(&ctx, 0, 0));
    OK(ptxiMemAlloc(&data, 4 * PATTERN_WORDS));
    OK(ptxiMemAlloc(&out, 4 * PATTERN_WORDS));
    f = load_kernels(count[0]);
    bad_verdicts = check_verdicts(count[1]);
    while (at < end) {
        struct test t = take_test();

        if (t.name.n < strlen(prefix) || memcmp(t.name.p, prefix, strlen(prefix)))
            continue;
        cases++;
        if (!run(&t, f[t.text], data, out)) {
            printf("%.*s: differs\n", (int)t.name.n, (const char *)t.name.p);
            bad++;
        }
    }
    printf("%u maps, %u of them judged otherwise; %u cases, %u differ\n", count[1], bad_verdicts, cases, bad);
    OK(ptxiCtxDestroy(ctx));
    free(f);
    free(file);
    return bad || bad_verdicts || !cases;
}
