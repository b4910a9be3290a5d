/* Runs whole CUDA programs and compares their output with output recorded on a GPU. Outputs must be equal bit for bit.
 *
 *     programs DIRECTORY [text]...
 *         Compares the outputs with DIRECTORY/programs.rec.
 *         If texts are given, only kernels with one of the texts in their name are tested.
 *
 *     programs record DIRECTORY LIBRARY RUNTIME OUT [text]...
 *         Prints the contents of programs.rec for the driver LIBRARY: libcuda.so.1, or "" for this library.
 *         RUNTIME is the libcudadevrt.a for programs that launch kernels from kernels, or "" for this library.
 *         Whole outputs are written to the folder OUT. Nothing is written if OUT is "".
 *
 * A line of programs.rec has a file, a kernel and the digest of its output.
 * The environment variable PTXI_SEED selects other inputs. Use it to compare the recordings of two drivers. */
#include "conformance/column.h"
#include "cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS = 6 };

/* The parameters of a launch: in, out, n, and additional ones. */
struct call {
    ptxiDevicePtr in, out;
    int n;
    void *params[PARAMS];
    ptxiTensorMap maps[3];
    ptxiTexObject texture;
    ptxiArray array;
    ptxiMipmappedArray pyramid;
};

enum fill { BITS, UNITS /* floats in [-1, 1) */, HALVES /* f16 in [-1, 1) */ };

struct program {
    const char *file, *kernel;
    unsigned grid, block, shared;
    int n;
    size_t in_bytes, out_bytes;
    enum fill fill;
    bool cooperative;
    void (*prepare)(const struct program *p, struct call *c); /* sets additional parameters */
};

static uint64_t seed;

static uint32_t random_word(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static void fill(enum fill kind, void *to, size_t bytes)
{
    uint32_t *words = to;

    seed = 1 + column_seed();
    for (size_t k = 0; k < bytes / 4; k++) {
        uint32_t bits = random_word();
        float value = (float)(int32_t)bits * 0x1p-31f;

        if (kind == UNITS)
            memcpy(&bits, &value, 4);
        else if (kind == HALVES) /* any sign and fraction; exponents from -8 to -1 */
            bits = (bits & 0x9fff9fff) + 0x1c001c00;
        words[k] = bits;
    }
}

/* ---- parameters of some programs --------------------------------------------------------------------------------- */

/* gemm(tensor map of A, tensor map of B, tensor map of C, n): A and B are n x n halves, C is n x n floats. */
static void encode(ptxiTensorMap *map, ptxiTensorMapDataType type, ptxiDevicePtr base, int side, uint32_t width,
                   uint32_t height, ptxiTensorMapSwizzle swizzle)
{
    uint64_t size = type == PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16 ? 2 : 4, dims[] = { (uint64_t)side, (uint64_t)side },
             stride = size * dims[0];
    uint32_t box[] = { width, height }, steps[] = { 1, 1 };

    driver_must(driver.TensorMapEncodeTiled(map, type, 2, (void *)(uintptr_t)base, dims, &stride, box, steps,
                                            PTXI_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                            PTXI_TENSOR_MAP_L2_PROMOTION_L2_128B, PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                "TensorMapEncodeTiled");
}

static void gemm_maps(const struct program *p, struct call *c)
{
    enum { TILE = 128, DEPTH = 64 };

    encode(&c->maps[0], PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16, c->in, p->n, DEPTH, TILE, PTXI_TENSOR_MAP_SWIZZLE_128B);
    encode(&c->maps[1], PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16, c->in + p->in_bytes / 2, p->n, DEPTH, TILE,
           PTXI_TENSOR_MAP_SWIZZLE_128B);
    encode(&c->maps[2], PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32, c->out, p->n, 32, 64, PTXI_TENSOR_MAP_SWIZZLE_NONE);
    for (int k = 0; k < 3; k++)
        c->params[k] = &c->maps[k];
    c->params[3] = &c->n;
}

/* Textures: (in, out, n, texture). The texels are a copy of the first bytes of `in`. */
static void copy_texels(ptxiArray array, const void *texels, size_t row, size_t rows, size_t slices)
{
    PTXI_MEMCPY3D copy = { .srcMemoryType = PTXI_MEMORYTYPE_HOST,
                           .srcHost = texels,
                           .srcPitch = row,
                           .srcHeight = rows,
                           .dstMemoryType = PTXI_MEMORYTYPE_ARRAY,
                           .dstArray = array,
                           .WidthInBytes = row,
                           .Height = rows,
                           .Depth = slices };

    driver_must(driver.Memcpy3D(&copy), "Memcpy3D");
}

static void make_texture(struct call *c, ptxiAddressMode outside, float most_level)
{
    PTXI_RESOURCE_DESC resource = { .resType =
                                        c->pyramid ? PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY : PTXI_RESOURCE_TYPE_ARRAY };
    PTXI_TEXTURE_DESC sampler = { .addressMode = { outside, outside, outside },
                                  .filterMode = PTXI_TR_FILTER_MODE_LINEAR,
                                  .mipmapFilterMode = PTXI_TR_FILTER_MODE_LINEAR,
                                  .maxMipmapLevelClamp = most_level,
                                  .flags = PTXI_TRSF_NORMALIZED_COORDINATES };

    if (c->pyramid)
        resource.res.mipmap.hMipmappedArray = c->pyramid;
    else
        resource.res.array.hArray = c->array;
    driver_must(driver.TexObjectCreate(&c->texture, &resource, &sampler, NULL), "TexObjectCreate");
    c->params[3] = &c->texture;
}

/* A mipmapped texture. Level 0 has 64 x 64 texels of four bytes. */
static void pyramid(const struct program *p, struct call *c)
{
    enum { SIDE = 64, LEVELS = 7 };
    static uint32_t texels[SIDE * SIDE];

    (void)p;
    fill(BITS, texels, sizeof texels);
    driver_must(
        driver.MipmappedArrayCreate(
            &c->pyramid, &(PTXI_ARRAY3D_DESCRIPTOR){ SIDE, SIDE, 0, PTXI_AD_FORMAT_UNSIGNED_INT8, 4, 0 }, LEVELS),
        "MipmappedArrayCreate");
    for (unsigned k = 0; k < LEVELS; k++) {
        ptxiArray level;

        driver_must(driver.MipmappedArrayGetLevel(&level, c->pyramid, k), "MipmappedArrayGetLevel");
        copy_texels(level, texels + k, (SIDE >> k) * 4, SIDE >> k, 1);
    }
    make_texture(c, PTXI_TR_ADDRESS_MODE_WRAP, LEVELS - 1);
}

/* A texture of 16 x 16 x 16 floats. */
static void volume(const struct program *p, struct call *c)
{
    enum { SIDE = 16 };
    static float texels[SIDE * SIDE * SIDE];

    (void)p;
    fill(UNITS, texels, sizeof texels);
    driver_must(
        driver.Array3DCreate(&c->array, &(PTXI_ARRAY3D_DESCRIPTOR){ SIDE, SIDE, SIDE, PTXI_AD_FORMAT_FLOAT, 1, 0 }),
        "Array3DCreate");
    copy_texels(c->array, texels, SIDE * 4, SIDE, SIDE);
    make_texture(c, PTXI_TR_ADDRESS_MODE_CLAMP, 0);
}

/* ---- the programs ------------------------------------------------------------------------------------------------ */

#define LAUNCH(of_file, of_kernel, blocks, threads, argument, ins, outs)                                    \
    .file = of_file, .kernel = of_kernel, .grid = blocks, .block = threads, .n = argument, .in_bytes = ins, \
    .out_bytes = outs

static const struct program programs[] = {
    { LAUNCH("lookback.sm_80", "lookback", 40, 128, 40 * 512 - 77, 40 * 2048, 40 * 2048) },
    { LAUNCH("scopes.sm_90", "refs_alone", 3, 64, 3, 3 * 512, 3 * 2048) },
    { LAUNCH("scopes.sm_90", "refs_together", 4, 128, 500, 2048, 8 * (48 + 4 * 32)) },
    { LAUNCH("scopes.sm_90", "refs_pairs", 4, 128, 500, 2048, 32) },
    { LAUNCH("cooperative.sm_90", "wide_tiles", 2, 256, 3, 2048, 8 * 2048) },
    { LAUNCH("cooperative.sm_90", "partitions", 2, 96, 77, 768, 8 * 768) },
    { LAUNCH("cooperative.sm_90", "copies", 2, 256, 5, 2 * 5 * 1024, 2048) },
    { LAUNCH("cooperative.sm_90", "waves", 6, 256, 4000, 16000, 48000), .fill = UNITS, .cooperative = true },
    { LAUNCH("cooperative.sm_90", "gradients", 5, 256, 3000, 12000, 48000), .fill = UNITS, .cooperative = true },
    { LAUNCH("clusters.sm_90a", "tree", 16, 128, 3000, 24000, 8), .fill = UNITS },
    { LAUNCH("clusters.sm_90a", "spread_histogram", 8, 128, 5000, 20000, 4 * (256 + 8)) },
    { LAUNCH("clusters.sm_90a", "ring", 8, 128, 13, 4096, 4096) },
    { LAUNCH("clusters.sm_90a", "broadcast", 8, 128, 13, 4096, 8192) },
    { LAUNCH("barriers.sm_90", "phases", 2, 128, 5, 1024, 1024) },
    { LAUNCH("barriers.sm_90", "roles", 3, 128, 10, 3 * 10 * 256, 3 * 256) },
    { LAUNCH("barriers.sm_90", "bytes", 3, 128, 7, 3 * 7 * 512, 3 * 512) },
    { LAUNCH("barriers.sm_90", "meetings", 4, 128, 6, 2048, 4096), .cooperative = true },
    { LAUNCH("persistent.sm_80", "persistent", 6, 128, 40, 160, 160) },
    { LAUNCH("persistent.sm_80", "workers", 3, 64, 3000, 768, 768) },
    { LAUNCH("gemm.sm_90a", "gemm", 4, 384, 256, 2 * 2 * 256 * 256, 4 * 256 * 256), .shared = 161 << 10, .fill = HALVES,
      .prepare = gemm_maps },
    { LAUNCH("sampling.sm_80", "levels", 32, 64, 64, 4, 32 * 64 * 16), .fill = UNITS, .prepare = pyramid },
    { LAUNCH("sampling.sm_80", "gradients_level", 32, 64, 64, 4, 32 * 64 * 16), .fill = UNITS, .prepare = pyramid },
    { LAUNCH("sampling.sm_80", "rays", 32, 32, 24, 12288, 8192), .fill = UNITS, .prepare = volume },
    { LAUNCH("device.sm_90-rdc", "device_scan", 1, 1, 9000, 72000, 72000) },
    { LAUNCH("device.sm_90-rdc", "device_sort", 1, 1, 9000, 36000, 36000) },
    { LAUNCH("device.sm_90-rdc", "device_runs", 1, 1, 5000, 20000, 4 + 20000 + 5000) },
    { LAUNCH("device.sm_90-rdc", "device_select", 1, 1, 9000, 36000, 36004) },
    { LAUNCH("device.sm_90-rdc", "device_histogram", 1, 1, 20000, 20000, 256) },
    { LAUNCH("device.sm_90-rdc", "device_sum", 1, 1, 9000, 36000, 4), .fill = UNITS },
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* ---- running ----------------------------------------------------------------------------------------------------- */

static ptxiModule load(const char *directory, const char *file, const char *runtime)
{
    char path[4096];
    ptxiModule module;
    ptxiLinkState link;
    void *image;

    snprintf(path, sizeof path, "%s/%s.ptx", directory, file);
    if (!strstr(file, "-rdc") || !*runtime) {
        driver_must(driver.ModuleLoad(&module, path), path);
        return module;
    }
    driver_must(driver.LinkCreate(0, NULL, NULL, &link), "LinkCreate");
    driver_must(driver.LinkAddFile(link, PTXI_JIT_INPUT_PTX, path, 0, NULL, NULL), path);
    driver_must(driver.LinkAddFile(link, PTXI_JIT_INPUT_LIBRARY, runtime, 0, NULL, NULL), runtime);
    driver_must(driver.LinkComplete(link, &image, NULL), path);
    driver_must(driver.ModuleLoadData(&module, image), path);
    driver_must(driver.LinkDestroy(link), "LinkDestroy");
    return module;
}

/* All blocks of a cooperative grid must be resident at once. The occupancy shows whether this is possible. */
static void launch_cooperatively(const struct program *p, ptxiFunction f, void **params)
{
    int blocks, multiprocessors;

    driver_must(driver.OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, (int)p->block, p->shared), p->kernel);
    driver_must(driver.DeviceGetAttribute(&multiprocessors, PTXI_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), p->kernel);
    if ((int)p->grid > blocks * multiprocessors) {
        fprintf(stderr, "%s: %u blocks where %d x %d can be resident\n", p->kernel, p->grid, multiprocessors, blocks);
        exit(1);
    }
    driver_must(driver.LaunchCooperativeKernel(f, p->grid, 1, 1, p->block, 1, 1, p->shared, NULL, params), p->kernel);
}

static void launch(const struct program *p, ptxiModule module, struct call *c)
{
    ptxiFunction f;

    driver_must(driver.ModuleGetFunction(&f, module, p->kernel), p->kernel);
    if (p->shared > 48 << 10)
        driver_must(driver.FuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)p->shared),
                    p->kernel);
    if (p->cooperative)
        launch_cooperatively(p, f, c->params);
    else
        driver_must(driver.LaunchKernel(f, p->grid, 1, 1, p->block, 1, 1, p->shared, NULL, c->params, NULL), p->kernel);
    driver_must(driver.CtxSynchronize(), p->kernel);
}

static void release(struct call *c)
{
    if (c->texture)
        driver_must(driver.TexObjectDestroy(c->texture), "TexObjectDestroy");
    if (c->pyramid)
        driver_must(driver.MipmappedArrayDestroy(c->pyramid), "MipmappedArrayDestroy");
    if (c->array)
        driver_must(driver.ArrayDestroy(c->array), "ArrayDestroy");
    driver_must(driver.MemFree(c->in), "MemFree");
    driver_must(driver.MemFree(c->out), "MemFree");
}

/* Runs a program and returns its output. The caller must free it. */
static unsigned char *run(const struct program *p, ptxiModule module)
{
    struct call c = { .n = p->n, .params = { &c.in, &c.out, &c.n } };
    unsigned char *out = calloc(1, p->out_bytes);
    void *in = malloc(p->in_bytes);

    if (!in || !out)
        abort();
    fill(p->fill, in, p->in_bytes);
    driver_must(driver.MemAlloc(&c.in, p->in_bytes), "MemAlloc");
    driver_must(driver.MemAlloc(&c.out, p->out_bytes), "MemAlloc");
    driver_must(driver.MemcpyHtoD(c.in, in, p->in_bytes), "MemcpyHtoD");
    driver_must(driver.MemcpyHtoD(c.out, out, p->out_bytes), "MemcpyHtoD");
    if (p->prepare)
        p->prepare(p, &c);
    launch(p, module, &c);
    driver_must(driver.MemcpyDtoH(out, c.out, p->out_bytes), "MemcpyDtoH");
    release(&c);
    free(in);
    return out;
}

static uint64_t digest_of(const struct program *p, const char *directory, const char *runtime, const char *outputs)
{
    ptxiModule module = load(directory, p->file, runtime);
    unsigned char *out = run(p, module);
    uint64_t digest = column_hash(0, out, p->out_bytes);

    if (outputs) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", outputs, p->kernel);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(out, 1, p->out_bytes, f) != p->out_bytes || fclose(f)) {
            perror(path);
            exit(1);
        }
    }
    free(out);
    driver_must(driver.ModuleUnload(module), "ModuleUnload");
    return digest;
}

static bool wanted(const char *name, char **texts)
{
    for (char **t = texts; *t; t++)
        if (strstr(name, *t))
            return true;
    return !*texts;
}

static int record(char **argv)
{
    char name[100];
    int version;

    if (*argv[3])
        driver_load(argv[3]);
    driver_start(name, &version);
    printf("# %s, driver for CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
    for (const struct program *p = programs; p < programs + PROGRAMS; p++) {
        if (!wanted(p->kernel, argv + 6))
            continue;
        printf("%s %s %016llx\n", p->file, p->kernel,
               (unsigned long long)digest_of(p, argv[2], argv[4], *argv[5] ? argv[5] : NULL));
        fflush(stdout);
    }
    return 0;
}

/* Compares the output with the next line of the recording. Returns 0 if they are equal and 1 otherwise. */
static int compare(const struct program *p, const char *directory, FILE *recording, char **texts, int *compared)
{
    char file[80], kernel[80];
    unsigned long long recorded;

    if (fscanf(recording, "%79s %79s %llx", file, kernel, &recorded) != 3 || strcmp(file, p->file) != 0 ||
        strcmp(kernel, p->kernel) != 0) {
        printf("FAIL %s of %s is not recorded\n", p->kernel, p->file);
        exit(1);
    }
    if (!wanted(kernel, texts))
        return 0;
    ++*compared;
    if (digest_of(p, directory, "", NULL) == recorded)
        return 0;
    printf("FAIL %s of %s differs from the GPU's\n", kernel, file);
    return 1;
}

int main(int argc, char **argv)
{
    char name[100], path[4096];
    int version, bad = 0, compared = 0;
    FILE *recording;

    if (argc >= 6 && !strcmp(argv[1], "record"))
        return record(argv);
    if (argc < 2) {
        fprintf(stderr,
                "usage: programs DIRECTORY [text]... | programs record DIRECTORY LIBRARY RUNTIME OUT [text]...\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/programs.rec", argv[1]);
    recording = fopen(path, "r");
    if (!recording || fscanf(recording, "#%*[^\n]") != 0) {
        fprintf(stderr, "programs: cannot read %s\n", path);
        return 1;
    }
    driver_start(name, &version);
    for (const struct program *p = programs; p < programs + PROGRAMS; p++)
        bad += compare(p, argv[1], recording, argv + 2, &compared);
    fclose(recording);
    printf("%d programs compared, %d differ\n", compared, bad);
    return bad || !compared;
}
