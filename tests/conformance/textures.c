/* Compares textures and surfaces with the recorded answers of a GPU.
 *
 *     textures [recording [prefix]]      runs the cases with names that start with the prefix
 *
 * textures.py writes the recording textures.rec. It starts with "ptxitex2", followed by cases in little-endian words:
 * - the name
 * - an instruction that reads %c0, %c1, ... and writes %d0, ...
 * - the resource and its bytes
 * - the texture's description; it is empty for a surface
 * - words per operand row, words per result row, the number of rows, and the rows
 * - for a surface, its final bytes
 * Variable-length items start with a length word and are padded to words. The resource's bytes are compressed. After
 * their length comes the number of an earlier case with the same bytes, counted from 1, or 0 and a list of pieces. A
 * piece has a number of literal words and a number of words that continue the sequence of the last two. */
#include "conformance/replay.h"

#include "ptxi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY, MIPMAP, LINEAR, PITCH };

struct test {
    struct blob name, op, data, sampler, after;
    const uint32_t *shape; /* kind, format, channels, width, height, depth, flags, levels, pitch */
    uint32_t in, out, rows;
    const uint32_t *x, *y;
};

/* ---- the recording */

static struct blob take_blob(const unsigned char **at)
{
    struct blob b;

    memcpy(&b.n, *at, 4);
    b.p = *at + 4;
    *at += 4 + ((b.n + 3) & ~3u);
    return b;
}

static const uint32_t *take_words(const unsigned char **at, size_t n)
{
    const uint32_t *p = (const uint32_t *)*at;

    *at += 4 * n;
    return p;
}

/* Returns the resource of case number `count`. */
static struct blob take_data(const unsigned char **at, unsigned count)
{
    static struct blob *known;
    const uint32_t *head = take_words(at, 2);
    struct blob b = { .n = head[0] };
    uint32_t *words, n = 0, end = (b.n + 3) / 4;

    known = realloc(known, (count + 1) * sizeof *known);
    if (!known)
        exit(1);
    if (head[1])
        return known[count] = known[head[1] - 1];
    words = malloc(4 * (size_t)end + 4);
    if (!words)
        exit(1);
    while (n < end) {
        uint32_t some = *take_words(at, 1), more;

        memcpy(words + n, take_words(at, some), 4 * (size_t)some);
        n += some;
        for (more = *take_words(at, 1); more; more--, n++)
            words[n] = 2 * words[n - 1] - words[n - 2];
    }
    b.p = (const unsigned char *)words;
    return known[count] = b;
}

static struct test take_test(const unsigned char **at, unsigned count)
{
    struct test t = { .name = take_blob(at), .op = take_blob(at), .shape = take_words(at, 9) };
    const uint32_t *sizes;

    t.data = take_data(at, count);
    t.sampler = take_blob(at);
    sizes = take_words(at, 3);
    t.in = sizes[0];
    t.out = sizes[1];
    t.rows = sizes[2];
    t.x = take_words(at, (size_t)t.rows * t.in);
    t.y = take_words(at, (size_t)t.rows * t.out);
    t.after = take_blob(at);
    return t;
}

/* ---- kernels; each is kept for a next case with the same instruction */

static void kernel_text(const struct test *t, char *text, size_t size)
{
    bool half = memmem(t->op.p, t->op.n, "%h", 2);
    size_t n = (size_t)snprintf(
        text, size,
        ".version 8.1\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 pt, .param .u64 pin, .param .u64 pout, .param .u32 pn) {\n"
        ".reg .b32 %%c<16>, %%d<8>, %%i<8>; .reg .b16 %%h<8>; .reg .b64 %%t, %%a, %%b; .reg .pred %%p, %%q;\n"
        "ld.param.u64 %%t, [pt]; ld.param.u64 %%a, [pin]; ld.param.u64 %%b, [pout]; ld.param.u32 %%i0, [pn];\n"
        "mov.u32 %%i1, %%ctaid.x; mov.u32 %%i2, %%ntid.x; mov.u32 %%i3, %%tid.x; mad.lo.u32 %%i1, %%i1, %%i2, %%i3;\n"
        "setp.ge.u32 %%p, %%i1, %%i0; @%%p ret;\n"
        "mad.wide.u32 %%a, %%i1, %u, %%a; mad.wide.u32 %%b, %%i1, %u, %%b;\n",
        4 * t->in, 4 * t->out);

    for (unsigned k = 0; k < t->in; k++)
        n += (size_t)snprintf(text + n, size - n, "ld.global.b32 %%c%u, [%%a+%u];\n", k, 4 * k);
    n += (size_t)snprintf(text + n, size - n, "%.*s\n", (int)t->op.n, (const char *)t->op.p);
    for (unsigned k = 0; k < t->out; k++) {
        if (half)
            n += (size_t)snprintf(text + n, size - n, "cvt.u32.u16 %%d%u, %%h%u;\n", k, k);
        n += (size_t)snprintf(text + n, size - n, "st.global.b32 [%%b+%u], %%d%u;\n", 4 * k, k);
    }
    snprintf(text + n, size - n, "ret; }\n");
}

static ptxiFunction kernel(const struct test *t)
{
    static struct {
        char text[4000];
        ptxiFunction f;
    } *known;
    static unsigned count;
    static char text[4000];
    ptxiModule m;

    kernel_text(t, text, sizeof text);
    for (unsigned k = 0; k < count; k++)
        if (!strcmp(known[k].text, text))
            return known[k].f;
    known = realloc(known, (count + 1) * sizeof *known);
    strcpy(known[count].text, text);
    if (ptxiModuleLoadData(&m, text)) {
        ptxiDiagnostic d = { .size = sizeof d };

        if (!ptxiGetLastDiagnostic(0, &d))
            fputs(d.text, stderr);
        exit(1);
    }
    OK(ptxiModuleGetFunction(&known[count].f, m, "k"));
    return known[count++].f;
}

/* ---- resources */

struct resource {
    ptxiArray array;
    ptxiMipmappedArray mipmap;
    ptxiDevicePtr memory;
};

/* Bytes of a channel or of a block. */
static size_t bytes_of(ptxiArrayFormat f)
{
    switch ((int)f) {
    case PTXI_AD_FORMAT_UNSIGNED_INT8: case PTXI_AD_FORMAT_SIGNED_INT8:
    case PTXI_AD_FORMAT_UNORM_INT_101010_2:
    case PTXI_AD_FORMAT_UNORM_INT8X1 ... PTXI_AD_FORMAT_UNORM_INT8X4:
    case PTXI_AD_FORMAT_SNORM_INT8X1 ... PTXI_AD_FORMAT_SNORM_INT8X4:
        return 1;
    case PTXI_AD_FORMAT_UNSIGNED_INT32: case PTXI_AD_FORMAT_SIGNED_INT32: case PTXI_AD_FORMAT_FLOAT: return 4;
    case PTXI_AD_FORMAT_BC1_UNORM:
    case PTXI_AD_FORMAT_BC1_UNORM_SRGB:
    case PTXI_AD_FORMAT_BC4_UNORM:
    case PTXI_AD_FORMAT_BC4_SNORM:
        return 8;
    case PTXI_AD_FORMAT_BC2_UNORM ... PTXI_AD_FORMAT_BC3_UNORM_SRGB:
    case PTXI_AD_FORMAT_BC5_UNORM ... PTXI_AD_FORMAT_BC7_UNORM_SRGB:
        return 16;
    default: return 2;
    }
}

/* Copies a level's texels in or out. Returns their size in bytes. */
static size_t copy_level(ptxiArray a, unsigned char *p, bool out)
{
    PTXI_ARRAY3D_DESCRIPTOR d;
    PTXI_MEMCPY3D c = { 0 };
    bool blocks;
    size_t side;

    OK(ptxiArray3DGetDescriptor(&d, a));
    blocks = d.Format >= PTXI_AD_FORMAT_BC1_UNORM && d.Format <= PTXI_AD_FORMAT_BC7_UNORM_SRGB;
    side = blocks ? 4 : 1;
    c.WidthInBytes = (d.Width + side - 1) / side * (blocks ? 1 : d.NumChannels) * bytes_of(d.Format);
    c.Height = d.Height ? (d.Height + side - 1) / side : 1;
    c.Depth = d.Depth ? d.Depth : 1;
    c.srcMemoryType = out ? PTXI_MEMORYTYPE_ARRAY : PTXI_MEMORYTYPE_HOST;
    c.dstMemoryType = out ? PTXI_MEMORYTYPE_HOST : PTXI_MEMORYTYPE_ARRAY;
    c.srcArray = c.dstArray = a;
    c.srcHost = c.dstHost = p;
    OK(ptxiMemcpy3D(&c));
    return c.WidthInBytes * c.Height * c.Depth;
}

static PTXI_RESOURCE_DESC make_resource(const struct test *t, struct resource *r)
{
    const uint32_t *s = t->shape;
    PTXI_ARRAY3D_DESCRIPTOR d = { s[3], s[4], s[5], (ptxiArrayFormat)s[1], s[2], s[6] };
    PTXI_RESOURCE_DESC desc = { .resType = (ptxiResourceType)s[0] };
    unsigned char *p = (unsigned char *)t->data.p;

    *r = (struct resource){ 0 };
    if (s[0] == ARRAY) {
        OK(ptxiArray3DCreate(&r->array, &d));
        copy_level(r->array, p, false);
        desc.res.array.hArray = r->array;
    } else if (s[0] == MIPMAP) {
        OK(ptxiMipmappedArrayCreate(&r->mipmap, &d, s[7]));
        desc.res.mipmap.hMipmappedArray = r->mipmap;
        for (unsigned l = 0; l < s[7]; l++) {
            ptxiArray a;

            OK(ptxiMipmappedArrayGetLevel(&a, r->mipmap, l));
            p += copy_level(a, p, false);
        }
    } else {
        OK(ptxiMemAlloc(&r->memory, t->data.n));
        OK(ptxiMemcpyHtoD(r->memory, p, t->data.n));
        desc.res.linear.devPtr = r->memory;
        desc.res.linear.format = (ptxiArrayFormat)s[1];
        desc.res.linear.numChannels = s[2];
        if (s[0] == LINEAR) {
            desc.res.linear.sizeInBytes = t->data.n;
        } else {
            desc.res.pitch2D.width = s[3];
            desc.res.pitch2D.height = s[4];
            desc.res.pitch2D.pitchInBytes = s[8];
        }
    }
    return desc;
}

static void free_resource(struct resource *r)
{
    if (r->array)
        OK(ptxiArrayDestroy(r->array));
    if (r->mipmap)
        OK(ptxiMipmappedArrayDestroy(r->mipmap));
    if (r->memory)
        OK(ptxiMemFree(r->memory));
}

/* ---- one case */

static unsigned compare(const struct test *t, const uint32_t *y)
{
    unsigned bad = 0;

    for (uint32_t r = 0; r < t->rows; r++) {
        if (!memcmp(y + (size_t)r * t->out, t->y + (size_t)r * t->out, 4 * t->out))
            continue;
        if (bad++ < 4) {
            printf("%.*s: row %u:", (int)t->name.n, (const char *)t->name.p, r);
            for (unsigned k = 0; k < t->in; k++)
                printf(" %08x", t->x[(size_t)r * t->in + k]);
            printf(" gave");
            for (unsigned k = 0; k < t->out; k++)
                printf(" %08x", y[(size_t)r * t->out + k]);
            printf(", a GPU");
            for (unsigned k = 0; k < t->out; k++)
                printf(" %08x", t->y[(size_t)r * t->out + k]);
            printf("\n");
        }
    }
    return bad;
}

static unsigned run(const struct test *t)
{
    enum { BLOCK = 128 };
    struct resource r;
    PTXI_RESOURCE_DESC d = make_resource(t, &r);
    unsigned long long object;
    size_t in = 4 * (size_t)t->rows * t->in, out = 4 * (size_t)t->rows * t->out;
    ptxiDevicePtr x, y;
    uint32_t rows = t->rows;
    void *params[] = { &object, &x, &y, &rows };
    unsigned bad;

    if (t->sampler.n)
        OK(ptxiTexObjectCreate(&object, &d, (const PTXI_TEXTURE_DESC *)t->sampler.p, NULL));
    else
        OK(ptxiSurfObjectCreate(&object, &d));
    OK(ptxiMemAlloc(&x, in));
    OK(ptxiMemAlloc(&y, out));
    OK(ptxiMemcpyHtoD(x, t->x, in));
    OK(ptxiMemsetD8(y, 0xcd, out));
    OK(ptxiLaunchKernel(kernel(t), (rows + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
    if (ptxiCtxSynchronize()) {
        ptxiReport report = { .size = sizeof report };

        OK(ptxiGetLastReport(NULL, &report));
        puts(report.text);
    }
    bad = memmem(t->op.p, t->op.n, "%d", 2) || memmem(t->op.p, t->op.n, "%h", 2)
              ? compare(t, (const uint32_t *)(uintptr_t)y)
              : 0;
    if (t->after.n) {
        unsigned char *after = malloc(t->after.n);

        if (!after)
            exit(1);
        copy_level(r.array, after, true);
        for (uint32_t k = 0; k < t->after.n; k++)
            if (after[k] != t->after.p[k] && bad++ < 4)
                printf("%.*s: byte %u of the surface is %02x, a GPU's %02x\n", (int)t->name.n, (const char *)t->name.p,
                       k, after[k], t->after.p[k]);
        free(after);
    }
    OK(t->sampler.n ? ptxiTexObjectDestroy(object) : ptxiSurfObjectDestroy(object));
    OK(ptxiMemFree(x));
    OK(ptxiMemFree(y));
    free_resource(&r);
    return bad;
}

int main(int argc, char **argv)
{
    const char *dir = getenv("top_srcdir"), *prefix = argc > 2 ? argv[2] : "";
    char name[4096];
    size_t size;
    unsigned count = 0, cases = 0, bad_cases = 0;
    unsigned long long rows = 0, bad_rows = 0;
    ptxiContext ctx;

    snprintf(name, sizeof name, "%s/tests/conformance/textures.rec", dir ? dir : ".");
    const unsigned char *file = read_recording(argc > 1 ? argv[1] : name, "ptxitex2", &size), *at = file + 8;

    OK(ptxiInit(0));
    OK(ptxiCtxCreate(&ctx, 0, 0));
    while (at < file + size) {
        struct test t = take_test(&at, count++);

        if (t.name.n < strlen(prefix) || memcmp(t.name.p, prefix, strlen(prefix)))
            continue;
        unsigned bad = run(&t);

        cases++;
        rows += t.rows;
        bad_cases += bad != 0;
        bad_rows += bad;
        if (bad)
            printf("%.*s: %u of %u rows differ\n", (int)t.name.n, (const char *)t.name.p, bad, t.rows);
    }
    printf("%u cases, %llu rows; %u cases differ, in %llu rows\n", cases, rows, bad_cases, bad_rows);
    OK(ptxiCtxDestroy(ctx));
    free((void *)file);
    return bad_cases || !cases;
}
