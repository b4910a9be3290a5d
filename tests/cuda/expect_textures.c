#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

/* Tests of textures and surfaces. Each case creates its own objects.
 * Texels are small integers, so that expected values can be calculated by hand. */
#define NEED(what)                                            \
    do {                                                      \
        if (!(what)) {                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            return false;                                     \
        }                                                     \
    } while (0)
#define OK(call) NEED((call) == PTXI_SUCCESS)

enum { WIDTH = 8, HEIGHT = 4 };

static bool launch(ptxiModule m, const char *kernel, unsigned grid, unsigned block, void **params)
{
    ptxiFunction f;

    OK(ptxiModuleGetFunction(&f, m, kernel));
    OK(ptxiLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL));
    OK(ptxiCtxSynchronize());
    return true;
}

static bool fill(ptxiArray a, const void *texels, size_t row, size_t rows, size_t slices)
{
    PTXI_MEMCPY3D c = { .srcMemoryType = PTXI_MEMORYTYPE_HOST,
                        .srcHost = texels,
                        .dstMemoryType = PTXI_MEMORYTYPE_ARRAY,
                        .dstArray = a,
                        .WidthInBytes = row,
                        .Height = rows,
                        .Depth = slices };

    OK(ptxiMemcpy3D(&c));
    return true;
}

static bool texture(ptxiTexObject *t, const PTXI_RESOURCE_DESC *r, ptxiFilterMode filter, unsigned flags)
{
    PTXI_TEXTURE_DESC s = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP,
                                             PTXI_TR_ADDRESS_MODE_CLAMP },
                            .filterMode = filter,
                            .mipmapFilterMode = PTXI_TR_FILTER_MODE_LINEAR,
                            .maxMipmapLevelClamp = 100,
                            .flags = flags };

    OK(ptxiTexObjectCreate(t, r, &s, NULL));
    return true;
}

/* Samples at the common corner of four texels. The result is their average. */
static bool blur(ptxiModule m)
{
    float texels[HEIGHT][WIDTH], *out;
    ptxiArray a;
    ptxiTexObject t;
    ptxiDevicePtr p;
    int width = WIDTH;
    void *params[] = { &t, &p, &width };

    for (int k = 0; k < WIDTH * HEIGHT; k++)
        ((float *)texels)[k] = (float)(k * k % 64);
    OK(ptxiArrayCreate(&a, &(PTXI_ARRAY_DESCRIPTOR){ WIDTH, HEIGHT, PTXI_AD_FORMAT_FLOAT, 1 }));
    NEED(fill(a, texels, sizeof texels[0], HEIGHT, 1));
    NEED(texture(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, PTXI_TR_FILTER_MODE_LINEAR, 0));
    OK(ptxiMemAlloc(&p, sizeof texels));
    NEED(launch(m, "blur", HEIGHT, WIDTH, params));
    out = (float *)(uintptr_t)p;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int right = x + 1 < WIDTH ? x + 1 : x, below = y + 1 < HEIGHT ? y + 1 : y;

            NEED(out[y * WIDTH + x] == (texels[y][x] + texels[y][right] + texels[below][x] + texels[below][right]) / 4);
        }
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiArrayDestroy(a));
    OK(ptxiMemFree(p));
    return true;
}

static bool row(ptxiModule m)
{
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_LINEAR };
    unsigned char texels[4 * WIDTH];
    ptxiTexObject t;
    ptxiDevicePtr from, p;
    void *params[] = { &t, &p };
    int *out;

    for (int k = 0; k < 4 * WIDTH; k++)
        texels[k] = (unsigned char)(200 + 3 * k);
    OK(ptxiMemAlloc(&from, sizeof texels));
    OK(ptxiMemAlloc(&p, 32 * 16));
    OK(ptxiMemcpyHtoD(from, texels, sizeof texels));
    r.res.linear.devPtr = from;
    r.res.linear.format = PTXI_AD_FORMAT_UNSIGNED_INT8;
    r.res.linear.numChannels = 4;
    r.res.linear.sizeInBytes = sizeof texels;
    NEED(texture(&t, &r, PTXI_TR_FILTER_MODE_POINT, PTXI_TRSF_READ_AS_INTEGER));
    NEED(launch(m, "row", 1, 32, params));
    out = (int *)(uintptr_t)p;
    for (int k = 0; k < 4 * 32; k++)
        NEED(out[k] == (k < 4 * WIDTH ? texels[k] : 0));
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiMemFree(from));
    OK(ptxiMemFree(p));
    return true;
}

static bool layers(ptxiModule m)
{
    enum { LAYERS = 3 };
    float texels[LAYERS][WIDTH][4], *out;
    ptxiArray a;
    ptxiTexObject t;
    ptxiDevicePtr p;
    int width = WIDTH;
    void *params[] = { &t, &p, &width };

    for (int k = 0; k < LAYERS * WIDTH * 4; k++)
        ((float *)texels)[k] = (float)k;
    OK(ptxiArray3DCreate(
        &a, &(PTXI_ARRAY3D_DESCRIPTOR){ WIDTH, 1, LAYERS, PTXI_AD_FORMAT_FLOAT, 4, PTXI_ARRAY3D_LAYERED }));
    NEED(fill(a, texels, sizeof texels[0], 1, LAYERS));
    NEED(texture(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, PTXI_TR_FILTER_MODE_LINEAR,
                 PTXI_TRSF_NORMALIZED_COORDINATES));
    OK(ptxiMemAlloc(&p, sizeof texels));
    NEED(launch(m, "layers", LAYERS, WIDTH, params));
    out = (float *)(uintptr_t)p;
    NEED(!memcmp(out, texels, sizeof texels));
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiArrayDestroy(a));
    OK(ptxiMemFree(p));
    return true;
}

/* All texels of a level have the same value. The result therefore shows the level that was read. */
static bool levels(ptxiModule m)
{
    enum { LEVELS = 3, THREADS = 16 };
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY };
    ptxiMipmappedArray a;
    ptxiTexObject t;
    ptxiDevicePtr p;
    void *params[] = { &t, &p };
    float *out;

    OK(ptxiMipmappedArrayCreate(&a, &(PTXI_ARRAY3D_DESCRIPTOR){ 4, 4, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 }, LEVELS));
    for (unsigned l = 0; l < LEVELS; l++) {
        float texels[16];
        ptxiArray level;

        for (int k = 0; k < 16; k++)
            texels[k] = (float)(8 * l);
        OK(ptxiMipmappedArrayGetLevel(&level, a, l));
        NEED(fill(level, texels, 16u >> l, 4u >> l, 1));
    }
    r.res.mipmap.hMipmappedArray = a;
    NEED(texture(&t, &r, PTXI_TR_FILTER_MODE_LINEAR, PTXI_TRSF_NORMALIZED_COORDINATES));
    OK(ptxiMemAlloc(&p, THREADS * 4));
    NEED(launch(m, "levels", 1, THREADS, params));
    out = (float *)(uintptr_t)p;
    for (int k = 0; k < THREADS; k++)
        NEED(out[k] == (float)(k < 8 ? 2 * k : 16));
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiMipmappedArrayDestroy(a));
    OK(ptxiMemFree(p));
    return true;
}

/* Gathers four texels. Their order is counter-clockwise from the lower left corner. */
static bool corners(ptxiModule m)
{
    uint32_t texels[HEIGHT][WIDTH][2], *out;
    ptxiArray a;
    ptxiTexObject t;
    ptxiDevicePtr p;
    int width = WIDTH;
    void *params[] = { &t, &p, &width };

    for (int k = 0; k < HEIGHT * WIDTH; k++)
        ((uint32_t *)texels)[2 * k] = (uint32_t)~k, ((uint32_t *)texels)[2 * k + 1] = (uint32_t)k;
    OK(ptxiArray3DCreate(&a, &(PTXI_ARRAY3D_DESCRIPTOR){ WIDTH, HEIGHT, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 2,
                                                         PTXI_ARRAY3D_TEXTURE_GATHER }));
    NEED(fill(a, texels, sizeof texels[0], HEIGHT, 1));
    NEED(texture(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, PTXI_TR_FILTER_MODE_POINT, 0));
    OK(ptxiMemAlloc(&p, WIDTH * HEIGHT * 16));
    NEED(launch(m, "corners", HEIGHT, WIDTH, params));
    out = (uint32_t *)(uintptr_t)p;
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint32_t right = x + 1 < WIDTH ? x + 1 : x, below = y + 1 < HEIGHT ? y + 1 : y,
                     *v = out + 4 * (y * WIDTH + x);

            NEED(v[0] == below * WIDTH + x && v[1] == below * WIDTH + right && v[2] == y * WIDTH + right &&
                 v[3] == y * WIDTH + x);
        }
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiArrayDestroy(a));
    OK(ptxiMemFree(p));
    return true;
}

static bool faces(ptxiModule m)
{
    float texels[6] = { 10, 11, 12, 13, 14, 15 };
    ptxiArray a;
    ptxiTexObject t;
    ptxiDevicePtr p;
    void *params[] = { &t, &p };

    OK(ptxiArray3DCreate(&a, &(PTXI_ARRAY3D_DESCRIPTOR){ 1, 1, 6, PTXI_AD_FORMAT_FLOAT, 1, PTXI_ARRAY3D_CUBEMAP }));
    NEED(fill(a, texels, 4, 1, 6));
    NEED(texture(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, PTXI_TR_FILTER_MODE_POINT,
                 PTXI_TRSF_NORMALIZED_COORDINATES));
    OK(ptxiMemAlloc(&p, sizeof texels));
    NEED(launch(m, "faces", 1, 6, params));
    NEED(!memcmp((void *)(uintptr_t)p, texels, sizeof texels));
    OK(ptxiTexObjectDestroy(t));
    OK(ptxiArrayDestroy(a));
    OK(ptxiMemFree(p));
    return true;
}

static bool flip(ptxiModule m)
{
    uint16_t texels[HEIGHT][WIDTH][2], back[HEIGHT][WIDTH][2];
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY };
    PTXI_ARRAY3D_DESCRIPTOR d = { WIDTH, HEIGHT, 0, PTXI_AD_FORMAT_UNSIGNED_INT16, 2, PTXI_ARRAY3D_SURFACE_LDST };
    PTXI_MEMCPY2D c = { .srcMemoryType = PTXI_MEMORYTYPE_ARRAY,
                        .dstMemoryType = PTXI_MEMORYTYPE_HOST,
                        .dstHost = back,
                        .WidthInBytes = sizeof back[0],
                        .Height = HEIGHT };
    ptxiArray a[2];
    ptxiSurfObject s[2];
    int width = WIDTH;
    void *params[] = { &s[0], &s[1], &width };

    for (int k = 0; k < WIDTH * HEIGHT * 2; k++)
        ((uint16_t *)texels)[k] = (uint16_t)(k * 257);
    for (int k = 0; k < 2; k++) {
        OK(ptxiArray3DCreate(&a[k], &d));
        r.res.array.hArray = a[k];
        OK(ptxiSurfObjectCreate(&s[k], &r));
    }
    NEED(fill(a[0], texels, sizeof texels[0], HEIGHT, 1));
    NEED(launch(m, "flip", HEIGHT, WIDTH, params));
    c.srcArray = a[1];
    OK(ptxiMemcpy2D(&c));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            NEED(back[y][x][0] == texels[y][WIDTH - 1 - x][0] + 1 && back[y][x][1] == texels[y][WIDTH - 1 - x][1]);
    for (int k = 0; k < 2; k++) {
        OK(ptxiSurfObjectDestroy(s[k]));
        OK(ptxiArrayDestroy(a[k]));
    }
    return true;
}

const struct cuda_case textures_cases[] = {
    { "blur", .custom = blur },     { "row", .custom = row },         { "layers", .custom = layers },
    { "levels", .custom = levels }, { "corners", .custom = corners }, { "faces", .custom = faces },
    { "flip", .custom = flip },
};
CUDA_COUNT(textures);
