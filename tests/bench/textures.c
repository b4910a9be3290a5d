/* Benchmark of texture fetches, in ns per lane.
 *
 * One warp runs a loop of UNROLLED copies of an instruction. Coordinates are spread over a small texture. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNROLLED = 16, SOURCES = 4, TURNS = 2000, QUICK_TURNS = 20, SIDE = 64, DEPTH = 16, LAYERS = 4, LEVELS = 7 };

enum shape { ROW, PLANE, VOLUME, LAYERED_PLANES, CUBE, PYRAMID, MEMORY };
enum { POINT = PTXI_TR_FILTER_MODE_POINT, LINEAR = PTXI_TR_FILTER_MODE_LINEAR };

/* $a, $b, $c: coordinates from 0 to 1; $i, $j: integers below SIDE; %n: layer; %m: mip level; %g: gradient. */
struct fetch {
    const char *text;
    enum shape shape;
    ptxiArrayFormat format;
    unsigned channels, filter, flags;
    const char *about;
};

#define TO "{%d0,%d1,%d2,%d3}, [%x, "
#define F32 PTXI_AD_FORMAT_FLOAT
#define F16 PTXI_AD_FORMAT_HALF
#define U8 PTXI_AD_FORMAT_UNSIGNED_INT8
#define S16 PTXI_AD_FORMAT_SIGNED_INT16
#define INTEGERS PTXI_TRSF_READ_AS_INTEGER
static const struct fetch fetches[] = {
    { "tex.1d.v4.f32.s32 " TO "{$i}]", MEMORY, F32, 1, POINT, 0, "f32" },
    { "tex.1d.v4.f32.s32 " TO "{$i}]", MEMORY, F32, 4, POINT, 0, "4 f32" },
    { "tex.2d.v4.f32.s32 " TO "{$i, $j}]", PLANE, F32, 1, POINT, 0, "f32" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, F32, 1, POINT, 0, "f32" },
    { "tex.2d.v4.u32.f32 " TO "{$a, $b}]", PLANE, U8, 4, POINT, INTEGERS, "4 u8 as integers" },
    { "tex.1d.v4.f32.f32 " TO "{$a}]", ROW, F32, 1, LINEAR, 0, "f32" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, F32, 1, LINEAR, 0, "f32" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, F32, 4, LINEAR, 0, "4 f32" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, F16, 4, LINEAR, 0, "4 f16" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, U8, 4, LINEAR, 0, "4 u8" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, U8, 4, LINEAR, PTXI_TRSF_SRGB, "4 u8, sRGB" },
    { "tex.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, S16, 2, LINEAR, 0, "2 s16" },
    { "tex.a2d.v4.f32.f32 " TO "{%n, $a, $b, $b}]", LAYERED_PLANES, F32, 1, LINEAR, 0, "f32" },
    { "tex.3d.v4.f32.f32 " TO "{$a, $b, $c, $c}]", VOLUME, F32, 1, POINT, 0, "f32" },
    { "tex.3d.v4.f32.f32 " TO "{$a, $b, $c, $c}]", VOLUME, F32, 1, LINEAR, 0, "f32" },
    { "tex.3d.v4.f32.f32 " TO "{$a, $b, $c, $c}]", VOLUME, U8, 1, LINEAR, 0, "u8" },
    { "tex.cube.v4.f32.f32 " TO "{$a, $b, $c, $c}]", CUBE, F32, 1, LINEAR, 0, "f32" },
    { "tex.level.2d.v4.f32.f32 " TO "{$a, $b}], %m", PYRAMID, U8, 4, LINEAR, 0, "4 u8, two levels" },
    { "tex.grad.2d.v4.f32.f32 " TO "{$a, $b}], {%g, %m}, {%m, %g}", PYRAMID, U8, 4, LINEAR, 0, "4 u8, two levels" },
    { "tld4.r.2d.v4.f32.f32 " TO "{$a, $b}]", PLANE, F32, 1, LINEAR, 0, "f32" },
};
enum { COUNT = sizeof fetches / sizeof *fetches };

/* ---- kernels */

/* Appends the instruction with the registers of copy k. */
static int put_copy(char *to, const char *text, int k)
{
    int n = 0;

    for (const char *p = text; *p; p++) {
        if (*p != '$')
            to[n++] = *p;
        else if (*++p < 'i')
            n += sprintf(to + n, "%%a%d", (k + (*p - 'a')) % SOURCES);
        else
            n += sprintf(to + n, "%%i%d", (k + (*p - 'i')) % SOURCES);
    }
    return n + sprintf(to + n, ";\n");
}

static void kernel_text(const struct fetch *f, char *text)
{
    int n = sprintf(
        text,
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 turns)\n{\n"
        ".reg .f32 %%a<%d>, %%m, %%g; .reg .b32 %%d<4>, %%i<%d>, %%n, %%t, %%r; .reg .b64 %%p, %%o, %%x; .reg .pred "
        "%%q;\n"
        "ld.param.u64 %%p, [p]; ld.param.u32 %%r, [turns]; ld.global.u64 %%x, [%%p]; mov.u32 %%t, %%tid.x;\n"
        "mul.wide.u32 %%o, %%t, 4; add.u64 %%p, %%p, %%o; and.b32 %%n, %%t, %d;\n",
        SOURCES, SOURCES, LAYERS - 1);

    for (int k = 0; k < SOURCES; k++)
        n += sprintf(text + n, "ld.global.f32 %%a%d, [%%p+%d]; mul.f32 %%m, %%a%d, %d.0; cvt.rzi.s32.f32 %%i%d, %%m;\n",
                     k, 8 + 128 * k, k, SIDE, k);
    n += sprintf(text + n, "mul.f32 %%m, %%a0, 3.0; mul.f32 %%g, %%a1, 0.0625;\nL:\n");
    for (int k = 0; k < UNROLLED; k++)
        n += put_copy(text + n, f->text, k);
    n += sprintf(text + n, "sub.u32 %%r, %%r, 1; setp.ne.u32 %%q, %%r, 0; @%%q bra L;\n");
    for (int k = 0; k < 4; k++)
        n += sprintf(text + n, "st.global.b32 [%%p+%d], %%d%d;\n", 8 + 128 * (SOURCES + k), k);
    sprintf(text + n, "ret;\n}\n");
}

/* ---- textures */

struct ready {
    ptxiModule module;
    ptxiFunction kernel;
    ptxiDevicePtr mem, texels;
    ptxiArray array;
    ptxiMipmappedArray pyramid;
    ptxiTexObject texture;
    double *ns;
};

static PTXI_ARRAY3D_DESCRIPTOR array_of(const struct fetch *f)
{
    static const struct { unsigned height, depth, flags;
    } shapes[] = {
        [ROW] = { 0, 0, 0 },
        [PLANE] = { SIDE, 0, PTXI_ARRAY3D_TEXTURE_GATHER },
        [VOLUME] = { SIDE, DEPTH, 0 },
        [LAYERED_PLANES] = { SIDE, LAYERS, PTXI_ARRAY3D_LAYERED },
        [CUBE] = { SIDE, 6, PTXI_ARRAY3D_CUBEMAP },
        [PYRAMID] = { SIDE, 0, 0 },
        [MEMORY] = { 0, 0, 0 },
    };

    return (PTXI_ARRAY3D_DESCRIPTOR){ SIDE,        shapes[f->shape].height, shapes[f->shape].depth, f->format,
                                      f->channels, shapes[f->shape].flags };
}

static size_t bytes_of(const struct fetch *f)
{
    return f->channels * (f->format == F32 ? 4u : f->format == U8 ? 1u : 2u);
}

/* Fills texels with bytes that form no float above 2. */
static void fill(const struct fetch *f, ptxiArray to, unsigned level)
{
    PTXI_ARRAY3D_DESCRIPTOR d;
    PTXI_MEMCPY3D c = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .dstMemoryType = PTXI_MEMORYTYPE_ARRAY, .dstArray = to };
    unsigned char *p;

    bench_must(ptxiArray3DGetDescriptor(&d, to), "texels");
    c.WidthInBytes = d.Width * bytes_of(f);
    c.Height = d.Height ? d.Height : 1;
    c.Depth = d.Depth ? d.Depth : 1;
    p = malloc(c.WidthInBytes * c.Height * c.Depth);
    if (!p)
        abort();
    for (size_t k = 0; k < c.WidthInBytes * c.Height * c.Depth; k++)
        p[k] = (unsigned char)((k * 37 + k / 7 + level) & 0x3f);
    c.srcHost = p;
    bench_must(ptxiMemcpy3D(&c), "texels");
    free(p);
}

static void make_texture(struct ready *r, const struct fetch *f)
{
    PTXI_ARRAY3D_DESCRIPTOR d = array_of(f);
    PTXI_RESOURCE_DESC resource = { .resType = PTXI_RESOURCE_TYPE_ARRAY };
    PTXI_TEXTURE_DESC sampler = { .filterMode = (ptxiFilterMode)f->filter,
                                  .mipmapFilterMode = PTXI_TR_FILTER_MODE_LINEAR,
                                  .maxMipmapLevelClamp = LEVELS,
                                  .flags = f->flags | (f->shape == MEMORY ? 0 : PTXI_TRSF_NORMALIZED_COORDINATES) };

    if (f->shape == MEMORY) {
        resource.resType = PTXI_RESOURCE_TYPE_LINEAR;
        bench_must(ptxiMemAlloc(&r->texels, SIDE * bytes_of(f)), "texels");
        bench_must(ptxiMemsetD8(r->texels, 0x3f, SIDE * bytes_of(f)), "texels");
        resource.res.linear.devPtr = r->texels;
        resource.res.linear.format = f->format;
        resource.res.linear.numChannels = f->channels;
        resource.res.linear.sizeInBytes = SIDE * bytes_of(f);
    } else if (f->shape == PYRAMID) {
        resource.resType = PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        bench_must(ptxiMipmappedArrayCreate(&r->pyramid, &d, LEVELS), "array");
        for (unsigned l = 0; l < LEVELS; l++) {
            ptxiArray level;

            bench_must(ptxiMipmappedArrayGetLevel(&level, r->pyramid, l), "array");
            fill(f, level, l);
        }
        resource.res.mipmap.hMipmappedArray = r->pyramid;
    } else {
        bench_must(ptxiArray3DCreate(&r->array, &d), "array");
        fill(f, r->array, 0);
        resource.res.array.hArray = r->array;
    }
    bench_must(ptxiTexObjectCreate(&r->texture, &resource, &sampler, NULL), f->text);
}

static void prepare(struct ready *r, const struct fetch *f, int rounds)
{
    enum { BYTES = 8 + 128 * (SOURCES + 4) };
    static char text[8192];
    static float places[SOURCES * 32];
    uint32_t state = 1;

    kernel_text(f, text);
    bench_must(ptxiModuleLoadData(&r->module, text), f->text);
    bench_must(ptxiModuleGetFunction(&r->kernel, r->module, "k"), f->text);
    make_texture(r, f);
    for (int k = 0; k < SOURCES * 32; k++) {
        state = state * 1664525 + 1013904223;
        places[k] = (float)(state >> 8) * 0x1p-24f;
    }
    bench_must(ptxiMemAlloc(&r->mem, BYTES), "memory");
    bench_must(ptxiMemcpyHtoD(r->mem, &r->texture, sizeof r->texture), "operands");
    bench_must(ptxiMemcpyHtoD(r->mem + 8, places, sizeof places), "operands");
    r->ns = calloc((size_t)rounds, sizeof *r->ns);
    if (!r->ns)
        abort();
}

static void release(struct ready *r)
{
    ptxiTexObjectDestroy(r->texture);
    if (r->array)
        ptxiArrayDestroy(r->array);
    if (r->pyramid)
        ptxiMipmappedArrayDestroy(r->pyramid);
    if (r->texels)
        ptxiMemFree(r->texels);
    ptxiMemFree(r->mem);
    ptxiModuleUnload(r->module);
    free(r->ns);
}

/* ---- the table */

void bench_textures(const struct options *o)
{
    static struct ready r[COUNT];
    uint32_t turns = o->quick ? QUICK_TURNS : TURNS;
    bool chosen[COUNT];

    printf(o->csv ? "fetch,texels,filter,ns\n" : "| fetch | texels | filter | ns for a lane |\n|---|---|---|---|\n");
    for (int k = 0; k < COUNT; k++) {
        chosen[k] = !o->kernel || strstr(fetches[k].text, o->kernel);
        if (chosen[k])
            prepare(&r[k], &fetches[k], o->rounds);
    }
    for (int i = 0; i < o->rounds; i++)
        for (int k = 0; k < COUNT; k++)
            if (chosen[k])
                r[k].ns[i] = bench_time_turns(r[k].kernel, 32, r[k].mem, turns) / UNROLLED / 32;
    for (int k = 0; k < COUNT; k++) {
        const struct fetch *f = &fetches[k];
        int name = (int)strcspn(f->text, " ");

        if (!chosen[k])
            continue;
        printf(o->csv ? "%.*s,\"%s\",%s,%.3f\n" : "| `%.*s` | %s | %s | %.2f |\n", name, f->text, f->about,
               f->filter == LINEAR ? "linear" : "point", bench_median(r[k].ns, o->rounds));
        release(&r[k]);
    }
}
