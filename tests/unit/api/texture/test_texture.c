/* Tests arrays, texture and surface objects, texture references, and what kernels may do with them. The values that
 * textures return are tested in tests/conformance/textures. */
#include "unit/support/bits.h"

#include "num/float.h"
#include "num/texture.h"
#include "ptxi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ok(call) ck_assert_int_eq(call, PTXI_SUCCESS)
#define ck_error(call, why) ck_assert_int_eq(call, PTXI_ERROR_##why)

static ptxiContext ctx;

static void setup(void)
{
    ok(ptxiInit(0));
    ok(ptxiCtxCreate(&ctx, 0, 0));
}

static void teardown(void)
{
    ok(ptxiCtxDestroy(ctx));
}

/* ---- helpers */

static ptxiModule load(const char *header, const char *text)
{
    char all[8000];
    ptxiModule m;

    snprintf(all, sizeof all, ".version 8.1\n.target sm_90%s\n.address_size 64\n%s", header, text);
    if (ptxiModuleLoadData(&m, all)) {
        ptxiDiagnostic d = { .size = sizeof d };

        ok(ptxiGetLastDiagnostic(0, &d));
        ck_abort_msg("%s", d.text);
    }
    return m;
}

/* Runs kernel k(object, result) with one warp. The results are the words that it stores. */
static ptxiResult run(ptxiModule m, unsigned long long object, uint32_t *out, unsigned words)
{
    ptxiFunction f;
    ptxiDevicePtr p;
    void *params[] = { &object, &p };
    ptxiResult r;

    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, words * 4));
    ok(ptxiMemsetD32(p, 0xdead, words));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    r = ptxiCtxSynchronize();
    ok(ptxiMemcpyDtoH(out, p, words * 4));
    ok(ptxiMemFree(p));
    return r;
}

#define BEGIN \
    ".visible .entry k(.param .u64 o, .param .u64 p) { .reg .b64 %t, %a; .reg .b32 %r<10>; .reg .f32 %f<10>; " \
    ".reg .pred %p<3>;\n" \
    "ld.param.u64 %t, [o]; ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x; mad.wide.u32 %a, %r0, 4, %a;\n"
#define END "\nst.global.u32 [%a], %r1; ret; }\n"
#define KERNEL(body) BEGIN body END

static ptxiArray create_array(const PTXI_ARRAY3D_DESCRIPTOR *d, const void *texels)
{
    PTXI_MEMCPY3D c = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = texels,
                        .dstMemoryType = PTXI_MEMORYTYPE_ARRAY };
    ptxiArray a;

    ok(ptxiArray3DCreate(&a, d));
    c.dstArray = a;
    c.WidthInBytes = d->Width * d->NumChannels * (d->Format == PTXI_AD_FORMAT_UNSIGNED_INT8 ? 1 : 4);
    c.Height = d->Height ? d->Height : 1;
    c.Depth = d->Depth ? d->Depth : 1;
    ok(ptxiMemcpy3D(&c));
    return a;
}

static const uint32_t texels_4x4[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static ptxiArray words_4x4(unsigned flags)
{
    return create_array(&(PTXI_ARRAY3D_DESCRIPTOR){ 4, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, flags }, texels_4x4);
}

static ptxiTexObject create_texture(ptxiArray a, unsigned flags)
{
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = a };
    PTXI_TEXTURE_DESC s = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP,
                                             PTXI_TR_ADDRESS_MODE_CLAMP }, .flags = flags };
    ptxiTexObject t = 0;

    ok(ptxiTexObjectCreate(&t, &r, &s, NULL));
    return t;
}

static ptxiSurfObject create_surface(ptxiArray a)
{
    ptxiSurfObject s = 0;

    ok(ptxiSurfObjectCreate(&s, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }));
    return s;
}

/* ---- arrays */

/* Descriptors that the driver accepts, recorded on an H200 with texels of 32 bits. */
START_TEST(descriptors)
{
    enum { L = PTXI_ARRAY3D_LAYERED, S = PTXI_ARRAY3D_SURFACE_LDST, C = PTXI_ARRAY3D_CUBEMAP,
           G = PTXI_ARRAY3D_TEXTURE_GATHER };
    static const struct {
        size_t width, height, depth;
        unsigned flags;
        bool right;
    } cases[] = {
        { 32769, 0, 0, 0, true },  { 32769, 0, 0, S, false }, { 32768, 0, 0, S, true },  { 131072, 2, 0, S, true },
        { 131073, 0, 0, 0, false },
        { 2, 65536, 0, 0, true },  { 2, 65537, 0, 0, false }, { 2, 32768, 0, G, true },  { 2, 32769, 0, G, false },
        { 8, 0, 0, G, false },
        { 8, 8, 2, G, false },     { 8, 8, 6, C | G, false }, { 8, 8, 3, L | G, false }, { 8, 8, 6, C, true },
        { 8, 8, 12, C, false },
        { 8, 8, 12, C | L, true }, { 8, 8, 5, C | L, false }, { 8, 4, 6, C, false },     { 2, 2, 2048, L, true },
        { 2, 2, 2049, L, false },
        { 8, 8, 0, 16, false },    { 8, 8, 0, 32, false },    { 8, 0, 2, 0, false },     { 2, 16384, 2, 0, true },
        { 2, 16385, 2, 0, false },
    };
    ptxiMipmappedArray m;
    ptxiArray a;

    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        PTXI_ARRAY3D_DESCRIPTOR d = { cases[k].width, cases[k].height, cases[k].depth, PTXI_AD_FORMAT_FLOAT, 1,
                                      cases[k].flags };

        ck_assert_msg(ptxiArray3DCreate(&a, &d) == (cases[k].right ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE),
                      "case %u", k);
        if (cases[k].right)
            ok(ptxiArrayDestroy(a));
    }
    /* has one level */
    ok(ptxiMipmappedArrayCreate(&m, &(PTXI_ARRAY3D_DESCRIPTOR){ 8, 8, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 }, 0));
    ok(ptxiMipmappedArrayGetLevel(&a, m, 0));
    ck_error(ptxiMipmappedArrayGetLevel(&a, m, 1), INVALID_VALUE);
    ok(ptxiMipmappedArrayDestroy(m));
}
END_TEST

START_TEST(arrays_keep_copied_data)
{
    PTXI_ARRAY3D_DESCRIPTOR d = { 4, 2, 2, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_LAYERED }, got;
    PTXI_ARRAY_DESCRIPTOR flat;
    ptxiArray a = create_array(&d, texels_4x4), b;
    uint32_t back[16] = { 0 };
    PTXI_MEMCPY2D c = { .srcMemoryType = PTXI_MEMORYTYPE_ARRAY, .srcArray = a, .srcXInBytes = 4, .srcY = 1,
                        .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = back,
                        .WidthInBytes = 8, .Height = 1 };
    ptxiDevicePtr p;

    ok(ptxiArray3DGetDescriptor(&got, a));
    ck_assert_mem_eq(&got, &d, sizeof d);
    ok(ptxiArrayGetDescriptor(&flat, a));
    ck_assert_uint_eq(flat.Width, 4);
    ck_assert_uint_eq(flat.Height, 2);
    ok(ptxiMemcpy2D(&c));
    ck_assert_uint_eq(back[0], 5);
    ck_assert_uint_eq(back[1], 6);
    c.srcXInBytes = 12;
    ck_error(ptxiMemcpy2D(&c), INVALID_VALUE);
    ok(ptxiMemcpyAtoH(back, a, 8, 8)); /* only the first row */
    ck_assert_uint_eq(back[0], 2);
    ck_error(ptxiMemcpyAtoH(back, a, 12, 8), INVALID_VALUE);
    ck_error(ptxiMemcpyAtoH(back, a, 16, 4), INVALID_VALUE);
    ok(ptxiMemAlloc(&p, 64));
    ok(ptxiMemcpyAtoD(p, a, 0, 16));
    ok(ptxiArray3DCreate(&b, &d));
    ok(ptxiMemcpyDtoA(b, 0, p, 16));
    ok(ptxiMemcpyHtoA(b, 4, &(uint32_t){ 100 }, 4));
    ok(ptxiMemcpyAtoA(b, 8, a, 12, 4));
    ok(ptxiMemcpyAtoHAsync(back, b, 0, 16, NULL));
    ok(ptxiCtxSynchronize());
    ck_assert_uint_eq(back[1], 100);
    ck_assert_uint_eq(back[2], 3);
    ck_assert_uint_eq(back[3], 3);
    ok(ptxiArrayDestroy(b));
    ok(ptxiArrayDestroy(a));
    ok(ptxiMemFree(p));
}
END_TEST

START_TEST(impossible_shapes_are_refused)
{
    static const PTXI_ARRAY3D_DESCRIPTOR none[] = {
        { 0, 0, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 },       { 4, 0, 0, (ptxiArrayFormat)4, 1, 0 },
        { 4, 0, 0, PTXI_AD_FORMAT_FLOAT, 3, 0 },       { 4, 0, 2, PTXI_AD_FORMAT_FLOAT, 1, 0 },
        { 4, 4, 0, PTXI_AD_FORMAT_FLOAT, 1, PTXI_ARRAY3D_LAYERED }, { 4, 3, 6, PTXI_AD_FORMAT_FLOAT, 1,
                PTXI_ARRAY3D_CUBEMAP },
        { 4, 4, 7, PTXI_AD_FORMAT_FLOAT, 1, PTXI_ARRAY3D_CUBEMAP | PTXI_ARRAY3D_LAYERED },
        { 200000, 0, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 },
        { 4, 0, 0, PTXI_AD_FORMAT_FLOAT, 1, 0x200 },
    };
    PTXI_ARRAY3D_DESCRIPTOR d = { 20, 12, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 }, got;
    ptxiMipmappedArray m;
    ptxiArray a;

    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        ck_error(ptxiArray3DCreate(&a, &none[k]), INVALID_VALUE);
    ck_error(ptxiArray3DCreate(&a, NULL), INVALID_VALUE);
    ok(ptxiMipmappedArrayCreate(&m, &d, 100));
    ok(ptxiMipmappedArrayGetLevel(&a, m, 4));
    ok(ptxiArray3DGetDescriptor(&got, a));
    ck_assert_uint_eq(got.Width, 1);
    ck_assert_uint_eq(got.Height, 1);
    ok(ptxiArrayDestroy(a));
    ck_error(ptxiMipmappedArrayGetLevel(&a, m, 5), INVALID_VALUE);
    ok(ptxiMipmappedArrayDestroy(m));
    ck_error(ptxiArrayDestroy((ptxiArray)&d), INVALID_HANDLE);
}
END_TEST

/* ---- objects */

/* Results of the H200 driver for formats that include the number of channels. */
START_TEST(normalized_and_block_formats)
{
    static const struct {
        PTXI_ARRAY3D_DESCRIPTOR d;
        ptxiResult created, surface;
    } cases[] = {
        { { 8, 4, 0, PTXI_AD_FORMAT_UNORM_INT8X2, 2, PTXI_ARRAY3D_SURFACE_LDST }, 0, 0 },
        { { 8, 0, 3, PTXI_AD_FORMAT_SNORM_INT16X4, 4, PTXI_ARRAY3D_LAYERED }, 0, 0 },
        { { 8, 4, 0, PTXI_AD_FORMAT_UNORM_INT8X2, 1, 0 }, PTXI_ERROR_INVALID_VALUE, 0 },
        { { 8, 4, 0, PTXI_AD_FORMAT_BC1_UNORM, 4, 0 }, 0, PTXI_ERROR_INVALID_VALUE },
        { { 5, 7, 3, PTXI_AD_FORMAT_BC6H_SF16, 3, 0 }, 0, PTXI_ERROR_INVALID_VALUE },
        { { 8, 8, 6, PTXI_AD_FORMAT_BC5_SNORM, 2, PTXI_ARRAY3D_CUBEMAP }, 0, PTXI_ERROR_INVALID_VALUE },
        { { 8, 4, 0, PTXI_AD_FORMAT_BC6H_SF16, 4, 0 }, PTXI_ERROR_INVALID_VALUE, 0 },
        { { 8, 0, 0, PTXI_AD_FORMAT_BC7_UNORM, 4, 0 }, PTXI_ERROR_INVALID_VALUE, 0 },
        { { 8, 8, 0, PTXI_AD_FORMAT_BC7_UNORM, 4, PTXI_ARRAY3D_SURFACE_LDST }, PTXI_ERROR_NOT_SUPPORTED, 0 },
        { { 8, 8, 0, (ptxiArrayFormat)0xb0, 3, 0 }, PTXI_ERROR_INVALID_VALUE, 0 }, /* NV12 */
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ptxiSurfObject s;
        ptxiArray a;

        ck_assert_int_eq(ptxiArray3DCreate(&a, &cases[k].d), cases[k].created);
        if (cases[k].created)
            continue;
        ck_assert_int_eq(ptxiSurfObjectCreate(&s, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }), cases[k].surface);
        if (!cases[k].surface)
            ok(ptxiSurfObjectDestroy(s));
        ok(ptxiArrayDestroy(a));
    }
}
END_TEST

/* Copies move whole blocks. Words can be viewed as blocks, and sRGB conversion can be requested. */
START_TEST(block_formats_are_copied_in_blocks)
{
    static const uint64_t red[2] = { 0xf800, 0xf800 };
    PTXI_RESOURCE_VIEW_DESC v = { .format = PTXI_RES_VIEW_FORMAT_UNSIGNED_BC1, .width = 8, .height = 4 };
    PTXI_TEXTURE_DESC s = { 0 };
    ptxiModule m = load("", KERNEL("cvt.rn.f32.u32 %f1, %r0; tex.2d.v4.f32.f32 {%f2,_,_,_}, [%t, {%f1,0f00000000}]; "
                                   "mov.b32 %r1, %f2;"));
    ptxiArray a = create_array(&(PTXI_ARRAY3D_DESCRIPTOR){ 2, 1, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 2, 0 }, red), b;
    uint32_t out[32];
    ptxiTexObject t;

    ok(ptxiArray3DCreate(&b, &(PTXI_ARRAY3D_DESCRIPTOR){ 7, 3, 0, PTXI_AD_FORMAT_BC1_UNORM_SRGB, 4, 0 }));
    ck_error(ptxiMemcpyHtoA(b, 0, red, 12), INVALID_VALUE);
    ck_error(ptxiMemcpyHtoA(b, 4, red, 8), INVALID_VALUE);
    ck_error(ptxiMemcpyHtoA(b, 0, red, 24), INVALID_VALUE);
    ok(ptxiMemcpyHtoA(b, 0, red, 16));
    ck_error(ptxiTexObjectCreate(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = b }, &s, NULL), INVALID_VALUE);
    s.flags = PTXI_TRSF_SRGB;
    ok(ptxiTexObjectCreate(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = b }, &s, NULL));
    ok(run(m, t, out, 32));
    ck_assert_uint_eq(out[6], 0x3f800000);
    ok(ptxiTexObjectDestroy(t));
    s.flags = 0;
    ok(ptxiTexObjectCreate(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, &s, &v));
    ok(run(m, t, out, 32));
    ck_assert_uint_eq(out[7], 0x3f800000);
    ok(ptxiTexObjectDestroy(t));
    v.format = PTXI_RES_VIEW_FORMAT_UNSIGNED_BC2; /* of twice as many bytes */
    ck_error(ptxiTexObjectCreate(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, &s, &v), INVALID_VALUE);
    ok(ptxiArrayDestroy(a));
    ok(ptxiArrayDestroy(b));
    ok(ptxiModuleUnload(m));
}
END_TEST

START_TEST(objects_return_their_descriptors)
{
    ptxiArray a = words_4x4(0);
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = a }, got;
    PTXI_TEXTURE_DESC s = { .filterMode = PTXI_TR_FILTER_MODE_LINEAR, .borderColor = { 1, 2, 3, 4 } }, sampler;
    PTXI_RESOURCE_VIEW_DESC v = { .format = PTXI_RES_VIEW_FORMAT_UINT_4X8, .width = 4, .height = 4 }, view;
    ptxiTexObject t;
    ptxiSurfObject surface;

    ok(ptxiTexObjectCreate(&t, &r, &s, &v));
    ok(ptxiTexObjectGetResourceDesc(&got, t));
    ck_assert_ptr_eq(got.res.array.hArray, a);
    ok(ptxiTexObjectGetTextureDesc(&sampler, t));
    ck_assert_mem_eq(&sampler, &s, sizeof s);
    ok(ptxiTexObjectGetResourceViewDesc(&view, t));
    ck_assert_mem_eq(&view, &v, sizeof v);
    ok(ptxiTexObjectDestroy(t));
    ck_error(ptxiTexObjectDestroy(t), INVALID_VALUE);
    ok(ptxiTexObjectDestroy(0));
    ck_error(ptxiTexObjectGetResourceDesc(&got, t), INVALID_VALUE);
    v.format = PTXI_RES_VIEW_FORMAT_UINT_2X8;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, &v), INVALID_VALUE);
    s.flags = 0x1000;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    s.flags = PTXI_TRSF_SEAMLESS_CUBEMAP;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    s.addressMode[2] = 5; /* a dimension that the array lacks */
    s.flags = 4 | 8;
    ok(ptxiTexObjectCreate(&t, &r, &s, NULL));
    ok(ptxiTexObjectDestroy(t));
    s.addressMode[1] = 4;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    s.addressMode[1] = 0;
    s.reserved[3] = 1;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    s.reserved[3] = 0;
    v.format = PTXI_RES_VIEW_FORMAT_UINT_1X32;
    v.depth = 1;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, &v), INVALID_VALUE);
    v = (PTXI_RESOURCE_VIEW_DESC){ .width = 4, .height = 4 }; /* no format */
    ck_error(ptxiTexObjectCreate(&t, &r, &s, &v), INVALID_VALUE);
    ok(ptxiSurfObjectCreate(&surface, &r)); /* even without PTXI_ARRAY3D_SURFACE_LDST */
    ok(ptxiSurfObjectDestroy(surface));
    r.res.array.hArray = NULL;
    s.flags = 0;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    ok(ptxiArrayDestroy(a));
}
END_TEST

static const char fetch[] = KERNEL("and.b32 %r2, %r0, 3; shr.u32 %r3, %r0, 2; "
                                   "tex.2d.v4.u32.s32 {%r1,%r4,%r5,%r6}|%p1, [%t, {%r2,%r3}]; @!%p1 mov.u32 %r1, 99;");

/* Numbers of 10, 10, 10 and 2 bits: values that an H200 reads, and its averages of two texels. */
START_TEST(packed_formats)
{
    const struct ptxi_texture_weights half = { .w = { 128, 128 }, .inside = { 3 }, .slices = 1, .second = 1 };
    const PTXI_ARRAY3D_DESCRIPTOR one = { 16, 0, 0, PTXI_AD_FORMAT_UNORM_INT_101010_2, 1, 0 }, four = { 16, 0, 0,
            PTXI_AD_FORMAT_UNORM_INT_101010_2, 4, 0 };
    ptxiArray array;

    for (uint32_t v = 0; v < 1024; v++)
        for (unsigned c = 0; c < 4; c++) {
            uint32_t n = c < 3 ? v : v & 3, texel = ptxi_texel_unpack(n << (10 * c), c);

            ck_assert_uint_eq(ptxi_texel_to_f32(texel, c < 3 ? PTXI_TEXEL_PACKED : PTXI_TEXEL_U16),
                              ptxi_num_bits_f32((float)n / (c < 3 ? 1023 : 3)));
        }
    ck_assert_uint_eq(ptxi_texture_filter(PTXI_TEXEL_PACKED, (const uint32_t[]){ 1023 << 6 | 63, 0, 0, 0 }, &half,
                                          false), ptxi_num_bits_f32(32768 / 65535.0f));
    ck_assert_uint_eq(ptxi_texel_border(0.6202095150947571f, PTXI_TEXEL_PACKED, false) >> 6, 635);
    ck_assert_uint_eq(ptxi_texel_pack((const uint32_t[]){ ptxi_num_bits_f32(1.5f), ptxi_num_bits_f32(-1),
                                                          ptxi_num_bits_f32(0.25f), ptxi_num_bits_f32(0.7f) }),
                                                          1023u | 256u << 20 | 2u << 30);
    ck_error(ptxiArray3DCreate(&array, &one), INVALID_VALUE);
    ok(ptxiArray3DCreate(&array, &four));
    ok(ptxiArrayDestroy(array));
}
END_TEST

/* In a texture of bytes, 12 bits of the alpha value of the border color count. */
START_TEST(alpha_of_border_colors)
{
    ck_assert_uint_eq(ptxi_texel_border(0.7747479506577122f, PTXI_TEXEL_U8, false), 198);
    ck_assert_uint_eq(ptxi_texel_border(0.5512000262058812f, PTXI_TEXEL_U8, false), 141);
    ck_assert_uint_eq(ptxi_texel_border(0.07267049603751752f, PTXI_TEXEL_U8, false), 18);
    ck_assert_uint_eq(ptxi_texel_border(1.5f, PTXI_TEXEL_U8, false), 255);
}
END_TEST

/* Beyond a corner of a cube: texel weights of an H200 in units of 1/256, 132 in all. */
START_TEST(cube_corners)
{
    static const uint16_t expected[4] = { 45, 0, 43, 44 };
    struct ptxi_texture_tap x = { 8, 66 }, y = { -2, 190 }, inside = { 3, 7 }, far = { -5, 1 };
    struct ptxi_texture_weights w = { .slices = 0 };

    ptxi_texture_cube_clamp_corner(&x, &y, 8);
    ck_assert(x.at == 7 && x.fraction == 255 && y.at == -1 && y.fraction == 0);
    ptxi_texture_add_slice(&w, 132, x.fraction, y.fraction);
    ptxi_texture_drop_corner(&w, 1);
    ck_assert_mem_eq(w.w, expected, sizeof expected);
    ptxi_texture_cube_clamp_corner(&inside, &far, 8);
    ck_assert(inside.at == 3 && far.at == -5);
}
END_TEST

/* Infinite steps are treated as steps along the diagonal, and areas may be 2^32 and more, as on an H200. */
START_TEST(huge_ellipses)
{
    static const uint32_t sizes[3] = { 256, 256, 1 }, ones[3] = { 1, 1, 1 };
    struct ptxi_texture_axes e;

    ptxi_texture_find_axes(&(struct ptxi_texture_gradients){ .v = { { -INFINITY, 2.609e34f }, { -3.5e8f, 1.152f } } },
                           sizes, 256, &e);
    ck_assert(e.along[0] == -45 && e.along[1] == 45);
    ptxi_texture_find_axes(&(struct ptxi_texture_gradients){ .v = { { 1e9f, 0 }, { 6.646e35f, -3e38f } } }, ones, 1024,
                           &e);
    ck_assert(e.along[0] == 45 && e.along[1] == -45);
    ptxi_texture_find_axes(&(struct ptxi_texture_gradients){ .v = { { 131072, 0 }, { 0, 131072 } } }, ones, 1024, &e);
    ck_assert_int_eq(e.level, 32 * 256 - 1 - 17 * 256);
    ck_assert_int_eq(e.ratio, 2 * 256 + 1);
}
END_TEST

/* Values halfway between two of 256 colors, rounded as on an H200. */
START_TEST(srgb_border_colors)
{
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.942987382f), 248);
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.942993641f), 249);
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.0172202755f), 35);
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.0172208454f), 36);
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.330103457f), 155);
    ck_assert_uint_eq(ptxi_texel_border_srgb(0.330105841f), 156);
    ck_assert_uint_eq(ptxi_texel_border_srgb(NAN), 0);
    ck_assert_uint_eq(ptxi_texel_border_srgb(2), 255);
}
END_TEST

/* tld4 reads the neighboring faces, and beyond a corner the average of the other three texels. */
START_TEST(gather_at_cube_corners)
{
    static const uint32_t expected[4] = { 100, 2000, 996, 900 };
    uint32_t texels[24], out[32];
    ptxiArray a;
    ptxiTexObject t;
    ptxiModule m = load("", KERNEL("mov.f32 %f0, 0f3f800000; mov.f32 %f1, 0f3f666666; mov.f32 %f2, 0fbf4ccccd; "
                                   "tld4.r.cube.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%t, {%f0,%f1,%f2,%f2}];\n"
                                   "setp.eq.u32 %p0, %r0, 1; @%p0 mov.u32 %r1, %r2; setp.eq.u32 %p0, %r0, 2; "
                                   "@%p0 mov.u32 %r1, %r3; setp.eq.u32 %p0, %r0, 3; @%p0 mov.u32 %r1, %r4;"));

    for (uint32_t k = 0; k < 24; k++)
        texels[k] = 100 * k;
    a = create_array(&(PTXI_ARRAY3D_DESCRIPTOR){ 2, 2, 6, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_CUBEMAP },
                     texels);
    t = create_texture(a, PTXI_TRSF_READ_AS_INTEGER | PTXI_TRSF_NORMALIZED_COORDINATES | PTXI_TRSF_SEAMLESS_CUBEMAP);
    ok(run(m, t, out, 32));
    ck_assert_mem_eq(out, expected, sizeof expected);
    ok(ptxiModuleUnload(m));
    ok(ptxiTexObjectDestroy(t));
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* The precision of a coordinate depends on the other dimension, too. Here an H200 returns 2. With an offset, lanes
 * are looked up one by one. */
START_TEST(coordinates_in_high_textures)
{
    static const char *const bodies[] = {
        KERNEL("mov.f32 %f1, 0f3F2AAAAC; mov.f32 %f2, 0f3F000000; tex.2d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2}];"),
        KERNEL("mov.f32 %f1, 0f3F2AAAAC; mov.f32 %f2, 0f3F000000; "
               "tex.2d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2}], {0, 0};"),
    };
    static uint32_t texels[8193 * 3];
    const PTXI_ARRAY3D_DESCRIPTOR low = { 3, 8192, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 }, high = { 3, 8193, 0,
            PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 };
    uint32_t out[32];

    for (unsigned k = 0; k < 8193 * 3; k++)
        texels[k] = k % 3;
    for (unsigned k = 0; k < 4; k++) {
        ptxiArray a = create_array(k & 1 ? &high : &low, texels);
        ptxiTexObject t = create_texture(a, PTXI_TRSF_READ_AS_INTEGER | PTXI_TRSF_NORMALIZED_COORDINATES);
        ptxiModule m = load("", bodies[k >> 1]);


        ok(run(m, t, out, 32));
        ck_assert_uint_eq(out[5], k & 1 ? 2 : 1);
        ok(ptxiTexObjectDestroy(t));
        ok(ptxiModuleUnload(m));
        ok(ptxiArrayDestroy(a));
    }
}
END_TEST

START_TEST(lanes_fetch_their_texels)
{
    ptxiArray a = words_4x4(0);
    ptxiTexObject t = create_texture(a, PTXI_TRSF_READ_AS_INTEGER);
    ptxiModule m = load("", fetch);
    uint32_t out[32];

    ok(run(m, t, out, 32));
    for (unsigned k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k < 16 ? k : 0);
    ok(ptxiTexObjectDestroy(t));
    ok(ptxiModuleUnload(m));
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* Half of the lanes are active, and each lane has another texture. */
START_TEST(textures_may_differ_between_lanes)
{
    ptxiArray a = words_4x4(0),
              b = create_array(&(PTXI_ARRAY3D_DESCRIPTOR){ 4, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 },
                               (uint32_t[16]){ 1000, 1001 });
    ptxiTexObject t = create_texture(a, PTXI_TRSF_READ_AS_INTEGER), u = create_texture(b, PTXI_TRSF_READ_AS_INTEGER);
    ptxiModule m = load("", KERNEL("and.b32 %r2, %r0, 1; setp.ge.u32 %p1, %r0, 16; cvt.u64.u32 %a, %r2; "
                                   "add.u64 %t, %t, %a; ld.param.u64 %a, [p];\n"
                                   "mad.wide.u32 %a, %r0, 4, %a; mov.u32 %r1, 7; "
                                   "@!%p1 tex.2d.v4.u32.s32 {%r1,_,_,_}, [%t, {%r2,0}];"));
    uint32_t out[32];

    ck_assert_uint_eq(u, t + 1);
    ok(run(m, t, out, 32));
    for (unsigned k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k >= 16 ? 7 : k % 2 ? 1001 : 0);
    ok(ptxiTexObjectDestroy(t));
    ok(ptxiTexObjectDestroy(u));
    ok(ptxiModuleUnload(m));
    ok(ptxiArrayDestroy(a));
    ok(ptxiArrayDestroy(b));
}
END_TEST

static void expect_report(ptxiFault fault, const char *words)
{
    ptxiReport r = { .size = sizeof r };

    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, fault);
    ck_assert_msg(strstr(r.text, words) != NULL, "%s", r.text);
}

START_TEST(invalid_textures_fail_the_launch)
{
    ptxiModule m = load("", fetch);
    ptxiArray a = words_4x4(PTXI_ARRAY3D_SURFACE_LDST);
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = a };
    ptxiTexObject t = create_texture(a, 0);
    ptxiSurfObject s;
    uint32_t out[32];

    ok(ptxiSurfObjectCreate(&s, &r));
    ok(ptxiTexObjectDestroy(t));
    const unsigned long long none[] = { 0, t, s, 1 << 30, UINT32_MAX, 1ULL << 33, (uintptr_t)out, UINT64_MAX };

    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        ck_error(run(m, none[k], out, 32), ILLEGAL_INSTRUCTION);
        expect_report(PTXI_FAULT_ILLEGAL_INSTRUCTION, "names no texture");
    }
    ok(ptxiSurfObjectDestroy(s));
    ok(ptxiModuleUnload(m));
    ok(ptxiArrayDestroy(a));
}
END_TEST

START_TEST(freed_memory_is_detected)
{
    ptxiModule m = load("", KERNEL("tex.1d.v4.u32.s32 {%r1,_,_,_}, [%t, {%r0}];"));
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_LINEAR };
    PTXI_TEXTURE_DESC s = { .flags = PTXI_TRSF_READ_AS_INTEGER };
    ptxiTexObject t;
    ptxiDevicePtr p;
    uint32_t out[32];

    ok(ptxiMemAlloc(&p, 64));
    ok(ptxiMemcpyHtoD(p, texels_4x4, 64));
    r.res.linear.devPtr = p;
    r.res.linear.format = PTXI_AD_FORMAT_UNSIGNED_INT32;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = 128;
    ck_error(ptxiTexObjectCreate(&t, &r, &s, NULL), INVALID_VALUE);
    r.res.linear.sizeInBytes = 64;
    ok(ptxiTexObjectCreate(&t, &r, &s, NULL));
    ok(run(m, t, out, 32));
    for (unsigned k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k < 16 ? k : 0);
    ok(ptxiMemFree(p));
    ck_error(run(m, t, out, 32), ILLEGAL_INSTRUCTION);
    expect_report(PTXI_FAULT_ILLEGAL_INSTRUCTION, "in memory that was freed");
    ok(ptxiTexObjectDestroy(t));
    ok(ptxiModuleUnload(m));
}
END_TEST

START_TEST(destroyed_arrays_are_detected)
{
    static const char *const uses[] = { KERNEL("tex.2d.v4.u32.s32 {%r1,_,_,_}, [%t, {%r0,0}];"),
                                        KERNEL("suld.b.2d.b32.zero %r1, [%t, {0,0}];") };
    static const PTXI_ARRAY3D_DESCRIPTOR shape = { 4, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1,
                                                   PTXI_ARRAY3D_SURFACE_LDST };
    ptxiMipmappedArray levels;
    uint32_t out[32];
    ptxiArray a, b;

    for (unsigned k = 0; k < 2; k++) {
        unsigned long long object, level_object;
        ptxiModule m = load("", uses[k]);

        a = words_4x4(PTXI_ARRAY3D_SURFACE_LDST);
        ok(ptxiMipmappedArrayCreate(&levels, &shape, 2));
        ok(ptxiMipmappedArrayGetLevel(&b, levels, 1));
        object = k ? create_surface(a) : create_texture(a, 0);
        level_object = k ? create_surface(b) : create_texture(b, 0);
        ok(ptxiArrayDestroy(a));
        ck_error(run(m, object, out, 32), ILLEGAL_INSTRUCTION);
        expect_report(PTXI_FAULT_ILLEGAL_INSTRUCTION, "in memory that was freed");
        ok(run(m, level_object, out, 32));
        ok(ptxiMipmappedArrayDestroy(levels));
        a = words_4x4(PTXI_ARRAY3D_SURFACE_LDST); /* at the address of the old array */
        ck_error(run(m, level_object, out, 32), ILLEGAL_INSTRUCTION);
        ck_error(run(m, object, out, 32), ILLEGAL_INSTRUCTION);
        ok(k ? ptxiSurfObjectDestroy(object) : ptxiTexObjectDestroy(object));
        ok(k ? ptxiSurfObjectDestroy(level_object) : ptxiTexObjectDestroy(level_object));
        ok(ptxiArrayDestroy(a));
        ok(ptxiModuleUnload(m));
    }
}
END_TEST

/* ---- references */

START_TEST(references_use_the_bound_object)
{
    ptxiModule m = load("", ".global .texref tr; .global .surfref sr;\n"
                        KERNEL("tex.1d.v4.u32.s32 {%r1,_,_,_}, [tr, {%r0}]; shl.b32 %r2, %r0, 2; mov.u64 %t, tr;\n"
                               "istypep.texref %p1, %t; @%p1 add.u32 %r1, %r1, 100; "
                               "istypep.surfref %p1, %t; @%p1 trap;\n"
                               "suld.b.2d.b32.zero %r3, [sr, {%r2, 1}]; add.u32 %r1, %r1, %r3;"));
    ptxiArray a = words_4x4(PTXI_ARRAY3D_SURFACE_LDST), got;
    ptxiTexRef t, again;
    ptxiSurfRef s;
    ptxiDevicePtr p;
    uint32_t out[32];

    ck_error(ptxiModuleGetTexRef(&t, m, "sr"), NOT_FOUND);
    ok(ptxiModuleGetTexRef(&t, m, "tr"));
    ok(ptxiModuleGetTexRef(&again, m, "tr"));
    ck_assert_ptr_eq(t, again);
    ok(ptxiModuleGetSurfRef(&s, m, "sr"));
    ck_error(run(m, 0, out, 32), ILLEGAL_INSTRUCTION); /* nothing is bound */
    ck_error(ptxiSurfRefGetArray(&got, s), INVALID_VALUE);
    ok(ptxiSurfRefSetArray(s, a, 0));
    ok(ptxiSurfRefGetArray(&got, s));
    ck_assert_ptr_eq(got, a);
    ok(ptxiMemAlloc(&p, 64));
    ok(ptxiMemcpyHtoD(p, texels_4x4, 64));
    ok(ptxiTexRefSetFormat(t, PTXI_AD_FORMAT_UNSIGNED_INT32, 1));
    ok(ptxiTexRefSetFlags(t, PTXI_TRSF_READ_AS_INTEGER));
    ok(ptxiTexRefSetAddress(NULL, t, p, 64));
    ok(run(m, 0, out, 32));
    for (unsigned k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], 100 + (k < 16 ? k : 0) + (k < 4 ? 4 + k : 0));
    ok(ptxiTexRefSetArray(t, a, PTXI_TRSA_OVERRIDE_FORMAT));
    ok(ptxiTexRefSetAddressMode(t, 0, PTXI_TR_ADDRESS_MODE_CLAMP));
    ok(run(m, 0, out, 32));
    ck_assert_uint_eq(out[3], 107); /* an integer does not name a 1D array */
    ck_assert_uint_eq(out[31], 100);
    ck_error(ptxiTexRefSetAddressMode(t, 3, PTXI_TR_ADDRESS_MODE_CLAMP), INVALID_VALUE);
    ck_error(ptxiTexRefSetFilterMode(NULL, PTXI_TR_FILTER_MODE_POINT), INVALID_HANDLE);
    ok(ptxiModuleUnload(m));
    ok(ptxiMemFree(p));
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* PTX ISA, "Texturing Modes": the sampler decides, whatever sampler state the texture has. */
START_TEST(independent_samplers)
{
    ptxiModule m = load(", texmode_independent", ".global .texref tr; "
                                                 ".global .samplerref edge = { addr_mode_0 = clamp_to_edge, "
                                                 "filter_mode = nearest };\n"
                                                 ".global .samplerref border = { addr_mode_0 = clamp_to_border, "
                                                 "addr_mode_1 = wrap, filter_mode = linear };\n"
                                                 KERNEL("cvt.rn.f32.u32 %f1, %r0; add.f32 %f1, %f1, 0f3f000000; "
                                                        "mov.f32 %f2, 0f3f000000; mov.f32 %f3, %f1;\n"
                                                        "tex.2d.v4.f32.f32 {%f4,_,_,_}, [tr, edge, {%f1,%f2}]; "
                                                        "tex.2d.v4.f32.f32 {%f5,_,_,_}, [tr, border, {%f3,%f2}];\n"
                                                        "fma.rn.f32 %f4, %f4, 0f42c80000, %f5; "
                                                        "cvt.rni.u32.f32 %r1, %f4;"));
    static const float texels[] = { 1, 2, 3, 4 };
    ptxiArray a = create_array(&(PTXI_ARRAY3D_DESCRIPTOR){ 4, 1, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 }, texels);
    ptxiTexRef t;
    uint32_t out[32];

    ok(ptxiModuleGetTexRef(&t, m, "tr"));
    ok(ptxiTexRefSetArray(t, a, PTXI_TRSA_OVERRIDE_FORMAT));
    ok(run(m, 0, out, 32));
    for (unsigned k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k < 4 ? 101 * (k + 1) : 400);
    ok(ptxiModuleUnload(m));
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* Instructions of one geometry on textures of another geometry read only memory of that texture. */
/* They read 0, as recorded on an H200. */
START_TEST(mismatched_geometries_read_zero)
{
    static const PTXI_ARRAY3D_DESCRIPTOR shapes[] = {
        { 3, 0, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 }, { 4, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 },
        { 2, 2, 4, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, 0 },
        { 3, 0, 5, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_LAYERED }, { 1, 1, 6, PTXI_AD_FORMAT_UNSIGNED_INT32,
                1, PTXI_ARRAY3D_CUBEMAP },
        { 1, 1, 12, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_CUBEMAP | PTXI_ARRAY3D_LAYERED },
    };
    static const struct {
        const char *text;
        uint8_t matches[sizeof shapes / sizeof *shapes];
    } fetches[] = {
        { "tex.1d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1}];", { 1, 1 } },
        { "tex.2d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2}];", { 1, 1 } },
        { "tex.3d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2,%f3,%f3}];", { 0, 0, 1 } },
        { "tex.a1d.v4.u32.f32 {%r1,_,_,_}, [%t, {%r3,%f1}];", { 0, 0, 0, 1 } },
        { "tex.a2d.v4.u32.f32 {%r1,_,_,_}, [%t, {%r3,%f1,%f2,%f2}];", { 1, 1 } },
        { "tex.cube.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2,%f3,%f3}];", { 0, 0, 0, 0, 1, 1 } },
        { "tex.acube.v4.u32.f32 {%r1,_,_,_}, [%t, {%r3,%f1,%f2,%f3}];", { 0, 0, 0, 0, 1, 1 } },
        { "tex.level.3d.v4.u32.f32 {%r1,_,_,_}, [%t, {%f1,%f2,%f3,%f3}], %f2;", { 0, 0, 1 } },
        { "tld4.r.a2d.v4.u32.f32 {%r1,_,_,_}, [%t, {%r3,%f1,%f2,%f2}];", { 1, 1 } },
    };
    static const uint32_t ones[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    PTXI_TEXTURE_DESC s = { 0 };
    uint32_t out[32];
    char body[1000];

    for (size_t f = 0; f < sizeof fetches / sizeof *fetches; f++) {
        snprintf(body, sizeof body, "%s%s%s",
                 BEGIN "cvt.rn.f32.s32 %f1, %r0; sub.f32 %f1, %f1, 0f41800000; mul.f32 %f2, %f1, 0fc0a00000; "
                       "mul.f32 %f3, %f2, %f1; mul.lo.u32 %r3, %r0, 0x8000001;\n",
                 fetches[f].text, END);
        ptxiModule m = load("", body);

        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (int linear = 0; linear < 2; linear++) {
                ptxiArray a = create_array(&shapes[k], ones);
                ptxiTexObject t;

                s.flags = PTXI_TRSF_NORMALIZED_COORDINATES | (shapes[k].Flags & PTXI_ARRAY3D_CUBEMAP
                                                              ? PTXI_TRSF_SEAMLESS_CUBEMAP : 0);
                s.filterMode = linear ? PTXI_TR_FILTER_MODE_LINEAR : PTXI_TR_FILTER_MODE_POINT;
                s.mipmapFilterMode = s.filterMode;
                ok(ptxiTexObjectCreate(&t, &(PTXI_RESOURCE_DESC){ .res.array.hArray = a }, &s, NULL));
                ok(run(m, t, out, 32));
                for (unsigned l = 0; l < 32; l++)
                    ck_assert_uint_eq(out[l], fetches[f].matches[k]);
                ok(ptxiTexObjectDestroy(t));
                ok(ptxiArrayDestroy(a));
            }
        ok(ptxiModuleUnload(m));
    }
}
END_TEST

/* ---- surfaces */

START_TEST(surfaces_are_written_within_their_bounds)
{
    ptxiArray a = words_4x4(PTXI_ARRAY3D_SURFACE_LDST);
    PTXI_RESOURCE_DESC r = { .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = a }, got;
    ptxiSurfObject s;
    uint32_t out[32], back[16];
    struct {
        const char *body;
        ptxiResult result;
        ptxiFault fault;
    } invalid_accesses[] = {
        { KERNEL("shl.b32 %r2, %r0, 2; suld.b.2d.b32.trap %r1, [%t, {%r2,0}];"), PTXI_ERROR_ILLEGAL_ADDRESS,
          PTXI_FAULT_OUT_OF_BOUNDS },
        { KERNEL("sust.b.2d.b32.trap [%t, {-4,0}], %r0; mov.u32 %r1, 0;"), PTXI_ERROR_ILLEGAL_ADDRESS,
          PTXI_FAULT_OUT_OF_BOUNDS },
        { KERNEL("suld.b.2d.b32.zero %r1, [%t, {2,0}];"), PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_FAULT_MISALIGNED },
        { KERNEL("mov.u64 %t, 0; suld.b.2d.b32.zero %r1, [%t, {4,0}];"), PTXI_ERROR_ILLEGAL_INSTRUCTION,
          PTXI_FAULT_ILLEGAL_INSTRUCTION },
    };
    ptxiModule m;

    ok(ptxiSurfObjectCreate(&s, &r));
    ok(ptxiSurfObjectGetResourceDesc(&got, s));
    ck_assert_ptr_eq(got.res.array.hArray, a);
    m = load("", KERNEL("and.b32 %r2, %r0, 3; shl.b32 %r2, %r2, 2; shr.u32 %r3, %r0, 2; add.u32 %r4, %r0, 50; "
                        "sust.b.2d.b32.zero [%t, {%r2,%r3}], %r4;\n"
                        "sured.b.add.2d.u32.zero [%t, {0,0}], 1; suld.b.2d.b32.clamp %r1, [%t, {%r2,%r3}];"));
    ok(run(m, s, out, 32));
    ok(ptxiModuleUnload(m));
    ok(ptxiMemcpy2D(&(PTXI_MEMCPY2D){ .srcMemoryType = PTXI_MEMORYTYPE_ARRAY, .srcArray = a,
                                      .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = back, .WidthInBytes = 16,
                                      .Height = 4 }));
    for (unsigned k = 0; k < 16; k++)
        ck_assert_uint_eq(back[k], k ? k + 50 : 50 + 32);
    for (unsigned k = 1; k < 32; k++)
        ck_assert_uint_eq(out[k], 50 + (k < 16 ? k : 12 + k % 4));
    for (size_t k = 0; k < sizeof invalid_accesses / sizeof *invalid_accesses; k++) {
        ptxiReport report = { .size = sizeof report };

        m = load("", invalid_accesses[k].body);
        ck_assert_int_eq(run(m, s, out, 32), invalid_accesses[k].result);
        ok(ptxiGetLastReport(NULL, &report));
        ck_assert_int_eq(report.fault, invalid_accesses[k].fault);
        ok(ptxiModuleUnload(m));
    }
    ok(ptxiSurfObjectDestroy(s));
    ck_error(ptxiSurfObjectDestroy(s), INVALID_VALUE);
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* Rows of 12 bytes. */
START_TEST(reductions_of_8_bytes_in_any_row)
{
    uint32_t texels_3x3[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, out[32];
    ptxiArray a = create_array(
        &(PTXI_ARRAY3D_DESCRIPTOR){ 3, 3, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_SURFACE_LDST }, texels_3x3);
    ptxiSurfObject s = create_surface(a);
    ptxiModule m = load("", KERNEL("setp.eq.u32 %p0, %r0, 0; mov.b64 %a, 0x0000000500000007; "
                                   "@%p0 sured.b.add.2d.u64.zero [%t, {0,1}], %a;\n"
                                   "@%p0 sured.b.add.2d.u64.zero [%t, {8,1}], %a; ret;"));

    ok(run(m, s, out, 32));
    ok(ptxiMemcpy2D(&(PTXI_MEMCPY2D){ .srcMemoryType = PTXI_MEMORYTYPE_ARRAY, .srcArray = a,
                                      .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = texels_3x3, .WidthInBytes = 12,
                                      .Height = 3 }));
    for (uint32_t k = 0; k < 9; k++)
        ck_assert_uint_eq(texels_3x3[k], k == 3 ? 10 : k == 4 ? 9 : k);
    ok(ptxiModuleUnload(m));
    ok(ptxiSurfObjectDestroy(s));
    ok(ptxiArrayDestroy(a));
}
END_TEST

/* The context destroys what the program leaves. */
START_TEST(contexts_destroy_remaining_objects)
{
    PTXI_ARRAY3D_DESCRIPTOR d = { 4, 4, 0, PTXI_AD_FORMAT_FLOAT, 1, 0 };
    ptxiContext other;
    ptxiMipmappedArray m;

    ok(ptxiCtxCreate(&other, 0, 0));
    create_texture(words_4x4(0), 0);
    ok(ptxiMipmappedArrayCreate(&m, &d, 2));
    ok(ptxiCtxDestroy(other));
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("texture");
    TCase *t = tcase_create("texture");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, descriptors);
    tcase_add_test(t, arrays_keep_copied_data);
    tcase_add_test(t, impossible_shapes_are_refused);
    tcase_add_test(t, normalized_and_block_formats);
    tcase_add_test(t, block_formats_are_copied_in_blocks);
    tcase_add_test(t, objects_return_their_descriptors);
    tcase_add_test(t, packed_formats);
    tcase_add_test(t, alpha_of_border_colors);
    tcase_add_test(t, cube_corners);
    tcase_add_test(t, huge_ellipses);
    tcase_add_test(t, srgb_border_colors);
    tcase_add_test(t, gather_at_cube_corners);
    tcase_add_test(t, reductions_of_8_bytes_in_any_row);
    tcase_add_test(t, coordinates_in_high_textures);
    tcase_add_test(t, lanes_fetch_their_texels);
    tcase_add_test(t, textures_may_differ_between_lanes);
    tcase_add_test(t, invalid_textures_fail_the_launch);
    tcase_add_test(t, freed_memory_is_detected);
    tcase_add_test(t, destroyed_arrays_are_detected);
    tcase_add_test(t, references_use_the_bound_object);
    tcase_add_test(t, independent_samplers);
    tcase_add_test(t, mismatched_geometries_read_zero);
    tcase_add_test(t, surfaces_are_written_within_their_bounds);
    tcase_add_test(t, contexts_destroy_remaining_objects);
    suite_add_tcase(s, t);
    return run_suite(s);
}
